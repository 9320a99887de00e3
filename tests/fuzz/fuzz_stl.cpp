// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an STL file: refused, or a mesh that holds its promises and can be inspected. Bytes
// that begin with a 'B' are what follows the header of a binary file of the right size, since a
// fuzzer would not find the one size that is accepted.
#include "fuzz/mesh_checks.hpp"

namespace {

std::vector<std::byte> binaryFile(const std::uint8_t* data, std::size_t size) {
  const std::size_t count = size / 50;
  std::vector<std::byte> file(84, std::byte{'s'});
  for (std::size_t i = 0; i < 4; ++i) {
    file[80 + i] = static_cast<std::byte>((count >> (8 * i)) & 0xff);
  }
  for (std::size_t i = 0; i < 50 * count; ++i) file.push_back(std::byte{data[i]});
  return file;
}

void check(std::span<const std::byte> bytes) {
  try {
    tangere::fuzz::checkMesh(tangere::readStl(bytes, "input", {.maxTriangles = 100'000}));
  } catch (const tangere::InvalidInput&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::as_bytes(std::span(data, size)));
  if (size > 0 && data[0] == 'B') check(binaryFile(data + 1, size - 1));
  return 0;
}
