// SPDX-License-Identifier: Apache-2.0
//
// How deep the contacts of meshes are. The meshes are convex, so their hulls tell the true depth:
// the shortest translation that separates the bodies. Wedges and thin plates are the hard ones: a
// body that dips into one of their faces reaches far below the other faces too.
#include <tangere/collision.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/kernels/support.hpp"
#include "geometry/mesh_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace tangere {
namespace {

using namespace test;

constexpr double kDegree = 0.017453292519943295;

/// A ramp of 2 x 1 m with an edge of `angle` degrees at x = 1.
MeshInput wedgeMesh(double angle) {
  const double h = std::tan(angle * kDegree);
  MeshInput mesh;
  mesh.vertices = {{-1, -0.5, -h}, {1, -0.5, -h}, {1, 0.5, -h},
                   {-1, 0.5, -h},  {-1, -0.5, h}, {-1, 0.5, h}};
  mesh.triangles = {{0, 3, 2}, {0, 2, 1}, {0, 1, 4}, {2, 3, 5},
                    {1, 2, 5}, {1, 5, 4}, {3, 0, 4}, {3, 4, 5}};
  return mesh;
}

/// Every triangle in four.
MeshInput refined(const MeshInput& mesh) {
  MeshInput out;
  out.vertices = mesh.vertices;
  std::map<std::pair<int, int>, int> middles;
  const auto middle = [&](int a, int b) {
    const auto [at, isNew] =
        middles.insert({std::minmax(a, b), static_cast<int>(out.vertices.size())});
    if (isNew) out.vertices.push_back((out.vertices[a] + out.vertices[b]) * 0.5);
    return at->second;
  };
  for (const Triangle& t : mesh.triangles) {
    const int a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
    out.triangles.push_back({t[0], a, c});
    out.triangles.push_back({a, t[1], b});
    out.triangles.push_back({c, b, t[2]});
    out.triangles.push_back({a, b, c});
  }
  return out;
}

std::vector<std::pair<std::string, MeshInput>> sharpMeshes() {
  std::vector<std::pair<std::string, MeshInput>> meshes;
  for (const int angle : {5, 10, 20, 30, 45, 60})
    meshes.push_back({"wedge " + std::to_string(angle), wedgeMesh(angle)});
  meshes.push_back({"plate", boxMesh({1, 1, 0.01})});
  meshes.push_back({"plank", boxMesh({1, 0.1, 0.02})});
  meshes.push_back({"cube", boxMesh({0.5, 0.5, 0.5})});
  return meshes;
}

std::vector<std::pair<std::string, std::shared_ptr<const Shape>>> bodies() {
  std::vector<Vec3> points;
  Random random(41);
  for (int i = 0; i < 24; ++i) points.push_back(random.direction() * 0.6);
  return {{"box", std::make_shared<Box>(Vec3{0.6, 0.4, 0.3})},
          {"desk", std::make_shared<Box>(Vec3{6, 4, 0.2})},
          {"small box", std::make_shared<Box>(Vec3{0.1, 0.2, 0.15})},
          {"hull", std::make_shared<Convex>(points)},
          {"sphere", std::make_shared<Sphere>(0.4)},
          {"capsule", std::make_shared<Capsule>(0.2, 0.4)},
          {"cylinder", std::make_shared<Cylinder>(0.4, 0.4)},
          {"cone", std::make_shared<Cone>(0.4, 0.6)},
          {"ellipsoid", std::make_shared<Ellipsoid>(Vec3{0.6, 0.4, 0.2})}};
}

Real supportOf(const Shape& shape, const Transform& X, const Vec3& direction) {
  const kernel::ConvexView<Real>& view = shape.flat().convex;
  const Vec3 d = transposeTimes(X.rotation, direction);
  int index;
  return dot(X.translation, direction) + dot(d, kernel::supportCore(view, d, &index)) + view.radius;
}

/// Two convex bodies and the same as they are given to collide().
struct Pair {
  const Shape& body;
  const Shape& mesh;
  const Shape& convexBody;
  const Shape& convexMesh;
  Transform X_WB{}, X_WM{};
  std::string name{};
};

/// The mesh lies on the body, level or nearly so, and over its edges or not.
bool layDown(Random& random, bool level, Pair& pair) {
  const Vec3 axis = random.direction();
  const double tilt = level ? 0 : random.in(0, 0.02), yaw = random.in(0, 6.28);
  const Vec3 v = axis * std::sin(tilt / 2);
  pair.X_WB = {};
  pair.X_WM.rotation = rotationMatrix(Quat{std::cos(tilt / 2), v.x, v.y, v.z}) *
                       rotationMatrix(Quat{std::cos(yaw / 2), 0, 0, std::sin(yaw / 2)});
  pair.X_WM.translation = {random.in(-0.6, 0.6), random.in(-0.6, 0.6), 0};
  pair.X_WM.translation.z =
      pair.convexBody.worldAabb({}).upper.z - pair.convexMesh.worldAabb(pair.X_WM).lower.z + 1e-3;
  const DistanceResult gap = distance(pair.convexBody, pair.X_WB, pair.convexMesh, pair.X_WM);
  if (!(gap.distance > 0)) return false;
  pair.X_WM.translation.z -= gap.distance + std::pow(10.0, random.in(-5, -2.3));
  return true;
}

/// Any poses, a little into each other.
bool bringTogether(Random& random, Pair& pair) {
  pair.X_WM = random.pose(1);
  pair.X_WB = {random.rotation(), pair.X_WM.translation + random.direction() * 20.0};
  const DistanceResult gap = distance(pair.convexBody, pair.X_WB, pair.convexMesh, pair.X_WM);
  if (!(gap.distance > 0)) return false;
  pair.X_WB.translation -= gap.normal * (gap.distance + std::pow(10.0, random.in(-5, -2.3)));
  return true;
}

/// Whether the pair was a shallow one, with all contacts as they should be.
bool expectTrueDepths(const Pair& pair, Real leastShare) {
  const Real depth = -distance(pair.convexBody, pair.X_WB, pair.convexMesh, pair.X_WM).distance;
  if (!(depth > 1e-7 && depth < 0.005)) return false;
  CollisionResult result;
  EXPECT_GT(collide(pair.body, pair.X_WB, pair.mesh, pair.X_WM, {}, result), 0) << pair.name;
  Real deepest = 0;
  for (int k = 0; k < result.numContacts(); ++k) {
    const ContactPoint& c = result.contact(k);
    deepest = std::fmax(deepest, c.depth);
    const Real alongNormal = supportOf(pair.convexBody, pair.X_WB, -c.normal) +
                             supportOf(pair.convexMesh, pair.X_WM, c.normal);
    EXPECT_LE(c.depth, alongNormal * (1 + 1e-6) + 1e-12) << pair.name;
  }
  EXPECT_LE(deepest, 3 * depth) << pair.name << " depth " << depth;
  EXPECT_GE(deepest, leastShare * depth) << pair.name << " depth " << depth;
  return true;
}

void expectTrueDepths(Pair pair, std::uint64_t seed, int count, Real leastShare) {
  const std::string name = pair.name;
  Random random(seed);
  int shallow = 0;
  for (int i = 0; i < count; ++i) {
    pair.name = name + " laid down " + std::to_string(i);
    if (layDown(random, i % 4 == 0, pair)) shallow += expectTrueDepths(pair, leastShare) ? 1 : 0;
    pair.name = name + " brought together " + std::to_string(i);
    if (bringTogether(random, pair)) shallow += expectTrueDepths(pair, leastShare) ? 1 : 0;
  }
  EXPECT_GT(shallow, count) << name;
}

TEST(MeshDepths, AWedgeOnADeskTouchesItWithItsBaseAlone) {
  // 8 x 4 x 3 cm, turned by a few milliradians, with one corner 0.13 mm deep.
  MeshInput input = wedgeMesh(45);
  for (Vec3& v : input.vertices) v = {v.x * 0.04, v.y * 0.04, v.z * 0.015};
  const auto wedge = input.build();
  const Box desk({0.6, 0.4, 0.02});
  const Transform X_WD{Mat3::identity(), {0, 0, -0.02}};
  const Mat3 rotation{{{0.99999217243886729, 0.0039457665675286446, -0.00029323572292421152},
                       {-0.0039466663135234959, 0.99998730129647173, -0.0031338587730070306},
                       {0.00028086652403681471, 0.0031349915460854904, 0.99999504645873205}}};
  const Transform X_WM{rotation, {0.056353153979245479, 0.20001289251767948, 0.014946779261476072}};
  const Real depth = -distance(desk, X_WD, *wedge, X_WM).distance;
  EXPECT_NEAR(depth, 0.000127553, 1e-9);
  CollisionResult result;
  ASSERT_GT(collide(desk, X_WD, *wedge, X_WM, {}, result), 0);
  ASSERT_EQ(result.numManifolds(), 1);
  for (int k = 0; k < result.numContacts(); ++k) {
    EXPECT_NEAR(result.contact(k).normal.z, -1, 1e-9);
    EXPECT_LE(result.contact(k).depth, depth * (1 + 1e-9));
  }
}

TEST(MeshDepths, NoContactOfASharpMeshIsMuchDeeperThanTheBodiesOverlap) {
  std::uint64_t seed = 1;
  for (const auto& [bodyName, body] : bodies())
    for (const auto& [meshName, input] : sharpMeshes()) {
      const auto mesh = input.build();
      const Convex hull(input.vertices);
      // What is over a triangle of a cone may be less than what has to be moved.
      const Real leastShare = body->type() == ShapeType::Cone ? 0.3 : 0.5;
      expectTrueDepths({*body, *mesh, *body, hull, {}, {}, bodyName + " on " + meshName}, seed++,
                       60, leastShare);
    }
}

TEST(MeshDepths, NoContactOfTwoSharpMeshesIsMuchDeeperThanTheyOverlap) {
  std::uint64_t seed = 101;
  const Vec3 size{0.6, 0.4, 0.3};
  const Box box(size);
  const auto body = boxMesh(size).build();
  for (const auto& [meshName, input] : sharpMeshes()) {
    const auto mesh = input.build();
    const Convex hull(input.vertices);
    expectTrueDepths({*body, *mesh, box, hull, {}, {}, "cube on " + meshName}, seed++, 60, 0.3);
  }
}

TEST(MeshDepths, TheSameHoldsForFineMeshesWithSharpEdges) {
  // Most triangles at the edge have no sharp edge of their own here.
  std::uint64_t seed = 201;
  for (const auto& [meshName, input] :
       {std::pair{"wedge", wedgeMesh(20)}, std::pair{"plate", boxMesh({1, 1, 0.01})}}) {
    MeshInput fine = input;
    for (int i = 0; i < 4; ++i) fine = refined(fine);
    const auto mesh = fine.build();
    ASSERT_TRUE(mesh->isClosed());
    const Convex hull(input.vertices);
    for (const auto& [bodyName, body] : bodies()) {
      const Real leastShare = body->type() == ShapeType::Cone ? 0.3 : 0.5;
      expectTrueDepths({*body, *mesh, *body, hull, {}, {}, bodyName + " on fine " + meshName},
                       seed++, 20, leastShare);
    }
  }
}

TEST(MeshDepths, TwoFineMeshesWithSharpEdgesHaveNoDeepContactsEither) {
  // A point's depth is that of a vertex here, which may be far from the deepest place.
  std::uint64_t seed = 301;
  const Vec3 size{0.6, 0.4, 0.3};
  const Box box(size);
  const auto body = refined(refined(refined(boxMesh(size)))).build();
  for (const auto& [meshName, input] : sharpMeshes()) {
    const auto mesh = refined(refined(refined(input))).build();
    const Convex hull(input.vertices);
    expectTrueDepths({*body, *mesh, box, hull, {}, {}, "fine cube on " + meshName}, seed++, 40, 0);
  }
}

// To rounding: which triangles cross is chance then. Of 20,000 boxes 572 were up to 0.34 m deep.
TEST(MeshDepths, BoxesThatTouchFlatAreNotDeep) {
  const MeshInput slab = boxMesh({0.115, 1.38, 0.15});
  for (int i = 0; i < 2000; ++i) {
    const double u = std::fmod(i * 0.618033988749895, 1), v = std::fmod(i * 0.7548776662466927, 1),
                 w = std::fmod(i * 0.5698402909980532, 1);
    const Vec3 half{0.05 + 0.15 * u, 0.04 + 0.16 * v, 0.03 + 0.07 * w};
    const MeshInput box = boxMesh(half);
    const double turn = 3.1 * w, gap = i % 2 == 0 ? 0 : 1e-15 * u;
    const Quat q{std::cos(turn), 0, 0, std::sin(turn)};
    const Transform X{rotationMatrix(q), {0.4 * v - 0.2, 2 * w - 1, half.z + gap}};
    CollisionResult result;
    collide(Mesh(box.vertices, box.triangles), X, Mesh(slab.vertices, slab.triangles),
            {Mat3::identity(), {0, 0, -0.15}}, CollisionOption::fullContacts(), result);
    for (const ContactManifold& manifold : result.manifolds())
      for (const ContactPoint& point : manifold.contacts())
        EXPECT_LT(point.depth, 1e-12) << "box " << i;
  }
}

TEST(MeshDepths, ABoxOnTheRidgesOfATerrainIsAsDeepAsTheyReach) {
  // Ridges along x, 0.1 high and 0.25 apart: 77 degrees at the top.
  constexpr int kSide = 33;
  std::vector<Real> heights;
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i) heights.push_back(j % 2 == 0 ? 0.1 : 0);
  const HeightField field(kSide, kSide, 4, 4, heights);
  const Box box({0.5, 0.4, 0.2});
  Random random(9);
  for (int i = 0; i < 200; ++i) {
    const double yaw = random.in(0, 6.28), depth = std::pow(10.0, random.in(-5, -2.3));
    const Transform X{rotationMatrix(Quat{std::cos(yaw / 2), 0, 0, std::sin(yaw / 2)}),
                      {random.in(-1, 1), random.in(-1, 1), 0.3 - depth}};
    CollisionResult result;
    ASSERT_GT(collide(box, X, field, {}, {}, result), 0) << i;
    EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-6) << i;
    EXPECT_NEAR(result.contact(0).depth, depth, 1e-9) << i;
    for (int k = 0; k < result.numContacts(); ++k)
      EXPECT_LE(result.contact(k).depth, depth * (1 + 1e-6)) << i;
  }
}

}  // namespace
}  // namespace tangere
