// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_regions.hpp"

#include "collision/kernels/patch_selection.hpp"
#include "collision/mesh_completion.hpp"
#include "collision/mesh_convex_region.hpp"
#include "collision/mesh_edge_contacts.hpp"
#include "collision/mesh_sheet_contacts.hpp"
#include "collision/mesh_surface.hpp"
#include "geometry/signed_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tangere::collision {

namespace {

/// A set of indices that is emptied by counting up instead of writing.
class IndexSet {
 public:
  /// What insert() needs, for loops that keep it in registers.
  struct View {
    unsigned* stamp;
    unsigned now;
    /// False when it was there already.
    bool insert(int i) const {
      const bool isNew = stamp[i] != now;
      stamp[i] = now;
      return isNew;
    }
    [[nodiscard]] bool contains(int i) const { return stamp[i] == now; }
  };

  void reset(std::size_t size) {
    if (stamp_.size() < size) stamp_.resize(size, 0);
    if (++now_ == 0) {
      std::fill(stamp_.begin(), stamp_.end(), 0u);
      now_ = 1;
    }
  }
  [[nodiscard]] View view() { return {stamp_.data(), now_}; }

 private:
  std::vector<unsigned> stamp_;
  unsigned now_ = 0;
};

/// The part of one body's surface that is found to be inside the other.
struct Inside {
  IndexSet triangles;         ///< seen, or crossed by the other surface
  IndexSet vertices;          ///< seen
  std::vector<int> vertex;    ///< found
  std::vector<int> triangle;  ///< one that has it
  std::vector<int> queue;
  int count = 0;  ///< of those found

  void reset(const MeshData& mesh) {
    triangles.reset(mesh.triangles.size());
    vertices.reset(mesh.vertices.size());
    // One more than there can be: candidates are written first and counted when they are new.
    if (vertex.size() <= mesh.vertices.size()) {
      vertex.resize(mesh.vertices.size() + 1);
      triangle.resize(mesh.vertices.size() + 1);
    }
    if (queue.size() <= mesh.triangles.size()) queue.resize(mesh.triangles.size() + 1);
  }
};

/// One of the two bodies as it appears in a crossing.
struct Side {
  const MeshData& mesh;
  int Crossing::*triangle;
  int Crossing::*behind;
};

/// From the crossing triangles inwards: vertices behind the other surface, and all that is joined
/// to them without crossing it. `isInside(vertex)` settles the matter.
template <class IsInside>
void floodInside(const Side& side, const std::vector<Crossing>& crossings,
                 const std::vector<int>& members, const IsInside& isInside, Inside& inside) {
  const Triangle* const triangles = side.mesh.triangles.data();
  const std::int32_t* const opposite = side.mesh.opposite.data();
  const IndexSet::View seen = inside.triangles.view(), seenVertices = inside.vertices.view();
  int* const vertex = inside.vertex.data();
  int* const triangle = inside.triangle.data();
  int* const queue = inside.queue.data();
  int count = 0, size = 0;
  const auto addVertex = [=, &count](int t, int k) {
    vertex[count] = triangles[t][k];
    triangle[count] = t;
    count += seenVertices.insert(triangles[t][k]) ? 1 : 0;
  };
  bool verified = false;
  for (const int m : members) {
    const int t = crossings[m].*side.triangle, behind = crossings[m].*side.behind;
    for (int k = 0; k < 3; ++k)
      if ((behind >> k & 1) != 0) addVertex(t, k);
    for (int k = 0; k < 3; ++k) {
      const int next = k == 2 ? 0 : k + 1;
      if ((behind >> k & behind >> next & 1) == 0) continue;
      const int half = opposite[3 * t + k];
      if (half < 0 || !seen.insert(half / 3)) continue;
      // The side was told by one triangle's plane: make sure once before going far.
      if (!verified && !isInside(side.mesh.corner(t, k))) continue;
      verified = true;
      queue[size++] = half;
    }
  }
  // Both ends of the edge over which a triangle is entered are known. Whether something is new is
  // a toss-up, so there are no branches on it; from a queue, unlike from a stack, the next
  // triangles can be fetched meanwhile.
  for (int i = 0; i < size; ++i) {
    const int half = queue[i], t = half / 3, k = half - 3 * t;
    const int next = k == 2 ? 0 : k + 1, apex = next == 2 ? 0 : next + 1;
    addVertex(t, apex);
    for (const int edge : {next, apex}) {
      const int across = opposite[3 * t + edge];
      if (across < 0) continue;
      const int s = across / 3;
      __builtin_prefetch(&opposite[across]);
      __builtin_prefetch(&triangles[s]);
      queue[size] = across;
      size += seen.insert(s) ? 1 : 0;
    }
  }
  inside.count = count;
}

class RegionContacts {
 public:
  RegionContacts(const MeshBody& a, const MeshBody& b, const Transform& X_AB,
                 std::vector<SurfaceContact>& out)
      : a_(a), b_(b), X_AB_(X_AB), out_(out) {}

