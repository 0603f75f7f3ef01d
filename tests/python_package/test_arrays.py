"""gasell.Array among Python's libraries: operators, NEP 13 and 18, buffers, DLPack, the array API's namespace, pickling."""

import ast
import copy
import gc
import importlib
import operator
import pickle
import unittest
from pathlib import Path

import gasell

try:
    import numpy as np
except ImportError:
    np = None


@unittest.skipIf(np is None, "NumPy is not installed")
class Operators(unittest.TestCase):
    def setUp(self):
        self.numbers = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        self.array = gasell.asarray(self.numbers)

    def test_operators_are_numpys(self):
        whole = np.array([7, 8, 9])
        for name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"]:
            f = getattr(operator, name)
            for left, right in [(self.array, 2), (2, self.array), (self.array, self.array), (self.array, whole), (self.numbers, self.array),
                                (self.array, 2.5)]:
                with self.subTest(name=name, right=type(right).__name__):
                    result = f(left, right)
                    self.assertIsInstance(result, gasell.Array)
                    wanted = f(np.asarray(left), np.asarray(right)) if not isinstance(left, int) else f(left, np.asarray(right))
                    self.assertEqual(result.dtype, wanted.dtype)
                    np.testing.assert_array_equal(np.asarray(result), wanted)
        integers = gasell.asarray(np.array([1, 2, 3], np.int32))
        for name in ["and_", "or_", "xor", "lshift", "rshift"]:
            self.assertEqual(getattr(operator, name)(integers, 2).tolist(), getattr(operator, name)(np.array([1, 2, 3], np.int32), 2).tolist())
        self.assertEqual((~integers).tolist(), [-2, -3, -4])
        self.assertEqual((-integers).dtype, np.int32)
        self.assertEqual((self.array @ self.numbers.T).tolist(), (self.numbers @ self.numbers.T).tolist())
        self.assertEqual((integers + [10, 20, 30]).tolist(), [11, 22, 33])
        self.assertEqual([part.tolist() for part in divmod(integers, 2)], [[0, 1, 1], [1, 0, 1]])

    def test_in_place_writes_into_the_same_memory(self):
        same = self.array
        same += 1
        same[0, 1:] = [10, 20]
        same **= 2
        self.assertEqual(self.numbers.tolist(), [[4, 100, 400], [25, 36, 49]])
        with self.assertRaises(TypeError):
            whole = gasell.asarray(np.arange(3))
            whole += 1.5
        view = same[0]
        view[:] = 0
        self.assertEqual(self.numbers[0].tolist(), [0, 0, 0])

    def test_indexing(self):
        for key in [0, -1, (1, 2), slice(None, None, -1), (slice(None), 1), Ellipsis, None, (0, None), np.array([1, 0]), [1, 0], np.array([True, False]),
                    (slice(0, 1), [2, 0])]:
            with self.subTest(key=key):
                np.testing.assert_array_equal(np.asarray(self.array[key]), self.numbers[key])
        self.assertEqual(self.array[self.array > 2].tolist(), [3, 4, 5, 6])
        with self.assertRaises(IndexError):
            self.array[5]

    def test_one_element(self):
        one = self.array[0, 1]
        self.assertEqual((float(one), int(one), complex(one), bool(one), one.item()), (2.0, 2, 2 + 0j, True, 2.0))
        self.assertEqual(self.array.item(1, 0), 4.0)
        self.assertEqual(range(9)[gasell.asarray(3)], 3)
        self.assertEqual(f"{one:.3f}", "2.000")
        with self.assertRaises(ValueError):
            bool(self.array)
        with self.assertRaises(TypeError):
            float(self.array)
        with self.assertRaises(TypeError):
            range(9)[one]

    def test_sequences(self):
        self.assertEqual(len(self.array), 2)
        self.assertEqual([row.tolist() for row in self.array], self.numbers.tolist())
        self.assertIn(3.0, self.array)
        with self.assertRaises(TypeError):
            len(gasell.asarray(1))
        with self.assertRaises(TypeError):
            hash(self.array)

    def test_methods_and_texts(self):
        self.assertEqual(repr(self.array), repr(self.numbers))
        self.assertEqual(str(self.array), str(self.numbers))
        for name, arguments in [("sum", ()), ("mean", (0,)), ("std", ()), ("cumsum", ()), ("reshape", (3, 2)), ("transpose", ()), ("argmax", ()),
                                ("clip", (2, 4)), ("astype", ("f4",)), ("ravel", ()), ("take", ([0, 2],)), ("round", ()), ("any", ()), ("tolist", ())]:
            with self.subTest(name=name):
                result = getattr(self.array, name)(*arguments)
                wanted = getattr(self.numbers, name)(*arguments)
                np.testing.assert_allclose(np.asarray(result), wanted)
        self.assertEqual((self.array.T.shape, self.array.ndim, self.array.size, self.array.nbytes), ((3, 2), 2, 6, 48))
        self.assertFalse(hasattr(self.array, "no_such_thing"))

    def test_what_is_recorded_is_computed_once_it_is_looked_at(self):
        lazy = self.array * 2
        self.assertEqual(lazy.shape, (2, 3))
        self.assertIs(lazy.compute(), lazy)
        self.assertEqual(lazy.tolist(), (self.numbers * 2).tolist())


