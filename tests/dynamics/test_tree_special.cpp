// SPDX-License-Identifier: Apache-2.0
//
// Trees that can be had in two ways, trees far away, very unequal or very long, and what the step
// reads from the workspace: Jacobians between links, forces through joints, accelerations.
#include <tangere/dynamics.hpp>

#include "dynamics/kernels/composite_inertia.hpp"
#include "dynamics/random_tree.hpp"
#include "dynamics/tree_dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tangere {
namespace {

using namespace test;

Joint jointOf(const std::string& name, JointType type, const Vec3& axis,
              const Vec3& position = {}) {
  Joint joint;
  joint.name = name;
  joint.type = type;
  joint.axis = axis;
  joint.position = position;
  return joint;
}

Body bodyOf(const std::string& name, const std::string& parent, std::uint64_t seed) {
  Random random(seed);
  Body body;
  body.name = name;
  body.parent = parent;
  body.pose.translation = random.vec3(0.5);
  body.pose.rotation = random.rotation();
  body.massProperties = randomMass(random, 3);
  return body;
}

/// Two models whose coordinates mean the same.
void expectSameDynamics(const Model& model1, const Model& model2) {
  ASSERT_EQ(model1.numVelocities(), model2.numVelocities());
  State state1 = randomState(model1, 5), state2(model2);
  state2.q = state1.q;
  state2.v = state1.v;
  EXPECT_LT(relativeDifference(massMatrix(model1, state1), massMatrix(model2, state2)), 1e-14);
  EXPECT_LT(relativeDifference(biasForce(model1, state1), biasForce(model2, state2)), 1e-14);
  const std::vector<Real> force = Random(6).vector(state1.v.size(), 2);
  EXPECT_LT(relativeDifference(forwardDynamics(model1, state1, force),
                               forwardDynamics(model2, state2, force)),
            1e-12);
}

TEST(TreeSpecial, UniversalIsTwoRevolutesAndPlanarIsTwoPrismaticsAndARevolute) {
  const Vec3 axis{0.6, 0, 0.8}, axis2{0.8, 0, -0.6}, position{0.1, -0.2, 0.3};
  for (const JointType type : {JointType::Universal, JointType::Planar}) {
    std::vector<Body> whole = {bodyOf("a", "", 1), bodyOf("b", "a", 2)}, parts = whole;
    whole[0].joints = {jointOf("root", JointType::Ball, {})};
    parts[0].joints = whole[0].joints;
    whole[1].joints = {jointOf("joint", type, axis, position)};
    whole[1].joints[0].axis2 = axis2;
    if (type == JointType::Universal) {
      parts[1].joints = {jointOf("1", JointType::Revolute, axis, position),
                         jointOf("2", JointType::Revolute, axis2, position)};
    } else {
      parts[1].joints = {jointOf("1", JointType::Prismatic, axis2, position),
                         jointOf("2", JointType::Prismatic, cross(axis, axis2), position),
                         jointOf("3", JointType::Revolute, axis, position)};
    }
    expectSameDynamics(buildTree(whole, {0, 0, -9.81}), buildTree(parts, {0, 0, -9.81}));
  }
}

TEST(TreeSpecial, ScrewIsARevoluteAndAPrismaticThatGoTogether) {
  const Vec3 axis{0.6, 0, 0.8}, position{0.1, -0.2, 0.3};
  constexpr Real kPitch = 0.3;
  std::vector<Body> screw = {bodyOf("a", "", 1), bodyOf("b", "a", 2)}, parts = screw;
  screw[0].joints = parts[0].joints = {jointOf("root", JointType::Revolute, {0, 1, 0})};
  screw[1].joints = {jointOf("screw", JointType::Screw, axis, position)};
  screw[1].joints[0].pitch = kPitch;
  screw[1].joints[0].reference = 0.4;
  parts[1].joints = {jointOf("turn", JointType::Revolute, axis, position),
                     jointOf("shift", JointType::Prismatic, axis, position)};
  const Model model1 = buildTree(screw, {0, 0, -9.81}), model2 = buildTree(parts, {0, 0, -9.81});
  State state1(model1), state2(model2);
  state1.q = {0.7, 1.6};
  state1.v = {1.1, -0.8};
  state2.q = {0.7, 1.6 - 0.4, kPitch * (1.6 - 0.4)};
  state2.v = {1.1, -0.8, kPitch * -0.8};
  const Transform X1 = bodyPose(model1, state1, 1), X2 = bodyPose(model2, state2, 1);
  EXPECT_LT(norm(X1.translation - X2.translation), 1e-15);
  const std::vector<Real> M = massMatrix(model2, state2), bias = biasForce(model2, state2);
  // Along (1, 0, 0) and (0, 1, pitch).
  const std::vector<Real> expected = {M[0], M[1] + kPitch * M[2], M[3] + kPitch * M[6],
                                      M[4] + 2 * kPitch * M[5] + kPitch * kPitch * M[8]};
  EXPECT_LT(relativeDifference(massMatrix(model1, state1), expected), 1e-14);
  EXPECT_LT(relativeDifference(biasForce(model1, state1), {bias[0], bias[1] + kPitch * bias[2]}),
            1e-14);
}

TEST(TreeSpecial, MasslessLinksBetweenAreSeveralJointsOfOneLink) {
  const std::vector<Vec3> axes = {{1, 0, 0}, {0, 0.6, 0.8}, {0, 0, 1}};
  std::vector<Body> together = {bodyOf("root", "", 1), bodyOf("tip", "root", 2)};
  together[0].joints = {jointOf("root", JointType::Revolute, {0, 0, 1})};
  std::vector<Body> chain = {together[0]};
  for (int i = 0; i < 3; ++i) {
    std::string name("j");
    name += std::to_string(i);
    together[1].joints.push_back(jointOf(name, JointType::Revolute, axes[i], {0.1, 0.2, 0.3}));
    Body link = together[1];
    link.name = i == 2 ? "tip" : name;
    link.parent = chain.back().name;
    link.joints = {together[1].joints.back()};
    if (i > 0) link.pose = {};
    if (i < 2) link.massProperties = MassProperties{};
    chain.push_back(link);
  }
  expectSameDynamics(buildTree(together, {0, 0, -9.81}), buildTree(chain, {0, 0, -9.81}));
}

TEST(TreeSpecial, AFreeBodyInTwoWeldedHalvesIsOneBody) {
  // The one goes through code of its own.
  const std::vector<Body> halves = {bodyOf("a", "", 1), bodyOf("b", "a", 2)};
  const MassProperties &m1 = *halves[0].massProperties, &m2 = *halves[1].massProperties;
  const Transform& X = halves[1].pose;
  const Vec3 center2 = X * m2.center;
  MassProperties sum;
  sum.mass = m1.mass + m2.mass;
  sum.center = (m1.center * m1.mass + center2 * m2.mass) / sum.mass;
  const Mat3 turned = X.rotation * (m2.inertia * transpose(X.rotation));
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      sum.inertia(r, c) = m1.inertia(r, c) + turned(r, c);
      for (const auto& [mass, center] :
           {std::pair{m1.mass, m1.center}, std::pair{m2.mass, center2}}) {
        const Vec3 d = center - sum.center;
        sum.inertia(r, c) += mass * ((r == c ? squaredNorm(d) : 0) - d[r] * d[c]);
      }
    }
  }
  Body whole = halves[0];
  whole.massProperties = sum;
  expectSameDynamics(buildTree(halves, {1, 2, -9.81}), buildTree({whole}, {1, 2, -9.81}));
}

