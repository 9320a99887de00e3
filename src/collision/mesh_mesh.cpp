// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_mesh.hpp"

#include "collision/kernels/patch_selection.hpp"
#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_distance.hpp"
#include "collision/mesh_traversal.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/signed_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace tangere::collision {

namespace {

using geometry::MeshData;

// ---- Two trees at once ------------------------------------------------------------------------

/// A box of one of the trees in the unit coordinates of its own tree.
struct UnitBox {
  float center[3];
  float half[3];
};

/// Sees boxes of the other tree from one of the two.
class OtherTree {
 public:
  /// X is the pose of the other mesh in the frame of this one.
  OtherTree(const MeshData& ownMesh, const MeshData& otherMesh, const Transform& X)
      : nodes_(ownMesh.bvh.nodes.data()), facing_(ownMesh.nodeFacing().data()) {
    const Bvh &own = ownMesh.bvh, &other = otherMesh.bvh;
    ratio_ = float(other.scale * own.inverseScale);
    const Vec3 origin = own.toUnit(X * other.center);
    slack_ = 4 * Bvh::kUnitSlack * (1 + float(geometry::maxAbs(origin)) + 2 * ratio_);
    for (int k = 0; k < 3; ++k) {
      origin_[k] = float(origin[k]);
      for (int j = 0; j < 3; ++j) {
        r_[j][k] = float(X.rotation(k, j));
        axis_[j][k] = splat(r_[j][k]);
        absAxis_[j][k] = abs4(axis_[j][k]);
      }
    }
  }

  [[nodiscard]] float slack() const { return slack_; }
  /// Four points of the other tree's unit coordinates in those of this one.
  void transform(Float4 x, Float4 y, Float4 z, Float4* outX, Float4* outY, Float4* outZ) const {
    x = x * ratio_;
    y = y * ratio_;
    z = z * ratio_;
    *outX = axis_[0][0] * x + axis_[1][0] * y + axis_[2][0] * z + origin_[0];
    *outY = axis_[0][1] * x + axis_[1][1] * y + axis_[2][1] * z + origin_[1];
    *outZ = axis_[0][2] * x + axis_[1][2] * y + axis_[2][2] * z + origin_[2];
  }
  /// Sets the box that test() and bounds() compare with.
  void setBox(const UnitBox& box) {
    float c[3] = {origin_[0], origin_[1], origin_[2]}, reach[3] = {0, 0, 0};
    for (int j = 0; j < 3; ++j) {
      const float h = box.half[j] * ratio_, m = box.center[j] * ratio_;
      half_[j] = splat(h);
      for (int k = 0; k < 3; ++k) {
        c[k] += r_[j][k] * m;
        reach[k] += std::fabs(r_[j][k]) * h;
      }
    }
    for (int k = 0; k < 3; ++k) {
      center_[k] = splat(c[k]);
      reach_[k] = splat(reach[k]);
      centerScalar_[k] = c[k];
      halfScalar_[k] = box.half[k] * ratio_;
    }
  }
  /// Bit i: box i may meet the set one; smaller keys overlap more.
  int test(const BvhNode& node, Float4& key) const {
    const Float4 half = splat(0.5f);
    Float4 d[3], g[3];
    Float4 least = splat(1e30f);
    for (int k = 0; k < 3; ++k) {
      d[k] = (node.lower[k] + node.upper[k]) * half - center_[k];
      g[k] = (node.upper[k] - node.lower[k]) * half;
      least = min4(least, reach_[k] + g[k] - abs4(d[k]));
    }
    for (int j = 0; j < 3; ++j) {
      const Float4 s = axis_[j][0] * d[0] + axis_[j][1] * d[1] + axis_[j][2] * d[2];
      const Float4 r = absAxis_[j][0] * g[0] + absAxis_[j][1] * g[1] + absAxis_[j][2] * g[2];
      least = min4(least, half_[j] + r - abs4(s));
    }
    // Most boxes that pass are thin slabs across their mean normal.
    const geometry::NodeFacing& facing = facing_[&node - nodes_];
    Float4 height, reach;
    seenAlong(facing, height, reach);
    least = min4(least, min4(facing.upper - height + reach, height + reach - facing.lower));
    key = -least;
    return maskOf(least >= splat(-slack_));
  }
  /// A direction along which distances are worth measuring, in this frame, unit; towards the other.
  void setDirection(const Vec3& towardOther) {
    for (int k = 0; k < 3; ++k) {
      directionScalar_[k] = float(towardOther[k]);
      direction_[k] = splat(directionScalar_[k]);
    }
    for (int j = 0; j < 3; ++j)
      spread_[j] = std::fabs(directionScalar_[0] * r_[j][0] + directionScalar_[1] * r_[j][1] +
                             directionScalar_[2] * r_[j][2]);
    hasDirection_ = true;
  }
  /// Lower bounds of the distance in unit coordinates of this tree.
  [[nodiscard]] Float4 bounds(const BvhNode& node) const {
    const Float4 half = splat(0.5f), zero = splat(0);
    Float4 d[3], g[3];
    Float4 sum = zero;
    for (int k = 0; k < 3; ++k) {
      d[k] = (node.lower[k] + node.upper[k]) * half - center_[k];
      g[k] = (node.upper[k] - node.lower[k]) * half;
      const Float4 gap = max4(abs4(d[k]) - reach_[k] - g[k], zero);
      sum = sum + gap * gap;
    }
    Float4 own = zero;
    for (int j = 0; j < 3; ++j) {
      const Float4 s = axis_[j][0] * d[0] + axis_[j][1] * d[1] + axis_[j][2] * d[2];
      const Float4 r = absAxis_[j][0] * g[0] + absAxis_[j][1] * g[1] + absAxis_[j][2] * g[2];
      const Float4 gap = max4(abs4(s) - half_[j] - r, zero);
      own = own + gap * gap;
    }
    Float4 bound = sqrt4(max4(sum, own));
    const geometry::NodeFacing& facing = facing_[&node - nodes_];
    Float4 height, across;
    seenAlong(facing, height, across);
    bound = max4(bound, max4(height - across - facing.upper, facing.lower - height - across));
    if (hasDirection_) {
      float low = 0;
      for (int k = 0; k < 3; ++k)
        low += directionScalar_[k] * centerScalar_[k] - spread_[k] * halfScalar_[k];
      const Float4 top = max4(node.lower[0] * direction_[0], node.upper[0] * direction_[0]) +
                         max4(node.lower[1] * direction_[1], node.upper[1] * direction_[1]) +
                         max4(node.lower[2] * direction_[2], node.upper[2] * direction_[2]);
      bound = max4(bound, splat(low) - top);
    }
    return bound * 0.99999f - slack_;
  }

