// math and cmath. The expected output is CPython's.
#include "modules_run.h"

using namespace gasell;

TEST_CASE("math: values and errors") {
  CHECK(output_of(R"gsl(
import math, cmath
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)
t(lambda: math.sqrt(-1)); t(lambda: math.log(0)); t(lambda: math.log(-1)); t(lambda: math.exp(1000)); t(lambda: math.sqrt('a')); t(lambda: math.sqrt(1j)); t(lambda: math.factorial(-1)); t(lambda: math.factorial(1.5)); t(lambda: math.factorial(20)); t(lambda: math.gcd(1.5, 2)); t(lambda: math.comb(-1, 2)); t(lambda: math.acos(2)); t(lambda: math.atanh(1)); t(lambda: math.fmod(1, 0)); t(lambda: math.pow(0, -1)); t(lambda: math.pow(-1, .5)); t(lambda: math.pow(10, 400)); t(lambda: math.ldexp(1, 2000)); t(lambda: math.gamma(0)); t(lambda: math.gamma(200)); t(lambda: math.lgamma(-1)); t(lambda: math.isqrt(-1)); t(lambda: math.log(10, 1)); t(lambda: math.floor(float('inf'))); t(lambda: math.ceil(float('nan'))); t(lambda: math.sin(float('inf'))); t(lambda: math.tan(float('nan'))); t(lambda: math.cosh(1000)); t(lambda: math.log1p(-1)); t(lambda: math.isclose(1, 1, rel_tol=-1)); t(lambda: math.fsum([float('inf'), float('-inf')])); t(lambda: math.dist([1], [1, 2])); t(lambda: math.remainder(1, 0)); t(lambda: math.foo); t(lambda: math.hypot(3, 4, 12)); t(lambda: math.hypot()); t(lambda: math.perm(5)); t(lambda: math.perm(5, 2)); t(lambda: math.prod([])); t(lambda: math.prod([1.5, 2], start=2))
print(math.gcd(12, 18), math.gcd(), math.gcd(0, -5), math.lcm(4, 6), math.lcm(), math.lcm(0, 5), math.comb(10, 3), math.comb(60, 30), math.comb(3, 5), math.isqrt(99), math.isqrt(2**62), math.isclose(1, 1 + 1e-10), math.isclose(0, 1e-10))
print(math.fsum([0.1] * 10), math.fsum([1e100, 1, -1e100]), math.fsum([]), math.fsum([1e308, 1e308, -1e308]) if False else 0)
print(math.floor(2.7), math.floor(-2.7), math.ceil(2.1), math.trunc(-2.7), math.floor(5), math.floor(True), math.modf(3.7), math.modf(-3.7), math.frexp(10), math.frexp(0), math.copysign(1, -0.0), math.nextafter(1, 2), math.ulp(1), math.degrees(math.pi), math.radians(180))
print(math.pi, math.e, math.tau, math.inf, math.nan, math.isnan(math.nan), math.isinf(-math.inf), math.isfinite(1))
print(cmath.sqrt(-1), cmath.exp(1j * math.pi), cmath.phase(1j), cmath.polar(3 + 4j), cmath.rect(1, 0), cmath.log(-1), cmath.isclose(1, 1), cmath.inf, cmath.infj, cmath.sqrt(-4), cmath.log(1j, 10))
t(lambda: cmath.log(0)); t(lambda: cmath.exp(1000)); t(lambda: cmath.sqrt('a'))
)gsl") == &R"out(
ValueError math domain error
ValueError math domain error
ValueError math domain error
OverflowError math range error
TypeError must be real number, not str
TypeError must be real number, not complex
ValueError factorial() not defined for negative values
TypeError 'float' object cannot be interpreted as an integer
2432902008176640000
TypeError 'float' object cannot be interpreted as an integer
ValueError n must be a non-negative integer
ValueError math domain error
ValueError math domain error
ValueError math domain error
ValueError math domain error
ValueError math domain error
OverflowError math range error
OverflowError math range error
ValueError math domain error
OverflowError math range error
ValueError math domain error
ValueError isqrt() argument must be nonnegative
ZeroDivisionError float division by zero
OverflowError cannot convert float infinity to integer
ValueError cannot convert float NaN to integer
ValueError math domain error
nan
OverflowError math range error
ValueError math domain error
ValueError tolerances must be non-negative
ValueError -inf + inf in fsum
ValueError both points must have the same number of dimensions
ValueError math domain error
AttributeError module 'math' has no attribute 'foo'
13.0
0.0
120
20
1
6.0
6 0 5 12 1 0 120 118264581564861424 0 9 2147483648 True False
1.0 1.0 0.0 0
2 -3 3 -2 5 1 (0.7000000000000002, 3.0) (-0.7000000000000002, -3.0) (0.625, 4) (0.0, 0) -1.0 1.0000000000000002 2.220446049250313e-16 180.0 3.141592653589793
3.141592653589793 2.718281828459045 6.283185307179586 inf nan True True True
1j (-1+1.2246467991473532e-16j) 1.5707963267948966 (5.0, 0.9272952180016122) (1+0j) 3.141592653589793j True inf infj 2j 0.6821881769209206j
ValueError math domain error
OverflowError math range error
TypeError must be real number, not str
)out"[1]);
}
