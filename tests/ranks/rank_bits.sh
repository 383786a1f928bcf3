#!/usr/bin/env bash
# The communicator alone: every collective is right to the bit over odd sizes, and two runs and both paths give the same.
. "$(dirname "$(realpath "$0")")/ranks.sh"
check=$(dirname "$program")/comm_check
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 TMPDIR=$dir
for ranks in 1 2 3 4; do
    mpirun -n $ranks "$check" >first.out 2>first.err || fail "$ranks ranks"
    mpirun -n $ranks "$check" >second.out 2>second.err || fail "$ranks ranks again"
    ROOFSTEP_COMM=messages mpirun -n $ranks "$check" >messages.out 2>messages.err || fail "$ranks ranks by messages"
    expect first.out "^$ranks ranks: [0-9a-f]{16}$"
    cmp first.out second.out || fail "$ranks ranks: other bits in the second run"
    cmp first.out messages.out || fail "$ranks ranks: other bits by messages"
done
