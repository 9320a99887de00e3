// SPDX-License-Identifier: Apache-2.0
#include "model/tree_layout.hpp"

#include <tangere/error.hpp>

#include "math/quat.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::model {

namespace {

[[noreturn]] void reject(const std::string& message) { throw InvalidInput(message); }

/// What the layout knows of the bodies, by their index in the model.
struct Family {
  std::vector<const Body*> body;
  std::vector<std::vector<int>> children;  ///< in order of names
  std::vector<int> topDown;                ///< a parent before its children
};

Family findFamily(std::span<const Body> bodies, ModelData& data);
void placeBodies(const Family& family, ModelData& data);
void createJoints(std::span<const Body> bodies, ModelData& data);
void createTrees(const Family& family, ModelData& data);
void addLink(const Family& family, int body, int parentLink, ModelData& data);

bool isFree(const Body& body) {
  return body.type == BodyType::Dynamic && body.parent.empty() && body.joints.empty();
}

}  // namespace

void layOutTrees(std::span<const Body> bodies, ModelData& data) {
  const Family family = findFamily(bodies, data);
  placeBodies(family, data);
  createJoints(bodies, data);
  createTrees(family, data);
}

namespace {

Family findFamily(std::span<const Body> bodies, ModelData& data) {
  Family family;
  const std::size_t n = data.bodies.size();
  family.body.resize(n);
  family.children.resize(n);
  for (const Body& body : bodies) {
    const int index = findBody(data, body.name);
    family.body[index] = &body;
    if (body.parent.empty()) continue;
    const int parent = findBody(data, body.parent);
    if (parent < 0) {
      std::vector<std::string> known;
      for (const ModelBody& other : data.bodies) known.push_back(other.name);
      reject("body '" + body.name + "': no parent is called '" + body.parent + "'" +
             nearNames(body.parent, known));
    }
    if (data.bodies[parent].type == BodyType::Kinematic)
      reject("body '" + body.name + "': its parent '" + body.parent +
             "' is kinematic; joint it to a fixed or dynamic body");
    data.bodies[index].parent = parent;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (const int parent = data.bodies[i].parent; parent >= 0)
      family.children[parent].push_back(static_cast<int>(i));
    else
      family.topDown.push_back(static_cast<int>(i));
  }
  for (std::size_t k = 0; k < family.topDown.size(); ++k) {
    const std::vector<int>& children = family.children[family.topDown[k]];
    family.topDown.insert(family.topDown.end(), children.begin(), children.end());
  }
  if (family.topDown.size() != n) {
    std::vector<bool> isReached(n);
    for (const int body : family.topDown) isReached[body] = true;
    const auto lost = std::find(isReached.begin(), isReached.end(), false) - isReached.begin();
    reject("body '" + data.bodies[lost].name + "' is its own ancestor");
  }
  return family;
}

/// Where every body is with all joints at their references, how it moves with its root, and what is
/// welded to a fixed body.
void placeBodies(const Family& family, ModelData& data) {
  for (const int index : family.topDown) {
    ModelBody& body = data.bodies[index];
    if (body.parent < 0) continue;
    const ModelBody& parent = data.bodies[body.parent];
    body.startPose = parent.startPose * body.startPose;
    const Vec3 arm = body.startPose.translation - parent.startPose.translation;
    body.startVelocity = parent.startVelocity + cross(parent.startAngularVelocity, arm);
    body.startAngularVelocity = parent.startAngularVelocity;
    if (parent.type == BodyType::Fixed && family.body[index]->joints.empty()) {
      body.type = BodyType::Fixed;
      body.mass = {};
      body.inverseMass = 0;
      body.inverseInertia = {};
    }
  }
}

void addPart(const Joint& joint, JointType type, const Vec3& axis, int index, int body, int* q,
             int* v, ModelData& data) {
  TreeJoint part{.type = type,
                 .joint = index,
                 .body = body,
                 .q = *q,
                 .v = *v,
                 .position = joint.position,
                 .axis = axis / math::scaledNorm(axis),
                 .pitch = type == JointType::Screw ? joint.pitch : 0,
                 .reference = joint.reference};
  if (joint.type == JointType::Universal || joint.type == JointType::Planar) part.reference = 0;
  *q += numJointPositions(type);
  *v += numJointVelocities(type);
  data.treeJoints.push_back(part);
}

void startFree(const ModelBody& body, ModelData& data) {
  const Quat r = math::quatFromRotation(body.startPose.rotation);
  const Vec3& p = body.startPose.translation;
  const Vec3 w = transposeTimes(body.startPose.rotation, body.startAngularVelocity);
  data.startPositions.insert(data.startPositions.end(), {p.x, p.y, p.z, r.w, r.x, r.y, r.z});
  data.startVelocities.insert(
      data.startVelocities.end(),
      {body.startVelocity.x, body.startVelocity.y, body.startVelocity.z, w.x, w.y, w.z});
}

/// Joints and their coordinates in order of creation; their parts follow link by link.
void createJoints(std::span<const Body> bodies, ModelData& data) {
  for (const Body& body : bodies) {
    const int index = findBody(data, body.name);
    std::vector<Joint> joints = body.joints;
    if (isFree(body)) joints.push_back({.name = body.name, .type = JointType::Free});
    data.bodies[index].firstJoint = static_cast<int>(data.joints.size());
    data.bodies[index].numJoints = static_cast<int>(joints.size());
    for (const Joint& joint : joints) {
      data.joints.push_back({.joint = joint,
                             .body = index,
                             .q = static_cast<int>(data.startPositions.size()),
                             .v = static_cast<int>(data.startVelocities.size())});
      if (joint.type == JointType::Free) {
        startFree(data.bodies[index], data);
      } else if (joint.type == JointType::Ball) {
        data.startPositions.insert(data.startPositions.end(), {1, 0, 0, 0});
        data.startVelocities.insert(data.startVelocities.end(), 3, 0);
      } else {
        const bool hasReference =
            joint.type != JointType::Universal && joint.type != JointType::Planar;
        const auto count = static_cast<std::size_t>(numJointVelocities(joint.type));
        data.startPositions.insert(data.startPositions.end(), count,
                                   hasReference ? joint.reference : 0);
        data.startVelocities.insert(data.startVelocities.end(), count, 0);
      }
    }
  }
  data.numPositions = static_cast<int>(data.startPositions.size());
  data.numVelocities = static_cast<int>(data.startVelocities.size());
}

bool isFreeBody(const Tree& tree, const ModelData& data) {
  if (tree.numLinks != 1 || tree.numDofs != 6) return false;
  const TreeJoint& part = data.treeJoints[data.links[tree.firstLink].firstJoint];
  const Joint& joint = data.joints[part.joint].joint;
  return part.type == JointType::Free && joint.armature == 0 && joint.damping == 0 &&
         joint.frictionLoss == 0 && joint.stiffness == 0;
}

void createTrees(const Family& family, ModelData& data) {
  const std::size_t n = data.bodies.size();
  data.linkOfBody.assign(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    const ModelBody& body = data.bodies[i];
    const bool isRoot = body.type == BodyType::Dynamic &&
                        (body.parent < 0 || data.bodies[body.parent].type == BodyType::Fixed);
    if (!isRoot) continue;
    Tree tree{.firstLink = static_cast<int>(data.links.size()),
              .firstDof = static_cast<int>(data.dofs.size())};
    data.trees.push_back(tree);
    addLink(family, static_cast<int>(i), -1, data);
    Tree& made = data.trees.back();
    made.numLinks = static_cast<int>(data.links.size()) - made.firstLink;
    made.numDofs = static_cast<int>(data.dofs.size()) - made.firstDof;
    made.isFreeBody = isFreeBody(made, data);
    for (int l = made.firstLink; l < made.firstLink + made.numLinks; ++l) {
      ModelBody& moved = data.bodies[data.links[l].body];
      moved.isJointed = moved.neverSleeps = !made.isFreeBody;
      const TreeLink& link = data.links[l];
      for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
        const JointType type = data.treeJoints[j].type;
        made.hasBall = made.hasBall || type == JointType::Ball || type == JointType::Free;
      }
    }
  }
}

