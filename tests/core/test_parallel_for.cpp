// SPDX-License-Identifier: Apache-2.0
#include "core/parallel_for.hpp"

#include <tangere/error.hpp>

#include "core/elementary.hpp"
#include "core/stable_hash.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tangere::core {
namespace {

constexpr int kThreadCounts[] = {1, 2, 4, 8};

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.numThreads(), threads);
    for (const std::int64_t count : {0, 1, 7, 64, 1000, 10001}) {
      for (const std::int64_t grain : {1, 3, 64, 100000}) {
        std::vector<int> visits(static_cast<std::size_t>(count), 0);
        parallelFor(&pool, count, grain, [&](std::int64_t begin, std::int64_t end) {
          EXPECT_EQ(begin % grain, 0);
          EXPECT_LE(end - begin, grain);
          for (std::int64_t i = begin; i < end; ++i) ++visits[i];
        });
        for (const int n : visits) ASSERT_EQ(n, 1) << count << " " << grain << " " << threads;
      }
    }
  }
}

TEST(ParallelFor, ANullPoolIsAPlainLoop) {
  std::vector<std::int64_t> begins;
  parallelFor(nullptr, 10, 4, [&](std::int64_t begin, std::int64_t) { begins.push_back(begin); });
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 4, 8}));
}

TEST(ParallelFor, OneThreadRunsTheChunksInOrderOnTheCaller) {
  ThreadPool pool(1);
  std::vector<std::int64_t> begins;
  const std::thread::id caller = std::this_thread::get_id();
  parallelFor(&pool, 10, 4, [&](std::int64_t begin, std::int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    begins.push_back(begin);
  });
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 4, 8}));
}

TEST(ParallelFor, ResultBitsDoNotDependOnTheNumberOfThreads) {
  constexpr std::int64_t kCount = 50000;
  std::vector<std::uint64_t> hashes;
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    std::vector<double> values(kCount);
    parallelFor(&pool, kCount, 128, [&](std::int64_t begin, std::int64_t end) {
      double carried = 0.0;  // a chunk may be sequential inside
      for (std::int64_t i = begin; i < end; ++i) {
        carried = sin(carried + 0.1 * static_cast<double>(i));
        values[i] = carried;
      }
    });
    hashes.push_back(stableTreeHash(std::span<const double>(values)));
  }
  for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes.front());
}

TEST(ParallelReduce, GivesTheBitsOfTheSequentialTreeForAnyNumberOfThreads) {
  for (const std::int64_t count : {0, 1, 4095, 4096, 4097, 8192, 50001, 200000}) {
    const auto value = [](std::int64_t i) { return cos(static_cast<double>(i)) * 1e3; };
    const auto add = [](double a, double b) { return a + b; };
    const double sequential = treeReduce(count, 0.0, value, add);
    for (const int threads : kThreadCounts) {
      ThreadPool pool(threads);
      std::vector<double> partials;
      EXPECT_EQ(bitsOf(parallelReduce(&pool, count, 0.0, value, add, &partials)),
                bitsOf(sequential))
          << count << " values, " << threads << " threads";
    }
  }
}

TEST(ParallelFor, NestedLoopsRunOnTheirThreadAndFinish) {
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    std::vector<int> visits(100 * 100, 0);
    parallelForWorker(&pool, 100, 1, [&](std::int64_t outer, std::int64_t, int worker) {
      const std::thread::id here = std::this_thread::get_id();
      parallelForWorker(&pool, 100, 7, [&](std::int64_t begin, std::int64_t end, int inner) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        EXPECT_EQ(inner, worker);
        for (std::int64_t i = begin; i < end; ++i) ++visits[outer * 100 + i];
      });
    });
    for (const int n : visits) ASSERT_EQ(n, 1);
  }
}

TEST(ParallelFor, AnotherPoolMayBeUsedInside) {
  ThreadPool outer(2);
  ThreadPool inner(2);
  std::vector<std::int64_t> sums(20, 0);
  parallelFor(&outer, 20, 1, [&](std::int64_t i, std::int64_t) {
    std::vector<std::int64_t> parts(10, 0);
    parallelFor(&inner, 10, 1, [&](std::int64_t k, std::int64_t) { parts[k] = i * k; });
    for (const std::int64_t part : parts) sums[i] += part;
  });
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(sums[i], 45 * i);
}

TEST(ParallelFor, NoTwoChunksShareAWorkerAtATime) {
  ThreadPool pool(8);
  std::vector<std::atomic<int>> users(8);
  std::vector<std::int64_t> perWorker(8, 0);  // unsynchronized on purpose: a race would show
  parallelForWorker(&pool, 2000, 1, [&](std::int64_t, std::int64_t, int worker) {
    EXPECT_EQ(users[worker].fetch_add(1), 0);
    ++perWorker[worker];
    users[worker].fetch_sub(1);
  });
  std::int64_t sum = 0;
  for (const std::int64_t n : perWorker) sum += n;
  EXPECT_EQ(sum, 2000);
}

TEST(ParallelFor, TheLowestFailingChunkIsTheOneReported) {
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::string message;
      try {
        parallelFor(&pool, 1000, 1, [](std::int64_t i, std::int64_t) {
          if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      ASSERT_EQ(message, "37");
    }
    int calls = 0;  // the pool is whole afterwards
    parallelFor(&pool, 1, 1, [&](std::int64_t, std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 1);
  }
}

TEST(ParallelFor, SeveralCallersTakeTurns) {
  ThreadPool pool(4);
  std::vector<std::jthread> callers;
  std::vector<std::int64_t> sums(4, 0);
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 50; ++round) {
        std::vector<std::int64_t> values(100, 0);
        parallelFor(&pool, 100, 3, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) values[i] = i;
        });
        for (const std::int64_t v : values) sums[c] += v;
      }
    });
  }
  callers.clear();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 50 * 4950);
}

TEST(ThreadPool, NeedsAtLeastOneThread) {
  EXPECT_THROW(ThreadPool(0), InvalidInput);
  EXPECT_THROW(ThreadPool(-3), InvalidInput);
  EXPECT_GE(ThreadPool::hardwareThreads(), 1);
}

TEST(ThreadPool, UnusedPoolsEnd) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace tangere::core
