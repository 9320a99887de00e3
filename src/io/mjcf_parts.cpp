// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_parts.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace tangere::io {

using namespace mjcf_rule;

template <class Add>
void MjcfParts::tryTo(XmlReader& reader, const Add& add) {
  if (import_.notes.hasErrors()) return;  // what is referred to may be missing for that reason
  try {
    add();
  } catch (const InvalidInput& error) {
    reader.error(reader.place(), error.what());
  }
}

void MjcfParts::readContact(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    if (child.name == "pair") readPair(child);
    if (child.name == "exclude") readExclude(child);
  }
}

void MjcfParts::readPair(const XmlElement& element) {
  XmlReader reader(import_.notes, element, callOf(element));
  (void)reader.string("name");
  const MjcfClass* settings = classOf(reader);
  if (settings == nullptr) return;
  MjcfPair pair = settings->pair;
  readMjcfPair(reader, &pair);
  const MjcfGeom* geoms[2] = {};
  std::string names[2];
  for (int i = 0; i < 2; ++i) {
    const char* attribute = i == 0 ? "geom1" : "geom2";
    const std::string name = reader.string(attribute).value_or("");
    geoms[i] = bodies_.findGeom(name);
    if (geoms[i] == nullptr) {
      reader.errorFound(attribute,
                        "the name of a geom" + candidates(name.substr(0, 64), bodies_.geomNames()));
      return;
    }
    const auto shape = bodies_.shapes().find(name);
    if (shape == bodies_.shapes().end()) return;  // contacts are off, or the geom has an error
    names[i] = shape->second;
  }
  const bool isSamePriority = geoms[0]->priority == geoms[1]->priority;
  const MjcfGeom& higher = geoms[0]->priority > geoms[1]->priority ? *geoms[0] : *geoms[1];
  const int dimension = pair.contactDimension.value_or(
      isSamePriority ? std::max(geoms[0]->contactDimension, geoms[1]->contactDimension)
                     : higher.contactDimension);
  std::array<Real, 3> friction = higher.friction;
  if (isSamePriority) {
    for (std::size_t i = 0; i < 3; ++i)
      friction[i] = std::fmax(geoms[0]->friction[i], geoms[1]->friction[i]);
  }
  if (pair.friction) {
    const std::array<Real, 5>& f = *pair.friction;
    friction = {f[0], f[2], f[3]};
    if (f[0] != f[1])
      reader.change("friction", "the first number counts in all directions of the plane");
  }
  if (dimension >= 4)
    reader.note(ImportNote::Kind::Changed, reader.place(),
                "torsional and rolling friction of a pair are those of the materials");
  const ShapePairRule rule{names[0], names[1], combinedFriction(dimension, friction).sliding};
  tryTo(reader, [&] { import_.builder.addShapePair(rule); });
}

void MjcfParts::readExclude(const XmlElement& element) {
  XmlReader reader(import_.notes, element, callOf(element));
  (void)reader.string("name");
  const int body1 = bodyOf(reader, "body1"), body2 = bodyOf(reader, "body2");
  if (body1 < 0 || body2 < 0) return;
  if (body1 == body2) {
    reader.errorFound("body2", "another body than body1");
    return;
  }
  for (const int body : {body1, body2}) {  // a world without geoms is no body
    if (body == 0 && bodies_.body(0).body.shapes.empty()) return;
  }
  tryTo(reader, [&] {
    import_.builder.excludePair(bodies_.body(body1).body.name, bodies_.body(body2).body.name);
  });
}

