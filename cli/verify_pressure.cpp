// SPDX-License-Identifier: Apache-2.0
#include "verify_pressure.hpp"

#include <tangere/simulator.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846;

double positive(const Json& parameters, const char* name) {
  const double value = number(parameters, name);
  if (!(value > 0)) throw InvalidInput(join("parameter '", name, "' must be above 0"));
  return value;
}

SimulationOptions sapOptions(double dt, double g) {
  SimulationOptions options = accurateOptions({.dt = dt, .solver = SolverType::Sap}, {0, 0, -g});
  options.sap.relativeTolerance = 1e-12;
  return options;
}

/// A half space below z = 0.
Body ground(const std::string& material) {
  Body body{.name = "ground", .type = BodyType::Fixed};
  body.shapes.push_back({.shape = std::make_shared<Plane>(), .material = material});
  return body;
}

/// Steps until the body has kept its height to one part in 1e10 for some time, or for at most
/// `maxSteps`. `act` is called before each step.
void settle(Simulator* simulator, int body, int maxSteps, const std::function<void()>& act = {}) {
  constexpr int kQuiet = 200;
  double height = simulator->body(body).pose.translation.z;
  for (int k = 0, quiet = 0; k < maxSteps && quiet < kQuiet; ++k) {
    if (act) act();
    simulator->step();
    const BodyState now = simulator->body(body);
    const double move = std::fabs(now.pose.translation.z - height);
    quiet = move <= 1e-16 * (1 + std::fabs(height)) ? quiet + 1 : 0;
    height = now.pose.translation.z;
  }
}

/// Time from the first to the last zero of `value` minus `rest`, halved by their number: pi over
/// the frequency of an oscillation about `rest`.
double halfPeriod(const std::vector<double>& value, double rest, double dt) {
  std::vector<double> zeros;
  for (std::size_t k = 1; k < value.size(); ++k) {
    const double a = value[k - 1] - rest, b = value[k] - rest;
    if ((a > 0) != (b > 0)) zeros.push_back((static_cast<double>(k - 1) + a / (a - b)) * dt);
  }
  if (zeros.size() < 2) throw InvalidInput("the parameters make no oscillation");
  return (zeros.back() - zeros.front()) / static_cast<double>(zeros.size() - 1);
}

// --- spheres -----------------------------------------------------------------------------------

struct SphereCase {
  double modulus, radius, depth, mass, g;
  bool isFine;

  SphereCase(const Json& parameters, bool isFineLane)
      : modulus(positive(parameters, "E")),
        radius(positive(parameters, "R")),
        depth(positive(parameters, "depth")),
        mass(positive(parameters, "m")),
        g(positive(parameters, "g")),
        isFine(isFineLane) {
    if (depth >= radius) throw InvalidInput("depth must be below the radius");
  }

  /// Edges of the tetrahedra: 20,000 of them, or more where the patch is small. The force of two
  /// spheres, the quantity that needs most, is wrong by 0.3 edge^2 / (radius depth). The coarse
  /// mesh has 500: level 2 of an octahedron has 512.
  [[nodiscard]] double edgesFor(double overlap) const {
    if (!isFine) return 0.25 * radius;
    constexpr std::size_t kFewest = 20000;
    constexpr double kError = 0.002;
    double edges = std::sqrt(kError / 0.3 * radius * overlap);
    while (makePressureField(Sphere(radius), {.resolution = edges}).mesh.tets().size() < kFewest)
      edges *= 0.9;
    return edges;
  }
  /// On the ground, or on another of its kind.
  [[nodiscard]] Simulator placed(int count, double overlap, double dt, double gravity,
                                 double relaxationTime) const {
    ModelBuilder builder;
    builder.setOptions(sapOptions(dt, gravity));
    builder.addMaterial({.name = "field",
                         .friction = 0,
                         .relaxationTime = relaxationTime,
                         .contact = ContactModel::Hydroelastic,
                         .hydroelasticModulus = modulus,
                         .hydroelasticResolution = edgesFor(overlap / count)});
    builder.addMaterial({.name = "rigid", .friction = 0, .relaxationTime = 0});
    if (count == 1) builder.addBody(ground("rigid"));
    for (int i = 0; i < count; ++i) {
      Body body{.name = i == 0 ? "ball" : "other"};
      const auto shape = std::make_shared<Sphere>(radius);
      body.shapes.push_back({.shape = shape, .material = "field"});
      body.massProperties =
          shape->massProperties(mass / (4.0 / 3.0 * kPi * radius * radius * radius));
      body.pose.translation.z = i == 0 ? radius - overlap : -radius;
      builder.addBody(body);
    }
    return Simulator(builder.build());
  }
};

