// SPDX-License-Identifier: Apache-2.0
#include "verify_kernels.hpp"

#include <tangere/collision.hpp>
#include <tangere/contact_handler.hpp>
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

/// The regularized friction cone as it was published (Castro, Permenter, Han 2022), with the
/// dissipation before a gap is closed as well: the contacts of the engine leave that out.
class PublishedContact final : public ContactHandler {
 public:
  struct Law {
    double stiffness, dissipationTime, friction, beta, sigma, gap;
  };
  PublishedContact(int body, const Law& law) : body_(body), law_(law) {}

  int detect(const HandlerView& view) override {
    center_ = view.centerOfMass(body_);
    return 1;
  }
  ConstraintRows rows(int) const override {
    ConstraintRows out;
    out.body1 = body_;
    out.numRows = 3;
    const std::array<Vec3, 3> directions{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};
    for (std::size_t i = 0; i < 3; ++i) {
      out.row[i].direction = directions[i];
      out.row[i].point1 = out.row[i].point2 = center_;
    }
    return out;
  }
  void prepare(int, Real dt, int, const Real* delassus) override {
    const double w = delassus[0], time = dt + law_.dissipationTime;
    rn_ = std::max(law_.beta * law_.beta / (4 * kPi * kPi) * w, 1 / (dt * law_.stiffness * time));
    rt_ = law_.sigma * w;
    target_ = -law_.gap / time;
  }
  Real evaluate(int, const Real* vc, Real* gamma, Real* hessian) const override {
    const double y0 = -vc[0] / rt_, y1 = -vc[1] / rt_, yn = (target_ - vc[2]) / rn_;
    const double length = std::hypot(y0, y1), mu = law_.friction, muHat = mu * rt_ / rn_;
    gamma[0] = gamma[1] = gamma[2] = 0;
    if (hessian != nullptr) std::fill(hessian, hessian + 9, 0);
    if (!(yn > -muHat * length)) return 0;
    if (length <= mu * yn) {
      gamma[0] = y0;
      gamma[1] = y1;
      gamma[2] = yn;
      if (hessian != nullptr) {
        hessian[0] = hessian[4] = 1 / rt_;
        hessian[8] = 1 / rn_;
      }
    } else {
      const double factor = 1 / (1 + mu * muHat), t0 = y0 / length, t1 = y1 / length;
      const double normal = factor * (yn + muHat * length);
      gamma[0] = mu * normal * t0;
      gamma[1] = mu * normal * t1;
      gamma[2] = normal;
      if (hessian != nullptr) {
        const double along = mu * factor * muHat / rt_, across = mu * normal / (length * rt_);
        hessian[0] = along * t0 * t0 + across * t1 * t1;
        hessian[1] = hessian[3] = (along - across) * t0 * t1;
        hessian[4] = along * t1 * t1 + across * t0 * t0;
        hessian[2] = hessian[6] = mu * factor / rn_ * t0;
        hessian[5] = hessian[7] = mu * factor / rn_ * t1;
        hessian[8] = factor / rn_;
      }
    }
    return 0.5 * (rt_ * (gamma[0] * gamma[0] + gamma[1] * gamma[1]) + rn_ * gamma[2] * gamma[2]);
  }
  [[nodiscard]] double normalRegularization() const { return rn_; }
  [[nodiscard]] double tangentRegularization() const { return rt_; }

 private:
  int body_;
  Law law_;
  Vec3 center_{};
  double rn_ = 0, rt_ = 0, target_ = 0;
};

}  // namespace

Measured sapContact(const Json& parameters, const Lane&) {
  const double mass = positive(parameters, "m"), g = number(parameters, "g"),
               dt = positive(parameters, "dt"), mu = number(parameters, "mu");
  if (!parameters.contains("states") || !parameters["states"].is_array())
    throw InvalidInput("parameter 'states' must be a list");
  Measured out;
  int index = 0;
  for (const Json& state : parameters["states"]) {
    ModelBuilder builder;
    SimulationOptions options = accurateOptions({.dt = dt, .solver = SolverType::Sap}, {0, 0, -g});
    options.sap.relativeTolerance = 1e-15;
    options.sap.absoluteTolerance = 1e-18;
    options.sap.lineSearchTolerance = 1e-8;
    builder.setOptions(options);
    Body body{.name = "point"};
    const double moment = 1e-3 * mass;
    body.massProperties =
        MassProperties{.mass = mass, .inertia = {{{moment, 0, 0}, {0, moment, 0}, {0, 0, moment}}}};
    body.linearVelocity = {number(state, "vt0"), 0, number(state, "vn0")};
    builder.addBody(body);
    Simulator simulator(builder.build());
    const auto contact = std::make_shared<PublishedContact>(
        0, PublishedContact::Law{positive(parameters, "k"), number(parameters, "tau_d"), mu,
                                 number(parameters, "beta"), positive(parameters, "sigma"),
                                 number(state, "phi0")});
    simulator.addContactHandler(contact);
    simulator.step();
    const HandlerForce& force = simulator.handlerForces(0)[0];
    const Vec3 v = simulator.body(0).linearVelocity;
    const double tangent = force.force[0] * dt, normal = force.force[2] * dt;
    const std::string name = "state" + std::to_string(index++);
    const bool isOpen = !(normal > 0),
               isStuck = std::fabs(tangent) < mu * normal * (1 - 1e-9) || tangent == 0;
    out[name + "_regime"] = {labelCode(isOpen ? "open" : isStuck ? "stick" : "slide")};
    out[name + "_v"] = {v.x, v.z};
    out[name + "_gamma"] = {tangent, normal};
    out["Rn"] = {contact->normalRegularization()};
    out["Rt"] = {contact->tangentRegularization()};
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
