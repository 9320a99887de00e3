// SPDX-License-Identifier: Apache-2.0
#include "verify_robots.hpp"
#include "verify_bodies.hpp"

#include <tangere/simulator.hpp>

#include <algorithm>
#include <cmath>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846;

Vec3 vector(const Json& parameters, const char* name) {
  if (!parameters.contains(name) || !parameters[name].is_array() || parameters[name].size() != 3)
    throw InvalidInput(join("parameter '", name, "' must be three numbers"));
  return {parameters[name][0].get<double>(), parameters[name][1].get<double>(),
          parameters[name][2].get<double>()};
}

}  // namespace

Measured dzhanibekov(const Json& parameters, const Lane& lane) {
  const Vec3 moments = vector(parameters, "I");
  const double duration = number(parameters, "T");
  ModelBuilder builder;
  builder.setOptions(accurateOptions(lane, {}));
  Body body{.name = "body"};
  body.massProperties = solid(1, {}, moments);
  body.angularVelocity = vector(parameters, "w0");
  builder.addBody(body);
  Simulator simulator(builder.build());
  const auto rates = [&] {
    const BodyState state = simulator.body(0);
    return transposeTimes(state.pose.rotation, state.angularVelocity);
  };
  // The period: between falls of the middle rate through zero.
  std::vector<double> falls;
  double last = rates().y;
  const int steps = static_cast<int>(std::lround(duration / lane.dt));
  Measured out;
  for (int k = 1; k <= 8 * steps && (k <= steps || falls.size() < 2); ++k) {
    simulator.step();
    const double now = rates().y;
    if (last > 0 && now <= 0) falls.push_back((k - 1 + last / (last - now)) * lane.dt);
    last = now;
    if (k != steps) continue;
    const Vec3 w = rates();
    const BodyState state = simulator.body(0);
    const Vec3 momentum{moments.x * w.x, moments.y * w.y, moments.z * w.z};
    out["w_T"] = {w.x, w.y, w.z};
    const Vec3& z = state.pose.rotation.col[2];
    out["z_axis_T"] = {z.x, z.y, z.z};
    out["energy"] = {0.5 * dot(w, momentum)};
    out["ang_momentum"] = {norm(momentum)};
  }
  if (falls.size() >= 2) out["period"] = {falls[1] - falls[0]};
  return out;
}

namespace {

/// A top on a ball joint at the origin, its axis at `theta` from the vertical; angle of precession
/// counted over turns.
class Top {
 public:
  Top(const Json& parameters, const Lane& lane, double precession)
      : simulator_(model(parameters, lane)) {
    const double theta = number(parameters, "theta0");
    simulator_.setPositions(std::vector<Real>{std::cos(0.5 * theta), std::sin(0.5 * theta), 0, 0});
    simulator_.setVelocities(
        std::vector<Real>{0, precession * std::sin(theta), number(parameters, "w3")});
    last_ = angle();
  }
  void step() {
    simulator_.step();
    const double now = angle();
    double turn = now - last_;
    if (turn > kPi) turn -= 2 * kPi;
    if (turn < -kPi) turn += 2 * kPi;
    phi_ += turn;
    last_ = now;
  }
  [[nodiscard]] double phi() const { return phi_; }
  [[nodiscard]] double theta() const {
    const Vec3 axis = simulator_.body(0).pose.rotation.col[2];
    return std::atan2(std::hypot(axis.x, axis.y), axis.z);
  }

 private:
  static Model model(const Json& parameters, const Lane& lane) {
    const double mass = number(parameters, "m"), l = number(parameters, "l");
    const double across = number(parameters, "I1") - mass * l * l;
    ModelBuilder builder;
    builder.setOptions(accurateOptions(lane, {0, 0, -number(parameters, "g")}));
    Body body{.name = "top"};
    body.joints = {{.name = "point", .type = JointType::Ball}};
    body.massProperties = solid(mass, {0, 0, l}, {across, across, number(parameters, "I3")});
    builder.addBody(body);
    return builder.build();
  }
  [[nodiscard]] double angle() const {
    const Vec3 axis = simulator_.body(0).pose.rotation.col[2];
    return std::atan2(axis.x, -axis.y);
  }

  Simulator simulator_;
  double last_ = 0, phi_ = 0;
};

}  // namespace

