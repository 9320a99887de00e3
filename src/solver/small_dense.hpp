// SPDX-License-Identifier: Apache-2.0
//
// Dense arithmetic on small row-major blocks. Sums run in the order of the index. Six columns, a
// free body, have loops of fixed length.
#pragma once

#include <tangere/config.hpp>

#include "solver/sap_constraint.hpp"

#include <cmath>
#include <cstdint>

namespace tangere::solver {

/// Scratch for so many velocities of one clique lies on the stack.
inline constexpr int kMaxStackVelocities = 128;

[[nodiscard]] inline bool isFiniteArray(const Real* x, int count) {
  for (int i = 0; i < count; ++i) {
    if (!std::isfinite(x[i])) return false;
  }
  return true;
}

[[nodiscard]] inline bool isZero(const Real* x, int count) {
  for (int i = 0; i < count; ++i) {
    if (x[i] != 0) return false;
  }
  return true;
}

/// y = A x, A rows x columns.
inline void multiplyDense(const Real* a, int rows, int columns, const Real* x, Real* y) {
  if (columns == 6) {
    for (int r = 0; r < rows; ++r) {
      const Real* const row = a + r * 6;
      y[r] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3] + row[4] * x[4] +
             row[5] * x[5];
    }
    return;
  }
  if (rows == 3) {
    Real sum0 = 0, sum1 = 0, sum2 = 0;
    for (int c = 0; c < columns; ++c) {
      sum0 += a[c] * x[c];
      sum1 += a[columns + c] * x[c];
      sum2 += a[2 * columns + c] * x[c];
    }
    y[0] = sum0;
    y[1] = sum1;
    y[2] = sum2;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    const Real* const row = a + r * columns;
    Real sum = 0;
    for (int c = 0; c < columns; ++c) sum += row[c] * x[c];
    y[r] = sum;
  }
}

/// x . y of long vectors: four sums side by side, each in the order of the index.
[[nodiscard]] inline Real dotLong(const Real* x, const Real* y, int size) {
  Real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int k = 0;
  for (; k + 4 <= size; k += 4) {
    s0 += x[k] * y[k];
    s1 += x[k + 1] * y[k + 1];
    s2 += x[k + 2] * y[k + 2];
    s3 += x[k + 3] * y[k + 3];
  }
  for (; k < size; ++k) s0 += x[k] * y[k];
  return (s0 + s1) + (s2 + s3);
}

/// y += A x.
inline void addMultiplied(const Real* a, int rows, int columns, const Real* x, Real* y) {
  if (rows == 3) {
    Real product[3];
    multiplyDense(a, 3, columns, x, product);
    for (int r = 0; r < 3; ++r) y[r] += product[r];
    return;
  }
  for (int r = 0; r < rows; ++r) {
    const Real* const row = a + r * columns;
    Real sum = 0;
    for (int c = 0; c < columns; ++c) sum += row[c] * x[c];
    y[r] += sum;
  }
}

/// y += A^T x, A rows x columns.
inline void addTransposed(const Real* __restrict__ a, int rows, int columns,
                          const Real* __restrict__ x, Real* __restrict__ y) {
  if (rows == 3) {
    const Real* __restrict__ const a1 = a + columns;
    const Real* __restrict__ const a2 = a1 + columns;
    const Real x0 = x[0], x1 = x[1], x2 = x[2];
    for (int c = 0; c < columns; ++c) y[c] += a[c] * x0 + a1[c] * x1 + a2[c] * x2;
    return;
  }
  for (int c = 0; c < columns; ++c) {
    Real sum = a[c] * x[0];
    for (int r = 1; r < rows; ++r) sum += a[r * columns + c] * x[r];
    y[c] += sum;
  }
}

/// product = G J: G is m x m as SapHessian says, J is m x columns.
inline void multiplyHessian(SapHessian form, const Real* __restrict__ g, int m, int columns,
                            const Real* __restrict__ j, Real* __restrict__ product) {
  if (form == SapHessian::Diagonal) {
    for (int k = 0; k < m; ++k) {
      for (int c = 0; c < columns; ++c) product[k * columns + c] = g[k] * j[k * columns + c];
    }
    return;
  }
  if (m == 3) {
    const Real* const j1 = j + columns;
    const Real* const j2 = j1 + columns;
    for (int c = 0; c < columns; ++c) {
      product[c] = g[0] * j[c] + g[1] * j1[c] + g[3] * j2[c];
      product[columns + c] = g[1] * j[c] + g[2] * j1[c] + g[4] * j2[c];
      product[2 * columns + c] = g[3] * j[c] + g[4] * j1[c] + g[5] * j2[c];
    }
    return;
  }
  const auto entry = [g](int i, int k) {
    return i >= k ? g[i * (i + 1) / 2 + k] : g[k * (k + 1) / 2 + i];
  };
  for (int i = 0; i < m; ++i) {
    for (int c = 0; c < columns; ++c) {
      Real sum = entry(i, 0) * j[c];
      for (int k = 1; k < m; ++k) sum += entry(i, k) * j[k * columns + c];
      product[i * columns + c] = sum;
    }
  }
}

