// SPDX-License-Identifier: Apache-2.0
#include "contact/equality_rows.hpp"

#include "contact/body_rows.hpp"
#include "contact/joint_rows.hpp"
#include "contact/recovery.hpp"
#include "math/quat.hpp"

#include <cmath>

namespace tangere::contact {

namespace {

struct PosedBody {
  int index = kWorld;
  Transform pose{};
};

PosedBody posed(const model::ModelData& model, const State& state, int body) {
  if (body < 0) return {};
  const Mat3 R = rotationMatrix(state.orientation[body]);
  return {body, {R, state.center[body] - R * model.bodies[body].mass.center}};
}

void own(int index, int c, SapWorkspace& sap) {
  sap.owners.push_back({RowOwner::Kind::Equality, index, c});
}

void write(const Vec3& value, Real* target) {
  target[0] = value.x;
  target[1] = value.y;
  target[2] = value.z;
}

/// Equalities are about velocities: what bends the way of their points within a step leaves an
/// error of half of it, which has to go as fast as it comes.
Real allowDrift(Real speed, Real bendRate, const SapWorkspace& sap) {
  return speed + sap.problem.dt * std::fabs(bendRate);
}

Vec3 bendRate(const model::ModelData& model, const State& state, const PosedBody& body1,
              const Vec3& p1, const PosedBody& body2, const Vec3& p2, const SapWorkspace& sap) {
  return pointBiasAcceleration(model, state, body1.index, p1, sap) -
         pointBiasAcceleration(model, state, body2.index, p2, sap);
}

/// Of the angular velocities [rad/s^2].
Vec3 turnRate(const model::ModelData& model, const PosedBody& body1, const PosedBody& body2,
              const SapWorkspace& sap) {
  const auto of = [&](int body) {
    if (body < 0 || !model.bodies[body].isJointed) return Vec3{};
    return sap.trees.biasMotion[static_cast<std::size_t>(model.linkOfBody[body])].angular;
  };
  return of(body1.index) - of(body2.index);
}

/// p1 = p2 and, for a weld, R1 R_12 = R2.
void addPose(const model::ModelData& model, const State& state, int index,
             const solver::SapCompliance& compliance, SapWorkspace& sap) {
  const Real relaxation = compliance.dissipationTime;
  const model::ModelEquality& equality = model.equalities[index];
  const bool isWeld = equality.equality.type == Equality::Type::Weld;
  const PosedBody body1 = posed(model, state, equality.first);
  const PosedBody body2 = posed(model, state, equality.second);
  const CliquePair cliques = cliquesOf(sap, body1.index, body2.index);
  if (cliques.first < 0) return;
  const Vec3 p1 = body1.pose * equality.anchor1, p2 = body2.pose * equality.anchor2;
  const int c = sap.problem.addBilateral(isWeld ? 6 : 3, cliques.first, cliques.second, compliance);
  write(p1 - p2, sap.problem.target(c));
  writePointRows(model, state, c, 0, body1.index, p1, body2.index, p2, Mat3::identity(), sap);
  const Real bend = norm(bendRate(model, state, body1, p1, body2, p2, sap));
  limitVectorRecovery(model, c, 0, allowDrift(kMaxRecoverySpeed, bend, sap), relaxation, sap);
  if (isWeld) {
    const Mat3 turn = body1.pose.rotation * equality.rotation * transpose(body2.pose.rotation);
    write(math::rotationVector(math::quatFromRotation(turn)), sap.problem.target(c) + 3);
    writeAngularRows(model, state, c, 3, body1.index, body2.index, Mat3::identity(), sap);
    const Real turned = norm(turnRate(model, body1, body2, sap));
    limitVectorRecovery(model, c, 3, allowDrift(kMaxRecoveryRate, turned, sap), relaxation, sap);
  }
  own(index, c, sap);
}

/// |p1 - p2| = distance.
void addDistance(const model::ModelData& model, const State& state, int index,
                 const solver::SapCompliance& compliance, SapWorkspace& sap) {
  const model::ModelEquality& equality = model.equalities[index];
  const PosedBody body1 = posed(model, state, equality.first);
  const PosedBody body2 = posed(model, state, equality.second);
  const Vec3 p1 = body1.pose * equality.anchor1, p2 = body2.pose * equality.anchor2;
  const Real length = norm(p1 - p2);
  if (!(length > 0)) return;  // no direction to push in; the next step has one
  const Vec3 along = (p1 - p2) / length;
  CliqueRow row;
  addPointTo(model, state, body1.index, p1, along, 1, &row, sap);
  addPointTo(model, state, body2.index, p2, along, -1, &row, sap);
  if (row.clique1 < 0) return;
  const int c = sap.problem.addBilateral(1, row.clique1, row.clique2, compliance);
  writeRow(row, 1, c, sap);
  sap.problem.target(c)[0] = length - equality.equality.distance;
  const Vec3 velocity =
      pointVelocity(state, body1.index, p1) - pointVelocity(state, body2.index, p2);
  const Real bend = norm(bendRate(model, state, body1, p1, body2, p2, sap)) +
                    squaredNorm(velocity - along * dot(along, velocity)) / length;
  limitRowRecovery(model, c, allowDrift(kMaxRecoverySpeed, bend, sap), compliance.dissipationTime,
                   sap);
  own(index, c, sap);
}

struct PolynomialValue {
  Real value = 0, slope = 0;
  Real halfCurvature = 0;
};

PolynomialValue evaluate(const std::array<Real, 5>& coefficients, Real x) {
  PolynomialValue out;
  for (int i = 4; i >= 0; --i) {
    out.halfCurvature = out.halfCurvature * x + out.slope;
    out.slope = out.slope * x + out.value;
    out.value = out.value * x + coefficients[i];
  }
  return out;
}

void addTo(const CliqueRow& from, Real weight, CliqueRow* to, const SapWorkspace& sap) {
  for (std::size_t k = 0; k < from.row1.size() && from.clique1 >= 0; ++k)
    addVelocityTo(from.clique1, static_cast<int>(k), weight * from.row1[k], to, sap);
  for (std::size_t k = 0; k < from.row2.size() && from.clique2 >= 0; ++k)
    addVelocityTo(from.clique2, static_cast<int>(k), weight * from.row2[k], to, sap);
  to->bias += weight * from.bias;
}

/// x1 = polynomial(x2), both from where they started.
void addCoupling(const model::ModelData& model, const State& state, int index,
                 const solver::SapCompliance& compliance, SapWorkspace& sap) {
  const model::ModelEquality& equality = model.equalities[index];
  const bool isJoint = equality.equality.type == Equality::Type::Joint;
  const auto valueOf = [&](int which) {
    if (!isJoint) return sap.tendons[which].length - sap.tendons[which].startLength;
    const int q = model.joints[which].q;
    return state.q[q] - model.startPositions[q];
  };
  CliqueRow row;
  const auto add = [&](int which, Real weight) {
    if (!isJoint) return addTo(sap.tendons[which].row, weight, &row, sap);
    const model::TreeJoint& part = model.treeJoints[model.joints[which].firstPart];
    addVelocityTo(sap.cliqueOfBody[part.body], part.dof, weight, &row, sap);
  };
  const auto rateOf = [&](int which) {
    return isJoint ? state.v[model.joints[which].v] : sap.tendons[which].rate;
  };
  const auto biasOf = [&](int which) { return isJoint ? 0 : sap.tendons[which].biasRate; };
  Real error = valueOf(equality.first) - equality.equality.polynomial[0];
  Real bend = biasOf(equality.first);
  add(equality.first, 1);
  if (equality.second >= 0) {
    const PolynomialValue p = evaluate(equality.equality.polynomial, valueOf(equality.second));
    error = valueOf(equality.first) - p.value;
    const Real rate = rateOf(equality.second);
    bend -= p.slope * biasOf(equality.second) + 2 * p.halfCurvature * rate * rate;
    add(equality.second, -p.slope);
  }
  if (row.clique1 < 0) return;
  const int c = sap.problem.addBilateral(1, row.clique1, row.clique2, compliance);
  writeRow(row, 1, c, sap);
  sap.problem.target(c)[0] = error;
  const Real speed =
      isJoint ? maxRecoveryRate(model.joints[equality.first].joint.type) : kMaxRecoverySpeed;
  limitRowRecovery(model, c, allowDrift(speed, bend, sap), compliance.dissipationTime, sap);
  own(index, c, sap);
}

}  // namespace

void addEqualityRows(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  const solver::SapCompliance compliance{.dissipationTime = relaxationOf(model.options.dt)};
  sap.weight = 0;
  if (!model.equalities.empty()) {
    for (const model::ModelBody& body : model.bodies) sap.weight += body.mass.mass;
    sap.weight *= norm(model.options.gravity);
  }
  for (int i = 0; i < static_cast<int>(model.equalities.size()); ++i) {
    const Equality& equality = model.equalities[i].equality;
    if (!equality.isActive) continue;
    switch (equality.type) {
      case Equality::Type::Connect:
      case Equality::Type::Weld:
        addPose(model, state, i, compliance, sap);
        break;
      case Equality::Type::Distance:
        addDistance(model, state, i, compliance, sap);
        break;
      case Equality::Type::Joint:
      case Equality::Type::Tendon:
        addCoupling(model, state, i, compliance, sap);
        break;
    }
  }
}

}  // namespace tangere::contact
