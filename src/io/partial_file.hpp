// SPDX-License-Identifier: Apache-2.0
//
// Outputs: files that appear under their name only when they are whole: they are written beside it,
// as NAME.partial, by one process at a time.
#pragma once

#include <string>

namespace tangere::io {

/// The file that an output of this name becomes: the name itself, or for a link the file that it
/// leads to, so that the link stays one. Throws FileError for what a file cannot replace: a folder,
/// a device, a pipe, and a link to one of these or to nothing.
[[nodiscard]] std::string outputName(const std::string& path);

/// NAME.partial, of this process alone, until it has its name; every file that the engine writes
/// begins here. After it was made nothing of it needs memory.
class PartialFile {
 public:
  /// Empty. Throws FileError when it cannot be written, `path` is neither new nor a regular file,
  /// or another process is writing it.
  explicit PartialFile(const std::string& path);
  /// Without commit() or keep() nothing remains.
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& partial() const { return partial_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }  ///< -1 when it is closed
  /// Brings the file to the disk, gives it its name and closes it. Throws FileError; the file is as
  /// before then.
  void commit();
  /// Closes it as it is, under the name NAME.partial.
  void keep();

 private:
  std::string name_, partial_, folder_;
  int descriptor_ = -1;
};

}  // namespace tangere::io
