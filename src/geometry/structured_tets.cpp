// SPDX-License-Identifier: Apache-2.0
//
// Meshes of the primitives whose surface vertices lie on the primitive. A box is a grid of cells; a
// sphere or ellipsoid is an icosahedron cut to shells; capsule, cylinder and cone are stacks of
// discs, each a hexagon of rings, that taper by one ring per level where they end in a point.
#include "core/assert.hpp"
#include "core/elementary.hpp"
#include "geometry/tet_shells.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::geometry {

namespace {

constexpr Real kPi = 3.14159265358979323846;

/// Number of pieces no longer than `resolution`, at least one; the last one fits exactly.
Real piecesOf(Real length, Real resolution) {
  return std::fmax(1, std::ceil(length / resolution * (1 - 1e-9)));
}

// Box.

struct BoxPlan {
  Real x, y, z;  // cells
  [[nodiscard]] TetCounts counts() const {
    return {.vertices = (x + 1) * (y + 1) * (z + 1), .tets = 5 * x * y * z};
  }
};

BoxPlan planBox(const Vec3& half, Real resolution) {
  return {piecesOf(2 * half.x, resolution), piecesOf(2 * half.y, resolution),
          piecesOf(2 * half.z, resolution)};
}

/// A cell in five: a regular tetrahedron between four corners, and one at each of the others. Every
/// second cell is the mirror image, so that the diagonals of neighbours meet.
void addCell(const std::array<int, 8>& corner, bool isMirrored, TetPieces* out) {
  const int flip = isMirrored ? 1 : 0;  // mirrored in x
  const auto at = [&](int k) { return corner[k ^ flip]; };
  out->tets.push_back({at(1), at(2), at(4), at(7)});
  out->tets.push_back({at(0), at(1), at(2), at(4)});
  out->tets.push_back({at(3), at(1), at(2), at(7)});
  out->tets.push_back({at(5), at(1), at(4), at(7)});
  out->tets.push_back({at(6), at(2), at(4), at(7)});
}

TetPieces makeBox(const Vec3& half, const BoxPlan& plan) {
  TetPieces out;
  const int nx = static_cast<int>(plan.x), ny = static_cast<int>(plan.y),
            nz = static_cast<int>(plan.z);
  const auto coordinate = [](Real h, int i, int n) {
    return h * (static_cast<Real>(2 * i - n) / n);
  };
  for (int k = 0; k <= nz; ++k) {
    for (int j = 0; j <= ny; ++j) {
      for (int i = 0; i <= nx; ++i) {
        out.vertices.push_back(
            {coordinate(half.x, i, nx), coordinate(half.y, j, ny), coordinate(half.z, k, nz)});
      }
    }
  }
  const auto vertex = [&](int i, int j, int k) { return (k * (ny + 1) + j) * (nx + 1) + i; };
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        std::array<int, 8> corner{};
        for (int c = 0; c < 8; ++c) corner[c] = vertex(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
        addCell(corner, (i + j + k) % 2 != 0, &out);
      }
    }
  }
  return out;
}

// Sphere and ellipsoid.

constexpr int kIcosahedronVertices = 12;

std::vector<Vec3> icosahedron() {
  const Real golden = (1 + std::sqrt(Real(5))) / 2;
  std::vector<Vec3> out;
  for (int axis = 0; axis < 3; ++axis) {
    for (int s = 0; s < 4; ++s) {
      Vec3 v{};
      v[axis] = (s & 1) != 0 ? 1 : -1;
      v[(axis + 1) % 3] = (s & 2) != 0 ? golden : -golden;
      out.push_back(v);
    }
  }
  return out;
}

/// The triples of vertices at the length of an edge, which is 2 here, turned outward.
std::vector<Triangle> trianglesOfIcosahedron(const std::vector<Vec3>& v) {
  std::vector<Triangle> out;
  const auto isEdge = [&](int a, int b) { return squaredNorm(v[a] - v[b]) < 5; };
  for (int a = 0; a < kIcosahedronVertices; ++a) {
    for (int b = a + 1; b < kIcosahedronVertices; ++b) {
      for (int c = b + 1; c < kIcosahedronVertices; ++c) {
        if (!isEdge(a, b) || !isEdge(b, c) || !isEdge(c, a)) continue;
        const bool isOutward = dot(v[a], cross(v[b], v[c])) > 0;
        out.push_back(isOutward ? Triangle{a, b, c} : Triangle{a, c, b});
      }
    }
  }
  TANGERE_ASSERT(out.size() == 20);
  return out;
}

