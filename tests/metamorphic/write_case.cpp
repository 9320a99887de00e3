// SPDX-License-Identifier: Apache-2.0
//
// A case as a scene file. Joints are said in an MJCF file beside it, meshes in OBJ files.
#include "metamorphic/scene_case.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

namespace tangere::test {

namespace {

std::string text(Real value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}
std::string text(const Vec3& v) {
  return "[" + text(v.x) + ", " + text(v.y) + ", " + text(v.z) + "]";
}
std::string words(const Vec3& v) { return text(v.x) + " " + text(v.y) + " " + text(v.z); }

/// w x y z, by the largest of the four.
std::array<Real, 4> quaternionOf(const Mat3& R) {
  const Real t[4] = {R(0, 0) + R(1, 1) + R(2, 2), R(0, 0) - R(1, 1) - R(2, 2),
                     R(1, 1) - R(0, 0) - R(2, 2), R(2, 2) - R(0, 0) - R(1, 1)};
  int best = 0;
  for (int i = 1; i < 4; ++i)
    if (t[i] > t[best]) best = i;
  const Real r = std::sqrt(1 + t[best]), s = Real(0.5) / r;
  switch (best) {
    case 0:
      return {r / 2, (R(2, 1) - R(1, 2)) * s, (R(0, 2) - R(2, 0)) * s, (R(1, 0) - R(0, 1)) * s};
    case 1:
      return {(R(2, 1) - R(1, 2)) * s, r / 2, (R(0, 1) + R(1, 0)) * s, (R(0, 2) + R(2, 0)) * s};
    case 2:
      return {(R(0, 2) - R(2, 0)) * s, (R(0, 1) + R(1, 0)) * s, r / 2, (R(1, 2) + R(2, 1)) * s};
    default:
      return {(R(1, 0) - R(0, 1)) * s, (R(0, 2) + R(2, 0)) * s, (R(1, 2) + R(2, 1)) * s, r / 2};
  }
}

std::string joined(const std::array<Real, 4>& q, const char* between) {
  return text(q[0]) + between + text(q[1]) + between + text(q[2]) + between + text(q[3]);
}

class Writer {
 public:
  Writer(std::filesystem::path path, const Case& scene) : path_(std::move(path)), scene_(scene) {}

  void write(const std::string& remarks) {
    writeOptions();
    for (const Material& material : scene_.materials) writeMaterial(material);
    for (const Body& body : scene_.bodies)
      if (body.parent.empty() && !isOfRobot(body)) writeBody(body);
    for (const Body& body : scene_.bodies)
      if (body.parent.empty() && isOfRobot(body)) writeRobot(body);
    std::ofstream file(path_);
    std::istringstream lines(remarks + remarks_.str());
    for (std::string line; std::getline(lines, line);) file << "# " << line << '\n';
    file << out_.str();
  }

 private:
  [[nodiscard]] bool isOfRobot(const Body& body) const {
    if (!body.joints.empty()) return true;
    for (const Body& other : scene_.bodies)
      if (other.parent == body.name) return true;
    return false;
  }

