// SPDX-License-Identifier: Apache-2.0
//
// How the plain types of the engine look in Python:
//
//   Vec3        array (3,)                                       in: any three numbers
//   Quat        array (4,), w x y z                              in: any four numbers
//   Mat3        array (3, 3)                                     in: any 3 x 3 numbers
//   Transform   array (4, 4), homogeneous: nothing is rounded    in: that; a position; a position
//                                                                and a quaternion, as 7 numbers or
//                                                                as a pair
//   enumerations   a member                                      in: a member, or its name as text
//
// Arrays that come out are copies and read-only: writing into a copy would be lost in silence.
#pragma once

#include "arrays.hpp"

#include <tangere/types.hpp>

#include <nanobind/nanobind.h>

#include <limits>

namespace tangere::python {

/// Reads `count` numbers from a sequence; false where it is something else.
inline bool readNumbers(nb::handle source, int count, Real* out) noexcept {
  if (PyUnicode_Check(source.ptr()) || PyBytes_Check(source.ptr()) || PyDict_Check(source.ptr()) ||
      PySet_Check(source.ptr()))
    return false;
  PyObject* sequence = PySequence_Fast(source.ptr(), "");
  if (sequence == nullptr) {
    PyErr_Clear();
    return false;
  }
  bool isRead = PySequence_Fast_GET_SIZE(sequence) == count;
  for (int i = 0; isRead && i < count; ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(sequence, i);
    out[i] = PyFloat_AsDouble(item);
    if (out[i] == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      isRead = false;
    }
  }
  Py_DECREF(sequence);
  return isRead;
}

/// count rows of count numbers.
inline bool readSquare(nb::handle source, int count, Real* out) noexcept {
  PyObject* sequence = PySequence_Fast(source.ptr(), "");
  if (sequence == nullptr) {
    PyErr_Clear();
    return false;
  }
  bool isRead = PySequence_Fast_GET_SIZE(sequence) == count;
  for (int i = 0; isRead && i < count; ++i)
    isRead = readNumbers(PySequence_Fast_GET_ITEM(sequence, i), count, out + count * i);
  Py_DECREF(sequence);
  return isRead;
}

inline Transform transformOf(const Real* p, const Real* q) {
  return {rotationMatrix(Quat{q[0], q[1], q[2], q[3]}), {p[0], p[1], p[2]}};
}

inline bool readTransform(nb::handle source, Transform* out) noexcept {
  Real n[16];
  if (readNumbers(source, 3, n)) {
    *out = {Mat3::identity(), {n[0], n[1], n[2]}};
    return true;
  }
  if (readNumbers(source, 7, n)) {
    *out = transformOf(n, n + 3);
    return true;
  }
  if (readSquare(source, 4, n)) {
    *out = {{{{n[0], n[4], n[8]}, {n[1], n[5], n[9]}, {n[2], n[6], n[10]}}}, {n[3], n[7], n[11]}};
    // No rigid motion: refused as such by whoever takes a pose.
    if (n[12] != 0 || n[13] != 0 || n[14] != 0 || n[15] != 1)
      out->translation.x = std::numeric_limits<Real>::quiet_NaN();
    return true;
  }
  PyObject* pair = PySequence_Fast(source.ptr(), "");
  if (pair == nullptr) {
    PyErr_Clear();
    return false;
  }
  const bool isPair = PySequence_Fast_GET_SIZE(pair) == 2 &&
                      readNumbers(PySequence_Fast_GET_ITEM(pair, 0), 3, n) &&
                      readNumbers(PySequence_Fast_GET_ITEM(pair, 1), 4, n + 3);
  Py_DECREF(pair);
  if (isPair) *out = transformOf(n, n + 3);
  return isPair;
}

inline void writeTransform(const Transform& X, Real* out) {
  for (int row = 0; row < 3; ++row) {
    for (int k = 0; k < 3; ++k) out[4 * row + k] = X.rotation(row, k);
    out[4 * row + 3] = X.translation[row];
  }
  out[12] = out[13] = out[14] = 0;
  out[15] = 1;
}

/// A read-only array of these numbers.
inline nb::handle numbersToPython(const Real* numbers, std::initializer_list<std::size_t> shape,
                                  std::size_t count) noexcept {
  try {
    auto* kept = new Real[count];
    std::memcpy(kept, numbers, count * sizeof(Real));
    const nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<Real*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, const Real>(kept, shape.size(), shape.begin(), owner))
        .release();
  } catch (nb::python_error& error) {
    error.restore();
    return {};
  }
}

}  // namespace tangere::python

#define TANGERE_PYTHON_ENUM(type) \
  template <>                     \
  struct nanobind::detail::type_caster<type> : nanobind::detail::NamedEnumCaster<type> {}

namespace nanobind::detail {

/// Members by name: solver="sap" for SolverType.SAP.
template <class T>
struct NamedEnumCaster {
  NB_TYPE_CASTER(T, const_name<T>() + const_name(" | str"))
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    object member = borrow(source);
    if (PyUnicode_Check(source.ptr())) {
      PyObject* upper = PyObject_CallMethod(source.ptr(), "upper", nullptr);
      PyObject* found = upper == nullptr ? nullptr : PyObject_GetAttr(type<T>().ptr(), upper);
      Py_XDECREF(upper);
      if (found == nullptr) {
        PyErr_Clear();
        return false;
      }
      member = steal(found);
    }
    std::int64_t result = 0;
    if (!NB_CALL(enum_from_python)(NB_CTX_C(cleanup), &typeid(T), member.ptr(), &result, flags))
      return false;
    value = static_cast<T>(result);
    return true;
  }
  static handle from_cpp(T source, rv_policy, cleanup_list* cleanup) noexcept {
    return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(T), static_cast<std::int64_t>(source));
  }
};

template <>
struct type_caster<tangere::Vec3> {
  NB_TYPE_CASTER(tangere::Vec3,
                 io_name("numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return tangere::python::readNumbers(source, 3, &value.x);
  }
  static handle from_cpp(const tangere::Vec3& v, rv_policy, cleanup_list*) noexcept {
    return tangere::python::numbersToPython(&v.x, {3}, 3);
  }
};

template <>
struct type_caster<tangere::Quat> {
  NB_TYPE_CASTER(tangere::Quat,
                 io_name("numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return tangere::python::readNumbers(source, 4, &value.w);
  }
  static handle from_cpp(const tangere::Quat& q, rv_policy, cleanup_list*) noexcept {
    return tangere::python::numbersToPython(&q.w, {4}, 4);
  }
};

template <>
struct type_caster<tangere::Mat3> {
  NB_TYPE_CASTER(tangere::Mat3,
                 io_name("numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    tangere::Real n[9];
    if (!tangere::python::readSquare(source, 3, n)) return false;
    for (int i = 0; i < 9; ++i) value(i / 3, i % 3) = n[i];
    return true;
  }
  static handle from_cpp(const tangere::Mat3& m, rv_policy, cleanup_list*) noexcept {
    tangere::Real n[9];
    for (int i = 0; i < 9; ++i) n[i] = m(i / 3, i % 3);
    return tangere::python::numbersToPython(n, {3, 3}, 9);
  }
};

template <>
struct type_caster<tangere::Transform> {
  NB_TYPE_CASTER(tangere::Transform,
                 io_name("numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return tangere::python::readTransform(source, &value);
  }
  static handle from_cpp(const tangere::Transform& X, rv_policy, cleanup_list*) noexcept {
    tangere::Real n[16];
    tangere::python::writeTransform(X, n);
    return tangere::python::numbersToPython(n, {4, 4}, 16);
  }
};

}  // namespace nanobind::detail
