#!/usr/bin/env bash
# usage: published.sh PROGRAM: every row of a write-up is in its tables, measured or with the reason why not, and in those made elsewhere of
# results.json; rows are measured by the clock, one of every table first; the same command again goes on, and nothing measured is lost.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
published=published.def
cat "$tests"/../src/cli/published/published_*.def >$published
# Of the table under that heading of what was printed, its head left out.
lines_of() { awk -v title=": $1" '/^## /{on = substr($0, length($0) - length(title) + 1) == title} on && /^\|/{n++} END{print n - 2}' out; }
# The text under it, and a column of a row.
part_of() { awk -v title=": $1" '/^## /{on = substr($0, length($0) - length(title) + 1) == title} on' out; }
rows() { grep -o '"cell": *"[^"]*"' "$1/results.json" 2>/dev/null | sort -u; }
like() { "$program" suite --device cpu --threads 1 "$@" >out 2>err </dev/null; }
"$program" limits --device cpu --threads 1 --keep >/dev/null 2>err || fail 'no limits'

# ---- every table, line by line ----

for name in rtx5090 p100-t4 8gb rtx5090-nsys; do
    id=$(sed -n "s/^WRITEUP(\([A-Z0-9_]*\), \"$name\".*/\1/p" "$published")
    like --like $name --budget 1s --out-dir $name || fail "$name: exit code $?"
    for table in $(sed -n "s/^TABLE(\([A-Z0-9_]*\), $id,.*/\1/p" "$published"); do
        title=$(sed -n "s/^TABLE($table, [^\"]*\"\([^\"]*\)\".*/\1/p" "$published")
        n=$(grep -cE "^(ROW|NAMED_ROW|FIGURE|TEXT)\($table," "$published")
        [ "$(lines_of "$title")" = "$n" ] || fail "$name, $title: not $n lines"
        grep -qF "| $title | $n | \`suite --like $name\` |" "$tests/../docs/mission.md" || fail "docs/mission.md has not $title with $n lines"
    done
    cmp -s out $name/tables.md || fail "$name: tables.md is not what is printed"
    grep -q 'published (ms) .* here (ms) ' out || fail "$name: no headings for people"
    grep -qE '_ms|_mib|_per_s' out && fail "$name: names of JSON in a table"
    grep -qE '^- no time: [0-9]+ rows?; run the same command again or --resume DIR to continue; a longer --budget measures more at once$' out || fail "$name: rows without a reason"
    head -n 1 out | grep -qE '^Beside a write-up: .*\. Of its [0-9]+ rows [0-9]+ (was|were) measured(, [0-9]+ did not fit)?(, [0-9]+ (is|are) unsupported)?, [0-9]+ had no time\.$' || fail "$name: not said how many rows were measured"
    [ "$(grep -c 'begin{tabular}' $name/tables/tables.tex)" -ge "$(grep -c '^## ' out)" ] || fail "$name: not every table in LaTeX"
    [ -s $name/tables/environment.md ] || fail "$name: no environment"
    rm -rf elsewhere
    XDG_CACHE_HOME=$PWD/none "$program" report $name/results.json --tables elsewhere 2>err || fail "$name: report does not take results.json"
    diff -r $name/tables elsewhere || fail "$name: results.json does not hold all that the tables are made of"
    "$program" validate $name/*.json >validated || fail "$name: validate: $(grep ': bad: ' validated)"
    "$program" --version | grep -q '(no html)' && continue
    XDG_CACHE_HOME=$PWD/none "$program" report $name/results.json --out elsewhere.html 2>err || fail "$name: no page elsewhere"
    for page in $name/index.html elsewhere.html; do
        for section in like environment; do grep -q "\"section\":\"$section\"" $page || fail "$name: no $section on $page"; done
    done
done

grep -qE '^\| with optimizer states \(GB\)[ (0-9)]* +\| +6.8 \| +6.78 \|$' p100-t4/tables.md || fail 'no memory of the plan: four times 423,183,360 parameters of 4 bytes, and the inputs'

# ---- what would be measured, in order ----

like --like rtx5090-nsys --dry-run --out-dir never || fail '--dry-run'
[ ! -e never ] || fail '--dry-run made a folder'
grep -q '^- dry run: [1-9][0-9]* cells would run; expected time 10m 00s' out || fail 'a CPU has not ten minutes by default'
order=$(awk -F'|' 'NR > 2 && NF > 4 {gsub(/^ +| +$/, "", $3); print $3}' out | head -n 7 | paste -sd';')
[ "$order" = 'End to end;Where the time of medium goes; The top kernel of medium;Memory over the context;End to end; Precisions;Attention;Attention compiled, fp32;Attention compiled, tf32' ] ||
    fail "not one row of every table first: $order"
[ "$(grep -cE '^\| +- \| Attention compiled, tf32 .*\| +unsupported \|$' out)" = 35 ] || fail 'tf32 on a CPU is not marked as unsupported'
grep -q '^- cannot run, by the plan: [0-9]* OOM, 35 unsupported$' out || fail 'rows that cannot be run are not counted'
like --like 8gb --memory-limit 300MiB --dry-run --full --out-dir never || fail '--dry-run within a limit'
[ "$(grep -cE '\| +OOM \(needs [0-9.]+ [MG]iB, has 300 MiB\) \|$' out)" = 10 ] || fail 'what does not fit is not OOM by the plan'
grep -q '^- dry run: 0 cells would run; expected time 0s' out || fail 'what does not fit adds to the total'
like --like 8gb --memory-limit 2GiB --dry-run --full --out-dir never || fail '--dry-run within 2 GiB'
grep -qE '\| medium, one warm-up .*\| +OOM \(needs [0-9.]+ GiB, has 2.00 GiB\); fwd [0-9ms ]+ \|$' out || fail 'what fits in a smaller mode has no time of that'
XDG_CACHE_HOME=$PWD/none like --like 8gb --full --dry-run || fail '--dry-run without limits'
{ [ ! -e none ] && ! grep -q measuring err; } || fail '--dry-run measures'
grep -q 'guessed' out || fail 'guesses are not told'

# ---- some rows of a table, and the rest again ----

# A busy machine measures no row in a short budget: then it gets a longer one, in a folder of its own.
# measured FOLDER BUDGETS ARGUMENTS...: the first budget in seconds within which a row is measured is left in $budget
measured() {
    local folder=$1 budgets=$2
    shift 2
    for budget in $budgets; do
        rm -rf "$folder"
        "$program" suite "$@" --budget "${budget}s" --out-dir "$folder" >out 2>err </dev/null || fail "$folder: exit code $?"
        [ -z "$(rows "$folder")" ] || return
    done
    fail "$folder: no row in $budget seconds"
}

measured tiny '16 60 240' --like rtx5090 --size tiny --device cpu
tiny=$budget
[ "$(grep -c '^## ' out)" = 1 ] && [ "$(lines_of 'End to end')" = 1 ] || fail '--size leaves other rows'
grep -qE '^\| [^|]*tiny.* (100|[1-9][0-9]|[3-9]) of 100 \|$' out || fail 'a row that was begun in time is not measured, or its samples are not told'
grep -q '^- load while these rows were measured: other programs took up to [0-9.]* %' out || fail 'no load on the machine'
head -n 1 out | grep -q 'Of its 1 row 1 was measured\.$' || fail 'one row is not counted as measured'
grep -q '^- common to every row: `roofstep bench ' out || fail 'what rows have in common is said to be all of it'
grep -qE '≈|no time' out && fail 'a measured table has estimates'
"$program" report tiny/results.json --tables tiny-elsewhere 2>err && diff -r tiny/tables tiny-elsewhere || fail 'elsewhere --size is lost'
rows tiny >before
like --like rtx5090 --size tiny --device cpu --budget 16s --dry-run --out-dir other || fail 'another folder'
"$program" suite --like rtx5090 --size tiny --device cpu --budget "${tiny}s" --dry-run --out-dir tiny >out 2>err </dev/null || fail '--dry-run again'
grep -q '^- 1 finished in tiny, skipped' out && grep -q '^- dry run: 0 cells would run' out || fail 'finished rows are not told'

measured some '6 24 96' --device cpu --threads 1 --like rtx5090-nsys
rows some >before
part_of 'Attention compiled, tf32' | grep -q '^- unsupported: .*: tf32 is a format of GPU tensor cores' || fail 'unsupported rows do not say why'
part_of 'Attention' | grep -qE '^\| [^|]*d-head 512, ctx 4096 .* ≈[0-9.]+ .* no time \|$' || fail 'no estimate for a row without time'
part_of 'End to end' | grep -qE '^\| [^|]*small.* (≈[0-9.]+ .* no time|of 30) \|$' || fail 'no memory of the plan'
grep -qE 'rows that cannot run here: [0-9]+ OOM by the plan, 35 unsupported; the tables say why' err || fail 'rows that are not begun are not told in one line'
head -n 1 out | grep -q ', 35 are unsupported, ' || fail 'rows that are not begun are not counted'
grep -q 'tf32' err && fail 'a process was begun for rows that are unsupported'
like --like rtx5090-nsys --budget 4s --out-dir some || fail 'the same command again'
[ -z "$(comm -23 before <(rows some))" ] || fail 'rows of before are lost'

like --like 8gb --size small --timeout 0.2s --budget 20s --out-dir brief
[ $? = 4 ] || fail '--timeout cut rows short, and the exit code is not 4'
tail -n 1 out | grep -qE '^- Incomplete: (rows|profiles): [0-9]+ of [0-9]+ cells? (was|were) cut short \([0-9]+ timeout\); the first: .*; roofstep suite --resume brief measures again what was cut short\.$' || fail 'the last line does not say so'
grep -q '"state": *"done"' brief/suite.json && fail 'a suite with rows that were cut short is done'
"$program" --version | grep -q '(no html)' || grep -q '"summary":\["Incomplete: rows: ' brief/index.html || fail 'the page does not say so first'
cp err begun.err
"$program" suite --resume brief >out 2>err </dev/null
[ $? = 4 ] && [ "$(grep -c 'timeout' err)" = "$(grep -c 'timeout' begun.err)" ] || fail 'rows that were cut short are not measured again'
cp begun.err err
[ "$(grep -c '[0-9]\] profile small ctx [0-9]* ' err)" = 3 ] || fail 'the line of a profile does not say so'

# ---- within a memory limit ----

like --like 8gb --size small --memory-limit 300MiB --budget 5s --out-dir oom || fail '--memory-limit'
part_of 'End to end, with and without warm-up' >part
grep -qE '^\| [^|]*small.* OOM \| +OOM \|$' part && ! grep -q '≈' part || fail 'what does not fit is not OOM, or has an estimate'
grep -qE '^- OOM: .*small.*: fwd_bwd needs [0-9.]+ [MG]iB, 0?\.?[0-9.]+ [MG]iB available' part || fail 'no needs and has'

[ "$(head -n 1 out)" = 'Beside a write-up: a GPU with 8 GB, PyTorch. Of its 5 rows 0 were measured, 5 did not fit.' ] || fail 'what does not fit is not counted'
grep -q '"state": *"done"' oom/suite.json || fail 'a suite whose rows all have a reason is not done'

# By the plan also where the clock did not come to it.
like --like 8gb --memory-limit 2GiB --budget 1s --out-dir late || fail '--memory-limit without time'
part_of 'End to end, with and without warm-up' >part
grep -qE '^\| 2.7B.* OOM \| +OOM \|$' part && grep -qE '^- OOM: 2.7B: fwd_bwd needs [0-9.]+ GiB, 2.00 GiB available' part || fail 'OOM waits for its turn'

[ "$(grep -cE '^\| (large|xl|2.7B) \(1\) ' part)" = 3 ] && [ "$(grep -cE '^- \([0-9]+\) ' part)" = 1 ] || fail 'lines with the same remark do not share a mark'

# ---- what was not run is told by the machine that ran the rest, wherever the tables are made ----

sed 's/"forward":{"mean_ms":[0-9.]*}/"forward":{"mean_ms":123456}/g' some/results.json >changed.json
"$program" report changed.json --tables changed 2>err || fail 'changed.json'
cat changed/like*.md | grep -q '≈123456 ' || fail 'estimates are not those of the file'
# Of a GPU, on a machine that may have none.
sed 's/"like":{"name":"8gb","device":"[^"]*"/"like":{"name":"8gb","device":"--device cuda"/; s/device=cpu/device=cuda/g; s/threads=1 /threads=0 /g' 8gb/results.json >gpu.json
"$program" report gpu.json --tables gpu 2>err || fail 'gpu.json'
cmp 8gb/tables/like.md gpu/like.md || fail 'what was expected of a GPU is lost elsewhere'
sed 's/"like":{"name":"8gb"/"like":{"name":"9gb"/' 8gb/results.json >unknown.json
"$program" report unknown.json --tables unknown 2>err || fail 'a write-up that is not known'
[ ! -e unknown/like.md ] && grep -q 'did you mean 8gb' err || fail 'nothing is said of a write-up that is not known'

# ---- profiles go with the rows: here that of another, small model, which the suite takes for one of its own ----

cp -r rtx5090-nsys watched
words=$(sed -n '/Where the time of medium goes/,/^- every row/ s/^- every row: `roofstep profile \(.*\)`$/\1/p' watched/tables.md)
# shellcheck disable=SC2086 # words on purpose
"$program" profile $words --device cpu --threads 1 --memory-limit 1MiB --out-dir key >out 2>err </dev/null
key=$(grep -o '"cell": *"[^"]*"' key/profile.json | sed 's/memory_limit=[0-9]*/memory_limit=0/; s/.*: *//')
"$program" profile --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --device cpu --threads 1 --exec eager --steps 2 --out-dir one >out 2>err </dev/null || fail profile
sed "s|\"cell\": *\"[^\"]*\"|\"cell\":$key|" one/profile.json >watched/profile.json
"$program" suite --resume watched >out 2>err </dev/null || fail 'with a profile'
grep -qE '^\| FORWARD +\| +1139.483 \| +[0-9.]+ \|' out || fail 'no figures of a profile'
part_of 'Where the time of medium goes' | grep -q '^- profiled: 2 of 30 steps; totals are scaled to all of them' || fail 'profiled steps are not told'
"$program" report watched/results.json --tables with-profile 2>err && diff -r watched/tables with-profile || fail 'results.json holds no profile'

