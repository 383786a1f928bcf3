#!/usr/bin/env bash
# Ctrl-C: the cell is stopped, what is finished is printed and kept, exit code 130.
. "$(dirname "$(realpath "$0")")/bench.sh"

for signal in INT TERM; do
    rm -f log.err
    # A shell's background job ignores SIGINT; env gives it back.
    env --default-signal=INT "$program" "${model[@]}" --steps 2,3,100000000,5 \
        --out-json results.json >table.out 2>log.err &
    sweep=$!
    await log.err '^\[2/4\].*: ok'
    cell_of $sweep
    kill -$signal $sweep
    wait $sweep
    code=$?
    expect_code 130 "SIG$signal"
    gone "$cell" || fail "the cell outlived the sweep"
    [ "$(grep -c '^| custom' table.out)" = 2 ] || fail "the table has not the two finished rows"
    expect log.err 'interrupted: 2 of 4'
    refuse log.err '^\[4/4\]'
    bench --steps 2,3 --resume results.json >kept.out 2>kept.err
    [ "$(grep -c 'from the file' kept.err)" = 2 ] || fail "results.json has not the finished rows"
done

# An older file stays as long as there is nothing to put in its place.
rm -f log.err
cp results.json older.json
env --default-signal=INT "$program" "${model[@]}" --steps 100000000 --out older.json >table.out 2>log.err &
sweep=$!
cell_of $sweep
kill -INT $sweep
wait $sweep
cmp -s results.json older.json || fail "a sweep that finished nothing emptied an older file"

# What was being written is not left behind. Where the file system can do that it has no name: " (deleted)" in /proc.
"$program" export --device cpu --size small --steps 1 --out big.safetensors >export.out 2>&1 &
export_job=$!
writes() { ls big.safetensors.*.tmp >/dev/null 2>&1 || readlink "/proc/$export_job"/fd/* 2>/dev/null | grep -q "^$dir/.* (deleted)$"; }
for _ in $(seq 600); do
    writes && break
    sleep 0.05
done
writes || fail "no export was under way"
kill -TERM $export_job
wait $export_job 2>/dev/null
[ -z "$(ls big.safetensors* 2>/dev/null)" ] || fail "an interrupted export left $(ls big.safetensors*)"
