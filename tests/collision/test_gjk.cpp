// SPDX-License-Identifier: Apache-2.0
#include "collision/kernels/gjk.hpp"

#include "collision/golden_cases.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/random_shapes.hpp"

#include <gtest/gtest.h>

namespace tangere::kernel {
namespace {

using test::GoldenCase;
using test::GoldenCases;
using test::GoldenError;
using test::HullPoints;
using test::makeView;
using test::Random;

using View = ConvexView<double>;
using Hint = ConvexHint<double>;

constexpr double kFar = 1e300;

const GoldenCases& golden() {
  static const GoldenCases cases(TANGERE_TEST_DATA "/golden/collision");
  return cases;
}

Transform at(const Vec3& translation) { return {Mat3::identity(), translation}; }

/// The plain loop that supportVertex() may replace by a wider one.
int firstFarthest(const HullView<double>& hull, const Vec3& n) {
  int best = 0;
  double most = hull.x[0] * n.x + hull.y[0] * n.y + hull.z[0] * n.z;
  for (int i = 1; i < hull.numVertices; ++i) {
    const double d = hull.x[i] * n.x + hull.y[i] * n.y + hull.z[i] * n.z;
    if (d > most) {
      most = d;
      best = i;
    }
  }
  return best;
}

TEST(SupportVertex, IsTheFirstFarthestVertexForEveryCountAndTie) {
  Random random(1);
  for (int count = 4; count <= 40; ++count) {
    std::vector<Vec3> points;
    for (int i = 0; i < count; ++i) {
      // A coarse grid: many vertices share a coordinate, so axis directions tie.
      points.push_back({double(random.below(4)), double(random.below(4)), double(random.below(4))});
    }
    const HullPoints hull(points);
    for (int k = 0; k < 200; ++k) {
      Vec3 n = random.direction();
      if (k % 3 == 0) n = {double(random.below(3) - 1), double(random.below(3) - 1), 1};
      ASSERT_EQ(supportVertex(*hull.view().hull, n), firstFarthest(*hull.view().hull, n));
#ifdef TANGERE_SUPPORT_SSE2  // the narrow lanes, whatever this processor has
      ASSERT_EQ(supportVertexSse2(*hull.view().hull, n), firstFarthest(*hull.view().hull, n));
#endif
    }
  }
}

TEST(SupportCore, CoreVertexGivesThePointThatItsIndexNames) {
  Random random(2);
  const std::vector<Vec3> points = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, -1}, {0.5, 0.5, 0.4}};
  const HullPoints hull(points);
  const Vec3 triangle[3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 1}};
  View views[] = {makeView(CoreType::Box, {1, 2, 3}), makeView(CoreType::Segment, {0, 0, 2}),
                  hull.view(), makeView(CoreType::Triangle, {})};
  views[3].triangle = triangle;
  for (const View& view : views) {
    for (int k = 0; k < 100; ++k) {
      int index = -1;
      const Vec3 p = supportCore(view, random.direction(), &index);
      ASSERT_GE(index, 0);
      ASSERT_LT(index, coreVertexCount(view));
      ASSERT_EQ(coreVertex(view, index), p);
    }
  }
}

TEST(ReduceSimplex, FindsThePointNearestToTheOrigin) {
  // v is nearest exactly when no vertex lies on the origin's side of the plane through v.
  Random random(3);
  for (int k = 0; k < 20000; ++k) {
    Simplex<double> simplex;
    const int count = 1 + random.below(4);
    std::vector<Vec3> points;
    const Vec3 offset = random.direction() * random.uniform(0, 1.5);
    for (int i = 0; i < count; ++i) {
      SimplexVertex<double> p;
      p.w = random.direction() * random.uniform(0.2, 1) + offset;
      p.a = p.w;
      points.push_back(p.w);
      simplex.add(p);
    }
    reduceSimplex(simplex);
    const double vv = squaredNorm(simplex.v);
    double sum = 0;
    for (int i = 0; i < simplex.count; ++i) {
      EXPECT_GE(simplex.lambda[i], -1e-12);
      sum += simplex.lambda[i];
    }
    ASSERT_NEAR(sum, 1, 1e-9);
    ASSERT_LT(norm(simplex.pointA() - simplex.v), 1e-9);  // a == w: the weights give v
    for (const Vec3& w : points) ASSERT_GE(dot(simplex.v, w), vv - 1e-9);
  }
}

