// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_drives.hpp"

#include "contact/tendon_rows.hpp"
#include "integrator/event_state.hpp"
#include "integrator/kernels/elastic_force_law.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tangere::integrator {

namespace {

constexpr Real kTwoPi = 6.283185307179586477;
/// Errors of equalities decay with this rate, critically damped [1/s].
constexpr Real kDecay = 500;
/// Rows of equalities that add less than this to the rank are said by the others.
constexpr Real kDependent = 1e-11;

struct PolynomialValue {
  Real value = 0, slope = 0, bend = 0;
};

PolynomialValue evaluate(const std::array<Real, 5>& coefficients, Real x) {
  PolynomialValue out;
  for (int i = 4; i >= 0; --i) {
    out.bend = out.bend * x + 2 * out.slope;
    out.slope = out.slope * x + out.value;
    out.value = out.value * x + coefficients[static_cast<std::size_t>(i)];
  }
  return out;
}

int rowsOf(const model::ModelEquality& equality) {
  if (!equality.equality.isActive) return 0;
  switch (equality.equality.type) {
    case Equality::Type::Connect:
      return 3;
    case Equality::Type::Weld:
      return 6;
    default:
      return 1;
  }
}

}  // namespace

EventDrives::EventDrives(const model::ModelData& model, const model::Control& control)
    : model_(model),
      control_(control),
      frequency_(kTwoPi / model.options.event.restPeriod),
      slip_speed_(model.options.event.slipSpeed) {
  schedule_of_.assign(model.actuators.size(), -1);
  for (std::size_t i = 0; i < model.schedules.size(); ++i)
    schedule_of_[static_cast<std::size_t>(model.schedules[i].actuator)] = static_cast<int>(i);
  actuator_force_.resize(model.actuators.size());
  actuator_tau_.resize(model.dofs.size());
  decay_.assign(static_cast<std::size_t>(model.numActivations), 0);
  for (const model::ModelActuator& actuator : model.actuators) {
    const bool isFilter = actuator.actuator.dynamics == Actuator::Dynamics::Filter ||
                          actuator.actuator.dynamics == Actuator::Dynamics::FilterExact;
    if (actuator.activation >= 0 && isFilter)
      decay_[static_cast<std::size_t>(actuator.activation)] = 1 / actuator.actuator.timeConstant;
  }
  tendon_length_.resize(model.tendons.size());
  tendon_rate_.resize(model.tendons.size());
  tendon_bias_.resize(model.tendons.size());
  tendon_start_.assign(model.tendons.size(), -1);
  tendon_row_.resize(model.tendons.size());
  for (std::size_t k = 0; k < model.dofs.size(); ++k) {
    if (model.dofs[k].frictionLoss > 0)
      dry_.push_back({.dof = static_cast<int>(k), .size = model.dofs[k].frictionLoss});
  }
  for (std::size_t i = 0; i < model.tendons.size(); ++i) {
    if (model.tendons[i].tendon.frictionLoss > 0)
      dry_.push_back(
          {.dof = -1, .tendon = static_cast<int>(i), .size = model.tendons[i].tendon.frictionLoss});
  }
  listLimits();
  for (const model::ModelEquality& equality : model.equalities) num_rows_ += rowsOf(equality);
  const auto n = model.dofs.size();
  const auto rows = static_cast<std::size_t>(num_rows_);
  jacobian_.resize(rows * n);
  solved_.resize(rows * n);
  for (std::vector<Real>* vector : {&error_, &rate_, &bias_, &right_}) vector->resize(rows);
  factor_.resize(rows * rows);
  order_.resize(rows);
  listCouplings();
  is_empty_ = model.actuators.empty() && model.tendons.empty() && limits.empty() && dry_.empty() &&
              num_rows_ == 0;
}

