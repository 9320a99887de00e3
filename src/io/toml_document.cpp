// SPDX-License-Identifier: Apache-2.0
#include "io/toml_document.hpp"

#include "io/place_counter.hpp"

#include "io/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

namespace tangere::io {

namespace {

constexpr std::size_t kMaxKeyParts = 16;
constexpr int kMaxNesting = 128;

/// How a table came to be, which decides what may be added to it later.
enum class Origin : unsigned char {
  Implicit,  ///< on the way to another: [a.b] makes a
  Header,    ///< [a]
  Dotted,    ///< a.b = 1 makes a
};

/// A table or an array of tables to which later lines may add.
struct Node {
  struct Entry {
    Place place{};                 // of the key
    std::unique_ptr<Node> node{};  // a table or an array of tables, else:
    Value value{};                 // complete as it is
  };
  Place place{};
  Origin origin = Origin::Implicit;
  bool isArray = false;                                 // [[a]]
  std::vector<std::unique_ptr<Node>> items{};           // of an array
  std::map<std::string, Entry, std::less<>> members{};  // of a table
};

struct KeyPart {
  std::string text;
  Place place{};
};

std::string at(Place place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isBareKey(char c) { return isDigit(c) || isLetter(c) || c == '_' || c == '-'; }
bool isControl(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f; }

class TomlParser {
 public:
  explicit TomlParser(std::string_view text) : text_(text) {}

  Value parse();

 private:
  [[nodiscard]] bool isAtEnd() const { return at_ >= text_.size(); }
  /// The character `ahead` of here; NUL at the end, which no text contains.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool startsWith(std::string_view word) const {
    return text_.substr(at_, word.size()) == word;
  }
  [[nodiscard]] bool isAtLineEnd() const {
    return isAtEnd() || peek() == '\n' || startsWith("\r\n");
  }
  Place here();
  [[noreturn]] void fail(Place place, const std::string& message) const {
    throw TomlError(place, message);
  }
  [[noreturn]] void failHere(const std::string& expected);
  [[nodiscard]] std::string found() const;

  void skipBlanks();
  void skipComment();
  void skipBlankLines();
  void expectLineEnd();

  void parseHeader(Node* root);
  Node* openTable(Node* root, const std::vector<KeyPart>& key);
  Node* step(Node* table, const KeyPart& part, Origin origin);
  void parseKeyValue(Node* table);
  std::vector<KeyPart> parseKey();
  KeyPart parseKeyPart();

  Value parseValue();
  Value::Array parseArray();
  Value parseInlineTable();
  Value parseScalar(Place place);
  std::string_view takeToken();
  [[nodiscard]] std::optional<Value> readNumber(std::string_view token, Place place) const;
  [[nodiscard]] std::optional<Value> readInteger(std::string_view token, Place place) const;
  [[nodiscard]] std::optional<Value> readFloat(std::string_view token, Place place) const;

  std::string parseString();
  void parseLongString(char quote, std::string* out);
  void parseEscape(std::string* out);

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  Node* table_ = nullptr;  // what keys go to: the last header's
  // The place of some byte before here, from which here() counts on.
  PlaceCounter places_;
};

/// The finished tree; takes the values out of the nodes.
Value toValue(Node& node) {
  Value out;
  out.place = node.place;
  if (node.isArray) {
    Value::Array items;
    items.reserve(node.items.size());
    for (const auto& item : node.items) items.push_back(toValue(*item));
    out.data = std::move(items);
    return out;
  }
  Value::Table members;
  members.reserve(node.members.size());
  for (auto& [key, entry] : node.members) {
    members.push_back(
        {key, entry.place, entry.node ? toValue(*entry.node) : std::move(entry.value)});
  }
  out.data = std::move(members);
  return out;
}

Value TomlParser::parse() {
  Node root;
  root.place = {1, 1};
  root.origin = Origin::Header;
  table_ = &root;
  if (startsWith("\xef\xbb\xbf")) places_.skipTo(at_ = 3);
  for (skipBlankLines(); !isAtEnd(); skipBlankLines()) {
    if (peek() == '[') {
      parseHeader(&root);
    } else {
      parseKeyValue(table_);
    }
    expectLineEnd();
  }
  return toValue(root);
}

Place TomlParser::here() { return places_.at(text_, at_); }

void TomlParser::failHere(const std::string& expected) {
  fail(here(), "found " + found() + ", expected " + expected);
}

std::string TomlParser::found() const {
  if (isAtEnd()) return "the end of the file";
  if (isAtLineEnd()) return "the end of the line";
  return io::describeByte(text_[at_]);
}

void TomlParser::skipBlanks() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

void TomlParser::skipComment() {
  if (peek() != '#') return;
  while (!isAtLineEnd()) {
    if (isControl(peek())) failHere("a comment without control characters");
    ++at_;
  }
}

/// Blanks, comments and line ends, as many as there are.
void TomlParser::skipBlankLines() {
  for (;;) {
    skipBlanks();
    skipComment();
    if (isAtEnd() || !isAtLineEnd()) return;
    at_ += peek() == '\n' ? 1 : 2;
  }
}

void TomlParser::expectLineEnd() {
  skipBlanks();
  skipComment();
  if (!isAtLineEnd()) failHere("the end of the line");
}

/// [a.b] and [[a.b]].
void TomlParser::parseHeader(Node* root) {
  const Place place = here();
  const bool isArray = peek(1) == '[';
  at_ += isArray ? 2 : 1;
  skipBlanks();
  const std::vector<KeyPart> key = parseKey();
  const std::string_view close = isArray ? "]]" : "]";
  if (!startsWith(close)) failHere(io::quoted(close));
  at_ += close.size();

  Node* parent = openTable(root, key);
  const KeyPart& last = key.back();
  const bool isNew = parent->members.find(last.text) == parent->members.end();
  Node::Entry& entry = parent->members[last.text];
  if (isNew) {
    entry.place = last.place;
    entry.node = std::make_unique<Node>();
    entry.node->isArray = isArray;
  }
  Node* node = entry.node.get();
  const bool mayGoOn =
      node != nullptr && node->isArray == isArray && (isArray || node->origin == Origin::Implicit);
  if (!mayGoOn)
    fail(last.place, "found " + io::quoted(last.text) + " twice, first at " + at(entry.place));
  if (isArray) {
    if (isNew) node->place = place;
    node->items.push_back(std::make_unique<Node>());
    node = node->items.back().get();
  }
  node->place = place;
  node->origin = Origin::Header;
  table_ = node;
}

/// The table that holds the last part of a header's key.
Node* TomlParser::openTable(Node* root, const std::vector<KeyPart>& key) {
  Node* table = root;
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    table = step(table, key[i], Origin::Implicit);
    if (table->isArray) table = table->items.back().get();
  }
  return table;
}

/// The table or array of tables called `part` in `table`, made as `origin` where there is none.
Node* TomlParser::step(Node* table, const KeyPart& part, Origin origin) {
  const auto found = table->members.find(part.text);
  if (found == table->members.end()) {
    Node::Entry& entry = table->members[part.text];
    entry.place = part.place;
    entry.node = std::make_unique<Node>();
    entry.node->place = part.place;
    entry.node->origin = origin;
    return entry.node.get();
  }
  if (found->second.node == nullptr) {
    fail(part.place, "found " + io::quoted(part.text) + ", which was completed at " +
                         at(found->second.place) + ", expected a table to add to");
  }
  return found->second.node.get();
}

/// a.b = 1.
void TomlParser::parseKeyValue(Node* table) {
  const std::vector<KeyPart> key = parseKey();
  if (peek() != '=') failHere("'=' after a key");
  ++at_;
  skipBlanks();
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    table = step(table, key[i], Origin::Dotted);
    if (table->isArray || table->origin != Origin::Dotted) {
      fail(key[i].place, "found " + io::quoted(key[i].text) +
                             ", which has a header of its own, expected its keys below that");
    }
  }
  const KeyPart& last = key.back();
  const auto other = table->members.find(last.text);
  if (other != table->members.end()) {
    fail(last.place,
         "found the key " + io::quoted(last.text) + " twice, first at " + at(other->second.place));
  }
  Value value = parseValue();
  table->members[last.text] = {last.place, nullptr, std::move(value)};
}

