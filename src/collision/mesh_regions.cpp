// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_regions.hpp"

#include "collision/kernels/patch_selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::collision {

namespace {

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

  void run(const std::vector<Crossing>& crossings) {
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

}  // namespace

void addRegionContacts(const MeshBody& a, const MeshBody& b, const Transform& X_AB,
                       const std::vector<Crossing>& crossings, std::vector<SurfaceContact>& out) {
  RegionContacts(a, b, X_AB, out).run(crossings);
}

}  // namespace tangere::collision
