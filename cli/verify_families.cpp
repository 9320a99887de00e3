// SPDX-License-Identifier: Apache-2.0
#include "verify_families.hpp"
#include "verify_bodies.hpp"

#include "verify_accurate_friction.hpp"
#include "verify_accurate_impacts.hpp"
#include "verify_accurate_motion.hpp"
#include "verify_accurate_row.hpp"
#include "verify_contact.hpp"
#include "verify_kernels.hpp"
#include "verify_pressure.hpp"
#include "verify_robots.hpp"
#include "verify_soft.hpp"

#include <tangere/simulator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tangere::cli {

double number(const Json& parameters, const char* name) {
  if (!parameters.contains(name) || !parameters[name].is_number())
    throw InvalidInput(join("parameter '", name, "' is missing or not a number"));
  return parameters[name].get<double>();
}

double labelCode(std::string_view label) {
  constexpr std::array<std::string_view, 3> kLabels{"open", "stick", "slide"};
  const auto found = std::find(kLabels.begin(), kLabels.end(), label);
  return found == kLabels.end() ? -1 : static_cast<double>(found - kLabels.begin());
}

/// Converged to rounding, no sleeping, no threshold: what a reference is compared with.
SimulationOptions accurateOptions(const Lane& lane, const Vec3& gravity) {
  SimulationOptions options;
  options.dt = lane.dt;
  options.solver = lane.solver;
  if (lane.isLagged) options.sap.contact = SapContactModel::HuntCrossley;
  options.gravity = gravity;
  options.sleep.enabled = false;
  options.impulse.maxExactPoints = 200;
  options.impulse.numSweeps = 1000;
  options.impulse.tolerance = 1e-13;
  options.restitutionThreshold = 1e-4;
  return options;
}

