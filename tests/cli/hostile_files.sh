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
    timeout 100 "$program" "$@" >out 2>&1 </dev/null # a hang is a failure
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
# A sanitizer's program cannot be held to so little, and is slow with many rows.
rows=300
if (ulimit -v 1000000 && "$program" --version >/dev/null 2>&1); then
    ulimit -v 1000000
    rows=2000
    why='not enough memory to read bomb.json.gz (120000.. bytes unpacked)'
    expect 1 "$why" validate bomb.json.gz
    expect 2 "$why" compare bomb.json.gz bomb.json.gz
    expect 2 "$why" report bomb.json.gz --tables tables
    expect 2 "$why" bench --resume bomb.json.gz --out new.json
fi
[ ! -e new.json ] || fail 'a refused --resume has written a file'

# ---- numbers that are counted up to ----
# sums COUNT: a file of precisions that asks for sums of so many terms
sums() {
    sed "1s/^{/{\"accumulation\": {\"count\": $1, \"value\": 0.01}, /" "$golden/results.json"
}
for count in 1000000000000 10000001 0 -1 1e3 '"9"'; do
    sums "$count" >sums.json
    expect 2 "sums.json: 'accumulation.count' must be a whole number from 1 to 10000000" report sums.json --tables tables
done
{ printf '{"files": {' && for i in {1..12}; do printf '%s"%s.json": ' "${comma-}" "$i" && sums 9000000 && comma=, ; done && printf '}}'; } >many.json
expect 2 'have 108000000 terms; a report is made of 100000000 at most' report many.json --tables tables
sums 1000 >sums.json
"$program" report sums.json --tables sums >out 2>&1 || fail "a report of 1,000 terms: exit code $?"
grep -q '1,000 terms of 0.01; exact sum: 10' sums/precision.md || fail 'the sums are not in the table'

# ---- many rows: what was quadratic took 150 s for these, and a hang is what the limit is for ----
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

# A profile of many ops. It takes 2 s of CPU time; where every op was held against every other one it took 24.
awk -v ops=$((20 * rows)) '{
    from = index($0, "\"ops\":[") + 7
    n = index(substr($0, from), "\"device\":null}") + 13
    op = substr($0, from, n)
    printf "%s", substr($0, 1, from - 1)
    for (i = 0; i < ops; i++) {
        line = op
        sub(/"op":"[a-z]*"/, "\"op\":\"op" i "\"", line)
        printf "%s,", line
    }
    print substr($0, from)
}' "$tests/fuzz/corpus/results/profile.json" >ops.json
(ulimit -t 12 && exec "$program" report ops.json --tables ops "${page[@]}") >out 2>err || fail "a profile of $((20 * rows)) ops: exit code $?"

# 40 profiles of one work in two styles: each beside 16 others, not 400 tables; under a sanitizer that alone takes half a minute.
styles() {
    zcat "$tests/../docs/results/h200-medium-profile.json.gz" | awk '/"cell"/ {
        for (i = 0; i < 40; i++) {
            line = $0
            if (i % 2) gsub(/exec=graph/, "exec=eager", line)
            if (i % 2) sub(/"exec":"graph"/, "\"exec\":\"eager\"", line)
            print line (i < 39 ? "," : "")
        }
        next
    } { print }' >styles.json
    "$program" report styles.json --tables styles >out 2>err || fail "a report of 40 profiles: exit code $?"
    [ "$(grep -c '^| a step' styles/profile.md)" = 384 ] || fail "not 384 pairs of styles: $(grep -c '^| a step' styles/profile.md)"
    [ "$(grep -c 'further rows of the same work' styles/profile.md)" = 7 ] || fail 'it does not say that there are more'
}
sanitized || styles
verdict
