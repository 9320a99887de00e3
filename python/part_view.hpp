// SPDX-License-Identifier: Apache-2.0
//
// A part of a simulator by name, of one environment or of all of them: what sim.body() and
// sim.soft() have in common. What is read are copies.
#pragma once

#include "environments.hpp"
#include "simulator_arrays.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tangere::python {

struct PartView {
  nb::object simulator;
  int index = 0;
  std::optional<int> env;

  [[nodiscard]] Environments& environments() const { return nb::cast<Environments&>(simulator); }
  [[nodiscard]] const Model& model() const { return environments().model(); }

  /// (num_envs, shape...), or (shape...) of one environment; fill(simulator, row).
  template <class Fill>
  [[nodiscard]] NumpyArray<Real> read(std::vector<std::size_t> shape, const Fill& fill) const {
    Environments& all = environments();
    const Environments::Use use(all);
    all.push();
    return gather(all, env, std::move(shape), [&](int i, Real* out) { fill(all.at(i), out); });
  }
  /// function(environment, simulator). Where it throws, the arrays are as the environments are.
  template <class Function>
  void write(const Function& function) const {
    Environments& all = environments();
    const Environments::Use use(all);
    all.push();
    try {
      for (int i = 0; i < all.size(); ++i)
        if (!env || *env == i) function(i, all.at(i));
    } catch (...) {
      all.pull();
      throw;
    }
    all.pull();
  }
  /// Numbers for all environments, or for each.
  [[nodiscard]] Rows rows(const ArrayLike& input, const char* name,
                          const std::vector<std::size_t>& shape) const {
    return rowsFor(environments(), input, name, shape);
  }
};

/// sim.body(name, env) and sim.soft(name, env).
template <class View>
[[nodiscard]] View viewOf(nb::handle simulator, nb::handle part, const EnvironmentArgument& env,
                          int (*indexOf)(const Model&, nb::handle)) {
  const Environments& environments = environmentsOf(simulator);
  return {{nb::borrow(simulator), indexOf(environments.model(), part),
           checkedEnvironment(environments, env)}};
}

inline void put(const Vec3& v, Real* out) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

}  // namespace tangere::python
