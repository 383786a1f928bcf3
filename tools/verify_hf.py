#!/usr/bin/env python3
"""Recomputes an export of `roofstep export --model FOLDER` with `transformers` in float64 and prints the relative errors.

    tools/verify_hf.py FILE.safetensors FOLDER                    loss, every gradient, every updated parameter
    tools/verify_hf.py --all FILE.safetensors FOLDER              a line for every tensor
    tools/verify_hf.py --device cuda FILE.safetensors FOLDER      the reference on a GPU
    tools/verify_hf.py --record REFERENCES FILE.safetensors FOLDER    writes digests of the reference, too
    tools/verify_hf.py FILE FOLDER FILE FOLDER ...                several exports; recorded is the first of each folder

Exit status: 0 within the bounds, 1 beyond them, 2 a file is not a whole export of this model.
Needs PyTorch and transformers. Cross-entropy is taken from the logits: the loss that `labels=` gives is shifted by one.
"""
import argparse
import contextlib
import json
import os
import sys

try:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
except ImportError as missing:
    sys.exit(f"verify_hf: {missing.name} is not installed (pip install torch transformers)")

import hf_reference
from export_file import Malformed, read_export
from torch_reference import run_steps
from verify_torch import describe, errors, judge, neighbours, print_tensors, rounding_type, take, without_sign, worst_of

# Largest relative error allowed; what is not listed is printed without a bound.
BOUNDS = {
    "fp32": {"loss": 1e-6, "logits": 1e-5, "grad": 1e-5, "updated": 3e-5},
    "tf32": {"grad": 5e-3},
    "bf16": {"loss": 3e-2, "grad": 3e-2, "updated": 3e-2},
    "fp16": {"loss": 3e-2, "grad": 3e-2, "updated": 3e-2},
}
# Softmax does not change when the same number is added to all scores of a query: where keys are not rotated, their bias
# has no gradient but rounding. GPT-2 and NeoX keep it in one tensor with the biases of q and v.
ZEROS = ("c_attn.bias", "query_key_value.bias")
DROPOUTS = ("attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop")


def build(folder, device):
    """The model of the folder's configuration, in float64, without dropout."""
    config = AutoConfig.from_pretrained(folder)
    config.use_cache = False
    for name in DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").double()
    model.tie_weights()
    return model.to(device).train()


def load(model, initial):
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(initial[name])


def name_as_in_model(model, tensors):
    for name, _ in model.named_parameters():
        other = hf_reference.name_in_file(model.config.model_type, name)
        for kind in ("param", "grad", "updated") if other != name else ():
            if f"{kind}.{other}" in tensors:
                tensors[f"{kind}.{name}"] = tensors.pop(f"{kind}.{other}")


def initial_parameters(model, tensors):
    """The export's parameters by their names in the model: all of them, and no others."""
    name_as_in_model(model, tensors)
    expected = {name: tuple(value.shape) for name, value in model.named_parameters()}
    others = {name[len("param."):] for name in tensors if name.startswith("param.")} - set(expected)
    if others:
        raise Malformed(f"the model has no {', '.join(sorted(others))}")
    return {name: take(tensors, f"param.{name}", shape) for name, shape in expected.items()}


def run_hf(model, initial, tokens, targets, how, dtype=torch.float64, autocast=None):
    """What the export holds, computed by `model` from these parameters."""
    model.to(dtype)
    load(model, initial)
    precision = torch.autocast(tokens.device.type, autocast) if autocast else contextlib.nullcontext()

    def logits_of():
        with precision:
            return model(input_ids=tokens, use_cache=False).logits.to(dtype)

    return run_steps(dict(model.named_parameters()), logits_of, targets, how)


def rounding_alone(model, initial, tokens, targets, how):
    """Every tensor's error when transformers computes in this precision, the worst of several steps beside this one."""
    worst = {}
    wide = {name: value.to(tokens.device).double() for name, value in initial.items()}
    narrow = rounding_type(how["precision"])
    for near in neighbours(wide, narrow):
        reference = run_hf(model, near, tokens, targets, how)
        rounded = run_hf(model, near, tokens, targets, how, torch.float32, None if narrow == torch.float32 else narrow)
        for name, error in errors(rounded, reference, how):
            worst[name] = max(worst.get(name, 0), error or 0)
    return worst


def check_weights(folder, initial):
    """The parameters are those of the folder's file, to the bit where it is in float32."""
    path = os.path.join(folder, "model.safetensors")
    if not os.path.exists(path):
        return
    for name, value in read_export(path)[1].items():
        if name in initial and not torch.equal(value.float(), initial[name].float()):
            raise Malformed(f"param.{name} is not what {path} has")


# ---- recorded references ----

