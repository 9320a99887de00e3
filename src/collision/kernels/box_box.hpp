// SPDX-License-Identifier: Apache-2.0
//
// Two boxes by separating axes: overlap, the smallest translation that separates them, and the
// contact manifold. Everything is computed in the frame of one of the boxes, so two boxes near each
// other and far from the world's origin keep all their digits.
#pragma once

#include <tangere/contact.hpp>

#include "collision/kernels/convex_manifold.hpp"

namespace tangere::kernel {

/// Box B seen from box A: rotation and offset, and what all fifteen axes share.
template <class S>
struct BoxPair {
  Vec3T<S> a, b;  ///< half extents
  S r[3][3];      ///< r[i][j] = axis i of A . axis j of B
  S absR[3][3];
  S t[3];   ///< centre of B in A's frame
  S tB[3];  ///< the same along the axes of B
  S touch;  ///< gaps below this are rounding [m]
};

/// The axis of least overlap. Faces of A: 0..2, faces of B: 3..5, edge i of A with edge j of B:
/// 6 + 3 i + j.
template <class S>
struct BoxAxis {
  int index = -1;
  S overlap{};
};

/// Rounding of one operation.
template <class S>
inline constexpr S kUnitRoundoff = sizeof(S) == sizeof(float) ? S(6e-8) : S(1.1e-16);

/// A face axis wins over an edge axis that is shorter by less than this share of the smaller box:
/// which axis a resting box uses must not hang on rounding. It is also all that the reported depth
/// can exceed the true one.
template <class S>
inline constexpr S kFaceBias = S(1e-10);

template <class S>
TANGERE_HD inline S smaller(S x, S y) {
  return x < y ? x : y;
}

/// Boxes closer than their bounding balls.
template <class S>
TANGERE_HD inline bool boundingBallsOverlap(const ConvexView<S>& a, const TransformT<S>& X_WA,
                                            const ConvexView<S>& b, const TransformT<S>& X_WB) {
  const S reach = a.boundingRadius + b.boundingRadius;
  return squaredNorm(X_WB.translation - X_WA.translation) <= reach * reach * (S(1) + S(1e-12));
}

template <class S>
TANGERE_HD inline void makeBoxPair(const ConvexView<S>& a, const TransformT<S>& X_WA,
                                   const ConvexView<S>& b, const TransformT<S>& X_WB,
                                   BoxPair<S>* pair) {
  using std::fabs;
  pair->a = a.size;
  pair->b = b.size;
  const Vec3T<S> offset = X_WB.translation - X_WA.translation;
  for (int i = 0; i < 3; ++i) {
    pair->t[i] = dot(X_WA.rotation.col[i], offset);
    for (int j = 0; j < 3; ++j) {
      pair->r[i][j] = dot(X_WA.rotation.col[i], X_WB.rotation.col[j]);
      pair->absR[i][j] = fabs(pair->r[i][j]);
    }
  }
  for (int j = 0; j < 3; ++j) pair->tB[j] = dot(X_WB.rotation.col[j], offset);
  pair->touch =
      S(16) * kUnitRoundoff<S> * (a.size.x + a.size.y + a.size.z + b.size.x + b.size.y + b.size.z);
}

/// Overlap along the face normals of A and of B; a negative entry proves the boxes apart.
template <class S>
TANGERE_HD inline S overlapOnFaceOfA(const BoxPair<S>& p, int i) {
  using std::fabs;
  return p.a[i] + (p.b.x * p.absR[i][0] + p.b.y * p.absR[i][1] + p.b.z * p.absR[i][2]) -
         fabs(p.t[i]);
}
template <class S>
TANGERE_HD inline S overlapOnFaceOfB(const BoxPair<S>& p, int j) {
  using std::fabs;
  return p.b[j] + (p.a.x * p.absR[0][j] + p.a.y * p.absR[1][j] + p.a.z * p.absR[2][j]) -
         fabs(p.tB[j]);
}

/// Overlap along (edge i of A) x (edge j of B), times the length of that product, whose square is
/// `length2`.
template <class S>
TANGERE_HD inline S overlapOnEdges(const BoxPair<S>& p, int i, int j, S* length2) {
  using std::fabs;
  const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
  const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
  *length2 = p.r[i1][j] * p.r[i1][j] + p.r[i2][j] * p.r[i2][j];
  return (p.a[i1] * p.absR[i2][j] + p.a[i2] * p.absR[i1][j]) +
         (p.b[j1] * p.absR[i][j2] + p.b[j2] * p.absR[i][j1]) -
         fabs(p.t[i2] * p.r[i1][j] - p.t[i1] * p.r[i2][j]);
}

/// Squared sine of the angle between two edges below which their product is evaluated with care.
template <class S>
inline constexpr S kNearlyParallel = S(1e-8);
template <class S>
inline constexpr S kParallel = S(1e-28);

/// Overlap along a unit axis in A's frame, from the projections themselves: exact for any axis. The
/// short form above loses digits as two edges become parallel, since it divides by their sine.
template <class S>
TANGERE_HD inline S overlapOnAxis(const BoxPair<S>& p, const Vec3T<S>& axis) {
  using std::fabs;
  S sum = p.a.x * fabs(axis.x) + p.a.y * fabs(axis.y) + p.a.z * fabs(axis.z);
  for (int j = 0; j < 3; ++j)
    sum += p.b[j] * fabs(axis.x * p.r[0][j] + axis.y * p.r[1][j] + axis.z * p.r[2][j]);
  return sum - fabs(axis.x * p.t[0] + axis.y * p.t[1] + axis.z * p.t[2]);
}

/// (edge i of A) x (edge j of B) in A's frame, not normalised.
template <class S>
TANGERE_HD inline Vec3T<S> edgeAxis(const BoxPair<S>& p, int i, int j) {
  if (i == 0) return {S(0), -p.r[2][j], p.r[1][j]};
  if (i == 1) return {p.r[2][j], S(0), -p.r[0][j]};
  return {-p.r[1][j], p.r[0][j], S(0)};
}

template <class S>
TANGERE_HD inline S overlapOnNearlyParallelEdges(const BoxPair<S>& p, int i, int j, S length2) {
  using std::sqrt;
  return overlapOnAxis(p, edgeAxis(p, i, j) * (S(1) / sqrt(length2)));
}

/// Grows with x, also below zero.
template <class S>
TANGERE_HD inline S signedSquare(S x) {
  return x < S(0) ? -x * x : x * x;
}

/// Overlaps along the nine edge axes. `square` is the true overlap squared with its sign, huge
/// where there is no axis.
template <class S>
struct BoxEdgeOverlaps {
  S overlap[9], length2[9], square[9];
  S leastOverlap, leastSquare;
};

/// Where edges are nearly parallel, puts the careful value; takes parallel ones out.
template <class S>
TANGERE_HD inline void mendNearlyParallelEdges(const BoxPair<S>& p, BoxEdgeOverlaps<S>* e) {
  const S huge = S(1e30);
  e->leastOverlap = e->leastSquare = huge;
  for (int k = 0; k < 9; ++k) {
    if (!(e->length2[k] > kNearlyParallel<S>)) {
      const bool parallel = !(e->length2[k] > kParallel<S>);
      e->overlap[k] =
          parallel ? huge : overlapOnNearlyParallelEdges(p, k / 3, k % 3, e->length2[k]);
      e->square[k] = parallel ? huge : signedSquare(e->overlap[k]);
    }
    e->leastOverlap = smaller(e->leastOverlap, e->overlap[k]);
    e->leastSquare = smaller(e->leastSquare, e->square[k]);
  }
}

/// Whether the boxes overlap or touch.
template <class S>
TANGERE_HD inline bool boxesOverlap(const BoxPair<S>& p) {
  for (int i = 0; i < 3; ++i)
    if (overlapOnFaceOfA(p, i) < -p.touch) return false;
  for (int j = 0; j < 3; ++j)
    if (overlapOnFaceOfB(p, j) < -p.touch) return false;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      S length2;
      const S overlap = overlapOnEdges(p, i, j, &length2);
      if (length2 > kNearlyParallel<S>) {
        if (overlap < -p.touch) return false;
      } else if (length2 > kParallel<S>) {
        if (overlapOnNearlyParallelEdges(p, i, j, length2) < -p.touch) return false;
      }
    }
  }
  return true;
}

