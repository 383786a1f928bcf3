#!/usr/bin/env bash
# The files in --out-dir, read by other rules than those that wrote them; long runs.
# shellcheck disable=SC1091,SC2154 # profile.sh sets `here` and `program`
. "$(dirname "$(realpath "$0")")/profile.sh"

files() { # FOLDER PREFIX TRACED
    python3 "$here/check_csv.py" "$1" "$2" >csv.out 2>&1 || fail "csv of $1"
    python3 "$here/check_trace.py" "$1/$2_trace.json.gz" "$3" >trace.out 2>&1 || fail "trace of $1"
    "$program" validate "$1"/* >validate.out 2>validate.err || fail "validate $1"
}

for exec in eager fused; do
    for precision in fp32 bf16; do
        profile --steps 5 --exec $exec --precision $precision --out-dir $exec-$precision --source >run.out 2>run.err || fail "$exec"
        files $exec-$precision profile 3
    done
done
profile --steps 2 --trace-steps 1 --prefix mine --out-dir deep/er >prefix.out 2>prefix.err || fail "--prefix"
files deep/er mine 1
profile --steps 2 --ctx 4,8 --out-dir two >two.out 2>two.err || fail "two cells"
files two profile-custom-ctx-4 2
files two profile-custom-ctx-8 2

# --- 5,000 steps take no more memory than 50, and files of the same size
rss() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["rss_peak_mib"])' "$1/profile.json"; }
# (the address sanitizer keeps what is freed for a while: not here)
export ASAN_OPTIONS=$ASAN_OPTIONS:quarantine_size_mb=0:thread_local_quarantine_size_kb=0
profile --mode fwd --steps 50 --out-dir short >short.out 2>short.err || fail "50 steps"
profile --mode fwd --steps 5000 --out-dir long >long.out 2>long.err || fail "5,000 steps"
files long profile 3
awk -v a="$(rss short)" -v b="$(rss long)" 'BEGIN { exit !(b < a + 4) }' || fail "memory: $(rss short) MiB, then $(rss long)"
[ "$(stat -c %s long/profile_trace.json.gz)" -lt $((2 * $(stat -c %s short/profile_trace.json.gz))) ] || fail "the trace grows"

# --- a folder that cannot be written is known before the work
mkdir readonly && : >readonly/file
profile --steps 1 --out-dir readonly/file >file.out 2>file.err
code=$?
expect_code 1 "--out-dir that is a file"
refuse file.err '\[1/1\]'

# --- nor is a file of it that cannot be
early() { # CODE WHAT LINE; the rest are options
    local wanted=$1 what=$2 line=$3
    shift 3
    profile --steps 1 "$@" >early.out 2>early.err
    code=$?
    expect_code "$wanted" "$what"
    [ "$(wc -l <early.err)" = 1 ] || fail "$what: not one line before the work"
    expect early.err "$line"
}
mkdir -p taken/profile_trace.json.gz taken/profile_nvtx_sum.csv
early 1 "a folder in the place of a trace" 'it is a directory' --out-dir taken
early 1 "a name that is too long" 'File name too long' --out-dir taken --prefix "$(printf 'x%.0s' $(seq 300))"
early 2 "a prefix with a folder" "^roofstep profile: --prefix nodir/c: .*--out-dir names the folder$" --out-dir new --prefix nodir/c
early 2 "a prefix that leads out" "^roofstep profile: --prefix ../../x: " --out-dir new --prefix ../../x
early 2 "a prefix of nothing" 'give --out-dir DIR too' --prefix c
early 2 "one name for two" 'would overwrite a file of --out-dir' --out-dir taken/two --out taken/two/profile.json --format md
[ ! -e new ] && [ ! -e x_trace.json.gz ] || fail "a refused profile left something"
exit 0
