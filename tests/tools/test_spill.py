#!/usr/bin/env python3
"""Arrays that exceed the memory budget go to disk, and what happens when that has no room either."""

import os
import resource
import signal
import subprocess
import time
import unittest

from support import GASELL, CommandTest, environment, run

# Six arrays of 16 MB are alive at the end.
SCRIPT = """
x = np.random.default_rng(1).standard_normal(2000000).persist()
y = (x * 2 + 1).persist()
z = np.sort(x)
c = np.cumsum(x)
t = (x.reshape(1000, 2000).T + 1).persist()
w = np.zeros(2000000)
w[::2] = x[1::2]
w += y
x[1000000:] = 0
print(x.sum(), y.std(), z[:3], c[-1], t[7, 9], t.sum(axis=0)[5], w.mean(), (x + y + z + c + w).max())
"""
TOO_MUCH = """
kept = []
try:
    for k in range(8):
        kept.append(np.arange(1000000.0 + k).persist())
    print("all")
except MemoryError as e:
    print(len(kept), str(e))
print(sum(float(x.sum()) for x in kept) == sum((1000000.0 + k) * (999999.0 + k) / 2 for k in range(len(kept))))
"""


class Spill(CommandTest):
    def spill(self, text, *arguments, limit=None, **changes):
        changes = {"GASELL_TMPDIR": self.folder, **changes}
        before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
        command = [GASELL, "--memory", "24MiB", "--no-cache", *arguments, "-c", text]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=environment(**changes), preexec_fn=before)

    def test_answers_do_not_depend_on_memory(self):
        wanted = run("--memory", "1GiB", "-c", SCRIPT, GASELL_SPILL="0")
        self.check(wanted, out=wanted.stdout)
        for device, changes in (
            ("cpu", {}),
            ("cpu", {"GASELL_CHUNK": "10000"}),
            ("sim:1", {"GASELL_SIM_MEMORY": "20MiB"}),
            ("sim:3", {"GASELL_SIM_MEMORY": "10MiB", "GASELL_SPLIT_FROM": "0"}),
            ("sim:2", {"GASELL_SPLIT_FROM": "0"}),
        ):
            with self.subTest(device=device, changes=changes):
                self.check(self.spill(SCRIPT, "--device", device, **changes), out=wanted.stdout)
                self.assertEqual(os.listdir(self.folder), [])

    def test_it_was_needed(self):
        self.check(self.spill(SCRIPT, "--device", "cpu", GASELL_SPILL="0"), 1, "", "MemoryError: Unable to allocate 15.3 MiB")

    def test_no_file_is_left_when_the_process_is_killed(self):
        text = "x = [np.arange(4000000.0 + k).persist() for k in range(4)]\nprint('there', flush=True)\nimport time\ntime.sleep(60)"
        command = [GASELL, "--memory", "24MiB", "--device", "cpu", "-c", text]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(GASELL_TMPDIR=self.folder))
        self.assertEqual(process.stdout.readline(), "there\n")
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            self.assertIn(os.path.realpath(self.folder), maps.read())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_file_at_its_limit(self):
        self.check(self.spill(TOO_MUCH, "--device", "cpu", limit=4 << 20),
                   out="2 Unable to allocate 7.63 MiB for an array with shape (1000002,) and data type float64\nTrue\n")
        failed = self.spill("x = [np.arange(1000000.0 + k).persist() for k in range(8)]", "--device", "cpu", limit=4 << 20)
        self.check(failed, 1, "", ["MemoryError", "and the disk has no room for it; --memory sets the budget, GASELL_TMPDIR the place on disk"])

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_full_disk(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", self.folder], capture_output=True)
        if mounted.returncode:
            self.skipTest("no file system can be mounted here")
        try:
            for device in ("cpu", "sim:2"):
                with self.subTest(device=device):
                    done = self.spill(TOO_MUCH, "--device", device, GASELL_SIM_MEMORY="4MiB")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertRegex(done.stdout, r"^4 Unable to allocate 7.63 MiB for an array with shape \(1000004,\) and data type float64\nTrue\n$")
            # What was given up gives its room back.
            again = "for k in range(10):\n    x = [np.arange(1000000.0).persist() for _ in range(4)]\n    del x\nprint('done')"
            self.check(self.spill(again, "--device", "cpu"), out="done\n")
        finally:
            subprocess.run(["umount", self.folder], check=True)

    def test_settings(self):
        self.check(self.spill(TOO_MUCH, "--device", "cpu", GASELL_SPILL="16MiB"),
                   out="4 Unable to allocate 7.63 MiB for an array with shape (1000004,) and data type float64\nTrue\n")
        failed = self.spill("x = np.ones(10000000).persist()", GASELL_SPILL="16MiB")
        self.check(failed, 1, "", "0 bytes of the 16.0 MiB of GASELL_SPILL are on disk")
        self.check(self.spill("print(1)", GASELL_SPILL="lots"), 1, "", "GASELL_SPILL: 'lots' is not a size")
        missing = os.path.join(self.folder, "missing")
        failed = self.spill("x = np.ones(10000000).persist()", GASELL_TMPDIR=missing)
        self.check(failed, 1, "", [f"'{missing}' takes no file: No such file or directory"])

    def test_interrupt(self):
        text = "print('there', flush=True)\nwhile True:\n    x = np.arange(20000000.0).persist()\n    y = (x[::-1] * 2).persist()"
        command = [GASELL, "--memory", "24MiB", "--device", "cpu", "-c", text]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(GASELL_TMPDIR=self.folder))
        self.assertEqual(process.stdout.readline(), "there\n")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)


if __name__ == "__main__":
    unittest.main()
