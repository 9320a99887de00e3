// SPDX-License-Identifier: Apache-2.0
#include "contact/reduce_patches.hpp"

#include "math/contact_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace tangere::contact {

namespace {

using collision::ContactPolygon;

/// Cosine of the angle within which the normals of a patch lie.
constexpr Real kFlat = 0.94;

/// A vector in the plane of a patch, and a symmetric tensor of it.
struct Plane2 {
  Real u = 0, v = 0;
};
struct Tensor2 {
  Real uu = 0, uv = 0, vv = 0;
};

int markPatches(std::span<const PressureContact> polygons, std::vector<int>* patchOf);
void reducePatch(std::span<const PressureContact> polygons, std::span<const int> patchOf, int patch,
                 std::size_t firstShown, PressureWorkspace& pressure);

}  // namespace

void reducePatches(const model::ModelData& model, PressureWorkspace& pressure) {
  std::vector<PressureContact>& found = pressure.found;
  std::swap(found, pressure.contacts);
  pressure.contacts.clear();
  pressure.shown.resize(found.size());
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
      shown.polygon = found[i].polygon;
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
      const std::span<const PressureContact> polygons(found.data() + begin, end - begin);
      const int numPatches = markPatches(polygons, &pressure.patchOf);
      for (int patch = 0; patch < numPatches; ++patch)
        reducePatch(polygons, pressure.patchOf, patch, begin, pressure);
    }
    begin = end;
  }
}

