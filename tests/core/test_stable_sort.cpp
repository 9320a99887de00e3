// SPDX-License-Identifier: Apache-2.0
#include "core/stable_sort.hpp"

#include "core/stable_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tangere::core {
namespace {

struct Record {
  std::uint64_t key = 0;
  std::uint32_t position = 0;  // before sorting
  bool operator==(const Record&) const = default;
};

std::uint64_t keyOf(const Record& record) { return record.key; }

/// Sorts both ways and compares, the positions of equal keys included.
void expectSorted(const std::vector<std::uint64_t>& keys, const char* what) {
  std::vector<Record> records;
  for (const std::uint64_t key : keys) {
    records.push_back({key, static_cast<std::uint32_t>(records.size())});
  }
  std::vector<Record> expected = records;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Record& a, const Record& b) { return a.key < b.key; });
  std::vector<Record> scratch;
  stableSortByKey(records, scratch, keyOf);
  EXPECT_TRUE(records == expected) << what << ", " << keys.size() << " keys";
}

TEST(StableSort, AgreesWithTheStandardStableSortForEverySizeAndKindOfKey) {
  std::uint64_t state = 1;
  const auto random = [&state] { return StableHash::mixBits(state += 0x9e3779b97f4a7c15u); };
  for (const std::size_t count : {0u, 1u, 2u, 3u, 10u, 47u, 48u, 49u, 100u, 255u, 256u, 1000u,
                                  1023u, 1024u, 1025u, 5000u, 70000u}) {
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) key = random();
    expectSorted(keys, "any 64 bits");
    for (auto& key : keys) key = (random() % 5000) << 32 | random() % 5000;
    expectSorted(keys, "pairs of ids");
    for (auto& key : keys) key = random() % 7;
    expectSorted(keys, "many equal keys");
    for (auto& key : keys) key = random() & 0x8000000000000001u;
    expectSorted(keys, "first and last bit");
    for (auto& key : keys) key = 42;
    expectSorted(keys, "all equal");
    for (std::size_t i = 0; i < count; ++i) keys[i] = i;
    expectSorted(keys, "ascending");
    std::reverse(keys.begin(), keys.end());
    expectSorted(keys, "descending");
    for (std::size_t i = 0; i < count; ++i) keys[i] = i;
    if (count > 1) std::swap(keys.front(), keys.back());
    expectSorted(keys, "ascending but for two");
    for (auto& key : keys) key = std::uint64_t{1} << (random() % 64);
    expectSorted(keys, "powers of two");
  }
}

TEST(StableSort, WorksInBorrowedMemory) {
  std::vector<KeyedIndex> records;
  for (std::uint32_t i = 0; i < 3000; ++i) records.push_back({(3000 - i) / 10, i});
  std::vector<KeyedIndex> scratch(3000);
  stableSortByKey(std::span(records), std::span(scratch));
  for (std::size_t i = 1; i < records.size(); ++i) {
    ASSERT_LE(records[i - 1].key, records[i].key);
    if (records[i - 1].key == records[i].key) {
      ASSERT_LT(records[i - 1].index, records[i].index);
    }
  }
}

TEST(OrderedKey, KeepsTheOrderOfDoubles) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double ascending[] = {-kInfinity, -1e300, -1.0, -1e-300, -5e-324, -0.0,
                              0.0,        5e-324, 1e-9, 1.0,     1e300,   kInfinity};
  for (std::size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(orderedKey(ascending[i - 1]), orderedKey(ascending[i])) << i;
  }
}

}  // namespace
}  // namespace tangere::core
