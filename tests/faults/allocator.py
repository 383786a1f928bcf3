"""An allocator that fails: at the n-th allocation alone, or from it on. Readers of small files have every n in turn, what makes pages and tables
has some of them. A command that fails does so with one line and no signal; one that succeeds has written what it writes undisturbed."""
import hashlib
import pathlib
import re

from campaign import Enough, Outcome, expect, files_in, last_line, run_tries
from disk import Injected
from hostile_inputs import small_inputs


# Up to so many allocations each has its turn; of more, so many are drawn.
IN_TURN, SAMPLES = 3500, 1000


class Case:
    def __init__(self, name, words, outputs=(), every=True):
        self.name, self.words, self.outputs, self.every = name, words, outputs, every


def cases(campaign, inputs, small):
    """Readers first: each kind of file through each command that reads it."""
    listed = [Case(f"validate {name}", ["validate", path]) for name, path in small.items()]
    listed.append(Case("compare", ["compare", small["bench.json"], small["bench.jsonl"]]))
    listed.append(Case("compare json", ["compare", small["bench.json"], small["bench.json"], "--format", "json"]))
    for command in ("bench", "plan", "memory"):
        extra = ["--plan-only"] if command == "memory" else ["--dry-run"] if command == "bench" else []
        listed.append(Case(command, [command, "--size", "tiny", "--ctx", "8,16", "--memory-limit", "8GiB", "--device", "cpu", "--threads", "1", *extra]))
    listed.append(Case("help", ["bench", "--help"]))
    listed.append(Case("report --tables", ["report", small["bench.json"], "--tables", "tables"], ("tables/tables.md",), every=False))
    listed.append(Case("profile --from", ["profile", "--from", inputs / "profile"], every=False))
    if campaign.has_page:
        listed.append(Case("report", ["report", small["bench.json"], small["profile.json"], small["memory.json"], "--out", "out.html"], ("out.html",), every=False))
    return listed


class Allocator:
    def __init__(self, campaign, inputs, outcome):
        self.campaign, self.outcome = campaign, outcome
        self.cases = cases(campaign, inputs, small_inputs(campaign, inputs))
        self.rows = [(case, onward) for case in self.cases for onward in (False, True)]
        self.good = [self.undisturbed(case) for case in self.cases]
        self.ended = set()

    def undisturbed(self, case):
        folder = self.campaign.work / "allocator-good"
        folder.mkdir(exist_ok=True)
        injected = Injected(self.campaign, folder, "ENOMEM", "malloc", 1 << 40, False)
        done = self.campaign.run(case.words, folder, environment=injected.environment)
        expect(done.returncode == 0, f"{case.name}: exit code {done.returncode}: {last_line(done.stderr)}")
        return done.stdout, digest(folder, case), injected.seen()

    def attempt(self, random, folder, index):
        row = index % len(self.rows)
        case, onward = self.rows[row]
        wanted = self.good[row // 2]
        step = index // len(self.rows) + 1
        if self.campaign.only is None and len(self.ended) == len(self.rows):
            raise Enough("every allocation had its turn, or was drawn from")
        if row in self.ended:
            return None
        in_turn = case.every and wanted[2] <= IN_TURN and not self.campaign.short
        if not in_turn and step > SAMPLES:
            self.ended.add(row)
            return None
        place = step if in_turn else random.randint(1, max(wanted[2], 1))
        work = folder / "work"
        work.mkdir()
        injected = Injected(self.campaign, folder, "ENOMEM", "malloc", place, onward)
        done = self.campaign.run(case.words, work, environment=injected.environment)
        what = f"{case.name}: allocation {place} of {wanted[2]} {'and all after' if onward else 'alone'} fails"
        if not injected.failed():  # beyond its last one
            if in_turn:
                self.ended.add(row)
            return None
        self.outcome.add()
        expect(done.returncode >= 0, f"{what}: died of signal {-done.returncode}: {last_line(done.stderr)}")
        left = [name for name in files_in(work) if name.endswith(".tmp")]
        expect(not left, f"{what}: left {left}")
        if done.returncode == 0:
            same = steady(done.stdout) == steady(wanted[0]) and digest(work, case) == wanted[1]
            # What is only a help (stored limits) may be missing, if that is said.
            expect(same or any("warning" in line and "memory" in line for line in done.stderr.splitlines()), f"{what}: exit code 0 and another output: {last_line(done.stderr)}")
        else:
            lines = [line for line in done.stderr.splitlines() if line.strip() and "warning" not in line]
            said = lines or [line for line in done.stdout.splitlines() if ": bad: " in line]
            expect(len(lines) <= 1 and said, f"{what}: exit code {done.returncode}, {len(lines)} lines: {last_line(done.stderr)}")
            expect("memory" in said[0], f"{what}: the message does not speak of memory: {said[0][:200]}")
        return what


def steady(output):
    """Without sizes in MiB: a cell needs what the process itself holds beside its plan, a page more or less of it each time."""
    return re.sub(r"\d+ MiB", "MiB", output)


def digest(folder, case):
    return [hashlib.sha256(pathlib.Path(folder, name).read_bytes()).hexdigest() for name in case.outputs]


def run(campaign, inputs, limits):
    if not campaign.inject:
        raise SystemExit("allocator: --inject LIBRARY is needed (tests/faults/inject.c)")
    outcome = Outcome("allocator", campaign.seed)
    run_tries(campaign, outcome, Allocator(campaign, inputs, outcome).attempt, n=200 if campaign.short else None)
    return outcome
