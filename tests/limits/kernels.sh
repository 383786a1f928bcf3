#!/usr/bin/env bash
# usage: kernels.sh SOURCE CMAKE: the hash that stored limits go by follows the code that they measure, and nothing else.
source=$1 cmake=$2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src" && cp "$source/CMakeLists.txt" "$source/README.md" "$work" || exit 1
for folder in base ops backend bench cli; do cp -r "$source/src/$folder" "$work/src" || exit 1; done
failures=0
kernels() { # FLAGS: what a build of the tree as it is would have
    "$cmake" -DSOURCE="$work" -DOUT="$work/version.h" -DVERSION=1 -DCOMPILER='GNU 12' -DFLAGS="$1" -P "$source/cmake/version.cmake" &&
        sed -n 's/^#define ROOFSTEP_KERNELS "\(.*\)"$/\1/p' "$work/version.h"
}
check() { # WHAT same|other FLAGS
    local now
    now=$(kernels "$3")
    if [ "$([ "$now" = "$first" ] && echo same || echo other)" != "$2" ]; then
        echo "FAILED: $1: the hash was '$first' and is '$now'"
        failures=$((failures + 1))
    fi
}
first=$(kernels Release)
[[ $first =~ ^[0-9a-f]{12}$ ]] || { echo "no hash: '$first'"; exit 1; }
check 'built again' same Release
touch "$work"/src/ops/*.c
check 'only touched' same Release
echo more >>"$work/README.md"
echo '/* more */' >>"$work/src/cli/main.c"
check 'what is not measured has changed' same Release
check 'other flags' other Debug
echo '/* more */' >>"$work/src/ops/gemm_cpu/gemm_cpu.c"
check 'an op has changed' other Release
echo "$failures wrong"
[ $failures = 0 ]
