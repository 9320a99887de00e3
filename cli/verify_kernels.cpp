// SPDX-License-Identifier: Apache-2.0
#include "verify_kernels.hpp"

#include <tangere/collision.hpp>
#include <tangere/simulator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

namespace tangere::cli {

namespace {

constexpr double kPi = 3.14159265358979323846, kDegree = kPi / 180;

double positive(const Json& parameters, const char* name) {
  const double value = number(parameters, name);
  if (!(value > 0)) throw InvalidInput(join("parameter '", name, "' must be above 0"));
  return value;
}

// --- one step of the convex solver
// -----------------------------------------------------------------

/// A point mass over a plane: a ball so heavy to turn that it does not, whatever pulls at its rim.
struct PointMass {
  static constexpr double kRadius = 0.01;
  static constexpr double kMomentPart = 1e22;  // of m r^2

  static Simulator over(const Json& parameters, const Json& state) {
    const double mass = positive(parameters, "m");
    ModelBuilder builder;
    SimulationOptions options =
        accurateOptions({.dt = positive(parameters, "dt"), .solver = SolverType::Sap},
                        {0, 0, -number(parameters, "g")});
    // The published law, to rounding. The engine estimates the inverse mass of a contact as
    // |W|_F / 3, which of w times the identity is w / sqrt(3); the case takes w.
    const double estimate = 1 / std::sqrt(3.0);
    options.sap.friction = SapFriction::Cone;
    options.sap.nearRigid = positive(parameters, "beta") / std::sqrt(estimate);
    options.sap.frictionRegularization = positive(parameters, "sigma") / estimate;
    options.sap.relativeTolerance = 1e-15;
    options.sap.absoluteTolerance = 1e-18;
    options.sap.lineSearchTolerance = 1e-8;
    builder.setOptions(options);
    // Two of them in series have the stiffness of the case; dissipation times add up.
    builder.addMaterial({.name = "stuff",
                         .friction = number(parameters, "mu"),
                         .stiffness = 2 * positive(parameters, "k"),
                         .relaxationTime = number(parameters, "tau_d") / 2});
    Body plane{.name = "plane", .type = BodyType::Fixed};
    plane.shapes.push_back({.shape = std::make_shared<Plane>(), .material = "stuff"});
    builder.addBody(plane);
    Body body{.name = "point"};
    const double moment = kMomentPart * mass * kRadius * kRadius;
    body.massProperties =
        MassProperties{.mass = mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
    body.pose.translation = {0, 0, kRadius + number(state, "phi0")};
    body.linearVelocity = {number(state, "vt0"), 0, number(state, "vn0")};
    body.shapes.push_back({.shape = std::make_shared<Sphere>(kRadius), .material = "stuff"});
    builder.addBody(body);
    return Simulator(builder.build());
  }
};

}  // namespace

Measured sapContact(const Json& parameters, const Lane&) {
  const double dt = positive(parameters, "dt"), mu = number(parameters, "mu");
  const double settling = dt + number(parameters, "tau_d");
  if (!parameters.contains("states") || !parameters["states"].is_array())
    throw InvalidInput("parameter 'states' must be a list");
  Measured out;
  int index = 0;
  for (const Json& state : parameters["states"]) {
    Simulator simulator = PointMass::over(parameters, state);
    simulator.step();
    const int point = simulator.model().findBody("point");
    Vec3 impulse{};
    for (const ContactForce& contact : simulator.contacts())
      impulse += contact.force * (contact.body1 == point ? dt : -dt);
    const Vec3 v = simulator.body(point).linearVelocity;
    const double tangent = impulse.x, normal = impulse.z;
    const std::string name = "state" + std::to_string(index++);
    const bool isOpen = !(normal > 0),
               isStuck = std::fabs(tangent) < mu * normal * (1 - 1e-9) || tangent == 0;
    out[name + "_regime"] = {labelCode(isOpen ? "open" : isStuck ? "stick" : "slide")};
    out[name + "_v"] = {v.x, v.z};
    out[name + "_gamma"] = {tangent, normal};
    // What sticks tells both: gamma_n = (v_hat - v_n) / Rn, gamma_t = -v_t / Rt.
    if (isOpen || !isStuck) continue;
    out["Rn"] = {(-number(state, "phi0") / settling - v.z) / normal};
    if (tangent != 0) out["Rt"] = {-v.x / tangent};
  }
  return out;
}

// --- manifolds
// ---------------------------------------------------------------------------------------

namespace {

/// Of the hull of four points of a convex polygon, in order.
double quadArea(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return 0.5 * norm(cross(c - a, d - b));
}

}  // namespace

Measured boxManifold(const Json& parameters, const Lane&) {
  if (!parameters.contains("s") || !parameters["s"].is_array() || parameters["s"].size() != 3)
    throw InvalidInput("parameter 's' must be three numbers");
  const Vec3 s{parameters["s"][0].get<double>(), parameters["s"][1].get<double>(),
               parameters["s"][2].get<double>()};
  const double tilt = number(parameters, "tilt_deg") * kDegree,
               depth = positive(parameters, "depth"), c = positive(parameters, "c"),
               flat = positive(parameters, "depth_flat");
  Measured out;

  // (a) Turned about y, the lowest edge `depth` below the plane.
  Transform leaning;
  leaning.rotation = {
      {{std::cos(tilt), 0, -std::sin(tilt)}, {0, 1, 0}, {std::sin(tilt), 0, std::cos(tilt)}}};
  const double lowest = 0.5 * (s.x * std::fabs(std::sin(tilt)) + s.z * std::fabs(std::cos(tilt)));
  leaning.translation = {0, 0, lowest - depth};
  CollisionResult result;
  collide(Box(s * 0.5), leaning, Plane(), Transform{}, {}, result);
  std::vector<double> depths;
  double sum = 0;
  for (int i = 0; i < result.numContacts(); ++i) {
    depths.push_back(result.contact(i).depth);
    sum += result.contact(i).depth;
  }
  std::sort(depths.begin(), depths.end(), std::greater<>());
  out["depths"] = depths;
  out["sum_of_depths"] = {sum};

  // (b) A cube on a cube, turned by 45 degrees.
  const Box cube(Vec3{0.5 * c, 0.5 * c, 0.5 * c});
  const double root = std::sqrt(0.5);
  Transform above;
  above.rotation = {{{root, root, 0}, {-root, root, 0}, {0, 0, 1}}};
  above.translation = {0, 0, c - flat};
  result.clear();
  collide(cube, above, cube, Transform{}, {}, result);
  if (result.numManifolds() != 1) return out;
  const auto face = faceContact(cube, above, cube, Transform{}, result.manifolds()[0]);
  if (!face) return out;
  const std::vector<Vec3>& p = face->polygon;
  const std::size_t n = p.size();
  double perimeter = 0, radius = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    perimeter += norm(p[(i + 1) % n] - p[i]);
    radius = std::max(radius, std::hypot(p[i].x, p[i].y));
    for (std::size_t j = i + 1; j < n; ++j)
      for (std::size_t k = j + 1; k < n; ++k)
        for (std::size_t l = k + 1; l < n; ++l)
          largest = std::max(largest, quadArea(p[i], p[j], p[k], p[l]));
  }
  out["octagon_area"] = {face->area};
  out["octagon_perimeter"] = {perimeter};
  out["octagon_vertex_radius"] = {radius};
  out["octagon_depth"] = {result.manifolds()[0].depth()};
  // The hull of the points that the manifold keeps must be a large part of the octagon, and that of
  // any four of its corners tells how large it can be.
  const auto kept = result.manifolds()[0].contacts();
  if (kept.size() == 4) {
    std::vector<Vec3> q;
    for (const ContactPoint& point : kept) q.push_back(point.position);
    const Vec3 center = (q[0] + q[1] + q[2] + q[3]) * 0.25;
    std::sort(q.begin(), q.end(), [&](const Vec3& a, const Vec3& b) {
      return std::atan2(a.y - center.y, a.x - center.x) <
             std::atan2(b.y - center.y, b.x - center.x);
    });
    const double hull = quadArea(q[0], q[1], q[2], q[3]);
    if (hull >= 0.7 * face->area && hull <= largest * (1 + 1e-9))
      out["largest_4_point_hull_area"] = {largest};
  }
  return out;
}

}  // namespace tangere::cli
