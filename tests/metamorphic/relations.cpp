// SPDX-License-Identifier: Apache-2.0
#include "metamorphic/relations.hpp"
#include "sim/random_scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tangere::test {

// ---- names -----------------------------------------------------------------------------------

std::optional<Image> renamed(const Case& scene, std::uint64_t seed) {
  Random random(seed);
  const std::size_t count = scene.bodies.size();
  std::vector<std::size_t> place(count);
  for (std::size_t i = 0; i < count; ++i) place[i] = i;
  for (std::size_t i = count; i > 1; --i)
    std::swap(place[i - 1], place[static_cast<std::size_t>(random.index(static_cast<int>(i)))]);

  std::map<std::string, std::string> newName;
  for (std::size_t i = 0; i < count; ++i)
    newName[scene.bodies[i].name] = named("n", 100 + static_cast<int>(place[i]));
  Image image{.scene = scene};
  for (Body& body : image.scene.bodies) {
    body.name = newName[body.name];
    if (!body.parent.empty()) body.parent = newName[body.parent];
  }
  // A parent may be added after its child.
  for (std::size_t i = count; i > 1; --i)
    std::swap(image.scene.bodies[i - 1],
              image.scene.bodies[static_cast<std::size_t>(random.index(static_cast<int>(i)))]);
  image.expected = [newName](const Snapshot& original) {
    Snapshot result = original;
    result.bodies.clear();
    for (const auto& [name, motion] : original.bodies) result.bodies[newName.at(name)] = motion;
    return result;
  };
  return image;
}

// ---- mirror: x and y change places -----------------------------------------------------------

namespace {

Vec3 mirror(const Vec3& v) { return {v.y, v.x, v.z}; }
/// Of a turning: the mirror image turns the other way round.
Vec3 mirrorTurn(const Vec3& v) { return {-v.y, -v.x, -v.z}; }
Mat3 mirror(const Mat3& m) { return {{mirror(m.col[1]), mirror(m.col[0]), mirror(m.col[2])}}; }
Transform mirror(const Transform& X) { return {mirror(X.rotation), mirror(X.translation)}; }
MassProperties mirror(const MassProperties& mass) {
  return {mass.mass, mirror(mass.center), mirror(mass.inertia)};
}

std::shared_ptr<const Shape> mirror(const std::shared_ptr<const Shape>& shape) {
  switch (shape->type()) {
    case ShapeType::Box:
      return std::make_shared<Box>(mirror(static_cast<const Box&>(*shape).halfExtents()));
    case ShapeType::Ellipsoid:
      return std::make_shared<Ellipsoid>(mirror(static_cast<const Ellipsoid&>(*shape).semiAxes()));
    case ShapeType::Convex: {
      std::vector<Vec3> points;
      for (const Vec3& p : static_cast<const Convex&>(*shape).vertices())
        points.push_back(mirror(p));
      return std::make_shared<Convex>(points);
    }
    case ShapeType::Mesh: {
      const auto& mesh = static_cast<const Mesh&>(*shape);
      std::vector<Vec3> vertices;
      for (const Vec3& p : mesh.vertices()) vertices.push_back(mirror(p));
      std::vector<Triangle> triangles;
      for (const Triangle& t : mesh.triangles()) triangles.push_back({t[0], t[2], t[1]});
      return std::make_shared<Mesh>(vertices, triangles);
    }
    case ShapeType::HeightField: {
      // The diagonal of a cell is its own image.
      const auto& field = static_cast<const HeightField&>(*shape);
      const auto nx = static_cast<std::size_t>(field.numX());
      const auto ny = static_cast<std::size_t>(field.numY());
      std::vector<Real> heights(nx * ny);
      for (std::size_t j = 0; j < ny; ++j)
        for (std::size_t i = 0; i < nx; ++i) heights[i * ny + j] = field.heights()[j * nx + i];
      return std::make_shared<HeightField>(field.numY(), field.numX(), field.sizeY(), field.sizeX(),
                                           heights);
    }
    case ShapeType::Compound: {
      std::vector<Compound::Child> children;
      for (const Compound::Child& child : static_cast<const Compound&>(*shape).children())
        children.push_back({mirror(child.shape), mirror(child.pose)});
      return std::make_shared<Compound>(children);
    }
    default:
      return shape;  // round about z
  }
}

Joint mirror(const Joint& joint) {
  Joint image = joint;
  image.position = mirror(joint.position);
  image.axis = joint.type == JointType::Prismatic ? mirror(joint.axis) : mirrorTurn(joint.axis);
  // Planar: along axis2, along axis x axis2, about axis.
  image.axis2 = joint.type == JointType::Planar ? mirror(joint.axis2) : mirrorTurn(joint.axis2);
  image.pitch = -joint.pitch;
  return image;
}

}  // namespace

