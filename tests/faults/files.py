"""Hostile files into every command that reads, best with a build that has the sanitizers: bytes that mean harm, and what is no file at all.
No crash, no message of a sanitizer, an end within a minute, bounded memory, one line when it is refused, and nothing that a terminal acts on."""
import contextlib
import os
import re
import shutil
import stat
import subprocess
import threading
import time

from campaign import Enough, Outcome, expect, last_line, run_tries
from commands import DEVICE
from hostile_inputs import contents, small_inputs

MOST_MIB = 6144  # a tree may take 4 GiB, its text comes on top
ONE_AT_A_TIME = threading.Lock()  # of those that take so much
SECONDS = 60  # three times as long with the sanitizers
# What a terminal acts on: C0 but tab and line end, DEL, and C1 as UTF-8.
ACTS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def readers(campaign, good):
    """What is run on a hostile file `f`; the file itself is written where the command looks for it."""
    listed = {
        "validate": lambda f, d: ["validate", f],
        "report --tables": lambda f, d: ["report", f, "--tables", "tables"],
        "report, two files": lambda f, d: ["report", good, f, "--tables", "tables"],
        "compare": lambda f, d: ["compare", good, f],
        "compare, the other way": lambda f, d: ["compare", f, good],
        "bench --resume": lambda f, d: ["bench", "--d-model", "8", "--d-ff", "8", "--num-layers", "1", "--num-heads", "2", "--vocab", "9", "--ctx", "4", "--batch", "1",
                                        "--steps", "1", *DEVICE, "--resume", f, "--out-json", "resumed.json"],
        "plan --limits": lambda f, d: ["plan", "--size", "tiny", "--limits", f],
        "profile --from": lambda f, d: ["profile", "--from", into(f, d / "from", "profile.json")],
        "profile --from csv": lambda f, d: ["profile", "--from", into(f, d / "csv", "x_cuda_gpu_kern_sum.csv")],
        "suite --resume": lambda f, d: ["suite", "--resume", into(f, d / "suite", "suite.json")],
        "suite --like": lambda f, d: ["suite", "--like", "8gb", "--dry-run", *DEVICE, "--out-dir", into(f, d / "like", "results.json")],
    }
    if campaign.has_page:
        listed["report"] = lambda f, d: ["report", f, "--out", "page.html"]
    return listed


def into(path, folder, name):
    folder.mkdir()
    os.symlink(path, folder / name)
    return folder.name


class Ended:
    pass


def run_measured(campaign, words, folder, prefix=()):
    """The program's end, what it printed and the most memory it had, in MiB."""
    done = Ended()
    environment = dict(campaign.environment)
    environment["ASAN_OPTIONS"] += f":hard_rss_limit_mb={2 * MOST_MIB}:allocator_may_return_null=1"
    with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        process = subprocess.Popen([*prefix, campaign.program, *map(str, words)], cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, start_new_session=True)
    seconds = SECONDS * (3 if campaign.sanitized else 1)
    end = time.monotonic() + seconds
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            process.kill()
            pid, status, usage = os.wait4(process.pid, 0)
            process.returncode = -9
            expect(False, f"{' '.join(map(str, words))}: no end within {seconds} s")
        time.sleep(0.005)
    process.returncode = done.code = os.waitstatus_to_exitcode(status)
    done.mib = usage.ru_maxrss / 1024
    done.out, done.err = (folder / "out").read_bytes(), (folder / "err").read_bytes()
    return done


def expect_neutral(campaign, done, what):
    """The rules for every reader, whatever the file."""
    text = done.err.decode(errors="replace")
    for sign in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "UndefinedBehavior"):
        expect(sign not in text, f"{what}: {next((line for line in text.splitlines() if sign in line), '')[:300]}")
    expect(done.code >= 0, f"{what}: died of signal {-done.code}: {last_line(text)}")
    expect(done.code in (0, 1, 2, 3, 4, 5), f"{what}: exit code {done.code}: {last_line(text)}")
    expect(done.mib < MOST_MIB * (2 if campaign.sanitized else 1), f"{what}: took {done.mib:.0f} MiB")
    if done.code in (1, 2):
        lines = [line for line in text.splitlines() if line.startswith("roofstep") and "warning: " not in line]
        said = lines or [line for line in done.out.decode(errors="replace").splitlines() if ": bad: " in line]
        expect(len(lines) <= 1 and said, f"{what}: exit code {done.code}, {len(lines)} lines of message: {last_line(text)}")
    for stream in (done.out, done.err):
        found = ACTS.search(stream)
        expect(not found, f"{what}: a byte that a terminal acts on: {stream[max(found.start() - 40, 0):found.end() + 20] if found else b''!r}")


