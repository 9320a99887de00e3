// SPDX-License-Identifier: Apache-2.0
//
// Contact patches of bodies with a pressure against closed forms (formulas of the elastic
// foundation and of the pressure field of a sphere), and what must hold of any patch.
#include "collision/pressure_contact.hpp"
#include "core/counted_allocations.hpp"

#include "collision/pressure_meshes.hpp"
#include "core/scene_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace tangere {
namespace {

using collision::ContactPlane;
using collision::ContactPolygon;
using collision::PressureMesh;
using test::makeBrick;
using test::makeCube;
using test::makeRigidBox;
using test::makeSphere;
using test::movedTo;
using test::PressureBody;
using test::SceneRandom;

constexpr Real kPi = std::numbers::pi;

struct Patch {
  Vec3 force{};   ///< on object 1, as a solver would have it [N]
  Vec3 moment{};  ///< about the origin
  Real area = 0, stiffness = 0, peakPressure = 0;
  Real radius = 0;  ///< largest distance of a vertex from the z axis
};

Patch sum(const std::vector<ContactPolygon>& polygons) {
  Patch patch;
  for (const ContactPolygon& p : polygons) {
    const Real stiffness = p.area * p.gradient, distance = -p.pressure / p.gradient;
    const Vec3 force = p.normal * (-stiffness * distance);
    patch.force += force;
    patch.moment += cross(p.centroid, force);
    patch.area += p.area;
    patch.stiffness += stiffness;
    for (int i = 0; i < p.numVertices; ++i) {
      patch.peakPressure = std::max(patch.peakPressure, p.vertexPressure[i]);
      patch.radius = std::max(patch.radius, std::hypot(p.vertex[i].x, p.vertex[i].y));
    }
  }
  return patch;
}

std::vector<ContactPolygon> onPlane(const PressureBody& body, const Transform& X) {
  std::vector<ContactPolygon> out;
  collision::findTetPlane(body.view(), X, ContactPlane{}, &out);
  return out;
}

std::vector<ContactPolygon> onLayer(const PressureBody& body, const Transform& X, Real stiffness) {
  std::vector<ContactPolygon> out;
  collision::findPlaneLayer(body.view(), X, ContactPlane{}, stiffness, &out);
  return out;
}

std::vector<ContactPolygon> between(const PressureBody& a, const Transform& X_WA,
                                    const PressureBody& b, const Transform& X_WB) {
  std::vector<ContactPolygon> out;
  if (b.tets.empty()) {
    collision::findTetSurface(a.view(), X_WA, b.view(), X_WB, &out);
  } else {
    collision::findTetTet(a.view(), X_WA, b.view(), X_WB, &out);
  }
  return out;
}

void expectSorted(const std::vector<ContactPolygon>& polygons) {
  for (std::size_t i = 1; i < polygons.size(); ++i) {
    const ContactPolygon &p = polygons[i - 1], &q = polygons[i];
    EXPECT_TRUE(p.element1 < q.element1 || (p.element1 == q.element1 && p.element2 < q.element2));
  }
}

void expectSame(const std::vector<ContactPolygon>& p, const std::vector<ContactPolygon>& q) {
  ASSERT_EQ(p.size(), q.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    ASSERT_EQ(p[i].element1, q[i].element1);
    ASSERT_EQ(p[i].element2, q[i].element2);
    ASSERT_EQ(p[i].numVertices, q[i].numVertices);
    ASSERT_EQ(p[i].centroid, q[i].centroid);
    ASSERT_EQ(p[i].area, q[i].area);
    ASSERT_EQ(p[i].pressure, q[i].pressure);
    ASSERT_EQ(p[i].weight1, q[i].weight1);
  }
}

// A compliant sphere, p = E (1 - r/R), as in the accuracy case of a hydroelastic sphere.
constexpr Real kModulus = 1e5, kRadius = 0.05, kDepth = 0.01, kMass = 1.2, kGravity = 9.81;

Real sphereForce(Real depth) {
  return kPi / 3 * kModulus * depth * depth * (3 - 2 * depth / kRadius);
}

/// An attitude in which no edge of the mesh lies along the plane.
Transform tiltedAt(Real height) {
  return {rotationMatrix(Quat{0.9, 0.3, -0.2, 0.25}), {0, 0, height}};
}

TEST(PressureContact, SphereOnARigidPlaneHasForcePatchAndPeakPressureOfTheClosedForm) {
  const PressureBody sphere = makeSphere(kRadius, kModulus, 5);
  ASSERT_GE(sphere.tets.size(), 20000u);
  const auto polygons = onPlane(sphere, tiltedAt(kRadius - kDepth));
  const Patch patch = sum(polygons);
  expectSorted(polygons);
  EXPECT_NEAR(patch.force.z, 27.22713633111154, 0.005 * 27.227);
  EXPECT_NEAR(patch.radius, 0.03, 0.005 * 0.03);
  EXPECT_NEAR(patch.area, 0.002827433388230814, 0.005 * 0.0028274);
  EXPECT_NEAR(patch.peakPressure, 20000, 0.005 * 20000);
  EXPECT_NEAR(patch.force.x, 0, 1e-9);
  EXPECT_NEAR(norm(patch.moment), 0, 1e-4 * 27 * kRadius);
}

TEST(PressureContact, SphereUnderItsWeightSinksAndOscillatesAsTheClosedForm) {
  const PressureBody sphere = makeSphere(kRadius, kModulus, 5);
  Real low = 0, high = 0.02;
  for (int i = 0; i < 40; ++i) {
    const Real depth = (low + high) / 2;
    const Real force = sum(onPlane(sphere, tiltedAt(kRadius - depth))).force.z;
    (force < kMass * kGravity ? low : high) = depth;
  }
  EXPECT_NEAR(low, 0.006400599633330285, 0.005 * 0.0064);
  const Real stiffness = sum(onPlane(sphere, tiltedAt(kRadius - low))).stiffness;
  EXPECT_NEAR(std::sqrt(stiffness / kMass), 54.05861295619945, 0.01 * 54.06);
}

TEST(PressureContact, ErrorOfTheSpheresForceFallsFourfoldWithEachRefinement) {
  Real previous = 0;
  for (int level = 1; level <= 5; ++level) {
    const PressureBody sphere = makeSphere(kRadius, kModulus, level);
    const Real force = sum(onPlane(sphere, tiltedAt(kRadius - kDepth))).force.z;
    const Real error = std::fabs(force / sphereForce(kDepth) - 1);
    if (level == 2) {
      EXPECT_LT(error, 0.25);
    }
    if (level >= 2) {
      EXPECT_NEAR(std::log2(previous / error), 2, 0.35) << level;
    }
    previous = error;
  }
}

TEST(PressureContact, TwoSpheresMeetInTheMidPlaneWithTheForceOfHalfTheDepth) {
  const PressureBody sphere = makeSphere(kRadius, kModulus, 5);
  const Transform upper = tiltedAt(2 * kRadius - kDepth);
  const Transform lower{rotationMatrix(Quat{0.5, -0.3, 0.8, 0.1}), {}};
  const auto polygons = between(sphere, upper, sphere, lower);
  const Patch patch = sum(polygons);
  expectSorted(polygons);
  EXPECT_NEAR(patch.force.z, 7.3303828583761845, 0.005 * 7.33);
  EXPECT_NEAR(patch.radius, std::sqrt(kDepth / 2 * (2 * kRadius - kDepth / 2)), 0.005 * 0.022);
  for (const ContactPolygon& p : polygons) {
    EXPECT_NEAR(p.centroid.z, kRadius - kDepth / 2, 0.003 * kRadius);
    EXPECT_GT(p.normal.z, 0.9);
  }
}

TEST(PressureContact, DeepOverlapOfTwoSpheresLeavesNoHole) {
  const PressureBody sphere = makeSphere(1, 1e5, 3, 4);
  for (const Real distance : {1.0, 0.6, 0.3, 0.1}) {
    const Transform upper{rotationMatrix(Quat{0.9, 0.3, -0.2, 0.25}), {0, 0, distance}};
    const auto polygons = between(sphere, upper, sphere, Transform::identity());
    // The disc z = distance/2; its projection, since the meshed fields leave it a little uneven.
    Real projected = 0;
    for (const ContactPolygon& p : polygons) projected += p.area * p.normal.z;
    const Real exact = kPi * (1 - distance * distance / 4);
    EXPECT_NEAR(projected, exact, 0.02 * exact) << distance;
    EXPECT_NEAR(sum(polygons).peakPressure, 1e5 * (1 - distance / 2), 2e3) << distance;
  }
}

TEST(PressureContact, SphereOnARigidBoxIsAsOnAPlane) {
  const PressureBody sphere = makeSphere(kRadius, kModulus, 3);
  const PressureBody box = makeRigidBox({0.4, 0.3, 0.2});
  const Transform X = tiltedAt(kRadius - kDepth);
  const Patch onBox = sum(between(sphere, X, box, movedTo({0.01, 0.02, -0.1})));
  const Patch plane = sum(onPlane(sphere, X));
  EXPECT_NEAR(onBox.force.z, plane.force.z, 1e-12 * plane.force.z);
  EXPECT_NEAR(onBox.area, plane.area, 1e-12 * plane.area);
}

/// A cube of side s whose pressure is k times the depth below its nearest face, D deep in something
/// rigid: k times the integral of the lesser of D and the distance to the rim.
Real forceOfCube(Real s, Real k, Real D) {
  return k * (D * (s - 2 * D) * (s - 2 * D) + 2 * s * D * D - 8 * D * D * D / 3);
}

TEST(PressureContact, FlanksOfACubePressOnARigidBoxSoThatItsForceGrowsWithDepth) {
  // Without them the force is k D (s - 2 D)^2, which falls from D = s / 6 on.
  const PressureBody cube = makeCube(2, kModulus);
  const PressureBody box = makeRigidBox({5, 5, 5});
  Real before = 0;
  for (const Real depth : {0.01, 0.1, 0.3, 0.5, 0.7, 0.9}) {
    const Transform X = movedTo({0.1, 0.2, 1 - depth});
    const Patch patch = sum(between(cube, X, box, movedTo({0, 0, -2.5})));
    EXPECT_NEAR(patch.force.z, forceOfCube(2, kModulus, depth), 1e-9 * kModulus) << depth;
    EXPECT_NEAR(patch.force.z, sum(onPlane(cube, X)).force.z, 1e-9 * kModulus) << depth;
    EXPECT_NEAR(patch.area, 4, 1e-12) << depth;
    EXPECT_GT(patch.force.z, before) << depth;
    before = patch.force.z;
  }
}

// A rigid box on a compliant layer, as in the accuracy case of a hydroelastic box.
constexpr Real kLayer = 500000 / 0.05;  // E / H [Pa/m]

TEST(PressureContact, RigidBoxOnALayerHasTheStiffnessOfAnElasticFoundation) {
  const PressureBody box = makeRigidBox({0.2, 0.1, 0.1});
  const Patch patch = sum(onLayer(box, movedTo({0.3, -0.2, 0.05 - 9.81e-5}), kLayer));
  EXPECT_NEAR(patch.stiffness, 200000, 1e-6 * 200000);
  EXPECT_NEAR(patch.force.z, 2 * 9.81, 1e-6 * 2 * 9.81);
  EXPECT_NEAR(patch.area, 0.02, 1e-6 * 0.02);
}

TEST(PressureContact, TiltedRigidBoxOnALayerHasTheRockingStiffnessAndEdgePressures) {
  const PressureBody box = makeRigidBox({0.2, 0.1, 0.1});
  const Real tilt = 0.0003;
  // About the centre of the patch: the box's bottom is turned about y, its middle 9.81e-5 deep.
  const Mat3 R = rotationMatrix(Quat{std::cos(tilt / 2), 0, std::sin(tilt / 2), 0});
  const Transform X{R, R * Vec3{0, 0, 0.05} - Vec3{0, 0, 9.81e-5}};
  const auto polygons = onLayer(box, X, kLayer);
  Vec3 moment{};
  for (const ContactPolygon& p : polygons) {
    // By the midpoints of the sides of a fan of triangles, exact for position times pressure.
    for (int i = 1; i + 1 < p.numVertices; ++i) {
      const int corner[3] = {0, i, i + 1};
      const Real area = norm(cross(p.vertex[i] - p.vertex[0], p.vertex[i + 1] - p.vertex[0])) / 2;
      for (int k = 0; k < 3; ++k) {
        const int a = corner[k], b = corner[(k + 1) % 3];
        const Real pressure = (p.vertexPressure[a] + p.vertexPressure[b]) / 2;
        moment += cross((p.vertex[a] + p.vertex[b]) * 0.5, p.normal * (pressure * area / 3));
      }
    }
  }
  EXPECT_NEAR(moment.y / tilt, -666.6666666666666, 1e-4 * 666.7);
  Real lowest = 1e9;
  for (const ContactPolygon& p : polygons) {
    if (p.normal.z < 0.9) continue;
    for (int i = 0; i < p.numVertices; ++i) lowest = std::min(lowest, p.vertexPressure[i]);
  }
  EXPECT_NEAR(lowest, 681, 0.681);
  EXPECT_NEAR(sum(polygons).peakPressure, 1281, 1.281);
}

TEST(PressureContact, LayerOnLayerIsTheTwoInSeries) {
  // 20 mm of 2 MPa under the box: pressure grows upward from its bottom.
  const PressureBody pad = makeBrick({-0.1, -0.05, 0}, {0.1, 0.05, 0.02}, {3, 2, 1}, 0, 2e6 / 0.02);
  const Patch patch = sum(onLayer(pad, movedTo({0, 0, -0.00010791}), kLayer));
  EXPECT_NEAR(patch.force.z, 2 * 9.81, 1e-6 * 2 * 9.81);
  EXPECT_NEAR(patch.area, 0.02, 1e-9);
  EXPECT_NEAR(patch.stiffness, 0.02 / (1 / kLayer + 0.02 / 2e6), 1e-6 * 2e5);
}

TEST(PressureContact, BodiesThatJustTouchHaveOnePatchWithoutForce) {
  const PressureBody rigid = makeRigidBox({1, 1, 1});
  const PressureBody soft = makeBrick({-0.5, -0.5, 0}, {0.5, 0.5, 1}, {2, 2, 2}, 0, 100);
  const PressureBody softBelow = makeBrick({-0.5, -0.5, -1}, {0.5, 0.5, 0}, {3, 3, 2}, 100, -100);
  const auto expectTouch = [](const std::vector<ContactPolygon>& polygons, const char* what) {
    const Patch patch = sum(polygons);
    EXPECT_NEAR(patch.area, 1, 1e-12) << what;
    EXPECT_NEAR(norm(patch.force), 0, 1e-10) << what;
    for (const ContactPolygon& p : polygons) EXPECT_NEAR(p.normal.z, 1, 1e-12) << what;
  };
  expectTouch(onLayer(rigid, movedTo({0, 0, 0.5}), 100), "rigid box on a layer");
  expectTouch(onPlane(soft, Transform::identity()), "soft box on a plane");
  expectTouch(onLayer(soft, Transform::identity(), 50), "soft box on a layer");
  expectTouch(between(soft, Transform::identity(), rigid, movedTo({0, 0, -0.5})), "soft on rigid");
  expectTouch(between(soft, Transform::identity(), softBelow, Transform::identity()),
              "soft on soft");
  // The same where every number is rounded: 0.1 + 0.2 is not 0.3.
  expectTouch(between(soft, movedTo({0, 0, 0.1 + 0.2}), softBelow, movedTo({0, 0, 0.3})),
              "soft on soft, rounded");
  const Transform tilted{rotationMatrix(Quat{0.8, 0, 0, 0.6}), {1e3 / 3, 7, 0.1 + 0.2}};
  const Transform flat{tilted.rotation, {1e3 / 3, 7, 0.3 - 0.5}};
  expectTouch(between(soft, tilted, rigid, flat), "soft on rigid, turned and far away");
}

TEST(PressureContact, SoftBrickOnAPlaneIsCutOnceAtAnyDepth) {
  const PressureBody brick = makeBrick({0, 0, 0}, {1, 1, 1}, {2, 3, 4}, 0, 100);
  for (int step = 0; step < 16; ++step) {
    const Real depth = step / 16.0;  // every fourth in a layer of faces
    const Patch patch = sum(onPlane(brick, movedTo({0, 0, -depth})));
    EXPECT_NEAR(patch.area, 1, 1e-12) << depth;
    EXPECT_NEAR(patch.force.z, 100 * depth, 1e-10) << depth;
  }
}

TEST(PressureContact, RigidBoxInASoftBrickIsCoveredOnceWherever) {
  // The brick's pressure grows along -z: it presses on what looks down or to the side, up to 112.5
  // degrees off.
  const Real limit = std::cos(3 * kPi / 8);
  const PressureBody brick = makeBrick({-1, -1, -1}, {1, 1, 1}, {4, 4, 4}, 200, -100);
  const PressureBody box = makeRigidBox({0.5, 1, 0.5});
  SceneRandom random(11);
  for (int trial = 0; trial < 60; ++trial) {
    Transform X;
    if (trial < 20) {  // sides in the faces of the mesh
      X.translation = {0.25 * random.below(3) - 0.25, 0.25 * random.below(3) - 0.25,
                       0.25 * random.below(3) - 0.25};
    } else {
      X = {random.rotation(), random.vec(-0.2, 0.2)};
    }
    Real exact = 0;
    for (const Triangle& t : box.surface) {
      const Vec3 p = X * box.vertices[t[0]], q = X * box.vertices[t[1]], r = X * box.vertices[t[2]];
      const Vec3 twiceArea = cross(q - p, r - p);
      if (twiceArea.z < limit * norm(twiceArea)) exact += norm(twiceArea) / 2;
    }
    const auto polygons = between(brick, Transform::identity(), box, X);
    EXPECT_NEAR(sum(polygons).area, exact, 1e-11) << trial;
    // The exact force: the integral over the same faces of p(z) n, linear on each.
    for (const ContactPolygon& p : polygons) {
      EXPECT_NEAR(p.pressure, 100 * (1 - p.centroid.z), 1e-10);
    }
  }
}

TEST(PressureContact, TwoSoftBricksMeetInAPlaneThatIsCoveredOnceWherever) {
  // Pressures 100 (z - z0) and 50 (z1 - z): equal in a plane, whatever the two meshes.
  const PressureBody upper = makeBrick({0, 0, 0}, {1, 1, 1}, {2, 2, 4}, 0, 100);
  const PressureBody lower = makeBrick({0, 0, -1}, {1, 1, 0}, {4, 3, 4}, 50, -50);
  SceneRandom random(12);
  for (int trial = 0; trial < 80; ++trial) {
    // In the first half the plane lies in layers of faces of one mesh or of both.
    const Real sunk = trial < 40 ? 0.125 * random.below(8) : random.real(0, 1);
    const Real x = trial < 40 ? 0.25 * random.below(3) : random.real(-1, 1);
    const Real y = trial < 20 ? 0 : random.real(-1, 1);
    const Transform X_WB = movedTo({0.3, -4, 2}), X_WA = movedTo({0.3 + x, -4 + y, 2 - sunk});
    const auto polygons = between(upper, X_WA, lower, X_WB);
    const Real exact = (1 - std::fabs(x)) * (1 - std::fabs(y));
    const Patch patch = sum(polygons);
    EXPECT_NEAR(patch.area, exact, 1e-11) << trial;
    EXPECT_NEAR(patch.force.z, exact * sunk * 100 / 3, 1e-9) << trial;
    for (const ContactPolygon& p : polygons) {
      EXPECT_NEAR(p.gradient, 100.0 / 3, 1e-10);
      EXPECT_NEAR(p.centroid.z, 2 - sunk + sunk / 3, 1e-12);
    }
    // Exchanged: the mirror image.
    const auto mirrored = between(lower, X_WB, upper, X_WA);
    ASSERT_EQ(mirrored.size(), polygons.size()) << trial;
    EXPECT_NEAR(norm(sum(mirrored).force + patch.force), 0, 1e-9);
    EXPECT_NEAR(norm(sum(mirrored).moment + patch.moment), 0, 1e-9);
  }
}

TEST(PressureContact, PatchOfTwoCubesHasTheExactAreaAndForce) {
  // A small cube on a large one, each with the field of its depth: in the middle of the patch both
  // look up and down, so the plane lies where 2 E (d - h) / s1 = 2 E h / s2.
  const PressureBody small = makeCube(1, 1000), large = makeCube(4, 1000);
  const Real sunk = 0.1;
  const auto polygons =
      between(small, movedTo({0.1, 0.2, 2.5 - sunk}), large, Transform::identity());
  const Real above = sunk / 5;  // of the small one's bottom
  Real flat = 0;
  for (const ContactPolygon& p : polygons) {
    if (p.normal.z < 1 - 1e-9) continue;
    flat += p.area;
    EXPECT_NEAR(p.centroid.z, 2 - sunk + above, 1e-12);
    EXPECT_NEAR(p.pressure, 2000 * above, 1e-9);
    EXPECT_NEAR(p.gradient, 1 / (1 / 2000.0 + 1 / 500.0), 1e-9);
  }
  EXPECT_NEAR(flat, (1 - 2 * above) * (1 - 2 * above), 1e-12);
}

TEST(PressureContact, PolygonsDoNotDependOnTheTrees) {
  const PressureBody sphere = makeSphere(1, 1e5, 2);
  const PressureBody box = makeRigidBox({1, 1.5, 0.8});
  SceneRandom random(13);
  std::size_t numPolygons = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Transform X{random.rotation(), random.vec(-0.8, 0.8)};
    const Transform Y{random.rotation(), random.vec(-0.8, 0.8)};
    std::vector<ContactPolygon> with, without;
    collision::findTetTet(sphere.view(), X, sphere.view(), Y, &with);
    collision::findTetTet(sphere.viewWithoutTrees(), X, sphere.viewWithoutTrees(), Y, &without);
    expectSorted(with);
    expectSame(with, without);
    numPolygons += with.size();
    with.clear(), without.clear();
    collision::findTetSurface(sphere.view(), X, box.view(), Y, &with);
    collision::findTetSurface(sphere.viewWithoutTrees(), X, box.viewWithoutTrees(), Y, &without);
    expectSorted(with);
    expectSame(with, without);
    const ContactPlane plane{random.direction(), random.real(-0.5, 0.5)};
    with.clear(), without.clear();
    collision::findTetPlane(sphere.view(), X, plane, &with);
    collision::findTetPlane(sphere.viewWithoutTrees(), X, plane, &without);
    expectSame(with, without);
    with.clear(), without.clear();
    collision::findPlaneLayer(sphere.view(), X, plane, 3e4, &with);
    collision::findPlaneLayer(sphere.viewWithoutTrees(), X, plane, 3e4, &without);
    expectSame(with, without);
    with.clear(), without.clear();
    PressureMesh rigid = box.view(), rigidWithout = box.viewWithoutTrees();
    collision::findPlaneLayer(rigid, X, plane, 3e4, &with);
    collision::findPlaneLayer(rigidWithout, X, plane, 3e4, &without);
    expectSame(with, without);
  }
  EXPECT_GT(numPolygons, 1000u);
}

