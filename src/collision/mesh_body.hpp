// SPDX-License-Identifier: Apache-2.0
//
// A convex body on a surface of triangles, triangle by triangle: see mesh_surface.hpp for what
// counts as a contact.
#pragma once

#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_body_faces.hpp"
#include "collision/mesh_surface.hpp"
#include "collision/mesh_traversal.hpp"
#include "geometry/kernels/ray_interval.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace tangere::collision {

/// Any other convex body. Boxes and hulls are clipped against their own faces, the curved ones go
/// through GJK and EPA.
template <class Surface>
class BodyOnSurface {
 public:
  BodyOnSurface(const Surface& surface, const ConvexView<Real>& view, const Transform& X_SC,
                std::vector<SurfaceContact>& out)
      : surface_(surface),
        view_(view),
        X_SC_(X_SC),
        X_CS_(inverse(X_SC)),
        out_(out),
        faces_(view) {}

  void addTriangle(int t, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 v_S[3] = {a, b, c};
    if (!faces_.empty())
      addToPolytope(t, v_S);
    else
      addToRounded(t, v_S);
  }

  /// Whether anything was touched; then there is at least one contact.
  bool finish() {
    if (!touched_) return false;
    if (out_.empty()) {
      out_.push_back(spare_);
      return true;
    }
    if (surface_.isSolid()) dropFarSides();
    dropWhatIsResolved();
    return true;
  }

 private:
  struct EdgeContact {
    Real depth = 1e300;
    Vec3 normal{}, position{};  // C
    bool emit = false;
    std::int32_t feature = -1;
  };

  /// Next to a sharp edge of the surface several of its faces are touched, and only the one that is
  /// left soonest matters: contacts go that the body no longer touches once it has moved out along
  /// a shallower one.
  void dropWhatIsResolved() {
    constexpr int kMaxWays = 6;
    struct Way {
      Vec3 normal;
      Real depth;
      bool used;
    } ways[kMaxWays];
    int count = 0;
    const auto wayOf = [&](const SurfaceContact& c) {
      int k = 0;
      while (k < count && dot(c.normal, ways[k].normal) < Real(0.999)) ++k;
      return k;
    };
    for (const SurfaceContact& c : out_) {
      if (!c.sharp) continue;
      const int k = wayOf(c);
      if (k == kMaxWays) continue;
      if (k == count)
        ways[count++] = {c.normal, c.depth, false};
      else if (c.depth > ways[k].depth)
        ways[k].depth = c.depth;
    }
    if (count < 2) return;
    for (int i = 1; i < count; ++i)  // insertion sort: shallow ways first
      for (int j = i; j > 0 && ways[j].depth < ways[j - 1].depth; --j) {
        const Way w = ways[j];
        ways[j] = ways[j - 1];
        ways[j - 1] = w;
      }
    // A way is open when a contact along it stays.
    for (int k = 0; k < count; ++k) {
      std::size_t kept = 0;
      for (const SurfaceContact& c : out_) {
        bool resolved = false;
        if (c.sharp && wayOf(c) == k) {
          for (int j = 0; j < k && !resolved; ++j)
            resolved = ways[j].used && ways[j].depth < c.depth &&
                       !touchesAfter(c.triangle, ways[j].normal * ways[j].depth);
          ways[k].used = ways[k].used || !resolved;
        }
        if (!resolved) out_[kept++] = c;
      }
      out_.resize(kept);
    }
  }
  [[nodiscard]] bool touchesAfter(int t, const Vec3& move_S) const {
    // A little farther, so that what only touches is free.
    const Vec3 back = move_S * (-1 - Real(1e-9));
    const Vec3 v[3] = {surface_.corner(t, 0) + back, surface_.corner(t, 1) + back,
                       surface_.corner(t, 2) + back};
    return kernel::convexOverlap(view_, triangleView(v), X_CS_);
  }

