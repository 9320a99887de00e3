// SPDX-License-Identifier: Apache-2.0
#include "model/model_hash.hpp"

#include "core/stable_hash.hpp"

namespace tangere::model {

namespace {

/// In the order in which they are written.
template <class... Values>
void addAll(core::StableHash& hash, const Values&... values) {
  (hash.add(values), ...);
}

void addTo(core::StableHash& hash, const SapOptions& sap) {
  addAll(hash, sap.maxIterations, sap.absoluteTolerance, sap.relativeTolerance,
         sap.maxLineSearchEvaluations, sap.lineSearchTolerance, sap.maxStep, sap.nearRigid,
         sap.nearRigidBilateral, sap.frictionRegularization, sap.slipSpeed, sap.frictionSoftness,
         sap.guess, sap.linearSolver, sap.contact, sap.friction, sap.frictionTolerance,
         sap.maxFrictionUpdates, sap.maxPcgIterations, sap.pcgTolerance, sap.softPreconditioner);
}

void addTo(core::StableHash& hash, const ImpulseOptions& impulse) {
  addAll(hash, impulse.maxExactPoints, impulse.numSubsteps, impulse.numSweeps,
         impulse.numProjections, impulse.numProjectionSteps, impulse.tolerance, impulse.correction,
         impulse.correctionRate, impulse.slop, impulse.maxCorrectionSpeed,
         impulse.numCorrectionSweeps);
}

void addTo(core::StableHash& hash, const ContactPatchCacheOptions& cache) {
  addAll(hash, cache.enabled, cache.maxPointsPerPair, cache.maxPairs, cache.maxSeparationFrames,
         cache.positionThreshold, cache.normalThreshold, cache.depthEpsilon,
         cache.separationThreshold, cache.warmStartRadius, cache.allowNegativeDepth);
}

void addTo(core::StableHash& hash, const SimulationOptions& options) {
  addAll(hash, options.dt, options.gravity, options.solver, options.accuracy);
  addTo(hash, options.sap);
  addTo(hash, options.impulse);
  addTo(hash, options.patchCache);
  const SleepOptions& sleep = options.sleep;
  addAll(hash, sleep.enabled, sleep.linearSpeed, sleep.angularSpeed, sleep.duration,
         options.restitutionThreshold, options.maxImpactsPerStep);
  if (options.jointStep != JointStep::Midpoint)
    addAll(hash, std::string_view("joint step"), options.jointStep);
  if (options.sap.toleranceGrowth > 0)
    addAll(hash, std::string_view("tolerance growth"), options.sap.toleranceGrowth);
}

/// Two shapes of one type with equal boxes, supports and distances at a few points are taken for
/// the same: a checkpoint of one model is then accepted by the other.
void addTo(core::StableHash& hash, const Shape& shape) {
  hash.add(shape.type());
  const Aabb& box = shape.localAabb();
  if (shape.type() == ShapeType::Plane) return;
  hash.add(box);
  const Vec3 size = box.upper - box.lower;
  constexpr Real kProbes[4][3] = {
      {0.3, 0.2, 0.9}, {-0.7, 0.4, 0.1}, {0.5, -0.6, -0.2}, {1.1, 1.3, 0.7}};
  for (const auto& probe : kProbes) {
    hash.add(shape.support({probe[0], probe[1], probe[2]}));
    const Vec3 point{box.lower.x + probe[0] * size.x, box.lower.y + probe[1] * size.y,
                     box.lower.z + probe[2] * size.z};
    hash.add(shape.signedDistance(point).distance);
  }
}

void addTrees(core::StableHash& hash, const ModelData& data) {
  for (const TreeLink& link : data.links)
    addAll(hash, link.body, link.parent, link.pose, link.numJoints);
  for (const TreeJoint& part : data.treeJoints)
    addAll(hash, part.type, part.q, part.v, part.position, part.axis, part.pitch, part.reference);
  for (const ModelJoint& joint : data.joints) {
    const Joint& j = joint.joint;
    addAll(hash, j.lower, j.upper, j.armature, j.damping, j.frictionLoss, j.stiffness,
           j.springReference, j.lowerActuatorForce, j.upperActuatorForce);
  }
}

void addParts(core::StableHash& hash, const ModelData& data) {
  for (const ModelSite& site : data.sites) addAll(hash, site.body, site.site.pose);
  for (const ModelTendon& tendon : data.tendons) {
    const Tendon& t = tendon.tendon;
    addAll(hash, std::span<const int>(tendon.joints), std::span<const int>(tendon.sites));
    for (const Tendon::Term& term : t.terms) hash.add(term.coefficient);
    for (const Tendon::Via& via : t.path) hash.add(via.divisor);
    addAll(hash, t.lower, t.upper, t.damping, t.frictionLoss, t.stiffness, t.springLower,
           t.springUpper, t.armature);
  }
  for (const ModelActuator& actuator : data.actuators) {
    const Actuator& a = actuator.actuator;
    addAll(hash, a.target, actuator.target, std::span<const Real>(a.gear),
           std::span<const Real>(a.gain), std::span<const Real>(a.bias), a.dynamics);
    addAll(hash, a.timeConstant, a.lowerControl, a.upperControl, a.lowerForce, a.upperForce,
           a.lowerActivation, a.upperActivation);
  }
  for (const ModelEquality& equality : data.equalities)
    addAll(hash, equality.equality.type, equality.equality.isActive, equality.first,
           equality.second, equality.anchor1, equality.anchor2, equality.rotation,
           equality.equality.distance, std::span<const Real>(equality.equality.polynomial));
  for (const ModelSchedule& schedule : data.schedules)
    addAll(hash, schedule.actuator, std::span<const Real>(schedule.times),
           std::span<const Real>(schedule.values));
  for (const InitialPosition& start : data.initialPositions) addAll(hash, start.q, start.position);
}

void addPressure(core::StableHash& hash, const ModelData& data) {
  for (const Material& material : data.materials) {
    addAll(hash, material.contact, material.hydroelasticModulus, material.hydroelasticThickness,
           material.hydroelasticResolution);
    if (material.planeContact != PlaneContact::Elements)
      hash.add(std::string_view("plane by vertices"));
  }
  for (const ModelSoft& soft : data.softs) {
    addAll(hash, std::string_view(soft.name), soft.mesh.vertices());
    for (const Tet& tet : soft.mesh.tets()) hash.add(std::span<const std::int32_t>(tet));
    addAll(hash, std::span<const Real>(soft.pressure), std::span<const Real>(soft.elastic.mass),
           soft.elastic.elasticity.model, soft.elastic.elasticity.young,
           soft.elastic.elasticity.poisson, soft.elastic.elasticity.damping,
           soft.elastic.elasticity.massDamping, soft.startVelocity, soft.material, soft.selfContact,
           soft.group, soft.mask);
    for (const ModelAttachment& attachment : soft.attachments)
      addAll(hash, attachment.vertex, attachment.body, attachment.point);
    if (!soft.excludedBodies.empty() || !soft.excludedSofts.empty())
      addAll(hash, std::string_view("excluded"), std::span<const int>(soft.excludedBodies),
             std::span<const int>(soft.excludedSofts));
  }
}

/// What the event solver alone reads.
void addEvent(core::StableHash& hash, const ModelData& data) {
  const EventOptions& event = data.options.event;
  addAll(hash, event.method, event.relativeTolerance, event.absoluteTolerance, event.maxStep,
         event.policy, event.damping, event.maxDamping, event.stiffnessReduction, event.smallSpeed,
         event.smallSpin, event.restPeriod, event.impactSpeed, event.slipSpeed,
         event.maxCorrectionSpeed);
  for (const Material& material : data.materials)
    addAll(hash, material.contact, material.youngsModulus, material.poissonRatio);
  for (const ContactMaterial& pair : data.materialPairs)
    addAll(hash, pair.rollingResistance, pair.smallSpeed, pair.smallSpin);
}

}  // namespace

std::uint64_t hashOf(const ModelData& data) {
  core::StableHash hash;
  addTo(hash, data.options);
  hash.add(data.bodies.size());
  for (const ModelBody& body : data.bodies)
    addAll(hash, std::string_view(body.name), body.type, body.mass.mass, body.mass.center,
           body.mass.inertia, body.startPose, body.startVelocity, body.startAngularVelocity,
           body.linearDamping, body.angularDamping, body.gravityScale, body.numShapes);
  for (const ModelShape& shape : data.shapes) {
    addTo(hash, *shape.shape);
    addAll(hash, shape.pose, shape.material, shape.group, shape.mask, shape.isOneSideEnough);
  }
  for (const ContactMaterial& pair : data.materialPairs)
    addAll(hash, pair.friction, pair.restitution, pair.torsionalFriction, pair.rollingFriction,
           pair.stiffness, pair.relaxationTime, pair.dissipation);
  for (const auto& [body1, body2] : data.excludedBodies) addAll(hash, body1, body2);
  if (!data.excludedShapes.empty()) hash.add(std::string_view("excluded shapes"));
  for (const auto& [shape1, shape2] : data.excludedShapes) addAll(hash, shape1, shape2);
  for (const ModelShapePair& pair : data.shapePairs)
    addAll(hash, pair.shape1, pair.shape2, pair.friction);
  addTrees(hash, data);
  addParts(hash, data);
  if (data.hasPressure) addPressure(hash, data);
  if (data.options.solver == SolverType::Event) addEvent(hash, data);
  return hash.value();
}

}  // namespace tangere::model
