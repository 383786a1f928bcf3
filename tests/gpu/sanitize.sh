#!/usr/bin/env bash
# usage: sanitize.sh memcheck|racecheck|initcheck TINY_STEP [PRECISION]: a tiny step in every precision (or one) and
# execution style under compute-sanitizer.
#   ROOFSTEP_SANITIZER=PATH   where compute-sanitizer is
#   ROOFSTEP_TINY_STEP=''     initcheck without what tiny_step.c does about writes that it cannot see
# A machine with a GPU and without compute-sanitizer fails: what was not checked is not clean.
set -u
tool=$1
program=$2
precision=${3:-all}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/own_kernels.sh
. "$here/own_kernels.sh"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
for sanitizer in "${ROOFSTEP_SANITIZER:-compute-sanitizer}" "$(dirname "$nvcc")/compute-sanitizer" \
    "$(dirname "$nvcc")/../compute-sanitizer/compute-sanitizer" ''; do
    [ -n "$sanitizer" ] || { echo "FAILED: compute-sanitizer was not found; it comes with the CUDA toolkit"; exit 1; }
    command -v "$sanitizer" >/dev/null && break
done
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work

# First alone: this finds the products' algorithms and keeps them. Trying them out reads memory that
# nobody has written yet, and takes long under the sanitizer.
"$program" "$precision" || { echo "FAILED: $program"; exit 1; }

arguments=("$precision")
# shellcheck disable=SC2206 # several words, or none
[ "$tool" != initcheck ] || arguments+=(${ROOFSTEP_TINY_STEP---clear-library-results})
seconds=$SECONDS
"$sanitizer" --tool "$tool" --log-file "$work/log" --print-limit 0 "$program" "${arguments[@]}" >"$work/out" 2>&1
code=$?
echo "$tool: $((SECONDS - seconds)) s"
if ! grep -q '^0 cells failed' "$work/out"; then
    cat "$work/out"
    tail -n 40 "$work/log"
    echo "FAILED: the step under $tool, exit code $code"
    exit 1
fi
ours=$(own_kernels "$here/../.." | paste -sd '|')
awk -v tool="$tool" -v ours="$ours" -f "$here/sanitizer_verdict.awk" "$work/log"
