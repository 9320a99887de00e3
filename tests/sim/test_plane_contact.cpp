// SPDX-License-Identifier: Apache-2.0
//
// What presses on a plane: by tetrahedra or by vertices, alone and mixed; the depth that is
// reported, and contacts that are foreseen.
#include "sim/soft_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

using test::boxBody;
using test::floorBody;
using test::kGravity;
using test::rubber;
using test::sapOptions;
using test::softOf;

constexpr PlaneContact kWays[] = {PlaneContact::Elements, PlaneContact::Vertices};

Material rubberBy(PlaneContact way, const std::string& name = "rubber") {
  Material material = rubber(1e6);
  material.name = name;
  material.planeContact = way;
  return material;
}

Material layer() {
  Material material = rubber(1e6);
  material.name = "layer";
  material.hydroelasticThickness = 0.1;
  return material;
}

TEST(PlaneContact, OfSoftBodiesCarriesTheirWeightEitherWay) {
  for (const std::string& ground : {std::string(), std::string("layer")}) {
    Real height[2] = {};
    int polygons[2] = {};
    for (const PlaneContact way : kWays) {
      ModelBuilder builder;
      builder.setOptions(sapOptions(0.005));
      builder.addMaterial(rubberBy(way));
      builder.addMaterial(layer());
      builder.addBody(floorBody(ground));
      builder.addSoftBody(softOf("cube", Box({0.05, 0.05, 0.05}), 0.025, {0, 0, 0.05}));
      Simulator simulator(builder.build());
      simulator.step(400);
      EXPECT_LT(test::fastestVertex(simulator), 1e-5);
      const Real weight = simulator.model().softMass(0) * kGravity;
      EXPECT_NEAR(test::pressureForceOn(simulator, 0).z, weight, 1e-5 * weight);
      Real area = 0;
      for (const PressurePolygon& polygon : simulator.pressureContacts()) {
        area += polygon.area;
        EXPECT_EQ(polygon.numVertices == 1, way == PlaneContact::Vertices);
        EXPECT_GT(polygon.pressure, 0);
      }
      EXPECT_NEAR(area, 0.01, 5e-4);
      const int index = static_cast<int>(way);
      height[index] = test::meanPosition(simulator).z;
      polygons[index] = simulator.report().numPressurePolygons;
    }
    EXPECT_NEAR(height[0], height[1], 1e-5) << ground;
    EXPECT_LT(polygons[1], polygons[0]);
  }
}

TEST(PlaneContact, OfRigidBodiesSinksInAsFarEitherWay) {
  for (const std::string& ground : {std::string(), std::string("layer")}) {
    Real depth[2] = {};
    for (const PlaneContact way : kWays) {
      ModelBuilder builder;
      builder.setOptions(sapOptions(0.005));
      builder.addMaterial(rubberBy(way));
      builder.addMaterial(layer());
      builder.addBody(floorBody(ground));
      builder.addBody(boxBody("box", {0.05, 0.04, 0.03}, {0, 0, 0.03}, "rubber"));
      Simulator simulator(builder.build());
      simulator.step(400);
      depth[static_cast<int>(way)] = 0.03 - simulator.body("box").pose.translation.z;
      EXPECT_LT(norm(simulator.body("box").linearVelocity), 1e-9);
      EXPECT_NEAR(simulator.report().maxDepth, depth[static_cast<int>(way)],
                  1e-3 * depth[static_cast<int>(way)]);
    }
    // 600 Pa on a field of 1e6 Pa in 3 cm, in series with 1e6 Pa in 10 cm of the layer.
    const Real pressure = 1000 * kGravity * 0.06;
    const Real expected = pressure / 1e6 * (0.03 + (ground.empty() ? 0 : 0.1));
    EXPECT_NEAR(depth[0], expected, 1e-3 * expected) << ground;
    EXPECT_NEAR(depth[1], expected, 1e-3 * expected) << ground;
  }
}

TEST(PlaneContact, OfARigidSurfaceOnALayerStandsOnItsVertices) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  Material hard = rubberBy(PlaneContact::Vertices, "hard");
  hard.hydroelasticModulus = kUnlimited;
  builder.addMaterial(hard);
  builder.addMaterial(layer());
  builder.addBody(floorBody("layer"));
  builder.addBody(boxBody("box", {0.05, 0.04, 0.03}, {0, 0, 0.03}, "hard"));
  Simulator simulator(builder.build());
  simulator.step(400);
  const Real expected = 1000 * kGravity * 0.06 / 1e6 * 0.1;
  EXPECT_NEAR(0.03 - simulator.body("box").pose.translation.z, expected, 1e-3 * expected);
  EXPECT_EQ(simulator.report().numPressurePolygons, 4);
}

