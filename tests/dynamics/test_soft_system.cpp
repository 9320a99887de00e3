// SPDX-License-Identifier: Apache-2.0
//
// The system of a step that keeps the momentum: what damps and what stiffens has neither force nor
// torque, and does nothing to a body that moves rigidly; the three terms that do not fit into the
// sparse matrix are what is missing of T^T K T; the turn of a body as a whole keeps its angular
// momentum and its shape.
#include "dynamics/soft_system.hpp"

#include "dynamics/box_grid.hpp"
#include "dynamics/random_tree.hpp"
#include "math/polar.hpp"

#include <Eigen/Dense>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tangere {
namespace {

using dynamics::SoftAssembly;
using model::SoftMesh;
using test::Random;

constexpr ElasticModel kAllLaws[] = {ElasticModel::Linear, ElasticModel::Corotated,
                                     ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff};
constexpr Real kDt = 0.01;

SoftMesh softBox(ElasticModel law, Real damping = 0.02) {
  return model::makeSoftMesh(
      test::gridMesh({{0.3, 0.1, 0.2}, {3, 2, 2}}), {}, 1000,
      {.model = law, .young = 1e5, .poisson = 0.3, .damping = damping, .massDamping = 0.5});
}

struct Shaken {
  SoftMesh mesh;
  std::vector<Vec3> x, v;
  SoftAssembly assembly;

  Shaken(ElasticModel law, std::uint64_t seed, bool isTurningFree, Real stiffening = 1)
      : mesh(softBox(law)), x(mesh.rest), v(x.size()), assembly(dynamics::makeSoftAssembly(mesh)) {
    Random random(seed);
    for (Vec3& p : x) p += random.vec3(0.02);
    for (Vec3& u : v) u = random.vec3(1);
    dynamics::assembleSoft(mesh, x.data(), v.data(), kDt, {0, 0, -9.81}, nullptr, nullptr,
                           &assembly);
    dynamics::keepSpin(mesh, x.data(), v.data(), kDt, nullptr, &assembly);
    if (isTurningFree || stiffening > 1)
      dynamics::formSystem(mesh, x.data(), kDt, stiffening, isTurningFree, nullptr, &assembly);
  }
};

Eigen::MatrixXd denseOf(const math::BlockCsr& matrix) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(3 * matrix.numRows(), 3 * matrix.numRows());
  for (int i = 0; i < matrix.numRows(); ++i) {
    for (int k = matrix.rowBegin[i]; k < matrix.rowBegin[i + 1]; ++k) {
      for (int rc = 0; rc < 9; ++rc)
        out(3 * i + rc / 3, 3 * matrix.column[k] + rc % 3) = matrix.block(k)[rc];
    }
  }
  return out;
}

/// The sparse part and the three terms.
Eigen::MatrixXd wholeOf(const SoftAssembly& assembly) {
  Eigen::MatrixXd a = denseOf(assembly.matrix);
  if (!assembly.isTurningFree) return a;
  const auto columns = [&](const std::vector<Real>& values) {
    Eigen::MatrixXd out(a.rows(), 3);
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (int k = 0; k < 3; ++k) out(i, k) = values[static_cast<std::size_t>(3 * i + k)];
    }
    return out;
  };
  const Eigen::MatrixXd p = columns(assembly.turningP), q = columns(assembly.turningQ);
  const Eigen::Matrix3d c =
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(assembly.turningC);
  return a - p * q.transpose() - q * p.transpose() + q * c * q.transpose();
}

Eigen::VectorXd flat(const std::vector<Vec3>& values) {
  return Eigen::Map<const Eigen::VectorXd>(&values[0].x,
                                           static_cast<Eigen::Index>(3 * values.size()));
}

