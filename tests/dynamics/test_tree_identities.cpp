// SPDX-License-Identifier: Apache-2.0
//
// What must hold between kinematics, mass matrix, bias force and forward dynamics of any tree, with
// joints of every kind.
#include <tangere/dynamics.hpp>
#include <tangere/error.hpp>

#include "dynamics/random_tree.hpp"
#include "dynamics/tree_dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tangere {
namespace {

using namespace test;

std::vector<Real> unitVector(std::size_t n, std::size_t k) {
  std::vector<Real> x(n);
  x[k] = 1;
  return x;
}

TEST(TreeIdentities, InverseDynamicsUndoesForwardDynamics) {
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::vector<Real> force = Random(options.seed).vector(state.v.size(), 5);
    const std::vector<Real> acceleration = forwardDynamics(model, state, force);
    EXPECT_LT(relativeDifference(inverseDynamics(model, state, acceleration), force), 1e-11)
        << options.seed;
  }
}

TEST(TreeIdentities, ArticulatedBodiesAndFactorsAgree) {
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::vector<Real> force = Random(options.seed).vector(state.v.size(), 5);
    Dynamics dynamics(model);
    dynamics.setState(state.q, state.v);
    std::vector<Real> bodies(force.size()), factors(force.size());
    dynamics.forwardDynamics(force, bodies);
    dynamics.forwardDynamicsByFactors(force, factors);
    EXPECT_LT(relativeDifference(bodies, factors), 1e-9) << options.seed;
    EXPECT_LT(relativeDifference(inverseDynamics(model, state, factors), force), 1e-11)
        << options.seed;
  }
}

TEST(TreeIdentities, MassMatrixIsWhatInverseDynamicsAddsForAnAcceleration) {
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::size_t n = state.v.size();
    const std::vector<Real> matrix = massMatrix(model, state);
    const std::vector<Real> bias = biasForce(model, state);
    const std::vector<Real> acceleration = Random(options.seed).vector(n, 1);
    std::vector<Real> expected = times(matrix, acceleration);
    for (std::size_t i = 0; i < n; ++i) expected[i] += bias[i];
    EXPECT_LT(relativeDifference(inverseDynamics(model, state, acceleration), expected), 1e-13)
        << options.seed;
  }
}

TEST(TreeIdentities, KineticEnergyIsHalfOfVelocityTimesMassTimesVelocity) {
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const Real expected = dotOf(state.v, times(massMatrix(model, state), state.v)) / 2;
    EXPECT_NEAR(kineticEnergy(model, state), expected, 1e-13 * expected) << options.seed;
  }
}

TEST(TreeIdentities, JacobianTimesVelocityIsTheVelocityOfTheBody) {
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::size_t n = state.v.size();
    for (int body = 0; body < model.numBodies(); ++body) {
      const Vec3 center = bodyPose(model, state, body) * model.massProperties(body).center;
      const std::vector<Real> J = jacobian(model, state, body, center);
      const BodyVelocity velocity = bodyVelocity(model, state, body);
      for (std::size_t row = 0; row < 6; ++row) {
        Real sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += J[row * n + k] * state.v[k];
        const int axis = static_cast<int>(row) % 3;
        EXPECT_NEAR(sum, row < 3 ? velocity.linear[axis] : velocity.angular[axis],
                    1e-13 * (1 + largest(J) * static_cast<Real>(n)));
      }
    }
  }
}

TEST(TreeIdentities, VelocityIsTheRateOfThePose) {
  constexpr Real kStep = 1e-5;  // central differences: error of kStep^2 and 1e-16/kStep
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    State before = state, after = state;
    before.q = integratePositions(model, state.q, state.v, -kStep);
    after.q = integratePositions(model, state.q, state.v, kStep);
    for (int body = 0; body < model.numBodies(); ++body) {
      const Vec3& center = model.massProperties(body).center;
      const Transform X1 = bodyPose(model, before, body), X2 = bodyPose(model, after, body);
      const BodyVelocity velocity = bodyVelocity(model, state, body);
      const Vec3 linear = (X2 * center - X1 * center) / (2 * kStep);
      const Mat3 turn = X2.rotation * transpose(X1.rotation);
      const Vec3 angular = math::rotationVector(math::quatFromRotation(turn)) / (2 * kStep);
      const Real scale = 1 + norm(velocity.linear) + norm(velocity.angular);
      EXPECT_LT(norm(linear - velocity.linear), 1e-6 * scale * scale * scale) << options.seed;
      EXPECT_LT(norm(angular - velocity.angular), 1e-6 * scale * scale * scale) << options.seed;
    }
  }
}

