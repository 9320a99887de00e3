// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/text.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tangere {

namespace {

constexpr std::size_t kHeaderBytes = 80;
constexpr std::size_t kPreambleBytes = kHeaderBytes + 4;
constexpr std::size_t kTriangleBytes = 50;

[[noreturn]] void refuse(std::string_view name, const std::string& message) {
  throw InvalidInput(std::string(name) + ": " + message);
}

std::uint32_t littleEndian(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::to_integer<std::uint32_t>(bytes[offset + i]) << (8 * i);
  }
  return value;
}

void requireTriangles(std::size_t count, std::string_view name, const MeshReadLimits& limits) {
  if (count > limits.maxTriangles) {
    refuse(name, std::to_string(count) + " triangles, more than the limit of " +
                     std::to_string(limits.maxTriangles));
  }
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max() / 3)) {
    refuse(name, std::to_string(count) + " triangles are too many for one mesh");
  }
  if (count == 0) refuse(name, "no triangles in this STL file");
}

TriangleMesh readBinary(std::span<const std::byte> bytes, std::string_view name,
                        const MeshReadLimits& limits) {
  const std::size_t count = littleEndian(bytes, kHeaderBytes);
  requireTriangles(count, name, limits);
  TriangleMesh soup;
  soup.vertices.reserve(3 * count);
  soup.triangles.reserve(count);
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t corner = 0; corner < 3; ++corner) {
      Vec3 p;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t offset =
            kPreambleBytes + kTriangleBytes * t + 12 * (corner + 1) + 4 * axis;
        const auto value = std::bit_cast<float>(littleEndian(bytes, offset));
        if (!std::isfinite(value)) {
          refuse(name, "coordinate at byte " + std::to_string(offset) + " (triangle " +
                           std::to_string(t) + ") is not finite");
        }
        p[static_cast<int>(axis)] = static_cast<Real>(value);
      }
      soup.vertices.push_back(p);
    }
    const int first = static_cast<int>(3 * t);
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return weldVertices(soup);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equalIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

/// solid NAME { facet normal X Y Z outer loop { vertex X Y Z } x 3 endloop endfacet } endsolid
/// NAME, once or more; line breaks matter only after a name.
class AsciiStlReader {
 public:
  AsciiStlReader(std::string_view text, std::string_view name, const MeshReadLimits& limits)
      : rest_(text), name_(name), limits_(limits) {}

  TriangleMesh read();

 private:
  std::string_view word();
  void skipLine();
  void expect(std::string_view keyword);
  void readFacet();

  std::string_view rest_;
  std::string_view name_;
  const MeshReadLimits& limits_;
  std::size_t line_ = 1;
  TriangleMesh soup_;
};

TriangleMesh AsciiStlReader::read() {
  for (std::string_view begin = word(); !begin.empty(); begin = word()) {
    if (!equalIgnoringCase(begin, "solid")) {
      io::throwAtLine(name_, line_, "expected 'solid', found " + io::quoted(begin));
    }
    skipLine();
    for (;;) {
      const std::string_view next = word();
      if (equalIgnoringCase(next, "endsolid")) {
        skipLine();
        break;
      }
      if (!equalIgnoringCase(next, "facet")) {
        io::throwAtLine(name_, line_,
                        next.empty()
                            ? "the file ends inside a solid: 'facet' or 'endsolid' expected"
                            : "expected 'facet' or 'endsolid', found " + io::quoted(next));
      }
      readFacet();
    }
  }
  if (soup_.triangles.empty()) refuse(name_, "no triangles in this STL file");
  return weldVertices(soup_);
}

void AsciiStlReader::readFacet() {
  if (soup_.triangles.size() >= limits_.maxTriangles ||
      soup_.triangles.size() >= static_cast<std::size_t>(std::numeric_limits<int>::max() / 3 - 1)) {
    io::throwAtLine(name_, line_,
                    "more than " + std::to_string(limits_.maxTriangles) +
                        " triangles, the limit of this reader");
  }
  expect("normal");
  // The normal is not used; exporters write nan there for slivers.
  for (int i = 0; i < 3; ++i) static_cast<void>(word());
  expect("outer");
  expect("loop");
  const int first = static_cast<int>(soup_.vertices.size());
  for (int corner = 0; corner < 3; ++corner) {
    expect("vertex");
    Vec3 p;
    for (int axis = 0; axis < 3; ++axis) {
      const std::string_view number = word();
      p[axis] = io::parseNumber(number, name_, line_, "coordinate of the vertex");
    }
    soup_.vertices.push_back(p);
  }
  soup_.triangles.push_back({first, first + 1, first + 2});
  expect("endloop");
  expect("endfacet");
}

std::string_view AsciiStlReader::word() {
  std::size_t begin = 0;
  while (begin < rest_.size() && (io::isBlank(rest_[begin]) || rest_[begin] == '\n')) {
    if (rest_[begin] == '\n') ++line_;
    ++begin;
  }
  std::size_t end = begin;
  while (end < rest_.size() && !io::isBlank(rest_[end]) && rest_[end] != '\n') ++end;
  const std::string_view out = rest_.substr(begin, end - begin);
  rest_.remove_prefix(end);
  return out;
}

void AsciiStlReader::skipLine() {
  const std::size_t end = rest_.find('\n');
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
}

void AsciiStlReader::expect(std::string_view keyword) {
  const std::string_view found = word();
  if (equalIgnoringCase(found, keyword)) return;
  io::throwAtLine(name_, line_,
                  "expected '" + std::string(keyword) + "', " +
                      (found.empty() ? "but the file ends" : "found " + io::quoted(found)));
}

}  // namespace

TriangleMesh readStl(std::span<const std::byte> bytes, std::string_view name,
                     const MeshReadLimits& limits) {
  if (bytes.size() > limits.maxBytes) {
    refuse(name, std::to_string(bytes.size()) + " bytes, more than the limit of " +
                     std::to_string(limits.maxBytes));
  }
  // Binary files may begin with "solid" too: the size decides.
  const bool hasPreamble = bytes.size() >= kPreambleBytes;
  const std::uint64_t count = hasPreamble ? littleEndian(bytes, kHeaderBytes) : 0;
  if (hasPreamble && bytes.size() == kPreambleBytes + kTriangleBytes * count) {
    return readBinary(bytes, name, limits);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string_view start = text.substr(0, 256);
  while (!start.empty() && (io::isBlank(start[0]) || start[0] == '\n')) start.remove_prefix(1);
  if (equalIgnoringCase(start.substr(0, 5), "solid")) {
    return AsciiStlReader(text, name, limits).read();
  }
  if (!hasPreamble) {
    refuse(name, "neither an ASCII STL file (it does not begin with 'solid') nor a binary one (" +
                     std::to_string(bytes.size()) + " bytes, at least " +
                     std::to_string(kPreambleBytes) + " needed)");
  }
  refuse(name, "binary STL with " + std::to_string(count) + " triangles (byte 80) must have " +
                   std::to_string(kPreambleBytes + kTriangleBytes * count) + " bytes, but has " +
                   std::to_string(bytes.size()));
}

}  // namespace tangere
