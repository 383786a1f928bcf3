"""A hostile environment: limits, locales, OMP_*, places that cannot be written, closed descriptors, odd terminals. The command does its work, or
refuses with one line; it dies of no signal but one that it was sent, and a result file holds results alone."""
import itertools
import signal

from commands import DEVICE, MODEL

STEP = ["--warmup", "1", "--steps", "2"]
NO_NAME = "x" * 5000


class Case:
    """`shell` runs before the program in the same process; `may` are the exit codes that are as good as 0."""

    def __init__(self, name, shell=":", variables=None, without=(), command="bench", may=(1, 2), nobody=False, root=False, terminal=None, same=False, may_die=()):
        self.name, self.shell, self.variables, self.without, self.command, self.may = name, shell, variables or {}, without, command, may
        self.nobody, self.root, self.terminal, self.same, self.may_die = nobody, root, terminal, same, may_die


def commands(inputs):
    out = ["--out", "out.json"]
    return {
        "bench": ["bench", *MODEL, *STEP, *out],
        "bench, default threads": ["bench", *MODEL[:-2], *STEP, *out],
        "bench, long": ["bench", *MODEL, "--steps", "100000000", *out],
        "bench, printed": ["bench", *MODEL, *STEP],
        "profile": ["profile", *MODEL, *STEP, "--out-dir", "folder"],
        "memory": ["memory", *MODEL, *out, "--snapshot", "out.pickle", "--svg", "out.svg"],
        "precision": ["precision", *MODEL, *STEP, *out],
        "export": ["export", *MODEL, "--steps", "1", "--out", "out.safetensors"],
        "validate": ["validate", inputs / "bench.json", inputs / "memory.pickle", inputs / "profile" / "profile_trace.json.gz"],
        "compare": ["compare", inputs / "bench.json", inputs / "other.json"],
        "tables": ["report", inputs / "bench.json", "--tables", "tables"],
        "doctor": ["doctor"],
        "plan": ["plan", "--size", "tiny", *DEVICE],
        "help": ["help", "man"],
        "limits": ["bench", *MODEL, *STEP, *out],
        "suite": ["suite", "--resume", "folder"],
    }


def limit_cases():
    for n, command in itertools.product((3, 4, 5, 6, 7, 8, 10, 12, 16), ("bench", "profile", "validate")):
        yield Case(f"{n} descriptors", f"ulimit -n {n}", command=command, may=(1, 2, 4, 127) if n == 3 else (1, 2, 4))  # 127: the loader
    for n in (8, 16, 32):
        yield Case(f"{n} descriptors", f"ulimit -n {n}", command="suite", may=(1, 2, 4))
    for kib, command in itertools.product((20000, 60000, 100000, 200000, 400000, 1000000), ("bench", "validate", "plan", "export")):
        # Below what the libraries need to be loaded the loader says so, with 127.
        yield Case(f"{kib} KiB of address space", f"ulimit -v {kib}", command=command, may=(1, 2, 4, 127), may_die=(signal.SIGSEGV, signal.SIGABRT) if kib < 60000 else ())
    yield Case("a second of CPU time", "ulimit -t 1", command="bench, long", may=(1, 2, 4), may_die=(signal.SIGXCPU, signal.SIGKILL))
    for blocks, command in itertools.product((0, 1, 4, 16), ("bench", "profile", "memory", "export", "tables")):
        yield Case(f"files of {blocks} blocks", f"ulimit -f {blocks}", command=command, may=(1, 2, 4))
    for kib in (64, 128, 256, 1024, "unlimited"):
        for command in ("bench", "validate", "tables"):
            yield Case(f"a stack of {kib} KiB", f"ulimit -s {kib}", command=command, may=(1, 2, 4, 126, 127), may_die=(signal.SIGSEGV, signal.SIGKILL) if kib in (64, 128) else ())
    for n in (0, 1, 4):
        yield Case(f"{n} processes", f"ulimit -u {n}", command="bench", may=(1, 2, 4), nobody=True)


def locale_cases():
    for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "C", "POSIX", "C.UTF-8", "missing_LOCALE", "", "../../x", NO_NAME):
        for command in ("validate", "compare", "help"):
            yield Case(f"LC_ALL={name[:20]}", variables={"LC_ALL": name, "LANG": name, "LANGUAGE": name}, command=command, may=(), same=True)


