// SPDX-License-Identifier: Apache-2.0
//
// What a Simulator holds, and what its parts have to forget or to bring along when somebody changes
// its state from outside.
#pragma once

#include <tangere/simulator.hpp>

#include "contact/sap_workspace.hpp"
#include "model/workspace.hpp"
#include "sim/divided_step.hpp"
#include "sim/error_control.hpp"
#include "sim/event_step.hpp"
#include "sim/sensors.hpp"
#include "sim/step.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tangere {

namespace sim {

/// Throw InvalidInput with `what` unless there are as many values as expected, all of them finite.
void requireFinite(std::span<const Real> values, std::size_t expected, const char* what);
void requireFinite(std::span<const Vec3> values, std::size_t expected, const char* what);

}  // namespace sim

struct Simulator::Impl {
  Impl(Model m, int numThreads);

  /// State or control were changed from outside.
  void forgetMotion();
  /// Coordinates of free bodies after these were moved from outside.
  void copyToCoordinates();
  /// Bodies after the coordinates were changed from outside.
  void copyFromCoordinates();
  /// Joints that do not start at their references.
  void moveToStart();
  /// What schedules tell the actuators at the start of a step.
  void followSchedules();
  void requireNotJointed(int body) const;

  void requireSoft(int soft) const;
  void requireVertex(int soft, int vertex) const;
  /// What comes before and after the step that `move` takes.
  template <class Move>
  const StepReport& finish(const Move& move);
  /// The last step was taken.
  [[nodiscard]] bool isWhole() const { return !isRefused(ws.report.status); }

  void wake(int body);
  /// Wakes what sleeps on, under or beside the body where it is now.
  void wakeNear(int body);
  /// After the state was changed from outside.
  void forgetPoses();

  Model model;
  State state;
  model::Control control;
  model::Workspace ws;
  std::unique_ptr<contact::SapWorkspace> sap;  ///< of the SAP solver
  std::unique_ptr<sim::ErrorControl> errorControl;
  std::unique_ptr<sim::DividedStep> divided;  ///< of soft bodies and pressure
  std::unique_ptr<sim::EventStep> event;      ///< of the event solver
  EnergyLedger sum;
  sim::PhaseClock clock;
  std::vector<PhaseTime> phases;
  std::vector<ContactForce> allContacts;
  std::vector<Real> actuatorForces;
  std::unique_ptr<sim::Sensors> sensors;  ///< null: the model has none
  std::span<const Real> readings;
  std::vector<HandlerForce> handlerForces;
  std::vector<PressurePolygon> pressureContacts;
  bool areSensorsRead = false;
  bool hasStep = false;          ///< what the last step did is about the state as it is
  bool isLedgerOfState = false;  ///< so is ws.ledger
  bool hasForces = false;
};

}  // namespace tangere