  void writeOptions() {
    const SimulationOptions& o = scene_.options;
    out_ << "[simulation]\ndt = " << text(o.dt) << "\ngravity = " << text(o.gravity)
         << "\nsolver = \"" << solverTypeName(o.solver)
         << "\"\nrestitution_threshold = " << text(o.restitutionThreshold);
    out_ << "\n\n[simulation.impulse]\nslop = " << text(o.impulse.slop);
    switch (o.solver) {
      case SolverType::Impulse:
        out_ << "\ntolerance = " << text(o.impulse.tolerance)
             << "\nnum_sweeps = " << o.impulse.numSweeps
             << "\nnum_correction_sweeps = " << o.impulse.numCorrectionSweeps
             << "\nmax_correction_speed = " << text(o.impulse.maxCorrectionSpeed);
        break;
      case SolverType::Sap:
        out_ << "\n\n[simulation.sap]\nrelative_tolerance = " << text(o.sap.relativeTolerance)
             << "\nabsolute_tolerance = " << text(o.sap.absoluteTolerance)
             << "\nfriction_tolerance = " << text(o.sap.frictionTolerance)
             << "\nmax_friction_updates = " << o.sap.maxFrictionUpdates;
        break;
      case SolverType::Event:
        out_ << "\n\n[simulation.event]\nabsolute_tolerance = " << text(o.event.absoluteTolerance)
             << "\nrest_period = " << text(o.event.restPeriod)
             << "\nimpact_speed = " << text(o.event.impactSpeed)
             << "\nslip_speed = " << text(o.event.slipSpeed)
             << "\nsmall_speed = " << text(o.event.smallSpeed)
             << "\nsmall_spin = " << text(o.event.smallSpin)
             << "\nmax_damping = " << text(o.event.maxDamping);
        break;
    }
    const ContactPatchCacheOptions& cache = o.patchCache;
    out_ << "\n\n[simulation.cache]\nenabled = " << (cache.enabled ? "true" : "false")
         << "\nposition_threshold = " << text(cache.positionThreshold)
         << "\nseparation_threshold = " << text(cache.separationThreshold)
         << "\nwarm_start_radius = " << text(cache.warmStartRadius)
         << "\ndepth_epsilon = " << text(cache.depthEpsilon) << '\n';
  }

  void writeMaterial(const Material& m) {
    out_ << "\n[material." << m.name << "]\ndensity = " << text(m.density)
         << "\nfriction = " << text(m.friction) << "\nrestitution = " << text(m.restitution);
    if (m.torsionalFriction > 0) out_ << "\ntorsional_friction = " << text(m.torsionalFriction);
    if (m.rollingFriction > 0) out_ << "\nrolling_friction = " << text(m.rollingFriction);
    if (m.contact == ContactModel::Hertz)
      out_ << "\ncontact = { model = \"hertz\", young = " << text(m.youngsModulus)
           << ", poisson = " << text(m.poissonRatio) << " }";
    else
      out_ << "\ncontact = { model = \"point\", relaxation_time = " << text(m.relaxationTime)
           << (m.stiffness < kUnlimited ? ", stiffness = " + text(m.stiffness) : "") << " }";
    out_ << '\n';
  }

  void writeBody(const Body& body) {
    out_ << "\n[[body]]\nname = \"" << body.name << "\"\n";
    if (body.type == BodyType::Fixed) out_ << "fixed = true\n";
    if (body.type == BodyType::Kinematic) out_ << "kinematic = true\n";
    out_ << "position = " << text(body.pose.translation) << "\nquaternion = ["
         << joined(quaternionOf(body.pose.rotation), ", ") << "]\n";
    if (!(body.linearVelocity == Vec3{}))
      out_ << "velocity = " << text(body.linearVelocity) << '\n';
    if (!(body.angularVelocity == Vec3{}))
      out_ << "angular_velocity = " << text(body.angularVelocity) << '\n';
    if (body.linearDamping > 0) out_ << "linear_damping = " << text(body.linearDamping) << '\n';
    if (body.angularDamping > 0) out_ << "angular_damping = " << text(body.angularDamping) << '\n';
    if (body.massProperties) {
      const MassProperties& mass = *body.massProperties;
      const Mat3& I = mass.inertia;
      out_ << "mass = " << text(mass.mass) << "\ncenter_of_mass = " << text(mass.center)
           << "\ninertia = [" << text(I(0, 0)) << ", " << text(I(1, 1)) << ", " << text(I(2, 2))
           << ", " << text(I(0, 1)) << ", " << text(I(0, 2)) << ", " << text(I(1, 2)) << "]\n";
    }
    out_ << "shapes = [\n";
    for (const BodyShape& shape : body.shapes) writeShape(*shape.shape, shape.pose, shape.material);
    out_ << "]\n";
  }

