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

/// What SixFunctions do to contacts of trees, by plain loops in the order of the index.
struct PlainTree {
  int n = 0, otherSize = 0, count = 0;
  std::vector<Real> g, own, other;  // by contact

  [[nodiscard]] Real hessian(int t, int i, int k) const {
    return g[static_cast<std::size_t>(6 * t +
                                      (i >= k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i))];
  }
  [[nodiscard]] Real entry(int t, int i, int c) const {
    return own[static_cast<std::size_t>((3 * t + i) * n + c)];
  }
  /// (J^T G)_c,i.
  [[nodiscard]] Real product(int t, int i, int c) const {
    Real sum = hessian(t, i, 0) * entry(t, 0, c);
    for (int k = 1; k < 3; ++k) sum += hessian(t, i, k) * entry(t, k, c);
    return sum;
  }
};

TEST(TreeBlocks, GiveWhatPlainLoopsGive) {
  std::vector<const SixFunctions*> all = {&genericSixFunctions()};
  if (avx2SixFunctions() != nullptr) all.push_back(avx2SixFunctions());
  std::mt19937_64 random(4);
  const auto fill = [&](std::size_t count) {
    std::vector<Real> values(count);
    for (Real& value : values) value = uniform(&random, -1, 1);
    return values;
  };
  for (int round = 0; round < 400; ++round) {
    PlainTree tree;
    tree.n = 1 + static_cast<int>(random() % 19);  // some beyond what has loops of its own
    tree.otherSize = 1 + static_cast<int>(random() % 19);
    tree.count = 1 + static_cast<int>(random() % 9);
    const auto n = static_cast<std::size_t>(tree.n), m = static_cast<std::size_t>(tree.otherSize);
    const auto count = static_cast<std::size_t>(tree.count);
    tree.g = fill(6 * count);
    tree.own = fill(3 * n * count);
    tree.other = fill(3 * m * count);
    const std::vector<Real> diagonal = fill(n * n), block = fill(n * m), x = fill(n),
                            rows = fill(3 * count);
    std::vector<Real> a(n * n);
    const std::vector<Real> root = fill(n * n);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c <= r; ++c) {
        Real sum = r == c ? 1 : 0;
        for (std::size_t k = 0; k < n; ++k) sum += root[r * n + k] * root[c * n + k];
        a[r * n + c] = a[c * n + r] = sum;
      }
    }
    for (const SixFunctions* six : all) {
      // H.
      std::vector<Real> h = diagonal, off = block, scratch(3 * n * count);
      std::vector<ContactTerm> terms;
      for (std::size_t t = 0; t < count; ++t) {
        terms.push_back(
            {tree.g.data() + 6 * t, tree.own.data() + 3 * n * t, tree.other.data() + 3 * m * t});
      }
      six->addContactsOfTree(terms.data(), tree.count, tree.n, tree.otherSize, scratch.data(),
                             h.data(), tree.n, off.data(), tree.otherSize);
      for (int r = 0; r < tree.n; ++r) {
        for (int c = r; c < tree.n; ++c) {
          Real wanted = diagonal[static_cast<std::size_t>(r * tree.n + c)];
          for (int t = 0; t < tree.count; ++t) {
            Real sum = tree.entry(t, 0, c) * tree.product(t, 0, r);
            for (int k = 1; k < 3; ++k) sum += tree.entry(t, k, c) * tree.product(t, k, r);
            wanted += sum;
          }
          EXPECT_EQ(h[static_cast<std::size_t>(r * tree.n + c)], wanted);
        }
        for (int c = 0; c < tree.otherSize; ++c) {
          Real wanted = block[static_cast<std::size_t>(r * tree.otherSize + c)];
          for (int t = 0; t < tree.count; ++t) {
            const auto other = [&](int k) {
              return tree.other[static_cast<std::size_t>((3 * t + k) * tree.otherSize + c)];
            };
            Real sum = other(0) * tree.product(t, 0, r);
            for (int k = 1; k < 3; ++k) sum += other(k) * tree.product(t, k, r);
            wanted += sum;
          }
          EXPECT_EQ(off[static_cast<std::size_t>(r * tree.otherSize + c)], wanted);
        }
      }
      // A.
      std::vector<Real> inverse(n * n), u(n * n), y(n), size(n);
      ASSERT_TRUE(six->invertFactor(a.data(), tree.n, u.data(), inverse.data()));
      six->multiplySymmetric(a.data(), tree.n, x.data(), y.data());
      six->multiplyAbsolute(a.data(), tree.n, x.data(), size.data());
      for (std::size_t r = 0; r < n; ++r) {
        Real wanted = 0, wantedSize = 0;
        for (std::size_t c = 0; c < n; ++c) wanted += a[r * n + c] * x[c];
        for (std::size_t c = 0; c < n; ++c) wantedSize += std::abs(a[r * n + c] * x[c]);
        EXPECT_EQ(y[r], wanted);
        EXPECT_EQ(size[r], wantedSize);
        for (std::size_t c = 0; c <= r; ++c) {  // L^-1 A L^-T = 1
          Real sum = 0;
          for (std::size_t k = 0; k <= r; ++k) {
            for (std::size_t l = 0; l <= c; ++l) {
              sum += inverse[r * n + k] * a[k * n + l] * inverse[c * n + l];
            }
          }
          EXPECT_NEAR(sum, r == c ? 1 : 0, 1e-9);  // the condition of A is below 1e6
        }
      }
      std::vector<Real> solution(n), scratchOfInverse(n), inverseDiagonal(n);
      six->multiplyInverse(inverse.data(), tree.n, x.data(), scratchOfInverse.data(),
                           solution.data());
      six->inverseDiagonal(inverse.data(), tree.n, inverseDiagonal.data());
      for (std::size_t c = 0; c < n; ++c) {
        Real wanted = 0, wantedDiagonal = 0;
        for (std::size_t r = c; r < n; ++r) {
          Real y0 = 0;
          for (std::size_t k = 0; k <= r; ++k) y0 += inverse[r * n + k] * x[k];
          wanted += inverse[r * n + c] * y0;
          wantedDiagonal += inverse[r * n + c] * inverse[r * n + c];
        }
        EXPECT_EQ(solution[c], wanted);
        EXPECT_EQ(inverseDiagonal[c], wantedDiagonal);
      }
      if (tree.n > kMaxSideSize) continue;
      // Sides.
      const ContactSide side{tree.own.data(), 3 * tree.n, tree.count, tree.n};
      std::vector<Real> velocity(3 * count), more = rows, absolute = rows, impulse = x,
                                             absoluteImpulse = x;
      six->multiplyContacts(side, x.data(), velocity.data());
      six->addContacts(side, x.data(), more.data());
      six->addAbsolute(side, x.data(), absolute.data());
      six->addTransposed(side, rows.data(), impulse.data());
      std::vector<Real> positive(3 * count);
      for (std::size_t i = 0; i < positive.size(); ++i) positive[i] = std::abs(rows[i]);
      six->addAbsoluteTransposed(side, positive.data(), absoluteImpulse.data());
      std::vector<Real> w(11 * count), wOne(9), scratchOfOne(4 * n);
      six->addDelassuses(side, inverse.data(), w.data(), 11);
      for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t k = 0; k < 3; ++k) {
          const Real* const j = tree.own.data() + (3 * t + k) * n;
          Real sum = 0, sizes = 0;
          for (std::size_t c = 0; c < n; ++c) sum += j[c] * x[c];
          for (std::size_t c = 0; c < n; ++c) sizes += std::abs(j[c] * x[c]);
          EXPECT_EQ(velocity[3 * t + k], sum);
          EXPECT_EQ(more[3 * t + k], rows[3 * t + k] + sum);
          EXPECT_EQ(absolute[3 * t + k], rows[3 * t + k] + sizes);
        }
        wOne.assign(9, 0);
        six->addDelassus(tree.own.data() + 3 * t * n, tree.n, inverse.data(), scratchOfOne.data(),
                         wOne.data());
        for (std::size_t k = 0; k < 3; ++k) {
          for (std::size_t l = 0; l <= k; ++l) EXPECT_EQ(w[11 * t + 3 * k + l], wOne[3 * k + l]);
        }
      }
      for (std::size_t c = 0; c < n; ++c) {
        Real wanted = x[c], wantedSize = x[c];
        for (std::size_t t = 0; t < count; ++t) {
          const auto j = [&](std::size_t k) { return tree.own[(3 * t + k) * n + c]; };
          wanted += j(0) * rows[3 * t] + j(1) * rows[3 * t + 1] + j(2) * rows[3 * t + 2];
          for (std::size_t k = 0; k < 3; ++k) wantedSize += std::abs(j(k)) * positive[3 * t + k];
        }
        EXPECT_EQ(impulse[c], wanted);
        EXPECT_EQ(absoluteImpulse[c], wantedSize);
      }
    }
  }
}

