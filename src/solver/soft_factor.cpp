// SPDX-License-Identifier: Apache-2.0
#include "solver/soft_factor.hpp"

#include <cstddef>

namespace tangere::solver {
namespace {

/// Measured on balls in a hand: up to so many vertices the second level costs more than the steps
/// that it saves.
constexpr int kMaxIncompleteVertices = 300;

}  // namespace

void SoftFactor::setPattern(SoftPreconditioner wanted, const Setup& setup) {
  const int numVertices = num_vertices_ = setup.pattern->numRows();
  kind_ = wanted;
  if (wanted == SoftPreconditioner::Auto) {
    kind_ = numVertices <= kMaxIncompleteVertices ? SoftPreconditioner::IncompleteCholesky
                                                  : SoftPreconditioner::TwoLevel;
  }
  if (kind_ == SoftPreconditioner::TwoLevel && setup.positions.empty()) {
    kind_ = SoftPreconditioner::IncompleteCholesky;
  }
  if (kind_ != SoftPreconditioner::BlockJacobi) {
    incomplete_.setPattern(*setup.pattern, setup.isTouched);
  }
  if (kind_ == SoftPreconditioner::TwoLevel) {
    two_level_.setPattern(*setup.pattern, setup.bodySizes, setup.positions);
  }
}

bool SoftFactor::factor(const math::BlockCsr& matrix, const Real* stiffness,
                        core::ThreadPool* pool) {
  switch (kind_) {
    case SoftPreconditioner::BlockJacobi:
      return invertDiagonal(matrix);
    case SoftPreconditioner::TwoLevel:
      two_level_.factor(matrix, stiffness, pool);
      return incomplete_.factor(matrix, stiffness);
    case SoftPreconditioner::Auto:
    case SoftPreconditioner::IncompleteCholesky:
      break;
  }
  return incomplete_.factor(matrix, stiffness);
}

bool SoftFactor::invertDiagonal(const math::BlockCsr& matrix) {
  inverse_blocks_.resize(static_cast<std::size_t>(matrix.numRows()) * 9);
  for (int i = 0; i < matrix.numRows(); ++i) {
    if (!invertSymmetricBlock(matrix.block(matrix.diagonal[i]), 0,
                              inverse_blocks_.data() + std::size_t{9} * i)) {
      return false;
    }
  }
  return true;
}

void SoftFactor::solve(const Real* r, Real* z) {
  solveFirst(r, z);
  addSecond(r, z);
}

void SoftFactor::solveFirst(const Real* r, Real* z) {
  if (kind_ == SoftPreconditioner::BlockJacobi) return multiplyDiagonal(r, z);
  incomplete_.solve(r, z);
}

void SoftFactor::solveFirstFour(const Real* r, Real* z) {
  if (kind_ == SoftPreconditioner::IncompleteCholesky || kind_ == SoftPreconditioner::TwoLevel) {
    return incomplete_.solveFour(r, z);
  }
  const int size = 3 * num_vertices_;
  one_.resize(static_cast<std::size_t>(size));
  answer_.resize(one_.size());
  for (int c = 0; c < 4; ++c) {
    for (int k = 0; k < size; ++k) one_[k] = r[4 * k + c];
    solveFirst(one_.data(), answer_.data());
    for (int k = 0; k < size; ++k) z[4 * k + c] = answer_[k];
  }
}

void SoftFactor::addSecond(const Real* r, Real* z) {
  if (hasSecond()) two_level_.addSolution(r, z);
}

void SoftFactor::multiplyDiagonal(const Real* r, Real* z) const {
  const int n = static_cast<int>(inverse_blocks_.size() / 9);
  for (int i = 0; i < n; ++i) {
    const Real* const d = inverse_blocks_.data() + std::size_t{9} * i;
    const Real* const x = r + 3 * i;
    for (int k = 0; k < 3; ++k) {
      z[3 * i + k] = d[3 * k] * x[0] + d[3 * k + 1] * x[1] + d[3 * k + 2] * x[2];
    }
  }
}

}  // namespace tangere::solver
