#!/usr/bin/env python3
"""The PyTorch twin of `roofstep bench`: the same model and step, timed the same way.

    peers/torch_bench.py --size small --ctx 512 --precision bf16 --variant graphs

Prints one result as JSON, with the names of docs/formats.md and "peer": "torch". Variants:

    eager    attention written out, one kernel per operation
    compile  the same under torch.compile
    best     scaled_dot_product_attention, torch.compile, fused AdamW
    graphs   best, replayed from CUDA graphs

With --subject attention the twin of `roofstep attention`; eager and compile as above, and of
scaled_dot_product_attention, each alone: efficient, flash, cudnn.

`roofstep bench --peer torch` runs this with --messages FD and reads what it sends (src/bench/measure/cell_link.h).
Needs PyTorch 1.13 or newer; every variant but eager needs 2.0. What cannot run here is a result, too:
its status is `unsupported` or `oom`, and the exit status is 0.
"""
import argparse
import contextlib
import json
import math
import os
import resource
import statistics
import sys
import time

SIZES = {  # d_model, d_ff, num_layers, num_heads
    "tiny": (512, 1344, 4, 16), "small": (768, 3072, 12, 12), "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20), "xl": (1600, 6400, 48, 25), "2.7B": (2560, 10240, 32, 32),
    "10B": (4608, 12288, 50, 36),
}
DIMENSIONS = ("d_model", "d_ff", "num_layers", "num_heads")
PHASES = ("forward", "backward", "optimizer")
EXECS = {"eager": "eager", "compile": "fused", "best": "fused", "graphs": "graph",
         "efficient": "eager", "flash": "eager", "cudnn": "eager"}
ATTENTION_OF = {"eager": "naive", "compile": "naive", "best": "fused", "graphs": "fused",
                "efficient": "flash", "flash": "flash", "cudnn": "cudnn"}
VARIANTS = {"model": ("eager", "compile", "best", "graphs"),
            "attention": ("eager", "compile", "efficient", "flash", "cudnn")}
MIB = 2.0**20


class Unsupported(Exception):
    pass


try:
    import torch
    import torch.nn.functional as F
    from torch import nn
    import torch_blas
except ImportError:
    torch = None


# ---- where results go ----

class Messages:
    """Sends what is found, as it is found, to the process that started this one."""

    def __init__(self, descriptor):
        self.file = os.fdopen(descriptor, "w", buffering=1)

    def send(self, **message):
        self.file.write(json.dumps(message) + "\n")


class Result:
    """Collects the same messages into one result."""

    def __init__(self, args):
        names = ("d_head", "heads", "mask") if args.subject == "attention" else ("size", *DIMENSIONS, "vocab")
        self.record = {name: getattr(args, name) for name in (*names, "ctx", "batch", "device", "precision", "mode")}
        self.record.update(attention=ATTENTION_OF[args.variant], exec=EXECS[args.variant], peer="torch", variant=args.variant,
                           warmup=args.warmup, steps=args.steps, seed=args.seed, lr=args.lr, clip=args.clip,
                           loss_scale=args.loss_scale, status="failed", message=None)
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
            tokens = self.record["batch"] * self.record["ctx"]
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


# ---- the model ----

def written_out(q, k, v, future):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if future is not None:
        scores = scores.masked_fill(future, -math.inf)
    return scores.softmax(-1).to(v.dtype) @ v


