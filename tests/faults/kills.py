"""Signals at random moments, to the program, its process group or the process of a cell; then the command goes on.

After every kill: no process is left, no temporary file, the output is the old file or a whole one. After the last one the
command runs to its end: nothing that was finished is lost or measured again, no row is there twice, and every file of an undisturbed
run is there and no other."""
import os
import random as random_numbers
import shutil
import signal
import subprocess
import threading
import time

from campaign import Fault, Outcome, expect, expect_kept, expect_no_orphans, files_in, last_line, processes_marked, rows_of, run_tries
from commands import choose, expect_whole

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


class Undisturbed:
    """What each command does when nothing disturbs it: how long it takes (moments of kills are drawn from that), which files and rows it leaves.
    Found out when it is first asked for."""

    def __init__(self, campaign, inputs):
        self.campaign, self.inputs = campaign, inputs
        self.known, self.lock = {}, threading.Lock()

    def of(self, writer):
        with self.lock:
            if writer.name not in self.known:
                self.known[writer.name] = self.find_out(writer)
            return self.known[writer.name]

    def find_out(self, writer):
        if writer.longest is not None:
            return Run(writer.longest, None, None)
        folder = self.campaign.work / "undisturbed" / writer.name.replace(" ", "_")
        prepare(writer, folder, self.inputs, self.campaign)
        begun = time.monotonic()
        self.campaign.must(writer.words, folder, environment=environment_of(writer, folder), timeout=300)
        run = Run(time.monotonic() - begun, files_in(folder), set(rows_of(folder / writer.rows)) if writer.rows else None)
        shutil.rmtree(folder, ignore_errors=True)
        return run


class Run:
    def __init__(self, seconds, files, cells):
        self.seconds, self.files, self.cells = seconds, files, cells


def environment_of(writer, folder):
    return {"XDG_CACHE_HOME": str(folder / ".cache")} if writer.own_cache else {}


def prepare(writer, folder, inputs, campaign):
    folder.mkdir(parents=True, exist_ok=True)
    if writer.template:
        shutil.copytree(inputs / writer.template, folder, dirs_exist_ok=True)
    if writer.own_cache:
        shutil.copytree(campaign.work / "cache", folder / ".cache")


def temporaries(names):
    return sorted(name for name in names if name.endswith(".tmp") or ".tmp." in name)


