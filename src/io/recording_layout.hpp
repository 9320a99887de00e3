// SPDX-License-Identifier: Apache-2.0
//
// The columns of a recording: name in the file, place in memory, unit, meaning. Writer, reader and
// comparison are made from these rows, so that none of them can forget one.
#pragma once

#include <tangere/recording.hpp>

#include <cstdint>
#include <iterator>
#include <string_view>

namespace tangere::io {

inline constexpr std::string_view kRecordingFormat = "tangere recording";
inline constexpr int kRecordingVersion = 1;

template <class Row, class Value>
struct Field {
  const char* name;
  Value Row::*member;
  const char* unit;
  const char* meaning;
};

inline constexpr Field<ContactForce, int> kContactInts[] = {
    {"body1", &ContactForce::body1, "", "index into /model/body_name"},
    {"body2", &ContactForce::body2, "", "index into /model/body_name"},
    {"shape1", &ContactForce::shape1, "", "shape of body 1"},
    {"shape2", &ContactForce::shape2, "", "shape of body 2"},
};
inline constexpr Field<ContactForce, std::uint64_t> kContactIds[] = {
    {"id", &ContactForce::id, "", "the same for as long as the point lives"},
};
inline constexpr Field<ContactForce, Vec3> kContactVectors[] = {
    {"position", &ContactForce::position, "m", "world"},
    {"normal", &ContactForce::normal, "", "unit, from body 2 to body 1, world"},
    {"force", &ContactForce::force, "N", "on body 1, world; body 2 feels the opposite"},
    {"torque", &ContactForce::torque, "N m", "torsional and rolling, on body 1, world"},
};
inline constexpr Field<ContactForce, Real> kContactReals[] = {
    {"depth", &ContactForce::depth, "m", "positive: overlap, at the start of the step"},
    {"normal_work", &ContactForce::normalWork, "J", "of the normal force in this step"},
    {"friction_work", &ContactForce::frictionWork, "J", "of friction in this step"},
};

/// Of each side: the names get a 1 or a 2.
inline constexpr Field<PressureSide, int> kSideInts[] = {
    {"body", &PressureSide::body, "", "index into /model/body_name; -1: a soft body"},
    {"shape", &PressureSide::shape, "", "shape of the body; -1: a soft body"},
    {"soft", &PressureSide::soft, "", "index into /model/soft_bodies/name; -1: a shape"},
    {"element", &PressureSide::element, "", "tetrahedron or triangle; -1: a half space"},
};
inline constexpr Field<PressurePolygon, int> kPolygonInts[] = {
    {"num_vertices", &PressurePolygon::numVertices, "", "rows of vertex and vertex_pressure"},
};
inline constexpr Field<PressurePolygon, Vec3> kPolygonVectors[] = {
    {"centroid", &PressurePolygon::centroid, "m", "world"},
    {"normal", &PressurePolygon::normal, "", "unit, from side 2 to side 1, world"},
    {"force", &PressurePolygon::force, "N", "on side 1, world; side 2 feels the opposite"},
};
inline constexpr Field<PressurePolygon, Real> kPolygonReals[] = {
    {"area", &PressurePolygon::area, "m^2", ""},
    {"pressure", &PressurePolygon::pressure, "Pa", "at the centroid, at the start of the step"},
    {"normal_work", &PressurePolygon::normalWork, "J", "of the normal force in this step"},
    {"friction_work", &PressurePolygon::frictionWork, "J", "of friction in this step"},
};

inline constexpr Field<StepReport, int> kReportInts[] = {
    {"contacts", &StepReport::numContacts, "", "contact points of the step"},
    {"islands", &StepReport::numIslands, "", "groups of bodies solved together"},
    {"iterations", &StepReport::iterations, "", "largest over the islands"},
    {"impacts", &StepReport::numImpacts, "", "impacts resolved"},
    {"body1", &StepReport::body1, "", "whom the status is about; -1: nobody"},
    {"body2", &StepReport::body2, "", "whom the status is about; -1: nobody"},
};
inline constexpr Field<StepReport, Real> kReportReals[] = {
    {"residual", &StepReport::residual, "m/s", "largest velocity error left by the solver"},
    {"max_depth", &StepReport::maxDepth, "m", "deepest contact"},
};
/// Only of models in which bodies press on each other over areas.
inline constexpr Field<StepReport, int> kPressureReportInts[] = {
    {"pressure_polygons", &StepReport::numPressurePolygons, "", "of the step"},
    {"soft", &StepReport::soft, "", "soft body that the status is about; -1: none"},
    {"inverted", &StepReport::numInverted, "", "tetrahedra inside out, at the start of the step"},
    {"linear_iterations", &StepReport::linearIterations, "", "of conjugate gradients"},
};
inline constexpr const char* kStatusMeaning =
    "bits: 1 SolverNotConverged, 2 StateNotFinite, 4 EnergyInjected, 8 QueryNotConverged, "
    "16 ImpactsCut, 32 HandlerRefused, 64 ElementsInverted, 128 StepDivided, "
    "256 IntegratorFailed, 512 TooManyContacts, 1024 MayHaveCrossed, "
    "2048 Interrupted, 4096 OverlapNotResolved, 8192 TooMuchWork, 16384 EnergyRefused";

inline constexpr Field<EnergyLedger, Real> kLedgerReals[] = {
    {"kinetic", &EnergyLedger::kinetic, "J", "at the end of the step"},
    {"potential", &EnergyLedger::potential, "J", "at the end of the step; zero at the origin"},
    {"external", &EnergyLedger::external, "J", "work of applied forces"},
    {"damping", &EnergyLedger::damping, "J", "work of damping and of falling asleep"},
    {"contact_normal", &EnergyLedger::contactNormal, "J", "work of normal impulses"},
    {"contact_friction", &EnergyLedger::contactFriction, "J", "work of friction"},
    {"kinematic", &EnergyLedger::kinematic, "J", "work of kinematic bodies"},
    {"constraint", &EnergyLedger::constraint, "J", "work of joint limits and equalities"},
    {"correction", &EnergyLedger::correction, "J", "given by moving bodies out of each other"},
    {"integration", &EnergyLedger::integration, "J", "of the step along the new velocity"},
    {"gyroscopic", &EnergyLedger::gyroscopic, "J", "of turning the inertia"},
    {"residual", &EnergyLedger::residual, "J", "what is left: rounding"},
};
static_assert(sizeof(EnergyLedger) == std::size(kLedgerReals) * sizeof(Real),
              "every row of the ledger is recorded");

}  // namespace tangere::io
