#!/usr/bin/env python3
"""`roofstep collective` beside PyTorch's gloo and the MPI library, on the same sizes, cores and machine, in turn.

    tools/collective_peers.py build/release/roofstep --ranks 2 4 --bytes 1KiB 256KiB 1MiB 25MiB --out peers.json

Each round runs all cells of ours (which time MPI's own call in turn with ours), then all of gloo's; the medians of
the rounds are printed. gloo is timed as ours is: samples of as many calls as take 0.2 ms, the slowest rank's time,
arrays in place, every rank on cores of its own. What this PyTorch's gloo has not is '-'.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9, "": 1}


def bytes_of(text):
    number = text.rstrip("KMGiB")
    return int(number) * UNITS[text[len(number):]]


def own_cores(rank, ranks):
    """As src/comm/rank_cores.c: whole cores, neighbours together; none where there are too few."""
    cores = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        siblings = open(path, encoding="ascii").read() if os.path.exists(path) else str(cpu)
        cores.setdefault(siblings, set()).add(cpu)
    cores = list(cores.values())
    mine = cores[len(cores) * rank // ranks:len(cores) * (rank + 1) // ranks] if len(cores) >= ranks else []
    return set().union(*mine)


def gloo_call(dist, op, data, rank, ranks):
    """The call, in place on `data`; its length is a multiple of `ranks`."""
    each = data.numel() // ranks
    shards = list(data.split(each))
    if op == "all_reduce":
        return lambda: dist.all_reduce(data)
    if op == "broadcast":
        return lambda: dist.broadcast(data, 0)
    if op == "all_gather":
        return lambda: dist.all_gather(shards, shards[rank])
    return lambda: dist.reduce_scatter_tensor(shards[rank], data)


def gloo_time(torch, dist, call, seconds):
    """Milliseconds of a call: the median of samples, of each the slowest rank's."""
    def sample(calls):
        dist.barrier()
        begun = time.perf_counter()
        for _ in range(calls):
            call()
        slowest = torch.tensor([(time.perf_counter() - begun) / calls], dtype=torch.float64)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return slowest.item()

    once = min(sample(1) for _ in range(3))
    calls = max(1, min(1000, int(2e-4 / once) + 1))
    n = max(3, min(200, int(seconds / (once * calls))))
    return 1e3 * statistics.median(sample(calls) for _ in range(n))


def gloo_rank(rank, ranks, store, ops, sizes, seconds, out):
    import torch
    import torch.distributed as dist
    cores = own_cores(rank, ranks)
    if cores:
        os.sched_setaffinity(0, cores)
    torch.set_num_threads(max(1, len(cores)))
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    times = {"torch": torch.__version__}
    for op in ops:
        for size in sizes:
            data = torch.zeros(max(size // 4 // ranks, 1) * ranks)
            try:
                call = gloo_call(dist, op, data, rank, ranks)
                call()
            except (AttributeError, RuntimeError, ValueError):
                continue
            times[f"{op} {size}"] = gloo_time(torch, dist, call, seconds)
    if rank == 0:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(times, file)
    dist.barrier()


def run_gloo(ranks, args):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "times.json")
        words = [sys.executable, os.path.abspath(__file__), args.program, "--op", *args.op, "--bytes", *args.bytes,
                 "--seconds", str(args.seconds)]
        environment = dict(os.environ, GLOO_SOCKET_IFNAME="lo")
        workers = [subprocess.Popen(words + ["--gloo", str(rank), str(ranks), os.path.join(folder, "store"), out],
                                    env=environment) for rank in range(ranks)]
        codes = [worker.wait() for worker in workers]
        if any(codes):
            sys.exit(f"gloo with {ranks} ranks: exit codes {codes}")
        with open(out, encoding="utf-8") as file:
            return json.load(file)


def run_ours(ranks, args):
    words = [args.program, "collective", "--op", ",".join(args.op), "--bytes", ",".join(args.bytes), "--ranks",
             str(ranks), "--steps", "200", "--sample-time", f"{args.seconds}s", "--format", "json"]
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(words)}: exit code {result.returncode}\n{result.stderr}")
    return json.loads(result.stdout)["results"]


def number(x, digits):
    return "-" if x is None else f"{x:,.0f}" if x >= 1000 else f"{x:.{digits}g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--op", nargs="+", default=list(OPS), choices=OPS)
    parser.add_argument("--bytes", nargs="+", default=["1KiB", "16KiB", "256KiB", "1MiB", "25MiB", "64MiB"])
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a cell in a round")
    parser.add_argument("--out", help="all figures as JSON")
    parser.add_argument("--gloo", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = [bytes_of(text) for text in args.bytes]
    if args.gloo:
        rank, ranks, store, out = args.gloo
        return gloo_rank(int(rank), int(ranks), store, args.op, sizes, args.seconds, out)
    rows = {}
    for ranks in args.ranks:
        for _ in range(args.rounds):
            for row in run_ours(ranks, args):
                row_times = rows.setdefault((row["op"], row["bytes"], ranks), {"ours": [], "mpi": [], "gloo": []})
                row_times["ours"].append(row["median_ms"])
                row_times["mpi"].append(row["mpi_median_ms"])
            times = run_gloo(ranks, args)
            for (op, size, n), row_times in rows.items():
                if n == ranks and f"{op} {size}" in times:
                    row_times["gloo"].append(times[f"{op} {size}"])
    print(f"PyTorch {times['torch']}, {args.rounds} rounds, {len(os.sched_getaffinity(0))} processors\n")
    print("| op | bytes | ranks | ours (us) | MPI (us) | gloo (us) | MPI / ours | gloo / ours |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    figures = []
    for (op, size, ranks), row_times in rows.items():
        ours, mpi, gloo = (1e3 * statistics.median(t) if t else None for t in row_times.values())
        print(f"| {op} | {size} | {ranks} | {number(ours, 4)} | {number(mpi, 4)} | {number(gloo, 4)} | "
              f"{number(mpi / ours, 3)} | {number(gloo / ours if gloo else None, 3)} |")
        figures.append({"op": op, "bytes": size, "ranks": ranks, **row_times})
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump({"torch": times["torch"], "rounds": args.rounds, "rows_ms": figures}, file, indent=1)
    return None


if __name__ == "__main__":
    sys.exit(main())
