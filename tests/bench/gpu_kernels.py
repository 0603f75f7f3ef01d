#!/usr/bin/env python3
"""Kernels that scripts write in C, under Gasell and under CuPy on one GPU: the examples of CuPy's guide print the same, and each kind of kernel is timed.

    tests/bench/gpu_kernels.py --gasell build/release/bin/gasell --peer python3

The peer is a Python with CuPy. Arrays lie on the GPU; a time is the best of several calls with the wait for their end. Results are compared by their sums."""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from harness.report import duration, markdown_table, text_table  # noqa: E402

PRELUDE = {
    "gasell": "import time\nfrom numba import cuda\nsync = cuda.synchronize\n",
    "cupy": "import time\nimport numpy as np\nimport cupy as cp\ncupy = cp\nsync = cp.cuda.Device().synchronize\n",
}

EXAMPLES = r"""
squared_diff = cp.ElementwiseKernel(
   'float32 x, float32 y',
   'float32 z',
   'z = (x - y) * (x - y)',
   'squared_diff')
x = cp.arange(10, dtype=np.float32).reshape(2, 5)
y = cp.arange(5, dtype=np.float32)
print(repr(squared_diff(x, y)))
print(repr(squared_diff(x, 5)))
z = cp.empty((2, 5), dtype=np.float32)
print(repr(squared_diff(x, y, z)))
squared_diff_generic = cp.ElementwiseKernel(
    'T x, T y',
    'T z',
    '''
        T diff = x - y;
        z = diff * diff;
    ''',
    'squared_diff_generic')
print(repr(squared_diff_generic(x, y)))
squared_diff_super_generic = cp.ElementwiseKernel(
    'X x, Y y',
    'Z z',
    'z = (x - y) * (x - y)',
    'squared_diff_super_generic')
print(repr(squared_diff_super_generic(x, cp.arange(5), cp.empty((2, 5)))))
add_reverse = cp.ElementwiseKernel(
    'T x, raw T y', 'T z',
    'z = x + y[_ind.size() - i - 1]',
    'add_reverse')
print(repr(add_reverse(cp.arange(5.0), cp.arange(5.0) * 10)))
l2norm_kernel = cp.ReductionKernel(
    'T x',  # input params
    'T y',  # output params
    'x * x',  # map
    'a + b',  # reduce
    'y = sqrt(a)',  # post-reduction map
    '0',  # identity value
    'l2norm'  # kernel name
)
x = cp.arange(10, dtype=np.float32).reshape(2, 5)
print(repr(l2norm_kernel(x, axis=1)))
add_kernel = cp.RawKernel(r'''
extern "C" __global__
void my_add(const float* x1, const float* x2, float* y) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + x2[tid];
}
''', 'my_add')
x1 = cp.arange(25, dtype=cp.float32).reshape(5, 5)
x2 = cp.arange(25, dtype=cp.float32).reshape(5, 5)
y = cp.zeros((5, 5), dtype=cp.float32)
add_kernel((5,), (5,), (x1, x2, y))  # grid, block and arguments
print(repr(y))
complex_kernel = cp.RawKernel(r'''
#include <cupy/complex.cuh>
extern "C" __global__
void my_func(const complex<float>* x1, const complex<float>* x2,
             complex<float>* y, float a) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + a * x2[tid];
}
''', 'my_func')
x1 = cp.arange(25, dtype=cp.complex64).reshape(5, 5)
x2 = 1j*cp.arange(25, dtype=cp.complex64).reshape(5, 5)
y = cp.zeros((5, 5), dtype=cp.complex64)
complex_kernel((5,), (5,), (x1, x2, y, cp.float32(2.0)))  # grid, block and arguments
print(repr(y))
loaded_from_source = r'''
extern "C"{

__global__ void test_sum(const float* x1, const float* x2, float* y, \
                         unsigned int N)
{
    unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < N)
    {
        y[tid] = x1[tid] + x2[tid];
    }
}

__global__ void test_multiply(const float* x1, const float* x2, float* y, \
                              unsigned int N)
{
    unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < N)
    {
        y[tid] = x1[tid] * x2[tid];
    }
}

}'''
module = cp.RawModule(code=loaded_from_source)
ker_sum = module.get_function('test_sum')
ker_times = module.get_function('test_multiply')
N = 10
x1 = cp.arange(N**2, dtype=cp.float32).reshape(N, N)
x2 = cp.ones((N, N), dtype=cp.float32)
y = cp.zeros((N, N), dtype=cp.float32)
ker_sum((N,), (N,), (x1, x2, y, N**2))   # y = x1 + x2
print(bool((y == x1 + x2).all()))
ker_times((N,), (N,), (x1, x2, y, N**2)) # y = x1 * x2
print(bool((y == x1 * x2).all()))
code = r'''
template<typename T>
__global__ void fx3(T* arr, int N) {
    unsigned int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < N) {
        arr[tid] = arr[tid] * 3;
    }
}
'''
name_exp = ['fx3<float>', 'fx3<double>']
mod = cp.RawModule(code=code, options=('-std=c++11',), name_expressions=name_exp)
ker_double = mod.get_function(name_exp[1])
a = cp.arange(10, dtype=cp.float64)
ker_double((1,), (N,), (a, N))
print(repr(a))
histogram = cp.zeros(4, dtype=cp.int32)
cp.ElementwiseKernel('int32 x', 'raw int32 h', 'atomicAdd(&h[x % 4], 1)', 'count')(cp.arange(1001, dtype=cp.int32), histogram)
print(repr(histogram))
"""

