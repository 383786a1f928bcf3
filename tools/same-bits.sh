#!/usr/bin/env bash
# usage: same-bits.sh OLD NEW [cpu|cuda]: exports the same steps with both programs and compares the files byte by byte.
# Names what is different, and exits with 1. For changes that may not change a result: OLD is the program before.
set -u
[ $# -ge 2 ] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
device=${3:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The options of each step. Sizes are round: how rows are padded is no result.
steps() {
    local precision exec attention
    local precisions="fp32 bf16 fp16" execs="eager fused" attentions="naive fused flash"
    [ "$device" = cpu ] || precisions="fp32 tf32 bf16 fp16" execs="eager fused graph" attentions="$attentions cudnn"
    for precision in $precisions; do
        for exec in $execs; do echo "--precision $precision --exec $exec"; done
    done
    for attention in $attentions; do echo "--precision bf16 --attention $attention"; done
    echo "--precision bf16 --recompute block"
    echo "--precision fp32 --accumulate 2"
    echo "--precision fp16 --accumulate 2 --recompute block"
    echo "--precision bf16 --mode fwd_bwd"
}

export_with() { # PROGRAM FILE OPTIONS...
    local program=$1 file=$2
    shift 2
    "$program" export --size tiny --vocab 1024 --batch 2 --ctx 128 --device "$device" "$@" --out "$file" >"$work/log" 2>&1 ||
        { echo "FAILED: $program export $*: $(tail -n 1 "$work/log")"; return 1; }
}

same=0 other=0 left=0
while read -r line; do
    read -ra options <<<"$line"
    if ! export_with "$1" "$work/old" "${options[@]}"; then
        left=$((left + 1)) # an option, or a device, that OLD does not have
    elif export_with "$2" "$work/new" "${options[@]}" && cmp "$work/old" "$work/new"; then
        same=$((same + 1))
    else
        echo "different: $line"
        other=$((other + 1))
    fi
done < <(steps)
echo "$device: $same steps the same, $other different, $left that OLD does not export"
[ "$other" = 0 ] && [ "$same" -gt 0 ]
