"""Arrays in the memory of GPUs, in and out: on simulated GPUs. tests/gpu/exchange.py does it with CuPy and PyTorch on a real one."""

import gc
import unittest
import weakref

import gasell

try:
    import numpy
except ImportError:
    numpy = None


class Producer:
    """What another library's array in a GPU's memory is: an owner with an interface."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


class Tensor:
    """The same by DLPack alone."""

    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, max_version=max_version)


def address(array):
    return array.__cuda_array_interface__["data"][0]


class Exchange(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine = gasell.Engine(device="sim:2")

    def setUp(self):
        self.session, self.other = gasell.Session(self.engine), gasell.Session(self.engine)

    def on_gpu(self, text="np.arange(5000.0) * 2", device="sim:0"):
        return self.session.evaluate(text).to_device(device)

    def test_the_interface_describes_the_array(self):
        array = self.on_gpu("np.arange(12, dtype='int32').reshape(3, 4)[:, ::2]")
        told = array.__cuda_array_interface__
        self.assertEqual((told["version"], told["typestr"], told["shape"], told["stream"]), (3, "<i4", (3, 2), None))
        self.assertTrue(told["data"][1], "read-only")
        self.assertEqual(array.device, "sim:0")
        self.assertEqual(array.__dlpack_device__(), (12, 0))
        self.assertIs(array.to_device("sim:0"), array)

    def test_arrays_of_the_host_have_no_interface(self):
        array = self.session.evaluate("np.arange(3.0)")
        self.assertFalse(hasattr(array, "__cuda_array_interface__"))
        self.assertEqual((array.device, array.__dlpack_device__()), ("cpu", (1, 0)))
        self.assertEqual(self.on_gpu().to_device("cpu").__dlpack_device__(), (1, 0))

    def test_memory_is_shared_both_ways(self):
        for wrap in (Producer, Tensor):
            with self.subTest(wrap=wrap.__name__):
                array = self.on_gpu()
                self.other["x"] = wrap(array)
                back = self.other["x"]
                self.assertEqual(address(back.to_device("sim:0")), address(array))
                self.assertEqual(self.other.evaluate("float((x + 1).sum())"), 5000 * 4999 + 5000.0)
                self.assertEqual(back.tolist()[:3], [0.0, 2.0, 4.0])

    def test_views_of_all_shapes_and_types_go_across(self):
        texts = ["np.arange(24.0).reshape(2, 3, 4).T", "np.arange(10)[::-1]", "np.arange(10)[7:1:-2]", "np.zeros((0, 3))", "np.full((), 2.5, dtype='float32')",
                 "np.arange(7, dtype='uint8')[3:]", "np.arange(7) % 2 == 0", "np.arange(6) * (1 + 2j)", "np.arange(6, dtype='float32') * np.complex64(1j)",
                 "np.broadcast_to(np.arange(3.0), (4, 3))"]
        for text in texts:
            for wrap in (Producer, Tensor):
                with self.subTest(text=text, wrap=wrap.__name__):
                    array = self.on_gpu(text)
                    self.other["x"] = wrap(array)
                    self.assertEqual(self.other["x"].shape, array.shape)
                    self.assertEqual(str(self.other["x"].dtype), str(array.dtype))
                    self.assertEqual(self.other["x"].tolist(), array.tolist())
                    self.assertEqual(self.other.evaluate("(x == x.copy()).all()"), True)

    def test_the_owner_lives_as_long_as_the_array(self):
        made = Producer(self.on_gpu())
        watched = weakref.ref(made)
        self.other["x"] = made
        lazy = self.other.evaluate("y = x[1:] + x[:-1]\ny")
        del made
        gc.collect()
        self.assertIsNotNone(watched())
        self.other.evaluate("x = None")
        self.assertEqual(float(lazy[1]), 6.0)
        self.other.evaluate("y = None")
        del lazy
        gc.collect()
        self.assertIsNone(watched())

    def test_what_was_given_stays_when_its_array_is_written(self):
        for text in ("x[0] = 7", "x += 1", "x[:] = np.zeros(100)", "del x"):
            with self.subTest(text=text):
                self.session.evaluate("x = np.arange(100.0) * 3\nx.persist()")
                capsule_owner = Tensor(self.session["x"].to_device("sim:1"))
                self.other["t"] = capsule_owner
                seen = self.other["t"]
                before = address(seen.to_device("sim:1"))
                self.session.evaluate(text)
                gc.collect()
                self.assertEqual(address(seen.to_device("sim:1")), before)
                self.assertEqual(len(seen.tolist()), 100)

    def test_memory_of_others_is_read_only(self):
        self.other["x"] = Producer(self.on_gpu())
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.other.evaluate("x[0] = 1")
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.other.evaluate("x += 1")
        self.assertEqual(self.other.evaluate("y = x.copy()\ny[0] = 1\nfloat(y[0])"), 1.0)

    def test_streams_are_those_of_the_standards(self):
        array = self.on_gpu()
        tensor = Tensor(array)
        self.other["x"] = tensor
        self.assertEqual(tensor.streams, [1], "the default one is asked for, and waited for")
        for stream in (None, -1, 1, 2, 1 << 40):
            array.__dlpack__(stream=stream, max_version=(1, 0))
            self.other["x"] = Producer(array, stream=stream if stream != -1 else 1)
        for stream in (0, -2, "1"):
            with self.subTest(stream=stream), self.assertRaisesRegex(ValueError, "stream"):
                array.__dlpack__(stream=stream, max_version=(1, 0))
        old = Producer(array, version=2)
        old.__dlpack__ = lambda stream: asked.append(stream)
        asked = []
        self.other["x"] = old
        self.assertEqual(asked, [1], "before version 3 DLPack says that the default stream comes last")
        with self.assertRaisesRegex(ValueError, "stream 0"):
            self.other["x"] = Producer(array, stream=0)

    def test_other_devices_are_refused_by_name(self):
        array = self.on_gpu()
        wrong = [lambda: array.to_device("gpu:0"), lambda: array.to_device("sim:7"), lambda: array.to_device("tpu"), lambda: array.to_device(0),
                 lambda: gasell.Session(gasell.Engine(device="cpu")).evaluate("np.ones(3)").to_device("sim:0")]
        for each in wrong:
            with self.assertRaises((ValueError, TypeError)):
                each()
        with self.assertRaises(BufferError):
            array.__dlpack__(max_version=(0, 8))
        with self.assertRaises(BufferError):
            array.__dlpack__(max_version=(1, 0), dl_device=(2, 0))
        with self.assertRaises(BufferError):
            array.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)
        alone = gasell.Session(gasell.Engine(device="cpu"))
        with self.assertRaisesRegex((ValueError, TypeError), "no GPU"):
            alone["x"] = Producer(array)

    def test_wrong_memory_is_refused(self):
        array = self.on_gpu()
        data = address(array)
        for changes in ({"data": (4096, True)}, {"data": (data, True), "shape": (1 << 40,)}, {"data": (data + 4, True)}, {"typestr": "<f2"},
                        {"typestr": "|V8"}, {"mask": array}, {"strides": (3,)}, {"shape": (-1,)}, {"strides": (8, 8)}, {"data": (data, True), "strides": (-8,)}):
            with self.subTest(changes=changes), self.assertRaises((TypeError, ValueError)):
                self.other["x"] = Producer(array, **changes)
        # a part that begins where no allocation does
        self.other["x"] = Producer(array, data=(data + 24, True), shape=(5,))
        self.assertEqual(self.other["x"].tolist(), [6.0, 8.0, 10.0, 12.0, 14.0])

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_bound_memory_of_the_host_is_copied_to_the_gpu(self):
        x = numpy.arange(1000.0)
        self.session["x"] = x
        given = self.session["x"].to_device("sim:0")
        self.other["y"] = Producer(given)
        self.assertEqual(self.other.evaluate("float(y.sum())"), x.sum())
        numpy.testing.assert_array_equal(numpy.asarray(given), x)

    def test_memory_of_another_gpu_of_the_engine(self):
        for device in ("sim:0", "sim:1"):
            array = self.on_gpu(device=device)
            self.other["x"] = Producer(array)
            self.assertEqual(address(self.other["x"].to_device(device)), address(array))
        self.other["a"], self.other["b"] = Producer(self.on_gpu(device="sim:0")), Producer(self.on_gpu(device="sim:1"))
        self.assertEqual(self.other.evaluate("float((a + b).max())"), 4 * 4999.0)

    def test_kernels_and_functions_use_it(self):
        self.other["x"] = Producer(self.on_gpu())
        self.other.evaluate("""
from numba import cuda
@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]
out = np.zeros(5000)
double[20, 256](x, out)
@njit
def total(x):
    s = 0.0
    for v in x:
        s += v
    return s
""")
        self.assertEqual(self.other.evaluate("float(out[10])"), 40.0)
        self.assertEqual(self.other.evaluate("total(x)"), 5000 * 4999.0)


if __name__ == "__main__":
    unittest.main()
