// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: models with their links, joints and frames, first by their names alone, then, once all
// of them are known, with the frames these names mean.
#include "io/sdformat_reader.hpp"
#include "io/text.hpp"

namespace tangere::io {

namespace {

constexpr int kMaxModelDepth = 128;

/// False after an error.
bool requirePlainName(XmlReader& reader, const std::string& name) {
  if (!name.empty() && name.find("::") == std::string::npos) return true;
  reader.error(reader.placeOf("name"),
               "name: found " + io::quoted(name) + ", expected a name without '::'");
  return false;
}

}  // namespace

void SdfReader::readModel(const XmlElement& element, const std::string& parent,
                          const Source& source, const Model* outer, const Overrides& overrides) {
  XmlReader reader(notes_, element, "model");
  std::string name = reader.string("name").value_or("");
  const std::string canonical = reader.string("canonical_link").value_or("");
  std::string placement = reader.string("placement_frame").value_or("");
  Place placementPlace = reader.placeOf("placement_frame");
  reader.ignore({"namespace"}, "is for other programs");
  reader.finish();
  if (overrides.name) name = *overrides.name;
  if (!requirePlainName(reader, name)) return;
  const std::string who = "model " + io::quoted(scoped(parent, name));
  if (source.depth >= kMaxModelDepth) {
    notes_.limitIn(*element.file, element.place,
                   who + ": found models nested deeper than " + std::to_string(kMaxModelDepth));
    return;
  }
  checkChildren(element, who,
                {"static", "self_collide", "allow_auto_disable", "enable_wind", "pose"},
                {"link", "joint", "frame", "model", "include", "plugin", "gripper", "drake:joint",
                 "drake:collision_filter_group", "drake:ball_constraint",
                 "drake:distance_constraint", "drake:linear_bushing_rpy",
                 "drake:linear_spring_damper", "drake:tendon_constraint", "drake:weld_constraint"});
  ignore(element, who, "has no counterpart", {"allow_auto_disable", "enable_wind", "gripper"});
  PoseText pose = readPose(element, who);
  if (overrides.pose) pose = *overrides.pose;
  if (overrides.placement) {
    placement = *overrides.placement;
    placementPlace = overrides.placementPlace;
  }
  Model model{.scope = scoped(parent, name), .element = &element, .source = source};
  model.root = outer != nullptr ? outer->root : model.scope;
  model.source.depth = source.depth + 1;
  model.isStatic = overrides.isStatic.value_or(boolean(element, "static", who).value_or(false)) ||
                   (outer != nullptr && outer->isStatic);
  model.selfCollides = boolean(element, "self_collide", who).value_or(false);
  const XmlElement& poseElement =
      overrides.pose && overrides.element != nullptr ? *overrides.element : element;
  if (!frames_.add({.name = model.scope,
                    .element = &element,
                    .place = pose.isGiven ? pose.place : element.place,
                    .pose = pose.X,
                    .relativeTo = parent}))
    return;
  pending_models_.push_back({.element = &element,
                             .name = model.scope,
                             .parent = parent,
                             .canonical = canonical,
                             .relativeTo = pose.relativeTo,
                             .placement = placement,
                             .canonicalPlace = reader.placeOf("canonical_link"),
                             .relativePlace = pose.place,
                             .placementPlace = placementPlace,
                             .poseElement = &poseElement});
  models_.push_back(std::move(model));
  readMembers(models_.size() - 1);
}

void SdfReader::readMembers(std::size_t index) {
  const Model model = models_[index];
  const std::string who = "model " + io::quoted(model.scope);
  std::string first;  // what the model is attached to unless it says otherwise
  for (const XmlElement& child : model.element->children) {
    if (child.name == "link") {
      const std::string link = collectLink(child, index);
      if (first.empty()) first = link;
    } else if (child.name == "joint") {
      collectJoint(child, model.scope, model.source, model.isStatic);
    } else if (child.name == "frame") {
      addFrame(child, model.scope);
    } else if (child.name == "model") {
      readModel(child, model.scope, model.source, &model, {});
    } else if (child.name == "include") {
      readInclude(child, model.scope, model.source, &model);
    } else if (child.name == "plugin") {
      plugins_.add(child);
    } else if (child.name == "drake:joint") {
      note(ImportNote::Kind::Error, child, who + ": drake:joint is not available yet");
    } else if (isIn(child.name, {"drake:ball_constraint", "drake:distance_constraint",
                                 "drake:linear_bushing_rpy", "drake:linear_spring_damper",
                                 "drake:tendon_constraint", "drake:weld_constraint"})) {
      note(ImportNote::Kind::Warning, child, who + ": " + child.name + ": is not simulated");
    }
  }
  // Nested models come right after this one, in their order.
  if (first.empty() && models_.size() > index + 1) first = models_[index + 1].scope;
  SdfFrame& frame = *frames_.find(model.scope);
  frame.attachedTo = model.isStatic ? "" : first;
  if (first.empty() && !model.isStatic && !notes_.hasErrors())
    note(ImportNote::Kind::Error, *model.element, who + ": found no link, expected at least one");
}

std::string SdfReader::collectLink(const XmlElement& element, std::size_t model) {
  const std::string scope = models_[model].scope;
  XmlReader reader(notes_, element, "model " + io::quoted(scope) + ": link");
  const std::string name = reader.string("name").value_or("");
  reader.finish();
  if (name.empty() || name.find("::") != std::string::npos || name == "world") {
    reader.error(reader.placeOf("name"),
                 "name: found " + io::quoted(name) + ", expected a name without '::', not 'world'");
    return "";
  }
  const std::string full = scoped(scope, name);
  const PoseText pose = readPose(element, "link " + io::quoted(full));
  if (!frames_.add({.name = full,
                    .element = &element,
                    .place = pose.isGiven ? pose.place : element.place,
                    .pose = pose.X,
                    .relativeTo = scope,
                    .attachedTo = full,
                    .isLink = true}))
    return "";
  if (!pose.relativeTo.empty()) {
    pending_frames_.push_back({.element = &element,
                               .name = full,
                               .scope = scope,
                               .relativeTo = pose.relativeTo,
                               .relativePlace = pose.place});
  }
  links_.push_back({&element, full, model});
  return full;
}

void SdfReader::addFrame(const XmlElement& element, const std::string& scope) {
  XmlReader reader(notes_, element, "frame");
  const std::string name = reader.string("name").value_or("");
  const std::string attachedTo = reader.string("attached_to").value_or("");
  reader.finish();
  if (!requirePlainName(reader, name)) return;
  const std::string full = scoped(scope, name);
  const std::string who = "frame " + io::quoted(full);
  checkChildren(element, who, {"pose"});
  const PoseText pose = readPose(element, who);
  if (!frames_.add({.name = full,
                    .element = &element,
                    .place = element.place,
                    .pose = pose.X,
                    .relativeTo = scope,
                    .attachedTo = scope}))
    return;
  pending_frames_.push_back(
      {.element = &element,
       .name = full,
       .scope = scope,
       .attachedTo = attachedTo,
       .relativeTo = pose.relativeTo.empty() ? attachedTo : pose.relativeTo,
       .attachedPlace = reader.placeOf("attached_to"),
       .relativePlace = pose.relativeTo.empty() ? reader.placeOf("attached_to") : pose.place});
}

void SdfReader::collectJoint(const XmlElement& element, const std::string& scope,
                             const Source& source, bool isStatic) {
  XmlReader reader(notes_, element, "joint");
  const std::string name = reader.string("name").value_or("");
  reader.allow({"type"});
  if (!requirePlainName(reader, name)) return;
  const std::string full = scoped(scope, name);
  const PoseText pose = readPose(element, "joint " + io::quoted(full));
  // Before 1.7 a joint was no frame, and could be called as a link.
  const std::string frame = source.version < 7 ? full + "::__joint__" : full;
  if (!frames_.add({.name = frame, .element = &element, .place = element.place, .pose = pose.X}))
    return;
  joints_.push_back({.element = &element,
                     .name = full,
                     .frame = frame,
                     .scope = scope,
                     .relativeTo = pose.relativeTo,
                     .relativePlace = pose.place,
                     .version = source.version,
                     .isStatic = isStatic});
}

/// Names that frames, models and joints use for other frames, once all of them are known.
void SdfReader::resolveReferences() {
  resolveFrames();
  resolveModels();
  resolveJoints();
  readFilters();
}

void SdfReader::resolveFrames() {
  for (const PendingFrame& pending : pending_frames_) {
    const std::string who = pending.element->name + " " + io::quoted(pending.name);
    SdfFrame& frame = *frames_.find(pending.name);
    follow({pending.scope, pending.attachedTo, *pending.element, pending.attachedPlace,
            who + ": attached_to"},
           &frame.attachedTo);
    follow({pending.scope, pending.relativeTo, *pending.element, pending.relativePlace,
            who + ": relative_to"},
           &frame.relativeTo);
  }
}

void SdfReader::follow(const Reference& reference, std::string* to) {
  if (reference.name.empty()) return;
  if (auto found = frames_.lookUp(reference.scope, reference.name, reference.element,
                                  reference.place, reference.who))
    *to = std::move(*found);
}

void SdfReader::resolveModels() {
  for (const PendingModel& pending : pending_models_) {
    const std::string who = "model " + io::quoted(pending.name);
    SdfFrame& frame = *frames_.find(pending.name);
    std::string canonical;
    follow({pending.name, pending.canonical, *pending.element, pending.canonicalPlace,
            who + ": canonical_link"},
           &canonical);
    if (!canonical.empty() && !frame.attachedTo.empty()) frame.attachedTo = canonical;
    follow({pending.parent, pending.relativeTo, *pending.poseElement, pending.relativePlace,
            who + ": relative_to"},
           &frame.relativeTo);
    follow({pending.name, pending.placement, *pending.poseElement, pending.placementPlace,
            who + ": placement_frame"},
           &frame.placement);
  }
}

void SdfReader::resolveJoints() {
  for (PendingJoint& joint : joints_) {
    const std::string who = "joint " + io::quoted(joint.name);
    const XmlElement& element = *joint.element;
    SdfFrame& frame = *frames_.find(joint.frame);
    for (const char* end : {"parent", "child"}) {
      const XmlElement* child = element.child(end);
      std::string& to = end == std::string_view("parent") ? joint.parent : joint.child;
      if (child == nullptr) {
        note(ImportNote::Kind::Error, element, who + ": " + end + " is missing");
        joint.isBroken = true;
        continue;
      }
      if (child->text == "world") continue;
      const auto found =
          frames_.lookUp(joint.scope, child->text, *child, child->textPlace, who + ": " + end);
      joint.isBroken = joint.isBroken || !found;
      to = found.value_or("");
      if (to == joint.frame && !to.empty())
        note(ImportNote::Kind::Error, *child, who + ": " + end + ": found the joint itself");
    }
    frame.attachedTo = frame.relativeTo = joint.child;
    follow({joint.scope, joint.relativeTo, element, joint.relativePlace, who + ": relative_to"},
           &frame.relativeTo);
  }
}

void SdfReader::readFilters() {
  for (const Model& model : models_) {
    for (const XmlElement& child : model.element->children) {
      if (child.name != "drake:collision_filter_group") continue;
      filters_.read(child, ValueStyle::Text, model.scope + "::", [&](const std::string& link) {
        const SdfFrame* frame = frames_.find(scoped(model.scope, link));
        return frame == nullptr || !frame->isLink ? std::string()
                                                  : import_.prefix + plainName(frame->name);
      });
    }
  }
}

}  // namespace tangere::io
