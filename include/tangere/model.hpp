// SPDX-License-Identifier: Apache-2.0
//
// The immutable description of what is simulated. A ModelBuilder collects bodies, materials and
// options, checks them, and makes a Model; a Model may be shared by any number of simulators and
// threads.
#pragma once

#include <tangere/contact_patch_cache.hpp>
#include <tangere/material.hpp>
#include <tangere/shape.hpp>
#include <tangere/solver_options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tangere {

namespace model {
struct ModelData;
}

enum class BodyType : std::uint8_t {
  Dynamic,    ///< moved by forces and contacts
  Fixed,      ///< never moves
  Kinematic,  ///< moves with its own velocity, whatever touches it
};

/// One collision shape of a body.
struct BodyShape {
  std::shared_ptr<const Shape> shape{};
  Transform pose{};                  ///< in the body's frame
  std::string material{};            ///< name of a material; empty: the default material
  std::uint32_t group = 1;           ///< bits this shape belongs to
  std::uint32_t mask = 0xffffffffu;  ///< bits it collides with; both sides must agree
};

/// A rigid body. Its name is its identity: the order in which bodies are added does not matter.
struct Body {
  std::string name;
  BodyType type = BodyType::Dynamic;
  Transform pose{};        ///< X_WB at the start
  Vec3 linearVelocity{};   ///< of the body's origin at the start, world [m/s]
  Vec3 angularVelocity{};  ///< at the start, world [rad/s]
  std::vector<BodyShape> shapes{};
  /// Mass, centre and inertia about that centre in the body's frame. Without it: from the shapes
  /// and the densities of their materials.
  std::optional<MassProperties> massProperties{};
  Real linearDamping = 0;   ///< force per mass and speed [1/s]
  Real angularDamping = 0;  ///< torque per inertia and rate [1/s]
  Real gravityScale = 1;
};

/// Sleeping islands cost nothing and their bodies do not move at all; their contacts keep the
/// forces of the step in which they fell asleep.
struct SleepOptions {
  bool enabled = false;
  Real linearSpeed = 1e-3;   ///< below both for `duration` a whole island falls asleep [m/s]
  Real angularSpeed = 1e-2;  ///< [rad/s]
  Real duration = 0.5;       ///< [s]
};

struct SimulationOptions {
  Real dt = 0.002;  ///< [s]
  Vec3 gravity{0, 0, -9.81};
  ImpulseOptions impulse{};
  ContactPatchCacheOptions patchCache{.enabled = true, .allowNegativeDepth = true};
  SleepOptions sleep{};
  /// Approach below this speed does not bounce [m/s].
  Real restitutionThreshold = 0.5;
  /// Impacts resolved one after another in one step before the rest count as inelastic.
  int maxImpactsPerStep = 10000;
};

class Model {
 public:
  [[nodiscard]] int numBodies() const;
  [[nodiscard]] std::string_view bodyName(int body) const;
  /// Index of the body, in order of names; -1 when there is none.
  [[nodiscard]] int findBody(std::string_view name) const;
  [[nodiscard]] BodyType bodyType(int body) const;
  [[nodiscard]] const MassProperties& massProperties(int body) const;
  [[nodiscard]] int numShapes() const;
  [[nodiscard]] int bodyOfShape(int shape) const;
  [[nodiscard]] const std::shared_ptr<const Shape>& shape(int shape) const;
  /// X_BS.
  [[nodiscard]] const Transform& shapePose(int shape) const;
  [[nodiscard]] const SimulationOptions& options() const;
  /// The same bodies under other options. Throws InvalidInput.
  [[nodiscard]] Model withOptions(const SimulationOptions& options) const;
  /// Hash of everything that decides a motion: a checkpoint fits one model alone.
  [[nodiscard]] std::uint64_t hash() const;

  [[nodiscard]] const model::ModelData& data() const { return *data_; }

 private:
  friend class ModelBuilder;
  explicit Model(std::shared_ptr<const model::ModelData> data) : data_(std::move(data)) {}
  std::shared_ptr<const model::ModelData> data_;
};

/// Collects and checks. Every function throws InvalidInput on what cannot be simulated, and leaves
/// the builder as it was.
class ModelBuilder {
 public:
  ModelBuilder();
  ~ModelBuilder();
  ModelBuilder(ModelBuilder&&) noexcept;
  ModelBuilder& operator=(ModelBuilder&&) noexcept;

  void setOptions(const SimulationOptions& options);
  [[nodiscard]] const SimulationOptions& options() const;
  /// The material of shapes that name none; "default" otherwise.
  void addMaterial(const Material& material);
  void addPair(const MaterialPair& pair);
  void addBody(const Body& body);
  /// The two bodies never touch.
  void excludePair(std::string_view body1, std::string_view body2);

  /// Throws InvalidInput when a material or body that is referred to does not exist.
  [[nodiscard]] Model build() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
