// SPDX-License-Identifier: Apache-2.0
//
// A file in memory read from front to back: as lines, as words, or as binary numbers. Messages name
// the line, or the byte where the file is binary, of what was read last; nothing is read beyond the
// end.
#pragma once

#include <tangere/types.hpp>

#include <bit>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tangere::io {

class FileCursor {
 public:
  /// Both must outlive the cursor.
  FileCursor(std::string_view content, std::string_view name) : content_(content), name_(name) {}

  /// From here on places are bytes, and numbers have this order.
  void beginBinary(std::endian order) {
    is_binary_ = true;
    order_ = order;
  }
  [[nodiscard]] bool isBinary() const { return is_binary_; }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::size_t bytesLeft() const { return content_.size() - next_; }
  [[nodiscard]] std::string_view rest() const { return content_.substr(next_); }

  /// Of what was read last: its line, from 1, or its byte, from 0.
  [[nodiscard]] std::size_t place() const { return is_binary_ ? byte_ : line_; }
  /// Throws InvalidInput "name:12: message" or "name: byte 345: message".
  [[noreturn]] void fail(const std::string& message) const { failAt(place(), message); }
  [[noreturn]] void failAt(std::size_t place, const std::string& message) const;

  /// The rest of this line, without its end; false at the end of the file.
  [[nodiscard]] bool nextLine(std::string_view* line);
  /// The next line that has a word; false when there is none.
  [[nodiscard]] bool nextFilledLine(std::string_view* line);
  /// The next word, on whichever line; empty at the end of the file.
  [[nodiscard]] std::string_view nextWord();
  /// To behind the next `text`; false, and nothing moves, when there is none.
  [[nodiscard]] bool skipPast(std::string_view text);

  /// All of `word` as a number; `meaning` is what it was needed for.
  template <std::integral I>
  [[nodiscard]] I toInteger(std::string_view word, const char* meaning) const {
    I value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size())
      failNumber(word, meaning, std::is_signed_v<I> ? "a whole number" : "a count");
    return value;
  }
  /// Finite, and no larger than a coordinate may be.
  [[nodiscard]] Real toCoordinate(std::string_view word, const char* meaning) const;
  /// The same for a number that is one already.
  [[nodiscard]] Real checkedCoordinate(Real value, const char* meaning) const;

  /// The next sizeof(T) bytes as a number.
  template <class T>
  [[nodiscard]] T take(const char* meaning) {
    static_assert(std::is_arithmetic_v<T>);
    byte_ = next_;
    if (bytesLeft() < sizeof(T)) failEnd(meaning);
    char bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes[order_ == std::endian::native ? i : sizeof(T) - 1 - i] = content_[next_ + i];
    next_ += sizeof(T);
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  void skipBytes(std::size_t count, const char* meaning);

  /// `count`, when that many things of at least `bytesEach` can still follow.
  [[nodiscard]] std::size_t checkedCount(std::uint64_t count, std::size_t bytesEach,
                                         const char* things) const;

 private:
  [[noreturn]] void failNumber(std::string_view word, const char* meaning,
                               const char* expected) const;
  [[noreturn]] void failEnd(const char* meaning) const;

  std::string_view content_, name_;
  std::size_t next_ = 0;       // first byte not read yet
  std::size_t next_line_ = 1;  // and its line
  std::size_t line_ = 1, byte_ = 0;
  bool is_binary_ = false;
  std::endian order_ = std::endian::little;
};

}  // namespace tangere::io
