// SPDX-License-Identifier: Apache-2.0
//
// Inner loops for cliques of up to kMaxFixedSize velocities, small trees: a row is handled as
// fours, a two and a one, all of them known when compiling. Included by six_blocks_body.hpp within
// its namespace. The sums are those of plain loops in the order of the index, so the bits are, too.

/// A row of kSize numbers.
template <int kSize>
struct Row {
  static constexpr int kFours = kSize / 4;
  static constexpr int kTwo = kSize - kSize % 4, kOne = kSize - kSize % 2;  // where they begin
  static constexpr bool hasTwo = kSize % 4 >= 2, hasOne = kSize % 2 == 1;
  Four fours[kFours + 1];  // one more: there are no arrays of none
  Two two;
  double one;
};

template <int kSize>
TANGERE_INLINE Row<kSize> loadRow(const double* p) {
  using R = Row<kSize>;
  R row;
#pragma GCC unroll 4
  for (int i = 0; i < R::kFours; ++i) row.fours[i] = *reinterpret_cast<const Four*>(p + 4 * i);
  if constexpr (R::hasTwo) row.two = *reinterpret_cast<const Two*>(p + R::kTwo);
  if constexpr (R::hasOne) row.one = p[R::kOne];
  return row;
}
template <int kSize>
TANGERE_INLINE void storeRow(const Row<kSize>& row, double* p) {
  using R = Row<kSize>;
#pragma GCC unroll 4
  for (int i = 0; i < R::kFours; ++i) *reinterpret_cast<Four*>(p + 4 * i) = row.fours[i];
  if constexpr (R::hasTwo) *reinterpret_cast<Two*>(p + R::kTwo) = row.two;
  if constexpr (R::hasOne) p[R::kOne] = row.one;
}
/// f p.
template <int kSize>
TANGERE_INLINE Row<kSize> scaledRow(const double* p, double f) {
  using R = Row<kSize>;
  R row = loadRow<kSize>(p);
#pragma GCC unroll 4
  for (int i = 0; i < R::kFours; ++i) row.fours[i] *= Four{f, f, f, f};
  if constexpr (R::hasTwo) row.two *= Two{f, f};
  if constexpr (R::hasOne) row.one *= f;
  return row;
}
template <int kSize>
TANGERE_INLINE void addRowTo(const Row<kSize>& row, Row<kSize>* sum) {
  using R = Row<kSize>;
#pragma GCC unroll 4
  for (int i = 0; i < R::kFours; ++i) sum->fours[i] += row.fours[i];
  if constexpr (R::hasTwo) sum->two += row.two;
  if constexpr (R::hasOne) sum->one += row.one;
}
template <int kSize>
TANGERE_INLINE void subtractRowFrom(const Row<kSize>& row, Row<kSize>* sum) {
  using R = Row<kSize>;
#pragma GCC unroll 4
  for (int i = 0; i < R::kFours; ++i) sum->fours[i] -= row.fours[i];
  if constexpr (R::hasTwo) sum->two -= row.two;
  if constexpr (R::hasOne) sum->one -= row.one;
}
/// p0 j0 + p1 j1 + p2 j2, the j rows of `stride`.
template <int kSize>
TANGERE_INLINE Row<kSize> combinedRows(const double* j, std::int64_t stride, double p0, double p1,
                                       double p2) {
  Row<kSize> sum = scaledRow<kSize>(j, p0);
  addRowTo(scaledRow<kSize>(j + stride, p1), &sum);
  addRowTo(scaledRow<kSize>(j + 2 * stride, p2), &sum);
  return sum;
}

/// Longer rows go the slow way.
constexpr int kMaxFixedSize = kMaxSideSize;

template <int kSize>
struct Size {
  static constexpr int value = kSize;
};

