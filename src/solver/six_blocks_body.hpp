// SPDX-License-Identifier: Apache-2.0
//
// The bodies of SixFunctions, included by one file for each instruction set. Everything is local to
// that file: an inline function compiled for AVX2 must not be the one the linker picks for all.
#include "solver/six_blocks.hpp"

namespace tangere::solver {
namespace {

#define TANGERE_INLINE inline __attribute__((always_inline))

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));

/// A row of a block.
struct Six {
  Four a;
  Two b;
};

TANGERE_INLINE Six load(const double* p) {
  return {*reinterpret_cast<const Four*>(p), *reinterpret_cast<const Two*>(p + 4)};
}
TANGERE_INLINE void store(const Six& row, double* p) {
  *reinterpret_cast<Four*>(p) = row.a;
  *reinterpret_cast<Two*>(p + 4) = row.b;
}
TANGERE_INLINE Six scaled(const Six& row, double f) {
  return {row.a * Four{f, f, f, f}, row.b * Two{f, f}};
}
TANGERE_INLINE void add(const Six& row, Six* sum) {
  sum->a += row.a;
  sum->b += row.b;
}
TANGERE_INLINE void subtractScaled(const Six& row, double f, Six* sum) {
  sum->a -= row.a * Four{f, f, f, f};
  sum->b -= row.b * Two{f, f};
}

// Without libm: the intrinsic of the compiler is one instruction.
TANGERE_INLINE double root(double x) { return __builtin_sqrt(x); }

int factorPanel(double* panel, std::int64_t width, double smallest, const double* original,
                double* inverse) {
  double u[6][6];
  for (int k = 0; k < 6; ++k) {
    for (int l = k; l < 6; ++l) u[k][l] = panel[k * width + l];
  }
  int numRaised = 0;
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    double pivot = u[k][k];
    if (!(pivot > smallest * original[k])) {
      pivot = original[k] > 0 ? smallest * original[k] : 1;
      ++numRaised;
    }
    const double diagonal = root(pivot);
    const double scale = 1 / diagonal;
    inverse[k] = scale;
    u[k][k] = diagonal;
#pragma GCC unroll 6
    for (int l = k + 1; l < 6; ++l) u[k][l] *= scale;
#pragma GCC unroll 6
    for (int l = k + 1; l < 6; ++l) {
#pragma GCC unroll 6
      for (int c = l; c < 6; ++c) u[l][c] -= u[k][l] * u[k][c];
    }
  }
  for (int k = 0; k < 6; ++k) {
    for (int l = k; l < 6; ++l) panel[k * width + l] = u[k][l];
  }
  for (std::int64_t c = 6; c < width; c += 6) {
    Six x[6];
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) x[k] = load(panel + k * width + c);
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
      x[k] = scaled(x[k], inverse[k]);
#pragma GCC unroll 6
      for (int l = k + 1; l < 6; ++l) subtractScaled(x[k], u[k][l], &x[l]);
    }
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) store(x[k], panel + k * width + c);
  }
  return numRaised;
}

void update(const double* panel, std::int64_t width, std::int32_t source, double* target,
            std::int64_t targetWidth, const BlockRun* runs, int numRuns) {
  for (int i = 0; i < numRuns; ++i) {
    for (std::int32_t begin = 0; begin < runs[i].count; begin += 6) {
      const double* const columns = panel + runs[i].source + begin;
      Six p[6];
#pragma GCC unroll 6
      for (int k = 0; k < 6; ++k) p[k] = load(columns + k * width);
      double* const out = target + runs[i].target + begin;
      for (int r = 0; r < 6; ++r) {
        Six sum = load(out + r * targetWidth);
#pragma GCC unroll 6
        for (int k = 0; k < 6; ++k) subtractScaled(p[k], panel[k * width + source + r], &sum);
        store(sum, out + r * targetWidth);
      }
    }
  }
}

