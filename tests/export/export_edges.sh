#!/usr/bin/env bash
# usage: export_edges.sh PROGRAM: gradients that overflow fp16, a memory limit, and what the header says.
program=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

wrong() {
    printf 'FAILED: %s\n' "$1"
    sed 's/^/        > /' "$work/err"
    failures=$((failures + 1))
}

# export_step CODE ARGUMENTS...: stderr is kept
export_step() {
    local code=$1
    shift
    rm -f "$work/file"
    "$program" export --device cpu --threads 1 "$@" --out "$work/file" 2>"$work/err"
    local got=$?
    [ $got = "$code" ] || wrong "$*: exit code $got, expected $code"
}

# Every tensor of the file is that of $work/whole, but for rounding.
same_tensors() {
    python3 - "$work/file" "$work/whole" <<'PYTHON'
import array, json, math, struct, sys
def tensors(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    for name, tensor in json.loads(data[8:8 + length]).items():
        if name == "__metadata__" or tensor["dtype"] != "F32": continue
        begin, end = (8 + length + offset for offset in tensor["data_offsets"])
        yield name, array.array("f", data[begin:end])
whole = dict(tensors(sys.argv[2]))
for name, got in tensors(sys.argv[1]):
    off = math.sqrt(sum((x - y) ** 2 for x, y in zip(got, whole[name])) / sum(y * y for y in whole[name]))
    assert len(got) == len(whole[name]) and off < 1e-5, (name, off)
assert got, "there are none"
PYTHON
}

# One token: its gradients are above 1, and 65536 times that is beyond fp16.
one=(--d-model 64 --d-ff 96 --num-layers 1 --num-heads 1 --vocab 2 --ctx 1 --batch 1 --steps 2 --precision fp16)
for mode in fwd_bwd train; do
    export_step 0 "${one[@]}" --mode $mode
    grep -q 'steps skipped' "$work/err" || wrong "$mode: the loss scale was not lowered, or nobody said so"
    python3 - "$work/file" <<'PYTHON' || wrong "$mode: a gradient is not finite, or the skipped steps are not in the header"
import array, json, math, struct, sys
data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
assert length % 8 == 0 and int(header["__metadata__"]["skipped_steps"]) > 0, header["__metadata__"]
for name, tensor in header.items():
    if name.startswith("grad."):
        begin, end = (8 + length + offset for offset in tensor["data_offsets"])
        assert all(map(math.isfinite, array.array("f", data[begin:end]))), name
PYTHON
done
export_step 1 "${one[@]}" --loss-scale 1e6
grep -q 'overflow fp16 at loss scale 1e+06' "$work/err" || wrong 'a fixed loss scale is named'
[ ! -e "$work/file" ] || wrong 'a failed export left a file'

# One token sees itself alone, whatever q and k are: their gradients are 0 and not noise.
for options in '--precision fp32' '--precision bf16' '--precision fp16' '--attention naive' '--exec eager'; do
    # shellcheck disable=SC2086 # several words on purpose
    export_step 0 --d-model 64 --d-ff 96 --num-layers 1 --num-heads 2 --vocab 20 --ctx 1 --batch 3 $options
    python3 - "$work/file" <<'PYTHON' || wrong "$options: q and k have a gradient"
import json, struct, sys
data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
for name in ("grad.layers.0.attn.q_proj", "grad.layers.0.attn.k_proj"):
    begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
    assert not any(value for (value,) in struct.iter_unpack("f", data[begin:end])), name
PYTHON
done

# Forward alone has no fp32 masters, and weights that are rounded at once: the logits are the same.
cat >"$work/logits.py" <<'PYTHON'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
begin, end = (8 + length + offset for offset in json.loads(data[8:8 + length])["logits"]["data_offsets"])
sys.stdout.buffer.write(data[begin:end])
PYTHON
for precision in bf16 fp16; do
    for mode in fwd train; do
        export_step 0 --d-model 64 --d-ff 96 --num-layers 2 --num-heads 2 --vocab 50 --ctx 9 --batch 2 --precision $precision --mode $mode
        python3 "$work/logits.py" "$work/file" >"$work/$mode.logits"
    done
    [ -s "$work/fwd.logits" ] && cmp -s "$work/fwd.logits" "$work/train.logits" || wrong "$precision: --mode fwd has other logits"
done

# Logits in two chunks of 2048 rows: every tensor is that of whole logits, which eager has.
chunks=(--d-model 8 --d-ff 8 --num-layers 1 --num-heads 1 --vocab 113 --ctx 1024 --batch 4)
"$program" plan "${chunks[@]}" --device cpu | grep -q 'logits in 2 chunks of 2048 rows' || wrong 'logits do not come in chunks'
export_step 0 "${chunks[@]}" --exec eager --attention fused
mv "$work/file" "$work/whole"
export_step 0 "${chunks[@]}"
same_tensors || wrong 'logits in chunks: another step than with whole ones'

# Micro-batches are rows of the batch that they are together, and that is what the header says.
rows=(--d-model 24 --d-ff 40 --num-layers 2 --num-heads 2 --vocab 59 --ctx 9 --steps 2 --clip 0.5)
for options in '' '--exec eager' '--recompute block' '--exec fused --attention naive'; do
    # shellcheck disable=SC2086 # several words on purpose
    export_step 0 "${rows[@]}" --batch 6 $options
    mv "$work/file" "$work/whole"
    # shellcheck disable=SC2086
    export_step 0 "${rows[@]}" --batch 2 --accumulate 3 $options
    grep -aq '"batch":"6"' "$work/file" && grep -aq '"accumulate":"3"' "$work/file" || wrong "$options: the header of micro-batches"
    same_tensors || wrong "$options: micro-batches make another step than one batch"
done
! grep -aq accumulate "$work/whole" || wrong 'one batch has micro-batches in its header'
export_step 1 "${one[@]}" --accumulate 3 --loss-scale 1e6
grep -q 'overflow fp16 at loss scale 1e+06' "$work/err" || wrong 'micro-batches: nobody looks at the sums of gradients'

# A scale of 1 is a scale: gradients are still looked at. None is none.
for scale in 1 none; do
    export_step 0 "${one[@]}" --loss-scale $scale
    grep -aq "\"loss_scale\":\"$scale\"" "$work/file" || wrong "loss scale $scale is not in the header"
    ! grep -q warning "$work/err" || wrong "loss scale $scale: a warning"
    "$program" plan "${one[@]:0:14}" --precision fp16 --loss-scale $scale --device cpu --format json --out "$work/$scale"
done
nodes() { sed -n '/"optimizer"/,/}/s/.*"nodes": \([0-9]*\).*/\1/p' "$work/$1"; }
[ "$(nodes 1)" = $(($(nodes none) + 1)) ] || wrong 'a scale of 1 does not look at the gradients, or none does'

# In 8 bits the scales are there: of a weight, its largest number as bf16 by that of e4m3.
for options in '--exec fused' '--exec fused --recompute block' '--exec eager' '--exec fused --fp8-recipe rowwise --fp8-layers w2'; do
    # shellcheck disable=SC2086 # several words on purpose
    export_step 0 --d-model 32 --d-ff 48 --num-layers 2 --num-heads 2 --vocab 59 --ctx 16 --batch 1 --precision fp8 $options
    python3 - "$work/file" "$options" <<'PYTHON' || wrong "fp8 $options: the scales"
import array, json, struct, sys
data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
def values(name):
    begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
    return array.array("f", data[begin:end])
def rounded(x):  # to bf16
    (bits,) = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]
