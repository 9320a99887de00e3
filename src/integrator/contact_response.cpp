// SPDX-License-Identifier: Apache-2.0
#include "integrator/contact_response.hpp"

#include "integrator/kernels/elastic_force_law.hpp"
#include "model/soft_bodies.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::integrator {

namespace {

using collision::ContactPolygon;
using Kind = ContactLaw::Kind;

constexpr Real kTwoPi = 6.283185307179586477;
/// Friction of a pressure has its full size from here on: polygons come and go under a patch that
/// rests, and each sees the patch's spin at its own place [m/s].
constexpr Real kFoundationSlip = 1e-6;

Real shortestEdge(const Convex& hull);
Real shortestEdge(const Mesh& mesh);
Kind kindOf(const model::ModelData& model, int shape1, int shape2);
Real frictionOf(const model::ModelData& model, int shape1, int shape2,
                const model::ContactMaterial& pair);
void setHertz(const model::ModelData& model, const model::ModelShape& shape1,
              const model::ModelShape& shape2, const model::ContactMaterial& pair, ContactLaw* law);
kernel::NormalForce<Real> normalForceOf(const ContactLaw& law, const PointMotion& motion);
void findPolygons(const model::PressureShape& a, const Transform& X_WA,
                  const model::PressureShape& b, const Transform& X_WB,
                  std::vector<ContactPolygon>* out);

}  // namespace

ContactRadius contactRadiusOf(const Shape& shape) {
  switch (shape.type()) {
    case ShapeType::Sphere:
      return {static_cast<const Sphere&>(shape).radius(), false};
    case ShapeType::Box: {
      const Vec3& half = static_cast<const Box&>(shape).halfExtents();
      return {std::min({half.x, half.y, half.z}), true};
    }
    case ShapeType::Capsule:
      return {static_cast<const Capsule&>(shape).radius(), false};
    case ShapeType::Cylinder: {
      const auto& cylinder = static_cast<const Cylinder&>(shape);
      return {std::min(cylinder.radius(), cylinder.halfLength()), false};
    }
    case ShapeType::Cone:
      return {static_cast<const Cone&>(shape).radius() / 2, false};
    case ShapeType::Ellipsoid: {
      const Vec3& axes = static_cast<const Ellipsoid&>(shape).semiAxes();
      return {std::min({axes.x, axes.y, axes.z}), false};
    }
    case ShapeType::Plane:
      return {kUnlimited, true};
    case ShapeType::Convex:
      return {shortestEdge(static_cast<const Convex&>(shape)) / 2, false};
    case ShapeType::Mesh:
      return {shortestEdge(static_cast<const Mesh&>(shape)) / 2, false};
    case ShapeType::HeightField: {
      const auto& field = static_cast<const HeightField&>(shape);
      return {std::min(field.sizeX() / (field.numX() - 1), field.sizeY() / (field.numY() - 1)) / 2,
              true};
    }
    case ShapeType::PointCloud:
      return {static_cast<const PointCloud&>(shape).pointRadius(), false};
    case ShapeType::Compound:
      break;  // a model has its children instead
  }
  return {0, false};
}

Real combinedRadius(const ContactRadius& a, const ContactRadius& b) {
  if (a.isFlat != b.isFlat) return a.isFlat ? b.radius : a.radius;
  if (a.radius == kUnlimited) return b.radius;
  if (b.radius == kUnlimited) return a.radius;
  return a.radius * b.radius / (a.radius + b.radius);
}

