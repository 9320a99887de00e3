// SPDX-License-Identifier: Apache-2.0
//
// The HeightField shape and its data.
#include <tangere/shape.hpp>

#include "core/elementary.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/limits.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/query_helpers.hpp"

#include <limits>

namespace tangere {

using geometry::HeightFieldData;

namespace {

const HeightFieldData& dataOf(const HeightField& field) { return *field.flat().heightField; }

}  // namespace

HeightField::HeightField(int numX, int numY, Real sizeX, Real sizeY, std::span<const Real> heights)
    : HeightField(std::make_shared<const HeightFieldData>(numX, numY, sizeX, sizeY, heights)) {}

HeightField::HeightField(const std::shared_ptr<const HeightFieldData>& data)
    : Shape(ShapeType::HeightField, data, data->bounds) {}

int HeightField::numX() const { return dataOf(*this).numX; }

int HeightField::numY() const { return dataOf(*this).numY; }

Real HeightField::sizeX() const { return dataOf(*this).sizeX; }

Real HeightField::sizeY() const { return dataOf(*this).sizeY; }

std::span<const Real> HeightField::heights() const { return dataOf(*this).heights; }

Vec3 HeightField::support(const Vec3& direction) const {
  return geometry::supportOfTerrain(dataOf(*this), direction);
}

MassProperties HeightField::massProperties(Real density) const {
  geometry::requireDensity(density);
  core::throwInvalidInput("a height field has no volume, and no mass properties", "");
}

std::optional<RayHit> HeightField::rayCast(const Ray& ray) const {
  return geometry::rayCastTerrain(dataOf(*this), ray);
}

SignedDistance HeightField::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(
      point, [&](const Vec3& p) { return geometry::signedDistanceToTerrain(dataOf(*this), p); });
}

namespace geometry {

using kernel::TriangleFeature;

HeightFieldData::HeightFieldData(int nx, int ny, Real sx, Real sy, std::span<const Real> input)
    : numX(nx), numY(ny), sizeX(sx), sizeY(sy) {
  TANGERE_REQUIRE(nx >= 2 && ny >= 2, "height field needs at least 2 x 2 heights", nx, ny);
  TANGERE_REQUIRE(nx <= (1 << 14) && ny <= (1 << 14),
                  "height field may have at most 16384 heights a side", nx, ny);
  TANGERE_REQUIRE(isSize(sx) && isSize(sy), "height field size must be within 1e-12 to 1e12 m", sx,
                  sy);
  TANGERE_REQUIRE(input.size() == static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny),
                  "height field needs numX numY heights", nx, ny, input.size());
  for (std::size_t i = 0; i < input.size(); ++i)
    TANGERE_REQUIRE(std::fabs(input[i]) <= kMaxSize, "height must be finite and within 1e12 m", i,
                    input[i]);
  heights.assign(input.begin(), input.end());
  stepX = sizeX / Real(nx - 1);
  stepY = sizeY / Real(ny - 1);

  Level cells{numCellsX(), numCellsY(), {}};
  cells.blocks.resize(static_cast<std::size_t>(cells.numX) * static_cast<std::size_t>(cells.numY));
  for (int j = 0; j < cells.numY; ++j)
    for (int i = 0; i < cells.numX; ++i) {
      const Real a = heights[j * numX + i], b = heights[j * numX + i + 1];
      const Real c = heights[(j + 1) * numX + i], d = heights[(j + 1) * numX + i + 1];
      cells.blocks[j * cells.numX + i] = {std::fmin(std::fmin(a, b), std::fmin(c, d)),
                                          std::fmax(std::fmax(a, b), std::fmax(c, d))};
    }
  levels.push_back(std::move(cells));
  while (levels.back().blocks.size() > 1) {
    const Level& fine = levels.back();
    Level coarse{(fine.numX + 1) / 2, (fine.numY + 1) / 2, {}};
    coarse.blocks.resize(static_cast<std::size_t>(coarse.numX) *
                         static_cast<std::size_t>(coarse.numY));
    for (int j = 0; j < coarse.numY; ++j)
      for (int i = 0; i < coarse.numX; ++i) {
        Extent e = fine.blocks[2 * j * fine.numX + 2 * i];
        for (int dj = 0; dj < 2; ++dj)
          for (int di = 0; di < 2; ++di) {
            if (2 * i + di >= fine.numX || 2 * j + dj >= fine.numY) continue;
            const Extent& f = fine.blocks[(2 * j + dj) * fine.numX + 2 * i + di];
            e = {std::fmin(e.lower, f.lower), std::fmax(e.upper, f.upper)};
          }
        coarse.blocks[j * coarse.numX + i] = e;
      }
    levels.push_back(std::move(coarse));
  }
  extent = levels.back().blocks[0];
  floor = extent.lower - std::fmax(sizeX, sizeY);
  bounds = {{-sizeX / 2, -sizeY / 2, floor}, {sizeX / 2, sizeY / 2, extent.upper}};

