// SPDX-License-Identifier: Apache-2.0
#include "verify_rest.hpp"

#include "verify_event.hpp"

#include <algorithm>
#include <memory>

namespace tangere::cli {

double positive(const Json& parameters, const char* name) {
  const double value = number(parameters, name);
  if (!(value > 0)) throw InvalidInput(join("parameter '", name, "' must be above 0"));
  return value;
}

RestWorld::RestWorld(const Vec3& gravity, double friction, bool hasPlane, double slipSpeed) {
  SimulationOptions options = eventOptions(gravity);
  options.event.relativeTolerance = 1e-10;
  // Velocities to a small part of what friction needs, and not to digits that are noise.
  options.event.absoluteTolerance = std::max(1e-12, 1e-5 * slipSpeed);
  options.event.restPeriod = kRestPeriod;
  options.event.slipSpeed = slipSpeed;
  builder.setOptions(options);
  builder.addMaterial({.name = "stuff", .friction = friction, .restitution = 0});
  if (!hasPlane) return;
  Body plane{.name = "plane", .type = BodyType::Fixed};
  plane.shapes.push_back({.shape = std::make_shared<Plane>(), .material = "stuff"});
  builder.addBody(plane);
}

MassProperties evenInertia(double mass, double moment) {
  return {.mass = mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
}

}  // namespace tangere::cli
