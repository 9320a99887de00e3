// SPDX-License-Identifier: Apache-2.0
//
// Times of mass matrix, bias force and forward dynamics: a humanoid of 30 velocities, free bodies,
// a chain. With MuJoCo (CMake: TANGERE_MUJOCO) the same humanoid in the same run, call by call, and
// a check that both compute the same.
//
// usage: bench_dynamics [REPEATS]
#include <tangere/dynamics.hpp>

#include "humanoid.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#ifdef TANGERE_HAS_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace {

using namespace tangere;

/// One thing to time; all are run in turn, so that noise of the machine meets all alike.
struct Task {
  std::string name;
  std::function<void()> run;
  std::vector<Real> nanoseconds{};

  [[nodiscard]] Real best() const {
    return *std::min_element(nanoseconds.begin(), nanoseconds.end());
  }
  [[nodiscard]] Real median() const {
    std::vector<Real> sorted = nanoseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

void timeAll(std::vector<Task>& tasks, int repeats) {
  constexpr int kCalls = 200;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Task& task : tasks) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kCalls; ++i) task.run();
      const auto end = std::chrono::steady_clock::now();
      task.nanoseconds.push_back(std::chrono::duration<Real, std::nano>(end - start).count() /
                                 kCalls);
    }
  }
}

void print(const std::vector<Task>& tasks) {
  for (const Task& task : tasks)
    std::printf("%-44s best %9.0f ns   median %9.0f ns\n", task.name.c_str(), task.best(),
                task.median());
}

/// A state in motion: the same numbers everywhere.
State movingState(const Model& model) {
  State state(model);
  std::vector<Real> turn(state.v.size());
  for (std::size_t k = 0; k < turn.size(); ++k) {
    turn[k] = 0.3 * std::sin(1.0 + 2.7 * static_cast<Real>(k));
    state.v[k] = std::cos(3.0 + 1.9 * static_cast<Real>(k));
  }
  state.q = integratePositions(model, state.q, turn, 1);
  return state;
}

struct Ours {
  explicit Ours(Model made)
      : model(std::move(made)),
        state(movingState(model)),
        dynamics(model),
        matrix(state.v.size() * state.v.size()),
        bias(state.v.size()),
        force(state.v.size()),
        acceleration(state.v.size()) {
    dynamics.setState(state.q, state.v);
  }

  Model model;
  State state;
  Dynamics dynamics;
  std::vector<Real> matrix, bias, force, acceleration;
};

void addTasks(const std::string& name, Ours& o, std::vector<Task>& tasks) {
  tasks.push_back(
      {name + ": positions, velocities", [&o] { o.dynamics.setState(o.state.q, o.state.v); }});
  tasks.push_back({name + ": all, factors", [&o] {
                     o.dynamics.setState(o.state.q, o.state.v);
                     o.dynamics.biasForce(o.bias);
                     o.dynamics.forwardDynamicsByFactors(o.force, o.acceleration);
                   }});
  tasks.push_back({name + ": dense mass matrix", [&o] {
                     o.dynamics.setState(o.state.q, o.state.v);
                     o.dynamics.massMatrix(o.matrix);
                   }});
  tasks.push_back({name + ": all, articulated bodies", [&o] {
                     o.dynamics.setState(o.state.q, o.state.v);
                     o.dynamics.forwardDynamics(o.force, o.acceleration);
                   }});
}

Model freeBodies(int count) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  for (int i = 0; i < count; ++i) {
    Body body;
    body.name = "body" + std::to_string(i);
    body.pose.translation = {Real(i), 0, 1};
    body.massProperties = MassProperties{.mass = 1, .inertia = Mat3::identity()};
    builder.addBody(body);
  }
  return builder.build();
}

Model chain(int count) {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  for (int i = 0; i < count; ++i) {
    Body body;
    body.name = "link" + std::to_string(i);
    if (i > 0) body.parent = "link" + std::to_string(i - 1);
    body.pose.translation = {0, 0, -0.1};
    body.massProperties =
        MassProperties{.mass = 0.1, .center = {0, 0, -0.05}, .inertia = Mat3::identity()};
    Joint joint;
    joint.name = body.name;
    joint.axis = i % 2 == 0 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    body.joints = {joint};
    builder.addBody(body);
  }
  return builder.build();
}

#ifdef TANGERE_HAS_MUJOCO
struct Theirs {
  explicit Theirs(const Ours& ours) {
    char error[1000] = "";
    mjSpec* spec =
        mj_parseXMLString(workload::humanoidMjcf().c_str(), nullptr, error, sizeof error);
    model = spec != nullptr ? mj_compile(spec, nullptr) : nullptr;
    if (model == nullptr) {
      std::fprintf(stderr, "MuJoCo: %s\n", error);
      std::exit(1);
    }
    mj_deleteSpec(spec);
    data = mj_makeData(model);
    acceleration.resize(static_cast<std::size_t>(model->nv));
    ourVelocity.resize(acceleration.size());
    for (int b = 1; b < model->nbody; ++b) copyBody(ours, b);
  }
  Theirs(const Theirs&) = delete;
  Theirs& operator=(const Theirs&) = delete;
  ~Theirs() {
    mj_deleteData(data);
    mj_deleteModel(model);
  }