/// The surface of contact as it was at the start of the step.
struct Patch {
  double force = 0, area = 0, radius = 0, peak = 0;
};

Patch patchOf(const Simulator& simulator) {
  Patch patch;
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    patch.force += polygon.area * polygon.pressure * std::fabs(polygon.normal.z);
    patch.area += polygon.area;
    for (int i = 0; i < polygon.numVertices; ++i) {
      patch.radius =
          std::max(patch.radius, std::hypot(polygon.vertices[i].x, polygon.vertices[i].y));
      patch.peak = std::max(patch.peak, polygon.pressures[i]);
    }
  }
  return patch;
}

Patch patchAt(const SphereCase& sphere, int count, double overlap) {
  constexpr double kInstant = 1e-9;  // [s]
  Simulator simulator = sphere.placed(count, overlap, kInstant, 0, 0);
  simulator.step();
  return patchOf(simulator);
}

}  // namespace

Measured hydroSphere(const Json& parameters, const Lane& lane) {
  const SphereCase sphere(parameters, lane.kind == LaneKind::FinePressure);
  const double R = sphere.radius, d = sphere.depth;
  const Patch patch = patchAt(sphere, 1, d);
  Measured out{
      {"F_at_depth", {patch.force}},
      {"patch_radius", {patch.radius}},
      {"patch_area", {patch.area}},
      {"peak_pressure", {patch.peak}},
      {"F_two_spheres", {patchAt(sphere, 2, d).force}},
      {"hertz_ratio", {patch.force / (4.0 / 3.0 * sphere.modulus * std::sqrt(R * d) * d)}}};

  // Rest: about what a paraboloid would sink, with critical damping.
  const double sink = std::sqrt(sphere.mass * sphere.g / (kPi * sphere.modulus));
  const double rate = std::sqrt(2 * sphere.g / sink);
  Simulator falling = sphere.placed(1, sink, 0.05 / rate, sphere.g, 2 / rate);
  const int ball = falling.model().findBody("ball");
  settle(&falling, ball, 2000);
  const double rest = falling.body(ball).pose.translation.z;
  out["depth_under_weight"] = {R - rest};
  if (!sphere.isFine) return out;

  const double dt = 0.02 / rate;
  Simulator swinging = sphere.placed(1, R - rest, dt, sphere.g, 0);
  swinging.setVelocity(ball, {0, 0, 0.02 * (R - rest) * rate}, {});
  std::vector<double> heights{rest};
  for (int k = 0; k < 400; ++k) {
    swinging.step();
    heights.push_back(swinging.body(ball).pose.translation.z);
  }
  out["omega_small"] = {kPi / halfPeriod(heights, rest, dt)};
  return out;
}

// --- boxes -------------------------------------------------------------------------------------

namespace {

struct BoxCase {
  double modulus, thickness, mass, g;
  Vec3 size;
  double couple, modulus2, thickness2;

  explicit BoxCase(const Json& parameters)
      : modulus(positive(parameters, "E")),
        thickness(positive(parameters, "H")),
        mass(positive(parameters, "m")),
        g(positive(parameters, "g")),
        size{positive(parameters, "lx"), positive(parameters, "ly"), positive(parameters, "lz")},
        couple(number(parameters, "M_y")),
        modulus2(positive(parameters, "E2")),
        thickness2(positive(parameters, "H2")) {}

  [[nodiscard]] double depth() const { return mass * g / stiffness(); }
  [[nodiscard]] double stiffness() const { return modulus / thickness * size.x * size.y; }
  [[nodiscard]] double rate() const { return std::sqrt(stiffness() / mass); }

