// SPDX-License-Identifier: Apache-2.0
//
// A floor that is laid of tiles is as smooth as one of one piece: what slides or rolls over it does
// not catch where two tiles meet, whatever the tiles are made of. A step between tiles, or a wall
// beside the floor, is felt.
//
//   TANGERE_RIDES=2000 TANGERE_FIRST_RIDE=1 test_sim_tiled_floors       the long run
#include "sim/checked_simulation.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace tangere::test {
namespace {

constexpr Real kTile = 0.23, kThickness = 0.15, kPi = 3.14159265358979323846;
constexpr int kTiles = 6;  ///< on either side of the origin
constexpr Real kSize = kTile * kTiles;

enum class Floor { Whole, Bodies, Grid, Shapes, Compound, Hulls, Meshes };
constexpr std::array kTiled = {Floor::Bodies,   Floor::Grid,  Floor::Shapes,
                               Floor::Compound, Floor::Hulls, Floor::Meshes};

std::vector<Vec3> cornersOf(const Vec3& h) {
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back(
        {(i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y, (i & 4) != 0 ? h.z : -h.z});
  return corners;
}

std::shared_ptr<const Shape> meshOf(const Vec3& h) {
  return std::make_shared<Mesh>(cornersOf(h), std::vector<Triangle>{{0, 2, 3},
                                                                    {0, 3, 1},
                                                                    {4, 5, 7},
                                                                    {4, 7, 6},
                                                                    {0, 1, 5},
                                                                    {0, 5, 4},
                                                                    {2, 6, 7},
                                                                    {2, 7, 3},
                                                                    {0, 4, 6},
                                                                    {0, 6, 2},
                                                                    {1, 3, 7},
                                                                    {1, 7, 5}});
}

/// Its top is the plane z = 0 of the world of `X_W`.
void addFloor(Floor kind, const Transform& X_W, Scene* scene) {
  const auto addBody = [&](const std::string& name, const std::shared_ptr<const Shape>& shape,
                           const Vec3& at) {
    scene->bodies.push_back(fixedOf(name, shape, {}, Mat3::identity(), "m"));
    scene->bodies.back().pose = X_W * Transform{Mat3::identity(), at};
  };
  const Vec3 plank{kTile / 2, kSize, kThickness};
  const auto placeOf = [](int i) { return Vec3{kTile * (i + Real(0.5)), 0, -kThickness}; };
  const auto addPlanks = [&](const std::shared_ptr<const Shape>& shape) {
    for (int i = -kTiles; i < kTiles; ++i) addBody(named("tile", i), shape, placeOf(i));
  };
  switch (kind) {
    case Floor::Whole:
      return addBody("floor", box(kSize, kSize, kThickness), {0, 0, -kThickness});
    case Floor::Bodies:
      return addPlanks(box(plank.x, plank.y, plank.z));
    case Floor::Hulls:
      return addPlanks(std::make_shared<Convex>(cornersOf(plank)));
    case Floor::Meshes:
      return addPlanks(meshOf(plank));
    case Floor::Grid: {
      const auto tile = box(kTile / 2, kTile / 2, kThickness);
      for (int i = -kTiles; i < kTiles; ++i)
        for (int j = -kTiles; j < kTiles; ++j)
          addBody(named(named("tile", i) + "_", j), tile,
                  placeOf(i) + Vec3{0, kTile * (j + Real(0.5)), 0});
      return;
    }
    case Floor::Shapes:
    case Floor::Compound: {
      std::vector<Compound::Child> children;
      for (int i = -kTiles; i < kTiles; ++i)
        children.push_back({box(plank.x, plank.y, plank.z), {Mat3::identity(), placeOf(i)}});
      addBody("floor", std::make_shared<Compound>(children), {});
      if (kind == Floor::Compound) return;
      Body& body = scene->bodies.back();
      body.shapes.clear();
      for (const Compound::Child& child : children)
        body.shapes.push_back({.shape = child.shape, .pose = child.pose, .material = "m"});
      return;
    }
  }
}

/// Where a body is and how it moves.
struct Motion {
  Vec3 place{}, velocity{}, spin{};
};

struct Ride {
  std::vector<BodyShape> shapes{};
  Mat3 rotation = Mat3::identity();
  Vec3 start{};  ///< the body lies on the floor there
  Vec3 velocity{};
  Real turning = 0;  ///< about z
  Real dt = 1e-3, duration = 0.4;
  Real friction = 0, stiffness = kUnlimited;
  SolverType solver = SolverType::Impulse;
  Transform X_W{};

  [[nodiscard]] Motion endOn(Floor floor) const {
    Scene scene;
    scene.options.dt = dt;
    scene.options.solver = solver;
    scene.options.gravity = X_W.rotation * Vec3{0, 0, -kGravity};
    scene.materials = {{.name = "m", .friction = friction, .stiffness = stiffness}};
    addFloor(floor, X_W, &scene);
    Body body{.name = "body", .shapes = shapes};
    Real lowest = 0;
    for (const BodyShape& shape : shapes) {
      const Mat3 R = rotation * shape.pose.rotation;
      const Vec3 p = R * shape.shape->support(transposeTimes(R, Vec3{0, 0, -1}));
      lowest = std::min(lowest, (p + rotation * shape.pose.translation).z);
    }
    body.pose = X_W * Transform{rotation, start - Vec3{0, 0, lowest}};
    body.linearVelocity = X_W.rotation * velocity;
    body.angularVelocity = X_W.rotation * Vec3{0, 0, turning};
    scene.bodies.push_back(body);
    CheckedSimulation run(scene);
    run.ledgerTolerance = solver == SolverType::Sap ? 1e-9 : 1e-11;
    run.runFor(duration);
    const Vec3 at = transposeTimes(X_W.rotation, run.position("body") - X_W.translation);
    return {at, transposeTimes(X_W.rotation, run.velocity("body")),
            transposeTimes(X_W.rotation, run.spin("body"))};
  }
};

constexpr int kNumKinds = 10;
const char* const kKinds[kNumKinds] = {"box",   "cylinder",  "cone", "ball",     "capsule",
                                       "wheel", "ellipsoid", "hull", "mesh box", "four feet"};

void addShape(std::shared_ptr<const Shape> shape, Ride* ride, const Vec3& at = {}) {
  ride->shapes.push_back(
      {.shape = std::move(shape), .pose = {Mat3::identity(), at}, .material = "m"});
}

/// Of the sizes a, b, c.
void setBody(int kind, Real a, Real b, Real c, Ride* ride) {
  const Mat3 lying = turnAbout({0, 1, 0}, kPi / 2);
  switch (kind) {
    case 0:
      return addShape(box(a, b, c), ride);
    case 1:
      return addShape(std::make_shared<Cylinder>(a, c), ride);
    case 2:
      return addShape(std::make_shared<Cone>(a, c), ride);
    case 3:
      return addShape(ball(a), ride);
    case 4:
      ride->rotation = ride->rotation * lying;
      return addShape(std::make_shared<Capsule>(c, a), ride);
    case 5:
      ride->rotation = ride->rotation * lying;
      return addShape(std::make_shared<Cylinder>(a, c), ride);
    case 6:
      return addShape(std::make_shared<Ellipsoid>(Vec3{a, b, c}), ride);
    case 7:
      return addShape(std::make_shared<Convex>(std::vector<Vec3>{{-a, -b, -c},
                                                                 {a, -b / 2, -c},
                                                                 {a / 2, b, -c},
                                                                 {-a, b / 3, -c},
                                                                 {a / 2, 0, c},
                                                                 {-a / 3, b / 2, c},
                                                                 {0, -b, c / 2}}),
                      ride);
    case 8:
      return addShape(meshOf({a, b, c}), ride);
    default:
      for (const Real x : {-a, a})
        for (const Real y : {-b, b}) addShape(box(0.03, 0.02, 0.01), ride, {x, y, 0});
      return addShape(box(a, b, 0.02), ride, {0, 0, 0.03});
  }
}

/// What two ends differ by, of the speed of the ride.
Real differenceOf(const Motion& a, const Motion& b, const Ride& ride) {
  const Real speed = norm(ride.velocity);
  return std::max(norm(a.velocity - b.velocity) / speed,
                  norm(a.place - b.place) / (speed * ride.duration));
}

std::string nameOf(const Ride& ride, int kind, Floor floor) {
  std::ostringstream text;
  text << kKinds[kind] << " on floor " << static_cast<int>(floor) << " under "
       << solverTypeName(ride.solver) << ", dt " << ride.dt << ", speed " << norm(ride.velocity);
  return text.str();
}

TEST(TiledFloors, WithoutFrictionWhatSlidesKeepsItsSpeed) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    for (const Real speed : {0.5, 5.0}) {
      for (int kind = 0; kind < kNumKinds; ++kind) {
        for (const Floor floor : kTiled) {
          Ride ride{.start = {-0.53, 0.0171, 0},
                    .velocity = {0.99 * speed, 0.14 * speed, 0},
                    .dt = speed < 1 ? 4e-3 : 1e-3,
                    .duration = 1 / speed,
                    .solver = solver};
          setBody(kind, 0.1, 0.07, 0.05, &ride);
          const Motion end = ride.endOn(floor);
          EXPECT_LT(norm(end.velocity - ride.velocity), 5e-3 * speed) << nameOf(ride, kind, floor);
          EXPECT_LT(norm(end.place - ride.endOn(Floor::Whole).place), 2e-3)
              << nameOf(ride, kind, floor);
        }
      }
    }
  }
}

