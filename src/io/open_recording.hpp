// SPDX-License-Identifier: Apache-2.0
//
// A recording that is open for reading, and its columns. Nothing that the file says about its own
// sizes is believed before it was compared with the rest.
#pragma once

#include <tangere/error.hpp>

#include "io/hdf5_driver.hpp"
#include "io/hdf5_handle.hpp"
#include "io/recording_layout.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

inline constexpr hsize_t kMaxNames = 1'000'000;
inline constexpr std::size_t kMaxMarkBytes = 256;
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxBlockNumbers = std::size_t{1} << 28;  // 2 GB of doubles

inline constexpr unsigned kReadAttempts = 21;  // 2 ms for each part that is damaged

/// A file that is open, with messages that name it.
class OpenRecording {
 public:
  explicit OpenRecording(const std::filesystem::path& path) : name_(path.string()) {
    std::FILE* stream = std::fopen(name_.c_str(), "rb");
    if (stream == nullptr) throw FileError(name_ + ": cannot be read: " + std::strerror(errno));
    std::fclose(stream);
    // A reader beside a writer: it also opens what a killed writer left. Such a reader looks again
    // where a checksum is wrong, for the writer may be about to mend it, and waits twice as long
    // each time: HDF5's hundred times would take for ever where the file is damaged.
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_metadata_read_attempts(access.id(), kReadAttempts);
    file_ = Hdf5Handle(H5Fopen(name_.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()),
                       H5Fclose);
    if (!file_.isValid()) reject("no recording, or one that was cut before its first frame");
    if (readText("format") != kRecordingFormat) reject("an HDF5 file, but no recording");
    const int version = readVersion();
    if (version != kRecordingVersion)
      reject("recording of version " + std::to_string(version) + "; this program reads version " +
             std::to_string(kRecordingVersion));
  }

  [[noreturn]] void reject(const std::string& what) const {
    if (hdf5LackedMemory()) throw std::bad_alloc();
    // HDF5 keeps parts of a file that it could not read whole, and says so when the program ends.
    [[maybe_unused]] static const int arranged =
        std::atexit([] { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); });
    throw InvalidInput(name_ + ": " + what);
  }
  [[nodiscard]] hid_t id() const { return file_.id(); }

  /// Whether there is such a group or column; the group it is in must exist.
  [[nodiscard]] bool has(const char* path) const {
    return H5Lexists(file_.id(), path, H5P_DEFAULT) > 0;
  }
  [[nodiscard]] Hdf5Handle openDataset(const std::string& path) const {
    Hdf5Handle dataset(H5Dopen2(file_.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.isValid()) reject("the column " + path + " is missing");
    return dataset;
  }
  /// Rows, then the shape of a row.
  [[nodiscard]] std::vector<hsize_t> shapeOf(const Hdf5Handle& dataset) const {
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    std::array<hsize_t, H5S_MAX_RANK> shape{};
    const int rank = H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
    if (rank < 1) reject("a column without rows");
    return {shape.begin(), shape.begin() + rank};
  }
  [[nodiscard]] std::uint64_t readModelHash() const {
    std::uint64_t hash = 0;
    const Hdf5Handle attribute(
        H5Aopen_by_name(file_.id(), "/model", "hash", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!attribute.isValid() || H5Aread(attribute.id(), H5T_NATIVE_UINT64, &hash) < 0)
      reject("the hash of the model is missing");
    return hash;
  }
  [[nodiscard]] std::vector<std::string> readTexts(const std::string& path) const {
    const Hdf5Handle dataset = openDataset(path);
    const std::vector<hsize_t> shape = shapeOf(dataset);
    const Hdf5Handle stored(H5Dget_type(dataset.id()), H5Tclose);
    if (shape.size() != 1 || shape[0] > kMaxNames || H5Tget_class(stored.id()) != H5T_STRING)
      reject("the column " + path + " is not a list of names");
    if (shape[0] == 0) return {};
    if (H5Tis_variable_str(stored.id()) <= 0)
      return readPaddedTexts(dataset, path, shape[0], H5Tget_size(stored.id()));
    // Of an earlier version, or with a very long name.
    const Hdf5Handle type = textType();
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    std::vector<char*> pointers(shape[0], nullptr);
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0)
      reject("the column " + path + " is damaged");
    std::vector<std::string> texts;
    texts.reserve(pointers.size());
    for (const char* pointer : pointers) texts.emplace_back(pointer == nullptr ? "" : pointer);
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data());
    return texts;
  }

 private:
  [[nodiscard]] std::vector<std::string> readPaddedTexts(const Hdf5Handle& dataset,
                                                         const std::string& path, hsize_t count,
                                                         std::size_t size) const {
    if (size == 0 || size > kMaxTextBytes / count) reject("the column " + path + " is too large");
    const Hdf5Handle type = paddedTextType(size);
    std::string padded(static_cast<std::size_t>(count) * size, '\0');
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()) < 0)
      reject("the column " + path + " is damaged");
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view text(padded.data() + i * size, size);
      texts.emplace_back(text.substr(0, text.find('\0')));
    }
    return texts;
  }
  [[nodiscard]] std::string readText(const char* name) const {
    const Hdf5Handle attribute(H5Aopen(file_.id(), name, H5P_DEFAULT), H5Aclose);
    if (!attribute.isValid()) return "";
    const Hdf5Handle stored(H5Aget_type(attribute.id()), H5Tclose);
    const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
    if (H5Tget_class(stored.id()) != H5T_STRING || H5Sget_simple_extent_npoints(space.id()) != 1)
      return "";
    if (H5Tis_variable_str(stored.id()) <= 0) {
      const std::size_t size = H5Tget_size(stored.id());
      std::string text(std::min<std::size_t>(size, kMaxMarkBytes), '\0');
      const Hdf5Handle padded = paddedTextType(text.size());
      return size > 0 && H5Aread(attribute.id(), padded.id(), text.data()) >= 0 ? text : "";
    }
    const Hdf5Handle type = textType();  // of an earlier version
    char* pointer = nullptr;
    if (H5Aread(attribute.id(), type.id(), static_cast<void*>(&pointer)) < 0 || pointer == nullptr)
      return "";
    std::string text = pointer;
    H5free_memory(pointer);
    return text;
  }
  [[nodiscard]] int readVersion() const {
    std::int32_t version = 0;
    const Hdf5Handle attribute(H5Aopen(file_.id(), "format_version", H5P_DEFAULT), H5Aclose);
    if (!attribute.isValid() || H5Aread(attribute.id(), H5T_NATIVE_INT32, &version) < 0)
      reject("no version");
    return version;
  }

  std::string name_;
  Hdf5Handle file_;
};

