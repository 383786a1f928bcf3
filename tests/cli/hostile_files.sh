#!/usr/bin/env bash
# usage: hostile_files.sh PROGRAM: files that are small and take much: nested deeply, packed tightly, with numbers that
# no machine can count to. Each is refused in one line, or read without harm.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `golden`
. "$(dirname "$(realpath "$0")")/cli.sh"

# times N TEXT
times() {
    yes "$2" | head -n "$1" | tr -d '\n'
}

# expect CODE PATTERN ARGUMENTS...: what it says is one line that has the pattern
expect() {
    local code=$1 pattern=$2
    shift 2
    "$program" "$@" >out 2>&1 </dev/null
    local got=$?
    [ $got = "$code" ] || fail "$*: exit code $got, expected $code: $(tail -n 1 out)"
    [ "$(wc -l <out)" = 1 ] || fail "$* says more than a line: $(cat out)"
    grep -q "$pattern" out || fail "$* says: $(cat out)"
}

# ---- nested ----
deep=200000
{ printf '\200\2' && times $deep '](' && times $deep e && printf .; } >lists.pickle
{ printf '\200\2K\1' && times $deep $'K\1\206' && printf .; } >pairs.pickle
for kind in lists pairs; do
    expect 1 'nested too deeply' validate $kind.pickle
done
{ times $deep '[' && times $deep ']'; } >deep.json
expect 1 'maximum parsing depth' validate deep.json
expect 2 'nested too deeply' compare deep.json deep.json
expect 2 'nested too deeply' report deep.json --tables tables
expect 2 'nested too deeply' bench --resume deep.json --out new.json

# ---- packed tightly: 12 MB of text in 12 kB, over 1 GB of a tree ----
{ printf '{"schema": 1, "environment": {"id": "a"}, "results": [' && times 4000000 '{},' && printf '{}]}\n'; } |
    gzip >bomb.json.gz
# A sanitizer's program cannot be held to so little.
if (ulimit -v 1000000 && "$program" --version >/dev/null 2>&1); then
    ulimit -v 1000000
    why='not enough memory to read bomb.json.gz (120000.. bytes unpacked)'
    expect 1 "$why" validate bomb.json.gz
    expect 2 "$why" compare bomb.json.gz bomb.json.gz
    expect 2 "$why" report bomb.json.gz --tables tables
    expect 2 "$why" bench --resume bomb.json.gz --out new.json
fi
[ ! -e new.json ] || fail 'a refused --resume has written a file'

# ---- many rows: what was quadratic took 6 minutes for these, and a hang is what the limit is for ----
rows=3000
{
    head -n 1 "$golden/results.jsonl"
    sed -n 2p "$golden/results.jsonl" | awk -v rows=$rows '{
        for (i = 0; i < rows; i++) {
            line = $0
            sub(/ ctx=[0-9]+ /, " ctx=" 64 + i % 60 " ", line)
            sub(/ batch=[0-9]+ /, " batch=" 1 + int(i / 60) " ", line)
            sub(/"ctx":[0-9]+/, "\"ctx\":" 64 + i % 60, line)
            sub(/"batch":[0-9]+/, "\"batch\":" 1 + int(i / 60), line)
            print line
        }
    }'
} >many.jsonl
page=(--out many.html) # left out of a build without the charts
"$program" report "$golden/results.json" "${page[@]}" >out 2>err || page=()
timeout 100 "$program" report many.jsonl --tables many "${page[@]}" >out 2>err || fail "a report of $rows rows: exit code $?"
[ "$(grep -c '^| small' many/end-to-end.md)" -ge $rows ] || fail "its table has not $rows rows"
timeout 100 "$program" compare many.jsonl many.jsonl --out many.csv >out 2>err || fail "compare of $rows rows: $?"
[ "$(wc -l <many.csv)" -gt $rows ] || fail 'the comparison has too few lines'
verdict
