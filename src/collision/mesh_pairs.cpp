// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_pairs.hpp"

#include "collision/kernels/triangle_box.hpp"
#include "collision/mesh_body.hpp"
#include "collision/mesh_distance.hpp"
#include "collision/mesh_mesh.hpp"
#include "collision/mesh_penetration.hpp"
#include "collision/mesh_surface.hpp"
#include "collision/mesh_traversal.hpp"

#include <cmath>
#include <limits>

namespace tangere::collision {

namespace {

using geometry::MeshData;
using geometry::MeshPoint;

// ---- What all convex bodies share -------------------------------------------------------------

/// Far apart by bounding balls and boxes: the cheapest answer, and the most frequent one. Gives the
/// body's centre in the frame of the mesh when it is not.
bool isFar(const MeshData& mesh, const ConvexView<Real>& view, const Transform& X_WB,
           const Transform& X_WM, Vec3* center) {
  const Vec3 meshCenter = X_WM * mesh.center;
  const Vec3 bodyCenter = view.core == CoreType::Point ? X_WB.translation : X_WB * view.center;
  if (view.core == CoreType::Box && view.radius == 0) {
    // The corners of a box reach far beyond its faces: the mesh's ball against the box itself.
    const Vec3 c = inverseTimes(X_WB, meshCenter);
    const Real dx = larger(std::fabs(c.x) - view.size.x, Real(0));
    const Real dy = larger(std::fabs(c.y) - view.size.y, Real(0));
    const Real dz = larger(std::fabs(c.z) - view.size.z, Real(0));
    const Real reach = mesh.radius * (1 + Real(1e-12));
    if (dx * dx + dy * dy + dz * dz > reach * reach) return true;
  } else {
    const Real reach = (mesh.radius + view.boundingRadius) * (1 + Real(1e-12));
    if (squaredNorm(bodyCenter - meshCenter) > reach * reach) return true;
  }
  const Vec3 c = inverseTimes(X_WM, bodyCenter);
  *center = c;
  const Vec3 &lower = mesh.bounds.lower, &upper = mesh.bounds.upper;
  const Real dx = larger(larger(lower.x - c.x, c.x - upper.x), Real(0));
  const Real dy = larger(larger(lower.y - c.y, c.y - upper.y), Real(0));
  const Real dz = larger(larger(lower.z - c.z, c.z - upper.z), Real(0));
  const Real reach = view.boundingRadius * (1 + Real(1e-12));
  return dx * dx + dy * dy + dz * dz > reach * reach;
}

bool isBox(const ConvexView<Real>& view) { return view.core == CoreType::Box && view.radius == 0; }

Vec3 supportOf(const ConvexView<Real>& view, const Vec3& direction) {
  int index;
  const Vec3 p = kernel::supportCore(view, direction, &index);
  return view.radius > 0 ? p + direction * view.radius : p;
}

/// A body with no triangle on its surface is inside when one of its points is.
bool containsCenter(const MeshData& mesh, const Vec3& center_M) {
  if (!mesh.closed || !mesh.bounds.contains(center_M)) return false;
  return geometry::isInside(mesh, center_M, geometry::closestOnMesh(mesh, center_M));
}

/// The way out for a body wholly inside: along the outward normal nearest to its centre.
SurfaceContact contactInside(const MeshData& mesh, const ConvexView<Real>& view,
                             const Transform& X_MC) {
  const Vec3 center = X_MC * view.center;
  const SignedDistance way = geometry::signedDistanceToMesh(mesh, center);
  const Vec3 n_C = transposeTimes(X_MC.rotation, way.normal);
  const Vec3 deepest = X_MC * supportOf(view, -n_C);
  SurfaceContact contact;
  contact.normal = way.normal;
  contact.depth = std::fmax(dot(way.normal, way.closest - deepest), Real(0));
  contact.position = deepest + way.normal * (Real(0.5) * contact.depth);
  contact.triangle = geometry::closestOnMesh(mesh, center).triangle;
  return contact;
}

bool isBall(const ConvexView<Real>& view) { return view.core == CoreType::Point; }

/// Whether a box meets the mesh, or is inside it. `center_M` is the box's.
bool overlapBoxMesh(const MeshData& mesh, const Vec3& halfSize, const Transform& X_MC,
                    const Vec3& center_M) {
  const Vec3* const corners = mesh.corners.data();
  const Transform X_CM = inverse(X_MC);
  const BoxCuller culler(mesh.bvh, {-halfSize, halfSize}, X_MC);
  const bool touched = findAmongLeaves(mesh.bvh, culler, [&](int slot, int count) {
    for (const Vec3* v = corners + 3 * slot; v < corners + 3 * (slot + count); v += 3)
      if (kernel::overlapTriangleBox(X_CM * v[0], X_CM * v[1], X_CM * v[2], halfSize)) return true;
    return false;
  });
  return touched || containsCenter(mesh, center_M);
}

/// Whether they meet, told by triangles and the body's centre in the frame of the mesh.
bool overlapNear(const MeshData& mesh, const ConvexView<Real>& view, const Transform& X_MC,
                 const Vec3& center) {
  const Vec3* const corners = mesh.corners.data();
  bool touched = false;
  if (isBall(view)) {
    const Real r2 = view.radius * view.radius;
    touched = findAmongLeaves(
        mesh.bvh, BallCuller(mesh.bvh, center, view.radius), [&](int slot, int count) {
          for (const Vec3* v = corners + 3 * slot; v < corners + 3 * (slot + count); v += 3)
            if (squaredNorm(center - kernel::closestOnTriangle(center, v[0], v[1], v[2]).point) <=
                r2)
              return true;
          return false;
        });
  } else {
    if (isBox(view)) return overlapBoxMesh(mesh, view.size, X_MC, center);
    const Transform X_CM = inverse(X_MC);
    kernel::ConvexHint<Real> hint;
    touched =
        findAmongLeaves(mesh.bvh, BoxCuller(mesh.bvh, boxOf(view), X_MC), [&](int slot, int count) {
          for (const Vec3* v = corners + 3 * slot; v < corners + 3 * (slot + count); v += 3) {
            const ConvexView<Real> triangle = triangleView(v);
            if (kernel::convexOverlap(view, triangle, X_CM, &hint)) return true;
          }
          return false;
        });
  }
  return touched || containsCenter(mesh, center);
}

/// Whether a body that has moved by `move` is apart. Most triangles near are behind the plane along
/// which it has gone, which is soon told.
bool isApartAfter(const MeshData& mesh, const ConvexView<Real>& view, const Transform& X_MC,
                  const Vec3& move) {
  const Transform moved{X_MC.rotation, X_MC.translation + move};
  const Vec3 center = moved * view.center;
  const Vec3* const corners = mesh.corners.data();
  const Vec3 way = move / norm(move);
  const Real lowest = dot(way, moved * supportOf(view, transposeTimes(X_MC.rotation, -way)));
  const Transform X_CM = inverse(moved);
  kernel::ConvexHint<Real> hint;
  const auto touches = [&](const Vec3* v) {
    if (larger(dot(way, v[0]), larger(dot(way, v[1]), dot(way, v[2]))) < lowest) return false;
    if (isBox(view))
      return kernel::overlapTriangleBox(X_CM * v[0], X_CM * v[1], X_CM * v[2], view.size);
    const ConvexView<Real> triangle = triangleView(v);
    return kernel::convexOverlap(view, triangle, X_CM, &hint);
  };
  const bool touched =
      findAmongLeaves(mesh.bvh, BoxCuller(mesh.bvh, boxOf(view), moved), [&](int slot, int count) {
        for (const Vec3* v = corners + 3 * slot; v < corners + 3 * (slot + count); v += 3)
          if (touches(v)) return true;
        return false;
      });
  return !touched && !containsCenter(mesh, center);
}

/// All contacts, in the frame of the mesh. Returns whether they touch.
bool gatherContacts(const MeshData& mesh, const ConvexView<Real>& view, const Transform& X_MC,
                    std::vector<SurfaceContact>& out) {
  const MeshSurface surface{mesh};
  const std::vector<Vec3>& corners = mesh.corners;
  const auto feed = [&](auto& body) {
    return [&](int slot, int count) {
      for (int s = slot; s < slot + count; ++s)
        body.addTriangle(mesh.bvh.order[s], corners[3 * s], corners[3 * s + 1], corners[3 * s + 2]);
    };
  };
  bool touched = false;
  if (isBall(view)) {
    const Vec3 center = X_MC * view.center;
    BallOnSurface body(surface, center, view.radius, out);
    visitLeaves(mesh.bvh, LocalBallCuller(mesh, center, view.radius), feed(body));
    touched = body.finish();
  } else {
    BodyOnSurface body(surface, view, X_MC, out);
    visitLeaves(mesh.bvh, BoxCuller(mesh.bvh, boxOf(view), X_MC), feed(body));
    touched = body.finish(
        [&](const Vec3& move) { return isApartAfter(mesh, view, X_MC, move); },
        [&](const Vec3& move) {
          return distanceOfApart(mesh, view, {X_MC.rotation, X_MC.translation + move}, move);
        });
  }
  if (touched) return true;
  if (!containsCenter(mesh, X_MC * view.center)) return false;
  out.push_back(contactInside(mesh, view, X_MC));
  return true;
}

SurfaceFrame frameOf(const MeshData& mesh, const ConvexView<Real>& view, const Transform& X_WM) {
  return {X_WM, false, std::fmin(mesh.radius, view.boundingRadius)};
}

// ---- The table's functions --------------------------------------------------------------------

int collideConvexMesh(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  const ConvexView<Real>& view = in.shape1.convex;
  const MeshData& mesh = *in.shape2.mesh;
  Vec3 center;  // of the body, in the frame of the mesh
  if (isFar(mesh, view, in.X_W1, in.X_W2, &center)) return 0;
  const Transform X_MC = inverseTimes(in.X_W2, in.X_W1);
  // Of all that are near, most do not touch, and for a box that is soon told: the first triangle
  // settles the others, where looking for contacts has to clip each that is near.
  if (isBox(view) && !overlapBoxMesh(mesh, view.size, X_MC, center)) return 0;
  std::vector<SurfaceContact>& contacts = contactScratch();
  if (!gatherContacts(mesh, view, X_MC, contacts)) return 0;
  return addManifolds(contacts, frameOf(mesh, view, in.X_W2), option, result);
}

bool overlapConvexMesh(const PairInput& in) {
  const ConvexView<Real>& view = in.shape1.convex;
  const MeshData& mesh = *in.shape2.mesh;
  Vec3 center;  // of the body, in the frame of the mesh
  if (isFar(mesh, view, in.X_W1, in.X_W2, &center)) return false;
  return overlapNear(mesh, view, inverseTimes(in.X_W2, in.X_W1), center);
}

void distanceConvexMesh(const PairInput& in, const DistanceOption& option, DistanceResult& out);

/// How deep bodies that overlap do. False where contacts know nothing of it.
bool writePenetrationOf(const PairInput& in, const Transform& X_MC, const DistanceOption& option,
                        DistanceResult& out) {
  const ConvexView<Real>& view = in.shape1.convex;
  const MeshData& mesh = *in.shape2.mesh;
  std::vector<SurfaceContact>& contacts = contactScratch();
  if (!gatherContacts(mesh, view, X_MC, contacts)) return false;
  const Transform own;
  const auto moved = [&](const Vec3& by) {
    return Transform{X_MC.rotation, X_MC.translation + by};
  };
  const auto separates = [&](const Vec3& by) {
    const Transform X = moved(by);
    return !overlapConvexMesh({in.shape1, X, in.shape2, own, nullptr});
  };
  const auto distanceAfter = [&](const Vec3& by) {
    const Transform X = moved(by);
    DistanceOption unsignedOption;
    unsignedOption.enableSigned = false;
    DistanceResult apart;
    distanceConvexMesh({in.shape1, X, in.shape2, own, nullptr}, unsignedOption, apart);
    return apart;
  };
  writePenetration(contacts, frameOf(mesh, view, own), option, separates, out);
  // The nearest way out of a ball is the shortest, but something else may be in it.
  const bool isDone = !option.enableSigned ||
                      (isBall(view) && separates(out.normal * (-out.distance * (1 + Real(1e-9)))));
  if (!isDone) {
    const Vec3 fromContact = X_MC * view.center - (out.point1 + out.point2) * Real(0.5);
    refinePenetration(waysOf(contacts, own.rotation, fromContact, out), distanceAfter, out);
  }
  moveToWorld(in.X_W2, out);
  return true;
}

void distanceConvexMesh(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
  const ConvexView<Real>& view = in.shape1.convex;
  const MeshData& mesh = *in.shape2.mesh;
  const Transform X_MC = inverseTimes(in.X_W2, in.X_W1);
  const Vec3 center = X_MC * view.center;
  NearestTriangle nearest;
  if (isBall(view)) {
    // What is inside overlaps, however far the surface is.
    const bool mayBeInside = mesh.closed && mesh.bounds.contains(center);
    const Real reach = mayBeInside ? std::numeric_limits<Real>::infinity()
                                   : std::fmax(option.upperBound, Real(0)) + view.radius;
    const MeshPoint point = geometry::closestOnMesh(mesh, center, reach);
    const Real d = std::sqrt(point.squaredDistance);
    if (point.triangle >= 0 && d > view.radius && !geometry::isInside(mesh, center, point)) {
      nearest.found = d - view.radius <= option.upperBound || !mayBeInside;
      nearest.triangle = point.triangle;
      nearest.normal = (center - point.point) / d;
      nearest.distance = d - view.radius;
      nearest.onSurface = point.point;
    } else {
      nearest.touching = point.triangle >= 0;
    }
  } else {
    nearest = nearestTriangle(mesh, view, X_MC, option.upperBound);
    if (!nearest.touching && containsCenter(mesh, center)) nearest.touching = true;
  }
  if (nearest.touching) {
    if (writePenetrationOf(in, X_MC, option, out)) return;
    // GJK and the closed forms may disagree by a rounding about touching.
    nearest = nearestTriangle(mesh, view, X_MC, std::numeric_limits<Real>::infinity());
    nearest.found = true;
    nearest.distance = std::fmax(nearest.distance, Real(0));
  }
  if (nearest.found) {
    out.distance = nearest.distance;
    out.normal = in.X_W2.rotation * nearest.normal;
    out.point2 = in.X_W2 * nearest.onSurface;
    out.point1 = out.point2 + out.normal * out.distance;
    out.feature2 = nearest.triangle;
    return;
  }
  // Nothing within the bound: a lower bound just above it.
  writeBeyond(in.X_W1 * view.center, in.X_W2 * mesh.center, option.upperBound, out);
}

// ---- Plane ------------------------------------------------------------------------------------

/// Boxes of the tree that reach below a plane.
class PlaneCuller {
 public:
  PlaneCuller(const Bvh& bvh, const Vec3& normal, Real offset) {
    const Real o = (offset - dot(normal, bvh.center)) * bvh.inverseScale;
    for (int k = 0; k < 3; ++k) n_[k] = splat(float(normal[k]));
    offset_ = splat(float(std::fmin(std::fmax(o, Real(-1e6)), Real(1e6))) +
                    Bvh::kUnitSlack * (4 + std::fabs(float(std::fmin(std::fabs(o), Real(1e6))))));
  }
  int test(const BvhNode& node, Float4& key) const {
    key = min4(node.lower[0] * n_[0], node.upper[0] * n_[0]) +
          min4(node.lower[1] * n_[1], node.upper[1] * n_[1]) +
          min4(node.lower[2] * n_[2], node.upper[2] * n_[2]);
    return maskOf(key <= offset_);
  }

