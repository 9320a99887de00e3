// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_points.hpp"

#include "collision/kernels/contact_features.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/face_clipping.hpp"
#include "collision/kernels/refine_contact.hpp"
#include "collision/kernels/support_feature.hpp"
#include "geometry/flat_shape.hpp"
#include "integrator/polygon_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tangere::integrator {

namespace {

constexpr int kMaxFaceVertices = 16;
constexpr Real kCornerShare = 0.25;

/// Collects points given relative to the origin of shape 1: far from the world's origin they keep
/// their digits until the end.
class Points {
 public:
  Points(const Vec3& origin, Real margin, PairDistance* out)
      : origin_(origin), margin_(margin), out_(out) {
    out->numPoints = 0;
  }

  /// `position`: half way between the surfaces.
  void add(const Vec3& position, const Vec3& normal, Real distance, std::int32_t feature1,
           std::int32_t feature2, Real share, Real weight) {
    add(position, normal, distance, feature1, feature2, share, weight, weight);
  }
  void add(const Vec3& position, const Vec3& normal, Real distance, std::int32_t feature1,
           std::int32_t feature2, Real share, Real weight, Real count) {
    if (!(distance <= margin_) || !((weight + count) * scale > 0)) return;
    if (out_->numPoints == kMaxEventPoints) {
      replaceHighest(distance);
      if (out_->numPoints == kMaxEventPoints) return;
    }
    EventPoint& p = out_->points[static_cast<std::size_t>(out_->numPoints++)];
    p.position = origin_ + position;
    p.normal = normal;
    p.distance = distance;
    p.feature1 = feature1;
    p.feature2 = feature2;
    p.share = share * scale;
    p.weight = weight * scale;
    p.touching = -1;
    p.count = count * scale;
  }

  [[nodiscard]] Real margin() const { return margin_; }
  Real scale = 1;  ///< of the shares and weights to come: two descriptions may be mixed

  /// The deepest first.
  bool finish(const DistanceResult& nearest) {
    if (out_->numPoints == 0) return false;
    auto* points = out_->points.data();
    int deepest = 0;
    for (int i = 1; i < out_->numPoints; ++i)
      if (points[i].distance < points[deepest].distance) deepest = i;
    std::swap(points[0], points[deepest]);
    out_->distance = nearest.distance;
    out_->status = nearest.status;
    return true;
  }

 private:
  // Room for a lower point, where there is a higher one.
  void replaceHighest(Real distance) {
    int highest = 0;
    for (int i = 1; i < kMaxEventPoints; ++i)
      if (out_->points[static_cast<std::size_t>(i)].distance >
          out_->points[static_cast<std::size_t>(highest)].distance)
        highest = i;
    if (!(out_->points[static_cast<std::size_t>(highest)].distance > distance)) return;
    out_->points[static_cast<std::size_t>(highest)] = out_->points[kMaxEventPoints - 1];
    --out_->numPoints;
  }

  Vec3 origin_;
  Real margin_;
  PairDistance* out_;
};

/// One convex shape with its pose relative to the origin of shape 1.
struct Body {
  const geometry::FlatShape& flat;
  Mat3 R;
  Vec3 p;
  bool isFirst;

  [[nodiscard]] const kernel::ConvexView<Real>& view() const { return flat.convex; }
  [[nodiscard]] Vec3 world(const Vec3& x) const { return R * x + p; }
};

/// A half space with the points of a solid above it.
struct Ground {
  Vec3 normal;  // outward
  Vec3 point;   // on the plane
  std::int32_t feature;
  const Body& solid;
  Points& out;

