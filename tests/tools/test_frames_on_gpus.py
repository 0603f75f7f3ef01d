#!/usr/bin/env python3
"""Filters, groups, joins, sorts and windows on simulated GPUs: that they run there, with the host's answers and on any number of them; and with too little memory or
faults of the GPU, with the right answer or an error."""

import subprocess
import unittest

from support import GASELL, CommandTest, environment

PROGRAM = """
n = 60000
row = np.arange(n)
df = pd.DataFrame({"k": row * 7919 % 9001, "h": row % 24, "x": row % 97 / 16 - 2})
d = df[df.x > 0]
print(d.groupby("h").x.sum(), d.groupby("k").x.mean(), len(d))
j = df.merge(pd.DataFrame({"k": np.arange(9000), "y": np.arange(9000) * 2}), on="k")
print(len(j), float((j.x * j.y).sum()))
print(df.x.rolling(100).sum().sum(), d.x.rolling(5000, min_periods=1).max().sum(), df.x.cumsum().max(), d.k.cummax().sum(), df.x.expanding().min().sum(), df.x.ewm(span=9).mean().round(9).sum().round(6))
g = df.groupby("k")
print(g.x.cumsum().sum(), g.cumcount().sum(), g.x.shift(2).sum(), g.x.transform("max").sum(), np.cumsum(df.k.to_numpy())[-1], df.x.ewm(span=9).std().round(9).sum().round(6))
"""
UNEVEN = """
n = 60000
x = np.sin(np.arange(n)) * 10.0 ** (np.arange(n) % 9)
df = pd.DataFrame({"k": np.arange(n) * 7919 % 9001, "h": np.arange(n) % 24, "x": x})
d = df[df.x > -3]
for r in d.groupby("h").x.mean(), d.groupby("k").x.sum(), df.x.rolling(70).mean(), df.x.rolling(3000).std(), df.x.cumsum(), df.x.ewm(alpha=0.1).mean(), df.x.ewm(alpha=0.1).std(), df.groupby("k").x.cumsum(), d.x.rolling(9).sum(), df.x.expanding().var():
    print([v.hex() for v in r.iloc[:: max(1, len(r) // 60)].tolist()])
"""
ORDERS = """
n = 20000
row = np.arange(n)
df = pd.DataFrame({"k": row * 7919 % 3001 * 10**14, "f": row * 31 % 701 / 8, "x": row % 97 / 16 - 2})
print(df.sort_values(["f", "x"]).index[:9].tolist(), df.k.sort_values(ascending=False).iloc[:3].tolist(), df.f.nunique(), df.k.median())
print(df.groupby("k").x.sum(), df.groupby("f").x.std(), df.groupby("f").x.median(), df.f.duplicated().sum(), df.x.value_counts().iloc[0])
j = df.merge(pd.DataFrame({"k": np.arange(4000) % 2000 * 10**14, "y": np.arange(4000)}), on="k", how="outer")
print(len(j), float((j.x * j.y).sum()), j.k.iloc[[0, 7, -1]].tolist())
"""
SPREAD = """
n = 400000
i = np.arange(n)
def resident(v):
    a = np.empty(len(v), v.dtype)
    a[:] = v
    return a
df = pd.DataFrame({"h": resident(i % 24), "x": resident(i * 7919 % 1009 / 8), "y": resident(i % 77 + 1.0)})
d = df[df.x > 10]
print((d.x / d.y).groupby(d.h).mean().sum(), df.x.rolling(100).mean().iloc[99::1000].sum())
"""


def run(device, *arguments, program=PROGRAM, **more):
    return subprocess.run([GASELL, "--device", device, *arguments, "-c", program], capture_output=True, text=True, timeout=120, env=environment(**more))


