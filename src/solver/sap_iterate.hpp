// SPDX-License-Identifier: Apache-2.0
//
// One island of the convex problem at a velocity v: what is constant during the solve (A and its
// factors, J, regularization) and what changes with v (v_c, gamma, G, cost, gradient).
//
// Velocities and cliques are numbered within the island, ascending as in the problem. Every sum has
// an order that depends on the island alone: constraints in their order, in chunks of a fixed size.
#pragma once

#include <tangere/solver_options.hpp>

#include "core/parallel_for.hpp"
#include "solver/block_sparse.hpp"
#include "solver/line_search.hpp"
#include "solver/sap_constraint.hpp"
#include "solver/sap_iterate_common.hpp"
#include "solver/sap_problem.hpp"
#include "solver/six_blocks.hpp"
#include "solver/small_dense.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tangere::solver {

enum class SapInput : std::uint8_t { Good, NotPositive, NotFinite };

class SapIterate {
 public:
  /// Takes in the island with these cliques and constraints, both ascending. `problem` must stay as
  /// it is until the next bind. The velocity is then the guess that the options ask for, not yet
  /// evaluated. `pool` may be null.
  SapInput bind(const SapOptions& options, const SapProblem& problem,
                std::span<const std::int32_t> cliques, std::span<const std::int32_t> constraints,
                core::ThreadPool* pool);

  [[nodiscard]] int numVelocities() const { return num_velocities_; }
  [[nodiscard]] int numCliques() const { return static_cast<int>(sizes_.size()); }
  [[nodiscard]] int numConstraints() const { return static_cast<int>(locals_.size()); }
  [[nodiscard]] std::span<const std::int32_t> sizes() const { return sizes_; }
  /// Pairs of cliques that constraints join, as BlockSparse wants them.
  [[nodiscard]] std::span<const std::uint64_t> edges() const { return edges_; }

  /// Everything at the velocity v().
  void evaluate();
  [[nodiscard]] bool isEvaluated() const { return is_evaluated_; }
  /// Where bind() found something that is not finite; -1: in a clique.
  [[nodiscard]] std::int32_t badConstraint() const { return bad_constraint_; }
  /// Where to write the direction of the next line.
  [[nodiscard]] Real* direction() { return direction_.data(); }
  /// v <- v*; not yet evaluated.
  void setFreeVelocity() {
    std::copy_n(v_star_.data(), num_velocities_, v_.data());
    is_evaluated_ = false;
  }
  [[nodiscard]] const Real* gradient() const { return gradient_.data(); }
  [[nodiscard]] Real cost() const { return cost_; }
  /// The size of the terms of the cost, for what is rounding and what is not.
  [[nodiscard]] Real costScale() const { return cost_scale_; }
  /// |D grad| and max(|D A v|, |D J^T gamma|).
  [[nodiscard]] Real gradientNorm() const { return gradient_norm_; }
  [[nodiscard]] Real momentumNorm() const { return momentum_norm_; }
  /// Did G change with the last evaluate()?
  [[nodiscard]] bool hasNewHessian() const { return has_new_hessian_; }

  /// Which G the next H is made of: that of the last evaluate(), or the mean of it and of the one
  /// used before. Where Newton's method goes to and fro between two sides of an edge of the cost,
  /// each step with the curvature of one side only, the mean knows of both.
  void useHessian(bool isBlended);
  /// H = A + J^T G J.
  void assemble(BlockSparse* h);
  /// y = H x, without assembling.
  void multiply(const Real* x, Real* y);
  /// Diagonal blocks of H for precondition(): z = (diagonal blocks)^-1 r, z not r.
  void factorDiagonal();
  void precondition(const Real* r, Real* z);

  /// x . y, for vectors of the velocities.
  [[nodiscard]] Real dot(const Real* x, const Real* y) const;

  /// Makes v + alpha direction() the line of evaluateLine(); returns the slope at alpha = 0.
  Real setDirection();
  [[nodiscard]] LinePoint evaluateLine(Real alpha);
  /// v <- v + alpha direction; not yet evaluated.
  void move(Real alpha);

  /// |v - v_opt|_A is at most this, rounding included (of the last evaluate()).
  [[nodiscard]] Real errorBound();
  /// What rounding may be in |D grad|, at most; found by errorBound().
  [[nodiscard]] Real roundingNorm() const { return rounding_norm_; }
  /// The constraint of the problem where A^-1 grad, the error of the velocity to first order, is
  /// largest.
  [[nodiscard]] std::int32_t worstConstraint();

