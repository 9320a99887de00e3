// SPDX-License-Identifier: Apache-2.0
#include "io/xml_document.hpp"

#include "io/place_counter.hpp"

#include "io/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace tangere::io {

namespace {

std::string at(Place place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// Letters of other alphabets all count: no file is refused for the spelling of a name.
bool isNameStart(char c) {
  return isLetter(c) || c == '_' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}
bool isNameCharacter(char c) {
  return isNameStart(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}
bool isControl(char c) { return (static_cast<unsigned char>(c) < ' ' && !isSpace(c)) || c == 0x7f; }

void appendUtf8(std::uint32_t code, std::string* out) {
  const auto put = [&](std::uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0u | (code >> 6));
    put(0x80u | (code & 0x3fu));
  } else if (code < 0x10000) {
    put(0xe0u | (code >> 12));
    put(0x80u | ((code >> 6) & 0x3fu));
    put(0x80u | (code & 0x3fu));
  } else {
    put(0xf0u | (code >> 18));
    put(0x80u | ((code >> 12) & 0x3fu));
    put(0x80u | ((code >> 6) & 0x3fu));
    put(0x80u | (code & 0x3fu));
  }
}

/// An element whose end has not been seen. Its text may begin and end with blanks.
struct OpenElement {
  XmlElement element;
  /// Where the text was last not blank: what CDATA gives is kept as it is.
  std::size_t textEnd = 0;
};

class XmlParser {
 public:
  XmlParser(std::string_view text, std::string file, const XmlLimits& limits)
      : text_(text), file_(std::make_shared<const std::string>(std::move(file))), limits_(limits) {}

  XmlElement parse();

 private:
  [[nodiscard]] bool isAtEnd() const { return at_ >= text_.size(); }
  /// The character `ahead` of here; NUL at the end, which no text contains.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool startsWith(std::string_view word) const {
    return text_.substr(at_, word.size()) == word;
  }
  Place here();
  [[noreturn]] void fail(Place place, const std::string& message) const {
    throw XmlError(place, message);
  }
  [[noreturn]] void failHere(const std::string& expected);
  [[nodiscard]] std::string found() const;

  void requireText() const;
  void skipBlanks();
  void skipTo(std::string_view end, const char* what);
  void parseDeclaration();
  /// What may stand outside the root element and is no element.
  void skipOutside();
  void parseMarkup();
  void parseOpeningTag();
  void parseClosingTag();
  void close();
  void parseAttribute(XmlElement* element);
  void parseCharacters();
  void parseCdata();
  std::string parseName(const char* what);
  void parseReference(std::string* out);

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  XmlLimits limits_;
  std::size_t at_ = 0;
  std::size_t num_elements_ = 0;
  std::vector<OpenElement> open_;
  XmlElement root_;
  bool has_root_ = false;
  // The place of some byte before here, from which here() counts on.
  PlaceCounter places_;
};

XmlElement XmlParser::parse() {
  requireText();
  if (startsWith("\xef\xbb\xbf")) places_.skipTo(at_ = 3);
  parseDeclaration();
  for (skipOutside(); !has_root_ || !isAtEnd(); skipOutside()) {
    if (isAtEnd()) failHere("an element");
    if (has_root_) failHere("nothing after the root element");
    if (peek() != '<') failHere("'<'");
    parseOpeningTag();
    while (!open_.empty()) {
      if (isAtEnd()) {
        const XmlElement& element = open_.back().element;
        fail(here(), "found the end of the file, expected " +
                         io::quoted("</" + element.name + ">") + " for the element at " +
                         at(element.place));
      }
      if (peek() == '<') {
        parseMarkup();
      } else {
        parseCharacters();
      }
    }
  }
  return std::move(root_);
}

Place XmlParser::here() { return places_.at(text_, at_); }

void XmlParser::failHere(const std::string& expected) {
  fail(here(), "found " + found() + ", expected " + expected);
}

std::string XmlParser::found() const {
  if (isAtEnd()) return "the end of the file";
  if (peek() == '\n' || peek() == '\r') return "the end of the line";
  return io::describeByte(text_[at_]);
}

/// Throws XmlError unless the bytes are UTF-8 text with something in it.
void XmlParser::requireText() const {
  if (text_.size() > limits_.maxBytes) {
    throw XmlError({},
                   "found " + std::to_string(text_.size()) + " bytes, the limit is " +
                       std::to_string(limits_.maxBytes),
                   true);
  }
  if (startsWith("\xff\xfe") || startsWith("\xfe\xff"))
    fail({1, 1}, "found UTF-16 (a byte order mark at byte 0), expected UTF-8");
  if (const std::size_t bad = findInvalidUtf8(text_); bad != std::string_view::npos) {
    fail(placeOfByte(text_, bad),
         std::string(text_[bad] == '\0' ? "found a NUL byte" : "found a byte not of UTF-8") +
             " at byte " + std::to_string(bad) + ", expected UTF-8 text");
  }
  const std::size_t begin = startsWith("\xef\xbb\xbf") ? 3 : 0;
  if (text_.find_first_not_of(" \t\r\n", begin) == std::string_view::npos)
    fail({}, "no scene: the file is empty");
}

void XmlParser::skipBlanks() {
  while (isSpace(peek())) ++at_;
}

/// From the beginning of something to just after its `end`.
void XmlParser::skipTo(std::string_view end, const char* what) {
  const Place place = here();
  const std::size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) {
    at_ = text_.size();
    fail(here(), "found the end of the file, expected " + io::quoted(end) + " for the " + what +
                     " at " + at(place));
  }
  at_ = found + end.size();
}

