#!/usr/bin/env bash
# On a terminal a moving line with a bar, in colours; with NO_COLOR neither, as the manual page says; tables fit.
. "$(dirname "$(realpath "$0")")/bench.sh"
command -v script >/dev/null || { echo "skipped: there is no script(1)"; exit 77; }
script -qec true /dev/null >/dev/null 2>&1 </dev/null || { echo "skipped: no pseudo-terminal can be had here"; exit 77; }
export TERM=xterm
line="'$program' ${model[*]} --steps 2,100000000 --timeout 1s --out results.md"

script -qec "$line" /dev/null >colour.out 2>&1 </dev/null
tr '\r' '\n' <colour.out >colour.lines
expect colour.lines '2/2 ETA [0-9hms ]+ custom steps 100000000 \| step [0-9]+/1000'
expect colour.lines "$(printf '\033')\\[32m"
expect colour.lines '^.*\[1/2\] custom steps 2: ok'

NO_COLOR=1 script -qec "$line" /dev/null >plain.out 2>&1 </dev/null
expect plain.out '^\[1/2\] custom steps 2: ok'
refuse plain.out "$(printf '\033')|ETA|#{5}"
"$program" help man | grep -A 1 'NO_COLOR' >manual.out
expect manual.out 'when set and not empty: no colours and no progress bar'

# Empty is as if it were not set (no-color.org).
NO_COLOR='' script -qec "$line" /dev/null >empty.out 2>&1 </dev/null
expect empty.out "$(printf '\033')\\[32m"

# A wide table does without some columns and says which; --format md has them, and so has a wide terminal.
table() { # COLUMNS OPTIONS
    script -qec "stty cols $1; '$program' ${model[*]} --steps 2 $2 2>/dev/null" /dev/null </dev/null | tr -d '\r' >table.out
}
table 120 ''
expect table.out '^\| size .*\| +step, median \(ms\) '
expect table.out '^- columns hidden to fit the terminal: bwd / fwd(, TFLOP/s(, status)?)?; --format md shows all$'
refuse table.out '^\| size .*bwd / fwd'
[ "$(grep -c '^|' table.out)" = 3 ] && [ "$(grep '^|' table.out | tr -d -c '|\n' | sort -u | wc -l)" = 1 ] || fail "a row lacks a cell"
# What can be had from the rest goes next, the status only where every row is ok.
table 100 ''
expect table.out '^\| size .*\| +step, median \(ms\) \|'
expect table.out '^- columns hidden to fit the terminal: bwd / fwd, TFLOP/s, status(, peak \(MiB\)(, tokens/s)?)?; --format md shows all$'
[ "$(grep '^|' table.out | wc -L)" -le 100 ] || fail "a table is wider than its terminal"
table 100 '--precision fp32,tf32'
expect table.out '^\| size .*\| status'
for all in '100 --format md' '250 '; do
    table "${all%% *}" "${all#* }"
    expect table.out '^\| size .*bwd / fwd .*TFLOP/s'
    refuse table.out 'left out'
done
exit 0