/// The axis along which the boxes overlap least; false when one proves them apart. Then `best` is
/// that one, or, with kBestGap, the axis of the largest gap. Random poses make every comparison of
/// this search a coin toss, so it selects instead of branching.
template <bool kBestGap = false, class S>
TANGERE_HD inline bool findBoxAxis(const BoxPair<S>& p, BoxAxis<S>* best) {
  using std::sqrt;
  S face[6];
  for (int i = 0; i < 3; ++i) face[i] = overlapOnFaceOfA(p, i);
  S least = smaller(smaller(face[0], face[1]), face[2]);
  if (!kBestGap && least < -p.touch) {
    best->index = face[0] <= least ? 0 : face[1] <= least ? 1 : 2;
    return false;
  }
  for (int j = 0; j < 3; ++j) face[3 + j] = overlapOnFaceOfB(p, j);
  least = smaller(least, smaller(smaller(face[3], face[4]), face[5]));
  if (!kBestGap && least < -p.touch) {
    best->index = face[3] <= least ? 3 : face[4] <= least ? 4 : 5;
    return false;
  }

  const S sizeA = p.a.x + p.a.y + p.a.z, sizeB = p.b.x + p.b.y + p.b.z;
  const S bias = kFaceBias<S> * smaller(sizeA, sizeB);
  int index = 5;
  for (int k = 4; k >= 0; --k) index = face[k] <= least + bias ? k : index;
  least = face[index];

  // Squared overlaps: an edge axis then needs a root only if it wins.
  BoxEdgeOverlaps<S> e;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      e.overlap[3 * i + j] = overlapOnEdges(p, i, j, &e.length2[3 * i + j]);
  for (int k = 0; k < 9; ++k)
    e.square[k] =
        (kBestGap ? signedSquare(e.overlap[k]) : e.overlap[k] * e.overlap[k]) / e.length2[k];
  e.leastOverlap = e.overlap[0];
  e.leastSquare = e.square[0];
  S leastLength2 = e.length2[0];
  for (int k = 1; k < 9; ++k) {
    e.leastOverlap = smaller(e.leastOverlap, e.overlap[k]);
    e.leastSquare = smaller(e.leastSquare, e.square[k]);
    leastLength2 = smaller(leastLength2, e.length2[k]);
  }
  if (!(leastLength2 > kNearlyParallel<S>)) mendNearlyParallelEdges(p, &e);
  const bool apart = least < -p.touch || e.leastOverlap < -p.touch;
  if (apart && !kBestGap) {
    int edge = 8;
    for (int k = 7; k >= 0; --k) edge = e.overlap[k] <= e.leastOverlap ? k : edge;
    best->index = 6 + edge;
    return false;
  }
  const S limit = least - bias;
  if ((apart || limit > S(0)) && e.leastSquare < signedSquare(limit)) {
    int edge = 8;
    for (int k = 7; k >= 0; --k) edge = e.square[k] <= e.leastSquare ? k : edge;
    index = 6 + edge;
    least = e.leastSquare < S(0) ? -sqrt(-e.leastSquare) : sqrt(e.leastSquare);
  }
  best->index = index;
  best->overlap = apart || least > S(0) ? least : S(0);
  return !apart;
}

