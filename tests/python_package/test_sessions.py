"""gasell.Session: names in, values out, errors, threads, Ctrl-C, limits."""

import gc
import io
import math
import pickle
import signal
import threading
import time
import unittest
import weakref
from contextlib import redirect_stdout

import gasell

try:
    import numpy
except ImportError:
    numpy = None


class Values(unittest.TestCase):
    def setUp(self):
        self.session = gasell.Session()

    def test_plain_values_come_back_as_they_went(self):
        for value in [None, True, 3, -(2**63), 2.5, math.inf, 1 + 2j, "é\0x", [1, [2, "a"]], (1, (2,)), {"a": 1, 2: [3]}, {1, 2}, frozenset({3}),
                      range(1, 9, 2), slice(1, None, 2), ..., [], (), {}]:
            with self.subTest(value=value):
                back = self.session.evaluate("x", x=value)
                self.assertEqual(back, value)
                self.assertIs(type(back), type(value))

    def test_the_last_expression_is_the_value(self):
        self.assertIsNone(self.session.evaluate("a = 2"))
        self.assertEqual(self.session.evaluate("b = a * 3\na + b"), 8)
        self.assertEqual(self.session["b"], 6)
        self.session["c"] = [1]
        self.assertEqual(self.session.evaluate("c + [a]"), [1, 2])
        with self.assertRaises(KeyError):
            self.session["nothing"]
        with self.assertRaises(ValueError):
            self.session["not a name"] = 1

    def test_scalars_of_numpy_are_numbers(self):
        self.assertEqual(self.session.evaluate("(np.arange(4).sum(), np.float32(1.5), np.uint64(2**62) + np.uint64(2**62))"),
                         (6, 1.5, 2**63))
        self.assertIs(type(self.session.evaluate("np.arange(3.0).mean()")), float)
        self.assertIs(self.session.evaluate("(np.arange(3) > 5).any()"), False)

    def test_what_has_no_counterpart_is_refused_by_name(self):
        for value, message in [(object(), "type 'object'"), (unittest.TestCase, "type 'TestCase'")]:
            with self.subTest(message=message), self.assertRaises((TypeError, OverflowError)) as caught:
                self.session.evaluate("x", x=value)
            self.assertIn(message, str(caught.exception))

    def test_what_the_language_may_have_comes_back_or_is_refused(self):
        for value in [b"bytes", bytearray(b"b"), 2**64, -(2**200)]:
            with self.subTest(value=value):
                try:
                    back = self.session.evaluate("x", x=value)
                except (TypeError, OverflowError) as error:
                    self.assertRegex(str(error), "no counterpart|64 bits")
                else:
                    self.assertEqual((type(back), back), (type(value), value))

    def test_a_list_in_itself_is_an_error(self):
        endless = []
        endless.append(endless)
        with self.assertRaises(RecursionError):
            self.session.evaluate("x", x=endless)
        with self.assertRaises(RecursionError):
            self.session.evaluate("a = []\na.append(a)\na")

    def test_other_values_are_objects(self):
        value = self.session.evaluate("class Point:\n    def __init__(self, x):\n        self.x = x\n    def twice(self):\n        return 2 * self.x\nPoint(4)")
        self.assertIsInstance(value, gasell.Object)
        self.assertEqual((value.x, value.twice()), (4, 8))
        with self.assertRaises(AttributeError):
            value.y
        same = self.session.evaluate("class Key:\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n        return 7\nKey(), Key()")
        self.assertTrue(same[0] == same[1])
        self.assertEqual(hash(same[0]), 7)
        counter = self.session.evaluate("from collections import Counter\nCounter('abca')")
        self.assertEqual((counter["a"], len(counter), "b" in counter, sorted(counter)), (2, 3, True, ["a", "b", "c"]))

    def test_text_goes_to_the_standard_output(self):
        text = io.StringIO()
        with redirect_stdout(text):
            self.session.evaluate("print('a', 1)\nprint('é')")
        self.assertEqual(text.getvalue(), "a 1\né\n")
        written = []
        self.session.set_output(written.append)
        self.session.evaluate("print('b', end='')")
        self.assertEqual("".join(written), "b")

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_memory_of_numpy_is_shared_and_given_back(self):
        x = numpy.arange(6.0)
        array = self.session.evaluate("x", x=x)
        self.assertEqual(numpy.asarray(array).ctypes.data, x.ctypes.data)
        self.session.evaluate("x[1:3] = 7")
        self.assertEqual(x.tolist(), [0, 7, 7, 3, 4, 5])
        x.flags.writeable = False
        with self.assertRaises(ValueError):
            self.session.evaluate("x[0] = 1", x=x)

        class Watched(numpy.ndarray):
            pass

        watched = numpy.arange(1000.0).view(Watched)
        gone = weakref.ref(watched)
        self.session.evaluate("x", x=watched)
        del watched
        gc.collect()
        self.assertIsNotNone(gone())
        self.session.evaluate("x = None")
        self.session.evaluate("None")
        gc.collect()
        self.assertIsNone(gone())

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_arrays_of_every_layout(self):
        base = numpy.arange(24.0).reshape(4, 6)
        for x in [base.T, base[::-1], base[:, ::2], base[1:1], base[2], base.astype("f4"), base.astype("u2"), base > 3, base + 1j,
                  base.astype(">f8"), numpy.array(3), numpy.broadcast_to(numpy.arange(3), (2, 3))]:
            with self.subTest(strides=x.strides, dtype=x.dtype):
                back = numpy.asarray(self.session.evaluate("x", x=x))
                self.assertEqual(back.dtype, x.dtype.newbyteorder("="))
                numpy.testing.assert_array_equal(back, x)
        times = numpy.array(["2020-01-01", "2021-05-06"], dtype="M8[ns]")
        numpy.testing.assert_array_equal(numpy.asarray(self.session.evaluate("t", t=times)), times)
        numpy.testing.assert_array_equal(numpy.asarray(self.session.evaluate("t", t=times - times[::-1])), times - times[::-1])
        self.assertEqual(numpy.asarray(self.session.evaluate("t", t=numpy.array(["a", "bé"]))).tolist(), ["a", "bé"])
        for refused in [numpy.array([object()]), numpy.zeros(2, "f2"), numpy.zeros(2, [("a", "i4")])]:
            with self.assertRaises(TypeError):
                self.session.evaluate("x", x=refused)