namespace {

constexpr double kDegree = 3.14159265358979323846 / 180;

Vec3 down(double g) { return {0, 0, -g}; }

Body fixedPlane(const std::string& material) {
  Body plane{.name = "plane", .type = BodyType::Fixed};
  plane.shapes.push_back({.shape = std::make_shared<Plane>(), .material = material});
  return plane;
}

Body ball(const std::string& name, double radius, double mass, const Vec3& position,
          double inertiaFactor = 0.4) {
  Body body{.name = name};
  body.pose.translation = position;
  body.shapes.push_back({.shape = std::make_shared<Sphere>(radius), .material = "stuff"});
  const double moment = inertiaFactor * mass * radius * radius;
  body.massProperties =
      MassProperties{.mass = mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
  return body;
}

constexpr double kLaggedStiffness = 1e8;  // [N/m]

/// How deep a load on so many points is at rest; a contact that starts there has no transient.
double restDepth(const Lane& lane, double load, int numPoints) {
  return lane.isLagged ? load / (numPoints * kLaggedStiffness) : 0;
}

struct World {
  ModelBuilder builder;

  World(const Lane& lane, const Vec3& gravity, double friction, double restitution = 0) {
    builder.setOptions(accurateOptions(lane, gravity));
    Material stuff{.name = "stuff", .friction = friction, .restitution = restitution};
    if (lane.isLagged) {
      stuff.stiffness = 2 * kLaggedStiffness;  // two of them in series
      stuff.dissipation = 100;
    }
    builder.addMaterial(stuff);
  }
  [[nodiscard]] Simulator start() const { return Simulator(builder.build()); }
};

int stepsFor(double duration, double dt) { return static_cast<int>(std::lround(duration / dt)); }

/// Faster than this is no longer at rest: a compliant contact takes up its load over some steps
/// [m/s, rad/s].
constexpr double kMoving = 1e-6;

/// A box that turns faster than this has tipped [rad/s].
constexpr double kTipping = 1e-3;

/// The value in [low, high] at which `happens` turns true, to one part in 1e6.
double threshold(double low, double high, const std::function<bool(double)>& happens) {
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (happens(middle) ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

/// Sum of the contact forces on `body` [N].
Vec3 contactForce(const Simulator& simulator, int body, int other = -1) {
  Vec3 sum{};
  for (const ContactForce& contact : simulator.contacts()) {
    if (contact.body1 == body && (other < 0 || contact.body2 == other)) sum += contact.force;
    if (contact.body2 == body && (other < 0 || contact.body1 == other)) sum -= contact.force;
  }
  return sum;
}

double kineticEnergy(const Simulator& simulator, const std::vector<int>& bodies) {
  double sum = 0;
  for (const int body : bodies) {
    const MassProperties& mass = simulator.model().massProperties(body);
    const BodyState state = simulator.body(body);
    const Vec3 w = transposeTimes(state.pose.rotation, state.angularVelocity);
    sum += 0.5 * (mass.mass * squaredNorm(state.linearVelocity) + dot(w, mass.inertia * w));
  }
  return sum;
}

// --- one function for each family ----------------------------------------------------------------

Measured bounceZeno(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), h = number(parameters, "h"),
               e = number(parameters, "e"), radius = 0.1;
  World world(lane, down(g), 0, e);
  world.builder.addBody(fixedPlane("stuff"));
  world.builder.addBody(ball("ball", radius, 1, {0, 0, h + radius}));
  Simulator simulator = world.start();
  const int index = simulator.model().findBody("ball");

  std::vector<double> times, speeds, apexes;
  double path = 0, lastMoving = 0, z = h, v = 0;
  const double horizon = 1.5 * std::sqrt(2 * h / g) * (1 + e) / std::max(1 - e, 1e-3);
  for (int k = 1; k * dt <= horizon; ++k) {
    simulator.step();
    const BodyState state = simulator.body(index);
    const double z1 = state.pose.translation.z - radius, v1 = state.linearVelocity.z;
    if (simulator.report().numImpacts > 0) {
      // Back along the free flight to the ground: z1 = v1 t + g t^2/2 with t since the impact.
      const double since = z1 <= 0 ? 0 : 2 * z1 / (v1 + std::sqrt(v1 * v1 + 2 * g * z1));
      times.push_back(simulator.state().time - since);
      speeds.push_back(v1 + g * since);
      path += z + z1;
    } else if (v > 0 && v1 < 0) {
      const double apex = z + v * v / (2 * g);
      apexes.push_back(apex);
      path += 2 * apex - z - z1;
    } else {
      path += std::fabs(z1 - z);
    }
    if (std::fabs(v1) > 1e-6) lastMoving = simulator.state().time;
    z = z1;
    v = v1;
  }
  Measured out{{"zeno_time", {lastMoving}}, {"path_length", {path}}};
  for (std::size_t k = 0; k < times.size(); ++k) {
    out["t_" + std::to_string(k + 1)] = {times[k]};
    out["v_after_" + std::to_string(k + 1)] = {speeds[k]};
  }
  for (std::size_t k = 0; k < apexes.size(); ++k)
    out["apex_" + std::to_string(k + 1)] = {apexes[k]};
  return out;
}

/// Distance and speed down the slope after `duration`. The slope is level and gravity leans.
std::pair<double, double> slideBlock(double g, double angle, double mu, double duration,
                                     const Lane& lane) {
  World world(lane, {g * std::sin(angle), 0, -g * std::cos(angle)}, mu);
  SimulationOptions options = world.builder.options();
  options.sap.slipSpeed = 1e-6;  // from rest: friction is soon full
  world.builder.setOptions(options);
  world.builder.addBody(fixedPlane("stuff"));
  const double depth = restDepth(lane, 5 * g * std::cos(angle), 4);
  world.builder.addBody(box("block", {0.4, 0.3, 0.2}, 5, {0, 0, 0.1 - depth}));
  Simulator simulator = world.start();
  simulator.step(stepsFor(duration, lane.dt));
  const BodyState state = simulator.body("block");
  return {state.pose.translation.x, state.linearVelocity.x};
}

Measured inclineBlock(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), angle = number(parameters, "theta_deg") * kDegree,
               duration = number(parameters, "T");
  const auto [x, v] = slideBlock(g, angle, number(parameters, "mu_slide"), duration, lane);
  const auto [creep, creepSpeed] =
      slideBlock(g, angle, number(parameters, "mu_stick"), duration, lane);
  const double critical = threshold(0, 4 * std::tan(angle) + 1, [&](double mu) {
    return slideBlock(g, angle, mu, 0.1, lane).second < kMoving;
  });
  const double steps = stepsFor(duration, dt) * dt;
  return {{"a_slide", {v / steps}}, {"x_slide_T", {x}},
          {"v_slide_T", {v}},       {"critical_mu", {critical}},
          {"x_stick_T", {creep}},   {"sap_creep_speed", {std::fabs(creepSpeed)}}};
}

Measured slideToRoll(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), radius = number(parameters, "R"),
               mass = number(parameters, "m"), duration = number(parameters, "T");
  World world(lane, down(g), number(parameters, "mu"));
  world.builder.addBody(fixedPlane("stuff"));
  Body sphere = ball("ball", radius, mass, {0, 0, radius - restDepth(lane, mass * g, 1)});
  sphere.linearVelocity = {number(parameters, "v0"), 0, 0};
  sphere.angularVelocity = {0, number(parameters, "w0"), 0};
  world.builder.addBody(sphere);
  Simulator simulator = world.start();
  const int index = simulator.model().findBody("ball");
  const double before = kineticEnergy(simulator, {index});

  // Regularized friction ends a slide over a few steps.
  const double none = lane.isLagged ? 1e-4 : lane.solver == SolverType::Sap ? 2e-3 : 1e-9;
  double rollTime = 0, rollPlace = 0, slip = 1;
  for (int k = 0; k < stepsFor(duration, dt); ++k) {
    const BodyState last = simulator.body(index);
    simulator.step();
    const BodyState state = simulator.body(index);
    const double now = state.linearVelocity.x - radius * state.angularVelocity.y;
    if (std::fabs(slip) > none && std::fabs(now) <= none) {
      // Within the step the slip falls at the rate of the step before.
      const double rate = 3.5 * number(parameters, "mu") * g;
      const double used =
          std::min(dt, std::fabs(last.linearVelocity.x - radius * last.angularVelocity.y) / rate);
      rollTime = simulator.state().time - dt + used;
      rollPlace =
          last.pose.translation.x + 0.5 * used * (last.linearVelocity.x + state.linearVelocity.x);
    }
    slip = now;
  }
  const BodyState end = simulator.body(index);
  return {{"v_final", {end.linearVelocity.x}},
          {"t_roll", {rollTime}},
          {"x_roll", {rollPlace}},
          {"x_T", {end.pose.translation.x}},
          {"energy_lost", {before - kineticEnergy(simulator, {index})}}};
}

Measured inclineRoll(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), radius = number(parameters, "R"),
               mass = number(parameters, "m"), angle = number(parameters, "theta_deg") * kDegree,
               duration = number(parameters, "T");
  double friction = 0;
  const auto roll = [&](double mu, double inertiaFactor, bool isSphere) {
    World world(lane, {g * std::sin(angle), 0, -g * std::cos(angle)}, mu);
    world.builder.addBody(fixedPlane("stuff"));
    Body body = ball("body", radius, mass, {0, 0, radius}, inertiaFactor);
    if (!isSphere) {
      // The axis of a cylinder is z: turned to y.
      body.pose.rotation = {{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};
      body.shapes[0].shape = std::make_shared<Cylinder>(radius, radius);
    }
    world.builder.addBody(body);
    Simulator simulator = world.start();
    simulator.step(stepsFor(duration, dt));
    friction = -contactForce(simulator, simulator.model().findBody("body")).x;
    return simulator.body("body");
  };
  const double grip = number(parameters, "mu_grip");
  const auto leastFriction = [&](double inertiaFactor, bool isSphere) {
    return threshold(0, 2 * std::tan(angle), [&](double mu) {
      const BodyState state = roll(mu, inertiaFactor, isSphere);
      return std::fabs(state.linearVelocity.x - radius * state.angularVelocity.y) < 1e-4;
    });
  };
  const BodyState slipping = roll(number(parameters, "mu_slip"), 0.4, true);
  const BodyState rolling = roll(grip, 0.4, true);
  const double rollingFriction = friction;
  return {{"v_sphere", {rolling.linearVelocity.x}},
          {"friction_force_sphere", {rollingFriction}},
          {"mu_min_sphere", {leastFriction(0.4, true)}},
          {"mu_min_cylinder", {leastFriction(0.5, false)}},
          {"mu_min_hoop", {leastFriction(1.0, false)}},
          {"v_cylinder", {roll(grip, 0.5, false).linearVelocity.x}},
          {"v_hoop", {roll(grip, 1.0, false).linearVelocity.x}},
          {"v_sphere_slipping", {slipping.linearVelocity.x}},
          {"w_sphere_slipping", {slipping.angularVelocity.y}}};
}

Measured cradleSequential(const Json& parameters, const Lane& lane) {
  const int count = static_cast<int>(number(parameters, "N"));
  const double v0 = number(parameters, "v0"), gap = number(parameters, "gap"),
               diameter = number(parameters, "d"), mass = number(parameters, "m");
  if (count < 2 || count > 1000) throw InvalidInput("N must be between 2 and 1000");
  World world(lane, {}, 0, number(parameters, "e"));
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "ball%04d", i);
    names.emplace_back(name);
    Body body = ball(name, 0.5 * diameter, mass, {i * (diameter + gap), 0, 0});
    if (i == 0) body.linearVelocity = {v0, 0, 0};
    world.builder.addBody(body);
  }
  Simulator simulator = world.start();
  // The first pass, and not one step more: it ends when the last ball is hit.
  constexpr int kMostSteps = 10'000'000;
  for (int k = 0; k < kMostSteps && !(simulator.body(names.back()).linearVelocity.x > 0); ++k)
    simulator.step();
  std::vector<int> bodies;
  std::vector<double> speeds;
  double momentum = 0;
  for (const std::string& name : names) {
    bodies.push_back(simulator.model().findBody(name));
    speeds.push_back(simulator.body(name).linearVelocity.x);
    momentum += mass * speeds.back();
  }
  const double moved =
      simulator.body(names.back()).pose.translation.x - (count - 1) * (diameter + gap);
  return {{"v_last", {speeds.back()}},
          {"v_first", {speeds.front()}},
          {"v_all", speeds},
          {"t_last_impact", {simulator.state().time - moved / speeds.back()}},
          {"kinetic_energy", {kineticEnergy(simulator, bodies)}},
          {"momentum", {momentum}}};
}

