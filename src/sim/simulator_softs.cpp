// SPDX-License-Identifier: Apache-2.0
//
// The soft bodies of a Simulator: asked about, moved and pushed from outside.
#include "core/assert.hpp"
#include "math/transform.hpp"
#include "sim/simulator_impl.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tangere {

namespace {

/// The vertices of one soft body among those of all.
template <class Vertices>
auto verticesOf(const model::ModelData& model, int soft, Vertices& all) {
  const model::ModelSoft& body = model.softs[soft];
  return std::span(all).subspan(static_cast<std::size_t>(body.firstVertex),
                                body.mesh.vertices().size());
}

}  // namespace

std::span<const Vec3> Simulator::softPositions(int soft) const {
  impl_->requireSoft(soft);
  return verticesOf(impl_->model.data(), soft, impl_->state.softPosition);
}

std::span<const Vec3> Simulator::softVelocities(int soft) const {
  impl_->requireSoft(soft);
  return verticesOf(impl_->model.data(), soft, impl_->state.softVelocity);
}

void Simulator::setSoftPositions(int soft, std::span<const Vec3> positions) {
  impl_->requireSoft(soft);
  const std::span<Vec3> own = verticesOf(impl_->model.data(), soft, impl_->state.softPosition);
  sim::requireFinite(positions, own.size(), "positions do not fit the soft body");
  std::copy(positions.begin(), positions.end(), own.begin());
  impl_->state.heldFriction.clear();
  impl_->hasStep = impl_->isLedgerOfState = impl_->areSensorsRead = false;
  impl_->ws.isLedgerCurrent = false;
}

void Simulator::setSoftVelocities(int soft, std::span<const Vec3> velocities) {
  impl_->requireSoft(soft);
  const std::span<Vec3> own = verticesOf(impl_->model.data(), soft, impl_->state.softVelocity);
  sim::requireFinite(velocities, own.size(), "velocities do not fit the soft body");
  std::copy(velocities.begin(), velocities.end(), own.begin());
  impl_->isLedgerOfState = false;
  impl_->ws.isLedgerCurrent = false;
}

void Simulator::driveVertex(int soft, int vertex, const Vec3& target) {
  impl_->requireVertex(soft, vertex);
  TANGERE_REQUIRE(math::isFinite(target), "the target of a vertex must be finite [m]", soft,
                  vertex);
  std::vector<model::DrivenVertex>& driven = impl_->control.drivenVertices;
  const auto at = std::lower_bound(driven.begin(), driven.end(), std::pair{soft, vertex},
                                   [](const model::DrivenVertex& a, const std::pair<int, int>& b) {
                                     return std::pair{a.soft, a.vertex} < b;
                                   });
  if (at != driven.end() && at->soft == soft && at->vertex == vertex)
    at->target = target;
  else
    driven.insert(at, {.soft = soft, .vertex = vertex, .target = target});
}

void Simulator::releaseVertex(int soft, int vertex) {
  impl_->requireVertex(soft, vertex);
  std::erase_if(impl_->control.drivenVertices, [&](const model::DrivenVertex& driven) {
    return driven.soft == soft && driven.vertex == vertex;
  });
}

std::vector<VertexTarget> Simulator::vertexTargets() const {
  std::vector<VertexTarget> out;
  for (const model::DrivenVertex& driven : impl_->control.drivenVertices)
    out.push_back({.soft = driven.soft, .vertex = driven.vertex, .target = driven.target});
  return out;
}

void Simulator::applySoftForce(int soft, int vertex, const Vec3& force) {
  impl_->requireVertex(soft, vertex);
  TANGERE_REQUIRE(math::isFinite(force), "force must be finite [N]", soft, vertex);
  std::vector<Vec3>& forces = impl_->control.softForce;
  forces.resize(impl_->state.softPosition.size());
  forces[static_cast<std::size_t>(impl_->model.firstVertexOf(soft) + vertex)] += force;
  impl_->hasForces = true;
}

std::vector<Mat3> Simulator::softStress(int soft) const {
  impl_->requireSoft(soft);
  const model::SoftMesh& mesh = impl_->model.data().softs[soft].elastic;
  std::vector<Mat3> out(mesh.tets.size());
  dynamics::tetStresses(mesh, softPositions(soft).data(), impl_->ws.pool.get(), out.data());
  return out;
}

}  // namespace tangere
