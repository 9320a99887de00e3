// SPDX-License-Identifier: Apache-2.0
//
// What a user may choose about the solvers of a step.
#pragma once

#include <tangere/config.hpp>

#include <cstdint>

namespace tangere {

enum class PositionCorrection : std::uint8_t {
  SplitImpulse,  ///< moves bodies apart without touching their velocities
  Baumgarte,     ///< a velocity bias; simple, but it turns depth into kinetic energy
  None,
};

/// The impulse solver.
struct ImpulseOptions {
  /// Islands with at most this many contact points are solved by the active set, to rounding.
  int maxExactPoints = 8;
  /// Larger islands: sub-steps of the step, and sweeps over the points in each.
  int numSubsteps = 1;
  int numSweeps = 10;
  /// Where those sweeps do not reach the tolerance: times that steps of conjugate gradients (with
  /// the contacts as they then are) and as many sweeps again follow. They end what sweeps hardly
  /// change, the swaying of a tower.
  int numProjections = 2;
  int numProjectionSteps = 10;
  /// Sweeps end when no impulse changed a velocity by more than this [m/s]. Where the fastest body
  /// of an island creeps at more than 1 mm/s, but slower than one step of free fall, the tolerance
  /// grows with that speed.
  Real tolerance = 1e-8;
  PositionCorrection correction = PositionCorrection::SplitImpulse;
  Real correctionRate = 0.2;      ///< part of the error beyond the slop that one step removes
  Real slop = 1e-4;               ///< depth left in peace, so that contacts stay [m]
  Real maxCorrectionSpeed = 5.0;  ///< [m/s]
  int numCorrectionSweeps = 8;
};

enum class SapLinearSolver : std::uint8_t {
  Auto,      ///< Cholesky, or conjugate gradients where its factor would be too large
  Cholesky,  ///< block-sparse, fixed fill-reducing order
  ConjugateGradients,
};

/// What stands for the matrix of a soft body in the conjugate gradients of the convex solver.
enum class SoftPreconditioner : std::uint8_t {
  Auto,                ///< by the size of the body: one of the last two
  BlockJacobi,         ///< the 3x3 blocks of the vertices
  IncompleteCholesky,  ///< without fill
  TwoLevel,            ///< that and the rigid motions of pieces of the body, solved together
};

/// What the convex solver starts from.
enum class SapGuess : std::uint8_t {
  Velocity,  ///< the v of the problem
  Impulse,   ///< v* + A^-1 J^T gamma, gamma of the problem (of the last step); v where all are zero
  Best,      ///< of these two the one of lower cost
};

/// The force law of a contact point under the convex solver.
enum class SapContactModel : std::uint8_t {
  /// Linear stiffness and dissipation; friction bounded by this step's normal force, held without
  /// slip.
  Linear,
  /// Hunt and Crossley's dissipation; friction bounded by the normal force at the start of the step
  /// and regularized: what is held slips at up to SapOptions::slipSpeed.
  HuntCrossley,
};

/// What bounds the friction of a contact with linear stiffness under the convex solver.
enum class SapFriction : std::uint8_t {
  /// Coulomb's law: mu times the normal impulse of the same step. Each convex problem has fixed
  /// bounds; it is solved again with new ones until they are those of its solution.
  Coulomb,
  /// The law of the published method: one convex problem, but what slides is pushed apart at mu
  /// times its slip, and dissipation brakes before a gap is closed.
  Cone,
};

/// How the event solver integrates between events.
enum class EventMethod : std::uint8_t {
  Bdf,    ///< backward differentiation formulas: stiff contacts
  Adams,  ///< free motion and soft contacts
};

/// When two shapes count as touching. `eps` is max(1e-13, what coordinates are rounded to) [m].
enum class EventPolicy : std::uint8_t {
  Penetrating,  ///< from 2 eps inside; two shapes that merely touch are not in contact
  Touching,     ///< from eps apart
};

/// How dissipation follows from a coefficient of restitution.
enum class RestitutionDamping : std::uint8_t {
  Exact,   ///< impacts of two free bodies lose exactly what the coefficient says
  Flores,  ///< 8 (1 - e) / (5 e v), which gives 0.68 for 0.7
};

/// The event solver: variable steps, and a root at every start and end of a contact.
struct EventOptions {
  EventMethod method = EventMethod::Bdf;
  Real relativeTolerance = 1e-8;
  Real absoluteTolerance = 1e-10;  ///< [m, rad] and per second; well below the depth of contacts
  Real maxStep = 0;                ///< [s]; 0: none but what keeps contacts from being missed
  EventPolicy policy = EventPolicy::Penetrating;

