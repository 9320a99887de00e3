// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: worlds, models, what they include, and which frame is which.
#include <tangere/error.hpp>

#include "io/sdformat_reader.hpp"
#include "io/text.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tangere::io {

namespace fs = std::filesystem;

namespace {

constexpr int kOldest = 4, kNewest = 12;  // versions 1.4 to 1.12
constexpr std::size_t kMaxIncludeDepth = 16;
constexpr int kMaxModelDepth = 128;
constexpr Real kDegree = 0.017453292519943295769236907684886;  // [rad]

bool endsWith(const std::string& word, std::string_view end) {
  return word.size() >= end.size() && word.compare(word.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

void importSdformat(const XmlElement& root, RobotImport& import) { SdfReader(root, import).read(); }

void SdfReader::read() {
  readRoot();
  if (notes_.hasErrors()) return;
  resolveReferences();
  for (const PendingLink& link : links_) readLink(link);
  for (const PendingJoint& joint : joints_) readJoint(joint);
  if (links_.empty() && !notes_.hasErrors())
    note(ImportNote::Kind::Error, root_, "sdf: found no link, expected at least one");
  if (notes_.hasErrors() || !tree_.connect()) return;
  tree_.build();
  if (notes_.hasErrors()) return;
  for (const PendingActuator& pending : actuators_) {
    try {
      import_.builder.addActuator(pending.actuator);
    } catch (const InvalidInput& error) {
      note(ImportNote::Kind::Error, *pending.element, error.what());
    }
  }
  separateLinks();
  filters_.apply();
  summarize();
}

std::optional<int> SdfReader::readVersion(const XmlElement& root) {
  XmlReader reader(notes_, root, "sdf");
  const std::string version = reader.string("version").value_or("");
  reader.finish();
  int minor = -1;
  if (version.compare(0, 2, "1.") == 0) {
    const char* end = version.data() + version.size();
    const auto result = std::from_chars(version.data() + 2, end, minor);
    if (result.ec != std::errc() || result.ptr != end) minor = -1;
  }
  if (minor >= kOldest && minor <= kNewest) return minor;
  reader.error(reader.placeOf("version"), "version: found " + io::quoted(version) +
                                              ", expected 1." + std::to_string(kOldest) + " to 1." +
                                              std::to_string(kNewest));
  return std::nullopt;
}

void SdfReader::readRoot() {
  passForeignAttributes(root_, &extensions_);
  Source source{.folder = import_.files.folder()};
  if (root_.name == "world") {
    source.version = kNewest;
    readWorld(root_, source);
    return;
  }
  if (root_.name == "model") {
    source.version = kNewest;
    if (const XmlAttribute* name = root_.attribute("name")) lone_ = name->value + "::";
    readModel(root_, "", source, nullptr, {});
    return;
  }
  const std::optional<int> version = readVersion(root_);
  if (!version) return;
  source.version = *version;
  checkChildren(root_, "sdf", {"world"}, {"model", "light", "actor"});
  ignore(root_, "sdf", "is not simulated", {"light", "actor"});
  int numModels = 0;
  const XmlElement* world = root_.child("world");
  for (const XmlElement& child : root_.children) numModels += child.name == "model" ? 1 : 0;
  if (world != nullptr) readWorld(*world, source);
  if (world == nullptr && numModels == 0)
    note(ImportNote::Kind::Error, root_, "sdf: found no world and no model, expected one");
  for (const XmlElement& child : root_.children) {
    if (child.name != "model") continue;
    if (world == nullptr && numModels == 1) {
      if (const XmlAttribute* name = child.attribute("name")) lone_ = name->value + "::";
    }
    readModel(child, "", source, nullptr, {});
  }
}

void SdfReader::readWorld(const XmlElement& element, const Source& source) {
  XmlReader reader(notes_, element, "world");
  reader.allow({"name"});
  const std::string name = reader.string("name").value_or("");
  reader.finish();
  if (!name.empty()) reader.setWho("world " + io::quoted(name));
  const std::string& who = reader.who();
  checkChildren(element, who,
                {"gravity", "magnetic_field", "atmosphere", "gui", "scene", "wind", "audio",
                 "spherical_coordinates"},
                {"physics", "model", "include", "frame", "joint", "light", "actor", "plugin",
                 "road", "state", "population"});
  ignore(element, who, "is not simulated",
         {"magnetic_field", "atmosphere", "gui", "scene", "wind", "audio", "spherical_coordinates",
          "light", "actor", "road"});
  for (const XmlElement& child : element.children) {
    if (child.name == "plugin") plugins_.add(child);
    if (child.name == "state")
      note(ImportNote::Kind::Warning, child, who + ": <state>: the world starts as its models say");
    if (child.name == "population")
      note(ImportNote::Kind::Error, child, who + ": <population> is not available yet");
  }
  // The format's own gravity where the file has none.
  import_.options.gravity = {0, 0, -9.8};
  const XmlElement* physics = nullptr;
  for (const XmlElement& child : element.children) {
    if (child.name != "physics") continue;
    const XmlAttribute* isDefault = child.attribute("default");
    const bool isChosen =
        isDefault != nullptr && (isDefault->value == "true" || isDefault->value == "1");
    if (physics == nullptr || isChosen) physics = &child;
    if (isChosen) break;
  }
  for (const XmlElement& child : element.children) {
    if (child.name == "physics" && &child != physics)
      note(ImportNote::Kind::Ignored, child, who + ": <physics>: another one is the default");
  }
  if (physics != nullptr) readPhysics(*physics, who + ": physics");
  if (const auto gravity = vec3(element, "gravity", {-1e6, 1e6, "an acceleration [m/s^2]"}, who))
    import_.options.gravity = *gravity;
  for (const XmlElement& child : element.children) {
    if (child.name == "model") readModel(child, "", source, nullptr, {});
    if (child.name == "include") readInclude(child, "", source, nullptr);
    if (child.name == "frame") addFrame(child, "");
    if (child.name == "joint") collectJoint(child, "", source, /*isStatic=*/false);
  }
}

void SdfReader::readPhysics(const XmlElement& element, const std::string& who) {
  XmlReader reader(notes_, element, who);
  reader.allow({"name", "default", "type"});
  reader.finish();
  checkChildren(element, who,
                {"max_step_size", "real_time_factor", "real_time_update_rate", "max_contacts",
                 "gravity", "dart", "simbody", "bullet", "ode"});
  const NumberRule kStep{0, 1, "a time step above 0 and at most 1 [s]", true};
  if (const auto dt = number(element, "max_step_size", kStep, who)) import_.options.dt = *dt;
  if (const auto gravity = vec3(element, "gravity", {-1e6, 1e6, "an acceleration [m/s^2]"}, who))
    import_.options.gravity = *gravity;
  ignore(element, who, "is for other engines or for real time",
         {"real_time_factor", "real_time_update_rate", "max_contacts", "dart", "simbody", "bullet",
          "ode"});
}

// ---- Models

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
  if (name.empty() || name.find("::") != std::string::npos) {
    reader.error(reader.placeOf("name"),
                 "name: found " + io::quoted(name) + ", expected a name without '::'");
    return;
  }
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
      XmlReader reader(notes_, child, who + ": link");
      const std::string name = reader.string("name").value_or("");
      reader.finish();
      if (name.empty() || name.find("::") != std::string::npos || name == "world") {
        reader.error(reader.placeOf("name"), "name: found " + io::quoted(name) +
                                                 ", expected a name without '::', not 'world'");
        continue;
      }
      const std::string full = scoped(model.scope, name);
      const PoseText pose = readPose(child, "link " + io::quoted(full));
      SdfFrame frame{.name = full,
                     .element = &child,
                     .place = pose.isGiven ? pose.place : child.place,
                     .pose = pose.X,
                     .relativeTo = model.scope,
                     .attachedTo = full,
                     .isLink = true};
      if (!frames_.add(std::move(frame))) continue;
      if (!pose.relativeTo.empty()) {
        pending_frames_.push_back({.element = &child,
                                   .name = full,
                                   .scope = model.scope,
                                   .relativeTo = pose.relativeTo,
                                   .relativePlace = pose.place});
      }
      if (first.empty()) first = full;
      links_.push_back({&child, full, index});
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
  if (first.empty()) {
    for (const XmlElement& child : model.element->children) {
      if (!first.empty() || (child.name != "model" && child.name != "include")) continue;
      // Nested models come right after this one, in their order.
      if (models_.size() > index + 1) first = models_[index + 1].scope;
    }
  }
  SdfFrame& frame = *frames_.find(model.scope);
  frame.attachedTo = model.isStatic ? "" : first;
  if (first.empty() && !model.isStatic && !notes_.hasErrors())
    note(ImportNote::Kind::Error, *model.element, who + ": found no link, expected at least one");
}

void SdfReader::addFrame(const XmlElement& element, const std::string& scope) {
  XmlReader reader(notes_, element, "frame");
  const std::string name = reader.string("name").value_or("");
  const std::string attachedTo = reader.string("attached_to").value_or("");
  reader.finish();
  if (name.empty() || name.find("::") != std::string::npos) {
    reader.error(reader.placeOf("name"),
                 "name: found " + io::quoted(name) + ", expected a name without '::'");
    return;
  }
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
  if (name.empty() || name.find("::") != std::string::npos) {
    reader.error(reader.placeOf("name"),
                 "name: found " + io::quoted(name) + ", expected a name without '::'");
    return;
  }
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
  for (const PendingFrame& pending : pending_frames_) {
    const std::string who = pending.element->name + " " + io::quoted(pending.name);
    SdfFrame& frame = *frames_.find(pending.name);
    if (!pending.attachedTo.empty()) {
      if (const auto to = frames_.lookUp(pending.scope, pending.attachedTo, *pending.element,
                                         pending.attachedPlace, who + ": attached_to"))
        frame.attachedTo = *to;
    }
    if (!pending.relativeTo.empty()) {
      if (const auto to = frames_.lookUp(pending.scope, pending.relativeTo, *pending.element,
                                         pending.relativePlace, who + ": relative_to"))
        frame.relativeTo = *to;
    }
  }
  for (const PendingModel& pending : pending_models_) {
    const std::string who = "model " + io::quoted(pending.name);
    SdfFrame& frame = *frames_.find(pending.name);
    if (!pending.canonical.empty()) {
      const auto to = frames_.lookUp(pending.name, pending.canonical, *pending.element,
                                     pending.canonicalPlace, who + ": canonical_link");
      if (to && !frame.attachedTo.empty()) frame.attachedTo = *to;
    }
    if (!pending.relativeTo.empty()) {
      if (const auto to = frames_.lookUp(pending.parent, pending.relativeTo, *pending.poseElement,
                                         pending.relativePlace, who + ": relative_to"))
        frame.relativeTo = *to;
    }
    if (!pending.placement.empty()) {
      if (const auto to = frames_.lookUp(pending.name, pending.placement, *pending.poseElement,
                                         pending.placementPlace, who + ": placement_frame"))
        frame.placement = *to;
    }
  }
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
    if (!joint.relativeTo.empty()) {
      if (const auto to = frames_.lookUp(joint.scope, joint.relativeTo, element,
                                         joint.relativePlace, who + ": relative_to"))
        frame.relativeTo = *to;
    }
  }
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

// ---- Includes

void SdfReader::readInclude(const XmlElement& element, const std::string& parent,
                            const Source& source, const Model* outer) {
  XmlReader reader(notes_, element, "include");
  const bool isMerged = reader.boolean("merge").value_or(false);
  reader.finish();
  checkChildren(element, "include",
                {"uri", "name", "pose", "static", "placement_frame", "namespace"}, {"plugin"});
  ignore(element, "include", "is for other programs", {"namespace"});
  for (const XmlElement& child : element.children) {
    if (child.name == "plugin") plugins_.add(child);
  }
  if (isMerged) {
    reader.error(reader.placeOf("merge"), "merge: is not available yet");
    return;
  }
  const XmlElement* uri = element.child("uri");
  if (uri == nullptr) {
    reader.error(element.place, "uri is missing");
    return;
  }
  Overrides overrides{.element = &element};
  overrides.name = text(element, "name", "include");
  overrides.isStatic = boolean(element, "static", "include");
  if (const XmlElement* placement = element.child("placement_frame")) {
    overrides.placement = placement->text;
    overrides.placementPlace = placement->textPlace;
  }
  const PoseText pose = readPose(element, "include");
  if (pose.isGiven) overrides.pose = pose;

  const std::optional<fs::path> path = locate(*uri, source);
  if (!path) return;
  Source inner = source;
  const bool isRing =
      std::find(source.chain.begin(), source.chain.end(), *path) != source.chain.end();
  inner.chain.push_back(*path);
  inner.folder = path->parent_path();
  if (isRing || inner.chain.size() > kMaxIncludeDepth) {
    std::string chain;
    for (const fs::path& file : inner.chain) {
      if (!chain.empty()) chain += " -> ";
      chain += io::quoted(file.filename().string());
    }
    const std::string message =
        "include: found " +
        std::string(isRing ? "files that include each other" : "files included deeper than 16") +
        ": " + chain;
    if (isRing) {
      note(ImportNote::Kind::Error, *uri, message);
    } else {
      notes_.limitIn(*uri->file, uri->place, message);
    }
    return;
  }
  const std::string shown = path->lexically_relative(import_.files.folder()).string();
  try {
    const std::string content = import_.files.readText(*path, shown);
    std::optional<XmlElement> root = parseRobotXml(content, shown, import_.limits, notes_);
    if (!root) return;
    documents_.push_back(std::move(*root));
  } catch (const LimitExceeded& error) {
    notes_.limitIn(*uri->file, uri->textPlace, std::string("include: ") + error.what());
    return;
  } catch (const InvalidInput& error) {
    say(notes_, ImportNote::Kind::Error, *uri, uri->textPlace,
        std::string("include: ") + error.what());
    return;
  }
  const XmlElement& root = documents_.back();
  passForeignAttributes(root, &extensions_);
  if (root.name != "sdf") {
    note(ImportNote::Kind::Error, root,
         "include: found <" + root.name.substr(0, 40) +
             ">, expected <sdf>; other robot files are placed by [[model]] of a native scene");
    return;
  }
  const std::optional<int> version = readVersion(root);
  if (!version) return;
  inner.version = *version;
  checkChildren(root, "sdf", {"model"});
  const XmlElement* model = root.child("model");
  if (model == nullptr) {
    note(ImportNote::Kind::Error, root, "include: found no model, expected one");
    return;
  }
  readModel(*model, parent, inner, outer, overrides);
}

/// The file that a <uri> means: itself, or the one that the model.config of a folder names.
std::optional<fs::path> SdfReader::locate(const XmlElement& uri, const Source& source) {
  XmlReader(notes_, uri, "include: uri").finish();
  std::string name = uri.text;
  while (name.size() > 1 && name.back() == '/' && !endsWith(name, "://")) name.pop_back();
  try {
    if (name.compare(0, 7, "http://") == 0 || name.compare(0, 8, "https://") == 0)
      throw InvalidInput("found the address " + io::quoted(name) +
                         ", expected a file: addresses are never fetched");
    for (const char* end : {".sdf", ".world", ".xml", ".urdf"}) {
      if (endsWith(name, end)) return import_.files.resolve(name, source.folder);
    }
    std::optional<fs::path> config;
    try {
      config = import_.files.resolve(name + "/model.config", source.folder);
    } catch (const InvalidInput&) {
      return import_.files.resolve(name + "/model.sdf", source.folder);
    }
    return fileOfConfig(*config, uri);
  } catch (const InvalidInput& error) {
    say(notes_, ImportNote::Kind::Error, uri, uri.textPlace,
        std::string("include: ") + error.what());
    return std::nullopt;
  }
}

/// Of the files in a model.config the one of the newest version that is read.
std::optional<fs::path> SdfReader::fileOfConfig(const fs::path& config, const XmlElement& uri) {
  const std::string shown = config.lexically_relative(import_.files.folder()).string();
  const std::string content = import_.files.readText(config, shown);
  const std::optional<XmlElement> root = parseRobotXml(content, shown, import_.limits, notes_);
  if (!root) return std::nullopt;
  std::string best;
  int newest = -1;
  for (const XmlElement& child : root->children) {
    if (child.name != "sdf") continue;
    const XmlAttribute* version = child.attribute("version");
    int minor = 0;
    if (version != nullptr && version->value.compare(0, 2, "1.") == 0) {
      const std::string& digits = version->value;
      (void)std::from_chars(digits.data() + 2, digits.data() + digits.size(), minor);
    }
    if (minor > newest && minor <= kNewest) {
      newest = minor;
      best = child.text;
    }
  }
  if (best.empty()) {
    say(notes_, ImportNote::Kind::Error, uri, uri.textPlace,
        "include: " + io::quoted(shown) + " names no <sdf> file");
    return std::nullopt;
  }
  return import_.files.resolve(best, config.parent_path());
}

// ---- The whole

/// Links of one model touch each other only where the file says so.
void SdfReader::separateLinks() {
  constexpr std::size_t kMaxPairs = 500'000;
  std::size_t numPairs = 0;
  std::map<std::string, std::vector<const LinkFlags*>> byModel;
  for (const LinkFlags& link : touching_) byModel[link.root].push_back(&link);
  for (const auto& [root, members] : byModel) {
    std::size_t before = numPairs;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        if (members[i]->selfCollides || members[j]->selfCollides) continue;
        if (++numPairs > kMaxPairs) {
          notes_.limitIn(*root_.file, root_.place,
                         "found more than " + std::to_string(kMaxPairs) +
                             " pairs of links that do not touch, the limit; give self_collide");
          return;
        }
        import_.builder.excludePair(members[i]->body, members[j]->body);
      }
    }
    const SdfFrame* frame = frames_.find(root);
    if (numPairs > before && frame != nullptr) {
      note(ImportNote::Kind::Read, *frame->element,
           "model " + io::quoted(root) +
               ": its links do not touch each other (self_collide is false)");
    }
  }
}

