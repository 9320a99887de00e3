// SPDX-License-Identifier: Apache-2.0
//
// Threads that run one function side by side. Each makes the same decisions
// from the same numbers; they divide the loops between them and meet after
// each, which costs one message between cores.
#pragma once

#include "core/parallel_for.hpp"
#include "core/spin_wait.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tangere::solver {

class Team {
 public:
  /// Calls function(team) on this thread and on those of the pool that come at
  /// once; each has a Team of its own. It may run on this thread alone: the
  /// others are busy, or the call comes from inside the pool. The function must
  /// not throw once it has started a loop. One thread calls prepare() first, in
  /// which time the others wake up; what it wrote they all see.
  template <class Prepare, class Function>
  static void run(core::ThreadPool* pool, Prepare&& prepare, Function&& function) {
    Meeting meeting;
    core::parallelFor(pool, pool->numThreads(), 1, [&](std::int64_t chunk, std::int64_t) {
      const int index = chunk == 0 ? 0 : meeting.enter();
      if (index < 0) return;
      if (chunk == 0) {
        try {
          prepare();
        } catch (...) {
          meeting.callOff();
          throw;
        }
        meeting.begin(pool->numThreads());
      }
      const int size = meeting.awaitBegin();
      if (size == 0) return;
      Team team(&meeting, index, size);
      function(&team);
    });
  }
  template <class Function>
  static void run(core::ThreadPool* pool, Function&& function) {
    run(
        pool, [] {}, function);
  }

  [[nodiscard]] bool isLeader() const { return index_ == 0; }
  /// Counts the loops: results of one loop may be read until the next but one.
  [[nodiscard]] std::uint64_t numLoops() const { return num_loops_; }

  /// body(item) for every item in [0, count), in no order, and returns when all
  /// are done. Every thread does its own part of the items, the same one in
  /// each loop of that count: it finds in its cache what it left there.
  template <class Body>
  void forEach(int count, const Body& body) {
    const std::int64_t n = count;
    for (std::int64_t i = n * index_ / size_; i < n * (index_ + 1) / size_; ++i) {
      body(static_cast<int>(i));
    }
    meet();
  }
  /// body() on one thread; the others wait.
  template <class Body>
  void once(const Body& body) {
    if (isLeader()) body();
    meet();
  }

 private:
  static constexpr int kMaxSize = 32;

  struct Meeting {
    static constexpr std::uint32_t kBegun = 1u << 31, kCalledOff = 1u << 30;
    struct alignas(64) Mark {
      std::atomic<std::uint64_t> numLoops{0};
    };

    std::atomic<std::uint32_t> entered{1};  // the leader, and who came
    std::array<Mark, kMaxSize> marks;

    /// Returns the index, or -1 when it has begun.
    int enter() {
      std::uint32_t count = entered.load(std::memory_order_acquire);
      while ((count & kBegun) == 0 && count < kMaxSize) {
        if (entered.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) {
          return static_cast<int>(count);
        }
      }
      return -1;
    }
    /// A thread that is awake is here within a microsecond.
    void begin(int numThreads) {
      constexpr int kPatience = 100;
      const auto all = static_cast<std::uint32_t>(std::min(numThreads, kMaxSize));
      for (int i = 0; i < kPatience && entered.load(std::memory_order_acquire) < all; ++i) {
        core::pauseBriefly(i);
      }
      entered.fetch_or(kBegun, std::memory_order_acq_rel);
    }
    void callOff() { entered.fetch_or(kBegun | kCalledOff, std::memory_order_acq_rel); }
    /// Returns how many came; 0: it was called off.
    int awaitBegin() {
      std::uint32_t count = 0;
      for (int spins = 0; (count & kBegun) == 0; ++spins) {
        count = entered.load(std::memory_order_acquire);
        core::pauseBriefly(spins);
      }
      return (count & kCalledOff) != 0 ? 0 : static_cast<int>(count & ~kBegun);
    }
  };

  Team(Meeting* meeting, int index, int size) : meeting_(meeting), index_(index), size_(size) {}

  void meet() {
    ++num_loops_;
    if (size_ == 1) return;
    meeting_->marks[index_].numLoops.store(num_loops_, std::memory_order_release);
    for (int i = 0; i < size_; ++i) {
      for (int spins = 0; meeting_->marks[i].numLoops.load(std::memory_order_acquire) < num_loops_;
           ++spins) {
        core::pauseBriefly(spins);
      }
    }
  }

  Meeting* meeting_;
  int index_, size_;
  std::uint64_t num_loops_ = 0;
};

}  // namespace tangere::solver
