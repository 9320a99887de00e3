// SPDX-License-Identifier: Apache-2.0
//
// The time of impact is never late: whatever it says, the shapes are apart up to that time.
#include <tangere/collision.hpp>

#include "collision/shape_cast.hpp"
#include "core/scene_random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace tangere {
namespace {

constexpr Real kPi = std::numbers::pi;
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

using test::movedTo;
using Random = test::SceneRandom;

std::shared_ptr<const Shape> randomShape(Random& random, Real scale) {
  const auto size = [&] { return scale * random.real(0.1, 1); };
  switch (random.below(8)) {
    case 0:
      return std::make_shared<Sphere>(size());
    case 1: {
      const Real x = size(), y = size(), z = size();
      return std::make_shared<Box>(Vec3{x, y, z});
    }
    case 2: {
      const Real r = size(), h = size();
      return std::make_shared<Capsule>(r, h);
    }
    case 3: {
      const Real r = size(), h = size();
      return std::make_shared<Cylinder>(r, h);
    }
    case 4: {
      const Real r = size(), h = size();
      return std::make_shared<Cone>(r, h);
    }
    case 5: {
      const Real x = size(), y = size(), z = size();
      return std::make_shared<Ellipsoid>(Vec3{x, y, z});
    }
    case 6: {
      std::array<Vec3, 14> points;
      for (Vec3& p : points) p = random.direction() * size();
      return std::make_shared<Convex>(points);
    }
    default: {
      std::vector<Compound::Child> children;
      const Real r = 0.4 * size(), h = size();
      children.push_back({std::make_shared<Capsule>(r, h), {random.rotation(), random.vec(0, r)}});
      children.push_back({std::make_shared<Box>(Vec3{r, r, h}), {random.rotation(), {h, 0, 0}}});
      return std::make_shared<Compound>(std::move(children));
    }
  }
}

Motion randomMotion(Random& random, Real scale, Real speed, Real spin) {
  Motion motion;
  motion.start = {random.rotation(), random.direction() * (scale * random.real(0.5, 3))};
  motion.displacement = random.vec(-1, 1) * (scale * speed);
  motion.rotationVector = random.direction() * (spin * random.real(0, 1));
  return motion;
}

// Two signs of lateness: an overlap before s, and a gap at s that is not the one reported.
void expectNeverLate(const Shape& shape1, const Motion& motion1, const Shape& shape2,
                     const Motion& motion2, const ImpactOption& option, const ImpactResult& impact,
                     int numSamples) {
  ASSERT_GE(impact.s, 0);
  ASSERT_LE(impact.s, 1);
  ASSERT_TRUE(std::isfinite(impact.distance));
  if (impact.status == ImpactStatus::Overlapping) {
    ASSERT_EQ(impact.s, 0);
    ASSERT_TRUE(overlap(shape1, motion1.at(0), shape2, motion2.at(0)));
    return;
  }
  for (int i = 0; i <= numSamples; ++i) {
    const Real s = impact.s * i / numSamples;
    ASSERT_FALSE(overlap(shape1, motion1.at(s), shape2, motion2.at(s)))
        << "at " << s << " of " << impact.s;
  }
  if (impact.status != ImpactStatus::Hit) return;
  const DistanceResult there = distance(shape1, motion1.at(impact.s), shape2, motion2.at(impact.s));
  ASSERT_GT(there.distance, 0);
  ASSERT_LE(there.distance, option.tolerance);
  ASSERT_NEAR(impact.distance, there.distance, 1e-3 * option.tolerance);
  ASSERT_NEAR(norm(impact.normal), 1, 1e-9);
}

TEST(TimeOfImpact, NeverLateOnRandomMotions) {
  int numHits = 0, numMisses = 0, numOverlaps = 0, numOpen = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 1);
    const Real scale = trial % 3 == 0 ? 1 : (trial % 3 == 1 ? 1e-3 : 1e3);
    const Real spin = trial % 4 == 0 ? 0 : (trial % 4 == 1 ? 1 : (trial % 4 == 2 ? 6 : 25));
    const auto shape1 = randomShape(random, scale), shape2 = randomShape(random, scale);
    const Motion motion1 = randomMotion(random, scale, 3, spin);
    Motion motion2 = randomMotion(random, scale, 3, spin);
    if (trial % 2 == 0)  // aim one at the other
      motion2.displacement = motion1.start.translation + motion1.displacement * 0.5 -
                             motion2.start.translation + random.vec(-0.5, 0.5) * scale;
    if (trial % 5 == 0) motion2.displacement = motion2.rotationVector = {};
    const ImpactOption option{.tolerance = 1e-6 * scale};
    const ImpactResult impact = timeOfImpact(*shape1, motion1, *shape2, motion2, option);
    ASSERT_NO_FATAL_FAILURE(
        expectNeverLate(*shape1, motion1, *shape2, motion2, option, impact, 200))
        << "trial " << trial;
    numHits += impact.status == ImpactStatus::Hit;
    numMisses += impact.status == ImpactStatus::Miss;
    numOverlaps += impact.status == ImpactStatus::Overlapping;
    numOpen += impact.status == ImpactStatus::Indeterminate;
  }
  // Each answer must occur, and the open one must be rare, for the test to say something.
  EXPECT_GT(numHits, 1000);
  EXPECT_GT(numMisses, 1000);
  EXPECT_GT(numOverlaps, 20);
  EXPECT_LT(numOpen, 60) << numHits << " hits, " << numMisses << " misses";
}

