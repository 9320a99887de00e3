// SPDX-License-Identifier: Apache-2.0
//
// The exceptions of the library: the caller's mistake while building something, and a file that
// cannot be written or read. Queries and steps never throw; they answer with a status.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace tangere {

/// Rejected input. what() says what was found, where, and what is allowed, with its unit.
class InvalidInput : public std::invalid_argument {
 public:
  explicit InvalidInput(const std::string& message) : std::invalid_argument(message) {}
};

/// A file that cannot be written or read. what() says which, why, and how far it got.
class FileError : public std::runtime_error {
 public:
  explicit FileError(const std::string& message) : std::runtime_error(message) {}
};

/// " (did you mean 'x'?)" for the candidates nearest to `word`, or nothing when none is near.
[[nodiscard]] std::string nearNames(const std::string& word,
                                    const std::vector<std::string>& candidates);

}  // namespace tangere
