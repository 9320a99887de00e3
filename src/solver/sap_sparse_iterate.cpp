// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_sparse_iterate.hpp"

#include "solver/sap_iterate_common.hpp"
#include "solver/six_blocks.hpp"
#include "solver/small_dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace tangere::solver {
namespace {

/// Vertices of one part of a sum, and of one task.
constexpr int kVertexGrain = 256;

}  // namespace

/// body(chunk, first velocity, end velocity), where a chunk is one of chunks_; total gets the sums
/// that it returns.
template <class Sum, class Body>
void SapSparseIterate::addVelocityChunks(std::vector<Sum>* parts, Sum* total,
                                         const Body& body) const {
  addChunks(pool_, static_cast<int>(chunks_.size()), 1, parts, total, [&](int i, int) {
    const Chunk& chunk = chunks_[i];
    if (chunk.isSparse) {
      const int first = num_dense_ + 3 * soft_[chunk.clique].firstRow;
      return body(chunk, first + 3 * chunk.begin, first + 3 * chunk.end);
    }
    const DenseClique& clique = dense_[chunk.clique];
    return body(chunk, clique.first, clique.first + clique.size);
  });
}

SapInput SapSparseIterate::bind(const SapOptions& options, const SapProblem& problem,
                                std::span<const std::int32_t> cliques,
                                std::span<const std::int32_t> constraints, core::ThreadPool* pool) {
  problem_ = &problem;
  pool_ = pool;
  constraints_.clear();
  bad_constraint_ = bad_clique_ = -1;
  has_new_hessian_ = true;
  if (const SapInput input = bindCliques(cliques); input != SapInput::Good) return input;
  if (const SapInput input = bindConstraints(options, constraints); input != SapInput::Good) {
    return input;
  }
  h_.setPattern({.dense = dense_,
                 .bodies = bodies_,
                 .positions = positions_,
                 .locals = locals_,
                 .vertices = vertices_,
                 .preconditioner = options.softPreconditioner,
                 .pool = pool});
  setReference();
  chooseGuess(options);
  return SapInput::Good;
}

/// Velocities of the dense cliques come first.
SapInput SapSparseIterate::bindCliques(std::span<const std::int32_t> cliques) {
  const SapProblem& problem = *problem_;
  growTo(&first_velocity_, static_cast<std::size_t>(problem.numCliques()));
  growTo(&local_clique_, static_cast<std::size_t>(problem.numCliques()));
  dense_.clear();
  dense_clique_.clear();
  soft_.clear();
  bodies_.clear();
  positions_.clear();
  chunks_.clear();
  first_entry_.assign(1, 0);
  num_dense_ = num_vertices_ = 0;
  has_turning_ = false;
  for (const std::int32_t clique : cliques) {
    if (problem.isSparse(clique)) continue;
    const std::int32_t n = problem.numVelocities(clique);
    first_velocity_[clique] = num_dense_;
    local_clique_[clique] = static_cast<std::int32_t>(dense_.size());
    chunks_.push_back({.clique = local_clique_[clique]});
    dense_.push_back({.a = problem.matrix(clique), .first = num_dense_, .size = n});
    dense_clique_.push_back(clique);
    first_entry_.push_back(first_entry_.back() + std::int64_t{n} * n);
    num_dense_ += n;
  }
  for (const std::int32_t clique : cliques) {
    if (!problem.isSparse(clique)) continue;
    const SapSparseClique& data = problem.sparseClique(clique);
    const int numRows = data.a->numRows();
    first_velocity_[clique] = num_dense_ + 3 * num_vertices_;
    local_clique_[clique] = static_cast<std::int32_t>(soft_.size());
    for (int begin = 0; begin < numRows; begin += kVertexGrain) {
      chunks_.push_back({.clique = local_clique_[clique],
                         .begin = begin,
                         .end = std::min(begin + kVertexGrain, numRows),
                         .isSparse = true});
    }
    soft_.push_back({.data = &data, .clique = clique, .firstRow = num_vertices_});
    bodies_.push_back(data.a);
    positions_.push_back(data.positions);
    has_turning_ = has_turning_ || data.turning != nullptr;
    num_vertices_ += numRows;
  }
  num_velocities_ = num_dense_ + 3 * num_vertices_;
  const auto size = static_cast<std::size_t>(num_velocities_);
  for (std::vector<Real>* array : {&reference_, &offset_, &reference_momentum_, &scale_, &v_,
                                   &difference_, &momentum_, &generalized_impulse_, &gradient_,
                                   &direction_, &direction_momentum_, &scratch_, &rounding_}) {
    growTo(array, size);
  }
  if (const SapInput input = bindDense(); input != SapInput::Good) return input;
  return bindSparse();
}