TEST(TreeSpecial, NothingIsLostFarFromTheOrigin) {
  const Vec3 far{1e6, -1e6, 1e6};
  for (const bool isFloating : {true, false}) {
    TreeOptions options;
    options.seed = 11;
    options.numLinks = 12;
    options.isFloating = isFloating;
    std::vector<Body> bodies = randomBodies(options);
    const Model near = buildTree(bodies, options.gravity);
    bodies[0].pose.translation += far;
    const Model moved = buildTree(bodies, options.gravity);
    const State state1 = randomState(near, 3);
    State state2(moved);
    state2.q = state1.q;
    state2.v = state1.v;
    if (isFloating)
      for (int k = 0; k < 3; ++k) state2.q[static_cast<std::size_t>(k)] += far[k];
    EXPECT_LT(relativeDifference(massMatrix(moved, state2), massMatrix(near, state1)), 1e-15);
    EXPECT_LT(relativeDifference(biasForce(moved, state2), biasForce(near, state1)), 1e-15);
    EXPECT_LT(norm(centerOfMass(moved, state2) - far - centerOfMass(near, state1)), 1e-9);
  }
}

TEST(TreeSpecial, ACartFarAlongItsRailsIsTheSameCart) {
  std::vector<Body> bodies = {bodyOf("cart", "", 1), bodyOf("pole", "cart", 2)};
  bodies[0].joints = {jointOf("x", JointType::Prismatic, {1, 0, 0}),
                      jointOf("y", JointType::Prismatic, {0, 1, 0})};
  bodies[1].joints = {jointOf("pole", JointType::Revolute, {1, 0, 0})};
  const Model model = buildTree(bodies, {0, 0, -9.81});
  State near(model), far(model);
  near.q = {0, 0, 0.3};
  far.q = {1e6, -3e6, 0.3};
  near.v = far.v = {1, 2, 3};
  EXPECT_EQ(relativeDifference(massMatrix(model, far), massMatrix(model, near)), 0);
  EXPECT_EQ(relativeDifference(biasForce(model, far), biasForce(model, near)), 0);
}

