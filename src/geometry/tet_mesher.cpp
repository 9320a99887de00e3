// SPDX-License-Identifier: Apache-2.0
//
// From a shape to a solid of tetrahedra: which of the three meshers, at what resolution, and what
// became of the shape on the way.
#include "geometry/tet_mesher.hpp"

#include <tangere/limit_exceeded.hpp>

#include "core/assert.hpp"
#include "core/elementary.hpp"
#include "geometry/mesh_parts.hpp"
#include "geometry/tet_faces.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

namespace tangere {

namespace {

using geometry::TetCounts;
using geometry::TetPieces;

constexpr Real kDegree = 3.14159265358979323846 / 180;

bool isPrimitive(ShapeType type) {
  return type == ShapeType::Sphere || type == ShapeType::Box || type == ShapeType::Capsule ||
         type == ShapeType::Cylinder || type == ShapeType::Cone || type == ShapeType::Ellipsoid;
}

bool isSolid(const Shape& shape) {
  if (isPrimitive(shape.type()) || shape.type() == ShapeType::Convex) return true;
  return shape.type() == ShapeType::Mesh && static_cast<const Mesh&>(shape).isClosed();
}

void requireSolid(const Shape& shape) {
  if (shape.type() == ShapeType::Compound) {
    const auto children = static_cast<const Compound&>(shape).children();
    for (std::size_t child = 0; child < children.size(); ++child) {
      const std::string_view type = shapeTypeName(children[child].shape->type());
      TANGERE_REQUIRE(isSolid(*children[child].shape),
                      "a child of the compound has no inside to fill with tetrahedra", child, type);
    }
    return;
  }
  const std::string_view type = shapeTypeName(shape.type());
  const std::string_view reason =
      shape.type() == ShapeType::Mesh
          ? "an open mesh has no inside to fill with tetrahedra: close its surface"
          : "a shape of this type has no inside to fill with tetrahedra";
  TANGERE_REQUIRE(isSolid(shape), reason, type);
}

Real largestHalfSize(const Shape& shape) {
  const Vec3 half = shape.localAabb().halfExtents();
  return std::fmax(half.x, std::fmax(half.y, half.z));
}

/// The resolution, in steps of 5 %, that comes nearest to the vertices of a typical body.
template <class Count>
Real chooseResolution(const Shape& shape, const Count& count) {
  constexpr Real kStep = 0.95;
  Real resolution = 2 * largestHalfSize(shape), before = 1;
  for (;;) {
    const Real vertices = count(resolution).vertices;
    if (vertices >= geometry::kTypicalNumVertices) {
      const bool isBeforeNearer =
          vertices * before > geometry::kTypicalNumVertices * geometry::kTypicalNumVertices;
      return isBeforeNearer ? resolution / kStep : resolution;
    }
    before = vertices;
    resolution *= kStep;
  }
}

/// Whether a mesh of these pieces would be refused for a tetrahedron without a volume.
bool hasFlatTet(const TetPieces& pieces) {
  for (const Tet& tet : pieces.tets) {
    const auto at = [&](int k) { return pieces.vertices[tet[k]]; };
    Real longest2 = 0;
    for (int i = 0; i < 4; ++i) {
      for (int j = i + 1; j < 4; ++j) longest2 = std::fmax(longest2, squaredNorm(at(j) - at(i)));
    }
    const Real six = std::fabs(geometry::sixVolumes(at(0), at(1), at(2), at(3)));
    if (!(six > 1e-10 * longest2 * std::sqrt(longest2))) return true;
  }
  return false;
}

/// Volume of the shape within a box, which is halved along all axes `levels` times where the
/// surface may pass through it; the smallest ones count in part.
Real sampledVolumeIn(const Shape& shape, const Vec3& center, const Vec3& half, int levels) {
  const Real distance = shape.signedDistance(center).distance;
  const Real radius = norm(half), volume = 8 * half.x * half.y * half.z;
  if (distance >= radius) return 0;
  if (distance <= -radius) return volume;
  if (levels == 0) {
    const Real width = std::fmax(half.x, std::fmax(half.y, half.z));
    return volume * std::fmin(1, std::fmax(0, 0.5 - distance / (2 * width)));
  }
  Real sum = 0;
  const Vec3 quarter = half * 0.5;
  for (int c = 0; c < 8; ++c) {
    const Vec3 offset{(c & 1) != 0 ? quarter.x : -quarter.x, (c & 2) != 0 ? quarter.y : -quarter.y,
                      (c & 4) != 0 ? quarter.z : -quarter.z};
    sum += sampledVolumeIn(shape, center + offset, quarter, levels - 1);
  }
  return sum;
}

/// Of a union whose children may overlap, to about 1 %.
Real sampledVolume(const Shape& shape) {
  constexpr int kLevels = 6;
  const Aabb& box = shape.localAabb();
  return sampledVolumeIn(shape, box.center(), box.halfExtents(), kLevels);
}

bool hasOverlappingChildren(const Compound& compound) {
  const auto children = compound.children();
  for (std::size_t i = 0; i < children.size(); ++i) {
    for (std::size_t j = i + 1; j < children.size(); ++j) {
      const Aabb a = children[i].shape->worldAabb(children[i].pose);
      const Aabb b = children[j].shape->worldAabb(children[j].pose);
      if (a.overlaps(b)) return true;
    }
  }
  return false;
}

Real volumeOf(const Shape& shape) {
  const bool isUnion = shape.type() == ShapeType::Compound &&
                       hasOverlappingChildren(static_cast<const Compound&>(shape));
  return isUnion ? sampledVolume(shape) : shape.massProperties(1).mass;
}

void addMeshSamples(std::span<const Vec3> vertices, std::span<const Triangle> triangles,
                    const Transform& X, std::vector<Vec3>* out) {
  for (const Vec3& v : vertices) out->push_back(X * v);
  for (const Triangle& t : triangles) {
    out->push_back(X * ((vertices[t[0]] + vertices[t[1]] + vertices[t[2]]) / 3));
  }
}

/// Points on the surface of the shape: all its vertices and the middles of its triangles; for
/// primitives those of a mesh of theirs.
void addSurfaceSamples(const Shape& shape, const Transform& X, std::vector<Vec3>* out) {
  if (shape.type() == ShapeType::Mesh) {
    const auto& mesh = static_cast<const Mesh&>(shape);
    addMeshSamples(mesh.vertices(), mesh.triangles(), X, out);
  } else if (shape.type() == ShapeType::Convex) {
    const auto& convex = static_cast<const Convex&>(shape);
    for (const Vec3& v : convex.vertices()) out->push_back(X * v);
    for (int f = 0; f < convex.numFaces(); ++f) {
      Vec3 sum{};
      for (const int v : convex.face(f)) sum += convex.vertices()[v];
      out->push_back(X * (sum / static_cast<Real>(convex.face(f).size())));
    }
  } else if (shape.type() == ShapeType::Compound) {
    for (const Compound::Child& child : static_cast<const Compound&>(shape).children()) {
      addSurfaceSamples(*child.shape, X * child.pose, out);
    }
  } else {
    TetPieces pieces =
        geometry::makeStructuredTets(shape, chooseResolution(shape, [&](Real resolution) {
                                       return geometry::countStructuredTets(shape, resolution);
                                     }));
    const TetMesh mesh(std::move(pieces.vertices), std::move(pieces.tets));
    for (std::size_t i = 0; i < mesh.vertices().size(); ++i) {
      if (mesh.isOnSurface()[i] != 0) out->push_back(X * mesh.vertices()[i]);
    }
  }
}

std::vector<Vec3> surfaceSamples(const Shape& shape) {
  std::vector<Vec3> all, out;
  addSurfaceSamples(shape, Transform::identity(), &all);
  // Children of a compound may hide each other's surface.
  const Real tolerance = 1e-9 * largestHalfSize(shape);
  for (const Vec3& p : all) {
    const SignedDistance d = shape.signedDistance(p);
    if (d.distance < -tolerance) continue;
    // Nor is a side that two of them share on the surface.
    const bool isShared = shape.type() == ShapeType::Compound &&
                          shape.signedDistance(p + d.normal * (10 * tolerance)).distance < 0;
    if (!isShared) out.push_back(p);
  }
  return out;
}

/// How thick the shape is below a point of its surface.
Real thicknessAt(const Shape& shape, const Vec3& p) {
  const SignedDistance d = shape.signedDistance(p);
  const Real skip = 1e-7 * largestHalfSize(shape);
  const auto hit = shape.rayCast({d.closest - d.normal * skip, -d.normal});
  return hit ? hit->t + skip : std::numeric_limits<Real>::infinity();
}

struct LostFeatures {
  Real distance = 0;                                       ///< farthest sample from the mesh
  Real thickness = std::numeric_limits<Real>::infinity();  ///< least where samples are far
};

/// Measures how far samples of the shape's surface are from that of the mesh. Samples beyond
/// `farDistance` count as lost; the shape's thickness is looked at there.
LostFeatures findLostFeatures(const Shape& shape, const TetMesh& mesh, Real farDistance) {
  const Mesh surface(mesh.vertices(), mesh.surface());
  LostFeatures out;
  for (const Vec3& p : surfaceSamples(shape)) {
    const Real distance = std::fabs(surface.signedDistance(p).distance);
    out.distance = std::fmax(out.distance, distance);
    if (distance > farDistance) out.thickness = std::fmin(out.thickness, thicknessAt(shape, p));
  }
  return out;
}

/// The like for shapes without vertices: how far they bulge out of the mesh's triangles.
Real findBulge(const Shape& shape, const TetMesh& mesh) {
  Real out = 0;
  for (const Triangle& t : mesh.surface()) {
    const auto at = [&](int k) { return mesh.vertices()[t[k]]; };
    const Vec3 middle = (at(0) + at(1) + at(2)) / 3;
    out = std::fmax(out, std::fabs(shape.signedDistance(middle).distance));
  }
  return out;
}

Real findSurfaceError(const Shape& shape, const TetMesh& mesh) {
  Real out = 0;
  for (std::size_t i = 0; i < mesh.vertices().size(); ++i) {
    if (mesh.isOnSurface()[i] == 0) continue;
    out = std::fmax(out, std::fabs(shape.signedDistance(mesh.vertices()[i]).distance));
  }
  return out;
}

/// Beyond this many lattice spacings a sample of the surface counts as lost: corners and edges of a
/// thick solid are cut by less.
constexpr Real kLostSpacings = 1;

/// What keeps a sheet of this thickness in one piece wherever it lies in the lattice.
constexpr Real kSpacingPerThickness = 0.6;

std::string text(Real value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

struct Meshed {
  TetMesh mesh;
  const char* method;
  Real resolution;
  Real volume;  ///< of the shape
  std::optional<LostFeatures> lost{};
  std::vector<std::string> findings{};
  /// What the mesh is compared with, where that is not the shape itself.
  std::shared_ptr<const Shape> reference{};
};

TetMesh buildMesh(TetPieces pieces) {
  return TetMesh(std::move(pieces.vertices), std::move(pieces.tets));
}

Meshed meshStructured(const Shape& shape, const TetMeshOptions& options) {
  const auto count = [&](Real h) { return geometry::countStructuredTets(shape, h); };
  const Real resolution =
      options.resolution > 0 ? options.resolution : chooseResolution(shape, count);
  geometry::requireTetCount(count(resolution).tets, resolution, options.maxTets);
  return {buildMesh(geometry::makeStructuredTets(shape, resolution)), "structured", resolution,
          shape.massProperties(1).mass};
}

Meshed stuffAt(const Shape& shape, Real volume, Real spacing, int maxTets) {
  TetPieces pieces = geometry::stuffShape(shape, volume, spacing, maxTets);
  TANGERE_REQUIRE(!pieces.tets.empty(),
                  "the shape is thinner than the lattice at this resolution [m] everywhere: use a "
                  "finer one",
                  spacing);
  return {buildMesh(std::move(pieces)), "stuffing", spacing, volume};
}

/// The spacing at which a compact solid of this volume has the vertices of a typical body: 2.95 per
/// cell, 2 of the lattice and what the surface adds at this size.
Real typicalSpacing(Real volume) {
  return core::cbrt(2.95 * volume / geometry::kTypicalNumVertices);
}

/// Nobody gets more vertices without having asked for them.
constexpr Real kMostVertices = 20 * geometry::kTypicalNumVertices;

/// Finer and finer until nothing is lost or the mesh is four times as large as usual. `volume` is
/// that of all that is to be filled.
Meshed stuffFiner(const Shape& shape, Real volume, int maxTets) {
  Real spacing = typicalSpacing(volume);
  const Real finest = spacing / 6;
  std::optional<Meshed> best;
  for (;;) {
    TANGERE_REQUIRE(spacing >= finest || best,
                    "the shape is too thin for a resolution to be chosen: give one below its "
                    "thickness [m]",
                    spacing);
    if (spacing < finest) return std::move(*best);
    const TetPieces pieces = geometry::stuffShape(shape, volume, spacing, maxTets);
    const auto numVertices = static_cast<Real>(pieces.vertices.size());
    if (numVertices > kMostVertices) {
      TANGERE_REQUIRE(best,
                      "the shape is so thin that a lattice which keeps it needs more vertices than "
                      "are made without a resolution: give one [m]",
                      spacing, numVertices);
      return std::move(*best);
    }
    if (!pieces.tets.empty()) {
      best.emplace(Meshed{buildMesh(pieces), "stuffing", spacing, volume});
      best->lost = findLostFeatures(shape, best->mesh, kLostSpacings * spacing);
      const bool isLarge = numVertices > 4 * geometry::kTypicalNumVertices;
      if (isLarge || best->lost->distance <= kLostSpacings * spacing) return std::move(*best);
    }
    spacing *= 0.8;
  }
}

/// A plate along its axes, stretched along the thin one until it is no thinner than this.
constexpr Real kThin = 0.1;

Vec3 stretchOf(const Shape& shape) {
  const Vec3 half = shape.localAabb().halfExtents();
  const Real wanted = kThin * largestHalfSize(shape);
  Vec3 out{1, 1, 1};
  for (int k = 0; k < 3; ++k) {
    if (shape.type() == ShapeType::Mesh && half[k] > 0 && half[k] < wanted)
      out[k] = wanted / half[k];
  }
  return out;
}

/// A thin plate is filled while it is stretched: a lattice as fine as it is thin would have a
/// hundred times the vertices.
Meshed stuffAtChosenResolution(const Shape& shape, Real volume, int maxTets) {
  const Vec3 stretch = stretchOf(shape);
  if (stretch == Vec3{1, 1, 1}) return stuffFiner(shape, volume, maxTets);
  const auto& mesh = static_cast<const Mesh&>(shape);
  std::vector<Vec3> vertices(mesh.vertices().begin(), mesh.vertices().end());
  for (Vec3& v : vertices) v = {v.x * stretch.x, v.y * stretch.y, v.z * stretch.z};
  const Real factor = stretch.x * stretch.y * stretch.z;
  Meshed out = stuffFiner(Mesh(vertices, mesh.triangles()), volume * factor, maxTets);
  std::vector<Vec3> filled(out.mesh.vertices().begin(), out.mesh.vertices().end());
  for (Vec3& v : filled) v = {v.x / stretch.x, v.y / stretch.y, v.z / stretch.z};
  out.mesh = TetMesh(std::move(filled), {out.mesh.tets().begin(), out.mesh.tets().end()});
  out.volume = volume;
  out.findings.push_back("the shape is thin: its tetrahedra are " + text(factor) +
                         " times as wide as thick");
  return out;
}

Meshed meshByStuffing(const Shape& shape, Real volume, const TetMeshOptions& options) {
  Meshed out = options.resolution > 0 ? stuffAt(shape, volume, options.resolution, options.maxTets)
                                      : stuffAtChosenResolution(shape, volume, options.maxTets);
  if (shape.type() == ShapeType::Compound &&
      hasOverlappingChildren(static_cast<const Compound&>(shape))) {
    out.findings.emplace_back(
        "children of the compound may overlap: the volume it is compared with was sampled, to "
        "about 1 %");
  }
  return out;
}

/// Solids that do not touch are filled each by itself: a lattice over both would join what is
/// nearer than its spacing.
Meshed meshParts(const geometry::SolidParts& solid, const TetMeshOptions& options) {
  Real volume = 0, resolution = options.resolution;
  for (const geometry::SolidPart& part : solid.parts) volume += volumeOf(*part.shape);
  TetPieces all;
  LostFeatures lost;
  std::vector<std::string> findings = solid.findings;
  std::vector<Compound::Child> shapes;
  for (const geometry::SolidPart& part : solid.parts) {
    const int maxTets = options.maxTets - static_cast<int>(all.tets.size());
    const Meshed own = options.resolution > 0
                           ? stuffAt(*part.shape, volume, options.resolution, maxTets)
                           : stuffAtChosenResolution(*part.shape, volume, maxTets);
    const LostFeatures ownLost =
        own.lost ? *own.lost
                 : findLostFeatures(*part.shape, own.mesh, kLostSpacings * own.resolution);
    lost.distance = std::fmax(lost.distance, ownLost.distance);
    lost.thickness = std::fmin(lost.thickness, ownLost.thickness);
    resolution = std::fmax(resolution, own.resolution);
    findings.insert(findings.end(), own.findings.begin(), own.findings.end());
    const int first = static_cast<int>(all.vertices.size());
    all.vertices.insert(all.vertices.end(), own.mesh.vertices().begin(), own.mesh.vertices().end());
    for (const Tet& t : own.mesh.tets())
      all.tets.push_back({t[0] + first, t[1] + first, t[2] + first, t[3] + first});
    for (const Compound::Child& other : shapes) {
      const Real gap = geometry::distanceBetween(*other.shape, *part.shape);
      if (gap < own.resolution)
        findings.push_back("two solids of the surface are " + text(gap) +
                           " m apart, nearer than the resolution");
    }
    shapes.push_back({part.shape, Transform::identity()});
  }
  Meshed out{buildMesh(std::move(all)), "stuffing", resolution, volume, lost, findings};
  std::vector<Compound::Child> solids;
  for (const Compound::Child& child : shapes) {
    if (child.shape->type() != ShapeType::Compound) {
      solids.push_back(child);
      continue;
    }
    const auto joined = static_cast<const Compound&>(*child.shape).children();
    solids.insert(solids.end(), joined.begin(), joined.end());
  }
  out.reference = std::make_shared<Compound>(std::move(solids));
  return out;
}

Meshed meshSurface(const Mesh& mesh, const TetMeshOptions& options) {
  const geometry::SolidParts solid = geometry::splitSolid(mesh);
  if (solid.parts.size() == 1 && solid.parts[0].shape == nullptr)
    return meshByStuffing(mesh, volumeOf(mesh), options);
  return meshParts(solid, options);
}

/// Flatter dihedral angles than this are worth another mesher.
constexpr Real kPoorDihedral = 10 * kDegree;

/// The part of its volume that a convex solid has to keep when it is stuffed.
constexpr Real kWholeVolume = 0.9;

/// A stuffed mesh instead of one with flat tetrahedra, if it keeps what there is of the shape.
Meshed orStuffed(Meshed meshed, const Shape& shape, const TetMeshOptions& options) {
  if (meshed.mesh.quality().minDihedral >= kPoorDihedral) return meshed;
  const Real volume = meshed.volume;
  const Real spacing = options.resolution > 0 ? options.resolution : typicalSpacing(volume);
  // A lattice that is not much finer than the shape is thin would lose parts of it.
  const Real depth = -shape.signedDistance(shape.massProperties(1).center).distance;
  if (depth < 1.5 * spacing) return meshed;
  std::optional<Meshed> stuffed;
  try {
    stuffed = meshByStuffing(shape, volume, options);
  } catch (const InvalidInput&) {
    return meshed;  // too thin or too large for a lattice
  }
  // All that a lattice takes from a convex solid are its tips.
  const TetMeshQuality quality = stuffed->mesh.quality();
  const bool isWhole = quality.numParts == 1 && stuffed->mesh.volume() >= kWholeVolume * volume;
  if (!isWhole || quality.minDihedral <= meshed.mesh.quality().minDihedral) return meshed;
  stuffed->findings.push_back(std::string("a ") + meshed.method +
                              " mesh of this shape would have dihedral angles below 10 degrees: "
                              "it was meshed by stuffing instead");
  return std::move(*stuffed);
}

/// The faces of a hull as a surface.
Mesh surfaceOf(const Convex& convex) {
  std::vector<Triangle> triangles;
  for (int f = 0; f < convex.numFaces(); ++f) {
    const std::span<const int> face = convex.face(f);
    for (std::size_t k = 2; k < face.size(); ++k)
      triangles.push_back({face[0], face[k - 1], face[k]});
  }
  return {convex.vertices(), triangles};
}

Meshed meshConvex(const Convex& convex, const TetMeshOptions& options) {
  const geometry::LayeredMesher mesher(convex);
  if (!mesher.isPossible()) {
    const Mesh surface = surfaceOf(convex);
    return meshByStuffing(surface, volumeOf(surface), options);
  }
  const auto count = [&](Real h) { return mesher.count(h); };
  const Real resolution =
      options.resolution > 0 ? options.resolution : chooseResolution(convex, count);
  const Real volume = convex.massProperties(1).mass;
  // Faces much smaller than the resolution all get layers; a lattice does not mind them.
  if (count(resolution).tets > options.maxTets) return meshByStuffing(convex, volume, options);
  TetPieces pieces = mesher.make(resolution);
  if (!hasFlatTet(pieces)) {
    return orStuffed({buildMesh(std::move(pieces)), "layered", resolution, volume}, convex,
                     options);
  }
  Meshed out = meshByStuffing(convex, volume, options);
  out.findings.emplace_back(
      "the hull has faces without an extent: it was meshed by stuffing instead of in layers");
  return out;
}

Meshed meshByMethod(const Shape& shape, const TetMeshOptions& options) {
  if (shape.type() == ShapeType::Ellipsoid) {
    return orStuffed(meshStructured(shape, options), shape, options);
  }
  if (isPrimitive(shape.type())) return meshStructured(shape, options);
  if (shape.type() == ShapeType::Convex) {
    return meshConvex(static_cast<const Convex&>(shape), options);
  }
  if (shape.type() == ShapeType::Mesh) return meshSurface(static_cast<const Mesh&>(shape), options);
  return meshByStuffing(shape, volumeOf(shape), options);
}

void addQualityFindings(const TetMeshReport& report, std::vector<std::string>* findings) {
  if (report.quality.numParts > 1) {
    findings->push_back("the mesh is in " + std::to_string(report.quality.numParts) +
                        " parts that no face connects");
  }
  if (std::fabs(report.volumeError) > 0.05) {
    findings->push_back("the mesh holds " + text(100 * std::fabs(report.volumeError)) + " % " +
                        (report.volumeError < 0 ? "less" : "more") +
                        " volume than the shape: a finer resolution than " +
                        text(report.resolution) + " m comes closer");
  }
  if (report.quality.minDihedral < 5 * kDegree) {
    findings->push_back("the flattest dihedral angle is " +
                        text(report.quality.minDihedral / kDegree) +
                        " degrees: the shape is much longer or flatter than wide");
  }
}

void addLossFindings(const LostFeatures& lost, Real resolution,
                     std::vector<std::string>* findings) {
  if (lost.distance <= kLostSpacings * resolution) return;
  const Real better = std::fmin(kSpacingPerThickness * lost.thickness, resolution / 2);
  findings->push_back("parts of the surface up to " + text(lost.distance) +
                      " m away are lost: they are thinner than the lattice; a resolution of " +
                      text(better) + " m would keep them");
}

TetMeshReport makeReport(const Shape& given, const Meshed& meshed) {
  const Shape& shape = meshed.reference != nullptr ? *meshed.reference : given;
  TetMeshReport out{.quality = meshed.mesh.quality(),
                    .resolution = meshed.resolution,
                    .surfaceError = findSurfaceError(shape, meshed.mesh),
                    .method = meshed.method,
                    .findings = meshed.findings};
  out.volumeError = (meshed.mesh.volume() - meshed.volume) / meshed.volume;
  LostFeatures lost;
  if (isPrimitive(shape.type()) && !meshed.lost) {
    lost.distance = findBulge(shape, meshed.mesh);
  } else if (meshed.lost) {
    lost = *meshed.lost;
  } else {
    lost = findLostFeatures(shape, meshed.mesh, kLostSpacings * meshed.resolution);
  }
  out.lostFeature = lost.distance;
  addQualityFindings(out, &out.findings);
  if (out.method == "stuffing") addLossFindings(lost, meshed.resolution, &out.findings);
  return out;
}

}  // namespace

namespace geometry {

void requireTetMeshOptions(const TetMeshOptions& options) {
  const Real resolution = options.resolution;
  TANGERE_REQUIRE(resolution >= 0 && std::isfinite(resolution),
                  "mesh resolution must be positive, or 0 to have it chosen [m]", resolution);
  const int maxTets = options.maxTets;
  TANGERE_REQUIRE(maxTets > 0, "maxTets must be positive", maxTets);
}

void requireTetCount(Real numTets, Real resolution, int maxTets) {
  if (numTets <= maxTets) return;
  std::ostringstream text;
  text << "this resolution needs more tetrahedra than maxTets: use a coarser one or raise maxTets "
       << "(resolution = " << resolution << " m, numTets = " << numTets << ", maxTets = " << maxTets
       << ")";
  throw LimitExceeded(text.str());
}

}  // namespace geometry

TetMesh meshShape(const Shape& shape, const TetMeshOptions& options, TetMeshReport* report) {
  requireSolid(shape);
  geometry::requireTetMeshOptions(options);
  Meshed meshed = meshByMethod(shape, options);
  if (report != nullptr) *report = makeReport(shape, meshed);
  return std::move(meshed.mesh);
}

}  // namespace tangere