# ---- what is no plain file ----

def feed(path, data):
    """A writer for a FIFO; a reader that goes away early is no concern of it."""
    def write():
        try:
            with open(path, "wb") as pipe:
                pipe.write(data)
        except OSError:
            pass
    threading.Thread(target=write, daemon=True).start()


def specials(small):
    """Name -> what makes it at that path."""
    good = small["bench.json"].read_bytes()

    def fifo(data):
        def make(path):
            os.mkfifo(path)
            feed(path, data)
        return make

    def unreadable(path):
        path.write_bytes(good)
        path.chmod(0)

    return {
        "a directory": lambda p: p.mkdir(),
        "nothing": lambda p: None,
        "a link to itself": lambda p: p.symlink_to(p.name),
        "a link to nowhere": lambda p: p.symlink_to("nowhere"),
        "/dev/null": lambda p: p.symlink_to("/dev/null"),
        "/dev/zero": lambda p: p.symlink_to("/dev/zero"),
        "/dev/full": lambda p: p.symlink_to("/dev/full"),
        "/proc/self/mem": lambda p: p.symlink_to("/proc/self/mem"),
        "/proc/self/environ": lambda p: p.symlink_to("/proc/self/environ"),
        "an empty pipe": fifo(b""),
        "a pipe with half a file": fifo(good[: len(good) // 2]),
        "no permission": unreadable,
    }


def is_large(name):
    return " MB" in name or " million " in name or name == "/dev/zero"


class Files:
    def __init__(self, campaign, inputs, outcome):
        self.campaign, self.outcome = campaign, outcome
        small = small_inputs(campaign, inputs)
        self.readers = list(readers(campaign, small["bench.json"]).items())
        self.made = [made for made in contents(small) + list(specials(small).items()) if not (campaign.short and is_large(made[0]))]
        self.order = list(range(len(self.readers) * len(self.made)))

    def attempt(self, random, folder, index):
        if index >= len(self.order) and self.campaign.only is None:
            raise Enough("every hostile file was given to every reader")
        place = random.randrange(len(self.order)) if self.campaign.short else index
        (reader, words_of), (name, data) = self.readers[place % len(self.readers)], self.made[place // len(self.readers)]
        work = folder / "work"
        work.mkdir()
        if callable(data) and ("pipe" in name and reader in ("bench --resume", "report, two files", "profile --from csv")):
            return None  # read twice, or with others: a pipe has nothing the second time
        path = work / random.choice(["hostile.json", "hostile.json.gz", "hostile.pickle", "hostile.csv", "hostile"] if name.split(":")[0] != "gzip" else ["hostile.json.gz"])
        if callable(data):
            data(path)
        else:
            path.write_bytes(data)
        prefix = []
        if name == "no permission":
            prefix = without_root(folder)
        what = f"{reader} on {name} ({path.name})"
        with ONE_AT_A_TIME if is_large(name) else contextlib.nullcontext():
            done = run_measured(self.campaign, words_of(path, work), folder, prefix)
        expect_neutral(self.campaign, done, what)
        expect(not (work / "owned").exists(), f"{what}: the file was run")
        if name == "no permission" and prefix:
            expect(done.code != 0, f"{what}: exit code 0")
        if stat.S_ISFIFO(os.lstat(path).st_mode) if os.path.lexists(path) else False:
            drain(path)
        self.outcome.add()
        return what


def drain(path):
    """Lets a writer go that nobody read from."""
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def without_root(folder):
    """For root no file is forbidden: the program then runs as nobody, where that is possible."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        return []
    for place in (folder, folder / "work"):
        place.chmod(0o777)
    return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def run(campaign, inputs, limits):
    outcome = Outcome("files", campaign.seed)
    run_tries(campaign, outcome, Files(campaign, inputs, outcome).attempt, n=60 if campaign.short else None)
    return outcome


