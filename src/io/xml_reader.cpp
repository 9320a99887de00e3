// SPDX-License-Identifier: Apache-2.0
#include "io/xml_reader.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace tangere::io {

namespace {

constexpr std::size_t kMaxCompared = 64;  // characters of a wrong name that are compared

void addError(ImportNotes& notes, const XmlText& text, const std::string& message) {
  notes.addIn(*text.file, ImportNote::Kind::Error, text.place,
              (text.who.empty() ? "" : text.who + ": ") + message);
}

std::string countOf(std::size_t least, std::size_t most) {
  if (least == most) return std::to_string(least) + (least == 1 ? " number" : " numbers");
  return std::to_string(least) + " to " + std::to_string(most) + " numbers";
}

/// A number of a text, and what is wrong with it otherwise.
struct ParsedNumber {
  Real value = 0;
  bool isNumber = false;
  bool hasUnderflowed = false;
};

ParsedNumber parseWord(std::string_view word) {
  // from_chars takes no plus sign; "+-1" is no number either way.
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  ParsedNumber out;
  const char* last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, out.value);
  if (end != last) return out;
  if (error == std::errc::result_out_of_range) {
    // Too small or too large: an exponent below zero makes it small, whatever the digits.
    const std::size_t exponent = word.find_first_of("eE");
    const bool isSmall = exponent != std::string_view::npos
                             ? word.substr(exponent + 1, 1) == "-"
                             : word.find('.') != std::string_view::npos &&
                                   word.find_first_of("123456789") > word.find('.');
    out.value = 0;
    out.isNumber = out.hasUnderflowed = isSmall;
    return out;
  }
  out.isNumber = error == std::errc();
  return out;
}

}  // namespace

std::vector<std::string_view> splitWords(std::string_view text) {
  std::vector<std::string_view> out;
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<std::vector<Real>> readNumbers(ImportNotes& notes, const XmlText& text,
                                             std::size_t least, std::size_t most,
                                             const NumberRule& rule) {
  const std::vector<std::string_view> words = splitWords(text.text);
  if (words.size() < least || words.size() > most) {
    addError(notes, text,
             "found " +
                 (words.empty() ? std::string("nothing") : countOf(words.size(), words.size())) +
                 ", expected " + countOf(least, most) + ": " + rule.expected);
    return std::nullopt;
  }
  std::vector<Real> out;
  out.reserve(words.size());
  for (const std::string_view word : words) {
    const ParsedNumber number = parseWord(word);
    const Real value = number.value;
    // Written so that NaN fails.
    const bool isInside = number.isNumber &&
                          (rule.aboveLower ? value > rule.lower : value >= rule.lower) &&
                          value <= rule.upper;
    if (!isInside) {
      addError(notes, text, "found " + io::quoted(word) + ", expected " + rule.expected);
      return std::nullopt;
    }
    if (number.hasUnderflowed) {
      notes.addIn(*text.file, ImportNote::Kind::Warning, text.place,
                  (text.who.empty() ? "" : text.who + ": ") +
                      "a number too small for a double was read as 0");
    }
    out.push_back(value);
  }
  return out;
}

std::optional<Real> readNumber(ImportNotes& notes, const XmlText& text, const NumberRule& rule) {
  const auto numbers = readNumbers(notes, text, 1, 1, rule);
  if (!numbers) return std::nullopt;
  return numbers->front();
}

std::optional<Vec3> readVec3(ImportNotes& notes, const XmlText& text, const NumberRule& rule) {
  const auto numbers = readNumbers(notes, text, 3, 3, rule);
  if (!numbers) return std::nullopt;
  return Vec3{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

std::optional<bool> readBoolean(ImportNotes& notes, const XmlText& text) {
  const std::vector<std::string_view> words = splitWords(text.text);
  if (words.size() == 1 && (words[0] == "true" || words[0] == "1")) return true;
  if (words.size() == 1 && (words[0] == "false" || words[0] == "0")) return false;
  addError(notes, text, "found " + io::quoted(text.text) + ", expected 'true' or 'false'");
  return std::nullopt;
}

std::optional<std::int64_t> readInteger(ImportNotes& notes, const XmlText& text, std::int64_t lower,
                                        std::int64_t upper, const char* expected) {
  const std::vector<std::string_view> words = splitWords(text.text);
  std::int64_t value = 0;
  bool isInteger = words.size() == 1;
  if (isInteger) {
    std::string_view word = words[0];
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    isInteger = error == std::errc() && end == word.data() + word.size();
  }
  if (isInteger && value >= lower && value <= upper) return value;
  addError(notes, text,
           "found " + io::quoted(text.text) + ", expected " + expected + " from " +
               std::to_string(lower) + " to " + std::to_string(upper));
  return std::nullopt;
}

std::optional<int> readWord(ImportNotes& notes, const XmlText& text,
                            std::span<const std::string_view> words) {
  const std::vector<std::string_view> found = splitWords(text.text);
  if (found.size() == 1) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (found[0] == words[i]) return static_cast<int>(i);
    }
  }
  std::string expected;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < words.size(); ++i) {
    known.emplace_back(words[i]);
    expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + io::quoted(words[i]);
  }
  addError(notes, text,
           "found " + io::quoted(text.text) + ", expected " + expected +
               nearNames(std::string(text.text.substr(0, kMaxCompared)), known));
  return std::nullopt;
}