def openmp_cases():
    odd = {
        "OMP_NUM_THREADS": ("0", "-1", "abc", "99999999999999999999", "1", "2,1", ""),
        "OMP_THREAD_LIMIT": ("0", "1", "x"),
        "OMP_DYNAMIC": ("true", "x"),
        "OMP_SCHEDULE": ("garbage", "static,0"),
        "OMP_PROC_BIND": ("spread", "close", "garbage"),
        "OMP_PLACES": ("nonsense", "{0}:99999", "cores"),
        "OMP_STACKSIZE": ("1", "garbage", "64k"),
        "OMP_WAIT_POLICY": ("active", "garbage", ""),
        "OMP_MAX_ACTIVE_LEVELS": ("0", "-1"),
        "OMP_CANCELLATION": ("true",),
        "GOMP_CPU_AFFINITY": ("0-9999", "x"),
        "GOMP_SPINCOUNT": ("infinite", "x"),
        "BLIS_NUM_THREADS": ("-5", "x", "7"),
        "OPENBLAS_NUM_THREADS": ("-5", "x"),
        "ROOFSTEP_CPU_HIDE": ("all", "nonsense", ",,,"),
    }
    for name, values in odd.items():
        for value in values:
            yield Case(f"{name}={value}", variables={name: value}, command="bench, default threads", may=(1, 2))


def place_cases():
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        for value in ("", "relative", "/nonexistent/x", "a file", "/dev/null", "/proc", NO_NAME, "a\nb\x1b[31m"):
            yield Case(f"{name}={value[:20]!r}", "touch 'a file'", variables={name: value}, without=("XDG_CACHE_HOME",) if name == "HOME" else (), command="bench", may=())
        yield Case(f"no {name}", without=(name,), command="bench", may=())
    yield Case("no variable at all", without=("*",), command="bench", may=())
    yield Case("a folder that cannot be written", "cd /", command="bench", nobody=True, may=(1, 2))
    yield Case("a cache that cannot be written", "mkdir c; chmod 555 c", variables={"XDG_CACHE_HOME": "c"}, command="bench", nobody=True, may=())
    yield Case("a folder that is gone", 'mkdir gone; cd gone; rmdir ../gone', command="bench", may=(1, 2))
    yield Case("a folder that is gone", 'mkdir gone; cd gone; rmdir ../gone', command="validate", may=())
    yield Case("no PATH", variables={"PATH": ""}, command="bench", may=())
    yield Case("no PATH", variables={"PATH": ""}, command="suite", may=())
    yield Case("no PATH", without=("PATH",), command="doctor", may=())
    for mask, command in itertools.product(("777", "000", "077"), ("bench", "profile", "tables")):
        yield Case(f"umask {mask}", f"umask {mask}", command=command, nobody=mask == "777", may=(1, 2))
    yield Case("nice 19", "renice -n 19 $$ >/dev/null", command="bench", may=())
    yield Case("signals ignored", "trap '' INT TERM HUP PIPE CHLD", command="bench", may=())
    yield Case("signals ignored", "trap '' INT TERM HUP PIPE CHLD", command="suite", may=())
    for command in ("bench", "profile", "suite", "doctor", "plan", "validate"):
        # A suite cannot start its parts then: each is a failed one.
        yield Case("/proc is empty", command=command, root=True, may=(1, 4) if command == "suite" else (1, 2))


def descriptor_cases():
    for closed in ("0", "1", "2", "01", "02", "12", "012"):
        shell = "exec " + " ".join(f"{fd}>&-" for fd in closed)
        for command in ("bench", "profile", "memory", "export", "suite", "tables"):
            # What goes to a closed stdout is lost, and that may be said; a result file is not concerned.
            yield Case(f"descriptors {','.join(closed)} closed", shell, command=command, may=(1,) if "1" in closed else ())
    for command in ("help", "bench, printed", "compare", "doctor"):
        yield Case("a reader that is gone", "exec > >(:); sleep 0.05", command=command, may=(1,), may_die=(signal.SIGPIPE,))
    for command in ("bench", "validate", "profile"):
        yield Case("stderr is full", "exec 2>/dev/full", command=command, may=())
        yield Case("stdin is a folder", "exec </", command=command, may=())


def terminal_cases():
    for term in ("", "dumb", "xterm\x1b[31m", NO_NAME, "vt100"):
        yield Case(f"TERM={term[:12]!r}", variables={"TERM": term}, command="bench, printed", terminal=(24, 80), may=())
    for columns in ("0", "1", "-1", "abc", "99999", "999999999999999999999"):
        for command in ("bench, printed", "compare", "plan"):
            yield Case(f"COLUMNS={columns}", variables={"COLUMNS": columns, "TERM": "xterm"}, command=command, terminal=(24, 80), may=())
    for size in ((0, 0), (1, 1), (24, 5), (65535, 65535)):
        yield Case(f"a terminal of {size[0]} by {size[1]}", variables={"TERM": "xterm"}, without=("COLUMNS",), command="bench, printed", terminal=size, may=())


def all_cases(sanitized):
    """The address sanitizer takes terabytes of addresses and a large stack: limits on those say nothing of the program."""
    return [case for case in every_case() if not (sanitized and case.shell.startswith(("ulimit -v", "ulimit -s")))]


def every_case():
    return [*limit_cases(), *locale_cases(), *openmp_cases(), *place_cases(), *descriptor_cases(), *terminal_cases()]