void EventDrives::listLimits() {
  const auto add = [&](int joint, int tendon, Real lower, Real upper, bool isBall) {
    if (lower > -kUnlimited && !isBall) limits.push_back({joint, tendon, false, lower});
    if (upper < kUnlimited) limits.push_back({joint, tendon, true, upper});
  };
  for (std::size_t j = 0; j < model_.treeJoints.size(); ++j) {
    const model::TreeJoint& part = model_.treeJoints[j];
    const Joint& joint = model_.joints[part.joint].joint;
    if (part.type != JointType::Free)
      add(static_cast<int>(j), -1, joint.lower, joint.upper, part.type == JointType::Ball);
  }
  for (std::size_t i = 0; i < model_.tendons.size(); ++i)
    add(-1, static_cast<int>(i), model_.tendons[i].tendon.lower, model_.tendons[i].tendon.upper,
        false);
  isLimitActive.assign(limits.size(), 0);
  limitMass.assign(limits.size(), 0);
}

void EventDrives::listCouplings() {
  std::vector<int> trees;
  const auto addBody = [&](int body) {
    if (body >= 0 && model_.linkOfBody[body] >= 0)
      trees.push_back(model_.links[model_.linkOfBody[body]].tree);
  };
  const auto addTendon = [&](int tendon) {
    for (const int joint : model_.tendons[tendon].joints) addBody(model_.joints[joint].body);
    for (const int site : model_.tendons[tendon].sites) {
      if (site >= 0) addBody(model_.sites[site].body);
    }
  };
  const auto finish = [&] {
    for (std::size_t i = 1; i < trees.size(); ++i) {
      if (trees[i] != trees[0]) coupled_.emplace_back(trees[0], trees[i]);
    }
    trees.clear();
  };
  for (const model::ModelEquality& equality : model_.equalities) {
    for (const int which : {equality.first, equality.second}) {
      if (which < 0) continue;
      if (equality.equality.type == Equality::Type::Joint)
        addBody(model_.joints[which].body);
      else if (equality.equality.type == Equality::Type::Tendon)
        addTendon(which);
      else
        addBody(which);
    }
    finish();
  }
  for (std::size_t i = 0; i < model_.tendons.size(); ++i) {
    addTendon(static_cast<int>(i));
    finish();
  }
}

int EventDrives::dofOfJoint(int joint) const {
  const model::TreeJoint& part = model_.treeJoints[model_.joints[joint].firstPart];
  return model_.trees[model_.links[model_.linkOfBody[part.body]].tree].firstDof + part.dof;
}

Vec3 EventDrives::sitePosition(const EventState& state, int site) const {
  const model::ModelSite& s = model_.sites[site];
  return s.body < 0 ? s.site.pose.translation : state.bodyPose(s.body) * s.site.pose.translation;
}

void EventDrives::addBodyRow(const EventState& state, int body, const Vec3& p,
                             const Vec3& direction, const Vec3& axis, Real weight,
                             SparseRow* row) const {
  const int link = body < 0 ? -1 : model_.linkOfBody[body];
  if (link < 0) return;
  const dynamics::TreeWorkspace& trees = state.trees();
  const auto tree = static_cast<std::size_t>(trees.treeOfLink[static_cast<std::size_t>(link)]);
  const int first = trees.trees[tree].firstDof;
  const math::SpatialT<Real> wrench{
      axis + cross(p - dynamics::referencePoint(trees, link), direction), direction};
  for (int k = trees.links[static_cast<std::size_t>(link)].lastDof; k >= 0;
       k = trees.dofs[static_cast<std::size_t>(first + k)].parent)
    row->add(first + k,
             weight * math::dot(trees.subspace[static_cast<std::size_t>(first + k)], wrench));
}

Real EventDrives::rateOf(const SparseRow& row, const EventState& state) const {
  Real sum = 0;
  for (std::size_t i = 0; i < row.dof.size(); ++i)
    sum += row.entry[i] * state.trees().rate[static_cast<std::size_t>(row.dof[i])];
  return sum;
}

