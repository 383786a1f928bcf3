#!/usr/bin/env bash
# usage: bad_usage.sh PROGRAM: every line of bad_usage.tsv is refused as it says.
program=$1
# Looking for leaks takes seconds at every exit on some machines; the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
lines=0 failures=0

fail() {
    printf 'FAILED: roofstep %s\n        %s\n' "$command" "$1"
    sed 's/^/        > /' "$work/err"
    failures=$((failures + 1))
}

while IFS=$'\t' read -r command fragment; do
    case $command in '#'*) continue ;; esac
    eval "set -- $command"
    (cd "$work" && timeout 60 "$program" "$@" >out 2>err </dev/null)
    code=$?
    lines=$((lines + 1))
    if [ $code != 2 ]; then
        fail "exit code $code, expected 2"
    elif [ -s "$work/out" ]; then
        fail "it wrote to stdout"
    elif [ "$(wc -l <"$work/err")" != 1 ]; then
        fail "expected one line on stderr"
    elif ! grep -qF -- "$fragment" "$work/err"; then
        fail "expected it to contain: $fragment"
    elif [ "$(ls "$work")" != $'err\nout' ]; then
        fail "it left files behind"
    fi
done <"$(dirname "$0")/bad_usage.tsv"

echo "$lines command lines, $failures wrong"
[ $lines -ge 40 ] && [ $failures = 0 ]
