"""Random functions of lists, dicts, sets and tuples, for fuzz_functions.py: compiled under Gasell, as they are under CPython.

Every expression has one type, integers stay small and floats are quarters, so that both compute the same; what has no order (sets) is only seen in ways that
ask for none. Containers share their items, are changed while loops go over them (lists), by functions that are called, and where exceptions end the loop.
"""

SHOW = """
def shown(v):
    if isinstance(v, (tuple, list)):
        return type(v).__name__ + "(" + ", ".join([shown(x) for x in v]) + ")"
    if isinstance(v, set):
        return "{" + ", ".join([shown(x) for x in sorted(v)]) + "}"
    if hasattr(v, "items"):
        return "{" + ", ".join([shown(k) + ": " + shown(x) for k, x in v.items()]) + "}"
    return repr(v)
def contained(f, *args):
    try:
        for v in f(*args):
            print(shown(v))
    except Exception as e:
        print(type(e).__name__, e if type(e).__name__ in ("TypingError", "UnsupportedError", "NotImplementedError") else "")
    print("arguments", shown(args))
"""
# How each of the two takes a function, and makes a dict that may be an argument.
GASELL_PRELUDE = SHOW + """
from numba import njit, types
from numba.typed import Dict
NUMBA_TYPES = {"int": types.int64, "float": types.float64, "pair": types.UniTuple(types.int64, 2)}
compiled = njit
def typed(d, key, value):
    made = Dict.empty(NUMBA_TYPES[key], NUMBA_TYPES[value])
    for k, v in d.items():
        made[k] = v
    return made
"""
PEER_PRELUDE = SHOW + """
compiled = lambda f: f
typed = lambda d, key, value: d
"""

# What containers hold; of dicts the key, too.
ITEMS = {"ints": "int", "floats": "float", "pairs": "pair", "lists": "ints"}
SETS = {"int set": "int", "pair set": "pair"}
DICTS = {"int dict": ("int", "int"), "float dict": ("int", "float"), "pair dict": ("pair", "int"), "list dict": ("int", "ints")}
NUMBERS = ["int", "float", "pair"]
MOST = 20  # items of a list: what makes lists longer asks first


