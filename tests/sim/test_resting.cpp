// SPDX-License-Identifier: Apache-2.0
//
// What rests stays at rest: cubes, tilted and rocking ones, stacks.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

Scene cubeOnFloor(Real height, const Mat3& rotation = Mat3::identity()) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.bodies = {floorOf(), bodyOf("cube", cube(0.5), {0, 0, height}, rotation)};
  return scene;
}

Scene stack(int count, Real half = 0.5) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.bodies = {floorOf()};
  for (int i = 0; i < count; ++i) {
    scene.bodies.push_back(
        bodyOf(named("cube", 100 + i), cube(half), {0, 0, half * static_cast<Real>(2 * i + 1)}));
  }
  return scene;
}

TEST(Resting, ACubeOnTheFloorStaysForTenThousandStepsAndGainsNoEnergy) {
  CheckedSimulation run(cubeOnFloor(0.5));
  const Real start = 1000 * kGravity * 0.5;
  Real largest = 0;
  run.run(10000, [&] { largest = std::max(largest, run.energy()); });
  EXPECT_LT(norm(run.position("cube") - Vec3{0, 0, 0.5}), 1e-6);
  EXPECT_LE(largest, start * (1 + 1e-12));
  EXPECT_LT(norm(run.velocity("cube")), 1e-9);
}

TEST(Resting, ACubeOnABoxAMeshAHeightFieldAndACompoundStays) {
  const Real h = 0.1;
  const std::vector<Vec3> corners = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  const std::vector<Real> heights(25, 0);
  const std::vector<std::pair<std::shared_ptr<const Shape>, Real>> floors = {
      {box(2, 2, 0.5), -0.5},
      {std::make_shared<Mesh>(corners, triangles), 0},
      {std::make_shared<HeightField>(5, 5, 4.0, 4.0, heights), 0},
      {std::make_shared<Compound>(
           std::vector<Compound::Child>{{box(1, 2, 0.5), {Mat3::identity(), {-1, 0, 0}}},
                                        {box(1, 2, 0.5), {Mat3::identity(), {1, 0, 0}}}}),
       -0.5}};
  for (const auto& [shape, z] : floors) {
    Scene scene;
    scene.options.sleep.enabled = false;
    scene.bodies = {fixedOf("floor", shape, {0, 0, z}), bodyOf("cube", cube(h), {0.013, 0.4, h})};
    CheckedSimulation run(scene);
    run.run(2000);
    EXPECT_LT(norm(run.position("cube") - Vec3{0.013, 0.4, h}), 1e-6)
        << shapeTypeName(shape->type());
  }
}

/// A cube of 0.2 m that falls flat by 0.3 m with steps of 5 ms: the last of the fall is 12 mm long.
void expectFlatLanding(SolverType solver, const std::shared_ptr<const Shape>& floor, Real z) {
  Scene scene;
  scene.options.solver = solver;
  scene.options.dt = 0.005;
  scene.options.sleep.enabled = false;
  scene.bodies = {fixedOf("floor", floor, {0, 0, z}), bodyOf("cube", cube(0.1), {0, 0, 0.4})};
  CheckedSimulation run(scene);
  Real deepest = 0, spin = 0;
  run.run(200, [&] {
    deepest = std::max(deepest, run.sim.report().maxDepth);
    spin = std::max(spin, norm(run.spin("cube")));
  });
  const std::string_view name = shapeTypeName(floor->type());
  EXPECT_LT(deepest, 1e-4) << name;
  EXPECT_LT(spin, 1e-6) << name;
  EXPECT_LT(std::hypot(run.position("cube").x, run.position("cube").y), 1e-6) << name;
}

TEST(Resting, ACubeThatFallsFlatLandsFlat) {
  const std::vector<Vec3> corners = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    expectFlatLanding(solver, std::make_shared<Plane>(), 0);
    expectFlatLanding(solver, box(2, 2, 0.5), -0.5);
    expectFlatLanding(solver, std::make_shared<Mesh>(corners, triangles), 0);
  }
}

TEST(Resting, ATiltedCubeFallsOntoAFaceAndSettles) {
  CheckedSimulation run(cubeOnFloor(0.8, turnAbout({1, 0.3, 0}, 0.4)));
  run.runFor(5);
  EXPECT_LT(norm(run.velocity("cube")), 1e-6);
  EXPECT_LT(norm(run.spin("cube")), 1e-6);
  EXPECT_NEAR(run.position("cube").z, 0.5, 2e-4);
}

