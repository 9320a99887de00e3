// SPDX-License-Identifier: Apache-2.0
//
// Pairs of shapes with poses, as read from a table: one row, one question.
#pragma once

#include "csv_table.hpp"

#include <tangere/shape.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tangere::cli {

struct ShapePair {
  std::string id;
  std::shared_ptr<const Shape> shape1, shape2;
  Transform X_W1, X_W2;
};

/// Reads the pairs; `hullsPath` may be empty when no row needs a hull. Columns are found by name,
/// in any order; columns that are not known are ignored. Everything wrong is collected and thrown
/// as one CommandError, so that nothing is computed from a table that is half right.
[[nodiscard]] std::vector<ShapePair> readPairs(const std::string& pairsPath,
                                               const std::string& hullsPath,
                                               const CommonOptions& common);

}  // namespace tangere::cli
