// SPDX-License-Identifier: Apache-2.0
//
// Generated pairs of shapes for the property tests, and the words to describe one that fails.
#pragma once

#include <workload.hpp>

#include <tangere/collision.hpp>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace tangere::properties {

using workload::Random;
using workload::ShapePtr;

inline constexpr ShapeType kSolidTypes[] = {
    ShapeType::Sphere, ShapeType::Box,       ShapeType::Capsule, ShapeType::Cylinder,
    ShapeType::Cone,   ShapeType::Ellipsoid, ShapeType::Plane,   ShapeType::Convex};
inline constexpr int kNumSolidTypes = 8;

struct GeneratedPair {
  ShapePtr shape1, shape2;
  workload::PosePair pose;
  Real radius1 = 0, radius2 = 0;
  std::uint64_t seed = 0;

  /// What errors are measured by: the smaller of the two [m].
  [[nodiscard]] Real scale() const { return std::fmin(radius1, radius2); }
  /// The rounding that the poses alone bring with them [m].
  [[nodiscard]] Real rounding() const {
    const Real reach = norm(pose.X_W1.translation) + norm(pose.X_W2.translation);
    return 1e-15 * (reach + radius1 + radius2);
  }
};

inline Real boundingRadius(const Shape& shape) {
  if (shape.type() == ShapeType::Plane) return std::numeric_limits<Real>::infinity();
  const Aabb& box = shape.localAabb();
  return norm(box.halfExtents()) + norm(box.center());
}

/// Curved pairs without a closed form are solved by iteration and get 1e-6 of the scale, all others
/// 1e-9.
inline Real tolerance(const GeneratedPair& pair) {
  const auto isCurved = [](ShapeType type) {
    return type == ShapeType::Cylinder || type == ShapeType::Cone || type == ShapeType::Ellipsoid;
  };
  const bool curved = isCurved(pair.shape1->type()) || isCurved(pair.shape2->type());
  return (curved ? 1e-6 : 1e-9) * pair.scale() + 100 * pair.rounding();
}

inline ShapePtr randomSolid(ShapeType type, Real size, Real aspect, Random& random) {
  if (type == ShapeType::Plane) return std::make_shared<Plane>();
  return workload::randomConvex(type, size, aspect, random);
}

struct Ranges {
  Real smallest = 0.1, largest = 1;  ///< sizes of shape 1 [m]
  Real ratio = 3;                    ///< shape 2 is smaller or larger by at most this
  Real aspect = 5;
};

/// Two shapes whose signed distance is about -1 to +1 of the smaller one's size.
inline GeneratedPair generatePair(ShapeType type1, ShapeType type2, const Ranges& ranges,
                                  std::uint64_t seed) {
  Random random(seed);
  GeneratedPair pair;
  pair.seed = seed;
  const Real size = random.magnitude(ranges.smallest, ranges.largest);
  const Real factor = random.magnitude(1, ranges.ratio);
  pair.shape1 = randomSolid(type1, size, ranges.aspect, random);
  pair.shape2 = randomSolid(type2, random.index(2) == 0 ? size * factor : size / factor,
                            ranges.aspect, random);
  pair.radius1 = boundingRadius(*pair.shape1);
  pair.radius2 = boundingRadius(*pair.shape2);
  const Real reach1 = std::isinf(pair.radius1) ? pair.radius2 : pair.radius1;
  const Real reach2 = std::isinf(pair.radius2) ? pair.radius1 : pair.radius2;
  pair.radius1 = reach1;
  pair.radius2 = reach2;
  pair.pose.X_W1 = {random.rotation(), random.pointInCube(2 * size)};
  pair.pose.X_W2 = {random.rotation(),
                    pair.pose.X_W1.translation + random.vector(1.1 * (reach1 + reach2))};
  return pair;
}

inline std::string describe(const GeneratedPair& pair) {
  char text[160];
  std::snprintf(text, sizeof text, "%.*s-%.*s seed %llu scale %.3g m",
                static_cast<int>(shapeTypeName(pair.shape1->type()).size()),
                shapeTypeName(pair.shape1->type()).data(),
                static_cast<int>(shapeTypeName(pair.shape2->type()).size()),
                shapeTypeName(pair.shape2->type()).data(),
                static_cast<unsigned long long>(pair.seed), pair.scale());
  return text;
}

inline DistanceResult distanceOf(const GeneratedPair& pair) {
  return distance(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2);
}

/// The gap between the supporting planes along the unit n, from shape 2 to shape 1: a lower bound
/// of the signed distance. A half space is supported along its own normal only: elsewhere
/// -infinity.
inline Real gapAlong(const GeneratedPair& pair, const Vec3& n) {
  const auto extreme = [](const Shape& shape, const Mat3& R, const Vec3& direction) {
    if (shape.type() != ShapeType::Plane)
      return dot(direction, R * shape.support(transposeTimes(R, direction)));
    const bool supported = norm(direction - R.col[2]) <= 1e-12;
    return supported ? 0 : std::numeric_limits<Real>::infinity();
  };
  const Vec3 between = pair.pose.X_W1.translation - pair.pose.X_W2.translation;
  return dot(n, between) - extreme(*pair.shape1, pair.pose.X_W1.rotation, -n) -
         extreme(*pair.shape2, pair.pose.X_W2.rotation, n);
}

/// Runs `check`, which uses ASSERT_*, on `perPair` cases of every ordered pair of types. A pair
/// that fails is reported once: how often, and the first case.
template <class Check>
void forEachPair(int perPair, const Ranges& ranges, std::uint64_t seed, const Check& check) {
  for (int i = 0; i < kNumSolidTypes; ++i)
    for (int j = 0; j < kNumSolidTypes; ++j) {
      if (kSolidTypes[i] == ShapeType::Plane && kSolidTypes[j] == ShapeType::Plane) continue;
      int numFailed = 0;
      std::string first;
      for (int k = 0; k < perPair; ++k) {
        const GeneratedPair pair =
            generatePair(kSolidTypes[i], kSolidTypes[j], ranges,
                         seed * 1000003 + static_cast<std::uint64_t>(i * 8 + j) * 10007 +
                             static_cast<std::uint64_t>(k));
        ::testing::TestPartResultArray failures;
        {
          const ::testing::ScopedFakeTestPartResultReporter reporter(
              ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD,
              &failures);
          check(pair);
        }
        if (failures.size() == 0) continue;
        if (++numFailed == 1)
          first = describe(pair) + "\n" + failures.GetTestPartResult(0).message();
      }
      if (numFailed > 0)
        ADD_FAILURE() << numFailed << " of " << perPair << " cases fail, the first: " << first;
    }
}

}  // namespace tangere::properties
