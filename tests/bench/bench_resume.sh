#!/usr/bin/env bash
# What is resumed keeps the environment that it was measured in.
. "$(dirname "$(realpath "$0")")/bench.sh"

column() { # FILE NAME: of each row of a csv
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])): print(row[sys.argv[2]])' "$@"
}

# --- measured elsewhere
bench --steps 2,4 --out there.json 2>there.err || fail "the first run"
id=$(sed -n 's/.*"environment": {"id":"\([^"]*\)".*/\1/p' there.json)
[ -n "$id" ] || fail "no id in the file"
sed -i "s/$id/0123456789ab/g; s/\"cpu\":\"[^\"]*\"/\"cpu\":\"another cpu\"/" there.json
bench --steps 2,3 --resume there.json --out here.csv 2>here.err || fail "resumed elsewhere"
[ "$(column here.csv cpu | head -n 1)" = 'another cpu' ] || fail "a row lost its environment"
[ "$(column here.csv cpu | tail -n 1)" != 'another cpu' ] || fail "a row has the wrong environment"
bench --steps 2,3,4 --resume there.json >again.out 2>again.err || fail "the resumed file cannot be read again"
[ "$(grep -c 'from the file' again.err)" = 3 ] || fail "the resumed file does not hold all three rows"
expect again.out 'another cpu'
exit 0