 private:
  /// Height of the set box's centre along the mean normals, and how far the box reaches from it.
  void seenAlong(const geometry::NodeFacing& facing, Float4& height, Float4& reach) const {
    const Float4* const a = facing.axis;
    height = a[0] * center_[0] + a[1] * center_[1] + a[2] * center_[2];
    reach = splat(0);
    for (int j = 0; j < 3; ++j)
      reach = reach + half_[j] * abs4(a[0] * axis_[j][0] + a[1] * axis_[j][1] + a[2] * axis_[j][2]);
  }

  const BvhNode* nodes_;
  const geometry::NodeFacing* facing_;
  float ratio_, slack_;
  float origin_[3], r_[3][3];
  Float4 axis_[3][3], absAxis_[3][3];
  Float4 center_[3] = {}, half_[3] = {}, reach_[3] = {}, direction_[3] = {};
  float centerScalar_[3] = {}, halfScalar_[3] = {}, directionScalar_[3] = {}, spread_[3] = {};
  bool hasDirection_ = false;
};

UnitBox childBox(const BvhNode& node, int i) {
  UnitBox box;
  for (int k = 0; k < 3; ++k) {
    box.center[k] = 0.5f * (node.lower[k][i] + node.upper[k][i]);
    box.half[k] = 0.5f * (node.upper[k][i] - node.lower[k][i]);
  }
  return box;
}

struct NodePair {
  float key;
  BvhRef ref[2];
  UnitBox box[2];
};

float sizeOf(const UnitBox& box) { return box.half[0] + box.half[1] + box.half[2]; }

/// Both trees, the poses of each in the frame of the other, and the common walk.
class DualTraversal {
 public:
  DualTraversal(const MeshData& a, const MeshData& b, const Transform& X_AB)
      : a_(a), b_(b), seen_{{a, b, X_AB}, {b, a, inverse(X_AB)}} {
    ratio_ = float(b.bvh.scale * a.bvh.inverseScale);
  }

  [[nodiscard]] const OtherTree& seenFromFirst() const { return seen_[0]; }
  /// Which of both to open: the larger one that is not a leaf.
  [[nodiscard]] int toOpen(const NodePair& pair) const {
    if (pair.ref[0].count > 0) return 1;
    if (pair.ref[1].count > 0) return 0;
    return sizeOf(pair.box[0]) >= sizeOf(pair.box[1]) * ratio_ ? 0 : 1;
  }
  [[nodiscard]] static NodePair roots() {
    const UnitBox all{{0, 0, 0}, {1.001f, 1.001f, 1.001f}};
    return {0, {{0, 0}, {0, 0}}, {all, all}};
  }

  /// leaf(slotA, countA, slotB, countB) returns true to stop. Ordered: the deepest overlap first.
  template <class Leaf>
  bool visitOverlaps(bool ordered, const Leaf& leaf) {
    Stack stack;
    stack[stack.push()] = roots();
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      if (pair.ref[0].count > 0 && pair.ref[1].count > 0) {
        if (leaf(pair.ref[0].child, pair.ref[0].count, pair.ref[1].child, pair.ref[1].count))
          return true;
        continue;
      }
      const int side = toOpen(pair);
      const BvhNode& node = tree(side).nodes[pair.ref[side].child];
      seen_[side].setBox(pair.box[1 - side]);
      Float4 key;
      const int mask = seen_[side].test(node, key);  // before `key` is read
      push(stack, pair, side, node, key, mask, ordered);
    }
    return false;
  }

  /// leaf(...) may lower `limit` (a distance in metres).
  template <class Leaf>
  void visitNearest(Real& limit, const Leaf& leaf) {
    Stack stack;
    stack[stack.push()] = roots();
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      if (pair.key > unitLimit(limit, 0)) continue;
      if (pair.ref[0].count > 0 && pair.ref[1].count > 0) {
        leaf(pair.ref[0].child, pair.ref[0].count, pair.ref[1].child, pair.ref[1].count);
        continue;
      }
      const int side = toOpen(pair);
      const BvhNode& node = tree(side).nodes[pair.ref[side].child];
      seen_[side].setBox(pair.box[1 - side]);
      Float4 key = seen_[side].bounds(node);
      const int mask = maskOf(key <= splat(unitLimit(limit, side)));
      if (side == 1) key = key * ratio_;  // keys are in the units of the first tree
      push(stack, pair, side, node, key, mask, true);
    }
  }

  /// The direction from a to b, in the frame of a.
  void setDirection(const Vec3& fromAToB_A, const Transform& X_AB) {
    seen_[0].setDirection(fromAToB_A);
    seen_[1].setDirection(-transposeTimes(X_AB.rotation, fromAToB_A));
  }

 private:
  [[nodiscard]] const Bvh& tree(int side) const { return side == 0 ? a_.bvh : b_.bvh; }
  [[nodiscard]] float unitLimit(Real limit, int side) const {
    const Real u = limit * tree(side).inverseScale;
    return u < Real(1e30) ? float(u) * 1.000001f : 1e30f;
  }
  /// A stack whose memory is not cleared.
  class Stack {
   public:
    Stack() : memory_(scratch()) {
      if (memory_.empty()) memory_.resize(1024);
    }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    NodePair pop() { return memory_[--size_]; }
    NodePair& operator[](std::size_t i) { return memory_[i]; }
    std::size_t push() {
      if (size_ == memory_.size()) memory_.resize(2 * size_);
      return size_++;
    }

   private:
    static std::vector<NodePair>& scratch() {
      thread_local std::vector<NodePair> memory;
      return memory;
    }
    std::vector<NodePair>& memory_;
    std::size_t size_ = 0;
  };
  static void push(Stack& stack, const NodePair& pair, int side, const BvhNode& node, Float4 key,
                   int mask, bool ordered) {
    const std::size_t first = stack.size();
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      std::size_t j = stack.push();
      if (ordered)
        while (j > first && stack[j - 1].key < key[i]) {
          stack[j] = stack[j - 1];
          --j;
        }
      NodePair& child = stack[j];
      child.key = key[i];
      child.ref[side] = {node.child[i], node.count[i]};
      child.ref[1 - side] = pair.ref[1 - side];
      child.box[side] = childBox(node, i);
      child.box[1 - side] = pair.box[1 - side];
    }
  }

  const MeshData& a_;
  const MeshData& b_;
  OtherTree seen_[2];
  float ratio_;
};