/// Two edges that cross, along an edge axis. Coordinates are along the axes (i, i1, i2) of A, with
/// i that of its edge: seen so, all nine pairs of edges are the same case.
template <class S>
struct BoxEdgeContact {
  int i, i1, i2;
  S n1, n2;      ///< normal from B to A; it has no part along i
  S m1, m2;      ///< the same along the two axes of B across its edge
  S at, a1, a2;  ///< the point on A
  std::int32_t featureA, featureB;
};

template <class S>
TANGERE_HD inline BoxEdgeContact<S> edgeEdgeContact(const BoxPair<S>& p, const BoxAxis<S>& axis) {
  using std::copysign;
  using std::sqrt;
  const int i = (axis.index - 6) / 3, j = (axis.index - 6) % 3;
  const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
  const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
  const S r0 = p.r[i][j], r1 = p.r[i1][j], r2 = p.r[i2][j];
  const S q1 = p.r[i][j1], q2 = p.r[i][j2];
  // (edge i of A) x (edge j of B) = (0, -r2, r1), and (q2, -q1) along the other axes of B.
  const S inverse2 = S(1) / (r1 * r1 + r2 * r2);
  const S toward = r1 * p.t[i2] - r2 * p.t[i1];
  const S scale = copysign(sqrt(inverse2), -toward);
  BoxEdgeContact<S> e;
  e.i = i;
  e.i1 = i1;
  e.i2 = i2;
  e.n1 = -r2 * scale;
  e.n2 = r1 * scale;
  e.m1 = q2 * scale;
  e.m2 = -q1 * scale;
  // The edge of A farthest against the normal, the edge of B farthest along it.
  e.a1 = copysign(p.a[i1], -e.n1);
  e.a2 = copysign(p.a[i2], -e.n2);
  const S b1 = copysign(p.b[j1], e.m1), b2 = copysign(p.b[j2], e.m2);
  const S alongA = p.t[i] + (q1 * b1 + q2 * b2);
  const S alongB = p.tB[j] - (r1 * e.a1 + r2 * e.a2);
  const S at = (alongA - r0 * alongB) * inverse2;
  // Rounding alone could put it beyond the ends, on edges that are nearly parallel.
  const S half = p.a[i];
  e.at = at > half ? half : at < -half ? -half : at;
  const int vertexA = (e.n1 < S(0) ? 1 << i1 : 0) | (e.n2 < S(0) ? 1 << i2 : 0);
  const int vertexB = (e.m1 > S(0) ? 1 << j1 : 0) | (e.m2 > S(0) ? 1 << j2 : 0);
  e.featureA = edgeFeature(vertexA, vertexA | (1 << i));
  e.featureB = edgeFeature(vertexB, vertexB | (1 << j));
  return e;
}

/// The pair seen from the box whose face is the reference: u, v across the face, w out of it.
template <class S>
struct BoxFaceFrame {
  bool refIsA;
  int axis, axisU, axisV;              ///< of the reference box
  int incident, incident1, incident2;  ///< axes of the incident box: of its face, and across it
  bool positive, incidentPositive;     ///< which of the two faces on that axis
  S side;                              ///< +1 or -1, as `positive`
  S half, halfU, halfV;                ///< half extents of the reference box along w, u, v
  // Of the incident face in (u, v, height over the reference face): its middle, and from there to
  // the middles of its edges on the positive side of its two axes.
  S centerU, centerV, centerW;
  S firstU, firstV, firstW;
  S secondU, secondV, secondW;

  TANGERE_HD int face() const { return boxFace(axis, positive); }
  TANGERE_HD int incidentFace() const { return boxFace(incident, incidentPositive); }
};

/// Which box carries the reference face, and which face: the box whose axis it is, or, where the
/// other box has a face parallel to it, the one that firstIsReference() names.
template <class S>
TANGERE_HD inline void chooseReferenceFace(const BoxPair<S>& p, int index, BoxFaceFrame<S>* f) {
  bool ofA = index < 3;
  int axis = ofA ? index : index - 3;
  const S* row = ofA ? &p.absR[axis][0] : &p.absR[0][axis];
  const int step = ofA ? 1 : 3;
  const S w0 = row[0], w1 = row[step], w2 = row[2 * step];
  int other = w1 > w0 ? 1 : 0;
  other = w2 > (w1 > w0 ? w1 : w0) ? 2 : other;
  const S x = row[step * (other == 2 ? 0 : other + 1)],
          y = row[step * (other == 0 ? 2 : other - 1)];
  if (x * x + y * y <= kParallelFaces<S>) {
    const int axisA = ofA ? axis : other, axisB = ofA ? other : axis;
    const S areaA = p.a[axisA == 2 ? 0 : axisA + 1] * p.a[axisA == 0 ? 2 : axisA - 1];
    const S areaB = p.b[axisB == 2 ? 0 : axisB + 1] * p.b[axisB == 0 ? 2 : axisB - 1];
    const Vec3T<S> p_AB{p.t[0], p.t[1], p.t[2]}, p_BA{-p.tB[0], -p.tB[1], -p.tB[2]};
    const S sizeA = p.a.x + p.a.y + p.a.z, sizeB = p.b.x + p.b.y + p.b.z;
    ofA = firstIsReference(areaA, areaB, p_AB, p_BA, smaller(sizeA, sizeB));
    axis = ofA ? axisA : axisB;
    other = ofA ? axisB : axisA;
  }
  f->refIsA = ofA;
  f->axis = axis;
  f->incident = other;
}

