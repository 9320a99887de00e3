// SPDX-License-Identifier: Apache-2.0
//
// The minimum of a convex function along a line, from its slope and curvature: Newton's method
// within a bracket, bisection where Newton does not halve it.
#pragma once

#include <tangere/config.hpp>

namespace tangere::solver {

/// Slope and curvature at a point of the line.
struct LinePoint {
  Real slope = 0, curvature = 0;
  void add(const LinePoint& other) {
    slope += other.slope;
    curvature += other.curvature;
  }
};

struct LineSearchOptions {
  Real maxStep = 1.5;
  Real tolerance =
      1e-8;  ///< on |slope| relative to that at 0, and on the step relative to the first
  int maxEvaluations = 100;
};

struct LineSearchResult {
  Real alpha = 0;
  int evaluations = 0;
};

/// `slope0` < 0 is the slope at 0 and 1 the expected minimum (a Newton step). Stays in (0,
/// maxStep]. `function(alpha)` returns a LinePoint. Ends after maxEvaluations at the latest, inside
/// the bracket.
template <class Function>
[[nodiscard]] LineSearchResult searchLine(const LineSearchOptions& options, Real slope0,
                                          Function&& function);

/// The part that needs no function: where to look next.
class LineBracket {
 public:
  LineBracket(const LineSearchOptions& options, Real slope0);

  /// The next point to evaluate; the best so far when isDone().
  [[nodiscard]] Real alpha() const { return alpha_; }
  [[nodiscard]] bool isDone() const { return is_done_; }
  void add(const LinePoint& point);

 private:
  LineSearchOptions options_;
  Real scale_;  // -1 / slope0
  Real low_ = 0, high_ = 0;
  Real alpha_ = 1;
  Real last_step_ = 0;
  int evaluations_ = 0;
  bool has_high_ = false;
  bool is_done_ = false;
};

template <class Function>
LineSearchResult searchLine(const LineSearchOptions& options, Real slope0, Function&& function) {
  LineBracket bracket(options, slope0);
  LineSearchResult result;
  while (!bracket.isDone()) {
    bracket.add(function(bracket.alpha()));
    ++result.evaluations;
  }
  result.alpha = bracket.alpha();
  return result;
}

}  // namespace tangere::solver