ContactLaw makeContactLaw(const model::ModelData& model, int shape1, int shape2) {
  const model::ModelShape &a = model.shapes[shape1], &b = model.shapes[shape2];
  const model::ContactMaterial& pair = model.contactMaterial(a.material, b.material);
  const EventOptions& options = model.options.event;
  ContactLaw law{.kind = kindOf(model, shape1, shape2)};
  if (law.isObserver()) return law;
  law.friction = frictionOf(model, shape1, shape2, pair);
  law.restitution = pair.restitution;
  law.torsionArm = pair.torsionalFriction;
  law.rollingArm = pair.rollingFriction;
  law.smallSpeed = law.kind == Kind::Hertz        ? options.smallSpeed
                   : law.kind == Kind::Foundation ? std::max(options.slipSpeed, kFoundationSlip)
                                                  : options.slipSpeed;
  if (pair.smallSpeed > 0) law.smallSpeed = pair.smallSpeed;
  // What sticks is held by a slope that does not grow with friction: it is that of friction 1.
  if (law.kind != Kind::Hertz) law.smallSpeed *= std::max(law.friction, Real(1));
  law.smallSpin = pair.smallSpin > 0 ? pair.smallSpin : options.smallSpin;
  switch (law.kind) {
    case Kind::Hertz:
      setHertz(model, a, b, pair, &law);
      break;
    case Kind::Linear:
    case Kind::HuntCrossley:
      law.stiffness = pair.stiffness;
      law.relaxationTime = pair.relaxationTime;
      law.damping = pair.dissipation;
      break;
    case Kind::Rigid:
      law.frequency = kTwoPi / options.restPeriod;
      law.impactSpeed = options.impactSpeed;
      law.maxLeavingSpeed = options.maxCorrectionSpeed;
      break;
    case Kind::Foundation:
      law.relaxationTime = pair.relaxationTime;
      law.damping = pair.dissipation;
      law.isHuntCrossley = model.options.sap.contact == SapContactModel::HuntCrossley;
      break;
    case Kind::Observer:
      break;
  }
  return law;
}

void beginContact(const EventOptions& options, Real approachSpeed, ContactLaw* law) {
  if (law->kind != Kind::Hertz) return;
  const Real e = law->restitution;
  // Of what comes later, when something else strikes the two, a slow beginning says nothing: a
  // damping made of it would stop any blow. What holds for every speed is how much of the work
  // comes back.
  law->hysteresisSpeed = 0;
  if (!(approachSpeed > law->impactSpeed)) {
    law->hysteresis = kernel::hysteresisNumber(e);
    law->hysteresisSpeed = 3 / options.maxDamping;
    law->damping = law->hysteresis * options.maxDamping;  // the slope at rest
    return;
  }
  law->damping = options.damping == RestitutionDamping::Exact
                     ? kernel::exactDamping(e, approachSpeed, options.maxDamping)
                     : kernel::floresDamping(e, approachSpeed, options.maxDamping);
}

void limitRelease(Real depth, Real speed, ContactLaw* law) {
  const bool isDamped = law->kind == Kind::Hertz || law->kind == Kind::HuntCrossley ||
                        (law->kind == Kind::Foundation && law->isHuntCrossley);
  if (isDamped) {
    law->damping = std::max(law->damping, 1 / speed);
    law->hysteresisSpeed = 0;
  } else if (law->kind == Kind::Linear || law->kind == Kind::Foundation) {
    law->relaxationTime = std::max(law->relaxationTime, depth / speed);
  }
}

Real dampingSlope(const EventOptions& options, Real approachSpeed, const ContactLaw& law) {
  if (law.kind != Kind::Hertz || !(approachSpeed > law.impactSpeed)) return 0;
  ContactLaw begun = law;
  beginContact(options, approachSpeed, &begun);
  return begun.damping < options.maxDamping ? -begun.damping / approachSpeed : 0;
}

PointForce evaluateForce(const ContactLaw& law, const PointMotion& motion) {
  const kernel::NormalForce<Real> normal = normalForceOf(law, motion);
  PointForce out{.normalForce = normal.force, .tensionSignal = normal.tension};
  if (!(normal.force > 0)) return out;
  const Vec3& n = motion.normal;
  out.force = n * normal.force;
  if (law.friction > 0) {
    const Vec3 slip = kernel::tangentialPart(motion.relativeVelocity, n);
    out.force -= kernel::regularizedDirection(slip, law.smallSpeed) * (law.friction * normal.force);
  }
  const auto resist = [&](Real arm, const Vec3& spin) {
    if (arm > 0)
      out.torque -= kernel::regularizedDirection(spin, law.smallSpin) * (arm * normal.force);
  };
  resist(law.spinArm, motion.relativeSpin);
  if (law.torsionArm > 0 || law.rollingArm > 0) {
    const Vec3 roll = kernel::tangentialPart(motion.relativeSpin, n);
    resist(law.torsionArm, motion.relativeSpin - roll);
    resist(law.rollingArm, roll);
  }
  return out;
}

