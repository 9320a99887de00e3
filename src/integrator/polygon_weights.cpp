// SPDX-License-Identifier: Apache-2.0
#include "integrator/polygon_weights.hpp"

#include "collision/kernels/face_clipping.hpp"
#include "core/elementary.hpp"

#include <cmath>

namespace tangere::integrator {

namespace {

/// What of its weight a corner of a convex polygon keeps: nothing where it lies on an edge.
Real keptAtCorner(const Real* u, const Real* v, int before, int at, int after) {
  const Real u0 = u[at] - u[before], v0 = v[at] - v[before];
  const Real u1 = u[after] - u[at], v1 = v[after] - v[at];
  const Real size = std::sqrt((u0 * u0 + v0 * v0) * (u1 * u1 + v1 * v1));
  if (!(size > 0) || u0 * u1 + v0 * v1 <= 0) return 1;
  return fade(std::fabs(u0 * v1 - v0 * u1) / size, Real(0.001), Real(0.1));
}

/// Each corner keeps its part of what comes to it and passes the rest on to its neighbours by the
/// rule of the lever. `sharpest` keeps everything.
void passOnWeights(const Real* u, const Real* v, int count, const Real* kept, int sharpest,
                   Real* weight) {
  const auto index = [&](int i) { return (sharpest + i) % count; };
  const auto distance = [&](int i, int k) {
    return std::sqrt((u[i] - u[k]) * (u[i] - u[k]) + (v[i] - v[k]) * (v[i] - v[k]));
  };
  // What comes to each is its own weight and what both neighbours pass on: a tridiagonal system.
  Real backward[kernel::kMaxClippedVertices], forward[kernel::kMaxClippedVertices];
  for (int i = 1; i < count; ++i) {
    const Real toLast = distance(index(i), index(i - 1)), toNext = distance(index(i), index(i + 1));
    const Real passed = 1 - kept[index(i)], length = toLast + toNext;
    backward[i] = length > 0 ? passed * toNext / length : 0;
    forward[i] = length > 0 ? passed * toLast / length : 0;
  }
  Real pivot[kernel::kMaxClippedVertices];
  pivot[1] = 1;
  for (int i = 2; i < count; ++i) {
    pivot[i] = 1 - forward[i - 1] * backward[i] / pivot[i - 1];
    weight[index(i)] += forward[i - 1] / pivot[i - 1] * weight[index(i - 1)];
  }
  Real next = 0;
  for (int i = count - 1; i > 0; --i) {
    Real& arrived = weight[index(i)];
    arrived = (arrived + next) / pivot[i];
    next = backward[i] * arrived;
    if (i == count - 1) weight[sharpest] += forward[i] * arrived;
    arrived *= kept[index(i)];
  }
  weight[sharpest] += next;
}

/// Of points in a plane with weights that sum to one.
struct Moments {
  Real u = 0, v = 0;            // mean
  Real uu = 0, uv = 0, vv = 0;  // about it
};
Moments momentsOf(const Real* u, const Real* v, const Real* weight, int count) {
  Moments m;
  for (int i = 0; i < count; ++i) m.u += weight[i] * u[i], m.v += weight[i] * v[i];
  for (int i = 0; i < count; ++i) {
    const Real du = u[i] - m.u, dv = v[i] - m.v;
    m.uu += weight[i] * du * du, m.uv += weight[i] * du * dv, m.vv += weight[i] * dv * dv;
  }
  return m;
}

}  // namespace

void cornerWeights(const Real* u, const Real* v, int count, Real* weight, Real* area) {
  Real perimeter = 0, cu = 0, cv = 0;
  Real length[kernel::kMaxClippedVertices];
  for (int i = 0; i < count; ++i) {
    const int j = i + 1 < count ? i + 1 : 0;
    length[i] = std::sqrt((u[j] - u[i]) * (u[j] - u[i]) + (v[j] - v[i]) * (v[j] - v[i]));
    perimeter += length[i];
    cu += length[i] * (u[i] + u[j]);
    cv += length[i] * (v[i] + v[j]);
  }
  *area = 0;
  for (int i = 0; i < count; ++i) weight[i] = 0;
  if (!(perimeter > 0)) return;
  cu /= 2 * perimeter;
  cv /= 2 * perimeter;
  for (int i = 0; i < count; ++i) {
    const int j = i + 1 < count ? i + 1 : 0;
    const Real a = Real(0.5) * std::fabs((u[i] - cu) * (v[j] - cv) - (u[j] - cu) * (v[i] - cv));
    *area += a;
    weight[i] += a;
    weight[j] += a;
  }
  if (!(*area > 0)) return;
  for (int i = 0; i < count; ++i) {
    const Real sides = length[i] + length[i > 0 ? i - 1 : count - 1];
    weight[i] = (weight[i] / *area + sides / (2 * perimeter)) / 3;
  }
}

void straightenEdges(const Real* u, const Real* v, int count, Real* weight) {
  Real kept[kernel::kMaxClippedVertices];
  int sharpest = 0;
  bool isAny = false;
  for (int i = 0; i < count; ++i) {
    kept[i] = keptAtCorner(u, v, i > 0 ? i - 1 : count - 1, i, i + 1 < count ? i + 1 : 0);
    if (kept[i] > kept[sharpest]) sharpest = i;
    isAny = isAny || kept[i] < 1;
  }
  if (!isAny || kept[sharpest] < 1) return;
  const Moments before = momentsOf(u, v, weight, count);
  passOnWeights(u, v, count, kept, sharpest, weight);
  // A corner beside the line of its neighbours has moved the mean: weights that grow evenly along
  // one direction bring it back.
  const Moments m = momentsOf(u, v, weight, count);
  const Real determinant = m.uu * m.vv - m.uv * m.uv;
  constexpr Real kFlat = 1e-12;
  if (!(determinant > kFlat * (m.uu + m.vv) * (m.uu + m.vv))) return;
  const Real du = before.u - m.u, dv = before.v - m.v;
  const Real growthU = (m.vv * du - m.uv * dv) / determinant,
             growthV = (m.uu * dv - m.uv * du) / determinant;
  for (int i = 0; i < count; ++i) weight[i] *= 1 + growthU * (u[i] - m.u) + growthV * (v[i] - m.v);
}

Real countCorners(const Real* u, const Real* v, int count, Real* part) {
  const auto squaredDistance = [&](int i, int k) {
    return (u[i] - u[k]) * (u[i] - u[k]) + (v[i] - v[k]) * (v[i] - v[k]);
  };
  // The next corner that is elsewhere, in steps of one or, backwards, of count - 1.
  const auto beyond = [&](int i, int step) {
    int k = (i + step) % count;
    while (k != i && !(squaredDistance(i, k) > 0)) k = (k + step) % count;
    return k;
  };
  Real turn[kernel::kMaxClippedVertices], perimeter = 0;
  for (int i = 0; i < count; ++i) {
    const int before = beyond(i, count - 1), after = beyond(i, 1);
    const Real u0 = u[i] - u[before], v0 = v[i] - v[before];
    const Real u1 = u[after] - u[i], v1 = v[after] - v[i];
    turn[i] = std::fabs(core::atan2(u0 * v1 - v0 * u1, u0 * u1 + v0 * v1));
    perimeter += std::sqrt(squaredDistance(i, i + 1 < count ? i + 1 : 0));
  }
  const Real reach = Real(0.02) * perimeter;
  Real sum = 0;
  for (int i = 0; i < count; ++i) {
    Real near = 0;
    for (int k = 0; k < count; ++k) {
      const Real square = squaredDistance(i, k);
      if (square < reach * reach) near += turn[k] * (1 - fade(std::sqrt(square), 0, reach));
    }
    part[i] = near > 0 ? turn[i] / near * fade(near, Real(0.001), Real(0.1)) : 0;
    sum += part[i];
  }
  return sum;
}

}  // namespace tangere::integrator
