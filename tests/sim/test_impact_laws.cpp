// SPDX-License-Identifier: Apache-2.0
//
// Impacts against what can be worked out by hand: where two bodies touch decides, not where they
// were when the step began; one impact is one impact, wherever in a step it falls; impacts at the
// same time are one problem, whatever the bodies are called.
#include "sim/checked_simulation.hpp"

namespace tangere::test {
namespace {

struct Momenta {
  Vec3 linear{}, angular{};
};

/// Of all bodies, about the origin of the world.
Momenta momentaOf(const Simulator& sim) {
  Momenta sum;
  for (int i = 0; i < sim.model().numBodies(); ++i) {
    if (sim.model().bodyType(i) != BodyType::Dynamic) continue;
    const auto k = static_cast<std::size_t>(i);
    const MassProperties& mass = sim.model().massProperties(i);
    const Mat3 R = rotationMatrix(sim.state().orientation[k]);
    sum.linear += sim.state().velocity[k] * mass.mass;
    sum.angular += cross(sim.state().center[k], sim.state().velocity[k] * mass.mass) +
                   R * (mass.inertia * transposeTimes(R, sim.state().angularVelocity[k]));
  }
  return sum;
}

struct Spinning {
  Vec3 velocity{}, spin{};
};

/// A ball that hits another.
struct ObliqueHit {
  Real radius1 = 0.02, radius2 = 0.02;
  Real speed = 3;
  Real offset = 0.5;  ///< of the line of flight from the second centre, of the sum of the radii
  Real friction = 0.3, restitution = 0.8;
  Vec3 spin1{}, spin2{};
  Real dt = 1e-3;
};

constexpr Real kSteel = 7800;

Scene sceneOf(const ObliqueHit& hit, Real ahead) {
  Scene scene;
  scene.options.dt = hit.dt;
  scene.options.gravity = {};
  scene.options.sleep.enabled = false;
  scene.options.restitutionThreshold = 1e-3;
  scene.materials = {
      {.name = "m", .density = kSteel, .friction = hit.friction, .restitution = hit.restitution}};
  const Real reach = hit.radius1 + hit.radius2;
  scene.bodies = {bodyOf("a", ball(hit.radius1), {-reach - ahead, hit.offset * reach, 0},
                         Mat3::identity(), "m"),
                  bodyOf("b", ball(hit.radius2), {}, Mat3::identity(), "m")};
  scene.bodies[0].linearVelocity = {hit.speed, 0, 0};
  scene.bodies[0].angularVelocity = hit.spin1;
  scene.bodies[1].angularVelocity = hit.spin2;
  return scene;
}

/// Newton's law along the line of centres where they touch; Coulomb's across it. For balls the two
/// do not mix.
std::pair<Spinning, Spinning> closedForm(const ObliqueHit& hit) {
  constexpr Real kPi = 3.14159265358979323846;
  const auto massOf = [&](Real r) { return kSteel * 4 * kPi * r * r * r / 3; };
  const Real m1 = massOf(hit.radius1), m2 = massOf(hit.radius2);
  const Real i1 = 0.4 * m1 * hit.radius1 * hit.radius1, i2 = 0.4 * m2 * hit.radius2 * hit.radius2;
  const Vec3 n{-std::sqrt(1 - hit.offset * hit.offset), hit.offset, 0};  // from b to a
  const Vec3 r1 = n * -hit.radius1, r2 = n * hit.radius2;
  const Vec3 v = Vec3{hit.speed, 0, 0} + cross(hit.spin1, r1) - cross(hit.spin2, r2);
  const Real vn = dot(n, v);
  const Vec3 slip = v - n * vn;
  const Real pn = -(1 + hit.restitution) * vn / (1 / m1 + 1 / m2);
  const Real stop = norm(slip) / (1 / m1 + 1 / m2 + hit.radius1 * hit.radius1 / i1 +
                                  hit.radius2 * hit.radius2 / i2);
  const Real pt = std::min(hit.friction * pn, stop);
  const Vec3 p = n * pn - (norm(slip) > 0 ? slip * (pt / norm(slip)) : Vec3{});
  return {{Vec3{hit.speed, 0, 0} + p * (1 / m1), hit.spin1 + cross(r1, p) * (1 / i1)},
          {p * (-1 / m2), hit.spin2 - cross(r2, p) * (1 / i2)}};
}

/// Largest error of the velocities after the impact, of the speed of approach, and of the spins at
/// the surface.
Real errorOf(const ObliqueHit& hit, Real ahead) {
  CheckedSimulation run(sceneOf(hit, ahead));
  const Momenta before = momentaOf(run.sim);
  run.run(static_cast<int>((ahead + 2 * (hit.radius1 + hit.radius2)) / (hit.speed * hit.dt)) + 3);
  const Momenta after = momentaOf(run.sim);
  const Real size = norm(before.linear);
  EXPECT_LT(norm(after.linear - before.linear), 1e-13 * size);
  EXPECT_LT(norm(after.angular - before.angular), 1e-13 * size * (1 + ahead)) << ahead;
  const auto [a, b] = closedForm(hit);
  return std::max({norm(run.velocity("a") - a.velocity), norm(run.velocity("b") - b.velocity),
                   norm(run.spin("a") - a.spin) * hit.radius1,
                   norm(run.spin("b") - b.spin) * hit.radius2}) /
         hit.speed;
}

TEST(ImpactLaws, AnObliqueImpactOfBallsIsThatOfWhereTheyTouchAtEveryStartPhase) {
  const ObliqueHit hits[] = {
      {},
      {.friction = 0},
      {.restitution = 0},
      {.radius2 = 0.05, .offset = 0.8, .restitution = 1},
      {.radius1 = 0.05, .radius2 = 0.01, .speed = 1, .offset = -0.3, .dt = 4e-3},
      {.speed = 7,
       .friction = 0.6,
       .restitution = 0.4,
       .spin1 = {3, -20, 40},
       .spin2 = {0, 5, -30}},
  };
  for (const ObliqueHit& hit : hits) {
    for (int phase = 0; phase < 20; ++phase) {
      const Real ahead = hit.speed * hit.dt * (2 + phase / 20.0);
      EXPECT_LT(errorOf(hit, ahead), 1e-9) << &hit - hits << ", phase " << phase;
    }
  }
}

TEST(ImpactLaws, BodiesOfEveryShapeKeepTheirMomentaInAnImpact) {
  const std::shared_ptr<const Shape> shapes[] = {ball(0.1), cube(0.1), box(0.3, 0.1, 0.05),
                                                 std::make_shared<Capsule>(0.05, 0.3),
                                                 std::make_shared<Cylinder>(0.1, 0.15)};
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap}) {
    for (const Real e : {0.0, 0.5}) {
      for (int k = 0; k < 50; ++k) {
        Scene scene;
        scene.options.solver = solver;
        scene.options.gravity = {};
        scene.options.dt = k % 2 == 0 ? 1e-3 : 5e-3;
        scene.options.sleep.enabled = false;
        scene.materials = {{.name = "m", .friction = 0.4, .restitution = e}};
        scene.bodies = {bodyOf("a", shapes[k % 5], {-0.8, 0.01 * (k % 7), 0.013 * (k % 3)},
                               turnAbout({1, 2, 3}, 0.7 * k), "m"),
                        bodyOf("b", shapes[(k / 5) % 5], {}, turnAbout({3, 1, 0}, 1.1 * k), "m")};
        scene.bodies[0].linearVelocity = {3 + 0.03 * k, 0.02, 0};
        scene.bodies[0].angularVelocity = {0.3, -2, 1};
        scene.bodies[1].angularVelocity = {1, 3, 2};
        CheckedSimulation run(scene);
        if (solver == SolverType::Sap) run.ledgerTolerance = 1e-6;
        const Momenta before = momentaOf(run.sim);
        const Real start = run.velocity("a").x;
        while (run.sim.state().time < 1 && run.velocity("a").x == start) run.step();
        // The impact itself, and what it leaves; later ones may push overlaps apart.
        const Momenta after = momentaOf(run.sim);
        const Real size = norm(before.linear);
        EXPECT_LT(norm(after.linear - before.linear), 1e-12 * size);
        EXPECT_LT(norm(after.angular - before.angular), 1e-12 * size)
            << k << " e " << e << " solver " << static_cast<int>(solver);
      }
    }
  }
}

