// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model_data.hpp"

namespace tangere::contact {

/// Where an impulse between two bodies acts that have yet to come together: an impulse at two
/// different places would turn the pair. place1 and place2 are the place as each body sees it; of
/// the line between them the point that is nearer to the lighter body, which is turned more.
[[nodiscard]] inline Vec3 commonPlace(const model::ModelData& model, int body1, const Vec3& place1,
                                      int body2, const Vec3& place2) {
  const Real light1 = model.bodies[body1].inverseMass, light2 = model.bodies[body2].inverseMass;
  const Real sum = light1 + light2;
  return place2 + (place1 - place2) * (sum > 0 ? light1 / sum : Real(0.5));
}

}  // namespace tangere::contact
