// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_jacobian.hpp"

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

bool isDamped(const model::ModelBody& body) {
  return body.linearDamping > 0 || body.angularDamping > 0;
}

/// LU with row pivoting in place; false when singular.
bool factorLu(int n, Real* a, int* pivots) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[best * n + k])) best = i;
    }
    pivots[k] = best;
    if (!(std::fabs(a[best * n + k]) > 0)) return false;
    if (best != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
    const Real inverse = 1 / a[k * n + k];
    for (int i = k + 1; i < n; ++i) {
      Real* row = a + i * n;
      if (row[k] == 0) continue;
      const Real factor = row[k] *= inverse;
      const Real* top = a + k * n;
      for (int j = k + 1; j < n; ++j) row[j] -= factor * top[j];
    }
  }
  return true;
}

void solveLu(int n, const Real* a, const int* pivots, Real* x) {
  for (int k = 0; k < n; ++k) {
    if (pivots[k] != k) std::swap(x[k], x[pivots[k]]);
    if (x[k] == 0) continue;
    for (int i = k + 1; i < n; ++i) x[i] -= a[i * n + k] * x[k];
  }
  for (int k = n - 1; k >= 0; --k) {
    Real sum = x[k];
    for (int j = k + 1; j < n; ++j) sum -= a[k * n + j] * x[j];
    x[k] = sum / a[k * n + k];
  }
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
  island_of_tree_.resize(model.trees.size());
  offset_of_tree_.resize(model.trees.size());
  at_dof_.resize(n);
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

bool EventJacobian::isStale(bool isConverged) {
  const std::span<const EventState::FrictionSlope> now = state_.frictionSlopes();
  if (now.size() != slopes_.size()) {
    is_secant_.assign(now.size(), 0);
    return true;
  }
  bool isStale = false, isAnySecant = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const EventState::FrictionSlope &a = slopes_[i], &b = now[i];
    constexpr Real kMuch = 2, kFlat = 0.2, kTurned = 0.5;  // of slopes, of the inertia, a cosine
    isAnySecant = isAnySecant || is_secant_[i] != 0;
    if (!(gamma_ * std::max(a.slope, b.slope) * b.mobility > kFlat)) continue;
    const bool isTurned =
        a.isSliding && dot(a.slip, b.slip) < kTurned * norm(a.slip) * norm(b.slip);
    if (isTurned) is_secant_[i] = 1;
    isStale =
        isStale || isTurned || std::max(a.slope, b.slope) > kMuch * std::min(a.slope, b.slope);
  }
  if (isStale || !isConverged || !isAnySecant) return isStale;
  beginStep();
  return true;
}

