// SPDX-License-Identifier: Apache-2.0
#include "environments.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace tangere::python {

namespace nb = nanobind;

namespace {

using Clock = std::chrono::steady_clock;

// Between two looks for an interrupt.
constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr int kMaxStepsAtOnce = 1 << 16;

bool isSame(std::span<const Real> a, std::span<const Real> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace

Environments::Environments(nb::object model, int numEnvironments, int numThreads)
    : model_object_(std::move(model)),
      model_(nb::cast<const FrozenModel&>(model_object_).model),
      size_(numEnvironments),
      num_threads_(numThreads),
      process_(getpid()) {
  if (size_ < 1) throw InvalidInput("num_envs must be at least 1, found " + std::to_string(size_));
  if (num_threads_ < 1)
    throw InvalidInput("threads must be at least 1, found " + std::to_string(num_threads_));
  if (size_ == 1)
    alone_.emplace(model_, num_threads_);
  else
    batch_.emplace(model_, size_, num_threads_);
  const auto rows = static_cast<std::size_t>(size_);
  const State& state = at(0).state();
  q_.resize(rows * state.q.size());
  v_.resize(rows * state.v.size());
  time_.resize(rows);
  controls_.resize(rows * at(0).controls().size());
  pull();
}

Environments::Use::Use(Environments& environments) : environments_(environments) {
  if (environments.num_threads_ > 1 && environments.process_ != getpid())
    throw std::runtime_error(
        "this Simulator was made before fork(), and its threads are in the other process: make a "
        "new one here");
  if (environments.is_used_.exchange(true))
    throw std::runtime_error("another thread is using this Simulator: use one for each thread");
}

Environments::Use::~Use() { environments_.is_used_ = false; }

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
  return alone_ ? is_alone_running_ : batch_->isRunning(environment);
}

int Environments::numRunning() const {
  return alone_ ? static_cast<int>(is_alone_running_) : batch_->numRunning();
}

std::vector<int> Environments::chosen(const std::optional<std::vector<std::uint8_t>>& mask) const {
  std::vector<int> out;
  for (int i = 0; i < size_; ++i)
    if (!mask || (*mask)[static_cast<std::size_t>(i)] != 0) out.push_back(i);
  return out;
}

void Environments::advance(int count) {
  if (batch_) {
    batch_->step(count);
    return;
  }
  if (is_alone_running_) is_alone_running_ = !isRefused(alone_->step(count).status);
}

void Environments::repeat(std::int64_t count, const std::function<void(int)>& function) {
  int atOnce = 1;
  for (std::int64_t done = 0; done < count;) {
    const int now = static_cast<int>(std::min<std::int64_t>(atOnce, count - done));
    const auto begin = Clock::now();
    {
      const nb::gil_scoped_release release;
      function(now);
    }
    done += now;
    if (Clock::now() - begin < kLookEvery) atOnce = std::min(2 * atOnce, kMaxStepsAtOnce);
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
    for (int i = 0; i < size_; ++i) {
      repeat(isRunning(i) ? 1 : 0, [&](int) {
        const StepReport& report = at(i).advanceTo(time);
        if (alone_ && isRefused(report.status)) is_alone_running_ = false;
      });
    }
  }
  pull();
}

void Environments::reset(std::span<const int> environments) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(size_), 0);
  const std::vector<Real> still(at(0).controls().size(), 0);
  for (const int i : environments) {
    mask[static_cast<std::size_t>(i)] = 1;
    for (const VertexTarget& driven : at(i).vertexTargets())
      at(i).releaseVertex(driven.soft, driven.vertex);
    at(i).setControls(still);
  }
  if (batch_) {
    batch_->reset(mask);
  } else if (!environments.empty()) {
    alone_->reset();
    is_alone_running_ = true;
  }
  for (const int i : environments) pullRow(i);
}

void Environments::setState(int environment, const State& state) {
  // Checked before anything changes.
  at(environment).setState(state);
  if (isRunning(environment)) return;
  if (alone_) {
    is_alone_running_ = true;
    return;
  }
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(size_), 0);
  mask[static_cast<std::size_t>(environment)] = 1;
  batch_->reset(mask);
  at(environment).setState(state);
}

void Environments::setParameters(int environment, const ModelParameters& parameters) {
  own_dynamics_[environment].reset();
  if (batch_) {
    batch_->setParameters(environment, parameters);
    return;
  }
  Simulator changed(model_.withParameters(parameters), num_threads_);
  changed.setState(alone_->state());
  changed.setControls(alone_->controls());
  for (const VertexTarget& driven : alone_->vertexTargets())
    changed.driveVertex(driven.soft, driven.vertex, driven.target);
  alone_ = std::move(changed);
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
  return *dynamics;
}

}  // namespace tangere::python