@unittest.skipIf(np is None, "NumPy is not installed")
class NumPyFunctions(unittest.TestCase):
    def setUp(self):
        self.numbers = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
        self.array = gasell.asarray(self.numbers)

    def test_functions(self):
        calls = [lambda a: np.sin(a), lambda a: np.add(a, 1), lambda a: np.sum(a, axis=0), lambda a: np.concatenate([a, a], axis=1),
                 lambda a: np.where(a > 2, a, 0), lambda a: np.linalg.norm(a), lambda a: np.fft.rfft(a), lambda a: np.tensordot(a, a.T, 1),
                 lambda a: np.einsum("ij->j", a), lambda a: np.percentile(a, 30), lambda a: np.stack([a, a]), lambda a: np.add.reduce(a),
                 lambda a: np.multiply.outer(a, a), lambda a: np.maximum.accumulate(a, axis=1), lambda a: np.clip(a, 2, 4),
                 lambda a: np.sort(a, axis=0), lambda a: np.zeros_like(a), lambda a: np.linalg.svd(a, compute_uv=False),
                 lambda a: np.histogram(a, bins=3)[0], lambda a: np.divmod(a, 2)[1], lambda a: np.full_like(a, 2), lambda a: np.mean(a),
                 lambda a: np.expand_dims(a, 0), lambda a: np.pad(a, 1), lambda a: np.cov(a), lambda a: np.interp(a[0], [0, 5], [1, 2])]
        for k, call in enumerate(calls):
            with self.subTest(k=k):
                result, wanted = call(self.array), call(self.numbers)
                self.assertIsInstance(result, gasell.Array)
                self.assertEqual((result.shape, result.dtype), (np.shape(wanted), np.asarray(wanted).dtype))
                np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-12)

    def test_out(self):
        out = np.empty((2, 3))
        self.assertIs(np.add(self.array, 1, out=out), out)
        self.assertEqual(out.tolist(), (self.numbers + 1).tolist())
        target = gasell.asarray(np.zeros((2, 3)))
        self.assertIs(np.multiply(self.array, 2, out=target), target)
        self.assertEqual(target.tolist(), (self.numbers * 2).tolist())

    def test_what_is_not_there_is_a_type_error(self):
        with self.assertRaises(TypeError):
            np.busday_count(self.array, self.array)

    def test_the_namespace(self):
        self.assertEqual(gasell.np.linalg.norm(np.array([3.0, 4.0])).item(), 5.0)
        self.assertEqual(gasell.np.arange(3).tolist(), [0, 1, 2])
        self.assertEqual(gasell.np.pi, np.pi)
        self.assertEqual(gasell.np.zeros(2, dtype=np.float32).dtype, np.float32)
        self.assertEqual(gasell.np.zeros(2, dtype=gasell.np.int8).dtype, np.int8)
        self.assertEqual(gasell.np.random.default_rng(1).normal(size=3).shape, (3,))
        self.assertIn("linalg", dir(gasell.np))
        with self.assertRaises(AttributeError):
            gasell.np.no_such_function


