// SPDX-License-Identifier: Apache-2.0
//
// A convex solid as kernels see it: a core (point, segment, polytope, quadric) plus a rounding
// radius. A sphere is a rounded point and a capsule a rounded segment, so that most of their
// contacts are distances between cores and need no penetration algorithm.
#pragma once

#include <tangere/types.hpp>

#include <cstdint>

namespace tangere::kernel {

enum class CoreType : std::uint8_t {
  Point,
  Segment,    ///< (0, 0, -size.z) to (0, 0, size.z)
  Triangle,   ///< view.triangle[0..2]
  Box,        ///< half extents size
  Cylinder,   ///< radius size.x, half length size.z, about z
  Cone,       ///< base radius size.x at z = -size.z, apex at z = size.z
  Ellipsoid,  ///< semi-axes size
  Hull,       ///< *view.hull
};

/// Convex polytope. Faces are polygons (coplanar triangles merged), counter-clockwise from outside.
template <class S>
struct HullView {
  // Vertices, coordinate by coordinate; each array is padded to a multiple of 4 with copies of
  // vertex 0, so that a loop over four at a time needs no tail.
  const S* x = nullptr;
  const S* y = nullptr;
  const S* z = nullptr;
  int numVertices = 0;

  // Vertex adjacency: neighbours of v are neighbor[neighborStart[v] .. neighborStart[v + 1]).
  const int* neighborStart = nullptr;
  const int* neighbor = nullptr;

  int numFaces = 0;
  const Vec3T<S>* faceNormal = nullptr;  ///< unit, outward
  const S* faceOffset = nullptr;         ///< normal . x = offset on the face
  const int* faceStart = nullptr;        ///< face f: faceVertex[faceStart[f] .. faceStart[f + 1])
  const int* faceVertex = nullptr;

  // Faces around a vertex: vertexFace[vertexFaceStart[v] .. vertexFaceStart[v + 1]).
  const int* vertexFaceStart = nullptr;
  const int* vertexFace = nullptr;

  // Edges: vertices (v0 < v1) and the two faces that meet there. Edge i: edgeVertex[2 i], [2 i +
  // 1].
  int numEdges = 0;
  const int* edgeVertex = nullptr;
  const int* edgeFace = nullptr;

  TANGERE_HD Vec3T<S> vertex(int i) const { return {x[i], y[i], z[i]}; }
};

template <class S>
struct ConvexView {
  CoreType core = CoreType::Point;
  S radius{};  ///< rounding around the core [m]
  Vec3T<S> size{};
  const HullView<S>* hull = nullptr;
  const Vec3T<S>* triangle = nullptr;
  Vec3T<S> center{};   ///< an interior point of the core (its centroid)
  S boundingRadius{};  ///< of the rounded shape about `center`
};

}  // namespace tangere::kernel
