// SPDX-License-Identifier: Apache-2.0
//
// One robot written as MJCF, as URDF and as SDFormat is one model: the same names, masses, shapes
// and joints, and the same motion.
#include "dynamics/tree_dynamics.hpp"
#include "io/robot_text.hpp"

#include <cmath>
#include <random>

namespace tangere {
namespace {

Model load(const std::string& name) {
  return loadScene(std::filesystem::path(TANGERE_TEST_DATA) / "robots" / name).model;
}

/// Fixes what the formats leave open, so that two models can be compared as a whole.
void expectSameParts(const Model& a, const Model& b) {
  ASSERT_EQ(a.numBodies(), b.numBodies());
  for (int i = 0; i < a.numBodies(); ++i) {
    EXPECT_EQ(a.bodyName(i), b.bodyName(i));
    EXPECT_EQ(a.parentOf(i), b.parentOf(i)) << a.bodyName(i);
    EXPECT_EQ(a.bodyType(i), b.bodyType(i)) << a.bodyName(i);
    const MassProperties &m = a.massProperties(i), &n = b.massProperties(i);
    EXPECT_EQ(m.mass, n.mass) << a.bodyName(i);
    EXPECT_LE(norm(m.center - n.center), 1e-15) << a.bodyName(i);
    for (int k = 0; k < 9; ++k)
      EXPECT_NEAR(m.inertia(k / 3, k % 3), n.inertia(k / 3, k % 3), 1e-15) << a.bodyName(i);
  }
  ASSERT_EQ(a.numShapes(), b.numShapes());
  for (int i = 0; i < a.numShapes(); ++i) {
    EXPECT_EQ(a.bodyOfShape(i), b.bodyOfShape(i));
    EXPECT_EQ(a.shape(i)->type(), b.shape(i)->type());
    EXPECT_LE(norm(a.shape(i)->localAabb().upper - b.shape(i)->localAabb().upper), 1e-15);
    EXPECT_LE(norm(a.shapePose(i).translation - b.shapePose(i).translation), 1e-15);
    for (int k = 0; k < 3; ++k)
      EXPECT_LE(norm(a.shapePose(i).rotation.col[k] - b.shapePose(i).rotation.col[k]), 1e-15);
  }
  ASSERT_EQ(a.numJoints(), b.numJoints());
  for (int i = 0; i < a.numJoints(); ++i) {
    const Joint &j = a.joint(i), &k = b.joint(i);
    EXPECT_EQ(j.name, k.name);
    EXPECT_EQ(j.type, k.type) << j.name;
    EXPECT_LE(norm(j.axis - k.axis), 1e-15) << j.name;
    EXPECT_EQ(j.lower, k.lower) << j.name;
    EXPECT_EQ(j.upper, k.upper) << j.name;
    EXPECT_EQ(j.damping, k.damping) << j.name;
    EXPECT_EQ(j.frictionLoss, k.frictionLoss) << j.name;
    EXPECT_EQ(j.lowerActuatorForce, k.lowerActuatorForce) << j.name;
    EXPECT_EQ(j.upperActuatorForce, k.upperActuatorForce) << j.name;
  }
  ASSERT_EQ(a.numEqualities(), b.numEqualities());
  for (int i = 0; i < a.numEqualities(); ++i) {
    EXPECT_EQ(a.equality(i).first, b.equality(i).first);
    EXPECT_EQ(a.equality(i).second, b.equality(i).second);
    EXPECT_EQ(a.equality(i).polynomial, b.equality(i).polynomial);
  }
}

/// Mass matrix and bias force of the first tree.
std::vector<Real> dynamicsOf(const Model& model, const std::vector<Real>& q,
                             const std::vector<Real>& v) {
  dynamics::TreeWorkspace ws(model.data());
  dynamics::computeTreePositions(ws, q);
  dynamics::computeTreeVelocities(ws, v);
  dynamics::computeMassMatrix(ws, 0);
  const std::size_t n = v.size();
  std::vector<Real> out(n * n + n);
  dynamics::copyMassMatrix(ws, 0, out.data());
  dynamics::computeBiasForce(ws, 0, {0, 0, -9.81}, out.data() + n * n);
  return out;
}

void expectSameMotion(const Model& a, const Model& b) {
  ASSERT_EQ(a.numPositions(), b.numPositions());
  ASSERT_EQ(a.numVelocities(), a.numPositions());  // joints of one coordinate alone
  std::mt19937 random(7);
  const auto draw = [&]() { return Real(random()) / Real(0xffffffffu) * 2 - 1; };
  for (int round = 0; round < 20; ++round) {
    std::vector<Real> q, v;
    for (int i = 0; i < a.numPositions(); ++i) q.push_back(draw());
    for (int i = 0; i < a.numVelocities(); ++i) v.push_back(3 * draw());
    const std::vector<Real> first = dynamicsOf(a, q, v), second = dynamicsOf(b, q, v);
    Real largest = 0;
    for (const Real value : first) largest = std::fmax(largest, std::fabs(value));
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_NEAR(first[i], second[i], 1e-14 * largest);
  }
}

TEST(RobotFormats, UrdfAndSdformatGiveTheSameModel) {
  const Model urdf = load("crane.urdf"), sdf = load("crane.sdf");
  EXPECT_EQ(urdf.numBodies(), 7);
  EXPECT_EQ(urdf.numVelocities(), 5);
  expectSameParts(urdf, sdf);
  expectSameMotion(urdf, sdf);
}

TEST(RobotFormats, UrdfAndMjcfGiveTheSameModel) {
  const Model urdf = load("crane.urdf"), mjcf = load("crane.xml");
  expectSameParts(urdf, mjcf);
  expectSameMotion(urdf, mjcf);
}

}  // namespace
}  // namespace tangere
