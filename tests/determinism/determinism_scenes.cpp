// SPDX-License-Identifier: Apache-2.0
//
// Scenes whose complete answers are hashed. A hash may depend on nothing but the scene: not on the
// number of threads, the order of insertion, the broad phase, the compiler or its flags, and not
// on what the process did before.
//
//   determinism_scenes                  prints one line per scene: name and hash
//   determinism_scenes --check FILE     compares with FILE, under every setting; 1 on a difference
#include <workload.hpp>

#include <tangere/collision.hpp>
#include <tangere/simulator.hpp>

#include "core/stable_hash.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tangere;
using core::StableHash;
using workload::Random;
using workload::ShapePtr;

/// What must not matter.
struct Setting {
  int numThreads = 1;
  std::uint64_t insertionSeed = 0;  ///< 0: in order of ids
  BroadPhaseType broadPhase = BroadPhaseType::Bvh;
};

void addTo(StableHash& hash, const ContactPoint& contact) {
  hash.add(contact.position);
  hash.add(contact.normal);
  hash.add(contact.depth);
  hash.add(contact.feature1);
  hash.add(contact.feature2);
}

void addTo(StableHash& hash, const CollisionResult& result) {
  hash.add(result.isCollision());
  hash.add(result.status());
  hash.add(result.numManifolds());
  for (const ContactManifold& manifold : result.manifolds()) {
    hash.add(manifold.object1);
    hash.add(manifold.object2);
    hash.add(manifold.type);
    hash.add(manifold.status);
    hash.add(manifold.count);
    for (const ContactPoint& contact : manifold.contacts()) addTo(hash, contact);
  }
}

void addTo(StableHash& hash, const DistanceResult& result) {
  hash.add(result.distance);
  hash.add(result.normal);
  hash.add(result.point1);
  hash.add(result.point2);
  hash.add(result.feature1);
  hash.add(result.feature2);
  hash.add(result.object1);
  hash.add(result.object2);
  hash.add(result.status);
}

void addTo(StableHash& hash, const ImpactResult& impact) {
  hash.add(impact.status);
  hash.add(impact.s);
  hash.add(impact.distance);
  hash.add(impact.normal);
  hash.add(impact.point);
  hash.add(impact.iterations);
}

void addTo(StableHash& hash, const RayHit& hit) {
  hash.add(hit.t);
  hash.add(hit.position);
  hash.add(hit.normal);
  hash.add(hit.feature);
}

CollisionGroup makeGroup(const std::vector<CollisionObject>& objects, const Setting& setting) {
  std::vector<std::size_t> order(objects.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (setting.insertionSeed != 0) {
    Random random(setting.insertionSeed);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.index(static_cast<int>(i)))]);
  }
  CollisionGroup group(setting.broadPhase);
  group.setNumThreads(setting.numThreads);
  for (const std::size_t i : order) group.add(objects[i]);
  return group;
}

void addObject(std::vector<CollisionObject>& objects, ShapePtr shape, const Transform& pose) {
  CollisionObject object;
  object.id = static_cast<ObjectId>(objects.size());
  object.shape = std::move(shape);
  object.pose = pose;
  objects.push_back(std::move(object));
}

/// Everything a group answers as a whole.
std::uint64_t hashOfGroup(const std::vector<CollisionObject>& objects, const Setting& setting) {
  CollisionGroup group = makeGroup(objects, setting);
  StableHash hash;
  CollisionResult result;
  group.collide(CollisionOption::fullContacts(100000), result);
  addTo(hash, result);
  result.clear();
  group.collide(CollisionOption::fullContacts(17), result);
  addTo(hash, result);
  result.clear();
  group.collide(CollisionOption::binaryCheck(), result);
  hash.add(result.isCollision());
  if (const auto nearest = group.distance()) addTo(hash, *nearest);
  return hash.value();
}

