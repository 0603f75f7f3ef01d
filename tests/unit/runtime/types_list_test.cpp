// list, tuple, built-in functions and methods of numbers. The expected output is CPython's.
#include "session_run.h"

using namespace gasell;

TEST_CASE("list: methods") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

a = [1, 2, 3]
a.append(4); a.extend('xy'); a.insert(0, 'z'); a.insert(-1, 'q'); a.insert(100, 'end')
print(a, a.pop(), a.pop(0), a.pop(-2), a, a.index(3), a.count(1))
a.remove('y'); a.reverse(); print(a, a.copy() is a); a.clear(); print(a)
b = ['b', 'A', 'c']; b.sort(); print(b); b.sort(key=str.lower, reverse=True); print(b)
print(sorted([(1, 'x'), (0, 'y'), (1, 'a')], key=lambda p: p[0], reverse=True), sorted([1.5, 1, True]))
t(lambda: [].pop()); t(lambda: [1].pop(5)); t(lambda: [1].remove(2)); t(lambda: [1].index(2)); t(lambda: sorted([1, 'a'])); t(lambda: [1].extend(1)); t(lambda: hash([]))
)gsl") == &R"out(
[1, 2, 3, 4, 'x', 'y'] end z q [1, 2, 3, 4, 'x', 'y'] 2 1
['x', 4, 3, 2, 1] False
[]
['A', 'b', 'c']
['c', 'b', 'A']
[(1, 'x'), (1, 'a'), (0, 'y')] [1, True, 1.5]
IndexError pop from empty list
IndexError pop index out of range
ValueError list.remove(x): x not in list
ValueError 2 is not in list
TypeError '<' not supported between instances of 'str' and 'int'
TypeError 'int' object is not iterable
TypeError unhashable type: 'list'
)out"[1]);
}

TEST_CASE("list: slice assignment and deletion") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

c = list(range(10)); c[2:5] = [20]; print(c); c[::2] = 'abcd'; print(c); c[1:1] = [1, 2]; print(c); c[5:2] = [99]; print(c)
del c[0]; del c[1:3]; del c[::-2]; print(c)
def a():
    c[::2] = [1]
def b():
    c[1:2] = 5
def d():
    c[99] = 1
def e():
    del c[99]
t(a); t(b); t(d); t(e)
x = y = [1]; x += (2,); x *= 2; print(y, x is y); x = x + [1]; print(x is y)
)gsl") == &R"out(
[0, 1, 20, 5, 6, 7, 8, 9]
['a', 1, 'b', 5, 'c', 7, 'd', 9]
['a', 1, 2, 1, 'b', 5, 'c', 7, 'd', 9]
['a', 1, 2, 1, 'b', 99, 5, 'c', 7, 'd', 9]
[1, 99, 'c', 'd']
ValueError attempt to assign sequence of size 1 to extended slice of size 2
TypeError can only assign an iterable
IndexError list assignment index out of range
IndexError list assignment index out of range
[1, 2, 1, 2] True
False
)out"[1]);
}

TEST_CASE("list and tuple: operators") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

print([1] + [2], [0] * 3, 2 * (1,), (1,) + (2,), [1, 2] < [1, 3], [1] < [1, 0], (1, 2) == (1.0, 2), [1] == (1,), 2 in [1, 2], (1, 2, 3)[::-1], hash((1, 2)), bool([]), bool((0,)))
t(lambda: [1] + (1,)); t(lambda: (1,) + [1]); t(lambda: [1] * 1.5); t(lambda: [1]['a']); t(lambda: (1,)[5]); t(lambda: (1,).index(2)); t(lambda: [1] < (1,))
a = [1]; a.append(a); print(a, [1, [2, (3,)]], (1,), ()); a.clear()
)gsl") == &R"out(
[1, 2] [0, 0, 0] (1, 1) (1, 2) True True True False True (3, 2, 1) -3550055125485641917 False True
TypeError can only concatenate list (not "tuple") to list
TypeError can only concatenate tuple (not "list") to tuple
TypeError can't multiply sequence by non-int of type 'float'
TypeError list indices must be integers or slices, not str
IndexError tuple index out of range
ValueError tuple.index(x): x not in tuple
TypeError '<' not supported between instances of 'list' and 'tuple'
[1, [...]] [1, [2, (3,)]] (1,) ()
)out"[1]);
}

TEST_CASE("built-in functions") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

