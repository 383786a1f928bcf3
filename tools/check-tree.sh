#!/bin/sh
# Fails on what makes the tree hard to read for a stranger: a long file, a long line, a crowded folder, two source files
# that need each other, a word of tools/vocabulary.tsv.
# usage: check-tree.sh BUILD_DIR
[ -d "$1" ] || { echo "usage: check-tree.sh BUILD_DIR" >&2; exit 2; }
build=$(cd -- "$1" && pwd)
cd "$(dirname -- "$0")/.." || exit 2
status=0

# report FINDINGS: prints them; without any there is nothing to report. Never behind a pipe: a subshell would lose the status.
report() {
    [ -n "$1" ] || return 0
    echo "$1"
    status=1
}

code() { find "$@" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def'; }
scripts() { find "$@" -name node_modules -prune -o \( -name '*.sh' -o -name '*.py' -o -name '*.js' -o -name '*.mjs' -o -name '*.cmake' \) -print; }

report "$({ code src tests; scripts src tests tools peers cmake; } | xargs awk '
    FNR == 401 { print FILENAME ": over 400 lines: split it along its ideas" }')"
# A line of a .def is a line of a table, however long. Bytes are not columns: the continuation bytes of UTF-8, 10xxxxxx,
# take no column.
report "$(code src tests | grep -v '\.def$' | LC_ALL=C xargs awk '
    { line = $0; gsub(/[\200-\277]/, "", line) }
    length(line) > 110 { print FILENAME ":" FNR ": " length(line) " columns, more than 110" }')"
report "$(find src tests -name '*.c' -o -name '*.cu' | sed 's|/[^/]*$||' | sort | uniq -c |
    awk '$1 > 30 { print $2 ": " $1 " sources, more than 30: make sub-folders" }')"

# Object files that refer to each other's symbols.
report "$(find "$build" -name '*.o' -path '*/src/*' -exec nm -A -g {} + | awk '
    {
        colon = index($0, ".o:")
        file = substr($0, 1, colon - 1)
        sub(/^.*\/src\//, "src/", file)
        if (!(file in exists)) exists[file] = (getline line <file) >= 0 # not so where a build folder has old objects
        if (!exists[file]) next
        n = split(substr($0, colon + 3), field, " ")
        if (field[n - 1] == "U") needs[file, field[n]] = 1
        else if (field[n - 1] ~ /^[TDBRC]$/) owner[field[n]] = file
    }
    END {
        for (pair in needs) {
            split(pair, part, SUBSEP)
            if (part[2] in owner && owner[part[2]] != part[1]) uses[part[1], owner[part[2]]] = part[2]
        }
        for (pair in uses) {
            split(pair, part, SUBSEP)
            if (part[1] < part[2] && (part[2], part[1]) in uses)
                print part[1] " and " part[2] " need each other (" uses[pair] ", " uses[part[2], part[1]] ")"
        }
    }' | sort)"

# A line of vocabulary.tsv is an extended regular expression of whole words, a tab, and what to write instead.
tab=$(printf '\t')
while IFS=$tab read -r pattern instead; do
    case $pattern in '' | '#'*) continue ;; esac
    # shellcheck disable=SC2046 # names in src/ and docs/ have no blanks
    found=$(grep -nwE -e "$pattern" $(code src) $(scripts src) src/report/page/*.html docs/*.md README.md)
    [ -z "$found" ] || report "$(echo "$found" | sed "s|\$|   <- write: $instead|")"
done <tools/vocabulary.tsv
exit $status
