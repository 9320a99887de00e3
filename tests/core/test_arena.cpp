// SPDX-License-Identifier: Apache-2.0
#include "core/arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace {
std::size_t numHeapAllocations = 0;

void* countedAllocate(std::size_t bytes, std::size_t alignment) {
  ++numHeapAllocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) {
    return memory;
  }
  throw std::bad_alloc();
}
}  // namespace

// Every way to the heap of this program counts. The way back is not inlined: gcc would then see
// memory of operator new in free() and warn, although both are ours.
[[gnu::noinline]] static void release(void* memory) noexcept { std::free(memory); }
void* operator new(std::size_t bytes) { return countedAllocate(bytes, 16); }
void* operator new[](std::size_t bytes) { return countedAllocate(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return countedAllocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return countedAllocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++numHeapAllocations;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace tangere::core {
namespace {

bool isAligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

TEST(Arena, HandsOutAlignedMemoryThatDoesNotOverlap) {
  Arena arena(64);
  const std::byte* previousEnd = nullptr;
  for (const std::size_t alignment : {1u, 2u, 8u, 64u, 4096u, 16u, 1u}) {
    auto* memory = static_cast<std::byte*>(arena.allocate(7, alignment));
    EXPECT_TRUE(isAligned(memory, alignment)) << alignment;
    std::memset(memory, static_cast<int>(alignment & 0x7F), 7);
    if (previousEnd != nullptr && arena.numBlocks() == 1) {
      EXPECT_GE(memory, previousEnd);
    }
    previousEnd = memory + 7;
  }
}

TEST(Arena, ContentSurvivesGrowth) {
  Arena arena;
  const std::span<int> first = arena.allocateArray<int>(100);
  for (int i = 0; i < 100; ++i) first[i] = i;
  for (int k = 0; k < 50; ++k) {
    for (double& x : arena.allocateArray<double>(1000)) x = k;
  }
  EXPECT_GT(arena.numBlocks(), 1u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first[i], i);
}

TEST(Arena, ResetKeepsTheMemoryAndTheSteadyStateNeverTouchesTheHeap) {
  Arena arena;
  const auto useIt = [&arena] {
    for (int i = 1; i < 200; ++i) {
      const std::span<double> values = arena.allocateArray<double>(static_cast<std::size_t>(i * 7));
      values.front() = values.back() = i;
    }
  };
  useIt();
  const std::size_t capacity = arena.capacity();
  const std::size_t heapBefore = numHeapAllocations;
  for (int step = 0; step < 100; ++step) {
    arena.reset();
    useIt();
  }
  EXPECT_EQ(numHeapAllocations, heapBefore);
  EXPECT_EQ(arena.capacity(), capacity);
}

TEST(Arena, EqualUseGivesEqualAddressesAfterReset) {
  Arena arena(1024);
  const void* first = arena.allocate(100, 8);
  (void)arena.allocate(5000, 64);
  arena.reset();
  EXPECT_EQ(arena.allocate(100, 8), first);
}

TEST(Arena, RewindGivesBackWhatCameAfterTheMark) {
  Arena arena(1024);
  const std::span<int> kept = arena.allocateArray<int>(4);
  kept[3] = 42;
  void* inner = nullptr;
  {
    const ArenaScope scope(arena);
    inner = arena.allocate(16, 8);
    (void)arena.allocate(1 << 16, 8);  // into another block and back
  }
  EXPECT_EQ(arena.allocate(16, 8), inner);
  EXPECT_EQ(kept[3], 42);
}

TEST(Arena, ZeroCountIsEmptyAndHugeCountThrows) {
  Arena arena;
  EXPECT_TRUE(arena.allocateArray<double>(0).empty());
  EXPECT_THROW((void)arena.allocateArray<double>(std::numeric_limits<std::size_t>::max() / 4),
               std::bad_alloc);
  EXPECT_THROW((void)arena.allocate(std::numeric_limits<std::size_t>::max() - 3, 8),
               std::bad_alloc);
  EXPECT_EQ(arena.allocateArray<int>(3).size(), 3u);  // still usable
}

TEST(Arena, MovedArenaKeepsItsMemory) {
  Arena arena(256);
  const std::span<int> values = arena.allocateArray<int>(3);
  values[2] = 7;
  const Arena other = std::move(arena);
  EXPECT_EQ(values[2], 7);
  EXPECT_GE(other.capacity(), 256u);
}

#ifndef NDEBUG
TEST(Arena, DebugBuildsFillFreshMemoryWithNan) {
  Arena arena;
  for (const double x : arena.allocateArray<double>(100)) EXPECT_NE(x, x);
}
#endif

}  // namespace
}  // namespace tangere::core