print(abs(-3), abs(-2.5), abs(3 + 4j), round(2.5), round(-1.5), round(2.675, 2), round(1234, -2), divmod(-7, 2), divmod(7.5, 2), pow(2, -1), pow(3, -1, 7))
print(sum([1, 2.5]), sum([[1], [2]], []), min(3, 1, 2), max('abc', key=ord), max([], default=5), any([0, 1]), all([]), bin(-10), oct(8), hex(255), chr(233), ord('\u00e9'), ascii('\u00e9'))
print(list(zip([1, 2], 'ab')), list(enumerate('ab', 1)), list(map(lambda a, b: a + b, [1], [2])), list(filter(None, [0, 1])), list(reversed([1, 2])), next(iter([]), 7))
print(isinstance(True, int), isinstance(1, (str, float)), issubclass(bool, int), callable(len), callable(1), getattr(1, 'real'), getattr(1, 'x', 5), hasattr([], 'append'), type(1) is int, type('a'))
print(1, 'a', sep='-', end='!\n')
t(lambda: abs('a')); t(lambda: round('a')); t(lambda: min([])); t(lambda: max()); t(lambda: sum(['a'])); t(lambda: sum(['a'], '')); t(lambda: chr(-1)); t(lambda: ord('ab')); t(lambda: next(iter([]))); t(lambda: len(1)); t(lambda: isinstance(1, 2)); t(lambda: getattr(1, 1)); t(lambda: print(sep=1)); t(lambda: pow(2.0, 3, 4)); t(lambda: int('a')); t(lambda: float('a')); t(lambda: int(None)); t(lambda: complex('1', 2))
)gsl") == &R"out(
3 2.5 5.0 2 -2 2.67 1200 (-4, 1) (3.0, 1.5) 0.5 5
3.5 [1, 2] 1 c 5 True True -0b1010 0o10 0xff é 233 '\xe9'
[(1, 'a'), (2, 'b')] [(1, 'a'), (2, 'b')] [3] [1] [2, 1] 7
True False True True False 1 5 True True <class 'str'>
1-a!
TypeError bad operand type for abs(): 'str'
TypeError type str doesn't define __round__ method
ValueError min() arg is an empty sequence
TypeError max expected at least 1 argument, got 0
TypeError unsupported operand type(s) for +: 'int' and 'str'
TypeError sum() can't sum strings [use ''.join(seq) instead]
ValueError chr() arg not in range(0x110000)
TypeError ord() expected a character, but string of length 2 found
StopIteration 
TypeError object of type 'int' has no len()
TypeError isinstance() arg 2 must be a type, a tuple of types, or a union
TypeError attribute name must be string, not 'int'
TypeError sep must be None or a string, not int
TypeError pow() 3rd argument not allowed unless all arguments are integers
ValueError invalid literal for int() with base 10: 'a'
ValueError could not convert string to float: 'a'
TypeError int() argument must be a string, a bytes-like object or a real number, not 'NoneType'
TypeError complex() can't take second arg if first is a string
)out"[1]);
}

TEST_CASE("int, float and complex: methods") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

print((5).bit_length(), (255).bit_count(), (5).as_integer_ratio(), (0.75).as_integer_ratio(), (2.0).is_integer(), (0.1).hex(), float.fromhex('0x1.8p1'), (1.5).real, (3).imag, (1 + 2j).conjugate())
print((1 + 2j) * (3 - 1j), (1 + 2j) / (3 - 1j), (1 + 2j) ** 2, 2 ** 1j, -(1 + 2j), 1j == 1j, abs(1j), 3 / (1 + 1j), complex(1, -0.0), bool(0j), 1 + 0j == 1)
t(lambda: 1j / 0); t(lambda: 1j < 2j); t(lambda: 0j ** -1); t(lambda: 1j // 1); t(lambda: float('inf').as_integer_ratio()); t(lambda: float.fromhex('xyz'))
)gsl") == &R"out(
3 8 (5, 1) (3, 4) True 0x1.999999999999ap-4 3.0 1.5 0 (1-2j)
(5+5j) (0.1+0.7000000000000001j) (-3+4j) (0.7692389013639721+0.6389612763136348j) (-1-2j) True 1.0 (1.5-1.5j) (1-0j) False True
ZeroDivisionError complex division by zero
TypeError '<' not supported between instances of 'complex' and 'complex'
ZeroDivisionError 0.0 to a negative or complex power
TypeError unsupported operand type(s) for //: 'complex' and 'int'
OverflowError cannot convert Infinity to integer ratio
ValueError invalid hexadecimal floating-point string
)out"[1]);
}
