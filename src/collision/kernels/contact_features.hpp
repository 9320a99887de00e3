// SPDX-License-Identifier: Apache-2.0
//
// Names of vertices, edges and faces as the 32-bit numbers of ContactPoint::feature1/feature2. The
// kind is in the high bits; an edge is named by its two vertices in either order, so it keeps its
// number whichever of its two faces the query came through.
#pragma once

#include <tangere/config.hpp>

#include <cstdint>

namespace tangere::kernel {

enum class FeatureKind : std::int32_t { Vertex = 0, Edge = 1, Face = 2 };

inline constexpr std::int32_t kNoFeature = -1;
inline constexpr int kFeatureKindShift = 28;

TANGERE_HD constexpr std::int32_t vertexFeature(int vertex) { return vertex; }

/// Vertices beyond 16383 share numbers: still stable, no longer unique.
TANGERE_HD constexpr std::int32_t edgeFeature(int vertex0, int vertex1) {
  const int low = vertex0 < vertex1 ? vertex0 : vertex1;
  const int high = vertex0 < vertex1 ? vertex1 : vertex0;
  return (static_cast<std::int32_t>(FeatureKind::Edge) << kFeatureKindShift) |
         ((low & 0x3fff) << 14) | (high & 0x3fff);
}

TANGERE_HD constexpr std::int32_t faceFeature(int face) {
  return (static_cast<std::int32_t>(FeatureKind::Face) << kFeatureKindShift) | face;
}

/// Of a number that is not kNoFeature.
TANGERE_HD constexpr FeatureKind featureKind(std::int32_t feature) {
  return static_cast<FeatureKind>(feature >> kFeatureKindShift);
}

/// Faces of a box: 2 axis + (1 on the positive side). Vertices: bit k set on the positive side of
/// axis k, as the support function numbers them.
TANGERE_HD constexpr int boxFace(int axis, bool positive) { return 2 * axis + (positive ? 1 : 0); }

// Features of the round shapes. A cap (or the base of a cone) is sampled at kDiscVertices points.
inline constexpr int kDiscVertices = 16;
inline constexpr int kBottomCap = 0;
inline constexpr int kTopCap = 1;
inline constexpr int kRoundSide = 2;
inline constexpr int kConeApex = 2 * kDiscVertices;
TANGERE_HD constexpr std::int32_t rimFeature(int cap) { return edgeFeature(cap, 0x3fff); }

}  // namespace tangere::kernel
