// SPDX-License-Identifier: Apache-2.0
//
// Two solid meshes of few triangles that overlap in one place, where both are convex: their hulls
// there tell the shortest way out, and the contacts lie along it. A corner of one mesh is often
// nearer to a side of the other than to the face through which it came, so the way out cannot be
// told vertex by vertex.
#pragma once

#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/patch_selection.hpp"
#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_point_hull.hpp"
#include "collision/mesh_surface.hpp"

#include <limits>
#include <span>
#include <vector>

namespace tangere::collision {

class ConvexRegion {
 public:
  /// A's frame is the frame of all points.
  ConvexRegion(const geometry::MeshData& a, const geometry::MeshData& b, const Transform& X_AB)
      : a_(a), b_(b), X_AB_(X_AB) {}

  /// The triangles of a crossing of the region. False when they become too many.
  bool addCrossing(const Crossing& c) {
    return addTriangle(c.triangleA, sideA_) && addTriangle(c.triangleB, sideB_);
  }
  /// A vertex of A (of B) inside the other body, and a triangle that has it.
  bool addInsideA(const Vec3& p, int triangle) { return addInside(p, triangle, sideA_); }
  bool addInsideB(const Vec3& p_B, int triangle) {
    return addInside(X_AB_ * p_B, triangle, sideB_);
  }

  /// To be called when all is added.
  void collect() {
    collect(a_, {}, sideA_);
    collect(b_, X_AB_, sideB_);
  }

  /// The way out of the hulls of both as a contact, where it leads out of the surfaces: no way that
  /// parts all of the region is known to be shorter.
  bool findWayOut(SurfaceContact* out) {
    const kernel::ConvexView<Real> hullA = sideA_.points.view(), hullB = sideB_.points.view();
    const kernel::ConvexContact<Real> pair =
        kernel::convexDistance(hullA, hullB, Transform{}, Real(0), /*enableSigned=*/true);
    if (!(pair.distance < 0)) return false;
    *out = {(pair.pointA + pair.pointB) * Real(0.5), -pair.normal, -pair.distance,
            sideA_.triangle[0], sideB_.triangle[0]};
    return leadsOutAt(a_, {}, sideA_, pair.pointA, -pair.normal) &&
           leadsOutAt(b_, X_AB_, sideB_, pair.pointB, pair.normal);
  }

  /// Appends the contacts of the region. False when one of the bodies is not convex there.
  bool finish(const std::vector<Crossing>& crossings, const std::vector<int>& members,
              std::vector<SurfaceContact>& out) {
    if (!isConvex(sideA_) || !isConvex(sideB_)) return false;
    const kernel::ConvexView<Real> hullA = sideA_.points.view(), hullB = sideB_.points.view();
    const kernel::ConvexContact<Real> pair =
        kernel::convexDistance(hullA, hullB, Transform{}, Real(0), /*enableSigned=*/true);
    if (!(pair.distance <= 0)) return false;
    normal_ = pair.normal;
    depth_ = -pair.distance;
    const bool faceB = takeFace(sideB_, 1), faceA = !faceB && takeFace(sideA_, -1);
    if (!isWayOut()) return false;
    topB_ = sideB_.points.highest(normal_);
    bottomA_ = -sideA_.points.highest(-normal_);
    Real deepest = 0;
    if (faceB || faceA)
      deepest = addUnderFace(faceB ? sideA_ : sideB_, faceB, crossings, members, out);
    if (deepest < depth_ * Real(0.999)) {
      // Edge across edge, or a vertex that is beyond the rim of the face.
      const Crossing& c = crossings[members[0]];
      out.push_back(
          {(pair.pointA + pair.pointB) * Real(0.5), -normal_, depth_, c.triangleA, c.triangleB});
    }
    return true;
  }

 private:
  static constexpr int kMaxTriangles = 16, kMaxInside = 16;
  static constexpr int kMaxPoints = 3 * kMaxTriangles + kMaxInside;
  struct Side {
    int triangle[kMaxTriangles], numTriangles = 0;
    Vec3 inside[kMaxInside];
    int insideTriangle[kMaxInside], numInside = 0;
    Vec3 normal[kMaxTriangles], onPlane[kMaxTriangles];
    PointHull<kMaxPoints> points;
  };

  static bool addTriangle(int t, Side& side) {
    for (int i = 0; i < side.numTriangles; ++i)
      if (side.triangle[i] == t) return true;
    if (side.numTriangles == kMaxTriangles) return false;
    side.triangle[side.numTriangles++] = t;
    return true;
  }
  static bool addInside(const Vec3& p, int triangle, Side& side) {
    if (side.numInside == kMaxInside) return false;
    side.insideTriangle[side.numInside] = triangle;
    side.inside[side.numInside++] = p;
    return true;
  }

  static void collect(const geometry::MeshData& mesh, const Transform& X, Side& side) {
    for (int i = 0; i < side.numTriangles; ++i) {
      const int t = side.triangle[i];
      side.normal[i] = X.rotation * mesh.normals[t];
      side.onPlane[i] = X * mesh.corner(t, 0);
      for (int k = 0; k < 3; ++k) side.points.add(X * mesh.corner(t, k));
    }
    for (int i = 0; i < side.numInside; ++i) side.points.add(side.inside[i]);
  }

