// SPDX-License-Identifier: Apache-2.0
//
// What little of HDF5 this module needs, in C++: handles that close themselves, errors that are
// not printed, and the native type of a number.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>

namespace tangere::io {

/// Owns one HDF5 identifier.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Hdf5Handle() { reset(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      close_ = other.close_;
    }
    return *this;
  }

  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] bool isValid() const { return id_ >= 0; }
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = H5I_INVALID_HID;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Keeps HDF5 from printing its stack of errors while it lives.
class QuietHdf5 {
 public:
  QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

template <class T>
[[nodiscard]] hid_t nativeType();
template <>
[[nodiscard]] inline hid_t nativeType<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
[[nodiscard]] inline hid_t nativeType<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}
template <>
[[nodiscard]] inline hid_t nativeType<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
[[nodiscard]] inline hid_t nativeType<std::uint32_t>() {
  return H5T_NATIVE_UINT32;
}
template <>
[[nodiscard]] inline hid_t nativeType<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}

/// The type of a number in a file: the same bytes on every machine.
template <class T>
[[nodiscard]] hid_t fileType();
template <>
[[nodiscard]] inline hid_t fileType<double>() {
  return H5T_IEEE_F64LE;
}
template <>
[[nodiscard]] inline hid_t fileType<std::uint8_t>() {
  return H5T_STD_U8LE;
}
template <>
[[nodiscard]] inline hid_t fileType<std::int32_t>() {
  return H5T_STD_I32LE;
}
template <>
[[nodiscard]] inline hid_t fileType<std::uint32_t>() {
  return H5T_STD_U32LE;
}
template <>
[[nodiscard]] inline hid_t fileType<std::uint64_t>() {
  return H5T_STD_U64LE;
}

/// Strings of any length, UTF-8.
[[nodiscard]] inline Hdf5Handle textType() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

/// Strings of `size` bytes, UTF-8, the rest of them zero.
[[nodiscard]] inline Hdf5Handle paddedTextType(std::size_t size) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), size);
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

/// Without times of creation: they differ between equal runs.
[[nodiscard]] inline Hdf5Handle makeGroup(hid_t parent, const char* name) {
  const Hdf5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  return {H5Gcreate2(parent, name, H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Gclose};
}

}  // namespace tangere::io
