// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "memory.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

#include <limits>

namespace tangere::python {

namespace {

/// Of the controls of all steps, and the coordinates after each.
void requireMemoryFor(const Environments& self, std::size_t steps) {
  const Model& model = self.model();
  const double width = model.numPositions() + model.numVelocities() + model.numActuators();
  requireMemory(
      sizeof(Real) * width * self.size() * static_cast<double>(steps),
      std::to_string(steps) + " steps of " + std::to_string(self.size()) + " environments");
}

/// (num_envs, steps, actuators), or (steps, actuators) for all of them.
std::tuple<int, std::vector<Real>> controlsFor(const Environments& self,
                                               const std::optional<ArrayLike>& controls,
                                               const std::optional<int>& numSteps) {
  const auto envs = static_cast<std::size_t>(self.size());
  const auto width = static_cast<std::size_t>(self.model().numActuators());
  if (!controls) {
    if (!numSteps) throw InvalidInput("rollout needs controls or num_steps");
    if (*numSteps < 0)
      throw InvalidInput("num_steps must not be negative, found " + std::to_string(*numSteps));
    requireMemoryFor(self, static_cast<std::size_t>(*numSteps));
    // What they are told now, at every step.
    std::vector<Real> values;
    for (int i = 0; i < self.size(); ++i)
      for (int k = 0; k < *numSteps; ++k) {
        const std::span<const Real> now = self.at(i).controls();
        values.insert(values.end(), now.begin(), now.end());
      }
    return {*numSteps, std::move(values)};
  }
  const InputArray<Real> given = toArray<Real>(*controls, "controls");
  const std::size_t rank = given.shape.size();
  const bool isForAll = rank == 2;
  const std::size_t steps = rank >= 2 ? given.shape[rank - 2] : 0;
  if ((rank != 2 && rank != 3) || given.shape[rank - 1] != width ||
      (rank == 3 && given.shape[0] != envs) || steps > std::numeric_limits<int>::max())
    throw InvalidInput("controls must have the shape (" + std::to_string(envs) + ", steps, " +
                       std::to_string(width) + ") or (steps, " + std::to_string(width) +
                       "), found " + shapeText(given.shape));
  if (numSteps && static_cast<std::size_t>(*numSteps) != steps)
    throw InvalidInput("controls have " + std::to_string(steps) + " steps, num_steps is " +
                       std::to_string(*numSteps));
  requireMemoryFor(self, steps);
  std::vector<Real> values;
  values.reserve(envs * steps * width);
  for (std::size_t i = 0; i < (isForAll ? envs : 1); ++i)
    values.insert(values.end(), given.data, given.data + given.size);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] - values[i] == 0))
      throw InvalidInput("controls must be finite, found " + std::to_string(values[i]) +
                         " for environment " + std::to_string(i / (steps * width)) + ", step " +
                         std::to_string(i / width % steps) + ", actuator " +
                         std::to_string(i % width));
  return {static_cast<int>(steps), std::move(values)};
}

using Trajectory = NumpyArray<Real, nb::ndim<3>, nb::c_contig>;

std::tuple<Trajectory, Trajectory> rollout(Environments& self,
                                           const std::optional<ArrayLike>& controls,
                                           const std::optional<Argument<int>>& numSteps) {
  const Environments::Use use(self);
  self.push();
  const auto [steps, values] = controlsFor(
      self, controls, numSteps ? std::optional(numSteps->as("num_steps")) : std::nullopt);
  const auto envs = static_cast<std::size_t>(self.size());
  const auto rows = static_cast<std::size_t>(steps);
  const auto numQ = static_cast<std::size_t>(self.model().numPositions());
  const auto numV = static_cast<std::size_t>(self.model().numVelocities());
  std::vector<Real> q(envs * rows * numQ), v(envs * rows * numV);
  self.rollout(steps, values, q, v);
  return {makeArray<Real, nb::ndim<3>, nb::c_contig>(std::move(q), {envs, rows, numQ}),
          makeArray<Real, nb::ndim<3>, nb::c_contig>(std::move(v), {envs, rows, numV})};
}

}  // namespace

void bindBatch(nb::module_&, nb::class_<Environments>& simulator) {
  simulator
      .def("_rollout", &rollout, nb::arg("controls") = nb::none(),
           nb::arg("num_steps") = nb::none(), "See rollout().")
      .def(
          "set_parameters",
          [](Environments& self, const ModelParameters& parameters,
             const Argument<int>& environment) {
            const Environments::Use use(self);
            self.push();
            self.setParameters(self.checked(environment.as("env")), parameters);
            self.pull();
          },
          nb::arg("parameters"), nb::arg("env") = 0,
          "Masses, friction and gains of one environment, from those of the model; it keeps its "
          "state and its controls.");
}

}  // namespace tangere::python
