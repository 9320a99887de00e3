// SPDX-License-Identifier: Apache-2.0
//
// Support points of the convex cores: the farthest point along a direction.
//
// The index that comes with a point names the smooth piece of the surface it belongs to: the vertex
// of a polytope, the rim of a cylinder (0 lower, 1 upper), the rim (0) or the apex (1) of a cone.
// Two points of one piece are joined by a smooth arc of support points; a change of piece is a
// kink.
#pragma once

#include "geometry/kernels/convex_view.hpp"

#if defined(__SSE2__) && defined(__GNUC__) && !defined(__CUDACC__)
#define TANGERE_SUPPORT_SSE2 1
#include <immintrin.h>
#endif

namespace tangere::kernel {

#ifdef TANGERE_SUPPORT_SSE2
/// The scalar loop below, four vertices at a time: the same products and sums, the same ties.
inline int supportVertexSse2(const HullView<double>& hull, const Vec3T<double>& direction) {
  const __m128d nx = _mm_set1_pd(direction.x);
  const __m128d ny = _mm_set1_pd(direction.y);
  const __m128d nz = _mm_set1_pd(direction.z);
  const auto dots = [&](int i) {
    return _mm_add_pd(_mm_add_pd(_mm_mul_pd(_mm_loadu_pd(hull.x + i), nx),
                                 _mm_mul_pd(_mm_loadu_pd(hull.y + i), ny)),
                      _mm_mul_pd(_mm_loadu_pd(hull.z + i), nz));
  };
  // Per lane the first of the largest. Indices travel as doubles: they only grow, so the mask and a
  // maximum keep the last one that was larger.
  __m128d best0 = dots(0), best1 = dots(2);
  __m128d index0 = _mm_setzero_pd(), index1 = _mm_setzero_pd(), step = _mm_setzero_pd();
  const __m128d four = _mm_set1_pd(4);
  for (int i = 4; i < hull.numVertices; i += 4) {
    step = _mm_add_pd(step, four);
    const __m128d d0 = dots(i), d1 = dots(i + 2);
    index0 = _mm_max_pd(index0, _mm_and_pd(_mm_cmpgt_pd(d0, best0), step));
    index1 = _mm_max_pd(index1, _mm_and_pd(_mm_cmpgt_pd(d1, best1), step));
    best0 = _mm_max_pd(d0, best0);
    best1 = _mm_max_pd(d1, best1);
  }
  index0 = _mm_add_pd(index0, _mm_set_pd(1, 0));
  index1 = _mm_add_pd(index1, _mm_set_pd(3, 2));
  const auto merge = [](__m128d& d, __m128d& index, __m128d e, __m128d indexE) {
    const __m128d take =
        _mm_or_pd(_mm_cmpgt_pd(e, d), _mm_and_pd(_mm_cmpeq_pd(e, d), _mm_cmplt_pd(indexE, index)));
    d = _mm_max_pd(e, d);
    index = _mm_or_pd(_mm_and_pd(take, indexE), _mm_andnot_pd(take, index));
  };
  merge(best0, index0, best1, index1);
  merge(best0, index0, _mm_unpackhi_pd(best0, best0), _mm_unpackhi_pd(index0, index0));
  const int best = static_cast<int>(_mm_cvtsd_f64(index0));
  return best < hull.numVertices ? best : 0;  // the padding repeats vertex 0
}
/// The same in lanes of four; chosen at run time where the processor has them.
[[gnu::target("avx2")]] inline int supportVertexAvx2(const HullView<double>& hull,
                                                     const Vec3T<double>& direction) {
  const double *x = hull.x, *y = hull.y, *z = hull.z;
  const __m256d nx = _mm256_set1_pd(direction.x);
  const __m256d ny = _mm256_set1_pd(direction.y);
  const __m256d nz = _mm256_set1_pd(direction.z);
  __m256d best = _mm256_add_pd(
      _mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(x), nx), _mm256_mul_pd(_mm256_loadu_pd(y), ny)),
      _mm256_mul_pd(_mm256_loadu_pd(z), nz));
  __m256d index = _mm256_setzero_pd(), step = _mm256_setzero_pd();
  const __m256d four = _mm256_set1_pd(4);
  for (int i = 4; i < hull.numVertices; i += 4) {
    step = _mm256_add_pd(step, four);
    const __m256d d = _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(x + i), nx),
                                                  _mm256_mul_pd(_mm256_loadu_pd(y + i), ny)),
                                    _mm256_mul_pd(_mm256_loadu_pd(z + i), nz));
    index = _mm256_blendv_pd(index, step, _mm256_cmp_pd(d, best, _CMP_GT_OQ));
    best = _mm256_max_pd(d, best);
  }
  index = _mm256_add_pd(index, _mm256_set_pd(3, 2, 1, 0));
  // The largest of all lanes, then the lowest index among those that have it.
  __m256d most = _mm256_max_pd(best, _mm256_permute2f128_pd(best, best, 1));
  most = _mm256_max_pd(most, _mm256_permute_pd(most, 5));
  index = _mm256_blendv_pd(_mm256_set1_pd(1e9), index, _mm256_cmp_pd(best, most, _CMP_EQ_OQ));
  __m128d low = _mm_min_pd(_mm256_castpd256_pd128(index), _mm256_extractf128_pd(index, 1));
  low = _mm_min_sd(low, _mm_unpackhi_pd(low, low));
  const int first = static_cast<int>(_mm_cvtsd_f64(low));
  return first < hull.numVertices ? first : 0;
}
#endif

