// SPDX-License-Identifier: Apache-2.0
#include "collision/bvh_broad_phase_tree.hpp"

#include "core/assert.hpp"

#include <algorithm>

namespace tangere::collision {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// To how much of its surface a leaf may grow before an item of it is placed anew. From 1.2 to 2.5
// the time of a step changes by less than 6 % (1 % or 10 % of 100,000 boxes moving).
constexpr float kReplaceGrowth = 1.5f;

float halfArea(const FloatBox& box) {
  const float x = box.upper[0] - box.lower[0];
  const float y = box.upper[1] - box.lower[1];
  const float z = box.upper[2] - box.lower[2];
  return x * y + y * z + z * x;
}

FloatBox merged(const FloatBox& a, const FloatBox& b) {
  FloatBox box;
  for (int k = 0; k < 3; ++k) {
    box.lower[k] = std::min(a.lower[k], b.lower[k]);
    box.upper[k] = std::max(a.upper[k], b.upper[k]);
  }
  return box;
}

bool sameBox(const FloatBox& a, const FloatBox& b) {
  bool same = true;
  for (int k = 0; k < 3; ++k) same &= (a.lower[k] == b.lower[k]) & (a.upper[k] == b.upper[k]);
  return same;
}

}  // namespace

FloatBox outwardQueryBox(const Aabb& box) {
  constexpr Real kReach = 1e38;
  FloatBox result;
  for (int k = 0; k < 3; ++k) {
    const Real lower = box.lower[k], upper = box.upper[k];
    result.lower[k] = lower < -kReach ? -kInfinity : floatBelow(lower > kReach ? kReach : lower);
    result.upper[k] = upper > kReach ? kInfinity : floatAbove(upper < -kReach ? -kReach : upper);
  }
  return result;
}

void BoxTree::clear() {
  nodes_.clear();
  reference_area_.clear();
  free_nodes_.clear();
  std::fill(place_.begin(), place_.end(), kNone);
  root_ = kNone;
  size_ = 0;
  num_insertions_ = 0;
  built_area_ = 0;
}

void BoxTree::reserveSlots(int numSlots) {
  if (static_cast<int>(place_.size()) < numSlots) place_.resize(numSlots, kNone);
}

void BoxTree::build(std::span<const int> slots, const std::vector<Aabb>& boxes) {
  clear();
  if (slots.empty()) return;
  size_ = static_cast<int>(slots.size());
  build_items_.resize(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const FloatBox box = outwardBox(boxes[slots[i]]);
    BuildItem& item = build_items_[i];
    item.extent = 0;
    for (int k = 0; k < 3; ++k) {
      item.center[k] = 0.5f * (box.lower[k] + box.upper[k]);
      item.extent = std::max(item.extent, box.upper[k] - box.lower[k]);
    }
    item.slot = slots[i];
  }
  const std::span<BuildItem> items(build_items_);

  // Boxes far larger than the rest get branches of their own: among the others each would blow up
  // all the nodes above it.
  std::size_t partEnd[kTreeWidth];
  const int numParts = separateBySize(items, partEnd);
  int level = 0;
  std::size_t capacity = kTreeWidth;  // of a node at `level`
  const auto numChildren = [&](std::size_t count) {
    const std::size_t below = capacity / kTreeWidth;
    return static_cast<int>((count + below - 1) / below);
  };
  const auto fits = [&] {
    int children = 0;
    for (int p = 0; p < numParts; ++p)
      children += numChildren(partEnd[p] - (p > 0 ? partEnd[p - 1] : 0));
    return children <= kTreeWidth;
  };
  while (!fits()) {
    ++level;
    capacity *= kTreeWidth;
  }
  root_ = newNode(level);
  nodes_[root_].parent = kNone;
  std::size_t begin = 0;
  for (int p = 0; p < numParts; ++p) {
    const std::span<BuildItem> part = items.subspan(begin, partEnd[p] - begin);
    buildChildren(root_, part, numChildren(part.size()), level, boxes);
    begin = partEnd[p];
  }
  built_area_ = refitSubtree(root_, boxes);
}

