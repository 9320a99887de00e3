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

/// Two soft bodies; with `rigid` a floor and a driven arm with sensors of one and three numbers.
inline Model makeSoftModel(bool rigid = true) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.dt = 0.005;
  builder.setOptions(options);
  if (rigid) {
    Body floor;
    floor.name = "floor";
    floor.type = BodyType::Fixed;
    floor.shapes.push_back({.shape = std::make_shared<Plane>()});
    builder.addBody(floor);
    Body arm;
    arm.name = "arm";
    arm.joints = {{.name = "hinge", .type = JointType::Revolute, .axis = {0, 1, 0}}};
    arm.pose.translation = {1, 0, 1};
    BodyShape bar{.shape = std::make_shared<Box>(Vec3{0.2, 0.03, 0.03})};
    bar.pose.translation = {0.2, 0, 0};
    arm.shapes = {bar};
    builder.addBody(arm);
    builder.addSensor({.name = "angle", .type = SensorType::JointPosition, .object = "hinge"});
    builder.addSensor({.name = "place",
                       .type = SensorType::FramePosition,
                       .object = "arm",
                       .objectFrame = Sensor::Frame::InertiaFrame});
  }
  const auto addSoft = [&](const char* name, const Shape& shape, Real height) {
    SoftBody soft;
    soft.name = name;
    soft.mesh = std::make_shared<TetMesh>(meshShape(shape, {.resolution = 0.05}));
    soft.pose.translation = {0.01, 0, height};
    builder.addSoftBody(soft);
  };
  addSoft("cube", Box({0.05, 0.05, 0.05}), 0.05);
  addSoft("ball", Sphere(0.05), 0.152);
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
  std::vector<Vec3> softVertices;
  std::vector<PressurePolygon> polygons;
  std::vector<Real> sensors;
  std::vector<std::uint8_t> isAsleep;
  int numEvents = 0;

  [[nodiscard]] RecordFrame view() const {
    return {.time = time,
            .step = step,
            .stateHash = stateHash,
            .bodies = bodies,
            .contacts = contacts,
            .report = report,
            .energy = energy,
            .softVertices = softVertices,
            .polygons = polygons,
            .sensors = sensors,
            .isAsleep = isAsleep,
            .numEvents = numEvents};
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
    frame.isAsleep.push_back((step + static_cast<std::uint64_t>(i)) % 3 == 0);
  }
  frame.numEvents = static_cast<int>(step % 4);
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

/// The same for a model with soft bodies and sensors.
inline OwnedFrame makeSoftFrame(std::uint64_t step, const Model& model, int numContacts,
                                int numPolygons) {
  OwnedFrame frame = makeFrame(step, model.numBodies(), numContacts);
  Real next = static_cast<Real>(step) / 11;
  const auto real = [&] { return next += 1.0 / 3; };
  const auto vec = [&] { return Vec3{real(), -real(), real()}; };
  for (int i = 0; i < model.numSoftVertices(); ++i) frame.softVertices.push_back(vec());
  for (int i = 0; i < model.numSensorValues(); ++i) frame.sensors.push_back(real());
  for (int i = 0; i < numPolygons; ++i) {
    PressurePolygon polygon;
    polygon.side1 = {.soft = i % 2, .element = i};
    polygon.side2 = {.body = 0, .shape = 0, .element = i % 3 - 1};
    polygon.numVertices = 3 + (i + static_cast<int>(step)) % 6;
    for (std::size_t k = 0; k < static_cast<std::size_t>(polygon.numVertices); ++k) {
      polygon.vertices[k] = vec();
      polygon.pressures[k] = real();
    }
    polygon.centroid = vec();
    polygon.normal = vec();
    polygon.area = real();
    polygon.pressure = real();
    polygon.force = vec();
    polygon.normalWork = real();
    polygon.frictionWork = -real();
    frame.polygons.push_back(polygon);
  }
  frame.report.numPressurePolygons = numPolygons;
  frame.report.soft = static_cast<int>(step % 2);
  frame.report.numInverted = static_cast<int>(step) + 4;
  frame.report.linearIterations = static_cast<int>(step) + 5;
  return frame;
}

}  // namespace tangere::samples
