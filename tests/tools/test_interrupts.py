#!/usr/bin/env python3
"""Ctrl-C at random moments of diverse work, in scripts and in the session: it ends within a second, says KeyboardInterrupt and nothing else, leaves
no part of a file behind, and the session goes on with right answers. What writes files is killed, too, which leaves no part of one, either.

    test_interrupts.py                          some 15 seconds of it, with the seed 1
    test_interrupts.py --seconds 600 --seed 7   more
    test_interrupts.py --only 'csv|sort'        programs whose name matches

Each program defines work(), which gives a text that is the same each time. A script runs it again and again until it is interrupted. The session is
interrupted there several times, and each time asked whether work() still gives what it gave at first.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from support import GASELL, INTERRUPT_LIMIT, environment
from terminal import PROMPT, Terminal

# Seconds that a work(), with compiling its kernels, may take by itself.
WORK_LIMIT = 60.0
# The latest moment of an interrupt, in seconds after the work began.
LATEST = 0.5
INTERRUPTS_A_SESSION = 4
# Seconds after which nobody waits any more, also where the machine has no time for it.
GIVEN_UP = 30 + INTERRUPT_LIMIT
SIMULATED = {"GASELL_DEVICE": "sim:2", "GASELL_SPLIT_FROM": "0"}
LITTLE_MEMORY = {"GASELL_MEMORY": "24MiB"}

FRAME = """
n = 200000
row = np.arange(n)
df = pd.DataFrame({
    "few": row * 7919 % 50, "many": row * 7919 % 60013, "v": np.sin(row * 1.7), "w": row * 31 % 701 / 8,
    "text": pd.Series([f"t{k * 7919 % 5000}" for k in range(5000)]).take(row * 17 % 5000).reset_index(drop=True),
    "time": pd.to_datetime("2020-01-01") + pd.to_timedelta(row * 7 % 86400, unit="s"),
})
other = pd.DataFrame({"many": np.arange(0, 70000, 2) % 50000, "u": np.arange(35000)})
def told(x):
    return str(len(x)) + " " + str([float(x[c].fillna(0).sum()) for c in x.columns if x[c].dtype.kind in "iufb"])
"""
# Two frames of different contents take turns in one file; each alone is in a file beside it.
FILES = FRAME + """
turns = [0]
small = df[:40000]
second = small[small["few"] > 20]
def in_turns(write):
    write(small, "first")
    write(second, "second")
    def work():
        turns[0] += 1
        write(small if turns[0] % 2 else second, "out")
        return "written"
    return work
"""

# Functions and kernels of which no two are the same.
COMPILING = "from numba import njit\na = np.arange(6.0)\n" + "".join(
    f"""
@njit
def f{k}(x):
    t = 0.0
    for i in range(len(x)):
        t += x[i] * {k} if i % {k + 2} else np.exp(-x[i])
    return t
""" for k in range(40)) + "def work():\n    return str([" + ", ".join(f"f{k}(a + {k}), float((a{' * a' * k} - 1).sum())" for k in range(40)) + "])"

# Name: what it defines, the settings it runs under.
PROGRAMS = {
    "interpreted loops": ("def work():\n    total = 0\n    for k in range(200000):\n        total += k % 7\n    return str(total)", {}),
    "comprehensions": ("def work():\n    return str(sum([len(str(k)) for k in range(100000)]) + len({k: str(k) for k in range(50000)}))", {}),
    "sorting objects": ("items = [(k * 7919 % 10007, str(k)) for k in range(60000)]\ndef work():\n    return str(sorted(items, key=lambda x: (-x[0], x[1]))[:2])", {}),
    "iterators": ("import itertools\ndef work():\n    return str(sum(1 for p in itertools.permutations(range(8)))) + str(max(itertools.accumulate(range(50000))))", {}),
    "texts": ("words = ['w' + str(k % 999) for k in range(50000)]\ndef work():\n    text = ' '.join(words)\n    return str(len(text.replace('w1', 'x').split())) + str(text.count('9'))", {}),
    "long texts": ("def work():\n    text = 'ab' * 30000000\n    return str(len(text.replace('x', 'y'))) + str(text.find('bb')) + str(text.count('aa'))", {}),
    "exceptions": ("""
