// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_iterate.hpp"

#include "core/assert.hpp"
#include "core/stable_sort.hpp"
#include "solver/sap_iterate_common.hpp"
#include "solver/small_dense.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace tangere::solver {
namespace {

/// Cliques of one part of a sum, and of one task.
constexpr int kCliqueGrain = 32;

}  // namespace

SapInput SapIterate::bind(const SapOptions& options, const SapProblem& problem,
                          std::span<const std::int32_t> cliques,
                          std::span<const std::int32_t> constraints, core::ThreadPool* pool) {
  problem_ = &problem;
  pool_ = pool;
  constraints_.clear();
  bad_constraint_ = -1;
  has_new_hessian_ = true;
  if (const SapInput input = bindCliques(cliques); input != SapInput::Good) return input;
  if (const SapInput input = bindConstraints(options, constraints); input != SapInput::Good) {
    return input;
  }
  findEdges();
  listTouches();
  return chooseGuess(options);
}

SapInput SapIterate::bindCliques(std::span<const std::int32_t> cliques) {
  const SapProblem& problem = *problem_;
  const std::size_t count = cliques.size();
  clique_of_problem_.assign(cliques.begin(), cliques.end());
  growTo(&local_clique_, static_cast<std::size_t>(problem.numCliques()));
  sizes_.resize(count);
  first_velocity_.resize(count + 1);
  first_entry_.resize(count + 1);
  a_.resize(count);
  first_velocity_[0] = 0;
  first_entry_[0] = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t clique = cliques[i];
    const std::int32_t n = problem.numVelocities(clique);
    local_clique_[clique] = static_cast<std::int32_t>(i);
    sizes_[i] = n;
    a_[i] = problem.matrix(clique);
    first_velocity_[i + 1] = first_velocity_[i] + n;
    first_entry_[i + 1] = first_entry_[i] + std::int64_t{n} * n;
  }
  num_velocities_ = first_velocity_[count];
  const auto size = static_cast<std::size_t>(num_velocities_);
  for (std::vector<Real>* array :
       {&v_star_, &momentum_star_, &scale_, &v_, &difference_, &momentum_, &generalized_impulse_,
        &gradient_, &direction_, &direction_momentum_, &scratch_, &rounding_, &inverse_diagonal_}) {
    growTo(array, size);
  }
  growTo(&inverse_factor_, static_cast<std::size_t>(first_entry_[count]));
  growTo(&factor_scratch_, static_cast<std::size_t>(first_entry_[count]));

  std::atomic<int> worst{0};
  forEachChunk(pool_, numCliques(), kCliqueGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int n = sizes_[i], first = first_velocity_[i];
      const int start = problem.firstVelocity[clique_of_problem_[i]];
      for (int k = 0; k < n; ++k) {
        v_star_[first + k] = problem.vStar[start + k];
        v_[first + k] = problem.v[start + k];
        scale_[first + k] = 1 / std::sqrt(a_[i][k * n + k]);
      }
      six_->multiplySymmetric(a_[i], n, v_star_.data() + first, momentum_star_.data() + first);
      Real* const inverse = inverse_factor_.data() + first_entry_[i];
      if (!six_->invertFactor(a_[i], n, factor_scratch_.data() + first_entry_[i], inverse)) {
        worst.store(1);
        continue;
      }
      // (A^-1)_cc: the squares of column c of L^-1.
      six_->inverseDiagonal(inverse, n, inverse_diagonal_.data() + first);
    }
  });
  if (worst.load() == 0) return SapInput::Good;
  for (std::size_t i = 0; i < count; ++i) {
    if (!isFiniteArray(a_[i], sizes_[i] * sizes_[i])) return SapInput::NotFinite;
  }
  return SapInput::NotPositive;
}

