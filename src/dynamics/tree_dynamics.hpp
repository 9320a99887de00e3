// SPDX-License-Identifier: Apache-2.0
//
// Inertia and forces of the trees of a model. Everything is for one tree and in its order of
// velocities; vectors have its numDofs entries. Nothing here allocates or throws.
#pragma once

#include "dynamics/tree_kinematics.hpp"

#include <span>

namespace tangere::dynamics {

/// A force on a link.
struct LinkWrench {
  Vec3 force{};   ///< at the centre of mass, world [N]
  Vec3 torque{};  ///< world [N m]
};

/// The mass matrix in rows by depth (kernel::TreeView::matrix), armature included. After the
/// positions. `dampingTime` [s] > 0 adds the damping of bodies times that: what an implicit step
/// has on its left side.
void computeMassMatrix(TreeWorkspace& ws, int tree, Real dampingTime = 0);
/// As n x n entries, row after row, both triangles. After computeMassMatrix.
void copyMassMatrix(TreeWorkspace& ws, int tree, Real* out);
/// out = M x.
void multiplyMassMatrix(TreeWorkspace& ws, int tree, const Real* x, Real* out);
/// M = L^T D L along the tree, O(n depth^2). False when M is not positive definite.
bool factorMassMatrix(TreeWorkspace& ws, int tree);
/// x = M^-1 x. After factorMassMatrix.
void solveMassMatrix(TreeWorkspace& ws, int tree, Real* x);

/// Coriolis and centrifugal forces less gravity: M a + bias = tau. After the velocities. Gravity
/// [m/s^2] counts for each body with its scale.
void computeBiasForce(TreeWorkspace& ws, int tree, const Vec3& gravity, Real* bias);
/// tau for accelerations a and forces on links (empty, or one for each link of the tree). Leaves
/// accelerations in ws.motion and what passes through the joints of a link in ws.force.
void computeInverseDynamics(TreeWorkspace& ws, int tree, const Vec3& gravity, const Real* a,
                            std::span<const LinkWrench> applied, Real* tau);
/// Articulated bodies: M^-1 as an operator in O(n). After the positions; false when an inertia is
/// not positive.
bool factorArticulatedBodies(TreeWorkspace& ws, int tree);
/// x = M^-1 x. After factorArticulatedBodies.
void solveArticulatedBodies(TreeWorkspace& ws, int tree, Real* x);

/// tau += springs and damping of joints and, after the velocities, damping of bodies.
void addPassiveForce(TreeWorkspace& ws, int tree, std::span<const Real> q, Real* tau);
/// tau += J^T f of forces on the links of the tree.
void addAppliedForce(TreeWorkspace& ws, int tree, std::span<const LinkWrench> applied, Real* tau);
/// tau += J^T f of a force at p_W of one link, world.
void addPointForce(TreeWorkspace& ws, int link, const Vec3& p_W, const Vec3& force, Real* tau);

/// (v M v)/2 of the tree, armature included [J]. After the velocities.
[[nodiscard]] Real treeKineticEnergy(const TreeWorkspace& ws, int tree);
/// Height in the field of gravity from the world's origin, and springs [J]. After the positions.
[[nodiscard]] Real treePotentialEnergy(const TreeWorkspace& ws, int tree, const Vec3& gravity,
                                       std::span<const Real> q);
/// Linear momentum [N s] and angular momentum about the tree's centre of mass [N m s], of the
/// bodies (not of what armature stands for).
[[nodiscard]] math::SpatialT<Real> treeMomentum(const TreeWorkspace& ws, int tree);

/// Acceleration of the point of a link at p_W [m/s^2], after computeInverseDynamics.
[[nodiscard]] Vec3 pointAcceleration(const TreeWorkspace& ws, int link, const Vec3& p_W);
/// What the parent does to the link through its joints: force [N], and torque about p_W [N m].
/// After computeInverseDynamics.
[[nodiscard]] LinkWrench jointWrench(const TreeWorkspace& ws, int link, const Vec3& p_W);

}  // namespace tangere::dynamics
