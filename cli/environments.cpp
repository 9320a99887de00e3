// SPDX-License-Identifier: Apache-2.0
#include "environments.hpp"

#include "console.hpp"

#include <algorithm>

namespace tangere::cli {

Environments::Environments(const Model& model, int count, int threads)
    : counters_(static_cast<std::size_t>(count)), is_stopped_(static_cast<std::size_t>(count), 0) {
  if (count == 1)
    alone_.emplace(model, threads);
  else
    batch_.emplace(model, count, threads);
  for (int i = 0; i < count; ++i) environment(i).setInterrupt(&interruptFlag());
}

Simulator& Environments::environment(int index) {
  return alone_ ? *alone_ : batch_->environment(index);
}

const Simulator& Environments::environment(int index) const {
  return alone_ ? *alone_ : batch_->environment(index);
}

void Environments::step(int count) {
  if (batch_) {
    batch_->step(count,
                 [this](int index, const Simulator& simulator) { this->count(index, simulator); });
    return;
  }
  for (int k = 0; k < count && is_stopped_.front() == 0; ++k) {
    alone_->step();
    this->count(0, *alone_);
  }
}

void Environments::count(int environment, const Simulator& simulator) {
  const auto i = static_cast<std::size_t>(environment);
  if (isRefused(simulator.report().status))
    is_stopped_[i] = 1;
  else
    counters_[i].add(simulator.report(), simulator.energy());
}

int Environments::numRunning() const {
  return static_cast<int>(std::count(is_stopped_.begin(), is_stopped_.end(), 0));
}

std::string Environments::whyStopped() const {
  const auto found = std::find(is_stopped_.begin(), is_stopped_.end(), 1);
  if (found == is_stopped_.end()) return {};
  const int index = static_cast<int>(found - is_stopped_.begin());
  const Simulator& simulator = environment(index);
  const std::uint64_t last = simulator.state().step;
  std::string why = "environment " + std::to_string(index) + ", " +
                    describe(simulator.report(), simulator.model(), last + 1) +
                    "; the state is the one after step " + std::to_string(last);
  if (size() > 1)
    why += "; " + std::to_string(size() - numRunning()) + " of " + std::to_string(size()) +
           " environments stopped";
  return why;
}

bool Environments::isStoppedByLimit() const {
  const auto found = std::find(is_stopped_.begin(), is_stopped_.end(), 1);
  return found != is_stopped_.end() &&
         has(environment(static_cast<int>(found - is_stopped_.begin())).report().status,
             StepStatus::TooManyContacts | StepStatus::TooMuchWork);
}

RunCounters Environments::counters() const {
  RunCounters out = counters_.front();
  for (std::size_t i = 1; i < counters_.size(); ++i) {
    out.stepsOk += counters_[i].stepsOk;
    for (std::size_t bit = 0; bit < out.stepsWithStatus.size(); ++bit)
      out.stepsWithStatus[bit] += counters_[i].stepsWithStatus[bit];
  }
  return out;
}

void Environments::setCounters(const RunCounters& counters) {
  counters_.front() = counters;
  steps_before_ = counters.steps;
}

std::uint64_t Environments::numSteps() const {
  std::uint64_t sum = 0;
  for (const RunCounters& counters : counters_) sum += counters.steps;
  return sum - steps_before_;
}

std::vector<std::uint64_t> Environments::stateHashes(int count) const {
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < std::min(count, size()); ++i) hashes.push_back(environment(i).state().hash());
  return hashes;
}

}  // namespace tangere::cli
