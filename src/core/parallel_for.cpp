// SPDX-License-Identifier: Apache-2.0
#include "core/parallel_for.hpp"

#include "core/assert.hpp"
#include "core/spin_wait.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace tangere::core {
namespace {

/// Which chunk of which pool this thread is in.
struct Inside {
  const void* pool = nullptr;
  int worker = 0;
};
thread_local Inside tInside;

constexpr std::int64_t kNoChunk = std::numeric_limits<std::int64_t>::max();

// The gate of a pool in one word: how many workers are inside the job, whether more may enter, and
// which job it is. A worker enters the job it saw, or none.
constexpr std::uint64_t kInsideMask = (std::uint64_t(1) << 16) - 1;
constexpr std::uint64_t kOpen = std::uint64_t(1) << 16;
constexpr int kJobShift = 17;

}  // namespace

struct ThreadPool::Shared {
  // One run() at a time; a chunk's own run() never takes it.
  std::mutex runMutex;

  // The job, written while the gate is closed and nobody is inside.
  ChunkFunction function;
  std::exception_ptr failure;  // of failedChunk
  std::mutex failureMutex;
  std::atomic<std::int64_t> failedChunk{kNoChunk};  // the lowest that threw so far
  alignas(64) std::atomic<std::uint64_t> gate{0};

  // Every thread begins with its own part of the chunks, the same one in each loop of that many, so
  // that it finds in its cache what it left there; then it takes what is left of the others'.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  std::vector<Share> shares;

  // Who waits in vain for long goes to sleep.
  std::mutex sleepMutex;
  std::condition_variable wakeUp;
  std::atomic<int> numAsleep{0};
  std::atomic<bool> isStopping{false};

  std::vector<std::jthread> threads;  // last: they must end before what they use

  // Here and not in ~ThreadPool: a constructor that fails to start its last thread must still end
  // the first ones.
  ~Shared();

  void work(int worker);
  void serve(int worker);
  template <class Condition>
  void waitUntil(const Condition& holds);
  void wakeAll();
  void recordFailure(std::int64_t chunk);
};

ThreadPool::ThreadPool(int numThreads) : shared_(std::make_unique<Shared>()) {
  TANGERE_REQUIRE(numThreads >= 1, "a thread pool has at least the calling thread", numThreads);
  shared_->shares = std::vector<Shared::Share>(static_cast<std::size_t>(numThreads));
  shared_->threads.reserve(static_cast<std::size_t>(numThreads - 1));
  for (int worker = 1; worker < numThreads; ++worker) {
    shared_->threads.emplace_back([shared = shared_.get(), worker] { shared->serve(worker); });
  }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::numThreads() const { return static_cast<int>(shared_->threads.size()) + 1; }

void ThreadPool::run(std::int64_t numChunks, ChunkFunction function) {
  if (numChunks <= 0) return;
  Shared& shared = *shared_;
  if (tInside.pool == &shared) {
    for (std::int64_t chunk = 0; chunk < numChunks; ++chunk) {
      function.call(function.context, chunk, tInside.worker);
    }
    return;
  }

  const std::lock_guard turn(shared.runMutex);
  shared.function = function;
  const auto numShares = static_cast<std::int64_t>(shared.shares.size());
  for (std::int64_t i = 0; i < numShares; ++i) {
    shared.shares[i].next.store(numChunks * i / numShares, std::memory_order_relaxed);
    shared.shares[i].end = numChunks * (i + 1) / numShares;
  }
  shared.failedChunk.store(kNoChunk, std::memory_order_relaxed);
  shared.failure = nullptr;
  if (shared.threads.empty() || numChunks == 1) {
    shared.work(0);
  } else {
    const std::uint64_t job = (shared.gate.load(std::memory_order_relaxed) >> kJobShift) + 1;
    shared.gate.store(job << kJobShift | kOpen);
    if (shared.numAsleep.load() > 0) shared.wakeAll();
    shared.work(0);
    // Who has not come by now is not waited for.
    shared.gate.fetch_and(~kOpen);
    shared.waitUntil([&] { return (shared.gate.load() & kInsideMask) == 0; });
  }
  if (shared.failure) std::rethrow_exception(std::exchange(shared.failure, nullptr));
}

int ThreadPool::hardwareThreads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::Shared::~Shared() {
  isStopping.store(true);
  wakeAll();
}

void ThreadPool::Shared::wakeAll() {
  // Taken and left: who is about to sleep has either seen the news or sleeps by now.
  { const std::lock_guard lock(sleepMutex); }
  wakeUp.notify_all();
}

/// The loops of a step follow each other within microseconds, and waking a thread takes tens of
/// them: so it stays awake for a while, then lets others work, and sleeps at last.
template <class Condition>
void ThreadPool::Shared::waitUntil(const Condition& holds) {
  for (int spins = 0; spins < kMaxSpins; ++spins) {
    if (holds()) return;
    pauseBriefly(spins);
  }
  std::unique_lock lock(sleepMutex);
  numAsleep.fetch_add(1);
  wakeUp.wait(lock, holds);
  numAsleep.fetch_sub(1);
}

/// Of each share chunks are taken in ascending order until none is left, or only such as lie above
/// one that threw: everything below it is taken by somebody, so the lowest failure is always found.
void ThreadPool::Shared::work(int worker) {
  const Inside outside = std::exchange(tInside, Inside{this, worker});
  const std::size_t numShares = shares.size();
  for (std::size_t i = 0; i < numShares; ++i) {
    Share& share = shares[(static_cast<std::size_t>(worker) + i) % numShares];
    for (;;) {
      if (share.next.load(std::memory_order_relaxed) >= share.end) break;
      const std::int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= share.end || chunk > failedChunk.load(std::memory_order_relaxed)) break;
      try {
        function.call(function.context, chunk, worker);
      } catch (...) {
        recordFailure(chunk);
      }
    }
  }
  tInside = outside;
}

void ThreadPool::Shared::serve(int worker) {
  std::uint64_t lastJob = 0;
  for (;;) {
    std::uint64_t word = 0;
    waitUntil([&] {
      word = gate.load();
      return isStopping.load() || ((word & kOpen) != 0 && word >> kJobShift != lastJob);
    });
    if (isStopping.load()) return;
    if (!gate.compare_exchange_strong(word, word + 1)) continue;
    lastJob = word >> kJobShift;
    work(worker);
    // The last to leave may have to wake the caller.
    const std::uint64_t before = gate.fetch_sub(1);
    if ((before & kInsideMask) == 1 && (before & kOpen) == 0 && numAsleep.load() > 0) wakeAll();
  }
}

void ThreadPool::Shared::recordFailure(std::int64_t chunk) {
  const std::lock_guard lock(failureMutex);
  if (chunk < failedChunk.load(std::memory_order_relaxed)) {
    failedChunk.store(chunk, std::memory_order_relaxed);
    failure = std::current_exception();
  }
}

}  // namespace tangere::core
