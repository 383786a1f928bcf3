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
