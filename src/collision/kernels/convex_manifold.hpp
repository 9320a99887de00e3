// SPDX-License-Identifier: Apache-2.0
//
// From the signed distance of two overlapping convex shapes to their contact manifold: the features
// that touch along the normal are clipped against each other, and every point gets the depth
// measured along that one normal from the support plane of the reference body. No depth exceeds the
// penetration depth, and the deepest pair of points is always among the candidates.
#pragma once

#include <tangere/contact.hpp>

#include "collision/kernels/convex_contact.hpp"
#include "collision/kernels/face_clipping.hpp"
#include "collision/kernels/patch_selection.hpp"
#include "collision/kernels/support_feature.hpp"

namespace tangere::kernel {

/// Lengths below this share of the smaller body are rounding.
template <class S>
inline constexpr S kManifoldLengthTolerance = S(1e-9);
/// A clipped vertex stays in place within this share of the body from a side plane (see
/// clipByHalfPlane): equal boxes on top of each other keep their corners as corners.
template <class S>
inline constexpr S kManifoldSlop = S(1e-8);
/// How far down from the deepest point an edge may end to be part of the contact, in depths.
template <class S>
inline constexpr S kReachInDepths = S(4);
/// Sine of the tilt up to which a face can be the reference, and up to which one can lie on it.
template <class S>
inline constexpr S kMaxReferenceSlope = S(0.1);
template <class S>
inline constexpr S kMaxIncidentSlope = S(0.5);

/// Squared sine of the angle below which two faces count as parallel: 3e-8 rad is well above
/// rounding, and far below what moves a point.
template <class S>
inline constexpr S kParallelFaces = S(1e-15);

/// Candidate points in the frame (u, v, w) of a manifold under construction. Not initialised.
template <class S>
struct ManifoldCandidates {
  static constexpr int kCapacity = kMaxClippedVertices + 2;
  S u[kCapacity], v[kCapacity], w[kCapacity], depth[kCapacity];
  std::int32_t referenceFeature[kCapacity], incidentFeature[kCapacity];
  int count;
};

/// Writes the manifold of `contact` (distance <= 0; normal from B to A) in A's frame and returns
/// the number of its points; 0 when the shapes are apart.
template <class S>
TANGERE_HD inline int buildConvexManifold(const ConvexView<S>& a, const ConvexView<S>& b,
                                          const TransformT<S>& X_AB,
                                          const ConvexContact<S>& contact,
                                          ContactManifoldT<S>* out);

/// Moves a manifold to another frame.
template <class S>
TANGERE_HD inline void transformManifold(const TransformT<S>& X_WA, ContactManifoldT<S>* out) {
  for (int i = 0; i < out->count; ++i) {
    out->points[i].position = X_WA * out->points[i].position;
    out->points[i].normal = X_WA.rotation * out->points[i].normal;
  }
}

/// The deepest pair of points alone.
template <class S>
TANGERE_HD inline int writeSinglePoint(const ConvexContact<S>& contact, std::int32_t featureA,
                                       std::int32_t featureB, ContactManifoldT<S>* out) {
  out->points[0].position = (contact.pointA + contact.pointB) * S(0.5);
  out->points[0].normal = contact.normal;
  out->points[0].depth = contact.distance < S(0) ? -contact.distance : S(0);
  out->points[0].feature1 = featureA;
  out->points[0].feature2 = featureB;
  out->count = 1;
  out->type = ContactType::Point;
  out->status = contact.status;
  return 1;
}

/// Settles which of two equally good references is used by something that does not depend on the
/// order of the bodies: the larger face or longer edge, then the relative position. Swapping the
/// bodies then gives the same points.
template <class S>
TANGERE_HD inline bool firstIsReference(S sizeA, S sizeB, const Vec3T<S>& p_AB,
                                        const Vec3T<S>& p_BA, S size) {
  const S tie = S(1e-6);
  if (sizeA > sizeB * (S(1) + tie)) return true;
  if (sizeB > sizeA * (S(1) + tie)) return false;
  const S length = tie * size;
  for (int k = 0; k < 3; ++k) {
    if (p_AB[k] > p_BA[k] + length) return true;
    if (p_BA[k] > p_AB[k] + length) return false;
  }
  return true;
}

/// Right-handed frame with the third axis given (Duff et al. 2017).
template <class S>
TANGERE_HD inline void completeFrame(const Vec3T<S>& w, Vec3T<S>* u, Vec3T<S>* v) {
  const S sign = w.z >= S(0) ? S(1) : S(-1);
  const S p = S(-1) / (sign + w.z);
  const S q = w.x * w.y * p;
  *u = {S(1) + sign * w.x * w.x * p, sign * q, -sign * w.x};
  *v = {q, sign + w.y * w.y * p, -w.y};
}

/// What the two candidates-producing steps below share.
template <class S>
struct ManifoldFrame {
  Vec3T<S> u, v, w;  ///< w from the reference to the incident body
  Vec3T<S> origin;   ///< the reference's deepest point: all coordinates are relative to it
  S depth;           ///< of the contact
  S size;            ///< of the smaller body
};

/// Keeps a point that touches. `w` is its height over the support plane of the reference.
template <class S>
TANGERE_HD inline void addCandidate(S u, S v, S w, std::int32_t referenceFeature,
                                    std::int32_t incidentFeature, const ManifoldFrame<S>& frame,
                                    ManifoldCandidates<S>* candidates) {
  S depth = -w;
  if (depth < -kManifoldLengthTolerance<S> * frame.size) return;
  if (depth < S(0)) depth = S(0);
  if (depth > frame.depth) depth = frame.depth;
  const int n = candidates->count++;
  candidates->u[n] = u;
  candidates->v[n] = v;
  candidates->w[n] = w;
  candidates->depth[n] = depth;
  candidates->referenceFeature[n] = referenceFeature;
  candidates->incidentFeature[n] = incidentFeature;
}

/// A face seen along the normal.
template <class S>
TANGERE_HD inline void projectFace(const SupportFeature<S>& face, const ManifoldFrame<S>& frame,
                                   S (&u)[kMaxFeatureVertices], S (&v)[kMaxFeatureVertices]) {
  for (int i = 0; i < face.count; ++i) {
    const Vec3T<S> p = face.point(i) - frame.origin;
    u[i] = dot(frame.u, p);
    v[i] = dot(frame.v, p);
  }
}

/// A face on a face.
template <class S>
TANGERE_HD inline void clipPolygonOnPolygon(const SupportFeature<S>& reference,
                                            std::int32_t referenceFace,
                                            const SupportFeature<S>& incident,
                                            std::int32_t incidentFace,
                                            const ManifoldFrame<S>& frame,
                                            ManifoldCandidates<S>* candidates) {
  S refU[kMaxFeatureVertices], refV[kMaxFeatureVertices];
  projectFace(reference, frame, refU, refV);
  ClipPolygon<S> polygon, scratch;
  for (int i = 0; i < incident.count; ++i) {
    const Vec3T<S> p = incident.point(i) - frame.origin;
    polygon.u[i] = dot(frame.u, p);
    polygon.v[i] = dot(frame.v, p);
    polygon.w[i] = dot(frame.w, p);
    polygon.edge[i] = i;
  }
  polygon.count = incident.count;
  clipToPolygon(refU, refV, reference.count, kManifoldSlop<S> * frame.size, &polygon, &scratch);

  // Where the reference face is tilted against the normal (two edges cross close to it), a point
  // below the support plane can still be outside the body.
  const Vec3T<S> tilt = {dot(frame.u, reference.normal), dot(frame.v, reference.normal),
                         dot(frame.w, reference.normal)};
  const S faceOffset = dot(reference.normal, reference.point(0) - frame.origin);
  const S outside = faceOffset + kManifoldLengthTolerance<S> * frame.size;
  for (int i = 0; i < polygon.count; ++i) {
    const S u = polygon.u[i], v = polygon.v[i], w = polygon.w[i];
    if (tilt.x * u + tilt.y * v + tilt.z * w > outside) continue;
    const int before = polygon.edge[i > 0 ? i - 1 : polygon.count - 1];
    const ClippedFeature feature =
        clippedFeature(before, polygon.edge[i], reference.vertex, reference.count, referenceFace,
                       incident.vertex, incident.count, incidentFace);
    addCandidate(u, v, w, feature.reference, feature.incident, frame, candidates);
  }
}

/// An edge on a face.
template <class S>
TANGERE_HD inline void clipSegmentOnPolygon(const SupportFeature<S>& reference,
                                            std::int32_t referenceFace,
                                            const SupportFeature<S>& incident,
                                            std::int32_t incidentEdge,
                                            const ManifoldFrame<S>& frame,
                                            ManifoldCandidates<S>* candidates) {
  S refU[kMaxFeatureVertices], refV[kMaxFeatureVertices];
  projectFace(reference, frame, refU, refV);
  const Vec3T<S> p0 = incident.point(0) - frame.origin, p1 = incident.point(1) - frame.origin;
  const S u[2] = {dot(frame.u, p0), dot(frame.u, p1)};
  const S v[2] = {dot(frame.v, p0), dot(frame.v, p1)};
  const S w[2] = {dot(frame.w, p0), dot(frame.w, p1)};
  S t[2];
  int edge[2];
  if (!clipSegmentToPolygon(refU, refV, reference.count, kManifoldSlop<S> * frame.size, u, v, &t[0],
                            &t[1], &edge[0], &edge[1]))
    return;
  for (int k = 0; k < 2; ++k) {
    const int next = edge[k] + 1 < reference.count ? edge[k] + 1 : 0;
    const bool cut = edge[k] >= 0;
    addCandidate(
        cut ? u[0] + t[k] * (u[1] - u[0]) : u[k], cut ? v[0] + t[k] * (v[1] - v[0]) : v[k],
        cut ? w[0] + t[k] * (w[1] - w[0]) : w[k],
        cut ? edgeFeature(reference.vertex[edge[k]], reference.vertex[next]) : referenceFace,
        cut ? incidentEdge : vertexFeature(incident.vertex[k]), frame, candidates);
  }
}

/// Two edges: a line of contact where they run along each other, nothing where they cross (their
/// closest points are the deepest pair, which is added by the caller).
template <class S>
TANGERE_HD inline void clipSegmentOnSegment(const SupportFeature<S>& reference,
                                            std::int32_t referenceEdge,
                                            const SupportFeature<S>& incident,
                                            std::int32_t incidentEdge,
                                            const ManifoldFrame<S>& frame,
                                            ManifoldCandidates<S>* candidates) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S> r0 = reference.point(0) - frame.origin, r1 = reference.point(1) - frame.origin;
  const S ru = dot(frame.u, r0), rv = dot(frame.v, r0);
  S du = dot(frame.u, r1) - ru, dv = dot(frame.v, r1) - rv;
  const S length = sqrt(du * du + dv * dv);
  if (!(length > S(0))) return;
  du /= length;
  dv /= length;
  const Vec3T<S> p0 = incident.point(0) - frame.origin, p1 = incident.point(1) - frame.origin;
  const S u[2] = {dot(frame.u, p0), dot(frame.u, p1)};
  const S v[2] = {dot(frame.v, p0), dot(frame.v, p1)};
  const S w[2] = {dot(frame.w, p0), dot(frame.w, p1)};
  // Along and across the reference edge.
  S s[2], q[2];
  for (int k = 0; k < 2; ++k) {
    s[k] = (u[k] - ru) * du + (v[k] - rv) * dv;
    q[k] = (v[k] - rv) * du - (u[k] - ru) * dv;
  }
  const S span = s[1] - s[0];
  if (!(fabs(span) > S(0))) return;
  S t[2] = {S(0), S(1)};
  bool cut[2] = {false, false};
  for (int k = 0; k < 2; ++k) {
    const S inside = s[k] < S(0) ? S(0) : s[k] > length ? length : s[k];
    if (inside == s[k]) continue;
    cut[k] = true;
    t[k] = (inside - s[0]) / span;
  }
  if (!(t[0] < t[1])) return;
  // Crossing edges leave each other sideways by more than they overlap before the line ends.
  const S width = S(2) * frame.depth + kManifoldLengthTolerance<S> * frame.size;
  for (int k = 0; k < 2; ++k)
    if (fabs(q[0] + t[k] * (q[1] - q[0])) > width) return;
  for (int k = 0; k < 2; ++k) {
    const int end = s[k] < S(0) ? 0 : 1;
    addCandidate(u[0] + t[k] * (u[1] - u[0]), v[0] + t[k] * (v[1] - v[0]),
                 w[0] + t[k] * (w[1] - w[0]),
                 cut[k] ? vertexFeature(reference.vertex[end]) : referenceEdge,
                 cut[k] ? incidentEdge : vertexFeature(incident.vertex[k]), frame, candidates);
  }
}