void forward(const double* panel, std::int64_t width, const double* inverse,
             const std::int32_t* neighbours, int numNeighbours, double* x, std::int32_t own) {
  double y[6];
  for (int k = 0; k < 6; ++k) y[k] = x[own + k];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    y[k] *= inverse[k];
#pragma GCC unroll 6
    for (int l = k + 1; l < 6; ++l) y[l] -= panel[k * width + l] * y[k];
  }
  for (int k = 0; k < 6; ++k) x[own + k] = y[k];
  for (int i = 0; i < numNeighbours; ++i) {
    const double* const columns = panel + 6 + 6 * i;
    Six sum = load(x + neighbours[i]);
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) subtractScaled(load(columns + k * width), y[k], &sum);
    store(sum, x + neighbours[i]);
  }
}

void backward(const double* panel, std::int64_t width, const double* inverse,
              const std::int32_t* neighbours, int numNeighbours, double* x, std::int32_t own) {
  double y[6];
  for (int k = 0; k < 6; ++k) y[k] = x[own + k];
  if (numNeighbours > 0) {
    Six sum[6];
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) sum[k] = {Four{0, 0, 0, 0}, Two{0, 0}};
    for (int i = 0; i < numNeighbours; ++i) {
      const double* const columns = panel + 6 + 6 * i;
      const Six other = load(x + neighbours[i]);
#pragma GCC unroll 6
      for (int k = 0; k < 6; ++k) {
        const Six row = load(columns + k * width);
        add({row.a * other.a, row.b * other.b}, &sum[k]);
      }
    }
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
      y[k] -=
          ((sum[k].a[0] + sum[k].a[1]) + (sum[k].a[2] + sum[k].a[3])) + (sum[k].b[0] + sum[k].b[1]);
    }
  }
#pragma GCC unroll 6
  for (int k = 5; k >= 0; --k) {
#pragma GCC unroll 6
    for (int l = k + 1; l < 6; ++l) y[k] -= panel[k * width + l] * y[l];
    y[k] *= inverse[k];
  }
  for (int k = 0; k < 6; ++k) x[own + k] = y[k];
}

/// target += P^T J, P 3 x 6 in memory.
TANGERE_INLINE void addBlock(const double* p, const Six* j, double* target, std::int64_t stride) {
  for (int r = 0; r < 6; ++r) {
    Six sum = scaled(j[0], p[r]);
    add(scaled(j[1], p[6 + r]), &sum);
    add(scaled(j[2], p[12 + r]), &sum);
    Six row = load(target + r * stride);
    add(sum, &row);
    store(row, target + r * stride);
  }
}

void addContact(const double* g, const double* own, const double* other, double* diagonal,
                std::int64_t diagonalStride, double* block, std::int64_t blockStride) {
  Six j[3] = {load(own), load(own + 6), load(own + 12)};
  const double full[3][3] = {{g[0], g[1], g[3]}, {g[1], g[2], g[4]}, {g[3], g[4], g[5]}};
  double p[18];
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    Six sum = scaled(j[0], full[k][0]);
    add(scaled(j[1], full[k][1]), &sum);
    add(scaled(j[2], full[k][2]), &sum);
    store(sum, p + 6 * k);
  }
  addBlock(p, j, diagonal, diagonalStride);
  if (other == nullptr) return;
  const Six k[3] = {load(other), load(other + 6), load(other + 12)};
  addBlock(p, k, block, blockStride);
}

/// target[c] += p0 j0[c] + p1 j1[c] + p2 j2[c].
TANGERE_INLINE void addRow(double p0, double p1, double p2, const double* j, int n, int begin,
                           double* target) {
  const double* const j1 = j + n;
  const double* const j2 = j1 + n;
  int c = begin;
  for (; c + 4 <= n; c += 4) {
    Four sum = *reinterpret_cast<const Four*>(j + c) * Four{p0, p0, p0, p0};
    sum += *reinterpret_cast<const Four*>(j1 + c) * Four{p1, p1, p1, p1};
    sum += *reinterpret_cast<const Four*>(j2 + c) * Four{p2, p2, p2, p2};
    *reinterpret_cast<Four*>(target + c) += sum;
  }
  for (; c < n; ++c) {
    double sum = j[c] * p0;
    sum += j1[c] * p1;
    sum += j2[c] * p2;
    target[c] += sum;
  }
}

#include "solver/tree_blocks_body.hpp"

