"""Runs the cases of environment.py and judges them."""
import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import termios
import time

from campaign import Enough, Outcome, Skip, expect, expect_no_orphans, files_in, last_line, rows_of, run_tries
from environment import all_cases, commands
from files import without_root
from kills import temporaries

SECONDS = 60


def command_line(case, campaign, words, folder):
    inner = [shutil.which("bash"), "-c", f'{case.shell}; exec "$0" "$@"', campaign.program, *map(str, words)]
    if case.nobody:
        prefix = without_root(folder)
        if not prefix and os.getuid() == 0:
            raise Skip("without setpriv nothing is forbidden to root")
        return [*prefix, *inner]
    if case.root:
        if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
            raise Skip("an empty /proc: needs root and unshare -m")
        return ["unshare", "-m", "bash", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"', *inner]
    return inner


def starts(case, campaign):
    """Whether the program gets as far as main(): where address space is short OpenBLAS's x86 build, which takes its buffers when it is
    loaded, tries for ever. Nothing of ours runs before that."""
    if not case.shell.startswith("ulimit -v"):
        return True
    words = ["bash", "-c", f'{case.shell}; exec timeout -s KILL 5 "$0" --version', campaign.program]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode not in (137, -signal.SIGKILL)


def environment_of(case, campaign, mark):
    environment = dict(campaign.environment)
    if case.without == ("*",):
        return {"FAULTS_MARK": mark}
    for name in case.without:
        environment.pop(name, None)
    environment.update({name: value.replace("\0", "") for name, value in case.variables.items()})
    environment["FAULTS_MARK"] = mark
    return environment


class Run:
    """One case run to its end: its code, and what it printed."""

    def __init__(self, case, campaign, words, folder, mark):
        self.line = command_line(case, campaign, words, folder)
        self.environment = environment_of(case, campaign, mark)
        self.folder = folder
        self.code = self.to_terminal(case.terminal) if case.terminal else self.to_files()
        self.out = (folder / "out").read_text(encoding="utf-8", errors="replace")
        self.err = (folder / "err").read_text(encoding="utf-8", errors="replace")

    def to_files(self):
        """Through pipes: a limit on files is one on what the program writes."""
        process = subprocess.Popen(self.line, cwd=self.folder / "work", env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return self.wait(process, 0)
        (self.folder / "out").write_bytes(out)
        (self.folder / "err").write_bytes(err)
        return process.returncode

    def wait(self, process, seconds=SECONDS):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            expect(False, f"no end within {SECONDS} s")

    def to_terminal(self, size):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
        process = subprocess.Popen(self.line, cwd=self.folder / "work", env=self.environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        printed = b""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            printed += piece
        os.close(master)
        (self.folder / "out").write_bytes(printed)
        (self.folder / "err").write_bytes(b"")
        return self.wait(process)


def expect_results_alone(work, what):
    """Every file that should be JSON is, and no message stands in a file."""
    for name in sorted(files_in(work)):
        path = work / name
        if name.endswith((".json", ".jsonl")) and "cache" not in name and os.access(path, os.R_OK) and name.count("/") < 2:
            if name in ("out.json", "folder/bench.json"):
                rows_of(path)
        data = path.read_bytes()[:100]
        expect(not data.startswith(b"roofstep") and not data.startswith(b"["), f"{what}: {name} begins with {data[:60]!r}")


class Environment:
    def __init__(self, campaign, inputs, outcome):
        self.campaign, self.outcome, self.inputs = campaign, outcome, inputs
        self.commands = commands(inputs)
        self.cases = all_cases(campaign.sanitized)
        self.good = {name: campaign.run(self.commands[name], campaign.work).stdout for name in ("validate", "compare", "help")}

    def attempt(self, random, folder, index):
        if index >= len(self.cases) and not self.campaign.short:
            raise Enough("every case was tried")
        case = random.choice(self.cases) if self.campaign.short else self.cases[index]
        if not starts(case, self.campaign):
            raise Skip("a library does not end its start with so little address space")
        work = folder / "work"
        work.mkdir()
        if case.command == "suite":
            shutil.copytree(self.inputs / "suite", work, dirs_exist_ok=True)
        what = f"{case.command} with {case.name}"
        mark = f"{os.getpid()}-environment-{index}"
        done = Run(case, self.campaign, self.commands[case.command], folder, mark)
        expect_no_orphans(mark)
        self.judge(case, done, work, what)
        self.outcome.add()
        return what

    def judge(self, case, done, work, what):
        message = last_line(done.err or done.out)
        died = done.code < 0 and -done.code in case.may_die
        expect(done.code >= 0 or died, f"{what}: died of signal {-done.code}: {message}")
        expect(died or done.code == 0 or done.code in case.may, f"{what}: exit code {done.code}: {message}")
        if done.code != 0 and not died and "exec 2>" not in case.shell and "2>&-" not in case.shell:
            expect(done.err.strip() or done.out.strip(), f"{what}: exit code {done.code} and no message")
        if case.nobody:
            subprocess.run(["chmod", "-R", "u+rwX", str(work)], check=False)
        left = temporaries(files_in(work))
        expect(not left or -done.code in (signal.SIGKILL, signal.SIGXCPU), f"{what}: left {left}")
        expect_results_alone(work, what)
        if done.code == 0 and "--out" in self.commands[case.command] and "out.json" in self.commands[case.command] and "cd " not in case.shell:
            checked = self.campaign.run(["validate", "out.json"], work)
            expect(checked.returncode == 0, f"{what}: out.json: {(checked.stdout + checked.stderr).strip()[:200]}")
        if case.same:
            expect(done.out == self.good[case.command], f"{what}: prints something else than usual")


def run(campaign, inputs, limits):
    outcome = Outcome("environment", campaign.seed)
    run_tries(campaign, outcome, Environment(campaign, inputs, outcome).attempt, n=80 if campaign.short else None)
    return outcome
