// SPDX-License-Identifier: Apache-2.0
#include "sim/error_control.hpp"

#include "sim/divided_step.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::sim {

namespace {

/// Parts shorter than this share of a step are taken whatever their error: an impact has no length
/// at which it is smooth.
constexpr Real kShortest = 1.0 / 1024;
constexpr Real kSafety = 0.9, kLongest = 5, kLeast = 0.1;

Real largestDifference(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

Real largestDifference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  Real largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, norm(a[i] - b[i]));
  return largest;
}

}  // namespace

void ErrorControl::step(const model::Control& control, State& state, model::Workspace& ws,
                        contact::SapWorkspace& sap, PhaseClock& clock) {
  const Real dt = model_.options.dt;
  const Real end = state.time + dt;
  const std::uint64_t stepAfter = state.step + 1;
  const State before = state;
  EnergyLedger ledger;
  StepReport report;
  control_ = control;
  const auto take = [&](Real length, State& from) {
    placeTargets(model_, control, before, (from.time + length - before.time) / dt, &control_);
    model_.options.dt = length;
    stepEnvironmentSap(model_, control_, from, ws, sap, clock);
    model_.options.dt = dt;
    return !isRefused(ws.report.status);
  };

  Real done = 0;
  Real length = state.trialStep > 0 ? std::min(state.trialStep, dt) : dt;
  while (done < dt) {
    const bool isLast = dt - done <= length * (1 + Real(1e-9));
    const Real part = isLast ? dt - done : length;
    start_ = state;
    whole_ = state;
    bool isTaken = take(part, whole_);
    StepReport failure = ws.report;
    forgetState(ws, sap);
    EnergyLedger halves;
    StepReport reports;
    for (int half = 0; isTaken && half < 2; ++half) {
      isTaken = take(part / 2, state);
      addLedger(ws.ledger, &halves);
      addReport(ws.report, &reports);
      failure = ws.report;
    }
    const Real error = isTaken
                           ? std::max(largestDifference(whole_.q, state.q),
                                      largestDifference(whole_.softPosition, state.softPosition))
                           : std::numeric_limits<Real>::infinity();
    const Real accuracy = model_.options.accuracy;
    const bool isShort = part <= kShortest * dt;
    if (error <= accuracy || (isShort && isTaken)) {
      done += part;
      addLedger(halves, &ledger);
      addReport(reports, &report);
      const Real factor = error > 0 ? kSafety * std::sqrt(accuracy / error) : kLongest;
      const Real next = part * std::clamp(factor, kLeast, kLongest);
      if (!isLast || next < length) length = std::max(next, kShortest * dt);
      continue;
    }
    if (isShort || has(failure.status, StepStatus::TooManyContacts)) {  // however short
      report = failure;
      state = before;
      forgetState(ws, sap);
      ws.report = report;
      return;
    }
    state = start_;
    forgetState(ws, sap);
    const Real factor = std::isfinite(error) ? kSafety * std::sqrt(accuracy / error) : kLeast;
    length = std::max(part * std::clamp(factor, kLeast, Real(0.5)), kShortest * dt);
  }
  state.time = end;
  state.step = stepAfter;
  state.trialStep = length;
  ws.ledger = ledger;
  ws.report = report;
}

}  // namespace tangere::sim
