#!/usr/bin/env python3
"""The arrows between the library's .gsl texts, which no include shows: a text uses what another one defines by its module's name (`import _pandas as fr`: `fr.rows`), and what
the texts of its own module define by the bare name. No circle of texts is allowed. Where a module's texts are in packages (its folders), text_packages.txt says their order: a
package sees those before it, and none beside it or behind it.

usage: texts.py ROOT [--arrows TEXT | --circles]      ROOT: the checkout; --arrows prints what a text uses, by the texts that define it
"""
import ast
import collections
import pathlib
import symtable
import sys

class Text:
    """A text: the names it defines, the bare names it takes from outside, and the members of modules that it names."""

    def __init__(self, path, module, source):
        self.module = module
        table = symtable.symtable(source, str(path), "exec")
        self.defined = {s.get_name() for s in table.get_symbols() if s.is_assigned() and not s.is_imported()}
        self.imported = {s.get_name() for s in table.get_symbols() if s.is_imported()}
        self.bare = self._bare(table, table) - self.defined - self.imported
        modules, self.members = {"np": "numpy"}, set()
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules.update({name.asname or name.name: name.name for name in node.names})
            elif isinstance(node, ast.ImportFrom):
                self.members.update((node.module, name.name) for name in node.names)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                self.members.add((modules[node.value.id], node.attr))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
                owner = modules.get(node.value.value.id)  # np.linalg.norm
                if owner:
                    self.members.add((f"{owner}.{node.value.attr}", node.attr))

    def _bare(self, table, top):
        names = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (table is top or s.is_global())}
        return names.union(*[self._bare(inner, top) for inner in table.get_children()])


def read(root):
    folder = pathlib.Path(root) / "stdlib"
    texts = {}
    for path in sorted(folder.rglob("*.gsl")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        texts[name] = Text(path, module_of(name), path.read_text(encoding="utf8"))
    return texts


def module_of(name):
    """The module that a text belongs to, as stdlib/embed.cmake says it: a folder with a small letter below a module of the library's own is a package of that module."""
    folders = name.split("/")[:-1]
    if len(folders) == 2 and folders[0].startswith("_") and folders[1][0].islower():
        folders.pop()
    return ".".join(folders)


def arrows_of(texts):
    """{text: {text that it uses: names}}"""
    owners = {}
    for name, text in texts.items():
        for defined in text.defined:
            owners.setdefault((text.module, defined), name)
    arrows = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, text in texts.items():
        for key in {(text.module, bare) for bare in text.bare} | text.members:
            owner = owners.get(key, name)
            if owner != name:
                arrows[name][owner].add(key[1])
    return arrows


def circles_of(texts, arrows):
    """The strongly connected components of more than one text (R. Tarjan, "Depth-first search and linear graph algorithms", 1972)."""
    number, low, stack, on_stack, circles = {}, {}, [], set(), []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        on_stack.add(v)
        for w in arrows[v] if v in arrows else ():
            if w not in number:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on_stack:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            circle = []
            while not circle or circle[-1] != v:
                circle.append(stack.pop())
                on_stack.remove(circle[-1])
            if len(circle) > 1:
                circles.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for v in texts:
        if v not in number:
            visit(v)
    return circles


def wrong_arrows(texts, arrows):
    """What text_packages.txt does not allow, a line each."""
    for line in pathlib.Path(__file__).with_name("text_packages.txt").read_text().splitlines():
        module, _, order = line.partition(": ")
        ranks = {package: rank for rank, packages in enumerate(order.split(" < ")) for package in packages.split()}
        members = {name: name.split("/")[1] for name in texts if name.startswith(module + "/")}
        for name, package in members.items():
            if package not in ranks:
                yield f"{name} is in no package that text_packages.txt has"
                continue
            for to, names in sorted(arrows[name].items()):
                other = members.get(to, package)
                if other != package and ranks.get(other, -1) >= ranks[package]:
                    yield f"{name} uses {' '.join(sorted(names))} of {to}, which does not stand below {package}"


def main():
    texts = read(sys.argv[1])
    arrows = arrows_of(texts)
    if "--arrows" in sys.argv:
        for to, names in sorted(arrows[sys.argv[sys.argv.index("--arrows") + 1]].items()):
            print(f"{to}: {' '.join(sorted(names))}")
        return 0
    circles = sorted(circles_of(texts, arrows), key=lambda circle: (-len(circle), circle))
    if "--circles" in sys.argv:
        print("\n".join(" ".join(circle) for circle in circles))
        return 0
    print(f"{len(texts)} texts, {sum(len(to) for to in arrows.values())} arrows")
    wrong = [f"a circle of {len(circle)} texts: {' '.join(circle)}" for circle in circles] + list(wrong_arrows(texts, arrows))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
