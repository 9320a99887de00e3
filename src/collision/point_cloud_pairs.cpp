// SPDX-License-Identifier: Apache-2.0
#include "collision/point_cloud_pairs.hpp"

#include "collision/kernels/convex_distance.hpp"
#include "collision/mesh_distance.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_penetration.hpp"
#include "collision/mesh_traversal.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/point_cloud_data.hpp"
#include "geometry/signed_distance.hpp"

#include <cmath>
#include <limits>

namespace tangere::collision {

namespace {

using geometry::PointCloudData;

/// Signed distance of a bare point to the other shape, the point given in the frame of that shape.
struct PointGap {
  Real distance = 0;
  Vec3 normal{};      ///< outward from the shape, its frame
  bool known = true;  ///< false: beyond the bound that was asked for
  std::int32_t feature = -1;
};

// ---- The shapes a ball may meet ---------------------------------------------------------------

struct ConvexTarget {
  const kernel::ConvexView<Real>& view;

  [[nodiscard]] PointGap gap(const Vec3& p, Real bound) const {
    kernel::ConvexView<Real> point;
    const Transform X{Mat3::identity(), p};
    const kernel::ConvexContact<Real> contact =
        kernel::convexDistance(view, point, X, bound, /*enableSigned=*/true);
    // The contact's normal points from the point to the shape.
    return {contact.distance, -contact.normal, contact.distance <= bound, -1};
  }
  /// Box around all points that may be within `reach`.
  [[nodiscard]] Aabb box(Real reach) const {
    Aabb b = boxOf(view);
    b.expand(reach);
    return b;
  }
};

struct PlaneTarget {
  [[nodiscard]] PointGap gap(const Vec3& p, Real) const { return {p.z, {0, 0, 1}, true, 0}; }
};

struct MeshTarget {
  const geometry::MeshData& mesh;

  [[nodiscard]] PointGap gap(const Vec3& p, Real bound) const {
    const geometry::MeshPoint closest = geometry::closestOnMesh(
        mesh, p, mesh.closed ? std::numeric_limits<Real>::infinity() : bound);
    if (closest.triangle < 0) return {bound, {}, false, -1};
    const Real d = std::sqrt(closest.squaredDistance);
    const bool inside = geometry::isInside(mesh, p, closest);
    PointGap out{inside ? -d : d, {}, true, closest.triangle};
    Vec3 normal = inside ? closest.point - p : p - closest.point;
    if (!(d > Real(1e-12) * mesh.radius))
      normal = geometry::pseudonormal(mesh, closest.triangle, closest.feature);
    const Real l = norm(normal);
    out.normal = l > 0 ? normal / l : mesh.normals[closest.triangle];
    return out;
  }
  [[nodiscard]] Aabb box(Real reach) const {
    Aabb b = mesh.bounds;
    b.expand(reach);
    return b;
  }
};

struct FieldTarget {
  const geometry::HeightFieldData& field;