 private:
  Float4 n_[3], offset_;
};

/// The plane's normal and offset in the frame of the mesh: inside is normal . x <= offset.
struct PlaneInMesh {
  Vec3 normal;
  Real offset;
  PlaneInMesh(const PairInput& in) {
    const Transform X_MP = inverseTimes(in.X_W2, in.X_W1);
    normal = X_MP.rotation.col[2];
    offset = dot(normal, X_MP.translation);
  }
};

int collidePlaneMesh(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  const MeshData& mesh = *in.shape2.mesh;
  const PlaneInMesh plane(in);
  if (dot(plane.normal, mesh.center) - mesh.radius > plane.offset) return 0;
  std::vector<SurfaceContact>& contacts = contactScratch();
  visitLeaves(mesh.bvh, PlaneCuller(mesh.bvh, plane.normal, plane.offset),
              [&](int slot, int count) {
                for (int i = 3 * slot; i < 3 * (slot + count); ++i) {
                  const Vec3& p = mesh.corners[i];
                  const Real depth = plane.offset - dot(plane.normal, p);
                  if (depth < 0) continue;
                  // The normal goes from the mesh into the plane's solid.
                  contacts.push_back({p + plane.normal * (Real(0.5) * depth), -plane.normal, depth,
                                      mesh.bvh.order[i / 3], kernel::faceFeature(0)});
                }
              });
  return addManifolds(contacts, {in.X_W2, false, mesh.radius}, option, result);
}

bool overlapPlaneMesh(const PairInput& in) {
  const MeshData& mesh = *in.shape2.mesh;
  const PlaneInMesh plane(in);
  if (dot(plane.normal, mesh.center) - mesh.radius > plane.offset) return false;
  return dot(plane.normal, geometry::supportOfMesh(mesh, -plane.normal)) <= plane.offset;
}

void distancePlaneMesh(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
  const MeshData& mesh = *in.shape2.mesh;
  const PlaneInMesh plane(in);
  const Vec3 lowest = geometry::supportOfMesh(mesh, -plane.normal);
  out.distance = dot(plane.normal, lowest) - plane.offset;
  out.normal = -in.X_W1.rotation.col[2];
  out.point2 = in.X_W2 * lowest;
  out.point1 = out.point2 + out.normal * out.distance;
  if (out.distance < 0 && !option.enableSigned) {
    out.distance = 0;
    out.point1 = out.point2;
  }
}

}  // namespace

PairFunctions meshPairFunctions(ShapeType type1, ShapeType type2) {
  if (type2 != ShapeType::Mesh) return {};
  if (type1 == ShapeType::Mesh) return meshMeshFunctions();
  if (type1 == ShapeType::Plane) return {collidePlaneMesh, overlapPlaneMesh, distancePlaneMesh};
  return {collideConvexMesh, overlapConvexMesh, distanceConvexMesh};
}

}  // namespace tangere::collision
