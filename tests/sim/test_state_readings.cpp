// SPDX-License-Identifier: Apache-2.0
//
// What is read after the state was changed from outside belongs to that state, or is not there.
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

/// A box of 1 kg on a floor, and a link held up by a drive.
Model boxAndServo(SolverType solver) {
  ModelBuilder builder;
  SimulationOptions options;
  options.dt = 0.001;
  options.solver = solver;
  builder.setOptions(options);
  Body floor;
  floor.name = "floor";
  floor.type = BodyType::Fixed;
  floor.shapes = {{.shape = std::make_shared<Plane>()}};
  builder.addBody(floor);
  Body box;
  box.name = "box";
  box.pose.translation = {0, 0, 0.1};
  box.shapes = {{.shape = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1})}};
  box.massProperties =
      MassProperties{.mass = 1, .inertia = {{{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}}}};
  builder.addBody(box);
  if (solver == SolverType::Impulse) return builder.build();
  Body link;
  link.name = "link";
  link.pose.translation = {2, 0, 1};
  link.joints = {{.name = "h", .axis = {0, 1, 0}}};
  link.massProperties = MassProperties{
      .mass = 1, .center = {0.3, 0, 0}, .inertia = {{{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}}}};
  builder.addBody(link);
  builder.addActuator(Actuator::position("servo", "h", 50, 1));
  builder.addSite({.name = "s", .body = "box", .halfSize = {0.2, 0.2, 0.2}, .isBox = true});
  builder.addSensor({.name = "touch", .type = SensorType::Touch, .object = "s"});
  builder.addSensor({.name = "force", .type = SensorType::ActuatorForce, .object = "servo"});
  return builder.build();
}

Real weightOnFloor(const Simulator& sim) {
  Real sum = 0;
  for (const ContactForce& contact : sim.contacts()) sum += std::fabs(contact.force.z);
  return sum;
}

void expectNothingRead(const Simulator& sim) {
  EXPECT_TRUE(sim.contacts().empty());
  EXPECT_EQ(sim.actuatorForces()[0], 0);
  EXPECT_EQ(sim.sensors()[0], 0);
  EXPECT_EQ(sim.sensors()[1], 0);
}

TEST(StateReadings, ForcesOfTheLastStepEndWithItsState) {
  Simulator sim(boxAndServo(SolverType::Sap));
  const State start = sim.state();
  expectNothingRead(sim);
  sim.step(300);
  const State onFloor = sim.state();
  EXPECT_NEAR(weightOnFloor(sim), 9.81, 1e-3);
  EXPECT_NEAR(sim.sensors()[0], 9.81, 1e-3);
  EXPECT_LT(sim.actuatorForces()[0], -1);

  std::vector<Real> q = onFloor.q;
  q[2] = 5;
  sim.setPositions(q);
  expectNothingRead(sim);
  sim.setState(onFloor);
  expectNothingRead(sim);
  sim.step();
  EXPECT_NEAR(weightOnFloor(sim), 9.81, 1e-3);
  sim.setPose(sim.model().findBody("box"), {Mat3::identity(), {0, 0, 3}});
  expectNothingRead(sim);
  sim.setState(onFloor);
  sim.step();
  sim.setState(start);
  expectNothingRead(sim);
  sim.step();
  sim.reset();
  expectNothingRead(sim);
}

TEST(StateReadings, ForcesStayWhereVelocitiesAloneAreSet) {
  Simulator sim(boxAndServo(SolverType::Sap));
  sim.step(300);
  sim.setVelocities(std::vector<Real>(sim.state().v.size(), 0));
  EXPECT_NEAR(weightOnFloor(sim), 9.81, 1e-3);
  EXPECT_LT(sim.actuatorForces()[0], -1);
}

TEST(StateReadings, EnergyIsThatOfTheState) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap, SolverType::Event}) {
    Simulator sim(boxAndServo(solver));
    const Real link = solver == SolverType::Impulse ? 0 : 9.81;  // 1 kg at 1 m
    EXPECT_NEAR(sim.energy().potential, 0.981 + link, 1e-12);
    EXPECT_EQ(sim.energy().kinetic, 0);
    const State start = sim.state();
    sim.step(20);
    const int box = sim.model().findBody("box");
    sim.setState(start);
    EXPECT_NEAR(sim.energy().potential, 0.981 + link, 1e-12);
    sim.setPose(box, {Mat3::identity(), {0, 0, 5}});
    EXPECT_NEAR(sim.energy().potential, 49.05 + link, 1e-9);
    sim.setVelocity(box, {0, 2, 0}, {});
    EXPECT_NEAR(sim.energy().kinetic, 2, 1e-12);
    EXPECT_EQ(sim.energy().external, 0);
    EXPECT_EQ(sim.energy().contactNormal, 0);
    sim.step();
    EXPECT_NEAR(sim.energy().kinetic + sim.energy().potential, 51.05 + link, 1e-2);
    EXPECT_LT(std::fabs(sim.energy().residual), 1e-6);
    sim.reset();
    EXPECT_NEAR(sim.energy().potential, 0.981 + link, 1e-12);
    EXPECT_EQ(sim.energy().kinetic, 0);
  }
}

}  // namespace
}  // namespace tangere
