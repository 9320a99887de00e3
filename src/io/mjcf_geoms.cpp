// SPDX-License-Identifier: Apache-2.0
//
// The geoms and sites of an MJCF file: shapes, surfaces and looks.
#include <tangere/error.hpp>

#include "geometry/mass_properties.hpp"
#include "io/contact_law.hpp"
#include "io/mjcf_bodies.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::io {

void MjcfBodies::readGeom(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  const MjcfClass* klass = settingsOfShape(reader, scope);
  if (klass == nullptr) return;
  MjcfGeom geom = klass->geom;
  readMjcfGeom(reader, compiler_, &geom);
  std::string fileName;
  const std::string name = takeName(reader, "geom", scope, &fileName);
  if (!fileName.empty()) geoms_.emplace(fileName, geom);
  for (const XmlElement& child : element.children) {
    child.isRead = true;
    reader.error(child.place,
                 "found <" + child.name + ">: plugins are not available in this version");
  }
  if (geom.fromTo && !fitFromTo(reader, &geom)) return;
  const bool isMesh = geom.type == MjcfGeomType::Mesh || geom.type == MjcfGeomType::Sdf;
  if (!geom.mesh.empty() && !isMesh && !fitToMesh(reader, &geom)) return;

  MjcfBody& body = bodies_[static_cast<std::size_t>(scope.body)];
  const bool hasBits = geom.contactType != 0 || geom.contactAffinity != 0;
  const bool isKept = !fileName.empty() && kept_geoms_.count(fileName) > 0;
  const bool collides = (hasBits || isKept) && !disabled_.contacts;
  const bool countsAsMass =
      scope.body != 0 &&
      (!body.inertial || compiler_.inertiaFromGeom == MjcfCompiler::InertiaFromGeom::True) &&
      compiler_.inertiaFromGeom != MjcfCompiler::InertiaFromGeom::False &&
      geom.group >= compiler_.firstInertiaGroup && geom.group <= compiler_.lastInertiaGroup;
  const bool isGiven =
      body.hasInertial && compiler_.inertiaFromGeom == MjcfCompiler::InertiaFromGeom::Auto;
  const bool needsMass =
      countsAsMass && !isGiven && geom.mass.value_or(1) > 0 && (geom.mass || geom.density > 0);

  std::shared_ptr<const Shape> shape;
  if (collides || (needsMass && !isMesh) || !isMesh) {
    shape = makeShape(reader, geom);
    if (shape == nullptr) return;
  } else if (!requireMesh(reader, geom)) {
    return;
  }
  const Transform pose = scope.frame * Transform{geom.rotation, geom.position};
  if (needsMass) {
    if (const auto mass = massOf(reader, geom, shape.get()))
      body.geoms.push_back(geometry::transformed(*mass, pose));
  }
  addLook(geom, pose, collides, shape, &body);
  if (!collides) return;
  BodyShape out{.shape = shape, .pose = pose, .material = materialOf(reader, geom)};
  out.group = geom.contactType;
  out.mask = geom.contactAffinity;
  out.isOneSideEnough = true;
  out.name = name;
  if (!fileName.empty()) shapes_.emplace(fileName, name);
  body.body.shapes.push_back(std::move(out));
}

const MjcfClass* MjcfBodies::settingsOfShape(XmlReader& reader, const Scope& scope) {
  const MjcfClass* klass = classOf(reader, "class", scope.settings);
  if (klass == nullptr || import_.countShape(reader.element())) return klass;
  is_full_ = true;
  return nullptr;
}

/// Position, direction and length from the two ends. False after an error.
bool MjcfBodies::fitFromTo(XmlReader& reader, MjcfGeom* geom) {
  const std::array<Real, 6>& e = *geom->fromTo;
  const bool isLong = geom->type == MjcfGeomType::Capsule || geom->type == MjcfGeomType::Cylinder;
  if (!isLong && geom->type != MjcfGeomType::Box && geom->type != MjcfGeomType::Ellipsoid) {
    reader.errorFound("fromto", "it with a capsule, cylinder, box or ellipsoid");
    return false;
  }
  const Vec3 from{e[0], e[1], e[2]}, to{e[3], e[4], e[5]};
  const Vec3 axis = from - to;
  const Real length = math::scaledNorm(axis);
  if (!(length > mjcf_rule::kTooShort)) {
    reader.errorFound("fromto", "two points apart from each other");
    return false;
  }
  if (isLong) {
    geom->size[1] = length / 2;
  } else {
    geom->size[2] = length / 2;
    geom->size[1] = geom->size[0];
  }
  geom->position = (from + to) * Real(0.5);
  geom->rotation = rotationFromZ(axis);
  return true;
}

