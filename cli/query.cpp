// SPDX-License-Identifier: Apache-2.0
//
// tangere query: asks about many pairs of shapes, one row in, one row out.
#include "commands.hpp"
#include "output_file.hpp"
#include "pair_table.hpp"
#include "progress.hpp"

#include <tangere/collision.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <thread>

namespace tangere::cli {

namespace {

enum class What { Collide, Contacts, Distance };

const std::map<std::string, What> kWhat = {
    {"collide", What::Collide}, {"contacts", What::Contacts}, {"distance", What::Distance}};
const std::map<std::string, ConvexAlgorithm> kAlgorithms = {
    {"auto", ConvexAlgorithm::Auto},
    {"gjk", ConvexAlgorithm::Gjk},
    {"mpr", ConvexAlgorithm::Mpr},
    {"mpr-extended", ConvexAlgorithm::MprExtended}};

template <class Value>
Value parseWord(const std::string& word, const char* option,
                const std::map<std::string, Value>& values) {
  const auto found = values.find(word);
  if (found != values.end()) return found->second;
  std::vector<std::string> names;
  std::string list;
  for (const auto& entry : values) {
    names.push_back(entry.first);
    list += (list.empty() ? "" : ", ") + entry.first;
  }
  throw CommandError(kUsage, std::string(option) + ": found '" + word + "', expected one of " +
                                 list + nearNames(word, names));
}

struct QueryOptions {
  std::string pairs, hulls, output;
  What what = What::Distance;
  ConvexAlgorithm algorithm = ConvexAlgorithm::Auto;
  int repeat = 0;
};

/// One row of the answer, in the table's convention: normal from shape 1 to shape 2. What was not
/// asked for is NaN.
struct Answer {
  static constexpr Real kNone = std::numeric_limits<Real>::quiet_NaN();
  Real dist = kNone;
  Vec3 normal{kNone, kNone, kNone}, w1{kNone, kNone, kNone}, w2{kNone, kNone, kNone};
  int numContacts = 0;
  QueryStatus status = QueryStatus::Ok;
  Real ns = kNone;
};

const char* statusName(QueryStatus status) {
  switch (status) {
    case QueryStatus::Ok:
      return "ok";
    case QueryStatus::NotConverged:
      return "not_converged";
    case QueryStatus::Unsupported:
      return "unsupported";
    case QueryStatus::InvalidPose:
      return "invalid_pose";
  }
  return "unknown";
}

/// Keeps what the timed loop computes from being optimised away.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

constexpr std::size_t kPairsCounted = 256;  // at once: threads do not meet over each of them

/// Mean time of one call [ns] over `repeat` calls, after one that warms the caches.
template <class Call>
Real timeCall(int repeat, const Call& call) {
  call();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; ++i) call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<Real, std::nano>(end - begin).count() / repeat;
}

class Asker {
 public:
  explicit Asker(const QueryOptions& options) : options_(options) {
    collision_ = options.what == What::Collide ? CollisionOption::binaryCheck()
                                               : CollisionOption::fullContacts();
    collision_.algorithm = options.algorithm;
    distance_.algorithm = options.algorithm;
  }

  Answer ask(const ShapePair& pair) {
    Answer answer;
    switch (options_.what) {
      case What::Collide:
        collidePair(pair, answer);
        answer.numContacts = result_.isCollision() ? 1 : 0;
        break;
      case What::Contacts:
        collidePair(pair, answer);
        fillDeepest(answer);
        break;
      case What::Distance:
        collidePair(pair, answer);
        fillDistance(pair, answer);
        break;
    }
    if (options_.repeat > 0) answer.ns = timePair(pair);
    return answer;
  }

 private:
  void collidePair(const ShapePair& pair, Answer& answer) {
    result_.clear();
    answer.numContacts =
        collide(*pair.shape1, pair.X_W1, *pair.shape2, pair.X_W2, collision_, result_);
    answer.status = result_.status();
  }

  void fillDeepest(Answer& answer) const {
    const ContactPoint* deepest = nullptr;
    for (const ContactManifold& manifold : result_.manifolds())
      for (const ContactPoint& contact : manifold.contacts())
        if (deepest == nullptr || contact.depth > deepest->depth) deepest = &contact;
    if (deepest == nullptr) return;
    answer.dist = -deepest->depth;
    answer.normal = -deepest->normal;
    answer.w1 = deepest->position - deepest->normal * (deepest->depth / 2);
    answer.w2 = deepest->position + deepest->normal * (deepest->depth / 2);
  }

