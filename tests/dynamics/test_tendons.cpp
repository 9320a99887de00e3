// SPDX-License-Identifier: Apache-2.0
//
// What tendons add to mass matrix, bias and passive force, against finite differences of their
// energy and by hand.
#include <tangere/dynamics.hpp>

#include "dynamics/random_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tangere {
namespace {

using namespace test;

/// A random tree, with tendons through sites of its links and of the world, one of them over a
/// pulley, and a sum of joints.
Model withTendons(std::uint64_t seed, bool hasTendons = true) {
  TreeOptions options;
  options.seed = seed;
  options.numLinks = 6;
  const std::vector<Body> bodies = randomBodies(options);
  ModelBuilder builder;
  SimulationOptions simulation;
  simulation.solver = SolverType::Sap;
  builder.setOptions(simulation);
  for (const Body& body : bodies) builder.addBody(body);
  if (!hasTendons) return builder.build();
  Random random(seed + 1000);
  std::vector<Tendon::Via> path;
  for (int i = 0; i < 8; ++i) {
    Site site;
    site.name = "s" + std::to_string(i);
    if (i != 3) site.body = bodies[static_cast<std::size_t>(i) % bodies.size()].name;
    site.pose.translation = random.vec3(0.4);
    builder.addSite(site);
    path.push_back({.kind = Tendon::Via::Kind::Site, .site = site.name});
  }
  Tendon first{.name = "first"};
  first.path = {path[0], path[1], path[2], path[3]};
  first.armature = 0.7;
  first.stiffness = 30;
  first.damping = 0.4;
  first.springLower = 0.2;
  first.springUpper = 0.3;
  builder.addTendon(first);
  Tendon second{.name = "second"};
  second.path = {
      path[4], path[5], {.kind = Tendon::Via::Kind::Pulley, .divisor = 2}, path[6], path[7]};
  second.armature = 2.5;
  second.stiffness = 11;
  builder.addTendon(second);
  return builder.build();
}

/// d/dt of what it is of along the motion of the state with constant v.
template <class Function>
std::vector<Real> alongMotion(const Model& model, const State& state, const Function& of) {
  const Real h = 1e-6;
  State before = state, after = state;
  before.q = integratePositions(model, state.q, state.v, -h);
  after.q = integratePositions(model, state.q, state.v, h);
  std::vector<Real> out = of(after);
  const std::vector<Real> less = of(before);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (out[i] - less[i]) / (2 * h);
  return out;
}

TEST(Tendons, MassMatrixIsThatOfTheKineticEnergy) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Model model = withTendons(seed), bare = withTendons(seed, false);
    const State state = randomState(model, seed);
    State same(bare);
    same.q = state.q, same.v = state.v;
    const Real energy = kineticEnergy(model, state);
    const std::vector<Real> M = massMatrix(model, state);
    EXPECT_NEAR(Real(0.5) * dotOf(state.v, times(M, state.v)), energy, 1e-12 * energy);
    EXPECT_GT(energy, kineticEnergy(bare, same));
  }
}

TEST(Tendons, PassiveForceIsTheSlopeOfTheEnergyLessDamping) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Model model = withTendons(seed), bare = withTendons(seed, false);
    State state = randomState(model, seed), same(bare);
    same.q = state.q, same.v = state.v;
    // Power of what tendons add: -dV/dt - d rate^2.
    std::vector<Real> added = passiveForce(model, state);
    const std::vector<Real> without = passiveForce(bare, same);
    for (std::size_t k = 0; k < added.size(); ++k) added[k] -= without[k];
    State still = state;
    std::fill(still.v.begin(), still.v.end(), Real(0));
    std::vector<Real> elastic = passiveForce(model, still);
    State stillSame = same;
    std::fill(stillSame.v.begin(), stillSame.v.end(), Real(0));
    const std::vector<Real> elasticWithout = passiveForce(bare, stillSame);
    for (std::size_t k = 0; k < elastic.size(); ++k) elastic[k] -= elasticWithout[k];
    const Real slope = alongMotion(model, state, [&](const State& s) {
      State b(bare);
      b.q = s.q, b.v = s.v;
      return std::vector<Real>{potentialEnergy(model, s) - potentialEnergy(bare, b)};
    })[0];
    EXPECT_NEAR(dotOf(elastic, state.v), -slope, 1e-6 * (1 + std::fabs(slope)));
    EXPECT_LE(dotOf(added, state.v), dotOf(elastic, state.v) + 1e-12);
  }
}

