// SPDX-License-Identifier: Apache-2.0
//
// The same bits: for any number of threads, order of creation, host program and after a restart.
#include "sim/random_scene.hpp"

#include <cfenv>
#include <thread>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tangere::test {
namespace {

/// A pile of everything in a tray, large enough for several chunks of pairs and a large island.
Scene mixedPile(int count) {
  Scene scene;
  scene.options.dt = 0.004;
  scene.materials = {{.name = "hard", .friction = 0.4, .restitution = 0.3},
                     {.name = "soft", .density = 300, .friction = 0.8, .torsionalFriction = 0.01}};
  scene.bodies = {floorOf("hard")};
  for (int i = 0; i < 4; ++i) {
    const Real a = 0.9 * (i % 2 == 0 ? 1 : -1);
    scene.bodies.push_back(fixedOf(named("wall", i), i < 2 ? box(0.05, 1, 1) : box(1, 0.05, 1),
                                   i < 2 ? Vec3{a, 0, 1} : Vec3{0, a, 1}, Mat3::identity(),
                                   "hard"));
  }
  Random random(42);
  for (int i = 0; i < count; ++i) {
    std::shared_ptr<const Shape> shape = randomShape(0.12, random);
    const Vec3 place{random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), 0.2 + 0.05 * i};
    const Mat3 turn = random.rotation();
    scene.bodies.push_back(bodyOf(named("body", 1000 + i), std::move(shape), place, turn,
                                  i % 2 == 0 ? "hard" : "soft"));
  }
  return scene;
}

std::uint64_t hashAfter(const Scene& scene, int steps, int numThreads = 1) {
  Simulator sim(scene.build(), numThreads);
  sim.step(steps);
  return sim.state().hash();
}

TEST(SimDeterminism, AThousandStepsGiveTheSameBitsForAnyNumberOfThreads) {
  const Scene scene = mixedPile(40);
  const std::uint64_t expected = hashAfter(scene, 1000, 1);
  for (const int threads : {2, 4, 8})
    EXPECT_EQ(hashAfter(scene, 1000, threads), expected) << threads;
}

/// Boxes that fall upon each other, enough for every loop of a step to be shared among threads.
Scene manyBoxes() {
  Scene scene;
  scene.options.dt = 0.004;
  scene.materials = {{.name = "hard", .friction = 0.4, .restitution = 0.3}};
  scene.bodies = {floorOf("hard")};
  Random random(7);
  for (int i = 0; i < 343; ++i) {
    const Vec3 place{0.21 * (i % 7), 0.21 * (i / 7 % 7), 0.11 + 0.21 * (i / 49)};
    const Mat3 turn = i % 3 == 0 ? random.rotation() : Mat3::identity();
    scene.bodies.push_back(
        bodyOf(named("body", 1000 + i), box(0.1, 0.1, 0.1), place, turn, "hard"));
  }
  scene.bodies.back().linearVelocity = {0, 0, -60};  // foreseen, and stopped at its own time
  return scene;
}

TEST(SimDeterminism, ALargePileGivesTheSameBitsForAnyNumberOfThreads) {
  const Model model = manyBoxes().build();
  Simulator alone(model, 1);
  alone.step(100);
  ASSERT_GT(alone.state().patches.patches().size(), 256u);  // or nothing was shared
  ASSERT_GT(alone.report().numContacts, 512);
  for (const int threads : {2, 3, 8}) {
    Simulator sim(model, threads);
    sim.step(100);
    EXPECT_EQ(sim.state().hash(), alone.state().hash()) << threads;
    EXPECT_EQ(sim.state().patches.churn(), alone.state().patches.churn()) << threads;
    EXPECT_EQ(sim.report().maxDepth, alone.report().maxDepth) << threads;
    EXPECT_EQ(sim.energySum().contactNormal, alone.energySum().contactNormal) << threads;
    EXPECT_EQ(sim.energySum().residual, alone.energySum().residual) << threads;
  }
}

TEST(SimDeterminism, MoreThreadsThanCoresGiveTheSameBits) {
  const Scene scene = mixedPile(15);
  const std::uint64_t expected = hashAfter(scene, 60);
  for (const int threads : {64, 300}) EXPECT_EQ(hashAfter(scene, 60, threads), expected) << threads;
}

TEST(SimDeterminism, ACacheThatIsFullDropsNothingAndStaysDeterministic) {
  Scene scene = mixedPile(20);
  scene.options.patchCache.maxPairs = 10;
  const std::uint64_t expected = hashAfter(scene, 300);
  EXPECT_EQ(hashAfter(scene, 300, 4), expected);
  CheckedSimulation run(scene);
  run.run(300);
  EXPECT_GT(run.sim.report().numContacts, 20) << "more than the cache may keep";
  EXPECT_EQ(run.sim.state().hash(), expected);
}

