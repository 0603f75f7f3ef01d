// Operators on scalars, types as values, order of evaluation.
// The expected output is CPython's.
#include "session_run.h"

using namespace gasell;

TEST_CASE("session: hash") {
  CHECK(output_of(R"gsl(
print(hash(1) == hash(1.0) == hash(True), hash(2**61-1), hash(-1), hash(0.5), hash(float('inf')), hash(-2.5), hash(1e300), hash(2**62))
)gsl") == &R"out(
True 0 -2 1152921504606846976 314159 -1152921504606846978 1224995262755759164 2
)out"[1]);
}

TEST_CASE("session: types as values") {
  CHECK(output_of(R"gsl(
print(type(1), type('a').__name__, type(None), type(print), type(lambda: 1), type(range(1)), type({}), type(type), type(ValueError()), ValueError, type(1) is int, type(1.0) == float)
print(isinstance(True, int), isinstance(1, (str, int)), isinstance(ValueError(), Exception), issubclass(bool, int))
print(str.upper('abc'), list(map(str.upper, ['a','b'])), int.__name__, [].append.__name__)
)gsl") == &R"out(
<class 'int'> str <class 'NoneType'> <class 'builtin_function_or_method'> <class 'function'> <class 'range'> <class 'dict'> <class 'type'> <class 'ValueError'> <class 'ValueError'> True True
True True True True
ABC ['A', 'B'] int append
)out"[1]);
}

TEST_CASE("session: text of values") {
  CHECK(output_of(R"gsl(
print(None, ..., NotImplemented, True, len, (1,), (), [], repr('a\'b'))
print(ValueError('a', 1), repr(ValueError()), str(ValueError()), KeyError('x'), str(KeyError('x')), OSError(2, 'no', 'f'), repr(OSError(2, 'no')))
)gsl") == &R"out(
None Ellipsis NotImplemented True <built-in function len> (1,) () [] "a'b"
('a', 1) ValueError()  'x' 'x' [Errno 2] no: 'f' FileNotFoundError(2, 'no')
)out"[1]);
}

TEST_CASE("session: arithmetic") {
  CHECK(output_of(R"gsl(
print(7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, -7.5 % 2, 2 ** 10, 2 ** -1, (-8) ** (1/3), 1_000_000 * 1_000_000, 1 << 40, -1 >> 3, 6 & 3, 6 | 1, 6 ^ 3, ~5, True + True, True & False, True | 1, 5 / 2, 4 / 2, 1e16, 1e-5, 0.1 + 0.2, -0.0, 1e22, 123456789012345680.0)
print(2**53 == 2.0**53, 2**53 + 1 == 2.0**53, 2**53+1 > 2.0**53, 1 < 1.5, float('nan') == float('nan'), max(1, 2.5), min([3,1,2]))
)gsl") == &R"out(
3 -4 -2 2 3.0 0.5 1024 0.5 (1.0000000000000002+1.7320508075688772j) 1000000000000 1099511627776 -1 2 7 5 -6 2 False 1 2.5 2.0 1e+16 1e-05 0.30000000000000004 -0.0 1e+22 1.2345678901234568e+17
True False True True False 2.5 1
)out"[1]);
}

TEST_CASE("session: f-strings") {
  CHECK(output_of(R"gsl(
print(f'{1234567.891:,.2f}|{5:>5}|{"x":*^7}|{255:#x}|{3.0}|{1e100}|{True}|{None}|{[1,2]!r:>10}|{1+1=}|{"a" "b"}|{{}}|{3:{4}}|{2.5:08.3f}')
w = 10; print(f'{w=} {w!r} {w=:>5} { w = }')
print(f"{'é'!a} {'n':\u003e3}")
)gsl") == &R"out(
1,234,567.89|    5|***x***|0xff|3.0|1e+100|True|None|    [1, 2]|1+1=2|ab|{}|   3|0002.500
w=10 10 w=   10  w = 10
'\xe9'   n
)out"[1]);
}

TEST_CASE("session: comparison and methods of scalars") {
  CHECK(output_of(R"gsl(
print([1,2] < [1,3], (1,2) < (1,), [1] == [1.0], 'a' < 'b', (1,'a') == (1,'a'))
print(3 .bit_length(), (3.0).is_integer(), 'abc'.find('c'), 'a,b'.split(','), ' x '.strip())
)gsl") == &R"out(
True False True True True
2 True 2 ['a', 'b'] x
)out"[1]);
}

TEST_CASE("session: chains and truth") {
  CHECK(output_of(R"gsl(
print(1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 == True, not 1, 1 and 0, 0 or 'x', [] or {} or 'last')
print(1 if [] else 2)
)gsl") == &R"out(
True False True False 0 x last
2
)out"[1]);
}

TEST_CASE("session: in-place operators") {
  CHECK(output_of(R"gsl(
a = [1,2,3,4,5]
a[1:3] = [9]
print(a, a[::-1], a[-2:], a[10:])
a[0] += 5
d = {'k': 1}
d['k'] *= 7
print(a, d)
l = [1]; m = l
l += [2]
print(m)
t = (1,2)
t += (3,)
print(t)
)gsl") == &R"out(
[1, 9, 4, 5] [5, 4, 9, 1] [4, 5] []
[6, 9, 4, 5] {'k': 7}
[1, 2]
(1, 2, 3)
)out"[1]);
}

TEST_CASE("session: order of evaluation") {
  CHECK(output_of(R"gsl(
def order(n):
    print('o', n); return n
d = {order(1): order(2), order(3): order(4)}
[order(5), order(6)][order(0)] = order(7)
f = lambda *a, **k: None
f(order(1), *[order(2)], k=order(3), **{'z': order(4)})
order(1) < order(2) < order(3)
order(3) < order(2) < order(1)
order(1) + order(2) * order(3)
)gsl") == &R"out(
o 1
o 2
o 3
o 4
o 7
o 5
o 6
o 0
o 1
o 2
o 3
o 4
o 1
o 2
o 3
o 3
o 2
o 1
o 2
o 3
)out"[1]);
}

TEST_CASE("session: precedence and identity") {
  CHECK(output_of(R"gsl(
a, b = [1, 2], (3, 4)
a[0], b = b, a
print(a, b)
(x, y), z = 'ab', 3
[p, q] = {1: 2, 3: 4}
print(x, y, z, p, q)
x = y = [0] * 3
x[1:2] = [7, 8]
print(y, x is y, x is not y)
print(1 if 0 else 2 if 0 else 3)
print(not 1 == 2, 1 in [1] == True, -2 ** 2, 2 ** 3 ** 2, ~-1)
print('%s %d' % ('a', 3), '%5.2f' % 3.14159)
print(len('héllo'), 'héllo'[1], 'a' 'b')
)gsl") == &R"out(
[(3, 4), 2] [(3, 4), 2]
a b 3 1 3
[0, 7, 8, 0] True False
3
True False -4 512 0
a 3  3.14
5 é ab
)out"[1]);
}