std::vector<KeyPart> TomlParser::parseKey() {
  std::vector<KeyPart> key;
  for (;;) {
    key.push_back(parseKeyPart());
    skipBlanks();
    if (peek() != '.') return key;
    if (key.size() >= kMaxKeyParts) {
      fail(here(), "found a key of more than " + std::to_string(kMaxKeyParts) +
                       " parts, expected less nesting");
    }
    ++at_;
    skipBlanks();
  }
}

KeyPart TomlParser::parseKeyPart() {
  const Place place = here();
  if (startsWith("\"\"\"") || startsWith("'''")) failHere("a key on one line");
  if (peek() == '"' || peek() == '\'') return {parseString(), place};
  std::string text;
  for (; isBareKey(peek()); ++at_) text += peek();
  if (text.empty()) failHere("a key");
  return {text, place};
}

Value TomlParser::parseValue() {
  const Place place = here();
  if (++nesting_ > kMaxNesting)
    fail(place, "found values nested deeper than " + std::to_string(kMaxNesting));
  Value out;
  if (peek() == '[') {
    out.data = parseArray();
  } else if (peek() == '{') {
    out = parseInlineTable();
  } else if (peek() == '"' || peek() == '\'') {
    out.data = parseString();
  } else {
    out = parseScalar(place);
  }
  out.place = place;
  --nesting_;
  return out;
}

