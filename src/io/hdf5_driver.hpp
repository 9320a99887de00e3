// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an HDF5 file that is being written. HDF5's own driver leaves a file half closed when
// a write fails, and then complains for the rest of the process; this one notes the failure and
// from then on keeps what is written in memory, so that HDF5 can close in peace and the file stays
// as it was when the disk was full, as it would after a kill.
#pragma once

#include "io/hdf5_handle.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tangere::io {

/// Shared by the driver and the one who opened the file; must outlive the HDF5 file.
struct DriverFile {
  int descriptor = -1;  ///< open for reading and writing; the driver never closes it
  int error = 0;        ///< errno of the first write that failed
  std::uint64_t size = 0;
  /// What could not be written, in order, each with its place in the file.
  std::vector<std::pair<std::uint64_t, std::vector<char>>> lost{};
};

/// HDF5 crashes where an allocation of its own fails, or says that a file is damaged. So what it
/// needs beside `bytes` of data is asked for before it is called: throws std::bad_alloc when that
/// is not to be had.
void requireHdf5Memory(std::size_t bytes = 0);

/// Whether the last call of HDF5 in this thread says that it failed for want of memory.
[[nodiscard]] bool hdf5LackedMemory();

/// A file access list for H5Fcreate that writes to `file`; the name given there is only a name.
[[nodiscard]] Hdf5Handle makeDriverAccess(DriverFile& file);

}  // namespace tangere::io
