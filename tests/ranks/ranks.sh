#!/usr/bin/env bash
# What the scripts of this folder share. Each gets the program as its argument and runs in a folder of its own.
. "$(dirname "$(realpath "$0")")/../bench/bench.sh"
if [ ! -e "$(dirname "$program")/roofstep_mpi.so" ] || ! command -v mpirun >/dev/null; then
    echo "no MPI here, or none when this was built (Debian: libopenmpi-dev openmpi-bin): skipped"
    exit 77
fi

# collective OPTIONS: short samples
collective() {
    "$program" collective --steps 3 --sample-time 50ms --warmup 1 "$@"
}

# Processes that began with this script and are still there, but for zombies.
ranks_left() {
    ps -eo pid,stat,args | awk -v program="$program" '$2 !~ /^Z/ && index($0, program " internal-rank")'
}

# No process, and no file of MPI's. A process that was killed takes a moment to go.
expect_nothing_left() { # WHAT
    local i
    for i in $(seq 300); do
        [ -z "$(ranks_left)" ] && break
        sleep 0.1
    done
    [ -z "$(ranks_left)" ] || fail "$1: processes are left: $(ranks_left)"
}
