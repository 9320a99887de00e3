// SPDX-License-Identifier: Apache-2.0
#include "collision/pressure_contact.hpp"

#include "collision/kernels/plane_tet_slice.hpp"
#include "collision/kernels/tet_tet_surface.hpp"
#include "collision/kernels/triangle_tet_clip.hpp"
#include "collision/kernels/triangle_triangle.hpp"
#include "collision/pressure_candidates.hpp"
#include "collision/pressure_small_sets.hpp"
#include "core/assert.hpp"
#include "geometry/kernels/tet_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tangere::collision {

namespace {

using geometry::IndexPair;
using geometry::LinearBvh;
using kernel::FlatTriangle;
using kernel::HalfSpace;
using kernel::PressurePolygon;
using kernel::PressureTet;

static_assert(kernel::kMaxPressureVertices == std::tuple_size_v<decltype(ContactPolygon::vertex)>);

template <class Element>
Aabb boxOf(std::span<const Vec3> vertices, const Element& element) {
  const Vec3& first = vertices[element[0]];
  Aabb box{first, first};
  for (const std::int32_t v : element) box.merge(vertices[v]);
  return box;
}

template <class Element>
std::vector<Aabb>& boxesOf(std::span<const Vec3> vertices, std::span<const Element> elements) {
  thread_local std::vector<Aabb> boxes;
  boxes.resize(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) boxes[i] = boxOf(vertices, elements[i]);
  return boxes;
}

bool hasGradient(const PressureMesh& mesh, std::int32_t tet) {
  return !(mesh.gradient[tet] == Vec3{});
}

/// The half space in the frame of a body.
HalfSpace<Real> halfSpaceIn(const Transform& X_WA, const ContactPlane& plane, const Aabb& bounds) {
  const Real along = dot(plane.normal, X_WA.translation);
  return {transposeTimes(X_WA.rotation, plane.normal), plane.offset - along,
          std::fabs(plane.offset) + kernel::dotMagnitude(plane.normal, X_WA.translation) +
              kernel::absoluteSum(bounds.lower) + kernel::absoluteSum(bounds.upper)};
}

void append(const PressurePolygon<Real>& polygon, const Transform& X_WF, std::int32_t element1,
            std::int32_t element2, std::vector<ContactPolygon>* out) {
  ContactPolygon& p = out->emplace_back();
  p.element1 = element1;
  p.element2 = element2;
  p.numVertices = polygon.count;
  for (int i = 0; i < polygon.count; ++i) {
    p.vertex[i] = X_WF * polygon.vertex[i];
    p.vertexPressure[i] = polygon.vertexPressure[i];
  }
  p.centroid = X_WF * polygon.centroid;
  p.normal = X_WF.rotation * polygon.normal;
  p.area = polygon.area;
  p.pressure = polygon.pressure;
  p.gradient = polygon.gradient;
  std::copy_n(polygon.weight1, 4, p.weight1.begin());
  std::copy_n(polygon.weight2, 4, p.weight2.begin());
}

PressureCandidates& candidateMemory() {
  thread_local PressureCandidates candidates;
  return candidates;
}

/// Of the candidates, the pairs that the surface of equal pressure goes through.
void cutTetPairs(PressureCandidates* near) {
  near->tetCuts.clear();
  for (const IndexPair& pair : near->pairs) {
    TetCut cut{.pair = pair, .cut = {}};
    if (kernel::cutTetPair(near->tets1.element[pair.first], near->tets2.element[pair.second],
                           &cut.cut)) {
      near->tetCuts.push_back(cut);
    }
  }
}

/// The polygons of pairs that are sorted; each tet is measured once.
void appendTetCuts(const Transform& X_WA, PressureCandidates& near,
                   std::vector<ContactPolygon>* out) {
  if (near.tetCuts.empty()) return;
  near.isMeasured2.assign(near.tets2.size(), 0);
  near.measured2.resize(std::max(near.measured2.size(), near.tets2.size()));
  kernel::MeasuredTet<Real> measured1;
  std::int32_t last1 = -1;
  kernel::CutPolygon<Real> memory[2];
  PressurePolygon<Real> polygon;
  for (const TetCut& cut : near.tetCuts) {
    const std::int32_t i = cut.pair.first, j = cut.pair.second;
    if (i != last1) measured1.measure(near.tets1.element[i]);
    last1 = i;
    if (near.isMeasured2[j] == 0) near.measured2[j].measure(near.tets2.element[j]);
    near.isMeasured2[j] = 1;
    if (kernel::tetTetSurface(measured1, near.measured2[j], cut.cut, memory, &polygon)) {
      append(polygon, X_WA, near.tets1.index[i], near.tets2.index[j], out);
    }
  }
}

/// Lowest and highest point of a box over the plane, with room for rounding.
struct HeightRange {
  Real lower, upper;
};

HeightRange heightsOfBox(const HalfSpace<Real>& space, const Aabb& box) {
  const Vec3& n = space.normal;
  const Vec3 center = box.center(), half = box.halfExtents();
  const Real height = dot(n, center) - space.offset;
  const Real radius = kernel::dotMagnitude(n, half);
  const Real margin = kTouchMargin * space.reach;
  return {height - radius - margin, height + radius + margin};
}

/// The elements of a tree whose nodes accept(node), ascending; all of them without a tree.
template <class Accept>
const std::vector<std::int32_t>& candidates(const LinearBvh* tree, std::size_t size,
                                            const Accept& accept) {
  thread_local std::vector<std::int32_t> found;
  if (tree != nullptr) {
    tree->queryNodes(accept, &found);
  } else {
    found.resize(size);
    std::iota(found.begin(), found.end(), 0);
  }
  return found;
}

/// Tets where the body's pressure may equal that of a half space with `stiffness` times depth.
void findTetLayer(const PressureMesh& a, const Transform& X_WA, const HalfSpace<Real>& space,
                  Real stiffness, std::vector<ContactPolygon>* out) {
  const auto isNear = [&](const geometry::LinearBvhNode& node) {
    const HeightRange height = heightsOfBox(space, node.box);
    return -stiffness * height.lower >= node.valueLower &&
           -stiffness * height.upper <= node.valueUpper;
  };
  PressurePolygon<Real> polygon;
  for (const std::int32_t i : candidates(a.tetTree, a.tets.size(), isNear)) {
    if (!hasGradient(a, i)) continue;
    if (kernel::layerTetSlice(tetOf(a, i), space, stiffness, &polygon)) {
      append(polygon, X_WA, i, -1, out);
    }
  }
}

void findSurfaceLayer(const PressureMesh& a, const Transform& X_WA, const HalfSpace<Real>& space,
                      Real stiffness, std::vector<ContactPolygon>* out) {
  const auto isBelow = [&](const geometry::LinearBvhNode& node) {
    return heightsOfBox(space, node.box).lower <= 0;
  };
  PressurePolygon<Real> polygon;
  FlatTriangle<Real> triangle;
  for (const std::int32_t i : candidates(a.surfaceTree, a.surface.size(), isBelow)) {
    if (!triangleOf(a, i, &triangle)) continue;
    if (kernel::layerTriangleClip(triangle, space, stiffness, &polygon)) {
      append(polygon, X_WA, i, -1, out);
    }
  }
}

template <class Element>
bool shareVertex(const Element& a, const Element& b) {
  for (const std::int32_t i : a) {
    for (const std::int32_t j : b) {
      if (i == j) return true;
    }
  }
  return false;
}

/// The polygons of pairs of tets of one body.
void appendSelf(const PressureMesh& a, std::span<const IndexPair> pairs,
                std::vector<ContactPolygon>* out) {
  PressurePolygon<Real> polygon;
  for (const IndexPair& pair : pairs) {
    if (!hasGradient(a, pair.first) || !hasGradient(a, pair.second)) continue;
    if (kernel::tetTetSurface(tetOf(a, pair.first), tetOf(a, pair.second), &polygon)) {
      append(polygon, Transform::identity(), pair.first, pair.second, out);
    }
  }
}

/// What the triangles around a vertex add up to.
struct VertexShare {
  std::int32_t element = -1;
  int corner = 0;
  Real area = 0, stiffness = 0;  ///< along the normal [m^2, Pa m]
};

/// Growth of the pressure between a triangle's tetrahedron, along `into`, and the half space; rigid
/// sides do not yield.
Real growthAt(const PressureMesh& a, std::size_t triangle, const Vec3& into, Real stiffness) {
  if (a.tetOfSurface.empty()) return stiffness < kUnlimited ? stiffness : 0;
  const Real own = dot(a.gradient[a.tetOfSurface[triangle]], into);
  if (!(own > 0)) return 0;
  return stiffness < kUnlimited ? own * stiffness / (own + stiffness) : own;
}

}  // namespace