template <class S>
TANGERE_HD inline void makeBoxFaceFrame(const BoxPair<S>& p, int index, BoxFaceFrame<S>* f) {
  chooseReferenceFace(p, index, f);
  const bool refIsA = f->refIsA;
  const int axis = f->axis, j = f->incident;
  const int u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
  const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
  f->axisU = u;
  f->axisV = v;
  f->incident1 = j1;
  f->incident2 = j2;
  const Vec3T<S>& h = refIsA ? p.a : p.b;
  const Vec3T<S>& g = refIsA ? p.b : p.a;
  // Centre of the incident box, and its axes as the entries m[k * stepK + l * stepL], both in the
  // frame of the reference box.
  const S* c = refIsA ? p.t : p.tB;
  const S sense = refIsA ? S(1) : S(-1);
  const int stepK = refIsA ? 3 : 1, stepL = refIsA ? 1 : 3;
  const S* mU = &p.r[0][0] + u * stepK;
  const S* mV = &p.r[0][0] + v * stepK;
  const S* mW = &p.r[0][0] + axis * stepK;
  // A body exactly in the middle is pushed out on the same side whichever of the two is asked.
  f->positive = refIsA ? c[axis] > S(0) : !(c[axis] > S(0));
  const S side = f->positive ? S(1) : S(-1);
  f->side = side;
  f->half = h[axis];
  f->halfU = h[u];
  f->halfV = h[v];
  f->incidentPositive = (mW[j * stepL] > S(0)) != f->positive;
  const S gj = f->incidentPositive ? g[j] : -g[j], g1 = g[j1], g2 = g[j2];
  f->centerU = sense * c[u] + gj * mU[j * stepL];
  f->centerV = sense * c[v] + gj * mV[j * stepL];
  f->centerW = side * (sense * c[axis] + gj * mW[j * stepL]) - f->half;
  f->firstU = g1 * mU[j1 * stepL];
  f->firstV = g1 * mV[j1 * stepL];
  f->firstW = side * (g1 * mW[j1 * stepL]);
  f->secondU = g2 * mU[j2 * stepL];
  f->secondV = g2 * mV[j2 * stepL];
  f->secondW = side * (g2 * mW[j2 * stepL]);
}

/// What touches of the incident face, over the reference face: corners of the one, corners of the
/// other, and crossings of their edges. Not initialised: the count goes from hand to hand.
template <class S>
struct BoxClip {
  static constexpr int kCapacity = 16;
  S u[kCapacity], v[kCapacity];
  S depth[kCapacity];  ///< below the reference face; a little negative up to rounding
  int code[kCapacity];
};

// Codes of the points. Incident corners by the signs along the two axes of the face (bit 0: first,
// bit 1: second); incident edges 0, 1: along the first axis at the negative, positive end of the
// second, 2, 3: along the second at the ends of the first; sides of the reference face 0..3: u = -,
// u = +, v = -, v = +; its corners bit 0: u, bit 1: v.
inline constexpr int kIncidentCorner = 0;
inline constexpr int kCrossing = 4;
inline constexpr int kReferenceCorner = 20;

template <class S>
TANGERE_HD inline ClippedFeature boxClipFeature(const BoxFaceFrame<S>& f, int code) {
  const int u = 1 << f.axisU, v = 1 << f.axisV, w = f.positive ? 1 << f.axis : 0;
  const int first = 1 << f.incident1, second = 1 << f.incident2;
  const int third = f.incidentPositive ? 1 << f.incident : 0;
  if (code < kCrossing)
    return {faceFeature(f.face()),
            vertexFeature(third | ((code & 1) != 0 ? first : 0) | ((code & 2) != 0 ? second : 0))};
  if (code >= kReferenceCorner) {
    const int corner = code - kReferenceCorner;
    return {vertexFeature(w | ((corner & 1) != 0 ? u : 0) | ((corner & 2) != 0 ? v : 0)),
            faceFeature(f.incidentFace())};
  }
  const int edge = (code - kCrossing) >> 2, side = (code - kCrossing) & 3;
  const int across = side < 2 ? u : v, along = side < 2 ? v : u;
  const int low = w | ((side & 1) != 0 ? across : 0);
  const int incidentAcross = edge < 2 ? second : first, incidentAlong = edge < 2 ? first : second;
  const int incidentLow = third | ((edge & 1) != 0 ? incidentAcross : 0);
  return {edgeFeature(low, low | along), edgeFeature(incidentLow, incidentLow | incidentAlong)};
}

/// 1/x, and a huge number for zero: an edge along a side crosses it nowhere.
template <class S>
TANGERE_HD inline S safeInverse(S x) {
  const S tiny = S(1e-30);
  return S(1) / (x < tiny && x > -tiny ? tiny : x);
}

/// Writes a point at the end of the list and keeps it by counting: with random poses a branch would
/// be a coin toss.
template <class S>
TANGERE_HD inline int putPoint(S u, S v, S w, int code, bool keep, int count, BoxClip<S>* clip) {
  clip->u[count] = u;
  clip->v[count] = v;
  clip->depth[count] = -w;
  clip->code[count] = code;
  return count + (keep ? 1 : 0);
}

/// One axis of the incident face, and where its multiples meet the sides of the reference face: two
/// edges run along it.
template <class S>
struct BoxEdgeDirection {
  S u, v, w;
  S inverseU, inverseV;
  S reachU, reachV;  ///< of the reference face with `slop` added, in multiples of the axis
  S slopU, slopV;    ///< the slop in multiples of the axis
  int enterU, enterV, leaveU, leaveV;  ///< codes of the sides it enters and leaves by
};

