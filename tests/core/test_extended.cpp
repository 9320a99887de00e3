// SPDX-License-Identifier: Apache-2.0
#include "core/extended.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <utility>

namespace tangere::core {
namespace {

/// 200 bits, freed at the end.
class Exact {
 public:
  explicit Exact(Extended x) {
    mpfr_init2(value_, 200);
    mpfr_set_d(value_, x.hi, MPFR_RNDN);
    mpfr_add_d(value_, value_, x.lo, MPFR_RNDN);
  }
  ~Exact() { mpfr_clear(value_); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  mpfr_t& operator*() { return value_; }

 private:
  mpfr_t value_;
};

/// |found - exact| / |exact|.
double relativeError(Extended found, Exact& exact) {
  Exact difference(found);
  mpfr_sub(*difference, *difference, *exact, MPFR_RNDN);
  mpfr_div(*difference, *difference, *exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(*difference, MPFR_RNDN));
}

class Random {
 public:
  double uniform() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) * 0x1.0p-53 - 0.5;
  }
  Extended number() {
    const double hi = std::ldexp(uniform(), static_cast<int>(uniform() * 60));
    return fastTwoSum(hi, std::ldexp(hi * uniform(), -53));
  }

 private:
  std::uint64_t state_ = 7;
};

TEST(Extended, FourOperationsAndTheRootHaveThirtyDigits) {
  Random random;
  const double least = kExtendedEpsilon;
  for (int i = 0; i < 20000; ++i) {
    const Extended a = random.number(), b = random.number();
    Exact x(a), y(b), z(a);
    mpfr_mul(*z, *x, *y, MPFR_RNDN);
    EXPECT_LE(relativeError(a * b, z), least);
    mpfr_div(*z, *x, *y, MPFR_RNDN);
    EXPECT_LE(relativeError(a / b, z), least);
    mpfr_abs(*z, *x, MPFR_RNDN);
    mpfr_sqrt(*z, *z, MPFR_RNDN);
    EXPECT_LE(relativeError(sqrt(fabs(a)), z), least);
    mpfr_add(*z, *x, *y, MPFR_RNDN);
    EXPECT_LE(relativeError(a + b, z), least);
    mpfr_sub(*z, *x, *y, MPFR_RNDN);
    EXPECT_LE(relativeError(a - b, z), least);
  }
}

TEST(Extended, ComparesByBothParts) {
  const Extended one(1.0), more(DoubleDouble{1.0, 1e-20}), less(DoubleDouble{1.0, -1e-20});
  EXPECT_TRUE(less < one && one < more && less < more);
  EXPECT_TRUE(more > one && !(one > more) && one >= one && one <= one);
  EXPECT_TRUE(one == Extended(1.0) && !(one == more));
  EXPECT_EQ(static_cast<double>(more - one), 1e-20);
}

TEST(Extended, SignsAreThoseOfTheLeadingPart) {
  EXPECT_TRUE(signbit(Extended(-0.0)) && !signbit(Extended(0.0)));
  EXPECT_EQ(static_cast<double>(copysign(Extended(2.0), Extended(-0.0))), -2.0);
  EXPECT_EQ(static_cast<double>(fabs(Extended(-3.0))), 3.0);
  EXPECT_EQ(static_cast<double>(sqrt(Extended(0.0))), 0.0);
}

}  // namespace
}  // namespace tangere::core
