// SPDX-License-Identifier: Apache-2.0
//
// Cases made from a seed: bodies of every shape that fly at each other above a floor of every kind,
// trees of joints among them. Nothing overlaps at the start, and nothing is in a special place:
// what is compared must not depend on which of several equal points is taken.
#include "metamorphic/scene_case.hpp"
#include "sim/random_scene.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::test {

namespace {

struct Draw {
  Random random;
  Real size = 1;   ///< of the bodies [m]
  Real speed = 1;  ///< of a fall from that height [m/s]
  SolverType solver = SolverType::Impulse;
  CaseLimits limits{};

  bool oneIn(int count) { return random.index(count) == 0; }
  std::string material() { return named("m", random.index(3)); }
};

SimulationOptions drawOptions(Draw& draw) {
  SimulationOptions options;
  options.solver = draw.solver;
  options.dt = draw.random.magnitude(0.005, 0.05) * draw.size / draw.speed;
  const bool isFloating = draw.limits.isIsolated || draw.oneIn(5);
  if (isFloating && draw.oneIn(2))
    options.gravity = {};
  else if (draw.oneIn(3))
    options.gravity = draw.random.rotation().col[2] * kGravity;
  options.restitutionThreshold = 0.1 * draw.speed;
  options.patchCache.enabled = !draw.oneIn(4);
  options.patchCache.positionThreshold = 1e-3 * draw.size;
  options.patchCache.separationThreshold = 1e-2 * draw.size;
  options.patchCache.warmStartRadius = 0.1 * draw.size;
  options.patchCache.depthEpsilon = 1e-5 * draw.size;
  // To the end, so that what is left does not depend on the order of the sweeps.
  options.impulse.slop = 1e-3 * draw.size;
  options.impulse.tolerance = 1e-13 * draw.speed;
  options.impulse.numSweeps = 2000;
  options.impulse.numCorrectionSweeps = 200;
  options.sap.relativeTolerance = 1e-12;
  options.sap.frictionTolerance = 1e-11;
  options.sap.maxFrictionUpdates = 200;
  return options;
}

Material drawMaterial(Draw& draw, int index) {
  Random& random = draw.random;
  Material material{.name = named("m", index),
                    .density = random.magnitude(100, 8000),
                    .friction = random.index(4) == 0 ? 0 : random.uniform(0, 1.2),
                    .restitution = random.index(2) == 0 ? 0 : random.uniform(0, 1)};
  if (draw.solver == SolverType::Impulse && draw.oneIn(4)) {
    material.torsionalFriction = 0.1 * draw.size;
    material.rollingFriction = 0.02 * draw.size;
  }
  if (draw.solver == SolverType::Sap && draw.oneIn(2)) {
    const Real weight = 1000 * draw.size * draw.size * draw.size * kGravity;
    material.stiffness = weight / draw.size * random.magnitude(1e2, 1e4);
    material.relaxationTime = random.uniform(0, 0.05) * draw.size / draw.speed;
  }
  return material;
}

std::shared_ptr<const Shape> drawShape(Draw& draw, Real size) {
  for (;;) {
    std::shared_ptr<const Shape> shape = randomShape(size, draw.random);
    const bool isMesh = shape->type() == ShapeType::Mesh;
    const bool hasRim = shape->type() == ShapeType::Cylinder || shape->type() == ShapeType::Cone;
    const bool isHull = shape->type() == ShapeType::Convex;
    if ((draw.limits.hasMeshes || !isMesh) && (draw.limits.hasRims || !hasRim) &&
        (draw.limits.hasHulls || !isHull))
      return shape;
  }
}

Body drawFloor(Draw& draw) {
  for (;;) {
    Body floor = randomFloor(draw.size, draw.random);
    const ShapeType type = floor.shapes[0].shape->type();
    const bool isMesh = type == ShapeType::Mesh || type == ShapeType::HeightField;
    if (!isMesh || draw.limits.hasMeshes) return floor;
  }
}

/// A place in which the ball of `reach` touches no other ball and not the floor.
bool findPlace(Draw& draw, const std::vector<Body>& bodies, Real reach, Real spread, Vec3* place) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    *place = draw.random.vector(spread) + Vec3{0, 0, spread + 0.6 * draw.size + reach};
    bool isFree = true;
    for (const Body& other : bodies) {
      if (other.type == BodyType::Fixed || !other.parent.empty()) continue;
      isFree = isFree && norm(*place - other.pose.translation) > reach + reachOf(other);
    }
    if (isFree) return true;
  }
  return false;
}

