// SPDX-License-Identifier: Apache-2.0
//
// Many environments of one model, stepped together by threads. Each gives the same bits as if it
// were alone, whatever its number and however many threads there are.
#pragma once

#include <tangere/simulator.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace tangere {

class BatchedSimulator {
 public:
  /// Sees an environment after one of its steps, one that failed included, on the thread that made
  /// it: different environments at the same time. Must not throw.
  using StepObserver = std::function<void(int environment, const Simulator& simulator)>;

  /// Throws InvalidInput when there is no environment or no thread.
  BatchedSimulator(const Model& model, int numEnvironments, int numThreads = 1);
  ~BatchedSimulator();
  BatchedSimulator(BatchedSimulator&&) noexcept;
  BatchedSimulator& operator=(BatchedSimulator&&) noexcept;

  [[nodiscard]] int size() const;
  /// State, contacts, controls, reports of one of them.
  [[nodiscard]] Simulator& environment(int index);
  [[nodiscard]] const Simulator& environment(int index) const;

  /// Up to `count` steps of every environment that is running. One whose state would not be finite
  /// stops by itself, with its state as it was; the others go on.
  void step(int count = 1, const StepObserver& observer = {});
  /// Steps with controls for each step and environment: controls[(env * numSteps + step) *
  /// numActuators + actuator]. Where `positions` and `velocities` are not empty they receive the
  /// coordinates after each step, in the same order. Throws InvalidInput when a size does not fit.
  void rollout(int numSteps, std::span<const Real> controls, std::span<Real> positions = {},
               std::span<Real> velocities = {});
  [[nodiscard]] bool isRunning(int environment) const;
  [[nodiscard]] int numRunning() const;

  /// Back to the start, and running again: all, or those whose mask is not zero.
  void reset();
  void reset(std::span<const std::uint8_t> mask);

  /// Masses, friction and gains of one environment, from those of the model; it keeps its state,
  /// its controls and the targets of driven vertices. Throws InvalidInput, also when it has contact
  /// handlers, which belong to a model.
  void setParameters(int environment, const ModelParameters& parameters);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
