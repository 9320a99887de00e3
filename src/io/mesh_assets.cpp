// SPDX-License-Identifier: Apache-2.0
#include "io/mesh_assets.hpp"

#include <tangere/error.hpp>

#include "io/mesh_file.hpp"
#include "io/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>
#include <utility>

namespace tangere::io {

namespace {

std::string countOf(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string at(const MeshEdge& edge) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "(%.6g, %.6g, %.6g) m", edge.midpoint.x, edge.midpoint.y,
                edge.midpoint.z);
  return text.data();
}

}  // namespace

const MeshAsset* MeshAssets::load(const MeshUse& use, Place place, const std::string& who) {
  const Key key{use.file, use.scale.x, use.scale.y, use.scale.z, use.representation};
  if (const auto found = assets_.find(key); found != assets_.end()) return &found->second;
  try {
    return &assets_.emplace(key, build(use, place)).first->second;
  } catch (const LimitExceeded& error) {
    notes_.limit(place, who + ": " + error.what());
  } catch (const InvalidInput& error) {
    notes_.error(place, who + ": " + error.what());
  }
  return nullptr;
}

/// Throws InvalidInput unless the file is a regular one in the scene's folder or below it, links
/// followed.
std::filesystem::path MeshAssets::resolve(const std::string& file) const {
  namespace fs = std::filesystem;
  const auto outside = [&]() {
    throw InvalidInput("found the mesh file " + io::quoted(file) +
                       ", expected one in the folder of the scene or below it");
  };
  // Backslashes, colons and percent signs: other systems' paths, addresses and encoded dots.
  const bool isPlain = std::none_of(file.begin(), file.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\\' || c == ':' || c == '%';
  });
  const fs::path relative(file);
  if (file.empty() || !isPlain || relative.is_absolute()) outside();
  for (const fs::path& part : relative) {
    if (part == "..") outside();
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder_.empty() ? fs::path(".") : folder_, error);
  if (error) throw InvalidInput("the folder of the scene cannot be read: " + error.message());
  fs::path path = fs::canonical(root / relative, error);
  if (error) throw InvalidInput(io::quoted(file) + ": " + error.message());
  const auto differ = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (differ.first != root.end()) outside();
  return path;
}

const TriangleMesh& MeshAssets::read(const std::string& file, Place place) {
  if (const auto found = meshes_.find(file); found != meshes_.end()) return found->second;
  // A file that was refused is not read again, however often the scene names it.
  if (const auto failed = failures_.find(file); failed != failures_.end())
    throw InvalidInput(failed->second);
  const std::size_t numFiles = meshes_.size() + failures_.size();
  if (numFiles >= static_cast<std::size_t>(std::max(limits_.maxMeshFiles, 0)))
    throw LimitExceeded("more than " + countOf(numFiles, "mesh file"));
  try {
    std::vector<std::string> ignored;
    TriangleMesh mesh = readMeshFile(resolve(file), file, limits_.mesh, &ignored);
    for (const std::string& what : ignored) say(ImportNote::Kind::Ignored, place, file, what);
    return meshes_.emplace(file, std::move(mesh)).first->second;
  } catch (const InvalidInput& error) {
    failures_.emplace(file, error.what());
    throw;
  }
}

MeshAsset MeshAssets::build(const MeshUse& use, Place place) {
  const TriangleMesh& original = read(use.file, place);
  if (original.triangles.size() > limits_.mesh.maxTriangles - num_triangles_) {
    throw LimitExceeded("the meshes of the scene have more than " +
                        std::to_string(limits_.mesh.maxTriangles) + " triangles together");
  }
  num_triangles_ += original.triangles.size();
  TriangleMesh mesh = original;
  for (Vec3& v : mesh.vertices) v = {v.x * use.scale.x, v.y * use.scale.y, v.z * use.scale.z};

  using Kind = ImportNote::Kind;
  MeshAsset out{nullptr, inspectMesh(mesh)};
  const std::string triangles = countOf(mesh.triangles.size(), "triangle");
  if (use.representation == MeshRepresentation::Convex) {
    const auto hull = std::make_shared<Convex>(mesh.vertices);
    say(Kind::Changed, place, use.file,
        triangles + " replaced by their convex hull of " + std::to_string(hull->vertices().size()) +
            " vertices" + " (representation = \"convex\")");
    out.shape = hull;
    return out;
  }
  if (!out.report.isWatertight() && out.report.wouldCloseWhenWelded) {
    mesh = weldVertices(mesh);
    say(Kind::Changed, place, use.file,
        "vertices at one place made one (" + std::to_string(out.report.numDuplicateVertices) +
            " fewer), which closes the mesh");
    out.report = inspectMesh(mesh);
  }
  if (out.report.isWatertight() && !out.report.isConsistentlyOriented()) {
    throw InvalidInput(io::quoted(use.file) + ": " + whyNotSolid(out.report) +
                       ": turn its triangles so that all face outward");
  }
  const auto shape = std::make_shared<Mesh>(mesh.vertices, mesh.triangles);
  if (shape->wasInsideOut())
    say(Kind::Warning, place, use.file, "its triangles faced inward and were turned");
  if (shape->numDroppedTriangles() > 0) {
    say(Kind::Changed, place, use.file,
        countOf(static_cast<std::size_t>(shape->numDroppedTriangles()), "triangle") +
            " without an area dropped");
  }
  if (out.report.numNonManifoldEdges > 0)
    say(Kind::Warning, place, use.file, whyNotSolid(out.report) + ": used as a surface");
  if (out.report.firstIntersection)
    say(Kind::Warning, place, use.file,
        "its surface passes through itself, first at " + at(*out.report.firstIntersection) +
            ": what is inside twice counts twice in the volume, the mass and the inertia");
  if (out.report.scale == MeshScale::LikelyMillimetres)
    say(Kind::Warning, place, use.file,
        "more than 50 m across: if it is in millimetres, give scale = 0.001");
  if (out.report.scale == MeshScale::LikelyMetresTwice)
    say(Kind::Warning, place, use.file,
        "less than 0.1 mm across: if it was scaled to metres twice, give scale = 1000");
  say(Kind::Read, place, use.file,
      triangles + (shape->isClosed() ? ", a closed solid" : ", an open surface") +
          ", used as they are (representation = \"bvh\")");
  out.shape = shape;
  return out;
}

void MeshAssets::say(ImportNote::Kind kind, Place place, const std::string& file,
                     const std::string& message) {
  notes_.add(kind, place, "mesh " + io::quoted(file) + ": " + message);
}

std::string whyNotSolid(const MeshReport& report) {
  if (report.numOpenEdges > 0 && report.firstOpenEdge) {
    return countOf(static_cast<std::size_t>(report.numOpenEdges), "open edge") + ", the first at " +
           at(*report.firstOpenEdge);
  }
  if (report.numNonManifoldEdges > 0 && report.firstNonManifoldEdge) {
    return countOf(static_cast<std::size_t>(report.numNonManifoldEdges), "edge") +
           " with more than two triangles, the first at " + at(*report.firstNonManifoldEdge);
  }
  if (report.numInconsistentEdges > 0 && report.firstInconsistentEdge) {
    return countOf(static_cast<std::size_t>(report.numInconsistentEdges), "edge") +
           " between triangles that face opposite ways, the first at " +
           at(*report.firstInconsistentEdge);
  }
  return "no volume";
}

}  // namespace tangere::io
