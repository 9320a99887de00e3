// SPDX-License-Identifier: Apache-2.0
#include "metamorphic/step_way.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::test {

Real fastestOf(const Simulator& sim) {
  Real fastest = norm(sim.model().options().gravity) * sim.model().options().dt;
  for (const Vec3& v : sim.state().velocity) fastest = std::max(fastest, norm(v));
  return fastest;
}

Way wayOf(const Simulator& sim, const Case& scene, const State& start, int body) {
  const auto k = static_cast<std::size_t>(body);
  const Real dt = scene.options.dt;
  const Vec3& g = scene.options.gravity;
  const Vec3 &v0 = start.velocity[k], &v1 = sim.state().velocity[k];
  const Vec3 moved = sim.state().center[k] - start.center[k];
  Way way{.landing = start.center[k], .rest = v1 * dt, .turn = sim.state().angularVelocity[k] * dt};
  way.isPushed =
      std::any_of(sim.contacts().begin(), sim.contacts().end(), [&](const ContactForce& contact) {
        return (contact.body1 == body || contact.body2 == body) && norm(contact.force) > 0;
      });
  if (scene.options.solver != SolverType::Impulse ||
      sim.model().bodyType(body) != BodyType::Dynamic)
    return way;
  way.rest = moved;
  if (!way.isPushed) return way;
  // moved = v0 t + g t^2/2 + v1 (dt - t), along what the landing changed: a t^2 + b t + c = 0
  const Vec3 change = v1 - v0 - g * dt;
  const Real a = dot(change, g) / 2, b = dot(change, v0 - v1), c = dot(change, v1 * dt - moved);
  const auto unexplainedAt = [&](Real t) {
    return norm(moved - v0 * t - g * (t * t / 2) - v1 * (dt - t));
  };
  Real& t = way.time;
  for (int i = 0; i < 8; ++i) {
    const Real slope = 2 * a * t + b;
    if (slope < 0) t = std::clamp<Real>(t - (a * t * t + b * t + c) / slope, 0, dt);
  }
  // Where gravity undoes the change the other root may be the one, which explains all of the way.
  const Real explained = 1e-6 * fastestOf(sim) * dt;
  const Real q = -(b + std::copysign(std::sqrt(std::max<Real>(b * b - 4 * a * c, 0)), b)) / 2;
  for (const Real root : {q / a, c / q}) {
    if (unexplainedAt(t) <= explained || !(root >= 0 && root <= dt)) continue;
    if (unexplainedAt(root) <= explained) t = root;
  }
  way.unexplained = unexplainedAt(t);
  way.early = v0 * t + g * (t * t / 2);
  way.earlyTurn = start.angularVelocity[k] * t;
  way.landing += way.early;
  way.rest = moved - way.early;
  way.turn = sim.state().angularVelocity[k] * (dt - t);
  return way;
}

Way flown(Way way, const Case& scene, const Simulator& sim, const State& start, int body,
          Real time) {
  if (sim.model().bodyType(body) != BodyType::Dynamic) return way;
  const auto k = static_cast<std::size_t>(body);
  way.early = start.velocity[k] * time + scene.options.gravity * (time * time / 2);
  way.earlyTurn = start.angularVelocity[k] * time;
  way.landing += way.early;
  way.rest -= way.early;
  way.turn *= 1 - time / scene.options.dt;
  way.time = time;
  return way;
}

}  // namespace tangere::test