XmlReader::XmlReader(ImportNotes& notes, const XmlElement& element, std::string who)
    : notes_(notes), element_(element), who_(std::move(who)) {
  element.isRead = true;
}

const XmlAttribute* XmlReader::find(std::string_view name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.emplace_back(name);
  return element_.attribute(name);
}

Place XmlReader::placeOf(std::string_view name) {
  const XmlAttribute* attribute = find(name);
  return attribute != nullptr ? attribute->valuePlace : element_.place;
}

XmlText XmlReader::textOf(const XmlAttribute& attribute) const {
  return {attribute.value, attribute.valuePlace, element_.file.get(),
          (who_.empty() ? "" : who_ + ": ") + attribute.name};
}

std::optional<std::string> XmlReader::string(std::string_view name) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return attribute->value;
}

std::optional<Real> XmlReader::number(std::string_view name, const NumberRule& rule) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return readNumber(notes_, textOf(*attribute), rule);
}

std::optional<std::vector<Real>> XmlReader::numbers(std::string_view name, std::size_t least,
                                                    std::size_t most, const NumberRule& rule) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return readNumbers(notes_, textOf(*attribute), least, most, rule);
}

std::optional<Vec3> XmlReader::vec3(std::string_view name, const NumberRule& rule) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return readVec3(notes_, textOf(*attribute), rule);
}

std::optional<bool> XmlReader::boolean(std::string_view name) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return readBoolean(notes_, textOf(*attribute));
}

std::optional<std::int64_t> XmlReader::integer(std::string_view name, std::int64_t lower,
                                               std::int64_t upper, const char* expected) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return readInteger(notes_, textOf(*attribute), lower, upper, expected);
}

std::optional<int> XmlReader::word(std::string_view name, std::span<const std::string_view> words) {
  const XmlAttribute* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return readWord(notes_, textOf(*attribute), words);
}

void XmlReader::ignore(std::initializer_list<std::string_view> names, const std::string& why) {
  for (const std::string_view name : names) {
    if (const XmlAttribute* attribute = find(name))
      note(ImportNote::Kind::Ignored, attribute->place, std::string(name) + ": " + why);
  }
}

void XmlReader::change(std::string_view name, const std::string& what) {
  if (const XmlAttribute* attribute = find(name))
    note(ImportNote::Kind::Changed, attribute->place, std::string(name) + ": " + what);
}

void XmlReader::refuse(std::string_view name, const std::string& why) {
  if (const XmlAttribute* attribute = find(name))
    error(attribute->place, std::string(name) + ": " + why);
}

void XmlReader::allow(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) (void)find(name);
}

void XmlReader::finish() {
  for (const XmlAttribute& attribute : element_.attributes) {
    if (attribute.isRead) continue;
    attribute.isRead = true;
    const std::string name = attribute.name.substr(0, kMaxCompared);
    const std::string near = nearNames(name, known_);
    if (notes_.passesUnknown() && nearNames(name, absent()).empty()) {
      notes_.addUnknown(
          *element_.file, attribute.place,
          "attribute " + io::quoted(name) + " of <" + element_.name.substr(0, kMaxCompared) + ">");
      continue;
    }
    error(attribute.place, "found the attribute " + io::quoted(attribute.name) +
                               ", expected one that <" + element_.name.substr(0, kMaxCompared) +
                               "> has" + near);
  }
}

std::vector<std::string> XmlReader::absent() const {
  std::vector<std::string> out;
  std::copy_if(known_.begin(), known_.end(), std::back_inserter(out),
               [&](const std::string& name) { return element_.attribute(name) == nullptr; });
  return out;
}

void XmlReader::note(ImportNote::Kind kind, Place place, const std::string& message) {
  notes_.addIn(*element_.file, kind, place, (who_.empty() ? "" : who_ + ": ") + message);
}

void XmlReader::error(Place place, const std::string& message) {
  note(ImportNote::Kind::Error, place, message);
}

void XmlReader::limit(Place place, const std::string& message) {
  notes_.limitIn(*element_.file, place, (who_.empty() ? "" : who_ + ": ") + message);
}

void XmlReader::errorFound(std::string_view name, const std::string& expected) {
  const XmlAttribute* attribute = find(name);
  error(placeOf(name), std::string(name) + ": found " +
                           (attribute != nullptr ? io::quoted(attribute->value) : "nothing") +
                           ", expected " + expected);
}

std::string callOf(const XmlElement& element) {
  std::string out = element.name;
  const XmlAttribute* name = element.attribute("name");
  if (name != nullptr) out.append(" ").append(io::quoted(name->value));
  return out;
}

void refuseChild(ImportNotes& notes, const XmlElement& child, const std::string& parent,
                 const std::vector<std::string>& known) {
  child.isRead = true;
  const std::string name = child.name.substr(0, kMaxCompared);
  if (notes.passesUnknown() && nearNames(name, known).empty()) {
    notes.addUnknown(*child.file, child.place,
                     "element <" + name + "> in " + parent.substr(0, parent.find(' ')));
    return;
  }
  notes.addIn(*child.file, ImportNote::Kind::Error, child.place,
              parent + ": found the element " + io::quoted(child.name) +
                  ", expected one that belongs here" + candidates(name, known));
}

}  // namespace tangere::io
