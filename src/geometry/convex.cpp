// SPDX-License-Identifier: Apache-2.0
//
// Convex hulls as shapes: the hull of the points, laid out for kernels.
#include <tangere/shape.hpp>

#include "geometry/convex_hull.hpp"
#include "geometry/flat_shape.hpp"
#include "geometry/kernels/point_distance_hull.hpp"
#include "geometry/kernels/support.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/query_helpers.hpp"

#include <cmath>

namespace tangere {

namespace geometry {

struct ConvexData : FlatShape {
  ConvexHull hull;
  std::vector<Real> x, y, z;  // padded to a multiple of 4 with vertex 0
  kernel::HullView<Real> view;
  VolumeIntegrals volume;
  Aabb box;
};

}  // namespace geometry

namespace {

using geometry::ConvexData;

const ConvexData& dataOf(const Shape& shape) {
  return static_cast<const ConvexData&>(shape.flat());
}

geometry::VolumeIntegrals integrate(const geometry::ConvexHull& hull, const Vec3& origin) {
  geometry::VolumeIntegrals out{.origin = origin};
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    const auto at = [&](std::size_t i) { return hull.vertices[static_cast<std::size_t>(face[i])]; };
    for (std::size_t i = 1; i + 1 < face.size(); ++i) out.addTriangle(at(0), at(i), at(i + 1));
  }
  return out;
}

void fillView(ConvexData* data) {
  const geometry::ConvexHull& hull = data->hull;
  for (const Vec3& v : hull.vertices) {
    data->x.push_back(v.x);
    data->y.push_back(v.y);
    data->z.push_back(v.z);
  }
  while (data->x.size() % 4 != 0) {
    data->x.push_back(data->x[0]);
    data->y.push_back(data->y[0]);
    data->z.push_back(data->z[0]);
  }
  data->view = {.x = data->x.data(),
                .y = data->y.data(),
                .z = data->z.data(),
                .numVertices = hull.numVertices(),
                .neighborStart = hull.neighborStart.data(),
                .neighbor = hull.neighbor.data(),
                .numFaces = hull.numFaces(),
                .faceNormal = hull.faceNormal.data(),
                .faceOffset = hull.faceOffset.data(),
                .faceStart = hull.faceStart.data(),
                .faceVertex = hull.faceVertex.data(),
                .vertexFaceStart = hull.vertexFaceStart.data(),
                .vertexFace = hull.vertexFace.data(),
                .numEdges = hull.numEdges(),
                .edgeVertex = hull.edgeVertex.data(),
                .edgeFace = hull.edgeFace.data()};
}

std::shared_ptr<const ConvexData> makeData(std::span<const Vec3> points) {
  auto data = std::make_shared<ConvexData>();
  data->hull = geometry::computeConvexHull(points);
  fillView(data.get());
  data->box = {data->hull.vertices[0], data->hull.vertices[0]};
  for (const Vec3& v : data->hull.vertices) data->box.merge(v);
  // About the centroid, so that a hull far from its origin keeps its digits.
  const Vec3 guess = integrate(data->hull, data->box.center()).centroid();
  data->volume = integrate(data->hull, guess);

  data->type = ShapeType::Convex;
  data->convex.core = kernel::CoreType::Hull;
  data->convex.hull = &data->view;
  data->convex.center = data->volume.centroid();
  Real squaredRadius = 0;
  for (const Vec3& v : data->hull.vertices) {
    squaredRadius = std::fmax(squaredRadius, squaredNorm(v - data->convex.center));
  }
  // One ulp up: the radius is a bound.
  data->convex.boundingRadius = std::sqrt(squaredRadius) * (1 + 4e-16);
  return data;
}

}  // namespace

Convex::Convex(std::span<const Vec3> points) : Convex(makeData(points)) {}

Convex::Convex(const std::shared_ptr<const geometry::ConvexData>& data)
    : Shape(ShapeType::Convex, data, data->box) {}

std::span<const Vec3> Convex::vertices() const { return dataOf(*this).hull.vertices; }

int Convex::numFaces() const { return dataOf(*this).hull.numFaces(); }

std::span<const int> Convex::face(int index) const { return dataOf(*this).hull.face(index); }

Vec3 Convex::support(const Vec3& direction) const {
  const kernel::HullView<Real>& hull = dataOf(*this).view;
  return hull.vertex(kernel::supportVertex(hull, geometry::scaledDirection(direction)));
}

Aabb Convex::worldAabb(const Transform& X_WS) const {
  const std::span<const Vec3> points = vertices();
  const Vec3 first = X_WS * points[0];
  Aabb box{first, first};
  for (const Vec3& p : points.subspan(1)) box.merge(X_WS * p);
  return box;
}

MassProperties Convex::massProperties(Real density) const {
  geometry::requireDensity(density);
  return dataOf(*this).volume.massProperties(density);
}

std::optional<RayHit> Convex::rayCast(const Ray& ray) const {
  const ConvexData& data = dataOf(*this);
  const Vec3& center = data.convex.center;
  return geometry::firstHit(ray, center, [&](const kernel::LineT<Real>& line) {
    kernel::RayInterval<Real> inside = kernel::wholeLine<Real>();
    for (int f = 0; f < data.view.numFaces; ++f) {
      const Vec3& n = data.view.faceNormal[f];
      kernel::clipRayInterval(line, n, data.view.faceOffset[f] - dot(n, center), &inside);
    }
    return inside;
  });
}

SignedDistance Convex::signedDistance(const Vec3& point) const {
  const ConvexData& data = dataOf(*this);
  // Beyond, rounding of the point is visible on the scale of the hull and its foot on a face is
  // lost.
  const Real limit = 1e12 * data.convex.boundingRadius;
  return geometry::signedDistanceAt(point, data.convex.center, limit, [&](const Vec3& p) {
    const kernel::PointDistance<Real> d = kernel::pointDistanceHull(data.view, p);
    return SignedDistance{d.distance, d.closest, d.normal};
  });
}

}  // namespace tangere