SapInput SapIterate::bindConstraints(const SapOptions& options,
                                     std::span<const std::int32_t> constraints) {
  const SapProblem& problem = *problem_;
  locals_.resize(constraints.size());
  num_rows_ = num_hessian_ = 0;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const SapConstraint& c = problem.constraints[constraints[i]];
    Local& local = locals_[i];
    addRows(problem, constraints[i], &num_rows_, &num_hessian_, &local);
    local.jacobian1 = problem.jacobian.data() + c.jacobian1;
    local.jacobian2 = problem.jacobian.data() + c.jacobian2;
    local.clique1 = local_clique_[c.clique1];
    local.velocity1 = first_velocity_[local.clique1] + std::max(c.dof1, 0);
    local.size1 = c.dof1 >= 0 ? 1 : sizes_[local.clique1];
    local.clique2 = -1;
    local.velocity2 = local.size2 = 0;
    if (c.clique2 >= 0) {
      local.clique2 = local_clique_[c.clique2];
      local.velocity2 = first_velocity_[local.clique2];
      local.size2 = sizes_[local.clique2];
    }
    local.shape = c.dof1 >= 0                  ? Shape::Velocity
                  : c.kind == SapKind::Contact ? Shape::Contact
                                               : Shape::General;
    if (local.shape == Shape::Contact && local.size1 == 6) {
      if (local.size2 == 0) local.shape = Shape::OneFree;
      if (local.size2 == 6) local.shape = Shape::TwoFree;
    }
    local.edge = -1;
  }
  for (std::vector<Real>* array :
       {&vc_, &gamma_, &bias_, &impulse_guess_, &direction_vc_, &row_scratch_}) {
    growTo(array, static_cast<std::size_t>(num_rows_));
  }
  growTo(&hessian_, static_cast<std::size_t>(num_hessian_));
  growTo(&new_hessian_, static_cast<std::size_t>(num_hessian_));
  growTo(&used_hessian_, static_cast<std::size_t>(num_hessian_));
  growTo(&delassus_, locals_.size() * kDelassusStride);

  findRuns();
  forEachChunk(pool_, numConstraints(), kConstraintGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const Local& local = locals_[i];
      Real* const w = delassus_.data() + i * std::size_t{kDelassusStride};
      if (local.run > 0) {
        delassusOfRun(local, w);
        i += local.run - 1;
      } else {
        delassus(local, w);
      }
    }
  });
  bad_constraint_ = prepareRows(options, problem, delassus_, &locals_, bias_.data(), &constraints_);
  return bad_constraint_ < 0 ? SapInput::Good : SapInput::NotFinite;
}

/// W = J A^-1 J^T, numRows x numRows.
void SapIterate::delassus(const Local& local, Real* w) const {
  if (local.shape == Shape::Velocity) {
    w[0] = local.jacobian1[0] * inverse_diagonal_[local.velocity1] * local.jacobian1[0];
    return;
  }
  const int m = local.numRows;
  for (int i = 0; i < m * m; ++i) w[i] = 0;
  Real stack[kSapMaxRows * kMaxStackVelocities];
  std::vector<Real> heap;  // trees of more velocities are rare
  for (int side = 0; side < (local.size2 > 0 ? 2 : 1); ++side) {
    const Real* const jacobian = side == 0 ? local.jacobian1 : local.jacobian2;
    const int clique = side == 0 ? local.clique1 : local.clique2;
    const Real* const inverse = inverse_factor_.data() + first_entry_[clique];
    const int n = sizes_[clique];
    if (n > kMaxStackVelocities) heap.resize(static_cast<std::size_t>(kSapMaxRows) * n);
    Real* const scratch = n > kMaxStackVelocities ? heap.data() : stack;
    if (m == 3) {
      six_->addDelassus(jacobian, n, inverse, scratch, w);
    } else {
      addDelassus(jacobian, m, n, inverse, scratch, w);
    }
  }
  mirrorLower(m, w);
}

/// The same for the contacts of a run.
void SapIterate::delassusOfRun(const Local& local, Real* w) const {
  for (int i = 0; i < local.run; ++i) std::fill_n(w + i * kDelassusStride, 9, Real(0));
  const auto inverseOf = [&](int clique) { return inverse_factor_.data() + first_entry_[clique]; };
  six_->addDelassuses(side1(local), inverseOf(local.clique1), w, kDelassusStride);
  if (local.size2 > 0) {
    six_->addDelassuses(side2(local), inverseOf(local.clique2), w, kDelassusStride);
  }
  for (int i = 0; i < local.run; ++i, w += kDelassusStride) {
    w[1] = w[3];
    w[2] = w[6];
    w[5] = w[7];
  }
}

