// SPDX-License-Identifier: Apache-2.0
//
// Frames of a recording as arrays with the frame axis first.
#pragma once

#include <tangere/recording.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

namespace tangere::python {

/// Everything but contacts, of the frames start, start + stride, ... before stop.
[[nodiscard]] nanobind::dict readColumns(RecordingReader& recording, std::int64_t start,
                                         std::optional<std::int64_t> stop, std::int64_t stride);

/// One number of each frame, for plots: reads no frame.
[[nodiscard]] nanobind::dict readSeries(const RecordingReader& recording);

}  // namespace tangere::python
