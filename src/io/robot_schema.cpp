// SPDX-License-Identifier: Apache-2.0
#include "io/robot_schema.hpp"

#include "io/robot_tree.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"

#include <algorithm>
#include <vector>

namespace tangere::io {

bool isIn(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool isExtension(const std::string& name, std::span<const std::string_view> extensions) {
  return std::find(extensions.begin(), extensions.end(), name) != extensions.end() ||
         (name.find(':') != std::string::npos && name.compare(0, 6, "drake:") != 0);
}

void checkChildren(ImportNotes& notes, const XmlElement& element, const std::string& who,
                   const ChildRule& rule, Tally* extensions) {
  if (!element.text.empty()) {
    say(notes, ImportNote::Kind::Warning, element, element.textPlace,
        who + ": found the text " + io::quoted(element.text) +
            " between elements, which means nothing");
  }
  std::vector<std::string_view> seen;
  for (const XmlElement& child : element.children) {
    const bool isSingle = isIn(child.name, rule.single);
    if (isSingle && std::find(seen.begin(), seen.end(), child.name) != seen.end()) {
      say(notes, ImportNote::Kind::Error, child, child.place,
          who + ": found <" + child.name + "> twice, expected it once");
    }
    if (isSingle) {
      seen.push_back(child.name);
    } else if (isExtension(child.name, rule.extensions)) {
      child.isRead = true;
      extensions->add(child);
    } else if (!isIn(child.name, rule.many)) {
      std::vector<std::string> known(rule.single.begin(), rule.single.end());
      known.insert(known.end(), rule.many.begin(), rule.many.end());
      refuseChild(notes, child, who, known);
    }
  }
}

void passForeignAttributes(const XmlElement& root, Tally* extensions) {
  std::vector<const XmlElement*> left{&root};
  while (!left.empty()) {
    const XmlElement& element = *left.back();
    left.pop_back();
    for (const XmlAttribute& attribute : element.attributes) {
      const std::string& name = attribute.name;
      const bool isSpace = name == "xmlns" || name.compare(0, 6, "xmlns:") == 0;
      if (!isSpace && (name.find(':') == std::string::npos || name.compare(0, 6, "drake:") == 0))
        continue;
      attribute.isRead = true;
      if (!isSpace && name.compare(0, 4, "xsi:") != 0) extensions->add(element);
    }
    for (auto child = element.children.rbegin(); child != element.children.rend(); ++child)
      left.push_back(&*child);
  }
}

void tell(ImportNotes& notes, const Tally& tally, ImportNote::Kind kind, const std::string& what) {
  if (tally.count == 0) return;
  say(notes, kind, *tally.first, tally.first->place,
      std::to_string(tally.count) + " " + what + (tally.count == 1 ? "" : ", this the first"));
}

}  // namespace tangere::io
