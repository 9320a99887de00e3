// SPDX-License-Identifier: Apache-2.0
//
//     touch_plus_d COUNT [SEED] [--threads N] [--kinds KIND1 KIND2]
//
// Runs COUNT generated cases, of which every eighth is wholly inside, and prints what failed:
// counts by fault, then by pair of shapes, with a seed for each to look at alone. Case SEED + i is
// the same whoever runs it, so a long run may be divided by seed.
#include "mesh_reference/inside_poses.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

namespace tangere::reference {
namespace {

struct Run {
  long count = 1000;
  std::uint64_t seed = 1;
  int threads = 1;
  int kind1 = -1, kind2 = -1;  ///< -1: thrown by the dice
};

struct Tally {
  long count = 0;
  std::uint64_t example = 0;
  int kind1 = 0, kind2 = 0;
};

struct Found {
  long run = 0, failed = 0;
  std::map<std::string, long> byFault;
  std::map<std::string, Tally> byPair;

  void add(const Found& other) {
    run += other.run;
    failed += other.failed;
    for (const auto& [name, n] : other.byFault) byFault[name] += n;
    for (const auto& [name, t] : other.byPair) {
      Tally& mine = byPair[name];
      const long sum = mine.count + t.count;
      if (mine.count == 0 || t.example < mine.example) mine = t;
      mine.count = sum;
    }
  }
};

void runCase(const Run& run, std::uint64_t seed, Found& found) {
  Dice dice(seed ^ 0x5bd1e995);
  const int kind1 = run.kind1 >= 0 ? run.kind1 : dice.below(kNumBodies);
  const int kind2 = run.kind2 >= 0 ? run.kind2 : dice.below(kNumKinds);
  TouchCase c;
  const bool inside = seed % 8 == 7;
  if (!(inside ? makeInsideCase(kind1, kind2, seed, &c) : makeTouchCase(kind1, kind2, seed, &c)))
    return;
  ++found.run;
  const std::vector<std::string> faults = inside ? findInsideFaults(c) : findFaults(c);
  if (!faults.empty()) ++found.failed;
  for (const std::string& f : faults) {
    ++found.byFault[f];
    Tally& t = found.byPair[f + " " + c.shape1.name + " on " + c.shape2.name];
    if (t.count++ == 0) t = {1, seed, kind1, kind2};
  }
}

/// Every thread takes the seeds that leave its number as the rest.
Found runAll(const Run& run) {
  std::vector<Found> found(static_cast<std::size_t>(run.threads));
  std::vector<std::thread> threads;
  for (int k = 0; k < run.threads; ++k)
    threads.emplace_back([&, k] {
      for (long i = k; i < run.count; i += run.threads)
        runCase(run, run.seed + static_cast<std::uint64_t>(i), found[static_cast<std::size_t>(k)]);
    });
  for (std::thread& t : threads) t.join();
  Found all;
  for (const Found& f : found) all.add(f);
  return all;
}

Run readArguments(int argc, char** argv) {
  Run run;
  int place = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      run.threads = std::max(1, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--kinds") == 0 && i + 2 < argc) {
      run.kind1 = std::atoi(argv[++i]);
      run.kind2 = std::atoi(argv[++i]);
    } else if (place++ == 0) {
      run.count = std::atol(argv[i]);
    } else {
      run.seed = std::strtoull(argv[i], nullptr, 10);
    }
  }
  return run;
}

}  // namespace
}  // namespace tangere::reference

int main(int argc, char** argv) {
  using namespace tangere::reference;
  const Found found = runAll(readArguments(argc, argv));
  std::printf("%ld cases, %ld with faults\n", found.run, found.failed);
  for (const auto& [name, n] : found.byFault) std::printf("  %6ld %s\n", n, name.c_str());
  for (const auto& [name, t] : found.byPair)
    std::printf("%6ld %s (1 %llu --kinds %d %d)\n", t.count, name.c_str(),
                static_cast<unsigned long long>(t.example), t.kind1, t.kind2);
  return found.failed > 0 ? 1 : 0;
}