std::vector<Vec3> solved(const SoftAssembly& assembly) {
  const Eigen::VectorXd v = wholeOf(assembly).llt().solve(flat(assembly.momentum));
  std::vector<Vec3> out(assembly.momentum.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {v[static_cast<Eigen::Index>(3 * i)], v[static_cast<Eigen::Index>(3 * i + 1)],
              v[static_cast<Eigen::Index>(3 * i + 2)]};
  return out;
}

Vec3 forceOf(const std::vector<Vec3>& values) {
  Vec3 sum{};
  for (const Vec3& value : values) sum += value;
  return sum;
}
Vec3 torqueOf(const std::vector<Vec3>& x, const std::vector<Vec3>& values) {
  Vec3 sum{};
  for (std::size_t i = 0; i < x.size(); ++i) sum += cross(x[i], values[i]);
  return sum;
}
Real sizeOf(const std::vector<Vec3>& values) {
  Real sum = 0;
  for (const Vec3& value : values) sum += norm(value);
  return sum;
}

TEST(SoftSystem, WhatDampsHasNeitherForceNorTorqueAndLetsABodyTurn) {
  for (const ElasticModel law : kAllLaws) {
    Shaken body(law, 1, true);
    dynamics::readPull(body.mesh, body.x.data(), body.v.data(), nullptr, &body.assembly);
    const std::vector<Vec3> drag = dynamics::dragOf(body.assembly);
    EXPECT_LT(norm(forceOf(drag)), 1e-13 * sizeOf(drag)) << elasticModelName(law);
    EXPECT_LT(norm(torqueOf(body.x, drag)), 1e-13 * sizeOf(drag)) << elasticModelName(law);

    std::vector<Vec3> rigid(body.x.size());
    for (std::size_t i = 0; i < rigid.size(); ++i)
      rigid[i] = Vec3{1, -2, 3} + cross({2, -1, 4}, body.x[i]) + body.assembly.spin[i];
    dynamics::readPull(body.mesh, body.x.data(), rigid.data(), nullptr, &body.assembly);
    EXPECT_LT(sizeOf(dynamics::dragOf(body.assembly)), 1e-12 * sizeOf(drag));
    // It is damping: against the motion.
    Real power = 0;
    for (std::size_t i = 0; i < drag.size(); ++i)
      power += dot(drag[i], body.v[i] - body.assembly.spin[i]);
    EXPECT_GT(power, 0);
  }
}

TEST(SoftSystem, TheThreeTermsAreWhatIsMissingOfTheStiffnessFreedFromTurns) {
  for (const ElasticModel law : kAllLaws) {
    for (const Real stiffening : {1.0, 16.0}) {
      if (law == ElasticModel::Linear && stiffening > 1) continue;
      const Shaken body(law, 2, true, stiffening);
      const SoftMesh& mesh = body.mesh;
      const auto n = static_cast<Eigen::Index>(3 * body.x.size());
      math::BlockCsr stiffness = body.assembly.matrix;
      stiffness.values = body.assembly.stiffness;
      const Eigen::MatrixXd K = denseOf(stiffness);
      Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n), N(n, 3);
      for (Eigen::Index i = 0; i < n; ++i) {
        M(i, i) = mesh.mass[static_cast<std::size_t>(i / 3)];
        const Vec3 r = body.x[static_cast<std::size_t>(i / 3)] - body.assembly.center;
        for (int k = 0; k < 3; ++k)
          N(i, k) = cross(body.assembly.turn[k], r)[static_cast<int>(i % 3)];
      }
      EXPECT_LT((N.transpose() * M * N - Eigen::Matrix3d::Identity()).norm(), 1e-12);
      const Eigen::MatrixXd T = Eigen::MatrixXd::Identity(n, n) - N * N.transpose() * M;
      const dynamics::SystemScales scales = dynamics::scalesOf(mesh, kDt, stiffening);
      const Eigen::MatrixXd expected = scales.mass * M + (scales.stiffness - scales.turning) * K +
                                       scales.turning * T.transpose() * K * T;
      EXPECT_LT((wholeOf(body.assembly) - expected).norm(), 1e-12 * expected.norm());
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(wholeOf(body.assembly) - M)
                    .eigenvalues()
                    .minCoeff(),
                -1e-12 * expected.norm());
      const Eigen::VectorXd b = flat(body.assembly.load) +
                                scales.stiffness * T.transpose() * K * T * flat(body.assembly.spin);
      EXPECT_LT((flat(body.assembly.momentum) - b).norm(), 1e-12 * b.norm());
    }
  }
}

TEST(SoftSystem, ItsStepKeepsBothMomentaAtAnyStiffness) {
  for (const ElasticModel law :
       {ElasticModel::Corotated, ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff}) {
    for (const Real stiffening : {1.0, 4.0, 1024.0}) {
      const Shaken body(law, 3, true, stiffening);
      std::vector<Vec3> momentum = solved(body.assembly);
      for (std::size_t i = 0; i < momentum.size(); ++i)
        momentum[i] = momentum[i] * (body.mesh.mass[i] * (1 + 0.5 * kDt)) - body.assembly.load[i];
      const Real scale = sizeOf(body.assembly.load);
      EXPECT_LT(norm(forceOf(momentum)), 1e-10 * scale);
      EXPECT_LT(norm(torqueOf(body.x, momentum)), 1e-10 * scale);
    }
  }
}

