// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of the convex solver, above all for cliques of six velocities, free bodies: a row
// of a block is then six numbers, handled as four and two. Compiled for any machine and for AVX2;
// both give the same bits, since every operation stands alone and none is fused.
#pragma once

#include <cstdint>

namespace tangere::solver {

/// Columns [source, source + count) of a panel update columns [target, ...) of another.
struct BlockRun {
  std::int32_t source = 0, target = 0, count = 0;
};

/// Panels have six rows of `width` numbers, row major; widths and runs are multiples of six.
struct SixFunctions {
  /// Turns a panel of H into one of U, in place; `inverse` gets the six 1/u_kk. Pivots that are not
  /// above `smallest` times the `original` diagonal are raised to it; how many.
  int (*factorPanel)(double* panel, std::int64_t width, double smallest, const double* original,
                     double* inverse);
  /// Six rows of another panel: target -= S^T P, S the block at `source`, P the runs.
  void (*update)(const double* panel, std::int64_t width, std::int32_t source, double* target,
                 std::int64_t targetWidth, const BlockRun* runs, int numRuns);
  /// Substitution with one panel: x at `own` first, then at the blocks right of it in U^T y = x;
  /// the other way round in U x = y. `neighbours` says where those begin in x.
  void (*forward)(const double* panel, std::int64_t width, const double* inverse,
                  const std::int32_t* neighbours, int numNeighbours, double* x, std::int32_t own);
  void (*backward)(const double* panel, std::int64_t width, const double* inverse,
                   const std::int32_t* neighbours, int numNeighbours, double* x, std::int32_t own);
  /// diagonal += J^T G J and, where `other` is not null, block += J^T G J_other, for J 3 x 6 and G
  /// by the six numbers of its lower triangle, row by row.
  void (*addContact)(const double* g, const double* own, const double* other, double* diagonal,
                     std::int64_t diagonalStride, double* block, std::int64_t blockStride);

  // Contacts of cliques of any size n.

  /// The same for J 3 x n and J_other 3 x otherSize, of the diagonal block its upper triangle;
  /// `scratch` has room for 3 n.
  void (*addContactOfTree)(const double* g, const double* own, int n, const double* other,
                           int otherSize, double* scratch, double* diagonal,
                           std::int64_t diagonalStride, double* block, std::int64_t blockStride);
  /// Lower triangle of w (3 x 3, row major) += Y^T Y with Y = inverse J^T, J 3 x n, `inverse` lower
  /// triangular; `scratch` has room for 4 n.
  void (*addDelassus)(const double* jacobian, int n, const double* inverse, double* scratch,
                      double* w);
};

/// The ones for this machine.
[[nodiscard]] const SixFunctions& sixFunctions();
/// Those for any machine, and those for AVX2 (null where it was not compiled or the machine lacks
/// it).
[[nodiscard]] const SixFunctions& genericSixFunctions();
[[nodiscard]] const SixFunctions* avx2SixFunctions();

}  // namespace tangere::solver
