#!/usr/bin/env bash
# usage: like.sh PROGRAM: every row of a write-up is in its tables, run or planned, and in those made elsewhere of results.json; the same
# command again keeps what is finished; killed at any moment and resumed, it ends with the rows of one that was not.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
published=published.def
cat "$tests"/../src/cli/published_*.def >$published
# Of the table under that heading of what was printed, its head left out.
lines_of() { awk -v title=": $1" '/^## /{on = substr($0, length($0) - length(title) + 1) == title} on && /^\|/{n++} END{print n - 2}' out; }
"$program" limits --device cpu --threads 1 --keep >/dev/null 2>err || fail 'no limits'
for name in rtx5090 p100-t4 8gb rtx5090-nsys; do
    id=$(sed -n "s/^WRITEUP(\([A-Z0-9_]*\), \"$name\".*/\1/p" "$published")
    "$program" suite --like $name --budget 1s --device cpu --threads 1 --timeout 20s --out-dir $name >out 2>err </dev/null || fail "$name: exit code $?"
    for table in $(sed -n "s/^TABLE(\([A-Z0-9_]*\), $id,.*/\1/p" "$published"); do
        title=$(sed -n "s/^TABLE($table, [^\"]*\"\([^\"]*\)\".*/\1/p" "$published")
        n=$(grep -cE "^(ROW|FIGURE|TEXT)\($table," "$published")
        [ "$(lines_of "$title")" = "$n" ] || fail "$name, $title: not $n lines"
        grep -qF "| $title | $n | \`suite --like $name\` |" "$tests/../docs/mission.md" || fail "docs/mission.md has not $title with $n lines"
    done
    cmp -s out $name/tables.md || fail "$name: tables.md is not what is printed"
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
grep -qE '^\| with optimizer states \(GB\) +\| +6.8 \| +6.78 \|$' p100-t4/tables.md || fail 'no memory of the plan: four times 423,183,360 parameters of 4 bytes, and the inputs'
! grep -q '"cell"' 8gb/results.json || fail 'the page on which nothing was measured has rows'
grep -q '≈' out || fail 'nothing is marked as planned'
[ "$(grep -c '"cell"' rtx5090-nsys/results.json)" -gt 0 ] || fail 'not even the cheapest rows were run'
"$program" suite --like rtx5090-nsys --budget 1s --device cpu --threads 1 --timeout 20s --resume rtx5090-nsys >again 2>err </dev/null || fail 'again'
cmp -s out again || fail 'finished rows were run again'

"$program" suite --like 8gb --budget 200h --timeout 200h --device cpu --threads 1 --dry-run >dry 2>err </dev/null || fail '--dry-run'
grep -q '^- [1-9][0-9]* cells\?, nothing run' dry || fail 'no rows that would be run'
[ ! -e roofstep-like-8gb ] || fail '--dry-run made a folder'
"$program" suite --like rtx5090-nsys --budget 1s --device cpu --threads 1 --dry-run --out-dir rtx5090-nsys >dry 2>err </dev/null || fail '--dry-run again'
grep -q 'finished in rtx5090-nsys, not run again' dry || fail 'finished rows are not told'
XDG_CACHE_HOME=$PWD/none "$program" suite --like 8gb --device cpu --threads 1 --dry-run >dry 2>err </dev/null || fail '--dry-run without limits'
{ [ ! -e none ] && ! grep -q measuring err; } || fail '--dry-run measures'

"$program" suite --like rtx5090 --budget 2h --device cpu --threads 1 --dry-run >dry 2>err </dev/null || fail '--dry-run of rtx5090'
grep -q '^| medium seed 1 ' dry || fail 'rows that differ by their seed are not told apart'
grep -q '^| tiny ' dry && ! grep -qE 'd-head|^\| (tiny|small) .*seed' dry || fail 'a row of bench names a head width, or a seed that tells nothing'

grep -q 'every row; without warm-up all of --steps: `roofstep bench --sample-time 5s ' 8gb/tables.md || fail 'the command under a table is not that of its rows'

# ---- what was not run is told by the machine that ran the rest, wherever the tables are made ----