// ---- Crossing triangles -----------------------------------------------------------------------

struct Crossing {
  int triangleA, triangleB;
  Vec3 p, q;  // frame of A
};

/// Up to four triangles in float, in the unit coordinates of the first tree: most pairs of two
/// leaves are told apart by boxes and planes at once.
class TriangleBlock {
 public:
  /// `corners` are unit coordinates of the second tree, nine per triangle; `seen` takes them to
  /// those of the first.
  TriangleBlock(const OtherTree& seen, const float* corners, int count) : slack_(seen.slack()) {
    constexpr float kFar = 1e9f;  // where a missing triangle is
    for (int k = 0; k < 3; ++k) {
      Float4 x = splat(kFar), y = x, z = x;
      for (int j = 0; j < count; ++j) {
        const float* const p = corners + 9 * j + 3 * k;
        x[j] = p[0];
        y[j] = p[1];
        z[j] = p[2];
      }
      seen.transform(x, y, z, &x_[k], &y_[k], &z_[k]);
    }
    lower_[0] = min4(x_[0], min4(x_[1], x_[2]));
    lower_[1] = min4(y_[0], min4(y_[1], y_[2]));
    lower_[2] = min4(z_[0], min4(z_[1], z_[2]));
    upper_[0] = max4(x_[0], max4(x_[1], x_[2]));
    upper_[1] = max4(y_[0], max4(y_[1], y_[2]));
    upper_[2] = max4(z_[0], max4(z_[1], z_[2]));
  }
  /// Bit j: triangle j may meet the triangle u, given in unit coordinates of the first tree.
  [[nodiscard]] int mayMeet(const float* u) const {
    const float ax = u[0], ay = u[1], az = u[2];
    const float bx = u[3], by = u[4], bz = u[5];
    const float cx = u[6], cy = u[7], cz = u[8];
    const float s = slack_;
    const auto low = [s](float p, float q, float r) { return std::min(p, std::min(q, r)) - s; };
    const auto high = [s](float p, float q, float r) { return std::max(p, std::max(q, r)) + s; };
    const geometry::Int4 boxes =
        (upper_[0] >= splat(low(ax, bx, cx))) & (lower_[0] <= splat(high(ax, bx, cx))) &
        (upper_[1] >= splat(low(ay, by, cy))) & (lower_[1] <= splat(high(ay, by, cy))) &
        (upper_[2] >= splat(low(az, bz, cz))) & (lower_[2] <= splat(high(az, bz, cz)));
    const int mask = maskOf(boxes);
    if (mask == 0) return 0;
    // Heights over the plane of u; the slack is a length times that of the normal.
    const float ex = bx - ax, ey = by - ay, ez = bz - az;
    const float fx = cx - ax, fy = cy - ay, fz = cz - az;
    const float nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
    const float size = (std::fabs(ex) + std::fabs(ey) + std::fabs(ez)) *
                       (std::fabs(fx) + std::fabs(fy) + std::fabs(fz));
    // The boxes overlap, so the vertices are near: rounding of the normal times their offsets.
    Float4 above = splat(1e30f), below = splat(-1e30f), reach = splat(0);
    for (int k = 0; k < 3; ++k) {
      const Float4 dx = x_[k] - ax, dy = y_[k] - ay, dz = z_[k] - az;
      const Float4 h = dx * nx + dy * ny + dz * nz;
      above = min4(above, h);
      below = max4(below, h);
      reach = max4(reach, abs4(dx) + abs4(dy) + abs4(dz));
    }
    const float edge = std::fabs(ex) + std::fabs(ey) + std::fabs(ez) + std::fabs(fx) +
                       std::fabs(fy) + std::fabs(fz);
    const Float4 slack = reach * (edge * s) + size * s;
    return mask & maskOf((above <= slack) & (below >= -slack));
  }

 private:
  Float4 x_[3], y_[3], z_[3];
  Float4 lower_[3], upper_[3];
  float slack_;
};

/// Calls found(crossing) for every pair of triangles that meet; stops when it returns true.
template <class Found>
bool findCrossings(const MeshData& a, const MeshData& b, const Transform& X_AB, bool ordered,
                   const Found& found) {
  DualTraversal both(a, b, X_AB);
  const Real tolerance =
      Real(1e-14) * (std::fmin(a.radius, b.radius) + norm(X_AB * b.center - a.center));
  const float* const unitA = a.unitCorners().data();
  const float* const unitB = b.unitCorners().data();
  return both.visitOverlaps(ordered, [&](int slotA, int countA, int slotB, int countB) {
    const TriangleBlock block(both.seenFromFirst(), unitB + 9 * slotB, countB);
    for (int i = slotA; i < slotA + countA; ++i) {
      int mask = block.mayMeet(unitA + 9 * i);
      if (mask == 0) continue;
      const Vec3* const u = &a.corners[3 * i];
      const int ta = a.bvh.order[i];
      for (int j = 0; mask != 0; ++j, mask >>= 1) {
        if ((mask & 1) == 0) continue;
        const int tb = b.bvh.order[slotB + j];
        const Vec3* const w = &b.corners[3 * (slotB + j)];
        const Vec3 v[3] = {X_AB * w[0], X_AB * w[1], X_AB * w[2]};
        kernel::TriangleCrossing<Real> c;
        if (!kernel::intersectTriangles(u, a.normals[ta], v, X_AB.rotation * b.normals[tb],
                                        tolerance, &c))
          continue;
        if (found(Crossing{ta, tb, c.p, c.q})) return true;
      }
    }
    return false;
  });
}

