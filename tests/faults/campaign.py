"""What every kind of fault shares: tries with a seed of their own, run side by side, their folders, and the table at the end."""
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time
import traceback


class Fault(Exception):
    """What a try found wrong."""


class Skip(Exception):
    """Why this machine cannot make a try."""


class Enough(Exception):
    """There is nothing left to try."""


def expect(holds, message):
    if not holds:
        raise Fault(message)


class Campaign:
    """The program under test and how long to try it. Folders of tries that found nothing are removed."""

    def __init__(self, program, work, inject=None, seed=0, budget=10.0, count=None, jobs=2, only=None, short=False):
        self.program = str(pathlib.Path(program).resolve())
        self.work = pathlib.Path(work).resolve()
        self.inject = inject
        self.seed, self.budget, self.count, self.jobs, self.only, self.short = seed, budget, count, jobs, only, short
        self.environment = dict(os.environ, OMP_WAIT_POLICY="passive", LC_ALL="C", XDG_CACHE_HOME=str(self.work / "cache"))
        options = [o for o in (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0", "verify_asan_link_order=0") if o]
        self.environment["ASAN_OPTIONS"] = ":".join(options)
        # Libraries that end the process where a call of theirs fails: NVML without memory, OpenBLAS's own threads before main().
        self.environment.update(ROOFSTEP_NVML="none", OPENBLAS_NUM_THREADS="1")
        for name in ("NO_COLOR", "ROOFSTEP_NO_INSTALL", "LD_PRELOAD"):
            self.environment.pop(name, None)
        version = self.run(["--version"], self.work.parent).stdout
        self.has_page = "(no html)" not in version
        self.sanitized = "address" in version

    def run(self, words, folder, timeout=120, **more):
        """Runs the program to its end."""
        environment = dict(self.environment, **more.pop("environment", {}))
        try:
            return subprocess.run([self.program, *map(str, words)], cwd=folder, env=environment, timeout=timeout, text=True, errors="replace",
                                  stdin=more.pop("stdin", subprocess.DEVNULL), capture_output=True, start_new_session=True, **more)
        except subprocess.TimeoutExpired as error:
            raise Fault(f"{' '.join(map(str, words))}: no end within {timeout} s") from error

    def must(self, words, folder, **more):
        """Runs the program, which must succeed."""
        done = self.run(words, folder, **more)
        expect(done.returncode == 0, f"{' '.join(map(str, words))}: exit code {done.returncode}: {last_line(done.stderr)}")
        return done


class Outcome:
    """The line of one kind in the table at the end."""

    def __init__(self, kind, seed):
        self.kind, self.seed, self.tries, self.faults, self.notes = kind, seed, 0, 0, []
        self.failures = []
        self.lock = threading.Lock()

    def add(self, faults=1):
        """Faults that took effect: a signal that found its process, a call that failed, a file that was read."""
        with self.lock:
            self.faults += faults

    def note(self, text):
        with self.lock:
            if text not in self.notes:
                self.notes.append(text)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "(no message)"


def attempt(campaign, outcome, index, body):
    """One try; False when there is nothing left to try. Its random numbers follow from the seed and its index, so --only repeats it."""
    folder = campaign.work / outcome.kind / str(index)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    name = "?"
    try:
        name = body(random.Random(f"{campaign.seed}/{outcome.kind}/{index}"), folder, index)
    except Skip as reason:
        outcome.note(str(reason))
    except Enough as reason:
        outcome.note(str(reason))
        return False
    except Exception as fault:  # a Fault; or the try itself is wrong, which counts as well
        outcome.failures.append(index)
        if not isinstance(fault, Fault):
            traceback.print_exc()
        print(f"FAILED {outcome.kind} {index}: {fault}\n       kept: {folder}; again: --kind {outcome.kind} --seed {campaign.seed} --only {index}", flush=True)
        return True
    if name is None:
        shutil.rmtree(folder)
        return True
    outcome.tries += 1
    if campaign.only is None:
        restore_permissions(folder)
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"{outcome.kind} {index}: good: {name}; kept: {folder}", flush=True)
    return True


def restore_permissions(folder):
    for path, _, _ in os.walk(folder):
        os.chmod(path, 0o700)


def run_tries(campaign, outcome, body, n=None):
    """body(random, folder, index) returns what was tried, or None when there was nothing to; it is tried until the budget or the count (n tries, or so many faults that took effect) is reached."""
    end = time.monotonic() + campaign.budget
    if campaign.only is not None:
        attempt(campaign, outcome, campaign.only, body)
        return
    lock, following = threading.Lock(), [0]

    def more():
        with lock:
            enough = campaign.count is not None and outcome.faults >= campaign.count
            if time.monotonic() > end or enough or (n is not None and following[0] >= n) or len(outcome.failures) >= 20:
                return None
            following[0] += 1
            return following[0] - 1

    def worker():
        while (index := more()) is not None:
            if not attempt(campaign, outcome, index, body):
                return

    with concurrent.futures.ThreadPoolExecutor(campaign.jobs) as pool:
        for done in [pool.submit(worker) for _ in range(campaign.jobs)]:
            done.result()


# ---- processes ----

def processes_marked(mark):
    """Every process, alive and not a zombie, that has the mark in its environment: whoever started it, in whatever group."""
    found = []
    wanted = f"FAULTS_MARK={mark}".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if wanted not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[0] not in "ZX":
                    found.append(int(entry))
        except (OSError, IndexError):
            continue
    return found


def expect_no_orphans(mark, seconds=10):
    end = time.monotonic() + seconds
    while left := processes_marked(mark):
        if time.monotonic() > end:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            raise Fault(f"{len(left)} processes outlived the program")
        time.sleep(0.02)


# ---- files ----

def files_in(folder):
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if not path.is_dir()}


def rows_of(path, ended=False):
    """The rows of a result file, by what was asked for; None when there is no file. A row that is there twice is a fault.
    Until a resumed sweep has ended, a row that failed stays before the one that takes its place."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    if not text.strip():
        raise Fault(f"{path} is empty")
    try:
        if str(path).endswith(".jsonl"):
            records = [json.loads(line) for line in text.splitlines()]
            records = [record for record in records if "cell" in record]
        else:
            records = json.loads(text).get("results", [])
    except ValueError as error:
        raise Fault(f"{path} is not whole: {error}") from error
    rows = {}
    for record in records:
        before = rows.get(record["cell"])
        expect(before is None or (before["status"] != "ok" and not ended), f"{path} has a row twice: {record['cell']}")
        rows[record["cell"]] = record
    return rows


def expect_kept(before, after, what):
    """Every row that was measured before is there afterwards, with its samples."""
    for cell, row in (before or {}).items():
        if row["status"] != "ok":
            continue
        expect(after is not None and cell in after, f"{what}: a row is lost: {cell}")
        expect(after[cell].get("step") == row.get("step"), f"{what}: a finished row was measured again: {cell}")
