#!/usr/bin/env bash
# What scripts share that count what is wrong and go on. Each gets the program as its argument, works in a folder of its
# own, leaves stdout and stderr of what it ran last in out and err, and ends with `verdict`.
# shellcheck disable=SC2034 # they use what is set here
program=$(realpath "$1")
tests=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
golden=$tests/golden
# Looking for leaks takes seconds at every exit on some machines; the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
work=$(mktemp -d)
# A job that a signal meets before it is the program is still this shell, trap and all.
trap '[ "$BASHPID" != $$ ] || rm -r "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache # no stored limits, and none stored
failures=0

fail() {
    echo "FAILED: $1"
    head -n 30 out err 2>/dev/null | sed 's/^/        > /'
    failures=$((failures + 1))
}

# has FRAGMENT...: each is on stdout
has() {
    local fragment
    for fragment; do
        grep -qF -- "$fragment" out || fail "no '$fragment'"
    done
}

# matches PATTERN...: each has its line on stdout
matches() {
    local pattern
    for pattern; do
        grep -Eq -- "$pattern" out || fail "no '$pattern'"
    done
}

# The program has sanitizers, which take ten times as long: work that grows is smaller there.
sanitized() { "$program" --version | grep -qE '^compiler .*(address|thread)'; }

cases=0
# refused FRAGMENT ARGUMENTS...: the program refuses them in one line that has the fragment; counted in `cases`
refused() {
    local fragment=$1 got
    shift
    timeout 60 "$program" "$@" >out 2>err </dev/null
    got=$?
    cases=$((cases + 1))
    [ $got = 2 ] || fail "$*: exit code $got, expected 2: $(tail -n 1 err)"
    [ ! -s out ] || fail "$*: it wrote to stdout"
    [ "$(wc -l <err)" = 1 ] || fail "$*: expected one line on stderr: $(cat err)"
    grep -qF -- "$fragment" err || fail "$*: expected $fragment: $(cat err)"
}

# resume_killed FOLDER HUNDREDTHS SIGNAL...: its suite resumed and killed by each signal, within so many hundredths of a
# second, then resumed to its end
resume_killed() {
    local folder=$1 within=$2 signal moment
    shift 2
    for signal; do
        "$program" suite --resume "$folder" >out 2>err </dev/null &
        moment=$((RANDOM % within))
        sleep "$((moment / 100)).$(printf %02d $((moment % 100)))"
        kill -"$signal" $! 2>/dev/null
        wait $! 2>/dev/null
    done
    "$program" suite --resume "$folder" >out 2>err </dev/null || fail "resumed: exit code $?"
}

# same_files FOLDER FOLDER: nothing is left over and nothing is missing
same_files() {
    diff <(cd "$1" && find . -type f | sort) <(cd "$2" && find . -type f | sort) || fail 'files are left over or missing'
}

verdict() {
    echo "$failures wrong"
    [ $failures = 0 ]
}
