// SPDX-License-Identifier: Apache-2.0
//
// The linear system of a soft body's free motion. The step is linearly implicit: with
// x1 = x0 + dt v1 and f(x1) = f(x0) - dt K v1,
//
//   M (v1 - v0) = dt (f_ext + M g + f(x0) - dt K v1 - alpha M v1 - beta K v1)
//   A v1 = b,  A = (1 + alpha dt) M + (dt^2 + beta dt) K,  b = M v0 + dt (f_ext + M g + f(x0)).
//
// K is the stiffness at x0, made positive semidefinite tetrahedron by tetrahedron, so A is positive
// definite for any dt. Sums have a fixed order: same bits for any number of threads.
#pragma once

#include "core/parallel_for.hpp"
#include "math/block_csr.hpp"
#include "model/soft_mesh.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::dynamics {

struct SoftAssembly {
  std::vector<Vec3> force;      ///< elastic, of each vertex [N]
  Real energy = 0;              ///< elastic, zero at rest [J]
  int numInverted = 0;          ///< tetrahedra whose volume is not positive
  std::vector<Real> stiffness;  ///< K: nine for each block of `matrix` [N/m]
  math::BlockCsr matrix;        ///< A [kg]
  std::vector<Vec3> momentum;   ///< b [kg m/s]
  std::vector<Vec3> load;       ///< M v0 + dt (f_ext + M g + f(x0)), what b is without the spin

  // Parts of the tetrahedra, before they are gathered.
  std::vector<Real> tetEnergy;
  std::vector<std::uint8_t> isInverted;
  std::vector<Vec3> tetForce;    ///< four for each
  std::vector<Real> tetTangent;  ///< twelve (linear), 19 (corotated) or ninety for each
  std::vector<Real> partialSums;

  // Of soft_system.hpp.
  std::vector<Vec3> spin;  ///< u of keepSpin, of each vertex
  Vec3 center{};           ///< of mass
  Vec3 turn[3] = {};       ///< rates of three turns about it, orthonormal in the mass; zero: none
  Real stiffening = 1;     ///< K counts so many times in the system
  bool isTurningFree = false;            ///< the system has the three terms below
  std::vector<Real> turningP, turningQ;  ///< nine for each vertex, see solver::SapTurning
  Real turningC[9] = {};
  std::vector<Vec3> pull, drag;  ///< of readPull
  std::vector<Vec3> scratch;

  /// Of the corotated law: rotations of the tetrahedra at these positions, for the next assembly,
  /// which is mostly about the same ones.
  std::vector<Mat3> rotation;
  std::vector<Vec3> rotationAt;
  Real energyAt = 0;  ///< elastic, at the positions `rotationAt`, which every law keeps [J]
};

/// All memory that assembleSoft needs for this mesh.
[[nodiscard]] SoftAssembly makeSoftAssembly(const model::SoftMesh& mesh);

/// Fills `out`, which makeSoftAssembly made for this mesh, from positions `x` and velocities `v` of
/// the vertices [world]. `externalForce` may be null. Allocates nothing.
void assembleSoft(const model::SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt,
                  const Vec3& gravity, const Vec3* externalForce, core::ThreadPool* pool,
                  SoftAssembly* out);

/// Elastic energy at `x` [J], zero at rest: the same bits as SoftAssembly::energy. `partials` grows
/// to a few values for large meshes.
[[nodiscard]] Real elasticEnergy(const model::SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool,
                                 std::vector<Real>* partials);

/// The same, with the memory of an assembly of this mesh, which keeps what its next one can use.
[[nodiscard]] Real elasticEnergy(const model::SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool,
                                 SoftAssembly* assembly);

/// Elastic forces alone [N], the same bits as SoftAssembly::force; uses the memory of `scratch`.
void elasticForce(const model::SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool,
                  SoftAssembly* scratch, Vec3* force);

/// Cauchy stress of each tetrahedron [Pa], P F^T / det F (for the linear law P itself). In a
/// collapsed tetrahedron the volume is held at 1e-9 of that at rest.
void tetStresses(const model::SoftMesh& mesh, const Vec3* x, core::ThreadPool* pool, Mat3* out);

[[nodiscard]] int countInvertedTets(const model::SoftMesh& mesh, const Vec3* x);

}  // namespace tangere::dynamics
