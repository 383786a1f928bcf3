#!/usr/bin/env bash
# usage: verdict_itself.sh: what sanitizer_verdict.awk makes of compute-sanitizer's logs. Needs no GPU.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/own_kernels.sh
. "$here/own_kernels.sh"
failures=0

# expect CODE TOOL COUNTED NAME <LOG
expect() {
    local got code
    got=$(awk -v tool="$2" -v ours='adamw_kernel|copy_kernel' -f "$here/sanitizer_verdict.awk")
    code=$?
    [ $code = "$1" ] && [[ $got == *"$2: $3 reports counted"* ]] && return
    printf 'FAILED: %s: exit code %s, expected %s and %s counted\n%s\n' "$4" $code "$1" "$3" "$got"
    failures=$((failures + 1))
}
frames() {
    printf '%s\n' '=========     Saved host backtrace up to driver entry point at kernel launch time' \
        '=========         Host Frame: adamw_kernel(Groups, const double*) in adamw_cuda.cu [0x1] in tiny_step'
}
uninitialized() { # KERNEL
    printf '%s\n' '========= Uninitialized __global__ memory read of size 4 bytes' \
        "=========     at $1+0x70" '=========     by thread (0,0,0) in block (0,0,0)' \
        '=========     Address 0x7f0000000000'
    frames
    echo '========= '
}
race() { # KERNEL
    printf '%s\n' "========= Error: Race reported between Write access at $1+0xa70 in x.cuh:9" \
        "=========     and Read access at $1+0xb70 [32 hazards]" '========= '
}
failed_call() { # LIBRARY
    printf '%s\n' '========= Program hit cudaErrorNotSupported (error 801) due to "operation not supported" on CUDA API call to cudaFuncGetAttributes.' \
        '=========     Saved host backtrace up to driver entry point at error' \
        "=========         Host Frame: [0x33] in $1" '========= '
}
ours='void adamw_kernel<__nv_bfloat16>(Groups, const double *)'
nvjet='nvjet_hsh_64x8_64x16_2x1_v_bz_TNT'
strange='void other::copy_kernel_of_nobody(int *)'
end='========= ERROR SUMMARY: 1 error'

{ echo '========= COMPUTE-SANITIZER'; echo "$end"; } | expect 0 memcheck 0 'nothing'
echo '========= COMPUTE-SANITIZER' | expect 1 memcheck 0 'a log without an end'
{ uninitialized "$ours"; echo "$end"; } | expect 1 initcheck 1 'our kernel'
{ uninitialized "$nvjet"; uninitialized "$nvjet"; echo "$end"; } | expect 0 initcheck 0 'a kernel of a library'
{ uninitialized "$nvjet"; uninitialized "$ours"; echo "$end"; } | expect 1 initcheck 1 'one of each'
{ uninitialized "$strange"; echo "$end"; } | expect 1 initcheck 1 'a kernel nobody knows'
{ race "$ours"; echo '========= RACECHECK SUMMARY: 1 hazard'; } | expect 1 racecheck 1 'our race'
{ race 'void cutlass::Kernel2<a>(T1::Params)'; echo '========= RACECHECK SUMMARY: 1 hazard'; } |
    expect 0 racecheck 0 'a race of a library'
{ uninitialized "$nvjet" | sed 's/Uninitialized/Invalid/'; echo "$end"; } | expect 1 memcheck 1 'a library beyond our buffers'
{ failed_call /usr/lib/libcublasLt.so.13; echo "$end"; } | expect 0 memcheck 0 "a library's call"
{ failed_call ./tiny_step; echo "$end"; } | expect 1 memcheck 1 'our call'

for name in adamw_kernel copy_kernel; do
    own_kernels "$here/../.." | grep -qx $name && continue
    echo "FAILED: $name is not among the names of our kernels"
    failures=$((failures + 1))
done
# No name of ours may look like one of theirs: it would not be counted.
library=$(sed -n 's/^ *library = "\(.*\)"$/\1/p' "$here/sanitizer_verdict.awk")
if [ -z "$library" ] || own_kernels "$here/../.." | grep -E "$library"; then
    echo 'FAILED: a kernel of ours is called like those of the libraries'
    failures=$((failures + 1))
fi
if cuda_sources "$here/../.." | xargs cat | tr '\n' ' ' |
    grep -oE '__global__( +void| +__launch_bounds__\([^)]*\))+ +[A-Za-z0-9_]+' | grep -v '_kernel$'; then
    echo 'FAILED: a kernel of ours whose name does not end in _kernel'
    failures=$((failures + 1))
fi
echo "$failures wrong"
[ $failures = 0 ]