/// function(Size<n>{}) for n in [1, kMaxFixedSize].
template <class Function>
TANGERE_INLINE void withSize(int n, const Function& function) {
  static_assert(kMaxFixedSize == 16);
  switch (n) {
#define TANGERE_CASE(size) \
  case size:               \
    return function(Size<size>{});
    TANGERE_CASE(1)
    TANGERE_CASE(2)
    TANGERE_CASE(3)
    TANGERE_CASE(4)
    TANGERE_CASE(5)
    TANGERE_CASE(6)
    TANGERE_CASE(7)
    TANGERE_CASE(8)
    TANGERE_CASE(9)
    TANGERE_CASE(10)
    TANGERE_CASE(11)
    TANGERE_CASE(12)
    TANGERE_CASE(13)
    TANGERE_CASE(14)
    TANGERE_CASE(15)
    TANGERE_CASE(16)
#undef TANGERE_CASE
    default:
      return;
  }
}

/// Rows [0, numRows) of target += sum over terms of P^T J; P is 3 x `stride` for each term, behind
/// each other; J the first kColumns of rows of `jStride`. Term by term, so that one at a time gives
/// the same.
template <int kColumns, bool kIsOther>
void addProducts(const ContactTerm* terms, int numTerms, const double* p, int stride, int numRows,
                 std::int64_t jStride, int firstColumn, double* target, std::int64_t targetStride) {
  for (int r = 0; r < numRows; ++r) {
    Row<kColumns> sum = loadRow<kColumns>(target + r * targetStride);
    for (int t = 0; t < numTerms; ++t) {
      const double* const j = (kIsOther ? terms[t].other : terms[t].own) + firstColumn;
      const double* const f = p + t * 3 * stride + r;
      addRowTo(combinedRows<kColumns>(j, jStride, f[0], f[stride], f[2 * stride]), &sum);
    }
    storeRow(sum, target + r * targetStride);
  }
}

/// The upper triangle of a square target, four rows at a time: what is left of their diagonal is
/// written where nobody reads.
template <int kSize, int kFirst = 0>
TANGERE_INLINE void addSquares(const ContactTerm* terms, int numTerms, const double* p,
                               double* target, std::int64_t stride) {
  constexpr int kRows = kSize - kFirst < 4 ? kSize - kFirst : 4;
  addProducts<kSize - kFirst, false>(terms, numTerms, p + kFirst, kSize, kRows, kSize, kFirst,
                                     target + kFirst * (stride + 1), stride);
  if constexpr (kFirst + 4 < kSize) {
    addSquares<kSize, kFirst + 4>(terms, numTerms, p, target, stride);
  }
}

template <int kSize>
void multiplyByHessian(const ContactTerm* terms, int numTerms, double* p) {
  for (int t = 0; t < numTerms; ++t, p += 3 * kSize) {
    const double* const g = terms[t].hessian;
    const double* const j = terms[t].own;
    storeRow(combinedRows<kSize>(j, kSize, g[0], g[1], g[3]), p);
    storeRow(combinedRows<kSize>(j, kSize, g[1], g[2], g[4]), p + kSize);
    storeRow(combinedRows<kSize>(j, kSize, g[3], g[4], g[5]), p + 2 * kSize);
  }
}

template <int kSize>
int factorPanelOfWidth(double* panel, int size, double smallest, const double* original,
                       double* inverse) {
  int numRaised = 0;
  for (int k = 0; k < size; ++k) {
    double* const row = panel + k * kSize;
    double pivot = row[k];
    if (!(pivot > smallest * original[k])) {
      pivot = original[k] > 0 ? smallest * original[k] : 1;
      ++numRaised;
    }
    const double diagonal = root(pivot);
    const double scale = 1 / diagonal;
    inverse[k] = scale;
    // Also left of the diagonal, where nobody reads.
    const Row<kSize> own = scaledRow<kSize>(row, scale);
    storeRow(own, row);
    row[k] = diagonal;
    for (int l = k + 1; l < size; ++l) {
      double* const other = panel + l * kSize;
      Row<kSize> rest = loadRow<kSize>(other);
      subtractRowFrom(scaledRow<kSize>(row, row[l]), &rest);
      storeRow(rest, other);
    }
  }
  return numRaised;
}

template <int kColumns>
void subtractProductsOfSize(const double* panel, std::int64_t width, int size, int source,
                            int numRows, int from, double* target, std::int64_t targetWidth) {
  for (int r = 0; r < numRows; ++r) {
    Row<kColumns> sum = loadRow<kColumns>(target + r * targetWidth);
    for (int k = 0; k < size; ++k) {
      const double* const row = panel + k * width;
      subtractRowFrom(scaledRow<kColumns>(row + from, row[source + r]), &sum);
    }
    storeRow(sum, target + r * targetWidth);
  }
}

