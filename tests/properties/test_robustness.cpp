// SPDX-License-Identifier: Apache-2.0
//
// Inputs that break collision libraries: nothing, everything at one place, far too thin, far too
// large, not quite numbers. Building refuses what is no solid; queries answer everything else.
#include <workload.hpp>

#include <tangere/collision.hpp>
#include <tangere/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tangere {
namespace {

using workload::Random;
using workload::ShapePtr;

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

CollisionResult contactsOf(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                           const Transform& X_W2) {
  CollisionResult result;
  collide(shape1, X_W1, shape2, X_W2, CollisionOption::fullContacts(), result);
  return result;
}

Transform at(Real x, Real y, Real z) { return {Mat3::identity(), {x, y, z}}; }

TEST(Robustness, SizesThatMakeNoSolidAreRefusedWithAMessage) {
  for (const Real bad : {0.0, -1.0, kNaN, kInfinity, -kInfinity}) {
    EXPECT_THROW(Sphere{bad}, InvalidInput) << bad;
    EXPECT_THROW((Box{Vec3{1, bad, 1}}), InvalidInput) << bad;
    EXPECT_THROW((Capsule{bad, 1}), InvalidInput) << bad;
    EXPECT_THROW((Cylinder{1, bad}), InvalidInput) << bad;
    EXPECT_THROW((Cone{bad, 1}), InvalidInput) << bad;
    EXPECT_THROW((Ellipsoid{Vec3{1, 1, bad}}), InvalidInput) << bad;
  }
  try {
    const Sphere sphere(-0.25);
    FAIL() << "a negative radius was accepted";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("-0.25"), std::string::npos) << error.what();
  }
}

TEST(Robustness, PointSetsWithoutVolumeAreRefused) {
  const std::vector<Vec3> none;
  const std::vector<Vec3> one = {{1, 2, 3}};
  const std::vector<Vec3> line = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  const std::vector<Vec3> plane = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.5, 0}};
  const std::vector<Vec3> same(10, Vec3{1, 1, 1});
  const std::vector<Vec3> notANumber = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, kNaN}};
  for (const auto& points : {none, one, line, plane, same, notANumber})
    EXPECT_THROW(Convex{points}, InvalidInput) << points.size() << " points";
}

TEST(Robustness, HullsIgnoreRepeatedAndInnerPoints) {
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i)
    points.push_back({i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0});
  for (int i = 0; i < 8; ++i) points.push_back(points[static_cast<std::size_t>(i)]);
  points.push_back({0, 0, 0});
  points.push_back({1, 0, 0});  // in the middle of a face
  const Convex cube(points);
  EXPECT_EQ(cube.vertices().size(), 8u);
  EXPECT_EQ(cube.numFaces(), 6);
}

TEST(Robustness, MeshesDropDegenerateTrianglesAndRefuseWrongIndices) {
  const std::vector<Vec3> vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}};
  const std::vector<Triangle> good = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  std::vector<Triangle> withDegenerate = good;
  withDegenerate.push_back({0, 1, 1});  // repeated corner
  const Mesh mesh(vertices, withDegenerate);
  EXPECT_EQ(mesh.numDroppedTriangles(), 1);
  EXPECT_TRUE(mesh.isClosed());
  withDegenerate.push_back({0, 1, 4});  // collinear
  EXPECT_EQ(Mesh(vertices, withDegenerate).numDroppedTriangles(), 2);
  for (const int bad : {-1, 5, 1000000}) {
    std::vector<Triangle> broken = good;
    broken.push_back({0, 1, bad});
    EXPECT_THROW((Mesh{vertices, broken}), InvalidInput) << bad;
  }
  EXPECT_THROW((Mesh{vertices, std::vector<Triangle>{}}), InvalidInput);
  EXPECT_THROW((Mesh{vertices, std::vector<Triangle>{{0, 0, 0}}}), InvalidInput);
}

