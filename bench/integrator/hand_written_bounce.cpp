// SPDX-License-Identifier: Apache-2.0
//
// Two states, dense BDF with its Jacobian, one root for touch and one for release with the
// hysteresis of the event solver, and a restart at each.
#include "hand_written_bounce.hpp"

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>

namespace tangere::bench {

namespace {

constexpr double kEps = 1e-13;  // [m]

struct User {
  double g, k, invMass, d;
  bool isTouching;
};

int derivative(realtype, N_Vector y, N_Vector ydot, void* data) {
  const User* u = static_cast<User*>(data);
  const realtype* x = NV_DATA_S(y);
  realtype* out = NV_DATA_S(ydot);
  out[0] = x[1];
  out[1] = -u->g;
  if (u->isTouching) {
    const double depth = -(x[0] + kEps);
    out[1] += u->invMass * u->k * depth * std::sqrt(std::fabs(depth)) * (1 - u->d * x[1]);
  }
  return 0;
}

int jacobian(realtype, N_Vector y, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector,
             N_Vector) {
  const User* u = static_cast<User*>(data);
  const realtype* x = NV_DATA_S(y);
  SM_ELEMENT_D(J, 0, 0) = 0;
  SM_ELEMENT_D(J, 0, 1) = 1;
  SM_ELEMENT_D(J, 1, 0) = 0;
  SM_ELEMENT_D(J, 1, 1) = 0;
  if (u->isTouching) {
    const double depth = -(x[0] + kEps), root = std::sqrt(std::fabs(depth));
    SM_ELEMENT_D(J, 1, 0) = -1.5 * u->invMass * u->k * root * (1 - u->d * x[1]);
    SM_ELEMENT_D(J, 1, 1) = -u->d * u->invMass * u->k * depth * root;
  }
  return 0;
}

int roots(realtype, N_Vector y, realtype* z, void* data) {
  const User* u = static_cast<User*>(data);
  const realtype s = NV_Ith_S(y, 0);
  z[0] = u->isTouching ? s + kEps : -42;
  z[1] = u->isTouching ? 42 : s + 3 * kEps;
  return 0;
}

}  // namespace

BounceResult runHandWrittenBounce(const BounceProblem& problem) {
  BounceResult out;
  User user{problem.g, problem.stiffness, 1 / problem.mass, 0, false};

  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0) return out;
  N_Vector y = N_VNew_Serial(2, context);
  NV_Ith_S(y, 0) = problem.height;
  NV_Ith_S(y, 1) = 0;
  void* cvode = CVodeCreate(CV_BDF, context);
  CVodeInit(cvode, derivative, 0, y);
  CVodeSStolerances(cvode, problem.relativeTolerance, problem.absoluteTolerance);
  CVodeSetUserData(cvode, &user);
  CVodeSetMaxNumSteps(cvode, 1000000);
  SUNMatrix matrix = SUNDenseMatrix(2, 2, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  CVodeSetLinearSolver(cvode, solver, matrix);
  CVodeSetJacFn(cvode, jacobian);
  CVodeRootInit(cvode, 2, roots);
  int directions[2] = {1, -1};
  CVodeSetRootDirection(cvode, directions);
  CVodeSetNoInactiveRootWarn(cvode);
  CVodeSetStopTime(cvode, problem.endTime);

  const auto addCounts = [&] {
    long steps = 0, derivatives = 0, jacobians = 0, zs = 0;
    CVodeGetNumSteps(cvode, &steps);
    CVodeGetNumRhsEvals(cvode, &derivatives);
    CVodeGetNumJacEvals(cvode, &jacobians);
    CVodeGetNumGEvals(cvode, &zs);
    out.numSteps += steps;
    out.numDerivatives += derivatives;
    out.numJacobians += jacobians;
    out.numRoots += zs;
  };

  realtype time = 0;
  for (;;) {
    const int status = CVode(cvode, problem.endTime, y, &time, CV_NORMAL);
    if (status == CV_ROOT_RETURN) {
      ++out.numEvents;
      user.isTouching = NV_Ith_S(y, 0) < -2 * kEps;
      if (user.isTouching) {
        if (out.firstTouch == 0) out.firstTouch = time;
        const double speed = std::fabs(NV_Ith_S(y, 1)), e = problem.restitution;
        user.d = problem.maxDamping;
        if (speed > problem.smallSpeed && e > 0)
          user.d = std::min(user.d, 8 * (1 - e) / (5 * e * speed));
      }
      addCounts();
      if (CVodeReInit(cvode, time, y) != CV_SUCCESS) break;
      CVodeSetStopTime(cvode, problem.endTime);
      continue;
    }
    out.isDone = status == CV_SUCCESS || status == CV_TSTOP_RETURN;
    break;
  }
  addCounts();
  out.height = NV_Ith_S(y, 0);
  out.speed = NV_Ith_S(y, 1);

  CVodeFree(&cvode);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return out;
}

}  // namespace tangere::bench