TEST(PressureContact, PolygonsDoNotDependOnTheSizeOfTheMeshesOrTheirSpheres) {
  // Few elements are searched without trees; bodies with spheres around them are told apart early.
  for (const int level : {1, 3}) {
    const PressureBody sphere = makeSphere(1, 1e5, level), other = makeSphere(0.7, 3e5, 1);
    const PressureBody box = makeRigidBox({1, 1.5, 0.8});
    PressureMesh bounded = sphere.view(), boundedOther = other.view();
    bounded.radius = 1 + 1e-9;
    boundedOther.radius = 0.7 + 1e-9;
    SceneRandom random(17);
    std::size_t numPolygons = 0, numApart = 0;
    for (int trial = 0; trial < 40; ++trial) {
      const Transform X{random.rotation(), random.vec(-0.9, 0.9)};
      const Transform Y{random.rotation(), random.vec(-0.9, 0.9)};
      std::vector<ContactPolygon> with, without;
      collision::findTetTet(bounded, X, boundedOther, Y, &with);
      collision::findTetTet(sphere.viewWithoutTrees(), X, other.viewWithoutTrees(), Y, &without);
      expectSorted(with);
      expectSame(with, without);
      numPolygons += with.size();
      numApart += with.empty();
      with.clear(), without.clear();
      collision::findTetSurface(bounded, X, box.view(), Y, &with);
      collision::findTetSurface(sphere.viewWithoutTrees(), X, box.viewWithoutTrees(), Y, &without);
      expectSorted(with);
      expectSame(with, without);
    }
    EXPECT_GT(numPolygons, 200u);
    EXPECT_GT(numApart, 0u);
  }
}

