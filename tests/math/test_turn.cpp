// SPDX-License-Identifier: Apache-2.0
//
// Sine and cosine of turns against those of core, which are right to half an ulp.
#include "math/turn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tangere {
namespace {

Real ulp(Real x) { return std::nextafter(std::fabs(x), INFINITY) - std::fabs(x); }

TEST(Turn, IsWithinOneUlpOfCore) {
  std::mt19937_64 engine(1);
  for (const Real range : {1e-8, 1.0, 3.2, 100.0, 1e5, 1e9, 1e300}) {
    for (int i = 0; i < 20000; ++i) {
      const Real x = range * (2 * static_cast<Real>(engine() >> 11) * 0x1p-53 - 1);
      const core::SinCos actual = math::turnSinCos(x), expected = core::sinCos(x);
      EXPECT_LE(std::fabs(actual.sin - expected.sin), ulp(expected.sin)) << x;
      EXPECT_LE(std::fabs(actual.cos - expected.cos), ulp(expected.cos)) << x;
    }
  }
}

TEST(Turn, IsWithinOneUlpNearMultiplesOfAQuarterTurn) {
  for (int n = -60000; n <= 60000; n += 7) {
    Real x = n * 1.5707963267948966;
    for (int k = 0; k < 3; ++k, x = std::nextafter(x, 1e9)) {
      const core::SinCos actual = math::turnSinCos(x), expected = core::sinCos(x);
      EXPECT_LE(std::fabs(actual.sin - expected.sin), ulp(expected.sin)) << x;
      EXPECT_LE(std::fabs(actual.cos - expected.cos), ulp(expected.cos)) << x;
    }
  }
}

TEST(Turn, SpecialValues) {
  EXPECT_EQ(math::turnSinCos(0.0).sin, 0);
  EXPECT_EQ(math::turnSinCos(0.0).cos, 1);
  EXPECT_TRUE(std::isnan(math::turnSinCos(INFINITY).sin));
  EXPECT_TRUE(std::isnan(math::turnSinCos(NAN).cos));
}

TEST(Turn, ManyAtATimeHaveTheBitsOfEachAlone) {
  for (const Real last : {0.5, 1e6, 1e300}) {  // one that is large must not change the others
    std::vector<Real> angles, cosines(17);
    for (int i = 0; i < 16; ++i) angles.push_back(0.37 * i * i - 20);
    angles.push_back(last);
    const std::vector<Real> kept = angles;
    math::turnSinCosOfAll(angles.data(), cosines.data(), 17);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(angles[i], math::turnSinCos(kept[i]).sin);
      EXPECT_EQ(cosines[i], math::turnSinCos(kept[i]).cos);
    }
  }
}

}  // namespace
}  // namespace tangere
