#!/usr/bin/env python3
"""Several GPUs, simulated: which of them takes part is seen in the trace."""

import json
import os
import subprocess
import tempfile
import unittest

GASELL = os.environ["GASELL"]


class Work(unittest.TestCase):
    def run_script(self, device, script, *arguments, **changes):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        command = [GASELL, "--device", device, "--no-cache", *arguments, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**kept, **changes})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def traced(self, device, script, **changes):
        """What the script prints, and the kernels and copies that ran: (device, category, name, bytes)."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            out = self.run_script(device, script, "--trace", path, **changes)
            with open(path, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        return out, [(names[e["pid"]], e["cat"], e["name"], e["args"]["bytes"]) for e in events if e["ph"] == "X"]


def kernels_on(events):
    return {device for device, category, _, _ in events if category == "kernels"}


class Devices(Work):
    """with device(…):"""

    def on(self, block):
        script = f"x = np.arange(4000000.0)\nwith device('{block}'):\n    print((x * 2).sum(), (x + 1).sum())"
        out, events = self.traced("sim:4", script, GASELL_SPLIT_FROM="0")
        self.assertEqual(out, "15999996000000.0 8000002000000.0\n")
        return kernels_on(events)

    def test_blocks_run_where_they_say(self):
        self.assertEqual(self.on("cpu"), {"cpu"})
        self.assertEqual(self.on("gpu:1"), {"gpu:1"})
        self.assertEqual(self.on("gpu:0,2"), {"gpu:0", "gpu:2"})
        self.assertEqual(self.on("sim:2"), {"gpu:0", "gpu:1"})
        self.assertEqual(self.on("auto"), {"gpu:0", "gpu:1", "gpu:2", "gpu:3"})

    def test_what_was_before_counts_again(self):
        script = """
x = np.arange(4000000.0)
try:
    with device('gpu:1'):
        with device('cpu'):
            x.sum()
        raise ValueError
except ValueError:
    print(x.sum())
"""
        out, events = self.traced("sim:4", script, GASELL_SPLIT_FROM="0")
        self.assertEqual(out, "7999998000000.0\n")
        self.assertEqual(kernels_on(events), {"gpu:0", "gpu:1", "gpu:2", "gpu:3"})

    def test_a_gpu_that_is_lost_in_its_block(self):
        script = "with device('gpu:1'):\n    print(np.arange(100000.0).sum())\n    print(np.arange(1000.0).sum())"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        done = subprocess.run([GASELL, "--device", "sim:2", "--no-cache", "-c", script], capture_output=True, text=True, timeout=120,
                              env={**kept, "GASELL_SIM_FAULT": "lost@launch:1"})
        self.assertEqual((done.returncode, done.stdout), (0, "4999950000.0\n499500.0\n"))
        self.assertRegex(done.stderr, r"GPU 1 \(simulated GPU\) was lost .*; its work goes to the others")


@unittest.skipUnless(os.environ.get("GASELL_FAKE_CUDA"), "needs the fake driver")
class NamesOnADriver(Work):
    """What a block says of devices that NVIDIA's driver does not show, or does not give."""

    def said(self, block, *arguments, **changes):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        environment = {**kept, "GASELL_LIBCUDA": os.environ["GASELL_FAKE_CUDA"], "FAKE_CUDA_DEVICES": "3", **changes}
        script = f"with device('{block}'):\n    print('entered')"
        done = subprocess.run([GASELL, *arguments, "-c", script], capture_output=True, text=True, timeout=60, env=environment)
        return done.stdout + done.stderr

    def test_names(self):
        for device in ("auto", "gpu", "gpu:2,0"):
            self.assertEqual(self.said("gpu:2", "--device", device), "entered\n")
            self.assertIn("RuntimeError: there is no GPU 3: there are GPUs 0 to 2", self.said("gpu:3", "--device", device))
        self.assertIn("RuntimeError: there is no GPU 1 in this session: GPUs 0 and 2 are there", self.said("gpu:1", "--device", "gpu:0,2"))
        self.assertIn("RuntimeError: device 'gpu' is not there: the session computes on the host's cores", self.said("gpu", "--device", "cpu"))
        self.assertIn("RuntimeError: device 'sim:1' is not there: the session has no simulated GPUs", self.said("sim:1", "--device", "gpu"))

    def test_reasons(self):
        for block in ("gpu", "gpu:1"):
            self.assertIn("is in exclusive use by another process (CUDA_ERROR_DEVICE_UNAVAILABLE)", self.said(block, FAKE_CUDA_RETAIN="46"))
            self.assertIn("the NVIDIA driver serves CUDA 11.2; Gasell needs CUDA 11.8 or newer", self.said(block, FAKE_CUDA_VERSION="11020"))


