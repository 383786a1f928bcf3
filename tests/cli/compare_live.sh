#!/usr/bin/env bash
# usage: compare_live.sh PROGRAM: programs started in turn. Most are scripts that print a result at once, so that what
# they say is known and nothing here depends on how fast this machine is.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program`
. "$(dirname "$(realpath "$0")")/cli.sh"

cell='--d-model 16 --d-ff 16 --num-heads 2 --vocab 31 --batch 1 --device cpu --threads 1 --warmup 1 --steps 3'
# shellcheck disable=SC2086 # words
"$program" bench $cell --num-layers 1 --ctx 4 --out real.json >out 2>err </dev/null || fail 'bench'
python3 - <<'PYTHON'
import json
data = json.load(open("real.json"))
data["environment"].update(load=1.5, frequency_mhz=2000, usable_processors=1)
(row,) = data["results"]
for phase in "forward", "backward", "optimizer": del row[phase]
row["others_percent"] = 3.5
row["step"] = {"status": "ok", "median_ms": 7e77, "mean_ms": 8e88, "min_ms": 8e88, "samples_ms": [8e88]}
json.dump(data, open("template.json", "w"))
PYTHON

# fake NAME MS NOISE: a program whose fastest step takes MS and up to NOISE more, and its median step half as long again
fake() {
    cat >"$1" <<SCRIPT
#!/usr/bin/env bash
echo "\$*" >>"$work/$1.calls"
[ "\$1" = bench ] || { echo "no \$1 here" >&2; exit 2; }
both=\$(awk -v seed="\$RANDOM" 'BEGIN { srand(seed); ms = $2 + $3 * rand(); print ms, 1.5 * ms }')
sed "s/7e+77/\${both#* }/g; s/8e+88/\${both% *}/g" "$work/template.json"
echo
SCRIPT
    chmod +x "$1"
}

# live CODE ARGUMENTS...
live() {
    local code=$1 got
    shift
    timeout 120 "$program" compare --live "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$code" ] || fail "compare --live $*: exit code $got, expected $code: $(tail -n 1 err)"
}

fake old 100 1
fake same 100 1
fake slow 103 1
fake fast 97 1
fake slowly 80 60 # too few starts in a second or two to say anything
sed -i 's/^both/sleep 0.3; both/' slowly

live 0 ./old ./same -- bench --size tiny
grep -q '| same *|' out || fail 'the same program is not the same'
grep -q 'roofstep: same: .*: step' err || fail 'no summary'
grep -q '| load average of a minute *| *1.5' out || fail 'no load'
grep -q 'other programs (% of CPU time) *| *3.5' out || fail 'no other programs'
grep -q 'CPU clock (MHz) *| *2000' out || fail 'no clock'
grep -qx 'bench --size tiny --format json' old.calls || fail 'the command is another one'
[ "$(wc -l <old.calls)" = "$(wc -l <same.calls)" ] || fail 'one of the two was started more often'
[ "$(wc -l <old.calls)" -ge 7 ] || fail 'sure of too few pairs'
live 3 ./old ./slow -- bench
grep -q '| slower *|' out || fail 'slower is not slower'
grep -q 'no profiles to name the op: OLD ended with exit code 2' out || fail 'it does not say why no op is named'
live 0 ./old ./fast -- bench
grep -q '| faster *|' out || fail 'faster is not faster'
live 0 ./old ./slow --fail-above 10% -- bench # slower, and allowed
grep -qE '\| (slower|same) *\|' out || fail 'slower, and allowed'
live 3 ./old ./slow --fail-above 1.5% -- bench
live 5 ./slowly ./slowly --budget 1s -- bench
grep -q '| unsure *|' out || fail 'unsure is not unsure'
grep -q 'the load average was 1.5 on 1 processor:' err || fail 'it does not say why it is unsure'
live 0 './old bench' './same bench' # two commands

# The other formats.
live 3 ./old ./slow --format json -- bench
python3 - out <<'PYTHON' || fail 'json'
import json, sys
data = json.load(open(sys.argv[1]))
step = data["cells"][0]["step"]
assert data["verdict"] == step["verdict"] == "slower" and step["regression"], data
assert 2 < step["change_percent"] < 4 and 0 < step["ci95_low_percent"] < step["change_percent"], step
assert data["pairs"] == step["pairs"] == len(step["old_starts_ms"]) == data["old"]["starts"], data
assert data["old"]["load"] == 1.5 and data["op"] is None, data
PYTHON
live 0 ./old ./same --out live.csv -- bench
grep -q '^cell,phase,pairs,old_ms' live.csv && grep -q ',step,.*,same$' live.csv || fail 'csv'
live 0 ./old ./same --format latex -- bench
live 0 ./old ./same --format typst -- bench

# Two commands of the program itself; profiles name the op.
live 3 "$program bench $cell --num-layers 1 --ctx 32" "$program bench $cell --num-layers 4 --ctx 256"
grep -q 'the commands differ in num_layers (1, 4), ctx (32, 256)' out || fail 'it does not say how the commands differ'
grep -q 'the op that became slower by most: .* of .*: from .* to .* a step' out || fail 'no op is named'

# What goes wrong is said, with the side.
printf '#!/bin/sh\necho "it broke" >&2\nexit 1\n' >broken
printf '#!/bin/sh\necho "no json"\n' >wordy
printf '#!/bin/sh\nkill -SEGV $$\n' >crashes
chmod +x broken wordy crashes
live 1 ./old ./broken -- bench
grep -q 'NEW ended with exit code 1; last line: it broke' err || fail 'what broke'
live 2 ./wordy ./old -- bench
grep -q 'OLD: ' err || fail 'no result'
live 1 ./crashes ./old -- bench
grep -q 'OLD died of SIGSEGV' err || fail 'a crash'
sed 's/"status": "ok", "message": null/"status": "oom", "message": null/' template.json >oom.json
sed 's/template.json/oom.json/' old >oom
chmod +x oom
live 1 ./old ./oom -- bench
grep -q 'NEW: a cell was not measured: oom' err || fail 'out of memory'

refused '--live needs two programs or commands, not 1' compare --live ./old
refused '--live needs two programs or commands, not 3' compare --live ./old ./same ./slow -- bench
refused 'OLD has no command' compare --live ./old ./same
refused "there is no program './none'" compare --live ./none ./same -- bench
refused "there is no program 'no-such-program'" compare --live ./old 'no-such-program bench' -- --size tiny
refused 'leave out --out' compare --live ./old ./same -- bench --out x.json
refused 'leave out --format' compare --live ./old ./same -- bench --format=md
refused '--phase forwards' compare --live ./old ./same --phase forwards -- bench
refused '--phase forward: no cell has it' compare --live ./old ./same --phase forward -- bench
refused '--budget is for compare --live' compare old same --budget 1m
refused '--stat is for compare --live' compare old same --stat min

# Ended after the first pair, as by Ctrl-C: what there is so far.
rm slowly.calls
"$program" compare --live ./slowly ./slowly -- bench >out 2>err </dev/null &
for ((i = 0; i < 600; i++)); do
    [ "$(cat slowly.calls 2>/dev/null | wc -l)" -lt 3 ] || break
    sleep 0.1
done
kill -TERM $! # bash has made it deaf to INT
wait $!
code=$?
[ $code = 130 ] || fail "interrupted: exit code $code"
grep -q '| unsure *|' out || fail 'interrupted: no table'

verdict
