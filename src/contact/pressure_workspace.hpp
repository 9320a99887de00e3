// SPDX-License-Identifier: Apache-2.0
//
// What the phases of a step hand to each other about soft bodies and pressure contacts. Rebuilt
// from the Model and the State in every step, or a hint (trees); the vectors keep their memory.
#pragma once

#include "collision/pressure_contact.hpp"
#include "collision/self_proximity.hpp"
#include "core/stopwatch.hpp"
#include "dynamics/fem_assembly.hpp"
#include "geometry/linear_bvh.hpp"
#include "model/model_data.hpp"
#include "solver/sap_problem.hpp"

#include <cstdint>
#include <vector>

namespace tangere::contact {

/// One soft body in one step.
struct SoftWork {
  dynamics::SoftAssembly assembly;
  solver::SapTurning turning;  ///< of the assembly
  bool isGaining = false;      ///< the last solve would give it energy
  int numTurns = 0;            ///< how often its turn was taken from a solution, in this step
  Real chordEnergy = -1;       ///< what chords have more than the velocities at the start [J]
  /// Where tetrahedra are inside out: those of them and around them, and their vertices.
  std::vector<std::uint8_t> isTangled, isNearInverted;
  geometry::LinearBvh tetTree;
  collision::SelfProximity proximity;
  Aabb bounds{};               ///< of the body
  std::vector<Vec3> gradient;  ///< of the pressure in each tetrahedron
  Real way = 0;                ///< how far a vertex moves within the step, at most [m]
  /// Far enough that what it will touch is looked for: the same of the places after the step.
  bool isFast = false;
  std::vector<Vec3> next, nextGradient;
  geometry::LinearBvh nextTree;
  bool isNextReached = false;  ///< nextTree is that of the places at the end of the step
  int clique = -1;
  /// Vertices whose velocity is given in this step, and that velocity.
  std::vector<std::int32_t> drivenVertices;
  std::vector<Vec3> drivenVelocities;
  std::vector<std::int32_t> drivenOf;  ///< of each vertex: index into these; -1: it is free
  /// What constraints gave to each vertex, driven ones included [N s].
  std::vector<Vec3> impulse;
};

/// A polygon or a part of one, whose it is, and the constraint made of it. A part has the corners
/// of the whole and its own area, pressure and point (`centroid`).
struct PressureContact {
  collision::ContactPolygon polygon;
  std::uint32_t object1 = 0, object2 = 0;
  int part = 0;  ///< parts of a polygon follow each other
  /// Not in touch yet; the polygon is where the velocities of the start lead to.
  bool isForeseen = false;
  /// On a layer, along whose normal it acts: the normal of the polygon as it was cut; else zero.
  Vec3 leaning{};
  Vec3 point1{}, point2{};      ///< of shapes: where the centroid is on them now
  Real gap = 0;                 ///< now; negative: depth, as the spring of the force has it [m]
  Real longest = kUnlimited;    ///< that a spring of the pair may be [m]
  Real depth = 0;               ///< of a polygon: how far inside the bodies it is, in sum [m]
  int constraint = -1;          ///< -1: nothing that it touches can move, or is inside out
  Mat3 frame{};                 ///< columns tangent 1, tangent 2, normal
  Real velocityBefore[3] = {};  ///< of side 1 seen from side 2, in the frame
  /// The constraint against tilting, two rows; -1: none. A rigid side tilts by `tiltAxis` times its
  /// angular velocity.
  int tilt = -1;
  Vec3 tiltAxis[2] = {};
  Real tiltBefore[2] = {};
  Real normalWork = 0, frictionWork = 0;
};

/// A polygon as users see it, and its share of the contacts that stand for it.
struct PatchPolygon {
  collision::ContactPolygon polygon;
  std::uint32_t object1 = 0, object2 = 0;
  int firstContact = 0, numContacts = 0;
  Real share = 1;
  bool isForeseen = false;
  Real depth = 0;  ///< as that of a contact
};

/// Two objects that may come to press on each other within the step.
struct PressedPair {
  std::uint32_t object1 = 0, object2 = 0;
  Real pressure = 0;  ///< the highest between them at the start of the step [Pa]
};

/// A soft vertex that a dynamic body carries.
struct AttachmentRow {
  int soft = 0, attachment = 0;
  int constraint = -1;
};

/// Where the time goes that finds pressure contacts and makes a problem of soft bodies.
enum class PressurePart : std::uint8_t {
  Gradients,     ///< of the pressures of soft bodies
  Trees,         ///< their boxes, built or refitted
  Polygons,      ///< candidates and cuts
  Patches,       ///< sorted, and those of rigid bodies reduced
  SoftAssembly,  ///< A and b of soft bodies
  Rows,          ///< Jacobians of polygons
};
inline constexpr int kNumPressureParts = 6;
using PressureClock = core::Stopwatch<PressurePart, kNumPressureParts>;

struct PressureWorkspace {
  std::vector<SoftWork> softs;
  std::vector<Transform> nextPose;        ///< of each shape: where it would be after the step
  std::vector<Real> shapeWay;             ///< how far a point of it moves until then, at most [m]
  std::vector<PressureContact> contacts;  ///< sorted by objects and elements
  std::vector<PressureContact> found;     ///< polygons before patches are reduced
  std::vector<PatchPolygon> shown;        ///< all polygons, sorted likewise
  std::vector<int> patchOf;               ///< of the polygons of one pair
  Real patchError = 0;                    ///< see StepReport
  std::vector<PressedPair> pairs;         ///< that were looked at
  std::vector<AttachmentRow> attachments;
  std::vector<collision::ContactPolygon> polygons;  ///< of one pair

  /// Parts of equal length in which the step must be taken so that nothing moves past the middle of
  /// a body that yields; 1: whole.
  Real numParts = 1;
  /// What this step is of the whole one that was asked for.
  Real partOfStep = 1;
  /// Such a step may be refused before anything has changed, to be taken in parts.
  bool mayDivide = false;

  PressureClock clock;  ///< of the last step
};

}  // namespace tangere::contact
