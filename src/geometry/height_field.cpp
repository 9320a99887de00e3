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
  bounds = {{-sizeX / 2, -sizeY / 2, extent.lower - std::fmax(sizeX, sizeY)},
            {sizeX / 2, sizeY / 2, extent.upper}};

  type = ShapeType::HeightField;
  heightField = this;
}

HeightFieldData::~HeightFieldData() = default;

bool HeightFieldData::heightAt(Real px, Real py, Real* height) const {
  const Real u = (px + Real(0.5) * sizeX) / stepX, v = (py + Real(0.5) * sizeY) / stepY;
  if (!(u >= 0 && v >= 0 && u <= Real(numCellsX()) && v <= Real(numCellsY()))) return false;
  const int i = clampCell(u, numCellsX()), j = clampCell(v, numCellsY());
  const Real a = u - Real(i), b = v - Real(j);
  const Real h00 = heights[j * numX + i], h11 = heights[(j + 1) * numX + i + 1];
  if (a >= b) {
    const Real h10 = heights[j * numX + i + 1];
    *height = h00 + a * (h10 - h00) + b * (h11 - h10);
  } else {
    const Real h01 = heights[(j + 1) * numX + i];
    *height = h00 + b * (h01 - h00) + a * (h11 - h01);
  }
  return true;
}

const MeshData& HeightFieldData::surfaceMesh() const {
  std::call_once(mesh_once_, [this] {
    std::vector<Vec3> vertices;
    vertices.reserve(heights.size());
    for (int j = 0; j < numY; ++j)
      for (int i = 0; i < numX; ++i) vertices.push_back(vertex(i, j));
    std::vector<Triangle> triangles;
    triangles.reserve(2 * levels[0].blocks.size());
    for (int j = 0; j < numCellsY(); ++j)
      for (int i = 0; i < numCellsX(); ++i) {
        const int v = j * numX + i;
        triangles.push_back({v, v + 1, v + numX + 1});
        triangles.push_back({v, v + numX + 1, v + numX});
      }
    mesh_ = std::make_unique<const MeshData>(vertices, triangles);
  });
  return *mesh_;
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

bool isBelow(const HeightFieldData& field, const Vec3& p) {
  Real height;
  return field.heightAt(p.x, p.y, &height) && p.z < height;
}

SignedDistance signedDistanceToTerrain(const HeightFieldData& field, const Vec3& p) {
  const TerrainPoint closest = closestOnTerrain(field, p, std::numeric_limits<Real>::infinity());
  const bool below = isBelow(field, p);
  const Real length = std::sqrt(closest.squaredDistance);
  SignedDistance out{.distance = below ? -length : length, .closest = closest.point, .normal = {}};
  if (length > Real(1e-12) * (field.sizeX + field.sizeY)) {
    out.normal = (p - closest.point) / (below ? -length : length);
  } else {
    const Vec3 n = terrainNormal(field, closest.triangle, closest.feature);
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
  if (hit < 0) return std::nullopt;
  Vec3 normal = field.normal(hit);
  if (dot(normal, direction) > 0) normal = -normal;
  const Real t = (last + line.shift) / scale;
  return RayHit{
      .t = t > 0 ? t : 0, .position = origin + direction * last, .normal = normal, .feature = hit};
}

Vec3 supportOfTerrain(const HeightFieldData& field, const Vec3& direction) {
  const Vec3 d = scaledDirection(direction);
  Vec3 best = field.vertex(0, 0);
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