TEST(TimeOfImpact, SphereFallsOnPlaneAtTheExactTime) {
  const Sphere sphere(0.25);
  const Plane plane;
  for (const Real speed : {0.8, 3.0, 1000.0}) {
    const Motion fall{.start = movedTo({0, 0, 1}), .displacement = {0.3, -0.2, -speed}};
    const ImpactOption option{.tolerance = 1e-9};
    const ImpactResult impact = timeOfImpact(sphere, fall, plane, {}, option);
    ASSERT_EQ(impact.status, ImpactStatus::Hit);
    const Real exact = 0.75 / speed;  // the gap at the start is 1 - 0.25
    EXPECT_LE(impact.s, exact);
    EXPECT_NEAR(impact.s, exact, 1e-9 / speed);
    EXPECT_LE(impact.iterations, 3);
    EXPECT_NEAR(impact.normal.z, 1, 1e-15);  // from the plane to the sphere
    EXPECT_NEAR(impact.point.z, 0, 1e-9);

    // The other way round the normal turns.
    const ImpactResult swapped = timeOfImpact(plane, {}, sphere, fall, option);
    ASSERT_EQ(swapped.status, ImpactStatus::Hit);
    EXPECT_NEAR(swapped.s, exact, 1e-9 / speed);
    EXPECT_NEAR(swapped.normal.z, -1, 1e-15);
  }
  const Motion shortFall{.start = movedTo({0, 0, 1}), .displacement = {0, 0, -0.74}};
  const ImpactResult miss = timeOfImpact(sphere, shortFall, plane, {});
  EXPECT_EQ(miss.status, ImpactStatus::Miss);
  EXPECT_EQ(miss.s, 1);
  EXPECT_NEAR(miss.distance, 0.01, 1e-12);
}

TEST(TimeOfImpact, BulletDoesNotTunnelThroughAThinWall) {
  const Sphere bullet(0.005);
  const Box wall({0.0005, 1, 1});  // one millimetre thick
  const Motion flight{.start = movedTo({-1, 0.3, 0.2}), .displacement = {1000, 0, 0}};
  const ImpactResult impact = timeOfImpact(bullet, flight, wall, {});
  ASSERT_EQ(impact.status, ImpactStatus::Hit);
  EXPECT_LE(impact.s * 1000, 1 - 0.0055);
  EXPECT_NEAR(impact.s * 1000, 1 - 0.0055, 1e-6);
  EXPECT_NEAR(impact.normal.x, -1, 1e-9);

  Motion past = flight;
  past.start.translation.y = 1.006;  // a millimetre beside its edge
  EXPECT_EQ(timeOfImpact(bullet, past, wall, {}).status, ImpactStatus::Miss);
}