@unittest.skipIf(np is None, "NumPy is not installed")
class Exchange(unittest.TestCase):
    def test_memory_is_shared(self):
        mine = np.arange(6.0).reshape(2, 3)
        array = gasell.asarray(mine)
        address = mine.ctypes.data
        self.assertEqual(np.asarray(array).ctypes.data, address)
        self.assertEqual(np.from_dlpack(array).ctypes.data, address)
        self.assertEqual(array.__array_interface__["data"], (address, True))
        self.assertEqual(np.asarray(array.T).strides, mine.T.strides)
        self.assertEqual(np.asarray(array[:, ::2]).ctypes.data, address)
        self.assertFalse(np.asarray(array).flags.writeable)
        self.assertEqual(gasell.array_api.from_dlpack(mine).__array_interface__["data"][0], address)
        lazy = array + 1
        first, second = np.asarray(lazy), np.asarray(lazy)
        self.assertEqual(first.ctypes.data, second.ctypes.data)

    def test_memory_outlives_its_engine(self):
        session = gasell.Session(gasell.Engine(threads=1))
        tensor, buffer = np.from_dlpack(session.evaluate("np.arange(1000.0) + 1")), np.asarray(session.evaluate("np.arange(1000.0) + 2"))
        del session
        gc.collect()
        self.assertEqual((tensor.sum(), buffer.sum()), (500500.0, 501500.0))

    def test_memory_outlives_its_array(self):
        seen = np.asarray(gasell.asarray(np.arange(1000.0)) + 1)
        tensor = np.from_dlpack(gasell.asarray(np.arange(1000.0)) + 1)
        gc.collect()
        self.assertEqual((seen.sum(), tensor.sum()), (500500.0, 500500.0))

    def test_copies_where_they_are_asked_for(self):
        array = gasell.asarray(np.arange(3))
        mine = np.array(array)
        mine[0] = 5
        self.assertEqual(array.tolist(), [0, 1, 2])
        self.assertEqual(np.asarray(array, dtype="f4").dtype, np.float32)
        with self.assertRaises(ValueError):
            np.array(array, dtype="f4", copy=False)
        self.assertEqual(memoryview(array).tolist(), [0, 1, 2])
        self.assertTrue(memoryview(array).readonly)
        with self.assertRaises(BufferError):
            array.__dlpack__(dl_device=(2, 0))

    def test_every_dtype(self):
        for name in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]:
            with self.subTest(name=name):
                mine = np.array([0, 1, 3]).astype(name)
                array = gasell.asarray(mine)
                self.assertEqual((array.dtype, array.item(2)), (mine.dtype, mine[2].item()))
                np.testing.assert_array_equal(np.asarray(array), mine)
                np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(array))), mine)
                self.assertEqual(gasell.asarray([0, 1, 3], dtype=name).dtype, mine.dtype)

    def test_copy_and_pickle(self):
        array = gasell.asarray(np.arange(4.0)) * 2
        for again in [copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array))]:
            self.assertEqual(again.tolist(), [0, 2, 4, 6])
            again[0] = 9
            self.assertEqual(array.tolist(), [0, 2, 4, 6])

    def test_what_is_on_a_gpu_is_refused_by_name(self):
        class OnGpu:
            __cuda_array_interface__ = {"shape": (1,), "typestr": "<f8", "data": (1, False), "version": 3}

        with self.assertRaisesRegex(ValueError, "computes on no GPU|not aligned"):  # the second on a machine with a GPU
            gasell.asarray(OnGpu())


@unittest.skipIf(np is None, "NumPy is not installed")
class Standard(unittest.TestCase):
    """The array API; its own suite is run by array_api_suite.py."""

    def test_the_namespace_of_an_array(self):
        array = gasell.asarray(np.arange(4.0))
        xp = array.__array_namespace__()
        self.assertIs(xp, array.__array_namespace__(api_version="2024.12"))
        with self.assertRaises(ValueError):
            array.__array_namespace__(api_version="1999.01")
        self.assertEqual(xp.sum(xp.exp(array * 0)).item(), 4.0)
        self.assertEqual(xp.std(array, correction=1).item(), np.std(np.arange(4.0), ddof=1))
        self.assertAlmostEqual(xp.var(array, correction=0.5).item(), 5 / 3.5)
        self.assertEqual(xp.argsort(xp.asarray([1, 3, 1]), descending=True).tolist(), [1, 0, 2])
        values, _, inverse, counts = xp.unique_all(xp.asarray([[3, 1], [1, 1]]))
        self.assertEqual((values.tolist(), inverse.tolist(), counts.tolist()), ([1, 3], [[1, 0], [0, 0]], [3, 1]))
        self.assertTrue(xp.isdtype(xp.float32, "real floating"))
        self.assertEqual(xp.finfo(xp.float32).eps, float(np.finfo("f4").eps))
        self.assertEqual(xp.result_type(xp.float32, xp.int8, 1.0), np.float32)
        self.assertEqual(xp.linalg.slogdet(xp.eye(2)).logabsdet.item(), 0.0)
        with self.assertRaises(ValueError):
            xp.zeros(2, device="gpu")


class Stubs(unittest.TestCase):
    def test_stubs_say_what_is_there(self):
        for stub in sorted(Path(gasell.__file__).parent.glob("*.pyi")):
            module = importlib.import_module(f"gasell.{stub.stem}")
            tree = ast.parse(stub.read_text())
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    kind = getattr(module, node.name)
                    told = {each.name if isinstance(each, ast.FunctionDef) else each.target.id for each in node.body}
                    public = {name for name in vars(kind) if not name.startswith("_")}
                    self.assertLessEqual(public, told, f"{stub.name}: {node.name}")
                    for name in told - {"__buffer__"}:
                        self.assertTrue(hasattr(kind, name), f"{stub.name}: {node.name}.{name}")
                elif isinstance(node, ast.FunctionDef) and node.name != "__getattr__":
                    self.assertTrue(callable(getattr(module, node.name)), f"{stub.name}: {node.name}")


if __name__ == "__main__":
    unittest.main()
