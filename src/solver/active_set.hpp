// SPDX-License-Identifier: Apache-2.0
//
// The linear complementarity problem of contacts without friction,
//
//   x >= 0,   w = A x - b >= 0,   x . w = 0,        A symmetric, positive
//   semidefinite,
//
// by an active set: the unknowns of the set are solved for by a Cholesky
// factorisation, the rest are zero. Every change of the set lowers x.A.x/2 -
// b.x, so none comes back.
//
// More contacts than the bodies have freedoms make A singular. It is scaled to
// a unit diagonal and gets 1e-8 on it for the factorisation alone; refinement
// against A itself then removes the error of that, so the answer is that of A,
// and among several the one closest to the start.
#pragma once

#include <tangere/types.hpp>

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace tangere::solver {

struct ActiveSetOptions {
  int maxIterations = 100;     ///< changes of the set
  Real regularization = 1e-8;  ///< of the unit diagonal
  Real tolerance = 1e-11;      ///< of w against the largest of |b|, in scaled unknowns
};

struct ActiveSetReport {
  int iterations = 0;
  bool converged = true;
  Real residual = 0;  ///< largest of -w and of |w| within the set, scaled as the tolerance
};

/// Keeps its memory between solves.
class ActiveSetSolver {
 public:
  /// On entry the positive entries of `x` are the set to start from (zero: an
  /// empty one), on exit `x` solves the problem. Only the lower triangle of `a`
  /// is read. Of two equal violations the lower index goes first. Not finite
  /// input: `x` is zero and the report not converged.
  ActiveSetReport solve(const Eigen::Ref<const Eigen::MatrixXd>& a,
                        const Eigen::Ref<const Eigen::VectorXd>& b, Eigen::Ref<Eigen::VectorXd> x,
                        const ActiveSetOptions& options = {});

 private:
  void solveForSet();

  Eigen::MatrixXd scaled_, factor_;
  Eigen::VectorXd scale_, b_, x_, w_, trial_, step_, rest_;
  std::vector<int> set_;  // ascending
  std::vector<char> is_in_set_;
  Real regularization_ = 0;
};

}  // namespace tangere::solver
