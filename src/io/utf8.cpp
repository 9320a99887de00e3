// SPDX-License-Identifier: Apache-2.0
//
// What TOML and XML both ask of a text before they read it.
#include "io/toml_document.hpp"

#include <cstddef>
#include <string_view>

namespace tangere::io {

std::size_t findInvalidUtf8(std::string_view text) {
  const auto byteAt = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned lead = byteAt(i);
    if (lead == 0) return i;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byteAt(i + k) & 0xc0u) != 0x80u) return i;
    }
    const unsigned second = byteAt(i + 1);  // shortest forms only, no surrogates, up to U+10FFFF
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
      return i;
    i += length;
  }
  return std::string_view::npos;
}

Place placeOfByte(std::string_view text, std::size_t offset) {
  Place place{1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      place = {place.line + 1, 1};
    } else if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace tangere::io