  /// A body that reaches through a thin wall also touches the wall's far side, which would pull it
  /// in: what faces away from the body's centre goes when it is deeper than all that faces it.
  void dropFarSides() {
    const Vec3 center = X_SC_ * view_.center;
    const auto faces = [&](const SurfaceContact& c) {
      return dot(c.normal, center - c.position) >= 0;
    };
    Real deepest = -1;
    for (const SurfaceContact& c : out_)
      if (faces(c)) deepest = larger(deepest, c.depth);
    if (deepest < 0) return;
    std::size_t kept = 0;
    for (const SurfaceContact& c : out_)
      if (c.depth <= deepest || faces(c)) out_[kept++] = c;
    out_.resize(kept);
  }

  /// The triangle's normal on the body's side.
  [[nodiscard]] Vec3 ownNormal(int t, const Vec3& v0) const {
    const Vec3 n = surface_.normal(t);
    if (surface_.isSolid()) return n;
    return dot(n, X_SC_ * view_.center - v0) >= 0 ? n : -n;
  }

  void addToPolytope(int t, const Vec3* v_S) {
    const Vec3 v[3] = {X_CS_ * v_S[0], X_CS_ * v_S[1], X_CS_ * v_S[2]};
    // Face by face: the least overlap, and the planes that cut the triangle.
    Real overlap;
    int face, lowest;
    int cutting[PolytopeFaces::kMaxCutting], numCutting = 0;
    if (!faces_.compare(v, &overlap, &face, &lowest, cutting, &numCutting)) return;
    if (numCutting > PolytopeFaces::kMaxCutting) {
      // So many planes cannot matter on a triangle; the exact test tells.
      if (!kernel::convexOverlap(view_, triangleView(v_S), X_CS_)) return;
      numCutting = PolytopeFaces::kMaxCutting;
    }
    const Vec3 n_S = ownNormal(t, v_S[0]);
    const Vec3 n = transposeTimes(X_SC_.rotation, n_S);
    Vec3* const polygon = polygon_;
    const int count = faces_.clip(v, cutting, numCutting, polygon);
    if (count == 0) return;
    const bool sharp = surface_.hasSharpEdge(t);
    if (numCutting == 0 && !sharp && addWithin(t, v, n, face, lowest, overlap)) return;
    touched_ = true;
    Vec3 middle = polygon[0];
    for (int i = 1; i < count; ++i) middle += polygon[i];
    middle = middle / Real(count);

    // Along its own normal, and the two other ways that may be shorter.
    const std::size_t before = out_.size();
    const Real own = addOwnNormal(t, n_S, v, &middle);
    const Vec3 away = -faces_.normal(face);  // the body goes this way to clear the triangle
    const bool front = !surface_.isSolid() || dot(away, n) > -kRise;
    const bool summit = overlap < own * (1 - Real(1e-9)) && front &&
                        isSummit(surface_, t, lowest, X_SC_.rotation * away);
    const EdgeContact edge = sharp ? sharpEdgeContact(t, v, v_S) : EdgeContact{};
    if (edge.depth < own && (!summit || edge.depth < overlap)) {
      out_.resize(before);
      if (edge.emit) add(t, edge.position, edge.normal, edge.depth, edge.feature, true);
      keepSpare(t, edge.position, edge.normal, edge.depth, edge.feature);
      return;
    }
    if (summit) {
      out_.resize(before);
      addFacePoints(t, face, polygon, count);
    }
    for (std::size_t i = before; i < out_.size(); ++i) out_[i].sharp = sharp;
    if (out_.size() == before)
      keepSpare(t, middle, away,
                larger(faces_.offset(face) - dot(faces_.normal(face), middle), Real(0)),
                kernel::faceFeature(face));
  }