/// A pivot below this part of its entry of A is rounding.
constexpr double kSmallestOfFactor = 1e-15;

template <int kSize>
bool invertFactorOfSize(const double* a, double* u, double* inverse) {
  for (int r = 0; r < kSize; ++r) {
    storeRow(loadRow<kSize>(a + r * kSize), u + r * kSize);
    for (int c = 0; c < kSize; ++c) inverse[r * kSize + c] = r == c ? 1 : 0;
  }
  for (int k = 0; k < kSize; ++k) {
    double* const row = u + k * kSize;
    if (!(row[k] > kSmallestOfFactor * a[k * kSize + k]) || !(row[k] < 1e300)) return false;
    const double scale = 1 / root(row[k]);
    double* const own = inverse + k * kSize;
    storeRow(scaledRow<kSize>(own, scale), own);
    storeRow(scaledRow<kSize>(row, scale), row);
    for (int l = k + 1; l < kSize; ++l) {
      const double f = row[l];
      Row<kSize> rest = loadRow<kSize>(u + l * kSize);
      subtractRowFrom(scaledRow<kSize>(row, f), &rest);
      storeRow(rest, u + l * kSize);
      Row<kSize> below = loadRow<kSize>(inverse + l * kSize);
      subtractRowFrom(scaledRow<kSize>(own, f), &below);
      storeRow(below, inverse + l * kSize);
    }
  }
  return true;
}

/// A row with its signs dropped, times f >= 0.
template <int kSize>
TANGERE_INLINE void addAbsoluteRow(const double* p, double f, Row<kSize>* sum) {
  using R = Row<kSize>;
#pragma GCC unroll 4
  for (int i = 0; i < R::kFours; ++i) {
    const Four x = *reinterpret_cast<const Four*>(p + 4 * i);
    sum->fours[i] += (x < Four{} ? -x : x) * Four{f, f, f, f};
  }
  if constexpr (R::hasTwo) {
    const Two x = *reinterpret_cast<const Two*>(p + R::kTwo);
    sum->two += (x < Two{} ? -x : x) * Two{f, f};
  }
  if constexpr (R::hasOne) sum->one += __builtin_fabs(p[R::kOne]) * f;
}

template <int kSize>
TANGERE_INLINE Row<kSize> zeroRow() {
  Row<kSize> row;
#pragma GCC unroll 4
  for (int i = 0; i < Row<kSize>::kFours; ++i) row.fours[i] = Four{0, 0, 0, 0};
  row.two = Two{0, 0};
  row.one = 0;
  return row;
}

template <int kSize, bool kAdds>
void multiplyContacts(const ContactSide& side, const double* x, double* y) {
  double own[kSize];
#pragma GCC unroll 16
  for (int c = 0; c < kSize; ++c) own[c] = x[c];
  const double* j = side.jacobian;
  for (int t = 0; t < side.count; ++t, j += side.stride, y += 3) {
    double sum[3] = {j[0] * own[0], j[kSize] * own[0], j[2 * kSize] * own[0]};
#pragma GCC unroll 16
    for (int c = 1; c < kSize; ++c) {
      sum[0] += j[c] * own[c];
      sum[1] += j[kSize + c] * own[c];
      sum[2] += j[2 * kSize + c] * own[c];
    }
    for (int k = 0; k < 3; ++k) y[k] = kAdds ? y[k] + sum[k] : sum[k];
  }
}

template <int kSize>
void addTransposedContacts(const ContactSide& side, const double* x, double* y) {
  Row<kSize> sum = loadRow<kSize>(y);
  const double* j = side.jacobian;
  for (int t = 0; t < side.count; ++t, j += side.stride, x += 3) {
    addRowTo(combinedRows<kSize>(j, kSize, x[0], x[1], x[2]), &sum);
  }
  storeRow(sum, y);
}

