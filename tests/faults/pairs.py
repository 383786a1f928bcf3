"""Two processes on one file or in one folder. Either one is refused, by a line that names the file, or both end well; rows of a command that
succeeded are in the file, and the file is whole."""
import os
import shutil
import subprocess

from campaign import Outcome, expect, expect_no_orphans, files_in, last_line, rows_of, run_tries
from commands import DEVICE, MODEL
from kills import temporaries

SMALL = ["--d-model", "16", "--d-ff", "32", "--num-layers", "1", "--num-heads", "2", "--vocab", "20", "--batch", "1", "--warmup", "1", *DEVICE]


def bench(*more):
    return ["bench", *SMALL, *more]


def start(campaign, words, folder, mark, name):
    with open(folder / f"{name}.err", "w", encoding="utf-8") as errors, open(folder / f"{name}.out", "w", encoding="utf-8") as out:
        return subprocess.Popen([campaign.program, *map(str, words)], cwd=folder / "work", env=dict(campaign.environment, FAULTS_MARK=mark),
                                stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)


def both(campaign, first, second, folder, random):
    """Exit codes and messages of the two, started together or nearly so."""
    mark = f"{os.getpid()}-pairs-{folder.name}"
    processes = []
    for name, words in (("a", first), ("b", second)):
        processes.append(start(campaign, words, folder, mark, name))
        if name == "a" and random.random() < 0.5:
            try:
                processes[0].wait(random.uniform(0, 0.05))
            except subprocess.TimeoutExpired:
                pass
    codes = [process.wait(120) for process in processes]
    expect_no_orphans(mark)
    return [(code, (folder / f"{name}.err").read_text(encoding="utf-8", errors="replace")) for code, name in zip(codes, "ab")]


def expect_refused_or_done(ends, name, what):
    for code, text in ends:
        expect(code in (0, 1, 2), f"{what}: exit code {code}: {last_line(text)}")
        expect(code == 0 or name in last_line(text), f"{what}: a refusal that does not name {name}: {last_line(text)}")
    expect(any(code == 0 for code, _ in ends), f"{what}: both were refused: {last_line(ends[0][1])}; {last_line(ends[1][1])}")


def steps_of(words):
    return set(words[words.index("--steps") + 1].split(","))


def expect_rows(path, words, ends, what):
    """The rows of each that said it was done are there."""
    rows = rows_of(path)
    expect(rows is not None, f"{what}: no file")
    there = {str(row["steps"]) for row in rows.values()}
    for command, (code, _) in zip(words, ends):
        if code == 0:
            expect(steps_of(command) <= there, f"{what}: exit code 0 and its rows are gone: {sorted(steps_of(command))} in {sorted(there)}")


def expect_one(ends, name, what):
    """Both take so long that they meet: one is done, the other was refused."""
    expect_refused_or_done(ends, name, what)
    expect(any(code != 0 for code, _ in ends), f"{what}: both ran at the same time and both say done")


# Half a second each, and no step count in common.
FIRST, SECOND = ["--ctx", "8,16", "--steps", "3001,3002,3003"], ["--ctx", "8,16", "--steps", "3004,3005,3006"]


def bench_and_bench(campaign, folder, random):
    file = random.choice(["out.json", "out.jsonl"])
    if random.random() < 0.3:
        campaign.must(bench("--ctx", "8", "--steps", "9", "--out", file), folder / "work")
    spelt = random.choice([file, f"./{file}", str(folder / "work" / file)])
    words = [bench(*FIRST, "--out", file), bench(*SECOND, "--out", spelt)]
    what = f"bench --out {file} and bench --out {spelt}"
    ends = both(campaign, *words, folder, random)
    expect_one(ends, file, what)
    expect_rows(folder / "work" / file, words, ends, what)
    return what


def resume_and_resume(campaign, folder, random):
    file = random.choice(["out.json", "out.jsonl"])
    campaign.must(bench("--ctx", "8", "--steps", "9", "--out", file), folder / "work")
    words = [bench(*FIRST, "--resume", file), bench(*SECOND, "--resume", file)]
    what = f"two bench --resume {file}"
    ends = both(campaign, *words, folder, random)
    expect_one(ends, file, what)
    expect_rows(folder / "work" / file, words, ends, what)
    expect(any(row["steps"] == 9 for row in rows_of(folder / "work" / file).values()), f"{what}: the row that was there before is gone")
    return what


