// SPDX-License-Identifier: Apache-2.0
//
// What a recording says about its model: bodies, shapes, soft bodies and sensors.
#pragma once

#include <tangere/recording.hpp>

#include "io/open_recording.hpp"

#include <vector>

namespace tangere::io {

/// One for each of `numBodies` bodies. Throws InvalidInput when the table is damaged.
[[nodiscard]] std::vector<BodyType> readBodyTypes(const OpenRecording& file, std::size_t numBodies);
/// `group` is "shapes" or "visuals"; only these may be of the world (-1), have colours, and be
/// missing.
[[nodiscard]] std::vector<RecordedShape> readShapes(const OpenRecording& file,
                                                    const std::string& group,
                                                    std::size_t numBodies);
/// The parent of each body, -1 for all of them in recordings of earlier versions.
[[nodiscard]] std::vector<int> readParents(const OpenRecording& file, std::size_t numBodies);
[[nodiscard]] std::vector<RecordedJoint> readJoints(const OpenRecording& file,
                                                    std::size_t numBodies);

/// Both throw InvalidInput when the tables contradict each other, and are empty where the recording
/// has none.
[[nodiscard]] std::vector<RecordedSoftBody> readSoftBodies(const OpenRecording& file);
[[nodiscard]] std::vector<RecordedSensor> readSensors(const OpenRecording& file);

}  // namespace tangere::io
