// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_bodies.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace tangere::io {

namespace {

using namespace mjcf_rule;

/// One for a count that is none: whoever reads it says so.
Real copiesOf(const XmlElement& replicate) {
  const XmlAttribute* attribute = replicate.attribute("count");
  if (attribute == nullptr) return 1;
  std::string_view word = attribute->value;
  word = takeWord(&word);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  const bool isCount = error == std::errc() && end == word.data() + word.size() && count >= 0;
  return isCount ? static_cast<Real>(count) : 1;
}

}  // namespace

MjcfBodies::MjcfBodies(RobotImport& import, const MjcfCompiler& compiler,
                       const MjcfDefaults& defaults, MjcfAssets& assets,
                       const MjcfDisabled& disabled)
    : import_(import),
      compiler_(compiler),
      defaults_(defaults),
      assets_(assets),
      disabled_(disabled) {
  MjcfBody world;
  world.pose = import.pose;
  world.isStatic = true;
  world.body.name = import.prefix + "world";
  world.body.type = BodyType::Fixed;
  world.body.pose = import.pose;
  bodies_.push_back(std::move(world));
  index_["world"] = 0;
  import.names.emplace("body " + import.prefix + "world", Place{});
}

void MjcfBodies::read(const XmlElement& worldbody) {
  worldbody.isRead = true;
  if (bodies_[0].element == nullptr) bodies_[0].element = &worldbody;
  countCopies(worldbody, 1);
  if (is_full_) return;
  reserveNames(worldbody);
  readChildren(worldbody, {.settings = defaults_.find("main")});
}

/// So that nothing unnamed takes a name that is given further on.
void MjcfBodies::reserveNames(const XmlElement& worldbody) {
  std::vector<const XmlElement*> pending{&worldbody};
  while (!pending.empty()) {
    const XmlElement& element = *pending.back();
    pending.pop_back();
    for (const XmlElement& child : element.children) {
      for (const XmlAttribute& attribute : child.attributes) {
        if (attribute.name != "name") continue;
        const std::string kind = child.name == "freejoint" ? "joint" : child.name;
        import_.reserved.insert(kind + " " + import_.prefix + attribute.value);
      }
      pending.push_back(&child);
    }
  }
}

/// What <replicate> makes of a section that is there so many times, before any of it is made: a few
/// of them inside each other ask for more than any memory holds.
void MjcfBodies::countCopies(const XmlElement& section, Real times) {
  const auto refuse = [&](const XmlElement& at, const std::string& what) {
    const XmlAttribute* count = at.attribute("count");
    import_.notes.limitIn(*at.file, count != nullptr ? count->valuePlace : at.place,
                          "replicate: found more than " + what + ", the limit");
    is_full_ = true;
  };
  const SceneLimits& limits = import_.limits;
  for (const XmlElement& child : section.children) {
    if (is_full_) return;
    Real inside = times;
    if (child.name == "replicate") {
      inside *= copiesOf(child);
      expansion_.copies += inside;
    }
    expansion_.elements += times;
    if (child.name == "body") expansion_.bodies += times;
    if (child.name == "geom" || child.name == "site") expansion_.shapes += times;
    const auto most = static_cast<Real>(limits.maxBodies);
    if (expansion_.copies > most)
      return refuse(child, std::to_string(limits.maxBodies) + " copies in the file");
    if (times > 1 && expansion_.bodies > most)
      return refuse(child, std::to_string(limits.maxBodies) + " bodies");
    if (times > 1 && expansion_.shapes > static_cast<Real>(limits.maxShapes))
      return refuse(child, std::to_string(limits.maxShapes) + " shapes");
    if (times > 1 && expansion_.elements > most + static_cast<Real>(limits.maxShapes))
      return refuse(child, std::to_string(limits.maxBodies) + " bodies and " +
                               std::to_string(limits.maxShapes) + " shapes together");
    countCopies(child, inside);
  }
}