// --- Landing without a bounce -----------------------------------------------------------------

/// A cube that comes down on a corner.
struct CornerLanding {
  Real half = 0.1, friction = 0.3;
  Vec3 velocity{1, 0.3, -2}, spin{2, -1, 3};
  Vec3 axis{1, 2, 0.5};
  Real angle = 0.8;
};

Vec3 lowestCorner(Real half, const Mat3& R) {
  Vec3 lowest{};
  for (int k = 0; k < 8; ++k) {
    const Vec3 corner = R * Vec3{(k & 1) != 0 ? half : -half, (k & 2) != 0 ? half : -half,
                                 (k & 4) != 0 ? half : -half};
    if (k == 0 || corner.z < lowest.z) lowest = corner;
  }
  return lowest;
}

/// Velocities of the cube after the one impact at its lowest corner, `arm` from its centre: the
/// corner stops along the normal, and across it as far as Coulomb's law allows.
Spinning landed(const CornerLanding& landing, const Vec3& arm, const Vec3& velocity) {
  const Real m = 8 * landing.half * landing.half * landing.half * 1000;
  const Real i = 2.0 / 3 * m * landing.half * landing.half;
  const Vec3 v = velocity + cross(landing.spin, arm);
  const auto response = [&](const Vec3& p) {
    return p * (1 / m) + cross(cross(arm, p), arm) * (1 / i);
  };
  // Sliding at the angle a of the impulse: the slip after it is opposite. The right angle is where
  // that holds; sticking where the friction it needs is within the cone.
  const Mat3 W{response({1, 0, 0}), response({0, 1, 0}), response({0, 0, 1})};
  const auto solve = [](const Mat3& a, const Vec3& b) {
    const Real det = dot(a.col[0], cross(a.col[1], a.col[2]));
    return Vec3{dot(b, cross(a.col[1], a.col[2])), dot(a.col[0], cross(b, a.col[2])),
                dot(a.col[0], cross(a.col[1], b))} *
           (1 / det);
  };
  Vec3 p = solve(W, -v);
  if (std::sqrt(p.x * p.x + p.y * p.y) > landing.friction * p.z) {
    Real a = std::atan2(-v.y, -v.x);
    for (int k = 0; k < 5000; ++k) {
      const Vec3 u{landing.friction * std::cos(a), landing.friction * std::sin(a), 1};
      p = u * (-v.z / response(u).z);
      const Vec3 after = v + response(p);
      const Real wanted = std::atan2(-after.y, -after.x);
      a += 0.2 * std::remainder(wanted - a, 2 * 3.14159265358979323846);
    }
  }
  return {velocity + p * (1 / m), landing.spin + cross(arm, p) * (1 / i)};
}

