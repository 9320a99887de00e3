// SPDX-License-Identifier: Apache-2.0
#include "step_search.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace tangere::cli {

namespace {

constexpr int kMaxTrials = 4;
// Good enough: an error within this factor below the wanted one, or a step within this factor of
// one that is too coarse.
constexpr Real kCloseError = 1.5, kCloseStep = 1.2;

/// Two digits are all that an error estimate is worth. Through text, so that the number is the
/// nearest one to these two digits.
Real roundedDown(Real dt) {
  const int exponent = static_cast<int>(std::floor(std::log10(dt))) - 1;
  const int digits = static_cast<int>(dt * std::pow(Real(10), -exponent) * (1 + 1e-12));
  return std::stod(std::to_string(digits) + "e" + std::to_string(exponent));
}

/// Where a straight line in logarithms through two errors reaches `wanted`.
Real interpolated(const LadderError& coarse, const LadderError& fine, Real wanted) {
  const Real middle = std::sqrt(coarse.dt * fine.dt);
  if (!std::isfinite(coarse.error) || !(fine.error > 0)) return middle;
  const Real slope = std::log(coarse.error / fine.error) / std::log(coarse.dt / fine.dt);
  if (!(slope > 0.1)) return middle;
  return fine.dt * std::pow(wanted / fine.error, 1 / slope);
}

class Search {
 public:
  Search(const StepSearchRequest& request, const std::function<Real(Real)>& measure)
      : request_(request), measure_(measure) {}

  std::optional<FoundStep> find() {
    if (request_.ladder.empty()) return std::nullopt;
    bracketByLadder();
    if (!passing_) {
      if (!request_.fit) return std::nullopt;
      goFiner();
      if (!passing_) return extrapolated();
    }
    if (!failing_) goCoarser();
    narrow();
    return FoundStep{.dt = passing_->dt,
                     .error = passing_->error,
                     .isMeasured = true,
                     .isLowerBound = !failing_};
  }

 private:
  [[nodiscard]] bool passes(const LadderError& level) const {
    return level.error <= request_.wantedError;
  }

  void bracketByLadder() {
    for (const LadderError& level : request_.ladder) {
      if (!passes(level)) {
        failing_ = level;
        passing_.reset();
      } else if (!passing_) {
        passing_ = level;
      }
    }
  }

  bool tryStep(Real dt) {
    const LadderError level{.dt = dt, .error = measure_(dt)};
    ++numTrials_;
    (passes(level) ? passing_ : failing_) = level;
    return passes(level);
  }

  /// All steps of the ladder are too coarse; the law of the errors says how much.
  void goFiner() {
    const Real dt = request_.fit->dtFor(0.8 * request_.wantedError);
    if (dt >= request_.finestAllowed && dt < failing_->dt) tryStep(roundedDown(dt));
  }

  [[nodiscard]] std::optional<FoundStep> extrapolated() const {
    constexpr Real kSmallest = 1e-12;  // [s]; nobody takes such steps
    const Real dt = request_.fit->dtFor(request_.wantedError);
    if (!(dt > kSmallest) || dt >= failing_->dt) return std::nullopt;
    const Real rounded = roundedDown(dt);
    return FoundStep{.dt = rounded, .error = request_.fit->errorOf(rounded)};
  }

  void goCoarser() {
    while (!failing_ && 2 * passing_->dt <= request_.coarsestAllowed * (1 + 1e-9))
      tryStep(2 * passing_->dt);
    numTrials_ = 0;  // these were cheap
  }

  void narrow() {
    while (failing_ && numTrials_ < kMaxTrials && failing_->dt > kCloseStep * passing_->dt &&
           passing_->error * kCloseError < request_.wantedError) {
      const Real guess = interpolated(*failing_, *passing_, 0.85 * request_.wantedError);
      const Real dt = roundedDown(
          std::clamp(guess, passing_->dt * 1.1, std::max(failing_->dt / 1.1, passing_->dt * 1.1)));
      if (dt <= passing_->dt || dt >= failing_->dt) return;
      tryStep(dt);
    }
  }

  const StepSearchRequest& request_;
  const std::function<Real(Real)>& measure_;
  std::optional<LadderError> passing_, failing_;
  int numTrials_ = 0;
};

}  // namespace

std::optional<FoundStep> findLargestStep(const StepSearchRequest& request,
                                         const std::function<Real(Real)>& measure) {
  return Search(request, measure).find();
}

}  // namespace tangere::cli
