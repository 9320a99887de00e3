// SPDX-License-Identifier: Apache-2.0
#include "geometry/bvh.hpp"

#include "geometry/bvh_nearest.hpp"
#include "geometry/query_helpers.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <memory>

namespace tangere::geometry {

namespace {

struct Box4 {
  Float4 lower = splat(FLT_MAX);
  Float4 upper = splat(-FLT_MAX);

  void merge(const Box4& o) {
    lower = min4(lower, o.lower);
    upper = max4(upper, o.upper);
  }
  void merge(const BvhPrimitive& p) {
    lower = min4(lower, p.lower);
    upper = max4(upper, p.upper);
  }
  [[nodiscard]] float halfArea() const {
    const Float4 d = upper - lower;
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
  }
};

struct Range {
  int begin = 0;
  int end = 0;
  Box4 box;
  [[nodiscard]] int size() const { return end - begin; }
};

class Builder {
 public:
  Builder(std::span<BvhPrimitive> primitives, std::vector<BvhNode>& nodes)
      : prims_(primitives),
        scratch_(std::make_unique_for_overwrite<BvhPrimitive[]>(primitives.size())),
        nodes_(nodes) {}

  void run() {
    Range all{0, static_cast<int>(prims_.size()), {}};
    for (const BvhPrimitive& p : prims_) all.box.merge(p);
    nodes_.reserve(prims_.size() / 6 + 4);
    makeNode(all, 0);
  }

 private:
  // Ranges up to this size are split in the middle of the order of their centres, which costs less
  // than bins and fills the leaves.
  static constexpr int kSmall = 16;
  static constexpr int kBins = 16;

  int makeNode(const Range& range, int depth) {
    Range parts[4];
    int count = 1;
    parts[0] = range;
    while (count < 4) {
      int widest = -1;
      float area = -1;
      for (int i = 0; i < count; ++i) {
        if (parts[i].size() <= Bvh::kLeafSize) continue;
        const float a = parts[i].box.halfArea();
        if (a > area) {
          area = a;
          widest = i;
        }
      }
      if (widest < 0) break;
      Range left, right;
      split(parts[widest], depth, left, right);
      parts[widest] = left;
      parts[count++] = right;
    }

    const int index = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    BvhNode node;
    for (int i = 0; i < 4; ++i) {
      const bool used = i < count && parts[i].size() > 0;
      for (int k = 0; k < 3; ++k) {
        node.lower[k][i] = used ? parts[i].box.lower[k] : FLT_MAX;
        node.upper[k][i] = used ? parts[i].box.upper[k] : -FLT_MAX;
      }
      node.child[i] = used ? parts[i].begin : -1;
      node.count[i] = used ? parts[i].size() : -1;
    }
    for (int i = 0; i < count; ++i) {
      if (parts[i].size() <= Bvh::kLeafSize) continue;
      node.child[i] = makeNode(parts[i], depth + 1);
      node.count[i] = 0;
    }
    nodes_[index] = node;
    return index;
  }

  void split(const Range& range, int depth, Range& left, Range& right) {
    const Float4 extent = range.box.upper - range.box.lower;
    int axis = 0;
    if (extent[1] > extent[axis]) axis = 1;
    if (extent[2] > extent[axis]) axis = 2;
    // Deep in a lopsided tree only halving keeps the depth bounded.
    const bool halve = depth > Bvh::kMaxDepth - 32;
    if (range.size() <= kSmall || halve || !splitByBins(range, axis, left, right))
      splitInMiddle(range, axis, left, right);
  }

  bool splitByBins(const Range& range, int axis, Range& left, Range& right) {
    const float lower = range.box.lower[axis], upper = range.box.upper[axis];
    const float width = upper - lower;
    if (!(width > 0)) return false;
    // The sum of both ends stands for twice the centre.
    const float k = (kBins * 0.5f) / width;
    const float offset = -lower * 2 * k;
    Box4 box[kBins];
    int number[kBins] = {};
    for (int i = range.begin; i < range.end; ++i) {
      const int b = binOf(prims_[i], axis, k, offset);
      box[b].merge(prims_[i]);
      ++number[b];
    }
    Box4 fromRight[kBins];
    Box4 acc;
    for (int b = kBins - 1; b > 0; --b) {
      acc.merge(box[b]);
      fromRight[b] = acc;
    }
    acc = {};
    int below = 0, bestBin = -1, bestBelow = 0;
    float bestCost = FLT_MAX;
    Box4 bestLeft;
    for (int b = 0; b + 1 < kBins; ++b) {
      acc.merge(box[b]);
      below += number[b];
      const int above = range.size() - below;
      if (below == 0 || above == 0) continue;
      const float cost = acc.halfArea() * float(below) + fromRight[b + 1].halfArea() * float(above);
      if (cost < bestCost) {
        bestCost = cost;
        bestBin = b;
        bestBelow = below;
        bestLeft = acc;
      }
    }
    if (bestBin < 0) return false;
    partition(range,
              [&](const BvhPrimitive& p, int) { return binOf(p, axis, k, offset) <= bestBin; });
    left = {range.begin, range.begin + bestBelow, bestLeft};
    right = {range.begin + bestBelow, range.end, fromRight[bestBin + 1]};
    return true;
  }

