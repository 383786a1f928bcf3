#!/usr/bin/env bash
# usage: export_threads.sh PROGRAM: the same command twice gives the same bytes, on any number of threads,
# whoever multiplies.
program=$1
export OMP_WAIT_POLICY=passive # more threads than cores, perhaps
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

# Sizes that are whole tiles of nothing, and products of several blocks.
shape=(--d-model 200 --d-ff 330 --num-layers 1 --num-heads 5 --vocab 397 --ctx 71 --batch 3)
for options in '--blas own' '--blas system' '--precision bf16' '--precision fp16' '--attention naive'; do
    for threads in 2 2 1 3; do
        # shellcheck disable=SC2086 # several words on purpose
        "$program" export --device cpu "${shape[@]}" $options --threads $threads --out "$work/now" 2>"$work/err" || {
            printf 'FAILED: %s on %s threads\n' "$options" $threads
            sed 's/^/        > /' "$work/err"
            exit 1
        }
        [ -e "$work/first" ] || mv "$work/now" "$work/first"
        if [ -e "$work/now" ] && ! cmp -s "$work/first" "$work/now"; then
            printf 'FAILED: %s: other bytes on %s threads\n' "$options" $threads
            failures=$((failures + 1))
        fi
    done
    rm "$work/first"
done

echo "$failures wrong"
[ $failures = 0 ]