TEST(TimeOfImpact, RotatingRodHitsWhereGeometrySays) {
  // A thin capsule of half length 1 turns about z from the x axis; a ball stands on the y axis.
  const Capsule rod(0.01, 1);
  const Sphere ball(0.1);
  Motion turn;
  turn.start.rotation = {{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}};  // its axis (local z) along x
  turn.rotationVector = {0, 0, kPi};
  Motion still{.start = movedTo({0, 0.8, 0})};
  const ImpactOption option{.tolerance = 1e-9};
  const ImpactResult impact = timeOfImpact(rod, turn, ball, still, option);
  ASSERT_EQ(impact.status, ImpactStatus::Hit);
  // The axis comes within 0.11 of the centre at 0.8: angle pi/2 - asin(0.11 / 0.8).
  const Real exact = (kPi / 2 - std::asin(0.11 / 0.8)) / kPi;
  EXPECT_LE(impact.s, exact);
  EXPECT_NEAR(impact.s, exact, 1e-8);
  EXPECT_LT(impact.iterations, 30);

  still.start.translation.y = 1.12;  // out of its reach of 1.01 by 0.01
  EXPECT_EQ(timeOfImpact(rod, turn, ball, still).status, ImpactStatus::Miss);
}

TEST(TimeOfImpact, FastSpinFindsTheTipOfALongRod) {
  // The rod turns five times while it falls on a floor; its tip is first.
  const Box rod({1, 0.02, 0.02});
  const Plane floor;
  Motion motion{.start = movedTo({0, 0, 3}), .displacement = {0, 0, -4}};
  motion.rotationVector = {0, 10 * kPi, 0};
  const ImpactOption option{.tolerance = 1e-6, .maxIterations = 2000};
  const ImpactResult impact = timeOfImpact(rod, motion, floor, {}, option);
  ASSERT_EQ(impact.status, ImpactStatus::Hit);
  ASSERT_NO_FATAL_FAILURE(expectNeverLate(rod, motion, floor, {}, option, impact, 20000));
  EXPECT_LT(impact.s, 0.75);  // the centre would be at height 0 then
  EXPECT_GT(impact.s, 0.49);  // before that not even the tip reaches down
}

TEST(TimeOfImpact, SpinOfARoundShapeChangesNothing) {
  const Sphere sphere(0.5);
  const Box box({1, 1, 1});
  Motion motion{.start = movedTo({0, 0, 3}), .displacement = {0, 0, -4}};
  const ImpactResult still = timeOfImpact(sphere, motion, box, {});
  motion.rotationVector = {1000, 2000, 3000};
  const ImpactResult spinning = timeOfImpact(sphere, motion, box, {});
  ASSERT_EQ(spinning.status, ImpactStatus::Hit);
  EXPECT_NEAR(spinning.s, still.s, 1e-9);
  EXPECT_NEAR(spinning.s, 1.5 / 4, 1e-6);
  EXPECT_LE(spinning.iterations, 4);
}

TEST(TimeOfImpact, TurningPlaneMeetsAStandingBall) {
  // The half space z <= 0 turns about x by 90 degrees; the ball above y = 2 is met when the
  // distance of its centre from the plane, 2 sin(angle) against 1 cos(angle), is its radius.
  const Plane plane;
  const Sphere ball(0.5);
  Motion turn;
  turn.rotationVector = {kPi / 2, 0, 0};
  const Motion still{.start = movedTo({0, 2, 1})};
  const ImpactOption option{.tolerance = 1e-6, .maxIterations = 500};
  const ImpactResult impact = timeOfImpact(ball, still, plane, turn, option);
  ASSERT_EQ(impact.status, ImpactStatus::Hit);
  const Real angle = std::atan2(1.0, 2.0) - std::asin(0.5 / std::sqrt(5.0));
  EXPECT_LE(impact.s, angle / (kPi / 2));
  EXPECT_NEAR(impact.s, angle / (kPi / 2), 1e-6);
}

