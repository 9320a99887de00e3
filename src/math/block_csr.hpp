// SPDX-License-Identifier: Apache-2.0
//
// A symmetric matrix of 3x3 blocks, all of them stored, row after row: what tetrahedra make of the
// vertices of a soft body.
#pragma once

#include <tangere/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::math {

struct BlockCsr {
  std::vector<std::int32_t> rowBegin{0};  ///< numRows + 1
  std::vector<std::int32_t> column;       ///< ascending in each row; the diagonal is always there
  std::vector<std::int32_t> diagonal;     ///< index of the diagonal block of each row
  std::vector<Real> values;               ///< nine for each block, row major

  [[nodiscard]] int numRows() const { return static_cast<int>(rowBegin.size()) - 1; }
  [[nodiscard]] int numBlocks() const { return static_cast<int>(column.size()); }
  [[nodiscard]] Real* block(int index) { return values.data() + std::size_t{9} * index; }
  [[nodiscard]] const Real* block(int index) const {
    return values.data() + std::size_t{9} * index;
  }

  /// Index of the block (row, col); -1 when it is not in the pattern.
  [[nodiscard]] int find(int row, int col) const {
    const auto begin = column.begin() + rowBegin[row], end = column.begin() + rowBegin[row + 1];
    const auto at = std::lower_bound(begin, end, col);
    return at != end && *at == col ? static_cast<int>(at - column.begin()) : -1;
  }

  /// y = A x; 3 numRows numbers each.
  void multiply(const Real* x, Real* y) const { multiplyRows(0, numRows(), x, y); }
  void multiplyRows(int begin, int end, const Real* x, Real* y) const {
    for (int i = begin; i < end; ++i) {
      Real s0 = 0, s1 = 0, s2 = 0;
      for (int k = rowBegin[i]; k < rowBegin[i + 1]; ++k) {
        const Real* const b = block(k);
        const Real* const xk = x + 3 * column[k];
        s0 += b[0] * xk[0] + b[1] * xk[1] + b[2] * xk[2];
        s1 += b[3] * xk[0] + b[4] * xk[1] + b[5] * xk[2];
        s2 += b[6] * xk[0] + b[7] * xk[1] + b[8] * xk[2];
      }
      y[3 * i] = s0;
      y[3 * i + 1] = s1;
      y[3 * i + 2] = s2;
    }
  }

  /// The pattern in which every two vertices of one cell (tetrahedron, ...) meet; values are zero.
  template <std::size_t kSize>
  static BlockCsr fromCells(int numVertices,
                            std::span<const std::array<std::int32_t, kSize>> cells) {
    std::vector<std::uint64_t> pairs;
    pairs.reserve(cells.size() * kSize * kSize + static_cast<std::size_t>(numVertices));
    for (int i = 0; i < numVertices; ++i)
      pairs.push_back(std::uint64_t(i) << 32 | std::uint64_t(i));
    for (const auto& cell : cells) {
      for (const std::int32_t a : cell) {
        for (const std::int32_t b : cell)
          pairs.push_back(std::uint64_t(a) << 32 | std::uint64_t(b));
      }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    BlockCsr out;
    out.rowBegin.assign(static_cast<std::size_t>(numVertices) + 1, 0);
    out.column.reserve(pairs.size());
    out.diagonal.resize(static_cast<std::size_t>(numVertices));
    for (const std::uint64_t pair : pairs) {
      const auto row = static_cast<std::int32_t>(pair >> 32);
      const auto col = static_cast<std::int32_t>(pair & 0xffffffffu);
      if (row == col) out.diagonal[row] = static_cast<std::int32_t>(out.column.size());
      out.column.push_back(col);
      out.rowBegin[row + 1] = static_cast<std::int32_t>(out.column.size());
    }
    out.values.assign(out.column.size() * 9, 0);
    return out;
  }
};

}  // namespace tangere::math
