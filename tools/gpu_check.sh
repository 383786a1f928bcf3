#!/bin/bash
# Builds the CUDA preset for this machine's GPU and runs every test that needs one. With --quick only
# builds. usage: tools/gpu_check.sh [cmake options]
set -e
cd "$(dirname "$0")/.."
cmake -S . -B build/cuda -G Ninja -DROOFSTEP_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native "$@" >build/cuda.log 2>&1 || { tail -20 build/cuda.log; exit 1; }
ninja -C build/cuda >>build/cuda.log 2>&1 || { grep -E "error|undefined|FAILED" build/cuda.log | head -30; exit 1; }
ctest --test-dir build/cuda -L gpu --output-on-failure
