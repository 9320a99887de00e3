// SPDX-License-Identifier: Apache-2.0
//
// Bouncing: the coefficient of restitution, its threshold and combination, several bodies in a row.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

/// Height of the next apex of a ball that falls from `height` above the floor.
Real apexAfterBounce(const Scene& scene, Real radius) {
  CheckedSimulation run(scene);
  Real apex = 0;
  bool hasBounced = false;
  for (int i = 0; i < 20000; ++i) {
    run.step();
    const Vec3 v = run.velocity("ball");
    if (v.z > 0) hasBounced = true;
    const Real z = run.position("ball").z - radius;
    if (hasBounced) apex = std::max(apex, z);
    if (hasBounced && v.z <= 0) break;
  }
  return apex;
}

Scene bouncingBall(Real e, Real height, Real dt) {
  Scene scene;
  scene.options.dt = dt;
  scene.options.restitutionThreshold = 1e-3;
  scene.materials = {{.name = "m", .restitution = e}};
  scene.bodies = {floorOf("m"),
                  bodyOf("ball", ball(0.1), {0, 0, 0.1 + height}, Mat3::identity(), "m")};
  return scene;
}

TEST(Impacts, ABallBouncesToTheSquareOfTheCoefficientForEveryCoefficientAndStep) {
  for (int k = 0; k <= 20; ++k) {
    const Real e = 0.05 * k;
    for (const Real dt : {1e-3, 7e-3}) {
      const Real apex = apexAfterBounce(bouncingBall(e, 1, dt), 0.1);
      // The apex falls between two steps: half a step of fall from it at most.
      const Real between = 0.5 * kGravity * dt * dt;
      EXPECT_NEAR(apex, e * e, between + 1e-9) << e << " " << dt;
    }
  }
}

TEST(Impacts, AnElasticBallKeepsItsEnergyForAHundredBounces) {
  CheckedSimulation run(bouncingBall(1, 1, 5e-3));
  run.step();
  const Real start = run.energy();
  int bounces = 0;
  run.run(20000, [&] { bounces += run.sim.report().numImpacts; });
  EXPECT_GT(bounces, 100);
  EXPECT_NEAR(run.energy(), start, 1e-9 * start);
}

TEST(Impacts, ASlowApproachDoesNotBounce) {
  for (const Real threshold : {0.5, 2.0}) {
    for (const Real ratio : {0.9, 1.1}) {
      const Real speed = ratio * threshold;
      Scene scene = bouncingBall(0.8, speed * speed / (2 * kGravity), 1e-3);
      scene.options.restitutionThreshold = threshold;
      const Real apex = apexAfterBounce(scene, 0.1);
      if (ratio < 1) {
        EXPECT_LT(apex, 1e-6) << threshold;
      } else {
        EXPECT_NEAR(apex, 0.64 * speed * speed / (2 * kGravity), 1e-5) << threshold;
      }
    }
  }
}

TEST(Impacts, TheDefaultThresholdIsHalfAMetrePerSecond) {
  EXPECT_EQ(SimulationOptions{}.restitutionThreshold, 0.5);
}

TEST(Impacts, CoefficientsCombineAsTheGeometricMeanUnlessThePairSaysOtherwise) {
  Scene scene = bouncingBall(0, 1, 1e-3);
  scene.materials = {{.name = "a", .restitution = 0.9}, {.name = "b", .restitution = 0.4}};
  scene.bodies[0].shapes[0].material = "a";
  scene.bodies[1].shapes[0].material = "b";
  EXPECT_NEAR(apexAfterBounce(scene, 0.1), 0.9 * 0.4, 1e-5);
  for (const bool isSwapped : {false, true}) {
    scene.pairs = {{.material1 = isSwapped ? "b" : "a",
                    .material2 = isSwapped ? "a" : "b",
                    .restitution = 0.7}};
    EXPECT_NEAR(apexAfterBounce(scene, 0.1), 0.49, 1e-5);
  }
}

