// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_sheet_contacts.hpp"

#include "collision/kernels/patch_selection.hpp"
#include "collision/mesh_surface.hpp"
#include "geometry/signed_distance.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace tangere::collision {

namespace {

using geometry::MeshData;
using geometry::MeshPoint;

/// A vertex, by one of its triangles.
struct Corner {
  int triangle, k;
};

struct Scratch {
  std::vector<std::uint8_t> triangles, vertices;  ///< bit 0, 1: seen behind, in front; 2: crossed
  std::vector<Corner> part[2];                    ///< behind the sheet, and in front of it
  std::vector<Real> x, y, z, depth, nearest;
};
Scratch& scratch() {
  thread_local Scratch s;
  return s;
}

constexpr std::uint8_t kCrossed = 4;

/// All that is joined to the seeds of a side without crossing the sheet.
void flood(const MeshData& body, int side, Scratch& s) {
  std::vector<Corner>& part = s.part[side];
  const std::uint8_t bit = static_cast<std::uint8_t>(1 << side);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const Corner c = part[i];
    body.visitFan(c.triangle, c.k, [&](int t, int) {
      if ((s.triangles[t] & (bit | kCrossed)) != 0) return true;
      s.triangles[t] = static_cast<std::uint8_t>(s.triangles[t] | bit);
      for (int k = 0; k < 3; ++k) {
        std::uint8_t& mark = s.vertices[body.triangles[t][k]];
        if ((mark & bit) != 0) continue;
        mark = static_cast<std::uint8_t>(mark | bit);
        part.push_back({t, k});
      }
      return true;
    });
  }
}

void findParts(const SheetPair& pair, const std::vector<Crossing>& crossings,
               const std::vector<int>& members, Scratch& s) {
  const MeshData& body = pair.body;
  s.triangles.assign(body.triangles.size(), 0);
  s.vertices.assign(body.vertices.size(), 0);
  for (const Crossing& c : crossings)
    s.triangles[pair.sheetIsFirst ? c.triangleB : c.triangleA] = kCrossed;
  for (std::vector<Corner>& part : s.part) part.clear();
  for (const int m : members) {
    const Crossing& c = crossings[m];
    const int t = pair.sheetIsFirst ? c.triangleB : c.triangleA;
    const int behind = pair.sheetIsFirst ? c.behindB : c.behindA;
    for (int k = 0; k < 3; ++k) {
      const int side = (behind >> k & 1) != 0 ? 0 : 1;
      std::uint8_t& mark = s.vertices[body.triangles[t][k]];
      if ((mark >> side & 1) != 0) continue;
      mark = static_cast<std::uint8_t>(mark | 1 << side);
      s.part[side].push_back({t, k});
    }
  }
  flood(body, 0, s);
  flood(body, 1, s);
}

/// Whether a feature of a triangle is on the rim of its surface.
bool isRim(const MeshData& mesh, const MeshPoint& q) {
  if (q.feature == TriangleFeature::Face) return false;
  if (q.feature >= TriangleFeature::Edge0) {
    const int k = static_cast<int>(q.feature) - static_cast<int>(TriangleFeature::Edge0);
    return mesh.opposite[3 * q.triangle + k] < 0;
  }
  return !mesh.visitFan(q.triangle, static_cast<int>(q.feature), [&](int t, int k) {
    return mesh.opposite[3 * t + k] >= 0 && mesh.opposite[3 * t + (k + 2) % 3] >= 0;
  });
}

/// The way back for one vertex. `side` is +1 where the body belongs in front of the sheet. False
/// for what is not through, or beyond the rim.
bool contactOf(const SheetPair& pair, const Corner& at, Real side, SurfaceContact* out) {
  const MeshData& sheet = pair.sheet;
  const int vertex = pair.body.triangles[at.triangle][at.k];
  const Vec3 p = pair.X_B * pair.body.vertices[vertex];
  const MeshPoint q = geometry::closestOnMesh(sheet, inverseTimes(pair.X_S, p));
  const Vec3 facing =
      pair.X_S.rotation * geometry::pseudonormal(sheet, q.triangle, q.feature) * side;
  const Vec3 back = pair.X_S * q.point - p;
  const Real depth = norm(back), length = norm(facing);
  if (!(length > 0)) return false;
  Vec3 normal = facing / length;
  if (depth > Real(1e-12) * sheet.radius) {
    const Real along = dot(back, normal);
    if (along < (isRim(sheet, q) ? Real(0.9) * depth : Real(0))) return false;
    normal = back / depth;
  }
  if (!mayPush(pair.body, at.triangle, vertex, transposeTimes(pair.X_B.rotation, -normal)))
    return false;
  out->position = p + back * Real(0.5);
  out->normal = pair.sheetIsFirst ? normal : -normal;
  out->depth = depth;
  out->triangle = pair.sheetIsFirst ? q.triangle : at.triangle;
  out->feature = pair.sheetIsFirst ? at.triangle : q.triangle;
  return true;
}

