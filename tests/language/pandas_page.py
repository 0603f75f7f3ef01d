#!/usr/bin/env python3
"""Makes docs/pandas.md of tests/language/frames/page_*.gsl, which hold a case for every public name of pandas that stdlib/pandas/names.txt lists.

What a case says of its name is checked by running it (run.py): a case without a mark gives what pandas gives; `# refused: MESSAGE` ends with that
NotImplementedError; `# differs: REASON` gives something else, for one of the REASONS below, each of which has a row in docs/differences.md.
`# but: TEXT` says on the page what of a name that works is refused.

  pandas_page.py                         checks that the page is what the cases say, and that no name lacks a case
  pandas_page.py --write                 writes the page
  pandas_page.py --mark --peer PYTHON    runs all cases, sets their marks anew, writes the page

Exit status 0 when everything is right.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile
from pathlib import Path

import run

PAGE = run.ROOT / "docs/pandas.md"
DIFFERENCES = run.ROOT / "docs/differences.md"
# What differs → the opening of its row in docs/differences.md.
REASONS = {
    "missing texts": "missing texts",
    "one type of texts": "`string` dtype",
    "columns for arrays": "`pd.array`",
    "integers with missing values": "integers and booleans with missing values",
    "numbers of missing texts": "`.str.len()`",
}
# (file, title, the class in names.txt, how cases begin)
SECTIONS = [
    ("page_pandas", "pandas", "pandas", "pd."),
    ("page_frame", "DataFrame", "pandas.DataFrame", "DataFrame."),
    ("page_series", "Series", "pandas.Series", "Series."),
    ("page_index", "Index", "pandas.Index", "Index."),
    ("page_frame_groupby", "DataFrameGroupBy", "pandas.DataFrameGroupBy", "DataFrameGroupBy."),
    ("page_series_groupby", "SeriesGroupBy", "pandas.SeriesGroupBy", "SeriesGroupBy."),
    ("page_str", "Series.str", "pandas.StringMethods", "Series.str."),
    ("page_dt", "Series.dt of times", "pandas.DatetimeProperties", "Series.dt."),
    ("page_dt_timedelta", "Series.dt of durations", "pandas.TimedeltaProperties", "Series.dt."),
    ("page_cat", "Series.cat", "pandas.CategoricalAccessor", "Series.cat."),
    ("page_rolling", "Rolling", "pandas.Rolling", "Rolling."),
    ("page_expanding", "Expanding", "pandas.Expanding", "Expanding."),
    ("page_ewm", "ExponentialMovingWindow", "pandas.ExponentialMovingWindow", "ExponentialMovingWindow."),
    ("page_resample", "Resampler", "pandas.Resampler", "Resampler."),
]
MARK = re.compile(r"^# (refused|differs): .*\n", re.M)
OPENING = """# pandas in Gasell

