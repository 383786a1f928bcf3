#!/usr/bin/env bash
# The tables and the record: every style and precision, modes, one row per cell, shown again from a folder.
# shellcheck disable=SC1091,SC2154 # profile.sh sets `here` and `program`
. "$(dirname "$(realpath "$0")")/profile.sh"

# --- one cell: every section
profile --steps 3 --source --top 2 --out-dir one >one.out 2>one.err || fail "one cell"
for section in 'profiling overhead \(%\)' '^- profiling overhead: ' 'FORWARD .*[0-9]' 'BACKWARD' 'OPTIMIZER' 'between phases' 'QKV projections' 'RoPE q and k' \
    'output projection' 'other ops of the forward pass' 'between the ops' '^\| matmul ' 'all ops' 'others' 'TFLOP/s' \
    'src/ops/matmul\.c:[0-9]+' 'allocates a step' 'context switches' 'page faults' 'imbalance of threads' \
    'gaps between ops, a step +\| [0-9]+ ' 'longest gap between ops +\| .* after .*, before '; do
    expect one.out "$section"
done
"$program" profile --from one --source --top 2 >again.out 2>again.err || fail "--from"
cmp -s one.out again.out || fail "--from shows something else"
python3 "$here/check_profile.py" one/profile.json >check.out 2>&1 || fail "sums of one cell"

# --- by name, with who computed it and where; by op, wherever it is
"$program" profile --from one --top 100 >all.out 2>all.err || fail "--top 100"
for phase in FORWARD BACKWARD step; do
    expect all.out "^\| $phase +\| matmul \((own|BLIS|OpenBLAS)[^)]*\): ffn/w13 "
done
expect all.out '^\| FORWARD +\| matmul \([^)]*\) +\| 5 ops +\| matmul +\| +9 '
expect all.out '^\| FORWARD +\| rmsnorm \(own\): attn/ln1 '
refuse all.out '\(auto\)|_cpu\)'

# --- what cannot be written is known before anything is run
profile --steps 3 --out no/such/tables.md >none.out 2>none.err && fail "tables that cannot be written"
! grep -q '\[1/1\]' none.err || fail "it ran although the tables cannot be written"

# --- as if a GPU had run it: its tables, made here from the file
mkdir gpu
python3 - <<'GPU' || fail "a file of a GPU"
import json
file = json.load(open('one/profile.json'))
p = file['results'][0]['profile']
few = {'n': 3, 'total': 9, 'avg': 3, 'med': 3, 'min': 3, 'max': 3, 'std': 0}
for op in p['ops']:
    op['device'] = op['host']
for r in p['ranges']:
    r.update(device=0, span=r['host'], wall=r['host'], kernels=3)
for phase in p['phases']:
    work = phase['nodes']
    phase['gpu'] = {'span': phase['wall'], 'busy': work, 'work': work, 'kernels': 30}
    next(r for r in p['ranges'] if r['phase'] == phase['phase'] and r['level'] == 0)['device'] = work
call = {'short': 'cudaLaunchKernel', 'name': 'cudaLaunchKernel', 'kind': 'kernel', 'time': few, 'bytes': None}
p['calls'] = [call]
p['op_calls'] = [dict(call, row=0), dict(call, name='cudaStreamSynchronize', row=None)]
p['host_gaps'] = dict(few, n=12, total=3e5 + 11 * 9, avg=(3e5 + 99) / 12, min=9, med=9, max=3e5, p99=9,
                      longest_after='cudaLaunchKernel', longest_before='cudaStreamSynchronize')
zero = {'n': 6, 'total': 0, 'avg': 0, 'med': 0, 'min': 0, 'max': 0, 'std': 0}
named = lambda name, short: {'name': name, 'short': short, 'kind': 'kernel', 'time': zero, 'bytes': None}
p['phase_kernels'].append(dict(named('[CUDA memset]', '[CUDA memset]'), kind='memset', phase='backward'))
for name in 'void ns::gemm<a, 1>(float)', 'void ns::gemm<b, 2>(float)':  # one short name
    p['phase_kernels'].append(dict(named(name, 'gemm'), phase='forward'))
    p['kernel_names'].append(named(name, 'gemm'))
p['gpu'] = {'compute': 1e6, 'copies': 0, 'overhead': 0, 'gaps': dict(few, p99=3, longest_after=None, longest_before='x'), 'launch_latency': few,
            'unattributed': 0, 'unattributed_time': 0, 'dropped': 0}
