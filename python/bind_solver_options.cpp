// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/solver_options.hpp>

namespace tangere::python {

namespace {

void bindEnums(nb::module_& m) {
  nb::enum_<PositionCorrection>(m, "PositionCorrection", "How overlap is removed.")
      .value("SPLIT_IMPULSE", PositionCorrection::SplitImpulse)
      .value("BAUMGARTE", PositionCorrection::Baumgarte)
      .value("NONE", PositionCorrection::None);
  nb::enum_<SapLinearSolver>(m, "SapLinearSolver", "How the convex solver solves its systems.")
      .value("AUTO", SapLinearSolver::Auto)
      .value("CHOLESKY", SapLinearSolver::Cholesky)
      .value("CONJUGATE_GRADIENTS", SapLinearSolver::ConjugateGradients);
  nb::enum_<SoftPreconditioner>(m, "SoftPreconditioner", "Of soft bodies.")
      .value("AUTO", SoftPreconditioner::Auto)
      .value("BLOCK_JACOBI", SoftPreconditioner::BlockJacobi)
      .value("INCOMPLETE_CHOLESKY", SoftPreconditioner::IncompleteCholesky)
      .value("TWO_LEVEL", SoftPreconditioner::TwoLevel);
  nb::enum_<SapGuess>(m, "SapGuess", "What the convex solver starts from.")
      .value("VELOCITY", SapGuess::Velocity)
      .value("IMPULSE", SapGuess::Impulse)
      .value("BEST", SapGuess::Best);
  nb::enum_<SapContactModel>(m, "SapContactModel", "The force law of a contact point under SAP.")
      .value("LINEAR", SapContactModel::Linear)
      .value("HUNT_CROSSLEY", SapContactModel::HuntCrossley);
  nb::enum_<EventMethod>(m, "EventMethod", "How the event solver integrates.")
      .value("BDF", EventMethod::Bdf)
      .value("ADAMS", EventMethod::Adams);
  nb::enum_<EventPolicy>(m, "EventPolicy", "When two shapes count as touching.")
      .value("PENETRATING", EventPolicy::Penetrating)
      .value("TOUCHING", EventPolicy::Touching);
  nb::enum_<SapFriction>(m, "SapFriction", "What bounds the friction of a contact.")
      .value("COULOMB", SapFriction::Coulomb)
      .value("CONE", SapFriction::Cone);
  nb::enum_<RestitutionDamping>(m, "RestitutionDamping",
                                "How dissipation follows from restitution.")
      .value("EXACT", RestitutionDamping::Exact)
      .value("FLORES", RestitutionDamping::Flores);
}

}  // namespace

void bindSolverOptions(nb::module_& m) {
  bindEnums(m);
  using Impulse = ImpulseOptions;
  bindStruct<Impulse>(
      m, "ImpulseOptions", "The impulse solver.",
      field("max_exact_points", &Impulse::maxExactPoints,
            "islands of at most this many points are solved to rounding"),
      field("num_substeps", &Impulse::numSubsteps, "of a step, for larger islands"),
      field("num_sweeps", &Impulse::numSweeps, "over the points of larger islands"),
      field("num_projections", &Impulse::numProjections,
            "rounds of what follows the sweeps, at most"),
      field("num_projection_steps", &Impulse::numProjectionSteps, "of conjugate gradients in each"),
      field("tolerance", &Impulse::tolerance, "[m/s]"),
      field("correction", &Impulse::correction, "how overlap is removed"),
      field("correction_rate", &Impulse::correctionRate, "part removed in one step"),
      field("slop", &Impulse::slop, "depth left in peace [m]"),
      field("max_correction_speed", &Impulse::maxCorrectionSpeed, "[m/s]"),
      field("num_correction_sweeps", &Impulse::numCorrectionSweeps, "of the positions"));
  using Sap = SapOptions;
  bindStruct<Sap>(
      m, "SapOptions", "The convex solver.",
      field("max_iterations", &Sap::maxIterations, "Newton steps"),
      field("absolute_tolerance", &Sap::absoluteTolerance, "[sqrt(J)]"),
      field("relative_tolerance", &Sap::relativeTolerance, "of the momentum balance"),
      field("tolerance_growth", &Sap::toleranceGrowth,
            "> 0: tolerances grow with the constraints of an island"),
      field("max_line_search_evaluations", &Sap::maxLineSearchEvaluations,
            "of the cost along one direction"),
      field("line_search_tolerance", &Sap::lineSearchTolerance, "on the slope, relative"),
      field("max_step", &Sap::maxStep, "in Newton steps"),
      field("near_rigid", &Sap::nearRigid, "period of the stiffest contact, in steps"),
      field("near_rigid_bilateral", &Sap::nearRigidBilateral, "of equalities, limits and drives"),
      field("friction_regularization", &Sap::frictionRegularization,
            "a held body slips by about this times g dt"),
      field("slip_speed", &Sap::slipSpeed,
            "hunt_crossley: friction is below its full value up to here [m/s]"),
      field("friction_softness", &Sap::frictionSoftness, "[N s]"),
      field("guess", &Sap::guess, "what it starts from"),
      field("linear_solver", &Sap::linearSolver, "of its linear systems"),
      field("contact", &Sap::contact, "force law of a contact point"),
      field("friction", &Sap::friction, "what bounds friction under linear stiffness"),
      field("friction_tolerance", &Sap::frictionTolerance,
            "coulomb: what friction may be off by, as a part of the impulses"),
      field("max_friction_updates", &Sap::maxFrictionUpdates, "coulomb: of its bounds, in a step"),
      field("max_pcg_iterations", &Sap::maxPcgIterations,
            "of conjugate gradients, in one Newton step"),
      field("pcg_tolerance", &Sap::pcgTolerance, "residual over that at the start"),
      field("soft_preconditioner", &Sap::softPreconditioner, "of soft bodies"));
  using Event = EventOptions;
  bindStruct<Event>(
      m, "EventOptions", "The event solver: variable steps from event to event.",
      field("method", &Event::method, "of integration"),
      field("relative_tolerance", &Event::relativeTolerance, "of the integration"),
      field("absolute_tolerance", &Event::absoluteTolerance, "[m, rad] and per second"),
      field("max_step", &Event::maxStep, "[s]; 0: none"),
      field("policy", &Event::policy, "when two shapes touch"),
      field("damping", &Event::damping, "how restitution becomes dissipation"),
      field("max_damping", &Event::maxDamping, "[s/m]"),
      field("stiffness_reduction", &Event::stiffnessReduction, "in (0, 1]: softer is faster"),
      field("small_speed", &Event::smallSpeed, "regularizes friction [m/s]"),
      field("small_spin", &Event::smallSpin, "regularizes rolling resistance [rad/s]"),
      field("rest_period", &Event::restPeriod, "of a rigid contact that stays [s]"),
      field("impact_speed", &Event::impactSpeed, "slower approach is no impact [m/s]"),
      field("slip_speed", &Event::slipSpeed, "friction is below its full value up to here [m/s]"),
      field("max_correction_speed", &Event::maxCorrectionSpeed,
            "what overlaps at the start comes apart no faster [m/s]"),
      field("max_steps", &Event::maxSteps, "of the integrator in one call"),
      field("max_memory", &Event::maxMemory, "of one call, as estimated before [bytes]"));
}

}  // namespace tangere::python