/// <?xml version="1.0" encoding="utf-8"?>: only its encoding matters, and only beyond ASCII.
void XmlParser::parseDeclaration() {
  if (!startsWith("<?xml") || !isSpace(peek(5))) return;
  const Place place = here();
  const std::size_t begin = at_;
  skipTo("?>", "declaration");
  std::string declaration(text_.substr(begin, at_ - begin));
  std::transform(declaration.begin(), declaration.end(), declaration.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool isUtf8 = declaration.find("encoding") == std::string::npos ||
                      declaration.find("utf-8") != std::string::npos ||
                      declaration.find("utf8") != std::string::npos;
  const bool isAscii = std::none_of(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(),
                                    [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (!isUtf8 && !isAscii)
    fail(place, "found an encoding other than UTF-8, expected UTF-8: save the file as UTF-8");
}

void XmlParser::skipOutside() {
  for (;;) {
    skipBlanks();
    if (startsWith("<!--")) {
      skipTo("-->", "comment");
    } else if (startsWith("<?")) {
      skipTo("?>", "processing instruction");
    } else if (startsWith("<!")) {
      failHere(
          "an element: document types and entities (<!DOCTYPE, <!ENTITY) are refused, nothing in a "
          "file is expanded or fetched");
    } else {
      return;
    }
  }
}

/// Whatever begins with "<" inside an element.
void XmlParser::parseMarkup() {
  if (startsWith("<!--")) {
    skipTo("-->", "comment");
  } else if (startsWith("<![CDATA[")) {
    parseCdata();
  } else if (startsWith("<!")) {
    failHere(
        "an element: document types and entities (<!DOCTYPE, <!ENTITY) are refused, nothing in a "
        "file is expanded or fetched");
  } else if (startsWith("<?")) {
    skipTo("?>", "processing instruction");
  } else if (startsWith("</")) {
    parseClosingTag();
  } else {
    parseOpeningTag();
  }
}

void XmlParser::parseOpeningTag() {
  const Place place = here();
  if (static_cast<int>(open_.size()) >= limits_.maxDepth) {
    fail(place, "found elements inside each other deeper than " + std::to_string(limits_.maxDepth) +
                    ", the limit (nesting)");
  }
  if (++num_elements_ > limits_.maxElements) {
    throw XmlError(
        place, "found more than " + std::to_string(limits_.maxElements) + " elements, the limit",
        true);
  }
  ++at_;
  OpenElement open;
  open.element.place = place;
  open.element.file = file_;
  open.element.name = parseName("the name of an element");
  for (;;) {
    const bool hasBlank = isSpace(peek());
    skipBlanks();
    if (startsWith("/>")) {
      at_ += 2;
      open_.push_back(std::move(open));
      close();
      return;
    }
    if (peek() == '>') {
      ++at_;
      open_.push_back(std::move(open));
      return;
    }
    if (!hasBlank || !isNameStart(peek())) failHere("an attribute, '>' or '/>'");
    parseAttribute(&open.element);
  }
}

void XmlParser::parseClosingTag() {
  const Place place = here();
  at_ += 2;
  const std::string name = parseName("the name of an element");
  skipBlanks();
  const XmlElement& element = open_.back().element;
  if (name != element.name) {
    fail(place, "found " + io::quoted("</" + name + ">") + ", expected " +
                    io::quoted("</" + element.name + ">") + " for the element at " +
                    at(element.place));
  }
  if (peek() != '>') failHere("'>'");
  ++at_;
  close();
}

/// Moves the innermost open element to where it belongs.
void XmlParser::close() {
  OpenElement open = std::move(open_.back());
  open_.pop_back();
  open.element.text.resize(open.textEnd);
  open.element.text.shrink_to_fit();
  open.element.children.shrink_to_fit();
  open.element.attributes.shrink_to_fit();
  if (open_.empty()) {
    root_ = std::move(open.element);
    has_root_ = true;
  } else {
    open_.back().element.children.push_back(std::move(open.element));
  }
}

void XmlParser::parseAttribute(XmlElement* element) {
  XmlAttribute out;
  out.place = here();
  out.name = parseName("the name of an attribute");
  for (const XmlAttribute& other : element->attributes) {
    if (other.name == out.name)
      fail(out.place,
           "found the attribute " + io::quoted(out.name) + " twice, first at " + at(other.place));
  }
  if (element->attributes.size() >= limits_.maxAttributes) {
    throw XmlError(out.place,
                   "found more than " + std::to_string(limits_.maxAttributes) +
                       " attributes in one element, the limit",
                   true);
  }
  skipBlanks();
  if (peek() != '=') failHere("'=' after the attribute " + io::quoted(out.name));
  ++at_;
  skipBlanks();
  const char quote = peek();
  if (quote != '"' && quote != '\'') failHere("a value in quotes");
  ++at_;
  out.valuePlace = here();
  while (peek() != quote) {
    const char c = peek();
    if (isAtEnd()) failHere("the quote that ends the value at " + at(out.valuePlace));
    if (c == '<') failHere("a value without '<' (write &lt;), or the quote that ends it");
    if (isControl(c)) failHere("text without control characters");
    if (c == '&') {
      parseReference(&out.value);
      continue;
    }
    if (!(c == '\r' && peek(1) == '\n')) out.value += isSpace(c) ? ' ' : c;
    ++at_;
  }
  ++at_;
  element->attributes.push_back(std::move(out));
}

/// Text up to the next "<".
void XmlParser::parseCharacters() {
  OpenElement& open = open_.back();
  std::string& text = open.element.text;
  while (!isAtEnd() && peek() != '<') {
    const char c = peek();
    if (isControl(c)) failHere("text without control characters");
    if (text.empty() && isSpace(c)) {
      ++at_;
      continue;
    }
    if (text.empty()) open.element.textPlace = here();
    if (c == '&') {
      parseReference(&text);
      open.textEnd = text.size();
      continue;
    }
    if (!(c == '\r' && peek(1) == '\n')) text += c;
    if (!isSpace(c)) open.textEnd = text.size();
    ++at_;
  }
}

void XmlParser::parseCdata() {
  OpenElement& open = open_.back();
  if (open.element.text.empty()) open.element.textPlace = here();
  constexpr std::size_t kOpening = 9, kClosing = 3;
  const std::size_t begin = at_ + kOpening;
  skipTo("]]>", "CDATA section");
  const std::string_view content = text_.substr(begin, at_ - kClosing - begin);
  if (std::any_of(content.begin(), content.end(), isControl))
    fail(open.element.textPlace, "found a control character in a CDATA section");
  open.element.text.append(content);
  open.textEnd = open.element.text.size();
}

std::string XmlParser::parseName(const char* what) {
  if (!isNameStart(peek())) failHere(what);
  const std::size_t begin = at_;
  while (isNameCharacter(peek())) ++at_;
  constexpr std::size_t kMaxName = 256;
  if (at_ - begin > kMaxName) {
    at_ = begin;
    failHere("a name of at most 256 characters");
  }
  return std::string(text_.substr(begin, at_ - begin));
}

/// &amp; and its four friends, &#65; and &#x41;.
void XmlParser::parseReference(std::string* out) {
  constexpr std::size_t kLongest = 12;
  const Place place = here();
  const std::size_t length = text_.substr(at_, kLongest).find(';');
  if (length == std::string_view::npos)
    fail(place, "found '&' that begins no reference, expected &amp; for the character itself");
  const std::string_view name = text_.substr(at_ + 1, length - 1);
  constexpr std::pair<std::string_view, char> kPredefined[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [word, character] : kPredefined) {
    if (name != word) continue;
    *out += character;
    at_ += length + 1;
    return;
  }
  if (name.empty() || name[0] != '#') {
    fail(place, "found the entity " + io::quoted(name) +
                    ", expected amp, lt, gt, quot, apos or a number: entities are not expanded");
  }
  const bool isHexadecimal = name.size() > 1 && name[1] == 'x';
  const std::string_view digits = name.substr(isHexadecimal ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, isHexadecimal ? 16 : 10);
  const bool isNumber =
      !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
  const bool isSurrogate = code >= 0xd800 && code <= 0xdfff;
  const bool isAllowed = code >= ' ' || code == '\t' || code == '\n' || code == '\r';
  if (!isNumber || !isAllowed || code == 0x7f || isSurrogate || code > 0x10ffff)
    fail(place, "found the reference " + io::quoted(name) + ", expected that of a character");
  appendUtf8(code, out);
  at_ += length + 1;
}

}  // namespace

const XmlAttribute* XmlElement::attribute(std::string_view attributeName) const {
  for (const XmlAttribute& candidate : attributes) {
    if (candidate.name != attributeName) continue;
    candidate.isRead = true;
    return &candidate;
  }
  return nullptr;
}

const XmlElement* XmlElement::child(std::string_view childName) const {
  for (const XmlElement& candidate : children) {
    if (candidate.name != childName) continue;
    candidate.isRead = true;
    return &candidate;
  }
  return nullptr;
}

XmlElement parseXml(std::string_view text, std::string file, const XmlLimits& limits) {
  return XmlParser(text, std::move(file), limits).parse();
}

void forEachUnread(
    const XmlElement& root,
    const std::function<void(const XmlElement& element, const XmlAttribute* attribute)>& report) {
  std::vector<const XmlElement*> pending{&root};
  while (!pending.empty()) {
    const XmlElement& element = *pending.back();
    pending.pop_back();
    if (!element.isRead) {
      report(element, nullptr);
      continue;
    }
    for (const XmlAttribute& attribute : element.attributes) {
      if (!attribute.isRead) report(element, &attribute);
    }
    for (auto child = element.children.rbegin(); child != element.children.rend(); ++child)
      pending.push_back(&*child);
  }
}

}  // namespace tangere::io
