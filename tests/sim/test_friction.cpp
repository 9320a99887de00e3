// SPDX-License-Identifier: Apache-2.0
//
// Coulomb's disk, torsion and rolling, and moving supports.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

/// A box on a plane tilted by `angle` about y, so that downhill is +x of the plane.
Scene incline(Real angle, Real friction) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .friction = friction}};
  const Mat3 R = turnAbout({0, 1, 0}, angle);
  scene.bodies = {fixedOf("floor", std::make_shared<Plane>(), {}, R, "m"),
                  bodyOf("box", box(0.2, 0.2, 0.1), R * Vec3{0, 0, 0.1}, R, "m")};
  return scene;
}

TEST(Friction, ABoxOnASlopeHoldsBelowTheAngleOfFrictionAndSlidesAboveIt) {
  for (const Real mu : {0.1, 0.5, 0.9}) {
    const Real limit = std::atan(mu);
    {
      CheckedSimulation run(incline(limit * 0.99, mu));
      run.run(2000);
      EXPECT_LT(norm(run.velocity("box")), 1e-8) << mu;
    }
    {
      const Real angle = limit * 1.02;
      CheckedSimulation run(incline(angle, mu));
      run.run(500);
      const Real a = kGravity * (std::sin(angle) - mu * std::cos(angle));
      EXPECT_NEAR(norm(run.velocity("box")), a * 1.0, 1e-6) << mu;
    }
  }
}

TEST(Friction, ASlidingBoxBrakesAtMuGAndStops) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .friction = 0.4}};
  scene.bodies = {floorOf("m"),
                  bodyOf("box", box(0.5, 0.5, 0.05), {0, 0, 0.05}, Mat3::identity(), "m")};
  scene.bodies[1].linearVelocity = {3, 4, 0};
  CheckedSimulation run(scene);
  run.runFor(0.5);
  const Vec3 v = run.velocity("box");
  EXPECT_NEAR(norm(v), 5 - 0.4 * kGravity * 0.5, 1e-6);
  EXPECT_NEAR(v.x / v.y, 0.75, 1e-9) << "straight on: the friction bound is a disk";
  run.runFor(1.5);
  EXPECT_LT(norm(run.velocity("box")), 1e-9);
  const Real distance = 25 / (2 * 0.4 * kGravity);
  EXPECT_NEAR(norm(run.position("box") - Vec3{0, 0, 0.05}), distance, 0.01 * distance);
}

TEST(Friction, CombinesAsTheGeometricMeanUnlessThePairSaysOtherwise) {
  for (const bool hasPair : {false, true}) {
    Scene scene;
    scene.options.sleep.enabled = false;
    scene.materials = {{.name = "a", .friction = 0.9}, {.name = "b", .friction = 0.1}};
    if (hasPair) scene.pairs = {{.material1 = "b", .material2 = "a", .friction = 0.05}};
    scene.bodies = {floorOf("a"),
                    bodyOf("box", box(0.5, 0.5, 0.05), {0, 0, 0.05}, Mat3::identity(), "b")};
    scene.bodies[1].linearVelocity = {5, 0, 0};
    CheckedSimulation run(scene);
    run.runFor(1);
    const Real mu = hasPair ? 0.05 : 0.3;
    EXPECT_NEAR(run.velocity("box").x, 5 - mu * kGravity, 1e-6);
  }
}

TEST(Friction, NoFrictionStaysNoFrictionAgainstAnything) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "ice", .friction = 0}, {.name = "rubber", .friction = 900}};
  scene.bodies = {floorOf("rubber"),
                  bodyOf("box", cube(0.1), {0, 0, 0.1}, Mat3::identity(), "ice")};
  scene.bodies[1].linearVelocity = {1, 0, 0};
  CheckedSimulation run(scene);
  run.run(1000);
  EXPECT_NEAR(run.velocity("box").x, 1, 1e-12);
}