/// Edges on the surface of a ball cut to side n are up to 1.2 / n of its radius long, those towards
/// the centre 1 / n.
ShellPlan planBall(Real radius, Real resolution) {
  // Beyond, no integer holds the counts; they are refused anyway.
  const Real side = std::fmin(piecesOf(1.1 * radius, resolution), 1e9);
  return {.side = static_cast<int>(side), .numPrisms = 0};
}

Vec3 unitDirection(const std::vector<Vec3>& coarse, const ShellPoint& point) {
  Vec3 sum{};
  for (int k = 0; k < 3; ++k) sum += coarse[point.vertex[k]] * static_cast<Real>(point.weight[k]);
  return sum / norm(sum);
}

TetPieces makeBall(const Vec3& semiAxes, const ShellPlan& plan) {
  const std::vector<Vec3> coarse = icosahedron();
  const ShellLattice lattice(kIcosahedronVertices, trianglesOfIcosahedron(coarse));
  return fillShells(lattice, plan, Vec3{}, [&](int layer, const ShellPoint& point) {
    const Vec3 d = unitDirection(coarse, point);
    const Real scale = static_cast<Real>(plan.side - layer) / plan.side;
    return Vec3{semiAxes.x * d.x, semiAxes.y * d.y, semiAxes.z * d.z} * scale;
  });
}

// Stacks of discs.

/// Lattice point (i, j) of one of the six sectors of a disc: rings of 6 r vertices around one.
int discIndex(int sector, int i, int j) {
  const int ring = i + j;
  if (ring == 0) return 0;
  return 1 + 3 * ring * (ring - 1) + (sector * ring + j) % (6 * ring);
}

/// Discs one above the other; neighbours have equally many rings or differ by one.
struct DiscStack {
  std::vector<int> rings;

  [[nodiscard]] int numLevels() const { return static_cast<int>(rings.size()); }
};

/// Unit vector towards vertex `step` of the 6 ring vertices of a ring; zero for the one in the
/// middle.
Vec3 ringDirection(int ring, int step) {
  if (ring == 0) return {};
  const core::SinCos angle = core::sinCos(kPi * step / (3 * ring));
  return {angle.cos, angle.sin, 0};
}

/// place(level, ring, unit direction in the ring) gives the position.
template <class Place>
TetPieces fillStack(const DiscStack& stack, const Place& place) {
  TetPieces out;
  std::vector<int> first;
  for (int level = 0; level < stack.numLevels(); ++level) {
    first.push_back(static_cast<int>(out.vertices.size()));
    out.vertices.push_back(place(level, 0, Vec3{}));
    for (int ring = 1; ring <= stack.rings[level]; ++ring) {
      for (int step = 0; step < 6 * ring; ++step) {
        out.vertices.push_back(place(level, ring, ringDirection(ring, step)));
      }
    }
  }
  for (int level = 0; level + 1 < stack.numLevels(); ++level) {
    const int m0 = stack.rings[level], m1 = stack.rings[level + 1];
    for (int sector = 0; sector < 6; ++sector) {
      const auto lower = [&](int i, int j) { return first[level] + discIndex(sector, i, j); };
      const auto upper = [&](int i, int j) { return first[level + 1] + discIndex(sector, i, j); };
      if (m0 > m1) {
        out.addTaperLayer(m0, lower, upper);
      } else if (m0 < m1) {
        out.addTaperLayer(m1, upper, lower);
      } else if (level % 2 == 0) {
        out.addPrismLayer(m0, lower, upper);
      } else {
        out.addPrismLayer(m0, upper, lower);  // diagonals lean the other way
      }
    }
  }
  return out;
}

struct StackPlan {
  Real rings;   ///< of the widest disc
  Real layers;  ///< between discs along the length, those of the caps of a capsule not counted
};

/// Sums of discSize(k) and of k^3 - (k-1)^3 over k = 0..n - 1 and 1..n, and the like.
TetCounts countsOfPrisms(Real rings, Real layers) {
  return {.vertices = (layers + 1) * (1 + 3 * rings * (rings + 1)),
          .tets = 18 * rings * rings * layers};
}

