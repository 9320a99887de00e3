// SPDX-License-Identifier: Apache-2.0
#include "solver/two_level.hpp"

#include "core/stable_sort.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tangere::solver {
namespace {

/// Vertices of a piece: fewer make more pieces, whose solution would cost more than it saves.
constexpr int kPieceVertices = 32;
constexpr int kMaxPieces = 192;
/// A vertex whose diagonal block is so many times that of the body alone is held by contacts.
/// Measured on grasps: 4 takes 7 % more steps of conjugate gradients, 1.2 takes 2 % more.
constexpr Real kHeld = 1.5;

/// The transfer of one block, P_i^T S P_j (6 x 6, row major) with P = (I, -[a]_x).
void transfer(const Real* s, const Vec3& armI, const Vec3& armJ, Real* out) {
  // S P_j: its last columns are -S [a]_x, row by row a x s_row.
  Real product[3][6];
  for (int r = 0; r < 3; ++r) {
    const Vec3 row{s[3 * r], s[3 * r + 1], s[3 * r + 2]};
    const Vec3 turned = cross(armJ, row);
    for (int c = 0; c < 3; ++c) {
      product[r][c] = row[c];
      product[r][3 + c] = turned[c];
    }
  }
  for (int c = 0; c < 6; ++c) {
    const Vec3 column{product[0][c], product[1][c], product[2][c]};
    const Vec3 turned = cross(armI, column);
    for (int r = 0; r < 3; ++r) {
      out[6 * r + c] = column[r];
      out[6 * (3 + r) + c] = turned[r];
    }
  }
}

}  // namespace

void TwoLevel::setPattern(const math::BlockCsr& pattern, std::span<const std::int32_t> bodySizes,
                          std::span<const Vec3> positions) {
  parts_.clear();
  const int numVertices = static_cast<int>(positions.size());
  const int size = std::max(kPieceVertices, (numVertices + kMaxPieces - 1) / kMaxPieces);
  std::size_t first = 0;
  for (const std::int32_t count : bodySizes) {
    parts_.add(positions.subspan(first, static_cast<std::size_t>(count)), size);
    first += static_cast<std::size_t>(count);
  }
  placeVertices(positions);
  joinPieces(pattern);
}

void TwoLevel::placeVertices(std::span<const Vec3> positions) {
  arm_.resize(positions.size());
  for (int part = 0; part < parts_.numParts(); ++part) {
    const std::span<const std::int32_t> vertices = parts_.vertices(part);
    Vec3 center{};
    for (const std::int32_t i : vertices) center = center + positions[i];
    center = center / static_cast<Real>(vertices.size());
    Real squares = 0;
    for (const std::int32_t i : vertices) squares += squaredNorm(positions[i] - center);
    // Without extent, or where it is not finite, the piece has no rotations.
    const Real length = std::sqrt(squares / static_cast<Real>(vertices.size()));
    const bool turns = length > 0 && std::isfinite(length);
    for (const std::int32_t i : vertices) {
      arm_[i] = turns ? (positions[i] - center) / length : Vec3{};
    }
  }
}

void TwoLevel::joinPieces(const math::BlockCsr& pattern) {
  sizes_.assign(static_cast<std::size_t>(parts_.numParts()), 6);
  edges_.clear();
  const auto keyOf = [&](int i, int j) {
    const std::int32_t a = parts_.partOf(i), b = parts_.partOf(j);
    return BlockSparse::edgeKey(std::min(a, b), std::max(a, b));
  };
  for (int i = 0; i < pattern.numRows(); ++i) {
    std::uint64_t last = 0;
    for (std::int32_t t = pattern.rowBegin[i]; t < pattern.diagonal[i]; ++t) {
      const int j = pattern.column[t];
      if (parts_.partOf(i) == parts_.partOf(j)) continue;
      const std::uint64_t key = keyOf(i, j);
      if (key != last) edges_.push_back(key);
      last = key;
    }
  }
  core::stableSortByKey(edges_, scratch_, [](std::uint64_t key) { return key; });
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  place_.clear();
  for (int i = 0; i < pattern.numRows(); ++i) {
    for (std::int32_t t = pattern.rowBegin[i]; t < pattern.diagonal[i]; ++t) {
      const int j = pattern.column[t];
      if (parts_.partOf(i) == parts_.partOf(j)) {
        place_.push_back(-1);
        continue;
      }
      const auto at = std::lower_bound(edges_.begin(), edges_.end(), keyOf(i, j));
      place_.push_back(static_cast<std::int32_t>(at - edges_.begin()));
    }
  }
  e_.setPattern(sizes_, edges_);
  x_.resize(sizes_.size() * 6);
}

