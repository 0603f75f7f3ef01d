#!/usr/bin/env python3
"""Grouping, joining and ordering frames that are several times the memory budget, and what happens when the disk has no room for them, or for a file."""

import errno
import os
import re
import resource
import subprocess
import unittest

from support import GASELL, CommandTest, environment

BUDGET = "16MiB"
# Eight columns of a million rows take 60 MiB, what the operators need beside them more than that.
FRAME = """
n = 1000000
row = np.arange(n)
def draw(seed, high):
    bits = (row + seed * n).astype("uint64") * np.uint64(0x1E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x3F58476D1CE4E5B9)
    return ((bits ^ (bits >> np.uint64(32))) % np.uint64(high)).astype("int64")
texts = pd.Series([f"t{k * 7919 % 5000}" for k in range(5000)])
df = pd.DataFrame({
    "few": draw(1, 100), "some": draw(2, 60000), "many": draw(3, 2**41) - 2**40, "row": row, "text": texts.take(draw(4, 5000)).reset_index(drop=True),
    "v": draw(5, 2**50) / 2**48 - 2, "w": draw(6, 2000) - 1000, "blank": np.where(draw(7, 10) == 0, np.nan, draw(8, 2**20) / 2**20),
})
weights = np.arange(2 * n) % 97 + 1
def digest(title, x):
    sums = [str(len(x))]
    for name in x.columns:
        values = x[name].str.len() + 3 * (x[name] == "t77") if name.startswith("text") else x[name]
        sums.append(f"{name} {float((values.fillna(0.5) * weights[:len(x)]).sum()):.10g}")
    print(title, *sums)
"""
QUESTIONS = {
    "groups": """
for keys in "few", "some", "many", "text", "v", ["few", "text"], ["many", "w"], ["v", "many", "blank"]:
    for sort in True, False:
        digest(f"{keys} {sort}", df.groupby(keys, sort=sort, as_index=False).agg(first=("row", "first"), last=("row", "max"), w_sum=("w", "sum")))
for keys in "few", "some", "many":
    groups = df.groupby(keys)
    digest(f"{keys} median", groups[["v", "blank"]].median().reset_index())
    digest(f"{keys} std", groups[["v", "blank"]].std().reset_index())
    digest(f"{keys} distinct", groups[["w", "text"]].nunique().reset_index().rename(columns={"text": "different"}))
    digest(f"{keys} head", groups.head(2)[["row", "text", "blank"]])
    digest(f"{keys} cumsum", pd.DataFrame({"w": groups["w"].cumsum(), "nth": groups.cumcount()}))
digest("duplicates", df.drop_duplicates(["some", "few"]))
""",
    "joins": """
small = pd.DataFrame({"few": np.arange(0, 120, 2), "name": np.arange(60) * 10})
other = pd.DataFrame({"many": np.concatenate([df["many"].to_numpy()[::-2], np.arange(400000)]), "u": np.arange(900000), "text": texts.take(np.arange(900000) % 4000).reset_index(drop=True)})
twice = pd.DataFrame({"some": np.arange(120000) // 2, "u": np.arange(120000)})
for how in "inner", "left", "right", "outer":
    digest(f"small {how}", df[["few", "row", "blank"]].merge(small, on="few", how=how))
    digest(f"big {how}", df[["many", "row", "text", "v"]].merge(other, on="many", how=how, suffixes=("", "_other")))
digest("twice", df[["some", "row", "w"]].merge(twice, on="some"))
digest("two keys", df[["text", "many", "row"]].merge(other, on=["many", "text"]))
digest("isin", df[df["many"].isin(other["many"])][["row", "w"]])
""",
    "texts": """
x = df[["row", "w"]].assign(text_many="k" + (df["many"] % 700000).astype(str), text_each="e" + df["row"].astype(str))
digest("groups", x.groupby("text_many", sort=False, as_index=False).agg(first=("row", "first"), w_sum=("w", "sum")))
digest("each", x.groupby("text_each", sort=False, as_index=False).agg(first=("row", "first"), w_sum=("w", "sum")))
other = pd.DataFrame({"text_many": "k" + pd.Series(np.arange(0, 900000, 3)).astype(str), "u": np.arange(300000)})
for how in "inner", "left":
    digest(f"merge {how}", x.merge(other, on="text_many", how=how))
digest("isin", x[x["text_many"].isin(other["text_many"])][["row", "w"]])
digest("both", pd.concat([x["text_many"], other["text_many"], x["text_each"][::2]]).reset_index(drop=True).to_frame("text"))
""",
    "orders": """
for keys, ascending in (("v", True), ("blank", False), (["few", "v"], [True, False]), (["text", "many", "v"], True), (["v", "many", "blank"], [False, True, True]), ("some", True)):
    digest(f"{keys}", df.sort_values(keys, ascending=ascending, kind="stable"))
digest("largest", df.nlargest(100000, "v")[["row", "w"]])
digest("rank", pd.DataFrame({"rank": df["v"].rank()}))
x = df.sort_values("v")
digest("rows of rows", x[x["few"] < 50].sort_values("many")[["row", "text", "blank"]])
""",
}

# Writes of files, first of a few rows, then of more than there is room for: {name}.
WRITES = {
    "csv": "df.to_csv({name}, index=False)",
    "csv.gz": "df.to_csv({name}, index=False)",
    "appended.csv": "df.to_csv({name}, index=False, mode='a', header=False)",
    "parquet": "df.to_parquet({name})",
    "feather": "df.to_feather({name})",
    "orc": "df.to_orc({name})",
    "json": "df.to_json({name}, orient='records', lines=True)",
    "npy": "np.save({name}, df.to_numpy())",
}


