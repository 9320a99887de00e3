// SPDX-License-Identifier: Apache-2.0
#include "io/lz4_frame.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tangere::io {

namespace {

constexpr std::size_t kBlockSize = std::size_t{4} << 20;
constexpr std::size_t kMinMatch = 4;
// The format: a block ends with at least five literals, and no match begins in its last twelve.
constexpr std::size_t kLastLiterals = 5, kLastMatchBegin = 12;
constexpr std::size_t kMaxOffset = 65535;
constexpr int kHashBits = 14;

void add32(std::string& to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

std::uint32_t rotate(std::uint32_t value, int bits) {
  return (value << bits) | (value >> (32 - bits));
}

/// xxHash-32, seed 0, of fewer than four bytes: the frame descriptor.
std::uint32_t xxHashOfDescriptor(std::string_view bytes) {
  constexpr std::uint32_t kPrime1 = 2654435761u, kPrime2 = 2246822519u, kPrime3 = 3266489917u,
                          kPrime5 = 374761393u;
  std::uint32_t hash = kPrime5 + static_cast<std::uint32_t>(bytes.size());
  for (const char byte : bytes) {
    hash += static_cast<unsigned char>(byte) * kPrime5;
    hash = rotate(hash, 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 15)) * kPrime2;
  hash = (hash ^ (hash >> 13)) * kPrime3;
  return hash ^ (hash >> 16);
}

std::uint32_t load32(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// 15 in the token, then bytes of 255 and one that is less.
void addLength(std::string& to, std::size_t beyond15) {
  for (; beyond15 >= 255; beyond15 -= 255) to += static_cast<char>(0xff);
  to += static_cast<char>(beyond15);
}

/// Literals and, unless this is the end of a block, a match of `length` bytes `offset` before.
void addSequence(std::string& to, std::string_view literals, std::size_t offset,
                 std::size_t length) {
  const std::size_t extra = length == 0 ? 0 : length - kMinMatch;
  to += static_cast<char>((std::min<std::size_t>(literals.size(), 15) << 4) |
                          std::min<std::size_t>(extra, 15));
  if (literals.size() >= 15) addLength(to, literals.size() - 15);
  to += literals;
  if (length == 0) return;
  to += static_cast<char>(offset & 0xff);
  to += static_cast<char>(offset >> 8);
  if (extra >= 15) addLength(to, extra - 15);
}

/// Greedy: the last place where the next four bytes were seen, as far as it goes.
std::string compressBlock(std::string_view block) {
  std::string out;
  std::vector<std::uint32_t> seen(std::size_t{1} << kHashBits, 0);  // place + 1
  const char* data = block.data();
  std::size_t at = 0, literalsBegin = 0, misses = 0;
  while (at + kLastMatchBegin < block.size()) {
    const std::uint32_t word = load32(data + at);
    std::uint32_t& slot = seen[(word * 2654435761u) >> (32 - kHashBits)];
    const std::size_t candidate = slot;
    slot = static_cast<std::uint32_t>(at + 1);
    if (candidate == 0 || at - (candidate - 1) > kMaxOffset ||
        load32(data + candidate - 1) != word) {
      at += 1 + (misses++ >> 6);  // what does not repeat is passed over faster and faster
      continue;
    }
    misses = 0;
    const std::size_t from = candidate - 1;
    const std::size_t limit = block.size() - kLastLiterals;
    std::size_t length = kMinMatch;
    while (at + length < limit && data[from + length] == data[at + length]) ++length;
    addSequence(out, block.substr(literalsBegin, at - literalsBegin), at - from, length);
    at += length;
    literalsBegin = at;
  }
  addSequence(out, block.substr(literalsBegin), 0, 0);
  return out;
}

}  // namespace

std::string compressLz4(std::string_view bytes) {
  std::string out;
  add32(out, 0x184d2204u);
  // Version 1, independent blocks, no checksums, no size; blocks of at most 4 MB.
  const std::string descriptor{"\x60\x70", 2};
  out += descriptor;
  out += static_cast<char>((xxHashOfDescriptor(descriptor) >> 8) & 0xff);
  for (std::size_t at = 0; at < bytes.size(); at += kBlockSize) {
    const std::string_view block = bytes.substr(at, kBlockSize);
    const std::string packed = compressBlock(block);
    const bool isStored = packed.size() >= block.size();
    const std::string_view written = isStored ? block : std::string_view(packed);
    add32(out, static_cast<std::uint32_t>(written.size()) | (isStored ? 0x80000000u : 0));
    out += written;
  }
  add32(out, 0);  // no more blocks
  return out;
}

}  // namespace tangere::io
