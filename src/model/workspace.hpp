// SPDX-License-Identifier: Apache-2.0
//
// What the phases of a step hand to each other. Nothing here decides a result of the next step: it
// is rebuilt from the Model and the State, or is a hint (broad phase tree, pair caches) that
// changes the time and not the bits. The vectors keep their memory.
#pragma once

#include <tangere/broad_phase.hpp>
#include <tangere/collision.hpp>
#include <tangere/simulator.hpp>

#include "core/parallel_for.hpp"
#include "model/model_data.hpp"
#include "solver/impulse_problem.hpp"
#include "solver/impulse_solver.hpp"
#include "solver/islands.hpp"

#include <array>
#include <memory>
#include <vector>

namespace tangere::model {

/// A vertex of a soft body that goes where it is told.
struct DrivenVertex {
  int soft = 0, vertex = 0;
  Vec3 target{};  ///< at the end of the step
};

/// What the caller puts in for one step.
struct Control {
  std::vector<Vec3> force;                   ///< at the centre of mass, world [N]
  std::vector<Vec3> torque;                  ///< world [N m]
  std::vector<Real> jointForce;              ///< on each velocity [N, N m]
  std::vector<Real> control;                 ///< of each actuator; stays until it is changed
  std::vector<Vec3> softForce;               ///< on each vertex of soft bodies [N]; empty: none
  std::vector<DrivenVertex> drivenVertices;  ///< sorted; they stay until they are released
};

/// A pair of shapes to be tested.
struct ShapePair {
  ObjectId shape1 = 0, shape2 = 0;
  Vec3 lastNormal{};  ///< of its patch; zero when it has none
  PairCache hint{};   ///< of its last query
};

/// Motion of a body over the step when it touches nothing: of its centre, and axis times angle.
struct StepMotion {
  Vec3 displacement{};
  Vec3 rotation{};
};

/// A manifold of shapes that are still apart: the arms of a point are not to one place, as the
/// bodies have yet to come together.
struct ForeseenManifold {
  int manifold = 0;
  Vec3 r1[ContactManifold::kMaxPoints]{};  ///< from the centres, when they meet
  Vec3 r2[ContactManifold::kMaxPoints]{};
  bool isFast = false;
};

/// The manifolds of a shape with shapes of one flush group (ModelShape::flushGroup).
struct ManifoldRun {
  int group = -1;
  int first = -1, last = -1;  ///< into ManifoldRuns::links
  int next = -1;              ///< of the runs of the shape
};

struct ManifoldRuns {
  struct Link {
    ObjectId other = 0;
    int manifold = 0;
    int next = -1;
  };
  std::vector<int> firstOfShape;  ///< -1: none
  std::vector<int> fixedOfShape;  ///< the run with fixed bodies; -1: none
  std::vector<ManifoldRun> runs;
  std::vector<Link> links;              ///< of a run in order of manifolds
  std::vector<std::array<int, 2>> run;  ///< of each manifold for either of its shapes; -1: none
};

/// What one body did before its share of the contact problem begins: it was in an impact, or came
/// to the time at which it lands.
struct EarlyMotion {
  Real time = 0;  ///< [s] of the step used up
  Vec3 displacement{};
  Vec3 rotation{};
  /// The same by the mean of the velocities before and after what forces did: a constant force does
  /// work along these.
  Vec3 meanDisplacement{};
  Vec3 meanRotation{};
  Quat orientation{};   ///< at `time`; of no meaning where that is zero
  bool isHeld = false;  ///< something carries it: its forces have not acted until `time`
  bool isHeldKnown = false;
  bool hasLanded = false;
};

/// The state of one body after the step, before it is taken over.
struct BodyMotion {
  Vec3 center{};
  Quat orientation{};
  Vec3 velocity{};
  Vec3 angularVelocity{};
  Real gyroscopicWork = 0, correctionWork = 0;  ///< changes of kinetic energy [J]
};

/// Of the trees that joints move [J].
struct TreeEnergy {
  Real kinetic = 0, potential = 0, scale = 0;
};

/// What impacts did at one point, besides the contact problem.
struct ImpactImpulse {
  Vec3 impulse{};                                            ///< on body 1 [N s]
  Vec3 normalPart{};                                         ///< of it, along the normals [N s]
  Real normalWork = 0, frictionWork = 0, kinematicWork = 0;  ///< [J]
};

/// A group of points that may close within the step.
struct ImpactCandidate {
  int group = 0;
  Real time = 0;         ///< of its next impact or landing; infinite: none within the step
  Real measuredAt = -1;  ///< the time for which its points are where the shapes then are
  Real queuedAt = -1;    ///< its time in the list of events
  Real roundsAt = -1;    ///< the time of the rounds that are counted
  int numRounds = 0;
  bool isImpact = false;  ///< what is next; false: it lands
  bool bounces = false;   ///< fast approaches are impacts
  bool isFast = false;    ///< with points of a fast pair
  bool mayLand = false;
  bool hasHappened = false;  ///< it has bounced or landed: its points are where it did
};

/// A point as it was at the start of the step.
struct StartPoint {
  Vec3 r1{}, r2{}, normal{};
  Real gap = 0;
};

/// A point of an impact: along tangent1, tangent2 and the normal.
struct RoughImpact {
  Vec3 impulse{}, velocity{};  ///< the velocity after it
  Real friction = 0;
};

/// What the resolution of impacts keeps between steps for its memory alone.
struct ImpactMemory {
  std::vector<ImpactCandidate> candidates;   ///< in order of groups
  std::vector<std::pair<Real, int>> events;  ///< heap: time, candidate
  std::vector<int> candidateOf;              ///< of each group; -1: none
  std::vector<StartPoint> start;             ///< of the points of candidates
  std::vector<std::uint8_t> isQuick;         ///< of each body
  std::vector<std::uint8_t> isBouncy;        ///< of each body: it may touch what it bounces off
  std::vector<int> first, list;              ///< for each block: the groups it is in
  std::vector<int> fill;
  std::vector<std::uint8_t> isTouching;  ///< of each group, at the start
  std::vector<int> stack, cluster;
  std::vector<Real> comesTo;                     ///< of each block: where others take it along [s]
  std::vector<std::uint8_t> isInCluster;         ///< of each block
  std::vector<int> later;                        ///< candidates
  std::vector<std::uint64_t> together, scratch;  ///< candidates at one time, by connected sets
  std::vector<int> parent;                       ///< of each block, in the sets that are connected
  std::vector<int> slot;                         ///< of each block in `round`
  std::vector<int> roundBlock;                   ///< of each block of `round`: that of the problem
  std::vector<int> roundPoint;                   ///< the same for its points
  std::vector<Real> approach, restitution, targets;
  solver::ImpulseProblem round;
  std::vector<RoughImpact> rough;                  ///< of its points, with all their friction
  std::vector<std::pair<Vec3, Vec3>> roughMotion;  ///< the same of its blocks: v and w
};

struct Workspace {
  explicit Workspace(int numThreads) : pool(std::make_unique<core::ThreadPool>(numThreads)) {}