TEST(Resting, ACubeOnItsCornerTopplesWithoutGainingEnergy) {
  const Mat3 corner = turnAbout({1, -1, 0}, std::acos(1 / std::sqrt(3.0)) + 0.05);
  CheckedSimulation run(cubeOnFloor(0.87, corner));
  const Real start = 1000 * kGravity * 0.87;
  Real lowest = start, largestRise = 0;
  run.run(3000, [&] {
    largestRise = std::max(largestRise, run.energy() - lowest);
    lowest = std::min(lowest, run.energy());
  });
  // What is left is the integrator's, a swing of second order in the step; contacts make none.
  EXPECT_LT(largestRise, 1e-4 * start);
  EXPECT_LT(norm(run.velocity("cube")), 1e-6);
}

TEST(Resting, ARockingBlockLosesTheShareOfItsEnergyThatHousnerSays) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.options.dt = 5e-4;
  scene.materials = {{.name = "rough", .friction = 100}};
  const Real half = 0.2, tall = 1.0, tilt = 0.1;
  const Mat3 rotation = turnAbout({0, 1, 0}, tilt);
  const Real z = half * std::sin(tilt) + tall * std::cos(tilt);
  scene.bodies = {floorOf("rough"),
                  bodyOf("block", box(half, 0.3, tall), {0, 0, z}, rotation, "rough")};
  CheckedSimulation run(scene);
  const Real rest = run.sim.model().massProperties(1 - run.index("floor")).mass * kGravity * tall;
  // Energy above rest, taken each time the block is at its highest.
  std::vector<Real> tops;
  Real lastRate = 0;
  run.runFor(0.01);
  run.run(6000, [&] {
    const Real rate = run.velocity("block").z;
    if (lastRate > 0 && rate <= 0) tops.push_back(run.energy() - rest);
    lastRate = rate;
  });
  const Real s2 = half * half / (half * half + tall * tall);
  const Real housner = (1 - 1.5 * s2) * (1 - 1.5 * s2);
  ASSERT_GE(tops.size(), 3u);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_NEAR(tops[i] / tops[i - 1], housner, 0.03) << i;
}

TEST(Resting, ARockingBlockComesToRest) {
  Scene scene;
  scene.options.sleep.enabled = false;
  const Real tilt = 0.15;
  const Mat3 rotation = turnAbout({0, 1, 0}, tilt);
  const Real z = 0.4 * std::sin(tilt) + 1.0 * std::cos(tilt);
  scene.bodies = {floorOf(), bodyOf("block", box(0.4, 0.3, 1.0), {0, 0, z}, rotation)};
  CheckedSimulation run(scene);
  run.runFor(10);
  EXPECT_LT(norm(run.spin("block")), 1e-6);
  EXPECT_NEAR(run.position("block").z, 1.0, 2e-4);
}

TEST(Resting, StacksOfThreeAndFiveStandForFiveHundredFrames) {
  for (const int count : {3, 5}) {
    Scene scene = stack(count);
    scene.options.dt = 0.016;
    CheckedSimulation run(scene);
    run.run(500);
    for (int i = 0; i < count; ++i) {
      const Vec3 p = run.position(named("cube", 100 + i));
      EXPECT_LT(std::hypot(p.x, p.y), 1e-4);
      EXPECT_NEAR(p.z, 0.5 + i, 5e-4);
    }
  }
}

TEST(Resting, AStackOfTenStandsForAMinuteWithLessThanAMillimetreOfDrift) {
  Scene scene = stack(10);
  CheckedSimulation run(scene);
  run.runFor(60);
  for (int i = 0; i < 10; ++i) {
    const Vec3 p = run.position(named("cube", 100 + i));
    EXPECT_LT(std::hypot(p.x, p.y), 1e-3);
    EXPECT_NEAR(p.z, 0.5 + i, 2e-3);
  }
}

TEST(Resting, AStackThatIsNotQuiteStraightStandsWithLessThanAMillimetreOfDrift) {
  Scene scene = stack(10, 0.05);
  scene.options.dt = 0.005;
  for (std::size_t i = 1; i < scene.bodies.size(); ++i) {
    scene.bodies[i].pose.translation.x += i % 2 == 0 ? 0.004 : -0.003;
    scene.bodies[i].pose.rotation = turnAbout({0, 0, 1}, 0.3 * static_cast<Real>(i));
  }
  CheckedSimulation run(scene);
  run.runFor(1);
  std::vector<Vec3> settled;
  for (int i = 0; i < 10; ++i) settled.push_back(run.position(named("cube", 100 + i)));
  run.runFor(20);
  for (int i = 0; i < 10; ++i) {
    const Vec3 moved = run.position(named("cube", 100 + i)) - settled[i];
    EXPECT_LT(std::hypot(moved.x, moved.y), 1e-3) << i;
  }
}

