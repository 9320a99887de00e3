// SPDX-License-Identifier: Apache-2.0
//
// Contact handlers in Python: sim.add_contact_handler(handler). Every call of the solver takes the
// interpreter's lock.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "python_handler.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

void bindSeenBodies(nb::module_& m) {
  nb::class_<SeenBodies>(m, "HandlerView",
                         "The bodies at the start of a step, as a ContactHandler sees them; good "
                         "within detect() only. Bodies are indices (Model.body_index); -1 is the "
                         "world.")
      .def_prop_ro(
          "dt", [](const SeenBodies& self) { return self.view().dt(); }, "The step [s].")
      .def_prop_ro(
          "time", [](const SeenBodies& self) { return self.view().time(); },
          "At the start of the step [s].")
      .def_prop_ro(
          "num_bodies", [](const SeenBodies& self) { return self.view().numBodies(); }, "Bodies.")
      .def(
          "pose",
          [](const SeenBodies& self, int body) { return self.view().pose(self.checked(body)); },
          nb::arg("body"), "Body to world, 4 x 4.")
      .def(
          "center_of_mass",
          [](const SeenBodies& self, int body) {
            return self.view().centerOfMass(self.checked(body));
          },
          nb::arg("body"), "World [m].")
      .def(
          "velocity_at",
          [](const SeenBodies& self, int body, const Argument<Vec3>& point) {
            return self.view().velocityAt(self.checked(body), point.as("point"));
          },
          nb::arg("body"), nb::arg("point"),
          "Velocity of the point of a body that is at `point`, world [m/s].")
      .def(
          "angular_velocity",
          [](const SeenBodies& self, int body) {
            return self.view().angularVelocity(self.checked(body));
          },
          nb::arg("body"), "World [rad/s].");
}

void bindRows(nb::module_& m) {
  bindStruct<ConstraintRow>(
      m, "ConstraintRow",
      "One row of a constraint: the velocity along `direction` of body 1 at point 1 less that of "
      "body 2 at point 2 [m/s]; or, angular, of their angular velocities [rad/s]. A positive "
      "impulse pushes body 1 along `direction`.",
      field("direction", &ConstraintRow::direction, "world; its length scales the row"),
      field("point1", &ConstraintRow::point1, "of body 1, world [m]"),
      field("point2", &ConstraintRow::point2, "of body 2, world [m]"),
      field("is_angular", &ConstraintRow::isAngular, "of angular velocities"));
  bindStruct<HandlerRows>(m, "ConstraintRows",
                          "A constraint of a ContactHandler between two bodies.",
                          field("body1", &HandlerRows::body1, "index; -1: the world"),
                          field("body2", &HandlerRows::body2, "index; -1: the world"),
                          field("rows", &HandlerRows::rows, "one to six"));
  nb::class_<HandlerForce>(m, "HandlerForce",
                           "What one constraint of a ContactHandler did in the last step.")
      .def_ro("constraint", &HandlerForce::constraint, "Its number, as its handler counts.")
      .def_ro("body1", &HandlerForce::body1, "Index; -1: the world.")
      .def_ro("body2", &HandlerForce::body2, "Index; -1: the world.")
      .def_prop_ro(
          "velocity",
          [](const HandlerForce& self) {
            return copyOf(self.velocity.data(), {static_cast<std::size_t>(self.numRows)});
          },
          "Of each row at the end of the step [m/s, rad/s].")
      .def_prop_ro(
          "force",
          [](const HandlerForce& self) {
            return copyOf(self.force.data(), {static_cast<std::size_t>(self.numRows)});
          },
          "Of each row, on body 1 [N, N m].");
}

}  // namespace

void bindContactHandler(nb::module_& m, nb::class_<Environments>& simulator) {
  bindSeenBodies(m);
  bindRows(m);
  simulator
      .def(
          "add_contact_handler",
          [](Environments& self, nb::object handler, const Argument<int>& env) {
            const Environments::Use use(self);
            return self.addHandler(self.checked(env.as("env")), std::move(handler));
          },
          nb::arg("handler"), nb::arg("env") = 0,
          nb::sig("def add_contact_handler(self, handler: tangere.ContactHandler, env: int = 0) -> "
                  "int"),
          "Constraints of your own, solved together with contacts and joints (the SAP solver), in "
          "one environment; returns the number of the handler. What a handler raises ends the "
          "step: the environments are as they were before it.")
      .def(
          "handler_forces",
          [](Environments& self, int handler, const Argument<int>& env) {
            const Environments::Use use(self);
            const Simulator& chosen = self.at(self.checked(env.as("env")));
            if (handler < 0 || handler >= chosen.numContactHandlers())
              throw InvalidInput("there is no handler " + std::to_string(handler) +
                                 ": the environment has " +
                                 std::to_string(chosen.numContactHandlers()));
            const std::span<const HandlerForce> forces = chosen.handlerForces(handler);
            return std::vector<HandlerForce>(forces.begin(), forces.end());
          },
          nb::arg("handler"), nb::arg("env") = 0,
          "What the constraints of a handler did in the last step.");
}

}  // namespace tangere::python