StackPlan planCylinder(Real radius, Real halfLength, Real resolution) {
  return {piecesOf(radius, resolution), piecesOf(2 * halfLength, resolution)};
}

TetPieces makeCylinder(Real radius, Real halfLength, const StackPlan& plan) {
  const int n = static_cast<int>(plan.rings), layers = static_cast<int>(plan.layers);
  const DiscStack stack{std::vector<int>(static_cast<std::size_t>(layers) + 1, n)};
  return fillStack(stack, [&](int level, int ring, const Vec3& d) {
    Vec3 p = d * (radius * (static_cast<Real>(ring) / n));
    p.z = halfLength * (static_cast<Real>(2 * level - layers) / layers);
    return p;
  });
}

/// Edges of the caps are up to 1.6 of the distance between rings long.
StackPlan planCapsule(Real radius, Real halfLength, Real resolution) {
  return {piecesOf(1.25 * radius, resolution), piecesOf(2 * halfLength, resolution)};
}

TetCounts countCapsule(const StackPlan& plan) {
  const Real n = plan.rings;
  TetCounts out = countsOfPrisms(n, plan.layers);
  out.vertices += 2 * n * n * n;  // 2 sum of 1 + 3 k (k + 1), k < n
  out.tets += 12 * n * n * n;     // 2 * 6 n^3
  return out;
}

/// Half of a ball of radius 1 as a stack: level j above the equator holds what is j steps up from
/// it in each shell; ring r of it belongs to shell j + r.
Vec3 placeInHalfBall(int level, int ring, const Vec3& d, int rings) {
  const int shell = level + ring;
  if (shell == 0) return {};
  const core::SinCos elevation = core::sinCos(kPi / 2 * level / shell);
  const Real radius = static_cast<Real>(shell) / rings;
  Vec3 p = d * (radius * elevation.cos);
  p.z = radius * elevation.sin;
  return p;
}

/// A capsule of radius 1 as a stack of discs, the caps first and last.
class CapsuleStack {
 public:
  CapsuleStack(Real halfLength, const StackPlan& plan)
      : half_length_(halfLength),
        rings_(static_cast<int>(plan.rings)),
        layers_(static_cast<int>(plan.layers)) {
    for (int k = 0; k < rings_; ++k) stack_.rings.push_back(k);
    for (int k = 0; k <= layers_; ++k) stack_.rings.push_back(rings_);
    for (int k = rings_ - 1; k >= 0; --k) stack_.rings.push_back(k);
  }

  [[nodiscard]] const DiscStack& stack() const { return stack_; }
  [[nodiscard]] bool isOnSurface(int level, int ring) const { return ring == stack_.rings[level]; }
  [[nodiscard]] Vec3 place(int level, int ring, const Vec3& d) const {
    const int above = level - (rings_ + layers_), below = rings_ - level;
    if (above >= 0 || below >= 0) {
      Vec3 p = placeInHalfBall(std::max(above, below), ring, d, rings_);
      p.z = above >= 0 ? half_length_ + p.z : -half_length_ - p.z;
      return p;
    }
    Vec3 p = d * (static_cast<Real>(ring) / rings_);
    p.z = half_length_ * (static_cast<Real>(2 * (level - rings_) - layers_) / layers_);
    return p;
  }

 private:
  Real half_length_;
  int rings_, layers_;
  DiscStack stack_;
};

TetPieces makeCapsule(Real radius, Real halfLength, const StackPlan& plan) {
  const CapsuleStack capsule(halfLength / radius, plan);
  return fillStack(capsule.stack(), [&](int level, int ring, const Vec3& d) {
    return capsule.place(level, ring, d) * radius;
  });
}

// Ellipsoids that are much longer than wide: a capsule, reshaped.

struct ProlateAxes {
  int longest = 2;
  Vec3 half{};      ///< semi-axes across, across, along
  Real radius = 0;  ///< of the circle with the same area as the widest section
};

ProlateAxes prolateAxes(const Vec3& semiAxes) {
  ProlateAxes out;
  for (int axis = 0; axis < 3; ++axis) {
    if (semiAxes[axis] > semiAxes[out.longest]) out.longest = axis;
  }
  out.half = {semiAxes[(out.longest + 1) % 3], semiAxes[(out.longest + 2) % 3],
              semiAxes[out.longest]};
  out.radius = std::sqrt(out.half.x * out.half.y);
  return out;
}

