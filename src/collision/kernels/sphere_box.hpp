// SPDX-License-Identifier: Apache-2.0
//
// Which feature of a box is nearest to a point.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/contact_features.hpp"

#include <cstdint>

namespace tangere::kernel {

/// From the offset of the point from the box: each component is zero where the point is between the
/// two faces of that axis. kNoFeature for a zero offset.
template <class S>
TANGERE_HD inline std::int32_t boxFeature(const Vec3T<S>& offset) {
  const int x = offset.x > S(0) ? 1 : 0, y = offset.y > S(0) ? 2 : 0, z = offset.z > S(0) ? 4 : 0;
  const int active =
      (offset.x != S(0) ? 1 : 0) | (offset.y != S(0) ? 2 : 0) | (offset.z != S(0) ? 4 : 0);
  const int positive = x | y | z;
  // The region is as good as random: masks, since a branch would be guessed wrong every other time,
  // and compilers make branches of selections.
  const std::int32_t face = faceFeature(boxFace(active >> 1, positive != 0));
  const std::int32_t edge = edgeFeature(positive, positive | (active ^ 7));
  const std::int32_t isFace = -static_cast<std::int32_t>((active & (active - 1)) == 0);
  const std::int32_t isVertex = -static_cast<std::int32_t>(active == 7);
  const std::int32_t isNone = -static_cast<std::int32_t>(active == 0);
  const std::int32_t feature =
      (face & isFace) | (vertexFeature(positive) & isVertex) | (edge & ~(isFace | isVertex));
  static_assert(kNoFeature == -1);
  return feature | isNone;  // all bits set
}

}  // namespace tangere::kernel