  RegionReport run(const std::vector<Crossing>& crossings) {
    Scratch& s = scratch();
    s.insideA.reset(a_.mesh);
    s.insideB.reset(b_.mesh);
    splitIntoRegions(crossings, s);
    for (const std::vector<int>& members : s.regions)
      if (!members.empty()) addRegion(crossings, members, s);
    return report_;
  }

 private:
  /// So many vertices are worth their own way to choose.
  static constexpr int kMany = 64;
  /// Of so many each is asked how deep it is.
  static constexpr int kAsked = 16;
  /// Where more triangles cross than that, vertices say all.
  static constexpr std::size_t kFewCrossings = 64;
  static constexpr int kMaxAlong = 32;
  static constexpr Real kAlmostAlong = 0.9;
  /// A way that is shorter by less is not worth a search.
  static constexpr Real kSooner = 0.9995;
  /// Four vertices in unit coordinates, and how far they are from those chosen.
  struct Block {
    Float4 p[3], nearest2;
  };
  struct Scratch {
    Inside insideA, insideB;
    std::vector<int> parent, triangles;
    std::vector<int> place;  ///< of a crossed triangle of A in `triangles`
    std::vector<std::vector<int>> regions;
    std::vector<Real> x, y, z, depth, scratch;
    std::vector<Block> blocks;
  };
  static Scratch& scratch() {
    thread_local Scratch s;
    return s;
  }