class Functions(unittest.TestCase):
    """Python's functions in scripts."""

    def setUp(self):
        self.session = gasell.Session()

    def test_they_take_and_give_what_sessions_do(self):
        def told(*args, **kwargs):
            return args, kwargs

        self.assertEqual(self.session.evaluate("f(1, 'a', [2.5], k={'x': None})", f=told), ((1, "a", [2.5]), {"k": {"x": None}}))
        self.assertEqual(self.session.evaluate("list(map(f, [1, 2]))", f=lambda x: x * 10), [10, 20])
        self.assertEqual(self.session.evaluate("sorted([1, -3, 2], key=f)", f=abs), [1, 2, -3])
        self.assertTrue(self.session.evaluate("f(x) is x", f=lambda x: x, x=gasell.asarray([1])))
        self.assertEqual(self.session.evaluate("f(lambda x: x + 1)", f=lambda g: g(2)), 3)
        self.assertEqual(self.session.evaluate("f(3)", f=lambda x: self.session.evaluate("y * 2", y=x)), 6)
        self.assertEqual(self.session.evaluate("f.__name__", f=told), "told")

    def test_arrays_are_handed_over_by_their_memory(self):
        self.assertEqual(self.session.evaluate("f(np.arange(4.0) * 2)", f=lambda a: memoryview(a).tolist()), [0, 2, 4, 6])

    def test_what_they_raise_is_the_scripts_exception(self):
        def fails(error):
            raise {"key": KeyError("gone"), "value": ValueError("wrong"), "own": Own("mine")}[error]

        class Own(Exception):
            pass

        for name, kind, text in [("key", KeyError, "'gone'"), ("value", ValueError, "wrong"), ("own", RuntimeError, "mine")]:
            with self.subTest(name=name), self.assertRaises(kind) as caught:
                self.session.evaluate(f"f({name!r})", f=fails)
            self.assertEqual(str(caught.exception), text)
            self.assertEqual(caught.exception.line, 1)
            self.assertIn(type(caught.exception.__cause__), (KeyError, ValueError, Own))
        self.assertEqual(self.session.evaluate("try:\n    f('value')\nexcept ValueError as e:\n    r = str(e)\nr"), "wrong")
        with self.assertRaises(TypeError):
            self.session.evaluate("f()", f=lambda: object())

    def test_they_may_use_other_sessions_of_an_engine_with_gpus(self):
        engine = gasell.Engine(device="sim:2")
        first, second = gasell.Session(engine), gasell.Session(engine)
        f = lambda x: second.evaluate("y.sum() + g(y)", y=x, g=lambda y: first.evaluate("z.max()", z=y))  # noqa: E731
        self.assertEqual(first.evaluate("f(np.arange(10.0)) + np.ones(3).sum()", f=f), 45 + 9 + 3)

    def test_an_interrupt_in_one_ends_the_call(self):
        def spin():
            threading.Timer(0.2, _kill).start()
            while True:
                time.sleep(0.01)

        with self.assertRaises(KeyboardInterrupt):
            self.session.evaluate("try:\n    f()\nexcept Exception:\n    pass", f=spin)
        self.assertEqual(self.session.evaluate("1"), 1)

    def test_they_are_given_back(self):
        def f():
            pass

        gone = weakref.ref(f)
        self.session.evaluate("g = f", f=f)
        del f
        self.assertIsNotNone(gone())
        self.session.evaluate("f = g = None")
        gc.collect()
        self.assertIsNone(gone())