  void copyBody(const Ours& ours, int b) {
    const std::string name = mj_id2name(model, mjOBJ_BODY, b);
    for (int j = 0; j < model->body_jntnum[b]; ++j) {
      const int id = model->body_jntadr[b] + j;
      const bool isFree = model->jnt_type[id] == mjJNT_FREE;
      const int ourJoint = ours.model.findJoint(isFree ? name : name + "_" + std::to_string(j));
      const int q = ours.model.positionOfJoint(ourJoint), v = ours.model.velocityOfJoint(ourJoint);
      for (int i = 0; i < (isFree ? 7 : 1); ++i)
        data->qpos[model->jnt_qposadr[id] + i] = ours.state.q[q + i];
      for (int i = 0; i < (isFree ? 6 : 1); ++i) {
        data->qvel[model->jnt_dofadr[id] + i] = ours.state.v[v + i];
        ourVelocity[model->jnt_dofadr[id] + i] = v + i;
      }
    }
  }
  void computePositions() {
    mj_kinematics(model, data);
    mj_comPos(model, data);
    mj_comVel(model, data);
  }
  void computeDynamics() {
    mj_makeM(model, data);
    mj_factorM(model, data);
    mj_rne(model, data, 0, data->qfrc_bias);
    for (int k = 0; k < model->nv; ++k) data->qfrc_smooth[k] = -data->qfrc_bias[k];
    mj_solveM(model, data, acceleration.data(), data->qfrc_smooth, 1);
  }
  /// The largest difference of accelerations, relative.
  [[nodiscard]] Real difference(const Ours& ours) const {
    Real most = 0, size = 0;
    for (std::size_t k = 0; k < acceleration.size(); ++k) {
      most = std::max(most, std::fabs(acceleration[k] - ours.acceleration[ourVelocity[k]]));
      size = std::max(size, std::fabs(acceleration[k]));
    }
    return most / size;
  }

  mjModel* model = nullptr;
  mjData* data = nullptr;
  std::vector<Real> acceleration;
  std::vector<int> ourVelocity;
};
#endif

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 100;
  Ours humanoid(workload::humanoidModel()), free(freeBodies(100)), chain100(chain(100));
  std::vector<Task> tasks;
  addTasks("humanoid, 30", humanoid, tasks);
  tasks.push_back({"100 free bodies: positions, velocities",
                   [&free] { free.dynamics.setState(free.state.q, free.state.v); }});
  tasks.push_back({"100 free bodies: forward dynamics", [&free] {
                     free.dynamics.forwardDynamicsByFactors(free.force, free.acceleration);
                   }});
  tasks.push_back({"chain of 100: forward dynamics, bodies", [&chain100] {
                     chain100.dynamics.forwardDynamics(chain100.force, chain100.acceleration);
                   }});
  tasks.push_back({"chain of 100: forward dynamics, factors", [&chain100] {
                     chain100.dynamics.forwardDynamicsByFactors(chain100.force,
                                                                chain100.acceleration);
                   }});
#ifdef TANGERE_HAS_MUJOCO
  Theirs theirs(humanoid);
  tasks.push_back(
      {"MuJoCo humanoid: positions, velocities", [&theirs] { theirs.computePositions(); }});
  tasks.push_back({"MuJoCo humanoid: all", [&theirs] {
                     theirs.computePositions();
                     theirs.computeDynamics();
                   }});
#endif
  timeAll(tasks, repeats);
  print(tasks);
#ifdef TANGERE_HAS_MUJOCO
  const Real difference = theirs.difference(humanoid);
  const auto best = [&](const std::string& name) {
    return std::find_if(tasks.begin(), tasks.end(), [&](const Task& t) { return t.name == name; })
        ->best();
  };
  const Real ours = best("humanoid, 30: all, factors"), peer = best("MuJoCo humanoid: all");
  const Real ourRest = ours - best("humanoid, 30: positions, velocities");
  const Real peerRest = peer - best("MuJoCo humanoid: positions, velocities");
  std::printf("accelerations differ by %.1e\n", difference);
  std::printf("ours / MuJoCo: all %.2f, without positions and velocities %.2f\n", ours / peer,
              ourRest / peerRest);
  if (!(difference < 1e-10)) {
    std::fprintf(stderr, "not the same: the times say nothing\n");
    return 1;
  }
#endif
  return 0;
}
