// SPDX-License-Identifier: Apache-2.0
#include "simulator_arrays.hpp"

namespace tangere::python {

std::optional<int> checkedEnvironment(const Environments& environments,
                                      const EnvironmentArgument& environment) {
  if (!environment) return std::nullopt;
  return environments.checked(environment->as("env"));
}

std::vector<int> chosenBy(const Environments& environments, const std::optional<ArrayLike>& mask) {
  std::vector<int> out;
  if (!mask) {
    for (int i = 0; i < environments.size(); ++i) out.push_back(i);
    return out;
  }
  const auto size = static_cast<std::size_t>(environments.size());
  const InputArray<std::int32_t> flags = toArray<std::int32_t>(*mask, "mask", {size});
  for (int i = 0; i < environments.size(); ++i) {
    const std::int32_t flag = flags.data[i];
    if (flag != 0 && flag != 1)
      throw InvalidInput("mask is true or false for each environment, found " +
                         std::to_string(flag) + " for environment " + std::to_string(i));
    if (flag == 1) out.push_back(i);
  }
  return out;
}

Rows rowsFor(const Environments& environments, const ArrayLike& input, const char* name,
             const std::vector<std::size_t>& shape) {
  Rows rows{.values = toArray<Real>(input, name)};
  rows.width = 1;
  for (const std::size_t n : shape) rows.width *= n;
  std::vector<std::size_t> full = shape;
  full.insert(full.begin(), static_cast<std::size_t>(environments.size()));
  rows.isForAll = rows.values.shape == shape;
  if (!rows.isForAll && rows.values.shape != full)
    throw InvalidInput(std::string(name) + " must have the shape " + shapeText(full) + " or " +
                       shapeText(shape) + ", found " + shapeText(rows.values.shape));
  for (const Real value : rows.values.values())
    if (!(value - value == 0))
      throw InvalidInput(std::string(name) + " must be finite, found " + std::to_string(value));
  return rows;
}

}  // namespace tangere::python
