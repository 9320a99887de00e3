// SPDX-License-Identifier: Apache-2.0
#include "verify_accurate_impacts.hpp"

#include "verify_event.hpp"

#include <algorithm>
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

Body ground(const std::string& material) {
  Body body{.name = "ground", .type = BodyType::Fixed};
  body.shapes.push_back({.shape = std::make_shared<Plane>(), .material = material});
  return body;
}

Body ball(const std::string& name, double radius, double mass, const Vec3& position) {
  Body body{.name = name};
  body.pose.translation = position;
  body.shapes.push_back({.shape = std::make_shared<Sphere>(radius), .material = "stuff"});
  const double moment = 0.4 * mass * radius * radius;
  body.massProperties =
      MassProperties{.mass = mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
  return body;
}

/// Times of the impacts, or of the starts of contacts.
std::vector<double> timesOf(const EventRun& run, EventCause cause) {
  std::vector<double> times;
  for (const EventRecord& event : run.events())
    if (event.cause == cause) times.push_back(event.time);
  return times;
}

}  // namespace

// --- rigid impacts -------------------------------------------------------------------------------

Measured accurateBounceZeno(const Json& parameters) {
  const double g = positive(parameters, "g"), h = positive(parameters, "h"),
               e = number(parameters, "e");
  // Small: the last bounces are as low as its height is uncertain, to a part of that height.
  const double radius = 1e-3 * h;
  if (!(e > 0 && e < 1)) throw InvalidInput("e must be between 0 and 1");
  ModelBuilder builder;
  builder.setOptions(eventOptions({0, 0, -g}));
  builder.addMaterial({.name = "stuff", .friction = 0, .restitution = e});
  builder.addBody(ground("stuff"));
  builder.addBody(ball("ball", radius, 1, {0, 0, h + radius}));
  const Model model = builder.build();

  // Past the accumulation of impacts, where the ball must stay.
  const double horizon = 1.1 * std::sqrt(2 * h / g) * (1 + e) / (1 - e);
  EventRun first(model);
  first.to(horizon);
  const std::vector<double> times = timesOf(first, EventCause::Impact);
  Measured out;
  if (times.empty()) return out;
  double rest = times.back();
  for (const EventRecord& event : first.events()) rest = std::max(rest, event.time);
  out["zeno_time"] = {rest};
  for (std::size_t k = 0; k < times.size(); ++k) out["t_" + std::to_string(k + 1)] = {times[k]};

  // Again, now looking at every flight.
  EventRun again(model);
  double path = h;
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    Track height, speed;
    const double flight = times[k + 1] - times[k];
    for (int i = 1; i < 10; ++i) {
      const double t = times[k] + 0.1 * i * flight;
      again.to(t);
      const BodyState state = again.body("ball");
      height.add(t - times[k], state.pose.translation.z - radius);
      speed.add(t - times[k], state.linearVelocity.z);
    }
    const std::vector<double> tops = speed.zeros();
    if (tops.empty()) continue;
    const double apex = height.at(tops[0]);
    path += 2 * apex;
    out["v_after_" + std::to_string(k + 1)] = {speed.at(0)};
    out["apex_" + std::to_string(k + 1)] = {apex};
  }
  again.to(horizon);
  path += std::fabs(again.body("ball").pose.translation.z - radius);
  out["path_length"] = {path};
  return out;
}