void MjcfBodies::readChildren(const XmlElement& section, const Scope& scope) {
  for (const XmlElement& child : section.children) {
    if (is_full_) return;
    const std::string& kind = child.name;
    if (kind == "body") {
      readBody(child, scope);
    } else if (kind == "frame") {
      readFrame(child, scope);
    } else if (kind == "replicate") {
      readReplicate(child, scope);
    } else if (kind == "inertial") {
      readInertial(child, scope);
    } else if (kind == "joint" || kind == "freejoint") {
      readJoint(child, scope);
    } else if (kind == "geom") {
      readGeom(child, scope);
    } else if (kind == "site") {
      readSite(child, scope);
    } else if (kind == "composite" || kind == "flexcomp" || kind == "attach" || kind == "plugin") {
      child.isRead = true;
      notes().addIn(*child.file, ImportNote::Kind::Error, child.place,
                    "found <" + kind + ">, which is not available in this version" +
                        (kind == "attach" ? "; place models as [[model]] of a native scene" : ""));
    }
    // Cameras and lights are reported as unread.
  }
}

void MjcfBodies::readBody(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  if (!import_.countBody(element)) {
    is_full_ = true;
    return;
  }
  const MjcfClass* settings = classOf(reader, "childclass", scope.settings);
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  readMjcfPlacement(reader, compiler_, &position, &rotation);

  MjcfBody out;
  out.element = &element;
  out.parent = scope.body;
  std::string fileName;
  out.body.name = takeName(reader, "body", scope, &fileName);
  out.body.pose = scope.frame * Transform{rotation, position};
  out.pose = bodies_[static_cast<std::size_t>(scope.body)].pose * out.body.pose;
  out.hasInertial = std::any_of(element.children.begin(), element.children.end(),
                                [](const XmlElement& child) { return child.name == "inertial"; });
  out.isMocap = reader.boolean("mocap").value_or(false);
  const Real compensation = reader.number("gravcomp", kFinite).value_or(0);
  out.body.gravityScale = 1 - compensation;
  out.body.collidesWithParent = disabled_.parentFilter;
  reader.ignore({"sleep", "simple"}, "it belongs to MuJoCo's solver");
  if (out.isMocap && scope.body != 0) {
    reader.errorFound("mocap", "a body directly in the world");
    out.isMocap = false;
  }
  const int index = static_cast<int>(bodies_.size());
  if (!fileName.empty()) index_.emplace(fileName, index);
  bodies_.push_back(std::move(out));
  if (settings == nullptr) return;
  readChildren(element, {.body = index,
                         .settings = settings,
                         .suffix = scope.suffix,
                         .isInReplicate = scope.isInReplicate});
  const MjcfBody& made = bodies_[static_cast<std::size_t>(index)];
  if (made.isMocap && !made.body.joints.empty())
    reader.errorFound("mocap", "a body without joints");
}

void MjcfBodies::readFrame(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  (void)reader.string("name");
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  readMjcfPlacement(reader, compiler_, &position, &rotation);
  Scope inner = scope;
  inner.settings = classOf(reader, "childclass", scope.settings);
  inner.frame = scope.frame * Transform{rotation, position};
  if (inner.settings != nullptr) readChildren(element, inner);
}

void MjcfBodies::readReplicate(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, "replicate");
  const auto count = reader.integer("count", 0, 1'000'000'000'000, "a number of copies");
  const Vec3 offset = reader.vec3("offset", kPosition).value_or(Vec3{});
  const Vec3 euler = reader.vec3("euler", kAngle).value_or(Vec3{});
  const std::string separator = reader.string("sep").value_or("");
  Scope inner = scope;
  inner.isInReplicate = true;
  inner.settings = classOf(reader, "childclass", scope.settings);
  if (!reader.has("count")) reader.error(reader.place(), "count is missing, expected a number");
  if (!count || inner.settings == nullptr) return;
  const std::size_t numDigits = std::to_string(*count).size();
  const bool wasCopy = is_copy_;
  const Mat3 turn = rotationFromEuler(compiler_, euler);
  Transform place;
  for (std::int64_t i = 0; i < *count && !is_full_; ++i) {
    // Each angle from its own multiple, so that errors do not add up.
    place.rotation = rotationFromEuler(compiler_, euler * static_cast<Real>(i));
    inner.frame = scope.frame * place;
    const std::string digits = std::to_string(i);
    inner.suffix = separator;
    inner.suffix.append(numDigits - digits.size(), '0').append(digits).append(scope.suffix);
    is_copy_ = wasCopy || i > 0;
    readChildren(element, inner);
    place = place * Transform{turn, offset};
  }
  is_copy_ = wasCopy;
}

