// SPDX-License-Identifier: Apache-2.0
//
// The Minkowski difference D = A - B of two convex cores seen through its support points, and the
// point nearest to the origin of a simplex of such points. Everything is in the frame of A.
#pragma once

#include <tangere/types.hpp>

#include "geometry/kernels/support.hpp"

/// Everything called in the body is inlined: the compiler's own budget ends in the middle of these
/// loops, and a call costs as much as the work of the small functions.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TANGERE_FLATTEN [[gnu::flatten]]
#else
#define TANGERE_FLATTEN
#endif

namespace tangere::kernel {

/// A point w = a - b of D with the point of A it comes from; ia and ib name the pieces of A and B.
template <class S>
struct SimplexVertex {
  Vec3T<S> w{};
  Vec3T<S> a{};
  int ia = 0;
  int ib = 0;
};

/// Room for N values that are written before they are read: the vector types clear themselves,
/// which would cost more than some of the queries that use a part of the room.
template <class T, int N>
class Unset {
 public:
  // An aggregate with a trivial destructor: its lifetime begins with that of the bytes.
  static_assert(__is_aggregate(T) && __has_trivial_destructor(T));
  TANGERE_HD Unset() {}  // NOLINT: = default would let {} clear the bytes

  [[nodiscard]] TANGERE_HD T& operator[](int i) { return data()[i]; }
  [[nodiscard]] TANGERE_HD const T& operator[](int i) const { return data()[i]; }
  [[nodiscard]] TANGERE_HD T* data() { return reinterpret_cast<T*>(bytes_); }
  [[nodiscard]] TANGERE_HD const T* data() const { return reinterpret_cast<const T*>(bytes_); }

 private:
  alignas(T) unsigned char bytes_[N * sizeof(T)];
};

inline constexpr int kAnyCore = -1;  ///< the core is known at run time only

/// D of two views at the relative pose X_AB. CA and CB: cores fixed at compile time, so that the
/// support functions are inlined, or kAnyCore.
template <class S, int CA = kAnyCore, int CB = kAnyCore>
struct MinkowskiPair {
  using Scalar = S;
  const ConvexView<S>& a;
  const ConvexView<S>& b;
  const TransformT<S>& X_AB;

  [[nodiscard]] TANGERE_HD Vec3T<S> supportA(const Vec3T<S>& m, int* index) const {
    if constexpr (CA == kAnyCore)
      return supportCore(a, m, index);
    else
      return supportOf<static_cast<CoreType>(CA)>(a, m, index);
  }
  /// In the frame of B.
  [[nodiscard]] TANGERE_HD Vec3T<S> supportB(const Vec3T<S>& m, int* index) const {
    if constexpr (CB == kAnyCore)
      return supportCore(b, m, index);
    else
      return supportOf<static_cast<CoreType>(CB)>(b, m, index);
  }
  /// The farthest point of D along m (any length but zero).
  TANGERE_FLATTEN [[nodiscard]] TANGERE_HD SimplexVertex<S> support(const Vec3T<S>& m) const {
    SimplexVertex<S> p;
    p.a = supportA(m, &p.ia);
    p.w = p.a - X_AB * supportB(-transposeTimes(X_AB.rotation, m), &p.ib);
    return p;
  }
  /// The point of D made by vertex ia of A and ib of B: as support() gives it, bit for bit. For a
  /// curved core the point is left at its center.
  [[nodiscard]] TANGERE_HD SimplexVertex<S> vertex(int ia, int ib) const {
    SimplexVertex<S> p;
    p.a = coreVertex(a, ia);
    p.w = p.a - X_AB * coreVertex(b, ib);
    p.ia = ia;
    p.ib = ib;
    return p;
  }
  [[nodiscard]] TANGERE_HD CoreType coreA() const {
    if constexpr (CA == kAnyCore)
      return a.core;
    else
      return static_cast<CoreType>(CA);
  }
  [[nodiscard]] TANGERE_HD CoreType coreB() const {
    if constexpr (CB == kAnyCore)
      return b.core;
    else
      return static_cast<CoreType>(CB);
  }
  [[nodiscard]] TANGERE_HD bool isPolytopePair() const {
    return isPolytope(coreA()) && isPolytope(coreB());
  }
  /// A point well inside D (inside the cores; a point or a segment has none of its own).
  [[nodiscard]] TANGERE_HD Vec3T<S> center() const { return a.center - X_AB * b.center; }
};

namespace detail {

/// Perpendicular to u, of about its length.
template <class S>
TANGERE_HD inline Vec3T<S> anyPerpendicular(const Vec3T<S>& u) {
  using std::fabs;
  const S x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
  if (x <= y && x <= z) return cross(u, Vec3T<S>{S(1), S(0), S(0)});
  if (y <= z) return cross(u, Vec3T<S>{S(0), S(1), S(0)});
  return cross(u, Vec3T<S>{S(0), S(0), S(1)});
}

/// D's size: what lengths are compared to.
template <class Pair>
TANGERE_HD inline typename Pair::Scalar minkowskiSize(const Pair& pair) {
  return pair.a.boundingRadius + pair.b.boundingRadius;
}

/// A point inside D that is not the origin.
template <class Pair, class S>
TANGERE_HD inline Vec3T<S> insidePoint(const Pair& pair, S size) {
  const Vec3T<S> c = pair.center();
  const S least = S(1e-8) * size;
  if (squaredNorm(c) > least * least) return c;
  // Coincident centers: D reaches much farther than this in every direction.
  return {least, S(0.5) * least, S(0.25) * least};
}

}  // namespace detail

/// Up to four points of D and the point v of their hull that is nearest to the origin:
/// v = sum lambda_i w_i over the active slots. The newest point is the last of `active`.
template <class S>
struct Simplex {
  Unset<SimplexVertex<S>, 4> slot;
  int active[4] = {0, 1, 2, 3};  ///< a permutation; the first `count` slots are in use
  S lambda[4] = {};
  int count = 0;
  Vec3T<S> v{};
  /// The origin is inside the tetrahedron: v is zero and lambda are its coordinates.
  bool enclosesOrigin = false;

