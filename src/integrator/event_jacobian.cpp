// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_jacobian.hpp"

#include "integrator/kernels/elastic_force_law.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tangere::integrator {

namespace {

/// Relative length of a finite difference: the root of the rounding.
constexpr Real kDifference = 1.5e-8;
/// Length of a central difference of geometry: the third root of the rounding [m, rad].
constexpr Real kTravel = 1e-5;
/// Friction that changes less within a step than this part of the inertia is not steep.
constexpr Real kFlat = 0.2;
/// A slip may turn round so often in a step before its secant is taken.
constexpr int kMaxTurns = 2;
/// What slides is taken to stick at most so often.
constexpr int kMaxStraightened = 2;

bool isDamped(const model::ModelBody& body) {
  return body.linearDamping > 0 || body.angularDamping > 0;
}

}  // namespace

EventJacobian::EventJacobian(EventState& state) : state_(state) {
  const model::ModelData& model = state.model();
  const bool isCoupled =
      !model.actuators.empty() || !model.tendons.empty() || !model.equalities.empty();
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    Smooth smooth = Smooth::Differences;
    bool isPlain = !isCoupled && state.hasConstantMass(static_cast<int>(t));
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l)
      isPlain = isPlain && !isDamped(model.bodies[model.links[l].body]);
    for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k) {
      const model::TreeDof& dof = model.dofs[k];
      isPlain = isPlain && dof.damping == 0 &&
                model.joints[model.treeJoints[dof.joint].joint].joint.stiffness == 0;
    }
    if (isPlain) smooth = tree.isFreeBody ? Smooth::Gyroscopic : Smooth::Zero;
    smooth_.push_back(smooth);
    if (smooth == Smooth::Differences) differenced_.push_back(static_cast<int>(t));
  }
  const std::size_t n = model.dofs.size();
  frozen_.resize(n);
  base_.resize(n);
  moved_.resize(n);
  column_.resize(n);
  y_.resize(static_cast<std::size_t>(state.size()));
  y_at_.resize(y_.size());
  bx_.resize(n);
  z_.resize(n);
  pivots_.resize(n);
  turn_of_tree_.assign(model.trees.size(), -1);
  for (std::size_t i = 0; i < state.freeTurns().size(); ++i)
    turn_of_tree_[static_cast<std::size_t>(state.freeTurns()[i].tree)] = static_cast<int>(i);
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    sizes_.push_back(model.trees[t].numDofs);
    tree_of_dof_.insert(tree_of_dof_.end(), static_cast<std::size_t>(model.trees[t].numDofs),
                        static_cast<int>(t));
  }
  steep_of_tree_.resize(model.trees.size());
  listGroups();
}

void EventJacobian::listGroups() {
  const model::ModelData& model = state_.model();
  std::vector<int> root(model.trees.size());
  std::iota(root.begin(), root.end(), 0);
  const std::span<const std::pair<int, int>> coupled = state_.drives().coupledTrees();
  for (std::size_t round = 0; round < coupled.size(); ++round) {  // until nothing changes
    for (const auto& [a, b] : coupled) root[a] = root[b] = std::min(root[a], root[b]);
  }
  std::vector<int> groupOf(model.trees.size(), -1);
  for (const int tree : differenced_) {
    int& group = groupOf[static_cast<std::size_t>(root[tree])];
    if (group < 0) {
      group = static_cast<int>(groups_.size());
      groups_.emplace_back();
    }
    for (int k = 0; k < model.trees[tree].numDofs; ++k)
      groups_[static_cast<std::size_t>(group)].dofs.push_back(model.trees[tree].firstDof + k);
  }
}

int EventJacobian::prepare(Real t, const Real* y, Real gamma, bool mayReuse) {
  const bool isNew = !mayReuse || !is_known_;
  gamma_ = gamma;
  if (isNew) compute(t, y);
  is_known_ = true;
  std::copy_n(y, y_at_.size(), y_at_.begin());
  if (!factor(gamma)) return -1;
  return isNew ? 1 : 0;
}

