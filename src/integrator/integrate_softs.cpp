// SPDX-License-Identifier: Apache-2.0
#include "integrator/integrate_softs.hpp"

#include "math/transform.hpp"
#include "model/motion_limits.hpp"

namespace tangere::integrator {

namespace {

/// function(vertex in the State, new velocity) for the vertices of a soft body.
template <class Function>
void forEachVertex(const model::ModelSoft& soft, int clique, const contact::SapWorkspace& sap,
                   const Function& function) {
  const Real* const v = sap.problem.velocity(clique);
  const auto numVertices = static_cast<int>(soft.elastic.mass.size());
  for (int i = 0; i < numVertices; ++i)
    function(soft.firstVertex + i, Vec3{v[3 * i], v[3 * i + 1], v[3 * i + 2]});
}

}  // namespace

int firstLostSoft(const model::ModelData& model, const State& state,
                  const contact::SapWorkspace& sap) {
  const Real dt = model.options.dt;
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    bool isMotion = true;
    forEachVertex(model.softs[s], sap.pressure.softs[s].clique, sap, [&](int i, const Vec3& v) {
      isMotion = isMotion && model::isSpeed(v) && math::isFinite(state.softPosition[i] + v * dt);
    });
    if (!isMotion) return static_cast<int>(s);
  }
  return -1;
}

void moveSofts(const model::ModelData& model, State& state, const contact::SapWorkspace& sap) {
  const Real dt = model.options.dt;
  for (std::size_t s = 0; s < model.softs.size(); ++s) {
    forEachVertex(model.softs[s], sap.pressure.softs[s].clique, sap, [&](int i, const Vec3& v) {
      state.softPosition[i] += v * dt;
      state.softVelocity[i] = v;
    });
  }
}

}  // namespace tangere::integrator