void MjcfParts::readEquality(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    XmlReader reader(import_.notes, child, callOf(child));
    const MjcfClass* settings = classOf(reader);
    if (settings == nullptr) continue;
    MjcfEquality common = settings->equality;
    readMjcfEquality(reader, &common);
    Equality out;
    out.name = takeName(reader, "equality");
    out.isActive = common.isActive && !disabled_.equalities;
    const std::size_t numErrors = import_.notes.numErrors();
    if (child.name == "connect" || child.name == "weld") {
      out.type = child.name == "weld" ? Equality::Type::Weld : Equality::Type::Connect;
      readBodyEquality(reader, &out);
    } else if (child.name == "joint" || child.name == "tendon") {
      out.type = child.name == "joint" ? Equality::Type::Joint : Equality::Type::Tendon;
      readCoupling(reader, child.name.c_str(), &out);
    } else {
      reader.error(reader.place(), "flexible objects are not available in this version");
    }
    if (import_.notes.numErrors() > numErrors) continue;
    tryTo(reader, [&] { import_.builder.addEquality(out); });
  }
}

void MjcfParts::readBodyEquality(XmlReader& reader, Equality* out) {
  const bool isWeld = out->type == Equality::Type::Weld;
  int body1 = 0, body2 = 0;
  Transform frame1, frame2;  // what coincides, in each body
  bool isComplete = false;   // the frames are given, not left to the start
  if (reader.has("site1") || reader.has("site2")) {
    for (const char* name : {"body1", "body2", "anchor", "relpose"}) {
      if (reader.has(name))
        reader.error(reader.placeOf(name),
                     "found " + std::string(name) + " beside site1 and site2");
    }
    const MjcfSiteEntry* sites[2] = {};
    for (int i = 0; i < 2; ++i) {
      const char* attribute = i == 0 ? "site1" : "site2";
      const std::string name = reader.string(attribute).value_or("");
      sites[i] = bodies_.findSite(name);
      if (sites[i] == nullptr) {
        reader.errorFound(
            attribute, "the name of a site" + candidates(name.substr(0, 64), bodies_.siteNames()));
        return;
      }
    }
    body1 = sites[0]->body;
    body2 = sites[1]->body;
    frame1 = sites[0]->pose;
    frame2 = sites[1]->pose;
    isComplete = true;
  } else {
    body1 = bodyOf(reader, "body1");
    body2 = reader.has("body2") ? bodyOf(reader, "body2") : 0;
    const auto anchor = reader.vec3("anchor", kPosition);
    if (isWeld) {
      if (reader.has("anchor"))
        reader.change("anchor", "a rigid weld has none: it is one for every point");
      if (const auto pose = reader.numbers("relpose", 7, 7, kFinite)) {
        const Quat turn{(*pose)[3], (*pose)[4], (*pose)[5], (*pose)[6]};
        if (turn.w != 0 || turn.x != 0 || turn.y != 0 || turn.z != 0) {
          frame1 = {rotationMatrix(turn), {(*pose)[0], (*pose)[1], (*pose)[2]}};
          isComplete = true;
        }
      }
    } else {
      if (!reader.has("anchor")) {
        reader.error(reader.place(), "anchor is missing, expected a point of body1");
        return;
      }
      frame1.translation = anchor.value_or(Vec3{});
    }
    if (body1 < 0 || body2 < 0) return;
    if (!isComplete) {
      // As the bodies stand: the same frame seen from both.
      frame2 = inverseTimes(bodies_.body(body2).pose, bodies_.body(body1).pose * frame1);
    }
  }
  if (reader.has("torquescale"))
    reader.change("torquescale", "the SAP solver's own stiffness and dissipation are used instead");
  if (body1 == body2) {
    reader.error(reader.place(), "found one body on both sides, expected two");
    return;
  }
  // The world is always the second, and its frame is that of the scene, not of the file.
  if (body1 == 0) {
    std::swap(body1, body2);
    std::swap(frame1, frame2);
  }
  if (body2 == 0) frame2 = import_.pose * frame2;
  out->first = bodies_.body(body1).body.name;
  out->second = body2 == 0 ? "" : bodies_.body(body2).body.name;
  out->hasRelativePose = true;
  if (isWeld) {
    out->relativePose = frame1 * inverse(frame2);
  } else {
    out->anchor = frame1.translation;
    out->anchor2 = frame2.translation;
  }
}

