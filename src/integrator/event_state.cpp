// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_state.hpp"

#include "contact/tendon_rows.hpp"
#include "integrator/kernels/elastic_force_law.hpp"
#include "math/quat.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tangere::integrator {

namespace {

/// Whether the mass matrix of the tree is the same everywhere: bodies that only slide, and a free
/// body whose origin is its centre.
bool isMassConstant(const model::ModelData& model, const model::Tree& tree) {
  if (tree.isFreeBody) return model.bodies[model.links[tree.firstLink].body].mass.center == Vec3{};
  for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l) {
    const model::TreeLink& link = model.links[l];
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      if (model.treeJoints[j].type != JointType::Prismatic) return false;
    }
  }
  return true;
}

/// Springs or damping, of joints or bodies.
bool hasPassiveForces(const model::ModelData& model, const model::Tree& tree) {
  for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l) {
    const model::TreeLink& link = model.links[l];
    const model::ModelBody& body = model.bodies[link.body];
    if (body.linearDamping > 0 || body.angularDamping > 0) return true;
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      if (model.joints[model.treeJoints[j].joint].joint.stiffness > 0) return true;
    }
  }
  for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k) {
    if (model.dofs[k].damping > 0) return true;
  }
  return false;
}

bool isDamped(const model::ModelData& model) {
  for (const model::ModelBody& body : model.bodies) {
    if (body.linearDamping > 0 || body.angularDamping > 0) return true;
  }
  return std::any_of(model.dofs.begin(), model.dofs.end(),
                     [](const model::TreeDof& dof) { return dof.damping > 0; });
}

}  // namespace

EventState::EventState(const model::ModelData& model, const model::Control& control)
    : model_(model),
      control_(control),
      budget_(model.options.event),
      trees_(model),
      drives_(model, control),
      num_q_(model.numPositions),
      num_v_(model.numVelocities),
      num_activations_(model.numActivations),
      is_penetrating_(model.options.event.policy == EventPolicy::Penetrating),
      has_damping_(isDamped(model)),
      v_(static_cast<std::size_t>(model.numVelocities)),
      q_(static_cast<std::size_t>(model.numPositions)),
      tau_(model.dofs.size()),
      shown_(static_cast<std::size_t>(model.numPositions + model.numVelocities)),
      told_pose_(model.bodies.size()),
      scratch_(2 * model.dofs.size()) {
  for (const model::TreeJoint& part : model.treeJoints) {
    coordinates_.push_back({part.type, part.q, part.v});
    if (part.type == JointType::Free) quaternions_.push_back(part.q + 3);
    if (part.type == JointType::Ball) quaternions_.push_back(part.q);
  }
  has_quaternions_ = !quaternions_.empty();
  useAllTrees();
  for (const model::TreeJoint& part : model.treeJoints) {
    if (part.type != JointType::Free) continue;
    const int tree = model.links[model.linkOfBody[part.body]].tree;
    free_turns_.push_back(
        {part.q + 3, part.v + 3, model.trees[tree].firstDof + part.dof + 3, tree});
  }
  is_mass_known_.assign(model.trees.size(), 0);
  is_tree_placed_.assign(model.trees.size(), 0);
  bias_.resize(model.dofs.size());
  for (const model::Tree& tree : model.trees) {
    is_mass_constant_.push_back(isMassConstant(model, tree) ? 1 : 0);
    tree_kind_.push_back(kindOf(model, tree));
    is_passive_.push_back(hasPassiveForces(model, tree) ? 1 : 0);
  }
  for (const model::ModelShape& shape : model.shapes)
    is_shape_at_body_.push_back(shape.pose == Transform{} ? 1 : 0);
  shape_pose_.resize(model.shapes.size());
  shape_pose_time_.assign(model.shapes.size(), 0);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    told_pose_[i] = model.bodies[i].startPose;
    if (model.bodies[i].type == BodyType::Kinematic) told_.push_back({.body = static_cast<int>(i)});
  }
}

