// SPDX-License-Identifier: Apache-2.0
#include "integrator/cvode_session.hpp"

#include "core/assert.hpp"

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tangere::integrator {

static_assert(sizeof(realtype) == sizeof(Real), "SUNDIALS must be built for double");

namespace {

/// What the first step may not exceed ten times: whoever looks, and when, must not change it [s].
constexpr Real kHorizon = 1;
constexpr Real kNever = 1e300;

}  // namespace

struct CvodeSession::Impl {
  Impl(OdeSystem& problem, const OdeOptions& given) : system(problem), options(given) {}
  ~Impl();

  void create();
  void attachSolver();
  void attachNewton();
  void collectCounts();

  // Called by CVODES.
  static int derivative(realtype t, N_Vector y, N_Vector yDot, void* self);
  static int crossings(realtype t, N_Vector y, realtype* z, void* self);
  static int weigh(N_Vector y, N_Vector weights, void* self);
  static int powers(realtype t, N_Vector y, N_Vector power, void* self);
  static int prepare(realtype t, N_Vector y, N_Vector f, SUNMatrix matrix, booleantype mayReuse,
                     booleantype* isNew, realtype gamma, void* self, N_Vector, N_Vector, N_Vector);
  static int solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, realtype);
  static int iterate(SUNNonlinearSolver solver, N_Vector y0, N_Vector correction, N_Vector weights,
                     realtype tolerance, booleantype callsSetup, void* memory);
  int iterateOnce(N_Vector correction, N_Vector weights, realtype tolerance, bool* isFresh);
  int iterateSteep(N_Vector correction, N_Vector weights, realtype tolerance, bool* isFresh);
  int accept(N_Vector correction, N_Vector weights, realtype tolerance);

  OdeSystem& system;
  OdeOptions options;
  SUNContext context = nullptr;
  void* memory = nullptr;
  N_Vector y = nullptr, work = nullptr, quadratures = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear = nullptr;
  SUNNonlinearSolver nonlinear = nullptr;
  // Of Newton's method, given by CVODES.
  SUNNonlinSolSysFn residual = nullptr;
  SUNNonlinSolLSetupFn setup = nullptr;
  SUNNonlinSolLSolveFn linearSolve = nullptr;
  SUNNonlinSolConvTestFn test = nullptr;
  void* testData = nullptr;
  void* cvodes = nullptr;
  N_Vector delta = nullptr;
  int maxIterations = 3, iteration = 0;
  long numIterations = 0, numFailures = 0;
  Real t = 0;
  std::vector<int> roots;
  OdeCounts before{};  ///< of all starts but the last one
  std::int64_t numJacobians = 0;
};

CvodeSession::CvodeSession(OdeSystem& system, const OdeOptions& options)
    : impl_(std::make_unique<Impl>(system, options)) {
  impl_->create();
}
CvodeSession::~CvodeSession() = default;

void CvodeSession::restart(Real t, std::span<const Real> y, Real stopTime) {
  Impl& impl = *impl_;
  impl.collectCounts();
  std::copy(y.begin(), y.end(), NV_DATA_S(impl.y));
  impl.t = t;
  std::fill(impl.roots.begin(), impl.roots.end(), 0);
  CVodeReInit(impl.memory, t, impl.y);
  if (impl.options.numQuadratures > 0) {
    N_VConst(0, impl.quadratures);
    CVodeQuadReInit(impl.memory, impl.quadratures);
  }
  CVodeSetStopTime(impl.memory, std::min(stopTime, kNever));
}

OdeStatus CvodeSession::step() {
  Impl& impl = *impl_;
  realtype reached = impl.t;
  const int flag = CVode(impl.memory, impl.t + kHorizon, impl.y, &reached, CV_ONE_STEP);
  impl.t = reached;
  std::fill(impl.roots.begin(), impl.roots.end(), 0);
  switch (flag) {
    case CV_SUCCESS:
      return OdeStatus::Ok;
    case CV_TSTOP_RETURN:
      return OdeStatus::StopTime;
    case CV_ROOT_RETURN:
      CVodeGetRootInfo(impl.memory, impl.roots.data());
      return OdeStatus::Root;
    case CV_ERR_FAILURE:
      return OdeStatus::ErrorTest;
    case CV_CONV_FAILURE:
    case CV_LSETUP_FAIL:
    case CV_LSOLVE_FAIL:
      return OdeStatus::Convergence;
    case CV_RHSFUNC_FAIL:
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR:
      return OdeStatus::NotEvaluated;
    case CV_TOO_MUCH_ACC:
      return OdeStatus::TooAccurate;
    default:
      return flag > 0 ? OdeStatus::Ok : OdeStatus::Other;
  }
}

