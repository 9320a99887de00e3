// SPDX-License-Identifier: Apache-2.0
//
// The faces and edges of a box or of a hull against single triangles, in the frame of the body.
#pragma once

#include "collision/kernels/convex_manifold.hpp"
#include "collision/mesh_surface.hpp"
#include "collision/mesh_traversal.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace tangere::collision {

/// Empty for a curved or rounded body. One at a time per thread: the faces are kept in its scratch.
class PolytopeFaces {
 public:
  /// At most so many faces are told that cut a triangle.
  static constexpr int kMaxCutting = 64;
  static constexpr int kMaxPolygon = kMaxCutting + 4;

  /// `view` must outlive it.
  explicit PolytopeFaces(const ConvexView<Real>& view) : view_(view) {
    if (view.radius != 0) return;
    if (view.core == CoreType::Box) {
      for (int f = 0; f < 6; ++f) {
        boxNormal_[f] = {};
        boxNormal_[f][f >> 1] = (f & 1) != 0 ? 1 : -1;
        boxOffset_[f] = view.size[f >> 1];
      }
      numFaces_ = 6;
      faceNormal_ = boxNormal_;
      faceOffset_ = boxOffset_;
    } else if (view.core == CoreType::Hull) {
      numFaces_ = view.hull->numFaces;
      faceNormal_ = view.hull->faceNormal;
      faceOffset_ = view.hull->faceOffset;
    }
    if (numFaces_ > 0) fillBlocks();
  }
  PolytopeFaces(const PolytopeFaces&) = delete;
  PolytopeFaces& operator=(const PolytopeFaces&) = delete;

  [[nodiscard]] bool empty() const { return numFaces_ == 0; }
  [[nodiscard]] const Vec3& normal(int face) const { return faceNormal_[face]; }
  [[nodiscard]] Real offset(int face) const { return faceOffset_[face]; }

  /// The face with the least overlap of the triangle, its vertex that is lowest there, and the
  /// faces that cut the triangle. False when a face separates them. Four faces at a time in float;
  /// what that cannot settle is left to the exact clipping that follows.
  bool compare(const Vec3* v, Real* overlap, int* face, int* lowest, int* cutting,
               int* numCutting) const {
    Real extent = view_.boundingRadius;
    for (int k = 0; k < 3; ++k)
      extent =
          larger(extent, larger(std::fabs(v[k].x), larger(std::fabs(v[k].y), std::fabs(v[k].z))));
    const float slack = 2e-6f * float(extent);
    Float4 x[3], y[3], z[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = splat(float(v[k].x));
      y[k] = splat(float(v[k].y));
      z[k] = splat(float(v[k].z));
    }
    float least = 1e30f;
    int best = 0;
    for (int b = 0; b < numBlocks_; ++b) {
      const FaceBlock& f = block_[b];
      const Float4 d0 = f.x * x[0] + f.y * y[0] + f.z * z[0];
      const Float4 d1 = f.x * x[1] + f.y * y[1] + f.z * z[1];
      const Float4 d2 = f.x * x[2] + f.y * y[2] + f.z * z[2];
      const Float4 o = f.offset - min4(d0, min4(d1, d2));
      if (maskOf(o < splat(-slack)) != 0) return false;
      int cut = maskOf(max4(d0, max4(d1, d2)) > f.offset - slack);
      for (int i = 0; cut != 0; ++i, cut >>= 1)
        if ((cut & 1) != 0) {
          if (*numCutting < kMaxCutting) cutting[*numCutting] = 4 * b + i;
          ++*numCutting;
        }
      const int nearer = maskOf(o < splat(least));
      for (int i = 0; i < 4 && nearer != 0; ++i)
        if (o[i] < least) {
          least = o[i];
          best = 4 * b + i;
        }
    }
    if (slack > 1e-4f * float(view_.boundingRadius)) {
      // A triangle this large drowns the body in the rounding of float.
      Real exact = std::numeric_limits<Real>::infinity();
      for (int f = 0; f < numFaces_; ++f) {
        const Vec3& m = faceNormal_[f];
        const Real d0 = dot(m, v[0]), d1 = dot(m, v[1]), d2 = dot(m, v[2]);
        const Real o = faceOffset_[f] - (d0 < d1 ? (d0 < d2 ? d0 : d2) : (d1 < d2 ? d1 : d2));
        if (o < exact) {
          exact = o;
          best = f;
        }
      }
    }
    const Vec3& m = faceNormal_[best];
    const Real d0 = dot(m, v[0]), d1 = dot(m, v[1]), d2 = dot(m, v[2]);
    *lowest = d0 <= d1 ? (d0 <= d2 ? 0 : 2) : (d1 <= d2 ? 1 : 2);
    *overlap = faceOffset_[best] - (*lowest == 0 ? d0 : (*lowest == 1 ? d1 : d2));
    *face = best;
    return *overlap >= 0;
  }

