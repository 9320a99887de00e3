// SPDX-License-Identifier: Apache-2.0
//
// Positions and velocities of the trees of a model. Coordinates q and v are those of the State;
// what is said to be in tree order follows ModelData::dofs. Links are indices of ModelData::links.
// Nothing here allocates or throws.
#pragma once

#include <tangere/state.hpp>

#include "dynamics/kernels/point_jacobian.hpp"
#include "dynamics/tree_arrays.hpp"

#include <span>

namespace tangere::dynamics {

/// Make one per worker from the model: `TreeWorkspace ws(model.data())`.
using TreeWorkspace = TreeArrays<Real>;

/// Poses, centres, inertias in the world and motion subspaces; of one tree, or of all.
void computeTreePositions(TreeWorkspace& ws, int tree, std::span<const Real> q);
void computeTreePositions(TreeWorkspace& ws, std::span<const Real> q);

/// Velocities of links and their bias accelerations, from v in the State's order. After the
/// positions.
void computeTreeVelocities(TreeWorkspace& ws, int tree, std::span<const Real> v);
void computeTreeVelocities(TreeWorkspace& ws, std::span<const Real> v);
/// The velocities alone: the bias accelerations stay those of before.
void computeLinkVelocities(TreeWorkspace& ws, int tree, std::span<const Real> v);

/// X_WB.
[[nodiscard]] inline const Transform& linkPose(const TreeWorkspace& ws, int link) {
  return ws.pose[static_cast<std::size_t>(link)];
}
/// Where the spatial quantities of the link's tree are written about: its centre of mass, world.
[[nodiscard]] inline Vec3 referencePoint(const TreeWorkspace& ws, int link) {
  return ws.frame[static_cast<std::size_t>(ws.treeOfLink[static_cast<std::size_t>(link)])].center();
}
/// Centre of mass of a link, world [m].
[[nodiscard]] inline Vec3 linkCenter(const TreeWorkspace& ws, int link) {
  const kernel::TreeFrameT<Real>& frame =
      ws.frame[static_cast<std::size_t>(ws.treeOfLink[static_cast<std::size_t>(link)])];
  return frame.base + (frame.reference + ws.center[static_cast<std::size_t>(link)]);
}
/// Velocity of the link's centre of mass, world [m/s].
[[nodiscard]] inline Vec3 linkVelocity(const TreeWorkspace& ws, int link) {
  const auto i = static_cast<std::size_t>(link);
  return math::velocityAt(ws.velocity[i], ws.center[i]);
}
/// World [rad/s].
[[nodiscard]] inline Vec3 linkAngularVelocity(const TreeWorkspace& ws, int link) {
  return ws.velocity[static_cast<std::size_t>(link)].angular;
}
/// Velocity of the point of the link that is at p_W [m/s].
[[nodiscard]] inline Vec3 pointVelocity(const TreeWorkspace& ws, int link, const Vec3& p_W) {
  return math::velocityAt(ws.velocity[static_cast<std::size_t>(link)],
                          p_W - referencePoint(ws, link));
}
/// Acceleration of that point when no velocity changes: J-dot v [m/s^2].
[[nodiscard]] inline Vec3 pointBiasAcceleration(const TreeWorkspace& ws, int link,
                                                const Vec3& p_W) {
  const auto i = static_cast<std::size_t>(link);
  const Vec3 p = p_W - referencePoint(ws, link);
  return math::velocityAt(ws.biasMotion[i], p) +
         cross(ws.velocity[i].angular, math::velocityAt(ws.velocity[i], p));
}

/// Writes centre, orientation, velocity and angular velocity of every link's body to the State.
void copyLinksToState(const model::ModelData& model, const TreeWorkspace& ws, State& state);
void copyLinksToState(const model::ModelData& model, const TreeWorkspace& ws, int tree,
                      State& state);

/// From the order of the State to that of trees, and back. Both as long as numVelocities.
void gatherVelocities(const TreeWorkspace& ws, std::span<const Real> v, std::span<Real> inTrees);
void scatterVelocities(const TreeWorkspace& ws, std::span<const Real> inTrees, std::span<Real> v);

/// out = q moved by v (State's order) for dt; quaternions stay unit. `out` may be q.
void integratePositions(const TreeWorkspace& ws, std::span<const Real> q, std::span<const Real> v,
                        Real dt, std::span<Real> out);
/// v takes q1 to q2 in unit time, by the shorter turn; in the State's order.
void differentiatePositions(const TreeWorkspace& ws, std::span<const Real> q1,
                            std::span<const Real> q2, std::span<Real> v);

/// Adds sign R_WC^T J to three rows of `stride` entries at `rows`; column k belongs to velocity k
/// of the link's tree. J v is the velocity of the point of the link at p_W. Only the velocities
/// that move the link are touched.
void addPointJacobian(TreeWorkspace& ws, int link, const Vec3& p_W, const Mat3& R_WC, Real sign,
                      Real* rows, int stride);
/// The same for four points of the link: those of point i go to rows[i].
void addPointJacobians(TreeWorkspace& ws, int link, const Vec3 (&p_W)[4], const Mat3& R_WC,
                       Real sign, Real* const (&rows)[4], int stride);
/// addPointJacobian() for the angular velocity.
void addAngularJacobian(TreeWorkspace& ws, int link, const Mat3& R_WC, Real sign, Real* rows,
                        int stride);
/// Two links of one tree: the velocity at p_W of link 1 seen from link 2. What moves both alike is
/// exactly zero.
void addRelativePointJacobian(TreeWorkspace& ws, int link1, int link2, const Vec3& p_W,
                              const Mat3& R_WC, Real* rows, int stride);
void addRelativeAngularJacobian(TreeWorkspace& ws, int link1, int link2, const Mat3& R_WC,
                                Real* rows, int stride);

}  // namespace tangere::dynamics
