// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "console.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tangere::cli {

OutputFile::OutputFile(const std::string& path) : path_(path == "-" ? "" : path) {
  if (path_.empty()) {
    stream_ = stdout;
    return;
  }
  struct stat info {};
  if (stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // A device such as /dev/null cannot be replaced by renaming: write to it directly.
    if (S_ISDIR(info.st_mode)) {
      errno = EISDIR;
      fail("cannot be written");
    }
    stream_ = std::fopen(path_.c_str(), "w");
    if (stream_ == nullptr) fail("cannot be written");
    return;
  }
  temporary_ = path_ + ".part" + std::to_string(getpid());
  const int descriptor = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    temporary_.clear();
    fail("cannot be written");
  }
  stream_ = fdopen(descriptor, "w");
  if (stream_ == nullptr) fail("cannot be written");
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr && stream_ != stdout) std::fclose(stream_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail("cannot be written");
}

void OutputFile::commit() {
  if (std::fflush(stream_) != 0) fail("cannot be written");
  if (temporary_.empty()) return;
  if (fsync(fileno(stream_)) != 0) fail("cannot be written");
  const bool closed = std::fclose(stream_) == 0;
  stream_ = nullptr;
  if (!closed || std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be written");
  temporary_.clear();
}

void OutputFile::fail(const char* what) const {
  const std::string reason = std::strerror(errno);
  throw CommandError(kInputOutput, {{.file = path_.empty() ? "stdout" : path_,
                                     .message = std::string(what) + ": " + reason}});
}

}  // namespace tangere::cli
