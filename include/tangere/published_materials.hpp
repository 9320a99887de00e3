// SPDX-License-Identifier: Apache-2.0
//
// Materials with published constants, for the law of Hertz: scene files know them by name, and
// models of C++ add what they need. The numbers are those of the palettes of Modia3D.
#pragma once

#include <tangere/material.hpp>

#include <span>
#include <string_view>

namespace tangere {

/// In order of names: Aluminium, BilliardBall, BilliardCue, BilliardCushion, BilliardTable,
/// DryWood, Observer, Steel. What a material does against itself, where that is published, is in it
/// as well.
[[nodiscard]] std::span<const Material> publishedMaterials();
/// Null where none has this name.
[[nodiscard]] const Material* findPublishedMaterial(std::string_view name);

/// What pairs of them do; material1 <= material2. Where no pair was published and both have values
/// of their own, the mean of these: the rule that came with the values.
[[nodiscard]] std::span<const MaterialPair> publishedPairs();
/// Null where nothing is published of the two, in whatever order.
[[nodiscard]] const MaterialPair* findPublishedPair(std::string_view material1,
                                                    std::string_view material2);

}  // namespace tangere
