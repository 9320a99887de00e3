// SPDX-License-Identifier: Apache-2.0
//
// Short ways to write a scene, and a simulator that checks after every step what every step must
// keep: a finite state, a closed energy ledger, contacts that make no energy.
#pragma once

#include <tangere/error.hpp>
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tangere::test {

inline constexpr Real kGravity = 9.81;

inline std::shared_ptr<const Shape> box(Real x, Real y, Real z) {
  return std::make_shared<Box>(Vec3{x, y, z});
}
inline std::shared_ptr<const Shape> cube(Real half) { return box(half, half, half); }
inline std::shared_ptr<const Shape> ball(Real radius) { return std::make_shared<Sphere>(radius); }

inline Mat3 turnAbout(const Vec3& axis, Real angle) {
  const Vec3 half = axis * (std::sin(angle / 2) / norm(axis));
  return rotationMatrix(Quat{std::cos(angle / 2), half.x, half.y, half.z});
}

/// "ball7".
inline std::string named(std::string name, int number) {
  name += std::to_string(number);
  return name;
}

/// A body of one shape.
inline Body bodyOf(const std::string& name, std::shared_ptr<const Shape> shape,
                   const Vec3& position, const Mat3& rotation = Mat3::identity(),
                   const std::string& material = "") {
  Body body{.name = name};
  body.pose = {rotation, position};
  body.shapes.push_back({.shape = std::move(shape), .material = material});
  return body;
}
inline Body fixedOf(const std::string& name, std::shared_ptr<const Shape> shape,
                    const Vec3& position = {}, const Mat3& rotation = Mat3::identity(),
                    const std::string& material = "") {
  Body body = bodyOf(name, std::move(shape), position, rotation, material);
  body.type = BodyType::Fixed;
  return body;
}
inline Body floorOf(const std::string& material = "") {
  return fixedOf("floor", std::make_shared<Plane>(), {}, Mat3::identity(), material);
}

struct Scene {
  SimulationOptions options{.sleep = {.enabled = true}};
  std::vector<Material> materials{};
  std::vector<MaterialPair> pairs{};
  std::vector<Body> bodies{};

  [[nodiscard]] Model build() const {
    ModelBuilder builder;
    builder.setOptions(options);
    for (const Material& material : materials) builder.addMaterial(material);
    for (const MaterialPair& pair : pairs) builder.addPair(pair);
    for (const Body& body : bodies) builder.addBody(body);
    return builder.build();
  }
};

/// What rounding of the energy is measured against: no part of it may hide in a difference of large
/// numbers, so magnitudes are summed.
inline Real energyScale(const Simulator& sim) {
  const Model& model = sim.model();
  const State& state = sim.state();
  const Real gravity = norm(model.options().gravity);
  Real scale = 0;
  for (int i = 0; i < model.numBodies(); ++i) {
    if (model.bodyType(i) != BodyType::Dynamic) continue;
    const auto k = static_cast<std::size_t>(i);
    const MassProperties& mass = model.massProperties(i);
    const Real reach = std::max({mass.inertia(0, 0), mass.inertia(1, 1), mass.inertia(2, 2)});
    scale += mass.mass * squaredNorm(state.velocity[k]) +
             reach * squaredNorm(state.angularVelocity[k]) +
             mass.mass * gravity * norm(state.center[k]);
  }
  return scale;
}

inline bool isFinite(const State& state) {
  const auto finite = [](const Vec3& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  };
  for (std::size_t i = 0; i < state.center.size(); ++i) {
    const Quat& q = state.orientation[i];
    if (!finite(state.center[i]) || !finite(state.velocity[i]) ||
        !finite(state.angularVelocity[i]) || !std::isfinite(q.w + q.x + q.y + q.z)) {
      return false;
    }
  }
  return true;
}

class CheckedSimulation {
 public:
  explicit CheckedSimulation(const Scene& scene, int numThreads = 1)
      : sim(scene.build(), numThreads) {}

  /// The first step that breaks something fails the test and ends the run. `each` is called after
  /// every step.
  template <class Each>
  void run(int count, const Each& each) {
    for (int i = 0; i < count && !failed_; ++i) {
      step();
      each();
    }
  }
  void run(int count) {
    run(count, [] {});
  }
  void runFor(Real seconds) { run(static_cast<int>(seconds / sim.model().options().dt + 0.5)); }

  void step() {
    const Real before = energyScale(sim);
    const StepReport& report = sim.step();
    const EnergyLedger& e = sim.energy();
    Real rows = std::fabs(e.external) + std::fabs(e.kinematic) + std::fabs(e.correction) +
                std::fabs(e.contactNormal) + std::fabs(e.contactFriction);
    // A body between two that no force moves is squeezed by impulses that all but cancel.
    const std::vector<Vec3>& speeds = sim.state().velocity;
    for (const ContactForce& contact : sim.contacts()) {
      rows += norm(contact.force) * sim.model().options().dt *
              (norm(speeds[static_cast<std::size_t>(contact.body1)]) +
               norm(speeds[static_cast<std::size_t>(contact.body2)]));
    }
    // The impulses of the last step are put in as a start and, if they do not fit, taken out again.
    const Real scale = std::max(before, energyScale(sim)) + rows + last_rows_;
    last_rows_ = rows;
    const auto at = [&] {
      return "step " + std::to_string(sim.state().step) + " " +
             describe(report, sim.model(), sim.state().step);
    };
    status = status | report.status;
    if (has(report.status, StepStatus::StateNotFinite) ||
        has(report.status, StepStatus::EnergyInjected) || !isFinite(sim.state()))
      fail(at());
    if (!(std::fabs(e.residual) <= ledgerTolerance * scale)) {
      std::ostringstream text;
      text << at() << ": the ledger is open by " << e.residual / scale << " of " << scale << " J";
      fail(text.str());
    }
    largestOpen = std::max(largestOpen, scale > 0 ? std::fabs(e.residual) / scale : 0);
  }

  [[nodiscard]] Vec3 position(const std::string& name) const {
    return sim.body(name).pose.translation;
  }
  [[nodiscard]] Vec3 velocity(const std::string& name) const {
    return sim.body(name).linearVelocity;
  }
  [[nodiscard]] Vec3 spin(const std::string& name) const { return sim.body(name).angularVelocity; }
  [[nodiscard]] Real energy() const { return sim.energy().kinetic + sim.energy().potential; }
  [[nodiscard]] bool isAsleep(const std::string& name) const {
    return sim.state().isAsleep[static_cast<std::size_t>(sim.model().findBody(name))] != 0;
  }
  [[nodiscard]] int index(const std::string& name) const { return sim.model().findBody(name); }

  Simulator sim;
  StepStatus status = StepStatus::Ok;
  Real largestOpen = 0;
  /// Of the energies of a step. A solver that stops at a tolerance leaves as much open.
  Real ledgerTolerance = 1e-12;

 private:
  void fail(const std::string& text) {
    if (!failed_) ADD_FAILURE() << text;
    failed_ = true;
  }
  bool failed_ = false;
  Real last_rows_ = 0;
};

}  // namespace tangere::test