SapInput SapSparseIterate::bindDense() {
  const auto numEntries = static_cast<std::size_t>(first_entry_.back());
  growTo(&inverse_factor_, numEntries);
  growTo(&factor_scratch_, numEntries);
  growTo(&inverse_diagonal_, static_cast<std::size_t>(num_dense_));
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const DenseClique& clique = dense_[i];
    const int n = clique.size, start = problem_->firstVelocity[dense_clique_[i]];
    bad_clique_ = dense_clique_[i];
    if (!isFiniteArray(clique.a, n * n) || !isFiniteArray(problem_->vStar.data() + start, n)) {
      return SapInput::NotFinite;
    }
    Real* const inverse = inverse_factor_.data() + first_entry_[i];
    if (!sixFunctions().invertFactor(clique.a, n, factor_scratch_.data() + first_entry_[i],
                                     inverse)) {
      return SapInput::NotPositive;
    }
    sixFunctions().inverseDiagonal(inverse, n, inverse_diagonal_.data() + clique.first);
    for (int k = 0; k < n; ++k) {
      const Real guess = problem_->v[start + k];
      v_[clique.first + k] = std::isfinite(guess) ? guess : problem_->vStar[start + k];
      reference_[clique.first + k] = problem_->vStar[start + k];
      scale_[clique.first + k] = 1 / std::sqrt(clique.a[k * n + k]);
    }
  }
  bad_clique_ = -1;
  return SapInput::Good;
}

SapInput SapSparseIterate::bindSparse() {
  growTo(&inverse_blocks_, static_cast<std::size_t>(num_vertices_) * 9);
  growTo(&mass_, static_cast<std::size_t>(num_vertices_));
  for (const Soft& soft : soft_) {
    const math::BlockCsr& a = *soft.data->a;
    const int numRows = a.numRows(), start = problem_->firstVelocity[soft.clique];
    bad_clique_ = soft.clique;
    if (!isFiniteArray(a.values.data(), 9 * a.numBlocks()) ||
        !isFiniteArray(soft.data->momentum, 3 * numRows) ||
        !isFiniteArray(soft.data->mass, numRows)) {
      return SapInput::NotFinite;
    }
    if (const SapTurning* turning = soft.data->turning;
        turning != nullptr &&
        (!isFiniteArray(turning->p, 9 * numRows) || !isFiniteArray(turning->q, 9 * numRows) ||
         !isFiniteArray(turning->c, 9))) {
      return SapInput::NotFinite;
    }
    const int first = num_dense_ + 3 * soft.firstRow;
    for (int i = 0; i < numRows; ++i) {
      const Real* const block = a.block(a.diagonal[i]);
      mass_[soft.firstRow + i] = soft.data->mass[i];
      if (!(soft.data->mass[i] > 0) ||
          !invertSymmetricBlock(block, 0,
                                inverse_blocks_.data() + std::size_t{9} * (soft.firstRow + i))) {
        return SapInput::NotPositive;
      }
      for (int k = 0; k < 3; ++k) {
        const Real guess = problem_->v[start + 3 * i + k];
        v_[first + 3 * i + k] = std::isfinite(guess) ? guess : 0;
        scale_[first + 3 * i + k] = 1 / std::sqrt(block[4 * k]);
      }
    }
  }
  bad_clique_ = -1;
  return SapInput::Good;
}