Joint drawJoint(Draw& draw, const std::string& name) {
  constexpr JointType kTypes[] = {JointType::Revolute,  JointType::Revolute, JointType::Revolute,
                                  JointType::Prismatic, JointType::Ball,     JointType::Screw,
                                  JointType::Universal, JointType::Planar};
  Random& random = draw.random;
  Joint joint{.name = name, .type = kTypes[random.index(8)]};
  joint.position = random.vector(0.3 * draw.size);
  joint.axis = random.rotation().col[0];
  joint.axis2 = std::fabs(joint.axis.x) < 0.9 ? cross(joint.axis, Vec3{1, 0, 0})
                                              : cross(joint.axis, Vec3{0, 1, 0});
  joint.pitch = random.uniform(-0.1, 0.1) * draw.size;
  if (joint.type == JointType::Revolute) {
    const Real moment = 100 * draw.size * draw.size * draw.size * draw.size * kGravity;
    if (draw.oneIn(2)) joint.damping = moment * draw.size / draw.speed * random.uniform(0, 0.1);
    if (draw.oneIn(3)) joint.stiffness = moment * random.uniform(0, 1);
    if (draw.oneIn(3)) {
      joint.lower = random.uniform(-1, -0.2);
      joint.upper = random.uniform(0.2, 1);
    }
  }
  return joint;
}

/// A tree of a few links, free or on a stand; it takes the place of one body.
void addRobot(Draw& draw, Case& scene, const std::string& prefix, const Vec3& place) {
  Random& random = draw.random;
  const int numLinks = 2 + random.index(3);
  const bool isFree = !draw.limits.hasFloor || draw.oneIn(2);
  for (int i = 0; i < numLinks; ++i) {
    Body link{.name = prefix + named("_", i)};
    const Real size = 0.5 * draw.size;
    const Real a = size * random.uniform(0.3, 1), b = size * random.uniform(0.3, 1);
    const auto shape = [&]() -> std::shared_ptr<const Shape> {
      switch (random.index(4)) {
        case 0:
          return ball(a);
        case 1:
          return box(a, b, 0.7 * a);
        case 2:
          return std::make_shared<Capsule>(a, b);
        default:
          return std::make_shared<Cylinder>(a, b);
      }
    }();
    link.shapes.push_back({.shape = shape, .material = draw.material()});
    link.pose.rotation = random.rotation();
    if (i == 0) {
      link.pose.translation = place;
    } else {
      link.parent = prefix + named("_", random.index(i));
      link.pose.translation = random.rotation().col[0] * (1.6 * draw.size);
    }
    if (i > 0 || !isFree) {
      Joint joint = drawJoint(draw, prefix + named("_joint", i));
      JointStart start;
      start.q.assign(static_cast<std::size_t>(numJointPositions(joint.type)), 0);
      if (joint.type == JointType::Ball) start.q[0] = 1;
      const bool isLength = joint.type == JointType::Prismatic;
      for (int k = 0; k < numJointVelocities(joint.type); ++k)
        start.v.push_back(random.uniform(-1, 1) * draw.speed / (isLength ? 1 : draw.size));
      if (joint.type == JointType::Planar) start.v[0] *= draw.size, start.v[1] *= draw.size;
      scene.joints[joint.name] = start;
      link.joints = {joint};
    } else {
      link.linearVelocity = random.vector(draw.speed);
      link.angularVelocity = random.vector(draw.speed / draw.size);
    }
    scene.bodies.push_back(std::move(link));
  }
}

void addFreeBody(Draw& draw, Case& scene, const std::string& name, Real spread) {
  Random& random = draw.random;
  Body body = bodyOf(name, drawShape(draw, draw.size * random.uniform(0.3, 1)), {},
                     random.rotation(), draw.material());
  if (draw.oneIn(4)) {  // a second shape, off the origin
    const Vec3 offset = random.vector(0.6 * draw.size);
    body.shapes.push_back({.shape = drawShape(draw, 0.5 * draw.size),
                           .pose = {random.rotation(), offset},
                           .material = draw.material()});
  }
  Vec3 place;
  if (!findPlace(draw, scene.bodies, reachOf(body), spread, &place)) return;
  body.pose.translation = place;
  // At the middle of the others, and down.
  const Vec3 aim = Vec3{0, 0, draw.limits.isIsolated ? spread + 2 * draw.size : 0} - place;
  body.linearVelocity = aim * (draw.speed * random.uniform(0, 2) / (norm(aim) + draw.size)) +
                        random.vector(draw.speed);
  if (!draw.oneIn(4)) body.angularVelocity = random.vector(2 * draw.speed / draw.size);
  if (draw.limits.hasDamping && draw.oneIn(8)) body.linearDamping = random.uniform(0, 1);
  if (draw.limits.hasDamping && draw.oneIn(8)) body.angularDamping = random.uniform(0, 1);
  if (!draw.limits.isIsolated && draw.oneIn(20)) body.type = BodyType::Kinematic;
  scene.bodies.push_back(std::move(body));
}

}  // namespace

