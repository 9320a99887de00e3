// SPDX-License-Identifier: Apache-2.0
//
// What a recording says about its model: soft bodies and sensors.
#pragma once

#include <tangere/recording.hpp>

#include "io/open_recording.hpp"

#include <vector>

namespace tangere::io {

/// Both throw InvalidInput when the tables contradict each other, and are empty where the recording
/// has none.
[[nodiscard]] std::vector<RecordedSoftBody> readSoftBodies(const OpenRecording& file);
[[nodiscard]] std::vector<RecordedSensor> readSensors(const OpenRecording& file);

}  // namespace tangere::io
