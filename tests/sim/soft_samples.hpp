// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies, floors and materials that the tests of soft bodies and pressure share.
#pragma once

#include <tangere/simulator.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace tangere::test {

inline constexpr Real kGravity = 9.81;

inline SimulationOptions sapOptions(Real dt, const Vec3& gravity = {0, 0, -kGravity}) {
  SimulationOptions options;
  options.dt = dt;
  options.gravity = gravity;
  options.solver = SolverType::Sap;
  return options;
}

inline Material rubber(Real modulus = 1e7, Real friction = 1) {
  return {.name = "rubber",
          .friction = friction,
          .relaxationTime = 0.02,
          .contact = ContactModel::Hydroelastic,
          .hydroelasticModulus = modulus};
}

inline Body floorBody(const std::string& material = "") {
  Body body;
  body.name = "floor";
  body.type = BodyType::Fixed;
  body.shapes = {{.shape = std::make_shared<Plane>(), .material = material}};
  return body;
}

inline Body boxBody(const std::string& name, const Vec3& half, const Vec3& at,
                    const std::string& material, BodyType type = BodyType::Dynamic) {
  Body body;
  body.name = name;
  body.type = type;
  body.pose.translation = at;
  body.shapes = {{.shape = std::make_shared<Box>(half), .material = material}};
  return body;
}

inline SoftBody softOf(const std::string& name, const Shape& shape, Real resolution,
                       const Vec3& at) {
  SoftBody soft;
  soft.name = name;
  soft.mesh = std::make_shared<TetMesh>(meshShape(shape, {.resolution = resolution}));
  soft.pose.translation = at;
  soft.material = "rubber";
  soft.elasticity = {.young = 1e5, .poisson = 0.4, .damping = 0.002};
  return soft;
}

inline Real fastestVertex(const Simulator& simulator, int soft = 0) {
  Real fastest = 0;
  for (const Vec3& v : simulator.softVelocities(soft)) fastest = std::max(fastest, norm(v));
  return fastest;
}

inline Vec3 meanPosition(const Simulator& simulator, int soft = 0) {
  Vec3 sum{};
  const std::span<const Vec3> x = simulator.softPositions(soft);
  for (const Vec3& p : x) sum += p;
  return sum * (1 / static_cast<Real>(x.size()));
}

/// By pressure, on one soft body [N].
inline Vec3 pressureForceOn(const Simulator& simulator, int soft) {
  Vec3 sum{};
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    if (polygon.side1.soft == soft) sum += polygon.force;
    if (polygon.side2.soft == soft) sum += -polygon.force;
  }
  return sum;
}

}  // namespace tangere::test