Ride randomRide(long seed, int* kind) {
  Random random(static_cast<std::uint64_t>(seed) * 7919 + 13);
  Ride ride;
  ride.rotation = turnAbout({0, 0, 1}, random.uniform(-kPi, kPi));
  *kind = random.index(kNumKinds);
  const Real a = random.uniform(0.05, 0.2), b = random.uniform(0.04, 0.2),
             c = random.uniform(0.03, 0.1);
  setBody(*kind, a, b, c, &ride);
  ride.start = {random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), 0};
  const Real heading = random.uniform(-kPi, kPi), speed = std::pow(10, random.uniform(-1, 1));
  ride.velocity = Vec3{std::cos(heading), std::sin(heading), 0} * speed;
  ride.dt = std::pow(10, random.uniform(-3.3, -2));
  ride.duration = std::min(0.5, 0.8 / speed);
  ride.friction = random.index(2) == 0 ? 0 : random.uniform(0, 0.5);
  ride.solver = random.index(2) == 0 ? SolverType::Impulse : SolverType::Sap;
  if (ride.solver == SolverType::Sap && ride.friction == 0)
    ride.stiffness = std::pow(10, random.uniform(4, 7));
  if (random.index(2) == 0) ride.X_W = {random.rotation(), random.vector(3)};
  return ride;
}