  // Bounds of friction (SapFriction::Coulomb). None of these evaluates.
  [[nodiscard]] bool hasBounds() const { return constraints_.hasBounds(); }
  [[nodiscard]] int numContacts() const { return countContacts(locals_); }
  /// Those of the last step.
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
  /// While on, evaluate() first sets every bound to the one that follows from its velocity, and so
  /// does evaluateLine() for its own. Off: the bounds stay as they are.
  void setFollowing(bool isOn) {
    constraints_.setFollowing(isOn);
    is_evaluated_ = is_evaluated_ && !isOn;
  }
  /// The derivative of the gradient when the bounds follow the normal impulses: multiply() and, not
  /// symmetric, what keepCoupling() found at the velocity of the last evaluate().
  void keepCoupling();
  void multiplyCoupled(const Real* x, Real* y);
  // The coupling is of rank one for each contact that it is of: with N the normal rows of those,
  // and C their two entries each, it is J^T C N.
  [[nodiscard]] int numCoupled() const { return static_cast<int>(coupled_.size()); }
  /// s = N x.
  void coupledVelocities(const Real* x, Real* s) const;
  /// y -= J^T C s.
  void subtractCoupling(const Real* s, Real* y) const;
  /// x . y in the norm of gradientNorm().
  [[nodiscard]] Real scaledDot(const Real* x, const Real* y) const {
    return solver::scaledDot(scale_.data(), num_velocities_, x, y);
  }

  // A first guess from sweeps over the contacts (sap_sweeps).
  /// Are all constraints Contacts, and is the island not its own mirror image? Sweeps know no other
  /// constraints, and would tell the two sides apart. At the velocity of the last evaluate().
  [[nodiscard]] bool canSweep();
  /// From the impulses of the guess, or none; not yet evaluated.
  void sweep();
  [[nodiscard]] bool isSwept() const { return is_swept_; }
  /// Goes on from where the last sweeps ended, with more and smaller steps; not yet evaluated.
  void sweepOn();

  void saveBest() { best_v_.assign(v_.begin(), v_.begin() + num_velocities_); }
  void savePlace() { place_v_.assign(v_.begin(), v_.begin() + num_velocities_); }
  void restorePlace() { std::copy(place_v_.begin(), place_v_.end(), v_.begin()); }
  void restoreBest() { std::copy(best_v_.begin(), best_v_.end(), v_.begin()); }

  /// v, impulse, rowVelocity and generalizedImpulse to the problem.
  void write(SapProblem* problem) const;

