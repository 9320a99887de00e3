// SPDX-License-Identifier: Apache-2.0
#include "contact/tendon_rows.hpp"

#include "contact/body_rows.hpp"
#include "contact/joint_rows.hpp"
#include "contact/recovery.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::contact {

namespace {

Vec3 sitePosition(const model::ModelData& model, const State& state, int site) {
  const model::ModelSite& s = model.sites[site];
  if (s.body < 0) return s.site.pose.translation;
  return state.center[s.body] + rotationMatrix(state.orientation[s.body]) *
                                    (s.site.pose.translation - model.bodies[s.body].mass.center);
}

Vec3 startPosition(const model::ModelData& model, int site) {
  const model::ModelSite& s = model.sites[site];
  const Vec3& p = s.site.pose.translation;
  return s.body < 0 ? p : model.bodies[s.body].startPose * p;
}

Real startLength(const model::ModelData& model, const model::ModelTendon& tendon) {
  Real length = 0;
  for (std::size_t i = 0; i < tendon.joints.size(); ++i)
    length +=
        tendon.tendon.terms[i].coefficient * model.startPositions[model.joints[tendon.joints[i]].q];
  forEachPiece(tendon, [&](int a, int b, Real weight) {
    length += weight * norm(startPosition(model, b) - startPosition(model, a));
  });
  return length;
}

void measure(const model::ModelData& model, const State& state, const model::ModelTendon& tendon,
             TendonState* out, SapWorkspace& sap) {
  clearRow(&out->row);
  out->length = 0;
  out->biasRate = 0;
  for (std::size_t i = 0; i < tendon.joints.size(); ++i) {
    const model::ModelJoint& joint = model.joints[tendon.joints[i]];
    const Real coefficient = tendon.tendon.terms[i].coefficient;
    out->length += coefficient * state.q[joint.q];
    addVelocityTo(sap.cliqueOfBody[joint.body], model.treeJoints[joint.firstPart].dof, coefficient,
                  &out->row, sap);
  }
  forEachPiece(tendon, [&](int a, int b, Real weight) {
    const Vec3 pa = sitePosition(model, state, a), pb = sitePosition(model, state, b);
    const Real length = norm(pb - pa);
    out->length += weight * length;
    if (!(length > 0)) return;
    const Vec3 along = (pb - pa) / length;
    const int bodyA = model.sites[a].body, bodyB = model.sites[b].body;
    addPointTo(model, state, bodyB, pb, along, weight, &out->row, sap);
    addPointTo(model, state, bodyA, pa, along, -weight, &out->row, sap);
    // d/dt (along . velocity): the sites' own, and the turning of the piece.
    const Vec3 velocity = pointVelocity(state, bodyB, pb) - pointVelocity(state, bodyA, pa);
    const Vec3 acceleration = pointBiasAcceleration(model, state, bodyB, pb, sap) -
                              pointBiasAcceleration(model, state, bodyA, pa, sap);
    const Real closing = dot(along, velocity);
    out->biasRate +=
        weight * (dot(along, acceleration) + (squaredNorm(velocity) - closing * closing) / length);
  });
  out->rate = rateOf(out->row, sap, sap.v0.data());
}

void own(RowOwner::Kind kind, int index, int c, SapWorkspace& sap, Real sign = 1) {
  sap.owners.push_back({kind, index, c, sign});
}

}  // namespace

void measureTendons(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  if (sap.tendons.size() != model.tendons.size()) {
    sap.tendons.resize(model.tendons.size());
    for (std::size_t i = 0; i < model.tendons.size(); ++i)
      sap.tendons[i].startLength = startLength(model, model.tendons[i]);
  }
  for (std::size_t i = 0; i < model.tendons.size(); ++i)
    measure(model, state, model.tendons[i], &sap.tendons[i], sap);
}

void addTendonRows(const model::ModelData& model, SapWorkspace& sap) {
  for (int i = 0; i < static_cast<int>(model.tendons.size()); ++i) {
    const Tendon& tendon = model.tendons[i].tendon;
    const TendonState& at = sap.tendons[i];
    const CliqueRow& row = at.row;
    if (row.clique1 < 0) continue;
    const auto addLimit = [&](Real sign, Real gap) {
      // Tendons are few: their limits always have a row.
      const int c =
          sap.problem.addLimit(1, row.clique1, row.clique2, {.dissipationTime = kLimitRelaxation});
      writeRow(row, sign, c, sap);
      sap.problem.target(c)[0] = gap;
      limitRowRecovery(model, c, kMaxRecoverySpeed, kLimitRelaxation, sap);
      own(RowOwner::Kind::TendonLimit, i, c, sap, sign);
    };
    if (tendon.lower > -kUnlimited) addLimit(1, at.length - tendon.lower);
    if (tendon.upper < kUnlimited) addLimit(-1, tendon.upper - at.length);
    if (tendon.frictionLoss > 0) {
      const int c = sap.problem.addFriction(1, row.clique1, row.clique2);
      writeRow(row, 1, c, sap);
      sap.problem.target(c)[0] = tendon.frictionLoss;
      own(RowOwner::Kind::TendonFriction, i, c, sap);
    }
    if (tendon.armature > 0) {
      // An impulse of armature times the change of the rate.
      const int c =
          sap.problem.addDrive(row.clique1, row.clique2,
                               {.kd = tendon.armature / sap.problem.dt, .targetVelocity = at.rate});
      writeRow(row, 1, c, sap);
      own(RowOwner::Kind::TendonSpring, i, c, sap);
    }
    if (tendon.stiffness > 0 || tendon.damping > 0) {
      const bool isFromStart = tendon.springLower < 0 && tendon.springUpper < 0;
      const Real lower = isFromStart ? at.startLength : tendon.springLower;
      const Real upper = isFromStart ? at.startLength : tendon.springUpper;
      // Between its rest lengths the spring does nothing.
      const Real rest = std::clamp(at.length, lower, std::max(lower, upper));
      const bool isSlack = at.length > lower && at.length < upper;
      const int c = sap.problem.addDrive(row.clique1, row.clique2,
                                         {.kp = isSlack ? 0 : tendon.stiffness,
                                          .kd = tendon.damping,
                                          .position = at.length,
                                          .targetPosition = rest});
      writeRow(row, 1, c, sap);
      own(RowOwner::Kind::TendonSpring, i, c, sap);
    }
  }
}

}  // namespace tangere::contact
