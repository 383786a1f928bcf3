"""Who multiplies matrices for PyTorch on a CPU, and which of the system's BLAS libraries it is fastest with.

What PyTorch was built with says little of it: Debian's takes whatever stands behind libblas.so.3, several BLAS
libraries may be in one process, and products of 16-bit numbers go to oneDNN. Used by torch_bench.py.
"""
import contextlib
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile

import torch

TRIAL_SECONDS = 120  # of one library, PyTorch's start among them; what takes longer is not the fastest


class Symbol(ctypes.Structure):
    """Dl_info of dlfcn.h."""
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]


def mapped(part):
    """Files in this process with `part` in their names."""
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if part in os.path.basename(line.split()[-1])}


def loaded():
    """The library whose sgemm_ PyTorch calls, by the path that the dynamic linker found it at; None without one.

    The linker looks for a function in what is global first, then in the libraries that the caller names."""
    process = ctypes.CDLL(None)
    for home in (process, *map(ctypes.CDLL, mapped("libtorch_cpu.so"))):
        with contextlib.suppress(AttributeError):
            found = Symbol()
            if process.dladdr(ctypes.cast(home.sgemm_, ctypes.c_void_p), ctypes.byref(found)) and found.file:
                return found.file.decode()
    return None


def told(library, function):
    """What a function without arguments of the library says in words; None where there is no such function."""
    try:
        function = getattr(library, function)
    except AttributeError:
        return None
    function.restype = ctypes.c_char_p
    return function().decode()


def name_of(path):
    """The library at this path, its version, and what it takes this processor for where it tells."""
    library, real = ctypes.CDLL(path), os.path.realpath(path)
    openblas = told(library, "openblas_get_config")
    if openblas:
        return f"{' '.join(openblas.split()[:2])} ({told(library, 'openblas_get_corename')})"
    if "blis" in real:  # its libblas.so.3 has no function for this, the library beside it has
        beside = glob.glob(os.path.join(os.path.dirname(real), "libblis.so.[0-9]*"))
        version = told(ctypes.CDLL(beside[0]), "bli_info_get_version_str") if beside else None
        return f"BLIS {version}" if version else "BLIS"
    if "mkl" in real or "libtorch" in real:  # part of PyTorch's own library where that was built so
        return mkl() or os.path.basename(real)
    return "reference BLAS" if os.path.basename(os.path.dirname(real)) == "blas" else os.path.basename(real)


def mkl():
    version = re.search(r"Math Kernel Library Version (\d[\d.]*)", torch.__config__.show())
    return f"MKL {version[1]}" if version and torch.backends.mkl.is_available() else None


def onednn(dtype, shape):
    """oneDNN and its kernel, where it computes such a product; None where it does not, or cannot be asked."""
    rows, inner, columns = shape
    with tempfile.TemporaryFile("w+") as said:
        kept = os.dup(1)
        try:
            os.dup2(said.fileno(), 1)  # where it writes, from C
            with torch.backends.mkldnn.verbose(1):
                torch.ones(rows, inner, dtype=dtype) @ torch.ones(inner, columns, dtype=dtype)
        except (AttributeError, AssertionError, RuntimeError):
            return None
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
        said.seek(0)
        text = said.read()
    kernel = re.search(r",exec,cpu,(?:matmul|inner_product),([^,]*)", text)
    version = re.search(r"MKL-DNN v(\d[\d.]*)", torch.__config__.show())
    return f"oneDNN{' ' + version[1] if version else ''} ({kernel[1]})" if kernel else None


def facts(dtype, shape):
    """Fields of the record; shape: rows, inner and columns of a product of the step."""
    by_onednn, path = onednn(dtype, shape), loaded()
    if by_onednn:
        return {"blas": by_onednn}
    if path is None:
        return {"blas": mkl()}
    return {"blas": name_of(path), "blas_path": os.path.realpath(path)}


def set_threads(threads):
    """PyTorch tells OpenMP and MKL alone. BLIS looks at the environment when it first multiplies, and has one otherwise.
    More threads than processors would wait awake for those that have none."""
    given = min(threads, len(os.sched_getaffinity(0)))
    os.environ.setdefault("BLIS_NUM_THREADS", str(given))
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(loaded()).openblas_set_num_threads(given)


# ---- which one ----

def alternatives():
    """What Debian offers for libblas.so.3: the link, and the libraries it can stand for, preferred ones first.
    The reference library is left out where there is another: it is never the fastest, and takes a minute to say so."""
    name = f"libblas.so.3-{sysconfig.get_config_var('MULTIARCH')}"
    try:
        asked = subprocess.run(["update-alternatives", "--query", name], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None, []
    link = re.search(r"^Link: (.+)$", asked.stdout, re.M)
    found = re.findall(r"^Alternative: (.+)\nPriority: (-?\d+)$", asked.stdout, re.M)
    paths = [path for path, _ in sorted(found, key=lambda one: -int(one[1])) if os.path.exists(path)]
    fast = [path for path in paths if os.path.basename(os.path.dirname(path)) != "blas"]
    return link and link[1], fast or paths


def with_library(path, *more):
    """This program's words and environment, so that the linker finds libblas.so.3 at the path."""
    folders = [os.path.dirname(path), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    words = [sys.executable, "-Wignore", *sys.argv, "--libblas", path, *more]
    return words, dict(os.environ, LD_LIBRARY_PATH=":".join(folders))


def start_again(path, *more):
    words, environment = with_library(path, *more)
    os.execve(words[0], words, environment)


def try_one(path):
    """Seconds of the trial step with this library; None where that went wrong."""
    words, environment = with_library(path, "--trial")
    try:
        child = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               timeout=TRIAL_SECONDS)
        return float(json.loads(child.stdout.splitlines()[-1])["seconds"])
    except (subprocess.TimeoutExpired, IndexError, KeyError, TypeError, ValueError):
        return None


def short(path):
    return os.path.basename(os.path.dirname(path))


def tried_text(seconds):
    return ", ".join(f"{short(path)} {'failed' if s is None else f'{s * 1e3:.0f} ms'}" for path, s in seconds.items())


def try_each(paths, out):
    seconds = {}
    for path in paths:
        out.send(stage=f"trial of {short(path)}", done=0, of=0)
        seconds[path] = try_one(path)
    return seconds


def choose(libblas, out, dtype, shape):
    """Starts this program again with the fastest BLAS there is. What `libblas` names, or what the user's own
    LD_LIBRARY_PATH leads to, is taken without a trial."""
    path = loaded()
    if path is None:
        return
    if libblas:
        led = os.environ.get("LD_LIBRARY_PATH", "").split(":")[0] == os.path.dirname(libblas)
        if not led and not os.path.samefile(path, libblas):
            start_again(libblas)
        return
    link, paths = alternatives()
    others = [one for one in paths if not os.path.samefile(path, one)]
    if not others or not os.path.samefile(os.path.dirname(path), os.path.dirname(link)) or onednn(dtype, shape):
        return
    if len(paths) == 1:
        start_again(paths[0])
    seconds = try_each(paths, out)
    ran = [path for path in paths if seconds[path] is not None]
    if ran:
        start_again(min(ran, key=seconds.get), "--blas-tried", tried_text(seconds))
