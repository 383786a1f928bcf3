#!/usr/bin/env bash
# Where results go, and what cannot be written is said before the work.
. "$(dirname "$(realpath "$0")")/bench.sh"

# --- formats by name, and JSON beside the table
bench --steps 2 --out a.csv --out-json a.json >a.out 2>a.err || fail "csv and json"
[ -s a.out ] && fail "--out printed to stdout too"
expect a.csv '^size,'
expect a.json '"schema"'
bench --steps 2 --format jsonl >b.out 2>b.err || fail "jsonl"
[ "$(wc -l <b.out)" = 2 ] || fail "jsonl on stdout has not two lines"
bench --steps 2 --out same.json --out-json same.json 2>c.err || fail "one file twice"
bench --steps 2 --out same.json --out-json same.json --format csv 2>d.err
code=$?
expect_code 2 "two formats in one file"
bench --steps 2 --resume none.csv --out none.csv 2>e.err
code=$?
expect_code 2 "two formats in one file that is resumed"
[ -e none.csv ] && fail "a refused command left a file"

# --- before the work: nothing has run
early() { # WHAT; the rest is the command
    what=$1
    shift
    "$@" >early.out 2>early.err
    code=$?
    expect_code 1 "$what"
    refuse early.err '^\[1/'
    [ "$(wc -l <early.err)" = 1 ] || fail "$what: not one line"
}
early "no such folder" bench --steps 2 --out nowhere/a.json
early "full device" bench --steps 2 --out /dev/full
mkdir folder
early "a folder" bench --steps 2 --out folder
if [ "$(id -u)" != 0 ]; then
    chmod a-w folder
    early "read-only folder" bench --steps 2 --out folder/a.json
elif setpriv --reuid 65534 --clear-groups true 2>/dev/null && cp "$program" folder/roofstep 2>/dev/null; then
    chmod a+rx "$dir" && chmod 755 folder
    early "read-only folder" setpriv --reuid 65534 --clear-groups folder/roofstep "${model[@]}" \
        --steps 2 --out folder/a.json
else
    echo "read-only folder: skipped, root may write everywhere"
fi
bench --steps 2 --baseline fp99 >base.out 2>base.err
code=$?
expect_code 2 "a baseline that no cell has"
refuse base.err '^\[1/'

# --- a file that may not become larger (ulimit -f)
(ulimit -f 8 && bench --steps 2,3000,4 --out large.json >large.out 2>large.err)
code=$?
expect_code 1 "a file that may not become larger"
expect large.err 'cannot write .*large.json: File too large'
expect large.out '3000' # what could not be written is printed
[ -z "$(find . -name 'large.json.*')" ] || fail "a half-written file is left behind"

# --- a disk that is full from the start, and one that fills up later
if mkdir disk && mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
    trap 'umount "$dir/disk"; rm -rf "$dir"' EXIT
    head -c 65536 /dev/zero >disk/ballast 2>/dev/null
    early "full disk" bench --steps 2 --out disk/a.json
    rm disk/ballast disk/a.json 2>/dev/null
    bench --steps 2,3,3000,4 --out disk/a.jsonl >full.out 2>full.err # 3000 samples are over 64 KiB
    code=$?
    expect_code 1 "a disk that fills up"
    expect full.err 'No space left'
    refuse full.err '^\[4/4\]'
    expect full.out '3000' # what could not be written is printed
    bench --steps 2,3 --resume disk/a.jsonl --out rest.json >rest.out 2>rest.err || fail "kept rows"
    [ "$(grep -c 'from the file' rest.err)" = 2 ] || fail "rows written before the disk was full are lost"
else
    echo "full disk: skipped, no tmpfs can be mounted here"
fi
exit 0
