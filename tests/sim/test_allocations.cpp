// SPDX-License-Identifier: Apache-2.0
//
// A step takes no memory once its buffers have grown, however long it runs.
//
//   test_sim_allocations                              a short soak
//   TANGERE_SOAK_STEPS=1000000 test_sim_allocations   the long one
#include "core/counted_allocations.hpp"
#include "sim/random_scene.hpp"

#include <cstdlib>

namespace tangere::test {
namespace {

/// Allocations in `steps` steps after `before` steps.
long allocationsOf(const Scene& scene, int before, int steps, int numThreads = 1) {
  Simulator sim(scene.build(), numThreads);
  sim.step(before);
  const long start = test::numAllocations;
  sim.step(steps);
  return test::numAllocations - start;
}

Scene pile(Real restitution, bool mayPutToSleep = false) {
  Scene scene;
  scene.options.sleep.enabled = mayPutToSleep;
  scene.materials = {{.name = "m", .friction = 0.5, .restitution = restitution}};
  scene.bodies = {floorOf("m")};
  for (int i = 0; i < 12; ++i) {
    scene.bodies.push_back(bodyOf(named("b", 100 + i), i % 3 == 0 ? ball(0.1) : cube(0.1),
                                  {0.05 * (i % 3), 0.02 * (i % 2), 0.1 + 0.21 * i},
                                  Mat3::identity(), "m"));
  }
  return scene;
}

TEST(Allocations, APileAtRestTakesNoMemory) { EXPECT_EQ(allocationsOf(pile(0), 3000, 1000), 0); }

TEST(Allocations, APileAtRestTakesNoMemoryWithThreads) {
  // Each thread has memory of its own, which grows when it first meets an island of some size; who
  // meets which is chance. Once they have, it is quiet for good.
  Simulator sim(pile(0).build(), 4);
  sim.step(3000);
  long last = -1;
  for (int window = 0; window < 40 && last != 0; ++window) {
    const long start = test::numAllocations;
    sim.step(500);
    last = test::numAllocations - start;
  }
  EXPECT_EQ(last, 0);
}

TEST(Allocations, ABouncingBallTakesNoMemory) {
  Scene scene;
  scene.options.restitutionThreshold = 0.01;
  scene.materials = {{.name = "m", .restitution = 1}};
  scene.bodies = {floorOf("m"), bodyOf("ball", ball(0.1), {0, 0, 1}, Mat3::identity(), "m"),
                  bodyOf("cube", cube(0.1), {1, 0, 1}, turnAbout({1, 2, 3}, 1), "m")};
  // The cube tumbles for good: it takes a while until it has landed on as many points as it ever
  // will.
  EXPECT_EQ(allocationsOf(scene, 8000, 4000), 0);
}

TEST(Allocations, AMeshAHeightFieldAndACompoundTakeNoMemory) {
  Scene scene;
  scene.options.sleep.enabled = false;
  const std::vector<Real> heights(81, 0);
  scene.bodies = {fixedOf("floor", std::make_shared<HeightField>(9, 9, 4.0, 4.0, heights)),
                  bodyOf("mesh", tetrahedronMesh(0.1), {0, 0, 0.2}),
                  bodyOf("mesh2", tetrahedronMesh(0.1), {0, 0, 0.5}),
                  bodyOf("compound",
                         std::make_shared<Compound>(std::vector<Compound::Child>{
                             {cube(0.1), {Mat3::identity(), {-0.1, 0, 0}}},
                             {cube(0.1), {Mat3::identity(), {0.1, 0, 0}}}}),
                         {1, 0, 0.1})};
  EXPECT_EQ(allocationsOf(scene, 3000, 500), 0);
}

TEST(Allocations, ASleepingPileTakesNoMemory) {
  EXPECT_EQ(allocationsOf(pile(0, true), 5000, 500), 0);
}

TEST(Allocations, AFastBodyTakesNoMemory) {
  Scene scene;
  scene.options.dt = 0.01;
  scene.options.gravity = {};
  scene.materials = {{.name = "m", .friction = 0, .restitution = 1}};
  scene.bodies = {fixedOf("left", box(0.01, 1, 1), {-2, 0, 0}, Mat3::identity(), "m"),
                  fixedOf("right", box(0.01, 1, 1), {2, 0, 0}, Mat3::identity(), "m"),
                  bodyOf("ball", ball(0.01), {}, Mat3::identity(), "m")};
  scene.bodies[2].linearVelocity = {170, 0, 0};
  EXPECT_EQ(allocationsOf(scene, 1000, 1000), 0);
}

TEST(Soak, AMixedPileRunsOnWithoutGrowthNanOrAnOpenLedger) {
  const char* text = std::getenv("TANGERE_SOAK_STEPS");
  const long steps = text != nullptr ? std::atol(text) : 20000;
  Scene scene = pile(0.3);
  // Kept in motion: a paddle stirs them. It leaves room for them between itself and the walls.
  Body paddle = bodyOf("paddle", box(0.2, 0.02, 0.1), {0, 0, 0.11}, Mat3::identity(), "m");
  paddle.type = BodyType::Kinematic;
  paddle.angularVelocity = {0, 0, 1.5};
  scene.bodies.push_back(paddle);
  for (int i = 0; i < 4; ++i) {
    const Real a = 0.7 * (i % 2 == 0 ? 1 : -1);
    scene.bodies.push_back(fixedOf(named("wall", i), i < 2 ? box(0.1, 1, 2) : box(1, 0.1, 2),
                                   i < 2 ? Vec3{a, 0, 2} : Vec3{0, a, 2}, Mat3::identity(), "m"));
  }
  CheckedSimulation run(scene);
  run.run(static_cast<int>(steps / 2));
  const long half = test::numAllocations;
  run.run(static_cast<int>(steps / 2));
  // Buffers may still find a new maximum, but not go on growing.
  EXPECT_LT(test::numAllocations - half, 200);
  for (int i = 0; i < 12; ++i) {
    const Vec3 p = run.position(named("b", 100 + i));
    EXPECT_LT(std::max(std::fabs(p.x), std::fabs(p.y)), 0.7) << "left the tray";
    EXPECT_GT(p.z, 0) << "fell through the floor";
  }
}

}  // namespace
}  // namespace tangere::test
