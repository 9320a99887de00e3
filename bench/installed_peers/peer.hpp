// SPDX-License-Identifier: Apache-2.0
//
// Another collision library behind the few calls that the benchmarks time. Shapes and poses are
// converted before timing, where the library allows it.
#pragma once

#include <tangere/collision.hpp>

#include <memory>
#include <string>
#include <vector>

#include <workload.hpp>

namespace tangere::peers {

/// What a peer says about one pair: the normal is unit, from shape 2 to shape 1.
struct PeerDistance {
  Real distance = 0;
  Vec3 normal{};
};

/// One pair of shapes with its poses in the peer's own types; i names a pose.
class PeerPair {
 public:
  PeerPair() = default;
  PeerPair(const PeerPair&) = delete;
  PeerPair& operator=(const PeerPair&) = delete;
  virtual ~PeerPair() = default;

  [[nodiscard]] virtual bool hasDistance() const { return false; }
  /// Of shapes that are apart.
  virtual PeerDistance distance(int) { return {}; }
  /// All contact points the peer offers; gives the deepest depth, 0 without contacts.
  virtual Real collide(int i) = 0;
};

class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  /// Null for a pair of shapes that the peer does not have.
  [[nodiscard]] virtual std::unique_ptr<PeerPair> makePair(const workload::PairWorkload& work) = 0;
};

// Each is defined where the library was found when the build was configured.
[[nodiscard]] std::unique_ptr<Peer> makeFcl();
[[nodiscard]] std::unique_ptr<Peer> makeOde();
[[nodiscard]] std::unique_ptr<Peer> makeBullet();

}  // namespace tangere::peers
