// SPDX-License-Identifier: Apache-2.0
//
// What a soft body needs in every step and what never changes: the rest shape of its tetrahedra,
// the masses of its vertices, and where the parts of each tetrahedron go in the matrix.
//
// The matrix is gathered, not scattered: each block has the list of the tetrahedra that make it,
// in ascending order, so a sum has the same bits whoever computes it.
#pragma once

#include <tangere/soft_body.hpp>

#include "math/block_csr.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tangere::model {

struct SoftMesh {
  int numVertices = 0;
  std::vector<Vec3> rest;         ///< where the vertices start, world [m]
  std::vector<Tet> tets;          ///< vertices of each tetrahedron
  std::vector<Mat3> inverseRest;  ///< F = [x1-x0 x2-x0 x3-x0] inverseRest
  std::vector<Real> restVolume;   ///< [m^3]
  std::vector<Real> mass;         ///< of the vertices: a quarter of each tetrahedron's [kg]
  Elasticity elasticity{};
  Real density = 0;  ///< [kg/m^3]

  math::BlockCsr pattern;  ///< vertices that share a tetrahedron; values are zero
  std::vector<std::array<std::int32_t, 16>> blockOf;  ///< block of vertices (a, b) at 4 a + b
  std::vector<std::int32_t> mirror;                   ///< of block (i, j): block (j, i)
  /// Of block (i, j) with i <= j: entries [gatherBegin[k], gatherBegin[k + 1]) of `gather`; each is
  /// 16 t + 4 a + b with i and j the vertices a and b of tetrahedron t. Others have none.
  std::vector<std::int32_t> gatherBegin;
  std::vector<std::int32_t> gather;

  [[nodiscard]] int numTets() const { return static_cast<int>(tets.size()); }
};

/// The rest shape is that of `mesh` at `pose`. Throws InvalidInput for a density or a modulus that
/// is not positive, a Poisson ratio outside [0, 0.5) or a negative damping.
[[nodiscard]] SoftMesh makeSoftMesh(const TetMesh& mesh, const Transform& pose, Real density,
                                    const Elasticity& elasticity);

}  // namespace tangere::model