  void writeShape(const Shape& shape, const Transform& pose, const std::string& material) {
    if (shape.type() == ShapeType::Compound) {
      remarks_ << "a Compound is written as several shapes\n";
      for (const Compound::Child& child : static_cast<const Compound&>(shape).children())
        writeShape(*child.shape, pose * child.pose, material);
      return;
    }
    out_ << "  { ";
    writeGeometry(shape);
    if (!(pose == Transform{}))
      out_ << ", position = " << text(pose.translation) << ", quaternion = ["
           << joined(quaternionOf(pose.rotation), ", ") << "]";
    if (!material.empty()) out_ << ", material = \"" << material << "\"";
    out_ << " },\n";
  }

  void writeGeometry(const Shape& shape) {
    const auto two = [&](const char* name, Real a, Real b) {
      out_ << name << " = [" << text(a) << ", " << text(b) << "]";
    };
    switch (shape.type()) {
      case ShapeType::Sphere:
        out_ << "sphere = " << text(static_cast<const Sphere&>(shape).radius());
        break;
      case ShapeType::Box:
        out_ << "box = " << text(static_cast<const Box&>(shape).halfExtents());
        break;
      case ShapeType::Ellipsoid:
        out_ << "ellipsoid = " << text(static_cast<const Ellipsoid&>(shape).semiAxes());
        break;
      case ShapeType::Capsule: {
        const auto& c = static_cast<const Capsule&>(shape);
        two("capsule", c.radius(), c.halfLength());
        break;
      }
      case ShapeType::Cylinder: {
        const auto& c = static_cast<const Cylinder&>(shape);
        two("cylinder", c.radius(), c.halfLength());
        break;
      }
      case ShapeType::Cone: {
        const auto& c = static_cast<const Cone&>(shape);
        two("cone", c.radius(), c.halfHeight());
        break;
      }
      case ShapeType::Convex: {
        out_ << "convex = [";
        for (const Vec3& p : static_cast<const Convex&>(shape).vertices()) out_ << text(p) << ", ";
        out_ << "]";
        break;
      }
      case ShapeType::Mesh:
        out_ << "mesh = \"" << writeMesh(static_cast<const Mesh&>(shape)) << "\"";
        break;
      case ShapeType::HeightField: {
        const auto& field = static_cast<const HeightField&>(shape);
        out_ << "height_field = { size = [" << text(field.sizeX()) << ", " << text(field.sizeY())
             << "], heights = [";
        for (int j = 0; j < field.numY(); ++j) {
          out_ << "[";
          for (int i = 0; i < field.numX(); ++i)
            out_ << text(field.heights()[static_cast<std::size_t>(j * field.numX() + i)]) << ", ";
          out_ << "], ";
        }
        out_ << "] }";
        break;
      }
      default:
        out_ << "plane = true";
    }
  }

  std::string writeMesh(const Mesh& mesh) {
    const std::string name =
        path_.stem().string() + "_mesh" + std::to_string(numMeshes_++) + ".obj";
    std::ofstream file(path_.parent_path() / name);
    for (const Vec3& p : mesh.vertices()) file << "v " << words(p) << '\n';
    for (const Triangle& t : mesh.triangles())
      file << "f " << t[0] + 1 << ' ' << t[1] + 1 << ' ' << t[2] + 1 << '\n';
    return name;
  }

  // ---- robots

  void writeRobot(const Body& root) {
    const std::string name = path_.stem().string() + "_" + root.name + ".xml";
    std::ofstream file(path_.parent_path() / name);
    file << "<mujoco>\n  <compiler angle=\"radian\"/>\n  <worldbody>\n";
    writeLink(file, root, 4);
    file << "  </worldbody>\n</mujoco>\n";
    out_ << "\n[[model]]\nfile = \"" << name << "\"\n";
    if (!positions_.empty()) out_ << "positions = { " << positions_ << " }\n";
    positions_.clear();
    remarks_ << "the links of '" << root.name << "' are in " << name
             << ", with the contact parameters of MJCF\n";
  }