void EventDrives::measure(const EventState& state) {
  for (std::size_t i = 0; i < model_.tendons.size(); ++i) {
    const model::ModelTendon& tendon = model_.tendons[i];
    SparseRow& row = tendon_row_[i];
    row.clear();
    Real length = 0, bias = 0, told = 0;
    for (std::size_t k = 0; k < tendon.joints.size(); ++k) {
      const Real coefficient = tendon.tendon.terms[k].coefficient;
      length += coefficient *
                state.positions()[static_cast<std::size_t>(model_.joints[tendon.joints[k]].q)];
      row.add(dofOfJoint(tendon.joints[k]), coefficient);
    }
    contact::forEachPiece(tendon, [&](int a, int b, Real weight) {
      const int bodyA = model_.sites[a].body, bodyB = model_.sites[b].body;
      const Vec3 pa = sitePosition(state, a), pb = sitePosition(state, b);
      const Real size = norm(pb - pa);
      length += weight * size;
      if (!(size > 0)) return;
      const Vec3 along = (pb - pa) / size;
      addBodyRow(state, bodyB, pb, along, {}, weight, &row);
      addBodyRow(state, bodyA, pa, along, {}, -weight, &row);
      const Vec3 velocity = state.velocityAt(bodyB, pb) - state.velocityAt(bodyA, pa);
      const Real closing = dot(along, velocity);
      bias +=
          weight *
          (dot(along, state.biasAccelerationAt(bodyB, pb) - state.biasAccelerationAt(bodyA, pa)) +
           (squaredNorm(velocity) - closing * closing) / size);
      if (bodyA >= 0 && model_.linkOfBody[bodyA] < 0)
        told -= weight * dot(along, state.velocityAt(bodyA, pa));
      if (bodyB >= 0 && model_.linkOfBody[bodyB] < 0)
        told += weight * dot(along, state.velocityAt(bodyB, pb));
    });
    tendon_length_[i] = length;
    tendon_rate_[i] = rateOf(row, state) + told;
    tendon_bias_[i] = bias;
  }
}

Real EventDrives::controlOf(std::size_t actuator, Real t) const {
  const int schedule = schedule_of_[actuator];
  Real u = control_.control[actuator];
  if (schedule >= 0) {
    const model::ModelSchedule& s = model_.schedules[schedule];
    const auto next = std::upper_bound(s.times.begin(), s.times.end(), t);
    if (next == s.times.begin()) {
      u = s.values.front();
    } else if (next == s.times.end()) {
      u = s.values.back();
    } else {
      const auto k = static_cast<std::size_t>(next - s.times.begin());
      const Real part = (t - s.times[k - 1]) / (s.times[k] - s.times[k - 1]);
      u = s.values[k - 1] + part * (s.values[k] - s.values[k - 1]);
    }
  }
  const Actuator& a = model_.actuators[actuator].actuator;
  return std::clamp(u, a.lowerControl, a.upperControl);
}

Real EventDrives::inputOf(std::size_t actuator, Real t, const Real* activation) const {
  const int at = model_.actuators[actuator].activation;
  return at >= 0 ? activation[at] : controlOf(actuator, t);
}

