// SPDX-License-Identifier: Apache-2.0
//
// Random trees against MuJoCo (tests/data/golden/dynamics/trees.txt; make_golden_trees.py says how
// it was made): free, ball, revolute and prismatic joints, several on one link, welded links,
// branches, references, armature, springs, dampers and scaled gravity. TANGERE_GOLDEN_TREES names a
// further file, such as one of robots.
#include <tangere/dynamics.hpp>

#include "math/quat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tangere {
namespace {

constexpr Real kTolerance = 1e-10;  // relative to the largest entry

struct GoldenTree {
  std::string name;
  Vec3 gravity{};
  std::vector<Body> bodies;  ///< in the order of the file
  std::map<std::string, std::vector<Real>> expected;
  int jacobianLink = 0;
  Vec3 jacobianPoint{};
};

Real readReal(std::istream& in) {
  Real x = 0;
  if (!(in >> x)) throw std::runtime_error("golden file: a number is missing");
  return x;
}

Vec3 readVec3(std::istream& in) {
  const Real x = readReal(in), y = readReal(in);
  return {x, y, readReal(in)};
}

std::string bodyName(int link) {
  std::string name("b");
  name += std::to_string(link);
  return name;
}

JointType jointType(const std::string& word) {
  if (word == "ball") return JointType::Ball;
  if (word == "free") return JointType::Free;
  return word == "revolute" ? JointType::Revolute : JointType::Prismatic;
}

Joint readJoint(std::istream& in) {
  std::string word, type;
  in >> word >> type;
  Joint joint;
  joint.type = jointType(type);
  joint.position = readVec3(in);
  joint.axis = readVec3(in);
  joint.reference = readReal(in);
  joint.armature = readReal(in);
  joint.damping = readReal(in);
  joint.stiffness = readReal(in);
  joint.springReference = readReal(in);
  return joint;
}

Body readLink(std::istream& in, int index) {
  std::string word;
  in >> word;
  Body body{.name = bodyName(index)};
  const int parent = static_cast<int>(readReal(in));
  if (parent >= 0) body.parent = bodyName(parent);
  body.pose.translation = readVec3(in);
  const Real w = readReal(in);
  const Vec3 xyz = readVec3(in);
  body.pose.rotation = rotationMatrix(Quat{w, xyz.x, xyz.y, xyz.z});
  MassProperties mass;
  mass.mass = readReal(in);
  mass.center = readVec3(in);
  const Vec3 diagonal = readVec3(in), others = readVec3(in);
  mass.inertia = {{{diagonal.x, others.x, others.y},
                   {others.x, diagonal.y, others.z},
                   {others.y, others.z, diagonal.z}}};
  body.massProperties = mass;
  body.gravityScale = readReal(in);
  const int numJoints = static_cast<int>(readReal(in));
  bool isFree = false;
  for (int j = 0; j < numJoints; ++j) {
    Joint joint = readJoint(in);
    joint.name = body.name + "_" + std::to_string(j);
    isFree = isFree || joint.type == JointType::Free;  // a free body is one without joints
    if (joint.type != JointType::Free) body.joints.push_back(joint);
  }
  if (parent < 0 && body.joints.empty() && !isFree) {
    body.type = BodyType::Fixed;
    body.massProperties.reset();
  }
  return body;
}

std::vector<GoldenTree> readGoldenTrees(const std::string& path) {
  std::ifstream in(path);
  std::vector<GoldenTree> trees;
  std::string word;
  in >> word;
  while (in && word == "tree") {
    GoldenTree tree;
    in >> tree.name >> word;
    tree.gravity = readVec3(in);
    int numLinks = 0;
    in >> word >> numLinks;
    for (int i = 0; i < numLinks; ++i) tree.bodies.push_back(readLink(in, i));
    while (in >> word && word != "tree") {
      if (word == "jacobian") {
        tree.jacobianLink = static_cast<int>(readReal(in));
        tree.jacobianPoint = readVec3(in);
      }
      std::vector<Real>& values = tree.expected[word];
      std::string rest;
      std::getline(in, rest);
      std::istringstream numbers(rest);
      for (Real x = 0; numbers >> x;) values.push_back(x);
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

struct Case {
  GoldenTree golden;
  Model model;
  State state;

  explicit Case(GoldenTree tree) : golden(std::move(tree)), model(build(golden)), state(model) {
    state.q = golden.expected.at("q");
    state.v = golden.expected.at("v");
  }
  static Model build(const GoldenTree& tree) {
    ModelBuilder builder;
    SimulationOptions options;
    options.solver = SolverType::Sap;
    options.gravity = tree.gravity;
    builder.setOptions(options);
    for (const Body& body : tree.bodies) builder.addBody(body);
    return builder.build();
  }
  [[nodiscard]] const std::vector<Real>& expected(const std::string& what) const {
    return golden.expected.at(what);
  }
  [[nodiscard]] int body(int link) const { return model.findBody(bodyName(link)); }
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> made;
    const std::string ours = std::string(TANGERE_TEST_DATA) + "/golden/dynamics/trees.txt";
    for (GoldenTree& tree : readGoldenTrees(ours)) made.emplace_back(std::move(tree));
    const char* more = std::getenv("TANGERE_GOLDEN_TREES");
    if (more != nullptr)
      for (GoldenTree& tree : readGoldenTrees(more)) made.emplace_back(std::move(tree));
    return made;
  }();
  return all;
}

Real largest(const std::vector<Real>& x) {
  Real size = 0;
  for (const Real value : x) size = std::max(size, std::fabs(value));
  return size;
}

void expectNear(const std::vector<Real>& actual, const std::vector<Real>& expected,
                const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  const Real scale = std::max<Real>(largest(expected), 1e-3);
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], kTolerance * scale) << what << " entry " << i;
}

TEST(TreeGolden, FileHoldsTreesOfAllSizes) {
  ASSERT_GE(cases().size(), 22u);
  int most = 0;
  for (const Case& c : cases()) {
    ASSERT_EQ(c.model.numPositions(), static_cast<int>(c.expected("q").size())) << c.golden.name;
    ASSERT_EQ(c.model.numVelocities(), static_cast<int>(c.expected("v").size())) << c.golden.name;
    most = std::max(most, c.model.numVelocities());
  }
  EXPECT_GT(most, 60);
}

TEST(TreeGolden, PosesAndVelocitiesOfLinks) {
  for (const Case& c : cases()) {
    const std::vector<Real>& poses = c.expected("poses");
    const std::vector<Real>& velocities = c.expected("velocities");
    for (std::size_t i = 0; i < c.golden.bodies.size(); ++i) {
      const int body = c.body(static_cast<int>(i));
      const Transform X = bodyPose(c.model, c.state, body);
      const Real* p = poses.data() + 7 * i;
      const Mat3 R = rotationMatrix(Quat{p[3], p[4], p[5], p[6]});
      EXPECT_LT(norm(X.translation - Vec3{p[0], p[1], p[2]}), kTolerance) << c.golden.name;
      for (int k = 0; k < 3; ++k)
        EXPECT_LT(norm(X.rotation.col[k] - R.col[k]), kTolerance) << c.golden.name;
      const BodyVelocity velocity = bodyVelocity(c.model, c.state, body);
      const Real* v = velocities.data() + 6 * i;
      const Real scale = kTolerance * (1 + largest(velocities));
      EXPECT_LT(norm(velocity.angular - Vec3{v[0], v[1], v[2]}), scale) << c.golden.name;
      EXPECT_LT(norm(velocity.linear - Vec3{v[3], v[4], v[5]}), scale) << c.golden.name;
    }
  }
}

TEST(TreeGolden, MassMatrix) {
  for (const Case& c : cases()) {
    const auto n = static_cast<std::size_t>(c.model.numVelocities());
    const std::vector<Real> matrix = massMatrix(c.model, c.state);
    std::vector<Real> lower;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        lower.push_back(matrix[i * n + j]);
        EXPECT_EQ(matrix[i * n + j], matrix[j * n + i]);
      }
    }
    expectNear(lower, c.expected("matrix"), c.golden.name + " matrix");
  }
}