SapInput SapSparseIterate::bindConstraints(const SapOptions& options,
                                           std::span<const std::int32_t> constraints) {
  const SapProblem& problem = *problem_;
  locals_.resize(constraints.size());
  packed_at_.resize(constraints.size());
  vertices_.clear();
  packed_.clear();
  num_rows_ = num_hessian_ = 0;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const SapConstraint& c = problem.constraints[constraints[i]];
    SparseLocal& local = locals_[i];
    local = {};
    addRows(problem, constraints[i], &num_rows_, &num_hessian_, &local);
    bindSides(c, &local);
    packed_at_[i] = c.numNodes1 > 0 && c.numNodes2 > 0 ? packJacobians(c) : -1;
  }
  for (std::size_t i = 0; i < locals_.size(); ++i) {
    if (packed_at_[i] >= 0) locals_[i].softJacobian = packed_.data() + packed_at_[i];
  }
  for (std::vector<Real>* array : {&vc_, &gamma_, &bias_, &impulse_guess_, &direction_vc_}) {
    growTo(array, static_cast<std::size_t>(num_rows_));
  }
  for (std::vector<Real>* array : {&hessian_, &new_hessian_, &used_hessian_}) {
    growTo(array, static_cast<std::size_t>(num_hessian_));
  }
  growTo(&delassus_, locals_.size() * kDelassusStride);
  forEachChunk(pool_, numConstraints(), kConstraintGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      delassus(locals_[i], delassus_.data() + i * std::size_t{kDelassusStride});
    }
  });
  bad_constraint_ = prepareRows(options, problem, delassus_, &locals_, bias_.data(), &constraints_);
  return bad_constraint_ < 0 ? SapInput::Good : SapInput::NotFinite;
}

void SapSparseIterate::bindSides(const SapConstraint& c, SparseLocal* local) {
  const SapProblem& problem = *problem_;
  local->group.first = static_cast<std::int32_t>(vertices_.size());
  const auto addVertices = [&](std::int32_t clique, std::int32_t firstNode, int count) {
    const std::int32_t firstRow = soft_[local_clique_[clique]].firstRow;
    for (int k = 0; k < count; ++k) vertices_.push_back(firstRow + problem.nodes[firstNode + k]);
    local->group.count += count;
  };
  const Real* const jacobian1 = problem.jacobian.data() + c.jacobian1;
  const Real* const jacobian2 = problem.jacobian.data() + c.jacobian2;
  if (c.numNodes1 > 0) {
    addVertices(c.clique1, c.firstNode1, c.numNodes1);
    local->softJacobian = jacobian1;
  } else {
    addDenseSide(c.clique1, c.dof1, jacobian1, local);
  }
  if (c.clique2 < 0) return;
  if (c.numNodes2 > 0) {
    addVertices(c.clique2, c.firstNode2, c.numNodes2);
    if (c.numNodes1 == 0) local->softJacobian = jacobian2;
  } else {
    addDenseSide(c.clique2, -1, jacobian2, local);
  }
}

void SapSparseIterate::addDenseSide(std::int32_t clique, std::int32_t dof, const Real* jacobian,
                                    SparseLocal* local) {
  const std::int32_t index = local_clique_[clique];
  local->dense[local->numDense++] = {.jacobian = jacobian,
                                     .velocity = dense_[index].first + std::max(dof, 0),
                                     .columns = dof >= 0 ? 1 : dense_[index].size,
                                     .clique = index};
}