/// Its velocities, each after the one before it on the way to the world.
void addDofs(const TreeLink& link, int linkIndex, ModelData& data, int* last) {
  const int firstDof = data.trees[link.tree].firstDof;
  for (int k = link.firstJoint; k < link.firstJoint + link.numJoints; ++k) {
    TreeJoint& part = data.treeJoints[k];
    part.dof = static_cast<int>(data.dofs.size()) - firstDof;
    const Joint& joint = data.joints[part.joint].joint;
    for (int i = 0; i < numJointVelocities(part.type); ++i) {
      data.dofs.push_back({.joint = k,
                           .v = part.v + i,
                           .link = linkIndex,
                           .parent = *last,
                           .armature = joint.armature,
                           .damping = joint.damping,
                           .frictionLoss = joint.frictionLoss});
      *last = static_cast<int>(data.dofs.size()) - 1 - firstDof;
    }
  }
}

void addLink(const Family& family, int body, int parentLink, ModelData& data) {
  // Depth first without recursion: a chain may be as long as it likes.
  std::vector<std::pair<int, int>> open{{body, parentLink}};
  while (!open.empty()) {
    const int index = open.back().first, parent = open.back().second;
    open.pop_back();
    const int linkIndex = static_cast<int>(data.links.size());
    const ModelBody& modelBody = data.bodies[index];
    TreeLink link{.body = index,
                  .parent = parent,
                  .pose = parent < 0 ? modelBody.startPose : family.body[index]->pose,
                  .firstJoint = static_cast<int>(data.treeJoints.size()),
                  .tree = static_cast<int>(data.trees.size()) - 1};
    for (int j = modelBody.firstJoint; j < modelBody.firstJoint + modelBody.numJoints; ++j) {
      ModelJoint& joint = data.joints[j];
      joint.firstPart = static_cast<int>(data.treeJoints.size());
      int q = joint.q, v = joint.v;
      const Joint& given = joint.joint;
      const auto add = [&](JointType type, const Vec3& axis) {
        addPart(given, type, axis, j, index, &q, &v, data);
      };
      if (given.type == JointType::Universal) {
        add(JointType::Revolute, given.axis);
        add(JointType::Revolute, given.axis2);
      } else if (given.type == JointType::Planar) {
        add(JointType::Prismatic, given.axis2);
        add(JointType::Prismatic, cross(given.axis, given.axis2));
        add(JointType::Revolute, given.axis);
      } else {
        const bool hasAxis = given.type != JointType::Free && given.type != JointType::Ball;
        add(given.type, hasAxis ? given.axis : Vec3{0, 0, 1});
      }
      joint.numParts = static_cast<int>(data.treeJoints.size()) - joint.firstPart;
    }
    link.numJoints = static_cast<int>(data.treeJoints.size()) - link.firstJoint;
    int last = parent < 0 ? -1 : data.links[parent].lastDof;
    addDofs(link, linkIndex, data, &last);
    link.lastDof = last;
    data.linkOfBody[index] = linkIndex;
    data.links.push_back(link);
    const std::vector<int>& children = family.children[index];
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      open.emplace_back(*child, linkIndex);
  }
}

}  // namespace

