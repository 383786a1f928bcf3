#!/usr/bin/env bash
# Runs the commands of docs/results/commands.tsv and puts what they print into the documents, between
# <!-- docs/results/FILE --> and <!-- end -->. Wants a machine that does nothing else.
#   tools/refresh-docs.sh            the commands for a CPU, some minutes
#   tools/refresh-docs.sh FILE...    these files of docs/results
#   tools/refresh-docs.sh --fill     runs nothing: the documents from the files there are
#   tools/refresh-docs.sh --check    changes nothing: fails where a document is not what its file says
root=$(realpath -- "$(dirname -- "$0")/..")
cd "$root" || exit 1
results=docs/results
documents=(README.md docs/*.md)

listed() { grep -v '^#' $results/commands.tsv; }

# A command prints what the file shall hold, or writes the file itself.
run_one() {
    local file=$1 command out
    command=$(listed | awk -F'\t' -v file="$file" '$1 == file { print $3 }')
    [ -n "$command" ] || { echo "$file is not in $results/commands.tsv" >&2; return 1; }
    out=$(mktemp)
    echo "$file: $command" >&2
    bash -c "$command" >"$out" </dev/null || { echo "$file: the command failed; the file is as it was" >&2; rm "$out"; return 1; }
    if [ -s "$out" ]; then cat "$out" >"$results/$file"; fi
    rm "$out"
}

# The document with every block as its file has it; text as it is on a terminal.
filled() {
    awk '
        /^<!-- docs\/results\/.* -->$/ {
            print
            file = $2; fence = file ~ /\.txt$/
            if (fence) print "```"
            while ((status = (getline line < file)) > 0) print line
            if (status < 0) { print file ": cannot be read" > "/dev/stderr"; exit 1 }
            if (fence) print "```"
            close(file); skip = 1; next
        }
        /^<!-- end -->$/ { skip = 0 }
        !skip
        END { if (skip) { print FILENAME ": a block without <!-- end -->" > "/dev/stderr"; exit 1 } }
    ' "$1"
}

fill() {
    local document
    for document in "${documents[@]}"; do
        if filled "$document" >"$document.new"; then cat "$document.new" >"$document"; fi
        rm "$document.new"
    done
}

check() {
    local bad=0 document file
    for document in "${documents[@]}"; do
        filled "$document" | cmp -s - "$document" || { echo "$document is not what its files say: tools/refresh-docs.sh --fill"; bad=1; }
    done
    for file in $(listed | cut -f1); do
        [ -s "$results/$file" ] || { echo "$results/$file is listed and not there"; bad=1; }
        grep -q "results/$file" "${documents[@]}" || { echo "$results/$file: no document names it"; bad=1; }
    done
    for file in "$results"/*; do
        file=${file##*/}
        [ "$file" = commands.tsv ] || listed | cut -f1 | grep -qxF "$file" || { echo "$results/$file is in no line of commands.tsv"; bad=1; }
    done
    return $bad
}

case ${1:-} in
    --fill) fill ;;
    --check) check ;;
    --*) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *)
        [ $# -gt 0 ] || mapfile -t all < <(listed | awk -F'\t' '$2 == "cpu" { print $1 }')
        [ $# -gt 0 ] || set -- "${all[@]}"
        failed=0
        for file in "$@"; do run_one "$file" || failed=1; done
        fill
        exit $failed
        ;;
esac
