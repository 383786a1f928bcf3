"""Several processes of torch_bench.py that share a step: DistributedDataParallel over gloo, each on cores and a batch of its own."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn

from torch_result import Unsupported

PARALLELS = ("ddp", "zero1")
PR_SET_PDEATHSIG = 1


def check(args):
    if args.parallel not in PARALLELS:
        raise Unsupported(f"PyTorch's step of several ranks is --parallel {' or '.join(PARALLELS)}, not {args.parallel}")
    if args.device.startswith("cuda"):
        raise Unsupported("PyTorch's step of several ranks runs on a CPU here")
    if not (dist.is_available() and getattr(dist, "is_gloo_available", lambda: True)()):
        raise Unsupported(f"this PyTorch ({torch.__version__}) has no gloo")


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Ranks:
    """The others are started by rank 0, and end when it does."""

    def __init__(self, args):
        self.n, self.rank = args.ranks, args.rank
        self.folder = args.meet or tempfile.mkdtemp(prefix="torch-ranks-")
        self.others = [] if args.meet else [self.start(rank) for rank in range(1, self.n)]
        self.bind()
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        dist.init_process_group("gloo", init_method=f"file://{self.folder}/meet", rank=self.rank, world_size=self.n)

    def start(self, rank):
        words = [sys.executable, "-Wignore", *sys.argv, "--rank", str(rank), "--meet", self.folder]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=end_with_parent)

    def bind(self):
        """As many cores for each; where there are too few of them, all share all."""
        cores = sorted(os.sched_getaffinity(0))
        each = len(cores) // self.n
        if each:
            os.sched_setaffinity(0, cores[self.rank * each:(self.rank + 1) * each])

    def close(self):
        for other in self.others:
            other.kill()
            other.wait()
        if self.rank == 0:
            shutil.rmtree(self.folder, ignore_errors=True)

    def model(self, model, bucket):
        more = {"bucket_cap_mb": bucket / 2**20} if bucket else {}
        constants = [name for name, _ in model.named_buffers()]  # gloo has no broadcast of bool
        nn.parallel.DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(model, constants)
        return nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True, **more)

    def optimizer(self, parameters, **how):
        from torch.distributed.optim import ZeroRedundancyOptimizer
        return ZeroRedundancyOptimizer(parameters, optimizer_class=torch.optim.AdamW, **how)

    def slowest(self, sample):
        """Each time becomes that of the slowest rank; the next step begins when all are here."""
        times = torch.tensor(list(sample.values()), dtype=torch.float64)
        dist.all_reduce(times, op=dist.ReduceOp.MAX)
        return dict(zip(sample, times.tolist()))