TEST(PressureContact, WeightsGiveTheCentroidBack) {
  const PressureBody sphere = makeSphere(1, 1e5, 2);
  const PressureBody box = makeRigidBox({1, 1, 1});
  const Transform X{rotationMatrix(Quat{0.9, 0.3, -0.2, 0.25}), {0.2, 0.1, 1.2}};
  const Transform Y{rotationMatrix(Quat{0.4, -0.3, 0.2, 0.65}), {0.1, 0.1, 0}};
  for (const ContactPolygon& p : between(sphere, X, sphere, Y)) {
    Vec3 at1{}, at2{};
    for (int k = 0; k < 4; ++k) {
      at1 += sphere.vertices[sphere.tets[p.element1][k]] * p.weight1[k];
      at2 += sphere.vertices[sphere.tets[p.element2][k]] * p.weight2[k];
    }
    EXPECT_LE(norm(X * at1 - p.centroid), 1e-13);
    EXPECT_LE(norm(Y * at2 - p.centroid), 1e-13);
  }
  for (const ContactPolygon& p : between(sphere, X, box, movedTo({0, 0, 0.2}))) {
    Vec3 at2{0, 0, 0.2};
    for (int k = 0; k < 3; ++k) at2 += box.vertices[box.surface[p.element2][k]] * p.weight2[k];
    EXPECT_LE(norm(at2 - p.centroid), 1e-13);
    EXPECT_EQ(p.weight2[3], 0);
  }
}