scales = [name for name in header if name.startswith("scale.")]
some = "w2" in sys.argv[2]
assert all(".ffn.w2." in name for name in scales) == some, scales
assert some or len(scales) == 2 * (36 if "eager" in sys.argv[2] else 24), len(scales)
assert not any("transposed." in name for name in scales) or "eager" in sys.argv[2], scales
for layer in range(2):
    w = [abs(rounded(x)) for x in values(f"param.layers.{layer}.ffn.w2")]
    rows = [w[i:i + 48] for i in range(0, len(w), 48)] if some else [w]
    for row, scale in zip(rows, values(f"scale.layers.{layer}.ffn.w2.weights")):
        assert abs(scale * 448 - max(row)) < 1e-6 * max(row), (scale, max(row))
PYTHON
done

# Where there is nothing to scale, that is said.
export_step 0 "${one[@]:0:14}" --precision bf16 --loss-scale 8
grep -q 'warning: --loss-scale does nothing in bf16' "$work/err" || wrong 'no word on a loss scale that does nothing'
[ "$(wc -l <"$work/err")" = 2 ] || wrong 'more than one word on it'

export_step 0 "${one[@]}" --seed 8999999999999999999
grep -aq '"seed":"8999999999999999999"' "$work/file" || wrong 'the seed is written whole'

# Nothing skipped is said too, but not on a pipe, whose header is gone when it is known.
small=(--d-model 8 --d-ff 8 --num-layers 1 --num-heads 1 --vocab 5 --ctx 4 --batch 1)
export_step 0 "${small[@]}"
grep -aq '"skipped_steps":"0"' "$work/file" || wrong 'no skipped steps in the header'
"$program" export --device cpu --threads 1 "${small[@]}" --out /dev/stdout 2>"$work/err" | cat >"$work/piped" ||
    wrong 'an export to a pipe'
[ "$(wc -c <"$work/piped")" = "$(wc -c <"$work/file")" ] || wrong 'an export to a pipe has another length'
! grep -aq skipped_steps "$work/piped" || wrong 'skipped steps on a pipe'

# The logits are kept apart until they are written: that counts. 3 * 64 * 50000 floats are 36.6 MiB.
wide=(--d-model 8 --d-ff 8 --num-layers 1 --num-heads 1 --vocab 50000 --ctx 64 --batch 3 --mode fwd)
export_step 1 "${wide[@]}" --memory-limit 100MiB
grep -q 'short by' "$work/err" || wrong 'no shortage'
export_step 0 "${wide[@]}" --memory-limit 300MiB

echo "$failures wrong"
[ $failures = 0 ]
