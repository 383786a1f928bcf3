#!/usr/bin/env bash
# MPI that does not end well after all ranks are through: the row is whole, and nothing is left.
. "$(dirname "$(realpath "$0")")/ranks.sh"
for how in dies leaves hangs; do
    BAD_END=$how LD_PRELOAD=$2 collective --bytes 1004 --ranks 3 --format csv >row.out 2>log.err ||
        fail "$how: exit code $?"
    expect row.out '^all_reduce,1004,3,cpu,fp32,.*,ok,'
    expect_nothing_left "$how"
done
