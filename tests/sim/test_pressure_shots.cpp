// SPDX-License-Identifier: Apache-2.0
//
// What presses does not pass: shots of soft and rigid bodies at planes, boxes, thin plates and
// meshes, at speeds and steps from slow to absurd. A step either keeps them apart, in parts if it
// must, or is refused with both names and the state before it.
//
//   test_sim_pressure_shots                        some hundred shots
//   TANGERE_SHOTS=10000 test_sim_pressure_shots    the long run
//   TANGERE_FIRST_SHOT=123 TANGERE_SHOTS=1 ...     one of them
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tangere::test {
namespace {

SimulationOptions weightless(Real dt) {
  SimulationOptions options;
  options.dt = dt;
  options.gravity = {};
  options.solver = SolverType::Sap;
  return options;
}

Vec3 middleOfSoft(const Simulator& simulator) {
  Vec3 sum{};
  const std::span<const Vec3> x = simulator.softPositions(0);
  for (const Vec3& p : x) sum += p;
  return sum * (1 / static_cast<Real>(x.size()));
}

Real highestOfSoft(const Simulator& simulator) {
  Real highest = -kUnlimited;
  for (const Vec3& p : simulator.softPositions(0)) highest = std::max(highest, p.z);
  return highest;
}

struct Shot {
  std::string text;
  SimulationOptions options;
  Material target, bullet;
  Body wall;
  Real half = 0;  ///< thickness of the wall on either side of z = 0; a plane: 0
  bool isSoft = false, isLayer = false;
  std::shared_ptr<const Shape> shape{};
  Real resolution = 0, size = 0;
  Real young = 1e5;
  Transform start{};
  Vec3 velocity{}, spin{};
  int numSteps = 0;
};

/// A closed box of triangles.
std::shared_ptr<const Shape> boxMesh(const Vec3& half) {
  std::vector<Vec3> v;
  for (int i = 0; i < 8; ++i) {
    v.push_back({(i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                 (i & 4) != 0 ? half.z : -half.z});
  }
  const std::vector<Triangle> f = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                   {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                   {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return std::make_shared<Mesh>(v, f);
}

Material pressing(const std::string& name, Real modulus, Random& random) {
  Material out{.name = name,
               .density = random.magnitude(200, 8000),
               .friction = random.uniform(0, 1),
               .relaxationTime = random.index(2) == 0 ? 0 : 0.02,
               .contact = ContactModel::Hydroelastic,
               .hydroelasticModulus = modulus};
  return out;
}

void addWall(Shot& shot, Random& random) {
  const Real modulus = random.index(2) == 0 ? kUnlimited : random.magnitude(1e5, 1e9);
  shot.target = pressing("target", modulus, random);
  shot.wall.name = "wall";
  shot.wall.type = BodyType::Fixed;
  const bool isThin = random.index(2) == 0;
  shot.half = isThin ? random.magnitude(5e-4, 5e-3) : random.magnitude(0.02, 0.2);
  std::shared_ptr<const Shape> shape;
  switch (random.index(3)) {
    case 0:
      shape = std::make_shared<Plane>();
      shot.half = 0;
      shot.target.hydroelasticThickness = random.magnitude(0.01, 0.2);
      shot.text += "plane";
      break;
    case 1:
      shape = std::make_shared<Box>(Vec3{0.5, 0.5, shot.half});
      shot.text += "box";
      break;
    default:
      shape = boxMesh({0.5, 0.5, shot.half});
      shot.target.hydroelasticModulus = kUnlimited;  // a fine mesh of a plate would take minutes
      shot.text += "mesh";
      break;
  }
  shot.text += shot.target.hydroelasticModulus < kUnlimited ? " that yields" : " that is rigid";
  shot.isLayer = shot.half == 0 && shot.target.hydroelasticModulus < kUnlimited;
  shot.wall.shapes = {{.shape = shape, .material = "target"}};
}

void addBullet(Shot& shot, Random& random) {
  const bool mayBeRigid = shot.target.hydroelasticModulus < kUnlimited;
  shot.isSoft = random.index(2) == 0;
  shot.bullet = pressing(
      "bullet",
      !shot.isSoft && mayBeRigid && random.index(2) == 0 ? kUnlimited : random.magnitude(1e5, 1e8),
      random);
  shot.bullet.hydroelasticResolution = 0;
  shot.size = random.magnitude(0.01, 0.1);
  shot.young = random.magnitude(3e4, 1e6);
  const auto length = [&] { return shot.size * random.uniform(0.3, 1); };
  switch (random.index(4)) {
    case 0:
      shot.shape = std::make_shared<Sphere>(shot.size);
      shot.text += ", a ball";
      break;
    case 1:
      shot.shape = std::make_shared<Box>(Vec3{length(), length(), length()});
      shot.text += ", a box";
      break;
    case 2:
      shot.shape = std::make_shared<Capsule>(shot.size / 2, shot.size / 2);
      shot.text += ", a capsule";
      break;
    default: {
      const Real s = shot.size;
      shot.shape = std::make_shared<Convex>(
          std::vector<Vec3>{{s, 0, 0}, {-s, 0, 0}, {0, s, 0}, {0, -s, 0}, {0, 0, s}, {0, 0, -s}});
      shot.text += ", an octahedron";
    }
  }
  shot.resolution = shot.size * random.uniform(0.4, 0.9);
  if (!shot.isSoft) shot.bullet.hydroelasticResolution = shot.resolution;
  shot.text += shot.isSoft                                    ? " that is soft"
               : shot.bullet.hydroelasticModulus < kUnlimited ? " that yields"
                                                              : " that is rigid";
}

Shot randomShot(std::uint64_t seed) {
  Random random(seed);
  Shot shot;
  addWall(shot, random);
  addBullet(shot, random);
  const Real dt = random.magnitude(1e-4, 2e-2), speed = random.magnitude(0.5, 50);
  shot.options = weightless(dt);
  const Real angle = random.uniform(0, 1), around = random.uniform(0, 6.28);
  shot.velocity = Vec3{std::sin(angle) * std::cos(around), std::sin(angle) * std::sin(around),
                       -std::cos(angle)} *
                  speed;
  shot.spin = random.vector(random.index(2) == 0 ? 0 : 50);
  const Mat3 turn = random.rotation();
  const Real gap = random.uniform(0.001, 1.5 * speed * dt + 0.002);
  const Real height = shot.half - shot.shape->worldAabb({turn, {}}).lower.z + gap;
  // So that it comes down on the middle of the wall.
  const Vec3 back = shot.velocity * (-(height - shot.half) / shot.velocity.z);
  Transform pose{turn, {-back.x, -back.y, height}};
  shot.start = pose;
  const Real way = gap + 4 * shot.size + 2 * shot.half;
  shot.numSteps =
      static_cast<int>(std::clamp<Real>(std::ceil(2 * way / (-shot.velocity.z * dt)), 4, 120));
  shot.text += ", " + std::to_string(speed) + " m/s, dt " + std::to_string(dt);
  return shot;
}

enum class Outcome { Kept, Refused, Passed, Broken };

Outcome fire(const Shot& shot, std::string* name) {
  ModelBuilder builder;
  builder.setOptions(shot.options);
  builder.addMaterial(shot.target);
  builder.addMaterial(shot.bullet);
  builder.addBody(shot.wall);
  if (shot.isSoft) {
    SoftBody soft;
    soft.name = "bullet";
    soft.mesh = std::make_shared<TetMesh>(meshShape(*shot.shape, {.resolution = shot.resolution}));
    soft.pose = shot.start;
    soft.linearVelocity = shot.velocity;
    soft.material = "bullet";
    soft.elasticity = {.young = shot.young, .poisson = 0.4, .damping = 0.001};
    builder.addSoftBody(soft);
  } else {
    Body body;
    body.name = "bullet";
    body.pose = shot.start;
    body.linearVelocity = shot.velocity;
    body.angularVelocity = shot.spin;
    body.shapes = {{.shape = shot.shape, .material = "bullet"}};
    builder.addBody(body);
  }
  Simulator simulator(builder.build());
  for (int i = 0; i < shot.numSteps; ++i) {
    const std::uint64_t before = simulator.state().hash();
    const StepReport report = simulator.step();
    if (isRefused(report.status)) {
      *name = describe(report, simulator.model(), static_cast<std::uint64_t>(i));
      if (!has(report.status, StepStatus::MayHaveCrossed)) return Outcome::Broken;
      const bool isNamed =
          name->find("'wall'") != std::string::npos && name->find("'bullet'") != std::string::npos;
      return isNamed && simulator.state().hash() == before ? Outcome::Refused : Outcome::Broken;
    }
    const Vec3 center =
        shot.isSoft ? middleOfSoft(simulator) : simulator.body("bullet").pose.translation;
    const bool isOverWall =
        shot.half == 0 || (std::fabs(center.x) < 0.4 && std::fabs(center.y) < 0.4);
    // A layer gives way, but presses harder and harder; and a soft body may be squeezed flat or
    // turned inside out (which its status says): it has passed when all of it has.
    const bool isPressed = shot.isLayer && report.numPressurePolygons > 0;
    const Real highest = shot.isSoft ? highestOfSoft(simulator) : center.z;
    if (isOverWall && highest < -shot.half && !isPressed) return Outcome::Passed;
    if (!isOverWall) return Outcome::Kept;
  }
  const bool isBeyond = shot.isSoft && middleOfSoft(simulator).z < -shot.half - shot.size;
  if (isBeyond && simulator.report().numPressurePolygons == 0) return Outcome::Passed;
  return Outcome::Kept;
}

std::uint64_t numberFrom(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(PressureShots, NeverPassWhatTheyPressOn) {
  const std::uint64_t first = numberFrom("TANGERE_FIRST_SHOT", 1);
  const std::uint64_t count = numberFrom("TANGERE_SHOTS", 150);
  int numKept = 0, numRefused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Shot shot = randomShot(seed);
    std::string name;
    const Outcome outcome = fire(shot, &name);
    numKept += outcome == Outcome::Kept ? 1 : 0;
    numRefused += outcome == Outcome::Refused ? 1 : 0;
    EXPECT_NE(outcome, Outcome::Passed) << seed << ": " << shot.text;
    EXPECT_NE(outcome, Outcome::Broken) << seed << ": " << shot.text << ": " << name;
  }
  std::printf("%d kept, %d refused\n", numKept, numRefused);
  if (count < 100) return;
  EXPECT_GT(numKept, numRefused);  // refusing is no way of passing
}

TEST(PressureShots, ABodyInsideOutDoesNotSeepThroughAWallInSmallParts) {
  // Its elements hardly press, and in each of 64 parts its core moves by less than 1 % of its
  // depth.
  const Shot shot = randomShot(9100796);
  std::string name;
  EXPECT_EQ(fire(shot, &name), Outcome::Refused) << shot.text << ": " << name;
}

/// A soft ball of 5 cm radius comes down on a rigid floor.
bool fallsThrough(Real height, Real speed, Real dt, StepStatus* status) {
  ModelBuilder builder;
  builder.setOptions(weightless(dt));
  builder.addMaterial({.name = "rubber",
                       .friction = 0.5,
                       .relaxationTime = 0.02,
                       .contact = ContactModel::Hydroelastic,
                       .hydroelasticModulus = 1e7});
  builder.addBody(floorOf(""));
  SoftBody ball;
  ball.name = "ball";
  ball.mesh = std::make_shared<TetMesh>(meshShape(Sphere(0.05), {.resolution = 0.025}));
  ball.pose.translation = {0, 0, height};
  ball.material = "rubber";
  ball.linearVelocity = {0, 0, -speed};
  ball.elasticity = {.young = 1e5, .poisson = 0.4, .damping = 0.001};
  builder.addSoftBody(ball);
  Simulator simulator(builder.build());
  for (int i = 0; i < 30; ++i) {
    *status = simulator.step().status;
    if (isRefused(*status)) return false;
    if (middleOfSoft(simulator).z < -0.015) return true;
  }
  return middleOfSoft(simulator).z < 0;
}

TEST(PressureShots, ASoftBallDoesNotFallThroughAFloorAtLongSteps) {
  StepStatus status = StepStatus::Ok;
  EXPECT_FALSE(fallsThrough(0.1, 5, 0.01, &status));
  EXPECT_FALSE(isRefused(status));
  Random random(7);
  for (int i = 0; i < 25; ++i) {
    const Real height = random.uniform(0.06, 0.16);
    EXPECT_FALSE(fallsThrough(height, 20, 0.005, &status)) << height;
    EXPECT_FALSE(isRefused(status)) << height;
  }
}

/// Two soft cubes of 0.1 m, one still, one that comes down on it.
Simulator cubesThatMeet(Real height, Real speed, Real dt) {
  ModelBuilder builder;
  builder.setOptions(weightless(dt));
  builder.addMaterial({.name = "rubber", .density = 1000});
  SoftBody cube;
  cube.mesh = std::make_shared<TetMesh>(meshShape(Box({0.05, 0.05, 0.05}), {.resolution = 0.05}));
  cube.material = "rubber";
  cube.name = "still";
  builder.addSoftBody(cube);
  cube.name = "shot";
  cube.pose.translation = {0, 0, height};
  cube.linearVelocity = {0, 0, -speed};
  builder.addSoftBody(cube);
  return Simulator(builder.build());
}

Real middleOf(const Simulator& simulator, int soft) {
  Real sum = 0;
  const std::span<const Vec3> x = simulator.softPositions(soft);
  for (const Vec3& p : x) sum += p.z;
  return sum / static_cast<Real>(x.size());
}

TEST(PressureShots, SoftBodiesThatMeetFasterThanTheyAreThickDoNotPassEachOther) {
  // Up to 300 m/s they go 0.09 m in each of 64 parts of the step; beyond that nothing can keep them
  // apart, and one that is turned inside out to its core is not in front for that.
  const std::uint64_t first = numberFrom("TANGERE_FIRST_SHOT", 1);
  const std::uint64_t count = std::max<std::uint64_t>(numberFrom("TANGERE_SHOTS", 150) / 3, 1);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const bool isFirst = seed == first;  // which once went through, crumpled
    const Real height = isFirst ? 1 : random.uniform(0.2, 3);
    const Real speed = isFirst ? 3000 : std::exp(random.uniform(2, 8.5));
    Simulator simulator = cubesThatMeet(height, speed, 0.02);
    const int shot = middleOf(simulator, 0) > middleOf(simulator, 1) ? 0 : 1;
    const std::uint64_t before = simulator.state().hash();
    const StepReport report = simulator.step();
    if (isRefused(report.status)) {
      EXPECT_GT(speed, 20) << "refusing is no way of passing: such a blow can be taken";
      EXPECT_EQ(simulator.state().hash(), before);
      EXPECT_TRUE(report.soft == 0 && report.soft2 == 1) << height << ' ' << speed;
    } else {
      EXPECT_GT(middleOf(simulator, shot), middleOf(simulator, 1 - shot)) << height << ' ' << speed;
    }
  }
}

}  // namespace
}  // namespace tangere::test
