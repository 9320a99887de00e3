// SPDX-License-Identifier: Apache-2.0
//
// What happened in a step, in words.
#include <tangere/simulator.hpp>

#include <cstdio>
#include <string>

namespace tangere {

std::string_view stepStatusName(StepStatus bit) {
  switch (bit) {
    case StepStatus::Ok:
      return "Ok";
    case StepStatus::SolverNotConverged:
      return "SolverNotConverged";
    case StepStatus::StateNotFinite:
      return "StateNotFinite";
    case StepStatus::EnergyInjected:
      return "EnergyInjected";
    case StepStatus::QueryNotConverged:
      return "QueryNotConverged";
    case StepStatus::ImpactsCut:
      return "ImpactsCut";
    case StepStatus::HandlerRefused:
      return "HandlerRefused";
    case StepStatus::ElementsInverted:
      return "ElementsInverted";
    case StepStatus::StepDivided:
      return "StepDivided";
    case StepStatus::IntegratorFailed:
      return "IntegratorFailed";
    case StepStatus::TooManyContacts:
      return "TooManyContacts";
    case StepStatus::MayHaveCrossed:
      return "MayHaveCrossed";
    case StepStatus::Interrupted:
      return "Interrupted";
    case StepStatus::OverlapNotResolved:
      return "OverlapNotResolved";
    case StepStatus::TooMuchWork:
      return "TooMuchWork";
    case StepStatus::EnergyRefused:
      return "EnergyRefused";
  }
  return "Unknown";
}

namespace {

std::string describeWork(const StepReport& report, const Model& model) {
  const EventOptions& options = model.options().event;
  if (report.memoryNeeded == 0)
    return ": more than " + std::to_string(options.maxSteps) +
           " steps of the integrator (event.max_steps)";
  char text[96];
  std::snprintf(text, sizeof text, ": %.3g GB at least, the limit is %.3g GB (event.max_memory)",
                1e-9 * report.memoryNeeded, 1e-9 * options.maxMemory);
  return text;
}

}  // namespace

std::string describe(const StepReport& report, const Model& model, std::uint64_t step) {
  if (report.status == StepStatus::Ok) return "";
  std::string text = "step " + std::to_string(step) + ":";
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
    if (has(report.status, static_cast<StepStatus>(bit))) {
      text += " ";
      text += stepStatusName(static_cast<StepStatus>(bit));
    }
  }
  if (report.body1 >= 0) {
    text += report.body2 >= 0 ? " between '" : " of '";
    text += model.bodyName(report.body1);
    text += "'";
  }
  if (report.body2 >= 0) {
    text += " and '";
    text += model.bodyName(report.body2);
    text += "'";
  }
  if (report.soft >= 0) {
    text += report.body1 >= 0 ? ", soft body '" : " of soft body '";
    text += model.softBodyName(report.soft);
    text += "'";
  }
  if (report.soft2 >= 0) {
    text += " and '";
    text += model.softBodyName(report.soft2);
    text += "'";
  }
  if (has(report.status, StepStatus::StateNotFinite))
    text += ": it runs away, faster than 1e20 m/s or rad/s or without a finite motion";
  if (has(report.status, StepStatus::TooManyContacts)) {
    text += ": " + std::to_string(report.contactsNeeded) + " contacts" +
            (report.isLimitOfAll ? ", most of them of kind '" : " of kind '") +
            contactKindName(report.contactKind) + "', the limit is " +
            std::to_string(report.contactLimit);
  }
  if (has(report.status, StepStatus::TooMuchWork)) text += describeWork(report, model);
  return text;
}

}  // namespace tangere