/// Leaves the row of its rate in row_.
Real EventDrives::measureActuator(std::size_t actuator, const EventState& state, Real* rate) {
  const model::ModelActuator& which = model_.actuators[actuator];
  const auto& gear = which.actuator.gear;
  row_.clear();
  Real length = 0, told = 0;
  switch (which.actuator.target) {
    case Actuator::Target::Joint: {
      const model::ModelJoint& joint = model_.joints[which.target];
      const Real* q = state.positions().data() + joint.q;
      if (numJointVelocities(joint.joint.type) == 1) {
        length = gear[0] * q[0];
        row_.add(dofOfJoint(which.target), gear[0]);
      } else if (joint.joint.type == JointType::Ball) {
        const Vec3 axis{gear[0], gear[1], gear[2]};
        length = dot(axis, math::rotationVector(Quat{q[0], q[1], q[2], q[3]}));
        for (int k = 0; k < 3; ++k)
          row_.add(dofOfJoint(which.target) + k, gear[static_cast<std::size_t>(k)]);
      } else {
        const Transform& X_WB = state.bodyPose(joint.body);
        addBodyRow(state, joint.body, X_WB.translation, Vec3{gear[0], gear[1], gear[2]},
                   X_WB.rotation * Vec3{gear[3], gear[4], gear[5]}, 1, &row_);
      }
      break;
    }
    case Actuator::Target::Tendon: {
      const auto tendon = static_cast<std::size_t>(which.target);
      length = gear[0] * tendon_length_[tendon];
      row_ = tendon_row_[tendon];
      for (Real& entry : row_.entry) entry *= gear[0];
      told = gear[0] * (tendon_rate_[tendon] - rateOf(tendon_row_[tendon], state));
      break;
    }
    case Actuator::Target::Site: {
      const model::ModelSite& site = model_.sites[which.target];
      if (site.body < 0) break;
      const Mat3 R = state.bodyPose(site.body).rotation * site.site.pose.rotation;
      addBodyRow(state, site.body, sitePosition(state, which.target),
                 R * Vec3{gear[0], gear[1], gear[2]}, R * Vec3{gear[3], gear[4], gear[5]}, 1,
                 &row_);
      break;
    }
  }
  *rate = rateOf(row_, state) + told;
  return length;
}

void EventDrives::addSmoothForces(Real t, const EventState& state, const Real* activation,
                                  Real* tau, DrivePowers* powers) {
  const auto push = [&](const SparseRow& row, Real force) {
    for (std::size_t k = 0; k < row.dof.size(); ++k) tau[row.dof[k]] += row.entry[k] * force;
  };
  std::fill(actuator_tau_.begin(), actuator_tau_.end(), Real(0));
  for (std::size_t i = 0; i < model_.actuators.size(); ++i) {
    const model::ModelActuator& which = model_.actuators[i];
    const Actuator& a = which.actuator;
    Real rate = 0;
    const Real length = measureActuator(i, state, &rate);
    const Real u = inputOf(i, t, activation);
    Real force = (a.gain[0] + a.gain[1] * length + a.gain[2] * rate) * u + a.bias[0] +
                 a.bias[1] * length + a.bias[2] * rate;
    force = std::clamp(force, a.lowerForce, a.upperForce);
    if (a.target == Actuator::Target::Joint && a.gear[0] != 0) {
      const Joint& joint = model_.joints[which.target].joint;
      const bool isLimited =
          joint.lowerActuatorForce > -kUnlimited || joint.upperActuatorForce < kUnlimited;
      if (isLimited && numJointVelocities(joint.type) == 1) {
        const Real low = joint.lowerActuatorForce / a.gear[0];
        const Real high = joint.upperActuatorForce / a.gear[0];
        force = std::clamp(force, std::min(low, high), std::max(low, high));
      }
    }
    actuator_force_[i] = force;
    push(row_, force);
    for (std::size_t k = 0; k < row_.dof.size(); ++k)
      actuator_tau_[row_.dof[k]] += row_.entry[k] * force;
    powers->external += force * rate;
  }
  for (std::size_t i = 0; i < model_.tendons.size(); ++i) {
    const Tendon& tendon = model_.tendons[i].tendon;
    if (tendon_start_[i] < 0) tendon_start_[i] = state.startLengthOf(static_cast<int>(i));
    if (tendon.stiffness == 0 && tendon.damping == 0) continue;
    const bool isFromStart = tendon.springLower < 0 && tendon.springUpper < 0;
    const Real lower = isFromStart ? tendon_start_[i] : tendon.springLower;
    const Real upper = isFromStart ? tendon_start_[i] : std::max(lower, tendon.springUpper);
    const Real rest = std::clamp(tendon_length_[i], lower, upper);
    const Real spring = -tendon.stiffness * (tendon_length_[i] - rest);
    const Real drag = -tendon.damping * tendon_rate_[i];
    push(tendon_row_[i], spring + drag);
    powers->external += spring * tendon_rate_[i];
    powers->damping += drag * tendon_rate_[i];
  }
}

