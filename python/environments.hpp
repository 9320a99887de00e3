// SPDX-License-Identifier: Apache-2.0
//
// What is behind the Python Simulator: one or many environments of a model, and the arrays through
// which Python reads and writes them.
//
// The coordinates of each environment live in its own State. `q`, `v`, `time` and `controls` are
// one array each for all environments, which every call that moves them fills at its end: reading
// costs nothing and the memory never moves. What was written into them is taken over at the next
// call; where it cannot be, that call throws and nothing has changed.
#pragma once

#include "exclusive_use.hpp"
#include "frozen_model.hpp"
#include "python_handler.hpp"

#include <tangere/batch.hpp>
#include <tangere/dynamics.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tangere::python {

class Environments {
 public:
  Environments(nanobind::object model, int numEnvironments, int numThreads);
  ~Environments();
  Environments(const Environments&) = delete;
  Environments& operator=(const Environments&) = delete;

  /// Held by whoever looks into the environments or moves them.
  class Use : public ExclusiveUse {
   public:
    explicit Use(Environments& environments) : ExclusiveUse(environments.exclusive_) {}
  };

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] nanobind::object modelObject() const { return model_object_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int numThreads() const { return num_threads_; }
  [[nodiscard]] Simulator& at(int environment);
  [[nodiscard]] const Simulator& at(int environment) const;
  /// Checks a number given by a user.
  [[nodiscard]] int checked(int environment) const;
  [[nodiscard]] bool isRunning(int environment) const;

  /// Without the interpreter's lock; an interrupt (Ctrl-C) ends them early.
  void step(std::int64_t count);
  void advanceTo(Real time);
  void reset(std::span<const int> environments);
  void rollout(int numSteps, std::span<const Real> controls, std::span<Real> q, std::span<Real> v);
  /// Runs again after it was stopped or its state was set.
  void setState(int environment, const State& state);
  void setParameters(int environment, const ModelParameters& parameters);
  /// Number of the handler in its environment.
  int addHandler(int environment, nanobind::object handler);
  [[nodiscard]] const std::vector<std::shared_ptr<PythonHandler>>& handlers() const {
    return handlers_;
  }

  /// Takes over what was written into the arrays; then the arrays are what the environments are.
  void push();
  void pull();

  [[nodiscard]] std::vector<Real>& q() { return q_; }
  [[nodiscard]] std::vector<Real>& v() { return v_; }
  [[nodiscard]] std::vector<Real>& time() { return time_; }
  [[nodiscard]] std::vector<Real>& controls() { return controls_; }
  [[nodiscard]] std::span<const Real> rowOf(const std::vector<Real>& array, int environment) const;

  /// Dynamics at the coordinates of an environment.
  [[nodiscard]] Dynamics& dynamicsAt(int environment);

 private:
  /// Calls advance(n) for some steps at a time, `count` in all. What a handler raises ends it.
  void repeat(std::int64_t count, const std::function<void(int)>& advance);
  void advance(int count);
  void advanceAlone(int environment, Real time);
  [[nodiscard]] std::vector<State> states() const;
  void raiseOfHandlers(const std::vector<State>& before);
  [[nodiscard]] int numRunning() const;
  void pushRow(int environment);
  void pullRow(int environment);

  nanobind::object model_object_;
  Model model_;
  int size_, num_threads_;
  Exclusive exclusive_{"Simulator"};
  std::optional<Simulator> alone_;  // one environment: the threads share its step
  std::optional<BatchedSimulator> batch_;
  std::vector<std::uint8_t> has_stopped_;  // beside those that batch_ stopped
  std::unique_ptr<Dynamics> dynamics_;
  std::map<int, std::unique_ptr<Dynamics>> own_dynamics_;
  std::vector<std::shared_ptr<PythonHandler>> handlers_;
  std::vector<Real> q_, v_, time_, controls_;
};

}  // namespace tangere::python