def inner(k):
    try:
        return [1, 2][k % 4]
    except IndexError:
        raise ValueError(str(k))
    finally:
        k += 1
def work():
    wrong = 0
    for k in range(30000):
        try:
            inner(k)
        except ValueError as e:
            wrong += len(str(e))
    return str(wrong)
""", {}),
    "sleeping": ("import time\ndef work():\n    time.sleep(0.05)\n    return 'slept'", {}),
    "tasks": ("""
import time
import dask
def busy(n):
    total = 0
    for k in range(n):
        total += k % 7
    time.sleep(0.01)
    return total
def work():
    return str(dask.compute(*[dask.delayed(busy)(20000 + k) for k in range(6)], num_workers=4))
""", {}),
    "futures": ("""
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
def busy(k):
    time.sleep(0.002 * k)
    return [k] * 100
def work():
    with ThreadPoolExecutor(3) as pool:
        return str(sorted(sum(f.result()) for f in as_completed([pool.submit(busy, k) for k in range(12)])))
""", {}),
    "elementwise": ("x = np.arange(3000000.0)\ndef work():\n    y = np.sqrt(x) * 2 + np.sin(x)\n    return str(float((y[1:] - y[:-1]).max()))", {}),
    "reductions": ("m = np.random.default_rng(3).normal(10, 1, (1500, 1000))\ndef work():\n    return str([float(m.sum(axis=0)[3]), float(m.std()), int(m.argmax()), float(np.median(m[0]))])", {}),
    "small arrays": ("x = np.arange(12.0).reshape(3, 4)\ndef work():\n    t = 0.0\n    for k in range(3000):\n        t += float((x * k + x[0]).sum())\n    return str(t)", {}),
    "sorting arrays": ("x = np.random.default_rng(5).standard_normal(700000)\ndef work():\n    return str([float(np.sort(x)[7]), int(np.argsort(x)[9]), len(np.unique(np.floor(x * 100)))])", {}),
    "products of matrices": ("a = np.random.default_rng(1).standard_normal((500, 500))\ndef work():\n    return str(round(float((a @ a).sum()), 3)) + str(round(float(np.linalg.solve(a, a[0])[3]), 5))", {}),
    "views and writes": ("x = np.zeros((1200, 1200))\ndef work():\n    y = x.copy()\n    for k in range(6):\n        y[1:-1, 1:-1] = (y[2:, 1:-1] + y[:-2, 1:-1]) * 0.5 + k\n    y[::3] += 1\n    return str(float(y.sum()))", {}),
    "random numbers": ("def work():\n    r = np.random.default_rng(11)\n    return str(float(r.normal(size=800000).sum())) + str(r.integers(0, 9, 5).tolist())", {}),
    "compiled functions": ("""
from numba import njit, prange
@njit
def collatz(n):
    longest = 0
    for k in range(1, n):
        steps, x = 0, k
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        longest = max(longest, steps)
    return longest