Measured accurateCradle(const Json& parameters) {
  const int count = static_cast<int>(number(parameters, "N"));
  const double v0 = positive(parameters, "v0"), gap = positive(parameters, "gap"),
               diameter = positive(parameters, "d"), mass = positive(parameters, "m");
  if (count < 2 || count > 1000) throw InvalidInput("N must be between 2 and 1000");
  ModelBuilder builder;
  SimulationOptions options = eventOptions({});
  options.event.method = EventMethod::Adams;
  options.event.policy = EventPolicy::Touching;  // not after some depth, which would add up
  builder.setOptions(options);
  builder.addMaterial({.name = "stuff", .friction = 0, .restitution = number(parameters, "e")});
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "ball%04d", i);
    names.emplace_back(name);
    Body body = ball(name, 0.5 * diameter, mass, {i * (diameter + gap), 0, 0});
    if (i == 0) body.linearVelocity = {v0, 0, 0};
    builder.addBody(body);
  }
  EventRun run(builder.build());
  const int last = run.simulator().model().findBody(names.back());
  // The first pass, and not one impact more: it ends when the last ball is hit. Sampled finely
  // enough to see the balls before any of them meets another again.
  double hit = 0;
  const double look = 0.5 * gap / v0;
  constexpr int kMostLooks = 10'000'000;
  for (int k = 1; k < kMostLooks && hit == 0; ++k) {
    run.to(k * look);
    for (const EventRecord& event : run.events())
      if (event.body1 == last || event.body2 == last) hit = event.time;
  }
  std::vector<double> speeds;
  double momentum = 0, energy = 0;
  for (const std::string& name : names) {
    const double speed = run.simulator().body(name).linearVelocity.x;
    speeds.push_back(speed);
    momentum += mass * speed;
    energy += 0.5 * mass * speed * speed;
  }
  return {{"v_last", {speeds.back()}}, {"v_first", {speeds.front()}}, {"v_all", speeds},
          {"t_last_impact", {hit}},    {"kinetic_energy", {energy}},  {"momentum", {momentum}}};
}

Measured accurateSimbenchBouncing(const Json& parameters) {
  const double g = positive(parameters, "g"), mass = positive(parameters, "m"),
               radius = positive(parameters, "R"), height = positive(parameters, "H"),
               duration = positive(parameters, "T");
  const int side = static_cast<int>(number(parameters, "n"));
  if (side < 1 || side > 100) throw InvalidInput("n must be between 1 and 100");
  ModelBuilder builder;
  SimulationOptions options = eventOptions({0, 0, -g});
  options.event.method = EventMethod::Adams;
  builder.setOptions(options);
  builder.addMaterial({.name = "stuff", .friction = 0, .restitution = 1});
  builder.addBody(ground("stuff"));
  const int count = side * side;
  for (int i = 0; i < count; ++i) {
    builder.addBody(ball("ball" + std::to_string(i), radius, mass,
                         {3 * radius * (i % side), 3 * radius * (i / side), height}));
  }
  EventRun run(builder.build());
  const int index = run.simulator().model().findBody("ball0");
  const double energy = mass * g * height;
  double squares = 0;
  constexpr int kSamples = 2000;
  run.sample(duration, kSamples, [&](double) {
    double now = 0;
    for (int i = 0; i < count; ++i) {
      const BodyState state = run.simulator().body("ball" + std::to_string(i));
      now += mass * (g * state.pose.translation.z + 0.5 * squaredNorm(state.linearVelocity));
    }
    const double error = now / count - energy;
    squares += error * error;
  });
  std::vector<double> impacts;
  for (const EventRecord& event : run.events())
    if (event.body1 == index || event.body2 == index) impacts.push_back(event.time);
  const BodyState end = run.body("ball0");
  const double rms = std::sqrt(squares / kSamples);
  const auto number = static_cast<double>(impacts.size());
  return {{"z_T", {end.pose.translation.z}},
          {"v_T", {end.linearVelocity.z}},
          {"impacts", {number}},
          {"energy_per_ball", {energy + rms}},
          {"period", {number > 1 ? (impacts.back() - impacts.front()) / (number - 1) : 0}}};
}

// --- contacts of some duration -------------------------------------------------------------------

namespace {

/// One contact of a ball with the ground.
struct Phase {
  double begin = 0, end = 0;
  double depth = 0, force = 0;       ///< the largest
  double approach = 0, release = 0;  ///< speeds
};

struct Bounces {
  std::vector<double> touches, releases;
};

/// The first `count` contacts, each found by looking from time to time.
Bounces findContacts(const Model& model, int count, double look, double horizon) {
  EventRun run(model);
  Bounces out;
  for (double t = look; t < horizon && static_cast<int>(out.releases.size()) < count; t += look) {
    run.to(t);
    out.touches = timesOf(run, EventCause::ContactBegins);
    out.releases = timesOf(run, EventCause::ContactEnds);
  }
  return out;
}

/// Looks at contact `k` from the inside.
Phase lookAt(const Model& model, const Bounces& bounces, std::size_t k, int body) {
  EventRun run(model);
  Phase phase{.begin = bounces.touches[k], .end = bounces.releases[k]};
  const double duration = phase.end - phase.begin;
  Track depth, force, before, after;
  run.to(phase.begin - 0.2 * duration);
  run.sample(phase.begin - 0.01 * duration, 10, [&](double t) {
    before.add(t - phase.begin, -run.simulator().body(body).linearVelocity.z);
  });
  run.to(phase.begin + 0.05 * duration);
  run.sample(phase.end - 0.05 * duration, 400, [&](double t) {
    double penetration = 0;
    for (const ContactResult& contact : run.simulator().contactResults())
      penetration = contact.penetration;
    depth.add(t - phase.begin, penetration);
    force.add(t - phase.begin, run.forceOn(body).z);
  });
  run.to(phase.end + 0.01 * duration);
  run.sample(phase.end + 0.2 * duration, 10, [&](double t) {
    after.add(t - phase.end, run.simulator().body(body).linearVelocity.z);
  });
  phase.depth = depth.largest().second;
  phase.force = force.largest().second;
  phase.approach = before.at(0);
  phase.release = after.at(0);
  return phase;
}

/// Two bodies of this law have c1 c2 / (c1 + c2) = `modulus` at this Poisson ratio.
constexpr double kRigid = 1e20;  // times stiffer than the other side

}  // namespace