  // The force law of Hertz.
  RestitutionDamping damping = RestitutionDamping::Exact;
  Real maxDamping = 2000;       ///< [s/m]; of what does not bounce, at rest too
  Real stiffnessReduction = 1;  ///< of all Hertz contacts, in (0, 1]: softer is faster
  /// Regularizes friction; a contact that begins slower has a hysteresis in place of damping [m/s].
  Real smallSpeed = 0.01;
  Real smallSpin = 0.01;  ///< regularizes rolling resistance [rad/s]

  // Point contacts.
  /// Of unlimited stiffness: fast approach is an impact without duration; what stays in contact
  /// oscillates with this period, critically damped [s].
  Real restPeriod = 1e-4;
  Real impactSpeed = 1e-6;  ///< slower approach is no impact: the end of a series of bounces [m/s]
  /// Friction is below its full value up to here, times its coefficient where that is above 1
  /// [m/s].
  Real slipSpeed = 1e-9;
  /// What overlaps at the start comes apart no faster [m/s].
  Real maxCorrectionSpeed = 0.1;

  // What one call of step() or advanceTo() may cost; beyond it the call is refused with
  // StepStatus::TooMuchWork. Neither changes a result, and they are not part of the model's hash: a
  // checkpoint goes on under other bounds.
  int maxSteps = 200'000;  ///< steps of the integrator, the starts after events included
  Real maxMemory = 2e9;    ///< of pairs, contacts and matrices, as estimated before [bytes]
};

/// The convex solver (SAP). The defaults are those of a scene, which are not the published ones:
/// contact points remember what friction held in the last step, so a large regularization does not
/// make held things creep, and the solver needs far fewer iterations.
struct SapOptions {
  int maxIterations = 200;  ///< Newton steps; few, but for problems made to be hard
  /// Stop when |D grad| <= absoluteTolerance + relativeTolerance max(|D A v|, |D J^T gamma|),
  /// D = diag(A)^-1/2.
  Real absoluteTolerance = 1e-14;  ///< [sqrt(J)]
  Real relativeTolerance = 1e-9;
  /// Above 0: both tolerances are taken times 1 + this * sqrt(n), n the constraints of an island:
  /// many contacts together are then solved no more exactly than each of them.
  Real toleranceGrowth = 0;
  int maxLineSearchEvaluations = 100;
  Real lineSearchTolerance = 1e-3;  ///< on the slope, relative to that at the start
  Real maxStep = 1.5;               ///< longest step, in Newton steps
  /// Stiffest contact, limit or equality: its period is this many steps.
  Real nearRigid = 0.1;
  Real nearRigidBilateral = 0.1;  ///< of equalities, limits and drives
  /// Regularization of friction: a held body slips by about this * g * dt.
  Real frictionRegularization = 0.1;
  Real slipSpeed = 1e-4;  ///< HuntCrossley: friction is below its full value up to here [m/s]
  /// Rounds the tip of the norm of the tangential impulse [N s]. The cone needs none.
  Real frictionSoftness = 0;
  SapGuess guess = SapGuess::Impulse;
  SapLinearSolver linearSolver = SapLinearSolver::Auto;
  SapContactModel contact = SapContactModel::Linear;
  SapFriction friction = SapFriction::Coulomb;
  /// Coulomb: friction may be off by this part of the impulses of its island.
  Real frictionTolerance = 1e-8;
  int maxFrictionUpdates = 50;  ///< of the bounds, in one step; 0: those of the last step stay
  int maxPcgIterations = 1000;
  Real pcgTolerance = 1e-9;  ///< |r|/|r_0| in the norm of the preconditioner; tightens near the end
  SoftPreconditioner softPreconditioner = SoftPreconditioner::Auto;
};

}  // namespace tangere
