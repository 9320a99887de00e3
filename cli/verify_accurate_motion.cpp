// SPDX-License-Identifier: Apache-2.0
//
// Smooth motion: Adams' formulas, at tolerances that leave the goals room where errors grow along
// the run.
#include "verify_accurate_motion.hpp"
#include "verify_bodies.hpp"

#include <tangere/dynamics.hpp>

#include "verify_event.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846;

double positive(const Json& parameters, const char* name) {
  const double value = number(parameters, name);
  if (!(value > 0)) throw InvalidInput(join("parameter '", name, "' must be above 0"));
  return value;
}

std::vector<double> numbers(const Json& parameters, const char* name, std::size_t count) {
  std::vector<double> out;
  if (parameters.contains(name) && parameters[name].is_array()) {
    for (const Json& entry : parameters[name]) {
      // Some are decimal texts of more digits than a double has.
      if (entry.is_string()) out.push_back(std::stod(entry.get<std::string>()));
      if (entry.is_number()) out.push_back(entry.get<double>());
    }
  }
  if (out.size() != count)
    throw InvalidInput(join("parameter '", name, "' must be ", std::to_string(count), " numbers"));
  return out;
}

SimulationOptions smoothOptions(const Vec3& gravity) {
  SimulationOptions options = eventOptions(gravity);
  options.event.method = EventMethod::Adams;
  options.event.relativeTolerance = 1e-12;
  options.event.absoluteTolerance = 1e-13;
  return options;
}

/// An angle that is counted over turns.
class Winding {
 public:
  explicit Winding(double start) : last_(start) {}
  double add(double angle) {
    double turn = angle - last_;
    if (turn > kPi) turn -= 2 * kPi;
    if (turn < -kPi) turn += 2 * kPi;
    last_ = angle;
    return sum_ += turn;
  }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  double last_, sum_ = 0;
};

double energyOf(const EventRun& run) {
  const Model& model = run.simulator().model();
  return kineticEnergy(model, run.simulator().state()) +
         potentialEnergy(model, run.simulator().state());
}

}  // namespace

Measured accurateDzhanibekov(const Json& parameters) {
  const std::vector<double> I = numbers(parameters, "I", 3), w0 = numbers(parameters, "w0", 3);
  const double duration = positive(parameters, "T");
  ModelBuilder builder;
  builder.setOptions(smoothOptions({}));
  // Its centre stays where it is. Rates in axes of the body keep the digits of the small ones,
  // which decide when it flips: those of a ball joint.
  Body body{.name = "body"};
  body.massProperties = solid(1, {}, {I[0], I[1], I[2]});
  body.joints = {{.name = "centre", .type = JointType::Ball}};
  builder.addBody(body);
  const Model model = builder.build();
  const auto start = [&] {
    EventRun run(model);
    run.simulator().setVelocities(w0);
    return run;
  };
  const auto rates = [](const EventRun& run) {
    const BodyState state = run.body("body");
    return transposeTimes(state.pose.rotation, state.angularVelocity);
  };

  EventRun run = start();
  run.to(duration);
  const Vec3 w = rates(run), z = run.body("body").pose.rotation.col[2];
  const Vec3 momentum{I[0] * w.x, I[1] * w.y, I[2] * w.z};
  Measured out{{"w_T", {w.x, w.y, w.z}},
               {"z_axis_T", {z.x, z.y, z.z}},
               {"energy", {0.5 * dot(w, momentum)}},
               {"ang_momentum", {norm(momentum)}}};

  // The period: between falls of the middle rate through zero.
  std::array<int, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::pair(I[a], a) < std::pair(I[b], b); });
  const auto middle = [&](const EventRun& r) {
    const Vec3 v = rates(r);
    return std::array{v.x, v.y, v.z}[order[1]];
  };
  EventRun turning = start();
  Track rate;
  rate.add(0, middle(turning));
  const double look = 0.02 / norm(Vec3{w0[0], w0[1], w0[2]});
  constexpr int kMostLooks = 200000;
  std::vector<double> falls;
  double last = middle(turning);
  for (int k = 1; k <= kMostLooks && falls.size() < 2; ++k) {
    turning.to(k * look);
    const double now = middle(turning);
    rate.add(k * look, now);
    if (last > 0 && now <= 0) {
      // Four looks on, so that the zero lies inside.
      for (int i = 1; i <= 4; ++i) {
        turning.to((k + i) * look);
        rate.add((k + i) * look, middle(turning));
      }
      k += 4;
      falls.push_back(rate.zeros().back());
    }
    last = middle(turning);
  }
  if (falls.size() == 2) out["period"] = {falls[1] - falls[0]};
  return out;
}