/// Error of the spin after the landing, of its change.
Real landingError(const CornerLanding& landing, Real dt, Real phase, Real gravity) {
  const Mat3 start = turnAbout(landing.axis, landing.angle);
  // The time of the impact, by halving: the corner goes down until then.
  const Real flight = 8.3e-3 + phase * dt;
  const auto orientationAt = [&](Real t) {
    return turnAbout(landing.spin, norm(landing.spin) * t) * start;
  };
  const Vec3 arm = lowestCorner(landing.half, orientationAt(flight));
  const Vec3 down{0, 0, -gravity};
  const Real height = -arm.z - landing.velocity.z * flight + 0.5 * gravity * flight * flight;
  Scene scene;
  scene.options.dt = dt;
  scene.options.gravity = down;
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .friction = landing.friction}};
  scene.bodies = {floorOf("m"), bodyOf("cube", cube(landing.half), {0, 0, height}, start, "m")};
  scene.bodies[1].linearVelocity = landing.velocity;
  scene.bodies[1].angularVelocity = landing.spin;
  CheckedSimulation run(scene);
  while (run.sim.state().time < flight + 2.01 * dt) run.step();
  const Spinning want = landed(landing, arm, landing.velocity + down * flight);
  return norm(run.spin("cube") - want.spin) / norm(want.spin - landing.spin);
}

