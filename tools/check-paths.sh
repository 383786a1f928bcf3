#!/usr/bin/env bash
# Fails when ARCHITECTURE.md, CONTRIBUTING.md, another document of the root or docs/howto-*.md name a file or folder that does not exist. A path is a word in
# backquotes, or the target of a link, with a slash or an ending of a source; it counts from the root, from src/ or, without a
# slash, from any folder. NAME and other words in capitals stand for anything. Every folder of src/ has a row in ARCHITECTURE.md.
cd "$(dirname -- "$0")/.." || exit 2
shopt -s nullglob globstar

# shellcheck disable=SC2016 # backquotes of Markdown
named() { # FILE: LINE<tab>PATH
    grep -noE '`[^` ]+`|\]\([^)]+\)' "$1" | sed -nE 's/^([0-9]+):(`|\]\()([^`)#]*).*/\1\t\3/p' |
        awk -F'\t' '$2 ~ /\/|\.(c|h|cu|cuh|def|sh|py|md|tsv|js|mjs|html|cmake|awk)$/ && $2 !~ /^(build\/|roofstep-report\/|https?:|[-~$.\/]|[a-z]+\.[a-z]+\()|[(){}<>=|;,"]/'
}

# shellcheck disable=SC2206 # patterns are to be expanded; names in the tree have no blanks
exists() { # PATH FOLDER-OF-DOCUMENT
    local pattern found
    [ -e "$1" ] || [ -e "src/$1" ] && return 0 # also README.md, which is no placeholder
    pattern=$(sed -E 's/[A-Z][A-Z]+([-_][A-Z]+)*/*/g' <<<"$1")
    case $pattern in
        */*) found=($pattern src/$pattern $2/$pattern) ;;
        *) found=($2/$pattern {src,tests,tools,peers,cmake,docs}/**/$pattern) ;;
    esac
    for pattern in "${found[@]}"; do [ -e "$pattern" ] && return 0; done
    return 1
}

bad=0
for document in *.md docs/howto-*.md; do
    while IFS=$'\t' read -r line path; do
        exists "$path" "$(dirname -- "$document")" || { echo "$document:$line: no '$path'"; bad=1; }
    done < <(named "$document")
done
for folder in $(find src -mindepth 1 -type d -not -path '*/node_modules*' | sed 's|^src/||'); do
    # A folder that holds only folders has no row of its own.
    if compgen -G "src/$folder/*.[ch]*" >/dev/null && ! grep -qF "| \`$folder/\` |" ARCHITECTURE.md; then
        echo "ARCHITECTURE.md: no row for the folder '$folder/'"
        bad=1
    fi
done
exit $bad