namespace {

/// Each polygon joins the first patch whose first normal is near its own; returns how many patches
/// there are.
int markPatches(std::span<const PressureContact> polygons, std::vector<int>* patchOf) {
  patchOf->assign(polygons.size(), -1);
  int count = 0;
  for (std::size_t first = 0; first < polygons.size(); ++first) {
    if ((*patchOf)[first] >= 0) continue;
    for (std::size_t i = first; i < polygons.size(); ++i) {
      if ((*patchOf)[i] < 0 &&
          dot(polygons[i].polygon.normal, polygons[first].polygon.normal) > kFlat)
        (*patchOf)[i] = count;
    }
    ++count;
  }
  return count;
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

/// Second moments of the area about the centroid, per area.
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
  if (!(area > 0)) return {};
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

/// A patch as the sum of its polygons.
struct Patch {
  Vec3 normal{};
  Real area = 0, stiffness = 0;
  Vec3 center{}, point1{}, point2{};  ///< by stiffness
  Tensor2 moments;                    ///< of the stiffness about the centre, per stiffness
  Real gap = 0;                       ///< at the centre
  Plane2 slope;                       ///< of the gap
};

/// Calls function(polygon, index) for those of the patch.
template <class Function>
void forEach(std::span<const PressureContact> polygons, std::span<const int> patchOf, int patch,
             const Function& function) {
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    if (patchOf[i] == patch) function(polygons[i], i);
  }
}

/// What a polygon does along the normal of its patch.
struct Share {
  Real stiffness = 0, gap = 0;
};
Share shareOf(const PressureContact& contact, const Vec3& normal) {
  const Real along = std::max<Real>(dot(contact.polygon.normal, normal), Real(0.1));
  return {contact.polygon.area * contact.polygon.gradient * along * along, contact.gap / along};
}

Patch sumOf(std::span<const PressureContact> polygons, std::span<const int> patchOf, int index,
            const Mat3& frame) {
  const Vec3 &u = frame.col[0], &v = frame.col[1];
  Patch patch;
  patch.normal = frame.col[2];
  forEach(polygons, patchOf, index, [&](const PressureContact& contact, std::size_t) {
    const Share share = shareOf(contact, patch.normal);
    patch.area += contact.polygon.area;
    patch.stiffness += share.stiffness;
    patch.center += contact.polygon.centroid * share.stiffness;
    patch.point1 += contact.point1 * share.stiffness;
    patch.point2 += contact.point2 * share.stiffness;
    patch.gap += share.gap * share.stiffness;
  });
  const Real inverse = 1 / patch.stiffness;
  patch.center = patch.center * inverse;
  patch.point1 = patch.point1 * inverse;
  patch.point2 = patch.point2 * inverse;
  patch.gap *= inverse;
  Plane2 tilt;  // first moments of the gap
  forEach(polygons, patchOf, index, [&](const PressureContact& contact, std::size_t) {
    const Share share = shareOf(contact, patch.normal);
    const Real weight = share.stiffness * inverse;
    const Vec3 d = contact.polygon.centroid - patch.center;
    const Real du = dot(d, u), dv = dot(d, v);
    const Corners corners = cornersOf(contact.polygon, u, v);
    const Tensor2 own = momentsOf(corners, contact.polygon.numVertices);
    const Plane2 slope = slopeOf(contact.polygon, corners);
    patch.moments.uu += weight * (own.uu + du * du);
    patch.moments.uv += weight * (own.uv + du * dv);
    patch.moments.vv += weight * (own.vv + dv * dv);
    tilt.u += weight * (share.gap * du + own.uu * slope.u + own.uv * slope.v);
    tilt.v += weight * (share.gap * dv + own.uv * slope.u + own.vv * slope.v);
  });
  patch.slope = solve(patch.moments, tilt);
  return patch;
}

/// Along the force; along the areas where there is none.
Vec3 normalOf(std::span<const PressureContact> polygons, std::span<const int> patchOf, int patch) {
  Vec3 byForce{}, byArea{};
  forEach(polygons, patchOf, patch, [&](const PressureContact& contact, std::size_t) {
    byArea += contact.polygon.normal * contact.polygon.area;
    byForce += contact.polygon.normal * (contact.polygon.area * contact.polygon.pressure);
  });
  const Vec3& sum = norm(byForce) > 0 ? byForce : byArea;
  return sum * (1 / norm(sum));
}

void reducePatch(std::span<const PressureContact> polygons, std::span<const int> patchOf, int index,
                 std::size_t firstShown, PressureWorkspace& pressure) {
  const Mat3 frame = math::contactFrame(normalOf(polygons, patchOf, index));
  const Patch patch = sumOf(polygons, patchOf, index, frame);
  const int firstContact = static_cast<int>(pressure.contacts.size());

  // Columns of the root of the moments, which unlike principal axes never jump.
  const Real a = std::sqrt(std::max<Real>(patch.moments.uu, 0));
  const Real b = a > 0 ? patch.moments.uv / a : 0;
  const Real c = std::sqrt(std::max<Real>(patch.moments.vv - b * b, 0));
  const Real root2 = std::sqrt(Real(2));
  const Plane2 offsets[4] = {
      {root2 * a, root2 * b}, {-root2 * a, -root2 * b}, {0, root2 * c}, {0, -root2 * c}};
  const auto first = std::find(patchOf.begin(), patchOf.end(), index) - patchOf.begin();
  for (int part = 0; part < 4; ++part) {
    PressureContact& point = pressure.contacts.emplace_back(polygons[first]);
    const Vec3 offset = frame.col[0] * offsets[part].u + frame.col[1] * offsets[part].v;
    const Real gap = patch.gap + patch.slope.u * offsets[part].u + patch.slope.v * offsets[part].v;
    point.part = part;
    point.isForeseen = false;
    point.gap = gap;
    point.point1 = patch.point1 + offset;
    point.point2 = patch.point2 + offset;
    point.polygon.normal = patch.normal;
    point.polygon.centroid = patch.center + offset;
    point.polygon.area = patch.area / 4;
    point.polygon.gradient = patch.stiffness / patch.area;
    point.polygon.pressure = -gap * point.polygon.gradient;
  }

  Real total = 0;
  forEach(polygons, patchOf, index, [&](const PressureContact& contact, std::size_t) {
    total += contact.polygon.area * std::max<Real>(contact.polygon.pressure, 0);
  });
  forEach(polygons, patchOf, index, [&](const PressureContact& contact, std::size_t i) {
    PatchPolygon& shown = pressure.shown[firstShown + i];
    const Real own = contact.polygon.area * std::max<Real>(contact.polygon.pressure, 0);
    shown.firstContact = firstContact;
    shown.numContacts = 4;
    shown.share = total > 0 ? own / total : contact.polygon.area / patch.area;
  });
}

}  // namespace

}  // namespace tangere::contact