/// target += P^T J, P m x rows, J m x columns.
inline void addProduct(const Real* __restrict__ p, const Real* __restrict__ j, int m, int rows,
                       int columns, std::int64_t stride, Real* __restrict__ target) {
  if (m == 3) {
    const Real* __restrict__ const j1 = j + columns;
    const Real* __restrict__ const j2 = j1 + columns;
    for (int r = 0; r < rows; ++r) {
      Real* __restrict__ const row = target + r * stride;
      const Real p0 = p[r], p1 = p[rows + r], p2 = p[2 * rows + r];
      for (int c = 0; c < columns; ++c) row[c] += p0 * j[c] + p1 * j1[c] + p2 * j2[c];
    }
    return;
  }
  for (int r = 0; r < rows; ++r) {
    Real* __restrict__ const row = target + r * stride;
    for (int c = 0; c < columns; ++c) {
      Real sum = p[r] * j[c];
      for (int k = 1; k < m; ++k) sum += p[k * rows + r] * j[k * columns + c];
      row[c] += sum;
    }
  }
}

/// The same, upper triangle of a square target only.
inline void addProductUpper(const Real* __restrict__ p, const Real* __restrict__ j, int m, int size,
                            std::int64_t stride, Real* __restrict__ target) {
  if (m == 3) {
    const Real* __restrict__ const j1 = j + size;
    const Real* __restrict__ const j2 = j1 + size;
    for (int r = 0; r < size; ++r) {
      Real* __restrict__ const row = target + r * stride;
      const Real p0 = p[r], p1 = p[size + r], p2 = p[2 * size + r];
      for (int c = r; c < size; ++c) row[c] += p0 * j[c] + p1 * j1[c] + p2 * j2[c];
    }
    return;
  }
  for (int r = 0; r < size; ++r) {
    Real* __restrict__ const row = target + r * stride;
    for (int c = r; c < size; ++c) {
      Real sum = p[r] * j[c];
      for (int k = 1; k < m; ++k) sum += p[k * size + r] * j[k * size + c];
      row[c] += sum;
    }
  }
}

/// y = L x, L lower triangular; y is not x.
template <int kSize>
void multiplyLower(const Real* l, int size, const Real* x, Real* y) {
  const int n = kSize > 0 ? kSize : size;
  for (int i = 0; i < n; ++i) {
    Real sum = 0;
    for (int c = 0; c <= i; ++c) sum += l[i * n + c] * x[c];
    y[i] = sum;
  }
}
inline void multiplyLower(const Real* l, int n, const Real* x, Real* y) {
  return n == 6 ? multiplyLower<6>(l, 6, x, y) : multiplyLower<0>(l, n, x, y);
}

/// y = L^T x, L lower triangular; y is not x.
inline void multiplyLowerTransposed(const Real* __restrict__ l, int n, const Real* __restrict__ x,
                                    Real* __restrict__ y) {
  for (int c = 0; c < n; ++c) y[c] = 0;
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c <= i; ++c) y[c] += l[i * n + c] * x[i];
  }
}

/// y = A^-1 x of A = L L^T, given L^-1; scratch for n numbers, not x and not y.
inline void multiplyInverse(const Real* inverse, int n, const Real* x, Real* scratch, Real* y) {
  multiplyLower(inverse, n, x, scratch);
  multiplyLowerTransposed(inverse, n, scratch, y);
}

/// w += Y^T Y, Y = L^-1 J^T; J has `m` rows of n, w is m x m and gets its lower triangle, y is
/// scratch for m n numbers.
inline void addDelassus(const Real* jacobian, int m, int n, const Real* inverse, Real* y, Real* w) {
  for (int a = 0; a < m; ++a) {
    multiplyLower(inverse, n, jacobian + a * n, y + a * n);
    for (int b = 0; b <= a; ++b) {
      Real sum = 0;
      for (int i = 0; i < n; ++i) sum += y[a * n + i] * y[b * n + i];
      w[a * m + b] += sum;
    }
  }
}

/// Completes w, m x m and symmetric, from its lower triangle.
inline void mirrorLower(int m, Real* w) {
  for (int k = 0; k < m; ++k) {
    for (int l = 0; l < k; ++l) w[l * m + k] = w[k * m + l];
  }
}

}  // namespace tangere::solver
