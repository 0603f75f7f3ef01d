"""Files elsewhere: read_csv, read_json, read_parquet and the like of a web server, of S3 and of Google Cloud Storage, all on this machine.

    tests/remote/run.py --gasell build/dev/bin/gasell

What is read is compared with pandas' reading of the same bytes; failures by their kind and words. Exits with 77 where the servers' packages are
not installed (scripts/python_env.sh installs them).
"""

import argparse
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402

GASELL = "gasell"
SKIPPED = 77


def write_trips(rows, seed):
    lines = ["pickup_datetime,passengers,fare,zone"]
    for i in range(rows):
        k = (i * 7919 + seed * 104729) % 100003
        lines.append(f"2019-0{1 + k % 9}-{10 + k % 18} 0{k % 10}:{10 + k % 50}:00,{k % 6},{k / 8},zone {k % 31}")
    return ("\n".join(lines) + "\n").encode()


# Part 10 comes behind part 2 for Dask, and before it for pandas; the third file is none of the pattern.
CSV = {f"taxi/nyc-taxi-{k}.csv": write_trips(40000 if k == 2 else 500, k) for k in (1, 2, 10)} | {"taxi/notes.txt": b"no table\n"}
SUMMARY = """
print(len(df), df.fare.sum(), df.passengers.tolist()[:5], df.zone.value_counts().sort_index().head(3).to_dict())
print(df.dtypes.astype(str).to_dict())
"""


def parquet_files():
    """What Gasell writes: a plain file of several row groups, and a folder by keys."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"""