class Errors(unittest.TestCase):
    def setUp(self):
        self.session = gasell.Session()

    def test_errors_are_pythons_and_gasells(self):
        for text, kind in [("[][0]", IndexError), ("{}['a']", KeyError), ("1 / 0", ZeroDivisionError), ("nothing", NameError),
                           ("int('x')", ValueError), ("1 +", SyntaxError), ("open('/nowhere/x')", FileNotFoundError), ("(1).x", AttributeError)]:
            with self.subTest(text=text), self.assertRaises(kind) as caught:
                self.session.evaluate(text)
            self.assertIsInstance(caught.exception, gasell.Error)

    def test_an_error_tells_its_place(self):
        with self.assertRaises(gasell.Error) as caught:
            self.session.evaluate("def f(a):\n    return a['k']\nx = f({})", source_name="mine.gsl")
        error = caught.exception
        self.assertEqual((error.kind, error.source, error.line), ("KeyError", "mine.gsl", 2))
        self.assertEqual([call["line"] for call in error.calls], [3])
        self.assertIn("^", error.rendered)
        self.assertEqual(str(error), "'k'")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.line), (type(error), "'k'", 2))
        self.assertIs(type(error), gasell.errors.KeyError)

    def test_exit_and_limits(self):
        with self.assertRaises(SystemExit) as caught:
            self.session.evaluate("exit(3)")
        self.assertEqual(caught.exception.code, 3)
        self.session.set_seconds(0.2)
        with self.assertRaises(TimeoutError):
            self.session.evaluate("while True:\n    pass")
        self.session.set_seconds(0)
        with self.assertRaises(RecursionError):
            self.session.evaluate("def f(n):\n    return f(n + 1)\nf(0)")

    def test_a_sandbox(self):
        confined = gasell.Session(sandbox=True, allow=["clock"])
        with self.assertRaises(PermissionError):
            confined.evaluate("open('/etc/passwd').read()")
        with self.assertRaises(gasell.Error):
            gasell.Session(sandbox=True, allow=["everything"])


class Threads(unittest.TestCase):
    def test_sessions_run_at_the_same_time_and_one_waits(self):
        session, results = gasell.Session(), []

        def work(k):
            results.append(session.evaluate(f"sum([{k}] * 1000)"))
            own = gasell.Session()
            results.append(own.evaluate(f"np.arange(1000).sum() + {k}"))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(sorted(results), sorted([1000 * k for k in range(8)] + [499500 + k for k in range(8)]))

    def test_other_threads_run_meanwhile(self):
        session, ticks = gasell.Session(), []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(1)
                time.sleep(0.005)

        thread = threading.Thread(target=tick)
        thread.start()
        session.evaluate("import time\ntime.sleep(0.3)")
        stop.set()
        thread.join()
        self.assertGreater(len(ticks), 10)

    def test_interrupts(self):
        session = gasell.Session()
        threading.Timer(0.3, session.interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            session.evaluate("while True:\n    pass")
        self.assertEqual(session.evaluate("1 + 1"), 2)
        threading.Timer(0.3, _kill).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            session.evaluate("while True:\n    pass")
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(session.evaluate("2 + 2"), 4)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_a_cancelled_session_runs_nothing(self):
        session = gasell.Session()
        session.cancel()
        with self.assertRaises(KeyboardInterrupt):
            session.evaluate("1")
        session.cancel(False)
        self.assertEqual(session.evaluate("1"), 1)


def _kill():
    import os

    os.kill(os.getpid(), signal.SIGINT)


class Lifetimes(unittest.TestCase):
    def test_values_keep_their_session(self):
        array = gasell.Session().evaluate("np.arange(5) * 2")
        gc.collect()
        self.assertEqual(array.tolist(), [0, 2, 4, 6, 8])

    def test_values_go_to_other_sessions(self):
        array = gasell.Session().evaluate("np.arange(5) * 2")
        other = gasell.Session()
        self.assertEqual(other.evaluate("x.sum()", x=array), 20)
        frame = gasell.Session().evaluate("pd.DataFrame({'a': [1, 2]})")
        self.assertEqual(other.evaluate("int(f['a'].sum())", f=frame), 3)
        made = gasell.Session().evaluate("lambda x: x")
        with self.assertRaises(TypeError):
            other.evaluate("f(1)", f=made)

    def test_engines(self):
        engine = gasell.Engine(threads=1, cache=False)
        self.assertEqual(gasell.Session(engine).evaluate("np.arange(10).sum()"), 45)
        with self.assertRaises(gasell.Error):
            gasell.Engine(threads=-1)
        with self.assertRaises(TypeError):
            gasell.Engine(thread=1)


if __name__ == "__main__":
    unittest.main()