def kill_once(campaign, random, writer, words, folder, mark, longest):
    """Starts the command and kills it at a random moment. Returns the signal, or None when it had ended before."""
    target = random.choice(["program", "program", "group", "cell"] if writer.cells else ["program", "group"])
    number = random.choice(SIGNALS)
    moment = random.uniform(0, longest * 1.15)
    environment = dict(campaign.environment, FAULTS_MARK=mark, **environment_of(writer, folder))
    with open(folder.parent / (folder.name + ".err"), "w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen([campaign.program, *map(str, words)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        time.sleep(moment)
        hit = send(process, target, number, mark)
        try:
            code = process.wait(60)
        except subprocess.TimeoutExpired as error:
            for pid in processes_marked(mark):
                os.kill(pid, signal.SIGKILL)
            raise Fault(f"{writer.name}: no end within 60 s after {number.name} to the {target}") from error
        errors.seek(0)
        message = last_line(errors.read())
    what = f"{writer.name}: {number.name} to the {target} after {moment:.3f} s"
    expect_end(code, number, target, what, message)
    expect_no_orphans(mark)
    return (number, target, what) if hit else None


def send(process, target, number, mark):
    """Whether somebody was there to get it."""
    if process.poll() is not None:
        return False
    try:
        if target == "program":
            process.send_signal(number)
        elif target == "group":
            os.killpg(process.pid, number)
        else:
            cells = [pid for pid in processes_marked(mark) if pid != process.pid]
            if not cells:
                return False
            os.kill(random_numbers.choice(cells), number)
    except ProcessLookupError:
        return False
    return True


def expect_end(code, number, target, what, message):
    if target == "cell":
        expect(0 <= code <= 5 or code == 130, f"{what}: exit code {code}: {message}")
    else:
        expect(code in (0, 130, -number, 128 + number), f"{what}: exit code {code}: {message}")


class Kills:
    def __init__(self, campaign, inputs, limits, outcome):
        self.campaign, self.inputs, self.outcome = campaign, inputs, outcome
        self.writers = choose(campaign, inputs, limits)
        self.undisturbed = Undisturbed(campaign, inputs)
        self.bag = [writer for writer in self.writers for _ in range(writer.weight)]

    def attempt(self, random, folder, index):
        # Every command has its turn, however short the budget; then by weight.
        writer = self.writers[index] if index < len(self.writers) else random.choice(self.bag)
        place = folder / "work"
        prepare(writer, place, self.inputs, self.campaign)
        old = self.old_outputs(writer, place, random)
        words, known = writer.words, None
        for round_number in range(random.choice([1, 1, 2, 3]) if writer.resumes() else 1):
            mark = f"{os.getpid()}-{self.outcome.kind}-{index}-{round_number}"
            hit = kill_once(self.campaign, random, writer, words, place, mark, self.undisturbed.of(writer).seconds)
            known = self.expect_good(writer, place, hit, old, known)
            if hit:
                self.outcome.add()
            words = self.next_words(writer, place)
        self.finish(writer, place, words, known)
        return writer.name

    def old_outputs(self, writer, place, random):
        if not writer.old or random.random() < 0.5:
            return {}
        environment = environment_of(writer, place)
        if writer.longest is None:
            self.campaign.must(writer.words, place, environment=environment)
        return {name: (place / name).read_bytes() for name in writer.outputs if (place / name).exists()}

    def expect_good(self, writer, place, hit, old, known):
        what = hit[2] if hit else writer.name
        left = temporaries(files_in(place))
        # Nobody can tidy up after SIGKILL; the next run of the command does.
        if not (hit and hit[0] == signal.SIGKILL):
            expect(not left, f"{what}: left {left}")
        for name, content in old.items():
            expect((place / name).exists(), f"{what}: the old {name} is gone")
            if (place / name).read_bytes() != content and name.endswith((".json", ".jsonl", ".pickle")) and "limits" not in writer.name:
                done = self.campaign.run(["validate", name], place)
                expect(done.returncode == 0, f"{what}: {name} is neither the old one nor whole: {done.stdout.strip()[:200]}")
        if not writer.rows:
            return None
        rows = rows_of(place / writer.rows)
        if known is not None:
            expect_kept(known, rows, what)
        return rows

    def next_words(self, writer, place):
        if not writer.resumes():
            return writer.words
        begun = (place / writer.rows).exists() if not writer.rows.startswith("folder/") else (place / "folder" / "suite.json").exists()
        return writer.again if begun or writer.again == writer.words else writer.words

    def finish(self, writer, place, words, known):
        if writer.longest is not None:
            return  # too long to be run to its end a thousand times
        done = self.campaign.run(words, place, environment=environment_of(writer, place), timeout=300)
        expect(done.returncode == 0, f"{writer.name}, after the kill: exit code {done.returncode}: {last_line(done.stderr)}")
        rows = expect_whole(self.campaign, writer, place)
        if writer.rows:
            expect_kept(known, rows, f"{writer.name}, after the kill")
            wanted = self.undisturbed.of(writer).cells
            if writer.name != "suite --like":  # which of its rows have time differs from run to run
                expect(set(rows) == wanted, f"{writer.name}: {len(rows)} rows, not the {len(wanted)} of an undisturbed run")
        files, wanted = files_in(place), self.undisturbed.of(writer).files
        expect(files == wanted, f"{writer.name}: too many files: {sorted(files - wanted)}, missing: {sorted(wanted - files)}")


def run(campaign, inputs, limits):
    outcome = Outcome("kills", campaign.seed)
    kills = Kills(campaign, inputs, limits, outcome)
    run_tries(campaign, outcome, kills.attempt, n=len(kills.writers) if campaign.short else None)
    return outcome


