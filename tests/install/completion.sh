#!/usr/bin/env bash
# usage: completion.sh PROGRAM: what bash and zsh complete.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"

# ---- bash ----

"$program" help bash >roofstep.bash || fail 'help bash'
# shellcheck disable=SC1091
. ./roofstep.bash || fail 'bash does not read it'
touch 'a file.json' && mkdir folder

# completes 'WORDS BEFORE' 'WORD' EXPECTED...: as bash splits them, at = too
completes() {
    local before=$1 word=$2 expected
    shift 2
    read -ra COMP_WORDS <<<"roofstep $before"
    COMP_WORDS+=("$word")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _roofstep
    expected=$(printf '%s\n' "$@" | sort)
    [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort)" = "$expected" ] ||
        fail "roofstep $before $word: ${COMPREPLY[*]} instead of $*"
}
completes '' su suite
completes '' --v --version
completes help atten attention
completes bench --num --num-layers --num-heads
completes 'bench --size' t tiny
completes 'bench --size' tiny,m tiny,medium
completes 'bench --size =' xl xl
completes 'bench --size' = tiny small medium large xl 2.7B 10B
completes 'bench --model' qwen3- qwen3-0.6b qwen3-8b qwen3-30b-a3b
completes 'bench --model' gpt2,pythia-16 gpt2,pythia-160m
completes 'bench --model' f folder
completes 'bench --device' '' auto cpu cuda
completes 'attention --mode' '' fwd fwd_grad fwd_bwd
completes 'compare --format' m md
completes 'bench --ctx' ''
completes 'suite --like' 8 8gb
completes 'suite --like' rtx rtx5090 rtx5090-nsys
completes 'bench --out' a 'a file.json'
completes 'suite --out-dir' '' folder
completes compare a 'a file.json'
completes 'compare' --fail --fail-above --fail-unsure
completes bench a

# ---- zsh, as someone at a terminal sees it ----

"$program" help zsh >_roofstep || fail 'help zsh'
if command -v zsh >/dev/null; then
    cat >ask.zsh <<'EOF'
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1=; unset zle_bracketed_paste; fpath=($PWD \$fpath); autoload -U compinit; compinit -u -D; zstyle ':completion:*' list-colors ''; bindkey '^I' complete-word"
zpty -w shell 'echo ready'
sleep 0.5
zpty -n -w shell "roofstep $1"$'\t'
sleep 1
zpty -n -w shell $'\C-a\C-kecho [end]\n'
sleep 0.5
zpty -r shell text '*\[end\]*\[end\]*'
print -r -- "$text"
zpty -d shell
EOF
    zsh_completes() {
        zsh -f ask.zsh "$1" 2>/dev/null | tr -d '\r' | grep -qF -- "$2" || fail "zsh: roofstep $1 does not give $2"
    }
    zsh_completes 'sui' 'suite'
    zsh_completes 'bench --size tiny,med' 'tiny,medium'
    zsh_completes 'suite --like p1' 'p100-t4'
fi

verdict
