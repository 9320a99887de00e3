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
  explicit Impl(const std::filesystem::path& path) : file(path.string()) {}

  io::PartialFile file;
  std::string buffer;
  std::size_t numWritten = 0;

  void flush() {
    for (std::size_t done = 0; done < buffer.size();) {
      const ssize_t count = ::write(file.descriptor(), buffer.data() + done, buffer.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        const int error = count < 0 ? errno : EIO;
        throw FileError(file.partial() + ": cannot be written beyond " +
                        std::to_string(numWritten) + " bytes: " + std::strerror(error));
      }
      done += static_cast<std::size_t>(count);
      numWritten += static_cast<std::size_t>(count);
    }
    buffer.clear();
  }
};

OutputFile::OutputFile(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}

OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view bytes) {
  TANGERE_ASSERT(impl_->file.descriptor() >= 0);
  impl_->buffer.append(bytes);
  if (impl_->buffer.size() >= kBufferBytes) impl_->flush();
}

void OutputFile::commit() {
  TANGERE_ASSERT(impl_->file.descriptor() >= 0);
  impl_->flush();
  impl_->file.commit();
}

}  // namespace tangere
