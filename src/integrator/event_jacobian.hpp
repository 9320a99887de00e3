// SPDX-License-Identifier: Apache-2.0
//
// The matrix I - gamma J of an implicit step, and its solution.
//
// Positions follow velocities, so only the velocities are solved for. The matrix has a block for
// each tree, and for each two that contacts, equalities or tendons couple:
//
//   (I - gamma A_v - gamma^2 A_x) dv = b_v + gamma A_x b_x,   A_v = da/dv, A_x = da/dx,
//
// x the turns and ways that velocities are rates of. What is stiff is analytic: contacts with
// friction, limits, dry friction. The rest is by finite differences, one column of every tree at a
// time, and is exactly zero or known for bodies that only slide or fly.
#pragma once

#include "integrator/block_pattern.hpp"
#include "integrator/event_state.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tangere::integrator {

class EventJacobian {
 public:
  explicit EventJacobian(EventState& state);

  /// As OdeSystem says.
  [[nodiscard]] int prepare(Real t, const Real* y, Real gamma, bool mayReuse);
  void solve(const Real* b, Real* x);
  /// The next prepare() computes J anew.
  void forget() { is_known_ = false; }
  /// A new step: friction is taken by its tangent everywhere.
  void beginStep();
  /// Whether friction of the last derivative is much steeper or flatter than in J. Where a slip
  /// has turned round, Newton's method would jump to and fro across zero: the next J takes friction
  /// there as if it stuck; where that happens again and again, its secant. That one never
  /// overshoots, but small corrections by it prove nothing: once they are small the tangent has the
  /// last word.
  [[nodiscard]] bool isStale(bool isConverged);
  /// What sticks in J and slides in the last derivative may only seem to slide: corrections with
  /// its full friction would bring it back in steps as small as `slipSpeed`. So r, the residual of
  /// the last derivative with - gamma a in it, gets the friction that J foresees there. Whether
  /// there was any.
  [[nodiscard]] bool straighten(Real gamma, Real* r);

 private:
  /// How the smooth forces of a tree change.
  enum class Smooth : std::uint8_t { Zero, Gyroscopic, Differences };

  [[nodiscard]] bool compute(Real t, const Real* y);
  [[nodiscard]] bool findPattern();
  void addCliques();
  void addContacts();
  void addStiffRows();
  void addRow(const SparseRow& row, const StiffForce& force);
  void addPolygons(const EventContact& contact);
  void addPoint(const EventContact& contact, const ContactSample& sample,
                const PointForceDerivatives& d);
  [[nodiscard]] PointForceDerivatives differentiate(const EventContact& contact,
                                                    const ContactSample& sample);
  void takeFromRest(std::size_t index);
  [[nodiscard]] Vec3 foreseenFriction(const EventState::FrictionSlope& made,
                                      const Vec3& slip) const;
  void applyInverseMasses();
  void turnFree(int tree, bool isToBody, Real* x) const;
  void turnAll(Real* x) const;
  void turnColumns(Real* rows, int width) const;
  void addGyroscopic(int tree);
  void addDifferences(Real t, const Real* y);
  void movePosition(int dof, Real way);
  void listGroups();
  void projectAll();
  [[nodiscard]] bool factor(Real gamma);
  [[nodiscard]] int treeOf(int dof) const { return tree_of_dof_[static_cast<std::size_t>(dof)]; }
  /// Where a matrix has what velocity `column` does to velocity `row`.
  [[nodiscard]] std::size_t entryAt(int row, int column) const;

  EventState& state_;
  bool is_known_ = false;
  Real gamma_ = 0;
  std::vector<Smooth> smooth_;    // of trees
  std::vector<int> differenced_;  // trees
  // Trees whose smooth forces depend on each other, and their velocities in tree order.
  struct Group {
    std::vector<int> dofs;
  };
  std::vector<Group> groups_;
  SparseRow row_;
  /// The one or two trees that a point moves with, and where their columns start in its rows.
  struct Moved {
    int tree = -1, start = 0;
  };
  /// A point whose friction is steep.
  struct SteepPoint {
    int contact = 0;
    Vec3 position{};
    Mat3 slope{};              // of the force by the relative velocity
    std::size_t firstRow = 0;  // of its Jacobian, columns of which are in steep_rows_
    std::vector<Moved> moved{};
  };
  void keepSteep(int contact, const ContactSample& sample, const PointForceDerivatives& d);
  void addTravel(const Real* y);
  [[nodiscard]] bool doesTravelCount(const EventContact& contact) const;
  void locateMoved(int contact);
  [[nodiscard]] Vec3 slipNear(const SteepPoint& point) const;
  std::vector<SteepPoint> steep_;
  std::vector<Vec3> steep_rows_;
  std::vector<std::vector<int>> steep_of_tree_;  // points that move with it
  std::vector<Moved> moved_trees_;               // of the point just added
  std::vector<int> parent_;                      // of trees, while cliques are made
  std::vector<std::pair<int, int>> couplings_, last_couplings_;
  bool has_pattern_ = false;
  BlockPattern pattern_;  // of trees
  std::vector<int> sizes_, tree_of_dof_;
  std::vector<int> turn_of_tree_;  // into freeTurns(); -1: none
  std::vector<Real> by_velocity_, by_position_, lu_;
  std::vector<int> pivots_;
  std::vector<Real> rows_, angular_rows_, product_;  // scratch
  std::vector<Real> frozen_, base_, moved_, y_, z_, bx_, column_;
  PairDistance distance_;
  /// How J takes friction.
  enum class Taken : std::uint8_t { Tangent, Rest, Secant };
  std::vector<EventState::FrictionSlope> slopes_;  // of J
  std::vector<Taken> taken_;                       // of those
  // Of this step: how often each has turned round, and was taken to stick though it slid.
  std::vector<std::uint8_t> num_turns_, num_straightened_;
  std::size_t next_slope_ = 0;
  std::vector<Real> y_at_;  // of the last prepare
};

}  // namespace tangere::integrator
