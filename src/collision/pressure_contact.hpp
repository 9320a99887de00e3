// SPDX-License-Identifier: Apache-2.0
//
// Contact patches of bodies with a pressure field, as flat polygons: where the pressures of two
// bodies are equal, or where the surface of a rigid one lies in a compliant one.
//
// What holds of every result: polygons are in world, those of one call sorted by (element1,
// element2), and do not depend on the trees. Where elements meet exactly (a rigid face in the face
// between two tetrahedra, bodies that just touch) a polygon is reported once. Exchanging the bodies
// gives the same polygons with the normal turned. No function throws, and none allocates once `out`
// and the memory of its thread have grown to the size of the scene.
#pragma once

#include <tangere/tet_mesh.hpp>

#include "geometry/linear_bvh.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::collision {

/// One body as the patch finder sees it; the arrays belong to the caller. A body with a pressure
/// has tets, pressure and gradient; a rigid surface has `surface`, outward. A tree may be missing:
/// every element is then looked at.
struct PressureMesh {
  std::span<const Vec3> vertices{};  ///< in the body's frame: at rest for rigid, world for soft
  std::span<const Tet> tets{};
  std::span<const Real> pressure{};  ///< of each vertex [Pa]; may be negative below a margin
  std::span<const Vec3> gradient{};  ///< of the pressure in each tet [Pa/m]; zero: tet is left out
  std::span<const Triangle> surface{};
  std::span<const std::int32_t> tetOfSurface{};  ///< behind each triangle; for findPlaneVertices()
  const geometry::LinearBvh* tetTree = nullptr;  ///< over the tets, with their pressures or without
  const geometry::LinearBvh* surfaceTree = nullptr;
  Real radius = kUnlimited;  ///< of the vertices about the centre of the tree's bounds [m]
};

/// Part of a contact surface. A discrete solver takes it as one point at the centroid with
/// stiffness area * gradient [N/m] and distance -pressure / gradient [m]; the force then is
/// area * pressure.
struct ContactPolygon {
  std::int32_t element1 = -1;  ///< tet or triangle of object 1
  std::int32_t element2 = -1;  ///< of object 2; -1: the half space
  int numVertices = 0;
  std::array<Vec3, 8> vertex{};  ///< counter-clockwise about the normal
  std::array<Real, 8> vertexPressure{};
  Vec3 centroid{};
  Vec3 normal{};      ///< unit, from object 2 to object 1
  Real area = 0;      ///< [m^2]
  Real pressure = 0;  ///< at the centroid [Pa]
  Real gradient = 0;  ///< 1/(1/g1 + 1/g2) along the normal, rigid: 1/g = 0 [Pa/m]; positive
  std::array<Real, 4> weight1{};  ///< barycentric coordinates of the centroid in element1;
  std::array<Real, 4> weight2{};  ///< in a triangle the fourth is zero, in a half space all are
};

/// The half space normal . x <= offset, in world; normal is a unit vector.
struct ContactPlane {
  Vec3 normal{0, 0, 1};
  Real offset = 0;  ///< [m]
};

/// Gradient of the pressure in each tet; zero in flat ones.
void computePressureGradients(std::span<const Vec3> vertices, std::span<const Tet> tets,
                              std::span<const Real> pressure, std::span<Vec3> gradient);

/// Builds the tree of a body's tets, which also culls by pressure. `tree` can be passed on to
/// updateTetTree() when the vertices have moved.
void buildTetTree(std::span<const Vec3> vertices, std::span<const Tet> tets,
                  std::span<const Real> pressure, geometry::LinearBvh* tree);
/// Refits (or rebuilds, see LinearBvh::update) with moved vertices.
void updateTetTree(std::span<const Vec3> vertices, std::span<const Tet> tets,
                   geometry::LinearBvh* tree);
void buildSurfaceTree(std::span<const Vec3> vertices, std::span<const Triangle> surface,
                      geometry::LinearBvh* tree);

/// The functions append to `out`.
///
/// Two bodies with pressures; object 1 is `a`.
void findTetTet(const PressureMesh& a, const Transform& X_WA, const PressureMesh& b,
                const Transform& X_WB, std::vector<ContactPolygon>* out);
/// A body with a pressure (object 1) and a rigid surface (object 2).
void findTetSurface(const PressureMesh& a, const Transform& X_WA, const PressureMesh& b,
                    const Transform& X_WB, std::vector<ContactPolygon>* out);
/// A body with a pressure (object 1) and a rigid half space (object 2).
void findTetPlane(const PressureMesh& a, const Transform& X_WA, const ContactPlane& plane,
                  std::vector<ContactPolygon>* out);
/// A body (object 1) and a half space (object 2) with the pressure `stiffness` times depth; for a
/// layer of thickness h and modulus E that is E/h [Pa/m]. The body's pressure counts if it has one,
/// else its rigid surface.
void findPlaneLayer(const PressureMesh& a, const Transform& X_WA, const ContactPlane& plane,
                    Real stiffness, std::vector<ContactPolygon>* out);
/// The vertices of a surface (object 1) below a half space (object 2), as polygons of one corner
/// each: cheaper and rougher than those of the tetrahedra. A vertex has a third of the area of
/// each triangle around it, seen along the normal as far as it faces the half space; the pressure
/// grows as in the tetrahedron behind that triangle, and in the half space by `stiffness` times
/// depth (unlimited: rigid). Of two rigid bodies none are found. element1 is a tetrahedron with the
/// vertex (without tetrahedra a triangle), the one weight that is not zero that of the vertex.
void findPlaneVertices(const PressureMesh& a, const Transform& X_WA, const ContactPlane& plane,
                       Real stiffness, std::vector<ContactPolygon>* out);
/// A deformed body, its vertices in world, with itself; element1 < element2. Tets that share a
/// vertex do not touch each other. Every pair of tets whose boxes overlap is looked at.
void findSelf(const PressureMesh& a, std::vector<ContactPolygon>* out);
/// The same where only these regions can hold contact: those of mayTouchItself().
void findSelf(const PressureMesh& a, std::span<const Aabb> regions,
              std::vector<ContactPolygon>* out);

}  // namespace tangere::collision
