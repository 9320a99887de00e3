// SPDX-License-Identifier: Apache-2.0
//
// The linear algebra of the convex solver: block-sparse Cholesky, conjugate gradients, line search.
#include "solver/block_sparse.hpp"
#include "solver/line_search.hpp"
#include "solver/pcg.hpp"
#include "solver/six_blocks.hpp"

#include "solver/sap_scenes.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace tangere::solver {
namespace {

using test::uniform;

/// A random symmetric positive definite matrix of blocks with the given pattern.
struct BlockMatrix {
  std::vector<std::int32_t> sizes, first;
  std::vector<std::uint64_t> edges;
  Eigen::MatrixXd full;

  BlockMatrix(std::mt19937_64* random, std::vector<std::int32_t> sizes_, double density)
      : sizes(std::move(sizes_)) {
    first.push_back(0);
    for (const std::int32_t n : sizes) first.push_back(first.back() + n);
    const int n = static_cast<int>(sizes.size());
    full = Eigen::MatrixXd::Zero(first.back(), first.back());
    const auto join = [&](int i, int j) {
      Eigen::MatrixXd rows[2];
      for (const int side : {0, 1}) {
        rows[side].resize(4, sizes[side == 0 ? i : j]);
        for (int k = 0; k < rows[side].size(); ++k) rows[side].data()[k] = uniform(random, -1, 1);
      }
      if (i == j) rows[1] = rows[0];
      for (const int a : {0, 1}) {
        for (const int b : {0, 1}) {
          if (i == j && a + b > 0) continue;
          full.block(first[a == 0 ? i : j], first[b == 0 ? i : j], rows[a].cols(),
                     rows[b].cols()) += rows[a].transpose() * rows[b];
        }
      }
    };
    for (int i = 0; i < n; ++i) {
      join(i, i);
      for (int j = i + 1; j < n; ++j) {
        if (uniform(random, 0, 1) > density) continue;
        edges.push_back(BlockSparse::edgeKey(i, j));
        join(i, j);
      }
    }
    full += 0.1 * Eigen::MatrixXd::Identity(first.back(), first.back());
  }

  void writeTo(BlockSparse* h) const {
    h->setPattern(sizes, edges);
    h->setZero();
    const auto write = [&](const BlockPlace& place, int i, int j) {
      const int row = place.isTransposed ? j : i, column = place.isTransposed ? i : j;
      for (int r = 0; r < sizes[row]; ++r) {
        for (int c = 0; c < sizes[column]; ++c) {
          h->values()[place.offset + r * std::int64_t{place.stride} + c] =
              full(first[row] + r, first[column] + c);
        }
      }
    };
    for (int i = 0; i < static_cast<int>(sizes.size()); ++i) write(h->diagonalPlace(i), i, i);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      write(h->edgePlace(static_cast<std::int32_t>(e)), static_cast<int>(edges[e] >> 32),
            static_cast<int>(edges[e] & 0xffffffffu));
    }
  }
};

TEST(BlockSparse, SolvesWhatADenseFactorizationSolves) {
  std::mt19937_64 random(1);
  BlockSparse h;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int32_t> sizes(1 + random() % 20);
    for (std::int32_t& n : sizes) {
      n = round % 2 == 0 || random() % 3 == 0 ? 6 : 1 + static_cast<std::int32_t>(random() % 70);
    }
    const BlockMatrix matrix(&random, sizes, uniform(&random, 0, 0.6));
    matrix.writeTo(&h);
    EXPECT_EQ(h.factor(), 0);
    Eigen::VectorXd b(matrix.first.back());
    for (int i = 0; i < b.size(); ++i) b[i] = uniform(&random, -1, 1);
    Eigen::VectorXd x = b;
    h.solve(x.data());
    const Eigen::VectorXd expected = matrix.full.llt().solve(b);
    ASSERT_LT((x - expected).norm(), 1e-10 * (1 + expected.norm())) << "round " << round;
  }
}

TEST(BlockSparse, TheBitsDoNotDependOnTheNumberOfThreads) {
  std::mt19937_64 random(8);
  for (const bool isMixed : {false, true}) {
    std::vector<std::int32_t> sizes(120, 6);
    if (isMixed) {
      for (std::int32_t& n : sizes) n = 1 + static_cast<std::int32_t>(random() % 12);
    }
    const BlockMatrix matrix(&random, sizes, 0.05);
    std::vector<Real> expected;
    for (int numThreads = 0; numThreads <= 8; ++numThreads) {
      std::unique_ptr<core::ThreadPool> pool;
      if (numThreads > 0) pool = std::make_unique<core::ThreadPool>(numThreads);
      BlockSparse h;
      matrix.writeTo(&h);
      ASSERT_GT(h.work(), 3e5);  // or it would not use them
      EXPECT_EQ(h.factor(pool.get()), 0);
      std::vector<Real> x(static_cast<std::size_t>(matrix.first.back()), 1.0);
      h.solve(x.data());
      if (numThreads == 0) expected = x;
      EXPECT_EQ(std::memcmp(x.data(), expected.data(), x.size() * sizeof(Real)), 0);
    }
  }
}

