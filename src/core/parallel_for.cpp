// SPDX-License-Identifier: Apache-2.0
#include "core/parallel_for.hpp"

#include "core/assert.hpp"

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

}  // namespace

struct ThreadPool::Shared {
  // One run() at a time; a chunk's own run() never takes it.
  std::mutex runMutex;

  // The job, written under `mutex` while no worker is in it.
  ChunkFunction function;
  std::int64_t numChunks = 0;
  std::atomic<std::int64_t> nextChunk{0};
  std::atomic<std::int64_t> failedChunk{kNoChunk};  // the lowest that threw so far

  std::mutex mutex;
  std::condition_variable workReady;
  std::condition_variable workDone;
  std::uint64_t generation = 0;  // counts jobs
  int numBusy = 0;               // workers that have not finished the job
  bool isStopping = false;
  std::exception_ptr failure;  // of failedChunk

  std::vector<std::jthread> threads;  // last: they must end before what they use

  // Here and not in ~ThreadPool: a constructor that fails to start its last thread must still end
  // the first ones.
  ~Shared();

  void work(int worker);
  void serve(int worker);
  void recordFailure(std::int64_t chunk);
};

ThreadPool::ThreadPool(int numThreads) : shared_(std::make_unique<Shared>()) {
  TANGERE_REQUIRE(numThreads >= 1, "a thread pool has at least the calling thread", numThreads);
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
  const bool isAlone = shared.threads.empty() || numChunks == 1;
  {
    const std::lock_guard lock(shared.mutex);
    shared.function = function;
    shared.numChunks = numChunks;
    shared.nextChunk.store(0, std::memory_order_relaxed);
    shared.failedChunk.store(kNoChunk, std::memory_order_relaxed);
    shared.failure = nullptr;
    if (!isAlone) {
      ++shared.generation;
      shared.numBusy = static_cast<int>(shared.threads.size());
    }
  }
  if (!isAlone) shared.workReady.notify_all();
  shared.work(0);

  std::unique_lock lock(shared.mutex);
  shared.workDone.wait(lock, [&] { return shared.numBusy == 0; });
  if (shared.failure) {
    const std::exception_ptr failure = std::exchange(shared.failure, nullptr);
    lock.unlock();
    std::rethrow_exception(failure);
  }
}

int ThreadPool::hardwareThreads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::Shared::~Shared() {
  {
    const std::lock_guard lock(mutex);
    isStopping = true;
  }
  workReady.notify_all();
}

/// Takes chunks in ascending order until none is left, or only such as lie above one that threw:
/// everything below it has been taken by then, so the lowest failure is always found.
void ThreadPool::Shared::work(int worker) {
  const Inside outside = std::exchange(tInside, Inside{this, worker});
  for (;;) {
    const std::int64_t chunk = nextChunk.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= numChunks || chunk > failedChunk.load(std::memory_order_relaxed)) break;
    try {
      function.call(function.context, chunk, worker);
    } catch (...) {
      recordFailure(chunk);
    }
  }
  tInside = outside;
}

void ThreadPool::Shared::serve(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex);
      workReady.wait(lock, [&] { return isStopping || generation != seen; });
      if (isStopping) return;
      seen = generation;
    }
    work(worker);
    bool isLast = false;
    {
      const std::lock_guard lock(mutex);
      isLast = --numBusy == 0;
    }
    if (isLast) workDone.notify_one();
  }
}

void ThreadPool::Shared::recordFailure(std::int64_t chunk) {
  const std::lock_guard lock(mutex);
  if (chunk < failedChunk.load(std::memory_order_relaxed)) {
    failedChunk.store(chunk, std::memory_order_relaxed);
    failure = std::current_exception();
  }
}

}  // namespace tangere::core