class FramesOnDisk(CommandTest):
    def frames(self, text, *arguments, **changes):
        command = [GASELL, "--device", "cpu", *arguments, "-c", FRAME + text]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=250, env=environment(**changes))

    def on_disk(self, text, *arguments, **changes):
        return self.frames(text, "--memory", BUDGET, *arguments, **{"GASELL_TMPDIR": self.folder, **changes})

    def test_answers_do_not_depend_on_memory(self):
        for name, text in QUESTIONS.items():
            with self.subTest(name):
                wanted = self.frames(text, "--memory", "4GiB", GASELL_SPILL="0")
                self.check(wanted, out=wanted.stdout)
                self.check(self.on_disk(text), out=wanted.stdout)
                self.assertEqual(os.listdir(self.folder), [])

    def test_explained(self):
        text = "\nprint(len(df.groupby('many')['v'].sum()), len(df.merge(df[['many']], on='many')))\ndf.sort_values('v').compute()"
        done = self.on_disk(text, "--explain")
        self.assertEqual(done.returncode, 0, done.stderr)
        for operator in (r"group by 1 key: 1\.00 M rows, ", r"aggregate 1 column: ", r"join 1 key: 2\.00 M rows", r"sort 1 key: 1\.00 M rows, ", r"gather 1 column: 1\.00 M rows, "):
            self.assertRegex(done.stderr, operator + r".* on the host, with [\d.]+ MiB of memory on disk\n")

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_full_disk(self):
        # Enough for the frame, but not for what an operator needs beside it.
        text = """
kept = df.compute()
before = float(df["v"].sum())
for what in (lambda: df.groupby("many")["v"].sum().compute(), lambda: df.merge(df, on="many").compute(), lambda: df.sort_values(["text", "v", "many"]).compute()):
    try:
        what()
        print("finished")
    except MemoryError as e:
        print(str(e).startswith("Unable to allocate"))
print(float(df["v"].sum()) == before, len(df.groupby("few")["w"].sum()))
"""
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "none", self.folder], capture_output=True)
        if mounted.returncode:
            self.skipTest("no file system can be mounted here")
        try:
            self.check(self.on_disk(text), out="True\nTrue\nTrue\nTrue 100\n")
            self.assertEqual(os.listdir(self.folder), [])
            failed = self.on_disk("df.compute()\ndf.sort_values(['text', 'v', 'many']).compute()")
            self.check(failed, 1, "", ["MemoryError: Unable to allocate", "and the disk has no room for it; --memory sets the budget, GASELL_TMPDIR the place on disk"])
        finally:
            subprocess.run(["umount", self.folder], check=True)

    def test_a_folder_that_takes_no_files(self):
        missing = os.path.join(self.folder, "missing")
        self.check(self.on_disk("df.sort_values('v').compute()", GASELL_TMPDIR=missing), 1, "", ["MemoryError", f"'{missing}' takes no file: No such file or directory"])
        if os.geteuid() == 0:
            self.check(self.on_disk("df.sort_values('v').compute()", GASELL_TMPDIR="/proc"), 1, "", ["MemoryError", "'/proc' takes no file"])


class FilesOnAFullDisk(CommandTest):
    """A write that finds no room is an OSError, the file is what it was before, no other is left, and the session goes on."""

    def write(self, number, limit=None):
        doctor = subprocess.run([GASELL, "doctor"], capture_output=True, text=True, env=environment()).stdout
        has_arrow = re.search(r"^Parquet files +Apache Arrow", doctor, re.M)
        limited = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
        for kind, text in WRITES.items():
            if kind in ("parquet", "feather", "orc") and not has_arrow:
                continue
            with self.subTest(kind):
                path = os.path.join(self.folder, f"file.{kind}")
                write = f"def write(df):\n    {text.format(name=repr(path))}\n"
                self.check(self.gasell(write + "write(pd.DataFrame({'v': np.arange(9.0), 'w': np.arange(9)}))", None), out="")
                with open(path, "rb") as file:
                    before = file.read()
                too_much = write + f"""
r = np.random.default_rng(3)
for k in range(2):
    try:
        write(pd.DataFrame({{"v": r.standard_normal(200000), "w": r.integers(0, 2**60, 200000)}}))
        print("written")
    except OSError as e:
        print(e.errno, str(e).find({path!r}) >= 0)
print(len(pd.DataFrame({{"v": [1, 2]}})))
"""
                self.check(self.gasell(too_much, limited), out=f"{number} True\n{number} True\n2\n")
                self.assertEqual(os.listdir(self.folder), [f"file.{kind}"])
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), before)
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))

    def gasell(self, script, before):
        return subprocess.run([GASELL, "--device", "cpu", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                              env=environment(GASELL_CACHE="0", GASELL_SPILL="0"), preexec_fn=before)

    def test_a_limit(self):
        self.write(errno.EFBIG, limit=1 << 20)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_full_disk(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", self.folder], capture_output=True)
        if mounted.returncode:
            self.skipTest("no file system can be mounted here")
        try:
            self.write(errno.ENOSPC)
        finally:
            subprocess.run(["umount", self.folder], check=True)


if __name__ == "__main__":
    unittest.main()