  /// A small triangle wholly inside the body: one point stands for it, at its middle. Its corners
  /// are those of the triangles around it, and the outline of the patch is not here. Returns false
  /// for a triangle that needs a closer look: the surface may have a summit in it.
  bool addWithin(int t, const Vec3* v, const Vec3& n, int face, int lowest, Real overlap) {
    const Vec3 middle = (v[0] + v[1] + v[2]) * Real(1.0 / 3.0);
    int under;
    const Real depth = faces_.exit(middle, n, &under);
    if (under < 0) return false;
    const Real under_face = faces_.offset(face) - dot(faces_.normal(face), middle);
    if (under_face < Real(0.98) * depth && overlap < depth &&
        (!surface_.isSolid() || -dot(faces_.normal(face), n) > -kRise) &&
        isSummit(surface_, t, lowest, X_SC_.rotation * -faces_.normal(face)))
      return false;
    touched_ = true;
    add(t, middle - n * (Real(0.5) * depth), n, depth, kernel::faceFeature(under));
    return true;
  }

  /// Points of the clipped triangle under a face of the body.
  void addFacePoints(int t, int face, const Vec3* polygon, int count) {
    const Vec3& m = faces_.normal(face);
    for (int i = 0; i < count; ++i) {
      const Real depth = faces_.offset(face) - dot(m, polygon[i]);
      if (depth < 0) continue;
      add(t, polygon[i] + m * (Real(0.5) * depth), -m, depth, kernel::faceFeature(face), true);
    }
  }

  /// The part of the body over the triangle that is below it, along its normal: the body's lowest
  /// feature where that is over the triangle, else what is found under `inside`, a point of both.
  /// Returns the depth of the deepest point, or a huge number when there is none.
  Real addOwnNormal(int t, const Vec3& n_S, const Vec3* v, const Vec3* inside) {
    const Vec3 n = transposeTimes(X_SC_.rotation, n_S);
    int index;
    const Vec3 lowest = kernel::supportCore(view_, -n, &index) - n * view_.radius;
    const Real depth = larger(dot(n, v[0] - lowest), Real(0));
    Prism prism;
    prism.origin = v[0];
    prism.n = n;
    kernel::completeFrame(n, &prism.e0, &prism.e1);
    const bool reversed = dot(n_S, surface_.normal(t)) < 0;
    for (int k = 0; k < 3; ++k) {
      const Vec3 p = v[reversed ? 2 - k : k] - v[0];
      prism.u[k] = dot(prism.e0, p);
      prism.v[k] = dot(prism.e1, p);
    }
    prism.slop = Real(1e-9) * view_.boundingRadius;
    const std::size_t before = out_.size();

    const Vec3 p = lowest - v[0];
    const bool above = prism.holds(dot(prism.e0, p), dot(prism.e1, p));
    // What a box or a hull has over the triangle is on the faces found under it; its lowest feature
    // is needed where that is its lowest vertex.
    if (above || faces_.empty()) {
      const Real reach = kernel::kReachInDepths<Real> * depth + prism.slop;
      const kernel::SupportKey<Real> key =
          kernel::findSupportKey(view_, -n, reach, kernel::kMaxIncidentSlope<Real>);
      if (key.kind == kernel::SupportKind::Vertex) {
        if (above) addBelow(t, prism, dot(prism.e0, p), dot(prism.e1, p), dot(n, p), key.feature);
      } else {
        kernel::SupportFeature<Real> feature;
        kernel::fillSupportFeature(view_, key, -n, &feature);
        if (key.kind == kernel::SupportKind::Segment)
          clipSegment(t, prism, feature, key.feature);
        else
          clipFace(t, prism, feature, key.feature);
      }
    }
    if (out_.size() == before && inside) addUnder(t, prism, *inside);
    Real deepest = -1;
    for (std::size_t i = before; i < out_.size(); ++i) deepest = larger(deepest, out_[i].depth);
    return deepest >= 0 ? deepest : Real(1e300);
  }

  /// The column of space over a triangle, seen along its normal.
  struct Prism {
    Vec3 origin, n, e0, e1;
    Real u[3], v[3];  // the triangle, counter-clockwise
    Real slop;

