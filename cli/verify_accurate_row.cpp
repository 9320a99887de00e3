// SPDX-License-Identifier: Apache-2.0
//
// Whether a row holds shows at once: what slips or opens gets faster, what holds comes to rest.
#include "verify_accurate_row.hpp"
#include "verify_bodies.hpp"

#include "verify_event.hpp"
#include "verify_rest.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tangere::cli {

namespace {

/// Whether blocks may turn.
enum class Turning { Free, None };

/// Blocks between two plates that are pressed against them. The plates are guided sideways and
/// hinged where the wire passes, so they carry thrust and shear and no moment.
class PressedRow {
 public:
  PressedRow(const Json& parameters, double friction, Turning turning)
      : count_(countOf(parameters)), run_(build(parameters, friction, turning, count_)) {
    const Model& model = run_.simulator().model();
    for (int i = 0; i < count_; ++i) bodies_.push_back(model.findBody(nameOf(i)));
    left_ = model.findBody("left");
    right_ = model.findBody("right");
  }
  static int countOf(const Json& parameters) {
    const int n = static_cast<int>(number(parameters, "n"));
    if (n < 2 || n > 200) throw InvalidInput("n must be between 2 and 200");
    return n;
  }
  void press(double tension) {
    const Model& model = run_.simulator().model();
    run_.simulator().setControl(model.findActuator("pull_left"), tension);
    run_.simulator().setControl(model.findActuator("pull_right"), -tension);
  }
  void to(double time) { run_.to(time); }
  /// Of the middle, downwards.
  [[nodiscard]] double fallSpeed() const {
    const int middle = bodies_[static_cast<std::size_t>(count_ / 2)];
    return -run_.simulator().body(middle).linearVelocity.z;
  }
  /// Whether it falls all the way to `time`, and ever faster: by a line through several looks, as
  /// the blocks still swing a little.
  [[nodiscard]] bool isFalling(double time) {
    constexpr int kLooks = 16;
    double slope = 0, slowest = fallSpeed(), weight = -0.5 * (kLooks - 1);
    run_.sample(time, kLooks, [&](double) {
      slope += fallSpeed() * weight++;
      slowest = std::min(slowest, fallSpeed());
    });
    return slope > 0 && slowest > 10 * kMoving;
  }
  struct JointForce {
    double shear = 0, eccentricity = 0;
  };
  /// Of what is left of joint i on what is right of it, and where it acts above the axis.
  [[nodiscard]] JointForce joint(int i) const {
    const int left = i == 0 ? left_ : bodies_[static_cast<std::size_t>(i - 1)];
    const int right = i == count_ ? right_ : bodies_[static_cast<std::size_t>(i)];
    double shear = 0, thrust = 0, moment = 0;
    for (const ContactResult& contact : run_.simulator().contactResults()) {
      const bool isRight1 = contact.body1 == right && contact.body2 == left;
      const bool isRight2 = contact.body2 == right && contact.body1 == left;
      if (!isRight1 && !isRight2) continue;
      const Vec3 force = contact.force * (isRight1 ? 1.0 : -1.0);
      const Vec3 torque = contact.torque * (isRight1 ? 1.0 : -1.0);
      shear += force.z;
      thrust += force.x;
      // About the axis; z up: a force along x at height z turns about y.
      moment += force.x * contact.position.z + torque.y;
    }
    return {shear, moment / thrust};
  }

 private:
  static std::string nameOf(int i) { return "block" + std::to_string(i); }
  static Model build(const Json& parameters, double friction, Turning turning, int n) {
    const double width = positive(parameters, "w"), height = positive(parameters, "h"),
                 mass = positive(parameters, "m"), depth = 0.1;
    RestWorld world({0, 0, -positive(parameters, "g")}, friction, false, kRollingSlip);
    // Everything starts in contact.
    constexpr double kOverlap = 1e-9;  // [m]
    const double pitch = width - kOverlap;
    const auto plate = std::make_shared<Box>(Vec3{0.05, depth, height});
    for (int i = 0; i < n; ++i) {
      Body block = box(nameOf(i), {width, depth, height}, mass, {(i + 0.5) * pitch, 0, 0});
      if (turning == Turning::None)
        block.joints = {
            {.name = "x_" + nameOf(i), .type = JointType::Prismatic, .axis = {1, 0, 0}},
            {.name = "z_" + nameOf(i), .type = JointType::Prismatic, .axis = {0, 0, 1}}};
      world.builder.addBody(block);
    }
    for (const bool isRight : {false, true}) {
      const std::string side = isRight ? "right" : "left";
      const double back = isRight ? 0.05 : -0.05;
      Body end{.name = side};
      end.joints = {{.name = "press_" + side, .type = JointType::Prismatic, .axis = {1, 0, 0}},
                    {.name = "turn_" + side,
                     .type = JointType::Revolute,
                     .position = {-back, 0, 0},
                     .axis = {0, 1, 0}}};
      end.pose.translation = {(isRight ? n * pitch : 0) + back, 0, 0};
      end.shapes = {{.shape = plate, .material = "stuff"}};
      end.massProperties = evenInertia(mass, 0.01);
      end.massProperties->center = {-back, 0, 0};
      world.builder.addBody(end);
      world.builder.addActuator(Actuator::motor("pull_" + side, "press_" + side));
    }
    return world.builder.build();
  }

  int count_;
  EventRun run_;
  std::vector<int> bodies_;
  int left_ = -1, right_ = -1;
};

}  // namespace

Measured accurateTensionedRow(const Json& parameters) {
  const int n = PressedRow::countOf(parameters);
  const double mu = positive(parameters, "mu"), tension = positive(parameters, "T_test");
  // A blow spreads along damped springs in a time that grows with the square of their number.
  const double settled = std::max(1.0, 0.01 * n * n) * kSettled;
  // Held well, then less, which is a small blow: after it the row comes to rest, or falls faster
  // and faster.
  const auto isHeld = [&](double friction, Turning turning, double test) {
    PressedRow row(parameters, friction, turning);
    row.press(2 * test);
    row.to(2 * settled);
    row.press(test);
    row.to(3 * settled);
    return !row.isFalling(4 * settled);
  };
  const auto leastTension = [&](double friction, Turning turning) {
    return eventThreshold(0, tension, [&](double test) { return isHeld(friction, turning, test); });
  };
  constexpr double kRough = 10;  // so that only opening is left
  const double open = leastTension(kRough, Turning::Free);
  double slip = leastTension(mu, Turning::Free);
  // A row that opens first does not show when it slips; one that cannot open does.
  if (slip < 1.02 * open) slip = leastTension(mu, Turning::None);
  PressedRow row(parameters, mu, Turning::Free);
  row.press(tension);
  row.to(40 * settled);
  std::vector<double> shear;
  for (int i = 0; i <= n; ++i) shear.push_back(row.joint(i).shear);
  return {{"T_slip", {slip}},
          {"T_open", {open}},
          {"shear", shear},
          {"eccentricity_middle", {std::fabs(row.joint(n / 2).eccentricity)}}};
}

}  // namespace tangere::cli
