// SPDX-License-Identifier: Apache-2.0
#include "collision/height_field_pairs.hpp"

#include "collision/kernels/triangle_box.hpp"
#include "collision/mesh_body.hpp"
#include "collision/mesh_distance.hpp"
#include "collision/mesh_pairs.hpp"
#include "collision/mesh_surface.hpp"
#include "collision/mesh_traversal.hpp"
#include "geometry/height_field_data.hpp"

#include <cmath>
#include <limits>

namespace tangere::collision {

namespace {

using geometry::HeightFieldData;

/// The terrain as BallOnSurface and BodyOnSurface want it.
struct TerrainSurface {
  const HeightFieldData& field;

  [[nodiscard]] Vec3 corner(int t, int k) const { return field.corner(t, k); }
  [[nodiscard]] Vec3 normal(int t) const { return field.normal(t); }
  /// The same for a triangle whose corners are known.
  [[nodiscard]] static Vec3 normalOf(int, const Vec3* v) {
    const Vec3 n = cross(v[1] - v[0], v[2] - v[0]);
    return n / norm(n);
  }
  [[nodiscard]] bool isSolid() const { return true; }
  [[nodiscard]] bool hasSharpEdge(int t) const {
    const int cell = t >> 1, j = cell / field.numCellsX(), i = cell - j * field.numCellsX();
    const int half = t & 1, other = 1 - half;
    // Every triangle has one neighbour in its own cell; the two others are in the cells below and
    // to the right of a lower half, above and to the left of an upper one.
    const int nextI = half == 0 ? i + 1 : i - 1, nextJ = half == 0 ? j - 1 : j + 1;
    if (nextI < 0 || nextI >= field.numCellsX() || nextJ < 0 || nextJ >= field.numCellsY())
      return true;
    const Vec3 n = slope(i, j, half);
    const Real n2 = geometry::kSharpCosine * geometry::kSharpCosine * squaredNorm(n);
    return isSharp(n, n2, slope(i, nextJ, other)) || isSharp(n, n2, slope(nextI, j, other)) ||
           isSharp(n, n2, slope(i, j, other));
  }
  /// Both point up: their product is positive where the edge is not sharp.
  [[nodiscard]] static bool isSharp(const Vec3& n, Real scaledN2, const Vec3& m) {
    const Real c = dot(n, m);
    return !(c > 0) || c * c <= scaledN2 * squaredNorm(m);
  }
  /// Along the normal of a half of cell (i, j), with z = 1.
  [[nodiscard]] Vec3 slope(int i, int j, int half) const {
    const Real* const h = &field.heights[j * field.numX + i];
    const Real h00 = h[0], h10 = h[1], h01 = h[field.numX], h11 = h[field.numX + 1];
    const bool lower = half == 0;
    return {(lower ? h00 - h10 : h01 - h11) / field.stepX,
            (lower ? h10 - h11 : h00 - h01) / field.stepY, 1};
  }
  [[nodiscard]] int across(int t, int k) const { return field.across(t, k); }
  bool acrossVertex(int t, int k, Vec3* v) const {
    const int s = field.across(t, k);
    if (s < 0) return false;
    // Seen from a triangle of the other half, edges keep their place: 0 and 1 of one are 1 and 2,
    // or 2 and 0, of the other; the far vertex is the one before the shared edge.
    static constexpr int kFar[2][3] = {{0, 1, 2}, {1, 2, 0}};
    *v = field.corner(s, kFar[t & 1][k]);
    return true;
  }
  bool acrossNormal(int t, int k, Vec3* n) const {
    const int s = field.across(t, k);
    if (s < 0) return false;
    *n = field.normal(s);
    return true;
  }
  template <class Visit>
  bool visitRing(int t, int k, const Visit& visit) const {
    const int cell = t >> 1, j0 = cell / field.numCellsX(), i0 = cell % field.numCellsX();
    const int i = (t & 1) == 0 ? (k == 0 ? i0 : i0 + 1) : (k == 1 ? i0 + 1 : i0);
    const int j = (t & 1) == 0 ? (k == 2 ? j0 + 1 : j0) : (k == 0 ? j0 : j0 + 1);
    static constexpr int kStep[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
    for (const auto& step : kStep) {
      const int a = i + step[0], b = j + step[1];
      if (a < 0 || b < 0 || a >= field.numX || b >= field.numY) continue;
      if (!visit(field.vertex(a, b))) return false;
    }
    return true;
  }
  [[nodiscard]] Vec3 outward(int t, TriangleFeature feature) const {
    return geometry::terrainNormal(field, t, feature);
  }
};

/// Where a body is in the frame of the terrain: its box there, and its own box, turned. A ball has
/// only the first.
class BodyBox {
 public:
  BodyBox(const ConvexView<Real>& view, const Transform& X_FC) {
    if (view.core == CoreType::Point) {
      aabb = {X_FC.translation, X_FC.translation};
      aabb.expand(view.radius);
      return;
    }
    const Aabb own = boxOf(view);
    aabb = transformed(own, X_FC);
    turned_ = true;
    center_ = X_FC * own.center();
    half_ = own.halfExtents();
    axes_ = X_FC.rotation;
    // Far from the middle of the terrain positions are less exact than the body is small.
    slack_ = Real(1e-14) * (std::fabs(center_.x) + std::fabs(center_.y) + std::fabs(center_.z));
  }

