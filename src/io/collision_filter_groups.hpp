// SPDX-License-Identifier: Apache-2.0
//
// drake:collision_filter_group of URDF and SDFormat: groups of links that do not touch.
#pragma once

#include "io/robot_import.hpp"
#include "io/robot_shapes.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tangere::io {

class CollisionFilterGroups {
 public:
  explicit CollisionFilterGroups(RobotImport& import) : import_(import) {}

  /// `fullName` gives the body that a link is; empty when there is none. `scope` goes before the
  /// names of groups.
  void read(const XmlElement& element, ValueStyle style, const std::string& scope,
            const std::function<std::string(const std::string&)>& fullName);
  /// Tells the builder. After all groups were read and all bodies added.
  void apply();

 private:
  struct Reference {
    std::string name;
    const XmlElement* element;
    Place place;
  };
  struct Group {
    std::vector<std::string> bodies;
    std::vector<Reference> groups;  // whose members are members too
    std::vector<Reference> ignored;
  };
  [[nodiscard]] std::vector<std::string> members(const std::string& name) const;
  void requireGroup(const Reference& reference) const;

  RobotImport& import_;
  std::map<std::string, Group> groups_;
};

}  // namespace tangere::io
