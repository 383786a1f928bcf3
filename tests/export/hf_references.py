#!/usr/bin/env python3
"""usage: hf_references.py PROGRAM [--quick] [REFERENCES]: exports of small models of every architecture against what
`transformers` computed in float64, recorded as digests by tools/verify-hf.sh. Loss, every gradient and what three steps
of the optimizer change; --quick: one precision and style for each model."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
sys.dont_write_bytecode = True

from hf_reference import digest, far, moved, read_floats, read_references, write_weights  # noqa: E402

# Of the loss and of gradients as the model's definition promises. Of what the optimizer adds, beside its own norm: Adam's
# first step is lr times a gradient's sign, and elements whose gradient is near 0 beside its rounding turn: one in a
# million of them in fp32, one in fifty in bf16, which makes a difference of 2 sqrt(1 / 50) = 0.28.
TOLERANCES = {"fp32": (1e-6, 1e-5, 2e-3), "bf16": (3e-2, 3e-2, 0.4)}
VARIANTS = [("fp32", "fused"), ("bf16", "eager"), ("fp32", "eager"), ("bf16", "fused")]


def export(program, folder, reference, precision, style):
    path = os.path.join(folder, "step.safetensors")
    options = {"model": folder, "device": "cpu", "threads": 1, "precision": precision, "exec": style, "out": path,
               **{name: reference[name] for name in ("batch", "ctx", "steps", "seed", "lr")}}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = subprocess.run([program, "export", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return read_floats(path)[1]


def compare(tensors, reference, precision):
    """Yields what is wrong."""
    loss_bound, gradient_bound, update_bound = TOLERANCES[precision]
    loss, expected = tensors["loss"][1][0], reference["loss"]
    if not abs(loss - expected) <= loss_bound * expected:
        yield f"loss {loss}, expected {expected}"
    names = {name[len("param."):] for name in tensors if name.startswith("param.")}
    if names != set(reference["tensors"]):
        yield f"other tensors: {sorted(names ^ set(reference['tensors']))}"
        return
    for name, record in reference["tensors"].items():
        shape, gradient = tensors[f"grad.{name}"]
        if shape != record["shape"]:
            yield f"{name} is {shape}, expected {record['shape']}"
            continue
        # Beyond the bound only where PyTorch in that precision is, too: two programs round independently.
        gradient_room = max(gradient_bound, 2 * record.get("rounding", {}).get(precision, 0))
        update = moved(tensors[f"param.{name}"][1], tensors[f"updated.{name}"][1], record["free"])
        for kind, values, bound in (("grad", gradient, gradient_room), ("update", update, update_bound)):
            distance = far(digest(values), record[kind], len(values), bound)
            if not distance <= 1:
                yield f"{kind} of {name}: {digest(values)}, expected {record[kind]}: {distance:.2f} times what is allowed"


def check(program, folder, reference, variants):
    failures = 0
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(reference["config"], file)
    write_weights(os.path.join(folder, "model.safetensors"),
                  {name: record["shape"] for name, record in reference["tensors"].items()})
    for precision, style in variants:
        try:
            wrong = list(compare(export(program, folder, reference, precision, style), reference, precision))
        except RuntimeError as error:
            wrong = [str(error)]
        for line in wrong:
            print(f"FAILED: {reference['name']} {precision} {style}: {line}")
        failures += bool(wrong)
    return failures


def main():
    words = [word for word in sys.argv[1:] if word != "--quick"]
    path = words[1] if len(words) > 1 else os.path.join(HERE, "hf_references.jsonl")
    if not os.path.exists(path):
        print(f"skipped: no {os.path.basename(path)} (tools/verify-hf.sh records it where transformers is installed)")
        return 77
    failures = count = 0
    for i, reference in enumerate(read_references(path)):
        variants = [VARIANTS[i % len(VARIANTS)]] if "--quick" in sys.argv else VARIANTS
        count += len(variants)
        with tempfile.TemporaryDirectory() as folder:
            failures += check(words[0], folder, reference, variants)
    print(f"{count} exports, {failures} failed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
