// SPDX-License-Identifier: Apache-2.0
#include "collision/self_proximity.hpp"

#include "collision/kernels/facing_directions.hpp"
#include "collision/kernels/triangle_separation.hpp"
#include "core/stable_sort.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tangere::collision {

namespace {

using geometry::IndexPair;

/// Nearer than this counts as touching, relative to the coordinates.
constexpr Real kTouch = 1e-12;
/// More regions than this are one.
constexpr std::size_t kMaxRegions = 32;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Aabb kEmptyBox{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};

struct Corners {
  Vec3 x[3];
};

Corners cornersOf(std::span<const Vec3> vertices, const Triangle& t) {
  return {{vertices[t[0]], vertices[t[1]], vertices[t[2]]}};
}

bool isFinite(const Aabb& box) {
  const Vec3 d = box.upper - box.lower;
  const Real sum = d.x + d.y + d.z;
  return sum - sum == 0;
}

/// Boxes and directions of all patches. A triangle that is not finite has the empty box, so that
/// those of the others stay what they are.
void refit(std::span<const Vec3> vertices, std::span<const Triangle> surface,
           SelfProximity* memory) {
  std::vector<SurfacePatch>& patches = memory->patches;
  for (std::size_t p = patches.size(); p-- > 0;) {
    SurfacePatch& patch = patches[p];
    if (patch.second >= 0) {
      const SurfacePatch &first = patches[p + 1], &second = patches[patch.second];
      patch.box = first.box;
      patch.box.merge(second.box);
      patch.facing = first.facing & second.facing;
      continue;
    }
    const Corners t = cornersOf(vertices, surface[memory->triangleAt[patch.firstLeaf]]);
    patch.box = {t.x[0], t.x[0]};
    patch.box.merge(t.x[1]);
    patch.box.merge(t.x[2]);
    // Merging drops a NaN: the sum of the corners has it.
    const Vec3 sum = t.x[0] + t.x[1] + t.x[2];
    if (!isFinite({sum, sum}) || !isFinite(patch.box)) patch.box = kEmptyBox;
    patch.facing = kernel::facingDirections(cross(t.x[1] - t.x[0], t.x[2] - t.x[0]));
  }
  for (const std::int32_t p : memory->loose) patches[p].facing = 0;
}

/// True when the patches share an edge.
bool areAdjacent(const SelfProximity& memory, std::int32_t a, std::int32_t b) {
  // The shorter list is that of the smaller patch.
  if (memory.patches[a].numLeaves > memory.patches[b].numLeaves) std::swap(a, b);
  const SurfacePatch& other = memory.patches[b];
  const auto begin = memory.border.begin() + memory.borderStart[a];
  const auto end = memory.border.begin() + memory.borderStart[a + 1];
  const auto at = std::lower_bound(begin, end, other.firstLeaf);
  return at != end && *at < other.firstLeaf + other.numLeaves;
}

struct CommonCorners {
  int count = 0;
  int inA = 0, inB = 0;  // the last of them
};

CommonCorners commonCorners(const Triangle& a, const Triangle& b) {
  CommonCorners common;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (a[i] == b[j]) common = {common.count + 1, i, j};
    }
  }
  return common;
}

/// The side opposite to a corner and a triangle.
bool sideTouches(const Corners& a, int corner, const Corners& b, Real tolerance) {
  const Vec3 &p = a.x[(corner + 1) % 3], &q = a.x[(corner + 2) % 3];
  const Vec3 side[3] = {p, q, q};
  return !kernel::areTrianglesApart(side, b.x, tolerance);
}

bool trianglesTouch(std::span<const Vec3> vertices, const Triangle& a, const Triangle& b,
                    Real tolerance) {
  const CommonCorners common = commonCorners(a, b);
  if (common.count > 1) return false;
  const Corners x = cornersOf(vertices, a), y = cornersOf(vertices, b);
  if (common.count == 0) return !kernel::areTrianglesApart(x.x, y.x, tolerance);
  return sideTouches(x, common.inA, y, tolerance) || sideTouches(y, common.inB, x, tolerance);
}

/// Which of two patches to open: never a triangle, else the larger.
bool opensFirst(const SurfacePatch& a, const SurfacePatch& b) {
  if (a.second < 0 || b.second < 0) return b.second < 0;
  return a.box.halfArea() >= b.box.halfArea();
}

