// SPDX-License-Identifier: Apache-2.0
//
// Reading text formats: words with their line, numbers that do not depend on the locale, and
// messages of the form "name:line: what is wrong".
#pragma once

#include <tangere/types.hpp>

#include <string>
#include <string_view>

namespace tangere::io {

/// "file.obj:12: message".
[[noreturn]] void throwAtLine(std::string_view name, std::size_t line, const std::string& message);

/// The word in quotes, shortened and with unprintable characters replaced, fit for a message.
[[nodiscard]] std::string quoted(std::string_view word);

/// As "%.6g" writes it whatever the locale, for a message.
[[nodiscard]] std::string sixDigits(Real value);

/// A finite number, all of `word`; throws at `line` otherwise, saying what it was needed for.
[[nodiscard]] Real parseNumber(std::string_view word, std::string_view name, std::size_t line,
                               const char* meaning);

[[nodiscard]] inline bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/// Takes the next word off `text`, which must hold one line; empty at its end.
[[nodiscard]] std::string_view takeWord(std::string_view* text);

}  // namespace tangere::io
