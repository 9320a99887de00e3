// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a GLB file: refused, or a mesh that holds its promises and can be inspected. Bytes
// that begin with '{' are a JSON chunk, up to a '\n', and a binary chunk, put into a right frame,
// since a fuzzer would not find lengths that agree.
#include "fuzz/mesh_checks.hpp"

#include <algorithm>

namespace {

void append(std::vector<std::byte>* out, std::size_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    out->push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
}

void append(std::vector<std::byte>* out, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t b : bytes) out->push_back(static_cast<std::byte>(b));
}

std::vector<std::byte> framed(std::span<const std::uint8_t> data) {
  const auto end = std::find(data.begin(), data.end(), std::uint8_t{'\n'});
  const auto jsonSize = static_cast<std::size_t>(end - data.begin());
  const auto json = data.first(jsonSize);
  const auto binary = end == data.end() ? data.last(0) : data.subspan(jsonSize + 1);
  std::vector<std::byte> out;
  append(&out, 0x46546c67);
  append(&out, 2);
  append(&out, 28 + json.size() + binary.size());
  append(&out, json.size());
  append(&out, 0x4e4f534a);
  append(&out, json);
  append(&out, binary.size());
  append(&out, 0x004e4942);
  append(&out, binary);
  return out;
}

void check(std::span<const std::byte> bytes) {
  try {
    tangere::fuzz::checkMesh(tangere::readGlb(bytes, "input", {.maxTriangles = 100'000}));
  } catch (const tangere::InvalidInput&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::as_bytes(std::span(data, size)));
  if (size > 0 && data[0] == '{') check(framed({data, size}));
  return 0;
}