template <int kSize>
void addAbsoluteContacts(const ContactSide& side, const double* x, double* y) {
  const double* j = side.jacobian;
  for (int t = 0; t < side.count; ++t, j += side.stride, y += 3) {
    for (int k = 0; k < 3; ++k) {
      double sum = 0;
#pragma GCC unroll 16
      for (int c = 0; c < kSize; ++c) sum += __builtin_fabs(j[k * kSize + c] * x[c]);
      y[k] += sum;
    }
  }
}

template <int kSize>
void addAbsoluteTransposedContacts(const ContactSide& side, const double* x, double* y) {
  Row<kSize> sum = loadRow<kSize>(y);
  const double* j = side.jacobian;
  for (int t = 0; t < side.count; ++t, j += side.stride, x += 3) {
    for (int k = 0; k < 3; ++k) addAbsoluteRow<kSize>(j + k * kSize, x[k], &sum);
  }
  storeRow(sum, y);
}

template <int kSize>
void multiplySymmetricOfSize(const double* a, const double* x, double* y) {
  Row<kSize> sum = scaledRow<kSize>(a, x[0]);
#pragma GCC unroll 16
  for (int c = 1; c < kSize; ++c) addRowTo(scaledRow<kSize>(a + c * kSize, x[c]), &sum);
  storeRow(sum, y);
}

template <int kSize>
void multiplyAbsoluteOfSize(const double* a, const double* x, double* y) {
  Row<kSize> sum = zeroRow<kSize>();
#pragma GCC unroll 16
  for (int c = 0; c < kSize; ++c) addAbsoluteRow<kSize>(a + c * kSize, __builtin_fabs(x[c]), &sum);
  storeRow(sum, y);
}

/// addDelassus() of four contacts, one in each lane.
template <int kSize>
void addDelassusOfFour(const double* j, std::int64_t stride, const double* inverse, double* w,
                       std::int64_t wStride) {
  const double* const j1 = j + stride;
  const double* const j2 = j1 + stride;
  const double* const j3 = j2 + stride;
  Four x[3][kSize];
  for (int c = 0; c < 3 * kSize; ++c) x[c / kSize][c % kSize] = Four{j[c], j1[c], j2[c], j3[c]};
  Four sums[3][3] = {};
  for (int i = 0; i < kSize; ++i) {
    const double* const row = inverse + i * kSize;
    Four y[3] = {};
    for (int c = 0; c <= i; ++c) {
      const Four f = {row[c], row[c], row[c], row[c]};
      y[0] += x[0][c] * f;
      y[1] += x[1][c] * f;
      y[2] += x[2][c] * f;
    }
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
#pragma GCC unroll 3
      for (int l = 0; l <= k; ++l) sums[k][l] += y[l] * y[k];
    }
  }
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
#pragma GCC unroll 3
    for (int l = 0; l <= k; ++l) {
      for (int t = 0; t < 4; ++t) w[t * wStride + 3 * k + l] += sums[k][l][t];
    }
  }
}

// Right of its diagonal L^-1 is zero: whole rows will do.
template <int kSize>
void multiplyInverseOfSize(const double* inverse, const double* x, double* y) {
  Row<kSize> sum = zeroRow<kSize>();
#pragma GCC unroll 16
  for (int i = 0; i < kSize; ++i) {
    const double* const row = inverse + i * kSize;
    double f = row[0] * x[0];
#pragma GCC unroll 16
    for (int c = 1; c <= i; ++c) f += row[c] * x[c];
    addRowTo(scaledRow<kSize>(row, f), &sum);
  }
  storeRow(sum, y);
}

template <int kSize>
void inverseDiagonalOfSize(const double* inverse, double* diagonal) {
  using R = Row<kSize>;
  R sum = zeroRow<kSize>();
  for (int i = 0; i < kSize; ++i) {
    R row = loadRow<kSize>(inverse + i * kSize);
#pragma GCC unroll 4
    for (int k = 0; k < R::kFours; ++k) row.fours[k] *= row.fours[k];
    if constexpr (R::hasTwo) row.two *= row.two;
    if constexpr (R::hasOne) row.one *= row.one;
    addRowTo(row, &sum);
  }
  storeRow(sum, diagonal);
}