  [[nodiscard]] Real height(const Vec3& x) const { return dot(normal, x - point); }
  void add(const Vec3& x, std::int32_t solidFeature, Real share, Real weight) const {
    add(x, solidFeature, share, weight, weight);
  }
  void add(const Vec3& x, std::int32_t solidFeature, Real share, Real weight, Real count) const {
    const Real h = height(x);
    const bool first = solid.isFirst;
    out.add(x - normal * (Real(0.5) * h), first ? normal : -normal, h,
            first ? solidFeature : feature, first ? feature : solidFeature, share, weight, count);
  }
};

/// Four points of a circle, see the top of event_points.hpp. `x`, `y`: its axes.
void addRing(const Ground& ground, const Vec3& center, const Vec3& x, const Vec3& y, Real radius,
             std::int32_t firstFeature) {
  const Real mx = dot(ground.normal, x), my = dot(ground.normal, y);
  const Real slope = std::sqrt(mx * mx + my * my);
  const Real depth = radius * slope - ground.height(center);
  Real turning = 0;
  if (slope > 0) turning = depth > 0 ? fade(radius * slope / depth, Real(0.02), Real(0.1)) : 1;
  const auto addFour = [&](const Vec3& a, const Vec3& b, std::int32_t feature, Real weight) {
    ground.add(center + a, feature, kCornerShare * weight, weight);
    ground.add(center + b, feature + 1, kCornerShare * weight, weight);
    ground.add(center - a, feature + 2, kCornerShare * weight, weight);
    ground.add(center - b, feature + 3, kCornerShare * weight, weight);
  };
  if (turning < 1) addFour(x * radius, y * radius, firstFeature, 1 - turning);
  if (turning > 0) {
    const Real k = radius / slope;
    addFour(x * (-mx * k) - y * (my * k), x * (my * k) - y * (mx * k), firstFeature + 4, turning);
  }
}

constexpr std::int32_t kRingFeatures = 8;
constexpr std::int32_t kApexFeature = 2 * kRingFeatures;

/// The share of a vertex of a hull on the ground: that of a corner of the face it stands on, passed
/// over to the next face where the hull rolls.
Real hullVertexShare(const kernel::HullView<Real>& hull, int vertex, const Vec3& down) {
  const int begin = hull.vertexFaceStart[vertex], end = hull.vertexFaceStart[vertex + 1];
  Real most = 0;
  for (int i = begin; i < end; ++i)
    most = std::fmax(most, dot(hull.faceNormal[hull.vertexFace[i]], down));
  if (!(most > 0)) return kCornerShare;
  Real sum = 0, share = 0;
  for (int i = begin; i < end; ++i) {
    const int f = hull.vertexFace[i];
    const Real near = dot(hull.faceNormal[f], down) / most - Real(0.98);
    if (!(near > 0)) continue;
    const int start = hull.faceStart[f];
    const int count = std::min(hull.faceStart[f + 1] - start, kernel::kMaxFeatureVertices);
    Vec3 e1, e2;
    kernel::completeFrame(hull.faceNormal[f], &e1, &e2);
    Real u[kernel::kMaxFeatureVertices], v[kernel::kMaxFeatureVertices];
    Real weight[kernel::kMaxFeatureVertices], area = 0;
    int at = 0;
    for (int k = 0; k < count; ++k) {
      const int index = hull.faceVertex[start + k];
      const Vec3 q = hull.vertex(index);
      u[k] = dot(e1, q);
      v[k] = dot(e2, q);
      if (index == vertex) at = k;
    }
    cornerWeights(u, v, count, weight, &area);
    share += near * near * weight[at];
    sum += near * near;
  }
  return share / sum;
}

/// All points of a solid on a half space. False for shapes that have one point only.
bool addSolidOnGround(const Ground& ground) {
  const Body& solid = ground.solid;
  const kernel::ConvexView<Real>& view = solid.view();
  const Vec3& s = view.size;
  const Mat3& R = solid.R;
  switch (solid.flat.type) {
    case ShapeType::Box:
      for (int i = 0; i < 8; ++i)
        ground.add(solid.world(kernel::boxVertex(s, i)), i, kCornerShare, 1);
      return true;
    case ShapeType::Capsule: {
      const Vec3 down = ground.normal * view.radius;
      for (int end = 0; end < 2; ++end)
        ground.add(solid.p + R.col[2] * (end == 0 ? -s.z : s.z) - down, end, 1, 1);
      return true;
    }
    case ShapeType::Cylinder:
      addRing(ground, solid.p - R.col[2] * s.z, R.col[0], R.col[1], s.x, 0);
      addRing(ground, solid.p + R.col[2] * s.z, R.col[0], R.col[1], s.x, kRingFeatures);
      return true;
    case ShapeType::Cone:
      addRing(ground, solid.p - R.col[2] * s.z, R.col[0], R.col[1], s.x, 0);
      ground.add(solid.p + R.col[2] * s.z, kApexFeature, kCornerShare, 1);
      return true;
    case ShapeType::Convex: {
      const kernel::HullView<Real>& hull = *view.hull;
      const Vec3 down = -transposeTimes(R, ground.normal);
      const Real reach = ground.height(solid.p);
      for (int i = 0; i < hull.numVertices; ++i) {
        if (reach - dot(down, hull.vertex(i)) > 2 * view.boundingRadius * Real(1e-3)) continue;
        const Real share = hullVertexShare(hull, i, down);
        ground.add(solid.world(hull.vertex(i)), i, share, share / kCornerShare, 1);
      }
      return true;
    }
    default:
      return false;
  }
}

/// A flat face of a body as a polygon, counter-clockwise from outside.
struct Face {
  int count = 0;
  Vec3 point[kMaxFaceVertices];
  int vertex[kMaxFaceVertices] = {};
  std::int32_t feature = -1;
  Vec3 normal{};  // outward
  bool isDisc = false;
  Vec3 center{};  // of a disc
};

/// The face of a body that looks most along `direction` (unit). False where it has none there.
bool findFace(const Body& body, const Vec3& direction, Face* face) {
  const kernel::ConvexView<Real>& view = body.view();
  const Vec3 m = transposeTimes(body.R, direction);
  Vec3 normal;
  Real offset = 0;
  const bool round = view.core == kernel::CoreType::Cylinder || view.core == kernel::CoreType::Cone;
  const int index = kernel::detail::flatFaceAlong(view, view.core, m, round ? Real(0.7) : Real(0),
                                                  &normal, &offset);
  if (index < 0) return false;
  face->normal = body.R * normal;
  face->feature = kernel::faceFeature(index);
  face->count = 0;
  const auto add = [&](const Vec3& x, int vertex) {
    face->point[face->count] = body.world(x);
    face->vertex[face->count++] = vertex;
  };
  if (view.core == kernel::CoreType::Box) {
    for (int k = 0; k < 4; ++k) {
      const int v = kernel::boxFaceVertex(index, k);
      add(kernel::boxVertex(view.size, v), v);
    }
  } else if (round) {
    kernel::SupportFeature<Real> disc;
    disc.count = 0;
    kernel::fillDisc(view.size.x, normal.z * view.size.z, index, &disc);
    static_assert(kernel::kDiscVertices <= kMaxFaceVertices);
    for (int k = 0; k < disc.count; ++k) add(disc.point(k), disc.vertex[k]);
    face->isDisc = true;
    face->center = body.world({0, 0, normal.z * view.size.z});
  } else {
    const kernel::HullView<Real>& hull = *view.hull;
    const int start = hull.faceStart[index];
    const int total = hull.faceStart[index + 1] - start, kept = std::min(total, kMaxFaceVertices);
    for (int k = 0; k < kept; ++k) {
      const int v = hull.faceVertex[start + k * total / kept];  // thinned evenly, always the same
      add(hull.vertex(v), v);
    }
  }
  return true;
}

Real areaOf(const Face& face) {
  Vec3 sum{};
  for (int i = 1; i + 1 < face.count; ++i)
    sum += cross(face.point[i] - face.point[0], face.point[i + 1] - face.point[0]);
  return Real(0.5) * norm(sum);
}

/// How far inside a face a circle is, seen along the normal, in radii; negative: it hangs over.
Real insetOf(const Face& face, const Vec3& center, Real radius) {
  if (face.isDisc) {
    const Vec3 d = center - face.center, across = d - face.normal * dot(face.normal, d);
    return (norm(face.point[0] - face.center) - norm(across)) / radius - 1;
  }
  Real least = std::numeric_limits<Real>::infinity();
  for (int i = 0; i < face.count; ++i) {
    const Vec3& p0 = face.point[i];
    const Vec3 edge = face.point[i + 1 < face.count ? i + 1 : 0] - p0;
    least =
        std::fmin(least, dot(cross(face.normal, edge), center - p0) / (radius * norm(edge)) - 1);
  }
  return least;
}

/// The polygon that two faces share, seen along `normal`, with the gap at each corner.
struct Overlap {
  kernel::ClipPolygon<Real> polygon;
  Real gap[kernel::kMaxClippedVertices];
  Real weight[kernel::kMaxClippedVertices];
  Real part[kernel::kMaxClippedVertices];  // of a point that each corner is
  Real area = 0, numCorners = 0;           // sum of the parts
  Vec3 u, v, normal, origin;
};

/// Corners within `slop` [m] of an edge of the other face are on it.
void shareFaces(const Face& face1, const Face& face2, const Vec3& normal, const Vec3& origin,
                Real slop, Overlap* out) {
  out->normal = normal;
  out->origin = origin;
  kernel::completeFrame(normal, &out->u, &out->v);
  Real refU[kMaxFaceVertices], refV[kMaxFaceVertices];
  for (int i = 0; i < face2.count; ++i) {
    const Vec3 p = face2.point[i] - origin;
    refU[i] = dot(out->u, p);
    refV[i] = dot(out->v, p);
  }
  kernel::ClipPolygon<Real>& polygon = out->polygon;
  kernel::ClipPolygon<Real> scratch;
  for (int i = 0; i < face1.count; ++i) {
    const Vec3 p = face1.point[i] - origin;
    polygon.u[i] = dot(out->u, p);
    polygon.v[i] = dot(out->v, p);
    polygon.w[i] = dot(normal, p);
    polygon.edge[i] = i;
  }
  polygon.count = face1.count;
  kernel::clipToPolygon(refU, refV, face2.count, slop, &polygon, &scratch);
  cornerWeights(polygon.u, polygon.v, polygon.count, out->weight, &out->area);
  straightenEdges(polygon.u, polygon.v, polygon.count, out->weight);
  out->numCorners = countCorners(polygon.u, polygon.v, polygon.count, out->part);
  // Height of face 2 below each corner.
  const Vec3& n2 = face2.normal;
  const Real n2u = dot(out->u, n2), n2v = dot(out->v, n2), n2w = dot(normal, n2);
  const Real offset = dot(n2, face2.point[0] - origin);
  for (int i = 0; i < polygon.count; ++i) {
    const Real below = (offset - n2u * polygon.u[i] - n2v * polygon.v[i]) / n2w;
    out->gap[i] = polygon.w[i] - below;
  }
}

struct FacePair {
  const Face& face1;
  const Face& face2;
  const DistanceResult& nearest;
  Vec3 midpoint;  // of the nearest points, relative to the origin of shape 1
  Real size;
};

/// The nearest points alone, as the corner that they are.
void addNearest(const FacePair& pair, Real weight, Points& out) {
  out.add(pair.midpoint, pair.nearest.normal, pair.nearest.distance, pair.face1.feature,
          pair.face2.feature, kCornerShare * weight, weight);
}

/// A face on a face. False where they do not lie over each other.
bool addFaceOnFace(const FacePair& pair, Points& out) {
  const Vec3 &n = pair.nearest.normal, &n1 = pair.face1.normal, &n2 = pair.face2.normal;
  // Neither face may be the reference all of a sudden: the larger one is, by as much as it is
  // larger. Tilted faces have one that is met.
  const Real area1 = areaOf(pair.face1), area2 = areaOf(pair.face2);
  if (!(area1 > 0) || !(area2 > 0) || !(dot(n1, n2) < 0)) return false;
  const Real ratio = std::fmin(area1, area2) / std::fmax(area1, area2);
  const Real less = ratio * ratio * ratio * ratio;
  const Vec3 mean = area2 >= area1 ? n2 - n1 * less : n2 * less - n1;
  const Real tilt = norm(cross(n1, n2));
  const Real tilted = fade(tilt, 0, Real(0.01));
  Vec3 normal = mean * ((1 - tilted) / norm(mean)) + n * tilted;
  normal = normal / norm(normal);
  if (!(dot(normal, n2) > Real(0.2)) || !(dot(normal, n1) < Real(-0.2))) return false;

  Overlap overlap;
  constexpr Real kRounding = 1e-12;
  shareFaces(pair.face1, pair.face2, normal, pair.midpoint, kRounding * pair.size, &overlap);
  const kernel::ClipPolygon<Real>& polygon = overlap.polygon;
  if (polygon.count < 3 || !(overlap.area > 0)) return false;

  // Crossing edges touch at one point, a tilted rim at its lowest.
  const Real off = std::fmin(norm(cross(n, n1)), norm(cross(n, n2)));
  Real single = fade(off, Real(0.001), Real(0.1));
  if (pair.face1.isDisc || pair.face2.isDisc)
    single = std::fmax(single, fade(tilt, Real(0.005), Real(0.05)));
  // A sliver is no more than a corner.
  const Real broad = fade(overlap.area, 0, Real(0.05) * std::fmin(area1, area2));
  const Real total = (broad + (1 - broad) * kCornerShare) * (1 - single);
  const Real counted =
      overlap.numCorners > 0 ? (broad + (1 - broad) / overlap.numCorners) * (1 - single) : 0;

  Real least = overlap.gap[0];
  for (int i = 1; i < polygon.count; ++i) least = std::fmin(least, overlap.gap[i]);
  const Real shift = pair.nearest.distance - least;
  if (single > 0) addNearest(pair, single, out);
  for (int i = 0; i < polygon.count; ++i) {
    const Real gap = overlap.gap[i];
    const int before = polygon.edge[i > 0 ? i - 1 : polygon.count - 1];
    const kernel::ClippedFeature feature = kernel::clippedFeature(
        before, polygon.edge[i], pair.face2.vertex, pair.face2.count, pair.face2.feature,
        pair.face1.vertex, pair.face1.count, pair.face1.feature);
    const Vec3 position = overlap.origin + overlap.u * polygon.u[i] + overlap.v * polygon.v[i] +
                          normal * (polygon.w[i] - Real(0.5) * gap);
    const Real share = overlap.weight[i] * total;
    out.add(position, normal, gap + shift, feature.incident, feature.reference, share,
            share / kCornerShare, overlap.part[i] * counted);
  }
  return true;
}

/// A capsule, or a cylinder or cone on its side, on a face of another body.
bool addLineOnFace(const Body& round, const Body& flat, const DistanceResult& nearest,
                   const Vec3& midpoint, Points& out) {
  const Vec3 up = round.isFirst ? nearest.normal : -nearest.normal;  // from flat to round
  Face face;
  if (!findFace(flat, up, &face)) return false;
  const Real single = fade(norm(cross(up, face.normal)), 0, Real(0.05));
  if (single >= 1) return false;
  const kernel::ConvexView<Real>& view = round.view();
  const Vec3 m = transposeTimes(round.R, face.normal);
  Vec3 ends[2] = {{0, 0, -view.size.z}, {0, 0, view.size.z}};
  Real share = kCornerShare;
  if (view.core == kernel::CoreType::Segment) {
    share = 1;
    for (Vec3& end : ends) end = end - m * view.radius;
  } else {
    const Real radial = std::sqrt(m.x * m.x + m.y * m.y);
    if (!(radial > 0)) return false;
    const Vec3 down{-m.x / radial * view.size.x, -m.y / radial * view.size.x, 0};
    ends[0] = ends[0] + down;
    if (view.core == kernel::CoreType::Cylinder) ends[1] = ends[1] + down;
  }
  Vec3 e1, e2;
  kernel::completeFrame(face.normal, &e1, &e2);
  Real refU[kMaxFaceVertices], refV[kMaxFaceVertices];
  for (int i = 0; i < face.count; ++i) {
    refU[i] = dot(e1, face.point[i] - midpoint);
    refV[i] = dot(e2, face.point[i] - midpoint);
  }
  const Vec3 a = round.world(ends[0]), b = round.world(ends[1]);
  const Real u[2] = {dot(e1, a - midpoint), dot(e1, b - midpoint)};
  const Real v[2] = {dot(e2, a - midpoint), dot(e2, b - midpoint)};
  Real t[2];
  int edge[2];
  if (!kernel::clipSegmentToPolygon(refU, refV, face.count, Real(0), u, v, &t[0], &t[1], &edge[0],
                                    &edge[1]))
    return false;
  const Ground ground{face.normal, face.point[0], face.feature, round, out};
  // Two ends that come together are one point.
  const Real each = (1 - single) * (1 + fade(t[1] - t[0], 0, Real(0.05))) / 2;
  for (int k = 0; k < 2; ++k) ground.add(a + (b - a) * t[k], k, share * each, each);
  out.add(midpoint, nearest.normal, nearest.distance, nearest.feature1, nearest.feature2,
          share * single, single);
  return true;
}

bool isFaced(ShapeType type) {
  return type == ShapeType::Box || type == ShapeType::Convex || type == ShapeType::Cylinder ||
         type == ShapeType::Cone;
}

/// Whether a round body lies on its side along the normal.
bool liesOnSide(const Body& body, const Vec3& normal) {
  switch (body.flat.type) {
    case ShapeType::Capsule:
      return true;
    case ShapeType::Cylinder:
      return std::fabs(dot(body.R.col[2], normal)) < Real(0.7);
    case ShapeType::Cone:
      // The apex side of a cone is its side, too.
      return dot(body.R.col[2], body.isFirst ? normal : -normal) < Real(0.7);
    default:
      return false;
  }
}

/// A disc that is wholly over a face stands on it as on the ground. Returns how much it does: less
/// than 1 close to an edge.
Real addDiscOnFace(const Body& body, const Face& disc, const Face& ground, Points& out) {
  if (!disc.isDisc) return 0;
  const Real radius = body.view().size.x;
  const Real standing = fade(insetOf(ground, disc.center, radius), 0, Real(0.1));
  if (!(standing > 0)) return 0;
  out.scale = standing;
  addRing({ground.normal, ground.point[0], ground.feature, body, out}, disc.center, body.R.col[0],
          body.R.col[1], radius, 0);
  out.scale = 1;
  return standing;
}

/// A hull whose low vertices are all over a face stands on it as on the ground, and rolls as there.
Real addHullOnFace(const Body& body, const Face& face, Points& out) {
  if (body.flat.type != ShapeType::Convex) return 0;
  const Ground ground{face.normal, face.point[0], face.feature, body, out};
  const kernel::HullView<Real>& hull = *body.view().hull;
  const Real size = body.view().boundingRadius;
  Real least = 1;
  for (int i = 0; i < hull.numVertices; ++i) {
    const Vec3 x = body.world(hull.vertex(i));
    const Real height = ground.height(x);
    if (height >= out.margin()) continue;
    // One that hangs over an edge does not matter before it comes down.
    const Real above = std::fmax(height, Real(0)) / out.margin();
    least = std::fmin(least, insetOf(face, x, size) + 1 + 4 * above);
  }
  const Real standing = fade(least, 0, Real(0.05));
  if (!(standing > 0)) return 0;
  out.scale = standing;
  addSolidOnGround(ground);
  out.scale = 1;
  return standing;
}

bool addPlanePoints(const Body& solid, const Body& plane, Points& out) {
  return addSolidOnGround({plane.R.col[2], plane.p, -1, solid, out});
}

void addMeshPoints(const Body& mesh, const Shape& shape, const Body& plane, Points& out) {
  const Ground ground{plane.R.col[2], plane.p, -1, mesh, out};
  const auto vertices = static_cast<const Mesh&>(shape).vertices();
  for (std::size_t i = 0; i < vertices.size(); ++i)
    ground.add(mesh.world(vertices[i]), static_cast<std::int32_t>(i), kCornerShare, 1);
}

bool addFacedPoints(const Body& body1, const Body& body2, const DistanceResult& nearest,
                    const Vec3& midpoint, Points& out) {
  const bool faced1 = isFaced(body1.flat.type), faced2 = isFaced(body2.flat.type);
  const bool side1 = liesOnSide(body1, nearest.normal), side2 = liesOnSide(body2, nearest.normal);
  if (side1 && side2) return false;
  if (side1) return faced2 && addLineOnFace(body1, body2, nearest, midpoint, out);
  if (side2) return faced1 && addLineOnFace(body2, body1, nearest, midpoint, out);
  if (!faced1 || !faced2) return false;
  Face face1, face2;
  if (!findFace(body1, -nearest.normal, &face1) || !findFace(body2, nearest.normal, &face2))
    return false;
  const Real tilt = norm(cross(face1.normal, face2.normal));
  if (dot(face1.normal, face2.normal) < 0 && tilt < Real(0.7)) {
    // Of two discs the smaller one stands.
    Real standing = addDiscOnFace(body1, face1, face2, out);
    if (!(standing > 0)) standing = addDiscOnFace(body2, face2, face1, out);
    if (!(standing > 0)) standing = addHullOnFace(body1, face2, out);
    if (!(standing > 0)) standing = addHullOnFace(body2, face1, out);
    if (standing >= 1) return true;
    out.scale = 1 - standing;
  }
  const Real size = std::fmin(body1.view().boundingRadius, body2.view().boundingRadius);
  const FacePair pair{face1, face2, nearest, midpoint, size};
  if (!addFaceOnFace(pair, out)) addNearest(pair, 1, out);
  return true;
}

}  // namespace

bool writeFlatPoints(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2,
                     const DistanceResult& nearest, Real margin, PairDistance* out) {
  const ShapeType type1 = s1.type(), type2 = s2.type();
  const Body body1{s1.flat(), X_W1.rotation, {}, true};
  const Body body2{s2.flat(), X_W2.rotation, X_W2.translation - X_W1.translation, false};
  Points points(X_W1.translation, margin, out);
  bool found = false;
  if (type2 == ShapeType::Plane && type1 == ShapeType::Mesh) {
    addMeshPoints(body1, s1, body2, points);
    found = true;
  } else if (type1 == ShapeType::Plane && type2 == ShapeType::Mesh) {
    addMeshPoints(body2, s2, body1, points);
    found = true;
  } else if (type2 == ShapeType::Plane) {
    found = addPlanePoints(body1, body2, points);
  } else if (type1 == ShapeType::Plane) {
    found = addPlanePoints(body2, body1, points);
  } else {
    const Vec3 midpoint = (nearest.point1 + nearest.point2) * Real(0.5) - X_W1.translation;
    found = addFacedPoints(body1, body2, nearest, midpoint, points);
  }
  return found && points.finish(nearest);
}

}  // namespace tangere::integrator
