"""The pages of names: signatures, descriptions and examples as `gasell help --json` says them."""

import html
import json
import re
import subprocess

from highlight import console, highlighted

# (page, title, [(heading, an expression that gives the owner, how its names are written)])
PAGES = [
    ("numpy", "np", [("np", "np", "np")]),
    ("ndarray", "np.ndarray", [("np.ndarray", "np.ndarray", "ndarray")]),
    ("numpy_parts", "np.linalg, fft, random", [("np.linalg",) * 3, ("np.fft",) * 3, ("np.random",) * 3]),
    ("numpy_more", "np.ma, strings, polynomial", [("np.ma",) * 3, ("np.strings",) * 3, ("np.polynomial",) * 3, ("Polynomial", "np.polynomial.Polynomial", "Polynomial")]),
    ("pandas", "pd", [("pd",) * 3]),
    ("DataFrame", "DataFrame", [("DataFrame", "pd.DataFrame", "DataFrame")]),
    ("Series", "Series", [("Series", "pd.Series", "Series")]),
    ("Index", "Index", [("Index", "pd.Index", "Index")]),
    ("groupby", "groupby, rolling", [
        ("DataFrameGroupBy", "type(pd.DataFrame({'a': [1]}).groupby('a'))", "DataFrameGroupBy"), ("SeriesGroupBy", "type(pd.Series([1]).groupby([1]))", "SeriesGroupBy"),
        ("Rolling", "type(pd.Series([1]).rolling(1))", "Rolling"),
    ]),
    ("accessors", ".str .dt .cat, Timestamp", [
        ("Series.str", "type(pd.Series(['a']).str)", "Series.str"), ("Series.dt", "type(pd.Series(pd.to_datetime(['2020-01-01'])).dt)", "Series.dt"),
        ("Series.cat", "type(pd.Series(['a'], dtype='category').cat)", "Series.cat"), ("Timestamp", "pd.Timestamp", "Timestamp"), ("Timedelta", "pd.Timedelta", "Timedelta"),
    ]),
    ("plt", "plt", [("plt",) * 3]),
    ("numba", "numba, cuda", [("numba",) * 3, ("cuda", "numba.cuda", "cuda")]),
    ("dask", "dask", [("dask",) * 3, ("dask.bag",) * 3, ("dd",) * 3]),
    ("scipy", "scipy", [("scipy.linalg",) * 3, ("scipy.fft",) * 3, ("scipy.signal",) * 3, ("scipy.sparse",) * 3]),
    ("sklearn", "sklearn", [(f"sklearn.{part}",) * 3 for part in (
        "linear_model", "cluster", "preprocessing", "metrics", "model_selection", "decomposition", "svm", "tree", "neighbors", "naive_bayes", "ensemble", "pipeline", "compose", "impute",
        "datasets", "feature_extraction.text")]),
    ("python", "Python's types", [(name,) * 3 for name in (
        "str", "list", "dict", "set", "bytes", "bytearray", "int", "float", "complex", "tuple", "frozenset", "range")]),
    ("modules", "math, collections, itertools", [(name,) * 3 for name in (
        "math", "cmath", "statistics", "random", "fractions", "decimal", "itertools", "functools", "operator", "collections", "collections.Counter", "collections.deque", "heapq", "bisect",
        "copy", "dataclasses", "enum", "abc", "contextlib")]),
    ("modules_of_texts", "re, json, csv, datetime", [(name,) * 3 for name in (
        "re", "string", "textwrap", "json", "csv", "argparse", "logging", "pprint", "datetime", "datetime.datetime", "datetime.date", "time", "timeit")]),
    ("modules_of_files", "os, pathlib, io, bytes", [(name,) * 3 for name in (
        "os", "os.path", "sys", "pathlib", "pathlib.Path", "io", "shutil", "tempfile", "glob", "fnmatch", "gzip", "zlib", "base64", "binascii", "hashlib", "struct", "uuid", "queue", "threading",
        "h5py")]),
]  # fmt: skip
_entries = []  # of the search: filled by pages()


def described(gasell, names):
    found = []
    for begin in range(0, len(names), 500):
        done = subprocess.run([gasell, "help", "--json", *names[begin : begin + 500]], capture_output=True, text=True, timeout=600, check=False)
        found += [json.loads(line) for line in done.stdout.splitlines()]
    return found


def pages(gasell):
    """(name, title, body, table of contents) of each page."""
    owners = {one["name"]: one for one in described(gasell, [owner for _, _, parts in PAGES for _, owner, _ in parts])}
    for page, title, parts in PAGES:
        body, toc = [f"<h1>{html.escape(title)}</h1>"], []
        for heading, owner, written in parts:
            identifier = re.sub(r"\W+", "-", heading.lower()).strip("-") + "-names"
            toc.append(("2", identifier, html.escape(heading)))
            members = described(gasell, [f"{owner}.{member}" for member in owners[owner]["members"]])
            links = " ".join(f'<a href="#{name_of(one, written)}">{one["name"].removeprefix(owner + ".")}</a>' for one in members)
            body.append(f'<h2 id="{identifier}">{html.escape(heading)}</h2><p>{html.escape(owners[owner]["description"])}</p><p class="names">{links}</p>')
            body += [entry(one, written) for one in members]
            for one in members:
                _entries.append([name_of(one, written), one["kind"], f"api/{page}.html#{name_of(one, written)}", first_line(one["description"])])
        yield f"api/{page}", title, "\n".join(body), toc


def name_of(one, written):
    return f"{written}.{re.search(r'[^.]+$', one['name']).group()}"


def first_line(text):
    return text.strip().split("\n")[0][:200]


def entry(one, written):
    name = name_of(one, written)
    signature = one["signature"]
    call = name + signature[signature.index("(") :] if signature else name
    description = "".join(f"<p>{with_names(part)}</p>" for part in one["description"].strip().split("\n\n") if part)
    example = f'<div class="code"><button class="copy" title="Copy">copy</button><pre><code>{console(one["example"])}</code></pre></div>' if one["example"] else ""
    kind = "" if one["kind"] == "function" else f' <span class="kind">{html.escape(one["kind"])}</span>'
    return f'<section class="entry" id="{name}"><h3><a href="#{name}"><code class="code">{highlighted(call, "gasell").strip()}</code></a>{kind}</h3>{description}{example}</section>'


def with_names(text):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def search_entries():
    return _entries
