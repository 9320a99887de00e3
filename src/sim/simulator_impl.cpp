// SPDX-License-Identifier: Apache-2.0
#include "sim/simulator_impl.hpp"

#include "core/assert.hpp"
#include "integrator/integrate_trees.hpp"
#include "math/quat.hpp"
#include "math/transform.hpp"
#include "sim/carry_softs.hpp"

namespace tangere {

namespace {

/// Throws InvalidInput when a joint moves nothing that has inertia.
void requireInertia(const model::ModelData& model, contact::SapWorkspace& sap) {
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.isFreeBody) continue;
    const int index = static_cast<int>(t);
    dynamics::computeTreePositions(sap.trees, index, model.startPositions);
    dynamics::computeMassMatrix(sap.trees, index);
    if (dynamics::factorMassMatrix(sap.trees, index)) continue;
    const kernel::TreeView<Real> view = sap.trees.view(index);
    for (int k = 0; k < tree.numDofs; ++k) {
      if (view.matrix[view.dofs[k].row + view.dofs[k].depth] > 0) continue;
      const Joint& joint =
          model.joints[model.treeJoints[model.dofs[tree.firstDof + k].joint].joint].joint;
      throw InvalidInput("joint '" + joint.name +
                         "' moves nothing that has a mass; give its body a mass or the joint an "
                         "armature");
    }
    throw InvalidInput("the mass matrix of body '" +
                       model.bodies[model.links[tree.firstLink].body].name +
                       "' and what hangs on it is not positive definite: its masses and inertias "
                       "are too small for its size");
  }
}

}  // namespace

void requireSimulatable(const Model& model) {
  const model::ModelData& data = model.data();
  if (data.options.solver == SolverType::Impulse) return;
  if (data.options.solver == SolverType::Event) {
    (void)Simulator(model);
    return;
  }
  contact::SapWorkspace sap(data);
  requireInertia(data, sap);
}

Simulator::Impl::Impl(Model m, int numThreads) : model(std::move(m)), state(model), ws(numThreads) {
  const model::ModelData& data = model.data();
  control.force.assign(data.bodies.size(), {});
  control.torque.assign(data.bodies.size(), {});
  control.jointForce.assign(state.v.size(), 0);
  control.control.assign(data.actuators.size(), 0);
  if (data.options.solver != SolverType::Impulse) {
    sap = std::make_unique<contact::SapWorkspace>(data);
    requireInertia(data, *sap);
    if (data.options.solver == SolverType::Event)
      event = std::make_unique<sim::EventStep>(data, control);
    moveToStart();
    if (!data.sensors.empty()) sensors = std::make_unique<sim::Sensors>(data);
    if (data.options.accuracy > 0)
      errorControl = std::make_unique<sim::ErrorControl>(data);
    else if (data.hasPressure)
      divided = std::make_unique<sim::DividedStep>(data);
  }
}

void Simulator::Impl::forgetMotion() {
  isLedgerOfState = false;
  if (event) event->forget();
}

void Simulator::Impl::copyToCoordinates() {
  forgetMotion();
  if (sap) integrator::copyFreeBodies(model.data(), state);
}

void Simulator::Impl::copyFromCoordinates() {
  dynamics::computeTreePositions(sap->trees, state.q);
  dynamics::computeTreeVelocities(sap->trees, state.v);
  dynamics::copyLinksToState(model.data(), sap->trees, state);
  for (std::size_t i = 0; i < state.isAsleep.size(); ++i) wake(static_cast<int>(i));
  forgetPoses();
}

void Simulator::Impl::moveToStart() {
  if (!sap || model.data().initialPositions.empty()) return;
  for (const model::InitialPosition& start : model.data().initialPositions)
    state.q[start.q] = start.position;
  const sim::BodyPlaces before(state);
  copyFromCoordinates();
  sim::carrySofts(model.data(), before, state);
}

void Simulator::Impl::followSchedules() {
  for (const model::ModelSchedule& schedule : model.data().schedules)
    control.control[schedule.actuator] = sim::valueAt(schedule, state.time);
}

void Simulator::Impl::requireNotJointed(int body) const {
  const model::ModelBody& b = model.data().bodies[body];
  TANGERE_REQUIRE(!b.isJointed, "the body is moved by joints: set positions and velocities",
                  b.name);
}

void Simulator::Impl::requireVertex(int soft, int vertex) const {
  requireSoft(soft);
  TANGERE_REQUIRE(vertex >= 0 && vertex < model.data().softs[soft].elastic.numVertices,
                  "no such vertex of the soft body", model.data().softs[soft].name, vertex);
}

void Simulator::Impl::requireSoft(int soft) const {
  TANGERE_REQUIRE(soft >= 0 && soft < model.numSoftBodies(), "no such soft body", soft);
}

void Simulator::Impl::wake(int body) {
  ws.isLedgerCurrent = false;
  state.isAsleep[body] = 0;
  state.stillTime[body] = 0;
}

void Simulator::Impl::wakeNear(int body) {
  const model::ModelData& data = model.data();
  const auto boxOf = [&](int shape) {
    const model::ModelShape& s = data.shapes[shape];
    const Mat3 R = rotationMatrix(state.orientation[s.body]);
    const Transform X_WB{R, state.center[s.body] - R * data.bodies[s.body].mass.center};
    return s.shape->worldAabb(X_WB * s.pose);
  };
  const model::ModelBody& moved = data.bodies[body];
  for (int s = moved.firstShape; s < moved.firstShape + moved.numShapes; ++s) {
    Aabb box = boxOf(s);
    box.expand(2 * data.options.impulse.slop);  // contacts live up to the slop apart
    for (std::size_t other = 0; other < data.shapes.size(); ++other) {
      const int sleeper = data.shapes[other].body;
      if (state.isAsleep[sleeper] != 0 && box.overlaps(boxOf(static_cast<int>(other))))
        wake(sleeper);
    }
  }
}

void Simulator::Impl::forgetPoses() {
  ws.poseAge.assign(ws.poseAge.size(), 0);
  ws.isLedgerCurrent = false;
  if (sap) sap->areTreesCurrent = false;
  areSensorsRead = false;
  forgetMotion();
}

namespace sim {

void requireFinite(std::span<const Real> values, std::size_t expected, const char* what) {
  TANGERE_REQUIRE(values.size() == expected, what, values.size(), expected);
  for (const Real value : values)
    TANGERE_REQUIRE(math::isFinite(value), "values must be finite", value);
}

void requireFinite(std::span<const Vec3> values, std::size_t expected, const char* what) {
  TANGERE_REQUIRE(values.size() == expected, what, values.size(), expected);
  for (const Vec3& value : values)
    TANGERE_REQUIRE(math::isFinite(value), "values must be finite", value.x, value.y, value.z);
}

}  // namespace sim

}  // namespace tangere
