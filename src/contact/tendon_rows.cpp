// SPDX-License-Identifier: Apache-2.0
#include "contact/tendon_rows.hpp"

#include "contact/body_rows.hpp"
#include "contact/joint_rows.hpp"
#include "contact/joint_step.hpp"
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

void prepareTendons(const model::ModelData& model, SapWorkspace& sap) {
  if (sap.tendons.size() == model.tendons.size()) return;
  sap.tendons.resize(model.tendons.size());
  for (std::size_t i = 0; i < model.tendons.size(); ++i)
    sap.tendons[i].startLength = dynamics::tendonStartLength(model, static_cast<int>(i));
}

}  // namespace

TendonEnergy tendonEnergy(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  TendonEnergy sum;
  prepareTendons(model, sap);
  for (std::size_t i = 0; i < model.tendons.size(); ++i) {
    const model::ModelTendon& tendon = model.tendons[i];
    if (!(tendon.tendon.stiffness > 0) && !(tendon.tendon.armature > 0)) continue;
    Real length = 0, rate = 0;
    for (std::size_t k = 0; k < tendon.joints.size(); ++k) {
      const model::ModelJoint& joint = model.joints[tendon.joints[k]];
      length += tendon.tendon.terms[k].coefficient * state.q[joint.q];
      rate += tendon.tendon.terms[k].coefficient * state.v[joint.v];
    }
    forEachPiece(tendon, [&](int a, int b, Real weight) {
      const Vec3 pa = sitePosition(model, state, a), pb = sitePosition(model, state, b);
      const Real size = norm(pb - pa);
      length += weight * size;
      if (!(size > 0)) return;
      const Vec3 velocity = pointVelocity(state, model.sites[b].body, pb) -
                            pointVelocity(state, model.sites[a].body, pa);
      rate += weight * dot(velocity, pb - pa) / size;
    });
    const Real stretch = dynamics::springStretch(tendon.tendon, length, sap.tendons[i].startLength);
    sum.kinetic += Real(0.5) * tendon.tendon.armature * rate * rate;
    sum.potential += Real(0.5) * tendon.tendon.stiffness * stretch * stretch;
  }
  return sum;
}

void measureTendons(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  prepareTendons(model, sap);
  for (std::size_t i = 0; i < model.tendons.size(); ++i)
    measure(model, state, model.tendons[i], &sap.tendons[i], sap);
}

void addTendonRows(const model::ModelData& model, SapWorkspace& sap) {
  for (int i = 0; i < static_cast<int>(model.tendons.size()); ++i) {
    const Tendon& tendon = model.tendons[i].tendon;
    TendonState& at = sap.tendons[i];
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
    const Real dt = sap.problem.dt;
    if (tendon.armature > 0) {
      // An impulse of armature times the change of the rate, J (v - v0) + dt J-dot v0.
      const int c = sap.problem.addDrive(
          row.clique1, row.clique2,
          {.kd = tendon.armature / dt, .targetVelocity = at.rate - dt * at.biasRate});
      writeRow(row, 1, c, sap);
      own(RowOwner::Kind::TendonArmature, i, c, sap);
    }
    if (tendon.stiffness > 0 || tendon.damping > 0) {
      const Real stretch = dynamics::springStretch(tendon, at.length, at.startLength);
      const bool isFromStart = tendon.springLower < 0 && tendon.springUpper < 0;
      const bool isSlack = stretch == 0 && !isFromStart && tendon.springLower < tendon.springUpper;
      const Real stiffness = isSlack ? 0 : tendon.stiffness;
      at.springForce = -stiffness * stretch;
      at.springStiffness = stiffness;
      at.weights = weightsOf(model.options.jointStep, dt, stiffness, tendon.damping,
                             inverseMassOf(row, sap));
      const int c =
          sap.problem.addDrive(row.clique1, row.clique2,
                               driveLaw(at.weights, dt, at.springForce - tendon.damping * at.rate,
                                        stiffness, tendon.damping, at.rate));
      writeRow(row, 1, c, sap);
      own(RowOwner::Kind::TendonSpring, i, c, sap);
    }
  }
}

}  // namespace tangere::contact
