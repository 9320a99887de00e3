// SPDX-License-Identifier: Apache-2.0
//
// The bodies, joints and actuators of a Simulator: asked about, moved and pushed from outside.
#include <tangere/error.hpp>

#include "core/assert.hpp"
#include "math/quat.hpp"
#include "math/transform.hpp"
#include "sim/carry_softs.hpp"
#include "sim/simulator_impl.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tangere {

BodyState Simulator::body(int index) const {
  const Impl& impl = *impl_;
  TANGERE_REQUIRE(index >= 0 && index < impl.model.numBodies(), "no such body", index);
  const model::ModelBody& body = impl.model.data().bodies[index];
  BodyState out;
  out.orientation = impl.state.orientation[index];
  out.pose.rotation = rotationMatrix(out.orientation);
  const Vec3 arm = out.pose.rotation * body.mass.center;
  out.pose.translation = impl.state.center[index] - arm;
  out.angularVelocity = impl.state.angularVelocity[index];
  out.linearVelocity = impl.state.velocity[index] - cross(out.angularVelocity, arm);
  return out;
}

BodyState Simulator::body(std::string_view name) const {
  const int index = impl_->model.findBody(name);
  if (index < 0) {
    std::vector<std::string> known;
    known.reserve(impl_->model.data().bodies.size());
    for (int i = 0; i < impl_->model.numBodies(); ++i) known.emplace_back(impl_->model.bodyName(i));
    throw InvalidInput("no body is called '" + std::string(name) + "'" +
                       nearNames(std::string(name), known));
  }
  return body(index);
}

void Simulator::setPose(int index, const Transform& pose) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->model.numBodies(), "no such body", index);
  TANGERE_REQUIRE(math::isRigid(pose, Real(1e-6)), "pose must be finite and rigid", index);
  impl_->requireNotJointed(index);
  const model::ModelBody& body = impl_->model.data().bodies[index];
  impl_->wakeNear(index);
  const sim::BodyPlaces before(impl_->state);
  impl_->state.orientation[index] = math::quatFromRotation(pose.rotation);
  impl_->state.center[index] = pose.translation + pose.rotation * body.mass.center;
  impl_->wakeNear(index);
  for (int s = body.firstShape; s < body.firstShape + body.numShapes; ++s)
    impl_->state.patches.invalidateObject(static_cast<ObjectId>(s));
  impl_->state.heldFriction.clear();
  impl_->wake(index);
  impl_->hasStep = false;
  impl_->forgetPoses();
  impl_->copyToCoordinates();
  sim::carrySofts(impl_->model.data(), before, impl_->state);
}

void Simulator::setVelocity(int index, const Vec3& linear, const Vec3& angular) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->model.numBodies(), "no such body", index);
  TANGERE_REQUIRE(math::isFinite(linear) && math::isFinite(angular),
                  "velocity must be finite [m/s, rad/s]", index);
  const model::ModelBody& body = impl_->model.data().bodies[index];
  TANGERE_REQUIRE(body.type != BodyType::Fixed, "a fixed body has no velocity", body.name);
  impl_->requireNotJointed(index);
  const Vec3 arm = rotationMatrix(impl_->state.orientation[index]) * body.mass.center;
  impl_->state.velocity[index] = linear + cross(angular, arm);
  impl_->state.angularVelocity[index] = angular;
  impl_->wake(index);
  impl_->areSensorsRead = false;
  impl_->copyToCoordinates();
}

void Simulator::applyForce(int index, const Vec3& force, const Vec3& torque) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->model.numBodies(), "no such body", index);
  TANGERE_REQUIRE(math::isFinite(force) && math::isFinite(torque),
                  "force and torque must be finite [N, N m]", index);
  impl_->control.force[index] += force;
  impl_->control.torque[index] += torque;
  impl_->hasForces = true;
  impl_->wake(index);
}