std::optional<Image> mirrored(const Case& scene, std::uint64_t /*seed*/) {
  Image image{.scene = scene};
  image.scene.options.gravity = mirror(scene.options.gravity);
  for (Body& body : image.scene.bodies) {
    body.pose = mirror(body.pose);
    body.linearVelocity = mirror(body.linearVelocity);
    body.angularVelocity = mirrorTurn(body.angularVelocity);
    if (body.massProperties) body.massProperties = mirror(*body.massProperties);
    for (BodyShape& shape : body.shapes) {
      shape.shape = mirror(shape.shape);
      shape.pose = mirror(shape.pose);
    }
    for (Joint& joint : body.joints) {
      joint = mirror(joint);
      const auto found = image.scene.joints.find(joint.name);
      if (joint.type != JointType::Ball || found == image.scene.joints.end()) continue;
      JointStart& start = found->second;
      start.q = {start.q[0], -start.q[2], -start.q[1], -start.q[3]};
      start.v = {-start.v[1], -start.v[0], -start.v[2]};
    }
  }
  image.expected = [](const Snapshot& original) {
    Snapshot result = original;
    for (auto& [name, motion] : result.bodies) {
      motion.pose = mirror(motion.pose);
      motion.velocity = mirror(motion.velocity);
      motion.spin = mirrorTurn(motion.spin);
    }
    return result;
  };
  return image;
}

// ---- the world elsewhere -----------------------------------------------------------------------

std::optional<Image> moved(const Case& scene, std::uint64_t seed) {
  Random random(seed);
  Real size = 0;
  for (const Body& body : scene.bodies)
    if (body.type == BodyType::Dynamic) size = std::max(size, reachOf(body));
  const Transform move{random.rotation(), random.vector(10 * size)};
  Image image{.scene = scene};
  image.scene.options.gravity = move.rotation * scene.options.gravity;
  for (Body& body : image.scene.bodies) {
    if (!body.parent.empty()) continue;
    body.pose = move * body.pose;
    body.linearVelocity = move.rotation * body.linearVelocity;
    body.angularVelocity = move.rotation * body.angularVelocity;
  }
  image.expected = [move](const Snapshot& original) {
    Snapshot result = original;
    for (auto& [name, motion] : result.bodies) {
      motion.pose = move * motion.pose;
      motion.velocity = move.rotation * motion.velocity;
      motion.spin = move.rotation * motion.spin;
    }
    return result;
  };
  return image;
}

std::optional<Image> boosted(const Case& scene, std::uint64_t seed) {
  Random random(seed);
  Real speed = 0;
  for (const Body& body : scene.bodies) speed = std::max(speed, norm(body.linearVelocity));
  const Vec3 boost = random.vector(3 * speed);
  Image image{.scene = scene};
  for (Body& body : image.scene.bodies) {
    const bool isOnTheWorld = body.parent.empty() && !body.joints.empty();
    if (isOnTheWorld || body.linearDamping > 0) return std::nullopt;
    if (!body.parent.empty()) continue;
    if (body.type == BodyType::Fixed) body.type = BodyType::Kinematic;
    body.linearVelocity += boost;
  }
  image.expected = [boost](const Snapshot& original) {
    Snapshot result = original;
    for (auto& [name, motion] : result.bodies) {
      motion.pose.translation += boost * original.time;
      motion.velocity += boost;
    }
    return result;
  };
  return image;
}

// ---- units -------------------------------------------------------------------------------------

