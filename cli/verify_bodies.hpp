// SPDX-License-Identifier: Apache-2.0
//
// Bodies and mechanisms that families of `tangere verify` build in several lanes.
#pragma once

#include <tangere/model.hpp>

#include <string>
#include <vector>

namespace tangere::cli {

/// Principal moments about the centre, along the axes of the body.
[[nodiscard]] MassProperties solid(double mass, const Vec3& center, const Vec3& moments);

/// Of the material "stuff"; whole sizes.
[[nodiscard]] Body box(const std::string& name, const Vec3& size, double mass,
                       const Vec3& position);
/// Of a case in the plane y = 0: what slides with its weight in front would turn out of it.
[[nodiscard]] Body keptInPlane(Body body);

/// `windows` parallelograms of rods side by side, upright. Returns the rates of their joints at
/// which the tops move with `speed`.
[[nodiscard]] std::vector<Real> addFourbar(ModelBuilder& builder, int windows, double length,
                                           double mass, double speed);

/// "wedge" with its slope falling to +x at `angle`, "block" on it, and a "wall" behind it if
/// wanted.
void addWedge(ModelBuilder& builder, double wedgeMass, double blockMass, double angle,
              bool hasWall);

}  // namespace tangere::cli
