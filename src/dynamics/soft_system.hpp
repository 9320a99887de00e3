// SPDX-License-Identifier: Apache-2.0
//
// What makes the linear system of a soft body a step that keeps its momentum, and what is read from
// its solution.
//
// The forces of a step act at x0, so the angular momentum stays when they have no torque about x0:
// those of the laws have none, but dt K v1 has one where the body is under stress, for K turns
// stress with the body. With N the three turns of the body as a whole, orthonormal in the mass, and
// T = I - N N^T M, which takes out of velocities what turns as a whole,
//
//   A = (1 + alpha dt) M + (c dt^2 + beta dt) T^T K T,  b = load + (c dt^2 + beta dt) T^T K T u
//
// keep it for any dt; damping is then the gradient of a potential of the rates of strain, and does
// nothing to a body that moves rigidly. T^T K T - K has rank six, which the solver takes apart from
// the sparse part; where the torque is next to nothing, at rest, it is left out. The linear law
// resists turns of its own accord: only its damping is freed from them.
#pragma once

#include "dynamics/fem_assembly.hpp"

#include <span>

namespace tangere::dynamics {

struct SystemScales {
  Real mass = 0;       ///< 1 + alpha dt
  Real stiffness = 0;  ///< c dt^2 + beta dt
  Real turning = 0;    ///< what of `stiffness` is freed from turns
};
[[nodiscard]] SystemScales scalesOf(const model::SoftMesh& mesh, Real dt, Real stiffening);

/// Lets the body keep its spin: f(x1) = f(x0) - dt K (v1 - u), where dt u takes the vertices around
/// the center of mass by the turn that `v` has as a whole; b gains (dt^2 + beta dt) K u. Without
/// it K takes the turning of a step for a stretch: a neo-Hookean cube of 10 rad/s would lose three
/// quarters of its angular momentum in a second of steps of 1/120 s (with it, 1e-5), and a
/// corotated one would hold forty times its elastic energy. First order as the step is, nothing for
/// a body at rest, nor under the linear law, which knows no rotation. After assembleSoft with the
/// same x, v and dt, before applyVertexConstraints.
void keepSpin(const model::SoftMesh& mesh, const Vec3* x, const Vec3* v, Real dt,
              core::ThreadPool* pool, SoftAssembly* assembly);

/// The same with the turn that a solution `v1` has, where loads and contacts have changed it: the
/// chords of another turn would stretch the body by what they differ. Returns by how much the
/// velocities u changed, in the norm of the mass. formSystem() is to follow.
Real followSpin(const model::SoftMesh& mesh, const Vec3* x, const Vec3* v1, Real dt,
                core::ThreadPool* pool, SoftAssembly* assembly);

/// A and b anew from the stiffness, `stiffening` times of which counts (c above), freed from turns
/// or not. After keepSpin; vertex constraints are to be applied again.
void formSystem(const model::SoftMesh& mesh, const Vec3* x, Real dt, Real stiffening,
                bool isTurningFree, core::ThreadPool* pool, SoftAssembly* assembly);

/// Vertices with a given velocity: their rows and columns become their mass times the identity, and
/// what they do to their neighbours moves to the right side, so the matrix stays symmetric and
/// positive definite. No vertex twice.
void applyVertexConstraints(const model::SoftMesh& mesh, std::span<const int> vertices,
                            std::span<const Vec3> velocities, SoftAssembly* assembly);

/// K (v1 - u), freed from turns as the system is, to assembly->pull: the step set
/// -(c dt + beta) pull against the forces at x0; under the linear law -beta times assembly->drag
/// for the damping. Returns the turns N^T of what was not freed [N s^-1 kg^-1/2].
Vec3 readPull(const model::SoftMesh& mesh, const Vec3* x, const Vec3* v1, core::ThreadPool* pool,
              SoftAssembly* assembly);

/// What damping pulls with, after readPull.
[[nodiscard]] inline const std::vector<Vec3>& dragOf(const SoftAssembly& assembly) {
  return assembly.drag.empty() ? assembly.pull : assembly.drag;
}

/// Of a body that nothing touches: gives `v1` the momenta that loads leave it with, which the
/// solution has to the tolerance of the solver, and frees the pull from turns. After readPull.
void closeMomentum(const model::SoftMesh& mesh, const Vec3* x, Real dt, Vec3* v1,
                   SoftAssembly* assembly);

}  // namespace tangere::dynamics
