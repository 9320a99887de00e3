// SPDX-License-Identifier: Apache-2.0
#include "metamorphic/scene_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tangere::test {

namespace {

/// Steps on; the bits of all reports. Stops at a step that is not taken.
StepStatus stepOn(Simulator& sim, int numSteps, int* numContacts) {
  StepStatus status = StepStatus::Ok;
  for (int i = 0; i < numSteps && !isRefused(status); ++i) {
    const StepReport& report = sim.step();
    status = status | report.status;
    if (hasTakenTooMany(sim)) status = status | StepStatus::TooMuchWork;
    *numContacts =
        std::max({*numContacts, report.numContacts, static_cast<int>(sim.events().size())});
  }
  return status;
}

}  // namespace

Model buildModel(const Case& scene) {
  ModelBuilder builder;
  SimulationOptions options = scene.options;
  options.event.maxSteps = mostStepsInside();
  builder.setOptions(options);
  for (const Material& material : scene.materials) builder.addMaterial(material);
  for (const Body& body : scene.bodies) builder.addBody(body);
  return builder.build();
}

Simulator startOf(const Case& scene, int numThreads) {
  Simulator sim(buildModel(scene), numThreads);
  if (scene.joints.empty()) return sim;
  const Model& model = sim.model();
  std::vector<Real> q = sim.state().q, v = sim.state().v;
  for (int j = 0; j < model.numJoints(); ++j) {
    const auto found = scene.joints.find(model.joint(j).name);
    if (found == scene.joints.end()) continue;
    const JointStart& start = found->second;
    std::copy(start.q.begin(), start.q.end(), q.begin() + model.positionOfJoint(j));
    std::copy(start.v.begin(), start.v.end(), v.begin() + model.velocityOfJoint(j));
  }
  sim.setPositions(q);
  sim.setVelocities(v);
  return sim;
}

bool isRobot(const Case& scene) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(),
                     [](const Body& body) { return !body.parent.empty() || !body.joints.empty(); });
}

Real reachOf(const Body& body) {
  Real reach = 0;
  for (const BodyShape& shape : body.shapes) {
    if (shape.shape->type() == ShapeType::Plane) continue;
    const Aabb& local = shape.shape->localAabb();
    const Vec3 far{std::max(-local.lower.x, local.upper.x), std::max(-local.lower.y, local.upper.y),
                   std::max(-local.lower.z, local.upper.z)};
    reach = std::max(reach, norm(shape.pose.translation) + norm(far));
  }
  return reach;
}

Snapshot snapshotOf(const Simulator& sim, const Case& scene) {
  Snapshot snapshot;
  for (const Body& body : scene.bodies) {
    const BodyState state = sim.body(body.name);
    snapshot.bodies[body.name] = {state.pose, state.linearVelocity, state.angularVelocity,
                                  reachOf(body)};
  }
  snapshot.time = sim.state().time;
  snapshot.leastSpeed = norm(scene.options.gravity) * scene.options.dt;
  return snapshot;
}

std::optional<Case> advanced(const Case& scene, int numSteps, bool* isGivenUp) {
  Simulator sim = startOf(scene);
  int numContacts = 0;
  const StepStatus status = stepOn(sim, numSteps, &numContacts);
  if (isGivenUp != nullptr) *isGivenUp = has(status, StepStatus::TooMuchWork);
  if (isRefused(status)) return std::nullopt;
  Case later = scene;
  for (Body& body : later.bodies) {
    if (!body.parent.empty() || !body.joints.empty()) continue;
    const BodyState state = sim.body(body.name);
    body.pose = state.pose;
    body.linearVelocity = state.linearVelocity;
    body.angularVelocity = state.angularVelocity;
  }
  const Model& model = sim.model();
  const State& state = sim.state();
  for (int j = 0; j < model.numJoints(); ++j) {
    const Joint& joint = model.joint(j);
    if (joint.type == JointType::Free) continue;
    const auto q = state.q.begin() + model.positionOfJoint(j);
    const auto v = state.v.begin() + model.velocityOfJoint(j);
    later.joints[joint.name] = {{q, q + numJointPositions(joint.type)},
                                {v, v + numJointVelocities(joint.type)}};
  }
  return later;
}

int numStepsToContact(const Case& scene, int most) {
  Simulator sim = startOf(scene);
  for (int i = 0; i < most; ++i) {
    const StepReport& report = sim.step();
    if (isRefused(report.status) || hasTakenTooMany(sim)) return i;
    if (report.numContacts > 0 || !sim.events().empty()) return i;
  }
  return most;
}

std::optional<Snapshot> motionOf(const Case& scene, int numSteps, int numThreads) {
  Simulator sim = startOf(scene, numThreads);
  int numContacts = 0;
  const StepStatus status = stepOn(sim, numSteps, &numContacts);
  if (has(status, StepStatus::TooMuchWork)) return std::nullopt;
  Snapshot snapshot = snapshotOf(sim, scene);
  snapshot.status = status;
  snapshot.numContacts = numContacts;
  return snapshot;
}

Real differenceOf(const Snapshot& expected, const Snapshot& actual) {
  constexpr Real kNever = std::numeric_limits<Real>::infinity();
  Real fastest = std::max(expected.leastSpeed, actual.leastSpeed), largest = 0, speed = 0,
       place = 0;
  for (const auto& [name, one] : expected.bodies) {
    const auto found = actual.bodies.find(name);
    if (found == actual.bodies.end()) return kNever;
    const Motion& other = found->second;
    const Real reach = one.reach;
    fastest = std::max({fastest, norm(one.velocity), norm(other.velocity), reach * norm(one.spin),
                        reach * norm(other.spin)});
    speed =
        std::max({speed, norm(one.velocity - other.velocity), reach * norm(one.spin - other.spin)});
    place = std::max(place, norm(one.pose.translation - other.pose.translation));
    for (int k = 0; k < 3; ++k)
      place = std::max(place, reach * norm(one.pose.rotation.col[k] - other.pose.rotation.col[k]));
    largest = std::max(largest, reach);
  }
  if (!std::isfinite(speed) || !std::isfinite(place)) return kNever;
  return std::max(fastest > 0 ? speed / fastest : speed, largest > 0 ? place / largest : place);
}

int mostStepsInside() {
  return static_cast<int>(fromEnvironment("TANGERE_METAMORPHIC_STEPS", 2000));
}

bool hasTakenTooMany(const Simulator& sim) {
  constexpr int kCallsOfMost = 4;
  return sim.eventStatistics().numSteps > kCallsOfMost * mostStepsInside();
}

long fromEnvironment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

}  // namespace tangere::test
