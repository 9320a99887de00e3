// SPDX-License-Identifier: Apache-2.0
#include "verify_contact.hpp"

#include <tangere/contact_handler.hpp>
#include <tangere/simulator.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846;
/// Enough for the friction of a disc to a few parts in a thousand.
constexpr int kNumFeet = 400;

/// A disc on small feet that stand on equal areas, its centre of mass on the ground: a thin one.
Model discOnFeet(const Json& parameters, const Lane& lane) {
  const double mass = number(parameters, "m"), radius = number(parameters, "R");
  if (!(number(parameters, "mu") > 0 && number(parameters, "g") > 0 && radius > 0))
    throw InvalidInput("mu, g and R must be positive: the disc would never stop");
  // A given stiffness shares the load evenly. What a step gets wrong about the slip, which the
  // convex cone takes for a gap, must be small beside the depth.
  const double foot = 2e-2 * radius, depth = 2e-3 * radius;
  ModelBuilder builder;
  SimulationOptions options = accurateOptions(lane, {0, 0, -number(parameters, "g")});
  builder.setOptions(options);
  builder.addMaterial({.name = "default",
                       .friction = number(parameters, "mu"),
                       .stiffness = 2 * mass * number(parameters, "g") / (kNumFeet * depth),
                       .relaxationTime = 0.5 * lane.dt});
  Body floor{.name = "floor", .type = BodyType::Fixed};
  floor.shapes.push_back({.shape = std::make_shared<Plane>()});
  builder.addBody(floor);
  Body disc{.name = "disc"};
  disc.pose.translation = {0, 0, foot - depth};
  const auto ball = std::make_shared<Sphere>(foot);
  const double golden = kPi * (3 - std::sqrt(5.0));
  for (int i = 0; i < kNumFeet; ++i) {
    const double r = radius * std::sqrt((i + 0.5) / kNumFeet), angle = golden * i;
    BodyShape shape{.shape = ball};
    shape.pose.translation = {r * std::cos(angle), r * std::sin(angle), 0};
    disc.shapes.push_back(shape);
  }
  const double across = 0.25 * mass * radius * radius;
  disc.massProperties =
      MassProperties{.mass = mass,
                     .center = {0, 0, depth - foot},
                     .inertia = {{{across, 0, 0}, {0, across, 0}, {0, 0, 2 * across}}}};
  builder.addBody(disc);
  return builder.build();
}

/// How it slid and spun until it stopped.
struct Stop {
  double time = 0, way = 0;
  double vProbe = 0, wProbe = 0;
};
Stop runDisc(const Json& parameters, const Lane& lane, double v0, double w0) {
  const double radius = number(parameters, "R"), probe = number(parameters, "t_probe");
  Simulator simulator(discOnFeet(parameters, lane));
  const int disc = simulator.model().findBody("disc");
  simulator.setVelocity(disc, {v0, 0, 0}, {0, 0, w0});
  const double x0 = simulator.body(disc).pose.translation.x;
  Stop stop;
  double lastSpeed = std::max(v0, radius * w0);
  // Without friction it would never stop; with it, in less than ten times this.
  const double limit =
      10 * (v0 + radius * w0) / (number(parameters, "mu") * number(parameters, "g"));
  const int maxSteps = static_cast<int>(std::ceil(limit / lane.dt));
  for (int k = 1; k <= maxSteps; ++k) {
    simulator.step();
    const BodyState now = simulator.body(disc);
    const double v = std::hypot(now.linearVelocity.x, now.linearVelocity.y);
    const double w = std::fabs(now.angularVelocity.z), t = k * lane.dt;
    if (std::fabs(t - probe) < 0.5 * lane.dt) stop.vProbe = v, stop.wProbe = w;
    const double speed = std::max(v, radius * w);
    const double perStep = number(parameters, "mu") * number(parameters, "g") * lane.dt;
    if (speed < 0.5 * perStep || k == maxSteps) {
      // Between the steps: what was left would have been gone at the rate of the last one.
      const double rate = std::max(lastSpeed - speed, 1e-300);
      stop.time = t - lane.dt + lane.dt * std::min(1.0, lastSpeed / rate);
      stop.way = now.pose.translation.x - x0;
      break;
    }
    lastSpeed = speed;
  }
  return stop;
}

