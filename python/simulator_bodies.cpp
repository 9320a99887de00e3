// SPDX-License-Identifier: Apache-2.0
//
// Bodies by name: sim.body("box").position.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "part_view.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

struct BodyView : PartView {
  [[nodiscard]] std::string name() const { return std::string(model().bodyName(index)); }

  template <class Fill>
  [[nodiscard]] NumpyArray<Real> readBody(std::vector<std::size_t> shape, const Fill& fill) const {
    return read(std::move(shape), [&](const Simulator& s, Real* out) { fill(s.body(index), out); });
  }
};

Vec3 vectorOf(std::span<const Real> row) { return {row[0], row[1], row[2]}; }

template <class Fill>
NumpyArray<Real> readAll(Environments& self, std::size_t width, const Fill& fill) {
  const Environments::Use use(self);
  self.push();
  const auto count = static_cast<std::size_t>(self.model().numBodies());
  return gather(self, {count, width}, [&](int i, Real* out) {
    for (std::size_t k = 0; k < count; ++k)
      fill(self.at(i).body(static_cast<int>(k)), out + k * width);
  });
}

void putQuaternion(const BodyState& body, Real* out) {
  const Quat& q = body.orientation;
  out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

void bindView(nb::module_& m) {
  nb::class_<BodyView>(
      m, "BodyView",
      "A body of a simulator. Arrays lead with the environment axis, unless one environment was "
      "asked for; they are copies.")
      .def_prop_ro(
          "name", [](const BodyView& self) { return self.name(); }, "Its name.")
      .def_prop_ro(
          "index", [](const BodyView& self) { return self.index; }, "Its index.")
      .def_prop_ro(
          "pose",
          [](const BodyView& self) {
            return self.readBody(
                {4, 4}, [](const BodyState& b, Real* out) { writeTransform(b.pose, out); });
          },
          "(num_envs, 4, 4), body to world.")
      .def_prop_ro(
          "position",
          [](const BodyView& self) {
            return self.readBody(
                {3}, [](const BodyState& b, Real* out) { put(b.pose.translation, out); });
          },
          "Of its origin, (num_envs, 3) [m].")
      .def_prop_ro(
          "quaternion", [](const BodyView& self) { return self.readBody({4}, &putQuaternion); },
          "(num_envs, 4), w x y z.")
      .def_prop_ro(
          "linear_velocity",
          [](const BodyView& self) {
            return self.readBody({3},
                                 [](const BodyState& b, Real* out) { put(b.linearVelocity, out); });
          },
          "Of its origin, world, (num_envs, 3) [m/s].")
      .def_prop_ro(
          "angular_velocity",
          [](const BodyView& self) {
            return self.readBody(
                {3}, [](const BodyState& b, Real* out) { put(b.angularVelocity, out); });
          },
          "World, (num_envs, 3) [rad/s].")
      .def(
          "set_pose",
          [](const BodyView& self, const Argument<Transform>& given) {
            const Transform pose = given.as("pose");
            self.write([&](int, Simulator& s) { s.setPose(self.index, pose); });
          },
          nb::arg("pose"), "Moves a free, fixed or kinematic body; wakes what sleeps near it.")
      .def(
          "set_velocity",
          [](const BodyView& self, const ArrayLike& linear, const ArrayLike& angular) {
            const Rows v = self.rows(linear, "linear", {3}), w = self.rows(angular, "angular", {3});
            self.write([&](int i, Simulator& s) {
              s.setVelocity(self.index, vectorOf(v.of(i)), vectorOf(w.of(i)));
            });
          },
          nb::arg("linear"), nb::arg("angular"),
          "Of its origin [m/s], and angular [rad/s]; world; one for all environments, or one for "
          "each.")
      .def(
          "apply_force",
          [](const BodyView& self, const ArrayLike& force, const ArrayLike& torque) {
            const Rows f = self.rows(force, "force", {3}), t = self.rows(torque, "torque", {3});
            self.write([&](int i, Simulator& s) {
              s.applyForce(self.index, vectorOf(f.of(i)), vectorOf(t.of(i)));
            });
          },
          nb::arg("force"), nb::arg("torque").sig("(0, 0, 0)") = nb::make_tuple(0, 0, 0),
          "At the centre of mass, world, for the next step only [N, N m].")
      .def("__repr__", [](const BodyView& self) {
        return nb::str("<tangere.BodyView '{}'>").attr("format")(self.name());
      });
}

}  // namespace

void bindBodies(nb::module_& m, nb::class_<Environments>& simulator) {
  bindView(m);
  simulator
      .def(
          "body",
          [](nb::handle self, nb::handle body, const EnvironmentArgument& env) {
            return viewOf<BodyView>(self, body, env, &bodyIndex);
          },
          nb::arg("name"), nb::arg("env") = nb::none(),
          nb::sig("def body(self, name: str | int, env: int | None = None) -> BodyView"),
          "A body by its name; near names in the error. With env, its arrays are those of that "
          "environment alone.")
      .def(
          "body_positions",
          [](Environments& self) {
            return readAll(self, 3,
                           [](const BodyState& b, Real* out) { put(b.pose.translation, out); });
          },
          "Origins of all bodies, (num_envs, num_bodies, 3), in order of model.body_names.")
      .def(
          "body_quaternions", [](Environments& self) { return readAll(self, 4, &putQuaternion); },
          "(num_envs, num_bodies, 4), w x y z.")
      .def(
          "body_velocities",
          [](Environments& self) {
            return readAll(self, 6, [](const BodyState& b, Real* out) {
              put(b.linearVelocity, out);
              put(b.angularVelocity, out + 3);
            });
          },
          "Of the origins, then angular, world, (num_envs, num_bodies, 6).");
}

}  // namespace tangere::python