/// Contacts between the same cliques whose Jacobians lie behind each other; none over the end of a
/// chunk.
void SapIterate::findRuns() {
  const auto isAlike = [](const Local& a, const Local& b) {
    const std::int64_t stride = 3 * (a.size1 + a.size2);
    return b.shape == Shape::Contact && a.clique1 == b.clique1 && a.clique2 == b.clique2 &&
           b.jacobian1 - a.jacobian1 == stride && b.jacobian2 - a.jacobian2 == stride;
  };
  for (int i = 0; i < numConstraints();) {
    Local& first = locals_[i];
    first.run = 0;
    int end = i + 1;
    if (first.shape == Shape::Contact && std::max(first.size1, first.size2) <= kMaxSideSize) {
      const int limit = std::min(numConstraints(), (i / kConstraintGrain + 1) * kConstraintGrain);
      while (end < limit && isAlike(locals_[end - 1], locals_[end])) locals_[end++].run = 0;
      first.run = end - i;
    }
    i = end;
  }
}

void SapIterate::findEdges() {
  edges_.clear();
  std::uint64_t last = ~std::uint64_t{0};
  for (const Local& local : locals_) {
    if (local.size2 == 0) continue;
    const std::uint64_t key = BlockSparse::edgeKey(std::min(local.clique1, local.clique2),
                                                   std::max(local.clique1, local.clique2));
    if (key != last) edges_.push_back(key);
    last = key;
  }
  core::stableSortByKey(edges_, edge_scratch_, [](std::uint64_t key) { return key; });
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  last = ~std::uint64_t{0};
  std::int32_t edge = -1;
  for (Local& local : locals_) {
    if (local.size2 == 0) continue;
    const std::uint64_t key = BlockSparse::edgeKey(std::min(local.clique1, local.clique2),
                                                   std::max(local.clique1, local.clique2));
    if (key != last) {
      edge = static_cast<std::int32_t>(std::lower_bound(edges_.begin(), edges_.end(), key) -
                                       edges_.begin());
    }
    last = key;
    local.edge = edge;
  }
}

void SapIterate::listTouches() {
  touch_begin_.assign(sizes_.size() + 1, 0);
  for (const Local& local : locals_) {
    ++touch_begin_[local.clique1 + 1];
    if (local.size2 > 0) ++touch_begin_[local.clique2 + 1];
  }
  for (std::size_t i = 1; i < touch_begin_.size(); ++i) touch_begin_[i] += touch_begin_[i - 1];
  touches_.resize(static_cast<std::size_t>(touch_begin_.back()));
  for (int i = 0; i < numConstraints(); ++i) {
    const Local& local = locals_[i];
    touches_[touch_begin_[local.clique1]++] = {i, 0};
    if (local.size2 > 0) touches_[touch_begin_[local.clique2]++] = {i, 1};
  }
  for (std::size_t i = touch_begin_.size() - 1; i > 0; --i) touch_begin_[i] = touch_begin_[i - 1];
  touch_begin_[0] = 0;
}

SapInput SapIterate::chooseGuess(const SapOptions& options) {
  if (!isFiniteArray(v_star_.data(), num_velocities_)) return SapInput::NotFinite;
  is_evaluated_ = has_impulse_guess_ = is_swept_ = false;
  // A guess is only a guess: one that is not finite is left out.
  if (!isFiniteArray(v_.data(), num_velocities_)) setFreeVelocity();
  if (options.guess == SapGuess::Velocity) return SapInput::Good;
  if (!readImpulseGuess(*problem_, locals_, num_rows_, impulse_guess_.data())) {
    return SapInput::Good;
  }
  Real velocityCost = 0;
  if (options.guess == SapGuess::Best) {
    evaluate();
    velocityCost = cost_;
    saveBest();
  }
  std::copy_n(impulse_guess_.data(), num_rows_, gamma_.data());
  if (pool_ == nullptr) {
    scatterImpulses();
  } else {
    gatherImpulses();
  }
  for (int i = 0; i < numCliques(); ++i) {
    const int n = sizes_[i], first = first_velocity_[i];
    Real* const x = v_.data() + first;
    const Real* const inverse = inverse_factor_.data() + first_entry_[i];
    six_->multiplyInverse(inverse, n, generalized_impulse_.data() + first, scratch_.data() + first,
                          x);
    for (int k = 0; k < n; ++k) x[k] += v_star_[first + k];
  }
  has_impulse_guess_ = true;
  evaluate();
  if (options.guess == SapGuess::Best && !(cost_ < velocityCost)) {
    restoreBest();
    is_evaluated_ = has_impulse_guess_ = false;
  }
  return SapInput::Good;
}