void EventJacobian::beginStep() {
  taken_.assign(taken_.size(), Taken::Tangent);
  num_turns_.assign(num_turns_.size(), 0);
  num_straightened_.assign(num_straightened_.size(), 0);
}

bool EventJacobian::isStale(bool isConverged) {
  const std::span<const EventState::FrictionSlope> now = state_.frictionSlopes();
  if (now.size() != slopes_.size()) {
    for (std::vector<std::uint8_t>* counts : {&num_turns_, &num_straightened_})
      counts->assign(now.size(), 0);
    taken_.assign(now.size(), Taken::Tangent);
    return true;
  }
  bool isStale = false, isAnySecant = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const EventState::FrictionSlope &a = slopes_[i], &b = now[i];
    constexpr Real kMuch = 2, kTurned = 0.5;  // of slopes, a cosine
    isAnySecant = isAnySecant || taken_[i] == Taken::Secant;
    if (!(gamma_ * std::max(a.slope, b.slope) * b.mobility > kFlat)) continue;
    const bool isTurned =
        a.isSliding && dot(a.slip, b.slip) < kTurned * norm(a.slip) * norm(b.slip);
    if (isTurned) {
      const bool isFirst = b.contact >= 0 && ++num_turns_[i] <= kMaxTurns;
      taken_[i] = isFirst ? Taken::Rest : Taken::Secant;
      num_straightened_[i] = 0;
      isStale = true;
      continue;
    }
    if (a.contact >= 0 && !a.isSliding) {
      // Within the zone of sticking the rate of convergence tells; beyond it straighten() does.
      if (!b.isSliding || num_straightened_[i] < kMaxStraightened) continue;
      taken_[i] = Taken::Tangent;
    }
    isStale = isStale || std::max(a.slope, b.slope) > kMuch * std::min(a.slope, b.slope);
  }
  if (isStale || !isConverged || !isAnySecant) return isStale;
  std::replace(taken_.begin(), taken_.end(), Taken::Secant, Taken::Tangent);
  return true;
}

/// Of a contact that stuck when J was made.
Vec3 EventJacobian::foreseenFriction(const EventState::FrictionSlope& made,
                                     const Vec3& slip) const {
  const Real small = state_.contacts[static_cast<std::size_t>(made.contact)].law.smallSpeed;
  const Real most = made.slope * kernel::regularizedSize(norm(made.slip), small);
  return made.slip * -made.slope -
         kernel::regularizedDirectionSlope(made.slip, small) * ((slip - made.slip) * most);
}

bool EventJacobian::straighten(Real gamma, Real* r) {
  const std::span<const EventState::FrictionSlope> now = state_.frictionSlopes();
  if (now.size() != slopes_.size() || num_straightened_.size() != slopes_.size()) return false;
  bool isAny = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const EventState::FrictionSlope &a = slopes_[i], &b = now[i];
    if (a.contact < 0 || a.contact != b.contact || a.isSliding || !b.isSliding) continue;
    if (!(gamma * a.slope * b.mobility > kFlat)) continue;
    if (num_straightened_[i] >= kMaxStraightened) continue;
    ++num_straightened_[i];
    if (!isAny) std::fill(moved_.begin(), moved_.end(), Real(0));
    isAny = true;
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(b.contact)];
    const Vec3 change = foreseenFriction(a, b.slip) + b.slip * b.slope;
    if (contact.link1 >= 0) state_.addWrench(contact.link1, b.position, change, {}, moved_.data());
    if (contact.link2 >= 0) state_.addWrench(contact.link2, b.position, -change, {}, moved_.data());
  }
  if (!isAny) return false;
  state_.factorMasses();
  state_.applyInverseMass(moved_.data());
  for (Real& a : moved_) a *= -gamma;
  state_.addVelocities(moved_.data(), r);
  return true;
}