  void fillDistance(const ShapePair& pair, Answer& answer) const {
    const DistanceResult d = distance(*pair.shape1, pair.X_W1, *pair.shape2, pair.X_W2, distance_);
    answer.status = std::max(answer.status, d.status);
    if (d.status == QueryStatus::Unsupported || d.status == QueryStatus::InvalidPose) return;
    answer.dist = d.distance;
    answer.normal = -d.normal;
    answer.w1 = d.point1;
    answer.w2 = d.point2;
  }

  Real timePair(const ShapePair& pair) {
    if (options_.what == What::Distance)
      return timeCall(options_.repeat, [&] {
        keep(distance(*pair.shape1, pair.X_W1, *pair.shape2, pair.X_W2, distance_));
      });
    if (options_.what == What::Collide && options_.algorithm == ConvexAlgorithm::Auto)
      return timeCall(options_.repeat,
                      [&] { keep(overlap(*pair.shape1, pair.X_W1, *pair.shape2, pair.X_W2)); });
    return timeCall(options_.repeat, [&] {
      result_.clear();
      keep(collide(*pair.shape1, pair.X_W1, *pair.shape2, pair.X_W2, collision_, result_));
    });
  }

  QueryOptions options_;
  CollisionOption collision_;
  DistanceOption distance_;
  CollisionResult result_;
};

std::vector<Answer> askAll(const std::vector<ShapePair>& pairs, const QueryOptions& options,
                           const CommonOptions& common) {
  std::vector<Answer> answers(pairs.size());
  ProgressWatch watch(
      common, {.title = "query", .unit = "pair", .last = static_cast<double>(pairs.size())});
  const auto work = [&](std::size_t begin, std::size_t end) {
    Asker asker(options);
    for (std::size_t i = begin; i < end && !interrupted(); ++i) {
      answers[i] = asker.ask(pairs[i]);
      if ((i + 1 - begin) % kPairsCounted == 0) watch.add(kPairsCounted);
    }
  };
  const auto count = static_cast<std::size_t>(common.threads);
  std::vector<std::jthread> workers;
  for (std::size_t k = 1; k < count; ++k)
    workers.emplace_back(work, pairs.size() * k / count, pairs.size() * (k + 1) / count);
  work(0, pairs.size() / count);
  workers.clear();
  throwIfInterrupted();
  return answers;
}

std::string csvName(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csvRow(const ShapePair& pair, const Answer& a, bool timed) {
  char numbers[512];
  std::snprintf(numbers, sizeof numbers,
                ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%s", a.dist,
                a.normal.x, a.normal.y, a.normal.z, a.w1.x, a.w1.y, a.w1.z, a.w2.x, a.w2.y, a.w2.z,
                a.numContacts, statusName(a.status));
  std::string row = csvName(pair.id) + numbers;
  if (timed) {
    std::snprintf(numbers, sizeof numbers, ",%.1f", a.ns);
    row += numbers;
  }
  return row + "\n";
}

void writeCsv(const std::vector<ShapePair>& pairs, const std::vector<Answer>& answers,
              const QueryOptions& options) {
  OutputFile output(options.output);
  const bool timed = options.repeat > 0;
  output.write(std::string("id,dist,nx,ny,nz,w1x,w1y,w1z,w2x,w2y,w2z,ncontacts,status") +
               (timed ? ",ns\n" : "\n"));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    output.write(csvRow(pairs[i], answers[i], timed));
    if (i % 4096 == 0) throwIfInterrupted();
  }
  output.commit();
}

Json vecJson(const Vec3& v) { return {v.x, v.y, v.z}; }

Json rowsJson(const std::vector<ShapePair>& pairs, const std::vector<Answer>& answers, bool timed) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Answer& a = answers[i];
    // JSON has no NaN: what was not asked for is null.
    Json row = {{"id", pairs[i].id},
                {"dist", a.dist},
                {"normal", vecJson(a.normal)},
                {"w1", vecJson(a.w1)},
                {"w2", vecJson(a.w2)},
                {"ncontacts", a.numContacts},
                {"status", statusName(a.status)}};
    if (timed) row["ns"] = a.ns;
    rows.push_back(std::move(row));
  }
  return rows;
}

