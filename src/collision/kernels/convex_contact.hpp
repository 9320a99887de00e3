// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of two convex shapes, as the kernels pass it on. Everything is in the frame of
// shape A (shape 1), where two bodies far from the world's origin keep all their digits.
#pragma once

#include <tangere/contact.hpp>

namespace tangere::kernel {

template <class S>
struct ConvexContact {
  S distance{};       ///< of the rounded shapes; negative: minus the penetration depth
  Vec3T<S> normal{};  ///< unit, from B to A
  Vec3T<S> pointA{};  ///< on A's surface; pointA - pointB = distance * normal
  Vec3T<S> pointB{};
  QueryStatus status = QueryStatus::Ok;
};

}  // namespace tangere::kernel