void SapIterate::evaluate() {
  is_evaluated_ = true;
  const bool scatters = pool_ == nullptr;
  if (scatters) std::fill_n(generalized_impulse_.data(), num_velocities_, Real(0));
  CostAndScale total;
  addChunks(
      pool_, numConstraints(), kConstraintGrain, &cost_parts_, &total, [&](int begin, int end) {
        CostAndScale sum;
        for (int i = begin; i < end;) {
          const Local& local = locals_[i];
          if (local.run > 0) {
            evaluateRun(local, scatters, &sum);
            i += local.run;
            continue;
          }
          sum.add(
              withShape(local, [&](auto shape) { return evaluateOne<shape>(local, scatters); }));
          ++i;
        }
        return sum;
      });
  cost_ = total.cost;
  cost_scale_ = total.scale;
  if (!scatters) gatherImpulses();
  const auto hessianBytes = static_cast<std::size_t>(num_hessian_) * sizeof(Real);
  has_new_hessian_ = has_new_hessian_ || num_hessian_ == 0 ||
                     std::memcmp(hessian_.data(), new_hessian_.data(), hessianBytes) != 0;
  std::swap(hessian_, new_hessian_);
  evaluateGradient();
}

/// v_c, gamma, G and the cost of one constraint; J^T gamma where one thread does all.
template <SapIterate::Shape kShape>
Real SapIterate::evaluateOne(const Local& local, bool scatters) {
  const int m = Sizes<kShape>(local).numRows;
  Real* const vc = vc_.data() + local.row;
  Real* const gamma = gamma_.data() + local.row;
  Real* const g = new_hessian_.data() + local.hessian;
  rowVelocity<kShape>(local, v_.data(), vc);
  for (int k = 0; k < m; ++k) vc[k] += bias_[local.row + k];
  if (constraints_.isFollowing() && local.kind == SapKind::Contact) {
    constraints_.follow(local.parameters, vc);
  }
  const Real cost = kIsContact<kShape>
                        ? constraints_.evaluateContact(local.parameters, vc, gamma, g)
                        : constraints_.evaluate(local.kind, m, local.parameters, vc, gamma, g);
  if (scatters) addTransposed<kShape>(local, gamma, generalized_impulse_.data());
  return cost;
}

/// The same for the contacts of a run.
void SapIterate::evaluateRun(const Local& local, bool scatters, CostAndScale* sum) {
  Real* const vc = vc_.data() + local.row;
  Real* const gamma = gamma_.data() + local.row;
  runVelocity(local, v_.data(), vc);
  for (int k = 0; k < 3 * local.run; ++k) vc[k] += bias_[local.row + k];
  for (int i = 0; i < local.run; ++i) {
    const Local& own = (&local)[i];
    if (constraints_.isFollowing()) constraints_.follow(own.parameters, vc + 3 * i);
    sum->add(constraints_.evaluateContact(own.parameters, vc + 3 * i, gamma + 3 * i,
                                          new_hessian_.data() + own.hessian));
  }
  if (!scatters) return;
  six_->addTransposed(side1(local), gamma, generalized_impulse_.data() + local.velocity1);
  if (local.size2 > 0) {
    six_->addTransposed(side2(local), gamma, generalized_impulse_.data() + local.velocity2);
  }
}

/// Everything that is summed over cliques.
void SapIterate::evaluateGradient() {
  VelocitySums total;
  addChunks(pool_, numCliques(), kCliqueGrain, &velocity_parts_, &total, [&](int begin, int end) {
    VelocitySums sum;
    for (int i = begin; i < end; ++i) {
      const int first = first_velocity_[i], n = sizes_[i];
      for (int k = first; k < first + n; ++k) difference_[k] = v_[k] - v_star_[k];
      six_->multiplySymmetric(a_[i], n, difference_.data() + first, momentum_.data() + first);
      for (int k = first; k < first + n; ++k) {
        const Real j = generalized_impulse_[k];
        gradient_[k] = momentum_[k] - j;
        sum.cost.cost += difference_[k] * momentum_[k];
        sum.squares.add(scale_[k], gradient_[k], momentum_[k] + momentum_star_[k], j);
      }
    }
    return sum;
  });
  cost_ += 0.5 * total.cost.cost;
  cost_scale_ += 0.5 * total.cost.cost;
  gradient_norm_ = std::sqrt(total.squares.gradient);
  momentum_norm_ = std::sqrt(std::max(total.squares.momentum, total.squares.impulse));
}

