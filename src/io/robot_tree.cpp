// SPDX-License-Identifier: Apache-2.0
#include "io/robot_tree.hpp"

#include <tangere/error.hpp>

#include "io/table_reader.hpp"
#include "io/text.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace tangere::io {

namespace {

std::string at(Place place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string shortNumber(Real value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

bool isOneCoordinate(const RobotJoint& joint) {
  if (joint.joints.size() != 1) return false;
  const JointType type = joint.joints[0].type;
  return type == JointType::Revolute || type == JointType::Prismatic || type == JointType::Screw;
}

/// How a joint moves its body from coordinate 0 to `q`, in the frame of the body.
Transform motion(const Joint& joint, Real q) {
  const Vec3 axis = joint.axis / math::scaledNorm(joint.axis);
  Transform X;
  if (joint.type == JointType::Prismatic) {
    X.translation = axis * q;
    return X;
  }
  X.rotation = rotationMatrix(math::quatFromAxisAngle(axis, q));
  X.translation = joint.position - X.rotation * joint.position;
  if (joint.type == JointType::Screw) X.translation += axis * (joint.pitch * q);
  return X;
}

}  // namespace

void say(ImportNotes& notes, ImportNote::Kind kind, const XmlElement& element, Place place,
         const std::string& message) {
  notes.addIn(*element.file, kind, place, message);
}

int RobotTree::addLink(RobotLink link) {
  const int index = static_cast<int>(links_.size());
  index_.emplace(link.name, index);
  links_.push_back(std::move(link));
  return index;
}

void RobotTree::setArmatures(const std::map<std::string, Real>& armatures) {
  for (RobotJoint& joint : joints_) {
    for (Joint& coordinate : joint.joints) {
      const auto found = armatures.find(coordinate.name);
      if (found != armatures.end()) coordinate.armature = found->second;
    }
  }
}

int RobotTree::findLink(const std::string& name) const {
  const auto found = index_.find(name);
  return found != index_.end() ? found->second : -1;
}

std::vector<std::string> RobotTree::linkNames() const {
  std::vector<std::string> out;
  for (const auto& [name, index] : index_) out.push_back(name);
  return out;
}

bool RobotTree::connect() {
  holder_.assign(links_.size(), -1);
  below_.assign(links_.size(), {});
  bool isTree = true;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const RobotJoint& joint = joints_[i];
    int& holder = holder_[static_cast<std::size_t>(joint.child)];
    if (holder >= 0) {
      const RobotJoint& other = joints_[static_cast<std::size_t>(holder)];
      say(import_.notes, ImportNote::Kind::Error, *joint.element, joint.element->place,
          "joint " + io::quoted(joint.name) + ": found the link " +
              io::quoted(links_[static_cast<std::size_t>(joint.child)].name) +
              " as child again (of " + io::quoted(other.name) + " at " + at(other.element->place) +
              " before), expected one joint above each link; close a loop by a constraint");
      isTree = false;
      continue;
    }
    holder = static_cast<int>(i);
    if (joint.parent >= 0)
      below_[static_cast<std::size_t>(joint.parent)].push_back(static_cast<int>(i));
  }
  return isTree && checkRings();
}

/// Going up from any link must end; links known to end are not walked twice.
bool RobotTree::checkRings() {
  enum : unsigned char { New, OnTheWay, Ends };
  std::vector<unsigned char> state(links_.size(), New);
  for (std::size_t start = 0; start < links_.size(); ++start) {
    std::vector<std::size_t> way;
    std::size_t link = start;
    bool isRing = false;
    while (state[link] == New) {
      state[link] = OnTheWay;
      way.push_back(link);
      const int holder = holder_[link];
      if (holder < 0 || joints_[static_cast<std::size_t>(holder)].parent < 0) break;
      link = static_cast<std::size_t>(joints_[static_cast<std::size_t>(holder)].parent);
      isRing = state[link] == OnTheWay;
    }
    if (isRing) {
      constexpr std::size_t kMaxShown = 8;
      std::string ring = io::quoted(links_[link].name);
      std::size_t shown = 0;
      for (auto it = way.rbegin(); it != way.rend() && *it != link; ++it) {
        if (++shown < kMaxShown) ring += " -> " + io::quoted(links_[*it].name);
        if (shown == kMaxShown) ring += " -> ...";
      }
      const RobotJoint& joint = joints_[static_cast<std::size_t>(holder_[link])];
      say(import_.notes, ImportNote::Kind::Error, *joint.element, joint.element->place,
          "joint " + io::quoted(joint.name) + ": found a ring of links " + ring + " -> " +
              io::quoted(links_[link].name) + ", expected a tree");
      return false;
    }
    for (const std::size_t passed : way) state[passed] = Ends;
  }
  return true;
}

std::vector<int> RobotTree::roots() const {
  std::vector<int> out;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (holder_[i] < 0) out.push_back(static_cast<int>(i));
  }
  return out;
}