  /// Whether a face of the body's own box has a box of the terrain (middle and half sizes) beyond
  /// it, by more than rounding. Most cells under a tilted body are.
  [[nodiscard]] bool misses(const Vec3& middle, const Vec3& half) const {
    if (!turned_) return false;
    const Vec3 offset = middle - center_;
    for (int k = 0; k < 3; ++k) {
      const Vec3& axis = axes_.col[k];
      const Real reach = half_[k] + (std::fabs(axis.x) * half.x + std::fabs(axis.y) * half.y +
                                     std::fabs(axis.z) * half.z);
      if (std::fabs(dot(axis, offset)) > reach * (1 + Real(1e-9)) + slack_) return true;
    }
    return false;
  }

  Aabb aabb;

 private:
  bool turned_ = false;
  Vec3 center_{}, half_{};
  Mat3 axes_{};
  Real slack_ = 0;
};

/// Calls visit(triangle, a, b, c) for the triangles whose cells the body's boxes meet; stops when
/// it returns true.
template <class Visit>
bool visitTriangles(const HeightFieldData& field, const BodyBox& body, const Visit& visit) {
  const Aabb& box = body.aabb;
  if (box.lower.z > field.extent.upper || box.upper.z < field.extent.lower) return false;
  if (box.lower.x > field.sizeX / 2 || box.upper.x < -field.sizeX / 2 ||
      box.lower.y > field.sizeY / 2 || box.upper.y < -field.sizeY / 2)
    return false;
  const int i0 = field.cellX(box.lower.x), i1 = field.cellX(box.upper.x);
  const int j0 = field.cellY(box.lower.y), j1 = field.cellY(box.upper.y);
  // The level of the pyramid on which the box covers a few blocks only; from there down.
  int level = 0;
  const int last = static_cast<int>(field.levels.size()) - 1;
  while (level < last && ((i1 >> level) - (i0 >> level) > 1 || (j1 >> level) - (j0 >> level) > 1))
    ++level;
  struct Block {
    int level, i, j;
  } stack[64];
  int size = 0;
  for (int j = j1 >> level; j >= j0 >> level; --j)
    for (int i = i1 >> level; i >= i0 >> level; --i) stack[size++] = {level, i, j};
  while (size > 0) {
    const Block b = stack[--size];
    const HeightFieldData::Level& blocks = field.levels[b.level];
    const HeightFieldData::Extent& e = blocks.blocks[b.j * blocks.numX + b.i];
    if (e.lower > box.upper.z || e.upper < box.lower.z) continue;
    const Real half = Real(0.5) * Real(1 << b.level);  // of the block, in cells
    if (body.misses({(Real(2 * b.i + 1) * half) * field.stepX - field.sizeX / 2,
                     (Real(2 * b.j + 1) * half) * field.stepY - field.sizeY / 2,
                     Real(0.5) * (e.lower + e.upper)},
                    {half * field.stepX, half * field.stepY, Real(0.5) * (e.upper - e.lower)}))
      continue;
    if (b.level == 0) {
      const Vec3 v00 = field.vertex(b.i, b.j), v10 = field.vertex(b.i + 1, b.j);
      const Vec3 v01 = field.vertex(b.i, b.j + 1), v11 = field.vertex(b.i + 1, b.j + 1);
      const int t = 2 * (b.j * field.numCellsX() + b.i);
      if (visit(t, v00, v10, v11) || visit(t + 1, v00, v11, v01)) return true;
      continue;
    }
    const int down = b.level - 1;
    const HeightFieldData::Level& fine = field.levels[down];
    for (int c = 3; c >= 0; --c) {
      const int i = 2 * b.i + (c & 1), j = 2 * b.j + (c >> 1);
      if (i >= fine.numX || j >= fine.numY) continue;
      if (i < i0 >> down || i > i1 >> down || j < j0 >> down || j > j1 >> down) continue;
      stack[size++] = {down, i, j};
    }
  }
  return false;
}

/// Whether a body that has moved by `move` to X_FC touches the surface. Most triangles near are
/// behind the plane along which it has gone, which is soon told.
bool touchesSurfaceAfter(const HeightFieldData& field, const ConvexView<Real>& view,
                         const Transform& X_FC, const BodyBox& box, const Vec3& move) {
  const Vec3 way = move / norm(move);
  int index;
  const Vec3 down = transposeTimes(X_FC.rotation, -way);
  const Real lowest = dot(way, X_FC * kernel::supportCore(view, down, &index)) - view.radius;
  const Transform X_CF = inverse(X_FC);
  kernel::ConvexHint<Real> hint;
  return visitTriangles(field, box, [&](int, const Vec3& a, const Vec3& b, const Vec3& c) {
    if (larger(dot(way, a), larger(dot(way, b), dot(way, c))) < lowest) return false;
    if (view.core == CoreType::Box && view.radius == 0)
      return kernel::overlapTriangleBox(X_CF * a, X_CF * b, X_CF * c, view.size);
    const Vec3 v[3] = {a, b, c};
    return kernel::convexOverlap(view, triangleView(v), X_CF, &hint);
  });
}

bool touchesSurface(const HeightFieldData& field, const ConvexView<Real>& view,
                    const Transform& X_FC, const BodyBox& box) {
  if (view.core == CoreType::Point) {
    const Vec3 center = X_FC * view.center;
    const Real r2 = view.radius * view.radius;
    return visitTriangles(field, box, [&](int, const Vec3& a, const Vec3& b, const Vec3& c) {
      return squaredNorm(center - kernel::closestOnTriangle(center, a, b, c).point) <= r2;
    });
  }
  const Transform X_CF = inverse(X_FC);
  if (view.core == CoreType::Box && view.radius == 0)
    return visitTriangles(field, box, [&](int, const Vec3& a, const Vec3& b, const Vec3& c) {
      return kernel::overlapTriangleBox(X_CF * a, X_CF * b, X_CF * c, view.size);
    });
  kernel::ConvexHint<Real> hint;
  return visitTriangles(field, box, [&](int, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 v[3] = {a, b, c};
    return kernel::convexOverlap(view, triangleView(v), X_CF, &hint);
  });
}

/// Contacts of a body that is within the walls. Returns whether the surface is touched.
bool gatherContacts(const HeightFieldData& field, const ConvexView<Real>& view,
                    const Transform& X_FC, const BodyBox& box, std::vector<SurfaceContact>& out) {
  const TerrainSurface surface{field};
  bool touched = false;
  const auto feed = [](auto& body) {
    return [&body](int t, const Vec3& a, const Vec3& b, const Vec3& c) {
      body.addTriangle(t, a, b, c);
      return false;
    };
  };
  if (view.core == CoreType::Point) {
    BallOnSurface body(surface, X_FC * view.center, view.radius, out);
    visitTriangles(field, box, feed(body));
    touched = body.finish();
  } else {
    if (box.aabb.lower.z > field.extent.upper) return false;
    BodyOnSurface body(surface, view, X_FC, out);
    visitTriangles(field, box, feed(body));
    touched = body.finish(
        [&](const Vec3& move) {
          const Transform moved{X_FC.rotation, X_FC.translation + move};
          return !geometry::isInside(field, moved * view.center) &&
                 !touchesSurfaceAfter(field, view, moved, BodyBox(view, moved), move);
        },
        [&](const Vec3& move) {
          const Transform moved{X_FC.rotation, X_FC.translation + move};
          return distanceOfApart(field.solidMesh(), view, moved, move);
        });
  }
  return touched;
}

/// The field as its mesh.
PairInput withSolid(const PairInput& in) {
  return {in.shape1, in.X_W1, in.shape2.heightField->solidMesh(), in.X_W2, nullptr};
}
PairFunctions solidFunctions(const PairInput& in) {
  return meshPairFunctions(in.shape1.type, ShapeType::Mesh);
}

int collideConvexField(const PairInput& in, const CollisionOption& option,
                       CollisionResult& result) {
  const ConvexView<Real>& view = in.shape1.convex;
  const HeightFieldData& field = *in.shape2.heightField;
  const Transform X_FC = inverseTimes(in.X_W2, in.X_W1);
  const Vec3 center = X_FC * view.center;
  if (center.z - view.boundingRadius > field.extent.upper) return 0;
  const BodyBox box(view, X_FC);
  // The grid knows neither walls nor floor.
  if (!field.isWithinWalls(box.aabb))
    return box.aabb.overlaps(field.bounds)
               ? solidFunctions(in).collide(withSolid(in), option, result)
               : 0;
  std::vector<SurfaceContact>& contacts = contactScratch();
  if (!gatherContacts(field, view, X_FC, box, contacts))
    return geometry::isInside(field, center)
               ? solidFunctions(in).collide(withSolid(in), option, result)
               : 0;
  return addManifolds(contacts, {in.X_W2, false, view.boundingRadius}, option, result);
}

bool overlapConvexField(const PairInput& in) {
  const ConvexView<Real>& view = in.shape1.convex;
  const HeightFieldData& field = *in.shape2.heightField;
  const Transform X_FC = inverseTimes(in.X_W2, in.X_W1);
  const Vec3 center = X_FC * view.center;
  if (center.z - view.boundingRadius > field.extent.upper) return false;
  // Under the surface already: no triangle needs a look.
  if (geometry::isInside(field, center)) return true;
  const BodyBox box(view, X_FC);
  if (!field.isWithinWalls(box.aabb))
    return box.aabb.overlaps(field.bounds) && solidFunctions(in).overlap(withSolid(in));
  return touchesSurface(field, view, X_FC, box);
}

void distanceConvexField(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
  const ConvexView<Real>& view = in.shape1.convex;
  const HeightFieldData& field = *in.shape2.heightField;
  const Transform X_FC = inverseTimes(in.X_W2, in.X_W1);
  // Within the walls nothing but the surface can be nearest.
  const BodyBox box(view, X_FC);
  const geometry::MeshData& mesh =
      field.isWithinWalls(box.aabb) ? field.surfaceMesh() : field.solidMesh();
  const NearestTriangle nearest = nearestTriangle(mesh, view, X_FC, option.upperBound);
  if (nearest.touching || geometry::isInside(field, X_FC * view.center)) {
    solidFunctions(in).distance(withSolid(in), option, out);
    return;
  }
  if (!nearest.found) {
    writeBeyond(in.X_W1 * view.center, in.X_W2.translation, option.upperBound, out);
    return;
  }
  out.distance = nearest.distance;
  out.normal = in.X_W2.rotation * nearest.normal;
  out.point2 = in.X_W2 * nearest.onSurface;
  out.point1 = out.point2 + out.normal * out.distance;
  out.feature2 = nearest.triangle;
}

int collideMeshField(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  return solidFunctions(in).collide(withSolid(in), option, result);
}

bool overlapMeshField(const PairInput& in) { return solidFunctions(in).overlap(withSolid(in)); }

void distanceMeshField(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
  solidFunctions(in).distance(withSolid(in), option, out);
}

}  // namespace

PairFunctions heightFieldPairFunctions(ShapeType type1, ShapeType type2) {
  if (type2 != ShapeType::HeightField) return {};
  if (type1 == ShapeType::Mesh) return {collideMeshField, overlapMeshField, distanceMeshField};
  const bool convex = type1 <= ShapeType::Ellipsoid || type1 == ShapeType::Convex;
  if (!convex) return {};
  return {collideConvexField, overlapConvexField, distanceConvexField};
}

}  // namespace tangere::collision