/// Two bricks as one body without a common vertex.
PressureBody joined(const PressureBody& a, const PressureBody& b) {
  PressureBody both;
  both.vertices = a.vertices;
  both.vertices.insert(both.vertices.end(), b.vertices.begin(), b.vertices.end());
  both.pressure = a.pressure;
  both.pressure.insert(both.pressure.end(), b.pressure.begin(), b.pressure.end());
  both.tets = a.tets;
  for (Tet tet : b.tets) {
    for (std::int32_t& v : tet) v += static_cast<std::int32_t>(a.vertices.size());
    both.tets.push_back(tet);
  }
  both.finish();
  return both;
}

TEST(PressureContact, BodyAtRestDoesNotTouchItself) {
  PressureBody brick = makeBrick({0, 0, 0}, {3, 1, 1}, {6, 3, 3}, 0, 100);
  std::vector<ContactPolygon> out;
  collision::findSelf(brick.view(), &out);
  EXPECT_TRUE(out.empty());
  brick.findSurface();
  EXPECT_EQ(brick.surface.size(), 2u * (2 * 18 + 2 * 18 + 2 * 9));
  collision::findSelf(brick.view(), &out);
  EXPECT_TRUE(out.empty());
  const PressureBody sphere = makeSphere(1, 1e5, 3);
  collision::findSelf(sphere.view(), &out);
  EXPECT_TRUE(out.empty());
}