std::vector<CollisionObject> mixedObjects(int count, Real halfSize, std::uint64_t seed) {
  Random random(seed);
  std::vector<CollisionObject> objects;
  for (int i = 0; i < count; ++i) {
    const ShapeType type = workload::kConvexTypes[static_cast<std::size_t>(random.index(7))];
    ShapePtr shape = workload::randomConvex(type, 0.3, 3, random);
    const Mat3 rotation = random.rotation();
    addObject(objects, std::move(shape), {rotation, random.pointInCube(halfSize)});
  }
  return objects;
}

std::uint64_t boxPile(const Setting& setting) {
  Random random(1);
  std::vector<CollisionObject> objects;
  addObject(objects, std::make_shared<Plane>(), {});
  const auto box = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1});
  for (int layer = 0; layer < 6; ++layer)
    for (int k = 0; k < 36; ++k) {
      const Vec3 place{0.2 * (k % 6), 0.2 * (k / 6), 0.0995 + 0.199 * layer};
      // Half of the boxes lie exactly on the grid: parallel faces and shared edges.
      const bool exact = random.index(2) == 0;
      const Mat3 tilt =
          rotationMatrix(Quat{1, random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), 0});
      addObject(objects, box, {exact ? Mat3::identity() : tilt, place});
    }
  return hashOfGroup(objects, setting);
}

std::uint64_t mixedPrimitives(const Setting& setting) {
  return hashOfGroup(mixedObjects(200, 1.2, 2), setting);
}

std::uint64_t hullPile(const Setting& setting) {
  Random random(3);
  std::vector<CollisionObject> objects;
  addObject(objects, std::make_shared<Plane>(), {});
  for (int i = 0; i < 80; ++i) {
    ShapePtr hull = workload::randomConvex(ShapeType::Convex, 0.3, 2, random);
    const Mat3 rotation = random.rotation();
    addObject(objects, std::move(hull), {rotation, random.pointInCube(0.9)});
  }
  return hashOfGroup(objects, setting);
}

std::uint64_t meshAmongPrimitives(const Setting& setting) {
  std::vector<CollisionObject> objects = mixedObjects(60, 1, 4);
  Random random(5);
  const auto mesh = workload::bumpySphere(12);
  addObject(objects, mesh, {random.rotation(), {0, 0, 0}});
  addObject(objects, mesh, {random.rotation(), {0.7, 0.2, 0.1}});
  addObject(objects, std::make_shared<Plane>(), {random.rotation(), {0, 0, -0.4}});
  return hashOfGroup(objects, setting);
}

std::uint64_t heightField(const Setting& setting) {
  std::vector<CollisionObject> objects = mixedObjects(80, 1.5, 6);
  addObject(objects, workload::rollingHills(33, 5), {});
  return hashOfGroup(objects, setting);
}

std::uint64_t cloudsAndCompounds(const Setting& setting) {
  std::vector<CollisionObject> objects = mixedObjects(40, 1, 7);
  Random random(8);
  for (int i = 0; i < 6; ++i) {
    const Mat3 rotation = random.rotation();
    addObject(objects, workload::standardShape(ShapeType::Compound),
              {rotation, random.pointInCube(0.8)});
  }
  const Mat3 rotation = random.rotation();
  addObject(objects, workload::standardShape(ShapeType::PointCloud),
            {rotation, random.pointInCube(0.3)});
  return hashOfGroup(objects, setting);
}

std::uint64_t rays(const Setting& setting) {
  std::vector<CollisionObject> objects = mixedObjects(150, 1.5, 9);
  addObject(objects, workload::bumpySphere(8), {});
  addObject(objects, workload::rollingHills(17, 4), {Mat3::identity(), {0, 0, -1.5}});
  addObject(objects, workload::standardShape(ShapeType::Compound), {});
  const CollisionGroup group = makeGroup(objects, setting);
  Random random(10);
  StableHash hash;
  std::vector<GroupRayHit> hits;
  for (int i = 0; i < 500; ++i) {
    const Vec3 origin = random.direction() * 4, target = random.pointInCube(1);
    const Ray ray{origin, target - origin, random.uniform(0.5, 3)};
    const auto first = group.rayCast(ray);
    hash.add(first.has_value());
    if (first) {
      hash.add(first->object);
      addTo(hash, first->hit);
    }
    hits.clear();
    group.rayCastAll(ray, hits);
    hash.add(hits.size());
    for (const GroupRayHit& hit : hits) {
      hash.add(hit.object);
      addTo(hash, hit.hit);
    }
  }
  return hash.value();
}

