// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: links, their masses and their collision shapes.
#include <tangere/error.hpp>

#include "geometry/mass_properties.hpp"
#include "io/robot_visuals.hpp"
#include "io/sdformat_reader.hpp"
#include "io/text.hpp"
#include "math/quat.hpp"

#include <charconv>
#include <cmath>

namespace tangere::io {

namespace {

/// A rotation that takes z to the unit vector n.
Mat3 turnFromZ(const Vec3& n) {
  const Vec3 x = std::fabs(n.x) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 flat = x - n * dot(n, x);
  const Vec3 u = flat / norm(flat);
  return {{u, cross(n, u), n}};
}

}  // namespace

void SdfReader::readLink(const PendingLink& pending) {
  const XmlElement& element = *pending.element;
  const Model& model = models_[pending.model];
  const std::string who = "link " + io::quoted(pending.name);
  if (!import_.countBody(element)) return;
  checkChildren(element, who,
                {"pose", "inertial", "gravity", "enable_wind", "self_collide", "kinematic",
                 "must_be_base_link", "velocity_decay", "battery", "drake:surface_velocity_axis"},
                {"collision", "visual", "sensor", "projector", "audio_sink", "audio_source",
                 "battery", "light", "particle_emitter", "plugin"});
  ignore(element, who, "is not simulated",
         {"enable_wind", "must_be_base_link", "projector", "audio_sink", "audio_source", "battery",
          "light", "particle_emitter"});
  const std::optional<Transform> X_WL = frames_.pose(pending.name);
  if (!X_WL) return;
  RobotLink link;
  link.name = pending.name;
  link.element = &element;
  link.body.name = import_.takeName("body", plainName(pending.name), element, element.place);
  link.body.pose = import_.pose * *X_WL;
  link.base = model.isStatic || import_.isFixed ? RobotLink::Base::Fixed : RobotLink::Base::Free;
  if (!boolean(element, "gravity", who).value_or(true)) link.body.gravityScale = 0;
  densities_.clear();
  for (const XmlElement& child : element.children) {
    if (child.name == "collision") readCollision(child, pending.name, *X_WL, model, &link.body);
    if (child.name == "visual") {
      visuals_.add(child);
      addSdfVisual(child, link.body.name, model.source.folder, import_);
    }
    if (child.name == "sensor") sensors_.add(child);
    if (child.name == "plugin") plugins_.add(child);
  }
  if (const XmlElement* decay = element.child("velocity_decay")) {
    checkChildren(*decay, who + ": velocity_decay", {"linear", "angular"});
    const Real linear = number(*decay, "linear", robot_rule::kComponent, who).value_or(0);
    const Real angular = number(*decay, "angular", robot_rule::kComponent, who).value_or(0);
    if (linear != 0 || angular != 0) {
      note(ImportNote::Kind::Ignored, *decay,
           who + ": <velocity_decay> is a part of the speed per step of another engine");
    }
  }
  link.body.massProperties = readInertial(element, who, link.body);
  const bool isSelf = boolean(element, "self_collide", who).value_or(false);
  const bool isKinematic = boolean(element, "kinematic", who).value_or(false);
  if (isKinematic && !model.isStatic) {
    note(ImportNote::Kind::Changed, element, who + ": kinematic: it stands still");
    link.base = RobotLink::Base::Fixed;
  }
  if (const XmlElement* axis = element.child("drake:surface_velocity_axis"))
    note(ImportNote::Kind::Warning, *axis, who + ": " + axis->name + ": is not simulated");
  if (link.body.name.empty()) return;
  if (!link.body.shapes.empty() && !model.isStatic)
    touching_.push_back({model.root, link.body.name, isSelf || model.selfCollides});
  tree_.addLink(std::move(link));
}

/// Nothing after an error.
std::optional<MassProperties> SdfReader::readInertial(const XmlElement& link,
                                                      const std::string& linkName,
                                                      const Body& body) {
  const std::string who = linkName + ": inertial";
  const XmlElement* element = link.child("inertial");
  MassProperties out{.mass = 1, .inertia = Mat3::identity()};
  if (element == nullptr) {
    defaults_.add(link);
    return out;
  }
  XmlReader reader(notes_, *element, who);
  const bool isAuto = reader.boolean("auto").value_or(false);
  reader.finish();
  checkChildren(*element, who,
                {"mass", "density", "pose", "inertia", "fluid_added_mass", "auto_inertia_params"});
  ignore(*element, who, "is not simulated", {"fluid_added_mass", "auto_inertia_params"});
  const PoseText pose = readPose(*element, who);
  const auto mass = number(*element, "mass", robot_rule::kMass, who);
  const auto density = number(*element, "density", robot_rule::kDensity, who);
  if (isAuto) {
    std::vector<MassProperties> parts;
    for (std::size_t i = 0; i < body.shapes.size(); ++i) {
      Real own = density.value_or(1000);
      for (const Density& given : densities_) own = given.shape == i ? given.value : own;
      try {
        parts.push_back(
            geometry::transformed(body.shapes[i].shape->massProperties(own), body.shapes[i].pose));
      } catch (const InvalidInput& error) {
        reader.error(element->place, std::string("auto: ") + error.what());
        return std::nullopt;
      }
    }
    if (parts.empty()) {
      reader.error(element->place, "auto: found no collision shape to take the mass from");
      return std::nullopt;
    }
    out = geometry::sum(parts);
    if (mass) {
      for (Vec3& column : out.inertia.col) column *= *mass / out.mass;
      out.mass = *mass;
    }
    return out;
  }
  Real i[6] = {1, 0, 0, 1, 0, 1};
  std::string values;
  if (const XmlElement* inertia = element->child("inertia")) {
    checkChildren(*inertia, who + ": inertia", {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
    constexpr const char* kKeys[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    for (int k = 0; k < 6; ++k) {
      i[k] = number(*inertia, kKeys[k], robot_rule::kInertia, who).value_or(i[k]);
      values += std::string(k > 0 ? ", " : "") + kKeys[k] + " " + sixDigits(i[k]);
    }
  }
  out.mass = mass.value_or(1);
  Mat3 I{{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
  if (out.mass == 0) {
    if (I == Mat3{}) return MassProperties{};
    reader.error(element->place, "found a mass of 0 kg with an inertia (" + values + ")");
    return std::nullopt;
  }
  if (const auto why = whyNotInertia(I)) {
    const auto mended = import_.limits.mendsInertia ? mendedInertia(I) : std::nullopt;
    if (!mended) {
      reader.error(element->place, "found " + *why + " (" + values + " kg m^2 with " +
                                       sixDigits(out.mass) +
                                       " kg), expected one that a body can have");
      return std::nullopt;
    }
    I = *mended;
    reader.note(ImportNote::Kind::Warning, element->place,
                "found " + *why + " (" + values + " kg m^2): it " + describeMended(I));
  }
  const Mat3& R = pose.X.rotation;
  out.center = pose.X.translation;
  out.inertia = R * I * transpose(R);
  // The product rounds; a symmetric matrix is asked for.
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < row; ++column) {
      const Real mean = (out.inertia(row, column) + out.inertia(column, row)) / 2;
      out.inertia(row, column) = out.inertia(column, row) = mean;
    }
  }
  return out;
}

void SdfReader::readCollision(const XmlElement& element, const std::string& link,
                              const Transform& X_WL, const Model& model, Body* body) {
  if (!import_.countShape(element)) return;
  XmlReader reader(notes_, element, "link " + io::quoted(link) + ": collision");
  const std::string name = reader.string("name").value_or("");
  reader.finish();
  if (name.empty()) {
    reader.error(element.place, "name is missing, expected a name");
    return;
  }
  reader.setWho("link " + io::quoted(link) + ": collision " + io::quoted(name));
  const std::string& who = reader.who();
  checkChildren(element, who,
                {"pose", "geometry", "surface", "laser_retro", "max_contacts", "density",
                 "auto_inertia_params", "drake:proximity_properties"});
  ignore(element, who, "has no counterpart",
         {"laser_retro", "max_contacts", "auto_inertia_params"});
  BodyShape shape;
  const PoseText pose = readPose(element, who);
  shape.pose = pose.X;
  if (!pose.relativeTo.empty()) {
    const auto to =
        frames_.lookUp(model.scope, pose.relativeTo, element, pose.place, who + ": relative_to");
    const std::optional<Transform> X_WF = to ? frames_.pose(*to) : std::nullopt;
    if (!X_WF) return;
    shape.pose = inverseTimes(X_WL, *X_WF) * pose.X;
  }
  // The format's defaults: friction 1, and sixteen bits that all meet.
  Material surface;
  surface.friction = 1;
  shape.group = shape.mask = 0xffffu;
  shape.isOneSideEnough = true;
  if (const XmlElement* child = element.child("surface"))
    readSurface(*child, who + ": surface", &surface, &shape);
  if (const XmlElement* child = element.child("drake:proximity_properties"))
    shapes_.readProximity(*child, ValueStyle::Text, who, &surface);
  shape.material = shapes_.materialOf(surface, element);
  const XmlElement* geometry = element.child("geometry");
  if (geometry == nullptr) {
    note(ImportNote::Kind::Error, element, who + ": geometry is missing");
    return;
  }
  shape.shape = readGeometry(*geometry, who, model, &shape.pose);
  if (shape.shape == nullptr) return;
  shape.name =
      import_.takeName("shape", plainName(link) + "::" + name, element, reader.placeOf("name"));
  if (const auto density = number(element, "density", robot_rule::kDensity, who))
    densities_.push_back({body->shapes.size(), *density});
  body->shapes.push_back(std::move(shape));
}

/// Null after an error, and for a geometry that is said to be empty.
std::shared_ptr<const Shape> SdfReader::readGeometry(const XmlElement& element,
                                                     const std::string& who, const Model& model,
                                                     Transform* pose) {
  checkChildren(element, who + ": geometry",
                {"empty", "box", "capsule", "cone", "cylinder", "ellipsoid", "heightmap", "image",
                 "mesh", "plane", "polyline", "sphere", "drake:capsule", "drake:ellipsoid"});
  if (element.children.size() != 1) {
    note(ImportNote::Kind::Error, element,
         who + ": geometry: found " + std::to_string(element.children.size()) +
             " shapes, expected one");
    return nullptr;
  }
  const XmlElement& child = element.children[0];
  const std::string& kind = child.name;
  const std::string whose = who + ": " + kind.substr(0, 40);
  const auto length = [&](const char* key) {
    const auto out = number(child, key, robot_rule::kLength, whose);
    if (child.child(key) == nullptr)
      note(ImportNote::Kind::Error, child, whose + ": " + key + " is missing");
    return out;
  };
  const auto lengths = [&](const char* key) {
    const auto out = vec3(child, key, robot_rule::kLength, whose);
    if (child.child(key) == nullptr)
      note(ImportNote::Kind::Error, child, whose + ": " + key + " is missing");
    return out;
  };
  if (kind != "mesh") XmlReader(notes_, child, whose).finish();
  if (kind == "box") {
    checkChildren(child, whose, {"size"});
    if (const auto size = lengths("size")) return std::make_shared<Box>(*size / 2);
  } else if (kind == "sphere") {
    checkChildren(child, whose, {"radius"});
    if (const auto radius = length("radius")) return std::make_shared<Sphere>(*radius);
  } else if (isIn(kind, {"cylinder", "capsule", "cone", "drake:capsule"})) {
    checkChildren(child, whose, {"radius", "length"});
    const auto radius = length("radius"), full = length("length");
    if (!radius || !full) return nullptr;
    if (kind == "cylinder") return std::make_shared<Cylinder>(*radius, *full / 2);
    if (kind == "cone") return std::make_shared<Cone>(*radius, *full / 2);
    return std::make_shared<Capsule>(*radius, *full / 2);
  } else if (kind == "ellipsoid") {
    checkChildren(child, whose, {"radii"});
    if (const auto radii = lengths("radii")) return std::make_shared<Ellipsoid>(*radii);
  } else if (kind == "drake:ellipsoid") {
    checkChildren(child, whose, {"a", "b", "c"});
    const auto a = length("a"), b = length("b"), c = length("c");
    if (a && b && c) return std::make_shared<Ellipsoid>(Vec3{*a, *b, *c});
  } else if (kind == "plane") {
    checkChildren(child, whose, {"normal", "size"});
    const Vec3 normal =
        vec3(child, "normal", robot_rule::kComponent, whose).value_or(Vec3{0, 0, 1});
    if (const XmlElement* size = child.child("size"))
      note(ImportNote::Kind::Ignored, *size, whose + ": <size>: a plane has no end");
    const Real size = math::scaledNorm(normal);
    if (!(size > 1e-9)) {
      note(ImportNote::Kind::Error, child, whose + ": normal: found 0, expected a direction");
      return nullptr;
    }
    pose->rotation = pose->rotation * turnFromZ(normal / size);
    return std::make_shared<Plane>();
  } else if (kind == "mesh") {
    return readMesh(child, whose, model);
  } else if (isIn(kind, {"heightmap", "image", "polyline"})) {
    note(ImportNote::Kind::Error, child,
         whose + ": is not available yet; a native scene has height_field");
  }
  return nullptr;
}

std::shared_ptr<const Shape> SdfReader::readMesh(const XmlElement& element, const std::string& who,
                                                 const Model& model) {
  XmlReader reader(notes_, element, who);
  reader.ignore({"optimization"}, "a mesh collides as its convex hull");
  reader.finish();
  checkChildren(element, who,
                {"uri", "scale", "submesh", "convex_decomposition", "drake:declare_convex"});
  ignore(element, who, "a mesh collides as its convex hull", {"convex_decomposition"});
  const XmlElement* uri = element.child("uri");
  if (uri == nullptr) {
    reader.error(element.place, "uri is missing");
    return nullptr;
  }
  if (const XmlElement* part = element.child("submesh")) {
    note(ImportNote::Kind::Error, *part,
         who + ": <submesh> is not available yet: put the part into a file of its own");
    return nullptr;
  }
  const Vec3 scale = vec3(element, "scale", robot_rule::kScale, who).value_or(Vec3{1, 1, 1});
  if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
    reader.error(element.place,
                 std::string("scale: found 0, expected ") + robot_rule::kScale.expected);
    return nullptr;
  }
  return shapes_.hull(uri->text, scale, *uri, uri->textPlace, model.source.folder);
}

void SdfReader::readSurface(const XmlElement& element, const std::string& who, Material* surface,
                            BodyShape* shape) {
  checkChildren(element, who, {"bounce", "friction", "contact", "soft_contact"});
  ignore(element, who, "is not simulated", {"soft_contact"});
  if (const XmlElement* bounce = element.child("bounce")) {
    checkChildren(*bounce, who + ": bounce", {"restitution_coefficient", "threshold"});
    const NumberRule rule{0, 1, "a coefficient of restitution from 0 to 1"};
    surface->restitution = number(*bounce, "restitution_coefficient", rule, who).value_or(0);
    if (surface->restitution > 0) {
      note(ImportNote::Kind::Warning, *bounce, who + ": bounce: only the impulse solver bounces");
    }
    if (bounce->child("threshold") != nullptr) odes_.add(*bounce);
  }
  if (const XmlElement* friction = element.child("friction")) {
    checkChildren(*friction, who + ": friction", {"ode", "bullet", "torsional"});
    std::optional<Real> mu;
    if (const XmlElement* bullet = friction->child("bullet")) {
      checkChildren(*bullet, who + ": friction: bullet",
                    {"friction", "friction2", "fdir1", "rolling_friction"});
      mu = number(*bullet, "friction", robot_rule::kFriction, who + ": friction: bullet");
      for (const char* key : {"friction2", "fdir1", "rolling_friction"}) {
        if (const XmlElement* child = bullet->child(key)) odes_.add(*child);
      }
    }
    if (const XmlElement* ode = friction->child("ode")) {
      checkChildren(*ode, who + ": friction: ode", {"mu", "mu2", "fdir1", "slip1", "slip2"});
      if (const auto value = number(*ode, "mu", robot_rule::kFriction, who + ": friction: ode"))
        mu = value;
      const auto mu2 = number(*ode, "mu2", robot_rule::kFriction, who + ": friction: ode");
      if (mu2 && *mu2 != mu.value_or(1)) {
        note(ImportNote::Kind::Changed, *ode->child("mu2"),
             who + ": friction: mu2: friction is the same along both directions, mu counts");
      }
      for (const char* key : {"fdir1", "slip1", "slip2"}) {
        if (const XmlElement* child = ode->child(key)) odes_.add(*child);
      }
    }
    if (const XmlElement* torsional = friction->child("torsional")) {
      note(ImportNote::Kind::Ignored, *torsional,
           who + ": friction: <torsional>: points do not resist turning about the normal");
    }
    surface->friction = mu.value_or(1);
  }
  const XmlElement* contact = element.child("contact");
  if (contact == nullptr) return;
  const std::string whose = who + ": contact";
  checkChildren(*contact, whose,
                {"collide_without_contact", "collide_without_contact_bitmask", "collide_bitmask",
                 "category_bitmask", "poissons_ratio", "elastic_modulus", "ode", "bullet"});
  const auto readBits = [&](const char* key) -> std::optional<std::uint32_t> {
    const XmlElement* child = contact->child(key);
    if (child == nullptr) return std::nullopt;
    // Usually written as 0xff01.
    const std::string& word = child->text;
    const bool isHex = word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    std::uint32_t bits = 0;
    const char* end = word.data() + word.size();
    const auto result = std::from_chars(word.data() + (isHex ? 2 : 0), end, bits, isHex ? 16 : 10);
    if (result.ec == std::errc() && result.ptr == end && bits <= 0xffffu) return bits;
    say(notes_, ImportNote::Kind::Error, *child, child->textPlace,
        whose + ": " + key + ": found " + io::quoted(word) + ", expected 16 bits, 0 to 0xffff");
    return std::nullopt;
  };
  if (const auto mask = readBits("collide_bitmask")) shape->group = shape->mask = *mask;
  if (const auto group = readBits("category_bitmask")) shape->group = *group;
  if (boolean(*contact, "collide_without_contact", whose).value_or(false)) {
    note(ImportNote::Kind::Error, *contact,
         whose + ": collide_without_contact: is not available yet; give collide_bitmask 0");
  }
  for (const char* key :
       {"collide_without_contact_bitmask", "poissons_ratio", "elastic_modulus", "ode", "bullet"}) {
    if (const XmlElement* child = contact->child(key)) odes_.add(*child);
  }
}

}  // namespace tangere::io
