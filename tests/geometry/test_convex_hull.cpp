// SPDX-License-Identifier: Apache-2.0
//
// Convex hulls: the right polytope for known bodies, sound topology for any, the same result for
// every order of the points, and a named reason where there is no hull.
#include "geometry/convex_hull.hpp"

#include <tangere/error.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/shape_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numbers>

namespace tangere {
namespace {

using geometry::computeConvexHull;
using geometry::ConvexHull;
using testing::boxCorners;
using testing::Random;
using testing::spherePoints;

constexpr Real kPi = std::numbers::pi_v<Real>;

Real sizeOf(std::span<const Vec3> points) {
  Aabb box{points[0], points[0]};
  for (const Vec3& p : points) box.merge(p);
  return norm(box.upper - box.lower);
}

/// Every structural promise of ConvexHull, and that no point is outside by more than `tolerance`
/// of the size.
void expectSound(const ConvexHull& hull, std::span<const Vec3> points, Real tolerance = 1e-12) {
  const Real limit = tolerance * sizeOf(points);
  ASSERT_EQ(hull.numVertices() - hull.numEdges() + hull.numFaces(), 2);
  ASSERT_TRUE(
      std::is_sorted(hull.vertices.begin(), hull.vertices.end(), [](const Vec3& a, const Vec3& b) {
        return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
      }));
  std::map<std::pair<int, int>, int> faceOf;
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    ASSERT_GE(face.size(), 3u);
    ASSERT_EQ(*std::min_element(face.begin(), face.end()), face[0]);
    ASSERT_NEAR(norm(hull.faceNormal[f]), 1, 1e-15);
    for (std::size_t i = 0; i < face.size(); ++i) {
      ASSERT_TRUE(faceOf.insert({{face[i], face[(i + 1) % face.size()]}, f}).second);
      ASSERT_NEAR(dot(hull.faceNormal[f], hull.vertices[face[i]]), hull.faceOffset[f], limit);
    }
    if (f > 0) {
      const std::span<const int> before = hull.face(f - 1);
      ASSERT_TRUE(
          std::lexicographical_compare(before.begin(), before.end(), face.begin(), face.end()));
    }
    for (const Vec3& p : points) {
      ASSERT_LE(dot(hull.faceNormal[f], p) - hull.faceOffset[f], limit);
    }
  }
  ASSERT_EQ(faceOf.size(), static_cast<std::size_t>(2 * hull.numEdges()));
  for (int e = 0; e < hull.numEdges(); ++e) {
    const int v0 = hull.edgeVertex[2 * e], v1 = hull.edgeVertex[2 * e + 1];
    ASSERT_LT(v0, v1);
    ASSERT_EQ(faceOf.at({v0, v1}), hull.edgeFace[2 * e]);
    ASSERT_EQ(faceOf.at({v1, v0}), hull.edgeFace[2 * e + 1]);
  }
  ASSERT_EQ(hull.neighbor.size(), static_cast<std::size_t>(2 * hull.numEdges()));
  ASSERT_EQ(hull.vertexFace.size(), hull.faceVertex.size());
  for (int v = 0; v < hull.numVertices(); ++v) {
    ASSERT_GE(hull.neighborStart[v + 1] - hull.neighborStart[v], 3);
    for (int k = hull.neighborStart[v]; k < hull.neighborStart[v + 1]; ++k) {
      ASSERT_TRUE(faceOf.count({v, hull.neighbor[k]}) == 1);
    }
    for (int k = hull.vertexFaceStart[v]; k < hull.vertexFaceStart[v + 1]; ++k) {
      const std::span<const int> face = hull.face(hull.vertexFace[k]);
      ASSERT_NE(std::find(face.begin(), face.end(), v), face.end());
    }
  }
}

std::vector<Vec3> shuffled(std::vector<Vec3> points, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = points.size(); i > 1; --i) {
    std::swap(points[i - 1], points[static_cast<std::size_t>(random.index(static_cast<int>(i)))]);
  }
  return points;
}

/// The corners and `count` points on the faces, edges included.
std::vector<Vec3> boxSurface(const Vec3& h, int count) {
  Random random(11);
  std::vector<Vec3> out = boxCorners(h);
  for (int i = 0; i < count; ++i) {
    Vec3 p = random.inBox(h);
    const int axis = random.index(3);
    p[axis] = random.index(2) == 0 ? h[axis] : -h[axis];
    if (i % 5 == 0) p[(axis + 1) % 3] = h[(axis + 1) % 3];
    out.push_back(p);
  }
  return out;
}

