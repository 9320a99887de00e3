// SPDX-License-Identifier: Apache-2.0
//
// How fast overlaps, violated limits and violated equalities are put right. What starts wrong is
// led back, not thrown: neither the points that are wrong nor any joint that has to move for them
// goes faster than these speeds on that account. The mass matrices of the trees are factored.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

inline constexpr Real kMaxRecoverySpeed = 1;  ///< of points and sliding joints [m/s]
inline constexpr Real kMaxRecoveryRate = 3;   ///< of angles and turning joints [rad/s]

/// That of a contact [m].
[[nodiscard]] inline Real* gapOf(int c, solver::SapProblem& problem) {
  const solver::SapConstraint& constraint = problem.constraints[c];
  return constraint.kind == solver::SapKind::HuntCrossley
             ? &problem.huntCrossleys[constraint.parameters].gap
             : &problem.contacts[constraint.parameters].gap;
}

/// Of the one coordinate of a joint.
[[nodiscard]] inline Real maxRecoveryRate(JointType type) {
  return type == JointType::Prismatic ? kMaxRecoverySpeed : kMaxRecoveryRate;
}

/// A gap that is closed within `duration` [s] at no more than `rate`.
[[nodiscard]] inline Real limitGap(Real gap, Real rate, Real duration) {
  return gap < -rate * duration ? -rate * duration : gap;
}

/// Whether the velocities of a clique are those of joints, not of a free body.
[[nodiscard]] inline bool isTree(const model::ModelData& model, const SapWorkspace& sap,
                                 int clique) {
  return clique >= 0 && !model.trees[sap.treeOfClique[clique]].isFreeBody;
}

/// For the three rows of a contact point of unlimited stiffness that overlaps by
/// `depth`: shortens `gap`, and clears the rows where joints cannot part the two, however far they
/// turn. What pushes without any chance would only hold the joints by its friction. One of the
/// cliques is a tree: free bodies have no limits.
void limitContactRecovery(const model::ModelData& model, int c, Real depth, Real relaxationTime,
                          Real* gap, SapWorkspace& sap);

/// After the solve: whether contacts that recover, each within its limit, together move a joint far
/// faster, as those do that are wedged against each other. Their gaps are then shortened by as
/// much: the problem is to be solved again.
[[nodiscard]] bool shortenRecovery(const model::ModelData& model, SapWorkspace& sap);

/// For the one row of a limit or an equality: shortens its target, of which no more
/// than `speed` is put right. An equality carries its load by an error, the larger the lighter the
/// bodies that it joins: what the weight of all others may need comes on top.
void limitRowRecovery(const model::ModelData& model, int c, Real speed, Real relaxationTime,
                      SapWorkspace& sap);
/// The same for three rows from `first` on that are a vector: along that vector.
void limitVectorRecovery(const model::ModelData& model, int c, int first, Real speed,
                         Real relaxationTime, SapWorkspace& sap);

}  // namespace tangere::contact
