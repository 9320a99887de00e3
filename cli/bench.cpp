// SPDX-License-Identifier: Apache-2.0
//
// tangere bench: named benchmarks on this machine. Every time comes with the figure that makes it
// meaningful: how far the answers are from the exact ones.
#include "commands.hpp"

#include <workload.hpp>

#include <tangere/collision.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

namespace tangere::cli {

namespace {

using workload::PairWorkload;
using workload::Regime;

struct BenchRow {
  std::string name;
  Real median_ns = 0, p99_ns = 0;
  Real perSecond = 0;
  std::string unit;     ///< of what is done per second
  std::string quality;  ///< what `error` is
  Real error = 0;
  Real errorLimit = 0;  ///< above it the time says nothing
};

struct BenchOptions {
  std::vector<std::string> names;
};

template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Times `call(i)`, i in [0, count): blocks of calls long enough for the clock, several passes.
template <class Call>
void timeCalls(int count, int blockSize, int passes, BenchRow& row, const Call& call) {
  for (int i = 0; i < count; ++i) call(i);
  std::vector<Real> samples;
  for (int pass = 0; pass < passes; ++pass)
    for (int begin = 0; begin + blockSize <= count; begin += blockSize) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = begin; i < begin + blockSize; ++i) call(i);
      const auto end = std::chrono::steady_clock::now();
      samples.push_back(std::chrono::duration<Real, std::nano>(end - start).count() / blockSize);
    }
  throwIfInterrupted();
  std::sort(samples.begin(), samples.end());
  row.median_ns = samples[samples.size() / 2];
  row.p99_ns = samples[samples.size() * 99 / 100];
  row.perSecond = 1e9 / row.median_ns;
}

Real worstDistanceError(const PairWorkload& work) {
  Real worst = 0;
  for (const workload::PosePair& pose : work.poses) {
    const DistanceResult d = distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2);
    worst = std::fmax(worst, workload::certificateGap(*work.shape1, *work.shape2, pose, d));
  }
  return worst;
}

void benchPair(ShapeType type1, ShapeType type2, std::vector<BenchRow>& rows) {
  constexpr int kPoses = 1000, kBlock = 20, kPasses = 10;
  const std::string names =
      std::string(shapeTypeName(type1)) + "-" + std::string(shapeTypeName(type2));
  for (const Regime regime : {Regime::Separated, Regime::Shallow}) {
    const PairWorkload work = workload::makePairs(type1, type2, regime, kPoses, 1);
    BenchRow row{
        .name = "pairs/distance/" + std::string(workload::regimeName(regime)) + "/" + names,
        .unit = "queries",
        .quality = "certificate gap [m]",
        .error = worstDistanceError(work),
        .errorLimit = 1e-6};
    timeCalls(kPoses, kBlock, kPasses, row, [&](int i) {
      const workload::PosePair& pose = work.poses[static_cast<std::size_t>(i)];
      keep(distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2));
    });
    rows.push_back(row);
    if (regime == Regime::Separated) continue;

    CollisionResult result;
    const auto contacts = [&](int i) {
      const workload::PosePair& pose = work.poses[static_cast<std::size_t>(i)];
      result.clear();
      return collide(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2,
                     CollisionOption::fullContacts(), result);
    };
    BenchRow manifold{.name = "pairs/contacts/shallow/" + names,
                      .unit = "queries",
                      .quality = "depth minus -distance [m]",
                      .errorLimit = 1e-6};
    for (int i = 0; i < kPoses; ++i) {
      contacts(i);
      Real deepest = 0;
      for (const ContactManifold& m : result.manifolds()) deepest = std::fmax(deepest, m.depth());
      const workload::PosePair& pose = work.poses[static_cast<std::size_t>(i)];
      const DistanceResult d = distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2);
      manifold.error = std::fmax(manifold.error, std::fabs(deepest + d.distance));
    }
    timeCalls(kPoses, kBlock, kPasses, manifold, [&](int i) { keep(contacts(i)); });
    rows.push_back(manifold);
  }
}

