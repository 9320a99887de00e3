// SPDX-License-Identifier: Apache-2.0
//
// The short way of a pair at rest, see ContactPatchUpdate::refreshAtRest.
#pragma once

#include <tangere/contact_patch_cache.hpp>

#include "collision/contact_patch_update.hpp"

namespace tangere::collision {

/// Rewrites the points of a patch from patch.count raw contacts of its pair, each of which is one
/// of them; place[i] is where raw contact i went. False, and nothing written, where anything is not
/// plain: a copy, a stale point, a contact that is not valid, moved or matched twice.
[[nodiscard]] bool rewriteAtRest(const ContactPoint* raw, const Transform& X_W1,
                                 const Transform& X_W2, const PatchRules& rules,
                                 ContactPatch& patch, int* place);

}  // namespace tangere::collision
