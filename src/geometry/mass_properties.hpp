// SPDX-License-Identifier: Apache-2.0
//
// Mass, centre and inertia of solids of uniform density, exact up to rounding.
#pragma once

#include <tangere/shape.hpp>

#include <span>

namespace tangere::geometry {

/// Throws InvalidInput unless the density is positive and finite.
void requireDensity(Real density);

/// Volume, volume times centroid and second moments of a solid about `origin`, summed tetrahedron
/// by tetrahedron (origin, a, b, c) over its surface: the divergence theorem.
struct VolumeIntegrals {
  Vec3 origin{};
  Real volume = 0;
  Vec3 first{};   ///< integral of x - origin
  Vec3 second{};  ///< integrals of x^2, y^2, z^2
  Vec3 mixed{};   ///< integrals of yz, zx, xy

  /// Adds the tetrahedron over a triangle that is counter-clockwise seen from outside.
  void addTriangle(const Vec3& a, const Vec3& b, const Vec3& c);
  [[nodiscard]] Vec3 centroid() const { return origin + first / volume; }
  [[nodiscard]] MassProperties massProperties(Real density) const;
};

/// Mass properties seen from a frame in which the body has the pose X.
[[nodiscard]] MassProperties transformed(const MassProperties& mass, const Transform& X);

/// Both bodies as one.
[[nodiscard]] MassProperties sum(std::span<const MassProperties> parts);

}  // namespace tangere::geometry
