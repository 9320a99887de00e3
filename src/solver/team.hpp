// SPDX-License-Identifier: Apache-2.0
//
// Many short loops on one pool. The threads of the pool are woken once, for a
// whole function; the loops it starts then cost a fraction of a microsecond
// instead of a wake-up each.
#pragma once

#include "core/parallel_for.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace tangere::solver {

class Team {
 public:
  /// Runs `function(team)` once while the other threads of `pool` wait for its
  /// loops. A thread that comes late, or never (a call from inside the pool),
  /// is not waited for.
  template <class Function>
  static void run(core::ThreadPool* pool, Function&& function) {
    Team team;
    core::parallelFor(pool, pool->numThreads(), 1, [&](std::int64_t begin, std::int64_t) {
      if (begin > 0) return team.help();
      struct End {
        Team* team;
        ~End() { team->is_over_.store(true, std::memory_order_release); }
      } end{&team};
      function(&team);
    });
  }

  /// body(item) for every item in [0, count), count < 2^20, in no order;
  /// returns when all are done. Only `function` may start loops, one at a time.
  template <class Body>
  void forEach(int count, Body&& body) {
    if (count <= 1) {
      if (count == 1) body(0);
      return;
    }
    context_ = &body;
    call_ = [](void* context, int item) {
      (*static_cast<std::remove_reference_t<Body>*>(context))(item);
    };
    num_done_.store(0, std::memory_order_relaxed);
    const std::uint64_t loop = (word_.load(std::memory_order_relaxed) >> kLoopShift) + 1;
    word_.store(loop << kLoopShift | std::uint64_t(count) << kCountShift,
                std::memory_order_release);
    while (takeOne()) {
    }
    for (int spins = 0; num_done_.load(std::memory_order_acquire) < count; ++spins) pause(spins);
  }

 private:
  // One word holds the loop, the number of its items and the next of them, so
  // that an item is taken from the loop that is on, or not at all.
  static constexpr int kCountShift = 20, kLoopShift = 40;
  static constexpr std::uint64_t kCountMask = (std::uint64_t(1) << 20) - 1;

  bool takeOne() {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t next = word & kCountMask;
      if (next >= (word >> kCountShift & kCountMask)) return false;
      if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        call_(context_, static_cast<int>(next));
        num_done_.fetch_add(1, std::memory_order_release);
        return true;
      }
    }
  }

  void help() {
    for (int spins = 0; !is_over_.load(std::memory_order_acquire); ++spins) {
      if (takeOne()) {
        spins = 0;
      } else {
        pause(spins);
      }
    }
  }

  /// Spinning is for gaps of a few microseconds; beyond, a thread without a
  /// core of its own must let the others work.
  static void pause(int spins) {
    if (spins > 500) return std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  alignas(64) std::atomic<std::uint64_t> word_{0};
  alignas(64) std::atomic<int> num_done_{0};
  alignas(64) std::atomic<bool> is_over_{false};
  void* context_ = nullptr;
  void (*call_)(void* context, int item) = nullptr;
};

}  // namespace tangere::solver