TEST(BlockSparse, AChainIsEliminatedWithoutFill) {
  // 0 - 1 - 2 - ... in a shuffled order: the factor has the blocks of the matrix and no more.
  constexpr int kCount = 50;
  std::mt19937_64 random(2);
  std::vector<int> name(kCount);
  for (int i = 0; i < kCount; ++i) name[i] = i;
  for (int i = kCount - 1; i > 0; --i) std::swap(name[i], name[random() % (i + 1)]);
  std::vector<std::uint64_t> edges;
  for (int i = 0; i + 1 < kCount; ++i) {
    edges.push_back(
        BlockSparse::edgeKey(std::min(name[i], name[i + 1]), std::max(name[i], name[i + 1])));
  }
  std::sort(edges.begin(), edges.end());
  BlockSparse h;
  h.setPattern(std::vector<std::int32_t>(kCount, 6), edges);
  EXPECT_EQ(h.numEntries(), 36 * (kCount + kCount - 1));
}

TEST(BlockSparse, AMatrixThatIsNotPositiveStillGivesAPositiveFactor) {
  // The direction it yields is then one of descent: x^T (U^T U)^-1 x > 0.
  BlockSparse h;
  for (const int n : {3, 6}) {
    h.setPattern(std::vector<std::int32_t>{n}, {});
    h.setZero();
    for (int k = 0; k < n; ++k) h.values()[k * n + k] = k == 1 ? 0 : 1;
    h.values()[1] = 1;  // 1 0 next to 1: indefinite
    EXPECT_GT(h.factor(), 0);
    std::vector<Real> x(static_cast<std::size_t>(n), 1.0);
    h.solve(x.data());
    Real sum = 0;
    for (const Real value : x) {
      EXPECT_TRUE(std::isfinite(value));
      sum += value;
    }
    EXPECT_GT(sum, 0);
  }
}

TEST(SixBlocks, GiveTheSameBitsOnEveryMachine) {
  const SixFunctions* const fast = avx2SixFunctions();
  if (fast == nullptr) GTEST_SKIP() << "no AVX2 here";
  const SixFunctions& plain = genericSixFunctions();
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    const int numNeighbours = static_cast<int>(random() % 5);
    const std::int64_t width = 6 * (numNeighbours + 1);
    std::vector<Real> panel(static_cast<std::size_t>(6 * width));
    for (Real& x : panel) x = uniform(&random, -1, 1);
    for (int k = 0; k < 6; ++k) panel[k * width + k] += round % 3 == 0 ? 0 : 6;  // or not positive
    std::vector<Real> original(6, 6.0);
    std::vector<Real> panels[2] = {panel, panel}, inverses[2], vectors[2], targets[2];
    std::vector<std::int32_t> neighbours;
    for (int i = 0; i < numNeighbours; ++i) neighbours.push_back(6 + 6 * i);
    std::vector<Real> x(static_cast<std::size_t>(width)), target(48 * 12), g(6), j(18), k(18);
    std::vector<Real> tree(27), lower(81);
    for (std::vector<Real>* array : {&x, &target, &g, &j, &k, &tree, &lower}) {
      for (Real& value : *array) value = uniform(&random, -1, 1);
    }
    for (int which = 0; which < 2; ++which) {
      const SixFunctions& six = which == 0 ? plain : *fast;
      inverses[which].resize(6);
      vectors[which] = x;
      targets[which] = target;
      six.factorPanel(panels[which].data(), width, 1e-15, original.data(), inverses[which].data());
      six.forward(panels[which].data(), width, inverses[which].data(), neighbours.data(),
                  numNeighbours, vectors[which].data(), 0);
      six.backward(panels[which].data(), width, inverses[which].data(), neighbours.data(),
                   numNeighbours, vectors[which].data(), 0);
      six.addContact(g.data(), j.data(), k.data(), targets[which].data(), 48,
                     targets[which].data() + 6, 48);
      Real scratch[4 * 9];
      six.addContactOfTree(g.data(), tree.data(), 9, j.data(), 6, scratch,
                           targets[which].data() + 12, 48, targets[which].data() + 30, 48);
      six.addDelassus(tree.data(), 9, lower.data(), scratch, targets[which].data() + 40);
      if (numNeighbours > 1) {
        const BlockRun runs[] = {{6, 0, 6}, {12, 18, static_cast<std::int32_t>(width) - 12}};
        six.update(panels[which].data(), width, 6, targets[which].data(), 48, runs, 2);
      }
    }
    const auto isSame = [](const std::vector<Real>& a, const std::vector<Real>& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
    };
    EXPECT_TRUE(isSame(panels[0], panels[1]));
    EXPECT_TRUE(isSame(inverses[0], inverses[1]));
    EXPECT_TRUE(isSame(vectors[0], vectors[1]));
    EXPECT_TRUE(isSame(targets[0], targets[1]));
  }
}