class Containers:
    def __init__(self, rng):
        self.rng = rng
        self.names = {}
        self.fixed = 0  # loops over dicts and sets that stand around: in them no dict and no set changes its size
        self.loops = 0
        self.helper = None

    def name(self, kind):
        return self.rng.choice(self.names[kind]) if self.names.get(kind) else None

    def int(self, depth=0):
        rng, r = self.rng, self.rng.random()
        if depth > 2 or r < 0.3:
            return rng.choice(self.names["int"] + [str(rng.randint(-3, 9))])
        if r < 0.5:
            return f"({self.int(depth + 1)} {rng.choice('+-')} {self.int(depth + 1)})"
        if r < 0.58:
            return f"({self.int(depth + 1)} {rng.choice(['* 3', '* -2', '// 2', '% 5', '// -3'])})"
        if r < 0.66:
            return f"{self.value('pair', depth + 1)}[{rng.choice(['0', '1', '-1', 'n % 2'])}]"
        held = self.name(rng.choice([*ITEMS, *SETS, *DICTS]))
        if r < 0.76 and held:
            return f"len({held})"
        if r < 0.84 and self.names.get("ints"):
            l = self.name("ints")
            return rng.choice([f"sum({l})", f"({l}[{self.int(depth + 1)} % len({l})] if len({l}) > 0 else {self.int(depth + 1)})", f"{l}.count({self.int(depth + 1)})"])
        if r < 0.9 and self.names.get("int set"):
            s = self.name("int set")
            return rng.choice([f"sum({s})", f"(max({s}) if len({s}) > 0 else -1)"])
        kind = rng.choice(["int dict", "pair dict"])
        if self.names.get(kind):
            d = self.name(kind)
            return rng.choice([f"{d}.get({self.value(DICTS[kind][0], depth + 1)}, {self.int(depth + 1)})", f"sum({d}.values())"])
        return str(rng.randint(0, 99))

    def small(self, depth=1):
        e = self.int(depth)
        return f"{e} % 97" if "(" in e or e.startswith("len") else e

    def condition(self, depth=0):
        rng, r = self.rng, self.rng.random()
        if depth < 2 and r < 0.15:
            return f"({self.condition(depth + 1)} {rng.choice(['and', 'or'])} {rng.choice(['', 'not '])}{self.condition(depth + 1)})"
        kind = rng.choice([*ITEMS, *SETS, *DICTS])
        held = self.name(kind)
        if r < 0.5 and held:
            item = ITEMS.get(kind) or SETS.get(kind) or DICTS[kind][0]
            return f"{self.value(item, 2)} {rng.choice(['in', 'not in'])} {held}"
        if r < 0.6 and held:
            return f"{held} {rng.choice(['==', '!=', '<', '>='] if kind in ('ints', 'floats', 'pairs') else ['<=', '=='] if kind in SETS else ['==', '!='])} {self.value(kind, 2)}"
        if r < 0.7:
            return f"{self.value('pair', 2)} {rng.choice(['<', '>=', '=='])} {self.value('pair', 2)}"
        return f"{self.int(1)} {rng.choice(['<', '>=', '==', '!='])} {self.int(1)}"

    def literal(self, kind):
        rng = self.rng
        if kind == "int":
            return str(rng.randint(-9, 9))
        if kind == "float":
            return str(rng.randint(-40, 40) / 4)
        if kind == "pair":
            return f"({rng.randint(-3, 3)}, {rng.randint(0, 3)})"
        many = lambda item: ", ".join(self.literal(item) for _ in range(rng.randint(1, 4)))
        if kind in ITEMS:
            return f"[{many(ITEMS[kind])}]"
        if kind in SETS:
            return f"{{{many(SETS[kind])}}}"
        key, value = DICTS[kind]
        return "{" + ", ".join(f"{self.literal(key)}: {self.literal(value)}" for _ in range(rng.randint(1, 3))) + "}"

    def value(self, kind, depth=0):
        rng, r, held = self.rng, self.rng.random(), self.name(kind)
        if kind == "int":
            return self.small(depth)
        if held and r < (0.3 if kind in NUMBERS or depth > 1 else 0.12):
            return held  # of containers: another name of the same
        if kind == "float":
            l = self.name("floats")
            if l and r < 0.6 and depth < 3:
                return rng.choice([f"sum({l})", f"({l}[-1] if len({l}) > 0 else 0.25)", f"{self.value('float', depth + 1)} {rng.choice('+-')} 1.5"])
            return rng.choice([self.literal("float"), f"0.25 * ({self.small(depth + 1)})", f"abs({self.literal('float')})"])
        if kind == "pair":
            return f"({self.small(depth + 1)}, {self.small(depth + 1)})" if r < 0.8 or not held else f"({held}[1], {held}[0])"
        if depth > 1 or r < 0.3:
            return self.literal(kind)
        self.loops += 1
        v = f"c{self.loops}"
        if kind in ITEMS:
            return self.list(kind, held, v, depth)
        if kind in SETS:
            if held and r < 0.7:
                return rng.choice([f"{held} {rng.choice('|&^-')} {self.literal(kind)}", f"{held}.copy()", f"{held}.union({held})"])
            l = self.name("ints" if kind == "int set" else "pairs")
            return rng.choice([f"set({l})", f"{{{v} for {v} in {l}}}"]) if l else self.literal(kind)
        if held and r < 0.6:
            return f"{held}.copy()"
        key, item = DICTS[kind]
        return f"{{{v if key == 'int' else f'({v}, 1)'}: {self.value(item, 2)} for {v} in range({rng.randint(0, 4)})}}"

    def list(self, kind, held, v, depth):
        rng, item = self.rng, ITEMS[kind]
        choices = [f"[{self.value(item, 2)} for {v} in range({rng.randint(0, 4)})]", f"[{self.value(item, depth + 1)}]"]
        if held:
            cut = f"[{rng.choice(['', '1', '-2', '-9', '2'])}:{rng.choice(['', '-1', '9', '0', '3'])}:{rng.choice(['', '-1', '2', '-3'])}]"
            choices += [f"{held}{cut}", f"{held}{cut}", f"{held}.copy()", f"[{v} for {v} in {held} if {self.condition(1)}]", f"({held} + {self.literal(kind)})[:{MOST}]", f"{held}[:2] * {rng.randint(0, 3)}"]
            if kind != "lists":
                choices += [f"sorted({held})", f"sorted({held}, reverse=True)", f"list({held})"]
        if kind == "ints":
            for other, form in (("int set", "sorted({})"), ("int dict", "list({})"), ("int dict", "list({}.values())"), ("pairs", f"[{v}[0] for {v} in {{}}]"), ("lists", f"[len({v}) for {v} in {{}}]")):
                if self.names.get(other):
                    choices.append(form.format(self.name(other)))
        if kind == "pairs" and self.names.get("ints"):
            l = self.name("ints")
            choices += [f"list(zip({l}, {l}[1:]))", f"list(enumerate({l}))"]
        return rng.choice(choices)

    def of_list(self, kind):
        rng, l, item = self.rng, self.name(kind), self.value(ITEMS[kind], 1)
        longer = [f"{l}.append({item})", f"{l}.insert({self.int(2)}, {item})", f"{l}.extend(({self.value(kind, 1)})[:5])", f"{l} += ({self.value(kind, 1)})[:5]"]
        place = f"{self.int(2)} % len({l})"
        shorter = [f"{l}.pop()", f"{l}.pop({place})", f"del {l}[{place}]", f"{l}.remove({l}[{place}])", f"{l}[{place}] = {item}", f"{l}[{place}], {l}[0] = {l}[0], {l}[{place}]"]
        free = [f"{l}.reverse()", f"del {l}[{rng.randint(-3, 3)}:{rng.randint(-3, 6)}]", f"{l}[{rng.randint(-3, 3)}:{rng.randint(-3, 6)}] = ({self.value(kind, 1)})[:3]"]
        if kind != "lists":
            free += [f"{l}.sort()", f"{l}.sort(reverse=True)"]
        if kind == "pairs":
            free.append(f"{l}.sort(key=lambda p: p[1])")
        wild = [f"{l}.pop({self.int(2)})", f"{l}[{self.int(2)}] = {item}", f"{l}.remove({item})", f"k = {l}.index({item})", f"{l}.clear()"]
        r = rng.random()
        if r < 0.4:
            return [f"if len({l}) < {MOST}:", f"    {rng.choice(longer)}"]
        if r < 0.7:
            return [f"if len({l}) > 0:", f"    {rng.choice(shorter)}"]
        return [rng.choice(free)] if r < 0.9 else self.tried(rng.choice(wild))

    def tried(self, line):
        return [line] if self.rng.random() < 0.4 else ["try:", f"    {line}", "except Exception:", "    k += 1"]

    def of_dict(self, kind):
        rng, d = self.rng, self.name(kind)
        key, item = (self.value(k, 1) for k in DICTS[kind])
        held = self.names.get(DICTS[kind][0]) or []
        if rng.random() < 0.5 and held:
            key = rng.choice(held)
        same_size = [f"if {key} in {d}:", f"    {d}[{key}] = {item}"]
        if self.fixed:
            return same_size
        choices = [[f"{d}[{key}] = {item}"], same_size, [f"{d}.setdefault({key}, {item})"], [f"if {key} in {d}:", f"    del {d}[{key}]"], [f"{d}.update({self.value(kind, 1)})"],
                   [f"if len({d}) > 0:", f"    {d}.popitem()"], self.tried(f"{d}.pop({key})"), self.tried(f"del {d}[{key}]")]
        if kind == "list dict":
            choices += [[f"if {key} in {d} and len({d}[{key}]) < {MOST}:", f"    {d}[{key}].append({self.value('int', 1)})"]] * 2
            if self.names.get("ints"):
                choices.append(self.tried(f"{self.name('ints')} = {d}[{key}]"))
        else:
            choices += [[f"{d}[{key}] = {d}.get({key}, {item}) + 1"], self.tried(f"{d}[{key}] -= 1"), [f"{d}.pop({key}, {item})"], [f"{d}.clear()"] if rng.random() < 0.2 else [f"{d}[{key}] = {item}"]]
        return rng.choice(choices)

    def of_set(self, kind):
        rng, s, item = self.rng, self.name(kind), self.value(SETS[kind], 1)
        if self.fixed:
            return [f"k += int({item} in {s})"]
        other = self.value(kind, 1)
        return rng.choice([[f"{s}.add({item})"], [f"{s}.discard({item})"], self.tried(f"{s}.remove({item})"), [f"{s}.update({other})"], [f"{s} {rng.choice('|&^-')}= {other}"], [f"k += int({s}.{rng.choice(['isdisjoint', 'issubset', 'issuperset'])}({other}))"]])

    def loop(self, indent, depth):
        rng = self.rng
        self.loops += 1
        v = f"i{self.loops}"
        kind = rng.choice([*ITEMS, *SETS, *DICTS, "range", "while"])
        held = self.name(kind)
        inner = lambda: self.block(indent + "    ", depth + 1)
        tick = [f"{indent}    ticks += 1", f"{indent}    if ticks > 200:", f"{indent}        break"]  # lists may grow while a loop goes over them
        if kind == "while" and self.names.get("ints"):
            l = self.name("ints")
            return [f"{indent}while len({l}) > {rng.randint(0, 3)} and {self.condition(1)}:", *tick, f"{indent}    k = (k + {l}.pop()) % 97", *inner()]
        if not held:
            return [f"{indent}for {v} in range({rng.choice(['n', '3', '1, 4', '5, 0, -2'])}):", *self.within({"int": v}, inner)]
        if kind in ITEMS:
            if rng.random() < 0.3:
                return [f"{indent}for {v}, {v}x in {rng.choice(['enumerate({})', 'zip(range(3), {})']).format(held)}:", *tick, *self.within({"int": v, ITEMS[kind]: f"{v}x"}, inner)]
            return [f"{indent}for {v} in {rng.choice(['{}', '{}', '{}[::-1]']).format(held)}:", *tick, *self.within({ITEMS[kind]: v}, inner)]
        # What is done for each item may not depend on the order: the items of sets have none.
        adds = f"{indent}    k = (k + {{}}) % 97"
        if kind in SETS:
            return [f"{indent}for {v} in {held}:", adds.format(v if kind == "int set" else f"{v}[0] * 5 + {v}[1]")]
        self.fixed += 1
        if rng.random() < 0.5:
            lines = [f"{indent}for {v} in {held}{rng.choice(['', '.keys()'])}:", *self.within({DICTS[kind][0]: v}, inner)]
        else:
            lines = [f"{indent}for {v}, {v}x in {held}.items():", *self.within({DICTS[kind][0]: v, DICTS[kind][1]: f"{v}x"} if len(set(DICTS[kind])) == 2 else {"int": v}, inner)]
        self.fixed -= 1
        return lines

    def within(self, names, inner):
        before = {kind: list(held) for kind, held in self.names.items()}
        for kind, name in names.items():
            self.names.setdefault(kind, []).append(name)
        lines = inner()
        self.names = before
        return lines

    def block(self, indent, depth=0):
        rng, lines = self.rng, []
        for _ in range(rng.randint(1, 3)):
            r = rng.random()
            kind = rng.choice([k for k in self.names if self.names[k]])
            if r < 0.14 and depth < 2:
                lines += self.loop(indent, depth)
                if rng.random() < 0.2 and lines[-1].startswith(indent + "    "):
                    lines += [f"{indent}    if {self.condition()}:", f"{indent}        {rng.choice(['break', 'continue'])}"]
            elif r < 0.24 and depth < 3:
                lines += [f"{indent}if {self.condition()}:", *self.block(indent + "    ", depth + 1)]
                if rng.random() < 0.5:
                    lines += [f"{indent}else:", *self.block(indent + "    ", depth + 1)]
            elif r < 0.34:
                kind = kind if self.own(kind) else "int"
                lines.append(f"{indent}{rng.choice(self.own(kind))} = {self.value(kind)}")
            elif r < 0.4 and self.helper and not self.fixed and all(self.names.get(k) for k in self.helper):
                lines.append(f"{indent}k = g({', '.join(self.name(k) for k in self.helper)}) % 97")
            elif kind in ITEMS:
                lines += [indent + line for line in self.of_list(kind)]
            elif kind in DICTS:
                lines += [indent + line for line in self.of_dict(kind)]
            elif kind in SETS:
                lines += [indent + line for line in self.of_set(kind)]
            else:
                lines.append(f"{indent}{rng.choice(self.own('int'))} = {self.small(0)}")
        return lines

    def own(self, kind):
        """Names that are no loop's."""
        return [name for name in self.names[kind] if name[0] != "i"]

    def function(self, head, kinds, returned, blocks):
        """`kinds`: of the parameters, which are called p0, p1, …"""
        self.names = {"int": ["n", "k"]}
        for i, kind in enumerate(kinds):
            self.names.setdefault(kind, []).append(f"p{i}")
        lines = ["@compiled", f"def {head}({', '.join([*(f'p{i}' for i in range(len(kinds)))])}):", f"    n = {self.rng.randint(1, 4)}", "    k = ticks = 0"]
        made = []
        for i, kind in enumerate(self.rng.sample([*ITEMS, *SETS, *DICTS, "pair", "float"], 4) if returned else []):
            lines.append(f"    v{i} = {self.literal(kind)}")
            self.names.setdefault(kind, []).append(f"v{i}")
            made.append(f"v{i}")
        for _ in range(blocks):
            lines += self.block("    ")
        return [*lines, f"    return {', '.join(['k', *made, *(f'p{i}' for i in range(len(kinds)))]) if returned else 'k'}"]

    def argument(self, kind):
        if kind not in DICTS:
            return self.literal(kind)
        return f"typed({self.literal(kind)}, {DICTS[kind][0]!r}, {DICTS[kind][1]!r})"

    def program(self):
        rng = self.rng
        passed = [*ITEMS, *SETS, "int dict", "float dict", "pair dict", "int", "pair"]
        helper = rng.sample(passed, 2)
        lines = self.function("g", helper, False, 1)
        self.helper = helper
        kinds = rng.sample(passed, rng.randint(2, 4))
        lines += self.function("f", kinds, True, 4)
        for _ in range(3):
            lines.append(f"contained(f, {', '.join(self.argument(kind) for kind in kinds)})")
        return lines
