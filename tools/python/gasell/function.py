"""Functions of the language, and Python functions whose source is one."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import textwrap
import types

from . import _gasell
from .errors import error_class
from .operators import with_operators
from .session import Session, default_session

_operate = _gasell.operate


class Function(_gasell.Callable):
    """A function of a session. Arrays are handed over without copies; scalars come back as Python's numbers, arrays as gasell.Array."""

    __slots__ = ("__weakref__",)

    @property
    def __name__(self):
        return _operate(self.session, "lambda f: f.__name__", self)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._attribute(name, False)

    def __repr__(self):
        return _operate(self.session, "lambda f: repr(f)", self)


@with_operators
class Object(_gasell.Callable):
    """A value of a session that Python has no type for: attributes are the value's own, and it can be called where it can be there."""

    __slots__ = ("__weakref__",)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"'{self._type_name()}' object has no attribute '{name}'")
        return self._attribute(name, False)

    def __hash__(self):
        return int(_operate(self.session, "lambda a: hash(a)", self))

    def __array__(self, dtype=None, copy=None):
        """An array of times, durations or texts as NumPy's."""
        import numpy as np

        if self._type_name() != "ndarray":
            raise TypeError(f"a '{self._type_name()}' is no array")
        name = _operate(self.session, "lambda a: str(a.dtype)", self)
        if name.startswith(("datetime64", "timedelta64")):
            numbers = np.array(_operate(self.session, "lambda a: a.astype('int64')", self))
            array = numbers.view("M8[ns]" if name.startswith("datetime64") else "m8[ns]")
        else:
            array = np.array(_operate(self.session, "lambda a: a.tolist()", self), dtype=object if name == "object" else None)
        return array if dtype is None else array.astype(dtype)



class _Recipe:
    """How a function is made in a session: the text, its place, and the names that it uses."""

    def __init__(self, name, text, source, line, names):
        self.name, self.text, self.source, self.line, self.names = name, text, source, line, names

    def make(self, session, making=()):
        """The function, made in the session. `making`: the recipes that are at it, which may be of functions that call each other."""
        self.bind(session, self.names, (*making, self))
        session._evaluate("\n" * (self.line - 1) + self.text, self.source)
        return session._get(self.name)

    def bind(self, session, names, making=()):
        """Gives a session names that the function uses."""
        for name, value in names.items():
            if isinstance(value, _Module):
                session._evaluate(f"import {value.name} as {name}" if value.name != name else f"import {name}", self.source)
            elif isinstance(value, _Recipe):
                if value not in making:
                    made = value.make(session, making)
                    if value.name != name:
                        session._bind(name, made)
            else:
                session._bind(name, value)

    def missing(self, function):
        """Global names of a function that its module did not have yet, and has now."""
        found = {name: value for name, value in _names_used(function, function.__code__).items() if name not in self.names}
        return _bound(found, function)


class _Module:
    def __init__(self, name):
        self.name = name


class JitFunction(Function):
    """A compiled function: one machine code for each set of argument types, called past the session where it is of numbers and arrays.

    It can be pickled (its text goes along), keeps the Python function as `py_func`, and lets other threads run while it computes.
    """

    def __new__(cls, recipe, py_func=None):
        # A session of its own: the names that it uses are its module's, not the default session's.
        made = recipe.make(Session(default_session().engine))
        self = super().__new__(cls, made)
        self.recipe = recipe
        self.py_func = py_func
        if py_func is not None:
            functools.update_wrapper(self, py_func, updated=())
        return self

    @property
    def __name__(self):
        return self.recipe.name

    @__name__.setter
    def __name__(self, name):
        pass  # update_wrapper copies the function's own

    @property
    def __text_signature__(self):
        return None

    def _in(self, session):
        """The function made anew in another session."""
        return self.recipe.make(session)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self):
        return JitFunction, (self.recipe,)

    def __repr__(self):
        return f"<gasell function {self.recipe.name}>"


class _EarlyFunction(JitFunction):
    """One that uses names which its module gets later, as functions that call each other do: they are looked up at the first call."""

    def __call__(self, *args, **kwargs):
        late = self.recipe.missing(self.py_func)
        self.recipe.bind(self.session, late, (self.recipe,))
        self.recipe.names.update(late)
        result = super().__call__(*args, **kwargs)
        self.__class__ = JitFunction  # all of them were there
        return result


def _compiled(function, decorator):
    recipe = _recipe_of(function, decorator)
    own = {function.__name__, *function.__code__.co_freevars}
    unknown = [name for name in _global_names(function.__code__)
               if name not in recipe.names and name not in function.__globals__ and name not in own and not hasattr(builtins, name)]
    return (_EarlyFunction if unknown else JitFunction)(recipe, function)