Real EventDrives::slipOf(const DryFriction& dry, const EventState& state) const {
  return dry.dof >= 0 ? state.trees().rate[static_cast<std::size_t>(dry.dof)]
                      : tendon_rate_[static_cast<std::size_t>(dry.tendon)];
}

StiffForce EventDrives::dryForce(const DryFriction& dry, Real slip) const {
  const Real speed = std::fabs(slip);
  const Real size = kernel::regularizedSize(speed, slip_speed_);
  const Real bend = kernel::regularizedSlopeOverSize(speed, slip_speed_) / (size * size);
  return {-dry.size * slip / size, 0, -dry.size * (1 / size - slip * slip * bend)};
}

void EventDrives::measureMobility(EventState& state) {
  std::vector<Real> x(model_.dofs.size());
  for (DryFriction& dry : dry_) {
    rowOf(dry, &row_);
    std::fill(x.begin(), x.end(), Real(0));
    for (std::size_t k = 0; k < row_.dof.size(); ++k) x[row_.dof[k]] += row_.entry[k];
    state.applyTreeInverses(x.data());
    dry.mobility = 0;
    for (std::size_t k = 0; k < row_.dof.size(); ++k)
      dry.mobility += row_.entry[k] * x[row_.dof[k]];
  }
}

void EventDrives::rowOf(const DryFriction& dry, SparseRow* row) const {
  row->clear();
  if (dry.dof >= 0)
    row->add(dry.dof, 1);
  else
    *row = tendon_row_[static_cast<std::size_t>(dry.tendon)];
}

void EventDrives::rowOf(std::size_t limit, const EventState& state, SparseRow* row) const {
  const MotionLimit& at = limits[limit];
  const Real sign = at.isUpper ? -1 : 1;
  row->clear();
  if (at.joint < 0) {
    *row = tendon_row_[static_cast<std::size_t>(at.tendon)];
    for (Real& entry : row->entry) entry *= sign;
    return;
  }
  const model::TreeJoint& part = model_.treeJoints[at.joint];
  const int first = model_.trees[model_.links[model_.linkOfBody[part.body]].tree].firstDof;
  if (part.type != JointType::Ball) return row->add(first + part.dof, sign);
  const Real* q = state.positions().data() + part.q;
  const Vec3 turn = math::rotationVector(Quat{q[0], q[1], q[2], q[3]});
  const Real angle = math::scaledNorm(turn);
  if (!(angle > 0)) return;
  for (int k = 0; k < 3; ++k) row->add(first + part.dof + k, sign * turn[k] / angle);
}

Real EventDrives::gapOf(std::size_t limit, const EventState& state) const {
  const MotionLimit& at = limits[limit];
  Real x = 0;
  if (at.joint < 0) {
    x = tendon_length_[static_cast<std::size_t>(at.tendon)];
  } else {
    const model::TreeJoint& part = model_.treeJoints[at.joint];
    const Real* q = state.positions().data() + part.q;
    x = part.type == JointType::Ball
            ? math::scaledNorm(math::rotationVector(Quat{q[0], q[1], q[2], q[3]}))
            : q[0];
  }
  return at.isUpper ? at.bound - x : x - at.bound;
}

StiffForce EventDrives::limitForce(std::size_t limit, Real gap, Real rate) const {
  const Real mass = limitMass[limit];
  const Real stiffness = mass * frequency_ * frequency_, damping = 2 * mass * frequency_;
  const Real force = -stiffness * gap - damping * rate;
  if (!(force > 0) || !(gap < 0)) return {};
  return {force, -stiffness, -damping};
}

