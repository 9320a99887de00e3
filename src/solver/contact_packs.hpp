// SPDX-License-Identifier: Apache-2.0
//
// The points of an island as the sweeps read them: four groups side by side,
// one in each lane, so that one instruction serves four points. The groups of a
// pack share no moving block. Lanes and rows that are not used have no mass,
// and a slot of their own, so they do nothing.
//
// The functions are compiled for any machine, for AVX2 and for AVX-512; all give
// the same bits, since lanes never meet and no operation is fused.
#pragma once

#include <cstdint>

namespace tangere::solver {

inline constexpr int kLanes = 4;
/// The alignment is named because compilers choose it by the instruction set,
/// and the two builds of the functions must agree on every layout.
typedef double Pack __attribute__((vector_size(kLanes * sizeof(double)),
                                   aligned(kLanes * sizeof(double)), may_alias));

/// What a slot holds: a moving block, or the copy of a fixed one that belongs
/// to one lane alone (two lanes then never write the same slot).
struct alignas(32) SlotVelocity {
  double linear[3] = {};
  double inverseMass = 0;
  double angular[3] = {};
  double unused = 0;
};
static_assert(sizeof(SlotVelocity) == 64);  // one cache line

/// (t1, t2, n) of the points.
struct alignas(32) FramePack {
  Pack tangent1[3], tangent2[3], normal[3];
};

/// Up to four groups of one colour.
struct alignas(32) GroupPack {
  std::int32_t slot1[kLanes], slot2[kLanes];
  std::int32_t firstRow = 0, numRows = 0;
  std::int32_t firstFrame = 0;
  std::int32_t frameStride = 0;                 ///< 0: all points of each group share their frame
  std::int32_t firstSpin = -1;                  ///< -1: no torsional or rolling friction
  std::int32_t isApartFromNext = 0;             ///< shares no moving block with the next pack
  Pack inverseInertia1[6], inverseInertia2[6];  ///< xx yy zz xy xz yz
  Pack inverseH;                                ///< of the sub-step of the points [1/s]
};

/// The k-th point of each group of a pack: what every sweep reads.
struct alignas(32) RowPack {
  Pack r1[3], r2[3];
  Pack normalMass;      ///< 1 / W_nn, with W = J M^-1 J^T of the point
  Pack coupling[2];     ///< W_tn
  Pack tangentMass[3];  ///< W_tt^-1: 11, 22, 12
  Pack tangentStep;     ///< 1 / largest eigenvalue of W_tt
  Pack friction;
  Pack target;      ///< least v_n allowed
  Pack impulse[3];  ///< of this sub-step: t1, t2, n
  Pack change;      ///< (change of velocity)^2 by the last sweep
};

/// What is read once in a sub-step.
struct alignas(32) RowRecord {
  Pack gap;
  Pack sum[3];    ///< impulses of the sub-steps before
  Pack extra[3];  ///< impulse of this sub-step that does not start the next
                  ///< (cleanVelocities)
  Pack normalWork, frictionWork;
  Pack pushedWork;  ///< lambda_n target where the target asks to part: energy
                    ///< that was asked for
  Pack correction;  ///< position problem: impulse, and the least v_n
  Pack correctionTarget;
  std::int32_t point[kLanes];  ///< -1: none
};

struct alignas(32) SpinPack {
  Pack torsionalFriction, rollingFriction;
  Pack torsionalMass, rollingMass[3], rollingStep;
  Pack impulse[3];  ///< t1, t2 (rolling), n (torsion)
  Pack sum[3];
};

/// Conjugate gradients of the points that stay as they are (see
/// projectVelocities): one vector entry for each row of a point.
struct alignas(32) ProjectionPack {
  Pack isClosed, isSticking;  ///< 1 or 0
  Pack residual[3], direction[3], image[3], step[3];
};

/// What sweeps with momentum remember of a row: its impulses after the sweep before the last one.
struct alignas(32) RowMomentum {
  Pack last[3];
};

/// And of a moving block, whose linear and angular velocity are one pack each.
struct alignas(32) SlotMomentum {
  Pack weight[2];   ///< mass of each velocity; 0 in the lanes that hold none
  Pack last[2];     ///< velocities after the last sweep
  Pack carried[2];  ///< what that sweep started with more
};

/// The arrays the functions work on.
struct PackView {
  GroupPack* groups;
  RowPack* rows;
  RowRecord* records;
  FramePack* frames;
  SpinPack* spins;
  ProjectionPack* projections;
  RowMomentum* rowMomenta;
  SlotMomentum* slotMomenta;
  SlotVelocity* velocities;
  /// Of the sub-step that ends: velocity at its start plus at its end, and
  /// displacement.
  SlotVelocity* sums;
  SlotVelocity* moves;
  /// Of the position problem, and of the directions of the projection.
  SlotVelocity* pushes;
  double* partials;  ///< one for each pack: sums are made of these, in order
};

/// How the target of an overlapping point follows from its gap (Baumgarte; a
/// rate of 0: it is 0).
struct TargetRule {
  double rate = 0;  ///< [1/s]
  double slop = 0;
  double maxSpeed = 0;
};

/// Each works on the packs [begin, end) of `view.groups`, where nothing else is said.
struct PackFunctions {
  /// Masses and first targets, from arms, frames, inertia and gaps.
  void (*prepare)(const PackView& view, int begin, int end, const TargetRule& rule);
  /// Adds the impulses the rows hold to the velocities.
  void (*warmStart)(const PackView& view, int begin, int end);
  /// One sweep of block Gauss-Seidel. Returns the square of the largest change
  /// of velocity.
  double (*sweep)(const PackView& view, int begin, int end);
  /// The same from impulses that go on as they changed between the last two sweeps, times
  /// `momentum`. With a momentum of zero nothing need be known of the sweep before.
  double (*sweepOn)(const PackView& view, int begin, int end, double momentum);
  /// On the slots [begin, end): velocities go on in the same way, before that sweep. Returns how
  /// far the last sweep went along with what it was given, as kinetic energy.
  double (*carryOn)(const PackView& view, int begin, int end, double momentum);
  /// Ends a sub-step: sums, works, gaps, targets. `keepsImpulses`: they start
  /// the next one.
  void (*finish)(const PackView& view, int begin, int end, const TargetRule& rule,
                 bool keepsImpulses);
  /// The projection: finds the points that are closed, and those of them that
  /// stick, and the velocity to be taken from each. Partials: residual .
  /// preconditioned. Returns the largest residual.
  double (*beginProjection)(const PackView& view, int begin, int end);
  /// direction = preconditioned + beta direction, and what it does to the slots
  /// (in `pushes`).
  void (*spreadDirection)(const PackView& view, int begin, int end, double beta);
  /// image = A direction. Partials: direction . image.
  void (*imageOfDirection)(const PackView& view, int begin, int end);
  /// step += alpha direction, residual -= alpha image, image = preconditioned
  /// residual. Partials and result as beginProjection.
  double (*advanceProjection)(const PackView& view, int begin, int end, double alpha);
  /// 1 where the step takes the impulse of a point out of its cone, else 0.
  double (*leavesCones)(const PackView& view, int begin, int end);
  /// Shortens the step of each point so that its impulse stays in its cone.
  void (*limitStep)(const PackView& view, int begin, int end);
  /// Adds the step, times the factor, to the velocities and to the impulses, or
  /// `isExtra` to those.
  void (*applyStep)(const PackView& view, int begin, int end, double factor, bool isExtra);
  /// Partials: step . (velocity - target).
  void (*workOfStep)(const PackView& view, int begin, int end);
  /// Targets of the position problem; returns the largest depth beyond the
  /// slop.
  double (*beginCorrection)(const PackView& view, int begin, int end, const TargetRule& rule,
                            double inverseDt);
  /// One sweep of the position problem. Returns the largest change of velocity.
  double (*correctionSweep)(const PackView& view, int begin, int end);
};

/// The ones for this machine.
[[nodiscard]] const PackFunctions& packFunctions();
/// Those for any machine, and those for AVX2 and for AVX-512 (null where they were not
/// compiled or the machine lacks it).
[[nodiscard]] const PackFunctions& genericPackFunctions();
[[nodiscard]] const PackFunctions* avx2PackFunctions();
[[nodiscard]] const PackFunctions* avx512PackFunctions();

}  // namespace tangere::solver
