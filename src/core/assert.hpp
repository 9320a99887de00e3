// SPDX-License-Identifier: Apache-2.0
//
// The two checks of the library: TANGERE_REQUIRE for the caller's mistakes while building (throws
// InvalidInput with the values), TANGERE_ASSERT for ours (armed in debug builds and sanitizer
// runs).
#pragma once

#include <tangere/error.hpp>

#include <cassert>
#include <sstream>
#include <string_view>

#define TANGERE_ASSERT(condition) assert(condition)

/// TANGERE_REQUIRE(radius > 0, "sphere radius must be positive [m]", radius)
#define TANGERE_REQUIRE(condition, message, ...)                                            \
  do {                                                                                      \
    if (!(condition))                                                                       \
      ::tangere::core::throwInvalidInput(message, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

namespace tangere::core {

/// "message: names = value, value".
template <class... Values>
[[noreturn]] void throwInvalidInput(std::string_view message, std::string_view names,
                                    const Values&... values) {
  std::ostringstream text;
  text.precision(17);
  text << message;
  if constexpr (sizeof...(values) > 0) {
    text << " (" << names << " = ";
    bool first = true;
    ((text << (first ? "" : ", ") << values, first = false), ...);
    text << ")";
  }
  throw InvalidInput(text.str());
}

}  // namespace tangere::core
