// SPDX-License-Identifier: Apache-2.0
//
// Structured NumPy arrays: rows of a packed C++ struct under the names of its fields.
#pragma once

#include "arrays.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace tangere::python {

/// A new array of these rows; `dtype` lists the fields of Row in order, without gaps.
template <class Row>
[[nodiscard]] nb::object makeStructured(const std::vector<Row>& rows, nb::handle dtype) {
  static_assert(std::is_trivially_copyable_v<Row>);
  std::vector<std::uint8_t> bytes(rows.size() * sizeof(Row));
  if (!rows.empty()) std::memcpy(bytes.data(), rows.data(), bytes.size());
  const std::size_t size = bytes.size();
  return nb::cast(makeArray<std::uint8_t>(std::move(bytes), {size})).attr("view")(dtype);
}

}  // namespace tangere::python
