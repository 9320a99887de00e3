// SPDX-License-Identifier: Apache-2.0
//
// The growing polytope of the expanding polytope algorithm: a closed triangulated hull of points of
// the Minkowski difference, with the plane of every face.
#pragma once

#include "collision/kernels/simplex.hpp"

namespace tangere::kernel {

/// Hull of points of D. Plain arrays without initialisers: setting them up would cost more than
/// the query.
template <class S>
struct EpaPolytope {
  static constexpr int kMaxVertices = 256;
  static constexpr int kMaxFaces = 2 * kMaxVertices;
  TANGERE_HD static constexpr S infinite() { return S(1e300); }

  struct Face {
    S normal[3];        ///< unit, outward
    short vertex[3];    ///< counter-clockwise from outside
    short neighbor[3];  ///< across the edge vertex[i] -> vertex[i + 1]
    int mark;           ///< number of the expansion that saw it last
  };

  S w[kMaxVertices][3];
  S a[kMaxVertices][3];
  int piece[kMaxVertices][2];
  Face face[kMaxFaces];
  /// normal . x = offset on face i; infinite for a dead slot, a sliver, or a face that is settled
  S offset[kMaxFaces];
  int numVertices;
  int numFaces;  ///< slots in use, dead ones included
  int freeFace;  ///< a dead slot or -1; the next one is in neighbor[0]
  int numExpansions;

  [[nodiscard]] TANGERE_HD Vec3T<S> point(int i) const { return {w[i][0], w[i][1], w[i][2]}; }
  [[nodiscard]] TANGERE_HD Vec3T<S> normal(int f) const {
    return {face[f].normal[0], face[f].normal[1], face[f].normal[2]};
  }
  [[nodiscard]] TANGERE_HD SimplexVertex<S> vertex(int i) const {
    return {point(i), {a[i][0], a[i][1], a[i][2]}, piece[i][0], piece[i][1]};
  }

  /// Four points in any order.
  TANGERE_FLATTEN TANGERE_HD void start(const SimplexVertex<S>& p0, const SimplexVertex<S>& p1,
                                        const SimplexVertex<S>& p2, const SimplexVertex<S>& p3) {
    const bool swap = dot(cross(p1.w - p0.w, p2.w - p0.w), p3.w - p0.w) > S(0);
    numVertices = 0;
    addVertex(p0);
    addVertex(swap ? p2 : p1);
    addVertex(swap ? p1 : p2);
    addVertex(p3);
    numFaces = 4;
    freeFace = -1;
    numExpansions = 0;
    setFace(0, 0, 1, 2, 1, 3, 2);
    setFace(1, 0, 3, 1, 2, 3, 0);
    setFace(2, 0, 2, 3, 0, 3, 1);
    setFace(3, 1, 3, 2, 1, 2, 0);
  }

  TANGERE_HD int nearestFace() const {
    int best = 0;
    S least = offset[0];
    for (int i = 1; i < numFaces; ++i) {  // no branch to mispredict
      const S d = offset[i];
      best = d < least ? i : best;
      least = d < least ? d : least;
    }
    return best;
  }

