// SPDX-License-Identifier: Apache-2.0
//
// The page docs/accuracy.md.
#pragma once

#include "verify_rows.hpp"

#include <string>

namespace tangere::cli {

/// `peers`: rows {case, quantity, engine, error_type, error} of other engines.
[[nodiscard]] std::string accuracyMarkdown(const Outcome& outcome, const Json& peers);

}  // namespace tangere::cli