/// The Jacobians of two sparse sides, side by side; where in packed_.
std::int64_t SapSparseIterate::packJacobians(const SapConstraint& c) {
  const auto at = static_cast<std::int64_t>(packed_.size());
  const int columns1 = 3 * c.numNodes1, columns2 = 3 * c.numNodes2;
  for (int r = 0; r < c.numRows; ++r) {
    const auto row1 = problem_->jacobian.begin() + c.jacobian1 + r * columns1;
    const auto row2 = problem_->jacobian.begin() + c.jacobian2 + r * columns2;
    packed_.insert(packed_.end(), row1, row1 + columns1);
    packed_.insert(packed_.end(), row2, row2 + columns2);
  }
  return at;
}

/// W = J A^-1 J^T; of vertices with the diagonal blocks of A alone.
void SapSparseIterate::delassus(const SparseLocal& local, Real* w) const {
  const int m = local.numRows;
  std::fill_n(w, m * m, Real(0));
  std::vector<Real> heap;
  for (int d = 0; d < local.numDense; ++d) {
    const SparseLocal::Dense& side = local.dense[d];
    const DenseClique& clique = dense_[side.clique];
    if (side.columns < clique.size) {  // one row on one velocity
      w[0] += side.jacobian[0] * inverse_diagonal_[side.velocity] * side.jacobian[0];
      continue;
    }
    const int n = clique.size;
    Real stack[kSapMaxRows * kMaxStackVelocities];
    if (n > kMaxStackVelocities) heap.resize(static_cast<std::size_t>(m) * n);
    Real* const y = n > kMaxStackVelocities ? heap.data() : stack;
    const Real* const inverse = inverse_factor_.data() + first_entry_[side.clique];
    addDelassus(side.jacobian, m, n, inverse, y, w);
  }
  const int columns = 3 * local.group.count;
  for (int i = 0; i < local.group.count; ++i) {
    const Real* const inverse =
        inverse_blocks_.data() + std::size_t{9} * vertices_[local.group.first + i];
    for (int a = 0; a < m; ++a) {
      Real y[3];
      multiplyDense(inverse, 3, 3, local.softJacobian + a * columns + 3 * i, y);
      for (int b = 0; b <= a; ++b) {
        const Real* const j = local.softJacobian + b * columns + 3 * i;
        w[a * m + b] += y[0] * j[0] + y[1] * j[1] + y[2] * j[2];
      }
    }
  }
  mirrorLower(m, w);
}

/// The sparse cliques count from their guess.
void SapSparseIterate::setReference() {
  for (const Soft& soft : soft_) {
    const int first = num_dense_ + 3 * soft.firstRow, size = 3 * soft.data->a->numRows();
    std::copy_n(v_.data() + first, size, reference_.data() + first);
  }
  CostAndScale total;
  readTurnings(reference_.data());
  addVelocityChunks(&cost_parts_, &total, [&](const Chunk& chunk, int begin, int end) {
    multiplyA(chunk, reference_.data(), reference_momentum_.data());
    CostAndScale sum;
    for (int k = begin; k < end; ++k) {
      offset_[k] = 0;
      if (!chunk.isSparse) continue;
      const Soft& soft = soft_[chunk.clique];
      const Real b = soft.data->momentum[k - num_dense_ - 3 * soft.firstRow];
      offset_[k] = reference_momentum_[k] - b;
      sum.add(reference_[k] * (Real(0.5) * reference_momentum_[k] - b));
    }
    return sum;
  });
  cost_offset_ = total.cost;
}

void SapSparseIterate::setFreeVelocity() {
  std::copy_n(reference_.data(), num_velocities_, v_.data());
  is_evaluated_ = false;
}

