// SPDX-License-Identifier: Apache-2.0
//
// Collision shapes. A shape is immutable, is given in its own frame, and may be shared by any
// number of objects and threads. Constructors throw InvalidInput on sizes that make no solid: every
// size must be between 1e-12 and 1e12 m.
#pragma once

#include <tangere/types.hpp>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tangere {

namespace geometry {
struct FlatShape;   // the shape as plain values, as kernels see it
struct ConvexData;  // a FlatShape with the arrays of a hull
struct MeshData;    // and so on
struct HeightFieldData;
struct PointCloudData;
}  // namespace geometry

enum class ShapeType : unsigned char {
  Sphere,
  Box,
  Capsule,
  Cylinder,
  Cone,
  Ellipsoid,
  Plane,
  Convex,
  Mesh,
  HeightField,
  PointCloud,
  Compound,
};
inline constexpr int kNumShapeTypes = 12;

/// "sphere", "box", ...: the lower-case name used in files and messages.
[[nodiscard]] std::string_view shapeTypeName(ShapeType type);

/// Mass, centre of mass [m] and rotational inertia about that centre [kg m^2], shape frame.
struct MassProperties {
  Real mass = 0;
  Vec3 center{};
  Mat3 inertia{};
};

/// A half line; `direction` need not be unit, t is measured in multiples of it.
struct Ray {
  Vec3 origin{};
  Vec3 direction{};
  Real maxT = 1e300;
};

/// First crossing of the surface at t >= 0: where the ray enters, or, for a ray that starts inside
/// a solid, where it leaves. The normal is unit and points against the ray (inwards when leaving).
/// A ray along a flat face, and one without a direction, hits nothing there.
struct RayHit {
  Real t = 0;
  Vec3 position{};
  Vec3 normal{};
  int feature = -1;  ///< Triangle, cell, point or child that was hit; -1 where there is none.
};

/// Distance of a point: negative inside a solid. `closest` is on the surface and `normal` is the
/// outward unit normal there. Where several surface points are nearest (the centre of a ball) one
/// of them is chosen by a fixed rule. Open meshes and point clouds have no inside: never negative.
struct SignedDistance {
  Real distance = 0;
  Vec3 closest{};
  Vec3 normal{};
};

class Shape {
 public:
  virtual ~Shape();
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  [[nodiscard]] ShapeType type() const { return type_; }
  /// Tight box in the shape's frame. A plane has an unbounded one (+-infinity, but upper.z = 0).
  [[nodiscard]] const Aabb& localAabb() const { return local_aabb_; }
  /// Box in the world, tight for the convex shapes.
  [[nodiscard]] virtual Aabb worldAabb(const Transform& X_WS) const;
  /// A farthest point of the shape along `direction` (need not be unit, zero is allowed).
  /// For a non-convex shape: of its convex hull. A plane reaches to +-infinity.
  [[nodiscard]] virtual Vec3 support(const Vec3& direction) const = 0;
  /// Of a solid of uniform `density` [kg/m^3]. Throws InvalidInput for shapes without a volume
  /// (plane, open mesh, height field, point cloud).
  [[nodiscard]] virtual MassProperties massProperties(Real density) const = 0;
  [[nodiscard]] virtual std::optional<RayHit> rayCast(const Ray& ray) const = 0;
  [[nodiscard]] virtual SignedDistance signedDistance(const Vec3& point) const = 0;

  [[nodiscard]] const geometry::FlatShape& flat() const { return *flat_; }

 protected:
  Shape(ShapeType type, std::shared_ptr<const geometry::FlatShape> flat, const Aabb& local_aabb)
      : flat_(std::move(flat)), local_aabb_(local_aabb), type_(type) {}

 private:
  std::shared_ptr<const geometry::FlatShape> flat_;
  Aabb local_aabb_;
  ShapeType type_;
};

