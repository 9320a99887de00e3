// SPDX-License-Identifier: Apache-2.0
#include <tangere/shape.hpp>

#include "collision/box_pairs.hpp"
#include "collision/box_pose_helpers.hpp"
#include "collision/golden_cases.hpp"
#include "collision/kernels/box_box.hpp"
#include "collision/kernels/box_distance.hpp"
#include "collision/kernels/convex_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace tangere {
namespace {

using test::boxView;
using test::KnownManifold;
using test::rotationAbout;

/// The table's functions, as a caller of the library reaches them.
struct BoxQueries {
  collision::PairFunctions functions = collision::boxPairFunctions(ShapeType::Box, ShapeType::Box);

  [[nodiscard]] ContactManifold collide(const Vec3& half1, const Transform& X_W1, const Vec3& half2,
                                        const Transform& X_W2, PairCache* cache = nullptr,
                                        int maxNumContacts = 1000) const {
    const Box box1(half1), box2(half2);
    CollisionResult result;
    const int count = functions.collide({box1.flat(), X_W1, box2.flat(), X_W2, cache},
                                        CollisionOption::fullContacts(maxNumContacts), result);
    EXPECT_EQ(count, result.numContacts());
    EXPECT_EQ(count > 0, result.isCollision());
    return count > 0 ? result.manifolds()[0] : ContactManifold{};
  }
  [[nodiscard]] bool overlap(const Vec3& half1, const Transform& X_W1, const Vec3& half2,
                             const Transform& X_W2, PairCache* cache = nullptr) const {
    const Box box1(half1), box2(half2);
    return functions.overlap({box1.flat(), X_W1, box2.flat(), X_W2, cache});
  }
  [[nodiscard]] DistanceResult distance(const Vec3& half1, const Transform& X_W1, const Vec3& half2,
                                        const Transform& X_W2, PairCache* cache = nullptr,
                                        const DistanceOption& option = {}) const {
    const Box box1(half1), box2(half2);
    DistanceResult out;
    functions.distance({box1.flat(), X_W1, box2.flat(), X_W2, cache}, option, out);
    return out;
  }
};
const BoxQueries kBoxes;

std::vector<std::pair<std::int32_t, std::int32_t>> features(const ContactManifold& m) {
  std::vector<std::pair<std::int32_t, std::int32_t>> out;
  for (const ContactPoint& p : m.contacts()) out.emplace_back(p.feature1, p.feature2);
  return out;
}

TEST(BoxPairFunctions, OwnsBoxBoxAlone) {
  EXPECT_NE(collision::boxPairFunctions(ShapeType::Box, ShapeType::Box).collide, nullptr);
  EXPECT_EQ(collision::boxPairFunctions(ShapeType::Sphere, ShapeType::Box).collide, nullptr);
  EXPECT_EQ(collision::boxPairFunctions(ShapeType::Box, ShapeType::Convex).distance, nullptr);
}

TEST(BoxBox, KnownPosesGiveTheirExactManifold) {
  for (const KnownManifold& k : test::knownManifolds()) {
    SCOPED_TRACE(k.name);
    const ContactManifold m = kBoxes.collide(k.half1, k.X_W1, k.half2, k.X_W2);
    EXPECT_EQ(m.count, std::min(k.numVertices, 4));
    EXPECT_EQ(m.type, k.numVertices >= 3   ? ContactType::Face
                      : k.numVertices == 2 ? ContactType::Edge
                                           : ContactType::Point);
    EXPECT_NEAR(m.depth(), k.depth, 1e-14);
    for (const ContactPoint& p : m.contacts()) {
      EXPECT_NEAR(p.normal.z, -1, 1e-14);
      const double top = test::envelope(k.half1, k.X_W1, p.position.x, p.position.y, true);
      const double bottom = test::envelope(k.half2, k.X_W2, p.position.x, p.position.y, false);
      EXPECT_NEAR(p.depth, top - bottom, 1e-13);
      EXPECT_NEAR(p.position.z, 0.5 * (top + bottom), 1e-13);
      const Vec3 half = p.normal * (0.5 * p.depth);
      EXPECT_LE(test::outsideBox(k.half1, k.X_W1, p.position - half), 1e-13);
      EXPECT_LE(test::outsideBox(k.half2, k.X_W2, p.position + half), 1e-13);
    }
  }
}

TEST(BoxBox, FourOfTheEightPointsOfAnOctagonSpanASquare) {
  const KnownManifold k = test::knownManifolds()[1];
  const ContactManifold m = kBoxes.collide(k.half1, k.X_W1, k.half2, k.X_W2);
  ASSERT_EQ(m.count, 4);
  // Octagon of inradius 1/2: circumradius 1/2 / cos(22.5 deg). No four of its corners span more
  // than the square, 2 R^2.
  const double R2 = 0.25 / ((1 + std::sqrt(0.5)) / 2);
  Vec3 p[4];
  for (int i = 0; i < 4; ++i) {
    p[i] = m.points[i].position;
    EXPECT_NEAR(p[i].x * p[i].x + p[i].y * p[i].y, R2, 1e-14);
  }
  // In order of choice: opposite corners, then the other two.
  EXPECT_NEAR(squaredNorm(p[1] - p[0]), 4 * R2, 1e-13);
  EXPECT_NEAR(squaredNorm(p[3] - p[2]), 4 * R2, 1e-13);
  EXPECT_NEAR(squaredNorm(p[2] - p[0]), 2 * R2, 1e-13);
}

TEST(BoxBox, OneContactIsTheDeepest) {
  const Vec3 half{0.5, 0.4, 0.3};
  test::Random random(11);
  for (int i = 0; i < 500; ++i) {
    const Transform X1{random.rotation(), random.inBall()},
        X2{random.rotation(), X1.translation + random.inBall() * 0.8};
    const double depth = test::leastOverlap(half, X1, half, X2);
    if (depth < 0) continue;
    const ContactManifold m = kBoxes.collide(half, X1, half, X2, nullptr, 1);
    ASSERT_EQ(m.count, 1);
    EXPECT_NEAR(m.points[0].depth, depth, 2e-10);
    EXPECT_EQ(m.type, ContactType::Point);
    EXPECT_LE(kBoxes.collide(half, X1, half, X2, nullptr, 2).count, 2);
  }
}

TEST(BoxBox, DepthAndNormalAreTheSmallestTranslationAndQueriesAgree) {
  test::Random random(12);
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const Vec3 half1{random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)};
    const Vec3 half2{random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)};
    const Transform X1{random.rotation(), random.inBall() * 3},
        X2{random.rotation(), X1.translation + random.inBall() * 2};
    const double depth = test::leastOverlap(half1, X1, half2, X2);
    const ContactManifold m = kBoxes.collide(half1, X1, half2, X2);
    const DistanceResult d = kBoxes.distance(half1, X1, half2, X2);
    ASSERT_EQ(m.count > 0, depth >= 0);
    ASSERT_EQ(kBoxes.overlap(half1, X1, half2, X2), depth >= 0);
    ASSERT_EQ(d.distance <= 0, depth >= 0);
    ASSERT_LE(norm(d.point1 - d.point2 - d.normal * d.distance), 1e-14 * 10);
    ASSERT_LE(test::outsideBox(half1, X1, d.point1), 1e-9);
    ASSERT_LE(test::outsideBox(half2, X2, d.point2), 1e-9);
    // No plane across the normal parts them better than the distance, and this one does.
    ASSERT_NEAR(-test::overlapAlong(half1, X1, half2, X2, d.normal), d.distance, 3e-10);
    if (depth < 0) continue;
    ++overlapping;
    ASSERT_NEAR(-d.distance, depth, 3e-10);
    for (const ContactPoint& p : m.contacts()) {
      ASSERT_EQ(p.normal, d.normal);
      const Vec3 h = p.normal * (0.5 * p.depth);
      // Both ends of every point are in the slab that the two boxes share along the normal.
      ASSERT_LE(dot(-p.normal, p.position - h), test::boxSupport(half1, X1, -p.normal) + 1e-9);
      ASSERT_LE(dot(p.normal, p.position + h), test::boxSupport(half2, X2, p.normal) + 1e-9);
    }
  }
  EXPECT_GT(overlapping, 5000);
}