Real CvodeSession::time() const { return impl_->t; }

std::span<const Real> CvodeSession::state() const {
  return {NV_DATA_S(impl_->y), static_cast<std::size_t>(impl_->options.size)};
}

std::span<const int> CvodeSession::roots() const { return impl_->roots; }

Real CvodeSession::lastStart() const {
  realtype end = 0, length = 0;
  CVodeGetCurrentTime(impl_->memory, &end);
  CVodeGetLastStep(impl_->memory, &length);
  return end - length;
}

void CvodeSession::stateAt(Real t, std::span<Real> y) {
  if (t == impl_->t || CVodeGetDky(impl_->memory, t, 0, impl_->work) != CV_SUCCESS) {
    std::copy_n(NV_DATA_S(impl_->y), y.size(), y.begin());
    return;
  }
  std::copy_n(NV_DATA_S(impl_->work), y.size(), y.begin());
}

void CvodeSession::quadraturesAt(Real t, std::span<Real> out) {
  std::fill(out.begin(), out.end(), Real(0));
  if (impl_->options.numQuadratures == 0) return;
  if (CVodeGetQuadDky(impl_->memory, t, 0, impl_->quadratures) != CV_SUCCESS) return;
  std::copy_n(NV_DATA_S(impl_->quadratures), out.size(), out.begin());
}

int CvodeSession::worstComponent() {
  Impl& impl = *impl_;
  if (CVodeGetEstLocalErrors(impl.memory, impl.work) != CV_SUCCESS) return -1;
  const Real* error = NV_DATA_S(impl.work);
  const Real* y = NV_DATA_S(impl.y);
  int worst = -1;
  Real largest = -1;
  for (int i = 0; i < impl.options.size; ++i) {
    const Real scale = std::min(std::fabs(y[i]), impl.options.largestScale[i]);
    const Real weighted = std::fabs(error[i]) /
                          (impl.options.relativeTolerance * scale + impl.options.absoluteTolerance);
    if (weighted > largest || !std::isfinite(error[i])) {
      largest = std::isfinite(error[i]) ? weighted : kNever;
      worst = i;
    }
  }
  return worst;
}

OdeCounts CvodeSession::counts() const {
  long steps = 0, derivatives = 0, crossings = 0;
  CVodeGetNumSteps(impl_->memory, &steps);
  CVodeGetNumRhsEvals(impl_->memory, &derivatives);
  CVodeGetNumGEvals(impl_->memory, &crossings);
  OdeCounts sum = impl_->before;
  sum.numSteps += steps;
  sum.numDerivatives += derivatives;
  sum.numCrossings += crossings;
  sum.numJacobians = impl_->numJacobians;
  return sum;
}

const char* odeStatusName(OdeStatus status) {
  switch (status) {
    case OdeStatus::Ok:
      return "ok";
    case OdeStatus::Root:
      return "a root";
    case OdeStatus::StopTime:
      return "the end";
    case OdeStatus::ErrorTest:
      return "no step is short enough for the tolerances";
    case OdeStatus::Convergence:
      return "Newton's method does not converge";
    case OdeStatus::NotEvaluated:
      return "the accelerations are not finite";
    case OdeStatus::TooAccurate:
      return "the tolerances are below rounding";
    case OdeStatus::Other:
      return "the integrator gave up";
  }
  return "unknown";
}

CvodeSession::Impl::~Impl() {
  if (memory != nullptr) CVodeFree(&memory);
  if (nonlinear != nullptr && options.method == EventMethod::Adams) SUNNonlinSolFree(nonlinear);
  if (nonlinear != nullptr && options.method == EventMethod::Bdf) SUNNonlinSolFreeEmpty(nonlinear);
  if (linear != nullptr) SUNLinSolFreeEmpty(linear);
  if (matrix != nullptr) SUNMatFreeEmpty(matrix);
  for (N_Vector vector : {y, work, quadratures, delta}) {
    if (vector != nullptr) N_VDestroy(vector);
  }
  if (context != nullptr) SUNContext_Free(&context);
}

