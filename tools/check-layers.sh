#!/bin/sh
# Fails when a file includes a folder later than its own, a vendor's header that its name does not
# announce, prints where names of files would reach the terminal as they are, or when two files have the same name.
cd "$(dirname -- "$0")/.." || exit 2
files=$(find src -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' | sort)
# shellcheck disable=SC2086 # names in src/ have no blanks
awk '
BEGIN {
    n = split("base config plan backend ops ops/collective ops/fp8 ops/experts ops/simd_cpu comm ops/gemm_cpu ops/cpu ops/collective_cpu ops/fp8_cpu ops/experts_cpu ops/cuda ops/attention_cuda ops/fp8_cuda model exec prof " \
        "bench/record bench/measure bench/limits bench/estimate bench/forecast bench/cell bench/study " \
        "report/format report/export report/records report/findings report/study report/profile report/memory " \
        "report/page report/validate cli cli/plan cli/forecast cli/suite cli/published cli/live cli/commands", order, " ")
    for (i = 1; i <= n; i++) rank[order[i]] = i
    vendor["cuda"] = "cuda|cublas|cudnn"; vendor["cublas"] = "cuda|cublas"; vendor["cudnn"] = "cudnn"
    split("src/cli/main.c src/cli/output.c src/cli/commands/cmd_compare.c src/cli/suite/suite_run.c", list, " ")
    for (i in list) prints[list[i]] = 1
    vendor["cupti"] = "cupti"; vendor["nvtx3"] = "nvtx"; vendor["nccl"] = "nccl"; vendor["mpi"] = "mpi"
}
FNR == 1 {
    own = name = substr(FILENAME, 5); sub(/\/[^\/]*$/, "", own); sub(/^.*\//, "", name)
    if (!(own in rank)) { print FILENAME ": folder " own " has no place in the order above"; bad = 1 }
    if (name in where) { print FILENAME ": the same name as " where[name]; bad = 1 }
    where[name] = FILENAME
}
match($0, /^#include "[a-z0-9_\/]+\//) {
    dir = substr($0, 11, RLENGTH - 11)
    if (!(dir in rank)) { print FILENAME ":" FNR ": unknown folder " dir; bad = 1 }
    else if (rank[dir] > rank[own]) { print FILENAME ":" FNR ": " own " may not include " dir; bad = 1 }
}
/^ .*[^a-z_](printf|puts|perror)\(|f(printf|puts)\(.*std(out|err)/ && FILENAME ~ /c$/ && !(FILENAME in prints) {
    print FILENAME ":" FNR ": print with log_note(), progress_line() or output_print(), which escape"; bad = 1
}
/^#include </ {
    for (v in vendor) if (index($2, "<" v) == 1 && name !~ vendor[v]) {
        print FILENAME ":" FNR ": " $2 " belongs in a file named *" v "*"; bad = 1
    }
}
END { exit bad }
' $files
