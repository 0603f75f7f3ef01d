#!/usr/bin/env python3
"""cp.RawModule over the fake driver: variables of modules as arrays, what the driver tells of kernels."""

import os
import subprocess
import tempfile
import unittest

GASELL = os.environ["GASELL"]

# Kernels that move a variable to where their argument points, and from there (fake_cuda.h).
MODULE = """fake cubin \n.visible .const .align 8 .b8 table[24];
.visible .global .align 4 .b8 mixed[8];
.visible .entry show(.param .u64 to) { read table; }
.visible .entry keep(.param .u64 from) { write table; }
.visible .entry show_mixed(.param .u64 to) { read mixed; }
"""


class RawModule(unittest.TestCase):
    def run_script(self, script):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        environment = {**kept, "GASELL_LIBCUDA": os.environ["GASELL_FAKE_CUDA"], "FAKE_CUDA_DEVICES": "2"}
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "module.cubin"), "w", encoding="utf-8") as file:
                file.write(MODULE)
            with open(os.path.join(folder, "script.gsl"), "w", encoding="utf-8") as file:
                file.write("import cupy as cp\nfrom numba import cuda\nmodule = cp.RawModule(path='module.cubin')\n" + script)
            command = [GASELL, "--device", "auto", "--no-cache", "script.gsl"]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=folder)

    def printed(self, script):
        done = self.run_script(script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refused(self, script):
        done = self.run_script(script)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_kernels_see_what_the_array_holds(self):
        script = """
table = cp.ndarray(3, cp.float64, module.get_global('table'))
print(table)
table[...] = cp.array([1.5, 2.5, 3.5])
seen = cp.zeros(3)
module.get_function('show')((1,), (1,), (seen,))
print(seen, table)
table[1] = 7
module.get_function('show')((1,), (1,), (seen,))
print(seen)
"""
        self.assertEqual(self.printed(script), "[0. 0. 0.]\n[1.5 2.5 3.5] [1.5 2.5 3.5]\n[1.5 7.  3.5]\n")

    def test_the_array_sees_what_kernels_write(self):
        script = """
table = cp.ndarray((1, 3), dtype=cp.float64, memptr=module.get_global('table'))
before = table * 2
module.get_function('keep')((1,), (1,), (cp.array([1.0, 2.0, 4.0]),))
print(table, before)
again = cp.ndarray(2, cp.float64, module.get_global('table') + 8)
again[0] = 9
print(table, again)
"""
        self.assertEqual(self.printed(script), "[[1. 2. 4.]] [[0. 0. 0.]]\n[[1. 9. 4.]] [9. 4.]\n")

    def test_the_array_itself_is_an_argument(self):
        script = """
table = cp.ndarray(3, cp.float64, module.get_global('table'))
table[...] = cp.array([1.0, 2.0, 3.0])
module.get_function('keep')((1,), (1,), (table,))
print(table)
"""
        self.assertEqual(self.printed(script), "[1. 2. 3.]\n")

    def test_every_gpu_has_what_the_array_holds(self):
        script = """
table = cp.ndarray(3, cp.float64, module.get_global('table'))
table[...] = cp.array([1.0, 2.0, 3.0])
cuda.select_device(1)
seen = cp.zeros(3)
module.get_function('show')((1,), (1,), (seen,))
print(seen, module.get_global('table').device_id)
"""
        self.assertEqual(self.printed(script), "[1. 2. 3.] 1\n")

    def test_members_of_a_struct(self):
        script = """
pointer = module.get_global('mixed')
cp.ndarray(1, cp.int32, pointer)[...] = 5
factor = cp.ndarray((), cp.float32, pointer + 4)
factor[...] = 0.5
seen = cp.zeros(2, dtype=cp.int32)
module.get_function('show_mixed')((1,), (1,), (seen,))
print(seen[0], hex(int(seen[1])), factor)
"""
        self.assertEqual(self.printed(script), "5 0x3f000000 0.5\n")

    def test_what_cannot_be_is_said(self):
        self.assertIn("ValueError: the module has no variable 'nothing'", self.refused("module.get_global('nothing')"))
        self.assertIn("ValueError: the variable 'table' has 24 bytes, and the array takes those from 8 to 32",
                      self.refused("cp.ndarray(3, cp.float64, module.get_global('table') + 8)"))
        self.assertIn("ValueError: elements of float64 begin at multiples of 8 bytes, not at byte 4",
                      self.refused("cp.ndarray(1, cp.float64, module.get_global('table') + 4)"))
        self.assertIn("NotImplementedError: bytes 0 to 16 of 'table' are elements of an array of float64 already",
                      self.refused("p = module.get_global('table')\na = cp.ndarray(2, cp.float64, p)\ncp.ndarray(4, cp.int32, p)"))

    def test_attributes(self):
        script = """
show = module.get_function('show')
print(show.attributes)
show.max_dynamic_shared_size_bytes = 100000
show.preferred_shared_memory_carveout = 50
print(show.max_dynamic_shared_size_bytes, show.preferred_shared_memory_carveout, show.num_regs, show.file_path, show.code)
"""
        expected = (
            "{'max_threads_per_block': 1024, 'shared_size_bytes': 0, 'const_size_bytes': 0, 'local_size_bytes': 0, 'num_regs': 24, "
            "'ptx_version': 90, 'binary_version': 90, 'cache_mode_ca': 0, 'max_dynamic_shared_size_bytes': 49152, "
            "'preferred_shared_memory_carveout': -1}\n100000 50 24 module.cubin None\n"
        )
        self.assertEqual(self.printed(script), expected)
        self.assertIn("ValueError: a block of 'show' cannot have 300000 bytes of shared memory",
                      self.refused("module.get_function('show').max_dynamic_shared_size_bytes = 300000"))
        self.assertIn("AttributeError", self.refused("module.get_function('show').num_regs = 3"))


if __name__ == "__main__":
    unittest.main()
