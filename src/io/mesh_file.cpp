// SPDX-License-Identifier: Apache-2.0
//
// Mesh files by extension, read whole once their size is known to be acceptable.
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <fstream>
#include <string>
#include <system_error>

namespace tangere {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& message) {
  throw InvalidInput(path.string() + ": " + message);
}

std::string lowerExtension(const std::filesystem::path& path) {
  std::string out = path.extension().string();
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string readAll(const std::filesystem::path& path, std::size_t maxBytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(path, "no such file");
  if (!std::filesystem::is_regular_file(status)) refuse(path, "not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) refuse(path, "cannot be read: " + error.message());
  if (size > maxBytes) {
    refuse(path,
           std::to_string(size) + " bytes, more than the limit of " + std::to_string(maxBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be opened");
  std::string content(static_cast<std::size_t>(size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (static_cast<std::uintmax_t>(file.gcount()) != size) {
    refuse(path, "cannot be read: " + std::to_string(file.gcount()) + " of " +
                     std::to_string(size) + " bytes");
  }
  return content;
}

}  // namespace

TriangleMesh readMesh(const std::filesystem::path& path, const MeshReadLimits& limits) {
  const std::string extension = lowerExtension(path);
  if (extension != ".obj" && extension != ".stl") {
    refuse(path, "mesh files end in .obj or .stl, not '" + extension + "'");
  }
  const std::string content = readAll(path, limits.maxBytes);
  if (extension == ".obj") return readObj(content, path.string(), limits);
  return readStl(std::as_bytes(std::span(content)), path.string(), limits);
}

}  // namespace tangere
