// SPDX-License-Identifier: Apache-2.0
//
// Tools of the accurate lane: a run of the event solver that keeps its events, and functions of
// time that are known from samples of its dense output.
#pragma once

#include <tangere/simulator.hpp>

#include "verify_families.hpp"

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tangere::cli {

/// The solver could not go on: the quantities of the case are missing.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The event solver at a relative tolerance of 1e-12: the goals of the accurate lane are about
/// 1e-8, and errors of steps add up.
[[nodiscard]] SimulationOptions eventOptions(const Vec3& gravity);

/// A smooth function of time between its samples: the polynomial through the eight nearest ones.
class Track {
 public:
  /// In ascending order of time.
  void add(double time, double value);
  [[nodiscard]] std::size_t size() const { return samples_.size(); }
  /// Also a little outside of the samples.
  [[nodiscard]] double at(double time) const;
  [[nodiscard]] double rateAt(double time) const;
  /// Where the sign changes between samples, to rounding.
  [[nodiscard]] std::vector<double> zeros() const;
  /// Of what falls to zero beyond the last sample: where the polynomial through the last ones does.
  [[nodiscard]] double zeroAhead() const;
  /// Time and value of the largest one.
  [[nodiscard]] std::pair<double, double> largest() const;

 private:
  struct Sample {
    double time, value;
  };
  /// First of the samples whose polynomial is used at `time`.
  [[nodiscard]] std::size_t firstNear(double time) const;
  [[nodiscard]] double zeroBetween(double low, double high) const;

  std::vector<Sample> samples_;
};

/// A simulator that is asked for its state at instants.
class EventRun {
 public:
  explicit EventRun(const Model& model) : simulator_(model) {}

  [[nodiscard]] Simulator& simulator() { return simulator_; }
  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] BodyState body(const char* name) const { return simulator_.body(name); }
  /// Called before the solver goes on: forces that last.
  void setAction(std::function<void(Simulator&)> act) { act_ = std::move(act); }
  /// Throws RunFailed.
  void to(double time);
  /// To `count` instants evenly spaced after now, the last one at `end`; `look` is called at each.
  void sample(double end, int count, const std::function<void(double time)>& look);
  [[nodiscard]] double time() const { return simulator_.state().time; }
  /// All since the start.
  [[nodiscard]] const std::vector<EventRecord>& events() const { return events_; }

  /// Sum of the contact forces on a body, by all or by one other [N].
  [[nodiscard]] Vec3 forceOn(int body, int other = -1) const;

 private:
  Simulator simulator_;
  std::function<void(Simulator&)> act_;
  std::vector<EventRecord> events_;
};

/// The value in [low, high] at which `happens` turns true, to one part in 1e5.
[[nodiscard]] double eventThreshold(double low, double high,
                                    const std::function<bool(double)>& happens);

}  // namespace tangere::cli