# Of a table without totals nothing is scaled.
cp -r 8gb unscaled
words=$(sed -n '/Small, its times in a profile/,/^- every row/ s/^- every row: `roofstep profile \(.*\)`$/\1/p' 8gb/tables.md)
# shellcheck disable=SC2086 # words on purpose
"$program" profile $words --device cpu --threads 1 --memory-limit 1MiB --out-dir key-8gb >out 2>err </dev/null
key=$(grep -o '"cell": *"[^"]*"' key-8gb/profile.json | sed 's/memory_limit=[0-9]*/memory_limit=0/; s/.*: *//')
sed "s|\"cell\": *\"[^\"]*\"|\"cell\":$key|" one/profile.json >unscaled/profile.json
"$program" suite --resume unscaled >out 2>err </dev/null || fail 'with a profile of 8gb'
part_of 'Small, its times in a profile' | grep -qE '^- profiled: 2 of 10 steps$' || fail 'a table without totals speaks of them'

# ---- a table of differences tells its samples, too: here again of a small model ----

cp -r 8gb differences
"$program" bench --size small --ctx 128 --batch 4 --exec eager --attention naive --mode fwd_bwd --warmup 1 --steps 10 --device cpu --threads 1 --memory-limit 1MiB --out key.json >out 2>err </dev/null
key=$(grep -o '"cell": *"[^"]*"' key.json | sed 's/memory_limit=[0-9]*/memory_limit=0/; s/.*: *//')
"$program" bench --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --mode fwd_bwd --device cpu --threads 1 --exec eager --steps 2 --out small.json >out 2>err </dev/null || fail bench
sed "s|\"cell\": *\"[^\"]*\"|\"cell\":$key|" small.json >differences/results.json
"$program" suite --resume differences >out 2>err </dev/null || fail 'with a row of differences'
part_of 'What leaving out the warm-up adds' | grep -qE '^\| small, one warm-up .* 2 of 10 \|$' || fail 'a measured row of differences has no samples'
part_of 'Small, its times in a profile' | grep -qE '^\| kernels of forward \(ms\) .*\| +40 \| +≈[0-9.]+ \|$' || fail 'a profile has no estimate by a row of the same work'

