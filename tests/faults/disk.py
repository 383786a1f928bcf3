"""A disk that is full, broken or over quota at the n-th call that writes, n = 1, 2, 3 ... until the command ends untouched; calls that are
interrupted or do half of what was asked; a kill just before each of those calls; and a stdout that is full or closed.

A command that fails says so on one line that names the file, leaves the old file under that name as it was, and no temporary file. One that
succeeds has written what it writes undisturbed."""
import os
import struct
import subprocess

from campaign import Enough, Outcome, Skip, expect, expect_kept, expect_no_orphans, files_in, last_line, rows_of, run_tries
from commands import choose, expect_whole
from kills import Undisturbed, environment_of, prepare, temporaries

FILES = "write,fsync,rename,open,ftruncate,close,mkdir"
# How calls fail, which calls, and whether those after it fail too. A disk that is full stays so; an error may come alone.
FAULTS = [
    ("ENOSPC", "write,fsync,rename,open,mkdir", True),
    ("ENOSPC", "write,fsync,rename,open,mkdir", False),
    ("EIO", "write,fsync,close,rename,ftruncate", False),
    ("EDQUOT", FILES, True),
    ("EINTR", "write,open", False),
    ("short", "write", False),
]
STATE_BYTES = 4096
TIMED = ("out.json", "out.jsonl", "out.csv")  # no two runs write the same


class Injected:
    """The environment of one fault, and what became of it."""

    def __init__(self, campaign, folder, how, calls, at, onward):
        self.path = folder / "state"
        self.path.write_bytes(bytes(STATE_BYTES))
        self.environment = {"LD_PRELOAD": campaign.inject, "FAULTS_STATE": str(self.path), "FAULTS_CALLS": calls, "FAULTS_AT": str(at),
                            "FAULTS_HOW": how, "FAULTS_FROM": "1" if onward else "0"}

    def failed(self):
        """How many calls failed."""
        return struct.unpack("QQ", self.path.read_bytes()[:16])[1]

    def seen(self):
        """How many calls were counted."""
        return struct.unpack("QQ", self.path.read_bytes()[:16])[0]

    def last(self):
        return self.path.read_bytes()[16:528].split(b"\0")[0].decode(errors="replace")


def one_message(done, what):
    """Progress lines may come first; the failure itself is one line: of the program, or of the row that failed."""
    expect(done.returncode > 0, f"{what}: died of signal {-done.returncode}: {last_line(done.stderr)}")
    lines = [line for line in done.stderr.splitlines() if (line.startswith("roofstep") or ": failed: " in line) and "warning" not in line]
    expect(len(lines) >= 1, f"{what}: exit code {done.returncode} and no message: {last_line(done.stderr)}")
    return lines[-1]


