// SPDX-License-Identifier: Apache-2.0
//
// Reductions over index order as one fixed binary tree: neighbours are combined pairwise level by
// level, an odd last value moves up unchanged. The tree depends on the count alone, so a loop,
// several threads (core/parallel_for.hpp) and a device find the same bits. For a sum it is also
// the accurate way: the error grows with log2(n) instead of n.
#pragma once

#include <tangere/config.hpp>

#include <cstdint>
#include <span>

namespace tangere::core {

/// The root of the tree over get(0) ... get(count - 1); `empty` when there are none.
template <class T, class Get, class Combine>
[[nodiscard]] TANGERE_HD T treeReduce(std::int64_t count, T empty, Get get, Combine combine) {
  if (count <= 0) return empty;
  // Finished subtrees, largest first; subtree k of them covers 2^k values. Adding a value merges
  // equal sizes as adding one carries in a binary counter.
  T finished[64];
  int depth = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    T value = get(i);
    for (std::int64_t carry = i; (carry & 1) != 0; carry >>= 1) {
      value = combine(finished[--depth], value);
    }
    finished[depth++] = value;
  }
  T root = finished[--depth];
  while (depth > 0) root = combine(finished[--depth], root);
  return root;
}

/// Zero for no values.
template <class S>
[[nodiscard]] S treeSum(std::span<const S> values) {
  return treeReduce(
      static_cast<std::int64_t>(values.size()), S(0), [&](std::int64_t i) { return values[i]; },
      [](S a, S b) { return a + b; });
}

/// Of equal values the first; `empty` for no values.
template <class S>
[[nodiscard]] S treeMin(std::span<const S> values, S empty) {
  return treeReduce(
      static_cast<std::int64_t>(values.size()), empty, [&](std::int64_t i) { return values[i]; },
      [](S a, S b) { return b < a ? b : a; });
}

/// Of equal values the first; `empty` for no values.
template <class S>
[[nodiscard]] S treeMax(std::span<const S> values, S empty) {
  return treeReduce(
      static_cast<std::int64_t>(values.size()), empty, [&](std::int64_t i) { return values[i]; },
      [](S a, S b) { return a < b ? b : a; });
}

}  // namespace tangere::core
