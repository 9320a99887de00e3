// SPDX-License-Identifier: Apache-2.0
#include "io/sdformat_frames.hpp"

#include "io/robot_tree.hpp"
#include "io/table_reader.hpp"
#include "io/text.hpp"

namespace tangere::io {

std::string scoped(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "::" + name;
}

SdfFrames::SdfFrames(ImportNotes& notes) : notes_(notes) {
  frames_.emplace("", SdfFrame{});
  poses_.emplace("", Transform{});
  links_.emplace("", "");
}

bool SdfFrames::add(SdfFrame frame) {
  const std::string name = frame.name;
  const XmlElement* element = frame.element;
  const auto [other, isNew] = frames_.emplace(name, std::move(frame));
  if (isNew) return true;
  const Place before = other->second.element != nullptr ? other->second.element->place : Place{};
  say(notes_, ImportNote::Kind::Error, *element, element->place,
      element->name + " " + io::quoted(name) + ": found the name twice, expected another than at " +
          std::to_string(before.line) + ":" + std::to_string(before.column) +
          " (links, joints, frames and models share their names)");
  return false;
}

SdfFrame* SdfFrames::find(const std::string& name) {
  const auto found = frames_.find(name);
  return found != frames_.end() ? &found->second : nullptr;
}

std::optional<std::string> SdfFrames::lookUp(const std::string& scope, const std::string& name,
                                             const XmlElement& element, Place place,
                                             const std::string& who) {
  if (name == "__model__" && !scope.empty()) return scope;
  if (name == "world" && scope.empty()) return "";
  std::string full = scoped(scope, name);
  constexpr std::string_view kOfModel = "::__model__";  // the frame of a model is the model's
  if (full.size() > kOfModel.size() &&
      full.compare(full.size() - kOfModel.size(), kOfModel.size(), kOfModel) == 0)
    full.resize(full.size() - kOfModel.size());
  if (!name.empty() && frames_.count(full) > 0) return full;
  std::string near;
  constexpr std::size_t kMaxListed = 20, kMaxKnown = 1000;
  if (notes_.numErrors() < kMaxListed) {
    const std::string begin = scope.empty() ? "" : scope + "::";
    std::vector<std::string> known;
    for (auto at = frames_.lower_bound(begin); at != frames_.end() && known.size() < kMaxKnown &&
                                               at->first.compare(0, begin.size(), begin) == 0;
         ++at) {
      if (at->first.size() > begin.size()) known.push_back(at->first.substr(begin.size()));
    }
    near = candidates(name.substr(0, 64), known);
  }
  say(notes_, ImportNote::Kind::Error, element, place,
      who + ": found the frame " + io::quoted(name) +
          ", expected a link, joint, frame or model that exists here" + near);
  return std::nullopt;
}

void SdfFrames::errorRing(const SdfFrame& frame, const std::string& what) {
  if (frame.element == nullptr) return;
  say(notes_, ImportNote::Kind::Error, *frame.element, frame.place,
      frame.element->name + " " + io::quoted(frame.name) + ": found frames that are " + what +
          " each other in a ring");
}

std::optional<Transform> SdfFrames::pose(const std::string& name) {
  std::vector<const SdfFrame*> way;
  std::string at = name;
  while (poses_.count(at) == 0) {
    const auto found = frames_.find(at);
    if (found == frames_.end()) return std::nullopt;
    way.push_back(&found->second);
    if (way.size() > frames_.size()) {
      errorRing(found->second, "placed relative to");
      return std::nullopt;
    }
    at = found->second.relativeTo;
  }
  Transform X = poses_.at(at);
  for (auto frame = way.rbegin(); frame != way.rend(); ++frame) {
    const std::optional<Transform> step = poseIn(**frame);
    if (!step) return std::nullopt;
    X = X * *step;
    poses_.emplace((*frame)->name, X);
  }
  return X;
}

/// Of the frame in the one it is relative to. `pose` of a model may be that of a frame in it.
std::optional<Transform> SdfFrames::poseIn(const SdfFrame& frame) {
  if (frame.placement.empty() || frame.placement == frame.name) return frame.pose;
  if (const auto known = placed_.find(frame.name); known != placed_.end()) return known->second;
  constexpr int kMaxDepth = 128;
  if (depth_ >= kMaxDepth) {
    errorRing(frame, "placed by");
    return std::nullopt;
  }
  // The pose of the placement frame in the model, whose own place is not known yet.
  Transform X_MP;
  std::string at = frame.placement;
  std::size_t steps = 0;
  while (at != frame.name) {
    const auto found = frames_.find(at);
    if (found == frames_.end() || at.empty() || ++steps > frames_.size()) {
      errorRing(frame, "placed by");
      return std::nullopt;
    }
    ++depth_;
    const std::optional<Transform> step = poseIn(found->second);
    --depth_;
    if (!step) return std::nullopt;
    X_MP = *step * X_MP;
    at = found->second.relativeTo;
  }
  const Transform out = frame.pose * inverse(X_MP);
  placed_.emplace(frame.name, out);  // models within models would ask again and again
  return out;
}

std::optional<std::string> SdfFrames::link(const std::string& name) {
  std::vector<const SdfFrame*> way;
  std::string at = name;
  while (links_.count(at) == 0) {
    const auto found = frames_.find(at);
    if (found == frames_.end()) return std::nullopt;
    if (found->second.isLink) {
      links_.emplace(at, at);
      break;
    }
    way.push_back(&found->second);
    if (way.size() > frames_.size()) {
      errorRing(found->second, "attached to");
      return std::nullopt;
    }
    at = found->second.attachedTo;
  }
  const std::string out = links_.at(at);
  for (const SdfFrame* frame : way) links_.emplace(frame->name, out);
  return out;
}

}  // namespace tangere::io
