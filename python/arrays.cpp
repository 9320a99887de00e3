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
  return std::is_same_v<T, Real> ? "float64" : "int32";
}

nb::object anyNumpy(const nb::object& object) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool needsDlpack = nb::hasattr(object, "__dlpack__") && !nb::hasattr(object, "__array__") &&
                           !nb::hasattr(object, "__array_interface__");
  // One number is an array of one.
  return numpy.attr("atleast_1d")(needsDlpack ? nb::object(numpy.attr("from_dlpack")(object))
                                              : object);
}

/// What it is instead of an array of numbers; empty where it is one. Floats are never cut to
/// integers, nor numbers to truth values, in silence.
template <class T>
std::string otherKind(const nb::object& array) {
  const auto letter = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const bool isNumber = std::is_same_v<T, Real> ? letter == "f" || letter == "i" || letter == "u"
                                                : letter == "i" || letter == "u" || letter == "b";
  if (isNumber || nb::cast<std::size_t>(array.attr("size")) == 0) return {};
  const nb::object type = array.attr("dtype");
  return "an array of " + nb::cast<std::string>(nb::str(type));
}

std::string typeOf(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

std::string reasonOf(const nb::python_error& error) {
  return typeOf(error.value()) + ": " + nb::cast<std::string>(nb::str(error.value()));
}

}  // namespace

template <class T>
InputArray<T> toArray(const ArrayLike& input, const char* name) {
  const std::string expected = std::string(name) + " must be an array of " +
                               (std::is_same_v<T, Real> ? "numbers" : "integers") + ", found ";
  InputArray<T> out;
  nb::object array;
  try {
    array = anyNumpy(input.object);
  } catch (const nb::python_error& error) {
    throw InvalidInput(expected + typeOf(input.object) + " (" + reasonOf(error) + ")");
  }
  if (const std::string other = otherKind<T>(array); !other.empty())
    throw InvalidInput(expected + other);
  const nb::module_ numpy = nb::module_::import_("numpy");
  // A view where it is one already.
  out.owner = numpy.attr("ascontiguousarray")(array, typeName<T>());
  if (!std::is_same_v<T, Real> && !nb::cast<bool>(numpy.attr("array_equal")(out.owner, array)))
    throw InvalidInput(std::string(name) + " has numbers that are no " + typeName<T>());
  const auto view = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(out.owner, false);
  out.data = view.data();
  out.size = view.size();
  for (std::size_t i = 0; i < view.ndim(); ++i) out.shape.push_back(view.shape(i));
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
template InputArray<Real> toArray(const ArrayLike&, const char*,
                                  std::initializer_list<std::size_t>);
template InputArray<std::int32_t> toArray(const ArrayLike&, const char*,
                                          std::initializer_list<std::size_t>);

std::vector<Vec3> toVectors(const ArrayLike& input, const char* name) {
  const InputArray<Real> numbers = toArray<Real>(input, name, {kAny, 3});
  std::vector<Vec3> out(numbers.shape[0]);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {numbers.data[3 * i], numbers.data[3 * i + 1], numbers.data[3 * i + 2]};
  return out;
}

}  // namespace tangere::python
