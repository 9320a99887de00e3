// SPDX-License-Identifier: Apache-2.0
#include "model/soft_mesh.hpp"

#include "core/assert.hpp"
#include "math/polar.hpp"

#include <cmath>
#include <cstddef>

namespace tangere::model {
namespace {

void requireValid(Real density, const Elasticity& elasticity) {
  TANGERE_REQUIRE(density > 0 && std::isfinite(density),
                  "density of a soft body must be positive [kg/m^3]", density);
  TANGERE_REQUIRE(elasticity.young > 0 && std::isfinite(elasticity.young),
                  "Young's modulus must be positive [Pa]", elasticity.young);
  TANGERE_REQUIRE(elasticity.poisson >= 0 && elasticity.poisson < 0.5,
                  "Poisson's ratio must lie in [0, 0.5)", elasticity.poisson);
  TANGERE_REQUIRE(elasticity.damping >= 0 && std::isfinite(elasticity.damping),
                  "stiffness damping must not be negative [s]", elasticity.damping);
  TANGERE_REQUIRE(elasticity.massDamping >= 0 && std::isfinite(elasticity.massDamping),
                  "mass damping must not be negative [1/s]", elasticity.massDamping);
}

/// Shapes, volumes and masses. Edges are formed before they are moved, so that a body far from the
/// origin loses no digits.
void setRestShape(const TetMesh& mesh, const Transform& pose, SoftMesh* out) {
  out->rest.reserve(mesh.vertices().size());
  for (const Vec3& p : mesh.vertices()) out->rest.push_back(pose * p);
  out->mass.assign(mesh.vertices().size(), 0);
  out->inverseRest.reserve(mesh.tets().size());
  out->restVolume.reserve(mesh.tets().size());
  for (const Tet& tet : mesh.tets()) {
    const Vec3 origin = mesh.vertices()[tet[0]];
    const Mat3 edges{{pose.rotation * (mesh.vertices()[tet[1]] - origin),
                      pose.rotation * (mesh.vertices()[tet[2]] - origin),
                      pose.rotation * (mesh.vertices()[tet[3]] - origin)}};
    const Mat3 cof = math::cofactor(edges);
    const Real det = dot(edges.col[0], cof.col[0]);
    TANGERE_REQUIRE(det > 0, "a tetrahedron of a soft body has no volume", out->restVolume.size(),
                    det);
    out->inverseRest.push_back(
        transpose(Mat3{{cof.col[0] / det, cof.col[1] / det, cof.col[2] / det}}));
    out->restVolume.push_back(det / 6);
    for (const std::int32_t vertex : tet) out->mass[vertex] += out->density * (det / 24);
  }
}

void setBlocks(SoftMesh* out) {
  out->pattern = math::BlockCsr::fromCells<4>(out->numVertices, out->tets);
  out->blockOf.resize(out->tets.size());
  out->gatherBegin.assign(static_cast<std::size_t>(out->pattern.numBlocks()) + 1, 0);
  for (std::size_t t = 0; t < out->tets.size(); ++t) {
    const Tet& tet = out->tets[t];
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const int block = out->pattern.find(tet[a], tet[b]);
        out->blockOf[t][4 * a + b] = block;
        if (tet[a] <= tet[b]) ++out->gatherBegin[block + 1];
      }
    }
  }
  for (int k = 0; k < out->pattern.numBlocks(); ++k) out->gatherBegin[k + 1] += out->gatherBegin[k];
  out->gather.resize(static_cast<std::size_t>(out->gatherBegin.back()));
  std::vector<std::int32_t> at = out->gatherBegin;
  for (std::size_t t = 0; t < out->tets.size(); ++t) {
    for (int ab = 0; ab < 16; ++ab) {
      if (out->tets[t][ab / 4] <= out->tets[t][ab % 4])
        out->gather[at[out->blockOf[t][ab]]++] = static_cast<std::int32_t>(16 * t) + ab;
    }
  }
  out->mirror.resize(out->pattern.column.size());
  for (int i = 0; i < out->numVertices; ++i) {
    for (int k = out->pattern.rowBegin[i]; k < out->pattern.rowBegin[i + 1]; ++k)
      out->mirror[k] = out->pattern.find(out->pattern.column[k], i);
  }
}

}  // namespace

SoftMesh makeSoftMesh(const TetMesh& mesh, const Transform& pose, Real density,
                      const Elasticity& elasticity) {
  requireValid(density, elasticity);
  constexpr std::size_t kMaxTets = std::size_t{1} << 27;  // 16 t + ab is a 32-bit number
  TANGERE_REQUIRE(mesh.tets().size() < kMaxTets, "a soft body has too many tetrahedra",
                  mesh.tets().size());
  SoftMesh out;
  out.numVertices = static_cast<int>(mesh.vertices().size());
  out.tets.assign(mesh.tets().begin(), mesh.tets().end());
  out.elasticity = elasticity;
  out.density = density;
  setRestShape(mesh, pose, &out);
  setBlocks(&out);
  return out;
}

}  // namespace tangere::model
