// SPDX-License-Identifier: Apache-2.0
//
// Arguments that say what is wrong with them. nanobind's own answer to a value of another type is
// the list of all signatures; an Argument<T> takes any object, shows T in signatures and stubs, and
// is converted by whoever knows its name:
//
//   Body.type: no BodyType is called 'fxed' (did you mean 'fixed'?)
//   half_extents must be three numbers, found [1, 1]
#pragma once

#include "casters.hpp"

#include <tangere/error.hpp>

#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tangere::python {

/// What a T is, for people.
template <class T>
struct Expected {
  static std::string text() {
    if constexpr (std::is_same_v<T, bool>)
      return "True or False";
    else if constexpr (std::is_integral_v<T>)
      return "an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
             std::to_string(std::numeric_limits<T>::max());
    else if constexpr (std::is_floating_point_v<T>)
      return "a number";
    else
      return "a " + nb::cast<std::string>(nb::type<T>().attr("__name__")) +
             (std::is_enum_v<T> ? " or its name" : "");
  }
};
template <>
struct Expected<std::string> {
  static std::string text() { return "text"; }
};
template <>
struct Expected<Vec3> {
  static std::string text() { return "three numbers"; }
};
template <>
struct Expected<Quat> {
  static std::string text() { return "four numbers (w x y z)"; }
};
template <>
struct Expected<Mat3> {
  static std::string text() { return "3 x 3 numbers"; }
};
template <>
struct Expected<Transform> {
  static std::string text() {
    return "a pose (a position; a position and a quaternion, as 7 numbers or as a pair; or a 4 x 4 "
           "matrix)";
  }
};
template <class T>
struct Expected<std::shared_ptr<const T>> : Expected<T> {};
template <class T>
struct Expected<std::optional<T>> {
  static std::string text() { return Expected<T>::text() + ", or None"; }
};
template <class T>
struct Expected<std::vector<T>> {
  static std::string text() { return "a sequence, each " + Expected<T>::text(); }
};
template <class T, std::size_t n>
struct Expected<std::array<T, n>> {
  static std::string text() {
    return "a sequence of " + std::to_string(n) + ", each " + Expected<T>::text();
  }
};

/// repr(), cut where it is long.
[[nodiscard]] std::string shownValue(nb::handle value);

/// " (did you mean 'fixed'?)" for a name that an enumeration does not have, or all that it has.
[[nodiscard]] std::string nearMembers(nb::handle enumeration, const std::string& name);

/// Throws InvalidInput for the name of no member, TypeError for anything else that is no T.
template <class T>
[[nodiscard]] T convert(nb::handle source, const std::string& name) {
  T value{};
  if (nb::try_cast<T>(source, value)) return value;
  if constexpr (std::is_enum_v<T>) {
    if (nb::isinstance<nb::str>(source))
      throw InvalidInput(name + ": no " + nb::cast<std::string>(nb::type<T>().attr("__name__")) +
                         " is called " + shownValue(source) +
                         nearMembers(nb::type<T>(), shownValue(source)));
  }
  throw nb::type_error(
      (name + " must be " + Expected<T>::text() + ", found " + shownValue(source)).c_str());
}

template <class T>
struct Argument {
  nb::object object;

  [[nodiscard]] T as(const std::string& name) const { return convert<T>(object, name); }
};

/// Throws TypeError for arguments that a constructor does not have.
void refuseUnknown(const char* owner, const nb::kwargs& unknown,
                   const std::vector<const char*>& known);

}  // namespace tangere::python

namespace nanobind::detail {

template <class T>
struct has_arg_defaults<tangere::python::Argument<T>> : has_arg_defaults<T> {};

template <class T>
struct type_caster<tangere::python::Argument<T>> {
  NB_TYPE_CASTER(tangere::python::Argument<T>, make_caster<T>::Name)
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = borrow(source);
    return true;
  }
  static handle from_cpp(const tangere::python::Argument<T>& source, rv_policy,
                         cleanup_list*) noexcept {
    return source.object.inc_ref();
  }
};

}  // namespace nanobind::detail