/// Ball about the origin.
class Sphere final : public Shape {
 public:
  explicit Sphere(Real radius);
  [[nodiscard]] Real radius() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// Box about the origin, given by its half sizes.
class Box final : public Shape {
 public:
  explicit Box(const Vec3& halfExtents);
  [[nodiscard]] const Vec3& halfExtents() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// All points within `radius` of the segment from (0, 0, -halfLength) to (0, 0, halfLength).
class Capsule final : public Shape {
 public:
  Capsule(Real radius, Real halfLength);
  [[nodiscard]] Real radius() const;
  [[nodiscard]] Real halfLength() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// Cylinder about the z axis between z = -halfLength and z = halfLength.
class Cylinder final : public Shape {
 public:
  Cylinder(Real radius, Real halfLength);
  [[nodiscard]] Real radius() const;
  [[nodiscard]] Real halfLength() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// Cone about the z axis: base circle at z = -halfHeight, apex at z = halfHeight.
class Cone final : public Shape {
 public:
  Cone(Real radius, Real halfHeight);
  [[nodiscard]] Real radius() const;
  [[nodiscard]] Real halfHeight() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// Ellipsoid about the origin with the given semi-axes.
class Ellipsoid final : public Shape {
 public:
  explicit Ellipsoid(const Vec3& semiAxes);
  [[nodiscard]] const Vec3& semiAxes() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// The solid half space z <= 0 of its frame.
class Plane final : public Shape {
 public:
  Plane();
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;
};

/// Convex hull of any point set that spans a volume. Coplanar facets are merged into polygons.
///
/// The result depends on the set of points alone, not on their order: vertices are sorted by x,
/// then y, then z, and keep the coordinates given; every face begins at its lowest vertex and faces
/// are in order of their vertex lists.
class Convex final : public Shape {
 public:
  /// Throws InvalidInput for fewer than 4 points, coordinates that are not finite, and points that
  /// coincide or lie on one line or in one plane (to 1e-9 of their extent).
  explicit Convex(std::span<const Vec3> points);
  [[nodiscard]] std::span<const Vec3> vertices() const;
  [[nodiscard]] int numFaces() const;
  /// Vertex indices of one face, counter-clockwise seen from outside.
  [[nodiscard]] std::span<const int> face(int index) const;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;

 private:
  explicit Convex(const std::shared_ptr<const geometry::ConvexData>& data);
};

using Triangle = std::array<int, 3>;

/// Triangle mesh, concave or not, closed or open. A closed mesh (every edge shared by exactly two
/// triangles with opposite directions) is a solid; an open one is a surface. Degenerate triangles
/// are dropped and counted; an index out of range is an error. A closed mesh whose triangles face
/// inward is turned: triangles() are then the turned ones.
class Mesh final : public Shape {
 public:
  Mesh(std::span<const Vec3> vertices, std::span<const Triangle> triangles);
  [[nodiscard]] std::span<const Vec3> vertices() const;
  [[nodiscard]] std::span<const Triangle> triangles() const;
  [[nodiscard]] bool isClosed() const;
  [[nodiscard]] int numDroppedTriangles() const;
  /// Whether a closed mesh was given with its triangles facing inward.
  [[nodiscard]] bool wasInsideOut() const;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;

 private:
  explicit Mesh(const std::shared_ptr<const geometry::MeshData>& data);
};

/// Terrain z = height(x, y) on a grid centred at the origin: a solid with walls and a floor.
/// heights[j * numX + i] is the height at x = -sizeX/2 + i sizeX/(numX-1), y likewise with j.
/// Each cell is split along the diagonal from (i, j) to (i+1, j+1).
class HeightField final : public Shape {
 public:
  HeightField(int numX, int numY, Real sizeX, Real sizeY, std::span<const Real> heights);
  [[nodiscard]] int numX() const;
  [[nodiscard]] int numY() const;
  /// [m]
  [[nodiscard]] Real sizeX() const;
  [[nodiscard]] Real sizeY() const;
  [[nodiscard]] std::span<const Real> heights() const;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;

 private:
  explicit HeightField(const std::shared_ptr<const geometry::HeightFieldData>& data);
};

/// Points, each a ball of `pointRadius` (0 allowed): what a depth camera gives.
class PointCloud final : public Shape {
 public:
  PointCloud(std::span<const Vec3> points, Real pointRadius);
  [[nodiscard]] std::span<const Vec3> points() const;
  [[nodiscard]] Real pointRadius() const;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;

 private:
  explicit PointCloud(const std::shared_ptr<const geometry::PointCloudData>& data);
};

/// Union of shapes, each at its own pose. Children may not be compounds. Where children overlap,
/// mass counts twice, a ray also stops at the surface of a child inside another, and the depth of a
/// point is that of the child it is deepest in: a lower bound.
class Compound final : public Shape {
 public:
  struct Child {
    std::shared_ptr<const Shape> shape;
    Transform pose;  ///< of the child in the compound's frame
  };
  explicit Compound(std::vector<Child> children);
  [[nodiscard]] std::span<const Child> children() const;
  [[nodiscard]] Aabb worldAabb(const Transform& X_WS) const override;
  [[nodiscard]] Vec3 support(const Vec3& direction) const override;
  [[nodiscard]] MassProperties massProperties(Real density) const override;
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray& ray) const override;
  [[nodiscard]] SignedDistance signedDistance(const Vec3& point) const override;

 private:
  std::vector<Child> children_;
};

}  // namespace tangere