std::uint64_t scatteredSeed(std::uint64_t seed) { return Random(seed).bits(); }

Case randomCase(std::uint64_t seed, SolverType solver, const CaseLimits& limits) {
  Draw draw{.random = Random(scatteredSeed(seed)), .solver = solver, .limits = limits};
  draw.size = draw.random.magnitude(0.03, 1);
  draw.speed = std::sqrt(2 * kGravity * draw.size);
  Case scene;
  scene.options = drawOptions(draw);
  const bool isHertz = solver == SolverType::Event && draw.oneIn(4) && draw.limits.hasHertz;
  for (int i = 0; i < 3; ++i) {
    Material material = drawMaterial(draw, i);
    if (isHertz) {
      material.contact = ContactModel::Hertz;
      material.youngsModulus = draw.random.magnitude(1e6, 1e8);
    }
    scene.materials.push_back(material);
  }
  const int numWanted = std::min(limits.maxBodies, 1 + draw.random.index(12));
  if (limits.hasFloor && !limits.isIsolated && !(numWanted > 1 && draw.oneIn(4)))
    scene.bodies.push_back(drawFloor(draw));
  const Real spread = 1.2 * draw.size * std::cbrt(static_cast<Real>(numWanted));
  if (limits.hasRobots && solver != SolverType::Impulse && draw.oneIn(3))
    addRobot(draw, scene, "robot", {0, 0, 2 * spread + 6 * draw.size});
  for (int i = 0; i < numWanted; ++i) addFreeBody(draw, scene, named("body", i), spread);
  return scene;
}

Case symmetricCase(std::uint64_t seed, SolverType solver) {
  Random random(scatteredSeed(seed));
  const Real radius = random.magnitude(0.01, 0.3), speed = random.uniform(0.5, 4);
  Case scene;
  scene.options.solver = solver;
  scene.options.gravity = {};
  scene.options.dt = random.magnitude(0.005, 0.05) * radius / speed;
  scene.options.restitutionThreshold = 0.01 * speed;
  scene.options.impulse.slop = 1e-3 * radius;
  scene.options.impulse.tolerance = 1e-13 * speed;
  scene.options.impulse.numSweeps = 2000;
  scene.options.sap.relativeTolerance = 1e-12;
  scene.options.sap.frictionTolerance = 1e-11;
  scene.materials = {{.name = "m0",
                      .density = random.magnitude(500, 8000),
                      .friction = random.index(2) == 0 ? 0 : random.uniform(0, 0.5),
                      .restitution = random.index(3) == 0 ? 1 : random.uniform(0, 1)}};
  // Rows behind each other, as in a rack: two, two and three, or one, two and three.
  constexpr int kRows[4][3] = {{2, 0, 0}, {2, 3, 0}, {1, 2, 0}, {1, 2, 3}};
  const int(&rows)[3] = kRows[random.index(4)];
  Real x = 0;
  for (int row = 0; row < 3 && rows[row] > 0; ++row, x += std::sqrt(3.0) * radius) {
    for (int k = 0; k < rows[row]; ++k) {
      const Real y = (2 * k - (rows[row] - 1)) * radius;
      scene.bodies.push_back(
          bodyOf(named("rack", 10 * row + k), ball(radius), {x, y, 0}, Mat3::identity(), "m0"));
    }
  }
  const Real size = radius * random.uniform(0.5, 1.5);
  const Real reach = radius + size;
  const Real across = rows[0] == 2 ? radius : 0;
  const Real touching = std::sqrt(reach * reach - across * across);
  const Real gap = random.uniform(0.3, 2.5) * speed * scene.options.dt;
  Body cue = bodyOf("cue", ball(size), {-touching - gap, 0, 0}, Mat3::identity(), "m0");
  cue.linearVelocity = {speed, 0, 0};
  scene.bodies.push_back(cue);
  return scene;
}

}  // namespace tangere::test
