// SPDX-License-Identifier: Apache-2.0
#include "verify_accurate_friction.hpp"
#include "verify_bodies.hpp"

#include "verify_event.hpp"
#include "verify_rest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846, kDegree = kPi / 180;

Vec3 leaning(double g, double angle) { return {g * std::sin(angle), 0, -g * std::cos(angle)}; }

Body round(const std::string& name, double radius, double mass, const Vec3& position,
           double inertiaFactor = 0.4) {
  Body body{.name = name};
  body.pose.translation = position;
  body.shapes.push_back({.shape = std::make_shared<Sphere>(radius), .material = "stuff"});
  body.massProperties = evenInertia(mass, inertiaFactor * mass * radius * radius);
  return body;
}

}  // namespace

// --- a block on a slope --------------------------------------------------------------------------

namespace {

/// The slope is level and gravity leans.
Model blockOnSlope(double g, double angle, double mu, double slipSpeed = kSlipSpeed) {
  RestWorld world(leaning(g, angle), mu);
  SimulationOptions options = world.builder.options();
  options.event.slipSpeed = slipSpeed;
  world.builder.setOptions(options);
  world.builder.addBody(box("block", {0.4, 0.3, 0.2}, 5, {0, 0, 0.1}));
  return world.builder.build();
}

}  // namespace

Measured accurateInclineBlock(const Json& parameters) {
  const double g = positive(parameters, "g"), angle = number(parameters, "theta_deg") * kDegree,
               duration = positive(parameters, "T");
  EventRun sliding(blockOnSlope(g, angle, number(parameters, "mu_slide")));
  sliding.to(duration);
  const BodyState slid = sliding.body("block");
  // What it may creep until the end, 1e-9 m, sets the speed.
  EventRun sticking(blockOnSlope(g, angle, number(parameters, "mu_stick"),
                                 std::min(kSlipSpeed, 2e-10 / duration)));
  sticking.to(duration);
  const double critical = eventThreshold(0, 4 * std::tan(angle) + 1, [&](double mu) {
    EventRun run(blockOnSlope(g, angle, mu));
    run.to(0.01);
    return run.body("block").linearVelocity.x < kMoving;
  });
  return {{"a_slide", {slid.linearVelocity.x / duration}},
          {"x_slide_T", {slid.pose.translation.x}},
          {"v_slide_T", {slid.linearVelocity.x}},
          {"critical_mu", {critical}},
          {"x_stick_T", {sticking.body("block").pose.translation.x}}};
}

// --- rolling -------------------------------------------------------------------------------------

Measured accurateSlideToRoll(const Json& parameters) {
  const double g = positive(parameters, "g"), R = positive(parameters, "R"),
               mass = positive(parameters, "m"), duration = positive(parameters, "T"),
               v0 = number(parameters, "v0"), w0 = number(parameters, "w0");
  RestWorld world({0, 0, -g}, number(parameters, "mu"));
  Body sphere = round("ball", R, mass, {0, 0, R});
  sphere.linearVelocity = {v0, 0, 0};
  sphere.angularVelocity = {0, w0, 0};
  world.builder.addBody(sphere);
  EventRun run(world.builder.build());
  const auto energy = [&] {
    const BodyState state = run.body("ball");
    return 0.5 * mass *
           (squaredNorm(state.linearVelocity) + 0.4 * R * R * squaredNorm(state.angularVelocity));
  };
  const double before = energy(), slip0 = v0 - R * w0, sign = slip0 > 0 ? 1 : -1;
  // The slip falls evenly; its end is where it would be zero.
  Track slip, place;
  bool isSliding = true;
  run.to(kSettled);
  run.sample(duration, 600, [&](double t) {
    const BodyState state = run.body("ball");
    const double now = sign * (state.linearVelocity.x - R * state.angularVelocity.y);
    isSliding = isSliding && now > 1e-4 * std::fabs(slip0);
    if (!isSliding) return;
    slip.add(t, now);
    place.add(t, state.pose.translation.x);
  });
  const BodyState end = run.body("ball");
  Measured out{{"v_final", {end.linearVelocity.x}},
               {"x_T", {end.pose.translation.x}},
               {"energy_lost", {before - energy()}}};
  if (slip.size() < 8) return out;
  out["t_roll"] = {slip.zeroAhead()};
  out["x_roll"] = {place.at(slip.zeroAhead())};
  return out;
}

