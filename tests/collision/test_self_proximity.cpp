// SPDX-License-Identifier: Apache-2.0
//
// Whether a body meets itself, against a search of all pairs of tetrahedra: bodies that are only
// squeezed cost next to nothing, and no contact is missed on the way into a fold.
#include "collision/self_proximity.hpp"
#include "core/counted_allocations.hpp"

#include "collision/pressure_meshes.hpp"
#include "core/scene_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace {

using namespace tangere;
using collision::ContactPolygon;
using collision::mayTouchItself;
using collision::SelfProximity;
using test::PressureBody;
using test::SceneRandom;

constexpr Real kPi = std::numbers::pi;

PressureBody ballOf(const TetMesh& mesh, Real radius) {
  PressureBody body;
  body.vertices.assign(mesh.vertices().begin(), mesh.vertices().end());
  body.tets.assign(mesh.tets().begin(), mesh.tets().end());
  body.surface.assign(mesh.surface().begin(), mesh.surface().end());
  for (const Vec3& v : body.vertices) body.pressure.push_back(1e5 * (1 - norm(v) / radius));
  body.finish();
  return body;
}

/// 923 vertices, 4320 tetrahedra.
PressureBody makeBall() { return ballOf(meshShape(Sphere(0.02), {.resolution = 0.004}), 0.02); }

/// From 0 to length along x, one wide and thick; the pressure is the depth below the sides.
PressureBody makeBar(Real length, int cellsPerMetre = 3) {
  const int cells = static_cast<int>(cellsPerMetre * length);
  PressureBody bar = test::makeBrick({0, -0.5, -0.5}, {length, 0.5, 0.5},
                                     {cells, cellsPerMetre + 1, cellsPerMetre + 1}, 0, 1);
  for (std::size_t i = 0; i < bar.vertices.size(); ++i) {
    const Vec3& v = bar.vertices[i];
    bar.pressure[i] = std::fmin(std::fmin(0.5 - std::fabs(v.y), 0.5 - std::fabs(v.z)),
                                std::fmin(v.x, length - v.x));
  }
  bar.findSurface();
  return bar;
}

/// The bar around an arc of `angle`; its ends meet at a full turn.
void bend(const PressureBody& bar, Real length, Real angle, PressureBody* out) {
  const Real radius = length / angle;
  for (std::size_t i = 0; i < bar.vertices.size(); ++i) {
    const Vec3& v = bar.vertices[i];
    const Real at = v.x / radius;
    out->vertices[i] = {(radius + v.y) * std::cos(at), (radius + v.y) * std::sin(at), v.z};
  }
}

/// The bar along a random curve: the curvature is a sum of waves and never turns it inside out.
void foldAtRandom(const PressureBody& bar, Real length, SceneRandom& random, PressureBody* out) {
  const Real sharpest = random.real(0.3, 1.7);
  const Real share = random.real(0.3, 1), phase1 = random.real(0, 6), phase2 = random.real(0, 6);
  const Real wave1 = random.real(0, 0.4), wave2 = random.real(0, 1);
  // In one plane the long sides stay coplanar.
  const Real rise = random.below(3) == 0 ? 0 : random.real(-0.2, 0.2);
  const Real twist = random.below(3) == 0 ? 0 : random.real(-0.3, 0.3);
  const Mat3 R = random.rotation();
  const int numSteps = 600;
  std::vector<Vec3> center(numSteps + 1);
  std::vector<Real> heading(numSteps + 1, 0);
  const Real step = length / numSteps;
  for (int i = 0; i < numSteps; ++i) {
    const Real s = i * step;
    const Real curvature = sharpest * (share * std::cos(wave1 * s + phase1) +
                                       (1 - share) * std::cos(wave2 * s + phase2));
    heading[i + 1] = heading[i] + curvature * step;
    const Real middle = (heading[i] + heading[i + 1]) / 2;
    center[i + 1] = center[i] + Vec3{std::cos(middle) * step, std::sin(middle) * step, rise * step};
  }
  for (std::size_t i = 0; i < bar.vertices.size(); ++i) {
    const Vec3& v = bar.vertices[i];
    const int k = static_cast<int>(v.x / length * numSteps + 0.5);
    const Real c = std::cos(twist * v.x), s = std::sin(twist * v.x);
    const Real across = c * v.y - s * v.z, up = s * v.y + c * v.z;
    out->vertices[i] =
        R * (center[k] + Vec3{-std::sin(heading[k]), std::cos(heading[k]), 0} * across +
             Vec3{0, 0, up});
  }
}

