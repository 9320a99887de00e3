// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factorization of a symmetric positive definite matrix of 3x3 blocks: neighbouring
// vertices are taken together to dense blocks (supernodes known beforehand), which are eliminated
// in the order of minimum degree (BlockSparse). The order is kept while pattern and parts stay.
#pragma once

#include "core/parallel_for.hpp"
#include "math/block_csr.hpp"
#include "solver/block_sparse.hpp"
#include "solver/vertex_parts.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

class SparseCholesky {
 public:
  /// `positions` of all vertices, or none: neighbours in number are then taken together.
  void setPattern(const math::BlockCsr& pattern, std::span<const Vec3> positions);

  /// `s` has the pattern that was set. Number of pivots that were not positive and were raised.
  int factor(const math::BlockCsr& s, core::ThreadPool* pool);
  /// z = S^-1 r; z may be r.
  void solve(const Real* r, Real* z);

  /// Multiplications of one factorization, about.
  [[nodiscard]] double work() const { return u_.work(); }
  [[nodiscard]] std::int64_t numEntries() const { return u_.numEntries(); }

 private:
  VertexParts parts_;
  std::vector<std::int32_t> sizes_, first_;  // scalars of each part
  std::vector<std::int32_t> within_;         // first scalar of a vertex in its part
  std::vector<std::uint64_t> edges_, scratch_;
  std::vector<std::int32_t> place_;  // of each lower block of the pattern: edge, -1: one part
  BlockSparse u_;
  std::vector<Real> x_;
};

}  // namespace tangere::solver
