#!/usr/bin/env bash
# What is resumed keeps the environment, the time and the command that it was measured with.
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

# --- measured here, by another run; a file of an older version has no time in its rows
bench --steps 2 --out here.json 2>here.err || fail "the first run here"
sed -i 's/"time_utc":"[^"]*"/"time_utc":"2001-02-03T04:05:06Z"/g' here.json
sed 's/"time_utc":"[^"]*","environment_id"/"environment_id"/' here.json >old.json
cmp -s here.json old.json && fail "rows have no time of their own"
for file in here.json old.json; do
    bench --steps 2,3 --resume $file --out now.csv 2>now.err || fail "resumed here"
    [ "$(column now.csv time_utc | head -n 1)" = 2001-02-03T04:05:06Z ] || fail "$file: a row lost its time"
    [ "$(column now.csv time_utc | tail -n 1)" \> 2020 ] || fail "$file: a row has the wrong time"
    [ "$(column now.csv command | grep -c -- --resume)" = 1 ] || fail "$file: a row lost its command"
done

# --- a price is of no measurement: what is resumed has the price of now
bench --steps 2 --price 3.6/h --out priced.json >/dev/null 2>priced.err || fail "a run with a price"
python3 - priced.json 3.6 <<'PYTHON' || fail "tokens for one unit"
import json, sys
row = json.load(open(sys.argv[1]))["results"][0]
assert row["price_per_hour"] == float(sys.argv[2]) and abs(row["tokens_per_unit"] / (3600 * row["tokens_per_s"] / row["price_per_hour"]) - 1) < 1e-9, row
assert "price" not in row["cell"], row["cell"]
PYTHON
bench --steps 2 --price 7.2/h --resume priced.json --out repriced.csv 2>repriced.err || fail "resumed with another price"
grep -q 'from the file' repriced.err || fail "another price measures again"
[ "$(column repriced.csv price_per_hour)" = 7.2 ] || fail "a resumed row has its old price"
bench --steps 2 --resume here.json >priceless.out 2>/dev/null && ! grep -q 'tokens for 1' priceless.out || fail "a price that nobody gave"
bench --steps 2 --price 7.2/h --resume here.json --out - 2>/dev/null | grep -q 'tokens for 1' || fail "the table has no tokens for one unit"

# --- packed: read, and the results go elsewhere
gzip -c here.json >here.json.gz
cp here.json.gz before.gz
bench --steps 2,3,4 --resume here.json.gz --out-json went-on.json >packed.out 2>packed.err || fail "a packed file cannot be resumed"
[ "$(grep -c 'from the file' packed.err)" = 2 ] || fail "the packed file's rows were run again"
[ "$(grep -o '"cell"' went-on.json | wc -l)" = 3 ] || fail "the rows of a packed file are not in the new one"
cmp -s here.json.gz before.gz || fail "the packed file was written"
bench --steps 2,3 --resume here.json.gz >packed.out 2>packed.err
code=$?
expect_code 2 "a packed file that would have to grow"
expect packed.err 'give --out-json FILE for the results'
head -c 60 here.json.gz >cut.json.gz
bench --steps 2,3 --resume cut.json.gz --out-json cut.json >cut.out 2>cut.err
code=$?
expect_code 2 "a packed file that is cut short"
[ "$(wc -l <cut.err)" = 1 ] && [ ! -e cut.json ] || fail "cut short: one line and no file"

# --- what another program has added stays as it is, in the file, its environment and its rows
bench --steps 2 --out theirs.json 2>theirs.err || fail "the first run"
bench --steps 2 --out theirs.jsonl 2>theirs.err || fail "the first run, jsonl"
cat >theirs.py <<'END'
import json, sys
what, path = sys.argv[1:]
mine = {"files": {"a.json": {"x": 0.1 + 0.2}}, "missing": [], "a \"name\"": [None, 1e-300, 9007199254740993, "\u00e9\n"]}
lines = path.endswith("l")
text = open(path).read()
parts = [json.loads(line) for line in text.splitlines()] if lines else [json.loads(text)]
environment, row = parts[0]["environment"], (parts[1] if lines else parts[0]["results"][0])
if what == "add":
    parts[0].update(mine)
    environment["rack"] = 7
    row["note"] = "keep me"
    open(path, "w").write("".join(json.dumps(part) + "\n" for part in parts))
else:
    assert {name: parts[0].get(name) for name in mine} == mine, parts[0].keys()
    assert environment["rack"] == 7 and row["note"] == "keep me", (environment, row)
    assert len(parts) - 1 + len(parts[0].get("results", [])) == 2, len(parts)
END
for file in theirs.json theirs.jsonl; do
    python3 theirs.py add $file || fail "cannot add to $file"
    bench --steps 2,3 --resume $file --out $file 2>went.err || fail "$file: resumed"
    python3 theirs.py check $file || fail "$file: something was dropped or changed"
    bench --steps 2,3 --resume $file --out-json "new-$file" >went.out 2>went.err || fail "$file: resumed elsewhere"
    python3 theirs.py check "new-$file" || fail "new-$file: something was dropped or changed"
done
exit 0