/// Index of a farthest vertex along `direction`; the lowest index of those that tie.
template <class S>
TANGERE_HD inline int supportVertex(const HullView<S>& hull, const Vec3T<S>& direction) {
  int best = 0;
  S bestDot = hull.x[0] * direction.x + hull.y[0] * direction.y + hull.z[0] * direction.z;
  for (int i = 1; i < hull.numVertices; ++i) {
    const S d = hull.x[i] * direction.x + hull.y[i] * direction.y + hull.z[i] * direction.z;
    if (d > bestDot) {
      bestDot = d;
      best = i;
    }
  }
  return best;
}

#ifdef TANGERE_SUPPORT_SSE2
template <>
inline int supportVertex(const HullView<double>& hull, const Vec3T<double>& direction) {
  return __builtin_cpu_supports("avx2") ? supportVertexAvx2(hull, direction)
                                        : supportVertexSse2(hull, direction);
}
#endif

/// supportCore() for a core known at compile time.
template <CoreType C, class S>
TANGERE_HD inline Vec3T<S> supportOf(const ConvexView<S>& view, const Vec3T<S>& n, int* index) {
  using std::copysign;
  using std::signbit;
  using std::sqrt;
  const Vec3T<S>& s = view.size;
  *index = 0;
  if constexpr (C == CoreType::Point) {
    return {};
  } else if constexpr (C == CoreType::Segment) {
    *index = signbit(n.z) ? 0 : 1;
    return {S(0), S(0), copysign(s.z, n.z)};
  } else if constexpr (C == CoreType::Triangle) {
    const S d0 = dot(view.triangle[0], n), d1 = dot(view.triangle[1], n),
            d2 = dot(view.triangle[2], n);
    *index = d0 >= d1 ? (d0 >= d2 ? 0 : 2) : (d1 >= d2 ? 1 : 2);
    return view.triangle[*index];
  } else if constexpr (C == CoreType::Box) {
    // By the sign bits: a branch per coordinate would be mispredicted every other time.
    *index = (signbit(n.x) ? 0 : 1) | (signbit(n.y) ? 0 : 2) | (signbit(n.z) ? 0 : 4);
    return {copysign(s.x, n.x), copysign(s.y, n.y), copysign(s.z, n.z)};
  } else if constexpr (C == CoreType::Cylinder) {
    const S l2 = n.x * n.x + n.y * n.y;
    *index = signbit(n.z) ? 0 : 1;
    const S z = copysign(s.z, n.z);
    if (!(l2 > S(0))) return {S(0), S(0), z};
    const S k = s.x / sqrt(l2);
    return {n.x * k, n.y * k, z};
  } else if constexpr (C == CoreType::Cone) {
    const S l2 = n.x * n.x + n.y * n.y;
    const S l = sqrt(l2);
    *index = S(2) * s.z * n.z >= s.x * l ? 1 : 0;
    if (*index == 1) return {S(0), S(0), s.z};
    if (!(l2 > S(0))) return {S(0), S(0), -s.z};
    const S k = s.x / l;
    return {n.x * k, n.y * k, -s.z};
  } else if constexpr (C == CoreType::Ellipsoid) {
    const Vec3T<S> m{s.x * n.x, s.y * n.y, s.z * n.z};
    const S l2 = squaredNorm(m);
    if (!(l2 > S(0))) return {s.x, S(0), S(0)};
    const S k = S(1) / sqrt(l2);
    return {s.x * m.x * k, s.y * m.y * k, s.z * m.z * k};
  } else {
    static_assert(C == CoreType::Hull);
    *index = supportVertex(*view.hull, n);
    return view.hull->vertex(*index);
  }
}

