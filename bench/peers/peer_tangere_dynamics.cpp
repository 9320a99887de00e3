// SPDX-License-Identifier: Apache-2.0
//
// Tangere as one engine of the dynamics peer harness: same scenes, same clock, same checker.
// --set NAME=VALUE: solver (impulse, sap); contact (point, hydro: compliant bodies on rigid
// ground), modulus, hint, relax, as the other peers have them; substeps, sweeps, exact, slop, rate,
// cache, tolerance.
#include <tangere/simulator.hpp>

#include "peer.h"

namespace {

class TangereEngine : public peer::Engine {
 public:
  std::string name() const override { return "tangere"; }
  std::string version() const override { return TANGERE_VERSION_STRING; }

  void build(const peer::Scene& scene, const peer::Options& options) override {
    using namespace tangere;
    ModelBuilder builder;
    SimulationOptions sim = builder.options();
    sim.dt = options.dt;
    sim.gravity = {scene.gravity[0], scene.gravity[1], scene.gravity[2]};
    sim.sleep.enabled = false;
    if (options.get("solver", "impulse") == "sap") sim.solver = SolverType::Sap;
    sim.impulse.numSubsteps = int(options.num("substeps", sim.impulse.numSubsteps));
    sim.impulse.numSweeps = int(options.num("sweeps", sim.impulse.numSweeps));
    sim.impulse.maxExactPoints = int(options.num("exact", sim.impulse.maxExactPoints));
    sim.impulse.slop = options.num("slop", sim.impulse.slop);
    sim.impulse.correctionRate = options.num("rate", sim.impulse.correctionRate);
    sim.impulse.tolerance = options.num("tolerance", sim.impulse.tolerance);
    sim.patchCache.enabled = options.num("cache", 1) != 0;
    builder.setOptions(sim);
    Material material{
        .name = "default", .friction = scene.friction, .restitution = scene.restitution};
    if (options.get("contact", "point") == "hydro") {
      material.contact = ContactModel::Hydroelastic;
      material.relaxationTime = options.num("relax", 0.1);
      material.hydroelasticResolution = options.num("hint", 0.02);
      material.hydroelasticModulus = kUnlimited;
    }
    builder.addMaterial(material);
    material.name = "moving";
    material.hydroelasticModulus = options.num("modulus", 1e7);
    builder.addMaterial(material);

    std::vector<std::shared_ptr<const Shape>> hulls;
    for (const std::vector<double>& v : scene.hulls) {
      std::vector<Vec3> points;
      for (size_t i = 0; i + 2 < v.size(); i += 3) points.push_back({v[i], v[i + 1], v[i + 2]});
      hulls.push_back(std::make_shared<Convex>(points));
    }
    names_.clear();
    int index = 0;
    for (const peer::Body& body : scene.bodies) {
      char name[32];
      std::snprintf(name, sizeof name, "%s%06d", body.dynamic ? "body" : "fixed", index++);
      std::shared_ptr<const Shape> shape;
      if (body.kind == peer::ShapeKind::Sphere)
        shape = std::make_shared<Sphere>(body.r);
      else if (body.kind == peer::ShapeKind::Box)
        shape = std::make_shared<Box>(Vec3{body.h[0], body.h[1], body.h[2]});
      else
        shape = hulls[size_t(body.hull)];
      Body b{.name = name, .type = body.dynamic ? BodyType::Dynamic : BodyType::Fixed};
      b.pose.rotation = rotationMatrix(Quat{body.q[0], body.q[1], body.q[2], body.q[3]});
      b.pose.translation = {body.p[0], body.p[1], body.p[2]};
      b.shapes.push_back({.shape = shape, .material = body.dynamic ? "moving" : ""});
      if (body.dynamic) {
        b.massProperties = MassProperties{
            .mass = body.mass,
            .inertia = {
                {{body.inertia[0], 0, 0}, {0, body.inertia[1], 0}, {0, 0, body.inertia[2]}}}};
        names_.push_back(name);
      }
      builder.addBody(b);
    }
    simulator_ = std::make_unique<Simulator>(builder.build(), options.threads);
    bodies_.clear();
    for (const std::string& name : names_) bodies_.push_back(simulator_->model().findBody(name));
  }

  void step(double) override { simulator_->step(); }

  void state(int index, peer::State& out) const override {
    const tangere::State& s = simulator_->state();
    const auto i = size_t(bodies_[size_t(index)]);
    for (int k = 0; k < 3; ++k) {
      out.p[k] = s.center[i][k];
      out.v[k] = s.velocity[i][k];
      out.w[k] = s.angularVelocity[i][k];
    }
    const tangere::Quat& q = s.orientation[i];
    out.q[0] = q.w;
    out.q[1] = q.x;
    out.q[2] = q.y;
    out.q[3] = q.z;
  }

  int contacts() const override { return simulator_->report().numContacts; }

 private:
  std::unique_ptr<tangere::Simulator> simulator_;
  std::vector<std::string> names_;
  std::vector<int> bodies_;
};

}  // namespace

PEER_MAIN(TangereEngine)