void EventState::setOrigin(const State& state) {
  forgetMotion();
  ++num_origins_;
  told_time_ = state.time;
  for (ToldMotion& told : told_) {
    told.center = state.center[told.body];
    told.orientation = state.orientation[told.body];
    told.velocity = state.velocity[told.body];
    told.angularVelocity = state.angularVelocity[told.body];
  }
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (model_.bodies[i].type != BodyType::Fixed) continue;
    const Mat3 R = rotationMatrix(state.orientation[i]);
    told_pose_[i] = {R, state.center[i] - R * model_.bodies[i].mass.center};
  }
  readControl();
}

void EventState::useAllTrees() {
  forgetMotion();
  used_.resize(model_.trees.size());
  std::iota(used_.begin(), used_.end(), 0);
}

void EventState::readControl() {
  const auto isZero = [](const Vec3& v) { return v == Vec3{}; };
  has_applied_ = !std::all_of(control_.force.begin(), control_.force.end(), isZero) ||
                 !std::all_of(control_.torque.begin(), control_.torque.end(), isZero) ||
                 std::any_of(control_.jointForce.begin(), control_.jointForce.end(),
                             [](Real f) { return f != 0; });
}

void EventState::readFrom(const State& state, Real* y) const {
  std::copy(state.q.begin(), state.q.end(), y);
  std::copy(state.v.begin(), state.v.end(), y + num_q_);
  for (const FreeTurn& turn : free_turns_) {
    const Real* q = y + turn.q;
    Real* v = y + num_q_ + turn.v;
    const Vec3 w = rotationMatrix(Quat{q[0], q[1], q[2], q[3]}) * Vec3{v[0], v[1], v[2]};
    v[0] = w.x, v[1] = w.y, v[2] = w.z;
  }
  std::copy(state.activation.begin(), state.activation.end(), y + num_q_ + num_v_);
}

void EventState::writeTo(const Real* y, State& state) {
  setMotion(state.time, y);
  std::copy(q_.begin(), q_.end(), state.q.begin());
  std::copy(v_.begin(), v_.end(), state.v.begin());
  std::copy_n(y + num_q_ + num_v_, num_activations_, state.activation.begin());
  dynamics::copyLinksToState(model_, trees_, state);
  for (const ToldMotion& told : told_) {
    const Transform& X_WB = told_pose_[told.body];
    state.center[told.body] = X_WB * model_.bodies[told.body].mass.center;
    state.orientation[told.body] = math::quatFromRotation(X_WB.rotation);
  }
}

void EventState::normalize(Real* y) const {
  for (const int at : quaternions_) {
    const Quat unit = math::normalized(Quat{y[at], y[at + 1], y[at + 2], y[at + 3]});
    y[at] = unit.w, y[at + 1] = unit.x, y[at + 2] = unit.y, y[at + 3] = unit.z;
  }
}

void EventState::setPositions(Real t, const Real* y) {
  if (has_positions_ && t == shown_time_ && std::equal(shown_.begin(), shown_.end(), y)) return;
  has_positions_ = used_.size() == model_.trees.size();
  has_velocities_ = false;
  ++num_motions_;
  shown_time_ = t;
  std::copy_n(y, shown_.size(), shown_.begin());
  std::copy_n(y, num_q_, q_.begin());
  if (has_quaternions_) normalize(q_.data());
  for (const int tree : used_) placeTree(tree);
  const Real elapsed = t - told_time_;
  for (const ToldMotion& told : told_) {
    const Mat3 R =
        math::rotationExp(told.angularVelocity * elapsed) * rotationMatrix(told.orientation);
    const Vec3 center = told.center + told.velocity * elapsed;
    told_pose_[told.body] = {R, center - R * model_.bodies[told.body].mass.center};
  }
}

void EventState::setMotion(Real t, const Real* y) {
  setPositions(t, y);
  if (has_velocities_) return;
  has_velocities_ = has_positions_;
  std::copy_n(y + num_q_, num_v_, v_.begin());
  for (const FreeTurn& turn : free_turns_) {
    Real* v = v_.data() + turn.v;
    const Vec3 w = transposeTimes(rotationOf(turn), Vec3{v[0], v[1], v[2]});
    v[0] = w.x, v[1] = w.y, v[2] = w.z;
  }
  for (const int tree : used_) moveTree(tree);
}