  void writeLink(std::ofstream& file, const Body& body, std::size_t indent) {
    const std::string space(indent, ' ');
    file << space << "<body name=\"" << body.name << "\" pos=\"" << words(body.pose.translation)
         << "\" quat=\"" << joined(quaternionOf(body.pose.rotation), " ") << "\">\n";
    if (body.parent.empty() && body.joints.empty()) {
      file << space << "  <freejoint/>\n";
      remarks_ << "'" << body.name << "' starts at " << text(body.linearVelocity) << " m/s, "
               << text(body.angularVelocity) << " rad/s\n";
    }
    for (const Joint& joint : body.joints) writeJoint(file, joint, space);
    for (const BodyShape& shape : body.shapes) writeGeom(file, shape, space);
    for (const Body& child : scene_.bodies)
      if (child.parent == body.name) writeLink(file, child, indent + 2);
    file << space << "</body>\n";
  }

  void writeJoint(std::ofstream& file, const Joint& joint, const std::string& space) {
    const bool isHinge = joint.type == JointType::Revolute;
    const bool isSlide = joint.type == JointType::Prismatic;
    const bool isBall = joint.type == JointType::Ball;
    if (!isHinge && !isSlide && !isBall)
      remarks_ << "MJCF has no joint '" << joint.name << "' of type " << jointTypeName(joint.type)
               << ": it is written as a ball\n";
    file << space << "  <joint name=\"" << joint.name << "\" type=\""
         << (isHinge   ? "hinge"
             : isSlide ? "slide"
                       : "ball")
         << "\" pos=\"" << words(joint.position) << "\" axis=\"" << words(joint.axis)
         << "\" damping=\"" << text(joint.damping) << "\" stiffness=\"" << text(joint.stiffness)
         << "\"";
    if (joint.lower > -kUnlimited)
      file << " limited=\"true\" range=\"" << text(joint.lower) << " " << text(joint.upper) << "\"";
    file << "/>\n";
    const auto found = scene_.joints.find(joint.name);
    if (found == scene_.joints.end()) return;
    if (isHinge || isSlide)
      positions_ +=
          (positions_.empty() ? "" : ", ") + joint.name + " = " + text(found->second.q[0]);
    remarks_ << "joint '" << joint.name << "' starts at";
    for (const Real q : found->second.q) remarks_ << ' ' << text(q);
    remarks_ << " with speed";
    for (const Real v : found->second.v) remarks_ << ' ' << text(v);
    remarks_ << '\n';
  }

  void writeGeom(std::ofstream& file, const BodyShape& shape, const std::string& space) {
    Real friction = 0.5, density = 1000;
    for (const Material& material : scene_.materials) {
      if (material.name != shape.material) continue;
      friction = material.friction;
      density = material.density;
    }
    file << space << "  <geom pos=\"" << words(shape.pose.translation) << "\" quat=\""
         << joined(quaternionOf(shape.pose.rotation), " ") << "\" friction=\"" << text(friction)
         << " 0 0\" density=\"" << text(density) << "\" ";
    switch (shape.shape->type()) {
      case ShapeType::Box:
        file << "type=\"box\" size=\""
             << words(static_cast<const Box&>(*shape.shape).halfExtents());
        break;
      case ShapeType::Capsule: {
        const auto& c = static_cast<const Capsule&>(*shape.shape);
        file << "type=\"capsule\" size=\"" << text(c.radius()) << " " << text(c.halfLength());
        break;
      }
      case ShapeType::Cylinder: {
        const auto& c = static_cast<const Cylinder&>(*shape.shape);
        file << "type=\"cylinder\" size=\"" << text(c.radius()) << " " << text(c.halfLength());
        break;
      }
      default: {
        const Aabb& local = shape.shape->localAabb();
        file << "type=\"sphere\" size=\"" << text(local.upper.x);
      }
    }
    file << "\"/>\n";
  }

  std::filesystem::path path_;
  const Case& scene_;
  std::ostringstream out_, remarks_;
  std::string positions_;
  int numMeshes_ = 0;
};

}  // namespace

void writeCase(const std::filesystem::path& path, const Case& scene, const std::string& remarks) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  Writer(path, scene).write(remarks);
}

}  // namespace tangere::test
