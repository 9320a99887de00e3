// SPDX-License-Identifier: Apache-2.0
//
// The libraries that `tangere bench --peers` can measure, and how to get them.
#pragma once

namespace tangere::peers {

struct KnownPeer {
  const char* name;
  const char* howToGet;
};

inline constexpr KnownPeer kKnownPeers[] = {
    {"fcl", "apt-get install libfcl-dev, then configure and build again"},
    {"ode", "apt-get install libode-dev, then configure and build again"},
    {"bullet", "apt-get install libbullet-dev, then configure and build again"},
};

}  // namespace tangere::peers
