// Products and quotients of integers of millions of bits, which take seconds: in pieces, between which a session's limit of time is seen.
#pragma once

#include "runtime/session/big_integer.h"

namespace gasell {

/// a * b. Throws Sandbox::Ended where the call has to end.
BigInteger product(const BigInteger& a, const BigInteger& b);
/// divide_qr(a, b), likewise, for b > 0 and a >= 0.
void divide_whole(const BigInteger& a, const BigInteger& b, BigInteger& quotient, BigInteger& rest);
/// The greatest common divisor of a >= 0 and b >= 0; the whole part of the square root of n >= 0. Likewise.
BigInteger common_divisor(BigInteger a, BigInteger b);
BigInteger whole_root(const BigInteger& n);

}  // namespace gasell
