// SPDX-License-Identifier: Apache-2.0
//
// Which vertices of a hull are at or below a plane.
#pragma once

#include "geometry/kernels/support.hpp"

#include <cstdint>

namespace tangere::kernel {

/// Hulls of up to this many vertices keep the list of those below the plane on the stack.
inline constexpr int kMaxStoredVertices = 128;

#ifdef TANGERE_SUPPORT_SSE2
/// Appends the bits that are set to the list, counting from `first`. Returns its new length.
inline int listBits(std::uint64_t bits, int first, int* below, int count) {
  for (; bits != 0; bits &= bits - 1) below[count++] = first + __builtin_ctzll(bits);
  return count;
}

/// The lowest `count` bits: what is beyond belongs to the padding.
inline std::uint64_t lowBits(int count) {
  return ~std::uint64_t{0} >> (count < 64 ? 64 - count : 0);
}

/// The scalar loop below, two vertices at a time: the same products and sums.
inline int verticesBelowSse2(const HullView<double>& hull, const Vec3T<double>& m, double bound,
                             double* heights, int* below) {
  const __m128d mx = _mm_set1_pd(m.x), my = _mm_set1_pd(m.y), mz = _mm_set1_pd(m.z);
  const __m128d most = _mm_set1_pd(bound);
  int count = 0;
  for (int first = 0; first < hull.numVertices; first += 64) {
    const int size = hull.numVertices - first < 64 ? hull.numVertices - first : 64;
    const double *x = hull.x + first, *y = hull.y + first, *z = hull.z + first;
    std::uint64_t bits = 0;
    for (int i = 0; i < size; i += 2) {
      const __m128d h = _mm_add_pd(
          _mm_add_pd(_mm_mul_pd(_mm_loadu_pd(x + i), mx), _mm_mul_pd(_mm_loadu_pd(y + i), my)),
          _mm_mul_pd(_mm_loadu_pd(z + i), mz));
      _mm_storeu_pd(heights + first + i, h);
      bits |= static_cast<std::uint64_t>(_mm_movemask_pd(_mm_cmple_pd(h, most))) << i;
    }
    count = listBits(bits & lowBits(size), first, below, count);
  }
  return count;
}

/// The same in lanes of four; chosen at run time where the processor has them.
[[gnu::target("avx2")]] inline int verticesBelowAvx2(const HullView<double>& hull,
                                                     const Vec3T<double>& m, double bound,
                                                     double* heights, int* below) {
  const __m256d mx = _mm256_set1_pd(m.x), my = _mm256_set1_pd(m.y), mz = _mm256_set1_pd(m.z);
  const __m256d most = _mm256_set1_pd(bound);
  const int numVertices = hull.numVertices;
  int count = 0;
  for (int first = 0; first < numVertices; first += 64) {
    const int size = numVertices - first < 64 ? numVertices - first : 64;
    const double *x = hull.x + first, *y = hull.y + first, *z = hull.z + first;
    std::uint64_t bits = 0;
    for (int i = 0; i < size; i += 4) {
      const __m256d h = _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(x + i), mx),
                                                    _mm256_mul_pd(_mm256_loadu_pd(y + i), my)),
                                      _mm256_mul_pd(_mm256_loadu_pd(z + i), mz));
      _mm256_storeu_pd(heights + first + i, h);
      const int mask = _mm256_movemask_pd(_mm256_cmp_pd(h, most, _CMP_LE_OQ));
      bits |= static_cast<std::uint64_t>(mask) << i;
    }
    count = listBits(bits & lowBits(size), first, below, count);
  }
  return count;
}
#endif

/// The height of every vertex along `m` and the list of those at or below `bound`, in order; room
/// for kMaxStoredVertices in both. Returns how many are below.
template <class S>
TANGERE_HD inline int verticesBelow(const HullView<S>& hull, const Vec3T<S>& m, S bound, S* heights,
                                    int* below) {
  int count = 0;
  for (int i = 0; i < hull.numVertices; ++i) {
    heights[i] = hull.x[i] * m.x + hull.y[i] * m.y + hull.z[i] * m.z;
    below[count] = i;  // counts only if `count` moves past it
    count += heights[i] <= bound ? 1 : 0;
  }
  return count;
}

#ifdef TANGERE_SUPPORT_SSE2
template <>
inline int verticesBelow(const HullView<double>& hull, const Vec3T<double>& m, double bound,
                         double* heights, int* below) {
  return __builtin_cpu_supports("avx2") ? verticesBelowAvx2(hull, m, bound, heights, below)
                                        : verticesBelowSse2(hull, m, bound, heights, below);
}
#endif

}  // namespace tangere::kernel
