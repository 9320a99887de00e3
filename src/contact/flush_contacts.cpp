// SPDX-License-Identifier: Apache-2.0
#include "contact/flush_contacts.hpp"

#include "contact/common_place.hpp"
#include "contact/find_contacts.hpp"
#include "contact/foresee_contacts.hpp"
#include "contact/solid_shape.hpp"
#include "geometry/flat_shape.hpp"
#include "math/contact_frame.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::contact {

namespace {

/// One minus the cosine of what two normals of one plane differ by at most.
constexpr Real kSameNormal = 1e-10;
/// Cosine of what the normal of a contact and that of the face it is on differ by at most.
constexpr Real kAlike = 0.99;
/// Of a mesh all of whose faces are looked through: a tile, a slab, a ramp.
constexpr std::size_t kMostTriangles = 64;

/// A shape and one that it touches.
struct Touch {
  ObjectId shape = 0, other = 0;
};

/// Whose normals point from `other` to the shape.
Vec3 outward(const Touch& touch, const ContactManifold& manifold, const Vec3& normal) {
  return manifold.object1 == touch.shape ? normal : -normal;
}

/// How far a shape reaches along a unit vector of the world; false for what has no end there.
bool reachAlong(const model::ModelData& model, const model::Workspace& ws, ObjectId shape,
                const Vec3& n, Real* reach) {
  const Shape& s = solidOf(model.shapes[shape]);
  const Transform& X_WS = ws.shapePose[shape];
  const Vec3 n_S = transposeTimes(X_WS.rotation, n);
  if (s.type() == ShapeType::Plane) {
    if (!(n_S.z >= 1 - kSameNormal)) return false;
    *reach = dot(n, X_WS.translation);
    return true;
  }
  *reach = dot(n, X_WS * s.support(n_S));
  return true;
}

/// The normal of the face of a shape that faces most along `n`, where that is about the same; zero
/// where there is none.
Vec3 faceAlong(const model::ModelData& model, const model::Workspace& ws, ObjectId shape,
               const Vec3& n) {
  const Shape& s = solidOf(model.shapes[shape]);
  const Mat3& R = ws.shapePose[shape].rotation;
  const Vec3 n_S = transposeTimes(R, n);
  Vec3 face{};
  Real best = kAlike;
  const auto take = [&](const Vec3& normal) {
    const Real along = dot(normal, n_S);
    if (along < best) return;
    best = along;
    face = normal;
  };
  switch (s.type()) {
    case ShapeType::Box:
      for (const Vec3& axis : Mat3::identity().col) take(dot(axis, n_S) < 0 ? -axis : axis);
      break;
    case ShapeType::Cylinder:
      take({0, 0, n_S.z < 0 ? Real(-1) : Real(1)});
      break;
    case ShapeType::Cone:
      take({0, 0, -1});
      break;
    case ShapeType::Plane:
      take({0, 0, 1});
      break;
    case ShapeType::Convex: {
      const kernel::HullView<Real>& hull = *s.flat().convex.hull;
      for (int f = 0; f < hull.numFaces; ++f) take(hull.faceNormal[f]);
      break;
    }
    case ShapeType::Mesh: {
      const auto& mesh = static_cast<const Mesh&>(s);
      if (mesh.triangles().size() > kMostTriangles) break;
      for (const Triangle& t : mesh.triangles()) {
        const auto at = [&](int i) { return mesh.vertices()[static_cast<std::size_t>(i)]; };
        const Vec3 area = cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0]));
        take(area / norm(area));
      }
      break;
    }
    default:
      break;
  }
  return R * face;
}

/// The directions along which a manifold with another tells that a shape is parted from it: its
/// normals, and those of the other's faces.
struct Directions {
  static constexpr int kMost = 2 * ContactManifold::kMaxPoints;
  Vec3 n[kMost];
  int count = 0;

  [[nodiscard]] bool has(const Vec3& normal) const {
    return std::any_of(n, n + count,
                       [&](const Vec3& one) { return dot(one, normal) >= 1 - kSameNormal; });
  }
  void add(const Vec3& normal) {
    if (!has(normal)) n[count++] = normal;
  }
};

Directions directionsOf(const Touch& touch, const ContactManifold& manifold) {
  Directions out;
  for (const ContactPoint& point : manifold.contacts())
    out.add(outward(touch, manifold, point.normal));
  return out;
}

/// A tilted box has its own normal with a floor: the floor ends along another.
void addFaces(const model::ModelData& model, const model::Workspace& ws, ObjectId other,
              Directions* directions) {
  for (int d = directions->count - 1; d >= 0; --d) {
    const Vec3 face = faceAlong(model, ws, other, directions->n[d]);
    if (face != Vec3{}) directions->add(face);
  }
}

