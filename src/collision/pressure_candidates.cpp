// SPDX-License-Identifier: Apache-2.0
#include "collision/pressure_candidates.hpp"

#include "core/stable_sort.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tangere::collision {

namespace {

using geometry::IndexPair;
using geometry::LinearBvh;
using geometry::ValueRange;
using kernel::FlatTriangle;
using kernel::PressureTet;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Aabb kEmptyBox{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};

/// Room for rounding in a bound on pressures, relative to the largest of the tets.
constexpr Real kPressureSlack = 1e-9;

Aabb intersection(const Aabb& a, const Aabb& b) {
  return {{std::fmax(a.lower.x, b.lower.x), std::fmax(a.lower.y, b.lower.y),
           std::fmax(a.lower.z, b.lower.z)},
          {std::fmin(a.upper.x, b.upper.x), std::fmin(a.upper.y, b.upper.y),
           std::fmin(a.upper.z, b.upper.z)}};
}

bool isEmpty(const Aabb& box) {
  return !(box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z);
}

/// Where two bodies can touch, in the frame of each.
struct OverlapRegion {
  Aabb inA = kEmptyBox, inB = kEmptyBox;
  Real margin = 0;
};

OverlapRegion overlapOf(const Aabb& boundsA, const Aabb& boundsB, const Transform& X_AB) {
  OverlapRegion region;
  region.margin = kTouchMargin * (norm(boundsA.lower) + norm(boundsA.upper) + norm(boundsB.lower) +
                                  norm(boundsB.upper) + norm(X_AB.translation));
  Aabb aroundB = transformed(boundsB, X_AB), aroundA = transformed(boundsA, inverse(X_AB));
  aroundB.expand(region.margin);
  aroundA.expand(region.margin);
  region.inA = intersection(boundsA, aroundB);
  region.inB = intersection(boundsB, aroundA);
  return region;
}

/// Indices of the elements whose boxes reach into the region; all of them without a tree.
void queryElements(const LinearBvh* tree, std::size_t numElements, const Aabb& region,
                   std::vector<std::int32_t>* found) {
  if (tree != nullptr) {
    tree->query(region, found);
  } else {
    found->resize(numElements);
    std::iota(found->begin(), found->end(), 0);
  }
}

PressureTet<Real> moved(PressureTet<Real> tet, const Transform& X) {
  for (Vec3& x : tet.x) x = X * x;
  tet.gradient = X.rotation * tet.gradient;
  return tet;
}

ValueRange rangeOf(const Real* pressure) {
  return {std::fmin(std::fmin(pressure[0], pressure[1]), std::fmin(pressure[2], pressure[3])),
          std::fmax(std::fmax(pressure[0], pressure[1]), std::fmax(pressure[2], pressure[3]))};
}

/// Largest value of the tet's linear field in a box: no more than this in tet and box.
Real largestIn(const Aabb& box, const PressureTet<Real>& tet) {
  const Vec3 half = box.halfExtents();
  return kernel::evaluate(tet.field(), box.center()) + kernel::dotMagnitude(tet.gradient, half);
}

/// Gathers the tets in `region` (frame of the mesh) and moves them by X; those without a gradient
/// are left out.
void gatherTets(const PressureMesh& mesh, const Aabb& region, const Transform& X,
                std::vector<std::int32_t>* found, TetCandidates* out) {
  out->clear();
  queryElements(mesh.tetTree, mesh.tets.size(), region, found);
  for (const std::int32_t i : *found) {
    if (mesh.gradient[i] == Vec3{}) continue;
    out->index.push_back(i);
    out->element.push_back(moved(tetOf(mesh, i), X));
    out->pressure.push_back(rangeOf(out->element.back().pressure));
  }
}

/// A bound on the pressure of the tets in the region.
Real largestPressure(const TetCandidates& tets, const Aabb& region) {
  Real largest = -kInfinity, scale = 0;
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const Real upper = tets.pressure[i].upper;
    scale = std::fmax(scale, std::fmax(upper, -tets.pressure[i].lower));
    if (upper <= largest) continue;
    const Real here = largestIn(region, tets.element[i]);
    const Real bound = here < upper ? here : upper;
    largest = bound > largest ? bound : largest;
  }
  return largest + kPressureSlack * scale;
}

