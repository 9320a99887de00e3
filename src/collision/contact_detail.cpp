// SPDX-License-Identifier: Apache-2.0
//
// The contact region of a manifold in more detail than its four points, computed anew on request.
#include <tangere/collision.hpp>

#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/surface_forms.hpp"
#include "core/elementary.hpp"
#include "geometry/flat_shape.hpp"

#include <cmath>

namespace tangere {

namespace {

using kernel::ConvexView;
using kernel::CoreType;
using kernel::SupportKey;
using kernel::SupportKind;

// A disc as a polygon: its area is then 4e-5 of itself too small.
constexpr int kDiscSamples = 400;

bool isConvexOrPlane(ShapeType type) {
  return type <= ShapeType::Plane || type == ShapeType::Convex;
}

/// A point of the polygon: across the normal, and along it (w).
struct Corner {
  Real u = 0, v = 0, w = 0;
};
using Polygon = std::vector<Corner>;

/// The frame of a face contact: w is the normal, from shape 2 to shape 1.
struct Frame {
  Vec3 origin{}, u{}, v{}, w{};
  [[nodiscard]] Corner project(const Vec3& p_W) const {
    const Vec3 p = p_W - origin;
    return {dot(u, p), dot(v, p), dot(w, p)};
  }
};

/// The face of a shape along a direction, with all its vertices, in world.
std::vector<Vec3> faceVertices(const ConvexView<Real>& view, const SupportKey<Real>& key,
                               const Vec3& direction, const Transform& X_WS) {
  std::vector<Vec3> out;
  const bool isDisc = view.core == CoreType::Cylinder || view.core == CoreType::Cone;
  if (isDisc) {
    const bool top = key.index0 == kernel::kTopCap;
    constexpr Real kTurn = 6.283185307179586476925;
    for (int i = 0; i < kDiscSamples; ++i) {
      const Real angle = kTurn * (top ? i : kDiscSamples - i) / kDiscSamples;
      out.push_back(X_WS * Vec3{view.size.x * core::cos(angle), view.size.x * core::sin(angle),
                                top ? view.size.z : -view.size.z});
    }
  } else if (view.core == CoreType::Hull) {
    const kernel::HullView<Real>& hull = *view.hull;
    for (int i = hull.faceStart[key.index0]; i < hull.faceStart[key.index0 + 1]; ++i)
      out.push_back(X_WS * hull.vertex(hull.faceVertex[i]));
  } else {
    kernel::SupportFeature<Real> feature;
    kernel::fillSupportFeature(view, key, direction, &feature);
    for (int i = 0; i < feature.count; ++i) out.push_back(X_WS * feature.point(i));
  }
  return out;
}

/// The touching face of a shape, or nothing when it touches with an edge or a corner.
std::optional<Polygon> touchingFace(const Shape& shape, const Transform& X_WS,
                                    const Vec3& direction_W, Real reach, const Frame& frame) {
  const ConvexView<Real>& view = shape.flat().convex;
  const Vec3 direction = transposeTimes(X_WS.rotation, direction_W);
  const SupportKey<Real> key =
      kernel::findSupportKey(view, direction, reach, kernel::kMaxIncidentSlope<Real>);
  if (key.kind != SupportKind::Polygon) return std::nullopt;
  Polygon polygon;
  for (const Vec3& p : faceVertices(view, key, direction, X_WS))
    polygon.push_back(frame.project(p));
  return polygon;
}

/// Twice the signed area across the normal.
Real doubleArea(const Polygon& polygon) {
  Real sum = 0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) {
    const Corner &o = polygon[0], &p = polygon[i], &q = polygon[i + 1];
    sum += (p.u - o.u) * (q.v - o.v) - (q.u - o.u) * (p.v - o.v);
  }
  return sum;
}

Polygon reversed(const Polygon& polygon) { return {polygon.rbegin(), polygon.rend()}; }

/// Keeps the part where height(corner) <= 0; the height is linear over the polygon.
template <class Height>
Polygon clip(const Polygon& polygon, Height height) {
  Polygon out;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& p = polygon[i];
    const Corner& q = polygon[i + 1 < polygon.size() ? i + 1 : 0];
    const Real hp = height(p), hq = height(q);
    if (hp <= 0) out.push_back(p);
    if ((hp < 0 && hq > 0) || (hp > 0 && hq < 0)) {
      const Real t = hp / (hp - hq);
      out.push_back({p.u + t * (q.u - p.u), p.v + t * (q.v - p.v), p.w + t * (q.w - p.w)});
    }
  }
  return out;
}