void EventDrives::addStiffForces(const EventState& state, Real* tau, DrivePowers* powers) {
  const auto push = [&](Real force) {
    for (std::size_t k = 0; k < row_.dof.size(); ++k) tau[row_.dof[k]] += row_.entry[k] * force;
  };
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (isLimitActive[i] == 0) continue;
    rowOf(i, state, &row_);
    const Real rate = rateOf(row_, state);
    const Real force = limitForce(i, gapOf(i, state), rate).force;
    push(force);
    powers->constraint += force * rate;
  }
  for (const DryFriction& dry : dry_) {
    rowOf(dry, &row_);
    const Real slip = slipOf(dry, state);
    const Real force = dryForce(dry, slip).force;
    push(force);
    powers->damping += force * slip;
  }
}

void EventDrives::activationRates(Real t, const Real* activation, Real* rate) const {
  for (std::size_t i = 0; i < model_.actuators.size(); ++i) {
    const int at = model_.actuators[i].activation;
    if (at < 0) continue;
    const Actuator& a = model_.actuators[i].actuator;
    const Real u = controlOf(i, t);
    Real change = 0;
    switch (a.dynamics) {
      case Actuator::Dynamics::None:
        break;
      case Actuator::Dynamics::Integrator:
        change = u;
        break;
      case Actuator::Dynamics::Filter:
      case Actuator::Dynamics::FilterExact:
        change = (u - activation[at]) / a.timeConstant;
        break;
    }
    const bool isStopped = (activation[at] >= a.upperActivation && change > 0) ||
                           (activation[at] <= a.lowerActivation && change < 0);
    rate[at] = isStopped ? Real(0) : change;
  }
}

Real EventDrives::nextKink(Real t) const {
  Real next = std::numeric_limits<Real>::infinity();
  for (const model::ModelSchedule& schedule : model_.schedules) {
    const auto after = std::upper_bound(schedule.times.begin(), schedule.times.end(), t);
    if (after != schedule.times.end()) next = std::min(next, *after);
  }
  return next;
}

void EventDrives::setRow(int row, const SparseRow& entries, Real error, Real rate, Real bias) {
  const std::size_t n = model_.dofs.size();
  Real* out = jacobian_.data() + static_cast<std::size_t>(row) * n;
  for (std::size_t k = 0; k < entries.dof.size(); ++k) out[entries.dof[k]] += entries.entry[k];
  error_[static_cast<std::size_t>(row)] = error;
  rate_[static_cast<std::size_t>(row)] = rate;
  bias_[static_cast<std::size_t>(row)] = bias;
}

