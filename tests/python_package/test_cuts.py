"""gasell.dask.compute: one text in many tasks, with the bits of one process. Needs dask; the clusters, distributed."""

import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import gasell

try:
    import dask
    import dask.array as da
    import numpy as np

    import gasell.cuts
    import gasell.dask
except ImportError:
    da = None
try:
    from distributed import Client, LocalCluster
except ImportError:
    Client = None

# Texts, and how many rounds of tasks they take at most; 0: they are not cut at all.
TEXTS = ["x.sum()", "x.mean()", "(np.sin(x) * 3 + x).sum()", "np.sqrt(abs(x)).mean()", "x.max() - x.min()", "(x > 0).any(), (x > -9).all()",
         "x.sum(axis=0)", "x.mean(axis=0)", "x.max(axis=0)", "x * 2 + 1", "-x", "np.where(x > 0, x, 0.5).sum()", "x.astype('float32').sum()",
         "x.astype('float32').mean()", "(x * 1000).astype(int).sum()", "(x * 1000).astype(int).mean()", "m = x.mean()\n((x - m) ** 2).sum() / 7",
         "y = x * 2\nz = y + x\nz.sum() + y.max()", "x.std()", "x.var(ddof=1)", "x.std(axis=0)", "x.var(axis=0, ddof=2)",
         "np.std(np.sin(x) * 3)", "x.argmax(), x.argmin()", "x.argmin(axis=0)", "(x > 5).argmax()", "(1 + x / 1e6).prod()", "(1 + x / 1e3).prod(axis=0)",
         "x.astype('float32').std()", "(x * 1000).astype(int).var()", "(x * 3).astype('int8').prod()", "np.sort(x.ravel())[-3:]", "def f(a):\n    return (a * 2).sum()\nf(x)",
         "s = 0.0\nfor k in range(3):\n    s += x.sum() * k\ns", "k = 2.5\n(x * k).sum()", "f'{x.mean():.12f} {x.max():.3f}'", "x", "x = x + 1\nx.sum()",
         "[float(x.sum()) for x in (x, x * 2)]", "(lambda v: v + 1)(x.sum())", "np.sum(x)", "np.mean(x, axis=0)", "x.sum(keepdims=True)"]
OF_MATRICES = ["x.sum(axis=1)", "x.mean(axis=1).sum()", "x.max(axis=-1).mean()", "x[:, 1].sum()", "x[:, ::2] * 2", "(x * x[:, :1]).sum(axis=0)",
               "r = np.arange(1.0, x.shape[1] + 1)\n(x * r).sum()", "x.T.sum()", "x @ np.ones(x.shape[1])",
               "(x @ np.arange(1.0, x.shape[1] + 1)).sum()", "v = np.ones((x.shape[1], 2)) / 3\nx @ v", "x @ np.ones((x.shape[1], 20))", "x.std(axis=1)",
               "x.var(axis=1, ddof=1).max()", "x.argmax(axis=1)", "(x * 9).astype(int) @ np.ones((x.shape[1], 6), int)", "(x @ x.T[:, :2]).sum()"]


def slow(block):
    time.sleep(0.05)
    return block


