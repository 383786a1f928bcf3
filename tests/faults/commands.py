"""Every command that writes, on a model so small that a step takes microseconds, and the files that commands read."""
import dataclasses
import json
import os
import signal
import subprocess
import time

from campaign import expect, rows_of

# --threads 1: what is tried is not the arithmetic.
DEVICE = ["--device", "cpu", "--threads", "1"]
MODEL = ["--d-model", "32", "--d-ff", "64", "--num-layers", "1", "--num-heads", "2", "--vocab", "50", "--ctx", "16", "--batch", "1", *DEVICE]
SWEEP = ["--d-model", "32", "--d-ff", "64", "--num-layers", "1", "--num-heads", "2", "--vocab", "50", "--ctx", "8,16,24,32", "--batch", "1",
         "--precision", "fp32,bf16", "--warmup", "1", "--steps", "3", *DEVICE]


@dataclasses.dataclass
class Writer:
    """A command that writes. `again` is what goes on after a kill: --resume where the command has it, otherwise the command itself."""
    name: str
    words: list
    outputs: list  # files that must be there at the end
    again: list = None
    rows: str = None  # the output whose rows must survive a kill
    old: bool = True  # may replace a file of the same name: half of the tries have one
    template: str = None  # a folder of the inputs that a try begins with a copy of
    cells: bool = False  # runs cells in processes of their own
    limits: bool = False  # needs stored limits, or it measures half a minute
    page: bool = False  # needs a build with the HTML page
    longest: float = None  # kill within so many seconds, when the whole takes too long
    own_cache: bool = False  # stores limits of its own
    weight: int = 2

    def resumes(self):
        return self.again is not None


def writers(inputs):
    """`inputs` is the folder that make_inputs() filled."""
    bench, other, profile = inputs / "bench.json", inputs / "other.json", inputs / "profile"
    suite = ["suite", *MODEL, "--budget", "1s", "--out-dir", "folder"]
    like = ["suite", "--like", "rtx5090", "--size", "tiny", *DEVICE, "--budget", "2s", "--out-dir", "folder"]
    return [
        Writer("bench", ["bench", *SWEEP, "--out", "out.json"], ["out.json"], ["bench", *SWEEP, "--resume", "out.json"], "out.json", cells=True, weight=8),
        Writer("bench jsonl", ["bench", *SWEEP, "--out", "out.jsonl"], ["out.jsonl"], ["bench", *SWEEP, "--resume", "out.jsonl"], "out.jsonl", cells=True, weight=4),
        Writer("bench csv", ["bench", *SWEEP, "--out", "out.csv", "--out-json", "out.json"], ["out.csv", "out.json"],
               ["bench", *SWEEP, "--out", "out.csv", "--resume", "out.json", "--out-json", "out.json"], "out.json", cells=True),
        Writer("attention", ["attention", "--d-head", "16", "--ctx", "32,64", "--batch", "1", "--attention", "naive,flash", "--steps", "3", *DEVICE, "--out", "out.json"],
               ["out.json"], ["attention", "--d-head", "16", "--ctx", "32,64", "--batch", "1", "--attention", "naive,flash", "--steps", "3", *DEVICE, "--resume", "out.json"],
               "out.json", cells=True, weight=4),
        Writer("profile", ["profile", *MODEL, "--warmup", "1", "--steps", "2", "--out-dir", "folder"], ["folder/profile.json", "folder/profile_trace.json.gz"], cells=True, weight=4),
        Writer("profile --out", ["profile", *MODEL, "--warmup", "1", "--steps", "2", "--out", "out.json"], ["out.json"], cells=True),
        Writer("memory", ["memory", *MODEL, "--out", "out.json", "--snapshot", "out.pickle", "--svg", "out.svg"], ["out.json", "out.pickle", "out.svg"], cells=True, weight=4),
        Writer("precision", ["precision", *MODEL, "--warmup", "1", "--steps", "2", "--out", "out.json"], ["out.json"], cells=True),
        Writer("warmup", ["warmup", *MODEL, "--steps", "2", "--rounds", "1", "--out", "out.json"], ["out.json"], cells=True),
        Writer("limits", ["limits", *DEVICE, "--out", "out.json"], ["out.json"], limits=True),
        Writer("limits --refresh", ["limits", *DEVICE, "--refresh", "--keep", "--out", "out.json"], ["out.json"], limits=True, longest=2, own_cache=True, weight=1),
        Writer("export", ["export", *MODEL, "--steps", "1", "--out", "out.safetensors"], ["out.safetensors"]),
        Writer("report", ["report", bench, profile / "profile.json", profile / "profile_trace.json.gz", inputs / "memory.json", "--out", "out.html", "--tables", "tables"],
               ["out.html", "tables/tables.md"], page=True),
        Writer("report --tables", ["report", bench, other, "--tables", "tables"], ["tables/tables.md"]),
        Writer("compare", ["compare", bench, other, "--out", "out.md"], ["out.md"], weight=1),
        Writer("validate", ["validate", bench, inputs / "memory.pickle", profile / "profile_trace.json.gz"], [], old=False, weight=1),
        Writer("suite", ["suite", "--resume", "folder"], ["folder/results.json", "folder/tables.md"], ["suite", "--resume", "folder"], "folder/bench.json",
               old=False, template="suite", cells=True, weight=6),
        Writer("suite anew", suite, ["folder/results.json"], ["suite", "--resume", "folder"], "folder/bench.json", old=False, cells=True, limits=True, weight=2),
        Writer("suite --like", like, ["folder/results.json"], like, "folder/results.json", old=False, cells=True, limits=True, weight=1),
    ]


