// SPDX-License-Identifier: Apache-2.0
#include <tangere/output_file.hpp>

#include <tangere/error.hpp>

#include "core/assert.hpp"
#include "io/partial_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tangere {

namespace {

// Callers may write a word at a time.
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

}  // namespace

struct OutputFile::Impl {
  std::string name;
  std::string buffer;
  std::size_t numWritten = 0;
  int descriptor = -1;

  void flush() {
    for (std::size_t done = 0; done < buffer.size();) {
      const ssize_t count = ::write(descriptor, buffer.data() + done, buffer.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        const int error = count < 0 ? errno : EIO;
        throw FileError(io::partialName(name) + ": cannot be written beyond " +
                        std::to_string(numWritten) + " bytes: " + std::strerror(error));
      }
      done += static_cast<std::size_t>(count);
      numWritten += static_cast<std::size_t>(count);
    }
    buffer.clear();
  }
};

OutputFile::OutputFile(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->name = io::outputName(path.string());
  impl_->descriptor = io::openPartial(impl_->name);
}

OutputFile::~OutputFile() {
  if (impl_->descriptor < 0) return;
  // Before it is closed: while it is open no other process takes the name.
  unlink(io::partialName(impl_->name).c_str());
  close(impl_->descriptor);
}

void OutputFile::write(std::string_view bytes) {
  TANGERE_ASSERT(impl_->descriptor >= 0);
  impl_->buffer.append(bytes);
  if (impl_->buffer.size() >= kBufferBytes) impl_->flush();
}

void OutputFile::commit() {
  TANGERE_ASSERT(impl_->descriptor >= 0);
  impl_->flush();
  const int descriptor = impl_->descriptor;
  impl_->descriptor = -1;
  io::finishPartial(impl_->name, descriptor);
}

}  // namespace tangere
