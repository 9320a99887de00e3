// SPDX-License-Identifier: Apache-2.0
//
// Where a parser is, for its messages.
#pragma once

#include "io/text.hpp"
#include "io/toml_document.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tangere::io {

/// Line and column of a place in a text, counted on from the last place asked for.
class PlaceCounter {
 public:
  /// What precedes `offset` has no column: a byte order mark.
  void skipTo(std::size_t offset) { counted_ = offset; }
  [[nodiscard]] Place at(std::string_view text, std::size_t offset) {
    for (; counted_ < offset; ++counted_) {
      const char c = text[counted_];
      if (c == '\n') {
        place_ = {place_.line + 1, 1};
      } else if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u) {
        ++place_.column;
      }
    }
    return place_;
  }

 private:
  std::size_t counted_ = 0;
  Place place_{1, 1};
};

/// A character that was not expected, in words.
[[nodiscard]] inline std::string describeByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= ' ' && byte < 0x7f) return quoted(std::string(1, c));
  return "a character that does not belong here (byte " + std::to_string(byte) + ")";
}

}  // namespace tangere::io
