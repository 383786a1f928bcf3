#!/usr/bin/env python3
"""Tables of the documents, made from result files. docs/results/commands.tsv has the command lines; medians throughout.

  doc-tables.py steps [--peak NAME=RATE]... FILE...   time of each phase, rate and peak memory; PyTorch's step beside ours
  doc-tables.py rounds FILE...                        steps beside PyTorch, and the ratio of each round
  doc-tables.py memory FILE...                        peak memory beside PyTorch's, by context
  doc-tables.py attention FILE...                     attention alone: TFLOP/s of each phase, PyTorch's beside ours
  doc-tables.py speedups FILE...                      attention alone: PyTorch's step / ours, a column for each implementation
  doc-tables.py floor PROFILE LIMITS                  a profiled step against the measured limits, by kind of work
  doc-tables.py models FILE...                        models beside PyTorch: step, peak memory, the shortest possible step
  doc-tables.py gaps LIMITS PROFILE...                time above the floor, by kind of work, a column for each model
  doc-tables.py fp8 FILE...                           steps in fp8 beside bf16's of the same model and tokens
  doc-tables.py scaling FILE LOADED...                steps by number of threads, and one thread on a busy machine
  doc-tables.py ranks FILE...                         steps of several ranks: communication, and PyTorch's step beside ours
  doc-tables.py summary MACHINE=FILE...               one line for each step beside PyTorch
"""
import gzip
import json
import pathlib
import re
import statistics
import sys

PHASES = ("forward", "backward", "optimizer", "step")
NUMBER = re.compile(r"-?[\d,.]*|OOM")
VARIANTS = {"graphs": "PyTorch, CUDA graphs", "best": "PyTorch, compiled", "eager": "PyTorch, eager"}


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def results(path):
    return load(path)["results"]


def is_peer(row):
    return bool(row.get("peer"))


def median(row, phase="step"):
    """None where the phase was not measured."""
    return (row.get(phase) or {}).get("median_ms")


def digits(value, count=4):
    """A number with `count` significant digits and no exponent."""
    if value is None:
        return "-"
    whole = 0 if abs(value) < 1 else len(str(int(abs(value))))
    return f"{value:.{max(0, count - whole)}f}"


def tflops(row):
    """By the median: the record has it by the mean."""
    return row["tflops"] * row["step"]["mean_ms"] / median(row)


def milliseconds(row, phase):
    state = (row.get(phase) or {}).get("status")
    return "OOM" if state == "oom" else digits(median(row, phase))