class FramesOnGpus(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.expected, cls.ordered = run("cpu").stdout, run("cpu", program=ORDERS).stdout
        assert "Length: 9001" in cls.expected, cls.expected

    def test_they_run_there(self):
        done = run("sim:1", "--explain")
        self.assertEqual(done.stdout, self.expected)
        for operator in "filter", "group by a table of few groups", "group by a table of many groups", "join a table of rows", "window sum", "window max", "window min", "window exponential weights", "running sum", "running max", "running sum by groups", "running count by groups", "shift by groups":
            lines = [line for line in done.stderr.splitlines() if line.lstrip().startswith(operator)]
            self.assertTrue(lines and all("on the GPU" in line for line in lines), operator)

    def test_the_number_of_gpus_changes_no_bit(self):
        alone = run("sim:1", program=UNEVEN)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for device, split in ("sim:2", "0"), ("sim:3", "0"), ("sim:2", "65536"), ("sim:3", "65536"):
            self.assertEqual(run(device, GASELL_SPLIT_FROM=split).stdout, self.expected, device)
            self.assertEqual(run(device, program=UNEVEN, GASELL_SPLIT_FROM=split).stdout, alone.stdout, device)

    def test_what_one_gpu_cannot_hold_is_shared(self):
        done = run("sim:4", "--explain", program=SPREAD, GASELL_SIM_MEMORY="4MiB", GASELL_SPLIT_FROM="65536")
        self.assertEqual(done.stdout, run("sim:1", program=SPREAD).stdout, done.stderr)
        for operator in "filter", "group by a table of few groups", "window mean":
            lines = [line for line in done.stderr.splitlines() if line.lstrip().startswith(operator)]
            self.assertTrue(lines and all("on the GPU" in line for line in lines), operator)

    def test_orders_and_tables_of_keys_run_there(self):
        done = run("sim:1", "--explain", program=ORDERS)
        self.assertEqual(done.stdout, self.ordered)
        for operator in "sort 2 keys", "sort 1 key", "distinct", "select", "group by a table of keys", "aggregate", "duplicates", "value counts", "join a table of keys":
            lines = [line for line in done.stderr.splitlines() if line.lstrip().startswith(operator)]
            self.assertTrue(lines and all("on the GPU" in line for line in lines), operator)

    def test_orders_with_too_little_memory_or_faults(self):
        for memory in "64KiB", "256KiB", "700KiB", "2MiB":
            done = run("sim:1", program=ORDERS, GASELL_SIM_MEMORY=memory)
            self.assertEqual(done.stdout, self.ordered, memory + done.stderr)
        answers = 0
        for fault in [f"{kind}{k}" for kind in ("oom@", "lost@launch:", "lost@copy:") for k in (2, 7, 19, 41, 83, 167, 331)]:
            done = run("sim:1", program=ORDERS, GASELL_SIM_FAULT=fault)
            if done.returncode == 0:
                answers += 1
                self.assertEqual(done.stdout, self.ordered, fault)
            else:
                self.assertRegex(done.stderr, "RuntimeError|MemoryError", fault)
        self.assertGreater(answers, 5)

    def test_too_little_memory_is_the_hosts_work(self):
        for memory in "256KiB", "1MiB", "2MiB":
            done = run("sim:1", GASELL_SIM_MEMORY=memory)
            self.assertEqual(done.stdout, self.expected, memory + done.stderr)
            done = run("sim:3", GASELL_SIM_MEMORY=memory, GASELL_SPLIT_FROM="65536")
            self.assertEqual(done.stdout, self.expected, memory + done.stderr)

    def test_faults_give_the_answer_or_an_error(self):
        answers = 0
        for fault in [f"{kind}{k}" for kind in ("oom@", "lost@launch:", "lost@copy:") for k in (1, 2, 3, 5, 8, 12, 17, 23, 30)]:
            done = run("sim:1", GASELL_SIM_FAULT=fault)
            if done.returncode == 0:
                answers += 1
                self.assertEqual(done.stdout, self.expected, fault)
            else:
                self.assertRegex(done.stderr, "RuntimeError|MemoryError", fault)
        self.assertGreater(answers, 5)


if __name__ == "__main__":
    unittest.main()
