// SPDX-License-Identifier: Apache-2.0
//
// tangere check: reads a mesh file and says what is in it and what is wrong with it.
#include "commands.hpp"

#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tangere::cli {

namespace {

struct CheckOptions {
  std::string file;
  bool solid = false;
};

/// Names, devices and sizes first: a reader is only ever given a regular file it may hold.
void requireReadable(const std::string& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0)
    throw CommandError(kInputOutput, {{.file = file, .message = std::strerror(errno)}});
  if (!S_ISREG(info.st_mode))
    throw CommandError(kInputOutput, {{.file = file, .message = "not a regular file"}});
  const MeshReadLimits limits;
  if (static_cast<std::size_t>(info.st_size) > limits.maxBytes)
    throw CommandError(kResourceLimit,
                       {{.file = file,
                         .message = std::to_string(info.st_size) + " bytes, the limit is " +
                                    std::to_string(limits.maxBytes)}});
  std::FILE* stream = std::fopen(file.c_str(), "rb");
  if (stream == nullptr)
    throw CommandError(kInputOutput, {{.file = file, .message = std::strerror(errno)}});
  std::fclose(stream);
}

const char* verdict(const MeshReport& report) {
  if (report.isSolid()) return "solid";
  if (report.isInsideOut()) return "inside out";
  if (report.isWatertight()) return "closed with mixed orientation";
  return "open surface";
}

Json edgeJson(const std::optional<MeshEdge>& edge) {
  if (!edge) return nullptr;
  return {{"vertices", {edge->vertex0, edge->vertex1}},
          {"triangle", edge->triangle},
          {"at", {edge->midpoint.x, edge->midpoint.y, edge->midpoint.z}}};
}

Json vecJson(const Vec3& v) { return {v.x, v.y, v.z}; }

Json toJson(const std::string& file, const MeshReport& report) {
  return {{"file", file},
          {"verdict", verdict(report)},
          {"solid", report.isSolid()},
          {"watertight", report.isWatertight()},
          {"consistently_oriented", report.isConsistentlyOriented()},
          {"vertices", report.numVertices},
          {"triangles", report.numTriangles},
          {"components", report.numComponents},
          {"unused_vertices", report.numUnusedVertices},
          {"duplicate_vertices", report.numDuplicateVertices},
          {"degenerate_triangles", report.numDegenerateTriangles},
          {"duplicate_triangles", report.numDuplicateTriangles},
          {"open_edges", report.numOpenEdges},
          {"first_open_edge", edgeJson(report.firstOpenEdge)},
          {"non_manifold_edges", report.numNonManifoldEdges},
          {"first_non_manifold_edge", edgeJson(report.firstNonManifoldEdge)},
          {"inconsistent_edges", report.numInconsistentEdges},
          {"first_inconsistent_edge", edgeJson(report.firstInconsistentEdge)},
          {"would_close_when_welded", report.wouldCloseWhenWelded},
          {"area_m2", report.area},
          {"volume_m3", report.volume},
          {"lower", vecJson(report.bounds.lower)},
          {"upper", vecJson(report.bounds.upper)},
          {"findings", report.findings()}};
}

void print(const std::string& file, const MeshReport& report) {
  const Vec3 size = report.bounds.upper - report.bounds.lower;
  std::printf("%s: %s\n", file.c_str(), verdict(report));
  std::printf("  %-12s %d\n", "vertices", report.numVertices);
  std::printf("  %-12s %d\n", "triangles", report.numTriangles);
  std::printf("  %-12s %d\n", "components", report.numComponents);
  std::printf("  %-12s %.6g x %.6g x %.6g m\n", "size", size.x, size.y, size.z);
  std::printf("  %-12s %.6g m^2\n", "area", report.area);
  if (report.isWatertight()) std::printf("  %-12s %.6g m^3\n", "volume", report.volume);
  const std::vector<std::string> findings = report.findings();
  for (const std::string& finding : findings) std::printf("  - %s\n", finding.c_str());
  if (findings.empty()) std::printf("  nothing to mend\n");
}

void runCheck(const CheckOptions& options, const CommonOptions& common) {
  requireReadable(options.file);
  const MeshReport report = inspectMesh(readMesh(options.file));
  if (options.solid && !report.isSolid()) {
    std::vector<Diagnostic> diagnostics;
    for (const std::string& finding : report.findings())
      diagnostics.push_back({.file = options.file, .message = finding});
    if (diagnostics.empty())
      diagnostics.push_back({.file = options.file, .message = "encloses no volume"});
    throw CommandError(kInputRejected, diagnostics);
  }
  if (common.json)
    printJson(toJson(options.file, report));
  else
    print(options.file, report);
}

}  // namespace

void addCheckCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "check", "Read a mesh (OBJ, STL) and report: watertight, orientation, degenerate parts");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->file, "Mesh file, .obj or .stl; numbers are metres")
      ->required();
  command->add_flag("--solid", options->solid,
                    "Reject (exit code 3) a mesh that is not a closed solid seen from outside");
  command->footer("Example:\n  tangere check part.stl --solid --json");
  command->callback([options, &common] { runCheck(*options, common); });
}

}  // namespace tangere::cli