void waveAtRandom(const PressureBody& ball, SceneRandom& random, PressureBody* out) {
  out->vertices = ball.vertices;
  for (int wave = 0; wave < 3; ++wave) {
    const Vec3 along = random.vec(-120, 120), way = random.direction() * random.real(0, 0.012);
    const Real phase = random.real(0, 6);
    for (Vec3& v : out->vertices) v += way * std::sin(dot(along, v) + phase);
  }
}

bool isTurnedInsideOut(const PressureBody& body) {
  for (const Tet& t : body.tets) {
    const Vec3& x = body.vertices[t[0]];
    const Vec3 a = body.vertices[t[1]] - x, b = body.vertices[t[2]] - x,
               c = body.vertices[t[3]] - x;
    if (!(dot(cross(a, b), c) > 0)) return true;
  }
  return false;
}

/// Some vertex lies in a tetrahedron that is not its own.
bool hasVertexInTet(const PressureBody& body) {
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < body.vertices.size(); ++i) {
    const Vec3& p = body.vertices[i];
    body.tetTree.query({p, p}, &found);
    for (const std::int32_t j : found) {
      const Tet& t = body.tets[j];
      bool isInside = std::find(t.begin(), t.end(), static_cast<std::int32_t>(i)) == t.end();
      for (int k = 0; k < 4; ++k) {
        constexpr int kFace[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
        const Vec3 &a = body.vertices[t[kFace[k][0]]], &b = body.vertices[t[kFace[k][1]]],
                   &c = body.vertices[t[kFace[k][2]]];
        isInside = isInside && dot(cross(b - a, c - a), p - a) < 0;
      }
      if (isInside) return true;
    }
  }
  return false;
}

/// What a search of all pairs of tetrahedra with overlapping boxes finds.
std::vector<ContactPolygon> findEverywhere(const PressureBody& body) {
  collision::PressureMesh mesh = body.view();
  mesh.surface = {};
  mesh.surfaceTree = nullptr;
  std::vector<ContactPolygon> out;
  collision::findSelf(mesh, &out);
  return out;
}

void expectSame(const std::vector<ContactPolygon>& a, const std::vector<ContactPolygon>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].element1, b[i].element1);
    EXPECT_EQ(a[i].element2, b[i].element2);
    EXPECT_EQ(a[i].area, b[i].area);
    EXPECT_EQ(a[i].pressure, b[i].pressure);
    EXPECT_EQ(a[i].centroid, b[i].centroid);
  }
}

TEST(SelfProximity, EveryPatchIsConnectedAndHoldsItsTriangles) {
  const PressureBody ball = makeBall();
  SelfProximity memory;
  collision::buildSelfProximity(ball.vertices, ball.surface, &memory);
  ASSERT_EQ(memory.patches.size(), 2 * ball.surface.size() - 1);
  ASSERT_EQ(memory.parts, std::vector<std::int32_t>{0});
  EXPECT_TRUE(memory.loose.empty());
  for (std::size_t p = 0; p < memory.patches.size(); ++p) {
    const collision::SurfacePatch& patch = memory.patches[p];
    if (patch.second < 0) continue;
    const collision::SurfacePatch &first = memory.patches[p + 1],
                                  &second = memory.patches[patch.second];
    ASSERT_EQ(first.firstLeaf, patch.firstLeaf);
    ASSERT_EQ(second.firstLeaf, first.firstLeaf + first.numLeaves);
    ASSERT_EQ(patch.numLeaves, first.numLeaves + second.numLeaves);
    bool isAcross = false;
    for (int k = memory.borderStart[p + 1]; k < memory.borderStart[p + 2]; ++k) {
      const std::int32_t leaf = memory.border[k];
      isAcross =
          isAcross || (leaf >= second.firstLeaf && leaf < second.firstLeaf + second.numLeaves);
    }
    EXPECT_TRUE(isAcross);
  }
}

TEST(SelfProximity, SqueezedBallGivesNoAlarmAndLooksAtFewPairs) {
  const PressureBody ball = makeBall();
  ASSERT_EQ(ball.vertices.size(), 923u);
  PressureBody squeezed = ball;
  SelfProximity memory;
  collision::buildSelfProximity(ball.vertices, ball.surface, &memory);
  for (const Real height : {1.0, 0.9, 0.8, 0.7, 0.6}) {
    // At constant volume, and between two plates.
    for (std::size_t i = 0; i < ball.vertices.size(); ++i) {
      const Vec3& v = ball.vertices[i];
      const Real wide = 1 / std::sqrt(height);
      squeezed.vertices[i] = {wide * v.x, wide * v.y, height * v.z};
    }
    EXPECT_FALSE(mayTouchItself(squeezed.vertices, ball.surface, &memory));
    EXPECT_LE(memory.numVisited, 400);  // of 259,000 pairs of triangles
    for (std::size_t i = 0; i < ball.vertices.size(); ++i) {
      const Vec3& v = ball.vertices[i];
      const Real plate = height * 0.02, above = std::fmax(std::fabs(v.z) - plate, 0);
      squeezed.vertices[i] = {v.x * (1 + above / 0.02), v.y * (1 + above / 0.02),
                              std::fmax(std::fmin(v.z, plate), -plate)};
    }
    EXPECT_FALSE(mayTouchItself(squeezed.vertices, ball.surface, &memory));
    EXPECT_LE(memory.numVisited, 400);
  }
}

