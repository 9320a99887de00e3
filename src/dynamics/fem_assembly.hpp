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

  // Parts of the tetrahedra, before they are gathered.
  std::vector<Real> tetEnergy;
  std::vector<std::uint8_t> isInverted;
  std::vector<Vec3> tetForce;    ///< four for each
  std::vector<Real> tetTangent;  ///< twelve (linear), 19 (corotated) or ninety for each
  std::vector<Real> partialSums;
  std::vector<Vec3> spin;  ///< u of keepSpin, of each vertex

  /// Of the corotated law: rotations of the tetrahedra at these positions, for the next assembly,
  /// which is mostly about the same ones.
  std::vector<Mat3> rotation;
  std::vector<Vec3> rotationAt;
};

/// All memory that assembleSoft needs for this mesh.
[[nodiscard]] SoftAssembly makeSoftAssembly(const model::SoftMesh& mesh);

/// Fills `out`, which makeSoftAssembly made for this mesh, from positions `x` and velocities `v` of
/// the vertices [world]. `externalForce` may be null. Allocates nothing.
void assembleSoft(const model::SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt,
                  const Vec3& gravity, const Vec3* externalForce, core::ThreadPool* pool,
                  SoftAssembly* out);

/// Lets the body keep its spin: f(x1) = f(x0) - dt K (v1 - u), where dt u takes the vertices around
/// the center of mass by the turn that `v` has as a whole; b gains (dt^2 + beta dt) K u. Without
/// it K takes the turning of a step for a stretch: a neo-Hookean cube of 10 rad/s would lose three
/// quarters of its angular momentum in a second of steps of 1/120 s (with it, 1e-5), and a
/// corotated one would hold forty times its elastic energy. First order as the step is, nothing for
/// a body at rest. After assembleSoft with the same x, v and dt, before applyVertexConstraints.
void keepSpin(const model::SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt,
              core::ThreadPool* pool, SoftAssembly* assembly);

/// Vertices with a given velocity: their rows and columns become their mass times the identity, and
/// what they do to their neighbours moves to the right side, so the matrix stays symmetric and
/// positive definite. No vertex twice.
void applyVertexConstraints(const model::SoftMesh& mesh, std::span<const int> vertices,
                            std::span<const Vec3> velocities, SoftAssembly* assembly);

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