Value::Array TomlParser::parseArray() {
  Value::Array items;
  ++at_;
  for (;;) {
    skipBlankLines();
    if (peek() == ']') break;
    items.push_back(parseValue());
    skipBlankLines();
    if (peek() == ']') break;
    if (peek() != ',') failHere("',' or ']'");
    ++at_;
  }
  ++at_;
  return items;
}

Value TomlParser::parseInlineTable() {
  Node table;
  ++at_;
  skipBlanks();
  if (peek() == '}') {
    ++at_;
    return toValue(table);
  }
  for (;;) {
    parseKeyValue(&table);
    skipBlanks();
    if (peek() == '}') break;
    if (peek() != ',') failHere("',' or '}'");
    ++at_;
    skipBlanks();
  }
  ++at_;
  return toValue(table);
}

Value TomlParser::parseScalar(Place place) {
  const std::string_view token = takeToken();
  if (token.empty()) failHere("a value");
  Value out;
  if (token == "true" || token == "false") {
    out.data = token == "true";
    return out;
  }
  const bool isTime = token.size() > 2 && isDigit(token[0]) && isDigit(token[1]) &&
                      (token[2] == ':' || (token.size() > 4 && token[4] == '-' &&
                                           isDigit(token[2]) && isDigit(token[3])));
  if (isTime) return out;  // stays the monostate
  std::optional<Value> number = readNumber(token, place);
  if (!number) {
    fail(place, "found " + io::quoted(token) + ", expected a value such as 1.5, \"text\" or true");
  }
  return std::move(*number);
}

