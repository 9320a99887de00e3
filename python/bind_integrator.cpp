// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "struct_binding.hpp"

#include <tangere/integrator.hpp>

namespace tangere::python {

void bindIntegrator(nb::module_& m) {
  nb::enum_<EventCause>(m, "EventCause", "Why the event solver stopped at an instant.")
      .value("CONTACT_BEGINS", EventCause::ContactBegins)
      .value("CONTACT_ENDS", EventCause::ContactEnds)
      .value("IMPACT", EventCause::Impact)
      .value("FORCE_VANISHES", EventCause::ForceVanishes)
      .value("FORCE_RETURNS", EventCause::ForceReturns);
  using Event = EventRecord;
  bindResult<Event>(
      m, "EventRecord", "An instant at which a contact began or ended.",
      field("time", &Event::time, "[s]"), field("cause", &Event::cause, "what happened"),
      field("body1", &Event::body1, "index"), field("body2", &Event::body2, "index"),
      field("shape1", &Event::shape1, "index"), field("shape2", &Event::shape2, "index"),
      field("distance", &Event::distance, "that crossed zero, hysteresis included [m]"),
      field("normal", &Event::normal, "from body 2 to body 1"),
      field("position", &Event::position, "world [m]"),
      field("approach_speed", &Event::approachSpeed, "when the contact began [m/s]"),
      field("stiffness", &Event::stiffness, "of the law of Hertz, or of a point"),
      field("damping", &Event::damping, "[s/m]"),
      field("is_restart", &Event::isRestart, "the integrator started anew"));
  using Result = ContactResult;
  bindResult<Result>(
      m, "ContactResult", "A contact of the event solver at an instant.",
      field("body1", &Result::body1, "index"), field("body2", &Result::body2, "index"),
      field("shape1", &Result::shape1, "index"), field("shape2", &Result::shape2, "index"),
      field("penetration", &Result::penetration, "[m]"),
      field("penetration_rate", &Result::penetrationRate, "> 0: going deeper [m/s]"),
      field("tangential_speed", &Result::tangentialSpeed, "[m/s]"),
      field("angular_speed", &Result::angularSpeed, "[rad/s]"),
      field("normal_force", &Result::normalForce, "[N]"),
      field("tangential_force", &Result::tangentialForce, "[N]"),
      field("torque_size", &Result::torqueSize, "of rolling resistance [N m]"),
      field("position", &Result::position, "in the frame [m]"),
      field("normal", &Result::normal, "from body 2 to body 1"),
      field("force", &Result::force, "on body 1 [N]"),
      field("torque", &Result::torque, "about the point [N m]"));
  using Statistics = EventStatistics;
  bindResult<Statistics>(
      m, "EventStatistics", "The work of the integrator.",
      field("num_steps", &Statistics::numSteps, "steps of the integrator"),
      field("num_derivatives", &Statistics::numDerivatives, "evaluations of the derivative"),
      field("num_jacobians", &Statistics::numJacobians, "Jacobians that were made"),
      field("num_zero_crossings", &Statistics::numZeroCrossings,
            "evaluations of the functions that cross zero"),
      field("num_restarts", &Statistics::numRestarts, "times the integrator began anew"),
      field("num_events", &Statistics::numEvents, "events found"));
}

void bindEvents(nb::module_&, nb::class_<Environments>& simulator) {
  simulator
      .def(
          "events",
          [](Environments& self, const Argument<int>& environment) {
            const Environments::Use use(self);
            const auto events = self.at(self.checked(environment.as("env"))).events();
            return std::vector<EventRecord>(events.begin(), events.end());
          },
          nb::arg("env") = 0,
          "The event solver: what happened within the last step or advance_to(), in order of time.")
      .def(
          "describe_event",
          [](Environments& self, const EventRecord& event) {
            // It may be of another simulator.
            for (const int body : {event.body1, event.body2})
              if (body < 0 || body >= self.model().numBodies())
                throw InvalidInput("the event is about body " + std::to_string(body) +
                                   ": the model has " + std::to_string(self.model().numBodies()));
            return describe(event, self.model());
          },
          nb::arg("event"), "The lines of a log about an event, with names.")
      .def(
          "contact_results",
          [](Environments& self, const Argument<int>& environment, nb::handle frame) {
            const Environments::Use use(self);
            const int body = frame.is_none() ? -1 : bodyIndex(self.model(), frame);
            const int index = self.checked(environment.as("env"));
            self.push();
            return self.at(index).contactResults(body);
          },
          nb::arg("env") = 0, nb::arg("frame") = nb::none(),
          nb::sig("def contact_results(self, env: int = 0, frame: str | int | None = None) -> "
                  "list[ContactResult]"),
          "The event solver: contacts as they are now, with their rates, seen from a body or the "
          "world.")
      .def(
          "event_statistics",
          [](Environments& self, const Argument<int>& environment) {
            const Environments::Use use(self);
            return EventStatistics(self.at(self.checked(environment.as("env"))).eventStatistics());
          },
          nb::arg("env") = 0, "The event solver: its work since the start.");
}

}  // namespace tangere::python
