// SPDX-License-Identifier: Apache-2.0
//
// What contacts with friction do to the matrix: each point that presses by its own derivatives,
// and, where friction is steep, what its travel over the surfaces does to the slip.
#include "integrator/event_jacobian.hpp"

#include "integrator/kernels/elastic_force_law.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

/// Length of a central difference of geometry: the third root of the rounding [m, rad].
constexpr Real kTravel = 1e-5;

}  // namespace

void EventJacobian::addContacts() {
  next_slope_ = 0;
  steep_.clear();
  steep_rows_.clear();
  for (std::vector<int>& points : steep_of_tree_) points.clear();
  for (EventContact& contact : state_.contacts) {
    if (!state_.budget().mayGoOn()) return;
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
      if (!state_.budget().mayGoOn()) break;
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

}  // namespace tangere::integrator