TEST(ConvexHull, OfACubeHasSixSquares) {
  const ConvexHull hull = computeConvexHull(boxCorners({1, 1, 1}));
  EXPECT_EQ(hull.numVertices(), 8);
  EXPECT_EQ(hull.numEdges(), 12);
  ASSERT_EQ(hull.numFaces(), 6);
  for (int f = 0; f < 6; ++f) {
    EXPECT_EQ(hull.face(f).size(), 4u);
    EXPECT_EQ(std::fabs(hull.faceNormal[f].x) + std::fabs(hull.faceNormal[f].y) +
                  std::fabs(hull.faceNormal[f].z),
              1);
    EXPECT_EQ(hull.faceOffset[f], 1);
  }
  expectSound(hull, boxCorners({1, 1, 1}), 0);
}

TEST(ConvexHull, KeepsTheCoordinatesToTheLastBit) {
  Random random(1);
  std::vector<Vec3> points;
  for (int i = 0; i < 100; ++i) points.push_back(random.inBox({1, 1, 1}) + Vec3{0.1, 0.2, 0.3});
  const ConvexHull hull = computeConvexHull(points);
  for (const Vec3& v : hull.vertices) {
    EXPECT_NE(std::find(points.begin(), points.end(), v), points.end());
  }
}

TEST(ConvexHull, OfAnyOrderIsTheSame) {
  for (const std::vector<Vec3>& points :
       {spherePoints(500), boxSurface({1, 2, 3}, 400),
        testing::moved(boxSurface({1, 2, 3}, 400), {Random(3).rotation(), {1, 2, 3}})}) {
    const ConvexHull first = computeConvexHull(points);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const ConvexHull other = computeConvexHull(shuffled(points, seed));
      EXPECT_EQ(first.vertices, other.vertices);
      EXPECT_EQ(first.faceVertex, other.faceVertex);
      EXPECT_EQ(first.faceStart, other.faceStart);
      EXPECT_EQ(first.faceNormal, other.faceNormal);
      EXPECT_EQ(first.faceOffset, other.faceOffset);
      EXPECT_EQ(first.edgeVertex, other.edgeVertex);
    }
  }
}

TEST(ConvexHull, DuplicatesAndInnerPointsChangeNothing) {
  std::vector<Vec3> points = spherePoints(50);
  const ConvexHull plain = computeConvexHull(points);
  const std::vector<Vec3> copy = points;
  points.insert(points.end(), copy.begin(), copy.end());
  for (const Vec3& p : copy) points.push_back(p * 0.5);
  points.push_back({-0.0, 0.0, -0.0});
  const ConvexHull other = computeConvexHull(points);
  EXPECT_EQ(plain.vertices, other.vertices);
  EXPECT_EQ(plain.faceVertex, other.faceVertex);
}

TEST(ConvexHull, MergesFacesOfRotatedBoxes) {
  Random random(2);
  for (const Vec3& h : {Vec3{1, 0.7, 0.3}, Vec3{1000, 1, 1}, Vec3{1000, 1000, 1}}) {
    for (const Real offset : {0.0, 1e4}) {
      for (int i = 0; i < 50; ++i) {
        const Transform X{random.rotation(), {offset, -offset, 2 * offset}};
        const std::vector<Vec3> points = testing::moved(boxCorners(h), X);
        const ConvexHull hull = computeConvexHull(points);
        ASSERT_EQ(hull.numFaces(), 6);
        ASSERT_EQ(hull.numVertices(), 8);
        // Far from the origin the corners, and n . x, are themselves rounded to 1e-16 of 3 terms.
        expectSound(hull, points, 1e-15 + 2e-15 * offset / sizeOf(points));
      }
    }
  }
}

TEST(ConvexHull, ThousandsOfPointsOnTheFacesOfACubeLeaveACube) {
  const std::vector<Vec3> points = boxSurface({1, 1, 1}, 5000);
  Random random(4);
  for (const Transform& X : {Transform::identity(), Transform{random.rotation(), {}},
                             Transform{random.rotation(), {1e4, 1e4, 1e4}}}) {
    const ConvexHull hull = computeConvexHull(testing::moved(points, X));
    EXPECT_EQ(hull.numVertices(), 8);
    EXPECT_EQ(hull.numFaces(), 6);
  }
}

TEST(ConvexHull, OfTenThousandPointsOnASphere) {
  const std::vector<Vec3> points = spherePoints(10000);
  const ConvexHull hull = computeConvexHull(points);
  EXPECT_EQ(hull.numVertices(), 10000);
  // Every support point is a vertex and every plane is outside the sphere of the shortest chord.
  for (int f = 0; f < hull.numFaces(); ++f) {
    ASSERT_GT(hull.faceOffset[f], 0.999);
    ASSERT_LT(hull.faceOffset[f], 1);
  }
  ASSERT_EQ(hull.numVertices() - hull.numEdges() + hull.numFaces(), 2);
}

