// SPDX-License-Identifier: Apache-2.0
//
// Bodies of triangles come to rest like the same bodies made of boxes: cubes, planks, tables,
// stairs and hooks are let fall on slabs, sheets, terrain and boxes of triangles under every
// solver. No step gains energy, nothing is thrown or falls through, and what was let down flat
// stands where its twin does.
//
//   test_sim_mesh_drops                       some dozens
//   TANGERE_DROPS=500 test_sim_mesh_drops     the long run
//   TANGERE_FIRST_DROP=123 TANGERE_DROPS=1 ... one of them
#include "mesh_reference/generated_shapes.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace tangere::test {
namespace {

struct BoxPart {
  Vec3 half, at;
};

/// A body as a closed mesh and as boxes: the same volume.
struct Twin {
  std::string name;
  std::shared_ptr<const Shape> mesh;
  std::vector<BoxPart> boxes;
  Real bottom = 0;  ///< of the body, below its origin
};

std::shared_ptr<const Shape> meshFrom(const reference::SurfaceParts& s) {
  return std::make_shared<Mesh>(s.vertices, s.triangles);
}

/// A profile in the plane x, z, extruded along y; `boxes` fill it.
Twin profile(const std::string& name, const std::vector<std::pair<Real, Real>>& outline,
             const std::vector<Triangle>& caps, Real half, std::vector<BoxPart> boxes) {
  Twin out{name, meshFrom(reference::extruded(outline, caps, half)), std::move(boxes)};
  for (const auto& [x, z] : outline) out.bottom = std::max(out.bottom, -z);
  for (BoxPart& part : out.boxes) part.half.y = half;
  return out;
}

Twin randomTwin(Random& random) {
  const Real a = random.uniform(0.8, 1.2);
  switch (random.index(5)) {
    case 0:
      return {"cube",
              meshFrom(reference::boxSurface({0.3 * a, 0.3 * a, 0.3 * a})),
              {{{0.3 * a, 0.3 * a, 0.3 * a}, {}}},
              0.3 * a};
    case 1:
      return {"plank",
              meshFrom(reference::boxSurface({0.6 * a, 0.2, 0.05})),
              {{{0.6 * a, 0.2, 0.05}, {}}},
              0.05};
    case 2:  // two legs and a top
      return profile("table",
                     {{-0.5, -0.3},
                      {-0.4, -0.3},
                      {-0.4, 0.2},
                      {0.4, 0.2},
                      {0.4, -0.3},
                      {0.5, -0.3},
                      {0.5, 0.3},
                      {-0.5, 0.3}},
                     {{0, 1, 2}, {0, 2, 7}, {2, 3, 7}, {3, 6, 7}, {3, 5, 6}, {3, 4, 5}}, 0.3 * a,
                     {{{0.05, 0, 0.25}, {-0.45, 0, -0.05}},
                      {{0.05, 0, 0.25}, {0.45, 0, -0.05}},
                      {{0.5, 0, 0.05}, {0, 0, 0.25}}});
    case 3:
      return profile("stairs",
                     {{-0.4, -0.4},
                      {0.4, -0.4},
                      {0.4, -0.15},
                      {0.125, -0.15},
                      {0.125, 0.1},
                      {-0.125, 0.1},
                      {-0.125, 0.35},
                      {-0.4, 0.35}},
                     {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}, {0, 5, 7}, {5, 6, 7}}, 0.3 * a,
                     {{{0.4, 0, 0.125}, {0, 0, -0.275}},
                      {{0.2625, 0, 0.125}, {-0.1375, 0, -0.025}},
                      {{0.1375, 0, 0.125}, {-0.2625, 0, 0.225}}});
    default:
      return profile(
          "hook", {{-0.4, -0.4}, {0.4, -0.4}, {0.4, -0.1}, {-0.1, -0.1}, {-0.1, 0.4}, {-0.4, 0.4}},
          {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}}, 0.3 * a,
          {{{0.4, 0, 0.15}, {0, 0, -0.25}}, {{0.15, 0, 0.25}, {-0.25, 0, 0.15}}});
  }
}

