// SPDX-License-Identifier: Apache-2.0
//
// XML 1.0 as a plain tree in which every element and attribute knows its file, line and column, and
// whether somebody has read it. A parser of our own, because robot files may come from anyone: it
// has no document types and no entities beyond the predefined ones, so nothing can be expanded or
// fetched, and it never recurses.
#pragma once

#include "io/toml_document.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

struct XmlAttribute {
  std::string name;
  std::string value;   ///< references replaced, line ends and tabs made blanks
  Place place{};       ///< of the name
  Place valuePlace{};  ///< of the first character within the quotes
  mutable bool isRead = false;
};

struct XmlElement {
  std::string name;                           ///< with its prefix: "drake:proximity_properties"
  Place place{};                              ///< of the "<"
  std::shared_ptr<const std::string> file{};  ///< as messages call it
  std::vector<XmlAttribute> attributes{};     ///< in their order
  std::vector<XmlElement> children{};         ///< in their order
  /// All character data directly inside, in order, without blanks at both ends; CDATA as it is.
  std::string text{};
  Place textPlace{};  ///< of its first character
  mutable bool isRead = false;

  /// Null when there is none. Marks what it finds as read.
  [[nodiscard]] const XmlAttribute* attribute(std::string_view attributeName) const;
  /// The first child of that name, marked as read.
  [[nodiscard]] const XmlElement* child(std::string_view childName) const;
};

/// Where the text stops being XML, and what was found there.
class XmlError : public std::runtime_error {
 public:
  XmlError(Place place, const std::string& message, bool isLimit = false)
      : std::runtime_error(message), place_(place), is_limit_(isLimit) {}
  [[nodiscard]] Place place() const { return place_; }
  /// Too large, and nothing else is wrong.
  [[nodiscard]] bool isLimit() const { return is_limit_; }

 private:
  Place place_;
  bool is_limit_;
};

struct XmlLimits {
  std::size_t maxBytes = std::size_t{64} << 20;
  int maxDepth = 128;  ///< of elements inside each other
  std::size_t maxElements = 2'000'000;
  std::size_t maxAttributes = 256;  ///< of one element
};

/// The root element of `text`, which must be UTF-8. `file` is how messages call it. Throws XmlError
/// at the first mistake: an attribute twice, a document type or an entity declaration (there is
/// nothing that could be expanded), a tag without its end, anything after the root element.
[[nodiscard]] XmlElement parseXml(std::string_view text, std::string file,
                                  const XmlLimits& limits = {});

/// Calls `report` for every attribute that nobody read, in order of the tree, and for every element
/// that nobody read (with a null attribute) instead of what is in it.
void forEachUnread(
    const XmlElement& root,
    const std::function<void(const XmlElement& element, const XmlAttribute* attribute)>& report);

}  // namespace tangere::io
