// SPDX-License-Identifier: Apache-2.0
//
// Reads the attributes of one XML element by name and type. What is missing stays empty; what is
// there and wrong becomes an error in the notes, and then stays empty as well. finish() makes an
// error of every attribute that nobody asked for, or, where the notes pass unknown names, a note:
// what is not understood is never ignored in silence.
#pragma once

#include <tangere/types.hpp>

#include "io/import_notes.hpp"
#include "io/table_reader.hpp"
#include "io/xml_document.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

/// Words and numbers of a file, from an attribute or from the text of an element.
struct XmlText {
  std::string_view text;
  Place place{};
  const std::string* file = nullptr;
  std::string who{};  ///< begins every message: "joint 'a': range"
};

/// From `least` to `most` numbers separated by blanks. Infinite ones where the rule's bounds are
/// infinite, NaN never. Empty after an error, which is in the notes.
[[nodiscard]] std::optional<std::vector<Real>> readNumbers(ImportNotes& notes, const XmlText& text,
                                                           std::size_t least, std::size_t most,
                                                           const NumberRule& rule);
[[nodiscard]] std::optional<Real> readNumber(ImportNotes& notes, const XmlText& text,
                                             const NumberRule& rule);
[[nodiscard]] std::optional<Vec3> readVec3(ImportNotes& notes, const XmlText& text,
                                           const NumberRule& rule);
/// "true", "false", "1", "0".
[[nodiscard]] std::optional<bool> readBoolean(ImportNotes& notes, const XmlText& text);
[[nodiscard]] std::optional<std::int64_t> readInteger(ImportNotes& notes, const XmlText& text,
                                                      std::int64_t lower, std::int64_t upper,
                                                      const char* expected);
/// One of the words; its index.
[[nodiscard]] std::optional<int> readWord(ImportNotes& notes, const XmlText& text,
                                          std::span<const std::string_view> words);

/// The blank-separated words of a text.
[[nodiscard]] std::vector<std::string_view> splitWords(std::string_view text);

class XmlReader {
 public:
  /// `who` begins every message: "joint 'a'". Marks the element as read.
  XmlReader(ImportNotes& notes, const XmlElement& element, std::string who);

  [[nodiscard]] const XmlElement& element() const { return element_; }
  [[nodiscard]] Place place() const { return element_.place; }
  /// The attribute, which is known and read from now on; null when there is none.
  [[nodiscard]] const XmlAttribute* find(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) { return find(name) != nullptr; }
  /// Where the value of the attribute is; where the element is when there is none.
  [[nodiscard]] Place placeOf(std::string_view name);

  [[nodiscard]] std::optional<std::string> string(std::string_view name);
  [[nodiscard]] std::optional<Real> number(std::string_view name, const NumberRule& rule);
  [[nodiscard]] std::optional<std::vector<Real>> numbers(std::string_view name, std::size_t least,
                                                         std::size_t most, const NumberRule& rule);
  [[nodiscard]] std::optional<Vec3> vec3(std::string_view name, const NumberRule& rule);
  [[nodiscard]] std::optional<bool> boolean(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::int64_t lower,
                                                    std::int64_t upper, const char* expected);
  [[nodiscard]] std::optional<int> word(std::string_view name,
                                        std::span<const std::string_view> words);
  [[nodiscard]] std::optional<int> word(std::string_view name,
                                        std::initializer_list<std::string_view> words) {
    return word(name, std::span(words.begin(), words.size()));
  }

  /// An attribute that belongs to the format: a note of its kind when it is there.
  void ignore(std::initializer_list<std::string_view> names, const std::string& why);
  void change(std::string_view name, const std::string& what);
  void refuse(std::string_view name, const std::string& why);
  /// Names that belong to the format, to be proposed for one that does not.
  void allow(std::initializer_list<std::string_view> names);
  /// Errors for every attribute that nobody asked for, with the nearest that exists.
  void finish();

  /// "who: message" at a place of the element's file.
  void note(ImportNote::Kind kind, Place place, const std::string& message);
  void error(Place place, const std::string& message);
  void limit(Place place, const std::string& message);
  /// "who: name: found 'value', expected Y".
  void errorFound(std::string_view name, const std::string& expected);

  [[nodiscard]] const std::string& who() const { return who_; }
  void setWho(std::string who) { who_ = std::move(who); }
  [[nodiscard]] ImportNotes& notes() { return notes_; }

 private:
  /// Known names that the element does not have: what another name may be a mistake for.
  [[nodiscard]] std::vector<std::string> absent() const;
  /// The text of an attribute that is there.
  [[nodiscard]] XmlText textOf(const XmlAttribute& attribute) const;

  ImportNotes& notes_;
  const XmlElement& element_;
  std::string who_;
  std::vector<std::string> known_;
};

/// How messages call an element: "joint 'a'", or "joint" without a name.
[[nodiscard]] std::string callOf(const XmlElement& element);

/// An error for a child element that does not belong, with the nearest names that do; a note where
/// the notes pass unknown names and no known one is near.
void refuseChild(ImportNotes& notes, const XmlElement& child, const std::string& parent,
                 const std::vector<std::string>& known);

}  // namespace tangere::io
