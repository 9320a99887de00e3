// SPDX-License-Identifier: Apache-2.0
#include "io/file_cursor.hpp"

#include <tangere/error.hpp>

#include "geometry/limits.hpp"
#include "io/text.hpp"

#include <algorithm>

namespace tangere::io {

void FileCursor::failAt(std::size_t place, const std::string& message) const {
  if (!is_binary_) throwAtLine(name_, place, message);
  throw InvalidInput(std::string(name_) + ": byte " + std::to_string(place) + ": " + message);
}

bool FileCursor::nextLine(std::string_view* line) {
  byte_ = next_;
  line_ = next_line_;
  if (bytesLeft() == 0) return false;
  const std::size_t end = content_.find('\n', next_);
  *line = content_.substr(next_, end == std::string_view::npos ? end : end - next_);
  next_ = end == std::string_view::npos ? content_.size() : end + 1;
  if (end != std::string_view::npos) ++next_line_;
  if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
  return true;
}

bool FileCursor::nextFilledLine(std::string_view* line) {
  while (nextLine(line)) {
    if (!std::all_of(line->begin(), line->end(), isBlank)) return true;
  }
  return false;
}

std::string_view FileCursor::nextWord() {
  while (next_ < content_.size() && (isBlank(content_[next_]) || content_[next_] == '\n')) {
    if (content_[next_] == '\n') ++next_line_;
    ++next_;
  }
  line_ = next_line_;
  byte_ = next_;
  while (next_ < content_.size() && !isBlank(content_[next_]) && content_[next_] != '\n') ++next_;
  return content_.substr(byte_, next_ - byte_);
}

bool FileCursor::skipPast(std::string_view text) {
  const std::size_t found = content_.find(text, next_);
  if (found == std::string_view::npos) return false;
  const std::string_view skipped = content_.substr(next_, found + text.size() - next_);
  next_line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
  next_ = found + text.size();
  return true;
}

Real FileCursor::toCoordinate(std::string_view word, const char* meaning) const {
  return checkedCoordinate(parseNumber(word, name_, line_, meaning), meaning);
}

Real FileCursor::checkedCoordinate(Real value, const char* meaning) const {
  if (!(value >= -geometry::kMaxSize && value <= geometry::kMaxSize))
    fail(std::string(meaning) + " must be finite and at most 1e12 m, but is " +
         std::to_string(value));
  return value;
}

void FileCursor::skipBytes(std::size_t count, const char* meaning) {
  byte_ = next_;
  if (bytesLeft() < count) failEnd(meaning);
  next_ += count;
}

std::size_t FileCursor::checkedCount(std::uint64_t count, std::size_t bytesEach,
                                     const char* things) const {
  if (count > bytesLeft() / bytesEach)
    fail(std::to_string(count) + " " + things + " announced, but only " +
         std::to_string(bytesLeft()) + " bytes follow, room for at most " +
         std::to_string(bytesLeft() / bytesEach));
  return static_cast<std::size_t>(count);
}

void FileCursor::failNumber(std::string_view word, const char* meaning,
                            const char* expected) const {
  if (word.empty()) fail(std::string(meaning) + " is missing: the text ends too early");
  fail(std::string(meaning) + " must be " + expected + ", but is " + quoted(word));
}

void FileCursor::failEnd(const char* meaning) const {
  fail(std::string("the file ends where ") + meaning + " is due");
}

}  // namespace tangere::io
