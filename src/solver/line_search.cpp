// SPDX-License-Identifier: Apache-2.0
#include "solver/line_search.hpp"

#include <cmath>

namespace tangere::solver {

LineBracket::LineBracket(const LineSearchOptions& options, Real slope0)
    : options_(options), scale_(-1 / slope0), last_step_(options.maxStep) {
  if (alpha_ > options_.maxStep) alpha_ = options_.maxStep;
}

void LineBracket::add(const LinePoint& point) {
  // f(0) = -1, f grows, and f = 0 at the minimum.
  const Real f = point.slope * scale_;
  const Real derivative = point.curvature * scale_;
  ++evaluations_;
  if (std::abs(f) <= options_.tolerance || evaluations_ >= options_.maxEvaluations ||
      !std::isfinite(f)) {
    is_done_ = true;
    // Nothing better is known than the side on which the cost is certain to be lower.
    if (!std::isfinite(f)) alpha_ = low_ > 0 ? low_ : Real(0.5) * alpha_;
    return;
  }
  if (f < 0) {
    low_ = alpha_;
    if (alpha_ >= options_.maxStep) {
      is_done_ = true;  // still falling at the longest step
      return;
    }
  } else {
    high_ = alpha_;
    has_high_ = true;
  }

  const Real end = has_high_ ? high_ : options_.maxStep;
  const Real newton = derivative > 0 ? alpha_ - f / derivative : end;
  Real next = newton;
  if (!(newton > low_ && newton < end) ||
      (has_high_ && std::abs(newton - alpha_) > Real(0.5) * last_step_)) {
    // Without an upper end the longest step provides one.
    next = has_high_ ? Real(0.5) * (low_ + high_) : options_.maxStep;
  }
  last_step_ = std::abs(next - alpha_);
  if (last_step_ <= options_.tolerance * next) is_done_ = true;
  alpha_ = next;
}

}  // namespace tangere::solver