Real storedEnergy(const ContactLaw& law, const PointMotion& motion) {
  if (!(motion.depth > 0)) return 0;
  PointMotion still = motion;
  still.rate = 0;
  // The force at rest grows with the depth to the power of 3/2 or 1.
  const Real part = law.kind == Kind::Hertz ? Real(0.4) : Real(0.5);
  return part * normalForceOf(law, still).force * motion.depth;
}

namespace {

/// m += a b^T s.
void addOuter(const Vec3& a, const Vec3& b, Real s, Mat3* m) {
  for (int column = 0; column < 3; ++column) m->col[column] += a * (b[column] * s);
}

/// m += a P s, P the projection along the axis of n: onto it or off it.
enum class Part { All, Normal, Tangential };
void addProjected(const Mat3& a, const Vec3& n, Part part, Real s, Mat3* m) {
  const Vec3 along = a * n;
  for (int column = 0; column < 3; ++column) {
    if (part == Part::Normal)
      m->col[column] += along * (n[column] * s);
    else
      m->col[column] +=
          (a.col[column] - (part == Part::Tangential ? along * n[column] : Vec3{})) * s;
  }
}

}  // namespace

PointForceDerivatives differentiateForce(const ContactLaw& law, const PointMotion& motion) {
  const kernel::NormalForce<Real> normal = normalForceOf(law, motion);
  PointForceDerivatives out{.dNormalForce_dDepth = normal.byDepth,
                            .dNormalForce_dRate = normal.byRate};
  if (!(normal.force > 0)) return out;
  const Vec3& n = motion.normal;
  // Force and torque over the normal force, which changes with the depth and, through the rate,
  // with the velocity along -n.
  Vec3 force = n, torque{};
  if (law.friction > 0) {
    const Vec3 slip = kernel::tangentialPart(motion.relativeVelocity, n);
    force -= kernel::regularizedDirection(slip, law.smallSpeed) * law.friction;
    addProjected(kernel::regularizedDirectionSlope(slip, law.smallSpeed), n, Part::Tangential,
                 -law.friction * normal.force, &out.dForce_dVelocity);
  }
  const auto resist = [&](Real arm, const Vec3& spin, Part part) {
    if (!(arm > 0)) return;
    torque -= kernel::regularizedDirection(spin, law.smallSpin) * arm;
    addProjected(kernel::regularizedDirectionSlope(spin, law.smallSpin), n, part,
                 -arm * normal.force, &out.dTorque_dSpin);
  };
  const Vec3 roll = kernel::tangentialPart(motion.relativeSpin, n);
  resist(law.spinArm, motion.relativeSpin, Part::All);
  resist(law.torsionArm, motion.relativeSpin - roll, Part::Normal);
  resist(law.rollingArm, roll, Part::Tangential);
  out.dForce_dDepth = force * normal.byDepth;
  out.dTorque_dDepth = torque * normal.byDepth;
  addOuter(force, n, -normal.byRate, &out.dForce_dVelocity);
  addOuter(torque, n, -normal.byRate, &out.dTorque_dVelocity);
  return out;
}

ContactLaw lawOfPolygon(const ContactLaw& foundation, const ContactPolygon& polygon) {
  ContactLaw law = foundation;
  law.kind = foundation.isHuntCrossley ? Kind::HuntCrossley : Kind::Linear;
  law.stiffness = polygon.area * polygon.gradient;
  law.spinArm = law.torsionArm = law.rollingArm = 0;
  return law;
}

