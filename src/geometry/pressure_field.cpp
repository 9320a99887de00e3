// SPDX-License-Identifier: Apache-2.0
//
// Pressure fields: the depth below the surface over the greatest one, linear in each tetrahedron.
// A box is cut along its medial surface and a sphere into fans from its centre, where that is the
// depth itself; elsewhere the depth of the vertices is interpolated. Tetrahedra in which it would
// not change are split: with the same depth at all corners nothing tells which way is out.
#include "core/assert.hpp"
#include "geometry/signed_distance.hpp"
#include "geometry/tet_faces.hpp"
#include "geometry/tet_mesher.hpp"

#include <algorithm>
#include <cmath>

namespace tangere {

namespace {

using geometry::TetPieces;

/// Extents from depths. The margin must leave some of the solid.
PressureField makeField(TetMesh mesh, std::vector<Real> depth, Real margin) {
  const Real deepest = *std::max_element(depth.begin(), depth.end());
  TANGERE_REQUIRE(margin >= 0 && margin < deepest,
                  "the margin of a pressure field must be at least 0 and below the greatest depth "
                  "of the solid [m]",
                  margin, deepest);
  for (Real& d : depth) d = std::fmin(1, (d - margin) / (deepest - margin));
  return {std::move(mesh), std::move(depth)};
}

// Box.

/// The medial rectangle of a box, half its size; across the box's shortest axis it is flat. Widths
/// that would make tetrahedra without a volume are taken for none: of a box that is a cube to
/// 1e-5, and of two sides that are equal to 1e-10.
Vec3 medialHalfSizes(const Vec3& half, Real depth) {
  Vec3 inner = half - Vec3{depth, depth, depth};
  std::array<int, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return inner[a] < inner[b]; });
  const auto [flat, narrow, wide] = order;
  inner[flat] = 0;
  if (inner[narrow] * inner[wide] <= 3e-10 * half[narrow] * half[wide]) inner[narrow] = 0;
  if (inner[wide] <= 1e-10 * half[wide]) inner[wide] = 0;
  return inner;
}

/// The box between its surface and its medial surface: a rectangle in the plane across the shortest
/// axis, which is a segment or a point where sides are equal. Between each side of the box and that
/// rectangle lies a convex piece in which the depth is linear.
class MedialBox {
 public:
  explicit MedialBox(const Vec3& half) : half_(half) {
    depth_ = std::fmin(half.x, std::fmin(half.y, half.z));
    inner_ = medialHalfSizes(half, depth_);
    placeVertices();
    for (int axis = 0; axis < 3; ++axis) {
      for (const int side : {0, 1}) addPiece(axis, side);
    }
  }

  [[nodiscard]] TetPieces take() { return std::move(out_); }
  [[nodiscard]] std::vector<Real> depths() const {
    std::vector<Real> out(static_cast<std::size_t>(num_medial_), depth_);
    out.resize(static_cast<std::size_t>(num_medial_) + 8, 0);
    return out;
  }