TEST(PlaneContact, WaysMixInOneScene) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  builder.addMaterial(rubberBy(PlaneContact::Elements));
  builder.addMaterial(rubberBy(PlaneContact::Vertices, "vertices"));
  builder.addBody(floorBody());
  const Box cube({0.05, 0.05, 0.05});
  SoftBody soft1 = softOf("soft_elements", cube, 0.05, {0, 0, 0.05});
  SoftBody soft2 = softOf("soft_vertices", cube, 0.05, {0.2, 0, 0.05});
  soft2.material = "vertices";
  builder.addSoftBody(soft1);
  builder.addSoftBody(soft2);
  builder.addBody(boxBody("elements", {0.05, 0.05, 0.05}, {0, 0.3, 0.05}, "rubber"));
  builder.addBody(boxBody("vertices", {0.05, 0.05, 0.05}, {0.2, 0.3, 0.05}, "vertices"));
  builder.addBody(boxBody("points", {0.05, 0.05, 0.05}, {0.4, 0.3, 0.05}, ""));
  builder.addBody(boxBody("on_top", {0.03, 0.03, 0.03}, {0.2, 0, 0.13}, ""));  // on a soft body
  Simulator simulator(builder.build());
  simulator.step(400);
  for (const char* name : {"elements", "vertices", "points"}) {
    EXPECT_LT(norm(simulator.body(name).linearVelocity), 1e-6) << name;
    EXPECT_NEAR(simulator.body(name).pose.translation.z, 0.05, 2e-4) << name;
  }
  EXPECT_LT(test::fastestVertex(simulator, 0), 1e-4);
  EXPECT_LT(test::fastestVertex(simulator, 1), 1e-4);
  EXPECT_EQ(simulator.report().status, StepStatus::Ok);
}

TEST(PlaneContact, ByVerticesHoldsByFrictionAndIsSavedWithIt) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005, {3, 0, -9}));  // a slope of 18 degrees
  builder.addMaterial(rubberBy(PlaneContact::Vertices));
  builder.addBody(floorBody());
  builder.addSoftBody(softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 0.05}));
  builder.addBody(boxBody("box", {0.05, 0.05, 0.05}, {0, 0.3, 0.05}, "rubber"));
  const Model model = builder.build();
  Simulator simulator(model);
  simulator.step(300);
  const Real soft = test::meanPosition(simulator).x,
             rigid = simulator.body("box").pose.translation.x;
  const std::vector<std::byte> saved = simulator.state().save(model);
  simulator.step(300);
  EXPECT_NEAR(test::meanPosition(simulator).x, soft, 1e-7);
  EXPECT_NEAR(simulator.body("box").pose.translation.x, rigid, 1e-9);
  Simulator second(model);
  second.setState(State::load(model, saved));
  second.step(300);
  EXPECT_EQ(second.state().hash(), simulator.state().hash());
}

TEST(PressureDepth, IsThatOfTheBodiesAndNotOfASteepFlank) {
  // A ball of 5 cm pressed 1 cm deep into a soft block: no point of it is deeper than that.
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.002, {}));
  builder.addMaterial(rubber(1e6));
  Body ball;
  ball.name = "ball";
  ball.type = BodyType::Kinematic;
  ball.pose.translation = {0, 0, 0.14};
  ball.shapes = {{.shape = std::make_shared<Sphere>(0.05)}};
  builder.addBody(ball);
  SoftBody block = softOf("block", Box({0.1, 0.1, 0.05}), 0.03, {0, 0, 0.05});
  for (std::size_t i = 0; i < block.mesh->vertices().size(); ++i)
    block.attachments.push_back({static_cast<std::int32_t>(i), ""});  // it cannot yield
  builder.addSoftBody(block);
  Simulator simulator(builder.build());
  simulator.step();
  EXPECT_GT(simulator.report().maxDepth, 0.005);
  EXPECT_LT(simulator.report().maxDepth, 0.0105);
}

TEST(ForeseenContacts, SaySoAndHaveNoPressureYet) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.01, {}));
  builder.addMaterial(rubber());
  builder.addBody(floorBody());
  SoftBody ball = softOf("ball", Sphere(0.05), 0.02, {0, 0, 0.06});
  ball.linearVelocity = {0, 0, -1.5};
  builder.addSoftBody(ball);
  Simulator simulator(builder.build());
  simulator.step();
  ASSERT_FALSE(simulator.pressureContacts().empty());
  Real force = 0;
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    EXPECT_TRUE(polygon.isForeseen);
    EXPECT_EQ(polygon.pressure, 0);
    for (int i = 0; i < polygon.numVertices; ++i) EXPECT_EQ(polygon.pressures[i], 0);
    force -= polygon.force.z;  // on the floor, side 1
  }
  EXPECT_GT(force, 0);
  EXPECT_EQ(simulator.report().maxDepth, 0);
}

}  // namespace
}  // namespace tangere
