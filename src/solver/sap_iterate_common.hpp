// SPDX-License-Identifier: Apache-2.0
//
// What islands of dense cliques (SapIterate) and islands with soft bodies (SapSparseIterate) do
// alike: sums in chunks, and all that needs only the rows of a constraint, not its Jacobian.
//
// A Local is the constraint of an island as either keeps it: index (in the problem), kind, numRows,
// row (its first one among those of the island), hessian (where its G begins) and parameters.
// Inline, with shapes and kinds as constants where the caller has them: these are inner loops.
#pragma once

#include "core/parallel_for.hpp"
#include "solver/anderson_mixing.hpp"
#include "solver/line_search.hpp"
#include "solver/sap_constraint.hpp"
#include "solver/sap_problem.hpp"
#include "solver/small_dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// Constraints of one part of a sum, and of one task.
inline constexpr int kConstraintGrain = 64;
/// Room for W of a constraint.
inline constexpr int kDelassusStride = kSapMaxRows * kSapMaxRows;

template <class T>
void growTo(std::vector<T>* array, std::size_t size) {
  if (array->size() < size) array->resize(size);
}

/// body(begin, end) for ranges of `grain`, on the pool where there is one.
template <class Body>
void forEachChunk(core::ThreadPool* pool, int count, int grain, const Body& body) {
  core::parallelFor(pool, count, grain, [&](std::int64_t begin, std::int64_t end) {
    body(static_cast<int>(begin), static_cast<int>(end));
  });
}

/// total += body(begin, end) of all chunks, in their order; `parts` is scratch.
template <class Sum, class Body>
void addChunks(core::ThreadPool* pool, int count, int grain, std::vector<Sum>* parts, Sum* total,
               const Body& body) {
  const int numChunks = (count + grain - 1) / grain;
  growTo(parts, static_cast<std::size_t>(numChunks));
  forEachChunk(pool, count, grain,
               [&](int begin, int end) { (*parts)[begin / grain] = body(begin, end); });
  for (int chunk = 0; chunk < numChunks; ++chunk) total->add((*parts)[chunk]);
}

/// A cost and the size of its terms.
struct CostAndScale {
  Real cost = 0, scale = 0;
  void add(Real own) {
    cost += own;
    scale += std::abs(own);
  }
  void add(const CostAndScale& other) {
    cost += other.cost;
    scale += other.scale;
  }
};

/// Squares of |D grad|, |D A v| and |D J^T gamma|.
struct ScaledSquares {
  Real gradient = 0, momentum = 0, impulse = 0;
  /// The terms of one velocity, `scale` its entry of D.
  void add(Real scale, Real ownGradient, Real ownMomentum, Real ownImpulse) {
    const Real dg = scale * ownGradient, dp = scale * ownMomentum, dj = scale * ownImpulse;
    gradient += dg * dg;
    momentum += dp * dp;
    impulse += dj * dj;
  }
  void add(const ScaledSquares& other) {
    gradient += other.gradient;
    momentum += other.momentum;
    impulse += other.impulse;
  }
};

/// What is summed over velocities.
struct VelocitySums {
  CostAndScale cost;
  ScaledSquares squares;
  void add(const VelocitySums& other) {
    cost.add(other.cost);
    squares.add(other.squares);
  }
};

/// Numbers the rows of constraint `index` behind those counted so far.
template <class Local>
void addRows(const SapProblem& problem, std::int32_t index, int* numRows, int* numHessian,
             Local* local) {
  const SapConstraint& c = problem.constraints[index];
  local->index = index;
  local->kind = c.kind;
  local->numRows = c.numRows;
  local->row = *numRows;
  local->hessian = *numHessian;
  *numRows += c.numRows;
  *numHessian += hessianSize(c.kind, c.numRows);
}

/// Bias and parameters of all constraints, W of each kDelassusStride behind the last; returns the
/// first of the problem that is not finite or makes no sense, -1: none.
template <class Local>
[[nodiscard]] std::int32_t prepareRows(const SapOptions& options, const SapProblem& problem,
                                       const std::vector<Real>& delassus,
                                       std::vector<Local>* locals, Real* bias,
                                       SapConstraints* constraints) {
  const Real* w = delassus.data();
  for (Local& local : *locals) {
    const Real* const own = problem.bias.data() + problem.constraints[local.index].firstRow;
    for (int k = 0; k < local.numRows; ++k) bias[local.row + k] = own[k];
    // W holds every entry of J squared: it is finite only when they are.
    const bool isFinite =
        isFiniteArray(w, local.numRows * local.numRows) && isFiniteArray(own, local.numRows);
    local.parameters = isFinite ? constraints->prepare(options, problem, local.index, w) : -1;
    if (local.parameters < 0) return local.index;
    w += kDelassusStride;
  }
  return -1;
}

