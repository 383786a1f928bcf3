#!/usr/bin/env bash
# usage: plan_output.sh PROGRAM: what `roofstep plan` prints, in every format.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `tests`
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"

# plan ARGUMENTS...: stdout and stderr are kept
plan() {
    "$program" plan "$@" >out 2>err </dev/null
}

plan --size small,medium,large,xl,2.7B --device cpu || fail 'exit code'
has 128,625,408 423,183,360 969,411,840 1,998,235,200 3,406,809,600

plan --size small --device cpu --memory-limit 1GiB,8GiB || fail 'exit code'
has '| forward ' '| backward ' '| optimizer ' '| step ' 'FLOP/byte' '| parameters ' '| Adam m and v ' '| gradients ' \
    '| activations ' 'libraries and stacks' 'the peak is in' '1.00 GiB' '8.00 GiB' 'largest batch'

# Beside a need of terabytes the memories of GPUs are what they are called, not 0.01 TiB.
plan --size 2.7B --batch 512 --ctx 2048 --device cpu --memory-limit 8GiB,80GiB,141GiB || fail 'a need of terabytes'
has '| 8.00 GiB |' '| 80.0 GiB |' '|  141 GiB |'
! grep -q '| *0\.0[0-9]* [TPE]iB' out && grep -q '| [1-9][0-9][0-9][0-9]\.[0-9][0-9] GiB |' out || fail 'sizes without digits'

# A vocabulary that is wide for its model: the logits of a chunk at a time, never under eager.
wide=(--size small --vocab 50257 --ctx 1024 --batch 16 --precision bf16 --device cpu)
plan "${wide[@]}" || fail 'a large vocabulary'
has "logits in 5 chunks of 3328 rows: 319 MiB instead of 1.53 GiB; the head's gradients are part of forward"
plan "${wide[@]}" --mode fwd || fail 'a large vocabulary, forward'
has 'logits in 5 chunks of 3328 rows: 319 MiB instead of 1.53 GiB'
! grep -q "head's gradients" out || fail 'forward alone has no gradients'
plan "${wide[@]}" --exec eager || fail 'a large vocabulary, eager'
! grep -q chunks out || fail 'eager has whole logits'
plan "${wide[@]}" --format json || fail 'a large vocabulary, json'
python3 - out <<'PYTHON' || fail 'logits of a large vocabulary in json'
import json, sys
(plan,) = json.load(open(sys.argv[1]))["plans"]
logits = plan["logits"]
assert logits["chunks"] == 5 and logits["rows"] == 3328, logits
assert logits["whole_mib"] == 16384 * 50264 * 2 / 2**20 and logits["chunk_mib"] == 3328 * 50264 * 2 / 2**20, logits
PYTHON

# What a configuration file says of attention and the head, which no option names.
plan --model qwen3-0.6b --device cpu || fail 'a model of a file'
has 'heads 16, kv_heads 8, d_head 128, head tied to the embedding, vocab 151936'
plan --model mistral-7b --device cpu || fail 'a model with a window'
has 'heads 32, kv_heads 8, window 4096, vocab 32000'
plan --size tiny --device cpu || fail 'a preset'
! grep -q 'kv_heads\|d_head' out || fail 'a preset says its dimensions'

plan --size tiny --device cpu --precision tf32,fp32 || fail 'an unsupported cell is no failure'
has unsupported 'tf32 is a format'

# For a GPU that is not here, in a build that may have no CUDA: as many bytes as where there is one, marked.
plan --size tiny --device cuda:999 --attention flash || fail 'a plan for a GPU needs none'
has 'workspaces of libraries are from a table (cuBLASLt 32 MiB a product, cuDNN 1 MiB an attention)' '--memory-limit SIZE shows what fits' 'cuda:999'
while IFS=$'\t' read -r words planned workspace; do
    case $words in '#'*) continue ;; esac
    # shellcheck disable=SC2086 # words
    plan $words --device cuda:999 --format json || fail "plan $words"
    python3 - "$planned" "$workspace" out <<'PYTHON' || fail "plan $words: other bytes than where CUDA is"
