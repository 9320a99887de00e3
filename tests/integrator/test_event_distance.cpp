// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_distance.hpp"

#include "collision/golden_queries.hpp"
#include "collision/random_shapes.hpp"
#include "geometry/shape_of_lengths.hpp"
#include "integrator/long_double_reference.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tangere::integrator {
namespace {

using test::LongDistance;
using test::Random;
using ShapePtr = std::shared_ptr<const Shape>;

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr ShapeType kConvexTypes[] = {ShapeType::Sphere,   ShapeType::Box,  ShapeType::Capsule,
                                      ShapeType::Cylinder, ShapeType::Cone, ShapeType::Ellipsoid,
                                      ShapeType::Convex};

ShapePtr randomShape(Random& random, ShapeType type, Real scale) {
  const auto length = [&] { return scale * random.uniform(0.2, 1); };
  const Real a = length(), b = length(), c = length();
  if (auto shape = test::shapeOfLengths(type, a, b, c)) return shape;
  std::vector<Vec3> points;
  const int count = 8 + random.below(20);
  for (int i = 0; i < count; ++i)
    points.push_back(Vec3{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)} *
                     scale);
  return std::make_shared<Convex>(points);
}

struct Scene {
  ShapePtr shape1, shape2;
  Transform X_W1, X_W2;
};

/// Two shapes that a random translation brings to about `distance` from each other: what they touch
/// with is then as it is in life, a corner and a face, two edges, or curved.
Scene nearTouch(Random& random, ShapeType type1, ShapeType type2, Real scale, Real distance,
                const Vec3& place) {
  Scene s{randomShape(random, type1, scale), randomShape(random, type2, scale), {}, {}};
  s.X_W1 = {random.rotation(), place};
  s.X_W2 = {random.rotation(), {}};
  const Vec3 along = random.direction();
  Real near = 0, far = 8 * scale;
  for (int i = 0; i < 60; ++i) {
    const Real t = (near + far) / 2;
    s.X_W2.translation = place + along * t;
    const Real found = pairDistance(*s.shape1, s.X_W1, *s.shape2, s.X_W2, scale, nullptr);
    (found > distance ? far : near) = t;
  }
  s.X_W2.translation = place + along * far;
  return s;
}

Real randomGap(Random& random, Real scale) {
  const int kind = random.below(3);
  if (kind == 0) return 0;
  const Real size = scale * std::pow(10, random.uniform(-13, -4));
  return kind == 1 ? size : -size;
}

std::string nameOf(const Scene& s) {
  return std::string(shapeTypeName(s.shape1->type())) + "-" +
         std::string(shapeTypeName(s.shape2->type()));
}

struct Accuracy {
  Real distance = 0, normal = 0, point = 0;
};

// The largest errors of all convex pairs near touch, lengths relative to the size of the pair.
void checkAccuracy(Real scale, const Vec3& place, int count, const Accuracy& most) {
  Random random(11);
  for (const ShapeType type1 : kConvexTypes)
    for (const ShapeType type2 : kConvexTypes) {
      Accuracy worst;
      std::string name;
      for (int i = 0; i < count; ++i) {
        const Scene s = nearTouch(random, type1, type2, scale, randomGap(random, scale), place);
        name = nameOf(s);
        PairDistance found;
        evaluatePair(*s.shape1, s.X_W1, *s.shape2, s.X_W2, &found, nullptr);
        const LongDistance exact = test::longDistance(*s.shape1, s.X_W1, *s.shape2, s.X_W2);
        ASSERT_TRUE(exact.converged) << name;
        ASSERT_LE(exact.gap, 3e-15L * exact.size) << name;
        ASSERT_EQ(found.status, QueryStatus::Ok) << name;
        ASSERT_GE(found.numPoints, 1);
        const DistanceResult nearest = nearestPoints(*s.shape1, s.X_W1, *s.shape2, s.X_W2, nullptr);
        EXPECT_EQ(nearest.distance, found.distance) << name;
        const Real size = static_cast<Real>(exact.size);
        worst.distance = std::max(
            worst.distance, static_cast<Real>(std::fabs(found.distance - exact.distance)) / size);
        worst.normal = std::max(
            worst.normal, static_cast<Real>(norm(test::widen(nearest.normal) - exact.normal)));
        worst.point = std::max(
            worst.point, static_cast<Real>(norm(test::widen(nearest.point1) -
                                                test::widen(s.X_W1.translation) - exact.point1)) /
                             size);
      }
      EXPECT_LE(worst.distance, most.distance) << name;
      EXPECT_LE(worst.normal, most.normal) << name;
      EXPECT_LE(worst.point, most.point) << name;
    }
}

