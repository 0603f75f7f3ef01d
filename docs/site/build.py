#!/usr/bin/env python3
"""Builds the documentation site: static HTML that needs neither a network nor a server.

    scripts/site.sh                                        everything: the environment, the site in build/site
    build.py --gasell PROGRAM --out FOLDER                 the same with an environment that has `markdown` and `pygments`

Pages are docs/*.md in the order of NAVIGATION; API pages are made from what `gasell help --json` says (api.py); the files that pages link to are shown as pages of their own.
Fails where a page links to what is not there.
"""

import argparse
import html
import json
import posixpath
import re
import shutil
import sys
from pathlib import Path

import api
import markdown
from highlight import console, highlighted, lexer_for, styles

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"

NAVIGATION = [
    ("Start", ["index", "tour", "session", "command", "editors"]),
    ("Guides", ["from_numpy", "from_pandas", "from_numba", "from_dask", "cookbook", "performance", "gallery"]),
    ("Language", ["language", "differences", "modules", "functions"]),
    ("Library", ["numpy", "frames", "pandas", "sklearn", "dask", "hdf5", "pictures", "accuracy"]),
    ("Machines and programs", ["gpus", "embedding", "python", "security", "benchmarks"]),
    ("Inside", ["architecture", "loop_ir", "debugging", "contributing", "changes"]),
]
TEXTS = {"index": ROOT / "README.md", "contributing": ROOT / "CONTRIBUTING.md", "changes": ROOT / "CHANGELOG.md"}
PAGE_OF = {path: name for name, path in TEXTS.items()}
SHOWN_SOURCES = {".gsl", ".py", ".sh", ".h", ".hpp", ".cpp", ".c", ".txt", ".cmake", ".json", ".csv", ".md"}


class Page:
    def __init__(self, name, title, body, toc=(), section="", edit=""):
        self.name, self.title, self.body, self.toc, self.section, self.edit = name, title, body, list(toc), section, edit

    @property
    def path(self):
        return self.name + ".html"


def slug(text, separator="-"):
    return re.sub(r"[\s]+", separator, re.sub(r"[^\w\s-]", "", html.unescape(re.sub(r"<[^>]+>", "", text))).strip().lower())


def with_code(text):
    """Blocks of code in colour, with a button that copies them."""

    def block(found):
        language, code = found.group(1) or "", html.unescape(found.group(2))
        inner = console(code) if language in ("pycon", "text") and code.lstrip().startswith(">>> ") else highlighted(code, language)
        return f'<div class="code"><button class="copy" title="Copy">copy</button><pre><code>{inner}</code></pre></div>'

    return re.sub(r'<pre><code(?: class="language-([\w+-]+)")?>(.*?)</code></pre>', block, text, flags=re.S)