TEST(TreeSpecial, MassesMayDifferByEightOrders) {
  for (const bool isChain : {true, false}) {
    TreeOptions options;
    options.seed = 21;
    options.numLinks = 15;
    options.isChain = isChain;
    options.isFloating = true;
    options.massSpread = 1e4;
    options.hasPassive = false;
    const Model model = randomTree(options);
    const State state = randomState(model, 4);
    Dynamics dynamics(model);
    dynamics.setState(state.q, state.v);
    const std::vector<Real> force = Random(9).vector(state.v.size(), 1);
    std::vector<Real> bodies(force.size()), factors(force.size()), back(force.size());
    dynamics.forwardDynamics(force, bodies);
    dynamics.forwardDynamicsByFactors(force, factors);
    for (const std::vector<Real>* a : {&bodies, &factors}) {
      dynamics.inverseDynamics(*a, back);
      const std::vector<Real> inertia = times(massMatrix(model, state), *a);
      for (std::size_t k = 0; k < back.size(); ++k)
        EXPECT_NEAR(back[k], force[k], 1e-11 * (largest(inertia) + largest(force)));
    }
  }
}

TEST(TreeSpecial, AChainOfFiveHundredLinks) {
  std::vector<Body> bodies;
  for (int i = 0; i < 500; ++i) {
    Body body;
    body.name = linkName(i);
    if (i > 0) body.parent = linkName(i - 1);
    body.pose.translation = {0, 0, i > 0 ? -0.1 : 0};
    body.massProperties = MassProperties{.mass = 0.2, .center = {0, 0, -0.05}, .inertia = {}};
    for (int k = 0; k < 3; ++k) body.massProperties->inertia(k, k) = k == 2 ? 1e-5 : 2e-4;
    body.joints = {
        jointOf(body.name, JointType::Revolute, i % 2 == 0 ? Vec3{1, 0, 0} : Vec3{0, 1, 0})};
    bodies.push_back(body);
  }
  const Model model = buildTree(bodies, {0, 0, -9.81});
  State state(model);
  Random random(1);
  state.q = random.vector(500, 0.3);
  state.v = random.vector(500, 0.1);
  Dynamics dynamics(model);
  dynamics.setState(state.q, state.v);
  const std::vector<Real> force = random.vector(500, 0.01);
  std::vector<Real> bodies1(500), factors(500), back(500);
  dynamics.forwardDynamics(force, bodies1);
  dynamics.forwardDynamicsByFactors(force, factors);
  const std::vector<Real> bias = biasForce(model, state);
  // Backward errors: the matrix itself has a condition number of about 1e10.
  dynamics.inverseDynamics(factors, back);
  EXPECT_LT(relativeDifference(back, force) * largest(force), 1e-11 * largest(bias));
  dynamics.inverseDynamics(bodies1, back);
  EXPECT_LT(relativeDifference(back, force) * largest(force), 1e-11 * largest(bias));
  const Real energy = kineticEnergy(model, state);
  EXPECT_NEAR(dotOf(state.v, times(massMatrix(model, state), state.v)) / 2, energy, 1e-12 * energy);
}

struct Robot {
  TreeOptions options;
  Model model;
  State state;
  dynamics::TreeWorkspace ws;

