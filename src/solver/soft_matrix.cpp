// SPDX-License-Identifier: Apache-2.0
#include "solver/soft_matrix.hpp"

#include "core/stable_sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tangere::solver {

void SoftMatrix::setPattern(std::span<const math::BlockCsr* const> bodies,
                            std::span<VertexGroup> groups, std::span<const std::int32_t> vertices) {
  bodies_.assign(bodies.begin(), bodies.end());
  first_row_.clear();
  body_of_row_.clear();
  first_row_.push_back(0);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    first_row_.push_back(first_row_.back() + bodies[b]->numRows());
    body_of_row_.resize(static_cast<std::size_t>(first_row_.back()), static_cast<std::int32_t>(b));
  }
  findMissing(groups, vertices);
  mergeRows();
  findSlots(groups, vertices);
}

/// Pairs that constraints join and A does not, ascending.
void SoftMatrix::findMissing(std::span<const VertexGroup> groups,
                             std::span<const std::int32_t> vertices) {
  missing_.clear();
  for (const VertexGroup& group : groups) {
    for (std::int32_t i = 0; i < group.count; ++i) {
      for (std::int32_t k = 0; k < i; ++k) {
        const std::int32_t a = vertices[group.first + i], b = vertices[group.first + k];
        const std::int32_t body = body_of_row_[a], start = first_row_[body];
        if (body == body_of_row_[b] && bodies_[body]->find(a - start, b - start) >= 0) continue;
        missing_.push_back(std::uint64_t(a) << 32 | std::uint64_t(b));
        missing_.push_back(std::uint64_t(b) << 32 | std::uint64_t(a));
      }
    }
  }
  core::stableSortByKey(missing_, scratch_, [](std::uint64_t key) { return key; });
  missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
}

void SoftMatrix::mergeRows() {
  const int numRows = first_row_.back();
  matrix_.rowBegin.resize(static_cast<std::size_t>(numRows) + 1);
  matrix_.rowBegin[0] = 0;
  matrix_.diagonal.resize(static_cast<std::size_t>(numRows));
  matrix_.column.clear();
  place_.clear();
  std::size_t next = 0;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const math::BlockCsr& a = *bodies_[b];
    const std::int32_t start = first_row_[b];
    for (int i = 0; i < a.numRows(); ++i) {
      const std::int32_t row = start + i;
      const auto addMissingBelow = [&](std::int32_t column) {
        for (; next < missing_.size() && std::int32_t(missing_[next] >> 32) == row &&
               std::int32_t(missing_[next] & 0xffffffffu) < column;
             ++next) {
          matrix_.column.push_back(std::int32_t(missing_[next] & 0xffffffffu));
        }
      };
      for (std::int32_t k = a.rowBegin[i]; k < a.rowBegin[i + 1]; ++k) {
        const std::int32_t column = start + a.column[k];
        addMissingBelow(column);
        const auto place = static_cast<std::int32_t>(matrix_.column.size());
        if (column == row) matrix_.diagonal[row] = place;
        place_.push_back(place);
        matrix_.column.push_back(column);
      }
      addMissingBelow(numRows);
      matrix_.rowBegin[row + 1] = static_cast<std::int32_t>(matrix_.column.size());
    }
  }
  if (missing_.empty()) place_.clear();
  matrix_.values.resize(matrix_.column.size() * 9);
}

void SoftMatrix::findSlots(std::span<VertexGroup> groups, std::span<const std::int32_t> vertices) {
  slots_.clear();
  for (VertexGroup& group : groups) {
    group.slots = static_cast<std::int64_t>(slots_.size());
    for (std::int32_t i = 0; i < group.count; ++i) {
      for (std::int32_t k = 0; k < group.count; ++k) {
        slots_.push_back(matrix_.find(vertices[group.first + i], vertices[group.first + k]));
      }
    }
  }
}

void SoftMatrix::multiplyFour(int begin, int end, const Real* x, Real* y) const {
  using Four = Real __attribute__((vector_size(4 * sizeof(Real))));
  for (int i = begin; i < end; ++i) {
    Four sums[3] = {};
    for (std::int32_t t = matrix_.rowBegin[i]; t < matrix_.rowBegin[i + 1]; ++t) {
      const Real* const b = matrix_.block(t);
      Four own[3];
      std::memcpy(own, x + 12 * matrix_.column[t], sizeof own);
      for (int r = 0; r < 3; ++r) {
        sums[r] += b[3 * r] * own[0] + b[3 * r + 1] * own[1] + b[3 * r + 2] * own[2];
      }
    }
    std::memcpy(y + 12 * i, sums, sizeof sums);
  }
}

void SoftMatrix::setA() {
  if (place_.empty()) {
    Real* to = matrix_.values.data();
    for (const math::BlockCsr* a : bodies_) to = std::copy(a->values.begin(), a->values.end(), to);
    return;
  }
  std::fill(matrix_.values.begin(), matrix_.values.end(), Real(0));
  const std::int32_t* place = place_.data();
  for (const math::BlockCsr* a : bodies_) {
    for (int k = 0; k < a->numBlocks(); ++k) std::copy_n(a->block(k), 9, matrix_.block(*place++));
  }
}

void SoftMatrix::add(const VertexGroup& group, int numRows, const Real* jacobian,
                     const Real* product) {
  const int columns = 3 * group.count;
  const std::int32_t* const slots = slots_.data() + group.slots;
  for (int i = 0; i < group.count; ++i) {
    for (int k = 0; k <= i; ++k) {
      Real block[9] = {};
      for (int m = 0; m < numRows; ++m) {
        const Real* const j = jacobian + m * columns + 3 * i;
        const Real* const p = product + m * columns + 3 * k;
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) block[3 * r + c] += j[r] * p[c];
        }
      }
      Real* const lower = matrix_.block(slots[i * group.count + k]);
      for (int e = 0; e < 9; ++e) lower[e] += block[e];
      if (k == i) continue;
      Real* const upper = matrix_.block(slots[k * group.count + i]);
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) upper[3 * c + r] += block[3 * r + c];
      }
    }
  }
}

}  // namespace tangere::solver
