// SPDX-License-Identifier: Apache-2.0
#include "integrator/contact_impulses.hpp"

#include <algorithm>
#include <utility>

namespace tangere::integrator {

namespace {

void place(const ContactLoad& last, ContactLoad* sum) {
  sum->position = last.position;
  sum->axis = last.axis;
  sum->depth = last.depth;
}

}  // namespace

void ContactImpulses::beginAt(Real t) {
  pairs_.clear();
  start_ = end_ = t;
}

void ContactImpulses::addValues(Real t, std::span<const EventContact> contacts) {
  if (num_values_ > 0 && !(t > times_[num_values_ - 1])) --num_values_;  // no time has passed
  if (num_values_ == kMaxValues) {
    std::rotate(times_.begin(), times_.begin() + 1, times_.end());
    std::rotate(values_.begin(), values_.begin() + 1, values_.end());
    --num_values_;
  }
  const auto last = static_cast<std::size_t>(num_values_++);
  times_[last] = t;
  values_[last].clear();
  for (const EventContact& contact : contacts) values_[last].push_back(contact.load);
}

void ContactImpulses::integrateTo(Real t, std::span<const EventContact> contacts) {
  if (!(t > end_)) return;
  // Gauss' two points are exact for a cubic.
  constexpr Real kGauss = 0.57735026918962576451;
  const Real half = (t - end_) / 2, middle = end_ + half;
  end_ = t;
  if (contacts.empty() || num_values_ == 0) return;
  const Real at[2] = {middle - kGauss * half, middle + kGauss * half};
  std::array<Real, kMaxValues> weights;
  for (int k = 0; k < num_values_; ++k) {
    Real first = 1, second = 1, all = 1;
    for (int j = 0; j < num_values_; ++j) {
      if (j == k) continue;
      first *= at[0] - times_[j];
      second *= at[1] - times_[j];
      all *= times_[k] - times_[j];
    }
    weights[k] = half * (first + second) / all;
  }
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    PairImpulse& pair = of(contacts[c]);
    place(contacts[c].load, &pair.sum);
    for (int k = 0; k < num_values_; ++k) pair.sum.add(values_[k][c], weights[k]);
  }
}

void ContactImpulses::addImpact(const EventContact& contact, const ContactLoad& impulse) {
  PairImpulse& pair = of(contact);
  place(impulse, &pair.sum);
  pair.sum.add(impulse, 1);
}

PairImpulse& ContactImpulses::of(const EventContact& contact) {
  const auto at =
      std::lower_bound(pairs_.begin(), pairs_.end(), contact.id,
                       [](const PairImpulse& pair, std::uint64_t id) { return pair.id < id; });
  if (at != pairs_.end() && at->id == contact.id) return *at;
  return *pairs_.insert(at, {.id = contact.id,
                             .body1 = contact.body1,
                             .body2 = contact.body2,
                             .shape1 = contact.shape1,
                             .shape2 = contact.shape2});
}

}  // namespace tangere::integrator