void excludeNeighbours(std::span<const Body> bodies, ModelData& data) {
  const std::size_t n = data.bodies.size();
  // The body at the top of each weld; fixed bodies are one weld, -1, and do not touch anyway.
  std::vector<int> weld(n, -1);
  std::vector<std::vector<int>> members(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (data.bodies[i].type == BodyType::Fixed) continue;
    int top = static_cast<int>(i);
    while (data.linkOfBody[top] >= 0 && data.links[data.linkOfBody[top]].numJoints == 0 &&
           data.bodies[top].parent >= 0)
      top = data.bodies[top].parent;
    weld[i] = top;
    if (data.bodies[i].numShapes > 0) members[top].push_back(static_cast<int>(i));
  }
  std::vector<bool> mayTouchParent(n, false);
  for (const Body& body : bodies)
    mayTouchParent[findBody(data, body.name)] = body.collidesWithParent;

  const auto exclude = [&](int a, int b) {
    data.excludedBodies.emplace_back(std::min(a, b), std::max(a, b));
  };
  for (std::size_t top = 0; top < n; ++top) {
    for (std::size_t k = 0; k < members[top].size(); ++k) {
      for (std::size_t l = 0; l < k; ++l) exclude(members[top][k], members[top][l]);
    }
    const int parent = data.bodies[top].parent;
    if (members[top].empty() || parent < 0 || weld[parent] < 0 || mayTouchParent[top]) continue;
    for (const int a : members[top]) {
      for (const int b : members[weld[parent]]) exclude(a, b);
    }
  }
}

void requireJoint(const Joint& joint, const Body& body) {
  const std::string who = "joint '" + joint.name + "' of body '" + body.name + "': ";
  if (joint.name.empty()) reject("body '" + body.name + "': a joint needs a name");
  if (!math::isFinite(joint.position)) reject(who + "position must be finite [m]");
  const auto requireAxis = [&](const Vec3& axis, const char* name) {
    if (!math::isFinite(axis) || !(math::scaledNorm(axis) > 0))
      reject(who + name + " must be finite and not zero");
  };
  const bool hasAxis = joint.type != JointType::Free && joint.type != JointType::Ball;
  if (hasAxis) requireAxis(joint.axis, "axis");
  if (joint.type == JointType::Universal || joint.type == JointType::Planar) {
    requireAxis(joint.axis2, "axis2");
    const Real cosine =
        dot(joint.axis / math::scaledNorm(joint.axis), joint.axis2 / math::scaledNorm(joint.axis2));
    if (!(std::fabs(cosine) < 1e-6)) reject(who + "axis2 must be perpendicular to axis");
  }
  if (joint.type == JointType::Free && !body.parent.empty())
    reject(who + "a free joint belongs to a body without parent");
  if (joint.type == JointType::Free && body.joints.size() > 1)
    reject(who + "a free joint is the only joint of its body");
  if (!math::isFinite(joint.pitch)) reject(who + "pitch must be finite [m/rad]");
  if (!math::isFinite(joint.reference) || !math::isFinite(joint.springReference))
    reject(who + "references must be finite");
  if (!(joint.lower <= joint.upper)) reject(who + "the lower limit is above the upper one");
  if (!(joint.lower < kUnlimited && joint.upper > -kUnlimited))
    reject(who + "no coordinate is within the limits");
  if (joint.type == JointType::Free && (joint.lower > -kUnlimited || joint.upper < kUnlimited))
    reject(who + "a free joint has no limits");
  const auto requireNotNegative = [&](Real value, const char* name) {
    if (!(value >= 0 && math::isFinite(value)))
      reject(who + name + " must be finite and not negative");
  };
  requireNotNegative(joint.armature, "armature");
  requireNotNegative(joint.damping, "damping");
  requireNotNegative(joint.frictionLoss, "friction loss");
  requireNotNegative(joint.stiffness, "stiffness");
  if (!(joint.lowerActuatorForce <= joint.upperActuatorForce))
    reject(who + "the range of the actuator force is empty");
}

}  // namespace tangere::model