/// Chooses among the candidates and writes the points.
template <class S>
TANGERE_HD inline int writeManifold(const ManifoldCandidates<S>& candidates,
                                    const ManifoldFrame<S>& frame, bool firstIsRef,
                                    const ConvexContact<S>& contact, ContactManifoldT<S>* out) {
  int chosen[kMaxPatchPoints];
  S nearest[ManifoldCandidates<S>::kCapacity];
  const int numChosen =
      selectPatchPoints(candidates.u, candidates.v, candidates.w, candidates.depth,
                        candidates.count, frame.size, nearest, chosen);
  int count = 0;
  for (int i = 0; i < numChosen; ++i) {
    const int c = chosen[i];
    // Clipped at a corner, two vertices may be the same point.
    bool isCopy = false;
    for (int k = 0; k < count; ++k) {
      const S du = candidates.u[c] - candidates.u[chosen[k]];
      const S dv = candidates.v[c] - candidates.v[chosen[k]];
      const S apart = kManifoldSlop<S> * frame.size;
      isCopy = isCopy || du * du + dv * dv <= apart * apart;
    }
    if (isCopy) continue;
    chosen[count] = c;
    ContactPointT<S>& point = out->points[count++];
    // Half way between the incident point and its foot on the support plane.
    const S height = candidates.w[c] + S(0.5) * candidates.depth[c];
    point.position =
        frame.origin + frame.u * candidates.u[c] + frame.v * candidates.v[c] + frame.w * height;
    point.normal = contact.normal;
    point.depth = candidates.depth[c];
    point.feature1 = firstIsRef ? candidates.referenceFeature[c] : candidates.incidentFeature[c];
    point.feature2 = firstIsRef ? candidates.incidentFeature[c] : candidates.referenceFeature[c];
  }
  out->count = count;
  out->type = count >= 3 ? ContactType::Face : count == 2 ? ContactType::Edge : ContactType::Point;
  out->status = contact.status;
  return count;
}