/// The impulses of the problem as a guess; false when they are none: zero or not finite.
template <class Local>
[[nodiscard]] bool readImpulseGuess(const SapProblem& problem, const std::vector<Local>& locals,
                                    int numRows, Real* guess) {
  for (const Local& local : locals) {
    const Real* const own = problem.impulse.data() + problem.constraints[local.index].firstRow;
    for (int k = 0; k < local.numRows; ++k) guess[local.row + k] = own[k];
  }
  return !isZero(guess, numRows) && isFiniteArray(guess, numRows);
}

/// The bounds of friction that the last step had.
template <class Local>
void setStartBounds(const SapProblem& problem, const std::vector<Local>& locals,
                    SapConstraints* constraints) {
  for (const Local& local : locals) {
    if (local.kind != SapKind::Contact) continue;
    const int normal = problem.constraints[local.index].firstRow + 2;
    constraints->setStartBound(local.parameters, problem.impulse[normal]);
  }
}

/// Bounds of friction where the last step says nothing of them, from the velocity of the guess;
/// false when friction at this velocity does not change by it.
template <class Local>
[[nodiscard]] bool predictBounds(const std::vector<Local>& locals, const Real* vc,
                                 SapConstraints* constraints) {
  bool isChanged = false;
  for (const Local& local : locals) {
    if (local.kind != SapKind::Contact || constraints->bound(local.parameters) > 0) continue;
    isChanged |= constraints->predictBound(local.parameters, vc + local.row);
  }
  return isChanged;
}

/// What the bounds of friction are off by; where `bounds` is given, they and the following ones for
/// the mixing.
template <class Local>
[[nodiscard]] FrictionError measureBounds(const std::vector<Local>& locals, const Real* vc,
                                          const Real* gamma, const SapConstraints& constraints,
                                          AndersonMixing* bounds) {
  FrictionError sum;
  std::size_t i = 0;
  for (const Local& local : locals) {
    if (local.kind != SapKind::Contact) continue;
    const Real weight =
        constraints.addFrictionError(local.parameters, vc + local.row, gamma + local.row, &sum);
    if (bounds == nullptr) continue;
    bounds->used()[i] = constraints.bound(local.parameters);
    bounds->following()[i] = constraints.followingBound(local.parameters, gamma + local.row);
    bounds->weights()[i] = weight;
    ++i;
  }
  return sum;
}

/// Would friction be another one with the bounds that follow?
template <class Local>
[[nodiscard]] bool isBoundWrong(const std::vector<Local>& locals, const Real* vc, const Real* gamma,
                                const SapConstraints& constraints) {
  return std::any_of(locals.begin(), locals.end(), [&](const Local& local) {
    return local.kind == SapKind::Contact &&
           constraints.isBoundWrong(local.parameters, vc + local.row, gamma + local.row);
  });
}

template <class Local>
void setBounds(const std::vector<Local>& locals, std::span<const Real> bounds,
               SapConstraints* constraints) {
  std::size_t i = 0;
  for (const Local& local : locals) {
    if (local.kind != SapKind::Contact) continue;
    constraints->setBound(local.parameters, bounds[i++]);
  }
}

/// What SapConstraints::coupling() says of each constraint, two entries for each.
template <class Local>
void keepCoupling(const std::vector<Local>& locals, const Real* vc,
                  const SapConstraints& constraints, std::vector<Real>* coupling) {
  coupling->assign(2 * locals.size(), 0);
  for (std::size_t i = 0; i < locals.size(); ++i) {
    const Local& local = locals[i];
    if (local.kind != SapKind::Contact) continue;
    constraints.coupling(local.parameters, vc + local.row, coupling->data() + 2 * i);
  }
}

/// y += J^T C J x with C of keepCoupling(). rowVelocity(local, rows) is J x of one constraint,
/// addTransposed(local, rows) adds its J^T rows to y.
template <class Local, class RowVelocity, class AddTransposed>
void addCoupled(const std::vector<Local>& locals, const std::vector<Real>& coupling,
                const RowVelocity& rowVelocity, const AddTransposed& addTransposed) {
  for (std::size_t i = 0; i < locals.size(); ++i) {
    const Real* const entries = coupling.data() + 2 * i;
    if (entries[0] == 0 && entries[1] == 0) continue;
    Real rows[kSapMaxRows] = {};
    rowVelocity(locals[i], rows);
    const Real added[3] = {entries[0] * rows[2], entries[1] * rows[2], 0};
    addTransposed(locals[i], added);
  }
}

