// SPDX-License-Identifier: Apache-2.0
//
// Contacts as structured arrays. Always copies: past readings do not change.
#include "bindings.hpp"
#include "contact_rows.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

template <class Function>
void forChosen(Environments& self, const EnvironmentArgument& environment,
               const Function& function) {
  if (const std::optional<int> only = checkedEnvironment(self, environment)) {
    function(*only);
    return;
  }
  for (int i = 0; i < self.size(); ++i) function(i);
}

nb::object contacts(Environments& self, const EnvironmentArgument& environment) {
  const Environments::Use use(self);
  self.push();
  ContactRows rows;
  forChosen(self, environment,
            [&](int i) { rows.add(i, self.at(i).contacts(), &self.at(i).state()); });
  return rows.array(namesOf(self.model().numBodies(), bodyNames(self.model())));
}

nb::object pressureContacts(Environments& self, const EnvironmentArgument& environment) {
  const Environments::Use use(self);
  self.push();
  PolygonRows rows;
  forChosen(self, environment, [&](int i) { rows.add(i, self.at(i).pressureContacts()); });
  const Model& model = self.model();
  return rows.array(namesOf(model.numBodies(), bodyNames(model)),
                    namesOf(model.numSoftBodies(), softNames(model)));
}

}  // namespace

void bindContacts(nb::module_&, nb::class_<Environments>& simulator) {
  simulator
      .def("contacts", &contacts, nb::arg("env") = nb::none(),
           nb::sig("def contacts(self, env: int | None = None) -> "
                   "numpy.typing.NDArray[numpy.void]"),
           "Contact points of the last step, of all environments or of one, as a structured array; "
           "always a copy; none after reset(), set_state() or writing q, until the next step. "
           "Fields: name1, name2 (bodies; long names are cut), body1, body2, shape1, "
           "shape2 (indices), env, id (stable while the point lives), patch (points with the same "
           "number belong together), position, normal (from body 2 to body 1), depth [m], force1 "
           "and force2 (on body 1 and on body 2 [N]), torque1 [N m], normal_work and friction_work "
           "[J].")
      .def("pressure_contacts", &pressureContacts, nb::arg("env") = nb::none(),
           nb::sig("def pressure_contacts(self, env: int | None = None) -> "
                   "numpy.typing.NDArray[numpy.void]"),
           "Polygons of the pressure contacts of the last step, as a structured array; always a "
           "copy. Of vertices (8, 3) and pressures (8) the first num_vertices count; a side is a "
           "shape of a body, or a soft body (body is then -1).");
}

}  // namespace tangere::python
