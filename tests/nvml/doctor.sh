#!/usr/bin/env bash
# doctor and the environment with a GPU in the driver, and without. usage: doctor.sh ROOFSTEP FAKE_NVML
set -u
program=$1
export XDG_CACHE_HOME=/nowhere CUDA_VISIBLE_DEVICES=1
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
fail() { echo "FAILED: $*" >&2; exit 1; }
has() { case $1 in *"$2"*) ;; *) fail "no '$2' in: $1" ;; esac; }

with=$(ROOFSTEP_NVML=$2 FAKE_NVML=p "$program" doctor) || fail "doctor: exit code $?"
has "$with" '## GPU'
has "$with" 'Fake H200, 140 GiB, driver 580.65.06'
has "$with" 'SM 1755 of 1980 MHz'
has "$with" '612 W; 54 degrees'
has "$with" 'throttled now by: power limit, heat (driver)'
json=$(ROOFSTEP_NVML=$2 "$program" doctor --format json) || fail "doctor --format json: exit code $?"
has "$json" '"gpu": "Fake H200"'
has "$json" '"gpu_sm_mhz": 1755'
has "$json" '"gpu_power_limit_w": null'

json=$(ROOFSTEP_NVML=/nowhere "$program" doctor --format json) || fail "without a GPU: exit code $?"
has "$json" '"gpu": null'
exit 0