/// Dense cliques may start from the impulses of the last step, where that is better than the guess
/// of the velocity: for the sparse ones it would take a solution with A.
void SapSparseIterate::chooseGuess(const SapOptions& options) {
  is_evaluated_ = false;
  if (options.guess == SapGuess::Velocity || num_dense_ == 0) return;
  if (!readImpulseGuess(*problem_, locals_, num_rows_, impulse_guess_.data())) {
    return;
  }
  evaluate();
  const Real velocityCost = cost_;
  saveBest();
  std::copy_n(impulse_guess_.data(), num_rows_, gamma_.data());
  gatherImpulses();
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const int n = dense_[i].size, first = dense_[i].first;
    const Real* const inverse = inverse_factor_.data() + first_entry_[i];
    multiplyInverse(inverse, n, generalized_impulse_.data() + first, scratch_.data() + first,
                    v_.data() + first);
    for (int k = 0; k < n; ++k) v_[first + k] += reference_[first + k];
  }
  evaluate();
  if (!(cost_ < velocityCost)) {
    restoreBest();
    evaluate();
  }
}

/// J x of one constraint.
void SapSparseIterate::rowVelocity(const SparseLocal& local, const Real* x, Real* y) const {
  const int m = local.numRows;
  for (int k = 0; k < m; ++k) y[k] = 0;
  for (int d = 0; d < local.numDense; ++d) {
    const SparseLocal::Dense& side = local.dense[d];
    addMultiplied(side.jacobian, m, side.columns, x + side.velocity, y);
  }
  if (local.group.count == 0) return;
  Real nodes[3 * kMaxGroupVertices];
  const Real* const xs = x + num_dense_;
  for (int i = 0; i < local.group.count; ++i) {
    const Real* const from = xs + 3 * vertices_[local.group.first + i];
    for (int k = 0; k < 3; ++k) nodes[3 * i + k] = from[k];
  }
  addMultiplied(local.softJacobian, m, 3 * local.group.count, nodes, y);
}

/// y += J^T x of one constraint, x its rows.
void SapSparseIterate::addTransposed(const SparseLocal& local, const Real* x, Real* y) const {
  const int m = local.numRows;
  for (int d = 0; d < local.numDense; ++d) {
    const SparseLocal::Dense& side = local.dense[d];
    solver::addTransposed(side.jacobian, m, side.columns, x, y + side.velocity);
  }
  if (local.group.count == 0) return;
  Real nodes[3 * kMaxGroupVertices] = {};
  solver::addTransposed(local.softJacobian, m, 3 * local.group.count, x, nodes);
  Real* const ys = y + num_dense_;
  for (int i = 0; i < local.group.count; ++i) {
    Real* const to = ys + 3 * vertices_[local.group.first + i];
    for (int k = 0; k < 3; ++k) to[k] += nodes[3 * i + k];
  }
}

/// What multiplyA() needs to know of the whole x.
void SapSparseIterate::readTurnings(const Real* x) {
  if (!has_turning_) return;
  for (Soft& soft : soft_) {
    if (soft.data->turning == nullptr) continue;
    const SapTurning& turning = *soft.data->turning;
    const int size = 3 * soft.data->a->numRows();
    const Real* const own = x + num_dense_ + 3 * soft.firstRow;
    Real byP[3] = {}, byQ[3] = {};
    for (int i = 0; i < size; ++i) {
      for (int k = 0; k < 3; ++k) {
        byP[k] += turning.p[3 * i + k] * own[i];
        byQ[k] += turning.q[3 * i + k] * own[i];
      }
    }
    for (int k = 0; k < 3; ++k) {
      soft.turn[k] = byQ[k];
      soft.turn[3 + k] = byP[k] - (turning.c[3 * k] * byQ[0] + turning.c[3 * k + 1] * byQ[1] +
                                   turning.c[3 * k + 2] * byQ[2]);
    }
  }
}

/// y -= (P Q^T + Q P^T - Q C Q^T) x of the vertices from `begin` to `end`.
void SapSparseIterate::addTurning(const Soft& soft, int begin, int end, Real* y) const {
  if (soft.data->turning == nullptr) return;
  const Real* const p = soft.data->turning->p;
  const Real* const q = soft.data->turning->q;
  for (int i = 3 * begin; i < 3 * end; ++i) {
    for (int k = 0; k < 3; ++k)
      y[i] -= p[3 * i + k] * soft.turn[k] + q[3 * i + k] * soft.turn[3 + k];
  }
}