/// Grounds are flat at z = 0 but for the terrain.
struct Ground {
  std::string name;
  std::shared_ptr<const Shape> shape, twin;
  Vec3 at{};
  bool isFlat = true;
};

Ground randomGround(Random& random) {
  const auto slab = [] { return meshFrom(reference::boxSurface({2, 2, 0.2})); };
  std::vector<Real> flat(64, 0), rough(64);
  for (Real& z : rough) z = random.uniform(-0.04, 0.04);
  switch (random.index(5)) {
    case 0:
      return {"slab", slab(), box(2, 2, 0.2), {0, 0, -0.2}};
    case 1:
      return {"sheet",
              meshFrom(reference::gridSurface(2 + random.index(6), 4, flat)),
              box(2, 2, 0.2),
              {}};
    case 2:
      return {"box", box(2, 2, 0.2), box(2, 2, 0.2), {0, 0, -0.2}};
    case 3:
      return {"field", std::make_shared<HeightField>(8, 8, 4, 4, flat), box(2, 2, 0.2), {}};
    default: {
      auto field = std::make_shared<HeightField>(8, 8, 4, 4, rough);
      return {"terrain",
              random.index(2) == 0 ? field : meshFrom(reference::gridSurface(8, 4, rough)),
              field,
              {},
              false};
    }
  }
}

struct Drop {
  std::string text;
  Twin body;
  Ground ground;
  SimulationOptions options;
  Transform start;
  Vec3 spin{};
  bool isFlat = false;  ///< let down on its bottom: its twin stands at the same place
  int numSteps = 0;
};

Drop randomDrop(std::uint64_t seed) {
  Random random(seed);
  Drop drop;
  drop.body = randomTwin(random);
  drop.ground = randomGround(random);
  constexpr SolverType kSolvers[] = {SolverType::Impulse, SolverType::Sap, SolverType::Event};
  constexpr const char* kNames[] = {"impulse", "sap", "event"};
  // The event solver knows of a mesh that is not convex, on anything but a plane, its nearest point
  // only, and takes long where many points stick: it is asked for what is convex and lies flat.
  const int solver = random.index(5) == 0 ? 2 : random.index(2);
  drop.options.solver = kSolvers[solver];
  drop.options.dt = solver == 2 ? 0.01 : random.uniform(0.001, 0.005);
  drop.options.event.maxSteps = 3000;
  drop.isFlat = solver == 2 || random.index(2) == 0;
  if (solver == 2 && (!drop.ground.isFlat || drop.ground.name == "sheet"))
    drop.ground = {"plane", std::make_shared<Plane>(), std::make_shared<Plane>(), {}};
  while (solver == 2 && drop.body.boxes.size() > 1) drop.body = randomTwin(random);
  const Mat3 about = turnAbout({0, 0, 1}, random.uniform(0, 6.28));
  drop.start.rotation = drop.isFlat ? about : random.rotation();
  drop.start.translation = {random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5),
                            (drop.isFlat ? drop.body.bottom : 0.8) +
                                (drop.ground.isFlat ? 0 : 0.05) + random.uniform(0.001, 0.05)};
  if (!drop.isFlat) drop.spin = random.vector(2);
  drop.numSteps = static_cast<int>((drop.isFlat ? (solver == 2 ? 0.2 : 1.5) : 4) / drop.options.dt);
  drop.text = drop.body.name + " on " + drop.ground.name + ", " + kNames[solver] +
              (drop.isFlat ? ", flat" : ", tumbling");
  return drop;
}

struct Fall {
  Transform pose;
  Real gained = 0;         ///< the most that the energy ever was above that of the start, of m g h
  Real speed = 0;          ///< the highest in the last tenth of the run [m/s]
  bool isRefused = false;  ///< more work than the event solver is given
};

