// SPDX-License-Identifier: Apache-2.0
//
// Which elements belong where in URDF and SDFormat: the others are errors, those of other programs
// are counted.
#pragma once

#include "io/import_notes.hpp"
#include "io/xml_document.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tangere::io {

/// Things that are counted rather than noted one by one.
struct Tally {
  int count = 0;
  const XmlElement* first = nullptr;
  void add(const XmlElement& element) {
    if (count++ == 0) first = &element;
  }
};

struct ChildRule {
  std::initializer_list<std::string_view> single{};  ///< at most once
  std::initializer_list<std::string_view> many{};
  /// Of other programs, besides every name with a prefix that is not "drake:".
  std::span<const std::string_view> extensions{};
};

[[nodiscard]] bool isIn(std::string_view word, std::initializer_list<std::string_view> words);

[[nodiscard]] bool isExtension(const std::string& name,
                               std::span<const std::string_view> extensions);

/// Errors for children that do not belong, with the nearest that do, and for a second one of the
/// single ones; a warning for text, which has no place between elements.
void checkChildren(ImportNotes& notes, const XmlElement& element, const std::string& who,
                   const ChildRule& rule, Tally* extensions);

/// Attributes of other programs (with a prefix) count as read; name spaces do without a word.
void passForeignAttributes(const XmlElement& root, Tally* extensions);

/// One note for all that was counted: "3 <visual>: ..., this the first".
void tell(ImportNotes& notes, const Tally& tally, ImportNote::Kind kind, const std::string& what);

}  // namespace tangere::io
