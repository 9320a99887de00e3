// SPDX-License-Identifier: Apache-2.0
//
// What a verification finds: one row for each quantity of a case in a lane.
#pragma once

#include "console.hpp"

#include <string>
#include <vector>

namespace tangere::cli {

struct Row {
  std::string caseId, lane, quantity;
  std::vector<double> reference, value;
  Json tolerance;
  double error = 0;        ///< the largest difference
  double scaledError = 0;  ///< the largest one, as the tolerance counts it
  bool pass = false;
  std::string failure{};  ///< why the run ended early
};

struct Skipped {
  std::string caseId, lane, reason;
};

struct Outcome {
  std::vector<Row> rows;
  std::vector<Skipped> skipped;
};

}  // namespace tangere::cli
