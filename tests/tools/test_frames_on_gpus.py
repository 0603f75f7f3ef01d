#!/usr/bin/env python3
"""Filters, groups and joins on a simulated GPU: that they run there, with the host's answers; and with too little memory or faults of the GPU, with the right answer or an error."""

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
"""


def run(device, *arguments, **more):
    return subprocess.run([GASELL, "--device", device, *arguments, "-c", PROGRAM], capture_output=True, text=True, timeout=120, env=environment(**more))


class FramesOnGpus(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.expected = run("cpu").stdout
        assert "Length: 9001" in cls.expected, cls.expected

    def test_they_run_there(self):
        done = run("sim:1", "--explain")
        self.assertEqual(done.stdout, self.expected)
        for operator in "filter", "group by a table of few groups", "group by a table of many groups", "join a table of rows":
            lines = [line for line in done.stderr.splitlines() if line.startswith(operator)]
            self.assertTrue(lines and all("on the GPU" in line for line in lines), operator)

    def test_too_little_memory_is_the_hosts_work(self):
        for memory in "256KiB", "1MiB", "2MiB":
            done = run("sim:1", GASELL_SIM_MEMORY=memory)
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