class Reductions(Work):
    """Reductions over any axis are split where their array lies, and move no more than partial results."""

    def test_leading_axis(self):
        for what in ("x.sum(axis=0)", "x.mean(axis=0)", "x.var(axis=0)", "x.argmax(axis=0)", "x.sum(axis=1)", "x.reshape(100, 4000, 10).max(axis=1)"):
            with self.subTest(what=what):
                script = f"x = np.random.default_rng(3).standard_normal((400000, 10)).persist()\nprint(repr({what}.persist()))"
                wanted = self.run_script("cpu", script)
                out, events = self.traced("sim:4", script, GASELL_SPLIT_FROM="0")
                self.assertEqual(out, wanted)
                on = {device for device, category, name, _ in events if category == "kernels" and name.startswith("reduce")}
                self.assertEqual(on, {"gpu:0", "gpu:1", "gpu:2", "gpu:3"})
                moved = sum(size for _, category, _, size in events if category == "copies")
                self.assertLess(moved, 1e6)  # of 32 MB

    def test_random_numbers(self):
        for what in ("standard_normal((40000, 30)).sum(axis=0)", "random((40000, 30)).var(axis=0)", "integers(0, 99, (50, 20000)).max(axis=0)"):
            with self.subTest(what=what):
                script = f"print(repr(np.random.default_rng(3).{what}.persist()))"
                wanted = self.run_script("cpu", script)
                out, events = self.traced("sim:4", script, GASELL_SPLIT_FROM="0")
                self.assertEqual(out, wanted)
                self.assertEqual(kernels_on(events), {"gpu:0", "gpu:1", "gpu:2", "gpu:3"})


class Streaming(Work):
    """What does not fit a GPU passes through all of them, beside each other."""

    def streamed(self, script, size, **changes):
        wanted = self.run_script("cpu", script)
        for gpus in (1, 2, 4):
            with self.subTest(gpus=gpus):
                out, events = self.traced(f"sim:{gpus}", script, GASELL_SIM_MEMORY="8MiB", **changes)
                self.assertEqual(out, wanted)
                brought = {f"gpu:{k}": 0 for k in range(gpus)}
                kernels = dict.fromkeys(brought, 0)
                for device, category, name, nbytes in events:
                    if category == "copies in":
                        brought[device] += nbytes
                    elif category == "kernels" and name.startswith("reduce"):
                        kernels[device] += 1
                for device in brought:
                    # Each its share, though others may take much of it from one that is slow.
                    self.assertGreater(brought[device], 0.02 * size, brought)
                    self.assertGreaterEqual(kernels[device], 1, kernels)
                self.assertGreaterEqual(sum(kernels.values()), 8, kernels)
                self.assertLess(sum(brought.values()), 1.2 * size, brought)

    def test_host_array(self):
        # Running sums of floats are the host's.
        self.streamed("x = np.cumsum(np.ones(5000000))\nprint(repr(float((x * 3 + 1).sum())))", 40e6)

    def test_mapped_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            self.run_script("cpu", f"np.save({path!r}, np.random.default_rng(5).standard_normal(6000000))")
            self.streamed(f"x = np.load({path!r})\nprint(repr(float(x.std())))", 48e6)
            self.streamed(f"x = np.load({path!r}).reshape(60000, 100)\nprint(x.sum(axis=0), x.sum(axis=1)[:5])", 96e6)

    def test_results_that_do_not_fit(self):
        script = "x = (np.arange(6000000.0) * 2).persist()\ny = np.sqrt(x + 1).persist()\nprint(x.sum(), y[::1000000])"
        wanted = self.run_script("cpu", script)
        out, events = self.traced("sim:4", script, GASELL_SIM_MEMORY="8MiB")
        self.assertEqual(out, wanted)
        home = {}
        for device, category, _, nbytes in events:
            if category == "copies out":
                home[device] = home.get(device, 0) + nbytes
        self.assertEqual(len(home), 4)
        self.assertGreater(min(home.values()), 0, home)


class Stealing(Work):
    """A slow GPU does not hold the others up."""

    SCRIPT = """
x = np.random.default_rng(1).standard_normal(6000000)
print(repr(float(x.std())), repr(float((np.sqrt(abs(x)) * 3).sum())))
y = (x * 2).persist()
print(y.sum(), (y + x).max(), y[-5:])
"""

    def test_the_slow_one_does_less(self):
        wanted = self.run_script("cpu", self.SCRIPT)
        out, events = self.traced("sim:4", self.SCRIPT, GASELL_SPLIT_FROM="0", GASELL_STEAL="1", GASELL_SIM_FAULT="slow:1:30")
        self.assertEqual(out, wanted)
        done = {device: 0 for device in ("gpu:0", "gpu:1", "gpu:2", "gpu:3")}
        for device, category, name, size in events:
            if category == "kernels" and name == "reduce_var":
                done[device] += size
        self.assertLess(done["gpu:1"], 0.8 * min(done[device] for device in done if device != "gpu:1"), done)

    def test_faults_while_work_moves(self):
        wanted = self.run_script("cpu", self.SCRIPT)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        for fault in [f"{kind}{k}" for kind in ("oom@", "lost@launch:", "lost@copy:") for k in (2, 9, 31)]:
            changes = {"GASELL_SPLIT_FROM": "0", "GASELL_STEAL": "1", "GASELL_SIM_MEMORY": "64MiB", "GASELL_SIM_FAULT": f"slow:0:10,{fault}"}
            done = subprocess.run([GASELL, "--device", "sim:3", "--no-cache", "-c", self.SCRIPT], capture_output=True, text=True, timeout=120,
                                  env={**kept, **changes})
            if done.returncode == 1:
                self.assertRegex(done.stderr, "only GPU [0-9] .* had them, and it was lost|MemoryError", fault)
            else:
                self.assertEqual((done.returncode, done.stdout), (0, wanted), fault + done.stderr)


if __name__ == "__main__":
    unittest.main()