TEST(TreeGolden, BiasAndPassiveForce) {
  for (const Case& c : cases()) {
    expectNear(biasForce(c.model, c.state), c.expected("bias"), c.golden.name + " bias");
    expectNear(passiveForce(c.model, c.state), c.expected("passive"), c.golden.name + " passive");
  }
}

TEST(TreeGolden, AccelerationByArticulatedBodiesAndByFactors) {
  for (const Case& c : cases()) {
    std::vector<Real> force = passiveForce(c.model, c.state);
    for (std::size_t i = 0; i < force.size(); ++i) force[i] += c.expected("force")[i];
    expectNear(forwardDynamics(c.model, c.state, force), c.expected("acceleration"),
               c.golden.name + " articulated bodies");
    Dynamics dynamics(c.model);
    dynamics.setState(c.state.q, c.state.v);
    std::vector<Real> acceleration(force.size());
    dynamics.forwardDynamicsByFactors(force, acceleration);
    expectNear(acceleration, c.expected("acceleration"), c.golden.name + " factors");
  }
}

/// MuJoCo does not scale gravity but lifts; its potential energy is that of the whole weight.
Real energyOfLifting(const Case& c) {
  Real sum = 0;
  for (std::size_t i = 0; i < c.golden.bodies.size(); ++i) {
    const Body& body = c.golden.bodies[i];
    if (!body.massProperties) continue;
    const Transform X = bodyPose(c.model, c.state, c.body(static_cast<int>(i)));
    sum -= body.massProperties->mass * (1 - body.gravityScale) *
           dot(c.golden.gravity, X * body.massProperties->center);
  }
  return sum;
}

TEST(TreeGolden, JacobianCenterOfMassAndEnergy) {
  for (const Case& c : cases()) {
    const std::vector<Real> J =
        jacobian(c.model, c.state, c.body(c.golden.jacobianLink), c.golden.jacobianPoint);
    expectNear(J, c.expected("jacobian"), c.golden.name + " jacobian");
    const Vec3 center = centerOfMass(c.model, c.state);
    expectNear({center.x, center.y, center.z}, c.expected("center"), c.golden.name + " center");
    expectNear(
        {potentialEnergy(c.model, c.state) + energyOfLifting(c), kineticEnergy(c.model, c.state)},
        c.expected("energy"), c.golden.name + " energy");
  }
}

}  // namespace
}  // namespace tangere
