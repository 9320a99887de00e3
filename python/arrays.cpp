// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include <type_traits>

namespace tangere::python {

std::string shapeText(std::span<const std::size_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] == kAny ? "n" : std::to_string(shape[i]);
  }
  if (shape.size() == 1) text += ",";
  return text + ")";
}

namespace {

template <class T>
const char* typeName() {
  if constexpr (std::is_same_v<T, Real>) return "float64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  return "uint8";
}

/// A C-contiguous NumPy array of T; a view where it is one already.
template <class T>
nb::object asNumpy(const nb::object& object) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool needsDlpack = nb::hasattr(object, "__dlpack__") && !nb::hasattr(object, "__array__") &&
                           !nb::hasattr(object, "__array_interface__");
  const nb::object array =
      numpy.attr("asarray")(needsDlpack ? nb::object(numpy.attr("from_dlpack")(object)) : object);
  // Floats are never cut to integers, nor numbers to truth values, in silence.
  const nb::object kind = array.attr("dtype").attr("kind");
  const auto letter = nb::cast<std::string>(kind);
  const bool isNumber = std::is_same_v<T, Real> ? letter == "f" || letter == "i" || letter == "u"
                                                : letter == "i" || letter == "u" || letter == "b";
  const bool isEmpty = nb::cast<std::size_t>(array.attr("size")) == 0;
  if (!isNumber && !isEmpty) throw nb::type_error("not numbers");
  return numpy.attr("ascontiguousarray")(array, typeName<T>());
}

}  // namespace

template <class T>
InputArray<T> toArray(const ArrayLike& input, const char* name) {
  InputArray<T> out;
  try {
    // ascontiguousarray makes one number an array of one; atleast_1d would do the same.
    out.owner = asNumpy<T>(input.object);
    const auto array =
        nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(out.owner, false);
    out.data = array.data();
    out.size = array.size();
    for (std::size_t i = 0; i < array.ndim(); ++i) out.shape.push_back(array.shape(i));
  } catch (const std::exception&) {
    const auto found = nb::cast<std::string>(input.object.type().attr("__name__"));
    throw InvalidInput(std::string(name) + " must be an array of " +
                       (std::is_same_v<T, Real> ? "numbers" : "integers") + ", found " + found);
  }
  return out;
}

template <class T>
InputArray<T> toArray(const ArrayLike& input, const char* name,
                      std::initializer_list<std::size_t> shape) {
  InputArray<T> out = toArray<T>(input, name);
  bool isSame = out.shape.size() == shape.size();
  const std::size_t* expected = shape.begin();
  for (std::size_t i = 0; isSame && i < shape.size(); ++i)
    isSame = expected[i] == kAny || expected[i] == out.shape[i];
  if (!isSame)
    throw InvalidInput(std::string(name) + " must have the shape " +
                       shapeText({expected, shape.size()}) + ", found " + shapeText(out.shape));
  return out;
}

template InputArray<Real> toArray(const ArrayLike&, const char*);
template InputArray<std::int32_t> toArray(const ArrayLike&, const char*);
template InputArray<std::uint8_t> toArray(const ArrayLike&, const char*);
template InputArray<Real> toArray(const ArrayLike&, const char*,
                                  std::initializer_list<std::size_t>);
template InputArray<std::int32_t> toArray(const ArrayLike&, const char*,
                                          std::initializer_list<std::size_t>);
template InputArray<std::uint8_t> toArray(const ArrayLike&, const char*,
                                          std::initializer_list<std::size_t>);

std::vector<Vec3> toVectors(const ArrayLike& input, const char* name) {
  const InputArray<Real> numbers = toArray<Real>(input, name, {kAny, 3});
  std::vector<Vec3> out(numbers.shape[0]);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {numbers.data[3 * i], numbers.data[3 * i + 1], numbers.data[3 * i + 2]};
  return out;
}

}  // namespace tangere::python
