// SPDX-License-Identifier: Apache-2.0
//
// What of a scene does not change, as the viewer reads it: bodies with their shapes, joints, and
// the surfaces of soft bodies.
#pragma once

#include <tangere/recording.hpp>

#include <vector>

namespace tangere::cli {

/// The vertices that a surface has, ascending.
[[nodiscard]] std::vector<int> surfaceVertices(std::span<const Triangle> surface);

}  // namespace tangere::cli
