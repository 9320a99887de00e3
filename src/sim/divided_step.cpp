// SPDX-License-Identifier: Apache-2.0
#include "sim/divided_step.hpp"

#include <algorithm>

namespace tangere::sim {

namespace {

constexpr int kMostParts = 64;

/// May shorter parts help?
bool isLost(const model::Workspace& ws) {
  return has(ws.report.status,
             StepStatus::StateNotFinite | StepStatus::MayHaveCrossed | StepStatus::EnergyRefused);
}

/// The least power of two that is enough.
int partsFor(Real wanted) {
  int numParts = 1;
  while (numParts < kMostParts && Real(numParts) < wanted) numParts *= 2;
  return numParts;
}

}  // namespace

void DividedStep::step(const model::Control& control, State& state, model::Workspace& ws,
                       contact::SapWorkspace& sap, PhaseClock& clock) {
  start_ = state;
  sap.pressure.mayDivide = true;
  stepEnvironmentSap(model_, control, state, ws, sap, clock);
  sap.pressure.mayDivide = false;
  const bool isWhole = !(sap.pressure.numParts > 1);
  if (isRefused(ws.report.status) ? !isLost(ws) : isWhole) return;
  StepReport failure = ws.report;
  for (int numParts = isLost(ws) ? std::max(2, partsFor(sap.pressure.numParts))
                                 : partsFor(sap.pressure.numParts);
       numParts <= kMostParts; numParts *= 2) {
    state = start_;
    forgetState(ws, sap);
    if (stepInParts(numParts, control, state, ws, sap, clock)) return;
    if (!isLost(ws)) {  // refused for another reason, which shorter parts do not change
      failure = ws.report;
      break;
    }
    failure = ws.report;
  }
  state = start_;
  forgetState(ws, sap);
  ws.report = failure;
}

bool DividedStep::stepInParts(int numParts, const model::Control& control, State& state,
                              model::Workspace& ws, contact::SapWorkspace& sap, PhaseClock& clock) {
  const Real dt = model_.options.dt;
  EnergyLedger ledger;
  StepReport report;
  control_ = control;
  for (int part = 1; part <= numParts && !isRefused(ws.report.status); ++part) {
    placeTargets(model_, control, start_, Real(part) / Real(numParts), &control_);
    model_.options.dt = dt / numParts;
    sap.pressure.partOfStep = 1 / Real(numParts);
    stepEnvironmentSap(model_, control_, state, ws, sap, clock);
    model_.options.dt = dt;
    sap.pressure.partOfStep = 1;
    addLedger(ws.ledger, &ledger);
    addReport(ws.report, &report);
  }
  if (isRefused(ws.report.status)) return false;
  state.time = start_.time + dt;
  state.step = start_.step + 1;
  ws.ledger = ledger;
  ws.report = report;
  ws.report.status = report.status | StepStatus::StepDivided;
  return true;
}

void placeTargets(const model::ModelData& model, const model::Control& whole, const State& start,
                  Real part, model::Control* out) {
  for (std::size_t k = 0; k < whole.drivenVertices.size(); ++k) {
    const model::DrivenVertex& driven = whole.drivenVertices[k];
    const Vec3& from = start.softPosition[model.softs[driven.soft].firstVertex + driven.vertex];
    out->drivenVertices[k].target =
        part >= 1 ? driven.target : from + (driven.target - from) * part;
  }
}

void forgetState(model::Workspace& ws, contact::SapWorkspace& sap) {
  sap.areTreesCurrent = false;
  ws.isLedgerCurrent = false;
  ws.poseAge.assign(ws.poseAge.size(), 0);
  ws.report = {};
}

void addReport(const StepReport& part, StepReport* sum) {
  const StepReport before = *sum;
  const bool isNamed = before.body1 >= 0 || before.soft >= 0;
  *sum = part;
  sum->status = before.status | part.status;
  sum->iterations = before.iterations + part.iterations;
  sum->linearIterations = before.linearIterations + part.linearIterations;
  sum->residual = std::max(before.residual, part.residual);
  sum->errorBound = before.errorBound + part.errorBound;
  sum->frictionUpdates = before.frictionUpdates + part.frictionUpdates;
  sum->frictionResidual = std::max(before.frictionResidual, part.frictionResidual);
  sum->patchError = std::max(before.patchError, part.patchError);
  sum->maxDepth = std::max(before.maxDepth, part.maxDepth);
  sum->numInverted = std::max(before.numInverted, part.numInverted);
  if (!isNamed) return;
  sum->body1 = before.body1;
  sum->body2 = before.body2;
  sum->soft = before.soft;
  sum->soft2 = before.soft2;
}

}  // namespace tangere::sim
