// SPDX-License-Identifier: Apache-2.0
#include "contact/body_rows.hpp"

namespace tangere::contact {

namespace {

/// The tree moves by its coordinates; a free body by the velocity of its centre and its angular
/// velocity, both in the world.
bool isFreeBody(const model::ModelData& model, int body) { return !model.bodies[body].isJointed; }

void addFreePointRows(const Vec3& arm, const Mat3& R_WC, Real sign, Real* rows, int stride) {
  for (int i = 0; i < 3; ++i) {
    const Vec3 direction = R_WC.col[i] * sign;
    const Vec3 moment = cross(arm, direction);
    Real* row = rows + i * stride;
    row[0] += direction.x;
    row[1] += direction.y;
    row[2] += direction.z;
    row[3] += moment.x;
    row[4] += moment.y;
    row[5] += moment.z;
  }
}

void addFreeAngularRows(const Mat3& R_WC, Real sign, Real* rows, int stride) {
  for (int i = 0; i < 3; ++i) {
    const Vec3 direction = R_WC.col[i] * sign;
    Real* row = rows + i * stride;
    row[3] += direction.x;
    row[4] += direction.y;
    row[5] += direction.z;
  }
}

Real* rowsOf(int c, int row, int clique, SapWorkspace& sap) {
  const solver::SapConstraint& constraint = sap.problem.constraints[c];
  Real* block = clique == constraint.clique1 ? sap.problem.jacobian1(c) : sap.problem.jacobian2(c);
  return block + static_cast<std::ptrdiff_t>(row) * sap.problem.numVelocities(clique);
}

/// A body that is driven along: what it adds to the velocity of the rows.
void addBias(const Vec3& velocity, const Mat3& R_WC, Real sign, Real* bias) {
  const Vec3 v = transposeTimes(R_WC, velocity) * sign;
  bias[0] += v.x;
  bias[1] += v.y;
  bias[2] += v.z;
}

}  // namespace

CliquePair cliquesOf(const SapWorkspace& sap, int body1, int body2) {
  const int first = cliqueOf(sap, body1), second = cliqueOf(sap, body2);
  if (first < 0) return {second, -1};
  return {first, first == second ? -1 : second};
}

void writePointRows(const model::ModelData& model, const State& state, int c, int row, int body1,
                    const Vec3& p1, int body2, const Vec3& p2, const Mat3& R_WC,
                    SapWorkspace& sap) {
  const int clique1 = cliqueOf(sap, body1), clique2 = cliqueOf(sap, body2);
  // One place of one tree: what moves both bodies alike must not be left as rounding, which a stiff
  // constraint would take for a very light mass.
  constexpr Real kSamePlace = 1e-6;
  if (clique1 >= 0 && clique1 == clique2 && norm(p1 - p2) < kSamePlace) {
    const int stride = sap.problem.numVelocities(clique1);
    dynamics::addRelativePointJacobian(sap.trees, model.linkOfBody[body1], model.linkOfBody[body2],
                                       (p1 + p2) * Real(0.5), R_WC, rowsOf(c, row, clique1, sap),
                                       stride);
    return;
  }
  const auto add = [&](int body, const Vec3& p, Real sign) {
    if (body < 0) return;
    const int clique = sap.cliqueOfBody[body];
    if (clique < 0) {
      const Vec3 arm = p - state.center[body];
      addBias(state.velocity[body] + cross(state.angularVelocity[body], arm), R_WC, sign,
              sap.problem.biasOf(c) + row);
      return;
    }
    const int stride = sap.problem.numVelocities(clique);
    Real* rows = rowsOf(c, row, clique, sap);
    if (isFreeBody(model, body))
      addFreePointRows(p - state.center[body], R_WC, sign, rows, stride);
    else
      dynamics::addPointJacobian(sap.trees, model.linkOfBody[body], p, R_WC, sign, rows, stride);
  };
  add(body1, p1, 1);
  add(body2, p2, -1);
}

namespace {

Mat3 frameOf(const solver::ImpulsePoint& point) {
  return {{point.tangent1, point.tangent2, point.normal}};
}

/// One body's part of writeContactRows().
struct ContactSide {
  int body = 0;
  Real sign = 1;
  Vec3 solver::ImpulsePoint::*arm = nullptr;
};

void writeContactSide(const model::ModelData& model, const State& state, int c,
                      const ContactSide& side, std::span<const solver::ImpulsePoint> points,
                      SapWorkspace& sap) {
  const int clique = sap.cliqueOfBody[side.body];
  const auto count = static_cast<int>(points.size());
  // As a sum and back: the arm of a point far from the origin has the digits of its position.
  const auto place = [&](int i) { return state.center[side.body] + points[i].*side.arm; };
  if (clique < 0) {
    for (int i = 0; i < count; ++i) {
      const Vec3 arm = place(i) - state.center[side.body];
      addBias(state.velocity[side.body] + cross(state.angularVelocity[side.body], arm),
              frameOf(points[i]), side.sign, sap.problem.biasOf(c + i));
    }
    return;
  }
  const int stride = sap.problem.numVelocities(clique);
  Real* first = rowsOf(c, 0, clique, sap);
  const std::ptrdiff_t step = count > 1 ? rowsOf(c + 1, 0, clique, sap) - first : 0;
  if (isFreeBody(model, side.body)) {
    for (int i = 0; i < count; ++i)
      addFreePointRows(place(i) - state.center[side.body], frameOf(points[i]), side.sign,
                       first + i * step, stride);
    return;
  }
  const int link = model.linkOfBody[side.body];
  const auto isFlat = [&](int i) {  // four points with one frame
    for (int k = i + 1; k < i + 4; ++k) {
      if (!(points[k].normal == points[i].normal && points[k].tangent1 == points[i].tangent1))
        return false;
    }
    return true;
  };
  int i = 0;
  for (; i + 4 <= count && isFlat(i); i += 4) {
    const Vec3 p[4] = {place(i), place(i + 1), place(i + 2), place(i + 3)};
    Real* const rows[4] = {first + i * step, first + (i + 1) * step, first + (i + 2) * step,
                           first + (i + 3) * step};
    dynamics::addPointJacobians(sap.trees, link, p, frameOf(points[i]), side.sign, rows, stride);
  }
  for (; i < count; ++i)
    dynamics::addPointJacobian(sap.trees, link, place(i), frameOf(points[i]), side.sign,
                               first + i * step, stride);
}

}  // namespace

void writeContactRows(const model::ModelData& model, const State& state, int c, int body1,
                      int body2, std::span<const solver::ImpulsePoint> points, SapWorkspace& sap) {
  const int clique1 = cliqueOf(sap, body1);
  if (clique1 >= 0 && clique1 == cliqueOf(sap, body2)) {
    for (std::size_t i = 0; i < points.size(); ++i)
      writePointRows(model, state, c + static_cast<int>(i), 0, body1,
                     state.center[body1] + points[i].r1, body2, state.center[body2] + points[i].r2,
                     frameOf(points[i]), sap);
    return;
  }
  writeContactSide(model, state, c, {body1, 1, &solver::ImpulsePoint::r1}, points, sap);
  writeContactSide(model, state, c, {body2, -1, &solver::ImpulsePoint::r2}, points, sap);
}

void writeAngularRows(const model::ModelData& model, const State& state, int c, int row, int body1,
                      int body2, const Mat3& R_WC, SapWorkspace& sap) {
  const int clique1 = cliqueOf(sap, body1);
  if (clique1 >= 0 && clique1 == cliqueOf(sap, body2)) {
    dynamics::addRelativeAngularJacobian(
        sap.trees, model.linkOfBody[body1], model.linkOfBody[body2], R_WC,
        rowsOf(c, row, clique1, sap), sap.problem.numVelocities(clique1));
    return;
  }
  const auto add = [&](int body, Real sign) {
    if (body < 0) return;
    const int clique = sap.cliqueOfBody[body];
    if (clique < 0) {
      addBias(state.angularVelocity[body], R_WC, sign, sap.problem.biasOf(c) + row);
      return;
    }
    const int stride = sap.problem.numVelocities(clique);
    Real* rows = rowsOf(c, row, clique, sap);
    if (isFreeBody(model, body))
      addFreeAngularRows(R_WC, sign, rows, stride);
    else
      dynamics::addAngularJacobian(sap.trees, model.linkOfBody[body], R_WC, sign, rows, stride);
  };
  add(body1, 1);
  add(body2, -1);
}

namespace {

std::vector<Real>* entriesOf(int clique, CliqueRow* row, const SapWorkspace& sap) {
  const auto size = static_cast<std::size_t>(sap.problem.numVelocities(clique));
  if (row->clique1 < 0) {
    row->clique1 = clique;
    row->row1.assign(size, 0);
  }
  if (row->clique1 == clique) return &row->row1;
  if (row->clique2 < 0) {
    row->clique2 = clique;
    row->row2.assign(size, 0);
  }
  return row->clique2 == clique ? &row->row2 : nullptr;
}

/// Columns of the velocity of the point, or of the angular one, along `direction`.
template <class WriteRows>
void addAlong(int clique, CliqueRow* row, SapWorkspace& sap, const WriteRows& writeRows) {
  std::vector<Real>* entries = entriesOf(clique, row, sap);
  if (entries == nullptr) return;  // the builder refuses what would need a third clique
  const auto n = entries->size();
  sap.scratch.assign(3 * n, 0);
  writeRows(sap.scratch.data(), static_cast<int>(n));
  for (std::size_t k = 0; k < n; ++k) (*entries)[k] += sap.scratch[k];
}

/// A matrix whose first column is what the row is along; the others are not used.
Mat3 alongFirst(const Vec3& direction) { return {{direction, Vec3{}, Vec3{}}}; }

}  // namespace

void addPointTo(const model::ModelData& model, const State& state, int body, const Vec3& p,
                const Vec3& direction, Real weight, CliqueRow* row, SapWorkspace& sap) {
  const int clique = cliqueOf(sap, body);
  if (clique < 0) {
    if (body >= 0) {
      const Vec3 arm = p - state.center[body];
      row->bias +=
          weight * dot(direction, state.velocity[body] + cross(state.angularVelocity[body], arm));
    }
    return;
  }
  addAlong(clique, row, sap, [&](Real* rows, int stride) {
    if (isFreeBody(model, body))
      addFreePointRows(p - state.center[body], alongFirst(direction), weight, rows, stride);
    else
      dynamics::addPointJacobian(sap.trees, model.linkOfBody[body], p, alongFirst(direction),
                                 weight, rows, stride);
  });
}

void addAngularTo(const model::ModelData& model, int body, const Vec3& axis, Real weight,
                  CliqueRow* row, SapWorkspace& sap) {
  const int clique = cliqueOf(sap, body);
  if (clique < 0) return;
  addAlong(clique, row, sap, [&](Real* rows, int stride) {
    if (isFreeBody(model, body))
      addFreeAngularRows(alongFirst(axis), weight, rows, stride);
    else
      dynamics::addAngularJacobian(sap.trees, model.linkOfBody[body], alongFirst(axis), weight,
                                   rows, stride);
  });
}

void addVelocityTo(int clique, int dof, Real weight, CliqueRow* row, const SapWorkspace& sap) {
  if (clique < 0) return;
  if (std::vector<Real>* entries = entriesOf(clique, row, sap)) (*entries)[dof] += weight;
}

void clearRow(CliqueRow* row) {
  row->clique1 = row->clique2 = -1;
  row->bias = 0;
}

void writeRow(const CliqueRow& row, Real weight, int c, SapWorkspace& sap, int at) {
  const auto copy = [&](int clique, const std::vector<Real>& entries) {
    if (clique < 0) return;
    Real* out = rowsOf(c, at, clique, sap);
    for (std::size_t k = 0; k < entries.size(); ++k) out[k] = weight * entries[k];
  };
  copy(row.clique1, row.row1);
  copy(row.clique2, row.row2);
  sap.problem.biasOf(c)[0] += weight * row.bias;
}

void velocityOfRows(int c, const Real* v, const SapWorkspace& sap, Real* vc) {
  const solver::SapConstraint& constraint = sap.problem.constraints[c];
  for (int row = 0; row < constraint.numRows; ++row)
    vc[row] = sap.problem.bias[constraint.firstRow + row];
  const auto add = [&](int clique, std::int64_t jacobian, int firstNode, int numNodes) {
    if (clique < 0) return;
    const Real* J = sap.problem.jacobian.data() + jacobian;
    const Real* velocities = v + sap.problem.firstVelocity[clique];
    if (constraint.dof1 >= 0) {
      vc[0] += J[0] * velocities[constraint.dof1];
      return;
    }
    const int n = numNodes > 0 ? 3 * numNodes : sap.problem.numVelocities(clique);
    for (int row = 0; row < constraint.numRows; ++row) {
      for (int k = 0; k < n; ++k) {
        const int at = numNodes > 0 ? 3 * sap.problem.nodes[firstNode + k / 3] + k % 3 : k;
        vc[row] += J[row * n + k] * velocities[at];
      }
    }
  };
  add(constraint.clique1, constraint.jacobian1, constraint.firstNode1, constraint.numNodes1);
  add(constraint.clique2, constraint.jacobian2, constraint.firstNode2, constraint.numNodes2);
}

Vec3 relativeVelocity(const State& state, const solver::ImpulsePoint& point) {
  const auto velocityOf = [&](int body, const Vec3& arm) {
    return state.velocity[body] + cross(state.angularVelocity[body], arm);
  };
  return velocityOf(point.block1, point.r1) - velocityOf(point.block2, point.r2);
}

Vec3 pointVelocity(const State& state, int body, const Vec3& p) {
  if (body < 0) return {};
  return state.velocity[body] + cross(state.angularVelocity[body], p - state.center[body]);
}

Vec3 pointBiasAcceleration(const model::ModelData& model, const State& state, int body,
                           const Vec3& p, const SapWorkspace& sap) {
  if (body < 0) return {};
  if (model.bodies[body].isJointed)
    return dynamics::pointBiasAcceleration(sap.trees, model.linkOfBody[body], p);
  const Vec3& w = state.angularVelocity[body];
  return cross(w, cross(w, p - state.center[body]));
}

Real rateOf(const CliqueRow& row, const SapWorkspace& sap, const Real* v) {
  Real sum = row.bias;
  const auto add = [&](int clique, const std::vector<Real>& entries) {
    if (clique < 0) return;
    const Real* velocities = v + sap.problem.firstVelocity[clique];
    for (std::size_t k = 0; k < entries.size(); ++k) sum += entries[k] * velocities[k];
  };
  add(row.clique1, row.row1);
  add(row.clique2, row.row2);
  return sum;
}

}  // namespace tangere::contact
