// SPDX-License-Identifier: Apache-2.0
//
// Relations that are wrong on purpose are found to be wrong: what holds in the other tests could
// have failed.
#include "metamorphic/check_relation.hpp"
#include "metamorphic/relations.hpp"
#include "metamorphic/solver_parameter.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tangere::test {
namespace {

/// Of some random cases in contact, the part that breaks the relation.
Real brokenPart(const Relation& relation, SolverType solver) {
  int numCompared = 0, numBroken = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Case start =
        randomCase(seed, solver, {.hasRobots = false, .hasDamping = false, .maxBodies = 4});
    const std::optional<Case> scene = advanced(start, numStepsToContact(start, 600));
    if (!scene) continue;
    const Real violation = violationOf(*scene, relation, scatteredSeed(seed), 2);
    if (violation < 0) continue;
    ++numCompared;
    numBroken += violation > toleranceOf(solver) ? 1 : 0;
  }
  EXPECT_GE(numCompared, 6);
  return static_cast<Real>(numBroken) / static_cast<Real>(std::max(numCompared, 1));
}

class BrokenRelations : public testing::TestWithParam<SolverType> {};

TEST_P(BrokenRelations, AMirrorThatTurnsTheWrongWayIsFound) {
  const Relation broken = [](const Case& scene, std::uint64_t seed) {
    std::optional<Image> image = mirrored(scene, seed);
    for (Body& body : image->scene.bodies) body.angularVelocity = body.angularVelocity * Real(-1);
    return image;
  };
  EXPECT_GT(brokenPart(broken, GetParam()), 0.5);
}

TEST_P(BrokenRelations, AWorldTurnedWithoutItsGravityIsFound) {
  const Relation broken = [](const Case& scene, std::uint64_t seed) {
    std::optional<Image> image = moved(scene, seed);
    image->scene.options.gravity = scene.options.gravity;
    return image;
  };
  EXPECT_GT(brokenPart(broken, GetParam()), 0.5);
}

TEST_P(BrokenRelations, AFloorThatIsLeftBehindIsFound) {
  const Relation broken = [](const Case& scene, std::uint64_t seed) -> std::optional<Image> {
    const bool hasFloor = std::any_of(scene.bodies.begin(), scene.bodies.end(),
                                      [](const Body& b) { return b.type == BodyType::Fixed; });
    std::optional<Image> image = boosted(scene, seed);
    if (!hasFloor || !image) return std::nullopt;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
      if (scene.bodies[i].type == BodyType::Fixed) image->scene.bodies[i].linearVelocity = {};
    return image;
  };
  EXPECT_GT(brokenPart(broken, GetParam()), 0.5);
}

TEST_P(BrokenRelations, AMassInTheOldUnitIsFound) {
  const Relation broken = [](const Case& scene, std::uint64_t seed) -> std::optional<Image> {
    if (scene.bodies.size() < 3) return std::nullopt;
    std::optional<Image> image = scaled(scene, seed);
    // One material alone: masses of all would cancel.
    image->scene.materials[0].density *= 2;
    image->scene.options.gravity = image->scene.options.gravity * Real(1.01);
    return image;
  };
  EXPECT_GT(brokenPart(broken, GetParam()), 0.5);
}

TEST_P(BrokenRelations, NamesThatAreMixedUpAreFound) {
  const Relation broken = [](const Case& scene, std::uint64_t seed) -> std::optional<Image> {
    std::optional<Image> image = renamed(scene, seed);
    if (scene.bodies.size() < 2) return std::nullopt;
    const auto right = image->expected;
    image->expected = [right](const Snapshot& original) {
      Snapshot result = right(original);
      std::swap(result.bodies.begin()->second, std::next(result.bodies.begin())->second);
      return result;
    };
    return image;
  };
  EXPECT_GT(brokenPart(broken, GetParam()), 0.9);
}

TEST_P(BrokenRelations, ABoxThatIsALittleLargerAsAHullIsFound) {
  const Relation broken = [](const Case& scene, std::uint64_t seed) {
    std::optional<Image> image = boxesAsHulls(scene, seed);
    if (!image) return image;
    for (Body& body : image->scene.bodies)
      for (BodyShape& shape : body.shapes) {
        if (shape.shape->type() != ShapeType::Convex) continue;
        std::vector<Vec3> points;
        for (const Vec3& p : static_cast<const Convex&>(*shape.shape).vertices())
          points.push_back(p * Real(1.001));
        shape.shape = std::make_shared<Convex>(points);
      }
    return image;
  };
  int numBroken = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Case start =
        randomCase(seed, GetParam(), {.hasRobots = false, .hasMeshes = false, .maxBodies = 3});
    const std::optional<Case> scene = advanced(start, numStepsToContact(start, 600));
    if (scene && violationOf(*scene, broken, seed, 2) > toleranceOf(GetParam())) ++numBroken;
  }
  EXPECT_GE(numBroken, 5);
}

INSTANTIATE_TEST_SUITE_P(Solvers, BrokenRelations, testing::ValuesIn(kAllSolvers), nameOfSolver);

}  // namespace
}  // namespace tangere::test