def _global_names(code):
    """The names that code looks up in its module."""
    names, pending = set(), [code]
    while pending:
        each = pending.pop()
        pending.extend(constant for constant in each.co_consts if isinstance(constant, types.CodeType))
        names.update(instruction.argval for instruction in dis.get_instructions(each) if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return names


def _decorators(node, function):
    """The decorators of a definition as texts, without this package's, by whatever names they go."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    kept = []
    for each in node.decorator_list:
        named = each.func if isinstance(each, ast.Call) else each
        parts = ast.unparse(named).split(".")
        found = function.__globals__.get(parts[0])
        if found is None and parts[0] in closure:
            found = closure[parts[0]].cell_contents
        for part in parts[1:]:
            found = getattr(found, part, None)
        is_ours = found in (jit, globals()["function"]) or parts[-1] in ("jit", "function") and parts[0] not in ("numba", "nb")
        if not is_ours:
            kept.append(ast.unparse(each))
    return kept


def _names_used(function, code):
    """The global names and closure variables that a function's code uses, with their values."""
    closure = dict(zip(code.co_freevars, function.__closure__ or ()))
    names = {}
    for name in _global_names(code):
        if name in function.__globals__:
            names[name] = function.__globals__[name]
    for name, cell in closure.items():
        try:
            names[name] = cell.cell_contents
        except ValueError:
            raise error_class("NameError")(f"name '{name}' is not defined yet where '{function.__name__}' is compiled") from None
    return names


def _bound(names, function):
    bound = {}
    for name, value in names.items():
        if value is function or name == function.__name__:
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] != "gasell":
                bound[name] = _Module(value.__name__)
        elif isinstance(value, JitFunction):
            bound[name] = value.recipe
        elif isinstance(value, types.FunctionType):
            bound[name] = _recipe_of(value, "")
        elif isinstance(value, (types.BuiltinFunctionType, type)) and getattr(value, "__module__", "") in ("math", "builtins"):
            if value.__module__ == "math":
                raise error_class("TypeError")(f"'{name}' of the module math: write math.{value.__name__}")
        else:
            bound[name] = value
    return bound


def _recipe_of(function, decorator):
    """The recipe of a Python function by its source text."""
    try:
        lines, line = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise error_class("TypeError")(f"the source of {function!r} cannot be had: give gasell.function() a text") from error
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text)
    definition = tree.body[0]
    if isinstance(definition, ast.FunctionDef):
        # The text from `def` on, at its own lines; decorators other than ours stand before it.
        kept = _decorators(definition, function)
        first = definition.lineno
        body = "\n".join(text.splitlines()[first - 1:])
        above = [f"@{each}" for each in ([decorator] if decorator and not kept else []) + kept]
        name = definition.name
        text = "\n".join([*above, body])
        line += first - 1 - len(above)
    else:
        lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
        if len(lambdas) != 1:
            raise error_class("TypeError")("the line of a lambda must have just that lambda")
        name = "lambda_function"
        made = ast.unparse(lambdas[0])
        text = f"{name} = {decorator}({made})" if decorator else f"{name} = {made}"
    names = _bound(_names_used(function, function.__code__), function)
    return _Recipe(name, text + "\n", inspect.getsourcefile(function) or "<python>", max(line, 1), names)


def _options(options):
    allowed = ("parallel", "fastmath", "boundscheck", "nogil", "cache", "error_model", "inline", "nopython", "forceobj")
    for name in options:
        if name not in allowed:
            raise error_class("TypeError")(f"jit() got an unexpected keyword argument '{name}'")
    options = {name: value for name, value in options.items() if name != "nogil"}  # the GIL is always let go
    return f"njit({', '.join(f'{name}={value!r}' for name, value in options.items())})" if options else "njit"


def jit(function=None, /, **options):
    """Compiles a Python function as @njit does in a .gsl file; its source is what is compiled.

    options: parallel, fastmath, boundscheck, cache, error_model, inline, as in the language. Global names that it uses are taken as they are
    now: numbers, arrays, modules, other functions. Raises gasell.Error where the source is none of the language's, at the call.
    """
    if function is None:
        return functools.partial(jit, **options)
    if isinstance(function, JitFunction):
        return function
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"jit() wants a Python function, not '{type(function).__name__}'")
    return _compiled(function, _options(options))


def function(text_or_function, /, *, name=None):
    """A function of a text, or of a Python function's source.

    A text is that of a `def`, decorated or not, or of an expression such as a lambda; the last definition counts unless `name` says which.
    A function that is not decorated is interpreted: its arrays are lazy, and fuse with what is done with the result.
    """
    if isinstance(text_or_function, types.FunctionType):
        return _compiled(text_or_function, "")
    if not isinstance(text_or_function, str):
        raise TypeError(f"function() wants a text or a Python function, not '{type(text_or_function).__name__}'")
    text = textwrap.dedent(text_or_function).strip("\n")
    if name is None:
        name = _last_definition(text)
    if name is None:
        name, text = "expression", f"expression = ({text.strip()})"
    return JitFunction(_Recipe(name, text + "\n", "<python>", 1, {}))


def _last_definition(text):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return names[-1] if names else None