/// Box of the part of the tet with a pressure of at most `cap`.
Aabb boxBelow(const PressureTet<Real>& tet, Real cap) {
  Aabb box = kEmptyBox;
  for (int i = 0; i < 4; ++i) {
    if (!(tet.pressure[i] <= cap)) continue;
    box.merge(tet.x[i]);
    for (int j = 0; j < 4; ++j) {
      if (!(tet.pressure[j] > cap)) continue;
      const Real share = (cap - tet.pressure[i]) / (tet.pressure[j] - tet.pressure[i]);
      box.merge(tet.x[i] + share * (tet.x[j] - tet.x[i]));
    }
  }
  return box;
}

/// Keeps the tets with a part in the region below `cap`. Returns the bounds of those parts.
Aabb cutTets(Real cap, const OverlapRegion& region, TetCandidates* tets) {
  std::size_t kept = 0;
  Aabb bounds = kEmptyBox;
  tets->box.clear();
  for (std::size_t i = 0; i < tets->size(); ++i) {
    if (tets->pressure[i].lower > cap) continue;
    Aabb box = intersection(boxBelow(tets->element[i], cap), region.inA);
    box.expand(region.margin);
    if (isEmpty(box)) continue;
    bounds.merge(box);
    tets->box.push_back(box);
    if (kept != i) {
      tets->index[kept] = tets->index[i];
      tets->element[kept] = tets->element[i];
      tets->pressure[kept] = tets->pressure[i];
    }
    ++kept;
  }
  tets->dropFrom(kept);
  return bounds;
}

/// Bounds of whole tets.
Aabb boundsOfTets(const TetCandidates& tets) {
  Aabb bounds = kEmptyBox;
  for (const PressureTet<Real>& tet : tets.element) {
    for (const Vec3& x : tet.x) bounds.merge(x);
  }
  return bounds;
}

/// A tighter region leaves fewer tets with lower pressures, and those a tighter region: goes on
/// while that takes away a fair part of the tets.
void narrowDown(OverlapRegion* region, TetCandidates* tets1, TetCandidates* tets2) {
  std::size_t before = 0, after = tets1->size() + tets2->size();
  do {
    before = after;
    const Real cap1 = largestPressure(*tets1, region->inA);
    const Real cap2 = largestPressure(*tets2, region->inA);
    // On the contact surface the pressures are equal: what one body cannot reach, none has.
    const Real cap = cap1 < cap2 ? cap1 : cap2;
    region->inA = intersection(region->inA, cutTets(cap, *region, tets1));
    region->inA = intersection(region->inA, cutTets(cap, *region, tets2));
    after = tets1->size() + tets2->size();
  } while (10 * after < 8 * before);
}

/// Gathers the triangles in the region, moved by X; returns the bounds of their parts there.
Aabb gatherTriangles(const PressureMesh& mesh, const OverlapRegion& region, const Transform& X,
                     std::vector<std::int32_t>* found, TriangleCandidates* out) {
  out->clear();
  Aabb bounds = kEmptyBox;
  queryElements(mesh.surfaceTree, mesh.surface.size(), region.inB, found);
  for (const std::int32_t i : *found) {
    FlatTriangle<Real> triangle;
    if (!triangleOf(mesh, i, &triangle)) continue;
    Aabb box = kEmptyBox;
    for (Vec3& x : triangle.x) {
      x = X * x;
      box.merge(x);
    }
    triangle.normal = X.rotation * triangle.normal;
    box = intersection(box, region.inA);
    box.expand(region.margin);
    if (isEmpty(box)) continue;
    out->index.push_back(i);
    out->element.push_back(triangle);
    out->box.push_back(box);
    bounds.merge(box);
  }
  return bounds;
}

/// Every pair: what is looked at where a body has no tree.
void allPairs(std::size_t sizeA, std::size_t sizeB, std::vector<IndexPair>* out) {
  out->clear();
  for (std::size_t i = 0; i < sizeA; ++i) {
    for (std::size_t j = 0; j < sizeB; ++j) {
      out->push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    }
  }
}

bool shareVertex(const Tet& a, const Tet& b) {
  return std::any_of(a.begin(), a.end(), [&](std::int32_t v) {
    return v == b[0] || v == b[1] || v == b[2] || v == b[3];
  });
}

/// Adds the pairs of tets that may touch within one region.
void addSelfPairs(const PressureMesh& a, const Aabb& region, PressureCandidates* out) {
  TetCandidates& tets = out->tets1;
  gatherTets(a, region, Transform::identity(), &out->found, &tets);
  for (const PressureTet<Real>& tet : tets.element) {
    Aabb box = kEmptyBox;
    for (const Vec3& x : tet.x) box.merge(x);
    tets.box.push_back(intersection(box, region));
  }
  tets.tree.build(tets.box, tets.pressure);
  const auto isApart = [&](std::int32_t i, std::int32_t j) {
    return !shareVertex(a.tets[tets.index[i]], a.tets[tets.index[j]]);
  };
  tets.tree.selfPairs(isApart, &out->scratch);
  for (const IndexPair& pair : out->scratch) {
    out->pairs.push_back({tets.index[pair.first], tets.index[pair.second]});
  }
}

}  // namespace

