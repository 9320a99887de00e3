// SPDX-License-Identifier: Apache-2.0
//
// The tree of patches is made from below: in each round patches that share an edge are joined two
// by two, those first that make the smallest patch and whose normals lean to one side. So every
// patch is connected, which a tree that sorts triangles by place would not give.
#include "collision/kernels/facing_directions.hpp"
#include "collision/self_proximity.hpp"
#include "core/assert.hpp"
#include "core/stable_sort.hpp"

#include <algorithm>
#include <cstddef>

namespace tangere::collision {

namespace {

using core::KeyedIndex;
using geometry::IndexPair;

/// A patch while the tree grows.
struct Joined {
  Aabb box{};
  std::uint32_t facing = 0;
  std::int32_t first = -1, second = -1;  // patches; -1: one triangle
  std::int32_t parent = -1;
  std::int32_t numLeaves = 1;
};

struct Builder {
  std::span<const Vec3> vertices;
  std::span<const Triangle> surface;
  SelfProximity* out;
  std::vector<Joined> nodes{};          // the triangles, then what was joined of them
  std::vector<std::int32_t> patchOf{};  // of each triangle, in this round
  std::vector<std::int32_t> tops{};     // patches without a parent
  std::vector<KeyedIndex> records{}, scratch{};
  std::vector<IndexPair> candidates{};
};

std::uint64_t pairKey(std::int32_t a, std::int32_t b) {
  const std::uint64_t low = static_cast<std::uint32_t>(a < b ? a : b);
  const std::uint64_t high = static_cast<std::uint32_t>(a < b ? b : a);
  return low << 32 | high;
}

void sortRecords(Builder* b) {
  core::stableSortByKey(b->records, b->scratch, [](const KeyedIndex& r) { return r.key; });
}

/// Edges of two triangles; where more meet, or one ends, there is nothing beyond.
void findNeighbours(Builder* b) {
  const std::size_t n = b->surface.size();
  b->out->beyond.assign(n, {-1, -1, -1});
  b->records.clear();
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      b->records.push_back({pairKey(b->surface[t][k], b->surface[t][(k + 1) % 3]),
                            static_cast<std::uint32_t>(3 * t + k)});
    }
  }
  sortRecords(b);
  for (std::size_t i = 0; i < b->records.size();) {
    std::size_t end = i + 1;
    while (end < b->records.size() && b->records[end].key == b->records[i].key) ++end;
    if (end - i == 2) {
      const std::uint32_t p = b->records[i].index, q = b->records[i + 1].index;
      b->out->beyond[p / 3][p % 3] = static_cast<std::int32_t>(q / 3);
      b->out->beyond[q / 3][q % 3] = static_cast<std::int32_t>(p / 3);
    }
    i = end;
  }
}

void addTriangles(Builder* b) {
  const std::int32_t n = static_cast<std::int32_t>(b->surface.size());
  b->nodes.clear();
  for (std::int32_t t = 0; t < n; ++t) {
    const Triangle& corner = b->surface[t];
    const Vec3 &x = b->vertices[corner[0]], &y = b->vertices[corner[1]],
               &z = b->vertices[corner[2]];
    Joined node{.box = {x, x}, .facing = kernel::facingDirections(cross(y - x, z - x))};
    node.box.merge(y);
    node.box.merge(z);
    b->nodes.push_back(node);
    b->patchOf.push_back(t);
    b->tops.push_back(t);
  }
}

void join(Builder* b, std::int32_t first, std::int32_t second) {
  const std::int32_t at = static_cast<std::int32_t>(b->nodes.size());
  Joined node = b->nodes[first];
  const Joined& other = b->nodes[second];
  node.box.merge(other.box);
  node.facing &= other.facing;
  node.numLeaves += other.numLeaves;
  node.first = first;
  node.second = second;
  node.parent = -1;
  b->nodes[first].parent = b->nodes[second].parent = at;
  b->nodes.push_back(node);
  b->tops.push_back(at);
}

/// Pairs of patches that share an edge, best first.
void findCandidates(Builder* b) {
  b->records.clear();
  for (std::size_t t = 0; t < b->surface.size(); ++t) {
    for (const std::int32_t other : b->out->beyond[t]) {
      if (other < 0) continue;
      const std::int32_t p = b->patchOf[t], q = b->patchOf[other];
      if (p < q) b->records.push_back({pairKey(p, q), 0});
    }
  }
  sortRecords(b);
  b->candidates.clear();
  std::uint64_t last = ~std::uint64_t{0};
  for (const KeyedIndex& record : b->records) {
    if (record.key == last) continue;
    last = record.key;
    b->candidates.push_back(
        {static_cast<std::int32_t>(last >> 32), static_cast<std::int32_t>(last & 0xffffffffu)});
  }
  b->records.clear();
  for (std::size_t i = 0; i < b->candidates.size(); ++i) {
    const Joined &p = b->nodes[b->candidates[i].first], &q = b->nodes[b->candidates[i].second];
    Aabb box = p.box;
    box.merge(q.box);
    const double size = squaredNorm(box.upper - box.lower);
    const std::uint64_t isBent = (p.facing & q.facing) == 0 ? std::uint64_t{1} << 63 : 0;
    b->records.push_back({isBent | (core::orderedKey(size) >> 1), static_cast<std::uint32_t>(i)});
  }
  sortRecords(b);
}