def define_model():
    """The classes; inside a function because torch may be absent."""

    class RMSNorm(nn.Module):
        def __init__(self, C):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(C))

        def forward(self, x):
            wide = x.float()
            return (self.weight * wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)

    def turned(x, cos, sin):
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2).to(x.dtype)

    class Block(nn.Module):
        def __init__(self, C, D_ff, H, sdpa):
            super().__init__()
            self.H, self.sdpa = H, sdpa
            self.ln1, self.ln2 = RMSNorm(C), RMSNorm(C)
            self.q, self.k, self.v, self.o = (nn.Linear(C, C, bias=False) for _ in range(4))
            self.w1, self.w3 = (nn.Linear(C, D_ff, bias=False) for _ in range(2))
            self.w2 = nn.Linear(D_ff, C, bias=False)

        def attention(self, x, cos, sin, future):
            B, T, C = x.shape
            q, k, v = (w(x).view(B, T, self.H, C // self.H).transpose(1, 2) for w in (self.q, self.k, self.v))
            q, k = turned(q, cos, sin), turned(k, cos, sin)
            if self.sdpa:
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                y = written_out(q, k, v, future)
            return self.o(y.transpose(1, 2).reshape(B, T, C))

        def forward(self, x, cos, sin, future):
            x = x + self.attention(self.ln1(x), cos, sin, future)
            h = self.ln2(x)
            return x + self.w2(F.silu(self.w1(h)) * self.w3(h))

    class Model(nn.Module):
        def __init__(self, args, sdpa):
            super().__init__()
            C, D, T = args.d_model, args.d_model // args.num_heads, args.ctx
            self.embedding = nn.Embedding(args.vocab, C)
            self.blocks = nn.ModuleList(Block(C, args.d_ff, args.num_heads, sdpa) for _ in range(args.num_layers))
            self.ln, self.head = RMSNorm(C), nn.Linear(C, args.vocab, bias=False)
            angle = torch.outer(torch.arange(T).double(), 10000.0 ** (-torch.arange(0, D, 2).double() / D))
            self.register_buffer("cos", angle.cos().float())
            self.register_buffer("sin", angle.sin().float())
            self.register_buffer("future", None if sdpa else torch.ones(T, T, dtype=torch.bool).triu(1))
            for module in self.modules():
                if isinstance(module, (nn.Linear, nn.Embedding)):
                    std = 1.0 if isinstance(module, nn.Embedding) else math.sqrt(2 / sum(module.weight.shape))
                    nn.init.trunc_normal_(module.weight, 0, std, -3 * std, 3 * std)

        def forward(self, tokens):
            x = self.embedding(tokens)
            for block in self.blocks:
                x = block(x, self.cos, self.sin, self.future)
            return self.head(self.ln(x))

    return Model


# ---- the step ----

class Step:
    """Model, optimizer and one batch; run(phase) is one phase of a step."""

    def __init__(self, args):
        self.args, self.cuda = args, args.device.startswith("cuda")
        strong = args.variant in ("best", "graphs")
        torch.manual_seed(args.seed)
        with torch.device(args.device) if hasattr(torch.device, "__enter__") else contextlib.nullcontext():
            self.model = define_model()(args, strong)
        self.model.to(args.device)
        shape = (args.batch, args.ctx)
        self.tokens, self.targets = (torch.randint(args.vocab, shape, device=args.device) for _ in range(2))
        self.optimizer = self.make_optimizer(strong) if args.mode == "train" else None
        scaled = args.precision == "fp16" and args.mode == "train" and args.loss_scale != "none"
        self.scaler = self.make_scaler() if scaled else None
        self.loss_of = self.compiled(self.make_loss())
        self.loss = None

    def make_optimizer(self, strong):
        how = dict(lr=self.args.lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
        if strong:
            with contextlib.suppress(RuntimeError, TypeError):  # on a CPU only newer versions have it
                return torch.optim.AdamW(self.model.parameters(), fused=True, **how)
        return torch.optim.AdamW(self.model.parameters(), **how)

    def make_scaler(self):
        fixed = self.args.loss_scale != "dynamic"
        how = {"init_scale": float(self.args.loss_scale), "growth_interval": 2**30} if fixed else {}
        home = getattr(torch, "amp", None)
        return home.GradScaler("cuda", **how) if hasattr(home, "GradScaler") else torch.cuda.amp.GradScaler(**how)

    def compiled(self, function):
        if self.args.variant == "eager":
            return function
        return torch.compile(function, mode="reduce-overhead" if self.args.variant == "graphs" else None)

    def make_loss(self):
        """A plain function of plain names, which torch.compile takes whole."""
        dtype = torch.float16 if self.args.precision == "fp16" else torch.bfloat16
        autocast = torch.autocast("cuda" if self.cuda else "cpu", dtype=dtype,
                                  enabled=self.args.precision in ("bf16", "fp16"))
        model = self.model

        def loss_of(tokens, targets):
            with autocast:
                logits = model(tokens)
            return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

        return loss_of

    def forward(self):
        if self.args.variant == "graphs" and hasattr(getattr(torch, "compiler", None), "cudagraph_mark_step_begin"):
            torch.compiler.cudagraph_mark_step_begin()
        with torch.no_grad() if self.args.mode == "fwd" else contextlib.nullcontext():
            self.loss = self.loss_of(self.tokens, self.targets)

    def backward(self):
        if self.args.mode == "fwd_bwd":  # the optimizer does it otherwise
            self.model.zero_grad(set_to_none=True)
        (self.scaler.scale(self.loss) if self.scaler else self.loss).backward()

    def optimize(self):
        if self.scaler and self.args.clip > 0:
            self.scaler.unscale_(self.optimizer)
        if self.args.clip > 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def parts(self):
        count = {"fwd": 1, "fwd_grad": 1, "fwd_bwd": 2, "train": 3}[self.args.mode]
        return list(zip(PHASES, (self.forward, self.backward, self.optimize)))[:count]

    def whole(self):
        for _, part in self.parts():
            part()

    def facts(self):
        loss = self.loss.item()
        return {"loss": loss if math.isfinite(loss) else None,
                "parameters": sum(p.numel() for p in self.model.parameters())}


class AttentionAlone:
    """q, k, v and the gradient of the result, drawn at random."""

    def __init__(self, args):
        self.args, self.cuda = args, args.device.startswith("cuda")
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision, torch.float32)
        shape = (args.batch, args.heads, args.ctx, args.d_head)
        torch.manual_seed(args.seed)
        self.q, self.k, self.v, self.dout = (torch.randn(shape, device=args.device, dtype=dtype) for _ in range(4))
        for operand in (self.q, self.k, self.v):
            operand.requires_grad_(args.mode != "fwd")
        self.attend = self.make_attention()
        self.out = self.saved_mib = None

    def make_attention(self):
        causal, variant = self.args.mask == "causal", self.args.variant
        if variant in ("eager", "compile"):
            T = self.args.ctx
            future = torch.ones(T, T, dtype=torch.bool, device=self.args.device).triu(1) if causal else None
            attend = torch.compile(written_out, dynamic=False) if variant == "compile" else written_out
            return lambda q, k, v: attend(q, k, v, future)
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
        except ImportError:
            raise Unsupported(f"variant {variant} needs PyTorch 2.3, this is {torch.__version__}") from None
        backend = {"efficient": SDPBackend.EFFICIENT_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
                   "cudnn": SDPBackend.CUDNN_ATTENTION}[variant]

        def attend(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return attend

    def forward(self):
        with torch.no_grad() if self.args.mode == "fwd" else contextlib.nullcontext():
            self.out = self.attend(self.q, self.k, self.v)

    def backward(self):
        if self.cuda and self.saved_mib is None:
            self.saved_mib = torch.cuda.memory_allocated() / MIB
        for operand in (self.q, self.k, self.v):
            operand.grad = None
        self.out.backward(self.dout)

    def parts(self):
        return list(zip(PHASES, (self.forward, self.backward)))[:1 if self.args.mode in ("fwd", "fwd_grad") else 2]

    def whole(self):
        for _, part in self.parts():
            part()

    def facts(self):
        return {"mem_before_bwd_mib": self.saved_mib} if self.saved_mib else {}


# ---- measuring ----

class Clock:
    """Times one piece of work by the wall and, on a GPU, by its own clock."""

    def __init__(self, device):
        self.device = device if device.startswith("cuda") else None
        self.marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if self.device else None

    def time(self, name, work):
        start = time.perf_counter()
        if not self.device:
            work()
            return {name: time.perf_counter() - start}
        self.marks[0].record()
        work()
        self.marks[1].record()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        return {name: seconds, "gpu_" + name: self.marks[0].elapsed_time(self.marks[1]) * 1e-3}


class Meanwhile:
    """Who had the processors from now on, in percent of their time: other programs, other virtual machines
    (src/bench/measure/interference.c)."""

    def __init__(self):
        self.ticks, self.own = self.read()

    @staticmethod
    def read():
        with open("/proc/stat") as stat:
            user, nice, system, idle, iowait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
        used = resource.getrusage(resource.RUSAGE_SELF)
        total = user + nice + system + idle + iowait + irq + softirq + steal
        return (total, idle + iowait, steal), used.ru_utime + used.ru_stime

    def facts(self, cuda):
        """Nothing of less than half a second: the kernel counts in hundredths. Others matter where the processors compute."""
        ticks, own = self.read()
        total, idle, steal = (now - then for now, then in zip(ticks, self.ticks))
        per_second = os.sysconf("SC_CLK_TCK")
        if total < 0.5 * per_second:
            return {}
        others = total - idle - steal - (own - self.own) * per_second
        found = {"stolen_percent": 100 * max(steal, 0) / total}
        return found if cuda else {"others_percent": 100 * max(others, 0) / total, **found}


def warm_up(args, step, clock, out):
    """Peaks of memory count from the second step on: it has the optimizer's moments, and records the CUDA graphs. What a
    graph holds PyTorch counts while that is recorded, and not when it is replayed."""
    warmup = max(args.warmup, 1)
    for i in range(warmup):
        out.send(stage="warm-up" if i else "first step", done=i + 1, of=warmup)
        seconds = clock.time("step", step.whole)["step"]
        if i > 0:
            continue
        out.send(facts={"cold_step_ms": seconds * 1e3})
        if step.cuda:
            torch.cuda.reset_peak_memory_stats()


def measure(args, step, out):
    clock = Clock(args.device)
    warm_up(args, step, clock, out)
    meanwhile = Meanwhile()
    for i in range(args.steps):
        out.send(stage="step", done=i + 1, of=args.steps)
        sample, start = {}, time.perf_counter()
        for name, part in step.parts():
            sample.update(clock.time(name, part))
        if not step.cuda:
            sample["step"] = time.perf_counter() - start
        out.send(sample=sample)
    for i in range(args.steps if step.cuda else 0):  # as a training loop runs it: nobody waits between phases
        out.send(stage="unbroken step", done=i + 1, of=args.steps)
        out.send(sample=clock.time("step", step.whole))
    out.send(facts=meanwhile.facts(step.cuda))


def facts(args, step):
    found = {"measured_mode": args.mode, **step.facts()}
    if step.cuda:
        found["peak_alloc_mib"] = torch.cuda.max_memory_allocated() / MIB
        found["peak_reserved_mib"] = torch.cuda.max_memory_reserved() / MIB
    return found


def product(args):
    """dtype and shape of a product as the step has them: of the feed-forward layer, or of attention's scores."""
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision, torch.float32)
    if args.subject == "attention":
        return dtype, (args.ctx, args.d_head, args.ctx)
    return dtype, (args.batch * args.ctx, args.d_model, args.d_ff)


def blas_facts(args):
    """OpenBLAS knows processors by their model number, and takes one that is newer for one of 2004."""
    if args.device.startswith("cuda"):
        return {"blas": None}
    facts = torch_blas.facts(*product(args))
    if args.blas_tried:
        facts["blas_tried"] = args.blas_tried
    with open("/proc/cpuinfo") as cpuinfo:
        features = cpuinfo.read()
    if "Prescott" in (facts["blas"] or "") and "avx2" in features:
        core = "SkylakeX" if "avx512f" in features else "Haswell"
        facts["warnings"] = [f"PyTorch's OpenBLAS does not know this processor and is several times slower than it could be: compare with OPENBLAS_CORETYPE={core} in the environment too"]
    return facts


def trial(args):
    """The step of one layer, uncompiled: the least of a few, in seconds."""
    args.variant, args.num_layers = "eager", 1
    step = AttentionAlone(args) if args.subject == "attention" else Step(args)
    step.whole()
    times, end = [], time.perf_counter() + 2
    while len(times) < 5 and (not times or time.perf_counter() < end):
        start = time.perf_counter()
        step.whole()
        times.append(time.perf_counter() - start)
    return min(times)


def check(args):
    if torch is None:
        raise Unsupported(f"{sys.executable} has no PyTorch")
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if args.variant in ("compile", "best", "graphs") and version < (2, 0):
        raise Unsupported(f"variant {args.variant} needs PyTorch 2, this is {torch.__version__}")
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        raise Unsupported(f"this PyTorch ({torch.__version__}) finds no GPU")
    if not args.device.startswith("cuda"):
        if args.variant == "graphs":
            raise Unsupported("variant graphs needs a GPU")
        if args.precision in ("tf32", "fp16"):
            raise Unsupported(f"PyTorch has no {args.precision} training on a CPU")


def set_up(args):
    if args.threads:
        torch.set_num_threads(args.threads)
    if args.device.startswith("cuda"):
        torch.cuda.set_device(args.device)
        torch.backends.cuda.matmul.allow_tf32 = args.precision == "tf32"
        torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    else:
        torch_blas.set_threads(torch.get_num_threads())
    torch.set_float32_matmul_precision("high" if args.precision == "tf32" else "highest")


def is_out_of_memory(error):
    kinds = [MemoryError]
    for home in (torch, torch.cuda):
        kinds += [home.OutOfMemoryError] if hasattr(home, "OutOfMemoryError") else []
    text = str(error)
    return isinstance(error, tuple(kinds)) or "out of memory" in text or "can't allocate memory" in text


def run(args, out):
    check(args)
    set_up(args)
    if not args.device.startswith("cuda"):
        torch_blas.choose(args.libblas, out, *product(args))
    out.send(stage="initial values", done=0, of=0)
    step = AttentionAlone(args) if args.subject == "attention" else Step(args)
    out.send(facts={"peer_version": torch.__version__, "device": args.device, "exec": EXECS[args.variant],
                    "attention": ATTENTION_OF[args.variant], "threads": torch.get_num_threads(), **blas_facts(args)})
    measure(args, step, out)
    out.send(facts=facts(args, step))


def one_line(error):
    """The first line; with the next one where it only announces that."""
    lines = (str(error).strip() or type(error).__name__).splitlines()
    return " ".join(lines[:2 if lines[0].endswith(":") else 1])[:300]


def run_and_tell(args, out):
    try:
        run(args, out)
        out.send(end="ok", message=None)
    except Unsupported as error:
        out.send(end="unsupported", message=str(error))
    except Exception as error:  # whatever it is, it is the result
        if torch is not None and is_out_of_memory(error):
            out.send(end="oom", message=one_line(error))
        elif "No available kernel" in str(error):
            out.send(end="unsupported", message=f"PyTorch has no {args.variant} attention for this precision and width")
        elif "primitive descriptor" in str(error):  # oneDNN, of a product this processor has no instructions for
            out.send(end="unsupported", message=f"this PyTorch has no {args.precision} products on this CPU")
        else:
            out.send(end="failed", message=f"{type(error).__name__}: {one_line(error)}")


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subject", default="model", choices=tuple(VARIANTS))
    parser.add_argument("--size", default="small", choices=[*SIZES, "custom"])
    for name in DIMENSIONS:
        parser.add_argument("--" + name.replace("_", "-"), type=positive)
    for name, default in (("vocab", 10000), ("ctx", 128), ("batch", 4), ("steps", 10), ("d-head", 64), ("heads", 1)):
        parser.add_argument("--" + name, type=positive, default=default)
    parser.add_argument("--mask", default="causal", choices=("causal", "full"))
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--precision", default="fp32", choices=("fp32", "tf32", "bf16", "fp16"))
    parser.add_argument("--mode", default="train", choices=("fwd", "fwd_grad", "fwd_bwd", "train"))
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--variant", default="eager", choices=tuple(EXECS))
    parser.add_argument("--threads", type=int, default=0, help="on a CPU; 0 for PyTorch's own choice")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--clip", type=float, default=0)
    parser.add_argument("--loss-scale", default="dynamic", help="of fp16: dynamic, none or a number")
    parser.add_argument("--libblas", metavar="FILE", help="the libblas.so.3 to multiply with; without it, on a CPU, the fastest that Debian's alternatives offer")
    parser.add_argument("--blas-tried", help=argparse.SUPPRESS)  # what the trials of them said
    parser.add_argument("--trial", action="store_true", help=argparse.SUPPRESS)  # is one of them
    parser.add_argument("--messages", type=int, metavar="FD", help="send to this file descriptor as it goes")
    args = parser.parse_args()
    if args.variant not in VARIANTS[args.subject]:
        parser.error(f"--variant {args.variant} is not one of {', '.join(VARIANTS[args.subject])}")
    given = [getattr(args, name) for name in DIMENSIONS]
    preset = SIZES.get(args.size, (None,) * 4)
    for name, own, default in zip(DIMENSIONS, given, preset):
        if own is None and default is None:
            parser.error(f"--size custom needs --{name.replace('_', '-')}")
        setattr(args, name, own or default)
    if any(own not in (None, default) for own, default in zip(given, preset)):
        args.size = "custom"
    if args.d_model % args.num_heads or args.d_model // args.num_heads % 2:
        parser.error(f"{args.num_heads} heads do not make heads of even width of {args.d_model}")
    if args.device == "auto":
        args.device = "cuda" if torch is not None and torch.cuda.is_available() else "cpu"
    if args.device == "cuda":  # set_device() wants a number
        args.device = "cuda:0"
    return args


def main():
    args = read_options()
    if args.trial:
        set_up(args)
        print(json.dumps({"seconds": trial(args)}))
        return 0
    if args.messages is not None:
        run_and_tell(args, Messages(args.messages))
        return 0
    result = Result(args)
    run_and_tell(args, result)
    print(json.dumps(result.finish()))
    return 0 if result.record["status"] in ("ok", "oom", "unsupported") else 1


if __name__ == "__main__":
    sys.exit(main())
