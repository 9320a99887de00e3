// SPDX-License-Identifier: Apache-2.0
//
// What may be done to a case, and where its bodies must then be.
#pragma once

#include "metamorphic/scene_case.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tangere::test {

/// A case made from another, and how the motion of that one tells the motion of this one.
struct Image {
  Case scene;
  std::function<Snapshot(const Snapshot&)> expected{};
};

/// Nothing where the relation says nothing about the case. The same for the same seed.
using Relation = std::function<std::optional<Image>(const Case&, std::uint64_t seed)>;

/// Other names, in another order, added in another order.
[[nodiscard]] std::optional<Image> renamed(const Case& scene, std::uint64_t seed);
/// x and y change places: a mirror that every shape has an exact image in, height fields too.
[[nodiscard]] std::optional<Image> mirrored(const Case& scene, std::uint64_t seed);
/// The world turned and put elsewhere, gravity too.
[[nodiscard]] std::optional<Image> moved(const Case& scene, std::uint64_t seed);
/// A constant velocity is added to everything, to the floor too.
[[nodiscard]] std::optional<Image> boosted(const Case& scene, std::uint64_t seed);
/// Other units of length, mass and time.
[[nodiscard]] std::optional<Image> scaled(const Case& scene, std::uint64_t seed);

/// The same boxes as hulls, meshes, compounds of one, or two halves side by side.
[[nodiscard]] std::optional<Image> boxesAsHulls(const Case& scene, std::uint64_t seed);
[[nodiscard]] std::optional<Image> boxesAsMeshes(const Case& scene, std::uint64_t seed);
[[nodiscard]] std::optional<Image> boxesAsCompounds(const Case& scene, std::uint64_t seed);
[[nodiscard]] std::optional<Image> boxesInHalves(const Case& scene, std::uint64_t seed);
/// A body of several shapes as several bodies welded together.
[[nodiscard]] std::optional<Image> splitIntoWelded(const Case& scene, std::uint64_t seed);
/// A symmetricCase() is its own mirror image: who is on one side moves as who is on the other.
[[nodiscard]] std::optional<Image> itsOwnImage(const Case& scene, std::uint64_t seed);

}  // namespace tangere::test
