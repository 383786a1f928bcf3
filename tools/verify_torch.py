#!/usr/bin/env python3
"""Recomputes an export of `roofstep export` in PyTorch and prints the relative error of every tensor.

    tools/verify_torch.py FILE.safetensors...         reference in float64: only the export rounds
    tools/verify_torch.py --float32 FILE.safetensors  reference in plain PyTorch float32
    tools/verify_torch.py --device cuda FILE...       reference on a GPU: for large models
    tools/verify_torch.py --make FILE [--d-model 32]  writes such an export with PyTorch itself

Exit status: 0 within the bounds, 1 beyond them, 2 a file is not a whole export.
Needs PyTorch (1.13 or newer) and nothing else.
"""
import argparse
import math
import os
import sys

SYSTEM_PYTHON = "/usr/bin/python3"

try:
    import torch
except ImportError:
    # Debian's PyTorch belongs to Debian's Python, which may not be the first on the path.
    if os.path.exists(SYSTEM_PYTHON) and not os.environ.get("VERIFY_TORCH_AGAIN"):
        os.environ["VERIFY_TORCH_AGAIN"] = "1"
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
    sys.exit("verify_torch: PyTorch is not installed (Debian: apt-get install python3-torch; or pip install torch)")

from export_file import Malformed, read_export, write_export
from fp8_reference import GRADIENTS, Linears
from torch_reference import exact, run_model, shapes

DIMENSIONS = ("d_model", "d_ff", "num_layers", "num_heads", "vocab", "ctx", "batch")
# Largest relative error allowed; what is not listed is printed without a bound.
BOUNDS = {
    "fp32": {"loss": 1e-6, "logits": 1e-5, "grad": 1e-5, "updated": 3e-5},
    "tf32": {"grad": 5e-3},
    "bf16": {"grad": 3e-2},
    "fp16": {"grad": 1e-2},
    "fp8": {"grad": 3e-2},
}


# ---- checking ----

def loss_scale(metadata):
    """What the loss was multiplied with in the first step that was applied: each skipped one had halved it."""
    text = metadata.get("loss_scale", "none") if metadata["precision"] == "fp16" else "none"
    if text == "dynamic":
        return 2.0 ** (16 - int(metadata.get("skipped_steps", 0)))
    return 1.0 if text == "none" else float(text)


def describe(metadata):
    """The dimensions and the way the step was run, from the file's metadata. Skipped steps come on top of `steps`, all
    of which were applied."""
    try:
        dim = {name: int(metadata[name]) for name in DIMENSIONS}
        how = {"mode": metadata.get("mode", "train"), "precision": metadata["precision"],
               "steps": int(metadata["steps"]),
               "lr": float(metadata["lr"]), "clip": float(metadata.get("clip", 0)), "scale": loss_scale(metadata),
               "materialised": metadata.get("attention") in ("naive", "fused")}
    except (KeyError, ValueError) as error:
        raise Malformed(f"metadata: {type(error).__name__} {error}") from None
    if how["precision"] == "fp8":
        how["recipe"] = metadata.get("fp8_recipe")
        if how["recipe"] not in GRADIENTS:
            raise Malformed(f"metadata: fp8_recipe {how['recipe']}")
    if how["precision"] not in BOUNDS:
        raise Malformed(f"metadata: precision {how['precision']}")
    return dim, how


def take(tensors, name, shape):
    if name not in tensors:
        raise Malformed(f"tensor {name} is missing")
    if math.prod(tensors[name].shape) != math.prod(shape) or (shape and tensors[name].shape[-1] != shape[-1]):
        raise Malformed(f"tensor {name} is {list(tensors[name].shape)}, expected {list(shape)}")
    return tensors[name].reshape(shape)


# A gradient this small beside all others is 0 but for rounding (q and k of a single token, say).
NO_GRADIENT = 1e-12
# AdamW's first step is +-lr whatever the gradient's size. An element of a gradient this small beside the rest of its
# tensor may have either sign in float32 (gradients are held to 1e-5), so either step is right; few may be.
NO_SIGN = 1e-5
FEW = 1e-3