 private:
  /// The vertices of the medial surface come first, so that tetrahedra fan out from them.
  void placeVertices() {
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 p = at(corner, inner_);
      const auto it = std::find(out_.vertices.begin(), out_.vertices.end(), p);
      medial_[corner] = static_cast<int>(it - out_.vertices.begin());
      if (it == out_.vertices.end()) out_.vertices.push_back(p);
    }
    num_medial_ = static_cast<int>(out_.vertices.size());
    for (int corner = 0; corner < 8; ++corner) out_.vertices.push_back(at(corner, half_));
  }

  [[nodiscard]] static Vec3 at(int corner, const Vec3& half) {
    // Adding zero turns -0 into 0: equal places have equal bits.
    return {((corner & 1) != 0 ? half.x : -half.x) + 0.0,
            ((corner & 2) != 0 ? half.y : -half.y) + 0.0,
            ((corner & 4) != 0 ? half.z : -half.z) + 0.0};
  }

  /// The corners of one side of the box, going round.
  [[nodiscard]] static std::array<int, 4> cornersOfSide(int axis, int side) {
    const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = side << axis;
    return {base, base + u, base + u + v, base + v};
  }

  /// The side, what it lies above on the medial surface, and the faces between both; each face is
  /// cut from its lowest vertex and so is the piece: neighbours then agree.
  void addPiece(int axis, int side) {
    const std::array<int, 4> round = cornersOfSide(axis, side);
    std::vector<std::vector<int>> faces(2);
    for (int k = 0; k < 4; ++k) {
      const int a = round[k], b = round[(k + 1) % 4];
      faces[0].push_back(num_medial_ + a);
      faces[1].push_back(medial_[a]);
      faces.push_back({num_medial_ + a, num_medial_ + b, medial_[b], medial_[a]});
    }
    int lowest = num_medial_;
    for (std::vector<int>& face : faces) {
      removeRepeats(&face);
      lowest = std::min(lowest, *std::min_element(face.begin(), face.end()));
    }
    for (const std::vector<int>& face : faces) {
      if (face.size() < 3 || std::find(face.begin(), face.end(), lowest) != face.end()) continue;
      addFan(lowest, face);
    }
  }

  static void removeRepeats(std::vector<int>* face) {
    std::vector<int> kept;
    for (const int v : *face) {
      if (std::find(kept.begin(), kept.end(), v) == kept.end()) kept.push_back(v);
    }
    *face = kept;
  }

  void addFan(int apex, const std::vector<int>& face) {
    const auto n = face.size();
    const auto first =
        static_cast<std::size_t>(std::min_element(face.begin(), face.end()) - face.begin());
    for (std::size_t k = 1; k + 1 < n; ++k) {
      out_.tets.push_back({apex, face[first], face[(first + k) % n], face[(first + k + 1) % n]});
    }
  }

  Vec3 half_, inner_{};
  Real depth_ = 0;
  int num_medial_ = 0;
  std::array<int, 8> medial_{};  // of each corner, the vertex of the medial surface next to it
  TetPieces out_;
};

PressureField makeBoxField(const Box& box, Real margin) {
  MedialBox medial(box.halfExtents());
  std::vector<Real> depths = medial.depths();
  TetPieces pieces = medial.take();
  return makeField(TetMesh(std::move(pieces.vertices), std::move(pieces.tets)), std::move(depths),
                   margin);
}

// Sphere.

/// Edges of a sphere that nobody gave a resolution, as part of its radius: 320 tetrahedra.
constexpr Real kTypicalSphereEdge = 0.275;

PressureField makeSphereField(const Sphere& sphere, const TetMeshOptions& options, Real margin) {
  const Real radius = sphere.radius();
  const Real resolution = options.resolution > 0 ? options.resolution : kTypicalSphereEdge * radius;
  geometry::requireTetCount(geometry::countSphereFan(radius, resolution).tets, resolution,
                            options.maxTets);
  TetPieces pieces = geometry::makeSphereFan(radius, resolution);
  std::vector<Real> depths(pieces.vertices.size(), 0);
  depths.back() = radius;
  return makeField(TetMesh(std::move(pieces.vertices), std::move(pieces.tets)), std::move(depths),
                   margin);
}

// Any mesh.

/// Where the depth rises by less than this per metre inside a tetrahedron, its gradient says
/// nothing: the true one has length 1, and opposite sides of the solid cancel there.
constexpr Real kLeastSlope = 0.02;

/// The part of its inscribed radius by which the middle of a split tetrahedron lies deeper than its
/// corners at least.
constexpr Real kLeastRise = 0.1;

struct Corners {
  std::array<Vec3, 4> x;
  std::array<Real, 4> depth;