TEST(ConvexHull, OfAPrismHasTwoPolygonsAndQuads) {
  std::vector<Vec3> points;
  for (int i = 0; i < 64; ++i) {
    const Real angle = kPi * i / 32;
    points.push_back({core::cos(angle), core::sin(angle), -1});
    points.push_back({core::cos(angle), core::sin(angle), 1});
  }
  Random random(5);
  for (const Mat3& R : {Mat3::identity(), random.rotation(), random.rotation()}) {
    const std::vector<Vec3> turned = testing::moved(points, {R, {}});
    const ConvexHull hull = computeConvexHull(turned);
    EXPECT_EQ(hull.numFaces(), 66);
    EXPECT_EQ(hull.numVertices(), 128);
    expectSound(hull, turned);
  }
}

TEST(ConvexHull, OfEveryKindOfCloudIsSound) {
  Random random(6);
  for (int kind = 0; kind < 6; ++kind) {
    for (int i = 0; i < 40; ++i) {
      std::vector<Vec3> points;
      const int count = 4 + random.index(200);
      for (int k = 0; k < count; ++k) {
        Vec3 p = random.inBox({1, 1, 1});
        if (kind == 1) p = random.direction();
        if (kind == 2) p = {std::floor(p.x * 3), std::floor(p.y * 3), std::floor(p.z * 3)};
        if (kind == 3) p = {p.x, p.y * 1e-3, p.z * 1e-3};
        if (kind == 4) p = {p.x, p.y, p.z * 1e-7};
        if (kind == 5) p = p * 1e-3 + Vec3{1e3, 1e3, 1e3};
        points.push_back(p);
      }
      if (kind >= 3) points = testing::moved(points, {random.rotation(), {}});
      if (kind == 2 && count < 40) continue;  // too few for a grid to span a volume for certain
      const ConvexHull hull = computeConvexHull(points);
      expectSound(hull, points, kind == 5 ? 1e-9 : 1e-13);
      if (HasFatalFailure()) FAIL() << "kind " << kind << " cloud " << i;
    }
  }
}

TEST(ConvexHull, IsFreeOfScale) {
  const std::vector<Vec3> points = spherePoints(300);
  const ConvexHull unit = computeConvexHull(points);
  for (const Real scale : {0x1p-20, 0x1p-10, 0x1p20}) {
    const ConvexHull other = computeConvexHull(testing::scaled(points, scale));
    EXPECT_EQ(unit.faceVertex, other.faceVertex);
    EXPECT_EQ(unit.faceNormal, other.faceNormal);
    for (int f = 0; f < unit.numFaces(); ++f) {
      ASSERT_EQ(unit.faceOffset[f] * scale, other.faceOffset[f]);
    }
  }
}

TEST(Convex, ArraysForKernelsArePaddedWithTheFirstVertex) {
  std::vector<Vec3> points = spherePoints(9);
  const Convex shape(points);
  const kernel::HullView<Real>& hull = *shape.flat().convex.hull;
  ASSERT_EQ(hull.numVertices, 9);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(hull.vertex(i), shape.vertices()[i < 9 ? static_cast<std::size_t>(i) : 0]);
  }
  EXPECT_EQ(hull.numFaces, shape.numFaces());
  for (int f = 0; f < hull.numFaces; ++f) {
    const std::span<const int> face = shape.face(f);
    EXPECT_EQ(hull.faceStart[f + 1] - hull.faceStart[f], static_cast<int>(face.size()));
    EXPECT_EQ(hull.faceVertex[hull.faceStart[f]], face[0]);
  }
}

/// The message names what is wrong.
void expectRefused(const std::vector<Vec3>& points, const std::string& part) {
  try {
    (void)computeConvexHull(points);
    FAIL() << "accepted, but expected: " << part;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ConvexHull, RefusesWhatSpansNoVolume) {
  constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Random random(9);
  std::vector<Vec3> line, plane, turned;
  for (int i = 0; i < 50; ++i) {
    line.push_back(Vec3{1, 2, 3} * random.uniform(-1, 1) + Vec3{0.1, 0.2, 0.3});
    plane.push_back({random.uniform(-1, 1), random.uniform(-1, 1), 0.7});
  }
  turned = testing::moved(plane, {random.rotation(), {3, 4, 5}});
  expectRefused({}, "no points");
  expectRefused({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, "at least 4");
  expectRefused({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, "coincide");
  expectRefused(line, "one line");
  expectRefused(plane, "one plane");
  expectRefused(turned, "one plane");
  expectRefused(testing::scaled(turned, 1e6), "one plane");
  expectRefused(testing::scaled(turned, 1e-6), "one plane");
  expectRefused(testing::scaled(boxCorners({1, 1, 1}), 1e-15), "less than 1e-12");
  std::vector<Vec3> bad = boxCorners({1, 1, 1});
  bad[5].y = kNaN;
  expectRefused(bad, "finite");
  bad[5].y = -kInfinity;
  expectRefused(bad, "i, x, y, z = 5, ");
  bad[5].y = 1e13;
  expectRefused(bad, "1e12");
}

}  // namespace
}  // namespace tangere
