// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a COLLADA file: refused, or a mesh that holds its promises and can be inspected.
#include "fuzz/mesh_checks.hpp"

#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    tangere::fuzz::checkMesh(tangere::readCollada(text, "input", {.maxTriangles = 100'000}));
  } catch (const tangere::InvalidInput&) {
  }
  return 0;
}
