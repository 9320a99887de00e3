// SPDX-License-Identifier: Apache-2.0
//
// Files as the readers want them: whole, regular, and of a size that is known to be acceptable
// before memory is asked for.
#pragma once

#include <tangere/error.hpp>
#include <tangere/io.hpp>
#include <tangere/limit_exceeded.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

using tangere::LimitExceeded;

/// The bytes of a regular file. Throws InvalidInput "name: why", LimitExceeded for its size.
[[nodiscard]] std::string readRegularFile(const std::filesystem::path& path, std::string_view name,
                                          std::size_t maxBytes);

/// Collects the paths of the files that readRegularFile() opens while it lives, in this thread; the
/// innermost of several.
class FilesRead {
 public:
  FilesRead();
  ~FilesRead();
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;

  /// Each once, in order of reading; empty from then on.
  [[nodiscard]] std::vector<std::filesystem::path> take();

 private:
  friend std::string readRegularFile(const std::filesystem::path&, std::string_view, std::size_t);

  std::vector<std::filesystem::path> paths_;
  FilesRead* outer_;
};

/// readMesh() with the name for messages apart from the path. What the reader passed over (textures
/// and the like) is added to `ignored` where there is one.
[[nodiscard]] TriangleMesh readMeshFile(const std::filesystem::path& path, std::string_view name,
                                        const MeshReadLimits& limits,
                                        std::vector<std::string>* ignored);

}  // namespace tangere::io