/// The same sums as gatherImpulses(), in the same order, where one thread does all: loops of known
/// length.
void SapIterate::scatterImpulses() {
  Real* const y = generalized_impulse_.data();
  std::fill_n(y, num_velocities_, Real(0));
  for (int i = 0; i < numConstraints(); ++i) {
    const Local& local = locals_[i];
    const Real* const gamma = gamma_.data() + local.row;
    if (local.run == 0) {
      addTransposed(local, gamma, y);
      continue;
    }
    six_->addTransposed(side1(local), gamma, y + local.velocity1);
    if (local.size2 > 0) six_->addTransposed(side2(local), gamma, y + local.velocity2);
    i += local.run - 1;
  }
}

void SapIterate::gatherImpulses() {
  forEachChunk(pool_, numCliques(), kCliqueGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      std::fill_n(generalized_impulse_.data() + first_velocity_[i], sizes_[i], Real(0));
      gatherTransposed(i, gamma_.data(), generalized_impulse_.data());
    }
  });
}

void SapIterate::useHessian(bool isBlended) {
  has_new_hessian_ = takeHessian(isBlended, hessian_.data(), num_hessian_, used_hessian_.data());
}

void SapIterate::assemble(BlockSparse* h) {
  h->setZero();
  Real* const values = h->values();
  forEachChunk(pool_, numCliques(), kCliqueGrain / 4, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int n = sizes_[i];
      const BlockPlace diagonal = h->diagonalPlace(i);
      Real* const own = values + diagonal.offset;
      for (int r = 0; r < n; ++r) {
        for (int c = r; c < n; ++c) own[r * std::int64_t{diagonal.stride} + c] = a_[i][r * n + c];
      }
      for (std::int32_t t = touch_begin_[i]; t < touch_begin_[i + 1];) {
        if (locals_[touches_[t].constraint].shape == Shape::Contact) {
          t = addContactsOfTree(*h, i, t, values);
        } else {
          addTouch(*h, i, touches_[t++], values);
        }
      }
    }
  });
}

/// The contacts from touch `begin` on that are between the same cliques; returns the next touch.
std::int32_t SapIterate::addContactsOfTree(const BlockSparse& h, int clique, std::int32_t begin,
                                           Real* values) const {
  constexpr int kMaxTerms = 8;
  ContactTerm terms[kMaxTerms];
  const Local& first = locals_[touches_[begin].constraint];
  const std::int32_t side = touches_[begin].side;
  const int size = side == 0 ? first.size1 : first.size2;
  const int otherSize = side == 0 ? first.size2 : first.size1;
  const int maxTerms = size > kMaxStackVelocities ? 1 : kMaxTerms;
  const int other = side == 0 ? first.clique2 : first.clique1;
  BlockPlace place;
  bool isKeeper = false;
  if (first.edge >= 0) {
    place = h.edgePlace(first.edge);
    isKeeper = (clique < other) != place.isTransposed;
  }
  int numTerms = 0;
  std::int32_t t = begin;
  for (; t < touch_begin_[clique + 1] && numTerms < maxTerms; ++t) {
    const Local& local = locals_[touches_[t].constraint];
    if (local.shape != Shape::Contact || touches_[t].side != side || local.edge != first.edge)
      break;
    const Real* const g = used_hessian_.data() + local.hessian;
    if (isZero(g, hessianSize(local.kind, 3))) continue;
    const Real* const own = side == 0 ? local.jacobian1 : local.jacobian2;
    const Real* const otherJacobian = side == 0 ? local.jacobian2 : local.jacobian1;
    terms[numTerms++] = {.hessian = g, .own = own, .other = isKeeper ? otherJacobian : nullptr};
  }
  if (numTerms == 0) return t;

  Real stack[3 * kMaxTerms * kMaxStackVelocities];
  std::vector<Real> heap;  // trees of more velocities are rare
  if (size > kMaxStackVelocities) heap.resize(std::size_t{3} * size);
  const BlockPlace diagonal = h.diagonalPlace(clique);
  six_->addContactsOfTree(terms, numTerms, size, otherSize, heap.empty() ? stack : heap.data(),
                          values + diagonal.offset, diagonal.stride, values + place.offset,
                          place.stride);
  return t;
}

