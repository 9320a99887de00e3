// SPDX-License-Identifier: Apache-2.0
//
// A Model as arrays: what every phase of a step reads. Bodies are in order of their names and
// shapes in order of their bodies, so that neither depends on the order of creation. The id of a
// shape as a collision object is its index here.
#pragma once

#include <tangere/model.hpp>

#include "model/pressure_shape.hpp"
#include "model/shared_list.hpp"
#include "model/soft_mesh.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tangere::model {

/// What two materials do together.
struct ContactMaterial {
  Real friction = 0;
  Real restitution = 0;
  Real torsionalFriction = 0;
  Real rollingFriction = 0;
  Real stiffness = kUnlimited;
  Real relaxationTime = 0;
  Real dissipation = 0;
  Real rollingResistance = 0;
  Real smallSpeed = 0, smallSpin = 0;  ///< 0: those of the event solver's options
};

struct ModelBody {
  std::string name;
  BodyType type = BodyType::Dynamic;
  MassProperties mass{};  ///< about the centre, body frame; zero mass for bodies no force moves
  Real inverseMass = 0;
  Mat3 inverseInertia{};  ///< body frame
  Transform startPose{};
  Vec3 startVelocity{};  ///< of the body's origin
  Vec3 startAngularVelocity{};
  Real linearDamping = 0, angularDamping = 0;
  Real gravityScale = 1;
  int parent = -1;                    ///< body it is jointed or welded to; -1: the world
  int firstJoint = 0, numJoints = 0;  ///< into ModelData::joints
  bool isJointed = false;             ///< moved by the coordinates of a tree
  bool neverSleeps = false;           ///< something else than contacts acts on it
  int firstShape = 0, numShapes = 0;
};

struct ModelShape {
  int body = 0;
  std::shared_ptr<const Shape> shape{};
  Transform pose{};  ///< X_BS
  int material = 0;
  std::uint32_t group = 1;
  std::uint32_t mask = 0xffffffffu;
  bool isOneSideEnough = false;
  std::string name{};
  Real reach = 0;            ///< farthest point of the shape from the body's centre of mass [m]
  bool isFlatFaced = false;  ///< bounded by planes alone
  /// A warm collision query gives the same bits as a cold one.
  bool mayWarmStart = false;
  /// Shapes of one group never move against each other: those of a body, those of all fixed bodies.
  /// -1: there is no other.
  int flushGroup = -1;
  /// As pressure contacts see it; null where the model has none.
  std::shared_ptr<const PressureShape> pressure{};
};

/// A vertex that follows a point of a body, or one of the world.
struct ModelAttachment {
  int vertex = 0;
  int body = -1;  ///< -1: the world
  Vec3 point{};   ///< in the body's frame, or in the world
};

/// A soft body as pressure contacts and the solver see it. As a collision object its id is the
/// number of shapes and its index.
struct ModelSoft {
  std::string name;
  TetMesh mesh;  ///< at the start, in the world
  SoftMesh elastic;
  Vec3 startVelocity{};
  int material = 0;
  std::vector<Real> pressure{};  ///< of each vertex [Pa]
  std::vector<ModelAttachment> attachments{};
  bool selfContact = true;
  std::uint32_t group = 1, mask = 0xffffffffu;
  int firstVertex = 0;               ///< in the State
  Real cellSize = 0;                 ///< root of the mean volume of its tetrahedra [m]
  Real depth = 0;                    ///< of the points farthest inside, at the start [m]
  Real highest = 0;                  ///< pressure [Pa]
  std::vector<std::int32_t> core{};  ///< vertices that nothing may pass, see pressure_core.hpp
  /// Tetrahedra with a vertex that is attached to a body, and that body: they do not touch it.
  std::vector<std::pair<int, int>> attachedTets{};     ///< (body, tetrahedron), sorted
  std::vector<int> excludedBodies{}, excludedSofts{};  ///< sorted
};

/// A joint as the kernels know it: Free, Ball, Revolute, Prismatic or Screw. A Universal or Planar
/// joint of the user is several of these.
struct TreeJoint {
  JointType type = JointType::Revolute;
  int joint = 0;  ///< whose part it is: index into ModelData::joints
  int body = 0;
  int q = 0, v = 0;  ///< where its coordinates start in the State
  int dof = 0;       ///< where its velocities start in the tree
  Vec3 position{};   ///< in the frame of the body
  Vec3 axis{};       ///< in the frame of the body, unit
  Real pitch = 0;
  Real reference = 0;
};

/// One body of a tree. Links are in an order in which a parent comes before its children, and the
/// links of a subtree follow each other.
struct TreeLink {
  int body = 0;
  int parent = -1;  ///< index into ModelData::links; -1: the world
  /// X_PB with the joints at their references; for a parent of -1: in the world.
  Transform pose{};
  int firstJoint = 0, numJoints = 0;  ///< into ModelData::treeJoints
  int tree = 0;
  /// The last velocity (in the tree) that moves this link; -1: none, which a tree does not have.
  int lastDof = -1;
};

/// One velocity of a tree.
struct TreeDof {
  int joint = 0;    ///< into ModelData::treeJoints
  int v = 0;        ///< in the State
  int link = 0;     ///< into ModelData::links
  int parent = -1;  ///< the velocity before it on the way to the world, in the tree; -1: none
  Real armature = 0, damping = 0, frictionLoss = 0;
};