void EventJacobian::compute(Real t, const Real* y) {
  const Powers powers = state_.powers();
  state_.setMotion(t, y);
  if (!state_.drives().isEmpty()) state_.drives().measure(state_);
  std::fill(frozen_.begin(), frozen_.end(), Real(0));
  state_.addContactForces(frozen_.data());
  slopes_.assign(state_.frictionSlopes().begin(), state_.frictionSlopes().end());
  taken_.resize(slopes_.size(), Taken::Tangent);
  num_turns_.resize(slopes_.size(), 0);
  num_straightened_.resize(slopes_.size(), 0);
  for (std::size_t i = 0; i < slopes_.size(); ++i) {
    if (taken_[i] == Taken::Rest) takeFromRest(i);
  }
  state_.factorMasses();
  findPattern();
  std::fill(by_velocity_.begin(), by_velocity_.end(), Real(0));
  std::fill(by_position_.begin(), by_position_.end(), Real(0));
  addContacts();
  if (!steep_.empty()) addTravel(y);
  if (!state_.drives().isEmpty()) addStiffRows();
  applyInverseMasses();
  if (state_.drives().hasEqualities()) projectAll();
  for (std::size_t tree = 0; tree < smooth_.size(); ++tree) {
    if (smooth_[tree] == Smooth::Gyroscopic) addGyroscopic(static_cast<int>(tree));
  }
  if (!differenced_.empty()) addDifferences(t, y);
  state_.setPowers(powers);
}

/// Made anew when other trees touch than before.
void EventJacobian::findPattern() {
  const model::ModelData& model = state_.model();
  couplings_.clear();
  for (const EventContact& contact : state_.contacts) {
    if (contact.link1 >= 0 && contact.link2 >= 0 && !contact.law.isObserver())
      couplings_.emplace_back(model.links[contact.link1].tree, model.links[contact.link2].tree);
  }
  if (!state_.drives().coupledTrees().empty()) addCliques();
  if (!has_pattern_ || couplings_ != last_couplings_) {
    pattern_.build(sizes_, couplings_);
    last_couplings_ = couplings_;
    has_pattern_ = true;
    for (std::vector<Real>* all : {&by_velocity_, &by_position_, &lu_})
      all->resize(pattern_.numEntries());
  }
}

/// Equalities and tendons pass on what happens to any of the trees they hold together.
void EventJacobian::addCliques() {
  const int numTrees = static_cast<int>(state_.model().trees.size());
  parent_.resize(static_cast<std::size_t>(numTrees));
  for (int i = 0; i < numTrees; ++i) parent_[i] = i;
  const auto rootOf = [&](int tree) {
    while (parent_[tree] != tree) tree = parent_[tree] = parent_[parent_[tree]];
    return tree;
  };
  const auto join = [&](int a, int b) {
    a = rootOf(a), b = rootOf(b);
    parent_[std::max(a, b)] = std::min(a, b);
  };
  for (const auto& [a, b] : couplings_) join(a, b);
  for (const auto& [a, b] : state_.drives().coupledTrees()) join(a, b);
  std::vector<std::uint8_t> isHeld(static_cast<std::size_t>(numTrees), 0);
  for (const auto& [a, b] : state_.drives().coupledTrees())
    isHeld[static_cast<std::size_t>(rootOf(a))] = 1;
  for (int a = 0; a < numTrees; ++a) {
    if (isHeld[static_cast<std::size_t>(rootOf(a))] == 0) continue;
    for (int b = a + 1; b < numTrees; ++b) {
      if (rootOf(b) == rootOf(a)) couplings_.emplace_back(a, b);
    }
  }
}

std::size_t EventJacobian::entryAt(int row, int column) const {
  const int i = treeOf(row), j = treeOf(column);
  return pattern_.at(i, j) +
         static_cast<std::size_t>((row - pattern_.firstRow(i)) * pattern_.size(j) + column -
                                  pattern_.firstRow(j));
}

