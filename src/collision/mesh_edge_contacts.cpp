// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_edge_contacts.hpp"

#include "collision/mesh_surface.hpp"
#include "geometry/signed_distance.hpp"

#include <cmath>

namespace tangere::collision {

namespace {

using geometry::MeshData;

/// Fine meshes meet in many triangles; there vertices say it all, and only sharp edges matter.
constexpr std::size_t kFew = 64, kMost = 1024;
constexpr int kMaxFound = 32;

/// An edge of a triangle in the frame of A.
struct Edge {
  Vec3 from, along;
  Vec3 far[2];  ///< from the edge to the third corners on its sides
  Vec3 facing;  ///< sum of the normals
  bool usable = false;
};

void readEdges(const MeshBody& body, const Transform& X, int t, bool sharpOnly, Edge* edges) {
  const MeshData& mesh = body.mesh;
  for (int k = 0; k < 3; ++k) {
    Edge& e = edges[k];
    e.usable = false;
    if (sharpOnly && (mesh.sharpEdges[t] >> k & 1) == 0) continue;
    const Vec3& p = mesh.corner(t, k);
    const int half = mesh.opposite[3 * t + k];
    const Vec3 far = mesh.corner(t, (k + 2) % 3) - p;
    Vec3 across = far, facing = mesh.normals[t];
    if (half >= 0) {
      across = mesh.corner(half / 3, (half % 3 + 2) % 3) - p;
      const Real rise = dot(mesh.normals[t], across);
      // Flat ones never stick out; those of a solid only where it is convex.
      if (std::fabs(rise) <= Real(1e-9) * norm(across)) continue;
      if (body.isSolid() && rise > 0) continue;
      facing += mesh.normals[half / 3];
    }
    e.from = X * p;
    e.along = X.rotation * (mesh.corner(t, (k + 1) % 3) - p);
    e.far[0] = X.rotation * far;
    e.far[1] = X.rotation * across;
    e.facing = X.rotation * facing;
    e.usable = true;
  }
}

/// Whether the edge sticks out in a direction: what is beside it lies behind.
bool sticksOut(const Edge& e, const Vec3& direction, bool solid) {
  for (const Vec3& far : e.far) {
    const Real rise = dot(direction, far);
    if (rise > 0 && rise * rise > Real(1e-12) * squaredNorm(far)) return false;
  }
  return !solid || dot(direction, e.facing) > 0;
}

struct EdgeCrossing {
  Vec3 onA, onB, normal;  ///< from B to A
  Real depth;
};

bool crossEdges(const Edge& a, bool solidA, const Edge& b, bool solidB, EdgeCrossing* out) {
  Vec3 n = cross(a.along, b.along);
  const Real n2 = squaredNorm(n), a2 = squaredNorm(a.along), b2 = squaredNorm(b.along);
  if (!(n2 > Real(1e-8) * a2 * b2)) return false;
  const Vec3 offset = b.from - a.from;
  const Real s = dot(cross(offset, b.along), n) / n2, t = dot(cross(offset, a.along), n) / n2;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return false;
  n = n / std::sqrt(n2);
  Real depth = dot(n, offset);
  if (depth < 0) {
    n = -n;
    depth = -depth;
  }
  // A has come from the side to which n points: it sticks out against n, and B along it.
  if (!sticksOut(a, -n, solidA) || !sticksOut(b, n, solidB)) return false;
  *out = {a.from + a.along * s, b.from + b.along * t, n, depth};
  return true;
}

}  // namespace

void addEdgeContacts(const MeshBodyPair& pair, const Transform& X_AB,
                     const std::vector<Crossing>& crossings, const std::vector<int>& members,
                     std::size_t before, std::vector<SurfaceContact>& out) {
  if (members.size() > kMost) return;
  const MeshBody &a = pair.body1, &b = pair.body2;
  const bool sharpOnly = members.size() > kFew;
  const Real same = Real(1e-9) * std::fmin(a.mesh.radius, b.mesh.radius);
  SurfaceContact found[kMaxFound];
  int count = 0;
  for (const int m : members) {
    const Crossing& c = crossings[m];
    if (sharpOnly && (a.mesh.sharpEdges[c.triangleA] == 0 || b.mesh.sharpEdges[c.triangleB] == 0))
      continue;
    Edge edgesA[3], edgesB[3];
    readEdges(a, {}, c.triangleA, sharpOnly, edgesA);
    readEdges(b, X_AB, c.triangleB, sharpOnly, edgesB);
    for (const Edge& ea : edgesA)
      for (const Edge& eb : edgesB) {
        EdgeCrossing x;
        if (!ea.usable || !eb.usable || count == kMaxFound ||
            !crossEdges(ea, a.isSolid(), eb, b.isSolid(), &x))
          continue;
        const Vec3 middle = (x.onA + x.onB) * Real(0.5);
        bool known = false;
        for (int i = 0; i < count && !known; ++i)
          known = squaredNorm(found[i].position - middle) <= same * same;
        if (known) continue;
        // Behind a narrow edge the other may have come out again.
        if (b.isSolid() && b.distanceAt(inverseTimes(X_AB, x.onA)).distance > same) continue;
        if (a.isSolid() && a.distanceAt(x.onB).distance > same) continue;
        found[count++] = {middle, -x.normal, x.depth, c.triangleA, c.triangleB};
      }
  }
  if (count == 0) return;
  // Which way the region pushes: as the contacts that it has, else as its shallowest edges.
  constexpr Real kAlong = 0.3;
  int shallowest = 0;
  for (int i = 1; i < count; ++i)
    if (found[i].depth < found[shallowest].depth) shallowest = i;
  const std::size_t known = out.size();
  for (int i = 0; i < count; ++i) {
    bool along = known == before && dot(found[i].normal, found[shallowest].normal) > kAlong;
    for (std::size_t j = before; j < known && !along; ++j)
      along = dot(found[i].normal, out[j].normal) > kAlong;
    if (along) out.push_back(found[i]);
  }
}

}  // namespace tangere::collision
