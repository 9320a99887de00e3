// SPDX-License-Identifier: Apache-2.0
//
// A convex body on a surface of triangles, triangle by triangle: see mesh_surface.hpp for what
// counts as a contact.
#pragma once

#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/mesh_clip.hpp"
#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_body_faces.hpp"
#include "collision/mesh_completion.hpp"
#include "collision/mesh_penetration.hpp"
#include "collision/mesh_point_hull.hpp"
#include "collision/mesh_surface.hpp"
#include "collision/mesh_traversal.hpp"
#include "geometry/kernels/ray_interval.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace tangere::collision {

/// Any other convex body. Boxes and hulls are clipped against their own faces, the curved ones go
/// through GJK and EPA.
template <class Surface>
class BodyOnSurface {
 public:
  BodyOnSurface(const Surface& surface, const ConvexView<Real>& view, const Transform& X_SC,
                std::vector<SurfaceContact>& out)
      : surface_(surface),
        view_(view),
        X_SC_(X_SC),
        X_CS_(inverse(X_SC)),
        out_(out),
        faces_(view) {}

  void addTriangle(int t, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 v_S[3] = {a, b, c};
    if (!faces_.empty())
      addToPolytope(t, v_S);
    else
      addToRounded(t, v_S);
  }

  /// Whether anything was touched; then there is at least one contact. isApartAfter(move) tells
  /// whether a translation of the body leaves it apart from the whole surface, distanceAfter(move)
  /// by how much and along what.
  template <class IsApartAfter, class DistanceAfter>
  bool finish(const IsApartAfter& isApartAfter, const DistanceAfter& distanceAfter) {
    if (!touched_) return false;
    if (out_.empty()) {
      out_.push_back(spare_);
      return true;
    }
    if (surface_.isSolid()) dropFarSides();
    if (anySharp_) dropWhatIsResolved();
    if (numTouched_ <= (anySharp_ ? kMaxHullTriangles : kPatch))
      limitToClearing(isApartAfter, distanceAfter);
    return true;
  }

 private:
  struct EdgeContact {
    Real depth = 1e300;
    Vec3 normal{}, position{};  // C
    bool emit = false;
    std::int32_t feature = -1;
  };

  /// A direction in which contacts push, and how far the body reaches against it.
  struct Way {
    Vec3 normal;  // S, of its deepest contact
    Real depth;   // of the same
    Real lowest;  // of the body along the normal
    bool sharp;   // it is next to a sharp edge
    bool used;    // a contact along it stays
  };
  static constexpr int kMaxWays = 16;

  /// Where the surface bends, several of its faces are touched, and only the one that is left
  /// soonest matters: a body that dips into a wedge from below reaches far under its slanted face,
  /// which is not to say that it is far inside. A contact goes when a shorter move along the normal
  /// of a shallower contact clears its triangle. That move is a certificate: the normal is an axis
  /// that separates body and triangle behind it.
  void dropWhatIsResolved() {
    Way ways[kMaxWays];
    const int count = collectWays(ways);
    if (count < 2) return;
    if (numTouched_ > kMaxHullTriangles) {
      dropTriangleByTriangle(ways, count);
      return;
    }
    findLowest(ways, count);
    int clearing = 0;
    while (clearing < count && !clearsAll(ways[clearing])) ++clearing;
    const Way* const best = clearing < count ? &ways[clearing] : nullptr;
    if (clearing > 0 && ways[count - 1].sharp &&
        (leaveHull(best, ways[count - 1].depth) || leaveAlong(ways, count)))
      return;
    if (best)
      dropDeeperThan(*best);
    else
      dropTriangleByTriangle(ways, count);
  }

  /// A move that clears all that is touched, and does not lead into the rest of a hollow, says how
  /// deep a contact may be at most. On a smooth
  /// part the normals of neighbours differ little, but a body that touches a corner reaches farther
  /// below some of its triangles than it has to go.
  template <class IsApartAfter, class DistanceAfter>
  void limitToClearing(const IsApartAfter& isApartAfter, const DistanceAfter& distanceAfter) {
    bool flat = true;
    const Vec3 n = surface_.normal(touchedTriangles_[0]);
    for (int i = 1; flat && i < numTouched_; ++i)
      flat = squaredNorm(surface_.normal(touchedTriangles_[i]) - n) < Real(1e-20);
    if (flat && !hasRim()) return;
    const Way unknown{{}, kUnknown, 0, false, false};
    Way best = unknown;
    for (const SurfaceContact& c : out_) {
      if (c.depth >= best.depth) continue;
      Way way{c.normal, c.depth, 0, false, false};
      findLowest(&way, 1);
      if (clearsAll(way)) best = way;
    }
    const Way certified = best;
    const bool isCertified = isKnown(certified);
    SurfaceContact missing;
    bool isHull = mayHullBeShorter(best) && considerHull(&best, &missing);
    if (!(best.depth > 0)) return;
    if (isKnown(best) && !takesFrom(best)) return;
    const auto isApart = [&](const Way& way) {
      return isKnown(way) && isApartAfter(way.normal * (way.depth * (1 + Real(1e-6))));
    };
    // On several bumps no way of one contact clears all by a plane, or one that is far too long.
    const Way asked = isKnown(best) && (best.depth < kFarTooLong * shallowest() || isConvexThere())
                          ? unknown
                          : findWayByAsking(best.depth, isApart);
    if (isKnown(asked)) {
      best = asked;
      isHull = false;
    } else if (!isApart(best)) {
      best = unknown;
    }
    if (!isKnown(best) && isHull) {
      isHull = false;
      if (isApart(certified)) best = certified;
    }
    if (!isKnown(best)) {
      complete(isApartAfter, distanceAfter);
      return;
    }
    const Real deepest = limitTo(best);
    // An edge or a corner beside the contacts is deeper than they are.
    if (isHull && deepest < kNearlyAsDeep * best.depth && (isCertified || isConvexThere()))
      out_.push_back(missing);
  }