  static int binOf(const BvhPrimitive& p, int axis, float k, float offset) {
    const int b = static_cast<int>((p.lower[axis] + p.upper[axis]) * k + offset);
    return b < 0 ? 0 : (b >= kBins ? kBins - 1 : b);
  }

  void splitInMiddle(const Range& range, int axis, Range& left, Range& right) {
    const int n = range.size();
    // Whole leaves on the left.
    int half = n / 2;
    if (n <= kSmall) half = (half + Bvh::kLeafSize - 1) / Bvh::kLeafSize * Bvh::kLeafSize;
    if (half >= n) half = n / 2;
    if (n <= kSmall) {
      int rank[kSmall];
      rankByCenter(range, axis, rank);
      partition(range, [&](const BvhPrimitive&, int i) { return rank[i - range.begin] < half; });
    }
    left = {range.begin, range.begin + half, {}};
    right = {range.begin + half, range.end, {}};
    for (int i = left.begin; i < left.end; ++i) left.box.merge(prims_[i]);
    for (int i = right.begin; i < right.end; ++i) right.box.merge(prims_[i]);
  }

  /// Moves those with isLeft(primitive, its place) to the front; both parts keep their order. The
  /// outcome of isLeft cannot be predicted, so nothing branches on it.
  template <class IsLeft>
  void partition(const Range& range, const IsLeft& isLeft) {
    int numLeft = 0, numRight = 0;
    for (int i = range.begin; i < range.end; ++i) {
      const BvhPrimitive p = prims_[i];
      const int goesLeft = isLeft(p, i) ? 1 : 0;
      prims_[range.begin + numLeft] = p;
      scratch_[numRight] = p;
      numLeft += goesLeft;
      numRight += 1 - goesLeft;
    }
    std::copy_n(scratch_.get(), numRight, prims_.begin() + range.begin + numLeft);
  }

  /// Places in the order of the centres along an axis; ties keep their order.
  void rankByCenter(const Range& range, int axis, int* rank) const {
    const int n = range.size();
    float key[kSmall];
    for (int i = 0; i < n; ++i)
      key[i] = prims_[range.begin + i].lower[axis] + prims_[range.begin + i].upper[axis];
    for (int i = 0; i < n; ++i) rank[i] = 0;
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < i; ++j) {
        const int after = key[j] <= key[i] ? 1 : 0;
        rank[i] += after;
        rank[j] += 1 - after;
      }
  }

  std::span<BvhPrimitive> prims_;
  std::unique_ptr<BvhPrimitive[]> scratch_;
  std::vector<BvhNode>& nodes_;
};

}  // namespace

void Bvh::setFrame(const Aabb& bounds) {
  center = bounds.center();
  const Vec3 h = bounds.halfExtents();
  const Real extent = std::fmax(h.x, std::fmax(h.y, h.z));
  int exponent = 0;
  // Smaller than that is a point: one over it would not be finite.
  std::frexp(extent > Real(1e-200) ? extent : Real(1), &exponent);
  scale = std::ldexp(Real(1), exponent);
  inverseScale = std::ldexp(Real(1), -exponent);
}

void Bvh::build(std::span<BvhPrimitive> primitives) {
  nodes.clear();
  Builder(primitives, nodes).run();
  order.resize(primitives.size());
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    const float bits = primitives[i].lower[3];
    std::int32_t index;
    std::memcpy(&index, &bits, sizeof index);
    order[i] = index;
  }
}

PointInTree::PointInTree(const Bvh& bvh, const Vec3& p) : inverseScale_(bvh.inverseScale) {
  const Vec3 unit = bvh.toUnit(p);
  for (int k = 0; k < 3; ++k) p_[k] = splat(float(unit[k]));
  slack_ = Bvh::kUnitSlack * (1 + float(maxAbs(unit)));
}

float PointInTree::reach(Real squaredDistance) const {
  const Real r = std::sqrt(squaredDistance) * inverseScale_;
  // Squares of more than that are not floats: then everything is within reach.
  if (!(r < Real(1e15))) return std::numeric_limits<float>::infinity();
  const float bound = float(r) * 1.00001f + slack_;
  return bound * bound;
}

}  // namespace tangere::geometry
