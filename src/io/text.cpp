// SPDX-License-Identifier: Apache-2.0
#include "io/text.hpp"

#include <tangere/error.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace tangere::io {

void throwAtLine(std::string_view name, std::size_t line, const std::string& message) {
  throw InvalidInput(std::string(name) + ":" + std::to_string(line) + ": " + message);
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kMaxShown = 40;
  std::string out = "'";
  for (const char c : word.substr(0, kMaxShown)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (word.size() > kMaxShown ? "...'" : "'");
}

std::string sixDigits(Real value) {
  std::array<char, 40> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6);
  return {text.data(), end.ptr};
}

Real parseNumber(std::string_view word, std::string_view name, std::size_t line,
                 const char* meaning) {
  if (word.empty()) {
    throwAtLine(name, line, std::string(meaning) + " is missing: the line ends too early");
  }
  // from_chars takes no plus sign; "+-1" is no number either way.
  std::string_view digits = word;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Real value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    throwAtLine(name, line,
                std::string(meaning) + " is out of the range of a double: " + quoted(word));
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throwAtLine(name, line, std::string(meaning) + " must be a number, but is " + quoted(word));
  }
  if (!std::isfinite(value)) {
    throwAtLine(name, line, std::string(meaning) + " must be finite, but is " + quoted(word));
  }
  return value;
}

std::string_view takeWord(std::string_view* text) {
  std::size_t begin = 0;
  while (begin < text->size() && isBlank((*text)[begin])) ++begin;
  std::size_t end = begin;
  while (end < text->size() && !isBlank((*text)[end])) ++end;
  const std::string_view word = text->substr(begin, end - begin);
  text->remove_prefix(end);
  return word;
}

}  // namespace tangere::io