  [[nodiscard]] Real sixVolumes() const { return geometry::sixVolumes(x[0], x[1], x[2], x[3]); }
  [[nodiscard]] Vec3 areaVector(int k) const {  // outward, twice the area of the face across k
    const auto& [a, b, c] = geometry::kTetFaces[k];
    return cross(x[b] - x[a], x[c] - x[a]);
  }
  [[nodiscard]] Real slope() const {
    Vec3 sum{};
    for (int k = 1; k < 4; ++k) sum += areaVector(k) * (depth[0] - depth[k]);
    return norm(sum) / sixVolumes();
  }
  [[nodiscard]] Real inscribedRadius() const {
    Real area = 0;
    for (int k = 0; k < 4; ++k) area += norm(areaVector(k));
    return sixVolumes() / area;
  }
  [[nodiscard]] Vec3 middle() const { return (x[0] + x[1] + x[2] + x[3]) * 0.25; }
  [[nodiscard]] Real deepest() const {
    return std::fmax(std::fmax(depth[0], depth[1]), std::fmax(depth[2], depth[3]));
  }
};

/// Splits tetrahedra in which the depth does not change by a vertex in their middle. depthAt(p)
/// gives the depth of a point inside.
template <class DepthAt>
PressureField makeFieldOfMesh(const TetMesh& mesh, const DepthAt& depthAt, Real margin) {
  TetPieces out{{mesh.vertices().begin(), mesh.vertices().end()}, {}};
  std::vector<Real> depth(mesh.vertices().size(), 0);
  for (std::size_t i = 0; i < depth.size(); ++i) {
    if (mesh.isOnSurface()[i] == 0) depth[i] = depthAt(mesh.vertices()[i]);
  }
  for (const Tet& tet : mesh.tets()) {
    Corners corners{};
    for (int k = 0; k < 4; ++k) {
      corners.x[k] = out.vertices[tet[k]];
      corners.depth[k] = depth[tet[k]];
    }
    if (corners.slope() >= kLeastSlope) {
      out.tets.push_back(tet);
      continue;
    }
    const int middle = static_cast<int>(out.vertices.size());
    out.vertices.push_back(corners.middle());
    // Deeper than the corners, where they are not on one side of a ridge: the way to them is out.
    depth.push_back(std::fmax(depthAt(corners.middle()),
                              corners.deepest() + kLeastRise * corners.inscribedRadius()));
    for (int k = 0; k < 4; ++k) {
      Tet piece = tet;
      piece[k] = middle;
      out.tets.push_back(piece);
    }
  }
  return makeField(TetMesh(std::move(out.vertices), std::move(out.tets)), std::move(depth), margin);
}

bool hasExactDepth(ShapeType type) {
  return type == ShapeType::Capsule || type == ShapeType::Cylinder || type == ShapeType::Cone ||
         type == ShapeType::Ellipsoid || type == ShapeType::Convex;
}

}  // namespace

PressureField makePressureField(const Shape& shape, const TetMeshOptions& options, Real margin) {
  geometry::requireTetMeshOptions(options);
  if (shape.type() == ShapeType::Box) {
    return makeBoxField(static_cast<const Box&>(shape), margin);
  }
  if (shape.type() == ShapeType::Sphere) {
    return makeSphereField(static_cast<const Sphere&>(shape), options, margin);
  }
  const TetMesh mesh = meshShape(shape, options);
  if (!hasExactDepth(shape.type())) return makePressureField(mesh, margin);
  return makeFieldOfMesh(
      mesh, [&](const Vec3& p) { return -shape.signedDistance(p).distance; }, margin);
}

PressureField makePressureField(const TetMesh& mesh, Real margin) {
  const Mesh surface(mesh.vertices(), mesh.surface());
  const geometry::MeshData& data = *surface.flat().mesh;
  return makeFieldOfMesh(
      mesh,
      [&](const Vec3& p) { return std::sqrt(geometry::closestOnMesh(data, p).squaredDistance); },
      margin);
}

}  // namespace tangere