// More points carry a body where tiles meet, and each of them yields: soft contacts are tried
// without friction, which would tell how deep a body lies.
TEST(TiledFloors, RandomBodiesMoveAsOnOneFloor) {
  const char* const many = std::getenv("TANGERE_RIDES");
  const char* const first = std::getenv("TANGERE_FIRST_RIDE");
  const long count = many != nullptr ? std::atol(many) : 100;
  const long begin = first != nullptr ? std::atol(first) : 1;
  for (long seed = begin; seed < begin + count; ++seed) {
    int kind = 0;
    const Ride ride = randomRide(seed, &kind);
    const Motion whole = ride.endOn(Floor::Whole);
    for (const Floor floor : kTiled) {
      EXPECT_LT(differenceOf(ride.endOn(floor), whole, ride), 0.1)
          << "ride " << seed << ": " << nameOf(ride, kind, floor);
    }
  }
}

/// Speed of a box that has slid from one slab to another that is higher by `step`, without
/// friction.
Real speedAcross(Real step, SolverType solver, bool isWall) {
  Scene scene;
  scene.options.solver = solver;
  scene.options.dt = 1e-3;
  scene.materials = {{.name = "m", .friction = 0}};
  const Vec3 half = {1, 1, isWall ? 0.5 : 0.15};
  const Real top = isWall ? 0.85 : step;
  scene.bodies = {
      fixedOf("a", box(1, 1, 0.15), {-1, 0, -0.15}, Mat3::identity(), "m"),
      fixedOf("b", box(half.x, half.y, half.z), {1, 0, top - half.z}, Mat3::identity(), "m"),
      bodyOf("body", box(0.1, 0.07, 0.05), {-0.3, 0, 0.05}, Mat3::identity(), "m")};
  scene.bodies.back().linearVelocity = {1, 0, 0};
  CheckedSimulation run(scene);
  run.runFor(0.5);
  return run.velocity("body").x;
}

TEST(TiledFloors, AStepOrAWallIsFelt) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    EXPECT_NEAR(speedAcross(0, solver, false), 1, 1e-3);
    EXPECT_NEAR(speedAcross(-2e-3, solver, false), 1, 0.05) << "a step down";
    EXPECT_LT(speedAcross(2e-3, solver, false), 0.5) << "a step up";
    EXPECT_LT(speedAcross(0, solver, true), 0.01) << "a wall";
  }
}

}  // namespace
}  // namespace tangere::test