  static constexpr Real kFarTooLong = 2;
  [[nodiscard]] Real shallowest() const {
    Real least = kUnknown;
    for (const SurfaceContact& c : out_) least = c.depth < least ? c.depth : least;
    return least;
  }

  /// Drops contacts against a way that leads out, and leaves none deeper than it is long. Returns
  /// the largest depth.
  Real limitTo(const Way& way) {
    Real deepest = 0;
    std::size_t kept = 0;
    for (const SurfaceContact& c : out_) {
      if (!(dot(c.normal, way.normal) > 0)) continue;
      out_[kept] = c;
      // Points under a face of the body are those of the surface, all others are the body's.
      const bool isBodys = faces_.empty() || c.triangle < 0 ||
                           std::fabs(dot(c.normal, surface_.normal(c.triangle))) > 1 - Real(1e-9);
      if (way.depth < c.depth) makeShallower(way.depth, isBodys, out_[kept]);
      deepest = larger(deepest, out_[kept].depth);
      ++kept;
    }
    out_.resize(kept);
    return deepest;
  }

  /// No contact's way leads out. The contacts are complete where the least move that resolves them
  /// all does; else the way out is searched for and becomes one.
  template <class IsApartAfter, class DistanceAfter>
  void complete(const IsApartAfter& isApartAfter, const DistanceAfter& distanceAfter) {
    Vec3 move;  // of the surface
    if (!findLeastMove(out_, &move)) return;
    const Real length = norm(move);
    const bool isComplete = isApartAfter(-move * (1 + Real(1e-5)));
    if (isComplete && !anySharp_) {
      limitTo({-move / length, length, 0, false, false});
      return;
    }
    WaysOut ways;
    ways.addDirection(-move, length);
    Way own[kMaxWays];
    const int count = collectWays(own);
    for (int k = 0; k < count; ++k) ways.add(own[k].normal, length);
    DistanceResult found;
    refinePenetration(ways, std::cref(distanceAfter), found);
    // What is so much longer leads out of something that the body is caught in.
    constexpr Real kCaught = 50;
    const Real depth = -found.distance;
    if (!(depth > 0) || depth > kCaught * length) return;
    const Real deepest = limitTo({found.normal, depth, 0, false, false});
    if (!isComplete || deepest < kNearlyAsDeep * depth)
      out_.push_back(
          {(found.point1 + found.point2) * Real(0.5), found.normal, depth, found.feature2, -1});
  }

  static constexpr Real kUnknown = std::numeric_limits<Real>::infinity();
  [[nodiscard]] static bool isKnown(const Way& way) { return way.depth < kUnknown; }

  /// Depths of a flat body may be wrong by less than this, those of a curved one by more: it is
  /// left along a smooth surface in many ways that are almost as good.
  [[nodiscard]] Real worth() const { return faces_.empty() ? Real(1.02) : Real(1.0005); }

  /// Whether limiting contacts to a way would change much. What changes little is not worth the
  /// question whether the way leads out, which costs as much as the contacts did.
  [[nodiscard]] bool takesFrom(const Way& way) const {
    const Real least = worth();
    Real deepest = 0;
    for (const SurfaceContact& c : out_) {
      if (!(dot(c.normal, way.normal) > 0)) return true;
      deepest = larger(deepest, c.depth);
    }
    return deepest > least * way.depth || deepest < kNearlyAsDeep * way.depth;
  }

  /// Between bumps no plane is behind which all lies that is touched. There the shallowest ways of
  /// contacts are tried, where contacts differ by more than neighbours on a smooth surface do.
  template <class IsApart>
  [[nodiscard]] Way findWayByAsking(Real shorterThan, const IsApart& isApart) const {
    constexpr int kMostAsked = 4;
    const Real least = worth();
    Way ways[kMaxWays];
    const int count = collectWays(ways);
    for (int k = 0; k < count && k < kMostAsked; ++k) {
      if (!(ways[k].depth * least < shorterThan)) break;
      const bool isNews = [&] {
        for (const SurfaceContact& c : out_)
          if (!(dot(c.normal, ways[k].normal) > 0) || c.depth > least * ways[k].depth) return true;
        return false;
      }();
      if (!isNews) break;
      if (ways[k].depth > 0 && isApart(ways[k])) return ways[k];
    }
    return {{}, kUnknown, 0, false, false};
  }

  /// Whether a touched triangle is at the rim of an open surface.
  [[nodiscard]] bool hasRim() const {
    if (surface_.isSolid()) return false;
    for (int i = 0; i < 3 * numTouched_; ++i)
      if (surface_.across(touchedTriangles_[i / 3], i % 3) < 0) return true;
    return false;
  }

  /// Not where the way goes along all normals but a little: no other is shorter by 0.2 %.
  [[nodiscard]] bool mayHullBeShorter(const Way& best) const {
    if (!isKnown(best)) return true;
    if (hasRim()) return true;
    for (int i = 0; i < numTouched_; ++i)
      if (dot(surface_.normal(touchedTriangles_[i]), best.normal) < Real(0.998)) return true;
    return false;
  }

  /// The way out of the hull of all that is touched clears it too, and may be shorter. Returns
  /// whether it is, with its contact.
  bool considerHull(Way* best, SurfaceContact* contact) const {
    PointHull<3 * kMaxHullTriangles> points;
    for (int i = 0; i < 3 * numTouched_; ++i)
      points.add(surface_.corner(touchedTriangles_[i / 3], i % 3));
    const ConvexView<Real> hull = points.view();
    const kernel::ConvexContact<Real> pair =
        kernel::convexDistance(view_, hull, X_CS_, Real(0), /*enableSigned=*/true);
    if (!(pair.distance < 0) || !(-pair.distance < best->depth)) return false;
    const Vec3 way = X_SC_.rotation * pair.normal;
    if (!leadsOutAt(X_SC_ * pair.pointB, way)) return false;
    // The search may end early at the tip of a cone.
    Way out{way, -pair.distance, 0, false, false};
    findLowest(&out, 1);
    if (!clearsAll(out)) return false;
    *best = out;
    *contact = makeContact(touchedTriangles_[0], (pair.pointA + pair.pointB) * Real(0.5),
                           pair.normal, -pair.distance, -1);
    return true;
  }

