#!/bin/sh
# Fails when an exported symbol does not start with its file's name (less _cpu, _cuda, _none...).
# usage: check-names.sh BUILD_DIR
[ -d "$1" ] || { echo "usage: check-names.sh BUILD_DIR" >&2; exit 2; }
bad=$(find "$1" -name '*.o' -path '*src/*' | sort | while read -r object; do
    stem=$(basename "$object" .o)
    stem=${stem%.*}
    case $object in */ops/*) stem=${stem%%_cpu*} stem=${stem%%_cuda*} ;; esac
    stem=${stem%_none}
    nm -g --defined-only "$object" | awk -v stem="$stem" -v object="$object" '
        $2 ~ /^[TDBR]$/ && $3 != "main" && $3 !~ /^_/ && index($3, stem) != 1 {
            print object ": " $3 " does not start with " stem
        }'
done)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
