// SPDX-License-Identifier: Apache-2.0
//
// What the pairs in contact did to each other since the last look: the integrals of their forces,
// and the impacts without duration. Between the steps of the integrator forces are the cubic
// through their last four values, which costs no evaluation and is about as good as the steps
// themselves.
#pragma once

#include "integrator/event_state.hpp"

#include <array>
#include <span>
#include <vector>

namespace tangere::integrator {

/// Impulses of a pair that was in contact.
struct PairImpulse {
  std::uint64_t id = 0;
  int body1 = 0, body2 = 0, shape1 = 0, shape2 = 0;
  ContactLoad sum{};  ///< position, axis and depth: those of the end
};

class ContactImpulses {
 public:
  /// From `t` on; values that are known stay.
  void beginAt(Real t);
  /// The set of contacts changes: what was integrated stays, values do not.
  void forgetValues() { num_values_ = 0; }
  /// What the contacts press at the end of a step, or at a restart.
  void addValues(Real t, std::span<const EventContact> contacts);
  /// At most to the last values.
  void integrateTo(Real t, std::span<const EventContact> contacts);
  void addImpact(const EventContact& contact, const ContactLoad& impulse);

  /// Sorted by id.
  [[nodiscard]] std::span<const PairImpulse> pairs() const { return pairs_; }
  [[nodiscard]] Real elapsed() const { return end_ - start_; }
  [[nodiscard]] Real end() const { return end_; }

 private:
  static constexpr int kMaxValues = 4;
  [[nodiscard]] PairImpulse& of(const EventContact& contact);

  std::vector<PairImpulse> pairs_;
  Real start_ = 0, end_ = 0;
  int num_values_ = 0;
  std::array<Real, kMaxValues> times_{};                     // the oldest first
  std::array<std::vector<ContactLoad>, kMaxValues> values_;  // of each contact
};

}  // namespace tangere::integrator
