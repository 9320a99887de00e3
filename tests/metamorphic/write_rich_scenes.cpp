// SPDX-License-Identifier: Apache-2.0
//
// write_rich_scenes FOLDER COUNT FIRST: random scenes of several bodies of every shape that land
// and meet, for `tangere compare`: rich_SEED_sap.toml, whose contacts yield (which the impulse
// solver does not know), and rich_SEED_impulse.toml, whose contacts are rigid and bounce (which the
// convex solver does not know). The first line of each says for how long to compare [s]: until
// shortly after the first contacts, before the motion is chaotic.
#include "metamorphic/scene_case.hpp"
#include "sim/random_scene.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tangere::test {
namespace {

Case richCase(std::uint64_t seed, SolverType solver) {
  // Of a rim, and of a face with more than four corners, each solver takes its own points, and each
  // of them yields.
  Case scene = randomCase(seed, solver,
                          {.hasRobots = false,
                           .hasDamping = false,
                           .hasMeshes = false,
                           .hasRims = solver != SolverType::Sap,
                           .hasHulls = solver != SolverType::Sap,
                           .maxBodies = 4});
  Random random(scatteredSeed(seed + 31));
  Real lightest = 1e300;
  for (Body& body : scene.bodies) {
    if (body.type == BodyType::Kinematic) body.type = BodyType::Dynamic;
    if (body.type != BodyType::Dynamic) continue;
    Real mass = 0;
    for (const BodyShape& shape : body.shapes) mass += shape.shape->massProperties(500).mass;
    lightest = std::min(lightest, mass);
  }
  for (Material& material : scene.materials) {
    material.density = 500;
    material.friction = random.uniform(0.1, 0.8);
    material.torsionalFriction = material.rollingFriction = 0;
    material.relaxationTime = 0;
    if (solver == SolverType::Sap) {
      // Contacts last for some forty steps.
      const Real period = 40 * scene.options.dt;
      material.stiffness = 2 * lightest * 40 / (period * period);
      material.restitution = 0;
    } else {
      material.restitution = random.uniform(0.4, 0.9);
    }
  }
  scene.options.restitutionThreshold = 1e-3;
  return scene;
}

void write(const std::string& folder, std::uint64_t seed, SolverType solver) {
  const Case scene = richCase(seed, solver);
  const int numSteps = numStepsToContact(scene, 600);
  const Real duration = (numSteps + 30) * scene.options.dt;
  const std::string name = folder + "/rich_" + std::to_string(seed) + "_" + solverTypeName(solver);
  writeCase(name + ".toml", scene, "duration " + std::to_string(duration) + "\n");
}

}  // namespace
}  // namespace tangere::test

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: write_rich_scenes FOLDER COUNT FIRST\n", stderr);
    return 2;
  }
  const long first = std::atol(arguments[3]), end = first + std::atol(arguments[2]);
  for (long seed = first; seed < end; ++seed)
    for (const tangere::SolverType solver :
         {tangere::SolverType::Impulse, tangere::SolverType::Sap})
      tangere::test::write(arguments[1], static_cast<std::uint64_t>(seed), solver);
  return 0;
}