TEST(EventDistance, IsExactToRoundingForEveryConvexPairNearTouch) {
  checkAccuracy(1, {0.3, -0.2, 0.5}, 150, {4e-15, 1e-12, 1e-11});
}

TEST(EventDistance, IsExactToRoundingForSmallAndLargeShapes) {
  checkAccuracy(1e-6, {}, 20, {4e-15, 1e-12, 1e-11});
  checkAccuracy(1e6, {}, 20, {4e-15, 1e-12, 1e-11});
}

TEST(EventDistance, LosesNoDigitsFarFromTheOrigin) {
  // Points are given in the world, where they have the digits of its coordinates only.
  checkAccuracy(1, {1e3, -2e3, 1.5e3}, 20, {4e-15, 1e-12, 1e-11});
  checkAccuracy(1, {1e6, 2e6, -1.7e6}, 20, {4e-15, 1e-12, 2e-9});
}

TEST(EventDistance, AnswersTheSameWithAHintOfAnotherPlace) {
  Random random(5);
  for (const ShapeType type1 : kConvexTypes)
    for (const ShapeType type2 : kConvexTypes) {
      Scene s = nearTouch(random, type1, type2, 1, 1e-5, {});
      PairCache hint;
      PairDistance warm, cold;
      for (int i = 0; i < 50; ++i) {
        s.X_W1.translation += Vec3{1e-6, -2e-6, 1e-6} * random.uniform(-1, 1);
        s.X_W1.rotation =
            s.X_W1.rotation * rotationMatrix(Quat{1, 1e-6, random.uniform(-1e-6, 1e-6), 0});
        evaluatePair(*s.shape1, s.X_W1, *s.shape2, s.X_W2, &warm, &hint);
        evaluatePair(*s.shape1, s.X_W1, *s.shape2, s.X_W2, &cold, nullptr);
        EXPECT_NEAR(warm.distance, cold.distance, 1e-14) << nameOf(s);
      }
    }
}

// Pose after time t of a body that turns about its origin.
Transform moved(const Transform& X, const Vec3& velocity, const Vec3& spin, Real t) {
  const Real angle = norm(spin) * t;
  Mat3 turn = Mat3::identity();
  if (angle != 0) {
    const Vec3 axis = spin / norm(spin) * std::sin(angle / 2);
    turn = rotationMatrix(Quat{std::cos(angle / 2), axis.x, axis.y, axis.z});
  }
  return {turn * X.rotation, X.translation + velocity * t};
}

TEST(EventDistance, ChangesInTimeByTheNormalVelocityOfTheNearestPoints) {
  Random random(21);
  for (const ShapeType type1 : kConvexTypes)
    for (const ShapeType type2 : kConvexTypes)
      for (int i = 0; i < 20; ++i) {
        const Scene s = nearTouch(random, type1, type2, 1, randomGap(random, 1), {});
        const Vec3 v1 = random.direction(), v2 = random.direction();
        const Vec3 w1 = random.direction(), w2 = random.direction();
        const auto at = [&](Real t) {
          return pairDistance(*s.shape1, moved(s.X_W1, v1, w1, t), *s.shape2,
                              moved(s.X_W2, v2, w2, t), 1, nullptr);
        };
        const DistanceResult d = nearestPoints(*s.shape1, s.X_W1, *s.shape2, s.X_W2, nullptr);
        const Vec3 atPoint1 = v1 + cross(w1, d.point1 - s.X_W1.translation);
        const Vec3 atPoint2 = v2 + cross(w2, d.point2 - s.X_W2.translation);
        const Real rate = dot(d.normal, atPoint1 - atPoint2);
        const Real h = 1e-6;
        const Real left = (at(0) - at(-h)) / h, right = (at(h) - at(0)) / h;
        // A change of feature within the difference has two slopes, and the rate is one of them.
        if (std::fabs(left - right) > 1e-3) continue;
        EXPECT_NEAR((left + right) / 2, rate, 2e-7) << nameOf(s);
      }
}