/// D x . D y: two sums side by side, each in the order of the velocities.
[[nodiscard]] inline Real scaledDot(const Real* scale, int count, const Real* x, const Real* y) {
  Real sum0 = 0, sum1 = 0;
  int k = 0;
  for (; k + 2 <= count; k += 2) {
    sum0 += scale[k] * scale[k] * (x[k] * y[k]);
    sum1 += scale[k + 1] * scale[k + 1] * (x[k + 1] * y[k + 1]);
  }
  for (; k < count; ++k) sum0 += scale[k] * scale[k] * (x[k] * y[k]);
  return sum0 + sum1;
}

template <class Local>
[[nodiscard]] int countContacts(const std::vector<Local>& locals) {
  return static_cast<int>(std::count_if(locals.begin(), locals.end(), [](const Local& local) {
    return local.kind == SapKind::Contact;
  }));
}

/// used <- G, or the mean of both; returns whether it is not that of any point, so that the next
/// step needs its own.
inline bool takeHessian(bool isBlended, const Real* hessian, int size, Real* used) {
  if (isBlended) {
    for (int i = 0; i < size; ++i) used[i] = Real(0.5) * (used[i] + hessian[i]);
  } else {
    std::copy_n(hessian, size, used);
  }
  return isBlended;
}

/// Slope and curvature of one constraint at v_c = start + alpha change.
/// evaluate(vc, gamma, hessian) as SapConstraints::evaluate().
template <class Evaluate>
inline void addToLine(SapHessian form, int numRows, const Real* start, const Real* change,
                      Real alpha, const Evaluate& evaluate, LinePoint* sum) {
  Real vc[kSapMaxRows] = {}, gamma[kSapMaxRows] = {}, product[kSapMaxRows] = {};
  Real g[kSapMaxRows * (kSapMaxRows + 1) / 2] = {};
  for (int k = 0; k < numRows; ++k) vc[k] = start[k] + alpha * change[k];
  static_cast<void>(evaluate(vc, gamma, g));
  multiplyHessian(form, g, numRows, 1, change, product);
  for (int k = 0; k < numRows; ++k) sum->slope -= change[k] * gamma[k];
  for (int k = 0; k < numRows; ++k) sum->curvature += change[k] * product[k];
}

/// addToLine() of a Contact whose bound follows. Then the sum of the slopes is no derivative of a
/// cost, but it is still zero where the gradient has nothing along the line.
inline void addFollowingToLine(const SapConstraints& constraints, int parameters, const Real* start,
                               const Real* change, Real alpha, LinePoint* sum) {
  Real vc[3], gamma[3], product[3], g[6], entries[2];
  for (int k = 0; k < 3; ++k) vc[k] = start[k] + alpha * change[k];
  constraints.evaluateFollowing(parameters, vc, gamma, g, entries);
  multiplyHessian(SapHessian::Packed, g, 3, 1, change, product);
  for (int k = 0; k < 2; ++k) product[k] += entries[k] * change[2];
  for (int k = 0; k < 3; ++k) sum->slope -= change[k] * gamma[k];
  for (int k = 0; k < 3; ++k) sum->curvature += change[k] * product[k];
}

/// The constraint of the problem where J x is largest, rowVelocity(local, y) being y = J x of one;
/// -1: there is none, or none is a number.
template <class Local, class RowVelocity>
[[nodiscard]] std::int32_t largestConstraint(const std::vector<Local>& locals,
                                             const RowVelocity& rowVelocity) {
  std::int32_t worst = -1;
  Real largest = -1;
  for (const Local& local : locals) {
    Real error[kSapMaxRows];
    rowVelocity(local, error);
    Real size = 0;
    for (int k = 0; k < local.numRows; ++k) size += std::abs(error[k]);
    if (size > largest) {
      largest = size;
      worst = local.index;
    }
  }
  return worst;
}

/// v and generalizedImpulse of one clique to the problem.
inline void writeClique(std::int32_t clique, const Real* v, const Real* generalizedImpulse,
                        SapProblem* problem) {
  const int start = problem->firstVelocity[clique], count = problem->numVelocities(clique);
  std::copy_n(v, count, problem->v.data() + start);
  std::copy_n(generalizedImpulse, count, problem->generalizedImpulse.data() + start);
}

/// impulse and rowVelocity of all constraints to the problem.
template <class Local>
void writeRows(const std::vector<Local>& locals, const Real* gamma, const Real* vc,
               SapProblem* problem) {
  for (const Local& local : locals) {
    const int row = problem->constraints[local.index].firstRow;
    for (int k = 0; k < local.numRows; ++k) {
      problem->impulse[row + k] = gamma[local.row + k];
      problem->rowVelocity[row + k] = vc[local.row + k];
    }
  }
}

}  // namespace tangere::solver
