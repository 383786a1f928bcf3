#!/bin/sh
# Formats the C sources with clang-format 14; with --check only says which are not formatted.
cd "$(dirname -- "$0")/.." || exit 2
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "format: no clang-format; skipped"; exit 0; }
# Every version formats a little differently.
case $("$tool" --version) in
    *'version 14.'*) ;;
    *) echo "format: $("$tool" --version), not 14; skipped"; exit 0 ;;
esac
mode=-i
[ "$1" != --check ] || mode='--dry-run -Werror'
# shellcheck disable=SC2086 # two words on purpose
find src tests \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z | xargs -0 "$tool" $mode