/// A dense matrix with its diagonal as preconditioner.
struct DenseOperator {
  Eigen::MatrixXd h;

  void multiply(const Real* x, Real* y) const {
    Eigen::Map<Eigen::VectorXd>(y, h.rows()) = h * Eigen::Map<const Eigen::VectorXd>(x, h.rows());
  }
  void precondition(const Real* r, Real* z) const {
    for (int i = 0; i < h.rows(); ++i) z[i] = r[i] / h(i, i);
  }
  [[nodiscard]] Real dot(const Real* x, const Real* y) const {
    Real sum = 0;
    for (int i = 0; i < h.rows(); ++i) sum += x[i] * y[i];
    return sum;
  }
};

TEST(Pcg, SolvesWhatADenseFactorizationSolves) {
  std::mt19937_64 random(4);
  PcgScratch scratch;
  for (int round = 0; round < 50; ++round) {
    const int n = 1 + static_cast<int>(random() % 60);
    DenseOperator op;
    Eigen::MatrixXd j(n, n);
    Eigen::VectorXd b(n), x(n);
    for (int r = 0; r < n; ++r) {
      b[r] = uniform(&random, -1, 1);
      for (int c = 0; c < n; ++c) j(r, c) = uniform(&random, -1, 1);
    }
    op.h = j * j.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
    const PcgReport report =
        solvePcg({.maxIterations = 1000, .tolerance = 1e-12}, &op, n, b.data(), x.data(), &scratch);
    EXPECT_TRUE(report.converged);
    EXPECT_LT((x - op.h.llt().solve(b)).norm(), 1e-8 * (1 + x.norm()));
  }
}

TEST(Pcg, NothingToSolveIsSolved) {
  DenseOperator op;
  op.h = Eigen::MatrixXd::Identity(3, 3);
  const Real b[3] = {};
  Real x[3] = {1, 2, 3};
  PcgScratch scratch;
  const PcgReport report = solvePcg({}, &op, 3, b, x, &scratch);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(x[2], 0);
}

TEST(LineSearch, FindsTheMinimumOfConvexFunctionsWithCorners) {
  // slope = before (a - corner) below the corner and after (a - corner) above it, minimum where it
  // vanishes, moved by an offset so that the slope at 0 is negative.
  for (const Real corner : {0.01, 0.3, 0.9, 1.2}) {
    for (const Real steep : {1.0, 50.0, 1e6}) {
      for (const Real offset : {-0.5, 0.5}) {
        const auto slopeAt = [&](Real a) {
          return (a < corner ? (a - corner) : steep * (a - corner)) + offset * corner;
        };
        int evaluations = 0;
        const LineSearchResult result = searchLine(
            {.maxStep = 1.5, .tolerance = 1e-10, .maxEvaluations = 100}, slopeAt(0), [&](Real a) {
              ++evaluations;
              EXPECT_GT(a, 0);
              EXPECT_LE(a, 1.5);
              return LinePoint{slopeAt(a), a < corner ? 1 : steep};
            });
        const Real expected =
            offset > 0 ? corner - offset * corner : corner + -offset * corner / steep;
        EXPECT_NEAR(result.alpha, std::min(expected, 1.5), 1e-8)
            << corner << " " << steep << " " << offset;
        EXPECT_LT(evaluations, 40);
        EXPECT_EQ(result.evaluations, evaluations);
      }
    }
  }
}

TEST(LineSearch, AFallingLineGivesTheLongestStepAndBadNumbersEndIt) {
  const LineSearchResult falling = searchLine({}, -1, [](Real) { return LinePoint{-0.5, 1e-3}; });
  EXPECT_EQ(falling.alpha, 1.5);
  const LineSearchResult bad = searchLine({}, -1, [](Real) {
    return LinePoint{std::numeric_limits<Real>::quiet_NaN(), 1};
  });
  EXPECT_GT(bad.alpha, 0);
  EXPECT_LT(bad.alpha, 1);
  const LineSearchResult noisy = searchLine({.maxEvaluations = 20}, -1, [n = 0](Real) mutable {
    return LinePoint{n++ % 2 == 0 ? 1.0 : -1.0, 0};
  });
  EXPECT_LE(noisy.evaluations, 20);
}

}  // namespace
}  // namespace tangere::solver