struct Wrench {
  Vec3 force{}, torque{};
};
Real difference(const Wrench& a, const Wrench& b) {
  return std::max(norm(a.force - b.force), norm(a.torque - b.torque));
}

enum class Law { Hertz, Linear };

// The force of a law at all points, on shape 1 and about its origin, for a depth of order one.
Wrench wrenchOf(const Scene& s, Real depth, PairCache* hint, Law law = Law::Hertz) {
  PairDistance found;
  evaluatePair(*s.shape1, s.X_W1, *s.shape2, s.X_W2, &found, hint);
  EXPECT_EQ(found.status, QueryStatus::Ok);
  limitCounts(&found);
  Wrench sum;
  for (int i = 0; i < found.numPoints; ++i) {
    const EventPoint& p = found.points[static_cast<std::size_t>(i)];
    const Real x = std::fmax(-p.distance, Real(0)) / depth;
    const Vec3 force = p.normal * (law == Law::Hertz ? p.share * x * std::sqrt(x) : p.count * x);
    sum.force += force;
    sum.torque += cross(p.position - s.X_W1.translation, force);
  }
  return sum;
}

// The largest change of the wrench between neighbours of `count` poses of a motion.
Real largestStep(const std::function<Scene(Real)>& motion, Real depth, int count, Law law) {
  Real largest = 0;
  PairCache hint;
  Wrench last = wrenchOf(motion(0), depth, &hint, law);
  for (int i = 1; i <= count; ++i) {
    const Wrench next = wrenchOf(motion(Real(i) / count), depth, &hint, law);
    largest = std::max(largest, difference(last, next));
    last = next;
  }
  return largest;
}

// A continuous force changes ever less between ever closer poses; a jump stays.
void expectContinuous(const char* name, const std::function<Scene(Real)>& motion, Real depth) {
  for (const Law law : {Law::Hertz, Law::Linear}) {
    const Real coarse = largestStep(motion, depth, 1000, law);
    const Real fine = largestStep(motion, depth, 64000, law);
    EXPECT_GT(coarse, 0) << name;
    EXPECT_LE(fine, 0.06 * coarse + 1e-9) << name << (law == Law::Linear ? ", of points" : "");
  }
}

Mat3 turned(Real x, Real y, Real z) { return rotationMatrix(Quat{1, x / 2, y / 2, z / 2}); }

TEST(EventPoints, ForceOfAnythingOnAHalfSpaceIsContinuous) {
  const auto plane = std::make_shared<Plane>();
  const Real depth = 1e-4;
  const auto onPlane = [&](const ShapePtr& shape, Real height,
                           const std::function<Mat3(Real)>& attitude) {
    return [=](Real t) {
      return Scene{shape, plane, {attitude(t), {0.2 * t, 0, height - depth}}, {}};
    };
  };
  // Tilts pass through flat, with the lowest corner going round.
  const auto wobble = [](Real t) { return turned(4e-4 * (t - 0.5), 1e-4 * (t - 0.4), 3 * t); };
  expectContinuous("box", onPlane(std::make_shared<Box>(Vec3{0.5, 0.4, 0.3}), 0.3, wobble), depth);
  expectContinuous("cylinder", onPlane(std::make_shared<Cylinder>(0.5, 0.3), 0.3, wobble), depth);
  expectContinuous("cone", onPlane(std::make_shared<Cone>(0.5, 0.3), 0.3, wobble), depth);
  std::vector<Vec3> prism;
  for (const Real z : {-0.3, 0.3})
    for (const Vec3& p : {Vec3{0.5, 0, 0}, Vec3{0.2, 0.4, 0}, Vec3{-0.4, 0.3, 0},
                          Vec3{-0.3, -0.5, 0}, Vec3{0.3, -0.4, 0}})
      prism.push_back({p.x, p.y, z});
  expectContinuous("hull", onPlane(std::make_shared<Convex>(prism), 0.3, wobble), depth);
  const Mat3 lying{{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}};
  const auto rolling = [lying](Real t) {
    return turned(0, 4e-4 * (t - 0.5), 0) * lying * turned(0, 0, t);
  };
  expectContinuous("capsule", onPlane(std::make_shared<Capsule>(0.2, 0.5), 0.2, rolling), depth);
  expectContinuous("lying cylinder", onPlane(std::make_shared<Cylinder>(0.2, 0.5), 0.2, rolling),
                   depth);
}