template <class Element>
void ElementCandidates<Element>::clear() {
  index.clear();
  element.clear();
  box.clear();
  pressure.clear();
}

template <class Element>
void ElementCandidates<Element>::dropFrom(std::size_t newSize) {
  index.resize(newSize);
  element.resize(newSize);
  pressure.resize(newSize);
}

template struct ElementCandidates<PressureTet<Real>>;
template struct ElementCandidates<FlatTriangle<Real>>;

PressureTet<Real> tetOf(const PressureMesh& mesh, std::int32_t index) {
  const Tet& tet = mesh.tets[index];
  PressureTet<Real> out;
  for (int k = 0; k < 4; ++k) {
    out.x[k] = mesh.vertices[tet[k]];
    out.pressure[k] = mesh.pressure[tet[k]];
  }
  out.gradient = mesh.gradient[index];
  return out;
}

bool triangleOf(const PressureMesh& mesh, std::int32_t index, FlatTriangle<Real>* out) {
  const Triangle& t = mesh.surface[index];
  return kernel::makeFlatTriangle(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]],
                                  out);
}

Aabb boundsOf(const LinearBvh* tree, std::span<const Vec3> vertices) {
  if (tree != nullptr || vertices.empty()) return tree != nullptr ? tree->bounds() : Aabb{};
  Aabb bounds{vertices[0], vertices[0]};
  for (const Vec3& v : vertices) bounds.merge(v);
  return bounds;
}

void findTetTetCandidates(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                          PressureCandidates* out) {
  out->pairs.clear();
  OverlapRegion region =
      overlapOf(boundsOf(a.tetTree, a.vertices), boundsOf(b.tetTree, b.vertices), X_AB);
  gatherTets(b, region.inB, X_AB, &out->found, &out->tets2);
  if (a.tetTree == nullptr || b.tetTree == nullptr) {
    gatherTets(a, region.inA, Transform::identity(), &out->found, &out->tets1);
    return allPairs(out->tets1.size(), out->tets2.size(), &out->pairs);
  }
  // The bounds of b's tets themselves: those of its box were turned, and are wider.
  Aabb aroundB = boundsOfTets(out->tets2);
  aroundB.expand(region.margin);
  region.inA = intersection(region.inA, aroundB);
  gatherTets(a, region.inA, Transform::identity(), &out->found, &out->tets1);
  narrowDown(&region, &out->tets1, &out->tets2);
  out->tets1.tree.build(out->tets1.box, out->tets1.pressure);
  out->tets2.tree.build(out->tets2.box, out->tets2.pressure);
  out->tets1.tree.pairs(out->tets2.tree, &out->pairs);
}

void findTetSurfaceCandidates(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                              PressureCandidates* out) {
  out->pairs.clear();
  OverlapRegion region =
      overlapOf(boundsOf(a.tetTree, a.vertices), boundsOf(b.surfaceTree, b.vertices), X_AB);
  region.inA =
      intersection(region.inA, gatherTriangles(b, region, X_AB, &out->found, &out->triangles2));
  gatherTets(a, region.inA, Transform::identity(), &out->found, &out->tets1);
  if (a.tetTree == nullptr || b.surfaceTree == nullptr) {
    return allPairs(out->tets1.size(), out->triangles2.size(), &out->pairs);
  }
  cutTets(largestPressure(out->tets1, region.inA), region, &out->tets1);
  out->tets1.tree.build(out->tets1.box);
  out->triangles2.tree.build(out->triangles2.box);
  out->tets1.tree.pairs(out->triangles2.tree, &out->pairs);
}

void findSelfCandidates(const PressureMesh& a, std::span<const Aabb> regions,
                        PressureCandidates* out) {
  out->pairs.clear();
  for (const Aabb& region : regions) addSelfPairs(a, region, out);
  if (regions.size() < 2) return;
  // Tets that reach into two regions came twice.
  core::stableSortByKey(out->pairs, out->scratch, [](const IndexPair& p) {
    return static_cast<std::uint64_t>(p.first) << 32 | static_cast<std::uint64_t>(p.second);
  });
  out->pairs.erase(std::unique(out->pairs.begin(), out->pairs.end()), out->pairs.end());
}

}  // namespace tangere::collision