/// A point at which a shape meets another, seen from the shape.
struct Meeting {
  Vec3 place{};   ///< of the shape
  Vec3 normal{};  ///< to the shape
};

/// What a neighbour of the other shape says of it.
struct Hiding {
  Vec3 normal{};   ///< to the shape; zero: nothing is hidden
  Real plane = 0;  ///< where the other shape ends along it
  Real step = 0;   ///< what the two surfaces differ by
};

/// A shape that is tilted a little has a normal of its own with what it lies on: that of a face.
bool isOwn(const model::ModelData& model, const model::Workspace& ws, const Touch& touch,
           std::span<const Meeting> meetings, const Vec3& n) {
  return std::all_of(meetings.begin(), meetings.end(), [&](const Meeting& one) {
    const auto isFace = [&](ObjectId shape, const Vec3& normal) {
      return dot(faceAlong(model, ws, shape, normal), normal) >= 1 - kSameNormal;
    };
    return dot(one.normal, n) >= kAlike &&
           (isFace(touch.shape, -one.normal) || isFace(touch.other, one.normal));
  });
}

/// Whether `by`, a manifold of the shape with a neighbour of the other, tells that what it meets is
/// under the plane in which both end. sinkingAlong(normal): how far it may be under that. Of a fast
/// pair some points are there to keep the whole side of one away from the other.
template <class SinkingAlong>
Hiding hidingOf(const model::ModelData& model, const model::Workspace& ws, const Touch& touch,
                std::span<const Meeting> meetings, const SinkingAlong& sinkingAlong, bool isFast,
                ObjectId neighbour, const ContactManifold& by) {
  Directions directions = directionsOf({touch.shape, neighbour}, by);
  Hiding best;
  const auto isAlong = [&](const Meeting& one) { return directions.has(one.normal); };
  if (std::all_of(meetings.begin(), meetings.end(), isAlong)) return best;
  addFaces(model, ws, neighbour, &directions);
  if (std::all_of(meetings.begin(), meetings.end(), isAlong)) return best;
  const Real slop = model.options.impulse.slop;
  best.step = slop;
  for (int d = 0; d < directions.count; ++d) {
    const Vec3& n = directions.n[d];
    Real plane = 0, reach = 0;
    if (!reachAlong(model, ws, neighbour, n, &plane) ||
        !reachAlong(model, ws, touch.other, n, &reach)) {
      continue;
    }
    const Real step = std::fabs(reach - plane);
    if (!(step <= slop) || (best.normal != Vec3{} && step >= best.step)) continue;
    const Real most = std::max<Real>(by.depth(), 0) + slop + sinkingAlong(n);
    const auto isAbove = [&](const Meeting& one) { return dot(n, one.place) - plane >= -most; };
    if (isFast ? std::none_of(meetings.begin(), meetings.end(), isAbove)
               : !std::all_of(meetings.begin(), meetings.end(), isAbove)) {
      continue;
    }
    // A surface that is not convex ends elsewhere, too.
    const auto isOnPlane = [&](const ContactPoint& point) {
      return std::fabs(dot(n, point.position) - plane) <= std::fabs(point.depth) + slop;
    };
    if (!std::all_of(by.contacts().begin(), by.contacts().end(), isOnPlane)) continue;
    if (isOwn(model, ws, touch, meetings, n)) return {};
    best = {n, reach, step};
  }
  return best;
}

/// Calls visit(neighbour, manifold) for the manifolds of a run until it returns true.
template <class Visit>
void forNeighbours(const model::Workspace& ws, int run, const Visit& visit) {
  if (run < 0) return;
  const model::ManifoldRuns& lists = ws.manifoldRuns;
  for (int i = lists.runs[static_cast<std::size_t>(run)].first; i >= 0;) {
    const model::ManifoldRuns::Link& link = lists.links[static_cast<std::size_t>(i)];
    if (visit(link.other, link.manifold)) return;
    i = link.next;
  }
}

/// The shapes of a body follow each other, and so do manifolds with them: only the run with fixed
/// bodies, of which there may be many, is resumed.
int runOf(const model::ModelData& model, const Touch& touch, model::ManifoldRuns* lists) {
  const int group = model.shapes[touch.other].flushGroup;
  if (group < 0) return -1;
  int& newest = lists->firstOfShape[touch.shape];
  int& fixed = lists->fixedOfShape[touch.shape];
  const bool isFixed = group == static_cast<int>(model.bodies.size());
  if (isFixed && fixed >= 0) return fixed;
  if (newest >= 0 && lists->runs[static_cast<std::size_t>(newest)].group == group) return newest;
  lists->runs.push_back({.group = group, .next = newest});
  newest = static_cast<int>(lists->runs.size()) - 1;
  if (isFixed) fixed = newest;
  return newest;
}

