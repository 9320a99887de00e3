// SPDX-License-Identifier: Apache-2.0
//
// MJCF, the format of MuJoCo. docs/mjcf.md lists what is read, changed, ignored and refused.
#include "io/mjcf_assets.hpp"
#include "io/mjcf_bodies.hpp"
#include "io/mjcf_elements.hpp"
#include "io/mjcf_include.hpp"
#include "io/mjcf_parts.hpp"
#include "io/mjcf_schema.hpp"
#include "io/robot_import.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"

#include <string>
#include <string_view>

namespace tangere::io {

namespace {

using namespace mjcf_rule;

class MjcfImporter {
 public:
  explicit MjcfImporter(RobotImport& import) : import_(import) {}
  void read(const XmlElement& root);

 private:
  void readCompiler(const XmlElement& element);
  void readOption(const XmlElement& element);
  void readFlags(const XmlElement& element);
  void refuseSections(const XmlElement& root);
  void reserveNames(const XmlElement& root);
  void keepPairs(const XmlElement& root, MjcfBodies& bodies);
  void reportUnread(const XmlElement& root);
  void summarize(const MjcfBodies& bodies);
  template <class Read>
  void forEach(const XmlElement& root, std::string_view name, const Read& readSection) {
    for (const XmlElement& child : root.children) {
      if (child.name == name) readSection(child);
    }
  }

