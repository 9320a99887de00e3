// SPDX-License-Identifier: Apache-2.0
//
// Ladders of errors made by hand: what `tangere compare` must say about each of them.
#include "convergence.hpp"
#include "step_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tangere::cli {
namespace {

/// Errors of six halvings of 0.01.
std::vector<LadderError> ladder(const std::function<Real(Real)>& error) {
  std::vector<LadderError> out;
  for (int i = 0; i < 6; ++i) {
    const Real dt = std::ldexp(0.01, -i);
    out.push_back({.dt = dt, .error = error(dt)});
  }
  return out;
}

TEST(FitOrder, FindsThePowerOfTheStep) {
  for (const Real order : {0.5, 1.0, 2.0, 4.0}) {
    const auto fit = fitOrder(ladder([&](Real dt) { return 3 * std::pow(dt, order); }), {});
    ASSERT_TRUE(fit) << order;
    EXPECT_NEAR(fit->order, order, 1e-5);
    EXPECT_NEAR(fit->factor, 3, 1e-3);
    EXPECT_NEAR(fit->errorOf(fit->dtFor(0.004)), 0.004, 1e-12);
  }
}

TEST(FitOrder, AccountsForAReferenceOfTheSameMethod) {
  // Against its own step r a method of first order shows C (dt - r): a straight line through these
  // errors in logarithms would have a slope of 1.3.
  const Real r = 0.01 / 32;
  auto errors = ladder([&](Real dt) { return 2 * (dt - r); });
  errors.pop_back();
  const auto fit = fitOrder(errors, {.dt = r});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->order, 1, 1e-5);
  EXPECT_NEAR(fit->errorOf(r), 2 * r, 1e-6);
  EXPECT_EQ(fit->numLevels, 5);
}

TEST(FitOrder, LeavesOutCoarseStepsThatFollowAnotherLaw) {
  const auto fit = fitOrder(ladder([](Real dt) { return dt > 0.004 ? 0.3 : 5 * dt; }), {});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->order, 1, 1e-5);
  EXPECT_EQ(fit->numLevels, 4);
}

TEST(FitOrder, LeavesOutErrorsOfTheReference) {
  const auto fit = fitOrder(ladder([](Real dt) { return std::max(dt, 2e-3); }), {.floor = 2.1e-4});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->numLevels, 3);
  EXPECT_NEAR(fit->order, 1, 1e-5);
}

TEST(FitOrder, NeedsThreeErrors) {
  auto errors = ladder([](Real dt) { return dt; });
  errors.resize(2);
  EXPECT_FALSE(fitOrder(errors, {}));
}

TEST(FitOrder, IsSilentAboutErrorsThatScatter) {
  int i = 0;
  EXPECT_FALSE(fitOrder(ladder([&](Real dt) { return dt * (i++ % 2 == 0 ? 1 : 9); }), {}));
}

/// Until when errors dt exp(12 t) stay below 1 %, of four halvings of 1 ms.
std::vector<Horizon> chaoticHorizons() {
  std::vector<Horizon> out;
  for (int i = 0; i < 4; ++i) {
    const Real dt = std::ldexp(0.001, -i);
    out.push_back({.dt = dt, .time = std::log(0.01 / dt) / 12});
  }
  return out;
}

// Errors of first order that jump by 1.6 up and down with where the steps fall.
TEST(FitAll, FindsTheOrderOfErrorsThatJump) {
  std::vector<LadderError> ladder;
  for (int i = 0; i < 8; ++i) {
    const Real dt = std::ldexp(Real(0.01), -i);
    ladder.push_back({dt, 3 * dt * (i % 3 == 0 ? 1.6 : 1 / 1.6)});
  }
  const std::optional<OrderFit> fit = fitAll(ladder, {});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->order, 1, 0.1);
  EXPECT_EQ(fit->numLevels, 8);
  EXPECT_FALSE(fitAll(std::span(ladder).first(2), {}));
}

TEST(FitGrowth, FindsTheRateFromTheTimesThatStepsAreGoodFor) {
  const auto growth = fitGrowth(chaoticHorizons());
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->rate, 12, 1e-9);
  EXPECT_NEAR(growth->gainPerHalving, std::log(2.0) / 12, 1e-9);
}

TEST(FitGrowth, IsSilentWhereFinerStepsGainNothing) {
  EXPECT_FALSE(fitGrowth(std::vector<Horizon>{{1e-3, 0.2}, {5e-4, 0.1}, {2.5e-4, 0.22}}));
  EXPECT_FALSE(fitGrowth(std::vector<Horizon>{{1e-3, 0.1}, {5e-4, 0.2}}));
}

TEST(Judge, FirstOrderConverges) {
  const Judgement judgement = judge({.ladder = ladder([](Real dt) { return 4 * dt; })});
  EXPECT_EQ(judgement.verdict, Verdict::Converges);
  EXPECT_NEAR(judgement.fit->order, 1, 1e-5);
}

TEST(Judge, AnotherContactLawIsAPlateau) {
  // The method comes to rest, 5 % away from the reference.
  const Judgement judgement = judge({.ladder = ladder([](Real dt) { return 0.05 + dt; }),
                                     .differences = ladder([](Real dt) { return 0.5 * dt; })});
  EXPECT_EQ(judgement.verdict, Verdict::Plateau);
  EXPECT_FALSE(judgement.fit);
  EXPECT_NEAR(judgement.plateau, 0.05, 1e-3);
}

