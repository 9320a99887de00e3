// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_manifolds.hpp"

#include "collision/kernels/patch_selection.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::collision {

namespace {

// Normals that differ by less than this (squared chord) are one flat patch.
constexpr Real kSameNormal2 = 1e-12;

// Of the deepest point's depth: shallower ones are rounding.
constexpr Real kLeastShare = 1e-6;

// Deepest first; the rest makes the order total.
bool comesFirst(const SurfaceContact& a, const SurfaceContact& b) {
  if (a.depth != b.depth) return a.depth > b.depth;
  if (a.triangle != b.triangle) return a.triangle < b.triangle;
  if (a.feature != b.feature) return a.feature < b.feature;
  if (a.position.x != b.position.x) return a.position.x < b.position.x;
  if (a.position.y != b.position.y) return a.position.y < b.position.y;
  return a.position.z < b.position.z;
}

ContactPoint inWorld(const SurfaceContact& contact, const Vec3& normal, const SurfaceFrame& frame) {
  ContactPoint out;
  out.position = frame.X_WS * contact.position;
  const Vec3 n = frame.X_WS.rotation * normal;  // away from the surface
  out.normal = frame.surfaceIsFirst ? -n : n;
  out.depth = contact.depth;
  out.feature1 = frame.surfaceIsFirst ? contact.triangle : contact.feature;
  out.feature2 = frame.surfaceIsFirst ? contact.feature : contact.triangle;
  return out;
}

// Writes the manifold of contacts[0 .. count), the deepest of which comes first.
void writeManifold(const SurfaceContact* contacts, int count, const SurfaceFrame& frame,
                   int maxPoints, ContactManifold& out) {
  thread_local std::vector<Real> coordinates;
  coordinates.resize(5 * static_cast<std::size_t>(count));
  Real* const x = coordinates.data();
  Real *const y = x + count, *const z = y + count, *const depth = z + count,
              *const scratch = depth + count;
  thread_local std::vector<int> index;
  index.clear();
  bool allFlat = true;
  // Triangles that share a vertex or an edge give the same point again. Where points are many, the
  // choice of the farthest never takes one twice.
  const bool few = count <= 24;
  const Real same = Real(1e-9) * frame.size;
  // What is clipped has corners where the surfaces cross: they bear nothing, and are farther apart
  // than what does.
  const Real least = kLeastShare * contacts[0].depth;
  int distinct = 0;
  for (int i = 0; i < count; ++i) {
    if (contacts[i].depth < least) continue;
    const Vec3& p = contacts[i].position;
    bool known = false;
    for (int j = 0; few && j < distinct && !known; ++j)
      known = std::fabs(x[j] - p.x) <= same && std::fabs(y[j] - p.y) <= same &&
              std::fabs(z[j] - p.z) <= same;
    if (known) continue;
    x[distinct] = p.x;
    y[distinct] = p.y;
    z[distinct] = p.z;
    depth[distinct++] = contacts[i].depth;
    index.push_back(i);
    allFlat = allFlat && squaredNorm(contacts[i].normal - contacts[0].normal) < kSameNormal2;
  }
  int chosen[kernel::kMaxPatchPoints];
  int n = allFlat && distinct > kernel::kMaxPatchPoints
              ? selectCorners(contacts, index, frame.size, chosen)
              : kernel::selectPatchPoints(x, y, z, depth, distinct, frame.size, scratch, chosen);
  if (n > maxPoints) n = maxPoints;

  bool flat = true;
  for (int i = 1; i < n; ++i)
    flat = flat && squaredNorm(contacts[index[chosen[i]]].normal -
                               contacts[index[chosen[0]]].normal) < kSameNormal2;
  int written = 0;
  for (int i = 0; i < n; ++i) {
    const SurfaceContact& contact = contacts[index[chosen[i]]];
    bool known = false;
    for (int j = 0; j < i && !few; ++j) {
      const Vec3 d = contact.position - contacts[index[chosen[j]]].position;
      known = known || squaredNorm(d) <= same * same;
    }
    if (known) continue;
    out.points[written++] =
        inWorld(contact, flat ? contacts[index[chosen[0]]].normal : contact.normal, frame);
  }
  out.count = written;
  out.type = written == 1   ? ContactType::Point
             : !flat        ? ContactType::Patch
             : written == 2 ? ContactType::Edge
                            : ContactType::Face;
  if (out.type == ContactType::Face) {
    // Points on one line are a line of contact, however many.
    const Vec3 &a = out.points[0].position, &b = out.points[1].position;
    bool line = true;
    for (int i = 2; i < written; ++i)
      line = line && squaredNorm(cross(b - a, out.points[i].position - a)) <=
                         Real(1e-12) * squaredNorm(b - a) * squaredNorm(out.points[i].position - a);
    if (line) out.type = ContactType::Edge;
  }
}

}  // namespace

