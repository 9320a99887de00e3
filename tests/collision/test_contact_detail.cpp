// SPDX-License-Identifier: Apache-2.0
#include <tangere/collision.hpp>

#include "collision/box_pose_helpers.hpp"
#include "collision/kernels/box_box.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "geometry/flat_shape.hpp"

#include <gtest/gtest.h>

namespace tangere {
namespace {

using test::rotationAbout;

ContactManifold collideConvex(const Shape& a, const Transform& X_WA, const Shape& b,
                              const Transform& X_WB) {
  const Transform X_AB = inverseTimes(X_WA, X_WB);
  ContactManifold m;
  kernel::buildConvexManifold(
      a.flat().convex, b.flat().convex, X_AB,
      kernel::convexDistance(a.flat().convex, b.flat().convex, X_AB, 1e300, true), &m);
  kernel::transformManifold(X_WA, &m);
  return m;
}

ContactManifold collideBoxes(const test::KnownManifold& k) {
  ContactManifold m;
  kernel::collideBoxBox(test::boxView(k.half1), k.X_W1, test::boxView(k.half2), k.X_W2, &m);
  return m;
}

/// Vector area of a polygon along n.
double areaAlong(const std::vector<Vec3>& polygon, const Vec3& n) {
  Vec3 sum{};
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    sum += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  return 0.5 * dot(sum, n);
}

TEST(FaceContact, GivesTheWholePolygonOfTheKnownPoses) {
  for (const test::KnownManifold& k : test::knownManifolds()) {
    SCOPED_TRACE(k.name);
    const Box box1(k.half1), box2(k.half2);
    const ContactManifold m = collideBoxes(k);
    const std::optional<FaceContact> face = faceContact(box1, k.X_W1, box2, k.X_W2, m);
    ASSERT_EQ(face.has_value(), k.numVertices >= 3);
    if (!face) continue;
    EXPECT_EQ(static_cast<int>(face->polygon.size()), k.numVertices);
    EXPECT_EQ(face->normal, m.points[0].normal);
    if (k.area > 0) {
      EXPECT_NEAR(face->area, k.area, 1e-12);
    }
    // Counter-clockwise about the normal.
    EXPECT_NEAR(areaAlong(face->polygon, face->normal), face->area, 1e-12);
    EXPECT_GT(face->area, 0);
    for (const Vec3& p : face->polygon) {
      const double top = test::envelope(k.half1, k.X_W1, p.x, p.y, true);
      const double bottom = test::envelope(k.half2, k.X_W2, p.x, p.y, false);
      EXPECT_NEAR(p.z, 0.5 * (top + bottom), 1e-9);
      EXPECT_GE(top - bottom, -1e-9);
    }
    // Every point of the manifold is a corner of it.
    for (const ContactPoint& c : m.contacts()) {
      double nearest = 1e300;
      for (const Vec3& p : face->polygon) nearest = std::min(nearest, norm(p - c.position));
      EXPECT_LE(nearest, 1e-9);
    }
  }
}

TEST(FaceContact, CentroidOfAnOffsetFaceIsItsMiddle) {
  const test::KnownManifold k = test::knownManifolds()[0];  // 0.8 x 0.6 at (0.05, -0.03)
  const Box box1(k.half1), box2(k.half2);
  const auto face = faceContact(box1, k.X_W1, box2, k.X_W2, collideBoxes(k));
  ASSERT_TRUE(face);
  EXPECT_NEAR(face->centroid.x, 0.05, 1e-14);
  EXPECT_NEAR(face->centroid.y, -0.03, 1e-14);
  EXPECT_NEAR(face->centroid.z, 0.4975, 1e-14);
}

TEST(FaceContact, OverhangingCornerHasTheAreaOfTheCommonPart) {
  // Two squares of side 1, one shifted by (0.45, 0.2) and turned by 30 degrees.
  const test::KnownManifold k = test::knownManifolds()[2];
  const Box box1(k.half1), box2(k.half2);
  const auto face = faceContact(box1, k.X_W1, box2, k.X_W2, collideBoxes(k));
  ASSERT_TRUE(face);
  // By counting a grid.
  const int n = 2000;
  int inside = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const Vec3 p{-0.5 + (i + 0.5) / n, -0.5 + (j + 0.5) / n, 0.4975};
      if (test::outsideBox(k.half2, k.X_W2, p) == 0) ++inside;
    }
  }
  EXPECT_NEAR(face->area, static_cast<double>(inside) / n / n, 1e-3);
}