std::uint64_t shapeCasts(const Setting& setting) {
  const CollisionGroup group = makeGroup(mixedObjects(100, 1.5, 11), setting);
  Random random(12);
  StableHash hash;
  for (int i = 0; i < 100; ++i) {
    const ShapePtr shape = workload::randomConvex(workload::kConvexTypes[i % 7], 0.2, 2, random);
    Motion motion;
    const Vec3 begin = random.direction() * 3;
    motion.start = {random.rotation(), begin};
    motion.displacement = random.pointInCube(1) - begin;
    motion.rotationVector = random.vector(2);
    const auto hit = group.shapeCast(*shape, motion);
    hash.add(hit.has_value());
    if (hit) {
      hash.add(hit->object);
      addTo(hash, hit->impact);
    }
  }
  return hash.value();
}

std::uint64_t movingBoxes(const Setting& setting) {
  workload::MovingBoxes boxes(1000, 2, 13);
  BruteForceBroadPhase bruteForce;
  BvhBroadPhase bvh;
  SweepBroadPhase sweep;
  BroadPhase& broadPhase = setting.broadPhase == BroadPhaseType::Bvh ? static_cast<BroadPhase&>(bvh)
                           : setting.broadPhase == BroadPhaseType::Sweep
                               ? static_cast<BroadPhase&>(sweep)
                               : static_cast<BroadPhase&>(bruteForce);
  for (int i = 0; i < boxes.size(); ++i) {
    const int k = setting.insertionSeed == 0 ? i : boxes.size() - 1 - i;
    broadPhase.add(boxes.ids()[static_cast<std::size_t>(k)],
                   boxes.boxes()[static_cast<std::size_t>(k)]);
  }
  StableHash hash;
  std::vector<ObjectId> found;
  for (int step = 0; step < 40; ++step) {
    boxes.step();
    for (const int i : boxes.movers())
      broadPhase.update(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
    if (step == 10) broadPhase.remove(501);
    if (step == 20) broadPhase.add(501, boxes.boxes()[501]);
    for (const ObjectPair& pair : broadPhase.computePotentialPairs()) {
      hash.add(pair.first);
      hash.add(pair.second);
    }
    found.clear();
    broadPhase.queryOverlap({{-2, -2, -2}, {2, 2, 2}}, found);
    for (const ObjectId id : found) hash.add(id);
  }
  return hash.value();
}

/// Every pair of convex shapes, every query, every algorithm; the setting has no part in it.
std::uint64_t pairQueries(const Setting&) {
  StableHash hash;
  CollisionResult result;
  for (const ShapeType type1 : workload::kConvexTypes)
    for (const ShapeType type2 : workload::kConvexTypes)
      for (const workload::Regime regime :
           {workload::Regime::Separated, workload::Regime::Shallow, workload::Regime::Deep}) {
        const workload::PairWorkload work = workload::makePairs(type1, type2, regime, 10, 14);
        PairCache cache;
        for (const workload::PosePair& pose : work.poses)
          for (const ConvexAlgorithm algorithm :
               {ConvexAlgorithm::Auto, ConvexAlgorithm::Gjk, ConvexAlgorithm::Mpr}) {
            result.clear();
            CollisionOption option;
            option.algorithm = algorithm;
            collide(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, option, result);
            addTo(hash, result);
            DistanceOption distanceOption;
            distanceOption.algorithm = algorithm;
            addTo(hash, distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, distanceOption));
            addTo(hash, distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, distanceOption,
                                 &cache));
            hash.add(overlap(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2));
          }
      }
  return hash.value();
}