  type = ShapeType::HeightField;
  heightField = this;
}

HeightFieldData::~HeightFieldData() = default;

bool HeightFieldData::heightAt(Real px, Real py, Real* height) const {
  const Real u = (px + Real(0.5) * sizeX) / stepX, v = (py + Real(0.5) * sizeY) / stepY;
  if (!(u >= 0 && v >= 0 && u <= Real(numCellsX()) && v <= Real(numCellsY()))) return false;
  *height = heightNear(px, py);
  return true;
}

Real HeightFieldData::heightNear(Real px, Real py) const {
  const auto share = [](Real s) { return s > 0 ? (s < 1 ? s : Real(1)) : Real(0); };
  const int i = cellX(px), j = cellY(py);
  const Real a = share((px + Real(0.5) * sizeX) / stepX - Real(i));
  const Real b = share((py + Real(0.5) * sizeY) / stepY - Real(j));
  const Real h00 = heights[j * numX + i], h11 = heights[(j + 1) * numX + i + 1];
  if (a >= b) {
    const Real h10 = heights[j * numX + i + 1];
    return h00 + a * (h10 - h00) + b * (h11 - h10);
  }
  const Real h01 = heights[(j + 1) * numX + i];
  return h00 + b * (h01 - h00) + a * (h11 - h01);
}

std::vector<Vec3> HeightFieldData::surfaceVertices() const {
  std::vector<Vec3> vertices;
  vertices.reserve(heights.size() + static_cast<std::size_t>(numRimCells()) + 1);
  for (int j = 0; j < numY; ++j)
    for (int i = 0; i < numX; ++i) vertices.push_back(vertex(i, j));
  return vertices;
}

std::vector<Triangle> HeightFieldData::surfaceTriangles() const {
  std::vector<Triangle> triangles;
  triangles.reserve(static_cast<std::size_t>(numSurfaceTriangles() + 3 * numRimCells()));
  for (int j = 0; j < numCellsY(); ++j)
    for (int i = 0; i < numCellsX(); ++i) {
      const int v = j * numX + i;
      triangles.push_back({v, v + 1, v + numX + 1});
      triangles.push_back({v, v + numX + 1, v + numX});
    }
  return triangles;
}

const MeshData& HeightFieldData::surfaceMesh() const {
  std::call_once(surface_once_, [this] {
    surface_ = std::make_unique<const MeshData>(surfaceVertices(), surfaceTriangles());
  });
  return *surface_;
}

const MeshData& HeightFieldData::solidMesh() const {
  std::call_once(solid_once_, [this] {
    std::vector<Vec3> vertices = surfaceVertices();
    std::vector<Triangle> triangles = surfaceTriangles();
    std::vector<int> rim;
    for (int i = 0; i < numCellsX(); ++i) rim.push_back(i);
    for (int j = 0; j < numCellsY(); ++j) rim.push_back(j * numX + numCellsX());
    for (int i = numCellsX(); i > 0; --i) rim.push_back(numCellsY() * numX + i);
    for (int j = numCellsY(); j > 0; --j) rim.push_back(j * numX);
    const int below = static_cast<int>(vertices.size()), count = numRimCells();
    for (const int v : rim) vertices.push_back({vertices[v].x, vertices[v].y, floor});
    for (int i = 0; i < count; ++i) {
      const int next = i + 1 < count ? i + 1 : 0;
      triangles.push_back({rim[next], rim[i], below + i});
      triangles.push_back({rim[next], below + i, below + next});
    }
    vertices.push_back({0, 0, floor});
    for (int i = 0; i < count; ++i)
      triangles.push_back({below + (i + 1 < count ? i + 1 : 0), below + i, below + count});
    solid_ = std::make_unique<const MeshData>(vertices, triangles);
  });
  return *solid_;
}

