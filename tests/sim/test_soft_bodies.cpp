// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies and pressure contacts in the step: numbers that can be checked by hand.
#include <tangere/dynamics.hpp>
#include <tangere/error.hpp>
#include <tangere/simulator.hpp>

#include "sim/soft_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tangere {
namespace {

using test::floorBody;
using test::kGravity;
using test::rubber;
using test::sapOptions;
using test::softOf;

Model ballOnFloor(Real dt = 1.0 / 120) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(dt));
  builder.addMaterial(rubber());
  builder.addBody(floorBody());
  builder.addSoftBody(softOf("ball", Sphere(0.02), 0.008, {0, 0, 0.02}));
  return builder.build();
}

Vec3 meanOf(std::span<const Vec3> values) {
  Vec3 sum{};
  for (const Vec3& value : values) sum += value;
  return sum * (1 / static_cast<Real>(values.size()));
}

Vec3 momentumOf(const Simulator& simulator, int soft) {
  // All vertices of a body weigh a share of the tetrahedra around them.
  const TetMesh& mesh = simulator.model().softMesh(soft);
  std::vector<Real> volume(mesh.vertices().size(), 0);
  for (const Tet& tet : mesh.tets()) {
    const Vec3 a = mesh.vertices()[tet[0]], b = mesh.vertices()[tet[1]] - a,
               c = mesh.vertices()[tet[2]] - a, d = mesh.vertices()[tet[3]] - a;
    for (const int i : tet) volume[i] += dot(cross(b, c), d) / 24;
  }
  const Real density = simulator.model().softMass(soft) / mesh.volume();
  Vec3 sum{};
  for (std::size_t i = 0; i < volume.size(); ++i)
    sum += simulator.softVelocities(soft)[i] * (density * volume[i]);
  return sum;
}

/// On soft bodies.
Vec3 contactForceOnSofts(const Simulator& simulator) {
  Vec3 sum{};
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    if (polygon.side1.soft >= 0) sum += polygon.force;
    if (polygon.side2.soft >= 0) sum += -polygon.force;
  }
  return sum;
}

TEST(SoftBodies, ABallAtRestPressesOnTheFloorWithItsWeight) {
  Simulator simulator(ballOnFloor());
  simulator.step(400);
  const Real weight = simulator.model().softMass(0) * kGravity;
  EXPECT_NEAR(contactForceOnSofts(simulator).z, weight, 1e-6 * weight);
  Real pressed = 0;
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    pressed += polygon.area * polygon.pressure;
    EXPECT_NEAR(polygon.normal.z, -1, 1e-12);  // from the ball, which comes after shapes, down
    EXPECT_EQ(polygon.side2.soft, 0);
  }
  EXPECT_NEAR(pressed, weight, 1e-4 * weight);
  for (const Vec3& v : simulator.softVelocities(0)) EXPECT_LT(norm(v), 1e-4);
}

TEST(SoftBodies, FallAsThePointsOfABookDo) {
  constexpr Real kDt = 0.004;
  ModelBuilder builder;
  builder.setOptions(sapOptions(kDt));
  builder.addMaterial(rubber());
  builder.addSoftBody(softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 1}));
  Simulator simulator(builder.build());
  const Vec3 start = meanOf(simulator.softPositions(0));
  constexpr int kSteps = 30;
  simulator.step(kSteps);
  // x += dt v with v after the step: g dt^2 n (n + 1) / 2.
  const Real expected = -kGravity * kDt * kDt * kSteps * (kSteps + 1) / 2;
  EXPECT_NEAR(meanOf(simulator.softPositions(0)).z - start.z, expected, 1e-9);
  EXPECT_EQ(simulator.report().numPressurePolygons, 0);
}

TEST(SoftBodies, KeepTheirMomentumWhenTheyCollide) {
  for (const ElasticModel law :
       {ElasticModel::Corotated, ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.001, {}));
    builder.addMaterial(rubber(1e7, 0.5));
    SoftBody left = softOf("left", Sphere(0.05), 0.025, {-0.051, 0, 0});
    SoftBody right = softOf("right", Box({0.04, 0.04, 0.04}), 0.03, {0.042, 0.01, 0.005});
    left.linearVelocity = {1, 0, 0};
    right.linearVelocity = {-1, 0, 0.2};
    left.elasticity.model = right.elasticity.model = law;
    builder.addSoftBody(left);
    builder.addSoftBody(right);
    Simulator simulator(builder.build());
    const Vec3 before = momentumOf(simulator, 0) + momentumOf(simulator, 1);
    int touched = 0;
    for (int i = 0; i < 60; ++i) {
      simulator.step();
      touched += simulator.report().numPressurePolygons > 0 ? 1 : 0;
    }
    EXPECT_GT(touched, 5) << elasticModelName(law);
    const Vec3 after = momentumOf(simulator, 0) + momentumOf(simulator, 1);
    EXPECT_LT(norm(after - before), 1e-7 * norm(before)) << elasticModelName(law);
    EXPECT_LT(meanOf(simulator.softVelocities(0)).x, meanOf(simulator.softVelocities(1)).x);
  }
}

