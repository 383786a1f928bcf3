#!/usr/bin/env bash
# Runs the commands of docs/results/commands.tsv and puts what they print into the documents, between
# <!-- docs/results/FILE --> and <!-- end -->. Needs a machine that does nothing else.
#   tools/refresh-docs.sh            runs the commands for a CPU, some minutes
#   tools/refresh-docs.sh FILE...    runs those of these files of docs/results
#   tools/refresh-docs.sh --fill     measures nothing: makes tables from result files, and the documents from both
#   tools/refresh-docs.sh --check    changes nothing: fails where a table or a document differs from its files
# ROOFSTEP names the program; ./roofstep otherwise.
root=$(realpath -- "$(dirname -- "$0")/..")
cd "$root" || exit 1
results=docs/results
documents=(README.md docs/*.md)

listed() { grep -v '^#\|^-' $results/commands.tsv; }
files_that() { listed | awk -F'\t' -v where="$1" '$2 == where { print $1 }'; } # run WHERE

# Prints what the command of a file prints.
output_of() {
    local command
    command=$(listed | awk -F'\t' -v file="$1" '$1 == file { print $5 }')
    [ -n "$command" ] || { echo "$1 is not in $results/commands.tsv" >&2; return 1; }
    bash -c "${command//.\/roofstep /${ROOFSTEP:-./roofstep} }" </dev/null
}

# A command prints what the file shall hold, or writes the file itself.
run_one() {
    local file=$1 out
    out=$(mktemp)
    echo "$file" >&2
    output_of "$file" >"$out" || { echo "$file: the command failed; the file is as it was" >&2; rm "$out"; return 1; }
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
    for file in $(files_that files); do
        output_of "$file" | cmp -s - "$results/$file" ||
            { echo "$results/$file is not what its result files say: tools/refresh-docs.sh --fill"; bad=1; }
    done
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
    awk -F'\t' '!/^#/ && NF != 5 { print FILENAME ":" FNR ": " NF " columns, not 5"; bad = 1 } END { exit bad }' $results/commands.tsv || bad=1
    return $bad
}

case ${1:-} in
    --check) check ;;
    --fill)
        for file in $(files_that files); do run_one "$file" || exit 1; done
        fill
        ;;
    --*) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *)
        [ $# -gt 0 ] || mapfile -t all < <(files_that cpu; files_that files)
        [ $# -gt 0 ] || set -- "${all[@]}"
        failed=0
        for file in "$@"; do run_one "$file" || failed=1; done
        fill
        exit $failed
        ;;
esac
