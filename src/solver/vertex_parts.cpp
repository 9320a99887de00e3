// SPDX-License-Identifier: Apache-2.0
#include "solver/vertex_parts.hpp"

#include "core/stable_sort.hpp"

#include <algorithm>
#include <cstddef>

namespace tangere::solver {

void VertexParts::clear() {
  order_.clear();
  part_.clear();
  begin_.assign(1, 0);
}

void VertexParts::add(std::span<const Vec3> positions, int maxSize) {
  const auto first = static_cast<std::int32_t>(order_.size());
  const auto end = first + static_cast<std::int32_t>(positions.size());
  for (std::int32_t i = first; i < end; ++i) order_.push_back(i);
  part_.resize(order_.size());
  if (first < end) divide(positions, first, first, end, maxSize);
}

void VertexParts::addConsecutive(int numVertices, int maxSize) {
  const auto first = static_cast<std::int32_t>(order_.size());
  const std::int32_t end = first + numVertices;
  for (std::int32_t i = first; i < end; ++i) order_.push_back(i);
  part_.resize(order_.size());
  for (std::int32_t begin = first; begin < end; begin += maxSize) {
    close(begin, std::min(begin + maxSize, end));
  }
}

/// order_[begin, end) of the vertices of `positions`, which are numbered from `first` on.
void VertexParts::divide(std::span<const Vec3> positions, std::int32_t first, std::int32_t begin,
                         std::int32_t end, int maxSize) {
  if (end - begin <= maxSize) return close(begin, end);
  Vec3 low = positions[order_[begin] - first], high = low;
  for (std::int32_t t = begin; t < end; ++t) {
    const Vec3& p = positions[order_[t] - first];
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], p[k]);
      high[k] = std::max(high[k], p[k]);
    }
  }
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  }
  // A total order, so that the two halves are the same whatever the library does within them.
  const std::int32_t middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](std::int32_t a, std::int32_t b) {
                     const std::uint64_t keyA = core::orderedKey(positions[a - first][axis]);
                     const std::uint64_t keyB = core::orderedKey(positions[b - first][axis]);
                     return keyA < keyB || (keyA == keyB && a < b);
                   });
  divide(positions, first, begin, middle, maxSize);
  divide(positions, first, middle, end, maxSize);
}

void VertexParts::close(std::int32_t begin, std::int32_t end) {
  std::sort(order_.begin() + begin, order_.begin() + end);
  const std::int32_t part = numParts();
  for (std::int32_t t = begin; t < end; ++t) part_[order_[t]] = part;
  begin_.push_back(end);
}

}  // namespace tangere::solver
