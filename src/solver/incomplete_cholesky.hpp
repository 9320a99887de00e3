// SPDX-License-Identifier: Apache-2.0
//
// Incomplete factorization A ~ L D L^T of a symmetric positive definite matrix of 3x3 blocks, L
// with unit diagonal and the pattern of A: a preconditioner.
//
// Elasticity makes no M-matrix, so a pivot may fail though A is positive definite. The diagonal is
// then raised, by more until it does not; what is left at last is D = diag(A), which cannot fail
// (symmetric Gauss-Seidel). L D L^T is positive definite in any case.
//
// A contact that sticks adds to the vertices of a tetrahedron a thousand times their stiffness, but
// only against the motion of one point. Fill between the vertices of two such contacts, left out,
// would be as large; so vertices with contacts are eliminated first and completely, and what is
// left out then is of the size of the stiffness without contacts. By that stiffness goes also how
// much the diagonal is raised, and which pivot is too small.
#pragma once

#include "math/block_csr.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

class IncompleteCholesky {
 public:
  /// `isComplete`: by row, not zero for those to be eliminated first and with all fill among them
  /// (as many of them as is cheap); empty: none. Bits depend on the pattern and these alone.
  void setPattern(const math::BlockCsr& pattern, std::span<const std::uint8_t> isComplete = {});

  /// `a` has the pattern that was set and is not needed afterwards. `stiffness`: of each row, the
  /// size of its diagonal without contacts; null: that of `a`. Where the diagonal had to be raised
  /// for one matrix since setPattern() it is from the first for the next. False when a diagonal
  /// block is not positive definite: there is no factor then.
  bool factor(const math::BlockCsr& a, const Real* stiffness = nullptr);

  /// z = (L D L^T)^-1 r; 3 numRows numbers each, z may be r.
  void solve(const Real* r, Real* z);

  /// The same for four vectors at once, number k of vector c at 4 k + c.
  void solveFour(const Real* r, Real* z);

  /// By what part of the stiffness the diagonal was raised; 0: A as it is.
  [[nodiscard]] Real shift() const { return shift_; }
  /// Blocks of L below the diagonal.
  [[nodiscard]] int numBlocks() const { return static_cast<int>(column_.size()); }

 private:
  void orderComplete(const math::BlockCsr& pattern, std::span<const std::uint8_t> isComplete);
  bool eliminateNext();
  void listRows(const math::BlockCsr& pattern);
  bool tryFactor(const math::BlockCsr& a, Real shift);
  bool useDiagonal(const math::BlockCsr& a);

  std::vector<std::int32_t> order_, position_;    // row of each position and back
  std::vector<std::int32_t> row_begin_, column_;  // strictly lower triangle, by position
  std::vector<std::int32_t> source_;              // block of the pattern, -1: fill
  std::vector<std::int32_t> diagonal_;            // block of the pattern, by position
  std::vector<Real> lower_;                       // nine for each block: L
  std::vector<Real> inverse_pivot_;               // nine for each row: D^-1
  std::vector<Real> product_;                     // L D of one row
  std::vector<Real> stiffness_;                   // by position
  std::vector<std::int32_t> place_;               // of a column in the row under way, -1: none
  std::vector<Real> x_;
  Real shift_ = 0;

  // Of the ordering: neighbours not yet eliminated, ascending.
  std::vector<std::vector<std::int32_t>> neighbours_;
  std::vector<std::int32_t> left_, merged_;
  std::vector<std::uint64_t> fill_, fill_scratch_;
  int num_complete_ = 0;
};

/// D^-1 of a symmetric 3x3 block, row major; false when a pivot is not above `smallest`, or D not
/// positive definite at the precision of the machine.
bool invertSymmetricBlock(const Real* d, Real smallest, Real* inverse);

}  // namespace tangere::solver
