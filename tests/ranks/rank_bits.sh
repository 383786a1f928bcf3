#!/usr/bin/env bash
# The communicator alone: every collective is right to the bit over odd sizes, and two runs and both paths give the same.
. "$(dirname "$(realpath "$0")")/ranks.sh"
check=$(dirname "$program")/comm_check
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 TMPDIR=$dir

# Every rank writes NAME.RANK when it is through. How MPI ends after that does not count (comm_end() in comm/comm.h).
run() { # NAME RANKS
    local rank
    mpirun -n "$2" "$check" "$1" >"$1.err" 2>&1
    for rank in $(seq 0 $(($2 - 1))); do
        [ -s "$1.$rank" ] || fail "$1, $2 ranks: rank $rank"
        cmp "$1.0" "$1.$rank" || fail "$1, $2 ranks: rank $rank has other bits"
    done
}
for ranks in 1 2 3 4; do
    run first $ranks
    run second $ranks
    ROOFSTEP_COMM=messages run messages $ranks
    expect first.0 "^$ranks ranks: [0-9a-f]{16}$"
    cmp first.0 second.0 || fail "$ranks ranks: other bits in the second run"
    cmp first.0 messages.0 || fail "$ranks ranks: other bits by messages"
    rm first.* second.* messages.*
done