TEST(TreeBlocks, FactorAndUpdateLikePlainLoops) {
  std::vector<const SixFunctions*> all = {&genericSixFunctions()};
  if (avx2SixFunctions() != nullptr) all.push_back(avx2SixFunctions());
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    const int size = 1 + static_cast<int>(random() % 12);
    const int width = size + static_cast<int>(random() % 12);
    std::vector<Real> panel(static_cast<std::size_t>(size * width));
    for (Real& value : panel) value = uniform(&random, -1, 1);
    for (int k = 0; k < size; ++k) panel[k * width + k] += round % 3 == 0 ? 0 : size;
    const std::vector<Real> original(static_cast<std::size_t>(size), Real(size));
    const int numRows = width - size;
    std::vector<Real> target(static_cast<std::size_t>(numRows * numRows));
    for (Real& value : target) value = uniform(&random, -1, 1);

    std::vector<Real> wanted = panel, wantedInverse(static_cast<std::size_t>(size));
    int wantedRaised = 0;
    for (int k = 0; k < size; ++k) {
      Real pivot = wanted[k * width + k];
      if (!(pivot > 1e-15 * original[k])) {
        pivot = 1e-15 * original[k];
        ++wantedRaised;
      }
      wanted[k * width + k] = std::sqrt(pivot);
      wantedInverse[k] = 1 / std::sqrt(pivot);
      for (int c = k + 1; c < width; ++c) wanted[k * width + c] *= wantedInverse[k];
      for (int l = k + 1; l < size; ++l) {
        for (int c = l; c < width; ++c) {
          wanted[l * width + c] -= wanted[k * width + l] * wanted[k * width + c];
        }
      }
    }
    std::vector<Real> wantedTarget = target;
    for (int r = 0; r < numRows; ++r) {
      for (int k = 0; k < size; ++k) {
        for (int c = r; c < numRows; ++c) {
          wantedTarget[r * numRows + c] -=
              wanted[k * width + size + r] * wanted[k * width + size + c];
        }
      }
    }
    for (const SixFunctions* six : all) {
      std::vector<Real> own = panel, inverse(static_cast<std::size_t>(size)), other = target;
      EXPECT_EQ(
          six->factorPanelOfTree(own.data(), size, width, 1e-15, original.data(), inverse.data()),
          wantedRaised);
      EXPECT_EQ(inverse, wantedInverse);
      for (int k = 0; k < size; ++k) {
        for (int c = k; c < width; ++c) EXPECT_EQ(own[k * width + c], wanted[k * width + c]);
      }
      if (numRows == 0) continue;
      // With the panel as it was: raised pivots would leave no finite numbers to compare.
      std::vector<Real> y(panel.begin(), panel.begin() + size);
      std::vector<Real> below(target.begin(), target.begin() + numRows);
      std::vector<Real> wantedBelow = below, wantedY = y;
      six->forwardBlock(panel.data(), size, width, size, numRows, y.data(), below.data());
      for (int c = 0; c < numRows; ++c) {
        for (int k = 0; k < size; ++k) wantedBelow[c] -= panel[k * width + size + c] * y[k];
      }
      EXPECT_EQ(below, wantedBelow);
      six->backwardBlock(panel.data(), size, width, size, numRows, below.data(), y.data());
      for (int k = 0; k < size; ++k) {
        for (int c = 0; c < numRows; ++c) wantedY[k] -= panel[k * width + size + c] * below[c];
      }
      EXPECT_EQ(y, wantedY);
      six->updateTree(own.data(), size, width, size, numRows, size, numRows, true, other.data(),
                      numRows);
      for (int r = 0; r < numRows; ++r) {
        for (int c = r; c < numRows; ++c) {
          EXPECT_EQ(other[r * numRows + c], wantedTarget[r * numRows + c]);
        }
      }
    }
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
