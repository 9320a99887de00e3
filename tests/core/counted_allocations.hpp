// SPDX-License-Identifier: Apache-2.0
//
// Counts what a whole test program asks of the heap, to show that a warm call asks for nothing. For
// the one source file of the program.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace tangere::test {

inline std::atomic<long> numAllocations{0};

}  // namespace tangere::test

// Not inlined: gcc then takes malloc and operator delete for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  tangere::test::numAllocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  tangere::test::numAllocations.fetch_add(1, std::memory_order_relaxed);
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  tangere::test::numAllocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
