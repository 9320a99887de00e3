// SPDX-License-Identifier: Apache-2.0
#include "io/collision_filter_groups.hpp"

#include <tangere/error.hpp>

#include "io/robot_tree.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"

#include <algorithm>
#include <set>

namespace tangere::io {

void CollisionFilterGroups::read(const XmlElement& element, ValueStyle style,
                                 const std::string& scope,
                                 const std::function<std::string(const std::string&)>& fullName) {
  XmlReader reader(import_.notes, element, "drake:collision_filter_group");
  const std::string name = reader.string("name").value_or("");
  if (name.empty()) {
    reader.error(element.place, "name is missing");
  } else {
    reader.setWho("drake:collision_filter_group " + io::quoted(name));
  }
  const bool isSkipped = reader.boolean("ignore").value_or(false);
  reader.finish();
  if (isSkipped) return;
  Group group;
  for (const XmlElement& child : element.children) {
    const bool isMember = child.name == "drake:member";
    const bool isGroup = child.name == "drake:member_group";
    if (!isMember && !isGroup && child.name != "drake:ignored_collision_filter_group") {
      refuseChild(import_.notes, child, reader.who(),
                  {"drake:member", "drake:member_group", "drake:ignored_collision_filter_group"});
      continue;
    }
    XmlReader part(import_.notes, child, reader.who() + ": " + child.name);
    Reference reference{child.text, &child, child.textPlace};
    if (style == ValueStyle::Attribute) {
      const char* key = isMember ? "link" : "name";
      reference.name = part.string(key).value_or("");
      reference.place = part.placeOf(key);
    }
    part.finish();
    if (!isMember) {
      reference.name = scope + reference.name;
      (isGroup ? group.groups : group.ignored).push_back(reference);
      continue;
    }
    const std::string body = fullName(reference.name);
    if (body.empty()) {
      part.error(reference.place,
                 "found the link " + io::quoted(reference.name) + ", expected one that exists");
      continue;
    }
    group.bodies.push_back(body);
  }
  if (!groups_.emplace(scope + name, std::move(group)).second)
    reader.error(element.place, "found the name twice");
}

void CollisionFilterGroups::apply() {
  std::set<std::pair<std::string, std::string>> pairs;
  // Named again and again a pair costs as much as a new one.
  constexpr std::size_t kMaxPairs = 500'000;
  std::size_t work = 0;
  for (const auto& [name, group] : groups_) {
    for (const Reference& reference : group.groups) requireGroup(reference);
    const std::vector<std::string> mine =
        group.ignored.empty() ? std::vector<std::string>() : members(name);
    for (const Reference& reference : group.ignored) {
      requireGroup(reference);
      const std::vector<std::string> theirs = members(reference.name);
      work += theirs.size() + 1;
      for (const std::string& a : mine) {
        for (const std::string& b : theirs) {
          if (a != b) pairs.emplace(std::min(a, b), std::max(a, b));
          if (++work <= kMaxPairs) continue;
          import_.notes.limitIn(*reference.element->file, reference.place,
                                "found more than " + std::to_string(kMaxPairs) +
                                    " pairs of bodies that do not touch, the limit");
          return;
        }
      }
    }
  }
  if (import_.notes.hasErrors()) return;
  for (const auto& [a, b] : pairs) import_.builder.excludePair(a, b);
}

void CollisionFilterGroups::requireGroup(const Reference& reference) const {
  if (groups_.count(reference.name) > 0) return;
  std::vector<std::string> known;
  for (const auto& [name, group] : groups_) known.push_back(name);
  say(import_.notes, ImportNote::Kind::Error, *reference.element, reference.place,
      "found the group " + io::quoted(reference.name) + ", expected one that exists" +
          candidates(reference.name.substr(0, 64), known));
}

/// Of the group and of the groups in it, each once.
std::vector<std::string> CollisionFilterGroups::members(const std::string& name) const {
  std::set<std::string> out, seen;
  std::vector<std::string> left{name};
  while (!left.empty()) {
    const std::string next = left.back();
    left.pop_back();
    const auto group = groups_.find(next);
    if (group == groups_.end() || !seen.insert(next).second) continue;
    out.insert(group->second.bodies.begin(), group->second.bodies.end());
    for (const Reference& reference : group->second.groups) left.push_back(reference.name);
  }
  return {out.begin(), out.end()};
}

}  // namespace tangere::io