/// J_own^T G J_own to the diagonal block, and J_own^T G J_other where this clique keeps it.
void SapIterate::addTouch(const BlockSparse& h, int clique, const Touch& touch,
                          Real* values) const {
  const Local& local = locals_[touch.constraint];
  const bool isFirst = touch.side == 0;
  const Real* const own = isFirst ? local.jacobian1 : local.jacobian2;
  const int size = isFirst ? local.size1 : local.size2;
  const int offset = (isFirst ? local.velocity1 : local.velocity2) - first_velocity_[clique];
  const Real* const g = used_hessian_.data() + local.hessian;
  const int m = local.numRows;
  if (isZero(g, hessianSize(local.kind, m))) return;

  const BlockPlace diagonal = h.diagonalPlace(clique);
  Real* const target = values + diagonal.offset + offset * (std::int64_t{diagonal.stride} + 1);
  if (local.shape == Shape::Velocity) {
    target[0] += own[0] * g[0] * own[0];
    return;
  }
  const int other = isFirst ? local.clique2 : local.clique1;
  BlockPlace place;
  bool isKeeper = false;
  if (local.edge >= 0) {
    place = h.edgePlace(local.edge);
    isKeeper = (clique < other) != place.isTransposed;
  }
  if (local.shape == Shape::OneFree || local.shape == Shape::TwoFree) {
    const Real* const otherJacobian = isFirst ? local.jacobian2 : local.jacobian1;
    return six_->addContact(g, own, isKeeper ? otherJacobian : nullptr, target, diagonal.stride,
                            values + place.offset, place.stride);
  }
  Real stack[kSapMaxRows * kMaxStackVelocities];
  std::vector<Real> heap;
  Real* product = stack;
  if (size > kMaxStackVelocities) {
    heap.resize(static_cast<std::size_t>(m) * size);
    product = heap.data();
  }
  multiplyHessian(hessianOf(local.kind), g, m, size, own, product);
  addProductUpper(product, own, m, size, diagonal.stride, target);
  if (!isKeeper) return;
  const Real* const otherJacobian = isFirst ? local.jacobian2 : local.jacobian1;
  const int otherSize = isFirst ? local.size2 : local.size1;
  const int otherOffset = (isFirst ? local.velocity2 : local.velocity1) - first_velocity_[other];
  Real* const block = values + place.offset + offset * std::int64_t{place.stride} + otherOffset;
  addProduct(product, otherJacobian, m, size, otherSize, place.stride, block);
}

void SapIterate::multiply(const Real* x, Real* y) {
  forEachChunk(pool_, numConstraints(), kConstraintGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const Local& local = locals_[i];
      Real t[kSapMaxRows];
      rowVelocity(local, x, t);
      multiplyHessian(hessianOf(local.kind), used_hessian_.data() + local.hessian, local.numRows, 1,
                      t, row_scratch_.data() + local.row);
    }
  });
  forEachChunk(pool_, numCliques(), kCliqueGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int first = first_velocity_[i];
      six_->multiplySymmetric(a_[i], sizes_[i], x + first, y + first);
      gatherTransposed(i, row_scratch_.data(), y);
    }
  });
}

void SapIterate::factorDiagonal() {
  growTo(&diagonal_blocks_, static_cast<std::size_t>(first_entry_[sizes_.size()]));
  growTo(&inverse_diagonal_factor_, static_cast<std::size_t>(first_entry_[sizes_.size()]));
  forEachChunk(pool_, numCliques(), kCliqueGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int n = sizes_[i];
      Real* const block = diagonal_blocks_.data() + first_entry_[i];
      std::copy_n(a_[i], n * n, block);
      for (std::int32_t t = touch_begin_[i]; t < touch_begin_[i + 1]; ++t) {
        const Local& local = locals_[touches_[t].constraint];
        const bool isFirst = touches_[t].side == 0;
        const Real* const own = isFirst ? local.jacobian1 : local.jacobian2;
        const int size = isFirst ? local.size1 : local.size2;
        const int offset = (isFirst ? local.velocity1 : local.velocity2) - first_velocity_[i];
        const Real* const g = used_hessian_.data() + local.hessian;
        if (isZero(g, hessianSize(local.kind, local.numRows))) continue;
        Real stack[kSapMaxRows * kMaxStackVelocities];
        std::vector<Real> heap;
        Real* product = stack;
        if (size > kMaxStackVelocities) {
          heap.resize(static_cast<std::size_t>(local.numRows) * size);
          product = heap.data();
        }
        multiplyHessian(hessianOf(local.kind), g, local.numRows, size, own, product);
        addProduct(product, own, local.numRows, size, size, n,
                   block + offset * (std::int64_t{n} + 1));
      }
      // Positive definite as A is; where rounding says otherwise A alone will do.
      Real* const inverse = inverse_diagonal_factor_.data() + first_entry_[i];
      if (!six_->invertFactor(block, n, factor_scratch_.data() + first_entry_[i], inverse)) {
        std::copy_n(inverse_factor_.data() + first_entry_[i], n * n, inverse);
      }
    }
  });
}

