// SPDX-License-Identifier: Apache-2.0
//
// The grasp of the dynamics peer harness: an arm with a gripper lifts and holds a box.
// --set model=arm.xml --set plan=arm_plan.txt; contact=hydro: all of it compliant, with modulus and
// relax.
#include <tangere/scene.hpp>
#include <tangere/simulator.hpp>

#include "arm_common.h"
#include "peer.h"

#include <filesystem>

namespace {

class TangereArm : public peer::Engine {
 public:
  std::string name() const override { return "tangere"; }
  std::string version() const override { return TANGERE_VERSION_STRING; }

  void build(const peer::Scene&, const peer::Options& options) override {
    using namespace tangere;
    plan_ = std::make_unique<peer::ArmPlan>(options.get("plan", "arm_plan.txt"));
    const std::filesystem::path file = options.get("model", "arm.xml");
    const Scene scene =
        options.get("contact", "point") == "hydro"
            ? readSceneToml("[[model]]\nfile = \"" + file.filename().string() +
                                "\"\ncontact = { model = \"hydroelastic\", modulus = " +
                                options.get("modulus", "1e7") +
                                ", relaxation_time = " + options.get("relax", "0.1") + " }\n",
                            file.parent_path())
            : loadScene(file);
    SimulationOptions sim = scene.model.options();
    sim.dt = options.dt;
    simulator_ = std::make_unique<Simulator>(scene.model.withOptions(sim), options.threads);
    std::vector<Real> q = simulator_->state().q;
    plan_->at(0, q.data());
    simulator_->setPositions(q);
    control_.assign(9, 0);
    hand_ = simulator_->model().findBody("hand");
    box_ = simulator_->model().findBody("box");
  }

  void step(double dt) override {
    plan_->at(simulator_->state().time + dt, control_.data());
    simulator_->setControls(control_);
    simulator_->step();
  }

  void state(int index, peer::State& out) const override {
    const tangere::BodyState s = simulator_->body(index == 1 ? box_ : hand_);
    for (int k = 0; k < 3; ++k) {
      out.p[k] = s.pose.translation[k];
      out.v[k] = s.linearVelocity[k];
      out.w[k] = s.angularVelocity[k];
    }
    out.q[0] = s.orientation.w;
    out.q[1] = s.orientation.x;
    out.q[2] = s.orientation.y;
    out.q[3] = s.orientation.z;
  }

  int contacts() const override { return simulator_->report().numContacts; }

 private:
  std::unique_ptr<tangere::Simulator> simulator_;
  std::unique_ptr<peer::ArmPlan> plan_;
  std::vector<double> control_;
  int hand_ = -1, box_ = -1;
};

}  // namespace

PEER_MAIN(TangereArm)
