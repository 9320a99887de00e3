// SPDX-License-Identifier: Apache-2.0
#include "sim/sensors.hpp"

#include "contact/tendon_rows.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::sim {

namespace {

void readOne(const SensorInput& in, const model::ModelSensor& sensor, const LastStep& lastStep,
             Real* out);
bool needsLastStep(SensorType type);
void cut(const Sensor& sensor, Real* values);

}  // namespace

Sensors::Sensors(const model::ModelData& model) : lastStep_(model) {
  for (const model::ModelSensor& sensor : model.sensors)
    needsLastStep_ = needsLastStep_ || needsLastStep(sensor.sensor.type);
}

std::span<const Real> Sensors::read(const SensorInput& in) {
  values_.assign(static_cast<std::size_t>(in.model.numSensorValues), 0);
  if (needsLastStep_ && in.instant != nullptr)
    lastStep_.update(in.model, in.state, *in.instant);
  else if (needsLastStep_ && in.hasStep)
    lastStep_.update(in.model, in.ws, in.sap);
  for (const model::ModelSensor& sensor : in.model.sensors) {
    Real* out = values_.data() + sensor.start;
    readOne(in, sensor, lastStep_, out);
    cut(sensor.sensor, out);
  }
  return values_;
}

namespace {

/// Those that Newton and Euler are needed for.
bool needsLastStep(SensorType type) {
  return type == SensorType::Accelerometer || type == SensorType::Force ||
         type == SensorType::Torque || type == SensorType::FrameLinearAcceleration ||
         type == SensorType::FrameAngularAcceleration;
}

bool isUnitLength(SensorType type) {
  return type == SensorType::BallQuaternion || type == SensorType::FrameQuaternion ||
         type == SensorType::FrameXAxis || type == SensorType::FrameYAxis ||
         type == SensorType::FrameZAxis;
}

/// A direction cut short would be another one.
void cut(const Sensor& sensor, Real* values) {
  if (!(sensor.cutoff > 0) || isUnitLength(sensor.type)) return;
  for (int i = 0; i < sensorSize(sensor.type); ++i)
    values[i] = std::clamp(values[i], -sensor.cutoff, sensor.cutoff);
}

void write(const Vec3& v, Real* out) {
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
}

void write(const Quat& q, Real* out) {
  out[0] = q.w;
  out[1] = q.x;
  out[2] = q.y;
  out[3] = q.z;
}

/// A length and its rate.
struct Length {
  Real value = 0, rate = 0;
};

SensorFrame siteFrame(const model::ModelData& model, int site);
FrameMotion motionNow(const SensorInput& in, const SensorFrame& frame);
Real limitForce(const SensorInput& in, int joint);
Length tendonLength(const SensorInput& in, int tendon);
Length actuatorLength(const SensorInput& in, int actuator);
Real jointActuatorForce(const SensorInput& in, int joint);
Real touch(const SensorInput& in, int site);
Vec3 contactForce(const SensorInput& in, int body);
void readFrame(const SensorInput& in, const model::ModelSensor& sensor, const LastStep& lastStep,
               Real* out);
void readSubtree(const SensorInput& in, const model::ModelSensor& sensor, Real* out);

void readAtSite(const SensorInput& in, const model::ModelSensor& sensor, const LastStep& lastStep,
                Real* out) {
  const SensorFrame frame = siteFrame(in.model, sensor.object);
  const FrameMotion now = motionNow(in, frame);
  const Mat3& R = now.pose.rotation;
  switch (sensor.sensor.type) {
    case SensorType::Gyro:
      return write(transposeTimes(R, now.angularVelocity), out);
    case SensorType::Velocimeter:
      return write(transposeTimes(R, now.velocity), out);
    case SensorType::Magnetometer:
      return write(transposeTimes(R, kMagneticField), out);
    default:
      break;
  }
  if (!in.hasStep) return;
  const FrameMotion then = lastStep.motionOf(frame, in.model, in.ws, in.sap);
  const Mat3& R0 = then.pose.rotation;
  if (sensor.sensor.type == SensorType::Accelerometer)
    return write(transposeTimes(R0, then.acceleration - in.model.options.gravity), out);
  const dynamics::LinkWrench wrench =
      lastStep.jointWrench(frame.body, then.pose.translation, in.model, in.ws);
  const bool isForce = sensor.sensor.type == SensorType::Force;
  write(transposeTimes(R0, isForce ? wrench.force : wrench.torque), out);
}

void readOne(const SensorInput& in, const model::ModelSensor& sensor, const LastStep& lastStep,
             Real* out) {
  const model::ModelData& model = in.model;
  const int object = sensor.object;
  switch (sensor.sensor.type) {
    case SensorType::JointPosition:
      out[0] = in.state.q[model.joints[object].q];
      break;
    case SensorType::JointVelocity:
      out[0] = in.state.v[model.joints[object].v];
      break;
    case SensorType::BallQuaternion:
      std::copy_n(in.state.q.begin() + model.joints[object].q, 4, out);
      break;
    case SensorType::BallAngularVelocity:
      std::copy_n(in.state.v.begin() + model.joints[object].v, 3, out);
      break;
    case SensorType::JointLimitForce:
      out[0] = limitForce(in, object);
      break;
    case SensorType::TendonPosition:
      out[0] = tendonLength(in, object).value;
      break;
    case SensorType::TendonVelocity:
      out[0] = tendonLength(in, object).rate;
      break;
    case SensorType::ActuatorPosition:
      out[0] = actuatorLength(in, object).value;
      break;
    case SensorType::ActuatorVelocity:
      out[0] = actuatorLength(in, object).rate;
      break;
    case SensorType::ActuatorForce:
      if (in.hasStep)
        out[0] = in.instant != nullptr ? in.instant->actuatorForces[object]
                                       : in.sap.drives[object].force;
      break;
    case SensorType::JointActuatorForce:
      if (in.hasStep) out[0] = jointActuatorForce(in, object);
      break;
    case SensorType::Accelerometer:
    case SensorType::Gyro:
    case SensorType::Velocimeter:
    case SensorType::Magnetometer:
    case SensorType::Force:
    case SensorType::Torque:
      readAtSite(in, sensor, lastStep, out);
      break;
    case SensorType::Touch:
      if (in.hasStep) out[0] = touch(in, object);
      break;
    case SensorType::ContactForce:
      if (in.hasStep) write(contactForce(in, object), out);
      break;
    case SensorType::FramePosition:
    case SensorType::FrameQuaternion:
    case SensorType::FrameXAxis:
    case SensorType::FrameYAxis:
    case SensorType::FrameZAxis:
    case SensorType::FrameLinearVelocity:
    case SensorType::FrameAngularVelocity:
    case SensorType::FrameLinearAcceleration:
    case SensorType::FrameAngularAcceleration:
      readFrame(in, sensor, lastStep, out);
      break;
    case SensorType::SubtreeCenter:
    case SensorType::SubtreeLinearVelocity:
    case SensorType::SubtreeAngularMomentum:
      readSubtree(in, sensor, out);
      break;
    case SensorType::Clock:
      out[0] = in.state.time;
      break;
  }
}

SensorFrame siteFrame(const model::ModelData& model, int site) {
  return {model.sites[site].body, model.sites[site].site.pose};
}

SensorFrame frameOf(const model::ModelData& model, Sensor::Frame kind, int index) {
  if (index < 0) return {};
  switch (kind) {
    case Sensor::Frame::Site:
      return siteFrame(model, index);
    case Sensor::Frame::Body:
      return {index, {}};
    case Sensor::Frame::InertiaFrame:
      return {index, {Mat3::identity(), model.bodies[index].mass.center}};
  }
  return {};
}

/// Of the State; without accelerations.
FrameMotion motionNow(const SensorInput& in, const SensorFrame& frame) {
  if (frame.body < 0) return {.pose = frame.X_BF};
  const Mat3 R = rotationMatrix(in.state.orientation[frame.body]);
  const Vec3 arm = R * (frame.X_BF.translation - in.model.bodies[frame.body].mass.center);
  FrameMotion out;
  out.pose = {R * frame.X_BF.rotation, in.state.center[frame.body] + arm};
  out.angularVelocity = in.state.angularVelocity[frame.body];
  out.velocity = in.state.velocity[frame.body] + cross(out.angularVelocity, arm);
  return out;
}

/// Both limits of a joint push towards their inside: a sum of magnitudes.
Real limitForce(const SensorInput& in, int joint) {
  Real sum = 0;
  if (!in.hasStep) return sum;
  if (in.instant != nullptr) return in.instant->limitForces[joint];
  for (const contact::RowOwner& owner : in.sap.owners) {
    if (owner.kind == contact::RowOwner::Kind::Limit && owner.index == joint)
      sum += in.sap.problem.impulseOf(owner.constraint)[0] / in.sap.problem.dt;
  }
  return sum;
}

Length tendonLength(const SensorInput& in, int index) {
  const model::ModelTendon& tendon = in.model.tendons[index];
  Length out;
  for (std::size_t i = 0; i < tendon.joints.size(); ++i) {
    const model::ModelJoint& joint = in.model.joints[tendon.joints[i]];
    out.value += tendon.tendon.terms[i].coefficient * in.state.q[joint.q];
    out.rate += tendon.tendon.terms[i].coefficient * in.state.v[joint.v];
  }
  contact::forEachPiece(tendon, [&](int a, int b, Real weight) {
    const FrameMotion from = motionNow(in, siteFrame(in.model, a));
    const FrameMotion to = motionNow(in, siteFrame(in.model, b));
    const Vec3 way = to.pose.translation - from.pose.translation;
    const Real length = norm(way);
    out.value += weight * length;
    if (length > 0) out.rate += weight * dot(to.velocity - from.velocity, way) / length;
  });
  return out;
}

Vec3 vectorOf(const Real* values) { return {values[0], values[1], values[2]}; }

Length actuatorLength(const SensorInput& in, int index) {
  const model::ModelActuator& which = in.model.actuators[index];
  const Real* gear = which.actuator.gear.data();
  // The rate at which a force and a torque of the gear, along the given axes, would do work.
  const auto rateAt = [&](const FrameMotion& at, const Mat3& axes) {
    return dot(axes * vectorOf(gear), at.velocity) +
           dot(at.pose.rotation * vectorOf(gear + 3), at.angularVelocity);
  };
  switch (which.actuator.target) {
    case Actuator::Target::Joint: {
      const model::ModelJoint& joint = in.model.joints[which.target];
      const Real* q = in.state.q.data() + joint.q;
      const Real* v = in.state.v.data() + joint.v;
      if (joint.joint.type == JointType::Ball)
        return {dot(vectorOf(gear), math::rotationVector(Quat{q[0], q[1], q[2], q[3]})),
                dot(vectorOf(gear), vectorOf(v))};
      if (joint.joint.type == JointType::Free)
        return {0, rateAt(motionNow(in, {joint.body, {}}), Mat3::identity())};
      return {gear[0] * q[0], gear[0] * v[0]};
    }
    case Actuator::Target::Tendon: {
      const Length tendon = tendonLength(in, which.target);
      return {gear[0] * tendon.value, gear[0] * tendon.rate};
    }
    case Actuator::Target::Site: {
      const FrameMotion site = motionNow(in, siteFrame(in.model, which.target));
      return {0, rateAt(site, site.pose.rotation)};
    }
  }
  return {};
}

/// Through the row of each actuator, so that tendons and sites count as well.
Real jointActuatorForce(const SensorInput& in, int index) {
  const model::ModelJoint& joint = in.model.joints[index];
  const int dof = in.model.treeJoints[joint.firstPart].dof;
  if (in.instant != nullptr) {
    const int tree = in.model.links[in.model.linkOfBody[joint.body]].tree;
    return in.instant->actuatorTau[in.model.trees[tree].firstDof + dof];
  }
  const int clique = in.sap.cliqueOfBody[joint.body];
  Real sum = 0;
  for (std::size_t i = 0; i < in.sap.drives.size(); ++i) {
    const contact::DriveState& drive = in.sap.drives[i];
    const contact::CliqueRow& row = in.sap.driveRows[i];
    if (drive.dof >= 0) {
      if (drive.clique == clique && drive.dof == dof) sum += drive.gear * drive.force;
    } else if (row.clique1 == clique) {
      sum += row.row1[dof] * drive.force;
    } else if (row.clique2 == clique) {
      sum += row.row2[dof] * drive.force;
    }
  }
  return sum;
}

bool isInside(const Site& site, const Vec3& p) {
  Real sum = 0;
  for (int i = 0; i < 3; ++i) {
    const Real distance = std::fabs(p[i]), half = site.halfSize[i];
    if (distance > half) return false;
    if (half > 0) sum += (distance / half) * (distance / half);
  }
  return site.isBox || sum <= 1;
}

Real touch(const SensorInput& in, int index) {
  const model::ModelSite& site = in.model.sites[index];
  if (site.body < 0) return 0;
  const Transform X_WS =
      in.instant != nullptr ? motionNow(in, siteFrame(in.model, index)).pose
                            : in.ws.bodyPose[site.body] * site.site.pose;  // as contacts were found
  Real sum = 0;
  for (const ContactForce& contact : in.contacts) {
    const bool isOfBody = contact.body1 == site.body || contact.body2 == site.body;
    if (isOfBody && isInside(site.site, inverseTimes(X_WS, contact.position)))
      sum += dot(contact.force, contact.normal);
  }
  for (const PressurePolygon& polygon : in.pressureContacts) {
    const bool isOfBody = polygon.side1.body == site.body || polygon.side2.body == site.body;
    if (isOfBody && isInside(site.site, inverseTimes(X_WS, polygon.centroid)))
      sum += dot(polygon.force, polygon.normal);
  }
  return sum;
}

Vec3 contactForce(const SensorInput& in, int body) {
  Vec3 sum{};
  for (const ContactForce& contact : in.contacts) {
    if (contact.body1 == body) sum += contact.force;
    if (contact.body2 == body) sum -= contact.force;
  }
  for (const PressurePolygon& polygon : in.pressureContacts) {
    if (polygon.side1.body == body) sum += polygon.force;
    if (polygon.side2.body == body) sum -= polygon.force;
  }
  return sum;
}

/// The motion as seen from a frame that itself moves, in its axes.
FrameMotion seenFrom(const FrameMotion& reference, const FrameMotion& object) {
  const Mat3& R = reference.pose.rotation;
  const Vec3 r = object.pose.translation - reference.pose.translation;
  const Vec3& w = reference.angularVelocity;
  const Vec3 velocity = object.velocity - reference.velocity - cross(w, r);
  const Vec3 turning = object.angularVelocity - w;
  const Vec3 acceleration = object.acceleration - reference.acceleration -
                            cross(reference.angularAcceleration, r) - cross(w, cross(w, r)) -
                            cross(w, velocity) * Real(2);
  return {.pose = inverseTimes(reference.pose, object.pose),
          .velocity = transposeTimes(R, velocity),
          .angularVelocity = transposeTimes(R, turning),
          .acceleration = transposeTimes(R, acceleration),
          .angularAcceleration = transposeTimes(
              R, object.angularAcceleration - reference.angularAcceleration - cross(w, turning))};
}

/// As the State has it: without the sign that a matrix forgets.
Quat orientationOf(const SensorInput& in, const SensorFrame& frame) {
  const Quat inBody = math::quatFromRotation(frame.X_BF.rotation);
  return frame.body < 0 ? inBody : in.state.orientation[frame.body] * inBody;
}

void readFrame(const SensorInput& in, const model::ModelSensor& sensor, const LastStep& lastStep,
               Real* out) {
  const SensorFrame frame = frameOf(in.model, sensor.sensor.objectFrame, sensor.object);
  const SensorFrame reference = frameOf(in.model, sensor.sensor.referenceFrame, sensor.reference);
  const FrameMotion now = seenFrom(motionNow(in, reference), motionNow(in, frame));
  const auto then = [&] {
    if (!in.hasStep) return FrameMotion{};
    return seenFrom(lastStep.motionOf(reference, in.model, in.ws, in.sap),
                    lastStep.motionOf(frame, in.model, in.ws, in.sap));
  };
  switch (sensor.sensor.type) {
    case SensorType::FramePosition:
      return write(now.pose.translation, out);
    case SensorType::FrameQuaternion:
      return write(math::normalized(math::conjugate(orientationOf(in, reference)) *
                                    orientationOf(in, frame)),
                   out);
    case SensorType::FrameXAxis:
      return write(now.pose.rotation.col[0], out);
    case SensorType::FrameYAxis:
      return write(now.pose.rotation.col[1], out);
    case SensorType::FrameZAxis:
      return write(now.pose.rotation.col[2], out);
    case SensorType::FrameLinearVelocity:
      return write(now.velocity, out);
    case SensorType::FrameAngularVelocity:
      return write(now.angularVelocity, out);
    case SensorType::FrameLinearAcceleration:
      return write(then().acceleration, out);
    case SensorType::FrameAngularAcceleration:
      return write(then().angularAcceleration, out);
    default:
      return;
  }
}

/// A body and all that hangs on it.
void readSubtree(const SensorInput& in, const model::ModelSensor& sensor, Real* out) {
  std::vector<int> members;
  Real mass = 0;
  Vec3 moment{}, momentum{};
  for (std::size_t i = 0; i < in.model.bodies.size(); ++i) {
    int ancestor = static_cast<int>(i);
    while (ancestor >= 0 && ancestor != sensor.object) ancestor = in.model.bodies[ancestor].parent;
    if (ancestor < 0) continue;
    const Real m = in.model.bodies[i].mass.mass;
    // From the body, so that a place far from the origin costs no digits.
    moment += (in.state.center[i] - in.state.center[sensor.object]) * m;
    momentum += in.state.velocity[i] * m;
    mass += m;
    members.push_back(static_cast<int>(i));
  }
  const bool hasMass = mass > 0;
  const Vec3 center = in.state.center[sensor.object] + (hasMass ? moment / mass : Vec3{});
  const Vec3 velocity = hasMass ? momentum / mass : in.state.velocity[sensor.object];
  if (sensor.sensor.type == SensorType::SubtreeCenter) return write(center, out);
  if (sensor.sensor.type == SensorType::SubtreeLinearVelocity) return write(velocity, out);
  Vec3 angular{};
  for (const int i : members) {
    const MassProperties& body = in.model.bodies[i].mass;
    const Mat3 R = rotationMatrix(in.state.orientation[i]);
    angular += R * (body.inertia * transposeTimes(R, in.state.angularVelocity[i])) +
               cross(in.state.center[i] - center, (in.state.velocity[i] - velocity) * body.mass);
  }
  write(angular, out);
}

}  // namespace

}  // namespace tangere::sim
