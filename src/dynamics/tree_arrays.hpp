// SPDX-License-Identifier: Apache-2.0
//
// The trees of a model laid out for the kernels, and the arrays that these fill. The arrays are
// flat over all trees and keep their memory.
#pragma once

#include "dynamics/kernels/tree_view.hpp"
#include "model/model_data.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tangere::dynamics {

/// One tree in the flat arrays.
struct TreeRange {
  int firstLink = 0, numLinks = 0;
  int firstJoint = 0;
  int firstDof = 0, numDofs = 0;
  int firstTurn = 0, numTurns = 0;
  int firstRun = 0, numRuns = 0;
  std::size_t firstRow = 0;    ///< into rows of matrices
  std::size_t firstDense = 0;  ///< where its n x n matrix starts when all are behind each other
  bool isRootFree = false;
};

template <class S>
class TreeArrays {
 public:
  TreeArrays() = default;
  explicit TreeArrays(const model::ModelData& model);

  [[nodiscard]] int numTrees() const { return static_cast<int>(trees.size()); }
  [[nodiscard]] int numDofs() const { return static_cast<int>(dofs.size()); }
  /// Entries of all dense matrices.
  [[nodiscard]] std::size_t denseSize() const { return denseSize_; }
  /// Pointers into the arrays; good until they are resized.
  [[nodiscard]] kernel::TreeView<S> view(int tree) {
    const TreeRange& t = trees[static_cast<std::size_t>(tree)];
    kernel::TreeView<S> v;
    v.numLinks = t.numLinks;
    v.numDofs = t.numDofs;
    v.isRootFree = t.isRootFree;
    v.links = links.data() + t.firstLink;
    v.joints = joints.data() + t.firstJoint;
    v.dofs = dofs.data() + t.firstDof;
    v.ancestors = ancestors.data() + t.firstRow;
    v.numTurns = t.numTurns;
    v.numRuns = t.numRuns;
    v.turns = turns.data() + t.firstTurn;
    v.runs = runs.data() + t.firstRun;
    v.sine = sine.data() + t.firstTurn;
    v.cosine = cosine.data() + t.firstTurn;
    v.frame = frame.data() + tree;
    v.pose = pose.data() + t.firstLink;
    v.origin = origin.data() + t.firstLink;
    v.center = center.data() + t.firstLink;
    v.inertia = inertia.data() + t.firstLink;
    v.velocity = velocity.data() + t.firstLink;
    v.biasMotion = biasMotion.data() + t.firstLink;
    v.motion = motion.data() + t.firstLink;
    v.force = force.data() + t.firstLink;
    v.composite = composite.data() + t.firstLink;
    v.subspace = subspace.data() + t.firstDof;
    v.matrix = matrix.data() + t.firstRow;
    v.factor = factor.data() + t.firstRow;
    v.inverseDiagonal = inverseDiagonal.data() + t.firstDof;
    v.articulated = articulated.data() + t.firstLink;
    v.reaction = reaction.data() + t.firstDof;
    v.subtreeForce = subtreeForce.data() + t.firstLink;
    v.inverseInertia = inverseInertia.data() + t.firstDof;
    return v;
  }

  std::vector<TreeRange> trees;
  std::vector<kernel::LinkT<S>> links;    ///< in the order of ModelData::links
  std::vector<kernel::JointT<S>> joints;  ///< of ModelData::treeJoints
  std::vector<kernel::DofT<S>> dofs;      ///< of ModelData::dofs
  std::vector<int> ancestors;
  std::vector<kernel::TurnT<S>> turns;
  std::vector<kernel::DofRun> runs;
  std::vector<int> treeOfLink;

  // What kernel::TreeView says.
  std::vector<kernel::TreeFrameT<S>> frame;
  std::vector<TransformT<S>> pose;
  std::vector<Vec3T<S>> origin, center;
  std::vector<math::Sym3T<S>> inertia;
  std::vector<math::SpatialT<S>> velocity, biasMotion, motion, force, subtreeForce;
  std::vector<math::RigidInertiaT<S>> composite;
  std::vector<math::SpatialT<S>> subspace, reaction;
  std::vector<S> matrix, factor, inverseDiagonal, inverseInertia;
  std::vector<math::ArticulatedInertiaT<S>> articulated;
  std::vector<S> sine, cosine;
  std::vector<S> rate;                     ///< velocities in the order of `dofs`
  std::vector<math::SpatialT<S>> applied;  ///< scratch: forces on links

 private:
  void addLinks(const model::ModelData& model, const model::Tree& tree);
  void addDofs(const model::ModelData& model, const model::Tree& tree, TreeRange* range);
  void addRuns(const TreeRange& range);
  void resizeArrays();

