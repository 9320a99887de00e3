// SPDX-License-Identifier: Apache-2.0
#include "dynamics/turn_body.hpp"

#include "dynamics/kernels/free_rotation.hpp"
#include "math/quat.hpp"

namespace tangere::dynamics {

TurnedBody turnBody(const model::ModelBody& body, const Quat& orientation, const Vec3& w,
                    const Vec3& rotation, Real duration) {
  using Rotation = kernel::RotationState<Real>;
  const bool isRound = isIsotropic(body.mass.inertia);
  const Rotation turned = kernel::freeRotation(body.mass.inertia, body.inverseInertia, isRound,
                                               Rotation{orientation, w}, duration);
  TurnedBody out{turned.orientation, turned.angularVelocity};
  if (!(rotation == w * duration) && duration > 0) {
    const Rotation mean{.orientation = orientation, .angularVelocity = rotation / duration};
    out.orientation =
        kernel::freeRotation(body.mass.inertia, body.inverseInertia, isRound, mean, duration)
            .orientation;
    if (!isRound) {
      out.angularVelocity =
          math::rotate(out.orientation,
                       math::rotate(math::conjugate(turned.orientation), turned.angularVelocity));
    }
  }
  if (!isRound) {
    out.work = rotationalEnergy(body, out.orientation, out.angularVelocity) -
               rotationalEnergy(body, orientation, w);
  }
  return out;
}

Real rotationalEnergy(const model::ModelBody& body, const Quat& orientation, const Vec3& w) {
  const Vec3 w_B = math::rotate(math::conjugate(orientation), w);
  return Real(0.5) * dot(w_B, body.mass.inertia * w_B);
}

bool isIsotropic(const Mat3& inertia) {
  return inertia(0, 0) == inertia(1, 1) && inertia(1, 1) == inertia(2, 2) && inertia(0, 1) == 0 &&
         inertia(0, 2) == 0 && inertia(1, 2) == 0;
}

}  // namespace tangere::dynamics