void computePressureGradients(std::span<const Vec3> vertices, std::span<const Tet> tets,
                              std::span<const Real> pressure, std::span<Vec3> gradient) {
  TANGERE_ASSERT(gradient.size() == tets.size());
  for (std::size_t i = 0; i < tets.size(); ++i) {
    Vec3 x[4];
    Real p[4];
    for (int k = 0; k < 4; ++k) {
      x[k] = vertices[tets[i][k]];
      p[k] = pressure[tets[i][k]];
    }
    kernel::tetGradient(x, p, &gradient[i]);
  }
}

void buildTetTree(std::span<const Vec3> vertices, std::span<const Tet> tets,
                  std::span<const Real> pressure, LinearBvh* tree) {
  std::vector<geometry::ValueRange> values(tets.size());
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const Tet& t = tets[i];
    const auto [low, high] =
        std::minmax({pressure[t[0]], pressure[t[1]], pressure[t[2]], pressure[t[3]]});
    values[i] = {low, high};
  }
  tree->build(boxesOf(vertices, tets), values);
}

void updateTetTree(std::span<const Vec3> vertices, std::span<const Tet> tets, LinearBvh* tree) {
  tree->update(boxesOf(vertices, tets));
}

void buildSurfaceTree(std::span<const Vec3> vertices, std::span<const Triangle> surface,
                      LinearBvh* tree) {
  tree->build(boxesOf(vertices, surface));
}