TEST(SoftBodies, CountInEnergyMomentumAndCentreOfMass) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.001));
  builder.addMaterial(rubber());
  builder.addBody(test::boxBody("box", {0.1, 0.1, 0.1}, {1, 2, 3}, ""));
  SoftBody cube = softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 2});
  cube.linearVelocity = {1, 2, 3};
  builder.addSoftBody(cube);
  const Model model = builder.build();
  Simulator simulator(model);
  const auto expectLedger = [&] {
    const State& state = simulator.state();
    const EnergyLedger& ledger = simulator.energy();
    EXPECT_NEAR(kineticEnergy(model, state), ledger.kinetic, 1e-12 * ledger.kinetic);
    EXPECT_NEAR(potentialEnergy(model, state), ledger.potential, 1e-12 * ledger.potential);
  };
  const Real soft = model.softMass(0);  // of 0.001 m^3
  EXPECT_NEAR(soft, 1, 1e-12);
  const Real box = model.massProperties(model.findBody("box")).mass;
  expectLedger();
  EXPECT_NEAR(kineticEnergy(model, simulator.state()), 0.5 * soft * 14, 1e-12);
  EXPECT_LT(norm(momentum(model, simulator.state()).linear - Vec3{1, 2, 3} * soft), 1e-12);
  const Vec3 center = (Vec3{1, 2, 3} * box + Vec3{0, 0, 2} * soft) / (box + soft);
  EXPECT_LT(norm(centerOfMass(model, simulator.state()) - center), 1e-12);
  const Vec3 angular = cross(Vec3{0, 0, 2} - center, Vec3{1, 2, 3} * soft);
  EXPECT_LT(norm(momentum(model, simulator.state()).angular - angular), 1e-12);
  std::vector<Vec3> x(simulator.softPositions(0).begin(), simulator.softPositions(0).end());
  for (Vec3& p : x) p.x *= 1.2;
  simulator.setSoftPositions(0, x);
  for (int i = 0; i < 5; ++i) simulator.step();
  expectLedger();
  EXPECT_GT(potentialEnergy(model, simulator.state()), soft * 9.8 * 2 + box * 9.8 * 3);
}

TEST(SoftBodies, CloseTheLedgerInEveryStep) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(1.0 / 120));
  builder.addMaterial(rubber());
  builder.addBody(floorBody());
  SoftBody cube = softOf("cube", Box({0.03, 0.03, 0.03}), 0.03, {0, 0, 0.06});
  cube.elasticity.massDamping = 0.5;
  builder.addSoftBody(cube);
  Body lid;
  lid.name = "lid";
  lid.shapes = {{.shape = std::make_shared<Box>(Vec3{0.03, 0.03, 0.01}), .material = "rubber"}};
  lid.pose.translation = {0, 0, 0.12};
  builder.addBody(lid);
  Simulator simulator(builder.build());
  Real energy = 0;
  for (int i = 0; i < 150; ++i) {
    simulator.step();
    const EnergyLedger& ledger = simulator.energy();
    const Real scale = std::fabs(ledger.kinetic) + std::fabs(ledger.potential);
    EXPECT_LT(std::fabs(ledger.residual), 1e-9 * scale) << i;
    const Real now = ledger.kinetic + ledger.potential;
    if (i > 0) {
      EXPECT_LT(now, energy + 1e-3 * scale) << i;
    }
    energy = now;
  }
  EXPECT_EQ(simulator.report().status, StepStatus::Ok);
}

int vertexAt(const Model& model, int soft, const Vec3& place) {
  const std::span<const Vec3> x = model.softMesh(soft).vertices();
  int best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (norm(x[i] - place) < norm(x[best] - place)) best = static_cast<int>(i);
  }
  EXPECT_LT(norm(x[best] - place), 1e-9);
  return best;
}

