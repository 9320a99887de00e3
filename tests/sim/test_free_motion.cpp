// SPDX-License-Identifier: Apache-2.0
//
// Bodies that touch nothing: falling, spinning, damped, pushed.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

Vec3 angularMomentum(const Simulator& sim, int body) {
  const MassProperties& mass = sim.model().massProperties(body);
  const Mat3 R = rotationMatrix(sim.state().orientation[static_cast<std::size_t>(body)]);
  const Vec3 w = sim.state().angularVelocity[static_cast<std::size_t>(body)];
  return R * (mass.inertia * transposeTimes(R, w));
}

TEST(FreeMotion, ABodyFallsExactly) {
  Scene scene;
  scene.bodies = {bodyOf("ball", ball(0.1), {1, 2, 3})};
  scene.bodies[0].linearVelocity = {1, -2, 3};
  for (const Real dt : {1e-4, 2e-3, 0.1}) {
    scene.options.dt = dt;
    CheckedSimulation run(scene);
    const int steps = 200;
    run.run(steps);
    const Real t = dt * steps;
    const Vec3 expected = Vec3{1, 2, 3} + Vec3{1, -2, 3} * t - Vec3{0, 0, 0.5 * kGravity * t * t};
    EXPECT_LT(norm(run.position("ball") - expected), 1e-12 * (1 + norm(expected))) << dt;
    EXPECT_NEAR(run.velocity("ball").z, 3 - kGravity * t, 1e-11);
    EXPECT_NEAR(run.sim.energySum().integration, 0, 1e-9);
  }
}

TEST(FreeMotion, ASpinningBodyKeepsEnergyAndMomentumWhileItTumbles) {
  Scene scene;
  scene.options.gravity = {};
  scene.options.dt = 0.01;
  scene.bodies = {bodyOf("plate", box(0.4, 0.25, 0.05), {})};
  scene.bodies[0].angularVelocity = {1e-3, 5, 0.0};  // the middle axis: it flips over and over
  CheckedSimulation run(scene);
  run.step();
  const Vec3 L0 = angularMomentum(run.sim, 0);
  const Real e0 = run.sim.energy().kinetic;
  Real worstL = 0, worstE = 0;
  int flips = 0;
  bool isUp = true;
  run.run(100000, [&] {
    worstL = std::max(worstL, norm(angularMomentum(run.sim, 0) - L0) / norm(L0));
    worstE = std::max(worstE, std::fabs(run.sim.energy().kinetic - e0) / e0);
    const Mat3 R = rotationMatrix(run.sim.state().orientation[0]);
    const Real along = dot(R.col[1], L0) / norm(L0);
    if (isUp ? along < -0.9 : along > 0.9) {
      isUp = !isUp;
      ++flips;
    }
  });
  EXPECT_LT(worstL, 1e-12);
  EXPECT_LT(worstE, 1e-12);
  EXPECT_GT(flips, 50) << "Dzhanibekov: the plate must turn over";
}

TEST(FreeMotion, ASymmetricTopPrecessesAtItsRate) {
  Scene scene;
  scene.options.gravity = {};
  scene.options.dt = 0.005;
  scene.bodies = {bodyOf("top", std::make_shared<Cylinder>(0.3, 0.1), {})};
  const Real tilt = 0.4, spin = 20;
  const Vec3 w0 = {spin * std::sin(tilt), 0, spin * std::cos(tilt)};
  scene.bodies[0].angularVelocity = w0;
  CheckedSimulation run(scene);
  const MassProperties& mass = run.sim.model().massProperties(0);
  const Real i1 = mass.inertia(0, 0);
  const Vec3 L{i1 * w0.x, 0, mass.inertia(2, 2) * w0.z};
  const Real rate = norm(L) / i1;  // of the axis about L
  const int steps = 200;
  run.run(steps);
  // The axis turns about L by rate t.
  const Mat3 turn = turnAbout(L, rate * scene.options.dt * steps);
  const Vec3 axis = rotationMatrix(run.sim.state().orientation[0]).col[2];
  EXPECT_LT(norm(axis - turn * Vec3{0, 0, 1}), 1e-5);
}

TEST(FreeMotion, ABodyWhoseOriginIsNotItsCentreTurnsAboutItsCentre) {
  Scene scene;
  scene.options.gravity = {};
  Body hammer{.name = "hammer"};
  hammer.shapes.push_back({.shape = cube(0.2), .pose = {Mat3::identity(), {1, 0, 0}}});
  hammer.angularVelocity = {0, 0, 3};
  scene.bodies = {hammer};
  CheckedSimulation run(scene);
  const Vec3 center = run.sim.state().center[0];
  EXPECT_NEAR(center.x, 1, 1e-12);
  EXPECT_LT(norm(run.sim.body(0).linearVelocity), 1e-12);
  EXPECT_NEAR(run.sim.state().velocity[0].y, 3, 1e-12);
  run.run(500);
  EXPECT_NEAR(run.sim.state().center[0].y, 3 * 500 * scene.options.dt, 1e-9);
}