/// The part of `polygon` over `reference` (both counter-clockwise).
Polygon clipToPolygon(Polygon polygon, const Polygon& reference) {
  for (std::size_t i = 0; i < reference.size() && !polygon.empty(); ++i) {
    const Corner& p = reference[i];
    const Corner& q = reference[i + 1 < reference.size() ? i + 1 : 0];
    const Real du = q.u - p.u, dv = q.v - p.v;
    polygon = clip(polygon, [&](const Corner& c) { return dv * (c.u - p.u) - du * (c.v - p.v); });
  }
  return polygon;
}

/// Height of the plane of a face over (u, v): w = w0 + gu u + gv v.
struct PlaneHeight {
  Real w0 = 0, gu = 0, gv = 0;
  [[nodiscard]] Real at(const Corner& c) const { return w0 + gu * c.u + gv * c.v; }
};

/// By Newell's sums, which use all vertices alike.
PlaneHeight planeOf(const Polygon& polygon) {
  Vec3 normal{};
  Corner middle;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& p = polygon[i];
    const Corner& q = polygon[i + 1 < polygon.size() ? i + 1 : 0];
    normal += cross(Vec3{p.u, p.v, p.w}, Vec3{q.u, q.v, q.w});
    middle = {middle.u + p.u, middle.v + p.v, middle.w + p.w};
  }
  const Real n = static_cast<Real>(polygon.size());
  middle = {middle.u / n, middle.v / n, middle.w / n};
  PlaneHeight plane;
  plane.gu = -normal.x / normal.z;
  plane.gv = -normal.y / normal.z;
  plane.w0 = middle.w - plane.gu * middle.u - plane.gv * middle.v;
  return plane;
}

FaceContact makeFaceContact(const Polygon& polygon, const Frame& frame) {
  FaceContact out;
  out.normal = frame.w;
  const Real twice = doubleArea(polygon);
  out.area = Real(0.5) * twice;
  Corner centroid;
  const Corner& o = polygon[0];
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) {
    const Corner &p = polygon[i], &q = polygon[i + 1];
    const Real share = ((p.u - o.u) * (q.v - o.v) - (q.u - o.u) * (p.v - o.v)) / (3 * twice);
    centroid.u += share * (o.u + p.u + q.u);
    centroid.v += share * (o.v + p.v + q.v);
    centroid.w += share * (o.w + p.w + q.w);
  }
  const auto toWorld = [&](const Corner& c) {
    return frame.origin + (frame.u * c.u + frame.v * c.v + frame.w * c.w);
  };
  out.centroid = toWorld(centroid);
  for (const Corner& c : polygon) out.polygon.push_back(toWorld(c));
  return out;
}

/// Removes vertices that coincide with their neighbour.
Polygon withoutDuplicates(const Polygon& polygon, Real size) {
  Polygon out;
  const Real tiny = 1e-12 * size;
  const auto same = [&](const Corner& p, const Corner& q) {
    return std::fabs(p.u - q.u) <= tiny && std::fabs(p.v - q.v) <= tiny;
  };
  for (const Corner& c : polygon)
    if (out.empty() || !same(out.back(), c)) out.push_back(c);
  while (out.size() > 1 && same(out.front(), out.back())) out.pop_back();
  return out;
}

/// The form of one side of a contact; `outward_W` is the outward normal of that shape.
bool secondFormInWorld(const Shape& shape, const Transform& X_WS, const Vec3& point_W,
                       const Vec3& outward_W, const Vec3& u_W, const Vec3& v_W, Real form[3]) {
  if (shape.type() == ShapeType::Plane) return kernel::flatForm(form);
  if (!isConvexOrPlane(shape.type())) return false;
  const Mat3& R = X_WS.rotation;
  return kernel::secondForm(shape.flat().convex, inverseTimes(X_WS, point_W),
                            transposeTimes(R, outward_W), transposeTimes(R, u_W),
                            transposeTimes(R, v_W), form);
}

}  // namespace