TEST(EventPoints, ForceOfAFaceOnAFaceIsContinuousWhileItTiltsAndSlidesOverEdges) {
  const Real depth = 1e-4;
  const auto onTop = [&](const ShapePtr& upper, const ShapePtr& lower, Real height,
                         const std::function<Mat3(Real)>& attitude, const Vec3& from,
                         const Vec3& to) {
    return [=](Real t) {
      const Vec3 p = from + (to - from) * t + Vec3{0, 0, height - depth};
      return Scene{upper, lower, {attitude(t), p}, {}};
    };
  };
  const auto box = [](Real x, Real y, Real z) { return std::make_shared<Box>(Vec3{x, y, z}); };
  // Parallel faces: corners pass edges, edges pass corners.
  const auto yaw = [](Real t) { return turned(0, 0, 0.3 + t); };
  expectContinuous(
      "sliding boxes",
      onTop(box(0.3, 0.2, 0.1), box(0.5, 0.5, 0.5), 0.6, yaw, {-0.4, 0, 0}, {0.45, 0.1, 0}), depth);
  expectContinuous("equal boxes turning",
                   onTop(box(0.5, 0.5, 0.1), box(0.5, 0.5, 0.5), 0.6, yaw, {}, {0.01, 0.02, 0}),
                   depth);
  // Tilting within a face.
  const auto wobble = [](Real t) { return turned(4e-4 * (t - 0.5), 1e-4 * (t - 0.4), 3 * t); };
  expectContinuous("tilting box",
                   onTop(box(0.3, 0.2, 0.1), box(0.9, 0.9, 0.5), 0.6, wobble, {}, {}), depth);
  expectContinuous(
      "tilting cylinder on a box",
      onTop(std::make_shared<Cylinder>(0.3, 0.2), box(0.9, 0.9, 0.5), 0.7, wobble, {}, {}), depth);
  expectContinuous("tilting cylinder on a cylinder",
                   onTop(std::make_shared<Cylinder>(0.3, 0.2), std::make_shared<Cylinder>(0.6, 0.5),
                         0.7, wobble, {}, {}),
                   depth);
  const auto still = [](Real) { return Mat3::identity(); };
  expectContinuous("cylinder over an edge",
                   onTop(std::make_shared<Cylinder>(0.3, 0.2), box(0.5, 0.5, 0.5), 0.7, still, {},
                         {0.45, 0.3, 0}),
                   depth);
}

// Edges that lie on each other cross at a point that rounding puts anywhere, or nowhere.
TEST(EventPoints, EqualFacesCarryTheSameWhereverTheirEdgesCross) {
  const Real depth = 1e-4;
  const auto upper = std::make_shared<Box>(Vec3{0.5, 0.4, 0.1}),
             lower = std::make_shared<Box>(Vec3{0.5, 0.4, 0.3});
  const auto at = [&](Real yaw, Real x, Real y) {
    // Tilted, so that one side is off: what a corner halfway carries would be missing elsewhere.
    const Mat3 attitude = turned(0, 3e-4, 0) * turned(0, 0, yaw);
    return wrenchOf({upper, lower, {attitude, {x, y, 0.4 - depth}}, {}}, depth, nullptr);
  };
  const Wrench straight = at(0, 0, 0);
  EXPECT_GT(straight.force.z, 0.1);
  EXPECT_GT(std::fabs(straight.torque.y), 0.1);
  for (const Real size : {1e-16, 1e-15, 1e-13, 3e-13, 1e-12, 1e-11, 1e-9, 1e-7})
    for (const Real yaw : {-size, Real(0), size})
      for (const Real x : {-0.3 * size, Real(0), 0.2 * size})
        for (const Real y : {-0.1 * size, Real(0), 0.4 * size})
          EXPECT_LE(difference(at(yaw, x, y), straight), 20 * size + 1e-9) << size;
}

// The pose lifted or lowered until the shapes overlap by `depth`.
Scene settled(Scene s, Real depth) {
  for (int i = 0; i < 60; ++i) {
    const Real d = pairDistance(*s.shape1, s.X_W1, *s.shape2, s.X_W2, 1e9, nullptr);
    s.X_W1.translation.z -= d + depth;
    if (std::fabs(d + depth) < 1e-15) break;
  }
  return s;
}