namespace {

struct Units {
  Real length = 1, mass = 1, time = 1;
  [[nodiscard]] Real speed() const { return length / time; }
  [[nodiscard]] Real acceleration() const { return length / (time * time); }
  [[nodiscard]] Real torque() const { return mass * length * acceleration(); }
};

std::shared_ptr<const Shape> scale(const std::shared_ptr<const Shape>& shape, Real s) {
  switch (shape->type()) {
    case ShapeType::Sphere:
      return std::make_shared<Sphere>(s * static_cast<const Sphere&>(*shape).radius());
    case ShapeType::Box:
      return std::make_shared<Box>(s * static_cast<const Box&>(*shape).halfExtents());
    case ShapeType::Capsule: {
      const auto& capsule = static_cast<const Capsule&>(*shape);
      return std::make_shared<Capsule>(s * capsule.radius(), s * capsule.halfLength());
    }
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(*shape);
      return std::make_shared<Cylinder>(s * cylinder.radius(), s * cylinder.halfLength());
    }
    case ShapeType::Cone: {
      const auto& cone = static_cast<const Cone&>(*shape);
      return std::make_shared<Cone>(s * cone.radius(), s * cone.halfHeight());
    }
    case ShapeType::Ellipsoid:
      return std::make_shared<Ellipsoid>(s * static_cast<const Ellipsoid&>(*shape).semiAxes());
    case ShapeType::Convex: {
      std::vector<Vec3> points;
      for (const Vec3& p : static_cast<const Convex&>(*shape).vertices()) points.push_back(s * p);
      return std::make_shared<Convex>(points);
    }
    case ShapeType::Mesh: {
      const auto& mesh = static_cast<const Mesh&>(*shape);
      std::vector<Vec3> vertices;
      for (const Vec3& p : mesh.vertices()) vertices.push_back(s * p);
      return std::make_shared<Mesh>(vertices, mesh.triangles());
    }
    case ShapeType::HeightField: {
      const auto& field = static_cast<const HeightField&>(*shape);
      std::vector<Real> heights;
      for (const Real height : field.heights()) heights.push_back(s * height);
      return std::make_shared<HeightField>(field.numX(), field.numY(), s * field.sizeX(),
                                           s * field.sizeY(), heights);
    }
    case ShapeType::Compound: {
      std::vector<Compound::Child> children;
      for (const Compound::Child& child : static_cast<const Compound&>(*shape).children()) {
        Transform pose = child.pose;
        pose.translation *= s;
        children.push_back({scale(child.shape, s), pose});
      }
      return std::make_shared<Compound>(children);
    }
    default:
      return shape;
  }
}

SimulationOptions scale(const SimulationOptions& options, const Units& u) {
  SimulationOptions result = options;
  result.dt *= u.time;
  result.gravity *= u.acceleration();
  result.restitutionThreshold *= u.speed();
  result.impulse.tolerance *= u.speed();
  result.impulse.slop *= u.length;
  result.impulse.maxCorrectionSpeed *= u.speed();
  result.sap.absoluteTolerance *= std::sqrt(u.mass) * u.speed();
  result.sap.slipSpeed *= u.speed();
  result.sap.frictionSoftness *= u.mass * u.speed();
  result.event.absoluteTolerance *= u.length;
  result.event.maxStep *= u.time;
  result.event.maxDamping /= u.speed();
  result.event.smallSpeed *= u.speed();
  result.event.smallSpin /= u.time;
  result.event.restPeriod *= u.time;
  result.event.impactSpeed *= u.speed();
  result.event.slipSpeed *= u.speed();
  result.patchCache.positionThreshold *= u.length;
  result.patchCache.depthEpsilon *= u.length;
  result.patchCache.separationThreshold *= u.length;
  result.patchCache.warmStartRadius *= u.length;
  result.sleep.linearSpeed *= u.speed();
  result.sleep.angularSpeed /= u.time;
  result.sleep.duration *= u.time;
  return result;
}

Material scale(const Material& material, const Units& u) {
  Material result = material;
  result.density *= u.mass / (u.length * u.length * u.length);
  result.torsionalFriction *= u.length;
  result.rollingFriction *= u.length;
  if (result.stiffness < kUnlimited) result.stiffness *= u.mass / (u.time * u.time);
  result.relaxationTime *= u.time;
  result.dissipation /= u.speed();
  result.youngsModulus *= u.mass / (u.length * u.time * u.time);
  return result;
}

Joint scale(const Joint& joint, const Units& u) {
  Joint result = joint;
  const bool isLength = joint.type == JointType::Prismatic;
  const Real coordinate = isLength ? u.length : 1;
  const Real force = isLength ? u.mass * u.acceleration() : u.torque();
  result.position *= u.length;
  result.pitch *= u.length;
  result.reference *= coordinate;
  if (joint.lower > -kUnlimited) result.lower *= coordinate;
  if (joint.upper < kUnlimited) result.upper *= coordinate;
  result.armature *= force * u.time * u.time / coordinate;
  result.damping *= force * u.time / coordinate;
  result.stiffness *= force / coordinate;
  result.frictionLoss *= force;
  result.springReference *= coordinate;
  return result;
}