// Orders the items by size class and writes where each class ends. Most sets have one class.
int BoxTree::separateBySize(std::span<BuildItem> items, std::size_t* partEnd) const {
  constexpr int kClassBits = 3;  // a class spans a factor of 8
  constexpr int kNumExponents = 256;
  const auto exponent = [](float extent) {
    return static_cast<int>((std::bit_cast<std::uint32_t>(extent) >> 23) & 0xffu);
  };
  std::size_t histogram[kNumExponents] = {};
  for (const BuildItem& item : items) ++histogram[exponent(item.extent)];
  int median = 0;
  for (std::size_t below = histogram[0]; 2 * below < items.size(); below += histogram[++median]) {
  }

  int numParts = 0;
  std::size_t begin = 0;
  for (int limit = median + kClassBits; begin < items.size(); limit += kClassBits) {
    if (numParts == kTreeWidth - 1) limit = kNumExponents;
    const auto end =
        std::partition(items.begin() + static_cast<std::ptrdiff_t>(begin), items.end(),
                       [&](const BuildItem& item) { return exponent(item.extent) < limit; });
    const std::size_t count = static_cast<std::size_t>(end - items.begin());
    if (count == begin) continue;
    begin = count;
    partEnd[numParts++] = begin;
  }
  return numParts;
}

int BoxTree::newNode(int level) {
  TANGERE_ASSERT(level < kMaxHeight);
  int index;
  if (free_nodes_.empty()) {
    index = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    reference_area_.push_back(0);
  } else {
    index = free_nodes_.back();
    free_nodes_.pop_back();
  }
  TreeNode& node = nodes_[index];
  node = TreeNode{};
  for (int k = 0; k < 3; ++k) {
    std::fill_n(node.lower[k], kTreeWidth, kInfinity);
    std::fill_n(node.upper[k], kTreeWidth, -kInfinity);
    node.bounds.lower[k] = kInfinity;
    node.bounds.upper[k] = -kInfinity;
  }
  std::fill_n(node.child, kTreeWidth, kNone);
  node.parent = kNone;
  node.level = static_cast<std::uint8_t>(level);
  return index;
}

int BoxTree::buildSubtree(std::span<BuildItem> items, int level, const std::vector<Aabb>& boxes) {
  const int index = newNode(level);
  if (level == 0) {
    TreeNode& leaf = nodes_[index];
    for (const BuildItem& item : items) {
      const int lane = leaf.count++;
      leaf.child[lane] = item.slot;
      place_[item.slot] = index * kTreeWidth + lane;
    }
    return index;
  }
  std::size_t below = kTreeWidth;  // capacity of a child
  for (int i = 1; i < level; ++i) below *= kTreeWidth;
  buildChildren(index, items, static_cast<int>((items.size() + below - 1) / below), level, boxes);
  return index;
}

// Splits the items at medians, across the longest side of their centers, until each of the parts is
// one child of `node`.
void BoxTree::buildChildren(int node, std::span<BuildItem> items, int numParts, int level,
                            const std::vector<Aabb>& boxes) {
  if (level == 0) {
    for (const BuildItem& item : items) {
      TreeNode& leaf = nodes_[node];
      const int lane = leaf.count++;
      leaf.child[lane] = item.slot;
      place_[item.slot] = node * kTreeWidth + lane;
    }
    return;
  }
  if (numParts == 1) {
    const int child = buildSubtree(items, level - 1, boxes);
    TreeNode& parent = nodes_[node];
    const int lane = parent.count++;
    parent.child[lane] = child;
    nodes_[child].parent = node;
    nodes_[child].lane = static_cast<std::uint8_t>(lane);
    return;
  }
  float lower[3] = {kInfinity, kInfinity, kInfinity};
  float upper[3] = {-kInfinity, -kInfinity, -kInfinity};
  for (const BuildItem& item : items) {
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], item.center[k]);
      upper[k] = std::max(upper[k], item.center[k]);
    }
  }
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (upper[k] - lower[k] > upper[axis] - lower[axis]) axis = k;

  const int numLeft = numParts / 2;
  const std::size_t count =
      items.size() * static_cast<std::size_t>(numLeft) / static_cast<std::size_t>(numParts);
  std::nth_element(
      items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count), items.end(),
      [axis](const BuildItem& a, const BuildItem& b) { return a.center[axis] < b.center[axis]; });
  buildChildren(node, items.first(count), numLeft, level, boxes);
  buildChildren(node, items.subspan(count), numParts - numLeft, level, boxes);
}

float BoxTree::refit(const std::vector<Aabb>& boxes) {
  if (root_ == kNone) return 1;
  const float area = refitSubtree(root_, boxes);
  return built_area_ > 0 ? area / built_area_ : 1.0f;
}

