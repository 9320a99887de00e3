// SPDX-License-Identifier: Apache-2.0
//
// Throughput of the grasp over many environments, as the harness measures MuJoCo's rollout.
// peer_tangere_batch SCENES [environments] [threads] [steps]
#include <tangere/batch.hpp>
#include <tangere/scene.hpp>

#include "arm_common.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace tangere;
  const std::string folder = argc > 1 ? argv[1] : ".";
  const int envs = argc > 2 ? std::atoi(argv[2]) : 64;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  const int steps = argc > 4 ? std::atoi(argv[4]) : 4500;
  const peer::ArmPlan plan(folder + "/arm_plan.txt");
  const Model model = loadScene(folder + "/arm.xml").model;
  const Real dt = model.options().dt;
  std::vector<Real> one(static_cast<std::size_t>(steps) * 9);
  for (int k = 0; k < steps; ++k) plan.at(dt * (k + 1), one.data() + 9 * k);
  std::vector<Real> controls;
  BatchedSimulator batch(model, envs, threads);
  for (int env = 0; env < envs; ++env) {
    controls.insert(controls.end(), one.begin(), one.end());
    std::vector<Real> q = batch.environment(env).state().q;
    plan.at(0, q.data());
    q[9] += 0.003 * (2.0 * env / envs - 1);
    q[10] += 0.003 * (2.0 * (env * 7 % envs) / envs - 1);
    batch.environment(env).setPositions(q);
  }
  const auto begin = std::chrono::steady_clock::now();
  batch.rollout(steps, controls);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int held = 0;
  for (int env = 0; env < envs; ++env) held += batch.environment(env).state().q[11] > 0.1 ? 1 : 0;
  std::printf("tangere envs=%d threads=%d steps=%d wall_s=%.4f env_steps_per_s=%.0f held=%d\n",
              envs, threads, steps, wall, envs * static_cast<double>(steps) / wall, held);
}
