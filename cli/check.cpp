// SPDX-License-Identifier: Apache-2.0
//
// tangere check: reads a scene, a mesh or a volume file and says what is in it, what was made of it
// and what is wrong with it.
#include "commands.hpp"
#include "mesh_input.hpp"
#include "scene_input.hpp"

#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <cstdio>

namespace tangere::cli {

namespace {

struct CheckOptions {
  std::string file;
  bool solid = false;
  LoadingOptions loading{};
};

const char* verdict(const MeshReport& report) {
  if (report.isSolid()) return "solid";
  if (report.isInsideOut()) return "inside out";
  if (report.firstIntersection) return "closed, but passes through itself";
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
          {"first_intersection", edgeJson(report.firstIntersection)},
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

void checkMesh(const CheckOptions& options, const CommonOptions& common) {
  requireReadable(options.file, MeshReadLimits{}.maxBytes);
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

struct BodyCounts {
  int dynamic = 0, fixed = 0, kinematic = 0;
};

BodyCounts countBodies(const Model& model) {
  BodyCounts counts;
  for (int i = 0; i < model.numBodies(); ++i) {
    const BodyType type = model.bodyType(i);
    ++(type == BodyType::Dynamic ? counts.dynamic
       : type == BodyType::Fixed ? counts.fixed
                                 : counts.kinematic);
  }
  return counts;
}

/// "'link' and 'base'", with the names of shapes that have one.
std::string pairName(const Model& model, const StartOverlap& overlap) {
  const auto nameOf = [&](int shape) {
    const std::string body(model.bodyName(model.bodyOfShape(shape)));
    const std::string own(model.shapeName(shape));
    return "'" + body + "'" + (own.empty() ? "" : " (shape '" + own + "')");
  };
  return nameOf(overlap.shape1) + " and " + nameOf(overlap.shape2);
}

Json overlapsJson(const Model& model) {
  Json out = Json::array();
  for (const StartOverlap& overlap : model.startOverlaps())
    out.push_back({{"body1", model.bodyName(model.bodyOfShape(overlap.shape1))},
                   {"body2", model.bodyName(model.bodyOfShape(overlap.shape2))},
                   {"shape1", model.shapeName(overlap.shape1)},
                   {"shape2", model.shapeName(overlap.shape2)},
                   {"depth_m", overlap.depth},
                   {"with_base", overlap.isWithBase}});
  return out;
}

/// What joints may not be able to part.
void printOverlaps(const Model& model) {
  const std::vector<StartOverlap> overlaps = model.startOverlaps();
  bool isAnyWithBase = false;
  for (const StartOverlap& overlap : overlaps) {
    isAnyWithBase = isAnyWithBase || overlap.isWithBase;
    std::printf("  - overlap: %s overlap by %.3g mm at the start%s\n",
                pairName(model, overlap).c_str(), 1e3 * overlap.depth,
                overlap.isWithBase ? ", link and base" : "");
  }
  if (isAnyWithBase)
    std::printf(
        "    exclude_start_overlaps (run: --exclude-start-overlaps) lets links pass through their "
        "base where they overlap it\n");
}

Json toJson(const std::string& file, const Scene& scene) {
  const BodyCounts counts = countBodies(scene.model);
  Json notes = Json::array();
  for (const ImportNote& note : scene.report.notes)
    notes.push_back({{"kind", importNoteKindName(note.kind)},
                     {"file", note.file},
                     {"line", note.line},
                     {"column", note.column},
                     {"message", note.message}});
  return {{"file", file},
          {"name", scene.name},
          {"solver", solverTypeName(scene.model.options().solver)},
          {"dt_s", scene.model.options().dt},
          {"bodies", scene.model.numBodies()},
          {"dynamic_bodies", counts.dynamic},
          {"fixed_bodies", counts.fixed},
          {"kinematic_bodies", counts.kinematic},
          {"shapes", scene.model.numShapes()},
          {"start_overlaps", overlapsJson(scene.model)},
          {"notes", notes}};
}

void print(const std::string& file, const Scene& scene) {
  const BodyCounts counts = countBodies(scene.model);
  std::printf("%s: a scene for the %s solver\n", file.c_str(),
              solverTypeName(scene.model.options().solver));
  std::printf("  %-12s %d (%d dynamic, %d fixed, %d kinematic)\n", "bodies",
              scene.model.numBodies(), counts.dynamic, counts.fixed, counts.kinematic);
  std::printf("  %-12s %d\n", "shapes", scene.model.numShapes());
  std::printf("  %-12s %g s\n", "time step", scene.model.options().dt);
  printOverlaps(scene.model);
  bool isAsWritten = true;
  for (const ImportNote& note : scene.report.notes) {
    if (note.line == 0 && note.kind == ImportNote::Kind::Read) continue;  // the counts above
    isAsWritten = isAsWritten && note.kind == ImportNote::Kind::Read;
    std::printf("  - %s: %s\n", std::string(importNoteKindName(note.kind)).c_str(),
                describe(note).c_str());
  }
  if (isAsWritten) std::printf("  nothing was changed or ignored\n");
}

void checkScene(const CheckOptions& options, const CommonOptions& common) {
  if (options.solid)
    throw CommandError(kUsage, join("--solid is for meshes, but ", options.file,
                                    " is read as a scene; meshes end in .obj, .stl, .glb or .dae"));
  CommonOptions silent = common;
  silent.quiet = 2;  // the report below has the warnings
  const Scene scene = loadSceneFor(options.file, silent, options.loading);
  if (common.json)
    printJson(toJson(options.file, scene));
  else
    print(options.file, scene);
}

void checkVolume(const CheckOptions& options, const CommonOptions& common) {
  const TetMeshSummary summary = readVolume(options.file);  // solid, or refused
  if (common.json)
    printJson(toJson(summary));
  else
    print(summary);
}

void runCheck(const CheckOptions& options, const CommonOptions& common) {
  switch (meshFileKind(options.file)) {
    case MeshFileKind::Surface:
      return checkMesh(options, common);
    case MeshFileKind::Volume:
      return checkVolume(options, common);
    case MeshFileKind::None:
      return checkScene(options, common);
  }
}

}  // namespace

void addCheckCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "check",
      "Read a scene, a mesh (OBJ, STL, GLB) or a volume mesh (MSH, VTK, TetGen) and report what is "
      "in it, changed or wrong");
  const auto options = std::make_shared<CheckOptions>();
  command
      ->add_option(
          "FILE", options->file,
          "Scene in TOML, MJCF, URDF or SDFormat, mesh file: .obj, .stl, .glb or .dae, or volume "
          "file: .msh, .vtk, .node or .ele")
      ->required();
  addLoadingOptions(*command, options->loading);
  command->add_flag("--solid", options->solid,
                    "Reject (exit code 3) a mesh that is not a closed solid seen from outside");
  command->footer(
      "Example:\n  tangere check scenes/stack.toml\n  tangere check part.stl --solid --json\n"
      "  tangere check part.msh");
  command->callback([options, &common] { runCheck(*options, common); });
}

}  // namespace tangere::cli
