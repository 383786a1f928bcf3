#!/usr/bin/env python3
"""The PyTorch twin of `roofstep bench`: the same model and step, timed the same way.

    peers/torch_bench.py --size small --ctx 512 --precision bf16 --variant graphs

Prints one result as JSON, with the names of docs/formats.md and "peer": "torch". Variants:

    eager    attention written out, one kernel per operation
    compile  the same under torch.compile
    best     scaled_dot_product_attention, torch.compile, fused AdamW
    graphs   best, replayed from CUDA graphs

With --curve FILE it trains on the batches of a file that `roofstep precision --curve N --peer torch` makes, from the
parameters in it, and the result has every loss; the sizes, the steps, the learning rate and the seed are those of the file.

With --subject attention the twin of `roofstep attention`; eager and compile as above, and of
scaled_dot_product_attention, each alone: efficient, flash, cudnn.

`roofstep bench --peer torch` runs this with --messages FD and reads what it sends (src/bench/measure/cell_link.h).
Needs PyTorch 1.13 or newer; every variant but eager needs 2.0. What cannot run here is a result, too:
its status is `unsupported` or `oom`, and the exit status is 0.
"""
import argparse
import json
import os
import resource
import sys
import time

from curve_file import CurveFile, Malformed
from torch_result import ATTENTION_OF, DIMENSIONS, EXECS, Messages, Result, Unsupported

SIZES = {  # d_model, d_ff, num_layers, num_heads
    "tiny": (512, 1344, 4, 16), "small": (768, 3072, 12, 12), "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20), "xl": (1600, 6400, 48, 25), "2.7B": (2560, 10240, 32, 32),
    "10B": (4608, 12288, 50, 36),
}
VARIANTS = {"model": ("eager", "compile", "best", "graphs"),
            "attention": ("eager", "compile", "efficient", "flash", "cudnn")}

try:
    import torch
    import torch_blas
    import torch_ranks
    from torch_curve import Curve
    from torch_step import MIB, AttentionAlone, Step
except ImportError:
    torch = None


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


class Interference:
    """Shares of CPU time that other programs and other virtual machines take from now on, in percent
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


def measure(args, step, out, ranks):
    clock = Clock(args.device)
    warm_up(args, step, clock, out)
    interference = Interference()
    for i in range(args.steps):
        out.send(stage="step", done=i + 1, of=args.steps)
        sample, start = {}, time.perf_counter()
        for name, part in step.parts():  # those of micro-batches add up
            for series, seconds in clock.time(name, part).items():
                sample[series] = sample.get(series, 0) + seconds
        if not step.cuda:
            sample["step"] = time.perf_counter() - start
        out.send(sample=ranks.slowest(sample) if ranks else sample)
    for i in range(args.steps if step.cuda else 0):  # as a training loop runs it: nobody waits between phases
        out.send(stage="unbroken step", done=i + 1, of=args.steps)
        out.send(sample=clock.time("step", step.whole))
    if not ranks:  # those of other ranks are no other programs
        out.send(facts=interference.facts(step.cuda))


def facts(args, step):
    found = {"measured_mode": args.mode, **step.facts()}
    if step.cuda:
        found["peak_alloc_mib"] = torch.cuda.max_memory_allocated() / MIB
        found["peak_reserved_mib"] = torch.cuda.max_memory_reserved() / MIB
    return found


def gemm_of(args):
    """dtype and shape of a GEMM of the step: in the feed-forward layer, or of attention's scores."""
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision, torch.float32)
    if args.subject == "attention":
        return dtype, (args.ctx, args.d_head, args.ctx)
    return dtype, (args.batch * args.ctx, args.d_model, args.d_ff)


def blas_facts(args):
    """OpenBLAS knows processors by their model number, and takes one that is newer for one of 2004."""
    if args.device.startswith("cuda"):
        return {"blas": None}
    facts = torch_blas.facts(*gemm_of(args))
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
    if args.precision == "fp8":
        raise Unsupported("PyTorch trains in fp8 through torchao or TransformerEngine only: use bf16")
    if args.ranks > 1:
        torch_ranks.check(args)


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
    if not args.device.startswith("cuda") and not args.meet:  # other ranks multiply as the first one does
        torch_blas.choose(args.libblas, out, *gemm_of(args))
    if args.ranks == 1:
        run_step(args, out, None)
        return
    ranks = torch_ranks.Ranks(args)
    try:
        run_step(args, out, ranks)
    finally:
        ranks.close()