  [[nodiscard]] PointGap gap(const Vec3& p, Real bound) const {
    if (!geometry::isInside(field, p)) {
      const geometry::TerrainPoint closest = geometry::closestOnTerrain(field, p, bound);
      if (closest.triangle < 0) return {bound, {}, false, -1};
    }
    const SignedDistance d = geometry::signedDistanceToTerrain(field, p);
    const geometry::TerrainPoint closest =
        geometry::closestOnTerrain(field, p, std::numeric_limits<Real>::infinity());
    return {d.distance, d.normal, true, closest.triangle};
  }
};

// ---- Walks over the cloud ---------------------------------------------------------------------

/// Calls visit(point index, gap, point in the target's frame) for every point whose ball overlaps;
/// stops when it returns true. X_TP is the pose of the cloud in the target's frame.
template <class Target, class Visit>
bool visitTouching(const PointCloudData& cloud, const Target& target, const Transform& X_TP,
                   const Visit& visit) {
  const Real r = cloud.pointRadius;
  const auto leaf = [&](int slot, int count) {
    for (int s = slot; s < slot + count; ++s) {
      const Vec3 p = X_TP * cloud.slots[s];
      const PointGap gap = target.gap(p, r);
      if (gap.known && gap.distance <= r && visit(cloud.bvh.order[s], gap, p)) return true;
    }
    return false;
  };
  if constexpr (requires { target.box(r); }) {
    return findAmongLeaves(cloud.bvh, BoxCuller(cloud.bvh, target.box(r), inverse(X_TP)), leaf);
  } else {
    return leaf(0, static_cast<int>(cloud.slots.size()));
  }
}

/// The nearest point: all are looked at, those that cannot be nearer only briefly.
template <class Target>
bool nearestToTarget(const PointCloudData& cloud, const Target& target, const Transform& X_TP,
                     Real upperBound, PointGap* best, int* index) {
  Real bound = upperBound + cloud.pointRadius;
  *index = -1;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    const Vec3 p = X_TP * cloud.points[i];
    if constexpr (requires { target.box(Real(0)); }) {
      // Nearer than the box around the target nothing can be.
      const Aabb box = target.box(0);
      const Real dx = std::fmax(std::fmax(box.lower.x - p.x, p.x - box.upper.x), Real(0));
      const Real dy = std::fmax(std::fmax(box.lower.y - p.y, p.y - box.upper.y), Real(0));
      const Real dz = std::fmax(std::fmax(box.lower.z - p.z, p.z - box.upper.z), Real(0));
      if (dx * dx + dy * dy + dz * dz > bound * bound && bound >= 0) continue;
    }
    const PointGap gap = target.gap(p, std::fmax(bound, Real(0)));
    if (!gap.known || !(gap.distance < bound || (*index < 0 && gap.distance <= bound))) continue;
    *best = gap;
    *index = static_cast<int>(i);
    bound = gap.distance;
  }
  return *index >= 0;
}

template <class Target>
int collide(const PairInput& in, const Target& target, Real size, const CollisionOption& option,
            CollisionResult& result) {
  const PointCloudData& cloud = *in.shape2.pointCloud;
  const Transform X_TP = inverseTimes(in.X_W1, in.X_W2);
  std::vector<SurfaceContact>& contacts = contactScratch();
  visitTouching(cloud, target, X_TP, [&](int i, const PointGap& gap, const Vec3& p) {
    const Real depth = cloud.pointRadius - gap.distance;
    // Half way between the ball's deepest point and the surface.
    const Vec3 position = p - gap.normal * (Real(0.5) * (gap.distance + cloud.pointRadius));
    contacts.push_back({position, gap.normal, depth, gap.feature, i});
    return false;
  });
  const Real scale = std::fmin(size, std::fmax(cloud.radius, cloud.pointRadius));
  return addManifolds(contacts, {in.X_W1, true, scale > 0 ? scale : size}, option, result);
}

template <class Target>
bool overlap(const PairInput& in, const Target& target) {
  return visitTouching(*in.shape2.pointCloud, target, inverseTimes(in.X_W1, in.X_W2),
                       [](int, const PointGap&, const Vec3&) { return true; });
}

template <class Target>
void distance(const PairInput& in, const Target& target, const DistanceOption& option,
              DistanceResult& out) {
  const PointCloudData& cloud = *in.shape2.pointCloud;
  PointGap gap;
  int index;
  if (!nearestToTarget(cloud, target, inverseTimes(in.X_W1, in.X_W2),
                       std::fmax(option.upperBound, Real(0)), &gap, &index)) {
    writeBeyond(in.X_W1.translation, in.X_W2 * cloud.center, option.upperBound, out);
    return;
  }
  const Vec3 n = in.X_W1.rotation * gap.normal;  // from the shape to the point
  const Vec3 p = in.X_W2 * cloud.points[index];
  out.normal = -n;
  out.distance = gap.distance - cloud.pointRadius;
  out.feature1 = gap.feature;
  out.feature2 = index;
  out.point2 = p - n * cloud.pointRadius;
  if (out.distance < 0 && !option.enableSigned) out.distance = 0;
  out.point1 = out.point2 + out.normal * out.distance;
}

// ---- The table's functions --------------------------------------------------------------------

template <class Make>
struct Functions {
  static int collidePair(const PairInput& in, const CollisionOption& option,
                         CollisionResult& result) {
    return collide(in, Make::target(in), Make::size(in), option, result);
  }
  static bool overlapPair(const PairInput& in) { return overlap(in, Make::target(in)); }
  static void distancePair(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
    distance(in, Make::target(in), option, out);
    if (option.enableSigned) partWhole(in, all(), out);
  }
  static PairFunctions all() { return {collidePair, overlapPair, distancePair}; }
};

struct MakeConvex {
  static ConvexTarget target(const PairInput& in) { return {in.shape1.convex}; }
  static Real size(const PairInput& in) { return in.shape1.convex.boundingRadius; }
};
struct MakePlane {
  static PlaneTarget target(const PairInput&) { return {}; }
  static Real size(const PairInput& in) { return in.shape2.pointCloud->radius; }
};
struct MakeMesh {
  static MeshTarget target(const PairInput& in) { return {*in.shape1.mesh}; }
  static Real size(const PairInput& in) { return in.shape1.mesh->radius; }
};
struct MakeField {
  static FieldTarget target(const PairInput& in) { return {*in.shape1.heightField}; }
  static Real size(const PairInput& in) { return in.shape1.heightField->sizeX; }
};

}  // namespace

PairFunctions pointCloudPairFunctions(ShapeType type1, ShapeType type2) {
  if (type2 != ShapeType::PointCloud) return {};
  switch (type1) {
    case ShapeType::Plane:
      return Functions<MakePlane>::all();
    case ShapeType::Mesh:
      return Functions<MakeMesh>::all();
    case ShapeType::HeightField:
      return Functions<MakeField>::all();
    case ShapeType::PointCloud:
    case ShapeType::Compound:
      return {};
    default:
      return Functions<MakeConvex>::all();
  }
}

}  // namespace tangere::collision
