// SPDX-License-Identifier: Apache-2.0
#include <tangere/contact.hpp>

#include "core/assert.hpp"

#include <algorithm>

namespace tangere {

void CollisionResult::growStorage() {
  storage_.emplace_back();
  num_stored_ = storage_.size();
}

void CollisionResult::addManifold(const ContactManifold& manifold) {
  const ContactManifold copy = manifold;  // it may be one of ours, which beginManifold() moves
  beginManifold() = copy;
  commitManifold();
}

const ContactPoint& CollisionResult::contact(int i) const {
  const ContactManifold& manifold = manifoldOfContact(i);
  return manifold.points[i - manifold.firstContact];
}

const ContactManifold& CollisionResult::manifoldOfContact(int i) const {
  TANGERE_ASSERT(i >= 0 && i < num_contacts_);
  // The last manifold that begins at or before i: one without points begins where the next does.
  const auto begin = storage_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(num_manifolds_);
  const auto beginsAfter = [](int contact, const ContactManifold& manifold) {
    return contact < manifold.firstContact;
  };
  return *(std::upper_bound(begin, end, i, beginsAfter) - 1);
}

}  // namespace tangere