import numpy as np
import pandas as pd
df = pd.DataFrame({{'a': np.arange(50000), 'b': np.arange(50000) % 7 / 4, 'year': np.arange(50000) % 2 + 2018, 'text': ['x', 'yy', 'zzz', 'w w'] * 12500}})
df.to_parquet('{folder}/plain.parquet', row_group_size=10000)
df.to_parquet('{folder}/keyed', partition_cols=['year'])
df.to_feather('{folder}/plain.feather')
df.to_json('{folder}/lines.json', orient='records', lines=True)
df.to_json('{folder}/list.json', orient='records')
"""
        done = run(script)
        assert done.returncode == 0, done.stderr
        found = {}
        for path, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    found[os.path.relpath(os.path.join(path, name), folder)] = file.read()
        return found


def run(script, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script.gsl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        return subprocess.run([GASELL, path], env=servers.environment_for_tests() | (environment or {}), capture_output=True, text=True, timeout=120)


def expected(names):
    """What pandas says of these files, one behind the other."""
    import pandas as pd

    df = pd.concat([pd.read_csv(io.BytesIO(CSV[name]), parse_dates=["pickup_datetime"]) for name in names], ignore_index=True)
    out = io.StringIO()
    exec(SUMMARY, {"df": df, "print": lambda *values: print(*values, file=out)})
    return out.getvalue()


class Remote(unittest.TestCase):
    maxDiff = None

    def check(self, script, wanted, environment=None):
        done = run(script, environment)
        self.assertEqual((done.stdout, done.stderr), (wanted, ""))

    def fails(self, script, kind, words, environment=None):
        done = run(script, environment)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn("FinalizeS3", done.stderr)
        self.assertRegex(done.stderr, rf"(?m)^{kind}: .*{words}")


class Web(Remote):
    @classmethod
    def setUpClass(cls):
        cls.files = CSV | parquet_files() | {"empty.csv": b"", "big.csv": b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 2) for i in range(3000000))}
        cls.server = servers.WebServer(cls.files)
        cls.addClassCleanup(cls.server.stop)

    def read(self, kind, options=""):
        url = self.server.url(f"{kind}/taxi/nyc-taxi-2.csv")
        return f"import pandas as pd\ndf = pd.read_csv('{url}', parse_dates=['pickup_datetime']{options})\n{SUMMARY}"

    def test_all_kinds_of_servers(self):
        for kind in ("ranges", "plain", "endless", "flaky", "moved"):
            with self.subTest(kind):
                self.check(self.read(kind), expected(["taxi/nyc-taxi-2.csv"]))

    def test_headers(self):
        self.check(self.read("secret", ", storage_options={'X-Key': 'open'}"), expected(["taxi/nyc-taxi-2.csv"]))
        self.fails(self.read("secret"), "PermissionError", "HTTP Error 403: Forbidden")
        self.fails(self.read("secret", ", storage_options={'X-Key': 'open\\r\\nX: y'}"), "ValueError", "a header of a request is one line")

    def test_failures(self):
        self.fails(self.read("broken"), "ConnectionError", "bytes remaining to read")
        self.fails(self.read("changing"), "OSError", "was changed while it was read")
        self.fails(f"import pandas as pd\npd.read_csv('{self.server.url('ranges/none.csv')}')", "FileNotFoundError", "HTTP Error 404: Not Found")
        self.fails(f"import pandas as pd\npd.read_csv('{self.server.url('ranges/empty.csv')}')", "EmptyDataError", "No columns to parse from file")
        self.fails("import pandas as pd\npd.read_csv('http://127.0.0.1:1/x.csv')", "ConnectionError", "127.0.0.1")
        self.fails("import pandas as pd\npd.read_csv('ftp://127.0.0.1/x.csv')", "NotImplementedError", "ftp:// addresses are not in Gasell")
        self.fails(f"import dask.dataframe as dd\ndd.read_csv('{self.server.url('ranges/*.csv')}')", "NotImplementedError", "patterns of http://")
        self.fails("import pandas as pd\npd.read_csv('/tmp/x.csv', storage_options={'a': 1})", "ValueError", "storage_options passed with file object")
        self.fails(f"import pandas as pd\npd.DataFrame({{'a': [1]}}).to_parquet('{self.server.url('x')}')", "NotImplementedError", "to_parquet of http://")

    def test_large_files_come_in_ranges_side_by_side(self):
        del self.server.requests[:]
        url = self.server.url("ranges/big.csv")
        self.check(f"import pandas as pd\ndf = pd.read_csv('{url}')\nprint(len(df), df.b.sum())\n", f"3000000 {3000000 * 2999999}\n")
        size = len(self.files["big.csv"])
        ranges = [tuple(int(n) for n in wanted.removeprefix("bytes=").split("-")) for _, wanted in self.server.requests]
        self.assertEqual(ranges[0], (0, 0))
        self.assertEqual(sorted(ranges[1:]), [(k, min(k + (8 << 20), size) - 1) for k in range(0, size, 8 << 20)])

    def test_parquet_reads_what_is_used(self):
        del self.server.requests[:]
        url = self.server.url("ranges/plain.parquet")
        self.check(f"import pandas as pd\ndf = pd.read_parquet('{url}', columns=['b'])\nprint(df.b.sum(), len(df))\n", "37499.25 50000\n")
        read = sum(int(w.split("-")[1]) - int(w.removeprefix("bytes=").split("-")[0]) + 1 for _, w in self.server.requests)
        self.assertLess(read, len(self.files["plain.parquet"]) / 2)
        for kind in ("plain", "flaky"):
            self.check(f"import pandas as pd\ndf = pd.read_parquet('{self.server.url(kind + '/plain.parquet')}')\nprint(df.a.sum(), df.text.value_counts().to_dict())\n",
                       "1249975000 {'x': 12500, 'yy': 12500, 'zzz': 12500, 'w w': 12500}\n")
        self.fails(f"import pandas as pd\nprint(pd.read_parquet('{self.server.url('broken/plain.parquet')}'))", "ConnectionError", "bytes remaining to read")
        self.fails(f"import pandas as pd\nprint(pd.read_parquet('{self.server.url('ranges/taxi/notes.txt')}'))", "ValueError", "notes.txt")

    def test_other_formats(self):
        self.check(f"import pandas as pd\ndf = pd.read_feather('{self.server.url('ranges/plain.feather')}')\nprint(df.a.sum())\n", "1249975000\n")
        self.check(f"import pandas as pd\ndf = pd.read_json('{self.server.url('plain/lines.json')}', lines=True)\nprint(df.a.sum())\n", "1249975000\n")

    def test_json_is_fetched_once(self):
        del self.server.requests[:]
        self.check(f"import pandas as pd\ndf = pd.read_json('{self.server.url('ranges/list.json')}')\nprint(df.a.sum())\n", "1249975000\n")
        ranges = [wanted for _, wanted in self.server.requests]
        self.assertEqual(len(ranges), len(set(ranges)))


@unittest.skipUnless(importlib.util.find_spec("moto"), "moto is not installed")
class S3(Remote):
    @classmethod
    def setUpClass(cls):
        cls.server = servers.S3Server("bucket-name", CSV | parquet_files())
        cls.addClassCleanup(cls.server.stop)
        cls.keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": cls.server.endpoint}
        cls.options = {"key": "key", "secret": "secret", "client_kwargs": {"endpoint_url": cls.server.endpoint, "region_name": "us-east-1"}}

    def test_the_environment_says_who_asks(self):
        self.check(f"import pandas as pd\ndf = pd.read_csv('s3://bucket-name/taxi/nyc-taxi-1.csv', parse_dates=['pickup_datetime'])\n{SUMMARY}",
                   expected(["taxi/nyc-taxi-1.csv"]), self.keys)

    def test_storage_options(self):
        self.check(f"import pandas as pd\ndf = pd.read_csv('s3://bucket-name/taxi/nyc-taxi-2.csv', parse_dates=['pickup_datetime'], storage_options={self.options})\n{SUMMARY}",
                   expected(["taxi/nyc-taxi-2.csv"]))
        self.fails("import pandas as pd\npd.read_csv('s3://b/x.csv', storage_options={'config_kwargs': {'a': 1}})", "NotImplementedError",
                   r"storage_options\['config_kwargs.a'\] of s3:// is not in Gasell")

    def test_patterns(self):
        self.check(f"import dask.dataframe as dd\ndf = dd.read_csv('s3://bucket-name/taxi/nyc-taxi-*.csv', parse_dates=['pickup_datetime'])\n{SUMMARY}",
                   expected(["taxi/nyc-taxi-1.csv", "taxi/nyc-taxi-10.csv", "taxi/nyc-taxi-2.csv"]), self.keys)
        self.fails("import dask.dataframe as dd\ndd.read_csv('s3://bucket-name/taxi/none-*.csv')", "(OSError|FileNotFoundError)", "resolved to no files", self.keys)

    def test_parquet(self):
        self.check("import pandas as pd\ndf = pd.read_parquet('s3://bucket-name/plain.parquet', columns=['a'])\nprint(df.a.sum())\n", "1249975000\n", self.keys)
        self.check("import dask.dataframe as dd\ndf = dd.read_parquet('s3://bucket-name/keyed/')\nprint(len(df), df.year.value_counts().to_dict())\n",
                   "50000 {2018: 25000, 2019: 25000}\n", self.keys)
        self.check("import pandas as pd\ndf = pd.read_parquet('s3://bucket-name/keyed', filters=[('year', '==', 2019)])\nprint(len(df))\n", "25000\n", self.keys)

    def test_failures(self):
        read = "import pandas as pd\npd.read_csv('s3://{}')\n"
        self.fails(read.format("bucket-name/none.csv"), "FileNotFoundError", "none.csv", self.keys)
        self.fails(read.format("no-such-bucket/x.csv"), "FileNotFoundError", "no-such-bucket", self.keys)
        self.fails(read.format(""), "ValueError", "names no bucket", self.keys)
        # The store cannot be made at all.
        self.fails("import pandas as pd\npd.read_csv('s3://b/x.csv', storage_options={'key': 'a', 'endpoint_url': 'http://127.0.0.1:1'})\n", "OSError", "must be provided together")
        public = "import pandas as pd\npd.read_csv('s3://bucket-name/taxi/notes.txt', storage_options={'anon': True})\n"
        self.fails(public, "PermissionError", "ACCESS_DENIED", self.keys)  # the server wants a key
        self.fails(read.format("bucket-name/x.csv"), "ConnectionError", "", self.keys | {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})


@unittest.skipUnless(importlib.util.find_spec("gcp_storage_emulator"), "gcp-storage-emulator is not installed")
class Google(Remote):
    @classmethod
    def setUpClass(cls):
        cls.server = servers.GoogleServer("bucket-name", {f"nyc-taxi-{name.rsplit('-', 1)[1]}": body for name, body in CSV.items() if "nyc" in name})
        cls.addClassCleanup(cls.server.stop)
        cls.keys = {"STORAGE_EMULATOR_HOST": cls.server.endpoint}

    def test_the_taxi_text(self):
        for scheme in ("gcs", "gs"):
            self.check(f"import dask.dataframe as dd\ndf = dd.read_csv('{scheme}://bucket-name/nyc-taxi-*.csv', parse_dates=['pickup_datetime'])\n{SUMMARY}",
                       expected(["taxi/nyc-taxi-1.csv", "taxi/nyc-taxi-10.csv", "taxi/nyc-taxi-2.csv"]), self.keys)

    def test_failures(self):
        self.fails("import pandas as pd\npd.read_csv('gs://bucket-name/none.csv')\n", "FileNotFoundError", "none.csv", self.keys)
        self.fails("import pandas as pd\npd.read_csv('gs://b/x.csv', storage_options={'token': 'key.json'})\n", "NotImplementedError", "'anon'", self.keys)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gasell", default=GASELL)
    given, rest = parser.parse_known_args()
    GASELL = os.path.abspath(given.gasell)
    if not importlib.util.find_spec("pandas"):
        print("pandas is not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *rest])