TEST(ReduceSimplex, FlatTetrahedronFallsBackToItsTriangles) {
  Simplex<double> simplex;
  const Vec3 square[4] = {{-1, -1, 2}, {1, -1, 2}, {1, 1, 2}, {-1, 1, 2}};
  for (const Vec3& w : square) {
    SimplexVertex<double> p;
    p.w = w;
    simplex.add(p);
  }
  reduceSimplex(simplex);
  EXPECT_FALSE(simplex.enclosesOrigin);
  EXPECT_LT(norm(simplex.v - Vec3{0, 0, 2}), 1e-15);
}

TEST(ConvexDistance, BoxesFaceToFaceGiveTheGapAndTheAxis) {
  const View a = makeView(CoreType::Box, {1, 1, 1}), b = makeView(CoreType::Box, {0.5, 0.5, 0.5});
  const ConvexContact<double> c = convexDistance(a, b, at({0.2, 0.1, 1.75}), kFar, true);
  EXPECT_NEAR(c.distance, 0.25, 1e-15);   // 1.75 - 1 - 0.5
  EXPECT_EQ(c.normal, (Vec3{0, 0, -1}));  // from B down to A
  EXPECT_NEAR(c.pointA.z, 1, 1e-15);
  EXPECT_NEAR(c.pointB.z, 1.25, 1e-15);
  EXPECT_EQ(c.status, QueryStatus::Ok);
}

TEST(ConvexDistance, CrossedEdgesGiveTheirCommonPerpendicular) {
  const View box = makeView(CoreType::Box, {1, 1, 1});
  const double h = std::sqrt(0.5);
  // A stands on an edge along x, B hangs on one along y, 0.5 apart in z.
  const Mat3 aboutX{{{1, 0, 0}, {0, h, h}, {0, -h, h}}}, aboutY{{{h, 0, -h}, {0, 1, 0}, {h, 0, h}}};
  const Transform X_WA{aboutX, {}}, X_WB{aboutY, {0.3, -0.2, 2 * std::sqrt(2.0) + 0.5}};
  const ConvexContact<double> c = convexDistance(box, box, inverseTimes(X_WA, X_WB), kFar, true);
  EXPECT_NEAR(c.distance, 0.5, 1e-14);
  const Vec3 normal = X_WA.rotation * c.normal, point = X_WA * c.pointA;
  EXPECT_NEAR(normal.z, -1, 1e-14);
  EXPECT_NEAR(point.x, 0.3, 1e-14);
  EXPECT_NEAR(point.y, 0, 1e-14);
}

TEST(ConvexDistance, BeyondTheUpperBoundIsALowerBoundAboveIt) {
  Random random(4);
  std::vector<std::unique_ptr<HullPoints>> hulls;
  for (int k = 0; k < 2000; ++k) {
    const CoreType cores[] = {CoreType::Box, CoreType::Cylinder, CoreType::Ellipsoid,
                              CoreType::Hull, CoreType::Segment};
    const View a = randomView(random, cores[random.below(5)], 1, 1, hulls);
    const View b = randomView(random, cores[random.below(5)], 1, 1, hulls);
    const Transform X{random.rotation(), random.direction() * random.uniform(2, 6)};
    const double exact = convexDistance(a, b, X, kFar, true).distance;
    if (!(exact > 0.1)) continue;
    const double bound = exact * random.uniform(0.1, 0.9);
    const ConvexContact<double> c = convexDistance(a, b, X, bound, true);
    EXPECT_GT(c.distance, bound);
    EXPECT_LE(c.distance, exact * (1 + 1e-9));
    EXPECT_NEAR(norm(c.normal), 1, 1e-12);
  }
}

TEST(ConvexDistance, UnsignedOverlapIsZeroAtOnePoint) {
  const View box = makeView(CoreType::Box, {1, 1, 1});
  const ConvexContact<double> c = convexDistance(box, box, at({0.1, 0.2, 1.5}), kFar, false);
  EXPECT_EQ(c.distance, 0);
  EXPECT_EQ(c.pointA, c.pointB);
}