void SdfReader::summarize() {
  int numMoving = 0;
  for (const RobotJoint& joint : tree_.joints()) numMoving += joint.joints.empty() ? 0 : 1;
  const auto count = [](std::size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  note(ImportNote::Kind::Read, root_,
       count(models_.size(), "model") + ", " + count(links_.size(), "link") + ", " +
           count(joints_.size(), "joint") + " (" + std::to_string(numMoving) + " moving), " +
           count(static_cast<std::size_t>(import_.numShapes - first_shape_), "collision shape"));
  using Kind = ImportNote::Kind;
  tell(notes_, visuals_, Kind::Ignored, "<visual>: what is simulated are collision shapes");
  tell(notes_, sensors_, Kind::Ignored, "<sensor>: its readings are not simulated");
  tell(notes_, plugins_, Kind::Ignored, "<plugin>: a program of another simulator");
  tell(notes_, velocities_, Kind::Ignored, "<velocity> of a limit: speeds are not limited");
  tell(notes_, springs_, Kind::Ignored,
       "<stiffness> or <dissipation> of a limit: limits are as stiff as the step allows");
  tell(notes_, odes_, Kind::Ignored, "parameter of contact or joint for another engine");
  tell(notes_, defaults_, Kind::Changed,
       "link without <inertial>: the format's 1 kg and 1 kg m^2 about each axis");
  tell(notes_, extensions_, Kind::Ignored, "element of another program");
}

// ---- Values

std::string SdfReader::plainName(const std::string& name) const {
  return !lone_.empty() && name.compare(0, lone_.size(), lone_) == 0 ? name.substr(lone_.size())
                                                                     : name;
}

SdfReader::PoseText SdfReader::readPose(const XmlElement& parent, const std::string& who) {
  PoseText out;
  const XmlElement* element = parent.child("pose");
  if (element == nullptr) return out;
  XmlReader reader(notes_, *element, who + ": pose");
  out.isGiven = true;
  out.place = element->place;
  if (const XmlAttribute* to = reader.find("relative_to")) {
    out.relativeTo = to->value;
    out.place = to->valuePlace;
  }
  if (const XmlAttribute* frame = reader.find("frame"); frame != nullptr && !frame->value.empty()) {
    reader.note(ImportNote::Kind::Ignored, frame->place,
                "frame: had no effect before 1.7; relative_to has");
  }
  const bool isQuat = reader.word("rotation_format", {"euler_rpy", "quat_xyzw"}).value_or(0) == 1;
  const bool isDegrees = reader.boolean("degrees").value_or(false);
  reader.finish();
  if (element->text.empty()) return out;
  const std::size_t count = isQuat ? 7 : 6;
  const auto v =
      readNumbers(notes_, {element->text, element->textPlace, element->file.get(), reader.who()},
                  count, count, robot_rule::kPosition);
  if (!v) return out;
  out.X.translation = {(*v)[0], (*v)[1], (*v)[2]};
  if (isQuat) {
    const Quat q{(*v)[6], (*v)[3], (*v)[4], (*v)[5]};
    const Real length = math::norm(q);
    if (!(length > 1e-9)) {
      reader.error(element->textPlace, "found a quaternion of length 0, expected 1");
      return out;
    }
    out.X.rotation = rotationMatrix(q);
    return out;
  }
  Vec3 rpy{(*v)[3], (*v)[4], (*v)[5]};
  if (isDegrees) rpy = rpy * kDegree;
  if (!(std::fabs(rpy.x) <= robot_rule::kAngle.upper &&
        std::fabs(rpy.y) <= robot_rule::kAngle.upper &&
        std::fabs(rpy.z) <= robot_rule::kAngle.upper)) {
    reader.error(element->textPlace,
                 std::string("found an angle, expected ") + robot_rule::kAngle.expected);
    return out;
  }
  out.X.rotation = rotationFromRpy(rpy);
  return out;
}

std::optional<Real> SdfReader::number(const XmlElement& parent, std::string_view key,
                                      const NumberRule& rule, const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  XmlReader reader(notes_, *child, who + ": " + std::string(key));
  reader.finish();
  return readNumber(notes_, {child->text, child->textPlace, child->file.get(), reader.who()}, rule);
}

std::optional<Vec3> SdfReader::vec3(const XmlElement& parent, std::string_view key,
                                    const NumberRule& rule, const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  const std::string whose = who + ": " + std::string(key);
  return readVec3(notes_, {child->text, child->textPlace, child->file.get(), whose}, rule);
}

std::optional<bool> SdfReader::boolean(const XmlElement& parent, std::string_view key,
                                       const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  XmlReader reader(notes_, *child, who + ": " + std::string(key));
  reader.finish();
  return readBoolean(notes_, {child->text, child->textPlace, child->file.get(), reader.who()});
}

std::optional<std::string> SdfReader::text(const XmlElement& parent, std::string_view key,
                                           const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  XmlReader(notes_, *child, who + ": " + std::string(key)).finish();
  if (child->text.empty()) return std::nullopt;
  return child->text;
}

void SdfReader::ignore(const XmlElement& parent, const std::string& who, const std::string& why,
                       std::initializer_list<std::string_view> names) {
  for (const XmlElement& child : parent.children) {
    if (!isIn(child.name, names)) continue;
    child.isRead = true;
    note(ImportNote::Kind::Ignored, child, who + ": <" + child.name + "> " + why);
  }
}

}  // namespace tangere::io