namespace {

/// A block of the pyramid: level and place.
struct Block {
  int level, i, j;
};

Aabb boxOf(const HeightFieldData& field, const Block& b) {
  const HeightFieldData::Level& level = field.levels[b.level];
  const HeightFieldData::Extent& e = level.blocks[b.j * level.numX + b.i];
  const int i1 = std::min((b.i + 1) << b.level, field.numCellsX());
  const int j1 = std::min((b.j + 1) << b.level, field.numCellsY());
  return {{field.x(b.i << b.level), field.y(b.j << b.level), e.lower},
          {field.x(i1), field.y(j1), e.upper}};
}

/// Goes down the pyramid, smallest key first. key(box) is a lower bound of what visit(triangle)
/// can find; blocks above limit() are left out.
template <class Key, class Limit, class Visit>
void descend(const HeightFieldData& field, const Key& key, const Limit& limit, const Visit& visit) {
  struct Entry {
    Real key;
    Block block;
  } stack[64];  // levels are at most 15 and each adds three
  int size = 0;
  const Block top{static_cast<int>(field.levels.size()) - 1, 0, 0};
  stack[size++] = {key(boxOf(field, top)), top};
  while (size > 0) {
    const Entry entry = stack[--size];
    if (!(entry.key <= limit())) continue;
    const Block& b = entry.block;
    if (b.level == 0) {
      const int cell = b.j * field.numCellsX() + b.i;
      visit(2 * cell);
      visit(2 * cell + 1);
      continue;
    }
    const HeightFieldData::Level& fine = field.levels[b.level - 1];
    const int first = size;
    for (int c = 0; c < 4; ++c) {
      const Block child{b.level - 1, 2 * b.i + (c & 1), 2 * b.j + (c >> 1)};
      if (child.i >= fine.numX || child.j >= fine.numY) continue;
      const Real k = key(boxOf(field, child));
      if (!(k <= limit())) continue;
      int at = size++;
      while (at > first && stack[at - 1].key < k) {
        stack[at] = stack[at - 1];
        --at;
      }
      stack[at] = {k, child};
    }
  }
}

}  // namespace

namespace {

/// A wall: where it stands, and which of its cells along the rim comes first.
struct Wall {
  int axis;     ///< 0: it stands across x
  Real offset;  ///< of its plane along that axis
  Real sign;    ///< of its outward normal
};
Wall wallOf(const HeightFieldData& field, int side) {
  const int axis = side % 2 == 0 ? 1 : 0;
  const Real sign = side == 1 || side == 2 ? 1 : -1;
  return {axis, sign * Real(0.5) * (axis == 0 ? field.sizeX : field.sizeY), sign};
}

/// The first of the two triangles of the wall cell over which a point of a wall lies.
int wallTriangle(const HeightFieldData& field, int side, const Vec3& p) {
  const int nx = field.numCellsX(), ny = field.numCellsY();
  const int i = field.cellX(p.x), j = field.cellY(p.y);
  const int cell = side == 0   ? i
                   : side == 1 ? nx + j
                   : side == 2 ? 2 * nx + ny - 1 - i
                               : 2 * (nx + ny) - 1 - j;
  return field.numSurfaceTriangles() + 2 * cell;
}
int floorTriangle(const HeightFieldData& field, const Vec3& p) {
  const Real x = p.x / field.sizeX, y = p.y / field.sizeY;
  const int side = std::fabs(x) > std::fabs(y) ? (x > 0 ? 1 : 3) : (y > 0 ? 2 : 0);
  return field.numSurfaceTriangles() + 2 * field.numRimCells() +
         (wallTriangle(field, side, p) - field.numSurfaceTriangles()) / 2;
}

Real clampTo(Real x, Real half) { return x < -half ? -half : (x > half ? half : x); }

/// Walls and floor. The upper edges of the walls are the rim of the surface, the lower ones that of
/// the floor: left are the feet on the walls themselves and on the four upright edges.
void considerWallsAndFloor(const HeightFieldData& field, const Vec3& p, TerrainPoint* best) {
  const auto consider = [&](const Vec3& q, int triangle) {
    const Real d2 = squaredNorm(p - q);
    if (d2 < best->squaredDistance) *best = {d2, q, triangle, TriangleFeature::Face};
  };
  const Real half[2] = {Real(0.5) * field.sizeX, Real(0.5) * field.sizeY};
  const Vec3 onFloor{clampTo(p.x, half[0]), clampTo(p.y, half[1]), field.floor};
  consider(onFloor, floorTriangle(field, onFloor));
  for (int side = 0; side < 4; ++side) {
    const Wall wall = wallOf(field, side);
    Vec3 foot{onFloor.x, onFloor.y, p.z};
    foot[wall.axis] = wall.offset;
    if (foot.z < field.floor || foot.z > field.heightNear(foot.x, foot.y)) continue;
    consider(foot, wallTriangle(field, side, foot));
  }
}

/// The outward normals of the walls and of the floor on which a point of the solid lies.
Vec3 wallNormals(const HeightFieldData& field, const Vec3& p) {
  const Real slack = Real(1e-12) * (field.sizeX + field.sizeY);
  Vec3 sum{};
  for (int side = 0; side < 4; ++side) {
    const Wall wall = wallOf(field, side);
    if (std::fabs(p[wall.axis] - wall.offset) <= slack) sum[wall.axis] += wall.sign;
  }
  if (std::fabs(p.z - field.floor) <= slack) sum.z -= 1;
  return sum;
}

}  // namespace

