#!/usr/bin/env python3
"""Tries roofstep under faults: kills, full disks, failing allocations, two at once, hostile files, hostile environments.

  faults.py PROGRAM --kind kills --seed 7 --budget 60 --count 200
  faults.py PROGRAM --kind kills --seed 7 --only 12        (that try again; its folder is kept)

Without --kind every kind is tried. --short takes seconds and is what ./test runs. Exit code 1 when a try failed; its folder is kept and named."""
import argparse
import atexit
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time

import campaign as shared
import commands

# Each kind's module and function.
KINDS = {
    "kills": ("kills", "run"),
    "killed-calls": ("disk", "run_calls"),
    "disk": ("disk", "run"),
    "stdout": ("disk", "run_stdout"),
    "allocator": ("allocator", "run"),
    "pairs": ("pairs", "run"),
    "files": ("files", "run"),
    "environment": ("environment_run", "run"),
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100000, help="of all that is random; printed")
    parser.add_argument("--budget", type=float, default=None, help="seconds for each kind (60; 4 with --short)")
    parser.add_argument("--count", action="append", default=[], metavar="KIND=N", help="stop that kind after so many faults that took effect")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="tries at once (twice the processors: most of a try is waiting)")
    parser.add_argument("--only", type=int, help="the try of this number alone")
    parser.add_argument("--sanitized", metavar="PROGRAM", help="a build with sanitizers, for hostile files")
    parser.add_argument("--inject", help="the library that makes calls fail (tests/faults/inject.c)")
    parser.add_argument("--work", default="faults-work", help="folder for the tries; removed at the end unless one failed")
    parser.add_argument("--short", action="store_true")
    return parser.parse_args()


def loadable(library):
    """A path of it that LD_PRELOAD takes: a blank or a colon would part it in two."""
    path = os.path.abspath(library)
    if not any(c in path for c in " :\t"):
        return path
    place = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    link = os.path.join(place, "inject.so")
    os.symlink(path, link)
    return link


def check_injection(campaign):
    """The loader goes on without a library that it cannot load: every try would be an undisturbed one."""
    done = campaign.run(["--version"], campaign.work, environment={"LD_PRELOAD": campaign.inject})
    if done.returncode or done.stderr:
        raise SystemExit(f"faults.py: {campaign.inject} cannot be loaded: {shared.last_line(done.stderr)}")


def table(outcomes):
    rows = [("kind", "tries", "faults", "failures", "seed")]
    rows += [(o.kind, str(o.tries + len(o.failures)), str(o.faults), str(len(o.failures)), str(o.seed)) for o in outcomes]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))
    for outcome in outcomes:
        for note in outcome.notes:
            print(f"{outcome.kind}: {note}")


def main():
    arguments = parse()
    # A shell's background job ignores SIGINT and nohup ignores SIGHUP, and what is ignored stays so in the program.
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    counts = dict(pair.split("=") for pair in arguments.count)
    shutil.rmtree(arguments.work, ignore_errors=True)
    os.makedirs(arguments.work)
    kinds = arguments.kind or list(KINDS)
    inject = loadable(arguments.inject) if arguments.inject else None

    def make(kind):
        program = arguments.sanitized if arguments.sanitized and kind == "files" else arguments.program
        return shared.Campaign(program, arguments.work, inject, arguments.seed, arguments.budget or (4 if arguments.short else 60),
                               int(counts[kind]) if kind in counts else None, arguments.jobs, arguments.only, arguments.short)

    if inject:
        check_injection(make("kills"))  # not into the build with sanitizers
    print(f"seed {arguments.seed}", flush=True)
    outcomes = []
    inputs = commands.make_inputs(make(kinds[0]), limits=not arguments.short)
    for kind in kinds:
        begun = time.monotonic()
        module, function = KINDS[kind]
        outcomes.append(getattr(importlib.import_module(module), function)(make(kind), inputs, limits=not arguments.short))
        print(f"{kind}: {outcomes[-1].faults} faults took effect in {time.monotonic() - begun:.0f} s", flush=True)
    table(outcomes)
    failed = any(outcome.failures for outcome in outcomes)
    if not failed and arguments.only is None:
        shutil.rmtree(arguments.work, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