void TwoLevel::findHeld(const math::BlockCsr& s, const Real* stiffness) {
  is_held_.resize(static_cast<std::size_t>(s.numRows()));
  for (int i = 0; i < s.numRows(); ++i) {
    const Real* const block = s.block(s.diagonal[i]);
    is_held_[i] = block[0] + block[4] + block[8] > 3 * kHeld * stiffness[i] ? 1 : 0;
  }
}

void TwoLevel::factor(const math::BlockCsr& s, const Real* stiffness, core::ThreadPool* pool) {
  findHeld(s, stiffness);
  e_.setZero();
  Real* const values = e_.values();
  const std::int32_t* place = place_.data();
  Real block[36];
  for (int i = 0; i < s.numRows(); ++i) {
    if (is_held_[i] != 0) {
      place += s.diagonal[i] - s.rowBegin[i];
      continue;
    }
    const std::int32_t own = parts_.partOf(i);
    const BlockPlace diagonal = e_.diagonalPlace(own);
    transfer(s.block(s.diagonal[i]), arm_[i], arm_[i], block);
    for (int r = 0; r < 6; ++r) {
      Real* const row = values + diagonal.offset + r * std::int64_t{diagonal.stride};
      for (int c = r; c < 6; ++c) row[c] += block[6 * r + c];
    }
    for (std::int32_t t = s.rowBegin[i]; t < s.diagonal[i]; ++t) {
      const int j = s.column[t];
      const std::int32_t edge = *place++;
      if (is_held_[j] != 0) continue;
      transfer(s.block(t), arm_[i], arm_[j], block);
      if (edge < 0) {  // and its mirror image
        for (int r = 0; r < 6; ++r) {
          Real* const row = values + diagonal.offset + r * std::int64_t{diagonal.stride};
          for (int c = r; c < 6; ++c) row[c] += block[6 * r + c] + block[6 * c + r];
        }
        continue;
      }
      const BlockPlace& kept = e_.edgePlace(edge);
      const bool isFirst = (own < parts_.partOf(j)) != kept.isTransposed;
      for (int r = 0; r < 6; ++r) {
        Real* const row = values + kept.offset + r * std::int64_t{kept.stride};
        for (int c = 0; c < 6; ++c) row[c] += isFirst ? block[6 * r + c] : block[6 * c + r];
      }
    }
  }
  keepDefinite();
  e_.factor(pool);
}

/// Rotations of pieces in a line or without extent, and pieces all of whose vertices are held, move
/// nothing: some stiffness keeps E definite, and what it resists the first level does.
void TwoLevel::keepDefinite() {
  constexpr Real kLeast = 1e-8;
  Real* const values = e_.values();
  for (int part = 0; part < parts_.numParts(); ++part) {
    const BlockPlace diagonal = e_.diagonalPlace(part);
    Real* const d = values + diagonal.offset;
    const std::int64_t step = std::int64_t{diagonal.stride} + 1;
    const Real stiffness = d[0] + d[step] + d[2 * step];
    for (int k = 0; k < 6; ++k) {
      if (!(stiffness > 0)) d[k * step] = 1;
      if (k >= 3) d[k * step] += kLeast * stiffness;
    }
  }
}

void TwoLevel::addSolution(const Real* r, Real* z) {
  for (int part = 0; part < parts_.numParts(); ++part) {
    Vec3 force{}, moment{};
    for (const std::int32_t i : parts_.vertices(part)) {
      if (is_held_[i] != 0) continue;
      const Vec3 f{r[3 * i], r[3 * i + 1], r[3 * i + 2]};
      force = force + f;
      moment = moment + cross(arm_[i], f);
    }
    for (int k = 0; k < 3; ++k) {
      x_[6 * part + k] = force[k];
      x_[6 * part + 3 + k] = moment[k];
    }
  }
  e_.solve(x_.data());
  for (int part = 0; part < parts_.numParts(); ++part) {
    const Real* const x = x_.data() + 6 * part;
    const Vec3 velocity{x[0], x[1], x[2]}, turn{x[3], x[4], x[5]};
    for (const std::int32_t i : parts_.vertices(part)) {
      if (is_held_[i] != 0) continue;
      const Vec3 w = velocity + cross(turn, arm_[i]);
      for (int k = 0; k < 3; ++k) z[3 * i + k] += w[k];
    }
  }
}

}  // namespace tangere::solver
