// SPDX-License-Identifier: Apache-2.0
//
// Every sensor against a number that can be worked out by hand.
#include <tangere/dynamics.hpp>
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

constexpr Real kGravity = 9.81;
constexpr Real kDt = 0.002;

SimulationOptions sapOptions(const Vec3& gravity = {0, 0, -kGravity}) {
  SimulationOptions options;
  options.dt = kDt;
  options.gravity = gravity;
  options.solver = SolverType::Sap;
  return options;
}

Mat3 diagonal(Real x, Real y, Real z) { return {{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

MassProperties ball(Real mass, const Vec3& center, Real inertia = 1e-4) {
  return {.mass = mass, .center = center, .inertia = diagonal(inertia, inertia, inertia)};
}

Body link(const std::string& name, const std::string& parent, const Joint& joint,
          const MassProperties& mass, const Vec3& at = {}) {
  Body body;
  body.name = name;
  body.parent = parent;
  body.joints = {joint};
  body.massProperties = mass;
  body.pose.translation = at;
  return body;
}

Body loose(const std::string& name, const MassProperties& mass, const Vec3& at = {}) {
  Body body;
  body.name = name;
  body.massProperties = mass;
  body.pose.translation = at;
  return body;
}

Joint hinge(const std::string& name) {
  return {.name = name, .type = JointType::Revolute, .axis = {0, 1, 0}};
}

Body ground() {
  Body body;
  body.name = "ground";
  body.type = BodyType::Fixed;
  body.shapes = {{.shape = std::make_shared<Plane>()}};
  return body;
}

Body restingBox(Real mass) {
  Body body = loose("box", ball(mass, {}, mass / 150), {0, 0, 0.1});
  body.shapes = {{.shape = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1})}};
  return body;
}

/// A quarter turn about x: site x, y, z are world x, z, -y.
Transform turnedAt(const Vec3& p) { return {Mat3{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}}, p}; }

void addSensor(ModelBuilder& builder, SensorType type, const std::string& object,
               const std::string& name) {
  builder.addSensor({.name = name, .type = type, .object = object});
}

Real read(const Simulator& sim, int sensor, int entry = 0) {
  return sim.sensors()[sim.model().startOfSensor(sensor) + entry];
}

Vec3 readVector(const Simulator& sim, int sensor) {
  return {read(sim, sensor, 0), read(sim, sensor, 1), read(sim, sensor, 2)};
}

void expectNear(const Vec3& found, const Vec3& expected, Real tolerance) {
  EXPECT_NEAR(found.x, expected.x, tolerance);
  EXPECT_NEAR(found.y, expected.y, tolerance);
  EXPECT_NEAR(found.z, expected.z, tolerance);
}

TEST(Sensors, AJointTellsItsPositionAndVelocity) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(link("a", "", hinge("h"), ball(1, {0, 0, -1})));
  addSensor(builder, SensorType::JointPosition, "h", "position");
  addSensor(builder, SensorType::JointVelocity, "h", "velocity");
  addSensor(builder, SensorType::Clock, "", "clock");
  Simulator sim(builder.build());
  sim.setPositions(std::vector<Real>{0.3});
  sim.setVelocities(std::vector<Real>{-2});
  EXPECT_EQ(read(sim, 0), 0.3);
  EXPECT_EQ(read(sim, 1), -2);
  sim.step(3);
  EXPECT_EQ(read(sim, 0), sim.state().q[0]);
  EXPECT_EQ(read(sim, 1), sim.state().v[0]);
  EXPECT_NEAR(read(sim, 2), 3 * kDt, 1e-15);
  sim.setVelocities(std::vector<Real>{5});
  EXPECT_EQ(read(sim, 1), 5);
}

TEST(Sensors, ABallTellsItsQuaternionAndAngularVelocity) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  Joint joint{.name = "b", .type = JointType::Ball};
  builder.addBody(link("a", "", joint, ball(1, {})));
  addSensor(builder, SensorType::BallQuaternion, "b", "quaternion");
  addSensor(builder, SensorType::BallAngularVelocity, "b", "rate");
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{0, 0, 3});
  sim.step(100);  // 0.6 rad about z
  EXPECT_NEAR(read(sim, 0, 0), std::cos(0.3), 1e-9);
  EXPECT_NEAR(read(sim, 0, 3), std::sin(0.3), 1e-9);
  expectNear(readVector(sim, 1), {0, 0, 3}, 1e-12);
}