Measured heavyTop(const Json& parameters, const Lane& lane) {
  const double I1 = number(parameters, "I1"), I3 = number(parameters, "I3"),
               theta = number(parameters, "theta0"), w3 = number(parameters, "w3"),
               mgl = number(parameters, "m") * number(parameters, "g") * number(parameters, "l"),
               duration = number(parameters, "T");
  // Steady precession is started where it should be, and measured.
  const double a = I1 * std::cos(theta), b = I3 * w3;
  const double root = std::sqrt(std::max(0.0, b * b - 4 * a * mgl));
  const int steps = static_cast<int>(std::lround(duration / lane.dt));
  const auto precession = [&](double start) {
    Top top(parameters, lane, start);
    for (int k = 0; k < steps; ++k) top.step();
    return top.phi() / (steps * lane.dt);
  };
  Measured out{{"precession_slow", {precession((b - root) / (2 * a))}},
               {"precession_fast", {precession((b + root) / (2 * a))}}};

  Top top(parameters, lane, 0);
  // Nutation: theta goes from its least to its largest and back.
  double largest = theta, before = theta, now = theta;
  std::vector<double> lows, phis;
  for (int k = 1; k <= steps; ++k) {
    top.step();
    const double next = top.theta();
    largest = std::max(largest, next);
    if (k > 1 && now < before && now <= next) {
      // The vertex of the parabola through the three.
      const double shift = 0.5 * (before - next) / (before - 2 * now + next);
      lows.push_back((k - 1 + shift) * lane.dt);
      phis.push_back(top.phi());
    }
    before = now;
    now = next;
  }
  out["theta_max"] = {largest};
  out["theta_phi_T"] = {top.theta(), top.phi()};
  if (!lows.empty()) {
    // The first least is the start itself.
    out["nutation_period"] = {lows.back() / static_cast<double>(lows.size())};
    out["precession_per_nutation"] = {phis.back() / static_cast<double>(phis.size())};
  }
  return out;
}

namespace {

/// Blocks in a row between two plates that are pressed against them. The plates are guided
/// sideways and hinged where the wire passes, so they carry thrust and shear and no moment.
class Row {
 public:
  Row(const Json& parameters, const Lane& lane, double friction, double tension)
      : dt_(lane.dt), simulator_(model(parameters, lane, friction)) {
    left_ = simulator_.model().findBody("left");
    right_ = simulator_.model().findBody("right");
    force_.assign(static_cast<std::size_t>(simulator_.model().numVelocities()), 0);
    for (const bool isRight : {false, true}) {
      const int joint = simulator_.model().findJoint(isRight ? "press_right" : "press_left");
      force_[simulator_.model().velocityOfJoint(joint)] = isRight ? -tension : tension;
    }
    for (int i = 0; i < count(parameters); ++i)
      blocks_.push_back(simulator_.model().findBody(nameOf(i)));
  }
  void run(double duration) {
    for (int k = 0; k < static_cast<int>(std::lround(duration / dt_)); ++k) {
      simulator_.applyJointForces(force_);
      simulator_.step();
    }
  }
  [[nodiscard]] bool hasFallen() const {
    constexpr double kFallen = 1e-3;  // [m]
    double lowest = 0;
    for (const int block : blocks_)
      lowest = std::min(lowest, simulator_.body(block).pose.translation.z);
    return lowest < -kFallen;
  }
  /// Force of what is left of joint i on what is right of it, and where it acts above the axis.
  struct JointForce {
    double shear = 0, eccentricity = 0;
  };
  [[nodiscard]] JointForce joint(int i) const {
    const int left = i == 0 ? left_ : blocks_[i - 1];
    const int right = i == static_cast<int>(blocks_.size()) ? right_ : blocks_[i];
    double shear = 0, thrust = 0, moment = 0;
    for (const ContactForce& contact : simulator_.contacts()) {
      const bool isRight1 = contact.body1 == right && contact.body2 == left;
      const bool isRight2 = contact.body2 == right && contact.body1 == left;
      if (!isRight1 && !isRight2) continue;
      const Vec3 force = contact.force * (isRight1 ? 1 : -1);
      shear += force.z;
      thrust += force.x;
      moment += force.x * contact.position.z;
    }
    return {shear, moment / thrust};
  }