TEST(PressureContact, PartsOfOneBodyPressOnEachOtherAsTwoBodiesDo) {
  const PressureBody lower = makeBrick({0, 0, -1}, {1, 1, 0}, {3, 3, 2}, 50, -50);
  const PressureBody upper = makeBrick({0.2, 0.3, -0.3}, {1.2, 1.3, 0.7}, {2, 2, 3}, 0, 100);
  const PressureBody both = joined(lower, upper);
  PressureBody withSurface = joined(lower, upper);
  withSurface.findSurface();
  ASSERT_FALSE(withSurface.surface.empty());
  const Patch apart = sum(between(lower, Transform::identity(), upper, Transform::identity()));
  ASSERT_NEAR(apart.area, 0.8 * 0.7, 1e-12);
  for (const PressureMesh& mesh : {both.view(), both.viewWithoutTrees(), withSurface.view()}) {
    std::vector<ContactPolygon> out;
    collision::findSelf(mesh, &out);
    expectSorted(out);
    const Patch self = sum(out);
    EXPECT_NEAR(self.area, apart.area, 1e-12);
    EXPECT_NEAR(norm(self.force - apart.force), 0, 1e-10);
    EXPECT_NEAR(self.force.z, -0.8 * 0.7 * 0.3 * 100 / 3, 1e-10);  // area times pressure
  }
}

