// SPDX-License-Identifier: Apache-2.0
//
// One column of a recording that is being written.
#pragma once

#include <tangere/types.hpp>

#include "io/hdf5_handle.hpp"
#include "io/model_record.hpp"

#include <array>
#include <utility>
#include <vector>

namespace tangere::io {

/// One dataset that grows by rows. Values are collected by add(); handOver() gives them to the
/// thread that calls write(), which must have finished with those before.
template <class T>
class RecordColumn {
 public:
  /// `rowShape`: empty for one number a row, {3} for a vector, {bodies, 3} for a vector per body.
  void create(hid_t group, const char* name, const std::vector<hsize_t>& rowShape,
              hsize_t chunkRows, int compression) {
    is_wanted_ = true;
    rank_ = static_cast<int>(rowShape.size()) + 1;
    std::array<hsize_t, 3> limit{}, chunk{};
    limit[0] = H5S_UNLIMITED;
    chunk[0] = chunkRows;
    for (std::size_t i = 0; i < rowShape.size(); ++i)
      shape_[i + 1] = limit[i + 1] = chunk[i + 1] = rowShape[i];
    for (int i = 1; i < rank_; ++i) row_size_ *= static_cast<std::size_t>(shape_[i]);
    const Hdf5Handle space(H5Screate_simple(rank_, shape_.data(), limit.data()), H5Sclose);
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.id(), rank_, chunk.data());
    H5Pset_shuffle(properties.id());
    if (compression > 0) H5Pset_deflate(properties.id(), static_cast<unsigned>(compression));
    // What does not get smaller is stored as it is, without the checksum of the compression.
    H5Pset_fletcher32(properties.id());
    H5Pset_obj_track_times(properties.id(), false);
    dataset_ = Hdf5Handle(H5Dcreate2(group, name, fileType<T>(), space.id(), H5P_DEFAULT,
                                     properties.id(), H5P_DEFAULT),
                          H5Dclose);
  }
  void describe(const char* unit, const char* meaning) const {
    if (*unit != '\0') writeText(dataset_.id(), "unit", unit);
    if (*meaning != '\0') writeText(dataset_.id(), "meaning", meaning);
  }
  void add(T value) { buffer_.push_back(value); }
  void handOver() {
    std::swap(buffer_, handed_);
    buffer_.clear();
  }
  /// False: the file did not take it. A column that was never created has nothing to write.
  [[nodiscard]] bool write() {
    const auto rows = static_cast<hsize_t>(handed_.size() / row_size_);
    if (rows == 0) return !is_wanted_ || dataset_.isValid();
    std::array<hsize_t, 3> begin{}, count = shape_, extent = shape_;
    begin[0] = shape_[0];
    count[0] = rows;
    extent[0] = shape_[0] + rows;
    if (H5Dset_extent(dataset_.id(), extent.data()) < 0) return false;
    const Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    const Hdf5Handle memory(H5Screate_simple(rank_, count.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
    const bool written = H5Dwrite(dataset_.id(), nativeType<T>(), memory.id(), space.id(),
                                  H5P_DEFAULT, handed_.data()) >= 0;
    shape_ = extent;
    handed_.clear();
    return written;
  }
  void close() { dataset_.reset(); }

 private:
  Hdf5Handle dataset_;
  bool is_wanted_ = false;
  int rank_ = 1;
  std::array<hsize_t, 3> shape_{};
  std::size_t row_size_ = 1;
  std::vector<T> buffer_, handed_;
};

template <class T>
void add(RecordColumn<T>& column, T value) {
  column.add(value);
}
inline void add(RecordColumn<Real>& column, const Vec3& v) {
  column.add(v.x);
  column.add(v.y);
  column.add(v.z);
}
inline void add(RecordColumn<Real>& column, const Quat& q) {
  column.add(q.w);
  column.add(q.x);
  column.add(q.y);
  column.add(q.z);
}

}  // namespace tangere::io