def digests(name, initial, reference, rounding):
    """Of one tensor: its gradient, and what the optimizer added but where the gradient's sign is rounding; and what
    rounding alone makes of the gradient in each precision."""
    most = 1 if name.endswith(ZEROS) else 1e-3
    gradient = reference[f"grad.{name}"]
    free = without_sign(gradient, most).flatten().nonzero().flatten().tolist()
    moved = hf_reference.moved(initial[name].double().flatten().tolist(), reference[f"updated.{name}"].flatten().tolist(), free)
    return {"shape": list(gradient.shape), "free": free,
            "grad": [float(f"{x:.10g}") for x in hf_reference.digest(gradient.flatten().tolist())],
            "update": [float(f"{x:.10g}") for x in hf_reference.digest(moved)],
            "rounding": {precision: float(f"{found[f'grad.{name}']:.2g}") for precision, found in rounding.items()}}


def record(path, folder, metadata, initial, reference, how, rounding):
    if how["mode"] != "train":
        raise Malformed(f"only an export of mode train is recorded, not of {how['mode']}")
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config.pop("transformers_version", None)
    in_file = {name: hf_reference.name_in_file(config["model_type"], name) for name in initial}
    for name, value in initial.items():
        made = torch.tensor(hf_reference.make_weights(in_file[name], tuple(value.shape)).tolist()).reshape(value.shape)
        if not torch.equal(made, value.cpu().float()):
            raise Malformed(f"param.{name} is not what tools/make_hf.py makes: only those can be recorded")
    hf_reference.write_reference(path, {
        "name": os.path.basename(os.path.normpath(folder)), "config": config,
        **{name: int(metadata[name]) for name in ("batch", "ctx", "steps", "seed")},
        "lr": how["lr"], "loss": float(f"{reference['loss'].item():.12g}"),
        "tensors": {in_file[name]: digests(name, initial, reference, rounding) for name in initial}})


# ---- the program ----

def verify(args, path, folder, recording):
    metadata, tensors = read_export(path)
    dim, how = describe(metadata)
    if how["precision"] == "fp8":
        raise Malformed("a step in fp8, which this program does not recompute")
    how["zeros"] = ZEROS
    model = build(folder, args.device)
    initial = initial_parameters(model, tensors)
    if how["mode"] != "fwd" or how["precision"] in ("fp32", "tf32"):  # otherwise weights are rounded
        check_weights(folder, initial)
    tokens, targets = (take(tensors, name, (dim["batch"], dim["ctx"])).to(args.device).long() for name in ("tokens", "targets"))
    reference = run_hf(model, initial, tokens, targets, how)
    found = list(errors(tensors, reference, how))
    if recording:
        rounding = {precision: rounding_alone(model, initial, tokens, targets, {**how, "precision": precision})
                    for precision in ("fp32", "bf16")}
        record(args.record, folder, metadata, initial, reference, how, rounding)
    verdicts = judge(found, BOUNDS[how["precision"]], lambda: rounding_alone(model, initial, tokens, targets, how))
    print_tensors(found, verdicts, not args.all)
    failed = any("FAILED" in verdict for verdict in verdicts.values())
    worst = worst_of(found)
    print(f"{path}: {'FAILED' if failed else 'ok'}: {metadata.get('architecture', '-')}, {how['precision']}, {metadata.get('exec', '-')}, "
          f"attention {metadata.get('attention', '-')}, {how['mode']}, {how['steps']} steps: "
          + ", ".join(f"{kind} {error:.1e}" for kind, (error, _) in worst.items()), flush=True)
    for kind, (error, name) in worst.items():
        print(f"worst {kind:8s} {error:10.3e}  {verdicts[name]}  ({name})")
    return 1 if failed else 0


def verify_or_tell(args, path, folder, recording):
    try:
        return verify(args, path, folder, recording)
    except (OSError, Malformed, KeyError) as error:
        print(f"verify_hf: {path}: {error}", file=sys.stderr)
        return 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", metavar="FILE FOLDER", nargs="+", help="an export, and the folder of its model")
    parser.add_argument("--all", action="store_true", help="a line for every tensor")
    parser.add_argument("--device", default="cpu", help="where the reference is computed: cpu, cuda (cpu)")
    parser.add_argument("--record", metavar="REFERENCES", help="put digests of the reference into this file")
    args = parser.parse_args()
    if len(args.pairs) % 2:
        parser.error("each FILE goes with a FOLDER")
    worst, recorded = 0, set()
    for path, folder in zip(args.pairs[::2], args.pairs[1::2]):
        worst = max(worst, verify_or_tell(args, path, folder, bool(args.record) and folder not in recorded))
        recorded.add(folder)
    return worst


if __name__ == "__main__":
    sys.exit(main())