template <class S>
TANGERE_HD inline int buildConvexManifold(const ConvexView<S>& a, const ConvexView<S>& b,
                                          const TransformT<S>& X_AB,
                                          const ConvexContact<S>& contact,
                                          ContactManifoldT<S>* out) {
  out->count = 0;
  if (contact.distance > S(0)) return 0;
  const S depth = -contact.distance;
  const S size = a.boundingRadius < b.boundingRadius ? a.boundingRadius : b.boundingRadius;
  const S reach = kReachInDepths<S> * depth + kManifoldLengthTolerance<S> * size;
  const Vec3T<S> towardB = -contact.normal;                                // from A, in A's frame
  const Vec3T<S> towardA = transposeTimes(X_AB.rotation, contact.normal);  // from B, in B's frame
  const SupportKey<S> keyA = findSupportKey(a, towardB, reach, kMaxIncidentSlope<S>);
  const SupportKey<S> keyB = findSupportKey(b, towardA, reach, kMaxIncidentSlope<S>);
  if (keyA.kind == SupportKind::Vertex || keyB.kind == SupportKind::Vertex)
    return writeSinglePoint(contact, keyA.feature, keyB.feature, out);

  SupportFeature<S> featureA, featureB;
  fillSupportFeature(a, keyA, towardB, &featureA);
  fillSupportFeature(b, keyB, towardA, &featureB);
  moveFeature(X_AB, &featureB);

  // The face that is more square to the normal is the reference; a face tilted too far is none.
  const bool polygonA = keyA.kind == SupportKind::Polygon;
  const bool polygonB = keyB.kind == SupportKind::Polygon;
  const S never = S(4);
  const S tiltA = polygonA ? squaredNorm(cross(featureA.normal, contact.normal)) : never;
  const S tiltB = polygonB ? squaredNorm(cross(featureB.normal, contact.normal)) : never;
  const S maxTilt = kMaxReferenceSlope<S> * kMaxReferenceSlope<S>;
  const bool hasReference = tiltA <= maxTilt || tiltB <= maxTilt;
  if ((polygonA || polygonB) && !hasReference)
    return writeSinglePoint(contact, keyA.feature, keyB.feature, out);

  bool firstIsRef = tiltA < tiltB;
  const S tiltTie = kParallelFaces<S>;
  if (hasReference && polygonA && polygonB && tiltA < tiltB + tiltTie && tiltB < tiltA + tiltTie) {
    S areas[2];
    const SupportFeature<S>* features[2] = {&featureA, &featureB};
    for (int k = 0; k < 2; ++k) {
      Vec3T<S> sum{};
      const Vec3T<S> p0 = features[k]->point(0);
      for (int i = 1; i + 1 < features[k]->count; ++i)
        sum += cross(features[k]->point(i) - p0, features[k]->point(i + 1) - p0);
      areas[k] = norm(sum);
    }
    const Vec3T<S> p_AB = X_AB.translation;
    firstIsRef =
        firstIsReference(areas[0], areas[1], p_AB, -transposeTimes(X_AB.rotation, p_AB), size);
  } else if (!hasReference) {
    // Two edges: the line they share has no preferred side, but where they cross at a small angle
    // its ends are those of the edge that is cut.
    const Vec3T<S> p_AB = X_AB.translation;
    firstIsRef = firstIsReference(norm(featureA.point(1) - featureA.point(0)),
                                  norm(featureB.point(1) - featureB.point(0)), p_AB,
                                  -transposeTimes(X_AB.rotation, p_AB), size);
  }

  ManifoldFrame<S> frame;
  frame.w = firstIsRef ? towardB : contact.normal;
  completeFrame(frame.w, &frame.u, &frame.v);
  frame.origin = firstIsRef ? contact.pointA : contact.pointB;
  frame.depth = depth;
  frame.size = size;
  const SupportFeature<S>& reference = firstIsRef ? featureA : featureB;
  const SupportFeature<S>& incident = firstIsRef ? featureB : featureA;
  const SupportKey<S>& referenceKey = firstIsRef ? keyA : keyB;
  const SupportKey<S>& incidentKey = firstIsRef ? keyB : keyA;

  ManifoldCandidates<S> candidates;
  candidates.count = 0;
  const Vec3T<S> deepestPoint = (firstIsRef ? contact.pointB : contact.pointA) - frame.origin;
  const S deepestU = dot(frame.u, deepestPoint), deepestV = dot(frame.v, deepestPoint);
  // Two edges that cross close to a face touch where they cross: that pair comes first.
  const bool tilted = hasReference && (firstIsRef ? tiltA : tiltB) > tiltTie;
  if (tilted)
    addCandidate(deepestU, deepestV, -depth, referenceKey.feature, incidentKey.feature, frame,
                 &candidates);
  if (!hasReference)
    clipSegmentOnSegment(reference, referenceKey.feature, incident, incidentKey.feature, frame,
                         &candidates);
  else if (incidentKey.kind == SupportKind::Polygon)
    clipPolygonOnPolygon(reference, referenceKey.feature, incident, incidentKey.feature, frame,
                         &candidates);
  else
    clipSegmentOnPolygon(reference, referenceKey.feature, incident, incidentKey.feature, frame,
                         &candidates);

  // The deepest pair is also a point of its own where no clipped vertex is as deep: a rim between
  // two of its sample points.
  S deepest = S(-1);
  for (int i = 0; i < candidates.count; ++i)
    if (candidates.depth[i] > deepest) deepest = candidates.depth[i];
  if (deepest < depth - kManifoldLengthTolerance<S> * size)
    addCandidate(deepestU, deepestV, -depth, referenceKey.feature, incidentKey.feature, frame,
                 &candidates);
  return writeManifold(candidates, frame, firstIsRef, contact, out);
}

}  // namespace tangere::kernel
