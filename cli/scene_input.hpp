// SPDX-License-Identifier: Apache-2.0
//
// Scene files as commands take them: what is wrong with one ends the command with the right code.
#pragma once

#include "console.hpp"

#include <tangere/scene.hpp>

#include <string>

namespace tangere::cli {

/// Reads a scene and passes its warnings on. Throws CommandError: kInputRejected for what the text
/// says, kResourceLimit for its size, kInputOutput for a file that cannot be read.
[[nodiscard]] Scene loadSceneFor(const std::string& file, const CommonOptions& common);

}  // namespace tangere::cli