  /// Crossed triangles of A that are neighbours belong to one region.
  void splitIntoRegions(const std::vector<Crossing>& crossings, Scratch& s) {
    s.parent.clear();
    s.triangles.clear();
    if (s.place.size() < a_.mesh.triangles.size()) s.place.resize(a_.mesh.triangles.size());
    const IndexSet::View crossedA = s.insideA.triangles.view();
    const IndexSet::View crossedB = s.insideB.triangles.view();
    for (const Crossing& c : crossings) {
      crossedB.insert(c.triangleB);
      if (!crossedA.insert(c.triangleA)) continue;
      s.place[c.triangleA] = static_cast<int>(s.parent.size());
      s.parent.push_back(s.place[c.triangleA]);
      s.triangles.push_back(c.triangleA);
    }
    const auto root = [&](int i) {
      while (s.parent[i] != i) i = s.parent[i] = s.parent[s.parent[i]];
      return i;
    };
    for (std::size_t i = 0; i < s.triangles.size(); ++i)
      for (int k = 0; k < 3; ++k) {
        const int half = a_.mesh.opposite[3 * s.triangles[i] + k];
        if (half < 0 || !crossedA.contains(half / 3)) continue;
        const int r0 = root(static_cast<int>(i)), r1 = root(s.place[half / 3]);
        if (r0 != r1) s.parent[std::max(r0, r1)] = std::min(r0, r1);
      }
    for (std::vector<int>& members : s.regions) members.clear();
    if (s.regions.size() < s.parent.size()) s.regions.resize(s.parent.size());
    for (std::size_t m = 0; m < crossings.size(); ++m)
      s.regions[root(s.place[crossings[m].triangleA])].push_back(static_cast<int>(m));
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
    s.insideA.count = s.insideB.count = 0;
    if (b_.isSolid()) {
      const auto isInB = [&](const Vec3& v) {
        return b_.distanceAt(inverseTimes(X_AB_, v)).distance < 0;
      };
      floodInside({a_.mesh, &Crossing::triangleA, &Crossing::behindA}, crossings, members, isInB,
                  s.insideA);
    }
    if (a_.isSolid()) {
      const auto isInA = [&](const Vec3& v) { return a_.distanceAt(X_AB_ * v).distance < 0; };
      floodInside({b_.mesh, &Crossing::triangleB, &Crossing::behindB}, crossings, members, isInA,
                  s.insideB);
    }
    std::optional<ConvexRegion> local;
    const bool isSmall = fillRegion(crossings, members, s, local);
    if (isSmall && a_.isSolid() && b_.isSolid() && local->finish(crossings, members, out_)) return;
    const Vec3 n = regionNormal(crossings, members);
    const std::size_t before = out_.size();
    addInside(s.insideA, a_.mesh, -n, s,
              [&](int i, SurfaceContact* c) { return vertexOfA(s.insideA, i, c); });
    addInside(s.insideB, b_.mesh, transposeTimes(X_AB_.rotation, n), s,
              [&](int i, SurfaceContact* c) { return vertexOfB(s.insideB, i, c); });
    const Transform own;
    if (!b_.isSolid())
      addSheetContacts({b_.mesh, X_AB_, a_.mesh, own, false}, crossings, members, out_);
    if (!a_.isSolid())
      addSheetContacts({a_.mesh, own, b_.mesh, X_AB_, true}, crossings, members, out_);
    if (!a_.isSolid() || !b_.isSolid()) keepOneSide(before);
    addEdgeContacts({a_, own, b_, X_AB_}, X_AB_, crossings, members, before, out_);
    if (out_.size() == before) {
      addCrossingLine(crossings, members, n, s);
      if (members.size() <= kFewCrossings) report_.hasGuess = true;
    }
    if (members.size() <= kFewCrossings &&
        !limitToClearing(crossings, members, s, before, isSmall ? &*local : nullptr))
      report_.areLeft = false;
  }

  /// Looks for a contact along whose normal a plane is between the bodies once its depth is gone,
  /// and lets no other contact of the region be deeper than that translation resolves. Returns
  /// false when there is none.
  bool limitToClearing(const std::vector<Crossing>& crossings, const std::vector<int>& members,
                       const Scratch& s, std::size_t before, ConvexRegion* local) {
    Real least = std::numeric_limits<Real>::infinity();
    Vec3 way{};
    for (std::size_t i = before; i < out_.size(); ++i) {
      const SurfaceContact& c = out_[i];
      if (c.depth >= least) continue;
      const Real clearance = heightAlong(crossings, members, s, c.normal);
      if (clearance > c.depth * (1 + Real(1e-6)) + Real(1e-12) * a_.mesh.radius) continue;
      least = c.depth;
      way = c.normal;
    }
    if (!(least < std::numeric_limits<Real>::infinity())) {
      SurfaceContact hull;
      // Where that is no way of the surfaces it is a good one to begin the search with.
      if (local && (local->findWayOut(&hull) || hull.depth > 0))
        report_.ways.add(-hull.normal, hull.depth);
      return false;
    }
    SurfaceContact shorter;
    // Along a sheet the region is soon left, but not what is beside it.
    const bool areSolid = a_.isSolid() && b_.isSolid();
    const bool isHull = local && local->findWayOut(&shorter);
    const bool isShorter =
        isHull && shorter.depth < least && (areSolid || dot(shorter.normal, way) > kAlmostAlong);
    // The hull of a dent may be left sooner than the dent itself. How much later that is left than
    // need be has to be searched for.
    if (areSolid && local && !isHull && shorter.depth > 0 && shorter.depth < kSooner * least) {
      report_.ways.add(-shorter.normal, shorter.depth);
      report_.mayBeShorter = true;
    }
    if (isShorter) {
      least = shorter.depth;
      way = shorter.normal;
    }
    if (!(least > 0)) return true;
    if (changes(way, least, before) && !leaves(crossings, members, way * least)) {
      report_.ways.add(-way, least);
      return false;
    }
    limitDepths(way * -least, before, out_);
    if (isShorter) {
      report_.ways.add(-way, least);
      bool isThere = false;
      for (std::size_t i = before; i < out_.size(); ++i)
        isThere = isThere || (out_[i].depth >= kNearlyAsDeep * least &&
                              dot(out_[i].normal, way) > kNearlyAsDeep);
      if (!isThere) out_.push_back(shorter);
    }
    addAlong(way, least, before, s);
    return true;
  }

