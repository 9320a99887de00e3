// SPDX-License-Identifier: Apache-2.0
#include "contact/user_rows.hpp"

#include "contact/body_rows.hpp"
#include "math/transform.hpp"

#include <algorithm>

namespace tangere {

Real HandlerView::time() const { return state_->time; }
int HandlerView::numBodies() const { return static_cast<int>(model_->bodies.size()); }

Transform HandlerView::pose(int body) const {
  if (body < 0) return {};
  const Mat3 R = rotationMatrix(state_->orientation[body]);
  return {R, state_->center[body] - R * model_->bodies[body].mass.center};
}

Vec3 HandlerView::centerOfMass(int body) const { return body < 0 ? Vec3{} : state_->center[body]; }

Vec3 HandlerView::velocityAt(int body, const Vec3& point) const {
  if (body < 0) return {};
  return state_->velocity[body] +
         cross(state_->angularVelocity[body], point - state_->center[body]);
}

Vec3 HandlerView::angularVelocity(int body) const {
  return body < 0 ? Vec3{} : state_->angularVelocity[body];
}

}  // namespace tangere

namespace tangere::contact {

namespace {

bool isPossible(const model::ModelData& model, const ConstraintRows& rows);
void addRow(const model::ModelData& model, const State& state, const ConstraintRows& rows, int row,
            int c, SapWorkspace& sap);

}  // namespace

void addUserRows(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  sap.handled.clear();
  sap.isHandlerRefused = false;
  if (sap.handlers.empty()) return;
  const HandlerView view(model, state, sap.problem.dt);
  for (std::size_t h = 0; h < sap.handlers.size(); ++h) {
    ContactHandler* handler = sap.handlers[h].get();
    const int count = handler->detect(view);
    if (count < 0) sap.isHandlerRefused = true;
    for (int i = 0; i < count; ++i) {
      const ConstraintRows rows = handler->rows(i);
      if (!isPossible(model, rows)) {
        sap.isHandlerRefused = true;
        continue;
      }
      if (rows.numRows > 0) sap.handled.emplace_back(handler, static_cast<int>(h), i, rows);
    }
  }
  // The problem keeps addresses: only now do they stay.
  for (HandledConstraint& handled : sap.handled) {
    const CliquePair cliques = cliquesOf(sap, handled.rows.body1, handled.rows.body2);
    if (cliques.first < 0) continue;
    handled.constraint =
        sap.problem.addUser(handled.rows.numRows, cliques.first, cliques.second, &handled);
    for (int row = 0; row < handled.rows.numRows; ++row)
      addRow(model, state, handled.rows, row, handled.constraint, sap);
  }
}

void keepHandledAwake(const model::ModelData& model, State& state, model::Workspace& ws,
                      const SapWorkspace& sap) {
  for (const HandledConstraint& handled : sap.handled) {
    for (const int body : {handled.rows.body1, handled.rows.body2}) {
      if (body < 0 || model.bodies[body].type != BodyType::Dynamic) continue;
      state.stillTime[body] = 0;
      if (state.isAsleep[body] == 0) continue;
      state.isAsleep[body] = 0;
      ws.poseAge[body] = 0;
    }
  }
}

void listHandlerForces(int handler, const SapWorkspace& sap, std::vector<HandlerForce>* out) {
  out->clear();
  for (const HandledConstraint& handled : sap.handled) {
    if (handled.handlerIndex != handler) continue;
    HandlerForce force{.constraint = handled.index,
                       .body1 = handled.rows.body1,
                       .body2 = handled.rows.body2,
                       .numRows = handled.rows.numRows};
    for (int row = 0; handled.constraint >= 0 && row < handled.rows.numRows; ++row) {
      force.velocity[row] = sap.problem.velocityOf(handled.constraint)[row];
      force.force[row] = sap.problem.impulseOf(handled.constraint)[row] / sap.problem.dt;
    }
    out->push_back(force);
  }
}

namespace {

bool isPossible(const model::ModelData& model, const ConstraintRows& rows) {
  const int numBodies = static_cast<int>(model.bodies.size());
  const auto isBody = [&](int body) { return body >= -1 && body < numBodies; };
  if (rows.numRows < 0 || rows.numRows > ConstraintRows::kMaxRows) return false;
  if (!isBody(rows.body1) || !isBody(rows.body2) || rows.body1 == rows.body2) return false;
  return std::all_of(rows.row.begin(), rows.row.begin() + rows.numRows,
                     [](const ConstraintRow& row) {
                       return math::isFinite(row.direction) && math::isFinite(row.point1) &&
                              math::isFinite(row.point2);
                     });
}

void addRow(const model::ModelData& model, const State& state, const ConstraintRows& rows, int row,
            int c, SapWorkspace& sap) {
  const ConstraintRow& which = rows.row[row];
  CliqueRow entries;
  const auto add = [&](int body, const Vec3& point, Real sign) {
    if (body < 0) return;
    if (cliqueOf(sap, body) < 0) {  // it moves as it is told, or not at all
      const Vec3 velocity = which.isAngular
                                ? state.angularVelocity[body]
                                : state.velocity[body] + cross(state.angularVelocity[body],
                                                               point - state.center[body]);
      sap.problem.biasOf(c)[row] += sign * dot(which.direction, velocity);
    } else if (which.isAngular) {
      addAngularTo(model, body, which.direction, sign, &entries, sap);
    } else {
      addPointTo(model, state, body, point, which.direction, sign, &entries, sap);
    }
  };
  add(rows.body1, which.point1, 1);
  add(rows.body2, which.point2, -1);
  writeRow(entries, 1, c, sap, row);
}

}  // namespace

}  // namespace tangere::contact