  Robot() : Robot(TreeOptions{.seed = 31, .numLinks = 10}) {}
  explicit Robot(const TreeOptions& made)
      : options(made), model(randomTree(made)), state(randomState(model, 8)), ws(model.data()) {
    update();
  }
  void update() {
    dynamics::computeTreePositions(ws, state.q);
    dynamics::computeTreeVelocities(ws, state.v);
  }
  [[nodiscard]] int numDofs() const { return model.numVelocities(); }
};

TEST(TreeSpecial, JacobianBetweenLinksLeavesOutWhatMovesBothAlike) {
  Robot robot;
  const auto n = static_cast<std::size_t>(robot.numDofs());
  const Vec3 point{0.3, 0.1, -0.2};
  const Mat3 R = Random(3).rotation();
  for (int link1 = 0; link1 < 10; ++link1) {
    for (int link2 = 0; link2 < 10; ++link2) {
      std::vector<Real> one(3 * n), two(3 * n), between(3 * n), turning(3 * n);
      dynamics::addPointJacobian(robot.ws, link1, point, R, 1, one.data(), robot.numDofs());
      dynamics::addPointJacobian(robot.ws, link2, point, R, 1, two.data(), robot.numDofs());
      dynamics::addRelativePointJacobian(robot.ws, link1, link2, point, R, between.data(),
                                         robot.numDofs());
      dynamics::addRelativeAngularJacobian(robot.ws, link1, link2, R, turning.data(),
                                           robot.numDofs());
      for (std::size_t i = 0; i < 3 * n; ++i) {
        EXPECT_NEAR(between[i], one[i] - two[i], 1e-14);
        EXPECT_TRUE(one[i] != two[i] || between[i] == 0);
        EXPECT_TRUE(link1 != link2 || turning[i] == 0);
      }
      const Vec3 velocity = transposeTimes(R, dynamics::pointVelocity(robot.ws, link1, point) -
                                                  dynamics::pointVelocity(robot.ws, link2, point));
      for (int row = 0; row < 3; ++row) {
        Real sum = 0;
        for (std::size_t k = 0; k < n; ++k)
          sum += between[static_cast<std::size_t>(row) * n + k] * robot.ws.rate[k];
        EXPECT_NEAR(sum, velocity[row], 1e-13);
      }
    }
  }
}

TEST(TreeSpecial, DenseMatrixProductAndFactorsAreOfOneMatrix) {
  Robot robot;
  const auto n = static_cast<std::size_t>(robot.numDofs());
  dynamics::computeMassMatrix(robot.ws, 0);
  std::vector<Real> dense(n * n), product(n);
  dynamics::copyMassMatrix(robot.ws, 0, dense.data());
  const std::vector<Real> x = Random(4).vector(n, 1);
  dynamics::multiplyMassMatrix(robot.ws, 0, x.data(), product.data());
  EXPECT_LT(relativeDifference(product, times(dense, x)), 1e-14);
  ASSERT_TRUE(dynamics::factorMassMatrix(robot.ws, 0));
  dynamics::solveMassMatrix(robot.ws, 0, product.data());
  EXPECT_LT(relativeDifference(product, x), 1e-11);
}

TEST(TreeSpecial, WideRegistersGiveTheBitsOfNarrowOnes) {
  // This file is compiled for any processor; the library may choose by the one it runs on.
  for (const TreeOptions& options : manyTrees()) {
    Robot robot(options);
    const kernel::TreeView<Real> tree = robot.ws.view(0);
    dynamics::computeMassMatrix(robot.ws, 0);
    ASSERT_TRUE(dynamics::factorMassMatrix(robot.ws, 0));
    const std::vector<Real> matrix = robot.ws.matrix, factor = robot.ws.factor;
    kernel::computeTreeMatrix(tree, Real(0));
    ASSERT_TRUE(kernel::factorTreeMatrix(tree));
    for (int k = 0; k < tree.numDofs; ++k) {
      for (int d = 0; d < tree.dofs[k].depth; ++d) {
        const auto i = static_cast<std::size_t>(tree.dofs[k].row + d);
        EXPECT_EQ(matrix[i], robot.ws.matrix[i]);
        EXPECT_EQ(factor[i], robot.ws.factor[i]);
      }
    }
  }
}

