"""gasell.DataFrame and Series to and from pandas, Polars and pyarrow: values, types, index, and whose memory it is."""

import gc
import pickle
import unittest

import gasell

try:
    import numpy as np
    import pandas as pd
except ImportError:
    pd = None
try:
    import pyarrow as pa
except ImportError:
    pa = None
try:
    import polars as pl
except ImportError:
    pl = None


@unittest.skipIf(pd is None, "pandas is not installed")
class Pandas(unittest.TestCase):
    def round_trip(self, frame):
        back = gasell.dataframe(frame).to_pandas()
        pd.testing.assert_frame_equal(back, frame, check_dtype=False)
        return back

    def test_round_trips(self):
        numbers = pd.DataFrame({"i": [1, 2, 3], "f": [1.5, np.nan, -2.0], "b": [True, False, True], "s": np.array([1, 2, 3], np.int8)})
        back = self.round_trip(numbers)
        self.assertEqual([str(dtype) for dtype in back.dtypes], [str(dtype) for dtype in numbers.dtypes])
        self.round_trip(numbers.set_index("i"))
        self.round_trip(numbers.set_axis([10.5, 20.5, 30.5]))
        self.round_trip(pd.DataFrame({"t": pd.to_datetime(["2020-01-01 12:00", "2021-05-06 10:00", None]).as_unit("ns")}))
        self.round_trip(pd.DataFrame({"d": pd.to_timedelta([1, 2, 10**12])}))
        self.round_trip(numbers.iloc[:0])
        self.round_trip(numbers.iloc[::2])

    @unittest.skipIf(pa is None, "pyarrow is not installed")
    def test_texts(self):
        frame = pd.DataFrame({"t": ["a", "é", None], "n": [1, 2, 3]}, index=["x", "y", "z"])
        made = gasell.dataframe(frame)
        self.assertEqual(made["t"].tolist()[:2], ["a", "é"])
        back = made.to_pandas()
        self.assertEqual(back["t"].tolist()[:2], ["a", "é"])
        self.assertTrue(pd.isna(back["t"].tolist()[2]))
        self.assertEqual(list(back.index), ["x", "y", "z"])

    @unittest.skipIf(pa is None, "pyarrow is not installed")
    def test_types_of_pandas_own(self):
        for column in [pd.Series([1, None, 3], dtype="Int64"), pd.Series([True, None], dtype="boolean"),
                       pd.Series(["a", "b", "a"], dtype="category"), pd.Series(pd.to_datetime(["2020-01-01"]).tz_localize("UTC").as_unit("ns")),
                       pd.Series(["a", None], dtype="string")]:
            with self.subTest(dtype=column.dtype):
                back = gasell.dataframe(pd.DataFrame({"c": column})).to_pandas()["c"]
                pd.testing.assert_series_equal(back, column, check_names=False, check_dtype=column.dtype.name != "string")
        for column in [pd.Series(pd.period_range("2020", periods=2, freq="D")), pd.Series(pd.interval_range(0, 2))]:
            with self.assertRaisesRegex(TypeError, "no counterpart"):
                gasell.dataframe(pd.DataFrame({"c": column}))

    def test_memory_of_columns_is_shared(self):
        values = np.arange(1000.0)
        frame = pd.DataFrame({"a": values}, copy=False)
        address = frame["a"].to_numpy().ctypes.data
        made = gasell.dataframe(frame)
        self.assertEqual(np.asarray(made["a"].values).ctypes.data, address)
        self.assertEqual(made.to_pandas()["a"].to_numpy().ctypes.data, address)
        del frame, values
        gc.collect()
        self.assertEqual(made["a"].sum(), 499500.0)

    def test_frames_have_the_languages_methods(self):
        made = gasell.dataframe(pd.DataFrame({"k": [1, 2, 1], "v": [1.0, 2.0, 3.0]}))
        self.assertEqual(made["v"].sum(), 6.0)
        self.assertIs(type(made["v"].sum()), float)
        self.assertEqual(made.groupby("k")["v"].sum().to_pandas().to_dict(), {1: 4.0, 2: 2.0})
        self.assertEqual((made.shape, list(made), len(made), "k" in made), ((3, 2), ["k", "v"], 3, True))
        made["w"] = made["v"] * 2 + 1
        self.assertEqual(made["w"].tolist(), [3.0, 5.0, 7.0])
        self.assertEqual(made[made["v"] > 1.5]["k"].tolist(), [2, 1])
        self.assertEqual(made.loc[1, "v"], 2.0)
        self.assertEqual(made.iloc[0]["v"], 1.0)
        self.assertEqual(made.query("k == 1").sort_values("v", ascending=False)["v"].tolist(), [3.0, 1.0])
        self.assertIn("<table", made._repr_html_())
        self.assertIn("groupby", dir(made))
        with self.assertRaises(KeyError):
            made["nothing"]
        with self.assertRaises(AttributeError):
            made.nothing

    def test_operators_and_ufuncs(self):
        made = gasell.dataframe(pd.DataFrame({"a": [1.0, 4.0], "b": [9.0, 16.0]}))
        self.assertEqual(np.sqrt(made["a"]).tolist(), [1.0, 2.0])
        self.assertIsInstance(np.sqrt(made), gasell.DataFrame)
        self.assertEqual(np.asarray(made).tolist(), [[1, 9], [4, 16]])
        self.assertEqual((1 + made * 2)["b"].tolist(), [19.0, 33.0])
        self.assertEqual((-made["a"]).tolist(), [-1.0, -4.0])
        self.assertEqual(((made["a"] > 1) & (made["b"] > 1)).tolist(), [False, True])
        self.assertEqual((made.columns == ["a", "c"]).tolist(), [True, False])
        self.assertEqual(list(made.columns), ["a", "b"])
        with self.assertRaises(ValueError):
            bool(made["a"])

    def test_series_and_scalars(self):
        series = pd.Series([1.0, 2.0], index=["a", "b"], name="s")
        session = gasell.Session()
        back = session.evaluate("s * 2", s=series)
        self.assertIsInstance(back, gasell.Series)
        pd.testing.assert_series_equal(back.to_pandas(), series * 2)
        self.assertEqual(np.asarray(back).tolist(), [2.0, 4.0])
        self.assertEqual(session.evaluate("t + pd.Timedelta(1, 'D')", t=pd.Timestamp("2020-01-01")), pd.Timestamp("2020-01-02"))
        self.assertEqual(session.evaluate("i", i=pd.Index([3, 4])).tolist(), [3, 4])

    def test_labels_of_several_levels(self):
        frame = pd.DataFrame({"a": ["x", "x", "y"], "b": [1, 2, 1], "c": [3.0, 4.0, 5.0]}).set_index(["a", "b"])
        session = gasell.Session()
        pd.testing.assert_frame_equal(session.evaluate("f * 2", f=frame).to_pandas(), frame * 2)
        pd.testing.assert_frame_equal(session.evaluate("f.unstack()", f=frame).to_pandas(), frame.unstack())
        pd.testing.assert_series_equal(session.evaluate("f.c.loc['x']", f=frame).to_pandas(), frame.c.loc["x"])

    def test_pickling(self):
        made = gasell.dataframe(pd.DataFrame({"a": [1, 2]}))
        pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(made)).to_pandas(), made.to_pandas())

    def test_what_is_not_there_is_refused(self):
        with self.assertRaises(TypeError):
            gasell.dataframe(pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with self.assertRaisesRegex(TypeError, "time zone"):
            gasell.Session().evaluate("t", t=pd.Timestamp("2020-01-01", tz="Europe/Paris"))

    def test_long_tables_show_their_ends(self):
        html = gasell.dataframe({"a": list(range(100))})._repr_html_()
        self.assertEqual(html.count("<tr>"), 11)
        self.assertIn("100 rows × 1 columns", html)


@unittest.skipIf(pa is None, "pyarrow is not installed")
class Arrow(unittest.TestCase):
    def test_tables(self):
        table = pa.table({"a": [1, 2, 3], "s": ["x", None, "z"], "f": [1.5, 2.5, None]})
        made = gasell.dataframe(table)
        self.assertEqual(made["a"].sum(), 6)
        self.assertEqual(made.to_arrow().to_pydict(), table.to_pydict())
        self.assertEqual(pa.table(made).num_rows, 3)
        self.assertEqual(gasell.Session().evaluate("c.sum()", c=pa.array([1, 2])), 3)
        self.assertEqual(gasell.Session().evaluate("c.sum()", c=pa.chunked_array([[1, 2], [3]])), 6)

    def test_memory_of_columns_is_shared(self):
        column = pa.array(range(1000), pa.int64())
        address = column.buffers()[1].address
        back = gasell.dataframe(pa.table({"a": column})).to_arrow()
        self.assertEqual(back.column("a").chunk(0).buffers()[1].address, address)

    def test_a_table_outlives_its_frame(self):
        table = gasell.Session(gasell.Engine(threads=1)).evaluate("pd.DataFrame({'a': [1.0, 2.0]})").to_arrow()
        gc.collect()
        self.assertEqual(table.to_pydict(), {"a": [1.0, 2.0]})

    def test_the_interchange_protocol(self):
        made = gasell.dataframe({"a": [1, 2]}).__dataframe__()
        self.assertEqual((made.num_rows(), list(made.column_names())), (2, ["a"]))


@unittest.skipIf(pl is None, "Polars is not installed")
class Polars(unittest.TestCase):
    def test_round_trips(self):
        frame = pl.DataFrame({"a": [1, 2, 3], "s": ["x", None, "z"], "f": [0.5, 1.5, 2.5]})
        made = gasell.dataframe(frame)
        self.assertEqual(made["f"].sum(), 4.5)
        self.assertTrue(pl.DataFrame(made).equals(frame))
        self.assertEqual(gasell.evaluate("s.name, s.tolist()", s=pl.Series("n", ["x", "y"])), ("n", ["x", "y"]))

    def test_memory_of_columns_is_shared(self):
        frame = pl.DataFrame({"a": np.arange(1000.0)})
        made = gasell.dataframe(frame)
        address = np.asarray(made["a"].values).ctypes.data
        self.assertEqual((frame["a"].to_numpy().ctypes.data, pl.DataFrame(made)["a"].to_numpy().ctypes.data), (address, address))


if __name__ == "__main__":
    unittest.main()