TEST(EventPoints, ForceOfABodyThatRollsFromFaceToFaceIsContinuous) {
  // Deep, so that the faces pass into each other slowly enough to be seen.
  const Real depth = 1e-2;
  const auto about = [](Real angle) {
    return rotationMatrix(Quat{std::cos(angle / 2), std::sin(angle / 2), 0, 0});
  };
  Random random(77);
  std::vector<Vec3> points;
  for (int i = 0; i < 30; ++i) points.push_back(random.direction() * 0.5);
  const ShapePtr plane = std::make_shared<Plane>(), table = std::make_shared<Box>(Vec3{2, 2, 0.5});
  const ShapePtr rolling[] = {
      std::make_shared<Box>(Vec3{0.3, 0.2, 0.1}), std::make_shared<Convex>(points),
      std::make_shared<Cylinder>(0.3, 0.02), std::make_shared<Cone>(0.3, 0.2)};
  for (const ShapePtr& ground : {plane, table})
    for (const ShapePtr& shape : rolling)
      expectContinuous(
          std::string(shapeTypeName(shape->type())).c_str(),
          [&](Real t) {
            const Mat3 R = about(3 * t) * turned(0, 0.1, 0.05);
            return settled({shape, ground, {R, {0, 0, 2}}, {}}, depth);
          },
          depth);
}

TEST(EventPoints, ForceOfALineOnAFaceIsContinuousWhileItRocksAndSlidesOverEdges) {
  const Real depth = 1e-4;
  const ShapePtr box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
  const Mat3 lying{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};  // the axis along y
  for (const ShapePtr& shape : {ShapePtr(std::make_shared<Capsule>(0.1, 0.3)),
                                ShapePtr(std::make_shared<Cylinder>(0.1, 0.3))}) {
    const std::string name(shapeTypeName(shape->type()));
    expectContinuous(
        (name + " rocking").c_str(),
        [&](Real t) {
          return Scene{
              shape, box, {turned(4e-3 * (t - 0.5), 0, 0) * lying, {0, 0, 0.6 - depth}}, {}};
        },
        depth);
    expectContinuous((name + " over an edge").c_str(),
                     [&](Real t) {
                       return Scene{shape, box, {lying, {0.1 * t, 0.7 * t, 0.6 - depth}}, {}};
                     },
                     depth);
  }
}

TEST(EventPoints, ForceOfTiltedFacesIsContinuousWhileTheySlideOverEdges) {
  const Real depth = 1e-4;
  const ShapePtr box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
  for (const ShapePtr& shape : {ShapePtr(std::make_shared<Box>(Vec3{0.3, 0.2, 0.1})),
                                ShapePtr(std::make_shared<Cylinder>(0.3, 0.1))})
    for (const Real tilt : {1e-5, 1e-4, 1e-3})
      expectContinuous(
          std::string(shapeTypeName(shape->type())).c_str(),
          [&](Real t) {
            const Mat3 R = turned(tilt * (t - 0.5), tilt / 2, 0.3);
            return settled({shape, box, {R, {0.45 * t, 0.3 * t, 0.6}}, {}}, depth);
          },
          depth);
}

TEST(EventPoints, ACylinderThatTiltsByRoundingKeepsItsForceAndItsTorque) {
  const auto plane = std::make_shared<Plane>();
  const auto cylinder = std::make_shared<Cylinder>(0.5, 0.3);
  const auto at = [&](Real tiltX, Real tiltY) {
    const Scene s{cylinder, plane, {turned(tiltX, tiltY, 0), {0, 0, 0.3 - 1e-4}}, {}};
    return wrenchOf(s, 1e-4, nullptr);
  };
  const Wrench flat = at(0, 0);
  for (const auto& [x, y] : {std::pair{1e-12, 0.0}, {-1e-12, 0.0}, {0.0, 1e-12}, {7e-13, -7e-13}})
    EXPECT_LE(difference(at(x, y), flat), 1e-7);  // 1e-12 rad of 0.5 m is 5e-9 of the depth
  EXPECT_NEAR(flat.force.z, 1, 1e-9);
  EXPECT_LE(norm(flat.torque), 1e-9);
}

