// SPDX-License-Identifier: Apache-2.0
//
// A convex polygon clipped to a triangle: clipToPolygon() for the case that meshes and terrains
// have in quantity. The same points in the same order; each distance to an edge is computed once,
// and the result stays in the buffer where it came about.
#pragma once

#include "collision/kernels/face_clipping.hpp"

namespace tangere::kernel {

/// Keeps what is no farther than `slop` beyond the line to which the vertices have the distances d.
template <class S>
TANGERE_HD inline void clipByDistances(const ClipPolygon<S>& in, const S* d, S slop,
                                       int referenceEdge, ClipPolygon<S>* out) {
  int n = 0;
  for (int i = 0; i < in.count; ++i) {
    const int next = i + 1 < in.count ? i + 1 : 0;
    const bool inside = d[i] <= slop, nextInside = d[next] <= slop;
    if (inside) {
      out->u[n] = in.u[i];
      out->v[n] = in.v[i];
      out->w[n] = in.w[i];
      out->edge[n] = in.edge[i];
      ++n;
    }
    if (inside == nextInside) continue;
    // The inner end is on the line already: a second point there would be a duplicate.
    if ((inside ? d[i] : d[next]) >= -slop) {
      if (inside) out->edge[n - 1] = ~referenceEdge;
      continue;
    }
    const S t = d[i] / (d[i] - d[next]);
    out->u[n] = in.u[i] + t * (in.u[next] - in.u[i]);
    out->v[n] = in.v[i] + t * (in.v[next] - in.v[i]);
    out->w[n] = in.w[i] + t * (in.w[next] - in.w[i]);
    out->edge[n] = inside ? ~referenceEdge : in.edge[i];
    ++n;
  }
  out->count = n;
}

/// Clips to the triangle (counter-clockwise in u, v). `slop` is a length. The answer is one of the
/// two buffers.
template <class S>
TANGERE_HD inline const ClipPolygon<S>& clipToTriangle(const S* refU, const S* refV, S slop,
                                                       ClipPolygon<S>* polygon,
                                                       ClipPolygon<S>* scratch) {
  using std::fabs;
  ClipPolygon<S>* from = polygon;
  ClipPolygon<S>* to = scratch;
  S d[kMaxClippedVertices];
  for (int k = 0; k < 3 && from->count > 0; ++k) {
    const int next = k + 1 < 3 ? k + 1 : 0;
    const S normalU = refV[next] - refV[k], normalV = refU[k] - refU[next];
    const S offset = normalU * refU[k] + normalV * refV[k];
    const S slopHere = slop * (fabs(normalU) + fabs(normalV));  // within sqrt(2) of the length
    bool cuts = false;
    for (int i = 0; i < from->count; ++i) {
      d[i] = normalU * from->u[i] + normalV * from->v[i] - offset;
      cuts = cuts || d[i] > slopHere;
    }
    if (!cuts) continue;
    clipByDistances(*from, d, slopHere, k, to);
    ClipPolygon<S>* const swap = from;
    from = to;
    to = swap;
  }
  return *from;
}

}  // namespace tangere::kernel
