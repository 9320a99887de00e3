// SPDX-License-Identifier: Apache-2.0
//
// Islands at rest fall asleep, cost nothing, and wake when anything that matters changes.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

Scene boxOnFloor() {
  Scene scene;
  scene.bodies = {floorOf(), bodyOf("box", cube(0.1), {0, 0, 0.1})};
  return scene;
}

TEST(Sleeping, ABoxAtRestFallsAsleepAfterTheDurationAndStops) {
  CheckedSimulation run(boxOnFloor());
  run.runFor(0.45);
  EXPECT_FALSE(run.isAsleep("box"));
  run.runFor(0.2);
  EXPECT_TRUE(run.isAsleep("box"));
  EXPECT_EQ(norm(run.velocity("box")), 0);
  const Vec3 place = run.position("box");
  run.runFor(2);
  EXPECT_EQ(run.position("box"), place);
  EXPECT_EQ(run.sim.report().numContacts, 0) << "asleep costs nothing";
  EXPECT_EQ(run.sim.report().numIslands, 0);
}

TEST(Sleeping, CanBeSwitchedOff) {
  Scene scene = boxOnFloor();
  scene.options.sleep.enabled = false;
  CheckedSimulation run(scene);
  run.runFor(2);
  EXPECT_FALSE(run.isAsleep("box"));
}

TEST(Sleeping, ABodyAtTheTopOfItsFlightDoesNotFallAsleep) {
  Scene scene;
  scene.options.gravity = {0, 0, -1e-4};
  scene.bodies = {bodyOf("ball", ball(0.1), {0, 0, 1})};
  CheckedSimulation run(scene);
  run.runFor(2);
  EXPECT_FALSE(run.isAsleep("ball"));
}

TEST(Sleeping, AForceWakesAndMoves) {
  CheckedSimulation run(boxOnFloor());
  run.runFor(1);
  ASSERT_TRUE(run.isAsleep("box"));
  const int body = run.index("box");
  run.sim.applyForce(body, {1000, 0, 0});
  run.step();
  EXPECT_FALSE(run.isAsleep("box"));
  EXPECT_GT(run.velocity("box").x, 0.1);
}

TEST(Sleeping, AVelocityWakes) {
  CheckedSimulation run(boxOnFloor());
  run.runFor(1);
  ASSERT_TRUE(run.isAsleep("box"));
  run.sim.setVelocity(run.index("box"), {1, 0, 0}, {});
  run.step();
  EXPECT_FALSE(run.isAsleep("box"));
  EXPECT_GT(run.position("box").x, 0);
}

TEST(Sleeping, AHitWakes) {
  Scene scene = boxOnFloor();
  scene.bodies.push_back(bodyOf("ball", ball(0.1), {-3, 0, 0.11}));
  scene.bodies[2].linearVelocity = {2, 0, 0};
  CheckedSimulation run(scene);
  run.runFor(1);
  ASSERT_TRUE(run.isAsleep("box"));
  run.runFor(1);
  EXPECT_GT(run.position("box").x, 0.01);
}

TEST(Sleeping, AFallingBodyWakesTheStackItLandsOn) {
  Scene scene;
  scene.bodies = {floorOf()};
  for (int i = 0; i < 4; ++i) {
    scene.bodies.push_back(bodyOf(named("cube", i), cube(0.1), {0, 0, 0.1 + 0.2 * i}));
  }
  scene.bodies.push_back(bodyOf("late", cube(0.1), {0.09, 0, 12}));
  CheckedSimulation run(scene);
  run.runFor(1.3);
  ASSERT_TRUE(run.isAsleep("cube0"));
  ASSERT_TRUE(run.isAsleep("cube3"));
  run.runFor(0.3);
  EXPECT_FALSE(run.isAsleep("cube3"));
  EXPECT_FALSE(run.isAsleep("cube0"));
}

TEST(Sleeping, TakingTheSupportAwayWakes) {
  for (const BodyType type : {BodyType::Fixed, BodyType::Kinematic, BodyType::Dynamic}) {
    Scene scene = boxOnFloor();
    scene.bodies[1].pose.translation.z = 0.5;
    Body table = bodyOf("table", box(0.5, 0.5, 0.2), {0, 0, 0.2});
    table.type = type;
    scene.bodies.push_back(table);
    CheckedSimulation run(scene);
    run.runFor(1);
    ASSERT_TRUE(run.isAsleep("box")) << static_cast<int>(type);
    run.sim.setPose(run.index("table"), {Mat3::identity(), {5, 0, 0.2}});
    run.runFor(0.1);
    EXPECT_FALSE(run.isAsleep("box")) << static_cast<int>(type);
    EXPECT_LT(run.position("box").z, 0.48) << static_cast<int>(type);
  }
}

