#!/usr/bin/env bash
# usage: warmup.sh PROGRAM: the warm-up study runs every setting in every round and writes every format.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `golden`
. "$(dirname "$(realpath "$0")")/cli.sh"
study() {
    "$program" warmup --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --steps 4 \
        "$@" >out 2>err </dev/null || fail "warmup $*: exit code $?"
}

study --rounds 2
[ "$(grep -c ': ok; step' err)" = 10 ] || fail 'not five settings in two rounds'
grep -Eq '^\| +0 \| +2 \|' out || fail 'no row of 0 warm-ups'
grep -Eq '^\| +10 \| +2 \|' out || fail 'no row of 10 warm-ups'
grep -Eq 'enough here|is needed here|still slower|too few runs|too noisy' out || fail 'no advice'
grep -q 'a steady step' out || fail 'nothing about the first step'
study --warmup 0,3 --rounds 3 --format csv
awk -F, 'NR == 1 { bad = $0 != "warmup,run,step,ms"; next }
    !($4 > 0) || ($1 == 0 && $3 > 4) || ($1 == 3 && ($3 < 4 || $3 > 7)) { bad = 1; print }
    END { exit bad || NR != 1 + 2 * 3 * 4 }' out || fail 'csv: a row per step of every run'
study --warmup 0,1 --rounds 2 --out study.json
grep -q '"warmup_study"' study.json && grep -q '"cold_page_faults"' study.json || fail 'json'
"$program" compare study.json study.json >out 2>err || fail 'compare does not read it'
for format in latex typst; do
    study --warmup 1 --rounds 1 --format $format
    [ -s out ] || fail "--format $format"
done

# Where no run was measured it exits as any sweep does, and its rows say why.
for format in md csv json latex typst; do
    "$program" warmup --size tiny --device cpu --warmup 0,1 --rounds 1 --memory-limit 1MiB --out none.$format --format $format >out 2>err </dev/null
    [ $? = 4 ] && [ -s none.$format ] && grep -q 'no run was measured completely: oom: ' err || fail "$format: a study of which nothing fits"
done
[ "$(grep -c '"status": "oom"' none.json)" -ge 2 ] && grep -q '"warmup_study"' none.json && grep -q 'OOM' none.md || fail 'the rows that do not fit are not there'
"$program" validate none.json >out 2>err || fail 'validate does not take a study without a run'

verdict
