// SPDX-License-Identifier: Apache-2.0
//
// A 64-bit hash of values, not of memory: the same on every machine, compiler and run, so that a
// golden value can be committed. Numbers enter as their little-endian bit patterns widened to 64
// bits; -0 counts as +0; a NaN has no stable meaning and is rejected with InvalidInput. Types
// with padding or pointers are not accepted: feed their fields one by one.
#pragma once

#include <tangere/types.hpp>

#include "core/assert.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace tangere::core {

/// Hash of the sequence of added values; the order and the number of additions matter. Cost: two
/// multiplications a value.
class StableHash {
 public:
  StableHash() = default;
  explicit StableHash(std::uint64_t seed) : state_(kStart ^ mixBits(seed)) {}

  void add(double value) {
    TANGERE_REQUIRE(!(value != value), "a NaN has no stable hash", count_);
    addWord(std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value));
  }

  /// Not the hash of the same number as a double: the type is part of a result.
  void add(float value) {
    TANGERE_REQUIRE(!(value != value), "a NaN has no stable hash", count_);
    addWord(std::bit_cast<std::uint32_t>(value == 0.0f ? 0.0f : value));
  }

  /// Signed values are sign-extended: -1 hashes the same whatever its width.
  template <std::integral T>
  void add(T value) {
    if constexpr (std::is_signed_v<T>) {
      addWord(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    } else {
      addWord(static_cast<std::uint64_t>(value));
    }
  }

  template <class T>
  requires std::is_enum_v<T>
  void add(T value) { add(static_cast<std::underlying_type_t<T>>(value)); }

  template <class S>
  void add(const Vec3T<S>& v) {
    add(v.x);
    add(v.y);
    add(v.z);
  }

  template <class S>
  void add(const Mat3T<S>& m) {
    for (const Vec3T<S>& column : m.col) add(column);
  }

  template <class S>
  void add(const QuatT<S>& q) {
    add(q.w);
    add(q.x);
    add(q.y);
    add(q.z);
  }

  template <class S>
  void add(const TransformT<S>& X) {
    add(X.rotation);
    add(X.translation);
  }

  template <class S>
  void add(const AabbT<S>& box) {
    add(box.lower);
    add(box.upper);
  }

  /// The length and then the elements, so that {1}{2, 3} and {1, 2}{3} differ.
  template <class T, std::size_t N>
  void add(std::span<T, N> values) {
    addWord(values.size());
    for (const T& value : values) add(value);
  }

  /// The length and then the bytes, eight to a word.
  void add(std::string_view text) {
    addWord(text.size());
    for (std::size_t i = 0; i < text.size(); i += 8) {
      std::uint64_t word = 0;
      for (std::size_t k = 0; k < 8 && i + k < text.size(); ++k) {
        word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i + k])) << (8 * k);
      }
      addWord(word);
    }
  }

  /// A pointer changes from run to run.
  void add(const void* pointer) = delete;

  [[nodiscard]] std::uint64_t value() const { return mixBits(state_ ^ count_); }

  /// Every bit of the word reaches every bit of the result (the finalizer of SplitMix64).
  [[nodiscard]] static constexpr std::uint64_t mixBits(std::uint64_t word) {
    word ^= word >> 30;
    word *= 0xbf58476d1ce4e5b9u;
    word ^= word >> 27;
    word *= 0x94d049bb133111ebu;
    return word ^ (word >> 31);
  }

 private:
  static constexpr std::uint64_t kStart = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio

  void addWord(std::uint64_t word) {
    state_ = std::rotl(state_ ^ mixBits(word + kStart), 27) * 0x9fb21c651e98df25u + kStart;
    ++count_;
  }

  std::uint64_t state_ = kStart;
  std::uint64_t count_ = 0;
};

/// Hash of a long array as a fixed binary tree over leaves of kHashLeafSize values: a device or
/// several threads can find the same value. Different from StableHash of the same values.
inline constexpr std::size_t kHashLeafSize = 1024;

template <class T>
[[nodiscard]] std::uint64_t stableTreeHash(std::span<const T> values) {
  if (values.size() <= kHashLeafSize) {
    StableHash leaf;
    leaf.add(values);
    return leaf.value();
  }
  const std::size_t leaves = (values.size() + kHashLeafSize - 1) / kHashLeafSize;
  const std::size_t left = std::bit_ceil(leaves) / 2 * kHashLeafSize;
  StableHash node(values.size());
  node.add(stableTreeHash(values.first(left)));
  node.add(stableTreeHash(values.subspan(left)));
  return node.value();
}

}  // namespace tangere::core
