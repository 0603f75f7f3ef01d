// itertools, functools, operator, collections. The expected output is CPython's.
#include "modules_run.h"

using namespace gasell;

TEST_CASE("itertools") {
  CHECK(output_of(R"gsl(
import itertools, operator
from itertools import chain, islice, groupby
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)
print(list(islice(itertools.count(5, 2), 3)), list(islice(itertools.cycle('ab'), 5)), list(itertools.repeat(1, 3)))
print(list(itertools.accumulate([1, 2, 3])), list(itertools.accumulate([1, 2, 3], operator.mul)), list(itertools.accumulate([1, 2], initial=10)), list(itertools.accumulate([])))
print(list(chain([1], 'ab', ())), list(chain.from_iterable([[1], [2, 3]])))
print(list(itertools.product('ab', [1, 2])), list(itertools.product([0, 1], repeat=2)), list(itertools.product()), list(itertools.product([], [1])), list(itertools.product([1,2],repeat=0)))
print(list(itertools.permutations([1, 2, 3])), list(itertools.permutations('abc', 2)), list(itertools.permutations([1], 2)), list(itertools.permutations([1,2],0)))
print(list(itertools.combinations('abcd', 2)), list(itertools.combinations([1], 2)), list(itertools.combinations([1,2],0)), list(itertools.combinations_with_replacement('ab', 2)), list(itertools.combinations_with_replacement([], 2)))
print(list(islice(range(10), 2, 8, 3)), list(islice('abcdef', 3)), list(islice('abc', 1, None)), list(islice('abc',0)))
it = iter(range(10)); print(list(islice(it, 3)), next(it), list(islice(it, 1, 3)), next(it))
print(list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.dropwhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.filterfalse(lambda x: x % 2, range(5))), list(itertools.compress('abc', [1, 0, 1])))
print(list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.zip_longest('ab', [1], fillvalue='-')), list(itertools.pairwise([1, 2, 3])))
print([(k, list(g)) for k, g in groupby('aabbca')], [(k, len(list(g))) for k, g in groupby([1, 1, 2], key=lambda x: x * 10)], [k for k, g in groupby('aab')])
t(lambda: list(islice([1], -1))); t(lambda: list(islice([1], 0, 1, 0))); t(lambda: list(itertools.combinations([1], -1))); t(lambda: itertools.count('a'))
)gsl") == &R"out(
[5, 7, 9] ['a', 'b', 'a', 'b', 'a'] [1, 1, 1]
[1, 3, 6] [1, 2, 6] [10, 11, 13] []
[1, 'a', 'b'] [1, 2, 3]
[('a', 1), ('a', 2), ('b', 1), ('b', 2)] [(0, 0), (0, 1), (1, 0), (1, 1)] [()] [] [()]
[(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)] [('a', 'b'), ('a', 'c'), ('b', 'a'), ('b', 'c'), ('c', 'a'), ('c', 'b')] [] [()]
[('a', 'b'), ('a', 'c'), ('a', 'd'), ('b', 'c'), ('b', 'd'), ('c', 'd')] [] [()] [('a', 'a'), ('a', 'b'), ('b', 'b')] []
[2, 5] ['a', 'b', 'c'] ['b', 'c'] []
[0, 1, 2] 3 [5, 6] 7
[1, 2] [3, 1] [0, 2, 4] ['a', 'c']
[8, 9] [('a', 1), ('b', '-')] [(1, 2), (2, 3)]
[('a', ['a', 'a']), ('b', ['b', 'b']), ('c', ['c']), ('a', ['a'])] [(10, 2), (20, 1)] ['a', 'b']
ValueError Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.
ValueError Step for islice() must be a positive integer or None.
ValueError r must be non-negative
TypeError a number is required
)out"[1]);
}