Measured accurateInclineRoll(const Json& parameters) {
  const double g = positive(parameters, "g"), R = positive(parameters, "R"),
               mass = positive(parameters, "m"), angle = number(parameters, "theta_deg") * kDegree,
               duration = positive(parameters, "T");
  const auto start = [&](double mu, double inertiaFactor, bool isSphere) {
    RestWorld world(leaning(g, angle), mu, true, kRollingSlip);
    Body body = round("body", R, mass, {0, 0, R}, inertiaFactor);
    if (!isSphere) {
      // The axis of a cylinder is z: turned to y.
      body.pose.rotation = {{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};
      body.shapes[0].shape = std::make_shared<Cylinder>(R, R);
    }
    world.builder.addBody(body);
    return EventRun(world.builder.build());
  };
  const auto speed = [&](double inertiaFactor, bool isSphere) {
    EventRun run = start(number(parameters, "mu_grip"), inertiaFactor, isSphere);
    run.to(duration);
    return run.body("body").linearVelocity.x;
  };
  const auto leastFriction = [&](double inertiaFactor, bool isSphere) {
    return eventThreshold(0, 2 * std::tan(angle), [&](double mu) {
      EventRun run = start(mu, inertiaFactor, isSphere);
      run.to(0.02);
      const BodyState state = run.body("body");
      return std::fabs(state.linearVelocity.x - R * state.angularVelocity.y) < 3 * kRollingSlip;
    });
  };
  // Friction as the momentum that it takes: what holds at an instant rests on the last digits of
  // the slip.
  EventRun rolling = start(number(parameters, "mu_grip"), 0.4, true);
  rolling.to(0.5 * duration);
  const double halfway = rolling.body("body").linearVelocity.x;
  rolling.to(duration);
  const double rate = (rolling.body("body").linearVelocity.x - halfway) / (0.5 * duration);
  EventRun slipping = start(number(parameters, "mu_slip"), 0.4, true);
  slipping.to(duration);
  return {{"v_sphere", {rolling.body("body").linearVelocity.x}},
          {"friction_force_sphere", {mass * (g * std::sin(angle) - rate)}},
          {"mu_min_sphere", {leastFriction(0.4, true)}},
          {"v_cylinder", {speed(0.5, false)}},
          {"mu_min_cylinder", {leastFriction(0.5, false)}},
          {"v_hoop", {speed(1, false)}},
          {"mu_min_hoop", {leastFriction(1, false)}},
          {"v_sphere_slipping", {slipping.body("body").linearVelocity.x}},
          {"w_sphere_slipping", {slipping.body("body").angularVelocity.y}}};
}

Measured accurateSimbenchRolling(const Json& parameters) {
  const double g = positive(parameters, "g"), boxMass = positive(parameters, "M"),
               ballMass = positive(parameters, "m"), push = number(parameters, "F"),
               psi = number(parameters, "psi_deg") * kDegree, duration = positive(parameters, "T"),
               muGround = number(parameters, "mu_box_ground");
  const int count = static_cast<int>(number(parameters, "n"));
  if (count < 1 || count > 1000) throw InvalidInput("n must be between 1 and 1000");
  RestWorld world({0, 0, -g}, 0.5, false, 10 * kRollingSlip);
  SimulationOptions options = world.builder.options();
  options.event.relativeTolerance = 1e-8;
  options.event.absoluteTolerance = 1e-9;
  world.builder.setOptions(options);
  world.builder.addMaterial({.name = "ground"});
  world.builder.addMaterial({.name = "box"});
  // The box gets ahead by a part of the speed up to which friction is not complete.
  world.builder.addPair(
      {.material1 = "ground", .material2 = "box", .friction = muGround, .smallSpeed = kSlipSpeed});
  world.builder.addPair(
      {.material1 = "box", .material2 = "stuff", .friction = number(parameters, "mu_ball_box")});
  Body plane{.name = "plane", .type = BodyType::Fixed};
  plane.shapes.push_back({.shape = std::make_shared<Plane>(), .material = "ground"});
  world.builder.addBody(plane);
  const double friction = muGround * (boxMass + count * ballMass) * g;
  const double ballRate = (push - friction) / boxMass / (3.5 + count * ballMass / boxMass);
  // As wide as the balls need it; guided, as the balls stay even: it does not turn.
  const double radius = 0.1, thickness = 0.2,
               travel = 1.25 * std::fabs(ballRate) * duration * duration,
               side = 2 * travel + 3 * radius * (count + 2);
  // Everything starts in contact, about as deep as it will rest.
  const double depth = g * kRestPeriod * kRestPeriod / (4 * kPi * kPi);
  Body plate = box("box", {side, side, thickness}, boxMass, {0, 0, 0.5 * thickness - depth});
  plate.shapes[0].material = "box";
  plate.joints = {{.name = "along_x", .type = JointType::Prismatic, .axis = {1, 0, 0}},
                  {.name = "along_y", .type = JointType::Prismatic, .axis = {0, 1, 0}},
                  {.name = "along_z", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
  world.builder.addBody(plate);
  // In a row along the push: the load then has no arm about the vertical, whatever the number.
  const Vec3 direction{std::cos(psi), std::sin(psi), 0};
  for (int i = 0; i < count; ++i) {
    const Vec3 place = direction * (2.5 * radius * (i - 0.5 * (count - 1)));
    world.builder.addBody(round("ball" + std::to_string(i), radius, ballMass,
                                place + Vec3{0, 0, thickness + radius - 2 * depth}));
  }
  EventRun run(world.builder.build());
  const Model& model = run.simulator().model();
  const int box = model.findBody("box"), ball = model.findBody("ball0");
  // Pushed when all rest.
  const double begin = 2 * kSettled;
  run.to(begin);
  run.setAction([&](Simulator& simulator) { simulator.applyForce(box, direction * push); });

  double squares = 0;
  std::array<Vec3, 2> halfway{};
  int index = 0;
  constexpr int kSamples = 40;
  run.sample(begin + duration, kSamples, [&](double now) {
    const double t = now - begin;
    const Vec3 ballError = run.simulator().body(ball).linearVelocity - direction * (ballRate * t);
    const Vec3 boxError =
        run.simulator().body(box).linearVelocity - direction * (3.5 * ballRate * t);
    squares += squaredNorm(ballError) + squaredNorm(boxError);
    if (++index == kSamples / 2)
      halfway = {run.simulator().body(ball).linearVelocity,
                 run.simulator().body(box).linearVelocity};
  });
  const Vec3 boxVelocity = run.simulator().body(box).linearVelocity;
  // Friction as the momentum that it gives over the second half.
  const Vec3 ballGain = run.simulator().body(ball).linearVelocity - halfway[0];
  const Vec3 onBall = ballGain * (ballMass / (0.5 * duration));
  const Vec3 fromGround =
      (boxVelocity - halfway[1]) * (boxMass / (0.5 * duration)) + onBall * count - direction * push;
  return {{"v_box_T", {norm(boxVelocity)}},
          {"v_ball_T", {norm(run.simulator().body(ball).linearVelocity)}},
          {"v_box_T_xy", {boxVelocity.x, boxVelocity.y}},
          {"friction_ground", {std::hypot(fromGround.x, fromGround.y)}},
          {"friction_ball", {std::hypot(onBall.x, onBall.y)}},
          {"mse_goal", {squares / kSamples}}};
}

// --- a disc that slides and spins ----------------------------------------------------------------

namespace {

/// On small feet that stand on equal areas, as many as the case asks for. Springs of the same
/// stiffness share the load evenly, and the centre of mass is where they act: it does not tilt.
class Disc {
 public:
  explicit Disc(const Json& parameters)
      : radius_(positive(parameters, "R")),
        deceleration_(positive(parameters, "mu") * positive(parameters, "g")),
        fastest_(std::max(std::fabs(number(parameters, "v0")),
                          radius_ * std::fabs(number(parameters, "w0")))),
        model_(build(parameters, fastest_)) {}

  /// A run with these speeds at the start.
  [[nodiscard]] EventRun start(double v, double w) const {
    EventRun run(model_);
    run.simulator().setVelocity(model_.findBody("disc"), {v, 0, 0}, {0, 0, w});
    return run;
  }
  struct Speeds {
    double v, w;
  };
  [[nodiscard]] static Speeds speeds(const EventRun& run) {
    const BodyState state = run.body("disc");
    return {std::hypot(state.linearVelocity.x, state.linearVelocity.y),
            std::fabs(state.angularVelocity.z)};
  }
  struct Stop {
    double time = 0, way = 0;
  };
  /// Runs to a thousandth of its speed and tells where it will stop.
  [[nodiscard]] Stop stop(double v, double w) const {
    EventRun run = start(v, w);
    const double first = std::max(v, radius_ * w);
    Track spin, place;
    const double look = 0.002 * first / deceleration_;
    for (int k = 1; k < 20000; ++k) {
      run.to(k * look);
      const Speeds now = speeds(run);
      if (std::max(now.v, radius_ * now.w) < 1e-3 * first) break;
      spin.add(k * look, w > 0 ? now.w : now.v);
      place.add(k * look, run.body("disc").pose.translation.x);
    }
    if (spin.size() < 8) return {};
    return {spin.zeroAhead(), place.at(spin.zeroAhead())};
  }
  /// v / (R w) as both vanish. Coulomb friction knows no scale of speed, so the ratio after the
  /// spin has halved depends on the ratio before alone: the end is where it no longer changes.
  [[nodiscard]] double endRatio(double w) const {
    const auto change = [&](double ratio) {
      EventRun run = start(ratio * radius_ * w, w);
      const double look = 0.05 * radius_ * w / deceleration_;
      for (int k = 1; speeds(run).w > 0.5 * w; ++k) run.to(k * look);
      return speeds(run).v / (radius_ * speeds(run).w) - ratio;
    };
    // Spin dominates below, sliding above; nearly straight between.
    double low = 0.55, high = 0.75, atLow = change(low), atHigh = change(high);
    if (!(atLow > 0 && atHigh < 0)) return 0;
    for (int i = 0; i < 10; ++i) {
      const double middle = (low * atHigh - high * atLow) / (atHigh - atLow);
      const double now = change(middle);
      if (std::fabs(now) < 1e-5) return middle;
      (now > 0 ? low : high) = middle;
      (now > 0 ? atLow : atHigh) = now;
    }
    return 0.5 * (low + high);
  }

 private:
  static Model build(const Json& parameters, double fastest) {
    constexpr int kNumFeet = 1000;
    const double mass = positive(parameters, "m"), radius = positive(parameters, "R"),
                 g = positive(parameters, "g");
    const double foot = 2e-2 * radius, depth = 1e-4 * radius;
    ModelBuilder builder;
    SimulationOptions options = eventOptions({0, 0, -g});
    // Feet next to the centre of rotation turn their friction at this speed; what that and the
    // tolerance change is far below what the feet get wrong.
    options.event.slipSpeed = 1e-5 * fastest;
    options.event.relativeTolerance = 1e-8;
    options.event.absoluteTolerance = 1e-10;
    builder.setOptions(options);
    builder.addMaterial({.name = "foot", .friction = number(parameters, "mu")});
    builder.addPair({.material1 = "foot",
                     .material2 = "foot",
                     .stiffness = mass * g / (kNumFeet * depth),
                     .relaxationTime = std::sqrt(depth / g)});
    Body floor{.name = "floor", .type = BodyType::Fixed};
    floor.shapes.push_back({.shape = std::make_shared<Plane>(), .material = "foot"});
    builder.addBody(floor);
    Body disc{.name = "disc"};
    disc.pose.translation = {0, 0, foot - depth};
    const auto sphere = std::make_shared<Sphere>(foot);
    const double golden = kPi * (3 - std::sqrt(5.0));
    std::vector<Vec3> places;
    Vec3 mean{};
    for (int i = 0; i < kNumFeet; ++i) {
      const double r = radius * std::sqrt((i + 0.5) / kNumFeet), angle = golden * i;
      places.push_back({r * std::cos(angle), r * std::sin(angle), 0});
      mean += places.back() * (1.0 / kNumFeet);
    }
    for (const Vec3& place : places) {
      BodyShape shape{.shape = sphere, .material = "foot"};
      shape.pose.translation = place - mean;
      disc.shapes.push_back(shape);
    }
    const double across = 0.25 * mass * radius * radius;
    disc.massProperties =
        MassProperties{.mass = mass,
                       .center = {0, 0, 0.5 * depth - foot},
                       .inertia = {{{across, 0, 0}, {0, across, 0}, {0, 0, 2 * across}}}};
    builder.addBody(disc);
    return builder.build();
  }

  double radius_, deceleration_, fastest_;
  Model model_;
};

}  // namespace

Measured accurateSpinningDisc(const Json& parameters) {
  const double v0 = number(parameters, "v0"), w0 = number(parameters, "w0");
  const Disc disc(parameters);
  EventRun probe = disc.start(v0, w0);
  probe.to(number(parameters, "t_probe"));
  const Disc::Stop both = disc.stop(v0, w0);
  return {{"v_probe", {Disc::speeds(probe).v}},
          {"w_probe", {Disc::speeds(probe).w}},
          {"t_stop", {both.time}},
          {"x_stop", {both.way}},
          {"t_stop_pure_spin", {disc.stop(0, w0).time}},
          {"end_ratio", {disc.endRatio(w0)}}};
}

// --- a box that is pushed ------------------------------------------------------------------------

namespace {

struct TippingCase {
  double g, b, h, w, mass;

  explicit TippingCase(const Json& parameters)
      : g(positive(parameters, "g")),
        b(positive(parameters, "b")),
        h(positive(parameters, "h")),
        w(positive(parameters, "w")),
        mass(positive(parameters, "m")) {}

  struct Push {
    double force = 0, height = 0, friction = 0, ramp = 0;
    bool isSliding = false;
  };
  /// Until it stands well. A tall box rocks slowly on its narrow base: the damping of its edges has
  /// to stop more inertia.
  [[nodiscard]] double settled() const {
    const double inertia = (b * b + h * h) / 12 + 0.25 * h * h, base = 0.25 * b * b;
    return kSettled * std::max(1.0, 0.1 * inertia / base);
  }
  /// Standing; when it stands well, pushed.
  [[nodiscard]] EventRun start(const Push& push) const {
    RestWorld world(leaning(g, push.ramp), push.friction);
    const Body body = box("box", {b, w, h}, mass, {0, 0, 0.5 * h});
    world.builder.addBody(push.isSliding ? keptInPlane(body) : body);
    EventRun run(world.builder.build());
    run.to(settled());
    const int index = run.simulator().model().findBody("box");
    const double arm = push.height - 0.5 * h;
    run.setAction([index, push, arm](Simulator& simulator) {
      simulator.applyForce(index, {push.force, 0, 0}, {0, push.force * arm, 0});
    });
    return run;
  }
  /// Whether it gets faster and faster: slides, or turns over. Held, it loses what speed it got
  /// while the contacts took up the push.
  [[nodiscard]] bool goes(const Push& push, bool isTurning) const {
    EventRun run = start(push);
    const auto speed = [&] {
      const BodyState state = run.body("box");
      return isTurning ? state.angularVelocity.y : state.linearVelocity.x;
    };
    run.to(2 * settled());
    const double early = speed();
    run.to(3 * settled());
    return speed() > kMoving && speed() > early;
  }
};

}  // namespace

Measured accurateBoxTipping(const Json& parameters) {
  const TippingCase box(parameters);
  const double mu = positive(parameters, "mu"), height = positive(parameters, "push_height"),
               weight = box.mass * box.g, b = box.b, h = box.h;
  const double low = std::min(0.25 * b / mu, h);  // half the height that separates the two
  const double slide = eventThreshold(0, 4 * mu * weight, [&](double force) {
    return box.goes({.force = force, .height = low, .friction = mu}, false);
  });
  const double rough = std::max(mu, b / height);
  const double tip = eventThreshold(0, 4 * weight * b / height, [&](double force) {
    return box.goes({.force = force, .height = height, .friction = rough}, true);
  });
  // Pushed just beyond sliding it slides when low and tips when high.
  const double critical = eventThreshold(0, h, [&](double at) {
    return box.goes(
        {.force = 1.0001 * mu * weight, .height = at, .friction = mu, .isSliding = true}, true);
  });
  const double angle = eventThreshold(
      0, 80 * kDegree, [&](double a) { return box.goes({.friction = 100, .ramp = a}, true); });
  EventRun run =
      box.start({.force = number(parameters, "F_test"), .height = height, .friction = mu});
  // Its weight loses arm as it turns: spin = a + alpha t + c t^3 since the push, by three looks.
  const double settled = box.settled();
  std::array<double, 3> spin{};
  for (int k = 0; k < 3; ++k) {
    run.to((2 + k) * settled);
    spin[static_cast<std::size_t>(k)] = run.body("box").angularVelocity.y;
  }
  const double alpha = (19 * (spin[1] - spin[0]) - 7 * (spin[2] - spin[1])) / (12 * settled);
  return {{"F_slide", {slide}},
          {"F_tip", {tip}},
          {"y_critical", {critical}},
          {"alpha_tip", {alpha}},
          {"ramp_tip_angle_deg", {angle / kDegree}}};
}

// --- Painleve's rod ------------------------------------------------------------------------------

namespace {

/// A rod in the plane y = 0, heights along z; its lower end is a tiny ball.
class Rod {
 public:
  Rod(const Json& parameters, double theta)
      : g_(positive(parameters, "g")),
        a_(positive(parameters, "a")),
        mass_(positive(parameters, "m")),
        toEnd_{a_ * std::cos(theta), 0, -a_ * std::sin(theta)} {}

  struct Start {
    double friction = 0, speed = 0, omega = 0;
    double depth = 0;      ///< of the end in the plane
    double stiffness = 0;  ///< 0: rigid
    double restPeriod = kRestPeriod;
  };
  [[nodiscard]] EventRun start(const Start& start) const {
    RestWorld world({0, 0, -g_}, start.friction);
    SimulationOptions options = world.builder.options();
    options.event.relativeTolerance = 1e-12;
    options.event.absoluteTolerance = 1e-14;
    options.event.restPeriod = start.restPeriod;
    world.builder.setOptions(options);
    if (start.stiffness > 0) {
      world.builder.addPair({.material1 = "stuff",
                             .material2 = "stuff",
                             .stiffness = start.stiffness,
                             .relaxationTime = 0});
    }
    const double tiny = 1e-7 * a_;
    Body rod{.name = "rod"};
    rod.pose.translation = Vec3{0, 0, tiny - start.depth} - toEnd_;
    // About +z of the plane of the case is about -y here.
    rod.angularVelocity = {0, -start.omega, 0};
    rod.linearVelocity = Vec3{start.speed, 0, 0} - cross(rod.angularVelocity, toEnd_);
    rod.massProperties = evenInertia(mass_, mass_ * a_ * a_ / 3);
    rod.shapes.push_back({.shape = std::make_shared<Sphere>(tiny),
                          .pose = {.translation = toEnd_},
                          .material = "stuff"});
    world.builder.addBody(rod);
    return EventRun(world.builder.build());
  }
  /// Of the end of the rod.
  [[nodiscard]] Vec3 endVelocity(const EventRun& run) const {
    const BodyState state = run.body("rod");
    return state.linearVelocity + cross(state.angularVelocity, state.pose.rotation * toEnd_);
  }
  /// What a normal force that friction goes with does to the normal speed of the end, over the
  /// force: negative in the paradox. Measured with a spring that carries the weight; the depth is
  /// so small that the point of attack is the end.
  [[nodiscard]] double response(double friction) const {
    const double depth = 1e-7 * a_, stiffness = mass_ * g_ / depth;
    const double until = 0.1 * std::sqrt(depth / g_);
    const auto acceleration = [&](double from) {
      EventRun run =
          start({.friction = friction, .speed = 1, .depth = from, .stiffness = stiffness});
      Track rise;
      rise.add(0, endVelocity(run).z);
      run.sample(until, 7, [&](double t) { rise.add(t, endVelocity(run).z); });
      return rise.rateAt(0);
    };
    return (acceleration(depth) - acceleration(-depth)) / (mass_ * g_);
  }
  /// The friction at which that is zero; it is linear in the friction.
  [[nodiscard]] double criticalFriction() const {
    double a = 0.5, b = 2, fa = response(a), fb = response(b);
    for (int i = 0; i < 20 && std::fabs(b - a) > 1e-9 * std::fabs(b) && fb != fa; ++i) {
      const double next = b - fb * (b - a) / (fb - fa);
      a = b;
      fa = fb;
      b = next;
      fb = response(b);
    }
    return b;
  }

 private:
  double g_, a_, mass_;
  Vec3 toEnd_;
};

/// The least value of a smooth function between `low` and `high`.
double leastValue(double low, double high, const std::function<double(double)>& f) {
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double fa = f(a), fb = f(b);
  while (high - low > 1e-4) {
    if (fa < fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - golden * (high - low);
      fa = f(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + golden * (high - low);
      fb = f(b);
    }
  }
  return std::min(fa, fb);
}

}  // namespace

Measured accuratePainleveRod(const Json& parameters) {
  const double theta = number(parameters, "theta"), omega = number(parameters, "omega"),
               v0 = positive(parameters, "v0");
  const Rod rod(parameters, theta);
  Measured out{{"mu_critical", {rod.criticalFriction()}}};
  out["mu_critical_min"] = {leastValue(
      0.9, 1.3, [&](double angle) { return Rod(parameters, angle).criticalFriction(); })};

  // Rigid, consistent: after the contact has taken up its load, back to the start. The rod turns
  // fast, so the contact must be quick.
  constexpr double kPeriod = 1e-5, kLoaded = 40 * kPeriod;
  EventRun rigid = rod.start({.friction = number(parameters, "mu_ok"),
                              .speed = v0,
                              .omega = omega,
                              .restPeriod = kPeriod});
  Track fall, spin, speed;
  rigid.to(kLoaded);
  rigid.sample(3 * kLoaded, 4, [&](double t) {
    const BodyState state = rigid.body("rod");
    fall.add(t, state.linearVelocity.z);
    spin.add(t, -state.angularVelocity.y);
    speed.add(t, state.linearVelocity.x);
  });
  const double mass = positive(parameters, "m");
  out["N_ok"] = {mass * (fall.rateAt(0) + number(parameters, "g"))};
  out["theta_acc_ok"] = {spin.rateAt(0)};
  out["x_acc_ok"] = {speed.rateAt(0)};

  // Paradox, with a spring: until the end of the rod stops.
  const double k = positive(parameters, "k");
  EventRun jam = rod.start({.friction = number(parameters, "mu_bad"), .speed = v0, .stiffness = k});
  const int body = jam.simulator().model().findBody("rod");
  const double look = 0.02 * std::sqrt(mass / k);
  Track slip, depth;
  for (int i = 1; i < 200000; ++i) {
    jam.to(i * look);
    const double now = rod.endVelocity(jam).x;
    if (now < 1e-6 * v0) break;
    slip.add(i * look, now);
    depth.add(i * look, jam.forceOn(body).z / k);
  }
  if (slip.size() < 8) return out;
  const double end = slip.zeroAhead();
  out["jam_time"] = {end};
  out["jam_depth"] = {depth.at(end)};
  out["jam_force"] = {k * depth.at(end)};
  return out;
}

// --- a wedge -------------------------------------------------------------------------------------

Measured accurateMovableWedge(const Json& parameters) {
  const double g = positive(parameters, "g"), wedgeMass = positive(parameters, "M"),
               blockMass = positive(parameters, "m"),
               angle = positive(parameters, "alpha_deg") * kDegree;
  const auto start = [&](bool hasWall) {
    RestWorld world({0, 0, -g}, 0);
    // Half the period is a quarter of the depth, which turns the bodies a little.
    SimulationOptions options = world.builder.options();
    options.event.restPeriod = 0.5 * kRestPeriod;
    options.event.relativeTolerance = 2e-11;
    options.event.maxSteps = 2'000'000;
    world.builder.setOptions(options);
    addWedge(world.builder, wedgeMass, blockMass, angle, hasWall);
    return EventRun(world.builder.build());
  };
  // All accelerations are constant once the contacts have taken up their loads, and forces are the
  // momentum they give: at an instant they rest on the last digits of the depths.
  const double begin = 2 * kSettled, end = 0.2;
  struct Rates {
    Vec3 wedge, block;
  };
  const auto measure = [&](bool hasWall) {
    EventRun run = start(hasWall);
    run.to(begin);
    const Vec3 wedge = run.body("wedge").linearVelocity, block = run.body("block").linearVelocity;
    run.to(end);
    return Rates{(run.body("wedge").linearVelocity - wedge) * (1 / (end - begin)),
                 (run.body("block").linearVelocity - block) * (1 / (end - begin))};
  };
  const Rates free = measure(false), held = measure(true);
  const Vec3 along{std::cos(angle), 0, -std::sin(angle)}, up{0, 0, g};
  return {{"a_wedge", {-free.wedge.x}},
          {"a_rel", {dot(free.block - free.wedge, along)}},
          {"N_block", {blockMass * norm(free.block + up)}},
          {"N_floor", {wedgeMass * (free.wedge.z + g) + blockMass * (free.block.z + g)}},
          {"wall_force", {wedgeMass * held.wedge.x + blockMass * held.block.x}}};
}

}  // namespace tangere::cli
