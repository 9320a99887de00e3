// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_driver.hpp"

#include "core/require_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

namespace tangere::io {

namespace {

/// What HDF5 keeps in the access list: copied by it as bytes.
struct AccessInfo {
  DriverFile* file = nullptr;
};

/// An open file. The first member is what HDF5 knows of it.
struct OpenFile {
  H5FD_t base{};
  DriverFile* file = nullptr;
  haddr_t endOfAllocation = 0;
};

OpenFile& self(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& self(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

H5FD_t* openFile(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const AccessInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  auto* opened = new (std::nothrow) OpenFile{.file = info->file};
  return opened == nullptr ? nullptr : &opened->base;
}

herr_t closeFile(H5FD_t* file) {
  delete &self(file);
  return 0;
}

herr_t queryFeatures(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
           H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t getEndOfAllocation(const H5FD_t* file, H5FD_mem_t) { return self(file).endOfAllocation; }

herr_t setEndOfAllocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  self(file).endOfAllocation = address;
  return 0;
}

haddr_t getEndOfFile(const H5FD_t* file, H5FD_mem_t) { return self(file).file->size; }

/// Bytes of the file; zeros where it is allocated and not written yet.
bool readFromFile(const DriverFile& file, haddr_t address, std::size_t size, char* bytes) {
  while (size > 0) {
    const ssize_t count = pread(file.descriptor, bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) {
      std::memset(bytes, 0, size);
      return true;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

herr_t readBytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const DriverFile& file = *self(base).file;
  auto* bytes = static_cast<char*>(buffer);
  if (!readFromFile(file, address, size, bytes)) return -1;
  for (const auto& [place, lost] : file.lost) {
    const std::uint64_t begin = std::max<std::uint64_t>(place, address);
    const std::uint64_t end = std::min<std::uint64_t>(place + lost.size(), address + size);
    if (begin < end) std::memcpy(bytes + (begin - address), &lost[begin - place], end - begin);
  }
  return 0;
}

herr_t writeBytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
                  const void* buffer) {
  DriverFile& file = *self(base).file;
  const auto* bytes = static_cast<const char*>(buffer);
  while (size > 0 && file.error == 0) {
    const ssize_t count = pwrite(file.descriptor, bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      file.error = count < 0 ? errno : EIO;
      break;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<std::size_t>(count);
    file.size = std::max<std::uint64_t>(file.size, address);
  }
  if (size == 0) return 0;
  try {
    file.lost.emplace_back(address, std::vector<char>(bytes, bytes + size));
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

herr_t truncateFile(H5FD_t* base, hid_t, hbool_t) {
  DriverFile& file = *self(base).file;
  const haddr_t wanted = self(base).endOfAllocation;
  if (file.error != 0 || wanted == file.size) return 0;
  if (ftruncate(file.descriptor, static_cast<off_t>(wanted)) == 0)
    file.size = wanted;
  else
    file.error = errno;
  return 0;
}

// The file is locked already, and not by HDF5's means. Without these HDF5 would not mark the file
// as one that is being written, and its readers would refuse it.
herr_t lockFile(H5FD_t*, hbool_t) { return 0; }
herr_t unlockFile(H5FD_t*) { return 0; }

H5FD_class_t makeDriverClass() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION  // HDF5 1.14
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);
#endif
  driver.name = "tangere";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(AccessInfo);
  driver.open = openFile;
  driver.close = closeFile;
  driver.query = queryFeatures;
  driver.get_eoa = getEndOfAllocation;
  driver.set_eoa = setEndOfAllocation;
  driver.get_eof = getEndOfFile;
  driver.read = readBytes;
  driver.write = writeBytes;
  driver.truncate = truncateFile;
  driver.lock = lockFile;
  driver.unlock = unlockFile;
  const H5FD_mem_t freeLists[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(freeLists), std::end(freeLists), driver.fl_map);
  return driver;
}

/// Registered once, and again when somebody closed the HDF5 library in between.
hid_t driverId() {
  static std::mutex mutex;
  static const H5FD_class_t driver = makeDriverClass();
  static hid_t id = H5I_INVALID_HID;
  const std::lock_guard lock(mutex);
  if (id < 0 || H5Iis_valid(id) <= 0) id = H5FDregister(&driver);
  return id;
}

}  // namespace

void requireHdf5Memory(std::size_t bytes) {
  // Its caches, the tables of some fifty columns, a chunk before and after its filters.
  constexpr std::size_t kHdf5Bytes = std::size_t{16} << 20;
  core::requireMemory(kHdf5Bytes + 3 * bytes);
}

bool hdf5LackedMemory() {
  bool isSaid = false;
  const auto look = [](unsigned, const H5E_error2_t* error, void* found) {
    if (error->maj_num == H5E_RESOURCE) *static_cast<bool*>(found) = true;
    return herr_t{0};
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, look, &isSaid);
  return isSaid;
}

Hdf5Handle makeDriverAccess(DriverFile& file) {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const AccessInfo info{&file};
  if (H5Pset_driver(access.id(), driverId(), &info) < 0) access.reset();
  return access;
}

}  // namespace tangere::io
