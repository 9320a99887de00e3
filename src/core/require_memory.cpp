// SPDX-License-Identifier: Apache-2.0
#include "core/require_memory.hpp"

#include <cstdlib>
#include <new>

namespace tangere::core {

void requireMemory(std::size_t bytes) {
  void* volatile memory = std::malloc(bytes);  // volatile: not left out because nobody uses it
  if (memory == nullptr) throw std::bad_alloc();
  std::free(memory);
}

}  // namespace tangere::core
