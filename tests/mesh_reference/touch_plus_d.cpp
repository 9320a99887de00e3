// SPDX-License-Identifier: Apache-2.0
//
//     touch_plus_d COUNT [SEED] [KIND1 KIND2]
//
// Runs COUNT generated cases, of which every eighth is wholly inside, and prints what failed:
// counts by fault, then by pair of shapes, with a seed for each to look at alone.
#include "mesh_reference/inside_poses.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>

int main(int argc, char** argv) {
  using namespace tangere::reference;
  const long count = argc > 1 ? std::atol(argv[1]) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  struct Tally {
    long count = 0;
    std::uint64_t example = 0;
    int kind1 = 0, kind2 = 0;
  };
  std::map<std::string, long> byFault;
  std::map<std::string, Tally> byPair;
  long run = 0, failed = 0;
  for (long i = 0; i < count; ++i) {
    const std::uint64_t s = seed + static_cast<std::uint64_t>(i);
    Dice dice(s ^ 0x5bd1e995);
    const int kind1 = argc > 4 ? std::atoi(argv[3]) : dice.below(kNumBodies);
    const int kind2 = argc > 4 ? std::atoi(argv[4]) : dice.below(kNumKinds);
    TouchCase c;
    const bool inside = s % 8 == 7;
    if (!(inside ? makeInsideCase(kind1, kind2, s, &c) : makeTouchCase(kind1, kind2, s, &c)))
      continue;
    ++run;
    const std::vector<std::string> faults = inside ? findInsideFaults(c) : findFaults(c);
    if (!faults.empty()) ++failed;
    for (const std::string& f : faults) {
      ++byFault[f];
      Tally& t = byPair[f + " " + c.shape1.name + " on " + c.shape2.name];
      if (t.count++ == 0) t = {1, s, kind1, kind2};
    }
  }
  std::printf("%ld cases, %ld with faults\n", run, failed);
  for (const auto& [name, n] : byFault) std::printf("  %6ld %s\n", n, name.c_str());
  for (const auto& [name, t] : byPair)
    std::printf("%6ld %s (1 %llu %d %d)\n", t.count, name.c_str(),
                static_cast<unsigned long long>(t.example), t.kind1, t.kind2);
  return failed > 0 ? 1 : 0;
}
