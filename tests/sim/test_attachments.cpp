// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies that hang on others: they are carried along and touch their carrier elsewhere;
// excluded pairs of soft bodies.
#include <tangere/error.hpp>

#include "math/quat.hpp"
#include "sim/soft_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

using test::boxBody;
using test::floorBody;
using test::rubber;
using test::sapOptions;
using test::softOf;

constexpr Real kHalfTurn = 3.14159265358979323846;

/// An arm of one joint about y at the origin, 20 cm long along x, with a soft cube on its end.
ModelBuilder armWithCube() {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005, {}));
  builder.addMaterial(rubber());
  Body arm = boxBody("arm", {0.1, 0.01, 0.01}, {0.1, 0, 0}, "");
  arm.joints = {
      {.name = "hinge", .type = JointType::Revolute, .position = {-0.1, 0, 0}, .axis = {0, 1, 0}}};
  builder.addBody(arm);
  SoftBody cube = softOf("cube", Box({0.02, 0.02, 0.02}), 0.02, {0.22, 0, 0});
  for (std::size_t i = 0; i < cube.mesh->vertices().size(); ++i) {
    if (cube.mesh->vertices()[i].x < -0.0199)
      cube.attachments.push_back({static_cast<std::int32_t>(i), "arm"});
  }
  builder.addSoftBody(cube);
  return builder;
}

Mat3 turnAboutY(Real angle) {
  return rotationMatrix(math::quatFromAxisAngle(Vec3{0, 1, 0} * angle, angle));
}

void expectTurned(const Simulator& simulator, Real angle) {
  const Mat3 turn = turnAboutY(angle);
  const std::span<const Vec3> start = simulator.model().softMesh(0).vertices();
  for (std::size_t i = 0; i < start.size(); ++i)
    EXPECT_LT(norm(simulator.softPositions(0)[i] - turn * start[i]), 1e-14);
}

TEST(Attachments, CarrySoftBodiesWherePositionsAreSet) {
  Simulator simulator(armWithCube().build());
  const Real quarter[] = {kHalfTurn / 2};
  simulator.setPositions(quarter);
  expectTurned(simulator, kHalfTurn / 2);
  simulator.step(20);
  EXPECT_LT(test::fastestVertex(simulator), 1e-9);  // nothing was stretched
  const Real back[] = {0};
  simulator.setPositions(back);
  expectTurned(simulator, 0);
}

TEST(Attachments, CarrySoftBodiesToWhereJointsStart) {
  ModelBuilder builder = armWithCube();
  builder.addStartPosition({.joint = "hinge", .position = 0.5});
  Simulator simulator(builder.build());
  expectTurned(simulator, 0.5);
  simulator.step(20);
  EXPECT_LT(test::fastestVertex(simulator), 1e-9);
  simulator.reset();
  expectTurned(simulator, 0.5);
}

TEST(Attachments, CarryThoseOfAFreeBodyToo) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005, {}));
  builder.addMaterial(rubber());
  builder.addBody(boxBody("block", {0.02, 0.02, 0.02}, {0, 0, 0}, ""));
  SoftBody cube = softOf("cube", Box({0.02, 0.02, 0.02}), 0.02, {0.04, 0, 0});
  cube.attachments = {{0, "block"}};
  builder.addSoftBody(cube);
  Simulator simulator(builder.build());
  const Transform pose{turnAboutY(0.3), {1, 2, 3}};
  simulator.setPose(0, pose);
  const std::span<const Vec3> start = simulator.model().softMesh(0).vertices();
  for (std::size_t i = 0; i < start.size(); ++i)
    EXPECT_LT(norm(simulator.softPositions(0)[i] - pose * start[i]), 1e-14);
}

TEST(Attachments, StretchWhatHangsBetweenTwoBodies) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005, {}));
  builder.addMaterial(rubber());
  builder.addBody(boxBody("block", {0.02, 0.02, 0.02}, {0.09, 0, 0}, ""));
  SoftBody band = softOf("band", Box({0.05, 0.01, 0.01}), 0.01, {});
  int left = -1, right = -1;
  for (std::size_t i = 0; i < band.mesh->vertices().size(); ++i) {
    const Vec3& x = band.mesh->vertices()[i];
    const auto vertex = static_cast<std::int32_t>(i);
    if (x.x < -0.0499) band.attachments.push_back({left = vertex, ""});
    if (x.x > 0.0499) band.attachments.push_back({right = vertex, "block"});
  }
  builder.addSoftBody(band);
  Simulator simulator(builder.build());
  const std::span<const Vec3> start = simulator.model().softMesh(0).vertices();
  simulator.setPose(0, {Mat3::identity(), {0.11, 0, 0}});
  EXPECT_EQ(simulator.softPositions(0)[left], start[left]);
  EXPECT_LT(norm(simulator.softPositions(0)[right] - start[right] - Vec3{0.02, 0, 0}), 1e-15);
  Real last = -1;
  for (std::size_t i = 0; i < start.size(); ++i) {  // nobody goes farther than the two ends
    const Real way = simulator.softPositions(0)[i].x - start[i].x;
    EXPECT_GE(way, 0);
    EXPECT_LE(way, 0.02 + 1e-15);
    last = std::max(last, way);
  }
  EXPECT_EQ(simulator.report().numInverted, 0);
  simulator.step();
  EXPECT_EQ(simulator.report().numInverted, 0);
}