sed 's/"forward":{"mean_ms":[0-9.]*/"forward":{"mean_ms":123456/g' 8gb/results.json >changed.json
"$program" report changed.json --tables changed 2>err || fail 'changed.json'
grep -q '≈123456 ' changed/like.md || fail 'planned figures are not those of the file'
# Of a GPU, on a machine that may have none.
sed 's/"like":{"name":"8gb","device":"[^"]*"/"like":{"name":"8gb","device":"--device cuda"/; s/device=cpu/device=cuda/g; s/threads=1 /threads=0 /g' 8gb/results.json >gpu.json
"$program" report gpu.json --tables gpu 2>err || fail 'gpu.json'
cmp 8gb/tables/like.md gpu/like.md || fail 'planned figures of a GPU are lost elsewhere'
sed 's/"like":{"name":"8gb"/"like":{"name":"9gb"/' 8gb/results.json >unknown.json
"$program" report unknown.json --tables unknown 2>err || fail 'a write-up that is not known'
[ ! -e unknown/like.md ] && grep -q 'did you mean 8gb' err || fail 'nothing is said of a write-up that is not known'

# ---- profiles go with the rows: here that of another, small model, which the suite takes for one of its own ----

cp -r rtx5090-nsys watched
key=$(grep -o '"size=[^"]*precision=bf16[^"]*memory_limit=0"' watched/results.json | head -n 1)
"$program" profile --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --device cpu --threads 1 --exec eager --steps 2 --out-dir one >out 2>err </dev/null || fail profile
sed "s|\"cell\": *\"[^\"]*\"|\"cell\":$key|" one/profile.json >watched/profile.json
"$program" suite --resume watched >out 2>err </dev/null || fail 'with a profile'
grep -qE '^\| FORWARD +\| +1139.483 \| +[0-9.]+ \|' out || fail 'no figures of a profile'
"$program" report watched/results.json --tables with-profile 2>err && diff -r watched/tables with-profile || fail 'results.json holds no profile'

# ---- killed at any moment, and resumed ----

words='--like rtx5090-nsys --budget 12s --device cpu --threads 1'
# shellcheck disable=SC2086 # words on purpose
"$program" suite $words --out-dir whole >out 2>err </dev/null || fail 'undisturbed'
# shellcheck disable=SC2086
"$program" suite $words --out-dir killed >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s killed/suite.json ] || break; sleep 0.02; done
kill -KILL $!
wait $! 2>/dev/null
resume_killed killed 200 KILL TERM KILL INT KILL
rows() { grep -o '"cell": *"[^"]*"' "$1/results.json" | sort -u; }
[ "$(rows whole | wc -l)" -gt 5 ] || fail 'hardly any rows'
diff <(rows whole) <(rows killed) || fail 'the rows of a resumed suite are not those of an undisturbed one'
same_files whole killed
grep -q '"planned": true' killed/suite.json && ! grep -q '"waiting"' killed/suite.json || fail 'suite.json does not say that it is over'

# Its rows are those that were planned, though this cache has no limits to plan by.
sed 's/"done"/"waiting"/' killed/suite.json >waiting && mkdir later && mv waiting later/suite.json
XDG_CACHE_HOME=$PWD/none "$program" suite --resume later >out 2>err </dev/null || fail 'resumed with its plan alone'
! grep -q measuring err && diff <(rows whole) <(rows later) || fail 'a plan that was kept is made again'

refused() { # WORDS: exit code 2 and one line
    # shellcheck disable=SC2086
    "$program" suite $1 >out 2>err </dev/null
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$2" err || fail "$1: not refused"
}
begun='as that was begun, with --like rtx5090-nsys --budget 12s --device cpu --threads 1: no other words'
for word in '--budget 1h' --full '--like 8gb' '--threads 2' '--device auto' '--timeout 5s' '--size tiny' '--out-dir killed'; do
    refused "--resume killed $word" "$begun"
done
refused '--like 8gb --out-dir killed' 'holds another suite'
refused '--out-dir killed' 'holds a suite'
refused '--like rtx5090-nsys --resume nowhere' 'there is no suite'
sed 's/ctx=64 /ctx=63 /' killed/suite.json >later/suite.json
refused '--resume later' 'is no suite of this version'
"$program" suite --resume killed --dry-run --threads 1 --like rtx5090-nsys >dry 2>err </dev/null || fail '--resume --dry-run'
grep -q "^- $(rows whole | wc -l) finished in killed, not run again; 0 cells" dry || fail '--dry-run does not tell what is finished'

verdict