TEST(ConvexDistance, GoldenDistancesNormalsAndPointsAreWithinTolerance) {
  int checked = 0;
  for (const GoldenCase& g : golden().cases()) {
    const ConvexContact<double> c =
        convexDistance(g.shape1.view, g.shape2.view, g.relativePose(), kFar, true);
    const GoldenError e = judge(g, c);
    const double tolerance = g.isCurved() ? 1e-6 : 1e-9;
    EXPECT_LT(e.worst(), tolerance) << "case " << g.id << " " << g.category << " " << g.pair();
    // The depth itself is as exact for curved cores: only their witness points are looser.
    EXPECT_LT(e.distance, 1e-9) << "case " << g.id << " " << g.category << " " << g.pair();
    EXPECT_EQ(c.status, QueryStatus::Ok) << "case " << g.id;
    ++checked;
  }
  EXPECT_EQ(checked, 1624);
}

TEST(ConvexOverlap, GoldenBooleansAreAllRight) {
  for (const GoldenCase& g : golden().cases()) {
    if (std::fabs(g.distance) <= 1e-6 * g.scale) continue;
    EXPECT_EQ(convexOverlap(g.shape1.view, g.shape2.view, g.relativePose()), g.distance < 0)
        << "case " << g.id << " " << g.category << " " << g.pair();
  }
}

TEST(ConvexDistance, SwappingTheBodiesTurnsTheAnswerRound) {
  for (const GoldenCase& g : golden().cases()) {
    const Transform X = g.relativePose();
    const double d1 = convexDistance(g.shape1.view, g.shape2.view, X, kFar, true).distance;
    const double d2 = convexDistance(g.shape2.view, g.shape1.view, inverse(X), kFar, true).distance;
    const double tolerance = (g.isCurved() ? 1e-6 : 1e-12) * std::max(g.scale, std::fabs(d1));
    EXPECT_NEAR(d1, d2, tolerance) << "case " << g.id << " " << g.pair();
  }
}

TEST(ConvexDistance, ScalingTheSceneScalesTheAnswer) {
  // Powers of two: every product is exact, so even the bits must scale.
  for (const GoldenCase& g : golden().cases()) {
    if (g.shape1.kind == "hull" || g.shape2.kind == "hull") continue;
    const double d =
        convexDistance(g.shape1.view, g.shape2.view, g.relativePose(), kFar, true).distance;
    for (const double s : {0x1.0p-20, 0x1.0p+20}) {
      const auto scaled = [s](View v) {
        v.size = v.size * s;
        v.radius *= s;
        v.center = v.center * s;
        v.boundingRadius *= s;
        return v;
      };
      Transform X = g.relativePose();
      X.translation = X.translation * s;
      const double ds =
          convexDistance(scaled(g.shape1.view), scaled(g.shape2.view), X, kFar, true).distance;
      EXPECT_EQ(ds, d * s) << "case " << g.id << " " << g.pair();
    }
  }
}

/// Small steps of B around A, with a hint carried along, against the cold answer.
template <class Check>
void walk(CoreType coreA, CoreType coreB, Check&& check) {
  Random random(7);
  std::vector<std::unique_ptr<HullPoints>> hulls;
  for (int start = 0; start < 40; ++start) {
    const View a = randomView(random, coreA, 1, 1, hulls),
               b = randomView(random, coreB, 1, 1, hulls);
    Transform X{random.rotation(), random.direction() * random.uniform(0.3, 2.5)};
    const Vec3 step = random.direction() * 0.01;
    Hint distanceHint, overlapHint;
    for (int k = 0; k < 40; ++k) {
      check(a, b, X, distanceHint, overlapHint);
      X.translation += step;
      const Quat turn{1, 0.004, -0.003, 0.002};
      X.rotation = rotationMatrix(turn) * X.rotation;
    }
  }
}

TEST(ConvexDistance, WarmAnswersOfPolytopesHaveTheBitsOfTheColdOnes) {
  const CoreType cores[] = {CoreType::Box, CoreType::Hull, CoreType::Segment};
  for (const CoreType coreA : cores) {
    for (const CoreType coreB : cores) {
      if (coreA == CoreType::Segment && coreB == CoreType::Segment) continue;
      walk(coreA, coreB,
           [](const View& a, const View& b, const Transform& X, Hint& hint, Hint& flag) {
             const ConvexContact<double> cold = convexDistance(a, b, X, kFar, true);
             const ConvexContact<double> warm = convexDistance(a, b, X, kFar, true, &hint);
             ASSERT_EQ(cold.distance, warm.distance);
             ASSERT_EQ(cold.normal, warm.normal);
             ASSERT_EQ(cold.pointA, warm.pointA);
             ASSERT_EQ(cold.pointB, warm.pointB);
             ASSERT_EQ(convexOverlap(a, b, X), convexOverlap(a, b, X, &flag));
           });
    }
  }
}

