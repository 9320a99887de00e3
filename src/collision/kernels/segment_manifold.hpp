// SPDX-License-Identifier: Apache-2.0
//
// Contact points of a capsule along its axis: the ends of the stretch where it lies on a face or
// along a line of the other solid, or the nearest point alone.
#pragma once

#include "collision/kernels/capsule_box.hpp"
#include "collision/kernels/capsule_round.hpp"
#include "collision/kernels/contact_features.hpp"
#include "collision/kernels/sphere_hull.hpp"
#include "geometry/kernels/support.hpp"

namespace tangere::kernel {

template <class S>
struct SegmentPoints {
  struct Point {
    S t;          ///< along the segment
    S height;     ///< of that point of the segment above the other surface
    Vec3T<S> up;  ///< unit, from the foot on the other surface to that point
    std::int32_t segmentFeature, solidFeature;
  };
  Point points[3];
  int count = 0;
};

/// Sine of the slope up to which a capsule can lie on a face, and squared sine of the angle up to
/// which it can lie along a line.
template <class S>
inline constexpr S kMaxFaceSlope = S(0.5);
template <class S>
inline constexpr S kMaxLineSine2 = S(0.01);
/// Points belong to one contact if their own normals are this close to the shared one.
template <class S>
inline constexpr S kSharedNormalCosine = S(0.99999);

/// End vertices 0 (at -halfLength) and 1, or the side.
template <class S>
TANGERE_HD inline std::int32_t segmentFeature(const SegmentT<S>& segment, S t) {
  if (t <= -segment.halfLength) return vertexFeature(0);
  if (t >= segment.halfLength) return vertexFeature(1);
  return edgeFeature(0, 1);
}

/// Whether a point whose own normal is `up` can share the normal n.
template <class S>
TANGERE_HD inline bool sharesNormal(const Vec3T<S>& up, const Vec3T<S>& n) {
  return dot(up, n) >= kSharedNormalCosine<S>;
}

/// The two ends if both are within `radius` of the surface, deepest first, after the nearest point
/// where that is deeper than both; else the nearest point alone.
template <class S>
TANGERE_HD inline SegmentPoints<S> pointsAlong(const typename SegmentPoints<S>::Point& nearest,
                                               const typename SegmentPoints<S>::Point& low,
                                               const typename SegmentPoints<S>::Point& high,
                                               S radius, S scale) {
  SegmentPoints<S> out;
  if (!(high.t - low.t > S(1e-6) * scale) || low.height > radius || high.height > radius ||
      !sharesNormal(low.up, nearest.up) || !sharesNormal(high.up, nearest.up)) {
    out.points[out.count++] = nearest;
    return out;
  }
  const bool lowFirst = low.height <= high.height;
  typename SegmentPoints<S>::Point first = lowFirst ? low : high;
  const typename SegmentPoints<S>::Point second = lowFirst ? high : low;
  if (nearest.height < first.height - S(1e-14) * scale) {
    // Next to an end it takes the place of that end, else it is a point of its own.
    const S fromFirst = nearest.t - first.t, near = S(0.1) * (high.t - low.t);
    if (fromFirst <= near && -fromFirst <= near)
      first = nearest;
    else
      out.points[out.count++] = nearest;
  }
  out.points[out.count++] = first;
  out.points[out.count++] = second;
  return out;
}

template <class S>
TANGERE_HD inline SegmentPoints<S> segmentOnBox(const Vec3T<S>& size, const SegmentT<S>& segment,
                                                S radius, const SegmentBoxContact<S>& contact) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const Vec3T<S>& n = contact.normal;
  const S h = segment.halfLength;
  const S scale = size.x + size.y + size.z + h;
  const bool crossing = contact.distance < S(0);
  // Components that are rounding do not make an edge of a face.
  const auto clean = [](S x) { return x > S(1e-9) || x < S(-1e-9) ? x : S(0); };
  const Vec3T<S> m{clean(n.x), clean(n.y), clean(n.z)};
  const std::int32_t feature = boxFeature(m);
  const typename SegmentPoints<S>::Point nearest{contact.t, contact.distance, n,
                                                 segmentFeature(segment, contact.t), feature};
  SegmentPoints<S> single;
  single.points[single.count++] = nearest;
  const int vertex = (m.x > S(0) ? 1 : 0) | (m.y > S(0) ? 2 : 0) | (m.z > S(0) ? 4 : 0);
  const int numActive = (m.x != S(0) ? 1 : 0) + (m.y != S(0) ? 1 : 0) + (m.z != S(0) ? 1 : 0);

