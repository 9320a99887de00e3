// SPDX-License-Identifier: Apache-2.0
//
// What a contact does under the event solver: the law of a pair of shapes, and the force it gives
// for how they move. All but the damping of a contact that begins is constant.
//
// What holds: forces act on shape 1 (on shape 2 the opposite), at the point; no force ever pulls;
// forces are continuous in depth, rate and velocity while a contact lasts. Nothing here allocates
// but the polygons of a foundation, and nothing throws.
#pragma once

#include <tangere/solver_options.hpp>
#include <tangere/types.hpp>

#include "collision/pressure_contact.hpp"
#include "model/model_data.hpp"

#include <cstdint>
#include <vector>

namespace tangere::integrator {

/// The sphere that stands for a shape in the law of Hertz.
struct ContactRadius {
  Real radius = 0;      ///< [m]; unlimited for a half space
  bool isFlat = false;  ///< against a round shape the round one's radius alone counts
};
[[nodiscard]] ContactRadius contactRadiusOf(const Shape& shape);
/// Of two shapes together [m].
[[nodiscard]] Real combinedRadius(const ContactRadius& a, const ContactRadius& b);

/// What a pair of shapes does where they touch.
struct ContactLaw {
  enum class Kind : std::uint8_t {
    Hertz,         ///< stiffness depth^(3/2) (1 + damping rate)+, or with hysteresis
    Linear,        ///< stiffness (depth + relaxationTime rate)+: as under SAP
    HuntCrossley,  ///< stiffness depth (1 + damping rate)+: as under SAP
    Rigid,         ///< impacts without duration; at rest a spring of the period, critically damped
    Observer,      ///< no force
    Foundation,    ///< a pressure over an area: evaluateFoundation()
  };
  Kind kind = Kind::Rigid;
  /// Hertz: c_res c_geo [N/m^(3/2)]; Linear, HuntCrossley: [N/m]; Rigid: 0.
  Real stiffness = 0;
  Real surfaceModulus = 0;  ///< Hertz: c_res [Pa]
  /// [s/m]; of Hertz set by beginContact(), of HuntCrossley and Foundation constant.
  Real damping = 0;
  /// Hertz, of a contact that began too slowly for its speed to say anything: instead of
  /// `damping` times the rate, this times the direction of the rate, full from the speed on. Its
  /// slope at rest is `damping`. Speed 0: not so.
  Real hysteresis = 0, hysteresisSpeed = 0;
  Real relaxationTime = 0;            ///< Linear and Foundation [s]
  bool isHuntCrossley = false;        ///< of a Foundation: which of the two dissipates
  Real frequency = 0;                 ///< Rigid: 2 pi / restPeriod [rad/s]
  Real friction = 0;                  ///< Coulomb
  Real restitution = 0;               ///< Hertz (through the damping) and Rigid (impacts)
  Real impactSpeed = 0;               ///< slower approach does not bounce [m/s]
  Real contactRadius = 0;             ///< Hertz: r* [m]
  Real spinArm = 0;                   ///< torque against all relative spin over normal force [m]
  Real torsionArm = 0;                ///< against spin about the normal [m]
  Real rollingArm = 0;                ///< against spin about the tangents [m]
  Real smallSpeed = 0;                ///< friction has its full size from here on [m/s]
  Real smallSpin = 0;                 ///< [rad/s]
  Real maxLeavingSpeed = kUnlimited;  ///< Rigid: what is deep in it leaves no faster [m/s]

