// SPDX-License-Identifier: Apache-2.0
#include "contact/recovery.hpp"

#include "solver/kernels/regularization.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tangere::contact {

namespace {

/// Whether the joints move nothing along the row: its inverse mass is that of a lever of less than
/// a ten thousandth of the size of what turns.
constexpr Real kNoMobility = 1e-8;
/// A point at a lever r about an axis goes no farther than 2 r, however far it turns.
constexpr Real kMaxTurn = 2;  // [rad]
/// Overlaps that go away more slowly, with a lever longer than that, ask no joint for more than its
/// limit: nothing has to be solved for them.
constexpr Real kSlow = 1e-3;   // [m/s]
constexpr Real kLever = 1e-4;  // [m/rad or m/m]
/// Recoveries slower than this do not get joints beyond their limits together.
constexpr Real kFast = 0.01;  // [m/s]

/// A row over the velocities of one or two cliques; numVelocities entries each.
struct RecoveryRow {
  int clique1 = -1, clique2 = -1;
  const Real* row1 = nullptr;
  const Real* row2 = nullptr;
};

Real rateLimit(const model::ModelData& model, const model::Tree& tree, int k) {
  const model::TreeDof& dof = model.dofs[tree.firstDof + k];
  const model::TreeJoint& joint = model.treeJoints[dof.joint];
  const bool isMoving = joint.type == JointType::Free && dof.v - joint.v < 3;
  return isMoving ? kMaxRecoverySpeed : maxRecoveryRate(joint.type);
}

/// The row times the inverse mass matrix of a free body, which has no entry between its centre and
/// its turning.
Real freeMobility(const Real* row, const Real* A) {
  Real sum = 0;
  for (int i = 0; i < 3; ++i) sum += row[i] * row[i] / A[7 * i];
  const auto at = [&](int i, int j) { return A[6 * (3 + i) + 3 + j]; };
  const Mat3 inertia{{{at(0, 0), at(1, 0), at(2, 0)},
                      {at(0, 1), at(1, 1), at(2, 1)},
                      {at(0, 2), at(1, 2), at(2, 2)}}};
  const Vec3 &x = inertia.col[0], &y = inertia.col[1], &z = inertia.col[2];
  const Real determinant = dot(x, cross(y, z));
  if (!(determinant > 0)) return sum;
  const Vec3 moment{row[3], row[4], row[5]};
  // Cramer's rule; the matrix is symmetric.
  const Vec3 turn{dot(moment, cross(y, z)), dot(x, cross(moment, z)), dot(x, cross(y, moment))};
  return sum + dot(moment, turn) / determinant;
}

/// What one side of the row moves for a unit impulse.
struct Response {
  Real mobility = 0;  ///< of the row [1/kg, or per inertia]
  Real least = 0;     ///< below it there is none to speak of
  Real worst = 0;     ///< largest rate of a joint over its limit
  Real turn = 0;      ///< largest rate of a turning joint

  friend Response operator+(const Response& a, const Response& b) {
    return {a.mobility + b.mobility, std::max(a.least, b.least), std::max(a.worst, b.worst),
            std::max(a.turn, b.turn)};
  }
};

Response responseOf(const model::ModelData& model, int clique, const Real* row, SapWorkspace& sap) {
  Response out;
  if (clique < 0) return out;
  const int treeIndex = sap.treeOfClique[clique];
  const model::Tree& tree = model.trees[treeIndex];
  if (tree.isFreeBody) {
    out.mobility = freeMobility(row, sap.problem.matrix(clique));
    return out;
  }
  sap.scratch.assign(row, row + tree.numDofs);
  Real* x = sap.scratch.data();
  dynamics::solveMassMatrix(sap.trees, treeIndex, x);
  for (int k = 0; k < tree.numDofs; ++k) {
    out.mobility += row[k] * x[k];
    const Real rate = std::fabs(x[k]), limit = rateLimit(model, tree, k);
    out.worst = std::max(out.worst, rate / limit);
    if (limit == kMaxRecoveryRate) out.turn = std::max(out.turn, rate);
  }
  const Real mass = sap.trees.frame[static_cast<std::size_t>(treeIndex)].mass;
  out.least = mass > 0 ? kNoMobility / mass : 0;
  return out;
}

Response responseOf(const model::ModelData& model, const RecoveryRow& row, SapWorkspace& sap) {
  return responseOf(model, row.clique1, row.row1, sap) +
         responseOf(model, row.clique2, row.row2, sap);
}

/// At most `speed`, the rate of the row that is asked for: such that the impulse that gives it to
/// bodies at rest moves no joint faster than its limit. Zero where the joints leave the row no way
/// to move, as at a point on the axis of a hinge: what is there of the row is rounding, and an
/// impulse for it would be without bound; or none of `depth`, how far it has to go. Free bodies are
/// not limited.
Real limitSpeed(const Response& response, Real speed, Real depth) {
  if (!(response.mobility > response.least)) return 0;
  if (response.turn * depth > kMaxTurn * response.mobility) return 0;
  if (response.worst * speed > response.mobility) return response.mobility / response.worst;
  return speed;
}

/// Speed that an equality needs as a target to carry ten times the weight of everything.
Real carryingSpeed(const model::ModelData& model, const solver::SapConstraint& constraint,
                   const Response& response, const SapWorkspace& sap) {
  constexpr Real kReserve = 10;
  if (constraint.kind != solver::SapKind::Bilateral) return 0;
  return kReserve *
         kernel::nearRigidRegularization(model.options.sap.nearRigidBilateral, response.mobility) *
         sap.problem.dt * sap.weight;
}

bool hasLever(const Real* row, int n) {
  return std::any_of(row, row + n, [](Real entry) { return std::fabs(entry) >= kLever; });
}

}  // namespace

