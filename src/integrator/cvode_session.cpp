// SPDX-License-Identifier: Apache-2.0
#include "integrator/cvode_session.hpp"

#include "core/assert.hpp"
#include "core/require_memory.hpp"

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <vector>

namespace tangere::integrator {

static_assert(sizeof(realtype) == sizeof(Real), "SUNDIALS must be built for double");

namespace {

/// What the first step may not exceed ten times: whoever looks, and when, must not change it [s].
constexpr Real kHorizon = 1;
constexpr Real kNever = 1e300;

// Vectors: `length` entries that error control sees, the quadratures behind them, and room up to a
// whole block. Their sums and scalings, of which a step has fifty, are ours: Debian builds those of
// SUNDIALS without optimization, and most problems are so small that the calls are what counts.
constexpr int kBlock = 4;
typedef Real Block
    __attribute__((vector_size(kBlock * sizeof(Real)), aligned(sizeof(Real)), may_alias));

int numBlocks(N_Vector v) {
  return static_cast<int>(NV_LENGTH_S(v) + kMaxQuadratures + kBlock - 1) / kBlock;
}
Block* blocksOf(N_Vector v) { return reinterpret_cast<Block*>(NV_DATA_S(v)); }

N_Vector cloneVector(N_Vector v) {
  N_Vector out = N_VCloneEmpty_Serial(v);
  if (out == nullptr) return nullptr;
  NV_DATA_S(out) =
      static_cast<Real*>(std::calloc(static_cast<std::size_t>(numBlocks(v)), sizeof(Block)));
  NV_OWN_DATA_S(out) = SUNTRUE;
  if (NV_DATA_S(out) != nullptr) return out;
  N_VDestroy(out);
  return nullptr;
}

void setConstant(realtype c, N_Vector z) { std::fill_n(NV_DATA_S(z), numBlocks(z) * kBlock, c); }

void scale(realtype c, N_Vector x, N_Vector z) {
  const Block* from = blocksOf(x);
  Block* to = blocksOf(z);
  for (int i = 0, n = numBlocks(z); i < n; ++i) to[i] = c * from[i];
}

void addScaled(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z) {
  const Block *first = blocksOf(x), *second = blocksOf(y);
  Block* to = blocksOf(z);
  for (int i = 0, n = numBlocks(z); i < n; ++i) to[i] = a * first[i] + b * second[i];
}

realtype weightedNorm(N_Vector x, N_Vector w) {
  const Real *value = NV_DATA_S(x), *weight = NV_DATA_S(w);
  const sunindextype n = NV_LENGTH_S(x);
  Real sum = 0;
  for (sunindextype i = 0; i < n; ++i) {
    const Real weighted = value[i] * weight[i];
    sum += weighted * weighted;
  }
  return std::sqrt(sum / static_cast<Real>(n));
}

// z[k] = c[k] x + y[k].
int addScaledToAll(int count, realtype* c, N_Vector x, N_Vector* y, N_Vector* z) {
  for (int k = 0; k < count; ++k) addScaled(c[k], x, 1, y[k], z[k]);
  return 0;
}

int scaleAll(int count, realtype* c, N_Vector* x, N_Vector* z) {
  for (int k = 0; k < count; ++k) scale(c[k], x[k], z[k]);
  return 0;
}

// z = the sum of c[k] x[k].
int combine(int count, realtype* c, N_Vector* x, N_Vector z) {
  scale(c[0], x[0], z);
  for (int k = 1; k < count; ++k) addScaled(c[k], x[k], 1, z, z);
  return 0;
}

N_Vector newVector(int length, SUNContext context) {
  N_Vector plain = N_VNewEmpty_Serial(length, context);
  if (plain == nullptr) return nullptr;
  N_Vector_Ops ops = plain->ops;
  ops->nvclone = cloneVector;
  ops->nvconst = setConstant;
  ops->nvscale = scale;
  ops->nvlinearsum = addScaled;
  ops->nvwrmsnorm = weightedNorm;
  ops->nvscaleaddmulti = addScaledToAll;
  ops->nvscalevectorarray = scaleAll;
  ops->nvlinearcombination = combine;
  N_Vector out = cloneVector(plain);
  N_VDestroy(plain);
  return out;
}

/// What could not be made for want of memory.
void require(bool isMade) {
  if (!isMade) throw std::bad_alloc();
}

}  // namespace

struct CvodeSession::Impl {
  Impl(OdeSystem& problem, const OdeOptions& given) : system(problem), options(given) {}
  ~Impl();

  void create();
  void attachSolver();
  void attachNewton();
  void collectCounts();
  const Real* valuesAt(Real when);