TEST(SoftBodies, DrivenVerticesGoWhereTheyAreToldAndFallWhenReleased) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.01));
  builder.addMaterial(rubber());
  builder.addSoftBody(softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 1}));
  Simulator simulator(builder.build());
  const int vertex = vertexAt(simulator.model(), 0, {0.05, 0.05, 1.05});
  Vec3 target = simulator.softPositions(0)[vertex];
  for (int i = 0; i < 50; ++i) {
    target += Vec3{0.001, 0, 0.002};
    simulator.driveVertex(0, vertex, target);
    simulator.step();
    EXPECT_LT(norm(simulator.softPositions(0)[vertex] - target), 1e-12);
    const EnergyLedger& ledger = simulator.energy();
    EXPECT_LT(std::fabs(ledger.residual), 1e-9 * (ledger.kinetic + std::fabs(ledger.potential)));
  }
  simulator.releaseVertex(0, vertex);
  const Real before = meanOf(simulator.softPositions(0)).z;
  const Real speed = meanOf(simulator.softVelocities(0)).z;
  simulator.step(20);
  EXPECT_NEAR(meanOf(simulator.softPositions(0)).z - before,
              0.2 * speed - kGravity * 0.01 * 0.01 * 20 * 21 / 2, 2e-3);
}

TEST(SoftBodies, HangFromTheWorldAndFromBodies) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  builder.addMaterial(rubber());
  Body carrier;
  carrier.name = "carrier";
  carrier.type = BodyType::Fixed;
  carrier.pose.translation = {0.5, 0, 1.1};
  builder.addBody(carrier);
  Body weight;
  weight.name = "weight";
  weight.shapes = {{.shape = std::make_shared<Sphere>(0.02)}};
  weight.massProperties = MassProperties{
      .mass = 0.1, .center = {}, .inertia = Mat3{{{1e-5, 0, 0}, {0, 1e-5, 0}, {0, 0, 1e-5}}}};
  weight.pose.translation = {0, 0, 0.93};
  builder.addBody(weight);
  const Box bar({0.02, 0.02, 0.05});
  for (const auto& [name, x] : {std::pair<std::string, Real>{"held", 0}, {"carried", 0.5}}) {
    SoftBody soft = softOf(name, bar, 0.02, {x, 0, 1});
    for (std::size_t i = 0; i < soft.mesh->vertices().size(); ++i) {
      const Real z = soft.mesh->vertices()[i].z;
      const auto vertex = static_cast<std::int32_t>(i);
      if (z > 0.049) soft.attachments.push_back({vertex, name == "held" ? "" : "carrier"});
      if (z < -0.049 && name == "held") soft.attachments.push_back({vertex, "weight"});
    }
    soft.elasticity.damping = 0.02;
    builder.addSoftBody(soft);
  }
  Simulator simulator(builder.build());
  simulator.step(600);
  EXPECT_EQ(simulator.report().status, StepStatus::Ok);
  const int held = simulator.model().findSoftBody("held");
  // 0.1 kg on a bar of 16 cm^2 and 10 cm stretches it by F L / (E A) = 0.6 mm or a little less.
  const Real fall = 0.93 - simulator.body("weight").pose.translation.z;
  EXPECT_NEAR(fall, 0.1 * kGravity * 0.1 / (1e5 * 0.0016) + 0.0003, 0.0003);
  EXPECT_LT(norm(simulator.body("weight").linearVelocity), 1e-4);
  const std::span<const Vec3> x = simulator.softPositions(held);
  const std::span<const Vec3> start = simulator.model().softMesh(held).vertices();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (start[i].z > 1.049) {
      EXPECT_LT(norm(x[i] - start[i]), 1e-12);
    }
  }
}

TEST(SoftBodies, AreSavedAndContinueToTheSameBits) {
  const Model model = ballOnFloor();
  Simulator whole(model), first(model);
  whole.step(40);
  first.step(15);
  const std::vector<std::byte> saved = first.state().save(model);
  Simulator second(model);
  second.setState(State::load(model, saved));
  second.step(25);
  EXPECT_EQ(second.state().hash(), whole.state().hash());
}

TEST(SoftBodies, MoveToTheSameBitsForAnyNumberOfThreads) {
  const Model model = ballOnFloor();
  Simulator alone(model);
  alone.step(25);
  for (const int threads : {2, 3, 8}) {
    Simulator other(model, threads);
    other.step(25);
    EXPECT_EQ(other.state().hash(), alone.state().hash()) << threads;
  }
}