TEST(Sensors, ALimitHoldsTheWeightOfAnArm) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Joint joint = hinge("h");
  joint.upper = 0;  // gravity turns an arm along x to positive angles
  builder.addBody(link("arm", "", joint, ball(2, {0.7, 0, 0})));
  addSensor(builder, SensorType::JointLimitForce, "h", "limit");
  Simulator sim(builder.build());
  EXPECT_EQ(read(sim, 0), 0);
  sim.step(500);
  EXPECT_NEAR(read(sim, 0), 2 * kGravity * 0.7, 1e-6);
}

TEST(Sensors, TendonsTellLengthAndRate) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  const Joint slide{.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}};
  builder.addBody(link("cart", "", slide, ball(1, {})));
  builder.addSite({.name = "eye", .body = "cart"});
  builder.addSite({.name = "hook", .body = "", .pose = {Mat3::identity(), {0, 4, 0}}});
  builder.addTendon({.name = "sum", .terms = {{"x", 2.5}}});
  builder.addTendon({.name = "rope", .path = {{.site = "hook"}, {.site = "eye"}}});
  addSensor(builder, SensorType::TendonPosition, "sum", "a");
  addSensor(builder, SensorType::TendonVelocity, "sum", "b");
  addSensor(builder, SensorType::TendonPosition, "rope", "c");
  addSensor(builder, SensorType::TendonVelocity, "rope", "d");
  Simulator sim(builder.build());
  sim.setPositions(std::vector<Real>{3});
  sim.setVelocities(std::vector<Real>{2});
  EXPECT_NEAR(read(sim, 0), 7.5, 1e-12);
  EXPECT_NEAR(read(sim, 1), 5, 1e-12);
  EXPECT_NEAR(read(sim, 2), 5, 1e-12);  // 3, 4, 5
  EXPECT_NEAR(read(sim, 3), 2 * 3 / 5.0, 1e-12);
}

TEST(Sensors, ActuatorsTellLengthRateAndForce) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  const Joint slide{.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}};
  builder.addBody(link("cart", "", slide, ball(1, {})));
  builder.addTendon({.name = "sum", .terms = {{"x", 2}}});
  builder.addActuator(Actuator::motor("push", "x", 3));
  Actuator pull = Actuator::motor("pull", "sum", 5);
  pull.target = Actuator::Target::Tendon;
  builder.addActuator(pull);
  addSensor(builder, SensorType::ActuatorPosition, "push", "a");
  addSensor(builder, SensorType::ActuatorVelocity, "pull", "b");
  addSensor(builder, SensorType::ActuatorForce, "push", "c");
  addSensor(builder, SensorType::JointActuatorForce, "x", "d");
  Simulator sim(builder.build());
  sim.setControls(std::vector<Real>{0.5, -0.1});
  sim.step();
  // 3 * 0.5 - 2 * 5 * 0.1 newtons on one kilogram.
  EXPECT_NEAR(sim.state().v[0], 0.5 * kDt, 1e-12);
  EXPECT_NEAR(read(sim, 0), 3 * sim.state().q[0], 1e-15);
  EXPECT_NEAR(read(sim, 1), 10 * sim.state().v[0], 1e-15);
  EXPECT_NEAR(read(sim, 2), 0.5, 1e-12);
  EXPECT_NEAR(read(sim, 3), 0.5, 1e-12);
}

TEST(Sensors, AnAccelerometerFeelsNothingInFreeFallAndGravityAtRest) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ground());
  builder.addBody(restingBox(2));
  builder.addBody(loose("falling", ball(1, {0.1, 0, 0}), {3, 0, 50}));
  builder.addSite({.name = "boxed", .body = "box", .pose = turnedAt({0, 0.05, 0})});
  builder.addSite({.name = "fallen", .body = "falling", .pose = turnedAt({})});
  builder.addSite({.name = "fixed", .body = "ground"});
  addSensor(builder, SensorType::Accelerometer, "fallen", "a");
  addSensor(builder, SensorType::Accelerometer, "boxed", "b");
  addSensor(builder, SensorType::Accelerometer, "fixed", "c");
  Simulator sim(builder.build());
  expectNear(readVector(sim, 1), {}, 0);  // no step yet
  sim.step(500);
  expectNear(readVector(sim, 0), {}, 1e-11);
  expectNear(readVector(sim, 1), {0, kGravity, 0}, 1e-6);  // world z is y of the site
  expectNear(readVector(sim, 2), {0, 0, kGravity}, 1e-12);
}