TEST(ImpactLaws, ALandingCornerStopsInOneImpactWhereverInTheStepItLands) {
  const CornerLanding landings[] = {
      {},
      {.friction = 0.1},
      {.friction = 0.6},
      {.friction = 0},
      {.half = 0.03, .friction = 0.4, .velocity = {-0.5, 2, -1}, .spin = {5, 4, -2}, .angle = 1.4},
      {.half = 0.2,
       .friction = 0.8,
       .velocity = {3, 0, -3},
       .spin = {0, 3, 0},
       .axis = {0.1, 1, 0.2},
       .angle = 0.5}};
  for (const CornerLanding& landing : landings) {
    for (const Real dt : {1e-3, 2.5e-4}) {
      Real worst = 0;
      for (int k = 0; k < 20; ++k) worst = std::max(worst, landingError(landing, dt, k / 20.0, 0));
      EXPECT_LT(worst, 1e-9) << &landing - landings << " " << dt;
    }
  }
}

TEST(ImpactLaws, ALandingUnderGravityConvergesWithTheStep) {
  for (const Real friction : {0.0, 0.1, 0.3, 0.6}) {
    Real worst[3];
    int i = 0;
    for (const Real dt : {2e-3, 1e-3, 5e-4}) {
      worst[i] = 0;
      for (int k = 0; k < 20; ++k)
        worst[i] = std::max(worst[i], landingError({.friction = friction}, dt, k / 20.0, kGravity));
      // In two steps gravity adds 2 g dt to the 2 m/s of the approach.
      EXPECT_LT(worst[i], 4 * kGravity * dt / 2) << friction << " " << dt;
      ++i;
    }
    EXPECT_LT(worst[2], 0.4 * worst[0]) << friction << ": first order gives a quarter";
  }
}

// --- Bouncing with friction -------------------------------------------------------------------

/// A rod that comes down on its end, without spin: by Newton's law alone, and with what Coulomb's
/// law would do to it.
struct RodLanding {
  Real tilt = 0.6;   ///< of the rod from upright
  Real slide = 0.3;  ///< speed across, to where the rod leans
  Real friction = 0.9, restitution = 0.9;
};

TEST(ImpactLaws, WhereFrictionWouldAddEnergyItGivesWayAndNotTheBounce) {
  int numGaining = 0;
  for (int k = 0; k < 400; ++k) {
    const RodLanding rod{.tilt = 0.1 + 0.06 * (k % 20),
                         .slide = -2 + 0.2 * (k / 20),
                         .friction = 0.3 + 0.3 * (k % 3),
                         .restitution = 0.6 + 0.1 * (k % 5)};
    const Real half = 0.25, thin = 0.01, fall = 2;
    const Mat3 R = turnAbout({0, 1, 0}, rod.tilt);
    const Real m = 8 * half * thin * thin * 1000;
    const Real i = m * (half * half + thin * thin) / 3;
    // The edge that comes down first, seen from the centre.
    const Vec3 arm{R.col[0].x * thin - R.col[2].x * half, 0, R.col[0].z * thin - R.col[2].z * half};
    Scene scene;
    scene.options.gravity = {};
    scene.options.dt = 1e-3;
    scene.options.sleep.enabled = false;
    scene.options.restitutionThreshold = 1e-3;
    scene.materials = {{.name = "m", .friction = rod.friction, .restitution = rod.restitution}};
    scene.bodies = {floorOf("m"), bodyOf("rod", box(thin, thin, half),
                                         {0, 0, -arm.z + 3.37 * fall * 1e-3}, R, "m")};
    scene.bodies[1].linearVelocity = {rod.slide, 0, -fall};
    CheckedSimulation run(scene);
    run.run(4);
    const Vec3 v = run.velocity("rod"), w = run.spin("rod");
    const std::string what = "landing " + std::to_string(k);
    EXPECT_NEAR((v + cross(w, arm)).z, rod.restitution * fall, 1e-9) << what;
    const Real before = m * (rod.slide * rod.slide + fall * fall) / 2;
    const Real after = m * squaredNorm(v) / 2 + i * w.y * w.y / 2;
    EXPECT_LE(after, before * (1 + 1e-12)) << what;
    const Vec3 p = (v - Vec3{rod.slide, 0, -fall}) * m;
    EXPECT_LE(std::fabs(p.x), rod.friction * p.z * (1 + 1e-12)) << what;
    // By hand: friction that stops the end, or as much as there is.
    const Real wxx = 1 / m + arm.z * arm.z / i, wzz = 1 / m + arm.x * arm.x / i;
    const Real wxz = -arm.x * arm.z / i, jump = (1 + rod.restitution) * fall;
    Real pz = (wxx * jump + wxz * rod.slide) / (wxx * wzz - wxz * wxz);
    Real px = (-rod.slide - wxz * pz) / wxx;
    if (std::fabs(px) > rod.friction * pz) {
      const Real side = px > 0 ? rod.friction : -rod.friction;
      pz = jump / (wzz + side * wxz);
      px = side * pz;
    }
    const Real work =
        px * rod.slide - pz * fall + (wxx * px * px + 2 * wxz * px * pz + wzz * pz * pz) / 2;
    if (work > 0) {
      ++numGaining;
      EXPECT_NEAR(after, before, 1e-12 * before) << what << ": all the friction that may be";
    } else {
      EXPECT_NEAR(p.x, px, 1e-9 * p.z) << what;
      EXPECT_NEAR(p.z, pz, 1e-9 * p.z) << what;
    }
  }
  EXPECT_GT(numGaining, 20);
}

