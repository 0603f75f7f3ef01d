// Branches, loops, unpacking, exceptions and with.
// The expected output is CPython's.
#include "session_run.h"

using namespace gasell;

TEST_CASE("session: assignment and unpacking") {
  CHECK(output_of(R"gsl(
a, b = 1, 2
a, b = b, a
print(a, b)
(a, [b, *c]), d = (1, [2, 3, 4]), 5
print(a,b,c,d)
*a, b = 'hello'
print(a, b)
a = b = c = []
a.append(1)
print(b, c)
)gsl") == &R"out(
2 1
1 2 [3, 4] 5
['h', 'e', 'l', 'l'] o
[1] [1]
)out"[1]);
}

TEST_CASE("session: loops and their else") {
  CHECK(output_of(R"gsl(
for i in range(5):
    if i == 3: break
    if i % 2: continue
    print(i)
else:
    print('no')
for i in []: pass
else: print('else')
n = 0
while True:
    n += 1
    if n > 5: break
else:
    print('never')
while n < 8:
    n += 1
else:
    print('done', n)
)gsl") == &R"out(
0
2
else
done 8
)out"[1]);
}

TEST_CASE("session: finally runs on every way out") {
  CHECK(output_of(R"gsl(
def f():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: return 'ret'
            print('body', i)
        finally:
            print('fin', i)
print(f())
def g():
    try:
        return 1
    finally:
        return 2
print(g())
)gsl") == &R"out(
body 0
fin 0
fin 1
fin 2
ret
2
)out"[1]);
}

TEST_CASE("session: handlers, contexts and causes") {
  CHECK(output_of(R"gsl(
def h():
    try:
        raise ValueError('a')
    except ValueError as e:
        try:
            raise KeyError('b')
        except KeyError as k:
            print(repr(k.__context__), e)
        print(repr(e))
        raise
try:
    h()
except Exception as e:
    print('outer', repr(e), e.args)
try:
    raise ValueError
except (KeyError, ValueError) as e:
    print(repr(e))
try:
    try:
        raise ValueError('x')
    except ValueError as e:
        raise RuntimeError('y') from e
except RuntimeError as e:
    print(repr(e.__cause__), str(e))
try:
    e
except NameError as x:
    print(x)
try:
    pass
except ValueError: print('no')
else: print('else')
finally: print('finally')
try:
    raise 5
except TypeError as e: print(e)
try:
    raise
except RuntimeError as e: print(e)
try:
    try: 1/0
    except 5: pass
except TypeError as e: print(e)
)gsl") == &R"out(
ValueError('a') a
ValueError('a')
outer ValueError('a') ('a',)
ValueError()
ValueError('x') y
name 'e' is not defined
else
finally
exceptions must derive from BaseException
No active exception to reraise
catching classes that do not inherit from BaseException is not allowed
)out"[1]);
}

TEST_CASE("session: jumps out of finally") {
  CHECK(output_of(R"gsl(
def loop():
    while True:
        try:
            break
        finally:
            print('cleanup')
    return 'out'
print(loop())
def swallow():
    for i in range(3):
        try:
            1/0
        finally:
            break
    return 'swallowed'
print(swallow())
)gsl") == &R"out(
cleanup
out
swallowed
)out"[1]);
}

TEST_CASE("session: assert") {
  CHECK(output_of(R"gsl(
assert True
try:
    assert 1 == 2, 'msg'
except AssertionError as e: print(repr(e))
try:
    assert 1 == 2
except AssertionError as e: print(repr(e))
)gsl") == &R"out(
AssertionError('msg')
AssertionError()
)out"[1]);
}

TEST_CASE("session: del and unbound names") {
  CHECK(output_of(R"gsl(
x = [1,2,3]
del x[0]
print(x)
del x
try: x
except NameError as e: print(e)
def uu():
    print(q)
    q = 1
try: uu()
except UnboundLocalError as e: print(e)
def ud():
    q = 1
    del q
    print(q)
try: ud()
except UnboundLocalError as e: print(e)
)gsl") == &R"out(
[2, 3]
name 'x' is not defined
cannot access local variable 'q' where it is not associated with a value
cannot access local variable 'q' where it is not associated with a value
)out"[1]);
}

TEST_CASE("session: wrong numbers of values to unpack") {
  CHECK(output_of(R"gsl(
try:
    a, b = 1, 2, 3
except ValueError as e: print(e)
try:
    a, b = [1]
except ValueError as e: print(e)
try:
    a, *b, c = [1]
except ValueError as e: print(e)
try:
    a, b = 5
except TypeError as e: print(e)
try:
    a, b = range(5)
except ValueError as e: print(e)
)gsl") == &R"out(
too many values to unpack (expected 2)
not enough values to unpack (expected 2, got 1)
not enough values to unpack (expected at least 2, got 1)
cannot unpack non-iterable int object
too many values to unpack (expected 2)
)out"[1]);
}

TEST_CASE("session: with and files") {
  CHECK(output_of(R"gsl(
try:
    with open('/nonexistent/x') as fh: pass
except FileNotFoundError as e: print(e, e.errno, e.filename)
try:
    with 5 as q: pass
except TypeError as e: print(e)
)gsl") == &R"out(
[Errno 2] No such file or directory: '/nonexistent/x' 2 /nonexistent/x
'int' object does not support the context manager protocol
)out"[1]);
}

TEST_CASE("session: exceptions cross natives and generators") {
  CHECK(output_of(R"gsl(
def bad(x):
    if x == 2: raise ValueError('bad %d' % x)
    return x
try: list(map(bad, range(5)))
except ValueError as e: print(e)
try: sorted([1,2,3], key=bad)
except ValueError as e: print(e)
g = (bad(x) for x in range(5))
try:
    for v in g: print(v)
except ValueError as e: print(e)
print(list(g))
def early():
    for i in (x for x in range(10)):
        if i == 3: return i
print(early())
it = iter([1,2,3])
print(next(it), next(it, None), next(it), next(it, 'end'))
)gsl") == &R"out(
bad 2
bad 2
0
1
bad 2
[]
3
1 2 3 end
)out"[1]);
}

TEST_CASE("session: try in order") {
  CHECK(output_of(R"gsl(
def fin():
    l = []
    try:
        try:
            l.append('a')
            raise KeyError('k')
        finally:
            l.append('b')
    except KeyError:
        l.append('c')
    else:
        l.append('d')
    finally:
        l.append('e')
    return l
print(fin())
)gsl") == &R"out(
['a', 'b', 'c', 'e']
)out"[1]);
}

TEST_CASE("session: system exceptions can be caught") {
  CHECK(output_of(R"gsl(
try:
    raise SystemExit(3)
except SystemExit as e: print('exit', e.code)
try: raise KeyboardInterrupt
except KeyboardInterrupt as e: print(repr(e))
try: raise StopIteration(5)
except StopIteration as e: print(e.value)
class_names = [BaseException, Exception, ArithmeticError, LookupError, OSError, IOError, NotImplementedError]
print(class_names, issubclass(FileNotFoundError, OSError), IOError is OSError)
)gsl") == &R"out(
exit 3
KeyboardInterrupt()
5
[<class 'BaseException'>, <class 'Exception'>, <class 'ArithmeticError'>, <class 'LookupError'>, <class 'OSError'>, <class 'OSError'>, <class 'NotImplementedError'>] True True
)out"[1]);
}

TEST_CASE("session: nested handlers") {
  CHECK(output_of(R"gsl(
def nested():
    try:
        1/0
    except ZeroDivisionError:
        try:
            [][1]
        except IndexError:
            pass
        raise
try: nested()
except Exception as e: print(type(e).__name__, e.__context__)
def nested2():
    try:
        try: 1/0
        except ZeroDivisionError as z:
            raise KeyError('k') from None
    except KeyError as k:
        return k.__cause__, repr(k.__context__)
print(nested2())
)gsl") == &R"out(
ZeroDivisionError None
(None, "ZeroDivisionError('division by zero')")
)out"[1]);
}

TEST_CASE("session: loop targets") {
  CHECK(output_of(R"gsl(
d = {}
for d['k'] in range(3): pass
print(d)
for i, in [(1,), (2,)]: print(i)
a = [0, 0]
i = 0
i, a[i] = 1, 9
print(i, a)
)gsl") == &R"out(
{'k': 2}
1
2
1 [0, 9]
)out"[1]);
}

TEST_CASE("session: try within loops and functions") {
  CHECK(output_of(R"gsl(
def multi():
    try:
        try:
            raise ValueError(1)
        finally:
            print('f1')
    except ValueError as e:
        print('got', e)
        return 'r'
    finally:
        print('f2')
print(multi())
def ret_in_else():
    try: pass
    except: pass
    else: return 'else'
    finally: print('fin')
print(ret_in_else())
for x in range(3):
    try:
        if x == 1: raise ValueError
    except ValueError:
        print('caught'); continue
    finally: print('x', x)
e = 5
try: raise ValueError('q')
except ValueError as e: pass
try: print(e)
except NameError as er: print(er)
)gsl") == &R"out(
f1
got 1
f2
r
fin
else
x 0
caught
x 1
x 2
name 'e' is not defined
)out"[1]);
}