void CvodeSession::Impl::create() {
  const auto require = [](bool isOk) {
    TANGERE_REQUIRE(isOk, "the integrator could not be made: out of memory");
  };
  require(SUNContext_Create(nullptr, &context) == 0);
  y = N_VNew_Serial(options.size, context);
  require(y != nullptr);
  work = N_VClone(y);
  require(work != nullptr);
  N_VConst(0, y);
  memory = CVodeCreate(options.method == EventMethod::Bdf ? CV_BDF : CV_ADAMS, context);
  require(memory != nullptr);
  const auto isQuiet = [](int, const char*, const char*, char*, void*) {};
  bool isOk = CVodeSetErrHandlerFn(memory, isQuiet, nullptr) == CV_SUCCESS &&
              CVodeInit(memory, derivative, 0, y) == CV_SUCCESS &&
              CVodeWFtolerances(memory, weigh) == CV_SUCCESS &&
              CVodeSetUserData(memory, this) == CV_SUCCESS &&
              CVodeSetMaxHnilWarns(memory, -1) == CV_SUCCESS;
  if (options.maxStep > 0) isOk = isOk && CVodeSetMaxStep(memory, options.maxStep) == CV_SUCCESS;
  if (options.numRoots > 0) {
    roots.assign(static_cast<std::size_t>(options.numRoots), 0);
    isOk = isOk && CVodeRootInit(memory, options.numRoots, crossings) == CV_SUCCESS &&
           CVodeSetNoInactiveRootWarn(memory) == CV_SUCCESS;
    std::vector<int> directions(roots.size(), 0);
    if (options.rootDirections != nullptr)
      std::copy_n(options.rootDirections, directions.size(), directions.begin());
    isOk = isOk && CVodeSetRootDirection(memory, directions.data()) == CV_SUCCESS;
  }
  if (options.numQuadratures > 0) {
    quadratures = N_VNew_Serial(options.numQuadratures, context);
    require(quadratures != nullptr);
    N_VConst(0, quadratures);
    isOk = isOk && CVodeQuadInit(memory, powers, quadratures) == CV_SUCCESS &&
           CVodeSetQuadErrCon(memory, SUNFALSE) == CV_SUCCESS;
  }
  require(isOk);
  attachSolver();
}

void CvodeSession::Impl::attachSolver() {
  if (options.method == EventMethod::Adams) {
    nonlinear = SUNNonlinSol_FixedPoint(y, 0, context);
    TANGERE_REQUIRE(
        nonlinear != nullptr && CVodeSetNonlinearSolver(memory, nonlinear) == CV_SUCCESS,
        "the integrator could not be made: out of memory");
    return;
  }
  // The matrix is that of the system: SUNDIALS only carries it around.
  matrix = SUNMatNewEmpty(context);
  linear = SUNLinSolNewEmpty(context);
  TANGERE_REQUIRE(matrix != nullptr && linear != nullptr,
                  "the integrator could not be made: out of memory");
  matrix->content = this;
  matrix->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
  linear->content = this;
  linear->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
  linear->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
  linear->ops->initialize = [](SUNLinearSolver) { return 0; };
  linear->ops->setup = [](SUNLinearSolver, SUNMatrix) { return 0; };
  linear->ops->solve = solve;
  TANGERE_REQUIRE(CVodeSetLinearSolver(memory, linear, matrix) == CV_SUCCESS &&
                      CVodeSetLinSysFn(memory, prepare) == CV_SUCCESS,
                  "the integrator could not be made: out of memory");
  attachNewton();
}

