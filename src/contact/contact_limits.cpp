// SPDX-License-Identifier: Apache-2.0
#include "contact/contact_limits.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tangere::contact {

namespace {

using Counts = std::array<std::int64_t, kNumContactKinds>;

ContactKind kindOf(std::uint32_t object1, std::uint32_t object2, std::uint32_t numShapes) {
  if (object2 < numShapes) return ContactKind::RigidRigid;
  if (object1 < numShapes) return ContactKind::SoftRigid;
  return object1 == object2 ? ContactKind::SoftSelf : ContactKind::SoftSoft;
}

Counts countContacts(const model::ModelData& model, const PressureWorkspace* pressure,
                     const model::Workspace& ws) {
  Counts counts{};
  const auto countOf = [&](ContactKind kind) -> std::int64_t& {
    return counts[static_cast<std::size_t>(kind)];
  };
  for (const ContactManifold& manifold : ws.manifolds)
    countOf(ContactKind::Points) += manifold.count;
  if (pressure == nullptr) return counts;
  const auto numShapes = static_cast<std::uint32_t>(model.shapes.size());
  for (const PatchPolygon& polygon : pressure->shown)
    ++countOf(kindOf(polygon.object1, polygon.object2, numShapes));
  return counts;
}

void report(ContactKind kind, int limit, std::int64_t needed, bool isOfAll, StepReport* out) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  out->status = out->status | StepStatus::TooManyContacts;
  out->contactKind = kind;
  out->contactLimit = limit;
  out->contactsNeeded = static_cast<int>(std::min(needed, kMost));
  out->isLimitOfAll = isOfAll;
}

}  // namespace

bool hasLimits(const ContactLimits& limits) {
  return limits.all > 0 || std::any_of(limits.ofKind.begin(), limits.ofKind.end(),
                                       [](int limit) { return limit > 0; });
}

bool exceedsLimits(const model::ModelData& model, const PressureWorkspace* pressure,
                   model::Workspace& ws) {
  const ContactLimits& limits = model.options.limits;
  if (!hasLimits(limits)) return false;
  const Counts counts = countContacts(model, pressure, ws);
  std::int64_t sum = 0;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const int limit = limits.ofKind[kind];
    sum += counts[kind];
    if (limit == 0 || counts[kind] <= limit) continue;
    report(static_cast<ContactKind>(kind), limit, counts[kind], false, &ws.report);
    return true;
  }
  if (limits.all == 0 || sum <= limits.all) return false;
  const auto most = std::max_element(counts.begin(), counts.end()) - counts.begin();
  report(static_cast<ContactKind>(most), limits.all, sum, true, &ws.report);
  return true;
}

}  // namespace tangere::contact
