// SPDX-License-Identifier: Apache-2.0
#include "environments.hpp"

#include "memory.hpp"
#include "simulator_arrays.hpp"

#include <tangere/limit_exceeded.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

namespace tangere::python {

namespace nb = nanobind;

namespace {

using Clock = std::chrono::steady_clock;

// Between two looks for an interrupt.
constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr int kMaxStepsAtOnce = 1 << 16;
constexpr int kMaxThreads = 4096;
// Fewer environments than these are made without a look at the memory.
constexpr int kManyEnvironments = 256;

bool isSame(std::span<const Real> a, std::span<const Real> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

void requireMemoryFor(const Model& model, int numEnvironments) {
  if (numEnvironments < kManyEnvironments) return;
  const std::size_t before = heapBytes();
  const Simulator one(model);
  const std::size_t after = heapBytes();
  requireMemory(after > before ? static_cast<double>(after - before) * numEnvironments : 0,
                std::to_string(numEnvironments) + " environments of this model");
}

}  // namespace

Environments::Environments(nb::object model, int numEnvironments, int numThreads)
    : model_object_(std::move(model)),
      model_(nb::cast<const FrozenModel&>(model_object_).model),
      size_(numEnvironments),
      num_threads_(numThreads) {
  if (size_ < 1) throw InvalidInput("num_envs must be at least 1, found " + std::to_string(size_));
  if (num_threads_ < 1 || num_threads_ > kMaxThreads)
    throw InvalidInput("threads must be from 1 to " + std::to_string(kMaxThreads) + ", found " +
                       std::to_string(num_threads_));
  requireMemoryFor(model_, size_);
  exclusive_.hasThreads = num_threads_ > 1;
  try {
    if (size_ == 1)
      alone_.emplace(model_, num_threads_);
    else
      batch_.emplace(model_, size_, num_threads_);
  } catch (const std::system_error& error) {
    throw LimitExceeded("this machine does not let " + std::to_string(num_threads_) +
                        " threads start: " + error.what());
  }
  has_stopped_.assign(static_cast<std::size_t>(size_), 0);
  const auto rows = static_cast<std::size_t>(size_);
  const State& state = at(0).state();
  q_.resize(rows * state.q.size());
  v_.resize(rows * state.v.size());
  time_.resize(rows);
  controls_.resize(rows * at(0).controls().size());
  pull();
}

Environments::~Environments() {
  if (!exclusive_.isForked()) return;
  // To end them would be to wait for threads that are in another process.
  if (alone_) new Simulator(std::move(*alone_));
  if (batch_) new BatchedSimulator(std::move(*batch_));
}

Simulator& Environments::at(int environment) {
  return alone_ ? *alone_ : batch_->environment(environment);
}

const Simulator& Environments::at(int environment) const {
  return alone_ ? *alone_ : batch_->environment(environment);
}

int Environments::checked(int environment) const {
  if (environment >= 0 && environment < size_) return environment;
  throw InvalidInput("there is no environment " + std::to_string(environment) +
                     ": the simulator has " + std::to_string(size_));
}

bool Environments::isRunning(int environment) const {
  return has_stopped_[static_cast<std::size_t>(environment)] == 0 &&
         (alone_ || batch_->isRunning(environment));
}

int Environments::numRunning() const {
  int count = 0;
  for (int i = 0; i < size_; ++i) count += isRunning(i) ? 1 : 0;
  return count;
}

void Environments::advance(int count) {
  if (batch_)
    batch_->step(count);
  else if (isRunning(0) && isRefused(alone_->step(count).status))
    has_stopped_[0] = 1;
}

std::vector<State> Environments::states() const {
  std::vector<State> out;
  for (int i = 0; i < size_; ++i) out.push_back(at(i).state());
  return out;
}

void Environments::raiseOfHandlers(const std::vector<State>& before) {
  const auto failed = std::find_if(handlers_.begin(), handlers_.end(),
                                   [](const auto& handler) { return handler->hasFailed(); });
  if (failed == handlers_.end()) return;
  for (int i = 0; i < size_; ++i) setState(i, before[static_cast<std::size_t>(i)]);
  pull();
  // Those of other environments in the same step are not told: one is enough to stop.
  for (const auto& handler : handlers_)
    if (handler != *failed) handler->dismiss();
  (*failed)->rethrow();
}

void Environments::repeat(std::int64_t count, const std::function<void(int)>& function) {
  int atOnce = 1;
  for (std::int64_t done = 0; done < count;) {
    const int now = static_cast<int>(std::min<std::int64_t>(atOnce, count - done));
    const auto begin = Clock::now();
    const std::vector<State> before = handlers_.empty() ? std::vector<State>() : states();
    {
      const nb::gil_scoped_release release;
      function(now);
    }
    done += now;
    if (!handlers_.empty())
      raiseOfHandlers(before);  // step by step
    else if (Clock::now() - begin < kLookEvery)
      atOnce = std::min(2 * atOnce, kMaxStepsAtOnce);
    if (PyErr_CheckSignals() != 0) {
      pull();
      throw nb::python_error();
    }
  }
}

void Environments::step(std::int64_t count) {
  if (count < 0)
    throw InvalidInput("the number of steps must not be negative, found " + std::to_string(count));
  push();
  repeat(count, [this](int now) {
    if (numRunning() > 0) advance(now);
  });
  pull();
}

void Environments::advanceTo(Real time) {
  if (!(time - time == 0))
    throw InvalidInput("the time to advance to must be finite [s], found " + std::to_string(time));
  push();
  const bool isStepped = model_.options().solver != SolverType::Event;
  const bool isTogether =
      std::all_of(time_.begin(), time_.end(), [&](Real t) { return t == time_.front(); });
  if (isStepped && isTogether) {
    // All have the same number of steps to go: they go together.
    const Real dt = model_.options().dt;
    const auto reach = [&] {
      for (int i = 0; i < size_; ++i)
        if (isRunning(i)) return at(i).state().time;
      return time;
    };
    while (reach() < time) {
      const Real left = (time - reach()) / dt;
      const auto sure = static_cast<std::int64_t>(std::min(left - 1, 1e15));
      repeat(std::max<std::int64_t>(sure, 1), [this](int now) { advance(now); });
    }
  } else {
    for (int i = 0; i < size_; ++i) advanceAlone(i, time);
  }
  pull();
}

void Environments::advanceAlone(int environment, Real time) {
  Simulator& simulator = at(environment);
  const auto stopIf = [&](const StepReport& report) {
    if (isRefused(report.status)) has_stopped_[static_cast<std::size_t>(environment)] = 1;
  };
  if (model_.options().solver == SolverType::Event) {
    if (isRunning(environment)) repeat(1, [&](int) { stopIf(simulator.advanceTo(time)); });
    return;
  }
  while (isRunning(environment) && simulator.state().time < time)
    repeat(1, [&](int) { stopIf(simulator.step()); });
}

void Environments::reset(std::span<const int> environments) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(size_), 0);
  const std::vector<Real> still(at(0).controls().size(), 0);
  for (const int i : environments) {
    mask[static_cast<std::size_t>(i)] = 1;
    has_stopped_[static_cast<std::size_t>(i)] = 0;
    for (const VertexTarget& driven : at(i).vertexTargets())
      at(i).releaseVertex(driven.soft, driven.vertex);
    at(i).setControls(still);
  }
  if (batch_) {
    batch_->reset(mask);
  } else if (!environments.empty()) {
    alone_->reset();
  }
  for (const int i : environments) pullRow(i);
}