void EventState::setTreeMotion(int tree, const Real* y) {
  forgetMotion();
  const model::Tree& t = model_.trees[tree];
  for (int l = t.firstLink; l < t.firstLink + t.numLinks; ++l) {
    const model::TreeLink& link = model_.links[l];
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const model::TreeJoint& joint = model_.treeJoints[j];
      const int numQ = numJointPositions(joint.type), numV = numJointVelocities(joint.type);
      std::copy_n(y + joint.q, numQ, q_.begin() + joint.q);
      std::copy_n(y + num_q_ + joint.v, numV, v_.begin() + joint.v);
      const bool isFree = joint.type == JointType::Free;
      if (!isFree && joint.type != JointType::Ball) continue;
      Real* q = q_.data() + joint.q + (isFree ? 3 : 0);
      const Quat unit = math::normalized(Quat{q[0], q[1], q[2], q[3]});
      q[0] = unit.w, q[1] = unit.x, q[2] = unit.y, q[3] = unit.z;
      if (!isFree) continue;
      Real* v = v_.data() + joint.v + 3;
      const Vec3 w = transposeTimes(rotationMatrix(unit), Vec3{v[0], v[1], v[2]});
      v[0] = w.x, v[1] = w.y, v[2] = w.z;
    }
  }
  placeTree(tree);
  moveTree(tree);
}

EventState::TreeKind EventState::kindOf(const model::ModelData& model, const model::Tree& tree) {
  const bool hasArmature = std::any_of(model.dofs.begin() + tree.firstDof,
                                       model.dofs.begin() + tree.firstDof + tree.numDofs,
                                       [](const model::TreeDof& dof) { return dof.armature != 0; });
  if (tree.numLinks != 1 || !isMassConstant(model, tree)) return TreeKind::General;
  if (!tree.isFreeBody) return TreeKind::Slider;
  return hasArmature ? TreeKind::General : TreeKind::FreeBody;
}

/// Poses of the links of a tree at q_.
void EventState::placeTree(int tree) {
  const auto index = static_cast<std::size_t>(tree);
  if (tree_kind_[index] != TreeKind::Slider || is_tree_placed_[index] == 0) {
    dynamics::computeTreePositions(trees_, tree, q_);
    is_tree_placed_[index] = 1;
    return;
  }
  const dynamics::TreeRange& range = trees_.trees[index];
  const auto link = static_cast<std::size_t>(range.firstLink);
  Vec3 base = trees_.links[link].pose.translation;
  for (int k = 0; k < range.numDofs; ++k) {
    const auto& joint = trees_.joints[static_cast<std::size_t>(range.firstJoint + k)];
    base += trees_.subspace[static_cast<std::size_t>(range.firstDof + joint.dof)].linear *
            (q_[static_cast<std::size_t>(joint.q)] - joint.reference);
  }
  trees_.frame[index].base = trees_.pose[link].translation = base;
}

/// Velocities of the links of a tree at v_, after placeTree().
void EventState::moveTree(int tree) {
  const auto index = static_cast<std::size_t>(tree);
  if (tree_kind_[index] != TreeKind::Slider)
    return dynamics::computeTreeVelocities(trees_, tree, v_);
  const dynamics::TreeRange& range = trees_.trees[index];
  Vec3 velocity{};
  for (int k = range.firstDof; k < range.firstDof + range.numDofs; ++k) {
    const auto dof = static_cast<std::size_t>(k);
    trees_.rate[dof] = v_[static_cast<std::size_t>(trees_.dofs[dof].v)];
    velocity += trees_.subspace[dof].linear * trees_.rate[dof];
  }
  trees_.velocity[static_cast<std::size_t>(range.firstLink)] = {{}, velocity};
  trees_.biasMotion[static_cast<std::size_t>(range.firstLink)] = {};
}

