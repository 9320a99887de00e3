// SPDX-License-Identifier: Apache-2.0
//
// A terrain on a regular grid with a pyramid of lowest and highest heights, so that far cells are
// passed over in blocks.
//
// Triangles are numbered 2 (j (numX - 1) + i) + half: half 0 is (i, j), (i+1, j), (i+1, j+1) and
// half 1 is (i, j), (i+1, j+1), (i, j+1); both are counter-clockwise from above. The ground below
// is solid down to a flat floor, with vertical walls under the rim of the grid: two triangles of a
// wall and one of the floor for each cell along the rim are numbered behind those of the surface.
#pragma once

#include "geometry/flat_shape.hpp"
#include "geometry/kernels/triangle_point.hpp"

#include <cmath>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tangere::geometry {

struct MeshData;

struct HeightFieldData : FlatShape {
  /// Lowest and highest height in a block of cells.
  struct Extent {
    Real lower = 0;
    Real upper = 0;
  };
  struct Level {
    int numX = 0, numY = 0;
    std::vector<Extent> blocks;
  };

  int numX = 0, numY = 0;
  Real sizeX = 0, sizeY = 0;
  Real stepX = 0, stepY = 0;
  std::vector<Real> heights;
  std::vector<Level> levels;  ///< [0] one block per cell; the last is one block
  Extent extent;
  Real floor = 0;  ///< below the lowest height by the larger of both sizes
  Aabb bounds;     ///< of the solid

  /// Throws InvalidInput on a grid smaller than 2 x 2, a size out of range or a height that is not
  /// a usable number.
  HeightFieldData(int numX, int numY, Real sizeX, Real sizeY, std::span<const Real> heights);
  ~HeightFieldData();

  [[nodiscard]] int numCellsX() const { return numX - 1; }
  [[nodiscard]] int numCellsY() const { return numY - 1; }
  [[nodiscard]] Real x(int i) const { return Real(i) * stepX - Real(0.5) * sizeX; }
  [[nodiscard]] Real y(int j) const { return Real(j) * stepY - Real(0.5) * sizeY; }
  [[nodiscard]] Vec3 vertex(int i, int j) const { return {x(i), y(j), heights[j * numX + i]}; }
  [[nodiscard]] Vec3 corner(int triangle, int k) const {
    const int cell = triangle >> 1, j = cell / numCellsX(), i = cell % numCellsX();
    if ((triangle & 1) == 0) return vertex(k == 0 ? i : i + 1, k == 2 ? j + 1 : j);
    return vertex(k == 1 ? i + 1 : i, k == 0 ? j : j + 1);
  }
  [[nodiscard]] Vec3 normal(int triangle) const {
    const Vec3 a = corner(triangle, 0);
    const Vec3 n = cross(corner(triangle, 1) - a, corner(triangle, 2) - a);
    return n / norm(n);
  }
  /// The triangle across edge k, -1 at the rim.
  [[nodiscard]] int across(int triangle, int k) const {
    const int cell = triangle >> 1, j = cell / numCellsX(), i = cell % numCellsX();
    if ((triangle & 1) == 0) {
      if (k == 0) return j > 0 ? 2 * (cell - numCellsX()) + 1 : -1;
      if (k == 1) return i + 1 < numCellsX() ? 2 * (cell + 1) + 1 : -1;
      return triangle + 1;
    }
    if (k == 0) return triangle - 1;
    if (k == 1) return j + 1 < numCellsY() ? 2 * (cell + numCellsX()) : -1;
    return i > 0 ? 2 * (cell - 1) : -1;
  }
  /// Whether (x, y) is over the grid, and the height there.
  bool heightAt(Real px, Real py, Real* height) const;
  /// The height over the point of the grid that is nearest to (x, y).
  [[nodiscard]] Real heightNear(Real px, Real py) const;
  /// The cell along one axis that holds a coordinate, kept on the grid.
  [[nodiscard]] int cellX(Real px) const {
    return clampCell((px + Real(0.5) * sizeX) / stepX, numCellsX());
  }
  [[nodiscard]] int cellY(Real py) const {
    return clampCell((py + Real(0.5) * sizeY) / stepY, numCellsY());
  }

  /// Triangles of the surface; those of walls and floor follow.
  [[nodiscard]] int numSurfaceTriangles() const { return 2 * numCellsX() * numCellsY(); }
  /// Cells along the rim, counter-clockwise from (0, 0).
  [[nodiscard]] int numRimCells() const { return 2 * (numCellsX() + numCellsY()); }
  /// The solid as a closed mesh, built when it is first asked for.
  [[nodiscard]] const MeshData& solidMesh() const;
  /// The surface alone, with the same triangles: its tree is shallower.
  [[nodiscard]] const MeshData& surfaceMesh() const;
  /// The solid as its convex hull; null where it is not convex, as level or domed terrain is (to
  /// 1e-9 of its size). Built when first asked for.
  [[nodiscard]] const Convex* asConvex() const;
  /// Whether a box is over the grid and above the floor: then neither is felt.
  [[nodiscard]] bool isWithinWalls(const Aabb& box) const {
    const Real x = Real(0.5) * sizeX, y = Real(0.5) * sizeY;
    return box.lower.x > -x && box.upper.x < x && box.lower.y > -y && box.upper.y < y &&
           box.lower.z > floor;
  }

 private:
  static int clampCell(Real u, int count) {
    if (!(u > 0)) return 0;
    return u < Real(count) ? static_cast<int>(u) : count - 1;
  }
  [[nodiscard]] std::vector<Vec3> surfaceVertices() const;
  [[nodiscard]] std::vector<Triangle> surfaceTriangles() const;

  mutable std::once_flag solid_once_, surface_once_, convex_once_;
  mutable std::unique_ptr<const MeshData> solid_, surface_;
  mutable const Convex* convex_ = nullptr;  // of solid_
};

struct TerrainPoint {
  Real squaredDistance = 0;
  Vec3 point{};
  int triangle = -1;
  kernel::TriangleFeature feature = kernel::TriangleFeature::Face;
};

/// Nearest point of the surface, the walls or the floor within `maxDistance`; triangle -1 when
/// there is none.
[[nodiscard]] TerrainPoint closestOnTerrain(const HeightFieldData& field, const Vec3& p,
                                            Real maxDistance);
/// Negative inside.
[[nodiscard]] SignedDistance signedDistanceToTerrain(const HeightFieldData& field, const Vec3& p);
/// Outward direction at a feature of the surface, walls left out; not unit.
[[nodiscard]] Vec3 terrainNormal(const HeightFieldData& field, int triangle,
                                 kernel::TriangleFeature feature);
/// Whether p is in the solid.
[[nodiscard]] bool isInside(const HeightFieldData& field, const Vec3& p);
[[nodiscard]] std::optional<RayHit> rayCastTerrain(const HeightFieldData& field, const Ray& ray);
[[nodiscard]] Vec3 supportOfTerrain(const HeightFieldData& field, const Vec3& direction);

}  // namespace tangere::geometry