    [[nodiscard]] bool holds(Real x, Real y) const {
      for (int k = 0; k < 3; ++k) {
        const int next = k == 2 ? 0 : k + 1;
        const Real du = u[next] - u[k], dv = v[next] - v[k];
        if (dv * (x - u[k]) - du * (y - v[k]) > slop * (std::fabs(du) + std::fabs(dv)))
          return false;
      }
      return true;
    }
  };

  void addBelow(int t, const Prism& prism, Real u, Real v, Real height, std::int32_t feature) {
    if (height > prism.slop) return;
    const Real depth = larger(-height, Real(0));
    add(t, prism.origin + prism.e0 * u + prism.e1 * v - prism.n * (Real(0.5) * depth), prism.n,
        depth, feature);
  }

  void clipSegment(int t, const Prism& prism, const kernel::SupportFeature<Real>& feature,
                   std::int32_t name) {
    Real u[2], v[2], h[2];
    for (int k = 0; k < 2; ++k) {
      const Vec3 p = feature.point(k) - prism.origin;
      u[k] = dot(prism.e0, p);
      v[k] = dot(prism.e1, p);
      h[k] = dot(prism.n, p);
    }
    Real t0, t1;
    int cut[2];
    if (!kernel::clipSegmentToPolygon(prism.u, prism.v, 3, prism.slop, u, v, &t0, &t1, &cut[0],
                                      &cut[1]))
      return;
    for (int k = 0; k < 2; ++k) {
      const Real s = k == 0 ? t0 : t1;
      if (k == 1 && !(t1 > t0)) break;
      addBelow(t, prism, u[0] + s * (u[1] - u[0]), v[0] + s * (v[1] - v[0]),
               h[0] + s * (h[1] - h[0]),
               cut[k] < 0 ? kernel::vertexFeature(feature.vertex[k]) : name);
    }
  }

  void clipFace(int t, const Prism& prism, const kernel::SupportFeature<Real>& feature,
                std::int32_t name) {
    kernel::ClipPolygon<Real> polygon, scratch;
    for (int i = 0; i < feature.count; ++i) {
      const Vec3 p = feature.point(i) - prism.origin;
      polygon.u[i] = dot(prism.e0, p);
      polygon.v[i] = dot(prism.e1, p);
      polygon.w[i] = dot(prism.n, p);
      polygon.edge[i] = i;
    }
    polygon.count = feature.count;
    kernel::clipToPolygon(prism.u, prism.v, 3, prism.slop, &polygon, &scratch);
    for (int i = 0; i < polygon.count; ++i) {
      const int before = polygon.edge[i > 0 ? i - 1 : polygon.count - 1];
      const bool vertex = before >= 0 && polygon.edge[i] >= 0;
      addBelow(t, prism, polygon.u[i], polygon.v[i], polygon.w[i],
               vertex ? kernel::vertexFeature(feature.vertex[polygon.edge[i]]) : name);
    }
  }

  /// Straight down from a point in the body to where its surface is left: the face there, cut to
  /// the column over the triangle, or that point alone of a curved body.
  void addUnder(int t, const Prism& prism, const Vec3& inside) {
    if (faces_.empty()) {
      const Real depth = exitOf(view_, inside, -prism.n);
      if (depth >= 0) add(t, inside - prism.n * (Real(0.5) * depth), prism.n, depth, -1);
      return;
    }
    int face;
    const Real least = faces_.exit(inside, prism.n, &face);
    if (face < 0) return;
    kernel::SupportKey<Real> key;
    key.kind = kernel::SupportKind::Polygon;
    key.feature = kernel::faceFeature(face);
    key.index0 = key.index1 = face;
    kernel::SupportFeature<Real> feature;
    kernel::fillSupportFeature(view_, key, faces_.normal(face), &feature);
    // Seen from above the face runs clockwise.
    const std::size_t before = out_.size();
    clipFace(t, prism, feature, key.feature);
    if (out_.size() == before)
      add(t, inside - prism.n * (Real(0.5) * least), prism.n, least, key.feature);
  }

