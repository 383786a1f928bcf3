#!/usr/bin/env bash
# usage: memory_gpu.sh PROGRAM: what a GPU holds is what was planned: small and medium, fp32 and bf16, three contexts,
# naive and flash, forward and training, and with recomputation.
program=$1
check=$(dirname -- "$0")/../memory/plan_against_device.sh
failures=0
bash "$check" "$program" cuda --size small,medium --precision fp32,bf16 --ctx 128,256,512 --attention naive,flash \
    --mode fwd,train || failures=1
bash "$check" "$program" cuda --size medium --precision bf16 --ctx 1024 --recompute none,block,4 || failures=1
"$program" memory --device cuda --size small --precision bf16 | grep 'held for it' || failures=1
exit $failures
