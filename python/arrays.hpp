// SPDX-License-Identifier: Apache-2.0
//
// NumPy arrays in and out. What comes in may be anything array-like (lists, arrays of any type and
// layout, whatever speaks DLPack); what is wrong with it is said with its name and the shape it
// should have. What goes out is a new array that belongs to the caller, unless it says view.
#pragma once

#include <tangere/error.hpp>
#include <tangere/types.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tangere::python {

namespace nb = nanobind;

/// A NumPy array that has an owner of its own, also where it is the value of a property.
template <class T, class... Shape>
struct NumpyArray {
  using Array = nb::ndarray<nb::numpy, T, Shape...>;

  NumpyArray(T* data, std::initializer_list<std::size_t> shape, nb::handle owner)
      : array(data, shape, owner) {}
  NumpyArray(T* data, std::span<const std::size_t> shape, nb::handle owner)
      : array(data, shape.size(), shape.data(), owner) {}

  Array array;
};

/// Any object, which signatures show as numpy.typing.ArrayLike.
struct ArrayLike {
  nb::object object;
};

/// Numbers in rows, kept alive by `owner`.
template <class T>
struct InputArray {
  nb::object owner;
  const T* data = nullptr;
  std::vector<std::size_t> shape;
  std::size_t size = 0;

  [[nodiscard]] std::span<const T> values() const { return {data, size}; }
  [[nodiscard]] std::span<const T> row(std::size_t i) const {
    const std::size_t width = shape.empty() || shape[0] == 0 ? 0 : size / shape[0];
    return values().subspan(i * width, width);
  }
};

[[nodiscard]] std::string shapeText(std::span<const std::size_t> shape);

/// Throws InvalidInput when `input` is no array of numbers. T is Real or int32.
template <class T>
[[nodiscard]] InputArray<T> toArray(const ArrayLike& input, const char* name);

/// The same, of exactly this shape; kAny stands for any length.
inline constexpr std::size_t kAny = static_cast<std::size_t>(-1);
template <class T>
[[nodiscard]] InputArray<T> toArray(const ArrayLike& input, const char* name,
                                    std::initializer_list<std::size_t> shape);

/// (n, 3) numbers as vectors.
[[nodiscard]] std::vector<Vec3> toVectors(const ArrayLike& input, const char* name);

/// A new array that owns `values`.
template <class T, class... Shape>
[[nodiscard]] NumpyArray<T, Shape...> makeArray(std::vector<T>&& values,
                                                std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyArray<T, Shape...>(kept->data(), std::span<const std::size_t>(shape), owner);
}

static_assert(sizeof(Vec3) == 3 * sizeof(Real));

/// (n, 3)
[[nodiscard]] inline NumpyArray<Real> makeArray(std::span<const Vec3> values) {
  std::vector<Real> numbers(3 * values.size());
  if (!values.empty()) std::memcpy(numbers.data(), values.data(), values.size_bytes());
  return makeArray<Real>(std::move(numbers), {values.size(), 3});
}

/// (n, columns) of rows of integers.
template <class Row>
[[nodiscard]] NumpyArray<std::int32_t> makeIndexArray(std::span<const Row> rows) {
  constexpr std::size_t kColumns = sizeof(Row) / sizeof(std::int32_t);
  std::vector<std::int32_t> numbers(kColumns * rows.size());
  if (!rows.empty()) std::memcpy(numbers.data(), rows.data(), rows.size_bytes());
  return makeArray<std::int32_t>(std::move(numbers), {rows.size(), kColumns});
}

}  // namespace tangere::python

namespace nanobind::detail {

template <>
struct type_caster<tangere::python::ArrayLike> {
  NB_TYPE_CASTER(tangere::python::ArrayLike, const_name("numpy.typing.ArrayLike"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = borrow(source);
    return true;
  }
  static handle from_cpp(const tangere::python::ArrayLike& source, rv_policy,
                         cleanup_list*) noexcept {
    return source.object.inc_ref();
  }
};

template <class T, class... Shape>
struct type_caster<tangere::python::NumpyArray<T, Shape...>> {
  using Value = tangere::python::NumpyArray<T, Shape...>;
  using Caster = make_caster<typename Value::Array>;
  static constexpr auto Name = Caster::Name;

  static handle from_cpp(const Value& source, rv_policy, cleanup_list* cleanup) noexcept {
    return Caster::from_cpp(source.array, rv_policy::automatic, cleanup);
  }
};

}  // namespace nanobind::detail
