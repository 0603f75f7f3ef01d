"""One text of the language over Dask's arrays: what of it is cut into tasks, and how their results come together with the bits of one process.

Arrays are cut along their first axis. Expressions whose rows depend on rows of the same numbers alone (operators, elementwise functions, reductions
of other axes) are computed block by block; reductions of the first axis too, where partial results come together in the engine's tree. All else
runs in the session of the caller, over arrays that are fetched whole.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import math

import numpy

from . import _gasell
from .array import Array
from .errors import InvalidArgument
from .function import function
from .session import Session, default_engine

# The engine's reductions (compiler/plan/reduction_lowering.h): a sum's groups of elements, those of rows where columns are summed, and how many
# partial sums of groups, and of these, come together in a step.
GROUP, ROW_GROUP, STEP = 65536, 1024, 64

ELEMENTWISE = frozenset("""abs absolute add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil clip conj conjugate copysign cos cosh
deg2rad divide equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod greater greater_equal hypot imag isfinite isinf isnan less
less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum mod multiply nan_to_num negative
not_equal positive power rad2deg real reciprocal remainder rint round sign sin sinc sinh sqrt square subtract tan tanh true_divide trunc
where""".split())
METHODS = frozenset(("astype", "clip", "conj", "conjugate", "round"))
TYPES = frozenset(("bool", "int", "float", "complex"))
REDUCTIONS = frozenset(("sum", "mean", "max", "min", "any", "all"))


@dataclasses.dataclass
class Cut:
    """An expression over blocks of arrays, and over values that all tasks get."""

    expression: str
    arrays: frozenset[str]
    values: dict[str, object]
    rows: int
    meta: numpy.ndarray  # of no rows: what a block is like


@functools.lru_cache(maxsize=256)
def _function(text):
    return function(text)


def run_task(version, text, *arguments):
    """A task, on whatever worker."""
    if version != _gasell.version():
        raise InvalidArgument(f"the worker has Gasell {_gasell.version()}, who asks has {version}: the same version is wanted everywhere")
    return numpy.array(_function(text)(*arguments))


def tree_sum(parts):
    """Partial sums of groups, in order along the first axis, as the engine adds them."""
    while len(parts) > 1:
        sums = []
        for first in range(0, len(parts), STEP):
            group = parts[first:first + STEP].copy()
            width = STEP // 2
            while width:
                count = min(width, max(len(group) - width, 0))
                group[:count] += group[width:width + count]
                width //= 2
            sums.append(group[0])
        parts = numpy.stack(sums)
    return parts[0]


class Program:
    """A text that runs: its session, which of its names are cut, and where tasks go."""

    def __init__(self, client, names):
        import dask.array

        self.client = client
        self.session = Session(default_engine())
        self.sources, self.cuts, self.whole_arrays, self.made = {}, {}, {}, 0
        whole = {}
        for name, value in names.items():
            if isinstance(value, dask.array.Array) and value.ndim and not math.isnan(sum(value.shape)):
                self.sources[name] = value
                meta = numpy.empty((0, *value.shape[1:]), value.dtype)
                self.cuts[name] = Cut(name, frozenset([name]), {}, value.shape[0], meta)
            else:
                whole[name] = value
        collections = [name for name, value in whole.items() if dask.is_dask_collection(value)]
        computed = self.computed([whole[name] for name in collections])
        for name, value in {**whole, **dict(zip(collections, computed))}.items():
            self.session[name] = value

    # ---- statements ----
    def run(self, text):
        """Runs the statements; the value of the last one where it is an expression."""
        try:
            statements = ast.parse(text).body
        except SyntaxError:  # which Gasell words
            return self.session.evaluate(text)
        result = None
        for statement in statements:
            result = self.statement(text, statement)
        return result

    def statement(self, text, statement):
        if isinstance(statement, ast.Expr):
            value = self.value(statement.value)
            if isinstance(value, Cut):
                return self.fetched(value)
            return self.executed(text, statement if value is statement.value else ast.copy_location(ast.Expr(value), statement),
                                 value is not statement.value)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            value, name = self.value(statement.value), statement.targets[0].id
            if isinstance(value, Cut):
                self.cuts[name] = value
                return None
            self.cuts.pop(name, None)
            made = ast.copy_location(ast.Assign(statement.targets, value), statement)
            return self.executed(text, made, value is not statement.value)
        self.whole_names(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                self.cuts.pop(node.id, None)
        return self.executed(text, statement, False)

    def executed(self, text, statement, changed):
        """Runs a statement in the session, at its line; where nothing changed in it, as it is written."""
        line = statement.lineno
        if changed:
            written = ast.unparse(ast.fix_missing_locations(statement))
        elif decorators := getattr(statement, "decorator_list", None):
            line = min(each.lineno for each in decorators)
            written = "\n".join(text.splitlines()[line - 1:statement.end_lineno])
        else:
            written = ast.get_source_segment(text, statement)
        return self.session.evaluate("\n" * (line - 1) + written)

    # ---- expressions ----
    def value(self, node):
        """A Cut, or the expression with names of the session in the place of what was cut in it."""
        if not any(isinstance(each, ast.Name) and each.id in self.cuts for each in ast.walk(node)):
            return node
        if isinstance(node, ast.Name):
            return self.cuts.get(node.id, node) if isinstance(node.ctx, ast.Load) else node
        if isinstance(node, (ast.BinOp, ast.UnaryOp)) and not isinstance(getattr(node, "op", None), (ast.MatMult, ast.Not)):
            return self.mapped(node, ["left", "right"] if isinstance(node, ast.BinOp) else ["operand"])
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return self.compared(node)
        if isinstance(node, ast.Subscript):
            return self.indexed(node)
        if isinstance(node, ast.Call):
            return self.called(node)
        return self.whole(node)

    def mapped(self, node, fields):
        parts = [self.value(getattr(node, field)) for field in fields]
        return self.combined(parts, lambda texts: self.with_parts(node, fields, texts))

    @staticmethod
    def with_parts(node, fields, texts):
        made = type(node)(**{**dict(ast.iter_fields(node)), **{field: text for field, text in zip(fields, texts)}})
        return ast.unparse(ast.fix_missing_locations(ast.Expression(made)))

    def compared(self, node):
        parts = [self.value(node.left), self.value(node.comparators[0])]
        return self.combined(parts, lambda texts: ast.unparse(ast.fix_missing_locations(ast.Compare(texts[0], node.ops, [texts[1]]))))

    def indexed(self, node):
        """x[:, …]: rows stay where they are."""
        index = node.slice
        first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else None
        is_all = isinstance(first, ast.Slice) and first.lower is None and first.upper is None and first.step is None
        simple = is_all and not any(isinstance(each, (ast.Name, ast.Call, ast.List)) for each in ast.walk(index))
        base = self.value(node.value) if simple else None
        if not isinstance(base, Cut):
            return self.whole(node)
        return self.combined([base], lambda texts: self.with_parts(node, ["value"], texts))

    def called(self, node):
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            return self.whole(node)
        called = node.func
        if isinstance(called, ast.Name) and called.id == "abs" and len(node.args) == 1 and not node.keywords:
            return self.arguments_mapped("abs", node)
        if not isinstance(called, ast.Attribute):
            return self.whole(node)
        if isinstance(called.value, ast.Name) and called.value.id in ("np", "numpy") and called.value.id not in self.cuts:
            if called.attr in ELEMENTWISE:
                return self.arguments_mapped(f"np.{called.attr}", node)
            if called.attr in REDUCTIONS and node.args:
                return self.reduced(node, called.attr, node.args[0], node.args[1:])
        elif called.attr in REDUCTIONS:
            return self.reduced(node, called.attr, called.value, node.args)
        elif called.attr in METHODS:
            base = self.value(called.value)
            constant = all(isinstance(each, (ast.Constant, ast.UnaryOp)) or isinstance(each, ast.Name) and each.id in TYPES
                           for each in (*node.args, *(keyword.value for keyword in node.keywords)))
            if isinstance(base, Cut) and constant:
                rest = ast.unparse(ast.Call(ast.Name("f"), node.args, node.keywords))[1:]
                return self.combined([base], lambda texts: f"({ast.unparse(texts[0])}).{called.attr}{rest}")
        return self.whole(node)

    def arguments_mapped(self, name, node):
        if node.keywords:
            return self.whole(node)
        parts = [self.value(each) for each in node.args]
        return self.combined(parts, lambda texts: f"{name}({', '.join(ast.unparse(each) for each in texts)})")

    def combined(self, parts, written):
        """An elementwise operation of these; whole arrays where rows would not stay beside each other."""
        cuts = [part for part in parts if isinstance(part, Cut)]
        if not cuts:
            return ast.parse(written(parts), mode="eval").body
        arrays, values, nodes = frozenset().union(*(cut.arrays for cut in cuts)), {}, []
        fits = len({(cut.rows, cut.meta.ndim) for cut in cuts}) == 1
        for part in parts:
            if isinstance(part, Cut):
                values.update(part.values)
                nodes.append(ast.parse(part.expression, mode="eval").body)
            elif isinstance(part, ast.Constant):
                nodes.append(part)
            else:
                name = self.fresh()
                value = self.session.evaluate(ast.unparse(part))
                value = numpy.asarray(value) if isinstance(value, Array) else value
                shape = getattr(value, "shape", ())
                fits = fits and (len(shape) < cuts[0].meta.ndim or shape[0] == 1 and len(shape) == cuts[0].meta.ndim)
                values[name] = value
                self.session[name] = value
                nodes.append(ast.Name(name, ast.Load()))
        if fits:
            return self.cut(written(nodes), arrays, values, cuts[0].rows)
        wholes = [ast.Name(self.bound(self.fetched(part)), ast.Load()) if isinstance(part, Cut) else part for part in parts]
        return ast.parse(written(wholes), mode="eval").body

    def cut(self, expression, arrays, values, rows):
        meta = numpy.asarray(self.call(f"({expression})", arrays, values, {name: self.cuts_meta(name) for name in arrays}))
        return Cut(f"({expression})", arrays, values, rows, meta)

    def cuts_meta(self, name):
        source = self.sources[name]
        return numpy.empty((0, *source.shape[1:]), source.dtype)

    def call(self, expression, arrays, values, given):
        return _function(self.task(f"return {expression}", arrays, values))(*(given[name] for name in sorted(arrays)), *values.values())

    @staticmethod
    def task(body, arrays, values):
        return f"def task({', '.join([*sorted(arrays), *values])}):\n    {body}\n"

    # ---- reductions ----
    def reduced(self, node, operation, operand, arguments):
        axis = self.axis_of(arguments, node.keywords)
        cut = self.value(operand) if axis is not None else None
        if not isinstance(cut, Cut) or cut.rows == 0 or cut.meta.dtype.kind == "f" and cut.meta.dtype.itemsize < 4:
            return self.whole(node)
        axis = axis if axis == "all" else axis % cut.meta.ndim if -cut.meta.ndim <= axis < cut.meta.ndim else None
        if axis is None:
            return self.whole(node)
        if axis not in ("all", 0):
            return self.cut(f"{cut.expression}.{operation}(axis={axis})", cut.arrays, cut.values, cut.rows)
        flat = axis == "all" or cut.meta.ndim == 1
        return ast.Name(self.bound(self.reduction(cut, operation, flat)), ast.Load())

    @staticmethod
    def axis_of(arguments, keywords):
        """ "all", a number, or None where it is something else."""
        given = list(arguments)
        if len(given) > 1 or any(keyword.arg != "axis" for keyword in keywords) or given and keywords:
            return None
        given += [keyword.value for keyword in keywords]
        if not given:
            return "all"
        try:
            axis = ast.literal_eval(given[0])
        except ValueError:
            return None
        return "all" if axis is None else axis if type(axis) is int else None

    def reduction(self, cut, operation, flat):
        row = math.prod(cut.meta.shape[1:])
        if operation not in ("sum", "mean"):
            parts = self.tasks(cut, f"return {cut.expression}.{operation}({'' if flat else 'axis=0'})", 1)
            return self.session.evaluate(f"np.{operation}({self.bound(numpy.stack(parts))}, axis=0)")
        expression = cut.expression
        if operation == "mean" and cut.meta.dtype.kind in "biu":
            expression = f"{expression}.astype('float64')"
        if row == 0:
            return self.session.evaluate(f"np.zeros({(cut.rows, *cut.meta.shape[1:])}, '{cut.meta.dtype}').{operation}({'' if flat else 'axis=0'})")
        if flat:
            body = f"part = {expression}.reshape(-1)\n    return np.array([part[k:k + {GROUP}].sum() for k in range(0, part.size, {GROUP})])"
            parts = self.tasks(cut, body, GROUP // math.gcd(GROUP, row))
        else:
            body = (f"part = {expression}\n"
                    f"    return np.stack([part[k:k + {ROW_GROUP}].sum(axis=0) for k in range(0, len(part), {ROW_GROUP})])")
            parts = self.tasks(cut, body, ROW_GROUP)
        total = tree_sum(numpy.concatenate(parts))
        if operation == "mean":
            total = total / total.dtype.type(cut.rows * row if flat else cut.rows)
        return total

    # ---- tasks ----
    def tasks(self, cut, body, unit):
        """What tasks give over blocks of rows, each but the last of a multiple of `unit` rows."""
        import dask

        arrays = [self.sources[name] for name in sorted(cut.arrays)]
        wanted = max(max(array.chunks[0]) for array in arrays)
        rows = -(-wanted // unit) * unit
        blocks = [array.rechunk({0: rows, **{axis: -1 for axis in range(1, array.ndim)}}).to_delayed().ravel() for array in arrays]
        text = self.task(body, cut.arrays, cut.values)
        task = dask.delayed(run_task, pure=False)
        return self.computed([task(_gasell.version(), text, *each, *cut.values.values()) for each in zip(*blocks)])

    def computed(self, collections):
        import dask

        if self.client is None:
            return dask.compute(*collections)
        return self.client.gather(self.client.compute(list(collections)))

    # ---- whole arrays ----
    def fetched(self, cut):
        if cut.expression not in self.whole_arrays:
            self.whole_arrays[cut.expression] = self.session.asarray(numpy.concatenate(self.tasks(cut, f"return {cut.expression}", 1)))
        return self.whole_arrays[cut.expression]

    def fresh(self):
        self.made += 1
        return f"_cut_{self.made}"

    def bound(self, value):
        name = self.fresh()
        self.session[name] = value
        return name

    def whole_names(self, node):
        """Binds what is cut in a statement as a whole."""
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id in self.cuts:
                self.session[each.id] = self.fetched(self.cuts.pop(each.id))

    def whole(self, node):
        """An expression that is not cut itself: reductions in it are, and arrays that are left are fetched."""
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):  # names in it may be its own
            self.whole_names(node)
            return node
        fields = {}
        for field, child in ast.iter_fields(node):
            if isinstance(child, list):
                fields[field] = [self.part(each) for each in child]
            else:
                fields[field] = self.part(child)
        return ast.copy_location(type(node)(**fields), node)

    def part(self, child):
        if isinstance(child, ast.expr):
            value = self.value(child)
            return ast.Name(self.bound(self.fetched(value)), ast.Load()) if isinstance(value, Cut) else value
        return self.whole(child) if isinstance(child, (ast.keyword, ast.FormattedValue)) else child