void evaluateFoundation(const model::ModelData& model, int shape1, int shape2,
                        const ContactLaw& law, const PairMotion& motion,
                        std::vector<ContactPolygon>* polygons, FoundationForce* out) {
  *out = {};
  polygons->clear();
  findPolygons(*model.shapes[shape1].pressure, motion.X_W1, *model.shapes[shape2].pressure,
               motion.X_W2, polygons);
  const Vec3& origin1 = motion.X_W1.translation;
  const Vec3& origin2 = motion.X_W2.translation;
  const Vec3 spin = motion.spin1 - motion.spin2;
  // About the origin of frame 1, which is near: far from the world's origin no digit is lost.
  Vec3 torque{}, center{}, middle{}, direction{};
  for (const ContactPolygon& polygon : *polygons) {
    const Vec3& n = polygon.normal;
    const Vec3 arm = polygon.centroid - origin1;
    const Vec3 velocity = motion.velocity1 + cross(motion.spin1, arm) - motion.velocity2 -
                          cross(motion.spin2, polygon.centroid - origin2);
    const Real stiffness = polygon.area * polygon.gradient;
    const Real depth = polygon.pressure / polygon.gradient;
    const Real rate = -dot(n, velocity);
    const kernel::NormalForce<Real> normal =
        law.isHuntCrossley ? kernel::huntCrossleyForce(stiffness, law.damping, depth, rate)
                           : kernel::relaxingForce(stiffness, law.relaxationTime, depth, rate);
    Vec3 force = n * normal.force;
    if (law.friction > 0) {
      force -= kernel::regularizedDirection(kernel::tangentialPart(velocity, n), law.smallSpeed) *
               (law.friction * normal.force);
    }
    out->force += force;
    torque += cross(arm, force);
    center += arm * normal.force;
    middle += arm * polygon.area;
    direction += n * polygon.area;
    out->normalForce += normal.force;
    out->area += polygon.area;
    out->depth = std::max(out->depth, depth);
  }
  out->numPolygons = static_cast<int>(polygons->size());
  if (!(out->area > 0)) return;
  const Vec3 arm = out->normalForce > 0 ? center / out->normalForce : middle / out->area;
  const Real length = norm(direction);
  if (length > 0) out->normal = direction / length;
  out->position = origin1 + arm;
  out->torque = torque - cross(arm, out->force);
  const Vec3 velocity = motion.velocity1 + cross(motion.spin1, arm) - motion.velocity2 -
                        cross(motion.spin2, out->position - origin2);
  out->rate = -dot(out->normal, velocity);
  if (law.torsionArm > 0 || law.rollingArm > 0) {
    const Vec3 roll = kernel::tangentialPart(spin, out->normal);
    out->torque -= kernel::regularizedDirection(spin - roll, law.smallSpin) *
                   (law.torsionArm * out->normalForce);
    out->torque -=
        kernel::regularizedDirection(roll, law.smallSpin) * (law.rollingArm * out->normalForce);
  }
}

namespace {

Real shortestEdge(const Convex& hull) {
  const std::span<const Vec3> vertices = hull.vertices();
  Real shortest = kUnlimited;
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    for (std::size_t i = 0; i < face.size(); ++i)
      shortest = std::min(
          shortest, norm(vertices[face[i]] - vertices[face[i + 1 < face.size() ? i + 1 : 0]]));
  }
  return shortest;
}

Real shortestEdge(const Mesh& mesh) {
  const std::span<const Vec3> vertices = mesh.vertices();
  Real shortest = kUnlimited;
  for (const Triangle& triangle : mesh.triangles()) {
    for (int i = 0; i < 3; ++i)
      shortest =
          std::min(shortest, norm(vertices[triangle[i]] - vertices[triangle[i < 2 ? i + 1 : 0]]));
  }
  return shortest;
}

/// An observer observes whatever it meets; of the others the one that yields over an area decides,
/// then the one that is elastic.
Kind kindOf(const model::ModelData& model, int shape1, int shape2) {
  const model::ModelShape &a = model.shapes[shape1], &b = model.shapes[shape2];
  const auto isAny = [&](ContactModel wanted) {
    return model.materials[a.material].contact == wanted ||
           model.materials[b.material].contact == wanted;
  };
  if (isAny(ContactModel::Observer)) return Kind::Observer;
  if (isAny(ContactModel::Hydroelastic) &&
      model::isPressurePair(model, {static_cast<ObjectId>(shape1), static_cast<ObjectId>(shape2)}))
    return Kind::Foundation;
  if (isAny(ContactModel::Hertz) && model.materials[a.material].youngsModulus > 0 &&
      model.materials[b.material].youngsModulus > 0)
    return Kind::Hertz;
  if (model.contactMaterial(a.material, b.material).stiffness == kUnlimited) return Kind::Rigid;
  return model.options.sap.contact == SapContactModel::HuntCrossley ? Kind::HuntCrossley
                                                                    : Kind::Linear;
}