/// One column and the block of it that was read last.
template <class T>
class RecordedColumn {
 public:
  void open(const OpenRecording& file, const std::string& path,
            const std::vector<hsize_t>& rowShape) {
    path_ = path;
    dataset_ = file.openDataset(path);
    shape_ = file.shapeOf(dataset_);
    if (!std::equal(shape_.begin() + 1, shape_.end(), rowShape.begin(), rowShape.end()))
      file.reject("the column " + path + " has the wrong shape");
    const Hdf5Handle type(H5Dget_type(dataset_.id()), H5Tclose);
    if (H5Tget_class(type.id()) != H5Tget_class(nativeType<T>()))
      file.reject("the column " + path + " has the wrong type");
    for (const hsize_t extent : rowShape) row_size_ *= static_cast<std::size_t>(extent);
  }
  [[nodiscard]] bool isOpen() const { return dataset_.isValid(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t rows() const { return shape_[0]; }
  void read(const OpenRecording& file, std::uint64_t first, std::uint64_t count) {
    if (first > rows() || count > rows() - first) file.reject("the column " + path_ + " is cut");
    if (count > kMaxBlockNumbers / row_size_) file.reject("the column " + path_ + " is too large");
    values_.resize(static_cast<std::size_t>(count) * row_size_);
    if (count == 0) return;
    std::vector<hsize_t> begin(shape_.size(), 0), extent = shape_;
    begin[0] = first;
    extent[0] = count;
    const Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    const Hdf5Handle memory(
        H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, extent.data(), nullptr);
    if (H5Dread(dataset_.id(), nativeType<T>(), memory.id(), space.id(), H5P_DEFAULT,
                values_.data()) < 0)
      file.reject("the column " + path_ + " is damaged");
  }
  [[nodiscard]] T at(std::size_t index) const { return values_[index]; }
  [[nodiscard]] std::span<const T> values() const { return values_; }

 private:
  std::string path_;
  Hdf5Handle dataset_;
  std::vector<hsize_t> shape_;
  std::size_t row_size_ = 1;
  std::vector<T> values_;
};

}  // namespace tangere::io
