// SPDX-License-Identifier: Apache-2.0
//
// The heap of the program under attack: the allocation number TANGERE_FAIL_AT after the start of
// main fails, with TANGERE_FAIL_ON all later ones as well. With TANGERE_COUNT the number of
// allocations is the last line on stderr.
//
// HDF5 and SUNDIALS do not survive the loss of an allocation of their own and offer no other heap.
// Theirs do not fail here: the program asks for what they need before it calls them, and what comes
// of that is seen with a limit on its memory.
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

// With those that they call, the C library's copies of texts among them.
constexpr const char* kSpared[] = {"libhdf5", "libsundials", "libz.", "libsz.", "libaec", "libc."};

struct Range {
  std::size_t begin = 0, end = 0;
};

std::array<Range, 64> spared;
std::size_t numSpared = 0;
std::atomic<long> numAllocations = 0;
long failAt = 0;
bool isArmed = false, failsOn = false;

int spareLibrary(dl_phdr_info* info, std::size_t, void*) {
  const auto isNamed = [&](const char* part) {
    return std::strstr(info->dlpi_name, part) != nullptr;
  };
  if (!std::any_of(std::begin(kSpared), std::end(kSpared), isNamed)) return 0;
  for (int i = 0; i < info->dlpi_phnum && numSpared < spared.size(); ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::size_t begin = info->dlpi_addr + segment.p_vaddr;
    spared[numSpared++] = {begin, begin + segment.p_memsz};
  }
  return 0;
}

bool fails(const void* caller) {
  if (!isArmed) return false;
  const auto address = reinterpret_cast<std::size_t>(caller);
  for (std::size_t i = 0; i < numSpared; ++i)
    if (address >= spared[i].begin && address < spared[i].end) return false;
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
  dl_iterate_phdr(spareLibrary, nullptr);
  isArmed = true;
}

[[gnu::destructor]] void tell() {
  isArmed = false;
  if (std::getenv("TANGERE_COUNT") != nullptr)
    std::fprintf(stderr, "allocations: %ld\n", numAllocations.load());
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  void* made = __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
}
