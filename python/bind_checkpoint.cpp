// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "environments.hpp"
#include "struct_binding.hpp"

#include <tangere/checkpoint.hpp>

#include <nanobind/stl/filesystem.h>

namespace tangere::python {

void bindCheckpoint(nb::module_&, nb::class_<Environments>& simulator) {
  simulator
      .def(
          "save_checkpoint",
          [](Environments& self, const std::filesystem::path& path,
             const Argument<int>& environment) {
            const Environments::Use use(self);
            self.push();
            const Simulator& chosen = self.at(self.checked(environment.as("env")));
            RunCounters counters;
            counters.steps = chosen.state().step;
            saveCheckpoint(path, chosen.model(), chosen.state(), counters);
          },
          nb::arg("path"), nb::arg("env") = 0,
          "Saves the state of an environment to a file that `tangere run --resume` reads. The file "
          "is whole or not there.")
      .def(
          "load_checkpoint",
          [](Environments& self, const std::filesystem::path& path,
             const Argument<int>& environment) {
            const Environments::Use use(self);
            self.push();
            const int chosen = self.checked(environment.as("env"));
            self.setState(chosen, loadCheckpoint(path, self.at(chosen).model()).state);
            self.pull();
          },
          nb::arg("path"), nb::arg("env") = 0,
          "Goes on from a checkpoint of the same model, to the same bits.");
}

}  // namespace tangere::python