TEST(FaceContact, DiscOnABoxHasTheAreaOfTheDisc) {
  const Cylinder cylinder(0.2, 0.3);
  const Box box(Vec3{0.5, 0.5, 0.5});
  const Transform X1{rotationAbout({0, 0, 1}, 17), {0.1, -0.05, 0.79}};
  const ContactManifold m = collideConvex(cylinder, X1, box, {});
  const auto face = faceContact(cylinder, X1, box, {}, m);
  ASSERT_TRUE(face);
  EXPECT_NEAR(face->area, 3.14159265358979323846 * 0.04, 1e-4 * 0.04 * 3.2);
  EXPECT_NEAR(face->centroid.x, 0.1, 1e-12);
  EXPECT_NEAR(face->centroid.y, -0.05, 1e-12);
}

TEST(FaceContact, HullFaceOfManyVerticesIsComplete) {
  std::vector<Vec3> points;
  const int n = 150;
  for (int i = 0; i < n; ++i) {
    const double t = 2 * 3.14159265358979323846 * i / n;
    for (const double z : {-0.1, 0.1}) points.push_back({0.4 * std::cos(t), 0.4 * std::sin(t), z});
  }
  const Convex hull(points);
  const Box box(Vec3{0.5, 0.5, 0.5});
  const Transform X1{Mat3::identity(), {0, 0, 0.59}};
  const auto face = faceContact(hull, X1, box, {}, collideConvex(hull, X1, box, {}));
  ASSERT_TRUE(face);
  EXPECT_EQ(face->polygon.size(), static_cast<std::size_t>(n));
}

TEST(FaceContact, OnAPlaneIsTheFaceOfTheBody) {
  const Plane plane;
  const Box box(Vec3{0.5, 0.25, 0.5});
  const Transform X_WBox{Mat3::identity(), {1, 2, 0.49}};
  ContactManifold m;  // as the plane pairs write it: box first, normal from the plane up
  m.type = ContactType::Face;
  m.count = 4;
  for (int i = 0; i < 4; ++i) {
    m.points[i].normal = {0, 0, 1};
    m.points[i].depth = 0.01;
    m.points[i].position = {1 + (i & 1 ? 0.5 : -0.5), 2 + (i & 2 ? 0.25 : -0.25), -0.005};
  }
  const auto face = faceContact(box, X_WBox, plane, {}, m);
  ASSERT_TRUE(face);
  EXPECT_NEAR(face->area, 0.5, 1e-14);
  EXPECT_EQ(face->polygon.size(), 4u);
  EXPECT_NEAR(face->centroid.z, -0.005, 1e-14);
  EXPECT_NEAR(areaAlong(face->polygon, {0, 0, 1}), 0.5, 1e-14);
}

TEST(EdgeContact, IsTheLineBetweenTheTwoPoints) {
  const test::KnownManifold k = test::knownManifolds()[4];  // tilted by 15 degrees about x
  const std::optional<EdgeContact> edge = edgeContact(collideBoxes(k));
  ASSERT_TRUE(edge);
  EXPECT_NEAR(norm(edge->point2 - edge->point1), 0.8, 1e-14);
  EXPECT_NEAR(std::fabs(edge->direction.x), 1, 1e-14);
  EXPECT_NEAR(edge->depth1, 0.01, 1e-14);
  EXPECT_NEAR(edge->depth2, 0.01, 1e-14);
  EXPECT_NEAR(edge->normal.z, -1, 1e-14);
  EXPECT_FALSE(edgeContact(collideBoxes(test::knownManifolds()[0])));
  EXPECT_FALSE(edgeContact(collideBoxes(test::knownManifolds()[7])));
}