  // A capsule that lies on a face and over its edge has a normal a little off that of the face.
  const int k =
      fabs(n.x) >= fabs(n.y) ? (fabs(n.x) >= fabs(n.z) ? 0 : 2) : (fabs(n.y) >= fabs(n.z) ? 1 : 2);
  if (numActive == 1 || (fabs(n[k]) >= kSharedNormalCosine<S> && !crossing)) {
    if (fabs(u[k]) > kMaxFaceSlope<S>) return single;
    const S sign = n[k] > S(0) ? S(1) : S(-1);
    const std::int32_t face = faceFeature(boxFace(k, n[k] > S(0)));
    S low = -h, high = h;
    int lowAxis = -1, highAxis = -1;
    for (int step = 1; step < 3; ++step) {
      const int i = (k + step) % 3;
      const S oldLow = low, oldHigh = high;
      if (!clipToSlab(c[i], u[i], size[i], &low, &high)) return single;
      if (low > oldLow) lowAxis = i;
      if (high < oldHigh) highAxis = i;
    }
    // A cut by a side plane is named by the edge of the box there.
    const auto pointAt = [&](S t, int axis, bool end) {
      typename SegmentPoints<S>::Point point{
          t, sign * (c[k] + u[k] * t) - size[k], {}, segmentFeature(segment, t), face};
      point.up[k] = sign;
      if (axis >= 0) {
        const bool positive = (u[axis] > S(0)) == end;
        const int base = (vertex & (1 << k)) | (positive ? 1 << axis : 0);
        point.segmentFeature = edgeFeature(0, 1);
        point.solidFeature = edgeFeature(base, base | (1 << (3 - k - axis)));
      }
      return point;
    };
    return pointsAlong(nearest, pointAt(low, lowAxis, false), pointAt(high, highAxis, true), radius,
                       scale);
  }
  if (numActive == 2 && !crossing) {
    const int along = m.x == S(0) ? 0 : (m.y == S(0) ? 1 : 2);
    if (S(1) - u[along] * u[along] > kMaxLineSine2<S>) return single;
    S low = -h, high = h;
    if (!clipToSlab(c[along], u[along], size[along], &low, &high)) return single;
    const auto pointAt = [&](S t, bool end) {
      const Vec3T<S> away = boxExcess(size, segment.at(t));
      const S height = norm(away);
      typename SegmentPoints<S>::Point point{t, height, away * (S(1) / height),
                                             segmentFeature(segment, t), feature};
      if (point.segmentFeature == edgeFeature(0, 1))
        point.solidFeature = vertexFeature(vertex | ((u[along] > S(0)) == end ? 1 << along : 0));
      return point;
    };
    return pointsAlong(nearest, pointAt(low, false), pointAt(high, true), radius, scale);
  }
  return single;
}