namespace {

/// A top on a ball joint at the origin, its axis at `theta0` from the vertical.
class SpinningTop {
 public:
  SpinningTop(const Json& parameters, double precession) : run_(build(parameters)) {
    const double theta = number(parameters, "theta0");
    run_.simulator().setPositions(
        std::vector<Real>{std::cos(0.5 * theta), std::sin(0.5 * theta), 0, 0});
    run_.simulator().setVelocities(
        std::vector<Real>{0, precession * std::sin(theta), number(parameters, "w3")});
    winding_ = Winding(angle());
  }
  void to(double time) {
    run_.to(time);
    winding_.add(angle());
  }
  [[nodiscard]] double phi() const { return winding_.sum(); }
  [[nodiscard]] double theta() const {
    const Vec3 axis = run_.body("top").pose.rotation.col[2];
    return std::atan2(std::hypot(axis.x, axis.y), axis.z);
  }
  /// Of theta.
  [[nodiscard]] double rate() const {
    const BodyState state = run_.body("top");
    const Vec3 axis = state.pose.rotation.col[2], moves = cross(state.angularVelocity, axis);
    return -moves.z / std::hypot(axis.x, axis.y);
  }

 private:
  static Model build(const Json& parameters) {
    const double mass = positive(parameters, "m"), l = positive(parameters, "l");
    const double across = positive(parameters, "I1") - mass * l * l;
    ModelBuilder builder;
    builder.setOptions(smoothOptions({0, 0, -positive(parameters, "g")}));
    Body body{.name = "top"};
    body.joints = {{.name = "point", .type = JointType::Ball}};
    body.massProperties = solid(mass, {0, 0, l}, {across, across, positive(parameters, "I3")});
    builder.addBody(body);
    return builder.build();
  }
  [[nodiscard]] double angle() const {
    const Vec3 axis = run_.body("top").pose.rotation.col[2];
    return std::atan2(axis.x, -axis.y);
  }

  EventRun run_;
  Winding winding_{0};
};

}  // namespace

Measured accurateHeavyTop(const Json& parameters) {
  const double w3 = positive(parameters, "w3"), duration = positive(parameters, "T");
  // Steady precession: the starts at which theta does not set out to change. Its acceleration, as
  // measured, is a parabola of the rate of precession.
  const double instant = 1e-3 / w3;
  const auto acceleration = [&](double precession) {
    SpinningTop top(parameters, precession);
    Track rate;
    rate.add(0, top.rate());
    for (int i = 1; i < 8; ++i) {
      top.to(i * instant);
      rate.add(i * instant, top.rate());
    }
    return rate.rateAt(0);
  };
  const double scale = w3 * number(parameters, "I3") / number(parameters, "I1");
  const double c = acceleration(0), plus = acceleration(scale), minus = acceleration(-scale);
  const double b = 0.5 * (plus - minus) / scale, a = (0.5 * (plus + minus) - c) / (scale * scale);
  const double root = std::sqrt(std::max(0.0, b * b - 4 * a * c));
  Measured out;
  for (const bool isSlow : {false, true}) {
    // The far root without cancellation, the near one from their product.
    const double far = (-b - (b < 0 ? -root : root)) / (2 * a);
    SpinningTop top(parameters, isSlow ? c / (a * far) : far);
    constexpr int kLooks = 1000;
    for (int k = 1; k <= kLooks; ++k) top.to(duration * k / kLooks);
    out[isSlow ? "precession_slow" : "precession_fast"] = {top.phi() / duration};
  }

  // Nutation: theta goes from its least to its largest and back.
  SpinningTop top(parameters, 0);
  Track theta, rate, phi;
  const double look = 0.05 / scale;
  double highest = 0;
  std::vector<double> lows;
  for (int k = 1; k < 1000000 && lows.empty(); ++k) {
    top.to(k * look);
    theta.add(k * look, top.theta());
    rate.add(k * look, top.rate());
    phi.add(k * look, top.phi());
    // A few looks beyond the second turn: where it is the nearest samples are on both sides.
    const std::vector<double> zeros = rate.zeros();
    if (zeros.size() < 2 || k * look < zeros[1] + 5 * look) continue;
    highest = theta.at(zeros[0]);
    lows.push_back(zeros[1]);
  }
  if (!lows.empty()) {
    out["theta_max"] = {highest};
    out["nutation_period"] = {lows[0]};
    out["precession_per_nutation"] = {phi.at(lows[0])};
  }
  SpinningTop end(parameters, 0);
  constexpr int kLooks = 1000;
  for (int k = 1; k <= kLooks; ++k) end.to(duration * k / kLooks);
  out["theta_phi_T"] = {end.theta(), end.phi()};
  return out;
}

