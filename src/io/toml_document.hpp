// SPDX-License-Identifier: Apache-2.0
//
// TOML 1.0 as a plain tree in which every key and value knows its line and column. A parser of our
// own, because scene files may come from anyone: on some broken texts the one in Debian
// (toml++ 3.3) runs into its own assertions, which are undefined behaviour in a release build, and
// it recurses as deep as a key has dots.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tangere::io {

/// Counted from 1, columns in characters; 0 where there is none.
struct Place {
  int line = 0;
  int column = 0;
};

struct Member;

struct Value {
  using Array = std::vector<Value>;
  using Table = std::vector<Member>;  ///< in order of keys

  Place place{};
  /// The text was a number above zero, too small for a double.
  bool hasUnderflowed = false;
  /// A date or a time, which no scene needs, is the monostate.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data;

  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&data); }
  [[nodiscard]] const Table* table() const { return std::get_if<Table>(&data); }
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&data); }
};

struct Member {
  std::string key;
  Place place{};  ///< of the key
  Value value{};
};

/// Where the text stops being TOML, and what was found there.
class TomlError : public std::runtime_error {
 public:
  TomlError(Place place, const std::string& message) : std::runtime_error(message), place_(place) {}
  [[nodiscard]] Place place() const { return place_; }

 private:
  Place place_;
};

/// The tree of `text`, which must be UTF-8, as a table. Throws TomlError at the first mistake, at
/// values nested deeper than 128 and at keys of more than 16 dotted parts: neither can exhaust the
/// stack. Dates and times are told from other values, but not checked.
[[nodiscard]] Value parseToml(std::string_view text);

/// What a value is, for messages: "-3", "'abc'", "an array of 4 values", "a table".
[[nodiscard]] std::string describe(const Value& value);

/// The offset of the first byte that is NUL or not part of well-formed UTF-8; npos when all is
/// well.
[[nodiscard]] std::size_t findInvalidUtf8(std::string_view text);

/// Line and column of a byte.
[[nodiscard]] Place placeOfByte(std::string_view text, std::size_t offset);

}  // namespace tangere::io