TEST(Sensors, AnAccelerometerOnAPendulumFeelsTheCentripetalForce) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(link("bob", "", hinge("h"), ball(1, {0, 0, -1})));
  builder.addSite({.name = "imu", .body = "bob", .pose = {Mat3::identity(), {0, 0, -Real(1)}}});
  addSensor(builder, SensorType::Accelerometer, "imu", "a");
  builder.addSensor({.name = "b", .type = SensorType::FrameLinearAcceleration, .object = "imu"});
  builder.addSensor({.name = "c", .type = SensorType::FrameAngularAcceleration, .object = "imu"});
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{3});
  sim.step();  // in the lowest place nothing changes the rate
  expectNear(readVector(sim, 0), {0, 0, kGravity + 9}, 1e-9);
  expectNear(readVector(sim, 1), {0, 0, 9}, 1e-9);
  expectNear(readVector(sim, 2), {}, 1e-9);
  sim.reset();
  sim.setPositions(std::vector<Real>{M_PI / 2});  // the arm along -x: rate' = -g m l / I
  sim.step();
  const Real rate = -kGravity / (1 + 1e-4);
  expectNear(readVector(sim, 2), {0, rate, 0}, 1e-9);
  expectNear(readVector(sim, 1), {0, 0, rate}, 1e-9);  // y x (-x) = z
}

TEST(Sensors, GyroVelocimeterAndMagnetometerSpeakTheAxesOfTheirSite) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  Body body = loose("b", ball(1, {0.2, 0, 0}));
  body.angularVelocity = {0, 0, 3};
  builder.addBody(body);
  builder.addSite({.name = "s", .body = "b", .pose = turnedAt({1, 0, 0})});
  addSensor(builder, SensorType::Gyro, "s", "a");
  addSensor(builder, SensorType::Velocimeter, "s", "b");
  addSensor(builder, SensorType::Magnetometer, "s", "c");
  Simulator sim(builder.build());
  expectNear(readVector(sim, 0), {0, 3, 0}, 1e-12);
  expectNear(readVector(sim, 1), {0, 0, -3}, 1e-12);
  expectNear(readVector(sim, 2), {0, 0, 0.5}, 1e-12);
}

/// An arm of 2 kg on a hinge at the origin, centre at 0.5 m, its tip at 1 m, and a force-torque
/// sensor at the hinge.
void addArm(ModelBuilder& builder, const Joint& joint = hinge("h")) {
  builder.addBody(link("arm", "", joint, ball(2, {0.5, 0, 0})));
  builder.addSite({.name = "root", .body = "arm"});
  addSensor(builder, SensorType::Force, "root", "force");
  addSensor(builder, SensorType::Torque, "root", "torque");
}

TEST(Sensors, AForceSensorReadsTheWeightOfWhatHangsBelow) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Joint joint = hinge("h");
  joint.upper = 0;
  addArm(builder, joint);
  Body hand = loose("hand", ball(3, {0.5, 0, 0}), {1, 0, 0});
  hand.parent = "arm";  // welded
  builder.addBody(hand);
  builder.addSite({.name = "wrist", .body = "hand", .pose = turnedAt({})});
  addSensor(builder, SensorType::Force, "wrist", "wristForce");
  addSensor(builder, SensorType::Torque, "wrist", "wristTorque");
  Simulator sim(builder.build());
  expectNear(readVector(sim, 0), {}, 0);
  sim.step(500);
  // What the parent does to the child: up, and against the moments 2 * 0.5 + 3 * 1.5.
  // The limit gives way by 1e-7: seen from the arm the weight leans by that much.
  const Real lean = sim.state().q[0];
  EXPECT_LT(std::fabs(lean), 2e-7);
  expectNear(readVector(sim, 0), {-5 * kGravity * lean, 0, 5 * kGravity}, 1e-8);
  expectNear(readVector(sim, 1), {0, -5.5 * kGravity, 0}, 1e-6);
  expectNear(readVector(sim, 2), {-3 * kGravity * lean, 3 * kGravity, 0}, 1e-8);
  expectNear(readVector(sim, 3), {0, 0, 1.5 * kGravity}, 1e-6);  // -y of the world
  sim.reset();
  expectNear(readVector(sim, 0), {}, 0);
}

