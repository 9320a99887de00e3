// SPDX-License-Identifier: Apache-2.0
//
// What trees do to the matrix: inverse masses, equalities, gyroscopic forces, limits and dry
// friction, and differences for the rest.
#include "integrator/event_jacobian.hpp"

#include "math/quat.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

/// Relative length of a finite difference: the root of the rounding.
constexpr Real kDifference = 1.5e-8;

}  // namespace

void EventJacobian::applyInverseMasses() {
  dynamics::TreeWorkspace& trees = state_.trees();
  const auto apply = [&](int tree, int by, Real* block) {
    const int count = pattern_.size(tree), columns = pattern_.size(by);
    for (int j = 0; j < columns; ++j) {
      bool isAny = false;
      for (int k = 0; k < count; ++k) {
        column_[k] = block[k * columns + j];
        isAny = isAny || column_[k] != 0;
      }
      if (!isAny) continue;
      turnFree(tree, true, column_.data());
      dynamics::solveMassMatrix(trees, tree, column_.data());
      turnFree(tree, false, column_.data());
      for (int k = 0; k < count; ++k) block[k * columns + j] = column_[k];
    }
  };
  for (std::vector<Real>* all : {&by_velocity_, &by_position_}) {
    for (int tree = 0; tree < pattern_.numBlocks(); ++tree) {
      apply(tree, tree, all->data() + pattern_.at(tree, tree));
      for (const int by : pattern_.neighbours(tree))
        apply(tree, by, all->data() + pattern_.at(tree, by));
    }
  }
}

/// What equalities do not allow is taken from every column.
void EventJacobian::projectAll() {
  const model::ModelData& model = state_.model();
  const auto forEachRow = [&](int by, auto&& function) {
    function(by);
    for (const int tree : pattern_.neighbours(by)) function(tree);
  };
  for (std::vector<Real>* all : {&by_velocity_, &by_position_}) {
    for (int by = 0; by < pattern_.numBlocks(); ++by) {
      const int columns = pattern_.size(by);
      for (int j = 0; j < columns; ++j) {
        const auto entries = [&](int tree) { return all->data() + pattern_.at(tree, by) + j; };
        std::fill(moved_.begin(), moved_.end(), Real(0));
        forEachRow(by, [&](int tree) {
          Real* x = moved_.data() + model.trees[tree].firstDof;
          for (int k = 0; k < pattern_.size(tree); ++k) x[k] = entries(tree)[k * columns];
          turnFree(tree, true, x);
        });
        state_.drives().project(moved_.data());
        forEachRow(by, [&](int tree) {
          Real* x = moved_.data() + model.trees[tree].firstDof;
          turnFree(tree, false, x);
          for (int k = 0; k < pattern_.size(tree); ++k) entries(tree)[k * columns] = x[k];
        });
      }
    }
  }
}

/// The angular velocities of a tree's free joint from world to body axes, or back.
void EventJacobian::turnFree(int tree, bool isToBody, Real* x) const {
  const int index = turn_of_tree_[static_cast<std::size_t>(tree)];
  if (index < 0) return;
  const EventState::FreeTurn& turn = state_.freeTurns()[static_cast<std::size_t>(index)];
  Real* w = x + turn.dof - state_.model().trees[tree].firstDof;
  const Mat3 R = state_.rotationOf(turn);
  const Vec3 given{w[0], w[1], w[2]};
  const Vec3 turned = isToBody ? transposeTimes(R, given) : R * given;
  w[0] = turned.x, w[1] = turned.y, w[2] = turned.z;
}

/// I w' = -w x I w, I fixed.
void EventJacobian::addGyroscopic(int tree) {
  const model::ModelData& model = state_.model();
  const model::TreeLink& link = model.links[model.trees[tree].firstLink];
  const model::ModelBody& body = model.bodies[link.body];
  const Mat3 R = state_.bodyPose(link.body).rotation;
  const Mat3 inertia = R * body.mass.inertia * transpose(R);
  const Mat3 inverse = R * body.inverseInertia * transpose(R);
  const Vec3 w = state_.angularVelocity(link.body);
  const Vec3 spin = inertia * w;
  const int at = 3, n = pattern_.size(tree);
  Real* byVelocity = by_velocity_.data() + pattern_.at(tree, tree);
  for (int j = 0; j < 3; ++j) {
    Vec3 e{};
    e[j] = 1;
    const Vec3 change = inverse * -(cross(e, spin) + cross(w, inertia * e));
    for (int i = 0; i < 3; ++i) byVelocity[(at + i) * n + at + j] += change[i];
  }
}

