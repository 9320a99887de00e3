// SPDX-License-Identifier: Apache-2.0
#include "collision/kernels/mpr.hpp"

#include "collision/golden_cases.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/random_shapes.hpp"

#include <gtest/gtest.h>

namespace tangere::kernel {
namespace {

using test::GoldenCase;
using test::GoldenCases;
using test::HullPoints;
using test::Random;

using View = ConvexView<double>;
using Hint = ConvexHint<double>;

ConvexContact<double> mprDistance(const View& a, const View& b, const Transform& X) {
  return detail::convexDistance(MinkowskiPair<double>{a, b, X}, 1e300, true,
                                static_cast<Hint*>(nullptr), /*usePortal=*/true);
}

TEST(FindPortal, EveryVerdictCarriesItsProof) {
  Random random(1);
  const CoreType cores[] = {CoreType::Box, CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid,
                            CoreType::Hull};
  int separated = 0, overlapping = 0;
  for (int k = 0; k < 20000; ++k) {
    std::vector<std::unique_ptr<HullPoints>> hulls;
    const View a = randomView(random, cores[random.below(5)], 1, 1, hulls);
    const View b = randomView(random, cores[random.below(5)], 1, 1, hulls);
    const Transform X{random.rotation(), random.direction() * random.uniform(0.1, 2.5)};
    const MinkowskiPair<double> pair{a, b, X};
    Portal<double> portal;
    const PortalStatus status =
        findPortal(pair, detail::insidePoint(pair, a.boundingRadius + b.boundingRadius), portal);
    if (status == PortalStatus::Separated) {
      // All of D is on the far side of the plane.
      EXPECT_LT(dot(portal.axis, pair.support(portal.axis).w), 0);
      ++separated;
    } else if (status == PortalStatus::Overlapping) {
      // The origin is in the tetrahedron of the center and the portal.
      const Vec3 p[4] = {portal.center, portal.p(0).w, portal.p(1).w, portal.p(2).w};
      const double volume = dot(cross(p[1] - p[0], p[2] - p[0]), p[3] - p[0]);
      for (int i = 0; i < 4; ++i) {
        Vec3 q[4] = {p[0], p[1], p[2], p[3]};
        q[i] = {};
        EXPECT_GE(dot(cross(q[1] - q[0], q[2] - q[0]), q[3] - q[0]) / volume, -1e-9);
      }
      ++overlapping;
    }
  }
  EXPECT_GT(separated, 1000);
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(separated + overlapping, 19900);
}

TEST(MprDistance, GoldenCasesAreWithinTolerance) {
  const GoldenCases golden(TANGERE_TEST_DATA "/golden/collision");
  for (const GoldenCase& g : golden.cases()) {
    const ConvexContact<double> c = mprDistance(g.shape1.view, g.shape2.view, g.relativePose());
    EXPECT_LT(judge(g, c).worst(), g.isCurved() ? 1e-6 : 1e-9)
        << "case " << g.id << " " << g.category << " " << g.pair();
    EXPECT_EQ(c.status, QueryStatus::Ok) << "case " << g.id;
  }
}

TEST(MprDistance, AgreesWithGjkOnSeparatedShapes) {
  Random random(2);
  const CoreType cores[] = {CoreType::Box,  CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid,
                            CoreType::Hull, CoreType::Segment,  CoreType::Point};
  for (int k = 0; k < 20000; ++k) {
    std::vector<std::unique_ptr<HullPoints>> hulls;
    const View a = randomView(random, cores[random.below(7)], 1, k % 4 == 0 ? 100 : 1, hulls);
    const View b = randomView(random, cores[random.below(7)], 1, 1, hulls);
    const Transform X{random.rotation(), random.direction() * random.uniform(0.5, 4)};
    const double gjk = convexDistance(a, b, X, 1e300, true).distance;
    if (gjk > 0) {
      EXPECT_NEAR(mprDistance(a, b, X).distance, gjk, 1e-9 * (1 + gjk));
    }
  }
}

TEST(ConvexCollide, GoldenContactsAreWithinTolerance) {
  const GoldenCases golden(TANGERE_TEST_DATA "/golden/collision");
  for (const GoldenCase& g : golden.cases()) {
    const Transform X = g.relativePose();
    ConvexContact<double> c;
    const bool hit = detail::convexCollide(MinkowskiPair<double>{g.shape1.view, g.shape2.view, X},
                                           static_cast<Hint*>(nullptr), false, &c);
    if (std::fabs(g.distance) <= 1e-6 * g.scale) continue;
    EXPECT_EQ(hit, g.distance < 0) << "case " << g.id << " " << g.pair();
    if (hit) {
      EXPECT_LT(judge(g, c).worst(), g.isCurved() ? 1e-6 : 1e-9)
          << "case " << g.id << " " << g.category << " " << g.pair();
    }
  }
}

}  // namespace
}  // namespace tangere::kernel