void scaleStart(JointStart& start, JointType type, const Units& u) {
  for (Real& v : start.v) v /= u.time;
  const std::size_t numLengths = type == JointType::Prismatic ? 1
                                 : type == JointType::Planar  ? 2
                                                              : 0;
  for (std::size_t i = 0; i < numLengths; ++i) {
    start.q[i] *= u.length;
    start.v[i] *= u.length;
  }
}

bool hasOverlappingLinks(const Case& scene) {
  if (!isRobot(scene)) return false;
  Simulator sim = startOf(scene);
  sim.step();  // its contacts are those of the start
  const auto isLink = [&](int body) {
    const std::string_view name = sim.model().bodyName(body);
    return std::any_of(scene.bodies.begin(), scene.bodies.end(), [&](const Body& one) {
      return one.name == name && (!one.parent.empty() || !one.joints.empty());
    });
  };
  const auto contacts = sim.contacts();
  return std::any_of(contacts.begin(), contacts.end(), [&](const ContactForce& contact) {
    return contact.depth > 0 && (isLink(contact.body1) || isLink(contact.body2));
  });
}

}  // namespace

std::optional<Image> scaled(const Case& scene, std::uint64_t seed) {
  Random random(seed);
  // Powers of two: nothing is rounded, so whatever differs comes from a number without its unit.
  const bool hasLimits =
      std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const Body& body) {
        return std::any_of(body.joints.begin(), body.joints.end(),
                           [](const Joint& joint) { return joint.lower > -kUnlimited; });
      });
  if (hasLimits) return std::nullopt;  // beyond one a joint is led back within 20 ms
  const auto power = [&](int most) {
    return std::ldexp(Real(1), random.index(2 * most + 1) - most);
  };
  Units u{.length = power(4), .mass = power(3), .time = power(3)};
  // Bodies that start in each other are led apart at a speed in m/s under these two, and links by
  // no more than so many rad/s of their joints.
  if (scene.options.solver != SolverType::Impulse) u.time = u.length;
  if (scene.options.solver != SolverType::Impulse && hasOverlappingLinks(scene))
    u.length = u.time = 1;
  Image image{.scene = scene};
  image.scene.options = scale(scene.options, u);
  for (Material& material : image.scene.materials) material = scale(material, u);
  for (Body& body : image.scene.bodies) {
    body.pose.translation *= u.length;
    body.linearVelocity *= u.speed();
    body.angularVelocity = body.angularVelocity / u.time;
    body.linearDamping /= u.time;
    body.angularDamping /= u.time;
    if (body.massProperties) {
      body.massProperties->mass *= u.mass;
      body.massProperties->center *= u.length;
      for (Vec3& column : body.massProperties->inertia.col) column *= u.mass * u.length * u.length;
    }
    for (BodyShape& shape : body.shapes) {
      shape.shape = scale(shape.shape, u.length);
      shape.pose.translation *= u.length;
    }
    for (Joint& joint : body.joints) {
      joint = scale(joint, u);
      const auto found = image.scene.joints.find(joint.name);
      if (found != image.scene.joints.end()) scaleStart(found->second, joint.type, u);
    }
  }
  image.expected = [u](const Snapshot& original) {
    Snapshot result = original;
    result.leastSpeed *= u.speed();
    for (auto& [name, motion] : result.bodies) {
      motion.pose.translation *= u.length;
      motion.velocity *= u.speed();
      motion.spin = motion.spin / u.time;
      motion.reach *= u.length;
    }
    return result;
  };
  return image;
}

// ---- the same bodies, said otherwise -----------------------------------------------------------

