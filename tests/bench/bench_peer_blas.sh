#!/usr/bin/env bash
# usage: bench_peer_blas.sh PROGRAM: which BLAS library the PyTorch twin takes (peers/torch_blas.py): the fastest of the
# system's alternatives, unless it was told or led to one. PyTorch, the alternatives and the trials are stand-ins.
here=$(dirname "$(realpath "$0")")
. "$here/bench.sh"
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
mkdir -p bin lib/link lib/blas lib/slow lib/quick lib/broken
touch lib/{blas,slow,quick,broken}/libblas.so.3
ln -s ../slow/libblas.so.3 lib/link/libblas.so.3
cat >bin/update-alternatives <<'SH'
#!/bin/sh
[ -z "$NONE" ] || exit 2
printf 'Name: %s\nLink: %s/lib/link/libblas.so.3\nStatus: auto\n' "$2" "$ROOT"
for one in ${ONLY:-blas:10 slow:80 broken:5 quick:-1 removed:70}; do
    printf '\nAlternative: %s/lib/%s/libblas.so.3\nPriority: %s\n' "$ROOT" "${one%:*}" "${one#*:}"
done
SH
chmod +x bin/update-alternatives
ROOT=$dir PATH=$dir/bin:$PATH python3 - "$here/../../peers" <<'PYTHON' || fail "the choice is not as it should be"
import os, subprocess, sys, types
sys.modules["torch"] = types.ModuleType("torch")
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import torch_blas as blas

root = os.environ["ROOT"]
path = lambda folder: f"{root}/lib/{folder}/libblas.so.3"
times = {path("slow"): 2.0, path("quick"): 0.5, path("broken"): None}
tried, started = [], []

class Out:
    def send(self, **message):
        assert message["stage"].startswith("trial of "), message

def choose(loaded, libblas=None, by_onednn=None, **environment):
    tried.clear(), started.clear()
    blas.loaded = lambda: loaded
    blas.onednn = lambda dtype, shape: by_onednn
    blas.try_one = lambda one: tried.append(one) or times[one]
    os.environ.pop("LD_LIBRARY_PATH", None)
    os.environ.pop("NONE", None)
    os.environ.pop("ONLY", None)
    os.environ.update(environment)
    sys.argv = ["torch_bench.py", "--size", "tiny"]
    def replace(program, words, env):
        started.append((words, env))
        raise SystemExit
    os.execve = replace
    try:
        blas.choose(libblas, Out(), None, None)
    except SystemExit:
        pass

# As many threads as PyTorch has, and never more than processors.
processors = len(os.sched_getaffinity(0))
blas.loaded = lambda: None
for threads, given in ((1, 1), (processors, processors), (processors + 5, processors)):
    os.environ.pop("BLIS_NUM_THREADS", None)
    blas.set_threads(threads)
    assert os.environ.pop("BLIS_NUM_THREADS") == str(given), (threads, given)

# The reference library is not tried, nor one that is gone; the highest priority goes first, and the fastest is taken.
choose(path("link"))
assert tried == [path("slow"), path("broken"), path("quick")], tried
words, env = started[0]
assert words[2:] == ["torch_bench.py", "--size", "tiny", "--libblas", path("quick"), "--blas-tried",
                     "slow 2000 ms, broken failed, quick 500 ms"], words
assert env["LD_LIBRARY_PATH"] == f"{root}/lib/quick", env["LD_LIBRARY_PATH"]
# Later rounds are told, and try nothing; where it is loaded already, or leads nowhere, nothing is started again.
choose(path("link"), libblas=path("quick"), LD_LIBRARY_PATH="/elsewhere")
assert not tried and started[0][1]["LD_LIBRARY_PATH"] == f"{root}/lib/quick:/elsewhere"
choose(path("quick"), libblas=path("quick"), LD_LIBRARY_PATH=f"{root}/lib/quick")
assert not tried and not started
choose(path("slow"), libblas=path("quick"), LD_LIBRARY_PATH=f"{root}/lib/quick")
assert not started
# Led by the user's own LD_LIBRARY_PATH; products of oneDNN; no alternatives; a BLAS inside PyTorch.
choose(path("quick"), LD_LIBRARY_PATH=f"{root}/lib/quick")
assert not tried and not started
choose(path("link"), by_onednn="oneDNN 3.7 (gemm:jit)")
assert not tried and not started
choose(path("link"), NONE="1")
assert not tried and not started
choose(None)
assert not tried and not started
# One that is better than the reference library needs no trial.
choose(path("link"), ONLY="blas:10 quick:0")
assert not tried and started[0][0][-2:] == ["--libblas", path("quick")], started
choose(path("link"), ONLY="blas:10 slow:0")
assert not tried and not started
# No trial worked: what is loaded stays.
times = dict.fromkeys(times)
choose(path("link"))
assert len(tried) == 3 and not started
PYTHON
exit 0
