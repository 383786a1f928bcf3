#!/bin/sh
# Formats the C sources with clang-format; with --check only says which are not formatted.
cd "$(dirname -- "$0")/.." || exit 2
command -v clang-format >/dev/null || { echo "format: clang-format is not here; skipped"; exit 0; }
mode=-i
[ "$1" != --check ] || mode='--dry-run -Werror'
# shellcheck disable=SC2086 # two words on purpose
find src tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | xargs clang-format $mode
