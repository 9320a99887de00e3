// SPDX-License-Identifier: Apache-2.0
//
// Memory that is handed out in order and given back all at once: one per worker, for everything
// that does not survive a query or a step. Once the blocks have grown to the largest use, nothing
// is asked of the heap any more.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tangere::core {

/// Monotonic allocator. Not thread safe. Debug builds fill what they hand out with 0xFF (NaN for
/// floating-point numbers, -1 for integers), so that reading what was never written shows.
class Arena {
 public:
  /// Nothing is allocated for `initialBytes == 0` until the first use.
  explicit Arena(std::size_t initialBytes = 0);

  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` at a multiple of `alignment` (a power of two), valid until reset() or a rewind()
  /// before it. Never null, also for zero bytes. Throws std::bad_alloc when the heap is exhausted.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);

  /// `count` objects, not initialized; nothing will be destroyed.
  template <class T>
  [[nodiscard]] std::span<T> allocateArray(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>,
                  "an arena runs no destructor");
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return {static_cast<T*>(allocate(count * sizeof(T), alignof(T))), count};
  }

  /// A place to return to; see rewind().
  struct Mark {
    std::size_t block = 0;
    std::size_t offset = 0;
  };
  [[nodiscard]] Mark mark() const { return {current_, offset_}; }

  /// Gives back everything allocated since `mark`. Marks nest like a stack.
  void rewind(Mark mark);

  /// Gives back everything and keeps the memory.
  void reset() { rewind({}); }

  /// Bytes held from the heap; constant in the steady state.
  [[nodiscard]] std::size_t capacity() const;
  [[nodiscard]] std::size_t numBlocks() const { return blocks_.size(); }

 private:
  struct Release {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte[], Release> memory;
    std::size_t size = 0;
  };

  /// Where an allocation would begin in the block, or beyond its size.
  [[nodiscard]] static std::size_t alignedOffset(const Block& block, std::size_t offset,
                                                 std::size_t alignment);
  void addBlock(std::size_t atLeast);

  std::vector<Block> blocks_;
  std::size_t current_ = 0;  // index of the block in use
  std::size_t offset_ = 0;   // first free byte in it
};

/// Gives back what was allocated since its construction.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace tangere::core