Measured boxTipping(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), b = number(parameters, "b"),
               h = number(parameters, "h"), w = number(parameters, "w"),
               mass = number(parameters, "m"), mu = number(parameters, "mu"),
               height = number(parameters, "push_height");
  // A compliant contact takes its time to take up a load [s].
  const double push_s = lane.solver == SolverType::Sap ? 0.5 : 0.05;
  const double settle = lane.solver == SolverType::Sap ? 0.5 : 0;
  const auto push = [&](double force, double at, double friction, const Vec3& gravity,
                        double duration) {
    World world(lane, gravity, friction);
    SimulationOptions options = world.builder.options();
    options.sap.frictionRegularization = 1e-3;  // as published
    world.builder.setOptions(options);
    world.builder.addBody(fixedPlane("stuff"));
    world.builder.addBody(keptInPlane(box("box", {b, w, h}, mass, {0, 0, 0.5 * h})));
    Simulator simulator = world.start();
    const int index = simulator.model().findBody("box");
    simulator.step(stepsFor(settle, dt));
    for (int k = 0; k < std::max(1, stepsFor(duration, dt)); ++k) {
      simulator.applyForce(index, {force, 0, 0}, {0, force * (at - 0.5 * h), 0});
      simulator.step();
    }
    return simulator.body(index);
  };
  const double low = 0.25 * b / mu;  // half the height that separates sliding from tipping
  const double slide = threshold(0, 4 * mu * mass * g, [&](double force) {
    return push(force, std::min(low, h), mu, down(g), push_s).linearVelocity.x > kMoving;
  });
  const double tipping = lane.solver == SolverType::Sap ? kTipping : kMoving;
  const double tip = threshold(0, 4 * mass * g * b / height, [&](double force) {
    return push(force, height, std::max(mu, b / height), down(g), push_s).angularVelocity.y >
           tipping;
  });
  const double instant = lane.solver == SolverType::Sap ? 5 * dt : dt;
  const double alpha =
      push(number(parameters, "F_test"), height, mu, down(g), instant).angularVelocity.y / instant;
  // Pushed just beyond sliding it slides when low and tips when high.
  const double critical = threshold(0, h, [&](double at) {
    return push(1.001 * mu * mass * g, at, mu, down(g), push_s).angularVelocity.y > kTipping;
  });
  const double angle = threshold(0, 80 * kDegree, [&](double a) {
    const Vec3 gravity{g * std::sin(a), 0, -g * std::cos(a)};
    const BodyState state = push(0, 0, 100, gravity, 0.5);
    return state.angularVelocity.y > kTipping || state.pose.rotation.col[2].z < 1 - 1e-7;
  });
  return {{"F_slide", {slide}},
          {"F_tip", {tip}},
          {"y_critical", {critical}},
          {"alpha_tip", {alpha}},
          {"ramp_tip_angle_deg", {angle / kDegree}}};
}