TEST(PressureContact, FarFromTheOriginThePatchIsTheSame) {
  const PressureBody sphere = makeSphere(1, 1e5, 3);
  const Mat3 R = rotationMatrix(Quat{0.9, 0.3, -0.2, 0.25}),
             Q = rotationMatrix(Quat{0.1, 0.3, 1, 0});
  const Vec3 far{3e5, -7e5, 1e5};
  const Patch here = sum(between(sphere, {R, {0, 0, 1.5}}, sphere, {Q, {}}));
  const Patch there = sum(between(sphere, {R, far + Vec3{0, 0, 1.5}}, sphere, {Q, far}));
  EXPECT_NEAR(here.area, there.area, 1e-12 * here.area);
  EXPECT_NEAR(norm(here.force - there.force), 0, 1e-12 * norm(here.force));
}

TEST(PressureContact, WarmFinderAllocatesNothing) {
  PressureBody sphere = makeSphere(1, 1e5, 3);
  const PressureBody box = makeRigidBox({1, 1, 1});
  std::vector<ContactPolygon> out;
  const auto findAll = [&](Real height) {
    out.clear();
    const Transform X{rotationMatrix(Quat{0.9, 0.3, -0.2, 0.25}), {0, 0, height}};
    collision::updateTetTree(sphere.vertices, sphere.tets, &sphere.tetTree);
    collision::findTetTet(sphere.view(), X, sphere.view(), Transform::identity(), &out);
    collision::findTetSurface(sphere.view(), X, box.view(), Transform::identity(), &out);
    collision::findTetPlane(sphere.view(), X, ContactPlane{{0, 0, 1}, 1}, &out);
    collision::findPlaneLayer(sphere.view(), X, ContactPlane{{0, 0, 1}, 1}, 1e5, &out);
    collision::findPlaneLayer(box.view(), X, ContactPlane{{0, 0, 1}, 1}, 1e5, &out);
    collision::findSelf(sphere.view(), &out);
  };
  findAll(1.2);
  ASSERT_GT(out.size(), 100u);
  const long before = test::numAllocations;
  for (const Real height : {1.2, 1.3, 1.4}) findAll(height);
  EXPECT_EQ(test::numAllocations, before);
}

