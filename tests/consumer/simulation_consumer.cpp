// SPDX-License-Identifier: Apache-2.0
//
// A program of somebody else that simulates: sees nothing but the install tree.
#include <tangere/simulator.hpp>

#include <cstdio>

int main() {
  tangere::ModelBuilder builder;
  tangere::Body floor{.name = "floor", .type = tangere::BodyType::Fixed};
  floor.shapes.push_back({.shape = std::make_shared<tangere::Plane>()});
  builder.addBody(floor);
  tangere::Body cube{.name = "cube"};
  cube.pose.translation = {0, 0, 0.5};
  cube.shapes.push_back({.shape = std::make_shared<tangere::Box>(tangere::Vec3{0.5, 0.5, 0.5})});
  builder.addBody(cube);

  tangere::Simulator simulator(builder.build());
  simulator.step(100);
  const double height = simulator.body("cube").pose.translation.z;
  std::printf("the cube rests at %.6f m on %d points\n", height, simulator.report().numContacts);
  return height > 0.4999 && height < 0.5001 && simulator.report().numContacts == 4 ? 0 : 1;
}
