#!/usr/bin/env bash
# usage: install.sh PROGRAM: an installed tree works wherever it is moved, and its manual page has every command and option.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
build=$(dirname "$program")
cmake --install "$build" --prefix "$work/first" >out 2>err || fail 'cmake --install'
mkdir 'some where' && mv first 'some where/else'
tree="$work/some where/else"
program=$tree/bin/roofstep

"$program" --version >out 2>err && grep -q '^commit' out || fail '--version'
if ! grep -q '(no html)' out; then
    "$program" report "$golden/results.json" --out page.html 2>err && grep -q uPlot page.html || fail 'no page'
fi

# Its own PyTorch script is taken, not that of the sources.
cat >python <<'EOF'
#!/bin/sh
[ "$1" = -c ] || { echo "$2" >>scripts; exit 1; }
EOF
chmod +x python
small=(--d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --threads 1 --warmup 0 --steps 1)
PYTHON=$work/python "$program" bench "${small[@]}" --peer torch --peer-rounds 1 >out 2>err
[ "$(sort -u scripts)" = "$(realpath "$tree/bin/..")/share/roofstep/peers/torch_bench.py" ] ||
    [ "$(sort -u scripts)" = "$tree/bin/../share/roofstep/peers/torch_bench.py" ] || fail "not the installed script: $(sort -u scripts)"

[ -s "$tree/share/bash-completion/completions/roofstep" ] && [ -s "$tree/share/zsh/site-functions/_roofstep" ] || fail 'no completions'

# ---- the manual page ----

gzip -dc "$tree/share/man/man1/roofstep.1.gz" >roofstep.1 || fail 'no manual page'
if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 roofstep.1 2>warnings >/dev/null
    [ ! -s warnings ] || { fail 'groff warns'; head warnings; }
fi
"$program" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v roofstep >commands
[ "$(wc -l <commands)" -ge 14 ] || fail 'not all commands are listed'
while read -r command; do
    section=$(sed -n "/^\.SH ROOFSTEP ${command^^}\$/,/^\.SH/p" roofstep.1)
    "$program" "$command" --help | sed -n 's/^[* ] --\([a-z0-9-]*\).*/\1/p' | grep -v '^help$' >options
    while read -r option; do
        grep -qF -- "\\fB\\-\\-${option//-/\\-}\\fR" <<<"$section" || fail "the manual page lacks $command --$option"
    done <options
done <commands

verdict
