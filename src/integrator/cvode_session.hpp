// SPDX-License-Identifier: Apache-2.0
//
// One initial value problem y' = f(t, y) with root functions and quadratures, integrated by CVODES
// step by step. The only place that knows SUNDIALS.
//
// What holds: nothing throws but the constructor; nothing is printed; a restart forgets the history
// (order 1) and sets the quadratures to zero.
#pragma once

#include <tangere/solver_options.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace tangere::integrator {

/// The problem. Functions are called with the numbers that the options of the session say.
class OdeSystem {
 public:
  virtual ~OdeSystem() = default;
  /// False: y is beyond what can be evaluated; a shorter step is tried.
  [[nodiscard]] virtual bool derivative(Real t, const Real* y, Real* yDot) = 0;
  virtual void crossings(Real t, const Real* y, Real* z) = 0;
  /// Derivatives of the quadratures, right after derivative() was asked for the same.
  virtual void powers(Real t, const Real* y, Real* power) = 0;
  /// Makes I - gamma J ready for solve(). `mayReuse`: a J of before may do; returns whether J is
  /// that of y, or -1 when the matrix is singular.
  [[nodiscard]] virtual int prepareSolve(Real t, const Real* y, Real gamma, bool mayReuse) = 0;
  /// x = (I - gamma J)^-1 b.
  virtual void solve(const Real* b, Real* x) = 0;
  /// Whether J may change so much within a step that small corrections do not show it. Asked at
  /// the start of every solution of a step.
  [[nodiscard]] virtual bool isSteep() = 0;
  /// Where isSteep(), after derivative() at the corrected y: whether solve() needs another J before
  /// the corrections, which are small when `isConverged`, can be believed.
  [[nodiscard]] virtual bool isMatrixStale(bool isConverged) = 0;
  /// Where isSteep(), before solve() is asked: the residual r = .. - gamma y' of Newton's method as
  /// if steep forces went on from where J was made as they began there; whether r was changed.
  [[nodiscard]] virtual bool straightenResidual(Real gamma, Real* r) {
    (void)gamma, (void)r;
    return false;
  }
};

inline constexpr int kMaxQuadratures = 6;

struct OdeOptions {
  int size = 0, numRoots = 0, numQuadratures = 0;
  EventMethod method = EventMethod::Bdf;
  Real relativeTolerance = 1e-8, absoluteTolerance = 1e-10;
  Real maxStep = 0;  ///< 0: none
  /// Of each component: errors are relative to at most this size. As long as the session.
  std::span<const Real> largestScale{};
  const int* rootDirections = nullptr;  ///< of each root: 1 rising, -1 falling, 0 both; null: both
};

enum class OdeStatus : std::uint8_t {
  Ok,
  Root,          ///< stopped at the right end of the bracket of a root
  StopTime,      ///< stopped where it was told to
  ErrorTest,     ///< no step is short enough for the tolerances
  Convergence,   ///< Newton's method does not converge
  NotEvaluated,  ///< the derivative does not exist
  TooAccurate,   ///< tolerances below rounding
  Other,
};
[[nodiscard]] const char* odeStatusName(OdeStatus status);

struct OdeCounts {
  std::int64_t numSteps = 0, numDerivatives = 0, numJacobians = 0, numCrossings = 0;
};

class CvodeSession {
 public:
  CvodeSession(OdeSystem& system, const OdeOptions& options);
  ~CvodeSession();
  CvodeSession(CvodeSession&&) = delete;
  CvodeSession& operator=(CvodeSession&&) = delete;

  /// Starts anew. No step goes beyond `stopTime`.
  void restart(Real t, std::span<const Real> y, Real stopTime);
  /// One step; time() and state() are then those of its end, or of the root in it.
  [[nodiscard]] OdeStatus step();
  [[nodiscard]] Real time() const;
  [[nodiscard]] std::span<const Real> state() const;
  /// Which root functions crossed zero in the last step: -1 falling, 1 rising, 0 not.
  [[nodiscard]] std::span<const int> roots() const;
  /// Start of the last step: stateAt() is good from there to time().
  [[nodiscard]] Real lastStart() const;
  void stateAt(Real t, std::span<Real> y);
  void quadraturesAt(Real t, std::span<Real> out);
  /// The component that the last error was largest in.
  [[nodiscard]] int worstComponent();
  /// Since construction.
  [[nodiscard]] OdeCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere::integrator