void EventJacobian::turnAll(Real* x) const {
  for (const int tree : differenced_)
    turnFree(tree, false, x + state_.model().trees[tree].firstDof);
}

void EventJacobian::addDifferences(Real t, const Real* y) {
  const model::ModelData& model = state_.model();
  const int numQ = state_.numPositions();
  state_.useTrees(differenced_);
  state_.setMotion(t, y);
  state_.smoothAccelerations(t, y, frozen_.data(), base_.data());
  turnAll(base_.data());
  std::size_t most = 0;
  for (const Group& group : groups_) most = std::max(most, group.dofs.size());
  const auto stepOf = [&](int dof, bool isVelocity) {
    const Real x = isVelocity ? y[numQ + model.dofs[dof].v] : Real(0);
    return kDifference * std::max<Real>(1, std::fabs(x));
  };
  const auto read = [&](std::size_t k, bool isVelocity) {
    std::vector<Real>& into = isVelocity ? by_velocity_ : by_position_;
    state_.setMotion(t, y_.data());
    state_.smoothAccelerations(t, y_.data(), frozen_.data(), moved_.data());
    turnAll(moved_.data());
    for (const Group& group : groups_) {
      if (k >= group.dofs.size()) continue;
      const int dof = group.dofs[k];
      const Real step = stepOf(dof, isVelocity);
      for (const int i : group.dofs) into[entryAt(i, dof)] += (moved_[i] - base_[i]) / step;
    }
  };
  for (std::size_t k = 0; k < most && state_.budget().mayGoOn(); ++k) {
    std::copy_n(y, y_.size(), y_.begin());
    for (const Group& group : groups_) {
      if (k < group.dofs.size())
        y_[static_cast<std::size_t>(numQ + model.dofs[group.dofs[k]].v)] +=
            stepOf(group.dofs[k], true);
    }
    read(k, true);
    std::copy_n(y, y_.size(), y_.begin());
    for (const Group& group : groups_) {
      if (k < group.dofs.size()) movePosition(group.dofs[k], kDifference);
    }
    read(k, false);
  }
  state_.useAllTrees();
  state_.setMotion(t, y);
}

/// One position of y_, along a velocity.
void EventJacobian::movePosition(int dof, Real way) {
  const model::ModelData& model = state_.model();
  const model::TreeJoint& joint = model.treeJoints[model.dofs[dof].joint];
  const int within = model.dofs[dof].v - joint.v;
  const bool isFree = joint.type == JointType::Free;
  if (!(isFree && within >= 3) && joint.type != JointType::Ball) {
    y_[static_cast<std::size_t>(joint.q + within)] += way;
    return;
  }
  Real* q = y_.data() + joint.q + (isFree ? 3 : 0);
  Vec3 turn{};
  turn[isFree ? within - 3 : within] = way;
  const Quat now{q[0], q[1], q[2], q[3]}, by = math::quatExp(turn);
  const Quat moved = isFree ? by * now : now * by;
  q[0] = moved.w, q[1] = moved.x, q[2] = moved.y, q[3] = moved.z;
}

void EventJacobian::addRow(const SparseRow& row, const StiffForce& force) {
  for (std::size_t i = 0; i < row.dof.size(); ++i) {
    for (std::size_t k = 0; k < row.dof.size(); ++k) {
      const std::size_t at = entryAt(row.dof[i], row.dof[k]);
      by_velocity_[at] += row.entry[i] * row.entry[k] * force.byVelocity;
      by_position_[at] += row.entry[i] * row.entry[k] * force.byPosition;
    }
  }
}

/// Limits and dry friction, in the order of the slopes.
void EventJacobian::addStiffRows() {
  EventDrives& drives = state_.drives();
  for (std::size_t i = 0; i < drives.limits.size(); ++i) {
    if (drives.isLimitActive[i] == 0) continue;
    drives.rowOf(i, state_, &row_);
    Real rate = 0;
    for (std::size_t k = 0; k < row_.dof.size(); ++k)
      rate += row_.entry[k] * state_.trees().rate[static_cast<std::size_t>(row_.dof[k])];
    addRow(row_, drives.limitForce(i, drives.gapOf(i, state_), rate));
  }
  for (const EventDrives::DryFriction& dry : drives.dryFrictions()) {
    const std::size_t index = next_slope_++;
    StiffForce force = drives.dryForce(dry, drives.slipOf(dry, state_));
    const bool isSecant = index < taken_.size() && taken_[index] == Taken::Secant;
    if (isSecant) force.byVelocity = -slopes_[index].slope;
    drives.rowOf(dry, &row_);
    addRow(row_, force);
  }
}

}  // namespace tangere::integrator