  /// Whether a point that is deepest in the body is on the surface, and a way from there leads out:
  /// no triangle that has the point rises along the way. All of them are touched.
  [[nodiscard]] bool leadsOutAt(const Vec3& p, const Vec3& way) const {
    const Real tolerance = Real(1e-6) * view_.boundingRadius;
    Vec3 outward{};
    for (int i = 0; i < numTouched_; ++i) {
      const int t = touchedTriangles_[i];
      const Vec3 v[3] = {surface_.corner(t, 0), surface_.corner(t, 1), surface_.corner(t, 2)};
      const Vec3 q = kernel::closestOnTriangle(p, v[0], v[1], v[2]).point;
      if (squaredNorm(q - p) > tolerance * tolerance) continue;
      for (const Vec3& corner : v) {
        const Real rise = dot(way, corner - q);
        if (rise > tolerance && rise * rise > kRise * kRise * squaredNorm(corner - q)) return false;
      }
      outward += ownNormal(t, v);
    }
    return dot(outward, way) > 0;
  }

  /// Where no move clears all that is touched.
  void dropTriangleByTriangle(Way* ways, int count) {
    bool all = true;
    for (SurfaceContact& c : out_) {
      const int k = wayOf(c, ways, count);
      const bool stays = k == 0 || longEnough(c) <= ways[0].depth;
      c.way = static_cast<std::int16_t>(stays ? -1 : k);
      if (stays && k < count) ways[k].used = true;
      all = all && stays;
    }
    if (all) return;
    findLowest(ways, count);
    ways[0].used = true;
    // Contacts that found no room among the ways come last.
    for (int k = 1; k <= count; ++k) {
      std::size_t kept = 0;
      for (const SurfaceContact& c : out_) {
        if (c.way == k) {
          if (isResolved(c, ways, k)) continue;
          if (k < count) ways[k].used = true;
        }
        if (&out_[kept] != &c) out_[kept] = c;
        ++kept;
      }
      out_.resize(kept);
    }
  }

  /// The directions of all contacts, the shallow ones first.
  int collectWays(Way* ways) const {
    // Many contacts are those of a fine mesh, whose normals go every way.
    constexpr std::size_t kMany = 64;
    const int room = out_.size() > kMany ? kMaxWays / 2 : kMaxWays;
    int count = 0;
    for (const SurfaceContact& c : out_) {
      const int k = wayOf(c, ways, count);
      if (k == room || (k < count && c.depth <= ways[k].depth)) continue;
      ways[k] = {c.normal, c.depth, 0, c.sharp, false};
      if (k == count) ++count;
    }
    if (count < 2) return count;
    for (int i = 1; i < count; ++i)  // insertion sort
      for (int j = i; j > 0 && ways[j].depth < ways[j - 1].depth; --j) {
        const Way w = ways[j];
        ways[j] = ways[j - 1];
        ways[j - 1] = w;
      }
    return count;
  }
  void findLowest(Way* ways, int count) const {
    for (int j = 0; j < count; ++j) {
      int index;
      const Vec3 down = transposeTimes(X_SC_.rotation, -ways[j].normal);
      ways[j].lowest =
          dot(ways[j].normal, X_SC_ * kernel::supportCore(view_, down, &index)) - view_.radius;
    }
  }

  /// How far the body moves along a way until the way's normal separates it from a triangle.
  [[nodiscard]] Real clearance(int t, const Way& way) const {
    const Real a = dot(way.normal, surface_.corner(t, 0));
    const Real b = dot(way.normal, surface_.corner(t, 1));
    const Real c = dot(way.normal, surface_.corner(t, 2));
    return larger(a, larger(b, c)) - way.lowest;
  }

  /// Whether the body leaves everything that it touches along a way that is as deep as it says.
  [[nodiscard]] bool clearsAll(const Way& way) const {
    const Real enough = way.depth * (1 + Real(1e-6)) + Real(1e-12) * view_.boundingRadius;
    for (int i = 0; i < numTouched_; ++i)
      if (clearance(touchedTriangles_[i], way) > enough) return false;
    return true;
  }

  void dropDeeperThan(const Way& way) {
    std::size_t kept = 0;
    for (const SurfaceContact& c : out_) {
      const bool along = dot(c.normal, way.normal) >= sameWay(c);
      if (along || way.depth >= longEnough(c)) out_[kept++] = c;
    }
    out_.resize(kept);
  }

