// SPDX-License-Identifier: Apache-2.0
#include "math/quat.hpp"

#include "math/random_rotation.hpp"
#include "math/transform.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace tangere::math {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kEpsilon = 0x1p-52;

TEST(QuatFromAxisAngle, QuarterTurnAboutZTakesXToY) {
  const Quat q = quatFromAxisAngle(Vec3{0, 0, 5}, kPi / 2);  // the length of the axis is free
  const Vec3 y = rotationMatrix(q) * Vec3{1, 0, 0};
  EXPECT_NEAR(y.x, 0.0, kEpsilon);
  EXPECT_NEAR(y.y, 1.0, kEpsilon);
  EXPECT_NEAR(y.z, 0.0, kEpsilon);
}

TEST(QuatFromAxisAngle, AxesOfAnyLengthGiveTheSameRotation) {
  const Quat expected = quatFromAxisAngle(Vec3{1, 2, 2}, 0.7);
  for (const double size : {1e-300, 1e-200, 1e-5, 1e10, 1e200, 5e307}) {
    const Quat q = quatFromAxisAngle(Vec3{1, 2, 2} * size, 0.7);
    EXPECT_NEAR(q.w, expected.w, kEpsilon);
    EXPECT_NEAR(q.x, expected.x, 2 * kEpsilon) << size;
    EXPECT_NEAR(q.z, expected.z, 2 * kEpsilon) << size;
  }
  EXPECT_EQ(quatFromAxisAngle(Vec3{0, 0, 0}, 0.7), Quat{});
}

TEST(RotationExp, AgreesWithTheQuaternionForAnyAngle) {
  TestRandom random(1);
  for (int i = 0; i < 5000; ++i) {
    const double size = random.powerOfTen(-12, 1);
    const Vec3 w = random.vector(size);
    const Mat3 R = rotationExp(w);
    EXPECT_LE(largestDifference(R, rotationMatrix(quatExp(w))), 8 * kEpsilon);
    EXPECT_TRUE(isRotation(R, 16 * kEpsilon));  // about eight roundings in each of three products
  }
}

TEST(RotationExp, TinyAnglesKeepTheirRelativeAccuracy) {
  for (const double t : {1e-300, 1e-160, 1e-20, 1e-9, 1e-5}) {
    const Mat3 R = rotationExp(Vec3{t, 0, 0});
    EXPECT_NEAR(R(2, 1) / std::sin(t), 1.0, 2 * kEpsilon) << t;
    EXPECT_NEAR(R(1, 2) / std::sin(t), -1.0, 2 * kEpsilon) << t;
    EXPECT_EQ(R(0, 0), 1.0);
  }
  // The second-order term, where 1 - cos would have no correct digit left.
  const Mat3 R = rotationExp(Vec3{1e-9, 1e-9, 0});
  EXPECT_NEAR(R(0, 1) / 0.5e-18, 1.0, 8 * kEpsilon);  // w_x w_y / 2, and w_z = 0
  EXPECT_EQ(rotationExp(Vec3{0, 0, 0}), Mat3::identity());
}

TEST(RotationExp, FloatMatchesDoubleToItsPrecision) {
  const Mat3T<float> R = rotationExp(Vec3T<float>{0.3f, -0.2f, 0.9f});
  const Mat3 reference = rotationExp(Vec3{0.3f, -0.2f, 0.9f});
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(R(i, j), reference(i, j), 4e-7);
  }
}

TEST(QuatFromRotation, ReturnsTheRotationItCameFrom) {
  TestRandom random(2);
  for (int i = 0; i < 5000; ++i) {
    const Mat3 R = rotationMatrix(random.quat());
    const Quat q = quatFromRotation(R);
    EXPECT_GE(q.w, 0.0);
    EXPECT_LE(largestDifference(rotationMatrix(q), R), 8 * kEpsilon);
  }
}

TEST(QuatFromRotation, HalfTurnsAboutEveryAxisAreFound) {
  TestRandom random(3);
  for (int i = 0; i < 2000; ++i) {  // w vanishes: each of the other three branches is taken
    const Mat3 R = rotationMatrix(quatFromAxisAngle(random.unitVector(), kPi));
    EXPECT_LE(largestDifference(rotationMatrix(quatFromRotation(R)), R), 8 * kEpsilon);
  }
  EXPECT_EQ(quatFromRotation(Mat3{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}), (Quat{0, 1, 0, 0}));
  EXPECT_EQ(quatFromRotation(Mat3{{{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}}}), (Quat{0, 0, 1, 0}));
  EXPECT_EQ(quatFromRotation(Mat3{{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}}), (Quat{0, 0, 0, 1}));
}

TEST(RotationVector, IsTheInverseOfTheExponential) {
  TestRandom random(4);
  for (int i = 0; i < 5000; ++i) {
    const double angle = random.powerOfTen(-12, 0.49);  // below pi
    const Vec3 w = random.unitVector() * angle;
    const Vec3 back = rotationVector(quatExp(w));
    EXPECT_LE(tangere::norm(back - w), 8 * kEpsilon * tangere::norm(w));
  }
  EXPECT_EQ(rotationVector(Quat{}), Vec3{});
  EXPECT_EQ(rotationVector(Quat{-1, 0, 0, 0}), Vec3{});
}