void MjcfParts::readCoupling(XmlReader& reader, const char* kind, Equality* out) {
  const std::string first = std::string(kind) + "1", second = std::string(kind) + "2";
  out->first = nameOf(reader, kind, first.c_str());
  if (reader.has(second)) out->second = nameOf(reader, kind, second.c_str());
  if (const auto numbers = reader.numbers("polycoef", 1, 5, kFinite))
    std::copy(numbers->begin(), numbers->end(), out->polynomial.begin());
}

void MjcfParts::readTendon(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    XmlReader reader(import_.notes, child, callOf(child));
    const MjcfClass* klass = classOf(reader);
    if (klass == nullptr) continue;
    MjcfTendon settings = klass->tendon;
    readMjcfTendon(reader, &settings);
    Tendon out;
    out.name = takeName(reader, "tendon");
    if (!(child.name == "fixed" ? readTerms(reader, &out) : readPath(reader, &out))) continue;
    if (isLimited(reader, settings.limited, settings.range, "range") && !disabled_.limits) {
      out.lower = settings.range.lower;
      out.upper = settings.range.upper;
    }
    out.damping = disabled_.dampers ? 0 : settings.damping;
    out.frictionLoss = disabled_.frictionLoss ? 0 : settings.frictionLoss;
    out.stiffness = disabled_.springs ? 0 : settings.stiffness;
    out.springLower = settings.springLower;
    out.springUpper = settings.springUpper;
    out.armature = settings.armature;
    tendons_.emplace(out.name, out);
    tryTo(reader, [&] { import_.builder.addTendon(out); });
  }
}

bool MjcfParts::readTerms(XmlReader& reader, Tendon* out) {
  for (const XmlElement& child : reader.element().children) {
    XmlReader term(import_.notes, child, reader.who() + ": joint");
    Tendon::Term made;
    made.joint = nameOf(term, "joint", "joint");
    if (!term.has("coef")) term.error(term.place(), "coef is missing, expected a number");
    made.coefficient = term.number("coef", kFinite).value_or(1);
    if (made.joint.empty()) return false;
    out->terms.push_back(std::move(made));
  }
  if (out->terms.empty()) reader.error(reader.place(), "found no joints, expected at least one");
  return !out->terms.empty();
}

bool MjcfParts::readPath(XmlReader& reader, Tendon* out) {
  for (const XmlElement& child : reader.element().children) {
    XmlReader via(import_.notes, child, reader.who() + ": " + child.name);
    Tendon::Via made;
    if (child.name == "site") {
      made.site = nameOf(via, "site", "site");
      if (made.site.empty()) return false;
    } else if (child.name == "pulley") {
      made.kind = Tendon::Via::Kind::Pulley;
      made.divisor = via.number("divisor", {0, 1e150, "a divisor above 0", true}).value_or(1);
      if (!via.has("divisor")) via.error(via.place(), "divisor is missing, expected a number");
    } else {
      // A straight string has other moment arms, even of the other sign: not a detail.
      (void)via.string("geom");
      (void)via.string("sidesite");
      via.error(via.place(),
                "strings that wrap around geoms are not available in this version; let the string "
                "pass through sites where it touches the geom");
      return false;
    }
    out->path.push_back(std::move(made));
  }
  if (out->path.empty()) reader.error(reader.place(), "found no sites, expected at least two");
  return !out->path.empty();
}

