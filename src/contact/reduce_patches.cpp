// SPDX-License-Identifier: Apache-2.0
#include "contact/reduce_patches.hpp"

#include "contact/patch_groups.hpp"
#include "math/contact_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace tangere::contact {

namespace {

using collision::ContactPolygon;

/// A vector in the plane of a patch, and a symmetric tensor of it.
struct Plane2 {
  Real u = 0, v = 0;
};
struct Tensor2 {
  Real uu = 0, uv = 0, vv = 0;
};

/// The polygons of one patch of a pair.
struct PatchOf {
  std::span<const PressureContact> polygons;  ///< of the pair
  std::span<const int> patchOf;
  int index = 0;
  std::size_t firstShown = 0;
  /// The frame that the axes of the patch are taken from, and 1 when its body is object 1, else -1.
  Mat3 R_WS{};
  Real side = 1;

  /// Calls function(polygon, index) for those of the patch.
  template <class Function>
  void forEach(const Function& function) const {
    for (std::size_t i = 0; i < polygons.size(); ++i) {
      if (patchOf[i] == index) function(polygons[i], i);
    }
  }
  [[nodiscard]] std::size_t first() const {
    return static_cast<std::size_t>(std::find(patchOf.begin(), patchOf.end(), index) -
                                    patchOf.begin());
  }
};

ContactPolygon asCut(const PressureContact& contact);
void takeAxesOf(const model::ModelData& model, const model::Workspace& ws,
                const PressureContact& contact, PatchOf* patch);
void reducePatch(const PatchOf& of, PressureWorkspace& pressure);

}  // namespace

void reducePatches(const model::ModelData& model, const model::Workspace& ws,
                   PressureWorkspace& pressure) {
  std::vector<PressureContact>& found = pressure.found;
  std::swap(found, pressure.contacts);
  pressure.contacts.clear();
  pressure.shown.resize(found.size());
  pressure.patchError = 0;
  for (std::size_t begin = 0; begin < found.size();) {
    std::size_t end = begin;
    while (end < found.size() && found[end].object1 == found[begin].object1 &&
           found[end].object2 == found[begin].object2)
      ++end;
    // Vertices on a plane stay what they are.
    const bool isReduced =
        found[begin].object2 < model.shapes.size() && found[begin].polygon.numVertices > 1;
    for (std::size_t i = begin; i < end; ++i) {
      PatchPolygon& shown = pressure.shown[i];
      shown.polygon = asCut(found[i]);
      shown.object1 = found[i].object1;
      shown.object2 = found[i].object2;
      shown.firstContact = static_cast<int>(pressure.contacts.size());
      shown.numContacts = 1;
      shown.share = 1;
      shown.isForeseen = found[i].isForeseen;
      shown.depth = found[i].depth;
      if (!isReduced) pressure.contacts.push_back(found[i]);
    }
    if (isReduced) {
      PatchOf patch{
          .polygons = {found.data() + begin, end - begin}, .patchOf = {}, .firstShown = begin};
      takeAxesOf(model, ws, found[begin], &patch);
      const int numPatches = markPatches(patch.polygons, &pressure.patchOf);
      patch.patchOf = pressure.patchOf;
      for (; patch.index < numPatches; ++patch.index) reducePatch(patch, pressure);
    }
    begin = end;
  }
}

