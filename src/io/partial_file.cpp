// SPDX-License-Identifier: Apache-2.0
#include "io/partial_file.hpp"

#include <tangere/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tangere::io {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileError(path + ": cannot be written: " + std::strerror(error));
}

/// A lock that goes with the process, whatever ends it. HDF5's readers do not look at it, so they
/// may follow a recording that is being written.
bool lockFile(int descriptor) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
#ifdef F_OFD_SETLK
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
#else
  return fcntl(descriptor, F_SETLK, &lock) == 0;
#endif
}

/// False when another process renamed the file after we opened it and before we had the lock.
bool hasName(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// Links are not followed: what is renamed over one destroys it.
void requireReplaceable(const std::string& name) {
  struct stat info {};
  if (lstat(name.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw FileError(name + ": cannot be written: " +
                    (S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
}

}  // namespace

std::string outputName(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) throw FileError("a file without a name cannot be written");
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) {
    requireReplaceable(path);
    return path;
  }
  const fs::path target = fs::canonical(path, error);
  if (error) throw FileError(path + ": cannot be written: a link to nothing");
  requireReplaceable(target.string());
  return target.string();
}

std::string partialName(const std::string& name) { return name + ".partial"; }

int openPartial(const std::string& name) {
  requireReplaceable(name);
  const std::string path = partialName(name);
  const int descriptor =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0) fail(path, errno);
  const bool isOurs = lockFile(descriptor) && hasName(descriptor, path);
  if (isOurs && ftruncate(descriptor, 0) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  if (!isOurs) throw FileError(path + ": another run is writing this file");
  fail(path, error);
}

void finishPartial(const std::string& name, int descriptor) {
  int error = fsync(descriptor) == 0 ? 0 : errno;
  if (error == 0 && std::rename(partialName(name).c_str(), name.c_str()) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) fail(name, error);
  // The new name, too, must survive a loss of power. Not every file system lets a folder be synced.
  const std::string folder = std::filesystem::path(name).parent_path().string();
  const int opened =
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}

}  // namespace tangere::io