TEST(EventPoints, CornersOfABoxKeepTheirNamesAndSharesAsTheyLift) {
  const Plane plane;
  const Box box({0.5, 0.4, 0.3});
  PairDistance found;
  for (const Real tilt : {0.0, 1e-12, 1e-6, 1e-4}) {
    evaluatePair(box, {turned(0, tilt, 0), {0, 0, 0.3}}, plane, {}, &found, nullptr);
    ASSERT_EQ(found.numPoints, 4) << tilt;
    int seen = 0;
    for (int i = 0; i < 4; ++i) {
      const EventPoint& p = found.points[static_cast<std::size_t>(i)];
      seen |= 1 << p.feature1;
      EXPECT_EQ(p.share, 0.25);
      EXPECT_EQ(p.weight, 1);
      EXPECT_EQ(p.normal.z, 1);
    }
    EXPECT_EQ(seen, 0b1111);
    EXPECT_EQ(found.points[0].distance, found.distance);
  }
}

/// A prism or, with an apex, a pyramid of n corners that stands on it.
ShapePtr hullOfCorners(int n, bool isPyramid) {
  std::vector<Vec3> points;
  for (int i = 0; i < n; ++i) {
    const Real angle = 6.283185307179586 * i / n + 0.1;
    const Vec3 p{0.5 * std::cos(angle), 0.4 * std::sin(angle), 0};
    points.push_back({p.x, p.y, 0.3});
    if (!isPyramid) points.push_back({p.x, p.y, -0.3});
  }
  if (isPyramid) points.push_back({0.1, 0, -0.3});
  return std::make_shared<Convex>(points);
}

TEST(EventPoints, APointOfAHullCountsOnceAndManyCountAsFour) {
  const auto countsOf = [](const Scene& s) {
    PairDistance found;
    evaluatePair(*s.shape1, s.X_W1, *s.shape2, s.X_W2, &found, nullptr);
    limitCounts(&found);
    std::vector<Real> counts;
    for (int i = 0; i < found.numPoints; ++i)
      counts.push_back(found.points[static_cast<std::size_t>(i)].count);
    return counts;
  };
  const ShapePtr plane = std::make_shared<Plane>(), table = std::make_shared<Box>(Vec3{2, 2, 1});
  for (const auto& [ground, below] : {std::pair{plane, Real(0)}, {table, Real(-1)}}) {
    const Transform X_WG{Mat3::identity(), {0, 0, below}};
    for (const int n : {3, 4, 5, 6, 8, 12}) {
      const Transform X_WH{turned(0, 0, 0.3), {0, 0, 0.3 - 1e-5}};
      const std::vector<Real> flat = countsOf({hullOfCorners(n, false), ground, X_WH, X_WG});
      ASSERT_EQ(flat.size(), static_cast<std::size_t>(n));
      for (const Real count : flat) EXPECT_NEAR(count, std::min(1.0, 4.0 / n), 1e-9) << n;
      const std::vector<Real> foot = countsOf({hullOfCorners(n, true), ground, X_WH, X_WG});
      ASSERT_EQ(foot.size(), 1u);
      EXPECT_NEAR(foot.front(), 1, 1e-12) << n;
      // On an edge of its lower face: two ends.
      const Real tilt = 0.3;
      const Mat3 R = turned(0, tilt, 0) * turned(0, 0, -0.1 - 3.141592653589793 / n);
      const ShapePtr prism = hullOfCorners(n, false);
      Real lowest = 0;
      for (const Vec3& p : static_cast<const Convex&>(*prism).vertices())
        lowest = std::min(lowest, (R * p).z);
      for (const Real count : countsOf({prism, ground, {R, {0, 0, -lowest - 1e-6}}, X_WG}))
        EXPECT_NEAR(count, 1, 1e-9) << n;
    }
  }
}

TEST(EventPoints, SharesOfAFaceOnAFaceSumToOneAndBalanceAboutItsCentroid) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Box lower({0.5, 0.5, 0.5}), upper({0.4, 0.3, 0.2});
    const Vec3 p{random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), 0.7 - 1e-5};
    PairDistance found;
    evaluatePair(upper, {turned(0, 0, random.uniform(-1, 1)), p}, lower, {}, &found, nullptr);
    ASSERT_GE(found.numPoints, 3);
    Real sum = 0;
    Vec3 mean{};
    for (int k = 0; k < found.numPoints; ++k) {
      const EventPoint& point = found.points[static_cast<std::size_t>(k)];
      sum += point.share;
      mean += point.position * point.share;
      EXPECT_NEAR(point.distance, -1e-5, 1e-15);
      EXPECT_NEAR(point.weight, 4 * point.share, 1e-15);
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    // The centroid from a fan of triangles, in the order round the mean.
    std::vector<Vec3> corners;
    for (int k = 0; k < found.numPoints; ++k)
      corners.push_back(found.points[static_cast<std::size_t>(k)].position);
    std::stable_sort(corners.begin(), corners.end(), [&](const Vec3& a, const Vec3& b) {
      return std::atan2(a.y - mean.y, a.x - mean.x) < std::atan2(b.y - mean.y, b.x - mean.x);
    });
    Real area = 0;
    Vec3 centroid{};
    for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
      const Real a = cross(corners[k] - corners[0], corners[k + 1] - corners[0]).z;
      area += a;
      centroid += (corners[0] + corners[k] + corners[k + 1]) * (a / 3);
    }
    EXPECT_LE(norm(mean - centroid / area), 1e-13);
  }
}

