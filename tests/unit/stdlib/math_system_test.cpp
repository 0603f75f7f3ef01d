// os, sys, time, typing, files. The expected output is CPython's.
#include "modules_run.h"

using namespace gasell;

TEST_CASE("open: reading, writing, errors") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

import os
p = '/tmp/gasell_types_file_test.txt'
with open(p, 'w') as f: print(f.write('h\u00e9llo\nworld\n'), f.closed, f.mode); f.writelines(['a\n', 'b'])
print(f.closed)
with open(p) as f: print(repr(f.read(3)), repr(f.readline()), f.readlines(), repr(f.read()))
with open(p, 'a') as f: f.write('!')
print([line.rstrip() for line in open(p)])
with open(p, 'w', newline='') as g: k = g.write('a\r\nb\rc')
print(repr(open(p).read()), repr(open(p, newline='').read()), os.path.getsize(p))
with open(p, 'r+') as f: print(f.readline(), end=''); f.seek(0); f.write('X'); f.seek(0); print(f.read())
t(lambda: f.read()); t(lambda: open(p).write('x')); t(lambda: open(p, 'a').read()); t(lambda: open(p, 'x')); t(lambda: open('/nope/x')); t(lambda: open('/tmp')); t(lambda: open(p, 'q')); t(lambda: open(p, 'rw')); t(lambda: open(''))
os.remove(p); print(os.path.exists(p))
try: open(p)
except FileNotFoundError as e: print(e.errno, e.strerror, e.filename == p)
)gsl") == &R"out(
12 False w
True
'hél' 'lo\n' ['world\n', 'a\n', 'b'] ''
['héllo', 'world', 'a', 'b!']
'a\nb\nc' 'a\r\nb\rc' 6
a
X
b
c
ValueError I/O operation on closed file.
UnsupportedOperation not writable
UnsupportedOperation not readable
FileExistsError [Errno 17] File exists: '/tmp/gasell_types_file_test.txt'
FileNotFoundError [Errno 2] No such file or directory: '/nope/x'
IsADirectoryError [Errno 21] Is a directory: '/tmp'
ValueError invalid mode: 'q'
ValueError must have exactly one of create/read/write/append mode
FileNotFoundError [Errno 2] No such file or directory: ''
False
2 No such file or directory True
)out"[1]);
}

TEST_CASE("os.path") {
  CHECK(output_of(R"gsl(
import os
print(os.path.join('a', 'b', '/c', 'd'), os.path.join('a/', ''), os.path.join('', 'x'), os.path.split('/a/b/c'), os.path.split('a'), os.path.split('/'), os.path.split('//a'))
for q in ['a.b.c', '.bashrc', 'a/.x', 'x', 'a.b/c', '..a.b', 'a.']: print(os.path.splitext(q), os.path.basename(q), os.path.dirname(q), os.path.normpath(q))
print(os.path.normpath('/a/../b//./c/..'), os.path.normpath('../a/..'), os.path.normpath(''), os.path.normpath('//x'), os.path.normpath('/..'), os.path.abspath('/a/b/../c'), os.path.isabs('x'))
for f in [lambda: os.remove('/nope/x'), lambda: os.listdir('/nope'), lambda: os.makedirs('/tmp'), lambda: os.rename('/nope/a', '/nope/b')]:
    try: f()
    except OSError as e: print(type(e).__name__, e)
)gsl") == &R"out(
/c/d a/ x ('/a/b', 'c') ('', 'a') ('/', '') ('//', 'a')
('a.b', '.c') a.b.c  a.b.c
('.bashrc', '') .bashrc  .bashrc
('a/.x', '') .x a a/.x
('x', '') x  x
('a.b/c', '') c a.b a.b/c
('..a', '.b') ..a.b  ..a.b
('a', '.') a.  a.
/b .. . //x / /a/c False
FileNotFoundError [Errno 2] No such file or directory: '/nope/x'
FileNotFoundError [Errno 2] No such file or directory: '/nope'
FileExistsError [Errno 17] File exists: '/tmp'
FileNotFoundError [Errno 2] No such file or directory: '/nope/a' -> '/nope/b'
)out"[1]);
}

TEST_CASE("sys, time, typing and the accepted rest") {
  CHECK(output_of(R"gsl(
import sys, time, warnings
from typing import List, Optional
print(sys.maxsize, sys.float_info.epsilon, sys.byteorder, file=sys.stdout)
print(time.strftime('%Y-%m-%d', (2020, 1, 2, 3, 4, 5, 3, 2, 0)), tuple(time.gmtime(0))[:6], time.perf_counter() <= time.perf_counter())
warnings.filterwarnings('ignore')
def f(x: Optional[int], y: List[float] = None) -> int: return x
print(f(1))
)gsl") == &R"out(
9223372036854775807 2.220446049250313e-16 little
2020-01-02 (1970, 1, 1, 0, 0, 0) True
1
)out"[1]);
}