TEST(BoxBox, DistanceAgreesWithGjk) {
  test::Random random(13);
  int apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const Vec3 half1{random.uniform(0.05, 1), random.uniform(0.05, 1), random.uniform(0.05, 1)};
    const Vec3 half2{random.uniform(0.05, 1), random.uniform(0.05, 1), random.uniform(0.05, 1)};
    // Half of them with axes that are parallel, or off by a little.
    Transform X1{random.rotation(), {}}, X2{random.rotation(), random.inBall() * 4};
    if (i % 2 == 0) X2.rotation = X1.rotation;
    if (i % 4 == 0)
      X2.rotation = X1.rotation * rotationAbout(random.direction(), random.uniform(0, 1e-4));
    const kernel::ConvexContact<double> gjk =
        kernel::convexDistance(boxView(half1), boxView(half2), inverseTimes(X1, X2), 1e300, true);
    if (gjk.distance <= 1e-6) continue;
    ++apart;
    const DistanceResult d = kBoxes.distance(half1, X1, half2, X2);
    ASSERT_NEAR(d.distance, gjk.distance, 1e-10);
    ASSERT_LE(norm(d.point1 - d.point2 - d.normal * d.distance), 1e-10);
    ASSERT_NEAR(-test::overlapAlong(half1, X1, half2, X2, d.normal), d.distance, 1e-9);
    ASSERT_LE(test::outsideBox(half1, X1, d.point1), 1e-12);
    ASSERT_LE(test::outsideBox(half2, X2, d.point2), 1e-12);
  }
  EXPECT_GT(apart, 10000);
}