std::optional<EdgeContact> edgeContact(const ContactManifold& manifold) {
  if (manifold.type != ContactType::Edge || manifold.count != 2) return std::nullopt;
  const ContactPoint& p = manifold.points[0];
  const ContactPoint& q = manifold.points[1];
  const Vec3 along = q.position - p.position;
  const Real length = norm(along);
  if (!(length > 0)) return std::nullopt;
  EdgeContact out;
  out.point1 = p.position;
  out.point2 = q.position;
  out.direction = along / length;
  out.normal = p.normal;
  out.depth1 = p.depth;
  out.depth2 = q.depth;
  return out;
}

std::optional<FaceContact> faceContact(const Shape& shape1, const Transform& X_W1,
                                       const Shape& shape2, const Transform& X_W2,
                                       const ContactManifold& manifold) {
  if (manifold.type != ContactType::Face || !isConvexOrPlane(shape1.type()) ||
      !isConvexOrPlane(shape2.type()))
    return std::nullopt;
  Frame frame;
  frame.w = manifold.sharedNormal();
  if (frame.w == Vec3{}) return std::nullopt;
  kernel::completeFrame(frame.w, &frame.u, &frame.v);
  frame.origin = manifold.points[0].position;

  const bool plane1 = shape1.type() == ShapeType::Plane;
  const bool plane2 = shape2.type() == ShapeType::Plane;
  if (plane1 && plane2) return std::nullopt;
  const Real radius1 = shape1.flat().convex.boundingRadius;
  const Real radius2 = shape2.flat().convex.boundingRadius;
  const Real size = plane1 ? radius2 : plane2 ? radius1 : std::fmin(radius1, radius2);
  const Real reach = kernel::kReachInDepths<Real> * manifold.depth() +
                     kernel::kManifoldLengthTolerance<Real> * size;

  // Shape 1 is above along the normal: its face looks down, that of shape 2 up. A half space has no
  // outline of its own.
  const PlaneHeight ground =
      plane1 || plane2
          ? PlaneHeight{frame.project(plane1 ? X_W1.translation : X_W2.translation).w, 0, 0}
          : PlaneHeight{};
  std::optional<Polygon> lower, upper;
  if (!plane2) lower = touchingFace(shape2, X_W2, frame.w, reach, frame);
  if (!plane1) upper = touchingFace(shape1, X_W1, -frame.w, reach, frame);
  if ((!plane2 && !lower) || (!plane1 && !upper)) return std::nullopt;
  if (upper) upper = reversed(*upper);  // counter-clockwise about the normal, like the other

  const PlaneHeight top = plane2 ? ground : planeOf(*lower);     // of shape 2
  const PlaneHeight bottom = plane1 ? ground : planeOf(*upper);  // of shape 1
  Polygon region = plane1 ? *lower : plane2 ? *upper : clipToPolygon(*upper, *lower);
  const Real tolerance = kernel::kManifoldLengthTolerance<Real> * size;
  region = clip(region, [&](const Corner& c) { return bottom.at(c) - top.at(c) - tolerance; });
  for (Corner& c : region) c.w = Real(0.5) * (bottom.at(c) + top.at(c));
  region = withoutDuplicates(region, size);
  if (region.size() < 3 || !(doubleArea(region) > 0)) return std::nullopt;
  return makeFaceContact(region, frame);
}

std::optional<ParametricContact> parametricContact(const Shape& shape1, const Transform& X_W1,
                                                   const Shape& shape2, const Transform& X_W2,
                                                   const ContactPoint& contact) {
  ParametricContact out;
  kernel::completeFrame(contact.normal, &out.u, &out.v);
  const Vec3 half = contact.normal * (Real(0.5) * contact.depth);
  if (!secondFormInWorld(shape1, X_W1, contact.position - half, -contact.normal, out.u, out.v,
                         out.secondForm1) ||
      !secondFormInWorld(shape2, X_W2, contact.position + half, contact.normal, out.u, out.v,
                         out.secondForm2))
    return std::nullopt;
  return out;
}

}  // namespace tangere
