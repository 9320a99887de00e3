// SPDX-License-Identifier: Apache-2.0
//
// H = A + J^T G J of all vertices of the sparse cliques of an island: their A side by side, and
// what constraints add among the vertices that they act on. Those that no tetrahedron joins (self
// contact, two soft bodies) enlarge the pattern, so that nothing is left out.
#pragma once

#include "math/block_csr.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// Vertices that one constraint joins: a range of a list of vertices.
struct VertexGroup {
  std::int32_t first = 0, count = 0;
  std::int64_t slots = 0;  ///< set by setPattern
};

class SoftMatrix {
 public:
  /// The pattern of the bodies' matrices, whose rows follow each other, and of all pairs within the
  /// groups. The bodies must stay until the next call.
  void setPattern(std::span<const math::BlockCsr* const> bodies, std::span<VertexGroup> groups,
                  std::span<const std::int32_t> vertices);

  [[nodiscard]] const math::BlockCsr& matrix() const { return matrix_; }
  /// y = H x of rows [begin, end) for four vectors at once, number k of vector c at 4 k + c.
  void multiplyFour(int begin, int end, const Real* x, Real* y) const;

  /// H = A.
  void setA();
  /// H += J^T P, J and P = G J numRows x 3 group.count, row major.
  void add(const VertexGroup& group, int numRows, const Real* jacobian, const Real* product);

 private:
  void findMissing(std::span<const VertexGroup> groups, std::span<const std::int32_t> vertices);
  void mergeRows();
  void findSlots(std::span<VertexGroup> groups, std::span<const std::int32_t> vertices);

  std::vector<const math::BlockCsr*> bodies_;
  std::vector<std::int32_t> first_row_, body_of_row_;
  std::vector<std::uint64_t> missing_, scratch_;
  std::vector<std::int32_t> place_;  // of the blocks of A, body after body; empty: in order
  std::vector<std::int32_t> slots_;  // of each group: count x count blocks
  math::BlockCsr matrix_;
};

}  // namespace tangere::solver
