// SPDX-License-Identifier: Apache-2.0
//
// The kernels of elastic contacts: published numbers, smoothness, and derivatives against dual
// numbers and differences.
#include "integrator/kernels/elastic_force_law.hpp"

#include "math/dual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

namespace tangere::kernel {
namespace {

using math::Dual;

Real uniform(std::mt19937_64& random, Real lower, Real upper) {
  return lower + (upper - lower) * (static_cast<Real>(random() >> 11) * 0x1p-53);
}

TEST(ElasticForceLaw, RegularizedSizesAreThirdsAtZeroAndJoinTwiceDifferentiably) {
  constexpr Real small = 0.01;
  EXPECT_DOUBLE_EQ(regularizedSize(0.0, small), small / 3);
  EXPECT_DOUBLE_EQ(regularizedSize(small, small), small);
  EXPECT_EQ(regularizedSize(0.37, small), 0.37);
  EXPECT_NEAR(regularizedSize(small / 2, small), small * (0.25 * (1 - 1.0 / 6) + 1.0 / 3), 1e-17);
  // One-sided differences at the joint: value, slope and bend agree with those of the identity.
  const Real h = 1e-5 * small;
  const Real at = regularizedSize(small, small), before = regularizedSize(small - h, small);
  const Real beforeThat = regularizedSize(small - 2 * h, small);
  EXPECT_NEAR((at - before) / h, 1, 1e-9);
  EXPECT_NEAR((at - 2 * before + beforeThat) / (h * h), 0, 3e-5 / small);
  Real last = 0;
  for (Real size = 0; size < 2 * small; size += small / 64) {
    EXPECT_GE(regularizedSize(size, small), std::max(size, small / 3));
    EXPECT_GE(regularizedSize(size, small), last);
    last = regularizedSize(size, small);
  }
}

TEST(ElasticForceLaw, RegularizedSlopesAreThoseOfDualNumbers) {
  for (const Real size : {1e-9, 0.002, 0.0099, 0.0101, 3.0}) {
    const Dual moved = regularizedSize(Dual(size, 1), Dual(0.01));
    EXPECT_NEAR(regularizedSlopeOverSize(size, 0.01) * size, moved.rate, 1e-15) << size;
  }
  EXPECT_DOUBLE_EQ(regularizedSlopeOverSize(0.0, 0.01), 200);
}

TEST(ElasticForceLaw, RegularizedDirectionsHaveTheirSlopes) {
  std::mt19937_64 random(7);
  for (int sample = 0; sample < 200; ++sample) {
    const Real scale = std::pow(10.0, uniform(random, -4, 1));
    const Vec3 v{uniform(random, -scale, scale), uniform(random, -scale, scale),
                 uniform(random, -scale, scale)};
    const Mat3 slope = regularizedDirectionSlope(v, 0.01);
    for (int k = 0; k < 3; ++k) {
      Vec3T<Dual> moved{v.x, v.y, v.z};
      moved[k].rate = 1;
      const Vec3T<Dual> direction = regularizedDirection(moved, Dual(0.01));
      for (int row = 0; row < 3; ++row)
        EXPECT_NEAR(slope(row, k), direction[row].rate, 1e-12 / std::min(scale, 1.0));
    }
    EXPECT_LE(norm(regularizedDirection(v, 0.01)), 1 + 1e-15);
  }
  const Mat3 still = regularizedDirectionSlope(Vec3{}, 0.01);
  EXPECT_DOUBLE_EQ(still(0, 0), 300);
  EXPECT_EQ(still(0, 1), 0);
}

TEST(ElasticForceLaw, ExactDampingNumbersAreThePublishedOnes) {
  const std::pair<Real, Real> published[] = {
      {0.9, 0.166482}, {0.7, 0.634828}, {0.5, 1.432751}, {0.3, 3.087082}, {0.1, 9.998159}};
  for (const auto& [e, D] : published) EXPECT_NEAR(exactDampingNumber(e), D, 5e-7) << e;
  EXPECT_EQ(exactDampingNumber(1.0), 0);
}

TEST(ElasticForceLaw, ExactDampingNumbersSolveTheirEquation) {
  for (Real e = 0.04; e < 1; e += 0.01) {
    const Real D = exactDampingNumber(e);
    ASSERT_GT(D, 0);
    ASSERT_LE(D, 1 / e);
    // In extended precision; the logarithm is steep where 1 - D e is small.
    const long double left = static_cast<long double>(D) * (1 + static_cast<long double>(e));
    const long double gap = 1 - static_cast<long double>(D) * e;
    const long double right = std::log((1 + static_cast<long double>(D)) / gap);
    const Real steep = static_cast<Real>(1 / gap);
    EXPECT_NEAR(static_cast<Real>(left - right), 0, 1e-15 * (10 + steep)) << e;
  }
  // Where both sides of the equation agree to all digits the series still tells them apart.
  for (const Real lost : {1e-3, 1e-6, 1e-9, 1e-12}) {
    const Real e = 1 - lost;
    EXPECT_NEAR(exactDampingNumber(e) / (1.5 * (1 - e)), 1, 2 * lost);
  }
  EXPECT_NEAR(exactDampingNumber(1e-4) * 1e-4, 1, 1e-15);
  EXPECT_NEAR(static_cast<Real>(exactDampingNumber(0.7f)), 0.634828, 1e-6);
}

TEST(ElasticForceLaw, DampingIsBoundedAndFullWhereNothingBounces) {
  EXPECT_EQ(exactDamping(0.0, 1.0, 2000.0), 2000);
  EXPECT_EQ(exactDamping(0.7, 0.0, 2000.0), 2000);
  EXPECT_EQ(exactDamping(0.7, 1e-9, 2000.0), 2000);
  EXPECT_EQ(exactDamping(1.0, 1.0, 2000.0), 0);
  EXPECT_EQ(floresDamping(0.0, 1.0, 2000.0), 2000);
  EXPECT_EQ(floresDamping(1.0, 1.0, 2000.0), 0);
  // The log of the bouncing steel sphere: restitution 0.7 at 0.0312 m/s gives 22.0.
  EXPECT_NEAR(floresDamping(0.7, 0.0312, 2000.0), 22.0, 0.05);
  EXPECT_NEAR(exactDamping(0.7, 2.0, 2000.0), 0.634828 / 2, 1e-6);
}

/// Speed after an impact over speed before it, by fourth-order steps in the phase plane: depth x,
/// rate v, mass 1.
Real measuredRestitution(const std::function<Real(Real, Real)>& force, Real speed, Real duration) {
  constexpr int numSteps = 200000;
  const Real h = duration / numSteps;
  Real x = 0, v = speed;
  for (int i = 0; i < 4 * numSteps; ++i) {
    const auto slope = [&](Real depth, Real rate) {
      return std::pair<Real, Real>{rate, -force(std::max(depth, Real(0)), rate)};
    };
    const auto [x1, v1] = slope(x, v);
    const auto [x2, v2] = slope(x + h / 2 * x1, v + h / 2 * v1);
    const auto [x3, v3] = slope(x + h / 2 * x2, v + h / 2 * v2);
    const auto [x4, v4] = slope(x + h * x3, v + h * v3);
    const Real nextX = x + h / 6 * (x1 + 2 * x2 + 2 * x3 + x4);
    v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    x = nextX;
    if (i > 10 && x <= 0) break;
  }
  return -v / speed;
}

TEST(ElasticForceLaw, ExactDampingGivesTheRestitutionThatWasAskedFor) {
  constexpr Real stiffness = 1e6, speed = 2;
  for (const Real e : {0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0}) {
    const Real d = exactDamping(e, speed, 2000.0);
    // The depth of an undamped impact: 1/2 v^2 = 2/5 k x^(5/2).
    const Real duration = 3 * std::pow(1.25 * speed * speed / stiffness, 0.4) / speed;
    const Real hertz = measuredRestitution(
        [&](Real x, Real v) { return hertzForce(stiffness, d, x, v).force; }, speed, duration);
    EXPECT_NEAR(hertz, e, 1e-6);
    const Real linear = measuredRestitution(
        [&](Real x, Real v) { return huntCrossleyForce(stiffness, d, x, v).force; }, speed,
        4 / std::sqrt(stiffness));
    EXPECT_NEAR(linear, e, 1e-6);
  }
}

TEST(ElasticForceLaw, HysteresisGivesTheRestitutionAtEverySpeedAboveTheSmallOne) {
  constexpr Real stiffness = 1e6, small = 1e-6;
  for (const Real e : {0.1, 0.3, 0.7, 0.9, 0.99, 1.0}) {
    for (const Real speed : {0.1, 2.0}) {
      const Real duration = 3 * std::pow(1.25 * speed * speed / stiffness, 0.4) / speed;
      const Real measured = measuredRestitution(
          [&](Real x, Real v) {
            return hystereticHertzForce(stiffness, hysteresisNumber(e), small, x, v).force;
          },
          speed, duration / std::min(1.0, e + 0.2));
      EXPECT_NEAR(measured, e, 2e-3) << speed;
    }
  }
  EXPECT_EQ(hysteresisNumber(0.0), 1);
  EXPECT_EQ(hysteresisNumber(1.0), 0);
}

TEST(ElasticForceLaw, FloresDampingGivesTheKnownOnes) {
  constexpr Real stiffness = 1e6, speed = 2;
  const std::pair<Real, Real> known[] = {
      {0.9, 0.894}, {0.7, 0.683}, {0.5, 0.470}, {0.3, 0.256}, {0.1, 0.069}};
  for (const auto& [e, measured] : known) {
    const Real d = floresDamping(e, speed, 2000.0);
    const Real duration = 3 * std::pow(1.25 * speed * speed / stiffness, 0.4) / speed;
    EXPECT_NEAR(
        measuredRestitution([&](Real x, Real v) { return hertzForce(stiffness, d, x, v).force; },
                            speed, duration),
        measured, 6e-4);
  }
}

TEST(ElasticForceLaw, NormalForcesNeverPullAndSayWhereTheyWould) {
  std::mt19937_64 random(3);
  for (int sample = 0; sample < 10000; ++sample) {
    const Real depth = uniform(random, -1e-3, 1e-3), rate = uniform(random, -2, 2);
    for (const NormalForce<Real>& normal :
         {hertzForce(1e9, 0.9, depth, rate), huntCrossleyForce(1e6, 0.9, depth, rate),
          relaxingForce(1e6, 0.001, depth, rate), restForce(2.0, 1e4, 1.0, depth, rate)}) {
      EXPECT_GE(normal.force, 0);
      EXPECT_TRUE(normal.tension > 0 || normal.force == 0);
      EXPECT_TRUE(normal.force > 0 || (normal.byDepth == 0 && normal.byRate == 0) || depth <= 0);
    }
  }
  EXPECT_EQ(hertzForce(1e9, 0.5, 1e-3, -2.0).tension, 0);
  EXPECT_EQ(hertzForce(1e9, 0.5, -1e-3, 1.0).force, 0);
  EXPECT_NEAR(hertzForce(3.0, 0.0, 4.0, 0.0).force, 24, 1e-14);
}

TEST(ElasticForceLaw, SlopesOfNormalForcesAreThoseOfDualNumbers) {
  std::mt19937_64 random(5);
  using Law = std::function<NormalForce<Dual>(Dual, Dual)>;
  const Law laws[] = {
      [](Dual x, Dual v) { return hertzForce(Dual(1e9), Dual(0.7), x, v); },
      [](Dual x, Dual v) { return hystereticHertzForce(Dual(1e9), Dual(0.7), Dual(0.5), x, v); },
      [](Dual x, Dual v) { return huntCrossleyForce(Dual(1e6), Dual(0.7), x, v); },
      [](Dual x, Dual v) { return relaxingForce(Dual(1e6), Dual(0.002), x, v); },
      [](Dual x, Dual v) { return restForce(Dual(3.0), Dual(1e4), Dual(1.0), x, v); }};
  for (int sample = 0; sample < 500; ++sample) {
    const Real depth = uniform(random, 1e-6, 1e-3), rate = uniform(random, -2, 2);
    for (const Law& law : laws) {
      const NormalForce<Dual> byDepth = law(Dual(depth, 1), Dual(rate));
      const NormalForce<Dual> byRate = law(Dual(depth), Dual(rate, 1));
      EXPECT_NEAR(byDepth.byDepth.value, byDepth.force.rate,
                  1e-12 * std::abs(byDepth.force.rate) + 1e-9);
      EXPECT_NEAR(byRate.byRate.value, byRate.force.rate,
                  1e-12 * std::abs(byRate.force.rate) + 1e-9);
    }
  }
}

TEST(ElasticForceLaw, WhatIsDeepIsLedOutAtTheLimitedSpeed) {
  constexpr Real frequency = 6e4, mass = 2, maxSpeed = 1;
  // No force at the limit, a push below it, continuous where the damping begins to grow.
  EXPECT_EQ(restForce(mass, frequency, maxSpeed, 0.1, -1.0).force, 0);
  EXPECT_GT(restForce(mass, frequency, maxSpeed, 0.1, -0.99).force, 0);
  const Real edge = 2 * maxSpeed / frequency;
  for (const Real rate : {-0.9, 0.0, 0.7})
    EXPECT_NEAR(restForce(mass, frequency, maxSpeed, edge * (1 - 1e-12), rate).force,
                restForce(mass, frequency, maxSpeed, edge * (1 + 1e-12), rate).force, 1e-4);
  // A load is held at the depth of the spring, however heavy.
  EXPECT_DOUBLE_EQ(restForce(mass, frequency, maxSpeed, 0.1, 0.0).force,
                   mass * frequency * frequency * 0.1);
}

}  // namespace
}  // namespace tangere::kernel