void addContactsOfTree(const ContactTerm* terms, int numTerms, int n, int otherSize,
                       double* scratch, double* diagonal, std::int64_t diagonalStride,
                       double* block, std::int64_t blockStride) {
  const bool hasOther = terms[0].other != nullptr;
  if (n <= kMaxFixedSize && (!hasOther || otherSize <= kMaxFixedSize)) {
    withSize(n, [&](auto size) {
      multiplyByHessian<size.value>(terms, numTerms, scratch);
      addSquares<size.value>(terms, numTerms, scratch, diagonal, diagonalStride);
    });
    if (!hasOther) return;
    withSize(otherSize, [&](auto size) {
      addProducts<size.value, true>(terms, numTerms, scratch, n, n, size.value, 0, block,
                                    blockStride);
    });
    return;
  }
  for (int t = 0; t < numTerms; ++t) {
    const double* const g = terms[t].hessian;
    const double* const own = terms[t].own;
    for (int c = 0; c < 3 * n; ++c) scratch[c] = 0;
    addRow(g[0], g[1], g[3], own, n, 0, scratch);
    addRow(g[1], g[2], g[4], own, n, 0, scratch + n);
    addRow(g[3], g[4], g[5], own, n, 0, scratch + 2 * n);
    for (int r = 0; r < n; ++r) {
      const double p0 = scratch[r], p1 = scratch[n + r], p2 = scratch[2 * n + r];
      addRow(p0, p1, p2, own, n, r, diagonal + r * diagonalStride);
      if (hasOther) addRow(p0, p1, p2, terms[t].other, otherSize, 0, block + r * blockStride);
    }
  }
}

int factorPanelOfTree(double* panel, int size, std::int64_t width, double smallest,
                      const double* original, double* inverse) {
  int numRaised = 0;
  if (width <= kMaxFixedSize) {
    withSize(static_cast<int>(width), [&](auto columns) {
      numRaised = factorPanelOfWidth<columns.value>(panel, size, smallest, original, inverse);
    });
    return numRaised;
  }
  for (int k = 0; k < size; ++k) {
    double* __restrict__ const row = panel + k * width;
    double pivot = row[k];
    if (!(pivot > smallest * original[k])) {
      pivot = original[k] > 0 ? smallest * original[k] : 1;
      ++numRaised;
    }
    const double diagonal = root(pivot);
    const double scale = 1 / diagonal;
    inverse[k] = scale;
    row[k] = diagonal;
    for (std::int64_t c = k + 1; c < width; ++c) row[c] *= scale;
    for (int l = k + 1; l < size; ++l) {
      double* __restrict__ const other = panel + l * width;
      const double f = row[l];
      for (std::int64_t c = l; c < width; ++c) other[c] -= f * row[c];
    }
  }
  return numRaised;
}

void updateTree(const double* panel, int size, std::int64_t width, int source, int numRows,
                int from, int count, bool isDiagonal, double* target, std::int64_t targetWidth) {
  if (count <= kMaxFixedSize) {
    withSize(count, [&](auto columns) {
      subtractProductsOfSize<columns.value>(panel, width, size, source, numRows, from, target,
                                            targetWidth);
    });
    return;
  }
  for (int r = 0; r < numRows; ++r) {
    double* __restrict__ const out = target + r * targetWidth;
    for (int k = 0; k < size; ++k) {
      const double* __restrict__ const row = panel + k * width + from;
      const double f = panel[k * width + source + r];
      for (int c = isDiagonal ? r : 0; c < count; ++c) out[c] -= f * row[c];
    }
  }
}

bool invertFactorOfAnySize(const double* a, int n, double* __restrict__ u,
                           double* __restrict__ inverse) {
  for (int r = 0; r < n; ++r) {
    for (int c = r; c < n; ++c) u[r * n + c] = a[r * n + c];
    for (int c = 0; c < n; ++c) inverse[r * n + c] = r == c ? 1 : 0;
  }
  for (int k = 0; k < n; ++k) {
    double* const row = u + k * n;
    if (!(row[k] > kSmallestOfFactor * a[k * n + k]) || !(row[k] < 1e300)) return false;
    const double scale = 1 / root(row[k]);
    double* const own = inverse + k * n;
    for (int c = 0; c <= k; ++c) own[c] *= scale;
    for (int c = k + 1; c < n; ++c) row[c] *= scale;
    for (int l = k + 1; l < n; ++l) {
      const double f = row[l];
      double* const other = u + l * n;
      for (int c = l; c < n; ++c) other[c] -= f * row[c];
      double* const below = inverse + l * n;
      for (int c = 0; c <= k; ++c) below[c] -= f * own[c];
    }
  }
  return true;
}

