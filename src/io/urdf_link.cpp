// SPDX-License-Identifier: Apache-2.0
//
// URDF: links with their masses and shapes.
#include "io/text.hpp"
#include "io/urdf_reader.hpp"

#include <algorithm>

namespace tangere::io {

void UrdfReader::readLink(const XmlElement& element) {
  if (!import_.countBody(element)) return;
  XmlReader reader(notes_, element, "link");
  RobotLink link;
  link.name = reader.string("name").value_or("");
  link.element = &element;
  reader.ignore({"type"}, "has no meaning in URDF");
  reader.finish();
  if (link.name.empty()) {
    reader.error(element.place, "name is missing, expected a name");
    return;
  }
  const std::string who = "link " + io::quoted(link.name);
  link.body.name = import_.takeName("body", link.name, element, reader.placeOf("name"));
  link.body.pose = import_.pose;
  link.body.massProperties = MassProperties{};
  link.massFromShapes = RobotLink::FromShapes::IfMoved;
  checkChildren(element, who, {"inertial"},
                {"collision", "visual", "contact", "gravity", "self_collision",
                 "drake:surface_velocity_axis"});
  for (const XmlElement& child : element.children) {
    if (child.name == "inertial") {
      const auto mass = readInertial(child, who + ": inertial");
      if (mass) link.body.massProperties = *mass;
      link.massFromShapes = mass ? RobotLink::FromShapes::Never : RobotLink::FromShapes::IfNeeded;
    } else if (child.name == "collision") {
      readCollision(child, link.name, &link.body);
    } else if (child.name == "visual") {
      passVisual(child, link.name);
      addUrdfVisual(child, link.body.name, colors_, import_);
    } else if (isIn(child.name, {"contact", "gravity", "self_collision"})) {
      note(ImportNote::Kind::Ignored, child,
           who + ": <" + child.name + "> is an extension of another program");
    } else if (child.name == "drake:surface_velocity_axis") {
      note(ImportNote::Kind::Warning, child, who + ": " + child.name + ": is not simulated");
    }
  }
  if (!link.body.name.empty()) tree_.addLink(std::move(link));
}

std::optional<MassProperties> UrdfReader::readInertial(const XmlElement& element,
                                                       const std::string& who) {
  XmlReader(notes_, element, who).finish();
  checkChildren(element, who, {"origin", "mass", "inertia"});
  const Transform X_LI = readOrigin(element, who);
  MassProperties out{.center = X_LI.translation};
  const XmlElement* massElement = element.child("mass");
  const XmlElement* inertiaElement = element.child("inertia");
  if (massElement == nullptr || inertiaElement == nullptr) {
    note(ImportNote::Kind::Error, element,
         who + ": " + (massElement == nullptr ? "mass" : "inertia") + " is missing");
    return std::nullopt;
  }
  XmlReader massReader(notes_, *massElement, who + ": mass");
  const std::optional<Real> mass = massReader.number("value", robot_rule::kMass);
  if (!massReader.has("value"))
    massReader.error(massElement->place, "value is missing, expected a mass [kg]");
  massReader.finish();
  XmlReader reader(notes_, *inertiaElement, who + ": inertia");
  constexpr const char* kKeys[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
  Real i[6] = {};
  bool isComplete = true;
  std::string values;
  for (int k = 0; k < 6; ++k) {
    const auto number = reader.number(kKeys[k], robot_rule::kInertia);
    if (!reader.has(kKeys[k]))
      reader.error(inertiaElement->place, std::string(kKeys[k]) + " is missing");
    isComplete = isComplete && number.has_value();
    i[k] = number.value_or(0);
    values += std::string(k > 0 ? ", " : "") + kKeys[k] + " " + sixDigits(i[k]);
  }
  reader.finish();
  if (!isComplete || !mass) return std::nullopt;
  const bool isPoint = std::all_of(i, i + 6, [](Real x) { return x == 0; });
  if (*mass == 0) {
    if (!isPoint) {
      reader.note(ImportNote::Kind::Changed, inertiaElement->place,
                  "found a mass of 0 kg with an inertia (" + values +
                      "): read as a link without an inertial");
    }
    return std::nullopt;
  }
  Mat3 I{{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
  if (const auto why = whyNotInertia(I)) {
    const auto mended = import_.limits.mendsInertia ? mendedInertia(I) : std::nullopt;
    if (!mended) {
      reader.error(inertiaElement->place, "found " + *why + " (" + values + " kg m^2 with " +
                                              sixDigits(*mass) +
                                              " kg), expected one that a body can have");
      return std::nullopt;
    }
    I = *mended;
    reader.note(ImportNote::Kind::Warning, inertiaElement->place,
                "found " + *why + " (" + values + " kg m^2): it " + describeMended(I));
  }
  out.mass = *mass;
  out.inertia = X_LI.rotation * I * transpose(X_LI.rotation);
  // The product rounds; a symmetric matrix is asked for.
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < row; ++column) {
      const Real mean = (out.inertia(row, column) + out.inertia(column, row)) / 2;
      out.inertia(row, column) = out.inertia(column, row) = mean;
    }
  }
  return out;
}

void UrdfReader::readCollision(const XmlElement& element, const std::string& link, Body* body) {
  if (!import_.countShape(element)) return;
  XmlReader reader(notes_, element, "link " + io::quoted(link) + ": collision");
  const std::string name = reader.string("name").value_or("");
  reader.ignore({"group", "concave"}, "is an extension of another program");
  reader.finish();
  const std::string& who = reader.who();
  checkChildren(element, who,
                {"origin", "geometry", "material", "verbose", "contact_coefficients",
                 "max_contacts", "drake:proximity_properties"});
  BodyShape shape;
  shape.pose = readOrigin(element, who);
  for (const char* key : {"material", "verbose", "contact_coefficients", "max_contacts"}) {
    if (const XmlElement* child = element.child(key))
      note(ImportNote::Kind::Ignored, *child, who + ": <" + std::string(key) + ">");
  }
  if (const XmlElement* proximity = element.child("drake:proximity_properties")) {
    Material surface;
    shapes_.readProximity(*proximity, ValueStyle::Attribute, who, &surface);
    shape.material = shapes_.materialOf(surface, *proximity);
  }
  const XmlElement* geometry = element.child("geometry");
  if (geometry == nullptr) {
    note(ImportNote::Kind::Error, element, who + ": geometry is missing");
    return;
  }
  shape.shape = readGeometry(*geometry, who);
  if (shape.shape == nullptr) return;
  if (!name.empty()) {
    // Exporters call several shapes of a link the same: the first one keeps the name.
    const std::string full = link + "::" + name;
    if (import_.hasName("shape", import_.prefix + full)) {
      reader.note(ImportNote::Kind::Changed, reader.placeOf("name"),
                  "the name " + io::quoted(name) + " is taken: this one has none");
    } else {
      shape.name = import_.takeName("shape", full, element, reader.placeOf("name"));
    }
  }
  body->shapes.push_back(std::move(shape));
}

std::shared_ptr<const Shape> UrdfReader::readGeometry(const XmlElement& element,
                                                      const std::string& who) {
  XmlReader(notes_, element, who + ": geometry").finish();
  const std::size_t numErrors = notes_.numErrors();
  checkChildren(
      element, who + ": geometry",
      {"box", "cylinder", "sphere", "capsule", "mesh", "drake:capsule", "drake:ellipsoid"});
  if (element.children.size() != 1) {
    note(ImportNote::Kind::Error, element,
         who + ": geometry: found " + std::to_string(element.children.size()) +
             " shapes, expected one of box, cylinder, sphere, capsule, mesh");
    return nullptr;
  }
  const XmlElement& child = element.children[0];
  const std::string& kind = child.name;
  XmlReader reader(notes_, child, who + ": " + kind.substr(0, 40));
  constexpr NumberRule kSize{0, robot_rule::kLength.upper, robot_rule::kLength.expected};
  bool isNothing = false;  // exporters write shapes of size 0 where they have none
  const auto length = [&](const char* key) {
    const auto out = reader.number(key, kSize);
    if (!reader.has(key)) reader.error(child.place, std::string(key) + " is missing");
    if (!out) return out;
    isNothing = isNothing || *out < robot_rule::kLength.lower;
    return std::optional<Real>(std::max(*out, robot_rule::kLength.lower));
  };
  std::shared_ptr<const Shape> out;
  if (kind == "box") {
    const auto size = reader.vec3("size", kSize);
    if (!reader.has("size")) reader.error(child.place, "size is missing");
    if (size) {
      isNothing = std::min({size->x, size->y, size->z}) < robot_rule::kLength.lower;
      if (!isNothing) out = std::make_shared<Box>(*size / 2);
    }
  } else if (kind == "sphere") {
    if (const auto radius = length("radius")) out = std::make_shared<Sphere>(*radius);
  } else if (isIn(kind, {"cylinder", "capsule", "drake:capsule"})) {
    const auto radius = length("radius");
    const auto full = length("length");
    if (radius && full) {
      if (kind == "cylinder") {
        out = std::make_shared<Cylinder>(*radius, *full / 2);
      } else {
        out = std::make_shared<Capsule>(*radius, *full / 2);
      }
    }
  } else if (kind == "drake:ellipsoid") {
    const auto a = length("a"), b = length("b"), c = length("c");
    if (a && b && c) out = std::make_shared<Ellipsoid>(Vec3{*a, *b, *c});
  } else if (kind == "mesh") {
    const auto file = reader.string("filename");
    if (!file) reader.error(child.place, "filename is missing");
    const Vec3 scale = reader.vec3("scale", robot_rule::kScale).value_or(Vec3{1, 1, 1});
    checkChildren(child, who + ": mesh", {"drake:declare_convex"});
    if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
      reader.errorFound("scale", robot_rule::kScale.expected);
    } else if (file) {
      out = shapes_.hull(*file, scale, child, reader.placeOf("filename"), {});
    }
  } else {
    if (notes_.numErrors() == numErrors) {
      reader.error(child.place,
                   "found a shape that URDF does not have, expected one of box, cylinder, sphere, "
                   "capsule, mesh");
    }
    return nullptr;
  }
  reader.finish();
  if (!isNothing) return out;
  reader.note(ImportNote::Kind::Changed, child.place, "has a size of 0: it is left out");
  return nullptr;
}

void UrdfReader::passVisual(const XmlElement& element, const std::string& link) {
  const std::string who = "link " + io::quoted(link) + ": visual";
  XmlReader reader(notes_, element, who);
  reader.allow({"name"});
  reader.finish();
  checkChildren(element, who, {"origin", "geometry"},
                {"material", "meta", "drake:illustration_properties", "drake:perception_properties",
                 "drake:accepting_renderer", "drake:diffuse_map"});
  if (const XmlElement* geometry = element.child("geometry")) {
    checkChildren(
        *geometry, who + ": geometry",
        {"box", "cylinder", "sphere", "capsule", "mesh", "drake:capsule", "drake:ellipsoid"});
  }
  visuals_.add(element);
}

}  // namespace tangere::io