void MjcfParts::readActuator(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    XmlReader reader(import_.notes, child, callOf(child));
    ++num_controls_;
    const MjcfClass* klass = classOf(reader);
    if (klass == nullptr) continue;
    MjcfActuator settings = klass->actuator;
    readMjcfActuator(reader, &settings);
    Actuator out;
    out.name = takeName(reader, "actuator");
    if (!settings.refused.empty()) {
      reader.error(settings.refusedPlace.line > 0 ? settings.refusedPlace : reader.place(),
                   "found " + settings.refused +
                       ", which is not available in this version; expected motor, position, "
                       "velocity, intvelocity, damper, cylinder or general");
      continue;
    }
    if (!readTarget(reader, &out)) continue;
    out.gear = settings.gear;
    out.gain = {settings.gain[0], settings.isGainAffine ? settings.gain[1] : 0,
                settings.isGainAffine ? settings.gain[2] : 0};
    if (settings.isBiasAffine) out.bias = settings.bias;
    out.dynamics = settings.dynamics;
    out.timeConstant = settings.timeConstant;
    if (isLimited(reader, settings.controlLimited, settings.controlRange, "ctrlrange")) {
      out.lowerControl = settings.controlRange.lower;
      out.upperControl = settings.controlRange.upper;
    }
    if (isLimited(reader, settings.forceLimited, settings.forceRange, "forcerange")) {
      out.lowerForce = settings.forceRange.lower;
      out.upperForce = settings.forceRange.upper;
    }
    if (isLimited(reader, settings.activationLimited, settings.activationRange, "actrange")) {
      out.lowerActivation = settings.activationRange.lower;
      out.upperActivation = settings.activationRange.upper;
    }
    if (settings.inheritRange > 0) inheritRange(reader, settings, &out);
    resolveDamping(reader, settings, &out);
    if (out.dynamics != Actuator::Dynamics::None) ++num_activations_;
    tryTo(reader, [&] { import_.builder.addActuator(out); });
  }
}

/// What the drive acts on. False after an error.
bool MjcfParts::readTarget(XmlReader& reader, Actuator* out) {
  for (const char* name : {"cranksite", "slidersite", "body", "refsite"})
    reader.refuse(name,
                  "this transmission is not available in this version; expected joint, tendon "
                  "or site");
  reader.ignore({"cranklength"}, "it is for slider-cranks");
  const char* found = nullptr;
  for (const char* name : {"joint", "jointinparent", "tendon", "site"}) {
    if (!reader.has(name)) continue;
    if (found != nullptr) {
      reader.error(reader.placeOf(name),
                   "found " + std::string(found) + " and " + name + ", expected one of them");
      return false;
    }
    found = name;
  }
  if (found == nullptr) {
    const bool isRefused = reader.has("cranksite") || reader.has("body");
    if (!isRefused)
      reader.error(reader.place(), "found no joint, tendon or site, expected one to act on");
    return false;
  }
  const std::string_view kind = found;
  out->target = kind == "tendon" ? Actuator::Target::Tendon
                : kind == "site" ? Actuator::Target::Site
                                 : Actuator::Target::Joint;
  out->targetName = nameOf(reader, kind == "jointinparent" ? "joint" : found, found);
  if (out->targetName.empty()) return false;
  if (kind == "jointinparent") {
    const JointType type = bodies_.joint(*bodies_.findJoint(reader.find(found)->value)).type;
    if (type == JointType::Ball || type == JointType::Free) {
      reader.errorFound(found, "a hinge or slide joint; use joint for ball and free ones");
      return false;
    }
  }
  return true;
}

/// The range of the joint, scaled about its middle.
void MjcfParts::inheritRange(XmlReader& reader, const MjcfActuator& settings, Actuator* out) {
  const MjcfJointEntry* entry = out->target == Actuator::Target::Joint
                                    ? bodies_.findJoint(reader.string("joint").value_or(""))
                                    : nullptr;
  if (entry == nullptr || !(bodies_.joint(*entry).upper < kUnlimited)) {
    reader.error(reader.placeOf("inheritrange"), "inheritrange: expected a joint with a range");
    return;
  }
  const Joint& joint = bodies_.joint(*entry);
  const Real middle = (joint.lower + joint.upper) / 2;
  const Real half = (joint.upper - joint.lower) / 2 * settings.inheritRange;
  const bool isIntegrated = out->dynamics == Actuator::Dynamics::Integrator;
  (isIntegrated ? out->lowerActivation : out->lowerControl) = middle - half;
  (isIntegrated ? out->upperActivation : out->upperControl) = middle + half;
}