TEST(Sensors, AForceSensorKnowsWhatElseCarriesTheArm) {
  // The tip carries one half of 2 kg, whatever holds it; no torque about the hinge is left.
  enum class Holder { Equality, Distance, Tendon, Contact, Applied, SiteDrive };
  for (const Holder holder : {Holder::Equality, Holder::Distance, Holder::Tendon, Holder::Contact,
                              Holder::Applied, Holder::SiteDrive}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions());
    addArm(builder);
    builder.addSite({.name = "tip", .body = "arm", .pose = {Mat3::identity(), {1, 0, 0}}});
    builder.addSite({.name = "hook", .body = "", .pose = {Mat3::identity(), {1, 0, 2}}});
    switch (holder) {
      case Holder::Equality:
        // To a cart, because the hinge alone already holds the tip along x.
        builder.addBody(link("cart", "",
                             {.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}},
                             ball(1, {}), {1, 0, 0}));
        builder.addEquality({.name = "e", .first = "arm", .second = "cart", .anchor = {1, 0, 0}});
        break;
      case Holder::Distance:
        builder.addEquality({.name = "e",
                             .type = Equality::Type::Distance,
                             .first = "arm",
                             .second = "",
                             .anchor = {1, 0, 0},
                             .anchor2 = {1, 0, 2},
                             .hasRelativePose = true,
                             .distance = 2});
        break;
      case Holder::Tendon:
        builder.addTendon(
            {.name = "rope", .path = {{.site = "hook"}, {.site = "tip"}}, .upper = 2});
        break;
      case Holder::Contact: {
        builder.addMaterial({.name = "default", .friction = 0});  // no force along x
        Body post = ground();
        post.pose.translation = {0, 0, -0.1};
        builder.addBody(post);
        Body foot = loose("foot", ball(1e-9, {}, 1e-9), {1, 0, 0});
        foot.shapes = {{.shape = std::make_shared<Sphere>(0.1)}};
        foot.parent = "arm";
        builder.addBody(foot);
        break;
      }
      case Holder::Applied:
        break;
      case Holder::SiteDrive: {
        Actuator lift = Actuator::motor("lift", "tip");
        lift.target = Actuator::Target::Site;
        lift.gear = {0, 0, 1, 0, 0, 0};
        builder.addActuator(lift);
        break;
      }
    }
    Simulator sim(builder.build());
    if (holder == Holder::SiteDrive) sim.setControl(0, kGravity);
    for (int i = 0; i < 500; ++i) {
      // A force of g at the tip, as one at the centre and its moment.
      if (holder == Holder::Applied)
        sim.applyForce(sim.model().findBody("arm"), {0, 0, kGravity}, {0, -kGravity / 2, 0});
      ASSERT_EQ(sim.step().status, StepStatus::Ok);
    }
    SCOPED_TRACE(static_cast<int>(holder));
    expectNear(readVector(sim, 0), {0, 0, kGravity}, 1e-5);
    expectNear(readVector(sim, 1), {}, 1e-5);
  }
}

TEST(Sensors, AFreeHingeTransmitsNoTorqueAboutItsAxis) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Body upper = link("arm", "", hinge("h"), ball(2, {0.5, 0, 0}, 0.02));
  upper.linearDamping = 0.7;
  upper.angularDamping = 0.4;
  builder.addBody(upper);
  builder.addBody(link("fore", "arm", hinge("e"), ball(1, {0.3, 0, 0.1}, 0.01), {1, 0, 0}));
  builder.addSite({.name = "root", .body = "arm"});
  builder.addSite({.name = "elbow", .body = "fore"});
  addSensor(builder, SensorType::Torque, "root", "a");
  addSensor(builder, SensorType::Torque, "elbow", "b");
  addSensor(builder, SensorType::Force, "elbow", "c");
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{4, -7});
  for (int i = 0; i < 200; ++i) {
    sim.step();
    ASSERT_NEAR(read(sim, 0, 1), 0, 1e-9);
    ASSERT_NEAR(read(sim, 1, 1), 0, 1e-9);
  }
  EXPECT_GT(norm(readVector(sim, 2)), 1);
}