/// A farthest point of the core (without the rounding radius). `direction` need not be unit; a zero
/// direction gives some point of the core. `index` names the piece of the surface, see above.
template <class S>
TANGERE_HD inline Vec3T<S> supportCore(const ConvexView<S>& view, const Vec3T<S>& direction,
                                       int* index) {
  switch (view.core) {
    case CoreType::Point:
      return supportOf<CoreType::Point>(view, direction, index);
    case CoreType::Segment:
      return supportOf<CoreType::Segment>(view, direction, index);
    case CoreType::Triangle:
      return supportOf<CoreType::Triangle>(view, direction, index);
    case CoreType::Box:
      return supportOf<CoreType::Box>(view, direction, index);
    case CoreType::Cylinder:
      return supportOf<CoreType::Cylinder>(view, direction, index);
    case CoreType::Cone:
      return supportOf<CoreType::Cone>(view, direction, index);
    case CoreType::Ellipsoid:
      return supportOf<CoreType::Ellipsoid>(view, direction, index);
    case CoreType::Hull:
      return supportOf<CoreType::Hull>(view, direction, index);
  }
  *index = 0;
  return {};
}

/// Whether the core is a polytope: its support points are vertices that `index` names.
TANGERE_HD constexpr bool isPolytope(CoreType core) {
  return core != CoreType::Cylinder && core != CoreType::Cone && core != CoreType::Ellipsoid;
}

/// Vertex `index` of a polytope, as supportCore() numbers them.
template <class S>
TANGERE_HD inline Vec3T<S> coreVertex(const ConvexView<S>& view, int index) {
  const Vec3T<S>& s = view.size;
  switch (view.core) {
    case CoreType::Segment:
      return {S(0), S(0), index != 0 ? s.z : -s.z};
    case CoreType::Triangle:
      return view.triangle[index];
    case CoreType::Box:
      return {(index & 1) != 0 ? s.x : -s.x, (index & 2) != 0 ? s.y : -s.y,
              (index & 4) != 0 ? s.z : -s.z};
    case CoreType::Hull:
      return view.hull->vertex(index);
    default:
      return {};
  }
}

/// Number of vertices of a polytope; 0 for a curved core.
template <class S>
TANGERE_HD inline int coreVertexCount(const ConvexView<S>& view) {
  switch (view.core) {
    case CoreType::Point:
      return 1;
    case CoreType::Segment:
      return 2;
    case CoreType::Triangle:
      return 3;
    case CoreType::Box:
      return 8;
    case CoreType::Hull:
      return view.hull->numVertices;
    default:
      return 0;
  }
}

}  // namespace tangere::kernel