void RobotTree::build() {
  placeStarts();
  std::vector<int> order, stack;
  for (std::size_t i = links_.size(); i-- > 0;) {
    const int holder = holder_[i];
    if (holder < 0 || joints_[static_cast<std::size_t>(holder)].parent < 0)
      stack.push_back(static_cast<int>(i));
  }
  while (!stack.empty()) {
    const int link = stack.back();
    stack.pop_back();
    order.push_back(link);
    const std::vector<int>& below = below_[static_cast<std::size_t>(link)];
    for (auto it = below.rbegin(); it != below.rend(); ++it)
      stack.push_back(joints_[static_cast<std::size_t>(*it)].child);
  }
  weighShapes(order);
  if (!checkMasses(order) || import_.notes.hasErrors()) return;
  for (const int link : order) addBody(link);
  addMimics();
}

/// Coordinates start within their limits, and followers where their leaders put them.
void RobotTree::placeStarts() {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (isOneCoordinate(joints_[i])) {
      joint_of_coordinate_.emplace(joints_[i].joints[0].name, i);
    } else {
      for (const Joint& joint : joints_[i].joints) {
        if (joint.lower <= 0 && joint.upper >= 0) continue;
        say(import_.notes, ImportNote::Kind::Warning, *joints_[i].element,
            joints_[i].element->place,
            "joint " + io::quoted(joints_[i].name) + ": starts at 0, outside its limits");
      }
    }
  }
  // Leaders before followers: a follower's start is final once its leader's is.
  std::map<std::string, const RobotMimic*> pending;
  for (const RobotMimic& mimic : mimics_) pending.emplace(mimic.follower, &mimic);
  for (RobotJoint& joint : joints_) {
    if (isOneCoordinate(joint) && pending.count(joint.joints[0].name) == 0)
      moveStart(joint, joint.start);
  }
  for (const RobotMimic& mimic : mimics_) {
    std::vector<const RobotMimic*> way;
    std::set<std::string> seen;
    auto next = pending.find(mimic.follower);
    while (next != pending.end()) {
      if (!seen.insert(next->first).second) {
        say(import_.notes, ImportNote::Kind::Error, *mimic.element, mimic.place,
            "mimic: found joints that mimic each other in a ring, joint " +
                io::quoted(next->first) + " among them");
        return;
      }
      way.push_back(next->second);
      next = pending.find(next->second->leader);
    }
    for (auto it = way.rbegin(); it != way.rend(); ++it) {
      placeFollower(**it);
      pending.erase((*it)->follower);
    }
  }
}

void RobotTree::placeFollower(const RobotMimic& mimic) {
  for (const std::string* name : {&mimic.follower, &mimic.leader}) {
    if (joint_of_coordinate_.count(*name) > 0) continue;
    // Near names cost as much as there are joints: only for mistakes that are listed.
    constexpr std::size_t kMaxListed = 20;
    std::string near;
    if (import_.notes.numErrors() < kMaxListed) {
      std::vector<std::string> known;
      for (const auto& [coordinate, index] : joint_of_coordinate_) known.push_back(coordinate);
      near = candidates(name->substr(0, 64), known);
    }
    say(import_.notes, ImportNote::Kind::Error, *mimic.element, mimic.place,
        "mimic: found the joint " + io::quoted(*name) +
            ", expected one that exists and has one coordinate" + near);
    return;
  }
  const Real leader = startOf(joint_of_coordinate_.at(mimic.leader));
  moveStart(joints_[joint_of_coordinate_.at(mimic.follower)],
            mimic.multiplier * leader + mimic.offset);
}