TerrainPoint closestOnTerrain(const HeightFieldData& field, const Vec3& p, Real maxDistance) {
  TerrainPoint best;
  best.squaredDistance = maxDistance * maxDistance;
  descend(
      field,
      [&](const Aabb& box) {
        const Real dx = std::fmax(std::fmax(box.lower.x - p.x, p.x - box.upper.x), Real(0));
        const Real dy = std::fmax(std::fmax(box.lower.y - p.y, p.y - box.upper.y), Real(0));
        const Real dz = std::fmax(std::fmax(box.lower.z - p.z, p.z - box.upper.z), Real(0));
        return (dx * dx + dy * dy + dz * dz) * (1 - Real(1e-12));
      },
      [&] { return best.squaredDistance; },
      [&](int t) {
        const kernel::TrianglePoint<Real> q = kernel::closestOnTriangle(
            p, field.corner(t, 0), field.corner(t, 1), field.corner(t, 2));
        const Real d2 = squaredNorm(p - q.point);
        if (d2 < best.squaredDistance || (d2 == best.squaredDistance && t < best.triangle))
          best = {d2, q.point, t, q.feature};
      });
  considerWallsAndFloor(field, p, &best);
  return best;
}

Vec3 terrainNormal(const HeightFieldData& field, int triangle, TriangleFeature feature) {
  const Vec3 own = field.normal(triangle);
  if (feature == TriangleFeature::Face) return own;
  if (feature >= TriangleFeature::Edge0) {
    const int other = field.across(
        triangle, static_cast<int>(feature) - static_cast<int>(TriangleFeature::Edge0));
    return other < 0 ? own : own + field.normal(other);
  }
  // The fan of a vertex: at most two triangles of each cell around it.
  const Vec3 v = field.corner(triangle, static_cast<int>(feature));
  const int i =
      static_cast<int>(std::floor((v.x + Real(0.5) * field.sizeX) / field.stepX + Real(0.5)));
  const int j =
      static_cast<int>(std::floor((v.y + Real(0.5) * field.sizeY) / field.stepY + Real(0.5)));
  Vec3 sum{};
  for (int cj = j - 1; cj <= j; ++cj)
    for (int ci = i - 1; ci <= i; ++ci) {
      if (ci < 0 || cj < 0 || ci >= field.numCellsX() || cj >= field.numCellsY()) continue;
      for (int half = 0; half < 2; ++half) {
        const int t = 2 * (cj * field.numCellsX() + ci) + half;
        for (int k = 0; k < 3; ++k) {
          if (!(field.corner(t, k) == v)) continue;
          const Vec3 a = field.corner(t, (k + 1) % 3) - v, b = field.corner(t, (k + 2) % 3) - v;
          sum += field.normal(t) * core::atan2(norm(cross(a, b)), dot(a, b));
        }
      }
    }
  return sum;
}

bool isInside(const HeightFieldData& field, const Vec3& p) {
  Real height;
  return p.z > field.floor && field.heightAt(p.x, p.y, &height) && p.z < height;
}

SignedDistance signedDistanceToTerrain(const HeightFieldData& field, const Vec3& p) {
  const TerrainPoint closest = closestOnTerrain(field, p, std::numeric_limits<Real>::infinity());
  const bool inside = isInside(field, p);
  const Real length = std::sqrt(closest.squaredDistance);
  SignedDistance out{.distance = inside ? -length : length, .closest = closest.point, .normal = {}};
  if (length > Real(1e-12) * (field.sizeX + field.sizeY)) {
    out.normal = (p - closest.point) / (inside ? -length : length);
  } else {
    Vec3 n = wallNormals(field, closest.point);
    if (closest.triangle < field.numSurfaceTriangles()) {
      const Vec3 up = terrainNormal(field, closest.triangle, closest.feature);
      n += up / norm(up);
    }
    out.normal = n / norm(n);
  }
  return out;
}