/// Of Coriolis forces less gravity.
void EventState::subtractBias(int tree, Real* force) {
  const auto index = static_cast<std::size_t>(tree);
  const dynamics::TreeRange& range = trees_.trees[index];
  const auto first = static_cast<std::size_t>(range.firstDof);
  const Vec3& gravity = model_.options.gravity;
  switch (tree_kind_[index]) {
    case TreeKind::FreeBody: {
      const model::ModelBody& body = model_.bodies[model_.links[range.firstLink].body];
      const Real* w = trees_.rate.data() + range.firstDof + 3;
      const Vec3 spin{w[0], w[1], w[2]};
      const Vec3 turning = cross(spin, body.mass.inertia * spin);
      const Vec3 weight = gravity * (body.mass.mass * body.gravityScale);
      for (int i = 0; i < 3; ++i) {
        force[i] += weight[i];
        force[3 + i] -= turning[i];
      }
      return;
    }
    case TreeKind::Slider: {
      const model::ModelBody& body = model_.bodies[model_.links[range.firstLink].body];
      const Vec3 weight = gravity * (body.mass.mass * body.gravityScale);
      for (int k = 0; k < range.numDofs; ++k)
        force[k] += dot(trees_.subspace[first + static_cast<std::size_t>(k)].linear, weight);
      return;
    }
    case TreeKind::General:
      dynamics::computeBiasForce(trees_, tree, gravity, bias_.data());
      for (int k = 0; k < range.numDofs; ++k) force[k] -= bias_[static_cast<std::size_t>(k)];
  }
}

/// x = M^-1 x of one tree.
void EventState::applyTreeInverse(int tree, Real* x) {
  const auto index = static_cast<std::size_t>(tree);
  const dynamics::TreeRange& range = trees_.trees[index];
  if (tree_kind_[index] == TreeKind::FreeBody) {
    const model::ModelBody& body = model_.bodies[model_.links[range.firstLink].body];
    const Vec3 turn = body.inverseInertia * Vec3{x[3], x[4], x[5]};
    for (int i = 0; i < 3; ++i) {
      x[i] *= body.inverseMass;
      x[3 + i] = turn[i];
    }
  } else if (range.numDofs == 1) {
    x[0] *= trees_.inverseDiagonal[static_cast<std::size_t>(range.firstDof)];
  } else {
    dynamics::solveMassMatrix(trees_, tree, x);
  }
}

Mat3 EventState::rotationOf(const FreeTurn& turn) const {
  const Real* q = q_.data() + turn.q;
  return rotationMatrix(Quat{q[0], q[1], q[2], q[3]});
}

void EventState::addVelocities(const Real* x, Real* y) const {
  Real* v = y + num_q_;
  for (std::size_t k = 0; k < trees_.dofs.size(); ++k) v[trees_.dofs[k].v] += x[k];
  for (const FreeTurn& turn : free_turns_) {
    const Vec3 w{x[turn.dof], x[turn.dof + 1], x[turn.dof + 2]};
    const Vec3 change = rotationOf(turn) * w - w;
    for (int i = 0; i < 3; ++i) v[turn.v + i] += change[i];
  }
}

const Transform& EventState::bodyPose(int body) const {
  const int link = model_.linkOfBody[body];
  return link < 0 ? told_pose_[body] : dynamics::linkPose(trees_, link);
}

const Transform& EventState::shapePose(int shape) const {
  const auto index = static_cast<std::size_t>(shape);
  const model::ModelShape& s = model_.shapes[shape];
  const Transform& X_WB = bodyPose(s.body);
  if (is_shape_at_body_[index] != 0) return X_WB;
  const bool isFixed = model_.bodies[s.body].type == BodyType::Fixed;
  const std::uint64_t now = isFixed ? num_origins_ : num_motions_;
  if (shape_pose_time_[index] != now) {
    shape_pose_time_[index] = now;
    shape_pose_[index] = X_WB * s.pose;
  }
  return shape_pose_[index];
}

Vec3 EventState::pointVelocity(int body, const Vec3& p_W) const {
  const int link = model_.linkOfBody[body];
  if (link >= 0) return dynamics::pointVelocity(trees_, link, p_W);
  for (const ToldMotion& told : told_) {
    if (told.body != body) continue;
    const Vec3 center = told_pose_[body] * model_.bodies[body].mass.center;
    return told.velocity + cross(told.angularVelocity, p_W - center);
  }
  return {};
}

Vec3 EventState::angularVelocity(int body) const {
  const int link = model_.linkOfBody[body];
  if (link >= 0) return dynamics::linkAngularVelocity(trees_, link);
  for (const ToldMotion& told : told_) {
    if (told.body == body) return told.angularVelocity;
  }
  return {};
}

