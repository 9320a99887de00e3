// SPDX-License-Identifier: Apache-2.0
//
// The space a moving shape may pass through.
#pragma once

#include <tangere/collision.hpp>

namespace tangere::collision {

/// A box around the shape at every s of the motion, rotation included. Unbounded when the shape is
/// or when the motion is not finite.
[[nodiscard]] Aabb sweptAabb(const Shape& shape, const Motion& motion);

}  // namespace tangere::collision
