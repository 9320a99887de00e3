// SPDX-License-Identifier: Apache-2.0
//
// A segment against a box, in the frame of the box.
//
// Apart: half the squared distance along the segment is convex and piecewise quadratic, so Newton's
// method on its slope ends after as many steps as the segment crosses feature regions (two or three
// evaluations as a rule). Crossing: box minus segment is a zonotope whose facets are the faces of
// the box and the pairs of a box edge with the segment; the nearest of these is the exact depth.
#pragma once

#include "collision/kernels/segment_contact.hpp"
#include "collision/kernels/sphere_box.hpp"

namespace tangere::kernel {

template <class S>
struct SegmentBoxContact : SegmentContact<S> {
  /// Offset of the nearest point of the segment from the box: zero where they cross.
  Vec3T<S> offset{};
};

template <class S>
TANGERE_HD inline bool segmentToBox(const Vec3T<S>& size, const SegmentT<S>& segment, S limit,
                                    SegmentBoxContact<S>* out);

/// What of p sticks out of the box, per axis.
template <class S>
TANGERE_HD inline Vec3T<S> boxExcess(const Vec3T<S>& size, const Vec3T<S>& p) {
  return {p.x - clampMagnitude(p.x, size.x), p.y - clampMagnitude(p.y, size.y),
          p.z - clampMagnitude(p.z, size.z)};
}

/// Smallest translation that separates a segment that crosses (or touches) the box.
template <class S>
TANGERE_HD inline void segmentInBox(const Vec3T<S>& size, const SegmentT<S>& segment,
                                    SegmentBoxContact<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const S h = segment.halfLength;
  out->offset = {};
  int axis = 0;
  S depth = size.x + h * fabs(u.x) - fabs(c.x);
  for (int k = 1; k < 3; ++k) {
    const S d = size[k] + h * fabs(u[k]) - fabs(c[k]);
    if (d < depth) {
      depth = d;
      axis = k;
    }
  }
  // Edge k against the segment: the direction across both has no extent of the segment along it.
  int edge = -1;
  Vec3T<S> across{};
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const S l2 = u[i] * u[i] + u[j] * u[j];
    if (!(l2 > S(1e-20))) continue;
    const S inverse = S(1) / sqrt(l2);
    const S mi = u[j] * inverse, mj = -u[i] * inverse;
    const S d = size[i] * fabs(mi) + size[j] * fabs(mj) - fabs(c[i] * mi + c[j] * mj);
    // A face that is as good gives the better manifold.
    if (d < depth - S(1e-13) * (size[i] + size[j])) {
      depth = d;
      edge = k;
      const S sign = c[i] * mi + c[j] * mj >= S(0) ? S(1) : S(-1);
      across = {};
      across[i] = sign * mi;
      across[j] = sign * mj;
    }
  }
  out->distance = -depth;
  if (edge >= 0) {
    out->normal = across;
    const int i = (edge + 1) % 3, j = (edge + 2) % 3;
    const int k = fabs(u[i]) >= fabs(u[j]) ? i : j;
    // p(t) + depth normal is on the box's edge: solve the coordinate that changes fastest.
    const S corner = across[k] >= S(0) ? size[k] : -size[k];
    out->t = clampMagnitude((corner - depth * across[k] - c[k]) / u[k], h);
    return;
  }
  const S sign = c[axis] >= S(0) ? S(1) : S(-1);
  out->normal = {};
  out->normal[axis] = sign;
  // The deepest point that is below the face.
  S low = -h, high = h;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  if (!clipToSlab(c[i], u[i], size[i], &low, &high) ||
      !clipToSlab(c[j], u[j], size[j], &low, &high)) {
    low = -h;
    high = h;
  }
  const S slope = sign * u[axis];
  out->t = fabs(slope) * h <= S(1e-12) * size[axis] ? S(0.5) * (low + high)
                                                    : (slope > S(0) ? low : high);
}

template <class S>
TANGERE_HD inline bool segmentToBox(const Vec3T<S>& size, const SegmentT<S>& segment, S limit,
                                    SegmentBoxContact<S>* out) {
  using std::sqrt;
  const Vec3T<S>& u = segment.axis;
  const S h = segment.halfLength;
  SlopeBracket<S> bracket(h);
  S t = clampMagnitude(-dot(segment.center, u), h);
  Vec3T<S> e{};
  int region = -1;
  for (int iteration = 0;; ++iteration) {
    e = boxExcess(size, segment.at(t));
    const S slope = e.x * u.x + e.y * u.y + e.z * u.z;
    if (slope == S(0) || iteration == 40) break;
    // The region: per axis below, within or above.
    const int here = (e.x > S(0) ? 1 : 0) | (e.x < S(0) ? 2 : 0) | (e.y > S(0) ? 4 : 0) |
                     (e.y < S(0) ? 8 : 0) | (e.z > S(0) ? 16 : 0) | (e.z < S(0) ? 32 : 0);
    if (bracket.fromNewton && here == region) break;  // the minimum of this region's quadratic
    region = here;
    const S curvature = (e.x != S(0) ? u.x * u.x : S(0)) + (e.y != S(0) ? u.y * u.y : S(0)) +
                        (e.z != S(0) ? u.z * u.z : S(0));
    const S next = bracket.next(t, slope, curvature);
    if (next == t) break;
    t = next;
  }
  const S d2 = squaredNorm(e);
  if (d2 > limit * limit) return false;
  const S scale = size.x + size.y + size.z + h;
  if (!(d2 > S(1e-28) * scale * scale)) {
    segmentInBox(size, segment, out);
    return true;
  }
  const S d = sqrt(d2);
  out->distance = d;
  out->t = t;
  out->offset = e;
  out->normal = e * (S(1) / d);
  if (d2 < S(1e-8) * scale * scale && t > -h && t < h) {
    // So near, the rounding of t tilts the normal: within an edge's region it is across the edge
    // and the segment, within a vertex's region across the segment.
    const int active = (e.x != S(0) ? 1 : 0) | (e.y != S(0) ? 2 : 0) | (e.z != S(0) ? 4 : 0);
    Vec3T<S> n = e;
    if (active == 3) n = {u.y, -u.x, S(0)};
    if (active == 5) n = {u.z, S(0), -u.x};
    if (active == 6) n = {S(0), u.z, -u.y};
    if (active == 7) n = e - u * dot(u, e);
    const S l2 = squaredNorm(n);
    const bool isFace = active == 1 || active == 2 || active == 4;
    const bool isParallelEdge = active != 7 && l2 * scale * scale < d2;
    if (l2 > leastSquaredLength<S>() && !isFace && !isParallelEdge) {
      const S k = (dot(n, e) >= S(0) ? S(1) : S(-1)) / sqrt(l2);
      out->normal = n * k;
    }
  }
  return true;
}

}  // namespace tangere::kernel
