// SPDX-License-Identifier: Apache-2.0
//
// Rows of a constraint that act at points of bodies, whatever moves these: a tree, nothing but
// contacts, or a velocity of their own.
#pragma once

#include "contact/sap_workspace.hpp"

#include <span>

namespace tangere::contact {

/// The world, as a body.
inline constexpr int kWorld = -1;

/// Clique of a body; -1 for the world and for what the solve does not move.
[[nodiscard]] inline int cliqueOf(const SapWorkspace& sap, int body) {
  return body < 0 ? -1 : sap.cliqueOfBody[body];
}

/// Cliques of a constraint between two bodies as the problem wants them: the first one is there and
/// they differ. Both -1: nothing to solve.
struct CliquePair {
  int first = -1, second = -1;
};
[[nodiscard]] CliquePair cliquesOf(const SapWorkspace& sap, int body1, int body2);

/// Writes to three rows of constraint c, from `row` on, the velocity of body 1 at p1 less that of
/// body 2 at p2, in the axes of R_WC; what moves with a given velocity goes to the bias.
void writePointRows(const model::ModelData& model, const State& state, int c, int row, int body1,
                    const Vec3& p1, int body2, const Vec3& p2, const Mat3& R_WC, SapWorkspace& sap);
/// The same for consecutive points of a contact between two bodies, constraints from c on, whose
/// Jacobians lie behind each other.
void writeContactRows(const model::ModelData& model, const State& state, int c, int body1,
                      int body2, std::span<const solver::ImpulsePoint> points, SapWorkspace& sap);
/// writePointRows() for angular velocities.
void writeAngularRows(const model::ModelData& model, const State& state, int c, int row, int body1,
                      int body2, const Mat3& R_WC, SapWorkspace& sap);

/// Adds weight times the velocity of a body at p along `direction` to a row.
void addPointTo(const model::ModelData& model, const State& state, int body, const Vec3& p,
                const Vec3& direction, Real weight, CliqueRow* row, SapWorkspace& sap);
/// The same for its angular velocity about `axis`.
void addAngularTo(const model::ModelData& model, int body, const Vec3& axis, Real weight,
                  CliqueRow* row, SapWorkspace& sap);
/// Adds weight times one velocity of a clique.
void addVelocityTo(int clique, int dof, Real weight, CliqueRow* row, const SapWorkspace& sap);
void clearRow(CliqueRow* row);
/// Weight times the row, as row `at` of constraint c.
void writeRow(const CliqueRow& row, Real weight, int c, SapWorkspace& sap, int at = 0);
/// J v + b of constraint c, for velocities in the order of the problem.
void velocityOfRows(int c, const Real* v, const SapWorkspace& sap, Real* vc);
/// Velocity of body 1 seen from body 2 at a contact point, of the State.
[[nodiscard]] Vec3 relativeVelocity(const State& state, const solver::ImpulsePoint& point);
/// Velocity of the point of a body (or of the world, -1) that is at p, of the State [m/s].
[[nodiscard]] Vec3 pointVelocity(const State& state, int body, const Vec3& p);
/// Its acceleration when no velocity of the problem changes: J-dot v [m/s^2].
[[nodiscard]] Vec3 pointBiasAcceleration(const model::ModelData& model, const State& state,
                                         int body, const Vec3& p, const SapWorkspace& sap);
/// The row times velocities in the order of the problem.
[[nodiscard]] Real rateOf(const CliqueRow& row, const SapWorkspace& sap, const Real* v);

}  // namespace tangere::contact