std::uint64_t timesOfImpact(const Setting&) {
  Random random(15);
  StableHash hash;
  for (int i = 0; i < 300; ++i) {
    const ShapePtr shape1 =
        workload::randomConvex(workload::kConvexTypes[random.index(7)], 0.3, 3, random);
    const ShapePtr shape2 =
        workload::randomConvex(workload::kConvexTypes[random.index(7)], 0.3, 3, random);
    Motion motion1, motion2;
    motion1.start = {random.rotation(), random.pointInCube(0.2)};
    motion1.rotationVector = random.vector(3);
    motion2.start = {random.rotation(), random.direction() * 2};
    motion2.displacement = motion2.start.translation * -random.uniform(0.5, 1.5);
    motion2.rotationVector = random.vector(3);
    addTo(hash, timeOfImpact(*shape1, motion1, *shape2, motion2));
    hash.add(motion2.at(0.37));
  }
  return hash.value();
}

std::uint64_t shapeQueries(const Setting&) {
  StableHash hash;
  Random random(16);
  for (int type = 0; type < kNumShapeTypes; ++type) {
    const ShapePtr shape = workload::standardShape(static_cast<ShapeType>(type));
    for (int i = 0; i < 50; ++i) {
      const Vec3 point = random.pointInCube(1), direction = random.direction();
      const SignedDistance d = shape->signedDistance(point);
      hash.add(d.distance);
      hash.add(d.closest);
      hash.add(d.normal);
      if (shape->type() != ShapeType::Plane) {
        hash.add(shape->support(direction));
        hash.add(shape->worldAabb({random.rotation(), point}));
      }
      if (const auto hit = shape->rayCast({point * 4, direction - point * 3, 10}))
        addTo(hash, *hit);
    }
    if (shape->type() == ShapeType::Plane || shape->type() == ShapeType::HeightField ||
        shape->type() == ShapeType::PointCloud)
      continue;
    const MassProperties mass = shape->massProperties(1000);
    hash.add(mass.mass);
    hash.add(mass.center);
    hash.add(mass.inertia);
  }
  return hash.value();
}

std::uint64_t contactRegions(const Setting&) {
  StableHash hash;
  CollisionResult result;
  for (const ShapeType type1 : workload::kConvexTypes)
    for (const ShapeType type2 : workload::kConvexTypes) {
      const workload::PairWorkload work =
          workload::makePairs(type1, type2, workload::Regime::Shallow, 5, 17);
      for (const workload::PosePair& pose : work.poses) {
        result.clear();
        collide(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, CollisionOption::fullContacts(),
                result);
        for (const ContactManifold& manifold : result.manifolds()) {
          if (const auto edge = edgeContact(manifold)) {
            hash.add(edge->point1);
            hash.add(edge->point2);
            hash.add(edge->depth1);
            hash.add(edge->depth2);
          }
          if (const auto face =
                  faceContact(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, manifold)) {
            for (const Vec3& corner : face->polygon) hash.add(corner);
            hash.add(face->centroid);
            hash.add(face->area);
          }
          if (const auto smooth = parametricContact(*work.shape1, pose.X_W1, *work.shape2,
                                                    pose.X_W2, manifold.points[0])) {
            hash.add(smooth->u);
            hash.add(smooth->v);
            for (int k = 0; k < 3; ++k) {
              hash.add(smooth->secondForm1[k]);
              hash.add(smooth->secondForm2[k]);
            }
          }
        }
      }
    }
  return hash.value();
}

