// SPDX-License-Identifier: Apache-2.0
#include "contact/patch_groups.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::contact {

namespace {

/// Cosine of the angle from the middle of a patch within which its normals lie.
constexpr Real kFlat = 0.94;

constexpr int kNone = -1;

/// What a polygon counts for: the force of one that presses; the stiffness of one foreseen.
Real weightOf(const PressureContact& contact) {
  const collision::ContactPolygon& polygon = contact.polygon;
  const Real pressure = contact.isForeseen ? polygon.gradient : polygon.pressure;
  return polygon.area * std::max<Real>(pressure, 0);
}

/// The polygons that are in no patch yet, of those that press or of those foreseen.
class Remaining {
 public:
  Remaining(std::span<const PressureContact> polygons, bool isForeseen,
            const std::vector<int>& patchOf)
      : polygons_(polygons), is_foreseen_(isForeseen), patch_of_(patchOf) {
    forEach([&](std::size_t i) { total_ += weightOf(polygons_[i]); });
    is_weighted_ = total_ > 0;
  }

  template <class Function>
  void forEach(const Function& function) const {
    for (std::size_t i = 0; i < polygons_.size(); ++i) {
      if (patch_of_[i] == kNone && polygons_[i].isForeseen == is_foreseen_) function(i);
    }
  }

  /// The middle of the next patch; zero when nothing is left.
  [[nodiscard]] Vec3 nextMiddle() const {
    Vec3 sum{};
    Real total = 0, most = 0;
    Vec3 strongest{};
    forEach([&](std::size_t i) {
      const Real weight = weight_(i);
      const Vec3& normal = polygons_[i].polygon.normal;
      sum += normal * weight;
      total += weight;
      if (weight > most) strongest = normal;
      most = std::max(most, weight);
    });
    const Real length = norm(sum);
    // The mean itself where all are near it: some polygon then lies within the angle.
    if (length > kFlat * total) return sum * (1 / length);
    // Else what lies about the strongest polygon, from its own middle.
    sum = {};
    forEach([&](std::size_t i) {
      const Vec3& normal = polygons_[i].polygon.normal;
      if (dot(normal, strongest) > kFlat) sum += normal * weight_(i);
    });
    return norm(sum) > 0 ? sum * (1 / norm(sum)) : strongest;
  }

 private:
  [[nodiscard]] Real weight_(std::size_t i) const {
    return is_weighted_ ? weightOf(polygons_[i]) : polygons_[i].polygon.area;
  }

  std::span<const PressureContact> polygons_;
  bool is_foreseen_;
  const std::vector<int>& patch_of_;
  Real total_ = 0;
  bool is_weighted_ = false;
};

/// The numbers of the patches by their first polygons.
void numberByFirst(int count, std::vector<int>* patchOf) {
  thread_local std::vector<int> newNumber;
  newNumber.assign(static_cast<std::size_t>(count), kNone);
  int next = 0;
  for (int& patch : *patchOf) {
    int& number = newNumber[static_cast<std::size_t>(patch)];
    if (number == kNone) number = next++;
    patch = number;
  }
}

}  // namespace

int markPatches(std::span<const PressureContact> polygons, std::vector<int>* patchOf) {
  patchOf->assign(polygons.size(), kNone);
  int count = 0;
  for (const bool isForeseen : {false, true}) {
    for (;;) {
      const Remaining remaining(polygons, isForeseen, *patchOf);
      const Vec3 middle = remaining.nextMiddle();
      if (!(squaredNorm(middle) > 0)) break;
      remaining.forEach([&](std::size_t i) {
        if (dot(polygons[i].polygon.normal, middle) > kFlat) (*patchOf)[i] = count;
      });
      ++count;
    }
  }
  // Normals that overflow have no middle: they are a patch nobody can rely on, but not none.
  const auto lost = std::find(patchOf->begin(), patchOf->end(), kNone);
  if (lost != patchOf->end()) std::replace(lost, patchOf->end(), kNone, count++);
  numberByFirst(count, patchOf);
  return count;
}

}  // namespace tangere::contact