TEST(SimDeterminism, WorldsOnTheirOwnThreadsDoNotDisturbEachOther) {
  const Model model = mixedPile(15).build();
  Simulator reference(model);
  reference.step(150);
  std::vector<std::uint64_t> hashes(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    threads.emplace_back([&, i] {
      Simulator sim(model, 1 + static_cast<int>(i % 2));
      sim.step(150);
      hashes[i] = sim.state().hash();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, reference.state().hash());
}

TEST(SimDeterminism, RepeatedRunsAndResetsGiveTheSameBits) {
  const Scene scene = mixedPile(20);
  Simulator sim(scene.build());
  sim.step(300);
  const std::uint64_t expected = sim.state().hash();
  sim.reset();
  sim.step(300);
  EXPECT_EQ(sim.state().hash(), expected);
  EXPECT_EQ(hashAfter(scene, 300), expected);
}

TEST(SimDeterminism, TheOrderOfCreationDoesNotMatter) {
  Scene scene = mixedPile(20);
  const std::uint64_t model = scene.build().hash();
  const std::uint64_t expected = hashAfter(scene, 300);
  Random random(9);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = scene.bodies.size(); i > 1; --i)
      std::swap(scene.bodies[i - 1],
                scene.bodies[static_cast<std::size_t>(random.index(static_cast<int>(i)))]);
    std::swap(scene.materials[0], scene.materials[1]);
    EXPECT_EQ(scene.build().hash(), model);
    EXPECT_EQ(hashAfter(scene, 300), expected) << round;
  }
}

TEST(SimDeterminism, ASavedStateContinuesToTheSameBits) {
  for (const int at : {0, 1, 50, 150, 299}) {
    const Model model = mixedPile(20).build();
    Simulator straight(model);
    straight.step(at);
    const std::vector<std::byte> bytes = straight.state().save(model);
    straight.step(300 - at);
    Simulator resumed(model, 3);
    resumed.step(7);  // whatever was there before
    resumed.setState(State::load(model, bytes));
    resumed.step(300 - at);
    EXPECT_EQ(resumed.state().hash(), straight.state().hash()) << at;
  }
}

TEST(SimDeterminism, ASleepingPileContinuesToTheSameBitsAfterALoad) {
  Scene scene;
  scene.bodies = {floorOf()};
  for (int i = 0; i < 5; ++i)
    scene.bodies.push_back(bodyOf(named("cube", i), cube(0.1), {0.5 * i, 0, 0.1}));
  scene.bodies.push_back(bodyOf("ball", ball(0.1), {-4, 0, 0.1}));
  scene.bodies.back().linearVelocity = {2, 0, 0};
  const Model model = scene.build();
  Simulator straight(model);
  straight.step(600);
  ASSERT_EQ(straight.state().isAsleep[1], 1);
  const std::vector<std::byte> bytes = straight.state().save(model);
  straight.step(2000);
  Simulator resumed(model);
  resumed.setState(State::load(model, bytes));
  resumed.step(2000);
  EXPECT_EQ(resumed.state().hash(), straight.state().hash());
}

TEST(SimDeterminism, DamagedBytesAreRefused) {
  const Model model = mixedPile(3).build();
  Simulator sim(model);
  sim.step(100);
  const std::vector<std::byte> bytes = sim.state().save(model);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::vector<std::byte> damaged = bytes;
    damaged[i] ^= std::byte{0x10};
    try {
      const State state = State::load(model, damaged);
      EXPECT_EQ(state.hash(), sim.state().hash()) << "only what is not hashed may differ: " << i;
    } catch (const InvalidInput&) {
    }
  }
  for (std::size_t length = 0; length < bytes.size(); length += 11) {
    EXPECT_THROW((void)State::load(model, std::span(bytes).first(length)), InvalidInput);
  }
  EXPECT_THROW((void)State::load(mixedPile(4).build(), bytes), InvalidInput);
}

TEST(SimDeterminism, TheHostsRoundingModeDoesNotMatterAndIsGivenBack) {
  const Scene scene = mixedPile(15);
  const std::uint64_t expected = hashAfter(scene, 200);
  const Model model = scene.build();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const int threads : {1, 4}) {
      Simulator sim(model, threads);
      std::fesetround(mode);
      for (int i = 0; i < 200; ++i) sim.step();
      const int after = std::fegetround();
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(after, mode);
      EXPECT_EQ(sim.state().hash(), expected) << mode << " with " << threads << " threads";
    }
  }
}

#if defined(__SSE2__)
TEST(SimDeterminism, FlushingSubnormalsByTheHostDoesNotMatterAndIsGivenBack) {
  const Scene scene = mixedPile(15);
  const std::uint64_t expected = hashAfter(scene, 200);
  const Model model = scene.build();
  const unsigned before = _mm_getcsr();
  const unsigned flushing = before | 0x8040u;
  for (const int threads : {1, 4}) {
    _mm_setcsr(flushing);
    Simulator sim(model, threads);  // its threads begin with the host's setting
    for (int i = 0; i < 200; ++i) sim.step();
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & 0x8040u, 0x8040u);
    EXPECT_EQ(sim.state().hash(), expected) << threads;
  }
}
#endif

}  // namespace
}  // namespace tangere::test
