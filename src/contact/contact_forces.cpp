// SPDX-License-Identifier: Apache-2.0
#include "contact/contact_forces.hpp"

#include <algorithm>

namespace tangere::contact {

void storeImpulses(State& state, model::Workspace& ws) {
  constexpr std::size_t kMaxRanges = 16, kMinShared = 256;
  const std::size_t numPoints = ws.problem.points.size();
  core::ThreadPool* const pool = numPoints >= kMinShared ? ws.pool.get() : nullptr;
  const std::size_t pointsPerRange = numPoints / kMaxRanges + 1;
  Real deepest[kMaxRanges] = {};
  core::parallelFor(
      pool, static_cast<std::int64_t>(numPoints), static_cast<std::int64_t>(pointsPerRange),
      [&](std::int64_t begin, std::int64_t end) {
        Real depth = 0;
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          const solver::ImpulsePoint& point = ws.problem.points[i];
          depth = std::max(depth, -point.gap);
          if (ws.pointSource[i].patch < 0) continue;
          state.patches.storeImpulse(
              ws.pointSource[i], point.normalImpulse,
              point.tangent1 * point.tangentImpulse[0] + point.tangent2 * point.tangentImpulse[1]);
        }
        deepest[static_cast<std::size_t>(begin) / pointsPerRange] = depth;
      });
  ws.report.numContacts = static_cast<int>(numPoints);
  ws.report.maxDepth = *std::max_element(deepest, deepest + kMaxRanges);
}

void listContactForces(const model::ModelData& model, const State& state, model::Workspace& ws,
                       Real dt) {
  const Real perTime = 1 / (dt > 0 ? dt : model.options.dt);
  ws.contacts.clear();
  for (std::size_t g = 0; g < ws.problem.groups.size(); ++g) {
    const solver::ImpulseGroup& group = ws.problem.groups[g];
    const auto [shape1, shape2] = ws.groupShapes[g];
    // Where the centre was when the arm was measured.
    Vec3 center1 = ws.bodyPose[group.block1] * model.bodies[group.block1].mass.center;
    if (!ws.early.empty()) center1 += ws.early[group.block1].displacement;
    for (int i = group.first; i < group.first + group.count; ++i) {
      const solver::ImpulsePoint& point = ws.problem.points[i];
      const EmittedContact& source = ws.pointSource[i];
      Vec3 impulse = point.normal * point.normalImpulse + point.tangent1 * point.tangentImpulse[0] +
                     point.tangent2 * point.tangentImpulse[1];
      Real normalWork = point.normalWork, frictionWork = point.frictionWork;
      Vec3 normal = point.normal;
      if (!ws.impacts.empty()) {
        const model::ImpactImpulse& impact = ws.impacts[i];
        // The faces turn between an impact and the end of the step; the normal is that of the
        // force.
        const Vec3 normalPart = impact.normalPart + normal * point.normalImpulse;
        if (dot(impact.normalPart, normal) > 0) normal = normalPart / norm(normalPart);
        impulse += impact.impulse;
        normalWork += impact.normalWork;
        frictionWork += impact.frictionWork;
      }
      const Vec3 angular = point.normal * point.torsionalImpulse +
                           point.tangent1 * point.rollingImpulse[0] +
                           point.tangent2 * point.rollingImpulse[1];
      ws.contacts.push_back({.body1 = group.block1,
                             .body2 = group.block2,
                             .shape1 = static_cast<int>(shape1),
                             .shape2 = static_cast<int>(shape2),
                             .id = source.patch >= 0 ? state.patches.point(source).id : 0,
                             .position = center1 + point.r1,
                             .normal = normal,
                             .depth = -point.gap,
                             .force = impulse * perTime,
                             .torque = angular * perTime,
                             .normalWork = normalWork,
                             .frictionWork = frictionWork});
    }
  }
}

}  // namespace tangere::contact