TEST(SelfProximity, HorseshoeIsFoundAtTheStepInWhichItCloses) {
  const Real length = 9;
  const PressureBody bar = makeBar(length);
  PressureBody bent = bar;
  SelfProximity memory;
  collision::buildSelfProximity(bar.vertices, bar.surface, &memory);
  EXPECT_FALSE(mayTouchItself(bar.vertices, bar.surface, &memory));
  for (int step = -60; step <= 20; ++step) {
    const Real angle = 2 * kPi + (step + 0.5) * 0.01;
    bend(bar, length, angle, &bent);
    EXPECT_EQ(mayTouchItself(bent.vertices, bar.surface, &memory), step >= 0) << angle;
  }
  bend(bar, length, 2 * kPi * (1 + 1e-9), &bent);
  EXPECT_TRUE(mayTouchItself(bent.vertices, bar.surface, &memory));
}

TEST(SelfProximity, RegionsHoldEveryPolygonOfTheContact) {
  const Real length = 9;
  const PressureBody bar = makeBar(length);
  PressureBody bent = bar;
  SelfProximity memory;
  collision::buildSelfProximity(bar.vertices, bar.surface, &memory);
  for (const Real more : {0.02, 0.1, 0.2, 0.3, 0.5, 0.8, 1.5}) {
    bend(bar, length, 2 * kPi + more, &bent);
    bent.finish();
    ASSERT_TRUE(mayTouchItself(bent.vertices, bar.surface, &memory));
    std::vector<ContactPolygon> here;
    collision::findSelf(bent.view(), memory.regions, &here);
    EXPECT_FALSE(here.empty());
    expectSame(here, findEverywhere(bent));
    if (more > 0.2) continue;
    // As thick as the bar, as long as the overlap and a cell at each end; the ring is 3.8 wide.
    ASSERT_EQ(memory.regions.size(), 1u);
    const Vec3 size = memory.regions[0].upper - memory.regions[0].lower;
    EXPECT_LE(std::fmax(size.x, std::fmax(size.y, size.z)), 1.5);
  }
}

TEST(SelfProximity, NoContactOfRandomFoldsIsMissed) {
  const Real length = 12;
  const PressureBody bar = makeBar(length, 2);
  const PressureBody ball = ballOf(meshShape(Sphere(0.02), {.resolution = 0.006}), 0.02);
  SelfProximity barMemory, ballMemory;
  collision::buildSelfProximity(bar.vertices, bar.surface, &barMemory);
  collision::buildSelfProximity(ball.vertices, ball.surface, &ballMemory);
  SceneRandom random(7);
  int numTouching = 0, numFree = 0, numAlarms = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const bool isBar = trial % 8 != 0;
    const PressureBody& rest = isBar ? bar : ball;
    SelfProximity& memory = isBar ? barMemory : ballMemory;
    PressureBody moved = rest;
    do {
      if (isBar)
        foldAtRandom(bar, length, random, &moved);
      else
        waveAtRandom(ball, random, &moved);
    } while (isTurnedInsideOut(moved));
    moved.finish();
    const std::vector<ContactPolygon> everywhere = findEverywhere(moved);
    const bool isTouching = !everywhere.empty() || hasVertexInTet(moved);
    const bool isAlarm = mayTouchItself(moved.vertices, rest.surface, &memory);
    ASSERT_TRUE(isAlarm || !isTouching) << trial;
    numTouching += isTouching;
    numFree += !isTouching;
    numAlarms += isAlarm;
    std::vector<ContactPolygon> here;
    if (isAlarm) collision::findSelf(moved.view(), memory.regions, &here);
    expectSame(here, everywhere);
  }
  EXPECT_GT(numTouching, 300);
  EXPECT_GT(numFree, 300);
  // Grazing contacts without a vertex inside or a polygon.
  EXPECT_LE(numAlarms - numTouching, 40);
  RecordProperty("touching", numTouching);
  RecordProperty("alarms", numAlarms);
}

