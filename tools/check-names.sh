#!/bin/sh
# Fails when an exported symbol does not start with its file's name (less _cpu, _cuda, _none, _aarch64...), and when two
# functions with CPU_CLONES have one name: clang's chooser between the clones is global, even of a static function.
# usage: check-names.sh BUILD_DIR
[ -d "$1" ] || { echo "usage: check-names.sh BUILD_DIR" >&2; exit 2; }
twice=$(sed -n 's/^.*CPU_CLONES static [a-z ]*[ *]\([a-z0-9_]*\)(.*/\1/p' "$(dirname "$0")"/../src/ops/*/*.[ch] "$(dirname "$0")"/../src/comm/*.[ch] | sort | uniq -d)
[ -z "$twice" ] || { echo "CPU_CLONES: two functions are named $twice" >&2; exit 1; }
find "$1" -name '*.o' -path '*/src/*' -exec nm -A -g --defined-only {} + | awk '
{
    # path/to/name.c.o:0000000000000000 T symbol
    colon = index($0, ".o:")
    object = substr($0, 1, colon + 1)
    split(substr($0, colon + 3), field, " ")
    kind = field[2]; symbol = field[3]
    n = split(object, part, "/")
    stem = part[n]
    sub(/\..*$/, "", stem)
    if (object ~ "/ops/") sub(/_(cpu|cuda|cudnn).*$/, "", stem)
    sub(/(_cuda|_none|_aarch64|_x86_64)$/, "", stem)
    if (kind ~ /^[TDBR]$/ && symbol != "main" && symbol !~ /^_|[.]/ && index(symbol, stem) != 1) {
        print object ": " symbol " does not start with " stem
        bad = 1
    }
}
END { exit bad }'