void CvodeSession::Impl::attachNewton() {
  nonlinear = SUNNonlinSolNewEmpty(context);
  delta = N_VClone(y);
  TANGERE_REQUIRE(nonlinear != nullptr && delta != nullptr,
                  "the integrator could not be made: out of memory");
  nonlinear->content = this;
  SUNNonlinearSolver_Ops ops = nonlinear->ops;
  ops->gettype = [](SUNNonlinearSolver) { return SUNNONLINEARSOLVER_ROOTFIND; };
  ops->initialize = [](SUNNonlinearSolver) { return SUN_NLS_SUCCESS; };
  ops->solve = iterate;
  ops->setsysfn = [](SUNNonlinearSolver solver, SUNNonlinSolSysFn f) {
    static_cast<Impl*>(solver->content)->residual = f;
    return SUN_NLS_SUCCESS;
  };
  ops->setlsetupfn = [](SUNNonlinearSolver solver, SUNNonlinSolLSetupFn f) {
    static_cast<Impl*>(solver->content)->setup = f;
    return SUN_NLS_SUCCESS;
  };
  ops->setlsolvefn = [](SUNNonlinearSolver solver, SUNNonlinSolLSolveFn f) {
    static_cast<Impl*>(solver->content)->linearSolve = f;
    return SUN_NLS_SUCCESS;
  };
  ops->setctestfn = [](SUNNonlinearSolver solver, SUNNonlinSolConvTestFn f, void* data) {
    static_cast<Impl*>(solver->content)->test = f;
    static_cast<Impl*>(solver->content)->testData = data;
    return SUN_NLS_SUCCESS;
  };
  ops->setmaxiters = [](SUNNonlinearSolver solver, int most) {
    static_cast<Impl*>(solver->content)->maxIterations = most;
    return SUN_NLS_SUCCESS;
  };
  ops->getnumiters = [](SUNNonlinearSolver solver, long* count) {
    *count = static_cast<Impl*>(solver->content)->numIterations;
    return SUN_NLS_SUCCESS;
  };
  ops->getcuriter = [](SUNNonlinearSolver solver, int* now) {
    *now = static_cast<Impl*>(solver->content)->iteration;
    return SUN_NLS_SUCCESS;
  };
  ops->getnumconvfails = [](SUNNonlinearSolver solver, long* count) {
    *count = static_cast<Impl*>(solver->content)->numFailures;
    return SUN_NLS_SUCCESS;
  };
  TANGERE_REQUIRE(CVodeSetNonlinearSolver(memory, nonlinear) == CV_SUCCESS,
                  "the integrator could not be made: out of memory");
}

/// Newton's method with a matrix that is kept while it does. Where friction is steep a matrix of
/// sticking makes the corrections of something that slides too small, and that looks like
/// convergence: the matrix is then made anew.
int CvodeSession::Impl::iterate(SUNNonlinearSolver solver, N_Vector, N_Vector correction,
                                N_Vector weights, realtype tolerance, booleantype callsSetup,
                                void* memory) {
  Impl& impl = *static_cast<Impl*>(solver->content);
  impl.cvodes = memory;
  impl.numIterations = impl.numFailures = 0;  // CVODES sums them up
  bool isBad = false;
  while (true) {
    int flag = impl.residual(correction, impl.delta, memory);
    if (flag != SUN_NLS_SUCCESS) return flag;
    booleantype isFresh = SUNFALSE;
    if (callsSetup != SUNFALSE) {
      flag = impl.setup(isBad ? SUNTRUE : SUNFALSE, &isFresh, memory);
      if (flag != SUN_NLS_SUCCESS) return flag;
    }
    bool isNew = isFresh != SUNFALSE;
    flag = impl.iterateOnce(correction, weights, tolerance, &isNew);
    if (flag == SUN_NLS_SUCCESS) return flag;
    ++impl.numFailures;
    if (flag < 0 || isNew) return flag;
    isBad = true;
    callsSetup = SUNTRUE;
    N_VConst(0, correction);
  }
}