TEST(SelfProximity, PartWithinAnotherIsFoundAndACavityIsNot) {
  const PressureBody large = test::makeBrick({0, 0, 0}, {3, 3, 3}, {3, 3, 3}, 0, 1);
  PressureBody both = large;
  const PressureBody small = test::makeBrick({1.2, 1.3, 1.4}, {1.7, 1.7, 1.7}, {1, 1, 1}, 0, 1);
  for (Tet tet : small.tets) {
    for (std::int32_t& v : tet) v += static_cast<std::int32_t>(large.vertices.size());
    both.tets.push_back(tet);
  }
  both.vertices.insert(both.vertices.end(), small.vertices.begin(), small.vertices.end());
  both.pressure.insert(both.pressure.end(), small.pressure.begin(), small.pressure.end());
  both.findSurface();
  SelfProximity memory;
  ASSERT_TRUE(mayTouchItself(both.vertices, both.surface, &memory));
  EXPECT_TRUE(memory.touching.empty());
  ASSERT_EQ(memory.regions.size(), 1u);
  EXPECT_TRUE(memory.regions[0].contains(Vec3{1.5, 1.5, 1.5}));
  EXPECT_FALSE(memory.regions[0].contains(Vec3{1, 1, 1}));

  PressureBody hollow = test::makeSphere(1, 1, 2, 3);
  const std::int32_t center = static_cast<std::int32_t>(hollow.vertices.size()) - 1;
  std::erase_if(hollow.tets, [&](const Tet& t) { return t[0] == center; });
  hollow.findSurface();
  SelfProximity hollowMemory;
  EXPECT_FALSE(mayTouchItself(hollow.vertices, hollow.surface, &hollowMemory));
  EXPECT_EQ(hollowMemory.parts.size(), 1u);
  EXPECT_EQ(hollowMemory.loose.size(), 1u);
  // A dent as deep as the wall is thick: the outer surface comes through the inner one.
  for (Vec3& v : hollow.vertices) {
    if (v.z > 0.95) v.z -= 1.2;
  }
  EXPECT_TRUE(mayTouchItself(hollow.vertices, hollow.surface, &hollowMemory));
}

TEST(SelfProximity, AnswerIsTheSameAtEverySizeAndPlace) {
  const Real length = 9;
  const PressureBody bar = makeBar(length);
  PressureBody bent = bar;
  SelfProximity memory;
  collision::buildSelfProximity(bar.vertices, bar.surface, &memory);
  for (const Real angle : {2 * kPi - 0.01, 2 * kPi + 0.01}) {
    for (const Real size : {1e-6, 1.0, 1e6}) {
      for (const Real place : {0.0, 1e5}) {
        bend(bar, length, angle, &bent);
        for (Vec3& v : bent.vertices) v = (v + Vec3{place, -place, place}) * size;
        EXPECT_EQ(mayTouchItself(bent.vertices, bar.surface, &memory), angle > 2 * kPi);
      }
    }
  }
}

TEST(SelfProximity, WarmTestAllocatesNothingAndRepeatsItself) {
  const Real length = 9;
  const PressureBody bar = makeBar(length);
  PressureBody bent = bar;
  SelfProximity memory;
  collision::buildSelfProximity(bar.vertices, bar.surface, &memory);
  bend(bar, length, 2 * kPi + 0.3, &bent);
  bent.finish();
  std::vector<ContactPolygon> out;
  const auto find = [&] {
    out.clear();
    if (mayTouchItself(bent.vertices, bar.surface, &memory)) {
      collision::findSelf(bent.view(), memory.regions, &out);
    }
  };
  find();
  const std::vector<ContactPolygon> first = out;
  const std::vector<geometry::IndexPair> touching = memory.touching;
  ASSERT_FALSE(first.empty());
  const long before = test::numAllocations;
  find();
  EXPECT_EQ(test::numAllocations, before);
  EXPECT_EQ(memory.touching, touching);
  expectSame(out, first);
}

TEST(SelfProximity, VerticesThatAreNotFiniteHideNoOtherContact) {
  const Real length = 9;
  const PressureBody bar = makeBar(length);
  PressureBody bent = bar;
  SelfProximity memory;
  collision::buildSelfProximity(bar.vertices, bar.surface, &memory);
  bend(bar, length, 2 * kPi + 0.3, &bent);
  const std::size_t middle = 13;  // on the surface, far from both ends
  ASSERT_NEAR(bar.vertices[middle].x, length / 2, 0.3);
  for (const Real odd : {std::nan(""), std::numeric_limits<Real>::infinity(), 1e300}) {
    bent.vertices[middle] = {0, odd, 0};
    EXPECT_TRUE(mayTouchItself(bent.vertices, bar.surface, &memory));
  }
  for (Vec3& v : bent.vertices) v.x = std::nan("");
  EXPECT_FALSE(mayTouchItself(bent.vertices, bar.surface, &memory));
  EXPECT_FALSE(mayTouchItself({}, {}, &memory));
}

}  // namespace
