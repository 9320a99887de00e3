// SPDX-License-Identifier: Apache-2.0
//
// Plain structs of the engine as Python classes: one line a field gives an attribute, an argument
// of the constructor with the engine's default, a place in repr() and in pickles.
//
// Lists come out as tuples: appending to a copy would be lost in silence; a tuple refuses. A value
// that does not fit is refused with the name of its field, a field that is not there with near
// names.
#pragma once

#include "argument.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tangere::python {

template <class T, class F>
struct Field {
  const char* name;
  F T::*member;
  const char* doc;
};

template <class T, class F>
constexpr Field<T, F> field(const char* name, F T::*member, const char* doc) {
  return {name, member, doc};
}

template <class F>
struct IsVector : std::false_type {};
template <class E>
struct IsVector<std::vector<E>> : std::true_type {
  using Element = E;
};
template <class F>
struct IsSharedPointer : std::false_type {};
template <class E>
struct IsSharedPointer<std::shared_ptr<E>> : std::true_type {};

template <bool isWritable, class Class, class T, class F>
void bindField(Class& cls, const char* owner, const Field<T, F>& field) {
  F T::*member = field.member;
  const auto bind = [&](const auto& get) {
    if constexpr (isWritable)
      cls.def_prop_rw(
          field.name, get,
          [member, name = std::string(owner) + "." + field.name](
              T& self, const Argument<F>& value) { self.*member = value.as(name); },
          field.doc);
    else
      cls.def_prop_ro(field.name, get, field.doc);
  };
  if constexpr (IsVector<F>::value) {
    using Tuple = nb::typed<nb::tuple, typename IsVector<F>::Element, nb::ellipsis>;
    bind([member](const T& self) {
      return Tuple(nb::tuple(nb::cast(self.*member, nb::rv_policy::copy)));
    });
  } else {
    bind([member](const T& self) -> const F& { return self.*member; });
  }
}

/// What differs from a default value is shown.
template <class T>
nb::str describeStruct(nb::handle self, nb::handle plain, const std::vector<const char*>& names) {
  std::string text = nb::cast<std::string>(self.type().attr("__name__")) + "(";
  bool isFirst = true;
  for (const char* name : names) {
    const auto value = nb::cast<std::string>(nb::repr(self.attr(name)));
    if (plain.is_valid() && value == nb::cast<std::string>(nb::repr(plain.attr(name)))) continue;
    if (!isFirst) text += ", ";
    text += std::string(name) + "=" + value;
    isFirst = false;
  }
  text += ")";
  return nb::str(text.c_str(), text.size());
}

/// The argument of a constructor: the engine's default; where that is no plain value, signatures
/// show "...".
template <class F>
auto argumentFor(const char* name, const F& value) {
  nb::arg argument(name);
  // Text is written out here: nanobind's stub generator mistakes it for such a note.
  if constexpr (std::is_same_v<F, std::string>)
    argument.sig("''");
  else if constexpr (!std::is_arithmetic_v<F>)
    argument.sig("...");
  if constexpr (IsVector<F>::value) {
    return argument = nb::tuple(nb::cast(value));
  } else if constexpr (IsSharedPointer<F>::value) {
    return argument = nb::none();
  } else {
    return argument = nb::cast(value, nb::rv_policy::copy);
  }
}

/// A struct that users make.
template <class T, class... Fs>
nb::class_<T> bindStruct(nb::module_& m, const char* name, const char* doc,
                         const Field<T, Fs>&... fields) {
  nb::class_<T> cls(m, name, doc);
  (bindField<true>(cls, name, fields), ...);
  const T plain{};
  cls.def(
      "__init__",
      [name, fields...](T* self, const Argument<Fs>&... values, const nb::kwargs& unknown) {
        refuseUnknown(name, unknown, {fields.name...});
        T made{};
        ((made.*(fields.member) = values.as(std::string(name) + "." + fields.name)), ...);
        new (self) T(std::move(made));
      },
      argumentFor(fields.name, plain.*(fields.member))..., nb::arg("unknown"));
  const std::vector<const char*> names{fields.name...};
  cls.def("__repr__", [names](nb::handle self) {
    return describeStruct<T>(self, nb::cast(T{}, nb::rv_policy::move), names);
  });
  cls.def("__getstate__",
          [fields...](const T& self) { return std::tuple<Fs...>(self.*(fields.member)...); });
  cls.def("__setstate__", [fields...](T& self, const std::tuple<Fs...>& values) {
    new (&self) T{};
    std::apply([&](const Fs&... value) { ((self.*(fields.member) = value), ...); }, values);
  });
  return cls;
}

/// A struct that the engine makes: its fields are read-only.
template <class T, class... Fs>
nb::class_<T> bindResult(nb::module_& m, const char* name, const char* doc,
                         const Field<T, Fs>&... fields) {
  nb::class_<T> cls(m, name, doc);
  (bindField<false>(cls, name, fields), ...);
  const std::vector<const char*> names{fields.name...};
  cls.def("__repr__",
          [names](nb::handle self) { return describeStruct<T>(self, nb::handle(), names); });
  return cls;
}

}  // namespace tangere::python