import json, sys
(plan,) = json.load(open(sys.argv[3]))["plans"]
if plan["attention"] == "cudnn" and plan["status"] == "unsupported": sys.exit(0)  # built with CUDA, without cuDNN
assert plan["workspaces"] == {"from": "table", "cublaslt_mib": 32, "cudnn_mib": 1}, plan["workspaces"]
got = plan["planned_peak_mib"], plan["memory"]["workspace_mib"]
assert got == (float(sys.argv[1]), float(sys.argv[2])), got
PYTHON
done <"$tests/plan/cuda_plans.tsv"

# By the limits of another machine, plain or packed; without them a GPU's least time is not known.
limits=$tests/../docs/results/h200-limits.json
gzip -c "$limits" >h200.json.gz
for file in "$limits" h200.json.gz; do
    plan --size tiny --precision bf16 --attention flash --limits "$file" || fail "--limits $file"
    has 'cuda:0' 'planned for another machine: NVIDIA H200' 'least time: one step at the limits measured on that machine' 'has no cache sizes'
    matches '\| tiny .* [0-9.]+ us \|'
done
sed 's/"seconds"/"memory_bytes": 150000000000, "cache_bytes": 52428800, "capability": 90, "seconds"/' "$limits" >whole.json
plan --size tiny --precision bf16 --attention flash --limits whole.json || fail 'limits with a memory'
has '139 GiB (that machine)' 'less 536 MiB that a CUDA context' 'largest batch'
! grep -q 'has no cache sizes' out || fail 'the size of the caches is in the file'
plan --size tiny --precision bf16 --recompute auto --limits whole.json --memory-limit 8GiB || fail '--recompute auto for another machine'
sed 's/"seconds"/"capability": 75, "seconds"/' "$limits" >old.json
plan --size tiny --precision bf16,fp16 --limits old.json || fail 'limits of an old chip'
has 'this one has 7.5' 'unsupported'
for bytes in 0 1 20 300 4000; do
    head -c $bytes "$limits" >cut.json
    plan --size tiny --limits cut.json && fail "$bytes bytes of a file of limits"
    [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -q 'cut.json is no file of roofstep limits' err || fail "$bytes bytes of a file of limits: not one line"
done
"$program" bench --size xl --precision bf16 --device cuda --limits whole.json --dry-run >out 2>err || fail 'bench --dry-run --limits'
has 'planned for another machine: NVIDIA H200' '| train '
matches 'Dry run: [0-9]+ cells? would run; expected time [0-9]+s\.'

# The deepest there may be does not take minutes.
deepest=1024
parameters=30,771,264
if sanitized; then deepest=128 parameters=4,966,464; fi
plan --num-layers $deepest --d-model 64 --d-ff 64 --num-heads 2 --ctx 16 --batch 1 --device cpu || fail 'the deepest model'
has $parameters

# Two cells, two limits: four rows, as many fields in each.
plan --size tiny --device cpu --ctx 16,32 --memory-limit 200MiB,2GiB --format csv --out plan.csv || fail 'csv'
[ ! -s out ] || fail 'csv went to stdout too'
[ "$(wc -l <plan.csv)" = 5 ] || fail 'csv has not five lines'
[ "$(awk -F, '{ print NF }' plan.csv | sort -u | wc -l)" = 1 ] || fail 'csv lines differ in their fields'
grep -q '^size,d_model,.*,largest_batch,largest_ctx,recompute_largest_batch,recompute_largest_ctx,fits_with$' plan.csv || fail 'csv header'

# The name says the format too. (What a run needs beside its tensors is read off this process and may differ by some MiB.)
cp plan.csv asked.csv
plan --size tiny --device cpu --ctx 16,32 --memory-limit 200MiB,2GiB --out plan.csv || fail 'csv by name'
cmp -s <(cut -d, -f1-38 asked.csv) <(cut -d, -f1-38 plan.csv) || fail 'the ending .csv does not give csv'
plan --size tiny --device cpu --out plan.txt || fail 'an unknown ending'
grep -q '^| cell' plan.txt || fail 'an unknown ending does not give md'

for format in latex typst json; do
    plan --size tiny --device cpu --format "$format" || fail "$format"
done
has '"schema": 1' '"parameters": 22696448' '"largest_batch"'
plan --size tiny --device cpu --format latex
has '\begin{tabular}' '22,696,448'
plan --size tiny --device cpu --format typst
has 'let whole = table(' '22,696,448'

# The same command says the same.
plan --size tiny --device cpu --memory-limit 1GiB --format json && cp out first
plan --size tiny --device cpu --memory-limit 1GiB --format json
cmp -s first out || fail 'two runs differ'

# What is said to fit does, and one more does not.
batch=$(sed -n 's/.*"largest_batch": \([0-9]*\).*/\1/p' first)
plan --size tiny --device cpu --memory-limit 1GiB --format json --batch "$batch" && has '"fits": true'
plan --size tiny --device cpu --memory-limit 1GiB --format json --batch $((batch + 1)) && has '"fits": false'

# Models of configuration files: as many parameters as transformers counts, by every way there is to ask.
plan --model list || fail '--model list'
while read -r name count; do
    matches "^\| $name +\| +$count \|"
done <<'END'
gpt2 124,439,808
gpt2-xl 1,557,611,200
pythia-160m 162,322,944
pythia-1.4b 1,414,647,808
llama-3.2-1b 1,235,814,400
llama-3.1-8b 8,030,261,248
mistral-7b 7,241,732,096
qwen2.5-0.5b 494,032,768
qwen3-0.6b 596,049,920
qwen3-8b 8,190,735,360
mixtral-8x7b 46,702,792,704
qwen3-30b-a3b 30,532,122,624
END
cp out list
plan --model list --out list.md || fail '--model list to a file'
[ ! -s out ] && cmp -s list list.md || fail '--model list --out is another list, or stdout has it'
plan --model list --out list.tex || fail '--model list as LaTeX'
grep -q 'begin{tabular' list.tex || fail 'the ending of --out does not decide'
plan --model list --out - && cmp -s list out || fail '--model list --out -'
refused 'a table for people' plan --model list --out list.json
refused 'a table for people' bench --model list --out-json list.json
refused 'plan --model list --out FILE does' export --model list --out list.safetensors
! plan --model list --out nowhere/list.md && grep -q 'nowhere/list.md' err || fail 'a file that cannot be written'
plan --model gpt2,llama-3.1-8b --device cuda:999 --precision bf16 || fail 'two models'
matches '^\| gpt2 +\| +124,439,808' '^\| llama-3.1-8b +\| 8,030,261,248'
plan --model gpt2 --vocab 100 --num-layers 2 --device cpu || fail 'a model with other dimensions'
has 'size gpt2, d_model 768, d_ff 3072, layers 2, heads 12, head tied to the embedding, vocab 100'
grep -q 'gpt2: its file asks for dropout, which runs as 0' err || fail 'nothing is said of dropout'

# What fits in the memories that GPUs have, and what to change where it does not; what is said to fit does.
large=(--model llama-3.2-1b --device cuda:999 --ctx 4096)
plan "${large[@]}" || fail 'a model in many memories'
has '| part ' '| feed-forward ' '| head and loss ' 'batch, recomputing' 'fits with'
matches '\| +8\.00? GiB' '\| +16\.00? GiB' '\| +24\.00? GiB' '\| +80\.00? GiB' '\| +141(\.00)? GiB'
plan "${large[@]}" --memory-limit 30GiB --format json
has '"size": "llama-3.2-1b"' '"kv_heads": 8' '"fits": false'
sed -n 's/.*"fits_with": "\(.*\)".*/\1/p' out | sed 's/, \| or /\n/g; s/ with / /g' >advice
[ -s advice ] || fail 'nothing is said of what to change'
while read -r -a change; do
    plan "${large[@]}" --memory-limit 30GiB --format json "${change[@]}"
    has '"fits": true' '"fits_with": null'
done < <(grep -v -- --ctx advice) # which would be a second value
plan --model gpt2 --device cpu --format json --out plan.json && "$program" validate plan.json >/dev/null || fail 'the plan of a model is not valid'

# A rank plans with its own threads, and what is as usual is not named.
plan --size tiny --device cpu --ranks 2 --link 1GB/s,5us || fail 'two ranks'
has 'ranks 2, parallel ddp, device cpu'
threads=$(($(nproc) / 2))
has "threads $((threads > 0 ? threads : 1))"
plan --size tiny --device cpu --ranks 2 --comm-precision bf16 --precision bf16 --link 1GB/s,5us || fail 'two ranks that send bf16'
has 'ranks 2, parallel ddp, sent as bf16, device cpu'
plan --size tiny --device cpu --ranks 2 --comm-precision auto,bf16 --precision bf16 --link 1GB/s,5us || fail 'two ways to send'
has '| tiny sent as bf16 |' '| tiny              |'
plan --size tiny --device cpu --ranks 1 --comm-precision bf16 --precision bf16 || fail 'one rank that would send bf16'
! grep -q 'sent as\|parallel' out || fail 'one rank sends nothing'

# Cells of one rank that differ in nothing are one cell, of one model.
plan --model llama-3.2-1b --ranks 1,2 --parallel ddp,zero1 --link 1GB/s,5us --device cpu || fail 'a model over ranks'
[ ! -s err ] || fail "a model over ranks: $(cat err)"

# The step of several ranks, from the roof of a GPU and links that are given.
cluster=(--size small --precision fp32 --ctx 512 --limits "$tests/../docs/results/h200-limits.json"
    --ranks 1,8,16 --ranks-per-node 8 --link 450GB/s,5us --node-link 50GB/s,10us)
plan "${cluster[@]}" --parallel ddp,ddp-flat,ddp-naive || fail 'a cluster'
has 'communication (ms)' 'exposed (ms)' 'efficiency' 'from the least time of one rank' '| ddp-naive' '100.0 %'
plan "${cluster[@]}" --parallel ddp,ddp-flat,ddp-naive --step 40ms --format json --out plan.json || fail 'a cluster in json'
"$program" validate plan.json >/dev/null || fail 'the plan of a cluster is not valid'
python3 - <<'PYTHON' || fail 'the forecast of a cluster'
import json
plans = json.load(open("plan.json"))["plans"]
one = [p for p in plans if "ranks" not in p]
assert len(one) == 1 and abs(one[0]["forecast"]["step_ms"] - 40) < 1e-9 and one[0]["forecast"]["exposed_ms"] == 0, one
of = {(p["ranks"], p["parallel"]): p for p in plans if "ranks" in p}
for (n, parallel), p in of.items():
    f = p["forecast"]
    assert f["from"] == "measured" and f["one_rank_step_ms"] == 40, f
    assert abs(f["step_ms"] - 40 - f["exposed_ms"]) < 1e-6 and abs(f["efficiency"] - 40 / f["step_ms"]) < 1e-9, f
    assert -1e-9 <= f["exposed_ms"] <= f["communication_ms"] * (1 + 1e-9), f
    # one message of all gradients: rings in a node of 8, and of an eighth between two of them
    size = p["wire_mib"] * 2**20 * n / (2 * (n - 1))
    ms = 1e3 * (14 * (5e-6 + size / 8 / 450e9) + (n // 8 - 1) * 2 * (10e-6 + size / 16 / 50e9))
    if parallel == "ddp-flat": assert abs(f["communication_ms"] - ms) < 1e-6 * ms and abs(f["exposed_ms"] - ms) < 1e-6 * ms, (f, ms)
    if parallel == "ddp": assert f["exposed_ms"] < of[n, "ddp-flat"]["forecast"]["exposed_ms"] < of[n, "ddp-naive"]["forecast"]["exposed_ms"], f
PYTHON
plan "${cluster[@]}" --format csv || fail 'a cluster in csv'
has 'forecast_step_ms' 'forecast_efficiency'
plan "${cluster[@]:0:8}" --ranks 16 --link 450GB/s,5us --ranks-per-node 8 || fail 'a cluster without links between nodes'
has 'no forecast: 16 ranks are on 2 nodes: give --node-link'
plan "${cluster[@]:0:8}" --ranks 8 || fail 'a cluster without links'
has 'no forecast: the links between ranks are not known: give --link BANDWIDTH,LATENCY'
plan "${cluster[@]:0:8}" --ranks 12 --ranks-per-node 8 --link 450GB/s,5us --node-link 50GB/s,10us || fail 'nodes that are not full'
has 'no forecast: 12 ranks fill no whole nodes of 8'

verdict
