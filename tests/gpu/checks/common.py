"""What the checks share: the gasell under test and its devices, and how a check ends."""

import os
import re
import subprocess

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Wrong(Exception):
    """A check failed; the text says how."""


class Skipped(Exception):
    """A check that this machine cannot do; the text says why."""


def shortened(text, lines=30):
    kept = text.splitlines()
    return "\n".join("    " + line for line in (kept if len(kept) <= lines else [*kept[: lines // 2], f"… {len(kept) - lines} lines more", *kept[-lines // 2 :]]))


class Target:
    def __init__(self, options, folder):
        self.gasell = os.path.abspath(options.gasell)
        self.options, self.folder, self.seed, self.quick = options, folder, options.seed, options.quick
        self.real = options.device.split(":")[0] == "gpu"
        self.doctor = subprocess.run([self.gasell, "doctor"], capture_output=True, text=True, timeout=120, env=self.environment()).stdout
        if self.real:
            described = re.findall(r"^gpu:(\d+) +(.*sm_\d+.*)$", self.doctor, re.M)
            self.gpus = [int(number) for number, _ in described]
            self.title = f"{len(self.gpus)} × {described[0][1]}" if described else "no GPU"
            self.all = "gpu"
        else:
            self.gpus = list(range(int(options.device.split(":")[1])))
            self.title = f"{len(self.gpus)} simulated GPUs"
            self.all = options.device

    def first(self, count):
        """The device that names the first `count` GPUs."""
        return "gpu:" + ",".join(map(str, self.gpus[:count])) if self.real else f"sim:{count}"

    @property
    def poisoned(self):
        """New memory of the GPUs is filled, so that what nobody wrote shows; simulated GPUs always do it."""
        return {"GASELL_GPU_POISON": "1"}

    def environment(self, **changes):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL") or k == "GASELL_LIBCUDA"}
        return {**kept, "XDG_CACHE_HOME": os.path.join(self.folder, "cache"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "GASELL_HISTORY": "", **changes}

    def start(self, text, device, **changes):
        """A running gasell; its outputs are pipes."""
        return subprocess.Popen([self.gasell, "--device", device, "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder, env=self.environment(**changes))

    def run(self, text, device, *arguments, timeout=300, prefix=(), **changes):
        """status, stdout, stderr"""
        try:
            done = subprocess.run([*prefix, self.gasell, "--device", device, *arguments, "-c", text], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                                  cwd=self.folder, env=self.environment(**changes))
        except subprocess.TimeoutExpired:
            raise Wrong(f"    no end within {timeout} s on {device}:\n{shortened(text)}") from None
        return done.returncode, done.stdout, done.stderr

    def output(self, text, device, **changes):
        """What a script that ends well prints."""
        status, out, err = self.run(text, device, **changes)
        if status or err:
            raise Wrong(f"    status {status} on {device} of\n{shortened(text)}\n    with\n{shortened(out + err)}")
        return out

    def same(self, text, device, right, **changes):
        """The output must be `right`, what the host printed."""
        got = self.output(text, device, **changes)
        if got != right:
            raise Wrong(f"    on {device} {changes or ''}\n{shortened(text)}\n    printed\n{shortened(got)}\n    instead of the host's\n{shortened(right)}")
