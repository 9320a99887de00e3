// SPDX-License-Identifier: Apache-2.0
//
// Depth is removed by moving bodies, not by giving them speed.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

Scene sunkCube(PositionCorrection correction, Real depth) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.options.gravity = {};
  scene.options.impulse.correction = correction;
  scene.bodies = {floorOf(), bodyOf("cube", cube(0.5), {0, 0, 0.5 - depth})};
  return scene;
}

TEST(SplitImpulse, PushesOutWithoutTouchingVelocitiesOrTheFloor) {
  CheckedSimulation run(sunkCube(PositionCorrection::SplitImpulse, 0.05));
  Real last = 0.45;
  run.run(400, [&] {
    const Real z = run.position("cube").z;
    EXPECT_GE(z, last - 1e-15);
    last = z;
    EXPECT_LT(norm(run.velocity("cube")), 1e-14);
    EXPECT_LT(norm(run.spin("cube")), 1e-14);
  });
  EXPECT_EQ(run.position("floor").z, 0);
  EXPECT_NEAR(last, 0.5, 1.01e-4);
  EXPECT_LT(last, 0.5 + 1e-9) << "no farther than out";
  EXPECT_EQ(run.sim.energySum().kinetic, 0);
}

TEST(SplitImpulse, RemovesItsShareOfTheDepthBeyondTheSlopInOneStep) {
  Scene scene = sunkCube(PositionCorrection::SplitImpulse, 0.01);
  scene.options.impulse.slop = 0.002;
  scene.options.impulse.correctionRate = 0.3;
  CheckedSimulation run(scene);
  run.step();
  EXPECT_NEAR(run.position("cube").z, 0.49 + 0.3 * 0.008, 1e-6);
}

TEST(SplitImpulse, NoFasterThanTheLargestCorrectionSpeed) {
  Scene scene = sunkCube(PositionCorrection::SplitImpulse, 0.2);
  scene.options.impulse.maxCorrectionSpeed = 0.5;
  CheckedSimulation run(scene);
  run.step();
  EXPECT_NEAR(run.position("cube").z, 0.3 + 0.5 * scene.options.dt, 1e-9);
}

TEST(SplitImpulse, LeavesDepthWithinTheSlopAlone) {
  Scene scene = sunkCube(PositionCorrection::SplitImpulse, 0.9e-4);
  CheckedSimulation run(scene);
  run.run(100);
  EXPECT_NEAR(run.position("cube").z, 0.5 - 0.9e-4, 1e-12);
}

TEST(SplitImpulse, TheLiftedWeightIsBookedAsCorrection) {
  Scene scene = sunkCube(PositionCorrection::SplitImpulse, 0.05);
  scene.options.gravity = {0, 0, -kGravity};
  CheckedSimulation run(scene);
  run.run(500);
  const Real lifted = 1000 * kGravity * (run.position("cube").z - 0.45);
  EXPECT_NEAR(run.sim.energySum().correction, lifted, 1e-3 * lifted);
}

TEST(SplitImpulse, MovesTheLighterOfTwoFreeBodiesFarther) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.options.gravity = {};
  scene.materials = {{.name = "light", .density = 100}, {.name = "heavy", .density = 300}};
  scene.bodies = {bodyOf("light", cube(0.5), {0, 0, 0}, Mat3::identity(), "light"),
                  bodyOf("heavy", cube(0.5), {0, 0, 0.96}, Mat3::identity(), "heavy")};
  CheckedSimulation run(scene);
  run.run(400);
  const Real a = -run.position("light").z, b = run.position("heavy").z - 0.96;
  EXPECT_NEAR(a / b, 3, 1e-6);
  EXPECT_NEAR(a + b, 0.04, 1.1e-4);
}