  /// From a point inside straight down along -n: the face where the body ends, and how far it is.
  Real exit(const Vec3& inside, const Vec3& n, int* face) const {
    *face = -1;
    const Float4 px = splat(float(inside.x)), py = splat(float(inside.y)),
                 pz = splat(float(inside.z));
    const Float4 nx = splat(float(n.x)), ny = splat(float(n.y)), nz = splat(float(n.z));
    float least = 1e30f;
    for (int b = 0; b < numBlocks_; ++b) {
      const FaceBlock& f = block_[b];
      const Float4 slope = max4(-(f.x * nx + f.y * ny + f.z * nz), splat(1e-12f));
      const Float4 t = (f.offset - (f.x * px + f.y * py + f.z * pz)) / slope;
      if (maskOf(t < splat(least)) == 0) continue;
      for (int i = 0; i < 4; ++i)
        if (t[i] < least) {
          least = t[i];
          *face = 4 * b + i;
        }
    }
    if (*face < 0) return 0;
    const Vec3& m = faceNormal_[*face];
    const Real slope = -dot(m, n);
    if (!(slope > Real(1e-9))) {
      *face = -1;
      return 0;
    }
    return larger((faceOffset_[*face] - dot(m, inside)) / slope, Real(0));
  }

  /// Clips the triangle to the body's faces. An empty answer means that it does not touch.
  int clip(const Vec3* v, const int* cutting, int numCutting, Vec3* polygon) {
    Vec3* const other = other_;
    int count = 3;
    for (int k = 0; k < 3; ++k) polygon[k] = v[k];
    for (int c = 0; c < numCutting; ++c) {
      const Vec3& m = faceNormal_[cutting[c]];
      const Real offset = faceOffset_[cutting[c]];
      int n = 0;
      Real d = dot(m, polygon[count - 1]) - offset;
      Vec3 p = polygon[count - 1];
      for (int i = 0; i < count; ++i) {
        const Real e = dot(m, polygon[i]) - offset;
        if ((d > 0) != (e > 0)) other[n++] = p + (polygon[i] - p) * (d / (d - e));
        if (e <= 0) other[n++] = polygon[i];
        d = e;
        p = polygon[i];
      }
      if (n == 0) return 0;
      count = n;
      for (int i = 0; i < n; ++i) polygon[i] = other[i];
    }
    return count;
  }

  /// Calls visit(end, end, normal, normal, feature) with the normals of the two faces of each edge.
  template <class Visit>
  void forEachEdge(const Visit& visit) const {
    if (view_.core == CoreType::Hull) {
      const kernel::HullView<Real>& hull = *view_.hull;
      for (int i = 0; i < hull.numEdges; ++i) {
        const int a = hull.edgeVertex[2 * i], b = hull.edgeVertex[2 * i + 1];
        visit(hull.vertex(a), hull.vertex(b), hull.faceNormal[hull.edgeFace[2 * i]],
              hull.faceNormal[hull.edgeFace[2 * i + 1]], kernel::edgeFeature(a, b));
      }
      return;
    }
    for (int axis = 0; axis < 3; ++axis)
      for (int corner = 0; corner < 4; ++corner) {
        const int u = (axis + 1) % 3, w = (axis + 2) % 3;
        const int low = ((corner & 1) != 0 ? 1 << u : 0) | ((corner & 2) != 0 ? 1 << w : 0);
        const int high = low | (1 << axis);
        visit(kernel::boxVertex(view_.size, low), kernel::boxVertex(view_.size, high),
              boxNormal_[2 * u + (corner & 1)], boxNormal_[2 * w + (corner >> 1)],
              kernel::edgeFeature(low, high));
      }
  }

 private:
  /// Four faces of the body. Missing ones have no normal and lie far away.
  struct FaceBlock {
    Float4 x, y, z, offset;
  };

  void fillBlocks() {
    thread_local std::vector<FaceBlock> blocks;
    numBlocks_ = (numFaces_ + 3) / 4;
    blocks.resize(static_cast<std::size_t>(numBlocks_));
    for (int f = 0; f < 4 * numBlocks_; ++f) {
      FaceBlock& b = blocks[f / 4];
      const bool real = f < numFaces_;
      b.x[f % 4] = real ? float(faceNormal_[f].x) : 0;
      b.y[f % 4] = real ? float(faceNormal_[f].y) : 0;
      b.z[f % 4] = real ? float(faceNormal_[f].z) : 0;
      b.offset[f % 4] = real ? float(faceOffset_[f]) : 1e30f;
    }
    block_ = blocks.data();
  }

  const ConvexView<Real>& view_;
  const FaceBlock* block_ = nullptr;
  int numBlocks_ = 0;
  int numFaces_ = 0;
  const Vec3* faceNormal_ = nullptr;
  const Real* faceOffset_ = nullptr;
  Vec3 boxNormal_[6];
  Real boxOffset_[6];
  Vec3 other_[kMaxPolygon];  // scratch of clip()
};

}  // namespace tangere::collision