@njit(parallel=True)
def rows(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += np.sqrt(a[i, j]) * j
    return out
@njit
def collected(n):
    found, seen = [0], {0: 0}
    for k in range(n):
        if k * 7919 % 13 == 5:
            found.append(k)
        seen[k % 1000] = k
    return len(found) + seen[7]
a = np.arange(900000.0).reshape(900, 1000)
def work():
    return str([collatz(30000), float(rows(a).sum()), collected(200000)])
""", {}),
    "compiling": (COMPILING, {"GASELL_CACHE": "0", "GASELL_SMALL": "0"}),
    "grouping": (FRAME + "def work():\n    return told(df.groupby('many')[['v', 'w']].mean()) + told(df.groupby(['few', 'text'], as_index=False).agg(s=('w', 'sum'), d=('v', 'median')))", {}),
    "joining": (FRAME + "def work():\n    return told(df.merge(other, on='many')) + told(df.merge(other, on='many', how='outer'))", {}),
    "sorting rows": (FRAME + "def work():\n    return told(df.sort_values(['text', 'v'])[:99][['v', 'w']]) + told(df.sort_values('v').head(9)) + str(float(df['w'].rank().sum()))", {}),
    "windows": (FRAME + "def work():\n    return told(df[['v', 'w']].rolling(50).mean()) + told(df.groupby('few')[['v']].cumsum()) + told(df[['w']].ewm(span=9).mean())", {}),
    "columns of texts": (FRAME + "def work():\n    x = df['text'].str.upper() + '-' + df['few'].astype(str)\n    return str(x.nunique()) + str(int(x.str.contains('T1').sum())) + str(int(x.str.len().sum()))", {}),
    "columns of times": (FRAME + "def work():\n    return told(df.set_index('time')[['w']].resample('1h').sum()) + str(pd.to_datetime(df['time'][:20000].astype(str)).dt.minute.sum()) + str(df['time'].dt.strftime('%H:%M').nunique())", {}),
    "reshaping": (FRAME + "def work():\n    return told(df[:20000].pivot_table(index='many', columns='few', values='w', aggfunc='sum')) + told(df[['few', 'v', 'w']].melt(id_vars='few'))"
                  " + told(pd.concat([df, df[::-1]])) + str(len(df.drop_duplicates(['few', 'text'])))", {}),
    "applying functions": (FRAME + "def work():\n    return str(float(df['w'][:20000].apply(lambda x: x * 2 if x > 9 else -x).sum())) + str(sum(len(g) for k, g in df.groupby('few')))", {}),
    "reading CSV": (FRAME + "df.to_csv('in.csv', index=False)\ndef work():\n    return told(pd.read_csv('in.csv', parse_dates=['time']))", {}),
    "writing CSV": (FILES + "work = in_turns(lambda x, name: x.to_csv(name + '.csv'))", {}),
    "appending CSV": (FILES + """
def work():
    small[:30000].to_csv('out.csv', mode='a', header=False, index=False)
    return 'appended'
small[:30000].to_csv('whole.csv', header=False, index=False)
""", {}),
    "reading Parquet": (FRAME + "df.to_parquet('in.parquet')\ndef work():\n    return told(pd.read_parquet('in.parquet')) + told(pd.read_parquet('in.parquet', columns=['w'], filters=[('few', '>', 40)]))", {}),
    "writing Parquet": (FILES + "work = in_turns(lambda x, name: x.to_parquet(name + '.parquet'))", {}),
    "reading JSON": (FRAME + "df[:40000].to_json('in.json', orient='records', lines=True)\ndef work():\n    return told(pd.read_json('in.json', lines=True))", {}),
    "writing JSON": (FILES + "work = in_turns(lambda x, name: x.to_json(name + '.json', orient='records', lines=True))", {}),
    "saving arrays": (FILES + "work = in_turns(lambda x, name: np.save(name + '.npy', np.repeat(np.sin(x['v'].to_numpy()), 40)))", {}),
    "mapped arrays": ("np.save('in.npy', np.arange(4000000.0))\ndef work():\n    x = np.load('in.npy', mmap_mode='r')\n    return str(float((x * 2 + 1)[::2].sum()))", {}),
    "printing": (FRAME + "def work():\n    return str(len(repr(df)) + len(df[:3000].to_string()) + len(str(np.arange(100000.0).tolist())))", {}),
    "arrays on disk": ("x = np.random.default_rng(1).standard_normal(2000000).persist()\ndef work():\n    y = (x[::-1] * 2 + 1).persist()\n    return str([float(np.sort(y)[3]), float(np.cumsum(x)[-1])])", LITTLE_MEMORY),
    "frames on disk": (FRAME + "def work():\n    return told(df.sort_values(['v', 'w'])[:50][['v']]) + told(df.merge(df[['many', 'v']][:60000], on='many')) + told(df.groupby('many')[['w']].sum())", {"GASELL_MEMORY": "12MiB"}),
    "arrays on GPUs": ("x = np.arange(400000.0)\ndef work():\n    x[7] = 5\n    y = np.sqrt(x) * 2 + 1\n    x[9] = 3\n    x[9] = 9\n    return str([float((y[1:] - y[:-1]).max()), float(y.sum()), float(np.sort(y[::-1])[3])])", SIMULATED),
    "more than GPUs hold": ("x = np.arange(400000.0)\ndef work():\n    y = x * 3 + 1\n    return str([float(np.cumsum(y)[-1]), float((y - y.mean()).std())])", {**SIMULATED, "GASELL_SIM_MEMORY": "2MiB"}),
    "frames on GPUs": (FRAME + """
d = df[:20000]
def work():
    return (told(d.groupby('many')[['v', 'w']].sum()) + told(d.merge(other[:9000], on='many')) + told(d.sort_values(['w', 'v'])[['v', 'many']][:50])
            + told(d[['v', 'w']].rolling(50).mean()) + str(float(d['v'].median())) + str(d['many'].nunique()))
""", SIMULATED),
    "loops on GPUs": ("""
from numba import njit, prange
@njit(parallel=True)
def f(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        out[i] = np.sqrt(a[i]) + i
    return out
a = np.arange(100000.0)
def work():
    return str(float(f(a).sum()))
""", SIMULATED),
}
# What each program may leave in its folder, whole, and where the file "out" must be like one of those.
LEFT = re.compile(r"script\.gsl|in\.\w+|(first|second|out|whole)\.\w+")


class Wrong(Exception):
    pass


def contents(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def look_at_files(folder, spilled):
    """Nothing but whole files is left."""
    for name in os.listdir(folder):
        if not LEFT.fullmatch(name):
            raise Wrong(f"{name} is left behind")
        if not name.startswith("out."):
            continue
        found, kind = contents(folder, name), name[3:]
        whole = contents(folder, "whole" + kind)
        right = [contents(folder, n + kind) for n in ("first", "second")]
        if found not in right if whole is None else found != whole * (len(found) // len(whole)):
            raise Wrong(f"{name} is a part of what was written: {len(found)} bytes")
    if os.listdir(spilled):
        raise Wrong(f"{os.listdir(spilled)} is left where memory goes to disk")


class Stopwatch:
    """From an interrupt on: seconds, and seconds of processor time of a process, which tell its own slowness from the machine's."""

    def __init__(self, process):
        self.process, self.start, self.used = process, time.monotonic(), processor_seconds(process)

    def stop(self):
        return time.monotonic() - self.start, processor_seconds(self.process) - self.used


def processor_seconds(process):
    """Of a process that may have ended, but was not waited for."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def ended(process, out):
    """The time that an interrupted process took to end; `out` gets what it printed."""
    watch = Stopwatch(process.pid)
    process.send_signal(signal.SIGINT)
    reader = threading.Thread(target=lambda: out.extend([process.stdout.read(), process.stderr.read()]))
    reader.start()
    end = time.monotonic() + GIVEN_UP
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            process.kill()
            raise Wrong("it did not end")
        time.sleep(0.002)
    took = watch.stop()
    reader.join()
    return took


@contextlib.contextmanager
def running(text, settings, folder):
    """A process that runs a script; behind the block it is gone."""
    path = os.path.join(folder, "script.gsl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    process = subprocess.Popen([GASELL, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=settings)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def interrupted(process, *right):
    """Interrupts a process, which ends with one of these: (status, output, errors). The time that it took."""
    said = []
    took = ended(process, said)
    if (process.wait(), *said) not in right:
        raise Wrong(f"status {process.returncode}, {said}")
    return took


INTERRUPTED = 130, "", "KeyboardInterrupt\n"


def script(rng, text, settings, folder):
    """A script that is interrupted once. The seconds until it ended."""
    with running(text + "\nfirst = work()\nprint('there', flush=True)\nwhile True:\n    assert work() == first\n", settings, folder) as process:
        line = process.stdout.readline()
        if line != "there\n":
            raise Wrong(f"it did not begin: {line}{process.stderr.read()}")
        time.sleep(rng.uniform(0, LATEST))
        return interrupted(process, INTERRUPTED)


def beginning(rng, text, settings, folder):
    """A script that is interrupted while it starts, perhaps before it can say anything about it."""
    with running(text + "\nwhile True:\n    work()\n", settings, folder) as process:
        time.sleep(rng.choice([0.01, 0.05, 0.2, 1.0]) * rng.random())
        return interrupted(process, INTERRUPTED, (-signal.SIGINT, "", ""))


def killed(rng, text, settings, folder):
    """A script that writes files and is killed: they are whole, too."""
    with running(text + "\nfirst = work()\nprint('there', flush=True)\nwhile True:\n    work()\n", settings, folder) as process:
        line = process.stdout.readline()
        if line != "there\n":
            raise Wrong(f"it did not begin: {line}{process.stderr.read()}")
        time.sleep(rng.uniform(0, LATEST))
    return 0.0, 0.0


def session(rng, text, settings, folder):
    """A session that is interrupted several times. The longest that it took to come back."""
    path = os.path.join(folder, "script.gsl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\nfirst = work()\n")
    terminal = Terminal(cwd=folder, **settings)
    try:
        terminal.expect(PROMPT)
        shown = terminal.enter("%run script.gsl", timeout=WORK_LIMIT)
        if "Error" in shown:  # else perhaps a line of progress
            raise Wrong(f"it did not begin: {shown}")
        longest = 0.0, 0.0
        for _ in range(INTERRUPTS_A_SESSION):
            terminal.send("while print('there') is None:\n    while True: assert work() == first\n\n")
            terminal.expect("\nthere\n")
            time.sleep(rng.uniform(0, LATEST))
            watch = Stopwatch(terminal.process)
            terminal.send("\x03")
            shown = terminal.expect(PROMPT, GIVEN_UP)
            longest = max(longest, watch.stop(), key=lambda took: took[1])
            if not re.fullmatch(r"(\^C)?\n?KeyboardInterrupt\n", shown):
                raise Wrong(f"interrupted, the session shows {shown!r}")
            look_at_files(folder, settings["GASELL_TMPDIR"])
            if (answer := terminal.enter("1 + 1")) != "2\n":
                raise Wrong(f"1 + 1 is {answer!r} afterwards")
            if (answer := terminal.enter("work() == first", timeout=WORK_LIMIT)) != "True\n":
                raise Wrong(f"work() is another than at first: {answer!r}")
        terminal.send("\x04")
        if (code := terminal.close()) != 0:
            raise Wrong(f"the session ends with status {code}")
        return longest
    except AssertionError as late:
        raise Wrong(str(late)) from None
    finally:
        terminal.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="", help="a regular expression for names of programs")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    doctor = subprocess.run([GASELL, "doctor"], capture_output=True, text=True, env=environment()).stdout
    names = [name for name in PROGRAMS if re.search(options.only, name)]
    if not re.search(r"^Parquet files +Apache Arrow", doctor, re.M):  # built without it
        names = [name for name in names if "Parquet" not in name]
    ways = [script, script, session, beginning]
    wrong, runs, latest = 0, 0, {}
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as cache:
        while time.monotonic() < end:
            name, way = rng.choice(names), rng.choice(ways)
            if re.match("writing|saving", name) and rng.random() < 0.3:
                way = killed
            text, changes = PROGRAMS[name]
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as spilled:
                settings = environment(**{"GASELL_TMPDIR": spilled, "XDG_CACHE_HOME": cache, "GASELL_CACHE": rng.choice(["0", None, None, None]), **changes})
                try:
                    took, used = way(rng, text, settings, folder)
                    latest[name] = max(used, latest.get(name, 0))
                    look_at_files(folder, spilled)
                    if took > INTERRUPT_LIMIT and used > INTERRUPT_LIMIT / 2:
                        raise Wrong(f"it took {took:.2f} s to end, {used:.2f} s of processor time")
                except Wrong as problem:
                    wrong += 1
                    print(f"FAILED {name} ({way.__name__}): {problem}", flush=True)
            runs += 1
    slowest = sorted(latest, key=latest.get, reverse=True)[:5]
    print("most processor time until the end:", ", ".join(f"{name} {latest[name] * 1000:.0f} ms" for name in slowest))
    print(f"{runs} programs interrupted, {wrong} wrongly")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