TEST(TreeIdentities, BiasAtRestIsTheGradientOfThePotentialEnergyOfGravity) {
  constexpr Real kStep = 1e-5;
  for (TreeOptions options : manyTrees()) {
    options.hasPassive = false;  // springs are no part of the bias
    const Model model = randomTree(options);
    State state = randomState(model, options.seed);
    state.v.assign(state.v.size(), 0);
    const std::vector<Real> bias = biasForce(model, state);
    std::vector<Real> gradient(bias.size());
    for (std::size_t k = 0; k < bias.size(); ++k) {
      State up = state, down = state;
      up.q = integratePositions(model, state.q, unitVector(bias.size(), k), kStep);
      down.q = integratePositions(model, state.q, unitVector(bias.size(), k), -kStep);
      gradient[k] = (potentialEnergy(model, up) - potentialEnergy(model, down)) / (2 * kStep);
    }
    EXPECT_LT(relativeDifference(gradient, bias), 1e-7) << options.seed;
  }
}

TEST(TreeIdentities, SpringForceIsTheGradientOfItsEnergy) {
  constexpr Real kStep = 1e-5;
  for (TreeOptions options : manyTrees()) {
    options.gravity = {};
    std::vector<Body> bodies = randomBodies(options);
    for (Body& body : bodies) {
      body.linearDamping = body.angularDamping = 0;
      for (Joint& joint : body.joints) joint.damping = 0;
    }
    const Model model = buildTree(bodies, {});
    const State state = randomState(model, options.seed);
    const std::vector<Real> force = passiveForce(model, state);
    if (largest(force) == 0) continue;
    for (std::size_t k = 0; k < force.size(); ++k) {
      State up = state, down = state;
      up.q = integratePositions(model, state.q, unitVector(force.size(), k), kStep);
      down.q = integratePositions(model, state.q, unitVector(force.size(), k), -kStep);
      const Real slope = (potentialEnergy(model, up) - potentialEnergy(model, down)) / (2 * kStep);
      EXPECT_NEAR(force[k], -slope, 1e-7 * largest(force)) << options.seed;
    }
  }
}

/// One step of the midpoint rule, positions on their manifold: of second order.
void stepFreely(Dynamics& dynamics, Real dt, State& state) {
  const std::size_t n = state.v.size();
  const std::vector<Real> none(n);
  std::vector<Real> a(n), q(state.q.size()), v(n);
  dynamics.setState(state.q, state.v);
  dynamics.forwardDynamics(none, a);
  for (std::size_t k = 0; k < n; ++k) v[k] = state.v[k] + a[k] * dt / 2;
  dynamics.integratePositions(state.q, v, dt / 2, q);
  dynamics.setState(q, v);  // the midpoint
  dynamics.forwardDynamics(none, a);
  dynamics.integratePositions(state.q, v, dt, q);
  state.q = q;
  for (std::size_t k = 0; k < n; ++k) state.v[k] += a[k] * dt;
}

TEST(TreeIdentities, FreeMotionKeepsEnergyAndMomentum) {
  for (const int numLinks : {1, 3, 6}) {
    TreeOptions options;
    options.seed = static_cast<std::uint64_t>(70 + numLinks);
    options.numLinks = numLinks;
    options.isFloating = true;
    options.hasPassive = false;
    options.gravity = {};
    const Model model = randomTree(options);
    // The error of the method is of second order: half the step must leave a quarter of it.
    Real energyError[2]{}, linearError[2]{}, angularError[2]{};
    for (int refinement = 0; refinement < 2; ++refinement) {
      State state = randomState(model, options.seed);
      Dynamics dynamics(model);
      const Real energy = kineticEnergy(model, state);
      const Momentum start = momentum(model, state);
      const int steps = refinement == 0 ? 500 : 1000;
      for (int i = 0; i < steps; ++i) stepFreely(dynamics, 0.1 / steps, state);
      const Momentum end = momentum(model, state);
      energyError[refinement] = std::fabs(kineticEnergy(model, state) - energy) / energy;
      linearError[refinement] = norm(end.linear - start.linear) / norm(start.linear);
      angularError[refinement] = norm(end.angular - start.angular) / norm(start.angular);
    }
    EXPECT_LT(energyError[1], 1e-6) << numLinks;
    EXPECT_LT(linearError[1], 1e-6) << numLinks;
    EXPECT_LT(angularError[1], 1e-6) << numLinks;
    EXPECT_LT(energyError[1], 0.3 * energyError[0] + 1e-12) << numLinks;
    EXPECT_LT(linearError[1], 0.3 * linearError[0] + 1e-12) << numLinks;
    EXPECT_LT(angularError[1], 0.3 * angularError[0] + 1e-12) << numLinks;
  }
}

