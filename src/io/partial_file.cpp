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
#include <utility>

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

PartialFile::PartialFile(const std::string& path)
    : name_(outputName(path)),
      partial_(name_ + ".partial"),
      folder_(std::filesystem::path(name_).parent_path().string()) {
  const int descriptor =
      open(partial_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0) fail(partial_, errno);
  const bool isOurs = lockFile(descriptor) && hasName(descriptor, partial_);
  if (isOurs && ftruncate(descriptor, 0) == 0) {
    descriptor_ = descriptor;
    return;
  }
  const int error = errno;
  close(descriptor);
  if (!isOurs) throw FileError(partial_ + ": another run is writing this file");
  fail(partial_, error);
}

PartialFile::~PartialFile() {
  if (descriptor_ < 0) return;
  // Before it is closed: while it is open no other process takes the name.
  unlink(partial_.c_str());
  close(descriptor_);
}

void PartialFile::commit() {
  if (fsync(descriptor_) != 0 || std::rename(partial_.c_str(), name_.c_str()) != 0)
    fail(name_, errno);
  if (close(std::exchange(descriptor_, -1)) != 0) fail(name_, errno);
  // The new name, too, must survive a loss of power. Not every file system lets a folder be synced.
  const int opened =
      open(folder_.empty() ? "." : folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}

void PartialFile::keep() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace tangere::io