Measured painleveRod(const Json& parameters, const Lane& lane) {
  const double g = number(parameters, "g"), a = number(parameters, "a"),
               mass = number(parameters, "m"), theta = number(parameters, "theta"),
               omega = number(parameters, "omega");
  // The end of the rod is a tiny ball that touches the plane.
  const double tiny = 1e-7 * a;
  const auto slideOnce = [&](double mu, double speed, Vec3* force) {
    World world(lane, down(g), mu);
    world.builder.addBody(fixedPlane("stuff"));
    const Vec3 toEnd{a * std::cos(theta), 0, -a * std::sin(theta)};
    Body rod{.name = "rod"};
    rod.pose.translation = Vec3{0, 0, tiny} - toEnd;
    // About +z of the plane of the case is about -y here: x to the right, height along z.
    rod.angularVelocity = {0, -omega, 0};
    rod.linearVelocity = Vec3{speed, 0, 0} - cross(rod.angularVelocity, toEnd);
    const double moment = mass * a * a / 3;
    rod.massProperties =
        MassProperties{.mass = mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
    rod.shapes.push_back({.shape = std::make_shared<Sphere>(tiny),
                          .pose = {.translation = toEnd},
                          .material = "stuff"});
    world.builder.addBody(rod);
    Simulator simulator = world.start();
    simulator.step();
    *force = contactForce(simulator, simulator.model().findBody("rod"));
    const BodyState state = simulator.body("rod");
    return state.linearVelocity.x + cross(state.angularVelocity, toEnd).x;
  };
  Vec3 force{};
  (void)slideOnce(number(parameters, "mu_ok"), number(parameters, "v0"), &force);
  const double normal = force.z;
  // Fast, so that only a jam can stop the slip within one step.
  const double fast = 1e4;
  const double critical = threshold(0, 100, [&](double mu) {
    Vec3 unused{};
    return slideOnce(mu, fast, &unused) < 0.01 * fast;
  });
  return {{"mu_critical", {critical}}, {"N_ok", {normal}}};
}

Measured movableWedge(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), wedgeMass = number(parameters, "M"),
               blockMass = number(parameters, "m"),
               angle = number(parameters, "alpha_deg") * kDegree;
  const auto slide = [&](bool hasWall) {
    World world(lane, down(g), 0);
    world.builder.addBody(fixedPlane("stuff"));
    addWedge(world.builder, wedgeMass, blockMass, angle, hasWall);
    Simulator simulator = world.start();
    simulator.step();
    return simulator;
  };
  const Simulator free = slide(false);
  const Simulator held = slide(true);
  const int wedge = free.model().findBody("wedge"), block = free.model().findBody("block");
  const Vec3 relative = free.body(block).linearVelocity - free.body(wedge).linearVelocity;
  const Vec3 along{std::cos(angle), 0, -std::sin(angle)};
  return {{"a_wedge", {-free.body(wedge).linearVelocity.x / dt}},
          {"a_rel", {dot(relative, along) / dt}},
          {"N_block", {norm(contactForce(free, block, wedge))}},
          {"N_floor", {contactForce(free, wedge, free.model().findBody("plane")).z}},
          {"wall_force",
           {contactForce(held, held.model().findBody("wedge"), held.model().findBody("wall")).x}}};
}

