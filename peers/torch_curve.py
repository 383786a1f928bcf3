"""Follows a loss curve of `roofstep precision --curve N`: the same start, batches and learning rates, in PyTorch.

What it tells is what src/bench/study/curve_cell.h says. Used by torch_bench.py.
"""
import math

import torch

from curve_file import Malformed

# Modules of torch_step.Model by the names that parameters have in files.
OUTSIDE = {"token_embedding": "embedding", "ln_final": "ln", "lm_head": "head"}
INSIDE = {"ln1": "ln1", "ln2": "ln2", "attn.q_proj": "q", "attn.k_proj": "k", "attn.v_proj": "v", "attn.output_proj": "o",
          "ffn.w1": "w1", "ffn.w2": "w2", "ffn.w3": "w3"}
STEPS = 10  # after which a curve is said to diverge


def module_of(name):
    if name in OUTSIDE:
        return OUTSIDE[name]
    layers, _, rest = name.partition(".")
    layer, _, part = rest.partition(".")
    return f"blocks.{layer}.{INSIDE[part]}" if layers == "layers" and part in INSIDE else name


def load(model, file):
    """Every parameter of the model is that of the file."""
    own = dict(model.named_parameters())
    files = {module_of(name) + ".weight": name for name in file.names()}
    if set(files) != set(own):
        raise Malformed(f"{file.path}: other parameters than the model's: {', '.join(sorted(set(files) ^ set(own))[:4])}")
    with torch.no_grad():
        for name, parameter in own.items():
            data, shape = file.read("param." + files[name], "F32")
            if shape != list(parameter.shape):
                raise Malformed(f"{file.path}: {files[name]} is {shape}, the model's is {list(parameter.shape)}")
            parameter.copy_(torch.frombuffer(data, dtype=torch.float32).view(shape))


class Curve:
    def __init__(self, args, step, file):
        self.args, self.step, self.file = args, step, file
        load(step.model, file)
        data, shape = file.read("tokens", "I32")
        if shape != [args.steps * args.batch, args.ctx + 1]:
            raise Malformed(f"{file.path}: tokens are {shape} for {args.steps} steps of {args.batch} x {args.ctx}")
        self.tokens = torch.frombuffer(data, dtype=torch.int32).view(args.steps, args.batch, args.ctx + 1).to(args.device)
        if int(self.tokens.min()) < 0 or int(self.tokens.max()) >= args.vocab:
            raise Malformed(f"{file.path}: tokens outside the vocabulary of {args.vocab}")
        self.losses = torch.empty(args.steps, dtype=torch.float64, device=args.device)
        self.done = 0  # steps
        self.skipped = []  # of each step: the scaler skipped it

    def take(self, number):
        step, rows = self.step, self.tokens[number].long()
        step.micro_batches = [(rows[:, :-1].contiguous(), rows[:, 1:].contiguous())]
        for group in step.optimizer.param_groups:
            group["lr"] = self.args.lr * min((number + 1) / self.file.warmup, 1)
        scale = step.scaler.get_scale() if step.scaler else 0
        step.whole()
        self.skipped.append(step.scaler is not None and step.scaler.get_scale() < scale)
        self.losses[number] = step.loss.detach()

    def train(self, out):
        """A GPU is waited for every ten steps. A loss that is no number is the last: nothing comes back from there."""
        every = 10 if self.step.cuda else 1
        for number in range(self.args.steps):
            self.take(number)
            if (number + 1) % every and number + 1 < self.args.steps:
                continue
            ended = not torch.isfinite(self.losses[self.done:number + 1]).all()
            self.done = number + 1
            out.send(stage="training step", done=self.done, of=self.args.steps)
            if ended:
                break

    def facts(self):
        losses = self.losses[:self.done].tolist()
        bad = next((i for i, loss in enumerate(losses) if not math.isfinite(loss)), len(losses))
        losses, last = losses[:bad + 1], self.file.last
        whole = bad == self.args.steps
        skipped = self.skipped[:len(losses)]
        moved = max((i + 1 for i, was in enumerate(skipped) if not was), default=0)  # the last step that was not
        shown = [loss if math.isfinite(loss) else None for loss in losses]
        curve = {"losses": shown + [None] * (self.args.steps - len(shown)), "warmup": self.file.warmup, "last": last,
                 "mean": mean(losses[-last:]) if whole else None, "diverged_at": diverged_at(losses, moved),
                 "text": {**self.file.text, "used": len(losses) * self.args.batch}}
        return {"curve": curve, "skipped_steps": sum(skipped)}


def mean(losses):
    return sum(losses) / len(losses)


def diverged_at(losses, moved):
    """The first step whose loss is no number, after which the mean of ten is 1 above its lowest, or from which on ten or
    more are skipped; 0: none."""
    lowest = math.inf
    stuck = moved if len(losses) - moved >= STEPS else len(losses)
    for i, loss in enumerate(losses):
        if i == stuck or not math.isfinite(loss):
            return i + 1
        if i + 1 < STEPS:
            continue
        now = mean(losses[i + 1 - STEPS:i + 1])
        if now > lowest + 1:
            return i + 1
        lowest = min(lowest, now)
    return 0
