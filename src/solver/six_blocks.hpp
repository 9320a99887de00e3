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

/// A contact of a clique and, where `other` is not null, another: G by the six numbers of its lower
/// triangle, row by row, and the three rows of each J.
struct ContactTerm {
  const double* hessian = nullptr;
  const double* own = nullptr;
  const double* other = nullptr;
};

/// One side of contacts between the same cliques: the first Jacobian, 3 x size, and how far the
/// next one is.
struct ContactSide {
  const double* jacobian = nullptr;
  std::int64_t stride = 0;
  int count = 0;
  int size = 0;
};
/// What the functions of a ContactSide take: the size of its clique.
inline constexpr int kMaxSideSize = 16;

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

  /// The same for several contacts of the same cliques, one after the other, J 3 x n and J_other
  /// 3 x otherSize, of the diagonal block its upper triangle (the rest of it is left undefined);
  /// `other` is null in all or in none; `scratch` has room for 3 n of each.
  void (*addContactsOfTree)(const ContactTerm* terms, int numTerms, int n, int otherSize,
                            double* scratch, double* diagonal, std::int64_t diagonalStride,
                            double* block, std::int64_t blockStride);
  // x by clique, y by contact (three each), or the other way round where it is transposed.
  void (*multiplyContacts)(const ContactSide& side, const double* x, double* y);  ///< y = J x
  void (*addContacts)(const ContactSide& side, const double* x, double* y);       ///< y += J x
  void (*addTransposed)(const ContactSide& side, const double* x, double* y);     ///< y += J^T x
  void (*addAbsolute)(const ContactSide& side, const double* x, double* y);       ///< y += |J| |x|
  void (*addAbsoluteTransposed)(const ContactSide& side, const double* x,
                                double* y);  ///< y += |J|^T x, x >= 0
  /// y = A x and y = |A| |x|, A n x n, the same by rows as by columns.
  void (*multiplySymmetric)(const double* a, int n, const double* x, double* y);
  void (*multiplyAbsolute)(const double* a, int n, const double* x, double* y);
  /// Lower triangle of w (3 x 3, row major) += Y^T Y with Y = inverse J^T, J 3 x n, `inverse` lower
  /// triangular; `scratch` has room for 4 n.
  void (*addDelassus)(const double* jacobian, int n, const double* inverse, double* scratch,
                      double* w);
  /// The same for the contacts of a side, W of each `wStride` numbers from the last.
  void (*addDelassuses)(const ContactSide& side, const double* inverse, double* w,
                        std::int64_t wStride);
  /// factorPanel() for `size` rows.
  int (*factorPanelOfTree)(double* panel, int size, std::int64_t width, double smallest,
                           const double* original, double* inverse);
  /// Rows [0, numRows) of target -= S^T P, S at column `source` of the `size` rows of the panel, P
  /// `count` columns from `from`. isDiagonal: of the target its upper triangle, the rest of it is
  /// left undefined.
  void (*updateTree)(const double* panel, int size, std::int64_t width, int source, int numRows,
                     int from, int count, bool isDiagonal, double* target,
                     std::int64_t targetWidth);
  /// A = L L^T from the upper triangle of A, n x n: writes L^-1, lower triangle. `u` is scratch of
  /// the size of A. False when A is not positive definite at the precision of the machine.
  bool (*invertFactor)(const double* a, int n, double* u, double* inverse);
  /// y = A^-1 x with the L^-1 that invertFactor() wrote, and diagonal = that of A^-1; `scratch` has
  /// room for n.
  void (*multiplyInverse)(const double* inverse, int n, const double* x, double* scratch,
                          double* y);
  void (*inverseDiagonal)(const double* inverse, int n, double* diagonal);
  /// forward() and backward() with a panel of `size` rows and one block right of it, `count` wide
  /// from column `from`: the part of the block alone, y of the panel's own and x of the block's.
  void (*forwardBlock)(const double* panel, int size, std::int64_t width, int from, int count,
                       const double* y, double* x);
  void (*backwardBlock)(const double* panel, int size, std::int64_t width, int from, int count,
                        const double* x, double* y);
};

/// The ones for this machine.
[[nodiscard]] const SixFunctions& sixFunctions();
/// Those for any machine, and those for AVX2 (null where it was not compiled or the machine lacks
/// it).
[[nodiscard]] const SixFunctions& genericSixFunctions();
[[nodiscard]] const SixFunctions* avx2SixFunctions();

}  // namespace tangere::solver