namespace {

/// Scales the quaternions among the coordinates to unit length.
void normalizeQuaternions(const model::ModelData& model, std::vector<Real>* q) {
  for (const model::TreeJoint& part : model.treeJoints) {
    if (part.type != JointType::Free && part.type != JointType::Ball) continue;
    Real* at = q->data() + part.q + (part.type == JointType::Free ? 3 : 0);
    const Quat given{at[0], at[1], at[2], at[3]};
    TANGERE_REQUIRE(math::norm(given) > 0, "a quaternion must not be zero",
                    model.joints[part.joint].joint.name);
    const Quat unit = math::normalized(given);
    at[0] = unit.w, at[1] = unit.x, at[2] = unit.y, at[3] = unit.z;
  }
}

}  // namespace

void Simulator::setPositions(std::span<const Real> q) {
  sim::requireFinite(q, impl_->state.q.size(), "positions do not fit the model");
  if (!impl_->sap) return;
  std::vector<Real> checked(q.begin(), q.end());
  normalizeQuaternions(impl_->model.data(), &checked);
  impl_->state.q = std::move(checked);
  impl_->hasStep = false;
  impl_->state.patches.reset();
  impl_->state.heldFriction.clear();
  const sim::BodyPlaces before(impl_->state);
  impl_->copyFromCoordinates();
  sim::carrySofts(impl_->model.data(), before, impl_->state);
}

void Simulator::setVelocities(std::span<const Real> v) {
  sim::requireFinite(v, impl_->state.v.size(), "velocities do not fit the model");
  if (!impl_->sap) return;
  impl_->state.v.assign(v.begin(), v.end());
  impl_->copyFromCoordinates();
}

void Simulator::setControl(int actuator, Real value) {
  TANGERE_REQUIRE(actuator >= 0 && actuator < impl_->model.numActuators(), "no such actuator",
                  actuator);
  TANGERE_REQUIRE(math::isFinite(value), "a control must be finite", value);
  impl_->control.control[actuator] = value;
}

void Simulator::setControls(std::span<const Real> values) {
  sim::requireFinite(values, impl_->control.control.size(), "controls do not fit the model");
  impl_->control.control.assign(values.begin(), values.end());
}

std::span<const Real> Simulator::controls() const { return impl_->control.control; }

void Simulator::applyJointForces(std::span<const Real> force) {
  sim::requireFinite(force, impl_->control.jointForce.size(), "forces do not fit the model");
  const model::ModelData& data = impl_->model.data();
  for (std::size_t i = 0; i < force.size(); ++i) impl_->control.jointForce[i] += force[i];
  for (const model::Tree& tree : data.trees) {
    if (!tree.isFreeBody || force.empty()) continue;
    // At its centre, where free bodies are pushed.
    const model::TreeLink& link = data.links[tree.firstLink];
    const Real* f = force.data() + data.treeJoints[link.firstJoint].v;
    const Mat3 R = rotationMatrix(impl_->state.orientation[link.body]);
    const Vec3 push{f[0], f[1], f[2]};
    const Vec3 torque =
        R * Vec3{f[3], f[4], f[5]} - cross(R * data.bodies[link.body].mass.center, push);
    if (!(push == Vec3{} && torque == Vec3{})) applyForce(link.body, push, torque);
  }
  impl_->hasForces = true;
}

std::span<const Real> Simulator::actuatorForces() const {
  std::vector<Real>& forces = impl_->actuatorForces;
  forces.assign(impl_->control.control.size(), 0);
  if (impl_->event) {
    const std::span<const Real> now = impl_->event->actuatorForces();
    std::copy(now.begin(), now.end(), forces.begin());
  } else if (impl_->hasStep && impl_->sap && impl_->sap->drives.size() == forces.size()) {
    for (std::size_t i = 0; i < forces.size(); ++i) forces[i] = impl_->sap->drives[i].force;
  }
  return forces;
}

}  // namespace tangere