TEST(Judge, ExponentialGrowthIsChaos) {
  int i = 0;
  const auto errors = ladder([&](Real) { return i++ % 2 == 0 ? 0.9 : 0.7; });
  Evidence evidence{
      .ladder = errors, .differences = errors, .wantedError = 0.01, .horizons = chaoticHorizons()};
  EXPECT_EQ(judge(evidence).verdict, Verdict::Chaotic);
  evidence.horizons.clear();
  EXPECT_EQ(judge(evidence).verdict, Verdict::Scattered);
}

TEST(Judge, AReferenceThatIsWrongItselfMakesNothingExact) {
  const auto errors = ladder([](Real) { return 0.3; });
  const Evidence evidence{
      .ladder = errors, .differences = errors, .reference = {.floor = 0.2}, .wantedError = 0.01};
  EXPECT_EQ(judge(evidence).verdict, Verdict::Scattered);
}

TEST(Judge, RoundingIsExact) {
  EXPECT_EQ(judge({.ladder = ladder([](Real) { return 1e-14; })}).verdict, Verdict::Exact);
}

TEST(Judge, ErrorsFarBelowTheWantedOneAreExact) {
  const auto errors = ladder([](Real) { return 2e-11; });  // a plateau that nobody minds
  EXPECT_EQ(judge({.ladder = errors, .differences = errors, .wantedError = 0.01}).verdict,
            Verdict::Exact);
}

TEST(Judge, TwoStepsAreTooFew) {
  auto errors = ladder([](Real dt) { return dt; });
  errors.resize(2);
  EXPECT_EQ(judge({.ladder = errors}).verdict, Verdict::TooFew);
}

/// A method whose errors are known, and how often it was run.
struct Method {
  std::function<Real(Real)> error;
  int numRuns = 0;
  std::optional<FoundStep> find(Real wanted, std::vector<LadderError> errors) {
    const StepSearchRequest request{.ladder = errors,
                                    .fit = fitOrder(errors, {}),
                                    .wantedError = wanted,
                                    .coarsestAllowed = 0.1,
                                    .finestAllowed = 1e-4};
    return findLargestStep(request, [&](Real dt) {
      ++numRuns;
      return error(dt);
    });
  }
  std::optional<FoundStep> find(Real wanted) { return find(wanted, ladder(error)); }
};

TEST(FindLargestStep, IsCloseToTheTrueOneBetweenTheSteps) {
  Method method{.error = [](Real dt) { return 2 * dt; }};
  for (const Real wanted : {0.001, 0.0035, 0.011, 0.019}) {
    const auto found = method.find(wanted);
    ASSERT_TRUE(found) << wanted;
    EXPECT_TRUE(found->isMeasured);
    EXPECT_LE(found->error, wanted);
    EXPECT_GT(found->dt, wanted / 2 / 1.6);
  }
  EXPECT_LE(method.numRuns, 4 * 4);
}

TEST(FindLargestStep, GoesCoarserThanTheLadder) {
  Method method{.error = [](Real dt) { return 0.2 * dt; }};
  const auto found = method.find(0.006);
  ASSERT_TRUE(found);
  EXPECT_GT(found->dt, 0.03 / 1.6);
  EXPECT_LE(found->dt, 0.03);
  EXPECT_FALSE(found->isLowerBound);
  const auto bound = method.find(0.5);
  ASSERT_TRUE(bound);
  EXPECT_TRUE(bound->isLowerBound);
  EXPECT_GT(bound->dt, 0.05);
}

TEST(FindLargestStep, GoesFinerThanTheLadderAndThenFollowsTheLaw) {
  Method method{.error = [](Real dt) { return 10 * dt; }};
  const auto run = method.find(0.002);  // 0.2 ms, the finest of the ladder is 0.31 ms
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->isMeasured);
  EXPECT_LE(run->error, 0.002);
  method.numRuns = 0;
  const auto predicted = method.find(1e-4);  // 0.01 ms: too fine to run
  ASSERT_TRUE(predicted);
  EXPECT_FALSE(predicted->isMeasured);
  EXPECT_EQ(method.numRuns, 0);
  EXPECT_NEAR(predicted->dt, 1e-5, 1e-6);
}

TEST(FindLargestStep, DoesNotTrustACoarseStepThatWasLucky) {
  // Two errors cross by accident at the coarsest step: the answer is below the step that fails.
  Method method{.error = [](Real dt) { return dt > 0.009 ? 1e-4 : 4 * dt; }};
  const auto found = method.find(0.01);
  ASSERT_TRUE(found);
  EXPECT_LE(found->dt, 0.0025);
}

TEST(FindLargestStep, HasNoAnswerWithoutALaw) {
  Method method{.error = [](Real) { return 0.3; }};
  EXPECT_FALSE(method.find(0.01));
  const auto stopped = ladder([](Real) { return std::numeric_limits<Real>::infinity(); });
  EXPECT_FALSE(method.find(0.01, stopped));
}

}  // namespace
}  // namespace tangere::cli