void SapSparseIterate::addTurnings(const Real* x, Real* y) {
  if (!has_turning_) return;
  readTurnings(x);
  for (const Soft& soft : soft_)
    addTurning(soft, 0, soft.data->a->numRows(), y + num_dense_ + 3 * soft.firstRow);
}

/// A x of the velocities of one chunk, after readTurnings(x).
void SapSparseIterate::multiplyA(const Chunk& chunk, const Real* x, Real* y) const {
  if (chunk.isSparse) {
    const Soft& soft = soft_[chunk.clique];
    const int first = num_dense_ + 3 * soft.firstRow;
    soft.data->a->multiplyRows(chunk.begin, chunk.end, x + first, y + first);
    addTurning(soft, chunk.begin, chunk.end, y + first);
    return;
  }
  const DenseClique& clique = dense_[chunk.clique];
  multiplyDense(clique.a, clique.size, clique.size, x + clique.first, y + clique.first);
}

void SapSparseIterate::evaluate() {
  is_evaluated_ = true;
  CostAndScale total;
  addChunks(pool_, numConstraints(), kConstraintGrain, &cost_parts_, &total,
            [&](int begin, int end) {
              CostAndScale sum;
              for (int i = begin; i < end; ++i) {
                const SparseLocal& local = locals_[i];
                Real* const vc = vc_.data() + local.row;
                rowVelocity(local, v_.data(), vc);
                for (int k = 0; k < local.numRows; ++k) vc[k] += bias_[local.row + k];
                if (local.kind == SapKind::Contact && constraints_.isFollowing()) {
                  constraints_.follow(local.parameters, vc);
                }
                sum.add(constraints_.evaluate(local.kind, local.numRows, local.parameters, vc,
                                              gamma_.data() + local.row,
                                              new_hessian_.data() + local.hessian));
              }
              return sum;
            });
  cost_ = total.cost;
  cost_scale_ = total.scale;
  gatherImpulses();
  const auto hessianBytes = static_cast<std::size_t>(num_hessian_) * sizeof(Real);
  has_new_hessian_ =
      has_new_hessian_ ||
      (num_hessian_ > 0 && std::memcmp(hessian_.data(), new_hessian_.data(), hessianBytes) != 0);
  std::swap(hessian_, new_hessian_);
  evaluateGradient();
}

/// J^T gamma, in the order of the constraints.
void SapSparseIterate::gatherImpulses() {
  std::fill_n(generalized_impulse_.data(), num_velocities_, Real(0));
  for (const SparseLocal& local : locals_) {
    addTransposed(local, gamma_.data() + local.row, generalized_impulse_.data());
  }
}

/// Everything that is summed over velocities.
void SapSparseIterate::evaluateGradient() {
  for (int k = 0; k < num_velocities_; ++k) difference_[k] = v_[k] - reference_[k];
  VelocitySums total;
  readTurnings(difference_.data());
  addVelocityChunks(&velocity_parts_, &total, [&](const Chunk& chunk, int begin, int end) {
    VelocitySums sum;
    multiplyA(chunk, difference_.data(), momentum_.data());
    for (int k = begin; k < end; ++k) {
      const Real own = difference_[k] * (Real(0.5) * momentum_[k] + offset_[k]);
      sum.cost.cost += own;
      sum.cost.scale += chunk.isSparse ? std::abs(own) : own;
      const Real j = generalized_impulse_[k];
      const Real whole = momentum_[k] + reference_momentum_[k];
      momentum_[k] += offset_[k];
      gradient_[k] = momentum_[k] - j;
      sum.squares.add(scale_[k], gradient_[k], whole, j);
    }
    return sum;
  });
  cost_ += total.cost.cost;
  cost_scale_ += total.cost.scale;
  gradient_norm_ = std::sqrt(total.squares.gradient);
  momentum_norm_ = std::sqrt(std::max(total.squares.momentum, total.squares.impulse));
}

