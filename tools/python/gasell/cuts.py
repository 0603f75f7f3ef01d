"""One text of the language over Dask's arrays: what of it is cut into tasks, and how their results come together with the bits of one process.

Arrays are cut along their first axis. Expressions whose rows depend on rows of the same numbers alone (operators, elementwise functions, reductions
of other axes) are computed block by block; reductions of the first axis too, where partial results come together in the engine's tree. All else
runs in the session of the caller, over arrays that are fetched whole.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import math

import numpy

from . import _gasell
from .array import Array
from .combining import GROUP, ROW_GROUP, in_tree, merge_variances
from .errors import InvalidArgument, error_class
from .function import function
from .session import Session, default_engine
from .written import TYPES, Written, is_written

ELEMENTWISE = frozenset("""abs absolute add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil clip conj conjugate copysign cos cosh
deg2rad divide equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod greater greater_equal hypot imag isfinite isinf isnan less
less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum mod multiply nan_to_num negative
not_equal positive power rad2deg real reciprocal remainder rint round sign sin sinc sinh sqrt square subtract tan tanh true_divide trunc
where""".split())
METHODS = frozenset(("astype", "clip", "conj", "conjugate", "round"))
REDUCTIONS = frozenset(("sum", "mean", "max", "min", "any", "all", "prod", "std", "var", "argmin", "argmax"))
# Arrays of fewer rows than this may be walked in another order (compiler/plan/reduction_order.cpp): no block has fewer, where all have more.
LEAST_ROWS = 32
# What the engine multiplies by its linear algebra library (compiler/plan/contraction.cpp), whose sums depend on how many rows there are, has so many
# columns, and so many products are summed; else each row is a sum of its own.
LEAST_OF_LIBRARY = 4


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
    result = _function(text)(*arguments)
    return tuple(map(numpy.array, result)) if isinstance(result, tuple) else numpy.array(result)


def row_counts(rows, block):
    """So many rows in blocks, of which none is much smaller than the others."""
    counts = [block] * (rows // block)
    rest = rows - block * len(counts)
    if counts and rest < LEAST_ROWS:
        counts[-1] += rest
    elif rest:
        counts.append(rest)
    return counts


class Program:
    """A text that runs: its session, which of its names are cut, and where tasks go."""

    def __init__(self, client, names, source_name="<python>"):
        import dask.array

        self.client = self.callers = client
        self.session, self.source_name = Session(default_engine()), source_name
        self.sources, self.cuts, self.whole_arrays, self.made = {}, {}, {}, 0
        self.assigned, self.connections = set(), {}
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
            return self.session.evaluate(text, source_name=self.source_name)
        result = None
        try:
            for statement in statements:
                result = self.statement(text, statement)
                self.assigned.update(node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        finally:
            for client in self.connections.values():
                client.close()
        return result

    def statement(self, text, statement):
        if self.of_connection(statement):
            return None
        if isinstance(statement, ast.Expr):
            value = self.value(statement.value)
            if isinstance(value, Cut):
                return self.fetched(value)
            return self.executed(text, statement if value is statement.value else ast.copy_location(ast.Expr(value), statement),
                                 value is not statement.value)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            if (address := self.scheduler(statement.value)) is not None:
                return self.connected(statement.targets[0].id, address)
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
        return self.session.evaluate("\n" * (line - 1) + written, source_name=self.source_name)

    # ---- clusters that the text names ----
    @staticmethod
    def scheduler(node):
        """The address in Client("tcp://…"); None of all else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Constant):
            return None
        called, address = node.func, node.args[0].value
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        return address if name == "Client" and isinstance(address, str) and address.partition("://")[0] in ("tcp", "tls", "ucx") else None

    def connected(self, name, address):
        """What follows goes to the cluster at this address, until client.close()."""
        from distributed import Client

        self.client = self.connections[name] = Client(address, set_as_default=False)

    def of_connection(self, statement):
        """client.close(): the tasks that follow go where the caller's go. All else of the client is refused."""
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & set(self.connections)
        if not names:
            return False
        call = statement.value if isinstance(statement, ast.Expr) else None
        closing = (isinstance(call, ast.Call) and not call.args and not call.keywords and isinstance(call.func, ast.Attribute) and call.func.attr == "close"
                   and isinstance(call.func.value, ast.Name))
        if not closing:
            raise error_class("NotImplementedError")("the client of a cluster elsewhere takes the work of what follows; all that it has of its own is close()")
        client = self.connections.pop(call.func.value.id)
        client.close()
        if self.client is client:
            self.client = self.callers
        return True

    # ---- expressions ----
    def is_source(self, node):
        return "da" not in self.assigned and is_written(node)

    def written(self, node):
        """It as a source; the text itself where it is no array with rows."""
        text = ast.unparse(node)
        value = self.session.evaluate(text)
        if not isinstance(value, Array) or value.ndim == 0 or value.size == 0:
            return node
        name = self.fresh()
        self.session[name] = value
        # A task of few elements costs more than they do.
        rows = max(max(self.session.evaluate(f"{name}.chunks")[0]), GROUP // max(math.prod(value.shape[1:]), 1))
        self.sources[name] = Written(text, value.shape, numpy.dtype(str(value.dtype)), ((min(rows, value.shape[0]),),))
        return Cut(name, frozenset([name]), {}, value.shape[0], self.cuts_meta(name))

    def value(self, node):
        """A Cut, or the expression with names of the session in the place of what was cut in it."""
        if self.is_source(node):
            return self.written(node)
        if not any(self.is_source(each) or isinstance(each, ast.Name) and each.id in self.cuts for each in ast.walk(node)):
            return node
        if isinstance(node, ast.Name):
            return self.cuts.get(node.id, node) if isinstance(node.ctx, ast.Load) else node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return self.product(node)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)) and not isinstance(node.op, ast.Not):
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
                name, value = self.evaluated(part)
                shape = getattr(value, "shape", ())
                fits = fits and (len(shape) < cuts[0].meta.ndim or shape[0] == 1 and len(shape) == cuts[0].meta.ndim)
                values[name] = value
                nodes.append(ast.Name(name, ast.Load()))
        if fits:
            return self.cut(written(nodes), arrays, values, cuts[0].rows)
        wholes = [ast.Name(self.bound(self.fetched(part)), ast.Load()) if isinstance(part, Cut) else node for part, node in zip(parts, nodes)]
        return ast.parse(written(wholes), mode="eval").body

    def product(self, node):
        """rows @ something whole, where the engine's sum of a row does not depend on how many rows there are."""
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, Cut) and left.meta.ndim == 2 and not isinstance(right, Cut):
            name = self.named(right)
            factor = self.session[name]
            shape, kind = tuple(getattr(factor, "shape", ())), getattr(getattr(factor, "dtype", None), "kind", "")
            exact = left.meta.dtype.kind in "biu" and kind in "biu"
            if len(shape) in (1, 2) and shape[0] == left.meta.shape[1] and (exact or len(shape) == 1 or min(shape) < LEAST_OF_LIBRARY):
                return self.cut(f"{left.expression} @ {name}", left.arrays, {**left.values, name: numpy.asarray(factor)}, left.rows)
            right = ast.Name(name, ast.Load())
        sides = [ast.Name(self.bound(self.fetched(side)), ast.Load()) if isinstance(side, Cut) else side for side in (left, right)]
        return ast.copy_location(ast.BinOp(sides[0], node.op, sides[1]), node)

    def named(self, node):
        """A name of the session for the value of an expression, which stays as lazy as it is."""
        name = self.fresh()
        self.session.evaluate(f"{name} = {ast.unparse(node)}")
        return name

    def evaluated(self, node):
        """A name of the session for the value of an expression, and the value."""
        name = self.named(node)
        value = self.session[name]
        return name, numpy.asarray(value) if isinstance(value, Array) else value

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
        ddof, keywords = self.ddof_of(operation, node.keywords)
        axis = self.axis_of(arguments, keywords)
        cut = self.value(operand) if axis is not None and ddof is not None else None
        if not isinstance(cut, Cut) or cut.rows == 0 or cut.meta.dtype.kind == "f" and cut.meta.dtype.itemsize < 4:
            return self.whole(node)
        if cut.meta.dtype.kind == "c" and operation in ("prod", "std", "var", "argmin", "argmax"):
            return self.whole(node)
        axis = axis if axis == "all" else axis % cut.meta.ndim if -cut.meta.ndim <= axis < cut.meta.ndim else None
        if axis is None:
            return self.whole(node)
        if axis not in ("all", 0):
            options = f"axis={axis}" + (f", ddof={ddof}" if operation in ("std", "var") else "")
            return self.cut(f"{cut.expression}.{operation}({options})", cut.arrays, cut.values, cut.rows)
        flat = axis == "all" or cut.meta.ndim == 1
        row = math.prod(cut.meta.shape[1:])
        if row == 0 or operation in ("std", "var") and cut.rows * (row if flat else 1) <= ddof:
            return self.whole(node)
        return ast.Name(self.bound(self.reduction(cut, operation, flat, row, ddof)), ast.Load())

    @staticmethod
    def ddof_of(operation, keywords):
        """The ddof= of std and var, None where it is no plain number, and the other keywords."""
        given = [keyword for keyword in keywords if keyword.arg == "ddof"] if operation in ("std", "var") else []
        rest = [keyword for keyword in keywords if keyword not in given]
        if not given:
            return 0, rest
        constant = isinstance(given[0].value, ast.Constant) and type(given[0].value.value) is int
        return given[0].value.value if constant else None, rest

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

    def reduction(self, cut, operation, flat, row, ddof):
        if operation in ("max", "min", "any", "all"):
            parts = self.tasks(cut, f"return {cut.expression}.{operation}({'' if flat else 'axis=0'})", 1)
            return self.session.evaluate(f"np.{operation}({self.bound(numpy.stack(parts))}, axis=0)")
        if operation in ("argmin", "argmax"):
            return self.place(cut, operation, flat)
        if operation in ("std", "var"):
            return self.variance(cut, operation, flat, row, ddof)
        expression = cut.expression
        if operation == "mean" and cut.meta.dtype.kind in "biu":
            expression = f"{expression}.astype('float64')"
        of_group = "prod" if operation == "prod" else "sum"
        total = in_tree(self.groups(cut, expression, f"{{}}.{of_group}({{}})", flat, row), numpy.multiply if operation == "prod" else numpy.add)
        if operation == "mean":
            total = total / total.dtype.type(cut.rows * row if flat else cut.rows)
        return total

    def groups(self, cut, expression, state, flat, row):
        """What `state`, of elements and an axis, gives of each of the engine's groups of elements; of rows, where these are reduced."""
        size = GROUP if flat else ROW_GROUP
        using = "import _numpy\n    " if "_numpy." in state else ""
        body = (f"{using}part = {expression}{'.reshape(-1)' if flat else ''}\n"
                f"    return np.stack([{state.format(f'part[k:k + {size}]', 'axis=None' if flat else 'axis=0')} for k in range(0, len(part), {size})])")
        return numpy.concatenate(self.tasks(cut, body, GROUP // math.gcd(GROUP, row) if flat else ROW_GROUP))

    def place(self, cut, operation, flat):
        """argmin and argmax: where the first of the best is, or of NaNs, by the places in blocks and what lies there."""
        axis = "" if flat else "axis=0"
        body = (f"part = {cut.expression}{'.reshape(-1)' if flat else ''}\n"
                f"    return part.{operation}({axis}), part.{operation[3:]}({axis}), len(part)")
        places, best, lengths = (numpy.stack(each) for each in zip(*self.tasks(cut, body, 1)))
        begins = numpy.cumsum(lengths) - lengths
        block = self.session.evaluate(f"np.{operation}({self.bound(best)}, axis=0)")
        places = places + begins.reshape(-1, *[1] * (places.ndim - 1))
        return numpy.take_along_axis(places, numpy.asarray(block)[None], axis=0)[0]

    def variance(self, cut, operation, flat, row, ddof):
        count = cut.rows * row if flat else cut.rows
        parts = self.groups(cut, cut.expression, "np.stack(_numpy.variance_parts({}, {}))", flat, row)
        counts = numpy.full(len(parts), GROUP if flat else ROW_GROUP, "float64")
        counts[-1] = count - counts[:-1].sum()
        counts = numpy.broadcast_to(counts.reshape(-1, *[1] * (parts.ndim - 1)), parts[:, :1].shape)
        spread = in_tree(numpy.concatenate([counts, parts], axis=1), merge_variances)[3]
        kind = cut.meta.dtype.type if cut.meta.dtype.kind == "f" else numpy.float64
        variance = kind(spread / (count - ddof)) if flat else (spread / (count - ddof)).astype(kind)
        return numpy.sqrt(variance) if operation == "std" else variance

    # ---- tasks ----
    def tasks(self, cut, body, unit):
        """What tasks give over blocks of rows, each but the last of a multiple of `unit` rows."""
        import dask

        arrays = [self.sources[name] for name in sorted(cut.arrays)]
        wanted = max(LEAST_ROWS, *(max(array.chunks[0]) for array in arrays))
        blocks = [self.blocks(array, row_counts(cut.rows, -(-wanted // unit) * unit)) for array in arrays]
        made = "".join(f"{name} = ({self.sources[name].text})[{name}[0]:{name}[1]]\n    " for name in sorted(cut.arrays)
                       if isinstance(self.sources[name], Written))
        text = self.task(made + body, cut.arrays, cut.values)
        task = dask.delayed(run_task, pure=False)
        return self.computed([task(_gasell.version(), text, *each, *cut.values.values()) for each in zip(*blocks)])

    @staticmethod
    def blocks(array, counts):
        """The blocks of so many rows each; of what is written, from which row on to which."""
        if isinstance(array, Written):
            ends = list(itertools.accumulate(counts))
            return list(zip([0, *ends], ends))
        return array.rechunk({0: tuple(counts), **{axis: -1 for axis in range(1, array.ndim)}}).to_delayed().ravel()

    def computed(self, collections):
        import dask

        if self.client is None:
            return dask.compute(*collections)
        return self.client.gather(self.client.compute(list(collections)))

    # ---- whole arrays ----
    def fetched(self, cut):
        if isinstance(self.sources.get(cut.expression), Written):
            return self.session[cut.expression]  # made here as well as anywhere
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
