// SPDX-License-Identifier: Apache-2.0
//
// Mesh files by extension, read whole once their size is known to be acceptable.
#include "io/mesh_file.hpp"

#include <fstream>
#include <set>
#include <string>
#include <system_error>

namespace tangere {

TriangleMesh readMesh(const std::filesystem::path& path, const MeshReadLimits& limits) {
  return io::readMeshFile(path, path.string(), limits, nullptr);
}

namespace io {

namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& message) {
  throw InvalidInput(std::string(name) + ": " + message);
}

thread_local FilesRead* innermost = nullptr;

std::string lowerExtension(const std::filesystem::path& path) {
  std::string out = path.extension().string();
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

TriangleMesh readMeshFile(const std::filesystem::path& path, std::string_view name,
                          const MeshReadLimits& limits, std::vector<std::string>* ignored) {
  const std::string extension = lowerExtension(path);
  if (extension == ".gltf") {
    refuse(name, "glTF is read as one binary file: export it as .glb");
  }
  if (extension != ".obj" && extension != ".stl" && extension != ".glb" && extension != ".dae") {
    refuse(name, "mesh files end in .obj, .stl, .glb or .dae, not '" + extension + "'");
  }
  const std::string content = readRegularFile(path, name, limits.maxBytes);
  const auto bytes = std::as_bytes(std::span(content));
  if (extension == ".obj") return readObj(content, name, limits);
  if (extension == ".dae") return readCollada(content, name, limits);
  if (extension == ".stl") return readStl(bytes, name, limits);
  return readGlb(bytes, name, limits, ignored);
}

FilesRead::FilesRead() : outer_(innermost) { innermost = this; }

FilesRead::~FilesRead() { innermost = outer_; }

std::vector<std::filesystem::path> FilesRead::take() {
  std::vector<std::filesystem::path> out;
  std::set<std::filesystem::path> seen;
  for (std::filesystem::path& path : paths_)
    if (seen.insert(path).second) out.push_back(std::move(path));
  paths_.clear();
  return out;
}

std::string readRegularFile(const std::filesystem::path& path, std::string_view name,
                            std::size_t maxBytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(name, "no such file");
  if (!std::filesystem::is_regular_file(status)) refuse(name, "not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) refuse(name, "cannot be read: " + error.message());
  if (size > maxBytes) {
    throw LimitExceeded(std::string(name) + ": " + std::to_string(size) +
                        " bytes, more than the limit of " + std::to_string(maxBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(name, "cannot be opened");
  if (innermost != nullptr) innermost->paths_.push_back(path);
  std::string content(static_cast<std::size_t>(size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (static_cast<std::uintmax_t>(file.gcount()) != size) {
    refuse(name, "cannot be read: " + std::to_string(file.gcount()) + " of " +
                     std::to_string(size) + " bytes");
  }
  return content;
}

}  // namespace io

}  // namespace tangere
