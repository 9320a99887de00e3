// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: a state in a file, from which a run goes on to the same bits. The file appears under
// its name when it is whole and on the disk, and replaces the one before in one move: whenever the
// program is killed, the name leads to a whole checkpoint. A file with one wrong bit is refused.
#pragma once

#include <tangere/simulator.hpp>

#include <array>
#include <cstdint>
#include <filesystem>

namespace tangere {

/// What a run has counted up to a step, so that a resumed run reports what an unbroken one would.
struct RunCounters {
  std::uint64_t steps = 0;
  std::uint64_t contactsSum = 0, contactsMax = 0;
  std::uint64_t polygonsSum = 0, polygonsMax = 0;  ///< of pressure contacts
  std::uint64_t iterationsSum = 0, iterationsMax = 0;
  std::uint64_t stepsOk = 0;
  std::array<std::uint64_t, 32> stepsWithStatus{};  ///< by bit of StepStatus
  Real maxDepth = 0;                                ///< [m]
  /// kinetic and potential: of the last step; the other rows: summed over the steps.
  EnergyLedger energy{};

  /// Counts one step.
  void add(const StepReport& report, const EnergyLedger& ledger);
};

struct Checkpoint {
  State state;
  RunCounters counters;
};

/// Throws FileError when the file cannot be written; the one before then remains.
void saveCheckpoint(const std::filesystem::path& path, const Model& model, const State& state,
                    const RunCounters& counters);

/// Throws FileError when the file cannot be read, InvalidInput when it is cut or damaged, of
/// another version, or of another model.
[[nodiscard]] Checkpoint loadCheckpoint(const std::filesystem::path& path, const Model& model);

}  // namespace tangere