TEST(Impacts, ABallThatHitsARowOfEqualBallsSendsTheLastOneAway) {
  Scene scene;
  scene.options.gravity = {};
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "steel", .friction = 0, .restitution = 1}};
  for (int i = 0; i < 5; ++i) {
    scene.bodies.push_back(bodyOf(named("ball", i), ball(0.05),
                                  {0.1 * i - (i == 0 ? 0.2 : 0.0), 0, 0}, Mat3::identity(),
                                  "steel"));
  }
  scene.bodies[0].linearVelocity = {2, 0, 0};
  CheckedSimulation run(scene);
  run.runFor(0.5);
  for (int i = 0; i < 4; ++i) EXPECT_LT(norm(run.velocity(named("ball", i))), 1e-9) << i;
  EXPECT_NEAR(run.velocity("ball4").x, 2, 1e-9);
}

TEST(Impacts, TwoBallsThatHitARowSendTwoAway) {
  Scene scene;
  scene.options.gravity = {};
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "steel", .friction = 0, .restitution = 1}};
  for (int i = 0; i < 5; ++i) {
    scene.bodies.push_back(bodyOf(named("ball", i), ball(0.05),
                                  {0.1 * i - (i < 2 ? 0.2 : 0.0), 0, 0}, Mat3::identity(),
                                  "steel"));
  }
  scene.bodies[0].linearVelocity = {2, 0, 0};
  scene.bodies[1].linearVelocity = {2, 0, 0};
  CheckedSimulation run(scene);
  run.runFor(0.5);
  for (int i = 0; i < 3; ++i) EXPECT_LT(norm(run.velocity(named("ball", i))), 1e-6) << i;
  for (int i = 3; i < 5; ++i) EXPECT_NEAR(run.velocity(named("ball", i)).x, 2, 1e-6) << i;
}

TEST(Impacts, MomentumIsKeptBetweenTwoFreeBodies) {
  Scene scene;
  scene.options.gravity = {};
  scene.materials = {{.name = "m", .friction = 0.4, .restitution = 0.5}};
  scene.bodies = {bodyOf("a", cube(0.2), {0, 0, 0}, turnAbout({1, 2, 3}, 0.7), "m"),
                  bodyOf("b", box(0.3, 0.1, 0.2), {1, 0.1, 0.05}, turnAbout({3, 1, 0}, 1.1), "m")};
  scene.bodies[0].linearVelocity = {3, 0.2, 0};
  scene.bodies[1].angularVelocity = {1, 5, 2};
  CheckedSimulation run(scene);
  const auto momenta = [&] {
    Vec3 p{}, L{};
    for (int i = 0; i < 2; ++i) {
      const MassProperties& mass = run.sim.model().massProperties(i);
      const auto k = static_cast<std::size_t>(i);
      const Mat3 R = rotationMatrix(run.sim.state().orientation[k]);
      p += run.sim.state().velocity[k] * mass.mass;
      L += cross(run.sim.state().center[k], run.sim.state().velocity[k] * mass.mass) +
           R * (mass.inertia * transposeTimes(R, run.sim.state().angularVelocity[k]));
    }
    return std::pair{p, L};
  };
  const auto [p0, L0] = momenta();
  run.run(1000);
  const auto [p1, L1] = momenta();
  EXPECT_LT(norm(p1 - p0), 1e-12 * norm(p0));
  // The contact point moves within the step, by less than 6 mm.
  EXPECT_LT(norm(L1 - L0), 6e-3 * norm(p0));
  EXPECT_LT(run.velocity("a").x, 2.9) << "they met";
}

TEST(Impacts, ManyBouncesWithinOneStepAreAllResolved) {
  for (const Real dt : {0.01, 0.1, 1.0}) {
    Scene scene = bouncingBall(1, 0.01, dt);
    CheckedSimulation run(scene);
    run.run(50);
    const Real start = run.sim.model().massProperties(run.index("ball")).mass * kGravity * 0.11;
    EXPECT_NEAR(run.energy(), start, 1e-9 * start) << dt;
    EXPECT_GE(run.position("ball").z, 0.1 - 1e-9);
  }
}

