// SPDX-License-Identifier: Apache-2.0
//
// One step of a point mass on a plane, against references that were made without any engine (case
// sap_contact of the accuracy data): the published law, with w = 1/m and dissipation in the gap
// too.
#include "solver/kernels/friction_cone.hpp"
#include "solver/kernels/regularization.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>

namespace tangere::kernel {
namespace {

struct GoldenState {
  double gap, vt0, vn0;
  ConeRegion region;
  double vt, vn, gammaT, gammaN;
};

constexpr double kMass = 1.5, kStiffness = 1e5, kTau = 0.01, kMu = 0.5, kDt = 1e-3, kG = 9.81,
                 kBeta = 1, kSigma = 1e-3;

constexpr GoldenState kStates[] = {
    {-1e-4, 0, 0, ConeRegion::Stick, 0, -0.0018134615384615385, 0, 0.011994807692307692},
    {-1e-4, 0.5, -0.1, ConeRegion::Slide, 0.42943440192677224, 0.03132119614645556,
     -0.10584839710984167, 0.21169679421968332},
    {1e-3, 0.5, 0.5, ConeRegion::Open, 0.5, 0.49019, 0, 0},
    {-1e-4, 1e-3, -0.1, ConeRegion::Stick, 9.99000999000999e-07, -0.05950576923076923,
     -0.0014985014985014985, 0.07545634615384615},
    {5e-5, -2, -1, ConeRegion::Slide, -1.6164208640912607, -0.24265172818252168, 0.5753687038631088,
     1.1507374077262176},
};

TEST(SapGolden, RegularizationIsThatOfTheReference) {
  EXPECT_NEAR(rowRegularization(kDt, kStiffness, kTau, kBeta, 1 / kMass), 0.9090909090909091,
              1e-13);
  EXPECT_NEAR(kSigma / kMass, 0.0006666666666666666, 1e-16);
}

TEST(SapGolden, AStepOfAPointMassIsThatOfTheReference) {
  for (const GoldenState& s : kStates) {
    const FrictionCone<double> cone = makeFrictionCone(
        kMu, kSigma / kMass, rowRegularization(kDt, kStiffness, kTau, kBeta, 1 / kMass),
        rowTargetVelocity(kDt, kTau, s.gap, false));
    const Eigen::Vector3d free(s.vt0, 0, s.vn0 - kG * kDt);
    const auto cost = [&](const Eigen::Vector3d& v) {
      return 0.5 * kMass * (v - free).squaredNorm() +
             coneCost(cone, projectImpulse(cone, v.data(), 0.0));
    };
    Eigen::Vector3d v = free;
    ConePoint<double> point = projectImpulse(cone, v.data(), 0.0);
    for (int i = 0; i < 200; ++i) {
      const Eigen::Vector3d gradient =
          kMass * (v - free) - Eigen::Map<const Eigen::Vector3d>(point.gamma);
      double g[6];
      coneHessian(cone, point, g);
      Eigen::Matrix3d H = kMass * Eigen::Matrix3d::Identity();
      H += (Eigen::Matrix3d() << g[0], g[1], g[3], g[1], g[2], g[4], g[3], g[4], g[5]).finished();
      const Eigen::Vector3d step = -H.ldlt().solve(gradient);
      double length = 1;
      while (length > 1e-10 && cost(v + length * step) > cost(v)) length /= 2;
      v += length * step;
      point = projectImpulse(cone, v.data(), 0.0);
      if (step.norm() < 1e-16) break;
    }
    EXPECT_EQ(point.region, s.region);
    EXPECT_NEAR(v[0], s.vt, 1e-12);
    EXPECT_NEAR(v[2], s.vn, 1e-12);
    const double scale = std::max(std::fabs(s.gammaT), std::fabs(s.gammaN));
    EXPECT_NEAR(point.gamma[0], s.gammaT, 1e-9 * scale);
    EXPECT_NEAR(point.gamma[2], s.gammaN, 1e-9 * scale);
  }
}

}  // namespace
}  // namespace tangere::kernel