void EventJacobian::addContacts() {
  next_slope_ = 0;
  steep_.clear();
  steep_rows_.clear();
  for (std::vector<int>& points : steep_of_tree_) points.clear();
  for (EventContact& contact : state_.contacts) {
    if (contact.law.isObserver()) continue;
    if (contact.law.kind == ContactLaw::Kind::Foundation) {
      addPolygons(contact);
      continue;
    }
    Real eps = 0;
    state_.locate(contact, &distance_, &eps);
    for (int i = 0; i < distance_.numPoints; ++i) {
      const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
      if (!state_.isPressed(contact, point, eps)) continue;
      const ContactSample s = state_.sample(contact, point, eps);
      const PointForceDerivatives d = differentiate(contact, s);
      addPoint(contact, s, d);
      if (doesTravelCount(contact))
        keepSteep(static_cast<int>(&contact - state_.contacts.data()), s, d);
    }
  }
}

/// Each polygon as a point; those of the last addContactForces().
void EventJacobian::addPolygons(const EventContact& contact) {
  if (contact.law.friction != 0 && contact.mobility != 0) ++next_slope_;
  for (const collision::ContactPolygon& polygon : contact.polygons) {
    ContactSample s;
    s.point.position = polygon.centroid;
    s.point.normal = s.motion.normal = polygon.normal;
    s.motion.relativeVelocity = state_.pointVelocity(contact.body1, polygon.centroid) -
                                state_.pointVelocity(contact.body2, polygon.centroid);
    s.motion.depth = polygon.pressure / polygon.gradient;
    s.motion.rate = -dot(polygon.normal, s.motion.relativeVelocity);
    addPoint(contact, s, differentiateForce(lawOfPolygon(contact.law, polygon), s.motion));
  }
}

void EventJacobian::takeFromRest(std::size_t index) {
  EventState::FrictionSlope& made = slopes_[index];
  const Real small = state_.contacts[static_cast<std::size_t>(made.contact)].law.smallSpeed;
  made.slope *=
      kernel::regularizedSize(norm(made.slip), small) / kernel::regularizedSize(Real(0), small);
  made.slip = {};
  made.isSliding = false;
}

/// In the order of the slopes.
PointForceDerivatives EventJacobian::differentiate(const EventContact& contact,
                                                   const ContactSample& s) {
  const ContactLaw law = EventState::lawAt(contact, s.point);
  if (law.friction == 0 || contact.mobility == 0) return differentiateForce(law, s.motion);
  const std::size_t index = next_slope_++;
  const Taken taken = index < taken_.size() ? taken_[index] : Taken::Tangent;
  const Vec3& n = s.point.normal;
  if (taken == Taken::Rest) {
    PointMotion still = s.motion;
    still.relativeVelocity = n * dot(n, still.relativeVelocity);
    return differentiateForce(law, still);
  }
  PointForceDerivatives d = differentiateForce(law, s.motion);
  if (taken == Taken::Tangent) return d;
  const Real slope = slopes_[index].slope;
  for (int column = 0; column < 3; ++column) {
    for (int row = 0; row < 3; ++row)
      d.dForce_dVelocity(row, column) = -d.dNormalForce_dRate * n[row] * n[column] -
                                        slope * ((row == column ? 1 : 0) - n[row] * n[column]);
  }
  return d;
}

