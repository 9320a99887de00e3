// SPDX-License-Identifier: Apache-2.0
//
// What happened in a step, in words.
#include <tangere/simulator.hpp>

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
  }
  return "Unknown";
}

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
  if (has(report.status, StepStatus::TooManyContacts)) {
    text += ": " + std::to_string(report.contactsNeeded) + " contacts" +
            (report.isLimitOfAll ? ", most of them of kind '" : " of kind '") +
            contactKindName(report.contactKind) + "', the limit is " +
            std::to_string(report.contactLimit);
  }
  return text;
}

}  // namespace tangere