/// A soft rope lying over a fixed block, tied to it by the vertices of one end.
TEST(Attachments, LeaveTheRestOfABodyToTouchItsCarrier) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  builder.addMaterial(rubber());
  builder.addBody(boxBody("table", {0.2, 0.05, 0.05}, {0, 0, -0.05}, "", BodyType::Fixed));
  SoftBody rope = softOf("rope", Box({0.1, 0.01, 0.01}), 0.01, {0, 0, 0.011});
  for (std::size_t i = 0; i < rope.mesh->vertices().size(); ++i) {
    if (rope.mesh->vertices()[i].x < -0.0999)
      rope.attachments.push_back({static_cast<std::int32_t>(i), "table"});
  }
  builder.addSoftBody(rope);
  Simulator simulator(builder.build());
  simulator.step(300);
  const Real weight = simulator.model().softMass(0) * test::kGravity;
  EXPECT_GT(test::pressureForceOn(simulator, 0).z, 0.5 * weight);
  for (const Vec3& x : simulator.softPositions(0)) EXPECT_GT(x.z, -0.001);
  const TetMesh& mesh = simulator.model().softMesh(0);
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    for (const std::int32_t v : mesh.tets()[polygon.side2.element])
      EXPECT_GT(mesh.vertices()[v].x, -0.0999);
  }
}

TEST(ExcludedPairs, OfSoftBodiesDoNotTouch) {
  const auto fallsThrough = [](const std::string& one, const std::string& other) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.005));
    builder.addMaterial(rubber());
    builder.addBody(floorBody());
    const Box cube({0.05, 0.05, 0.05});
    SoftBody low = softOf("low", cube, 0.05, {0, 0, 0.0501});
    SoftBody high = softOf("high", cube, 0.05, {0, 0, 0.1503});
    builder.addSoftBody(low);
    builder.addSoftBody(high);
    if (!one.empty()) builder.excludePair(one, other);
    Simulator simulator(builder.build());
    simulator.step(60);  // 0.44 m of free fall
    return std::pair{test::meanPosition(simulator, 0).z < 0,
                     test::meanPosition(simulator, 1).z < 0};
  };
  EXPECT_EQ(fallsThrough("", ""), (std::pair{false, false}));  // high, low
  EXPECT_EQ(fallsThrough("low", "floor"), (std::pair{false, true}));
  EXPECT_EQ(fallsThrough("floor", "high"), (std::pair{false, false}));  // low carries it
  EXPECT_EQ(fallsThrough("low", "high"), (std::pair{false, false}));
  // Through each other they lie on the floor at one place.
  ModelBuilder builder;
  builder.addSoftBody(softOf("low", Box({0.05, 0.05, 0.05}), 0.05, {}));
  builder.setOptions(sapOptions(0.005));
  builder.addMaterial(rubber());
  builder.excludePair("low", "nobody");
  EXPECT_THROW((void)builder.build(), InvalidInput);
}

TEST(ExcludedPairs, OfTwoSoftBodiesLetThemPassThroughEachOther) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005, {}));
  builder.addMaterial(rubber());
  const Box cube({0.05, 0.05, 0.05});
  SoftBody left = softOf("left", cube, 0.05, {-0.1, 0, 0});
  left.linearVelocity = {1, 0, 0};
  builder.addSoftBody(left);
  builder.addSoftBody(softOf("right", cube, 0.05, {0.1, 0, 0}));
  builder.excludePair("left", "right");
  Simulator simulator(builder.build());
  simulator.step(100);
  EXPECT_NEAR(test::meanPosition(simulator, 0).x, 0.4, 1e-9);
  EXPECT_NEAR(test::meanPosition(simulator, 1).x, 0.1, 1e-9);
}

}  // namespace
}  // namespace tangere
