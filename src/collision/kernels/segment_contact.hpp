// SPDX-License-Identifier: Apache-2.0
//
// A segment (the core of a capsule) against a convex solid, as the kernels of the capsule pairs
// pass it on. The segment is center + t axis with |t| <= halfLength, axis unit.
#pragma once

#include <tangere/types.hpp>

namespace tangere::kernel {

template <class S>
struct SegmentT {
  Vec3T<S> center{};
  Vec3T<S> axis{};
  S halfLength{};

  TANGERE_HD Vec3T<S> at(S t) const { return center + axis * t; }
};

template <class S>
struct SegmentContact {
  S distance{};       ///< of the segment from the solid; negative: minus the penetration depth
  Vec3T<S> normal{};  ///< unit, from the solid to the segment
  S t{};              ///< the point of the segment that is nearest or deepest
};

/// Below this a squared length has too few digits to give a direction.
template <class S>
TANGERE_HD constexpr S leastSquaredLength() {
  return sizeof(S) == 4 ? S(1e-30) : S(1e-280);
}

/// The same for a length.
template <class S>
TANGERE_HD constexpr S leastLength() {
  return sizeof(S) == 4 ? S(1e-15) : S(1e-140);
}

template <class S>
TANGERE_HD inline S clampMagnitude(S value, S limit) {
  const S v = limit < value ? limit : value;  // a minimum and a maximum: no branch
  return -limit > v ? -limit : v;
}

/// Where the slope of a convex function along a segment is zero: Newton's steps, kept inside the
/// part where the slope changes sign.
template <class S>
struct SlopeBracket {
  S low, high;              ///< the minimum is in between
  S lowSlope{};             ///< negative where `low` was tried, 0 before
  S highSlope{};            ///< positive where `high` was tried, 0 before
  bool fromNewton = false;  ///< the last step was Newton's own
  bool halve = false;

  TANGERE_HD explicit SlopeBracket(S halfLength) : low(-halfLength), high(halfLength) {}

  /// Takes in the slope at t and gives the next t, or the same t where there is none better.
  TANGERE_HD S next(S t, S slope, S curvature) {
    fromNewton = false;
    if (slope > S(0)) {
      if (t <= low) return t;
      high = t;
      highSlope = slope;
    } else {
      if (t >= high) return t;
      low = t;
      lowSlope = slope;
    }
    const S newton = t - slope / curvature;
    if (newton == t) return t;  // the step is rounding
    if (newton > low && newton < high) {
      fromNewton = true;
      return newton;
    }
    if (newton <= low && lowSlope == S(0)) return low;
    if (newton >= high && highSlope == S(0)) return high;
    if (lowSlope == S(0) || highSlope == S(0)) return t;
    // A kink in between. Next to it one slope may be mere rounding: the secant goes there at once,
    // where halving would not arrive.
    const S secant = low - lowSlope * ((high - low) / (highSlope - lowSlope));
    const S middle = halve ? S(0.5) * (low + high) : secant;
    halve = !halve;
    if (middle > low && middle < high) return middle;
    return -lowSlope <= highSlope ? low : high;
  }
};

/// The part [low, high] of the segment within |center + t slope| <= size; false if there is none.
template <class S>
TANGERE_HD inline bool clipToSlab(S center, S slope, S size, S* low, S* high) {
  if (slope == S(0)) return center >= -size && center <= size;
  const S inverse = S(1) / slope;
  S t0 = (-size - center) * inverse, t1 = (size - center) * inverse;
  if (t0 > t1) {
    const S t = t0;
    t0 = t1;
    t1 = t;
  }
  if (t0 > *low) *low = t0;
  if (t1 < *high) *high = t1;
  return *low <= *high;
}

/// Some unit vector across `u`, which is unit.
template <class S>
TANGERE_HD inline Vec3T<S> unitAcross(const Vec3T<S>& u) {
  using std::fabs;
  const S x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
  const Vec3T<S> v = x <= y && x <= z
                         ? Vec3T<S>{S(0), -u.z, u.y}
                         : (y <= z ? Vec3T<S>{u.z, S(0), -u.x} : Vec3T<S>{-u.y, u.x, S(0)});
  return v * (S(1) / norm(v));
}

}  // namespace tangere::kernel
