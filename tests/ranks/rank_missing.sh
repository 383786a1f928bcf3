#!/usr/bin/env bash
# Without MPI the program starts, and says what to install as soon as ranks are asked for.
. "$(dirname "$(realpath "$0")")/../bench/bench.sh"
cp "$program" alone || fail "cp"
./alone --version >version.out 2>&1 || fail "it does not start alone"
mkdir bin && printf '#!/bin/sh\nexit 1\n' >bin/mpirun && chmod +x bin/mpirun
PATH=$PWD/bin:$PATH ./alone collective >table.out 2>log.err
code=$?
expect_code 2 "without roofstep_mpi.so"
expect log.err 'built without it; .*apt-get install libopenmpi-dev openmpi-bin'
[ "$(wc -l <log.err)" = 1 ] || fail "more than one line"
echo 'not a library' >roofstep_mpi.so
PATH=$PWD/bin:$PATH ./alone collective >table.out 2>log.err
code=$?
expect_code 2 "with a broken roofstep_mpi.so"
expect log.err 'cannot be loaded .*(install this program again|apt-get install)'
mkdir none
PATH=$PWD/none "$program" collective >table.out 2>log.err
code=$?
expect_code 2 "without mpirun"
expect log.err 'no mpirun; .*apt-get install libopenmpi-dev openmpi-bin'