template <CoreType kCore, class S>
TANGERE_HD inline SegmentPoints<S> segmentOnRound(const Vec3T<S>& size, const SegmentT<S>& segment,
                                                  S radius, const SegmentContact<S>& contact) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& u = segment.axis;
  const Vec3T<S>& n = contact.normal;
  const S h = segment.halfLength;
  const S scale = size.x + size.z + h;
  const S nRho = sqrt(n.x * n.x + n.y * n.y);
  S sideRadial = S(1), sideAxial = S(0);
  if constexpr (kCore == CoreType::Cone) {
    const S k = S(1) / sqrt(size.x * size.x + S(4) * size.z * size.z);
    sideRadial = S(2) * size.z * k;
    sideAxial = size.x * k;
  }
  // A capsule that lies on a cap or along the side and over its end has a normal a little off.
  const S slack = contact.distance < S(0) ? S(1e-9) : S(0.01);
  const bool onCap = nRho <= slack && (kCore == CoreType::Cylinder || n.z < S(0));
  const bool onSide = fabs(n.z - sideAxial) <= slack && !onCap;
  const int cap = n.z < S(0) ? kBottomCap : kTopCap;
  const std::int32_t feature =
      onCap ? faceFeature(cap)
            : (onSide ? faceFeature(kRoundSide)
                      : (kCore == CoreType::Cone && n.z > sideAxial ? vertexFeature(kConeApex)
                                                                    : rimFeature(cap)));
  const typename SegmentPoints<S>::Point nearest{contact.t, contact.distance, n,
                                                 segmentFeature(segment, contact.t), feature};
  SegmentPoints<S> single;
  single.points[single.count++] = nearest;

  const S extent = roundExtent<kCore>(size, n);
  if (onCap) {
    if (fabs(u.z) > kMaxFaceSlope<S>) return single;
    S low = -h, high = h;
    if (!clipToDisc(segment, size.x, &low, &high)) return single;
    const auto pointAt = [&](S t) {
      const S z = segment.center.z + u.z * t;
      const S sign = n.z < S(0) ? S(-1) : S(1);
      typename SegmentPoints<S>::Point point{
          t, sign * z - size.z, {S(0), S(0), sign}, segmentFeature(segment, t), feature};
      if (point.segmentFeature == edgeFeature(0, 1)) point.solidFeature = rimFeature(cap);
      return point;
    };
    return pointsAlong(nearest, pointAt(low), pointAt(high), radius, scale);
  }
  if (onSide) {
    // The line of the side below the normal, from the lower rim up.
    const Vec3T<S> line{-n.x / nRho * sideAxial, -n.y / nRho * sideAxial, sideRadial};
    const S cosine = dot(u, line);
    if (S(1) - cosine * cosine > kMaxLineSine2<S>) return single;
    const Vec3T<S> foot{n.x / nRho * size.x, n.y / nRho * size.x, -size.z};
    const S halfLine = size.z / sideRadial;
    const S center = dot(segment.center - foot, line) - halfLine;
    S low = -h, high = h;
    if (!clipToSlab(center, cosine, halfLine, &low, &high)) return single;
    const auto pointAt = [&](S t, bool end) {
      const Vec3T<S> p = segment.at(t);
      typename SegmentPoints<S>::Point point{t, dot(n, p) - extent, n, segmentFeature(segment, t),
                                             feature};
      if (contact.distance < S(0)) {
        // Inside, by the tangent plane, which is good next to the line only.
        const S sideways = (n.x * p.y - n.y * p.x) / nRho;
        if (fabs(sideways) > S(0.01) * size.x) point.height = S(2) * radius;
      } else {
        const PointDistance<S> d = kCore == CoreType::Cylinder ? pointDistanceCylinder(size, p)
                                                               : pointDistanceCone(size, p);
        point.height = d.distance;
        point.up = d.normal;
      }
      if (point.segmentFeature == edgeFeature(0, 1)) {
        const bool top = (cosine > S(0)) == end;
        point.solidFeature = kCore == CoreType::Cone && top
                                 ? vertexFeature(kConeApex)
                                 : rimFeature(top ? kTopCap : kBottomCap);
      }
      return point;
    };
    return pointsAlong(nearest, pointAt(low, false), pointAt(high, true), radius, scale);
  }
  return single;
}