  std::size_t denseSize_ = 0;
};

namespace detail {

template <class S>
[[nodiscard]] Vec3T<S> cast(const Vec3& v) {
  return {S(v.x), S(v.y), S(v.z)};
}
template <class S>
[[nodiscard]] QuatT<S> castQuat(const Real* q) {
  return {S(q[0]), S(q[1]), S(q[2]), S(q[3])};
}
template <class S>
[[nodiscard]] Mat3T<S> cast(const Mat3& m) {
  return {{cast<S>(m.col[0]), cast<S>(m.col[1]), cast<S>(m.col[2])}};
}

[[nodiscard]] inline kernel::AxisKind axisKindOf(const Vec3& axis) {
  const bool x = axis.x != 0, y = axis.y != 0, z = axis.z != 0;
  const Real length = x ? axis.x : (y ? axis.y : axis.z);
  if (int(x) + int(y) + int(z) != 1 || !(length == 1 || length == -1))
    return kernel::AxisKind::General;
  return x ? kernel::AxisKind::X : (y ? kernel::AxisKind::Y : kernel::AxisKind::Z);
}

/// The joint and where its spring rests.
template <class S>
[[nodiscard]] kernel::JointT<S> packJoint(const model::ModelData& model,
                                          const model::TreeJoint& from) {
  kernel::JointT<S> to;
  to.type = from.type;
  to.axisKind = axisKindOf(from.axis);
  to.isOffset = !(from.position == Vec3{});
  to.q = from.q;
  to.dof = from.dof;
  to.position = cast<S>(from.position);
  to.axis = cast<S>(from.axis);
  to.pitch = S(from.pitch);
  to.reference = S(from.reference);
  const std::size_t owner = static_cast<std::size_t>(from.joint);
  if (owner >= model.joints.size()) return to;
  const Joint& joint = model.joints[owner].joint;
  to.stiffness = S(joint.stiffness);
  to.springReference = S(joint.springReference);
  const bool isFree = from.type == JointType::Free;
  const std::size_t end = static_cast<std::size_t>(from.q) + (isFree ? 7 : 4);
  if ((isFree || from.type == JointType::Ball) && end <= model.startPositions.size()) {
    const Real* start = model.startPositions.data() + from.q;
    if (isFree) to.springPoint = cast<S>(Vec3{start[0], start[1], start[2]});
    to.springTurn = castQuat<S>(start + (isFree ? 3 : 0));
  }
  return to;
}

}  // namespace detail

template <class S>
TreeArrays<S>::TreeArrays(const model::ModelData& model) {
  for (const model::Tree& tree : model.trees) {
    TreeRange range;
    range.firstLink = static_cast<int>(links.size());
    range.numLinks = tree.numLinks;
    range.firstJoint = static_cast<int>(joints.size());
    range.firstDof = static_cast<int>(dofs.size());
    range.numDofs = tree.numDofs;
    range.firstRow = ancestors.size();
    range.firstDense = denseSize_;
    denseSize_ += static_cast<std::size_t>(tree.numDofs) * static_cast<std::size_t>(tree.numDofs);
    range.firstTurn = static_cast<int>(turns.size());
    addLinks(model, tree);
    addDofs(model, tree, &range);
    range.firstRun = static_cast<int>(runs.size());
    addRuns(range);
    range.numRuns = static_cast<int>(runs.size()) - range.firstRun;
    range.numTurns = static_cast<int>(turns.size()) - range.firstTurn;
    range.isRootFree = links[static_cast<std::size_t>(range.firstLink)].numJoints > 0 &&
                       joints[static_cast<std::size_t>(range.firstJoint)].type == JointType::Free;
    trees.push_back(range);
  }
  resizeArrays();
}

