// SPDX-License-Identifier: Apache-2.0
//
// Arrays with the environment axis first.
#pragma once

#include "argument.hpp"
#include "arrays.hpp"
#include "environments.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tangere::python {

/// Those of a Simulator. Throws TypeError for something else, and for one whose class forgot
/// super().__init__().
[[nodiscard]] Environments& environmentsOf(nb::handle simulator);

/// A new array (num_envs, shape...), filled by fill(environment, row).
template <class Fill>
[[nodiscard]] NumpyArray<Real> gather(const Environments& environments,
                                      std::vector<std::size_t> shape, const Fill& fill) {
  std::size_t width = 1;
  for (const std::size_t n : shape) width *= n;
  const auto rows = static_cast<std::size_t>(environments.size());
  std::vector<Real> values(rows * width);
  for (std::size_t i = 0; i < rows; ++i) fill(static_cast<int>(i), values.data() + i * width);
  shape.insert(shape.begin(), rows);
  return makeArray<Real>(std::move(values), std::move(shape));
}

/// The same of one environment alone (shape...), or of all where there is none. `environment` is
/// one of them.
template <class Fill>
[[nodiscard]] NumpyArray<Real> gather(const Environments& environments,
                                      std::optional<int> environment,
                                      std::vector<std::size_t> shape, const Fill& fill) {
  if (!environment) return gather(environments, std::move(shape), fill);
  std::size_t width = 1;
  for (const std::size_t n : shape) width *= n;
  std::vector<Real> values(width);
  fill(*environment, values.data());
  return makeArray<Real>(std::move(values), std::move(shape));
}

using EnvironmentArgument = std::optional<Argument<int>>;

/// The environment that was asked for; nothing: all of them.
[[nodiscard]] std::optional<int> checkedEnvironment(const Environments& environments,
                                                    const EnvironmentArgument& environment);

/// The environments whose mask is true; all where there is none. Throws InvalidInput.
[[nodiscard]] std::vector<int> chosenBy(const Environments& environments,
                                        const std::optional<ArrayLike>& mask);

/// Numbers for each environment.
struct Rows {
  InputArray<Real> values;
  std::size_t width = 0;
  bool isForAll = false;  ///< one row for all

  [[nodiscard]] std::span<const Real> of(int environment) const {
    const std::size_t first = isForAll ? 0 : static_cast<std::size_t>(environment) * width;
    return values.values().subspan(first, width);
  }
};

/// Of the shape (num_envs, shape...) or (shape...). Throws InvalidInput.
[[nodiscard]] Rows rowsFor(const Environments& environments, const ArrayLike& input,
                           const char* name, const std::vector<std::size_t>& shape);

}  // namespace tangere::python