TEST(BoxBox, GoldenRowsAreWithinOneBillionthOfTheScale) {
  const test::GoldenCases golden(std::string(TANGERE_TEST_DATA) + "/golden/collision");
  int rows = 0;
  for (const test::GoldenCase& g : golden.cases()) {
    if (g.pair() != "box-box") continue;
    ++rows;
    const Vec3 half1 = g.shape1.view.size, half2 = g.shape2.view.size;
    const DistanceResult d = kBoxes.distance(half1, g.X_W1, half2, g.X_W2);
    kernel::ConvexContact<double> c;
    c.distance = d.distance;
    c.normal = transposeTimes(g.X_W1.rotation, d.normal);
    c.pointA = inverseTimes(g.X_W1, d.point1);
    c.pointB = inverseTimes(g.X_W1, d.point2);
    const test::GoldenError e = test::judge(g, c);
    EXPECT_LE(e.worst(), 1e-9) << "case " << g.id << " " << g.category << ": distance "
                               << e.distance << " normal " << e.normal << " witness " << e.witness;
    const ContactManifold m = kBoxes.collide(half1, g.X_W1, half2, g.X_W2);
    EXPECT_EQ(m.count > 0, g.distance <= 0) << g.id;
    EXPECT_EQ(kBoxes.overlap(half1, g.X_W1, half2, g.X_W2), g.distance <= 0) << g.id;
    if (m.count > 0) {
      EXPECT_NEAR(m.depth(), -g.distance, 1e-9 * g.scale) << g.id;
    }
  }
  EXPECT_GT(rows, 30);
}

TEST(BoxBox, TinyPerturbationsKeepTheAxisAndTheFeatures) {
  test::Random random(14);
  for (const KnownManifold& k : test::knownManifolds()) {
    SCOPED_TRACE(k.name);
    const ContactManifold m = kBoxes.collide(k.half1, k.X_W1, k.half2, k.X_W2);
    for (int trial = 0; trial < 100; ++trial) {
      Transform X2 = k.X_W2;
      const Vec3 w = random.inBall() * 1e-9;
      X2.rotation = rotationMatrix(Quat{1, w.x / 2, w.y / 2, w.z / 2}) * X2.rotation;
      X2.translation += random.inBall() * 1e-9;
      const ContactManifold q = kBoxes.collide(k.half1, k.X_W1, k.half2, X2);
      ASSERT_EQ(features(q), features(m));
      ASSERT_EQ(q.type, m.type);
      for (int i = 0; i < m.count; ++i) {
        ASSERT_LE(norm(q.points[i].position - m.points[i].position), 1e-7);
        ASSERT_LE(norm(q.points[i].normal - m.points[i].normal), 1e-8);
      }
    }
  }
}