void Environments::setState(int environment, const State& state) {
  // Checked before anything changes.
  at(environment).setState(state);
  has_stopped_[static_cast<std::size_t>(environment)] = 0;
  if (isRunning(environment)) return;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(size_), 0);
  mask[static_cast<std::size_t>(environment)] = 1;
  batch_->reset(mask);
  at(environment).setState(state);
}

int Environments::addHandler(int environment, nb::object object) {
  for (const auto& handler : handlers_)
    if (handler->object().is(object))
      throw InvalidInput("this handler was added before: each belongs to one environment");
  auto handler = std::make_shared<PythonHandler>(std::move(object));
  const int number = at(environment).addContactHandler(handler);
  handlers_.push_back(std::move(handler));
  return number;
}

void Environments::setParameters(int environment, const ModelParameters& parameters) {
  if (batch_) {
    batch_->setParameters(environment, parameters);
    own_dynamics_[environment].reset();
    return;
  }
  if (alone_->numContactHandlers() > 0)
    throw InvalidInput("an environment with contact handlers keeps its parameters");
  Simulator changed(model_.withParameters(parameters), num_threads_);
  changed.setState(alone_->state());
  changed.setControls(alone_->controls());
  for (const VertexTarget& driven : alone_->vertexTargets())
    changed.driveVertex(driven.soft, driven.vertex, driven.target);
  alone_ = std::move(changed);
  own_dynamics_[environment].reset();
}

