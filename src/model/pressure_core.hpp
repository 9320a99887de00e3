// SPDX-License-Identifier: Apache-2.0
//
// The core of a body with a pressure: where its pressure falls off to both sides, the points that
// something pressing on it must not pass. The surface of equal pressure is on one side of the core;
// what has passed it would be pushed out on the other.
#pragma once

#include <tangere/tet_mesh.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::model {

/// Vertices of the core, ascending: where the gradients of the tetrahedra around a vertex nearly
/// cancel, as they do in the middle of a plate and of a ball, and not where two sides meet at an
/// edge; and those with the highest pressure. Never none of a body with a pressure.
[[nodiscard]] std::vector<std::int32_t> coreVertices(std::span<const Vec3> vertices,
                                                     std::span<const Tet> tets,
                                                     std::span<const Real> pressure,
                                                     std::span<const Vec3> gradient);

/// A point of the core and the pressure there.
struct CorePoint {
  Vec3 place{};
  Real pressure = 0;  ///< [Pa]
};

/// Points of the core, on its edges and triangles too, no farther apart than `spacing` where a few
/// thousand of them are enough for that.
[[nodiscard]] std::vector<CorePoint> sampleCore(std::span<const Vec3> vertices,
                                                std::span<const Tet> tets,
                                                std::span<const Real> pressure,
                                                std::span<const Vec3> gradient, Real spacing);

}  // namespace tangere::model
