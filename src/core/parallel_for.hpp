// SPDX-License-Identifier: Apache-2.0
//
// A loop over fixed chunks on a pool of threads that lives as long as its owner. The chunks
// depend on the count and the grain alone, never on the number of threads: a body that writes
// only what belongs to its chunk gives the same result with any number of them.
#pragma once

#include "core/reduce.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tangere::core {

/// A callable by reference, without allocation: call(context, chunk, worker).
struct ChunkFunction {
  void* context = nullptr;
  void (*call)(void* context, std::int64_t chunk, int worker) = nullptr;
};

class ThreadPool {
 public:
  /// `numThreads` counts the calling thread: with 1 there are no others and run() is a plain
  /// loop. Throws InvalidInput for numThreads < 1.
  explicit ThreadPool(int numThreads);
  /// Waits for its threads; no run() may be under way.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int numThreads() const;

  /// Calls the function for every chunk in [0, numChunks), each once, and returns when all are
  /// done. `worker` in [0, numThreads()) is never used by two chunks at a time: it selects a
  /// workspace and must not reach a result.
  ///
  /// From inside a chunk of the same pool the call runs on the calling thread, with its worker
  /// index. Calls from several outside threads take turns. Two pools must not call each other
  /// both ways. When chunks throw, the exception of the lowest of them is rethrown here, whatever
  /// the number of threads; chunks above it may not have run.
  void run(std::int64_t numChunks, ChunkFunction function);

  /// What the machine offers, at least 1.
  [[nodiscard]] static int hardwareThreads();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// body(begin, end, worker) for consecutive ranges of `grain` indices that cover [0, count).
/// `pool` may be null: one thread.
template <class Body>
void parallelForWorker(ThreadPool* pool, std::int64_t count, std::int64_t grain, Body&& body) {
  if (count <= 0) return;
  const std::int64_t step = std::max<std::int64_t>(grain, 1);
  const std::int64_t numChunks = (count - 1) / step + 1;
  auto runChunk = [&](std::int64_t chunk, int worker) {
    const std::int64_t begin = chunk * step;
    body(begin, begin + std::min(step, count - begin), worker);
  };
  if (pool == nullptr) {
    for (std::int64_t chunk = 0; chunk < numChunks; ++chunk) runChunk(chunk, 0);
    return;
  }
  using RunChunk = decltype(runChunk);
  pool->run(numChunks,
            {.context = &runChunk, .call = [](void* context, std::int64_t chunk, int worker) {
               (*static_cast<RunChunk*>(context))(chunk, worker);
             }});
}

/// body(begin, end), as above.
template <class Body>
void parallelFor(ThreadPool* pool, std::int64_t count, std::int64_t grain, Body&& body) {
  parallelForWorker(pool, count, grain,
                    [&](std::int64_t begin, std::int64_t end, int) { body(begin, end); });
}

/// A power of two, so that the chunks of a parallel reduction are subtrees of the whole tree.
inline constexpr std::int64_t kReduceGrain = 4096;

/// treeReduce(count, empty, get, combine), bit for bit, with several threads. `partials` is kept
/// by the caller and grows to count / kReduceGrain values.
template <class T, class Get, class Combine>
[[nodiscard]] T parallelReduce(ThreadPool* pool, std::int64_t count, T empty, const Get& get,
                               const Combine& combine, std::vector<T>* partials) {
  if (count <= kReduceGrain) return treeReduce(count, empty, get, combine);
  const std::int64_t numChunks = (count - 1) / kReduceGrain + 1;
  partials->resize(static_cast<std::size_t>(numChunks));
  T* const out = partials->data();
  parallelFor(pool, count, kReduceGrain, [&](std::int64_t begin, std::int64_t end) {
    out[begin / kReduceGrain] = treeReduce(
        end - begin, empty, [&](std::int64_t i) { return get(begin + i); }, combine);
  });
  return treeReduce(
      numChunks, empty, [&](std::int64_t i) { return out[i]; }, combine);
}

}  // namespace tangere::core