void findTouching(std::span<const Vec3> vertices, std::span<const Triangle> surface, Real tolerance,
                  SelfProximity* memory) {
  const std::vector<SurfacePatch>& patches = memory->patches;
  std::vector<IndexPair>& stack = memory->stack;
  memory->touching.clear();
  memory->numVisited = memory->numTested = 0;
  stack.clear();
  stack.push_back({0, 0});
  while (!stack.empty()) {
    const IndexPair pair = stack.back();
    stack.pop_back();
    ++memory->numVisited;
    const SurfacePatch &a = patches[pair.first], &b = patches[pair.second];
    if (pair.first == pair.second) {
      if (a.facing != 0 || a.second < 0) continue;
      const std::int32_t first = pair.first + 1;
      stack.push_back({first, first});
      stack.push_back({a.second, a.second});
      stack.push_back({first, a.second});
      continue;
    }
    if (!a.box.overlaps(b.box)) continue;
    if ((a.facing & b.facing) != 0 && areAdjacent(*memory, pair.first, pair.second)) continue;
    if (a.second < 0 && b.second < 0) {
      ++memory->numTested;
      const std::int32_t i = memory->triangleAt[a.firstLeaf], j = memory->triangleAt[b.firstLeaf];
      if (!trianglesTouch(vertices, surface[i], surface[j], tolerance)) continue;
      memory->touching.push_back(i < j ? IndexPair{i, j} : IndexPair{j, i});
    } else if (opensFirst(a, b)) {
      stack.push_back({pair.first + 1, pair.second});
      stack.push_back({a.second, pair.second});
    } else {
      stack.push_back({pair.first, pair.second + 1});
      stack.push_back({pair.first, b.second});
    }
  }
  core::stableSortByKey(memory->touching, stack, [](const IndexPair& p) {
    return static_cast<std::uint64_t>(p.first) << 32 | static_cast<std::uint64_t>(p.second);
  });
}

/// Corners of `a` behind the plane of `b`, as bits. Not those on it: what is beyond such a corner
/// touches `b` or a neighbour of it as well, and in a plane that two faces share all corners are.
std::uint8_t cornersBehind(std::span<const Vec3> vertices, const Triangle& a, const Triangle& b,
                           Real tolerance) {
  const Corners x = cornersOf(vertices, a), y = cornersOf(vertices, b);
  const Vec3 normal = cross(y.x[1] - y.x[0], y.x[2] - y.x[0]);
  const Real room = tolerance * norm(normal);
  int bits = 0;
  for (int k = 0; k < 3; ++k) {
    const bool isBehind = dot(normal, x.x[k] - y.x[0]) < -room;
    if (isBehind) bits |= 1 << k;
  }
  return static_cast<std::uint8_t>(bits);
}

std::int32_t rootOf(std::vector<std::int32_t>& cluster, std::int32_t t) {
  while (cluster[t] != t) t = cluster[t] = cluster[cluster[t]];
  return t;
}

/// The lower index stays the root.
void unite(std::vector<std::int32_t>& cluster, std::int32_t s, std::int32_t t) {
  s = rootOf(cluster, s);
  t = rootOf(cluster, t);
  cluster[s < t ? t : s] = s < t ? s : t;
}

/// Values of SelfProximity::cluster beside the triangle that stands for a cluster.
constexpr std::int32_t kUnknown = -1, kOutside = -2;

/// Puts each triangle that touches others into a cluster with them, and marks its inner corners.
void clusterTouching(std::span<const Vec3> vertices, std::span<const Triangle> surface,
                     Real tolerance, SelfProximity* memory) {
  std::vector<std::int32_t>& cluster = memory->cluster;
  memory->behind.assign(surface.size(), 0);
  cluster.assign(surface.size(), kUnknown);
  for (const IndexPair& pair : memory->touching) {
    for (const std::int32_t t : {pair.first, pair.second}) {
      if (cluster[t] == kUnknown) cluster[t] = t;
    }
    unite(cluster, pair.first, pair.second);
    const Triangle &a = surface[pair.first], &b = surface[pair.second];
    memory->behind[pair.first] |= cornersBehind(vertices, a, b, tolerance);
    memory->behind[pair.second] |= cornersBehind(vertices, b, a, tolerance);
  }
}

bool isOnBounds(std::span<const Vec3> vertices, const Triangle& t, const Aabb& bounds) {
  return std::any_of(t.begin(), t.end(), [&](std::int32_t v) {
    const Vec3& x = vertices[v];
    return x.x == bounds.lower.x || x.y == bounds.lower.y || x.z == bounds.lower.z ||
           x.x == bounds.upper.x || x.y == bounds.upper.y || x.z == bounds.upper.z;
  });
}