  /// How far a point inside a curved body is from its surface along a unit direction.
  [[nodiscard]] static Real exitOf(const ConvexView<Real>& view, const Vec3& p,
                                   const Vec3& direction) {
    const kernel::LineT<Real> line{p, direction, 0};
    switch (view.core) {
      case CoreType::Segment:
        return kernel::rayIntervalCapsule(view.radius, view.size.z, line).exit;
      case CoreType::Cylinder:
        return kernel::rayIntervalCylinder(view.size, line).exit;
      case CoreType::Cone:
        return kernel::rayIntervalCone(view.size, line).exit;
      case CoreType::Ellipsoid:
        return kernel::rayIntervalEllipsoid(view.size, line).exit;
      default:
        return -1;
    }
  }

  /// The shallowest contact that could not be used otherwise.
  void keepSpare(int t, const Vec3& position_C, const Vec3& normal_C, Real depth,
                 std::int32_t feature) {
    if (hasSpare_ && spare_.depth <= depth) return;
    spare_ = makeContact(t, position_C, normal_C, depth, feature);
    hasSpare_ = true;
  }

  /// The best crossing of a sharp edge of the surface with an edge of the body. Only directions
  /// between the two normals of the surface's edge and between those of the body's edge separate
  /// (Gauss map), so edges of a smooth surface need no look.
  EdgeContact sharpEdgeContact(int t, const Vec3* v, const Vec3* v_S) const {
    EdgeContact best;
    for (int k = 0; k < 3; ++k) {
      const int next = k == 2 ? 0 : k + 1, far = next == 2 ? 0 : next + 1;
      Vec3 n2, w2;
      const bool inner = surface_.acrossNormal(t, k, &n2);
      if (inner) {
        if (dot(n2, surface_.normal(t)) > geometry::kSharpCosine) continue;
        surface_.acrossVertex(t, k, &w2);
        if (surface_.isSolid() && dot(surface_.normal(t), w2 - v_S[k]) >= 0) continue;  // concave
      }
      const Vec3 e = v[next] - v[k];
      const Vec3 p = v[k];
      const Vec3 f1 = v[far] - p;
      const Vec3 f2 = inner ? X_CS_ * w2 - p : f1;
      const bool emit = !inner || t < surface_.across(t, k);
      faces_.forEachEdge([&](const Vec3& q0, const Vec3& q1, const Vec3& m1, const Vec3& m2,
                             std::int32_t feature) {
        Vec3 axis = cross(q1 - q0, e);
        const Real l2 = squaredNorm(axis);
        if (!(l2 > Real(1e-12) * squaredNorm(e) * squaredNorm(q1 - q0))) return;
        axis = axis / std::sqrt(l2);
        // Towards the body: the surface must lie behind, and the body ahead.
        const Real c = dot(m1, m2);
        const Real x1 = dot(axis, m1), x2 = dot(axis, m2);
        const bool along = x1 - c * x2 >= 0 && x2 - c * x1 >= 0;
        const bool against = -x1 + c * x2 >= 0 && -x2 + c * x1 >= 0;
        if (!along && !against) return;
        if (along) axis = -axis;  // -axis is in the cone of the body's edge
        const Real s1 = dot(axis, f1), s2 = dot(axis, f2);
        if (s1 > 0 || s2 > 0) return;
        const Real depth = dot(axis, p - q0);
        if (depth < 0 || depth >= best.depth) return;
        Vec3 onSurface, onBody;
        // Slide the body back along the axis, and the edges meet where they cross.
        kernel::closestOnSegments(p, v[next], q0 + axis * depth, q1 + axis * depth, &onSurface,
                                  &onBody);
        if (squaredNorm(onSurface - onBody) >
            Real(1e-18) * view_.boundingRadius * view_.boundingRadius)
          return;
        best = {depth, axis, onSurface - axis * (Real(0.5) * depth), emit, feature};
      });
    }
    return best;
  }