  /// At a corner of the surface the shortest way out is often between the normals that are met
  /// there: the way out of the hull of all that is touched. `best` is the shortest way known that
  /// clears it all, or null. Returns false where that of the hull is no shorter than `deepest`, as
  /// in a dent, or leads through the inside.
  bool leaveHull(const Way* best, Real deepest) {
    const int* const triangles = touchedTriangles_;
    const int count = numTouched_;
    PointHull<3 * kMaxHullTriangles> points;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k) points.add(surface_.corner(triangles[i], k));
    const ConvexView<Real> hull = points.view();
    const kernel::ConvexContact<Real> pair =
        kernel::convexDistance(view_, hull, X_CS_, Real(0), /*enableSigned=*/true);
    if (!(pair.distance <= 0)) return false;
    const bool convex = isConvexThere();
    if (!convex && !(-pair.distance < deepest)) return false;
    const auto keep = [&](const Way& way) { convex ? keepOnly(way) : dropDeeperThan(way); };
    if (best && best->depth * (1 - Real(1e-6)) <= -pair.distance) {
      keep(*best);
      return true;
    }
    const Vec3 way = X_SC_.rotation * pair.normal;
    if (!isTopSummit(triangles, count, way)) return false;
    const Vec3 onSurface = X_SC_ * pair.pointB;
    int nearest = triangles[0];
    Real nearest2 = std::numeric_limits<Real>::infinity();
    for (int i = 0; i < count; ++i) {
      const int t = triangles[i];
      const Vec3 p = kernel::closestOnTriangle(onSurface, surface_.corner(t, 0),
                                               surface_.corner(t, 1), surface_.corner(t, 2))
                         .point;
      if (!(squaredNorm(p - onSurface) < nearest2)) continue;
      nearest = t;
      nearest2 = squaredNorm(p - onSurface);
    }
    // Between triangles that do not meet, the hull has faces that the surface has not.
    if (nearest2 > Real(1e-4) * pair.distance * pair.distance) return false;
    keep({way, -pair.distance, 0, true, true});
    add(nearest, (pair.pointA + pair.pointB) * Real(0.5), pair.normal, -pair.distance, -1, true);
    return true;
  }

  /// The same with the ways that are known: that which clears all that is touched soonest. Returns
  /// false where it is as deep as all others.
  bool leaveAlong(const Way* ways, int count) {
    if (!isConvexThere()) return false;
    const Way* best = nullptr;
    Real least = ways[count - 1].depth * (1 - Real(1e-6));
    for (int k = 0; k < count; ++k) {
      Real most = 0;
      for (int i = 0; i < numTouched_; ++i)
        most = larger(most, clearance(touchedTriangles_[i], ways[k]));
      if (!(most < least)) continue;
      best = &ways[k];
      least = most;
    }
    // A way whose contacts are far less deep than that is not the one that they tell.
    if (!best || least > Real(1.5) * best->depth) return false;
    if (!isTopSummit(touchedTriangles_, numTouched_, best->normal)) return false;
    dropDeeperThan({best->normal, least, best->lowest, true, true});
    return true;
  }

  /// Whether the highest vertex of some triangles is one of the surface as a whole: then the way
  /// does not lead through the inside.
  [[nodiscard]] bool isTopSummit(const int* triangles, int count, const Vec3& way) const {
    int t = triangles[0], k = 0;
    Real top = dot(way, surface_.corner(t, k));
    for (int i = 0; i < 3 * count; ++i) {
      const Real height = dot(way, surface_.corner(triangles[i / 3], i % 3));
      if (!(height > top)) continue;
      top = height;
      t = triangles[i / 3];
      k = i % 3;
    }
    return isSummit(surface_, t, k, way);
  }

  /// Whether the surface is convex where it is touched: all that is touched is behind the planes of
  /// all its triangles.
  [[nodiscard]] bool isConvexThere() const {
    if (!surface_.isSolid()) return false;
    const Real slack = Real(1e-9) * view_.boundingRadius;
    for (int i = 0; i < numTouched_; ++i) {
      const int t = touchedTriangles_[i];
      const Vec3 n = surface_.normal(t), p = surface_.corner(t, 0);
      for (int j = 0; j < 3 * numTouched_; ++j) {
        const Vec3 e = surface_.corner(touchedTriangles_[j / 3], j % 3) - p;
        const Real above = dot(n, e);
        if (above > slack && above * above > Real(1e-18) * squaredNorm(e)) return false;
      }
    }
    return true;
  }

  /// Two convex bodies touch in one place, with one normal.
  void keepOnly(const Way& way) {
    std::size_t kept = 0;
    for (const SurfaceContact& c : out_)
      if (dot(c.normal, way.normal) >= kClusterCosine && c.depth <= way.depth * (1 + Real(1e-6)))
        out_[kept++] = c;
    out_.resize(kept);
  }

  /// Normals of a smooth part of the surface differ from triangle to triangle, and may do so.
  [[nodiscard]] static Real sameWay(const SurfaceContact& c) {
    return c.sharp ? Real(0.999) : kClusterCosine;
  }
  /// Moves shorter than this make the contact pointless. On a smooth part the depths along the
  /// normals of neighbouring triangles are as good as each other.
  [[nodiscard]] static Real longEnough(const SurfaceContact& c) {
    return c.depth * (c.sharp ? 1 - Real(1e-9) : Real(2.0 / 3.0));
  }

  /// The first way along the contact's normal, or `count`.
  [[nodiscard]] static int wayOf(const SurfaceContact& c, const Way* ways, int count) {
    const Real same = sameWay(c);
    int k = 0;
    while (k < count && dot(c.normal, ways[k].normal) < same) ++k;
    return k;
  }

  /// Whether a way before `end` clears the contact's triangle sooner than its own normal does.
  [[nodiscard]] bool isResolved(const SurfaceContact& c, const Way* ways, int end) const {
    const Real enough = longEnough(c);
    for (int j = 0; j < end; ++j) {
      if (!ways[j].used || ways[j].depth >= enough) continue;
      // A way may have only a part of its depth here: then the move has to be much shorter.
      const Real limit = larger(ways[j].depth * (1 + Real(1e-6)), enough * Real(1.0 / 3.0));
      if (clearance(c.triangle, ways[j]) <= limit) return true;
      // A triangle that is high somewhere else may be cleared all the same.
      if (c.sharp && !touchesAfter(c.triangle, ways[j].normal * limit)) return true;
    }
    return false;
  }
  [[nodiscard]] bool touchesAfter(int t, const Vec3& move_S) const {
    const Vec3 v[3] = {surface_.corner(t, 0) - move_S, surface_.corner(t, 1) - move_S,
                       surface_.corner(t, 2) - move_S};
    return kernel::convexOverlap(view_, triangleView(v), X_CS_);
  }

  /// A body that reaches through a thin wall also touches the wall's far side, which would pull it
  /// in: what faces away from the body's centre goes when it is deeper than all that faces it.
  void dropFarSides() {
    const Vec3 center = X_SC_ * view_.center;
    const auto faces = [&](const SurfaceContact& c) {
      return dot(c.normal, center - c.position) >= 0;
    };
    Real deepest = -1;
    for (const SurfaceContact& c : out_)
      if (faces(c)) deepest = larger(deepest, c.depth);
    if (deepest < 0) return;
    std::size_t kept = 0;
    for (const SurfaceContact& c : out_)
      if (c.depth <= deepest || faces(c)) out_[kept++] = c;
    out_.resize(kept);
  }

  void touch(int t) {
    touched_ = true;
    if (numTouched_ < kMaxHullTriangles) touchedTriangles_[numTouched_] = t;
    if (numTouched_ <= kMaxHullTriangles) ++numTouched_;
  }

  /// The triangle's normal on the body's side.
  [[nodiscard]] Vec3 ownNormal(int t, const Vec3* v_S) const {
    const Vec3 n = surface_.normalOf(t, v_S);
    if (surface_.isSolid()) return n;
    return dot(n, X_SC_ * view_.center - v_S[0]) >= 0 ? n : -n;
  }

  void addToPolytope(int t, const Vec3* v_S) {
    const Vec3 v[3] = {X_CS_ * v_S[0], X_CS_ * v_S[1], X_CS_ * v_S[2]};
    // Face by face: the least overlap, and the planes that cut the triangle.
    Real overlap;
    int face, lowest;
    int cutting[PolytopeFaces::kMaxCutting], numCutting = 0;
    if (!faces_.compare(v, &overlap, &face, &lowest, cutting, &numCutting)) return;
    if (numCutting > PolytopeFaces::kMaxCutting) {
      // So many planes cannot matter on a triangle; the exact test tells.
      if (!kernel::convexOverlap(view_, triangleView(v_S), X_CS_)) return;
      numCutting = PolytopeFaces::kMaxCutting;
    }
    const Vec3 n_S = ownNormal(t, v_S);
    const Vec3 n = transposeTimes(X_SC_.rotation, n_S);
    Vec3* const polygon = polygon_;
    const int count = faces_.clip(v, cutting, numCutting, polygon);
    if (count == 0) return;
    const bool sharp = surface_.hasSharpEdge(t);
    anySharp_ = anySharp_ || sharp;
    if (numCutting == 0 && !sharp && addWithin(t, v, n, face, lowest, overlap)) return;
    touch(t);
    Vec3 middle = polygon[0];
    for (int i = 1; i < count; ++i) middle += polygon[i];
    middle = middle / Real(count);

    // Along its own normal, and the two other ways that may be shorter.
    const std::size_t before = out_.size();
    const Real own = addOwnNormal(t, n_S, v, &middle);
    const Vec3 away = -faces_.normal(face);  // the body goes this way to clear the triangle
    const bool front = !surface_.isSolid() || dot(away, n) > -kRise;
    const bool summit = overlap < own * (1 - Real(1e-9)) && front &&
                        isSummit(surface_, t, lowest, X_SC_.rotation * away);
    const EdgeContact edge = sharp ? sharpEdgeContact(t, v, v_S) : EdgeContact{};
    if (edge.depth < own && (!summit || edge.depth < overlap)) {
      out_.resize(before);
      if (edge.emit) add(t, edge.position, edge.normal, edge.depth, edge.feature, true);
      keepSpare(t, edge.position, edge.normal, edge.depth, edge.feature);
      return;
    }
    if (summit) {
      out_.resize(before);
      addFacePoints(t, face, polygon, count);
    }
    for (std::size_t i = before; i < out_.size(); ++i) out_[i].sharp = sharp;
    if (out_.size() == before)
      keepSpare(t, middle, away,
                larger(faces_.offset(face) - dot(faces_.normal(face), middle), Real(0)),
                kernel::faceFeature(face));
  }

  /// A small triangle wholly inside the body: one point stands for it, at its middle. Its corners
  /// are those of the triangles around it, and the outline of the patch is not here. Returns false
  /// for a triangle that needs a closer look: the surface may have a summit in it.
  bool addWithin(int t, const Vec3* v, const Vec3& n, int face, int lowest, Real overlap) {
    const Vec3 middle = (v[0] + v[1] + v[2]) * Real(1.0 / 3.0);
    int under;
    const Real depth = faces_.exit(middle, n, &under);
    if (under < 0) return false;
    const Real under_face = faces_.offset(face) - dot(faces_.normal(face), middle);
    if (under_face < Real(0.98) * depth && overlap < depth &&
        (!surface_.isSolid() || -dot(faces_.normal(face), n) > -kRise) &&
        isSummit(surface_, t, lowest, X_SC_.rotation * -faces_.normal(face)))
      return false;
    touch(t);
    add(t, middle - n * (Real(0.5) * depth), n, depth, kernel::faceFeature(under));
    return true;
  }

  /// Points of the clipped triangle under a face of the body.
  void addFacePoints(int t, int face, const Vec3* polygon, int count) {
    const Vec3& m = faces_.normal(face);
    for (int i = 0; i < count; ++i) {
      const Real depth = faces_.offset(face) - dot(m, polygon[i]);
      if (depth < 0) continue;
      add(t, polygon[i] + m * (Real(0.5) * depth), -m, depth, kernel::faceFeature(face), true);
    }
  }

  /// The part of the body over the triangle that is below it, along its normal: the body's lowest
  /// feature where that is over the triangle, else what is found under `inside`, a point of both.
  /// Returns the depth of the deepest point, or a huge number when there is none.
  Real addOwnNormal(int t, const Vec3& n_S, const Vec3* v, const Vec3* inside) {
    const Vec3 n = transposeTimes(X_SC_.rotation, n_S);
    int index;
    const Vec3 lowest = kernel::supportCore(view_, -n, &index) - n * view_.radius;
    const Real depth = larger(dot(n, v[0] - lowest), Real(0));
    Prism prism;
    prism.origin = v[0];
    prism.n = n;
    kernel::completeFrame(n, &prism.e0, &prism.e1);
    prism.n_S = X_SC_.rotation * n;
    const bool reversed = !surface_.isSolid() && dot(n_S, surface_.normal(t)) < 0;
    for (int k = 0; k < 3; ++k) {
      const Vec3 p = v[reversed ? 2 - k : k] - v[0];
      prism.u[k] = dot(prism.e0, p);
      prism.v[k] = dot(prism.e1, p);
    }
    prism.slop = Real(1e-9) * view_.boundingRadius;
    const std::size_t before = out_.size();

    const Vec3 p = lowest - v[0];
    const bool above = prism.holds(dot(prism.e0, p), dot(prism.e1, p));
    // What a box or a hull has over the triangle is on the faces found under it; its lowest feature
    // is needed where that is its lowest vertex.
    if (above || faces_.empty()) {
      const Real reach = kernel::kReachInDepths<Real> * depth + prism.slop;
      const kernel::SupportKey<Real> key =
          kernel::findSupportKey(view_, -n, reach, kernel::kMaxIncidentSlope<Real>);
      if (key.kind == kernel::SupportKind::Vertex) {
        if (above) addBelow(t, prism, dot(prism.e0, p), dot(prism.e1, p), dot(n, p), key.feature);
      } else {
        kernel::SupportFeature<Real> feature;
        kernel::fillSupportFeature(view_, key, -n, &feature);
        if (key.kind == kernel::SupportKind::Segment)
          clipSegment(t, prism, feature, key.feature);
        else
          clipFace(t, prism, feature, key.feature);
      }
    }
    if (out_.size() == before && inside) addUnder(t, prism, *inside);
    Real deepest = -1;
    for (std::size_t i = before; i < out_.size(); ++i) deepest = larger(deepest, out_[i].depth);
    return deepest >= 0 ? deepest : Real(1e300);
  }

  /// The column of space over a triangle, seen along its normal.
  struct Prism {
    Vec3 origin, n, e0, e1;
    Vec3 n_S;         // the normal in the frame of the surface
    Real u[3], v[3];  // the triangle, counter-clockwise
    Real slop;

    [[nodiscard]] bool holds(Real x, Real y) const {
      for (int k = 0; k < 3; ++k) {
        const int next = k == 2 ? 0 : k + 1;
        const Real du = u[next] - u[k], dv = v[next] - v[k];
        if (dv * (x - u[k]) - du * (y - v[k]) > slop * (std::fabs(du) + std::fabs(dv)))
          return false;
      }
      return true;
    }
  };

  void addBelow(int t, const Prism& prism, Real u, Real v, Real height, std::int32_t feature) {
    if (height > prism.slop) return;
    const Real depth = larger(-height, Real(0));
    const Vec3 position =
        prism.origin + prism.e0 * u + prism.e1 * v - prism.n * (Real(0.5) * depth);
    out_.push_back({X_SC_ * position, prism.n_S, depth, t, feature});
  }

  void clipSegment(int t, const Prism& prism, const kernel::SupportFeature<Real>& feature,
                   std::int32_t name) {
    Real u[2], v[2], h[2];
    for (int k = 0; k < 2; ++k) {
      const Vec3 p = feature.point(k) - prism.origin;
      u[k] = dot(prism.e0, p);
      v[k] = dot(prism.e1, p);
      h[k] = dot(prism.n, p);
    }
    Real t0, t1;
    int cut[2];
    if (!kernel::clipSegmentToPolygon(prism.u, prism.v, 3, prism.slop, u, v, &t0, &t1, &cut[0],
                                      &cut[1]))
      return;
    for (int k = 0; k < 2; ++k) {
      const Real s = k == 0 ? t0 : t1;
      if (k == 1 && !(t1 > t0)) break;
      addBelow(t, prism, u[0] + s * (u[1] - u[0]), v[0] + s * (v[1] - v[0]),
               h[0] + s * (h[1] - h[0]),
               cut[k] < 0 ? kernel::vertexFeature(feature.vertex[k]) : name);
    }
  }

  void clipFace(int t, const Prism& prism, const kernel::SupportFeature<Real>& feature,
                std::int32_t name) {
    kernel::ClipPolygon<Real> polygon, scratch;
    for (int i = 0; i < feature.count; ++i) {
      const Vec3 p = feature.point(i) - prism.origin;
      polygon.u[i] = dot(prism.e0, p);
      polygon.v[i] = dot(prism.e1, p);
      polygon.w[i] = dot(prism.n, p);
      polygon.edge[i] = i;
    }
    polygon.count = feature.count;
    const kernel::ClipPolygon<Real>& clipped =
        kernel::clipToTriangle(prism.u, prism.v, prism.slop, &polygon, &scratch);
    for (int i = 0; i < clipped.count; ++i) {
      const int before = clipped.edge[i > 0 ? i - 1 : clipped.count - 1];
      const bool vertex = before >= 0 && clipped.edge[i] >= 0;
      addBelow(t, prism, clipped.u[i], clipped.v[i], clipped.w[i],
               vertex ? kernel::vertexFeature(feature.vertex[clipped.edge[i]]) : name);
    }
  }

  /// Straight down from a point in the body to where its surface is left: the face there, cut to
  /// the column over the triangle, or that point alone of a curved body.
  void addUnder(int t, const Prism& prism, const Vec3& inside) {
    if (faces_.empty()) {
      const kernel::RayInterval<Real> below = intervalOf(view_, {inside, -prism.n, 0});
      if (below.enter > prism.slop || below.exit < 0) return;
      add(t, inside - prism.n * (Real(0.5) * below.exit), prism.n, below.exit, -1);
      return;
    }
    int face;
    const Real least = faces_.exit(inside, prism.n, &face);
    if (face < 0) return;
    kernel::SupportKey<Real> key;
    key.kind = kernel::SupportKind::Polygon;
    key.feature = kernel::faceFeature(face);
    key.index0 = key.index1 = face;
    kernel::SupportFeature<Real> feature;
    kernel::fillSupportFeature(view_, key, faces_.normal(face), &feature);
    // Seen from above the face runs clockwise.
    const std::size_t before = out_.size();
    clipFace(t, prism, feature, key.feature);
    if (out_.size() == before)
      add(t, inside - prism.n * (Real(0.5) * least), prism.n, least, key.feature);
  }

  /// The part of a line that is in a curved body.
  [[nodiscard]] static kernel::RayInterval<Real> intervalOf(const ConvexView<Real>& view,
                                                            const kernel::LineT<Real>& line) {
    switch (view.core) {
      case CoreType::Segment:
        return kernel::rayIntervalCapsule(view.radius, view.size.z, line);
      case CoreType::Cylinder:
        return kernel::rayIntervalCylinder(view.size, line);
      case CoreType::Cone:
        return kernel::rayIntervalCone(view.size, line);
      case CoreType::Ellipsoid:
        return kernel::rayIntervalEllipsoid(view.size, line);
      default:
        return kernel::emptyRayInterval<Real>();
    }
  }

  /// Whether the body's point of a contact is where the body ends along the normal.
  [[nodiscard]] bool isOnBody(const ContactPoint& p) const {
    const Vec3 on = p.position - p.normal * (Real(0.5) * p.depth);
    const Vec3 inward = view_.center - on;
    const Real length = norm(inward);
    if (!(length > 0)) return false;
    // A little towards the centre: a line through a tip or a rim may miss the body by a rounding.
    const Real slop = Real(1e-3) * p.depth + Real(1e-9) * view_.boundingRadius;
    const kernel::RayInterval<Real> below =
        intervalOf(view_, {on + inward * (slop / length), -p.normal, 0});
    return below.enter <= 0 && below.exit >= 0 && below.exit <= 10 * slop;
  }

  /// A point of a triangle inside a curved body: `point` where it is one, else the middle of what
  /// the body cuts out of the triangle's edges. The point of the triangle that is left last need
  /// not be inside: behind the tip or the rim of a cone it is beside it. False when there is none.
  [[nodiscard]] bool findCommonPoint(const Vec3* v, const Vec3& n, Vec3* point) const {
    const Real slop = Real(1e-9) * view_.boundingRadius;
    const kernel::RayInterval<Real> here = intervalOf(view_, {*point, -n, 0});
    if (here.enter <= slop && here.exit >= 0) return true;
    Vec3 sum{};
    int count = 0;
    for (int k = 0; k < 3; ++k) {
      const Vec3 e = v[k == 2 ? 0 : k + 1] - v[k];
      const Real length = norm(e);
      if (!(length > 0)) continue;
      const kernel::RayInterval<Real> along = intervalOf(view_, {v[k], e / length, 0});
      const Real from = larger(along.enter, Real(0)),
                 to = along.exit < length ? along.exit : length;
      if (!(from <= to)) continue;
      sum += v[k] + e * (Real(0.5) * (from + to) / length);
      ++count;
    }
    if (count == 0) return false;
    // From there towards `point`, which is where the triangle is deepest: as far as it goes.
    const Vec3 start = sum / Real(count), toward = *point - start;
    const Real length = norm(toward);
    *point = start;
    if (!(length > slop)) return true;
    const Real last = intervalOf(view_, {start, toward / length, 0}).exit;
    Real deepest = intervalOf(view_, {start, -n, 0}).exit;
    for (const Real part : {Real(0.25), Real(0.5), Real(0.75), Real(1)}) {
      const Vec3 p = start + toward * (part * last / length);
      const kernel::RayInterval<Real> below = intervalOf(view_, {p, -n, 0});
      if (!(below.enter <= slop && below.exit > deepest)) continue;
      deepest = below.exit;
      *point = p;
    }
    return true;
  }

  /// The shallowest contact that could not be used otherwise.
  void keepSpare(int t, const Vec3& position_C, const Vec3& normal_C, Real depth,
                 std::int32_t feature) {
    if (hasSpare_ && spare_.depth <= depth) return;
    spare_ = makeContact(t, position_C, normal_C, depth, feature);
    hasSpare_ = true;
  }

  /// The best crossing of a sharp edge of the surface with an edge of the body. Only directions
  /// between the two normals of the surface's edge and between those of the body's edge separate
  /// (Gauss map), so edges of a smooth surface need no look.
  EdgeContact sharpEdgeContact(int t, const Vec3* v, const Vec3* v_S) const {
    EdgeContact best;
    for (int k = 0; k < 3; ++k) {
      const int next = k == 2 ? 0 : k + 1, far = next == 2 ? 0 : next + 1;
      Vec3 n2, w2;
      const bool inner = surface_.acrossNormal(t, k, &n2);
      if (inner) {
        if (dot(n2, surface_.normal(t)) > geometry::kSharpCosine) continue;
        surface_.acrossVertex(t, k, &w2);
        if (surface_.isSolid() && dot(surface_.normal(t), w2 - v_S[k]) >= 0) continue;  // concave
      }
      const Vec3 e = v[next] - v[k];
      const Vec3 p = v[k];
      const Vec3 f1 = v[far] - p;
      const Vec3 f2 = inner ? X_CS_ * w2 - p : f1;
      const bool emit = !inner || t < surface_.across(t, k);
      faces_.forEachEdge([&](const Vec3& q0, const Vec3& q1, const Vec3& m1, const Vec3& m2,
                             std::int32_t feature) {
        Vec3 axis = cross(q1 - q0, e);
        const Real l2 = squaredNorm(axis);
        if (!(l2 > Real(1e-12) * squaredNorm(e) * squaredNorm(q1 - q0))) return;
        axis = axis / std::sqrt(l2);
        // Towards the body: the surface must lie behind, and the body ahead.
        const Real c = dot(m1, m2);
        const Real x1 = dot(axis, m1), x2 = dot(axis, m2);
        const bool along = x1 - c * x2 >= 0 && x2 - c * x1 >= 0;
        const bool against = -x1 + c * x2 >= 0 && -x2 + c * x1 >= 0;
        if (!along && !against) return;
        if (along) axis = -axis;  // -axis is in the cone of the body's edge
        const Real s1 = dot(axis, f1), s2 = dot(axis, f2);
        if (s1 > 0 || s2 > 0) return;
        const Real depth = dot(axis, p - q0);
        if (depth < 0 || depth >= best.depth) return;
        Vec3 onSurface, onBody;
        // Slide the body back along the axis, and the edges meet where they cross.
        kernel::closestOnSegments(p, v[next], q0 + axis * depth, q1 + axis * depth, &onSurface,
                                  &onBody);
        if (squaredNorm(onSurface - onBody) >
            Real(1e-18) * view_.boundingRadius * view_.boundingRadius)
          return;
        best = {depth, axis, onSurface - axis * (Real(0.5) * depth), emit, feature};
      });
    }
    return best;
  }

  void addToRounded(int t, const Vec3* v_S) {
    const ConvexView<Real> triangle = triangleView(v_S);
    const kernel::ConvexContact<Real> pair =
        kernel::convexDistance(view_, triangle, X_CS_, Real(0), /*enableSigned=*/true);
    if (!(pair.distance <= 0)) return;
    touch(t);
    const Vec3 n_S = ownNormal(t, v_S);
    const Vec3 way = X_SC_.rotation * pair.normal;
    const Real along = dot(way, n_S);
    const bool sharp = surface_.hasSharpEdge(t);
    anySharp_ = anySharp_ || sharp;
    const std::size_t before = out_.size();
    bool genuine = along >= 1 - Real(1e-9);
    if (!genuine && (!surface_.isSolid() || along > -kRise)) {
      int k = 0;
      for (int i = 1; i < 3; ++i)
        if (dot(way, v_S[i]) > dot(way, v_S[k])) k = i;
      genuine = isSummit(surface_, t, k, way);
    }
    if (genuine) {
      ContactManifold manifold;
      kernel::buildConvexManifold(view_, triangle, X_CS_, pair, &manifold);
      for (int i = 0; i < manifold.count; ++i) {
        const ContactPoint& p = manifold.points[i];
        // Features that only run along each other for a while give points beside the triangle or
        // the body.
        const Vec3 on_S = X_SC_ * (p.position + p.normal * (Real(0.5) * p.depth));
        const Vec3 off = on_S - kernel::closestOnTriangle(on_S, v_S[0], v_S[1], v_S[2]).point;
        if (i > 0 && squaredNorm(off) > Real(0.01) * p.depth * p.depth) continue;
        if (manifold.count > 1 && !isOnBody(p)) continue;
        add(t, p.position, p.normal, p.depth, p.feature1, sharp);
      }
      if (out_.size() == before)
        add(t, (pair.pointA + pair.pointB) * Real(0.5), pair.normal, -pair.distance, -1, sharp);
      return;
    }
    const Vec3 v[3] = {X_CS_ * v_S[0], X_CS_ * v_S[1], X_CS_ * v_S[2]};
    Vec3 common = pair.pointB;
    const bool found = findCommonPoint(v, transposeTimes(X_SC_.rotation, n_S), &common);
    addOwnNormal(t, n_S, v, found ? &common : nullptr);
    for (std::size_t i = before; i < out_.size(); ++i) out_[i].sharp = sharp;
    if (out_.size() == before)
      keepSpare(t, (pair.pointA + pair.pointB) * Real(0.5), pair.normal, -pair.distance, -1);
  }

  [[nodiscard]] static ConvexView<Real> triangleView(const Vec3* v_S) {
    ConvexView<Real> triangle;
    triangle.core = CoreType::Triangle;
    triangle.triangle = v_S;
    triangle.center = (v_S[0] + v_S[1] + v_S[2]) * Real(1.0 / 3.0);
    Real r2 = 0;
    for (int k = 0; k < 3; ++k) r2 = larger(r2, squaredNorm(v_S[k] - triangle.center));
    triangle.boundingRadius = std::sqrt(r2);
    return triangle;
  }

  [[nodiscard]] SurfaceContact makeContact(int t, const Vec3& position_C, const Vec3& normal_C,
                                           Real depth, std::int32_t feature) const {
    return {X_SC_ * position_C, X_SC_.rotation * normal_C, depth, t, feature};
  }
  void add(int t, const Vec3& position_C, const Vec3& normal_C, Real depth, std::int32_t feature,
           bool sharp = false) {
    out_.push_back(makeContact(t, position_C, normal_C, depth, feature));
    out_.back().sharp = sharp;
  }

  const Surface& surface_;
  const ConvexView<Real>& view_;
  const Transform& X_SC_;
  Transform X_CS_;
  std::vector<SurfaceContact>& out_;
  bool touched_ = false;
  bool anySharp_ = false;  // of the touched triangles
  static constexpr int kMaxHullTriangles = 16;
  static constexpr int kPatch = 6;  // a smooth patch of more triangles is left along one of them
  int touchedTriangles_[kMaxHullTriangles];
  int numTouched_ = 0;  // one more than there is room for: too many
  bool hasSpare_ = false;
  SurfaceContact spare_;
  PolytopeFaces faces_;
  Vec3 polygon_[PolytopeFaces::kMaxPolygon];  // scratch of addToPolytope()
};

}  // namespace tangere::collision
