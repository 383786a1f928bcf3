#!/usr/bin/env bash
# kill -9 of the whole sweep: finished rows are in the file, whole; --resume does the rest only.
. "$(dirname "$(realpath "$0")")/bench.sh"

for format in json jsonl; do
    file=results.$format
    rm -f log.err
    "$program" "${model[@]}" --steps 2,3,6000 --out $file 2>log.err &
    sweep=$!
    await log.err '^\[2/3\].*: ok'
    cell_of $sweep
    kill -9 $sweep
    wait $sweep 2>/dev/null
    gone "$cell" || fail "the cell outlived the sweep"

    bench --steps 2,3 --resume $file --format csv >kept.out 2>kept.err
    code=$?
    expect_code 0 "resuming what is finished"
    [ "$(grep -c 'from the file' kept.err)" = 2 ] || fail "finished cells of $file were run again"

    bench --steps 2,3,6000 --resume $file >table.out 2>rest.err
    code=$?
    expect_code 0 "resuming the rest"
    [ "$(grep -c 'from the file' rest.err)" = 2 ] || fail "finished cells of $file were run again"
    refuse rest.err '^\[3/3\].*from the file'
    expect rest.err '^\[3/3\].*: ok'
    [ "$(grep -c '^| custom' table.out)" = 3 ] || fail "the table has not three rows"

    bench --steps 2,3,6000 --resume $file >all.out 2>all.err
    [ "$(grep -c 'from the file' all.err)" = 3 ] || fail "$file does not hold all three rows"
done

# A line that was cut short by the kill is left out, and its cell run again.
tail -n 1 results.jsonl | head -c 300 >torn.part
{ head -n 3 results.jsonl && cat torn.part; } >torn.jsonl
bench --steps 2,3,4 --resume torn.jsonl >torn.out 2>torn.err
code=$?
expect_code 0 "a torn file"
expect torn.err 'truncated last line'
[ "$(grep -c 'from the file' torn.err)" = 2 ] || fail "whole lines of a torn file were not kept"

# What is in the file but not in this sweep stays in the file.
bench --steps 7 --resume results.json >/dev/null 2>other.err
bench --steps 2,3,6000,7 --resume results.json >/dev/null 2>both.err
[ "$(grep -c 'from the file' both.err)" = 4 ] || fail "rows of another sweep were thrown away"