/// A box whose height is root 2 of its width is struck below one edge without moving the other:
/// each bounces as if it were alone, the second one while the first is still within the slop.
TEST(ImpactLaws, AnEdgeThatLandsBesideOneThatHasJustBouncedBouncesAsIfAlone) {
  const Real half = 0.1, high = half * std::sqrt(2.0), fall = 2;
  int numBeside = 0;
  for (int k = 0; k < 120; ++k) {
    const Real e = 0.02 + 0.04 * (k % 4);
    const Mat3 R = turnAbout({0, 1, 0}, 1e-5 * (60 + 2 * k));
    Scene scene;
    scene.options.dt = 1e-4;
    scene.options.gravity = {};
    scene.options.sleep.enabled = false;
    scene.options.restitutionThreshold = 1e-3;
    scene.options.impulse.slop = 2e-5;
    scene.materials = {{.name = "m", .friction = 0, .restitution = e}};
    const auto cornerOf = [&](Real side, const Mat3& turn) {
      return turn.col[0] * (side * half) - turn.col[2] * high;
    };
    const Real lowest = std::min(cornerOf(1, R).z, cornerOf(-1, R).z);
    scene.bodies = {floorOf("m"),
                    bodyOf("box", box(half, 0.05, high),
                           {0, 0, -lowest + (2 + 0.1 * (k % 10)) * fall * 1e-4}, R, "m")};
    scene.bodies[1].linearVelocity = {0, 0, -fall};
    CheckedSimulation run(scene);
    Real heights[2] = {1, 1};
    for (int step = 0; step < 20; ++step) {
      const Real before[2] = {heights[0], heights[1]};
      run.step();
      const BodyState state = run.sim.body("box");
      for (int i = 0; i < 2; ++i) {
        const Vec3 arm = cornerOf(i == 0 ? 1 : -1, state.pose.rotation);
        heights[i] = (state.pose.translation + arm).z;
        EXPECT_GT(heights[i], -1e-8) << "box " << k << ", step " << step;
        const Real rate = (state.linearVelocity + cross(state.angularVelocity, arm)).z;
        if (rate < 0) continue;
        EXPECT_NEAR(rate, e * fall, 1e-2 * fall) << "box " << k << ", step " << step;
        const Real other = before[1 - i];
        if (before[i] > 2e-5 && before[i] < fall * 1e-4 && other > 0 && other <= 2e-5) ++numBeside;
      }
    }
    EXPECT_NEAR(run.velocity("box").z, e * fall, 1e-2 * fall) << "box " << k;
  }
  EXPECT_GT(numBeside, 20);
}

