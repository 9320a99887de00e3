// SPDX-License-Identifier: Apache-2.0
#include "solver/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tangere::solver {
namespace {

TEST(Team, EveryItemOfEveryLoopRunsOnceAndLoopsFollowEachOther) {
  for (const int numThreads : {1, 2, 4, 8}) {
    core::ThreadPool pool(numThreads);
    std::vector<int> counts(1000, 0);
    int numLoops = 0;
    Team::run(&pool, [&](Team* team) {
      for (int loop = 0; loop < 300; ++loop) {
        const int size = loop % 7 == 0 ? loop % 3 : 1 + loop * 3;
        // Each loop needs what the one before it wrote, in the other order.
        team->forEach(size, [&](int i) {
          const int item = loop % 2 == 0 ? i : size - 1 - i;
          if (counts[item] <= loop) ++counts[item];
        });
        team->once([&] { ++numLoops; });
      }
    });
    EXPECT_EQ(numLoops, 300);
    int total = 0, expected = 0;
    for (const int count : counts) total += count;
    for (int loop = 0; loop < 300; ++loop) expected += loop % 7 == 0 ? loop % 3 : 1 + loop * 3;
    EXPECT_EQ(total, expected) << numThreads;
  }
}

TEST(Team, EveryThreadSeesWhatAllWroteInTheLoopBefore) {
  core::ThreadPool pool(4);
  std::vector<int> values(100, 0);
  std::atomic<int> numWrong{0};
  Team::run(&pool, [&](Team* team) {
    for (int loop = 1; loop <= 200; ++loop) {
      team->forEach(100, [&](int i) { values[i] = loop; });
      int sum = 0;
      for (const int value : values) sum += value;
      if (sum != 100 * loop) numWrong.fetch_add(1);
      team->once([] {});  // until all have read
    }
  });
  EXPECT_EQ(numWrong.load(), 0);
}

TEST(Team, ACallFromInsideThePoolRunsAlone) {
  core::ThreadPool pool(4);
  std::vector<int> sums(8, 0);
  core::parallelFor(&pool, 8, 1, [&](std::int64_t begin, std::int64_t) {
    Team::run(&pool, [&](Team* team) {
      EXPECT_TRUE(team->isLeader());
      for (int loop = 0; loop < 10; ++loop) {
        std::vector<int> parts(50, 0);
        team->forEach(50, [&](int i) { parts[i] = i; });
        for (const int part : parts) sums[begin] += part;
      }
    });
  });
  for (const int sum : sums) EXPECT_EQ(sum, 10 * 49 * 50 / 2);
}

TEST(Team, AnExceptionOfTheFunctionReachesTheCaller) {
  core::ThreadPool pool(4);
  EXPECT_THROW(Team::run(&pool, [&](Team*) { throw 7; }), int);
}

TEST(Team, AllSeeWhatWasPrepared) {
  core::ThreadPool pool(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<int> prepared;
    std::atomic<int> numRight{0}, numThreads{0};
    Team::run(
        &pool, [&] { prepared.assign(100, repeat); },
        [&](Team* team) {
          ++numThreads;
          if (prepared.size() == 100 && prepared.back() == repeat) ++numRight;
          team->forEach(4, [](int) {});
        });
    EXPECT_EQ(numRight, numThreads);
    EXPECT_GE(numThreads, 1);
  }
}

TEST(Team, APreparationThatThrowsCallsItOff) {
  core::ThreadPool pool(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    bool isCalled = false;
    EXPECT_THROW(
        Team::run(
            &pool, [] { throw std::runtime_error("no memory"); }, [&](Team*) { isCalled = true; }),
        std::runtime_error);
    EXPECT_FALSE(isCalled);
  }
}

}  // namespace
}  // namespace tangere::solver
