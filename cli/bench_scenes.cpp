// SPDX-License-Identifier: Apache-2.0
#include "bench_scenes.hpp"

#include <tangere/simulator.hpp>

#include <cmath>
#include <cstdio>

namespace tangere::cli {

namespace {

using workload::BenchRow;

constexpr Real kHalf = 0.05;  // of a box [m]

void addBox(ModelBuilder& builder, const std::string& name, const Vec3& position) {
  Body body{.name = name};
  body.pose.translation = position;
  body.shapes.push_back({.shape = std::make_shared<Box>(Vec3{kHalf, kHalf, kHalf})});
  builder.addBody(body);
}

ModelBuilder floor(bool hasCache) {
  ModelBuilder builder;
  SimulationOptions options = builder.options();
  options.sleep.enabled = false;
  options.patchCache.enabled = hasCache;
  builder.setOptions(options);
  Body ground{.name = "ground", .type = BodyType::Fixed};
  ground.shapes.push_back({.shape = std::make_shared<Plane>()});
  builder.addBody(ground);
  return builder;
}

std::string numbered(const char* name, int index) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%05d", name, index);
  return text;
}

Model stack(int height) {
  ModelBuilder builder = floor(true);
  for (int i = 0; i < height; ++i) addBox(builder, numbered("box", i), {0, 0, kHalf * (1 + 2 * i)});
  return builder.build();
}

/// Four by four towers of four.
Model blocks(bool hasCache) {
  ModelBuilder builder = floor(hasCache);
  for (int i = 0; i < 64; ++i) {
    const int column = i % 4, row = i / 4 % 4, layer = i / 16;
    addBox(builder, numbered("box", i), {0.11 * column, 0.11 * row, kHalf * (1 + 2 * layer)});
  }
  return builder.build();
}

Model mixedPile() {
  ModelBuilder builder = floor(true);
  for (int i = 0; i < 4; ++i) {
    const Real c = i % 2 == 0 ? 0.3 : -0.3;
    Body wall{.name = numbered("wall", i), .type = BodyType::Fixed};
    wall.pose.translation = i < 2 ? Vec3{c, 0, 0.5} : Vec3{0, c, 0.5};
    wall.shapes.push_back(
        {.shape = std::make_shared<Box>(i < 2 ? Vec3{0.02, 0.3, 0.5} : Vec3{0.3, 0.02, 0.5})});
    builder.addBody(wall);
  }
  for (int i = 0; i < 128; ++i) {
    const int column = i % 4, row = i / 4 % 4, layer = i / 16;
    const Vec3 position{0.12 * (column - 1.5) + 0.01 * (i % 3), 0.12 * (row - 1.5),
                        0.1 + 0.13 * layer};
    if (i % 2 == 0) {
      addBox(builder, numbered("box", i), position);
    } else {
      Body ball{.name = numbered("ball", i)};
      ball.pose.translation = position;
      ball.shapes.push_back({.shape = std::make_shared<Sphere>(kHalf)});
      builder.addBody(ball);
    }
  }
  return builder.build();
}

/// Deepest overlap over what a contact is allowed to keep [m].
Real excessDepth(const Simulator& simulator) {
  return std::fmax(simulator.report().maxDepth - simulator.model().options().impulse.slop, 0);
}

BenchRow timeSteps(const std::string& name, Simulator& simulator, int settle, int steps) {
  simulator.step(settle);
  BenchRow row{.name = "scenes/" + name,
               .unit = "steps",
               .quality = "depth beyond the slop [m]",
               .errorLimit = 5e-4};
  workload::timeCalls(steps, 10, 1, row, [&](int) {
    simulator.step();
    row.error = std::fmax(row.error, excessDepth(simulator));
  });
  return row;
}

}  // namespace

void benchScenes(int numThreads, std::vector<BenchRow>& rows) {
  Simulator tower(stack(10), numThreads);
  rows.push_back(timeSteps("stack/10", tower, 500, 1000));

  Simulator cached(blocks(true), numThreads), plain(blocks(false), numThreads);
  const BenchRow with = timeSteps("blocks/64/cache", cached, 500, 1000);
  const BenchRow without = timeSteps("blocks/64/no_cache", plain, 500, 1000);
  rows.push_back(with);
  rows.push_back(without);
  cached.setProfiling(true);
  cached.step(1000);
  BenchRow patches{.name = "scenes/blocks/64/patches",
                   .unit = "updates",
                   .quality = "step with the cache over step without",
                   .error = with.median_ns / without.median_ns,
                   .errorLimit = 1.05};
  for (const PhaseTime& phase : cached.profile()) {
    if (phase.name == "patches") patches.median_ns = patches.p99_ns = phase.total_s * 1e6;
  }
  patches.perSecond = 1e9 / patches.median_ns;
  rows.push_back(patches);

  Simulator pile(mixedPile(), numThreads);
  rows.push_back(timeSteps("pile/128", pile, 1500, 500));
}

}  // namespace tangere::cli