TEST(Friction, TinyBodiesAreHeldToo) {
  // 6 micrograms: impulses far below 1e-6 N s must still be bounded by the disk, and hold.
  Scene scene = incline(0.3, 0.5);
  scene.options.impulse.slop = 1e-7;
  const Mat3 R = scene.bodies[0].pose.rotation;
  scene.bodies[1] = bodyOf("box", cube(1e-4), R * Vec3{0, 0, 1e-4}, R, "m");
  {
    CheckedSimulation run(scene);
    run.run(1000);
    EXPECT_LT(norm(run.velocity("box")), 1e-6);
  }
  scene.materials[0].friction = 0.1;
  CheckedSimulation run(scene);
  run.run(100);
  const Real a = kGravity * (std::sin(0.3) - 0.1 * std::cos(0.3));
  EXPECT_NEAR(norm(run.velocity("box")), a * 0.2, 1e-3 * a);
}

TEST(Friction, ABallThatSlidesEndsRollingAtFiveSeventhsOfItsSpeed) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .friction = 0.3}};
  scene.bodies = {floorOf("m"), bodyOf("ball", ball(0.2), {0, 0, 0.2}, Mat3::identity(), "m")};
  scene.bodies[1].linearVelocity = {7, 0, 0};
  CheckedSimulation run(scene);
  run.runFor(2);
  EXPECT_NEAR(run.velocity("ball").x, 5, 5e-3);
  EXPECT_NEAR(run.spin("ball").y, 25, 5e-2);
  const Real rolling = run.velocity("ball").x;
  run.runFor(2);
  EXPECT_NEAR(run.velocity("ball").x, rolling, 1e-6) << "nothing brakes a rolling ball";
}

TEST(Friction, TorsionStopsASpinningBallInItsTime) {
  Scene scene;
  scene.options.sleep.enabled = false;
  const Real radius = 0.1, torsion = 0.01, w = 20;
  scene.materials = {{.name = "m", .friction = 0.5, .torsionalFriction = torsion}};
  scene.bodies = {floorOf("m"),
                  bodyOf("ball", ball(radius), {0, 0, radius}, Mat3::identity(), "m")};
  scene.bodies[1].angularVelocity = {0, 0, w};
  CheckedSimulation run(scene);
  // I dw/dt = torsion m g, I = 2/5 m r^2
  const Real brake = torsion * kGravity / (0.4 * radius * radius);
  const Real stop = w / brake;
  run.runFor(stop / 2);
  EXPECT_NEAR(run.spin("ball").z, w / 2, w * 0.01);
  run.runFor(stop / 2 + 0.02);
  EXPECT_LT(norm(run.spin("ball")), 1e-6);
  EXPECT_LT(norm(run.velocity("ball")), 1e-6);
}

TEST(Friction, RollingFrictionStopsARollingBallInItsDistance) {
  Scene scene;
  scene.options.sleep.enabled = false;
  const Real radius = 0.1, rolling = 0.005, v = 2;
  scene.materials = {{.name = "m", .friction = 0.8, .rollingFriction = rolling}};
  scene.bodies = {floorOf("m"),
                  bodyOf("ball", ball(radius), {0, 0, radius}, Mat3::identity(), "m")};
  scene.bodies[1].linearVelocity = {v, 0, 0};
  scene.bodies[1].angularVelocity = {0, v / radius, 0};
  CheckedSimulation run(scene);
  // Rolling without slip: a = (rolling g / r) / (1 + 2/5)
  const Real brake = rolling * kGravity / radius / 1.4;
  run.runFor(v / brake / 2);
  EXPECT_NEAR(run.velocity("ball").x, v / 2, 0.01 * v);
  run.runFor(v / brake / 2 + 0.1);
  EXPECT_LT(norm(run.velocity("ball")), 1e-6);
  EXPECT_NEAR(run.position("ball").x, v * v / (2 * brake), 0.01 * v * v / (2 * brake));
}

TEST(Friction, WithoutTorsionABallSpinsOn) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.bodies = {floorOf(), bodyOf("ball", ball(0.1), {0, 0, 0.1})};
  scene.bodies[1].angularVelocity = {0, 0, 5};
  CheckedSimulation run(scene);
  run.run(1000);
  EXPECT_NEAR(run.spin("ball").z, 5, 1e-9);
}

