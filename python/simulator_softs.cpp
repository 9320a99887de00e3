// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies by name: sim.soft("ball").positions.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

struct SoftView {
  nb::object simulator;
  int index = 0;
  std::optional<int> env;

  [[nodiscard]] Environments& environments() const { return nb::cast<Environments&>(simulator); }
  [[nodiscard]] std::size_t numVertices() const {
    return environments().model().softMesh(index).vertices().size();
  }
  template <class Fill>
  [[nodiscard]] NumpyArray<Real> read(std::vector<std::size_t> shape, const Fill& fill) const {
    Environments& all = environments();
    const Environments::Use use(all);
    all.push();
    return gather(all, env, std::move(shape), [&](int i, Real* out) { fill(all.at(i), out); });
  }
  template <class Function>
  void write(const Function& function) const {
    Environments& all = environments();
    const Environments::Use use(all);
    all.push();
    for (int i = 0; i < all.size(); ++i)
      if (!env || *env == i) function(i, all.at(i));
  }
  /// Vertices for all environments, or for each.
  void writeVertices(const ArrayLike& input, const char* name,
                     void (Simulator::*set)(int, std::span<const Vec3>)) const {
    const Rows rows = rowsFor(environments(), input, name, {numVertices(), 3});
    write([&](int i, Simulator& s) {
      const std::span<const Real> row = rows.of(i);
      std::vector<Vec3> vertices;
      for (std::size_t k = 0; k < row.size(); k += 3)
        vertices.push_back({row[k], row[k + 1], row[k + 2]});
      (s.*set)(index, vertices);
    });
  }
};

void copyOut(std::span<const Vec3> vertices, Real* out) {
  for (const Vec3& v : vertices) {
    *out++ = v.x;
    *out++ = v.y;
    *out++ = v.z;
  }
}

}  // namespace

void bindSofts(nb::module_& m, nb::class_<Environments>& simulator) {
  nb::class_<SoftView>(m, "SoftView",
                       "A soft body of a simulator. Arrays lead with the environment axis, unless "
                       "one environment was asked for; they are copies.")
      .def_prop_ro(
          "name",
          [](const SoftView& self) {
            return std::string(self.environments().model().softBodyName(self.index));
          },
          "Its name.")
      .def_ro("index", &SoftView::index, "Its index.")
      .def_prop_ro(
          "positions",
          [](const SoftView& self) {
            return self.read({self.numVertices(), 3}, [&](const Simulator& s, Real* out) {
              copyOut(s.softPositions(self.index), out);
            });
          },
          "Of its vertices, (num_envs, n, 3) [m].")
      .def_prop_ro(
          "velocities",
          [](const SoftView& self) {
            return self.read({self.numVertices(), 3}, [&](const Simulator& s, Real* out) {
              copyOut(s.softVelocities(self.index), out);
            });
          },
          "Of its vertices, (num_envs, n, 3) [m/s].")
      .def_prop_ro(
          "tets",
          [](const SoftView& self) {
            return makeIndexArray(self.environments().model().softMesh(self.index).tets());
          },
          "Its tetrahedra, (n, 4).")
      .def_prop_ro(
          "surface",
          [](const SoftView& self) {
            return makeIndexArray(self.environments().model().softMesh(self.index).surface());
          },
          "Triangles of its surface, (n, 3).")
      .def(
          "stress",
          [](const SoftView& self) {
            const std::size_t tets = self.environments().model().softMesh(self.index).tets().size();
            return self.read({tets, 3, 3}, [&](const Simulator& s, Real* out) {
              for (const Mat3& stress : s.softStress(self.index))
                for (int k = 0; k < 9; ++k) *out++ = stress(k / 3, k % 3);
            });
          },
          "Cauchy stress of each tetrahedron, (num_envs, n, 3, 3) [Pa].")
      .def(
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
          [](const SoftView& self, int vertex, const Vec3& target) {
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
          [](const SoftView& self, int vertex, const Vec3& force) {
            self.write([&](int, Simulator& s) { s.applySoftForce(self.index, vertex, force); });
          },
          nb::arg("vertex"), nb::arg("force"), "World, for the next step only [N].");
  simulator.def(
      "soft",
      [](nb::handle self, nb::handle soft, std::optional<int> env) {
        auto& environments = nb::cast<Environments&>(self);
        if (env) env = environments.checked(*env);
        return SoftView{nb::borrow(self), softIndex(environments.model(), soft), env};
      },
      nb::arg("name"), nb::arg("env") = nb::none(),
      nb::sig("def soft(self, name: str | int, env: int | None = None) -> SoftView"),
      "A soft body by its name; near names in the error.");
}

}  // namespace tangere::python