ContactPoint contactAt(const Vec3& position, const Vec3& normal, double depth) {
  ContactPoint c;
  c.position = position;
  c.normal = normal;
  c.depth = depth;
  return c;
}

/// Eigenvalues of a form in an orthonormal frame, smaller first.
std::pair<double, double> principal(const double form[3]) {
  const double mean = 0.5 * (form[0] + form[2]), d = 0.5 * (form[0] - form[2]);
  const double r = std::sqrt(d * d + form[1] * form[1]);
  return {mean - r, mean + r};
}

TEST(ParametricContact, SphereOnPlane) {
  const Sphere sphere(0.25);
  const Plane plane;
  const auto p = parametricContact(sphere, {Mat3::identity(), {0, 0, 0.24}}, plane, {},
                                   contactAt({0, 0, -0.005}, {0, 0, 1}, 0.01));
  ASSERT_TRUE(p);
  EXPECT_NEAR(dot(p->u, p->v), 0, 1e-15);
  EXPECT_NEAR(cross(p->u, p->v).z, 1, 1e-15);
  for (const double* first : {p->firstForm1, p->firstForm2}) {
    EXPECT_EQ(first[0], 1);
    EXPECT_EQ(first[1], 0);
    EXPECT_EQ(first[2], 1);
  }
  EXPECT_NEAR(p->secondForm1[0], 4, 1e-14);
  EXPECT_NEAR(p->secondForm1[1], 0, 1e-14);
  EXPECT_NEAR(p->secondForm1[2], 4, 1e-14);
  for (const double x : p->secondForm2) EXPECT_EQ(x, 0);
}

TEST(ParametricContact, CurvaturesOfTheRoundShapes) {
  const Plane plane;
  const Transform ground{};
  const ContactPoint c = contactAt({0, 0, 0}, {0, 0, 1}, 0);
  // Axis along world x: the side touches.
  const Mat3 lying = rotationAbout({0, 1, 0}, 90);
  const auto cylinder =
      parametricContact(Cylinder(0.2, 0.5), {lying, {0, 0, 0.2}}, plane, ground, c);
  ASSERT_TRUE(cylinder);
  EXPECT_NEAR(principal(cylinder->secondForm1).first, 0, 1e-14);
  EXPECT_NEAR(principal(cylinder->secondForm1).second, 5, 1e-13);
  // No curvature along the axis: II(x, x) = 0.
  const double xu = cylinder->u.x, xv = cylinder->v.x;
  EXPECT_NEAR(cylinder->secondForm1[0] * xu * xu + 2 * cylinder->secondForm1[1] * xu * xv +
                  cylinder->secondForm1[2] * xv * xv,
              0, 1e-13);

  const auto side = parametricContact(Capsule(0.2, 0.5), {lying, {0, 0, 0.2}}, plane, ground, c);
  ASSERT_TRUE(side);
  EXPECT_NEAR(principal(side->secondForm1).first, 0, 1e-14);
  EXPECT_NEAR(principal(side->secondForm1).second, 5, 1e-13);
  const auto cap =
      parametricContact(Capsule(0.2, 0.5), {Mat3::identity(), {0, 0, 0.7}}, plane, ground, c);
  ASSERT_TRUE(cap);
  EXPECT_NEAR(principal(cap->secondForm1).first, 5, 1e-13);
  EXPECT_NEAR(principal(cap->secondForm1).second, 5, 1e-13);

  // An ellipsoid on the end of its third axis c has curvatures c/a^2 and c/b^2 there.
  const auto end = parametricContact(Ellipsoid(Vec3{0.5, 0.4, 0.3}),
                                     {Mat3::identity(), {0, 0, 0.3}}, plane, ground, c);
  ASSERT_TRUE(end);
  EXPECT_NEAR(principal(end->secondForm1).first, 0.3 / 0.25, 1e-13);
  EXPECT_NEAR(principal(end->secondForm1).second, 0.3 / 0.16, 1e-13);

  const auto face =
      parametricContact(Cylinder(0.2, 0.5), {Mat3::identity(), {0.1, 0, 0.5}}, plane, ground, c);
  ASSERT_TRUE(face);
  for (const double x : face->secondForm1) EXPECT_EQ(x, 0);
}