  /// Fast approach is an impact: velocities jump.
  [[nodiscard]] bool isRigid() const { return kind == Kind::Rigid; }
  /// Never gives a force.
  [[nodiscard]] bool isObserver() const { return kind == Kind::Observer; }
  /// What a log calls c_res: the modulus of Hertz [Pa], or the stiffness of a point [N/m].
  [[nodiscard]] Real loggedStiffness() const {
    return kind == Kind::Hertz ? surfaceModulus : stiffness;
  }
};

/// The law of two shapes of a model under the event solver; exchanging them changes nothing.
[[nodiscard]] ContactLaw makeContactLaw(const model::ModelData& model, int shape1, int shape2);

/// Sets the damping of a contact that begins at this speed of approach (not negative).
void beginContact(const EventOptions& options, Real approachSpeed, ContactLaw* law);

/// Of a contact that was there at the start, `depth` deep: more damping, so that it pushes nothing
/// apart faster than `speed`. Rigid ones never do.
void limitRelease(Real depth, Real speed, ContactLaw* law);

/// Of the damping by the speed of approach [s^2/m^2]; 0 where it does not depend on it. For
/// gradients through events.
[[nodiscard]] Real dampingSlope(const EventOptions& options, Real approachSpeed,
                                const ContactLaw& law);

/// How two shapes move at a point.
struct PointMotion {
  Real depth = 0;  ///< > 0: overlapping [m]
  Real rate = 0;   ///< of the depth, > 0: compressing; -dot(normal, relativeVelocity) [m/s]
  Vec3 normal{};   ///< unit, from shape 2 to shape 1
  Vec3 relativeVelocity{};  ///< of 1 against 2 at the point
  Vec3 relativeSpin{};      ///< of 1 against 2 [rad/s]
  Real effectiveMass = 0;   ///< along the normal, 1 / (n^T J M^-1 J^T n); Rigid alone needs it [kg]
  /// What of the law this point has (EventPoint): Hertz its share of the pair, Rigid its weight,
  /// Linear and HuntCrossley the number of points it stands for.
  Real share = 1, weight = 1, count = 1;
};

struct PointForce {
  Vec3 force{};          ///< on 1 [N]
  Vec3 torque{};         ///< on 1, beyond that of the force [N m]
  Real normalForce = 0;  ///< [N]
  /// Positive while the contact pushes, falls through zero where it would begin to pull. 1 + d rate
  /// for Hertz and HuntCrossley; a length for Linear and Rigid [m]; 1 for an Observer.
  Real tensionSignal = 1;
};
[[nodiscard]] PointForce evaluateForce(const ContactLaw& law, const PointMotion& motion);
/// What the spring of a point holds, damping left out [J].
[[nodiscard]] Real storedEnergy(const ContactLaw& law, const PointMotion& motion);

/// Of a PointForce with the normal held: what a Jacobian is made of.
struct PointForceDerivatives {
  Real dNormalForce_dDepth = 0, dNormalForce_dRate = 0;
  Vec3 dForce_dDepth{};
  Mat3 dForce_dVelocity{};  ///< by the relative velocity, which changes the rate as well
  Vec3 dTorque_dDepth{};
  Mat3 dTorque_dVelocity{};
  Mat3 dTorque_dSpin{};
};
[[nodiscard]] PointForceDerivatives differentiateForce(const ContactLaw& law,
                                                       const PointMotion& motion);

/// Poses and velocities of two shapes.
struct PairMotion {
  Transform X_W1{}, X_W2{};
  Vec3 velocity1{}, velocity2{};  ///< of the origins of the frames X_W1, X_W2
  Vec3 spin1{}, spin2{};
};

/// The sum over the polygons of a pressure contact.
struct FoundationForce {
  Vec3 force{};     ///< on 1 [N]
  Vec3 position{};  ///< where the normal forces are centred, world; that of the area while none act
  Vec3 torque{};    ///< on 1, about that position [N m]
  Vec3 normal{};    ///< mean, from 2 to 1
  Real normalForce = 0;
  Real area = 0;   ///< [m^2]
  Real depth = 0;  ///< where it is greatest [m]
  Real rate = 0;   ///< of the depth, at the position
  int numPolygons = 0;
};
/// A polygon of a foundation as a point at its centroid, at the depth pressure / gradient: for
/// derivatives.
[[nodiscard]] ContactLaw lawOfPolygon(const ContactLaw& foundation,
                                      const collision::ContactPolygon& polygon);

/// `polygons` holds those of the pair afterwards: element by element, normals from 2 to 1.
void evaluateFoundation(const model::ModelData& model, int shape1, int shape2,
                        const ContactLaw& law, const PairMotion& motion,
                        std::vector<collision::ContactPolygon>* polygons, FoundationForce* out);

}  // namespace tangere::integrator