  /// Whether no point is beyond the plane of a triangle.
  static bool isConvex(const Side& side) {
    const Real slack = Real(1e-9) * side.points.extent();
    for (int i = 0; i < side.numTriangles; ++i)
      if (side.points.highest(side.normal[i]) - dot(side.normal[i], side.onPlane[i]) > slack)
        return false;
    return true;
  }

  /// Turns the way out onto the normal of a face that is all but along it.
  bool takeFace(const Side& side, Real sign) {
    for (int i = 0; i < side.numTriangles; ++i) {
      const Vec3 n = side.normal[i] * sign;
      if (dot(n, normal_) < Real(0.99)) continue;
      const Real depth = sideB_.points.highest(n) + sideA_.points.highest(-n);
      if (depth > depth_ * (1 + Real(1e-4))) continue;
      normal_ = n;
      depth_ = depth;
      return true;
    }
    return false;
  }

  /// Whether a point is on crossed triangles, and none of them rises along the way there.
  static bool leadsOutAt(const geometry::MeshData& mesh, const Transform& X, const Side& side,
                         const Vec3& at, const Vec3& direction) {
    const Vec3 p = inverseTimes(X, at), way = transposeTimes(X.rotation, direction);
    const Real tolerance = Real(1e-6) * mesh.radius;
    Vec3 outward{};
    for (int i = 0; i < side.numTriangles; ++i) {
      const int t = side.triangle[i];
      const Vec3 q =
          kernel::closestOnTriangle(p, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2))
              .point;
      if (squaredNorm(q - p) > tolerance * tolerance) continue;
      for (int k = 0; k < 3; ++k) {
        const Vec3 e = mesh.corner(t, k) - q;
        const Real rise = dot(way, e);
        if (rise > tolerance && rise * rise > kRise * kRise * squaredNorm(e)) return false;
      }
      const Vec3& n = mesh.normals[t];
      outward += mesh.closed || dot(n, way) >= 0 ? n : -n;
    }
    return dot(outward, way) > 0;
  }

  /// Whether the way is one of the surfaces themselves. The hull of what is crossed is thin and may
  /// be left the short way through the inside: there the highest vertices have higher neighbours.
  [[nodiscard]] bool isWayOut() const {
    return isTopSummit(b_, X_AB_, sideB_, normal_) && isTopSummit(a_, {}, sideA_, -normal_);
  }
  static bool isTopSummit(const geometry::MeshData& mesh, const Transform& X, const Side& side,
                          const Vec3& way) {
    const Vec3 w = transposeTimes(X.rotation, way);
    int top = 0, corner = 0;
    Real height = -std::numeric_limits<Real>::infinity();
    const auto consider = [&](int t) {
      for (int k = 0; k < 3; ++k) {
        const Real h = dot(w, mesh.corner(t, k));
        if (!(h > height)) continue;
        height = h;
        top = t;
        corner = k;
      }
    };
    for (int i = 0; i < side.numTriangles; ++i) consider(side.triangle[i]);
    for (int i = 0; i < side.numInside; ++i) consider(side.insideTriangle[i]);
    return isSummit(MeshSurface{mesh}, top, corner, w);
  }

  /// What the other body has under the face: its vertices, and where its edges leave the body.
  /// Returns the largest depth.
  Real addUnderFace(const Side& side, bool faceOfB, const std::vector<Crossing>& crossings,
                    const std::vector<int>& members, std::vector<SurfaceContact>& out) const {
    constexpr int kMax = kMaxInside + 64;
    SurfaceContact found[kMax];
    int count = 0;
    const auto depthOf = [&](const Vec3& p) {
      return faceOfB ? topB_ - dot(normal_, p) : dot(normal_, p) - bottomA_;
    };
    const auto add = [&](const Vec3& p, int triangleA, int triangleB, Real least) {
      const Real depth = depthOf(p);
      if (count == kMax || depth < least) return;
      const Vec3 middle = p + normal_ * ((faceOfB ? Real(0.5) : Real(-0.5)) * depth);
      found[count++] = {middle, -normal_, depth, triangleA, triangleB};
    };
    for (int i = 0; i < side.numInside; ++i)
      add(side.inside[i], faceOfB ? side.insideTriangle[i] : -1,
          faceOfB ? -1 : side.insideTriangle[i], 0);
    // Where it goes in through the face itself it is not deep, and says nothing new.
    for (const int m : members)
      for (const Vec3& p : {crossings[m].p, crossings[m].q})
        add(p, crossings[m].triangleA, crossings[m].triangleB, Real(1e-3) * depth_);
    int distinct[kMax], n = 0;
    const Real same = Real(1e-9) * a_.radius;
    for (int i = 0; i < count; ++i) {
      const Vec3& p = found[i].position;
      bool known = false;
      for (int j = 0; j < n && !known; ++j)
        known = squaredNorm(p - found[distinct[j]].position) <= same * same;
      if (!known) distinct[n++] = i;
    }
    if (n == 0) return 0;
    int chosen[kernel::kMaxPatchPoints];
    const std::span<const int> index(distinct, static_cast<std::size_t>(n));
    const int kept = selectCorners(found, index, a_.radius, chosen);
    for (int i = 0; i < kept; ++i) out.push_back(found[distinct[chosen[i]]]);
    return found[distinct[chosen[0]]].depth;
  }

  const geometry::MeshData& a_;
  const geometry::MeshData& b_;
  const Transform& X_AB_;
  Side sideA_, sideB_;
  Vec3 normal_{};  // from B to A
  Real depth_ = 0, topB_ = 0, bottomA_ = 0;
};

}  // namespace tangere::collision
