// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_mesh.hpp"

#include "collision/mesh_completion.hpp"
#include "collision/mesh_crossings.hpp"
#include "collision/mesh_distance.hpp"
#include "collision/mesh_nearest.hpp"
#include "collision/mesh_penetration.hpp"
#include "collision/mesh_regions.hpp"
#include "collision/mesh_touching.hpp"
#include "geometry/signed_distance.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace tangere::collision {

namespace {

// ---- Containment ------------------------------------------------------------------------------

/// Whether `inner`, which crosses nothing, lies inside `outer`.
bool isContained(const MeshBody& inner, const MeshBody& outer, const Transform& X_OuterInner) {
  if (!outer.isSolid()) return false;
  const Vec3 p = X_OuterInner * inner.mesh.corners[0];
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

// ---- Contacts ---------------------------------------------------------------------------------

bool isFar(const MeshBodyPair& pair) {
  const MeshData &a = pair.body1.mesh, &b = pair.body2.mesh;
  const Real reach = (a.radius + b.radius) * (1 + Real(1e-12));
  return squaredNorm(pair.X_W1 * a.center - pair.X_W2 * b.center) > reach * reach;
}

std::vector<Crossing>& crossingScratch() {
  thread_local std::vector<Crossing> crossings;
  return crossings;
}

/// Contacts in the frame of body 1, normals from it to body 2 (the surface of a SurfaceContact is
/// body 1's). Returns whether they overlap.
bool gatherContacts(const MeshBodyPair& pair, const Transform& X_12,
                    std::vector<SurfaceContact>& out, WaysOut* ways = nullptr) {
  std::vector<Crossing>& crossings = crossingScratch();
  crossings.clear();
  CrossingFinder(pair.body1.mesh, pair.body2.mesh, X_12).visitAll([&](const Crossing& c) {
    crossings.push_back(c);
  });
  if (!crossings.empty()) {
    if (addTouchingContacts(pair, X_12, crossings, out)) return true;
    const RegionReport report = addRegionContacts(pair.body1, pair.body2, X_12, crossings, out);
    if (ways) *ways = report.ways;
    if ((!report.areLeft || report.hasGuess || report.mayBeShorter) && !out.empty())
      completeContacts(pair, X_12, crossings, report, out);
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
  return geometry::signedDistanceToMesh(mesh, p);
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
  return CrossingFinder(pair.body1.mesh, pair.body2.mesh, X_12).any() ||
         isContained(pair.body1, pair.body2, inverse(X_12)) ||
         isContained(pair.body2, pair.body1, X_12);
}

namespace {

void writePenetrationOf(const MeshBodyPair& pair, const Transform& X_12,
                        const DistanceOption& option, DistanceResult& out) {
  std::vector<SurfaceContact>& contacts = contactScratch();
  WaysOut regionWays;
  gatherContacts(pair, X_12, contacts, &regionWays);
  const auto separates = [&](const Vec3& move) {
    const Transform moved{pair.X_W2.rotation, pair.X_W2.translation + pair.X_W1.rotation * move};
    return !overlapMeshes({pair.body1, pair.X_W1, pair.body2, moved});
  };
  writePenetration(contacts, frameOf(pair, true), option, separates, out);
  if (!option.enableSigned) return;
  const auto distanceAfter = [&](const Vec3& move_W) {
    const Transform moved{pair.X_W1.rotation, pair.X_W1.translation + move_W};
    return distanceOfApart({pair.body1, moved, pair.body2, pair.X_W2}, move_W);
  };
  const Vec3 center1 = pair.X_W1 * pair.body1.mesh.center;
  for (SurfaceContact& c : contacts) c.normal = -c.normal;  // body 1 leaves against them
  WaysOut ways =
      waysOf(contacts, pair.X_W1.rotation, center1 - (out.point1 + out.point2) * Real(0.5), out);
  for (int i = 0; i < regionWays.count; ++i)
    ways.add(pair.X_W1.rotation * regionWays.normal_W[i], regionWays.depth[i]);
  refinePenetration(ways, distanceAfter, out);
}

/// Writes the distance of bodies that are apart. Returns false where they overlap; they are taken
/// for a pair in order.
bool writeDistanceOf(const MeshBodyPair& pair, const Transform& X_AB, Real upperBound,
                     DistanceResult& out) {
  const MeshData &a = pair.body1.mesh, &b = pair.body2.mesh;
  NearestPair best = guessNearest(a, b, X_AB, std::fmax(upperBound, Real(0)));
  const PlaneRefinement refined =
      best.triangleA >= 0 ? refineAcrossPlane(a, b, X_AB, best) : PlaneRefinement::Unknown;
  if (refined == PlaneRefinement::Unknown && overlapMeshes(pair)) return false;
  if (refined != PlaneRefinement::Nearest) searchNearest(a, b, X_AB, best);
  if (best.triangleA < 0) {
    writeBeyond(pair.X_W1 * a.center, pair.X_W2 * b.center, upperBound, out);
    return true;
  }
  out.distance = best.distance;
  out.point1 = pair.X_W1 * best.onA;
  out.normal = best.distance > 0 ? pair.X_W1.rotation * ((best.onA - best.onB) / best.distance)
                                 : pair.X_W2.rotation * b.normals[best.triangleB];
  out.point2 = out.point1 - out.normal * best.distance;
  out.feature1 = best.triangleA;
  out.feature2 = best.triangleB;
  return true;
}

void distanceOrdered(const MeshBodyPair& pair, const DistanceOption& option, DistanceResult& out) {
  const Transform X_AB = inverseTimes(pair.X_W1, pair.X_W2);
  if (writeDistanceOf(pair, X_AB, option.upperBound, out)) return;
  const Transform own;
  writePenetrationOf({pair.body1, own, pair.body2, X_AB}, X_AB, option, out);
  moveToWorld(pair.X_W1, out);
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

DistanceResult distanceOfApart(const MeshBodyPair& pair, const Vec3& move) {
  DistanceResult out;
  const Transform X_AB = inverseTimes(pair.X_W1, pair.X_W2);
  if (!writeDistanceOf(pair, X_AB, std::numeric_limits<Real>::infinity(), out)) {
    out.distance = 0;
    out.normal = move / norm(move);
  }
  return out;
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