void listManifolds(const model::ModelData& model, model::Workspace& ws) {
  model::ManifoldRuns& lists = ws.manifoldRuns;
  lists.firstOfShape.assign(model.shapes.size(), -1);
  lists.fixedOfShape.assign(model.shapes.size(), -1);
  lists.runs.clear();
  lists.links.clear();
  lists.run.clear();
  const auto add = [&](const Touch& touch) {
    const int run = runOf(model, touch, &lists);
    if (run < 0) return -1;
    const int link = static_cast<int>(lists.links.size());
    lists.links.push_back({touch.other, static_cast<int>(lists.run.size())});
    model::ManifoldRun& into = lists.runs[static_cast<std::size_t>(run)];
    (into.first < 0 ? into.first : lists.links[static_cast<std::size_t>(into.last)].next) = link;
    into.last = link;
    return run;
  };
  for (const ContactManifold& manifold : ws.manifolds) {
    const int run1 = add({manifold.object1, manifold.object2});
    const int run2 = add({manifold.object2, manifold.object1});
    lists.run.push_back({run1, run2});
  }
}

/// A manifold that another hides.
struct Leveled {
  int manifold = 0;
  int by = 0;  ///< another manifold
  Touch touch{};
  Vec3 normal{};   ///< from shape 2 to shape 1 of the hidden one
  Real plane = 0;  ///< where the other shape ends along it, seen from the other
  Real step = 0;   ///< what the two surfaces differ by
};

const model::ForeseenManifold* foreseenOf(int manifold, const model::Workspace& ws) {
  const auto found = std::lower_bound(
      ws.foreseen.begin(), ws.foreseen.end(), manifold,
      [](const model::ForeseenManifold& f, int value) { return f.manifold < value; });
  return found != ws.foreseen.end() && found->manifold == manifold ? &*found : nullptr;
}

/// Adds all that hide the manifold from the first of its shapes, or from the second.
void findLevels(const model::ModelData& model, const model::Workspace& ws, int m, int side,
                std::vector<Leveled>* found) {
  const int run = ws.manifoldRuns.run[static_cast<std::size_t>(m)][static_cast<std::size_t>(side)];
  if (run < 0) return;
  const model::ManifoldRun& neighbours = ws.manifoldRuns.runs[static_cast<std::size_t>(run)];
  if (neighbours.first == neighbours.last) return;
  const ContactManifold& manifold = ws.manifolds[static_cast<std::size_t>(m)];
  const Touch touch = side == 0 ? Touch{manifold.object1, manifold.object2}
                                : Touch{manifold.object2, manifold.object1};
  Meeting meetings[ContactManifold::kMaxPoints];
  const auto count = static_cast<std::size_t>(manifold.count);
  for (std::size_t k = 0; k < count; ++k) {
    const ContactPoint& point = manifold.points[k];
    const Vec3 normal = outward(touch, manifold, point.normal);
    meetings[k] = {point.position - normal * (point.depth / 2), normal};
  }
  // Of a fast pair the place is where free motion would bring it.
  const model::ForeseenManifold* foreseen = foreseenOf(m, ws);
  const bool isFast = foreseen != nullptr && foreseen->isFast;
  const model::ShapePair pair{.shape1 = manifold.object1, .shape2 = manifold.object2};
  const auto sinkingAlong = [&](const Vec3& n) {
    return isFast ? std::max<Real>(approachAlong(model, ws, pair, outward(touch, manifold, n)), 0)
                  : Real(0);
  };
  forNeighbours(ws, run, [&](ObjectId neighbour, int other) {
    const ContactManifold& by = ws.manifolds[static_cast<std::size_t>(other)];
    const Hiding hiding =
        hidingOf(model, ws, touch, {meetings, count}, sinkingAlong, isFast, neighbour, by);
    if (hiding.normal != Vec3{})
      found->push_back(
          {m, other, touch, outward(touch, manifold, hiding.normal), hiding.plane, hiding.step});
    return false;
  });
}