/// The state after `steps` steps of bodies that are added in an order of the setting's choice.
std::uint64_t hashOfMotion(std::vector<Body> bodies, Real restitution, int steps,
                           const Setting& setting) {
  Random random(setting.insertionSeed);
  if (setting.insertionSeed != 0) {
    for (std::size_t i = bodies.size(); i > 1; --i)
      std::swap(bodies[i - 1], bodies[static_cast<std::size_t>(random.index(static_cast<int>(i)))]);
  }
  ModelBuilder builder;
  SimulationOptions options;
  options.dt = 0.004;
  builder.setOptions(options);
  builder.addMaterial({.name = "stuff",
                       .friction = 0.6,
                       .restitution = restitution,
                       .torsionalFriction = restitution / 100,
                       .rollingFriction = restitution / 200});
  for (const Body& body : bodies) builder.addBody(body);
  Simulator sim(builder.build(), setting.numThreads);
  StableHash hash;
  for (int i = 0; i < steps; ++i) {
    sim.step();
    if (i % 50 == 0) {
      for (const ContactForce& contact : sim.contacts()) {
        hash.add(contact.position);
        hash.add(contact.force);
      }
      hash.add(sim.energy().kinetic);
      hash.add(sim.energy().contactNormal);
    }
  }
  hash.add(sim.state().hash());
  return hash.value();
}

Body bodyOf(int number, ShapePtr shape, const Transform& pose, BodyType type = BodyType::Dynamic) {
  Body body{.name = "body"};
  body.name += std::to_string(1000 + number);
  body.type = type;
  body.pose = pose;
  body.shapes.push_back({.shape = std::move(shape), .material = "stuff"});
  return body;
}

/// All convex types, a mesh and a compound fall onto rolling hills: bounces, friction, large
/// islands.
std::uint64_t simulatedPile(const Setting& setting) {
  Random random(18);
  std::vector<Body> bodies;
  bodies.push_back(bodyOf(0, workload::rollingHills(17, 8), {}, BodyType::Fixed));
  for (int i = 1; i <= 24; ++i) {
    ShapePtr shape = i == 5 ? workload::bumpySphere(3)
                     : i == 11
                         ? workload::standardShape(ShapeType::Compound)
                         : workload::randomConvex(workload::kConvexTypes[i % 7], 0.15, 2, random);
    const Mat3 rotation = random.rotation();
    const Vec3 place = random.pointInCube(0.5) + Vec3{0, 0, 1.5 + 0.1 * i};
    bodies.push_back(bodyOf(i, std::move(shape), {rotation, place}));
    bodies.back().angularVelocity = random.vector(3);
  }
  return hashOfMotion(bodies, 0.4, 300, setting);
}

/// Towers that come to rest and fall asleep, hit by a ball that moves by its size in one step.
std::uint64_t simulatedTowers(const Setting& setting) {
  std::vector<Body> bodies;
  bodies.push_back(bodyOf(0, std::make_shared<Plane>(), {}, BodyType::Fixed));
  const auto box = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1});
  for (int i = 0; i < 20; ++i) {
    const Vec3 place{0.5 * (i / 5) + 0.003 * (i % 3), 0.002 * (i % 2), 0.1 + 0.2 * (i % 5)};
    bodies.push_back(bodyOf(1 + i, box, {Mat3::identity(), place}));
  }
  bodies.push_back(bodyOf(30, std::make_shared<Sphere>(0.1), {Mat3::identity(), {-50, 0, 0.5}}));
  bodies.back().linearVelocity = {50, 0, 4};
  return hashOfMotion(bodies, 0, 350, setting);
}