// Returns the sum of the surfaces of the leaves below.
float BoxTree::refitSubtree(int index, const std::vector<Aabb>& boxes) {
  TreeNode& node = nodes_[index];
  float area = 0;
  if (node.isLeaf()) {
    for (int i = 0; i < node.count; ++i) node.setBox(i, outwardBox(boxes[node.child[i]]));
    fitBounds(node);
    area = halfArea(node.bounds);
    reference_area_[index] = area;
    return area;
  }
  for (int i = 0; i < node.count; ++i) {
    area += refitSubtree(node.child[i], boxes);
    node.setBox(i, nodes_[node.child[i]].bounds);
  }
  fitBounds(node);
  return area;
}

void BoxTree::fitBounds(TreeNode& node) const {
  // Unused lanes hold (inf, -inf), so all eight can be folded without looking at the count.
  for (int k = 0; k < 3; ++k) {
    float lower[kTreeWidth], upper[kTreeWidth];
    for (int i = 0; i < kTreeWidth; ++i) {
      lower[i] = node.lower[k][i];
      upper[i] = node.upper[k][i];
    }
    for (int step = kTreeWidth / 2; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) {
        lower[i] = lower[i + step] < lower[i] ? lower[i + step] : lower[i];
        upper[i] = upper[i + step] > upper[i] ? upper[i + step] : upper[i];
      }
    }
    node.bounds.lower[k] = lower[0];
    node.bounds.upper[k] = upper[0];
  }
}

void BoxTree::insert(int slot, const FloatBox& box) {
  TANGERE_ASSERT(place_[slot] == kNone);
  if (root_ == kNone) root_ = newNode(0);
  insertAtLevel(slot, box, 0);
  ++size_;
  ++num_insertions_;
}

void BoxTree::insertAtLevel(int child, const FloatBox& box, int level) {
  int index = root_;
  while (nodes_[index].level > level) {
    const TreeNode& node = nodes_[index];
    // The child that grows least in surface; of equals the smallest.
    int best = 0;
    float bestGrowth = kInfinity, bestArea = kInfinity;
    for (int i = 0; i < node.count; ++i) {
      const FloatBox own = node.box(i);
      const float area = halfArea(own);
      const float growth = halfArea(merged(own, box)) - area;
      if (growth < bestGrowth || (growth == bestGrowth && area < bestArea)) {
        best = i;
        bestGrowth = growth;
        bestArea = area;
      }
    }
    index = node.child[best];
  }
  addChild(index, child, box);
}

// Adds a child to a node, splitting it and the ones above where they are full.
void BoxTree::addChild(int index, int child, const FloatBox& box) {
  if (nodes_[index].count < kTreeWidth) {
    TreeNode& node = nodes_[index];
    const int lane = node.count++;
    node.child[lane] = child;
    node.setBox(lane, box);
    adopt(index, lane);
    fitUpward(index);
    if (node.isLeaf()) reference_area_[index] = halfArea(node.bounds);
    return;
  }
  const int sibling = splitNode(index, child, box);
  if (index == root_) {
    const int root = newNode(nodes_[index].level + 1);
    root_ = root;
    TreeNode& node = nodes_[root];
    node.count = 1;
    node.child[0] = index;
    node.setBox(0, nodes_[index].bounds);
    adopt(root, 0);
  } else {
    fitUpward(index);
  }
  const FloatBox bounds = nodes_[sibling].bounds;  // a copy: the next split may move the nodes
  addChild(nodes_[index].parent, sibling, bounds);
}

