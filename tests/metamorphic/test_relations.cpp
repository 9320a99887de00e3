// SPDX-License-Identifier: Apache-2.0
//
// Relations that hold for every scene under every solver, on random scenes.
//
//   test_metamorphic_relations                                        a few scenes
//   TANGERE_METAMORPHIC=2000 test_metamorphic_relations               as many as wanted
//   TANGERE_METAMORPHIC_SEED=4711                                     beginning with that seed
//   TANGERE_METAMORPHIC_OUT=folder                                    where failing scenes go
//   --gtest_filter='*Mirror*Sap*'                                     one relation, one solver
#include "metamorphic/check_relation.hpp"
#include "metamorphic/solver_parameter.hpp"

#include <gtest/gtest.h>

namespace tangere::test {
namespace {

/// Of the scenes: where a mesh, a rim or a fast body is given other contact points after rounding,
/// in ways that a displacement of 1e-10 does not find.
constexpr Real kRare = 0.005, kVeryRare = 0.001;

/// Where shapes become others: Hertz's law has a radius for each kind of shape, and takes a box for
/// flat and a hull or a mesh for round (docs/event_materials.md).
constexpr CaseLimits kAnyShape{.hasHertz = false};
/// Of these a mesh has no equal.
constexpr CaseLimits kSolids{.hasMeshes = false, .hasHertz = false};

class Relations : public testing::TestWithParam<SolverType> {
 protected:
  /// Scenes for `make test`: a second or two.
  static int few() { return GetParam() == SolverType::Event ? 12 : 100; }
};

TEST_P(Relations, RenamingAndReorderingBodiesChangesNothing) {
  expectRelation({.name = "rename", .relation = renamed}, GetParam(), few());
}

TEST_P(Relations, AMirroredSceneMovesAsTheMirrorImage) {
  expectRelation({.name = "mirror", .relation = mirrored, .maxDifferent = kRare}, GetParam(),
                 few());
}

TEST_P(Relations, ATurnedAndMovedWorldMovesAlike) {
  expectRelation({.name = "move", .relation = moved, .maxDifferent = kVeryRare}, GetParam(), few());
}

TEST_P(Relations, AConstantVelocityAddedToEverythingIsNotFelt) {
  expectRelation({.name = "boost",
                  .relation = boosted,
                  .limits = {.hasDamping = false},
                  .maxDifferent = kVeryRare},
                 GetParam(), few());
}

TEST_P(Relations, OtherUnitsGiveTheSameMotion) {
  expectRelation({.name = "units", .relation = scaled, .maxDifferent = kVeryRare}, GetParam(),
                 few());
}

TEST_P(Relations, ABoxIsItsHull) {
  expectRelation(
      {.name = "hull", .relation = boxesAsHulls, .limits = kAnyShape, .maxDifferent = kVeryRare},
      GetParam(), few());
}

TEST_P(Relations, ABoxIsItsMesh) {
  expectRelation(
      {.name = "mesh", .relation = boxesAsMeshes, .limits = kSolids, .maxDifferent = kVeryRare},
      GetParam(), few());
}

TEST_P(Relations, ABoxIsACompoundOfOne) {
  expectRelation({.name = "compound", .relation = boxesAsCompounds}, GetParam(), few());
}

TEST_P(Relations, ABoxIsTwoHalvesSideBySide) {
  expectRelation(
      {.name = "halves", .relation = boxesInHalves, .limits = kSolids, .maxDifferent = 0.08},
      GetParam(), few());
}

TEST_P(Relations, ABodyOfSeveralShapesIsSeveralWeldedBodies) {
  if (GetParam() == SolverType::Impulse) GTEST_SKIP() << "free bodies alone";
  // Links of a tree turn by forces of rotation of first order, free bodies exactly.
  const Real tolerance = GetParam() == SolverType::Sap ? 0.05 : 0;
  expectRelation(
      {.name = "weld", .relation = splitIntoWelded, .tolerance = tolerance, .maxDifferent = kRare},
      GetParam(), few());
}

// A rack that is hit on its line of symmetry: renamed, and with its sides exchanged.
TEST_P(Relations, ImpactsAtTheSameTimeDoNotDependOnNames) {
  expectRelation({.name = "tie", .relation = renamed, .maxAdvance = 3, .cases = symmetricCase},
                 GetParam(), few());
}

TEST_P(Relations, ImpactsAtTheSameTimeKeepTheSymmetryOfTheScene) {
  expectRelation(
      {.name = "symmetry", .relation = itsOwnImage, .maxAdvance = 3, .cases = symmetricCase},
      GetParam(), few());
}

// Coulomb's law has several solutions here, and sweeps over the contacts, one after another, lead
// to one that is not symmetric: by 2 % of the speeds in the first of them.
TEST_P(Relations, OfSeveralSolutionsOfARackTheOneIsFoundThatDependsOnNoOrder) {
  for (const long seed : {4000610, 4001991}) {
    expectRelation({.name = "tie",
                    .relation = renamed,
                    .maxAdvance = 3,
                    .cases = symmetricCase,
                    .onlySeed = seed},
                   GetParam(), 1);
  }
  for (const long seed : {4001991, 5001955}) {
    expectRelation({.name = "symmetry",
                    .relation = itsOwnImage,
                    .maxAdvance = 3,
                    .cases = symmetricCase,
                    .onlySeed = seed},
                   GetParam(), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, Relations, testing::ValuesIn(kAllSolvers), nameOfSolver);

}  // namespace
}  // namespace tangere::test