// A prism of unit height over an L: [0,3]x[0,1] and [0,1]x[0,3] of the x-y plane.
std::shared_ptr<const Mesh> angleIron() {
  const Vec3 outline[] = {{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}};
  std::vector<Vec3> vertices;
  for (const Real z : {0.0, 1.0})
    for (const Vec3& p : outline) vertices.push_back({p.x, p.y, z});
  std::vector<Triangle> triangles;
  for (const Triangle& t : {Triangle{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}) {
    triangles.push_back({t[0], t[2], t[1]});
    triangles.push_back({t[0] + 6, t[1] + 6, t[2] + 6});
  }
  for (int i = 0; i < 6; ++i) {
    const int k = (i + 1) % 6;
    triangles.push_back({i, k, k + 6});
    triangles.push_back({i, k + 6, i + 6});
  }
  return std::make_shared<Mesh>(vertices, triangles);
}

TEST(TimeOfImpact, BallFliesIntoTheNotchOfAConcaveMesh) {
  const auto mesh = angleIron();
  const Sphere ball(0.2);
  // Along -x at y = 2: past the end of the lower leg to the inner wall at x = 1, inside the hull.
  const Motion flight{.start = movedTo({5, 2, 0.5}), .displacement = {-8, 0, 0}};
  const ImpactResult impact = timeOfImpact(ball, flight, *mesh, {});
  ASSERT_EQ(impact.status, ImpactStatus::Hit);
  const Real exact = (5 - 1 - 0.2) / 8;
  EXPECT_LE(impact.s, exact);
  EXPECT_NEAR(impact.s, exact, 1e-6);
  EXPECT_NEAR(impact.normal.x, 1, 1e-9);

  // The same through a bullet's eyes: far faster, and the wall is a surface.
  const Motion shot{.start = movedTo({5, 2, 0.5}), .displacement = {-1e5, 0, 0}};
  const ImpactResult hit = timeOfImpact(Sphere(0.01), shot, *mesh, {});
  ASSERT_EQ(hit.status, ImpactStatus::Hit);
  EXPECT_NEAR(hit.s * 1e5, 3.99, 1e-5);
}

TEST(TimeOfImpact, NeverLateWithConcaveShapes) {
  const auto mesh = angleIron();
  std::vector<Real> heights;
  for (int i = 0; i < 81; ++i) heights.push_back(0.3 * ((i * 7) % 5));
  const HeightField hills(9, 9, 8, 8, heights);
  int numHits = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 900);
    const auto shape = randomShape(random, 0.8);
    const Shape& concave = trial % 2 == 0 ? static_cast<const Shape&>(*mesh) : hills;
    Motion motion = randomMotion(random, 1, 3, trial % 3 == 0 ? 0 : 3);
    motion.start.translation = random.vec(-4, 4);
    motion.start.translation.z = 4;
    motion.displacement.z = random.real(-6, 0);
    Motion turn;
    if (trial % 4 == 0) turn.rotationVector = random.direction();
    const ImpactOption option{.tolerance = 1e-5, .maxIterations = 500};
    const ImpactResult impact = timeOfImpact(*shape, motion, concave, turn, option);
    ASSERT_NO_FATAL_FAILURE(expectNeverLate(*shape, motion, concave, turn, option, impact, 60))
        << "trial " << trial;
    numHits += impact.status == ImpactStatus::Hit;
  }
  EXPECT_GT(numHits, 150);
}