bool EventState::derivative(Real t, const Real* y, Real* yDot) {
  setMotion(t, y);
  powers_ = {};
  std::fill(tau_.begin(), tau_.end(), Real(0));
  if (!drives_.isEmpty()) drives_.measure(*this);
  if (!contacts.empty() || !drives_.isEmpty()) addContactForces(tau_.data());
  smoothAccelerations(t, y, tau_.data(), scratch_.data());
  if (num_activations_ > 0) drives_.activationRates(t, y + num_q_ + num_v_, yDot + num_q_ + num_v_);
  Real sum = 0;  // not finite as soon as one of them is not
  const Real* v = y + num_q_;
  Real* a = yDot + num_q_;
  for (std::size_t k = 0; k < tau_.size(); ++k) {
    a[trees_.dofs[k].v] = scratch_[k];
    sum += scratch_[k] * 0;
  }
  for (const FreeTurn& turn : free_turns_) {
    Real* at = a + turn.v;
    const Vec3 world = rotationOf(turn) * Vec3{at[0], at[1], at[2]};
    at[0] = world.x, at[1] = world.y, at[2] = world.z;
  }
  for (const Coordinate& c : coordinates_) {
    switch (c.type) {
      case JointType::Free:
        for (int i = 0; i < 3; ++i) yDot[c.q + i] = v[c.v + i];
        [[fallthrough]];
      case JointType::Ball: {
        const int isFree = c.type == JointType::Free ? 3 : 0;
        const Real* q = y + c.q + isFree;
        const Vec3 w{v[c.v + isFree], v[c.v + isFree + 1], v[c.v + isFree + 2]};
        const Quat turn{q[0], q[1], q[2], q[3]}, spin{0, w.x, w.y, w.z};
        const Quat rate = isFree != 0 ? spin * turn : turn * spin;
        Real* out = yDot + c.q + isFree;
        out[0] = Real(0.5) * rate.w, out[1] = Real(0.5) * rate.x;
        out[2] = Real(0.5) * rate.y, out[3] = Real(0.5) * rate.z;
        break;
      }
      default:
        yDot[c.q] = v[c.v];
    }
  }
  return sum == 0 && budget_.mayGoOn();
}

void EventState::smoothAccelerations(Real t, const Real* y, const Real* frozen,
                                     Real* acceleration) {
  for (const int tree : used_) {
    const dynamics::TreeRange& range = trees_.trees[static_cast<std::size_t>(tree)];
    Real* a = acceleration + range.firstDof;
    std::copy_n(frozen + range.firstDof, range.numDofs, a);
    subtractBias(tree, a);
    if (is_passive_[static_cast<std::size_t>(tree)] != 0)
      dynamics::addPassiveForce(trees_, tree, q_, a);
  }
  if (has_damping_) row(powers_, PowerRow::Damping) += dampingPower();
  if (has_applied_) addAppliedForces(acceleration);
  if (drives_.isEmpty()) {
    factorMasses();
    return applyTreeInverses(acceleration);
  }
  DrivePowers powers;
  drives_.measure(*this);
  drives_.addSmoothForces(t, *this, y + num_q_ + num_v_, acceleration, &powers);
  factorMasses();
  applyTreeInverses(acceleration);
  if (drives_.hasEqualities()) drives_.constrain(*this, acceleration, &powers);
  addDrivePowers(powers);
}

void EventState::addDrivePowers(const DrivePowers& powers) {
  row(powers_, PowerRow::External) += powers.external;
  row(powers_, PowerRow::Damping) += powers.damping;
  row(powers_, PowerRow::Constraint) += powers.constraint;
}

void EventState::factorMasses() {
  for (const int tree : used_) {
    if (is_mass_known_[tree]) continue;
    dynamics::computeMassMatrix(trees_, tree);
    (void)dynamics::factorMassMatrix(trees_, tree);  // if it fails the accelerations say so
    is_mass_known_[tree] = is_mass_constant_[tree];
  }
  if (drives_.hasEqualities()) drives_.prepareEqualities(*this);
}

void EventState::applyInverseMass(Real* x) {
  applyTreeInverses(x);
  if (drives_.hasEqualities()) drives_.project(x);
}