bool invertFactor(const double* a, int n, double* u, double* inverse) {
  if (n > kMaxFixedSize) return invertFactorOfAnySize(a, n, u, inverse);
  bool isPositive = false;
  withSize(n, [&](auto size) { isPositive = invertFactorOfSize<size.value>(a, u, inverse); });
  return isPositive;
}

void multiplyContacts(const ContactSide& side, const double* x, double* y) {
  withSize(side.size, [&](auto size) { multiplyContacts<size.value, false>(side, x, y); });
}
void addContacts(const ContactSide& side, const double* x, double* y) {
  withSize(side.size, [&](auto size) { multiplyContacts<size.value, true>(side, x, y); });
}
void addTransposed(const ContactSide& side, const double* x, double* y) {
  withSize(side.size, [&](auto size) { addTransposedContacts<size.value>(side, x, y); });
}
void addAbsolute(const ContactSide& side, const double* x, double* y) {
  withSize(side.size, [&](auto size) { addAbsoluteContacts<size.value>(side, x, y); });
}
void addAbsoluteTransposed(const ContactSide& side, const double* x, double* y) {
  withSize(side.size, [&](auto size) { addAbsoluteTransposedContacts<size.value>(side, x, y); });
}

void multiplySymmetric(const double* a, int n, const double* x, double* y) {
  if (n <= kMaxFixedSize) {
    withSize(n, [&](auto size) { multiplySymmetricOfSize<size.value>(a, x, y); });
    return;
  }
  for (int r = 0; r < n; ++r) y[r] = a[r] * x[0];
  for (int c = 1; c < n; ++c) {
    const double* __restrict__ const row = a + c * n;
    double* __restrict__ const out = y;
    for (int r = 0; r < n; ++r) out[r] += row[r] * x[c];
  }
}

void multiplyAbsolute(const double* a, int n, const double* x, double* y) {
  if (n <= kMaxFixedSize) {
    withSize(n, [&](auto size) { multiplyAbsoluteOfSize<size.value>(a, x, y); });
    return;
  }
  for (int r = 0; r < n; ++r) y[r] = 0;
  for (int c = 0; c < n; ++c) {
    const double* __restrict__ const row = a + c * n;
    double* __restrict__ const out = y;
    for (int r = 0; r < n; ++r) out[r] += __builtin_fabs(row[r]) * __builtin_fabs(x[c]);
  }
}

TANGERE_INLINE void addDelassusOfSize(const double* jacobian, int n, const double* inverse,
                                      double* scratch, double* w) {
  Four* const x = reinterpret_cast<Four*>(scratch);
  for (int i = 0; i < n; ++i) {
    x[i] = Four{jacobian[i], jacobian[n + i], jacobian[2 * n + i], 0};
  }
  Four sums[3] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  for (int i = 0; i < n; ++i) {
    const double* const row = inverse + i * n;
    Four y = {0, 0, 0, 0};
    for (int c = 0; c <= i; ++c) y += x[c] * Four{row[c], row[c], row[c], row[c]};
    sums[0] += y * Four{y[0], y[0], y[0], y[0]};
    sums[1] += y * Four{y[1], y[1], y[1], y[1]};
    sums[2] += y * Four{y[2], y[2], y[2], y[2]};
  }
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l <= k; ++l) w[3 * k + l] += sums[k][l];
  }
}

void addDelassus(const double* jacobian, int n, const double* inverse, double* scratch, double* w) {
  if (n > kMaxFixedSize) return addDelassusOfSize(jacobian, n, inverse, scratch, w);
  withSize(n, [&](auto size) { addDelassusOfSize(jacobian, size.value, inverse, scratch, w); });
}