TEST_CASE("functools and operator") {
  CHECK(output_of(R"gsl(
import functools, operator
print(functools.reduce(lambda x, y: x * y, [1, 2, 3, 4]), functools.reduce(operator.add, [], 5))
try: functools.reduce(operator.add, [])
except TypeError as e: print(e)
p = functools.partial(pow, 2); print(p(10), functools.partial(int, base=2)('101'), p.args)
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(60), fib.cache_info())
@functools.lru_cache
def sq(x): return x * x
print(sq(2), sq(2), sq.cache_info()); sq.cache_clear(); print(sq.cache_info())
@functools.cache
def cu(x): return x ** 3
print(cu(3))
print(sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
print(operator.itemgetter(1)([5, 6]), operator.itemgetter(0, 1)('ab'), operator.attrgetter('real')(3), sorted([(1, 'b'), (0, 'c')], key=operator.itemgetter(1)), operator.methodcaller('upper')('a'))
print(operator.add(1, 2), operator.truediv(1, 2), operator.contains([1], 1), operator.not_(0), operator.eq(1, 1.0), operator.neg(5), operator.floordiv(7, 2))
)gsl") == &R"out(
24 5
reduce() of empty iterable with no initial value
1024 5 (2,)
1548008755920 CacheInfo(hits=58, misses=61, maxsize=None, currsize=61)
4 4 CacheInfo(hits=1, misses=1, maxsize=128, currsize=1)
CacheInfo(hits=0, misses=0, maxsize=128, currsize=0)
27
[3, 2, 1]
6 ('a', 'b') 3 [(1, 'b'), (0, 'c')] A
3 0.5 True True True -5 3
)out"[1]);
}

TEST_CASE("collections") {
  CHECK(output_of(R"gsl(
from collections import Counter, defaultdict, OrderedDict, deque
import collections
c = Counter('abracadabra'); print(c, c['z'], c.most_common(2), list(c.elements()), c.total(), len(c))
c.update('aaa'); c['q'] += 1; print(c, sorted(c.items())); c.subtract({'a': 10}); print(c)
print(Counter(a=1, b=2) + Counter(a=3), Counter(a=3, b=1) - Counter(a=1, b=5), Counter(a=1) | Counter(a=2, b=1), Counter(a=1, c=3) & Counter(a=2, b=1, c=1), Counter(), Counter([1, 1, 2]) == {1: 2, 2: 1})
d = defaultdict(list); d['a'].append(1); d['b']; print(d, d.get('x'), 'x' in d, dict(d))
e = defaultdict(int)
for ch in 'hello': e[ch] += 1
print(e, e.default_factory)
try: defaultdict()['x']
except KeyError as err: print('KeyError', err)
o = OrderedDict([('a', 1), ('b', 2)]); o['c'] = 3; print(o); o.move_to_end('a'); print(o); o.move_to_end('c', last=False); print(o, o.popitem(last=False), o.popitem(), o)
q = deque([1, 2, 3], maxlen=3); q.append(4); print(q, q[0], q[-1], len(q), q.maxlen); q.appendleft(0); print(q, q.pop(), q.popleft(), q)
q = deque('abc'); q.rotate(1); print(q, list(q)); q.rotate(-2); print(q); q.extend([1, 2]); q.extendleft([8, 9]); print(q, 8 in q, q.count('a'), q.index('b')); q.remove('b'); print(q); q.reverse(); print(q); q.insert(1, 'x'); q[0] = 'y'; print(q, deque([1]) + deque([2]), deque([1]) == deque([1]), deque(), bool(deque()))
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
t(lambda: deque().pop()); t(lambda: deque([1])[5]); t(lambda: deque([1]).remove(2)); t(lambda: deque(maxlen=-1)); t(lambda: deque([1]).index(3)); t(lambda: OrderedDict().popitem()); t(lambda: OrderedDict().move_to_end('q'))
for x in deque([1, 2]): print(x)
print(isinstance(c, dict), type(c), type(d), type(q), isinstance(q, list))
print(sorted(Counter('hello').items(), key=lambda kv: (-kv[1], kv[0])))
)gsl") == &R"out(
Counter({'a': 5, 'b': 2, 'r': 2, 'c': 1, 'd': 1}) 0 [('a', 5), ('b', 2)] ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'r', 'r', 'c', 'd'] 11 5
Counter({'a': 8, 'b': 2, 'r': 2, 'c': 1, 'd': 1, 'q': 1}) [('a', 8), ('b', 2), ('c', 1), ('d', 1), ('q', 1), ('r', 2)]
Counter({'b': 2, 'r': 2, 'c': 1, 'd': 1, 'q': 1, 'a': -2})
Counter({'a': 4, 'b': 2}) Counter({'a': 2}) Counter({'a': 2, 'b': 1}) Counter({'a': 1, 'c': 1}) Counter() True
defaultdict(<class 'list'>, {'a': [1], 'b': []}) None False {'a': [1], 'b': []}
defaultdict(<class 'int'>, {'h': 1, 'e': 1, 'l': 2, 'o': 1}) <class 'int'>
KeyError 'x'
OrderedDict([('a', 1), ('b', 2), ('c', 3)])
OrderedDict([('b', 2), ('c', 3), ('a', 1)])
OrderedDict([('b', 2)]) ('c', 3) ('a', 1) OrderedDict([('b', 2)])
deque([2, 3, 4], maxlen=3) 2 4 3 3
deque([2], maxlen=3) 3 0 deque([2], maxlen=3)
deque(['c', 'a', 'b']) ['c', 'a', 'b']
deque(['b', 'c', 'a'])
deque([9, 8, 'b', 'c', 'a', 1, 2]) True 1 2
deque([9, 8, 'c', 'a', 1, 2])
deque([2, 1, 'a', 'c', 8, 9])
deque(['y', 'x', 1, 'a', 'c', 8, 9]) deque([1, 2]) True deque([]) False
IndexError pop from an empty deque
IndexError deque index out of range
ValueError 2 is not in deque
ValueError maxlen must be non-negative
ValueError 3 is not in deque
KeyError 'dictionary is empty'
KeyError 'q'
1
2
True <class 'collections.Counter'> <class 'collections.defaultdict'> <class 'collections.deque'> False
[('l', 2), ('e', 1), ('h', 1), ('o', 1)]
)out"[1]);
}