Measured simbenchRolling(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), boxMass = number(parameters, "M"),
               ballMass = number(parameters, "m"), push = number(parameters, "F"),
               psi = number(parameters, "psi_deg") * kDegree, duration = number(parameters, "T");
  const int count = static_cast<int>(number(parameters, "n"));
  if (count < 1 || count > 10000) throw InvalidInput("n must be between 1 and 10000");
  World world(lane, down(g), 0.5);
  world.builder.addMaterial({.name = "ground"});
  world.builder.addMaterial({.name = "box"});
  world.builder.addPair(
      {.material1 = "ground", .material2 = "box", .friction = number(parameters, "mu_box_ground")});
  world.builder.addPair(
      {.material1 = "box", .material2 = "stuff", .friction = number(parameters, "mu_ball_box")});
  world.builder.addBody(fixedPlane("ground"));
  const double radius = 0.1, thickness = 0.2;
  const double side = 40 + 2.5 * radius * count;
  Body plate = box("box", {side, side, thickness}, boxMass, {0, 0, 0.5 * thickness});
  plate.shapes[0].material = "box";
  world.builder.addBody(plate);
  // In a row along the push: the load then has no arm about the vertical, whatever the number.
  const Vec3 direction{std::cos(psi), std::sin(psi), 0};
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back("ball" + std::to_string(i));
    const Vec3 place = direction * (2.5 * radius * (i - 0.5 * (count - 1)));
    world.builder.addBody(
        ball(names.back(), radius, ballMass, place + Vec3{0, 0, thickness + radius}));
  }
  Simulator simulator = world.start();
  const int plateIndex = simulator.model().findBody("box");
  const int ground = simulator.model().findBody("plane");
  std::vector<int> balls;
  balls.reserve(names.size());
  for (const std::string& name : names) balls.push_back(simulator.model().findBody(name));

  const double total = boxMass + count * ballMass;
  const double friction = number(parameters, "mu_box_ground") * total * g;
  const double ballRate = (push - friction) / boxMass / (3.5 + count * ballMass / boxMass);
  double squares = 0;
  const int steps = stepsFor(duration, dt);
  for (int k = 1; k <= steps; ++k) {
    simulator.applyForce(plateIndex, direction * push);
    simulator.step();
    const Vec3 ballError =
        simulator.body(balls[0]).linearVelocity - direction * (ballRate * k * dt);
    const Vec3 boxError =
        simulator.body(plateIndex).linearVelocity - direction * (3.5 * ballRate * k * dt);
    squares += squaredNorm(ballError) + squaredNorm(boxError);
  }
  const Vec3 plateVelocity = simulator.body(plateIndex).linearVelocity;
  const Vec3 fromGround = contactForce(simulator, plateIndex, ground);
  const Vec3 onBall = contactForce(simulator, balls[0], plateIndex);
  return {{"v_box_T", {norm(plateVelocity)}},
          {"v_ball_T", {norm(simulator.body(balls[0]).linearVelocity)}},
          {"v_box_T_xy", {plateVelocity.x, plateVelocity.y}},
          {"friction_ground", {std::hypot(fromGround.x, fromGround.y)}},
          {"friction_ball", {std::hypot(onBall.x, onBall.y)}},
          {"mse_goal", {squares / steps}}};
}

