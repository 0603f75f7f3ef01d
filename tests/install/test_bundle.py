"""What a bundle may need of a machine: scripts/check_bundle.py --needs, on programs at hand."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check_bundle.py")


def needs(*files):
    return subprocess.run([sys.executable, CHECK, "--needs", *files], capture_output=True, text=True, timeout=60)


class Needs(unittest.TestCase):
    def build(self, name, text, *options):
        path = os.path.join(self.folder, name)
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["cc", path + ".c", "-o", path, *options], check=True, timeout=60)
        return path

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_program_and_what_is_shipped_with_it(self):
        library = self.build("libown.so", "int own(void) { return 3; }\n", "-shared", "-fPIC", "-Wl,-soname,libown.so.1")
        program = self.build("program", "int own(void); int main(void) { return own(); }\n", library, "-Wl,-rpath,$ORIGIN/../lib/gasell")
        done = needs(program, library)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"needs glibc 2\.\d+")
        done = needs(program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("program needs libown.so.1, which is neither shipped nor part of glibc", done.stdout)

    def test_search_paths_stay_within(self):
        done = needs(self.build("program", "int main(void) { return 0; }\n", "-Wl,-rpath,$ORIGIN/../lib:/opt/lib"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("program looks for libraries in /opt/lib", done.stdout)

    def test_the_development_build_is_no_bundle(self):
        done = needs(os.environ["GASELL"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("gasell needs libLLVM", done.stdout)

    def test_a_newer_glibc_is_said(self):
        # A symbol of glibc 99: the library is only linked with.
        with open(os.path.join(self.folder, "map"), "w", encoding="utf-8") as file:
            file.write("GLIBC_99.5 { global: future; };\n")
        library = self.build("libc_future.so", "int future(void) { return 3; }\n", "-shared", "-fPIC", "-Wl,-soname,libm.so.6", f"-Wl,--version-script={self.folder}/map")
        done = needs(self.build("program", "int future(void); int main(void) { return future(); }\n", library))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("needs glibc 99.5 or newer", done.stdout)


if __name__ == "__main__":
    unittest.main()