void benchPairs(std::vector<BenchRow>& rows) {
  for (const ShapeType type1 : workload::kConvexTypes)
    for (const ShapeType type2 : workload::kConvexTypes)
      if (type1 <= type2) benchPair(type1, type2, rows);
}

void benchBroadSize(int count, int moveEvery, std::vector<BenchRow>& rows) {
  workload::MovingBoxes boxes(count, moveEvery, 3);
  BvhBroadPhase broadPhase;
  broadPhase.addBulk(boxes.ids(), boxes.boxes());
  BenchRow row{.name = "broad/" + std::string(moveEvery == 1 ? "all" : "1%") + "-moving/" +
                       std::to_string(count),
               .unit = "box updates",
               .quality = "pairs missing or extra"};
  std::size_t numPairs = 0;
  timeCalls(60, 1, 1, row, [&](int) {
    boxes.step();
    for (const int i : boxes.movers())
      broadPhase.update(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
    numPairs = broadPhase.computePotentialPairs().size();
  });
  row.median_ns /= count;
  row.p99_ns /= count;
  row.perSecond *= count;
  SweepBroadPhase reference;
  for (int i = 0; i < count; ++i)
    reference.add(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
  const auto ours = broadPhase.computePotentialPairs();
  const auto theirs = reference.computePotentialPairs();
  std::vector<ObjectPair> difference;
  std::set_symmetric_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                std::back_inserter(difference));
  row.error = static_cast<Real>(difference.size());
  rows.push_back(row);
}

void benchBroad(std::vector<BenchRow>& rows) {
  for (const int count : {1000, 10000, 100000})
    for (const int moveEvery : {1, 100}) benchBroadSize(count, moveEvery, rows);
}

/// Distance of a point to a triangle by its definition: interior, edges, corners.
Real pointTriangleDistance(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const auto toSegment = [&](const Vec3& u, const Vec3& v) {
    const Real t = std::clamp(dot(p - u, v - u) / squaredNorm(v - u), 0.0, 1.0);
    return norm(p - (u + (v - u) * t));
  };
  Real best = std::min({toSegment(a, b), toSegment(b, c), toSegment(c, a)});
  const Vec3 n = cross(b - a, c - a);
  const bool inside = dot(cross(b - a, p - a), n) >= 0 && dot(cross(c - b, p - b), n) >= 0 &&
                      dot(cross(a - c, p - c), n) >= 0;
  if (inside) best = std::min(best, std::fabs(dot(p - a, n)) / norm(n));
  return best;
}

Real bruteForceDistance(const Mesh& mesh, const Vec3& p) {
  Real best = 1e300;
  const auto v = mesh.vertices();
  for (const Triangle& t : mesh.triangles())
    best = std::fmin(best, pointTriangleDistance(p, v[static_cast<std::size_t>(t[0])],
                                                 v[static_cast<std::size_t>(t[1])],
                                                 v[static_cast<std::size_t>(t[2])]));
  return best;
}

void benchMesh(std::vector<BenchRow>& rows) {
  const std::shared_ptr<const Mesh> mesh = workload::bumpySphere(22);
  const auto triangles = static_cast<int>(mesh->triangles().size());
  const Sphere ball(0.3);
  const Box box({0.3, 0.25, 0.2});
  workload::Random random(11);
  std::vector<Transform> apart, touching;
  for (int i = 0; i < 200; ++i) {
    const Vec3 d = random.direction();
    apart.push_back({random.rotation(), d * random.uniform(1.1, 1.8)});
    touching.push_back({random.rotation(), d * 0.75});
  }
  const auto at = [](const std::vector<Transform>& poses, int i) -> const Transform& {
    return poses[static_cast<std::size_t>(i)];
  };
  const std::string size = std::to_string(triangles) + " triangles";

  BenchRow build{.name = "mesh/build/" + size, .unit = "meshes", .quality = "triangles dropped"};
  build.error = mesh->numDroppedTriangles();
  timeCalls(10, 1, 2, build, [&](int) {
    const Mesh again(mesh->vertices(), mesh->triangles());
    keep(again);
  });
  rows.push_back(build);

  BenchRow gap{.name = "mesh/distance/sphere/" + size,
               .unit = "queries",
               .quality = "against all triangles [m]",
               .errorLimit = 1e-9};
  for (int i = 0; i < 20; ++i) {
    const DistanceResult d = distance(*mesh, {}, ball, at(apart, i));
    const Real exact = bruteForceDistance(*mesh, at(apart, i).translation) - ball.radius();
    gap.error = std::fmax(gap.error, std::fabs(d.distance - exact));
  }
  timeCalls(200, 1, 5, gap, [&](int i) { keep(distance(*mesh, {}, ball, at(apart, i))); });
  rows.push_back(gap);

  CollisionResult result;
  BenchRow contacts{.name = "mesh/contacts/box/" + size,
                    .unit = "queries",
                    .quality = "points off both surfaces [m]",
                    .errorLimit = 1e-6};
  const auto ask = [&](int i) {
    result.clear();
    return collide(*mesh, {}, box, at(touching, i), CollisionOption::fullContacts(), result);
  };
  for (int i = 0; i < 20; ++i) {
    ask(i);
    for (const ContactManifold& m : result.manifolds())
      for (const ContactPoint& c : m.contacts()) {
        // Half of the depth to either side: the point on the box lies on or inside the box.
        const Vec3 onBox = inverseTimes(at(touching, i), c.position + c.normal * (c.depth / 2));
        contacts.error = std::fmax(contacts.error, box.signedDistance(onBox).distance);
      }
  }
  timeCalls(200, 1, 5, contacts, [&](int i) { keep(ask(i)); });
  rows.push_back(contacts);
}

const std::vector<std::pair<std::string, std::function<void(std::vector<BenchRow>&)>>>& all() {
  static const std::vector<std::pair<std::string, std::function<void(std::vector<BenchRow>&)>>>
      list = {{"pairs", benchPairs}, {"broad", benchBroad}, {"mesh", benchMesh}};
  return list;
}

void print(const std::vector<BenchRow>& rows) {
  std::printf("%-44s %12s %12s %14s  %s\n", "benchmark", "median [ns]", "p99 [ns]", "per second",
              "quality");
  for (const BenchRow& row : rows)
    std::printf("%-44s %12.1f %12.1f %14.0f  %s: %.2g%s\n", row.name.c_str(), row.median_ns,
                row.p99_ns, row.perSecond, row.quality.c_str(), row.error,
                row.error > row.errorLimit ? "  WRONG: the time says nothing" : "");
}

Json toJson(const std::vector<BenchRow>& rows) {
  Json list = Json::array();
  for (const BenchRow& row : rows)
    list.push_back({{"name", row.name},
                    {"median_ns", row.median_ns},
                    {"p99_ns", row.p99_ns},
                    {"per_second", row.perSecond},
                    {"unit", row.unit},
                    {"quality", row.quality},
                    {"error", row.error},
                    {"error_limit", row.errorLimit}});
  return {{"rows", list}};
}

void runBench(const BenchOptions& options, const CommonOptions& common) {
  std::vector<std::string> known;
  for (const auto& entry : all()) known.push_back(entry.first);
  for (const std::string& name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw CommandError(kUsage, "unknown benchmark '" + name + "'" + nearNames(name, known) +
                                     "; known: pairs, broad, mesh");
  std::vector<BenchRow> rows;
  for (const auto& [name, run] : all())
    if (options.names.empty() ||
        std::find(options.names.begin(), options.names.end(), name) != options.names.end()) {
      if (common.verbose > 0) say(common, "running " + name);
      run(rows);
    }
  if (common.json)
    printJson(toJson(rows));
  else
    print(rows);
}

}  // namespace

void addBenchCommand(CLI::App& program, const CommonOptions& common) {
  auto* command =
      program.add_subcommand("bench", "Named benchmarks on this machine, with quality figures");
  const auto options = std::make_shared<BenchOptions>();
  command->add_option("NAME", options->names, "pairs, broad, mesh (default: all)");
  command->footer(
      "median and p99 are of one query (broad: of one box in one step), on one thread.\n"
      "Example:\n  tangere bench pairs --json");
  command->callback([options, &common] { runBench(*options, common); });
}

}  // namespace tangere::cli
