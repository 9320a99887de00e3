// SPDX-License-Identifier: Apache-2.0
//
// The masses of an MJCF file as MuJoCo computes them: given, of geoms, bounded, and asked for where
// something moves.
#include <tangere/error.hpp>

#include "geometry/mass_properties.hpp"
#include "io/mjcf_bodies.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/symmetric_eigen.hpp"

#include <cmath>

namespace tangere::io {

namespace {

using namespace mjcf_rule;

Mat3 diagonal(Real x, Real y, Real z) { return {{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

Mat3 rotated(const Mat3& rotation, const Mat3& inertia) {
  return rotation * inertia * transpose(rotation);
}

/// Mass and inertia of a hollow body whose surface has mass `perArea` [kg/m^2] times its area.
struct ShellInertia {
  Real area = 0;
  Vec3 perMass{};  // moments of inertia of 1 kg
};

/// As MuJoCo has them: exact for sphere, capsule, cylinder and box.
std::optional<ShellInertia> shellOf(const MjcfGeom& geom) {
  constexpr Real kPi = 3.14159265358979323846;
  const Real x = geom.size[0], y = geom.size[1], z = geom.size[2];
  ShellInertia out;
  switch (geom.type) {
    case MjcfGeomType::Sphere:
      out.area = 4 * kPi * x * x;
      out.perMass = Vec3{1, 1, 1} * (2 * x * x / 3);
      return out;
    case MjcfGeomType::Capsule: {
      const Real height = 2 * y, ends = 4 * kPi * x * x, side = 2 * kPi * x * height;
      out.area = ends + side;
      const Real endPart = ends / out.area, sidePart = side / out.area;
      // The centre of a hemispherical shell is half a radius from the plane of its rim.
      const Real across =
          endPart * (2 * x * x / 3 + y * y + y * x) + sidePart * (6 * x * x + height * height) / 12;
      out.perMass = {across, across, endPart * 2 * x * x / 3 + sidePart * x * x};
      return out;
    }
    case MjcfGeomType::Cylinder: {
      const Real height = 2 * y, disk = kPi * x * x, side = 2 * kPi * x * height;
      out.area = 2 * disk + side;
      const Real diskPart = 2 * disk / out.area, sidePart = side / out.area;
      const Real across =
          diskPart * (x * x / 4 + y * y) + sidePart * (6 * x * x + height * height) / 12;
      out.perMass = {across, across, diskPart * x * x / 2 + sidePart * x * x};
      return out;
    }
    case MjcfGeomType::Box: {
      const Vec3 half{x, y, z};
      const Vec3 faces{4 * y * z, 4 * z * x, 4 * x * y};  // one face across each axis
      out.area = 2 * (faces.x + faces.y + faces.z);
      Vec3 second{};  // integral of the square of each coordinate, for 1 kg
      for (int axis = 0; axis < 3; ++axis) {
        for (int across = 0; across < 3; ++across) {
          const Real square = half[axis] * half[axis];
          second[axis] += 2 * faces[across] / out.area * (axis == across ? square : square / 3);
        }
      }
      out.perMass = {second.y + second.z, second.z + second.x, second.x + second.y};
      return out;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

void MjcfBodies::readInertial(const XmlElement& element, const Scope& scope) {
  MjcfBody& body = bodies_[static_cast<std::size_t>(scope.body)];
  XmlReader reader(notes(), element, "inertial");
  if (scope.body == 0) {
    reader.error(reader.place(), "found it in the world, expected it in a body");
    return;
  }
  if (body.inertial) {
    reader.error(reader.place(), "found it twice in one body, expected one");
    return;
  }
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  readMjcfPlacement(reader, compiler_, &position, &rotation);
  const auto mass = reader.number("mass", {0, 1e150, "a mass of 0 or more [kg]"});
  const auto moments =
      reader.vec3("diaginertia", {0, 1e150, "moments of inertia of 0 or more [kg m^2]"});
  const auto full = reader.numbers("fullinertia", 6, 6, kFinite);
  for (const char* name : {"pos", "mass"}) {
    if (!reader.has(name)) reader.error(reader.place(), std::string(name) + " is missing");
  }
  if (reader.has("diaginertia") && reader.has("fullinertia"))
    reader.error(reader.placeOf("fullinertia"),
                 "found diaginertia and fullinertia, expected one of them");
  for (const char* name : {"quat", "axisangle", "euler", "xyaxes", "zaxis"}) {
    if (reader.has(name) && reader.has("fullinertia"))
      reader.error(reader.placeOf(name), "found an orientation beside fullinertia, which has one");
  }
  MassProperties out{.mass = mass.value_or(1)};
  Mat3 inertia{};
  if (full) {
    const std::vector<Real>& i = *full;  // xx yy zz xy xz yz
    inertia = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
    Real a[3][3];
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) a[row][column] = inertia(row, column);
    }
    if (!(math::symmetricEigen(a).values[0] > 0))
      reader.errorFound("fullinertia", "a positive definite inertia");
  } else if (moments) {
    inertia = rotated(rotation, diagonal(moments->x, moments->y, moments->z));
  }
  // Not moved by a frame around it: MuJoCo has the inertia in the body's own frame.
  out.center = position;
  out.inertia = inertia;
  body.inertial = out;
}

/// In the frame of the geom. Nothing where there is none, or after an error.
std::optional<MassProperties> MjcfBodies::massOf(XmlReader& reader, const MjcfGeom& geom,
                                                 const Shape* shape) {
  if (geom.type == MjcfGeomType::Plane || geom.type == MjcfGeomType::HeightField)
    return std::nullopt;
  if (geom.type == MjcfGeomType::Mesh || geom.type == MjcfGeomType::Sdf) {
    if (geom.isShell) {
      reader.errorFound("shellinertia", "inertia=\"shell\" of the mesh");
      return std::nullopt;
    }
    return assets_.massProperties(geom.mesh, geom.mass, geom.density);
  }
  if (geom.isShell) {
    const std::optional<ShellInertia> shell = shellOf(geom);
    if (!shell) {
      reader.errorFound("shellinertia", "a sphere, capsule, cylinder or box");
      return std::nullopt;
    }
    const Real mass = geom.mass.value_or(geom.density * shell->area);
    const Vec3 moments = shell->perMass * mass;
    return MassProperties{.mass = mass, .inertia = diagonal(moments.x, moments.y, moments.z)};
  }
  MassProperties out = shape->massProperties(geom.mass ? Real(1) : geom.density);
  if (geom.mass) {
    const Real factor = *geom.mass / out.mass;
    for (Vec3& column : out.inertia.col) column *= factor;
    out.mass = *geom.mass;
  }
  return out;
}

void MjcfBodies::computeMasses() {
  using Mode = MjcfCompiler::InertiaFromGeom;
  Real total = 0;
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    MjcfBody& body = bodies_[i];
    const bool fromGeoms = compiler_.inertiaFromGeom == Mode::True ||
                           (compiler_.inertiaFromGeom == Mode::Auto && !body.inertial);
    if (fromGeoms) {
      if (!body.geoms.empty()) body.mass = geometry::sum(body.geoms);
    } else if (body.inertial) {
      body.mass = *body.inertial;
    }
    if (!boundMass(body)) return;
    total += body.mass.mass;
  }
  if (compiler_.totalMass > 0 && total > 0) {
    const Real factor = compiler_.totalMass / total;
    for (MjcfBody& body : bodies_) {
      body.mass.mass *= factor;
      for (Vec3& column : body.mass.inertia.col) column *= factor;
    }
  }
}

/// The least mass and inertia of the compiler, and the triangle rule. False after an error.
bool MjcfBodies::boundMass(MjcfBody& body) {
  body.mass.mass = std::fmax(body.mass.mass, compiler_.lowerMass);
  Real a[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = body.mass.inertia(i, j);
  }
  math::SymmetricEigen<Real, 3> eigen = math::symmetricEigen(a);
  bool isChanged = false;
  for (Real& value : eigen.values) {
    if (value >= compiler_.lowerInertia) continue;
    if (compiler_.lowerInertia > 0) isChanged = true;
    value = std::fmax(value, compiler_.lowerInertia);
  }
  constexpr Real kRounding = 1e-9;
  Real* v = eigen.values;
  const bool isMended = import_.limits.mendsInertia && !compiler_.balancesInertia;
  if ((v[0] + v[1] < v[2] * (1 - kRounding) && v[2] > 0) ||
      (isMended && v[0] <= 0 && v[0] + v[1] + v[2] > 0)) {
    if (!compiler_.balancesInertia && !isMended) {
      import_.notes.addIn(*body.element->file, ImportNote::Kind::Error, body.element->place,
                          callOf(*body.element) +
                              ": found principal moments of inertia of which two are less than the "
                              "third, which no body has; balanceinertia=\"true\" mends it");
      return false;
    }
    const Real mean = (v[0] + v[1] + v[2]) / 3;
    v[0] = v[1] = v[2] = mean;
    isChanged = true;
    import_.notes.addIn(
        *body.element->file, isMended ? ImportNote::Kind::Warning : ImportNote::Kind::Changed,
        body.element->place,
        callOf(*body.element) + ": moments of inertia that no body has were made equal " +
            (isMended ? "(--fix-inertia)" : "(balanceinertia)"));
  }
  if (!isChanged) return true;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      Real sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += eigen.vectors[i][k] * eigen.values[k] * eigen.vectors[j][k];
      body.mass.inertia(i, j) = sum;
    }
  }
  return true;
}

/// What a joint moves must have mass and inertia, in its body or in what is welded to it.
void MjcfBodies::requireMasses() {
  constexpr Real kLeast = 1e-15;  // MuJoCo's bound
  std::vector<bool> hasMass(bodies_.size(), false);
  for (std::size_t i = bodies_.size(); i-- > 1;) {
    MjcfBody& body = bodies_[i];
    const Mat3& inertia = body.mass.inertia;
    if (body.mass.mass >= kLeast && inertia(0, 0) > 0 && inertia(1, 1) > 0 && inertia(2, 2) > 0)
      hasMass[i] = true;
    if (hasMass[i] && body.body.joints.empty())
      hasMass[static_cast<std::size_t>(body.parent)] = true;
    if (hasMass[i] || body.body.joints.empty()) continue;
    import_.notes.addIn(
        *body.element->file, ImportNote::Kind::Error, body.element->place,
        callOf(*body.element) +
            ": found joints but neither mass nor inertia, expected an <inertial> or "
            "geoms with mass");
  }
}

Real MjcfBodies::inertiaAt(const MjcfJointEntry& entry) const {
  const Joint& moved = joint(entry);
  const Transform& pose = body(entry.body).pose;
  const Vec3 axis = pose.rotation * moved.axis, point = pose * moved.position;
  std::vector<bool> isMoved(bodies_.size(), false);
  Real out = moved.armature;
  for (std::size_t i = static_cast<std::size_t>(entry.body); i < bodies_.size(); ++i) {
    const MjcfBody& other = bodies_[i];
    isMoved[i] =
        static_cast<int>(i) == entry.body || isMoved[static_cast<std::size_t>(other.parent)];
    if (!isMoved[i]) continue;
    if (moved.type == JointType::Prismatic) {
      out += other.mass.mass;
      continue;
    }
    const Vec3 local = transposeTimes(other.pose.rotation, axis);
    const Vec3 arm = cross(axis, other.pose * other.mass.center - point);
    out += dot(local, other.mass.inertia * local) + other.mass.mass * squaredNorm(arm);
  }
  return out;
}

}  // namespace tangere::io
