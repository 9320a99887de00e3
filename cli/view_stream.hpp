// SPDX-License-Identifier: Apache-2.0
//
// A run as the viewer reads it (viewer/src/stream.ts): a scene, which stays, and frames of bytes.
#pragma once

#include <tangere/recording.hpp>

#include "console.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tangere::cli {

[[nodiscard]] Json viewScene(const Model& model, const std::string& title);
[[nodiscard]] Json viewScene(const RecordingReader& recording, const std::string& title);

/// What a frame shows besides what a recording keeps.
struct ViewExtras {
  std::span<const std::uint8_t> isAsleep{};  ///< of each body; empty: unknown
  int numEvents = 0;                         ///< of the event solver
};

/// Makes frames of one model. Of soft bodies only the vertices on the surface are shown.
class ViewEncoder {
 public:
  explicit ViewEncoder(const Model& model);
  explicit ViewEncoder(const RecordingReader& recording);

  /// Appends one frame to `out`.
  void encode(const RecordFrame& frame, const ViewExtras& extras,
              std::vector<std::byte>* out) const;

 private:
  std::vector<int> surface_vertices_;  // among those of all soft bodies
};

/// The viewer's page with `data` inside; a name in it cannot end the script it is in.
[[nodiscard]] std::string viewerPage(const Json& data);
/// Whether the viewer was built with this program.
[[nodiscard]] bool hasViewer();

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace tangere::cli
