// dict, set, range, slice and iterators.
// The expected output is CPython's.
#include "session_run.h"

using namespace gasell;

TEST_CASE("session: dict methods and views") {
  CHECK(output_of(R"gsl(
d = {'b': 1, 'a': 2}
d['c'] = 3; d['b'] = 10
print(d, list(d), d.keys(), d.values(), d.items(), len(d))
print(d.pop('b'), d, d.pop('zz', None), d.setdefault('q', []), d.get('nope'), d.get('a', 5))
d.update({'x': 1}, y=2); d.update([('z', 3)])
print(d, d.popitem(), 'x' in d, 'nope' in d)
print({1: 'a', 1.0: 'b', True: 'c'})
print({1:2} == {1:2.0}, {1:2} != {1:3}, {} == [], {'a':1} | {'b':2})
e = d.copy(); e.clear(); print(e, bool(e), dict(a=1, b=2), dict([(1,2)]), dict({1:2}, c=3), dict.fromkeys('abc', 0))
d = {}; d['self'] = d; print(d); d.clear()
l = [1]; l.append(l); print(l); l.clear()
print(list(reversed({1:1,2:2})), list(reversed({1:1,2:2}.items())), {1:1,2:2}.keys() & {1}, {1:1}.keys() | {5}, {1:1}.keys() == {1})
try:
    d = {1:1}
    for k in d: d[k+1] = 1
except RuntimeError as e: print(e)
)gsl") == &R"out(
{'b': 10, 'a': 2, 'c': 3} ['b', 'a', 'c'] dict_keys(['b', 'a', 'c']) dict_values([10, 2, 3]) dict_items([('b', 10), ('a', 2), ('c', 3)]) 3
10 {'a': 2, 'c': 3, 'q': []} None [] None 2
{'a': 2, 'c': 3, 'q': [], 'x': 1, 'y': 2} ('z', 3) True False
{1: 'c'}
True True False {'a': 1, 'b': 2}
{} False {'a': 1, 'b': 2} {1: 2} {1: 2, 'c': 3} {'a': 0, 'b': 0, 'c': 0}
{'self': {...}}
[1, [...]]
[2, 1] [(2, 2), (1, 1)] {1} {1, 5} True
dictionary changed size during iteration
)out"[1]);
}

TEST_CASE("session: set methods and operators") {
  CHECK(output_of(R"gsl(
s = {1,2,3}
s.add(10); s.discard(99); s.remove(1)
print(s, s | {5}, s & {2,10}, s - {2}, s ^ {2, 77}, {2} <= s, {2} < {2}, s >= {2}, s == {2,3,10}, s.isdisjoint({5}))
s |= {100}; s -= {2}; s &= {100, 3}; s ^= {3, 4}
print(s, s.union([1],[2]), s.intersection([100]), s.difference([4]), s.symmetric_difference([4, 5]), s.issubset([4,100,1]), s.issuperset([]))
print(set(range(100)) == set(range(99, -1, -1)), sorted({'b','a'}), {(1,2), (3,)}, frozenset([1]) in {frozenset([1])})
)gsl") == &R"out(
{10, 2, 3} {3, 10, 2, 5} {2, 10} {10, 3} {3, 10, 77} True False True True True
{100, 4} {1, 2, 100, 4} {100} {100} {100, 5} True True
True ['a', 'b'] {(1, 2), (3,)} True
)out"[1]);
}

TEST_CASE("session: sets iterate as CPython's do") {
  CHECK(output_of(R"gsl(
print({3,1,2}, {10, 5, 100, 33, 64, -1, -2}, set([7,7,8]), set(), frozenset([3,2]), frozenset())
big = set()
for i in range(0, 2000, 37): big.add(i * 7919 % 1009)
print(big)
for i in list(big)[::3]: big.discard(i)
print(big)
for i in range(50): big.add(i * 13)
print(big)
print({0.5, 1.5, 2.25, 1e10, -3.0}, {True, 0, 2})
print(set([1e300, 1/3, 7.0, 2**40, -5]))
)gsl") == &R"out(
{1, 2, 3} {64, 33, 100, 5, -2, 10, -1} {8, 7} set() frozenset({2, 3}) frozenset()
{0, 128, 256, 903, 393, 521, 11, 638, 139, 649, 786, 914, 404, 532, 22, 797, 925, 287, 415, 33, 680, 808, 170, 298, 563, 691, 181, 309, 956, 574, 702, 64, 192, 967, 457, 585, 75, 850, 978, 340, 468, 86, 733, 861, 351, 479, 744, 872, 234, 362, 627, 755, 117, 245, 510}
{128, 256, 393, 521, 638, 139, 786, 914, 532, 22, 925, 287, 33, 680, 170, 298, 691, 181, 956, 574, 64, 192, 457, 585, 850, 978, 468, 86, 861, 351, 744, 872, 362, 627, 117, 245}
{0, 520, 521, 13, 532, 533, 22, 26, 33, 546, 39, 559, 52, 572, 574, 64, 65, 585, 78, 86, 598, 91, 611, 104, 624, 627, 117, 637, 638, 128, 130, 139, 143, 156, 680, 169, 170, 691, 181, 182, 192, 195, 208, 221, 744, 234, 245, 247, 256, 260, 273, 786, 286, 287, 298, 299, 312, 325, 850, 338, 861, 351, 872, 362, 364, 377, 390, 393, 914, 403, 925, 416, 429, 442, 956, 455, 457, 978, 468, 481, 494, 507}
{0.5, 1.5, 2.25, 10000000000.0, -3.0} {0, True, 2}
{0.3333333333333333, 1099511627776, 7.0, -5, 1e+300}
)out"[1]);
}

TEST_CASE("session: range") {
  CHECK(output_of(R"gsl(
r = range(10)
print(r, range(1, 10), range(0, 10, 3), list(range(5, 0, -2)), len(range(0, 10, 3)), r[3], r[-1], r[2:5], r[::-1], 5 in r, 5.0 in r, 'a' in r, range(0) == range(2, 2), r.index(4), r.count(3), r.start, r.stop, r.step)
try: r[100]
except IndexError as e: print(e)
try: r['a']
except TypeError as e: print(e)
try: r.index(100)
except ValueError as e: print(e)
print(list(reversed(range(3))), hash(range(3)) == hash(range(0, 3, 1)), bool(range(0)))
)gsl") == &R"out(
range(0, 10) range(1, 10) range(0, 10, 3) [5, 3, 1] 4 3 9 range(2, 5) range(9, -1, -1) True True False True 4 1 0 10 1
range object index out of range
range indices must be integers or slices, not str
100 is not in range
[2, 1, 0] True False
)out"[1]);
}

TEST_CASE("session: iterators and slices") {
  CHECK(output_of(R"gsl(
print(list(enumerate('ab', 5)), list(map(lambda x, y: x + y, [1,2], [3,4])), list(filter(None, [0,1,'',2])), list(zip()))
print(slice(1, None), slice(1,2,3).indices(2))
)gsl") == &R"out(
[(5, 'a'), (6, 'b')] [4, 6] [1, 2] []
slice(1, None, None) (1, 2, 3)
)out"[1]);
}

TEST_CASE("session: long nested structures are taken apart") {
  CHECK(output_of(R"gsl(
l = []
for i in range(300000): l = [l]
del l
t = ()
for i in range(300000): t = (t,)
t = None
d = {}
for i in range(300000): d = {1: d}
d = 1
f = None
for i in range(100000):
    f = (lambda g: (lambda: g))(f)
f = None
l = []
for i in range(5000): l = [l]
try: repr(l)
except RecursionError as e: print('RecursionError')
m = []
for i in range(5000): m = [m]
try: l == m
except RecursionError as e: print('RecursionError')
t = ()
for i in range(5000): t = (t,)
try: hash(t)
except RecursionError as e: print('RecursionError')
)gsl") == &R"out(
RecursionError
RecursionError
)out"[1]);
}