void SapSparseIterate::useHessian(bool isBlended) {
  has_new_hessian_ = takeHessian(isBlended, hessian_.data(), num_hessian_, used_hessian_.data());
}

Real SapSparseIterate::dot(const Real* x, const Real* y) const {
  return dotLong(x, y, num_velocities_);
}

void SapSparseIterate::multiplyCoupled(const Real* x, Real* y) {
  multiply(x, y);
  addCoupled(
      locals_, coupling_,
      [&](const SparseLocal& local, Real* rows) { rowVelocity(local, x, rows); },
      [&](const SparseLocal& local, const Real* rows) { addTransposed(local, rows, y); });
}

Real SapSparseIterate::setDirection() {
  forEachChunk(pool_, numConstraints(), kConstraintGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      rowVelocity(locals_[i], direction_.data(), direction_vc_.data() + locals_[i].row);
    }
  });
  readTurnings(direction_.data());
  forEachChunk(pool_, static_cast<int>(chunks_.size()), 1, [&](int i, int) {
    multiplyA(chunks_[i], direction_.data(), direction_momentum_.data());
  });
  line_slope_ = dot(direction_.data(), momentum_.data());
  line_curvature_ = dot(direction_momentum_.data(), direction_.data());
  return dot(direction_.data(), gradient_.data());
}

LinePoint SapSparseIterate::evaluateLine(Real alpha) {
  LinePoint point{.slope = line_slope_ + alpha * line_curvature_, .curvature = line_curvature_};
  addChunks(
      pool_, numConstraints(), kConstraintGrain, &line_parts_, &point, [&](int begin, int end) {
        LinePoint sum;
        for (int i = begin; i < end; ++i) {
          const SparseLocal& local = locals_[i];
          if (constraints_.isFollowing() && local.kind == SapKind::Contact) {
            addFollowingToLine(constraints_, local.parameters, vc_.data() + local.row,
                               direction_vc_.data() + local.row, alpha, &sum);
            continue;
          }
          const auto evaluateOne = [&](const Real* vc, Real* gamma, Real* g) {
            return constraints_.evaluate(local.kind, local.numRows, local.parameters, vc, gamma, g);
          };
          addToLine(hessianOf(local.kind), local.numRows, vc_.data() + local.row,
                    direction_vc_.data() + local.row, alpha, evaluateOne, &sum);
        }
        return sum;
      });
  return point;
}

void SapSparseIterate::move(Real alpha) {
  is_evaluated_ = false;
  for (int k = 0; k < num_velocities_; ++k) v_[k] += alpha * direction_[k];
}

/// By A^-1 grad of the dense cliques and that of the diagonal blocks of the others.
std::int32_t SapSparseIterate::worstConstraint() {
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const int first = dense_[i].first, n = dense_[i].size;
    const Real* const inverse = inverse_factor_.data() + first_entry_[i];
    multiplyInverse(inverse, n, gradient_.data() + first, rounding_.data() + first,
                    scratch_.data() + first);
  }
  for (int i = 0; i < num_vertices_; ++i) {
    multiplyDense(inverse_blocks_.data() + std::size_t{9} * i, 3, 3,
                  gradient_.data() + num_dense_ + 3 * i, scratch_.data() + num_dense_ + 3 * i);
  }
  return largestConstraint(locals_, [&](const SparseLocal& local, Real* error) {
    rowVelocity(local, scratch_.data(), error);
  });
}

void SapSparseIterate::write(SapProblem* problem) const {
  const auto writeVelocities = [&](std::int32_t clique) {
    const int first = first_velocity_[clique];
    writeClique(clique, v_.data() + first, generalized_impulse_.data() + first, problem);
  };
  for (const std::int32_t clique : dense_clique_) writeVelocities(clique);
  for (const Soft& soft : soft_) writeVelocities(soft.clique);
  writeRows(locals_, gamma_.data(), vc_.data(), problem);
}

}  // namespace tangere::solver
