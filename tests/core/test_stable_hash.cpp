// SPDX-License-Identifier: Apache-2.0
#include "core/stable_hash.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace tangere::core {
namespace {

template <class... Values>
std::uint64_t hashOf(const Values&... values) {
  StableHash hash;
  (hash.add(values), ...);
  return hash.value();
}

TEST(StableHash, MinusZeroIsZero) {
  EXPECT_EQ(hashOf(-0.0), hashOf(0.0));
  EXPECT_EQ(hashOf(-0.0f), hashOf(0.0f));
}

TEST(StableHash, NanIsRejected) {
  StableHash hash;
  EXPECT_THROW(hash.add(std::numeric_limits<double>::quiet_NaN()), InvalidInput);
  EXPECT_THROW(hash.add(-std::numeric_limits<float>::signaling_NaN()), InvalidInput);
  EXPECT_THROW(hash.add(Vec3{0, std::numeric_limits<double>::quiet_NaN(), 0}), InvalidInput);
}

TEST(StableHash, OrderCountAndGroupingMatter) {
  EXPECT_NE(hashOf(1.0, 2.0), hashOf(2.0, 1.0));
  EXPECT_NE(hashOf(0.0), hashOf(0.0, 0.0));
  EXPECT_NE(hashOf(), hashOf(0.0));
  const std::vector<int> one{1}, two{2, 3}, oneTwo{1, 2}, three{3};
  EXPECT_NE(hashOf(std::span(one), std::span(two)), hashOf(std::span(oneTwo), std::span(three)));
  EXPECT_NE(StableHash(1).value(), StableHash(2).value());
}

TEST(StableHash, EveryBitOfADoubleCounts) {
  std::set<std::uint64_t> seen{hashOf(2.75)};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(2.75) ^ (std::uint64_t{1} << bit);
    seen.insert(hashOf(std::bit_cast<double>(bits)));
  }
  EXPECT_EQ(seen.size(), 65u);
}

TEST(StableHash, HalfTheBitsChangeWhenOneInputBitDoes) {
  int flips = 0;
  int trials = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    for (int bit = 0; bit < 64; ++bit) {
      const std::uint64_t a = i * 0x12345678u;
      flips += std::popcount(hashOf(a, i) ^ hashOf(a ^ (std::uint64_t{1} << bit), i));
      ++trials;
    }
  }
  EXPECT_NEAR(static_cast<double>(flips) / trials, 32.0, 0.2);  // 4 sigma of 12800 trials is 0.14
}

TEST(StableHash, WidthOfAnIntegerDoesNotMatterButItsValueDoes) {
  EXPECT_EQ(hashOf(std::int32_t{-5}), hashOf(std::int64_t{-5}));
  EXPECT_EQ(hashOf(std::uint8_t{200}), hashOf(std::uint64_t{200}));
  EXPECT_NE(hashOf(1), hashOf(-1));
}

TEST(StableHash, TypesOfTheLibraryHashAsTheirFieldsInOrder) {
  const Transform X{Mat3{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}, {10, 11, 12}};
  EXPECT_EQ(hashOf(X), hashOf(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0));
  EXPECT_EQ(hashOf(Aabb{{1, 2, 3}, {4, 5, 6}}), hashOf(1.0, 2.0, 3.0, 4.0, 5.0, 6.0));
  EXPECT_EQ(hashOf(Quat{1, 2, 3, 4}), hashOf(1.0, 2.0, 3.0, 4.0));
}

/// Committed values: a change here is a change of every golden hash.
TEST(StableHash, ValuesAreTheSameOnEveryMachine) {
  EXPECT_EQ(hashOf(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hashOf(1.0, -2.5f, 7, std::uint64_t{1} << 63), 0xff0634327f7cfd8bu);
  EXPECT_EQ(hashOf(std::string_view("stable hash")), 0xe34c988537323cccu);
  std::vector<double> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 3;
  EXPECT_EQ(stableTreeHash(std::span<const double>(values)), 0xc8a843f6a18b0705u);
}

TEST(StableTreeHash, DependsOnEveryValueAndOnTheLength) {
  std::vector<double> values(4100, 1.0);
  const std::uint64_t before = stableTreeHash(std::span<const double>(values));
  for (const std::size_t i : {0u, 1023u, 1024u, 2048u, 4095u, 4096u, 4099u}) {
    values[i] = 2.0;
    EXPECT_NE(stableTreeHash(std::span<const double>(values)), before) << i;
    values[i] = 1.0;
  }
  EXPECT_NE(stableTreeHash(std::span<const double>(values).first(4099)), before);
  EXPECT_EQ(stableTreeHash(std::span<const double>(values)), before);
}

}  // namespace
}  // namespace tangere::core
