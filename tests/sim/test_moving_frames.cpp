// SPDX-License-Identifier: Apache-2.0
//
// What a moving floor must not change, and what a contact that was foreseen and not reached must
// not.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

Scene ballOverFloor(SolverType solver, Real frame, Real height, Real approach) {
  Scene scene;
  scene.options = {.dt = 0.01, .gravity = {}, .solver = solver, .restitutionThreshold = 0.01};
  scene.materials = {{.name = "m", .friction = 0, .restitution = 0.5}};
  Body floor = fixedOf("floor", box(1, 1, 0.5), {0, 0, -0.5}, Mat3::identity(), "m");
  floor.type = BodyType::Kinematic;
  floor.linearVelocity = {0, 0, frame};
  Body body = bodyOf("ball", ball(0.1), {0, 0, 0.1 + height}, Mat3::identity(), "m");
  body.linearVelocity = {0, 0, frame - approach};
  scene.bodies = {floor, body};
  return scene;
}

// A ball 6 mm above a floor comes down at 1 m/s and meets it after 6 of 10 ms; at half the speed it
// is then 2 mm above it. The same on a floor that rises at 5 m/s.
TEST(MovingFrames, ABounceOffARisingFloorIsThatOffAFixedOne) {
  for (const Real frame : {0.0, 5.0, -5.0}) {
    CheckedSimulation run(ballOverFloor(SolverType::Impulse, frame, 0.006, 1));
    run.run(1);
    const Real floor = run.position("floor").z + 0.5;
    EXPECT_NEAR(floor, frame * 0.01, 1e-15);
    EXPECT_NEAR(run.velocity("ball").z - frame, 0.5, 1e-12) << frame;
    EXPECT_NEAR(run.position("ball").z - 0.1 - floor, 0.002, 1e-9) << frame;
  }
}

// Deep in a floor that rises, and hit in the same step: it is led out as from one at rest.
TEST(MovingFrames, ABodyIsLedOutOfARisingFloorAsOutOfAFixedOne) {
  Real expected = 0;
  for (const Real frame : {0.0, 5.0, -5.0}) {
    Scene scene = ballOverFloor(SolverType::Impulse, frame, 0.006, 1);
    Body second = bodyOf("second", ball(0.1), {0.4, 0, 0.095}, Mat3::identity(), "m");
    second.linearVelocity = {0, 0, frame};
    // One body of two balls: one of them 5 mm deep, the other about to land.
    scene.bodies[1].shapes.push_back(
        {.shape = ball(0.1), .pose = {Mat3::identity(), {0.4, 0, -0.011}}, .material = "m"});
    CheckedSimulation run(scene);
    run.run(2);
    const Real height = run.position("ball").z - run.position("floor").z;
    if (frame == 0)
      expected = height;
    else
      EXPECT_NEAR(height, expected, 1e-12) << frame;
  }
}

// A ball that spins at 100 rad/s could reach a floor 1 mm below it within the step, were it not
// round; it falls freely, and after the step it is where a fall leads: v dt + g dt^2/2 below.
TEST(MovingFrames, AContactForeseenAndNotReachedDoesNotBendTheFall) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    Scene scene;
    scene.options = {.dt = 0.001, .solver = solver};
    Body body = bodyOf("ball", ball(0.1), {0, 0, 0.101});
    body.linearVelocity = {0, 0, -0.1};
    body.angularVelocity = {100, 0, 0};
    scene.bodies = {floorOf(), body};
    CheckedSimulation run(scene);
    run.run(1);
    EXPECT_EQ(run.sim.report().numContacts, 1) << solverTypeName(solver);
    EXPECT_NEAR(run.position("ball").z, 0.101 - 1e-4 - kGravity * 0.5e-6, 1e-15)
        << solverTypeName(solver);
  }
}

// A ball presses on a block that does not bounce, 0.12 m above a floor that both would bounce off.
// How far an impact may throw them is a matter of how fast they are for that floor.
TEST(MovingFrames, AnImpactInAWorldThatMovesAsAWholeIsThatInOneAtRest) {
  Vec3 expected{};
  for (const Vec3 frame : {Vec3{}, Vec3{3, 0, -15}, Vec3{-20, 10, 20}}) {
    Scene scene;
    scene.options.dt = 5e-3;
    scene.materials = {{.name = "hard", .friction = 0, .restitution = 0.5},
                       {.name = "soft", .friction = 0}};
    Body floor = fixedOf("floor", box(5, 5, 0.5), {0, 0, -0.5}, Mat3::identity(), "hard");
    floor.type = BodyType::Kinematic;
    floor.linearVelocity = frame;
    Body striker = bodyOf("ball", ball(0.1), {0, 0, 0.22}, Mat3::identity(), "hard");
    striker.linearVelocity = frame + Vec3{2, 0, 0};
    Body block = bodyOf("block", cube(0.1), {0.198, 0.03, 0.24}, Mat3::identity(), "soft");
    block.linearVelocity = frame;
    scene.bodies = {floor, striker, block};
    CheckedSimulation run(scene);
    run.run(4);
    const Vec3 moved = run.position("ball") - frame * (4 * scene.options.dt);
    if (frame == Vec3{})
      expected = moved;
    else
      EXPECT_LT(norm(moved - expected), 1e-9) << frame.x;
  }
}

}  // namespace
}  // namespace tangere::test
