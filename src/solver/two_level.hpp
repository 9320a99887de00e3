// SPDX-License-Identifier: Apache-2.0
//
// The second level of a preconditioner for elastic bodies: the body in pieces of some dozens of
// vertices, each of which moves rigidly.
//
//   z += P E^-1 P^T r,   E = P^T S P,   P_i = (I, -[x_i - c]_x / L) for vertex i of a piece
//
// An incomplete factorization carries what happens at a vertex a few vertices far; pieces that move
// as a whole are what it hardly changes. Together the number of steps hardly depends on the number
// of vertices. Vertices that contacts hold more firmly than the body does are left to that
// factorization (P_i = 0): in a piece they would hold all of it. E is factored on the graph of the
// pieces (BlockSparse). Bits depend on the matrix and the positions alone.
#pragma once

#include "core/parallel_for.hpp"
#include "math/block_csr.hpp"
#include "solver/block_sparse.hpp"
#include "solver/vertex_parts.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

class TwoLevel {
 public:
  /// `bodySizes`: vertices of each body; a piece belongs to one of them. `positions` of all.
  void setPattern(const math::BlockCsr& pattern, std::span<const std::int32_t> bodySizes,
                  std::span<const Vec3> positions);

  /// `s` has the pattern that was set; `stiffness`: of each vertex, the size of its diagonal block
  /// without contacts.
  void factor(const math::BlockCsr& s, const Real* stiffness, core::ThreadPool* pool);
  /// z += P E^-1 P^T r.
  void addSolution(const Real* r, Real* z);

  [[nodiscard]] int numPieces() const { return parts_.numParts(); }

 private:
  void placeVertices(std::span<const Vec3> positions);
  void joinPieces(const math::BlockCsr& pattern);
  void findHeld(const math::BlockCsr& s, const Real* stiffness);
  void keepDefinite();

  VertexParts parts_;
  std::vector<Vec3> arm_;            // (x - c) / L of each vertex
  std::vector<std::int32_t> sizes_;  // six of each piece
  std::vector<std::uint64_t> edges_, scratch_;
  std::vector<std::int32_t> place_;  // of each lower block of the pattern: edge, -1: one piece
  std::vector<std::uint8_t> is_held_;
  BlockSparse e_;
  std::vector<Real> x_;
};

}  // namespace tangere::solver
