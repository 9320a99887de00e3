// SPDX-License-Identifier: Apache-2.0
//
// Files that are written whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace tangere {

/// A file that appears under its name only when it is complete: it is PATH.partial until commit(),
/// which brings it to the disk and renames it. A link is followed, so that it stays a link.
class OutputFile {
 public:
  /// Opens PATH.partial for this process alone. Throws FileError when it cannot be written, when
  /// another process writes it, and when PATH is neither new nor a regular file: a folder, a
  /// device, a pipe, or a link to one of these or to nothing.
  explicit OutputFile(const std::filesystem::path& path);
  /// Without commit() nothing remains.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws FileError with the number of bytes that fitted, as commit() does.
  void write(std::string_view bytes);
  /// Nothing is written after this.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
