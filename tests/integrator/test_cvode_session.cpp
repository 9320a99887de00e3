// SPDX-License-Identifier: Apache-2.0
#include "integrator/cvode_session.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace tangere::integrator {
namespace {

/// x'' = -x, watched where x crosses zero; the quadrature is the way of x.
class Oscillator final : public OdeSystem {
 public:
  bool derivative(Real, const Real* y, Real* yDot) override {
    if (!(std::fabs(y[0]) < 1e3)) return false;
    yDot[0] = y[1];
    yDot[1] = -y[0];
    return true;
  }
  void crossings(Real, const Real* y, Real* z) override { z[0] = y[0]; }
  void powers(Real, const Real* y, Real* power) override { power[0] = y[1]; }
  int prepareSolve(Real, const Real*, Real gamma, bool) override {
    gamma_ = gamma;
    return 1;
  }
  void solve(const Real* b, Real* x) override {
    const Real scale = 1 / (1 + gamma_ * gamma_);
    const Real first = scale * (b[0] + gamma_ * b[1]), second = scale * (b[1] - gamma_ * b[0]);
    x[0] = first;
    x[1] = second;
  }
  bool isSteep() override { return false; }
  bool isMatrixStale(bool) override { return false; }

 private:
  Real gamma_ = 0;
};

constexpr Real kNever = std::numeric_limits<Real>::infinity();
constexpr std::array<Real, 2> kScales{kNever, kNever};
constexpr int kFalling[1] = {-1};

OdeOptions options(EventMethod method) {
  return {.size = 2,
          .numRoots = 1,
          .numQuadratures = 1,
          .method = method,
          .relativeTolerance = 1e-10,
          .absoluteTolerance = 1e-12,
          .largestScale = kScales,
          .rootDirections = kFalling};
}

class CvodeSessionOf : public testing::TestWithParam<EventMethod> {};

TEST_P(CvodeSessionOf, FindsRootsInTheirDirectionAlone) {
  Oscillator system;
  CvodeSession session(system, options(GetParam()));
  session.restart(0, std::array<Real, 2>{1, 0}, kNever);
  int numRoots = 0;
  while (session.time() < 10) {
    const OdeStatus status = session.step();
    ASSERT_TRUE(status == OdeStatus::Ok || status == OdeStatus::Root);
    if (status == OdeStatus::Ok) continue;
    EXPECT_EQ(session.roots()[0], -1);
    EXPECT_NEAR(session.time(), M_PI / 2 + 2 * M_PI * numRoots, 1e-7);  // not where it rises
    ++numRoots;
  }
  EXPECT_EQ(numRoots, 2);
}

TEST_P(CvodeSessionOf, InterpolatesStatesAndQuadratures) {
  Oscillator system;
  CvodeSession session(system, options(GetParam()));
  session.restart(0, std::array<Real, 2>{0, 1}, kNever);
  while (session.time() < 1) ASSERT_EQ(session.step(), OdeStatus::Ok);
  std::array<Real, 2> y{};
  session.stateAt(1, y);
  EXPECT_NEAR(y[0], std::sin(1), 1e-8);
  EXPECT_NEAR(y[1], std::cos(1), 1e-8);
  std::array<Real, 1> way{};
  session.quadraturesAt(1, way);
  EXPECT_NEAR(way[0], std::sin(1), 1e-7);
}

TEST_P(CvodeSessionOf, StopsExactlyWhereItIsTold) {
  Oscillator system;
  CvodeSession session(system, options(GetParam()));
  session.restart(0, std::array<Real, 2>{0, 1}, 0.25);
  OdeStatus status = OdeStatus::Ok;
  while (status == OdeStatus::Ok) status = session.step();
  EXPECT_EQ(status, OdeStatus::StopTime);
  EXPECT_EQ(session.time(), 0.25);
}

INSTANTIATE_TEST_SUITE_P(Both, CvodeSessionOf,
                         testing::Values(EventMethod::Bdf, EventMethod::Adams));

TEST(CvodeSession, SaysSoWhenTheDerivativeDoesNotExist) {
  Oscillator system;
  CvodeSession session(system, options(EventMethod::Bdf));
  session.restart(0, std::array<Real, 2>{1e4, 0}, kNever);
  EXPECT_EQ(session.step(), OdeStatus::NotEvaluated);
}

}  // namespace
}  // namespace tangere::integrator