Fall fall(const Drop& drop, bool isOfBoxes) {
  ModelBuilder builder;
  builder.setOptions(drop.options);
  builder.addMaterial({.name = "m", .density = 500, .friction = 0.6});
  const bool isOnTwin = isOfBoxes;
  Vec3 at = drop.ground.at;
  if (isOnTwin && drop.ground.isFlat && drop.ground.twin->type() == ShapeType::Box)
    at = {0, 0, -0.2};
  Body ground =
      fixedOf("ground", isOnTwin ? drop.ground.twin : drop.ground.shape, at, Mat3::identity(), "m");
  builder.addBody(ground);
  Body body{.name = "body"};
  body.pose = drop.start;
  body.angularVelocity = drop.spin;
  if (isOfBoxes)
    for (const BoxPart& part : drop.body.boxes)
      body.shapes.push_back({.shape = std::make_shared<Box>(part.half),
                             .pose = {Mat3::identity(), part.at},
                             .material = "m"});
  else
    body.shapes.push_back({.shape = drop.body.mesh, .material = "m"});
  builder.addBody(body);
  Simulator sim(builder.build());
  const auto energyOf = [&] { return sim.energy().kinetic + sim.energy().potential; };
  const Real mass = sim.model().massProperties(sim.model().findBody("body")).mass;
  const Real start = energyOf(), unit = mass * kGravity * 0.1;
  Fall out;
  for (int i = 0; i < drop.numSteps; ++i) {
    if (isRefused(sim.step().status)) {
      out.isRefused = true;
      return out;
    }
    out.gained = std::max(out.gained, (energyOf() - start) / unit);
    if (i > drop.numSteps * 9 / 10)
      out.speed = std::max(out.speed, std::sqrt(2 * sim.energy().kinetic / mass));
  }
  out.pose = sim.body("body").pose;
  return out;
}

std::uint64_t numberFrom(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(MeshDrops, RestLikeBodiesMadeOfBoxesWithoutGainOfEnergy) {
  const std::uint64_t first = numberFrom("TANGERE_FIRST_DROP", 1);
  const std::uint64_t count = numberFrom("TANGERE_DROPS", 40);
  // Of m g times 0.1 m: what rounding and the slop of contacts give.
  constexpr Real kGain = 1e-3;
  int numAtRest = 0, numTwinsAtRest = 0, numRefused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Drop drop = randomDrop(seed);
    SCOPED_TRACE(std::to_string(seed) + ": " + drop.text);
    const Fall mesh = fall(drop, false), boxes = fall(drop, true);
    EXPECT_TRUE(!mesh.isRefused || boxes.isRefused);
    EXPECT_LT(mesh.gained, kGain);
    numRefused += mesh.isRefused || boxes.isRefused ? 1 : 0;
    if (mesh.isRefused || boxes.isRefused) continue;
    const Vec3 moved = mesh.pose.translation - drop.start.translation;
    EXPECT_LT(norm(Vec3{moved.x, moved.y, 0}), 2);
    EXPECT_GT(mesh.pose.translation.z, -0.05);
    // Slower than what gravity gives in a twentieth of a second, whether it rocks or not.
    const Real still = 0.01;
    numAtRest += mesh.speed < still ? 1 : 0;
    numTwinsAtRest += boxes.speed < still ? 1 : 0;
    if (!drop.isFlat || !drop.ground.isFlat) continue;
    EXPECT_LT(mesh.speed, std::max(still, 2 * boxes.speed));
    EXPECT_LT(norm(mesh.pose.translation - boxes.pose.translation), 2e-3);
    EXPECT_GT(dot(mesh.pose.rotation.col[2], boxes.pose.rotation.col[2]), 1 - 1e-4);
  }
  std::printf("%d of %d at rest, %d of their twins, %d too much work\n", numAtRest,
              static_cast<int>(count), numTwinsAtRest, numRefused);
  EXPECT_LE(numRefused, static_cast<int>(count) / 10);
  EXPECT_GE(numAtRest + static_cast<int>(count) / 20, numTwinsAtRest);
}

}  // namespace
}  // namespace tangere::test
