// SPDX-License-Identifier: Apache-2.0
//
// With the patch cache the contacts of a stack do not flicker.
#include "sim/checked_simulation.hpp"

#include <map>

namespace tangere::test {
namespace {

/// Eight towers of eight boxes, none quite straight.
Scene stack64(bool hasCache) {
  Scene scene;
  scene.options.sleep.enabled = false;
  scene.options.patchCache.enabled = hasCache;
  scene.bodies = {floorOf()};
  for (int tower = 0; tower < 8; ++tower)
    for (int i = 0; i < 8; ++i) {
      scene.bodies.push_back(bodyOf(named("box", 100 + 8 * tower + i), cube(0.1),
                                    {0.5 * tower + 0.004 * (i % 3), 0.003 * (i % 2), 0.1 + 0.2 * i},
                                    turnAbout({0, 0, 1}, 0.1 * i)));
    }
  return scene;
}

/// How often the contacts that the solver sees come, go or jump: counted by a cache of its own that
/// remembers nothing.
std::uint64_t churnOf(bool hasCache, int steps) {
  Simulator sim(stack64(hasCache).build());
  ContactPatchCache observer(
      {.enabled = true, .maxSeparationFrames = 0, .allowNegativeDepth = true});
  std::vector<PairContact> contacts;
  std::vector<Transform> poses(static_cast<std::size_t>(sim.model().numShapes()));
  for (int i = 0; i < steps; ++i) {
    for (std::size_t s = 0; s < poses.size(); ++s)
      poses[s] = sim.body(sim.model().bodyOfShape(static_cast<int>(s))).pose;
    sim.step();
    contacts.clear();
    for (const ContactForce& c : sim.contacts()) {
      contacts.push_back({static_cast<ObjectId>(c.shape1),
                          static_cast<ObjectId>(c.shape2),
                          {.position = c.position, .normal = c.normal, .depth = c.depth}});
    }
    observer.update(contacts, poses);
    if (i == 50) observer.resetChurn();  // they have come down
  }
  return observer.churn().rawTotal();
}

TEST(Churn, OfAStackOf64BoxesFallsByHalfWithTheCache) {
  const std::uint64_t with = churnOf(true, 1000), without = churnOf(false, 1000);
  EXPECT_LE(2 * with, without) << with << " with, " << without << " without";
  EXPECT_GT(without, 0u);
}

TEST(Churn, APointThatComesBackWithinTheSeparationFramesWasNeverGone) {
  Simulator sim(stack64(true).build());
  sim.step(500);
  const int frames = sim.model().options().patchCache.maxSeparationFrames;
  // A patch that goes must not come back within the frames it could have been kept for.
  std::map<PairKey, std::uint64_t> goneAt;
  std::map<PairKey, bool> present;
  int flickers = 0;
  for (int i = 0; i < 1000; ++i) {
    sim.step();
    std::map<PairKey, bool> now;
    for (const ContactPatch& patch : sim.state().patches.patches()) now[patch.key] = true;
    for (const auto& [key, was] : present)
      if (!now.contains(key)) goneAt[key] = sim.state().step;
    for (const auto& [key, is] : now) {
      if (present.contains(key) || !goneAt.contains(key)) continue;
      if (sim.state().step - goneAt[key] < static_cast<std::uint64_t>(frames)) ++flickers;
    }
    present = now;
  }
  EXPECT_EQ(flickers, 0);
}

TEST(Churn, TheStackStandsAsWellWithAndWithoutTheCache) {
  for (const bool hasCache : {true, false}) {
    CheckedSimulation run(stack64(hasCache));
    run.run(1000);
    for (int i = 0; i < 64; ++i) {
      const Vec3 p = run.position(named("box", 100 + i));
      EXPECT_NEAR(p.z, 0.1 + 0.2 * (i % 8), 3e-3) << i << " " << hasCache;
      EXPECT_LT(std::fabs(p.y), 0.01) << i << " " << hasCache;
    }
  }
}

}  // namespace
}  // namespace tangere::test