void addDelassuses(const ContactSide& side, const double* inverse, double* w,
                   std::int64_t wStride) {
  withSize(side.size, [&](auto size) {
    constexpr int kSize = size.value;
    const double* j = side.jacobian;
    int t = 0;
    for (; t + 4 <= side.count; t += 4, j += 4 * side.stride, w += 4 * wStride) {
      addDelassusOfFour<kSize>(j, side.stride, inverse, w, wStride);
    }
    double scratch[4 * kSize];
    for (; t < side.count; ++t, j += side.stride, w += wStride) {
      addDelassusOfSize(j, kSize, inverse, scratch, w);
    }
  });
}

void multiplyInverse(const double* inverse, int n, const double* x, double* scratch, double* y) {
  if (n <= kMaxFixedSize) {
    withSize(n, [&](auto size) { multiplyInverseOfSize<size.value>(inverse, x, y); });
    return;
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int c = 0; c <= i; ++c) sum += inverse[i * n + c] * x[c];
    scratch[i] = sum;
  }
  for (int c = 0; c < n; ++c) y[c] = 0;
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c <= i; ++c) y[c] += inverse[i * n + c] * scratch[i];
  }
}

void inverseDiagonal(const double* inverse, int n, double* diagonal) {
  if (n <= kMaxFixedSize) {
    withSize(n, [&](auto size) { inverseDiagonalOfSize<size.value>(inverse, diagonal); });
    return;
  }
  for (int c = 0; c < n; ++c) diagonal[c] = 0;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c <= r; ++c) diagonal[c] += inverse[r * n + c] * inverse[r * n + c];
  }
}

void forwardBlock(const double* panel, int size, std::int64_t width, int from, int count,
                  const double* y, double* x) {
  if (count <= kMaxFixedSize) {
    withSize(count, [&](auto columns) {
      constexpr int kColumns = columns.value;
      Row<kColumns> sum = loadRow<kColumns>(x);
      for (int k = 0; k < size; ++k) {
        subtractRowFrom(scaledRow<kColumns>(panel + k * width + from, y[k]), &sum);
      }
      storeRow(sum, x);
    });
    return;
  }
  for (int k = 0; k < size; ++k) {
    const double* __restrict__ const row = panel + k * width + from;
    double* __restrict__ const out = x;
    for (int c = 0; c < count; ++c) out[c] -= row[c] * y[k];
  }
}

void backwardBlock(const double* panel, int size, std::int64_t width, int from, int count,
                   const double* x, double* y) {
  if (count <= kMaxFixedSize) {
    withSize(count, [&](auto columns) {
      constexpr int kColumns = columns.value;
      double other[kColumns];
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) other[c] = x[c];
      for (int k = 0; k < size; ++k) {
        const double* const row = panel + k * width + from;
        double sum = y[k];
#pragma GCC unroll 16
        for (int c = 0; c < kColumns; ++c) sum -= row[c] * other[c];
        y[k] = sum;
      }
    });
    return;
  }
  for (int k = 0; k < size; ++k) {
    const double* const row = panel + k * width + from;
    double sum = y[k];
    for (int c = 0; c < count; ++c) sum -= row[c] * x[c];
    y[k] = sum;
  }
}

constexpr SixFunctions kFunctions = {.factorPanel = factorPanel,
                                     .update = update,
                                     .forward = forward,
                                     .backward = backward,
                                     .addContact = addContact,
                                     .addContactsOfTree = addContactsOfTree,
                                     .multiplyContacts = multiplyContacts,
                                     .addContacts = addContacts,
                                     .addTransposed = addTransposed,
                                     .addAbsolute = addAbsolute,
                                     .addAbsoluteTransposed = addAbsoluteTransposed,
                                     .multiplySymmetric = multiplySymmetric,
                                     .multiplyAbsolute = multiplyAbsolute,
                                     .addDelassus = addDelassus,
                                     .addDelassuses = addDelassuses,
                                     .factorPanelOfTree = factorPanelOfTree,
                                     .updateTree = updateTree,
                                     .invertFactor = invertFactor,
                                     .multiplyInverse = multiplyInverse,
                                     .inverseDiagonal = inverseDiagonal,
                                     .forwardBlock = forwardBlock,
                                     .backwardBlock = backwardBlock};

#undef TANGERE_INLINE

}  // namespace
}  // namespace tangere::solver