MAKE = {
    "x, y: 100 M float32, (x - y)²": (
        "k = cp.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = (x - y) * (x - y)', 'squared_diff')\n"
        "x = (cp.arange(100000000) % 1000).astype(np.float32)\ny = x[::-1] * 0.5\nz = cp.zeros_like(x)\ncall = lambda: k(x, y, z)", 1.2e9),
    "2-d, broadcast, float64": (
        "k = cp.ElementwiseKernel('float64 x, float64 y', 'float64 z', 'z = x * y + 1', 'scaled')\n"
        "x = cp.arange(100000000.0).reshape(10000, 10000)\ny = cp.arange(10000.0)\nz = cp.zeros_like(x)\ncall = lambda: k(x, y, z)", 1.6e9),
    "raw neighbours, 100 M float32": (
        "k = cp.ElementwiseKernel('raw float32 x', 'float32 z', 'z = i > 0 && i < n1 ? x[i - 1] + x[i] + x[i + 1] : 0', 'near', preamble='#define n1 99999999')\n"
        "x = (cp.arange(100000000) % 1000).astype(np.float32)\nz = cp.zeros_like(x)\ncall = lambda: k(x, z)", 8e8),
    "l2norm of 100 M float32": (
        "k = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')\n"
        "x = (cp.arange(100000000) % 10).astype(np.float32)\nz = cp.zeros((), dtype=np.float32)\ncall = lambda: k(x, z)", 4e8),
    "l2norm, axis 1 of (10000, 10000)": (
        "k = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')\n"
        "x = (cp.arange(100000000) % 10).astype(np.float32).reshape(10000, 10000)\nz = cp.zeros(10000, dtype=np.float32)\ncall = lambda: k(x, z, axis=1)", 4e8),
    "l2norm, axis 0 of (10000, 10000)": (
        "k = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')\n"
        "x = (cp.arange(100000000) % 10).astype(np.float32).reshape(10000, 10000)\nz = cp.zeros(10000, dtype=np.float32)\ncall = lambda: k(x, z, axis=0)", 4e8),
    "l2norm, axis 1 of (10 M, 10)": (
        "k = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')\n"
        "x = (cp.arange(100000000) % 10).astype(np.float32).reshape(10000000, 10)\nz = cp.zeros(10000000, dtype=np.float32)\ncall = lambda: k(x, z, axis=1)", 4.4e8),
    "RawKernel, x + y of 100 M float32": (
        "k = cp.RawKernel(r'''extern \"C\" __global__ void add(const float* x, const float* y, float* z, long long n) {\n"
        "  long long i = blockDim.x * (long long)blockIdx.x + threadIdx.x;\n  if (i < n) z[i] = x[i] + y[i];\n}''', 'add')\n"
        "x = (cp.arange(100000000) % 1000).astype(np.float32)\ny = x * 0.5\nz = cp.zeros_like(x)\n"
        "call = lambda: k((390625,), (256,), (x, y, z, 100000000))", 1.2e9),
}
TIME = """
sync()
start = time.perf_counter()
call()
sync()
first = time.perf_counter() - start
best = 1e9
for repeat in range(10):
    start = time.perf_counter()
    call()
    sync()
    best = min(best, time.perf_counter() - start)
print(repr(first), repr(best), repr(float(z.astype(np.float64).sum())))
"""


def run(command, text, prelude, cache):
    with tempfile.NamedTemporaryFile("w", suffix=".gsl" if prelude == "gasell" else ".py") as file:
        file.write(PRELUDE[prelude] + text)
        file.flush()
        env = dict(os.environ, XDG_CACHE_HOME=cache, CUPY_CACHE_DIR=cache)
        done = subprocess.run(command + [file.name], capture_output=True, text=True, env=env, timeout=300)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-12:]
    return done.stdout, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    commands = {"gasell": [os.path.abspath(options.gasell), "--device", "gpu"], "cupy": [options.peer]}
    wrong = 0
    with tempfile.TemporaryDirectory() as cache:
        said = {who: run(commands[who], EXAMPLES, who, cache) for who in commands}
        same = said["gasell"][0] is not None and said["gasell"][0] == said["cupy"][0]
        print("the examples of CuPy's guide:", "the same" if same else "differ")
        if not same:
            wrong += 1
            for who, (out, error) in said.items():
                print(f"--- {who}", out if error is None else "\n".join(error), sep="\n")
        rows = []
        for name, (text, moved) in MAKE.items():
            row, sums = [name], []
            for who in commands:
                out, error = run(commands[who], text + TIME, who, cache)
                if error:
                    row += ["failed", "", ""]
                    print(f"{name}, {who}:", *error, sep="\n")
                    wrong += 1
                    continue
                first, best, total = map(float, out.split())
                sums.append(total)
                row += [duration(first), duration(best), f"{moved / best / 1e12:.2f} TB/s"]
            if len(sums) == 2 and abs(sums[0] - sums[1]) > 1e-5 * abs(sums[1]):
                wrong += 1
                row[0] += f" (sums differ: {sums})"
            rows.append(row)
    head = ["kernel", "first call", "Gasell", "moved", "CuPy's first", "CuPy", "moved"]
    print((markdown_table if options.markdown else text_table)(head, rows))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