TEST(ConvexDistance, WarmAnswersOfCurvedShapesAreTheColdOnes) {
  const CoreType cores[] = {CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid,
                            CoreType::Hull};
  for (const CoreType coreA : cores) {
    for (const CoreType coreB : cores) {
      walk(coreA, coreB,
           [](const View& a, const View& b, const Transform& X, Hint& hint, Hint& flag) {
             const ConvexContact<double> cold = convexDistance(a, b, X, kFar, true);
             const ConvexContact<double> warm = convexDistance(a, b, X, kFar, true, &hint);
             ASSERT_NEAR(cold.distance, warm.distance, 1e-6);
             if (std::fabs(cold.distance) > 1e-9) {
               ASSERT_EQ(convexOverlap(a, b, X), convexOverlap(a, b, X, &flag));
             }
           });
    }
  }
}

// What was proved of an overlap saves the next search. It must not outlive the motion it allows
// for.
TEST(ConvexDistance, WarmAnswersOfDeepOverlapsAreTheColdOnes) {
  Random random(9);
  const CoreType cores[] = {CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid};
  for (int start = 0; start < 300; ++start) {
    View view[2];
    for (View& v : view) {
      v.core = cores[random.below(3)];
      v.size = {random.uniform(0.6, 1.7), random.uniform(0.6, 1.7), random.uniform(0.6, 1.7)};
      v.boundingRadius = norm(v.size);
    }
    // Half of the walks begin with parallel axes, where flat ends and rims take turns.
    Transform X{start % 2 ? random.rotation() : Mat3::identity(),
                random.direction() * random.uniform(0.01, 1)};
    const Vec3 step = random.direction() * 0.01;
    const Mat3 spin = rotationMatrix(
        Quat{1, random.uniform(-0.005, 0.005), random.uniform(-0.005, 0.005), 0.002});
    Hint hint;
    for (int k = 0; k < 40; ++k) {
      const double cold = convexDistance(view[0], view[1], X, kFar, true).distance;
      const double warm = convexDistance(view[0], view[1], X, kFar, true, &hint).distance;
      ASSERT_NEAR(cold, warm, 1e-6) << start << " " << k;
      X = {spin * X.rotation, X.translation + step};
    }
  }
}

TEST(ConvexDistance, WhatWasProvedOfOnePairIsNotUsedForAnother) {
  Random random(10);
  int numProofs = 0;
  for (int k = 0; k < 500; ++k) {
    View view[3];
    for (View& v : view) {
      v.core = CoreType::Ellipsoid;
      v.size = {random.uniform(0.2, 1), random.uniform(0.2, 1), random.uniform(0.2, 1)};
      v.boundingRadius = 1.8;
    }
    const Transform X{random.rotation(), random.direction() * random.uniform(0.01, 0.3)};
    Hint hint;
    for (int i = 0; i < 2; ++i) (void)convexDistance(view[0], view[1], X, kFar, true, &hint);
    numProofs += hint.clearance > 0 ? 1 : 0;
    const double cold = convexDistance(view[0], view[2], X, kFar, true).distance;
    hint.clearance *= 10;  // as another pair may have had it
    EXPECT_NEAR(convexDistance(view[0], view[2], X, kFar, true, &hint).distance, cold, 1e-6) << k;
  }
  EXPECT_GT(numProofs, 300);
}

