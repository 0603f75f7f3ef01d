// str as scripts see it. The expected output is CPython's.
#include "session_run.h"

using namespace gasell;

TEST_CASE("str: indexing, slices, operators") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

s = 'h\u00e9llo'
print(s[1], s[-1], s[1:3], s[::-1], s[::2], s[4:0:-2], s[9:], len(s), 'l' in s, '' in s)
print(s * 2, 3 * 'ab', 'a' + 'b', 'a' < 'b', '\u00e9' > 'z', 'a' == 1, list(s))
t(lambda: s[9]); t(lambda: s['a']); t(lambda: s + 1); t(lambda: s * 1.5); t(lambda: 1 in s); t(lambda: s < 1)
)gsl") == &R"out(
é o él olléh hlo ol  5 True True
héllohéllo ababab ab True True False ['h', 'é', 'l', 'l', 'o']
IndexError string index out of range
TypeError string indices must be integers, not 'str'
TypeError can only concatenate str (not "int") to str
TypeError can't multiply sequence by non-int of type 'float'
TypeError 'in <string>' requires string as left operand, not int
TypeError '<' not supported between instances of 'str' and 'int'
)out"[1]);
}

TEST_CASE("str: searching and splitting") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

print('banana'.count('an'), 'banana'.count(''), 'banana'.find('a', 2), 'banana'.rfind('a', 0, 5), 'h\u00e9llo'.find('l'), 'abc'.find('', 4), 'abc'.find('', 3))
print('a b  c '.split(), ' a b c '.split(None, 1), 'a,b,c'.split(',', 1), 'a,b,c'.rsplit(',', 1), ' a b c'.rsplit(None, 1), ''.split(), ''.split(','))
print('a\nb\r\nc\rd'.splitlines(), 'a\n\nb\n'.splitlines(True), 'a-b-c'.partition('-'), 'a-b-c'.rpartition('-'), 'abc'.rpartition('-'))
print('aaa'.replace('a', 'b', 2), 'abc'.replace('', '-'), 'abc'.replace('', '-', 2), ''.replace('', 'x'), 'xxabxx'.strip('x'), '\u3000 a\t'.strip())
print('abc'.startswith(('x', 'ab')), 'abc'.endswith('b', 0, 2), 'abc'.removeprefix('a'), 'abc'.removesuffix('x'), ','.join(x for x in 'abc'))
t(lambda: 'abc'.index('z')); t(lambda: 'a'.split('')); t(lambda: ','.join([1])); t(lambda: ','.join(1)); t(lambda: 'a'.startswith(1)); t(lambda: 'a'.strip(1)); t(lambda: 'a'.find(1))
)gsl") == &R"out(
2 7 3 3 2 -1 3
['a', 'b', 'c'] ['a', 'b c '] ['a', 'b,c'] ['a,b', 'c'] [' a b', 'c'] [] ['']
['a', 'b', 'c', 'd'] ['a\n', '\n', 'b\n'] ('a', '-', 'b-c') ('a-b', '-', 'c') ('', '', 'abc')
bba -a-b-c- -a-bc x ab a
True True bc abc a,b,c
ValueError substring not found
ValueError empty separator
TypeError sequence item 0: expected str instance, int found
TypeError can only join an iterable
TypeError startswith first arg must be str or a tuple of str, not int
TypeError strip arg must be None or str
TypeError must be str, not int
)out"[1]);
}

TEST_CASE("str: padding, translating, asking") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

print('abcd'.center(9, '*'), 'abc'.center(10, '*'), 'ab'.ljust(4, '.'), 'ab'.rjust(4), '-42'.zfill(6), 'a\tbc\td'.expandtabs(4))
print('abc'.translate(str.maketrans('ab', 'xy', 'c')), 'abc'.translate({97: 'X', 98: None, 99: 100}), str.upper('abc'))
print('Hello World'.istitle(), 'aBc'.islower(), 'A1'.isupper(), ''.isalpha(), 'a1'.isalnum(), ' \n'.isspace(), '1abc'.isidentifier(), ''.isprintable())
t(lambda: 'a'.center(3, 'ab')); t(lambda: str.maketrans('a', 'bc'))
)gsl") == &R"out(
***abcd** ***abc**** ab..   ab -00042 a   bc  d
xy Xd ABC
True False True False True True False True
TypeError The fill character must be exactly one character long
ValueError the first two maketrans arguments must have equal length
)out"[1]);
}

TEST_CASE("str: format and %") {
  CHECK(output_of(R"gsl(
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)

print('{} {}'.format(1, 'a'), '{1}{0}'.format(1, 2), '{a[0]} {b.real!r:>4}'.format(a=[7], b=3), '{:{w}.{p}f}|'.format(3.14159, w=8, p=2), '{{}}'.format(), '{x}'.format_map({'x': 1}))
print('%5d|%-5d|%05d|%+d|% d' % (1, 2, 3, 4, 5), '%x %#o %X' % (255, 8, 255), '%e %G %.3s|%10.2s|' % (1.5, 1e-10, 'abcdef', 'xyz'), '%c%c%%' % (65, 'B'), '%(a)s' % {'a': 1}, '%*.*f' % (8, 2, 3.14159), '%r %a' % ('\u00e9', '\u00e9'))
t(lambda: '{}'.format()); t(lambda: '{a}'.format()); t(lambda: '{'.format()); t(lambda: '}'.format()); t(lambda: '{0}{}'.format(1, 2)); t(lambda: '{!x}'.format(1)); t(lambda: '{:d}'.format('a'))
t(lambda: '%d' % 'a'); t(lambda: '%s %s' % 1); t(lambda: 'a' % 1); t(lambda: '%y' % 1); t(lambda: '%x' % 1.5); t(lambda: '%(a)s' % 1)
)gsl") == &R"out(
1 a 21 7    3     3.14| {} 1
    1|2    |00003|+4| 5 ff 0o10 FF 1.500000e+00 1E-10 abc|        xy| AB% 1     3.14 'é' '\xe9'
IndexError Replacement index 0 out of range for positional args tuple
KeyError 'a'
ValueError Single '{' encountered in format string
ValueError Single '}' encountered in format string
ValueError cannot switch from manual field specification to automatic field numbering
ValueError Unknown conversion specifier x
ValueError Unknown format code 'd' for object of type 'str'
TypeError %d format: a real number is required, not str
TypeError not enough arguments for format string
TypeError not all arguments converted during string formatting
ValueError unsupported format character 'y' (0x79) at index 1
TypeError %x format: an integer is required, not float
TypeError format requires a mapping
)out"[1]);
}
