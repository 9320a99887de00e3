// SPDX-License-Identifier: Apache-2.0
#include "simulator_arrays.hpp"

namespace tangere::python {

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
  return rows;
}

}  // namespace tangere::python
