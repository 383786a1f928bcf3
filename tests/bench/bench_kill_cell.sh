#!/usr/bin/env bash
# kill -9 of a running cell: that row says killed, and the sweep goes on.
. "$(dirname "$(realpath "$0")")/bench.sh"
"$program" "${model[@]}" --steps 2,100000000,3 >table.out 2>log.err &
sweep=$!
await log.err '^\[1/3\].*: ok'
cell_of $sweep
kill -9 "$cell"
wait $sweep
code=$?
expect_code 4 "a killed cell"
expect log.err '^\[2/3\].*: killed: .*memory'
expect log.err '^\[3/3\].*: ok'
expect table.out 'killed'
[ "$(grep -c '^| custom' table.out)" = 3 ] || fail "the table has not three rows"