template <class S>
TANGERE_HD inline BoxEdgeDirection<S> boxEdgeDirection(const BoxFaceFrame<S>& f, S u, S v, S w,
                                                       S slop) {
  using std::fabs;
  BoxEdgeDirection<S> d;
  d.u = u;
  d.v = v;
  d.w = w;
  d.inverseU = safeInverse(u);
  d.inverseV = safeInverse(v);
  const S absU = fabs(d.inverseU), absV = fabs(d.inverseV);
  d.reachU = (f.halfU + slop) * absU;
  d.reachV = (f.halfV + slop) * absV;
  d.slopU = slop * absU;
  d.slopV = slop * absV;
  d.leaveU = d.inverseU > S(0) ? 1 : 0;
  d.leaveV = d.inverseV > S(0) ? 3 : 2;
  d.enterU = 1 - d.leaveU;
  d.enterV = 5 - d.leaveV;
  return d;
}

/// Where the edge from `middle` - d to `middle` + d enters and leaves the reference face. Sides are
/// tested at `slop` beyond their place, so that an edge that lies on one is not lost to rounding,
/// and the points are put at the place itself. Returns the new count.
template <class S>
TANGERE_HD inline int clipBoxEdge(const BoxEdgeDirection<S>& d, S middleU, S middleV, S middleW,
                                  int edge, S ceiling, int count, BoxClip<S>* clip) {
  const S atU = -middleU * d.inverseU, atV = -middleV * d.inverseV;
  const S fromU = atU - d.reachU, fromV = atV - d.reachV;
  const S toU = atU + d.reachU, toV = atV + d.reachV;
  const bool byU = fromU > fromV, outByU = toU < toV;
  const S enter = byU ? fromU : fromV, leave = outByU ? toU : toV;
  const S slopEnter = byU ? d.slopU : d.slopV, slopLeave = outByU ? d.slopU : d.slopV;
  const S t0 = enter + slopEnter, t1 = leave - slopLeave;
  const S w0 = middleW + t0 * d.w, w1 = middleW + t1 * d.w;
  // An end that is over the face is a corner; a crossing within `slop` of the other end is that
  // end.
  const bool meets = enter <= leave;
  const bool keep0 = meets & (enter > S(-1)) & (t0 < S(1) - slopEnter) & (w0 <= ceiling);
  const bool keep1 = meets & (leave < S(1)) & (t1 > S(-1) + slopLeave) & (w1 <= ceiling);
  const int code = kCrossing + 4 * edge;
  count = putPoint(middleU + t0 * d.u, middleV + t0 * d.v, w0, code + (byU ? d.enterU : d.enterV),
                   keep0, count, clip);
  return putPoint(middleU + t1 * d.u, middleV + t1 * d.v, w1, code + (outByU ? d.leaveU : d.leaveV),
                  keep1, count, clip);
}

/// A corner of the incident face, if it is over the reference face and below `ceiling`.
template <class S>
TANGERE_HD inline int addIncidentCorner(const BoxFaceFrame<S>& f, int corner, S slop, S ceiling,
                                        int count, BoxClip<S>* clip) {
  using std::fabs;
  const S s1 = (corner & 1) != 0 ? S(1) : S(-1), s2 = (corner & 2) != 0 ? S(1) : S(-1);
  const S u = f.centerU + (s1 * f.firstU + s2 * f.secondU);
  const S v = f.centerV + (s1 * f.firstV + s2 * f.secondV);
  const S w = f.centerW + (s1 * f.firstW + s2 * f.secondW);
  const bool keep = (fabs(u) <= f.halfU + slop) & (fabs(v) <= f.halfV + slop) & (w <= ceiling);
  return putPoint(u, v, w, kIncidentCorner + corner, keep, count, clip);
}

/// The corners of the reference face that are under the incident face.
template <class S>
TANGERE_HD inline int addReferenceCorners(const BoxFaceFrame<S>& f, S slop, S ceiling, int count,
                                          BoxClip<S>* clip) {
  using std::fabs;
  // Coordinates along the two axes of the incident face, each from -1 to 1.
  const S inverse = S(1) / (f.firstU * f.secondV - f.firstV * f.secondU);
  const S x0 = (f.centerV * f.secondU - f.centerU * f.secondV) * inverse;
  const S y0 = (f.centerU * f.firstV - f.centerV * f.firstU) * inverse;
  const S xU = f.halfU * f.secondV * inverse, xV = -f.halfV * f.secondU * inverse;
  const S yU = -f.halfU * f.firstV * inverse, yV = f.halfV * f.firstU * inverse;
  // On the rim the corner is a crossing or an incident corner already.
  const S limitX = S(1) - slop * (fabs(f.secondU) + fabs(f.secondV)) * fabs(inverse);
  const S limitY = S(1) - slop * (fabs(f.firstU) + fabs(f.firstV)) * fabs(inverse);
  for (int corner = 0; corner < 4; ++corner) {
    const S su = (corner & 1) != 0 ? S(1) : S(-1), sv = (corner & 2) != 0 ? S(1) : S(-1);
    const S x = x0 + (su * xU + sv * xV), y = y0 + (su * yU + sv * yV);
    const S w = f.centerW + (x * f.firstW + y * f.secondW);
    const bool keep = (fabs(x) < limitX) & (fabs(y) < limitY) & (w <= ceiling);
    count = putPoint(su * f.halfU, sv * f.halfV, w, kReferenceCorner + corner, keep, count, clip);
  }
  return count;
}

/// Two edges that cross at less than this [rad] have no place of crossing to speak of: where boxes
/// of one size rest on each other it wanders along the edges by a million times what the boxes
/// move.
template <class S>
inline constexpr S kFlatCrossing = S(1e-3);