void Environments::rollout(int numSteps, std::span<const Real> controls, std::span<Real> q,
                           std::span<Real> v) {
  push();
  const auto steps = static_cast<std::size_t>(numSteps);
  const auto count = static_cast<std::size_t>(size_);
  const std::size_t width = at(0).controls().size();
  const std::size_t numQ = q_.size() / count, numV = v_.size() / count;
  std::size_t done = 0;
  std::vector<Real> part, partQ, partV;
  repeat(numSteps, [&](int now) {
    const auto n = static_cast<std::size_t>(now);
    // Rows of some steps out of rows of all.
    const auto from = [&](std::span<const Real> all, std::size_t columns, std::vector<Real>* out) {
      out->resize(count * n * columns);
      for (std::size_t i = 0; i < count; ++i)
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>((i * steps + done) * columns),
                    n * columns, out->begin() + static_cast<std::ptrdiff_t>(i * n * columns));
    };
    const auto into = [&](const std::vector<Real>& some, std::size_t columns, std::span<Real> all) {
      for (std::size_t i = 0; i < count; ++i)
        std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(i * n * columns), n * columns,
                    all.begin() + static_cast<std::ptrdiff_t>((i * steps + done) * columns));
    };
    from(controls, width, &part);
    partQ.resize(count * n * numQ);
    partV.resize(count * n * numV);
    if (batch_) {
      batch_->rollout(now, part, partQ, partV);
    } else {
      for (std::size_t k = 0; k < n; ++k) {
        alone_->setControls(std::span<const Real>(part).subspan(k * width, width));
        advance(1);
        const State& state = alone_->state();
        std::copy(state.q.begin(), state.q.end(),
                  partQ.begin() + static_cast<std::ptrdiff_t>(k * numQ));
        std::copy(state.v.begin(), state.v.end(),
                  partV.begin() + static_cast<std::ptrdiff_t>(k * numV));
      }
    }
    into(partQ, numQ, q);
    into(partV, numV, v);
    done += n;
  });
  pull();
}

std::span<const Real> Environments::rowOf(const std::vector<Real>& array, int environment) const {
  const std::size_t width = array.size() / static_cast<std::size_t>(size_);
  return std::span<const Real>(array).subspan(static_cast<std::size_t>(environment) * width, width);
}

void Environments::pushRow(int environment) {
  Simulator& simulator = at(environment);
  const char* what = "q";
  bool isChanged = false;
  try {
    if (const auto row = rowOf(q_, environment); !isSame(row, simulator.state().q)) {
      simulator.setPositions(row);
      isChanged = true;
    }
    what = "v";
    if (const auto row = rowOf(v_, environment); !isSame(row, simulator.state().v)) {
      simulator.setVelocities(row);
      isChanged = true;
    }
    what = "controls";
    if (const auto row = rowOf(controls_, environment); !isSame(row, simulator.controls()))
      simulator.setControls(row);
  } catch (const InvalidInput& error) {
    throw InvalidInput(std::string(what) + " of environment " + std::to_string(environment) + ": " +
                       error.what());
  }
  if (isChanged) pullRow(environment);  // quaternions are unit now
}

void Environments::push() {
  try {
    for (int i = 0; i < size_; ++i) pushRow(i);
  } catch (...) {
    pull();
    throw;
  }
}

void Environments::pullRow(int environment) {
  const Simulator& simulator = at(environment);
  const State& state = simulator.state();
  const auto i = static_cast<std::ptrdiff_t>(environment);
  const auto copy = [i](std::span<const Real> from, std::vector<Real>* to) {
    std::copy(from.begin(), from.end(), to->begin() + i * static_cast<std::ptrdiff_t>(from.size()));
  };
  copy(state.q, &q_);
  copy(state.v, &v_);
  copy(simulator.controls(), &controls_);
  time_[static_cast<std::size_t>(environment)] = state.time;
}

void Environments::pull() {
  for (int i = 0; i < size_; ++i) pullRow(i);
}

Dynamics& Environments::dynamicsAt(int environment) {
  // Environments with parameters of their own have dynamics of their own.
  const auto own = own_dynamics_.find(environment);
  std::unique_ptr<Dynamics>& dynamics = own == own_dynamics_.end() ? dynamics_ : own->second;
  if (!dynamics) dynamics = std::make_unique<Dynamics>(at(environment).model());
  const State& state = at(environment).state();
  dynamics->setState(state.q, state.v);
  dynamics->setSoftState(state.softPosition, state.softVelocity);
  return *dynamics;
}

Environments& environmentsOf(nb::handle simulator) {
  const bool isOne = PyType_Check(simulator.ptr()) == 0 && nb::isinstance<Environments>(simulator);
  if (!isOne)
    throw nb::type_error(("simulator must be a Simulator, found " + shownValue(simulator)).c_str());
  if (!nb::inst_ready(simulator))
    throw nb::type_error("this Simulator was not initialized: call super().__init__() first");
  return nb::cast<Environments&>(simulator);
}

}  // namespace tangere::python