/// From here on a reshaped capsule has the better dihedral angles; at 20 times as long as wide they
/// are 8 degrees at least, those of stretched shells 2.
constexpr Real kLeastProlate = 2.2;

bool isProlate(const Vec3& semiAxes) {
  const ProlateAxes axes = prolateAxes(semiAxes);
  return axes.half.z > kLeastProlate * axes.radius;
}

StackPlan planProlate(const ProlateAxes& axes, Real resolution) {
  return planCapsule(axes.radius, axes.half.z - axes.radius, resolution);
}

/// Sections stay sections, at heights in proportion, and are widened to the ellipsoid's.
TetPieces makeProlate(const ProlateAxes& axes, const StackPlan& plan) {
  const Real halfLength = axes.half.z / axes.radius - 1;  // of the capsule of radius 1
  const CapsuleStack capsule(halfLength, plan);
  return fillStack(capsule.stack(), [&](int level, int ring, const Vec3& d) {
    const Vec3 p = capsule.place(level, ring, d);
    const Real beyond = std::fmax(0, std::fabs(p.z) - halfLength);
    const Real width = std::sqrt(std::fmax(0, (1 - beyond) * (1 + beyond)));
    const Real part = capsule.isOnSurface(level, ring) ? 1 : norm(Vec3{p.x, p.y, 0}) / width;
    const Real z = p.z / (halfLength + 1);
    const Real section = part * std::sqrt(std::fmax(0, (1 - z) * (1 + z)));
    Vec3 out{};
    out[(axes.longest + 1) % 3] = axes.half.x * section * d.x;
    out[(axes.longest + 2) % 3] = axes.half.y * section * d.y;
    out[axes.longest] = axes.half.z * z;
    return out;
  });
}

StackPlan planCone(Real radius, Real halfHeight, Real resolution) {
  const Real rings = piecesOf(radius, resolution);
  return {rings, std::fmax(rings, piecesOf(2 * halfHeight, resolution))};
}

struct ConeLevels {
  DiscStack stack;
  std::vector<int> step;  ///< of each level, out of plan.layers from the base to the apex
};

/// Rings as wide as those of the base. The last disc has one ring of at least half that width: more
/// would be ever smaller, and the tetrahedra between them ever longer.
ConeLevels levelsOfCone(const StackPlan& plan) {
  const int layers = static_cast<int>(plan.layers);
  const auto rings = static_cast<std::int64_t>(plan.rings);
  ConeLevels out;
  for (int step = 0; step < layers; ++step) {
    const auto m = static_cast<int>((rings * (layers - step) + layers - 1) / layers);
    if (step > 0 && 2 * rings * (layers - step) < layers) break;
    out.stack.rings.push_back(m);
    out.step.push_back(step);
  }
  out.stack.rings.push_back(0);
  out.step.push_back(layers);
  return out;
}

TetCounts countCone(const StackPlan& plan) {
  // Beyond, an upper bound will do: it is refused anyway.
  if (plan.layers > 1e6) return countsOfPrisms(plan.rings, plan.layers);
  const std::vector<int> rings = levelsOfCone(plan).stack.rings;
  TetCounts out;
  for (std::size_t level = 0; level < rings.size(); ++level) {
    const Real m = rings[level];
    out.vertices += 1 + 3 * m * (m + 1);
    if (level + 1 == rings.size()) break;
    out.tets += 6 * (rings[level + 1] < rings[level] ? 3 * m * m - 3 * m + 1 : 3 * m * m);
  }
  return out;
}

TetPieces makeCone(Real radius, Real halfHeight, const StackPlan& plan) {
  const int layers = static_cast<int>(plan.layers);
  const ConeLevels levels = levelsOfCone(plan);
  return fillStack(levels.stack, [&](int level, int ring, const Vec3& d) {
    const int step = levels.step[level];
    const Real width = radius * (static_cast<Real>(layers - step) / layers);
    const Real part = ring == 0 ? 0 : static_cast<Real>(ring) / levels.stack.rings[level];
    Vec3 p = d * (width * part);
    p.z = halfHeight * (static_cast<Real>(2 * step - layers) / layers);
    return p;
  });
}

/// Of the ball with the same volume: the resolution is met on average.
Real meanRadius(const Vec3& semiAxes) { return core::cbrt(semiAxes.x * semiAxes.y * semiAxes.z); }

}  // namespace

