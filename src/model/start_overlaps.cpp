// SPDX-License-Identifier: Apache-2.0
#include "model/start_overlaps.hpp"

#include <tangere/collision.hpp>

#include <algorithm>

namespace tangere::model {

namespace {

/// Whether a rule names the two shapes.
bool isRuled(const ModelData& data, int shape1, int shape2) {
  const int first = std::min(shape1, shape2), second = std::max(shape1, shape2);
  return std::any_of(data.shapePairs.begin(), data.shapePairs.end(), [&](const auto& rule) {
    return rule.shape1 == first && rule.shape2 == second;
  });
}

/// By the bits of both sides.
bool passFilter(const ModelShape& a, const ModelShape& b) {
  const bool isSeenByB = (a.group & b.mask) != 0, isSeenByA = (b.group & a.mask) != 0;
  if (a.isOneSideEnough && b.isOneSideEnough) return isSeenByA || isSeenByB;
  return isSeenByA && isSeenByB;
}

bool isIn(const std::vector<std::pair<int, int>>& pairs, int a, int b) {
  return !pairs.empty() && std::binary_search(pairs.begin(), pairs.end(),
                                              std::pair<int, int>{std::min(a, b), std::max(a, b)});
}

Real thicknessOf(const Shape& shape) {
  if (shape.type() == ShapeType::Plane) return kUnlimited;
  const Vec3 size = shape.localAabb().upper - shape.localAabb().lower;
  return std::min({size.x, size.y, size.z});
}

/// Zero unless it is one to speak of.
Real overlapOf(const ModelData& data, int shape1, int shape2) {
  constexpr Real kPart = 0.01;
  const ModelShape &a = data.shapes[shape1], &b = data.shapes[shape2];
  const Transform X_W1 = data.bodies[a.body].startPose * a.pose;
  const Transform X_W2 = data.bodies[b.body].startPose * b.pose;
  if (!pairSupport(a.shape->type(), b.shape->type()).collide) return 0;
  if (!a.shape->worldAabb(X_W1).overlaps(b.shape->worldAabb(X_W2))) return 0;
  CollisionResult result;
  (void)collide(*a.shape, X_W1, *b.shape, X_W2, CollisionOption::fullContacts(), result);
  Real depth = 0;
  for (const ContactManifold& manifold : result.manifolds())
    depth = std::max(depth, manifold.depth());
  return depth > kPart * std::min(thicknessOf(*a.shape), thicknessOf(*b.shape)) ? depth : 0;
}

bool isFixed(const ModelData& data, int body) { return data.bodies[body].type == BodyType::Fixed; }

/// Whether the robot hangs on the world by a joint that is not Free.
bool isMounted(const ModelData& data, const Tree& tree) {
  const TreeLink& root = data.links[tree.firstLink];
  return root.numJoints > 0 && data.treeJoints[root.firstJoint].type != JointType::Free;
}

}  // namespace

bool mayTouch(const ModelData& data, int index1, int index2) {
  const ModelShape &shape1 = data.shapes[index1], &shape2 = data.shapes[index2];
  if (shape1.body == shape2.body) return false;
  if (data.bodies[shape1.body].type != BodyType::Dynamic &&
      data.bodies[shape2.body].type != BodyType::Dynamic) {
    return false;
  }
  if (!data.shapePairs.empty() && isRuled(data, index1, index2)) return true;
  if (!passFilter(shape1, shape2)) return false;
  return !isIn(data.excludedBodies, shape1.body, shape2.body) &&
         !isIn(data.excludedShapes, index1, index2);
}

std::vector<StartOverlap> findStartOverlaps(const ModelData& data) {
  std::vector<StartOverlap> out;
  std::vector<std::uint8_t> isBase(data.shapes.size());
  const auto numShapes = static_cast<int>(data.shapes.size());
  for (const Tree& tree : data.trees) {
    if (tree.isFreeBody) continue;
    const int root = data.links[tree.firstLink].body;
    const auto isOfTree = [&](int body) {
      const int link = data.linkOfBody[body];
      return link >= tree.firstLink && link < tree.firstLink + tree.numLinks;
    };
    const std::size_t before = out.size();
    std::fill(isBase.begin(), isBase.end(), std::uint8_t{0});
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l) {
      const int body = data.links[l].body;
      const ModelBody& b = data.bodies[body];
      for (int s = b.firstShape; s < b.firstShape + b.numShapes; ++s) {
        for (int other = 0; other < numShapes; ++other) {
          const int otherBody = data.shapes[other].body;
          const bool isSecond = isOfTree(otherBody) && s < other;
          if (!isFixed(data, otherBody) && !isSecond) continue;
          if (!mayTouch(data, s, other)) continue;
          const Real depth = overlapOf(data, s, other);
          if (!(depth > 0)) continue;
          const bool isNeighbour = b.parent == otherBody || data.bodies[otherBody].parent == body;
          out.push_back({s, other, depth, isNeighbour});
          if (body == root && isFixed(data, otherBody) && isMounted(data, tree)) isBase[other] = 1;
        }
      }
    }
    for (std::size_t i = before; i < out.size(); ++i)
      out[i].isWithBase = out[i].isWithBase || isBase[out[i].shape2] != 0;
  }
  return out;
}

void excludeStartOverlaps(ModelData& data) {
  data.excludedShapes.clear();
  if (!data.options.excludeStartOverlaps) return;
  std::vector<std::pair<int, int>> excluded;
  for (const StartOverlap& overlap : findStartOverlaps(data)) {
    if (overlap.isWithBase)
      excluded.emplace_back(std::min(overlap.shape1, overlap.shape2),
                            std::max(overlap.shape1, overlap.shape2));
  }
  std::stable_sort(excluded.begin(), excluded.end());
  data.excludedShapes = std::move(excluded);
}

}  // namespace tangere::model

namespace tangere {

std::vector<StartOverlap> Model::startOverlaps() const { return model::findStartOverlaps(*data_); }

}  // namespace tangere