/// That of a rule about the two shapes, or of their materials.
Real frictionOf(const model::ModelData& model, int shape1, int shape2,
                const model::ContactMaterial& pair) {
  const auto [first, second] = std::minmax(shape1, shape2);
  for (const model::ModelShapePair& rule : model.shapePairs) {
    if (rule.shape1 == first && rule.shape2 == second && rule.friction >= 0) return rule.friction;
  }
  return pair.friction;
}

void setHertz(const model::ModelData& model, const model::ModelShape& shape1,
              const model::ModelShape& shape2, const model::ContactMaterial& pair,
              ContactLaw* law) {
  const auto compliance = [&](const model::ModelShape& shape) {
    const Material& material = model.materials[shape.material];
    return (1 - material.poissonRatio * material.poissonRatio) / material.youngsModulus;
  };
  const EventOptions& options = model.options.event;
  law->surfaceModulus = options.stiffnessReduction / (compliance(shape1) + compliance(shape2));
  law->contactRadius =
      combinedRadius(contactRadiusOf(*shape1.shape), contactRadiusOf(*shape2.shape));
  law->stiffness = law->surfaceModulus * (Real(4) / 3) * std::sqrt(law->contactRadius);
  law->spinArm = pair.rollingResistance * law->contactRadius;
  law->impactSpeed = law->smallSpeed;
  law->damping = options.maxDamping;  // until a contact begins
}

kernel::NormalForce<Real> normalForceOf(const ContactLaw& law, const PointMotion& motion) {
  switch (law.kind) {
    case Kind::Hertz:
      if (law.hysteresisSpeed > 0) {
        return kernel::hystereticHertzForce(law.stiffness * motion.share, law.hysteresis,
                                            law.hysteresisSpeed, motion.depth, motion.rate);
      }
      return kernel::hertzForce(law.stiffness * motion.share, law.damping, motion.depth,
                                motion.rate);
    case Kind::Linear:
      return kernel::relaxingForce(law.stiffness * motion.count, law.relaxationTime, motion.depth,
                                   motion.rate);
    case Kind::HuntCrossley:
      return kernel::huntCrossleyForce(law.stiffness * motion.count, law.damping, motion.depth,
                                       motion.rate);
    case Kind::Rigid:
      return kernel::restForce(motion.effectiveMass * motion.weight, law.frequency,
                               law.maxLeavingSpeed, motion.depth, motion.rate);
    case Kind::Observer:
    case Kind::Foundation:
      break;
  }
  return {.tension = 1};
}

/// The other body as the first one.
void exchange(ContactPolygon* polygon) {
  std::swap(polygon->element1, polygon->element2);
  std::swap(polygon->weight1, polygon->weight2);
  polygon->normal = -polygon->normal;
  std::reverse(polygon->vertex.begin(), polygon->vertex.begin() + polygon->numVertices);
  std::reverse(polygon->vertexPressure.begin(),
               polygon->vertexPressure.begin() + polygon->numVertices);
}

void findPolygons(const model::PressureShape& a, const Transform& X_WA,
                  const model::PressureShape& b, const Transform& X_WB,
                  std::vector<ContactPolygon>* out) {
  using PressureKind = model::PressureShape::Kind;
  // The body with the pressure first; a half space last.
  if (a.isHalfSpace() || (a.kind != PressureKind::Field && !b.isHalfSpace())) {
    if (b.isHalfSpace() || b.kind == PressureKind::None) return;
    if (b.kind != PressureKind::Field && !a.isHalfSpace()) return;
    findPolygons(b, X_WB, a, X_WA, out);
    for (ContactPolygon& polygon : *out) exchange(&polygon);
    return;
  }
  const auto plane = [&] {
    const Vec3& normal = X_WB.rotation.col[2];
    return collision::ContactPlane{normal, dot(normal, X_WB.translation)};
  };
  switch (b.kind) {
    case PressureKind::Field:
      return collision::findTetTet(a.view(), X_WA, b.view(), X_WB, out);
    case PressureKind::Surface:
      return collision::findTetSurface(a.view(), X_WA, b.view(), X_WB, out);
    case PressureKind::HalfSpace:
      return collision::findTetPlane(a.view(), X_WA, plane(), out);
    case PressureKind::Layer:
      return collision::findPlaneLayer(a.view(), X_WA, plane(), b.layerGradient, out);
    case PressureKind::None:
      return;
  }
}

}  // namespace

}  // namespace tangere::integrator