void findTetTet(const PressureMesh& a, const Transform& X_WA, const PressureMesh& b,
                const Transform& X_WB, std::vector<ContactPolygon>* out) {
  PressureCandidates& near = candidateMemory();
  const Transform X_AB = inverseTimes(X_WA, X_WB);
  const bool hasTrees = a.tetTree != nullptr && b.tetTree != nullptr;
  if (hasTrees && areSmall(a, b)) {
    findSmallTetTetCuts(a, b, X_AB, &near);
  } else {
    findTetTetCandidates(a, b, X_AB, &near);
    cutTetPairs(&near);
  }
  appendTetCuts(X_WA, near, out);
}

void findTetSurface(const PressureMesh& a, const Transform& X_WA, const PressureMesh& b,
                    const Transform& X_WB, std::vector<ContactPolygon>* out) {
  PressureCandidates& near = candidateMemory();
  const Transform X_AB = inverseTimes(X_WA, X_WB);
  PressurePolygon<Real> polygon;
  const bool hasTrees = a.tetTree != nullptr && b.surfaceTree != nullptr;
  if (hasTrees && areSmall(a, b)) {
    findSmallTetSurfaceCuts(a, b, X_AB, &near);
    kernel::CutPolygon<Real> memory[2];
    for (const TriangleCut& cut : near.triangleCuts) {
      const std::int32_t i = cut.pair.first, j = cut.pair.second;
      if (kernel::triangleTetClip(near.tets1.element[i], cut.height, near.triangles2.element[j],
                                  memory, &polygon)) {
        append(polygon, X_WA, near.tets1.index[i], near.triangles2.index[j], out);
      }
    }
    return;
  }
  findTetSurfaceCandidates(a, b, X_AB, &near);
  for (const IndexPair& pair : near.pairs) {
    if (kernel::triangleTetClip(near.tets1.element[pair.first],
                                near.triangles2.element[pair.second], &polygon)) {
      append(polygon, X_WA, near.tets1.index[pair.first], near.triangles2.index[pair.second], out);
    }
  }
}

void findTetPlane(const PressureMesh& a, const Transform& X_WA, const ContactPlane& plane,
                  std::vector<ContactPolygon>* out) {
  const HalfSpace<Real> space = halfSpaceIn(X_WA, plane, boundsOf(a.tetTree, a.vertices));
  const auto isCut = [&](const geometry::LinearBvhNode& node) {
    const HeightRange height = heightsOfBox(space, node.box);
    return height.lower <= 0 && height.upper >= 0;
  };
  PressurePolygon<Real> polygon;
  for (const std::int32_t i : candidates(a.tetTree, a.tets.size(), isCut)) {
    if (!hasGradient(a, i)) continue;
    if (kernel::planeTetSlice(tetOf(a, i), space, &polygon)) append(polygon, X_WA, i, -1, out);
  }
}