/// The same box: its second edge is a few atoms above the floor when the step ends in which the
/// first one bounces.
TEST(ImpactLaws, AnEdgeThatIsAboutToLandWhenTheStepEndsBouncesInTheNext) {
  const Real half = 0.1, high = half * std::sqrt(2.0), fall = 2, e = 0.5, dt = 1e-4;
  for (int k = 0; k < 20; ++k) {
    const Real gap = 1e-8 * (k + 1), early = 0.9 * gap / fall;
    Scene scene;
    scene.options.dt = dt;
    scene.options.gravity = {};
    scene.options.sleep.enabled = false;
    scene.options.restitutionThreshold = 1e-3;
    scene.options.impulse.slop = 3e-5;
    scene.materials = {{.name = "m", .friction = 0, .restitution = e}};
    const Mat3 R = turnAbout({0, 1, 0}, gap / (2 * half));
    const Real lowest = -R.col[2].z * high - std::fabs(R.col[0].z) * half;
    scene.bodies = {floorOf("m"), bodyOf("box", box(half, 0.05, high),
                                         {0, 0, -lowest + fall * (3 * dt - early)}, R, "m")};
    scene.bodies[1].linearVelocity = {0, 0, -fall};
    CheckedSimulation run(scene);
    run.run(3);
    // Struck at one edge: its middle has the mean of the two.
    EXPECT_NEAR(run.velocity("box").z, (e - 1) / 2 * fall, 1e-5 * fall) << gap;
    run.run(1);
    EXPECT_NEAR(run.velocity("box").z, e * fall, 1e-5 * fall) << gap;
    EXPECT_NEAR(run.spin("box").y, 0, 1e-3) << gap;
  }
}

// --- At the same time -------------------------------------------------------------------------

/// A ball that comes along x between two balls that touch each other: the line of symmetry.
Scene strikerAndTwo(const std::string& striker, const std::string& left, const std::string& right,
                    Real e, Real friction = 0) {
  Scene scene;
  scene.options.gravity = {};
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .friction = friction, .restitution = e}};
  const Real r = 0.03;
  scene.bodies = {
      bodyOf(striker, ball(r), {-r * std::sqrt(3.0) - 0.0123, 0, 0}, Mat3::identity(), "m"),
      bodyOf(left, ball(r), {0, r, 0}, Mat3::identity(), "m"),
      bodyOf(right, ball(r), {0, -r, 0}, Mat3::identity(), "m")};
  scene.bodies[0].linearVelocity = {3, 0, 0};
  return scene;
}

TEST(ImpactLaws, ABallThatHitsTwoTouchingBallsSendsBothAwayAlike) {
  for (const Real e : {0.0, 0.5, 0.8, 1.0}) {
    CheckedSimulation run(strikerAndTwo("s", "l", "r", e));
    run.run(40);
    // Along each normal, at 30 degrees: with p the impulse of each over the mass, the approach is
    // 3 cos 30 and p + (p + p cos 60) gives (1 + e) times it.
    const Real p = (1 + e) * 3 * std::sqrt(0.75) / 2.5;
    EXPECT_NEAR(run.velocity("s").x, 3 - 2 * p * std::sqrt(0.75), 1e-9) << e;
    EXPECT_NEAR(run.velocity("s").y, 0, 1e-9) << e;
    EXPECT_NEAR(run.velocity("l").x, p * std::sqrt(0.75), 1e-9) << e;
    EXPECT_NEAR(run.velocity("l").y, p / 2, 1e-9) << e;
    EXPECT_NEAR(run.velocity("r").x, p * std::sqrt(0.75), 1e-9) << e;
    EXPECT_NEAR(run.velocity("r").y, -p / 2, 1e-9) << e;
  }
}

TEST(ImpactLaws, NamesDoNotDecideWhatImpactsAtTheSameTimeDo) {
  for (const Real friction : {0.0, 0.4}) {
    CheckedSimulation first(strikerAndTwo("s", "l", "r", 0.9, friction));
    CheckedSimulation second(strikerAndTwo("s", "z", "b", 0.9, friction));
    CheckedSimulation third(strikerAndTwo("c", "b", "z", 0.9, friction));
    first.run(40);
    second.run(40);
    third.run(40);
    EXPECT_LT(norm(first.velocity("l") - second.velocity("z")), 1e-12);
    EXPECT_LT(norm(first.velocity("r") - third.velocity("z")), 1e-12);
    EXPECT_LT(norm(first.velocity("s") - third.velocity("c")), 1e-12);
    EXPECT_LT(norm(first.spin("l") - second.spin("z")), 1e-10);
  }
}

