// SPDX-License-Identifier: Apache-2.0
#include "contact/drive_rows.hpp"

#include "contact/body_rows.hpp"
#include "contact/joint_step.hpp"
#include "core/elementary.hpp"
#include "math/quat.hpp"

#include <algorithm>

namespace tangere::contact {

namespace {

/// Length, and what changes it: `row` unless the drive is on one velocity.
void measure(const model::ModelData& model, const State& state, const model::ModelActuator& which,
             DriveState* drive, CliqueRow* row, SapWorkspace& sap);

Real inputOf(const model::ModelActuator& actuator, const model::Control& control,
             const State& state, std::size_t index) {
  if (actuator.activation >= 0) return state.activation[actuator.activation];
  return std::clamp(control.control[index], actuator.actuator.lowerControl,
                    actuator.actuator.upperControl);
}

void setForceLaw(const Actuator& a, DriveState* drive) {
  const Real slope = a.bias[1] + a.gain[1] * drive->input;
  const Real rateSlope = a.bias[2] + a.gain[2] * drive->input;
  drive->force0 =
      a.gain[0] * drive->input + a.bias[0] + slope * drive->length + rateSlope * drive->rate;
  // A law that drives itself on is no convex cost: it acts with what it is at the start.
  drive->kp = std::max<Real>(-slope, 0);
  drive->kd = std::max<Real>(-rateSlope, 0);
}

}  // namespace

void readDrives(const model::ModelData& model, const model::Control& control, const State& state,
                SapWorkspace& sap) {
  sap.drives.assign(model.actuators.size(), {});
  sap.driveRows.resize(model.actuators.size());
  for (std::size_t i = 0; i < model.actuators.size(); ++i) {
    const model::ModelActuator& actuator = model.actuators[i];
    DriveState& drive = sap.drives[i];
    CliqueRow& row = sap.driveRows[i];
    clearRow(&row);
    drive.input = inputOf(actuator, control, state, i);
    drive.lowerForce = actuator.actuator.lowerForce;
    drive.upperForce = actuator.actuator.upperForce;
    measure(model, state, actuator, &drive, &row, sap);
    setForceLaw(actuator.actuator, &drive);
    if (drive.dof < 0) continue;

    const Joint& joint = model.joints[actuator.target].joint;
    // The limit of the joint is on what the actuator does there.
    const bool isJointLimited =
        joint.lowerActuatorForce > -kUnlimited || joint.upperActuatorForce < kUnlimited;
    if (isJointLimited && drive.gear != 0) {
      const Real a = joint.lowerActuatorForce / drive.gear,
                 b = joint.upperActuatorForce / drive.gear;
      drive.lowerForce = std::max(drive.lowerForce, std::min(a, b));
      drive.upperForce = std::min(drive.upperForce, std::max(a, b));
    }
    const bool isLinear = drive.kp == 0 && drive.kd == 0;
    const bool isLimited = drive.lowerForce > -kUnlimited || drive.upperForce < kUnlimited;
    if (drive.clique < 0 || (isLimited && !isLinear)) continue;
    drive.isInMatrix = true;
    const int at = sap.problem.firstVelocity[drive.clique] + drive.dof;
    if (isLinear) drive.force0 = std::clamp(drive.force0, drive.lowerForce, drive.upperForce);
    sap.driveForce[at] += drive.gear * drive.force0;
    sap.stiffness[at] += drive.gear * drive.gear * drive.kp;
    sap.damping[at] += drive.gear * drive.gear * drive.kd;
  }
}

void addDriveRows(const model::ModelData& model, SapWorkspace& sap) {
  for (std::size_t i = 0; i < sap.drives.size(); ++i) {
    DriveState& drive = sap.drives[i];
    if (drive.isInMatrix) continue;
    const CliqueRow& row = sap.driveRows[i];
    const bool isOnVelocity = drive.dof >= 0;
    if ((isOnVelocity ? drive.clique : row.clique1) < 0) continue;
    const Real inverseMass =
        isOnVelocity ? drive.gear * drive.gear * inverseMassOf(drive.clique, drive.dof, sap)
                     : inverseMassOf(row, sap);
    const Real dt = sap.problem.dt;
    const StepWeights w = weightsOf(model.options.jointStep, dt, drive.kp, drive.kd, inverseMass);
    solver::SapDrive law = driveLaw(w, dt, drive.force0, drive.kp, drive.kd, drive.rate);
    law.minEffort = drive.lowerForce;
    law.maxEffort = drive.upperForce;
    if (isOnVelocity) {
      drive.constraint = sap.problem.addDriveOnVelocity(drive.clique, drive.dof, drive.gear, law);
      continue;
    }
    drive.constraint = sap.problem.addDrive(row.clique1, row.clique2, law);
    writeRow(row, 1, drive.constraint, sap);
  }
}

void finishDrives(SapWorkspace& sap) {
  for (DriveState& drive : sap.drives) {
    if (drive.constraint >= 0) {
      drive.force = sap.problem.impulseOf(drive.constraint)[0] / sap.problem.dt;
    } else if (drive.isInMatrix) {
      const int at = sap.problem.firstVelocity[drive.clique] + drive.dof;
      const Real rate = drive.gear * sap.problem.v[at];
      drive.force = drive.force0 - forceChange(sap.weights[at], sap.problem.dt, drive.kp, drive.kd,
                                               drive.rate, rate);
    }
  }
}

void advanceActivations(const model::ModelData& model, const model::Control& control,
                        State& state) {
  const Real dt = model.options.dt;
  for (std::size_t i = 0; i < model.actuators.size(); ++i) {
    const model::ModelActuator& actuator = model.actuators[i];
    if (actuator.activation < 0) continue;
    const Actuator& a = actuator.actuator;
    const Real u = std::clamp(control.control[i], a.lowerControl, a.upperControl);
    Real& activation = state.activation[actuator.activation];
    switch (a.dynamics) {
      case Actuator::Dynamics::None:
        break;
      case Actuator::Dynamics::Integrator:
        activation += dt * u;
        break;
      case Actuator::Dynamics::Filter:
        activation += dt * (u - activation) / a.timeConstant;
        break;
      case Actuator::Dynamics::FilterExact:
        activation = u + (activation - u) * core::exp(-dt / a.timeConstant);
        break;
    }
    activation = std::clamp(activation, a.lowerActivation, a.upperActivation);
  }
}

namespace {

/// A body's turn or way from its start, along the axis of the gear.
void measureOnBody(const model::ModelData& model, const State& state, const Actuator& actuator,
                   const model::ModelJoint& joint, DriveState* drive, CliqueRow* row,
                   SapWorkspace& sap) {
  const Real* gear = actuator.gear.data();
  const int body = joint.body;
  const Mat3 R = rotationMatrix(state.orientation[body]);
  if (joint.joint.type == JointType::Ball) {
    const Real* q = state.q.data() + joint.q;
    const Vec3 axis{gear[0], gear[1], gear[2]};
    drive->length = dot(axis, math::rotationVector(Quat{q[0], q[1], q[2], q[3]}));
    const model::TreeJoint& part = model.treeJoints[joint.firstPart];
    for (int k = 0; k < 3; ++k)
      addVelocityTo(sap.cliqueOfBody[body], part.dof + k, gear[k], row, sap);
  } else {
    const Vec3 origin = state.center[body] - R * model.bodies[body].mass.center;
    const Vec3 push{gear[0], gear[1], gear[2]};
    addPointTo(model, state, body, origin, push, 1, row, sap);
    addAngularTo(model, body, R * Vec3{gear[3], gear[4], gear[5]}, 1, row, sap);
  }
  drive->rate = rateOf(*row, sap, sap.v0.data());
}

void measureAtSite(const model::ModelData& model, const State& state, const Actuator& actuator,
                   int site, DriveState* drive, CliqueRow* row, SapWorkspace& sap) {
  const model::ModelSite& s = model.sites[site];
  if (s.body < 0) return;
  const Mat3 R_WB = rotationMatrix(state.orientation[s.body]);
  const Vec3 p =
      state.center[s.body] + R_WB * (s.site.pose.translation - model.bodies[s.body].mass.center);
  const Mat3 R = R_WB * s.site.pose.rotation;
  const Real* gear = actuator.gear.data();
  addPointTo(model, state, s.body, p, R * Vec3{gear[0], gear[1], gear[2]}, 1, row, sap);
  addAngularTo(model, s.body, R * Vec3{gear[3], gear[4], gear[5]}, 1, row, sap);
  drive->rate = rateOf(*row, sap, sap.v0.data());
}

void measure(const model::ModelData& model, const State& state, const model::ModelActuator& which,
             DriveState* drive, CliqueRow* row, SapWorkspace& sap) {
  const Actuator& actuator = which.actuator;
  drive->gear = actuator.gear[0];
  switch (actuator.target) {
    case Actuator::Target::Joint: {
      const model::ModelJoint& joint = model.joints[which.target];
      if (numJointVelocities(joint.joint.type) > 1)
        return measureOnBody(model, state, actuator, joint, drive, row, sap);
      drive->clique = sap.cliqueOfBody[joint.body];
      drive->dof = model.treeJoints[joint.firstPart].dof;
      drive->length = drive->gear * state.q[joint.q];
      drive->rate = drive->gear * state.v[joint.v];
      break;
    }
    case Actuator::Target::Tendon: {
      const TendonState& tendon = sap.tendons[which.target];
      *row = tendon.row;
      for (std::vector<Real>* entries : {&row->row1, &row->row2}) {
        for (Real& entry : *entries) entry *= drive->gear;
      }
      row->bias *= drive->gear;
      drive->length = drive->gear * tendon.length;
      drive->rate = drive->gear * tendon.rate;
      break;
    }
    case Actuator::Target::Site:
      measureAtSite(model, state, actuator, which.target, drive, row, sap);
      break;
  }
}

}  // namespace

}  // namespace tangere::contact
