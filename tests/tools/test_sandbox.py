"""A sandbox has no way out: a list of attempts, each of which must be refused, and leave everything outside as it was."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import GASELL, environment

SECRET = "the-secret-text"

# Paths that lead out of the granted folder `in` (read) and `out` (written), by ways that a script can name.
OUTSIDE = {
    "absolute": "{outside}/secret.txt",
    "above": "in/../outside/secret.txt",
    "above twice": "in/./../in/../outside/secret.txt",
    "link to the file": "in/link.txt",
    "link to the folder": "in/folder/secret.txt",
    "link to a link": "in/twice.txt",
    "link above": "in/folder/../outside/secret.txt",
    "slashes": "//{outside}//secret.txt",
    "zero byte": "in/fine.txt\\0/../../outside/secret.txt",
    "process": "/proc/self/environ",
    "root through process": "/proc/self/root{outside}/secret.txt",
    "descriptor": "/dev/fd/0",
    "device": "/dev/stdin",
    "home": "~/secret.txt",
}
READERS = {
    "open": "print(open({path!r}).read())",
    "with": "with open({path!r}) as f:\n    print(f.readlines())",
    "read and write": "print(open({path!r}, 'r+').read())",
    "read_csv": "print(pd.read_csv({path!r}, header=None))",
    "loadtxt": "print(np.loadtxt({path!r}))",
    "load": "print(np.load({path!r}))",
    "mapped": "print(np.load({path!r}, mmap_mode='r'))",
    "writable map": "print(np.load({path!r}, mmap_mode='r+'))",
    "genfromtxt": "print(np.genfromtxt({path!r}))",
    "fromfile": "print(np.fromfile({path!r}))",
    "read_json": "print(pd.read_json({path!r}, lines=True))",
    "read_parquet": "print(pd.read_parquet({path!r}))",
    "read_feather": "print(pd.read_feather({path!r}))",
    "read_hdf": "import h5py\nprint(h5py.File({path!r}, 'r'))",
    "zarr": "print(da.from_zarr({path!r}).compute())",
    "dask": "print(dd.read_csv({path!r}).compute())",
    "exists": "import os\nprint(os.path.exists({path!r}))",
    "size": "import os\nprint(os.path.getsize({path!r}))",
    "bytes": "print(open({path!r}, 'rb').read())",
    "path": "from pathlib import Path\nprint(Path({path!r}).read_text())",
    "path of bytes": "from pathlib import Path\nprint(Path({path!r}).read_bytes())",
    "stat": "import os\nprint(os.stat({path!r}))",
    "access": "import os\nprint(os.access({path!r}, os.R_OK))",
    "copy": "import shutil\nprint(open(shutil.copy({path!r}, 'out/mine')).read())",
    "copy with times": "import shutil\nprint(open(shutil.copy2({path!r}, 'out/mine')).read())",
    "gzip": "import gzip\nprint(gzip.open({path!r}).read())",
    "csv": "import csv\nprint(list(csv.reader(open({path!r}))))",
    "json": "import json\nprint(json.load(open({path!r})))",
    "argument": "import argparse\np = argparse.ArgumentParser()\np.add_argument('f', type=open)\nprint(p.parse_args([{path!r}]).f.read())",
    "hash": "import hashlib\nprint(hashlib.file_digest(open({path!r}, 'rb'), 'md5').hexdigest())",
    "real path": "import os\nprint(os.path.realpath({path!r}))",
}
WRITERS = {
    "open": "open({path!r}, 'w').write('x')",
    "append": "open({path!r}, 'a').write('x')",
    "new": "open({path!r}, 'x').write('x')",
    "save": "np.save({path!r}, np.ones(3))",
    "savetxt": "np.savetxt({path!r}, np.ones(3))",
    "savez": "np.savez({path!r}, np.ones(3))",
    "tofile": "np.ones(3).tofile({path!r}, sep=',')",
    "to_csv": "pd.DataFrame({{'a': [1]}}).to_csv({path!r})",
    "to_csv appended": "pd.DataFrame({{'a': [1]}}).to_csv({path!r}, mode='a')",
    "to_json": "pd.DataFrame({{'a': [1]}}).to_json({path!r})",
    "to_parquet": "pd.DataFrame({{'a': [1]}}).to_parquet({path!r})",
    "to_feather": "pd.DataFrame({{'a': [1]}}).to_feather({path!r})",
    "to_zarr": "da.ones(3).to_zarr({path!r})",
    "to_hdf": "import h5py\nh5py.File({path!r}, 'w')",
    "remove": "import os\nos.remove({path!r})",
    "rename from": "import os\nos.rename({path!r}, 'out/taken')",
    "rename to": "import os\nopen('out/mine', 'w').write('x')\nos.rename('out/mine', {path!r})",
    "replace": "import os\nopen('out/mine', 'w').write('x')\nos.replace('out/mine', {path!r})",
    "folder": "import os\nos.mkdir({path!r} + '.folder')",
    "folders": "import os\nos.makedirs({path!r} + '.a/b/c')",
    "bytes": "open({path!r}, 'wb').write(b'x')",
    "path": "from pathlib import Path\nPath({path!r}).write_text('x')",
    "path of bytes": "from pathlib import Path\nPath({path!r}).write_bytes(b'x')",
    "touch": "from pathlib import Path\nPath({path!r}).touch()",
    "unlink": "from pathlib import Path\nPath({path!r}).unlink()",
    "path renamed": "from pathlib import Path\nPath({path!r}).rename('out/taken')",
    "copy": "import shutil\nopen('out/mine', 'w').write('x')\nshutil.copyfile('out/mine', {path!r})",
    "move from": "import shutil\nshutil.move({path!r}, 'out/taken')",
    "move to": "import shutil\nopen('out/mine', 'w').write('x')\nshutil.move('out/mine', {path!r})",
    "gzip": "import gzip\ngzip.open({path!r}, 'wb').write(b'x')",
    "log": "import logging\nlogging.basicConfig(filename={path!r})\nlogging.error('x')",
    "mode": "import os\nos.chmod({path!r}, 0o600)",
    "times": "import os\nos.utime({path!r}, (1, 2))",
    "cut": "import os\nos.truncate({path!r}, 1)",
    "temporary": "import tempfile\ntempfile.mkdtemp(dir={path!r} + '/..')",
    "tree": "import shutil\nshutil.rmtree({path!r} + '/..')",
    "no folder": "import os\nos.rmdir({path!r} + '.folder')",
}
# Those that write to the very name, and not to one with an ending behind it.
LITERAL = ("bytes", "path", "path of bytes", "touch", "copy", "move to", "gzip", "log", "open", "append", "new", "savetxt", "tofile", "to_csv", "to_csv appended", "to_json", "to_zarr", "rename to", "replace")
OTHER = {
    "environment": "import os\nprint(os.environ['GASELL_TEST_SECRET'])",
    "variable": "import os\nprint(os.getenv('GASELL_TEST_SECRET'))",
    "working directory": "import os\nprint(os.getcwd())",
    "change of it": "import os\nos.chdir('/')",
    "absolute path": "import os\nprint(os.path.abspath('x'))",
    "home": "import os\nprint(os.path.expanduser('~'))",
    "process": "import os\nprint(os.getpid())",
    "listing": "import os\nprint(os.listdir('outside'))",
    "scan": "import os\nprint(list(os.scandir('outside')))",
    "walk": "import os\nassert list(os.walk('outside'))",
    "walk through a link": "import os\nassert list(os.walk('in/folder'))",
    "glob": "import glob\nassert glob.glob('outside/*')",
    "glob through a link": "import glob\nassert glob.glob('in/folder/*')",
    "glob of all": "import glob\nassert [p for p in glob.glob('**', recursive=True) if 'secret' in p]",
    "path's listing": "from pathlib import Path\nprint(list(Path('outside').iterdir()))",
    "path's glob": "from pathlib import Path\nassert list(Path('outside').glob('*'))",
    "tree": "import shutil\nshutil.copytree('outside', 'out/tree')",
    "tree through a link": "import shutil\nshutil.copytree('in/folder', 'out/tree')",
    "home of paths": "from pathlib import Path\nprint(Path.home())",
    "working directory of paths": "from pathlib import Path\nprint(Path.cwd())",
    "what a link names": "import os\nprint(os.readlink('in/link.txt'))",
    "link of paths": "from pathlib import Path\nPath('out/new_link').symlink_to('../outside')",
    "hard link of paths": "from pathlib import Path\nPath('out/hard').hardlink_to('outside/secret.txt')",
    "random bytes": "import os\nprint(os.urandom(4))",
    "random name": "import uuid\nprint(uuid.uuid4())",
    "listing above": "import os\nprint(os.listdir('in/..'))",
    "clock": "import time\nprint(time.time())",
    "monotonic clock": "import time\nprint(time.perf_counter())",
    "local time": "import time\nprint(time.localtime())",
    "formatted time": "import time\nprint(time.strftime('%Y'))",
    "now": "import datetime\nprint(datetime.datetime.now())",
    "today": "import datetime\nprint(datetime.date.today())",
    "timestamp": "print(pd.Timestamp.now())",
    "web": "print(pd.read_csv('http://127.0.0.1:9/secret.csv'))",
    "encrypted web": "print(pd.read_csv('https://127.0.0.1:9/secret.csv'))",
    "store": "print(pd.read_parquet('s3://bucket/secret.parquet'))",
    "unchecked": "@njit(boundscheck=False)\ndef f(a): return a[10 ** 6]\nprint(f(np.ones(1)))",
    "unsafe loops": "@njit(parallel='unsafe')\ndef f(a):\n    for i in prange(3): a[0] += i\nf(np.ones(1))",
    "import of a script outside": "import outside.module",
    "import through a link": "import folder.module",
    "eval": "eval('1')",
    "exec": "exec('1')",
    "import function": "__import__('os')",
    "subprocess": "import subprocess\nsubprocess.run(['cat', 'outside/secret.txt'])",
    "system": "import os\nos.system('cat outside/secret.txt')",
    "popen": "import os\nos.popen('cat outside/secret.txt')",
    "link": "import os\nos.symlink('outside', 'out/link')",
    "hard link": "import os\nos.link('outside/secret.txt', 'out/link')",
    "ctypes": "import ctypes",
    "sockets": "import socket\nsocket.socket()",
    "pattern": "print(pd.read_csv('outside/*.txt'))",
    "pattern above": "print(dd.read_csv('in/../outside/*.txt').compute())",
    "folder of links": "print(pd.read_parquet('in/folder'))",
}


class Sandbox(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()
        for name in ("in", "out", "outside"):
            (self.root / name).mkdir()
        (self.root / "in/fine.txt").write_text("1,2\n")
        (self.root / "in/helper.gsl").write_text("x = 41\n")
        self.outside = {
            "secret.txt": SECRET + "\n",
            "module.gsl": f"print('{SECRET}')\n",
        }
        for name, text in self.outside.items():
            (self.root / "outside" / name).write_text(text)
        os.symlink("../outside/secret.txt", self.root / "in/link.txt")
        os.symlink("link.txt", self.root / "in/twice.txt")
        os.symlink("../outside", self.root / "in/folder")
        os.symlink("../outside/secret.txt", self.root / "out/link.txt")
        os.symlink("../outside", self.root / "out/folder")
        os.symlink("../outside/new.txt", self.root / "out/new.txt")

    def tearDown(self):
        self.folder.cleanup()

    def run_text(self, text, *options):
        return self.run_command("--sandbox", "--allow", "read:in", "--allow", "write:out", *options, "-c", text)

    def run_command(self, *arguments):
        variables = environment(GASELL_TEST_SECRET=SECRET, HOME=str(self.root / "outside"), XDG_CACHE_HOME=str(self.root / "cache"))
        return subprocess.run([GASELL, *arguments], input=SECRET, capture_output=True, text=True, timeout=60, env=variables, cwd=self.root)

    def check_refused(self, name, text):
        with self.subTest(name):
            result = self.run_text(text)
            self.assertNotIn(SECRET, result.stdout + result.stderr, text)
            self.assertEqual(result.returncode, 1, f"{text}\n{result.stdout}{result.stderr}")
            self.assertEqual({p.name: p.read_text() for p in (self.root / "outside").iterdir()}, self.outside, text)

    def test_reads(self):
        for way, path in OUTSIDE.items():
            self.check_refused(f"open: {way}", READERS["open"].format(path=path.format(outside=self.root / "outside")))
        for reader, text in READERS.items():
            for path in ("in/link.txt", "outside/secret.txt"):
                self.check_refused(f"{reader}: {path}", text.format(path=path))

    def test_writes(self):
        for writer, text in WRITERS.items():
            self.check_refused(f"{writer}: through a folder", text.format(path="out/folder/secret.txt"))
            if writer in LITERAL:
                self.check_refused(f"{writer}: through a link that leads nowhere yet", text.format(path="out/new.txt"))
            self.check_refused(f"{writer}: what may only be read", text.format(path="in/fine.txt"))

    def test_readers_of_others(self):
        for path in ("in/link.txt", "outside/secret.txt", "in/folder"):
            for reader in ("read_parquet", "read_feather", "read_hdf"):
                result = self.run_text(READERS[reader].format(path=path), "--allow", "plugins")
                self.assertIn("PermissionError", result.stderr)

    def test_other_ways(self):
        for name, text in OTHER.items():
            self.check_refused(name, text)

    def test_what_is_allowed(self):
        result = self.run_text("print(open('in/fine.txt').read(), end='')\nopen('out/a.txt', 'w').write('x')\nprint(open('out/a.txt').read())\nimport sys\nprint(pd.read_csv('in/fine.txt', header=None).iloc[0, 1])\nnp.save('out/b.npy', np.ones(2))\nprint(np.load('out/b.npy').sum())\n")
        self.assertEqual((result.stdout, result.returncode), ("1,2\nx\n2\n2.0\n", 0), result.stderr)
        self.assertEqual(self.run_text("import os\nprint(os.environ['GASELL_TEST_SECRET'])", "--allow", "env").stdout, SECRET + "\n")
        self.assertEqual(self.run_text("import time\nprint(time.time() > 0)", "--allow", "clock").stdout, "True\n")
        self.assertEqual(self.run_text("@njit(boundscheck=False)\ndef f(a): return a[0]\nprint(f(np.ones(1)))", "--allow", "unchecked").stdout, "1.0\n")

    def test_what_is_said(self):
        result = self.run_text("open('in/link.txt')")
        self.assertIn("PermissionError: [Errno 13] Permission denied: 'in/link.txt'", result.stderr)
        self.assertIn("the sandbox grants no folder for reading that holds it", result.stderr)
        result = self.run_command("--allow", "env", "-c", "1")
        self.assertEqual(result.returncode, 2)
        result = self.run_text("1", "--allow", "everything")
        self.assertIn("not 'everything'", result.stderr)


if __name__ == "__main__":
    unittest.main()