void EventDrives::addEquality(EventState& state, const model::ModelEquality& equality, int* row) {
  const int body1 = equality.first, body2 = equality.second;
  const auto poseOf = [&](int body) { return body < 0 ? Transform{} : state.bodyPose(body); };
  const Equality::Type type = equality.equality.type;
  switch (type) {
    case Equality::Type::Connect:
    case Equality::Type::Weld: {
      const Transform X1 = poseOf(body1), X2 = poseOf(body2);
      const Vec3 p1 = X1 * equality.anchor1, p2 = X2 * equality.anchor2;
      const Vec3 error = p1 - p2, rate = state.velocityAt(body1, p1) - state.velocityAt(body2, p2);
      const Vec3 bias = state.biasAccelerationAt(body1, p1) - state.biasAccelerationAt(body2, p2);
      for (int k = 0; k < 3; ++k) {
        Vec3 axis{};
        axis[k] = 1;
        row_.clear();
        addBodyRow(state, body1, p1, axis, {}, 1, &row_);
        addBodyRow(state, body2, p2, axis, {}, -1, &row_);
        setRow((*row)++, row_, error[k], rate[k], bias[k]);
      }
      if (type == Equality::Type::Connect) return;
      const Mat3 turn = X1.rotation * equality.rotation * transpose(X2.rotation);
      const Vec3 angle = math::rotationVector(math::quatFromRotation(turn));
      const Vec3 spin = state.spinOf(body1) - state.spinOf(body2);
      const Vec3 spinBias = state.biasSpinOf(body1) - state.biasSpinOf(body2);
      for (int k = 0; k < 3; ++k) {
        Vec3 axis{};
        axis[k] = 1;
        row_.clear();
        addBodyRow(state, body1, p1, {}, axis, 1, &row_);
        addBodyRow(state, body2, p2, {}, axis, -1, &row_);
        setRow((*row)++, row_, angle[k], spin[k], spinBias[k]);
      }
      return;
    }
    case Equality::Type::Distance: {
      const Vec3 p1 = poseOf(body1) * equality.anchor1, p2 = poseOf(body2) * equality.anchor2;
      const Real length = norm(p1 - p2);
      row_.clear();
      if (!(length > 0)) return setRow((*row)++, row_, 0, 0, 0);
      const Vec3 along = (p1 - p2) / length;
      addBodyRow(state, body1, p1, along, {}, 1, &row_);
      addBodyRow(state, body2, p2, along, {}, -1, &row_);
      const Vec3 velocity = state.velocityAt(body1, p1) - state.velocityAt(body2, p2);
      const Real closing = dot(along, velocity);
      const Real bias =
          dot(along, state.biasAccelerationAt(body1, p1) - state.biasAccelerationAt(body2, p2)) +
          (squaredNorm(velocity) - closing * closing) / length;
      return setRow((*row)++, row_, length - equality.equality.distance, closing, bias);
    }
    case Equality::Type::Joint:
    case Equality::Type::Tendon: {
      const bool isJoint = type == Equality::Type::Joint;
      const auto valueOf = [&](int which) {
        const auto at = static_cast<std::size_t>(which);
        if (!isJoint) return tendon_length_[at] - tendon_start_[at];
        const int q = model_.joints[which].q;
        return state.positions()[static_cast<std::size_t>(q)] - model_.startPositions[q];
      };
      SparseRow row1, row2;
      const auto rowFor = [&](int which, SparseRow* out) {
        if (isJoint)
          out->add(dofOfJoint(which), 1);
        else
          *out = tendon_row_[static_cast<std::size_t>(which)];
      };
      rowFor(equality.first, &row1);
      Real error = valueOf(equality.first) - equality.equality.polynomial[0];
      const Real rate1 =
          isJoint ? rateOf(row1, state) : tendon_rate_[static_cast<std::size_t>(equality.first)];
      Real rate = rate1;
      Real bias = isJoint ? Real(0) : tendon_bias_[static_cast<std::size_t>(equality.first)];
      if (equality.second >= 0) {
        const PolynomialValue p = evaluate(equality.equality.polynomial, valueOf(equality.second));
        rowFor(equality.second, &row2);
        const Real rate2 =
            isJoint ? rateOf(row2, state) : tendon_rate_[static_cast<std::size_t>(equality.second)];
        error = valueOf(equality.first) - p.value;
        rate -= p.slope * rate2;
        bias -= p.bend * rate2 * rate2;
        if (!isJoint) bias -= p.slope * tendon_bias_[static_cast<std::size_t>(equality.second)];
        for (std::size_t k = 0; k < row2.dof.size(); ++k)
          row1.add(row2.dof[k], -p.slope * row2.entry[k]);
      }
      return setRow((*row)++, row1, error, rate, bias);
    }
  }
}