// Distributes the children of a full node and one more over it and a new sibling, which is
// returned: in order of their centers along the axis on which these spread most, cut where the sum
// of the two surfaces is least.
int BoxTree::splitNode(int index, int child, const FloatBox& box) {
  constexpr int kCount = kTreeWidth + 1;
  struct Entry {
    FloatBox box;
    int child;
  };
  const int sibling = newNode(nodes_[index].level);
  TreeNode& node = nodes_[index];
  TreeNode& other = nodes_[sibling];

  Entry entries[kCount];
  for (int i = 0; i < kTreeWidth; ++i) entries[i] = {node.box(i), node.child[i]};
  entries[kTreeWidth] = {box, child};

  int axis = 0;
  float widest = -1;
  for (int k = 0; k < 3; ++k) {
    float low = kInfinity, high = -kInfinity;
    for (const Entry& entry : entries) {
      const float center = entry.box.lower[k] + entry.box.upper[k];
      low = std::min(low, center);
      high = std::max(high, center);
    }
    if (high - low > widest) {
      widest = high - low;
      axis = k;
    }
  }
  const auto center = [axis](const Entry& e) { return e.box.lower[axis] + e.box.upper[axis]; };
  for (int i = 1; i < kCount; ++i) {
    const Entry entry = entries[i];
    int hole = i;
    for (; hole > 0 && center(entries[hole - 1]) > center(entry); --hole)
      entries[hole] = entries[hole - 1];
    entries[hole] = entry;
  }

  float areaFrom[kCount];  // of the entries i, i + 1, ... to the end
  FloatBox bounds = entries[kCount - 1].box;
  for (int i = kCount - 1; i >= 0; --i) {
    bounds = merged(bounds, entries[i].box);
    areaFrom[i] = halfArea(bounds);
  }
  constexpr int kMinCount = 3;
  int cut = kMinCount;
  float best = kInfinity;
  bounds = entries[0].box;
  for (int i = 1; i <= kCount - kMinCount; ++i) {
    bounds = merged(bounds, entries[i - 1].box);
    const float cost =
        halfArea(bounds) * static_cast<float>(i) + areaFrom[i] * static_cast<float>(kCount - i);
    if (i >= kMinCount && cost < best) {
      best = cost;
      cut = i;
    }
  }

  const FloatBox empty{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  node.count = 0;
  for (int i = 0; i < kTreeWidth; ++i) {
    node.setBox(i, empty);
    node.child[i] = kNone;
  }
  for (int i = 0; i < kCount; ++i) {
    const int target = i < cut ? index : sibling;
    TreeNode& into = i < cut ? node : other;
    const int lane = into.count++;
    into.child[lane] = entries[i].child;
    into.setBox(lane, entries[i].box);
    adopt(target, lane);
  }
  fitBounds(node);
  fitBounds(other);
  reference_area_[index] = halfArea(node.bounds);
  reference_area_[sibling] = halfArea(other.bounds);
  return sibling;
}

// Tells the child in a lane where it now is.
void BoxTree::adopt(int index, int lane) {
  const TreeNode& node = nodes_[index];
  if (node.isLeaf()) {
    place_[node.child[lane]] = index * kTreeWidth + lane;
  } else {
    nodes_[node.child[lane]].parent = index;
    nodes_[node.child[lane]].lane = static_cast<std::uint8_t>(lane);
  }
}

void BoxTree::remove(int slot) {
  const int place = place_[slot];
  TANGERE_ASSERT(place != kNone);
  place_[slot] = kNone;
  --size_;
  removeLane(place / kTreeWidth, place % kTreeWidth);
}

void BoxTree::removeLane(int index, int lane) {
  TreeNode& node = nodes_[index];
  const int last = --node.count;
  if (lane != last) {
    node.child[lane] = node.child[last];
    node.setBox(lane, node.box(last));
    adopt(index, lane);
  }
  node.child[last] = kNone;
  node.setBox(last, {{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}});
  if (node.count > 0) {
    fitUpward(index);
    return;
  }
  const int parent = node.parent;
  free_nodes_.push_back(index);
  if (parent == kNone)
    root_ = kNone;
  else
    removeLane(parent, node.lane);
}

void BoxTree::move(int slot, const FloatBox& box) {
  const int index = place_[slot] / kTreeWidth;
  TreeNode& node = nodes_[index];
  node.setBox(place_[slot] % kTreeWidth, box);
  fitUpward(index);
  const float area = halfArea(node.bounds);
  if (!(area > kReplaceGrowth * reference_area_[index]) || node.count == 1) return;
  remove(slot);
  reference_area_[index] = halfArea(nodes_[index].bounds);
  insert(slot, box);
}

// Recomputes the bounds of a node and of those above it, as far up as something changes.
void BoxTree::fitUpward(int index) {
  for (;;) {
    TreeNode& node = nodes_[index];
    fitBounds(node);
    if (node.parent == kNone) return;
    TreeNode& parent = nodes_[node.parent];
    if (sameBox(parent.box(node.lane), node.bounds)) return;
    parent.setBox(node.lane, node.bounds);
    index = node.parent;
  }
}

}  // namespace tangere::collision