TEST(Robustness, PosesThatAreNotFiniteGiveAStatusAndNoContacts) {
  const Sphere ball(1);
  for (const Real bad : {kNaN, kInfinity}) {
    Transform broken = at(0, bad, 0), twisted;
    twisted.rotation(1, 2) = bad;
    for (const Transform& pose : {broken, twisted}) {
      EXPECT_EQ(contactsOf(ball, pose, ball, {}).status(), QueryStatus::InvalidPose);
      EXPECT_EQ(contactsOf(ball, {}, ball, pose).status(), QueryStatus::InvalidPose);
      EXPECT_FALSE(contactsOf(ball, {}, ball, pose).isCollision());
      EXPECT_EQ(distance(ball, pose, ball, {}).status, QueryStatus::InvalidPose);
      EXPECT_FALSE(overlap(ball, pose, ball, {}));
      CollisionGroup group;
      EXPECT_THROW(group.add(std::make_shared<Sphere>(1), pose), InvalidInput);
    }
  }
}

TEST(Robustness, PosesOfAnyMagnitudeGiveFiniteNumbersOrAStatus) {
  const auto isFinite = [](const Vec3& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  };
  const Mat3 tilted = rotationMatrix(Quat{0.8, 0.1, -0.5, 0.3});
  const Vec3 directions[] = {{0, 0, -1}, {0.6, -0.5, 0.4}};
  for (int i = 0; i < kNumShapeTypes; ++i)
    for (int j = 0; j < kNumShapeTypes; ++j) {
      const auto type1 = static_cast<ShapeType>(i), type2 = static_cast<ShapeType>(j);
      const ShapePtr shape1 = workload::standardShape(type1);
      const ShapePtr shape2 = workload::standardShape(type2);
      for (const int decade : {-300, 12, 20, 28, 32, 155, 251, 308})
        for (const Vec3& direction : directions) {
          const Real far = std::pow(10.0, decade);
          // One far away, both at the same far place, and at the two ends of the world.
          const Transform there{tilted, direction * far};
          for (const Transform& X_W2 : {Transform{}, Transform{Mat3::identity(), direction * far},
                                        Transform{Mat3::identity(), direction * -far}}) {
            SCOPED_TRACE(testing::Message() << shapeTypeName(type1) << "-" << shapeTypeName(type2)
                                            << " at 1e" << decade << " along " << direction.z);
            const CollisionResult result = contactsOf(*shape1, there, *shape2, X_W2);
            const bool isFar = decade > 30;
            ASSERT_EQ(result.status() == QueryStatus::InvalidPose, isFar);
            ASSERT_FALSE(isFar && result.isCollision());
            for (const ContactManifold& manifold : result.manifolds())
              for (const ContactPoint& contact : manifold.contacts()) {
                ASSERT_TRUE(isFinite(contact.position));
                ASSERT_NEAR(norm(contact.normal), 1, 1e-9);
                ASSERT_TRUE(std::isfinite(contact.depth) && contact.depth >= 0);
              }
            const DistanceResult d = distance(*shape1, there, *shape2, X_W2);
            ASSERT_TRUE(std::isfinite(d.distance) && isFinite(d.point1) && isFinite(d.point2) &&
                        isFinite(d.normal));
            ASSERT_EQ(d.status == QueryStatus::InvalidPose, isFar);
            ASSERT_TRUE(d.status > QueryStatus::NotConverged ||
                        std::fabs(norm(d.normal) - 1) < 1e-9);
            ASSERT_FALSE(isFar && overlap(*shape1, there, *shape2, X_W2));
          }
        }
    }
}

TEST(Robustness, ConcentricShapesOfEveryPairHaveADefinedNormal) {
  for (int i = 0; i < kNumShapeTypes; ++i)
    for (int j = i; j < kNumShapeTypes; ++j) {
      const auto type1 = static_cast<ShapeType>(i), type2 = static_cast<ShapeType>(j);
      if (!pairSupport(type1, type2).collide) continue;
      const ShapePtr shape1 = workload::standardShape(type1);
      const ShapePtr shape2 = workload::standardShape(type2);
      const CollisionResult result = contactsOf(*shape1, {}, *shape2, {});
      for (const ContactManifold& manifold : result.manifolds())
        for (const ContactPoint& contact : manifold.contacts()) {
          EXPECT_NEAR(norm(contact.normal), 1, 1e-9)
              << shapeTypeName(type1) << "-" << shapeTypeName(type2);
          EXPECT_TRUE(std::isfinite(contact.depth) && contact.depth >= 0)
              << shapeTypeName(type1) << "-" << shapeTypeName(type2);
        }
      if (!pairSupport(type1, type2).distance) continue;
      const DistanceResult d = distance(*shape1, {}, *shape2, {});
      EXPECT_TRUE(std::isfinite(d.distance)) << shapeTypeName(type1) << "-" << shapeTypeName(type2);
    }
}