// ---- Containment ------------------------------------------------------------------------------

/// Whether `inner`, which crosses nothing, lies inside `outer`.
bool isContained(const MeshBody& inner, const MeshBody& outer, const Transform& X_OuterInner) {
  if (!outer.isSolid()) return false;
  const Vec3 p = X_OuterInner * inner.mesh.corners[0];
  if (outer.terrain) return geometry::isBelow(*outer.terrain, p);
  if (!outer.mesh.bounds.contains(p)) return false;
  return geometry::isInside(outer.mesh, p, geometry::closestOnMesh(outer.mesh, p));
}

/// The way out for a contained mesh, in the frame of the outer one; normal from outer to inner.
SurfaceContact contactContained(const MeshBody& inner, const MeshBody& outer,
                                const Transform& X_OI) {
  const SignedDistance way = outer.distanceAt(X_OI * inner.mesh.center);
  const Vec3 n_I = transposeTimes(X_OI.rotation, way.normal);
  const Vec3 deepest = X_OI * geometry::supportOfMesh(inner.mesh, -n_I);
  SurfaceContact contact;
  contact.normal = way.normal;
  contact.depth = std::fmax(dot(way.normal, way.closest - deepest), Real(0));
  contact.position = deepest + way.normal * (Real(0.5) * contact.depth);
  return contact;
}

// ---- Contact regions --------------------------------------------------------------------------

/// Marks that are cleared by counting up instead of writing.
class Marks {
 public:
  void reset(std::size_t size) {
    if (value_.size() < size) {
      value_.resize(size, 0);
      stamp_.resize(size, 0);
    }
    if (++now_ == 0) {
      std::fill(stamp_.begin(), stamp_.end(), 0u);
      now_ = 1;
    }
  }
  [[nodiscard]] int get(int i) const { return stamp_[i] == now_ ? value_[i] : -1; }
  void set(int i, int value) {
    stamp_[i] = now_;
    value_[i] = value;
  }

 private:
  std::vector<int> value_;
  std::vector<unsigned> stamp_;
  unsigned now_ = 0;
};

/// Candidate vertices of one body that may be inside the other.
struct InsideVertices {
  std::vector<int> vertex;
  std::vector<int> triangle;  // one that has it
};

/// From the crossing triangles inwards: vertices behind the other surface, and all that is joined
/// to them without crossing it. `behind(crossing, vertex)` tells the side of a crossing triangle's
/// corner.
template <class Behind, class Verify>
void floodInside(const MeshData& mesh, const std::vector<Crossing>& crossings,
                 const std::vector<int>& members, bool useA, const Marks& crossed, Marks& seen,
                 Marks& vertexSeen, const Behind& behind, const Verify& verify,
                 InsideVertices& out) {
  thread_local std::vector<int> stack;
  out.vertex.clear();
  out.triangle.clear();
  stack.clear();
  const auto addVertex = [&](int t, int k) {
    const int v = mesh.triangles[t][k];
    if (vertexSeen.get(v) >= 0) return;
    vertexSeen.set(v, 1);
    out.vertex.push_back(v);
    out.triangle.push_back(t);
  };
  bool verified = false;
  for (const int m : members) {
    const Crossing& c = crossings[m];
    const int t = useA ? c.triangleA : c.triangleB;
    bool in[3];
    for (int k = 0; k < 3; ++k) {
      in[k] = behind(c, mesh.corner(t, k));
      if (in[k]) addVertex(t, k);
    }
    for (int k = 0; k < 3; ++k) {
      const int next = k == 2 ? 0 : k + 1;
      if (!in[k] || !in[next]) continue;
      const int half = mesh.opposite[3 * t + k];
      if (half < 0) continue;
      const int s = half / 3;
      if (crossed.get(s) >= 0 || seen.get(s) >= 0) continue;
      seen.set(s, 1);
      // The side was told by one triangle's plane: make sure once before going far.
      if (!verified) {
        if (!verify(mesh.corner(t, k))) continue;
        verified = true;
      }
      stack.push_back(s);
    }
  }
  while (!stack.empty()) {
    const int t = stack.back();
    stack.pop_back();
    for (int k = 0; k < 3; ++k) {
      addVertex(t, k);
      const int half = mesh.opposite[3 * t + k];
      if (half < 0) continue;
      const int s = half / 3;
      if (crossed.get(s) >= 0 || seen.get(s) >= 0) continue;
      seen.set(s, 1);
      stack.push_back(s);
    }
  }
}

class RegionContacts {
 public:
  RegionContacts(const MeshBody& a, const MeshBody& b, const Transform& X_AB,
                 std::vector<SurfaceContact>& out)
      : a_(a), b_(b), X_AB_(X_AB), out_(out) {}

  void run(std::vector<Crossing>& crossings) {
    Scratch& s = scratch();
    s.crossedA.reset(a_.mesh.triangles.size());
    s.crossedB.reset(b_.mesh.triangles.size());
    s.seenA.reset(a_.mesh.triangles.size());
    s.seenB.reset(b_.mesh.triangles.size());
    s.vertexA.reset(a_.mesh.vertices.size());
    s.vertexB.reset(b_.mesh.vertices.size());
    splitIntoRegions(crossings, s);
    for (const std::vector<int>& members : s.regions)
      if (!members.empty()) addRegion(crossings, members, s);
  }

