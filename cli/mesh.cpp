// SPDX-License-Identifier: Apache-2.0
//
// tangere mesh: fills a closed surface or a primitive with tetrahedra, or converts a volume file,
// and says how good the result is.
#include "commands.hpp"
#include "mesh_input.hpp"
#include "output_file.hpp"
#include "progress.hpp"

#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

namespace tangere::cli {

namespace {

/// A shape given by its sizes, as in a scene file.
struct Primitive {
  const char* option;
  const char* sizes;
  const char* help;
  int numSizes;
};
constexpr std::array<Primitive, 6> kPrimitives{{
    {"--sphere", "R", "Radius [m], instead of a file", 1},
    {"--box", "X Y Z", "Half sizes [m]", 3},
    {"--capsule", "R H", "Radius and half length of its axis [m]", 2},
    {"--cylinder", "R H", "Radius and half height [m]", 2},
    {"--cone", "R H", "Radius and half height [m]", 2},
    {"--ellipsoid", "X Y Z", "Half sizes [m]", 3},
}};

struct MeshOptions {
  std::string file{};
  std::string output{};
  std::array<std::vector<Real>, kPrimitives.size()> sizes{};
  std::optional<Real> resolution{};
  int maxTets = TetMeshOptions{}.maxTets;
  bool ascii = false;
};

std::unique_ptr<const Shape> makePrimitive(std::size_t which, const std::vector<Real>& size) {
  switch (which) {
    case 0:
      return std::make_unique<Sphere>(size[0]);
    case 1:
      return std::make_unique<Box>(Vec3{size[0], size[1], size[2]});
    case 2:
      return std::make_unique<Capsule>(size[0], size[1]);
    case 3:
      return std::make_unique<Cylinder>(size[0], size[1]);
    case 4:
      return std::make_unique<Cone>(size[0], size[1]);
    default:
      return std::make_unique<Ellipsoid>(Vec3{size[0], size[1], size[2]});
  }
}

/// Which primitive was given; none for a file.
std::optional<std::size_t> givenPrimitive(const MeshOptions& options) {
  std::optional<std::size_t> given;
  for (std::size_t i = 0; i < kPrimitives.size(); ++i) {
    if (options.sizes[i].empty()) continue;
    if (given)
      throw CommandError(kUsage, join(kPrimitives[*given].option, " and ", kPrimitives[i].option,
                                      ": expected one shape"));
    given = i;
  }
  if (given && !options.file.empty())
    throw CommandError(kUsage, join("both ", options.file, " and ", kPrimitives[*given].option,
                                    ": expected one of them"));
  if (!given && options.file.empty())
    throw CommandError(kUsage, "expected a SURFACE or a primitive such as --sphere 0.02");
  return given;
}

void requireOutput(const MeshOptions& options) {
  std::string extension = std::filesystem::path(options.output).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (extension != ".msh" && extension != ".vtk")
    throw CommandError(kUsage,
                       join("-o ", options.output, ": volume files are written as .msh or .vtk"));
  requireDifferentFiles(std::vector<NamedFile>{{"-o", options.output}},
                        std::vector<NamedFile>{{"the input", options.file}});
  if (options.resolution && !(*options.resolution > 0 && std::isfinite(*options.resolution)))
    throw CommandError(kUsage, "--resolution: expected a length, finite and above 0 [m]");
}

TetMeshSummary fill(const std::string& name, const Shape& shape, const MeshOptions& options,
                    std::vector<std::string> findings) {
  const auto begin = std::chrono::steady_clock::now();
  TetMeshReport report;
  TetMesh mesh = meshShape(
      shape, {.resolution = options.resolution.value_or(0), .maxTets = options.maxTets}, &report);
  for (const std::string& finding : report.findings) findings.push_back(finding);
  report.findings = std::move(findings);
  const auto end = std::chrono::steady_clock::now();
  return {.name = name,
          .mesh = std::move(mesh),
          .report = std::move(report),
          .wall_s = std::chrono::duration<Real>(end - begin).count()};
}

/// Corners at one place are joined first: STL files know no other way to say so.
TetMeshSummary fillSurface(const MeshOptions& options) {
  requireReadable(options.file, MeshReadLimits{}.maxBytes);
  TriangleMesh surface = readMesh(options.file);
  MeshReport found = inspectMesh(surface);
  std::vector<std::string> findings;
  if (found.wouldCloseWhenWelded) {
    surface = weldVertices(surface);
    found = inspectMesh(surface);
    findings.emplace_back("vertices at one place were made one to close the surface");
  }
  if (found.isInsideOut()) findings.emplace_back("the triangles faced inward and were turned");
  // One that passes through itself is filled once: the findings of the mesher say so.
  if (!found.isWatertight() || !found.isConsistentlyOriented() || found.volume == 0) {
    std::vector<Diagnostic> diagnostics;
    for (const std::string& finding : found.findings())
      diagnostics.push_back({.file = options.file, .message = finding});
    diagnostics.push_back(
        {.file = options.file, .message = "encloses no volume: expected a closed surface"});
    throw CommandError(kInputRejected, diagnostics);
  }
  if (found.scale != MeshScale::Plausible)
    findings.emplace_back(found.scale == MeshScale::LikelyMillimetres
                              ? "more than 50 m across: probably in millimetres"
                              : "less than 0.1 mm across: probably converted to metres twice");
  return fill(options.file, Mesh(surface.vertices, surface.triangles), options,
              std::move(findings));
}

TetMeshSummary make(const MeshOptions& options) {
  if (const std::optional<std::size_t> primitive = givenPrimitive(options))
    return fill(kPrimitives[*primitive].option + 2,
                *makePrimitive(*primitive, options.sizes[*primitive]), options, {});
  switch (meshFileKind(options.file)) {
    case MeshFileKind::Surface:
      return fillSurface(options);
    case MeshFileKind::Volume:
      if (options.resolution)
        throw CommandError(kUsage, join("--resolution is for surfaces, but ", options.file,
                                        " has tetrahedra already"));
      return readVolume(options.file);
    case MeshFileKind::None:
      break;
  }
  throw CommandError(
      kInputRejected,
      {{.file = options.file,
        .message = "expected a surface (.obj, .stl, .glb, .dae) or a volume file (.msh, "
                   ".vtk, .node, .ele)"}});
}

void runMesh(const MeshOptions& options, const CommonOptions& common) {
  requireOutput(options);
  TetMeshSummary summary = [&] {
    const ProgressWatch watch(common, {.title = "mesh"});
    const EndsAtOnce endsAtOnce(common, "the solid was filled");
    return make(options);
  }();
  throwIfInterrupted();
  writeTetMesh(options.output, summary.mesh,
               options.ascii ? MeshEncoding::Ascii : MeshEncoding::Binary);
  summary.output = options.output;
  if (common.json)
    printJson(toJson(summary));
  else if (common.quiet == 0)
    print(summary);
  flushStdout();
}

}  // namespace

void addMeshCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "mesh", "Fill a closed surface with tetrahedra, or convert a volume file");
  const auto options = std::make_shared<MeshOptions>();
  command->add_option(
      "SURFACE", options->file,
      "Closed surface (.obj, .stl, .glb, .dae) or volume file (.msh, .vtk, .node, .ele)");
  command->add_option("-o,--output", options->output, "File to write: .msh (Gmsh 4.1) or .vtk")
      ->type_name("OUT.msh")
      ->required();
  command
      ->add_option("--resolution", options->resolution,
                   "Wanted length of edges [m]; about 1000 vertices without it")
      ->type_name("H");
  command->add_option("--max-tets", options->maxTets, "Refuse more tetrahedra than this")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--ascii", options->ascii, "Text with seventeen digits instead of binary");
  for (std::size_t i = 0; i < kPrimitives.size(); ++i)
    command->add_option(kPrimitives[i].option, options->sizes[i], kPrimitives[i].help)
        ->expected(kPrimitives[i].numSizes)
        ->type_name(kPrimitives[i].sizes);
  command->footer(
      "Example:\n  tangere mesh bunny.stl -o bunny.msh --resolution 0.005\n"
      "  tangere mesh --sphere 0.02 -o ball.msh --resolution 0.004\n"
      "  tangere mesh part.1.node -o part.vtk --json");
  command->callback([options, &common] { runMesh(*options, common); });
}

}  // namespace tangere::cli