TEST(Impacts, MoreImpactsThanAllowedAreCutAndTheRestIsInelastic) {
  Scene scene = bouncingBall(0.99, 1e-4, 0.1);
  scene.options.maxImpactsPerStep = 5;
  CheckedSimulation run(scene);
  run.run(20);
  EXPECT_TRUE(has(run.status, StepStatus::ImpactsCut));
  EXPECT_GE(run.position("ball").z, 0.1 - 1e-3);
}

TEST(Impacts, ABodyPressedFromAllSidesDoesNotBounceForEver) {
  // Three walls close in on a ball that touches them all: no impulses part it from all of them.
  Scene scene;
  scene.options.gravity = {};
  scene.materials = {{.name = "m", .friction = 0.3, .restitution = 0.5}};
  scene.bodies = {bodyOf("ball", ball(0.1), {}, Mat3::identity(), "m")};
  for (int i = 0; i < 3; ++i) {
    const Mat3 turn = turnAbout({0, 0, 1}, 2 * 3.14159265358979323846 * i / 3);
    Body wall = bodyOf(named("wall", i), box(0.1, 0.15, 0.3), turn * Vec3{0.2, 0, 0}, turn, "m");
    wall.type = BodyType::Kinematic;
    wall.linearVelocity = turn * Vec3{-1, 0, 0};
    scene.bodies.push_back(wall);
  }
  CheckedSimulation run(scene);
  run.run(10, [&] { EXPECT_LT(run.sim.report().numImpacts, 1000); });
  EXPECT_LT(norm(run.velocity("ball")), 2);
}

TEST(Impacts, ABouncingPileNeverGainsEnergy) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .friction = 0.5, .restitution = 0.7}};
  scene.bodies = {floorOf("m")};
  for (int i = 0; i < 12; ++i) {
    scene.bodies.push_back(bodyOf(named("b", i), i % 2 == 0 ? cube(0.1) : ball(0.1),
                                  {0.03 * (i % 3), 0.02 * (i % 2), 0.5 + 0.25 * i},
                                  turnAbout({1, 1, 0}, 0.3 * i), "m"));
  }
  CheckedSimulation run(scene);
  run.step();
  Real lowest = run.energy(), rise = 0;
  const Real start = lowest;
  run.run(4000, [&] {
    rise = std::max(rise, run.energy() - lowest);
    lowest = std::min(lowest, run.energy());
  });
  EXPECT_LT(rise, 2e-3 * start);
}

// A rod that lands spinning touches with several points, at several times of the step, and turns
// between them: what a contact says of its normal is that of the force it tells.
TEST(Impacts, TheForceOfAContactWithoutFrictionIsAlongItsNormal) {
  int numBounces = 0;
  for (int k = 0; k < 60; ++k) {
    Scene scene;
    scene.options.dt = 2e-3;
    scene.options.restitutionThreshold = 0.01;
    scene.materials = {{.name = "m", .friction = 0, .restitution = 0.6}};
    scene.bodies = {
        floorOf("m"),
        bodyOf("rod", std::make_shared<Cylinder>(0.01, 0.04), {0, 0, 0.1},
               turnAbout({1, 2, 0.1 * k}, 0.1 * k), "m"),
        bodyOf("block", box(0.03, 0.02, 0.04), {0.04, 0.01, 0.2}, turnAbout({3, 1, 2}, 0.7), "m")};
    scene.bodies[1].angularVelocity = {30, 1.0 * k, 60};
    scene.bodies[2].linearVelocity = {-0.3, 0, -2};
    scene.bodies[2].angularVelocity = {40, -30, 20};
    CheckedSimulation run(scene);
    run.run(200, [&] {
      numBounces += run.sim.report().numImpacts;
      for (const ContactForce& contact : run.sim.contacts())
        EXPECT_LT(norm(cross(contact.force, contact.normal)), 1e-12 * (1 + norm(contact.force)))
            << k;
    });
  }
  EXPECT_GT(numBounces, 500);
}

}  // namespace
}  // namespace tangere::test