 private:
  struct Scratch {
    Marks crossedA, crossedB, seenA, seenB, vertexA, vertexB;
    std::vector<int> parent, triangles;
    std::vector<std::vector<int>> regions;
    InsideVertices insideA, insideB;
    std::vector<Real> x, y, z, depth, scratch;
  };
  static Scratch& scratch() {
    thread_local Scratch s;
    return s;
  }

  /// Crossed triangles of A that are neighbours belong to one region.
  void splitIntoRegions(const std::vector<Crossing>& crossings, Scratch& s) {
    s.parent.clear();
    s.triangles.clear();
    for (const Crossing& c : crossings) {
      s.crossedB.set(c.triangleB, 1);
      if (s.crossedA.get(c.triangleA) >= 0) continue;
      s.crossedA.set(c.triangleA, static_cast<int>(s.parent.size()));
      s.parent.push_back(static_cast<int>(s.parent.size()));
      s.triangles.push_back(c.triangleA);
    }
    const auto root = [&](int i) {
      while (s.parent[i] != i) i = s.parent[i] = s.parent[s.parent[i]];
      return i;
    };
    for (std::size_t i = 0; i < s.triangles.size(); ++i)
      for (int k = 0; k < 3; ++k) {
        const int half = a_.mesh.opposite[3 * s.triangles[i] + k];
        if (half < 0) continue;
        const int j = s.crossedA.get(half / 3);
        if (j < 0) continue;
        const int r0 = root(static_cast<int>(i)), r1 = root(j);
        if (r0 != r1) s.parent[std::max(r0, r1)] = std::min(r0, r1);
      }
    for (std::vector<int>& members : s.regions) members.clear();
    if (s.regions.size() < s.parent.size()) s.regions.resize(s.parent.size());
    for (std::size_t m = 0; m < crossings.size(); ++m)
      s.regions[root(s.crossedA.get(crossings[m].triangleA))].push_back(static_cast<int>(m));
  }

  /// From B to A: outward from B and against the outside of A, weighted by the crossing line.
  [[nodiscard]] Vec3 regionNormal(const std::vector<Crossing>& crossings,
                                  const std::vector<int>& members) const {
    Vec3 sum{};
    const Vec3 towardA = a_.mesh.center - X_AB_ * b_.mesh.center;
    for (const int m : members) {
      const Crossing& c = crossings[m];
      const Real length = norm(c.q - c.p) + Real(1e-9) * a_.mesh.radius;
      const Vec3 nB = X_AB_.rotation * b_.mesh.normals[c.triangleB];
      if (a_.isSolid()) sum -= a_.mesh.normals[c.triangleA] * length;
      if (b_.isSolid()) sum += nB * length;
      if (!a_.isSolid() && !b_.isSolid()) sum += (dot(nB, towardA) >= 0 ? nB : -nB) * length;
    }
    const Real length = norm(sum);
    if (length > 0) return sum / length;
    return X_AB_.rotation * b_.mesh.normals[crossings[members[0]].triangleB];
  }

  void addRegion(const std::vector<Crossing>& crossings, const std::vector<int>& members,
                 Scratch& s) {
    const Vec3 n = regionNormal(crossings, members);
    const std::size_t before = out_.size();
    if (b_.isSolid()) {
      floodInside(
          a_.mesh, crossings, members, true, s.crossedA, s.seenA, s.vertexA,
          [&](const Crossing& c, const Vec3& v) {
            const Vec3 q = inverseTimes(X_AB_, v);
            return dot(b_.mesh.normals[c.triangleB], q - b_.mesh.corner(c.triangleB, 0)) < 0;
          },
          [&](const Vec3& v) { return b_.distanceAt(inverseTimes(X_AB_, v)).distance < 0; },
          s.insideA);
      choose(s.insideA, a_.mesh, -n, s);
      for (int i = 0; i < numChosen_; ++i) {
        const int at = chosen_[i];
        addVertexOfA(s.insideA.triangle[at], a_.mesh.vertices[s.insideA.vertex[at]]);
      }
    }
    if (a_.isSolid()) {
      floodInside(
          b_.mesh, crossings, members, false, s.crossedB, s.seenB, s.vertexB,
          [&](const Crossing& c, const Vec3& v) {
            return dot(a_.mesh.normals[c.triangleA], X_AB_ * v - a_.mesh.corner(c.triangleA, 0)) <
                   0;
          },
          [&](const Vec3& v) { return a_.distanceAt(X_AB_ * v).distance < 0; }, s.insideB);
      choose(s.insideB, b_.mesh, transposeTimes(X_AB_.rotation, n), s);
      for (int i = 0; i < numChosen_; ++i) {
        const int at = chosen_[i];
        addVertexOfB(s.insideB.triangle[at], b_.mesh.vertices[s.insideB.vertex[at]]);
      }
    }
    if (out_.size() == before) addCrossingLine(crossings, members, n, s);
  }

