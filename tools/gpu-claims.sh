#!/usr/bin/env bash
# Shows again what the documents claim of a GPU: runs the commands of docs/results/commands.tsv, part by part, and prints
# each with its output, how it ended and how long it took.
#   tools/gpu-claims.sh                   lists the parts
#   tools/gpu-claims.sh FOLDER PART...    runs these; results and logs go to FOLDER, docs/results stays as it is
# Needs a CUDA build with its tests (cmake --preset cuda && cmake --build --preset cuda), a GPU that does nothing else, and
# PyTorch for what is compared with it. ROOFSTEP names another program. The list says about how many seconds each takes on an H200.
set -u
cd "$(dirname -- "$0")/.." || exit 1
roofstep=${ROOFSTEP:-build/cuda/roofstep}
list=docs/results/commands.tsv

parts() { awk -F'\t' '$1 == "#part" { printf "  %-18s [%3d s] %s\n", $2, $3, $4 }' $list; }
commands() { awk -F'\t' -v part="$1" '!/^#/ && $3 == part && $2 !~ /^with / { print $5 }' $list; }

# Exit code 4: a cell ran out of memory or time, which is a result.
run() {
    local began=$SECONDS command=$1 code
    command=${command//docs\/results\//$folder/}
    command=${command//.\/roofstep /$roofstep }
    printf '\n$ %s\n' "$command"
    bash -c "$command" </dev/null 2>>"$folder/log"
    code=$?
    echo "-- exit $code, $((SECONDS - began)) s"
    case $code in 0 | 4) ;; *) failed="$failed $part" ;; esac
}

if [ $# -lt 2 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    parts
    exit 2
fi
folder=$1
shift
for part in "$@"; do
    [ -n "$(commands "$part")" ] || { echo "gpu-claims: no part '$part'; there are:"; parts; exit 2; }
done
mkdir -p "$folder" || exit 1
failed=
for part in "$@"; do
    printf '\n== %s\n' "$part"
    mapfile -t lines < <(commands "$part")
    for line in "${lines[@]}"; do run "$line"; done
done
[ -z "$failed" ] || { echo "failed:$failed (see $folder/log)"; exit 1; }