TEST(SoftBodies, TurnedInsideOutComeBack) {
  for (const ElasticModel law : {ElasticModel::Corotated, ElasticModel::NeoHookean}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.005, {}));
    builder.addMaterial(rubber());
    SoftBody cube = softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {});
    cube.elasticity = {.model = law, .young = 1e5, .poisson = 0.3, .damping = 0.01};
    cube.selfContact = false;
    builder.addSoftBody(cube);
    Simulator simulator(builder.build());
    std::vector<Vec3> x(simulator.softPositions(0).begin(), simulator.softPositions(0).end());
    x[vertexAt(simulator.model(), 0, {0.05, 0.05, 0.05})] = {-0.06, -0.06, -0.06};
    simulator.setSoftPositions(0, x);
    simulator.step();
    EXPECT_TRUE(has(simulator.report().status, StepStatus::ElementsInverted));
    EXPECT_GT(simulator.report().numInverted, 0);
    EXPECT_NE(describe(simulator.report(), simulator.model(), 1).find("soft body 'cube'"),
              std::string::npos);
    simulator.step(400);
    EXPECT_EQ(simulator.report().numInverted, 0) << elasticModelName(law);
    EXPECT_LT(simulator.energy().potential, 1e-6) << elasticModelName(law);
  }
}

TEST(Hydroelastic, ARigidBoxSinksIntoALayerAsFarAsItsWeightSays) {
  // p = E d / H over 0.2 m x 0.1 m: d = m g H / (E A).
  constexpr Real kModulus = 5e5, kThickness = 0.05, kMass = 2;
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.001));
  builder.addMaterial({.name = "layer",
                       .relaxationTime = 0.01,
                       .contact = ContactModel::Hydroelastic,
                       .hydroelasticModulus = kModulus,
                       .hydroelasticThickness = kThickness});
  builder.addBody(floorBody("layer"));
  Body box;
  box.name = "box";
  box.shapes = {{.shape = std::make_shared<Box>(Vec3{0.1, 0.05, 0.05})}};
  box.massProperties = MassProperties{
      .mass = kMass, .center = {}, .inertia = Mat3{{{3e-3, 0, 0}, {0, 8e-3, 0}, {0, 0, 8e-3}}}};
  box.pose.translation = {0, 0, 0.05};
  builder.addBody(box);
  Simulator simulator(builder.build());
  simulator.step(3000);
  const Real depth = kMass * kGravity * kThickness / (kModulus * 0.02);
  EXPECT_NEAR(0.05 - simulator.body("box").pose.translation.z, depth, 1e-6 * depth);
  EXPECT_EQ(simulator.contacts().size(), 0u);  // no points: the pair touches by pressure
  Real area = 0, force = 0;
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    if (std::fabs(polygon.normal.z) > 0.9) area += polygon.area;  // else a side of the box
    force += polygon.force.z * (polygon.side1.body == simulator.model().findBody("box") ? 1 : -1);
  }
  EXPECT_NEAR(area, 0.02, 1e-9);
  EXPECT_NEAR(force, kMass * kGravity, 1e-6);
}

TEST(Hydroelastic, PairsOfShapesPressOrTouchAtPointsByTheirMaterials) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.002));
  builder.addMaterial(rubber());
  builder.addBody(floorBody());
  for (const auto& [name, material, x] :
       {std::tuple<std::string, std::string, Real>{"hard", "", 0}, {"soft", "rubber", 1}}) {
    Body ball;
    ball.name = name;
    ball.shapes = {{.shape = std::make_shared<Sphere>(0.05), .material = material}};
    ball.pose.translation = {x, 0, 0.0499};
    builder.addBody(ball);
  }
  Simulator simulator(builder.build());
  simulator.step(1500);
  ASSERT_EQ(simulator.contacts().size(), 1u);
  EXPECT_EQ(simulator.model().bodyName(simulator.contacts()[0].body2 == 0
                                           ? simulator.contacts()[0].body1
                                           : simulator.contacts()[0].body2),
            "hard");
  EXPECT_GT(simulator.pressureContacts().size(), 0u);
  const Real weight =
      simulator.model().massProperties(simulator.model().findBody("soft")).mass * kGravity;
  Real force = 0;
  for (const PressurePolygon& polygon : simulator.pressureContacts())
    force += std::fabs(polygon.force.z);
  EXPECT_NEAR(force, weight, 1e-3 * weight);
}