void EventJacobian::addPoint(const EventContact& contact, const ContactSample& s,
                             const PointForceDerivatives& d) {
  const model::ModelData& model = state_.model();
  moved_trees_.clear();
  int width = 0;
  for (const int link : {contact.link1, contact.link2}) {
    if (link < 0) continue;
    const int tree = model.links[link].tree;
    if (!moved_trees_.empty() && moved_trees_.front().tree == tree) continue;
    moved_trees_.push_back({tree, width});
    width += pattern_.size(tree);
  }
  if (width == 0) return;
  rows_.assign(static_cast<std::size_t>(3 * width), 0);
  const bool hasTorque =
      contact.law.spinArm > 0 || contact.law.torsionArm > 0 || contact.law.rollingArm > 0;
  angular_rows_.assign(static_cast<std::size_t>(hasTorque ? 3 * width : 0), 0);
  const Mat3 axes = Mat3::identity();
  dynamics::TreeWorkspace& trees = state_.trees();
  const auto add = [&](int of, Real sign) {
    if (of < 0) return;
    const int tree = model.links[of].tree;
    const int at =
        moved_trees_.front().tree == tree ? moved_trees_.front().start : moved_trees_.back().start;
    dynamics::addPointJacobian(trees, of, s.point.position, axes, sign, rows_.data() + at, width);
    if (hasTorque)
      dynamics::addAngularJacobian(trees, of, axes, sign, angular_rows_.data() + at, width);
  };
  add(contact.link1, 1);
  add(contact.link2, -1);
  turnColumns(rows_.data(), width);
  if (hasTorque) turnColumns(angular_rows_.data(), width);

  const auto column = [width](const std::vector<Real>& rows, int j) {
    return Vec3{rows[j], rows[width + j], rows[2 * width + j]};
  };
  const Vec3& normal = s.point.normal;
  // What a change of each velocity or way does to force and torque; then J^T of it.
  for (const Moved& by : moved_trees_) {
    const int numColumns = pattern_.size(by.tree);
    for (int j = 0; j < numColumns; ++j) {
      const Vec3 v = column(rows_, by.start + j);
      Vec3 w{};
      if (hasTorque) w = column(angular_rows_, by.start + j);
      const Real deepening = -dot(normal, v);
      const Vec3 force = d.dForce_dVelocity * v, push = d.dForce_dDepth * deepening;
      Vec3 torque{}, twist{};
      if (hasTorque) {
        torque = d.dTorque_dVelocity * v + d.dTorque_dSpin * w;
        twist = d.dTorque_dDepth * deepening;
      }
      for (const Moved& of : moved_trees_) {
        const std::size_t block = pattern_.at(of.tree, by.tree) + static_cast<std::size_t>(j);
        for (int i = 0; i < pattern_.size(of.tree); ++i) {
          const Vec3 vi = column(rows_, of.start + i);
          Real slope = dot(vi, force), stiffness = dot(vi, push);
          if (hasTorque) {
            const Vec3 wi = column(angular_rows_, of.start + i);
            slope += dot(wi, torque);
            stiffness += dot(wi, twist);
          }
          const std::size_t at = block + static_cast<std::size_t>(i * numColumns);
          by_velocity_[at] += slope;
          by_position_[at] += stiffness;
        }
      }
    }
  }
}

/// Whether friction makes a force of what turning changes within a step. After differentiate().
bool EventJacobian::doesTravelCount(const EventContact& contact) const {
  if (contact.law.friction == 0 || contact.mobility == 0) return false;
  const Real spin =
      norm(state_.angularVelocity(contact.body1)) + norm(state_.angularVelocity(contact.body2));
  const std::size_t index = next_slope_ - 1;
  constexpr Real kLittle = 0.01;
  return index < slopes_.size() &&
         gamma_ * gamma_ * slopes_[index].slope * contact.mobility * spin > kLittle;
}

/// Remembers the point that addPoint() has just added: its friction is steep.
void EventJacobian::keepSteep(int contact, const ContactSample& s, const PointForceDerivatives& d) {
  const std::size_t width = rows_.size() / 3;
  for (const Moved& moved : moved_trees_)
    steep_of_tree_[static_cast<std::size_t>(moved.tree)].push_back(static_cast<int>(steep_.size()));
  SteepPoint& point = steep_.emplace_back();
  point.contact = contact;
  point.position = s.point.position;
  point.slope = d.dForce_dVelocity;
  point.firstRow = steep_rows_.size();
  point.moved = moved_trees_;
  for (std::size_t i = 0; i < width; ++i)
    steep_rows_.push_back({rows_[i], rows_[width + i], rows_[2 * width + i]});
}