/// A primitive with the size and place of a mesh. False after an error.
bool MjcfBodies::fitToMesh(XmlReader& reader, MjcfGeom* geom) {
  if (geom->type == MjcfGeomType::Plane || geom->type == MjcfGeomType::HeightField ||
      geom->fromTo) {
    reader.errorFound("mesh", "a sphere, capsule, ellipsoid, cylinder or box without fromto");
    return false;
  }
  return requireMesh(reader, *geom) && assets_.fit(geom);
}

/// False after an error: there is no mesh of that name.
bool MjcfBodies::requireMesh(XmlReader& reader, const MjcfGeom& geom) {
  if (assets_.hasMesh(geom.mesh)) return true;
  reader.errorFound(
      "mesh", "the name of a mesh" + candidates(geom.mesh.substr(0, 64), assets_.meshNames()));
  return false;
}

std::shared_ptr<const Shape> MjcfBodies::makeShape(XmlReader& reader, const MjcfGeom& geom) {
  const std::array<Real, 3>& s = geom.size;
  const auto requireSizes = [&](int count, const char* expected) {
    for (int i = 0; i < count; ++i) {
      if (s[static_cast<std::size_t>(i)] > 0) continue;
      reader.errorFound("size", expected);
      return false;
    }
    return true;
  };
  try {
    switch (geom.type) {
      case MjcfGeomType::Plane:
        return std::make_shared<Plane>();
      case MjcfGeomType::Sphere:
        if (!requireSizes(1, "a radius above 0 [m]")) return nullptr;
        return std::make_shared<Sphere>(s[0]);
      case MjcfGeomType::Capsule:
        if (!requireSizes(2, "radius and half length above 0 [m]")) return nullptr;
        return std::make_shared<Capsule>(s[0], s[1]);
      case MjcfGeomType::Cylinder:
        if (!requireSizes(2, "radius and half length above 0 [m]")) return nullptr;
        return std::make_shared<Cylinder>(s[0], s[1]);
      case MjcfGeomType::Ellipsoid:
        if (!requireSizes(3, "three half axes above 0 [m]")) return nullptr;
        return std::make_shared<Ellipsoid>(Vec3{s[0], s[1], s[2]});
      case MjcfGeomType::Box:
        if (!requireSizes(3, "three half sizes above 0 [m]")) return nullptr;
        return std::make_shared<Box>(Vec3{s[0], s[1], s[2]});
      case MjcfGeomType::HeightField:
        if (!assets_.hasHeightField(geom.heightField)) {
          reader.errorFound(
              "hfield", "the name of an hfield" +
                            candidates(geom.heightField.substr(0, 64), assets_.heightFieldNames()));
          return nullptr;
        }
        return assets_.heightField(geom.heightField);
      case MjcfGeomType::Sdf:
        reader.change("type", "the mesh collides as its convex hull");
        [[fallthrough]];
      case MjcfGeomType::Mesh:
        return requireMesh(reader, geom) ? assets_.hull(geom.mesh) : nullptr;
    }
  } catch (const InvalidInput& error) {
    reader.error(reader.place(), error.what());
  }
  return nullptr;
}

/// MuJoCo shows the groups up to 2; models keep what only collides in the others.
void MjcfBodies::addLook(const MjcfGeom& geom, const Transform& pose, bool collides,
                         const std::shared_ptr<const Shape>& shape, MjcfBody* body) {
  constexpr int kLastShownGroup = 2;
  if (geom.group > kLastShownGroup || geom.type == MjcfGeomType::Plane) return;
  const std::optional<Rgba> color = geom.color ? geom.color : assets_.colorOf(geom.material);
  VisualShape look{.body = body->body.name, .pose = pose};
  if (color) look.color = *color;
  if (look.color[3] == 0) return;
  const bool isMesh = geom.type == MjcfGeomType::Mesh || geom.type == MjcfGeomType::Sdf;
  if (!isMesh || !assets_.lookOf(geom.mesh, &look)) look.shape = shape;
  if (look.shape == nullptr && look.mesh == nullptr && look.file.empty()) return;
  body->hasLooks = body->hasLooks || !collides || color.has_value() || isMesh;
  body->looks.push_back(std::move(look));
}

void MjcfBodies::addLooks() {
  for (MjcfBody& body : bodies_) {
    if (!body.hasLooks) continue;
    // The world is a body only where something of it collides.
    const bool isWorld = &body == &bodies_[0];
    for (VisualShape& look : body.looks) {
      if (isWorld) {
        look.body.clear();
        look.pose = body.body.pose * look.pose;
      }
      import_.visuals.push_back(std::move(look));
    }
  }
}

