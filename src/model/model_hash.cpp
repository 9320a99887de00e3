// SPDX-License-Identifier: Apache-2.0
#include "model/model_hash.hpp"

#include "core/stable_hash.hpp"

namespace tangere::model {

namespace {

void addTo(core::StableHash& hash, const SimulationOptions& options) {
  hash.add(options.dt);
  hash.add(options.gravity);
  hash.add(options.solver);
  hash.add(options.accuracy);
  hash.add(options.sap.maxIterations);
  hash.add(options.sap.absoluteTolerance);
  hash.add(options.sap.relativeTolerance);
  hash.add(options.sap.maxLineSearchEvaluations);
  hash.add(options.sap.lineSearchTolerance);
  hash.add(options.sap.maxStep);
  hash.add(options.sap.nearRigid);
  hash.add(options.sap.nearRigidBilateral);
  hash.add(options.sap.frictionRegularization);
  hash.add(options.sap.frictionSoftness);
  hash.add(options.sap.guess);
  hash.add(options.sap.linearSolver);
  hash.add(options.sap.contact);
  hash.add(options.sap.maxPcgIterations);
  hash.add(options.sap.pcgTolerance);
  hash.add(options.sap.softPreconditioner);
  hash.add(options.impulse.maxExactPoints);
  hash.add(options.impulse.numSubsteps);
  hash.add(options.impulse.numSweeps);
  hash.add(options.impulse.numProjections);
  hash.add(options.impulse.numProjectionSteps);
  hash.add(options.impulse.tolerance);
  hash.add(options.impulse.correction);
  hash.add(options.impulse.correctionRate);
  hash.add(options.impulse.slop);
  hash.add(options.impulse.maxCorrectionSpeed);
  hash.add(options.impulse.numCorrectionSweeps);
  hash.add(options.patchCache.enabled);
  hash.add(options.patchCache.maxPointsPerPair);
  hash.add(options.patchCache.maxPairs);
  hash.add(options.patchCache.maxSeparationFrames);
  hash.add(options.patchCache.positionThreshold);
  hash.add(options.patchCache.normalThreshold);
  hash.add(options.patchCache.depthEpsilon);
  hash.add(options.patchCache.separationThreshold);
  hash.add(options.patchCache.warmStartRadius);
  hash.add(options.patchCache.allowNegativeDepth);
  hash.add(options.sleep.enabled);
  hash.add(options.sleep.linearSpeed);
  hash.add(options.sleep.angularSpeed);
  hash.add(options.sleep.duration);
  hash.add(options.restitutionThreshold);
  hash.add(options.maxImpactsPerStep);
  if (options.sap.toleranceGrowth > 0) {
    hash.add(std::string_view("tolerance growth"));
    hash.add(options.sap.toleranceGrowth);
  }
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
  for (const TreeLink& link : data.links) {
    hash.add(link.body);
    hash.add(link.parent);
    hash.add(link.pose);
    hash.add(link.numJoints);
  }
  for (const TreeJoint& part : data.treeJoints) {
    hash.add(part.type);
    hash.add(part.q);
    hash.add(part.v);
    hash.add(part.position);
    hash.add(part.axis);
    hash.add(part.pitch);
    hash.add(part.reference);
  }
  for (const ModelJoint& joint : data.joints) {
    const Joint& j = joint.joint;
    for (const Real value : {j.lower, j.upper, j.armature, j.damping, j.frictionLoss, j.stiffness,
                             j.springReference, j.lowerActuatorForce, j.upperActuatorForce})
      hash.add(value);
  }
}

void addParts(core::StableHash& hash, const ModelData& data) {
  for (const ModelSite& site : data.sites) {
    hash.add(site.body);
    hash.add(site.site.pose);
  }
  for (const ModelTendon& tendon : data.tendons) {
    const Tendon& t = tendon.tendon;
    hash.add(std::span<const int>(tendon.joints));
    hash.add(std::span<const int>(tendon.sites));
    for (const Tendon::Term& term : t.terms) hash.add(term.coefficient);
    for (const Tendon::Via& via : t.path) hash.add(via.divisor);
    for (const Real value : {t.lower, t.upper, t.damping, t.frictionLoss, t.stiffness,
                             t.springLower, t.springUpper, t.armature})
      hash.add(value);
  }
  for (const ModelActuator& actuator : data.actuators) {
    const Actuator& a = actuator.actuator;
    hash.add(a.target);
    hash.add(actuator.target);
    hash.add(std::span<const Real>(a.gear));
    hash.add(std::span<const Real>(a.gain));
    hash.add(std::span<const Real>(a.bias));
    hash.add(a.dynamics);
    for (const Real value : {a.timeConstant, a.lowerControl, a.upperControl, a.lowerForce,
                             a.upperForce, a.lowerActivation, a.upperActivation})
      hash.add(value);
  }
  for (const ModelEquality& equality : data.equalities) {
    hash.add(equality.equality.type);
    hash.add(equality.equality.isActive);
    hash.add(equality.first);
    hash.add(equality.second);
    hash.add(equality.anchor1);
    hash.add(equality.anchor2);
    hash.add(equality.rotation);
    hash.add(equality.equality.distance);
    hash.add(std::span<const Real>(equality.equality.polynomial));
  }
  for (const ModelSchedule& schedule : data.schedules) {
    hash.add(schedule.actuator);
    hash.add(std::span<const Real>(schedule.times));
    hash.add(std::span<const Real>(schedule.values));
  }
  for (const InitialPosition& start : data.initialPositions) {
    hash.add(start.q);
    hash.add(start.position);
  }
}

void addPressure(core::StableHash& hash, const ModelData& data) {
  for (const Material& material : data.materials) {
    hash.add(material.contact);
    hash.add(material.hydroelasticModulus);
    hash.add(material.hydroelasticThickness);
    hash.add(material.hydroelasticResolution);
    if (material.planeContact != PlaneContact::Elements)
      hash.add(std::string_view("plane by vertices"));
  }
  for (const ModelSoft& soft : data.softs) {
    hash.add(std::string_view(soft.name));
    hash.add(soft.mesh.vertices());
    for (const Tet& tet : soft.mesh.tets()) hash.add(std::span<const std::int32_t>(tet));
    hash.add(std::span<const Real>(soft.pressure));
    hash.add(std::span<const Real>(soft.elastic.mass));
    hash.add(soft.elastic.elasticity.model);
    hash.add(soft.elastic.elasticity.young);
    hash.add(soft.elastic.elasticity.poisson);
    hash.add(soft.elastic.elasticity.damping);
    hash.add(soft.elastic.elasticity.massDamping);
    hash.add(soft.startVelocity);
    hash.add(soft.material);
    hash.add(soft.selfContact);
    hash.add(soft.group);
    hash.add(soft.mask);
    for (const ModelAttachment& attachment : soft.attachments) {
      hash.add(attachment.vertex);
      hash.add(attachment.body);
      hash.add(attachment.point);
    }
    if (!soft.excludedBodies.empty() || !soft.excludedSofts.empty()) {
      hash.add(std::string_view("excluded"));
      hash.add(std::span<const int>(soft.excludedBodies));
      hash.add(std::span<const int>(soft.excludedSofts));
    }
  }
}

/// What the event solver alone reads.
void addEvent(core::StableHash& hash, const ModelData& data) {
  const EventOptions& event = data.options.event;
  hash.add(event.method);
  hash.add(event.relativeTolerance);
  hash.add(event.absoluteTolerance);
  hash.add(event.maxStep);
  hash.add(event.policy);
  hash.add(event.damping);
  hash.add(event.maxDamping);
  hash.add(event.stiffnessReduction);
  hash.add(event.smallSpeed);
  hash.add(event.smallSpin);
  hash.add(event.restPeriod);
  hash.add(event.impactSpeed);
  hash.add(event.slipSpeed);
  for (const Material& material : data.materials) {
    hash.add(material.contact);
    hash.add(material.youngsModulus);
    hash.add(material.poissonRatio);
  }
  for (const ContactMaterial& pair : data.materialPairs) {
    hash.add(pair.rollingResistance);
    hash.add(pair.smallSpeed);
    hash.add(pair.smallSpin);
  }
}

}  // namespace

std::uint64_t hashOf(const ModelData& data) {
  core::StableHash hash;
  addTo(hash, data.options);
  hash.add(data.bodies.size());
  for (const ModelBody& body : data.bodies) {
    hash.add(std::string_view(body.name));
    hash.add(body.type);
    hash.add(body.mass.mass);
    hash.add(body.mass.center);
    hash.add(body.mass.inertia);
    hash.add(body.startPose);
    hash.add(body.startVelocity);
    hash.add(body.startAngularVelocity);
    hash.add(body.linearDamping);
    hash.add(body.angularDamping);
    hash.add(body.gravityScale);
    hash.add(body.numShapes);
  }
  for (const ModelShape& shape : data.shapes) {
    addTo(hash, *shape.shape);
    hash.add(shape.pose);
    hash.add(shape.material);
    hash.add(shape.group);
    hash.add(shape.mask);
    hash.add(shape.isOneSideEnough);
  }
  for (const ContactMaterial& pair : data.materialPairs) {
    hash.add(pair.friction);
    hash.add(pair.restitution);
    hash.add(pair.torsionalFriction);
    hash.add(pair.rollingFriction);
    hash.add(pair.stiffness);
    hash.add(pair.relaxationTime);
    hash.add(pair.dissipation);
  }
  for (const auto& [body1, body2] : data.excludedBodies) {
    hash.add(body1);
    hash.add(body2);
  }
  for (const ModelShapePair& pair : data.shapePairs) {
    hash.add(pair.shape1);
    hash.add(pair.shape2);
    hash.add(pair.friction);
  }
  addTrees(hash, data);
  addParts(hash, data);
  if (data.hasPressure) addPressure(hash, data);
  if (data.options.solver == SolverType::Event) addEvent(hash, data);
  return hash.value();
}

}  // namespace tangere::model