/// A positive bias[2] of a position drive is a damping ratio: its damping is that much of the
/// critical one for the inertia that the joint moves at the start.
void MjcfParts::resolveDamping(XmlReader& reader, const MjcfActuator& settings, Actuator* out) {
  if (!settings.isBiasAffine || !(out->bias[2] > 0) || out->gain[0] != -out->bias[1]) return;
  Real mobility = 0;  // of all joints together, as the drive feels it
  const auto add = [&](const MjcfJointEntry* entry, Real moment) {
    if (entry == nullptr || numJointVelocities(bodies_.joint(*entry).type) != 1) return false;
    mobility += moment * moment / bodies_.inertiaAt(*entry);
    return true;
  };
  const auto fileName = [&](const std::string& full) { return full.substr(import_.prefix.size()); };
  bool isKnown = false;
  if (out->target == Actuator::Target::Joint) {
    isKnown = add(bodies_.findJoint(fileName(out->targetName)), out->gear[0]);
  } else if (out->target == Actuator::Target::Tendon) {
    const auto tendon = tendons_.find(out->targetName);
    isKnown = tendon != tendons_.end() && !tendon->second.terms.empty();
    for (std::size_t i = 0; isKnown && i < tendon->second.terms.size(); ++i) {
      const Tendon::Term& term = tendon->second.terms[i];
      isKnown = add(bodies_.findJoint(fileName(term.joint)), term.coefficient * out->gear[0]);
    }
  }
  if (!isKnown || !(mobility > 0 && std::isfinite(mobility))) {
    reader.error(reader.placeOf("dampratio"),
                 "dampratio: expected a drive of hinge or slide joints; give kv instead");
    return;
  }
  out->bias[2] = -out->bias[2] * 2 * std::sqrt(out->gain[0] / mobility);
}

namespace {

struct SensorRow {
  std::string_view element;
  SensorType type;
  const char* attribute;  // what it names: joint, tendon, actuator, site, body; "": nothing
};

constexpr SensorRow kSensors[] = {
    {"jointpos", SensorType::JointPosition, "joint"},
    {"jointvel", SensorType::JointVelocity, "joint"},
    {"ballquat", SensorType::BallQuaternion, "joint"},
    {"ballangvel", SensorType::BallAngularVelocity, "joint"},
    {"jointlimitfrc", SensorType::JointLimitForce, "joint"},
    {"jointactuatorfrc", SensorType::JointActuatorForce, "joint"},
    {"tendonpos", SensorType::TendonPosition, "tendon"},
    {"tendonvel", SensorType::TendonVelocity, "tendon"},
    {"actuatorpos", SensorType::ActuatorPosition, "actuator"},
    {"actuatorvel", SensorType::ActuatorVelocity, "actuator"},
    {"actuatorfrc", SensorType::ActuatorForce, "actuator"},
    {"accelerometer", SensorType::Accelerometer, "site"},
    {"gyro", SensorType::Gyro, "site"},
    {"velocimeter", SensorType::Velocimeter, "site"},
    {"magnetometer", SensorType::Magnetometer, "site"},
    {"force", SensorType::Force, "site"},
    {"torque", SensorType::Torque, "site"},
    {"touch", SensorType::Touch, "site"},
    {"subtreecom", SensorType::SubtreeCenter, "body"},
    {"subtreelinvel", SensorType::SubtreeLinearVelocity, "body"},
    {"subtreeangmom", SensorType::SubtreeAngularMomentum, "body"},
    {"clock", SensorType::Clock, ""},
    {"framepos", SensorType::FramePosition, nullptr},
    {"framequat", SensorType::FrameQuaternion, nullptr},
    {"framexaxis", SensorType::FrameXAxis, nullptr},
    {"frameyaxis", SensorType::FrameYAxis, nullptr},
    {"framezaxis", SensorType::FrameZAxis, nullptr},
    {"framelinvel", SensorType::FrameLinearVelocity, nullptr},
    {"frameangvel", SensorType::FrameAngularVelocity, nullptr},
    {"framelinacc", SensorType::FrameLinearAcceleration, nullptr},
    {"frameangacc", SensorType::FrameAngularAcceleration, nullptr},
};

}  // namespace

