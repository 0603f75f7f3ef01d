"""The dashboard: what its server answers and to whom, and the page of a saved trace."""

import http.client
import json
import os
import re
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from support import GASELL, CommandTest, environment, run

# Waits for a line of its standard input, so that the server can be asked in between.
SCRIPT = """
import pandas as pd
x = np.arange(1_000_000) * 1.5
print(np.sqrt(x).sum())
print(len(pd.DataFrame({'a': np.arange(1000) % 7, 'b': x[:1000]}).groupby('a').b.sum()))
input()
"""
FORBIDDEN, MISSING = 403, 404


class Running:
    """gasell in the middle of a script, with its dashboard's address."""

    def __init__(self, *arguments, script=SCRIPT):
        self.process = subprocess.Popen([GASELL, *arguments, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.link = re.fullmatch(r"dashboard: (http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32})\n", self.process.stderr.readline()).group(1)
        self.port = int(re.search(r":(\d+)/", self.link).group(1))

    def __enter__(self):
        self.process.stdout.readline()
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        _, self.errors = self.process.communicate("\n", timeout=60)

    def states(self, count):
        with urllib.request.urlopen(self.link.replace("/?", "/events?"), timeout=20) as answer:
            found = []
            while len(found) < count:
                line = answer.readline().decode()
                if line.startswith("data: "):
                    found.append(json.loads(line[6:]))
            return found


class Dashboard(CommandTest):
    def test_the_page_and_what_runs(self):
        with Running("--dashboard") as running:
            page = urllib.request.urlopen(running.link, timeout=20)
            self.assertIn("default-src 'none'", page.headers["Content-Security-Policy"])
            text = page.read().decode()
            self.assertNotRegex(text, r"""(?:src|href)\s*=\s*["']""")  # one file
            first, second = running.states(2)
            devices = {m["device"]: m for m in first["memory"]}
            self.assertGreaterEqual(devices["cpu"]["limit"], devices["cpu"]["peak"])
            kernels = [e for e in first["events"] if e[1] == 0]
            frames = [e[2] for e in first["events"] if e[1] == 4]
            self.assertTrue(any(name.startswith("group by") for name in frames), frames)
            self.assertTrue(all(begin <= end <= first["time"] for _, _, _, begin, end, _ in kernels) and kernels)
            self.assertEqual(sum(t[3] for t in first["totals"]), len(first["events"]))
            self.assertEqual(second["events"], [])
            self.assertGreater(second["time"], first["time"])
        self.assertEqual(running.process.returncode, 0, running.errors)

    def test_who_is_answered(self):
        with Running("--dashboard") as running:
            base = running.link.split("?")[0]
            for url in (base, base + "?token=", base + "?token=" + "0" * 32, base + "events", running.link + "0"):
                with self.subTest(url), self.assertRaises(urllib.error.HTTPError) as failed:
                    urllib.request.urlopen(url, timeout=20)
                self.assertEqual(failed.exception.code, FORBIDDEN)
            with self.assertRaises(urllib.error.HTTPError) as failed:
                urllib.request.urlopen(running.link.replace("/?", "/other?"), timeout=20)
            self.assertEqual(failed.exception.code, MISSING)
            # A name of somebody else's that leads to this machine.
            connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
            connection.request("GET", running.link[running.link.index("/?"):], headers={"Host": "elsewhere.example"})
            self.assertEqual(connection.getresponse().status, FORBIDDEN)
            connection.close()
            # Rubbish, and those who say nothing, harm nobody.
            with socket.create_connection(("127.0.0.1", running.port)) as rude, socket.create_connection(("127.0.0.1", running.port)):
                rude.sendall(b"\x00\xff\r\n" * 10000)
                self.assertEqual(len(running.states(1)), 1)
        self.assertEqual(running.process.returncode, 0, running.errors)

    def test_ports(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.check(run("--dashboard", str(port), "-c", "1"), code=1, out="", err="port")
            self.check(run(f"--dashboard={port}", "-c", "1"), code=1, out="", err="port")
        with Running("--dashboard", str(port)) as running:
            self.assertEqual(running.port, port)
        self.check(run("--dashboard=0", "-c", "1"), code=2, out="", err="--dashboard")
        self.check(run("--dashboard=no", "-c", "1"), code=2, out="", err="--dashboard")

    def test_daskclients_have_its_address(self):
        script = """
from dask.distributed import Client
import os, sys
link = Client().dashboard_link
print(link == Client().dashboard_link, link.startswith('http://127.0.0.1:'))
"""
        self.check(run("-c", script), out="True True\n")

    def test_a_saved_trace_is_a_page(self):
        path = os.path.join(self.folder, "run.html")
        self.check(run("--trace", path, "-c", "print(np.sqrt(np.arange(100000) * 1.5).sum())"))
        with open(path, encoding="utf-8") as file:
            page = file.read()
        data = re.search(r"const saved = (.*?);\nconst kTracks", page, re.S).group(1)
        events = [e for e in json.loads(data.replace("<\\/", "</"))["traceEvents"] if e["ph"] == "X"]
        self.assertTrue(events)
        self.check(run("--trace", "/nonexistent/run.html", "-c", "print(1)"), out="1\n", err="cannot write the trace")


if __name__ == "__main__":
    unittest.main()