Measured accurateDoublePendulum(const Json& parameters) {
  const double m1 = positive(parameters, "m1"), m2 = positive(parameters, "m2"),
               l1 = positive(parameters, "l1"), l2 = positive(parameters, "l2");
  ModelBuilder builder;
  builder.setOptions(smoothOptions({0, 0, -positive(parameters, "g")}));
  // Point masses: their own moments are below rounding beside m l^2.
  constexpr double kPoint = 1e-20;
  const auto add = [&](const std::string& name, const std::string& parent, double at, double mass,
                       double length) {
    Body body{.name = name, .parent = parent};
    body.joints = {{.name = "at_" + name, .type = JointType::Revolute, .axis = {0, -1, 0}}};
    body.pose.translation = {0, 0, at};
    const double moment = kPoint * mass * length * length;
    body.massProperties = solid(mass, {0, 0, -length}, {moment, moment, moment});
    builder.addBody(body);
  };
  add("first", "", 0, m1, l1);
  add("second", "first", -l1, m2, l2);
  EventRun run(builder.build());
  const double th1 = number(parameters, "th1"), th2 = number(parameters, "th2"),
               w1 = number(parameters, "w1"), w2 = number(parameters, "w2");
  run.simulator().setPositions(std::vector<Real>{th1, th2 - th1});
  run.simulator().setVelocities(std::vector<Real>{w1, w2 - w1});
  if (!parameters.contains("times") || !parameters["times"].is_array())
    throw InvalidInput("parameter 'times' must be a list of numbers");
  Measured out;
  int index = 0;
  for (const Json& time : parameters["times"]) {
    run.to(time.get<double>());
    const State& state = run.simulator().state();
    out["state_t" + std::to_string(++index)] = {state.q[0], state.q[0] + state.q[1], state.v[0],
                                                state.v[0] + state.v[1]};
  }
  out["energy"] = {energyOf(run)};
  return out;
}

Measured accurateFourbarSingular(const Json& parameters) {
  const int windows = static_cast<int>(number(parameters, "N"));
  if (windows < 1 || windows > 200) throw InvalidInput("N must be between 1 and 200");
  const double length = positive(parameters, "L"), mass = positive(parameters, "m"),
               speed = number(parameters, "v0"), duration = positive(parameters, "T");
  ModelBuilder builder;
  builder.setOptions(smoothOptions({0, -positive(parameters, "g"), 0}));
  const std::vector<Real> rates = addFourbar(builder, windows, length, mass, speed);
  EventRun run(builder.build());
  run.simulator().setVelocities(rates);
  Track turn;
  run.sample(duration, 4000,
             [&](double t) { turn.add(t, -run.simulator().state().q[0] - 2 * kPi); });
  const std::vector<double> turns = turn.zeros();
  const Vec3 top = run.body("up0").pose * Vec3{0, length, 0};
  Measured out{{"B0_T", {top.x, top.y}},
               {"phi_T", {-run.simulator().state().q[0]}},
               {"phi_dot_T", {-run.simulator().state().v[0]}},
               {"energy", {energyOf(run)}}};
  if (!turns.empty()) out["turn_time"] = {turns[0]};
  return out;
}

