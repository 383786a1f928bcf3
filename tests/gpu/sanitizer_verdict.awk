# What compute-sanitizer's log says about us. Variables: tool, ours (names of our kernels, a|b|c).
#
# A report begins with "========= Text" and goes on with "=========     text". Not counted, only named:
# - racecheck and initcheck in kernels of cuBLASLt and cuDNN. racecheck looks at shared memory, which is
#   the kernel's own business and cannot be reached from outside. For initcheck, their kernels load whole
#   tiles and throw away what lies beyond a matrix, or read scratch memory under a mask.
#   In memcheck they do count: a buffer we made too small shows there.
# - failing CUDA calls that a library made: they try out what the driver can do.
# Everything else counts, a kernel that nobody knows and a log without a summary included.
BEGIN {
    own = "(^|[^A-Za-z0-9_])(" ours ")([^A-Za-z0-9_]|$)"
    library = "cublas|cutlass|cudnn|xmma|nvjet|gemm|gemv|splitKreduce"
}

function kernel_of(text) {
    sub(/\+0x[0-9a-f]+.*/, "", text)
    sub(/.* at (0x[0-9a-f]+ in )?/, "", text)
    return substr(text, 1, 80)
}

function close_report() {
    if (report == "") return
    if (from_library && !from_us) {
        other[kernel]++
    } else if (++counted <= 10) {
        printf "%s", report
    }
    report = ""
}

function open_report() {
    close_report()
    from_us = from_library = 0
    kernel = "a CUDA call"
}

# The frames of the program itself name our kernels' launchers: they say nothing about who was at work.
function look_at_owner() {
    if (/Host Frame/ || /^=========  +in /) {
        if (api_call && /libcublas|libcudnn|libnvrtc/) from_library = 1
        return
    }
    if (api_call) return
    if ($0 ~ own) from_us = 1
    if (tool != "memcheck" && $0 ~ library) from_library = 1
    if (/ at /) kernel = kernel_of($0)
}

!/^=========/ { next }
/SUMMARY/ { close_report(); summary = 1; next }
/^========= (COMPUTE-SANITIZER|This tool|Version)/ { close_report(); next }
/^========= *$/ { close_report(); next }
/^========= [^ ]/ { open_report(); api_call = /Program hit/ }
report != "" || /^========= [^ ]/ {
    report = report $0 "\n"
    look_at_owner()
}

END {
    close_report()
    for (name in other) printf "%s: %d reports in a library, not counted: %s\n", tool, other[name], name
    if (!summary) print tool ": the log has no summary: compute-sanitizer did not finish"
    printf "%s: %d reports counted\n", tool, counted
    exit counted > 0 || !summary
}