Measured simbenchBouncing(const Json& parameters, const Lane& lane) {
  const double dt = lane.dt;
  const double g = number(parameters, "g"), mass = number(parameters, "m"),
               radius = number(parameters, "R"), height = number(parameters, "H"),
               duration = number(parameters, "T");
  const int side = static_cast<int>(number(parameters, "n"));
  if (side < 1 || side > 100) throw InvalidInput("n must be between 1 and 100");
  World world(lane, down(g), 0, 1);
  world.builder.addBody(fixedPlane("stuff"));
  for (int i = 0; i < side * side; ++i) {
    const int column = i % side, row = i / side;
    world.builder.addBody(ball("ball" + std::to_string(i), radius, mass,
                               {3 * radius * column, 3 * radius * row, height}));
  }
  Simulator simulator = world.start();
  const int index = simulator.model().findBody("ball0");
  const int count = side * side;
  int impacts = 0;
  double firstTime = 0, lastTime = 0, squares = 0;
  const double energy = mass * g * height;
  const int steps = stepsFor(duration, dt);
  for (int k = 0; k < steps; ++k) {
    const double before = simulator.body(index).linearVelocity.z;
    simulator.step();
    const BodyState state = simulator.body(index);
    const double z = state.pose.translation.z - radius, v = state.linearVelocity.z;
    if (before < 0 && v > 0) {
      const double since = z <= 0 ? 0 : 2 * z / (v + std::sqrt(v * v + 2 * g * z));
      lastTime = simulator.state().time - since;
      if (impacts++ == 0) firstTime = lastTime;
    }
    const double now = simulator.energy().kinetic + simulator.energy().potential;
    const double error = now / count - energy;
    squares += error * error;
  }
  const BodyState end = simulator.body(index);
  const double rms = std::sqrt(squares / steps);
  return {{"z_T", {end.pose.translation.z}},
          {"v_T", {end.linearVelocity.z}},
          {"impacts", {static_cast<double>(impacts)}},
          {"energy_per_ball", {energy + rms}},
          {"period", {impacts > 1 ? (lastTime - firstTime) / (impacts - 1) : 0}}};
}

}  // namespace