json.dump(file, open('gpu/profile.json', 'w'))
GPU
"$program" validate gpu/profile.json >gpu-validate.out 2>gpu.err || fail "the file of a GPU is not whole"
"$program" profile --from gpu --source --top 100 >gpu.out 2>gpu.err || fail "--from the file of a GPU"
for line in '^\| CUDA call +\| for +\| category +\| calls a step .*\| source' '^\| cudaLaunchKernel +\| forward embedding embedding .*src/ops/embedding\.c:[0-9]+' \
    '^\| cudaStreamSynchronize +\| not attributed .*\| - ' '^\| busy ' 'host-bound|device-bound' '^\| longest gap between kernels ' \
    '^\| gaps between CUDA calls, a step +\| 4 ' '^\| longest gap between CUDA calls +\| 300\.0 us, after cudaLaunchKernel, before cudaStreamSynchronize' \
    '^\| in +\| kernel, by name +\| of ' '^\| in +\| kernel, by op +\| of ' \
    '^\| BACKWARD +\| \[CUDA memset\] +\| not attributed +\| other +\| +2 ' '^\| FORWARD +\| gemm\\<a, 1\\>\(float\) ' '^\| FORWARD +\| gemm\\<b, 2\\>\(float\) '; do
    expect gpu.out "$line"
done
refuse one.out 'CUDA call'

# --- every style and precision a CPU has; children add up to their parents
profile --steps 4 --exec eager,fused --precision fp32,bf16,fp16 --attention auto,naive,fused,flash --out-dir grid >grid.out \
    2>grid.err || fail "the grid"
python3 "$here/check_profile.py" grid/profile.json >check.out 2>&1 || fail "sums of the grid"
expect check.out '^eager bf16'
for mode in fwd fwd_bwd; do
    profile --steps 2 --mode $mode --out-dir $mode >$mode.out 2>$mode.err || fail "$mode"
    refuse $mode.out '^\| OPTIMIZER'
    python3 "$here/check_profile.py" $mode/profile.json >check.out 2>&1 || fail "sums of $mode"
done

# --- the statistic of the table is the one that it names
for stat in median mean min; do
    profile --steps 6 --stat $stat --out-dir by-$stat >by-$stat.out 2>by-$stat.err || fail "--stat $stat"
done
expect by-median.out '^- medians of the steps; '
expect by-mean.out '^- means of the steps; '
expect by-min.out '^- minima of the steps; '
python3 - <<'STAT' || fail "the statistic"
import json, re
for stat, name in ('median', 'med'), ('mean', 'avg'), ('min', 'min'):
    result = json.load(open(f'by-{stat}/profile.json'))['results'][0]
    row = re.search(r'^\| step +\| +(\S+) \| +(\S+) \| +(.*?) \|', open(f'by-{stat}.out').read(), re.M)
    for shown, exact in (row[1], result['step'][f'{stat}_ms']), (row[2], result['profile']['step'][name] * 1e-6):
        assert abs(float(shown) - exact) <= 1e-3 * exact, (stat, shown, exact)
STAT

# --- a sweep has a row per context; two styles stand side by side
profile --steps 2 --ctx 4,8,12 >sweep.out 2>sweep.err || fail "a sweep"
[ "$(grep -c '^| custom ' sweep.out)" = 3 ] || fail "three rows"
expect sweep.out '^\| custom .*\([a-z]+[^)]*\): [a-z]+'
profile --steps 2 --accumulate 1,2 --num-layers 1,2 >fields.out 2>&1 || fail "a sweep of other fields"
expect fields.out '^\| size .*\| exec +\| layers \| accumulate \| forward'
for fields in '1 \| +1' '1 \| +2' '2 \| +1' '2 \| +2'; do
    expect fields.out "^\| custom .*\| fused +\| +$fields \| +[0-9]"
done
! grep -q '^| size.*accumulate' sweep.out || fail "a column of what is the same in all rows"
expect sweep.out 'wall, step \(ms\) \| device, step \(ms\)'
profile --steps 2 --against eager >against.out 2>against.err || fail "--against"
# 3 projections, 2 x 4 of RoPE, scores, scale, mask, 5 of softmax, x V, output, residual
expect against.out '^\| kernels of one attention, forward +\| +4 \| +22 '
expect against.out '^\| of these for softmax +\| +0 \| +5 '
expect against.out '^\| a step +\| +fused \| +eager \| eager / fused'

profile --steps 2 --against eager --dry-run >dry.out 2>dry.err || fail "--dry-run"
[ "$(grep -c '^| custom ' dry.out)" = 2 ] || fail "a dry run of two cells"

# --- two precisions; where fp8 pays, from times that are made up: no machine is needed that has it
profile --steps 2 --precision fp32 --against bf16 --dry-run >precisions.out 2>&1 || fail "--against a precision"
[ "$(grep -c '^| custom ' precisions.out)" = 2 ] || fail "a dry run of two precisions"
for order in fp32,bf16 bf16,fp32; do # each cell once
    profile --precision $order --exec eager,fused --against bf16 --dry-run >once.out 2>&1 || fail "--precision $order --against bf16"
    [ "$(grep -c '^| custom ' once.out)" = 4 ] || fail "$(grep -c '^| custom ' once.out) cells of $order --against bf16"
