// SPDX-License-Identifier: Apache-2.0
//
// Closed meshes and terrains whose solid is convex, as the hulls that they are.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"

#include <cmath>
#include <vector>

namespace tangere::geometry {

namespace {

// How far out of their hull triangles may be, as a share of the size: hulls are flat to as much.
constexpr Real kDent = 1e-9;

bool isAbove(const Vec3& p, const Vec3& normal, const Vec3& onPlane, Real slack) {
  return dot(normal, p - onPlane) > slack;
}

// No edge is a valley. A surface of several pieces, or one that winds around twice, may pass.
bool bendsOutward(const MeshData& mesh) {
  for (int t = 0; t < mesh.numTriangles(); ++t)
    for (int k = 0; k < 3; ++k) {
      const int half = mesh.opposite[static_cast<std::size_t>(3 * t + k)];
      if (half < 0) return false;
      const Vec3& apex = mesh.corner(half / 3, (half % 3 + 2) % 3);
      const Vec3& normal = mesh.normals[static_cast<std::size_t>(t)];
      if (isAbove(apex, normal, mesh.corner(t, 0), kDent * mesh.radius)) return false;
    }
  return true;
}

bool bendsOutward(const HeightFieldData& field) {
  const Real slack = kDent * norm(field.bounds.halfExtents());
  for (int t = 0; t < field.numSurfaceTriangles(); ++t) {
    const Vec3 normal = field.normal(t), onPlane = field.corner(t, 0);
    for (int k = 0; k < 3; ++k) {
      const int next = field.across(t, k);
      for (int c = 0; next >= 0 && c < 3; ++c)
        if (isAbove(field.corner(next, c), normal, onPlane, slack)) return false;
    }
  }
  return true;
}

std::unique_ptr<const Convex> makeConvex(const MeshData& mesh) {
  if (!mesh.hasPseudonormals || !bendsOutward(mesh)) return nullptr;
  std::vector<char> isUsed(mesh.vertices.size(), 0);
  for (const Triangle& triangle : mesh.triangles)
    for (const int v : triangle) isUsed[static_cast<std::size_t>(v)] = 1;
  std::vector<Vec3> points;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (isUsed[v] != 0) points.push_back(mesh.vertices[v]);
  try {
    auto hull = std::make_unique<const Convex>(points);
    const Real missing = hull->massProperties(1).mass - mesh.integrals().volume;
    const Real slack = kDent * mesh.radius * mesh.radius * mesh.radius;
    return std::fabs(missing) <= slack ? std::move(hull) : nullptr;
  } catch (const InvalidInput&) {
    return nullptr;  // as thin as rounding: no solid
  }
}

}  // namespace

const Convex* MeshData::asConvex() const {
  std::call_once(convex_once_, [this] { convex_ = makeConvex(*this); });
  return convex_.get();
}

const Convex* HeightFieldData::asConvex() const {
  std::call_once(convex_once_, [this] {
    if (bendsOutward(*this)) convex_ = solidMesh().asConvex();
  });
  return convex_;
}

}  // namespace tangere::geometry
