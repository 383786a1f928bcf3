#!/usr/bin/env bash
# usage: terminal.sh PROGRAM: on a terminal of 80 columns no command prints a row that wraps, nor help that does, and every one ends with a
# sentence; away from one --quiet says nothing, and a long cell has a line every ten seconds.
program=$(realpath "$1")
results=$(realpath "$(dirname "$0")/../../docs/results")
commands=$(realpath "$(dirname "$0")/../../src/cli/commands.def")
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache TERM=xterm
cd "$work" || exit 1
script -qec true /dev/null >/dev/null 2>&1 </dev/null || { echo "skipped: no pseudo-terminal can be had here"; exit 77; }
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# on_terminal COLUMNS ARGUMENTS...: what is on stdout
on_terminal() {
    local columns=$1
    shift
    printf -v line '%q ' "$program" "$@"
    script -qec "stty cols $columns; $line 2>$work/err" /dev/null </dev/null 2>&1 | tr -d '\r' >out
}
widest() { LC_ALL=C.UTF-8 wc -L <"$1"; }

# concludes FILE ARGUMENTS...: the last line of the file is a sentence with a figure, apart from the notes above it
concludes() {
    local file=$1
    shift
    tail -n 1 "$file" | grep -Eq '^[[:alnum:]].* .*\.$' || fail "roofstep $*: does not end with a sentence: $(tail -n 1 "$file")"
    tail -n 1 "$file" | grep -q '[0-9]' || fail "roofstep $*: its last sentence has no figure: $(tail -n 1 "$file")"
    [ -z "$(tail -n 2 "$file" | head -n 1)" ] || fail "roofstep $*: its last sentence is not apart"
    concluded+=("$1")
}
concluded=()

# rows ARGUMENTS...: tables and charts are there, fit, and come to something
rows() {
    on_terminal 80 "$@"
    concludes out "$@"
    grep -E '^ *[|│]' out >rows || fail "roofstep $*: no table: $(tail -n 2 out err)"
    grep -B 1 -E '^\| [^|]*\|' out | head -n 1 | grep -qE '^[A-Z][^|]*$' ||
        fail "roofstep $*: a table without a heading: $(head -n 2 out)"
    [ "$(widest rows)" -le 80 ] || fail "roofstep $*: a row of $(widest rows) columns: $(awk 'length($0) > 80' rows | head -n 2)"
}

tiny=(--d-model 32 --d-ff 48 --num-layers 2 --num-heads 2 --vocab 101 --ctx 16 --batch 2 --threads 1)
rows bench "${tiny[@]}" --device cpu --warmup 1 --steps 3 --precision fp32,bf16,tf32 --clip 1
rows attention --device cpu --ctx 16,32 --heads 2 --d-head 16 --attention naive,flash --warmup 1 --steps 3 --threads 1
rows profile "${tiny[@]}" --device cpu --warmup 1 --steps 2
rows memory "${tiny[@]}" --device cpu
rows memory --size medium,xl --ctx 128,256 --precision fp32,bf16 --device cpu --plan-only
rows attention --device cpu --ctx 16,32 --heads 2 --d-head 16 --attention naive,flash --baseline naive --warmup 1 --steps 3 --threads 1
rows precision "${tiny[@]}" --device cpu --precision fp32,bf16,fp8 --warmup 0 --steps 1
rows precision --d-model 32 --d-ff 48 --num-layers 1 --num-heads 2 --ctx 16 --batch 2 --threads 1 --device cpu --precision fp32,bf16 --curve 12 --data "$program"
rows warmup "${tiny[@]}" --device cpu --steps 3 --warmup 0,1
rows plan --size small,xl --precision fp32,bf16 --limits "$results/h200-limits.json"
rows plan --size 2.7B --ctx 512 --precision bf16 --limits "$results/h200-limits.json" --ranks-per-node 8 --link 450GB/s,5us --node-link 50GB/s,10us \
    --ranks 8,64 --parallel ddp,fsdp
rows plan --gpu list
rows plan --model list
rows bench --size small,2.7B --dry-run --device cpu
rows forecast --gpu rtx4090,h100-sxm --size small,medium --price 2.49/h
rows forecast --check "$results/h200-small-torch.json" --limits "$results/h200-limits.json"
rows compare "$results/h200-small-fp32-torch.json" "$results/h200-small-128.json"
"$program" profile "${tiny[@]}" --device cpu --warmup 1 --steps 2 --out-dir profiled >/dev/null 2>&1 || fail "profile --out-dir"
rows profile --from profiled
rows profile "${tiny[@]}" --device cpu --warmup 1 --steps 2 --precision fp32,bf16
rows plan --size tiny
rows plan --size tiny,small --memory-limit 64MiB