class Site:
    def __init__(self, gasell, out):
        self.gasell, self.out = gasell, out
        self.pages, self.sources, self.wrong = {}, set(), []

    def link(self, target, source, page):
        """Where a link of a Markdown file goes in the site; None: to nothing that is shown."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, _, fragment = target.partition("#")
        file = (source.parent / path).resolve()
        fragment = "#" + fragment if fragment else ""
        base = posixpath.dirname(page)
        if file in PAGE_OF or (file.parent == DOCS and file.suffix == ".md"):
            return posixpath.relpath(PAGE_OF.get(file, file.stem) + ".html", base or ".") + fragment
        if file.is_file() and file.suffix in (".png", ".svg"):
            relative = file.relative_to(DOCS).as_posix()
            (self.out / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.out / relative)
            return posixpath.relpath(relative, base or ".")
        if file.is_file() and file.suffix in SHOWN_SOURCES:
            self.sources.add(file)
            return posixpath.relpath("source/" + file.relative_to(ROOT).as_posix() + ".html", base or ".")
        if not file.exists():
            self.wrong.append(f"{source.relative_to(ROOT)}: {target} is not there")
        return None

    def add_markdown(self, name, section):
        source = TEXTS.get(name, DOCS / f"{name}.md")
        converter = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists"], extension_configs={"toc": {"slugify": slug, "toc_depth": "2-3"}})
        body = with_code(converter.convert(source.read_text(encoding="utf-8")))

        def linked(found):
            attribute, target = found.group(1), html.unescape(found.group(2))
            to = self.link(target, source, name)
            return f'{attribute}="{html.escape(to)}"' if to else 'class="nowhere"'

        body = re.sub(r'\b(href|src)="([^"]*)"', linked, body)
        body = re.sub(r"<table>(.*?)</table>", r'<div class="table"><table>\1</table></div>', body, flags=re.S)
        body = re.sub(r"<thead>\s*<tr>\s*(<th>\s*</th>\s*)+</tr>\s*</thead>", "", body)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        toc = [(level, identifier, re.sub(r"<[^>]+>", "", text)) for level, identifier, text in re.findall(r'<h([23]) id="([^"]+)">(.*?)</h\1>', body, re.S)]
        self.pages[name] = Page(name, re.sub(r"<[^>]+>", "", title.group(1)) if title else name, body, toc, section, source.relative_to(ROOT).as_posix())

    def add_sources(self):
        for file in sorted(self.sources):
            relative = file.relative_to(ROOT).as_posix()
            code = highlighted(file.read_text(encoding="utf-8"), lexer_for(file.name))
            self.pages["source/" + relative] = Page("source/" + relative, relative, f'<h1>{relative}</h1><div class="code"><pre><code>{code}</code></pre></div>')

    def navigation(self, current):
        up = "../" * current.count("/")
        parts = []
        sections = [(section, [self.pages[name] for name in names]) for section, names in NAVIGATION]
        sections.append(("Reference of names", [page for page in self.pages.values() if page.name.startswith("api/")]))
        for section, pages in sections:
            here = any(page.name == current for page in pages)
            items = "".join(f'<li><a href="{up}{page.path}"{" class=here" if page.name == current else ""}>{html.escape(page.title)}</a></li>' for page in pages)
            parts.append(f"<details{' open' if here or section in ('Start', 'Guides', 'Language') else ''}><summary>{section}</summary><ul>{items}</ul></details>")
        return "".join(parts)

    def neighbours(self, current):
        order = [name for _, names in NAVIGATION for name in names]
        if current not in order:
            return ""
        at = order.index(current)
        links = [("prev", "←", at - 1)] if at else []
        links += [("next", "→", at + 1)] if at + 1 < len(order) else []
        made = "".join(
            f'<a class="{kind}" href="{self.pages[order[k]].path}">{arrow + " " if kind == "prev" else ""}{html.escape(self.pages[order[k]].title)}{" " + arrow if kind == "next" else ""}</a>'
            for kind, arrow, k in links
        )
        return f'<nav class="neighbours">{made}</nav>'

    def write(self):
        template = (HERE / "page.html").read_text(encoding="utf-8")
        for page in self.pages.values():
            up = "../" * page.name.count("/")
            toc = "".join(f'<li class="level{level}"><a href="#{identifier}">{text}</a></li>' for level, identifier, text in page.toc)
            values = {
                "title": html.escape(page.title), "up": up, "navigation": self.navigation(page.name), "body": page.body, "neighbours": self.neighbours(page.name),
                "toc": f'<div class="label">On this page</div><ul>{toc}</ul>' if len(page.toc) > 1 else "",
            }  # fmt: skip
            text = re.sub(r"\{\{(\w+)\}\}", lambda found: values[found.group(1)], template)
            file = self.out / page.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        (self.out / "style.css").write_text((HERE / "style.css").read_text(encoding="utf-8") + styles(), encoding="utf-8")
        shutil.copy(HERE / "site.js", self.out / "site.js")
        (self.out / "search_index.js").write_text("const INDEX = " + json.dumps(self.search_index(), ensure_ascii=False, separators=(",", ":")) + ";\n", encoding="utf-8")

    def search_index(self):
        """[title, where, address, text] of each section and each name."""
        entries = []
        for page in self.pages.values():
            if page.name.startswith(("api/", "source/")):
                continue
            pieces = re.split(r'<h[23] id="([^"]+)">(.*?)</h[23]>', page.body, flags=re.S)
            for identifier, heading, text in [("", page.title, pieces[0]), *zip(pieces[1::3], pieces[2::3], pieces[3::3])]:
                plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
                title = html.unescape(re.sub(r"<[^>]+>", "", heading))
                entries.append([title, page.title, page.path + ("#" + identifier if identifier else ""), plain[:400]])
        return entries + api.search_entries()

    def check_links(self):
        """Every address that a page has is there, with its fragment."""
        texts = {page.path: page.body for page in self.pages.values()}
        known = {path: set(re.findall(r'\bid="([^"]+)"', body)) for path, body in texts.items()}
        for path, body in texts.items():
            for target in re.findall(r'<a [^>]*href="([^"]+)"', body):
                target = html.unescape(target)
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, fragment = target.partition("#")
                to = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                if to not in known and not (self.out / to).exists():
                    self.wrong.append(f"{path}: {target} is not there")
                elif fragment and to in known and fragment not in known[to]:
                    self.wrong.append(f"{path}: {target} has no such section")

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        for section, names in NAVIGATION:
            for name in names:
                self.add_markdown(name, section)
        for name, title, body, toc in api.pages(self.gasell):
            self.pages[name] = Page(name, title, body, toc)
        self.add_sources()
        self.write()
        self.check_links()
        listed = {name for _, names in NAVIGATION for name in names}
        self.wrong += [f"docs/{path.name} is in no section of the navigation" for path in sorted(DOCS.glob("*.md")) if path.stem not in listed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    options = parser.parse_args()
    site = Site(str(Path(options.gasell).resolve()), options.out.resolve())
    site.build()
    print("\n".join(site.wrong + [f"{len(site.pages)} pages in {site.out}"]))
    return 1 if site.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