def norm(tensor):
    return tensor.double().norm().item()


def without_sign(gradient, most=FEW):
    """Elements that float32 may give either sign, if they are no more than this share. An exact 0 is no rounding: that
    element must not move, unless all may be 0 but for rounding (most 1)."""
    size = gradient.double().abs()
    signless = ((size > 0) | (most == 1)) & (size <= NO_SIGN * size.square().mean().sqrt())
    return signless if signless.sum() <= 1 + most * signless.numel() else torch.zeros_like(signless)


def errors(tensors, reference, how):
    """Yields name and ||ours - reference|| / ||reference|| of every tensor. A gradient that is 0 is held to the
    norm of all gradients instead, and what AdamW makes of its rounding is not compared (error None). In the tensors of
    how["zeros"] any number of elements may be 0 but for rounding."""
    scale = math.sqrt(sum(norm(v) ** 2 for k, v in reference.items() if k.startswith("grad."))) or 1.0
    for name, value in reference.items():
        kind, _, of = name.partition(".")
        gradient = reference.get(f"grad.{of}", torch.ones(1))
        difference = take(tensors, name, tuple(value.shape)).to(value.device, torch.float64) - value.double()
        null = norm(gradient) <= NO_GRADIENT * scale
        if kind == "updated" and not null:
            reachable = difference.abs() <= 2.01 * how["lr"] * how["steps"]
            most = 1 if of.endswith(how.get("zeros", ())) else FEW
            difference = difference.masked_fill(without_sign(gradient, most) & reachable, 0)
        yield name, None if null and kind == "updated" else norm(difference) / (scale if null else norm(value) or 1.0)


def worst_of(found):
    """The largest error of each kind of tensor, with the tensor's name."""
    worst = {}
    for name, error in found:
        kind = name.split(".")[0]
        if error is not None and (kind not in worst or not error <= worst[kind][0]):
            worst[kind] = (error, name)
    return worst


# ---- what no program of that precision can avoid ----

def rounding_type(precision):
    return {"bf16": torch.bfloat16, "fp8": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)