TEST(SoftSystem, ClosesTheMomentaThatTheSolverLeavesOpen) {
  Shaken body(ElasticModel::NeoHookean, 4, false);
  std::vector<Vec3> v = solved(body.assembly);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] += Vec3{1e-3, 2e-3, 0} * static_cast<Real>(i % 3);
  dynamics::readPull(body.mesh, body.x.data(), v.data(), nullptr, &body.assembly);
  dynamics::closeMomentum(body.mesh, body.x.data(), kDt, v.data(), &body.assembly);
  std::vector<Vec3> missing(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    missing[i] = v[i] * (body.mesh.mass[i] * (1 + 0.5 * kDt)) - body.assembly.load[i];
  const Real scale = sizeOf(body.assembly.load);
  EXPECT_LT(norm(forceOf(missing)), 1e-13 * scale);
  EXPECT_LT(norm(torqueOf(body.x, missing)), 1e-13 * scale);
  EXPECT_LT(norm(torqueOf(body.x, body.assembly.pull)), 1e-13 * sizeOf(body.assembly.pull));
}

TEST(SoftSystem, GivenVelocitiesOfVerticesHoldWithTheThreeTermsToo) {
  for (const ElasticModel law : kAllLaws) {
    const Shaken whole(law, 5, true);
    SoftAssembly held = whole.assembly;
    const std::vector<int> vertices{0, 3, 7};
    const std::vector<Vec3> velocities{{1, 0, 0}, {0, -2, 0.5}, {}};
    dynamics::applyVertexConstraints(whole.mesh, vertices, velocities, &held);
    const std::vector<Vec3> v = solved(held);
    const Eigen::VectorXd left = wholeOf(whole.assembly) * flat(v) - flat(whole.assembly.momentum);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto at = std::find(vertices.begin(), vertices.end(), static_cast<int>(i));
      if (at != vertices.end()) {
        EXPECT_LT(norm(v[i] - velocities[static_cast<std::size_t>(at - vertices.begin())]), 1e-13);
      } else {
        EXPECT_LT(left.segment<3>(static_cast<Eigen::Index>(3 * i)).norm(),
                  1e-11 * flat(whole.assembly.momentum).norm());
      }
    }
  }
}

/// What stiffening adds is the second derivative of mu times the squares of all derivatives.
TEST(SoftSystem, StiffeningResistsEveryDeformation) {
  const Shaken plain(ElasticModel::StVenantKirchhoff, 6, false);
  const Shaken stiff(ElasticModel::StVenantKirchhoff, 6, true, 4);
  math::BlockCsr added = plain.assembly.matrix;
  for (std::size_t k = 0; k < added.values.size(); ++k)
    added.values[k] = stiff.assembly.stiffness[k] - plain.assembly.stiffness[k];
  const SoftMesh& mesh = plain.mesh;
  const Real mu = 1e5 / 2.6;
  const Eigen::VectorXd u = flat(plain.v);
  Real energy = 0;
  for (int t = 0; t < mesh.numTets(); ++t) {
    const Tet& tet = mesh.tets[t];
    const Vec3 o = plain.v[tet[0]];
    const Mat3 g =
        Mat3{{plain.v[tet[1]] - o, plain.v[tet[2]] - o, plain.v[tet[3]] - o}} * mesh.inverseRest[t];
    energy += mu * mesh.restVolume[t] * math::doubleDot(g, g);
  }
  EXPECT_NEAR(0.5 * u.dot(denseOf(added) * u), energy, 1e-12 * energy);
}

TEST(SoftSystem, TheTurnOfTheWholeKeepsShapeAndAngularMomentum) {
  const SoftMesh mesh = softBox(ElasticModel::NeoHookean, 0);
  Random random(7);
  for (int n = 0; n < 200; ++n) {
    const Vec3 rate = random.vec3(n % 2 == 0 ? 50 : 5);  // up to 0.8 rad in the step
    std::vector<Vec3> v(mesh.rest.size());
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = cross(rate, mesh.rest[i] - Vec3{0.15, 0.05, 0.1}) + Vec3{3, 2, 1};
    SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
    dynamics::assembleSoft(mesh, mesh.rest.data(), v.data(), kDt, {}, nullptr, nullptr, &assembly);
    dynamics::keepSpin(mesh, mesh.rest.data(), v.data(), kDt, nullptr, &assembly);
    Vec3 before{}, after{};
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Vec3 r = mesh.rest[i] - assembly.center;
      before += cross(r, v[i] - Vec3{3, 2, 1}) * mesh.mass[i];
      after += cross(r, assembly.spin[i]) * mesh.mass[i];
      EXPECT_NEAR(norm(r + assembly.spin[i] * kDt), norm(r), 1e-15);
    }
    EXPECT_LT(norm(after - before), 1e-12 * norm(before)) << norm(rate) * kDt;
  }
}

}  // namespace
}  // namespace tangere
