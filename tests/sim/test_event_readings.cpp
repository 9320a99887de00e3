// SPDX-License-Identifier: Apache-2.0
//
// What one reads of a step of the event solver: mean forces of contacts, and sensors.
#include <tangere/simulator.hpp>

#include "sim/event_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace tangere {
namespace {

constexpr Real kG = 9.81;

ModelBuilder builderOf(const Material& material, Real dt) {
  ModelBuilder builder = test::eventBuilder(material, {0, 0, -kG}, dt);
  test::addGround(builder);
  return builder;
}

Body bodyOf(const char* name, std::shared_ptr<const Shape> shape, const Vec3& at, Real mass) {
  Body body = test::makeBody(name, std::move(shape), at);
  body.massProperties =
      MassProperties{.mass = mass, .inertia = {{{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}}}};
  return body;
}

/// Of the contacts of the last step on the body [N s].
Vec3 impulseOn(const Simulator& simulator, int body, Real dt) {
  Vec3 sum{};
  for (const ContactForce& contact : simulator.contacts()) {
    if (contact.body1 == body) sum += contact.force * dt;
    if (contact.body2 == body) sum -= contact.force * dt;
  }
  return sum;
}

TEST(EventReadings, MeanForcesHaveTheImpulseOfABounceThatLastsLessThanAStep) {
  const Real dt = 1e-3, mass = 0.5;  // the contact lasts 0.3 ms
  ModelBuilder builder = builderOf({.name = "m",
                                    .friction = 0.3,
                                    .restitution = 0.7,
                                    .contact = ContactModel::Hertz,
                                    .youngsModulus = 2e11,
                                    .poissonRatio = 0.3},
                                   dt);
  Body ball = bodyOf("ball", std::make_shared<Sphere>(0.05), {0, 0, 0.06}, mass);
  ball.linearVelocity = {0.3, 0, -1};
  builder.addBody(ball);
  Simulator simulator(builder.build());
  const int index = simulator.model().findBody("ball");
  Vec3 impulse{};
  int numSteps = 0;
  for (; numSteps < 30; ++numSteps) {
    const Vec3 before = simulator.body("ball").linearVelocity;
    simulator.step();
    const Vec3 pushed = impulseOn(simulator, index, dt);
    const Vec3 gained = (simulator.body("ball").linearVelocity - before) * mass;
    EXPECT_NEAR(pushed.z, gained.z + mass * kG * dt, 2e-6) << numSteps;  // of 0.85 N s
    EXPECT_NEAR(pushed.x, gained.x, 2e-6) << numSteps;
    impulse += pushed;
  }
  EXPECT_GT(simulator.body("ball").linearVelocity.z, 0);
  EXPECT_GT(impulse.z, 0.8);
  EXPECT_LT(impulse.x, -0.01);
}

TEST(EventReadings, StepsThatCutAContactShareItsImpulse) {
  const Real mass = 0.5;
  Real impulse[2] = {};
  for (const int numLooks : {1, 40}) {
    const Real dt = 0.02 / numLooks;
    ModelBuilder builder = builderOf({.name = "m", .stiffness = 1e5}, dt);
    Body ball = bodyOf("ball", std::make_shared<Sphere>(0.05), {0, 0, 0.052}, mass);
    ball.linearVelocity = {0, 0, -1};
    builder.addBody(ball);
    Simulator simulator(builder.build());
    for (int i = 0; i < numLooks; ++i) {
      simulator.step();
      impulse[numLooks > 1] += impulseOn(simulator, simulator.model().findBody("ball"), dt).z;
    }
  }
  EXPECT_GT(impulse[0], mass);                 // it comes back
  EXPECT_NEAR(impulse[0], impulse[1], 1e-10);  // the looks change nothing but where sums are cut
}

TEST(EventReadings, AnImpactWithoutDurationHasItsImpulse) {
  const Real dt = 0.01, mass = 2;
  ModelBuilder builder = builderOf({.name = "m", .restitution = 0.5}, dt);
  Body ball = bodyOf("ball", std::make_shared<Sphere>(0.05), {0, 0, 0.055}, mass);
  ball.linearVelocity = {0, 0, -1};
  builder.addBody(ball);
  Simulator simulator(builder.build());
  simulator.step();
  ASSERT_EQ(simulator.contacts().size(), 1u);
  const Real speed = simulator.events()[0].approachSpeed;
  EXPECT_NEAR(impulseOn(simulator, simulator.model().findBody("ball"), dt).z, mass * 1.5 * speed,
              1e-12);
  simulator.step();
  EXPECT_EQ(simulator.contacts().size(), 0u);
}

TEST(EventReadings, ABoxAtRestIsHeldUnderItsCentre) {
  const Real mass = 3;
  ModelBuilder builder = builderOf({.name = "m", .friction = 0.5}, 0.01);
  builder.addBody(bodyOf("box", std::make_shared<Box>(Vec3{0.1, 0.2, 0.05}), {1, 2, 0.05}, mass));
  Simulator simulator(builder.build());
  simulator.step(20);
  ASSERT_EQ(simulator.contacts().size(), 1u);  // a pair has one mean force
  const ContactForce& held = simulator.contacts()[0];
  const Real sign = held.body1 == simulator.model().findBody("box") ? 1 : -1;
  EXPECT_NEAR(held.force.z * sign, mass * kG, 1e-6);
  EXPECT_NEAR(held.normal.z * sign, 1, 1e-12);
  EXPECT_NEAR(held.position.x, 1, 1e-8);
  EXPECT_NEAR(held.position.y, 2, 1e-8);
  EXPECT_NEAR(norm(held.torque), 0, 1e-6);
}

Vec3 readVector(const Simulator& simulator, int sensor) {
  const Real* at = simulator.sensors().data() + simulator.model().startOfSensor(sensor);
  return {at[0], at[1], at[2]};
}

void expectNear(const Vec3& found, const Vec3& expected, Real tolerance) {
  EXPECT_NEAR(found.x, expected.x, tolerance);
  EXPECT_NEAR(found.y, expected.y, tolerance);
  EXPECT_NEAR(found.z, expected.z, tolerance);
}

TEST(EventReadings, SensorsOfABoxInTheAirAndOnTheGround) {
  const Real mass = 3;
  ModelBuilder builder = builderOf({.name = "m", .friction = 0.5}, 0.01);
  builder.addBody(bodyOf("box", std::make_shared<Box>(Vec3{0.1, 0.2, 0.05}), {0, 0, 0.15}, mass));
  Site corner{.name = "corner", .body = "box"};
  corner.pose.translation = {0.1, 0, 0};
  builder.addSite(corner);
  Site under{.name = "under", .body = "box", .halfSize = {0.2, 0.2, 0.2}, .isBox = true};
  builder.addSite(under);
  builder.addSensor({.name = "a", .type = SensorType::Accelerometer, .object = "corner"});
  builder.addSensor({.name = "t", .type = SensorType::Touch, .object = "under"});
  builder.addSensor({.name = "c", .type = SensorType::ContactForce, .object = "box"});
  const Model model = builder.build();
  EXPECT_TRUE(model.unused().empty());
  Simulator simulator(model);
  simulator.setVelocity(simulator.model().findBody("box"), {}, {0, 0, 2});
  simulator.step();
  // Free fall is not felt, but turning is: w^2 r towards the centre.
  expectNear(readVector(simulator, 0), {-4 * 0.1, 0, 0}, 1e-9);
  EXPECT_EQ(readVector(simulator, 2), (Vec3{}));
  simulator.step(100);
  expectNear(readVector(simulator, 0), {0, 0, kG}, 1e-6);
  // Depths of 2.5e-9 m within tolerances of 1e-10 m: over 24 heights up to 2e-6 N off, mostly 1e-8.
  EXPECT_NEAR(readVector(simulator, 1).x, mass * kG, 5e-6);
  expectNear(readVector(simulator, 2), {0, 0, mass * kG}, 5e-6);
}

TEST(EventReadings, SensorsOfADrivenPendulum) {
  const Real mass = 2, length = 0.5, torque = 1.5, angle = 0.4, rate = 3;
  ModelBuilder builder = builderOf({.name = "m"}, 0.001);
  Body bob{.name = "bob"};
  bob.pose.translation = {0, 0, 2};
  bob.joints = {{.name = "hinge", .type = JointType::Revolute, .axis = {0, 1, 0}}};
  bob.massProperties = MassProperties{.mass = mass,
                                      .center = {0, 0, -length},
                                      .inertia = {{{1e-3, 0, 0}, {0, 1e-3, 0}, {0, 0, 1e-3}}}};
  builder.addBody(bob);
  builder.addSite({.name = "top", .body = "bob"});
  builder.addActuator(Actuator::motor("motor", "hinge"));
  builder.addSensor({.name = "f", .type = SensorType::Force, .object = "top"});
  builder.addSensor({.name = "m", .type = SensorType::ActuatorForce, .object = "motor"});
  builder.addSensor({.name = "j", .type = SensorType::JointActuatorForce, .object = "hinge"});
  Simulator simulator(builder.build());
  simulator.setControl(0, torque);
  simulator.setPositions(std::vector<Real>{angle});
  simulator.setVelocities(std::vector<Real>{rate});
  simulator.step(100);
  const Real q = simulator.state().q[0], v = simulator.state().v[0];
  const Real alpha = (torque - mass * kG * length * std::sin(q)) / (1e-3 + mass * length * length);
  // In the axes of the bob: along -z it is pulled up and inwards, along x it is pushed round.
  const Vec3 expected{-mass * (length * alpha + kG * std::sin(q)), 0,
                      mass * (length * v * v + kG * std::cos(q))};
  expectNear(readVector(simulator, 0), expected, 1e-8);
  const auto valueOf = [&](int sensor) {
    return simulator.sensors()[simulator.model().startOfSensor(sensor)];
  };
  EXPECT_NEAR(valueOf(1), torque, 1e-12);
  EXPECT_NEAR(valueOf(2), torque, 1e-12);
}

TEST(EventReadings, AJointAtItsLimitIsPushedBack) {
  ModelBuilder builder = builderOf({.name = "m"}, 0.01);
  Body weight{.name = "weight"};
  weight.joints = {{.name = "slide",
                    .type = JointType::Prismatic,
                    .axis = {0, 0, 1},
                    .lower = -0.01,
                    .upper = 1}};
  weight.massProperties = MassProperties{.mass = 2, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  builder.addBody(weight);
  builder.addSensor({.name = "l", .type = SensorType::JointLimitForce, .object = "slide"});
  Simulator simulator(builder.build());
  simulator.step();
  EXPECT_EQ(simulator.sensors()[0], 0);
  simulator.step(50);
  EXPECT_NEAR(simulator.sensors()[0], 2 * kG, 1e-5);
}

}  // namespace
}  // namespace tangere
