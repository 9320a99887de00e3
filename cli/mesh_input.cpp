// SPDX-License-Identifier: Apache-2.0
#include "mesh_input.hpp"

#include <tangere/io.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tangere::cli {

namespace {

constexpr double kDegreesPerRadian = 57.295779513082320877;

struct Bounds {
  Vec3 lower, upper;
};

Bounds boundsOf(const TetMesh& mesh) {
  Bounds out{mesh.vertices()[0], mesh.vertices()[0]};
  for (const Vec3& p : mesh.vertices()) {
    for (int axis = 0; axis < 3; ++axis) {
      out.lower[axis] = std::min(out.lower[axis], p[axis]);
      out.upper[axis] = std::max(out.upper[axis], p[axis]);
    }
  }
  return out;
}

Json vecJson(const Vec3& v) { return {v.x, v.y, v.z}; }

void printRow(const char* name, const std::string& value) {
  std::printf("  %-16s %s\n", name, value.c_str());
}

std::string formatted(const char* format, Real value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

MeshFileKind meshFileKind(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const char* surface : {".obj", ".stl", ".glb", ".gltf", ".dae"})
    if (extension == surface) return MeshFileKind::Surface;
  for (const char* volume : {".msh", ".vtk", ".vtu", ".node", ".ele"})
    if (extension == volume) return MeshFileKind::Volume;
  return MeshFileKind::None;
}

void requireReadable(const std::string& file, std::size_t maxBytes) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0)
    throw CommandError(kInputOutput, {{.file = file, .message = std::strerror(errno)}});
  if (!S_ISREG(info.st_mode))
    throw CommandError(kInputOutput, {{.file = file, .message = "not a regular file"}});
  if (static_cast<std::size_t>(info.st_size) > maxBytes)
    throw CommandError(kResourceLimit,
                       {{.file = file,
                         .message = join(std::to_string(info.st_size), " bytes, the limit is ",
                                         std::to_string(maxBytes))}});
  std::FILE* stream = std::fopen(file.c_str(), "rb");
  if (stream == nullptr)
    throw CommandError(kInputOutput, {{.file = file, .message = std::strerror(errno)}});
  std::fclose(stream);
}

TetMeshSummary readVolume(const std::string& file) {
  const auto begin = std::chrono::steady_clock::now();
  requireReadable(file, TetMeshReadLimits{}.maxBytes);
  std::vector<std::string> notes;
  TetMesh mesh = readTetMesh(file, &notes);
  TetMeshSummary summary{.name = file, .mesh = std::move(mesh), .isRead = true};
  summary.report.quality = summary.mesh.quality();
  summary.report.method = "file";
  summary.report.findings = std::move(notes);
  summary.wall_s = std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

Json toJson(const TetMeshSummary& summary) {
  const TetMeshQuality& quality = summary.report.quality;
  const Bounds bounds = boundsOf(summary.mesh);
  Json volumeError = nullptr, surfaceError = nullptr, lostFeature = nullptr, output = nullptr;
  if (!summary.isRead) {
    volumeError = summary.report.volumeError;
    surfaceError = summary.report.surfaceError;
    lostFeature = summary.report.lostFeature;
  }
  if (!summary.output.empty()) output = summary.output;
  return {{"input", summary.name},
          {"output", output},
          {"method", summary.report.method},
          {"vertices", summary.mesh.vertices().size()},
          {"tets", summary.mesh.tets().size()},
          {"surface_triangles", summary.mesh.surface().size()},
          {"parts", quality.numParts},
          {"surface_tets", quality.numSurfaceTets},
          {"min_dihedral_deg", kDegreesPerRadian * quality.minDihedral},
          {"max_dihedral_deg", kDegreesPerRadian * quality.maxDihedral},
          {"max_aspect", quality.maxAspect},
          {"shortest_edge_m", quality.shortestEdge},
          {"longest_edge_m", quality.longestEdge},
          {"min_tet_volume_m3", quality.minVolume},
          {"max_tet_volume_m3", quality.maxVolume},
          {"volume_m3", summary.mesh.volume()},
          {"volume_error", volumeError},
          {"surface_error_m", surfaceError},
          {"lost_feature_m", lostFeature},
          {"lower", vecJson(bounds.lower)},
          {"upper", vecJson(bounds.upper)},
          {"wall_s", summary.wall_s},
          {"findings", summary.report.findings}};
}

void print(const TetMeshSummary& summary) {
  const TetMeshQuality& quality = summary.report.quality;
  const Bounds bounds = boundsOf(summary.mesh);
  const Vec3 size = bounds.upper - bounds.lower;
  std::printf("%s: %zu tetrahedra\n", summary.name.c_str(), summary.mesh.tets().size());
  printRow("vertices", std::to_string(summary.mesh.vertices().size()));
  printRow("surface", join(std::to_string(summary.mesh.surface().size()), " triangles"));
  printRow("parts", std::to_string(quality.numParts));
  printRow("size", join(formatted("%.6g x ", size.x), formatted("%.6g x ", size.y),
                        formatted("%.6g m", size.z)));
  printRow("edges", join(formatted("%.4g to ", quality.shortestEdge),
                         formatted("%.4g m", quality.longestEdge)));
  printRow("dihedral angles",
           join(formatted("%.1f to ", kDegreesPerRadian * quality.minDihedral),
                formatted("%.1f degrees", kDegreesPerRadian * quality.maxDihedral)));
  printRow("aspect", formatted("%.2f at most (regular: 1.22)", quality.maxAspect));
  printRow("volume", formatted("%.6g m^3", summary.mesh.volume()));
  if (!summary.isRead) {
    printRow("volume error", formatted("%+.3f %%", 100 * summary.report.volumeError));
    printRow("surface error", formatted("%.3g m", summary.report.surfaceError));
    printRow("lost features", formatted("%.3g m", summary.report.lostFeature));
  }
  printRow("method", summary.report.method);
  printRow("time", formatted("%.3f s", summary.wall_s));
  if (!summary.output.empty()) printRow("written to", summary.output);
  for (const std::string& finding : summary.report.findings)
    std::printf("  - %s\n", finding.c_str());
}

}  // namespace tangere::cli
