// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies that fall slowly, of any shape, law, stiffness and step, on floors that yield or do
// not: contact gives back what it took and no more. Forty random falls; more by
//
//   TANGERE_FALLS=2000 test_sim_soft_falls
//   TANGERE_FIRST_FALL=4711                  beginning with that seed
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace tangere::test {
namespace {

constexpr std::array kLaws = {ElasticModel::Corotated, ElasticModel::NeoHookean,
                              ElasticModel::StVenantKirchhoff, ElasticModel::Linear};

struct Fall {
  std::string text;
  SimulationOptions options;
  Material floor, rubber;
  Body ground;
  std::shared_ptr<const Shape> shape{};
  Real size = 0, resolution = 0;
  Elasticity elasticity;
  Transform start{};
  Vec3 velocity{};
  int numSteps = 0;
};

Simulator simulatorOf(const Fall& fall) {
  ModelBuilder builder;
  builder.setOptions(fall.options);
  builder.addMaterial(fall.floor);
  builder.addMaterial(fall.rubber);
  builder.addBody(fall.ground);
  SoftBody soft;
  soft.name = "body";
  soft.mesh = std::make_shared<TetMesh>(meshShape(*fall.shape, {.resolution = fall.resolution}));
  soft.material = "rubber";
  soft.elasticity = fall.elasticity;
  soft.pose = fall.start;
  soft.linearVelocity = fall.velocity;
  builder.addSoftBody(soft);
  return Simulator(builder.build());
}

void addMaterials(Fall& fall, Random& random) {
  fall.floor = {.name = "floor",
                .friction = random.uniform(0, 1),
                .relaxationTime = random.index(2) == 0 ? 0 : random.magnitude(1e-3, 0.1),
                .dissipation = random.uniform(0, 2),
                .contact = ContactModel::Hydroelastic};
  fall.rubber = fall.floor;
  fall.rubber.name = "rubber";
  fall.rubber.hydroelasticModulus = random.magnitude(1e5, 3e8);
  fall.floor.hydroelasticModulus = random.index(2) == 0 ? kUnlimited : random.magnitude(1e5, 3e8);
  fall.floor.planeContact = fall.rubber.planeContact =
      random.index(4) == 0 ? PlaneContact::Vertices : PlaneContact::Elements;
  fall.text += fall.floor.hydroelasticModulus < kUnlimited ? " that yields" : " that is rigid";
}

void addGround(Fall& fall, Random& random) {
  const Real size = fall.size;
  fall.ground.name = "ground";
  fall.ground.type = BodyType::Fixed;
  if (random.index(2) == 0) {
    fall.ground.shapes = {{.shape = std::make_shared<Plane>(), .material = "floor"}};
    fall.floor.hydroelasticThickness = random.magnitude(0.01, 0.1);
    fall.text += " plane";
  } else {
    fall.ground.shapes = {{.shape = box(6 * size, 6 * size, size),
                           .pose = {Mat3::identity(), {0, 0, -size}},
                           .material = "floor"}};
    fall.floor.hydroelasticResolution = size * random.uniform(0.8, 2);
    fall.text += " box";
  }
}

void addShape(Fall& fall, Random& random) {
  const Real size = fall.size;
  const auto part = [&](Real low, Real high) { return size * random.uniform(low, high); };
  switch (random.index(5)) {
    case 0:
      fall.shape = std::make_shared<Sphere>(size);
      fall.text += ", a ball";
      break;
    case 1:
      fall.shape = box(size, part(0.15, 0.3), part(0.15, 0.3));
      fall.text += ", a bar";
      break;
    case 2:
      fall.shape = box(size, part(0.5, 1), part(0.1, 0.2));
      fall.text += ", a plate";
      break;
    case 3:
      fall.shape = box(part(0.5, 1), part(0.5, 1), size);
      fall.text += ", a block";
      break;
    default:
      fall.shape = std::make_shared<Capsule>(size / 3, size * 2 / 3);
      fall.text += ", a capsule";
  }
  fall.resolution = part(0.25, 1);
}

Fall randomFall(std::uint64_t seed) {
  Random random(seed * 1000003);  // seeds that follow each other draw the same numbers shifted
  Fall fall;
  fall.size = random.magnitude(0.01, 0.1);
  fall.options.dt = random.magnitude(1e-4, 2e-2);
  fall.options.solver = SolverType::Sap;
  if (random.index(4) == 0) fall.options.sap.contact = SapContactModel::HuntCrossley;
  addMaterials(fall, random);
  addGround(fall, random);
  addShape(fall, random);
  fall.elasticity = {.model = kLaws[static_cast<std::size_t>(random.index(4))],
                     .young = random.magnitude(2e4, 1e7),
                     .poisson = random.uniform(0, 0.48),
                     .damping = random.index(2) == 0 ? 0 : random.magnitude(1e-4, 1e-2)};
  const Mat3 turn = random.index(4) == 0 ? Mat3::identity() : random.rotation();
  const Real gap = fall.size * random.uniform(0, 0.5);
  fall.start = {turn, {0, 0, gap - fall.shape->worldAabb({turn, {}}).lower.z}};
  fall.velocity = random.vector(random.index(2) == 0 ? 0 : 0.3);
  fall.velocity.z = -std::fabs(fall.velocity.z);
  const Real time = std::sqrt(2 * fall.size / kGravity);
  fall.numSteps = static_cast<int>(std::clamp(6 * time / fall.options.dt, 30.0, 300.0));
  fall.text += " of " + std::to_string(fall.size) + " m, " +
               std::string(elasticModelName(fall.elasticity.model)) + " E " +
               std::to_string(fall.elasticity.young) + ", dt " + std::to_string(fall.options.dt);
  return fall;
}

/// What contact could give back: half of the force times the depth.
Real storedBy(const Simulator& simulator, const StepReport& report) {
  Real force = 0;
  for (const PressurePolygon& polygon : simulator.pressureContacts())
    force += polygon.area * polygon.pressure;
  return force * report.maxDepth / 2;
}

struct Gain {
  Real overStart = 0;   ///< energy over that of the start, in what it loses until it rests
  Real overStored = 0;  ///< what it gained in some steps over what contact had stored, likewise
  bool isRefused = false;
};

/// Stretches or squeezes the body along a direction, by 1.6 at most, over the floor still.
void drawOut(std::uint64_t seed, Simulator* simulator) {
  Random random(seed * 1000003 + 7);
  const Vec3 axis = random.rotation().col[0];
  const Real factor = random.magnitude(1 / 1.6, 1.6);
  std::vector<Vec3> x(simulator->softPositions(0).begin(), simulator->softPositions(0).end());
  const auto lowest = [&] {
    Real out = kUnlimited;
    for (const Vec3& p : x) out = std::min(out, p.z);
    return out;
  };
  const Real before = lowest();
  const Vec3 center = x[0];
  for (Vec3& p : x) p += axis * ((factor - 1) * dot(axis, p - center));
  const Real lift = before - lowest();
  for (Vec3& p : x) p.z += lift;
  simulator->setSoftPositions(0, x);
}

Gain letFall(const Fall& fall, std::uint64_t drawSeed = 0) {
  constexpr std::size_t kWindow = 6;  // steps
  Simulator simulator = simulatorOf(fall);
  if (drawSeed > 0) drawOut(drawSeed, &simulator);
  const auto energyOf = [&] { return simulator.energy().kinetic + simulator.energy().potential; };
  std::vector<Real> energy{energyOf()}, stored;
  Gain gain;
  for (int i = 0; i < fall.numSteps && !gain.isRefused; ++i) {
    const StepReport report = simulator.step();
    gain.isRefused = isRefused(report.status);
    stored.push_back(storedBy(simulator, report));
    energy.push_back(energyOf());
  }
  const Real lost = energy[0] - *std::min_element(energy.begin(), energy.end());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    gain.overStart = std::max(gain.overStart, (energy[i] - energy[0]) / lost);
    for (std::size_t k = i + 1; k <= i + kWindow && k < energy.size(); ++k)
      gain.overStored = std::max(gain.overStored, (energy[k] - energy[i] - stored[i]) / lost);
  }
  return gain;
}

std::uint64_t numberFrom(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(SoftFalls, ContactGivesBackWhatItTookAndNoMore) {
  // When springs of flanks pushed over the whole step, 8 of the first 100 did not, one of which
  // ended with 2100 times what it could have lost.
  const std::uint64_t first = numberFrom("TANGERE_FIRST_FALL", 1);
  const std::uint64_t count = numberFrom("TANGERE_FALLS", 40);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Fall fall = randomFall(seed);
    const Gain gain = letFall(fall);
    EXPECT_LT(gain.overStart, 1e-3) << seed << ":" << fall.text;
    EXPECT_LT(gain.overStored, 0.2) << seed << ":" << fall.text;
    EXPECT_FALSE(gain.isRefused) << seed << ":" << fall.text;
  }
}

TEST(SoftFalls, ContactGivesBackNoMoreToABodyThatIsOutOfShapeEither) {
  const std::uint64_t first = numberFrom("TANGERE_FIRST_FALL", 1);
  const std::uint64_t count = numberFrom("TANGERE_FALLS", 25);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Fall fall = randomFall(seed + 500000);
    const Gain gain = letFall(fall, seed);
    EXPECT_LT(gain.overStart, 1e-3) << seed << ":" << fall.text;
    EXPECT_LT(gain.overStored, 0.2) << seed << ":" << fall.text;
    EXPECT_FALSE(gain.isRefused) << seed << ":" << fall.text;
  }
}

}  // namespace
}  // namespace tangere::test