void MjcfParts::readSensor(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    const auto* row = std::find_if(std::begin(kSensors), std::end(kSensors),
                                   [&](const SensorRow& r) { return r.element == child.name; });
    if (row == std::end(kSensors)) continue;  // reported as ignored
    XmlReader reader(import_.notes, child, callOf(child));
    Sensor out;
    out.type = row->type;
    out.name = takeName(reader, "sensor");
    out.cutoff = reader.number("cutoff", kNotNegative).value_or(0);
    reader.ignore({"noise"}, "readings are exact");
    reader.ignore({"nsample", "interp", "delay", "interval"},
                  "readings are those of the present step");
    const std::size_t numErrors = import_.notes.numErrors();
    bool isWorld = false;
    if (row->attribute == nullptr) {
      readFrame(reader, "objtype", "objname", &out.object, &out.objectFrame, &isWorld);
      if (reader.has("reftype") || reader.has("refname")) {
        bool isReferenceWorld = false;
        readFrame(reader, "reftype", "refname", &out.reference, &out.referenceFrame,
                  &isReferenceWorld);
      }
    } else if (std::string_view(row->attribute) == "body") {
      const int body = bodyOf(reader, "body");
      isWorld = body == 0;
      if (body > 0) out.object = bodies_.body(body).body.name;
    } else if (*row->attribute != '\0') {
      out.object = nameOf(reader, row->attribute, row->attribute);
      const MjcfSiteEntry* site = row->type == SensorType::Touch
                                      ? bodies_.findSite(reader.string("site").value_or(""))
                                      : nullptr;
      if (site != nullptr && site->isApproximate)
        reader.change("site", "a capsule or cylinder feels in the ellipsoid of its sizes");
    }
    if (import_.notes.numErrors() > numErrors) continue;
    if (isWorld) {
      reader.note(ImportNote::Kind::Ignored, reader.place(),
                  "sensors of the world are not available in this version");
      continue;
    }
    tryTo(reader, [&] { import_.builder.addSensor(out); });
  }
}

/// objtype and objname, or reftype and refname.
void MjcfParts::readFrame(XmlReader& reader, const char* type, const char* name,
                          std::string* object, Sensor::Frame* frame, bool* isWorld) {
  const auto kind = reader.word(type, {"body", "xbody", "site", "geom", "camera"});
  if (!reader.has(type) || !reader.has(name)) {
    reader.error(reader.place(),
                 "found " + std::string(type) + " or " + name + " missing, expected both");
    return;
  }
  if (!kind) return;
  if (*kind >= 3) {
    reader.errorFound(type,
                      "body, xbody or site: frames of geoms and cameras are not available in "
                      "this version");
    return;
  }
  if (*kind == 2) {
    *frame = Sensor::Frame::Site;
    *object = nameOf(reader, "site", name);
    return;
  }
  *frame = *kind == 0 ? Sensor::Frame::InertiaFrame : Sensor::Frame::Body;
  const int body = bodyOf(reader, name);
  *isWorld = body == 0;
  if (body > 0) *object = bodies_.body(body).body.name;
}

void MjcfParts::readKeyframe(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    XmlReader reader(import_.notes, child, callOf(child));
    Keyframe out;
    out.name = takeName(reader, "key");
    out.time = reader.number("time", kFinite).value_or(0);
    const auto read = [&](const char* name, int count, std::vector<Real>* values) {
      const auto size = static_cast<std::size_t>(count);
      if (auto numbers = reader.numbers(name, size, size, kFinite)) *values = std::move(*numbers);
    };
    read("qpos", bodies_.numPositions, &out.q);
    normalizeQuaternions(reader, &out.q);
    read("qvel", bodies_.numVelocities, &out.v);
    read("act", num_activations_, &out.activation);
    read("ctrl", num_controls_, &out.control);
    reader.ignore({"mpos", "mquat"}, "mocap bodies start where the file places them");
    if (!import_.prefix.empty() || !import_.isWholeScene) {
      reader.note(ImportNote::Kind::Ignored, reader.place(),
                  "a keyframe of one model among others has not all coordinates");
      continue;
    }
    tryTo(reader, [&] { import_.builder.addKeyframe(out); });
  }
}