  /// Whether limiting contacts to a way would take something from them. That is worth a question.
  [[nodiscard]] bool changes(const Vec3& way, Real depth, std::size_t before) const {
    constexpr Real kMuch = 1.001;
    for (std::size_t i = before; i < out_.size(); ++i)
      if (out_[i].depth > kMuch * depth || !(dot(out_[i].normal, way) > 0)) return true;
    return false;
  }

  /// Whether the region is left once B has moved: a plane between triangles that cross now says
  /// nothing of those beside them.
  [[nodiscard]] bool leaves(const std::vector<Crossing>& crossings, const std::vector<int>& members,
                            const Vec3& move) const {
    const auto isBeside = [](const MeshData& mesh, int t, int s) {
      for (const int i : mesh.triangles[t])
        for (const int j : mesh.triangles[s])
          if (i == j) return true;
      return false;
    };
    const Transform moved{X_AB_.rotation, X_AB_.translation + move * (1 + Real(1e-5))};
    bool crosses = false;
    CrossingFinder(a_.mesh, b_.mesh, moved).visitAll([&](const Crossing& now) {
      bool a = false, b = false;
      for (const int m : members) {
        a = a || isBeside(a_.mesh, crossings[m].triangleA, now.triangleA);
        b = b || isBeside(b_.mesh, crossings[m].triangleB, now.triangleB);
      }
      crosses = crosses || (a && b);
    });
    return !crosses;
  }

  /// Vertices inside whose nearest surface is none that they can push, as those that came in
  /// through a face beside a side: they push along the way of the region.
  void addAlong(const Vec3& way, Real depth, std::size_t before, const Scratch& s) {
    if (s.insideA.count + s.insideB.count > kMaxAlong) return;
    const std::size_t known = out_.size();
    const Real same = Real(1e-6) * a_.mesh.radius;
    const auto consider = [&](const Vec3& v, const Vec3& direction, const Inside& inside, int i,
                              const MeshBody& other, const Transform& X, bool isOfA) {
      for (std::size_t k = before; k < known; ++k) {
        const Vec3 across = out_[k].position - v;
        if (squaredNorm(across - way * dot(way, across)) <= same * same) return;
      }
      // A little farther, or rounding decides about what is exactly as deep.
      const Ray ray{inverseTimes(X, v), transposeTimes(X.rotation, direction),
                    depth * (1 + Real(1e-6))};
      std::optional<RayHit> hit = geometry::rayCastMesh(other.mesh, ray);
      if (!hit || !(hit->t > Real(0.5) * depth)) return;
      hit->t = hit->t < depth ? hit->t : depth;
      const int t = inside.triangle[i];
      out_.push_back({v + direction * (Real(0.5) * hit->t), way, hit->t, isOfA ? t : hit->feature,
                      isOfA ? hit->feature : t});
    };
    for (int i = 0; i < s.insideA.count; ++i)
      consider(a_.mesh.vertices[s.insideA.vertex[i]], -way, s.insideA, i, b_, X_AB_, true);
    for (int i = 0; i < s.insideB.count; ++i)
      consider(X_AB_ * b_.mesh.vertices[s.insideB.vertex[i]], way, s.insideB, i, a_, Transform{},
               false);
  }

