// SPDX-License-Identifier: Apache-2.0
//
// What tests of the event solver begin with. Shapes are of the material "m".
#pragma once

#include <tangere/simulator.hpp>

#include <memory>
#include <string>
#include <utility>

namespace tangere::test {

inline ModelBuilder eventBuilder(const Material& material, const Vec3& gravity = {0, 0, -9.81},
                                 Real dt = 0.01) {
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.dt = dt;
  options.gravity = gravity;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial(material);
  return builder;
}

inline void addGround(ModelBuilder& builder) {
  Body ground{.name = "ground", .type = BodyType::Fixed};
  ground.shapes.push_back({.shape = std::make_shared<Plane>(), .material = "m"});
  builder.addBody(ground);
}

inline Body makeBody(std::string name, std::shared_ptr<const Shape> shape, const Vec3& at) {
  Body body{.name = std::move(name)};
  body.pose.translation = at;
  body.shapes.push_back({.shape = std::move(shape), .material = "m"});
  return body;
}

inline std::string numbered(std::string name, int i) { return name += std::to_string(i); }

}  // namespace tangere::test
