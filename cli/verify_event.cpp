// SPDX-License-Identifier: Apache-2.0
#include "verify_event.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tangere::cli {

namespace {

constexpr std::size_t kNumNear = 8;

}  // namespace

SimulationOptions eventOptions(const Vec3& gravity) {
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.gravity = gravity;
  options.event.relativeTolerance = 1e-12;
  options.event.absoluteTolerance = 1e-14;
  return options;
}

// --- Track --------------------------------------------------------------------------------------

void Track::add(double time, double value) { samples_.push_back({time, value}); }

std::size_t Track::firstNear(double time) const {
  const auto after = std::lower_bound(samples_.begin(), samples_.end(), time,
                                      [](const Sample& s, double t) { return s.time < t; });
  const auto index = static_cast<std::size_t>(after - samples_.begin());
  const std::size_t count = std::min(kNumNear, samples_.size());
  const std::size_t first = index > count / 2 ? index - count / 2 : 0;
  return std::min(first, samples_.size() - count);
}

double Track::at(double time) const {
  // Neville's scheme.
  const std::size_t first = firstNear(time), count = std::min(kNumNear, samples_.size());
  std::array<double, kNumNear> p{};
  for (std::size_t i = 0; i < count; ++i) p[i] = samples_[first + i].value;
  for (std::size_t width = 1; width < count; ++width) {
    for (std::size_t i = 0; i + width < count; ++i) {
      const double a = samples_[first + i].time, b = samples_[first + i + width].time;
      p[i] += (time - a) / (b - a) * (p[i + 1] - p[i]);
    }
  }
  return p[0];
}

double Track::rateAt(double time) const {
  const std::size_t first = firstNear(time), count = std::min(kNumNear, samples_.size());
  std::array<double, kNumNear> p{}, d{};
  for (std::size_t i = 0; i < count; ++i) p[i] = samples_[first + i].value;
  for (std::size_t width = 1; width < count; ++width) {
    for (std::size_t i = 0; i + width < count; ++i) {
      const double a = samples_[first + i].time, b = samples_[first + i + width].time;
      d[i] += (p[i + 1] - p[i] + (time - a) * (d[i + 1] - d[i])) / (b - a);
      p[i] += (time - a) / (b - a) * (p[i + 1] - p[i]);
    }
  }
  return d[0];
}

double Track::zeroBetween(double low, double high) const {
  const bool isRising = at(high) > at(low);
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    ((at(middle) > 0) == isRising ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

std::vector<double> Track::zeros() const {
  std::vector<double> out;
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    const double a = samples_[i - 1].value, b = samples_[i].value;
    if ((a > 0) != (b > 0)) out.push_back(zeroBetween(samples_[i - 1].time, samples_[i].time));
  }
  return out;
}

double Track::zeroAhead() const {
  double time = samples_.back().time;
  for (int i = 0; i < 50; ++i) {
    const double step = at(time) / rateAt(time);
    time -= step;
    if (std::fabs(step) <= 1e-16 * std::fabs(time)) break;
  }
  return time;
}

std::pair<double, double> Track::largest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < samples_.size(); ++i)
    if (samples_[i].value > samples_[best].value) best = i;
  if (best == 0 || best + 1 == samples_.size()) return {samples_[best].time, samples_[best].value};
  double low = samples_[best - 1].time, high = samples_[best + 1].time;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (rateAt(middle) > 0 ? low : high) = middle;
  }
  return {low, at(low)};
}

// --- EventRun -----------------------------------------------------------------------------------

void EventRun::to(double time) {
  if (act_) act_(simulator_);
  const StepReport& report = simulator_.advanceTo(time);
  events_.insert(events_.end(), simulator_.events().begin(), simulator_.events().end());
  if (has(report.status, StepStatus::IntegratorFailed) ||
      has(report.status, StepStatus::StateNotFinite)) {
    throw RunFailed(join("at ", std::to_string(simulator_.state().time),
                         " s: ", describe(report, simulator_.model(), simulator_.state().step)));
  }
}

void EventRun::sample(double end, int count, const std::function<void(double)>& look) {
  const double begin = time();
  for (int i = 1; i <= count; ++i) {
    const double next = i == count ? end : begin + (end - begin) * i / count;
    to(next);
    look(next);
  }
}

Vec3 EventRun::forceOn(int body, int other) const {
  Vec3 sum{};
  for (const ContactResult& contact : simulator_.contactResults()) {
    if (contact.body1 == body && (other < 0 || contact.body2 == other)) sum += contact.force;
    if (contact.body2 == body && (other < 0 || contact.body1 == other)) sum -= contact.force;
  }
  return sum;
}

double eventThreshold(double low, double high, const std::function<bool(double)>& happens) {
  for (int i = 0; i < 60 && high - low > 1e-5 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (happens(middle) ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace tangere::cli
