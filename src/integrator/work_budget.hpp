// SPDX-License-Identifier: Apache-2.0
//
// What one advance() may still cost, and whether somebody wants it to end.
//
// All that may take long asks mayGoOn() between pieces of work of about a millisecond, and says
// before it makes something large how much memory that takes. When the answer is no it ends with
// whatever it has got: the whole advance() is thrown away, and the State is that before it.
#pragma once

#include <tangere/simulator.hpp>
#include <tangere/solver_options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tangere::integrator {

class WorkBudget {
 public:
  explicit WorkBudget(const EventOptions& options) : options_(options) {}

  void setInterrupt(const std::atomic<bool>* flag) { interrupt_ = flag; }

  /// Of a new advance(), which may cost all of it again.
  void begin() {
    status_ = StepStatus::Ok;
    num_steps_ = 0;
    memory_needed_ = 0;
  }

  /// A step of the integrator, an event or a round of impacts.
  void countStep() {
    if (++num_steps_ > options_.maxSteps && status_ == StepStatus::Ok)
      status_ = StepStatus::TooMuchWork;
  }

  enum class Part : std::uint8_t { Pairs, Contacts, Matrices, Impacts };
  /// What a part is about to hold [bytes], in place of what it said before.
  void hold(Part part, Real bytes) {
    held_[static_cast<std::size_t>(part)] = bytes;
    Real sum = 0;
    for (const Real one : held_) sum += one;
    if (!(sum > options_.maxMemory) || status_ != StepStatus::Ok) return;
    status_ = StepStatus::TooMuchWork;
    memory_needed_ = sum;
  }
  [[nodiscard]] Real maxMemory() const { return options_.maxMemory; }

  /// False: end. It stays false until begin().
  [[nodiscard]] bool mayGoOn() {
    if (interrupt_ != nullptr && status_ == StepStatus::Ok &&
        interrupt_->load(std::memory_order_relaxed))
      status_ = StepStatus::Interrupted;
    return status_ == StepStatus::Ok;
  }
  /// Why it is false.
  [[nodiscard]] StepStatus status() const { return status_; }
  /// What was asked for when it was too much memory, and 0 otherwise [bytes].
  [[nodiscard]] Real memoryNeeded() const { return memory_needed_; }

 private:
  const EventOptions& options_;
  const std::atomic<bool>* interrupt_ = nullptr;
  StepStatus status_ = StepStatus::Ok;
  std::int64_t num_steps_ = 0;
  Real memory_needed_ = 0;
  std::array<Real, 4> held_{};
};

}  // namespace tangere::integrator