  /// On the layer, touching it.
  [[nodiscard]] Simulator placed(double dt, double relaxationTime, bool hasOwnLayer = false) const {
    ModelBuilder builder;
    builder.setOptions(sapOptions(dt, g));
    // No friction: that of the sides, which reach into the layer, would carry some of the weight.
    builder.addMaterial({.name = "layer",
                         .friction = 0,
                         .relaxationTime = relaxationTime,
                         .contact = ContactModel::Hydroelastic,
                         .hydroelasticModulus = modulus,
                         .hydroelasticThickness = thickness});
    // Near its faces the field of a box grows as that of a layer with this modulus.
    const double inside = 0.5 * std::min({size.x, size.y, size.z});
    builder.addMaterial({.name = "box",
                         .friction = 0,
                         .relaxationTime = 0,
                         .contact = hasOwnLayer ? ContactModel::Hydroelastic : ContactModel::Point,
                         .hydroelasticModulus = modulus2 / thickness2 * inside});
    builder.addBody(ground("layer"));
    Body box{.name = "box"};
    const auto shape = std::make_shared<Box>(size * 0.5);
    box.shapes.push_back({.shape = shape, .material = "box"});
    // The mass in the patch's centre, where the couple acts: its weight then has no arm when the
    // box tilts, as in the reference.
    box.massProperties = shape->massProperties(mass / (size.x * size.y * size.z));
    box.massProperties->center = {0, 0, -0.5 * size.z};
    box.pose.translation.z = 0.5 * size.z;
    builder.addBody(box);
    return Simulator(builder.build());
  }
  [[nodiscard]] double depthOf(const Simulator& simulator) const {
    return 0.5 * size.z - simulator.body("box").pose.translation.z;
  }
};

/// Mean pressure of the outermost vertices of the bottom at one end.
double edgePressure(const Simulator& simulator, double side) {
  double farthest = -kUnlimited, sum = 0;
  int count = 0;
  for (const bool isSearch : {true, false}) {
    for (const PressurePolygon& polygon : simulator.pressureContacts()) {
      if (std::fabs(polygon.normal.z) < 0.5) continue;  // a side of the box
      for (int i = 0; i < polygon.numVertices; ++i) {
        const double x = side * polygon.vertices[i].x;
        if (isSearch) {
          farthest = std::max(farthest, x);
        } else if (x >= farthest - 1e-6 * std::fabs(farthest)) {
          sum += polygon.pressures[i];
          ++count;
        }
      }
    }
  }
  return sum / count;
}

}  // namespace

Measured hydroBox(const Json& parameters, const Lane& lane) {
  const BoxCase box(parameters);
  const bool isFine = lane.kind == LaneKind::FinePressure;
  const double dt = isFine ? 0.1 / box.rate() : lane.dt;
  const double relaxationTime = 2 / box.rate();
  constexpr int kLongest = 20000;
  Measured out;

  Simulator resting = box.placed(dt, relaxationTime);
  const int body = resting.model().findBody("box");
  settle(&resting, body, kLongest);
  const double depth = box.depthOf(resting);
  out["depth"] = {depth};
  const double push = 0.5 * box.mass * box.g;
  settle(&resting, body, kLongest, [&] { resting.applyForce(body, {0, 0, -push}); });
  out["normal_stiffness"] = {push / (box.depthOf(resting) - depth)};

  // The field of a box falls to zero at its sides too, so a strip along the edges as wide as the
  // box is entered carries less than a layer would. The larger the box, the smaller the part of
  // that strip: two sizes under the same pressure tell the depth without edges.
  const auto depthTwoLayers = [&](double factor) {
    BoxCase scaled = box;
    scaled.size.x *= factor;
    scaled.size.y *= factor;
    scaled.mass *= factor * factor;
    Simulator layered = scaled.placed(dt, relaxationTime, true);
    settle(&layered, body, kLongest);
    return scaled.depthOf(layered);
  };
  out["depth_two_layers"] = {2 * depthTwoLayers(32) - depthTwoLayers(16)};

  if (isFine) {
    Simulator tilted = box.placed(dt, relaxationTime);
    settle(&tilted, body, kLongest, [&] { tilted.applyForce(body, {}, {0, box.couple, 0}); });
    const Mat3 R = tilted.body(body).pose.rotation;
    const double tilt = std::atan2(-R.col[0].z, R.col[0].x);
    out["tilt"] = {tilt};
    out["rocking_stiffness"] = {box.couple / tilt};
    out["edge_pressures"] = {edgePressure(tilted, -1), edgePressure(tilted, 1)};
  }

  Simulator swinging = box.placed(isFine ? 0.02 / box.rate() : lane.dt, 0);
  swinging.setPose(body, Transform{Mat3::identity(), {0, 0, 0.5 * box.size.z - depth}});
  swinging.setVelocity(body, {0, 0, 0.1 * depth * box.rate()}, {});
  std::vector<double> heights;
  const double step = swinging.model().options().dt;
  const int steps = static_cast<int>(std::lround(4 * kPi / box.rate() / step));
  for (int k = 0; k <= std::max(8, steps); ++k) {
    heights.push_back(swinging.body(body).pose.translation.z);
    swinging.step();
  }
  out["omega_heave"] = {kPi / halfPeriod(heights, 0.5 * box.size.z - depth, step)};
  return out;
}

}  // namespace tangere::cli