void dropJoined(Builder* b) {
  std::erase_if(b->tops, [&](std::int32_t p) { return b->nodes[p].parent >= 0; });
}

/// Joins patches until each part of the surface is one.
void joinConnected(Builder* b) {
  for (findCandidates(b); !b->records.empty(); findCandidates(b)) {
    for (const KeyedIndex& record : b->records) {
      const IndexPair& pair = b->candidates[record.index];
      const bool isFree = b->nodes[pair.first].parent < 0 && b->nodes[pair.second].parent < 0;
      if (isFree) join(b, pair.first, pair.second);
    }
    dropJoined(b);
    for (std::int32_t& p : b->patchOf) {
      if (b->nodes[p].parent >= 0) p = b->nodes[p].parent;
    }
  }
}

void joinParts(Builder* b) {
  while (b->tops.size() > 1) {
    const std::size_t n = b->tops.size();
    for (std::size_t i = 0; i + 1 < n; i += 2) join(b, b->tops[i], b->tops[i + 1]);
    dropJoined(b);
  }
}

/// Writes the tree in depth-first order; placeOf[node] is where each went.
std::vector<std::int32_t> layOut(Builder* b) {
  SelfProximity& out = *b->out;
  std::vector<std::int32_t> placeOf(b->nodes.size(), -1), stack;
  out.patches.clear();
  out.triangleAt.clear();
  if (!b->tops.empty()) stack.push_back(b->tops[0]);
  while (!stack.empty()) {
    const std::int32_t at = stack.back();
    stack.pop_back();
    const Joined& node = b->nodes[at];
    placeOf[at] = static_cast<std::int32_t>(out.patches.size());
    SurfacePatch& patch = out.patches.emplace_back();
    patch.firstLeaf = static_cast<std::int32_t>(out.triangleAt.size());
    patch.numLeaves = node.numLeaves;
    if (node.first < 0) {
      out.triangleAt.push_back(at);
    } else {
      patch.second = placeOf[at] + 2 * b->nodes[node.first].numLeaves;
      stack.push_back(node.second);
      stack.push_back(node.first);
    }
  }
  return placeOf;
}

/// The triangles across the border of every patch.
void findBorders(Builder* b, const std::vector<std::int32_t>& placeOf) {
  SelfProximity& out = *b->out;
  b->records.clear();
  for (std::size_t t = 0; t < b->surface.size(); ++t) {
    for (const std::int32_t other : out.beyond[t]) {
      if (other < 0) continue;
      const std::int32_t leaf = out.patches[placeOf[other]].firstLeaf;
      for (std::int32_t p = static_cast<std::int32_t>(t); p >= 0; p = b->nodes[p].parent) {
        const SurfacePatch& patch = out.patches[placeOf[p]];
        if (leaf >= patch.firstLeaf && leaf < patch.firstLeaf + patch.numLeaves) break;
        b->records.push_back(
            {static_cast<std::uint64_t>(placeOf[p]) << 32 | static_cast<std::uint64_t>(leaf), 0});
      }
    }
  }
  sortRecords(b);
  out.border.clear();
  out.borderStart.assign(out.patches.size() + 1, 0);
  std::uint64_t last = ~std::uint64_t{0};
  for (const KeyedIndex& record : b->records) {
    if (record.key == last) continue;
    last = record.key;
    ++out.borderStart[(last >> 32) + 1];
    out.border.push_back(static_cast<std::int32_t>(last & 0xffffffffu));
  }
  for (std::size_t p = 0; p < out.patches.size(); ++p) out.borderStart[p + 1] += out.borderStart[p];
}

/// Closed surfaces that face outward: the others are walls of cavities.
bool isOuter(const Builder& b, const SurfacePatch& patch) {
  Real volume = 0;
  const Vec3 origin = b.vertices[b.surface[b.out->triangleAt[patch.firstLeaf]][0]];
  for (std::int32_t k = 0; k < patch.numLeaves; ++k) {
    const Triangle& t = b.surface[b.out->triangleAt[patch.firstLeaf + k]];
    volume +=
        dot(cross(b.vertices[t[0]] - origin, b.vertices[t[1]] - origin), b.vertices[t[2]] - origin);
  }
  return volume > 0;
}

}  // namespace

void buildSelfProximity(std::span<const Vec3> restVertices, std::span<const Triangle> surface,
                        SelfProximity* memory) {
  TANGERE_ASSERT(surface.size() < 0x3fffffffu);
  Builder b{.vertices = restVertices, .surface = surface, .out = memory};
  findNeighbours(&b);
  addTriangles(&b);
  joinConnected(&b);
  const std::vector<std::int32_t> partNodes = b.tops;
  const std::int32_t numConnected = static_cast<std::int32_t>(b.nodes.size());
  joinParts(&b);
  const std::vector<std::int32_t> placeOf = layOut(&b);
  findBorders(&b, placeOf);
  memory->parts.clear();
  for (const std::int32_t node : partNodes) {
    if (isOuter(b, memory->patches[placeOf[node]])) memory->parts.push_back(placeOf[node]);
  }
  memory->loose.assign(placeOf.begin() + numConnected, placeOf.end());
}

}  // namespace tangere::collision