TEST(EventPoints, PartsOfACompoundTouchEachForThemselves) {
  const auto foot = std::make_shared<Sphere>(0.1);
  std::vector<Compound::Child> children;
  for (const Vec3& p : {Vec3{0.5, 0, 0}, Vec3{-0.5, 0, 0}, Vec3{0, 0.5, 1e-5}})
    children.push_back({foot, {Mat3::identity(), p}});
  const Compound table(children);
  const Plane plane;
  PairDistance found;
  evaluatePair(table, {Mat3::identity(), {0, 0, 0.1 - 2e-5}}, plane, {}, &found, nullptr);
  ASSERT_EQ(found.numPoints, 3);
  EXPECT_NEAR(found.distance, -2e-5, 1e-16);
  EXPECT_EQ(found.points[0].distance, found.distance);
  EXPECT_NEAR(pairDistance(table, {Mat3::identity(), {0, 0, 0.1 - 2e-5}}, plane, {}, 1, nullptr),
              -2e-5, 1e-16);
}

TEST(EventDistance, AgreesWithTheGoldenCasesOfEveryConvexPair) {
  const test::GoldenCases golden(TANGERE_TEST_DATA "/golden/collision");
  for (const test::GoldenCase& g : golden.cases()) {
    const std::unique_ptr<Shape> shape1 = test::makeShape(g.shape1);
    const std::unique_ptr<Shape> shape2 = test::makeShape(g.shape2);
    const DistanceResult d = nearestPoints(*shape1, g.X_W1, *shape2, g.X_W2, nullptr);
    const test::GoldenError error = test::judge(g, test::inFrame1(g, d));
    EXPECT_LT(error.worst(), 2e-13) << g.id << " " << g.category << " " << g.pair();
    EXPECT_EQ(d.status, QueryStatus::Ok) << g.id << " " << g.category << " " << g.pair();
  }
  EXPECT_GT(golden.cases().size(), 1500u);
}

TEST(EventDistance, BoundsTheDistanceFromBelowWhereThatIsEnough) {
  Random random(8);
  int bounded = 0;
  for (int i = 0; i < 3000; ++i) {
    const ShapePtr a = randomShape(random, kConvexTypes[random.below(7)], 1);
    const ShapePtr b = randomShape(random, kConvexTypes[random.below(7)], 1);
    const Vec3 far = random.direction() * random.uniform(0, 1e6);
    const Transform X_W1{random.rotation(), far};
    const Transform X_W2{random.rotation(), far + random.direction() * random.uniform(0, 6)};
    const Real enough = random.uniform(0, 2);
    const Real exact = nearestPoints(*a, X_W1, *b, X_W2, nullptr).distance;
    const Real found = pairDistance(*a, X_W1, *b, X_W2, enough, nullptr);
    if (found == exact) continue;
    ++bounded;
    EXPECT_GT(found, enough);
    EXPECT_LE(found, exact);
  }
  EXPECT_GT(bounded, 300);
}

TEST(EventDistance, TouchingShapesThatPortalRefinementRefusesAreAnswered) {
  // Coincident centres, and boxes as flat as a sheet.
  for (const ShapeType type1 : kConvexTypes)
    for (const ShapeType type2 : kConvexTypes) {
      Random random(2);
      const ShapePtr a = randomShape(random, type1, 1), b = randomShape(random, type2, 1);
      PairDistance found;
      evaluatePair(*a, {}, *b, {}, &found, nullptr);
      EXPECT_LT(found.distance, 0);
      EXPECT_TRUE(std::isfinite(found.distance));
      for (int i = 0; i < found.numPoints; ++i) {
        const EventPoint& p = found.points[static_cast<std::size_t>(i)];
        EXPECT_TRUE(std::isfinite(norm(p.position)));
        EXPECT_NEAR(norm(p.normal), 1, 1e-12);
      }
      const Box sheet({1, 1, 1e-9});
      evaluatePair(*a, {Mat3::identity(), {0, 0, 3}}, sheet, {}, &found, nullptr);
      EXPECT_GT(found.distance, 0);
    }
}