TEST(Sleeping, TheWholeSleepingStackFallsWhenItsSupportIsTakenAway) {
  for (const bool hasCache : {true, false}) {
    Scene scene;
    scene.options.patchCache.enabled = hasCache;
    scene.bodies = {floorOf(), fixedOf("table", box(0.5, 0.5, 0.2), {0, 0, 1})};
    for (int i = 0; i < 3; ++i)
      scene.bodies.push_back(bodyOf(named("cube", i), cube(0.1), {0, 0, 1.3 + 0.2 * i}));
    CheckedSimulation run(scene);
    run.runFor(1);
    ASSERT_TRUE(run.isAsleep("cube2"));
    run.sim.setPose(run.index("table"), {Mat3::identity(), {5, 0, 1}});
    run.runFor(0.2);
    for (int i = 0; i < 3; ++i) EXPECT_LT(run.position(named("cube", i)).z, 1.2 + 0.2 * i) << i;
  }
}

TEST(Sleeping, ABodyPutIntoASleepingOneWakesIt) {
  Scene scene = boxOnFloor();
  scene.bodies.push_back(fixedOf("wall", cube(0.1), {5, 0, 0.1}));
  CheckedSimulation run(scene);
  run.runFor(1);
  ASSERT_TRUE(run.isAsleep("box"));
  run.sim.setPose(run.index("wall"), {Mat3::identity(), {0.15, 0, 0.1}});
  run.runFor(0.2);
  EXPECT_LT(run.position("box").x, -0.04) << "pushed out of the wall";
}

TEST(Sleeping, AKinematicSupportThatBeginsToMoveCarriesTheSleeperAlong) {
  Scene scene = boxOnFloor();
  scene.bodies[1].pose.translation.z = 0.5;
  Body table = bodyOf("table", box(0.5, 0.5, 0.2), {0, 0, 0.2});
  table.type = BodyType::Kinematic;
  scene.bodies.push_back(table);
  CheckedSimulation run(scene);
  run.runFor(1);
  ASSERT_TRUE(run.isAsleep("box"));
  run.sim.setVelocity(run.index("table"), {0.5, 0, 0}, {});
  run.runFor(1);
  EXPECT_NEAR(run.velocity("box").x, 0.5, 1e-6);
  run.sim.setVelocity(run.index("table"), {0, 0, 1e-5}, {});  // slower than the sleeping speed
  run.runFor(2);
  EXPECT_FALSE(run.isAsleep("box")) << "it must go on rising";
}

TEST(Sleeping, NeighboursThatDoNotTouchDoNotKeepEachOtherAwake) {
  // Turned by 45 degrees: the boxes around them overlap, they do not. They come to rest at
  // different times.
  Scene scene;
  const Mat3 turned = turnAbout({0, 0, 1}, 0.7853981633974483);
  scene.bodies = {floorOf(), bodyOf("a", cube(0.1), {0, 0, 0.1}, turned),
                  bodyOf("b", cube(0.1), {0.16, 0.16, 0.3}, turned)};
  CheckedSimulation run(scene);
  run.runFor(6);
  EXPECT_TRUE(run.isAsleep("a"));
  EXPECT_TRUE(run.isAsleep("b"));
}

TEST(Sleeping, TheEnergyOfFallingAsleepIsBooked) {
  Scene scene = boxOnFloor();
  scene.options.sleep.linearSpeed = 0.5;
  scene.options.sleep.angularSpeed = 5;
  scene.options.sleep.duration = 0.01;
  scene.materials = {{.name = "ice", .friction = 0}};
  scene.bodies[1].shapes[0].material = "ice";
  scene.bodies[1].linearVelocity = {0.4, 0, 0};
  CheckedSimulation run(scene);
  run.run(50);
  EXPECT_TRUE(run.isAsleep("box"));
  const Real mass = run.sim.model().massProperties(run.index("box")).mass;
  EXPECT_NEAR(run.sim.energySum().damping, -0.5 * mass * 0.16, 1e-9);
}

TEST(Sleeping, AThousandSleepersCostNextToNothing) {
  Scene scene;
  scene.bodies = {floorOf()};
  for (int i = 0; i < 1000; ++i) {
    scene.bodies.push_back(
        bodyOf(named("cube", 1000 + i), cube(0.1), {0.5 * (i % 40), 0.5 * (i / 40), 0.1}));
  }
  CheckedSimulation run(scene);
  run.runFor(1);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(run.sim.state().isAsleep[i], 1) << i;
  EXPECT_EQ(run.sim.report().numContacts, 0);
}

}  // namespace
}  // namespace tangere::test
