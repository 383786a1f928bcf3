# Names of this project's kernels, for sanitize.sh and verdict_itself.sh.
# shellcheck shell=bash
cuda_sources() { find "$1/src" -name '*.cu' -o -name '*.cuh'; }

# own_kernels ROOT: one name a line.
own_kernels() { cuda_sources "$1" | xargs grep -ohE '[a-z0-9_]*_kernel\b' | sort -u; }
