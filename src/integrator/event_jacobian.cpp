// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_jacobian.hpp"

#include "integrator/kernels/elastic_force_law.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tangere::integrator {

namespace {

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
  if (isNew && !compute(t, y)) return -1;
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

/// False: the budget is spent; nothing of J may be used.
bool EventJacobian::compute(Real t, const Real* y) {
  is_known_ = false;
  if (!state_.budget().mayGoOn()) return false;
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
  if (!findPattern()) return false;
  std::fill(by_velocity_.begin(), by_velocity_.end(), Real(0));
  std::fill(by_position_.begin(), by_position_.end(), Real(0));
  addContacts();
  if (!steep_.empty()) addTravel(y);
  if (!state_.budget().mayGoOn()) return false;
  if (!state_.drives().isEmpty()) addStiffRows();
  applyInverseMasses();
  if (state_.drives().hasEqualities()) projectAll();
  for (std::size_t tree = 0; tree < smooth_.size(); ++tree) {
    if (smooth_[tree] == Smooth::Gyroscopic) addGyroscopic(static_cast<int>(tree));
  }
  if (!differenced_.empty()) addDifferences(t, y);
  state_.setPowers(powers);
  return state_.budget().mayGoOn();
}

/// Made anew when other trees touch than before. False: it would be too large.
bool EventJacobian::findPattern() {
  const model::ModelData& model = state_.model();
  couplings_.clear();
  for (const EventContact& contact : state_.contacts) {
    if (contact.link1 >= 0 && contact.link2 >= 0 && !contact.law.isObserver())
      couplings_.emplace_back(model.links[contact.link1].tree, model.links[contact.link2].tree);
  }
  if (!state_.drives().coupledTrees().empty()) addCliques();
  if (!has_pattern_ || couplings_ != last_couplings_) {
    has_pattern_ = false;
    if (!pattern_.build(sizes_, couplings_, &state_.budget())) return false;
    last_couplings_ = couplings_;
    has_pattern_ = true;
    for (std::vector<Real>* all : {&by_velocity_, &by_position_, &lu_})
      all->resize(pattern_.numEntries());
  }
  return true;
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

bool EventJacobian::factor(Real gamma) {
  for (std::size_t i = 0; i < lu_.size(); ++i)
    lu_[i] = -gamma * (by_velocity_[i] + gamma * by_position_[i]);
  for (int tree = 0; tree < pattern_.numBlocks(); ++tree) {
    Real* block = lu_.data() + pattern_.at(tree, tree);
    const int n = pattern_.size(tree);
    for (int i = 0; i < n; ++i) block[i * n + i] += 1;
  }
  return pattern_.factor(lu_.data(), pivots_.data(), &state_.budget());
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