int choose(Scratch& s, Real size, int* chosen) {
  s.nearest.resize(s.x.size());
  return kernel::selectPatchPoints(s.x.data(), s.y.data(), s.z.data(), s.depth.data(),
                                   static_cast<int>(s.x.size()), size, s.nearest.data(), chosen);
}

void addPoint(const Vec3& p, Real depth, Scratch& s) {
  s.x.push_back(p.x);
  s.y.push_back(p.y);
  s.z.push_back(p.z);
  s.depth.push_back(depth);
}

void clearPoints(Scratch& s) {
  s.x.clear();
  s.y.clear();
  s.z.clear();
  s.depth.clear();
}

}  // namespace

bool mayPush(const MeshData& mesh, int t, int vertex, const Vec3& direction) {
  constexpr Real kFacing = 0.3;
  int k = 0;
  while (k < 2 && mesh.triangles[t][k] != vertex) ++k;
  if (isSummit(MeshSurface{mesh}, t, k, direction)) return true;
  // Without the angles as weights, which are dear: the limit is a rough one.
  Vec3 n{};
  mesh.visitFan(t, k, [&](int s, int) {
    n += mesh.normals[s];
    return true;
  });
  const Real along = mesh.closed ? dot(n, direction) : std::fabs(dot(n, direction));
  return along > kFacing * norm(n);
}

void addSheetContacts(const SheetPair& pair, const std::vector<Crossing>& crossings,
                      const std::vector<int>& members, std::vector<SurfaceContact>& out) {
  Scratch& s = scratch();
  findParts(pair, crossings, members, s);
  Vec3 sum{}, middle{};
  for (const int m : members) {
    const Crossing& c = crossings[m];
    const Real weight = norm(c.q - c.p) + Real(1e-9) * pair.body.radius;
    sum += pair.sheet.normals[pair.sheetIsFirst ? c.triangleA : c.triangleB] * weight;
    middle += (c.p + c.q) * Real(0.5);
  }
  middle = middle / static_cast<Real>(members.size());
  const Real length = norm(sum);
  if (!(length > 0)) return;
  const Vec3 n = pair.X_S.rotation * (sum / length);
  Real reach[2] = {0, 0};
  for (int k = 0; k < 2; ++k)
    for (const Corner& c : s.part[k]) {
      const Vec3 p = pair.X_B * pair.body.corner(c.triangle, c.k) - middle;
      reach[k] = larger(reach[k], k == 0 ? -dot(n, p) : dot(n, p));
    }
  const int through = reach[0] <= reach[1] ? 0 : 1;
  const Real side = through == 0 ? 1 : -1;
  std::vector<Corner>& part = s.part[through];

  // Of many, the four that reach farthest and lie most apart; of few, each is asked how deep it is.
  constexpr std::size_t kMany = 64;
  int chosen[kernel::kMaxPatchPoints];
  if (part.size() > kMany) {
    clearPoints(s);
    for (const Corner& c : part) {
      const Vec3 p = pair.X_B * pair.body.corner(c.triangle, c.k);
      addPoint(p, -side * dot(n, p), s);
    }
    const int count = choose(s, pair.body.radius, chosen);
    Corner kept[kernel::kMaxPatchPoints];
    for (int i = 0; i < count; ++i) kept[i] = part[chosen[i]];
    part.assign(kept, kept + count);
  }
  SurfaceContact found[kMany];
  int count = 0;
  clearPoints(s);
  for (const Corner& c : part) {
    if (!contactOf(pair, c, side, &found[count])) continue;
    addPoint(found[count].position, found[count].depth, s);
    ++count;
  }
  bool isFlat = count > 0;
  for (int i = 1; i < count; ++i)
    isFlat = isFlat && squaredNorm(found[i].normal - found[0].normal) < Real(1e-12);
  if (isFlat) {
    int index[kMany];
    for (int i = 0; i < count; ++i) index[i] = i;
    count =
        selectCorners(found, {index, static_cast<std::size_t>(count)}, pair.body.radius, chosen);
  } else {
    count = choose(s, pair.body.radius, chosen);
  }
  for (int i = 0; i < count; ++i) out.push_back(found[chosen[i]]);
}

}  // namespace tangere::collision