TEST(Resting, APyramidOfEqualCubesComesToRestAndThenNeedsHardlyMoreThanOneSweep) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.options.dt = 0.002;
  scene.bodies = {floorOf()};
  constexpr int kBase = 20;
  for (int row = 0; row < kBase; ++row) {
    for (int i = 0; i < kBase - row; ++i) {
      const Real x = 0.11 * (static_cast<Real>(i) + Real(0.5) * static_cast<Real>(row));
      scene.bodies.push_back(bodyOf(named("cube", 100 * (row + 1) + i), cube(0.05),
                                    {x, 0, 0.05 + 0.1 * static_cast<Real>(row)}));
    }
  }
  CheckedSimulation run(scene);
  run.runFor(2);
  int numIterations = 0;
  run.run(100, [&] {
    numIterations += run.sim.report().iterations;
    for (std::size_t i = 1; i < scene.bodies.size(); ++i)
      EXPECT_LT(norm(run.velocity(scene.bodies[i].name)), 1e-6) << scene.bodies[i].name;
  });
  EXPECT_LE(numIterations,
            200);  // 730 while the points wandered along sides that lie on each other
}

TEST(Resting, ALightBodyCarriesAHeavyOne) {
  for (const Real ratio : {1e3, 1e6}) {
    Scene scene;
    scene.options.sleep.enabled = false;
    scene.materials = {{.name = "light", .density = 1}, {.name = "heavy", .density = ratio}};
    scene.bodies = {floorOf(), bodyOf("low", cube(0.5), {0, 0, 0.5}, Mat3::identity(), "light"),
                    bodyOf("top", cube(0.5), {0, 0, 1.5}, Mat3::identity(), "heavy")};
    CheckedSimulation run(scene);
    run.run(1000);
    EXPECT_NEAR(run.position("low").z, 0.5, 2e-4) << ratio;
    EXPECT_NEAR(run.position("top").z, 1.5, 4e-4) << ratio;
    EXPECT_EQ(run.status, StepStatus::Ok) << ratio;
  }
}

/// Cubes one above the other in a bin, each turned in its own way.
Scene binOfCubes(int perSide, int numLayers) {
  Scene scene;
  scene.options.sleep.enabled = false;
  const Real half = 0.05, pitch = 0.15, wall = 0.5 * pitch * perSide;
  scene.bodies = {floorOf()};
  for (const auto& [x, y] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    scene.bodies.push_back(
        fixedOf(named("wall", 2 * x + y), cube(2.0), {x * (wall + 2.0), y * (wall + 2.0), 1.0}));
  }
  int number = 1000;
  for (int layer = 0; layer < numLayers; ++layer) {
    for (int i = 0; i < perSide; ++i) {
      for (int k = 0; k < perSide; ++k) {
        const Vec3 axis{std::sin(Real(number)), std::cos(Real(3 * number)),
                        std::sin(Real(7 * number))};
        const Vec3 position{pitch * (i + Real(0.5)) - wall, pitch * (k + Real(0.5)) - wall,
                            pitch * (layer + Real(0.7))};
        scene.bodies.push_back(
            bodyOf(named("cube", number), cube(half), position, turnAbout(axis, number)));
        ++number;
      }
    }
  }
  return scene;
}

TEST(Resting, AHeapOfManyCubesComesToRest) {
  CheckedSimulation run(binOfCubes(6, 9));
  run.runFor(4);
  const State& state = run.sim.state();
  Real sum = 0;
  for (const Vec3& v : state.velocity) sum += squaredNorm(v);
  EXPECT_LT(std::sqrt(sum / static_cast<Real>(6 * 6 * 9)), 1e-6);
  EXPECT_LT(run.sim.report().maxDepth, 1.1 * run.sim.model().options().impulse.slop);
  EXPECT_EQ(run.sim.report().status, StepStatus::Ok);
}

TEST(Resting, TheForceOfTheFloorIsTheWeight) {
  Scene scene = stack(3);
  CheckedSimulation run(scene);
  run.run(500);
  Vec3 force{};
  for (const ContactForce& contact : run.sim.contacts()) {
    if (contact.body1 == run.index("floor")) force -= contact.force;
    if (contact.body2 == run.index("floor")) force += contact.force;
  }
  EXPECT_NEAR(force.z, 3000 * kGravity, 3000 * kGravity * 1e-6);
  EXPECT_NEAR(force.x, 0, 1e-3);
}

}  // namespace
}  // namespace tangere::test