void MjcfBodies::readSite(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  const MjcfClass* klass = settingsOfShape(reader, scope);
  if (klass == nullptr) return;
  MjcfSite settings = klass->site;
  readMjcfSite(reader, compiler_, &settings);
  using Type = MjcfSite::Type;
  const bool isLong = settings.type == Type::Capsule || settings.type == Type::Cylinder;
  if (settings.fromTo) {
    MjcfGeom geom{.size = settings.size, .fromTo = settings.fromTo};
    geom.type = settings.type == Type::Sphere ? MjcfGeomType::Sphere
                : isLong                      ? MjcfGeomType::Capsule
                                              : MjcfGeomType::Box;
    if (!fitFromTo(reader, &geom)) return;
    settings.size = geom.size;
    settings.position = geom.position;
    settings.rotation = geom.rotation;
  }
  const std::array<Real, 3>& s = settings.size;
  Site out;
  std::string fileName;
  out.name = takeName(reader, "site", scope, &fileName);
  out.halfSize = settings.type == Type::Sphere ? Vec3{s[0], s[0], s[0]}
                 : isLong                      ? Vec3{s[0], s[0], s[1]}
                                               : Vec3{s[0], s[1], s[2]};
  if (settings.type == Type::Capsule) out.halfSize.z += s[0];
  out.isBox = settings.type == Type::Box;
  const Transform pose = scope.frame * Transform{settings.rotation, settings.position};
  if (scope.body == 0) {
    out.pose = import_.pose * pose;
  } else {
    out.body = bodies_[static_cast<std::size_t>(scope.body)].body.name;
    out.pose = pose;
  }
  if (!fileName.empty()) sites_.emplace(fileName, MjcfSiteEntry{scope.body, pose, isLong});
  if (!out.name.empty())
    bodies_[static_cast<std::size_t>(scope.body)].sites.emplace_back(std::move(out), &element);
}

MjcfFriction combinedFriction(int contactDimension, const std::array<Real, 3>& friction) {
  constexpr int kSliding = 3, kTorsional = 4, kRolling = 6;
  return {.sliding = contactDimension >= kSliding ? friction[0] : 0,
          .torsional = contactDimension >= kTorsional ? friction[1] : 0,
          .rolling = contactDimension >= kRolling ? friction[2] : 0};
}

std::string MjcfBodies::materialOf(XmlReader& reader, const MjcfGeom& geom) {
  const Surface surface{geom.contactDimension, geom.priority, geom.friction};
  if (const auto found = surface_names_.find(surface); found != surface_names_.end())
    return found->second;
  constexpr std::size_t kMaxSurfaces = 200;  // each two of them make a pair of materials
  if (surfaces_.size() >= kMaxSurfaces) {
    if (!is_full_)
      import_.notes.limitIn(
          *reader.element().file, reader.place(),
          "found more than 200 different surfaces (friction, condim, priority), the limit");
    is_full_ = true;
    return "";
  }
  std::string name = import_.prefix + "surface" + std::to_string(surfaces_.size());
  surface_names_.emplace(surface, name);
  surfaces_.push_back(surface);
  return name;
}

/// A material for each surface and a rule for each two of them, because MuJoCo combines them in its
/// own way.
void MjcfBodies::addMaterials() {
  for (const Surface& surface : surfaces_) {
    const MjcfFriction f = combinedFriction(surface.contactDimension, surface.friction);
    Material material{.name = surface_names_.at(surface),
                      .friction = f.sliding,
                      .torsionalFriction = f.torsional,
                      .rollingFriction = f.rolling};
    if (import_.contactLaw) copyContactLaw(*import_.contactLaw, &material);
    import_.builder.addMaterial(material);
  }
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Surface &a = surfaces_[i], &b = surfaces_[j];
      MjcfFriction f;
      if (a.priority != b.priority) {
        const Surface& higher = a.priority > b.priority ? a : b;
        f = combinedFriction(higher.contactDimension, higher.friction);
      } else {
        std::array<Real, 3> larger{};
        for (std::size_t k = 0; k < 3; ++k) larger[k] = std::fmax(a.friction[k], b.friction[k]);
        f = combinedFriction(std::max(a.contactDimension, b.contactDimension), larger);
      }
      import_.builder.addPair({.material1 = surface_names_.at(a),
                               .material2 = surface_names_.at(b),
                               .friction = f.sliding,
                               .torsionalFriction = f.torsional,
                               .rollingFriction = f.rolling});
    }
  }
}

}  // namespace tangere::io
