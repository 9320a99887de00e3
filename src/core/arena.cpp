// SPDX-License-Identifier: Apache-2.0
#include "core/arena.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace tangere::core {
namespace {

constexpr std::align_val_t kBlockAlignment{64};  // a cache line
constexpr std::size_t kFirstBlockSize = 4096;

}  // namespace

Arena::Arena(std::size_t initialBytes) {
  if (initialBytes > 0) addBlock(initialBytes);
}

void* Arena::allocate(std::size_t bytes, std::size_t alignment) {
  TANGERE_ASSERT(std::has_single_bit(alignment));
  for (;; ++current_, offset_ = 0) {
    if (current_ == blocks_.size()) {
      if (bytes > static_cast<std::size_t>(-1) - alignment) throw std::bad_alloc();
      addBlock(bytes + alignment);
    }
    const Block& block = blocks_[current_];
    const std::size_t begin = alignedOffset(block, offset_, alignment);
    if (begin <= block.size && bytes <= block.size - begin) {
      std::byte* memory = block.memory.get() + begin;
      offset_ = begin + bytes;
#ifndef NDEBUG
      std::memset(memory, 0xFF, bytes);
#endif
      return memory;
    }
  }
}

void Arena::rewind(Mark mark) {
  TANGERE_ASSERT(mark.block < current_ || (mark.block == current_ && mark.offset <= offset_));
#ifndef NDEBUG  // what was given back must not look valid any more
  for (std::size_t i = mark.block; i <= current_ && i < blocks_.size(); ++i) {
    const std::size_t begin = i == mark.block ? mark.offset : 0;
    const std::size_t end = i == current_ ? offset_ : blocks_[i].size;
    std::memset(blocks_[i].memory.get() + begin, 0xFF, end - begin);
  }
#endif
  current_ = mark.block;
  offset_ = mark.offset;
}

std::size_t Arena::capacity() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

void Arena::Release::operator()(std::byte* memory) const {
  ::operator delete[](memory, kBlockAlignment);
}

std::size_t Arena::alignedOffset(const Block& block, std::size_t offset, std::size_t alignment) {
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(block.memory.get());
  const std::uintptr_t aligned = (start + offset + alignment - 1) & ~(alignment - 1);
  return static_cast<std::size_t>(aligned - start);
}

void Arena::addBlock(std::size_t atLeast) {
  const std::size_t doubled = blocks_.empty() ? kFirstBlockSize : 2 * blocks_.back().size;
  const std::size_t size = std::max(atLeast, doubled);
  Block block;
  block.memory.reset(static_cast<std::byte*>(::operator new[](size, kBlockAlignment)));
  block.size = size;
  blocks_.push_back(std::move(block));
}

}  // namespace tangere::core
