// SPDX-License-Identifier: Apache-2.0
//
// Recordings as MCAP files, for Foxglove and other tools of robotics: shapes, motion and contacts
// as a 3D scene, and every number of a step as JSON. docs/recording.md lists the topics.
#pragma once

#include <tangere/recording.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace tangere {

struct McapOptions {
  /// Frames for each simulated second; 0: all of the recording. Never more than it has.
  Real rate = 0;
  bool isCompressed = true;  ///< LZ4
};

struct McapReport {
  std::int64_t numFrames = 0;  ///< of the recording that were exported
  std::uint64_t numMessages = 0, numChunks = 0, numBytes = 0;
  Real metresPerNewton = 0;  ///< of the arrows
};

/// Called after each frame with the frames done and those there are; may throw to end the export.
using McapProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// Writes PATH.partial and gives it its name when it is whole; whatever is thrown, nothing is left.
/// Of a long recording it keeps 8 bytes for each frame and 300 for each megabyte written, and a
/// block of frames. Throws FileError when the file cannot be written, InvalidInput when the
/// recording is damaged or has no frame or the rate is negative or not finite.
McapReport exportMcap(RecordingReader& recording, const std::filesystem::path& path,
                      const McapOptions& options = {}, const McapProgress& progress = {});

}  // namespace tangere
