#!/usr/bin/env bash
# Result files written before a model's dimensions became one list (commit a339e5c) are read, compared, reported and
# resumed: old_sweep.jsonl was cut short in its fourth row, old_attention.jsonl after its second.
here=$(dirname "$(realpath "$0")")
results=$here/../../docs/results
. "$here/bench.sh"

cells() { # FILE: the keys of its rows
    grep -o '"cell":"[^"]*"' "$1" | sort
}

goes_on() { # NAME ROWS KEPT COMMAND...: every kept row stays as it was, and each cell is there once
    local name=$1 rows=$2 kept=$3
    shift 3
    cp "$here/$name.jsonl" "$name.jsonl"
    "$program" "$@" --resume "$name.jsonl" >"$name.out" 2>"$name.err" </dev/null || fail "$name is not resumed"
    [ "$(grep -c 'from the file' "$name.err")" = "$kept" ] || fail "$name: not $kept rows are from the file"
    [ "$(cells "$name.jsonl" | wc -l)" = "$rows" ] || fail "$name has not $rows rows"
    [ "$(cells "$name.jsonl" | uniq -d | wc -l)" = 0 ] || fail "$name: a cell is there twice"
    "$program" "$@" --out "$name.new.json" >/dev/null 2>&1 </dev/null || fail "$name: measured anew"
    [ "$(cells "$name.jsonl")" = "$(cells "$name.new.json")" ] || fail "$name: the keys of its cells have changed"
    "$program" compare "$here/$name.jsonl" "$name.jsonl" >"$name.out" 2>"$name.err" || fail "$name: not compared"
    [ "$(grep -c 'only in B' "$name.out")" -le 1 ] || fail "$name: cells have no partner"
}

goes_on old_sweep 8 3 bench --d-model 16 --d-ff 24 --num-layers 2 --num-heads 2 --vocab 31 --ctx 4,8 --batch 1 \
    --precision fp32,bf16 --recompute none,block --warmup 1 --steps 3 --threads 1 --device cpu --sample-time 2s
goes_on old_attention 4 2 attention --d-head 8 --heads 2 --ctx 8,16 --batch 1 --attention naive,flash --warmup 1 \
    --steps 3 --threads 1 --device cpu

# --- every result file of the documents
n=0
for file in "$results"/*.json "$results"/*.json.gz; do
    name=${file##*/}
    "$program" validate "$file" >validate.out 2>validate.err || fail "validate $name"
    if [ "$name" != h200-limits.json ]; then
        "$program" compare "$file" "$file" >compare.out 2>compare.err || fail "compare $name"
        refuse compare.out 'only in [AB]'
    fi
    "$program" --version | grep -q '(no html)' ||
        "$program" report "$file" --out page.html >report.out 2>report.err || fail "report $name"
    n=$((n + 1))
done
[ "$n" -ge 40 ] || fail "only $n files in docs/results"
