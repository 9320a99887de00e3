// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_intersection.hpp"

#include "geometry/linear_bvh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tangere::geometry {

namespace {

constexpr std::size_t kMostTriangles = 2'000'000;
/// Of the mesh's size: nearer to a triangle an edge only touches it.
constexpr Real kTouching = 1e-9;

struct Corners {
  std::array<Vec3, 3> p;
};

Corners cornersOf(const TriangleMesh& mesh, std::int32_t t) {
  const auto at = [&](std::size_t k) {
    return mesh.vertices[static_cast<std::size_t>(mesh.triangles[static_cast<std::size_t>(t)][k])];
  };
  return {{at(0), at(1), at(2)}};
}

bool shareCorner(const Corners& a, const Corners& b) {
  return std::any_of(a.p.begin(), a.p.end(), [&](const Vec3& p) {
    return std::find(b.p.begin(), b.p.end(), p) != b.p.end();
  });
}

/// Where the segment passes through the inside of the triangle.
std::optional<Vec3> passing(const Vec3& from, const Vec3& to, const Corners& triangle,
                            Real tolerance) {
  const auto& [a, b, c] = triangle.p;
  const Vec3 area = cross(b - a, c - a);
  const Real size = norm(area);
  if (!(size > 0)) return std::nullopt;
  const Vec3 normal = area / size;
  const Real height0 = dot(normal, from - a), height1 = dot(normal, to - a);
  const bool isAcross = (height0 > tolerance && height1 < -tolerance) ||
                        (height0 < -tolerance && height1 > tolerance);
  if (!isAcross) return std::nullopt;
  const Vec3 point = from + (to - from) * (height0 / (height0 - height1));
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 side = triangle.p[(k + 1) % 3] - triangle.p[k];
    const Real length = norm(side);
    // The way from the side to the point, inward.
    if (!(dot(cross(normal, side), point - triangle.p[k]) > tolerance * length))
      return std::nullopt;
  }
  return point;
}

}  // namespace

std::optional<MeshEdge> findIntersection(const TriangleMesh& mesh) {
  const std::size_t count = mesh.triangles.size();
  if (count < 2 || count > kMostTriangles) return std::nullopt;
  std::vector<Aabb> boxes(count);
  Aabb all;
  for (std::size_t t = 0; t < count; ++t) {
    const Corners corners = cornersOf(mesh, static_cast<std::int32_t>(t));
    boxes[t] = {corners.p[0], corners.p[0]};
    for (const Vec3& p : corners.p) boxes[t].merge(p);
    if (t == 0) all = boxes[t];
    all.merge(boxes[t]);
  }
  const Vec3 half = all.halfExtents();
  const Real tolerance = kTouching * std::max({half.x, half.y, half.z});

  std::optional<MeshEdge> found;
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  IndexPair first{kNone, kNone};
  const auto look = [&](std::int32_t t, std::int32_t other) {
    const Corners corners = cornersOf(mesh, t), others = cornersOf(mesh, other);
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 &from = corners.p[k], &to = corners.p[(k + 1) % 3];
      const std::optional<Vec3> at = passing(from, to, others, tolerance);
      if (!at) continue;
      const Triangle& indices = mesh.triangles[static_cast<std::size_t>(t)];
      found = MeshEdge{std::min(indices[k], indices[(k + 1) % 3]),
                       std::max(indices[k], indices[(k + 1) % 3]), other, *at};
      return true;
    }
    return false;
  };
  LinearBvh tree;
  tree.build(boxes);
  std::vector<IndexPair> none;
  tree.selfPairs(
      [&](std::int32_t i, std::int32_t j) {
        if (i > first.first || (i == first.first && j >= first.second)) return false;
        if (shareCorner(cornersOf(mesh, i), cornersOf(mesh, j))) return false;
        if (look(i, j) || look(j, i)) first = {i, j};
        return false;
      },
      &none);
  return found;
}

}  // namespace tangere::geometry