TEST(ParametricContact, ConeSideCurvesAroundItsAxis) {
  const Cone cone(0.3, 0.4);
  const Plane plane;
  const double slant = std::sqrt(0.64 + 0.09);
  const Mat3 R{{{0.3 / slant, 0, -0.8 / slant}, {0, -1, 0}, {-0.8 / slant, 0, -0.3 / slant}}};
  const Vec3 middle{0.15, 0, 0};  // half way down the side
  const Transform X{R, -(R * middle)};
  const auto p = parametricContact(cone, X, plane, {}, contactAt({0, 0, 0}, {0, 0, 1}, 0));
  ASSERT_TRUE(p);
  EXPECT_NEAR(principal(p->secondForm1).first, 0, 1e-13);
  EXPECT_NEAR(principal(p->secondForm1).second, (0.8 / slant) / 0.15, 1e-12);
}

// The form is what moves the normal: compare with the normals of the support function nearby.
TEST(ParametricContact, EllipsoidFormMatchesDifferencesOfItsNormal) {
  test::Random random(41);
  const Vec3 s{0.5, 0.4, 0.3};
  const Ellipsoid ellipsoid(s);
  const Plane plane;
  for (int i = 0; i < 50; ++i) {
    const Mat3 R = random.rotation();
    const Vec3 down = transposeTimes(R, Vec3{0, 0, -1});
    const Vec3 lowest = ellipsoid.support(down);
    const Transform X{R, -(R * lowest)};
    const auto p = parametricContact(ellipsoid, X, plane, {}, contactAt({}, {0, 0, 1}, 0));
    ASSERT_TRUE(p);
    const double h = 1e-5;
    const Vec3 du = transposeTimes(R, p->u), dv = transposeTimes(R, p->v);
    // Normals of the level set at neighbouring points of the surface.
    const auto normalAt = [&](const Vec3& x) {
      const Vec3 g{x.x / (s.x * s.x), x.y / (s.y * s.y), x.z / (s.z * s.z)};
      return g / norm(g);
    };
    const Vec3 turn = (normalAt(lowest + du * h) - normalAt(lowest - du * h)) / (2 * h);
    EXPECT_NEAR(p->secondForm1[0], dot(turn, du), 1e-6);
    EXPECT_NEAR(p->secondForm1[1], dot(turn, dv), 1e-6);
  }
}

TEST(ParametricContact, EdgesCornersAndRimsHaveNoForm) {
  const Plane plane;
  const Box box(Vec3{0.5, 0.5, 0.5});
  const ContactPoint c = contactAt({0, 0, 0}, {0, 0, 1}, 0);
  const Transform flat{Mat3::identity(), {0.1, 0.2, 0.5}};
  EXPECT_TRUE(parametricContact(box, flat, plane, {}, c));
  // The same contact at a corner of the face, and with the box on an edge.
  EXPECT_FALSE(parametricContact(box, {Mat3::identity(), {0.5, 0.5, 0.5}}, plane, {}, c));
  EXPECT_FALSE(
      parametricContact(box, {rotationAbout({1, 0, 0}, 45), {0, 0, std::sqrt(0.5)}}, plane, {}, c));
  EXPECT_FALSE(
      parametricContact(Cylinder(0.2, 0.5), {Mat3::identity(), {0.2, 0, 0.5}}, plane, {}, c));
  EXPECT_FALSE(parametricContact(Cone(0.2, 0.5), {rotationAbout({1, 0, 0}, 180), {0, 0, 0.5}},
                                 plane, {}, c));
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back({i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5});
  const Convex hull(corners);
  EXPECT_TRUE(parametricContact(hull, flat, plane, {}, c));
  EXPECT_FALSE(parametricContact(hull, {Mat3::identity(), {0.5, 0.5, 0.5}}, plane, {}, c));
}

}  // namespace
}  // namespace tangere