  [[nodiscard]] TANGERE_HD const SimplexVertex<S>& vertex(int i) const { return slot[active[i]]; }
  TANGERE_HD void add(const SimplexVertex<S>& p) { slot[active[count++]] = p; }
  [[nodiscard]] TANGERE_HD Vec3T<S> pointA() const {
    Vec3T<S> a{};
    for (int i = 0; i < count; ++i) a += vertex(i).a * lambda[i];
    return a;
  }
};

namespace detail {

/// Nearest point of a segment or triangle: its coordinates, and the slots that carry it.
template <class S>
struct Nearest {
  Vec3T<S> v{};
  S vv{};
  S lambda[3] = {};
  int slot[3] = {};
  int count = 0;
};

template <class S>
TANGERE_HD inline void nearestOnSegment(const SimplexVertex<S>* p, int i, int j, Nearest<S>& r) {
  const Vec3T<S>& a = p[i].w;
  const Vec3T<S> ab = p[j].w - a;
  const S t = -dot(a, ab), l2 = squaredNorm(ab);
  r.lambda[0] = S(1);
  if (t > S(0) && t < l2) {
    const S x = t / l2;
    r.v = a + ab * x;
    r.lambda[0] = S(1) - x;
    r.lambda[1] = x;
    r.slot[0] = i;
    r.slot[1] = j;
    r.count = 2;
  } else {
    r.slot[0] = t > S(0) ? j : i;
    r.v = p[r.slot[0]].w;
    r.count = 1;
  }
  r.vv = squaredNorm(r.v);
}

/// Replaces `best` where the segment is nearer.
template <class S>
TANGERE_HD inline void considerSegment(const SimplexVertex<S>* p, int i, int j, Nearest<S>& best) {
  if (best.count == 0) {
    nearestOnSegment(p, i, j, best);
    return;
  }
  Nearest<S> r;
  nearestOnSegment(p, i, j, r);
  if (r.vv < best.vv) best = r;
}

/// n = (p_j - p_i) x (p_k - p_i).
template <class S>
TANGERE_HD inline void nearestOnTriangle(const SimplexVertex<S>* p, int i, int j, int k,
                                         const Vec3T<S>& n, Nearest<S>& r) {
  const Vec3T<S>& a = p[i].w;
  const Vec3T<S> ab = p[j].w - a, ac = p[k].w - a;
  const S nn = squaredNorm(n);
  // Areas of the triangles that the origin's projection makes with the edges, times |n|.
  const S lc = dot(cross(ab, n), a);
  const S lb = dot(cross(n, ac), a);
  const S la = nn - lb - lc;
  // A sliver has no usable plane: its edges carry the answer.
  const bool flat = !(nn > S(1e-28) * squaredNorm(ab) * squaredNorm(ac));
  if (la > S(0) && lb > S(0) && lc > S(0) && !flat) {
    const S scale = S(1) / nn;
    r.v = n * (dot(a, n) * scale);
    r.vv = squaredNorm(r.v);
    r.lambda[0] = la * scale;
    r.lambda[1] = lb * scale;
    r.lambda[2] = lc * scale;
    r.slot[0] = i;
    r.slot[1] = j;
    r.slot[2] = k;
    r.count = 3;
    return;
  }
  // The nearest point lies on an edge that has the origin on its outer side.
  r.count = 0;
  if (flat || !(lc > S(0))) considerSegment(p, i, j, r);
  if (flat || !(lb > S(0))) considerSegment(p, i, k, r);
  if (flat || !(la > S(0))) considerSegment(p, j, k, r);
}

template <class S>
TANGERE_HD inline void setNearest(Simplex<S>& s, const Nearest<S>& r) {
  int rest = 0;
  for (int i = 0; i < r.count; ++i) rest |= 1 << r.slot[i];
  int last = 3;
  for (int slot = 3; slot >= 0; --slot)
    if ((rest >> slot & 1) == 0) s.active[last--] = slot;
  for (int i = 0; i < r.count; ++i) {
    s.active[i] = r.slot[i];
    s.lambda[i] = r.lambda[i];
  }
  s.count = r.count;
  s.v = r.v;
}

}  // namespace detail

/// Reduces the simplex to the face that holds its point nearest to the origin, and sets v and
/// lambda. Flat simplices fall back to their edges and triangles.
template <class S>
TANGERE_FLATTEN TANGERE_HD inline void reduceSimplex(Simplex<S>& s) {
  using std::fabs;
  s.enclosesOrigin = false;
  if (s.count == 1) {
    s.lambda[0] = S(1);
    s.v = s.vertex(0).w;
    return;
  }
  detail::Nearest<S> best;
  if (s.count == 2) {
    detail::nearestOnSegment(s.slot.data(), s.active[1], s.active[0], best);
    detail::setNearest(s, best);
    return;
  }
  if (s.count == 3) {
    const int i = s.active[2], j = s.active[0], k = s.active[1];
    const Vec3T<S> n = cross(s.slot[j].w - s.slot[i].w, s.slot[k].w - s.slot[i].w);
    detail::nearestOnTriangle(s.slot.data(), i, j, k, n, best);
    detail::setNearest(s, best);
    return;
  }
  // Volumes of the four tetrahedra that the origin makes with the faces.
  const int ia = s.active[3], ib = s.active[0], ic = s.active[1], id = s.active[2];
  const Vec3T<S>& a = s.slot[ia].w;
  const Vec3T<S> ab = s.slot[ib].w - a, ac = s.slot[ic].w - a, ad = s.slot[id].w - a;
  const Vec3T<S> nd = cross(ab, ac), nb = cross(ac, ad), nc = cross(ad, ab);
  const S volume = dot(nd, ad);
  const S sign = volume >= S(0) ? S(-1) : S(1);
  const S ld = dot(nd, a) * sign, lb = dot(nb, a) * sign, lc = dot(nc, a) * sign;
  const S la = fabs(volume) - ld - lb - lc;
  // Relative to the box of the edges: below this the sign of the volume is rounding.
  const bool flat = !(volume * volume > S(1e-26) * squaredNorm(nd) * squaredNorm(ad));
  if (!flat && la > S(0) && lb > S(0) && lc > S(0) && ld > S(0)) {
    const S scale = S(1) / fabs(volume);
    s.lambda[0] = lb * scale;
    s.lambda[1] = lc * scale;
    s.lambda[2] = ld * scale;
    s.lambda[3] = la * scale;
    s.v = {};
    s.enclosesOrigin = true;
    return;
  }
  best.count = 0;
  const auto consider = [&](int i, int j, int k, const Vec3T<S>& n) {
    if (best.count == 0) {
      detail::nearestOnTriangle(s.slot.data(), i, j, k, n, best);
      return;
    }
    detail::Nearest<S> r;
    detail::nearestOnTriangle(s.slot.data(), i, j, k, n, r);
    if (r.vv < best.vv) best = r;
  };
  if (flat || !(ld > S(0))) consider(ia, ib, ic, nd);
  if (flat || !(lb > S(0))) consider(ia, ic, id, nb);
  if (flat || !(lc > S(0))) consider(ia, id, ib, nc);
  if (flat || !(la > S(0))) consider(ib, ic, id, cross(ac - ab, ad - ab));
  detail::setNearest(s, best);
}

}  // namespace tangere::kernel