/// v / (R w) as both vanish. Coulomb friction knows no scale of speed: whenever the spin has
/// halved, both are doubled, and the motion goes on as it would have at half the speed, in steps as
/// short as at the start.
double endRatio(const Json& parameters, const Lane& lane) {
  const double radius = number(parameters, "R"), w0 = number(parameters, "w0");
  Simulator simulator(discOnFeet(parameters, lane));
  const int disc = simulator.model().findBody("disc");
  double ratio = number(parameters, "v0") / (radius * w0);
  constexpr int kMaxHalvings = 60;
  for (int i = 0; i < kMaxHalvings; ++i) {
    simulator.reset();
    simulator.setVelocity(disc, {ratio * radius * w0, 0, 0}, {0, 0, w0});
    const double before = ratio;
    while (std::fabs(simulator.body(disc).angularVelocity.z) > 0.5 * w0) simulator.step();
    const BodyState now = simulator.body(disc);
    ratio = std::hypot(now.linearVelocity.x, now.linearVelocity.y) /
            (radius * std::fabs(now.angularVelocity.z));
    if (std::fabs(ratio - before) < 1e-6) break;
  }
  return ratio;
}

}  // namespace

Measured spinningDisc(const Json& parameters, const Lane& lane) {
  const double w0 = number(parameters, "w0");
  const Stop both = runDisc(parameters, lane, number(parameters, "v0"), w0);
  const Stop spin = runDisc(parameters, lane, 0, w0);
  return {{"end_ratio", {endRatio(parameters, lane)}},
          {"t_stop", {both.time}},
          {"x_stop", {both.way}},
          {"v_probe", {both.vProbe}},
          {"w_probe", {both.wProbe}},
          {"t_stop_pure_spin", {spin.time}}};
}

namespace {

/// f = k delta^n (1 + d delta'), with the depth of the start of the step and the velocity of its
/// end: one row, whose cost is the integral of -dt f over v.
class HuntCrossleyLaw final : public ContactHandler {
 public:
  HuntCrossleyLaw(int ball, double k, double n, double d) : ball_(ball), k_(k), n_(n), d_(d) {}

  int detect(const HandlerView& view) override {
    height_ = view.pose(ball_).translation.z;
    dt_ = view.dt();
    return 1;
  }
  ConstraintRows rows(int) const override {
    ConstraintRows out;
    out.body1 = ball_;
    out.numRows = 1;
    out.row[0].direction = {0, 0, 1};
    out.row[0].point1 = out.row[0].point2 = {0, 0, height_};
    return out;
  }
  void prepare(int, Real, int, const Real*) override {}
  Real evaluate(int, const Real* vc, Real* gamma, Real* hessian) const override {
    const double push = dt_ * k_ * std::pow(std::max(0.0, -height_), n_);
    const double share = std::max(0.0, 1 - d_ * vc[0]);  // nothing pulls
    gamma[0] = push * share;
    if (hessian != nullptr) hessian[0] = share > 0 ? push * d_ : 0;
    return d_ > 0 ? push * share * share / (2 * d_) : -push * vc[0];
  }

 private:
  int ball_;
  double k_, n_, d_;
  double height_ = 0, dt_ = 0;
};

}  // namespace

/// Of any exponent, as a contact handler: materials have the first alone.
Measured huntCrossley(const Json& parameters, const Lane& lane) {
  const double v0 = number(parameters, "v0");
  ModelBuilder builder;
  SimulationOptions options = accurateOptions(lane, {});
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  Body ball{.name = "ball"};
  const double mass = number(parameters, "m"), inertia = 0.4 * mass * 1e-4;
  ball.massProperties = MassProperties{
      .mass = mass, .inertia = {{{inertia, 0, 0}, {0, inertia, 0}, {0, 0, inertia}}}};
  ball.linearVelocity = {0, 0, -v0};
  builder.addBody(ball);
  Simulator simulator(builder.build());
  simulator.addContactHandler(
      std::make_shared<HuntCrossleyLaw>(simulator.model().findBody("ball"), number(parameters, "k"),
                                        number(parameters, "n"), number(parameters, "d")));
  // It is out where the height passes zero between two steps.
  double deepest = 0, strongest = 0, duration = 0;
  constexpr int kMaxSteps = 10'000'000;
  double last = 0;
  for (int i = 0; i < kMaxSteps; ++i) {
    simulator.step();
    const BodyState now = simulator.body(0);
    const double force = simulator.handlerForces(0)[0].force[0];
    strongest = std::max(strongest, force);
    const double z = now.pose.translation.z;
    deepest = std::max(deepest, -z);
    if (last <= 0) duration += lane.dt * (z > 0 ? last / (last - z) : 1);
    if (!(force > 0) && now.linearVelocity.z > 0) break;
    last = z;
  }
  return {{"restitution", {simulator.body(0).linearVelocity.z / v0}},
          {"delta_max", {deepest}},
          {"contact_duration", {duration}},
          {"f_max", {strongest}}};
}

}  // namespace tangere::cli
