// SPDX-License-Identifier: Apache-2.0
#include <tangere/simulator.hpp>

#include <cstdio>

int main() {
  tangere::ModelBuilder builder;
  tangere::Body floor{.name = "floor", .type = tangere::BodyType::Fixed};
  floor.shapes.push_back({.shape = std::make_shared<tangere::Plane>()});
  tangere::Body box{.name = "box", .pose = {.translation = {0, 0, 0.3}}};
  box.shapes.push_back({.shape = std::make_shared<tangere::Box>(tangere::Vec3{0.1, 0.1, 0.1})});
  builder.addBody(floor);
  builder.addBody(box);
  tangere::Simulator simulator(builder.build());
  simulator.step(500);  // one second
  for (const tangere::ContactForce& contact : simulator.contacts())
    std::printf("%.2f N at %.3f %.3f\n", contact.force.z, contact.position.x, contact.position.y);
}
