// SPDX-License-Identifier: Apache-2.0
//
// One island with sparse cliques (soft bodies) at a velocity v: what SapIterate is for dense ones,
// with the same meaning of every number. Dense cliques may be in it too.
//
// A sparse clique gives b = A v* instead of v*, so its part of the cost counts from the guess v_0
// instead: 1/2 d^T A d + r_0^T d with d = v - v_0, r_0 = A v_0 - b. That is the cost but for a
// constant (costOffset()) that would hide how it changes. Every sum has an order that depends on
// the island alone.
#pragma once

#include <tangere/solver_options.hpp>

#include "core/parallel_for.hpp"
#include "solver/line_search.hpp"
#include "solver/sap_constraint.hpp"
#include "solver/sap_iterate.hpp"
#include "solver/sap_iterate_common.hpp"
#include "solver/sap_problem.hpp"
#include "solver/sap_sparse_hessian.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

class SapSparseIterate {
 public:
  /// As SapIterate::bind().
  SapInput bind(const SapOptions& options, const SapProblem& problem,
                std::span<const std::int32_t> cliques, std::span<const std::int32_t> constraints,
                core::ThreadPool* pool);

  [[nodiscard]] int numVelocities() const { return num_velocities_; }
  [[nodiscard]] int numVertices() const { return num_vertices_; }
  [[nodiscard]] int numConstraints() const { return static_cast<int>(locals_.size()); }

  void evaluate();
  [[nodiscard]] bool isEvaluated() const { return is_evaluated_; }
  /// Where bind() found something that is not finite or makes no sense; -1: none.
  [[nodiscard]] std::int32_t badConstraint() const { return bad_constraint_; }
  [[nodiscard]] std::int32_t badClique() const { return bad_clique_; }
  [[nodiscard]] Real* direction() { return direction_.data(); }
  /// v <- v* of the dense cliques, the guess of the others where it is finite; not yet evaluated.
  void setFreeVelocity();
  [[nodiscard]] const Real* gradient() const { return gradient_.data(); }
  [[nodiscard]] Real cost() const { return cost_; }
  [[nodiscard]] Real costScale() const { return cost_scale_; }
  /// cost() + costOffset() is sum l_c + 1/2 (v-v*)^T A (v-v*) of the dense cliques
  /// + 1/2 v^T A v - b^T v of the sparse ones.
  [[nodiscard]] Real costOffset() const { return cost_offset_; }
  [[nodiscard]] Real gradientNorm() const { return gradient_norm_; }
  [[nodiscard]] Real momentumNorm() const { return momentum_norm_; }
  [[nodiscard]] bool hasNewHessian() const { return has_new_hessian_; }

  void useHessian(bool isBlended);
  /// H and its preconditioner; false when H is not positive definite.
  bool factorDiagonal() { return h_.update(used_hessian_.data()); }
  /// The next factorDiagonal() makes another preconditioner, however near H is.
  void forgetPreconditioner() { h_.forgetFactor(); }
  void multiply(const Real* x, Real* y) {
    h_.multiply(x, y);
    addTurnings(x, y);
  }
  void precondition(const Real* r, Real* z) { h_.precondition(r, z); }
  [[nodiscard]] SoftPreconditioner preconditioner() const { return h_.preconditioner(); }

  [[nodiscard]] Real dot(const Real* x, const Real* y) const;

  Real setDirection();
  [[nodiscard]] LinePoint evaluateLine(Real alpha);
  void move(Real alpha);

  /// |v - v_opt|_A is at most this, rounding included: |grad|_{A^-1} of the dense cliques,
  /// |grad|_{M^-1} of the sparse ones, for A >= M.
  [[nodiscard]] Real errorBound();
  [[nodiscard]] std::int32_t worstConstraint();

  // Bounds of friction (SapFriction::Coulomb). None of these evaluates.
  [[nodiscard]] bool hasBounds() const { return constraints_.hasBounds(); }
  [[nodiscard]] int numContacts() const { return countContacts(locals_); }
  void setStartBounds() {
    solver::setStartBounds(*problem_, locals_, &constraints_);
    is_evaluated_ = false;
  }
  void predictBounds() {
    if (solver::predictBounds(locals_, vc_.data(), &constraints_)) is_evaluated_ = false;
  }
  [[nodiscard]] FrictionError measureBounds(AndersonMixing* bounds) const {
    return solver::measureBounds(locals_, vc_.data(), gamma_.data(), constraints_, bounds);
  }
  [[nodiscard]] bool isBoundWrong() const {
    return solver::isBoundWrong(locals_, vc_.data(), gamma_.data(), constraints_);
  }
  void setBounds(std::span<const Real> bounds) {
    solver::setBounds(locals_, bounds, &constraints_);
    is_evaluated_ = false;
  }
  /// As SapIterate::setFollowing().
  void setFollowing(bool isOn) {
    constraints_.setFollowing(isOn);
    is_evaluated_ = is_evaluated_ && !isOn;
  }
  /// The derivative of the gradient when the bounds follow the normal impulses: multiply() and, not
  /// symmetric, what keepCoupling() found at the velocity of the last evaluate().
  void keepCoupling() { solver::keepCoupling(locals_, vc_.data(), constraints_, &coupling_); }
  [[nodiscard]] bool hasCoupling() const {
    return !isZero(coupling_.data(), 2 * static_cast<int>(locals_.size()));
  }
  void multiplyCoupled(const Real* x, Real* y);
  /// x . y in the norm of gradientNorm().
  [[nodiscard]] Real scaledDot(const Real* x, const Real* y) const {
    return solver::scaledDot(scale_.data(), num_velocities_, x, y);
  }

