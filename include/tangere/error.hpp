// SPDX-License-Identifier: Apache-2.0
//
// The one exception type of the library: the caller's mistake while building something.
// Queries and steps never throw; they answer with a status.
#pragma once

#include <stdexcept>
#include <string>

namespace tangere {

/// Rejected input. what() says what was found, where, and what is allowed, with its unit.
class InvalidInput : public std::invalid_argument {
 public:
  explicit InvalidInput(const std::string& message) : std::invalid_argument(message) {}
};

}  // namespace tangere