void EventState::applyTreeInverses(Real* x) {
  for (const int tree : used_)
    applyTreeInverse(tree, x + trees_.trees[static_cast<std::size_t>(tree)].firstDof);
}

Real EventState::dampingPower() {
  // Of joints; that of bodies is the rest of what the passive forces do.
  Real power = 0;
  for (std::size_t k = 0; k < trees_.dofs.size(); ++k)
    power -= trees_.dofs[k].damping * trees_.rate[k] * trees_.rate[k];
  for (std::size_t l = 0; l < trees_.links.size(); ++l) {
    const kernel::LinkT<Real>& link = trees_.links[l];
    if (link.linearDamping == 0 && link.angularDamping == 0) continue;
    const Vec3& w = trees_.velocity[l].angular;
    power -= link.linearDamping * link.mass *
             squaredNorm(dynamics::linkVelocity(trees_, static_cast<int>(l)));
    power -= link.angularDamping * dot(w, trees_.inertia[l] * w);
  }
  return power;
}

void EventState::addAppliedForces(Real* tau) {
  for (std::size_t t = 0; t < model_.trees.size(); ++t) {
    const model::Tree& tree = model_.trees[t];
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l) {
      const int body = model_.links[l].body;
      const Vec3 &force = control_.force[body], &torque = control_.torque[body];
      if (force == Vec3{} && torque == Vec3{}) continue;
      addWrench(l, dynamics::linkCenter(trees_, l), force, torque, tau);
      row(powers_, PowerRow::External) += dot(force, dynamics::linkVelocity(trees_, l)) +
                                          dot(torque, dynamics::linkAngularVelocity(trees_, l));
    }
    if (tree.isFreeBody) continue;  // a force on its coordinates is one on the body
    for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k) {
      const Real force = control_.jointForce[model_.dofs[k].v];
      tau[k] += force;
      row(powers_, PowerRow::External) += force * trees_.rate[static_cast<std::size_t>(k)];
    }
  }
}

void EventState::addWrench(int link, const Vec3& p_W, const Vec3& force, const Vec3& torque,
                           Real* tau) {
  const auto i = static_cast<std::size_t>(link);
  const kernel::TreeView<Real> view = trees_.view(trees_.treeOfLink[i]);
  Real* own = tau + trees_.trees[static_cast<std::size_t>(trees_.treeOfLink[i])].firstDof;
  const math::SpatialT<Real> wrench{torque + cross(p_W - view.frame->center(), force), force};
  for (int k = trees_.links[i].lastDof; k >= 0; k = view.dofs[k].parent)
    own[k] += math::dot(view.subspace[k], wrench);
}

Vec3 EventState::biasAccelerationAt(int body, const Vec3& p_W) const {
  const int link = body < 0 ? -1 : model_.linkOfBody[body];
  if (link >= 0) return dynamics::pointBiasAcceleration(trees_, link, p_W);
  if (body < 0) return {};
  const Vec3 w = angularVelocity(body);  // what is told to move turns about its centre
  const Vec3 center = told_pose_[body] * model_.bodies[body].mass.center;
  return cross(w, cross(w, p_W - center));
}

Vec3 EventState::biasSpinOf(int body) const {
  const int link = body < 0 ? -1 : model_.linkOfBody[body];
  return link < 0 ? Vec3{} : trees_.biasMotion[static_cast<std::size_t>(link)].angular;
}

Real EventState::startLengthOf(int tendon) const {
  const model::ModelTendon& t = model_.tendons[tendon];
  Real length = 0;
  for (std::size_t i = 0; i < t.joints.size(); ++i)
    length += t.tendon.terms[i].coefficient * model_.startPositions[model_.joints[t.joints[i]].q];
  const auto startOf = [&](int site) {
    const model::ModelSite& s = model_.sites[site];
    const Vec3& p = s.site.pose.translation;
    return s.body < 0 ? p : model_.bodies[s.body].startPose * p;
  };
  contact::forEachPiece(
      t, [&](int a, int b, Real weight) { length += weight * norm(startOf(b) - startOf(a)); });
  return length;
}

}  // namespace tangere::integrator