Real RobotTree::startOf(std::size_t joint) { return joints_[joint].joints[0].reference; }

void RobotTree::moveStart(RobotJoint& joint, Real start) {
  Joint& coordinate = joint.joints[0];
  const Real inside = std::fmin(std::fmax(start, coordinate.lower), coordinate.upper);
  if (inside != start) {
    say(import_.notes, ImportNote::Kind::Changed, *joint.element, joint.element->place,
        "joint " + io::quoted(joint.name) + ": starts at " + shortNumber(inside) + ", because " +
            shortNumber(start) + " is outside its limits");
  }
  if (inside == 0) return;
  coordinate.reference = inside;
  joint.pose = joint.pose * motion(coordinate, inside);
}

/// Links of unknown mass that a joint moves; then all that move as one where none has a mass.
void RobotTree::weighShapes(const std::vector<int>& order) {
  for (const int link : order) {
    const int holder = holder_[static_cast<std::size_t>(link)];
    if (holder < 0) continue;
    const RobotJoint& joint = joints_[static_cast<std::size_t>(holder)];
    const bool isUnknown =
        links_[static_cast<std::size_t>(link)].massFromShapes == RobotLink::FromShapes::IfMoved;
    if (isUnknown && (!joint.joints.empty() || joint.isFloating)) takeMassOfShapes(link);
  }
  std::vector<char> hasMass(links_.size(), 0);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto link = static_cast<std::size_t>(*it);
    const Body& body = links_[link].body;
    if (!body.massProperties || body.massProperties->mass > 0) hasMass[link] = 1;
    if (hasMass[link] == 0 && isMoved(*it)) {
      std::vector<int> rigid{*it};
      for (std::size_t i = 0; i < rigid.size(); ++i) {
        if (takeMassOfShapes(rigid[i])) hasMass[link] = 1;
        for (const int below : below_[static_cast<std::size_t>(rigid[i])]) {
          const RobotJoint& joint = joints_[static_cast<std::size_t>(below)];
          if (joint.joints.empty() && !joint.isFloating) rigid.push_back(joint.child);
        }
      }
    }
    const int holder = holder_[link];
    if (holder < 0 || hasMass[link] == 0) continue;
    const int parent = joints_[static_cast<std::size_t>(holder)].parent;
    if (parent >= 0) hasMass[static_cast<std::size_t>(parent)] = 1;
  }
}

bool RobotTree::takeMassOfShapes(int link) {
  RobotLink& data = links_[static_cast<std::size_t>(link)];
  if (data.massFromShapes == RobotLink::FromShapes::Never || data.body.shapes.empty()) return false;
  data.massFromShapes = RobotLink::FromShapes::Never;
  data.body.massProperties.reset();
  say(import_.notes, ImportNote::Kind::Changed, *data.element, data.element->place,
      "link " + io::quoted(data.name) +
          ": no mass is given, it is that of its collision shapes at 1000 kg/m^3");
  return true;
}

/// Whether the link needs a mass of its own or of what it carries: it is free, or a joint without
/// an armature moves it.
bool RobotTree::isMoved(int link) const {
  const int holder = holder_[static_cast<std::size_t>(link)];
  const RobotLink& data = links_[static_cast<std::size_t>(link)];
  if (holder < 0) return data.base == RobotLink::Base::Free && data.body.type == BodyType::Dynamic;
  const RobotJoint& joint = joints_[static_cast<std::size_t>(holder)];
  return joint.isFloating ||
         std::any_of(joint.joints.begin(), joint.joints.end(),
                     [](const Joint& coordinate) { return coordinate.armature <= 0; });
}

