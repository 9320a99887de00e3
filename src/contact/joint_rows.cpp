// SPDX-License-Identifier: Apache-2.0
#include "contact/joint_rows.hpp"

#include "contact/recovery.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::contact {

namespace {

/// How far a limit may be and still get a row, beyond what the free motion reaches: contacts may
/// push a joint farther than it would go by itself [rad or m].
constexpr Real kLimitMargin = 0.01;

struct PartPlace {
  int clique = -1;
  int dof = 0;
};

/// Way of a velocity over the step, generously.
Real reachOf(const SapWorkspace& sap, const PartPlace& place) {
  const int i = sap.problem.firstVelocity[place.clique] + place.dof;
  const Real speed = std::max(std::fabs(sap.v0[i]), std::fabs(sap.problem.vStar[i]));
  return 2 * sap.problem.dt * speed + kLimitMargin;
}

void addLimit(const PartPlace& place, Real coefficient, Real gap, const model::TreeJoint& part,
              SapWorkspace& sap) {
  if (!(gap <= reachOf(sap, place))) return;
  const int c = sap.problem.addLimitOnVelocity(
      place.clique, place.dof, coefficient,
      limitGap(gap, maxRecoveryRate(part.type), sap.problem.dt + kLimitRelaxation),
      {.dissipationTime = kLimitRelaxation});
  sap.owners.push_back({RowOwner::Kind::Limit, part.joint, c});
}

/// The angle from the start is at most `upper`.
void addBallLimit(const model::TreeJoint& part, const PartPlace& place, const Real* q, Real upper,
                  SapWorkspace& sap) {
  const Quat turn{q[0], q[1], q[2], q[3]};
  const Vec3 w = math::rotationVector(turn);
  const Real angle = math::scaledNorm(w);
  const Real gap = upper - angle;
  Real reach = 0;
  for (int k = 0; k < 3; ++k) reach += reachOf(sap, {place.clique, place.dof + k});
  if (!(gap <= reach) || !(angle > 0)) return;
  const int c = sap.problem.addLimit(1, place.clique, -1, {.dissipationTime = kLimitRelaxation});
  const Vec3 axis = w / angle;
  Real* row = sap.problem.jacobian1(c) + place.dof;
  row[0] = -axis.x;
  row[1] = -axis.y;
  row[2] = -axis.z;
  sap.problem.target(c)[0] = limitGap(gap, kMaxRecoveryRate, sap.problem.dt + kLimitRelaxation);
  sap.owners.push_back({RowOwner::Kind::Limit, part.joint, c});
}

}  // namespace

void addJointRows(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  for (const model::TreeJoint& part : model.treeJoints) {
    const PartPlace place{sap.cliqueOfBody[part.body], part.dof};
    if (place.clique < 0) continue;
    const Joint& joint = model.joints[part.joint].joint;
    const Real* q = state.q.data() + part.q;
    if (part.type == JointType::Ball) {
      if (joint.upper < kUnlimited) addBallLimit(part, place, q, joint.upper, sap);
    } else if (part.type != JointType::Free) {
      if (joint.lower > -kUnlimited) addLimit(place, 1, q[0] - joint.lower, part, sap);
      if (joint.upper < kUnlimited) addLimit(place, -1, joint.upper - q[0], part, sap);
    }
    if (joint.frictionLoss > 0) {
      for (int k = 0; k < numJointVelocities(part.type); ++k) {
        const int c =
            sap.problem.addFrictionOnVelocity(place.clique, place.dof + k, joint.frictionLoss);
        sap.problem.heldOf(c)[0] =
            impulseScale(state, sap.problem.dt) * state.dryFriction[part.v + k];
        sap.owners.push_back({RowOwner::Kind::Friction, part.joint, c});
      }
    }
  }
}

void storeDryFriction(const model::ModelData& model, State& state, const SapWorkspace& sap) {
  for (const RowOwner& owner : sap.owners) {
    if (owner.kind != RowOwner::Kind::Friction) continue;
    const solver::SapConstraint& constraint = sap.problem.constraints[owner.constraint];
    const model::Tree& tree = model.trees[sap.treeOfClique[constraint.clique1]];
    state.dryFriction[model.dofs[tree.firstDof + constraint.dof1].v] =
        sap.problem.impulseOf(owner.constraint)[0];
  }
}

}  // namespace tangere::contact
