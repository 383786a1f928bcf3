#!/usr/bin/env bash
# usage: fastest.sh PROGRAM: --blas fastest measures each product once, keeps what was faster, and goes by what it kept.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"

# bits WORD: the exported numbers, without the header, of a step with --blas WORD; notes go to err
bits() {
    "$program" export --d-model 48 --d-ff 1536 --num-layers 2 --num-heads 4 --vocab 101 --ctx 64 --batch 2 --threads 2 --steps 1 \
        --blas "$1" --out step.safetensors >out 2>err || fail "--blas $1: exit code $?"
    tail -c +$((9 + $(od -An -tu8 -N8 step.safetensors))) step.safetensors | cksum
}
all_say() { # WORD: every product in the file does
    [ "$(grep -c '": "' "$file")" -gt 5 ] && ! grep '": "' "$file" | grep -qv "\"$1\""
}

own=$(bits own)
system=$(bits system)
[ "$own" != "$system" ] || fail 'own and system have the same bits: nothing below can fail'
bits fastest >/dev/null
file=$(echo cache/roofstep/products-*.json)
[ -f "$file" ] || fail 'nothing is kept'
all_say '\(own\|system\)' || fail 'neither own nor system'
for word in own system; do
    sed -i "s/: \"[a-z]*\"/: \"$word\"/" "$file"
    rm "$file.lock" # taken whenever something was measured
    bits=$(bits fastest)
    [ "$bits" = "${!word}" ] || fail "kept $word, and it is not that"
    all_say $word || fail "what was kept as $word is no more"
    [ ! -e "$file.lock" ] || fail "measured again what was kept as $word"
done
sed -i 's/: "[a-z]*"/: "sideways"/' "$file"
bits fastest >/dev/null
all_say '\(own\|system\)' || fail 'a useless entry stays'
echo '[' >"$file"
bits fastest >/dev/null
grep -q 'not a file of choices of products and is ignored' err || fail 'no word of a corrupt file'
[ "$(grep -c 'is ignored' err)" = 1 ] || fail 'a corrupt file is told of more than once'
all_say '\(own\|system\)' || fail 'a corrupt file stays'
rm "$file" && mkdir "$file"
bits fastest >/dev/null
[ "$(grep -c 'are not kept' err)" = 1 ] || fail 'that nothing is kept has to be said once'

verdict