namespace {

/// The polygon as users see it: leaning on a layer, with its own area.
ContactPolygon asCut(const PressureContact& contact) {
  ContactPolygon out = contact.polygon;
  const Real along = dot(contact.leaning, out.normal);
  if (!(along > 0)) return out;
  out.normal = contact.leaning;
  out.area /= along;
  out.gradient *= along;
  return out;
}

/// The axes of a patch turn with the smaller of the two bodies, so that where its points are does
/// not depend on how the world's axes lie.
void takeAxesOf(const model::ModelData& model, const model::Workspace& ws,
                const PressureContact& contact, PatchOf* patch) {
  const bool isSecond = model.shapes[contact.object2].reach < model.shapes[contact.object1].reach;
  patch->side = isSecond ? -1 : 1;
  patch->R_WS = ws.shapePose[isSecond ? contact.object2 : contact.object1].rotation;
}

/// The corners of a polygon about its centroid, in the plane of u and v.
using Corners = std::array<Plane2, 8>;
Corners cornersOf(const ContactPolygon& polygon, const Vec3& u, const Vec3& v) {
  Corners corners;
  for (int i = 0; i < polygon.numVertices; ++i) {
    const Vec3 d = polygon.vertex[i] - polygon.centroid;
    corners[i] = {dot(d, u), dot(d, v)};
  }
  return corners;
}

/// Second moments of the area about the centroid, per area; whichever way the corners go round.
Tensor2 momentsOf(const Corners& corners, int numCorners) {
  Tensor2 sum;
  Real area = 0;
  for (int i = 0; i < numCorners; ++i) {
    // The triangle of the centroid and two vertices.
    const Plane2 &a = corners[i], &b = corners[i + 1 < numCorners ? i + 1 : 0];
    const Real twice = a.u * b.v - b.u * a.v;
    area += twice / 2;
    sum.uu += twice * (a.u * a.u + a.u * b.u + b.u * b.u) / 12;
    sum.vv += twice * (a.v * a.v + a.v * b.v + b.v * b.v) / 12;
    sum.uv += twice * (2 * a.u * a.v + a.u * b.v + b.u * a.v + 2 * b.u * b.v) / 24;
  }
  if (!(std::fabs(area) > 0)) return {};
  return {sum.uu / area, sum.uv / area, sum.vv / area};
}

/// x of t x = b; zero where t is singular.
Plane2 solve(const Tensor2& t, const Plane2& b) {
  const Real det = t.uu * t.vv - t.uv * t.uv;
  if (!(det > Real(1e-12) * t.uu * t.vv)) return {};
  return {(t.vv * b.u - t.uv * b.v) / det, (t.uu * b.v - t.uv * b.u) / det};
}

/// How the gap grows along a polygon: the least squares of the pressures of its corners.
Plane2 slopeOf(const ContactPolygon& polygon, const Corners& corners) {
  Tensor2 t;
  Plane2 b;
  for (int i = 0; i < polygon.numVertices; ++i) {
    const Real du = corners[i].u, dv = corners[i].v;
    const Real gap = -(polygon.vertexPressure[i] - polygon.pressure) / polygon.gradient;
    t.uu += du * du;
    t.uv += du * dv;
    t.vv += dv * dv;
    b.u += du * gap;
    b.v += dv * gap;
  }
  return solve(t, b);
}

/// A force, and its moment about some point.
struct Wrench {
  Vec3 force{}, moment{};