  std::unique_ptr<core::ThreadPool> pool;

  // computeKinematics
  std::vector<Transform> bodyPose;     ///< X_WB
  std::vector<Transform> shapePose;    ///< X_WS
  std::vector<Aabb> sweptBox;          ///< of each shape over the step
  std::vector<StepMotion> stepMotion;  ///< of each body
  Vec3 frameVelocity{};    ///< of what is at rest, as far as speeds count: see computeKinematics()
  bool isAnyFast = false;  ///< some body moves by a tenth of its reach or more
  std::vector<std::pair<Aabb, Real>> bullets;       ///< where they may hit, how far they throw
  std::vector<int> straightBullets, turnedBullets;  ///< shapes that have met nothing so far, others
  std::vector<Real> throwReach;  ///< of each body: how far one that moves by more than its size may
                                 ///< knock it within the step; empty when there is none
  Real impactReach = 0;  ///< how far an impact may throw any body within the step; 0: none bounces
  /// 0: posed in every step; 1: posed in this step and not moving; 2: not moved since an earlier
  /// one
  std::vector<std::uint8_t> poseAge;

  // computeFreeMotion
  solver::ImpulseProblem problem;  ///< blocks are bodies

  // findContacts
  BvhBroadPhase broadPhase;
  bool isBroadPhaseFilled = false;
  std::vector<ObjectPair> pairKeys;
  std::vector<ObjectPair> pressurePairs;    ///< shapes that touch by pressure, sorted
  std::vector<ShapePair> pairs, lastPairs;  ///< sorted
  std::vector<CollisionResult> chunkResults;
  std::vector<std::vector<ForeseenManifold>> chunkForeseen;
  std::vector<ForeseenManifold> foreseen;  ///< in order of manifolds
  std::vector<ContactManifold> manifolds;  ///< sorted by shapes
  ManifoldRuns manifoldRuns;

  // buildContactProblem
  std::vector<EmittedContact> pointSource;  ///< where each point of the problem comes from
  std::vector<std::pair<ObjectId, ObjectId>> groupShapes;  ///< of each group
  std::vector<int> fastGroups;  ///< ascending: those with a point of a fast pair

  // resolveImpacts
  std::vector<EarlyMotion> early;      ///< of each body; empty where none began early
  std::vector<ImpactImpulse> impacts;  ///< of each point; empty without impacts
  ImpactMemory impactMemory;

  // solveContacts
  solver::Islands islands;
  solver::ImpulseSolver solver;
  std::vector<solver::ImpulseReport> reports;

  // integrateState
  std::vector<BodyMotion> next;

  StepReport report;
  EnergyLedger ledger;
  TreeEnergy treeEnergy;         ///< of the jointed trees, of the state as it is
  Real energyBefore = 0;         ///< kinetic and potential at the start of the step [J]
  Real energyScale = 0;          ///< sum of the magnitudes: what rounding is measured against
  bool isLedgerCurrent = false;  ///< the two above are those of the state as it is
  std::vector<ContactForce> contacts;
  bool areContactsListed = false;
  std::vector<ContactForce> sleepingContacts;  ///< as they were when their bodies fell asleep
};

}  // namespace tangere::model