std::optional<RayHit> rayCastTerrain(const HeightFieldData& field, const Ray& ray) {
  const Vec3 direction = scaledDirection(ray.direction);
  if (direction == Vec3{} || !std::isfinite(maxAbs(ray.origin))) return std::nullopt;
  const Real scale = maxAbs(ray.direction);
  const Vec3 middle{0, 0, Real(0.5) * (field.extent.lower + field.extent.upper)};
  const kernel::LineT<Real> line = kernel::lineNearOrigin(ray.origin - middle, direction);
  const Vec3 origin = middle + line.origin;
  const Real first = -line.shift;
  Real last = ray.maxT * scale - line.shift;
  int hit = -1;
  const Real slack = Real(1e-12) * (field.sizeX + field.sizeY + field.extent.upper -
                                    field.extent.lower + maxAbs(origin));
  constexpr Real kMiss = std::numeric_limits<Real>::infinity();
  descend(
      field,
      [&](const Aabb& box) {
        Real enter = -kMiss, exit = kMiss;
        for (int k = 0; k < 3; ++k) {
          const Real a = box.lower[k] - slack - origin[k], b = box.upper[k] + slack - origin[k];
          if (direction[k] == 0) {
            if (a > 0 || b < 0) return kMiss;
            continue;
          }
          const Real s = a / direction[k], t = b / direction[k];
          enter = std::fmax(enter, std::fmin(s, t));
          exit = std::fmin(exit, std::fmax(s, t));
        }
        return enter <= exit && exit >= first ? enter : kMiss;
      },
      [&] { return last < Real(1e300) ? last : Real(1e300); },
      [&](int t) {
        Real s;
        if (!kernel::intersectRayTriangle(origin, direction, field.corner(t, 0), field.corner(t, 1),
                                          field.corner(t, 2), &s))
          return;
        if (!(s >= first && s <= last)) return;
        if (s == last && hit >= 0 && t > hit) return;
        last = s;
        hit = t;
      });
  Vec3 normal = hit < 0 ? Vec3{} : field.normal(hit);
  const auto crossPlane = [&](int axis, Real offset, const auto& triangleAt) {
    if (direction[axis] == 0) return;
    const Real s = (offset - origin[axis]) / direction[axis];
    if (!(s >= first && (hit < 0 ? s <= last : s < last))) return;
    const int triangle = triangleAt(origin + direction * s);
    if (triangle < 0) return;
    last = s;
    hit = triangle;
    normal = {};
    normal[axis] = 1;
  };
  const Real hx = Real(0.5) * field.sizeX, hy = Real(0.5) * field.sizeY;
  for (int side = 0; side < 4; ++side) {
    const Wall wall = wallOf(field, side);
    const int along = 1 - wall.axis;
    crossPlane(wall.axis, wall.offset, [&](Vec3 q) {
      q[wall.axis] = wall.offset;
      const bool onWall = std::fabs(q[along]) <= (along == 0 ? hx : hy) && q.z >= field.floor &&
                          q.z <= field.heightNear(q.x, q.y);
      return onWall ? wallTriangle(field, side, q) : -1;
    });
  }
  crossPlane(2, field.floor, [&](const Vec3& q) {
    return std::fabs(q.x) <= hx && std::fabs(q.y) <= hy ? floorTriangle(field, q) : -1;
  });
  if (hit < 0) return std::nullopt;
  if (dot(normal, direction) > 0) normal = -normal;
  const Real t = (last + line.shift) / scale;
  return RayHit{
      .t = t > 0 ? t : 0, .position = origin + direction * last, .normal = normal, .feature = hit};
}

Vec3 supportOfTerrain(const HeightFieldData& field, const Vec3& direction) {
  const Vec3 d = scaledDirection(direction);
  Vec3 best{d.x < 0 ? field.bounds.lower.x : field.bounds.upper.x,
            d.y < 0 ? field.bounds.lower.y : field.bounds.upper.y, field.floor};
  Real bestDot = dot(best, d);
  descend(
      field,
      [&](const Aabb& box) {
        const Vec3 corner{d.x >= 0 ? box.upper.x : box.lower.x,
                          d.y >= 0 ? box.upper.y : box.lower.y,
                          d.z >= 0 ? box.upper.z : box.lower.z};
        return -dot(corner, d);
      },
      [&] { return -bestDot + Real(1e-12) * std::fabs(bestDot); },
      [&](int t) {
        for (int k = 0; k < 3; ++k) {
          const Vec3 v = field.corner(t, k);
          const Real s = dot(v, d);
          if (s > bestDot) {
            bestDot = s;
            best = v;
          }
        }
      });
  return best;
}

}  // namespace geometry
}  // namespace tangere