def report_while_bench(campaign, folder, random):
    """A reader sees a whole file, whenever it looks."""
    words = bench("--ctx", "8,16,24", "--steps", "2,3,4,5", "--out", "out.json")
    campaign.must(bench("--ctx", "8", "--steps", "9", "--out", "out.json"), folder / "work")
    mark = f"{os.getpid()}-pairs-{folder.name}"
    process = start(campaign, words, folder, mark, "a")
    reads = 0
    while process.poll() is None or reads == 0:
        reader = random.choice([["validate", "out.json"], ["report", "out.json", "--tables", "tables"], ["compare", "out.json", "out.json"]])
        done = campaign.run(reader, folder / "work")
        expect(done.returncode in (0, 2) and "not JSON" not in done.stderr + done.stdout and "cut short" not in done.stderr + done.stdout,
               f"{reader[0]} while bench writes: exit code {done.returncode}: {last_line(done.stderr or done.stdout)}")
        reads += 1
    expect(process.wait() == 0, f"bench while it is read: exit code {process.returncode}")
    return f"{reads} reads while bench writes"


def same_folder(name, words, other):
    """Two commands that fill one folder: one is refused, or both files are whole."""
    def attempt(campaign, folder, random):
        ends = both(campaign, words, other, folder, random)
        expect_refused_or_done(ends, "folder", name)
        for file in sorted(files_in(folder / "work")):
            if file.endswith((".json", ".pickle", ".json.gz")):
                done = campaign.run(["validate", file], folder / "work")
                expect(done.returncode == 0, f"{name}: {file} is not whole: {done.stdout.strip()[:200]}")
        return name
    return attempt


def suite_and_suite(inputs):
    def attempt(campaign, folder, random):
        shutil.copytree(inputs / "suite", folder / "work", dirs_exist_ok=True)
        anew = ["suite", *MODEL, "--budget", "1s", "--out-dir", "folder"]
        words = [["suite", "--resume", "folder"], random.choice([["suite", "--resume", "folder"], anew])]
        ends = both(campaign, *words, folder, random)
        what = f"suite --resume folder and {' '.join(words[1][:2])}"
        expect_one(ends, "folder", what)
        done = campaign.run(["suite", "--resume", "folder"], folder / "work")
        expect(done.returncode == 0, f"{what}: then exit code {done.returncode}: {last_line(done.stderr)}")
        for file in ("bench.json", "attention.json", "results.json"):
            rows_of(folder / "work" / "folder" / file)
            expect(campaign.run(["validate", f"folder/{file}"], folder / "work").returncode == 0, f"{what}: {file} is not whole")
        return what
    return attempt


def new_suites(campaign, folder, random):
    """Two suites of two models in a folder that neither has made: their models must not mix."""
    first = ["suite", *MODEL, "--budget", "1s", "--out-dir", "folder"]
    second = ["suite", "--d-model", "16", *MODEL[2:], "--budget", "1s", "--out-dir", "folder"]
    ends = both(campaign, first, second, folder, random)
    expect_one(ends, "folder", "two new suites in one folder")
    widths = {row["d_model"] for row in (rows_of(folder / "work" / "folder" / "bench.json") or {}).values()}
    expect(len(widths) == 1, f"two new suites in one folder: rows of both models: {sorted(widths)}")
    return "two new suites"


def run(campaign, inputs, limits):
    outcome = Outcome("pairs", campaign.seed)
    profile = ["profile", *MODEL, "--warmup", "1", "--steps", "2", "--out-dir", "folder"]
    ways = [bench_and_bench, resume_and_resume, report_while_bench, suite_and_suite(inputs), same_folder("two profiles in one folder", profile, profile)]
    if limits:
        ways.append(new_suites)

    def attempt(random, folder, index):
        (folder / "work").mkdir()
        what = ways[index % len(ways)](campaign, folder, random)
        left = temporaries(files_in(folder / "work"))
        expect(not left, f"{what}: left {left}")
        outcome.add()
        return what

    run_tries(campaign, outcome, attempt, n=len(ways) if campaign.short else None)
    return outcome
