// SPDX-License-Identifier: Apache-2.0
//
// Properties of random scenes: no step throws, hangs, leaves a number that is not finite, opens the
// ledger or makes energy.
//
//   test_sim_random_scenes                               200 scenes
//   TANGERE_RANDOM_SCENES=10000 test_sim_random_scenes   as many as wanted
//   TANGERE_RANDOM_FIRST=4711                            beginning with that seed
#include "sim/random_scene.hpp"

#include <chrono>
#include <cstdlib>

namespace tangere::test {
namespace {

long fromEnvironment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

TEST(RandomScenes, KeepWhatEveryStepMustKeep) {
  const long count = fromEnvironment("TANGERE_RANDOM_SCENES", 200);
  const long first = fromEnvironment("TANGERE_RANDOM_FIRST", 1);
  for (long seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("TANGERE_RANDOM_SCENES=1 TANGERE_RANDOM_FIRST=" + std::to_string(seed));
    const Scene scene = randomScene(static_cast<std::uint64_t>(seed));
    Random random(static_cast<std::uint64_t>(seed) + 77);
    CheckedSimulation run(scene);
    const int steps = 50 + random.index(151);
    const auto begin = std::chrono::steady_clock::now();
    run.run(steps, [&] {
      if (random.index(10) == 0) {
        const int body = random.index(run.sim.model().numBodies());
        const Real weight = run.sim.model().massProperties(body).mass * kGravity;
        run.sim.applyForce(body, random.vector(3 * weight));
      }
      for (const ContactForce& contact : run.sim.contacts()) {
        EXPECT_TRUE(std::isfinite(norm(contact.force)));
        EXPECT_NEAR(norm(contact.normal), 1, 1e-9);
      }
    });
    const Real seconds =
        std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_LT(seconds, 60) << "a hang";
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tangere::test