  // Called by CVODES.
  static int derivative(realtype t, N_Vector y, N_Vector yDot, void* self);
  static int crossings(realtype t, N_Vector y, realtype* z, void* self);
  static int weigh(N_Vector y, N_Vector weights, void* self);
  static int prepare(realtype t, N_Vector y, N_Vector f, SUNMatrix matrix, booleantype mayReuse,
                     booleantype* isNew, realtype gamma, void* self, N_Vector, N_Vector, N_Vector);
  static int iterate(SUNNonlinearSolver solver, N_Vector y0, N_Vector correction, N_Vector weights,
                     realtype tolerance, booleantype callsSetup, void* memory);
  int iterateOnce(N_Vector correction, N_Vector weights, realtype tolerance, bool* isFresh);
  int iterateSteep(N_Vector correction, N_Vector weights, realtype tolerance, bool* isFresh);
  void correct(N_Vector correction);
  int accept(N_Vector correction, N_Vector weights, realtype tolerance);

  OdeSystem& system;
  OdeOptions options;
  SUNContext context = nullptr;
  void* memory = nullptr;
  N_Vector y = nullptr, work = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear = nullptr;
  SUNNonlinearSolver nonlinear = nullptr;
  // Of Newton's method, given by CVODES.
  SUNNonlinSolSysFn residual = nullptr;
  SUNNonlinSolLSetupFn setup = nullptr;
  SUNNonlinSolConvTestFn test = nullptr;
  void* testData = nullptr;
  void* cvodes = nullptr;
  N_Vector delta = nullptr;
  Real gamma = 1;  ///< of the matrix
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
  N_VConst(0, impl.y);
  std::copy(y.begin(), y.end(), NV_DATA_S(impl.y));
  impl.t = t;
  std::fill(impl.roots.begin(), impl.roots.end(), 0);
  CVodeReInit(impl.memory, t, impl.y);
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
  std::copy_n(impl_->valuesAt(t), y.size(), y.begin());
}

void CvodeSession::quadraturesAt(Real t, std::span<Real> out) {
  std::copy_n(impl_->valuesAt(t) + impl_->options.size, out.size(), out.begin());
}

/// Good until the next call.
const Real* CvodeSession::Impl::valuesAt(Real when) {
  const bool isAtEnd = when == t || CVodeGetDky(memory, when, 0, work) != CV_SUCCESS;
  const N_Vector values = isAtEnd ? y : work;
  return NV_DATA_S(values);
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
  for (N_Vector vector : {y, work, delta}) {
    if (vector != nullptr) N_VDestroy(vector);
  }
  if (context != nullptr) SUNContext_Free(&context);
}

void CvodeSession::Impl::create() {
  // SUNDIALS uses vectors that it could not make. Of the state CVODES keeps less than fifty.
  constexpr std::size_t kNumVectors = 64, kOtherBytes = std::size_t{1} << 20;
  core::requireMemory(kOtherBytes + kNumVectors * sizeof(Real) *
                                        static_cast<std::size_t>(options.size + options.numRoots));
  require(SUNContext_Create(nullptr, &context) == 0);
  TANGERE_REQUIRE(options.numQuadratures <= kMaxQuadratures, "too many quadratures",
                  options.numQuadratures);
  y = newVector(options.size, context);
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
  require(isOk);
  attachSolver();
}

void CvodeSession::Impl::attachSolver() {
  if (options.method == EventMethod::Adams) {
    nonlinear = SUNNonlinSol_FixedPoint(y, 0, context);
    require(nonlinear != nullptr && CVodeSetNonlinearSolver(memory, nonlinear) == CV_SUCCESS);
    return;
  }
  // The matrix is that of the system: SUNDIALS only carries it around.
  matrix = SUNMatNewEmpty(context);
  linear = SUNLinSolNewEmpty(context);
  require(matrix != nullptr && linear != nullptr);
  matrix->content = this;
  matrix->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
  linear->content = this;
  linear->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
  linear->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
  linear->ops->initialize = [](SUNLinearSolver) { return 0; };
  linear->ops->setup = [](SUNLinearSolver, SUNMatrix) { return 0; };
  // Must be there; correct() asks the system itself.
  linear->ops->solve = [](SUNLinearSolver, SUNMatrix, N_Vector, N_Vector, realtype) {
    return SUNLS_PACKAGE_FAIL_UNREC;
  };
  require(CVodeSetLinearSolver(memory, linear, matrix) == CV_SUCCESS &&
          CVodeSetLinSysFn(memory, prepare) == CV_SUCCESS);
  attachNewton();
}

void CvodeSession::Impl::attachNewton() {
  nonlinear = SUNNonlinSolNewEmpty(context);
  delta = N_VClone(y);
  require(nonlinear != nullptr && delta != nullptr);
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
  ops->setlsolvefn = [](SUNNonlinearSolver, SUNNonlinSolLSolveFn) { return SUN_NLS_SUCCESS; };
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
  require(CVodeSetNonlinearSolver(memory, nonlinear) == CV_SUCCESS);
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
    correct(correction);
    int flag = test(nonlinear, correction, delta, tolerance, weights, testData);
    if (flag != SUN_NLS_CONTINUE) return flag;
    if (++iteration >= maxIterations) return SUN_NLS_CONV_RECVR;
    flag = residual(correction, delta, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
  }
}

/// The same where friction is steep. It takes two small corrections: what friction would do with
/// the error that one leaves would look like an error of the step. A matrix that does not bring the
/// corrections down fast is made anew.
int CvodeSession::Impl::iterateSteep(N_Vector correction, N_Vector weights, realtype tolerance,
                                     bool* isFresh) {
  constexpr int kMaxRefreshes = 30, kMaxRounds = 8, kMaxGrowths = 2;
  constexpr Real kSlow = 0.3, kFast = 0.5, kTiny = 0.05;
  int numRefreshes = 0, numRounds = 0, numGrowths = 0;
  int age = *isFresh ? 0 : kMaxRounds;  // of the matrix, in iterations of this step
  bool wasSmall = false;
  Real last = kNever;
  const auto straighten = [&] {
    realtype now = 0;
    CVodeGetCurrentGamma(memory, &now);
    return system.straightenResidual(now, NV_DATA_S(delta));
  };
  bool isStraight = straighten();
  while (true) {
    ++numIterations;
    correct(correction);
    const Real size = weightedNorm(delta, weights);
    const bool isSmall = size <= tolerance && !isStraight;
    const bool isFast = size <= kFast * last || size <= kTiny * tolerance || age <= 1;
    if (isSmall && wasSmall && isFast) return accept(correction, weights, tolerance);
    if (size > 2 * last && ++numGrowths >= kMaxGrowths) return SUN_NLS_CONV_RECVR;
    int flag = residual(correction, delta, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
    const bool isSlow =
        (size > kSlow * last && size > tolerance && age > 1) || (isSmall && wasSmall);
    last = isStraight ? kNever : size;
    wasSmall = isSmall;
    ++age;
    if (!system.isMatrixStale(isSmall) && !isSlow) {
      if (++numRounds >= kMaxRounds) return SUN_NLS_CONV_RECVR;
      isStraight = straighten();
      continue;
    }
    if (++numRefreshes > kMaxRefreshes) return SUN_NLS_CONV_RECVR;
    booleantype isNew = SUNFALSE;
    flag = setup(SUNTRUE, &isNew, cvodes);
    if (flag != SUN_NLS_SUCCESS) return flag;
    *isFresh = true;
    wasSmall = false;
    last = kNever;
    numRounds = numGrowths = age = 0;
    isStraight = straighten();
  }
}

/// From the residual in `delta` to the change of the correction. Quadratures change nothing but
/// themselves. Where the matrix is that of another gamma the change is scaled to what is best for
/// both stiff and slow modes, as CVODES does.
void CvodeSession::Impl::correct(N_Vector correction) {
  realtype now = gamma;
  CVodeGetCurrentGamma(memory, &now);
  const Real damping = -2 / (1 + now / gamma);
  Real* change = NV_DATA_S(delta);
  Real* sum = NV_DATA_S(correction);
  const Real* solution = NV_DATA_S(work);
  system.solve(change, NV_DATA_S(work));
  for (int i = 0; i < options.size; ++i) {
    change[i] = damping * solution[i];
    sum[i] += change[i];
  }
  for (int i = options.size; i < options.size + options.numQuadratures; ++i) {
    change[i] = -change[i];
    sum[i] += change[i];
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
  const Impl& impl = *static_cast<Impl*>(self);
  Real* out = NV_DATA_S(yDot);
  if (!impl.system.derivative(t, NV_DATA_S(y), out)) return kTryShorter;
  if (impl.options.numQuadratures > 0) impl.system.powers(t, NV_DATA_S(y), out + impl.options.size);
  return 0;
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

int CvodeSession::Impl::prepare(realtype t, N_Vector y, N_Vector, SUNMatrix, booleantype mayReuse,
                                booleantype* isNew, realtype gamma, void* self, N_Vector, N_Vector,
                                N_Vector) {
  constexpr int kTryShorter = 1;
  auto* impl = static_cast<Impl*>(self);
  const int made = impl->system.prepareSolve(t, NV_DATA_S(y), gamma, mayReuse != SUNFALSE);
  if (made < 0) return kTryShorter;
  *isNew = made > 0 ? SUNTRUE : SUNFALSE;
  impl->numJacobians += made;
  impl->gamma = gamma;
  return 0;
}

}  // namespace tangere::integrator