/// Bodies that move each other through joints.
struct Tree {
  int firstLink = 0, numLinks = 0;
  int firstDof = 0, numDofs = 0;  ///< into ModelData::dofs
  /// One free body with nothing at its joint: it needs no tree to be moved.
  bool isFreeBody = false;
  bool hasBall = false;  ///< some joint is Ball or Free: its bodies may spin like tops
};

/// A joint as the user gave it, and where its parts are.
struct ModelJoint {
  Joint joint{};
  int body = 0;
  int q = 0, v = 0;
  int firstPart = 0, numParts = 0;  ///< into ModelData::treeJoints
};

struct ModelSite {
  Site site{};
  int body = -1;  ///< -1: the world
};

struct ModelTendon {
  Tendon tendon{};
  std::vector<int> joints{};  ///< of its terms: index into ModelData::joints
  std::vector<int> sites{};   ///< of its path; -1 for a pulley
};

struct ModelActuator {
  Actuator actuator{};
  int target = -1;      ///< joint, tendon or site
  int activation = -1;  ///< in the State; -1: none
};

/// A ControlSchedule whose actuator was found.
struct ModelSchedule {
  int actuator = 0;
  std::vector<Real> times{}, values{};
};

/// A coordinate that does not start at its reference.
struct InitialPosition {
  int q = 0;
  Real position = 0;
};

struct ModelEquality {
  Equality equality{};
  int first = -1, second = -1;  ///< bodies (-1: the world), joints or tendons
  /// Connect, Weld, Distance: the point in each body, and for Weld how the second is turned in the
  /// first.
  Vec3 anchor1{}, anchor2{};
  Mat3 rotation{Mat3::identity()};
};

struct ModelSensor {
  Sensor sensor{};
  int object = -1;     ///< joint, tendon, actuator, site or body
  int reference = -1;  ///< site or body; -1: the world
  int start = 0;       ///< among the readings
};

/// Two shapes that touch whatever the filters say.
struct ModelShapePair {
  int shape1 = 0, shape2 = 0;
  Real friction = -1;  ///< negative: that of the materials
};

struct ModelData {
  std::vector<ModelBody> bodies;
  std::vector<ModelShape> shapes;

  std::vector<int> creationOrder;  ///< of the bodies

  // Coordinates. Unused under the impulse solver, which knows free bodies alone.
  std::vector<Tree> trees;            ///< in order of the names of their roots
  std::vector<TreeLink> links;        ///< tree by tree
  std::vector<TreeJoint> treeJoints;  ///< link by link
  std::vector<TreeDof> dofs;          ///< tree by tree
  std::vector<int> linkOfBody;        ///< -1: fixed or kinematic
  std::vector<ModelJoint> joints;     ///< in order of creation
  int numPositions = 0, numVelocities = 0, numActivations = 0, numSensorValues = 0;
  std::vector<Real> startPositions, startVelocities;

  // In order of creation.
  std::vector<ModelSite> sites;
  std::vector<ModelTendon> tendons;
  std::vector<ModelActuator> actuators;
  std::vector<ModelEquality> equalities;
  std::vector<ModelSensor> sensors;
  std::vector<Keyframe> keyframes;
  std::vector<ModelSchedule> schedules;
  std::vector<InitialPosition> initialPositions;

  SharedList<ModelSoft> softs;  ///< in order of names
  int numSoftVertices = 0;
  bool hasPressure = false;  ///< some bodies touch by pressure

  std::vector<Material> materials;
  std::vector<ContactMaterial> materialPairs;       ///< materials.size() squared
  std::vector<bool> isFrictionGiven;                ///< of each pair: not by the rule
  std::vector<std::pair<int, int>> excludedBodies;  ///< sorted, first < second
  std::vector<std::pair<int, int>> excludedShapes;  ///< by startOverlaps(); sorted, first < second
  std::vector<ModelShapePair> shapePairs;           ///< sorted, shape1 < shape2
  SimulationOptions options{};
  bool hasRestitution = false;  ///< some pair bounces
  bool hasFlushGroups = false;  ///< some shapes never move against each other
  bool isRobot = false;         ///< has joints, drives or sensors: not for the impulse solver
  std::uint64_t hash = 0;

  [[nodiscard]] const ContactMaterial& contactMaterial(int material1, int material2) const {
    return materialPairs[static_cast<std::size_t>(material1) * materials.size() +
                         static_cast<std::size_t>(material2)];
  }
};

/// Index of a body; -1 when there is none.
[[nodiscard]] int findBody(const ModelData& data, std::string_view name);

/// The counts that state_fields.inc names.
struct FieldCounts {
  explicit FieldCounts(const ModelData& data) : numBodies(data.bodies.size()) {
    if (data.options.solver == SolverType::Impulse) return;
    numPositions = static_cast<std::size_t>(data.numPositions);
    numVelocities = static_cast<std::size_t>(data.numVelocities);
    numActivations = static_cast<std::size_t>(data.numActivations);
    numSoftVertices = static_cast<std::size_t>(data.numSoftVertices);
  }
  std::size_t numPositions = 0, numVelocities = 0, numActivations = 0, numBodies = 0;
  std::size_t numSoftVertices = 0;
};

}  // namespace tangere::model