  /// How far B has to go along a direction until a plane is between what the region has of both.
  [[nodiscard]] Real heightAlong(const std::vector<Crossing>& crossings,
                                 const std::vector<int>& members, const Scratch& s,
                                 const Vec3& n) const {
    const Vec3 n_B = transposeTimes(X_AB_.rotation, n);
    Real top = -std::numeric_limits<Real>::infinity(), bottom = -top;
    for (const int m : members)
      for (int k = 0; k < 3; ++k) {
        top = larger(top, dot(n, a_.mesh.corner(crossings[m].triangleA, k)));
        bottom = -larger(-bottom, -dot(n_B, b_.mesh.corner(crossings[m].triangleB, k)));
      }
    for (int i = 0; i < s.insideA.count; ++i)
      top = larger(top, dot(n, a_.mesh.vertices[s.insideA.vertex[i]]));
    for (int i = 0; i < s.insideB.count; ++i)
      bottom = -larger(-bottom, -dot(n_B, b_.mesh.vertices[s.insideB.vertex[i]]));
    return top - bottom - dot(n, X_AB_.translation);
  }

  /// Through a sheet there are two ways, and only the shorter one is meant.
  void keepOneSide(std::size_t before) {
    if (out_.size() == before) return;
    std::size_t shallow = before;
    Real least = std::numeric_limits<Real>::infinity();
    // The deepest contact of each side; the side whose deepest is shallower stays.
    for (std::size_t i = before; i < out_.size(); ++i) {
      Real deepest = 0;
      for (std::size_t j = before; j < out_.size(); ++j)
        if (dot(out_[i].normal, out_[j].normal) >= 0) deepest = std::fmax(deepest, out_[j].depth);
      if (!(deepest < least)) continue;
      least = deepest;
      shallow = i;
    }
    const Vec3 n = out_[shallow].normal;
    std::size_t kept = before;
    for (std::size_t i = before; i < out_.size(); ++i)
      if (dot(out_[i].normal, n) >= 0) out_[kept++] = out_[i];
    out_.resize(kept);
  }

  /// Contacts of the vertices inside: up to four, the deepest and then the most apart. Where they
  /// are few each is asked how deep it is, for the farthest along the mean of a region's normals
  /// may be less deep than another; of many, those that lead in that direction.
  template <class Make>
  void addInside(const Inside& inside, const MeshData& mesh, const Vec3& direction, Scratch& s,
                 const Make& make) {
    SurfaceContact found[kMany];
    int count = 0;
    if (inside.count > kAsked) {
      chooseOfMany(inside, mesh, direction, s);
      for (int i = 0; i < numChosen_; ++i) count += make(chosen_[i], &found[count]) ? 1 : 0;
    } else {
      for (int i = 0; i < inside.count; ++i) count += make(i, &found[count]) ? 1 : 0;
    }
    if (count > kernel::kMaxPatchPoints) {
      bool isFlat = true;
      for (int i = 1; i < count; ++i)
        isFlat = isFlat && squaredNorm(found[i].normal - found[0].normal) < Real(1e-12);
      count = isFlat ? chooseCorners(found, count, mesh.radius)
                     : chooseFarthest(found, count, mesh.radius);
      for (int i = 0; i < count; ++i) out_.push_back(found[chosen_[i]]);
      return;
    }
    out_.insert(out_.end(), found, found + count);
  }