# These have no table.
says() {
    on_terminal 80 "$@"
    concludes out "$@"
}
says doctor
says bench "${tiny[@]}" --device cpu --warmup 1 --steps 3 --memory-limit 1MiB
says validate "$results/h200-limits.json" "$results/h200-small-128.json"
if "$program" collective --ranks 2 --bytes 1KiB --steps 1 >out 2>&1; then
    rows collective --ranks 2 --bytes 1KiB,64KiB --steps 3
else
    grep -q 'MPI' out || fail "collective: $(tail -n 2 out)"
    concluded+=(collective)
fi
# limits_output.sh, suite.sh and tests/page/report.sh look at these; they take long, or make a page.
concluded+=(limits suite report export)
"$program" export "${tiny[@]}" --device cpu --out step.safetensors >out 2>err || fail "export ended with $?"
tail -n 1 err | grep -q 'step.safetensors: [0-9]* parameters.*, loss [0-9.]*, ' || fail "export says nothing of its file: $(cat err)"
for command in $(sed -n 's/^COMMAND(\(.*\))$/\1/p' "$commands"); do
    case " ${concluded[*]} " in
    *" $command "*) ;;
    *) fail "nobody looked at how roofstep $command ends" ;;
    esac
done

# Text for people: no Markdown's escapes.
on_terminal 100 compare "$results/h200-small-fp32-torch.json" "$results/h200-small-128.json"
grep -q 'p <= 0.05' out && ! grep -q '\\[<@_]' out || fail "escapes on a terminal: $(grep -m 2 '\\[<@_]' out)"

# What a row is and what it comes to stay; what is hidden is named, and a wide terminal has it.
on_terminal 60 compare "$results/h200-small-fp32-torch.json" "$results/h200-small-128.json"
grep -q '^| .*verdict |$' out || fail "compare hides its verdict"
grep -q '^- columns hidden to fit the terminal: .*; --format md shows all$' out || fail "compare hides columns without a word"
grep -Eq '^\| file +\| .*\.\.\. \| .*\.\.\. \|$' out || fail "paths that are too long are not cut"
on_terminal 300 compare "$results/h200-small-fp32-torch.json" "$results/h200-small-128.json"
! grep -q 'columns hidden' out || fail "compare hides columns on a wide terminal"

# ---- help ----

for command in '' bench attention profile memory precision warmup plan \
    forecast export compare validate report collective limits doctor suite; do
    for columns in 80 120; do
        on_terminal $columns ${command:+"$command"} --help
        grep -q '^usage: roofstep' out || fail "roofstep $command --help says nothing"
        ! grep -q ' $' out || fail "roofstep $command --help has spaces at the end of a line"
        awk '/^ +(--|'\'')/ && before ~ /^  roofstep / && before !~ /\\$/ {exit 1} {before = $0}' out ||
            fail "roofstep $command --help: an example goes on in a line that no backslash joins"
        [ "$(widest out)" -le $columns ] || fail "roofstep $command --help at $columns: $(awk -v most=$columns 'length($0) > most' out | head -n 2)"
    done
done

# ---- away from a terminal ----

"$program" bench "${tiny[@]}" --device cpu --warmup 1 --steps 3 --quiet >out 2>err || fail "bench --quiet ended with $?"
[ ! -s err ] || fail "--quiet says: $(head -n 2 err)"
grep -q '^| ' out || fail "--quiet takes the table away"
"$program" bench "${tiny[@]}" --device cpu --warmup 1 --steps 3 --precision fp32,tf32 --quiet >out 2>err
grep -q 'tf32' err || fail "--quiet does not tell of a cell that cannot run: $(cat err)"
# What cannot be started is told all the same.
printf '#!/nowhere\n' >nothing && chmod +x nothing
"$program" compare --live --quiet ./nothing ./nothing -- bench --size tiny >out 2>err && fail "compare --live ran nothing"
grep -q 'cannot start' err || fail "--quiet hides what cannot be started: $(cat err)"
"$program" bench "${tiny[@]}" --device cpu --warmup 0 --steps 100000000 --sample-time 0s --timeout 12s >out 2>err
grep -Eq '^1/1 .*step [0-9]+/100000000' err || fail "a cell of 12 s has no line after 10 s: $(cat err)"

echo "$failures wrong"
[ $failures = 0 ]
