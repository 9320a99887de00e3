// SPDX-License-Identifier: Apache-2.0
//
// Shapes as pressure contacts see them: a field of pressure on tetrahedra, a rigid surface of
// triangles, or a half space.
#pragma once

#include <tangere/material.hpp>
#include <tangere/tet_mesh.hpp>

#include "collision/pressure_contact.hpp"
#include "geometry/linear_bvh.hpp"
#include "model/pressure_core.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tangere::model {

/// In the frame of the shape. Immutable, and shared by all models with the shape.
struct PressureShape {
  enum class Kind : std::uint8_t {
    Field,      ///< compliant
    Surface,    ///< rigid triangles
    HalfSpace,  ///< rigid, z < 0
    Layer,      ///< compliant, z < 0
    None,       ///< touches by points alone (point clouds)
  };
  Kind kind = Kind::None;
  Real layerGradient = 0;  ///< of the pressure in a layer, by depth [Pa/m]
  // Field
  std::vector<Vec3> vertices{};
  std::vector<Tet> tets{};
  std::vector<Real> pressure{};  ///< [Pa]
  std::vector<Vec3> gradient{};
  geometry::LinearBvh tetTree{};
  // Field and Surface
  std::vector<Triangle> surface{};
  std::vector<std::int32_t> tetOfSurface{};  ///< of a field: behind each triangle
  geometry::LinearBvh surfaceTree{};
  Real radius = kUnlimited;  ///< of the vertices about the centre of the elements' bounds [m]

  /// By vertices on planes, and not by elements.
  PlaneContact planeContact = PlaneContact::Elements;
  Real depth = kUnlimited;     ///< of a field: of the points farthest inside [m]
  Real cellSize = kUnlimited;  ///< of a field: root of the mean volume of its tetrahedra [m]
  Real highest = kUnlimited;   ///< pressure of a field [Pa]
  /// What presses must not pass: see pressure_core.hpp; of a surface the middle of its bounds.
  std::vector<CorePoint> core{};

  [[nodiscard]] bool isCompliant() const { return kind == Kind::Field || kind == Kind::Layer; }
  [[nodiscard]] bool isHalfSpace() const { return kind == Kind::HalfSpace || kind == Kind::Layer; }
  [[nodiscard]] collision::PressureMesh view() const;
};

/// Cubic root of the mean volume of the tetrahedra [m].
[[nodiscard]] Real meanCellSize(const TetMesh& mesh);

/// Depth of the points farthest inside, from a field that grows with depth to `highest` [m].
[[nodiscard]] Real depthOfField(std::span<const Vec3> vertices, std::span<const Tet> tets,
                                std::span<const Vec3> gradient, Real highest);

/// By the contact model of the material. Throws InvalidInput where a compliant shape has no inside.
[[nodiscard]] std::shared_ptr<const PressureShape> makePressureShape(const Shape& shape,
                                                                     const Material& material);

}  // namespace tangere::model