void MjcfBodies::readJoint(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  if (scope.body == 0) {
    reader.error(reader.place(), "found a joint in the world, expected it in a body");
    return;
  }
  const bool isFreeJoint = element.name == "freejoint";
  MjcfJoint settings;
  if (isFreeJoint) {
    settings.type = JointType::Free;
    if (const auto word = reader.word("align", {"false", "true", "auto"}); word && *word == 1)
      reader.change("align", "the coordinates stay those of the body's own frame");
  } else {
    const MjcfClass* klass = classOf(reader, "class", scope.settings);
    if (klass == nullptr) return;
    settings = klass->joint;
    readMjcfJoint(reader, &settings);
  }
  Joint joint = makeJoint(reader, settings, scope);
  MjcfBody& body = bodies_[static_cast<std::size_t>(scope.body)];
  if (settings.type == JointType::Free && body.parent != 0)
    reader.error(reader.place(), "found a free joint, expected it in a body directly in the world");
  if (!body.body.joints.empty() &&
      (settings.type == JointType::Free || body.body.joints[0].type == JointType::Free)) {
    reader.error(reader.place(), "found a free joint beside another, expected it alone");
    return;
  }
  const bool hasBall = std::any_of(body.body.joints.begin(), body.body.joints.end(),
                                   [](const Joint& j) { return j.type == JointType::Ball; });
  if (hasBall && settings.type != JointType::Prismatic)
    reader.error(reader.place(), "found a rotation after a ball joint, expected none");
  int numDofs = numJointVelocities(joint.type);
  for (const Joint& other : body.body.joints) numDofs += numJointVelocities(other.type);
  constexpr int kMaxDofs = 6;
  if (numDofs > kMaxDofs) {
    reader.error(reader.place(), "found more than 6 degrees of freedom in one body");
    return;
  }
  std::string fileName;
  if (settings.type == JointType::Free && !reader.has("name")) {
    joint.name = body.body.name;  // as that of a free body
  } else {
    joint.name = takeName(reader, "joint", scope, &fileName);
  }
  numPositions += numJointPositions(joint.type);
  numVelocities += numJointVelocities(joint.type);
  if (!fileName.empty())
    joints_.emplace(fileName,
                    MjcfJointEntry{scope.body, static_cast<int>(body.body.joints.size())});
  body.body.joints.push_back(std::move(joint));
}

/// A joint as we have it, in radians and in the frame of the body.
Joint MjcfBodies::makeJoint(XmlReader& reader, const MjcfJoint& settings, const Scope& scope) {
  Joint out;
  out.type = settings.type;
  const bool isHinge = settings.type == JointType::Revolute;
  const bool isBall = settings.type == JointType::Ball;
  const bool isFree = settings.type == JointType::Free;
  if (!isFree) out.position = scope.frame * settings.position;
  if (!isFree && !isBall) {
    out.axis = scope.frame.rotation * settings.axis;
    const Real length = math::scaledNorm(out.axis);
    if (!(length > kTooShort)) {
      reader.errorFound("axis", "a direction other than zero");
      out.axis = {0, 0, 1};
    } else {
      out.axis = out.axis / length;
    }
  }
  out.armature = settings.armature;
  out.damping = disabled_.dampers ? 0 : settings.damping;
  out.frictionLoss = disabled_.frictionLoss ? 0 : settings.frictionLoss;
  out.stiffness = disabled_.springs ? 0 : settings.stiffness;
  if (isHinge || settings.type == JointType::Prismatic) {
    out.reference = isHinge ? compiler_.radians(settings.reference) : settings.reference;
    out.springReference =
        isHinge ? compiler_.radians(settings.springReference) : settings.springReference;
  }
  const auto isLimited = [&](MjcfLimited limited, const MjcfRange& range, const char* name) {
    if (limited != MjcfLimited::Auto) return limited == MjcfLimited::True;
    if (range.isSet() && !compiler_.autoLimits)
      reader.error(reader.placeOf(name), std::string(name) +
                                             ": found a range without 'limited' under "
                                             "autolimits=\"false\", expected both");
    return range.isSet();
  };
  if (!isFree && isLimited(settings.limited, settings.range, "range") && !disabled_.limits) {
    const bool isAngle = isHinge || isBall;
    out.lower = isAngle ? compiler_.radians(settings.range.lower) : settings.range.lower;
    out.upper = isAngle ? compiler_.radians(settings.range.upper) : settings.range.upper;
    if (isBall) {
      if (settings.range.lower != 0) reader.errorFound("range", "0 and the largest angle");
      out.lower = -kUnlimited;
    } else if (!(out.lower < out.upper)) {
      reader.errorFound("range", "a lower limit below the upper one");
      out.lower = -kUnlimited;
      out.upper = kUnlimited;
    }
  }
  if (!isFree && !isBall &&
      isLimited(settings.forceLimited, settings.forceRange, "actuatorfrcrange")) {
    out.lowerActuatorForce = settings.forceRange.lower;
    out.upperActuatorForce = settings.forceRange.upper;
  }
  return out;
}

