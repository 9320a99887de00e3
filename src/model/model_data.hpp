// SPDX-License-Identifier: Apache-2.0
//
// A Model as arrays: what every phase of a step reads. Bodies are in order of their names and
// shapes in order of their bodies, so that neither depends on the order of creation. The id of a
// shape as a collision object is its index here.
#pragma once

#include <tangere/model.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tangere::model {

/// What two materials do together.
struct ContactMaterial {
  Real friction = 0;
  Real restitution = 0;
  Real torsionalFriction = 0;
  Real rollingFriction = 0;
};

struct ModelBody {
  std::string name;
  BodyType type = BodyType::Dynamic;
  MassProperties mass{};  ///< about the centre, body frame; zero mass for bodies no force moves
  Real inverseMass = 0;
  Mat3 inverseInertia{};  ///< body frame
  Transform startPose{};
  Vec3 startVelocity{};  ///< of the body's origin
  Vec3 startAngularVelocity{};
  Real linearDamping = 0, angularDamping = 0;
  Real gravityScale = 1;
  int firstShape = 0, numShapes = 0;
};

struct ModelShape {
  int body = 0;
  std::shared_ptr<const Shape> shape{};
  Transform pose{};  ///< X_BS
  int material = 0;
  std::uint32_t group = 1;
  std::uint32_t mask = 0xffffffffu;
  Real reach = 0;            ///< farthest point of the shape from the body's centre of mass [m]
  bool isFlatFaced = false;  ///< bounded by planes alone
  /// A warm collision query gives the same bits as a cold one.
  bool mayWarmStart = false;
};

struct ModelData {
  std::vector<ModelBody> bodies;
  std::vector<ModelShape> shapes;
  std::vector<Material> materials;
  std::vector<ContactMaterial> materialPairs;       ///< materials.size() squared
  std::vector<std::pair<int, int>> excludedBodies;  ///< sorted, first < second
  SimulationOptions options{};
  bool hasRestitution = false;  ///< some pair bounces
  std::uint64_t hash = 0;

  [[nodiscard]] const ContactMaterial& contactMaterial(int material1, int material2) const {
    return materialPairs[static_cast<std::size_t>(material1) * materials.size() +
                         static_cast<std::size_t>(material2)];
  }
};

}  // namespace tangere::model