/// Leaves of the relations those that say once of each manifold what hides it. What nothing hides
/// comes first: of four tiles that meet in a corner, two end in one plane sideways as well. Where
/// manifolds hide each other, the relation counts whose surfaces differ least. What is hidden hides
/// others only by the plane that hides it.
void settle(const model::Workspace& ws, std::vector<Leveled>* relations) {
  thread_local std::vector<std::uint8_t> isHidden, mayBeHidden, hides;
  thread_local std::vector<Vec3> normals;  // along which manifolds are hidden
  const std::size_t numManifolds = ws.manifolds.size();
  isHidden.assign(numManifolds, 0);
  normals.resize(numManifolds);
  hides.assign(numManifolds, 0);
  const auto at = [](int manifold) { return static_cast<std::size_t>(manifold); };
  std::size_t numSettled = 0;
  const auto take = [&](std::size_t r) {
    const Leveled one = (*relations)[r];
    isHidden[at(one.manifold)] = hides[at(one.by)] = 1;
    normals[at(one.manifold)] = one.normal;
    std::swap((*relations)[numSettled++], (*relations)[r]);
  };
  const auto isOpen = [&](const Leveled& one) {
    if (isHidden[at(one.manifold)] != 0 || hides[at(one.manifold)] != 0) return false;
    if (isHidden[at(one.by)] == 0) return true;
    const Vec3 n = outward(one.touch, ws.manifolds[at(one.manifold)], one.normal);
    return dot(outward(one.touch, ws.manifolds[at(one.by)], normals[at(one.by)]), n) >= kAlike;
  };
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    mayBeHidden.assign(numManifolds, 0);
    for (const Leveled& one : *relations)
      if (isOpen(one)) mayBeHidden[at(one.manifold)] = 1;
    std::size_t least = relations->size();
    for (std::size_t r = numSettled; r < relations->size(); ++r) {
      const Leveled& one = (*relations)[r];
      if (!isOpen(one)) continue;
      if (mayBeHidden[at(one.by)] == 0) {
        take(r);
        isChanged = true;
      } else if (least == relations->size() || one.step < (*relations)[least].step) {
        least = r;
      }
    }
    if (isChanged || least == relations->size()) continue;
    take(least);
    isChanged = true;
  }
  relations->resize(numSettled);
}

/// Adds what the pair of a hidden manifold has along the plane, when pressed together by `reach`,
/// to `out`, without points. The narrow phase may still see the side: then only the points of the
/// plane count that lie over the shape.
void collideAlong(const model::ModelData& model, const model::Workspace& ws, const Vec3& normal,
                  Real reach, ContactManifold* out) {
  const Vec3 push = normal * reach;
  thread_local CollisionResult scratch;
  scratch.clear();
  const Transform& X_W1 = ws.shapePose[out->object1];
  collide(solidOf(model.shapes[out->object1]), {X_W1.rotation, X_W1.translation - push},
          solidOf(model.shapes[out->object2]), ws.shapePose[out->object2], {}, scratch);
  for (ContactManifold& found : scratch.manifolds()) {
    const auto isAlong = [&](const ContactPoint& point) {
      return dot(point.normal, normal) >= 1 - kSameNormal;
    };
    const std::span<const ContactPoint> points = std::as_const(found).contacts();
    if (!std::all_of(points.begin(), points.end(), isAlong)) continue;
    moveBack(push, &found);
    found.object1 = out->object1;
    found.object2 = out->object2;
    *out = found;
    return;
  }
}

/// Whether the shape is right below what the point is over: `n` is the normal of its plane.
bool isOver(const model::ModelData& model, const model::Workspace& ws, ObjectId shape,
            const Vec3& point, const Vec3& n, Real plane) {
  static const Sphere probe(Real(1e-9));
  const Vec3 below = point + n * (plane - dot(n, point) - model.options.impulse.slop);
  return overlap(probe, {Mat3::identity(), below}, solidOf(model.shapes[shape]),
                 ws.shapePose[shape]);
}

/// The same from the lowest points of the shape over the plane of the other.
void collideOverPlane(const model::ModelData& model, const model::Workspace& ws,
                      const Leveled& leveled, Real reach, ContactManifold* out) {
  const bool isFirst = leveled.touch.shape == out->object1;
  const Vec3 up = isFirst ? leveled.normal : -leveled.normal;
  static const Plane plane;
  thread_local CollisionResult scratch;
  scratch.clear();
  const Transform& X_WS = ws.shapePose[leveled.touch.shape];
  collide(solidOf(model.shapes[leveled.touch.shape]),
          {X_WS.rotation, X_WS.translation - up * reach}, plane,
          {math::contactFrame(up), up * leveled.plane}, {}, scratch);
  for (ContactManifold& found : scratch.manifolds()) {
    moveBack(up * reach, &found);
    for (const ContactPoint& point : std::as_const(found).contacts()) {
      if (out->count == ContactManifold::kMaxPoints ||
          !isOver(model, ws, leveled.touch.other, point.position, up, leveled.plane)) {
        continue;
      }
      ContactPoint& added = out->points[out->count++] = point;
      added.normal = leveled.normal;
      if (!isFirst) std::swap(added.feature1, added.feature2);
    }
  }
}

