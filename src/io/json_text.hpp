// SPDX-License-Identifier: Apache-2.0
//
// JSON, written from left to right. Numbers have as many digits as it takes to read the same number
// back; text that is not UTF-8 is mended, so that the result can always be parsed.
#pragma once

#include <tangere/error.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace tangere::io {

class JsonText {
 public:
  JsonText& beginObject() { return begin('{'); }
  JsonText& endObject() { return end('}'); }
  JsonText& beginArray() { return begin('['); }
  JsonText& endArray() { return end(']'); }

  JsonText& key(std::string_view name) {
    comma();
    quote(name);
    text_ += ':';
    needs_comma_ = false;
    return *this;
  }

  JsonText& value(bool value) { return raw(value ? "true" : "false"); }
  template <std::integral T>
  JsonText& value(T number) {
    return digits(number);
  }
  /// float or double. Throws InvalidInput where it is not finite: JSON has no such numbers.
  template <std::floating_point T>
  JsonText& value(T number) {
    if (!std::isfinite(number)) throw InvalidInput("a number that is not finite");
    return digits(number);
  }
  JsonText& value(std::string_view text) {
    comma();
    quote(text);
    needs_comma_ = true;
    return *this;
  }
  JsonText& value(const char* text) { return value(std::string_view(text)); }

  template <class T>
  JsonText& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  /// What is JSON already.
  JsonText& raw(std::string_view json) {
    comma();
    text_ += json;
    needs_comma_ = true;
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  void clear() {
    text_.clear();
    needs_comma_ = false;
  }

 private:
  JsonText& begin(char bracket) {
    comma();
    text_ += bracket;
    needs_comma_ = false;
    return *this;
  }
  JsonText& end(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
    return *this;
  }
  void comma() {
    if (needs_comma_) text_ += ',';
  }
  template <class T>
  JsonText& digits(T number) {
    char buffer[40];
    const std::to_chars_result done = std::to_chars(buffer, buffer + sizeof buffer, number);
    return raw({buffer, static_cast<std::size_t>(done.ptr - buffer)});
  }

  void quote(std::string_view text) {
    text_ += '"';
    while (!text.empty()) {
      const std::size_t length = characterLength(text);
      if (length == 0) {
        text_ += "\xef\xbf\xbd";  // U+FFFD
        text.remove_prefix(1);
        continue;
      }
      const char c = text.front();
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        constexpr std::string_view kHex = "0123456789abcdef";
        text_ += "\\u00";
        text_ += kHex[static_cast<std::size_t>(c) >> 4];
        text_ += kHex[static_cast<std::size_t>(c) & 15];
      } else {
        text_ += text.substr(0, length);
      }
      text.remove_prefix(length);
    }
    text_ += '"';
  }

  /// Bytes of the first character; 0 where it is not UTF-8.
  static std::size_t characterLength(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool isTooLong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool isSurrogate = lead == 0xed && byte(1) > 0x9f;
    const bool isBeyond = lead == 0xf4 && byte(1) > 0x8f;
    return isTooLong || isSurrogate || isBeyond ? 0 : length;
  }

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace tangere::io