  /// Adds p, which is beyond face f. False when there is no room or the surface would tear.
  TANGERE_FLATTEN TANGERE_HD bool expand(int f, const SimplexVertex<S>& p, S tolerance) {
    if (numVertices >= kMaxVertices) return false;
    const int mark = ++numExpansions;
    // Walk along the border of what p sees, depth first, so that its edges come out in order.
    struct Visit {
      short face;
      signed char edge, left;
    };
    Visit stack[kMaxFaces];
    short seen[kMaxFaces], outer[kMaxVertices];
    signed char outerEdge[kMaxVertices];
    int depth = 0, numSeen = 0, numBorder = 0;
    face[f].mark = mark;
    seen[numSeen++] = static_cast<short>(f);
    stack[depth++] = {static_cast<short>(f), 0, 3};
    while (depth > 0) {
      Visit& v = stack[depth - 1];
      if (v.left == 0) {
        --depth;
        continue;
      }
      const int e = v.edge;
      v.edge = static_cast<signed char>(e == 2 ? 0 : e + 1);
      --v.left;
      const int g = face[v.face].neighbor[e];
      Face& h = face[g];
      if (h.mark == mark) continue;
      const int back = (h.neighbor[1] == v.face ? 1 : 0) + (h.neighbor[2] == v.face ? 2 : 0);
      const Vec3T<S> d = p.w - point(h.vertex[0]);
      const S outside = h.normal[0] * d.x + h.normal[1] * d.y + h.normal[2] * d.z;
      if (outside > tolerance) {
        h.mark = mark;
        seen[numSeen++] = static_cast<short>(g);
        stack[depth++] = {static_cast<short>(g), static_cast<signed char>(back == 2 ? 0 : back + 1),
                          2};
      } else {
        if (numBorder >= kMaxVertices) return false;
        outer[numBorder] = static_cast<short>(g);
        outerEdge[numBorder++] = static_cast<signed char>(back);
      }
    }
    if (numBorder < 3) return false;  // p sees everything: rounding
    for (int i = 0; i < numSeen; ++i) {
      offset[seen[i]] = infinite();
      face[seen[i]].neighbor[0] = static_cast<short>(freeFace);
      freeFace = seen[i];
    }
    const int apex = addVertex(p);
    int first = -1, previous = -1;
    for (int i = 0; i < numBorder; ++i) {
      int slot = freeFace;
      if (slot >= 0) {
        freeFace = face[slot].neighbor[0];
      } else {
        if (numFaces >= kMaxFaces) return false;
        slot = numFaces++;
      }
      Face& out = face[outer[i]];
      const int edge = outerEdge[i];
      // The outer face runs this edge edge -> edge + 1; the new one runs it backwards.
      const int u = out.vertex[edge == 2 ? 0 : edge + 1], v = out.vertex[edge];
      setFace(slot, u, v, apex, outer[i], -1, previous);
      out.neighbor[edge] = static_cast<short>(slot);
      if (previous >= 0) {
        if (face[previous].vertex[1] != u) return false;  // not one loop
        face[previous].neighbor[1] = static_cast<short>(slot);
      } else {
        first = slot;
      }
      previous = slot;
    }
    if (face[previous].vertex[1] != face[first].vertex[0]) return false;
    face[previous].neighbor[1] = static_cast<short>(first);
    face[first].neighbor[2] = static_cast<short>(previous);
    return true;
  }

 private:
  TANGERE_HD int addVertex(const SimplexVertex<S>& p) {
    const int i = numVertices++;
    for (int k = 0; k < 3; ++k) {
      w[i][k] = p.w[k];
      a[i][k] = p.a[k];
    }
    piece[i][0] = p.ia;
    piece[i][1] = p.ib;
    return i;
  }

  TANGERE_HD void setFace(int slot, int i, int j, int k, int nij, int njk, int nki) {
    using std::sqrt;
    Face& f = face[slot];
    f.vertex[0] = static_cast<short>(i);
    f.vertex[1] = static_cast<short>(j);
    f.vertex[2] = static_cast<short>(k);
    f.neighbor[0] = static_cast<short>(nij);
    f.neighbor[1] = static_cast<short>(njk);
    f.neighbor[2] = static_cast<short>(nki);
    f.mark = 0;
    const Vec3T<S> pi = point(i), ab = point(j) - pi, ac = point(k) - pi;
    Vec3T<S> n = cross(ab, ac);
    const S nn = squaredNorm(n);
    if (nn > S(1e-28) * squaredNorm(ab) * squaredNorm(ac)) {
      n = n * (S(1) / sqrt(nn));
      offset[slot] = dot(n, pi);
    } else {
      n = {};
      offset[slot] = infinite();
    }
    f.normal[0] = n.x;
    f.normal[1] = n.y;
    f.normal[2] = n.z;
  }
};

}  // namespace tangere::kernel