void EventJacobian::compute(Real t, const Real* y) {
  const Powers powers = state_.powers();
  state_.setMotion(t, y);
  if (!state_.drives().isEmpty()) state_.drives().measure(state_);
  std::fill(frozen_.begin(), frozen_.end(), Real(0));
  state_.addContactForces(frozen_.data());
  slopes_.assign(state_.frictionSlopes().begin(), state_.frictionSlopes().end());
  is_secant_.resize(slopes_.size(), 0);
  state_.factorMasses();
  findIslands();
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

void EventJacobian::findIslands() {
  const model::ModelData& model = state_.model();
  const int numTrees = static_cast<int>(model.trees.size());
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
  for (const EventContact& contact : state_.contacts) {
    if (contact.link1 >= 0 && contact.link2 >= 0 && !contact.law.isObserver())
      join(model.links[contact.link1].tree, model.links[contact.link2].tree);
  }
  for (const auto& [a, b] : state_.drives().coupledTrees()) join(a, b);
  islands_.clear();
  island_trees_.clear();
  std::size_t matrix = 0;
  int first = 0;
  for (int root = 0; root < numTrees; ++root) {
    if (rootOf(root) != root) continue;
    Island island{
        .firstTree = static_cast<int>(island_trees_.size()), .matrix = matrix, .first = first};
    for (int tree = root; tree < numTrees; ++tree) {
      if (rootOf(tree) != root) continue;
      island_trees_.push_back(tree);
      island_of_tree_[tree] = static_cast<int>(islands_.size());
      offset_of_tree_[tree] = island.size;
      island.size += model.trees[tree].numDofs;
    }
    island.numTrees = static_cast<int>(island_trees_.size()) - island.firstTree;
    matrix += static_cast<std::size_t>(island.size) * static_cast<std::size_t>(island.size);
    first += island.size;
    islands_.push_back(island);
  }
  for (int tree = 0; tree < numTrees; ++tree) {
    for (int k = 0; k < model.trees[tree].numDofs; ++k)
      at_dof_[static_cast<std::size_t>(model.trees[tree].firstDof + k)] = offset_of_tree_[tree] + k;
  }
  by_velocity_.resize(matrix);
  by_position_.resize(matrix);
  lu_.resize(matrix);
}

void EventJacobian::addContacts() {
  next_slope_ = 0;
  steep_.clear();
  steep_rows_.clear();
  steep_places_.clear();
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
      if (!(state_.forceDistance(point.distance, eps) < 0)) continue;
      const ContactSample s = state_.sample(contact, point, eps);
      PointForceDerivatives d = differentiateForce(contact.law, s.motion);
      useSecant(contact, s, &d);
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

/// In the order of the slopes.
void EventJacobian::useSecant(const EventContact& contact, const ContactSample& s,
                              PointForceDerivatives* d) {
  if (contact.law.friction == 0 || contact.mobility == 0) return;
  const std::size_t index = next_slope_++;
  if (index >= is_secant_.size() || is_secant_[index] == 0) return;
  const Vec3& n = s.point.normal;
  const Real slope = slopes_[index].slope;
  for (int column = 0; column < 3; ++column) {
    for (int row = 0; row < 3; ++row)
      d->dForce_dVelocity(row, column) = -d->dNormalForce_dRate * n[row] * n[column] -
                                         slope * ((row == column ? 1 : 0) - n[row] * n[column]);
  }
}

void EventJacobian::addPoint(const EventContact& contact, const ContactSample& s,
                             const PointForceDerivatives& d) {
  const model::ModelData& model = state_.model();
  const int link = contact.link1 >= 0 ? contact.link1 : contact.link2;
  if (link < 0) return;
  const Island& island = islandOf(model.links[link].tree);
  const int n = island.size;
  rows_.assign(static_cast<std::size_t>(3 * n), 0);
  const bool hasTorque =
      contact.law.spinArm > 0 || contact.law.torsionArm > 0 || contact.law.rollingArm > 0;
  angular_rows_.assign(static_cast<std::size_t>(hasTorque ? 3 * n : 0), 0);
  const Mat3 axes = Mat3::identity();
  dynamics::TreeWorkspace& trees = state_.trees();
  active_.clear();
  const auto add = [&](int of, Real sign) {
    if (of < 0) return;
    const int tree = model.links[of].tree, at = offsetOf(tree);
    dynamics::addPointJacobian(trees, of, s.point.position, axes, sign, rows_.data() + at, n);
    if (hasTorque)
      dynamics::addAngularJacobian(trees, of, axes, sign, angular_rows_.data() + at, n);
    if (!active_.empty() && active_.front() == at) return;  // both links are of one tree
    for (int k = 0; k < model.trees[tree].numDofs; ++k) active_.push_back(at + k);
  };
  add(contact.link1, 1);
  add(contact.link2, -1);
  turnColumns(rows_.data(), 3, contact);
  if (hasTorque) turnColumns(angular_rows_.data(), 3, contact);

  const Vec3& normal = s.point.normal;
  Real* byVelocity = by_velocity_.data() + island.matrix;
  Real* byPosition = by_position_.data() + island.matrix;
  // What a change of each velocity or way does to force and torque; then J^T of it.
  for (const int j : active_) {
    const Vec3 v{rows_[j], rows_[n + j], rows_[2 * n + j]};
    Vec3 w{};
    if (hasTorque) w = {angular_rows_[j], angular_rows_[n + j], angular_rows_[2 * n + j]};
    const Real deepening = -dot(normal, v);
    const Vec3 force = d.dForce_dVelocity * v, push = d.dForce_dDepth * deepening;
    Vec3 torque{}, twist{};
    if (hasTorque) {
      torque = d.dTorque_dVelocity * v + d.dTorque_dSpin * w;
      twist = d.dTorque_dDepth * deepening;
    }
    for (const int i : active_) {
      const Vec3 vi{rows_[i], rows_[n + i], rows_[2 * n + i]};
      Real slope = dot(vi, force), stiffness = dot(vi, push);
      if (hasTorque) {
        const Vec3 wi{angular_rows_[i], angular_rows_[n + i], angular_rows_[2 * n + i]};
        slope += dot(wi, torque);
        stiffness += dot(wi, twist);
      }
      byVelocity[i * n + j] += slope;
      byPosition[i * n + j] += stiffness;
    }
  }
}

/// Whether friction makes a force of what turning changes within a step. After useSecant().
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
  const int n = static_cast<int>(rows_.size()) / 3;
  SteepPoint& point = steep_.emplace_back();
  point.contact = contact;
  point.position = s.point.position;
  point.slope = d.dForce_dVelocity;
  point.firstRow = steep_rows_.size();
  for (const int i : active_) {
    steep_rows_.push_back({rows_[i], rows_[n + i], rows_[2 * n + i]});
    steep_places_.push_back(i);
  }
  point.numRows = static_cast<int>(active_.size());
}

/// How the slip at points of steep friction changes as the bodies move: the point travels over
/// their surfaces, and arms turn. Small itself, but friction multiplies it by its slope.
void EventJacobian::addTravel(const Real* y) {
  const model::ModelData& model = state_.model();
  std::copy_n(y, y_.size(), y_.begin());
  for (std::size_t tree = 0; tree < model.trees.size(); ++tree) {
    const auto isMoved = [&](const SteepPoint& p) {
      const EventContact& c = state_.contacts[static_cast<std::size_t>(p.contact)];
      const auto is = [&](int link) {
        return link >= 0 && model.links[link].tree == static_cast<int>(tree);
      };
      return is(c.link1) || is(c.link2);
    };
    if (std::none_of(steep_.begin(), steep_.end(), isMoved)) continue;
    const int index = static_cast<int>(tree);
    Real* byPosition = by_position_.data() + islandOf(index).matrix;
    const int n = islandOf(index).size;
    const model::Tree& of = model.trees[tree];
    for (int dof = of.firstDof; dof < of.firstDof + of.numDofs; ++dof) {
      for (const Real sign : {Real(1), Real(-1)}) {
        movePosition(dof, sign * kTravel);
        state_.setTreeMotion(index, y_.data());
        const model::TreeJoint& joint = model.treeJoints[model.dofs[dof].joint];
        std::copy_n(y + joint.q, numJointPositions(joint.type), y_.begin() + joint.q);
        for (std::size_t p = 0; p < steep_.size(); ++p) {
          const SteepPoint& point = steep_[p];
          if (!isMoved(point)) continue;
          if (p == 0 || steep_[p - 1].contact != point.contact) locateMoved(point.contact);
          const Vec3 push = point.slope * (slipNear(point) * (sign / (2 * kTravel)));
          for (int i = 0; i < point.numRows; ++i) {
            const auto row = point.firstRow + static_cast<std::size_t>(i);
            byPosition[steep_places_[row] * n + at_dof_[dof]] += dot(steep_rows_[row], push);
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

/// Columns of free turns from body to world axes.
void EventJacobian::turnColumns(Real* rows, int numRows, const EventContact& contact) const {
  const model::ModelData& model = state_.model();
  const auto treeOf = [&](int link) { return link < 0 ? -1 : model.links[link].tree; };
  const int tree1 = treeOf(contact.link1), tree2 = treeOf(contact.link2);
  const int n = static_cast<int>(rows_.size()) / 3;
  for (const EventState::FreeTurn& turn : state_.freeTurns()) {
    if (turn.tree != tree1 && turn.tree != tree2) continue;
    const int at = offsetOf(turn.tree) + turn.dof - model.trees[turn.tree].firstDof;
    const Mat3 R = state_.rotationOf(turn);
    for (int r = 0; r < numRows; ++r) {
      Real* w = rows + r * n + at;
      const Vec3 world = R * Vec3{w[0], w[1], w[2]};
      w[0] = world.x, w[1] = world.y, w[2] = world.z;
    }
  }
}

void EventJacobian::applyInverseMasses() {
  dynamics::TreeWorkspace& trees = state_.trees();
  for (const Island& island : islands_) {
    const int n = island.size;
    for (int i = island.firstTree; i < island.firstTree + island.numTrees; ++i) {
      const int tree = island_trees_[i];
      const int at = offsetOf(tree);
      const int count = trees.trees[static_cast<std::size_t>(tree)].numDofs;
      for (std::vector<Real>* all : {&by_velocity_, &by_position_}) {
        Real* matrix = all->data() + island.matrix;
        for (int j = 0; j < n; ++j) {
          bool isAny = false;
          for (int k = 0; k < count; ++k) {
            column_[k] = matrix[(at + k) * n + j];
            isAny = isAny || column_[k] != 0;
          }
          if (!isAny) continue;
          turnFree(tree, true, column_.data());
          dynamics::solveMassMatrix(trees, tree, column_.data());
          turnFree(tree, false, column_.data());
          for (int k = 0; k < count; ++k) matrix[(at + k) * n + j] = column_[k];
        }
      }
    }
  }
}

/// What equalities do not allow is taken from every column.
void EventJacobian::projectAll() {
  const model::ModelData& model = state_.model();
  for (const Island& island : islands_) {
    const int n = island.size;
    for (std::vector<Real>* all : {&by_velocity_, &by_position_}) {
      Real* matrix = all->data() + island.matrix;
      for (int j = 0; j < n; ++j) {
        std::fill(moved_.begin(), moved_.end(), Real(0));
        for (int i = island.firstTree; i < island.firstTree + island.numTrees; ++i) {
          const model::Tree& tree = model.trees[island_trees_[i]];
          for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k)
            moved_[k] = matrix[at_dof_[k] * n + j];
          turnFree(island_trees_[i], true, moved_.data() + tree.firstDof);
        }
        state_.drives().project(moved_.data());
        for (int i = island.firstTree; i < island.firstTree + island.numTrees; ++i) {
          const model::Tree& tree = model.trees[island_trees_[i]];
          turnFree(island_trees_[i], false, moved_.data() + tree.firstDof);
          for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k)
            matrix[at_dof_[k] * n + j] = moved_[k];
        }
      }
    }
  }
}

/// The angular velocities of a tree's free joint from world to body axes, or back.
void EventJacobian::turnFree(int tree, bool isToBody, Real* x) const {
  for (const EventState::FreeTurn& turn : state_.freeTurns()) {
    if (turn.tree != tree) continue;
    Real* w = x + turn.dof - state_.model().trees[tree].firstDof;
    const Mat3 R = state_.rotationOf(turn);
    const Vec3 given{w[0], w[1], w[2]};
    const Vec3 turned = isToBody ? transposeTimes(R, given) : R * given;
    w[0] = turned.x, w[1] = turned.y, w[2] = turned.z;
  }
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
  const Island& island = islandOf(tree);
  const int at = offsetOf(tree) + 3, n = island.size;
  Real* byVelocity = by_velocity_.data() + island.matrix;
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
      const Island& island = islandOf(model.links[model.dofs[dof].link].tree);
      const Real step = stepOf(dof, isVelocity);
      Real* matrix = into.data() + island.matrix;
      for (const int i : group.dofs)
        matrix[at_dof_[i] * island.size + at_dof_[dof]] += (moved_[i] - base_[i]) / step;
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
  const model::ModelData& model = state_.model();
  for (std::size_t i = 0; i < row.dof.size(); ++i) {
    const Island& island = islandOf(model.links[model.dofs[row.dof[i]].link].tree);
    Real* byVelocity = by_velocity_.data() + island.matrix;
    Real* byPosition = by_position_.data() + island.matrix;
    for (std::size_t k = 0; k < row.dof.size(); ++k) {
      const int at = at_dof_[row.dof[i]] * island.size + at_dof_[row.dof[k]];
      byVelocity[at] += row.entry[i] * row.entry[k] * force.byVelocity;
      byPosition[at] += row.entry[i] * row.entry[k] * force.byPosition;
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
    const bool isSecant = index < is_secant_.size() && is_secant_[index] != 0;
    if (isSecant) force.byVelocity = -slopes_[index].slope;
    drives.rowOf(dry, &row_);
    addRow(row_, force);
  }
}

bool EventJacobian::factor(Real gamma) {
  for (const Island& island : islands_) {
    const int n = island.size;
    const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    Real* lu = lu_.data() + island.matrix;
    const Real* byVelocity = by_velocity_.data() + island.matrix;
    const Real* byPosition = by_position_.data() + island.matrix;
    for (std::size_t i = 0; i < count; ++i)
      lu[i] = -gamma * (byVelocity[i] + gamma * byPosition[i]);
    for (int i = 0; i < n; ++i) lu[i * n + i] += 1;
    if (!factorLu(n, lu, pivots_.data() + island.first)) return false;
  }
  return true;
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
  for (const Island& island : islands_) {
    const int n = island.size;
    Real* z = z_.data() + island.first;
    const Real* byPosition = by_position_.data() + island.matrix;
    int at = 0;
    for (int i = island.firstTree; i < island.firstTree + island.numTrees; ++i) {
      const model::Tree& tree = model.trees[island_trees_[i]];
      for (int k = 0; k < tree.numDofs; ++k)
        column_[at++] = gamma_ * bx_[model.dofs[tree.firstDof + k].v];
    }
    at = 0;
    for (int i = island.firstTree; i < island.firstTree + island.numTrees; ++i) {
      const model::Tree& tree = model.trees[island_trees_[i]];
      for (int k = 0; k < tree.numDofs; ++k, ++at) {
        Real sum = b[numQ + model.dofs[tree.firstDof + k].v];
        for (int j = 0; j < n; ++j) sum += byPosition[at * n + j] * column_[j];
        z[at] = sum;
      }
    }
    solveLu(n, lu_.data() + island.matrix, pivots_.data() + island.first, z);
    at = 0;
    for (int i = island.firstTree; i < island.firstTree + island.numTrees; ++i) {
      const model::Tree& tree = model.trees[island_trees_[i]];
      for (int k = 0; k < tree.numDofs; ++k) x[numQ + model.dofs[tree.firstDof + k].v] = z[at++];
    }
  }
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