// Equal boxes on top of each other: every corner lies on two side planes of the other box.
TEST(BoxBox, EqualBoxesStackedKeepFourCornersUnderPerturbation) {
  test::Random random(15);
  const Vec3 half{0.5, 0.5, 0.5};
  const ContactManifold m = kBoxes.collide(half, {}, half, {Mat3::identity(), {0, 0, 0.999}});
  ASSERT_EQ(m.count, 4);
  for (int trial = 0; trial < 500; ++trial) {
    const Vec3 w = random.inBall() * 1e-9;
    const Transform X2{rotationMatrix(Quat{1, w.x / 2, w.y / 2, w.z / 2}),
                       Vec3{0, 0, 0.999} + random.inBall() * 1e-9};
    const ContactManifold q = kBoxes.collide(half, {}, half, X2);
    ASSERT_EQ(features(q), features(m));
  }
}

TEST(BoxBox, BoxesOfOneWidthTouchAtTheCornersOfTheirOverlapHoweverLittleTheyAreTurned) {
  // As in a pyramid: the sides at y = -0.5 and 0.5 lie on each other and cross at tiny angles.
  test::Random random(16);
  const Vec3 half{0.5, 0.5, 0.5};
  const auto turned = [](const Vec3& w, const Vec3& p) {
    return Transform{rotationMatrix(Quat{1, w.x / 2, w.y / 2, w.z / 2}), p};
  };
  for (int trial = 0; trial < 500; ++trial) {
    const Vec3 w = random.inBall() * 1e-6;
    const Vec3 p = Vec3{0.5, 0, 0.999} + random.inBall() * 1e-6;
    const ContactManifold m = kBoxes.collide(half, {}, half, turned(w, p));
    ASSERT_EQ(m.count, 4);
    for (const Vec3& corner : {Vec3{0, -0.5, 0.4995}, Vec3{0, 0.5, 0.4995}, Vec3{0.5, -0.5, 0.4995},
                               Vec3{0.5, 0.5, 0.4995}}) {
      Real nearest = 1;
      for (const ContactPoint& point : m.contacts())
        nearest = std::min(nearest, norm(point.position - corner));
      ASSERT_LT(nearest, 1e-5) << trial;
    }
    const ContactManifold q = kBoxes.collide(
        half, {}, half, turned(w + random.inBall() * 1e-12, p + random.inBall() * 1e-12));
    ASSERT_EQ(features(q), features(m));
    for (int i = 0; i < 4; ++i)
      ASSERT_LT(norm(q.points[i].position - m.points[i].position), 1e-11) << trial;
  }
}

TEST(BoxBox, SwappingTheBoxesTurnsTheNormalsAndKeepsThePoints) {
  test::Random random(16);
  std::vector<std::tuple<Vec3, Transform, Vec3, Transform>> cases;
  for (const KnownManifold& k : test::knownManifolds())
    cases.emplace_back(k.half1, k.X_W1, k.half2, k.X_W2);
  for (int i = 0; i < 3000; ++i) {
    const Vec3 half1{random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)};
    const Vec3 half2{random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)};
    cases.emplace_back(half1, Transform{random.rotation(), random.inBall()}, half2,
                       Transform{random.rotation(), random.inBall()});
  }
  for (const auto& [half1, X1, half2, X2] : cases) {
    const ContactManifold m = kBoxes.collide(half1, X1, half2, X2);
    const ContactManifold q = kBoxes.collide(half2, X2, half1, X1);
    ASSERT_EQ(q.count, m.count);
    for (int i = 0; i < m.count; ++i) {
      const ContactPoint& p = m.points[i];
      bool found = false;
      for (const ContactPoint& o : q.contacts())
        found =
            found || (norm(o.position - p.position) < 1e-12 && norm(o.normal + p.normal) < 1e-12 &&
                      std::fabs(o.depth - p.depth) < 1e-12 && o.feature1 == p.feature2 &&
                      o.feature2 == p.feature1);
      ASSERT_TRUE(found);
    }
    const DistanceResult d = kBoxes.distance(half1, X1, half2, X2);
    const DistanceResult e = kBoxes.distance(half2, X2, half1, X1);
    ASSERT_NEAR(d.distance, e.distance, 1e-12);
    ASSERT_LE(norm(d.normal + e.normal), 1e-9);
  }
}