TEST(TreeSpecial, AMatrixThatIsNotPositiveIsReported) {
  std::vector<Body> bodies = {bodyOf("a", "", 1)};
  // Two hinges along one line: nothing tells them apart.
  bodies[0].joints = {jointOf("1", JointType::Revolute, {0, 0, 1}),
                      jointOf("2", JointType::Revolute, {0, 0, 1})};
  bodies[0].massProperties->center = {};
  bodies[0].massProperties->inertia = Mat3::identity();
  bodies[0].pose = {};
  const Model model = buildTree(bodies, {});
  dynamics::TreeWorkspace ws(model.data());
  dynamics::computeTreePositions(ws, State(model).q);
  dynamics::computeMassMatrix(ws, 0);
  EXPECT_FALSE(dynamics::factorMassMatrix(ws, 0));
  EXPECT_FALSE(dynamics::factorArticulatedBodies(ws, 0));
}

TEST(TreeSpecial, DampingOfBodiesInTheMatrixIsThatOfThePassiveForce) {
  for (const bool isFloating : {false, true}) {
    for (const int numLinks : {1, 8}) {
      TreeOptions options;
      options.seed = 41;
      options.numLinks = numLinks;
      options.isFloating = isFloating;
      std::vector<Body> bodies = randomBodies(options);
      for (Body& body : bodies) {
        body.linearDamping = 0.7;
        body.angularDamping = 1.9;
        for (Joint& joint : body.joints) joint.damping = joint.stiffness = 0;
      }
      const Model model = buildTree(bodies, {});
      const State state = randomState(model, 2);
      const std::size_t n = state.v.size();
      dynamics::TreeWorkspace ws(model.data());
      dynamics::computeTreePositions(ws, state.q);
      dynamics::computeTreeVelocities(ws, state.v);
      std::vector<Real> drag(n), with(n), without(n), rate = ws.rate;
      dynamics::addPassiveForce(ws, 0, state.q, drag.data());
      dynamics::computeMassMatrix(ws, 0);
      dynamics::multiplyMassMatrix(ws, 0, rate.data(), without.data());
      dynamics::computeMassMatrix(ws, 0, 0.25);
      dynamics::multiplyMassMatrix(ws, 0, rate.data(), with.data());
      for (std::size_t k = 0; k < n; ++k)
        EXPECT_NEAR(with[k] - without[k], -0.25 * drag[k], 1e-13 * largest(with));
    }
  }
}

TEST(TreeSpecial, AppliedForcesEnterAsTheirWorkOnVelocities) {
  Robot robot;
  const auto n = static_cast<std::size_t>(robot.numDofs());
  Random random(12);
  std::vector<dynamics::LinkWrench> wrenches(10);
  Real power = 0;
  for (int i = 0; i < 10; ++i) {
    wrenches[static_cast<std::size_t>(i)] = {random.vec3(3), random.vec3(3)};
    power += dot(wrenches[static_cast<std::size_t>(i)].force, dynamics::linkVelocity(robot.ws, i)) +
             dot(wrenches[static_cast<std::size_t>(i)].torque,
                 dynamics::linkAngularVelocity(robot.ws, i));
  }
  std::vector<Real> tau(n);
  dynamics::addAppliedForce(robot.ws, 0, wrenches, tau.data());
  EXPECT_NEAR(dotOf(tau, robot.ws.rate), power, 1e-12 * std::fabs(power) + 1e-12);
  // With them, the drives need the less.
  const std::vector<Real> a = random.vector(n, 1);
  std::vector<Real> with(n), without(n);
  dynamics::computeInverseDynamics(robot.ws, 0, robot.options.gravity, a.data(), wrenches,
                                   with.data());
  dynamics::computeInverseDynamics(robot.ws, 0, robot.options.gravity, a.data(), {},
                                   without.data());
  for (std::size_t k = 0; k < n; ++k)
    EXPECT_NEAR(with[k], without[k] - tau[k], 1e-12 * (largest(with) + largest(tau)));

  std::vector<Real> point(n);
  const Vec3 p{0.2, 0.4, 0.1}, force{1, -2, 3};
  dynamics::addPointForce(robot.ws, 9, p, force, point.data());
  EXPECT_NEAR(dotOf(point, robot.ws.rate), dot(force, dynamics::pointVelocity(robot.ws, 9, p)),
              1e-12);
}

