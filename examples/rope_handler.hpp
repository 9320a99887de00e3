// SPDX-License-Identifier: Apache-2.0
//
// A rope between two bodies as a contact handler: it pulls when it is taut and does nothing when it
// is slack. docs/add_a_contact_handler.md explains it line by line.
#pragma once

#include <tangere/contact_handler.hpp>

#include <algorithm>

// [rope]
class Rope : public tangere::ContactHandler {
 public:
  using Real = tangere::Real;
  using Vec3 = tangere::Vec3;
  struct End {
    int body = -1;  // -1: the world
    Vec3 point{};   // in the frame of the body
  };

  /// `stiffness` [N/m] > 0, `damping` [N s/m] >= 0.
  Rope(const End& end1, const End& end2, Real length, Real stiffness, Real damping)
      : end1_(end1), end2_(end2), length_(length), stiffness_(stiffness), damping_(damping) {}

  // Detection: is there a constraint in this step, and where?
  int detect(const tangere::HandlerView& view) override {
    point1_ = view.pose(end1_.body) * end1_.point;
    point2_ = view.pose(end2_.body) * end2_.point;
    const Real distance = norm(point1_ - point2_);
    stretch_ = distance - length_;
    return stretch_ > -0.1 * length_ ? 1 : 0;  // far from taut it costs nothing
  }

  // Jacobian: v_c is the rate of the distance between the ends.
  tangere::ConstraintRows rows(int) const override {
    tangere::ConstraintRows rows;
    rows.body1 = end1_.body;
    rows.body2 = end2_.body;
    rows.numRows = 1;
    rows.row[0] = {.direction = (point1_ - point2_) / norm(point1_ - point2_),
                   .point1 = point1_,
                   .point2 = point2_};
    return rows;
  }

  // Regularization: no stiffer than the step can follow, for the mass that the rope feels.
  void prepare(int, Real dt, int, const Real* delassus) override {
    dt_ = dt;
    stiffnessNow_ = std::min(stiffness_, 1 / (delassus[0] * dt * dt));
  }

  // Cost, gradient, Hessian. The tension k (x + dt v) + d v at the end of the step is linear in v
  // with slope K = k dt + d, and never negative: l = dt tension^2 / (2 K).
  Real evaluate(int, const Real* vc, Real* gamma, Real* hessian) const override {
    const Real slope = stiffnessNow_ * dt_ + damping_;
    const Real tension = std::max<Real>(stiffnessNow_ * stretch_ + slope * vc[0], 0);
    gamma[0] = -dt_ * tension;
    if (hessian != nullptr) hessian[0] = tension > 0 ? dt_ * slope : 0;
    return dt_ * tension * tension / (2 * slope);
  }

 private:
  End end1_, end2_;
  Real length_, stiffness_, damping_;
  // Of this step.
  Vec3 point1_{}, point2_{};
  Real stretch_ = 0, dt_ = 0, stiffnessNow_ = 0;
};
// [rope]