 private:
  /// What a sweep changed and what there is, as squares of impulses times inverse masses.
  struct SweepSums {
    Real change = 0, size = 0;
  };
  /// Sweeps end where one changes impulses by no more than `tolerance` times them, over the root of
  /// the number of contacts: the more there are, the more a Newton step costs that comes too early.
  struct SweepLimits {
    int maxSweeps = 0;
    Real tolerance = 0;
    Real part = 1;  // of the change that a contact asks for
  };
  static constexpr SweepLimits kQuick{.maxSweeps = 200, .tolerance = 5e-4, .part = 1};
  static constexpr SweepLimits kCareful{.maxSweeps = 1000, .tolerance = 1e-5, .part = 0.5};
  /// Constraints that have loops of their own.
  enum class Shape : std::uint8_t {
    General,
    Velocity,  // one row on one velocity
    Contact,   // a Contact
    OneFree,   // a Contact of one or two free bodies
    TwoFree,
  };
  template <Shape kShape>
  static constexpr bool kIsFree = kShape == Shape::OneFree || kShape == Shape::TwoFree;
  template <Shape kShape>
  static constexpr bool kIsContact = kIsFree<kShape> || kShape == Shape::Contact;
  struct Local {
    const Real* jacobian1 = nullptr;
    const Real* jacobian2 = nullptr;
    std::int32_t velocity1 = 0, velocity2 = 0;  // first velocity that the block acts on
    std::int32_t size1 = 0, size2 = 0;          // columns; size2 = 0: one clique
    std::int32_t row = 0, hessian = 0, parameters = 0;
    std::int32_t clique1 = 0, clique2 = 0;
    std::int32_t edge = -1;
    std::int32_t index = 0;  // in the problem
    std::int32_t run = 0;    // contacts from here on whose sides are ContactSides; 0: see above
    SapKind kind = SapKind::Contact;
    std::uint8_t numRows = 0;
    Shape shape = Shape::General;
  };
  /// The sizes of a constraint, as constants where its shape has them: loops of known length are
  /// several times faster.
  template <Shape kShape>
  struct Sizes {
    int numRows, size1, size2;
    explicit Sizes(const Local& local)
        : numRows(kShape == Shape::General    ? local.numRows
                  : kShape == Shape::Velocity ? 1
                                              : 3),
          size1(kIsFree<kShape>             ? 6
                : kShape == Shape::Velocity ? 1
                                            : local.size1),
          size2(kShape == Shape::TwoFree                                ? 6
                : kShape == Shape::OneFree || kShape == Shape::Velocity ? 0
                                                                        : local.size2) {}
  };
  /// function(constant) with the shape of the constraint as a constant.
  template <class Function>
  static auto withShape(const Local& local, Function&& function) {
    switch (local.shape) {
      case Shape::TwoFree:
        return function(std::integral_constant<Shape, Shape::TwoFree>{});
      case Shape::OneFree:
        return function(std::integral_constant<Shape, Shape::OneFree>{});
      case Shape::Contact:
        return function(std::integral_constant<Shape, Shape::Contact>{});
      case Shape::Velocity:
        return function(std::integral_constant<Shape, Shape::Velocity>{});
      case Shape::General:
        break;
    }
    return function(std::integral_constant<Shape, Shape::General>{});
  }
  /// A constraint as one of its cliques sees it.
  struct Touch {
    std::int32_t constraint = 0;
    std::int32_t side = 0;
  };

  SapInput bindCliques(std::span<const std::int32_t> cliques);
  SapInput bindConstraints(const SapOptions& options, std::span<const std::int32_t> constraints);
  void findRuns();
  void findEdges();
  void listTouches();
  SapInput chooseGuess(const SapOptions& options);
  void delassus(const Local& local, Real* w) const;
  void delassusOfRun(const Local& local, Real* w) const;
  void evaluateGradient();
  void boundRounding();
  void gatherImpulses();
  void scatterImpulses();
  std::int32_t addContactsOfTree(const BlockSparse& h, int clique, std::int32_t begin,
                                 Real* values) const;
  void addTouch(const BlockSparse& h, int clique, const Touch& touch, Real* values) const;

  /// J x of one constraint.
  template <Shape kShape>
  static void rowVelocity(const Local& local, const Real* x, Real* y) {
    const Sizes<kShape> sizes(local);
    multiplyDense(local.jacobian1, sizes.numRows, sizes.size1, x + local.velocity1, y);
    if (sizes.size2 > 0) {
      addMultiplied(local.jacobian2, sizes.numRows, sizes.size2, x + local.velocity2, y);
    }
  }
  static void rowVelocity(const Local& local, const Real* x, Real* y) {
    withShape(local, [&](auto shape) { rowVelocity<shape>(local, x, y); });
  }
  /// y += J^T x of one constraint, x its rows.
  template <Shape kShape>
  static void addTransposed(const Local& local, const Real* x, Real* y) {
    const Sizes<kShape> sizes(local);
    solver::addTransposed(local.jacobian1, sizes.numRows, sizes.size1, x, y + local.velocity1);
    if (sizes.size2 > 0) {
      solver::addTransposed(local.jacobian2, sizes.numRows, sizes.size2, x, y + local.velocity2);
    }
  }
  static void addTransposed(const Local& local, const Real* x, Real* y) {
    withShape(local, [&](auto shape) { addTransposed<shape>(local, x, y); });
  }
  static ContactSide side1(const Local& local) {
    return {local.jacobian1, 3 * (local.size1 + local.size2), local.run, local.size1};
  }
  static ContactSide side2(const Local& local) {
    return {local.jacobian2, 3 * (local.size1 + local.size2), local.run, local.size2};
  }
  /// J x of all contacts of a run.
  void runVelocity(const Local& local, const Real* x, Real* y) const {
    six_->multiplyContacts(side1(local), x + local.velocity1, y);
    if (local.size2 > 0) six_->addContacts(side2(local), x + local.velocity2, y);
  }
  void evaluateRun(const Local& local, bool scatters, CostAndScale* sum);
  void boundRoundingOfRun(const Local& local);
  void boundImpulse(const Local& local, int numRows, const Real* size, Real* impulse) const;
  template <Shape kShape>
  Real evaluateOne(const Local& local, bool scatters);
  [[nodiscard]] bool isMirrored();
  void findResponses();
  void sweepUntil(const SweepLimits& limits);
  template <Shape kShape>
  void relax(const Local& local, const Real* response, const Real* delassus, Real part,
             SweepSums* sums);
  template <Shape kShape>
  void addToLine(const Local& local, Real alpha, LinePoint* sum) const;
  template <Shape kShape>
  void boundRoundingOf(const Local& local);

