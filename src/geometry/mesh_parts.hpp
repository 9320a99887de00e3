// SPDX-License-Identifier: Apache-2.0
//
// The solids that a closed surface is the boundary of, when it is in several pieces.
#pragma once

#include <tangere/mesh.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tangere::geometry {

/// One solid: a Mesh, or a Compound of several that touch or overlap and are one together.
struct SolidPart {
  std::shared_ptr<const Shape> shape;
  int numPieces = 1;  ///< of the surface; those around hollows are not counted
};

struct SolidParts {
  std::vector<SolidPart> parts;
  std::vector<std::string> findings{};  ///< what a user should know, one sentence each
};

/// Splits a closed mesh into its pieces (triangles that share vertices), gives those that face into
/// a piece around them to that piece as its hollows, and joins those that touch or overlap.
/// A surface in one piece comes back as one part without a shape.
[[nodiscard]] SolidParts splitSolid(const Mesh& mesh);

/// How near two parts come to each other, from their vertices [m].
[[nodiscard]] Real distanceBetween(const Shape& a, const Shape& b);

}  // namespace tangere::geometry