  static int count(const Json& parameters) {
    const int n = static_cast<int>(number(parameters, "n"));
    if (n < 2 || n > 200) throw InvalidInput("n must be between 2 and 200");
    return n;
  }

 private:
  static std::string nameOf(int i) { return "block" + std::to_string(i); }
  static Model model(const Json& parameters, const Lane& lane, double friction) {
    const double width = number(parameters, "w"), height = number(parameters, "h"),
                 mass = number(parameters, "m"), depth = 0.1;
    const int n = count(parameters);
    ModelBuilder builder;
    builder.setOptions(accurateOptions(lane, {0, 0, -number(parameters, "g")}));
    builder.addMaterial({.name = "default", .friction = friction});
    const auto block = std::make_shared<Box>(Vec3{0.5 * width, 0.5 * depth, 0.5 * height});
    const auto plate = std::make_shared<Box>(Vec3{0.05, depth, height});
    for (int i = 0; i < n; ++i) {
      Body body{.name = nameOf(i)};
      body.pose.translation = {(i + 0.5) * width, 0, 0};
      body.shapes = {{.shape = block}};
      body.massProperties = block->massProperties(mass / (width * height * depth));
      builder.addBody(body);
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
      end.pose.translation = {(isRight ? n * width : 0) + back, 0, 0};
      end.shapes = {{.shape = plate}};
      end.massProperties = solid(mass, {-back, 0, 0}, {0.01, 0.01, 0.01});
      builder.addBody(end);
    }
    return builder.build();
  }

  double dt_;
  Simulator simulator_;
  std::vector<Real> force_;
  int left_ = -1, right_ = -1;
  std::vector<int> blocks_;
};

}  // namespace

Measured tensionedRow(const Json& parameters, const Lane& lane) {
  const int n = Row::count(parameters);
  const double mu = number(parameters, "mu");
  const double weight = n * number(parameters, "m") * number(parameters, "g");
  const auto leastTension = [&](double friction, double high) {
    double low = 0;
    while (high - low > 1e-4 * high) {
      const double middle = 0.5 * (low + high);
      Row row(parameters, lane, friction, middle);
      row.run(0.5);
      (row.hasFallen() ? low : high) = middle;
    }
    return 0.5 * (low + high);
  };
  Row row(parameters, lane, mu, number(parameters, "T_test"));
  row.run(1);
  std::vector<double> shear;
  for (int i = 0; i <= n; ++i) shear.push_back(row.joint(i).shear);
  constexpr double kRough = 10;  // so that only opening is left
  return {{"T_slip", {leastTension(mu, 2 * weight / mu)}},
          {"T_open", {leastTension(kRough, weight)}},
          {"shear", shear},
          {"eccentricity_middle", {std::fabs(row.joint(n / 2).eccentricity)}}};
}

Measured fourbarSingular(const Json& parameters, const Lane& lane) {
  const int windows = static_cast<int>(number(parameters, "N"));
  if (windows < 1 || windows > 1000) throw InvalidInput("N must be between 1 and 1000");
  const double length = number(parameters, "L"), mass = number(parameters, "m"),
               g = number(parameters, "g"), speed = number(parameters, "v0"),
               duration = number(parameters, "T");
  ModelBuilder builder;
  builder.setOptions(accurateOptions(lane, {0, -g, 0}));
  const std::vector<Real> rates = addFourbar(builder, windows, length, mass, speed);
  Simulator simulator(builder.build());
  simulator.setVelocities(rates);
  const int steps = static_cast<int>(std::lround(duration / lane.dt));
  double turn = 0, before = 0;
  for (int k = 1; k <= steps; ++k) {
    simulator.step();
    const double phi = -simulator.state().q[0];
    if (turn == 0 && phi >= 2 * kPi) turn = (k - 1 + (2 * kPi - before) / (phi - before)) * lane.dt;
    before = phi;
  }
  const BodyState first = simulator.body("up0");
  const Vec3 top = first.pose * Vec3{0, length, 0};
  return {{"B0_T", {top.x, top.y}},
          {"phi_T", {-simulator.state().q[0]}},
          {"phi_dot_T", {-simulator.state().v[0]}},
          {"turn_time", {turn}},
          {"energy", {simulator.energy().kinetic + simulator.energy().potential}}};
}

}  // namespace tangere::cli
