// SPDX-License-Identifier: Apache-2.0
#include "integrator/block_pattern.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tangere::integrator {
namespace {

/// A matrix with random blocks where the pattern has them, as blocks and as rows.
struct Sample {
  BlockPattern pattern;
  int size = 0;
  std::vector<Real> blocks, dense;
};

Sample makeSample(const std::vector<int>& sizes, const std::vector<std::pair<int, int>>& coupled,
                  unsigned seed) {
  Sample out;
  EXPECT_TRUE(out.pattern.build(sizes, coupled));
  out.size = out.pattern.firstRow(out.pattern.numBlocks() - 1) + sizes.back();
  out.blocks.resize(out.pattern.numEntries());
  out.dense.resize(static_cast<std::size_t>(out.size * out.size));
  std::mt19937 random(seed);
  std::uniform_real_distribution<Real> entry(-1, 1);
  const auto fill = [&](int i, int j) {
    const std::size_t at = out.pattern.at(i, j);
    for (int r = 0; r < out.pattern.size(i); ++r) {
      for (int c = 0; c < out.pattern.size(j); ++c) {
        const Real value = entry(random);
        out.blocks[at + static_cast<std::size_t>(r * out.pattern.size(j) + c)] = value;
        out.dense[static_cast<std::size_t>((out.pattern.firstRow(i) + r) * out.size +
                                           out.pattern.firstRow(j) + c)] = value;
      }
    }
  };
  for (int i = 0; i < out.pattern.numBlocks(); ++i) fill(i, i);
  for (const auto& [i, j] : coupled) {
    fill(i, j);
    fill(j, i);
  }
  return out;
}

/// Of a x - b, the largest part.
Real residual(const Sample& sample, const std::vector<Real>& x, const std::vector<Real>& b) {
  Real worst = 0;
  for (int i = 0; i < sample.size; ++i) {
    Real sum = -b[static_cast<std::size_t>(i)];
    for (int j = 0; j < sample.size; ++j)
      sum += sample.dense[static_cast<std::size_t>(i * sample.size + j)] *
             x[static_cast<std::size_t>(j)];
    worst = std::max(worst, std::fabs(sum));
  }
  return worst;
}

std::vector<Real> randomVector(int size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<Real> entry(-1, 1);
  std::vector<Real> out(static_cast<std::size_t>(size));
  for (Real& x : out) x = entry(random);
  return out;
}

/// Solves with random right hand sides; entries are of size one, so what is left is rounding times
/// the growth of small pivots.
void expectSolved(Sample& sample, unsigned seed) {
  std::vector<int> pivots(static_cast<std::size_t>(sample.size));
  ASSERT_TRUE(sample.pattern.factor(sample.blocks.data(), pivots.data()));
  const std::vector<Real> b = randomVector(sample.size, seed);
  std::vector<Real> x = b;
  sample.pattern.solve(sample.blocks.data(), pivots.data(), x.data());
  Real largest = 1;
  for (const Real value : x) largest = std::max(largest, std::fabs(value));
  EXPECT_LT(residual(sample, x, b), 1e-9 * largest) << seed;
}

TEST(BlockPattern, OneFullBlockIsSolvedWithPivotsThatMove) {
  // Zeros on the diagonal: every row must be exchanged, several of them twice.
  for (unsigned seed = 0; seed < 200; ++seed) {
    Sample sample = makeSample({7}, {}, seed);
    for (int i = 0; i < 7; ++i) {
      sample.blocks[static_cast<std::size_t>(8 * i)] = 0;
      sample.dense[static_cast<std::size_t>(8 * i)] = 0;
    }
    expectSolved(sample, 1000 + seed);
  }
}

TEST(BlockPattern, ChainsRingsAndCliquesOfBlocksOfManySizesAreSolved) {
  const std::vector<int> sizes{6, 1, 6, 3, 2, 6, 4};
  const std::vector<std::vector<std::pair<int, int>>> couplings{
      {},
      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}},
      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 0}},
      {{3, 0}, {3, 1}, {3, 2}, {3, 4}, {3, 5}, {3, 6}},
      {{5, 1}, {1, 5}, {0, 6}, {6, 2}, {2, 0}},
  };
  for (const auto& coupled : couplings) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      Sample sample = makeSample(sizes, coupled, seed);
      for (int i = 0; i < 7; ++i) {  // as inertia does
        const std::size_t at = sample.pattern.at(i, i);
        for (int k = 0; k < sizes[static_cast<std::size_t>(i)]; ++k) {
          sample.blocks[at + static_cast<std::size_t>(
                                 k * (sizes[static_cast<std::size_t>(i)] + 1))] += 8;
          const int row = sample.pattern.firstRow(i) + k;
          sample.dense[static_cast<std::size_t>(row * (sample.size + 1))] += 8;
        }
      }
      expectSolved(sample, seed);
    }
  }
}

TEST(BlockPattern, ProductIsThatOfTheFullMatrix) {
  const Sample sample = makeSample({3, 6, 2, 6}, {{0, 3}, {3, 1}}, 5);
  const std::vector<Real> x = randomVector(sample.size, 6);
  std::vector<Real> b(x.size());
  sample.pattern.addProduct(sample.blocks.data(), x.data(), b.data());
  EXPECT_LT(residual(sample, x, b), 1e-14);
}

TEST(BlockPattern, AStarIsEliminatedFromItsTipsWithoutFilling) {
  // A plate with fifty balls: the balls first, so no two of them are ever coupled.
  std::vector<int> sizes(51, 6);
  std::vector<std::pair<int, int>> coupled;
  for (int ball = 1; ball <= 50; ++ball) coupled.emplace_back(0, ball);
  BlockPattern pattern;
  ASSERT_TRUE(pattern.build(sizes, coupled));
  EXPECT_EQ(pattern.numEntries(), std::size_t{36} * (51 + 2 * 50));
}

TEST(BlockPattern, SingularBlockIsToldNotDividedBy) {
  BlockPattern pattern;
  const std::vector<int> sizes{2};
  ASSERT_TRUE(pattern.build(sizes, {}));
  std::vector<Real> a{1, 2, 2, 4};
  int pivots[2];
  EXPECT_FALSE(pattern.factor(a.data(), pivots));
}

}  // namespace
}  // namespace tangere::integrator
