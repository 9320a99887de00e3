// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_touching.hpp"

#include "collision/kernels/patch_selection.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::collision {

namespace {

/// Of the size: what rounding makes of a plane.
constexpr Real kFlat = 1e-12;
/// Faces that touch cross in no more triangles than these have.
constexpr std::size_t kMostCrossings = 256;

/// Whether all lines lie in the plane through the first.
bool areLevel(std::span<const Crossing> crossings, const Vec3& n, Real tolerance) {
  const Real height = dot(n, crossings[0].p);
  return std::all_of(crossings.begin(), crossings.end(), [&](const Crossing& c) {
    return std::fabs(dot(n, c.p) - height) <= tolerance &&
           std::fabs(dot(n, c.q) - height) <= tolerance;
  });
}

/// How far body 1 reaches beyond where body 2 begins along `n`, outward from body 1.
Real overlapAlong(const MeshBodyPair& pair, const Transform& X_12, const Vec3& n) {
  const Vec3 far1 = geometry::supportOfMesh(pair.body1.mesh, n);
  const Vec3 near2 = geometry::supportOfMesh(pair.body2.mesh, -transposeTimes(X_12.rotation, n));
  return dot(n, far1 - X_12 * near2);
}

void addPoints(std::span<const Crossing> crossings, const Vec3& n, Real depth, Real size,
               std::vector<SurfaceContact>& out) {
  thread_local std::vector<Real> x, y, z, depths, scratch;
  for (std::vector<Real>* list : {&x, &y, &z}) list->clear();
  for (const Crossing& c : crossings)
    for (const Vec3& p : {c.p, c.q}) {
      x.push_back(p.x);
      y.push_back(p.y);
      z.push_back(p.z);
    }
  depths.assign(x.size(), depth);
  scratch.resize(x.size());
  int chosen[kernel::kMaxPatchPoints];
  const int count =
      kernel::selectPatchPoints(x.data(), y.data(), z.data(), depths.data(),
                                static_cast<int>(x.size()), size, scratch.data(), chosen);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(chosen[i]);
    const Crossing& c = crossings[at / 2];
    out.push_back({{x[at], y[at], z[at]}, n, depth, c.triangleA, c.triangleB});
  }
}

}  // namespace

bool addTouchingContacts(const MeshBodyPair& pair, const Transform& X_12,
                         std::span<const Crossing> crossings, std::vector<SurfaceContact>& out) {
  if (crossings.size() > kMostCrossings || !pair.body1.isSolid() || !pair.body2.isSolid())
    return false;
  const Real size = std::fmax(pair.body1.mesh.radius, pair.body2.mesh.radius);
  const Real tolerance = kFlat * size;
  Vec3 failed[2]{};  // a face has many triangles
  const auto parts = [&](const Vec3& n, int side) {
    if (n == failed[side] || !areLevel(crossings, n, tolerance)) return false;
    failed[side] = n;
    const Real overlap = overlapAlong(pair, X_12, n);
    if (!(overlap <= tolerance)) return false;
    addPoints(crossings, n, std::fmax(overlap, Real(0)), size, out);
    return true;
  };
  for (const Crossing& c : crossings) {
    if (parts(pair.body1.mesh.normals[c.triangleA], 0) ||
        parts(-(X_12.rotation * pair.body2.mesh.normals[c.triangleB]), 1)) {
      return true;
    }
  }
  return false;
}

}  // namespace tangere::collision
