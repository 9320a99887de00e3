// SPDX-License-Identifier: Apache-2.0
#include "sim/last_step.hpp"

#include "contact/link_wrenches.hpp"

#include <algorithm>

namespace tangere::sim {

namespace {

bool isBelow(const model::ModelData& model, int body, int ancestor) {
  while (body >= 0 && body != ancestor) body = model.bodies[body].parent;
  return body == ancestor;
}

}  // namespace

void LastStep::update(const model::ModelData& model, const model::Workspace& ws,
                      const contact::SapWorkspace& sap) {
  const contact::StepStart& start = sap.start;
  ofBody_.assign(model.bodies.size(), {});
  contact::collectWrenches(model, ws, sap, &ofBody_);
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    if (!model.trees[t].isFreeBody)
      dynamics::computeTreePositions(trees_, static_cast<int>(t), start.q);
  }
  addBodyDamping(model, sap.nextVelocities);
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.isFreeBody) continue;
    dynamics::computeTreeVelocities(trees_, static_cast<int>(t), start.biasVelocity);
    acceleration_.resize(static_cast<std::size_t>(tree.numDofs));
    tau_.resize(acceleration_.size());
    for (int k = 0; k < tree.numDofs; ++k) {
      const int v = model.dofs[tree.firstDof + k].v;
      acceleration_[k] = (sap.nextVelocities[v] - start.v[v]) / sap.problem.dt;
    }
    ofLink_.clear();
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l)
      ofLink_.push_back(ofBody_[model.links[l].body]);
    dynamics::computeInverseDynamics(trees_, static_cast<int>(t), model.options.gravity,
                                     acceleration_.data(), ofLink_, tau_.data());
  }
}

void LastStep::update(const model::ModelData& model, const State& state,
                      const InstantReadings& instant) {
  ofBody_ = instant.ofBody;
  poses_.resize(model.bodies.size());
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const Mat3 R = rotationMatrix(state.orientation[i]);
    poses_[i] = {R, state.center[i] - R * model.bodies[i].mass.center};
  }
  velocity_.assign(state.velocity.begin(), state.velocity.end());
  angularVelocity_.assign(state.angularVelocity.begin(), state.angularVelocity.end());
  dynamics::computeTreePositions(trees_, state.q);
  dynamics::computeTreeVelocities(trees_, state.v);
  addBodyDamping(model, state.v);
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    tau_.resize(static_cast<std::size_t>(tree.numDofs));
    ofLink_.clear();
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l)
      ofLink_.push_back(ofBody_[model.links[l].body]);
    dynamics::computeInverseDynamics(trees_, static_cast<int>(t), model.options.gravity,
                                     instant.accelerations.data() + tree.firstDof, ofLink_,
                                     tau_.data());
  }
}

/// That of a step is implicit: of the velocities after it.
void LastStep::addBodyDamping(const model::ModelData& model, std::span<const Real> velocities) {
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.isFreeBody) continue;
    const auto isDamped = [&](const model::TreeLink& link) {
      const model::ModelBody& body = model.bodies[link.body];
      return body.linearDamping != 0 || body.angularDamping != 0;
    };
    const auto first = model.links.begin() + tree.firstLink;
    if (!std::any_of(first, first + tree.numLinks, isDamped)) continue;
    dynamics::computeTreeVelocities(trees_, static_cast<int>(t), velocities);
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l) {
      const model::ModelBody& body = model.bodies[model.links[l].body];
      const Vec3 w = dynamics::linkAngularVelocity(trees_, l);
      dynamics::LinkWrench& wrench = ofBody_[model.links[l].body];
      wrench.force -= dynamics::linkVelocity(trees_, l) * (body.linearDamping * body.mass.mass);
      wrench.torque -= (trees_.inertia[static_cast<std::size_t>(l)] * w) * body.angularDamping;
    }
  }
}

FrameMotion LastStep::motionOf(const SensorFrame& frame, const model::ModelData& model,
                               const model::Workspace& ws, const contact::SapWorkspace& sap) const {
  if (frame.body < 0) return {.pose = frame.X_BF};
  const int body = frame.body;
  const bool isInstant = !poses_.empty();
  FrameMotion out{.pose = poseOf(body, ws) * frame.X_BF};
  const Vec3& p = out.pose.translation;
  if (model.bodies[body].isJointed || (isInstant && model.linkOfBody[body] >= 0)) {
    const int link = model.linkOfBody[body];
    out.velocity = dynamics::pointVelocity(trees_, link, p);
    out.angularVelocity = dynamics::linkAngularVelocity(trees_, link);
    out.acceleration = dynamics::pointAcceleration(trees_, link, p);
    out.angularAcceleration = trees_.motion[static_cast<std::size_t>(link)].angular;
    return out;
  }
  const Vec3 arm = p - poseOf(body, ws) * model.bodies[body].mass.center;
  if (isInstant) {  // what is told to move does so evenly
    const Vec3& turning = out.angularVelocity = angularVelocity_[static_cast<std::size_t>(body)];
    out.velocity = velocity_[static_cast<std::size_t>(body)] + cross(turning, arm);
    out.acceleration = cross(turning, cross(turning, arm));
    return out;
  }
  const Vec3 &v = sap.start.velocity[body], &w = sap.start.angularVelocity[body];
  const Vec3 a = (ws.next[body].velocity - v) / sap.problem.dt;
  out.angularVelocity = w;
  out.velocity = v + cross(w, arm);
  out.angularAcceleration = (ws.next[body].angularVelocity - w) / sap.problem.dt;
  out.acceleration = a + cross(out.angularAcceleration, arm) + cross(w, cross(w, arm));
  return out;
}

dynamics::LinkWrench LastStep::jointWrench(int body, const Vec3& point,
                                           const model::ModelData& model,
                                           const model::Workspace& ws) const {
  if (body < 0) return {};
  if (model.bodies[body].isJointed)
    return dynamics::jointWrench(trees_, model.linkOfBody[body], point);
  dynamics::LinkWrench out;
  if (model.bodies[body].type != BodyType::Fixed) return out;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const auto other = static_cast<int>(i);
    if (model.bodies[i].type != BodyType::Fixed || !isBelow(model, other, body)) continue;
    const Vec3 arm = poseOf(other, ws) * model.bodies[i].mass.center - point;
    out.force -= ofBody_[i].force;
    out.torque -= ofBody_[i].torque + cross(arm, ofBody_[i].force);
  }
  for (std::size_t l = 0; l < model.links.size(); ++l) {
    const model::TreeLink& link = model.links[l];
    if (link.parent >= 0 || !model.bodies[link.body].isJointed) continue;
    if (!isBelow(model, model.bodies[link.body].parent, body)) continue;
    const dynamics::LinkWrench carried = dynamics::jointWrench(trees_, static_cast<int>(l), point);
    out.force += carried.force;
    out.torque += carried.torque;
  }
  return out;
}

}  // namespace tangere::sim