TEST(TimeOfImpact, GlidingOverGroundIsAMissInFewSteps) {
  std::vector<Real> heights(81, 0.0);
  heights[40] = 0.5;
  const HeightField hills(9, 9, 80, 80, heights);
  const Box box({1, 1, 1});
  const Motion glide{.start = movedTo({-30, 0, 1.501}), .displacement = {60, 0, 0}};
  const ImpactResult over = timeOfImpact(box, glide, hills, {});
  EXPECT_EQ(over.status, ImpactStatus::Miss);
  EXPECT_LE(over.iterations, 5);
  const Motion low{.start = movedTo({-30, 0, 1.4}), .displacement = {60, 0, 0}};
  // Into the gentle slope of the bump: below its top only the speed bounds the approach.
  const ImpactOption patient{.tolerance = 1e-4, .maxIterations = 500};
  const ImpactResult into = timeOfImpact(box, low, hills, {}, patient);
  ASSERT_EQ(into.status, ImpactStatus::Hit);
  ASSERT_NO_FATAL_FAILURE(expectNeverLate(box, low, hills, {}, patient, into, 500));
}

TEST(TimeOfImpact, OverlapAndTouchAtTheStart) {
  const Box box({1, 1, 1});
  const Motion away{.start = movedTo({0, 0, 1.9}), .displacement = {0, 0, 5}};
  const ImpactResult deep = timeOfImpact(box, away, box, {});
  EXPECT_EQ(deep.status, ImpactStatus::Overlapping);
  EXPECT_EQ(deep.s, 0);
  EXPECT_NEAR(deep.distance, -0.1, 1e-12);

  const Motion grazing{.start = movedTo({0, 0, 2 + 5e-7}), .displacement = {0, 0, -5}};
  const ImpactResult touch = timeOfImpact(box, grazing, box, {});
  EXPECT_EQ(touch.status, ImpactStatus::Hit);
  EXPECT_EQ(touch.s, 0);
}

TEST(TimeOfImpact, SlidingAlongWithoutTouchingIsAMiss) {
  const Box box({1, 1, 1});
  const Box slab({100, 100, 1});
  const Motion slide{.start = movedTo({-50, 0, 2.001}), .displacement = {100, 0, 0}};
  const ImpactResult impact = timeOfImpact(box, slide, slab, {});
  EXPECT_EQ(impact.status, ImpactStatus::Miss);
  EXPECT_LE(impact.iterations, 3);
}

TEST(TimeOfImpact, FarFromTheOriginTheToleranceIsWhatRoundingAllows) {
  const Sphere sphere(0.5);
  for (const Real far : {1e3, 1e6, 1e9}) {
    const Motion motion{.start = movedTo({far, far, far}), .displacement = {4, 0, 0}};
    const Motion still{.start = movedTo({far + 3, far, far})};
    const ImpactResult impact = timeOfImpact(sphere, motion, sphere, still, {.tolerance = 1e-12});
    ASSERT_EQ(impact.status, ImpactStatus::Hit) << far;
    EXPECT_LE(impact.s, 0.5);
    EXPECT_NEAR(impact.s, 0.5, 1e-12 * far);
  }
}

TEST(TimeOfImpact, CapOfIterationsIsReportedAndStillSafe) {
  Random random(77);
  int numOpen = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto shape1 = randomShape(random, 1), shape2 = randomShape(random, 1);
    const Motion motion1 = randomMotion(random, 1, 3, 10), motion2 = randomMotion(random, 1, 3, 10);
    const ImpactOption option{.tolerance = 1e-9, .maxIterations = 3};
    const ImpactResult impact = timeOfImpact(*shape1, motion1, *shape2, motion2, option);
    ASSERT_NO_FATAL_FAILURE(
        expectNeverLate(*shape1, motion1, *shape2, motion2, option, impact, 100));
    numOpen += impact.status == ImpactStatus::Indeterminate;
  }
  EXPECT_GT(numOpen, 20);
}

