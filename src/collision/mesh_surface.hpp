// SPDX-License-Identifier: Apache-2.0
//
// A surface of triangles as contacts see it, and a ball on it. Other bodies: mesh_body.hpp.
//
// A triangle pushes along its own normal, as deep as the body reaches below it. Another direction
// (a corner of the surface in a face of the body, an edge across an edge) counts only where it is
// one of the surface as a whole: the neighbours of the touched triangle may not reach farther along
// it. Otherwise the touched edge is an inner one, and a body that slides over a flat floor would
// stumble over the seams of its triangles.
//
// Surface is a view (MeshSurface below; terrains have their own) with corner(t, k), normal(t),
// acrossVertex(t, k, &v) (the far vertex of the triangle across edge k), acrossNormal(t, k, &n),
// visitRing(t, k, visit(v)) (the vertices joined to vertex k by an edge), hasSharpEdge(t),
// isSolid(), outward(t, feature).
#pragma once

#include "collision/mesh_manifolds.hpp"
#include "geometry/kernels/convex_view.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/signed_distance.hpp"

#include <cmath>
#include <vector>

namespace tangere::collision {

using kernel::ConvexView;
using kernel::CoreType;
using kernel::TriangleFeature;

struct MeshSurface {
  const geometry::MeshData& mesh;

  [[nodiscard]] const Vec3& corner(int t, int k) const { return mesh.corner(t, k); }
  [[nodiscard]] const Vec3& normal(int t) const { return mesh.normals[t]; }
  /// The same for a triangle whose corners are known.
  [[nodiscard]] Vec3 normalOf(int t, const Vec3*) const { return mesh.normals[t]; }
  [[nodiscard]] bool isSolid() const { return mesh.closed; }
  [[nodiscard]] bool hasSharpEdge(int t) const { return mesh.sharpEdges[t] != 0; }
  bool acrossVertex(int t, int k, Vec3* v) const {
    const int half = mesh.opposite[3 * t + k];
    if (half < 0) return false;
    *v = mesh.corner(half / 3, (half % 3 + 2) % 3);
    return true;
  }
  bool acrossNormal(int t, int k, Vec3* n) const {
    const int half = mesh.opposite[3 * t + k];
    if (half < 0) return false;
    *n = mesh.normals[half / 3];
    return true;
  }
  /// The triangle across edge k, or -1.
  [[nodiscard]] int across(int t, int k) const {
    const int half = mesh.opposite[3 * t + k];
    return half < 0 ? -1 : half / 3;
  }
  template <class Visit>
  bool visitRing(int t, int k, const Visit& visit) const {
    return mesh.visitFan(t, k, [&](int s, int c) {
      return visit(mesh.corner(s, (c + 1) % 3)) && visit(mesh.corner(s, (c + 2) % 3));
    });
  }
  [[nodiscard]] Vec3 outward(int t, TriangleFeature feature) const {
    return geometry::pseudonormal(mesh, t, feature);
  }
};

// std::fmax is a call into libm, which shows here.
[[nodiscard]] inline Real larger(Real a, Real b) { return a > b ? a : b; }

/// Neighbours may rise above the contact plane by this share of their distance (0.06 degrees).
inline constexpr Real kRise = 1e-3;

/// Whether no vertex joined to vertex k of t lies beyond it along `direction`.
template <class Surface>
[[nodiscard]] bool isSummit(const Surface& surface, int t, int k, const Vec3& direction) {
  const Vec3 p = surface.corner(t, k);
  return surface.visitRing(t, k, [&](const Vec3& v) {
    const Real rise = dot(direction, v - p);
    return rise <= 0 || rise * rise <= kRise * kRise * squaredNorm(v - p);
  });
}

/// A ball: one contact for every point of the surface that is locally nearest to its centre.
template <class Surface>
class BallOnSurface {
 public:
  BallOnSurface(const Surface& surface, const Vec3& center, Real radius,
                std::vector<SurfaceContact>& out)
      : surface_(surface), center_(center), radius_(radius), radius2_(radius * radius), out_(out) {}

  void addTriangle(int t, const Vec3& a, const Vec3& b, const Vec3& c) {
    const kernel::TrianglePoint<Real> q = kernel::closestOnTriangle(center_, a, b, c);
    const Vec3 offset = center_ - q.point;
    const Real d2 = squaredNorm(offset);
    if (!(d2 <= radius2_)) return;
    touched_ = true;
    if (!isNearestLocally(t, q, offset)) return;

    const Real d = std::sqrt(d2);
    // Where the centre is on the surface, the surface gives the direction.
    Vec3 normal = offset;
    Real length = d;
    bool behind = false;
    if (surface_.isSolid() || !(d > Real(1e-9) * radius_)) {
      const Vec3 outward = surface_.outward(t, q.feature);
      behind = surface_.isSolid() && dot(offset, outward) < 0;
      if (!(d > Real(1e-9) * radius_)) {
        normal = outward;
        length = norm(outward);
      }
    }
    if (!(length > 0)) return;
    if (behind && normal == offset) length = -length;
    const Real signedDistance = behind ? -d : d;
    SurfaceContact contact;
    contact.normal = normal / length;
    contact.depth = radius_ - signedDistance;
    contact.position = q.point - contact.normal * (Real(0.5) * contact.depth);
    contact.triangle = t;
    out_.push_back(contact);
    if (nearest_ < 0 || d2 < nearest2_) {
      nearest_ = static_cast<int>(out_.size()) - 1;
      nearest2_ = d2;
      nearestBehind_ = behind;
    }
  }

  /// Whether anything was touched.
  bool finish() {
    if (!surface_.isSolid() || out_.empty()) return touched_;
    if (nearestBehind_) {
      // The centre is inside: the nearest way out is the contact.
      out_[0] = out_[nearest_];
      out_.resize(1);
    } else {
      // Surfaces seen from behind are the far sides of thin walls.
      std::size_t kept = 0;
      for (const SurfaceContact& c : out_)
        if (c.depth <= radius_) out_[kept++] = c;
      out_.resize(kept);
    }
    return touched_;
  }

 private:
  [[nodiscard]] bool isNearestLocally(int t, const kernel::TrianglePoint<Real>& q,
                                      const Vec3& offset) const {
    if (q.feature == TriangleFeature::Face) return true;
    const auto isFarther = [&](const Vec3& v) {
      const Vec3 e = v - q.point;
      const Real toward = dot(offset, e);
      return toward <= 0 || toward * toward <= Real(1e-18) * squaredNorm(offset) * squaredNorm(e);
    };
    if (q.feature >= TriangleFeature::Edge0) {
      const int k = static_cast<int>(q.feature) - static_cast<int>(TriangleFeature::Edge0);
      Vec3 v;
      return !surface_.acrossVertex(t, k, &v) || isFarther(v);
    }
    return surface_.visitRing(t, static_cast<int>(q.feature), isFarther);
  }

  const Surface& surface_;
  Vec3 center_;
  Real radius_, radius2_;
  std::vector<SurfaceContact>& out_;
  int nearest_ = -1;
  Real nearest2_ = 0;
  bool nearestBehind_ = false;
  bool touched_ = false;
};

}  // namespace tangere::collision
