// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner of the vertices of an island: one of several, by choice or by their number.
#pragma once

#include <tangere/solver_options.hpp>

#include "core/parallel_for.hpp"
#include "math/block_csr.hpp"
#include "solver/incomplete_cholesky.hpp"
#include "solver/two_level.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

class SoftFactor {
 public:
  struct Setup {
    const math::BlockCsr* pattern = nullptr;
    std::span<const std::int32_t> bodySizes;  ///< vertices of each body
    std::span<const Vec3> positions;          ///< of all; empty: not known, no second level then
    std::span<const std::uint8_t> isTouched;  ///< by vertex: does a constraint act on it?
  };
  /// Decides what Auto means here.
  void setPattern(SoftPreconditioner wanted, const Setup& setup);
  [[nodiscard]] SoftPreconditioner kind() const { return kind_; }

  /// `stiffness`: of each vertex, the size of its diagonal block without contacts. False when
  /// `matrix` is found not to be positive definite.
  bool factor(const math::BlockCsr& matrix, const Real* stiffness, core::ThreadPool* pool);
  /// z ~ S^-1 r; z is not r.
  void solve(const Real* r, Real* z);
  /// The same in two parts, of which the sum is solve(): by the first level alone; and += what the
  /// second level adds, if there is one.
  void solveFirst(const Real* r, Real* z);
  void addSecond(const Real* r, Real* z);
  /// solveFirst() for four vectors at once, number k of vector c at 4 k + c.
  void solveFirstFour(const Real* r, Real* z);
  [[nodiscard]] bool hasSecond() const { return kind_ == SoftPreconditioner::TwoLevel; }

 private:
  bool invertDiagonal(const math::BlockCsr& matrix);
  void multiplyDiagonal(const Real* r, Real* z) const;

  SoftPreconditioner kind_ = SoftPreconditioner::BlockJacobi;
  std::vector<Real> inverse_blocks_;
  std::vector<Real> one_, answer_;  // of four vectors
  int num_vertices_ = 0;
  IncompleteCholesky incomplete_;
  TwoLevel two_level_;
};

}  // namespace tangere::solver