void level(const model::ModelData& model, const State& state, model::Workspace& ws,
           const Leveled& leveled) {
  ContactManifold& manifold = ws.manifolds[static_cast<std::size_t>(leveled.manifold)];
  const ContactManifold& by = ws.manifolds[static_cast<std::size_t>(leveled.by)];
  const model::ForeseenManifold* foreseen = foreseenOf(leveled.by, ws);
  const bool isFast = foreseen != nullptr && foreseen->isFast;
  const model::ShapePair pair{.shape1 = manifold.object1, .shape2 = manifold.object2};
  manifold.count = 0;
  std::erase_if(ws.foreseen,
                [&](const model::ForeseenManifold& f) { return f.manifold == leveled.manifold; });
  // Of a fast pair the neighbour's manifold has the points of the whole plane.
  if (isFast) return;
  const Real gap = std::max<Real>(-by.depth(), 0), slop = model.options.impulse.slop;
  const Real reach =
      foreseen != nullptr ? reachOfForeseen(model, ws, pair, leveled.normal, gap) : slop;
  collideAlong(model, ws, leveled.normal, reach, &manifold);
  if (manifold.count == 0) collideOverPlane(model, ws, leveled, reach, &manifold);
  if (foreseen != nullptr && manifold.count > 0)
    addArms(model, state, pair, leveled.manifold, manifold, ws.foreseen);
}

/// Manifolds without points go; what names one by its place follows.
void removeEmpty(model::Workspace& ws) {
  std::size_t kept = 0, next = 0;
  for (std::size_t m = 0; m < ws.manifolds.size(); ++m) {
    const bool isKept = ws.manifolds[m].count > 0;
    for (; next < ws.foreseen.size() && ws.foreseen[next].manifold == static_cast<int>(m); ++next)
      ws.foreseen[next].manifold = static_cast<int>(kept);
    if (isKept) ws.manifolds[kept++] = ws.manifolds[m];
  }
  ws.manifolds.resize(kept);
}

}  // namespace

void levelFlushContacts(const model::ModelData& model, const State& state, model::Workspace& ws) {
  ws.manifoldRuns.firstOfShape.clear();
  if (!model.hasFlushGroups || ws.manifolds.size() < 2) return;
  listManifolds(model, ws);
  thread_local std::vector<Leveled> found;
  found.clear();
  for (int m = 0; m < static_cast<int>(ws.manifolds.size()); ++m)
    for (const int side : {0, 1}) findLevels(model, ws, m, side, &found);
  if (found.empty()) return;
  settle(ws, &found);
  for (const Leveled& leveled : found) level(model, state, ws, leveled);
  removeEmpty(ws);
  listManifolds(model, ws);
}

HiddenBy findHiding(const model::ModelData& model, const model::Workspace& ws,
                    const model::ShapePair& pair, const Vec3& normal, const Vec3& point,
                    Real within) {
  HiddenBy out;
  if (ws.manifoldRuns.firstOfShape.empty()) return out;
  const auto look = [&](const Touch& touch) {
    const int group = model.shapes[touch.other].flushGroup;
    if (group < 0 || out.normal != Vec3{}) return;
    const Real sign = touch.shape == pair.shape1 ? 1 : -1;
    const auto sinkingAlong = [&](const Vec3&) { return within; };
    const Meeting meeting{point, normal * sign};
    const auto isHiding = [&](ObjectId neighbour, int other) {
      const ContactManifold& by = ws.manifolds[static_cast<std::size_t>(other)];
      const Hiding hiding =
          hidingOf(model, ws, touch, {&meeting, 1}, sinkingAlong, false, neighbour, by);
      if (hiding.normal == Vec3{}) return false;
      out = {hiding.normal * sign, std::max<Real>(by.depth(), 0)};
      return true;
    };
    for (int run = ws.manifoldRuns.firstOfShape[touch.shape]; run >= 0;) {
      const model::ManifoldRun& one = ws.manifoldRuns.runs[static_cast<std::size_t>(run)];
      if (one.group == group) return forNeighbours(ws, run, isHiding);
      run = one.next;
    }
  };
  look({pair.shape1, pair.shape2});
  look({pair.shape2, pair.shape1});
  return out;
}

}  // namespace tangere::contact