/// From the residual in `delta` until the corrections are small; `isFresh`: the matrix is that of
/// this step.
int CvodeSession::Impl::iterateOnce(N_Vector correction, N_Vector weights, realtype tolerance,
                                    bool* isFresh) {
  iteration = 0;
  if (system.isSteep()) return iterateSteep(correction, weights, tolerance, isFresh);
  while (true) {
    ++numIterations;
    N_VScale(-1, delta, delta);
    int flag = linearSolve(delta, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
    N_VLinearSum(1, correction, 1, delta, correction);
    flag = test(nonlinear, correction, delta, tolerance, weights, testData);
    if (flag != SUN_NLS_CONTINUE) return flag;
    if (++iteration >= maxIterations) return SUN_NLS_CONV_RECVR;
    flag = residual(correction, delta, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
  }
}

/// The same where friction is steep. It takes two small corrections: what friction would do with
/// the error that one leaves would look like an error of the step.
int CvodeSession::Impl::iterateSteep(N_Vector correction, N_Vector weights, realtype tolerance,
                                     bool* isFresh) {
  constexpr int kMaxRefreshes = 30, kMaxRounds = 8, kMaxGrowths = 2;
  int numRefreshes = 0, numRounds = 0, numGrowths = 0;
  bool wasSmall = false;
  Real last = kNever;
  while (true) {
    ++numIterations;
    N_VScale(-1, delta, delta);
    int flag = linearSolve(delta, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
    N_VLinearSum(1, correction, 1, delta, correction);
    const Real size = N_VWrmsNorm(delta, weights);
    const bool isSmall = size <= tolerance;
    if (isSmall && wasSmall) return accept(correction, weights, tolerance);
    if (size > 2 * last && ++numGrowths >= kMaxGrowths) return SUN_NLS_CONV_RECVR;
    flag = residual(correction, delta, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
    last = size;
    wasSmall = isSmall;
    if (!system.isMatrixStale(isSmall)) {
      if (++numRounds >= kMaxRounds) return SUN_NLS_CONV_RECVR;
      continue;
    }
    if (++numRefreshes > kMaxRefreshes) return SUN_NLS_CONV_RECVR;
    booleantype isNew = SUNFALSE;
    flag = setup(SUNTRUE, &isNew, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
    *isFresh = true;
    wasSmall = false;
    last = kNever;
    numRounds = numGrowths = 0;
  }
}

/// Tells CVODES the size of the whole correction, which its error test is made of: its own test of
/// convergence notes that, from the second iteration on.
int CvodeSession::Impl::accept(N_Vector correction, N_Vector weights, realtype tolerance) {
  iteration = 0;
  const int flag = test(nonlinear, correction, correction, tolerance, weights, testData);
  if (flag != SUN_NLS_CONTINUE) return flag;
  iteration = 1;
  return test(nonlinear, correction, delta, tolerance, weights, testData);
}

void CvodeSession::Impl::collectCounts() {
  long steps = 0, derivatives = 0, crossingsMade = 0;
  CVodeGetNumSteps(memory, &steps);
  CVodeGetNumRhsEvals(memory, &derivatives);
  CVodeGetNumGEvals(memory, &crossingsMade);
  before.numSteps += steps;
  before.numDerivatives += derivatives;
  before.numCrossings += crossingsMade;
}

int CvodeSession::Impl::derivative(realtype t, N_Vector y, N_Vector yDot, void* self) {
  constexpr int kTryShorter = 1;
  OdeSystem& system = static_cast<Impl*>(self)->system;
  return system.derivative(t, NV_DATA_S(y), NV_DATA_S(yDot)) ? 0 : kTryShorter;
}

int CvodeSession::Impl::crossings(realtype t, N_Vector y, realtype* z, void* self) {
  static_cast<Impl*>(self)->system.crossings(t, NV_DATA_S(y), z);
  return 0;
}

int CvodeSession::Impl::weigh(N_Vector y, N_Vector weights, void* self) {
  const OdeOptions& options = static_cast<Impl*>(self)->options;
  const Real* value = NV_DATA_S(y);
  Real* weight = NV_DATA_S(weights);
  for (int i = 0; i < options.size; ++i) {
    const Real scale = std::min(std::fabs(value[i]), options.largestScale[i]);
    weight[i] = 1 / (options.relativeTolerance * scale + options.absoluteTolerance);
  }
  return 0;
}

int CvodeSession::Impl::powers(realtype t, N_Vector y, N_Vector power, void* self) {
  static_cast<Impl*>(self)->system.powers(t, NV_DATA_S(y), NV_DATA_S(power));
  return 0;
}

int CvodeSession::Impl::prepare(realtype t, N_Vector y, N_Vector, SUNMatrix, booleantype mayReuse,
                                booleantype* isNew, realtype gamma, void* self, N_Vector, N_Vector,
                                N_Vector) {
  constexpr int kTryShorter = 1;
  auto* impl = static_cast<Impl*>(self);
  const int made = impl->system.prepareSolve(t, NV_DATA_S(y), gamma, mayReuse != SUNFALSE);
  if (made < 0) return kTryShorter;
  *isNew = made > 0 ? SUNTRUE : SUNFALSE;
  impl->numJacobians += made;
  return 0;
}

int CvodeSession::Impl::solve(SUNLinearSolver solver, SUNMatrix, N_Vector x, N_Vector b, realtype) {
  static_cast<Impl*>(solver->content)->system.solve(NV_DATA_S(b), NV_DATA_S(x));
  return 0;
}

}  // namespace tangere::integrator
