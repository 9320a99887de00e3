// SPDX-License-Identifier: Apache-2.0
#include "verify_bodies.hpp"

#include <cmath>

namespace tangere::cli {

MassProperties solid(double mass, const Vec3& center, const Vec3& moments) {
  return {.mass = mass,
          .center = center,
          .inertia = {{{moments.x, 0, 0}, {0, moments.y, 0}, {0, 0, moments.z}}}};
}

Body box(const std::string& name, const Vec3& size, double mass, const Vec3& position) {
  Body body{.name = name};
  body.pose.translation = position;
  const auto shape = std::make_shared<Box>(size * 0.5);
  body.massProperties = shape->massProperties(mass / (size.x * size.y * size.z));
  body.shapes.push_back({.shape = shape, .material = "stuff"});
  return body;
}

Body keptInPlane(Body body) {
  Mat3& inertia = body.massProperties->inertia;
  const double heavy = 1e6 * inertia.col[1].y;
  inertia.col[0].x += heavy;
  inertia.col[2].z += heavy;
  return body;
}

std::vector<Real> addFourbar(ModelBuilder& builder, int windows, double length, double mass,
                             double speed) {
  const double moment = mass * length * length / 12;
  constexpr double kThin = 1e-6;  // a rod has no moment about itself; a body must
  const auto add = [&](const std::string& name, const std::string& parent, const Vec3& at,
                       const Vec3& along) {
    Body rod{.name = name, .parent = parent};
    rod.joints = {{.name = "at_" + name, .type = JointType::Revolute, .axis = {0, 0, 1}}};
    rod.pose.translation = at;
    const Vec3 moments =
        along.x > 0 ? Vec3{kThin * moment, moment, moment} : Vec3{moment, kThin * moment, moment};
    rod.massProperties = solid(mass, along * (0.5 * length), moments);
    builder.addBody(rod);
  };
  std::vector<Real> rates;
  for (int i = 0; i <= windows; ++i) {
    const std::string index = std::to_string(i);
    add("up" + index, "", {i * length, 0, 0}, {0, 1, 0});
    rates.push_back(-speed / length);
    if (i == windows) break;
    add("across" + index, "up" + index, {0, length, 0}, {1, 0, 0});
    rates.push_back(speed / length);
  }
  for (int i = 0; i < windows; ++i) {
    builder.addEquality({.name = "close" + std::to_string(i),
                         .type = Equality::Type::Connect,
                         .first = "across" + std::to_string(i),
                         .second = "up" + std::to_string(i + 1),
                         .anchor = {length, 0, 0}});
  }
  return rates;
}

void addWedge(ModelBuilder& builder, double wedgeMass, double blockMass, double angle,
              bool hasWall) {
  const double length = 2, height = length * std::tan(angle);
  std::vector<Vec3> corners;
  for (const double y : {-0.5, 0.5}) {
    corners.push_back({0, y, 0});
    corners.push_back({length, y, 0});
    corners.push_back({0, y, height});
  }
  Body wedge{.name = "wedge"};
  const auto hull = std::make_shared<Convex>(corners);
  wedge.massProperties = hull->massProperties(wedgeMass / (0.5 * length * height));
  wedge.shapes.push_back({.shape = hull, .material = "stuff"});
  builder.addBody(wedge);
  Body block = box("block", {0.2, 0.2, 0.2}, blockMass, {});
  // x along the slope downwards, z along its normal.
  block.pose.rotation = {
      {{std::cos(angle), 0, -std::sin(angle)}, {0, 1, 0}, {std::sin(angle), 0, std::cos(angle)}}};
  block.pose.translation = Vec3{0.5 * length, 0, 0.5 * height} + block.pose.rotation.col[2] * 0.1;
  builder.addBody(block);
  if (!hasWall) return;
  Body wall{.name = "wall", .type = BodyType::Fixed};
  wall.pose.translation = {-0.1, 0, 1};
  wall.shapes.push_back({.shape = std::make_shared<Box>(Vec3{0.1, 2, 1}), .material = "stuff"});
  builder.addBody(wall);
}

}  // namespace tangere::cli