  void saveBest() { best_v_.assign(v_.begin(), v_.begin() + num_velocities_); }
  void savePlace() { place_v_.assign(v_.begin(), v_.begin() + num_velocities_); }
  void restorePlace() { std::copy(place_v_.begin(), place_v_.end(), v_.begin()); }
  void restoreBest() { std::copy(best_v_.begin(), best_v_.end(), v_.begin()); }

  void write(SapProblem* problem) const;

 private:
  /// Part of a sum over velocities: one dense clique, or some rows of a sparse one.
  struct Chunk {
    std::int32_t clique = 0;  // dense: index in dense_; sparse: in soft_
    std::int32_t begin = 0, end = 0;
    bool isSparse = false;
  };
  struct Soft {
    const SapSparseClique* data = nullptr;
    std::int32_t clique = 0;    // in the problem
    std::int32_t firstRow = 0;  // vertex of the island
    Real turn[6] = {};          // Q^T x, P^T x - C Q^T x of the last readTurnings()
  };

  SapInput bindCliques(std::span<const std::int32_t> cliques);
  SapInput bindDense();
  SapInput bindSparse();
  SapInput bindConstraints(const SapOptions& options, std::span<const std::int32_t> constraints);
  void bindSides(const SapConstraint& c, SparseLocal* local);
  void addDenseSide(std::int32_t clique, std::int32_t dof, const Real* jacobian,
                    SparseLocal* local);
  std::int64_t packJacobians(const SapConstraint& c);
  void chooseGuess(const SapOptions& options);
  void setReference();
  void delassus(const SparseLocal& local, Real* w) const;
  void rowVelocity(const SparseLocal& local, const Real* x, Real* y) const;
  void addTransposed(const SparseLocal& local, const Real* x, Real* y) const;
  void gatherImpulses();
  void evaluateGradient();
  void readTurnings(const Real* x);
  void addTurning(const Soft& soft, int begin, int end, Real* y) const;
  void addTurnings(const Real* x, Real* y);
  void multiplyA(const Chunk& chunk, const Real* x, Real* y) const;
  void boundRounding();
  void boundRoundingOf(const SparseLocal& local);
  void boundRoundingOf(const Soft& soft);

  template <class Sum, class Body>
  void addVelocityChunks(std::vector<Sum>* parts, Sum* total, const Body& body) const;

  const SapProblem* problem_ = nullptr;
  core::ThreadPool* pool_ = nullptr;
  int num_velocities_ = 0, num_dense_ = 0, num_vertices_ = 0, num_rows_ = 0, num_hessian_ = 0;
  bool has_turning_ = false;

  // Constant during the solve.
  std::vector<std::int32_t> first_velocity_;  // by clique of the problem, of those of the island
  std::vector<std::int32_t> local_clique_;    // by clique of the problem: in dense_ or soft_
  std::vector<DenseClique> dense_;
  std::vector<std::int32_t> dense_clique_;  // in the problem
  std::vector<std::int64_t> first_entry_;
  std::vector<Real> inverse_factor_, factor_scratch_, inverse_diagonal_;  // of A of dense cliques
  std::vector<Soft> soft_;
  std::vector<const math::BlockCsr*> bodies_;
  std::vector<const Vec3*> positions_;
  std::vector<Real> inverse_blocks_;  // of the diagonal of A, nine for each vertex
  std::vector<Real> mass_;
  std::vector<Chunk> chunks_;
  std::vector<Real> reference_, offset_, scale_;  // v* or v_0; 0 or r_0; D
  std::vector<Real> reference_momentum_;          // A v* or A v_0
  std::vector<SparseLocal> locals_;
  std::vector<std::int32_t> vertices_;  // of the groups
  std::vector<Real> packed_;            // Jacobians of constraints with two sparse sides
  std::vector<std::int64_t> packed_at_;
  std::vector<Real> bias_, impulse_guess_, delassus_;
  SapConstraints constraints_;
  SapSparseHessian h_;

  // Changes with v.
  std::vector<Real> v_, best_v_, place_v_;
  std::vector<Real> vc_, gamma_, hessian_, new_hessian_, used_hessian_;
  std::vector<Real> difference_, momentum_, generalized_impulse_, gradient_;
  Real cost_ = 0, cost_scale_ = 0, cost_offset_ = 0, gradient_norm_ = 0, momentum_norm_ = 0;
  bool has_new_hessian_ = true, is_evaluated_ = false;

  // The line.
  std::vector<Real> direction_, direction_momentum_, direction_vc_;
  std::vector<Real> coupling_;  // two for each constraint
  Real line_slope_ = 0, line_curvature_ = 0;

  std::vector<CostAndScale> cost_parts_;
  std::vector<VelocitySums> velocity_parts_;
  std::vector<LinePoint> line_parts_;
  std::vector<Real> scratch_, rounding_;
  std::int32_t bad_constraint_ = -1, bad_clique_ = -1;
};

}  // namespace tangere::solver