@unittest.skipIf(da is None, "dask is not installed")
class Cuts(unittest.TestCase):
    client = None

    def setUp(self):
        dask.config.set(scheduler="threads")
        self.numbers = np.random.default_rng(5).normal(size=(300_007,))

    def assert_same(self, text, numbers, chunks):
        alone = gasell.Session().evaluate(text, x=numbers)
        cut = gasell.dask.compute(text, self.client, x=da.from_array(numbers, chunks=chunks))
        self.assertEqual(type(cut), type(alone), text)
        if isinstance(alone, gasell.Array):
            self.assertEqual(cut.dtype, alone.dtype, text)
            np.testing.assert_array_equal(np.asarray(cut), np.asarray(alone), text)
        else:
            self.assertEqual(repr(cut), repr(alone), text)

    def test_vectors(self):
        for text in TEXTS:
            with self.subTest(text=text):
                self.assert_same(text, self.numbers, 40_000)

    def test_matrices(self):
        for shape, chunks in (((4000, 50), (700, 30)), ((100_003, 3), (9000, 3)), ((5, 7), (2, 2)), ((200, 10, 30), (30, 10, 7)), ((1, 200_000), (1, 5000))):
            numbers = np.random.default_rng(6).normal(size=shape)
            for text in TEXTS + (OF_MATRICES if len(shape) == 2 else []):
                with self.subTest(text=text, shape=shape):
                    self.assert_same(text, numbers, chunks)

    def test_as_many_groups_as_take_several_steps(self):
        for text in ("x.sum()", "x.mean()", "(x * 2).sum()", "x.var()", "x.argmax()"):
            with self.subTest(text=text):
                self.assert_same(text, np.random.default_rng(8).normal(size=70 * gasell.cuts.GROUP + 5), 700_000)

    def test_other_types(self):
        for numbers in (np.arange(200_000), np.arange(200_000) % 3 == 0, self.numbers.astype("f4"), self.numbers + 1j * self.numbers,
                        np.arange(200_000, dtype="u1"), np.where(np.arange(200_000) == 77, np.nan, 1.0)):
            for text in ("x.sum()", "x.mean()", "(x * 2).sum()", "x.max()", "x.std()", "x.argmax()", "x.argmin()", "x.prod()", "(x * 2).var(ddof=3)"):
                if numbers.dtype.kind == "c" and ("max" in text or "min" in text):
                    continue
                with self.subTest(text=text, dtype=numbers.dtype):
                    self.assert_same(text, numbers, 30_000)

    def test_several_arrays(self):
        a, b = self.numbers, np.random.default_rng(7).normal(size=self.numbers.shape)
        for text in ("(a * b).sum()", "np.hypot(a, b).mean()", "a.sum() + b.sum()", "(a - b.mean()).max()", "c = a + k * b\nc.sum()"):
            alone = gasell.Session().evaluate(text, a=a, b=b, k=2.5)
            cut = gasell.dask.compute(text, self.client, a=da.from_array(a, chunks=50_000), b=da.from_array(b, chunks=33_333), k=2.5)
            self.assertEqual(cut, alone, text)

    def test_what_is_cut_runs_in_tasks(self):
        ran = []
        tasks = gasell.cuts.Program.tasks

        def noting(self, cut, body, unit):
            ran.append(body)
            return tasks(self, cut, body, unit)

        gasell.cuts.Program.tasks = noting
        try:
            x = da.from_array(self.numbers, chunks=50_000)
            for text, wanted in (("(np.sin(x) + 1).mean()", 1), ("x.max() + x.min()", 2), ("y = x * 2\n1", 0), ("y = x * 2\n(y + 1).sum()", 1)):
                ran.clear()
                gasell.dask.compute(text, x=x)
                self.assertEqual(len(ran), wanted, text)
            self.assertIn("sum(", ran[0])
        finally:
            gasell.cuts.Program.tasks = tasks

    def test_sources_that_the_text_writes(self):
        for text in ("x = da.random.default_rng(5).normal(size=(300_007, 3), chunks=(50_000, 3))\nx.mean(axis=0), x.std()",
                     "(da.arange(1_000_000, chunks=90_000) % 7).sum()", "da.random.RandomState(3).uniform(1, 2, size=400_000).mean()",
                     "x = da.ones((200_000, 2), chunks=30_000)\nx[0] = 5\nx.sum()", "da.full((3, 4), 2.5).sum()",
                     "(da.linspace(0, 1, 200_001, chunks=1000) ** 2).sum()", "da = 3\nda + 1",
                     "x = da.arange(100_000, chunks=7)\ny = x * 2 + da.ones(100_000, chunks=9)\ny.max()"):
            with self.subTest(text=text):
                alone, cut = gasell.Session().evaluate(text), gasell.dask.compute(text, self.client)
                self.assertEqual(repr(cut), repr(alone), text)
        ran = []
        tasks = gasell.cuts.Program.tasks
        gasell.cuts.Program.tasks = lambda self, cut, body, unit: ran.append(body) or tasks(self, cut, body, unit)
        try:
            gasell.dask.compute("x = da.random.default_rng(5).normal(size=1_000_000)\nx.std()", self.client)
        finally:
            gasell.cuts.Program.tasks = tasks
        self.assertEqual(len(ran), 1)

    def test_collections_that_are_no_arrays_are_whole(self):
        self.assertEqual(gasell.dask.compute("v + 1", v=dask.delayed(lambda: 2)()), 3)

    def test_errors_are_the_texts(self):
        x = da.from_array(self.numbers, chunks=50_000)
        with self.assertRaises(NameError):
            gasell.dask.compute("x.sum() + nothing", self.client, x=x)
        with self.assertRaises(SyntaxError):
            gasell.dask.compute("x +", self.client, x=x)
        with self.assertRaises(gasell.Error) as caught:
            gasell.dask.compute("s = x.sum()\n[][3]", self.client, x=x)
        self.assertEqual(caught.exception.line, 2)

    def test_a_worker_of_another_version(self):
        with self.assertRaisesRegex(ValueError, "the same version"):
            gasell.cuts.run_task("0.0.1", "def task(x): return x", 1)


