// SPDX-License-Identifier: Apache-2.0
#include "geometry/linear_bvh.hpp"

#include "core/assert.hpp"
#include "core/stable_sort.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace tangere::geometry {

namespace {

constexpr int kBitsPerAxis = 21;

/// Cell of the grid of 2^21 cells per axis; a coordinate that is not finite goes to an end.
std::uint32_t cellOf(Real coordinate, Real lower, Real cellsPerMetre) {
  constexpr Real kLast = Real((1u << kBitsPerAxis) - 1);
  const Real cell = (coordinate - lower) * cellsPerMetre;
  if (!(cell > 0)) return 0;
  return static_cast<std::uint32_t>(cell < kLast ? cell : kLast);
}

Real cellsPerMetre(Real extent) {
  const Real cells = Real(1u << kBitsPerAxis) / extent;
  return extent > 0 && cells < std::numeric_limits<Real>::max() ? cells : 0;
}

float roundedDown(Real x) {
  const float f = static_cast<float>(x);
  return Real(f) <= x ? f : std::nextafter(f, -std::numeric_limits<float>::infinity());
}

float roundedUp(Real x) {
  const float f = static_cast<float>(x);
  return Real(f) >= x ? f : std::nextafter(f, std::numeric_limits<float>::infinity());
}

bool isFinite(const Vec3& v) {
  const Real sum = v.x + v.y + v.z;
  return sum - sum == 0;
}

/// The box of a leaf. One that is not a box (NaN somewhere) becomes the empty one, which overlaps
/// nothing and leaves the bounds of the others alone.
Aabb leafBox(const Aabb& box) {
  if (box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z) {
    return box;
  }
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  return {{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
}

Real largestCoordinate(const Aabb& box) {
  Real largest = 0;
  for (int k = 0; k < 3; ++k) {
    largest = std::fmax(largest, std::fmax(std::fabs(box.lower[k]), std::fabs(box.upper[k])));
  }
  return largest;
}

}  // namespace

std::uint64_t mortonCode(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const auto spread = [](std::uint64_t v) {
    v &= 0x1fffffu;
    v = (v | v << 32) & 0x001f00000000ffffu;
    v = (v | v << 16) & 0x001f0000ff0000ffu;
    v = (v | v << 8) & 0x100f00f00f00f00fu;
    v = (v | v << 4) & 0x10c30c30c30c30c3u;
    v = (v | v << 2) & 0x1249249249249249u;
    return v;
  };
  return spread(x) << 2 | spread(y) << 1 | spread(z);
}

int findSplit(const std::uint64_t* codes, int first, int last) {
  const std::uint64_t differing = codes[first] ^ codes[last];
  if (differing == 0) return first + (last - first) / 2;
  const std::uint64_t highest = std::uint64_t{1} << (63 - std::countl_zero(differing));
  // codes[low] has the bit clear, codes[high] has it set.
  int low = first, high = last;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    ((codes[middle] & highest) == 0 ? low : high) = middle;
  }
  return low;
}

void LinearBvh::build(std::span<const Aabb> boxes, std::span<const ValueRange> values) {
  TANGERE_ASSERT(values.empty() || values.size() == boxes.size());
  sortByCode(boxes);
  makeTopology();
  if (values.data() != values_.data()) values_.assign(values.begin(), values.end());
  refit(boxes);
  built_quality_ = quality_;
}

void LinearBvh::refit(std::span<const Aabb> boxes) {
  TANGERE_ASSERT(boxes.size() == order_.size());
  quality_ = 0;
  for (int k = static_cast<int>(nodes_.size()) - 1; k >= 0; --k) {
    LinearBvhNode& node = nodes_[k];
    if (node.primitive >= 0) {
      node.box = leafBox(boxes[node.primitive]);
      const bool hasValue = !values_.empty();
      const float infinity = std::numeric_limits<float>::infinity();
      node.valueLower = hasValue ? roundedDown(values_[node.primitive].lower) : -infinity;
      node.valueUpper = hasValue ? roundedUp(values_[node.primitive].upper) : infinity;
      continue;
    }
    const LinearBvhNode& left = nodes_[k + 1];
    const LinearBvhNode& right = nodes_[left.skip];
    node.box = left.box;
    node.box.merge(right.box);
    node.valueLower = left.valueLower < right.valueLower ? left.valueLower : right.valueLower;
    node.valueUpper = left.valueUpper > right.valueUpper ? left.valueUpper : right.valueUpper;
    quality_ += node.box.halfArea();
  }
}

bool LinearBvh::update(std::span<const Aabb> boxes) {
  if (boxes.size() != order_.size()) {
    build(boxes);
    return true;
  }
  refit(boxes);
  if (quality_ <= options_.rebuildGrowth * built_quality_) return false;
  build(boxes, values_);
  return true;
}

void LinearBvh::sortByCode(std::span<const Aabb> boxes) {
  const std::size_t n = boxes.size();
  order_.resize(n);
  codes_.resize(n);
  if (n == 0) return;
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Aabb centers{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  for (const Aabb& box : boxes) {
    const Vec3 center = box.center();
    if (isFinite(center)) centers.merge(center);
  }
  Vec3 scale;
  for (int k = 0; k < 3; ++k) scale[k] = cellsPerMetre(centers.upper[k] - centers.lower[k]);

  thread_local std::vector<core::KeyedIndex> records, scratch;
  records.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 c = boxes[i].center();
    records[i] = {
        mortonCode(cellOf(c.x, centers.lower.x, scale.x), cellOf(c.y, centers.lower.y, scale.y),
                   cellOf(c.z, centers.lower.z, scale.z)),
        static_cast<std::uint32_t>(i)};
  }
  core::stableSortByKey(records, scratch, [](const core::KeyedIndex& r) { return r.key; });
  for (std::size_t i = 0; i < n; ++i) {
    order_[i] = static_cast<std::int32_t>(records[i].index);
    codes_[i] = records[i].key;
  }
}

void LinearBvh::makeTopology() {
  const int n = size();
  nodes_.resize(n == 0 ? 0 : 2 * static_cast<std::size_t>(n) - 1);
  if (n == 0) return;
  struct Range {
    int node, first, last;
  };
  Range stack[kMaxDepth + 8];
  int top = 0;
  stack[top++] = {0, 0, n - 1};
  while (top > 0) {
    const Range range = stack[--top];
    const int count = range.last - range.first + 1;
    LinearBvhNode& node = nodes_[range.node];
    node.skip = range.node + 2 * count - 1;
    node.primitive = count == 1 ? order_[range.first] : -1;
    if (count == 1) continue;
    const int split = findSplit(codes_.data(), range.first, range.last);
    const int right = range.node + 2 * (split - range.first + 1);
    stack[top++] = {right, split + 1, range.last};
    stack[top++] = {range.node + 1, range.first, split};
  }
}

void LinearBvh::query(const Aabb& box, std::vector<std::int32_t>* out) const {
  queryNodes([&](const LinearBvhNode& node) { return node.box.overlaps(box); }, out);
}

void LinearBvh::pairs(const LinearBvh& other, const Transform& X_AB, Real margin,
                      std::vector<IndexPair>* out) const {
  out->clear();
  if (empty() || other.empty()) return;
  // A box around a moved box is rounded; around the box of a parent, rounded differently.
  const Real slack = 32 * std::numeric_limits<Real>::epsilon() *
                     (largestCoordinate(bounds()) + largestCoordinate(other.bounds()) +
                      largestCoordinate({X_AB.translation, X_AB.translation}));
  struct Entry {
    std::int32_t a, b;
    Aabb boxB;  // in the frame of this tree, with the margin
  };
  const auto boxIn = [&](const LinearBvhNode& node) {
    Aabb box = transformed(node.box, X_AB);
    box.expand(node.primitive >= 0 ? margin : margin + slack);
    return box;
  };
  Entry stack[2 * kMaxDepth + 8];
  int top = 0;
  stack[top++] = {0, 0, boxIn(other.nodes_[0])};
  while (top > 0) {
    const Entry entry = stack[--top];
    const LinearBvhNode& nodeA = nodes_[entry.a];
    const LinearBvhNode& nodeB = other.nodes_[entry.b];
    if (!(nodeA.valueLower <= nodeB.valueUpper && nodeB.valueLower <= nodeA.valueUpper)) continue;
    if (!nodeA.box.overlaps(entry.boxB)) continue;
    if (nodeA.primitive >= 0 && nodeB.primitive >= 0) {
      out->push_back({nodeA.primitive, nodeB.primitive});
    } else if (descendsFirst(nodeA, nodeB)) {
      stack[top++] = {entry.a + 1, entry.b, entry.boxB};
      stack[top++] = {nodes_[entry.a + 1].skip, entry.b, entry.boxB};
    } else {
      const std::int32_t left = entry.b + 1, right = other.nodes_[left].skip;
      stack[top++] = {entry.a, left, boxIn(other.nodes_[left])};
      stack[top++] = {entry.a, right, boxIn(other.nodes_[right])};
    }
  }
  sortPairs(out);
}

void LinearBvh::pairs(const LinearBvh& other, std::vector<IndexPair>* out) const {
  out->clear();
  if (empty() || other.empty()) return;
  NodePair stack[2 * kMaxDepth + 8];
  int top = 0;
  stack[top++] = {0, 0};
  while (top > 0) {
    const NodePair pair = stack[--top];
    const LinearBvhNode& nodeA = nodes_[pair.a];
    const LinearBvhNode& nodeB = other.nodes_[pair.b];
    if (!overlaps(nodeA, nodeB)) continue;
    if (nodeA.primitive >= 0 && nodeB.primitive >= 0) {
      out->push_back({nodeA.primitive, nodeB.primitive});
    } else if (descendsFirst(nodeA, nodeB)) {
      stack[top++] = {pair.a + 1, pair.b};
      stack[top++] = {nodes_[pair.a + 1].skip, pair.b};
    } else {
      stack[top++] = {pair.a, pair.b + 1};
      stack[top++] = {pair.a, other.nodes_[pair.b + 1].skip};
    }
  }
  sortPairs(out);
}

void LinearBvh::selfPairs(std::vector<IndexPair>* out) const {
  selfPairs([](std::int32_t, std::int32_t) { return true; }, out);
}

void LinearBvh::sortIndices(std::vector<std::int32_t>* indices) {
  thread_local std::vector<std::int32_t> scratch;
  core::stableSortByKey(*indices, scratch,
                        [](std::int32_t i) { return static_cast<std::uint64_t>(i); });
}

void LinearBvh::sortPairs(std::vector<IndexPair>* pairs) {
  thread_local std::vector<IndexPair> scratch;
  core::stableSortByKey(*pairs, scratch, [](const IndexPair& p) {
    return static_cast<std::uint64_t>(p.first) << 32 | static_cast<std::uint64_t>(p.second);
  });
}

}  // namespace tangere::geometry
