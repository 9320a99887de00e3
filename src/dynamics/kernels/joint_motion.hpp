// SPDX-License-Identifier: Apache-2.0
//
// What a joint does: the motion of its body, and the arithmetic of its coordinates.
#pragma once

#include <tangere/types.hpp>

#include "core/elementary.hpp"
#include "dynamics/kernels/tree_view.hpp"
#include "math/quat.hpp"
#include "math/turn.hpp"

namespace tangere::kernel {

/// A rotation and an origin on the way from the parent to the body.
template <class S>
struct JointFrame {
  Mat3T<S> R = Mat3T<S>::identity();
  Vec3T<S> origin{};
};

/// R times the rotation about the axis of the joint by the angle with this sine and cosine.
template <class S>
TANGERE_HD inline Mat3T<S> turnedAboutAxis(const Mat3T<S>& R, const JointT<S>& joint, S sine,
                                           S cosine) {
  const Vec3T<S>&x = R.col[0], &y = R.col[1], &z = R.col[2];
  switch (joint.axisKind) {
    case AxisKind::X: {
      const S s = sine * joint.axis.x;
      return {{x, y * cosine + z * s, z * cosine - y * s}};
    }
    case AxisKind::Y: {
      const S s = sine * joint.axis.y;
      return {{x * cosine - z * s, y, z * cosine + x * s}};
    }
    case AxisKind::Z: {
      const S s = sine * joint.axis.z;
      return {{x * cosine + y * s, y * cosine - x * s, z}};
    }
    case AxisKind::General:
      break;
  }
  const Vec3T<S>& a = joint.axis;
  const Vec3T<S> u = a * sine;
  const Vec3T<S> w = a * (S(1) - cosine);
  const S xy = w.x * a.y, yz = w.y * a.z, zx = w.z * a.x;
  return R * Mat3T<S>{{{cosine + w.x * a.x, xy + u.z, zx - u.y},
                       {xy - u.z, cosine + w.y * a.y, yz + u.x},
                       {zx + u.y, yz - u.x, cosine + w.z * a.z}}};
}

/// The axis of the joint in the axes of R, which it does not turn.
template <class S>
TANGERE_HD inline Vec3T<S> axisIn(const Mat3T<S>& R, const JointT<S>& joint) {
  switch (joint.axisKind) {
    case AxisKind::X:
      return R.col[0] * joint.axis.x;
    case AxisKind::Y:
      return R.col[1] * joint.axis.y;
    case AxisKind::Z:
      return R.col[2] * joint.axis.z;
    case AxisKind::General:
      break;
  }
  return R * joint.axis;
}

/// Moves `frame` by a Revolute or Screw joint turned by the angle with this sine and cosine, and
/// gives its axis: the direction in `angular`, a point on it in `linear`.
template <class S>
TANGERE_HD inline void turnByJoint(const JointT<S>& joint, S angle, S sine, S cosine,
                                   JointFrame<S>* frame, math::SpatialT<S>* axis) {
  const Vec3T<S> direction = axisIn(frame->R, joint);
  Vec3T<S> anchor = frame->origin;
  if (joint.isOffset) anchor += frame->R * joint.position;
  frame->R = turnedAboutAxis(frame->R, joint, sine, cosine);
  if (joint.isOffset) frame->origin = anchor - frame->R * joint.position;
  if (joint.type == JointType::Screw) frame->origin += direction * (joint.pitch * angle);
  axis->angular = direction;
  axis->linear = anchor;
}

/// Moves `frame` by the joint at coordinates q, and gives for each of its velocities the axis and
/// a point on it, or the direction in `linear` of one that shifts. `sine` and `cosine` are those of
/// a Revolute or Screw one.
template <class S>
TANGERE_HD inline void moveByJoint(const JointT<S>& joint, const S* q, S sine, S cosine,
                                   JointFrame<S>* frame, math::SpatialT<S>* axes) {
  switch (joint.type) {
    case JointType::Revolute:
    case JointType::Screw:
      turnByJoint(joint, q[0] - joint.reference, sine, cosine, frame, axes);
      break;
    case JointType::Prismatic: {
      axes[0] = {{}, axisIn(frame->R, joint)};
      frame->origin += axes[0].linear * (q[0] - joint.reference);
      break;
    }
    case JointType::Ball: {
      const Vec3T<S> anchor = frame->origin + frame->R * joint.position;
      frame->R = frame->R * rotationMatrix(QuatT<S>{q[0], q[1], q[2], q[3]});
      frame->origin = anchor - frame->R * joint.position;
      for (int k = 0; k < 3; ++k) axes[k] = {frame->R.col[k], anchor};
      break;
    }
    case JointType::Free: {  // its coordinates are the pose, whatever the reference was
      frame->R = rotationMatrix(QuatT<S>{q[3], q[4], q[5], q[6]});
      frame->origin = {q[0], q[1], q[2]};
      const Mat3T<S> world = Mat3T<S>::identity();
      for (int k = 0; k < 3; ++k) {
        axes[k] = {{}, world.col[k]};
        axes[3 + k] = {frame->R.col[k], frame->origin};
      }
      break;
    }
    case JointType::Universal:
    case JointType::Planar:
      break;  // made of the others
  }
}

/// exp(w/2) as a quaternion: the turn by |w| about w. A series where the terms left out are below
/// rounding, so that it is smooth at zero.
template <class S>
TANGERE_HD inline QuatT<S> turnQuat(const Vec3T<S>& w) {
  using math::turnSinCos;
  using std::sqrt;
  const Vec3T<S> half = w * S(0.5);
  const S x = squaredNorm(half);
  if (x < S(1e-4)) {
    const S cosine = S(1) - x * (S(1) / S(2) - x * (S(1) / S(24) - x * (S(1) / S(720))));
    const S sinc = S(1) - x * (S(1) / S(6) - x * (S(1) / S(120) - x * (S(1) / S(5040))));
    return {cosine, half.x * sinc, half.y * sinc, half.z * sinc};
  }
  const S angle = sqrt(x);
  const auto turn = turnSinCos(angle);
  const S sinc = S(turn.sin) / angle;
  return {S(turn.cos), half.x * sinc, half.y * sinc, half.z * sinc};
}

/// The turn from q1 to q2 in the axes of either, at most pi [rad]; the inverse of turnQuat, and
/// smooth at zero like it.
template <class S>
TANGERE_HD inline Vec3T<S> turnBetween(const QuatT<S>& q1, const QuatT<S>& q2) {
  using core::atan2;
  using std::sqrt;
  const QuatT<S> q = math::conjugate(math::normalized(q1)) * math::normalized(q2);
  const bool isNegative = q.w < S(0);
  const S w = isNegative ? -q.w : q.w;
  const Vec3T<S> v = isNegative ? Vec3T<S>{-q.x, -q.y, -q.z} : Vec3T<S>{q.x, q.y, q.z};
  const S square = squaredNorm(v);
  if (square < S(1e-8)) {
    const S inverse = S(1) / w;
    return v * (S(2) * inverse * (S(1) - square * inverse * inverse / S(3)));
  }
  const S length = sqrt(square);
  return v * (S(2) * atan2(length, w) / length);
}

/// q moved by the velocity v for dt; quaternions stay unit.
template <class S>
TANGERE_HD inline void integrateJoint(JointType type, const S* q, const S* v, S dt, S* out) {
  int turn = -1;  // where the quaternion starts
  if (type == JointType::Free) {
    for (int k = 0; k < 3; ++k) out[k] = q[k] + v[k] * dt;
    turn = 3;
  } else if (type == JointType::Ball) {
    turn = 0;
  } else {
    out[0] = q[0] + v[0] * dt;
  }
  if (turn < 0) return;
  const QuatT<S> from{q[turn], q[turn + 1], q[turn + 2], q[turn + 3]};
  const Vec3T<S> w{v[turn], v[turn + 1], v[turn + 2]};
  const QuatT<S> to = math::normalized(from * turnQuat(w * dt));
  out[turn] = to.w;
  out[turn + 1] = to.x;
  out[turn + 2] = to.y;
  out[turn + 3] = to.z;
}

/// The velocity that takes q1 to q2 in unit time.
template <class S>
TANGERE_HD inline void differenceOfJoint(JointType type, const S* q1, const S* q2, S* v) {
  int turn = -1;
  if (type == JointType::Free) {
    for (int k = 0; k < 3; ++k) v[k] = q2[k] - q1[k];
    turn = 3;
  } else if (type == JointType::Ball) {
    turn = 0;
  } else {
    v[0] = q2[0] - q1[0];
  }
  if (turn < 0) return;
  const Vec3T<S> w = turnBetween(QuatT<S>{q1[turn], q1[turn + 1], q1[turn + 2], q1[turn + 3]},
                                 QuatT<S>{q2[turn], q2[turn + 1], q2[turn + 2], q2[turn + 3]});
  for (int k = 0; k < 3; ++k) v[turn + k] = w[k];
}

/// The force of the spring of a joint on its velocities.
template <class S>
TANGERE_HD inline void springForce(const JointT<S>& joint, const S* q, S* force) {
  const S k = joint.stiffness;
  if (joint.type == JointType::Free || joint.type == JointType::Ball) {
    const int turn = joint.type == JointType::Free ? 3 : 0;
    if (turn == 3) {
      const Vec3T<S> pull = (joint.springPoint - Vec3T<S>{q[0], q[1], q[2]}) * k;
      for (int i = 0; i < 3; ++i) force[i] = pull[i];
    }
    const QuatT<S> now{q[turn], q[turn + 1], q[turn + 2], q[turn + 3]};
    const Vec3T<S> pull = turnBetween(now, joint.springTurn) * k;
    for (int i = 0; i < 3; ++i) force[turn + i] = pull[i];
  } else {
    force[0] = (joint.springReference - q[0]) * k;
  }
}

/// The energy in that spring [J].
template <class S>
TANGERE_HD inline S springEnergy(const JointT<S>& joint, const S* q) {
  S force[6]{};
  if (!(joint.stiffness > S(0))) return S(0);
  springForce(joint, q, force);
  const int count = joint.type == JointType::Free ? 6 : (joint.type == JointType::Ball ? 3 : 1);
  S sum{};
  for (int i = 0; i < count; ++i) sum += force[i] * force[i];
  return sum / (S(2) * joint.stiffness);
}

}  // namespace tangere::kernel
