"""Gasell's arrays as Dask's chunks: Dask's own algorithms run over them. Needs dask."""

import pickle
import unittest

import gasell

try:
    import dask
    import dask.array as da
    import numpy as np

    import gasell.dask
except ImportError:
    da = None


@gasell.jit
def shifted(block):
    return block * 2.0 + 1.0


@unittest.skipIf(da is None, "dask is not installed")
class Arrays(unittest.TestCase):
    def setUp(self):
        dask.config.set(scheduler="threads")
        self.numbers = np.arange(48.0).reshape(6, 8)
        self.array = gasell.dask.from_array(self.numbers, chunks=(2, 4))

    def test_chunks_are_gasells(self):
        self.assertIsInstance(self.array._meta, gasell.Array)
        self.assertIsInstance(self.array.blocks[0, 0].compute(), gasell.Array)
        self.assertIsInstance((self.array + 1).compute(), gasell.Array)

    def test_algorithms_of_dask(self):
        calls = [lambda x: x + x, lambda x: (x + x[::-1]).mean(axis=0), lambda x: x.sum(), lambda x: x @ x.T, lambda x: x.std(axis=1),
                 lambda x: x.rechunk((3, 8)), lambda x: x[1:5, ::3], lambda x: x.T.cumsum(axis=0), lambda x: x.max(axis=(0, 1)),
                 lambda x: x.reshape(48), lambda x: x.argmax(axis=1), lambda x: x > 5, lambda x: x.var()]
        for k, call in enumerate(calls):
            with self.subTest(k=k):
                np.testing.assert_allclose(np.asarray(call(self.array).compute()), call(self.numbers) if k != 5 else self.numbers, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(da.concatenate([self.array, self.array]).compute()), np.concatenate([self.numbers] * 2))
        np.testing.assert_allclose(np.asarray(da.tensordot(self.array, self.array.T, axes=1).compute()), self.numbers @ self.numbers.T)
        np.testing.assert_allclose(np.asarray(da.einsum("ij->i", self.array).compute()), self.numbers.sum(1))
        np.testing.assert_allclose(np.asarray(da.sin(self.array).sum(axis=1).compute()), np.sin(self.numbers).sum(1))
        np.testing.assert_allclose(np.asarray(da.where(self.array > 3, self.array, 0).compute()), np.where(self.numbers > 3, self.numbers, 0))

    def test_functions_over_blocks(self):
        blocks = da.map_blocks(shifted, self.array, dtype=float)
        np.testing.assert_array_equal(np.asarray(blocks.compute()), self.numbers * 2 + 1)
        plain = da.from_array(self.numbers, chunks=3)
        np.testing.assert_array_equal(np.asarray(da.map_blocks(shifted, plain, dtype=float).compute()), self.numbers * 2 + 1)
        self.assertEqual(gasell.dask.compute("float((x * k).sum())", x=self.array, k=2), self.numbers.sum() * 2)

    def test_sizes_and_tokens(self):
        from dask.sizeof import sizeof

        self.assertEqual(sizeof(gasell.asarray(self.numbers)), 384)
        self.assertEqual(dask.base.tokenize(gasell.asarray(self.numbers)), dask.base.tokenize(gasell.asarray(self.numbers.copy())))
        self.assertNotEqual(dask.base.tokenize(gasell.asarray(self.numbers)), dask.base.tokenize(gasell.asarray(self.numbers + 1)))
        self.assertEqual(dask.base.tokenize(shifted), dask.base.tokenize(pickle.loads(pickle.dumps(shifted))))

    def test_frames(self):
        try:
            import dask.dataframe as dd
            import pandas as pd
        except ImportError:
            self.skipTest("dask.dataframe is not installed")
        frame = pd.DataFrame({"k": [1, 2, 1, 2], "v": [1.0, 2.0, 3.0, 4.0]})
        doubled = gasell.function("def doubled(part, by=2):\n    return part.assign(w=part['v'] * by)")
        result = gasell.dask.map_partitions(doubled, dd.from_pandas(frame, npartitions=2), by=3, meta=frame.assign(w=1.0).iloc[:0])
        pd.testing.assert_frame_equal(result.compute(), frame.assign(w=frame["v"] * 3))
        self.assertEqual(result.groupby("k")["w"].sum().compute().to_dict(), {1: 12.0, 2: 18.0})
        self.assertEqual(gasell.dask.compute("float(f['v'].sum())", f=dd.from_pandas(frame, npartitions=2)), 10.0)

    def test_workers(self):
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            self.skipTest("distributed is not installed")
        with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster):
            total = da.map_blocks(shifted, self.array, dtype=float).sum().compute()
            self.assertEqual(float(total), (self.numbers * 2 + 1).sum())


if __name__ == "__main__":
    unittest.main()
