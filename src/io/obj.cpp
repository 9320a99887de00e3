// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/text.hpp"

#include <charconv>
#include <limits>

namespace tangere {

namespace {

class ObjReader {
 public:
  ObjReader(std::string_view text, std::string_view name, const MeshReadLimits& limits)
      : rest_(text), name_(name), limits_(limits) {}

  TriangleMesh read();

 private:
  bool nextLine();
  void readVertex(std::string_view words);
  void readFace(std::string_view words);
  int vertexIndex(std::string_view reference) const;

  std::string_view rest_;
  std::string_view name_;
  const MeshReadLimits& limits_;
  std::string joined_;      // a statement that was continued over several lines
  std::string_view words_;  // the statement
  std::size_t line_ = 0;    // where it begins
  std::size_t next_line_ = 1;
  std::vector<int> polygon_;
  TriangleMesh mesh_;
};

TriangleMesh ObjReader::read() {
  while (nextLine()) {
    std::string_view words = words_;
    const std::string_view keyword = io::takeWord(&words);
    if (keyword.empty()) continue;
    if (keyword == "v") {
      readVertex(words);
    } else if (keyword == "f") {
      readFace(words);
    } else if (const char c = keyword[0]; !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
      // Other statements (vt, vn, g, usemtl, ...) are skipped, what is no statement is not.
      io::throwAtLine(name_, line_,
                      "expected a statement such as 'v' or 'f', found " + io::quoted(keyword));
    }
  }
  if (mesh_.triangles.empty()) {
    throw InvalidInput(std::string(name_) + ": no faces ('f') in this OBJ file, " +
                       std::to_string(mesh_.vertices.size()) + " vertices");
  }
  return std::move(mesh_);
}

/// The next statement, without its comment, in words_.
bool ObjReader::nextLine() {
  if (rest_.empty()) return false;
  line_ = next_line_;
  joined_.clear();
  bool continued = false;
  for (;;) {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++next_line_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = line.substr(0, line.find('#'));
    const bool more = !line.empty() && line.back() == '\\' && !rest_.empty();
    if (!line.empty() && line.back() == '\\') line.remove_suffix(1);
    if (!more && !continued) {
      words_ = line;
      return true;
    }
    joined_ += line;
    joined_ += ' ';
    continued = true;
    if (!more) {
      words_ = joined_;
      return true;
    }
  }
}

void ObjReader::readVertex(std::string_view words) {
  Vec3 p;
  // What may follow, a weight or a colour, does not matter here.
  p.x = io::parseNumber(io::takeWord(&words), name_, line_, "x of the vertex");
  p.y = io::parseNumber(io::takeWord(&words), name_, line_, "y of the vertex");
  p.z = io::parseNumber(io::takeWord(&words), name_, line_, "z of the vertex");
  if (mesh_.vertices.size() >= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    io::throwAtLine(name_, line_, "more than 2147483647 vertices");
  }
  mesh_.vertices.push_back(p);
}

void ObjReader::readFace(std::string_view words) {
  polygon_.clear();
  for (std::string_view word = io::takeWord(&words); !word.empty(); word = io::takeWord(&words)) {
    polygon_.push_back(vertexIndex(word));
  }
  if (polygon_.size() < 3) {
    io::throwAtLine(name_, line_,
                    "a face needs at least 3 vertices, found " + std::to_string(polygon_.size()));
  }
  if (polygon_.size() - 2 > limits_.maxTriangles - mesh_.triangles.size()) {
    io::throwAtLine(name_, line_,
                    "more than " + std::to_string(limits_.maxTriangles) +
                        " triangles, the limit of this reader");
  }
  for (std::size_t i = 1; i + 1 < polygon_.size(); ++i) {
    mesh_.triangles.push_back({polygon_[0], polygon_[i], polygon_[i + 1]});
  }
}

/// Of "7", "7/1", "7//2" or "7/1/2" the 7; negative ones count back from the last vertex.
int ObjReader::vertexIndex(std::string_view reference) const {
  const std::string_view digits = reference.substr(0, reference.find('/'));
  const std::string_view others = reference.substr(digits.size());
  long long value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if ((error != std::errc() && error != std::errc::result_out_of_range) || digits.empty() ||
      end != digits.data() + digits.size() ||
      others.find_first_not_of("/-0123456789") != std::string_view::npos) {
    io::throwAtLine(
        name_, line_,
        "expected a vertex reference such as 7, 7/1 or 7/1/2, found " + io::quoted(reference));
  }
  const auto count = static_cast<long long>(mesh_.vertices.size());
  if (error == std::errc::result_out_of_range || value == 0 || value > count || value < -count) {
    io::throwAtLine(name_, line_,
                    "vertex reference " + io::quoted(reference) +
                        " is out of range: " + std::to_string(count) +
                        " vertices so far, counted from 1, or from -1 backwards");
  }
  return static_cast<int>(value > 0 ? value - 1 : count + value);
}

}  // namespace

TriangleMesh readObj(std::string_view text, std::string_view name, const MeshReadLimits& limits) {
  if (text.size() > limits.maxBytes) {
    throw InvalidInput(std::string(name) + ": " + std::to_string(text.size()) +
                       " bytes, more than the limit of " + std::to_string(limits.maxBytes));
  }
  return ObjReader(text, name, limits).read();
}

}  // namespace tangere
