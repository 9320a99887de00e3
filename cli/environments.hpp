// SPDX-License-Identifier: Apache-2.0
//
// The environments of a run: one that has all threads, or many that share them. Each gives the same
// bits, however many there are.
#pragma once

#include <tangere/batch.hpp>
#include <tangere/checkpoint.hpp>
#include <tangere/simulator.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tangere::cli {

class Environments {
 public:
  Environments(const Model& model, int count, int threads);

  [[nodiscard]] int size() const { return static_cast<int>(counters_.size()); }
  [[nodiscard]] Simulator& environment(int index);
  [[nodiscard]] const Simulator& environment(int index) const;
  /// The one whose bodies and files a run shows.
  [[nodiscard]] Simulator& first() { return environment(0); }
  [[nodiscard]] const Simulator& first() const { return environment(0); }

  /// Up to `count` steps of each that is running, and counts them.
  void step(int count);
  [[nodiscard]] int numRunning() const;
  /// Which environment stopped, when and why, and how many did; empty: all are running.
  [[nodiscard]] std::string whyStopped() const;
  /// Whether that one needed more contacts, steps or memory than its scene allows.
  [[nodiscard]] bool isStoppedByLimit() const;

  /// What environment 0 counted, with the status of the steps of all environments.
  [[nodiscard]] RunCounters counters() const;
  /// For a run that goes on from a checkpoint, which has one environment.
  void setCounters(const RunCounters& counters);
  /// Steps taken here by all of them together.
  [[nodiscard]] std::uint64_t numSteps() const;
  /// Of the first `count` environments at the most.
  [[nodiscard]] std::vector<std::uint64_t> stateHashes(int count) const;

 private:
  void count(int environment, const Simulator& simulator);

  std::optional<Simulator> alone_;
  std::optional<BatchedSimulator> batch_;
  std::vector<RunCounters> counters_;     // of each environment
  std::vector<std::uint8_t> is_stopped_;  // likewise
  std::uint64_t steps_before_ = 0;        // of a checkpoint
};

}  // namespace tangere::cli
