// SPDX-License-Identifier: Apache-2.0
//
// Short texts from which tests make scenes.
#pragma once

#include "io/scene_text.hpp"

#include <cstdint>
#include <string>

namespace tangere::test {

inline const std::string kBall = "[[body]]\nname = \"ball\"\nshapes = [{ sphere = 0.1 }]\n";

inline Scene read(const std::string& text, const SceneLimits& limits = {}) {
  return readSceneToml(text, {}, "s.toml", limits);
}

inline std::uint64_t hashOf(const std::string& text) { return read(text).model.hash(); }

/// A body with one line of its own, at line 3.
inline std::string bodyWith(const std::string& line) {
  return "[[body]]\nname = \"b\"\n" + line + "\nshapes = [{ box = [0.1, 0.2, 0.3] }]\n";
}

inline std::string bodyOf(const std::string& shape) {
  return "[[body]]\nname = \"b\"\nfixed = true\nshapes = [" + shape + "]\n";
}

inline std::string materialWith(const std::string& line) {
  return kBall + "[material.m]\n" + line + "\n";
}
inline std::string simulationWith(const std::string& line) {
  return "[simulation]\n" + line + "\n" + kBall;
}

}  // namespace tangere::test