/// 200 bits: every entry of a rotation from a quaternion of doubles, with 140 to spare.
class Exact {
 public:
  explicit Exact(double value = 0) {
    mpfr_init2(value_, 200);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Exact(const Exact& o) : Exact() { mpfr_set(value_, o.value_, MPFR_RNDN); }
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clear(value_); }

  friend Exact operator+(const Exact& a, const Exact& b) { return make(mpfr_add, a, b); }
  friend Exact operator-(const Exact& a, const Exact& b) { return make(mpfr_sub, a, b); }
  friend Exact operator*(const Exact& a, const Exact& b) { return make(mpfr_mul, a, b); }
  friend Exact operator/(const Exact& a, const Exact& b) { return make(mpfr_div, a, b); }
  [[nodiscard]] double rounded() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  template <class Function>
  static Exact make(Function function, const Exact& a, const Exact& b) {
    Exact result;
    function(result.value_, a.value_, b.value_, MPFR_RNDN);
    return result;
  }
  mpfr_t value_;
};

/// The rotation of q/|q| by its rational formula, each entry rounded once.
Mat3 exactRotation(const Quat& q) {
  const Exact w(q.w), x(q.x), y(q.y), z(q.z), two(2);
  const Exact ww = w * w, xx = x * x, yy = y * y, zz = z * z, square = ww + xx + yy + zz;
  const auto entry = [&](const Exact& numerator) { return (numerator / square).rounded(); };
  Mat3 R;
  R(0, 0) = entry(ww + xx - yy - zz);
  R(1, 1) = entry(ww - xx + yy - zz);
  R(2, 2) = entry(ww - xx - yy + zz);
  R(0, 1) = entry(two * (x * y - w * z));
  R(1, 0) = entry(two * (x * y + w * z));
  R(0, 2) = entry(two * (x * z + w * y));
  R(2, 0) = entry(two * (x * z - w * y));
  R(1, 2) = entry(two * (y * z - w * x));
  R(2, 1) = entry(two * (y * z + w * x));
  return R;
}

TEST(RotationMatrix, QuaternionsOfEverySizeKeepTheirDigits) {
  TestRandom random(6);
  // Where squares leave the range of double, where the sum does, the smallest and the largest.
  for (const double size : {5e-324, 1e-320, 1e-300, 1e-162, 1e-159, 1e-154, 1e-137, 1e-100, 1.0,
                            1e100, 1e136, 1e153, 1e154, 1e155, 1e200, 1e308}) {
    for (int i = 0; i < 200; ++i) {
      const Quat unit = random.quat();
      const Quat q{unit.w * size, unit.x * size, unit.y * size, unit.z * size};
      if (q == Quat{0, 0, 0, 0}) continue;  // rounded away at 5e-324
      EXPECT_LE(largestDifference(rotationMatrix(q), exactRotation(q)), 6 * kEpsilon) << size;
    }
  }
}

template <class S>
void expectTheSameBitsForEveryPowerOfTwo() {
  using Limits = std::numeric_limits<S>;
  const QuatT<S> q{S(0.75), S(-0.5), S(0.3125), S(0.9375)};  // four bits: exact at every size
  const Mat3T<S> expected = rotationMatrix(q);
  const QuatT<S> expectedUnit = normalized(q);
  for (int e = Limits::min_exponent - Limits::digits + 4; e < Limits::max_exponent; ++e) {
    const S s = std::ldexp(S(1), e);
    const QuatT<S> scaled{q.w * s, q.x * s, q.y * s, q.z * s};
    EXPECT_EQ(rotationMatrix(scaled), expected) << e;
    EXPECT_EQ(normalized(scaled), expectedUnit) << e;
  }
}

TEST(RotationMatrix, APowerOfTwoDoesNotChangeABit) {
  expectTheSameBitsForEveryPowerOfTwo<double>();
  expectTheSameBitsForEveryPowerOfTwo<float>();
}

TEST(RotationMatrix, AZeroQuaternionHasNoRotation) {
  EXPECT_FALSE(std::isfinite(rotationMatrix(Quat{0, 0, 0, 0})(0, 0)));
}

TEST(Rotate, AgreesWithTheMatrixAndTheConjugateUndoesIt) {
  TestRandom random(5);
  for (int i = 0; i < 1000; ++i) {
    const Quat q = random.quat();
    const Vec3 v = random.vector(10.0);
    const double bound = 16 * kEpsilon * tangere::norm(v);
    EXPECT_LE(tangere::norm(rotate(q, v) - rotationMatrix(q) * v), bound);
    EXPECT_LE(tangere::norm(rotate(conjugate(q), rotate(q, v)) - v), bound);
  }
}

}  // namespace
}  // namespace tangere::math