void SapIterate::precondition(const Real* r, Real* z) {
  forEachChunk(pool_, numCliques(), kCliqueGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int first = first_velocity_[i], n = sizes_[i];
      const Real* const inverse = inverse_diagonal_factor_.data() + first_entry_[i];
      multiplyInverse(inverse, n, r + first, scratch_.data() + first, z + first);
    }
  });
}

Real SapIterate::dot(const Real* x, const Real* y) const {
  Real sum = 0;
  for (int k = 0; k < num_velocities_; ++k) sum += x[k] * y[k];
  return sum;
}

Real SapIterate::setDirection() {
  forEachChunk(pool_, numConstraints(), kConstraintGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const Local& local = locals_[i];
      Real* const rows = direction_vc_.data() + local.row;
      if (local.run > 0) {
        runVelocity(local, direction_.data(), rows);
        i += local.run - 1;
      } else {
        rowVelocity(local, direction_.data(), rows);
      }
    }
  });
  forEachChunk(pool_, numCliques(), kCliqueGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int first = first_velocity_[i];
      six_->multiplySymmetric(a_[i], sizes_[i], direction_.data() + first,
                              direction_momentum_.data() + first);
    }
  });
  line_slope_ = dot(direction_momentum_.data(), difference_.data());
  line_curvature_ = dot(direction_momentum_.data(), direction_.data());
  return dot(direction_.data(), gradient_.data());
}

LinePoint SapIterate::evaluateLine(Real alpha) {
  LinePoint point{.slope = line_slope_ + alpha * line_curvature_, .curvature = line_curvature_};
  addChunks(
      pool_, numConstraints(), kConstraintGrain, &line_parts_, &point, [&](int begin, int end) {
        LinePoint sum;
        for (int i = begin; i < end; ++i) {
          withShape(locals_[i], [&](auto shape) { addToLine<shape>(locals_[i], alpha, &sum); });
        }
        return sum;
      });
  return point;
}

template <SapIterate::Shape kShape>
void SapIterate::addToLine(const Local& local, Real alpha, LinePoint* sum) const {
  const int m = Sizes<kShape>(local).numRows;
  if (constraints_.isFollowing() && local.kind == SapKind::Contact) {
    addFollowingToLine(constraints_, local.parameters, vc_.data() + local.row,
                       direction_vc_.data() + local.row, alpha, sum);
    return;
  }
  const SapHessian form = kIsContact<kShape> ? SapHessian::Packed : hessianOf(local.kind);
  solver::addToLine(
      form, m, vc_.data() + local.row, direction_vc_.data() + local.row, alpha,
      [&](const Real* vc, Real* gamma, Real* g) {
        return kIsContact<kShape>
                   ? constraints_.evaluateContact(local.parameters, vc, gamma, g)
                   : constraints_.evaluate(local.kind, m, local.parameters, vc, gamma, g);
      },
      sum);
}

void SapIterate::move(Real alpha) {
  is_evaluated_ = false;
  for (int k = 0; k < num_velocities_; ++k) v_[k] += alpha * direction_[k];
}

std::int32_t SapIterate::worstConstraint() {
  for (int i = 0; i < numCliques(); ++i) {
    const int first = first_velocity_[i], n = sizes_[i];
    const Real* const inverse = inverse_factor_.data() + first_entry_[i];
    multiplyInverse(inverse, n, gradient_.data() + first, rounding_.data() + first,
                    scratch_.data() + first);
  }
  return largestConstraint(locals_, [&](const Local& local, Real* error) {
    rowVelocity(local, scratch_.data(), error);
  });
}

void SapIterate::write(SapProblem* problem) const {
  for (int i = 0; i < numCliques(); ++i) {
    const int first = first_velocity_[i];
    writeClique(clique_of_problem_[i], v_.data() + first, generalized_impulse_.data() + first,
                problem);
  }
  writeRows(locals_, gamma_.data(), vc_.data(), problem);
}

}  // namespace tangere::solver
