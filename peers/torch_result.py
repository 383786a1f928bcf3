"""Where the results of torch_bench.py go: a pipe, message by message, or one JSON object."""
import json
import math
import os
import statistics

DIMENSIONS = ("d_model", "d_ff", "num_layers", "num_heads")
PHASES = ("forward", "backward", "optimizer")
EXECS = {"eager": "eager", "compile": "fused", "best": "fused", "graphs": "graph",
         "efficient": "eager", "flash": "eager", "cudnn": "eager"}
ATTENTION_OF = {"eager": "naive", "compile": "naive", "best": "fused", "graphs": "fused",
                "efficient": "flash", "flash": "flash", "cudnn": "cudnn"}


class Unsupported(Exception):
    pass


class Messages:
    """Sends what is found, as it is found, to the process that started this one."""

    def __init__(self, descriptor):
        self.file = os.fdopen(descriptor, "w", buffering=1)

    def send(self, **message):
        self.file.write(json.dumps(message) + "\n")


class Result:
    """Collects the same messages into one result."""

    def __init__(self, args):
        names = ("d_head", "heads", "mask") if args.subject == "attention" else ("size", *DIMENSIONS, "vocab", "accumulate")
        self.record = {name: getattr(args, name) for name in (*names, "ctx", "batch", "device", "precision", "mode")}
        self.record.update(attention=ATTENTION_OF[args.variant], exec=EXECS[args.variant], peer="torch", variant=args.variant,
                           warmup=args.warmup, steps=args.steps, seed=args.seed, lr=args.lr, clip=args.clip,
                           loss_scale=args.loss_scale, status="failed", message=None)
        if args.curve:
            self.record["curve_steps"] = args.steps
        self.samples = {}

    def send(self, **message):
        self.record.update(message.get("facts", {}))
        for name, seconds in message.get("sample", {}).items():
            self.samples.setdefault(name, []).append(seconds * 1e3)
        if "end" in message:
            self.record.update(status=message["end"], message=message.get("message"))

    def finish(self):
        for name in (*PHASES, "step"):
            if name in self.samples:
                gpu = self.samples.get("gpu_" + name)
                self.record[name] = {**summary(self.samples[name]), "status": "ok"}
                if gpu:
                    self.record[name].update(gpu_mean_ms=statistics.mean(gpu), gpu_std_ms=spread(gpu))
        if "step" in self.record:
            tokens = self.record.get("accumulate", 1) * self.record["batch"] * self.record["ctx"]
            self.record["tokens_per_s"] = tokens / (self.record["step"]["mean_ms"] * 1e-3)
        return self.record


def spread(samples):
    return statistics.stdev(samples) if len(samples) > 1 else None


def summary(ms):
    mean, std = statistics.mean(ms), spread(ms)
    half = student_t(len(ms) - 1) * std / math.sqrt(len(ms)) if std is not None else None
    return {"mean_ms": mean, "std_ms": std, "min_ms": min(ms), "max_ms": max(ms), "median_ms": statistics.median(ms),
            "ci95_low_ms": mean - half if std is not None else None,
            "ci95_high_ms": mean + half if std is not None else None, "samples_ms": ms}


def student_t(n):
    """The 97.5 % point of Student's t with n degrees of freedom, from its distribution (Abramowitz & Stegun 26.7)."""
    def inside(t):
        angle = math.atan2(t, math.sqrt(n))
        term = total = math.cos(angle) if n % 2 else 1.0
        for k in range(3 if n % 2 else 2, n, 2):
            term *= (k - 1) / k * math.cos(angle) ** 2
            total += term
        if n % 2 == 0:
            return total * math.sin(angle)
        return 2 / math.pi * (angle + (total * math.sin(angle) if n > 1 else 0))

    low, high = 0.0, 100.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 0.95 else (low, middle)
    return low