  int chooseCorners(const SurfaceContact* found, int count, Real size) {
    int index[kMany];
    for (int i = 0; i < count; ++i) index[i] = i;
    return selectCorners(found, {index, static_cast<std::size_t>(count)}, size, chosen_);
  }
  int chooseFarthest(const SurfaceContact* found, int count, Real size) {
    Real x[kMany], y[kMany], z[kMany], depth[kMany], nearest[kMany];
    for (int i = 0; i < count; ++i) {
      x[i] = found[i].position.x;
      y[i] = found[i].position.y;
      z[i] = found[i].position.z;
      depth[i] = found[i].depth;
    }
    return kernel::selectPatchPoints(x, y, z, depth, count, size, nearest, chosen_);
  }

  /// Puts all of a region into `region`; false where it is too much.
  bool fillRegion(const std::vector<Crossing>& crossings, const std::vector<int>& members,
                  const Scratch& s, std::optional<ConvexRegion>& region) const {
    // Vertices told by one triangle's plane only may be outside: those take no part.
    const Inside &a = s.insideA, &b = s.insideB;
    constexpr int kMaxVertices = 16;
    if (members.size() > kFewCrossings || a.count > kMaxVertices || b.count > kMaxVertices)
      return false;
    region.emplace(a_.mesh, b_.mesh, X_AB_);
    for (const int m : members)
      if (!region->addCrossing(crossings[m])) return false;
    for (int i = 0; i < a.count; ++i) {
      const Vec3& p = a_.mesh.vertices[a.vertex[i]];
      if (!(b_.distanceAt(inverseTimes(X_AB_, p)).distance < 0)) continue;
      if (!region->addInsideA(p, a.triangle[i])) return false;
    }
    for (int i = 0; i < b.count; ++i) {
      const Vec3& p = b_.mesh.vertices[b.vertex[i]];
      if (!(a_.distanceAt(X_AB_ * p).distance < 0)) continue;
      if (!region->addInsideB(p, b.triangle[i])) return false;
    }
    region->collect();
    return true;
  }

  /// Up to four vertices: the farthest along `direction`, then the most apart. The depth is taken
  /// in double, how far apart they are in float and four at a time.
  void chooseOfMany(const Inside& inside, const MeshData& mesh, const Vec3& direction, Scratch& s) {
    const int count = inside.count, blocks = (count + 3) / 4;
    s.depth.resize(static_cast<std::size_t>(count));
    s.blocks.resize(static_cast<std::size_t>(blocks));
    Real deepest = -std::numeric_limits<Real>::infinity();
    // What is missing in the last block stands for the last vertex again.
    for (int i = 0; i < 4 * blocks; ++i) {
      const int at = i < count ? i : count - 1;
      const Vec3 p = mesh.bvh.toUnit(mesh.vertices[inside.vertex[at]]);
      s.depth[at] = dot(p, direction);
      deepest = s.depth[at] > deepest ? s.depth[at] : deepest;
      for (int k = 0; k < 3; ++k) s.blocks[i / 4].p[k][i % 4] = float(p[k]);
    }
    const Real tie = kernel::kDepthTie<Real> * mesh.radius * mesh.bvh.inverseScale;
    int last = 0;
    while (s.depth[last] < deepest - tie) ++last;
    chosen_[0] = last;
    for (Block& block : s.blocks) block.nearest2 = splat(1e30f);
    for (numChosen_ = 1; numChosen_ < kernel::kMaxPatchPoints; ++numChosen_) {
      Float4 p[3];
      for (int k = 0; k < 3; ++k) p[k] = splat(s.blocks[last / 4].p[k][last % 4]);
      Float4 farthest2 = splat(0);
      geometry::Int4 best{-1, -1, -1, -1};
      for (int b = 0; b < blocks; ++b) {
        Block& block = s.blocks[b];
        const Float4 x = block.p[0] - p[0], y = block.p[1] - p[1], z = block.p[2] - p[2];
        block.nearest2 = min4(block.nearest2, x * x + y * y + z * z);
        const geometry::Int4 farther = block.nearest2 > farthest2;
        farthest2 = max4(farthest2, block.nearest2);
        best = (farther & b) | (~farther & best);
      }
      last = -1;
      float most = 0;
      for (int lane = 0; lane < 4; ++lane)
        if (best[lane] >= 0 && farthest2[lane] > most * (1 + kernel::kDistanceTie<float>)) {
          most = farthest2[lane];
          last = std::min(4 * best[lane] + lane, count - 1);
        }
      if (last < 0) return;
      chosen_[numChosen_] = last;
    }
  }