class Disk:
    """Every point of every command in turn: a try is one command, one way to fail and one place n. Places that are beyond a command's last
    call end that row."""

    faults = FAULTS

    def __init__(self, campaign, inputs, limits, outcome):
        self.campaign, self.inputs, self.outcome = campaign, inputs, outcome
        self.writers = [w for w in choose(campaign, inputs, limits) if w.outputs and w.longest is None and w.name != "suite --like"]
        if campaign.short:  # a suite takes longer than all the others together
            self.writers = [w for w in self.writers if not w.name.startswith("suite")]
        self.undisturbed = Undisturbed(campaign, inputs)
        self.rows = [(writer, fault) for writer in self.writers for fault in self.faults]
        self.ended = set()

    def attempt(self, random, folder, index):
        """The commands and ways to fail in turn, each one call further; the short form jumps."""
        row, place = index % len(self.rows), index // len(self.rows) + 1
        if self.campaign.short:
            row, place = random.randrange(len(self.rows)), random.randint(1, 12)
        if self.campaign.only is None:
            if len(self.ended) == len(self.rows):
                raise Enough("every call of every command was tried")
            if row in self.ended:
                return None
        writer, fault = self.rows[row]
        if self.try_point(folder, writer, *fault, place):
            self.outcome.add()
        else:
            self.ended.add(row)
        return f"{writer.name}, {fault[0]} at call {place}{' and after' if fault[2] else ''}"

    def try_point(self, folder, writer, how, calls, onward, place):
        work = folder / "work"
        prepare(writer, work, self.inputs, self.campaign)
        old = {}
        if writer.old and place % 2:
            self.campaign.must(writer.words, work, environment=environment_of(writer, work))
            old = {name: (work / name).read_bytes() for name in writer.outputs}
        injected = Injected(self.campaign, folder, how, calls, place, onward)
        mark = f"{os.getpid()}-disk-{folder.name}"
        done = self.campaign.run(writer.words, work, environment=dict(environment_of(writer, work), FAULTS_MARK=mark, **injected.environment))
        what = f"{writer.name}: {how} at call {place} ({injected.last()})"
        (folder / "err").write_text(done.stderr, encoding="utf-8")
        expect_no_orphans(mark)
        left = temporaries(files_in(work))
        expect(not left, f"{what}: left {left}")
        if done.returncode == 0:
            self.expect_complete(writer, work, old, what)
        else:
            expect(injected.failed() > 0, f"{what}: exit code {done.returncode} although nothing failed: {last_line(done.stderr)}")
            expect(how != "short" and not (how == "EINTR" and "write" in injected.last()), f"{what}: not repeated: {last_line(done.stderr)}")
            self.expect_refusal(writer, work, done, old, what)
        return injected.failed() > 0

    def expect_complete(self, writer, work, old, what):
        """Exit code 0: all that an undisturbed run writes is there, and new. (That a cache could not be kept is no failure.)"""
        rows = expect_whole(self.campaign, writer, work)
        if rows is not None:
            expect(set(rows) == self.undisturbed.of(writer).cells, f"{what}: exit code 0 with {len(rows)} rows, not {len(self.undisturbed.of(writer).cells)}")
        missing = self.undisturbed.of(writer).files - files_in(work)
        expect(not missing, f"{what}: exit code 0, but these are missing: {sorted(missing)}")
        for name, content in old.items():  # samples differ from run to run
            expect((work / name).read_bytes() != content or name not in TIMED or writer.limits, f"{what}: exit code 0 with the old {name}")

    def expect_refusal(self, writer, work, done, old, what):
        message = one_message(done, what)
        names = [os.path.basename(name) for name in files_in(work) | set(writer.outputs)] + ["folder", "tables"]
        expect(any(name.split(".")[0] in message for name in names), f"{what}: the message names no file: {message}")
        for name, content in old.items():
            expect((work / name).exists(), f"{what}: the old {name} is gone")
            if (work / name).read_bytes() != content:
                self.expect_readable(name, work, what)
        for name in writer.outputs:
            if name not in old and (work / name).exists():
                self.expect_readable(name, work, what)

    def expect_readable(self, name, work, what):
        """A file that is not the old one is whole: a sweep that could not write its last row has the others."""
        if name.endswith((".json", ".jsonl", ".pickle", ".json.gz")):
            done = self.campaign.run(["validate", name], work)
            expect(done.returncode == 0 or "limits" in what, f"{what}: {name} is not whole: {(done.stdout + done.stderr).strip()[:200]}")


# ---- a kill just before every call that writes ----

