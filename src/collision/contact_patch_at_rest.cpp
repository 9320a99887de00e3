// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of a resting scene: matching, order and witness points of one pair in a few
// hundred instructions.
#include "collision/contact_patch_at_rest.hpp"

#include "collision/kernels/patch_matching.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tangere::collision {
namespace {

std::uint64_t featureCode(const ContactPoint& contact) {
  return std::uint64_t{static_cast<std::uint32_t>(contact.feature1)} << 32 |
         static_cast<std::uint32_t>(contact.feature2);
}

/// Corrects the places of equally deep contacts, so far in the order of the input.
template <int kCount>
void breakTies(const ContactPoint* raw, int* place) {
  for (int i = 1; i < kCount; ++i) {
    for (int k = 0; k < i; ++k) {
      if (raw[i].depth != raw[k].depth || !kernel::comesBefore(raw[i], raw[k])) continue;
      --place[i];
      ++place[k];
    }
  }
}

/// The points of a patch at rest with kCount points, from as many raw contacts; place[i] tells
/// where raw contact i went. False, and nothing written, where anything is not plain.
/// A template on the number of points and unrolled, which is worth a tenth of the whole update. No
/// branch depends on which contact is deeper: at rest that changes from frame to frame with the
/// rounding, and guessing wrong costs more than the arithmetic.
template <int kCount>
bool rewritePoints(const ContactPoint* raw, const Transform& X_W1, const Transform& X_W2,
                   const PatchRules& rules, ContactPatch& patch, int* place) {
  const Real clearlyApart = rules.atRest.squaredApart, near = rules.atRest.squaredNear;
  int numTies = 0;
  for (int i = 0; i < kCount; ++i) place[i] = i;  // if each came after all before it
#pragma GCC unroll 4
  for (int i = 1; i < kCount; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < i; ++k) {
      if (!(squaredNorm(raw[i].position - raw[k].position) > clearlyApart)) return false;
      const int isBefore = raw[i].depth > raw[k].depth ? 1 : 0;
      place[i] -= isBefore;
      place[k] += isBefore;
      numTies += raw[i].depth == raw[k].depth ? 1 : 0;
    }
  }
  if (numTies > 0) breakTies<kCount>(raw, place);

  Vec3 local1[kCount], local2[kCount];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    const ContactPoint& contact = raw[i];
    if (!(std::fabs(squaredNorm(contact.normal) - 1) <= kUnitTolerance)) return false;
    if (!(contact.depth >= 0 || rules.allowNegativeDepth) || patch.points[i].age != 0) return false;
    const kernel::WitnessPoints<Real> witness = kernel::witnessPoints(contact);
    local1[i] = inverseTimes(X_W1, witness.point1);
    local2[i] = inverseTimes(X_W2, witness.point2);
  }

  struct Kept {
    Real normalImpulse;
    Vec3 tangentImpulse;
    std::uint64_t id;
  };
  Kept kept[kCount];
  std::uint64_t features[kCount];
  for (int k = 0; k < kCount; ++k) features[k] = featureCode(patch.points[k].contact);
  unsigned matched = 0;
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t code = featureCode(raw[i]);
    unsigned sameFeatures = 0;
#pragma GCC unroll 4
    for (int k = 0; k < kCount; ++k) sameFeatures |= (features[k] == code ? 1u : 0u) << k;
    // Most often the features name the point, and it is where it was.
    unsigned samePlace = sameFeatures;
    if (sameFeatures == 0 || (sameFeatures & (sameFeatures - 1)) != 0 ||
        !(squaredNorm(local1[i] - patch.points[std::countr_zero(sameFeatures)].local1) <= near)) {
      samePlace = 0;
      for (int k = 0; k < kCount; ++k)
        samePlace |= (squaredNorm(local1[i] - patch.points[k].local1) <= near ? 1u : 0u) << k;
      if (samePlace == 0 || (samePlace & (samePlace - 1)) != 0) return false;
      // Features of another point decide against the place, unless that point is out of reach.
      for (unsigned others = sameFeatures & ~samePlace; others != 0; others &= others - 1) {
        const ContactPatchPoint& other = patch.points[std::countr_zero(others)];
        if (!(squaredNorm(local1[i] - other.local1) > rules.squaredWarmStartRadius &&
              squaredNorm(local2[i] - other.local2) > rules.squaredWarmStartRadius))
          return false;
      }
    }
    const ContactPatchPoint& old = patch.points[std::countr_zero(samePlace)];
    if (!(squaredNorm(local2[i] - old.local2) <= near)) return false;
    if (!(dot(raw[i].normal, old.contact.normal) >= rules.samePoint.normalDot)) return false;
    matched |= samePlace;
    kept[i] = {old.normalImpulse, old.tangentImpulse, old.id};
  }
  if (matched != (1u << kCount) - 1) return false;

#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    ContactPatchPoint& point = patch.points[place[i]];
    point.contact = raw[i];
    point.local1 = local1[i];
    point.local2 = local2[i];
    point.normalImpulse = kept[i].normalImpulse;
    point.tangentImpulse = kept[i].tangentImpulse;
    point.id = kept[i].id;
  }
  return true;
}

}  // namespace

bool rewriteAtRest(const ContactPoint* raw, const Transform& X_W1, const Transform& X_W2,
                   const PatchRules& rules, ContactPatch& patch, int* place) {
  switch (patch.count) {
    case 1:
      return rewritePoints<1>(raw, X_W1, X_W2, rules, patch, place);
    case 2:
      return rewritePoints<2>(raw, X_W1, X_W2, rules, patch, place);
    case 3:
      return rewritePoints<3>(raw, X_W1, X_W2, rules, patch, place);
    case 4:
      return rewritePoints<4>(raw, X_W1, X_W2, rules, patch, place);
    default:
      return false;
  }
}

}  // namespace tangere::collision