/// Where a joint moves a link, something with mass must move.
bool RobotTree::checkMasses(const std::vector<int>& order) {
  std::vector<Real> mass(links_.size(), 0);
  bool isFine = true;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto link = static_cast<std::size_t>(*it);
    const Body& body = links_[link].body;
    // Without figures: from the shapes, which have some.
    mass[link] +=
        body.massProperties ? body.massProperties->mass : Real(body.shapes.empty() ? 0 : 1);
    const int holder = holder_[link];
    const RobotJoint* joint = holder >= 0 ? &joints_[static_cast<std::size_t>(holder)] : nullptr;
    if (joint != nullptr && joint->parent >= 0)
      mass[static_cast<std::size_t>(joint->parent)] += mass[link];
    if (!isMoved(*it) || mass[link] > 0) continue;
    const XmlElement& element = joint != nullptr ? *joint->element : *links_[link].element;
    say(import_.notes, ImportNote::Kind::Error, element, element.place,
        "link " + io::quoted(links_[link].name) + ": found no mass that moves with it" +
            (joint != nullptr ? " by joint " + io::quoted(joint->name) : std::string()) +
            ", expected an inertial with a mass above 0 [kg] in it or in what it carries");
    isFine = false;
  }
  return isFine;
}

void RobotTree::addBody(int link) {
  RobotLink& data = links_[static_cast<std::size_t>(link)];
  Body& body = data.body;
  const int holder = holder_[static_cast<std::size_t>(link)];
  const RobotJoint* joint = holder >= 0 ? &joints_[static_cast<std::size_t>(holder)] : nullptr;
  const bool isWorld = data.base == RobotLink::Base::World;
  if (isWorld && body.shapes.empty()) return;
  if (joint == nullptr) {
    if (isWorld || data.base == RobotLink::Base::Fixed) body.type = BodyType::Fixed;
  } else {
    const RobotLink* parent =
        joint->parent >= 0 ? &links_[static_cast<std::size_t>(joint->parent)] : nullptr;
    const bool isParentWorld = parent == nullptr || (parent->base == RobotLink::Base::World &&
                                                     parent->body.shapes.empty());
    const Transform X_WP = parent != nullptr ? parent->body.pose : import_.pose;
    if (joint->isFloating) {
      body.pose = X_WP * joint->pose;
    } else if (isParentWorld) {
      body.joints = joint->joints;
      body.pose = X_WP * joint->pose;
      if (body.joints.empty()) body.type = BodyType::Fixed;
    } else {
      body.joints = joint->joints;
      body.parent = parent->body.name;
      body.pose = joint->pose;
    }
  }
  const Transform inFile = body.pose;
  if (body.type != BodyType::Dynamic) body.massProperties.reset();
  try {
    import_.builder.addBody(body);
    // Also where the parent stands: these formats let no jointed links touch.
    if (!body.parent.empty()) import_.builder.excludePair(body.name, body.parent);
  } catch (const InvalidInput& error) {
    say(import_.notes, ImportNote::Kind::Error, *data.element, data.element->place, error.what());
  }
  // From here on the pose in the world at the start, which floating children need.
  if (joint != nullptr && joint->parent >= 0 && !joint->isFloating)
    body.pose = links_[static_cast<std::size_t>(joint->parent)].body.pose * joint->pose;
  else
    body.pose = inFile;
}

void RobotTree::addMimics() {
  for (const RobotMimic& mimic : mimics_) {
    const auto follower = joint_of_coordinate_.find(mimic.follower);
    const auto leader = joint_of_coordinate_.find(mimic.leader);
    if (follower == joint_of_coordinate_.end() || leader == joint_of_coordinate_.end()) continue;
    Equality equality;
    equality.type = Equality::Type::Joint;
    equality.name = import_.takeName("equality", "", *mimic.element, mimic.place);
    equality.first = mimic.follower;
    equality.second = mimic.leader;
    // Coordinates of an equality count from the references, where the joints start.
    equality.polynomial = {
        mimic.multiplier * startOf(leader->second) + mimic.offset - startOf(follower->second),
        mimic.multiplier, 0, 0, 0};
    try {
      import_.builder.addEquality(equality);
    } catch (const InvalidInput& error) {
      say(import_.notes, ImportNote::Kind::Error, *mimic.element, mimic.place, error.what());
    }
  }
}

}  // namespace tangere::io
