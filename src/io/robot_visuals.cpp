// SPDX-License-Identifier: Apache-2.0
#include "io/robot_visuals.hpp"

#include <tangere/error.hpp>

#include "io/robot_shapes.hpp"
#include "io/xml_reader.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tangere::io {

namespace {

constexpr Real kFarthest = 1e9;

/// Nothing unless the text is `count` numbers of a plausible size.
std::optional<std::vector<Real>> numbersOf(std::string_view text, std::size_t count) {
  std::vector<Real> out;
  for (const std::string_view word : splitWords(text)) {
    Real value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !(std::fabs(value) < kFarthest))
      return std::nullopt;
    out.push_back(value);
  }
  if (out.size() != count) return std::nullopt;
  return out;
}

std::optional<Vec3> vectorOf(const std::optional<std::string>& text) {
  const auto numbers = text ? numbersOf(*text, 3) : std::nullopt;
  if (!numbers) return std::nullopt;
  return Vec3{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

std::optional<Real> numberOf(const std::optional<std::string>& text) {
  const auto numbers = text ? numbersOf(*text, 1) : std::nullopt;
  if (!numbers) return std::nullopt;
  return numbers->front();
}

/// What a geometry says under a name: an attribute in URDF, a child element in SDFormat.
using ValueOf = std::function<std::optional<std::string>(const char* name)>;

std::optional<std::string> attributeOf(const XmlElement& element, const char* name) {
  const XmlAttribute* attribute = peekAttribute(element, name);
  if (attribute == nullptr) return std::nullopt;
  return attribute->value;
}

std::optional<std::string> childTextOf(const XmlElement& element, const char* name) {
  const XmlElement* child = peekChild(element, name);
  if (child == nullptr) return std::nullopt;
  return child->text;
}

/// Null for another kind and for sizes that are missing. Throws InvalidInput for impossible ones.
std::shared_ptr<const Shape> solidOf(const std::string& kind, const ValueOf& value) {
  const auto radius = numberOf(value("radius")), length = numberOf(value("length"));
  if (kind == "box") {
    const auto size = vectorOf(value("size"));
    return size ? std::make_shared<Box>(*size / 2) : nullptr;
  }
  if (kind == "sphere") return radius ? std::make_shared<Sphere>(*radius) : nullptr;
  if (kind == "cylinder")
    return radius && length ? std::make_shared<Cylinder>(*radius, *length / 2) : nullptr;
  if (kind == "cone")
    return radius && length ? std::make_shared<Cone>(*radius, *length / 2) : nullptr;
  if (kind == "capsule" || kind == "drake:capsule")
    return radius && length ? std::make_shared<Capsule>(*radius, *length / 2) : nullptr;
  if (kind == "ellipsoid") {
    const auto radii = vectorOf(value("radii"));
    return radii ? std::make_shared<Ellipsoid>(*radii) : nullptr;
  }
  if (kind == "drake:ellipsoid") {
    const auto a = numberOf(value("a")), b = numberOf(value("b")), c = numberOf(value("c"));
    return a && b && c ? std::make_shared<Ellipsoid>(Vec3{*a, *b, *c}) : nullptr;
  }
  return nullptr;
}

/// Adds it when it has something to draw.
void addGeometry(const XmlElement& visual, const char* fileKey,
                 const std::function<ValueOf(const XmlElement&)>& valuesOf,
                 const std::filesystem::path& folder, VisualShape out, RobotImport& import) {
  const XmlElement* geometry = peekChild(visual, "geometry");
  if (geometry == nullptr || geometry->children.size() != 1) return;
  const XmlElement& child = geometry->children[0];
  const ValueOf value = valuesOf(child);
  try {
    if (child.name == "mesh") {
      const auto file = value(fileKey);
      if (!file) return;
      out.file = import.files.resolve(*file, folder);
      out.scale = vectorOf(value("scale")).value_or(Vec3{1, 1, 1});
    } else {
      out.shape = solidOf(child.name, value);
      if (out.shape == nullptr) return;
    }
  } catch (const InvalidInput&) {
    return;  // not to be found, or not to be drawn
  }
  import.visuals.push_back(std::move(out));
}

Transform poseOf(const std::vector<Real>& p) {
  return {rotationFromRpy({p[3], p[4], p[5]}), {p[0], p[1], p[2]}};
}

}  // namespace

const XmlAttribute* peekAttribute(const XmlElement& element, std::string_view name) {
  for (const XmlAttribute& attribute : element.attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

const XmlElement* peekChild(const XmlElement& element, std::string_view name) {
  for (const XmlElement& child : element.children)
    if (child.name == name) return &child;
  return nullptr;
}

std::optional<Rgba> readRgba(std::string_view text) {
  auto numbers = numbersOf(text, 4);
  if (!numbers) {
    numbers = numbersOf(text, 3);
    if (numbers) numbers->push_back(1);
  }
  if (!numbers) return std::nullopt;
  Rgba out;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!((*numbers)[k] >= 0 && (*numbers)[k] <= 1)) return std::nullopt;
    out[k] = (*numbers)[k];
  }
  return out;
}

std::map<std::string, Rgba> urdfColors(const XmlElement& root) {
  std::map<std::string, Rgba> out;
  for (const XmlElement& child : root.children) {
    if (child.name != "material" || peekChild(child, "color") == nullptr) continue;
    const auto name = attributeOf(child, "name"),
               text = attributeOf(*peekChild(child, "color"), "rgba");
    const auto color = text ? readRgba(*text) : std::nullopt;
    if (name && color) out.emplace(*name, *color);
  }
  return out;
}

void addUrdfVisual(const XmlElement& visual, const std::string& body,
                   const std::map<std::string, Rgba>& colors, RobotImport& import) {
  VisualShape out{.body = body};
  if (const XmlElement* origin = peekChild(visual, "origin")) {
    const auto xyz = vectorOf(attributeOf(*origin, "xyz").value_or("0 0 0"));
    const auto rpy = vectorOf(attributeOf(*origin, "rpy").value_or("0 0 0"));
    if (!xyz || !rpy) return;
    out.pose = {rotationFromRpy(*rpy), *xyz};
  }
  if (const XmlElement* material = peekChild(visual, "material")) {
    const auto known = colors.find(attributeOf(*material, "name").value_or(""));
    if (known != colors.end()) out.color = known->second;
    if (const XmlElement* color = peekChild(*material, "color"))
      out.color = readRgba(attributeOf(*color, "rgba").value_or("")).value_or(out.color);
  }
  const auto attributes = [](const XmlElement& element) -> ValueOf {
    return [&element](const char* name) { return attributeOf(element, name); };
  };
  addGeometry(visual, "filename", attributes, {}, std::move(out), import);
}

void addSdfVisual(const XmlElement& visual, const std::string& body,
                  const std::filesystem::path& folder, RobotImport& import) {
  VisualShape out{.body = body};
  if (const XmlElement* pose = peekChild(visual, "pose")) {
    const auto numbers = numbersOf(pose->text, 6);
    if (!numbers || !pose->attributes.empty()) return;
    out.pose = poseOf(*numbers);
  }
  if (const XmlElement* material = peekChild(visual, "material"))
    out.color = readRgba(childTextOf(*material, "diffuse").value_or("")).value_or(out.color);
  const auto children = [](const XmlElement& element) -> ValueOf {
    return [&element](const char* name) { return childTextOf(element, name); };
  };
  addGeometry(visual, "uri", children, folder, std::move(out), import);
}

}  // namespace tangere::io