/// How the slip at points of steep friction changes as the bodies move: the point travels over
/// their surfaces, and arms turn. Small itself, but friction multiplies it by its slope.
void EventJacobian::addTravel(const Real* y) {
  const model::ModelData& model = state_.model();
  std::copy_n(y, y_.size(), y_.begin());
  for (std::size_t tree = 0; tree < model.trees.size(); ++tree) {
    const std::vector<int>& points = steep_of_tree_[tree];
    if (points.empty()) continue;
    const int index = static_cast<int>(tree);
    const model::Tree& of = model.trees[tree];
    for (int dof = of.firstDof; dof < of.firstDof + of.numDofs; ++dof) {
      for (const Real sign : {Real(1), Real(-1)}) {
        movePosition(dof, sign * kTravel);
        state_.setTreeMotion(index, y_.data());
        const model::TreeJoint& joint = model.treeJoints[model.dofs[dof].joint];
        std::copy_n(y + joint.q, numJointPositions(joint.type), y_.begin() + joint.q);
        int located = -1;
        for (const int p : points) {
          const SteepPoint& point = steep_[static_cast<std::size_t>(p)];
          if (point.contact != located) locateMoved(point.contact);
          located = point.contact;
          const Vec3 push = point.slope * (slipNear(point) * (sign / (2 * kTravel)));
          for (const Moved& moved : point.moved) {
            const Vec3* row = steep_rows_.data() + point.firstRow + moved.start;
            const int stride = of.numDofs;
            Real* to = by_position_.data() + pattern_.at(moved.tree, index) + (dof - of.firstDof);
            for (int i = 0; i < pattern_.size(moved.tree); ++i) to[i * stride] += dot(row[i], push);
          }
        }
      }
    }
    state_.setTreeMotion(index, y);
  }
}

void EventJacobian::locateMoved(int contact) {
  Real eps = 0;
  state_.locate(state_.contacts[static_cast<std::size_t>(contact)], &distance_, &eps);
}

/// Relative velocity at the point of the pair just located that is nearest to where it was.
Vec3 EventJacobian::slipNear(const SteepPoint& point) const {
  int nearest = 0;
  Real least = kUnlimited;
  for (int i = 0; i < distance_.numPoints; ++i) {
    const Real square =
        squaredNorm(distance_.points[static_cast<std::size_t>(i)].position - point.position);
    if (square < least) {
      least = square;
      nearest = i;
    }
  }
  const EventContact& c = state_.contacts[static_cast<std::size_t>(point.contact)];
  const Vec3& p = distance_.points[static_cast<std::size_t>(nearest)].position;
  return state_.pointVelocity(c.body1, p) - state_.pointVelocity(c.body2, p);
}

