// SPDX-License-Identifier: Apache-2.0
//
// Kinematics and dynamics at the coordinates of the environments: M(q) a + bias(q, v) = force.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

/// Everything is for the coordinates as they are now.
template <class Fill>
NumpyArray<Real> evaluate(Environments& self, std::vector<std::size_t> shape, const Fill& fill) {
  const Environments::Use use(self);
  self.push();
  return gather(self, std::move(shape),
                [&](int i, Real* out) { fill(self.dynamicsAt(i), i, out); });
}

std::size_t numV(const Environments& self) {
  return static_cast<std::size_t>(self.model().numVelocities());
}
std::size_t numQ(const Environments& self) {
  return static_cast<std::size_t>(self.model().numPositions());
}

void write(const Vec3& v, Real* out) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

void bindMatrices(nb::class_<Environments>& simulator) {
  simulator
      .def(
          "mass_matrix",
          [](Environments& self) {
            const std::size_t n = numV(self);
            return evaluate(self, {n, n}, [&](Dynamics& d, int, Real* out) {
              d.massMatrix({out, n * n});
            });
          },
          "(num_envs, n, n), n = num_velocities; armature is in it.")
      .def(
          "bias_force",
          [](Environments& self) {
            const std::size_t n = numV(self);
            return evaluate(self, {n}, [&](Dynamics& d, int, Real* out) { d.biasForce({out, n}); });
          },
          "Coriolis and centrifugal forces less gravity, (num_envs, n).")
      .def(
          "passive_force",
          [](Environments& self) {
            const std::size_t n = numV(self);
            return evaluate(self, {n}, [&](Dynamics& d, int, Real* out) {
              d.passiveForce({out, n});
            });
          },
          "Springs and damping of joints, and damping of bodies, (num_envs, n).")
      .def(
          "inverse_dynamics",
          [](Environments& self, const ArrayLike& acceleration) {
            const std::size_t n = numV(self);
            const Rows rows = rowsFor(self, acceleration, "acceleration", {n});
            return evaluate(self, {n}, [&](Dynamics& d, int i, Real* out) {
              d.inverseDynamics(rows.of(i), {out, n});
            });
          },
          nb::arg("acceleration"), "The force for an acceleration: M a + bias.")
      .def(
          "forward_dynamics",
          [](Environments& self, const ArrayLike& force) {
            const std::size_t n = numV(self);
            const Rows rows = rowsFor(self, force, "force", {n});
            return evaluate(self, {n}, [&](Dynamics& d, int i, Real* out) {
              d.forwardDynamics(rows.of(i), {out, n});
            });
          },
          nb::arg("force"),
          "The acceleration under a force: M^-1 (force - bias). Contacts, limits and drives are "
          "not in it.")
      .def(
          "jacobian",
          [](Environments& self, nb::handle body, const ArrayLike& point) {
            const std::size_t n = numV(self);
            const int index = bodyIndex(self.model(), body);
            const Rows points = rowsFor(self, point, "point", {3});
            return evaluate(self, {6, n}, [&](Dynamics& d, int i, Real* out) {
              const std::span<const Real> p = points.of(i);
              d.jacobian(index, {p[0], p[1], p[2]}, {out, 6 * n});
            });
          },
          nb::arg("body"), nb::arg("point"),
          nb::sig("def jacobian(self, body: str | int, point: numpy.typing.ArrayLike) -> "
                  "numpy.typing.NDArray[numpy.float64]"),
          "(num_envs, 6, n): velocity of the point of a body that is at `point` (world; one for "
          "all, or one for each), then its angular velocity.");
}

void bindEnergies(nb::class_<Environments>& simulator) {
  simulator
      .def(
          "center_of_mass",
          [](Environments& self) {
            return evaluate(self, {3},
                            [](Dynamics& d, int, Real* out) { write(d.centerOfMass(), out); });
          },
          "Of all bodies that forces move, soft ones included, (num_envs, 3) [m].")
      .def(
          "kinetic_energy",
          [](Environments& self) {
            return evaluate(self, {},
                            [](Dynamics& d, int, Real* out) { *out = d.kineticEnergy(); });
          },
          "Soft bodies included, (num_envs,) [J].")
      .def(
          "potential_energy",
          [](Environments& self) {
            return evaluate(self, {},
                            [](Dynamics& d, int, Real* out) { *out = d.potentialEnergy(); });
          },
          "Of gravity, springs and soft bodies, (num_envs,) [J].")
      .def(
          "momentum",
          [](Environments& self) {
            return evaluate(self, {6}, [](Dynamics& d, int, Real* out) {
              const Momentum momentum = d.momentum();
              write(momentum.linear, out);
              write(momentum.angular, out + 3);
            });
          },
          "Linear, then angular about the common centre of mass, soft bodies included, (num_envs, "
          "6).")
      .def(
          "integrate_positions",
          [](Environments& self, const ArrayLike& q, const ArrayLike& v, Real dt) {
            if (!(dt - dt == 0))
              throw InvalidInput("dt must be finite [s], found " + std::to_string(dt));
            const std::size_t n = numQ(self);
            const Rows from = rowsFor(self, q, "q", {n});
            const Rows along = rowsFor(self, v, "v", {numV(self)});
            return evaluate(self, {n}, [&](Dynamics& d, int i, Real* out) {
              d.integratePositions(from.of(i), along.of(i), dt, {out, n});
            });
          },
          nb::arg("q"), nb::arg("v"), nb::arg("dt"),
          "q moved by the constant velocity v for dt [s]; quaternions stay unit.")
      .def(
          "differentiate_positions",
          [](Environments& self, const ArrayLike& q1, const ArrayLike& q2) {
            const std::size_t n = numV(self);
            const Rows from = rowsFor(self, q1, "q1", {numQ(self)});
            const Rows to = rowsFor(self, q2, "q2", {numQ(self)});
            return evaluate(self, {n}, [&](Dynamics& d, int i, Real* out) {
              d.differentiatePositions(from.of(i), to.of(i), {out, n});
            });
          },
          nb::arg("q1"), nb::arg("q2"), "The velocity that takes q1 to q2 in one second.");
}

}  // namespace

void bindDynamics(nb::module_&, nb::class_<Environments>& simulator) {
  bindMatrices(simulator);
  bindEnergies(simulator);
}

}  // namespace tangere::python
