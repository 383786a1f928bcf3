#!/usr/bin/env bash
# usage: notebooks.sh PROGRAM: every block of docs/notebooks.md runs on files of ours, where its package is installed.
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work" || exit 1
for format in json csv sql; do cp "$root/tests/golden/results.$format" . || exit 1; done
gzip -dc "$root/docs/results/h200-medium-profile.json.gz" >profile.json || exit 1
awk '/^```(python|sh)$/ { kind = substr($0, 4); n++; next } /^```/ { kind = "" } kind { print >(sprintf("block-%02d.%s", n, kind)) }' "$root/docs/notebooks.md"
failures=0 ran=0 skipped=
check() { # COMMAND...
    if ! "$@" >out 2>err || ! [ -s out ]; then
        echo "FAILED: $*"
        cat "${!#}" err
        failures=$((failures + 1))
    fi
    ran=$((ran + 1))
}
for block in block-*.py*; do
    modules=$(sed -n 's/^import \([a-z0-9]*\).*/\1/p' "$block" | paste -sd,)
    if python3 -c "import $modules" 2>/dev/null; then check python3 "$block"; else skipped="$skipped ${modules##*,}"; fi
done
for block in block-*.sh; do
    if command -v sqlite3 >/dev/null; then check bash -e "$block"; else skipped="$skipped sqlite3"; fi
done
echo "$ran blocks ran, $failures wrong${skipped:+; not installed:$skipped}"
[ $failures = 0 ] && [ $ran -gt 0 ]
