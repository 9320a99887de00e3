// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Lengths of the tendons and how velocities change them.
void measureTendons(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// Limits, springs, damping and dry friction of tendons.
void addTendonRows(const model::ModelData& model, SapWorkspace& sap);

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

}  // namespace tangere::contact