def run_step(args, out, ranks):
    out.send(stage="initial values", done=0, of=0)
    step = AttentionAlone(args) if args.subject == "attention" else Step(args, ranks)
    out.send(facts={"peer_version": torch.__version__, "device": args.device, "exec": EXECS[args.variant],
                    "attention": ATTENTION_OF[args.variant], "threads": torch.get_num_threads(), **blas_facts(args)})
    if args.curve:
        curve = Curve(args, step, args.curve_file)
        curve.train(out)
        out.send(facts=curve.facts())
    else:
        measure(args, step, out, ranks)
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
        elif "primitive descriptor" in str(error):  # oneDNN, where the CPU lacks the instructions
            out.send(end="unsupported", message=f"this PyTorch has no {args.precision} products on this CPU")
        else:
            out.send(end="failed", message=f"{type(error).__name__}: {one_line(error)}")


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def take_curve(args, parser):
    if args.mode != "train" or args.subject != "model" or args.model_config or args.ranks > 1 or args.accumulate > 1:
        parser.error("--curve trains a model of the sizes in its file, in one process, without micro-batches")
    try:
        args.curve_file = CurveFile(args.curve)
    except (OSError, Malformed) as error:
        parser.error(f"--curve: {error}")
    for name, value in args.curve_file.sizes.items():
        setattr(args, name, value)
    args.warmup = 0


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subject", default="model", choices=tuple(VARIANTS))
    parser.add_argument("--size", default="small", metavar="NAME", help=f"{', '.join(SIZES)} or custom; any name beside --model-config")
    for name in DIMENSIONS:
        parser.add_argument("--" + name.replace("_", "-"), type=positive)
    for name, default in (("vocab", 10000), ("ctx", 128), ("batch", 4), ("accumulate", 1), ("steps", 10), ("d-head", 64), ("heads", 1)):
        parser.add_argument("--" + name, type=positive, default=default)
    parser.add_argument("--model-config", metavar="JSON", help="the text of a config.json: the model is that of transformers")
    parser.add_argument("--ranks", type=positive, default=1, help="processes that share the step (gloo); --threads is for each")
    parser.add_argument("--parallel", default="ddp", help="how: ddp, or zero1")
    parser.add_argument("--bucket", type=int, default=0, help="bytes of gradients that travel together; 0 for 25 MB")
    parser.add_argument("--curve", metavar="FILE", help="train as this file says: a start and batches for --steps")
    parser.add_argument("--rank", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--meet", help=argparse.SUPPRESS)  # the folder where ranks find each other
    parser.add_argument("--mask", default="causal", choices=("causal", "full"))
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--precision", default="fp32", choices=("fp32", "tf32", "bf16", "fp16", "fp8"))
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
    if args.curve:
        take_curve(args, parser)
    if args.accumulate > 1 and args.mode != "train":
        parser.error("--accumulate sums gradients for the optimizer: it needs --mode train")
    if args.variant not in VARIANTS[args.subject]:
        parser.error(f"--variant {args.variant} is not one of {', '.join(VARIANTS[args.subject])}")
    if args.model_config is None and args.size not in (*SIZES, "custom"):
        parser.error(f"--size {args.size} is not one of {', '.join(SIZES)}, custom")
    given = [getattr(args, name) for name in DIMENSIONS]
    preset = SIZES.get(args.size, (None,) * 4)
    for name, own, default in zip(DIMENSIONS, given, preset):
        if own is None and default is None:
            parser.error(f"--size custom needs --{name.replace('_', '-')}")
        setattr(args, name, own or default)
    if args.model_config is None and any(own not in (None, default) for own, default in zip(given, preset)):
        args.size = "custom"
    if args.model_config is None and (args.d_model % args.num_heads or args.d_model // args.num_heads % 2):
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
    if args.meet:  # rank 0 tells
        run(args, Result(args))
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