void limitContactRecovery(const model::ModelData& model, int c, Real depth, Real relaxationTime,
                          Real* gap, SapWorkspace& sap) {
  const solver::SapConstraint& constraint = sap.problem.constraints[c];
  const int n1 = sap.problem.numVelocities(constraint.clique1);
  const int n2 = constraint.clique2 >= 0 ? sap.problem.numVelocities(constraint.clique2) : 0;
  Real* rows1 = sap.problem.jacobian1(c);
  Real* rows2 = sap.problem.jacobian2(c);
  const RecoveryRow normal{constraint.clique1, constraint.clique2, rows1 + 2 * n1, rows2 + 2 * n2};
  const Real duration = sap.problem.dt + relaxationTime;
  const Real speed = -*gap / duration;
  if (speed <= kSlow && (hasLever(normal.row1, n1) || hasLever(normal.row2, n2))) return;
  const Real limited =
      limitSpeed(responseOf(model, normal, sap), std::max<Real>(speed, kSlow), depth);
  if (limited > 0) {
    *gap = std::max(*gap, -limited * duration);
    if (-*gap > kFast * duration) sap.recovering.push_back(c);
    return;
  }
  std::fill_n(rows1, 3 * n1, Real(0));
  std::fill_n(rows2, 3 * n2, Real(0));
  *gap = std::max<Real>(*gap, 0);
}

bool shortenRecovery(const model::ModelData& model, SapWorkspace& sap) {
  constexpr Real kFarBeyond = 2;
  Real worst = 0;
  const auto look = [&](int clique) {
    if (!isTree(model, sap, clique)) return;
    const model::Tree& tree = model.trees[sap.treeOfClique[clique]];
    const int first = sap.problem.firstVelocity[clique];
    for (int k = 0; k < tree.numDofs; ++k) {
      const Real gained = std::fabs(sap.problem.v[first + k] - sap.problem.vStar[first + k]);
      worst = std::max(worst, gained / rateLimit(model, tree, k));
    }
  };
  for (const int c : sap.recovering) {
    look(sap.problem.constraints[c].clique1);
    look(sap.problem.constraints[c].clique2);
  }
  if (!(worst > kFarBeyond)) return false;
  for (const int c : sap.recovering) *gapOf(c, sap.problem) /= worst;
  return true;
}

void limitRowRecovery(const model::ModelData& model, int c, Real speed, Real relaxationTime,
                      SapWorkspace& sap) {
  const solver::SapConstraint& constraint = sap.problem.constraints[c];
  Real* target = sap.problem.target(c);
  // A limit that is kept puts nothing right.
  const bool isWrong = constraint.kind == solver::SapKind::Limit ? *target < 0 : *target != 0;
  if (!isWrong) return;
  const Real duration = sap.problem.dt + relaxationTime;
  const Response response = responseOf(
      model,
      {constraint.clique1, constraint.clique2, sap.problem.jacobian1(c), sap.problem.jacobian2(c)},
      sap);
  const Real limited =
      limitSpeed(response, speed, 0) + carryingSpeed(model, constraint, response, sap);
  if (limited * duration < std::fabs(*target)) *target = std::copysign(limited * duration, *target);
}

void limitVectorRecovery(const model::ModelData& model, int c, int first, Real speed,
                         Real relaxationTime, SapWorkspace& sap) {
  const solver::SapConstraint& constraint = sap.problem.constraints[c];
  Real* target = sap.problem.target(c) + first;
  const Vec3 error{target[0], target[1], target[2]};
  const Real length = norm(error);
  if (!(length > 0)) return;
  const Real along[3] = {error.x / length, error.y / length, error.z / length};
  const auto combine = [&](int clique, const Real* rows, std::vector<Real>* out) {
    if (clique < 0) return;
    const int n = sap.problem.numVelocities(clique);
    out->assign(static_cast<std::size_t>(n), 0);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < n; ++k) (*out)[k] += along[i] * rows[(first + i) * n + k];
    }
  };
  combine(constraint.clique1, sap.problem.jacobian1(c), &sap.recoveryRow1);
  combine(constraint.clique2, sap.problem.jacobian2(c), &sap.recoveryRow2);
  const Real duration = sap.problem.dt + relaxationTime;
  const Response response = responseOf(
      model,
      {constraint.clique1, constraint.clique2, sap.recoveryRow1.data(), sap.recoveryRow2.data()},
      sap);
  const Real limited =
      limitSpeed(response, speed, 0) + carryingSpeed(model, constraint, response, sap);
  if (!(limited * duration < length)) return;
  for (int i = 0; i < 3; ++i) target[i] = along[i] * limited * duration;
}

}  // namespace tangere::contact