  /// Up to four vertices: the farthest along `direction`, then the most apart.
  void choose(const InsideVertices& inside, const MeshData& mesh, const Vec3& direction,
              Scratch& s) {
    const std::size_t count = inside.vertex.size();
    s.x.resize(count);
    s.y.resize(count);
    s.z.resize(count);
    s.depth.resize(count);
    s.scratch.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3& p = mesh.vertices[inside.vertex[i]];
      s.x[i] = p.x;
      s.y[i] = p.y;
      s.z[i] = p.z;
      s.depth[i] = dot(p, direction);
    }
    numChosen_ =
        kernel::selectPatchPoints(s.x.data(), s.y.data(), s.z.data(), s.depth.data(),
                                  static_cast<int>(count), mesh.radius, s.scratch.data(), chosen_);
  }

  void addVertexOfA(int triangle, const Vec3& v) {
    const SignedDistance d = b_.distanceAt(inverseTimes(X_AB_, v));
    if (!(d.distance < 0)) return;
    const Vec3 n = X_AB_.rotation * d.normal;
    out_.push_back({v - n * (Real(0.5) * d.distance), -n, -d.distance, triangle, -1});
  }
  void addVertexOfB(int triangle, const Vec3& v) {
    const Vec3 p = X_AB_ * v;
    const SignedDistance d = a_.distanceAt(p);
    if (!(d.distance < 0)) return;
    out_.push_back({p - d.normal * (Real(0.5) * d.distance), d.normal, -d.distance, -1, triangle});
  }

  /// No vertex is inside: points of the crossing line, as deep as the line is high along n.
  void addCrossingLine(const std::vector<Crossing>& crossings, const std::vector<int>& members,
                       const Vec3& n, Scratch& s) {
    Real low = std::numeric_limits<Real>::infinity(), high = -low;
    s.x.clear();
    s.y.clear();
    s.z.clear();
    for (const int m : members)
      for (const Vec3& p : {crossings[m].p, crossings[m].q}) {
        const Real h = dot(n, p);
        low = std::fmin(low, h);
        high = std::fmax(high, h);
        s.x.push_back(p.x);
        s.y.push_back(p.y);
        s.z.push_back(p.z);
      }
    s.depth.assign(s.x.size(), high - low);
    s.scratch.resize(s.x.size());
    numChosen_ = kernel::selectPatchPoints(s.x.data(), s.y.data(), s.z.data(), s.depth.data(),
                                           static_cast<int>(s.x.size()), a_.mesh.radius,
                                           s.scratch.data(), chosen_);
    const Real middle = Real(0.5) * (low + high);
    for (int i = 0; i < numChosen_; ++i) {
      const int at = chosen_[i];
      Vec3 p{s.x[at], s.y[at], s.z[at]};
      p += n * (middle - dot(n, p));
      const Crossing& c = crossings[members[at / 2]];
      out_.push_back({p, -n, high - low, c.triangleA, c.triangleB});
    }
  }

  const MeshBody& a_;
  const MeshBody& b_;
  const Transform& X_AB_;
  std::vector<SurfaceContact>& out_;
  int chosen_[kernel::kMaxPatchPoints] = {};
  int numChosen_ = 0;
};

bool isFar(const MeshBodyPair& pair) {
  const MeshData &a = pair.body1.mesh, &b = pair.body2.mesh;
  const Real reach = (a.radius + b.radius) * (1 + Real(1e-12));
  // A terrain is solid far below its surface.
  if (pair.body1.terrain || pair.body2.terrain) return false;
  return squaredNorm(pair.X_W1 * a.center - pair.X_W2 * b.center) > reach * reach;
}

/// Contacts in the frame of body 1, normals from it to body 2 (the surface of a SurfaceContact is
/// body 1's). Returns whether they overlap.
bool gatherContacts(const MeshBodyPair& pair, const Transform& X_12,
                    std::vector<SurfaceContact>& out) {
  thread_local std::vector<Crossing> crossings;
  crossings.clear();
  findCrossings(pair.body1.mesh, pair.body2.mesh, X_12, false, [&](const Crossing& c) {
    crossings.push_back(c);
    return false;
  });
  if (!crossings.empty()) {
    RegionContacts(pair.body1, pair.body2, X_12, out).run(crossings);
    return true;
  }
  if (isContained(pair.body1, pair.body2, inverse(X_12))) {
    SurfaceContact contact = contactContained(pair.body1, pair.body2, inverse(X_12));
    contact.position = X_12 * contact.position;
    contact.normal = -(X_12.rotation * contact.normal);
    out.push_back(contact);
    return true;
  }
  if (isContained(pair.body2, pair.body1, X_12)) {
    out.push_back(contactContained(pair.body2, pair.body1, X_12));
    return true;
  }
  return false;
}

SurfaceFrame frameOf(const MeshBodyPair& pair, bool surfaceIsFirst) {
  return {pair.X_W1, surfaceIsFirst, std::fmin(pair.body1.mesh.radius, pair.body2.mesh.radius)};
}

/// Whether the bodies had better change places: an order that comes from the bodies themselves, so
/// that both orders of the arguments give the same contacts.
bool isReversed(const MeshBodyPair& pair) {
  const MeshBody &a = pair.body1, &b = pair.body2;
  if ((a.terrain != nullptr) != (b.terrain != nullptr)) return a.terrain != nullptr;
  if (a.mesh.numTriangles() != b.mesh.numTriangles())
    return a.mesh.numTriangles() > b.mesh.numTriangles();
  if (a.mesh.radius != b.mesh.radius) return a.mesh.radius > b.mesh.radius;
  for (int k = 0; k < 3; ++k)
    if (a.mesh.center[k] != b.mesh.center[k]) return a.mesh.center[k] > b.mesh.center[k];
  // Twins: where they are decides.
  const Vec3 p = inverseTimes(pair.X_W1, pair.X_W2.translation);
  const Vec3 q = inverseTimes(pair.X_W2, pair.X_W1.translation);
  for (int k = 0; k < 3; ++k)
    if (p[k] != q[k]) return p[k] > q[k];
  return false;
}

MeshBodyPair reversed(const MeshBodyPair& pair) {
  return {pair.body2, pair.X_W2, pair.body1, pair.X_W1};
}

}  // namespace

SignedDistance MeshBody::distanceAt(const Vec3& p) const {
  return terrain ? geometry::signedDistanceToTerrain(*terrain, p)
                 : geometry::signedDistanceToMesh(mesh, p);
}

int collideMeshes(const MeshBodyPair& pair, const CollisionOption& option,
                  CollisionResult& result) {
  if (isFar(pair)) return 0;
  std::vector<SurfaceContact>& contacts = contactScratch();
  const bool swapped = isReversed(pair);
  const MeshBodyPair ordered = swapped ? reversed(pair) : pair;
  if (!gatherContacts(ordered, inverseTimes(ordered.X_W1, ordered.X_W2), contacts)) return 0;
  return addManifolds(contacts, frameOf(ordered, !swapped), option, result);
}

