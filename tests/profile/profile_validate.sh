#!/usr/bin/env bash
# validate finds what is wrong: every file is spoilt in a way of its own.
# shellcheck disable=SC1091,SC2154 # profile.sh sets `here` and `program`
. "$(dirname "$(realpath "$0")")/profile.sh"

profile --steps 3 --out-dir good >good.out 2>good.err || fail "a profile"
"$program" validate good/* >whole.out 2>whole.err || fail "good files are bad"
[ "$(grep -c ': ok: ' whole.out)" = 11 ] || fail "eleven files"

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
spoil good/profile.json ops.json "$(profile_json 'p["ops"][0]["host"]["total"] *= 1.5')"
bad ops.json 'the ops of forward add up'
spoil good/profile.json kernels.json "$(profile_json 'p["kernels"].pop()')"
bad kernels.json 'the kernels of the step add up'
spoil good/profile.json lacks.json "$(profile_json 'del p["ops"][2]["scope"]')"
bad lacks.json 'ops cannot be read'
spoil good/profile.json status.json 'text = text.replace("\"status\":\"ok\"", "\"status\":\"fine\"", 1)'
bad status.json 'status'

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

# --- what is not there or nothing of ours
bad nowhere.json 'cannot read'
echo '[1, 2]' >list.json
bad list.json 'neither'
cp good.out some.txt
bad some.txt 'unknown kind'
exit 0
