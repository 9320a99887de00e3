// SPDX-License-Identifier: Apache-2.0
//
// What a study says, in sentences, as a table for people, and as a document for programs.
#pragma once

#include "compare_study.hpp"
#include "console.hpp"

#include <string>
#include <vector>

namespace tangere::cli {

struct ComparedScene {
  std::string file;
  Real wantedError = 0;
  const Study* study = nullptr;
};

/// "2.5 ms", "40 us".
[[nodiscard]] std::string timeText(Real seconds);
/// "1.3 %", "2.1e-05 %".
[[nodiscard]] std::string percentText(Real error);

/// What errors are measured against, and what that is worth.
[[nodiscard]] std::string referenceSentence(const ComparedScene& scene);
/// Whether and how the solver converges, or why not.
[[nodiscard]] std::string verdictSentence(const ComparedScene& scene, const SolverStudy& study);
/// The step to take, or why there is none.
[[nodiscard]] std::string recommendationSentence(const ComparedScene& scene,
                                                 const SolverStudy& study);
/// The contact law of each solver, and what of the scene it leaves out.
[[nodiscard]] std::vector<std::string> lawSentences(const ComparedScene& scene);

void printCompareTable(const ComparedScene& scene);
[[nodiscard]] Json compareDocument(const ComparedScene& scene);

}  // namespace tangere::cli