bool overlapMeshes(const MeshBodyPair& pair) {
  if (isFar(pair)) return false;
  const Transform X_12 = inverseTimes(pair.X_W1, pair.X_W2);
  return findCrossings(pair.body1.mesh, pair.body2.mesh, X_12, true,
                       [](const Crossing&) { return true; }) ||
         isContained(pair.body1, pair.body2, inverse(X_12)) ||
         isContained(pair.body2, pair.body1, X_12);
}

namespace {

/// The nearest pair of triangles found so far, in the frame of A.
struct NearestPair {
  Real distance;
  Vec3 onA{}, onB{};
  int triangleA = -1, triangleB = -1;
};

/// A pair of points by going to and fro between the surfaces: a good guess, and often the answer.
NearestPair guessNearest(const MeshData& a, const MeshData& b, const Transform& X_AB, Real bound) {
  NearestPair best{bound};
  Vec3 p = geometry::supportOfMesh(a, X_AB * b.center - a.center);
  constexpr int kMaxRounds = 6;
  for (int round = 0; round < kMaxRounds; ++round) {
    // From the second round on the way there is known not to be longer than the last way back.
    const Real within = best.triangleA < 0 ? std::numeric_limits<Real>::infinity()
                                           : best.distance * (1 + Real(1e-12));
    const geometry::MeshPoint onB = geometry::closestOnMesh(b, inverseTimes(X_AB, p), within);
    if (onB.triangle < 0) break;
    const Vec3 q = X_AB * onB.point;
    const geometry::MeshPoint onA =
        geometry::closestOnMesh(a, q, std::sqrt(onB.squaredDistance) * (1 + Real(1e-12)));
    if (onA.triangle < 0) break;
    const Real d = std::sqrt(onA.squaredDistance);
    if (!(d < best.distance)) break;
    const bool settled = best.distance - d < Real(1e-4) * d;
    best = {d, onA.point, q, onA.triangle, onB.triangle};
    if (settled) break;
    p = onA.point;
  }
  return best;
}

/// A triangle with how far it reaches along a direction.
struct Reach {
  Real value;
  int slot;
};

/// Triangles of a mesh that reach at least to `limit` along `direction`; false when there are more
/// than `most`.
bool gatherReach(const MeshData& mesh, const Vec3& direction, Real limit, std::size_t most,
                 std::vector<Reach>& out) {
  const Bvh& bvh = mesh.bvh;
  Float4 n[3];
  for (int k = 0; k < 3; ++k) n[k] = splat(float(direction[k]));
  const float bound = float((limit - dot(direction, bvh.center)) * bvh.inverseScale) - 4e-6f;
  std::int32_t stack[Bvh::kStackSize];
  int size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const BvhNode& node = bvh.nodes[stack[--size]];
    const Float4 top = max4(node.lower[0] * n[0], node.upper[0] * n[0]) +
                       max4(node.lower[1] * n[1], node.upper[1] * n[1]) +
                       max4(node.lower[2] * n[2], node.upper[2] * n[2]);
    int mask = maskOf(top >= splat(bound));
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      if (node.count[i] == 0) {
        stack[size++] = node.child[i];
        continue;
      }
      for (int s = node.child[i]; s < node.child[i] + node.count[i]; ++s) {
        const Vec3* v = &mesh.corners[3 * s];
        const Real reach =
            std::fmax(dot(direction, v[0]), std::fmax(dot(direction, v[1]), dot(direction, v[2])));
        if (!(reach >= limit)) continue;
        if (out.size() == most) return false;
        out.push_back({reach, s});
      }
    }
  }
  return true;
}

/// Compares triangles of A that reach far along n with triangles of B that reach far against it.
/// `shiftB` is what turns a reach of B into a height along n.
void compareReaches(const MeshData& a, const MeshData& b, const Transform& X_AB,
                    std::span<const Reach> nearA, std::span<const Reach> nearB, Real shiftB,
                    NearestPair& best) {
  for (const Reach& rb : nearB) {
    const Real low = shiftB - rb.value;
    Vec3 v[3];
    bool moved = false;
    for (const Reach& ra : nearA) {
      if (low - ra.value >= best.distance) continue;
      if (!moved)
        for (int k = 0; k < 3; ++k) v[k] = X_AB * b.corners[3 * rb.slot + k];
      moved = true;
      Vec3 p, q;
      const Real bound2 = best.distance * best.distance;
      const Vec3* const u = &a.corners[3 * ra.slot];
      if (kernel::areFarApart(u, v, bound2)) continue;
      const Real d2 = kernel::squaredDistanceTriangles(u, v, bound2, &p, &q);
      if (d2 < bound2) best = {std::sqrt(d2), p, q, a.bvh.order[ra.slot], b.bvh.order[rb.slot]};
    }
  }
}

/// The few that reach farthest, to the front.
std::span<const Reach> farthest(std::vector<Reach>& list) {
  constexpr std::size_t kFew = 8;
  const std::size_t few = std::min(kFew, list.size());
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(few), list.end(),
                    [](const Reach& x, const Reach& y) {
                      return x.value != y.value ? x.value > y.value : x.slot < y.slot;
                    });
  return {list.data(), few};
}

