// SPDX-License-Identifier: Apache-2.0
#include "dynamics/tendons.hpp"

#include "dynamics/tree_dynamics.hpp"

#include <algorithm>

namespace tangere::dynamics {

namespace {

/// One end of a straight piece.
struct End {
  int link = -1;  ///< -1: it does not move
  Vec3 position{}, velocity{}, biasAcceleration{};
};

End endAt(const model::ModelData& model, const TreeWorkspace& ws, int site) {
  const model::ModelSite& s = model.sites[site];
  const Vec3& p = s.site.pose.translation;
  if (s.body < 0) return {-1, p};
  const int link = model.linkOfBody[s.body];
  if (link < 0) return {-1, model.bodies[s.body].startPose * p};
  const Vec3 p_W = linkPose(ws, link) * p;
  return {link, p_W, pointVelocity(ws, link, p_W), pointBiasAcceleration(ws, link, p_W)};
}

Vec3 startPosition(const model::ModelData& model, int site) {
  const model::ModelSite& s = model.sites[site];
  const Vec3& p = s.site.pose.translation;
  return s.body < 0 ? p : model.bodies[s.body].startPose * p;
}

}  // namespace

void measureTendon(const model::ModelData& model, int index, std::span<const Real> q,
                   TreeWorkspace& ws, TendonMotion* out) {
  const model::ModelTendon& tendon = model.tendons[index];
  out->row.assign(ws.dofs.size(), 0);
  out->length = out->rate = out->biasRate = 0;
  const auto firstDof = [&](int link) {
    return ws.trees[static_cast<std::size_t>(ws.treeOfLink[static_cast<std::size_t>(link)])]
        .firstDof;
  };
  for (std::size_t i = 0; i < tendon.joints.size(); ++i) {
    const model::ModelJoint& joint = model.joints[tendon.joints[i]];
    const Real coefficient = tendon.tendon.terms[i].coefficient;
    out->length += coefficient * q[joint.q];
    out->row[firstDof(model.linkOfBody[joint.body]) + model.treeJoints[joint.firstPart].dof] +=
        coefficient;
  }
  forEachPiece(tendon, [&](int a, int b, Real weight) {
    const End from = endAt(model, ws, a), to = endAt(model, ws, b);
    const Vec3 way = to.position - from.position;
    const Real length = norm(way);
    out->length += weight * length;
    if (!(length > 0)) return;
    const Vec3 along = way / length;
    const auto add = [&](const End& end, Real sign) {
      if (end.link < 0) return;
      addPointForce(ws, end.link, end.position, along * (sign * weight),
                    out->row.data() + firstDof(end.link));
    };
    add(to, 1);
    add(from, -1);
    const Vec3 velocity = to.velocity - from.velocity;
    const Real closing = dot(along, velocity);
    out->biasRate += weight * (dot(along, to.biasAcceleration - from.biasAcceleration) +
                               (squaredNorm(velocity) - closing * closing) / length);
  });
  for (std::size_t k = 0; k < out->row.size(); ++k) out->rate += out->row[k] * ws.rate[k];
}

Real tendonStartLength(const model::ModelData& model, int index) {
  const model::ModelTendon& tendon = model.tendons[index];
  Real length = 0;
  for (std::size_t i = 0; i < tendon.joints.size(); ++i)
    length +=
        tendon.tendon.terms[i].coefficient * model.startPositions[model.joints[tendon.joints[i]].q];
  forEachPiece(tendon, [&](int a, int b, Real weight) {
    length += weight * norm(startPosition(model, b) - startPosition(model, a));
  });
  return length;
}

Real springStretch(const Tendon& tendon, Real length, Real startLength) {
  const bool isFromStart = tendon.springLower < 0 && tendon.springUpper < 0;
  const Real lower = isFromStart ? startLength : tendon.springLower;
  const Real upper = isFromStart ? startLength : tendon.springUpper;
  return length - std::clamp(length, lower, std::max(lower, upper));
}

}  // namespace tangere::dynamics
