// SPDX-License-Identifier: Apache-2.0
//
// A triangle mesh with all that queries need: outward triangles, unit normals, who is next to whom,
// and a tree of boxes. Built once, then only read.
#pragma once

#include "core/arena.hpp"
#include "geometry/bvh.hpp"
#include "geometry/flat_shape.hpp"
#include "geometry/mass_properties.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tangere::geometry {

/// How the triangles of each child of a node lie: the direction of their mean normal, the slab
/// across it that holds them (unit coordinates), and the cone that holds their normals and those of
/// the triangles next to them. Where a point is nearest locally, the direction to it is in that
/// cone. `cosine` -1: any direction.
struct alignas(64) NodeFacing {
  Float4 axis[3];
  Float4 lower, upper;  ///< axis . x
  Float4 cosine, sine;  ///< of the half angle of the cone
};

struct MeshData : FlatShape {
  std::vector<Vec3> vertices;
  /// Without degenerate ones; turned outward where the mesh is closed and was inside out.
  std::vector<Triangle> triangles;
  std::vector<Vec3> normals;  ///< unit, per triangle
  /// Half-edge 3 t + k runs from vertex k to vertex k + 1 of triangle t; here is the half-edge that
  /// runs back along it in the next triangle, or -1 at a rim and where the surface forks.
  std::vector<std::int32_t> opposite;
  std::vector<Vec3> corners;  ///< three per slot of the tree, in its order
  /// Bit k: edge k of the triangle is a rim or bends by more than 20 degrees.
  std::vector<std::uint8_t> sharpEdges;
  Bvh bvh;
  Aabb bounds;
  Vec3 center{};
  Real radius = 0;  ///< of the ball about `center` around all vertices
  int numDropped = 0;
  bool closed = false;
  /// Closed, and every half-edge has its opposite: the nearest feature tells inside from outside.
  /// Otherwise the winding number does.
  bool hasPseudonormals = false;
  bool flipped = false;

  /// Throws InvalidInput on an index out of range, a coordinate that is not a usable number, or
  /// when no triangle with an area is left.
  MeshData(std::span<const Vec3> vertices, std::span<const Triangle> triangles);

  /// Of a closed mesh; summed anew at each call.
  [[nodiscard]] VolumeIntegrals integrals() const;
  /// One per node of the tree; computed when first asked for.
  [[nodiscard]] const std::vector<NodeFacing>& nodeFacing() const;
  /// `corners` in unit coordinates, nine floats per slot; computed together with the above. Behind
  /// the last slot is room to read a leaf's worth on.
  [[nodiscard]] const std::vector<float>& unitCorners() const;
  /// The same solid as its convex hull; null where the mesh is open or not convex (to 1e-9 of its
  /// size). Built when first asked for.
  [[nodiscard]] const Convex* asConvex() const;

  [[nodiscard]] int numTriangles() const { return static_cast<int>(triangles.size()); }
  [[nodiscard]] const Vec3& corner(int triangle, int k) const {
    return vertices[triangles[triangle][k]];
  }

  /// Calls visit(triangle, k) for every triangle of the fan around vertex k of `triangle`, itself
  /// included, k being the vertex's place in each; stops when visit returns false and returns that.
  template <class Visit>
  bool visitFan(int triangle, int k, const Visit& visit) const {
    int t = triangle, c = k;
    for (int step = 0; step < numTriangles(); ++step) {
      if (!visit(t, c)) return false;
      const int half = opposite[3 * t + (c + 2) % 3];
      if (half < 0) break;
      t = half / 3;
      c = half % 3;
      if (t == triangle && c == k) return true;
    }
    // A rim: the rest of the fan is on the other side.
    t = triangle;
    c = k;
    for (int step = 0; step < numTriangles(); ++step) {
      const int half = opposite[3 * t + c];
      if (half < 0) return true;
      t = half / 3;
      c = (half % 3 + 1) % 3;
      if (t == triangle && c == k) return true;
      if (!visit(t, c)) return false;
    }
    return true;
  }

 private:
  void takeTriangles(std::span<const Triangle> input, core::Arena& scratch);
  void connect(std::span<const Triangle> all, std::span<const std::int32_t> kept,
               core::Arena& scratch);
  void turnOutward();
  void buildTree(core::Arena& scratch);
  [[nodiscard]] std::vector<NodeFacing> makeNodeFacing() const;

  mutable std::once_flag facing_once_;
  mutable std::vector<NodeFacing> facing_;
  mutable std::vector<float> unit_corners_;
  mutable std::once_flag convex_once_;
  mutable std::unique_ptr<const Convex> convex_;
};

/// Cosine of the bend from which an edge is sharp.
inline constexpr Real kSharpCosine = 0.94;

/// A farthest vertex along `direction`. `start`: a point of the surface that may be far already; it
/// is returned where no vertex is farther.
[[nodiscard]] Vec3 supportOfMesh(const MeshData& mesh, const Vec3& direction,
                                 const Vec3* start = nullptr);

}  // namespace tangere::geometry
