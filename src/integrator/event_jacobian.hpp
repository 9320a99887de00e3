// SPDX-License-Identifier: Apache-2.0
//
// The matrix I - gamma J of an implicit step, and its solution.
//
// Positions follow velocities, so only the velocities are solved for, island by island (an island:
// trees that contacts, equalities or tendons couple):
//
//   (I - gamma A_v - gamma^2 A_x) dv = b_v + gamma A_x b_x,   A_v = da/dv, A_x = da/dx,
//
// x the turns and ways that velocities are rates of. What is stiff is analytic: contacts with
// friction, limits, dry friction. The rest is by finite differences, one column of every tree at a
// time, and is exactly zero or known for bodies that only slide or fly.
#pragma once

#include "integrator/event_state.hpp"

#include <cstdint>
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
  void beginStep() { is_secant_.assign(is_secant_.size(), 0); }
  /// Whether friction of the last derivative is much steeper or flatter than in J. Where a slip
  /// has turned round, Newton's method would jump to and fro across zero: the next J takes its
  /// secant there. That one never overshoots, but small corrections by it prove nothing: once they
  /// are small the tangent has the last word.
  [[nodiscard]] bool isStale(bool isConverged);

 private:
  struct Island {
    int firstTree = 0, numTrees = 0;  // into island_trees_
    int size = 0;
    std::size_t matrix = 0;  // where its matrices start
    int first = 0;           // of its velocities, among those of all islands
  };
  /// How the smooth forces of a tree change.
  enum class Smooth : std::uint8_t { Zero, Gyroscopic, Differences };

  void compute(Real t, const Real* y);
  void findIslands();
  void addContacts();
  void addStiffRows();
  void addRow(const SparseRow& row, const StiffForce& force);
  void addPolygons(const EventContact& contact);
  void addPoint(const EventContact& contact, const ContactSample& sample,
                const PointForceDerivatives& d);
  void useSecant(const EventContact& contact, const ContactSample& sample,
                 PointForceDerivatives* d);
  void applyInverseMasses();
  void turnFree(int tree, bool isToBody, Real* x) const;
  void turnAll(Real* x) const;
  void turnColumns(Real* rows, int numRows, const EventContact& contact) const;
  void addGyroscopic(int tree);
  void addDifferences(Real t, const Real* y);
  void movePosition(int dof, Real way);
  void listGroups();
  void projectAll();
  [[nodiscard]] bool factor(Real gamma);
  [[nodiscard]] int offsetOf(int tree) const { return offset_of_tree_[tree]; }
  [[nodiscard]] Island& islandOf(int tree) { return islands_[island_of_tree_[tree]]; }

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
  std::vector<int> at_dof_;  // place of a velocity of tree order in its island
  SparseRow row_;
  /// A point whose friction is steep.
  struct SteepPoint {
    int contact = 0;
    Vec3 position{};
    Mat3 slope{};              // of the force by the relative velocity
    std::size_t firstRow = 0;  // of its Jacobian, columns of which are in steep_rows_
    int numRows = 0;
  };
  void keepSteep(int contact, const ContactSample& sample, const PointForceDerivatives& d);
  void addTravel(const Real* y);
  [[nodiscard]] bool doesTravelCount(const EventContact& contact) const;
  void locateMoved(int contact);
  [[nodiscard]] Vec3 slipNear(const SteepPoint& point) const;
  std::vector<SteepPoint> steep_;
  std::vector<Vec3> steep_rows_;
  std::vector<int> steep_places_;  // in the island
  std::vector<int> active_;        // velocities that move the point, in the island
  std::vector<int> parent_;        // of trees, while islands are made
  std::vector<Island> islands_;
  std::vector<int> island_trees_, island_of_tree_, offset_of_tree_;
  std::vector<Real> by_velocity_, by_position_, lu_;  // n x n of each island, row after row
  std::vector<int> pivots_;
  std::vector<Real> rows_, angular_rows_, product_;  // scratch
  std::vector<Real> frozen_, base_, moved_, y_, z_, bx_, column_;
  PairDistance distance_;
  std::vector<EventState::FrictionSlope> slopes_;  // of J
  std::vector<std::uint8_t> is_secant_;            // of those: by the secant
  std::size_t next_slope_ = 0;
  std::vector<Real> y_at_;  // of the last prepare
};

}  // namespace tangere::integrator