@unittest.skipIf(da is None or Client is None, "dask or distributed is not installed")
class OnClusters(Cuts):
    @classmethod
    def setUpClass(cls):
        cls.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        cls.client = Client(cls.cluster)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()

    def test_matrices(self):
        for text in OF_MATRICES[:4]:
            with self.subTest(text=text):
                self.assert_same(text, np.random.default_rng(6).normal(size=(4000, 50)), (700, 30))

    def test_a_worker_is_killed(self):
        x = da.from_array(self.numbers, chunks=5000).map_blocks(slow)
        alone = gasell.Session().evaluate("(x * 2).sum()", x=self.numbers)
        pid = next(iter(self.client.run(os.getpid).values()))
        killer = threading.Timer(0.7, os.kill, (pid, 9))
        killer.start()
        self.assertEqual(gasell.dask.compute("(x * 2).sum()", self.client, x=x), alone)
        killer.join()
        self.assertNotIn(pid, self.client.run(os.getpid).values())

    def test_the_text_names_the_cluster(self):
        address = self.cluster.scheduler_address
        text = (f"from dask.distributed import Client\nclient = Client({address!r})\nx = da.random.default_rng(1).normal(size=300_000, chunks=40_000)\n"
                "print(x.std())\nclient.close()\nx.mean()")
        seen = []
        computed = gasell.cuts.Program.computed
        gasell.cuts.Program.computed = lambda self, collections: seen.append(self.client) or computed(self, collections)
        try:
            mean = gasell.dask.compute(text)
        finally:
            gasell.cuts.Program.computed = computed
        self.assertEqual(mean, gasell.Session().evaluate("da.random.default_rng(1).normal(size=300_000).mean()"))
        self.assertEqual([client is None for client in seen], [True, False, True])  # names of the caller, std, mean
        with self.assertRaisesRegex(NotImplementedError, "close"):
            gasell.dask.compute(f"client = Client({address!r})\nclient.submit(len, [])")
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.gsl")
            with open(script, "w", encoding="utf-8") as file:
                file.write(text + "\nprint([][1])\n")
            ran = subprocess.run([sys.executable, "-m", "gasell", "cluster", script], capture_output=True, text=True, timeout=120)
        self.assertEqual(ran.stdout, str(gasell.Session().evaluate("str(da.random.default_rng(1).normal(size=300_000).std())")) + "\n")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("script.gsl:7:", ran.stderr)

    def test_a_task_fails(self):
        def broken(block, block_info=None):
            if block_info and block_info[0]["chunk-location"] == (3,):
                raise ArithmeticError("block 3 cannot be read")
            return block

        x = da.from_array(self.numbers, chunks=50_000).map_blocks(broken, dtype=float)
        with self.assertRaisesRegex(ArithmeticError, "block 3"):
            gasell.dask.compute("x.sum()", self.client, x=x)
        self.assertEqual(gasell.dask.compute("x.sum()", self.client, x=da.ones(10)), 10.0)


if __name__ == "__main__":
    unittest.main()
