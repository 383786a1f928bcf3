#!/usr/bin/env bash
# validate finds what is wrong: every file is spoilt in a way of its own.
# shellcheck disable=SC1091,SC2154 # profile.sh sets `here` and `program`
. "$(dirname "$(realpath "$0")")/profile.sh"

profile --steps 3 --out-dir good >good.out 2>good.err || fail "a profile"
"$program" validate good/* >whole.out 2>whole.err || fail "good files are bad"
[ "$(grep -c ': ok: ' whole.out)" = 11 ] || fail "eleven files"
expect whole.out 'profile_trace.json.gz: ok: trace, .*, 3 steps'
touch good/page.html good/table.md && mkdir -p good/inner/deep
"$program" validate good/* >whole.out 2>whole.err || fail "a page is bad"
[ "$(grep -c ': not checked: ' whole.out)" = 3 ] || fail "what is not checked"
rm -r good/page.html good/table.md good/inner

bad() { # FILE PATTERN
    "$program" validate "$1" >bad.out 2>bad.err
    code=$?
    expect_code 1 "validate $1"
    expect bad.out "^$1: bad: .*$2"
    [ "$(wc -l <bad.out)" = 1 ] || fail "one line"
}

spoil() { # FROM TO PYTHON: `text` is the file's text
    python3 - "$1" "$2" "$3" <<'SPOIL' || fail "cannot spoil $1"
import gzip, json, sys
source, target, code = sys.argv[1:]
text = (gzip.open if source.endswith('.gz') else open)(source, 'rt').read()
names = {'text': text, 'json': json}
exec(code, names)
assert names['text'] != text, 'nothing was spoilt'
(gzip.open if target.endswith('.gz') else open)(target, 'wt').write(names['text'])
SPOIL
}

event() { # PYTHON on one slice `e` of the ops -> code for spoil
    printf 'trace = json.loads(text); events = trace["traceEvents"]\nops = [e for e in events if e.get("cat") == "cpu_op"]\n%s\ntext = json.dumps(trace)' "$1"
}

# --- traces
head -c 900 good/profile_trace.json.gz >cut_trace.json.gz
bad cut_trace.json.gz .
spoil good/profile_trace.json.gz half_trace.json 'text = text[:len(text) // 2]'
bad half_trace.json 'no JSON'
spoil good/profile_trace.json.gz over_trace.json "$(event 'ops[1].update(ts=ops[0]["ts"] + ops[0]["dur"] / 2, dur=ops[0]["dur"])')"
bad over_trace.json 'overlaps'
spoil good/profile_trace.json.gz dur_trace.json.gz "$(event 'del ops[3]["dur"]')"
bad dur_trace.json.gz 'lacks dur'
spoil good/profile_trace.json.gz stream_trace.json "$(event 'ops[3]["args"]["stream"] = 7')"
bad stream_trace.json 'stream'
spoil good/profile_trace.json.gz pair_trace.json "$(event 'ops[3].update(cat="kernel"); ops[3]["args"].update(stream=7, correlation=5)')"
bad pair_trace.json 'no call has correlation 5'
spoil good/profile_trace.json.gz flow_trace.json "$(event 'events.append(dict(ops[3], ph="f", id=99))')"
bad flow_trace.json 'arrow 99'
spoil good/profile_trace.json.gz rank_trace.json 'text = text.replace("\"rank\": 0", "\"rnk\": 0")'
bad rank_trace.json 'rank'

# --- results
profile_json() { printf 'file = json.loads(text); p = file["results"][0]["profile"]\n%s\ntext = json.dumps(file)' "$1"; }
spoil good/profile.json ops.json "$(profile_json 'p["ops"][0]["host"]["total"] += 1e12')"
bad ops.json 'the ops of forward add up'
spoil good/profile.json kernels.json "$(profile_json 'p["kernels"].pop()')"
bad kernels.json 'the kernels of the step add up'
spoil good/profile.json lacks.json "$(profile_json 'del p["ops"][2]["scope"]')"
bad lacks.json 'ops cannot be read'
spoil good/profile.json status.json 'text = text.replace("\"status\":\"ok\"", "\"status\":\"fine\"", 1)'
bad status.json 'status'
one() { # FIGURE OF FACTOR -> code for spoil: that figure of the first result is multiplied
    printf 'd = json.loads(text); d["results"][0]%s["%s"] *= %s; text = json.dumps(d)' "$2" "$1" "$3"
}
for figure in mean_ms std_ms min_ms max_ms median_ms ci95_low_ms ci95_high_ms; do
    spoil good/profile.json "$figure.json" "$(one "$figure" '["step"]' 1.01)"
    bad "$figure.json" "step.$figure is .* by its samples"
done
for figure in total avg med; do
    spoil good/profile.json "$figure.json" "$(one "$figure" '["profile"]["step"]' 100)"
    bad "$figure.json" "the steps: 3 times from .* do not have the median"
done
spoil good/profile.json range.json "$(one min '["profile"]["ranges"][0]["host"]' 100)"
bad range.json 'times from'

# --- csv
spoil good/profile_cuda_gpu_kern_sum.csv head_cuda_gpu_kern_sum.csv 'text = text.replace("Instances", "Calls")'
bad head_cuda_gpu_kern_sum.csv 'header of cuda_gpu_kern_sum$'
spoil good/profile_cuda_gpu_kern_sum.csv cut_cuda_gpu_kern_sum.csv 'text = text[:-9]'
bad cut_cuda_gpu_kern_sum.csv 'cut short'
spoil good/profile_cuda_gpu_kern_sum.csv sum_cuda_gpu_kern_sum.csv 'text = text.replace("\n", "\n9", 1)'
bad sum_cuda_gpu_kern_sum.csv 'shares'
spoil good/profile_nvtx_gpu_proj_sum.csv n_nvtx_gpu_proj_sum.csv 'text = text.replace("PushPop,", "PushPop,1", 1)'
bad n_nvtx_gpu_proj_sum.csv 'total'
cp good/profile_osrt_sum.csv any.csv
bad any.csv 'none of the reports'

# --- limits, plans, memory, snapshots
tiny=(--device cpu --d-model 64 --d-ff 128 --num-layers 2 --num-heads 2 --vocab 300 --ctx 16 --batch 2)
"$program" plan "${tiny[@]}" --memory-limit 1GiB,41MiB --precision fp32,tf32 --format json >plan.json || fail 'a plan'
"$program" memory "${tiny[@]}" --plan-only --format json --snapshot snap.json >memory.json || fail 'memory'
"$program" memory "${tiny[@]}" --plan-only --snapshot snap.pickle >out 2>err || fail 'a snapshot'
"$program" memory "${tiny[@]}" --plan-only --precision fp32,bf16,tf32 --format json >cells.json || fail 'memory of cells'
limits=$here/../../docs/results/h200-limits.json
"$program" validate plan.json memory.json cells.json snap.json snap.pickle "$limits" >whole.out || fail "good files are bad: $(cat whole.out)"
[ "$(grep -c ': ok: ' whole.out)" = 6 ] || fail "six files"

of_json() { printf 'file = json.loads(text)\n%s\ntext = json.dumps(file)' "$1"; }
spoil_bad() { # FROM TO PYTHON on `file` PATTERN
    spoil "$1" "$2" "$(of_json "$3")"
    bad "$2" "$4"
}
spoil_bad "$limits" limit1.json 'del file["limits"]["memory_copy"]' 'memory_copy'
spoil_bad "$limits" limit2.json 'file["limits"]["fp32_largest"]["all"]["median"] *= 100' 'fp32_largest.all is not a rate'
spoil_bad plan.json plan1.json 'file["plans"][0]["backward"]["flops"] *= 2' 'plan 1: flops of the phases'
spoil_bad plan.json plan2.json 'file["plans"][0]["fits"][1]["short_by_mib"] += 1' 'is not short by'
spoil_bad plan.json plan3.json 'file["plans"][0]["fits"][1]["fits"] = True' 'what fits'
spoil_bad plan.json plan4.json 'file["plans"][0]["memory"]["gradients_mib"] += 1' 'the parts of memory'
spoil_bad plan.json plan5.json 'file["plans"][0]["needed_mib"] = 1' 'do not rise'
spoil_bad plan.json plan6.json 'file["plans"][1]["status"] = "fine"' 'plan 2: its status'
spoil_bad memory.json memory1.json 'file["cells"][0]["peak"]["gradients_mib"] += 1' 'cell 1: the parts of peak'
spoil_bad memory.json memory2.json 'file["cells"][0]["first_step"]["forward"]["total_mib"] *= 2' 'the parts of forward'
spoil_bad memory.json memory3.json 'b = file["cells"][0]["blocks"]; b[5]["address"] = b[6]["address"]' 'same place at the same time'
spoil_bad memory.json memory4.json 'b = file["cells"][0]["blocks"]; b[-1].update(born=b[-1]["died"] + 1)' 'dies before it is born'
spoil_bad memory.json memory5.json 'file["cells"][0]["blocks"].pop(5)' 'live at the peak'
spoil_bad memory.json memory6.json 'file["cells"][0]["reserved_mib"] /= 2' 'more than what is reserved'
events() { printf 'events = file["device_traces"][0]; allocs = [e for e in events if e["action"] == "alloc"]; frees = [i for i, e in enumerate(events) if e["action"] == "free_requested"]; %s' "$1"; }
spoil_bad snap.json snap1.json "$(events 'events.pop(frees[3] + 1)')" 'right after it is requested'
spoil_bad snap.json snap2.json "$(events 'events.pop(frees[3]); events.pop(frees[3])')" '.'
spoil_bad snap.json snap3.json "$(events 'allocs[4]["addr"] = allocs[3]["addr"]')" 'its place is taken'
spoil_bad snap.json snap4.json "$(events 'allocs[4]["addr"] = 5')" 'outside any segment'
spoil_bad snap.json snap5.json "$(events 'allocs[-1]["time_us"] = -1')" 'time goes back'
spoil_bad snap.json snap6.json 'file["segments"][0]["blocks"][0]["size"] += 512' 'segment 0: '
spoil_bad snap.json snap7.json 'file["segments"].pop()' 'not all that the events leave'
head -c 5000 snap.pickle >cut.pickle
bad cut.pickle 'cut short'
sed 's/alloc/allox/' snap.pickle >word.pickle
bad word.pickle .
cp plan.json plan.pickle
bad plan.pickle 'not of protocol 2'
printf '\x80\x02](h\x07e.' >memo.pickle
bad memo.pickle 'a memo that is not there'
printf '\x80\x02]e.' >mark.pickle
bad mark.pickle 'an end without a beginning'
printf '\x80\x02cos\nsystem\n.' >code.pickle
bad code.pickle 'an opcode'

# --- what is not there or nothing of ours
bad nowhere.json 'cannot read'
printf '{"a\nb": 1}' >lines.json
bad lines.json 'no JSON'
echo '[1, 2]' >list.json
bad list.json 'neither'
cp good.out some.txt
bad some.txt 'unknown kind'
exit 0
