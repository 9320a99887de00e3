// SPDX-License-Identifier: Apache-2.0
//
// The extension point of the SAP solver: constraints of your own between bodies, solved together
// with contacts, joints, limits and drives. docs/add_a_contact_handler.md has a worked example.
//
// A constraint sees up to six velocities of two bodies against each other,
//
//   v_c = J v + b,     one row for each,
//
// and is a convex, once differentiable cost l(v_c). The engine makes J, J x and J^T x from the
// rows; the handler gives the cost, its gradient (less the impulse gamma = -dl/dv_c) and its
// Hessian.
#pragma once

#include <tangere/types.hpp>

#include <array>

namespace tangere {

struct State;
namespace model {
struct ModelData;
}

/// The bodies at the start of a step. Bodies are indices of the Model; -1 is the world.
class HandlerView {
 public:
  HandlerView(const model::ModelData& model, const State& state, Real dt)
      : model_(&model), state_(&state), dt_(dt) {}

  [[nodiscard]] Real dt() const { return dt_; }
  [[nodiscard]] Real time() const;
  [[nodiscard]] int numBodies() const;
  /// X_WB.
  [[nodiscard]] Transform pose(int body) const;
  [[nodiscard]] Vec3 centerOfMass(int body) const;
  /// Of the point of the body that is at `point` (world) [m/s].
  [[nodiscard]] Vec3 velocityAt(int body, const Vec3& point) const;
  /// World [rad/s].
  [[nodiscard]] Vec3 angularVelocity(int body) const;

 private:
  const model::ModelData* model_;
  const State* state_;
  Real dt_;
};

/// One row: the velocity along `direction` of body 1 at point 1 less that of body 2 at point 2
/// [m/s]; or, angular, of their angular velocities [rad/s]. Everything is in the world. A positive
/// impulse pushes body 1 along `direction` and body 2 the other way.
struct ConstraintRow {
  Vec3 direction{};  ///< any length, which scales the row
  Vec3 point1{}, point2{};
  bool isAngular = false;
};

struct ConstraintRows {
  static constexpr int kMaxRows = 6;
  int body1 = -1, body2 = -1;  ///< -1: the world; not the same
  int numRows = 0;
  std::array<ConstraintRow, kMaxRows> row{};
};

/// Finds its constraints at the start of every step and evaluates them while the solver looks for
/// the velocities of its end. It must be a function of the view: a State that is saved does not
/// hold what a handler remembers. Nothing here may throw.
class ContactHandler {
 public:
  virtual ~ContactHandler() = default;

  /// How many constraints act in this step. With error control, a step may be begun several times.
  [[nodiscard]] virtual int detect(const HandlerView& view) = 0;

  /// The rows of constraint i < detect(), in the places of the start of the step.
  [[nodiscard]] virtual ConstraintRows rows(int i) const = 0;

  /// Once before the solve. `delassus` is J A^-1 J^T (numRows x numRows, row after row), the
  /// inverse mass that the rows feel: what a regularization is best scaled with.
  virtual void prepare(int i, Real dt, int numRows, const Real* delassus) = 0;

  /// The cost l(v_c) [J]; writes gamma = -dl/dv_c [N s, N m s] and, where `hessian` is not null,
  /// d2l/dv_c2 (row after row, symmetric, positive semidefinite). Called from several threads at
  /// once for different i; must give the same for the same v_c.
  [[nodiscard]] virtual Real evaluate(int i, const Real* vc, Real* gamma, Real* hessian) const = 0;
};

/// What one constraint of a handler did in the last step.
struct HandlerForce {
  int constraint = 0;  ///< as counted by its handler
  int body1 = -1, body2 = -1;
  int numRows = 0;
  std::array<Real, ConstraintRows::kMaxRows> velocity{};  ///< v_c at the end of the step
  std::array<Real, ConstraintRows::kMaxRows> force{};     ///< of each row, on body 1 [N, N m]
};

}  // namespace tangere