template <class S>
void TreeArrays<S>::addLinks(const model::ModelData& model, const model::Tree& tree) {
  const auto firstJoint = joints.size();
  const auto firstTurn = turns.size();
  int nextDof = 0;
  for (int i = tree.firstLink; i < tree.firstLink + tree.numLinks; ++i) {
    const model::TreeLink& from = model.links[static_cast<std::size_t>(i)];
    const model::ModelBody& body = model.bodies[static_cast<std::size_t>(from.body)];
    kernel::LinkT<S> to;
    to.parent = from.parent < 0 ? -1 : from.parent - tree.firstLink;
    to.firstJoint = static_cast<int>(joints.size() - firstJoint);
    to.numJoints = from.numJoints;
    to.firstDof = nextDof;
    to.lastDof = from.lastDof;
    to.isPoseTurned = !(from.pose.rotation == Mat3::identity());
    to.pose = {detail::cast<S>(from.pose.rotation), detail::cast<S>(from.pose.translation)};
    to.mass = S(body.mass.mass);
    to.center = detail::cast<S>(body.mass.center);
    to.inertia = math::symmetricOf(detail::cast<S>(body.mass.inertia));
    to.isInertiaDiagonal = to.inertia.xy == S(0) && to.inertia.xz == S(0) && to.inertia.yz == S(0);
    to.gravityScale = S(body.gravityScale);
    to.linearDamping = S(body.linearDamping);
    to.angularDamping = S(body.angularDamping);
    for (int j = from.firstJoint; j < from.firstJoint + from.numJoints; ++j) {
      joints.push_back(detail::packJoint<S>(model, model.treeJoints[static_cast<std::size_t>(j)]));
      kernel::JointT<S>& joint = joints.back();
      const JointType type = joint.type;
      if (type == JointType::Revolute || type == JointType::Screw) {
        joint.turn = static_cast<int>(turns.size() - firstTurn);
        turns.push_back({joint.q, joint.reference});
      }
      nextDof += type == JointType::Free ? 6 : (type == JointType::Ball ? 3 : 1);
    }
    to.numDofs = nextDof - to.firstDof;
    links.push_back(to);
    treeOfLink.push_back(numTrees());
  }
}

template <class S>
void TreeArrays<S>::addDofs(const model::ModelData& model, const model::Tree& tree,
                            TreeRange* range) {
  const std::size_t first = dofs.size();
  for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k) {
    const model::TreeDof& from = model.dofs[static_cast<std::size_t>(k)];
    kernel::DofT<S> to;
    to.link = from.link - tree.firstLink;
    to.parent = from.parent;
    to.v = from.v;
    to.row = static_cast<int>(ancestors.size() - range->firstRow);
    to.armature = S(from.armature);
    to.damping = S(from.damping);
    if (from.parent >= 0) {
      const kernel::DofT<S>& parent = dofs[first + static_cast<std::size_t>(from.parent)];
      to.depth = parent.depth + 1;
      for (int d = 0; d < to.depth; ++d) {
        const int ancestor = ancestors[range->firstRow + static_cast<std::size_t>(parent.row + d)];
        ancestors.push_back(ancestor);
      }
    }
    ancestors.push_back(k - tree.firstDof);
    if (ancestors.size() % 2 != 0) ancestors.push_back(k - tree.firstDof);
    dofs.push_back(to);
  }
}

template <class S>
void TreeArrays<S>::addRuns(const TreeRange& range) {
  const kernel::DofT<S>* first = dofs.data() + range.firstDof;
  std::vector<int> children(static_cast<std::size_t>(range.numDofs));
  for (int k = 0; k < range.numDofs; ++k)
    if (first[k].parent >= 0) ++children[static_cast<std::size_t>(first[k].parent)];
  // From the leaves, because short runs cost less near the root.
  const std::size_t start = runs.size();
  for (int k = range.numDofs - 1; k >= 0; --k) {
    const bool isInRun = runs.size() > start && first[runs.back().first].parent == k &&
                         children[static_cast<std::size_t>(k)] == 1 &&
                         runs.back().last - k < kernel::DofRun::kLongest;
    if (isInRun) {
      runs.back().first = k;
    } else {
      runs.push_back({k, k});
    }
  }
  // By depth, so that neighbours have nothing to do with each other and need not wait.
  std::reverse(runs.begin() + static_cast<std::ptrdiff_t>(start), runs.end());
  std::stable_sort(runs.begin() + static_cast<std::ptrdiff_t>(start), runs.end(),
                   [&](const kernel::DofRun& a, const kernel::DofRun& b) {
                     return first[a.first].depth < first[b.first].depth;
                   });
}

template <class S>
void TreeArrays<S>::resizeArrays() {
  frame.resize(trees.size());
  pose.resize(links.size());
  origin.resize(links.size());
  center.resize(links.size());
  inertia.resize(links.size());
  velocity.resize(links.size());
  biasMotion.resize(links.size());
  motion.resize(links.size());
  force.resize(links.size());
  subtreeForce.resize(links.size());
  composite.resize(links.size());
  articulated.resize(links.size());
  subspace.resize(dofs.size());
  reaction.resize(dofs.size());
  matrix.resize(ancestors.size());
  factor.resize(ancestors.size());
  inverseDiagonal.resize(dofs.size());
  inverseInertia.resize(dofs.size());
  rate.resize(dofs.size());
  sine.resize(turns.size());
  cosine.resize(turns.size());
  applied.resize(links.size());
}

}  // namespace tangere::dynamics
