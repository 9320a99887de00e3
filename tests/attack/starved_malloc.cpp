// SPDX-License-Identifier: Apache-2.0
//
// The heap of the program under attack: the allocation number TANGERE_FAIL_AT after the start of
// main fails, with TANGERE_FAIL_ON all later ones as well. It stands in front of the one of the C
// library for the whole program, HDF5 included. With TANGERE_COUNT the number of allocations is the
// last line on stderr.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<long> numAllocations = 0;
long failAt = 0;
bool isArmed = false, failsOn = false;

bool fails() {
  if (!isArmed) return false;
  const long number = ++numAllocations;
  if (failAt <= 0 || (failsOn ? number < failAt : number != failAt)) return false;
  errno = ENOMEM;
  return true;
}

// After the constructors of the libraries, which nobody could tell what to do without memory.
[[gnu::constructor(65535)]] void arm() {
  const char* number = std::getenv("TANGERE_FAIL_AT");
  failAt = number == nullptr ? 0 : std::atol(number);
  failsOn = std::getenv("TANGERE_FAIL_ON") != nullptr;
  isArmed = true;
}

[[gnu::destructor]] void tell() {
  isArmed = false;
  if (std::getenv("TANGERE_COUNT") != nullptr)
    std::fprintf(stderr, "allocations: %ld\n", numAllocations.load());
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return fails() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  return fails() ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  void* made = fails() ? nullptr : __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
}