TEST(FreeMotion, DampingTakesEnergyAtItsRateAndIsBooked) {
  Scene scene;
  scene.options.gravity = {};
  scene.bodies = {bodyOf("ball", ball(0.1), {})};
  scene.bodies[0].linearVelocity = {3, 0, 0};
  scene.bodies[0].angularVelocity = {0, 7, 0};
  scene.bodies[0].linearDamping = 2;
  scene.bodies[0].angularDamping = 0.5;
  CheckedSimulation run(scene);
  run.step();
  const Real start = run.energy() - run.sim.energy().damping;
  run.runFor(1 - scene.options.dt);
  EXPECT_NEAR(run.velocity("ball").x, 3 * std::exp(-2.0), 3 * 4e-3);
  EXPECT_NEAR(run.spin("ball").y, 7 * std::exp(-0.5), 7 * 4e-3);
  EXPECT_NEAR(run.sim.energySum().damping, run.energy() - start, 1e-12 * start);
}

TEST(FreeMotion, AppliedForcesActForOneStepAndTheirWorkIsBooked) {
  Scene scene;
  scene.options.gravity = {};
  scene.bodies = {bodyOf("box", box(0.1, 0.2, 0.3), {})};
  CheckedSimulation run(scene);
  const Real mass = run.sim.model().massProperties(0).mass;
  run.sim.applyForce(0, {mass * 5, 0, 0}, {0, 0, 0.3});
  run.sim.applyForce(0, {mass * 5, 0, 0});
  run.step();
  EXPECT_NEAR(run.velocity("box").x, 10 * scene.options.dt, 1e-15);
  EXPECT_GT(run.sim.energy().external, 0);
  EXPECT_NEAR(run.sim.energy().external, run.energy(), 1e-13 * run.energy());
  const Vec3 v = run.velocity("box");
  run.step();
  EXPECT_EQ(run.velocity("box").x, v.x);
  EXPECT_EQ(run.sim.energy().external, 0);
}

TEST(FreeMotion, RandomForcesAndTorquesCloseTheLedger) {
  Scene scene;
  scene.bodies = {bodyOf("box", box(0.1, 0.2, 0.3), {}), bodyOf("ball", ball(0.2), {5, 0, 0})};
  scene.bodies[0].linearDamping = 1;
  scene.bodies[0].angularDamping = 2;
  CheckedSimulation run(scene);
  unsigned seed = 1;
  const auto random = [&] {
    seed = seed * 1664525u + 1013904223u;
    return (static_cast<Real>(seed >> 8) / 8388608.0 - 1) * 1000;
  };
  run.run(2000, [&] {
    for (const int body : {0, 1})
      run.sim.applyForce(body, {random(), random(), random()}, {random(), random(), random()});
  });
}

TEST(FreeMotion, GravityScaleScalesTheWeight) {
  Scene scene;
  scene.bodies = {bodyOf("up", ball(0.1), {}), bodyOf("half", ball(0.1), {3, 0, 0})};
  scene.bodies[0].gravityScale = -1;
  scene.bodies[1].gravityScale = 0.5;
  CheckedSimulation run(scene);
  run.run(500);
  EXPECT_NEAR(run.velocity("up").z, kGravity, 1e-11);
  EXPECT_NEAR(run.velocity("half").z, -kGravity / 2, 1e-11);
}

TEST(FreeMotion, HugeSpeedsSpinsAndPositionsStayFinite) {
  Scene scene;
  scene.bodies = {floorOf(),
                  bodyOf("far", cube(0.5), {1e9, -1e9, 1e9}),
                  bodyOf("fast", cube(0.5), {0, 0, 10}),
                  bodyOf("spin", box(0.1, 0.2, 0.5), {5, 0, 50}),
                  bodyOf("rest", cube(0.5), {20, 0, 0.5}),
                  bodyOf("farRest", cube(0.5), {-1e9, 0, 0.5})};
  scene.bodies[1].linearVelocity = {0, 0, -1};
  scene.bodies[2].linearVelocity = {1e8, 0, 0};
  scene.bodies[3].angularVelocity = {1e6, 2e5, -1e6};
  CheckedSimulation run(scene);
  run.run(100);
  EXPECT_NEAR(run.position("rest").z, 0.5, 1e-6);
  EXPECT_NEAR(run.position("farRest").z, 0.5, 1e-6);
}

}  // namespace
}  // namespace tangere::test