  void add(const Vec3& f, const Vec3& arm) {
    force += f;
    moment += cross(arm, f);
  }
};

/// The integral of the pressures of a polygon, about `origin`.
void addWrench(const ContactPolygon& polygon, const Vec3& origin, Wrench* sum) {
  const Vec3& a = polygon.vertex[0];
  const Real pa = polygon.vertexPressure[0];
  for (int i = 1; i + 1 < polygon.numVertices; ++i) {
    const Vec3 &b = polygon.vertex[i], &c = polygon.vertex[i + 1];
    const Real pb = polygon.vertexPressure[i], pc = polygon.vertexPressure[i + 1];
    const Real area = dot(cross(b - a, c - a), polygon.normal) / 2;
    sum->force += polygon.normal * (area * (pa + pb + pc) / 3);
    const Vec3 first = (a - origin) * (2 * pa + pb + pc) + (b - origin) * (pa + 2 * pb + pc) +
                       (c - origin) * (pa + pb + 2 * pc);
    sum->moment += cross(first * (area / 12), polygon.normal);
  }
}

/// A patch as the sum of its polygons.
struct Patch {
  Mat3 frame{};  ///< columns u, v and the normal
  Real area = 0, stiffness = 0;
  Vec3 center{}, point1{}, point2{};  ///< by stiffness
  Tensor2 moments;                    ///< of the stiffness about the centre, per stiffness
  Real gap = 0;                       ///< at the centre
  Plane2 slope;                       ///< of the gap
};

/// What a polygon does along the normal of its patch.
struct Share {
  Real stiffness = 0, gap = 0;
};
Share shareOf(const PressureContact& contact, const Vec3& normal) {
  const Real along = std::max<Real>(dot(contact.polygon.normal, normal), Real(0.1));
  return {contact.polygon.area * contact.polygon.gradient * along * along, contact.gap / along};
}

void addCenters(const PatchOf& of, Patch* patch) {
  of.forEach([&](const PressureContact& contact, std::size_t) {
    const Share share = shareOf(contact, patch->frame.col[2]);
    patch->area += contact.polygon.area;
    patch->stiffness += share.stiffness;
    patch->center += contact.polygon.centroid * share.stiffness;
    patch->point1 += contact.point1 * share.stiffness;
    patch->point2 += contact.point2 * share.stiffness;
    patch->gap += share.gap * share.stiffness;
  });
  const Real inverse = 1 / patch->stiffness;
  patch->center = patch->center * inverse;
  patch->point1 = patch->point1 * inverse;
  patch->point2 = patch->point2 * inverse;
  patch->gap *= inverse;
}

void addMoments(const PatchOf& of, Patch* patch) {
  const Vec3 &u = patch->frame.col[0], &v = patch->frame.col[1];
  Plane2 tilt;  // first moments of the gap
  of.forEach([&](const PressureContact& contact, std::size_t) {
    const Share share = shareOf(contact, patch->frame.col[2]);
    const Real weight = share.stiffness / patch->stiffness;
    const Vec3 d = contact.polygon.centroid - patch->center;
    const Real du = dot(d, u), dv = dot(d, v);
    const Corners corners = cornersOf(contact.polygon, u, v);
    const Tensor2 own = momentsOf(corners, contact.polygon.numVertices);
    const Plane2 slope = slopeOf(contact.polygon, corners);
    patch->moments.uu += weight * (own.uu + du * du);
    patch->moments.uv += weight * (own.uv + du * dv);
    patch->moments.vv += weight * (own.vv + dv * dv);
    tilt.u += weight * (share.gap * du + own.uu * slope.u + own.uv * slope.v);
    tilt.v += weight * (share.gap * dv + own.uv * slope.u + own.vv * slope.v);
  });
  patch->slope = solve(patch->moments, tilt);
}

Mat3 axesAbout(const Vec3& normal, const PatchOf& of) {
  const Mat3 inShape = math::contactFrame(transposeTimes(of.R_WS, normal * of.side));
  return {{of.R_WS * inShape.col[0], of.R_WS * inShape.col[1], normal}};
}

/// Columns of a root of a tensor, which unlike principal axes never jump: [a 0; b c].
struct Root {
  Real a = 0, b = 0, c = 0;
  explicit Root(const Tensor2& t) : a(std::sqrt(std::max<Real>(t.uu, 0))) {
    b = a > 0 ? t.uv / a : 0;
    c = std::sqrt(std::max<Real>(t.vv - b * b, 0));
  }
  [[nodiscard]] Plane2 times(const Plane2& x) const { return {a * x.u, b * x.u + c * x.v}; }
  /// x of root x = y; zero in directions in which the root has no width.
  [[nodiscard]] Plane2 solve(const Plane2& y) const {
    const Real least = Real(1e-9) * (a + c);
    Plane2 x;
    if (a > least) x.u = y.u / a;
    if (c > least) x.v = (y.v - b * x.u) / c;
    return x;
  }
};

/// Two pairs of points, each pair on both sides of the middle, and what each point has of the
/// stiffness.
struct FourPoints {
  Plane2 offset[4];
  Real share[4] = {Real(0.25), Real(0.25), Real(0.25), Real(0.25)};
};

/// Points about the origin whose stiffness has its centre at `center` and the second moments `own`
/// about that.
FourPoints placeAbout(const Plane2& center, const Tensor2& own) {
  const Root root(
      {own.uu + center.u * center.u, own.uv + center.u * center.v, own.vv + center.v * center.v});
  // Where the centre is in units of the root: within the unit circle, as the second moments about
  // the origin are at least its square. A pair can have its centre of stiffness at 1/sqrt(2) of its
  // half distance at most; with the axes turned towards the diagonal both pairs share it.
  constexpr Real kMost = 0.6;
  const Plane2 y = root.solve(center);
  const Real squared = y.u * y.u + y.v * y.v;
  const Real limit = std::max(kMost, std::sqrt(squared / 2));
  Real cosine = 1, sine = 0;
  Plane2 turned = y;
  if (std::max(std::fabs(y.u), std::fabs(y.v)) > limit) {
    const Real rest = std::sqrt(std::max<Real>(squared - limit * limit, 0));
    const bool isFirst = std::fabs(y.u) > std::fabs(y.v);
    turned = {std::copysign(isFirst ? limit : rest, y.u),
              std::copysign(isFirst ? rest : limit, y.v)};
    cosine = (y.u * turned.u + y.v * turned.v) / squared;
    sine = (y.u * turned.v - y.v * turned.u) / squared;
  }
  const Real root2 = std::sqrt(Real(2));
  const Plane2 along1 = root.times({root2 * cosine, -root2 * sine});
  const Plane2 along2 = root.times({root2 * sine, root2 * cosine});
  FourPoints out{.offset = {along1, {-along1.u, -along1.v}, along2, {-along2.u, -along2.v}}};
  // 1/4 of all, and more on the side of the centre; never nothing, which would be no spring at all.
  constexpr Real kLeast = 1e-3;
  for (int part = 0; part < 4; ++part) {
    const Real towards = (part < 2 ? turned.u : turned.v) / (2 * root2);
    out.share[part] = std::max(Real(0.25) + (part % 2 == 0 ? towards : -towards), kLeast);
  }
  return out;
}

/// A point of the patch where its first polygon was.
PressureContact& addPoint(const PatchOf& of, int part, PressureWorkspace& pressure) {
  PressureContact& point = pressure.contacts.emplace_back(of.polygons[of.first()]);
  point.part = part;
  point.isForeseen = false;
  return point;
}

/// Points of a patch that presses. Each has a quarter of the force, about the axis of the force: so
/// the points have the force and the moment of the polygons, and none of them pulls. Their
/// stiffness has the centre and the moments of that of the polygons.
void addPressedPoints(const PatchOf& of, const Patch& patch, const Wrench& wrench,
                      PressureWorkspace& pressure) {
  const Vec3 &u = patch.frame.col[0], &v = patch.frame.col[1], &normal = patch.frame.col[2];
  const Real force = norm(wrench.force);
  // The axis of the force: there its moment is about the normal alone.
  const Vec3 arm = cross(normal, wrench.moment) * (1 / force);
  const Real twist = dot(normal, wrench.moment);
  const FourPoints points = placeAbout({-dot(arm, u), -dot(arm, v)}, patch.moments);
  Vec3 offset[4];
  Real spread = 0;
  for (int part = 0; part < 4; ++part) {
    offset[part] = u * points.offset[part].u + v * points.offset[part].v;
    spread += force / 4 * squaredNorm(offset[part]);
  }
  // What polygons that lean have as a moment about the normal: the points lean as they do.
  const Real lean = spread > 0 ? twist / spread : 0;
  const Real farthest = std::sqrt(spread / force);
  const Real kept = std::min<Real>(1, 1 / std::max(std::fabs(lean) * farthest, Real(1e-300)));
  Wrench given;
  for (int part = 0; part < 4; ++part) {
    PressureContact& point = addPoint(of, part, pressure);
    const Vec3 leaning = normal + cross(normal, offset[part]) * (lean * kept);
    const Real length = norm(leaning);
    point.point1 = point.point2 = patch.center + arm + offset[part];
    point.polygon.normal = leaning * (1 / length);
    point.polygon.centroid = point.point1;
    point.polygon.area = patch.area * points.share[part];
    point.polygon.gradient = patch.stiffness / patch.area;
    point.polygon.pressure = force / 4 * length / point.polygon.area;
    point.gap = -point.polygon.pressure / point.polygon.gradient;
    given.add(point.polygon.normal * (point.polygon.area * point.polygon.pressure),
              point.point1 - patch.center);
  }
  const Real scale = std::sqrt(patch.moments.uu + patch.moments.vv + squaredNorm(arm));
  const Real error = std::max(norm(given.force - wrench.force),
                              scale > 0 ? norm(given.moment - wrench.moment) / scale : Real(0)) /
                     force;
  pressure.patchError = std::max(pressure.patchError, error);
}

/// Points of a patch without a force: where it will be, or just touches.
void addOpenPoints(const PatchOf& of, const Patch& patch, PressureWorkspace& pressure) {
  const FourPoints points = placeAbout({}, patch.moments);
  for (int part = 0; part < 4; ++part) {
    PressureContact& point = addPoint(of, part, pressure);
    const Plane2& at = points.offset[part];
    const Vec3 offset = patch.frame.col[0] * at.u + patch.frame.col[1] * at.v;
    // The gaps of the polygons, none of which is closed.
    point.gap = std::max<Real>(patch.gap + patch.slope.u * at.u + patch.slope.v * at.v, 0);
    point.point1 = patch.point1 + offset;
    point.point2 = patch.point2 + offset;
    point.polygon.normal = patch.frame.col[2];
    point.polygon.centroid = patch.center + offset;
    point.polygon.area = patch.area / 4;
    point.polygon.gradient = patch.stiffness / patch.area;
    point.polygon.pressure = -point.gap * point.polygon.gradient;
  }
}

/// The mean of the normals, by area.
Vec3 meanNormal(const PatchOf& of) {
  Vec3 sum{};
  of.forEach([&](const PressureContact& contact, std::size_t) {
    sum += contact.polygon.normal * contact.polygon.area;
  });
  return sum * (1 / norm(sum));
}

/// The integral of the pressures about the first corner of the patch; none of what is foreseen.
Wrench wrenchOf(const PatchOf& of, const Vec3& origin) {
  Wrench sum;
  of.forEach([&](const PressureContact& contact, std::size_t) {
    if (!contact.isForeseen) addWrench(contact.polygon, origin, &sum);
  });
  return sum;
}

void reducePatch(const PatchOf& of, PressureWorkspace& pressure) {
  Wrench wrench = wrenchOf(of, of.polygons[of.first()].polygon.centroid);
  const Real force = norm(wrench.force);
  Patch patch;
  patch.frame = axesAbout(force > 0 ? wrench.force * (1 / force) : meanNormal(of), of);
  addCenters(of, &patch);
  addMoments(of, &patch);
  const int firstContact = static_cast<int>(pressure.contacts.size());
  if (force > 0) {
    wrench = wrenchOf(of, patch.center);
    addPressedPoints(of, patch, wrench, pressure);
  } else {
    addOpenPoints(of, patch, pressure);
  }

  Real total = 0;
  of.forEach([&](const PressureContact& contact, std::size_t) {
    total += contact.polygon.area * std::max<Real>(contact.polygon.pressure, 0);
  });
  of.forEach([&](const PressureContact& contact, std::size_t i) {
    PatchPolygon& shown = pressure.shown[of.firstShown + i];
    const Real own = contact.polygon.area * std::max<Real>(contact.polygon.pressure, 0);
    shown.firstContact = firstContact;
    shown.numContacts = 4;
    shown.share = total > 0 ? own / total : contact.polygon.area / patch.area;
  });
}

}  // namespace

}  // namespace tangere::contact