/// Exponent 3/2 is that of Hertz, between a sphere of this stiffness and a rigid plane, and the
/// damping of what does not bounce is the largest one, which is given. Exponent 1 is a point.
Measured accurateHuntCrossley(const Json& parameters) {
  const double mass = positive(parameters, "m"), k = positive(parameters, "k"),
               n = number(parameters, "n"), d = number(parameters, "d"),
               v0 = positive(parameters, "v0");
  if (n != 1 && n != 1.5) throw InvalidInput("n must be 1 or 1.5");
  const double radius = 0.1;
  ModelBuilder builder;
  SimulationOptions options = eventOptions({});
  options.sap.contact = SapContactModel::HuntCrossley;
  options.event.maxDamping = d;
  // Depth is far below 1 m.
  const double scale = std::pow(0.5 * (n + 1) * mass * v0 * v0 / k, 1 / (n + 1));
  options.event.absoluteTolerance = std::min(1e-14, 1e-12 * scale);
  builder.setOptions(options);
  Material stuff{.name = "stuff", .friction = 0, .restitution = 0};
  Material base{.name = "base", .friction = 0, .restitution = 0};
  if (n == 1.5) {
    stuff.contact = base.contact = ContactModel::Hertz;
    stuff.poissonRatio = base.poissonRatio = 0;
    stuff.youngsModulus = k / (4.0 / 3.0 * std::sqrt(radius));
    base.youngsModulus = kRigid * stuff.youngsModulus;
  }
  builder.addMaterial(stuff);
  builder.addMaterial(base);
  if (n == 1)
    builder.addPair({.material1 = "base", .material2 = "stuff", .stiffness = k, .dissipation = d});
  builder.addBody(ground("base"));
  // It meets the plane after about a tenth of the time it stays there.
  Body body = ball("ball", radius, mass, {0, 0, radius + 0.3 * scale});
  body.linearVelocity = {0, 0, -v0};
  builder.addBody(body);
  const Model model = builder.build();
  const Bounces bounces = findContacts(model, 1, scale / v0, 1000 * scale / v0);
  if (bounces.releases.empty()) return {};
  const Phase phase = lookAt(model, bounces, 0, model.findBody("ball"));
  return {{"restitution", {phase.release / v0}},
          {"delta_max", {phase.depth}},
          {"contact_duration", {phase.end - phase.begin}},
          {"f_max", {phase.force}}};
}