/// Joints of every kind, drives, a tendon, a loop and loose bodies under the SAP solver.
/// Coordinates are in order of creation, so the insertion seed does not apply.
std::uint64_t simulatedRobots(const Setting& setting) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  builder.addMaterial({.name = "stuff", .friction = 0.6});
  builder.addBody(bodyOf(0, std::make_shared<Plane>(), {}, BodyType::Fixed));
  const auto rod = std::make_shared<Capsule>(0.04, 0.1);
  const auto add = [&](const std::string& name, const std::string& parent, const Vec3& at,
                       const Joint& joint) {
    Body body{.name = name, .parent = parent, .joints = {joint}};
    body.pose.translation = at;
    BodyShape shape{.shape = rod};
    shape.pose.translation = {0, 0, -0.14};
    body.shapes = {shape};
    builder.addBody(body);
  };
  Joint base{.name = "a", .type = JointType::Ball, .damping = 0.01};
  base.upper = 1.2;
  add("upper", "", {0, 0, 1}, base);
  Joint elbow{.name = "b", .type = JointType::Universal, .axis = {1, 0, 0}, .axis2 = {0, 1, 0}};
  elbow.frictionLoss = 0.02;
  add("lower", "upper", {0, 0, -0.3}, elbow);
  Joint slide{.name = "c", .type = JointType::Prismatic, .lower = -0.1, .upper = 0.1};
  slide.stiffness = 20;
  add("tool", "lower", {0, 0, -0.3}, slide);
  add("screw", "tool", {0.1, 0, 0}, {.name = "d", .type = JointType::Screw, .pitch = 0.05});
  add("cart", "", {0.6, 0, 0.35}, {.name = "e", .type = JointType::Planar, .axis = {0, 1, 0}});
  add("crank", "", {1.2, 0, 0.8}, {.name = "f", .axis = {0, 1, 0}});
  add("rocker", "", {1.5, 0, 0.8}, {.name = "g", .axis = {0, 1, 0}});
  builder.addEquality({.name = "bar",
                       .type = Equality::Type::Distance,
                       .first = "crank",
                       .second = "rocker",
                       .anchor = {0, 0, -0.2},
                       .anchor2 = {0, 0, -0.2},
                       .hasRelativePose = true,
                       .distance = 0.3});
  builder.addTendon({.name = "t", .terms = {{"c", 1}, {"f", 0.1}}, .lower = -0.05, .upper = 0.1});
  builder.addActuator(Actuator::position("servo", "c", 500, 5));
  Actuator turn = Actuator::velocity("turn", "d", 0.5);
  turn.lowerForce = -0.3;
  turn.upperForce = 0.3;
  builder.addActuator(turn);
  Random random(23);
  for (int i = 1; i <= 12; ++i) {
    const Mat3 rotation = random.rotation();
    const Vec3 place = random.pointInCube(0.3) + Vec3{0, 0, 0.6 + 0.15 * i};
    builder.addBody(bodyOf(i, workload::randomConvex(workload::kConvexTypes[i % 7], 0.1, 2, random),
                           {rotation, place}));
  }
  Simulator simulator(builder.build(), setting.numThreads);
  core::StableHash hash;
  for (int k = 0; k < 250; ++k) {
    simulator.setControls(std::vector<Real>{0.05 * (k % 40 < 20 ? 1 : -1), 4});
    simulator.step();
    if (k % 50 == 49) hash.add(simulator.state().hash());
  }
  return hash.value();
}

/// Soft bodies of three laws, a hydroelastic box and a jointed pad that press on each other.
std::uint64_t simulatedSoftBodies(const Setting& setting) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.dt = 1.0 / 120;
  builder.setOptions(options);
  builder.addMaterial({.name = "stuff", .friction = 0.6});
  builder.addMaterial({.name = "rubber",
                       .friction = 0.8,
                       .relaxationTime = 0.02,
                       .contact = ContactModel::Hydroelastic});
  builder.addBody(bodyOf(0, std::make_shared<Plane>(), {}, BodyType::Fixed));
  const auto add = [&](const std::string& name, const Shape& shape, Real resolution, const Vec3& at,
                       ElasticModel law) {
    SoftBody soft;
    soft.name = name;
    soft.mesh = std::make_shared<TetMesh>(meshShape(shape, {.resolution = resolution}));
    soft.pose.translation = at;
    soft.material = "rubber";
    soft.elasticity = {.model = law, .young = 1e5, .poisson = 0.4, .damping = 0.002};
    builder.addSoftBody(soft);
  };
  add("ball", Sphere(0.05), 0.025, {0, 0, 0.06}, ElasticModel::Corotated);
  add("cube", Box({0.03, 0.04, 0.03}), 0.03, {0.01, 0, 0.16}, ElasticModel::NeoHookean);
  add("rod", Cylinder(0.02, 0.06), 0.02, {0.11, 0, 0.03}, ElasticModel::StVenantKirchhoff);
  Body block{.name = "block"};
  block.pose.translation = {-0.02, 0.01, 0.25};
  block.shapes = {{.shape = std::make_shared<Box>(Vec3{0.04, 0.03, 0.02}), .material = "rubber"}};
  builder.addBody(block);
  Body pad{.name = "pad",
           .joints = {{.name = "press", .type = JointType::Prismatic, .axis = {0, 0, 1}}}};
  pad.pose.translation = {0.11, 0, 0.15};
  pad.shapes = {{.shape = std::make_shared<Box>(Vec3{0.03, 0.03, 0.01}), .material = "stuff"}};
  builder.addBody(pad);
  Simulator simulator(builder.build(), setting.numThreads);
  core::StableHash hash;
  for (int k = 0; k < 60; ++k) {
    simulator.step();
    if (k % 15 == 14) hash.add(simulator.state().hash());
  }
  return hash.value();
}

