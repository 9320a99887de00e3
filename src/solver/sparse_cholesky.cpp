// SPDX-License-Identifier: Apache-2.0
#include "solver/sparse_cholesky.hpp"

#include "core/stable_sort.hpp"

#include <algorithm>
#include <cstddef>

namespace tangere::solver {
namespace {

/// Of one part: rows long enough for the loops, few zeros taken along.
constexpr int kPartVertices = 8;

}  // namespace

void SparseCholesky::setPattern(const math::BlockCsr& pattern, std::span<const Vec3> positions) {
  const int n = pattern.numRows();
  parts_.clear();
  if (positions.empty()) {
    parts_.addConsecutive(n, kPartVertices);
  } else {
    parts_.add(positions, kPartVertices);
  }
  sizes_.clear();
  first_.assign(1, 0);
  within_.resize(static_cast<std::size_t>(n));
  for (int part = 0; part < parts_.numParts(); ++part) {
    std::int32_t count = 0;
    for (const std::int32_t i : parts_.vertices(part)) {
      within_[i] = count;
      count += 3;
    }
    sizes_.push_back(count);
    first_.push_back(first_.back() + count);
  }
  const auto keyOf = [&](int i, int j) {
    const std::int32_t a = parts_.partOf(i), b = parts_.partOf(j);
    return BlockSparse::edgeKey(std::min(a, b), std::max(a, b));
  };
  edges_.clear();
  for (int i = 0; i < n; ++i) {
    for (std::int32_t t = pattern.rowBegin[i]; t < pattern.diagonal[i]; ++t) {
      const int j = pattern.column[t];
      if (parts_.partOf(i) != parts_.partOf(j)) edges_.push_back(keyOf(i, j));
    }
  }
  core::stableSortByKey(edges_, scratch_, [](std::uint64_t key) { return key; });
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  place_.clear();
  for (int i = 0; i < n; ++i) {
    for (std::int32_t t = pattern.rowBegin[i]; t < pattern.diagonal[i]; ++t) {
      const int j = pattern.column[t];
      const bool isInside = parts_.partOf(i) == parts_.partOf(j);
      place_.push_back(isInside ? -1
                                : static_cast<std::int32_t>(
                                      std::lower_bound(edges_.begin(), edges_.end(), keyOf(i, j)) -
                                      edges_.begin()));
    }
  }
  u_.setPattern(sizes_, edges_);
  x_.resize(static_cast<std::size_t>(3 * n));
}

int SparseCholesky::factor(const math::BlockCsr& s, core::ThreadPool* pool) {
  u_.setZero();
  Real* const values = u_.values();
  const std::int32_t* place = place_.data();
  const auto write = [&](const Real* block, const BlockPlace& at, int row, int column,
                         bool isTransposed) {
    Real* const to = values + at.offset + row * std::int64_t{at.stride} + column;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        to[r * std::int64_t{at.stride} + c] = isTransposed ? block[3 * c + r] : block[3 * r + c];
      }
    }
  };
  for (int i = 0; i < s.numRows(); ++i) {
    const std::int32_t own = parts_.partOf(i);
    write(s.block(s.diagonal[i]), u_.diagonalPlace(own), within_[i], within_[i], false);
    for (std::int32_t t = s.rowBegin[i]; t < s.diagonal[i]; ++t) {
      const int j = s.column[t];
      const std::int32_t edge = *place++;
      if (edge < 0) {  // j < i: the upper triangle has it transposed
        write(s.block(t), u_.diagonalPlace(own), within_[j], within_[i], true);
        continue;
      }
      const BlockPlace& kept = u_.edgePlace(edge);
      const bool isFirst = (own < parts_.partOf(j)) != kept.isTransposed;
      write(s.block(t), kept, isFirst ? within_[i] : within_[j], isFirst ? within_[j] : within_[i],
            !isFirst);
    }
  }
  return u_.factor(pool);
}

void SparseCholesky::solve(const Real* r, Real* z) {
  const int n = static_cast<int>(within_.size());
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) x_[first_[parts_.partOf(i)] + within_[i] + k] = r[3 * i + k];
  }
  u_.solve(x_.data());
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) z[3 * i + k] = x_[first_[parts_.partOf(i)] + within_[i] + k];
  }
}

}  // namespace tangere::solver
