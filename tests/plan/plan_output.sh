#!/usr/bin/env bash
# usage: plan_output.sh PROGRAM: what `roofstep plan` prints, in every format.
program=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0

wrong() {
    printf 'FAILED: %s\n' "$1"
    sed 's/^/        > /' "$work/out" "$work/err" 2>/dev/null | head -n 30
    failures=$((failures + 1))
}

# plan ARGUMENTS...: stdout and stderr are kept
plan() {
    "$program" plan "$@" >"$work/out" 2>"$work/err" </dev/null
}

# has FRAGMENT...: each is on stdout
has() {
    local fragment
    for fragment; do
        grep -qF -- "$fragment" "$work/out" || wrong "no '$fragment'"
    done
}

plan --size small,medium,large,xl,2.7B --device cpu || wrong 'exit code'
has 128,625,408 423,183,360 969,411,840 1,998,235,200 3,406,809,600

plan --size small --device cpu --memory-limit 1GiB,8GiB || wrong 'exit code'
has '| forward ' '| backward ' '| optimizer ' '| step ' 'FLOP/byte' '| parameters ' '| Adam m and v ' '| gradients ' \
    '| activations ' 'libraries and stacks' 'the peak is in' '1.00 GiB' '8.00 GiB' 'largest batch'

plan --size tiny --device cpu --precision tf32,fp32 || wrong 'an unsupported cell is no failure'
has unsupported 'tf32 is a format'

# The deepest there may be does not take minutes.
plan --num-layers 1024 --d-model 64 --d-ff 64 --num-heads 2 --ctx 16 --batch 1 --device cpu || wrong 'the deepest model'
has 30,771,264

# Two cells, two limits: four rows, as many fields in each.
plan --size tiny --device cpu --ctx 16,32 --memory-limit 200MiB,2GiB --format csv --out "$work/plan.csv" || wrong 'csv'
[ ! -s "$work/out" ] || wrong 'csv went to stdout too'
[ "$(wc -l <"$work/plan.csv")" = 5 ] || wrong 'csv has not five lines'
[ "$(awk -F, '{ print NF }' "$work/plan.csv" | sort -u | wc -l)" = 1 ] || wrong 'csv lines differ in their fields'
grep -q '^size,d_model,.*largest_batch,largest_ctx$' "$work/plan.csv" || wrong 'csv header'

# The name says the format too.
cp "$work/plan.csv" "$work/asked.csv"
plan --size tiny --device cpu --ctx 16,32 --memory-limit 200MiB,2GiB --out "$work/plan.csv" || wrong 'csv by name'
cmp -s "$work/asked.csv" "$work/plan.csv" || wrong 'the ending .csv does not give csv'
plan --size tiny --device cpu --out "$work/plan.txt" || wrong 'an unknown ending'
grep -q '^| cell' "$work/plan.txt" || wrong 'an unknown ending does not give md'

for format in latex typst json; do
    plan --size tiny --device cpu --format "$format" || wrong "$format"
done
has '"schema": 1' '"parameters": 22696448' '"largest_batch"'
plan --size tiny --device cpu --format latex
has '\begin{tabular}' '22,696,448'
plan --size tiny --device cpu --format typst
has '#table(' '22,696,448'

# The same command says the same.
plan --size tiny --device cpu --memory-limit 1GiB --format json && cp "$work/out" "$work/first"
plan --size tiny --device cpu --memory-limit 1GiB --format json
cmp -s "$work/first" "$work/out" || wrong 'two runs differ'

# What is said to fit does, and one more does not.
batch=$(sed -n 's/.*"largest_batch": \([0-9]*\).*/\1/p' "$work/first")
plan --size tiny --device cpu --memory-limit 1GiB --format json --batch "$batch" && has '"fits": true'
plan --size tiny --device cpu --memory-limit 1GiB --format json --batch $((batch + 1)) && has '"fits": false'

echo "$failures wrong"
[ $failures = 0 ]