TEST(ConvexDistance, AHintOfNonsenseChangesNothing) {
  Random random(8);
  std::vector<std::unique_ptr<HullPoints>> hulls;
  const CoreType cores[] = {CoreType::Box,       CoreType::Hull,    CoreType::Cylinder,
                            CoreType::Ellipsoid, CoreType::Segment, CoreType::Point};
  for (int k = 0; k < 5000; ++k) {
    const View a = randomView(random, cores[random.below(6)], 1, 1, hulls);
    const View b = randomView(random, cores[random.below(6)], 1, 1, hulls);
    const Transform X{random.rotation(), random.direction() * random.uniform(0.5, 2.5)};
    Hint hint;
    hint.axis = random.below(3) == 0 ? Vec3{} : random.direction() * (random.below(2) ? 1.0 : 1e-3);
    hint.drift = random.direction() * random.uniform(0, 0.2);
    hint.count = static_cast<std::uint8_t>(random.below(7));
    for (int i = 0; i < 4; ++i) {
      hint.index1[i] = static_cast<std::int16_t>(random.below(60) - 10);
      hint.index2[i] = static_cast<std::int16_t>(random.below(4));
    }
    const double cold = convexDistance(a, b, X, kFar, true).distance;
    const Hint copy = hint;
    EXPECT_NEAR(convexDistance(a, b, X, kFar, true, &hint).distance, cold, 1e-6);
    hint = copy;
    if (std::fabs(cold) > 1e-9) {
      EXPECT_EQ(convexOverlap(a, b, X, &hint), cold < 0);
    }
  }
}

TEST(ConvexDistance, TrianglesAgainstSolidsAgreeWithTheSampledTriangle) {
  // The distance to a triangle is the least over its points; sampled from above, bounded by the
  // support planes from below.
  Random random(9);
  std::vector<std::unique_ptr<HullPoints>> hulls;
  const CoreType cores[] = {CoreType::Box, CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid,
                            CoreType::Hull};
  for (int k = 0; k < 500; ++k) {
    const View a = randomView(random, cores[k % 5], 1, 1, hulls);
    const Vec3 corner[3] = {random.direction() * 2.0, random.direction() * 2.0,
                            random.direction() * 2.0};
    View triangle = makeView(CoreType::Triangle, {});
    triangle.triangle = corner;
    triangle.center = (corner[0] + corner[1] + corner[2]) * (1.0 / 3);
    for (const Vec3& p : corner)
      triangle.boundingRadius = std::max(triangle.boundingRadius, norm(p - triangle.center));
    const Transform X{random.rotation(), random.direction() * 1.5};
    const ConvexContact<double> c = convexDistance(a, triangle, X, kFar, true);
    EXPECT_NEAR(test::gapAlong(a, triangle, X, c.normal), c.distance, 1e-9);
    if (c.distance <= 0) continue;
    const View point = makeView(CoreType::Point, {});
    for (int i = 0; i <= 4; ++i) {
      for (int j = 0; i + j <= 4; ++j) {
        const Vec3 p =
            corner[0] * (i / 4.0) + corner[1] * (j / 4.0) + corner[2] * ((4 - i - j) / 4.0);
        EXPECT_LE(c.distance, convexDistance(a, point, at(X * p), kFar, true).distance + 1e-9);
      }
    }
  }
}

TEST(ConvexDistance, FloatsThatTouchExactlyGiveFiniteAnswers) {
  // On a grid of 1/8 m many pairs touch in a line or a face, and the nearest point comes out as
  // exactly zero: it must keep a direction.
  Random random(21);
  const auto onGrid = [&](int low, int high) {
    return static_cast<float>(low + random.below(high - low)) / 8;
  };
  const Mat3T<float> turns[] = {Mat3T<float>::identity(),
                                {{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}},
                                {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}}};
  const CoreType cores[] = {CoreType::Box, CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid};
  for (int i = 0; i < 20000; ++i) {
    ConvexView<float> views[2];
    for (ConvexView<float>& view : views) {
      const float radius = onGrid(2, 7), height = onGrid(2, 7);
      view.core = cores[random.below(4)];
      view.size = {radius, radius, height};
      view.boundingRadius = 2 * norm(view.size);
    }
    TransformT<float> X;
    X.rotation = turns[random.below(3)];
    X.translation.x = onGrid(-7, 8);
    X.translation.y = onGrid(-7, 8);
    X.translation.z = onGrid(-7, 8);
    const ConvexContact<float> contact =
        convexDistance(views[0], views[1], X, 100.0f, /*enableSigned=*/true);
    ASSERT_TRUE(std::isfinite(contact.distance)) << i;
    ASSERT_NEAR(norm(contact.normal), 1, 1e-5) << i;
    ASSERT_TRUE(std::isfinite(squaredNorm(contact.pointA))) << i;
    ASSERT_TRUE(std::isfinite(squaredNorm(contact.pointB))) << i;
  }
}

}  // namespace
}  // namespace tangere::kernel