TEST(Kinematic, AConveyorCarriesABoxAndItsWorkIsBooked) {
  Scene scene;
  scene.options.sleep.enabled = false;
  Body belt = bodyOf("belt", box(50, 1, 0.1), {0, 0, -0.1});
  belt.type = BodyType::Kinematic;
  belt.linearVelocity = {2, 0, 0};
  scene.bodies = {belt, bodyOf("box", cube(0.2), {0, 0, 0.2})};
  CheckedSimulation run(scene);
  run.runFor(2);
  EXPECT_NEAR(run.velocity("box").x, 2, 1e-9);
  const Real kinetic = 0.5 * run.sim.model().massProperties(run.index("box")).mass * 4;
  // The belt gives twice what the box keeps: the rest is heat.
  EXPECT_NEAR(run.sim.energySum().kinematic, 2 * kinetic, 1e-3 * kinetic);
  EXPECT_NEAR(run.sim.energySum().contactFriction, -kinetic, 2e-3 * kinetic);
  EXPECT_EQ(run.velocity("belt").x, 2);
  EXPECT_NEAR(run.position("belt").x, 4, 1e-12);
}

TEST(Kinematic, ALiftRaisesABoxByItsWork) {
  Scene scene;
  scene.options.sleep.enabled = false;
  Body lift = bodyOf("lift", box(1, 1, 0.1), {0, 0, -0.1});
  lift.type = BodyType::Kinematic;
  lift.linearVelocity = {0, 0, 0.5};
  scene.bodies = {lift, bodyOf("box", cube(0.2), {0, 0, 0.2})};
  CheckedSimulation run(scene);
  run.runFor(4);
  EXPECT_NEAR(run.position("box").z, 2.2, 1e-3);
  const Real mass = run.sim.model().massProperties(run.index("box")).mass;
  EXPECT_NEAR(run.sim.energySum().kinematic, mass * kGravity * 2 + mass * 0.25, 0.05 * mass);
}

TEST(Kinematic, ATurntableTakesABallWithTorsionAlongAndTheLedgerCloses) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.materials = {
      {.name = "m", .friction = 0.5, .torsionalFriction = 0.02, .rollingFriction = 0.01}};
  Body table =
      bodyOf("table", std::make_shared<Cylinder>(1.0, 0.05), {0, 0, -0.05}, Mat3::identity(), "m");
  table.type = BodyType::Kinematic;
  table.angularVelocity = {0, 0, 3};
  scene.bodies = {table, bodyOf("ball", ball(0.1), {0, 0, 0.1}, Mat3::identity(), "m"),
                  bodyOf("box", cube(0.1), {0.4, 0, 0.1}, Mat3::identity(), "m")};
  scene.bodies[2].linearVelocity = {0, 1.2, 0};
  scene.bodies[2].angularVelocity = {0, 0, 3};
  CheckedSimulation run(scene);
  run.runFor(2);
  EXPECT_NEAR(run.spin("ball").z, 3, 1e-3);
  EXPECT_NEAR(run.spin("box").z, 3, 1e-3);
  EXPECT_NEAR(std::hypot(run.position("box").x, run.position("box").y), 0.4, 1e-2);
}

TEST(Kinematic, ABatHitsABallAtTwiceItsSpeed) {
  Scene scene;
  scene.options.gravity = {};
  scene.materials = {{.name = "m", .friction = 0, .restitution = 1}};
  Body bat = bodyOf("bat", cube(0.2), {0, 0, 0}, Mat3::identity(), "m");
  bat.type = BodyType::Kinematic;
  bat.linearVelocity = {3, 0, 0};
  scene.bodies = {bat, bodyOf("ball", ball(0.05), {1, 0, 0}, Mat3::identity(), "m")};
  CheckedSimulation run(scene);
  run.runFor(1);
  EXPECT_NEAR(run.velocity("ball").x, 6, 1e-9);
  EXPECT_NEAR(run.sim.energySum().kinematic, run.sim.energySum().kinetic, 1e-9);
}

}  // namespace
}  // namespace tangere::test