const MjcfClass* MjcfBodies::classOf(XmlReader& reader, const char* attribute,
                                     const MjcfClass* fallback) {
  const auto name = reader.string(attribute);
  if (!name) return fallback;
  const MjcfClass* found = defaults_.find(*name);
  if (found == nullptr)
    reader.errorFound(attribute,
                      "a default class" + candidates(name->substr(0, 64), defaults_.names()));
  return found;
}

/// The full name; `fileName` is how the rest of the file calls it, empty for something unnamed.
std::string MjcfBodies::takeName(XmlReader& reader, const char* kind, const Scope& scope,
                                 std::string* fileName) {
  *fileName = reader.string("name").value_or("");
  if (!fileName->empty()) *fileName += scope.suffix;
  return import_.takeName(kind, *fileName, reader.element(), reader.placeOf("name"));
}

void MjcfBodies::finish() {
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    MjcfBody& body = bodies_[i];
    body.isStatic = body.body.joints.empty() && !body.isMocap &&
                    bodies_[static_cast<std::size_t>(body.parent)].isStatic;
  }
  computeMasses();
  requireMasses();
  if (import_.notes.hasErrors()) return;
  addMaterials();
  addBodies();
  addSites();
  addLooks();
}

void MjcfBodies::addBodies() {
  const MjcfBody& world = bodies_[0];
  if (!world.body.shapes.empty()) import_.builder.addBody(world.body);
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    MjcfBody& entry = bodies_[i];
    Body& body = entry.body;
    const bool hasGround =
        std::any_of(body.shapes.begin(), body.shapes.end(), [](const BodyShape& shape) {
          return shape.shape->type() == ShapeType::Plane ||
                 shape.shape->type() == ShapeType::HeightField;
        });
    if (entry.isMocap) {
      body.type = BodyType::Kinematic;
      body.pose = entry.pose;
    } else if (entry.isStatic && (entry.parent == 0 || hasGround)) {
      body.type = BodyType::Fixed;
      body.pose = entry.pose;
    } else if (entry.parent != 0) {
      body.parent = bodies_[static_cast<std::size_t>(entry.parent)].body.name;
    } else {
      body.pose = entry.pose;
    }
    if (body.type == BodyType::Dynamic) {
      body.massProperties = entry.mass;
      if (entry.mass.mass == 0) body.massProperties = MassProperties{};
    }
    try {
      import_.builder.addBody(body);
    } catch (const InvalidInput& error) {
      import_.notes.addIn(*entry.element->file, ImportNote::Kind::Error, entry.element->place,
                          error.what());
    }
  }
}

/// Body by body, as MuJoCo numbers them.
void MjcfBodies::addSites() {
  for (const MjcfBody& body : bodies_) {
    for (const auto& [site, element] : body.sites) {
      try {
        import_.builder.addSite(site);
      } catch (const InvalidInput& error) {
        import_.notes.addIn(*element->file, ImportNote::Kind::Error, element->place, error.what());
      }
    }
  }
}

int MjcfBodies::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found != index_.end() ? found->second : -1;
}

std::vector<std::string> MjcfBodies::bodyNames() const { return namesOf(index_); }

const MjcfSiteEntry* MjcfBodies::findSite(const std::string& name) const {
  const auto found = sites_.find(name);
  return found != sites_.end() ? &found->second : nullptr;
}

const MjcfJointEntry* MjcfBodies::findJoint(const std::string& name) const {
  const auto found = joints_.find(name);
  return found != joints_.end() ? &found->second : nullptr;
}

const MjcfGeom* MjcfBodies::findGeom(const std::string& name) const {
  const auto found = geoms_.find(name);
  return found != geoms_.end() ? &found->second : nullptr;
}

const Joint& MjcfBodies::joint(const MjcfJointEntry& entry) const {
  return body(entry.body).body.joints[static_cast<std::size_t>(entry.index)];
}

}  // namespace tangere::io