int selectCorners(const SurfaceContact* contacts, std::span<const int> index, Real size,
                  int* chosen) {
  const int count = static_cast<int>(index.size());
  const auto at = [&](int i) -> const SurfaceContact& { return contacts[index[i]]; };
  Vec3 middle{};
  for (int i = 0; i < count; ++i) middle += at(i).position;
  middle = middle / Real(count);
  const auto farthest = [&](const auto& measure) {
    int best = -1;
    Real most = 0;
    for (int i = 0; i < count; ++i) {
      const Real m = measure(i);
      if (m > most * (1 + Real(1e-9)) && m > 0) {
        most = m;
        best = i;
      }
    }
    return best;
  };
  Real deepest = 0;
  for (int i = 0; i < count; ++i) deepest = std::fmax(deepest, at(i).depth);
  deepest -= kernel::kDepthTie<Real> * size;
  int first = farthest([&](int i) {
    return at(i).depth < deepest ? Real(-1) : squaredNorm(at(i).position - middle);
  });
  if (first < 0) first = 0;
  int n = 0;
  chosen[n++] = first;
  const Vec3 a = at(first).position;
  const int second = farthest([&](int i) { return squaredNorm(at(i).position - a); });
  if (second < 0) return n;
  chosen[n++] = second;
  const Vec3 normal = at(0).normal, b = at(second).position;
  const auto beyond = [&](const Vec3& p, const Vec3& q, int i) {  // to the left of p to q
    const Vec3 across = cross(normal, q - p);
    const Real length = norm(across);
    return length > 0 ? dot(across, at(i).position - p) / length : Real(0);
  };
  const Real tiny = Real(1e-9) * size;
  const int third = farthest([&](int i) { return std::fabs(beyond(a, b, i)) - tiny; });
  if (third < 0) return n;
  // The fourth is the farthest outside the triangle of the other three: beside a long side there
  // may be no more than a sliver.
  const bool isLeft = beyond(a, b, third) > 0;
  const Vec3 c = at(third).position;
  const Vec3 corner[3] = {a, isLeft ? b : c, isLeft ? c : b};
  const int fourth = farthest([&](int i) {
    Real most = 0;
    for (int k = 0; k < 3; ++k) most = std::fmax(most, -beyond(corner[k], corner[(k + 1) % 3], i));
    return most - tiny;
  });
  // What is on the left comes first.
  const bool isTurned = fourth >= 0 && !isLeft && beyond(a, b, fourth) > 0;
  if (isTurned) chosen[n++] = fourth;
  chosen[n++] = third;
  if (fourth >= 0 && !isTurned) chosen[n++] = fourth;
  return n;
}

int addManifolds(std::vector<SurfaceContact>& contacts, const SurfaceFrame& frame,
                 const CollisionOption& option, CollisionResult& result) {
  if (contacts.empty()) return 0;
  // What the grouping reads of a contact, close together.
  struct Brief {
    float x, y, z, depth;
    int index;
  };
  thread_local std::vector<Brief> briefs;
  briefs.resize(contacts.size());
  std::size_t seed = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const SurfaceContact& c = contacts[i];
    briefs[i] = {float(c.normal.x), float(c.normal.y), float(c.normal.z), float(c.depth),
                 static_cast<int>(i)};
    if (c.depth >= contacts[seed].depth && comesFirst(c, contacts[seed])) seed = i;
  }
  if (option.maxNumContacts == 1) {
    ContactManifold& manifold = result.beginManifold();
    manifold.points[0] = inWorld(contacts[seed], contacts[seed].normal, frame);
    manifold.count = 1;
    manifold.type = ContactType::Point;
    result.commitManifold();
    return 1;
  }
  thread_local std::vector<SurfaceContact> group;
  int added = 0;
  std::size_t begin = 0;
  while (begin < briefs.size() && added < option.maxNumContacts) {
    // Contacts like the seed make a group; the deepest of the others is the next seed.
    std::swap(briefs[begin], briefs[seed]);
    const Brief s = briefs[begin];
    group.clear();
    group.push_back(contacts[s.index]);
    std::size_t kept = begin + 1;
    float next = -1;
    for (std::size_t i = begin + 1; i < briefs.size(); ++i) {
      const Brief c = briefs[i];
      if (c.x * s.x + c.y * s.y + c.z * s.z >= float(kClusterCosine)) {
        group.push_back(contacts[c.index]);
        continue;
      }
      if (c.depth > next) {
        next = c.depth;
        seed = kept;
      }
      briefs[kept++] = c;
    }
    briefs.resize(kept);
    ++begin;
    ContactManifold& manifold = result.beginManifold();
    writeManifold(group.data(), static_cast<int>(group.size()), frame,
                  option.maxNumContacts - added, manifold);
    added += manifold.count;
    result.commitManifold();
  }
  return added;
}

void writePenetration(std::vector<SurfaceContact>& contacts, const SurfaceFrame& frame,
                      const DistanceOption& option,
                      const std::function<bool(const Vec3&)>& separates, DistanceResult& out) {
  std::sort(contacts.begin(), contacts.end(), comesFirst);
  const SurfaceContact* chosen = &contacts[0];
  if (option.enableSigned) {
    // The deepest contact of each way out; few of them are worth a try.
    constexpr int kMaxWays = 8;
    const SurfaceContact* ways[kMaxWays];
    int count = 0;
    for (const SurfaceContact& c : contacts) {
      int k = 0;
      while (k < count && dot(c.normal, ways[k]->normal) < kClusterCosine) ++k;
      if (k < count) continue;
      // The list is from deep to shallow: later ones push out the deepest but the first.
      if (count == kMaxWays) {
        for (int i = 1; i + 1 < kMaxWays; ++i) ways[i] = ways[i + 1];
        ways[kMaxWays - 1] = &c;
      } else {
        ways[count++] = &c;
      }
    }
    for (int k = count - 1; k > 0; --k)
      if (separates(ways[k]->normal * (ways[k]->depth * (1 + Real(1e-9))))) {
        chosen = ways[k];
        break;
      }
  }
  const ContactPoint point = inWorld(*chosen, chosen->normal, frame);
  const Real depth = option.enableSigned ? point.depth : 0;
  out.distance = -depth;
  out.normal = point.normal;
  out.point1 = point.position - point.normal * (Real(0.5) * depth);
  out.point2 = point.position + point.normal * (Real(0.5) * depth);
  out.feature1 = point.feature1;
  out.feature2 = point.feature2;
}

std::vector<SurfaceContact>& contactScratch() {
  thread_local std::vector<SurfaceContact> scratch;
  scratch.clear();
  return scratch;
}

}  // namespace tangere::collision
