#!/usr/bin/env python3
"""Runs what the pages of docs/ show.

    pages.py --gasell PATH [--record] [PAGE…]     --record writes what is shown into the pages

Blocks ```pycon of a page are one session: what stands below `>>> ` is what it shows. A block ```python that a block ```text follows, with no heading between, is a program and what it prints;
one that nothing follows has to run; what cannot run by itself is a block ```py. A block ```sh of one command `gasell …` reads the program before it as `program.gsl`; the block behind it shows what the command writes, numbers and times aside
(`steady`).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from documentation import ROOT, Example, Statement, read_statements, run_examples, statements_text

DOCS = ROOT / "docs"
PAGES = sorted(path.stem for path in DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def steady(text):
    """A report without what differs from run to run: times, rates, and how columns are aligned for them."""
    text = re.sub(r", and [^\n]* to compile", "", text)
    text = re.sub(r"\d[\d,.]*(e[-+]\d+)? ?(ns|us|µs|ms|s|[kKMGT]?i?B/s|[kKMGT]? ?elements/s|%)(?!\w)", "#", text)
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


class PageRun:
    def __init__(self, gasell, path):
        self.gasell, self.path = gasell, path
        self.text = path.read_text(encoding="utf-8")
        self.wrong, self.changed = [], {}  # {(begin, end): text}

    def replace(self, span, new, old, same=lambda text: text):
        if same(new) != same(old):
            line = self.text.count("\n", 0, span[0]) + 1
            self.wrong.append(f"{self.path.name}:{line}\n{new}--- instead of ---\n{old}")
            self.changed[span] = new

    def run(self):
        blocks = list(BLOCK.finditer(self.text))
        consoles = [block for block in blocks if block.group(1) == "pycon"]
        session = [Example([], 0, statements=read_statements(block.group(2).splitlines())) for block in consoles]
        if session:
            for block, example, shown in zip(consoles, session, run_examples([self.gasell, "-c"], session)):
                now = [Statement(statement.text, text) for statement, text in zip(example.statements, shown)]
                self.replace(block.span(2), statements_text(now), block.group(2))
        program = ""
        for block, after in zip(blocks, [*blocks[1:], None]):
            follows = after and after.group(1) == "text" and not re.search(r"^#", self.text[block.end() : after.start()], re.M)
            if block.group(1) == "python":
                program = block.group(2)
                if not (after and after.group(1) == "sh"):
                    self.command(["program.gsl"], program, after if follows else None, block)
            elif block.group(1) == "sh" and program and follows and block.group(2).startswith("gasell "):
                self.command(block.group(2).split()[1:], program, after, block, steady)
        return self.wrong

    def command(self, arguments, program, shown, block, same=lambda text: text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "program.gsl").write_text(program, encoding="utf-8")
            done = subprocess.run([self.gasell, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode and not shown:
            self.wrong.append(f"{self.path.name}:{self.text.count(chr(10), 0, block.start()) + 1}\n{done.stderr}")
        if shown:
            self.replace(shown.span(2), done.stderr + done.stdout if "program.gsl" not in arguments[:1] else done.stdout + done.stderr, shown.group(2), same)

    def record(self):
        for (begin, end), new in sorted(self.changed.items(), reverse=True):
            self.text = self.text[:begin] + new + self.text[end:]
        self.path.write_text(self.text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("pages", nargs="*", default=PAGES)
    options = parser.parse_args()
    wrong = []
    for name in options.pages:
        page = PageRun(str(Path(options.gasell).resolve()), DOCS / f"{name}.md")
        wrong += page.run()
        if options.record:
            page.record()
    print("\n".join(wrong) or "the pages show what runs")
    return 1 if wrong and not options.record else 0


if __name__ == "__main__":
    sys.exit(main())