void EventDrives::prepareEqualities(EventState& state) {
  const std::size_t n = model_.dofs.size();
  std::fill(jacobian_.begin(), jacobian_.end(), Real(0));
  for (std::size_t i = 0; i < model_.tendons.size(); ++i) {
    if (tendon_start_[i] < 0) tendon_start_[i] = state.startLengthOf(static_cast<int>(i));
  }
  int next = 0;
  for (const model::ModelEquality& equality : model_.equalities) {
    if (equality.equality.isActive) addEquality(state, equality, &next);
  }
  solved_ = jacobian_;
  const auto count = static_cast<std::size_t>(num_rows_);
  for (std::size_t r = 0; r < count; ++r) state.applyTreeInverses(solved_.data() + r * n);
  // Cholesky with the largest pivot first; rows that the others say are left out.
  std::vector<Real>& a = factor_;
  for (std::size_t r = 0; r < count; ++r) {
    order_[r] = static_cast<int>(r);
    for (std::size_t c = 0; c < count; ++c) {
      Real sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += jacobian_[r * n + k] * solved_[c * n + k];
      a[r * count + c] = sum;
    }
  }
  rank_ = 0;
  Real largest = 0;
  const auto at = [&](std::size_t i, std::size_t k) -> Real& {
    return a[static_cast<std::size_t>(order_[i]) * count + static_cast<std::size_t>(order_[k])];
  };
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < count; ++i) {
      if (at(i, i) > at(best, best)) best = i;
    }
    std::swap(order_[k], order_[best]);
    largest = std::max(largest, at(k, k));
    if (!(at(k, k) > kDependent * largest)) break;
    const Real root = std::sqrt(at(k, k));
    at(k, k) = root;
    for (std::size_t i = k + 1; i < count; ++i) at(i, k) /= root;
    for (std::size_t i = k + 1; i < count; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) {
        at(i, j) -= at(i, k) * at(j, k);
        at(j, i) = at(i, j);
      }
    }
    ++rank_;
  }
}

/// right_ = S^-1 right, zero for rows that the others say.
void EventDrives::solveMultipliers(const Real* right) {
  const auto count = static_cast<std::size_t>(num_rows_);
  const auto rank = static_cast<std::size_t>(rank_);
  const auto at = [&](std::size_t i, std::size_t k) {
    return factor_[static_cast<std::size_t>(order_[i]) * count +
                   static_cast<std::size_t>(order_[k])];
  };
  std::copy_n(right, count, right_.begin());
  const auto x = [&](std::size_t i) -> Real& {
    return right_[static_cast<std::size_t>(order_[i])];
  };
  for (std::size_t i = 0; i < rank; ++i) {
    for (std::size_t k = 0; k < i; ++k) x(i) -= at(i, k) * x(k);
    x(i) /= at(i, i);
  }
  for (std::size_t i = rank; i-- > 0;) {
    for (std::size_t k = i + 1; k < rank; ++k) x(i) -= at(k, i) * x(k);
    x(i) /= at(i, i);
  }
  for (std::size_t i = rank; i < count; ++i) x(i) = 0;
}

void EventDrives::constrain(const EventState&, Real* acceleration, DrivePowers* powers) {
  const std::size_t n = model_.dofs.size();
  const auto count = static_cast<std::size_t>(num_rows_);
  std::vector<Real>& wanted = right_;
  for (std::size_t r = 0; r < count; ++r) {
    Real sum = -bias_[r] - 2 * kDecay * rate_[r] - kDecay * kDecay * error_[r];
    for (std::size_t k = 0; k < n; ++k) sum -= jacobian_[r * n + k] * acceleration[k];
    wanted[r] = sum;
  }
  solveMultipliers(wanted.data());
  for (std::size_t r = 0; r < count; ++r) {
    powers->constraint += right_[r] * rate_[r];
    for (std::size_t k = 0; k < n; ++k) acceleration[k] += solved_[r * n + k] * right_[r];
  }
}

void EventDrives::project(Real* x) {
  const std::size_t n = model_.dofs.size();
  const auto count = static_cast<std::size_t>(num_rows_);
  for (std::size_t r = 0; r < count; ++r) {
    Real sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum -= jacobian_[r * n + k] * x[k];
    right_[r] = sum;
  }
  solveMultipliers(right_.data());
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t k = 0; k < n; ++k) x[k] += solved_[r * n + k] * right_[r];
  }
}

Real EventDrives::equalityError() const {
  Real largest = 0;
  for (const Real error : error_) largest = std::max(largest, std::fabs(error));
  return largest;
}

}  // namespace tangere::integrator
