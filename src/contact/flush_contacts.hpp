// SPDX-License-Identifier: Apache-2.0
//
// Tiles of a floor, two halves of a box: shapes that never move against each other and end in one
// plane are one surface, and what slides over it must not catch where they meet. The narrow phase
// sees two shapes at a time. Of a body that has come over the second by less than it is pressed
// into the first, it says that the shortest way out is sideways; of one that has yet to come, that
// the side of the second is in its way.
//
// A contact of a shape tells a direction along which it is parted from the other, or all but. Where
// a second shape of the same group (ModelShape::flushGroup) reaches just as far along that
// direction, to the slop, it is parted from this one, too, and by as much: nothing but that plane
// is to be touched there.
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Manifolds with sides that a flush neighbour hides become manifolds with the neighbour's plane,
/// or go where there is nothing on it. Fills ws.manifoldRuns.
void levelFlushContacts(const model::ModelData& model, const State& state, model::Workspace& ws);

/// What one of two shapes that meet at `point` along `normal`, from shape 2 to shape 1, would touch
/// instead by the manifolds of this step: the unit vector along which it is parted from both, from
/// shape 2 to shape 1, and how far it may be pressed into them. Zero: the two do meet there.
struct HiddenBy {
  Vec3 normal{};
  Real depth = 0;
};
[[nodiscard]] HiddenBy findHiding(const model::ModelData& model, const model::Workspace& ws,
                                  const model::ShapePair& pair, const Vec3& normal,
                                  const Vec3& point, Real within);

}  // namespace tangere::contact
