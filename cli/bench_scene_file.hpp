// SPDX-License-Identifier: Apache-2.0
//
// tangere bench SCENE: how fast a scene runs here, and where its time goes, in the manner of
// MuJoCo's testspeed; with what makes the speed meaningful: contacts, depth, status of the steps.
#pragma once

#include "console.hpp"
#include "scene_input.hpp"

#include <tangere/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tangere::cli {

struct SceneBenchOptions {
  std::vector<std::string> files{};
  std::uint64_t steps = 1000;
  std::uint64_t settle = 0;  ///< steps before the clock starts
  std::string solver{}, keyframe{};
  std::optional<Real> dt_s{};
  LoadingOptions loading{};
};

/// Whether a word of the command line names a scene file and not a benchmark.
[[nodiscard]] bool isSceneFile(const std::string& word);

/// Throws CommandError; kSimulationStopped when a scene does not come to its last step.
void benchSceneFiles(const SceneBenchOptions& options, const CommonOptions& common);

}  // namespace tangere::cli