done
profile --steps 2 --precision bf16 --out-dir pays --accumulate 2 >pays.log 2>&1 || fail "a profile to change"
python3 - pays/profile.json <<'PAYS' || fail "a made-up profile"
import copy, json, sys
file = json.load(open(sys.argv[1]))
bf16 = file["results"][0]
steps = bf16["profile"]["steps"]
stats = lambda us: dict.fromkeys(("total", "avg", "med", "min", "max"), us * 1e3) | {"total": us * 1e3 * steps, "n": steps, "std": 0}
ops = [op for op in bf16["profile"]["ops"] if op["op"] != "matmul"]
product = next(op for op in bf16["profile"]["ops"] if op["op"] == "matmul")
row = lambda phase, scope, op, category, us, **more: product | {"phase": phase, "scope": scope, "op": op, "category": category, "host": stats(us)} | more
for name in bf16["profile"]["kernels"]:
    name["row"] = None
fp8 = copy.deepcopy(bf16)
bf16["profile"]["ops"] = ops + [row(phase, scope, "matmul", "matmul", us) for phase, scope, us in
                                (("forward", "attn/qkv", 1000), ("backward", "attn/qkv", 2000), ("forward", "attn/output", 300), ("forward", "lm_head", 5000))]
fp8["profile"]["ops"] = ops + [row(phase, scope, "scaled_matmul", "matmul", us) for phase, scope, us in
                               (("forward", "attn/qkv", 500), ("backward", "attn/qkv", 1000), ("forward", "attn/output", 290))]
fp8["profile"]["ops"] += [row(phase, scope, "quantize", "copy", us, operands=operands) for phase, scope, us, operands in
                          (("forward", "attn/qkv", 200, "activations"), ("forward", "attn/qkv", 100, "weights"),
                           ("backward", "attn/qkv", 300, "gradients"), ("forward", "attn/output", 20, "activations"))]
fp8["profile"]["ops"].append(row("forward", "lm_head", "matmul", "matmul", 5000))
fp8["cell"] = fp8["cell"].replace("precision=bf16", "precision=fp8")
fp8.update(precision="fp8", fp8_recipe="delayed")
file["results"] = [fp8, bf16]
json.dump(file, open(sys.argv[1], "w"))
PAYS
"$program" profile --from pays >pays.out 2>pays.err || fail "--from a made-up profile"
tokens=$(python3 -c 'import json; r = json.load(open("pays/profile.json"))["results"][0]; print(r["ctx"] * r["batch"])')
expect pays.out '^\| attn/qkv +\| +3\.000 \| +1\.500 \| +0\.5000 \| +0\.1000 \| +0\.9000 \| +30\.0 \|'
expect pays.out '^\| attn/output +\| +0\.3000 \| +0\.2900 \| +0\.02000 \| +0 \| +-0\.01000 \| +-3\.33 \| +never \|'
expect pays.out '^\| all of them +\| +3\.300 \|'
expect pays.out "^\\| attn/qkv .*\\| +$(((tokens + 9) / 10)) \\|" # a tenth: what each token gains, 1 ms in all, has paid for 0.1 ms
! grep -q '^| lm_head' pays.out || fail "a linear that is not in fp8"
expect pays.out "fp8 \\(delayed\\) does not pay for this step of $((2 * tokens)) tokens"

# --- other formats; what is refused
profile --steps 1 --format json >json.out 2>json.err || fail "json"
python3 -c 'import json, sys; assert json.load(open("json.out"))["results"][0]["profile"]["steps"] == 1' || fail "json content"
for format in latex typst; do profile --steps 1 --format $format >$format.out 2>$format.err || fail "$format"; done
profile --against fused >same.out 2>same.err
code=$?
expect_code 2 "--against what --exec says"
profile --against slow >word.out 2>word.err
code=$?
expect_code 2 "--against a word"
# a build with CUDA has NVTX, another says so
profile --steps 1 --nvtx --annotate-mha >nvtx.out 2>nvtx.err
code=$?
[ $code = 0 ] || { [ $code = 2 ] && grep -q 'no NVTX' nvtx.err; } || fail "--nvtx: $code"
"$program" profile --from nowhere >nowhere.out 2>nowhere.err
code=$?
[ $code != 0 ] && [ "$(wc -l <nowhere.err)" = 1 ] || fail "--from nowhere: $code"
profile --memory-limit 1MiB --steps 1 >oom.out 2>oom.err
code=$?
expect_code 4 "no memory"
expect oom.out '\| +OOM \|'
exit 0
