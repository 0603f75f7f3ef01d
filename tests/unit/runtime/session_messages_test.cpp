// The words of TypeError and its kin, one expression each. The expected words are CPython's.
#include "session_run.h"

using namespace gasell;

namespace {

constexpr const char* kDefinitions = R"gsl(def f(a, b=2, *args, c, d=4, **kw):
    return (a, b, args, c, d, kw)
def g(a, /, b, *, c=1): return (a,b,c)
def t(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, e, sep=': ')
)gsl";

struct Case {
  const char* expression;
  const char* printed;
};
const Case kCases[] = {
    {R"(f(1))", R"(TypeError: f() missing 1 required keyword-only argument: 'c')"},
    {R"(f())", R"(TypeError: f() missing 1 required positional argument: 'a')"},
    {R"(g())", R"(TypeError: g() missing 2 required positional arguments: 'a' and 'b')"},
    {R"(g(1))", R"(TypeError: g() missing 1 required positional argument: 'b')"},
    {R"(g(1,2,3))", R"(TypeError: g() takes 2 positional arguments but 3 were given)"},
    {R"(g(1,2,3,c=4))",
     R"(TypeError: g() takes 2 positional arguments but 3 positional arguments (and 1 keyword-only argument) were given)"},
    {R"(g(a=1,b=2))", R"(TypeError: g() got some positional-only arguments passed as keyword arguments: 'a')"},
    {R"(g(1,2,x=2))", R"(TypeError: g() got an unexpected keyword argument 'x')"},
    {R"(g(1,2,b=2))", R"(TypeError: g() got multiple values for argument 'b')"},
    {R"((lambda x, y, z: 1)())", R"(TypeError: <lambda>.<locals>.<lambda>() missing 3 required positional arguments: 'x', 'y', and 'z')"},
    {R"((lambda x, y: 1)())", R"(TypeError: <lambda>.<locals>.<lambda>() missing 2 required positional arguments: 'x' and 'y')"},
    {R"((lambda x=1, y=2: 1)(1,2,3))",
     R"(TypeError: <lambda>.<locals>.<lambda>() takes from 0 to 2 positional arguments but 3 were given)"},
    {R"(f(1, c=2, **{'c': 3}))", R"(TypeError: __main__.f() got multiple values for keyword argument 'c')"},
    {R"(len())", R"(TypeError: len() takes exactly one argument (0 given))"},
    {R"(len(1,2))", R"(TypeError: len() takes exactly one argument (2 given))"},
    {R"(len(3))", R"(TypeError: object of type 'int' has no len())"},
    {R"(3())", R"(TypeError: 'int' object is not callable)"},
    {R"(1+'a')", R"(TypeError: unsupported operand type(s) for +: 'int' and 'str')"},
    {R"('a'+1)", R"(TypeError: can only concatenate str (not "int") to str)"},
    {R"([1]+(1,))", R"(TypeError: can only concatenate list (not "tuple") to list)"},
    {R"(1 < 'a')", R"(TypeError: '<' not supported between instances of 'int' and 'str')"},
    {R"(None < 1)", R"(TypeError: '<' not supported between instances of 'NoneType' and 'int')"},
    {R"(-'a')", R"(TypeError: bad operand type for unary -: 'str')"},
    {R"(~1.5)", R"(TypeError: bad operand type for unary ~: 'float')"},
    {R"(1 @ 2)", R"(TypeError: unsupported operand type(s) for @: 'int' and 'int')"},
    {R"(2 ** 'a')", R"(TypeError: unsupported operand type(s) for ** or pow(): 'int' and 'str')"},
    {R"(1 << 1.0)", R"(TypeError: unsupported operand type(s) for <<: 'int' and 'float')"},
    {R"(1 / 0)", R"(ZeroDivisionError: division by zero)"},
    {R"(1.0 / 0)", R"(ZeroDivisionError: float division by zero)"},
    {R"(1 // 0)", R"(ZeroDivisionError: integer division or modulo by zero)"},
    {R"(1 % 0)", R"(ZeroDivisionError: integer modulo by zero)"},
    {R"(1.0 // 0)", R"(ZeroDivisionError: float floor division by zero)"},
    {R"(1.0 % 0)", R"(ZeroDivisionError: float modulo)"},
    {R"(0 ** -1)", R"(ZeroDivisionError: 0.0 cannot be raised to a negative power)"},
    {R"(1 << -1)", R"(ValueError: negative shift count)"},
    {R"([1,2][5])", R"(IndexError: list index out of range)"},
    {R"([1,2]['a'])", R"(TypeError: list indices must be integers or slices, not str)"},
    {R"((1,2)[5])", R"(IndexError: tuple index out of range)"},
    {R"('abc'[5])", R"(IndexError: string index out of range)"},
    {R"({}['a'])", R"(KeyError: 'a')"},
    {R"({1:2}[(1,2)])", R"(KeyError: (1, 2))"},
    {R"({[]: 1})", R"(TypeError: unhashable type: 'list')"},
    {R"({{}})", R"(TypeError: unhashable type: 'dict')"},
    {R"(3[0])", R"(TypeError: 'int' object is not subscriptable)"},
    {R"(None[0])", R"(TypeError: 'NoneType' object is not subscriptable)"},
    {R"([1,2].foo)", R"(AttributeError: 'list' object has no attribute 'foo')"},
    {R"((5).foo)", R"(AttributeError: 'int' object has no attribute 'foo')"},
    {R"(len.foo)", R"(AttributeError: 'builtin_function_or_method' object has no attribute 'foo')"},
    {R"(int.foo)", R"(AttributeError: type object 'int' has no attribute 'foo')"},
    {R"(iter(3))", R"(TypeError: 'int' object is not iterable)"},
    {R"([*3])", R"(TypeError: Value after * must be an iterable, not int)"},
    {R"(f(*3))", R"(TypeError: __main__.f() argument after * must be an iterable, not int)"},
    {R"(f(**3))", R"(TypeError: __main__.f() argument after ** must be a mapping, not int)"},
    {R"({**3})", R"(TypeError: 'int' object is not a mapping)"},
    {R"(3 in 4)", R"(TypeError: argument of type 'int' is not iterable)"},
    {R"([x for x in 5])", R"(TypeError: 'int' object is not iterable)"},
    {R"(range(1,2,0))", R"(ValueError: range() arg 3 must not be zero)"},
    {R"(next(iter([])))", R"(StopIteration: )"},
    {R"(int('x'))", R"(ValueError: invalid literal for int() with base 10: 'x')"},
    {R"(float('x'))", R"(ValueError: could not convert string to float: 'x')"},
    {R"({}.pop('a'))", R"(KeyError: 'a')"},
    {R"({}.popitem())", R"(KeyError: 'popitem(): dictionary is empty')"},
    {R"(set().pop())", R"(KeyError: 'pop from an empty set')"},
    {R"({1}.remove(5))", R"(KeyError: 5)"},
    {R"([].pop())", R"(IndexError: pop from empty list)"},
    {R"([1].index(3))", R"(ValueError: 3 is not in list)"},
    {R"([].append())", R"(TypeError: list.append() takes exactly one argument (0 given))"},
    {R"([].append(1,2))", R"(TypeError: list.append() takes exactly one argument (2 given))"},
    {R"({}.get())", R"(TypeError: get expected at least 1 argument, got 0)"},
    {R"({}.get(1,2,3))", R"(TypeError: get expected at most 2 arguments, got 3)"},
    {R"({}.keys(1))", R"(TypeError: dict.keys() takes no arguments (1 given))"},
    {R"(isinstance(1))", R"(TypeError: isinstance expected 2 arguments, got 1)"},
    {R"(isinstance(1, 2))", R"(TypeError: isinstance() arg 2 must be a type, a tuple of types, or a union)"},
    {R"(dict([1]))", R"(TypeError: cannot convert dictionary update sequence element #0 to a sequence)"},
    {R"(dict([(1,2,3)]))", R"(ValueError: dictionary update sequence element #0 has length 3; 2 is required)"},
    {R"(dict(1))", R"(TypeError: 'int' object is not iterable)"},
    {R"(sorted([1,'a']))", R"(TypeError: '<' not supported between instances of 'str' and 'int')"},
    {R"(max([]))", R"(ValueError: max() arg is an empty sequence)"},
    {R"(sum(['a']))", R"(TypeError: unsupported operand type(s) for +: 'int' and 'str')"},
    {R"(abs('a'))", R"(TypeError: bad operand type for abs(): 'str')"},
    {R"(round('a'))", R"(TypeError: type str doesn't define __round__ method)"},
    {R"('a' * 'b')", R"(TypeError: can't multiply sequence by non-int of type 'str')"},
    {R"([1] * 1.5)", R"(TypeError: can't multiply sequence by non-int of type 'float')"},
    {R"(slice(1,2,3))", R"(slice(1, 2, 3))"},
    {R"([1,2,3][::0])", R"(ValueError: slice step cannot be zero)"},
    {R"([1,2,3]['a':])", R"(TypeError: slice indices must be integers or None or have an __index__ method)"},
    {R"(f'{1:z}')", R"(ValueError: Negative zero coercion (z) not allowed in integer format specifier)"},
    {R"(f'{[1]:5}')", R"(TypeError: unsupported format string passed to list.__format__)"},
    {R"(f'{None:5}')", R"(TypeError: unsupported format string passed to NoneType.__format__)"},
    {R"(x_undefined)", R"(NameError: name 'x_undefined' is not defined)"},
    {R"(list(zip([1],[1,2],strict=True)))", R"(ValueError: zip() argument 2 is longer than argument 1)"},
    {R"(list(zip([1,2],[1],strict=True)))", R"(ValueError: zip() argument 2 is shorter than argument 1)"},
    {R"(zip(1,2))", R"(TypeError: 'int' object is not iterable)"},
    {R"(map(len))", R"(TypeError: map() must have at least two arguments.)"},
    {R"(range())", R"(TypeError: range expected at least 1 argument, got 0)"},
    {R"(range('a'))", R"(TypeError: 'str' object cannot be interpreted as an integer)"},
    {R"(range(1.5))", R"(TypeError: 'float' object cannot be interpreted as an integer)"},
    {R"(hash([]))", R"(TypeError: unhashable type: 'list')"},
    {R"(hash({}))", R"(TypeError: unhashable type: 'dict')"},
    {R"(hash({1}))", R"(TypeError: unhashable type: 'set')"},
    {R"(str.upper(1))", R"(TypeError: descriptor 'upper' for 'str' objects doesn't apply to a 'int' object)"},
    {R"(str.upper())", R"(TypeError: unbound method str.upper() needs an argument)"},
    {R"(object().x)", R"(AttributeError: 'object' object has no attribute 'x')"},
};

}  // namespace

TEST_CASE("session: errors are worded as CPython words them") {
  for (const Case& c : kCases) {
    INFO(c.expression);
    CHECK(output_of(std::string(kDefinitions) + "t(lambda: " + c.expression + ")\n") == std::string(c.printed) + "\n");
  }
}
