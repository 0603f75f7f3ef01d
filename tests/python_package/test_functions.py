"""gasell.jit and gasell.function: sources of Python functions, arguments without copies, pickling, threads, Ctrl-C, what a call costs."""

import inspect
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import gasell

try:
    import numpy
except ImportError:
    numpy = None

FACTOR = 3


@gasell.jit
def scaled(a, k=2.0):
    """Multiplies."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * k
    return total


@gasell.jit
def add(a, b):
    return a + b


def plain_helper(x):
    return x * FACTOR


@gasell.jit
def uses_names(x):
    return plain_helper(x) + add(x, 1)


@gasell.jit(fastmath=True, parallel=True)
def parallel_sum(a):
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@gasell.jit
def spin(n):
    total = 0
    i = 0
    while i < n:
        total = (total * 31 + i) % 1000003
        i += 1
    return total


renamed = gasell.jit


@renamed(fastmath=False)
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@renamed
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@gasell.jit
def fails(a):
    return a[10]


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Calls(unittest.TestCase):
    def test_numbers_and_arrays(self):
        self.assertEqual(add(1, 2), 3)
        self.assertIs(type(add(1, 2)), int)
        self.assertEqual(add(1.5, 2), 3.5)
        self.assertEqual(add(1j, 2), 2 + 1j)
        x = numpy.arange(5.0)
        self.assertEqual(scaled(x), 20.0)
        self.assertEqual(scaled(x, 3.0), 30.0)
        self.assertEqual(scaled(a=x, k=1.0), 10.0)
        self.assertEqual(scaled(x[::-2]), 12.0)
        self.assertEqual(scaled(x.astype("f4")), 20.0)
        self.assertEqual(scaled(gasell.asarray(x) * 2), 40.0)
        self.assertEqual(scaled(memoryview(x)), 20.0)
        self.assertEqual(uses_names(2), 9)
        self.assertEqual(parallel_sum(x), 10.0)
        self.assertEqual((scaled.__name__, scaled.__doc__), ("scaled", "Multiplies."))
        self.assertEqual(str(inspect.signature(scaled)), "(a, k=2.0)")
        self.assertEqual(scaled.py_func(x), 20.0)

    def test_arrays_come_back_and_are_written_in_place(self):
        @gasell.jit
        def double(a):
            return a * 2

        @gasell.jit
        def fill(a, v):
            for i in range(len(a)):
                a[i] = v

        x = numpy.arange(3.0)
        self.assertIsInstance(double(x), gasell.Array)
        self.assertEqual(double(x).tolist(), [0, 2, 4])
        self.assertIsNone(fill(x, 7.0))
        self.assertEqual(x.tolist(), [7, 7, 7])
        x.flags.writeable = False
        with self.assertRaises(gasell.Error):
            fill(x, 1.0)

    def test_texts_and_lambdas(self):
        f = gasell.function("def f(x, *, n=2):\n    return x ** n")
        self.assertEqual(f(3), 9)
        self.assertEqual(f(3, n=3), 27)
        self.assertEqual(gasell.function("lambda x: x + 1")(1), 2)
        self.assertEqual(gasell.function("@njit\ndef g(x):\n    return x + 1")(1), 2)
        lazy = gasell.function("def normalise(x):\n    return (x - x.mean()) / x.std()")
        self.assertAlmostEqual(float(lazy(numpy.arange(10.0)).std()), 1.0)
        double = gasell.function("@vectorize\ndef double(x):\n    return 2 * x")
        self.assertEqual(double(numpy.arange(3)).tolist(), [0, 2, 4])
        closed = 5

        @gasell.jit
        def uses_closure(x):
            return x + closed

        self.assertEqual(uses_closure(1), 6)

    def test_functions_may_call_what_comes_later(self):
        calls = gasell.function("def f(n):\n    return n")

        @gasell.jit
        def early(n):
            return later(n) + 1  # noqa: F821

        with self.assertRaises(NameError):
            early(1)
        globals()["later"] = gasell.jit(plain_helper)
        self.assertEqual(early(2), 7)
        self.assertEqual(pickle.loads(pickle.dumps(early))(2), 7)
        self.assertEqual(calls(3), 3)

    def test_errors_tell_the_place_in_the_python_file(self):
        with self.assertRaises(IndexError) as caught:
            fails(numpy.arange(3.0))
        line = inspect.getsourcelines(fails.py_func)[1] + 2
        self.assertEqual((os.path.basename(caught.exception.source), caught.exception.line), (os.path.basename(__file__), line))

        @gasell.jit
        def wrong(x):
            return x.nothing

        with self.assertRaises(gasell.Error):
            wrong(numpy.arange(3.0))
        with self.assertRaises(TypeError):
            scaled()
        with self.assertRaises(TypeError):
            gasell.jit(nothing=1)(plain_helper)
        with self.assertRaises(TypeError):
            gasell.jit(3)
        with self.assertRaises(gasell.Error):
            gasell.jit(eval("lambda x: x"))

    def test_pickling(self):
        again = pickle.loads(pickle.dumps(scaled))
        self.assertEqual(again(numpy.arange(5.0)), 20.0)
        self.assertEqual(pickle.loads(pickle.dumps(uses_names))(2), 9)
        program = "import pickle, sys, array; print(pickle.load(sys.stdin.buffer)(array.array('d', [1, 2])))"
        told = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(gasell.function("@njit\ndef s(a):\n    return a[0] + a[1]")),
                              capture_output=True, check=True)
        self.assertEqual(told.stdout, b"3.0\n")

    def test_threads_run_at_the_same_time(self):
        spin(10)
        results = []
        threads = [threading.Thread(target=lambda: results.append(spin(200000))) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(len(set(results)), 1)
        ticks = []

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.001)

        done = threading.Event()
        thread = threading.Thread(target=tick)
        thread.start()
        spin(20_000_000)
        done.set()
        thread.join()
        self.assertGreater(len(ticks), 10)

    def test_an_interrupt_ends_a_loop(self):
        spin(10)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            spin(10**12)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(spin(3), spin(3))

    def test_a_call_costs_little(self):
        # The target is 2 microseconds beyond the kernel; a loaded machine gets slack.
        x = numpy.arange(4.0)
        for f, arguments in [(add, (1.0, 2.0)), (scaled, (x, 2.0))]:
            f(*arguments)
            best = min(self.seconds_of(f, arguments) for _ in range(7))
            self.assertLess(best, 10e-6)
            print(f"{f.__name__}: {best * 1e6:.2f} microseconds a call")

    @staticmethod
    def seconds_of(f, arguments, times=5000):
        begun = time.perf_counter()
        for _ in range(times):
            f(*arguments)
        return (time.perf_counter() - begun) / times

    def test_functions_of_a_session(self):
        session = gasell.Session()
        f = session.evaluate("@njit\ndef f(a):\n    return a.sum()\nf")
        self.assertIsInstance(f, gasell.Function)
        self.assertEqual(f(numpy.arange(4.0)), 6.0)
        self.assertEqual(session.evaluate("h(np.arange(3.0))", h=scaled), 6.0)


if __name__ == "__main__":
    unittest.main()