Measured accurateModiaBounce(const Json& parameters) {
  const double g = positive(parameters, "g"), s0 = positive(parameters, "s0"),
               mass = positive(parameters, "mass"), radius = positive(parameters, "radius"),
               time = number(parameters, "t_state");
  const int count = static_cast<int>(number(parameters, "n_bounces"));
  if (count < 1 || count > 1000) throw InvalidInput("n_bounces must be between 1 and 1000");
  for (const char* name : {"E", "nu"}) {
    if (!parameters.contains(name) || !parameters[name].is_array() || parameters[name].size() != 2)
      throw InvalidInput(join("parameter '", name, "' must be two numbers"));
  }
  ModelBuilder builder;
  SimulationOptions options = eventOptions({0, 0, -g});
  options.event.damping = RestitutionDamping::Flores;
  options.event.smallSpeed = positive(parameters, "v_small");
  options.event.maxDamping = number(parameters, "d_max");
  if (parameters.contains("k_red")) options.event.stiffnessReduction = number(parameters, "k_red");
  builder.setOptions(options);
  for (const int i : {0, 1}) {
    builder.addMaterial({.name = i == 0 ? "stuff" : "base",
                         .restitution = number(parameters, "cor"),
                         .contact = ContactModel::Hertz,
                         .youngsModulus = parameters["E"][i].get<double>(),
                         .poissonRatio = parameters["nu"][i].get<double>()});
  }
  Body base{.name = "ground", .type = BodyType::Fixed};
  base.pose.translation = {0, 0, -radius};
  base.shapes.push_back(
      {.shape = std::make_shared<Box>(Vec3{10 * radius, 10 * radius, radius}), .material = "base"});
  builder.addBody(base);
  Body body = ball("ball", radius, mass, {0, 0, radius});
  body.joints = {{.name = "up", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
  builder.addBody(body);
  builder.addStartPosition({.joint = "up", .position = s0});
  const Model model = builder.build();

  EventRun run(model);
  run.to(time);
  Measured out{{"s_at_t_state", {run.simulator().state().q[0]}},
               {"v_at_t_state", {run.simulator().state().v[0]}}};
  const double fall = std::sqrt(2 * s0 / g);
  const Bounces bounces = findContacts(model, count, 0.1 * fall, 1000 * fall);
  const auto found = static_cast<int>(bounces.releases.size());
  const int index = model.findBody("ball");
  if (found >= 1) {
    const Phase phase = lookAt(model, bounces, 0, index);
    out["t_touch_1"] = {phase.begin};
    out["duration_1"] = {phase.end - phase.begin};
    out["depth_1"] = {phase.depth};
    out["v_release_1"] = {phase.release};
  }
  if (found >= count) {
    const Phase phase = lookAt(model, bounces, static_cast<std::size_t>(count - 1), index);
    out["t_touch_" + std::to_string(count)] = {phase.begin};
    out["v_release_" + std::to_string(count)] = {phase.release};
  }
  return out;
}

namespace {

struct HertzCase {
  double E, nu, R, mass, g;

  explicit HertzCase(const Json& parameters)
      : E(positive(parameters, "E")),
        nu(number(parameters, "nu")),
        R(positive(parameters, "R")),
        mass(positive(parameters, "m")),
        g(positive(parameters, "g")) {}

  /// About how deep the weight presses it, which sets tolerances and times to look.
  [[nodiscard]] double scale() const {
    return std::pow(mass * g * (1 - nu * nu) / (4.0 / 3.0 * E * std::sqrt(R)), 2.0 / 3.0);
  }
  /// An elastic sphere over a rigid plane, its centre at `height`.
  [[nodiscard]] Model model(double height, double speed, double gravity, double restitution,
                            double maxDamping = 1) const {
    ModelBuilder builder;
    SimulationOptions options = eventOptions({0, 0, -gravity});
    options.event.absoluteTolerance = std::min(1e-14, 1e-12 * scale());
    options.event.maxDamping = maxDamping;
    options.event.smallSpeed = 1e-9;  // what is slow shall bounce as well
    builder.setOptions(options);
    Material stuff{.name = "stuff",
                   .friction = 0,
                   .restitution = restitution,
                   .contact = ContactModel::Hertz,
                   .youngsModulus = E,
                   .poissonRatio = nu};
    builder.addMaterial(stuff);
    stuff.name = "base";
    stuff.youngsModulus *= kRigid;
    builder.addMaterial(stuff);
    builder.addBody(ground("base"));
    Body body = ball("ball", R, mass, {0, 0, height});
    body.linearVelocity = {0, 0, speed};
    builder.addBody(body);
    return builder.build();
  }
};

}  // namespace

Measured accurateHertz(const Json& parameters) {
  const HertzCase hertz(parameters);
  const double R = hertz.R, depth = positive(parameters, "depth"), v = positive(parameters, "v");
  Measured out;

  // Placed so that the law sees the given depth: the hysteresis is taken off what shapes overlap.
  double lower = depth;
  for (int i = 0; i < 3; ++i) {
    EventRun still(hertz.model(R - lower, 0, 0, 1));
    for (const ContactResult& contact : still.simulator().contactResults()) {
      const double radius = std::sqrt(R * contact.penetration);
      out["F_at_depth"] = {contact.normalForce};
      out["contact_radius"] = {radius};
      out["peak_pressure"] = {1.5 * contact.normalForce / (kPi * radius * radius)};
      lower += depth - contact.penetration;
    }
  }

  // Rest: dropped from touching, with damping that is about critical.
  const double rate = std::sqrt(1.5 * hertz.g / hertz.scale());
  EventRun falling(hertz.model(R, 0, hertz.g, 0, 2 * rate / hertz.g));
  falling.to(60 / rate);
  double rest = 0;
  for (const ContactResult& contact : falling.simulator().contactResults())
    rest = contact.penetration;
  const double height = falling.body("ball").pose.translation.z;
  out["depth_under_weight"] = {rest};

  // Small oscillations about that.
  EventRun swinging(hertz.model(height, -1e-3 * rest * rate, hertz.g, 1));
  Track swing;
  swing.add(0, 0);
  swinging.sample(8 * kPi / rate, 400, [&](double t) {
    swing.add(t, swinging.body("ball").pose.translation.z - height);
  });
  const std::vector<double> zeros = swing.zeros();
  if (zeros.size() >= 4) {
    // Whole periods: the two halves of one are not equally long.
    const std::size_t halves = (zeros.size() - 1) / 2 * 2;
    out["omega_small"] = {kPi * static_cast<double>(halves) / (zeros[halves] - zeros[0])};
  }

  const double reach = std::pow(v * v / (hertz.g * hertz.scale()), 0.4) * hertz.scale();
  const Model impact = hertz.model(R + 0.3 * reach, -v, 0, 1);
  const Bounces bounces = findContacts(impact, 1, reach / v, 1000 * reach / v);
  if (bounces.releases.empty()) return out;
  const Phase phase = lookAt(impact, bounces, 0, impact.findBody("ball"));
  out["impact_depth"] = {phase.depth};
  out["impact_force"] = {phase.force};
  out["impact_duration"] = {phase.end - phase.begin};
  out["duration_factor"] = {(phase.end - phase.begin) * v / phase.depth};
  return out;
}

// --- a foundation -------------------------------------------------------------------------------

/// A rigid box on an elastic layer, without damping and friction: it swings about its rest.
Measured accurateHydroBox(const Json& parameters) {
  const double E = positive(parameters, "E"), H = positive(parameters, "H"),
               mass = positive(parameters, "m"), g = positive(parameters, "g");
  const Vec3 size{positive(parameters, "lx"), positive(parameters, "ly"),
                  positive(parameters, "lz")};
  // About how deep the weight presses it: sets the times to look and the amplitude.
  const double depth = mass * g / (E / H * size.x * size.y), rate = std::sqrt(g / depth);
  ModelBuilder builder;
  SimulationOptions options = eventOptions({0, 0, -g});
  options.event.absoluteTolerance = std::min(1e-14, 1e-12 * depth);
  builder.setOptions(options);
  builder.addMaterial({.name = "layer",
                       .friction = 0,
                       .relaxationTime = 0,
                       .contact = ContactModel::Hydroelastic,
                       .hydroelasticModulus = E,
                       .hydroelasticThickness = H});
  builder.addMaterial({.name = "stuff", .friction = 0, .relaxationTime = 0});
  builder.addBody(ground("layer"));
  Body box{.name = "box"};
  const auto shape = std::make_shared<Box>(size * 0.5);
  box.shapes.push_back({.shape = shape, .material = "stuff"});
  box.massProperties = shape->massProperties(mass / (size.x * size.y * size.z));
  box.pose.translation.z = 0.5 * size.z - depth;
  box.linearVelocity = {0, 0, 0.1 * depth * rate};
  builder.addBody(box);
  EventRun run(builder.build());
  // Its speed vanishes twice a period, wherever the rest is.
  Track speed;
  run.sample(8 * kPi / rate, 400,
             [&](double t) { speed.add(t, run.body("box").linearVelocity.z); });
  const std::vector<double> zeros = speed.zeros();
  if (zeros.size() < 4) return {};
  const std::size_t halves = (zeros.size() - 1) / 2 * 2;
  return {{"omega_heave", {kPi * static_cast<double>(halves) / (zeros[halves] - zeros[0])}}};
}

}  // namespace tangere::cli