namespace {

Snapshot unchanged(const Snapshot& original) { return original; }

using BoxMaker = std::function<std::vector<BodyShape>(const BodyShape&, const Vec3& halfExtents)>;

/// The mass stays that of the boxes, to the last bit.
std::optional<Image> withBoxesAs(const Case& scene, const BoxMaker& make) {
  const Model model = buildModel(scene);
  Image image{.scene = scene, .expected = unchanged};
  bool hasBoxes = false;
  for (Body& body : image.scene.bodies) {
    std::vector<BodyShape> shapes;
    bool isChanged = false;
    for (const BodyShape& shape : body.shapes) {
      if (shape.shape->type() != ShapeType::Box) {
        shapes.push_back(shape);
        continue;
      }
      isChanged = true;
      for (BodyShape& part : make(shape, static_cast<const Box&>(*shape.shape).halfExtents()))
        shapes.push_back(std::move(part));
    }
    if (!isChanged) continue;
    hasBoxes = true;
    if (body.type == BodyType::Dynamic)
      body.massProperties = model.massProperties(model.findBody(body.name));
    body.shapes = std::move(shapes);
  }
  if (!hasBoxes) return std::nullopt;
  return image;
}

std::array<Vec3, 8> cornersOf(const Vec3& h) {
  std::array<Vec3, 8> corners;
  for (std::size_t i = 0; i < 8; ++i)
    corners[i] = {(i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y, (i & 4) != 0 ? h.z : -h.z};
  return corners;
}

}  // namespace

std::optional<Image> boxesAsHulls(const Case& scene, std::uint64_t /*seed*/) {
  return withBoxesAs(scene, [](const BodyShape& shape, const Vec3& h) {
    BodyShape part = shape;
    part.shape = std::make_shared<Convex>(cornersOf(h));
    return std::vector<BodyShape>{part};
  });
}

std::optional<Image> boxesAsMeshes(const Case& scene, std::uint64_t /*seed*/) {
  return withBoxesAs(scene, [](const BodyShape& shape, const Vec3& h) {
    const std::vector<Triangle> triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                             {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                             {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    BodyShape part = shape;
    part.shape = std::make_shared<Mesh>(cornersOf(h), triangles);
    return std::vector<BodyShape>{part};
  });
}

std::optional<Image> boxesAsCompounds(const Case& scene, std::uint64_t /*seed*/) {
  return withBoxesAs(scene, [](const BodyShape& shape, const Vec3&) {
    BodyShape part = shape;
    part.shape = std::make_shared<Compound>(std::vector<Compound::Child>{{shape.shape, {}}});
    return std::vector<BodyShape>{part};
  });
}

std::optional<Image> boxesInHalves(const Case& scene, std::uint64_t /*seed*/) {
  return withBoxesAs(scene, [](const BodyShape& shape, const Vec3& h) {
    std::vector<BodyShape> parts;
    for (const Real side : {Real(-1), Real(1)}) {
      BodyShape part = shape;
      part.shape = std::make_shared<Box>(Vec3{h.x / 2, h.y, h.z});
      part.pose = shape.pose * Transform{Mat3::identity(), {side * h.x / 2, 0, 0}};
      parts.push_back(part);
    }
    return parts;
  });
}

std::optional<Image> splitIntoWelded(const Case& scene, std::uint64_t /*seed*/) {
  if (scene.options.solver == SolverType::Impulse) return std::nullopt;  // knows no welds
  Image image{.scene = scene};
  image.scene.bodies.clear();
  std::vector<std::string> added;
  for (const Body& body : scene.bodies) {
    const bool isFree =
        body.type == BodyType::Dynamic && body.parent.empty() && body.joints.empty();
    if (!isFree || body.shapes.size() < 2 || body.massProperties || body.linearDamping > 0 ||
        body.angularDamping > 0) {
      image.scene.bodies.push_back(body);
      continue;
    }
    for (std::size_t i = 0; i < body.shapes.size(); ++i) {
      Body part = body;
      part.shapes = {body.shapes[i]};
      if (i > 0) {
        part.name = body.name + named("_part", static_cast<int>(i));
        part.parent = body.name;
        part.pose = {};
        part.linearVelocity = part.angularVelocity = {};
        added.push_back(part.name);
      }
      image.scene.bodies.push_back(part);
    }
  }
  if (added.empty()) return std::nullopt;
  image.expected = unchanged;
  return image;
}

std::optional<Image> itsOwnImage(const Case& scene, std::uint64_t /*seed*/) {
  // Across y = 0, where partners are, to the last bit.
  std::map<std::string, std::string> partner;
  for (const Body& body : scene.bodies)
    for (const Body& other : scene.bodies)
      if (body.pose.translation.x == other.pose.translation.x &&
          body.pose.translation.y == -other.pose.translation.y)
        partner[body.name] = other.name;
  if (partner.size() != scene.bodies.size()) return std::nullopt;
  Image image{.scene = scene};
  image.expected = [partner](const Snapshot& original) {
    Snapshot result = original;
    for (const auto& [name, motion] : original.bodies) {
      Motion& other = result.bodies[partner.at(name)];
      other.pose.translation = motion.pose.translation;
      other.pose.translation.y = -motion.pose.translation.y;
      other.velocity = {motion.velocity.x, -motion.velocity.y, motion.velocity.z};
      other.spin = {-motion.spin.x, motion.spin.y, -motion.spin.z};
      const Mat3& R = motion.pose.rotation;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          other.pose.rotation(i, j) = (i == 1) != (j == 1) ? -R(i, j) : R(i, j);
    }
    return result;
  };
  return image;
}

}  // namespace tangere::test
