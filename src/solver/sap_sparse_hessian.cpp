// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_sparse_hessian.hpp"

#include "solver/six_blocks.hpp"
#include "solver/small_dense.hpp"

#include <algorithm>
#include <cstddef>

namespace tangere::solver {
namespace {

/// Up to so many velocities of dense cliques R is one dense matrix and P knows of C.
constexpr int kMaxAssembled = 96;
constexpr int kRowGrain = 256;

}  // namespace

void SapSparseHessian::setPattern(const Setup& setup) {
  setup_ = setup;
  has_factor_ = false;
  num_dense_ = 0;
  first_entry_.assign(1, 0);
  for (const DenseClique& clique : setup.dense) {
    num_dense_ += clique.size;
    first_entry_.push_back(first_entry_.back() + std::int64_t{clique.size} * clique.size);
  }
  is_assembled_ = num_dense_ <= kMaxAssembled;
  groups_.clear();
  for (const SparseLocal& local : setup.locals) groups_.push_back(local.group);
  soft_.setPattern(setup.bodies, groups_, setup.vertices);
  for (std::size_t i = 0; i < groups_.size(); ++i) setup.locals[i].group = groups_[i];
  listTouched();

  positions_.clear();
  const bool areKnown = std::all_of(setup.positions.begin(), setup.positions.end(),
                                    [](const Vec3* p) { return p != nullptr; });
  for (std::size_t b = 0; areKnown && b < setup.bodies.size(); ++b) {
    positions_.insert(positions_.end(), setup.positions[b],
                      setup.positions[b] + setup.bodies[b]->numRows());
  }
  body_sizes_.clear();
  stiffness_.clear();
  for (const math::BlockCsr* body : setup.bodies) {
    body_sizes_.push_back(body->numRows());
    for (int i = 0; i < body->numRows(); ++i) {
      const Real* const block = body->block(body->diagonal[i]);
      stiffness_.push_back((block[0] + block[4] + block[8]) / 3);
    }
  }
  is_touched_.assign(static_cast<std::size_t>(numVertices()), 0);
  for (const std::int32_t i : setup.vertices) is_touched_[i] = 1;
  factor_.setPattern(setup.preconditioner, {.pattern = &soft_.matrix(),
                                            .bodySizes = body_sizes_,
                                            .positions = positions_,
                                            .isTouched = is_touched_});
}

/// Vertices that a constraint joins to a dense clique, ascending, and the velocities on the other
/// side.
void SapSparseHessian::listTouched() {
  touched_.clear();
  coupled_.clear();
  if (!is_assembled_) return;
  touched_index_.assign(static_cast<std::size_t>(numVertices()), -1);
  is_coupled_.assign(static_cast<std::size_t>(num_dense_), 0);
  for (const SparseLocal& local : setup_.locals) {
    if (local.numDense == 0 || local.group.count == 0) continue;
    for (int i = 0; i < local.group.count; ++i) {
      touched_index_[setup_.vertices[local.group.first + i]] = 0;
    }
    for (int k = 0; k < local.dense[0].columns; ++k) is_coupled_[local.dense[0].velocity + k] = 1;
  }
  for (int i = 0; i < numVertices(); ++i) {
    if (touched_index_[i] < 0) continue;
    touched_index_[i] = static_cast<std::int32_t>(touched_.size());
    touched_.push_back(i);
  }
  for (int k = 0; k < num_dense_; ++k) {
    if (is_coupled_[k] != 0) coupled_.push_back(k);
  }
}

bool SapSparseHessian::update(const Real* hessian) {
  hessian_ = hessian;
  assemble();
  if (isFactorGood()) return true;
  rememberHessian();
  if (!factor_.factor(soft_.matrix(), stiffness_.data(), setup_.pool)) return false;
  return is_assembled_ ? factorSchur() : factorDense();
}

/// Are the G near those that the preconditioner was made of, but for a few? It is only a
/// preconditioner: a G that has changed by half costs a step or two, another factorization a dozen.
bool SapSparseHessian::isFactorGood() const {
  if (!has_factor_) return false;
  constexpr Real kNear = 0.25;  // squared
  const int most = std::min(4, static_cast<int>(setup_.locals.size()) / 8);
  int numFar = 0;
  for (const SparseLocal& local : setup_.locals) {
    const int size = hessianSize(local.kind, local.numRows);
    Real change = 0, old = 0;
    for (int k = local.hessian; k < local.hessian + size; ++k) {
      const Real d = hessian_[k] - factored_[k];
      change += d * d;
      old += factored_[k] * factored_[k];
    }
    if (change > kNear * old && ++numFar > most) return false;
  }
  return true;
}

void SapSparseHessian::rememberHessian() {
  std::size_t size = 0;
  for (const SparseLocal& local : setup_.locals) {
    size += static_cast<std::size_t>(hessianSize(local.kind, local.numRows));
  }
  factored_.assign(hessian_, hessian_ + size);
  has_factor_ = true;
}

/// S, and R and C where they are kept.
void SapSparseHessian::assemble() {
  soft_.setA();
  if (is_assembled_) assembleDense();
  for (const SparseLocal& local : setup_.locals) {
    if (local.group.count == 0) continue;
    const Real* const g = hessian_ + local.hessian;
    const int m = local.numRows, columns = 3 * local.group.count;
    if (isZero(g, hessianSize(local.kind, m))) continue;
    Real product[kSapMaxRows * 3 * kMaxGroupVertices];
    multiplyHessian(hessianOf(local.kind), g, m, columns, local.softJacobian, product);
    soft_.add(local.group, m, local.softJacobian, product);
    if (!is_assembled_ || local.numDense == 0) continue;
    const SparseLocal::Dense& dense = local.dense[0];
    for (int i = 0; i < local.group.count; ++i) {
      const std::int32_t t = touched_index_[setup_.vertices[local.group.first + i]];
      for (int r = 0; r < 3; ++r) {
        Real* const row = coupling_.data() + std::int64_t{3 * t + r} * num_dense_ + dense.velocity;
        for (int k = 0; k < m; ++k) {
          const Real p = product[k * columns + 3 * i + r];
          const Real* const j = dense.jacobian + std::int64_t{k} * dense.columns;
          for (int c = 0; c < dense.columns; ++c) row[c] += p * j[c];
        }
      }
    }
  }
}

/// R, both triangles, and C = 0.
void SapSparseHessian::assembleDense() {
  const int n = num_dense_;
  dense_.assign(static_cast<std::size_t>(n) * n, 0);
  coupling_.assign(touched_.size() * 3 * n, 0);
  for (const DenseClique& clique : setup_.dense) {
    for (int r = 0; r < clique.size; ++r) {
      std::copy_n(clique.a + std::int64_t{r} * clique.size, clique.size,
                  dense_.data() + std::int64_t{clique.first + r} * n + clique.first);
    }
  }
  for (const SparseLocal& local : setup_.locals) {
    if (local.numDense == 0) continue;
    const Real* const g = hessian_ + local.hessian;
    const int m = local.numRows;
    if (isZero(g, hessianSize(local.kind, m))) continue;
    for (int i = 0; i < local.numDense; ++i) {
      const SparseLocal::Dense& own = local.dense[i];
      Real product[kSapMaxRows * kMaxAssembled];
      multiplyHessian(hessianOf(local.kind), g, m, own.columns, own.jacobian, product);
      for (int k = 0; k < local.numDense; ++k) {
        const SparseLocal::Dense& other = local.dense[k];
        addProduct(product, other.jacobian, m, own.columns, other.columns, n,
                   dense_.data() + std::int64_t{own.velocity} * n + other.velocity);
      }
    }
  }
}

/// W, and L^-1 of E = Z^T H Z, of which the upper triangle is needed.
bool SapSparseHessian::factorSchur() {
  const int n = num_dense_, size = 3 * numVertices();
  const auto numCoupled = static_cast<int>(coupled_.size());
  response_.resize(coupled_.size() * size);
  residual_.resize(coupled_.size() * size);
  correction_.resize(static_cast<std::size_t>(size));
  small_.resize(static_cast<std::size_t>(n));
  small2_.resize(static_cast<std::size_t>(n));
  schur_ = dense_;
  schur_scratch_.resize(schur_.size());
  inverse_schur_.resize(schur_.size());
  const auto at = [&](int u, int w) -> Real& {
    return schur_[std::int64_t{coupled_[u]} * n + coupled_[w]];
  };
  // By the first level: E = R - C^T W - W^T (C - S W).
  for (int w = 0; w < numCoupled; ++w) {
    const Real* const own = response_.data() + std::int64_t{w} * size;
    const Real* const residual = residual_.data() + std::int64_t{w} * size;
    if (w % 4 == 0) findResponses(w);
    std::fill(small_.begin(), small_.end(), Real(0));
    addCouplingTransposed(own, small_.data());
    for (int u = 0; u <= w; ++u) {
      const Real* const other = response_.data() + std::int64_t{u} * size;
      at(u, w) -= small_[coupled_[u]] + dotLong(other, residual, size);
    }
  }
  // The second level acts upon what the first one left, not beside it: where both answer a part of
  // C their sum would be twice too much, and links would seem too heavy.
  for (int w = 0; factor_.hasSecond() && w < numCoupled; ++w) {
    Real* const own = response_.data() + std::int64_t{w} * size;
    std::fill(correction_.begin(), correction_.end(), Real(0));
    factor_.addSecond(residual_.data() + std::int64_t{w} * size, correction_.data());
    for (int u = 0; u <= w; ++u) {
      at(u, w) -= dotLong(residual_.data() + std::int64_t{u} * size, correction_.data(), size);
    }
    for (int k = 0; k < size; ++k) own[k] += correction_[k];
  }
  return n == 0 || sixFunctions().invertFactor(schur_.data(), n, schur_scratch_.data(),
                                               inverse_schur_.data());
}

/// Columns first .. first + 3 of W by the first level, and of C - S W; four at a time read the
/// factors once.
void SapSparseHessian::findResponses(int first) {
  const int size = 3 * numVertices();
  const int count = std::min(4, static_cast<int>(coupled_.size()) - first);
  if (count == 1) return findResponse(first);
  four_.assign(static_cast<std::size_t>(size) * 4, 0);
  four_response_.resize(four_.size());
  const auto addColumns = [&] {
    for (std::size_t t = 0; t < touched_.size(); ++t) {
      for (int r = 0; r < 3; ++r) {
        const Real* const row = coupling_.data() + (3 * t + r) * num_dense_;
        Real* const to = four_.data() + std::size_t{4} * (3 * touched_[t] + r);
        for (int c = 0; c < count; ++c) to[c] += row[coupled_[first + c]];
      }
    }
  };
  addColumns();
  factor_.solveFirstFour(four_.data(), four_response_.data());
  core::parallelFor(setup_.pool, numVertices(), kRowGrain,
                    [&](std::int64_t begin, std::int64_t end) {
                      soft_.multiplyFour(static_cast<int>(begin), static_cast<int>(end),
                                         four_response_.data(), four_.data());
                    });
  for (Real& x : four_) x = -x;
  addColumns();
  for (int c = 0; c < count; ++c) {
    Real* const response = response_.data() + std::int64_t{first + c} * size;
    Real* const residual = residual_.data() + std::int64_t{first + c} * size;
    for (int k = 0; k < size; ++k) {
      response[k] = four_response_[4 * k + c];
      residual[k] = four_[4 * k + c];
    }
  }
}

/// The same of one column, the last of nine: four would cost twice as much. The same bits.
void SapSparseHessian::findResponse(int column) {
  const int size = 3 * numVertices();
  Real* const response = response_.data() + std::int64_t{column} * size;
  Real* const residual = residual_.data() + std::int64_t{column} * size;
  std::fill_n(residual, size, Real(0));
  for (std::size_t t = 0; t < touched_.size(); ++t) {
    for (int r = 0; r < 3; ++r) {
      residual[3 * touched_[t] + r] = coupling_[(3 * t + r) * num_dense_ + coupled_[column]];
    }
  }
  factor_.solveFirst(residual, response);
  multiplySoft(response, correction_.data());
  for (int k = 0; k < size; ++k) residual[k] -= correction_[k];
}

/// L^-1 of the diagonal blocks of R.
bool SapSparseHessian::factorDense() {
  const auto size = static_cast<std::size_t>(first_entry_.back());
  block_.resize(size);
  block_scratch_.resize(size);
  inverse_block_.resize(size);
  rows_.resize(static_cast<std::size_t>(num_dense_));
  for (std::size_t i = 0; i < setup_.dense.size(); ++i) {
    const DenseClique& clique = setup_.dense[i];
    std::copy_n(clique.a, clique.size * clique.size, block_.data() + first_entry_[i]);
  }
  for (const SparseLocal& local : setup_.locals) {
    const Real* const g = hessian_ + local.hessian;
    const int m = local.numRows;
    if (local.numDense == 0 || isZero(g, hessianSize(local.kind, m))) continue;
    for (int i = 0; i < local.numDense; ++i) {
      const SparseLocal::Dense& own = local.dense[i];
      const DenseClique& clique = setup_.dense[own.clique];
      wide_.resize(static_cast<std::size_t>(m) * own.columns);
      multiplyHessian(hessianOf(local.kind), g, m, own.columns, own.jacobian, wide_.data());
      addProduct(wide_.data(), own.jacobian, m, own.columns, own.columns, clique.size,
                 block_.data() + first_entry_[own.clique] +
                     (own.velocity - clique.first) * (std::int64_t{clique.size} + 1));
    }
  }
  bool isGood = true;
  for (std::size_t i = 0; i < setup_.dense.size(); ++i) {
    isGood =
        isGood && sixFunctions().invertFactor(block_.data() + first_entry_[i], setup_.dense[i].size,
                                              block_scratch_.data() + first_entry_[i],
                                              inverse_block_.data() + first_entry_[i]);
  }
  return isGood;
}

void SapSparseHessian::multiplySoft(const Real* x, Real* y) const {
  core::parallelFor(
      setup_.pool, numVertices(), kRowGrain, [&](std::int64_t begin, std::int64_t end) {
        soft_.matrix().multiplyRows(static_cast<int>(begin), static_cast<int>(end), x, y);
      });
}

void SapSparseHessian::multiply(const Real* x, Real* y) {
  const Real* const xs = x + num_dense_;
  Real* const ys = y + num_dense_;
  multiplySoft(xs, ys);
  if (!is_assembled_) return multiplyByConstraints(x, y);
  multiplyDense(dense_.data(), num_dense_, num_dense_, x, y);
  addCoupling(x, ys);
  addCouplingTransposed(xs, y);
}

/// ys += C x.
void SapSparseHessian::addCoupling(const Real* x, Real* y) const {
  for (std::size_t t = 0; t < touched_.size(); ++t) {
    for (int r = 0; r < 3; ++r) {
      const Real* const row = coupling_.data() + (3 * t + r) * num_dense_;
      Real sum = 0;
      for (const std::int32_t c : coupled_) sum += row[c] * x[c];
      y[3 * touched_[t] + r] += sum;
    }
  }
}

/// y += C^T xs.
void SapSparseHessian::addCouplingTransposed(const Real* x, Real* y) const {
  for (std::size_t t = 0; t < touched_.size(); ++t) {
    for (int r = 0; r < 3; ++r) {
      const Real* const row = coupling_.data() + (3 * t + r) * num_dense_;
      const Real s = x[3 * touched_[t] + r];
      for (const std::int32_t c : coupled_) y[c] += row[c] * s;
    }
  }
}

/// y_r = R x_r + C^T x_s and y_s += C x_r from the Jacobians.
void SapSparseHessian::multiplyByConstraints(const Real* x, Real* y) {
  for (const DenseClique& clique : setup_.dense) {
    multiplyDense(clique.a, clique.size, clique.size, x + clique.first, y + clique.first);
  }
  for (const SparseLocal& local : setup_.locals) {
    const Real* const g = hessian_ + local.hessian;
    const int m = local.numRows;
    if (local.numDense == 0 || isZero(g, hessianSize(local.kind, m))) continue;
    Real rows[kSapMaxRows] = {}, impulse[kSapMaxRows] = {}, nodes[3 * kMaxGroupVertices];
    const std::int32_t* const vertices = setup_.vertices.data() + local.group.first;
    const int columns = 3 * local.group.count;
    for (int i = 0; i < local.numDense; ++i) {
      const SparseLocal::Dense& dense = local.dense[i];
      addMultiplied(dense.jacobian, m, dense.columns, x + dense.velocity, rows);
    }
    if (columns > 0) {
      multiplyHessian(hessianOf(local.kind), g, m, 1, rows, impulse);
      std::fill_n(nodes, columns, Real(0));
      addTransposed(local.softJacobian, m, columns, impulse, nodes);
      for (int k = 0; k < columns; ++k) {
        y[num_dense_ + 3 * vertices[k / 3] + k % 3] += nodes[k];
        nodes[k] = x[num_dense_ + 3 * vertices[k / 3] + k % 3];
      }
      addMultiplied(local.softJacobian, m, columns, nodes, rows);
    }
    multiplyHessian(hessianOf(local.kind), g, m, 1, rows, impulse);
    for (int i = 0; i < local.numDense; ++i) {
      const SparseLocal::Dense& dense = local.dense[i];
      addTransposed(dense.jacobian, m, dense.columns, impulse, y + dense.velocity);
    }
  }
}

void SapSparseHessian::precondition(const Real* r, Real* z) {
  const int n = num_dense_, size = 3 * numVertices();
  const Real* const rs = r + n;
  Real* const zs = z + n;
  factor_.solve(rs, zs);
  if (!is_assembled_) {
    for (std::size_t i = 0; i < setup_.dense.size(); ++i) {
      const DenseClique& clique = setup_.dense[i];
      const Real* const inverse = inverse_block_.data() + first_entry_[i];
      multiplyLower(inverse, clique.size, r + clique.first, rows_.data() + clique.first);
      multiplyLowerTransposed(inverse, clique.size, rows_.data() + clique.first, z + clique.first);
    }
    return;
  }
  // z_r = E^-1 (r_r - W^T r_s), z_s = B^-1 r_s - W z_r.
  const auto numCoupled = static_cast<int>(coupled_.size());
  for (int k = 0; k < n; ++k) small_[k] = r[k];
  for (int w = 0; w < numCoupled; ++w) {
    const Real* const own = response_.data() + std::int64_t{w} * size;
    small_[coupled_[w]] -= dotLong(own, rs, size);
  }
  multiplyLower(inverse_schur_.data(), n, small_.data(), small2_.data());
  multiplyLowerTransposed(inverse_schur_.data(), n, small2_.data(), z);
  for (int w = 0; w < numCoupled; ++w) {
    const Real* const own = response_.data() + std::int64_t{w} * size;
    const Real f = z[coupled_[w]];
    for (int k = 0; k < size; ++k) zs[k] -= own[k] * f;
  }
}

}  // namespace tangere::solver