TEST(SplitImpulse, TurnsABodyThatIsDeeperOnOneSideWithoutSpin) {
  Scene scene = sunkCube(PositionCorrection::SplitImpulse, 0.0);
  scene.bodies[1].pose = {turnAbout({0, 1, 0}, 0.02), {0, 0, 0.5}};
  CheckedSimulation run(scene);
  run.run(1, [&] {
    EXPECT_LT(norm(run.spin("cube")), 1e-14);
    const Mat3 R = rotationMatrix(run.sim.body("cube").orientation);
    EXPECT_GT(norm(R.col[2] - turnAbout({0, 1, 0}, 0.02).col[2]), 1e-6);
  });
  const Quat q = run.sim.body("cube").orientation;
  EXPECT_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-14);
}

TEST(Baumgarte, TurnsDepthIntoKineticEnergyAndBooksIt) {
  CheckedSimulation run(sunkCube(PositionCorrection::Baumgarte, 0.05));
  run.run(200);
  EXPECT_GT(run.velocity("cube").z, 0.1);
  EXPECT_GT(run.sim.energySum().contactNormal, 0);
  EXPECT_GT(run.position("cube").z, 0.55);
}

TEST(NoCorrection, LeavesTheDepthAsItIs) {
  CheckedSimulation run(sunkCube(PositionCorrection::None, 0.05));
  run.run(200);
  EXPECT_NEAR(run.position("cube").z, 0.45, 1e-12);
}

TEST(DeepOverlap, SeparatesWithoutSpeedWhateverTheShapes) {
  const std::vector<std::shared_ptr<const Shape>> shapes = {
      cube(0.5),
      ball(0.5),
      std::make_shared<Capsule>(0.3, 0.3),
      std::make_shared<Cylinder>(0.4, 0.5),
      std::make_shared<Cone>(0.5, 0.5),
      std::make_shared<Ellipsoid>(Vec3{0.5, 0.4, 0.3})};
  for (const auto& a : shapes) {
    for (const auto& b : shapes) {
      Scene scene;
      scene.bodies = {floorOf(), bodyOf("a", a, {0, 0, 0.5}),
                      bodyOf("b", b, {0.2, 0.1, 0.6}, turnAbout({1, 2, 0}, 0.5))};
      CheckedSimulation run(scene);
      Real fastest = 0;
      run.run(500, [&] {
        fastest = std::max({fastest, norm(run.velocity("a")), norm(run.velocity("b"))});
      });
      EXPECT_LT(fastest, 10 * std::sqrt(kGravity * 1.0))
          << shapeTypeName(a->type()) << " " << shapeTypeName(b->type());
      EXPECT_LT(run.sim.report().maxDepth, 0.05)
          << shapeTypeName(a->type()) << " " << shapeTypeName(b->type());
    }
  }
}

TEST(DeepOverlap, AHundredBallsAtOnePlaceComeApart) {
  Scene scene;
  scene.bodies = {floorOf()};
  for (int i = 0; i < 100; ++i)
    scene.bodies.push_back(bodyOf(named("ball", 100 + i), ball(0.1), {0, 0, 1}));
  CheckedSimulation run(scene);
  Real fastest = 0;
  run.run(1500, [&] {
    for (const Vec3& v : run.sim.state().velocity) fastest = std::max(fastest, norm(v));
  });
  EXPECT_LT(fastest, 10 * std::sqrt(kGravity * 1.0));
  // With nothing to tell left from right they part along one line, and slowly: 4950 contacts at
  // the start.
  EXPECT_LT(run.sim.report().numContacts, 300);
}

TEST(DeepOverlap, ABodyInsideAnotherAndInsideTheFloorGetsOut) {
  Scene scene;
  scene.bodies = {floorOf(), bodyOf("outer", cube(0.5), {0, 0, 0.5}),
                  bodyOf("inner", cube(0.1), {0.1, 0.2, 0.4}),
                  bodyOf("below", ball(0.2), {5, 0, -1})};
  CheckedSimulation run(scene);
  run.run(2000);
  EXPECT_GT(run.position("below").z, 0.19);
  EXPECT_LT(run.sim.report().maxDepth, 0.01);
}

}  // namespace
}  // namespace tangere::test