TEST(Robustness, EveryPairIsSupportedOrRefusedWithAReason) {
  for (int i = 0; i < kNumShapeTypes; ++i)
    for (int j = 0; j < kNumShapeTypes; ++j) {
      const auto type1 = static_cast<ShapeType>(i), type2 = static_cast<ShapeType>(j);
      const PairSupport support = pairSupport(type1, type2);
      EXPECT_EQ(support.reason.empty(), support.collide && support.distance)
          << shapeTypeName(type1) << "-" << shapeTypeName(type2);
      const ShapePtr shape1 = workload::standardShape(type1);
      const ShapePtr shape2 = workload::standardShape(type2);
      const CollisionResult result = contactsOf(*shape1, {}, *shape2, at(0.3, 0, 0));
      EXPECT_EQ(result.status() == QueryStatus::Unsupported, !support.collide)
          << shapeTypeName(type1) << "-" << shapeTypeName(type2);
    }
}

TEST(Robustness, IdenticalBoxesFaceToFaceTouchExactly) {
  // 2^k sizes: the gap is zero without rounding, at every scale.
  for (Real size = 0x1p-19; size <= 0x1p19; size *= 2) {
    const Box box({size, size, size});
    const DistanceResult d = distance(box, {}, box, at(2 * size, 0, 0));
    EXPECT_EQ(d.distance, 0) << size;
    EXPECT_EQ(std::fabs(d.normal.x), 1) << size;
    const CollisionResult touch = contactsOf(box, {}, box, at(2 * size, 0, 0));
    ASSERT_TRUE(touch.isCollision()) << size;
    EXPECT_EQ(touch.manifolds()[0].depth(), 0) << size;
    EXPECT_TRUE(contactsOf(box, {}, box, at(1.5 * size, 0, 0)).isCollision()) << size;
    EXPECT_FALSE(contactsOf(box, {}, box, at(2.5 * size, 0, 0)).isCollision()) << size;
  }
}

TEST(Robustness, AMicrometreAndAThousandKilometresWorkAlike) {
  for (const Real scale : {1e-6, 1e-3, 1.0, 1e3, 1e6})
    for (const ShapeType type1 : workload::kConvexTypes)
      for (const ShapeType type2 : workload::kConvexTypes) {
        Random random(static_cast<std::uint64_t>(type1) * 16 + static_cast<std::uint64_t>(type2));
        Random sameAgain = random;
        const ShapePtr small1 = workload::randomConvex(type1, 1, 2, random);
        const ShapePtr small2 = workload::randomConvex(type2, 1, 2, random);
        const ShapePtr scaled1 = workload::randomConvex(type1, scale, 2, sameAgain);
        const ShapePtr scaled2 = workload::randomConvex(type2, scale, 2, sameAgain);
        const Mat3 R1 = random.rotation(), R2 = random.rotation();
        for (const Real gap : {0.3, 0.8, 1.6, 3.0}) {
          const Vec3 offset = random.direction() * gap;
          const Real unit = distance(*small1, {R1, {}}, *small2, {R2, offset}).distance;
          const Real other = distance(*scaled1, {R1, {}}, *scaled2, {R2, offset * scale}).distance;
          EXPECT_NEAR(other / scale, unit, 1e-6)
              << shapeTypeName(type1) << "-" << shapeTypeName(type2) << " at " << scale;
        }
      }
}

TEST(Robustness, FarFromTheOriginLosesOnlyTheRoundingOfThePose) {
  const Box box({0.5, 0.5, 0.5});
  for (const Real far : {1e3, 1e6}) {
    const DistanceResult d = distance(box, at(far, far, far), box, at(far + 1.25, far, far));
    EXPECT_NEAR(d.distance, 0.25, 4e-16 * far);
    const CollisionResult contacts =
        contactsOf(box, at(far, far, far), box, at(far + 0.75, far, far));
    ASSERT_EQ(contacts.numContacts(), 4);
    EXPECT_NEAR(contacts.contact(0).depth, 0.25, 4e-16 * far);
  }
}