/// What can be reached from the outermost corners without crossing a triangle that touches others
/// is in no overlap.
void markOutside(std::span<const Vec3> vertices, std::span<const Triangle> surface,
                 SelfProximity* memory) {
  std::vector<std::int32_t>& cluster = memory->cluster;
  std::vector<std::int32_t>& queue = memory->queue;
  const auto mark = [&](std::int32_t t) {
    if (cluster[t] != kUnknown) return;
    cluster[t] = kOutside;
    queue.push_back(t);
  };
  queue.clear();
  for (std::size_t t = 0; t < surface.size(); ++t) {
    if (isOnBounds(vertices, surface[t], memory->patches[0].box)) {
      mark(static_cast<std::int32_t>(t));
    }
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::int32_t other : memory->beyond[queue[i]]) {
      if (other >= 0) mark(other);
    }
  }
}

/// Adds what can be reached from the inner corners of clusters: with the triangles that touch, this
/// is the skin of every overlap. A corner inside lies behind the plane through which its triangle
/// came in. (Some corners outside do, too; their regions are only larger than need be.)
void growInward(SelfProximity* memory) {
  std::vector<std::int32_t>& cluster = memory->cluster;
  std::vector<std::int32_t>& queue = memory->queue;
  queue.clear();
  for (const IndexPair& pair : memory->touching) {
    queue.push_back(pair.first);
    queue.push_back(pair.second);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::int32_t t = queue[i];
    for (int k = 0; k < 3; ++k) {
      const int ends = 1 << k | 1 << (k + 1) % 3;
      const std::int32_t other = memory->beyond[t][k];
      if (other < 0 || (memory->behind[t] & ends) != ends || cluster[other] == kOutside) continue;
      if (cluster[other] == kUnknown) {
        cluster[other] = other;
        memory->behind[other] = 7;
        queue.push_back(other);
      }
      unite(cluster, t, other);
    }
  }
}

/// Unites boxes until those that are left are disjoint.
void makeDisjoint(std::vector<Aabb>* boxes) {
  const bool isOne = boxes->size() > kMaxRegions;
  const auto uniteOne = [&] {
    for (std::size_t i = 0; i < boxes->size(); ++i) {
      for (std::size_t j = i + 1; j < boxes->size(); ++j) {
        if (!isOne && !(*boxes)[i].overlaps((*boxes)[j])) continue;
        (*boxes)[i].merge((*boxes)[j]);
        (*boxes)[j] = boxes->back();
        boxes->pop_back();
        return true;
      }
    }
    return false;
  };
  while (uniteOne()) {
  }
}

void makeRegions(std::span<const Vec3> vertices, std::span<const Triangle> surface, Real tolerance,
                 SelfProximity* memory) {
  clusterTouching(vertices, surface, tolerance, memory);
  markOutside(vertices, surface, memory);
  growInward(memory);
  std::vector<std::int32_t>& cluster = memory->cluster;
  std::vector<std::int32_t>& regionOf = memory->queue;
  regionOf.assign(surface.size(), -1);
  for (std::size_t t = 0; t < surface.size(); ++t) {
    if (cluster[t] < 0) continue;
    const std::int32_t root = rootOf(cluster, static_cast<std::int32_t>(t));
    if (regionOf[root] < 0) {
      regionOf[root] = static_cast<std::int32_t>(memory->regions.size());
      memory->regions.push_back(kEmptyBox);
    }
    Aabb& region = memory->regions[regionOf[root]];
    for (const std::int32_t v : surface[t]) region.merge(vertices[v]);
  }
}

/// Parts within others, whose surfaces need not touch.
void addSwallowedParts(SelfProximity* memory) {
  for (const std::int32_t inner : memory->parts) {
    for (const std::int32_t outer : memory->parts) {
      const Aabb& box = memory->patches[inner].box;
      if (inner != outer && memory->patches[outer].box.contains(box)) {
        memory->regions.push_back(box);
        break;
      }
    }
  }
}

}  // namespace

bool mayTouchItself(std::span<const Vec3> vertices, std::span<const Triangle> surface,
                    SelfProximity* memory) {
  memory->touching.clear();
  memory->regions.clear();
  if (surface.empty()) return false;
  if (memory->triangleAt.size() != surface.size()) buildSelfProximity(vertices, surface, memory);
  refit(vertices, surface, memory);
  const Aabb& bounds = memory->patches[0].box;
  if (!isFinite(bounds)) return false;  // no triangle is
  const Real tolerance = kTouch * (norm(bounds.lower) + norm(bounds.upper));
  findTouching(vertices, surface, tolerance, memory);
  if (!memory->touching.empty()) makeRegions(vertices, surface, tolerance, memory);
  addSwallowedParts(memory);
  for (Aabb& region : memory->regions) region.expand(tolerance);
  makeDisjoint(&memory->regions);
  return !memory->regions.empty();
}

}  // namespace tangere::collision