void findPlaneLayer(const PressureMesh& a, const Transform& X_WA, const ContactPlane& plane,
                    Real stiffness, std::vector<ContactPolygon>* out) {
  const bool isRigid = a.pressure.empty();
  const HalfSpace<Real> space =
      halfSpaceIn(X_WA, plane, boundsOf(isRigid ? a.surfaceTree : a.tetTree, a.vertices));
  if (isRigid) {
    findSurfaceLayer(a, X_WA, space, stiffness, out);
  } else {
    findTetLayer(a, X_WA, space, stiffness, out);
  }
}

void findPlaneVertices(const PressureMesh& a, const Transform& X_WA, const ContactPlane& plane,
                       Real stiffness, std::vector<ContactPolygon>* out) {
  thread_local std::vector<VertexShare> shares;
  shares.assign(a.vertices.size(), {});
  const Vec3 normal = transposeTimes(X_WA.rotation, plane.normal);
  const Real offset = plane.offset - dot(plane.normal, X_WA.translation);
  for (std::size_t i = 0; i < a.surface.size(); ++i) {
    const Triangle& triangle = a.surface[i];
    const Vec3 &p = a.vertices[triangle[0]], &q = a.vertices[triangle[1]],
               &r = a.vertices[triangle[2]];
    const Real lowest = std::min({dot(normal, p), dot(normal, q), dot(normal, r)});
    if (!(lowest < offset)) continue;
    const Real third = -dot(cross(q - p, r - p), normal) / 6;
    if (!(third > 0)) continue;
    const Real growth = growthAt(a, i, normal, stiffness);
    const std::int32_t element =
        a.tetOfSurface.empty() ? static_cast<std::int32_t>(i) : a.tetOfSurface[i];
    for (int k = 0; k < 3; ++k) {
      VertexShare& share = shares[triangle[k]];
      share.area += third;
      share.stiffness += third * growth;
      if (share.element >= 0) continue;
      share.element = element;
      share.corner = k;
      if (a.tetOfSurface.empty()) continue;
      const Tet& tet = a.tets[element];
      share.corner = static_cast<int>(std::find(tet.begin(), tet.end(), triangle[k]) - tet.begin());
    }
  }
  for (std::size_t v = 0; v < shares.size(); ++v) {
    const VertexShare& share = shares[v];
    const Real depth = offset - dot(normal, a.vertices[v]);
    if (!(share.stiffness > 0 && depth > 0)) continue;
    ContactPolygon& point = out->emplace_back();
    point.element1 = share.element;
    point.numVertices = 1;
    point.centroid = point.vertex[0] = X_WA * a.vertices[v];
    point.normal = plane.normal;
    point.area = share.area;
    point.gradient = share.stiffness / share.area;
    point.pressure = point.vertexPressure[0] = point.gradient * depth;
    point.weight1[static_cast<std::size_t>(share.corner)] = 1;
  }
}

void findSelf(const PressureMesh& a, std::vector<ContactPolygon>* out) {
  std::vector<IndexPair>& pairs = candidateMemory().pairs;
  const auto isApart = [&](std::int32_t i, std::int32_t j) {
    return !shareVertex(a.tets[i], a.tets[j]);
  };
  if (a.tetTree != nullptr) {
    a.tetTree->selfPairs(isApart, &pairs);
  } else {
    const std::int32_t n = static_cast<std::int32_t>(a.tets.size());
    pairs.clear();
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = i + 1; j < n; ++j) {
        if (isApart(i, j)) pairs.push_back({i, j});
      }
    }
  }
  appendSelf(a, pairs, out);
}

void findSelf(const PressureMesh& a, std::span<const Aabb> regions,
              std::vector<ContactPolygon>* out) {
  PressureCandidates& memory = candidateMemory();
  findSelfCandidates(a, regions, &memory);
  appendSelf(a, memory.pairs, out);
}

}  // namespace tangere::collision
