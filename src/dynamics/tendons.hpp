// SPDX-License-Identifier: Apache-2.0
//
// Tendons as they lie over the bodies: length L(q), rate J v, and how the rate changes by itself,
// J-dot v. With the armature a, the stiffness k and the damping d they add
//   J^T a J to the mass matrix,  J^T a (J-dot v) to the bias,  -J^T (k stretch + d J v) to the
//   passive force.
#pragma once

#include "dynamics/tree_kinematics.hpp"

#include <span>
#include <vector>

namespace tangere::dynamics {

struct TendonMotion {
  Real startLength = 0;   ///< at the start of the model; the caller fills it
  Real length = 0;        ///< [m]
  Real rate = 0;          ///< [m/s]
  Real biasRate = 0;      ///< [m/s^2]
  std::vector<Real> row;  ///< J, in the order of trees
};

/// Fills all but startLength; bodies without coordinates are where they started. After positions
/// and velocities of all trees. Allocates nothing once `row` has its size.
void measureTendon(const model::ModelData& model, int tendon, std::span<const Real> q,
                   TreeWorkspace& ws, TendonMotion* out);

/// At the start of the model [m].
[[nodiscard]] Real tendonStartLength(const model::ModelData& model, int tendon);

/// How far the spring is from where it does nothing: it is at rest between its two lengths [m].
[[nodiscard]] Real springStretch(const Tendon& tendon, Real length, Real startLength);

/// Calls `visit` with the two sites of every straight piece and its weight.
template <class Visit>
void forEachPiece(const model::ModelTendon& tendon, const Visit& visit) {
  Real weight = 1;
  int last = -1;
  for (std::size_t i = 0; i < tendon.sites.size(); ++i) {
    const int site = tendon.sites[i];
    if (site < 0) {
      weight = 1 / tendon.tendon.path[i].divisor;
      last = -1;
      continue;
    }
    if (last >= 0) visit(last, site, weight);
    last = site;
  }
}

}  // namespace tangere::dynamics