TetCounts countStructuredTets(const Shape& shape, Real resolution) {
  switch (shape.type()) {
    case ShapeType::Sphere: {
      const Real radius = static_cast<const Sphere&>(shape).radius();
      return planBall(radius, resolution).counts(kIcosahedronVertices, 20);
    }
    case ShapeType::Ellipsoid: {
      const Vec3& axes = static_cast<const Ellipsoid&>(shape).semiAxes();
      if (isProlate(axes)) return countCapsule(planProlate(prolateAxes(axes), resolution));
      return planBall(meanRadius(axes), resolution).counts(kIcosahedronVertices, 20);
    }
    case ShapeType::Box:
      return planBox(static_cast<const Box&>(shape).halfExtents(), resolution).counts();
    case ShapeType::Capsule: {
      const auto& capsule = static_cast<const Capsule&>(shape);
      return countCapsule(planCapsule(capsule.radius(), capsule.halfLength(), resolution));
    }
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(shape);
      const StackPlan plan = planCylinder(cylinder.radius(), cylinder.halfLength(), resolution);
      return countsOfPrisms(plan.rings, plan.layers);
    }
    case ShapeType::Cone: {
      const auto& cone = static_cast<const Cone&>(shape);
      return countCone(planCone(cone.radius(), cone.halfHeight(), resolution));
    }
    default:
      TANGERE_ASSERT(false);
      return {};
  }
}

TetPieces makeStructuredTets(const Shape& shape, Real resolution) {
  switch (shape.type()) {
    case ShapeType::Sphere: {
      const Real r = static_cast<const Sphere&>(shape).radius();
      return makeBall({r, r, r}, planBall(r, resolution));
    }
    case ShapeType::Ellipsoid: {
      const Vec3& axes = static_cast<const Ellipsoid&>(shape).semiAxes();
      if (isProlate(axes)) {
        const ProlateAxes prolate = prolateAxes(axes);
        return makeProlate(prolate, planProlate(prolate, resolution));
      }
      return makeBall(axes, planBall(meanRadius(axes), resolution));
    }
    case ShapeType::Box: {
      const Vec3& half = static_cast<const Box&>(shape).halfExtents();
      return makeBox(half, planBox(half, resolution));
    }
    case ShapeType::Capsule: {
      const auto& capsule = static_cast<const Capsule&>(shape);
      return makeCapsule(capsule.radius(), capsule.halfLength(),
                         planCapsule(capsule.radius(), capsule.halfLength(), resolution));
    }
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(shape);
      return makeCylinder(cylinder.radius(), cylinder.halfLength(),
                          planCylinder(cylinder.radius(), cylinder.halfLength(), resolution));
    }
    case ShapeType::Cone: {
      const auto& cone = static_cast<const Cone&>(shape);
      return makeCone(cone.radius(), cone.halfHeight(),
                      planCone(cone.radius(), cone.halfHeight(), resolution));
    }
    default:
      TANGERE_ASSERT(false);
      return {};
  }
}

TetCounts countSphereFan(Real radius, Real resolution) {
  const Real n = planBall(radius, resolution).side;
  return {.vertices = 10 * n * n + 3, .tets = 20 * n * n};
}

TetPieces makeSphereFan(Real radius, Real resolution) {
  const ShellPlan plan = planBall(radius, resolution);
  const std::vector<Vec3> coarse = icosahedron();
  const ShellLattice lattice(kIcosahedronVertices, trianglesOfIcosahedron(coarse));
  TetPieces out;
  for (const ShellPoint& point : lattice.points(plan.side)) {
    out.vertices.push_back(unitDirection(coarse, point) * radius);
  }
  const int center = static_cast<int>(out.vertices.size()), n = plan.side;
  out.vertices.push_back({});
  for (int t = 0; t < static_cast<int>(lattice.triangles().size()); ++t) {
    const auto at = [&](int i, int j) { return lattice.index(t, n, i, j); };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; i + j < n; ++j) {
        out.tets.push_back({at(i, j), at(i + 1, j), at(i, j + 1), center});
        if (i + j + 1 >= n) continue;
        out.tets.push_back({at(i + 1, j), at(i + 1, j + 1), at(i, j + 1), center});
      }
    }
  }
  return out;
}

}  // namespace tangere::geometry
