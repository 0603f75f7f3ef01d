#!/usr/bin/env python3
"""Sorts, scans, selections, searches and counts of arrays that are four times the memory budget, on the host and with small GPUs, give what they give with
enough memory, and take no more memory than the budget says."""

import os
import re
import subprocess
import threading
import time
import unittest

from support import GASELL, CommandTest, environment, run

BUDGET_MIB = 16
# 64 MiB of float64.
DATA = "n = 1 << 23\ndef data():\n    return np.random.default_rng(1).random(n)\n"
PROGRAMS = {
    "sort": "s = np.sort(data())\nprint(s[:: n // 7], s.sum())",
    "sort of few values": "s = np.sort(np.floor(data() * 3))\nprint(s[:: n // 7], s.sum())",
    "sort of rows": "s = np.sort(data().reshape(4, -1), axis=1)\nprint(s[:, :: n // 9], s.sum())",
    "sort of columns": "s = np.sort(data().reshape(-1, 4), axis=0)\nprint(s[:: n // 9], s.sum())",
    "sort of complex numbers": "s = np.sort(data()[::4] + 1j)\nprint(s[:: n // 9])",
    "argsort": "o = np.argsort(data())\nprint(o[:: n // 7], o.sum())",
    "unique": "u = np.unique((data() * 2e6).astype(np.int64))\nprint(u.size, u.sum())",
    "unique with places": "u = np.unique((data()[::2] * 2e5).astype(np.int64), return_index=True, return_inverse=True, return_counts=True)\nprint([(x.size, x.sum()) for x in u])",
    "cumsum": "c = np.cumsum(data())\nprint(c[:: n // 7])",
    "median": "print(np.median(data()), np.median(np.floor(data() * 3)))",
    "percentile": "print(np.percentile(data(), [1, 50, 99]))",
    "partition": "p = np.partition(data(), n // 3)\nprint(p[n // 3], p[: n // 3].max() <= p[n // 3], p.sum())",
    "histogram": "print(np.histogram(data(), 7)[0])",
    "bincount": "print(np.bincount((data() * 1e6).astype(np.int64))[::100000])",
    "mask": "x = data()\ny = x[x > 0.25]\nprint(y.size, y.sum())",
    "writes where a mask is true": "x = data()\nm = x > 0.25\nx[m] = np.arange(float(m.sum()))\nprint(x.sum())",
    "elements at places": "x = data()\nprint(x[(data() * n).astype(np.int64)].sum())",
    "writes to places": "x = data()\nx[np.argsort(x)] = np.arange(float(n))\nprint(x[:: n // 7])",
    "product with itself": "x = data().reshape(-1, 64)\nprint((x.T @ x).round(3)[:3, :3])",
    "product with few columns": "x = data().reshape(-1, 64)\ny = x @ x[:64, :16]\nprint(y[:: n // 400, ::9].round(9), round(y.sum(), 3))",
    "product of what is computed": "x = data()[: n // 2].reshape(2048, -1)\ny = np.sin(x) @ np.cos(x).T\nprint(y[::500, ::500].round(7), round(y.trace(), 5))",
    "qr": "x = data().reshape(-1, 32)\nq, r = np.linalg.qr(x)\nprint(r[::9, ::9].round(7), q[:: n // 99, ::9].round(9), (q @ r - x).max() < 1e-12)",
    "svd": "x = data().reshape(-1, 32)\nu, s, v = np.linalg.svd(x, full_matrices=False)\nprint(s[::9].round(7), ((u * s) @ v - x).max() < 1e-10)",
    "qr and svd of chunks": "x = da.random.default_rng(1).random((n // 32, 32), chunks=(n // 256, 32))\nq, r = da.linalg.qr(x)\nu, s, v = da.linalg.svd(x)\nprint(r.compute()[::9, ::9].round(7), s.compute()[::9].round(7), float(abs(q @ r - (u * s) @ v).max()) < 1e-10)",
    "svd_compressed": "x = da.random.default_rng(1).random((4096, 2048), chunks=(512, 2048))\nu, s, v = da.linalg.svd_compressed(x, 3, seed=7)\nprint(s.compute().round(7), abs(u.compute()[::1000]).round(9))",
    "add.at": "y = np.zeros(n // 8)\nnp.add.at(y, (data() * (n // 8)).astype(np.int64), 1.5)\nprint(y[:5], y.sum())",
}
# Beside the budget: the program, kernels, and what is taken for a moment.
SLACK_MIB = 48
SMALL_GPUS = {"GASELL_DEVICE": "sim:1", "GASELL_GPU_MEMORY": "16MiB"}
ON_GPUS = ("sort", "unique", "cumsum", "median", "mask", "partition")


def most_own_memory(process, found):
    """Follows the memory of a process that is not of files, in MiB."""
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
                own = re.search(r"RssAnon:\s+(\d+)", status.read())
        except OSError:
            return
        found[0] = max(found[0], int(own.group(1)) // 1024 if own else 0)
        time.sleep(0.005)


class AlgorithmsOnDisk(CommandTest):
    def test_four_times_the_budget(self):
        for name, text in PROGRAMS.items():
            with self.subTest(name):
                wanted = run("--device", "cpu", "--memory", "2GiB", "-c", DATA + text, timeout=200)
                command = [GASELL, "--device", "cpu", "--memory", f"{BUDGET_MIB}MiB", "-c", DATA + text]
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(GASELL_TMPDIR=self.folder))
                most = [0]
                watcher = threading.Thread(target=most_own_memory, args=(process, most))
                watcher.start()
                out, err = process.communicate(timeout=250)
                watcher.join()
                self.assertEqual((process.returncode, out, err), (0, wanted.stdout, ""))
                self.assertEqual(os.listdir(self.folder), [])
                self.assertLess(most[0], BUDGET_MIB + SLACK_MIB)

    def test_small_gpus(self):
        small = DATA.replace("23", "21")
        for name in ON_GPUS:
            with self.subTest(name):
                wanted = run("--device", "cpu", "-c", small + PROGRAMS[name], timeout=200)
                self.check(run("-c", small + PROGRAMS[name], timeout=250, GASELL_MEMORY="16MiB", GASELL_TMPDIR=self.folder, **SMALL_GPUS), out=wanted.stdout)


if __name__ == "__main__":
    unittest.main()