  /// y += J^T x for the velocities of one clique, x all rows: the sums of addTransposed over all
  /// constraints, in the same order.
  void gatherTransposed(int clique, const Real* x, Real* y) const {
    for (std::int32_t t = touch_begin_[clique]; t < touch_begin_[clique + 1]; ++t) {
      const Local& local = locals_[touches_[t].constraint];
      const bool isFirst = touches_[t].side == 0;
      if (local.run > 0) {
        six_->addTransposed(isFirst ? side1(local) : side2(local), x + local.row,
                            y + (isFirst ? local.velocity1 : local.velocity2));
        t += local.run - 1;
        continue;
      }
      solver::addTransposed(isFirst ? local.jacobian1 : local.jacobian2, local.numRows,
                            isFirst ? local.size1 : local.size2, x + local.row,
                            y + (isFirst ? local.velocity1 : local.velocity2));
    }
  }

  const SapProblem* problem_ = nullptr;
  core::ThreadPool* pool_ = nullptr;
  const SixFunctions* six_ = &sixFunctions();
  int num_velocities_ = 0, num_rows_ = 0, num_hessian_ = 0;

  // Constant during the solve.
  std::vector<std::int32_t> clique_of_problem_, local_clique_;  // local -> problem and back
  std::vector<std::int32_t> sizes_, first_velocity_;
  std::vector<std::int64_t> first_entry_;
  std::vector<const Real*> a_;                         // block of each clique, in the problem
  std::vector<Real> inverse_factor_, factor_scratch_;  // L^-1 of A = L L^T
  std::vector<Real> v_star_, momentum_star_, scale_;   // v*, A v*, D
  std::vector<Local> locals_;
  std::vector<Real> bias_, impulse_guess_;
  std::vector<std::uint64_t> edges_, edge_scratch_;
  std::vector<std::int32_t> touch_begin_;
  std::vector<Touch> touches_;
  SapConstraints constraints_;

  // Changes with v.
  std::vector<Real> v_, best_v_, place_v_;
  std::vector<Real> vc_, gamma_, hessian_, new_hessian_, used_hessian_;
  std::vector<Real> difference_, momentum_, generalized_impulse_,
      gradient_;  // v - v*, A (v - v*), ..
  Real cost_ = 0, cost_scale_ = 0, gradient_norm_ = 0, momentum_norm_ = 0, rounding_norm_ = 0;
  bool has_new_hessian_ = true;

  // The line.
  std::vector<Real> direction_, direction_momentum_, direction_vc_;
  std::vector<Real> coupling_;                // two for each constraint
  std::vector<std::int32_t> coupled_;         // constraints where they are not both zero
  Real line_slope_ = 0, line_curvature_ = 0;  // of the quadratic part

  std::vector<CostAndScale> cost_parts_;
  std::vector<VelocitySums> velocity_parts_;
  std::vector<LinePoint> line_parts_;
  std::vector<Real> diagonal_blocks_, inverse_diagonal_factor_;  // L^-1 of the diagonal blocks of H
  std::vector<Real> scratch_, row_scratch_, delassus_;
  std::vector<Real> responses_;  // A^-1 J^T of the sides of all constraints, column by column
  std::vector<Real> efforts_;    // of contacts, sorted: see sap_sweeps
  std::vector<Real> swept_impulse_, swept_v_;
  std::vector<Real> rounding_;          // of the certificate
  std::vector<Real> inverse_diagonal_;  // of A^-1
  std::int32_t bad_constraint_ = -1;
  bool is_evaluated_ = false, has_impulse_guess_ = false, is_swept_ = false;
};

}  // namespace tangere::solver
