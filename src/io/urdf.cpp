// SPDX-License-Identifier: Apache-2.0
//
// URDF: the file as a whole. Its parts are in urdf_{link,joint,transmission}.cpp.
#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/urdf_reader.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <array>

namespace tangere::io {

namespace {

constexpr std::array<std::string_view, 6> kExtensions{"gazebo", "ros2_control", "mujoco",
                                                      "sensor", "pybullet",     "group_state"};

}  // namespace

void importUrdf(const XmlElement& root, RobotImport& import) {
  // Exporters and simulators put into URDF files whatever they like.
  import.notes.passUnknown(true);
  UrdfReader(root, import).read();
  import.notes.passUnknown(false);
}

void UrdfReader::read() {
  if (hasXacro()) return;
  readRoot();
  for (const XmlElement& child : root_.children) {
    if (child.name == "link") readLink(child);
  }
  for (const XmlElement& child : root_.children) {
    if (child.name == "joint" || child.name == "drake:joint") readJoint(child);
  }
  for (const XmlElement& child : root_.children) {
    if (child.name == "transmission") readTransmission(child);
  }
  for (const XmlElement& child : root_.children) {
    if (child.name == "frame") readFrame(child);
  }
  CollisionFilterGroups filters(import_);
  for (const XmlElement& child : root_.children) {
    if (child.name != "drake:collision_filter_group") continue;
    filters.read(child, ValueStyle::Attribute, "", [&](const std::string& link) {
      const int index = tree_.findLink(link);
      return index < 0 ? std::string() : tree_.links()[static_cast<std::size_t>(index)].body.name;
    });
  }
  build();
  if (notes_.hasErrors()) return;
  filters.apply();
  summarize();
}

bool UrdfReader::hasXacro() {
  const auto isMacro = [](const std::string& text) {
    return text.find("${") != std::string::npos || text.find("$(") != std::string::npos;
  };
  std::vector<const XmlElement*> left{&root_};
  while (!left.empty()) {
    const XmlElement& element = *left.back();
    left.pop_back();
    const XmlAttribute* found = nullptr;
    for (const XmlAttribute& attribute : element.attributes) {
      if (isMacro(attribute.value)) found = &attribute;
    }
    const bool isXacro = element.name.compare(0, 6, "xacro:") == 0;
    // Plugins of other programs may use these signs for themselves.
    if (isXacro ||
        (!isExtension(element.name, kExtensions) && (found != nullptr || isMacro(element.text)))) {
      const std::string what = isXacro ? std::string("<").append(element.name, 0, 40).append(">")
                                       : io::quoted(found != nullptr ? found->value : element.text);
      say(notes_, ImportNote::Kind::Error, element,
          found != nullptr && !isXacro ? found->valuePlace : element.place,
          "found xacro (" + what +
              "), a macro language, expected plain URDF: run 'xacro FILE -o robot.urdf' first");
      return true;
    }
    if (isExtension(element.name, kExtensions)) continue;
    for (auto child = element.children.rbegin(); child != element.children.rend(); ++child)
      left.push_back(&*child);
  }
  return false;
}

void UrdfReader::readRoot() {
  XmlReader reader(notes_, root_, "robot");
  robot_ = reader.string("name").value_or("");
  if (robot_.empty())
    reader.note(ImportNote::Kind::Warning, root_.place, "name is missing, which URDF asks for");
  reader.allow({"name", "version"});
  if (const auto version = reader.string("version"); version && *version != "1.0") {
    reader.note(ImportNote::Kind::Warning, reader.placeOf("version"),
                "version " + io::quoted(*version) + " is read as 1.0");
  }
  passForeignAttributes(root_, &extensions_);
  reader.finish();
  checkChildren(
      root_, "robot", {},
      {"link", "joint", "material", "transmission", "drake:joint", "drake:collision_filter_group",
       "drake:ball_constraint", "drake:distance_constraint", "drake:linear_bushing_rpy",
       "drake:linear_spring_damper", "drake:tendon_constraint", "drake:weld_constraint", "frame"});
  for (const XmlElement& child : root_.children) {
    if (child.name == "material") materials_.add(child);
    if (isIn(child.name,
             {"drake:ball_constraint", "drake:distance_constraint", "drake:linear_bushing_rpy",
              "drake:linear_spring_damper", "drake:tendon_constraint", "drake:weld_constraint"})) {
      note(ImportNote::Kind::Warning, child, child.name + ": is not simulated");
    }
  }
}

/// A named frame of a link, as Drake has it: a site.
void UrdfReader::readFrame(const XmlElement& element) {
  XmlReader reader(notes_, element, "frame");
  const std::string name = reader.string("name").value_or("");
  const std::string link = reader.string("link").value_or("");
  Site site;
  site.pose.translation = reader.vec3("xyz", robot_rule::kPosition).value_or(Vec3{});
  if (const auto rpy = reader.vec3("rpy", robot_rule::kAngle))
    site.pose.rotation = rotationFromRpy(*rpy);
  reader.finish();
  const int index = tree_.findLink(link);
  if (name.empty() || index < 0) {
    reader.error(element.place, "found name " + io::quoted(name) + " and link " + io::quoted(link) +
                                    ", expected a name and a link that exists");
    return;
  }
  site.name = import_.takeName("site", name, element, reader.placeOf("name"));
  const RobotLink& owner = tree_.links()[static_cast<std::size_t>(index)];
  const bool isWorld = owner.name == "world" && owner.body.shapes.empty();
  site.body = isWorld ? "" : owner.body.name;
  if (isWorld) site.pose = import_.pose * site.pose;
  if (!site.name.empty()) sites_.push_back({site, &element});
}

void UrdfReader::build() {
  if (tree_.links().empty() && !notes_.hasErrors())
    note(ImportNote::Kind::Error, root_, "robot: found no link, expected at least one");
  if (notes_.hasErrors() || !tree_.connect()) return;
  const std::vector<int> roots = tree_.roots();
  const bool hasWorld = std::any_of(tree_.joints().begin(), tree_.joints().end(),
                                    [](const RobotJoint& joint) { return joint.parent < 0; });
  if (roots.size() + (hasWorld ? 1 : 0) > 1) {
    const RobotLink& last = tree_.links()[static_cast<std::size_t>(roots.back())];
    std::string others = "the world";
    if (roots.size() > 1) {
      const RobotLink& first = tree_.links()[static_cast<std::size_t>(roots[0])];
      others = io::quoted(first.name) + " at " + std::to_string(first.element->place.line) + ":" +
               std::to_string(first.element->place.column);
    }
    note(ImportNote::Kind::Error, *last.element,
         "link " + io::quoted(last.name) + ": found a root besides " + others +
             ", expected one link that no joint holds");
    return;
  }
  if (!roots.empty()) chooseBase(roots[0]);
  tree_.setArmatures(armatures_);
  tree_.build();
  if (notes_.hasErrors()) return;
  for (const PendingSite& pending : sites_) {
    try {
      import_.builder.addSite(pending.site);
    } catch (const InvalidInput& error) {
      note(ImportNote::Kind::Error, *pending.element, error.what());
    }
  }
  for (const PendingActuator& pending : actuators_) {
    try {
      import_.builder.addActuator(pending.actuator);
    } catch (const InvalidInput& error) {
      note(ImportNote::Kind::Error, *pending.element, error.what());
    }
  }
}

/// The world, a base that stands or a base that floats, and says which.
void UrdfReader::chooseBase(int root) {
  RobotLink& link = tree_.links()[static_cast<std::size_t>(root)];
  const std::string who = "link " + io::quoted(link.name) + ": the root ";
  const bool hasMass = link.body.massProperties->mass > 0;
  if (link.name == "world") {
    link.base = RobotLink::Base::World;
    if (hasMass)
      note(ImportNote::Kind::Ignored, *link.element, who + "is the world: it needs no inertial");
  } else if (import_.isFixed) {
    link.base = RobotLink::Base::Fixed;
    note(ImportNote::Kind::Read, *link.element, who + "is fixed to the world, as asked for");
  } else if (!hasMass) {
    link.base = RobotLink::Base::Fixed;
    note(ImportNote::Kind::Changed, *link.element, who + "has no mass: it is fixed to the world");
  } else {
    note(ImportNote::Kind::Read, *link.element,
         who + "floats freely; a fixed joint to a link 'world' would hold it");
  }
}

void UrdfReader::summarize() {
  int numMoving = 0;
  for (const RobotJoint& joint : tree_.joints()) numMoving += joint.joints.empty() ? 0 : 1;
  const auto number = [](std::size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  note(ImportNote::Kind::Read, root_,
       "robot " + io::quoted(robot_) + ": " + number(tree_.links().size(), "link") + ", " +
           number(tree_.joints().size(), "joint") + " (" + std::to_string(numMoving) +
           " moving), " +
           number(static_cast<std::size_t>(import_.numShapes - first_shape_), "collision shape") +
           ", " + number(actuators_.size(), "actuator"));
  tell(notes_, visuals_, ImportNote::Kind::Ignored,
       "<visual>: what is simulated are collision shapes");
  tell(notes_, materials_, ImportNote::Kind::Ignored, "<material>: colours are not simulated");
  tell(notes_, velocities_, ImportNote::Kind::Ignored, "<limit velocity>: speeds are not limited");
  tell(notes_, idle_, ImportNote::Kind::Ignored,
       "<axis>, <limit>, <dynamics> or <mimic> of a joint that needs none");
  tell(notes_, extensions_, ImportNote::Kind::Ignored,
       "element of another program (<gazebo> and the like)");
}

Transform UrdfReader::readOrigin(const XmlElement& element, const std::string& who) {
  Transform out;
  const XmlElement* origin = element.child("origin");
  if (origin == nullptr) return out;
  XmlReader reader(notes_, *origin, who + ": origin");
  out.translation = reader.vec3("xyz", robot_rule::kPosition).value_or(Vec3{});
  const auto rpy = reader.vec3("rpy", robot_rule::kAngle);
  const auto quat = reader.numbers("quat_xyzw", 4, 4, robot_rule::kComponent);
  reader.finish();
  if (rpy && quat) reader.error(reader.placeOf("quat_xyzw"), "found rpy as well, expected one");
  if (rpy) out.rotation = rotationFromRpy(*rpy);
  if (quat) {
    const Quat q{(*quat)[3], (*quat)[0], (*quat)[1], (*quat)[2]};
    const Real length = math::norm(scaledForSquares(q));
    if (!(length > 1e-9)) {
      reader.errorFound("quat_xyzw", "a quaternion of length 1, not 0");
    } else {
      out.rotation = rotationMatrix(q);
    }
  }
  return out;
}

void UrdfReader::checkChildren(const XmlElement& element, const std::string& who,
                               std::initializer_list<std::string_view> single,
                               std::initializer_list<std::string_view> many) {
  io::checkChildren(notes_, element, who, {single, many, kExtensions}, &extensions_);
}

}  // namespace tangere::io
