// SPDX-License-Identifier: Apache-2.0
//
// tangere_peers PAIR: the benchmark `pairs` of `tangere bench` with the other libraries, as one
// JSON document. PAIR is "box-sphere", "all" or "none". A program of its own, so that tangere
// itself needs none of these libraries, and so that a crash of one of them is not a crash of
// tangere.
#include "known_peers.hpp"
#include "peer.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <timing.hpp>

namespace tangere::peers {

namespace {

using Json = nlohmann::ordered_json;
using workload::BenchRow, workload::PairTiming, workload::PairWorkload, workload::Regime;

/// A body is about 1 m across: who is off by more has answered another question.
constexpr Real kErrorLimit = 1e-3;

std::unique_ptr<Peer> makePeer(const char* name) {
#ifdef TANGERE_HAS_FCL
  if (std::strcmp(name, "fcl") == 0) return makeFcl();
#endif
#ifdef TANGERE_HAS_ODE
  if (std::strcmp(name, "ode") == 0) return makeOde();
#endif
#ifdef TANGERE_HAS_BULLET
  if (std::strcmp(name, "bullet") == 0) return makeBullet();
#endif
  (void)name;
  return nullptr;
}

BenchRow timeDistance(PeerPair& pair, const PairWorkload& work) {
  BenchRow row{.unit = "queries", .quality = "certificate gap [m]", .errorLimit = kErrorLimit};
  for (int i = 0; i < PairTiming::kPoses; ++i) {
    const PeerDistance d = pair.distance(i);
    DistanceResult answer;
    answer.distance = d.distance;
    answer.normal = d.normal;
    const Real gap = workload::certificateGap(*work.shape1, *work.shape2,
                                              work.poses[static_cast<std::size_t>(i)], answer);
    row.error = gap <= row.error ? row.error : gap;  // NaN counts
  }
  workload::timeCalls(PairTiming::kPoses, PairTiming::kBlock, PairTiming::kPasses, row,
                      [&](int i) { workload::keep(pair.distance(i)); });
  return row;
}

BenchRow timeContacts(PeerPair& pair, const PairWorkload& work) {
  BenchRow row{
      .unit = "queries", .quality = "depth minus -distance [m]", .errorLimit = kErrorLimit};
  for (int i = 0; i < PairTiming::kPoses; ++i) {
    const workload::PosePair& pose = work.poses[static_cast<std::size_t>(i)];
    const Real exact = distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2).distance;
    const Real error = std::fabs(pair.collide(i) - std::fmax(0, -exact));
    row.error = error <= row.error ? row.error : error;
  }
  workload::timeCalls(PairTiming::kPoses, PairTiming::kBlock, PairTiming::kPasses, row,
                      [&](int i) { workload::keep(pair.collide(i)); });
  return row;
}

void measurePair(Peer& peer, ShapeType type1, ShapeType type2, Json& rows) {
  for (const Regime regime : {Regime::Separated, Regime::Shallow}) {
    const PairWorkload work = workload::makePairs(type1, type2, regime, PairTiming::kPoses, 1);
    const std::unique_ptr<PeerPair> pair = peer.makePair(work);
    const bool isApart = regime == Regime::Separated;
    if (pair == nullptr || (isApart && !pair->hasDistance())) continue;
    const BenchRow row = isApart ? timeDistance(*pair, work) : timeContacts(*pair, work);
    rows.push_back(
        {{"name", std::string(isApart ? "pairs/distance/" : "pairs/contacts/") +
                      workload::regimeName(regime) + "/" + workload::pairName(type1, type2)},
         {"library", peer.name()},
         {"median_ns", row.median_ns},
         {"p99_ns", row.p99_ns},
         {"per_second", row.perSecond},
         {"unit", row.unit},
         {"quality", row.quality},
         {"error", row.error},
         {"error_limit", row.errorLimit}});
  }
}

Json measure(const std::string& wanted) {
  Json names = Json::array(), missing = Json::array(), rows = Json::array();
  for (const KnownPeer& known : kKnownPeers) {
    const std::unique_ptr<Peer> peer = makePeer(known.name);
    if (peer == nullptr) {
      missing.push_back({{"name", known.name}, {"get", known.howToGet}});
      continue;
    }
    names.push_back(peer->name());
    for (const ShapeType type1 : workload::kConvexTypes)
      for (const ShapeType type2 : workload::kConvexTypes)
        if (type1 <= type2 && (wanted == "all" || wanted == workload::pairName(type1, type2)))
          measurePair(*peer, type1, type2, rows);
  }
  return {{"peers", names}, {"missing", missing}, {"rows", rows}};
}

}  // namespace

}  // namespace tangere::peers

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: tangere_peers SHAPE1-SHAPE2|all|none\n", stderr);
    return 2;
  }
  std::puts(tangere::peers::measure(argv[1]).dump().c_str());
  return 0;
}