class KilledCalls(Disk):
    """As moments drawn by the clock rarely fall between two calls, a signal comes before each of them in turn."""

    faults = [("signal", FILES, False)]

    def try_point(self, folder, writer, how, calls, onward, place):
        how = ["KILL", "TERM", "INT", "HUP"][(place + len(writer.name)) % 4]
        work = folder / "work"
        prepare(writer, work, self.inputs, self.campaign)
        if self.campaign.short and place % 2:  # the few that there is time for: between a file's two names
            calls = "rename"
        injected = Injected(self.campaign, folder, how, calls, place, False)
        mark = f"{os.getpid()}-calls-{folder.name}"
        done = self.campaign.run(writer.words, work, environment=dict(environment_of(writer, work), FAULTS_MARK=mark, **injected.environment))
        what = f"{writer.name}: {how} before call {place} ({injected.last()})"
        expect_no_orphans(mark)
        if not injected.failed():
            return False
        expect(done.returncode in (0, 4, 130) or done.returncode < 0, f"{what}: exit code {done.returncode}: {last_line(done.stderr)}")
        left = temporaries(files_in(work))
        expect(not left or how == "KILL", f"{what}: left {left}")
        rows = rows_of(work / writer.rows) if writer.rows else None
        words = writer.words
        if writer.resumes() and ((work / writer.rows).exists() or (work / "folder" / "suite.json").exists()):
            words = writer.again
        after = self.campaign.run(words, work, environment=environment_of(writer, work))
        expect(after.returncode == 0, f"{what}: then exit code {after.returncode}: {last_line(after.stderr)}")
        expect_kept(rows, expect_whole(self.campaign, writer, work), what)
        left = temporaries(files_in(work))
        expect(not left, f"{what}: left {left}, and the next run too")
        return True


# ---- stdout ----

def stdout_points(campaign, inputs, outcome):
    """Every command that prints, with a stdout that takes nothing."""
    bench, other = inputs / "bench.json", inputs / "other.json"
    printers = [["--version"], ["--help"], ["help", "bench"], ["help", "man"], ["bench", "--help"], ["doctor"], ["plan", "--size", "tiny"], ["validate", bench],
                ["compare", bench, other], ["compare", bench, other, "--format", "json"], ["report", bench, "--out", "-"],
                ["bench", "--size", "tiny", "--dry-run"], ["memory", "--size", "tiny", "--plan-only"], ["suite", "--dry-run", "--device", "cpu"],
                ["bench", "--d-model", "8", "--d-ff", "8", "--num-layers", "1", "--num-heads", "2", "--vocab", "9", "--ctx", "4", "--steps", "1", "--device", "cpu", "--threads", "1"]]

    def attempt(random, folder, index):
        words, way = printers[index // 2], ["full", "closed"][index % 2]
        if words[0] == "report" and not campaign.has_page:
            raise Skip("report --out -: a build without the page")
        if way == "full":
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([campaign.program, *map(str, words)], cwd=folder, env=campaign.environment, stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        else:
            line = 'exec "$0" "$@" >&-'
            done = subprocess.run(["sh", "-c", line, campaign.program, *map(str, words)], cwd=folder, env=campaign.environment, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        what = f"{' '.join(map(str, words))} with stdout {way}"
        expect(done.returncode == 1, f"{what}: exit code {done.returncode}: {last_line(done.stderr)}")
        expect("stdout" in one_message(done, what), f"{what}: the message does not say stdout: {last_line(done.stderr)}")
        outcome.add()
        return what

    return attempt, 2 * len(printers)


def run(campaign, inputs, limits):
    if not campaign.inject:
        raise SystemExit("disk: --inject LIBRARY is needed (tests/faults/inject.c)")
    outcome = Outcome("disk", campaign.seed)
    run_tries(campaign, outcome, Disk(campaign, inputs, limits, outcome).attempt, n=30 if campaign.short else None)
    return outcome


def run_stdout(campaign, inputs, limits):
    outcome = Outcome("stdout", campaign.seed)
    attempt, n = stdout_points(campaign, inputs, outcome)
    run_tries(campaign, outcome, attempt, n=n)
    return outcome


def run_calls(campaign, inputs, limits):
    outcome = Outcome("killed-calls", campaign.seed)
    run_tries(campaign, outcome, KilledCalls(campaign, inputs, limits, outcome).attempt, n=30 if campaign.short else None)
    return outcome