TEST(Sensors, AJointTransmitsWhatItsDriveSpringAndDampingDo) {
  for (const JointStep step : {JointStep::BackwardEuler, JointStep::Midpoint}) {
    ModelBuilder builder;
    SimulationOptions options = sapOptions();
    options.jointStep = step;
    builder.setOptions(options);
    Joint joint = hinge("h");
    joint.stiffness = 3;
    joint.springReference = 0.2;
    joint.damping = 0.5;
    joint.armature = 0.1;
    addArm(builder, joint);
    builder.addActuator(Actuator::position("servo", "h", 40, 2));
    Simulator sim(builder.build());
    sim.setControl(0, -0.4);
    for (int i = 0; i < 100; ++i) {
      const Real q0 = sim.state().q[0], v0 = sim.state().v[0];
      // Damping of joint and drive over what they brake.
      const Real x = kDt * (0.5 + 2) / massMatrix(sim.model(), sim.state())[0];
      sim.step();
      // At the end of the step, or means over it; the armature needs its share before the arm gets
      // any.
      Real q = sim.state().q[0], v = sim.state().v[0];
      const Real armature = 0.1 * (v - v0) / kDt;
      if (step == JointStep::Midpoint) {
        q = q0 + kDt / 4 * (v - v0);
        v = v0 + (3 + x) / (6 + x) * (v - v0);
      }
      const Real expected = sim.actuatorForces()[0] - 3 * (q - 0.2) - 0.5 * v - armature;
      ASSERT_NEAR(sim.actuatorForces()[0], 40 * (-0.4 - q) - 2 * v, 1e-9);
      ASSERT_NEAR(read(sim, 1, 1), expected, 1e-9);
    }
  }
}

TEST(Sensors, AFloatingBaseIsHeldByNothing) {
  // A box that carries a leg stands on the ground: contacts hold all its weight.
  for (const Real accuracy : {Real(0), Real(1e-6)}) {
    ModelBuilder builder;
    SimulationOptions options = sapOptions();
    options.accuracy = accuracy;
    builder.setOptions(options);
    builder.addBody(ground());
    builder.addBody(restingBox(2));
    Joint knee = hinge("knee");
    knee.frictionLoss = 5;
    builder.addBody(link("leg", "box", knee, ball(1, {0, 0, 0.2}), {0, 0, 0.1}));
    builder.addSite({.name = "base", .body = "box", .pose = turnedAt({0, 0, 0.1})});
    builder.addSite({.name = "knee", .body = "leg"});
    addSensor(builder, SensorType::Force, "base", "a");
    addSensor(builder, SensorType::Torque, "base", "b");
    addSensor(builder, SensorType::Force, "knee", "c");
    addSensor(builder, SensorType::Accelerometer, "base", "d");
    addSensor(builder, SensorType::ContactForce, "box", "e");
    Simulator sim(builder.build());
    sim.step(500);
    expectNear(readVector(sim, 0), {}, 1e-5);
    expectNear(readVector(sim, 1), {}, 1e-5);
    expectNear(readVector(sim, 2), {0, 0, kGravity}, 1e-5);
    expectNear(readVector(sim, 3), {0, kGravity, 0}, 1e-5);
    expectNear(readVector(sim, 4), {0, 0, 3 * kGravity}, 1e-5);
  }
}

TEST(Sensors, AFloatingBaseIsHeldByNothingHoweverItTumblesAndFalls) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.sap.relativeTolerance = 1e-13;  // what the solver leaves would look like a force
  builder.setOptions(options);
  builder.addBody(ground());
  Body base = restingBox(2);
  base.massProperties->inertia = diagonal(0.01, 0.03, 0.02);
  base.pose.translation = {0, 0, 0.3};
  builder.addBody(base);
  builder.addBody(link("leg", "box", hinge("knee"), ball(1, {0.1, 0, 0.2}), {0, 0, 0.1}));
  Joint shoulder{.name = "shoulder", .type = JointType::Ball, .position = {0, 0.1, 0}};
  builder.addBody(link("arm", "box", shoulder, ball(0.5, {0, 0.3, 0}, 0.01), {0, 0.1, 0}));
  builder.addSite({.name = "base", .body = "box", .pose = turnedAt({0, 0, 0.1})});
  addSensor(builder, SensorType::Force, "base", "a");
  addSensor(builder, SensorType::Torque, "base", "b");
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{0.3, 0, 0, 4, -3, 6, -2, 1, 2, 3});
  Real strongest = 0;
  for (int i = 0; i < 500; ++i) {
    sim.step();
    for (const ContactForce& contact : sim.contacts())
      strongest = std::max(strongest, norm(contact.force));
    ASSERT_LT(norm(readVector(sim, 0)), 1e-9 * std::max<Real>(strongest, 1)) << i;
    ASSERT_LT(norm(readVector(sim, 1)), 1e-9 * std::max<Real>(strongest, 1)) << i;
  }
  EXPECT_GT(strongest, 50);  // it did hit the ground
}

