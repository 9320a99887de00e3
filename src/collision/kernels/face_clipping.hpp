// SPDX-License-Identifier: Apache-2.0
//
// Clips a convex polygon or a segment to the prism over a reference face (Sutherland-Hodgman).
// Everything is given in a frame whose third axis is the direction of projection: u and v across,
// w along it. Each vertex of the result remembers which edges made it, so that the contact point it
// becomes has the same name in the next query.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/contact_features.hpp"

namespace tangere::kernel {

/// Vertices a feature may have; fillSupportFeature() thins larger faces evenly.
inline constexpr int kMaxFeatureVertices = 64;
/// Each half plane adds at most one vertex.
inline constexpr int kMaxClippedVertices = 2 * kMaxFeatureVertices;

/// Convex polygon; not initialised, only the first `count` entries mean anything.
template <class S>
struct ClipPolygon {
  S u[kMaxClippedVertices], v[kMaxClippedVertices], w[kMaxClippedVertices];
  /// Edge from vertex i to i + 1: k >= 0 is edge k of the incident polygon, ~k edge k of the
  /// reference polygon.
  int edge[kMaxClippedVertices];
  int count;
};

/// Keeps the side normalU u + normalV v <= offset. A vertex within `slop` of the line (in units of
/// the normal) stays as it is: an edge that lies on the line is not cut by rounding noise.
template <class S>
TANGERE_HD inline void clipByHalfPlane(const ClipPolygon<S>& in, S normalU, S normalV, S offset,
                                       S slop, int referenceEdge, ClipPolygon<S>* out) {
  out->count = 0;
  if (in.count == 0) return;
  int n = 0;
  S dCurrent = normalU * in.u[0] + normalV * in.v[0] - offset;
  const S dFirst = dCurrent;
  for (int i = 0; i < in.count; ++i) {
    const int next = i + 1 < in.count ? i + 1 : 0;
    const S dNext = next == 0 ? dFirst : normalU * in.u[next] + normalV * in.v[next] - offset;
    const bool inside = dCurrent <= slop, nextInside = dNext <= slop;
    if (inside) {
      out->u[n] = in.u[i];
      out->v[n] = in.v[i];
      out->w[n] = in.w[i];
      out->edge[n] = in.edge[i];
      ++n;
    }
    if (inside != nextInside) {
      // The inner end is on the line already: a second point there would be a duplicate.
      const bool onLine = (inside ? dCurrent : dNext) >= -slop;
      if (onLine) {
        if (inside) out->edge[n - 1] = ~referenceEdge;
      } else {
        const S t = dCurrent / (dCurrent - dNext);
        out->u[n] = in.u[i] + t * (in.u[next] - in.u[i]);
        out->v[n] = in.v[i] + t * (in.v[next] - in.v[i]);
        out->w[n] = in.w[i] + t * (in.w[next] - in.w[i]);
        out->edge[n] = inside ? ~referenceEdge : in.edge[i];
        ++n;
      }
    }
    dCurrent = dNext;
  }
  out->count = n;
}

/// Clips `polygon` in place to the reference polygon (counter-clockwise in u, v). `slop` is a
/// length. `scratch` is a second buffer.
template <class S>
TANGERE_HD inline void clipToPolygon(const S* refU, const S* refV, int refCount, S slop,
                                     ClipPolygon<S>* polygon, ClipPolygon<S>* scratch) {
  using std::fabs;
  ClipPolygon<S>* from = polygon;
  ClipPolygon<S>* to = scratch;
  for (int k = 0; k < refCount; ++k) {
    const int next = k + 1 < refCount ? k + 1 : 0;
    const S normalU = refV[next] - refV[k], normalV = refU[k] - refU[next];
    const S offset = normalU * refU[k] + normalV * refV[k];
    const S slopHere = slop * (fabs(normalU) + fabs(normalV));  // within sqrt(2) of the length
    bool cuts = false;
    for (int i = 0; i < from->count; ++i)
      cuts = cuts || normalU * from->u[i] + normalV * from->v[i] - offset > slopHere;
    if (!cuts) continue;
    clipByHalfPlane(*from, normalU, normalV, offset, slopHere, k, to);
    ClipPolygon<S>* swap = from;
    from = to;
    to = swap;
    if (from->count == 0) break;
  }
  if (from != polygon) {
    for (int i = 0; i < from->count; ++i) {
      polygon->u[i] = from->u[i];
      polygon->v[i] = from->v[i];
      polygon->w[i] = from->w[i];
      polygon->edge[i] = from->edge[i];
    }
    polygon->count = from->count;
  }
}

/// The part [t0, t1] of a segment over a convex polygon; edge0/edge1 are the reference edges that
/// cut it, -1 where an end of the segment itself remains. Returns false when nothing is left.
template <class S>
TANGERE_HD inline bool clipSegmentToPolygon(const S* refU, const S* refV, int refCount, S slop,
                                            const S u[2], const S v[2], S* t0, S* t1, int* edge0,
                                            int* edge1) {
  using std::fabs;
  *t0 = S(0);
  *t1 = S(1);
  *edge0 = *edge1 = -1;
  for (int k = 0; k < refCount; ++k) {
    const int next = k + 1 < refCount ? k + 1 : 0;
    const S normalU = refV[next] - refV[k], normalV = refU[k] - refU[next];
    const S slopHere = slop * (fabs(normalU) + fabs(normalV));
    const S d0 = normalU * (u[0] - refU[k]) + normalV * (v[0] - refV[k]);
    const S d1 = normalU * (u[1] - refU[k]) + normalV * (v[1] - refV[k]);
    const bool inside0 = d0 <= slopHere, inside1 = d1 <= slopHere;
    if (inside0 && inside1) continue;
    if (!inside0 && !inside1) return false;
    const S t = d0 / (d0 - d1);
    if (inside0) {
      if (t < *t1) {
        *t1 = t;
        *edge1 = k;
      }
    } else if (t > *t0) {
      *t0 = t;
      *edge0 = k;
    }
  }
  return *t0 <= *t1;
}

/// The names of a vertex of the clipped polygon: those of the reference and of the incident body.
struct ClippedFeature {
  std::int32_t reference;
  std::int32_t incident;
};

/// `edgeBefore` and `edgeAfter` are the codes of the edges that meet at the vertex; the vertex
/// numbers are those of the two faces in order.
TANGERE_HD inline ClippedFeature clippedFeature(int edgeBefore, int edgeAfter,
                                                const int* referenceVertex, int referenceCount,
                                                std::int32_t referenceFace,
                                                const int* incidentVertex, int incidentCount,
                                                std::int32_t incidentFace) {
  if (edgeBefore >= 0 && edgeAfter >= 0)
    return {referenceFace, vertexFeature(incidentVertex[edgeAfter])};
  if (edgeBefore < 0 && edgeAfter < 0) {
    // Two neighbouring reference edges share the vertex that the later one starts from; the
    // incident polygon may run round in either sense.
    const int before = ~edgeBefore, after = ~edgeAfter;
    const bool backward = before == (after + 1 < referenceCount ? after + 1 : 0);
    return {vertexFeature(referenceVertex[backward ? before : after]), incidentFace};
  }
  const int incident = edgeBefore >= 0 ? edgeBefore : edgeAfter;
  const int reference = edgeBefore >= 0 ? ~edgeAfter : ~edgeBefore;
  const int incidentNext = incident + 1 < incidentCount ? incident + 1 : 0;
  const int referenceNext = reference + 1 < referenceCount ? reference + 1 : 0;
  return {edgeFeature(referenceVertex[reference], referenceVertex[referenceNext]),
          edgeFeature(incidentVertex[incident], incidentVertex[incidentNext])};
}

}  // namespace tangere::kernel