def choose(campaign, inputs, limits):
    """The writers that can be tried here."""
    return [w for w in writers(inputs) if (not w.page or campaign.has_page) and (not w.limits or limits)]


def begun_suite(campaign, folder):
    """A suite whose limits count as measured (they take half a minute). Every try goes on with a copy of it."""
    words = ["suite", *MODEL, "--budget", "1s", "--out-dir", "folder"]
    process = subprocess.Popen([campaign.program, *words], cwd=folder, env=campaign.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    state = folder / "folder" / "suite.json"
    for _ in range(500):
        if state.exists() and state.stat().st_size:
            break
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    suite = json.loads(state.read_text(encoding="utf-8"))
    for part in suite["parts"]:  # one that was quick may be done
        part["state"] = "done" if part["name"] == "limits" else "waiting"
    state.write_text(json.dumps(suite), encoding="utf-8")


def make_inputs(campaign, limits):
    """What readers are given, written by the program itself. With `limits` the machine's limits are measured first."""
    inputs = campaign.work / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    if limits:
        campaign.must(["limits", *DEVICE, "--keep", "--out", "limits.json"], inputs, timeout=300)
    campaign.must(["bench", *SWEEP, "--out", "bench.json", "--out-json", "bench.jsonl"], inputs)
    campaign.must(["bench", *SWEEP, "--out", "other.json"], inputs)
    campaign.must(["attention", "--d-head", "16", "--ctx", "32,64", "--batch", "1", "--steps", "3", *DEVICE, "--out", "attention.json"], inputs)
    campaign.must(["profile", *MODEL, "--steps", "2", "--out-dir", "profile"], inputs)
    campaign.must(["memory", *MODEL, "--out", "memory.json", "--snapshot", "memory.pickle", "--svg", "memory.svg"], inputs)
    campaign.must(["precision", *MODEL, "--steps", "2", "--out", "precision.json"], inputs)
    campaign.must(["warmup", *MODEL, "--steps", "2", "--rounds", "1", "--out", "warmup.json"], inputs)
    (inputs / "suite").mkdir(exist_ok=True)
    begun_suite(campaign, inputs / "suite")
    return inputs


def expect_whole(campaign, writer, folder):
    """Every output is there and whole, as far as `validate` knows its format."""
    for name in writer.outputs:
        expect((folder / name).exists(), f"{name} is not there")
        if name.endswith((".json", ".jsonl", ".pickle", ".json.gz")) and "limits" not in writer.name:
            done = campaign.run(["validate", name], folder)
            expect(done.returncode == 0, f"validate {name}: {(done.stdout + done.stderr).strip()[:300]}")
    if writer.rows:
        return rows_of(folder / writer.rows, ended=True)
    return None

