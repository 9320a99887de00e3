// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies by name: sim.soft("ball").positions.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "part_view.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

struct SoftView : PartView {
  [[nodiscard]] std::string name() const { return std::string(model().softBodyName(index)); }
  [[nodiscard]] const TetMesh& mesh() const { return model().softMesh(index); }

  /// (num_envs, n, 3) of its vertices.
  [[nodiscard]] NumpyArray<Real> readVertices(std::span<const Vec3> (Simulator::*get)(int)
                                                  const) const {
    return read({mesh().vertices().size(), 3}, [&](const Simulator& s, Real* out) {
      for (const Vec3& v : (s.*get)(index)) {
        put(v, out);
        out += 3;
      }
    });
  }
  void writeVertices(const ArrayLike& input, const char* name,
                     void (Simulator::*set)(int, std::span<const Vec3>)) const {
    const Rows numbers = rows(input, name, {mesh().vertices().size(), 3});
    write([&](int i, Simulator& s) {
      const std::span<const Real> row = numbers.of(i);
      std::vector<Vec3> vertices;
      for (std::size_t k = 0; k < row.size(); k += 3)
        vertices.push_back({row[k], row[k + 1], row[k + 2]});
      (s.*set)(index, vertices);
    });
  }
};

NumpyArray<Real> stressOf(const SoftView& self) {
  return self.read({self.mesh().tets().size(), 3, 3}, [&](const Simulator& s, Real* out) {
    for (const Mat3& stress : s.softStress(self.index))
      for (int k = 0; k < 9; ++k) *out++ = stress(k / 3, k % 3);
  });
}

void bindReading(nb::class_<SoftView>& cls) {
  cls.def_prop_ro(
         "name", [](const SoftView& self) { return self.name(); }, "Its name.")
      .def_prop_ro(
          "index", [](const SoftView& self) { return self.index; }, "Its index.")
      .def_prop_ro(
          "positions",
          [](const SoftView& self) { return self.readVertices(&Simulator::softPositions); },
          "Of its vertices, (num_envs, n, 3) [m].")
      .def_prop_ro(
          "velocities",
          [](const SoftView& self) { return self.readVertices(&Simulator::softVelocities); },
          "Of its vertices, (num_envs, n, 3) [m/s].")
      .def_prop_ro(
          "tets", [](const SoftView& self) { return makeIndexArray(self.mesh().tets()); },
          "Its tetrahedra, (n, 4).")
      .def_prop_ro(
          "surface", [](const SoftView& self) { return makeIndexArray(self.mesh().surface()); },
          "Triangles of its surface, (n, 3).")
      .def("stress", &stressOf, "Cauchy stress of each tetrahedron, (num_envs, n, 3, 3) [Pa].")
      .def("__repr__", [](const SoftView& self) {
        return nb::str("<tangere.SoftView '{}'>").attr("format")(self.name());
      });
}

void bindWriting(nb::class_<SoftView>& cls) {
  cls.def(
         "set_positions",
         [](const SoftView& self, const ArrayLike& positions) {
           self.writeVertices(positions, "positions", &Simulator::setSoftPositions);
         },
         nb::arg("positions"), "(n, 3) for all environments, or (num_envs, n, 3) [m].")
      .def(
          "set_velocities",
          [](const SoftView& self, const ArrayLike& velocities) {
            self.writeVertices(velocities, "velocities", &Simulator::setSoftVelocities);
          },
          nb::arg("velocities"), "(n, 3) for all environments, or (num_envs, n, 3) [m/s].")
      .def(
          "drive_vertex",
          [](const SoftView& self, int vertex, const Argument<Vec3>& given) {
            const Vec3 target = given.as("target");
            self.write([&](int, Simulator& s) { s.driveVertex(self.index, vertex, target); });
          },
          nb::arg("vertex"), nb::arg("target"),
          "The vertex goes to the target within each step, until it is released.")
      .def(
          "release_vertex",
          [](const SoftView& self, int vertex) {
            self.write([&](int, Simulator& s) { s.releaseVertex(self.index, vertex); });
          },
          nb::arg("vertex"), "The vertex is free again.")
      .def(
          "apply_force",
          [](const SoftView& self, int vertex, const Argument<Vec3>& given) {
            const Vec3 force = given.as("force");
            self.write([&](int, Simulator& s) { s.applySoftForce(self.index, vertex, force); });
          },
          nb::arg("vertex"), nb::arg("force"), "World, for the next step only [N].");
}

}  // namespace

void bindSofts(nb::module_& m, nb::class_<Environments>& simulator) {
  nb::class_<SoftView> cls(m, "SoftView",
                           "A soft body of a simulator. Arrays lead with the environment axis, "
                           "unless one environment was asked for; they are copies.");
  bindReading(cls);
  bindWriting(cls);
  simulator.def(
      "soft",
      [](nb::handle self, nb::handle soft, const EnvironmentArgument& env) {
        return viewOf<SoftView>(self, soft, env, &softIndex);
      },
      nb::arg("name"), nb::arg("env") = nb::none(),
      nb::sig("def soft(self, name: str | int, env: int | None = None) -> SoftView"),
      "A soft body by its name; near names in the error.");
}

}  // namespace tangere::python