TEST(Tendons, WithoutForcesTheAccelerationKeepsTheEnergy) {
  // d/dt (T + V) = 0 along a = M^-1 (passive without damping - bias).
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Model model = withTendons(seed);
    const State state = randomState(model, seed);
    State still = state;
    std::fill(still.v.begin(), still.v.end(), Real(0));
    const std::vector<Real> force = passiveForce(model, still);  // springs alone
    const std::vector<Real> a = forwardDynamics(model, state, force);
    const Real h = 1e-6;
    const auto energyAt = [&](Real t) {
      State s = state;
      std::vector<Real> mean = state.v;
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += Real(0.5) * t * a[k];
      s.q = integratePositions(model, state.q, mean, t);
      for (std::size_t k = 0; k < s.v.size(); ++k) s.v[k] += t * a[k];
      return kineticEnergy(model, s) + potentialEnergy(model, s);
    };
    const Real scale = kineticEnergy(model, state) + std::fabs(potentialEnergy(model, state));
    EXPECT_NEAR((energyAt(h) - energyAt(-h)) / (2 * h), 0, 1e-6 * scale) << seed;
  }
}

TEST(Tendons, InverseAndForwardDynamicsUndoEachOtherByBothWays) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Model model = withTendons(seed);
    const State state = randomState(model, seed);
    const std::vector<Real> a = Random(seed).vector(state.v.size(), 2);
    const std::vector<Real> force = inverseDynamics(model, state, a);
    std::vector<Real> expected = times(massMatrix(model, state), a);
    const std::vector<Real> bias = biasForce(model, state);
    for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += bias[k];
    EXPECT_LT(relativeDifference(force, expected), 1e-12);
    EXPECT_LT(relativeDifference(forwardDynamics(model, state, force), a), 1e-8);
    Dynamics dynamics(model);
    dynamics.setState(state.q, state.v);
    std::vector<Real> again(a.size());
    dynamics.forwardDynamicsByFactors(force, again);
    EXPECT_LT(relativeDifference(again, a), 1e-8);
  }
}

TEST(Tendons, AMassThatCirclesFeelsTheArmatureOfItsString) {
  // r'' = v^2/r for a mass that passes at distance r: M = 1 + 5 along x, 1 along z; the bias is
  // 5 v^2 / r = 5 * 9 / 2 along the string.
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.gravity = {};
  builder.setOptions(options);
  Body body;
  body.name = "b";
  body.joints = {{.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}},
                 {.name = "z", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
  body.pose.translation = {2, 0, 0};
  body.massProperties = MassProperties{.mass = 1, .inertia = Mat3::identity()};
  builder.addBody(body);
  builder.addSite({.name = "w", .body = ""});
  builder.addSite({.name = "s", .body = "b"});
  Tendon string{.name = "t"};
  string.path = {{.site = "w"}, {.site = "s"}};
  string.armature = 5;
  string.stiffness = 100;
  string.springLower = string.springUpper = 0.5;
  builder.addTendon(string);
  const Model model = builder.build();
  State state(model);
  state.v = {0, 3};
  EXPECT_EQ(massMatrix(model, state), (std::vector<Real>{6, 0, 0, 1}));
  EXPECT_NEAR(biasForce(model, state)[0], 22.5, 1e-12);
  EXPECT_NEAR(passiveForce(model, state)[0], -150, 1e-12);
  EXPECT_NEAR(potentialEnergy(model, state), 112.5, 1e-12);
}

}  // namespace
}  // namespace tangere