TEST(TreeIdentities, TotalMomentumFollowsFromGravityAlone) {
  // d/dt of the linear momentum is the weight, that of the angular momentum about the centre zero:
  // by central differences along the motion that forward dynamics gives.
  constexpr Real kStep = 1e-5;
  for (TreeOptions options : manyTrees()) {
    if (!options.isFloating) continue;
    options.hasPassive = false;
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    const std::vector<Real> a = forwardDynamics(model, state, std::vector<Real>(state.v.size(), 0));
    Momentum at[2];
    Real energy[2]{}, mass = 0;
    for (int side = 0; side < 2; ++side) {
      const Real dt = side == 0 ? -kStep : kStep;
      State moved = state;
      for (std::size_t k = 0; k < a.size(); ++k) moved.v[k] += a[k] * dt;
      std::vector<Real> mean(a.size());
      for (std::size_t k = 0; k < a.size(); ++k) mean[k] = (state.v[k] + moved.v[k]) / 2;
      moved.q = integratePositions(model, state.q, mean, dt);
      at[side] = momentum(model, moved);
      energy[side] = kineticEnergy(model, moved) + potentialEnergy(model, moved);
    }
    for (int body = 0; body < model.numBodies(); ++body) mass += model.massProperties(body).mass;
    const Vec3 linear = (at[1].linear - at[0].linear) / (2 * kStep);
    const Vec3 angular = (at[1].angular - at[0].angular) / (2 * kStep);
    const Real size = 1 + largest(a) * mass;
    EXPECT_LT(norm(linear - options.gravity * mass), 1e-6 * size) << options.seed;
    EXPECT_LT(norm(angular), 1e-6 * size) << options.seed;
    EXPECT_NEAR((energy[1] - energy[0]) / (2 * kStep), 0, 1e-6 * size) << options.seed;
  }
}

TEST(TreeIdentities, DifferenceOfPositionsUndoesIntegration) {
  for (const TreeOptions& options : manyTrees()) {
    const Model model = randomTree(options);
    const State state = randomState(model, options.seed);
    for (const Real size : {1e-9, 1e-3, 1.0, 1.7}) {  // below pi for each of three axes together
      const std::vector<Real> v = Random(options.seed).vector(state.v.size(), size);
      const std::vector<Real> q = integratePositions(model, state.q, v, 1);
      EXPECT_LT(relativeDifference(differentiatePositions(model, state.q, q), v),
                1e-14 / size + 1e-13)
          << options.seed;
    }
  }
}

TEST(TreeIdentities, QuaternionsStayUnitWhateverTheyWere) {
  TreeOptions options;
  options.numLinks = 1;
  options.isFloating = true;
  const Model model = randomTree(options);
  State state = randomState(model, 3);
  const Transform expected = bodyPose(model, state, 0);
  for (int i = 3; i < 7; ++i) state.q[static_cast<std::size_t>(i)] *= 1e-5;
  const Transform X = bodyPose(model, state, 0);
  for (int k = 0; k < 3; ++k) EXPECT_LT(norm(X.rotation.col[k] - expected.rotation.col[k]), 1e-15);
  const std::vector<Real> q = integratePositions(model, state.q, state.v, 1e-3);
  EXPECT_NEAR(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6], 1, 1e-15);
}

TEST(TreeIdentities, VectorsOfAnotherSizeAreRefused) {
  TreeOptions options;
  const Model model = randomTree(options);
  const State state(model);
  const std::vector<Real> wrong(state.q.size() + state.v.size());
  EXPECT_THROW((void)inverseDynamics(model, state, wrong), InvalidInput);
  EXPECT_THROW((void)forwardDynamics(model, state, wrong), InvalidInput);
  EXPECT_THROW((void)integratePositions(model, state.q, wrong, 1), InvalidInput);
  EXPECT_THROW((void)integratePositions(model, wrong, state.v, 1), InvalidInput);
  EXPECT_THROW((void)jacobian(model, state, model.numBodies(), {}), InvalidInput);
  EXPECT_THROW((void)bodyPose(model, state, -1), InvalidInput);
  EXPECT_THROW((void)massMatrix(model, State{}), InvalidInput);
}

TEST(TreeIdentities, ModelsWithoutCoordinatesAreRefused) {
  ModelBuilder builder;
  Body body;
  body.name = "ball";
  body.massProperties = MassProperties{.mass = 1, .center = {}, .inertia = Mat3::identity()};
  builder.addBody(body);
  const Model model = builder.build();  // of the impulse solver
  EXPECT_THROW((void)massMatrix(model, State(model)), InvalidInput);
}

}  // namespace
}  // namespace tangere