# ---- killed at any moment, and resumed ----

for budget in 3 12 48; do
    rm -rf killed
    "$program" suite --like rtx5090-nsys --budget ${budget}s --device cpu --threads 1 --out-dir killed >out 2>err </dev/null &
    while [ -z "$(rows killed)" ] && kill -0 $! 2>/dev/null; do sleep 0.02; done
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    rows killed >before
    [ ! -s before ] || break
done
resume_killed killed 200 KILL INT
[ -s before ] && [ -z "$(comm -23 before <(rows killed))" ] || fail 'a kill lost rows'
[ -z "$(find killed -name '*.tmp')" ] || fail 'files that were not finished are left over'

refused() { # WORDS: exit code 2 and one line
    # shellcheck disable=SC2086
    "$program" suite $1 >out 2>err </dev/null
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$2" err || fail "$1: not refused"
}
begun="keeps the options it was started with (--like rtx5090-nsys --budget ${budget}s --device cpu --threads 1): give no other"
for word in '--budget 1h' --full '--like 8gb' '--threads 2' '--device auto' '--timeout 5s' '--size tiny' '--out-dir killed' '--memory-limit 8GiB'; do
    refused "--resume killed $word" "$begun"
done
refused '--resume tiny --size small' "with (--like rtx5090 --budget ${tiny}s --size tiny --device cpu): give no other"
refused '--like 8gb --out-dir killed' 'holds another suite'
refused '--out-dir killed' 'holds a suite'
refused '--like 8gb --device cuda:99 --out-dir nowhere' 'device cuda:99'
[ ! -e nowhere ] || fail 'a folder for rows that cannot run'
refused '--like rtx5090-nsys --resume nowhere' 'no suite in this folder'

verdict