TEST(Sensors, AFixedBodyReadsWhatStandsOnIt) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ground());
  builder.addBody(restingBox(2));
  Body post = loose("post", ball(1, {}), {3, 0, 1});
  post.type = BodyType::Fixed;
  builder.addBody(post);
  Joint joint = hinge("h");
  joint.upper = 0;
  builder.addBody(link("arm", "post", joint, ball(4, {0.5, 0, 0})));
  builder.addSite({.name = "floor", .body = "ground"});
  builder.addSite({.name = "foot", .body = "post"});
  addSensor(builder, SensorType::Force, "floor", "a");
  addSensor(builder, SensorType::Force, "foot", "b");
  addSensor(builder, SensorType::Torque, "foot", "c");
  Simulator sim(builder.build());
  sim.step(500);
  expectNear(readVector(sim, 0), {0, 0, 2 * kGravity}, 1e-5);
  expectNear(readVector(sim, 1), {0, 0, 4 * kGravity}, 1e-5);
  expectNear(readVector(sim, 2), {0, -2 * kGravity, 0}, 1e-5);
}

TEST(Sensors, TouchFeelsTheContactsInsideItsSite) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ground());
  builder.addBody(restingBox(2));
  const Transform bottom{Mat3::identity(), {0, 0, -0.1}};
  const Transform right{Mat3::identity(), {0.1, 0, -0.1}};
  builder.addSite({.name = "all", .body = "box", .pose = bottom, .halfSize = {0.2, 0.2, 0.01}});
  builder.addSite({.name = "corner",  // of the ellipsoid: it reaches to 0.1 along each axis alone
                   .body = "box",
                   .pose = bottom,
                   .halfSize = {0.11, 0.11, 0.01}});
  builder.addSite(
      {.name = "side", .body = "box", .pose = right, .halfSize = {0.02, 0.2, 0.02}, .isBox = true});
  builder.addSite({.name = "whole",
                   .body = "box",
                   .pose = bottom,
                   .halfSize = {0.11, 0.11, 0.01},
                   .isBox = true});
  builder.addSite({.name = "floor", .body = "ground", .halfSize = {9, 9, 9}});
  for (const char* site : {"all", "corner", "side", "whole", "floor"})
    addSensor(builder, SensorType::Touch, site, site);
  Simulator sim(builder.build());
  EXPECT_EQ(read(sim, 0), 0);
  sim.step(500);
  EXPECT_NEAR(read(sim, 0), 2 * kGravity, 1e-6);
  EXPECT_EQ(read(sim, 1), 0);
  EXPECT_NEAR(read(sim, 2), kGravity, 1e-5);  // two of four corners
  EXPECT_NEAR(read(sim, 3), 2 * kGravity, 1e-6);
  EXPECT_NEAR(read(sim, 4), 2 * kGravity, 1e-6);  // the floor feels the same
}

TEST(Sensors, ContactForceIsTheOneOnTheBody) {
  for (const Real accuracy : {Real(0), Real(1e-6)}) {
    ModelBuilder builder;
    SimulationOptions options = sapOptions();
    options.accuracy = accuracy;
    builder.setOptions(options);
    builder.addBody(ground());
    builder.addBody(restingBox(2));
    addSensor(builder, SensorType::ContactForce, "box", "a");
    addSensor(builder, SensorType::ContactForce, "ground", "b");
    builder.addSensor(
        {.name = "c", .type = SensorType::ContactForce, .object = "box", .cutoff = 5});
    Simulator sim(builder.build());
    sim.step(500);
    expectNear(readVector(sim, 0), {0, 0, 2 * kGravity}, 1e-5);
    expectNear(readVector(sim, 1), {0, 0, -2 * kGravity}, 1e-5);
    expectNear(readVector(sim, 2), {0, 0, 5}, 1e-5);
  }
}