/// Meshes that a plane separates: only triangles near that plane can be nearer than the guess, and
/// along its normal each triangle tells how near exactly. Returns false when there is no such plane
/// or too many triangles are near it.
bool refineAcrossPlane(const MeshData& a, const MeshData& b, const Transform& X_AB,
                       NearestPair& best) {
  constexpr std::size_t kMost = 3000, kMostPairs = 20000;
  constexpr int kMaxTurns = 6;
  thread_local std::vector<Reach> nearA, nearB;
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    if (!(best.distance > 0)) return false;
    const Vec3 n = (best.onB - best.onA) / best.distance;  // from A to B
    const Vec3 n_B = transposeTimes(X_AB.rotation, n);
    const Real shiftB = dot(n, X_AB.translation);
    const Real topA = dot(n, geometry::supportOfMesh(a, n));
    const Real lowB = shiftB + dot(n_B, geometry::supportOfMesh(b, -n_B));
    if (!(lowB > topA)) return false;
    nearA.clear();
    nearB.clear();
    if (!gatherReach(a, n, lowB - best.distance, kMost, nearA) ||
        !gatherReach(b, -n_B, shiftB - (topA + best.distance), kMost, nearB))
      return false;
    if (nearA.size() * nearB.size() <= kMostPairs) {
      compareReaches(a, b, X_AB, nearA, nearB, shiftB, best);
      return true;
    }
    // A better pair among the foremost turns the plane and leaves fewer of both.
    const Real before = best.distance;
    compareReaches(a, b, X_AB, farthest(nearA), farthest(nearB), shiftB, best);
    if (!(best.distance < before)) return false;
  }
  return false;
}

/// The general search: both trees at once. `best` holds the guess.
void searchNearest(const MeshData& a, const MeshData& b, const Transform& X_AB, NearestPair& best) {
  DualTraversal both(a, b, X_AB);
  Vec3 n{};
  const auto turn = [&] {
    if (best.triangleA < 0 || !(best.distance > 0)) return;
    n = (best.onB - best.onA) / best.distance;
    both.setDirection(n, X_AB);
  };
  turn();
  both.visitNearest(best.distance, [&](int slotA, int countA, int slotB, int countB) {
    Real top[Bvh::kLeafSize];
    for (int i = 0; i < countA; ++i) {
      const Vec3* u = &a.corners[3 * (slotA + i)];
      top[i] = std::fmax(dot(n, u[0]), std::fmax(dot(n, u[1]), dot(n, u[2])));
    }
    for (int j = slotB; j < slotB + countB; ++j) {
      Vec3 v[3];
      for (int k = 0; k < 3; ++k) v[k] = X_AB * b.corners[3 * j + k];
      const Real low = std::fmin(dot(n, v[0]), std::fmin(dot(n, v[1]), dot(n, v[2])));
      for (int i = 0; i < countA; ++i) {
        if (low - top[i] >= best.distance) continue;
        Vec3 p, q;
        const Real bound2 = best.distance * best.distance;
        const Vec3* const u = &a.corners[3 * (slotA + i)];
        if (kernel::areFarApart(u, v, bound2)) continue;
        const Real d2 = kernel::squaredDistanceTriangles(u, v, bound2, &p, &q);
        if (!(d2 < bound2)) continue;
        best = {std::sqrt(d2), p, q, a.bvh.order[slotA + i], b.bvh.order[j]};
      }
    }
    turn();
  });
}

void writePenetrationOf(const MeshBodyPair& pair, const Transform& X_12,
                        const DistanceOption& option, DistanceResult& out) {
  std::vector<SurfaceContact>& contacts = contactScratch();
  gatherContacts(pair, X_12, contacts);
  const auto separates = [&](const Vec3& move) {
    const Transform moved{pair.X_W2.rotation, pair.X_W2.translation + pair.X_W1.rotation * move};
    return !overlapMeshes({pair.body1, pair.X_W1, pair.body2, moved});
  };
  writePenetration(contacts, frameOf(pair, true), option, separates, out);
}

void distanceOrdered(const MeshBodyPair& pair, const DistanceOption& option, DistanceResult& out) {
  const MeshData &a = pair.body1.mesh, &b = pair.body2.mesh;
  const Transform X_AB = inverseTimes(pair.X_W1, pair.X_W2);
  const Real bound = std::fmax(option.upperBound, Real(0));
  NearestPair best = guessNearest(a, b, X_AB, bound);
  const bool separated = best.triangleA >= 0 && refineAcrossPlane(a, b, X_AB, best);
  if (!separated || pair.body1.terrain || pair.body2.terrain) {
    if (overlapMeshes(pair)) {
      writePenetrationOf(pair, X_AB, option, out);
      return;
    }
    if (!separated) searchNearest(a, b, X_AB, best);
  }
  if (best.triangleA < 0) {
    writeBeyond(pair.X_W1 * a.center, pair.X_W2 * b.center, option.upperBound, out);
    return;
  }
  out.distance = best.distance;
  out.point1 = pair.X_W1 * best.onA;
  out.normal = best.distance > 0 ? pair.X_W1.rotation * ((best.onA - best.onB) / best.distance)
                                 : pair.X_W2.rotation * b.normals[best.triangleB];
  out.point2 = out.point1 - out.normal * best.distance;
  out.feature1 = best.triangleA;
  out.feature2 = best.triangleB;
}

}  // namespace

void distanceMeshes(const MeshBodyPair& pair, const DistanceOption& option, DistanceResult& out) {
  if (!isReversed(pair)) {
    distanceOrdered(pair, option, out);
    return;
  }
  distanceOrdered(reversed(pair), option, out);
  out.normal = -out.normal;
  std::swap(out.point1, out.point2);
  std::swap(out.feature1, out.feature2);
}

namespace {

int collideMeshMesh(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  const MeshBody body1{*in.shape1.mesh}, body2{*in.shape2.mesh};
  return collideMeshes({body1, in.X_W1, body2, in.X_W2}, option, result);
}

bool overlapMeshMesh(const PairInput& in) {
  const MeshBody body1{*in.shape1.mesh}, body2{*in.shape2.mesh};
  return overlapMeshes({body1, in.X_W1, body2, in.X_W2});
}

void distanceMeshMesh(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
  const MeshBody body1{*in.shape1.mesh}, body2{*in.shape2.mesh};
  distanceMeshes({body1, in.X_W1, body2, in.X_W2}, option, out);
}

}  // namespace

PairFunctions meshMeshFunctions() { return {collideMeshMesh, overlapMeshMesh, distanceMeshMesh}; }

}  // namespace tangere::collision