/// Takes such crossings away while there are more points than a patch has room for. The region
/// loses nothing that counts: its border is straight there up to that angle, and has a corner on
/// either side. Returns the new count.
template <class S>
TANGERE_HD inline int dropFlatCrossings(const BoxEdgeDirection<S>& first,
                                        const BoxEdgeDirection<S>& second, int count,
                                        BoxClip<S>* clip) {
  using std::fabs;
  const auto isFlat = [&](int code) {
    if (code < kCrossing || code >= kReferenceCorner) return false;
    const BoxEdgeDirection<S>& d = code - kCrossing < 8 ? first : second;
    const bool crossesU = ((code - kCrossing) & 2) == 0;
    const S across = fabs(crossesU ? d.u : d.v), along = fabs(crossesU ? d.v : d.u);
    return across < kFlatCrossing<S> * along;
  };
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const bool isLeftOut = isFlat(clip->code[i]) && kept + (count - i) > kMaxPatchPoints;
    clip->u[kept] = clip->u[i];
    clip->v[kept] = clip->v[i];
    clip->depth[kept] = clip->depth[i];
    clip->code[kept] = clip->code[i];
    kept += isLeftOut ? 0 : 1;
  }
  return kept;
}

/// The whole incident face.
template <class S>
TANGERE_HD inline int clipBoxFace(const BoxFaceFrame<S>& f, S slop, S ceiling, BoxClip<S>* clip) {
  using std::fabs;
  int count = 0;
  for (int corner = 0; corner < 4; ++corner)
    count = addIncidentCorner(f, corner, slop, ceiling, count, clip);
  // All of it over the reference face: nothing to cut.
  const S reachU = fabs(f.centerU) + (fabs(f.firstU) + fabs(f.secondU));
  const S reachV = fabs(f.centerV) + (fabs(f.firstV) + fabs(f.secondV));
  if (reachU <= f.halfU + slop && reachV <= f.halfV + slop) return count;
  const BoxEdgeDirection<S> first = boxEdgeDirection(f, f.firstU, f.firstV, f.firstW, slop);
  const BoxEdgeDirection<S> second = boxEdgeDirection(f, f.secondU, f.secondV, f.secondW, slop);
  count = clipBoxEdge(first, f.centerU - f.secondU, f.centerV - f.secondV, f.centerW - f.secondW, 0,
                      ceiling, count, clip);
  count = clipBoxEdge(first, f.centerU + f.secondU, f.centerV + f.secondV, f.centerW + f.secondW, 1,
                      ceiling, count, clip);
  count = clipBoxEdge(second, f.centerU - f.firstU, f.centerV - f.firstV, f.centerW - f.firstW, 2,
                      ceiling, count, clip);
  count = clipBoxEdge(second, f.centerU + f.firstU, f.centerV + f.firstV, f.centerW + f.firstW, 3,
                      ceiling, count, clip);
  count = addReferenceCorners(f, slop, ceiling, count, clip);
  return count > kMaxPatchPoints ? dropFlatCrossings(first, second, count, clip) : count;
}

/// The edge of the incident face at the low end of its steep axis alone.
template <class S>
TANGERE_HD inline int clipBoxFaceEdge(const BoxFaceFrame<S>& f, bool firstIsSteep, S slop,
                                      S ceiling, BoxClip<S>* clip) {
  const bool positive = !((firstIsSteep ? f.firstW : f.secondW) > S(0));
  const int bitAlong = firstIsSteep ? 2 : 1, bitAcross = firstIsSteep ? 1 : 2;
  const int corner = positive ? bitAcross : 0;
  int count = addIncidentCorner(f, corner, slop, ceiling, 0, clip);
  count = addIncidentCorner(f, corner | bitAlong, slop, ceiling, count, clip);
  if (count == 2) return count;
  const S s = positive ? S(1) : S(-1);
  const int end = positive ? 1 : 0;
  if (firstIsSteep)
    return clipBoxEdge(boxEdgeDirection(f, f.secondU, f.secondV, f.secondW, slop),
                       f.centerU + s * f.firstU, f.centerV + s * f.firstV, f.centerW + s * f.firstW,
                       2 + end, ceiling, count, clip);
  return clipBoxEdge(boxEdgeDirection(f, f.firstU, f.firstV, f.firstW, slop),
                     f.centerU + s * f.secondU, f.centerV + s * f.secondV,
                     f.centerW + s * f.secondW, end, ceiling, count, clip);
}

/// The lowest corner of the incident face alone, if it is over the reference face.
template <class S>
TANGERE_HD inline int clipBoxCorner(const BoxFaceFrame<S>& f, S slop, BoxClip<S>* clip) {
  using std::copysign;
  using std::fabs;
  const S s1 = copysign(S(1), -f.firstW), s2 = copysign(S(1), -f.secondW);
  const S u = f.centerU + (s1 * f.firstU + s2 * f.secondU);
  const S v = f.centerV + (s1 * f.firstV + s2 * f.secondV);
  const S w = f.centerW + (s1 * f.firstW + s2 * f.secondW);
  const int corner = (s1 > S(0) ? 1 : 0) + (s2 > S(0) ? 2 : 0);
  const bool keep = (fabs(u) <= f.halfU + slop) & (fabs(v) <= f.halfV + slop);
  return putPoint(u, v, w, kIncidentCorner + corner, keep, 0, clip);
}

