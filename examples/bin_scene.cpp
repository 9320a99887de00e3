// SPDX-License-Identifier: Apache-2.0
#include "bin_scene.hpp"

#include <workload.hpp>

#include <cmath>

namespace tangere::demo {

namespace {

using workload::Random;
using workload::ShapePtr;

constexpr Real kBinHalfSize = 0.5, kWallHalfHeight = 0.2, kWallHalfThickness = 0.02;

/// What a push does to a body: one over its mass, and its inertia about the centre of mass.
struct Inertia {
  Real inverseMass = 0;
  Vec3 center{};
  Real inverseInertia = 0;  ///< one number: bodies are compact, and only the pile matters
};

ObjectId addBody(BinScene& scene, ShapePtr shape, const Transform& pose, const std::string& name,
                 bool isFixed) {
  const ObjectId id = scene.group.add(std::move(shape), pose);
  scene.bodies.push_back({id, name, isFixed});
  return id;
}

/// A shallow bowl with ripples.
ShapePtr makeGround() {
  constexpr int kSamples = 41;
  constexpr Real kSize = 1.6;
  std::vector<Real> heights;
  for (int j = 0; j < kSamples; ++j)
    for (int i = 0; i < kSamples; ++i) {
      const Real x = kSize * i / (kSamples - 1) - kSize / 2;
      const Real y = kSize * j / (kSamples - 1) - kSize / 2;
      const Real u = 4 * x - std::floor(4 * x + 0.5), v = 4 * y - std::floor(4 * y + 0.5);
      heights.push_back(0.12 * (x * x + y * y) + 0.1 * (0.25 - u * u) * (0.25 - v * v) - 0.3);
    }
  return std::make_shared<HeightField>(kSamples, kSamples, kSize, kSize, heights);
}

ShapePtr makeRock(Real scale) {
  const auto mesh = workload::bumpySphere(8);
  std::vector<Vec3> vertices(mesh->vertices().begin(), mesh->vertices().end());
  for (Vec3& vertex : vertices) vertex *= scale;
  return std::make_shared<Mesh>(vertices, mesh->triangles());
}

void addBin(BinScene& scene) {
  addBody(scene, makeGround(), {}, "ground", true);
  const Real at = kBinHalfSize + kWallHalfThickness;
  const auto wallX = std::make_shared<Box>(
      Vec3{kWallHalfThickness, kBinHalfSize + 2 * kWallHalfThickness, kWallHalfHeight});
  const auto wallY = std::make_shared<Box>(Vec3{kBinHalfSize, kWallHalfThickness, kWallHalfHeight});
  const Real z = kWallHalfHeight - 0.3;
  addBody(scene, wallX, {Mat3::identity(), {at, 0, z}}, "wall +x", true);
  addBody(scene, wallX, {Mat3::identity(), {-at, 0, z}}, "wall -x", true);
  addBody(scene, wallY, {Mat3::identity(), {0, at, z}}, "wall +y", true);
  addBody(scene, wallY, {Mat3::identity(), {0, -at, z}}, "wall -y", true);
  addBody(scene, makeRock(0.4), {Mat3::identity(), {0.08, -0.06, -0.3}}, "rock", true);
}

ShapePtr makeDumbbell(Real size) {
  std::vector<Compound::Child> children;
  const auto ball = std::make_shared<Sphere>(0.7 * size);
  children.push_back({ball, {Mat3::identity(), {0, 0, 1.3 * size}}});
  children.push_back({ball, {Mat3::identity(), {0, 0, -1.3 * size}}});
  children.push_back({std::make_shared<Capsule>(0.25 * size, size), {}});
  return std::make_shared<Compound>(std::move(children));
}

void addMovers(BinScene& scene, int count) {
  Random random(2026);
  constexpr ShapeType kTypes[] = {ShapeType::Box,      ShapeType::Sphere,    ShapeType::Capsule,
                                  ShapeType::Cylinder, ShapeType::Ellipsoid, ShapeType::Convex,
                                  ShapeType::Cone,     ShapeType::Compound};
  for (int i = 0; i < count; ++i) {
    const ShapeType type = kTypes[i % 8];
    const Real size = random.uniform(0.055, 0.09);
    ShapePtr shape = type == ShapeType::Compound ? makeDumbbell(0.7 * size)
                                                 : workload::randomConvex(type, size, 1.8, random);
    const Mat3 rotation = random.rotation();
    Vec3 place = random.pointInCube(kBinHalfSize - 0.12);
    place.z = 0.15 + 0.03 * i;
    addBody(scene, std::move(shape), {rotation, place},
            std::string(shapeTypeName(type)) + " " + std::to_string(i), false);
  }
}

std::vector<Inertia> inertias(const BinScene& scene) {
  std::vector<Inertia> list(scene.bodies.size());
  for (const Body& body : scene.bodies) {
    if (body.isFixed) continue;
    const MassProperties mass = scene.group.object(body.id).shape->massProperties(1000);
    const Real meanInertia = (mass.inertia(0, 0) + mass.inertia(1, 1) + mass.inertia(2, 2)) / 3;
    list[body.id] = {1 / mass.mass, mass.center, 1 / meanInertia};
  }
  return list;
}

Mat3 smallRotation(const Vec3& angle) {
  return rotationMatrix(Quat{1, angle.x / 2, angle.y / 2, angle.z / 2});
}

/// Pushes both bodies of a contact apart until it would be `slop` deep, each by its share.
void pushApart(const ContactPoint& contact, Real slop, ObjectId id1, ObjectId id2,
               const std::vector<Inertia>& inertia, std::vector<Transform>& pose) {
  const Real excess = contact.depth - slop;
  if (excess <= 0) return;
  const Inertia& i1 = inertia[id1];
  const Inertia& i2 = inertia[id2];
  const Vec3 turn1 = cross(contact.position - pose[id1] * i1.center, contact.normal);
  const Vec3 turn2 = cross(contact.position - pose[id2] * i2.center, contact.normal);
  const Real mobility = i1.inverseMass + i2.inverseMass + squaredNorm(turn1) * i1.inverseInertia +
                        squaredNorm(turn2) * i2.inverseInertia;
  if (mobility == 0) return;
  const Real impulse = 0.5 * excess / mobility;  // half: the points of one face share the work
  const auto move = [&](ObjectId id, const Inertia& of, const Vec3& turn, Real sign) {
    if (of.inverseMass == 0) return;
    const Vec3 center = pose[id] * of.center;
    const Mat3 rotation = smallRotation(turn * (sign * impulse * of.inverseInertia));
    const Vec3 moved = center + contact.normal * (sign * impulse * of.inverseMass);
    pose[id].translation = moved + rotation * (pose[id].translation - center);
    pose[id].rotation = rotation * pose[id].rotation;
  };
  move(id1, i1, turn1, 1);
  move(id2, i2, turn2, -1);
}

/// Products of many rotations drift away from rotations: back to three perpendicular unit columns.
Mat3 orthonormalized(const Mat3& m) {
  const Vec3 x = m.col[0] / norm(m.col[0]);
  Vec3 z = cross(x, m.col[1]);
  z = z / norm(z);
  return {{x, cross(z, x), z}};
}

void settle(BinScene& scene) {
  constexpr int kSteps = 800, kRounds = 3;
  constexpr Real kSlop = 2e-4;
  const std::vector<Inertia> inertia = inertias(scene);
  std::vector<Transform> pose;
  for (const Body& body : scene.bodies) pose.push_back(scene.group.object(body.id).pose);
  CollisionResult result;
  for (int step = 0; step < kSteps; ++step) {
    // Fall, then settle, then let the last overlaps go.
    const Real lower = step < 500 ? 7e-3 : step < 700 ? 1e-3 : 5e-5;
    for (const Body& body : scene.bodies)
      if (!body.isFixed) pose[body.id].translation.z -= lower;
    for (int round = 0; round < kRounds; ++round) {
      for (const Body& body : scene.bodies)
        if (!body.isFixed) {
          pose[body.id].rotation = orthonormalized(pose[body.id].rotation);
          scene.group.setPose(body.id, pose[body.id]);
        }
      result.clear();
      scene.group.collide(CollisionOption::fullContacts(100000), result);
      for (const ContactManifold& manifold : result.manifolds())
        for (const ContactPoint& contact : manifold.contacts())
          pushApart(contact, kSlop, manifold.object1, manifold.object2, inertia, pose);
    }
  }
  for (const Body& body : scene.bodies)
    if (!body.isFixed) {
      pose[body.id].rotation = orthonormalized(pose[body.id].rotation);
      scene.group.setPose(body.id, pose[body.id]);
    }
}

}  // namespace

BinScene makeBinScene(int numMovingBodies) {
  BinScene scene;
  addBin(scene);
  for (const Body& wall : scene.bodies)
    for (const Body& other : scene.bodies)
      if (wall.id < other.id) scene.group.excludePair(wall.id, other.id);
  addMovers(scene, numMovingBodies);
  settle(scene);
  return scene;
}

}  // namespace tangere::demo