TEST(Sensors, FramesAreSeenFromTheirReference) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  Body wheel = loose("wheel", ball(1, {}));
  wheel.angularVelocity = {0, 0, 2};
  builder.addBody(wheel);
  builder.addBody(loose("still", ball(1, {0.25, 0, 0}), {1, 0, 0}));
  const auto add = [&](SensorType type, Sensor::Frame frame) {
    const std::string name = std::to_string(static_cast<int>(type) * 10 + static_cast<int>(frame));
    builder.addSensor({.name = name,
                       .type = type,
                       .object = "still",
                       .objectFrame = frame,
                       .reference = "wheel",
                       .referenceFrame = Sensor::Frame::Body,
                       .cutoff = 100});
  };
  add(SensorType::FramePosition, Sensor::Frame::Body);
  add(SensorType::FramePosition, Sensor::Frame::InertiaFrame);
  add(SensorType::FrameQuaternion, Sensor::Frame::Body);
  add(SensorType::FrameXAxis, Sensor::Frame::Body);
  add(SensorType::FrameYAxis, Sensor::Frame::Body);
  add(SensorType::FrameZAxis, Sensor::Frame::Body);
  add(SensorType::FrameLinearVelocity, Sensor::Frame::Body);
  add(SensorType::FrameAngularVelocity, Sensor::Frame::Body);
  add(SensorType::FrameLinearAcceleration, Sensor::Frame::Body);
  add(SensorType::FrameAngularAcceleration, Sensor::Frame::Body);
  builder.addSensor({.name = "world",
                     .type = SensorType::FramePosition,
                     .object = "still",
                     .objectFrame = Sensor::Frame::InertiaFrame});
  Simulator sim(builder.build());
  sim.step();
  const Real c = std::cos(2 * kDt), s = std::sin(2 * kDt);  // the wheel turned by that
  expectNear(readVector(sim, 0), {c, -s, 0}, 1e-12);
  expectNear(readVector(sim, 1), {1.25 * c, -1.25 * s, 0}, 1e-12);
  EXPECT_NEAR(read(sim, 2, 0), std::cos(kDt), 1e-12);
  EXPECT_NEAR(read(sim, 2, 3), -std::sin(kDt), 1e-12);
  expectNear(readVector(sim, 3), {c, -s, 0}, 1e-12);
  expectNear(readVector(sim, 4), {s, c, 0}, 1e-12);
  expectNear(readVector(sim, 5), {0, 0, 1}, 1e-12);
  expectNear(readVector(sim, 6), {-2 * s, -2 * c, 0}, 1e-12);
  expectNear(readVector(sim, 7), {0, 0, -2}, 1e-12);
  // Seen from the wheel it circles: towards the centre by 2^2 * 1.
  expectNear(readVector(sim, 8), {-4, 0, 0}, 1e-9);
  expectNear(readVector(sim, 9), {}, 1e-9);
  expectNear(readVector(sim, 10), {1.25, 0, 0}, 1e-12);
}

TEST(Sensors, ASubtreeHasACentreAVelocityAndAMomentum) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  builder.addBody(link("a", "", hinge("h"), ball(1, {}, 0.1)));
  Body b = loose("b", ball(3, {}, 0.2), {1, 0, 0});
  b.parent = "a";
  builder.addBody(b);
  for (const char* body : {"a", "b"}) {
    const std::string name = body;
    addSensor(builder, SensorType::SubtreeCenter, body, name + "1");
    addSensor(builder, SensorType::SubtreeLinearVelocity, body, name + "2");
    addSensor(builder, SensorType::SubtreeAngularMomentum, body, name + "3");
  }
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{2});
  expectNear(readVector(sim, 0), {0.75, 0, 0}, 1e-12);
  expectNear(readVector(sim, 1), {0, 0, -1.5}, 1e-12);  // y x 0.75 x = -0.75 z, times 2
  // The reduced mass 1 * 3 / 4 at one metre, and both inertias.
  expectNear(readVector(sim, 2), {0, 2 * (0.75 + 0.3), 0}, 1e-12);
  expectNear(readVector(sim, 3), {1, 0, 0}, 1e-12);
  expectNear(readVector(sim, 4), {0, 0, -2}, 1e-12);
  expectNear(readVector(sim, 5), {0, 0.4, 0}, 1e-12);
}

TEST(Sensors, AModelWithoutSensorsHasNoReadings) {
  ModelBuilder builder;
  builder.addBody(restingBox(1));
  Simulator sim(builder.build());
  sim.step();
  EXPECT_TRUE(sim.sensors().empty());
}

}  // namespace
}  // namespace tangere