/// Columns of free turns of the point just added, from body to world axes.
void EventJacobian::turnColumns(Real* rows, int width) const {
  for (const Moved& moved : moved_trees_) {
    const int index = turn_of_tree_[static_cast<std::size_t>(moved.tree)];
    if (index < 0) continue;
    const EventState::FreeTurn& turn = state_.freeTurns()[static_cast<std::size_t>(index)];
    const int at = moved.start + turn.dof - pattern_.firstRow(moved.tree);
    const Mat3 R = state_.rotationOf(turn);
    for (int r = 0; r < 3; ++r) {
      Real* w = rows + r * width + at;
      const Vec3 world = R * Vec3{w[0], w[1], w[2]};
      w[0] = world.x, w[1] = world.y, w[2] = world.z;
    }
  }
}

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
  for (std::size_t k = 0; k < most; ++k) {
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

bool EventJacobian::factor(Real gamma) {
  for (std::size_t i = 0; i < lu_.size(); ++i)
    lu_[i] = -gamma * (by_velocity_[i] + gamma * by_position_[i]);
  for (int tree = 0; tree < pattern_.numBlocks(); ++tree) {
    Real* block = lu_.data() + pattern_.at(tree, tree);
    const int n = pattern_.size(tree);
    for (int i = 0; i < n; ++i) block[i * n + i] += 1;
  }
  return pattern_.factor(lu_.data(), pivots_.data());
}

namespace {

/// q w, or w q where the angular velocity is in world axes.
Quat turnedBy(const Quat& q, const Vec3& w, bool isWorld) {
  const Quat spin{0, w.x, w.y, w.z};
  return isWorld ? spin * q : q * spin;
}

/// (1 - gamma/2 T)^-1 x of quaternions, T q = turnedBy(q, w).
Quat withoutTurn(const Real* x, const Vec3& w, bool isWorld, Real gamma) {
  const Quat given{x[0], x[1], x[2], x[3]};
  const Real half = gamma / 2;
  const Quat turned = turnedBy(given, w, isWorld);
  const Real scale = 1 / (1 + half * half * squaredNorm(w));
  return {scale * (given.w + half * turned.w), scale * (given.x + half * turned.x),
          scale * (given.y + half * turned.y), scale * (given.z + half * turned.z)};
}

}  // namespace

void EventJacobian::solve(const Real* b, Real* x) {
  const model::ModelData& model = state_.model();
  const int numQ = state_.numPositions(), numV = state_.numVelocities();
  const Real* v = y_at_.data() + numQ;
  // b_x of each velocity, in the State's order; x holds (1 - gamma N')^-1 b of the positions.
  for (const model::TreeJoint& joint : model.treeJoints) {
    const bool isFree = joint.type == JointType::Free;
    const int numLinear = isFree ? 3 : (joint.type == JointType::Ball ? 0 : 1);
    for (int i = 0; i < numLinear; ++i) bx_[joint.v + i] = x[joint.q + i] = b[joint.q + i];
    if (!isFree && joint.type != JointType::Ball) continue;
    const int at = joint.q + numLinear, rate = joint.v + numLinear;
    const Vec3 w{v[rate], v[rate + 1], v[rate + 2]};
    const Quat reduced = withoutTurn(b + at, w, isFree, gamma_);
    const Quat q{y_at_[at], y_at_[at + 1], y_at_[at + 2], y_at_[at + 3]};
    const Quat turn = isFree ? reduced * math::conjugate(q) : math::conjugate(q) * reduced;
    bx_[rate] = 2 * turn.x, bx_[rate + 1] = 2 * turn.y, bx_[rate + 2] = 2 * turn.z;
    x[at] = reduced.w, x[at + 1] = reduced.x, x[at + 2] = reduced.y, x[at + 3] = reduced.z;
  }
  for (std::size_t k = 0; k < z_.size(); ++k) {
    const int at = model.dofs[k].v;
    z_[k] = b[numQ + at];
    column_[k] = gamma_ * bx_[at];
  }
  pattern_.addProduct(by_position_.data(), column_.data(), z_.data());
  pattern_.solve(lu_.data(), pivots_.data(), z_.data());
  for (std::size_t k = 0; k < z_.size(); ++k) x[numQ + model.dofs[k].v] = z_[k];
  const Real* dv = x + numQ;
  for (const model::TreeJoint& joint : model.treeJoints) {
    const bool isFree = joint.type == JointType::Free;
    const int numLinear = isFree ? 3 : (joint.type == JointType::Ball ? 0 : 1);
    for (int i = 0; i < numLinear; ++i) x[joint.q + i] += gamma_ * dv[joint.v + i];
    if (!isFree && joint.type != JointType::Ball) continue;
    const int at = joint.q + numLinear, rate = joint.v + numLinear;
    const Quat q{y_at_[at], y_at_[at + 1], y_at_[at + 2], y_at_[at + 3]};
    const Quat turn = turnedBy(q, {dv[rate], dv[rate + 1], dv[rate + 2]}, isFree);
    const Real half[4] = {gamma_ / 2 * turn.w, gamma_ / 2 * turn.x, gamma_ / 2 * turn.y,
                          gamma_ / 2 * turn.z};
    const Vec3 w{v[rate], v[rate + 1], v[rate + 2]};
    const Quat reduced = withoutTurn(half, w, isFree, gamma_);
    x[at] += reduced.w, x[at + 1] += reduced.x, x[at + 2] += reduced.y, x[at + 3] += reduced.z;
  }
  const std::span<const Real> decay = state_.drives().activationDecay();
  for (std::size_t i = 0; i < decay.size(); ++i) {
    const auto at = static_cast<std::size_t>(numQ + numV) + i;
    x[at] = b[at] / (1 + gamma_ * decay[i]);
  }
}

}  // namespace tangere::integrator
