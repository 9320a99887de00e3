// SPDX-License-Identifier: Apache-2.0
//
// Stable sort of small records by a 64-bit key: equal keys keep their order, so the result is a
// function of the input sequence alone. Allocates nothing; the caller lends a scratch array of the
// same size. Sorted input costs one pass. Otherwise a least-significant-digit radix sort over
// those bits only in which the keys differ: pairs of ids below 2048 take two passes.
#pragma once

#include "core/assert.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tangere::core {

/// Up to this many values an insertion sort beats the counters of a radix pass.
inline constexpr std::size_t kInsertionSortLimit = 48;

/// The record to sort when the values themselves are large or live elsewhere.
struct KeyedIndex {
  std::uint64_t key = 0;
  std::uint32_t index = 0;
};

/// Insertion sort of `values` by key(value).
template <class T, class Key>
void insertionSortByKey(std::span<T> values, const Key& key) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const T value = values[i];
    const std::uint64_t valueKey = key(value);
    std::size_t k = i;
    for (; k > 0 && valueKey < key(values[k - 1]); --k) values[k] = values[k - 1];
    values[k] = value;
  }
}

/// One stable counting pass by the `kBits` bits of the key from `shift` on.
template <int kBits, class T, class Key>
void radixPass(std::span<const T> from, std::span<T> to, int shift, const Key& key) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  std::array<std::uint32_t, std::size_t{1} << kBits> next{};
  for (const T& value : from) ++next[(key(value) >> shift) & kMask];
  std::uint32_t sum = 0;
  for (std::uint32_t& count : next) sum += std::exchange(count, sum);
  for (const T& value : from) to[next[(key(value) >> shift) & kMask]++] = value;
}

/// Sorts `values` by key(value), a std::uint64_t, ascending. `scratch` is at least as long and
/// does not overlap; its content afterwards is unspecified.
template <class T, class Key>
void stableSortByKey(std::span<T> values, std::span<T> scratch, const Key& key) {
  static_assert(std::is_trivially_copyable_v<T>);
  TANGERE_ASSERT(scratch.size() >= values.size() && values.size() <= 0xffffffffu);
  const std::size_t count = values.size();
  if (count < 2) return;

  const std::uint64_t first = key(values[0]);
  std::uint64_t previous = first;
  std::uint64_t differing = 0;
  bool isSorted = true;
  for (const T& value : values) {
    const std::uint64_t present = key(value);
    differing |= present ^ first;
    isSorted = isSorted && previous <= present;
    previous = present;
  }
  if (isSorted) return;
  if (count <= kInsertionSortLimit) return insertionSortByKey(values, key);

  std::span<T> from = values;
  std::span<T> to = scratch.first(count);
  // Few values would spend more time on 2048 counters than on moving.
  const int bits = count < 512 ? 8 : 11;
  while (differing != 0) {
    const int shift = std::countr_zero(differing);
    if (bits == 8) {
      radixPass<8>(std::span<const T>(from), to, shift, key);
    } else {
      radixPass<11>(std::span<const T>(from), to, shift, key);
    }
    std::swap(from, to);
    differing = shift + bits >= 64 ? 0 : (differing >> (shift + bits)) << (shift + bits);
  }
  if (from.data() != values.data()) {
    std::memcpy(values.data(), from.data(), count * sizeof(T));
  }
}

/// The same with a scratch array that grows as needed and can be kept.
template <class T, class Key>
void stableSortByKey(std::vector<T>& values, std::vector<T>& scratch, const Key& key) {
  if (scratch.size() < values.size()) scratch.resize(values.size());
  stableSortByKey(std::span<T>(values), std::span<T>(scratch), key);
}

/// Sorts (key, index) records by key.
inline void stableSortByKey(std::span<KeyedIndex> values, std::span<KeyedIndex> scratch) {
  stableSortByKey(values, scratch, [](const KeyedIndex& record) { return record.key; });
}

/// Maps a double to a key of the same order: -inf < ... < -0 < +0 < ... < +inf. A NaN goes to one
/// of the ends, by its sign bit.
[[nodiscard]] inline std::uint64_t orderedKey(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  return (bits >> 63) != 0 ? ~bits : bits | 0x8000000000000000u;
}

}  // namespace tangere::core