TEST(EventDistance, APoseThatIsNoneComesBackAsAStatus) {
  PairDistance found;
  for (const ShapeType type : kConvexTypes) {
    Random random(4);
    const ShapePtr shape = randomShape(random, type, 1);
    const Cylinder other(0.5, 0.5);
    for (const Real bad : {kNaN, std::numeric_limits<Real>::infinity(), Real(1e31)}) {
      evaluatePair(*shape, {Mat3::identity(), {bad, 0, 0}}, other, {}, &found, nullptr);
      EXPECT_EQ(found.status, QueryStatus::InvalidPose);
      EXPECT_TRUE(std::isfinite(found.distance));
    }
  }
}

TEST(EventDistance, HysteresisGrowsWithTheCoordinates) {
  const auto eps = [](Real x) { return contactEps({Mat3::identity(), {0, -x, 0}}, {}); };
  EXPECT_EQ(eps(0), 1e-13);
  EXPECT_EQ(eps(1), 1e-13);
  EXPECT_EQ(eps(1e6), 64 * std::numeric_limits<Real>::epsilon() * 1e6);
}

TEST(SafeStep, NeverClosesTheGap) {
  Random random(9);
  for (int i = 0; i < 20000; ++i) {
    const auto size = [&] { return std::pow(10, random.uniform(-12, 6)); };
    const Real d = size(), v = random.below(4) ? size() : 0, a = random.below(4) ? size() : 0;
    const Real t = safeStep(d, v, a);
    if (v == 0 && a == 0) {
      EXPECT_EQ(t, std::numeric_limits<Real>::infinity());
      continue;
    }
    const long double closed = (long double)v * t + 0.5L * a * t * t;
    EXPECT_LE(closed, d);
    EXPECT_GE(closed, d * 0.999999L);
  }
  EXPECT_EQ(safeStep(0, 1, 1), 0);
  EXPECT_EQ(safeStep(-1, 1, 1), 0);
  EXPECT_EQ(safeStep(kNaN, 1, 1), 0);
  EXPECT_EQ(safeStep(1, -5, 0), std::numeric_limits<Real>::infinity());
}

TEST(SafeStep, NoMotionWithinTheBoundsClosesFaster) {
  Random random(10);
  for (int i = 0; i < 2000; ++i) {
    const ShapePtr a = randomShape(random, kConvexTypes[random.below(7)], 1);
    const ShapePtr b = randomShape(random, kConvexTypes[random.below(7)], 1);
    const Transform X_1S{random.rotation(), random.direction() * random.uniform(0, 2)};
    const Transform X_2S{random.rotation(), random.direction() * random.uniform(0, 2)};
    const Transform X_W1{random.rotation(), {}};
    const Transform X_W2{random.rotation(), random.direction() * random.uniform(4, 9)};
    const Real d = pairDistance(*a, X_W1 * X_1S, *b, X_W2 * X_2S, 1e9, nullptr);
    if (!(d > 0)) continue;
    const BodyMotion m1{random.direction() * random.uniform(0, 3),
                        random.direction() * random.uniform(0, 3), 0, 0};
    const BodyMotion m2{random.direction() * random.uniform(0, 3),
                        random.direction() * random.uniform(0, 3), 0, 0};
    const ClosingBound bound = closingBound(*a, X_1S, m1, *b, X_2S, m2);
    const Real t = safeStep(d, bound.speed, bound.acceleration);
    for (const Real share : {0.25, 0.5, 0.75, 1.0}) {
      const Real later = pairDistance(
          *a, moved(X_W1, m1.velocity, m1.angularVelocity, share * t) * X_1S, *b,
          moved(X_W2, m2.velocity, m2.angularVelocity, share * t) * X_2S, 1e9, nullptr);
      EXPECT_GE(later, d * (1 - share) - 1e-12);
    }
  }
}

}  // namespace
}  // namespace tangere::integrator