TEST(TimeOfImpact, BadMotionsComeBackAsOpen) {
  const Sphere sphere(0.5);
  Motion motion{.start = movedTo({3, 0, 0})};
  for (const Real bad : {kNan, std::numeric_limits<Real>::infinity()}) {
    Motion broken = motion;
    broken.displacement.x = bad;
    EXPECT_EQ(timeOfImpact(sphere, broken, sphere, {}).status, ImpactStatus::Indeterminate);
    broken = motion;
    broken.rotationVector.z = bad;
    EXPECT_EQ(timeOfImpact(sphere, {}, sphere, broken).status, ImpactStatus::Indeterminate);
    broken = motion;
    broken.start.rotation.col[1].y = bad;
    const ImpactResult impact = timeOfImpact(sphere, broken, sphere, {});
    EXPECT_EQ(impact.status, ImpactStatus::Indeterminate);
    EXPECT_EQ(impact.s, 0);
    EXPECT_EQ(impact.distance, 0);
  }
  // Two half spaces cannot be asked.
  EXPECT_EQ(timeOfImpact(Plane(), {}, Plane(), {}).status, ImpactStatus::Indeterminate);
}

TEST(Motion, TurnsAboutItsAxisAndStaysARotation) {
  Motion motion{.start = movedTo({1, 2, 3}), .displacement = {2, 0, 0}};
  motion.rotationVector = {0, 0, kPi};
  const Transform half = motion.at(0.5);
  EXPECT_NEAR(half.translation.x, 2, 1e-15);
  EXPECT_NEAR(norm(half.rotation.col[0] - Vec3{0, 1, 0}), 0, 1e-15);
  EXPECT_NEAR(norm(half.rotation.col[1] - Vec3{-1, 0, 0}), 0, 1e-15);
  EXPECT_EQ(motion.at(0), motion.start);

  Random random(5);
  for (int trial = 0; trial < 1000; ++trial) {
    Motion any;
    any.start.rotation = random.rotation();
    Real angle = 1e-9;
    for (int i = random.below(14); i > 0; --i) angle *= 10;
    any.rotationVector = random.direction() * angle;
    const Transform X = any.at(random.real(0, 1));
    // The start is a rotation to 1e-15, and each entry takes a dozen roundings more.
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        ASSERT_NEAR(dot(X.rotation.col[i], X.rotation.col[k]), i == k ? 1 : 0, 5e-15);
  }
}

TEST(SweptAabb, HoldsTheShapeAtEveryTime) {
  Random random(6);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto shape = randomShape(random, 1);
    Motion motion = randomMotion(random, 1, 3, trial % 3 == 0 ? 0 : (trial % 3 == 1 ? 0.5 : 20));
    const Aabb swept = collision::sweptAabb(*shape, motion);
    for (int i = 0; i <= 50; ++i) {
      const Aabb box = shape->worldAabb(motion.at(i / 50.0));
      // The box of a turned compound may be looser than the shape, so ask for points of the shape.
      for (int k = 0; k < 3; ++k) {
        Vec3 axis{};
        axis[k] = 1;
        const Transform X = motion.at(i / 50.0);
        const Real upper = (X * shape->support(transposeTimes(X.rotation, axis)))[k];
        const Real lower = (X * shape->support(transposeTimes(X.rotation, -axis)))[k];
        ASSERT_LE(upper, swept.upper[k]);
        ASSERT_GE(lower, swept.lower[k]);
      }
      ASSERT_TRUE(swept.overlaps(box));
    }
    // And it is not far larger than needed: within the reach of the path.
    ASSERT_LE(swept.upper.x - swept.lower.x, std::fabs(motion.displacement.x) + 8);
  }
  // Without rotation it is exactly the two ends, up to rounding.
  const Box box({1, 2, 3});
  const Aabb swept =
      collision::sweptAabb(box, {.start = movedTo({0, 0, 0}), .displacement = {5, 0, -1}});
  EXPECT_NEAR(swept.upper.x, 6, 1e-12);
  EXPECT_NEAR(swept.lower.x, -1, 1e-12);
  EXPECT_NEAR(swept.lower.z, -4, 1e-12);
}

}  // namespace
}  // namespace tangere