`import pandas as pd` (also `cudf`, and `dask.dataframe`: [dask.md](dask.md)). [frames.md](frames.md) says what frames are here; [differences.md](differences.md#frames) why some answers differ.
This page is made by `tests/language/pandas_page.py` of cases that run: each name below has one in `tests/language/frames/page_*.gsl`, whose output is compared with pandas 2.3.

- *works*: the case prints what pandas prints. That holds for the calls in the case, not for every parameter: what a function does not take, it refuses by name.
- *differs*: it prints something else, for the reason given.
- *refused*: `NotImplementedError`, by name.

"""


def cases_of_sections():
    for file, title, module, prefix in SECTIONS:
        path = run.HERE / "frames" / f"{file}.gsl"
        yield title, module, prefix, path, run.read_cases(path)


def listed_names():
    names = {}
    for line in (run.ROOT / "stdlib/pandas/names.txt").read_text(encoding="utf-8").splitlines():
        module, text = line.split(": ")
        names[module] = text.split()
    return names


def but(case):
    return re.findall(r"^# but: (.+)$", case.text, re.M)


def page():
    """(text of the page, what is wrong)"""
    known, wrong, parts, table = listed_names(), [], [], []
    rows = DIFFERENCES.read_text(encoding="utf-8")
    for title, module, prefix, path, cases in cases_of_sections():
        names = {c.name.removeprefix(prefix): c for c in cases}
        wrong += [f"{path.name}: no case for {n}" for n in known[module] if n not in names]
        wrong += [f"{path.name}: {module} has no {n}" for n in names if n not in known[module]]
        for c in cases:
            if c.differs and c.differs not in REASONS:
                wrong.append(f"{path.name}: {c.name} differs for no known reason ({c.differs})")
            elif c.differs and f"| {REASONS[c.differs]}" not in rows:
                wrong.append(f"docs/differences.md has no row '{REASONS[c.differs]}'")
        works = [n for n, c in names.items() if not c.refused and not c.differs]
        differs = [n for n, c in names.items() if c.differs]
        refused = [n for n, c in names.items() if c.refused]
        table.append((title, len(works), len(differs), len(refused)))
        text = [f"## {title}", ""]
        if works:
            text += ["**works**: " + " ".join(f"`{n}`" for n in works), ""]
        notes = [(n, note) for n, c in names.items() for note in but(c)]
        if notes:
            text += ["Of these, " + "; ".join(f"`{n}`: {note}" for n, note in notes) + ".", ""]
        reasons = {}
        for n in differs:
            reasons.setdefault(names[n].differs, []).append(n)
        for reason, group in reasons.items():
            text += [f"**differs** ({REASONS.get(reason, reason)}): " + " ".join(f"`{n}`" for n in group), ""]
        plain = [n for n in refused if names[n].refused.endswith(" is not in Gasell yet") and " " not in names[n].refused.removesuffix(" is not in Gasell yet")]
        if plain:
            text += ["**refused**: " + " ".join(f"`{n}`" for n in plain), ""]
        if len(plain) < len(refused):
            text += ["| refused | what it says |", "|---|---|", *(f"| `{n}` | {names[n].refused.replace('|', chr(92) + '|')} |" for n in refused if n not in plain), ""]
        parts.append("\n".join(text))
    total = [sum(row[k] for row in table) for k in (1, 2, 3)]
    summary = ["| | works | differs | refused |", "|---|---:|---:|---:|", *(f"| [{t}](#{t.lower().replace(' ', '-').replace('.', '')}) | {w} | {d} | {r} |" for t, w, d, r in table), f"| all | {total[0]} | {total[1]} | {total[2]} |", "", ""]
    return OPENING + "\n".join(summary) + "\n".join(parts).rstrip() + "\n", wrong


def mark(options):
    """Runs every case and writes what it is into its file; a case that differs keeps its reason."""
    peer = run.find_peer(options.peer)
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        options.cache = cache
        for _, _, _, path, cases in cases_of_sections():
            if not re.search(options.filter, path.stem):
                continue
            answers, _ = run.ask_peer(peer, path, cases)
            run.record(path, cases, answers)
            got = run.run_together(options, "default", path, [c for c in cases if not c.refused and not answers[c.name].raised])
            alone = [c for c in cases if c.name not in got or run.difference(got[c.name], answers[c.name], c.rtol)]
            got.update(zip((c.name for c in alone), (a for a, _ in pool.map(lambda c: run.run_alone(options, "default", c), alone))))
            text = MARK.sub("", path.read_text(encoding="utf-8"))
            for c in cases:
                if run.difference(got[c.name], answers[c.name], c.rtol) is None:
                    continue
                raised = got[c.name].raised
                line = f"# refused: {raised.removeprefix('NotImplementedError: ')}" if raised.startswith("NotImplementedError: ") else f"# differs: {c.differs or '?'}"
                if line.endswith("?"):
                    print(f"{c.name} differs\n" + "\n".join("    " + l for l in run.difference(got[c.name], answers[c.name], c.rtol)[2:24]))
                text = text.replace(f"# --- {c.name}\n", f"# --- {c.name}\n{line}\n", 1)
            path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(run.ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default="")
    parser.add_argument("--filter", default="", help="with --mark: only files whose name matches")
    parser.add_argument("--mark", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.gasell, options.prefix, options.set = str(Path(options.gasell).resolve()), [], {}
    if options.mark:
        mark(options)
    text, wrong = page()
    if options.mark or options.write:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        wrong.append("docs/pandas.md is not what the cases say: tests/language/pandas_page.py --write")
    print("\n".join(wrong) or f"docs/pandas.md names what {len(SECTIONS)} classes have")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