/// All that may be part of a number, a date or a word.
std::string_view TomlParser::takeToken() {
  const std::size_t begin = at_;
  const auto isPart = [](char c) { return isBareKey(c) || c == '+' || c == '.' || c == ':'; };
  while (isPart(peek())) ++at_;
  // A date and a time may have a blank between them.
  if (at_ - begin == 10 && text_[begin + 4] == '-' && peek() == ' ' && isDigit(peek(1))) {
    ++at_;
    while (isPart(peek())) ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// The digits without underscores; nothing when one is not between two digits.
std::optional<std::string> withoutUnderscores(std::string_view token, bool (*isAnyDigit)(char)) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '_') {
      out += token[i];
    } else if (i == 0 || i + 1 == token.size() || !isAnyDigit(token[i - 1]) ||
               !isAnyDigit(token[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

bool isAllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isDigit);
}

/// An integer part: digits without a leading zero.
bool isPlainInteger(std::string_view text) {
  return isAllDigits(text) && (text.size() == 1 || text[0] != '0');
}

std::optional<Value> TomlParser::readNumber(std::string_view token, Place place) const {
  if (std::optional<Value> integer = readInteger(token, place)) return integer;
  return readFloat(token, place);
}

std::optional<Value> TomlParser::readInteger(std::string_view token, Place place) const {
  int base = 10;
  std::string_view digits = token;
  if (token.size() > 2 && token[0] == '0' && !isDigit(token[1])) {
    base = token[1] == 'x' ? 16 : token[1] == 'o' ? 8 : token[1] == 'b' ? 2 : 0;
    if (base == 0) return std::nullopt;
    digits.remove_prefix(2);
  } else if (digits[0] == '+') {
    digits.remove_prefix(1);
  }
  const std::optional<std::string> plain =
      withoutUnderscores(digits, base == 16 ? isHexDigit : isDigit);
  if (!plain || plain->empty()) return std::nullopt;
  const bool isNegative = base == 10 && plain->front() == '-' && token[0] == '-';
  if (base == 10 && !isPlainInteger(std::string_view(*plain).substr(isNegative ? 1 : 0)))
    return std::nullopt;
  if (base != 10 && plain->front() == '-') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(plain->data(), plain->data() + plain->size(), value, base);
  if (end != plain->data() + plain->size() || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc::result_out_of_range)
    fail(place, "found " + io::quoted(token) + ", expected an integer of at most 64 bits");
  Value out;
  out.data = value;
  return out;
}

std::optional<Value> TomlParser::readFloat(std::string_view token, Place place) const {
  std::string_view rest = token;
  const bool isNegative = rest[0] == '-';
  if (rest[0] == '-' || rest[0] == '+') rest.remove_prefix(1);
  Value out;
  if (rest == "inf" || rest == "nan") {
    const double value = rest == "inf" ? HUGE_VAL : std::nan("");
    out.data = isNegative ? -value : value;
    return out;
  }
  const std::optional<std::string> plain = withoutUnderscores(rest, isDigit);
  if (!plain) return std::nullopt;
  const std::string_view number = *plain;
  const std::size_t e = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, e);
  const std::size_t dot = mantissa.find('.');
  std::string_view exponent = e == std::string_view::npos ? "0" : number.substr(e + 1);
  const bool isSmall = !exponent.empty() && exponent[0] == '-';
  if (isSmall || (!exponent.empty() && exponent[0] == '+')) exponent.remove_prefix(1);
  const bool isFloat = isPlainInteger(mantissa.substr(0, dot)) && isAllDigits(exponent) &&
                       (dot == std::string_view::npos || isAllDigits(mantissa.substr(dot + 1)));
  if (!isFloat) return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
  // Out of range is too large or, with a negative exponent or many zeros, too small.
  const bool isZero = mantissa.find_first_of("123456789") == std::string_view::npos;
  const bool isOut = result.ec == std::errc::result_out_of_range || !std::isfinite(value);
  const bool isBelowOne = isSmall || mantissa[0] == '0';
  if (isOut && !isBelowOne)
    fail(place, "found " + io::quoted(token) + ", expected a number within the range of a double");
  if (isOut) value = 0;
  out.hasUnderflowed = value == 0 && !isZero;
  out.data = isNegative ? -value : value;
  return out;
}

/// A string of any of the four kinds.
std::string TomlParser::parseString() {
  const Place place = here();
  const char quote = peek();
  std::string out;
  if (peek(1) == quote && peek(2) == quote) {
    at_ += 3;
    parseLongString(quote, &out);
    return out;
  }
  for (++at_; peek() != quote || isAtEnd();) {
    if (isAtLineEnd()) {
      fail(here(),
           "found " + found() + ", expected the end of the string that begins at " + at(place));
    }
    if (isControl(peek())) failHere("a string without control characters");
    if (quote == '"' && peek() == '\\') {
      parseEscape(&out);
    } else {
      out += text_[at_++];
    }
  }
  ++at_;
  return out;
}

/// What follows three quotes, up to and with the three that end it.
void TomlParser::parseLongString(char quote, std::string* out) {
  const Place place = here();
  if (!isAtEnd() && isAtLineEnd()) at_ += peek() == '\n' ? 1 : 2;
  for (;;) {
    if (isAtEnd()) {
      failHere("the end of the string that begins at " + at(place));
    } else if (peek() == quote && peek(1) == quote && peek(2) == quote) {
      at_ += 3;
      // Up to two quotes may stand directly before the three that end it.
      for (int i = 0; i < 2 && peek() == quote; ++i, ++at_) *out += quote;
      return;
    } else if (quote == '"' && peek() == '\\') {
      std::size_t after = at_ + 1;
      while (after < text_.size() && (text_[after] == ' ' || text_[after] == '\t')) ++after;
      const bool endsLine = text_.substr(after, 1) == "\n" || text_.substr(after, 2) == "\r\n";
      if (!endsLine) {
        parseEscape(out);
        continue;
      }
      at_ = after;
      while (peek() == ' ' || peek() == '\t' || (!isAtEnd() && isAtLineEnd())) ++at_;
    } else if (isControl(peek()) && !isAtLineEnd()) {
      failHere("a string without control characters");
    } else {
      *out += text_[at_++];
    }
  }
}

void appendUtf8(std::uint32_t code, std::string* out) {
  const auto byte = [&](std::uint32_t value) { *out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | (code >> 6)), byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | (code >> 12)), byte(0x80 | ((code >> 6) & 0x3f)), byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | (code >> 18)), byte(0x80 | ((code >> 12) & 0x3f));
    byte(0x80 | ((code >> 6) & 0x3f)), byte(0x80 | (code & 0x3f));
  }
}