const std::map<std::string, Family>& families() {
  using enum SolverType;
  using enum LaneKind;
  static const std::map<std::string, Family> all = [] {
    std::map<std::string, Family> list = {
        {"bounce_zeno", {bounceZeno, {Impulse}}},
        {"incline_block", {inclineBlock, {Impulse, Sap}, true}},
        {"slide_to_roll", {slideToRoll, {Impulse, Sap}, true}},
        {"incline_roll", {inclineRoll, {Impulse, Sap}}},
        {"cradle_sequential", {cradleSequential, {Impulse}}},
        {"box_tipping", {boxTipping, {Impulse, Sap}}},
        {"painleve_rod", {painleveRod, {Impulse}}},
        {"movable_wedge", {movableWedge, {Impulse, Sap}}},
        {"simbench_rolling", {simbenchRolling, {Impulse, Sap}}},
        {"simbench_bouncing", {simbenchBouncing, {Impulse}}},
        {"dzhanibekov", {dzhanibekov, {Sap}}},
        {"heavy_top", {heavyTop, {Sap}}},
        {"fourbar_singular", {fourbarSingular, {Sap}}},
        {"tensioned_row", {tensionedRow, {Sap}}},
        {"spinning_disc", {spinningDisc, {Sap}}},
        {"hunt_crossley", {huntCrossley, {Sap}, true}},
        {"sap_contact", {sapContact, {Sap}, false, {Kernel}}},
        {"box_manifold", {boxManifold, {Sap}, false, {Kernel}}},
        {"hydro_sphere", {hydroSphere, {Sap}, false, {FinePressure, CoarsePressure}}},
        {"hydro_box", {hydroBox, {Sap}, false, {Stepping, FinePressure}}},
        {"fem_cantilever", {femCantilever, {Sap}, false, {Elastic}}},
        {"fem_column", {femColumn, {Sap}, false, {Elastic}}},
        {"fem_patch", {femPatch, {Sap}, false, {Elastic}, lawsWithoutAModel()}},
    };
    list["bounce_zeno"].runAccurate = accurateBounceZeno;
    list["hunt_crossley"].runAccurate = accurateHuntCrossley;
    list["modia_bounce"].runAccurate = accurateModiaBounce;
    list["hertz"].runAccurate = accurateHertz;
    list["incline_block"].runAccurate = accurateInclineBlock;
    list["slide_to_roll"].runAccurate = accurateSlideToRoll;
    list["incline_roll"].runAccurate = accurateInclineRoll;
    list["spinning_disc"].runAccurate = accurateSpinningDisc;
    list["cradle_sequential"].runAccurate = accurateCradle;
    list["box_tipping"].runAccurate = accurateBoxTipping;
    list["painleve_rod"].runAccurate = accuratePainleveRod;
    list["movable_wedge"].runAccurate = accurateMovableWedge;
    list["tensioned_row"].runAccurate = accurateTensionedRow;
    list["simbench_rolling"].runAccurate = accurateSimbenchRolling;
    list["simbench_bouncing"].runAccurate = accurateSimbenchBouncing;
    list["hydro_box"].runAccurate = accurateHydroBox;
    list["dzhanibekov"].runAccurate = accurateDzhanibekov;
    list["heavy_top"].runAccurate = accurateHeavyTop;
    list["double_pendulum"].runAccurate = accurateDoublePendulum;
    list["fourbar_singular"].runAccurate = accurateFourbarSingular;
    list["andrews"].runAccurate = accurateAndrews;
    return list;
  }();
  return all;
}

}  // namespace tangere::cli
