// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as XML: refused with a place inside the text and a message of one line, or a tree
// within the limits whose elements and attributes stand where they say.
#include "io/xml_document.hpp"

#include "fuzz/mesh_checks.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace {

using tangere::fuzz::require;
using tangere::io::Place;
using tangere::io::XmlElement;

/// The text from a place on; columns count characters.
std::string_view from(std::string_view text, Place place) {
  int line = 1, column = 1;
  for (std::size_t i = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (line == place.line && column == place.column && (byte & 0xc0u) != 0x80u)
      return text.substr(i);
    if (byte == '\n') {
      ++line;
      column = 1;
    } else if (i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xc0u) != 0x80u) {
      ++column;
    }
  }
  return {};
}

void checkTree(const XmlElement& root, std::string_view text, int maxDepth) {
  std::vector<std::pair<const XmlElement*, int>> pending{{&root, 1}};
  while (!pending.empty()) {
    const auto [element, depth] = pending.back();
    pending.pop_back();
    require(depth <= maxDepth, "no deeper than the limit");
    const std::string tag = "<" + element->name;
    require(from(text, element->place).substr(0, tag.size()) == tag,
            "elements are in their places");
    for (const auto& attribute : element->attributes) {
      require(from(text, attribute.place).substr(0, attribute.name.size()) == attribute.name,
              "attributes are in their places");
    }
    for (const XmlElement& child : element->children) pending.emplace_back(&child, depth + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr int kMaxDepth = 20;
  try {
    checkTree(
        tangere::io::parseXml(text, "input.xml",
                              {.maxBytes = 1 << 16, .maxDepth = kMaxDepth, .maxElements = 200}),
        text, kMaxDepth);
  } catch (const tangere::io::XmlError& error) {
    const std::string_view message = error.what();
    require(!message.empty() && message.size() < 2000, "messages are readable");
    for (const char c : message)
      require(static_cast<unsigned char>(c) >= ' ', "messages are one line");
  }
  return 0;
}
