#!/usr/bin/env bash
# What the scripts share. Each gets the program as its argument and runs in a folder of its own.
set -u
program=$(realpath "$1")
[ -x "$program" ] || { echo "no program $1" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export XDG_CACHE_HOME=$dir/cache # no stored limits, and none stored
unset NO_COLOR
# Looking for leaks takes seconds at every exit on some machines; the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

fail() {
    echo "FAILED: $*" >&2
    for f in "$dir"/*.out "$dir"/*.err; do
        [ -s "$f" ] && echo "--- ${f##*/}" >&2 && tail -n 20 "$f" >&2
    done
    exit 1
}

# A model so small that a step takes microseconds; more options follow. (To run it in the background
# use the array: $! of a function is a shell.)
model=(bench --d-model 8 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 11 --ctx 4 --batch 1
    --threads 1 --warmup 1)
bench() {
    "$program" "${model[@]}" "$@"
}

expect_code() { # CODE WHAT
    [ "$code" = "$1" ] || fail "$2: exit code $code, not $1"
}

expect() { # FILE PATTERN
    grep -Eq -- "$2" "$1" || fail "$1 has no '$2'"
}

refuse() { # FILE PATTERN
    grep -Eq -- "$2" "$1" && fail "$1 has '$2'"
    return 0
}

# Waits until the file has a line with the pattern.
await() { # FILE PATTERN
    for _ in $(seq 3000); do
        grep -Eq -- "$2" "$1" 2>/dev/null && return 0
        sleep 0.02
    done
    fail "$1 never had '$2'"
}

# The process that runs the cell of the sweep with this pid.
cell_of() {
    for _ in $(seq 500); do
        cell=$(pgrep -P "$1" | head -n 1)
        [ -n "$cell" ] && return 0
        sleep 0.02
    done
    fail "the sweep has no cell"
}

gone() { # PID
    for _ in $(seq 500); do
        kill -0 "$1" 2>/dev/null || return 0
        case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) in Z | '') return 0 ;; esac
        sleep 0.02
    done
    return 1
}