/// Three trees on the ground (O, B and twice A) whose bodies meet in E.
Measured accurateAndrews(const Json& parameters) {
  if (!parameters.contains("constants") || !parameters["constants"].is_object())
    throw InvalidInput("parameter 'constants' is missing");
  const Json& constants = parameters["constants"];
  const auto c = [&](const char* name) { return number(constants, name); };
  const std::vector<double> q0 = numbers(parameters, "q0", 7);
  ModelBuilder builder;
  SimulationOptions options = smoothOptions({});
  builder.setOptions(options);
  // Joints turn about z; a body's frame is that of its angle zero.
  const auto add = [&](const std::string& name, const std::string& parent, const Vec3& at,
                       double mass, const Vec3& center, double moment) {
    Body body{.name = name, .parent = parent};
    body.joints = {{.name = "at_" + name, .type = JointType::Revolute, .axis = {0, 0, 1}}};
    body.pose.translation = at;
    body.massProperties = solid(mass, center, {moment, moment, moment});
    builder.addBody(body);
  };
  const Vec3 A{c("xa"), c("ya"), 0}, B{c("xb"), c("yb"), 0};
  add("k1", "", {}, c("m1"), {c("ra"), 0, 0}, c("i1"));
  add("k2", "k1", {c("rr"), 0, 0}, c("m2"), {-c("da"), 0, 0}, c("i2"));
  add("k3", "", B, c("m3"), {c("sb"), -c("sa"), 0}, c("i3"));
  add("k5", "", A, c("m5"), {c("ta"), c("tb"), 0}, c("i5"));
  add("k4", "k5", {c("zt"), 0, 0}, c("m4"), {0, c("ea") - c("e"), 0}, c("i4"));
  add("k7", "", A, c("m7"), {-c("ub"), -c("ua"), 0}, c("i7"));
  add("k6", "k7", {0, -c("u"), 0}, c("m6"), {c("zf") - c("fa"), 0, 0}, c("i6"));
  const auto close = [&](const std::string& body, const Vec3& point) {
    builder.addEquality({.name = "e_" + body,
                         .type = Equality::Type::Connect,
                         .first = "k2",
                         .second = body,
                         .anchor = {-c("d"), 0, 0},
                         .anchor2 = point,
                         .hasRelativePose = true});
  };
  close("k3", {0, -c("ss"), 0});
  close("k4", {0, -c("e"), 0});
  close("k6", {c("zf"), 0, 0});
  builder.addSite({.name = "D", .body = "k3", .pose = {.translation = {c("sd"), -c("sc"), 0}}});
  builder.addSite({.name = "C", .body = "", .pose = {.translation = {c("xc"), c("yc"), 0}}});
  builder.addTendon({.name = "spring",
                     .path = {{.site = "D"}, {.site = "C"}},
                     .stiffness = c("c0"),
                     .springLower = c("l0"),
                     .springUpper = c("l0")});
  builder.addActuator(Actuator::motor("drive", "at_k1"));
  // Coordinates of the case: beta, Theta, gamma, Phi, delta, Omega, epsilon.
  const std::array<const char*, 7> joints{"at_k1", "at_k2", "at_k3", "at_k4",
                                          "at_k5", "at_k6", "at_k7"};
  for (std::size_t i = 0; i < 7; ++i)
    builder.addStartPosition({.joint = joints[i], .position = q0[i]});
  EventRun run(builder.build());
  const Model& model = run.simulator().model();
  run.simulator().setControl(model.findActuator("drive"), c("mom"));
  run.to(positive(parameters, "T"));
  std::vector<double> q, v;
  for (const char* name : joints) {
    const int joint = model.findJoint(name);
    q.push_back(run.simulator().state().q[static_cast<std::size_t>(model.positionOfJoint(joint))]);
    v.push_back(run.simulator().state().v[static_cast<std::size_t>(model.velocityOfJoint(joint))]);
  }
  return {{"q_T", q}, {"beta_T", {q[0]}}, {"qdot_T", v}};
}

}  // namespace tangere::cli