struct Scene {
  const char* name;
  std::uint64_t (*run)(const Setting&);
};

constexpr Scene kScenes[] = {
    {"box_pile", boxPile},
    {"mixed_primitives", mixedPrimitives},
    {"hull_pile", hullPile},
    {"mesh_among_primitives", meshAmongPrimitives},
    {"height_field", heightField},
    {"clouds_and_compounds", cloudsAndCompounds},
    {"rays", rays},
    {"shape_casts", shapeCasts},
    {"moving_boxes", movingBoxes},
    {"pair_queries", pairQueries},
    {"times_of_impact", timesOfImpact},
    {"shape_queries", shapeQueries},
    {"contact_regions", contactRegions},
    {"simulated_pile", simulatedPile},
    {"simulated_towers", simulatedTowers},
    {"simulated_robots", simulatedRobots},
    {"simulated_soft_bodies", simulatedSoftBodies},
};

std::vector<Setting> settings() {
  std::vector<Setting> list;
  for (int threads = 1; threads <= 8; ++threads) list.push_back({.numThreads = threads});
  for (const std::uint64_t seed : {101, 102, 103})
    for (const BroadPhaseType type :
         {BroadPhaseType::Bvh, BroadPhaseType::Sweep, BroadPhaseType::BruteForce})
      list.push_back({.numThreads = 3, .insertionSeed = seed, .broadPhase = type});
  list.push_back({});  // once more in a process that has done all of the above
  return list;
}

int check(const std::string& file) {
  std::map<std::string, std::string> golden;
  std::ifstream stream(file);
  for (std::string name, hash; stream >> name >> hash;) golden[name] = hash;
  int differences = 0, runs = 0;
  for (const Scene& scene : kScenes)
    for (const Setting& setting : settings()) {
      char hash[32];
      std::snprintf(hash, sizeof hash, "%016llx",
                    static_cast<unsigned long long>(scene.run(setting)));
      ++runs;
      if (golden[scene.name] == hash) continue;
      ++differences;
      std::printf("%s: %s, expected %s (%d threads, insertion seed %llu, broad phase %d)\n",
                  scene.name, hash, golden[scene.name].c_str(), setting.numThreads,
                  static_cast<unsigned long long>(setting.insertionSeed),
                  static_cast<int>(setting.broadPhase));
      if (setting.numThreads == 1) break;  // the scene itself differs: the settings add nothing
    }
  std::printf("determinism: %d runs of %zu scenes, %d differ\n", runs, std::size(kScenes),
              differences);
  return differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--check") return check(argv[2]);
  if (argc != 1) {
    std::fprintf(stderr, "usage: determinism_scenes [--check FILE]\n");
    return 2;
  }
  for (const Scene& scene : kScenes)
    std::printf("%s %016llx\n", scene.name, static_cast<unsigned long long>(scene.run({})));
  return 0;
}
