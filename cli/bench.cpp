// SPDX-License-Identifier: Apache-2.0
//
// tangere bench: named benchmarks on this machine. Every time comes with the figure that makes it
// meaningful: how far the answers are from the exact ones.
#include "bench_scene_file.hpp"
#include "bench_scenes.hpp"
#include "commands.hpp"
#include "progress.hpp"
#include "scene_input.hpp"

#include <tangere/collision.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <known_peers.hpp>
#include <limits>
#include <optional>
#include <timing.hpp>
#include <workload.hpp>

namespace tangere::cli {

namespace {

using workload::BenchRow;
using workload::keep;
using workload::PairTiming;
using workload::PairWorkload;
using workload::Regime;

struct BenchOptions {
  std::vector<std::string> names;
  std::string pair = "all";
  bool peers = false;
  int numThreads = 1;
  SceneBenchOptions scene{};
  ProgressBar* progress = nullptr;
};

/// Rows of a benchmark, as far as they are known before it.
constexpr int kRowsOfPair = 3, kRowsOfBroad = 6, kRowsOfMesh = 3, kRowsOfScenes = 5;

/// What the other libraries did; empty where they were not asked for.
struct PeerReport {
  std::vector<std::string> names;
  Json missing = Json::array();
};

void showProgress(const BenchOptions& options, const std::vector<BenchRow>& rows,
                  const std::string& name) {
  options.progress->update(static_cast<double>(rows.size()), name);
}

template <class Call>
void timeQueries(int count, int blockSize, int passes, BenchRow& row, const Call& call) {
  workload::timeCalls(count, blockSize, passes, row, call);
  throwIfInterrupted();
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
  constexpr int kPoses = PairTiming::kPoses, kBlock = PairTiming::kBlock;
  constexpr int kPasses = PairTiming::kPasses;
  const std::string names = workload::pairName(type1, type2);
  for (const Regime regime : {Regime::Separated, Regime::Shallow}) {
    const PairWorkload work = workload::makePairs(type1, type2, regime, kPoses, 1);
    BenchRow row{
        .name = "pairs/distance/" + std::string(workload::regimeName(regime)) + "/" + names,
        .unit = "queries",
        .quality = "certificate gap [m]",
        .error = worstDistanceError(work),
        .errorLimit = 1e-6};
    timeQueries(kPoses, kBlock, kPasses, row, [&](int i) {
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
      // The tips of two cones that were pushed towards each other may pass: then there is no depth.
      manifold.error = std::fmax(manifold.error, std::fabs(deepest - std::fmax(0, -d.distance)));
    }
    timeQueries(kPoses, kBlock, kPasses, manifold, [&](int i) { keep(contacts(i)); });
    rows.push_back(manifold);
  }
}

void benchPairs(const BenchOptions& options, std::vector<BenchRow>& rows) {
  for (const ShapeType type1 : workload::kConvexTypes)
    for (const ShapeType type2 : workload::kConvexTypes)
      if (type1 <= type2 &&
          (options.pair == "all" || options.pair == workload::pairName(type1, type2))) {
        showProgress(options, rows, workload::pairName(type1, type2));
        benchPair(type1, type2, rows);
      }
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
  timeQueries(60, 1, 1, row, [&](int) {
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

void benchBroad(const BenchOptions& options, std::vector<BenchRow>& rows) {
  for (const int count : {1000, 10000, 100000})
    for (const int moveEvery : {1, 100}) {
      showProgress(options, rows, join("broad/", std::to_string(count)));
      benchBroadSize(count, moveEvery, rows);
    }
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

void benchMesh(const BenchOptions& options, std::vector<BenchRow>& rows) {
  showProgress(options, rows, "mesh");
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
  timeQueries(10, 1, 2, build, [&](int) {
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
  timeQueries(200, 1, 5, gap, [&](int i) { keep(distance(*mesh, {}, ball, at(apart, i))); });
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
  timeQueries(200, 1, 5, contacts, [&](int i) { keep(ask(i)); });
  rows.push_back(contacts);
}

void benchSteps(const BenchOptions& options, std::vector<BenchRow>& rows) {
  showProgress(options, rows, "scenes");
  benchScenes(options.numThreads, rows);
}

int rowsOfPairs(const BenchOptions& options) {
  const int types = static_cast<int>(std::size(workload::kConvexTypes));
  return kRowsOfPair * (options.pair == "all" ? types * (types + 1) / 2 : 1);
}

struct NamedBench {
  const char* name;
  void (*run)(const BenchOptions& options, std::vector<BenchRow>& rows);
  int numRows;  ///< 0: rowsOfPairs()
};
constexpr NamedBench kBenches[] = {{"pairs", benchPairs, 0},
                                   {"broad", benchBroad, kRowsOfBroad},
                                   {"mesh", benchMesh, kRowsOfMesh},
                                   {"scenes", benchSteps, kRowsOfScenes}};

bool isWanted(const BenchOptions& options, const char* name) {
  return options.names.empty() ||
         std::find(options.names.begin(), options.names.end(), name) != options.names.end();
}

void requireKnown(const BenchOptions& options) {
  std::vector<std::string> known;
  for (const NamedBench& bench : kBenches) known.emplace_back(bench.name);
  for (const std::string& name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw CommandError(kUsage, "unknown benchmark '" + name + "'" + nearNames(name, known) +
                                     "; known: pairs, broad, mesh, scenes, or a scene file");
  std::vector<std::string> pairs{"all"};
  for (const ShapeType type1 : workload::kConvexTypes)
    for (const ShapeType type2 : workload::kConvexTypes)
      if (type1 <= type2) pairs.push_back(workload::pairName(type1, type2));
  if (std::find(pairs.begin(), pairs.end(), options.pair) == pairs.end())
    throw CommandError(kUsage, "unknown pair '" + options.pair + "'" +
                                   nearNames(options.pair, pairs) + "; an example is box-capsule");
}

/// Everything a program writes to stdout; nothing when it cannot be run or fails.
std::optional<std::string> outputOf(const std::filesystem::path& program, const char* argument) {
  int ends[2];
  if (access(program.c_str(), X_OK) != 0 || pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(program.c_str(), program.c_str(), argument, nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 1; child > 0 && n != 0;) {
    n = read(ends[0], buffer, sizeof(buffer));
    if (n < 0 && errno != EINTR) break;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  throwIfInterrupted();
  if (child <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

/// The rows of the other libraries after ours. Peers are measured by a program beside this one, so
/// that tangere itself depends on none of them.
PeerReport benchPeers(const BenchOptions& options, std::vector<BenchRow>& rows) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path program = self.parent_path() / "tangere_peers";
  const std::optional<std::string> text =
      outputOf(program, isWanted(options, "pairs") ? options.pair.c_str() : "none");
  PeerReport report;
  if (!text) {
    const bool isThere = access(program.c_str(), X_OK) == 0;
    for (const peers::KnownPeer& known : peers::kKnownPeers)
      report.missing.push_back({{"name", known.name},
                                {"get", isThere ? "tangere_peers failed: run it alone to see why"
                                                : "tangere_peers is not beside tangere: run "
                                                  "tangere from the folder it was built in"}});
    return report;
  }
  const Json document = Json::parse(*text);
  document["peers"].get_to(report.names);
  report.missing = document["missing"];
  for (const Json& row : document["rows"])
    rows.push_back({.name = row["name"],
                    .library = row["library"],
                    .median_ns = row["median_ns"],
                    .p99_ns = row["p99_ns"],
                    .perSecond = row["per_second"],
                    .unit = row["unit"],
                    .quality = row["quality"],
                    // JSON has no NaN: an answer that is no number is infinitely wrong.
                    .error = row["error"].is_null() ? std::numeric_limits<Real>::infinity()
                                                    : row["error"].get<Real>(),
                    .errorLimit = row["error_limit"]});
  // Ours first, then the peers on the same benchmark.
  std::vector<BenchRow> sorted;
  for (const BenchRow& row : rows)
    if (row.library == "tangere") {
      sorted.push_back(row);
      for (const BenchRow& other : rows)
        if (other.library != "tangere" && other.name == row.name) sorted.push_back(other);
    }
  rows = std::move(sorted);
  return report;
}

void print(const std::vector<BenchRow>& rows, const PeerReport& peers) {
  std::printf("%-44s %-14s %12s %12s %14s  %s\n", "benchmark", "library", "median [ns]", "p99 [ns]",
              "per second", "quality");
  for (const BenchRow& row : rows)
    std::printf("%-44s %-14s %12.1f %12.1f %14.0f  %s: %.2g%s\n", row.name.c_str(),
                row.library.c_str(), row.median_ns, row.p99_ns, row.perSecond, row.quality.c_str(),
                row.error, row.error > row.errorLimit ? "  WRONG: the time says nothing" : "");
  for (const Json& peer : peers.missing)
    std::printf("missing peer: %s (%s)\n", peer["name"].get<std::string>().c_str(),
                peer["get"].get<std::string>().c_str());
}

Json toJson(const std::vector<BenchRow>& rows) {
  Json list = Json::array();
  for (const BenchRow& row : rows)
    list.push_back({{"name", row.name},
                    {"library", row.library},
                    {"median_ns", row.median_ns},
                    {"p99_ns", row.p99_ns},
                    {"per_second", row.perSecond},
                    {"unit", row.unit},
                    {"quality", row.quality},
                    {"error", row.error},
                    {"error_limit", row.errorLimit}});
  return {{"rows", list}};
}

std::vector<BenchRow> runWanted(BenchOptions options, const CommonOptions& common) {
  double numRows = 0;
  for (const NamedBench& bench : kBenches)
    if (isWanted(options, bench.name))
      numRows += bench.numRows > 0 ? bench.numRows : rowsOfPairs(options);
  ProgressBar progress(common, {.title = "bench", .last = numRows});
  options.progress = &progress;
  std::vector<BenchRow> rows;
  for (const NamedBench& bench : kBenches)
    if (isWanted(options, bench.name)) {
      if (common.verbose > 0) say(common, std::string("running ") + bench.name);
      bench.run(options, rows);
    }
  return rows;
}

/// Whether the words name scenes; names of benchmarks and scenes do not mix.
bool isOfScenes(const BenchOptions& options) {
  const auto count = std::count_if(options.names.begin(), options.names.end(), isSceneFile);
  if (count > 0 && count < static_cast<std::ptrdiff_t>(options.names.size()))
    throw CommandError(kUsage, "expected names of benchmarks or scene files, not both");
  if (count == 0 && (!options.scene.solver.empty() || !options.scene.keyframe.empty() ||
                     options.scene.dt_s || options.scene.settle > 0))
    throw CommandError(kUsage, "--solver, --dt, --keyframe and --settle are for scene files");
  if (count > 0 && (options.peers || options.pair != "all"))
    throw CommandError(kUsage, "--peers and --pair are for `pairs`, not for scene files");
  return count > 0;
}

void runBench(const BenchOptions& options, const CommonOptions& common) {
  if (isOfScenes(options)) {
    SceneBenchOptions scene = options.scene;
    scene.files = options.names;
    return benchSceneFiles(scene, common);
  }
  requireKnown(options);
  std::vector<BenchRow> rows = runWanted(options, common);
  PeerReport peers;
  if (options.peers) {
    if (common.verbose > 0) say(common, "running the peers");
    peers = benchPeers(options, rows);
  }
  if (!common.json) return print(rows, peers);
  Json document = toJson(rows);
  if (options.peers) {
    document["peers"] = peers.names;
    document["missing_peers"] = peers.missing;
  }
  printJson(document);
}

}  // namespace

void addBenchCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "bench", "The speed of scenes, or named benchmarks, on this machine, with quality figures");
  const auto options = std::make_shared<BenchOptions>();
  command->add_option("NAME", options->names,
                      "Scene files; or pairs, broad, mesh, scenes (default: these four)");
  command->add_option("--steps", options->scene.steps, "Of a scene file: steps to time")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
      ->type_name("N")
      ->default_str("1000");
  command->add_option("--settle", options->scene.settle, "Steps before the clock starts")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{100'000'000}))
      ->type_name("N")
      ->default_str("0");
  command->add_option("--solver", options->scene.solver, "Solver (default: the scene's)")
      ->check(CLI::IsMember({"sap", "impulse", "event"}))
      ->type_name("sap|impulse|event");
  command->add_option("--dt", options->scene.dt_s, "Time step [s] (default: the scene's)")
      ->type_name("S");
  command->add_option("--keyframe", options->scene.keyframe, "Start from this keyframe")
      ->type_name("NAME");
  addLoadingOptions(*command, options->scene.loading);
  command->add_option("--pair", options->pair, "Of `pairs` only this one, such as box-capsule")
      ->type_name("SHAPE1-SHAPE2");
  command->add_flag("--peers", options->peers,
                    "Also the other libraries that are installed (FCL, ODE, Bullet): `pairs`");
  command->footer(
      "A scene: speed, contacts and iterations, then the phases of its steps from a second run.\n"
      "pairs, broad, mesh: median and p99 are of one query (broad: of one box in one step).\n"
      "Example:\n  tangere bench scenes/stack.toml --steps 5000 --threads 2\n"
      "  tangere bench pairs --pair box-box --peers");
  command->callback([options, &common] {
    options->numThreads = common.threads;
    runBench(*options, common);
  });
}

}  // namespace tangere::cli