TEST(BoxBox, SizesFromAMicrometreToAThousandKilometresGiveTheSameManifold) {
  for (const KnownManifold& k : test::knownManifolds()) {
    SCOPED_TRACE(k.name);
    const ContactManifold m = kBoxes.collide(k.half1, k.X_W1, k.half2, k.X_W2);
    for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
      Transform X1 = k.X_W1, X2 = k.X_W2;
      X1.translation *= scale;
      X2.translation *= scale;
      const ContactManifold q = kBoxes.collide(k.half1 * scale, X1, k.half2 * scale, X2);
      ASSERT_EQ(features(q), features(m));
      for (int i = 0; i < m.count; ++i) {
        EXPECT_NEAR(q.points[i].depth / scale, m.points[i].depth, 1e-13);
        EXPECT_LE(norm(q.points[i].position / scale - m.points[i].position), 1e-12);
      }
    }
  }
}

TEST(BoxBox, VeryDifferentSizesStillTouchExactly) {
  // A millimetre cube on a kilometre of ground.
  const Vec3 ground{1e3, 1e3, 1e3}, cube{0.5e-3, 0.5e-3, 0.5e-3};
  const ContactManifold m =
      kBoxes.collide(ground, {}, cube, {Mat3::identity(), {3, 4, 1e3 + 0.5e-3 - 1e-6}});
  ASSERT_EQ(m.count, 4);
  for (const ContactPoint& p : m.contacts()) EXPECT_NEAR(p.depth, 1e-6, 3e-13);
}

TEST(BoxBox, ExactTouchingIsContactOfDepthZero) {
  const Vec3 half{0.5, 0.5, 0.5};
  for (const Vec3& t : {Vec3{0, 0, 1}, Vec3{0, 1, 1}, Vec3{1, 1, 1}, Vec3{0.25, 0.5, 1}}) {
    const Transform X2{Mat3::identity(), t};
    const ContactManifold m = kBoxes.collide(half, {}, half, X2);
    EXPECT_GE(m.count, 1);
    EXPECT_EQ(m.depth(), 0);
    EXPECT_TRUE(kBoxes.overlap(half, {}, half, X2));
    const DistanceResult d = kBoxes.distance(half, {}, half, X2);
    EXPECT_EQ(d.distance, 0);
    EXPECT_NEAR(norm(d.normal), 1, 1e-15);
    EXPECT_LE(norm(d.point1 - d.point2), 1e-15);
  }
  EXPECT_EQ(kBoxes.collide(half, {}, half, {Mat3::identity(), {0.25, 0.5, 1}}).count, 4);
  // Turned together, the same faces touch up to rounding.
  test::Random random(17);
  for (int i = 0; i < 200; ++i) {
    const Transform X1{random.rotation(), random.inBall() * 10};
    const Transform X2 = X1 * Transform{Mat3::identity(), {0.25, 0.5, 1}};
    EXPECT_EQ(kBoxes.collide(half, X1, half, X2).count, 4);
    EXPECT_LE(std::fabs(kBoxes.distance(half, X1, half, X2).distance), 1e-14);
  }
}

TEST(BoxBox, IdenticalPosesHaveAFiniteAnswer) {
  const Vec3 half{0.5, 0.4, 0.3};
  test::Random random(18);
  for (int i = 0; i < 100; ++i) {
    const Transform X{random.rotation(), random.inBall()};
    const ContactManifold m = kBoxes.collide(half, X, half, X);
    ASSERT_EQ(m.count, 4);
    EXPECT_NEAR(m.depth(), 0.6, 1e-14);  // twice the least half extent
    for (const ContactPoint& p : m.contacts()) EXPECT_NEAR(norm(p.normal), 1, 1e-14);
    EXPECT_NEAR(kBoxes.distance(half, X, half, X).distance, -0.6, 1e-14);
  }
}

TEST(BoxBox, FarFromTheOriginNothingIsLost) {
  for (const KnownManifold& k : test::knownManifolds()) {
    const ContactManifold m = kBoxes.collide(k.half1, k.X_W1, k.half2, k.X_W2);
    Transform X1 = k.X_W1, X2 = k.X_W2;
    const Vec3 far{1 << 20, -(1 << 21), 1 << 19};
    X1.translation += far;
    X2.translation += far;
    const ContactManifold q = kBoxes.collide(k.half1, X1, k.half2, X2);
    ASSERT_EQ(q.count, m.count) << k.name;
    // The positions themselves are rounded to 2e-10 there.
    for (int i = 0; i < m.count; ++i) EXPECT_NEAR(q.points[i].depth, m.points[i].depth, 5e-10);
  }
}