TEST(TreeSpecial, AccelerationOfAPointIsTheRateOfItsVelocity) {
  constexpr Real kStep = 1e-5;
  Robot robot;
  const auto n = static_cast<std::size_t>(robot.numDofs());
  const std::vector<Real> a = Random(5).vector(n, 2);
  std::vector<Real> inTrees(n), tau(n);
  dynamics::gatherVelocities(robot.ws, a, inTrees);
  dynamics::computeInverseDynamics(robot.ws, 0, {}, inTrees.data(), {}, tau.data());
  for (int link = 0; link < 10; ++link) {
    const Vec3 p_B{0.1, -0.3, 0.2};
    const Vec3 expected =
        dynamics::pointAcceleration(robot.ws, link, dynamics::linkPose(robot.ws, link) * p_B);
    const Vec3 bias =
        dynamics::pointBiasAcceleration(robot.ws, link, dynamics::linkPose(robot.ws, link) * p_B);
    Vec3 velocity[2], drift[2];
    for (int side = 0; side < 2; ++side) {
      const Real dt = side == 0 ? -kStep : kStep;
      for (const bool isAccelerated : {true, false}) {
        Robot moved(robot.options);
        std::vector<Real> mean = moved.state.v;
        for (std::size_t k = 0; k < n && isAccelerated; ++k) {
          mean[k] += a[k] * dt / 2;
          moved.state.v[k] += a[k] * dt;
        }
        moved.state.q = integratePositions(moved.model, moved.state.q, mean, dt);
        moved.update();
        (isAccelerated ? velocity : drift)[side] =
            dynamics::pointVelocity(moved.ws, link, dynamics::linkPose(moved.ws, link) * p_B);
      }
    }
    const Real scale = 1 + norm(expected) + norm(bias);
    EXPECT_LT(norm((velocity[1] - velocity[0]) / (2 * kStep) - expected), 1e-6 * scale * scale);
    EXPECT_LT(norm((drift[1] - drift[0]) / (2 * kStep) - bias), 1e-6 * scale * scale);
  }
}

TEST(TreeSpecial, AJointCarriesTheWeightOfWhatHangsOnIt) {
  TreeOptions options{.seed = 51, .numLinks = 6, .isChain = true};
  options.hasPassive = false;
  Robot robot(options);
  robot.state.v.assign(robot.state.v.size(), 0);
  robot.update();
  const std::vector<Real> none(robot.state.v.size());
  std::vector<Real> tau(none.size());
  dynamics::computeInverseDynamics(robot.ws, 0, options.gravity, none.data(), {}, tau.data());
  Vec3 weight, moment;
  const Vec3 p = dynamics::linkPose(robot.ws, 2).translation;
  for (int link = 2; link < 6; ++link) {
    const Vec3 force = options.gravity * robot.ws.links[static_cast<std::size_t>(link)].mass;
    weight += force;
    moment += cross(dynamics::linkCenter(robot.ws, link) - p, force);
  }
  const dynamics::LinkWrench wrench = dynamics::jointWrench(robot.ws, 2, p);
  EXPECT_LT(norm(wrench.force + weight), 1e-12 * norm(weight));
  EXPECT_LT(norm(wrench.torque + moment), 1e-12 * (norm(weight) + norm(moment)));
}

TEST(TreeSpecial, LinksAreCopiedToTheState) {
  Robot robot(TreeOptions{.seed = 61, .numLinks = 7, .isFloating = true});
  dynamics::copyLinksToState(robot.model.data(), robot.ws, robot.state);
  for (int body = 0; body < 7; ++body) {
    const auto b = static_cast<std::size_t>(body);
    const Transform X = bodyPose(robot.model, robot.state, body);
    const BodyVelocity velocity = bodyVelocity(robot.model, robot.state, body);
    const Mat3 R = rotationMatrix(robot.state.orientation[b]);
    EXPECT_LT(norm(robot.state.center[b] - X * robot.model.massProperties(body).center), 1e-14);
    for (int k = 0; k < 3; ++k) EXPECT_LT(norm(R.col[k] - X.rotation.col[k]), 1e-14);
    EXPECT_LT(norm(robot.state.velocity[b] - velocity.linear), 1e-14);
    EXPECT_LT(norm(robot.state.angularVelocity[b] - velocity.angular), 1e-14);
  }
}

}  // namespace
}  // namespace tangere