  void addToRounded(int t, const Vec3* v_S) {
    const ConvexView<Real> triangle = triangleView(v_S);
    const kernel::ConvexContact<Real> pair =
        kernel::convexDistance(view_, triangle, X_CS_, Real(0), /*enableSigned=*/true);
    if (!(pair.distance <= 0)) return;
    touched_ = true;
    const Vec3 n_S = ownNormal(t, v_S[0]);
    const Vec3 way = X_SC_.rotation * pair.normal;
    const Real along = dot(way, n_S);
    const bool sharp = surface_.hasSharpEdge(t);
    bool genuine = along >= 1 - Real(1e-9);
    if (!genuine && (!surface_.isSolid() || along > -kRise)) {
      int k = 0;
      for (int i = 1; i < 3; ++i)
        if (dot(way, v_S[i]) > dot(way, v_S[k])) k = i;
      genuine = isSummit(surface_, t, k, way);
    }
    if (genuine) {
      ContactManifold manifold;
      kernel::buildConvexManifold(view_, triangle, X_CS_, pair, &manifold);
      for (int i = 0; i < manifold.count; ++i) {
        const ContactPoint& p = manifold.points[i];
        // Features that only run along each other for a while give points beside the triangle.
        const Vec3 on_S = X_SC_ * (p.position + p.normal * (Real(0.5) * p.depth));
        const Vec3 off = on_S - kernel::closestOnTriangle(on_S, v_S[0], v_S[1], v_S[2]).point;
        if (i > 0 && squaredNorm(off) > Real(0.01) * p.depth * p.depth) continue;
        add(t, p.position, p.normal, p.depth, p.feature1, sharp);
      }
      if (manifold.count > 0) return;
    }
    const Vec3 v[3] = {X_CS_ * v_S[0], X_CS_ * v_S[1], X_CS_ * v_S[2]};
    const std::size_t before = out_.size();
    addOwnNormal(t, n_S, v, &pair.pointB);
    for (std::size_t i = before; i < out_.size(); ++i) out_[i].sharp = sharp;
    if (out_.size() == before)
      keepSpare(t, (pair.pointA + pair.pointB) * Real(0.5), pair.normal, -pair.distance, -1);
  }

  [[nodiscard]] static ConvexView<Real> triangleView(const Vec3* v_S) {
    ConvexView<Real> triangle;
    triangle.core = CoreType::Triangle;
    triangle.triangle = v_S;
    triangle.center = (v_S[0] + v_S[1] + v_S[2]) * Real(1.0 / 3.0);
    Real r2 = 0;
    for (int k = 0; k < 3; ++k) r2 = larger(r2, squaredNorm(v_S[k] - triangle.center));
    triangle.boundingRadius = std::sqrt(r2);
    return triangle;
  }

  [[nodiscard]] SurfaceContact makeContact(int t, const Vec3& position_C, const Vec3& normal_C,
                                           Real depth, std::int32_t feature) const {
    return {X_SC_ * position_C, X_SC_.rotation * normal_C, depth, t, feature};
  }
  void add(int t, const Vec3& position_C, const Vec3& normal_C, Real depth, std::int32_t feature,
           bool sharp = false) {
    out_.push_back(makeContact(t, position_C, normal_C, depth, feature));
    out_.back().sharp = sharp;
  }

  const Surface& surface_;
  const ConvexView<Real>& view_;
  const Transform& X_SC_;
  Transform X_CS_;
  std::vector<SurfaceContact>& out_;
  bool touched_ = false;
  bool hasSpare_ = false;
  SurfaceContact spare_;
  PolytopeFaces faces_;
  Vec3 polygon_[PolytopeFaces::kMaxPolygon];  // scratch of addToPolytope()
};

}  // namespace tangere::collision