TEST(Robustness, NeedlesAndPlatesOfAThousandToOneAreAnsweredRightly) {
  const Box needle({1, 1e-3, 1e-3}), plate({1, 1, 1e-3});
  // Crossed needles one above the other: edge to edge, gap 0.5 mm.
  const Mat3 quarter = rotationMatrix(Quat{std::sqrt(0.5), 0, 0, std::sqrt(0.5)});
  const DistanceResult d = distance(needle, {}, needle, {quarter, {0.3, 0.2, 2.5e-3}});
  EXPECT_NEAR(d.distance, 5e-4, 1e-12);
  const CollisionResult contacts = contactsOf(plate, {}, plate, at(0.5, 0.5, 1.9e-3));
  ASSERT_TRUE(contacts.isCollision());
  EXPECT_NEAR(contacts.manifolds()[0].depth(), 1e-4, 1e-12);
  EXPECT_NEAR(std::fabs(contacts.contact(0).normal.z), 1, 1e-12);
}

TEST(Robustness, AWallOfAHundredBoxesHasExactlyItsNeighbourContacts) {
  CollisionGroup group;
  const auto box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
  // Overlapping by 1 mm with the four neighbours; diagonal ones by 1 mm in two directions.
  for (int row = 0; row < 10; ++row)
    for (int column = 0; column < 10; ++column) group.add(box, at(0.999 * column, 0, 0.999 * row));
  CollisionResult result;
  group.collide(CollisionOption::fullContacts(100000), result);
  EXPECT_EQ(result.numManifolds(), 90 + 90 + 2 * 81);
  for (const ContactManifold& manifold : result.manifolds())
    EXPECT_NEAR(manifold.depth(), 1e-3, 1e-12);
}

TEST(Robustness, AHundredSpheresAtOnePlaceGiveAllPairsAndFiniteContacts) {
  CollisionGroup group;
  const auto ball = std::make_shared<Sphere>(0.1);
  for (int i = 0; i < 100; ++i) group.add(ball, {});
  CollisionResult result;
  group.collide(CollisionOption::fullContacts(100000), result);
  EXPECT_EQ(result.numManifolds(), 100 * 99 / 2);
  for (const ContactManifold& manifold : result.manifolds()) {
    EXPECT_NEAR(manifold.points[0].depth, 0.2, 1e-15);
    EXPECT_NEAR(norm(manifold.points[0].normal), 1, 1e-15);
  }
}

TEST(Robustness, NothingTunnelsThroughAThinWall) {
  // A ball that covers 100 times its size in one interval, straight through a 1 mm wall.
  const Box wall({1, 1, 5e-4});
  Random random(3);
  for (const ShapeType type : workload::kConvexTypes)
    for (int i = 0; i < 50; ++i) {
      const ShapePtr body = workload::randomConvex(type, 0.05, 3, random);
      Motion motion;
      motion.start = {random.rotation(), {random.uniform(-0.8, 0.8), random.uniform(-0.8, 0.8), 5}};
      motion.displacement = {0, 0, -10};
      motion.rotationVector = random.vector(20);
      const ImpactResult impact = timeOfImpact(*body, motion, wall, {});
      ASSERT_EQ(impact.status, ImpactStatus::Hit) << shapeTypeName(type) << " " << i;
      ASSERT_GT(impact.s, 0.45);
      ASSERT_LT(impact.s, 0.5);
      ASSERT_FALSE(overlap(*body, motion.at(impact.s), wall, {})) << shapeTypeName(type);
    }
}

TEST(Robustness, FlattenedIntervalsOfTimeOfImpactAreDefined) {
  const Sphere ball(0.5);
  Motion still;
  Motion away;
  away.start = at(2, 0, 0);
  EXPECT_EQ(timeOfImpact(ball, still, ball, away).status, ImpactStatus::Miss);
  away.start = at(0.2, 0, 0);
  EXPECT_EQ(timeOfImpact(ball, still, ball, away).status, ImpactStatus::Overlapping);
}

}  // namespace
}  // namespace tangere
