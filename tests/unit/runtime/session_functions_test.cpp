// Functions, closures, comprehensions, decorators.
// The expected output is CPython's.
#include "session_run.h"

using namespace gasell;

TEST_CASE("session: arguments of every kind") {
  CHECK(output_of(R"gsl(
def f(a, b=2, *args, c, d=4, **kw):
    return (a, b, args, c, d, kw)
print(f(1, c=3), f(1,2,3,4,c=5,d=6,e=7), f(*[1,2,3], **{'c':1,'z':2}))
def g(a, /, b, *, c=1): return (a,b,c)
print(g(1,2), g(1,b=3,c=4))
)gsl") == &R"out(
(1, 2, (), 3, 4, {}) (1, 2, (3, 4), 5, 6, {'e': 7}) (1, 2, (3,), 1, 4, {'z': 2})
(1, 2, 1) (1, 3, 4)
)out"[1]);
}

TEST_CASE("session: closures") {
  CHECK(output_of(R"gsl(
def counter():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
c1, c2 = counter(), counter()
print(c1(), c1(), c2())
def fr():
    def inner(): return zz
    try: inner()
    except NameError as e: print(e)
    zz = 1
fr()
G = 1
def setg():
    global G
    G += 1
setg(); print(G)
fs = [lambda: i for i in range(3)]
print([f() for f in fs])
fs = [lambda i=i: i for i in range(3)]
print([f() for f in fs])
)gsl") == &R"out(
1 2 1
cannot access free variable 'zz' where it is not associated with a value in enclosing scope
2
[2, 2, 2]
[0, 1, 2]
)out"[1]);
}

TEST_CASE("session: decorators") {
  CHECK(output_of(R"gsl(
def deco(fn):
    def w(*a, **k):
        print('call', fn.__name__)
        return fn(*a, **k)
    return w
def deco2(n):
    return lambda fn: (lambda *a: fn(*a) + n)
@deco
@deco2(10)
def add(a, b): return a + b
print(add(1, 2))
)gsl") == &R"out(
call <lambda>
13
)out"[1]);
}

TEST_CASE("session: comprehensions and generator expressions") {
  CHECK(output_of(R"gsl(
print([y for x in range(4) if (y := x*2) > 2], y)
print({k: v for k, v in zip('abc', range(3))}, {x % 3 for x in range(10)})
g = (x*x for x in range(5))
print(next(g), list(g), list(g))
print(sum(x*y for x in range(4) for y in range(x)))
)gsl") == &R"out(
[4, 6] 6
{'a': 0, 'b': 1, 'c': 2} {0, 1, 2}
0 [1, 4, 9, 16] []
11
)out"[1]);
}

TEST_CASE("session: recursion has a limit") {
  CHECK(output_of(R"gsl(
def rec(n): return rec(n+1)
try: rec(0)
except RecursionError as e: print(e)
)gsl") == &R"out(
maximum recursion depth exceeded
)out"[1]);
}

TEST_CASE("session: star arguments and displays") {
  CHECK(output_of(R"gsl(
print(*[1,2], *(3,), sep='-')
print([*range(3), *'ab'], (*[1],), {*[1,2], 3}, {**{'a':1}, 'b':2})
def kwf(**k): return k
print(kwf(**{'a': 1}, b=2))
)gsl") == &R"out(
1-2-3
[0, 1, 2, 'a', 'b'] (1,) {1, 2, 3} {'a': 1, 'b': 2}
{'a': 1, 'b': 2}
)out"[1]);
}

TEST_CASE("session: names of comprehensions are their own") {
  CHECK(output_of(R"gsl(
def manyargs(a,b,c,d,e,f,g,h,i,j): return a+j
print(manyargs(*range(10)), manyargs(1,2,3,4,5,6,7,8,9,10))
x = 5
def noshadow():
    return [x for x in range(3)], x
print(noshadow())
)gsl") == &R"out(
9 11
([0, 1, 2], 5)
)out"[1]);
}

TEST_CASE("session: defaults are made once") {
  CHECK(output_of(R"gsl(
def default_mut(a=[]):
    a.append(1)
    return a
print(default_mut(), default_mut())
)gsl") == &R"out(
[1, 1] [1, 1]
)out"[1]);
}

TEST_CASE("session: cells") {
  CHECK(output_of(R"gsl(
def ff():
    for i in range(2):
        yieldlike = [i for i in range(3)]
    return i
print(ff())
def closure_in_loop():
    fns = []
    for i in range(3):
        def fn(): return i
        fns.append(fn)
    return [f() for f in fns]
print(closure_in_loop())
def cell_param(x, *args, y=1, **kw):
    def get(): return (x, args, y, kw)
    x = x * 2
    return get()
print(cell_param(1, 2, 3, y=4, z=5))
def nest():
    a = 1
    def b():
        nonlocal a
        a += 1
        def c():
            nonlocal a
            a *= 10
            return a
        return c
    return b()(), a
print(nest())
def walrus_closure():
    if any((found := x) > 2 for x in [1,2,3,4]): return found
print(walrus_closure())
def del_cell():
    x = 1
    def g(): return x
    del x
    try: return g()
    except NameError as e: return str(e)
print(del_cell())
def unbound_cell():
    def g(): return x
    try: x
    except UnboundLocalError as e: print(e)
    x = 1
    return g()
print(unbound_cell())
print([[i for i in range(j)] for j in range(4)], [(i, j) for i in range(2) for j in 'ab'])
)gsl") == &R"out(
1
[2, 2, 2]
(2, (2, 3), 4, {'z': 5})
(20, 20)
3
cannot access free variable 'x' where it is not associated with a value in enclosing scope
cannot access local variable 'x' where it is not associated with a value
1
[[], [0], [0, 1], [0, 1, 2]] [(0, 'a'), (0, 'b'), (1, 'a'), (1, 'b')]
)out"[1]);
}

TEST_CASE("session: deep recursion through natives") {
  CHECK(output_of(R"gsl(
def r(n): return 0 if n == 0 else 1 + r(n-1)
print(r(900))
def r2(n): return sorted([n], key=lambda k: r2(n-1) if n else 0)[0]
print(r2(200))
def even(n):
    try:
        return even(n+1)
    except RecursionError:
        return 'deep'
print(even(0))
def gg(n):
    return list(x if n == 0 else gg(n-1) for x in [1])
print(gg(5))
)gsl") == &R"out(
900
200
deep
[[[[[[1]]]]]]
)out"[1]);
}
