// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: the file as a whole, and worlds.
#include <tangere/error.hpp>

#include "io/sdformat_reader.hpp"
#include "io/text.hpp"

#include <charconv>

namespace tangere::io {

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
  if (const auto dt = number(element, "max_step_size", kStep, who)) {
    import_.options.dt = *dt;
    constexpr Real kLongStep = 0.1;
    if (*dt > kLongStep)
      note(ImportNote::Kind::Warning, element,
           who + ": max_step_size of more than 0.1 s is too long for contacts");
  }
  if (const auto gravity = vec3(element, "gravity", {-1e6, 1e6, "an acceleration [m/s^2]"}, who))
    import_.options.gravity = *gravity;
  ignore(element, who, "is for other engines or for real time",
         {"real_time_factor", "real_time_update_rate", "max_contacts", "dart", "simbody", "bullet",
          "ode"});
}

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

}  // namespace tangere::io