void runQuery(const QueryOptions& options, const CommonOptions& common) {
  requireDifferentFiles(
      std::vector<NamedFile>{{"-o", options.output}},
      std::vector<NamedFile>{{"the pairs", options.pairs}, {"--hulls", options.hulls}});
  const std::vector<ShapePair> pairs = readPairs(options.pairs, options.hulls, common);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Answer> answers = askAll(pairs, options, common);
  const Real wall = std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count();

  std::map<std::string, int> status;
  int colliding = 0;
  Real ns = 0;
  for (const Answer& answer : answers) {
    ++status[statusName(answer.status)];
    colliding += answer.numContacts > 0 ? 1 : 0;
    if (options.repeat > 0) ns += answer.ns / static_cast<Real>(answers.size());
  }
  const bool toStdout = options.output.empty() || options.output == "-";
  if (!(common.json && toStdout)) writeCsv(pairs, answers, options);
  if (common.json) {
    Json document = {{"rows", pairs.size()},
                     {"colliding", colliding},
                     {"status", status},
                     {"threads", common.threads},
                     {"wall_s", wall}};
    if (options.repeat > 0) document["ns_mean"] = ns;
    if (toStdout)
      document["results"] = rowsJson(pairs, answers, options.repeat > 0);
    else
      document["output"] = options.output;
    printJson(document);
  } else if (!toStdout) {
    say(common, std::to_string(pairs.size()) + " pairs, " + std::to_string(colliding) +
                    " colliding, written to " + options.output);
    for (const auto& [name, count] : status)
      if (name != "ok") say(common, std::to_string(count) + " with status " + name);
  }
}

}  // namespace

void addQueryCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "query", "Ask about pairs of shapes: overlap, contacts or signed distance");
  const auto options = std::make_shared<QueryOptions>();
  command->add_option("PAIRS", options->pairs, "Table of pairs (CSV; - for stdin)")->required();
  command->add_option("--hulls", options->hulls, "Table of hull points: hull,x,y,z");
  command->add_option("-o,--output", options->output, "Where the answers go (default: stdout)");
  command
      ->add_option_function<std::string>(
          "--what",
          [options](const std::string& word) { options->what = parseWord(word, "--what", kWhat); },
          "collide: ncontacts is 1 or 0, nothing else is computed; "
          "contacts: all contact points are counted and the deepest one is given (dist = -depth); "
          "distance: signed distance with witness points, and the number of contacts")
      ->type_name("collide|contacts|distance")
      ->default_str("distance");
  command
      ->add_option_function<std::string>(
          "--algorithm",
          [options](const std::string& word) {
            options->algorithm = parseWord(word, "--algorithm", kAlgorithms);
          },
          "auto: closed forms where they exist; gjk, mpr: always that one; "
          "mpr-extended: mpr in double-double arithmetic")
      ->type_name("auto|gjk|mpr|mpr-extended")
      ->default_str("auto");
  command
      ->add_option("--repeat", options->repeat,
                   "Time each query as the mean of N calls: adds the column ns")
      ->check(CLI::Range(1, 100000000))
      ->type_name("N");
  command->footer(
      "Columns of PAIRS, in any order, others are ignored (1 stands for shape 1, the same with "
      "2):\n"
      "  id; shape1: sphere box capsule cylinder cone ellipsoid hull halfspace;\n"
      "  a1 b1 c1: radius, half sizes, radius and half length, semi-axes [m]; hull1: index;\n"
      "  qw1 qx1 qy1 qz1 x1 y1 z1: rotation (normalised) and position [m].\n"
      "Answer, one row per row: id,dist,nx,ny,nz,w1x,w1y,w1z,w2x,w2y,w2z,ncontacts,status[,ns]\n"
      "  normal from shape 1 to shape 2, w2 - w1 = dist * n, nan where nothing was asked.\n"
      "Example:\n"
      "  tangere query pairs.csv --hulls hulls.csv -o answers.csv --what distance --repeat 100");
  command->callback([options, &common] { runQuery(*options, common); });
}

}  // namespace tangere::cli
