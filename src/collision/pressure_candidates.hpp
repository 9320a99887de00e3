// SPDX-License-Identifier: Apache-2.0
//
// Which elements of two bodies can share a contact polygon: those in the region where the bodies
// overlap, and of each tetrahedron only the part whose pressure can occur there. That part is what
// its box is made of: a sphere meshed by cones to its centre, every one as long as the radius, has
// small boxes at the surface in a shallow contact.
#pragma once

#include "collision/kernels/plane_tet_slice.hpp"
#include "collision/kernels/tet_tet_surface.hpp"
#include "collision/kernels/triangle_tet_clip.hpp"
#include "collision/pressure_contact.hpp"
#include "geometry/linear_bvh.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tangere::collision {

/// What rounding may have taken from boxes that touch, relative to the size of the bodies.
inline constexpr Real kTouchMargin = 1e-12;

/// Elements that were gathered from one body, in the frame of the pair, by ascending index.
template <class Element>
struct ElementCandidates {
  std::vector<std::int32_t> index;
  std::vector<Element> element;
  std::vector<Aabb> box;
  std::vector<geometry::ValueRange> pressure;
  geometry::LinearBvh tree;

  [[nodiscard]] std::size_t size() const { return index.size(); }
  void clear();
  void dropFrom(std::size_t newSize);
};
using TetCandidates = ElementCandidates<kernel::PressureTet<Real>>;
using TriangleCandidates = ElementCandidates<kernel::FlatTriangle<Real>>;

/// A pair that the surface of equal pressure, or the plane of the triangle, goes through.
struct TetCut {
  geometry::IndexPair pair;
  kernel::TetPairCut<Real> cut;
};
struct TriangleCut {
  geometry::IndexPair pair;
  Real height[4];  ///< of the corners of the tet over the plane
};

/// The memory of a search; pairs name places in `tets1` and `tets2` (or `triangles2`).
struct PressureCandidates {
  TetCandidates tets1, tets2;
  TriangleCandidates triangles2;
  std::vector<geometry::IndexPair> pairs;
  std::vector<std::int32_t> found;
  std::vector<geometry::IndexPair> scratch;
  std::vector<TetCut> tetCuts;
  std::vector<TriangleCut> triangleCuts, triangleScratch;
  std::vector<kernel::MeasuredTet<Real>> measured2;
  std::vector<std::uint8_t> isMeasured2;
};

/// A tet of a mesh with its pressure, in the frame of the mesh.
[[nodiscard]] kernel::PressureTet<Real> tetOf(const PressureMesh& mesh, std::int32_t index);
/// False for a triangle without an area.
bool triangleOf(const PressureMesh& mesh, std::int32_t index, kernel::FlatTriangle<Real>* out);

/// Bounds of the elements: those of the tree, or of the vertices without one.
[[nodiscard]] Aabb boundsOf(const geometry::LinearBvh* tree, std::span<const Vec3> vertices);

/// Fills pairs, sorted, with the tets of a and b that may touch; in the frame of a.
void findTetTetCandidates(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                          PressureCandidates* out);
/// The same for the tets of a and the triangles of b.
void findTetSurfaceCandidates(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                              PressureCandidates* out);
/// Fills pairs, sorted, with the tets of one body, first < second, that share no vertex and may
/// touch in one of the regions; here the pairs name the tets themselves.
void findSelfCandidates(const PressureMesh& a, std::span<const Aabb> regions,
                        PressureCandidates* out);

}  // namespace tangere::collision
