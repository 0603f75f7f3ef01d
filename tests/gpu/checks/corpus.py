"""Checks that are programs of their own: the language suite, random programs, the driver's side, the times."""

import os
import subprocess
import sys

from .common import TESTS, Skipped, Wrong, shortened

# What of the language suite --quick runs.
QUICK = "^(arrays|gasell_only/random)"


def run(target, command, timeout, **changes):
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
                              env={**target.environment(), **changes})
    except subprocess.TimeoutExpired as late:
        raise Wrong(f"    no end within {timeout} s\n{shortened((late.stdout or b'').decode('utf-8', 'replace'))}") from None
    if done.returncode:
        raise Wrong(shortened(done.stdout, 60))
    return done.stdout


def language_suite(target, *settings, prefix="", only="", timeout=400):
    command = [sys.executable, os.path.join(TESTS, "language/run.py"), "--gasell", target.gasell, "--peer", "none", "--jobs", min(8, os.cpu_count()), "--filter", only]
    for setting in settings:
        command += ["--set", setting]
    summary = run(target, [*command, "--prefix", prefix], timeout).splitlines()[-1]
    if summary.startswith("0 "):
        raise Wrong(f"    no case is called '{only}'")
    return summary


# What is the host's alone: that arrays there have no address on a GPU, and the signs that LAPACK gives singular vectors.
HOST_ALONE = "(?!numpy/exchange.gsl: no __cuda_array|numpy/tall_matrices.gsl: signs of singular vectors)"


def language(target):
    return language_suite(target, f"GASELL_DEVICE={target.first(1)}", "GASELL_GPU_POISON=1", only=QUICK if target.quick else f"^{HOST_ALONE}")


def language_split(target):
    if len(target.gpus) == 1:
        raise Skipped("there is one GPU")
    return language_suite(target, f"GASELL_DEVICE={target.all}", "GASELL_GPU_POISON=1", "GASELL_SPLIT_FROM=0", "GASELL_CHUNK=64", only=f"^{HOST_ALONE}")


def own_kernels(target):
    """What NVIDIA's libraries compute elsewhere in this suite. Of infinities our own transforms of real numbers make NaN, as the case says of simulated GPUs."""
    without = [f"GASELL_{library}=0" for library in ("CUBLAS", "CUFFT", "CUSOLVER")]
    return language_suite(target, f"GASELL_DEVICE={target.first(1)}", *without, only="numpy/(fft(?!.gsl: numbers that are none)|linalg|tall_matrices|products)")


def random_programs(target):
    command = [sys.executable, os.path.join(TESTS, "gpu/fuzz_devices.py"), "--seed", target.seed, "--runs", 4 if target.quick else 20]
    for device in dict.fromkeys((target.first(1), target.all)):
        command += ["--device", device]
    return run(target, command, 300, GASELL=target.gasell).splitlines()[-1]


def cuda_check(target):
    if not target.options.cuda_check:
        raise Skipped("no --cuda-check PATH")
    for extra in ([], ["--fault"]):
        run(target, [target.options.cuda_check, *(["--quick"] if target.quick or extra else []), *extra], 120)


def times(target):
    if not target.real:
        raise Skipped("simulated GPUs have no times")
    command = [sys.executable, os.path.join(TESTS, "bench/gpu.py"), "--gasell", target.gasell, "--python", target.options.python]
    command += ["sum", "sincos", "--repeat", "5"] if target.quick else ["--out", target.options.out] if target.options.out else []
    return "\n" + run(target, command, 400)