  RobotImport& import_;
  MjcfCompiler compiler_;
  MjcfDisabled disabled_;
};

/// Sections in MuJoCo's order, whatever theirs is in the file.
void MjcfImporter::read(const XmlElement& root) {
  root.isRead = true;
  (void)root.attribute("model");
  forEach(root, "compiler", [&](const XmlElement& e) { readCompiler(e); });
  forEach(root, "option", [&](const XmlElement& e) { readOption(e); });
  MjcfDefaults defaults;
  forEach(root, "default",
          [&](const XmlElement& e) { defaults.read(e, compiler_, import_.notes); });
  refuseSections(root);
  reserveNames(root);
  MjcfAssets assets(import_, compiler_, defaults);
  forEach(root, "asset", [&](const XmlElement& e) { assets.read(e); });
  MjcfBodies bodies(import_, compiler_, defaults, assets, disabled_);
  keepPairs(root, bodies);
  forEach(root, "worldbody", [&](const XmlElement& e) { bodies.read(e); });
  bodies.finish();
  MjcfParts parts(import_, compiler_, defaults, bodies, disabled_);
  forEach(root, "contact", [&](const XmlElement& e) { parts.readContact(e); });
  forEach(root, "tendon", [&](const XmlElement& e) { parts.readTendon(e); });
  forEach(root, "equality", [&](const XmlElement& e) { parts.readEquality(e); });
  forEach(root, "actuator", [&](const XmlElement& e) { parts.readActuator(e); });
  forEach(root, "sensor", [&](const XmlElement& e) { parts.readSensor(e); });
  forEach(root, "keyframe", [&](const XmlElement& e) { parts.readKeyframe(e); });
  if (import_.notes.hasErrors()) return;
  assets.reportUnused();
  reportUnread(root);
  summarize(bodies);
}

void MjcfImporter::readCompiler(const XmlElement& element) {
  XmlReader reader(import_.notes, element, "compiler");
  if (const auto word = reader.word("angle", {"radian", "degree"})) compiler_.isDegree = *word == 1;
  if (const auto value = reader.boolean("autolimits")) compiler_.autoLimits = *value;
  if (const auto word = reader.word("coordinate", {"local", "global"}); word && *word == 1)
    reader.errorFound("coordinate",
                      "'local': load and save the file with MuJoCo 2.3.3 to convert "
                      "it");
  if (const auto sequence = reader.string("eulerseq")) {
    if (sequence->size() != 3 || sequence->find_first_not_of("xyzXYZ") != std::string::npos)
      reader.errorFound("eulerseq", "three letters of xyzXYZ");
    else
      compiler_.eulerSequence = *sequence;
  }
  if (const auto folder = reader.string("assetdir")) compiler_.meshFolder = *folder;
  if (const auto folder = reader.string("meshdir")) compiler_.meshFolder = *folder;
  if (const auto value = reader.boolean("strippath")) compiler_.stripsPath = *value;
  if (const auto word = reader.word("inertiafromgeom", {"false", "true", "auto"}))
    compiler_.inertiaFromGeom = static_cast<MjcfCompiler::InertiaFromGeom>(*word);
  if (const auto groups = reader.numbers("inertiagrouprange", 2, 2,
                                         {-1000, 1000, "the first and the last group"})) {
    compiler_.firstInertiaGroup = static_cast<int>((*groups)[0]);
    compiler_.lastInertiaGroup = static_cast<int>((*groups)[1]);
  }
  if (const auto value = reader.boolean("balanceinertia")) compiler_.balancesInertia = *value;
  compiler_.lowerMass = reader.number("boundmass", kNotNegative).value_or(compiler_.lowerMass);
  compiler_.lowerInertia =
      reader.number("boundinertia", kNotNegative).value_or(compiler_.lowerInertia);
  compiler_.totalMass = reader.number("settotalmass", {-1, 1e150, "a mass above 0 [kg], or -1"})
                            .value_or(compiler_.totalMass);
  if (reader.boolean("fusestatic").value_or(false))
    reader.change("fusestatic", "bodies without joints are kept, welded to what they are part of");
  if (reader.boolean("alignfree").value_or(false))
    reader.change("alignfree", "the coordinates stay those of the bodies' own frames");
  if (const auto value = reader.boolean("fitaabb")) compiler_.fitsBounds = *value;
}

void MjcfImporter::readOption(const XmlElement& element) {
  XmlReader reader(import_.notes, element, "option");
  SimulationOptions& out = import_.options;
  out.dt = reader.number("timestep", {0, 1, "a time step above 0 and at most 1 [s]", true})
               .value_or(out.dt);
  constexpr Real kLongStep = 0.1;
  if (out.dt > kLongStep)
    reader.note(ImportNote::Kind::Warning, reader.placeOf("timestep"),
                "timestep of more than 0.1 s is too long for contacts");
  out.gravity = reader.vec3("gravity", {-1e6, 1e6, "an acceleration within 1e6 [m/s^2]"})
                    .value_or(out.gravity);
  const auto warnOfFluid = [&](const char* name) {
    const auto values = reader.numbers(name, 1, 3, kFinite);
    if (!values) return;
    for (const Real value : *values) {
      if (value == 0) continue;
      reader.note(ImportNote::Kind::Warning, reader.placeOf(name),
                  std::string(name) + ": there is no fluid in this version: no drag, no wind");
      return;
    }
  };
  for (const char* name : {"density", "viscosity", "wind"}) warnOfFluid(name);
  reader.refuse("actuatorgroupdisable",
                "it is not available in this version; remove the actuators");
  if (const XmlElement* flags = element.child("flag")) readFlags(*flags);
}

void MjcfImporter::readFlags(const XmlElement& element) {
  XmlReader reader(import_.notes, element, "flag");
  const auto isOff = [&](const char* name) {
    const auto word = reader.word(name, {"disable", "enable"});
    return word && *word == 0;
  };
  const bool withoutConstraints = isOff("constraint");
  disabled_.contacts = isOff("contact") || withoutConstraints;
  disabled_.equalities = isOff("equality") || withoutConstraints;
  disabled_.limits = isOff("limit") || withoutConstraints;
  disabled_.frictionLoss = isOff("frictionloss") || withoutConstraints;
  disabled_.springs = isOff("spring");
  disabled_.dampers = isOff("damper");
  disabled_.parentFilter = isOff("filterparent");
  if (isOff("gravity")) import_.options.gravity = {};
  if (isOff("actuation"))
    reader.errorFound("actuation", "'enable': actuators cannot be switched off in this version");
  if (isOff("clampctrl")) reader.change("clampctrl", "controls stay within their ranges");
}

void MjcfImporter::refuseSections(const XmlElement& root) {
  forEach(root, "deformable", [&](const XmlElement& section) {
    section.isRead = true;
    for (const XmlElement& child : section.children) {
      if (child.name != "flex") continue;  // skins are looks
      child.isRead = true;
      import_.notes.addIn(*child.file, ImportNote::Kind::Error, child.place,
                          "flex: flexible objects are not available in this version");
    }
  });
}

/// So that nothing unnamed takes a name that is given further on.
void MjcfImporter::reserveNames(const XmlElement& root) {
  for (const XmlElement& section : root.children) {
    const std::string kind = section.name == "keyframe" ? "key" : section.name;
    if (kind != "tendon" && kind != "equality" && kind != "actuator" && kind != "sensor" &&
        kind != "key")
      continue;
    for (const XmlElement& child : section.children) {
      for (const XmlAttribute& attribute : child.attributes) {
        if (attribute.name == "name")
          import_.reserved.insert(kind + " " + import_.prefix + attribute.value);
      }
    }
  }
}

/// Geoms of a <contact><pair> collide even without any bits.
void MjcfImporter::keepPairs(const XmlElement& root, MjcfBodies& bodies) {
  forEach(root, "contact", [&](const XmlElement& section) {
    for (const XmlElement& child : section.children) {
      if (child.name != "pair") continue;
      for (const char* name : {"geom1", "geom2"}) {
        if (const XmlAttribute* geom = child.attribute(name)) bodies.keepShape(geom->value);
      }
    }
  });
}

void MjcfImporter::reportUnread(const XmlElement& root) {
  forEachUnread(root, [&](const XmlElement& element, const XmlAttribute* attribute) {
    const char* why = whyMjcfIgnored(element, attribute);
    std::string message = callOf(element) + ": ";
    if (attribute != nullptr) message.append(attribute->name).append(": ");
    import_.notes.addIn(*element.file, ImportNote::Kind::Ignored,
                        attribute != nullptr ? attribute->place : element.place,
                        message.append(why));
  });
}

void MjcfImporter::summarize(const MjcfBodies& bodies) {
  std::size_t numShapes = 0;
  for (const MjcfBody& body : bodies.bodies()) numShapes += body.body.shapes.size();
  import_.notes.add(ImportNote::Kind::Read, {},
                    "MJCF: " + std::to_string(bodies.bodies().size() - 1) + " bodies with " +
                        std::to_string(bodies.numVelocities) + " degrees of freedom and " +
                        std::to_string(numShapes) + " shapes that collide");
}

}  // namespace

void importMjcf(XmlElement root, RobotImport& import) {
  expandMjcfIncludes(&root, import);
  if (import.notes.hasErrors()) return;
  checkMjcfVocabulary(root, import.notes);
  if (import.notes.hasErrors()) return;
  MjcfImporter(import).read(root);
}

}  // namespace tangere::io