TEST(ImpactLaws, ARackIsOpenedAlikeOnBothSides) {
  for (const Real e : {0.6, 0.95, 1.0}) {
    Scene scene;
    scene.options.gravity = {};
    scene.options.sleep.enabled = false;
    scene.materials = {{.name = "m", .friction = 0.1, .restitution = e}};
    const Real r = 0.03;
    std::vector<std::pair<std::string, std::string>> mirrored;
    const int order[] = {7, 3, 9, 0, 5, 1, 8, 2, 6, 4};
    int k = 0;
    std::string names[4][4];
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i <= row; ++i) {
        names[row][i] = named("ball", order[k++]);
        scene.bodies.push_back(bodyOf(names[row][i], ball(r),
                                      {r * std::sqrt(3.0) * row, r * (2 * i - row), 0},
                                      Mat3::identity(), "m"));
      }
    }
    scene.bodies.push_back(bodyOf("cue", ball(r), {-0.2, 0, 0}, Mat3::identity(), "m"));
    scene.bodies.back().linearVelocity = {5, 0, 0};
    CheckedSimulation run(scene);
    const Momenta before = momentaOf(run.sim);
    run.run(60);
    const Momenta after = momentaOf(run.sim);
    EXPECT_LT(norm(after.linear - before.linear), 1e-12 * norm(before.linear));
    EXPECT_LT(norm(after.angular - before.angular), 1e-12 * norm(before.linear));
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i <= row; ++i) {
        const Vec3 v = run.velocity(names[row][i]), w = run.velocity(names[row][row - i]);
        // What approaches below the threshold is left to the sweeps, which end at 1e-8 m/s.
        EXPECT_LT(norm(v - Vec3{w.x, -w.y, w.z}), 1e-7) << e << " row " << row << " " << i;
      }
    }
    EXPECT_NEAR(run.velocity("cue").y, 0, 1e-7) << e;
    EXPECT_GT(norm(run.velocity(names[3][0])), 0.5) << "it did open";
  }
}

/// They overlap by a hundredth of the slop, so that they touch whatever rounding does.
constexpr Real kRowSpacing = 0.04 - 1e-6;

/// A ball that stops at others, `part` of a step after the start: the first of a row that touches.
Scene ballBeforeRow(Real part, int numInRow, Real speed) {
  constexpr Real kRadius = 0.02;
  Scene scene;
  scene.options.dt = 0.005;
  scene.options.gravity = {};
  scene.options.sleep.enabled = false;
  scene.materials = {{.name = "m", .density = kSteel, .friction = 0, .restitution = 0}};
  const Real ahead = speed * part * scene.options.dt;
  scene.bodies = {
      bodyOf("flying", ball(kRadius), {-2 * kRadius - ahead, 0, 0}, Mat3::identity(), "m")};
  scene.bodies[0].linearVelocity = {speed, 0, 0};
  for (int i = 0; i < numInRow; ++i) {
    scene.bodies.push_back(
        bodyOf(named("row", i), ball(kRadius), {kRowSpacing * i, 0, 0}, Mat3::identity(), "m"));
  }
  return scene;
}

// What is struck at rest was moved over the whole step by the velocity that it got within it.
TEST(ImpactLaws, WhatIsStruckMovesFromThenOnAndTakesItsNeighboursAlong) {
  constexpr Real kSpeed = 3;
  for (const int numInRow : {1, 2, 5}) {
    for (const Real part : {0.07, 0.4, 0.8, 0.99}) {
      Simulator sim(ballBeforeRow(part, numInRow, kSpeed).build());
      ASSERT_EQ(sim.step().status, StepStatus::Ok);
      const Real common = kSpeed / (1 + numInRow);
      for (int i = 0; i < numInRow; ++i) {
        const BodyState body = sim.body(named("row", i));
        EXPECT_NEAR(body.linearVelocity.x, common, 1e-6) << numInRow << " in a row, " << part;
        EXPECT_NEAR(body.pose.translation.x - kRowSpacing * i, common * (1 - part) * 0.005, 1e-8)
            << numInRow << " in a row, " << part;
      }
    }
  }
}

}  // namespace
}  // namespace tangere::test
