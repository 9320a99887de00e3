// SPDX-License-Identifier: Apache-2.0
#include <tangere/batch.hpp>

#include "core/assert.hpp"
#include "core/parallel_for.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <vector>

namespace tangere {

struct BatchedSimulator::Impl {
  Impl(const Model& m, int numEnvironments, int numThreads)
      : model(m), pool(std::make_unique<core::ThreadPool>(numThreads)) {
    environments.reserve(static_cast<std::size_t>(numEnvironments));
    for (int i = 0; i < numEnvironments; ++i) environments.emplace_back(model, 1);
    isRunning.assign(environments.size(), 1);
  }

  /// Steps one environment; false: it has stopped.
  bool step(std::size_t index) {
    const StepStatus status = environments[index].step().status;
    if (!isRefused(status)) return true;
    // Written only then: the marks of neighbours share a cache line, which other threads read.
    isRunning[index] = 0;
    return false;
  }
  template <class Function>
  void forEachRunning(const Function& function) {
    core::parallelFor(pool.get(), static_cast<std::int64_t>(environments.size()), 1,
                      [&](std::int64_t begin, std::int64_t end) {
                        for (auto i = static_cast<std::size_t>(begin);
                             i < static_cast<std::size_t>(end); ++i) {
                          if (isRunning[i] != 0) function(i);
                        }
                      });
  }

  Model model;
  std::unique_ptr<core::ThreadPool> pool;
  std::vector<Simulator> environments;
  std::vector<std::uint8_t> isRunning;
};

BatchedSimulator::BatchedSimulator(const Model& model, int numEnvironments, int numThreads) {
  TANGERE_REQUIRE(numEnvironments >= 1, "a batch needs an environment", numEnvironments);
  TANGERE_REQUIRE(numThreads >= 1, "a batch needs a thread", numThreads);
  impl_ = std::make_unique<Impl>(model, numEnvironments, numThreads);
}
BatchedSimulator::~BatchedSimulator() = default;
BatchedSimulator::BatchedSimulator(BatchedSimulator&&) noexcept = default;
BatchedSimulator& BatchedSimulator::operator=(BatchedSimulator&&) noexcept = default;

int BatchedSimulator::size() const { return static_cast<int>(impl_->environments.size()); }

Simulator& BatchedSimulator::environment(int index) {
  TANGERE_REQUIRE(index >= 0 && index < size(), "no such environment", index);
  return impl_->environments[static_cast<std::size_t>(index)];
}

const Simulator& BatchedSimulator::environment(int index) const {
  TANGERE_REQUIRE(index >= 0 && index < size(), "no such environment", index);
  return impl_->environments[static_cast<std::size_t>(index)];
}

void BatchedSimulator::step(int count, const StepObserver& observer) {
  impl_->forEachRunning([&](std::size_t i) {
    bool goesOn = true;
    for (int k = 0; k < count && goesOn; ++k) {
      goesOn = impl_->step(i);
      if (observer) observer(static_cast<int>(i), impl_->environments[i]);
    }
  });
}

void BatchedSimulator::rollout(int numSteps, std::span<const Real> controls,
                               std::span<Real> positions, std::span<Real> velocities) {
  const auto steps = static_cast<std::size_t>(std::max(numSteps, 0));
  const auto numControls = static_cast<std::size_t>(impl_->model.numActuators());
  const auto numQ = static_cast<std::size_t>(impl_->model.numPositions());
  const auto numV = static_cast<std::size_t>(impl_->model.numVelocities());
  const std::size_t rows = impl_->environments.size() * steps;
  TANGERE_REQUIRE(controls.size() == rows * numControls,
                  "controls must be environments x steps x actuators", controls.size(),
                  rows * numControls);
  TANGERE_REQUIRE(positions.empty() || positions.size() == rows * numQ,
                  "positions must be environments x steps x coordinates", positions.size(),
                  rows * numQ);
  TANGERE_REQUIRE(velocities.empty() || velocities.size() == rows * numV,
                  "velocities must be environments x steps x velocities", velocities.size(),
                  rows * numV);
  for (const Real value : controls)
    TANGERE_REQUIRE(math::isFinite(value), "a control must be finite", value);
  const auto record = [&](std::size_t i, std::size_t row) {
    const State& state = impl_->environments[i].state();
    if (!positions.empty())
      std::copy(state.q.begin(), state.q.end(),
                positions.begin() + static_cast<std::ptrdiff_t>(row * numQ));
    if (!velocities.empty())
      std::copy(state.v.begin(), state.v.end(),
                velocities.begin() + static_cast<std::ptrdiff_t>(row * numV));
  };
  core::parallelFor(
      impl_->pool.get(), static_cast<std::int64_t>(impl_->environments.size()), 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          for (std::size_t k = 0; k < steps; ++k) {
            const std::size_t row = i * steps + k;
            if (impl_->isRunning[i] != 0) {
              impl_->environments[i].setControls(controls.subspan(row * numControls, numControls));
              impl_->step(i);
            }
            record(i, row);
          }
        }
      });
}

bool BatchedSimulator::isRunning(int environment) const {
  TANGERE_REQUIRE(environment >= 0 && environment < size(), "no such environment", environment);
  return impl_->isRunning[static_cast<std::size_t>(environment)] != 0;
}

int BatchedSimulator::numRunning() const {
  return static_cast<int>(std::count(impl_->isRunning.begin(), impl_->isRunning.end(), 1));
}

void BatchedSimulator::reset() {
  const std::vector<std::uint8_t> all(impl_->environments.size(), 1);
  reset(all);
}

void BatchedSimulator::reset(std::span<const std::uint8_t> mask) {
  TANGERE_REQUIRE(mask.size() == impl_->environments.size(),
                  "the mask must have an entry for each environment", mask.size(),
                  impl_->environments.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    impl_->environments[i].reset();
    impl_->isRunning[i] = 1;
  }
}

void BatchedSimulator::setParameters(int environment, const ModelParameters& parameters) {
  Simulator& old = this->environment(environment);
  TANGERE_REQUIRE(old.numContactHandlers() == 0,
                  "parameters are set before contact handlers are added", environment);
  Simulator changed(impl_->model.withParameters(parameters), 1);
  changed.setState(old.state());
  const std::span<const Real> controls = old.controls();
  changed.setControls(controls);
  for (const VertexTarget& driven : old.vertexTargets())
    changed.driveVertex(driven.soft, driven.vertex, driven.target);
  old = std::move(changed);
}

}  // namespace tangere
