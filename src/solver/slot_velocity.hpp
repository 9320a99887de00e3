// SPDX-License-Identifier: Apache-2.0
//
// Vectors of a slot.
#pragma once

#include "solver/contact_packs.hpp"

#include <tangere/types.hpp>

namespace tangere::solver {

inline Vec3 linear(const SlotVelocity& slot) {
  return {slot.linear[0], slot.linear[1], slot.linear[2]};
}
inline Vec3 angular(const SlotVelocity& slot) {
  return {slot.angular[0], slot.angular[1], slot.angular[2]};
}
inline void store(const Vec3& v, const Vec3& w, SlotVelocity* slot) {
  slot->linear[0] = v.x;
  slot->linear[1] = v.y;
  slot->linear[2] = v.z;
  slot->angular[0] = w.x;
  slot->angular[1] = w.y;
  slot->angular[2] = w.z;
}

}  // namespace tangere::solver
