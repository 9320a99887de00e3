// SPDX-License-Identifier: Apache-2.0
//
// A weight on a rope: a contact handler of one's own in the SAP solver.
#include <tangere/simulator.hpp>

#include "rope_handler.hpp"

#include <cmath>
#include <cstdio>
#include <memory>

int main() {
  // [weight]
  tangere::ModelBuilder builder;
  tangere::SimulationOptions options;
  options.solver = tangere::SolverType::Sap;
  builder.setOptions(options);
  tangere::Body weight;
  weight.name = "weight";  // 2 kg
  weight.pose.translation = {0, 0, 2};
  weight.shapes = {{.shape = std::make_shared<tangere::Box>(tangere::Vec3{0.05, 0.05, 0.1})}};
  builder.addBody(weight);
  tangere::Simulator simulator(builder.build());

  const Rope::End atWeight{.body = simulator.model().findBody("weight"), .point = {0, 0, 0.1}};
  const Rope::End atCeiling{.body = -1, .point = {0, 0, 3.1}};
  const int rope = simulator.addContactHandler(
      std::make_shared<Rope>(atWeight, atCeiling, /*length=*/1, /*stiffness=*/1000,
                             /*damping=*/20));
  simulator.step(2000);
  const double height = simulator.body("weight").pose.translation.z;
  const double pull = simulator.handlerForces(rope)[0].force[0];
  std::printf("hangs at %.5f m, the rope does %.2f N to it\n", height, pull);
  // [weight]
  const bool isRight =
      std::fabs(height - (2 - 2 * 9.81 / 1000)) < 1e-6 && std::fabs(pull + 2 * 9.81) < 1e-3;
  return isRight ? 0 : 1;
}
