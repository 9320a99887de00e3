// SPDX-License-Identifier: Apache-2.0
//
// What the messages of an MCAP file look like, as JSON schemas. Those called foxglove.* have the
// names and fields by which Foxglove knows that it can draw them.
#pragma once

#include <string>

namespace tangere::io {

/// foxglove.FrameTransforms: where the bodies are.
[[nodiscard]] std::string frameTransformsSchema();
/// foxglove.SceneUpdate: what is drawn.
[[nodiscard]] std::string sceneUpdateSchema();

// Plain numbers of one step, as they are in the recording.
[[nodiscard]] std::string bodiesSchema();
[[nodiscard]] std::string contactsSchema();
[[nodiscard]] std::string pressureSchema();
[[nodiscard]] std::string solverSchema(bool hasPressure);
[[nodiscard]] std::string energySchema();
[[nodiscard]] std::string sensorsSchema();

}  // namespace tangere::io
