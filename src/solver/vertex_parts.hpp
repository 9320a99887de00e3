// SPDX-License-Identifier: Apache-2.0
//
// Vertices divided by place into parts of about equal numbers: halves across the longest side,
// again and again. A function of the positions alone.
#pragma once

#include <tangere/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

class VertexParts {
 public:
  void clear();
  /// Divides these vertices, numbered on from those added before, into parts of at most `maxSize`.
  /// Positions that are not finite divide them somehow.
  void add(std::span<const Vec3> positions, int maxSize);
  /// The same without positions: consecutive vertices.
  void addConsecutive(int numVertices, int maxSize);

  [[nodiscard]] int numParts() const { return static_cast<int>(begin_.size()) - 1; }
  [[nodiscard]] std::int32_t partOf(int vertex) const { return part_[vertex]; }
  /// Ascending.
  [[nodiscard]] std::span<const std::int32_t> vertices(int part) const {
    return {order_.data() + begin_[part], order_.data() + begin_[part + 1]};
  }

 private:
  void divide(std::span<const Vec3> positions, std::int32_t first, std::int32_t begin,
              std::int32_t end, int maxSize);
  void close(std::int32_t begin, std::int32_t end);

  std::vector<std::int32_t> order_, part_, begin_{0};
};

}  // namespace tangere::solver
