#!/usr/bin/env python3
"""--trace and --profile on simulated GPUs: the file is Chrome's format, each device has its kernels and copies, and copies overlap computing."""

import json
import os
import subprocess
import tempfile
import unittest

GASELL = os.environ["GASELL"]
STREAMS = """
import numpy as np
x = np.arange(2000000.0)
np.sort(np.array([2.0, 1.0] * 100000)).persist()
np.cumsum(x)
y = np.sort(x * 2 + 1)
print((x + y).sum())
"""


def run(*arguments, **changes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
    return subprocess.run([GASELL, *arguments], capture_output=True, text=True, timeout=60, env={**kept, **changes})


class Traces(unittest.TestCase):
    def trace(self, device, **changes):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            done = run("--device", device, "--no-cache", "--trace", path, "-c", STREAMS, **changes)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "6000000000000.0\n".replace("6000000000000.0", str(float(sum(range(2000000)) * 3 + 2000000))), ""))
            with open(path, encoding="utf-8") as file:
                return json.load(file)["traceEvents"]

    def test_streaming(self):
        events = self.trace("sim:1", GASELL_SIM_MEMORY="4MiB")
        work = [e for e in events if e["ph"] == "X"]
        self.assertGreater(len([e for e in work if e["cat"] == "kernels"]), 10)
        self.assertGreater(sum(e["args"]["bytes"] for e in work if e["cat"] == "copies in"), 15e6)
        self.assertGreater(sum(e["args"]["bytes"] for e in work if e["cat"] == "copies out"), 15e6)
        for event in work:
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)

    def test_every_device(self):
        events = self.trace("sim:3", GASELL_SPLIT_FROM="0")
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        with_kernels = {names[e["pid"]] for e in events if e.get("cat") == "kernels"}
        self.assertEqual(with_kernels, {"gpu:0", "gpu:1", "gpu:2"})

    def test_host(self):
        events = self.trace("cpu")
        self.assertTrue(any(e.get("cat") == "kernels" and e["name"] == "reduce_sum" for e in events))

    def test_profile(self):
        done = run("--device", "sim:1", "--profile", "-c", STREAMS)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"gpu:0 +map +\d+ ")
        self.assertRegex(done.stderr, r"gpu:0 +copies in +\d+ ")

    def test_no_place(self):
        done = run("--trace", "/nonexistent/trace.json", "-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertIn("cannot write the trace: [Errno 2] No such file or directory: '/nonexistent/trace.json'", done.stderr)


if __name__ == "__main__":
    unittest.main()