def stored_as(dtype, scale):
    """Rounds a tensor to `dtype`, and its gradient, which is `scale` times as large when it is stored."""
    class Stored(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            return x.to(dtype).to(x.dtype)

        @staticmethod
        def backward(_, gradient):
            return (gradient * scale).to(dtype).to(gradient.dtype) / scale

    return Stored.apply


NEIGHBOURS = 8


def neighbours(initial, dtype):
    """Parameters that differ from `initial` by no more than rounding them to `dtype` would change."""
    generator = torch.Generator().manual_seed(1)
    for _ in range(NEIGHBOURS):
        yield {name: value * (1 + torch.finfo(dtype).eps * (torch.rand(value.shape, generator=generator, dtype=value.dtype).to(value.device) - 0.5))
               for name, value in initial.items()}


def rounded_step(initial, tokens, targets, dim, how):
    """The step with no error but its precision's: PyTorch in float32, or float64 that stores in 16 bit what mixed
    precision does."""
    if how["precision"] in ("bf16", "fp16", "fp8"):
        stored = stored_as(rounding_type(how["precision"]), how["scale"])
        return run_model(initial, tokens, targets, dim, {**how, "linears": how.get("rounded", Linears())}, stored)
    return run_model({name: value.float() for name, value in initial.items()}, tokens, targets, dim, how)


def rounding_alone(initial, tokens, targets, dim, how):
    """Every tensor's error in such a step. Some models (two wide, thirty tokens deep) lose more than the bounds however
    they are computed; two programs round independently, so twice this is what an equally good one may show, as the bounds
    are twice what ordinary models lose. One step's roundings may cancel: this is the worst of several steps beside it."""
    worst = {}
    wide = {name: value.double() for name, value in initial.items()}
    for near in neighbours(wide, rounding_type(how["precision"])):
        reference = run_model(near, tokens, targets, dim, how)
        for name, error in errors(rounded_step(near, tokens, targets, dim, how), reference, how):
            worst[name] = max(worst.get(name, 0), error or 0)
    return worst


def judge(found, bounds, floor):
    """Every tensor's verdict. `floor` computes what rounding alone costs; it is asked where a bound is not enough."""
    verdicts, least = {}, None
    for name, error in found:
        bound = bounds.get(name.split(".")[0])
        if error is None or bound is None:
            verdicts[name] = "no gradient" if error is None else "no bound"
        elif error <= bound:
            verdicts[name] = f"bound {bound:g}: ok"
        else:
            least = least or floor()
            ok = math.isfinite(least[name]) and error <= 2 * least[name]
            verdicts[name] = f"bound {bound:g}: {'beyond, as is' if ok else 'FAILED;'} rounding alone ({least[name]:.3e})"
    return verdicts


def print_tensors(found, verdicts, brief):
    """A line per tensor; when brief, only those beyond their bound."""
    if not brief:
        print(f"{'tensor':40s} {'relative error':>14s}")
    for name, error in found:
        if not brief or "beyond" in verdicts[name] or "FAILED" in verdicts[name]:
            print(f"{name:40s} {'-' if error is None else format(error, '.3e'):>14s}  {verdicts[name]}")


def fp8_linears(metadata, tensors, own_scales):
    """What the export's linear layers did, with its own scales or with those that the recipe finds."""
    scales = {name: value for name, value in tensors.items() if name.startswith("scale.")}
    if any(value.dim() != 2 for value in scales.values()):
        raise Malformed("a step in fp8 of several micro-batches, which this program does not recompute")
    layers = metadata.get("fp8_layers", "all").replace("w1+", "w13+")
    return Linears(metadata["fp8_recipe"], scales if own_scales or metadata["fp8_recipe"] == "delayed" else None,
                   metadata.get("exec") != "eager", None if layers == "all" else layers.split("+"))


def fp8_beside(metadata, tensors, initial, tokens, targets, dim, how):
    """The largest error of a gradient against the step with the same roundings: the export's own scales. It is no smaller
    than fp8's own: a number that ends on the other side of a middle moves by 6 or 12 %, and moves others."""
    linears = fp8_linears(metadata, tensors, True)
    same = rounded_step(initial, tokens, targets, dim, {**how, "rounded": linears, "mode": "fwd_bwd"})
    error, name = worst_of(errors(tensors, same, how))["grad"]
    return f"worst grad     {error:10.3e}  against the same roundings with the export's scales  ({name})"


def verify(path, dtype, device, brief):
    metadata, tensors = read_export(path)
    dim, how = describe(metadata)
    expected = shapes(dim)
    initial = {name: take(tensors, f"param.{name}", shape).to(device, dtype) for name, shape in expected.items()}
    tokens, targets = (take(tensors, name, (dim["batch"], dim["ctx"])).to(device).long() for name in ("tokens", "targets"))
    for name, ids in (("tokens", tokens), ("targets", targets)):
        if ids.min() < 0 or ids.max() >= dim["vocab"]:
            raise Malformed(f"{name} outside the vocabulary of {dim['vocab']}")
    reference = run_model(initial, tokens, targets, dim, how)
    known = {"tokens", "targets", *reference, *(f"param.{name}" for name in expected)}
    if how["precision"] == "fp8":
        how["rounded"] = fp8_linears(metadata, tensors, False)
        known |= {name for name in tensors if name.startswith("scale.")}
    if set(tensors) - known:
        raise Malformed(f"unexpected tensors: {', '.join(sorted(set(tensors) - known))}")
    found = list(errors(tensors, reference, how))
    verdicts = judge(found, BOUNDS[how["precision"]], lambda: rounding_alone(initial, tokens, targets, dim, how))
    print_tensors(found, verdicts, brief)
    print(f"{path}: {how['precision']}, {metadata.get('exec', '-')}, {how['mode']}, {how['steps']} steps, against PyTorch {torch.__version__} in {str(dtype)[6:]}")
    for kind, (error, name) in worst_of(found).items():
        print(f"worst {kind:8s} {error:10.3e}  {verdicts[name]}  ({name})")
    if how["precision"] == "fp8" and how["mode"] in ("train", "fwd_bwd"):
        print(fp8_beside(metadata, tensors, initial, tokens, targets, dim, how))
    return 1 if any("FAILED" in verdict for verdict in verdicts.values()) else 0


def make(args):
    dim = {name: getattr(args, name) for name in DIMENSIONS}
    how = {"mode": args.mode, "steps": args.steps, "lr": 1e-3, "clip": args.clip,
           "precision": args.precision}
    torch.manual_seed(0)
    initial = {}
    for name, shape in shapes(dim).items():
        std = 1.0 if name == "token_embedding" else math.sqrt(2 / sum(shape))
        one = torch.ones(shape)
        initial[name] = one if len(shape) == 1 else torch.nn.init.trunc_normal_(one, 0, std, -3 * std, 3 * std)
    tokens, targets = (torch.randint(dim["vocab"], (dim["batch"], dim["ctx"])) for _ in range(2))
    tensors = {"tokens": tokens.int(), "targets": targets.int()}
    tensors.update({f"param.{name}": value for name, value in initial.items()})
    stored = exact if args.precision == "fp32" else stored_as(rounding_type(args.precision), 1)
    linears = Linears("current") if args.precision == "fp8" else Linears()
    tensors.update(run_model(initial, tokens, targets, dim, {**how, "linears": linears}, stored))
    tensors.update(linears.found)
    if args.spoil:
        tensors[args.spoil] = tensors[args.spoil] * args.spoil_by
    if args.turn:
        gradient = tensors[args.turn.replace("updated.", "grad.")].flatten()
        at = (gradient.abs() - gradient.square().mean().sqrt()).abs().argmin()
        tensors[args.turn].view(-1)[at] += 2 * how["lr"] * how["steps"] * gradient[at].sign()
    settings = {**dim, **how, "exec": "pytorch", **({"fp8_recipe": "current"} if args.precision == "fp8" else {})}
    write_export(args.file[0], {name: str(value) for name, value in settings.items()}, tensors)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+")
    parser.add_argument("--brief", action="store_true", help="only the worst tensor of each kind")
    parser.add_argument("--float32", action="store_true", help="reference in float32 instead of float64")
    parser.add_argument("--device", default="cpu", help="where the reference is computed: cpu, cuda (cpu)")
    parser.add_argument("--make", action="store_true", help="write FILE with PyTorch in float32 instead of checking it")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16", "fp8"), default="fp32",
                        help="with --make (fp32): what mixed precision stores in 16 bit is rounded so; fp8: recipe current")
    parser.add_argument("--spoil", metavar="TENSOR", help="with --make: that tensor is written too large")
    parser.add_argument("--spoil-by", type=float, default=1.001, help="with --spoil: so many times as large (1.001)")
    parser.add_argument("--turn", metavar="TENSOR", help="with --make: an updated tensor, one element of which went the other way")
    defaults = dict(d_model=32, d_ff=80, num_layers=2, num_heads=4, vocab=97, ctx=19, batch=3)
    for name, value in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value, help=f"with --make ({value})")
    parser.add_argument("--steps", type=int, default=3, help="with --make (3)")
    parser.add_argument("--clip", type=float, default=0, help="with --make (0: no clipping)")
    parser.add_argument("--mode", choices=("fwd", "fwd_grad", "fwd_bwd", "train"), default="train", help="with --make (train)")
    args = parser.parse_args()
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error(f"--device {args.device}: this PyTorch finds no GPU")
    dtype = torch.float32 if args.float32 else torch.float64
    worst = 0
    for path in args.file:
        try:
            worst = max(worst, make(args) if args.make else verify(path, dtype, args.device, args.brief))
        except (OSError, Malformed, KeyError) as error:
            print(f"verify_torch: {path}: {error}", file=sys.stderr)
            worst = 2
    return worst


if __name__ == "__main__":
    sys.exit(main())
