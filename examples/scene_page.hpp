// SPDX-License-Identifier: Apache-2.0
//
// One self-contained page that shows a scene with its contacts: no server, no network, one file.
#pragma once

#include "bin_scene.hpp"

#include <string>
#include <vector>

namespace tangere::demo {

struct RayMark {
  Vec3 from, to;
  bool hit = false;
};

struct CastMark {
  std::shared_ptr<const Shape> shape;
  std::vector<Transform> path;  ///< from the start to where it stopped
  bool hit = false;
  Vec3 point{};
};

struct PageContent {
  const BinScene* scene = nullptr;
  const CollisionResult* contacts = nullptr;
  std::vector<RayMark> rays;
  CastMark cast;
};

/// The complete HTML text.
[[nodiscard]] std::string makeScenePage(const PageContent& content);

}  // namespace tangere::demo
