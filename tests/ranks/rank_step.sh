#!/usr/bin/env bash
# A step of several ranks is that of one with all their batches: loss, gradients and parameters after 3 steps.
same=$(dirname "$(realpath "$0")")/same_step.py
. "$(dirname "$(realpath "$0")")/ranks.sh"
model=(--d-model 24 --d-ff 40 --num-layers 2 --num-heads 3 --vocab 53 --ctx 11 --device cpu --steps 3)
export_step() { # FILE OPTIONS
    local file=$1
    shift
    "$program" export "${model[@]}" "$@" --out "$file.safetensors" >err 2>&1 || fail "export $*: $(cat err)"
}
compare() { # WHAT BOUND [bits]
    python3 "$same" one.safetensors many.safetensors "${@:2}" >err 2>&1 || fail "$1: $(cat err)"
}
for ranks in 2 3 4; do
    export_step one --batch $((2 * ranks)) --threads 1
    export_step many --batch 2 --ranks $ranks --threads 1 --parallel ddp-naive
    compare "$ranks ranks" 1e-5
    mv many.safetensors one.safetensors # the order of sums is the same from here on
    export_step many --batch 2 --ranks $ranks --threads 1 --parallel ddp-flat
    compare "$ranks ranks, ddp-flat" 0 bits
    export_step many --batch 2 --ranks $ranks --threads 1 --parallel ddp --bucket 3KB
    compare "$ranks ranks, ddp" 0 bits
    for parallel in zero1 fsdp; do
        export_step many --batch 2 --ranks $ranks --threads 1 --parallel $parallel
        compare "$ranks ranks, $parallel" 0 bits
    done
done
ROOFSTEP_COMM=messages export_step many --batch 2 --ranks 4 --threads 1
compare "4 ranks, messages" 0 bits

# Micro-batches: only the sums of all travel. Clipping and loss scaling act on what all ranks have together.
while read -r bound options; do
    # shellcheck disable=SC2086 # options are words
    export_step one --batch 4 $options
    # shellcheck disable=SC2086
    export_step many --batch 2 --ranks 2 $options
    compare "$options" "$bound"
    mv many.safetensors one.safetensors
    for parallel in zero1 fsdp; do
        # shellcheck disable=SC2086
        export_step many --batch 2 --ranks 2 --parallel $parallel $options
        # Squares of gradients are added up shard by shard: the factor of clipping may differ in its last bits.
        case $options in
            *clip*) compare "$parallel $options" 1e-6 ;;
            *) compare "$parallel $options" 0 bits ;;
        esac
    done
done <<'CASES'
1e-5 --accumulate 3
1e-5 --clip 0.05
1e-5 --exec eager
1e-5 --recompute block --accumulate 2
1e-5 --mode fwd_bwd
1e-5 --mode fwd
3e-2 --precision bf16
3e-2 --precision bf16 --accumulate 2
3e-2 --precision fp16
3e-2 --precision fp16 --loss-scale 1024
3e-2 --comm-precision bf16
3e-2 --comm-precision bf16 --exec eager --accumulate 2
3e-2 --precision bf16 --comm-precision fp32
CASES
plain=("${model[@]}")
model=(--model qwen2.5-0.5b --d-model 28 --num-heads 14 --num-layers 2 --d-ff 24 --vocab 101 --ctx 11 --device cpu --steps 3)
export_step one --batch 4
export_step many --batch 2 --ranks 2
compare "a model's file" 1e-5
model=("${plain[@]}")

# bench: what communication costs, and a row for what cannot be
"$program" bench "${model[@]}" --batch 2 --warmup 1 --ranks 1,2 --accumulate 1,3 --parallel ddp,ddp-flat,zero1,fsdp --bucket 3KB --lr 0.05 --timeout 60s \
    --format json >rows.json 2>err || fail "bench: $(cat err)"
python3 - rows.json <<'PYTHON' || fail "the rows of bench"
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
losses = {(row.get("ranks", 1), row["accumulate"], row.get("parallel")): row["loss"] for row in rows}
assert len(rows) == 10 and all(row["status"] == "ok" for row in rows), rows
for row in rows:
    if "ranks" not in row:
        continue
    assert row["communication_ms"] > 0 and row["exposed_ms"] >= 0 and row["slowest_rank"] in (0, 1) and row["wire_mib"] > 0, row
    assert row["rank_min_ms"] <= row["rank_median_ms"] <= row["rank_max_ms"], row
# An export looks at every node, so that none runs beside others; here the buckets of ddp and shards travel beside the passes.
for n in (1, 3):
    same = {losses[2, n, parallel] for parallel in ("ddp", "ddp-flat", "zero1", "fsdp")}
    assert len(same) == 1 and same.pop() < 3.5, losses
PYTHON
"$program" bench --size tiny --ranks 2 --device cuda 2>err
[ $? = 2 ] && grep -Eq 'this build has none|no such GPU can be used' err || fail "ranks on a GPU: $(cat err)"
expect_nothing_left "steps"

# Experts: which ones tokens go through, as the model says or given, is that of one rank with all of them.
cat >experts.json <<'J'
{"architectures": ["MixtralForCausalLM"], "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
 "num_key_value_heads": 1, "max_position_embeddings": 64, "vocab_size": 29, "num_local_experts": 4, "num_experts_per_tok": 2}
J
model=(--model experts.json --ctx 5 --device cpu --steps 2)
for routing in model even skewed:1.5; do
    export_step one --batch 2 --routing $routing
    for parallel in ddp fsdp; do
        export_step many --batch 1 --ranks 2 --parallel $parallel --routing $routing
        compare "$parallel --routing $routing" 1e-5
    done
done
