// SPDX-License-Identifier: Apache-2.0
//
// What `tangere run` says at its end: a table for people, a document for programs.
#pragma once

#include "console.hpp"

#include <tangere/checkpoint.hpp>
#include <tangere/simulator.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tangere::cli {

struct RunSummary {
  const Simulator* simulator = nullptr;  ///< the first environment
  /// Of the whole run, what came before a checkpoint included; the status of the steps is that of
  /// all environments, the rest that of the first.
  RunCounters counters{};
  int numEnvironments = 1;
  std::vector<std::uint64_t> stateHashes{};          ///< of the first of them
  std::uint64_t stepsHere = 0;                       ///< of this process, by one environment
  std::uint64_t environmentStepsHere = 0;            ///< by all of them together
  const std::vector<EventRecord>* events = nullptr;  ///< of the event solver
  Real simulatedHere_s = 0;
  Real wall_s = 0;
};

/// The keys of the contract, whether the run came to its end or not.
[[nodiscard]] Json runDocument(const RunSummary& summary);
void printRunTable(const std::string& scene, const RunSummary& summary, bool withBodies);
/// An array with one object for each event.
[[nodiscard]] Json eventsDocument(const std::vector<EventRecord>& events, const Model& model);
/// Sixteen hexadecimal digits.
[[nodiscard]] std::string hashText(std::uint64_t hash);

}  // namespace tangere::cli