template <class S>
TANGERE_HD inline SegmentPoints<S> segmentOnHull(const HullView<S>& hull, S scale,
                                                 const SegmentT<S>& segment, S radius,
                                                 const SegmentContact<S>& contact) {
  using std::fabs;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const Vec3T<S>& n = contact.normal;
  const S h = segment.halfLength;
  const int vertex = supportVertex(hull, n);
  const Vec3T<S> corner = hull.vertex(vertex);
  // The faces and edges along the normal's plane, of those that meet at the support vertex. A
  // capsule that lies on a face and over its edge has a normal a little off that of the face.
  const S flat = S(1e-7);
  int face = -1;
  S best = contact.distance < S(0) ? S(1) - S(1e-14) : kSharedNormalCosine<S>;
  for (int i = hull.vertexFaceStart[vertex]; i < hull.vertexFaceStart[vertex + 1]; ++i) {
    const S cosine = dot(hull.faceNormal[hull.vertexFace[i]], n);
    if (cosine >= best) {
      best = cosine;
      face = hull.vertexFace[i];
    }
  }
  int end = -1;
  for (int i = hull.neighborStart[vertex]; i < hull.neighborStart[vertex + 1] && face < 0; ++i) {
    const Vec3T<S> e = hull.vertex(hull.neighbor[i]) - corner;
    const S drop = dot(e, n);
    if (drop * drop <= flat * flat * squaredNorm(e)) end = hull.neighbor[i];
  }
  const std::int32_t feature =
      face >= 0 ? faceFeature(face) : (end >= 0 ? edgeFeature(vertex, end) : vertexFeature(vertex));
  const typename SegmentPoints<S>::Point nearest{contact.t, contact.distance, n,
                                                 segmentFeature(segment, contact.t), feature};
  SegmentPoints<S> single;
  single.points[single.count++] = nearest;

  if (face >= 0) {
    if (fabs(dot(u, n)) > kMaxFaceSlope<S>) return single;
    S low = -h, high = h;
    std::int32_t lowFeature = feature, highFeature = feature;
    const Vec3T<S>& m = hull.faceNormal[face];
    const int begin = hull.faceStart[face], stop = hull.faceStart[face + 1];
    int previous = hull.faceVertex[stop - 1];
    for (int i = begin; i < stop; ++i) {
      const int current = hull.faceVertex[i];
      const Vec3T<S> a = hull.vertex(previous);
      const Vec3T<S> outward = cross(hull.vertex(current) - a, m);
      // outward . (center + t axis - a) <= 0
      const S slope = dot(outward, u), value = dot(outward, c - a);
      if (slope > S(0)) {
        const S t = -value / slope;
        if (t < high) {
          high = t;
          highFeature = edgeFeature(previous, current);
        }
      } else if (slope < S(0)) {
        const S t = -value / slope;
        if (t > low) {
          low = t;
          lowFeature = edgeFeature(previous, current);
        }
      } else if (value > S(0)) {
        return single;
      }
      previous = current;
    }
    if (!(low <= high)) return single;
    const auto pointAt = [&](S t, std::int32_t solidFeature) {
      return typename SegmentPoints<S>::Point{t, dot(m, segment.at(t)) - hull.faceOffset[face], m,
                                              segmentFeature(segment, t), solidFeature};
    };
    return pointsAlong(nearest, pointAt(low, lowFeature), pointAt(high, highFeature), radius,
                       scale);
  }
  if (end >= 0 && contact.distance >= S(0)) {
    const Vec3T<S> e = hull.vertex(end) - corner;
    const S length = norm(e);
    const Vec3T<S> line = e * (S(1) / length);
    const S cosine = dot(u, line);
    if (S(1) - cosine * cosine > kMaxLineSine2<S>) return single;
    S low = -h, high = h;
    const S half = S(0.5) * length;
    if (!clipToSlab(dot(c - corner, line) - half, cosine, half, &low, &high)) return single;
    const auto pointAt = [&](S t, bool isHigh) {
      HullPoint<S> d;
      pointToHull(hull, scale, segment.at(t), S(2) * (radius + scale + h), &d);
      typename SegmentPoints<S>::Point point{t, d.distance, d.normal, segmentFeature(segment, t),
                                             feature};
      if (point.segmentFeature == edgeFeature(0, 1))
        point.solidFeature = vertexFeature((cosine > S(0)) == isHigh ? end : vertex);
      return point;
    };
    return pointsAlong(nearest, pointAt(low, false), pointAt(high, true), radius, scale);
  }
  return single;
}

}  // namespace tangere::kernel
