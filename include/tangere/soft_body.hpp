// SPDX-License-Identifier: Apache-2.0
//
// Deformable bodies: tetrahedra of an elastic material, moved by the SAP solver together with
// robots and rigid bodies.
#pragma once

#include <tangere/tet_mesh.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tangere {

/// What stress a deformation F = dx/dX makes. mu = E/(2(1+nu)), lambda = E nu/((1+nu)(1-2nu)).
enum class ElasticModel : std::uint8_t {
  Linear,      ///< small strains and small rotations
  Corotated,   ///< small strains, any rotation: P = R (2 mu (S-I) + lambda tr(S-I) I), F = R S
  NeoHookean,  ///< stable neo-Hookean (Smith et al. 2018): large strains, survives inversion
  StVenantKirchhoff  ///< P = F (2 mu G + lambda tr(G) I), G = (F^T F - I)/2
};
/// "linear", "corotated", "neo_hookean", "stvk".
[[nodiscard]] const char* elasticModelName(ElasticModel model);

struct Elasticity {
  ElasticModel model = ElasticModel::Corotated;
  Real young = 1e5;      ///< [Pa], above 0
  Real poisson = 0.3;    ///< in [0, 0.5)
  Real damping = 0;      ///< Rayleigh, of the stiffness: beta [s]
  Real massDamping = 0;  ///< Rayleigh, of the mass: alpha [1/s]
};

/// A vertex that a rigid body or link carries with it.
struct SoftAttachment {
  std::int32_t vertex = 0;
  std::string body{};  ///< empty: the world, at the place where the vertex starts
};

struct SoftBody {
  std::string name;
  std::shared_ptr<const TetMesh> mesh{};
  Transform pose{};  ///< of the mesh at the start; with attachments to jointed bodies: with all
                     ///< joints at their references. What it is attached to carries it from there
  Vec3 linearVelocity{};   ///< at the start, world [m/s]
  std::string material{};  ///< density, friction, hydroelastic modulus; empty: the default material
  Elasticity elasticity{};
  std::vector<SoftAttachment> attachments{};
  bool selfContact = true;
  std::uint32_t group = 1;  ///< as in BodyShape
  std::uint32_t mask = 0xffffffffu;
};

}  // namespace tangere