/// Everything that touches with a face as the reference: fills `clip` and returns the number of its
/// points, at least one.
template <class S>
TANGERE_HD inline int clipBoxContact(const BoxFaceFrame<S>& f, S overlap, S size,
                                     BoxClip<S>* clip) {
  using std::fabs;
  const S slop = kManifoldSlop<S> * size;
  const S ceiling = kManifoldLengthTolerance<S> * size;  // above it a point does not touch
  const S reach = S(0.5) * (kReachInDepths<S> * overlap + ceiling);
  const bool steep1 = fabs(f.firstW) > reach, steep2 = fabs(f.secondW) > reach;
  int count = 0;
  if (steep1 && steep2)
    count = clipBoxCorner(f, slop, clip);
  else if (steep1 || steep2)
    count = clipBoxFaceEdge(f, steep1, slop, ceiling, clip);
  if (count == 0) count = clipBoxFace(f, slop, ceiling, clip);
  if (count > 0) return count;
  // Only rounding can empty the region of an overlap that exists: the deepest corner, pulled back
  // over the face.
  clipBoxCorner(f, slop, clip);
  clip->u[0] = clip->u[0] > f.halfU ? f.halfU : clip->u[0] < -f.halfU ? -f.halfU : clip->u[0];
  clip->v[0] = clip->v[0] > f.halfV ? f.halfV : clip->v[0] < -f.halfV ? -f.halfV : clip->v[0];
  return 1;
}

/// The normal of a face axis in world, from B to A. Boxes that share their middle along it are
/// pushed apart the same way whichever of the two is asked.
template <class S>
TANGERE_HD inline Vec3T<S> boxFaceNormal(const BoxPair<S>& p, int index, const TransformT<S>& X_WA,
                                         const TransformT<S>& X_WB) {
  const bool ofA = index < 3;
  const int k = ofA ? index : index - 3;
  const Vec3T<S>& axis = ofA ? X_WA.rotation.col[k] : X_WB.rotation.col[k];
  return axis * ((ofA ? p.t[k] : p.tB[k]) > S(0) ? S(-1) : S(1));
}

/// Point c of `clip` as a contact point in world. The normal is that of the axis of least overlap,
/// also where the reference is a face of the other box that is parallel to it up to rounding.
template <class S>
TANGERE_HD inline void writeBoxPoint(const BoxFaceFrame<S>& f, const TransformT<S>& X_WR,
                                     const BoxClip<S>& clip, int c, S overlap,
                                     const Vec3T<S>& normal, ContactPointT<S>* point) {
  const Vec3T<S>& u = X_WR.rotation.col[f.axisU];
  const Vec3T<S>& v = X_WR.rotation.col[f.axisV];
  const Vec3T<S> w = X_WR.rotation.col[f.axis] * f.side;
  const ClippedFeature feature = boxClipFeature(f, clip.code[c]);
  const S below = clip.depth[c];
  const S depth = smaller(below > S(0) ? below : S(0), overlap);
  // Half way between the incident point and its foot on the reference face.
  point->position =
      X_WR.translation + (u * clip.u[c] + v * clip.v[c] + w * (f.half - (below - S(0.5) * depth)));
  point->normal = normal;
  point->depth = depth;
  point->feature1 = f.refIsA ? feature.reference : feature.incident;
  point->feature2 = f.refIsA ? feature.incident : feature.reference;
}

template <class S>
TANGERE_HD inline S smallerBoxSize(const BoxPair<S>& p) {
  return smaller(p.a.x + p.a.y + p.a.z, p.b.x + p.b.y + p.b.z);
}

/// Contact with face `index` of one box as the reference, or the face of the other box parallel to
/// it; writes the points in world.
template <class S>
TANGERE_HD inline int writeBoxFaceManifold(const BoxPair<S>& p, int index, S overlap,
                                           const Vec3T<S>& normal, const TransformT<S>& X_WA,
                                           const TransformT<S>& X_WB, ContactManifoldT<S>* out) {
  BoxFaceFrame<S> f;
  makeBoxFaceFrame(p, index, &f);
  const S size = smallerBoxSize(p);
  BoxClip<S> clip;
  const int numPoints = clipBoxContact(f, overlap, size, &clip);
  int chosen[kMaxPatchPoints] = {0, 0, 0, 0};
  S nearest[BoxClip<S>::kCapacity];
  const int count = numPoints == 1 ? 1
                                   : selectPatchPoints(clip.u, clip.v, clip.depth, clip.depth,
                                                       numPoints, size, nearest, chosen);
  const TransformT<S>& X_WR = f.refIsA ? X_WA : X_WB;
  for (int i = 0; i < count; ++i)
    writeBoxPoint(f, X_WR, clip, chosen[i], overlap, normal, &out->points[i]);
  out->count = count;
  out->type = count >= 3 ? ContactType::Face : count == 2 ? ContactType::Edge : ContactType::Point;
  out->status = QueryStatus::Ok;
  return count;
}

/// The point where two edges cross, in world.
template <class S>
TANGERE_HD inline void writeBoxEdgePoint(const BoxEdgeContact<S>& e, S depth,
                                         const TransformT<S>& X_WA, ContactPointT<S>* point) {
  const S half = S(0.5) * depth;
  const Vec3T<S>& c = X_WA.rotation.col[e.i];
  const Vec3T<S>& c1 = X_WA.rotation.col[e.i1];
  const Vec3T<S>& c2 = X_WA.rotation.col[e.i2];
  point->position =
      X_WA.translation + (c * e.at + c1 * (e.a1 + half * e.n1) + c2 * (e.a2 + half * e.n2));
  point->normal = c1 * e.n1 + c2 * e.n2;
  point->depth = depth;
  point->feature1 = e.featureA;
  point->feature2 = e.featureB;
}