TEST(Hydroelastic, SensorsFeelPressureAsTheyFeelPoints) {
  for (const bool isSoft : {false, true}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.002));
    builder.addMaterial(rubber());
    builder.addBody(floorBody(isSoft ? "rubber" : ""));
    Body box;
    box.name = "box";
    box.joints = {{.name = "slide", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
    box.shapes = {{.shape = std::make_shared<Box>(Vec3{0.05, 0.05, 0.05})}};
    box.pose.translation = {0, 0, 0.05};
    builder.addBody(box);
    builder.addSite({.name = "sole", .body = "box", .halfSize = {0.2, 0.2, 0.2}, .isBox = true});
    builder.addSensor({.name = "touch", .type = SensorType::Touch, .object = "sole"});
    builder.addSensor({.name = "load", .type = SensorType::ContactForce, .object = "box"});
    Simulator simulator(builder.build());
    simulator.step(500);
    const Real weight =
        simulator.model().massProperties(simulator.model().findBody("box")).mass * kGravity;
    EXPECT_EQ(simulator.pressureContacts().empty(), !isSoft);
    EXPECT_NEAR(simulator.sensors()[0], weight, 1e-3 * weight);
    EXPECT_NEAR(simulator.sensors()[simulator.model().startOfSensor(1) + 2], weight, 1e-3 * weight);
  }
}

TEST(SoftBodies, ErrorControlSeesThemAndDrivesTheirVerticesEvenly) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(0.01);
  options.accuracy = 1e-5;
  builder.setOptions(options);
  builder.addMaterial(rubber());
  builder.addBody(floorBody());
  builder.addSoftBody(softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 0.06}));
  Simulator simulator(builder.build());
  const int vertex = vertexAt(simulator.model(), 0, {0.05, 0.05, 0.11});
  Vec3 target = simulator.softPositions(0)[vertex];
  bool isDivided = false;
  for (int i = 0; i < 20; ++i) {
    target += Vec3{0.001, 0, 0};
    simulator.driveVertex(0, vertex, target);
    simulator.step();
    isDivided = isDivided || simulator.state().trialStep < 0.009;
    EXPECT_LT(norm(simulator.softPositions(0)[vertex] - target), 1e-9);
    EXPECT_NEAR(simulator.softVelocities(0)[vertex].x, 0.1, 1e-6);
  }
  EXPECT_TRUE(isDivided);  // the floor was hit
}

TEST(SoftBodies, OneSideIsEnoughWhereTheShapeSaysSo) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  builder.addMaterial(rubber());
  Body floor = floorBody();
  floor.shapes[0].mask = 0;
  floor.shapes[0].isOneSideEnough = true;
  builder.addBody(floor);
  builder.addSoftBody(softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 0.05}));
  Simulator simulator(builder.build());
  simulator.step(100);
  EXPECT_GT(meanOf(simulator.softPositions(0)).z, 0.04);
}

TEST(SoftBodies, WhatCannotBeIsRefusedWithAReason) {
  const auto messageOf = [](const std::function<void(ModelBuilder&)>& add) -> std::string {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.01));
    builder.addMaterial(rubber());
    try {
      add(builder);
      (void)builder.build();
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const SoftBody good = softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {});
  const auto with = [&](const std::function<void(SoftBody&)>& change) {
    return messageOf([&](ModelBuilder& builder) {
      SoftBody soft = good;
      change(soft);
      builder.addSoftBody(soft);
    });
  };
  expect(with([](SoftBody& s) { s.mesh = nullptr; }), "mesh is missing");
  expect(with([](SoftBody& s) { s.elasticity.young = 0; }), "Young's modulus");
  expect(with([](SoftBody& s) { s.elasticity.poisson = 0.5; }), "Poisson's ratio");
  expect(with([](SoftBody& s) { s.material = "ruber"; }), "rubber");
  expect(with([](SoftBody& s) { s.attachments = {{.vertex = 100000}}; }), "no vertex 100000");
  expect(with([](SoftBody& s) { s.attachments = {{.vertex = 0, .body = "arm"}}; }), "'arm'");
  expect(messageOf([&](ModelBuilder& builder) {
           builder.addSoftBody(good);
           builder.addSoftBody(good);
         }),
         "another one has this name");
  expect(messageOf([&](ModelBuilder& builder) {
           SimulationOptions impulse;
           builder.setOptions(impulse);
           builder.addSoftBody(good);
         }),
         "need the SAP solver");
}

}  // namespace
}  // namespace tangere