/// Those of ball and free joints, as MuJoCo does.
void MjcfParts::normalizeQuaternions(XmlReader& reader, std::vector<Real>* q) {
  if (q->empty()) return;
  std::size_t at = 0;
  for (const MjcfBody& body : bodies_.bodies()) {
    for (const Joint& joint : body.body.joints) {
      const auto size = static_cast<std::size_t>(numJointPositions(joint.type));
      if (joint.type == JointType::Free || joint.type == JointType::Ball) {
        Real* c = q->data() + at + size - 4;
        const Quat unit = math::normalized(Quat{c[0], c[1], c[2], c[3]});
        if (!std::isfinite(unit.w)) {
          reader.errorFound("qpos", "quaternions other than zero");
          return;
        }
        c[0] = unit.w;
        c[1] = unit.x;
        c[2] = unit.y;
        c[3] = unit.z;
      }
      at += size;
    }
  }
}

int MjcfParts::bodyOf(XmlReader& reader, const char* attribute) {
  if (!reader.has(attribute)) {
    reader.error(reader.place(), std::string(attribute) + " is missing, expected a body");
    return -1;
  }
  const std::string name = reader.string(attribute).value_or("");
  const int index = bodies_.find(name);
  if (index < 0)
    reader.errorFound(attribute,
                      "the name of a body" + candidates(name.substr(0, 64), bodies_.bodyNames()));
  return index;
}

std::string MjcfParts::nameOf(XmlReader& reader, const char* kind, const char* attribute) {
  if (!reader.has(attribute)) {
    reader.error(reader.place(),
                 std::string(attribute) + " is missing, expected the name of a " + kind);
    return {};
  }
  const std::string name = reader.string(attribute).value_or("");
  std::string full = import_.prefix + name;
  const std::string_view what = kind;
  const bool exists = what == "joint"  ? bodies_.findJoint(name) != nullptr
                      : what == "site" ? bodies_.findSite(name) != nullptr
                                       : given_.count(std::string(kind) + " " + name) > 0;
  if (exists) return full;
  reader.errorFound(attribute, "the name of a " + std::string(kind) +
                                   candidates(name.substr(0, 64), import_.namesOf(kind)));
  return {};
}

const MjcfClass* MjcfParts::classOf(XmlReader& reader) {
  const std::string name = reader.string("class").value_or("main");
  const MjcfClass* found = defaults_.find(name);
  if (found == nullptr)
    reader.errorFound("class",
                      "a default class" + candidates(name.substr(0, 64), defaults_.names()));
  return found;
}

std::string MjcfParts::takeName(XmlReader& reader, const char* kind) {
  const std::string name = reader.string("name").value_or("");
  if (!name.empty()) given_.insert(std::string(kind) + " " + name);
  return import_.takeName(kind, name, reader.element(), reader.placeOf("name"));
}

bool MjcfParts::isLimited(XmlReader& reader, MjcfLimited limited, const MjcfRange& range,
                          const char* name) {
  if (limited == MjcfLimited::True && !(range.lower < range.upper) &&
      !(range.lower == range.upper && range.isSet())) {
    reader.errorFound(name, "a range, the lower number first, because it is limited");
    return false;
  }
  if (limited != MjcfLimited::Auto) return limited == MjcfLimited::True;
  if (range.isSet() && !compiler_.autoLimits)
    reader.error(reader.placeOf(name), std::string(name) +
                                           ": found a range without its 'limited' under "
                                           "autolimits=\"false\", expected both");
  return range.isSet();
}

}  // namespace tangere::io