/// The deepest point alone, in world: where both boxes have their witness of the depth.
template <class S>
TANGERE_HD inline void writeDeepestBoxPoint(const BoxPair<S>& p, const BoxAxis<S>& axis,
                                            const TransformT<S>& X_WA, const TransformT<S>& X_WB,
                                            ContactPointT<S>* point) {
  if (axis.index >= 6) {
    writeBoxEdgePoint(edgeEdgeContact(p, axis), axis.overlap, X_WA, point);
    return;
  }
  BoxFaceFrame<S> f;
  makeBoxFaceFrame(p, axis.index, &f);
  BoxClip<S> clip;
  const int count = clipBoxContact(f, axis.overlap, smallerBoxSize(p), &clip);
  int deepest = 0;
  for (int i = 1; i < count; ++i) deepest = clip.depth[i] > clip.depth[deepest] ? i : deepest;
  writeBoxPoint(f, f.refIsA ? X_WA : X_WB, clip, deepest, axis.overlap,
                boxFaceNormal(p, axis.index, X_WA, X_WB), point);
}

/// The contact of two edges as the general manifold builder takes it, in A's frame.
template <class S>
TANGERE_HD inline ConvexContact<S> toConvexContact(const BoxEdgeContact<S>& e, S depth) {
  ConvexContact<S> contact;
  contact.distance = -depth;
  contact.normal[e.i1] = e.n1;
  contact.normal[e.i2] = e.n2;
  contact.pointA[e.i] = e.at;
  contact.pointA[e.i1] = e.a1;
  contact.pointA[e.i2] = e.a2;
  contact.pointB = contact.pointA + contact.normal * depth;
  return contact;
}

/// The face that is parallel to the normal of two crossing edges up to rounding, or -1.
template <class S>
TANGERE_HD inline int faceAlongEdgeNormal(const BoxEdgeContact<S>& e, int edgeB) {
  const S tie = kParallelFaces<S>;
  const int j1 = edgeB == 2 ? 0 : edgeB + 1, j2 = edgeB == 0 ? 2 : edgeB - 1;
  if (e.n1 * e.n1 <= tie) return e.i2;
  if (e.n2 * e.n2 <= tie) return e.i1;
  if (e.m1 * e.m1 <= tie) return 3 + j2;
  if (e.m2 * e.m2 <= tie) return 3 + j1;
  return -1;
}

/// Contact along an edge axis: the closest points of the two edges, and where that axis is close to
/// a face of one of the boxes what else touches there.
template <class S>
TANGERE_HD inline int writeBoxEdgeManifold(const ConvexView<S>& a, const TransformT<S>& X_WA,
                                           const ConvexView<S>& b, const TransformT<S>& X_WB,
                                           const BoxPair<S>& p, const BoxAxis<S>& axis,
                                           ContactManifoldT<S>* out) {
  const BoxEdgeContact<S> e = edgeEdgeContact(p, axis);
  const S slope2 = kMaxReferenceSlope<S> * kMaxReferenceSlope<S>;
  if ((e.n1 * e.n1 < slope2) | (e.n2 * e.n2 < slope2) | (e.m1 * e.m1 < slope2) |
      (e.m2 * e.m2 < slope2)) {
    // A resting box rocks between face and edge axes by rounding: its points and their names must
    // not. Only the normal and the depth are those of the edges.
    const int face = faceAlongEdgeNormal(e, (axis.index - 6) % 3);
    if (face >= 0) {
      const Vec3T<S> normal = X_WA.rotation.col[e.i1] * e.n1 + X_WA.rotation.col[e.i2] * e.n2;
      return writeBoxFaceManifold(p, face, axis.overlap, normal, X_WA, X_WB, out);
    }
    TransformT<S> X_AB;
    for (int j = 0; j < 3; ++j) X_AB.rotation.col[j] = {p.r[0][j], p.r[1][j], p.r[2][j]};
    X_AB.translation = {p.t[0], p.t[1], p.t[2]};
    buildConvexManifold(a, b, X_AB, toConvexContact(e, axis.overlap), out);
    transformManifold(X_WA, out);
    return out->count;
  }
  writeBoxEdgePoint(e, axis.overlap, X_WA, &out->points[0]);
  out->count = 1;
  out->type = ContactType::Point;
  out->status = QueryStatus::Ok;
  return 1;
}

/// Manifold of two boxes that overlap along `axis`, in the frame W of the two poses.
template <class S>
TANGERE_HD inline int writeBoxManifold(const ConvexView<S>& a, const TransformT<S>& X_WA,
                                       const ConvexView<S>& b, const TransformT<S>& X_WB,
                                       const BoxPair<S>& p, const BoxAxis<S>& axis,
                                       ContactManifoldT<S>* out) {
  if (axis.index >= 6) return writeBoxEdgeManifold(a, X_WA, b, X_WB, p, axis, out);
  return writeBoxFaceManifold(p, axis.index, axis.overlap, boxFaceNormal(p, axis.index, X_WA, X_WB),
                              X_WA, X_WB, out);
}

/// Manifold of two boxes, in the frame W of the two poses; 0 points when they are apart.
template <class S>
TANGERE_HD inline int collideBoxBox(const ConvexView<S>& a, const TransformT<S>& X_WA,
                                    const ConvexView<S>& b, const TransformT<S>& X_WB,
                                    ContactManifoldT<S>* out) {
  out->count = 0;
  if (!boundingBallsOverlap(a, X_WA, b, X_WB)) return 0;
  BoxPair<S> pair;
  makeBoxPair(a, X_WA, b, X_WB, &pair);
  BoxAxis<S> axis;
  if (!findBoxAxis(pair, &axis)) return 0;
  return writeBoxManifold(a, X_WA, b, X_WB, pair, axis, out);
}

}  // namespace tangere::kernel