def table(headings, rows):
    """A column that has words is on the left, one of numbers on the right."""
    text = [any(not NUMBER.fullmatch(str(row[i])) for row in rows) for i in range(len(headings))]
    print("| " + " | ".join(headings) + " |")
    print("|" + "|".join("---" if left else "---:" for left in text) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def short(path):
    return f"`results/{pathlib.Path(path).name}`"


def fastest_peer(rows):
    return min((row for row in rows if is_peer(row) and median(row)), key=median, default=None)


def cells(paths):
    """Our rows, each with its peers, which follow it, and its file."""
    for path in paths:
        groups = []
        for row in results(path):
            if is_peer(row):
                groups[-1][1].append(row)
            else:
                groups.append((row, []))
        for row, peers in groups:
            yield row, peers, path


def floor_ms(row, peaks):
    """The step at the rates of the silicon: FLOPs at that of its precision, then AdamW, 28 bytes a parameter."""
    return 1e3 * (row["flops_per_step"] / peaks[row["precision"]] + 28 * row["parameters"] / peaks["memory"])


def steps(arguments):
    peaks = {}
    while arguments and arguments[0] == "--peak":
        name, rate = arguments[1].split("=")
        peaks[name] = float(rate)
        arguments = arguments[2:]
    rows, beside = [], False
    limited = all(row.get("limit_tflops") for row, _, _ in cells(arguments))
    recomputes = any(row.get("recompute", "none") != "none" for row, _, _ in cells(arguments))
    for row, peers, path in cells(arguments):
        best = fastest_peer(peers)
        beside |= best is not None
        line = [row["size"], row["precision"], row["ctx"], row["exec"], row["attention"]] + [row["recompute"]] * recomputes
        line += [milliseconds(row, phase) for phase in PHASES]
        line += [digits(tflops(row), 3), f"{row['peak_alloc_mib']:,.0f}"]
        if limited:
            line += [f"{100 * tflops(row) / row['limit_tflops']:.1f}"]
        if peaks:
            line += [digits(floor_ms(row, peaks)), digits(median(row) / floor_ms(row, peaks), 3)]
        line += [VARIANTS[best["variant"]], digits(median(best)), digits(median(best) / median(row), 3)] if best else [""] * 3
        rows.append((line, short(path)))
    headings = ["size", "precision", "context", "exec", "attention"] + ["recompute"] * recomputes + [f"{phase} (ms)" for phase in PHASES]
    headings += ["TFLOP/s", "peak (MiB)"] + ["MFU (%)"] * limited + (["floor (ms)", "step / floor"] if peaks else [])
    if beside:
        headings += ["beside", "its step (ms)", "its step / ours"]
    table(headings + ["file"], [line[: len(headings)] + [file] for line, file in rows])


def rounds(paths):
    rows = []
    for row, peers, path in cells(paths):
        best = fastest_peer(peers)
        by_variant = {peer["variant"]: digits(median(peer)) for peer in peers}
        ours, theirs = (r["step"]["samples_ms"] for r in (row, best))
        n = row["steps"]
        ratios = [statistics.median(theirs[i : i + n]) / statistics.median(ours[i : i + n]) for i in range(0, len(ours), n)]
        rows.append([row["size"], row["precision"], digits(median(row)), by_variant.get("best", "-"), by_variant.get("eager", "-"),
                     digits(median(best) / median(row), 3), ", ".join(digits(r, 3) for r in ratios), short(path)])
    table(["size", "precision", "ours (ms)", "PyTorch, compiled (ms)", "PyTorch, eager (ms)", "faster one / ours", "each round", "file"], rows)


def memory(paths):
    ours, theirs = {}, {}
    for row, peers, _ in cells(paths):
        if row["exec"] != "eager":
            ours[row["ctx"]] = row["peak_alloc_mib"]
        for peer in peers:
            theirs[peer["variant"], row["ctx"]] = peer["peak_alloc_mib"]
    rows = []
    for ctx in sorted(ours):
        line = [ctx, f"{ours[ctx]:,.0f}"]
        for variant in ("best", "eager"):
            line += [f"{theirs[variant, ctx]:,.0f}", digits(ours[ctx] / theirs[variant, ctx], 3)]
        rows.append(line)
    table(["context", "ours (MiB)", "PyTorch, compiled (MiB)", "ours / compiled", "PyTorch, eager (MiB)", "ours / eager"], rows)


def attention(paths):
    """TFLOP/s of two matrix multiplications forward and five backward, half of them behind the causal mask."""
    rows = []
    for row, peers, _ in cells(paths):
        best = fastest_peer(peers)
        flops = {"forward": row["forward_flops"], "backward": 2.5 * row["forward_flops"]}
        line = [row["attention"], row["precision"], row["d_head"], row["ctx"]]
        for who in (row, best):
            line += [best["variant"]] if who is best else []
            line += [digits(flops[phase] / median(who, phase) / 1e9, 3) for phase in flops]
        line += [digits(median(best, phase) / median(row, phase), 3) for phase in flops]
        rows.append(line)
    table(["ours", "precision", "head width", "tokens", "forward (TFLOP/s)", "backward (TFLOP/s)", "PyTorch's", "its forward", "its backward",
           "ours / its, forward", "backward"], rows)


def speedups(paths):
    ratios = {}
    for row, peers, _ in cells(paths):
        name = f"{row['attention']}, {row['precision']}"
        ratios.setdefault((row["d_head"], row["ctx"]), {})[name] = digits(median(fastest_peer(peers)) / median(row), 3)
    names = list(dict.fromkeys(name for line in ratios.values() for name in line))
    table(["head width", "tokens"] + names, [[*cell] + [line.get(name, "-") for name in names] for cell, line in sorted(ratios.items())])


KINDS = (("matrix multiplications", ("matmul",)), ("AdamW", ("adamw", "adam_state")), ("attention", ("attention", "attention_grad")),
         ("RMSNorm", ("rmsnorm", "rmsnorm_grad")), ("LayerNorm", ("layernorm", "layernorm_grad")),
         ("norms of q and k", ("head_norm", "head_norm_grad")), ("SwiGLU", ("swiglu", "swiglu_grad")), ("GELU", ("unary", "unary_grad")),
         ("RoPE", ("rope", "rope_grad")))


def rates(path, precision):
    """FLOP/s and bytes/s at most, as measured."""
    limits = load(path)["limits"]
    return (limits[precision + "_largest"]["all"]["median"],
            max(limit["all"]["median"] for name, limit in limits.items() if name.startswith("memory_")))


def by_kind(profile, flop_rate, byte_rate):
    """Of each kind of work: milliseconds, FLOPs, bytes, and the least milliseconds they take."""
    sums, names = {}, dict((op, kind) for kind, ops in KINDS for op in ops)
    for op in profile["profile"]["ops"]:
        least = 1e3 * max(op["flops"] / flop_rate, op["bytes"] / byte_rate)
        figures = (op["device"]["total"] / profile["profile"]["steps"] / 1e6, op["flops"], op["bytes"], least)
        kind = names.get(op["op"], "loss, embedding, the rest")
        sums[kind] = [a + b for a, b in zip(sums.get(kind, (0, 0, 0, 0)), figures)]
    sums["all kernels"] = [sum(figures) for figures in zip(*sums.values())]
    order = [kind for kind, _ in KINDS] + ["loss, embedding, the rest", "all kernels"]
    return {kind: sums[kind] for kind in order if kind in sums}


def floor(paths):
    profile = results(paths[0])[0]
    flop_rate, byte_rate = rates(paths[1], profile["precision"])
    sums = by_kind(profile, flop_rate, byte_rate)
    rows = []
    for kind, (time, flops, size, least) in sums.items():
        rows.append([kind, digits(time, 3), digits(flops / 1e9, 3), digits(size / 1e9, 3), digits(flops / time / 1e9, 3),
                     digits(size / time / 1e9, 3), digits(least, 3), f"{100 * least / time:.0f}", f"{time - least:.2f}"])
    idle = profile["step"]["mean_ms"] - sums["all kernels"][0]
    rows.append(["no kernel running", digits(idle, 3), "", "", "", "", "", "", f"{idle:.2f}"])
    table(["kind of work", "time (ms)", "GFLOP", "GB", "TFLOP/s", "TB/s", "floor (ms)", "% of limit", "time - floor (ms)"], rows)
    print(f"\nLimits: {flop_rate / 1e12:.0f} TFLOP/s, {byte_rate / 1e12:.2f} TB/s. The step without tracing takes {profile['step']['mean_ms']:.2f} ms.")


def gaps(paths):
    columns = {}
    for path in paths[1:]:
        profile = results(path)[0]
        columns[profile["size"]] = found = by_kind(profile, *rates(paths[0], profile["precision"]))
        idle = profile["step"]["mean_ms"] - found["all kernels"][0]
        found["no kernel running"] = [idle, 0, 0, 0]
    kinds = [kind for kind, _ in KINDS] + ["loss, embedding, the rest", "all kernels", "no kernel running"]
    rows = [[kind] + [f"{digits(column[kind][0], 3)} - {digits(column[kind][3], 3)} = {column[kind][0] - column[kind][3]:.2f}" if kind in column else ""
                      for column in columns.values()] for kind in kinds if any(kind in column for column in columns.values())]
    table(["time - floor (ms)", *columns], rows)


def share_of_limit(row):
    limit = row.get("limit_step_ms")
    return [digits(limit), f"{100 * limit / median(row):.0f}"] if limit else ["-", "-"] # where `limits` never ran


def models(paths):
    rows = []
    for row, peers, path in cells(paths):
        best = fastest_peer(peers)
        peak, theirs = row["peak_alloc_mib"], best["peak_alloc_mib"]
        rows.append([row["size"], f"{row['batch']} x {row['ctx']}", digits(median(row)), digits(median(best)), digits(median(best) / median(row), 3),
                     f"{peak:,.0f}", f"{theirs:,.0f}", digits(peak / theirs, 2), *share_of_limit(row), short(path)])
    table(["model", "batch x context", "step (ms)", "PyTorch, compiled (ms)", "its step / ours", "peak (MiB)", "its peak (MiB)", "ours / its",
           "limit (ms)", "% of limit", "file"], rows)


def fp8(paths):
    found = [(row, path) for path in paths for row in results(path)]
    plain = {(row["size"], row["batch"], row["ctx"]): row for row, _ in found if row["precision"] == "bf16"}
    rows = []
    for row, path in found:
        if row["precision"] != "fp8":
            continue
        bf16 = plain[row["size"], row["batch"], row["ctx"]]
        rows.append([row["size"], f"{row['batch']} x {row['ctx']}", row["fp8_recipe"], digits(median(bf16)), *[digits(median(row, phase)) for phase in PHASES],
                     digits(median(bf16) / median(row), 3), f"{bf16['peak_alloc_mib']:,.0f}", f"{row['peak_alloc_mib']:,.0f}", short(path)])
    table(["model", "batch x context", "recipe", "bf16 step (ms)", "fp8 forward (ms)", "backward (ms)", "optimizer (ms)", "step (ms)", "speed-up",
           "bf16 peak (MiB)", "fp8 peak (MiB)", "file"], rows)


def scaling(paths):
    measured = {(row["threads"], row["precision"]): median(row) for row in results(paths[0])}
    loaded = {row["precision"]: median(row) for path in paths[1:] for row in results(path)}
    precisions = list(dict.fromkeys(precision for _, precision in measured))
    threads = sorted({count for count, _ in measured})
    rows = []
    for count in threads:
        line = [str(count)]
        for precision in precisions:
            time, alone = measured[count, precision], measured[threads[0], precision]
            line += [digits(time), f"{100 * alone / time / count:.0f}", f"{100 * loaded[precision] / time / count:.0f}"]
        rows.append(line)
    rows.append([f"1 of {threads[-1]} programs"] + [cell for p in precisions for cell in (digits(loaded[p]), "", "100")])
    table(["threads"] + [heading for p in precisions for heading in (f"{p} step (ms)", "efficiency (%)", "of a loaded core (%)")], rows)


def ranks(paths):
    rows = []
    for path in paths:
        for row, peers, _ in cells([path]):
            best = fastest_peer(peers)
            rows.append([row["size"], row["precision"], f"{row['batch']} x {row['ctx']}", str(row["ranks"]), row["parallel"], digits(median(row)),
                         digits(row["communication_ms"]), digits(row["exposed_ms"]), digits(median(best)) if best else "-",
                         digits(median(best) / median(row), 3) if best else "-", short(path)])
    table(["size", "precision", "batch x context", "ranks", "parallel", "step (ms)", "communication (ms)", "exposed (ms)", "PyTorch DDP (ms)",
           "speed-up", "file"], rows)


def summary(arguments):
    rows = []
    for argument in arguments:
        machine, path = argument.split("=", 1)
        for row, peers, _ in cells([path]):
            best = fastest_peer(peers)
            rows.append([machine, f"{row['size']} {row['precision']}, context {row['ctx']}", digits(median(row)), digits(median(best)),
                         f"{VARIANTS[best['variant']].split(', ')[1]}, {best['peer_version'].split('+')[0]}", digits(median(best) / median(row), 3)])
    table(["machine", "training step", "roofstep (ms)", "PyTorch (ms)", "PyTorch is", "speed-up"], rows)


def main():
    kinds = {f.__name__: f for f in (steps, rounds, memory, attention, speedups, floor, gaps, models, fp8, scaling, ranks, summary)}
    if len(sys.argv) < 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]](sys.argv[2:])


main()