  [[nodiscard]] bool vertexOfA(const Inside& inside, int i, SurfaceContact* out) const {
    const int vertex = inside.vertex[i], t = inside.triangle[i];
    const Vec3& v = a_.mesh.vertices[vertex];
    const SignedDistance d = b_.distanceAt(inverseTimes(X_AB_, v));
    if (!(d.distance < 0)) return false;
    const Vec3 n = X_AB_.rotation * d.normal;
    if (!mayPush(a_.mesh, t, vertex, -n)) return false;
    *out = {v - n * (Real(0.5) * d.distance), -n, -d.distance, t, -1};
    return true;
  }
  [[nodiscard]] bool vertexOfB(const Inside& inside, int i, SurfaceContact* out) const {
    const int vertex = inside.vertex[i], t = inside.triangle[i];
    const Vec3 p = X_AB_ * b_.mesh.vertices[vertex];
    const SignedDistance d = a_.distanceAt(p);
    if (!(d.distance < 0)) return false;
    if (!mayPush(b_.mesh, t, vertex, transposeTimes(X_AB_.rotation, -d.normal))) return false;
    *out = {p - d.normal * (Real(0.5) * d.distance), d.normal, -d.distance, -1, t};
    return true;
  }

  /// Of a direction and the normals of the crossed triangles near it, that along which the crossing
  /// line is lowest: the mean of normals is no face's, and a level line is not level along it.
  [[nodiscard]] Vec3 leastHeight(const std::vector<Crossing>& crossings,
                                 const std::vector<int>& members, const Vec3& n) const {
    constexpr int kMaxTried = 16;
    constexpr Real kNear = 0.7;
    Vec3 tried[kMaxTried + 1] = {n};
    int count = 1;
    const auto consider = [&](const Vec3& m) {
      if (count > kMaxTried || dot(m, n) < kNear) return;
      for (int i = 0; i < count; ++i)
        if (squaredNorm(m - tried[i]) < Real(1e-12)) return;
      tried[count++] = m;
    };
    for (const int m : members) {
      if (b_.isSolid()) consider(X_AB_.rotation * b_.mesh.normals[crossings[m].triangleB]);
      if (a_.isSolid()) consider(-a_.mesh.normals[crossings[m].triangleA]);
    }
    Vec3 best = n;
    Real least = std::numeric_limits<Real>::infinity();
    for (int i = 0; i < count; ++i) {
      Real low = std::numeric_limits<Real>::infinity(), high = -low;
      for (const int m : members)
        for (const Vec3& p : {crossings[m].p, crossings[m].q}) {
          const Real h = dot(tried[i], p);
          low = h < low ? h : low;
          high = h > high ? h : high;
        }
      if (!(high - low < least)) continue;
      least = high - low;
      best = tried[i];
    }
    return best;
  }

  /// No vertex is inside: points of the crossing line, as deep as the line is high along its
  /// normal.
  void addCrossingLine(const std::vector<Crossing>& crossings, const std::vector<int>& members,
                       const Vec3& mean, Scratch& s) {
    const Vec3 n = leastHeight(crossings, members, mean);
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
  RegionReport report_;
};

}  // namespace

RegionReport addRegionContacts(const MeshBody& a, const MeshBody& b, const Transform& X_AB,
                               const std::vector<Crossing>& crossings,
                               std::vector<SurfaceContact>& out) {
  return RegionContacts(a, b, X_AB, out).run(crossings);
}

}  // namespace tangere::collision
