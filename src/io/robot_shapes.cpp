// SPDX-License-Identifier: Apache-2.0
#include "io/robot_shapes.hpp"
#include "io/contact_law.hpp"

#include <tangere/error.hpp>

#include "io/robot_tree.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/quat.hpp"

#include <optional>

namespace tangere::io {

namespace {

constexpr std::size_t kMaxMaterials = 900;  // every pair of them has an entry in the model

}  // namespace

Mat3 rotationFromRpy(const Vec3& rpy) {
  const Quat roll = math::quatFromAxisAngle(Vec3{1, 0, 0}, rpy.x);
  const Quat pitch = math::quatFromAxisAngle(Vec3{0, 1, 0}, rpy.y);
  const Quat yaw = math::quatFromAxisAngle(Vec3{0, 0, 1}, rpy.z);
  return rotationMatrix(yaw * (pitch * roll));
}

std::shared_ptr<const Shape> RobotShapes::hull(const std::string& file, const Vec3& scale,
                                               const XmlElement& element, Place place,
                                               const std::filesystem::path& base) {
  try {
    const std::filesystem::path path = import_.files.resolve(file, base);
    const MeshKey key{path.string(), scale.x, scale.y, scale.z};
    if (const auto found = hulls_.find(key); found != hulls_.end()) return found->second;
    const ModelFiles::MeshFile& read = import_.files.readMesh(path, file);
    for (const std::string& what : read.ignored) {
      say(import_.notes, ImportNote::Kind::Ignored, element, place,
          "mesh " + io::quoted(file) + ": " + what);
    }
    TriangleMesh mesh = read.mesh;
    for (Vec3& v : mesh.vertices) v = {v.x * scale.x, v.y * scale.y, v.z * scale.z};
    std::shared_ptr<const Shape> out = hullOf(mesh, file, element, place, import_.notes);
    hulls_.emplace(key, out);
    return out;
  } catch (const LimitExceeded& error) {
    import_.notes.limitIn(*element.file, place, error.what());
  } catch (const InvalidInput& error) {
    say(import_.notes, ImportNote::Kind::Error, element, place, error.what());
  }
  return nullptr;
}

std::string RobotShapes::materialOf(const Material& surface, const XmlElement& element) {
  const SurfaceKey key{surface.friction,
                       surface.restitution,
                       surface.stiffness,
                       surface.relaxationTime,
                       surface.dissipation,
                       surface.contact,
                       surface.hydroelasticModulus,
                       surface.hydroelasticResolution};
  if (const auto found = materials_.find(key); found != materials_.end()) return found->second;
  if (materials_.size() >= kMaxMaterials) {
    import_.notes.limitIn(
        *element.file, element.place,
        "found more than " + std::to_string(kMaxMaterials) + " different surfaces, the limit");
    return {};
  }
  Material material = surface;
  if (import_.contactLaw) copyContactLaw(*import_.contactLaw, &material);
  material.name = import_.takeName("surface", "", element, element.place);
  try {
    import_.builder.addMaterial(material);
  } catch (const InvalidInput& error) {
    say(import_.notes, ImportNote::Kind::Error, element, element.place, error.what());
    return {};
  }
  materials_.emplace(key, material.name);
  return material.name;
}

std::optional<Real> RobotShapes::value(const XmlElement& element, ValueStyle style,
                                       const std::string& who, const NumberRule& rule) {
  XmlReader reader(import_.notes, element, who + ": " + element.name);
  if (style == ValueStyle::Text) {
    reader.finish();
    return readNumber(import_.notes,
                      {element.text, element.textPlace, element.file.get(), reader.who()}, rule);
  }
  const std::optional<Real> out = reader.number("value", rule);
  if (!reader.has("value")) reader.error(element.place, "value is missing");
  reader.finish();
  return out;
}

void RobotShapes::readProximity(const XmlElement& element, ValueStyle style, const std::string& who,
                                Material* out) {
  XmlReader(import_.notes, element, who).finish();
  std::optional<Real> muStatic, muDynamic;
  const XmlElement* staticElement = nullptr;
  Pressure pressure;
  for (const XmlElement& child : element.children) {
    const std::string& name = child.name;
    if (name == "drake:mu_static") {
      muStatic = value(child, style, who, robot_rule::kFriction);
      staticElement = &child;
    } else if (name == "drake:mu_dynamic") {
      muDynamic = value(child, style, who, robot_rule::kFriction);
    } else if (name == "drake:hunt_crossley_dissipation") {
      if (const auto d = value(child, style, who, robot_rule::kDissipation)) out->dissipation = *d;
    } else if (name == "drake:relaxation_time") {
      if (const auto t = value(child, style, who, robot_rule::kTime)) out->relaxationTime = *t;
    } else if (name == "drake:point_contact_stiffness") {
      if (const auto k = value(child, style, who, robot_rule::kStiffness)) out->stiffness = *k;
    } else if (name == "drake:hydroelastic_margin") {
      child.isRead = true;
      say(import_.notes, ImportNote::Kind::Ignored, child, child.place,
          who + ": " + name + ": contacts that are near are foreseen without one");
    } else if (!readPressure(child, style, who, &pressure)) {
      refuseChild(
          import_.notes, child, who + ": " + element.name,
          {"drake:mu_static", "drake:mu_dynamic", "drake:hunt_crossley_dissipation",
           "drake:relaxation_time", "drake:point_contact_stiffness", "drake:hydroelastic_modulus",
           "drake:mesh_resolution_hint", "drake:compliant_hydroelastic", "drake:rigid_hydroelastic",
           "drake:hydroelastic_margin"});
    }
  }
  applyPressure(pressure, who, out);
  // One coefficient holds and slides; Drake's discrete steps take the dynamic one as well.
  if (muDynamic) {
    out->friction = *muDynamic;
    if (muStatic && *muStatic != *muDynamic) {
      say(import_.notes, ImportNote::Kind::Ignored, *staticElement, staticElement->place,
          who + ": drake:mu_static: drake:mu_dynamic is the one coefficient of friction");
    }
  } else if (muStatic) {
    out->friction = *muStatic;
  }
}

/// soft_hydroelastic and elastic_modulus are what earlier versions of Drake called them.
bool RobotShapes::readPressure(const XmlElement& element, ValueStyle style, const std::string& who,
                               Pressure* out) {
  const std::string& name = element.name;
  const auto mark = [&](const XmlElement** place) {
    XmlReader(import_.notes, element, who + ": " + name).finish();
    element.isRead = true;
    *place = &element;
  };
  if (name == "drake:compliant_hydroelastic" || name == "drake:soft_hydroelastic") {
    mark(&out->compliant);
  } else if (name == "drake:rigid_hydroelastic") {
    mark(&out->rigid);
  } else if (name == "drake:hydroelastic_modulus" || name == "drake:elastic_modulus") {
    out->modulus = value(element, style, who, robot_rule::kModulus);
    out->modulusElement = &element;
  } else if (name == "drake:mesh_resolution_hint") {
    out->resolution = value(element, style, who, robot_rule::kResolution);
    out->resolutionElement = &element;
  } else {
    return false;
  }
  return true;
}

void RobotShapes::applyPressure(const Pressure& pressure, const std::string& who, Material* out) {
  const auto ignored = [&](const XmlElement* element, const char* why) {
    if (element == nullptr) return;
    say(import_.notes, ImportNote::Kind::Ignored, *element, element->place,
        who + ": " + element->name + ": " + why);
  };
  if (pressure.compliant != nullptr && pressure.rigid != nullptr) {
    say(import_.notes, ImportNote::Kind::Error, *pressure.rigid, pressure.rigid->place,
        who + ": found " + pressure.compliant->name + " and " + pressure.rigid->name +
            ", expected one of them");
    return;
  }
  if (pressure.compliant == nullptr && pressure.rigid == nullptr) {
    constexpr const char* kWhy = "without drake:compliant_hydroelastic contacts are points";
    ignored(pressure.modulusElement, kWhy);
    ignored(pressure.resolutionElement, kWhy);
    return;
  }
  out->contact = ContactModel::Hydroelastic;
  if (pressure.resolution) out->hydroelasticResolution = *pressure.resolution;
  if (pressure.rigid != nullptr) {
    out->hydroelasticModulus = kUnlimited;
    ignored(pressure.modulusElement, "the surface is rigid");
  } else if (pressure.modulus) {
    out->hydroelasticModulus = *pressure.modulus;
  } else if (pressure.modulusElement == nullptr) {
    say(import_.notes, ImportNote::Kind::Changed, *pressure.compliant, pressure.compliant->place,
        who + ": " + pressure.compliant->name +
            " without drake:hydroelastic_modulus: the modulus is 1e7 Pa");
  }
}

}  // namespace tangere::io