void TomlParser::parseEscape(std::string* out) {
  const Place place = here();
  constexpr std::string_view kNames = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
  const char name = peek(1);
  if (const std::size_t i = kNames.find(name); name != '\0' && i != std::string_view::npos) {
    *out += kMeanings[i];
    at_ += 2;
    return;
  }
  const std::size_t length = name == 'u' ? 4 : name == 'U' ? 8 : 0;
  const std::string_view digits = text_.substr(std::min(at_ + 2, text_.size()), length);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (length == 0 || digits.size() != length || error != std::errc() ||
      end != digits.data() + digits.size() || code > 0x10ffff ||
      (code >= 0xd800 && code <= 0xdfff)) {
    fail(place, "found " + io::quoted(text_.substr(at_, 2 + length)) +
                    ", expected an escape such as \\n, \\\\ or \\u00e4");
  }
  appendUtf8(code, out);
  at_ += 2 + length;
}

bool isNumber(const Value& value) {
  return std::holds_alternative<std::int64_t>(value.data) ||
         std::holds_alternative<double>(value.data);
}

std::string describeArray(const Value::Array& items) {
  constexpr std::size_t kMaxShown = 6;
  if (items.size() > kMaxShown || !std::all_of(items.begin(), items.end(), isNumber))
    return "an array of " + std::to_string(items.size()) + " values";
  std::string out = "[";
  for (const Value& item : items)
    out.append(&item == &items.front() ? "" : ", ").append(describe(item));
  return out + "]";
}

}  // namespace

Value parseToml(std::string_view text) { return TomlParser(text).parse(); }

std::string describe(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number).ptr;
    return {digits.data(), end};
  }
  if (const auto* text = value.string()) return io::quoted(*text);
  if (const auto* items = value.array()) return describeArray(*items);
  if (value.table() != nullptr) return "a table";
  return "a date or time";
}

}  // namespace tangere::io
