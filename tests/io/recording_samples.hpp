// SPDX-License-Identifier: Apache-2.0
//
// A small model and frames whose every number is different, for tests of files.
#pragma once

#include <tangere/recording.hpp>

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tangere::samples {

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tangere.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// A floor and `numBalls` balls of 0.1 m above it.
inline Model makeModel(int numBalls = 2) {
  ModelBuilder builder;
  Body floor;
  floor.name = "floor";
  floor.type = BodyType::Fixed;
  floor.shapes.push_back({.shape = std::make_shared<Plane>()});
  builder.addBody(floor);
  for (int i = 0; i < numBalls; ++i) {
    Body ball;
    ball.name = "ball " + std::to_string(i);
    ball.pose.translation = {0.3 * i, 0, 0.5};
    ball.shapes.push_back({.shape = std::make_shared<Sphere>(0.1)});
    builder.addBody(ball);
  }
  return builder.build();
}

/// What a frame refers to.
struct OwnedFrame {
  Real time = 0;
  std::uint64_t step = 0, stateHash = 0;
  std::vector<BodyState> bodies;
  std::vector<ContactForce> contacts;
  StepReport report;
  EnergyLedger energy;

  [[nodiscard]] RecordFrame view() const {
    return {.time = time,
            .step = step,
            .stateHash = stateHash,
            .bodies = bodies,
            .contacts = contacts,
            .report = report,
            .energy = energy};
  }
};

inline OwnedFrame makeFrame(std::uint64_t step, int numBodies, int numContacts) {
  Real next = static_cast<Real>(step) / 7;
  const auto real = [&] { return next += 1.0 / 3; };
  const auto vec = [&] { return Vec3{real(), -real(), real()}; };
  OwnedFrame frame;
  frame.time = real();
  frame.step = step;
  frame.stateHash = step * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < numBodies; ++i) {
    BodyState body;
    body.orientation = {0.5, -0.5, 0.5, step % 2 == 0 ? 0.5 : -0.5};
    body.pose = {rotationMatrix(body.orientation), vec()};
    body.linearVelocity = vec();
    body.angularVelocity = vec();
    frame.bodies.push_back(body);
  }
  for (int i = 0; i < numContacts; ++i)
    frame.contacts.push_back({.body1 = i % numBodies,
                              .body2 = (i + 1) % numBodies,
                              .shape1 = i % 5,
                              .shape2 = i % 7,
                              .id = step << 20 | static_cast<std::uint64_t>(i),
                              .position = vec(),
                              .normal = vec(),
                              .depth = -real(),
                              .force = vec(),
                              .torque = vec(),
                              .normalWork = real(),
                              .frictionWork = -real()});
  frame.report = {.status = static_cast<StepStatus>(step % 32),
                  .numContacts = numContacts,
                  .numIslands = static_cast<int>(step) + 1,
                  .iterations = static_cast<int>(step) + 2,
                  .numImpacts = static_cast<int>(step) + 3,
                  .residual = real(),
                  .maxDepth = real(),
                  .body1 = 0,
                  .body2 = -1};
  frame.energy = {.kinetic = real(),
                  .potential = real(),
                  .external = real(),
                  .damping = real(),
                  .contactNormal = real(),
                  .contactFriction = real(),
                  .kinematic = real(),
                  .correction = real(),
                  .integration = real(),
                  .gyroscopic = real(),
                  .residual = real()};
  return frame;
}

}  // namespace tangere::samples
