// SPDX-License-Identifier: Apache-2.0
//
// Tries a relation on random cases.
//
// Motion with contacts is chaotic, so long runs cannot be compared. A case is therefore advanced to
// its first contact and some steps on, taken as a case of its own, and then it and its image run
// for one to three steps. Where they differ by more than the solver's tolerance, the case itself is
// started from places that are off by 1e-10: a difference that this makes too is not the relation's
// fault.
#pragma once

#include "metamorphic/relations.hpp"
#include "metamorphic/scene_case.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace tangere::test {

struct RelationCheck {
  std::string name;  ///< for messages and file names
  Relation relation;
  CaseLimits limits{};
  Real tolerance = 0;   ///< of differenceOf(); 0: that of the solver
  int maxAdvance = 40;  ///< steps from the first contact to the comparison
  int maxSteps = 3;     ///< steps that are compared
  /// Of the cases that were compared, those that are sensitive to 1e-10 and differ.
  Real maxSensitive = 0.03;
  /// And those that differ for a reason that docs/accuracy.md tells.
  Real maxDifferent = 0;
  /// Where the cases come from; randomCase() otherwise.
  std::function<Case(std::uint64_t seed, SolverType solver)> cases{};
  long onlySeed = 0;  ///< this case alone, whatever the environment says; 0: all of them
};

/// As many cases as TANGERE_METAMORPHIC says (otherwise `few`), beginning with the seed
/// TANGERE_METAMORPHIC_SEED. Cases that fail are shrunk, written to TANGERE_METAMORPHIC_OUT and
/// reported with their seed; the test ends with the first three.
void expectRelation(const RelationCheck& check, SolverType solver, int few);

/// Where nothing can be said.
inline constexpr Real kNotCompared = -1;  ///< it does not apply, a step was refused or not solved
inline constexpr Real kGivenUp = -2;      ///< it took too many steps inside
/// Difference of the images after `numSteps`, or one of the above, which are negative.
[[nodiscard]] Real violationOf(const Case& scene, const Relation& relation, std::uint64_t seed,
                               int numSteps, int* numContacts = nullptr);
/// How much the motion differs when places and velocities are off by 1e-10 of their size.
[[nodiscard]] Real sensitivityOf(const Case& scene, int numSteps);

/// Of solving a step twice in different order.
[[nodiscard]] Real toleranceOf(SolverType solver);

/// Where cases that fail are written: TANGERE_METAMORPHIC_OUT, otherwise a folder for temporary
/// files.
[[nodiscard]] std::string outputFolder();

}  // namespace tangere::test