TEST(BoxBox, EdgesNearlyParallelUpToRoundingGiveTheTrueDepth) {
  test::Random random(19);
  const Vec3 half{0.5, 0.4, 0.3};
  for (int i = 0; i < 5000; ++i) {
    const double angle = std::pow(10.0, random.uniform(-17, -1));
    const Transform X1{random.rotation(), {}};
    const Transform X2{rotationAbout(random.direction(), angle) * X1.rotation,
                       random.inBall() * 0.7};
    const double depth = test::leastOverlap(half, X1, half, X2);
    if (depth < 1e-9) continue;
    const DistanceResult d = kBoxes.distance(half, X1, half, X2);
    ASSERT_NEAR(-d.distance, depth, 1e-9);
    ASSERT_NEAR(test::overlapAlong(half, X1, half, X2, d.normal), depth, 1e-9);
  }
}

TEST(BoxBox, AnyCacheGivesTheSameAnswer) {
  test::Random random(20);
  const Vec3 half1{0.5, 0.4, 0.3}, half2{0.2, 0.7, 0.4};
  PairCache kept;
  Transform X1{random.rotation(), {}}, X2{random.rotation(), {0.9, 0.3, 0.2}};
  for (int i = 0; i < 5000; ++i) {
    // A wandering pose with jumps, a cache that stays, and one full of noise.
    if (i % 50 == 0) X2 = {random.rotation(), random.inBall() * 1.6};
    X2.rotation = rotationAbout(random.direction(), 0.5) * X2.rotation;
    X2.translation += random.inBall() * 0.01;
    PairCache noise;
    noise.axis = random.direction();
    noise.count = static_cast<std::uint8_t>(random.next() % 5);
    for (int k = 0; k < 4; ++k) {
      noise.index1[k] = static_cast<std::int16_t>(random.next());
      noise.index2[k] = static_cast<std::int16_t>(random.next());
    }
    noise.index1[3] = i % 2 == 0 ? std::int16_t{0x5b0} : std::int16_t{0};
    const DistanceResult cold = kBoxes.distance(half1, X1, half2, X2);
    const ContactManifold m = kBoxes.collide(half1, X1, half2, X2);
    for (PairCache* cache : {&kept, &noise}) {
      const DistanceResult warm = kBoxes.distance(half1, X1, half2, X2, cache);
      ASSERT_NEAR(warm.distance, cold.distance, 1e-14);
      ASSERT_LE(norm(warm.normal - cold.normal), 1e-10);
      ASSERT_LE(norm(warm.point1 - cold.point1), 1e-10);
      ASSERT_EQ(kBoxes.overlap(half1, X1, half2, X2, cache), cold.distance <= 0);
      const ContactManifold q = kBoxes.collide(half1, X1, half2, X2, cache);
      ASSERT_EQ(features(q), features(m));
      for (int k = 0; k < m.count; ++k) ASSERT_EQ(q.points[k].position, m.points[k].position);
    }
  }
}

TEST(BoxBox, UnsignedDistanceOfOverlappingBoxesIsZero) {
  const Vec3 half{0.5, 0.5, 0.5};
  DistanceOption option;
  option.enableSigned = false;
  const DistanceResult d =
      kBoxes.distance(half, {}, half, {Mat3::identity(), {0, 0, 0.75}}, nullptr, option);
  EXPECT_EQ(d.distance, 0);
  EXPECT_EQ(d.point1, d.point2);
}

TEST(BoxBox, ThinPlatesAndNeedlesKeepTheTrueDepth) {
  test::Random random(21);
  for (int i = 0; i < 3000; ++i) {
    const Vec3 half1{1, random.uniform(0.5, 1), 1e-3}, half2{1e-3, 1e-3, 1};
    const Transform X1{random.rotation(), {}}, X2{random.rotation(), random.inBall() * 0.5};
    const double depth = test::leastOverlap(half1, X1, half2, X2);
    const ContactManifold m = kBoxes.collide(half1, X1, half2, X2);
    ASSERT_EQ(m.count > 0, depth >= 0);
    if (m.count > 0) {
      ASSERT_NEAR(m.depth(), depth, 1e-9);
    }
  }
}

}  // namespace
}  // namespace tangere