TEST(PressureContact, BrokenMeshesGiveNothingOrNumbers) {
  SceneRandom random(14);
  PressureBody a = makeSphere(1, 1e5, 1), b = makeSphere(1, 1e5, 1);
  for (int trial = 0; trial < 200; ++trial) {
    PressureBody broken = makeSphere(1, 1e5, 1);
    for (int i = 0; i < 6; ++i) {
      Vec3& v = broken.vertices[random.below(static_cast<int>(broken.vertices.size()))];
      constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
      const Vec3 odd[] = {{}, {0, 0, 1e-12}, {1e12, 0, 0}, {0, kInfinity, 0}, {0, 0, std::nan("")}};
      v = odd[random.below(5)];
    }
    broken.finish();
    std::vector<ContactPolygon> out;
    collision::findTetTet(a.view(), movedTo({0, 0, 1}), broken.view(), Transform::identity(), &out);
    collision::findTetSurface(a.view(), movedTo({0, 0, 1}), broken.view(), Transform::identity(),
                              &out);
    collision::findTetPlane(broken.view(), Transform::identity(), ContactPlane{}, &out);
    collision::findPlaneLayer(broken.view(), Transform::identity(), ContactPlane{}, 1e5, &out);
    collision::findSelf(broken.view(), &out);
    for (const ContactPolygon& p : out) {
      EXPECT_TRUE(
          std::isfinite(p.area + p.pressure + p.gradient + norm(p.centroid) + norm(p.normal)));
    }
  }
}

}  // namespace
}  // namespace tangere
