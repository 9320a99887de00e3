// SPDX-License-Identifier: Apache-2.0
//
// Binary glTF: a header, a JSON chunk that says what the bytes of the second chunk are. Every
// offset, count and index comes from the file and is checked against what is there before it is
// used; nodes form a tree or the file is refused, so no walk can be endless.
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/text.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace tangere {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kMagic = 0x46546c67;      // "glTF"
constexpr std::uint32_t kJsonChunk = 0x4e4f534a;  // "JSON"
constexpr std::uint32_t kBinChunk = 0x004e4942;   // "BIN"
constexpr int kMaxDepth = 128;

enum ComponentType : std::int64_t { kByte8 = 5121, kShort16 = 5123, kInt32 = 5125, kFloat = 5126 };
enum PrimitiveMode : std::int64_t { kTriangles = 4, kStrip = 5, kFan = 6 };

/// Column-major 3x4: rotation, scale and shear of a node, and where it is.
struct Affine {
  Mat3 linear = Mat3::identity();
  Vec3 translation{};
};

Affine operator*(const Affine& a, const Affine& b) {
  return {a.linear * b.linear, a.linear * b.translation + a.translation};
}

Real determinant(const Mat3& m) { return dot(m.col[0], cross(m.col[1], m.col[2])); }

/// A typed array in the binary chunk that is known to lie inside it.
struct Accessor {
  std::size_t offset = 0;
  std::size_t stride = 0;
  std::size_t count = 0;
  std::int64_t componentType = 0;
};

class GlbReader {
 public:
  GlbReader(std::span<const std::byte> bytes, std::string_view name, const MeshReadLimits& limits,
            std::vector<std::string>* ignored)
      : bytes_(bytes), name_(name), limits_(limits), ignored_(ignored) {}

  TriangleMesh read();

 private:
  [[noreturn]] void refuse(const std::string& message) const {
    throw InvalidInput(std::string(name_) + ": " + message);
  }
  void ignore(const std::string& what) {
    if (ignored_ != nullptr) ignored_->push_back(what);
  }

  [[nodiscard]] std::uint32_t word(std::span<const std::byte> bytes, std::size_t offset) const;
  void splitChunks();
  void parseJson(std::string_view text);
  void checkHeader();
  void noteIgnored();

  /// document_[list][index], an object.
  [[nodiscard]] const Json& entry(const char* list, std::int64_t index) const;
  [[nodiscard]] std::int64_t integer(const Json& object, const char* key, std::int64_t fallback,
                                     std::int64_t upper) const;
  [[nodiscard]] const Json* arrayOf(const Json& object, const char* key) const;
  [[nodiscard]] std::vector<Real> numbers(const Json& object, const char* key,
                                          std::size_t count) const;

  /// Of the scene to be shown; nothing when the file has no scene.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> rootNodes() const;
  [[nodiscard]] std::vector<std::int64_t> nodeList(const Json& object, const char* key) const;
  void readNodes();
  [[nodiscard]] Affine nodePose(const Json& node) const;
  void readNodeMesh(std::int64_t mesh, const Affine& X_WN);
  void readPrimitive(const Json& primitive, const Affine& X_WN);
  [[nodiscard]] Accessor accessor(std::int64_t index, const char* type, std::size_t numComponents);
  [[nodiscard]] std::uint32_t indexAt(const Accessor& indices, std::size_t i) const;
  void addTriangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::size_t numVertices,
                   int first, bool isMirrored);

  std::span<const std::byte> bytes_;
  std::span<const std::byte> binary_;
  std::string_view name_;
  const MeshReadLimits& limits_;
  std::vector<std::string>* ignored_;
  Json document_;
  TriangleMesh soup_;
  bool has_other_primitives_ = false;
};

TriangleMesh GlbReader::read() {
  splitChunks();
  checkHeader();
  readNodes();
  noteIgnored();
  if (soup_.triangles.empty()) refuse("no triangles in this GLB file");
  return weldVertices(soup_);
}

std::uint32_t GlbReader::word(std::span<const std::byte> bytes, std::size_t offset) const {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::to_integer<std::uint32_t>(bytes[offset + i]) << (8 * i);
  }
  return value;
}

void GlbReader::splitChunks() {
  if (bytes_.size() < 20 || word(bytes_, 0) != kMagic) {
    refuse("not a binary glTF file: it does not begin with 'glTF' and a header of 20 bytes");
  }
  if (const std::uint32_t version = word(bytes_, 4); version != 2) {
    refuse("glTF version " + std::to_string(version) + ", only 2 is read");
  }
  if (word(bytes_, 8) != bytes_.size()) {
    refuse("the header (byte 8) says " + std::to_string(word(bytes_, 8)) +
           " bytes, but the file has " + std::to_string(bytes_.size()));
  }
  std::size_t at = 12;
  for (int chunk = 0; at < bytes_.size(); ++chunk) {
    if (bytes_.size() - at < 8)
      refuse("the file ends inside the chunk at byte " + std::to_string(at));
    const std::size_t size = word(bytes_, at);
    const std::uint32_t type = word(bytes_, at + 4);
    if (size > bytes_.size() - at - 8) {
      refuse("the chunk at byte " + std::to_string(at) + " has " + std::to_string(size) +
             " bytes, but only " + std::to_string(bytes_.size() - at - 8) + " are left");
    }
    const std::span<const std::byte> content = bytes_.subspan(at + 8, size);
    if (chunk == 0) {
      if (type != kJsonChunk) refuse("the first chunk (byte 12) must be JSON");
      parseJson({reinterpret_cast<const char*>(content.data()), content.size()});
    } else if (chunk == 1 && type == kBinChunk) {
      binary_ = content;
    }
    at += 8 + size;
  }
}

void GlbReader::parseJson(std::string_view text) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) refuse("its JSON is nested deeper than " + std::to_string(kMaxDepth));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get_ref<const std::string&>()).second) {
      refuse("the key " + io::quoted(parsed.get_ref<const std::string&>()) +
             " is in one JSON object twice");
    }
    return true;
  };
  try {
    document_ = Json::parse(text, watch);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    const std::string_view what = error.what();
    const std::size_t bracket = what.find("] ");
    refuse("JSON: " +
           std::string(bracket == std::string_view::npos ? what : what.substr(bracket + 2)));
  }
  if (!document_.is_object()) refuse("its JSON must be an object");
}

void GlbReader::checkHeader() {
  // Without these the triangles cannot be found; every other extension only changes how they look.
  constexpr std::string_view kHarmless[] = {"KHR_materials_",      "KHR_texture_",
                                            "KHR_lights_punctual", "KHR_xmp",
                                            "EXT_texture_",        "KHR_animation_pointer"};
  if (const Json* required = arrayOf(document_, "extensionsRequired")) {
    for (const Json& extension : *required) {
      if (!extension.is_string()) refuse("extensionsRequired must hold strings");
      const auto& text = extension.get_ref<const std::string&>();
      bool isHarmless = false;
      for (const std::string_view prefix : kHarmless)
        isHarmless = isHarmless || text.rfind(prefix, 0) == 0;
      if (!isHarmless) refuse("needs the extension " + io::quoted(text) + ", which is not read");
    }
  }
}

void GlbReader::noteIgnored() {
  for (const char* list : {"materials", "textures", "images", "animations", "skins", "cameras"}) {
    const Json* entries = arrayOf(document_, list);
    if (entries != nullptr && !entries->empty())
      ignore(std::to_string(entries->size()) + " " + list);
  }
  if (has_other_primitives_) ignore("points and lines");
}

const Json& GlbReader::entry(const char* list, std::int64_t index) const {
  const Json* entries = arrayOf(document_, list);
  const std::size_t count = entries != nullptr ? entries->size() : 0;
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    refuse(std::string(list) + " has " + std::to_string(count) + " entries, but entry " +
           std::to_string(index) + " is referred to");
  }
  const Json& found = (*entries)[static_cast<std::size_t>(index)];
  if (!found.is_object())
    refuse(std::string(list) + "[" + std::to_string(index) + "] must be an object");
  return found;
}

std::int64_t GlbReader::integer(const Json& object, const char* key, std::int64_t fallback,
                                std::int64_t upper) const {
  const auto found = object.find(key);
  if (found == object.end()) {
    if (fallback < 0) refuse(std::string("'") + key + "' is missing");
    return fallback;
  }
  std::int64_t value = -1;
  if (found->is_number_unsigned()) {
    const auto wide = found->get<std::uint64_t>();
    value = wide <= static_cast<std::uint64_t>(upper) ? static_cast<std::int64_t>(wide) : -1;
  }
  if (value < 0) {
    refuse(std::string("'") + key + "' must be an integer from 0 to " + std::to_string(upper));
  }
  return value;
}

const Json* GlbReader::arrayOf(const Json& object, const char* key) const {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  if (!found->is_array()) refuse(std::string("'") + key + "' must be an array");
  return &*found;
}

std::vector<Real> GlbReader::numbers(const Json& object, const char* key, std::size_t count) const {
  const Json* items = arrayOf(object, key);
  std::vector<Real> out;
  if (items != nullptr && items->size() == count) {
    for (const Json& item : *items) {
      if (item.is_number() && std::isfinite(item.get<Real>())) out.push_back(item.get<Real>());
    }
  }
  if (out.size() != count) {
    refuse(std::string("'") + key + "' must be an array of " + std::to_string(count) + " numbers");
  }
  return out;
}

constexpr std::int64_t kMaxIndex = std::numeric_limits<std::int32_t>::max();

std::optional<std::vector<std::int64_t>> GlbReader::rootNodes() const {
  const Json* scenes = arrayOf(document_, "scenes");
  if (scenes == nullptr || scenes->empty()) return std::nullopt;
  const Json& scene = entry("scenes", integer(document_, "scene", 0, kMaxIndex));
  return nodeList(scene, "nodes");
}

std::vector<std::int64_t> GlbReader::nodeList(const Json& object, const char* key) const {
  std::vector<std::int64_t> out;
  const Json* nodes = arrayOf(object, key);
  if (nodes == nullptr) return out;
  for (const Json& node : *nodes) {
    if (!node.is_number_unsigned()) refuse(std::string("'") + key + "' must hold indices of nodes");
    const auto index = node.get<std::uint64_t>();
    out.push_back(index <= static_cast<std::uint64_t>(kMaxIndex) ? static_cast<std::int64_t>(index)
                                                                 : kMaxIndex);
  }
  return out;
}

void GlbReader::readNodes() {
  const Json* nodes = arrayOf(document_, "nodes");
  const std::size_t numNodes = nodes != nullptr ? nodes->size() : 0;
  struct Visit {
    std::int64_t node;
    Affine X_WP;  // of the parent
  };
  std::vector<Visit> open;
  // y up to z up, as the exporters of programs with z up turned it.
  const Affine X_WG{{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}}, {}};
  if (const auto roots = rootNodes()) {
    for (const std::int64_t node : *roots) open.push_back({node, X_WG});
  } else {
    ignore("the lack of a scene: every mesh was taken once, where it is");
    const Json* meshes = arrayOf(document_, "meshes");
    for (std::size_t i = 0; meshes != nullptr && i < meshes->size(); ++i)
      readNodeMesh(static_cast<std::int64_t>(i), X_WG);
  }
  std::vector<bool> isVisited(numNodes, false);
  while (!open.empty()) {
    const Visit visit = open.back();
    open.pop_back();
    const Json& node = entry("nodes", visit.node);
    if (isVisited[static_cast<std::size_t>(visit.node)])
      refuse("node " + std::to_string(visit.node) + " is a child twice, or of itself");
    isVisited[static_cast<std::size_t>(visit.node)] = true;
    const Affine X_WN = visit.X_WP * nodePose(node);
    if (node.contains("mesh")) readNodeMesh(integer(node, "mesh", -1, kMaxIndex), X_WN);
    for (const std::int64_t child : nodeList(node, "children")) open.push_back({child, X_WN});
  }
}

Affine GlbReader::nodePose(const Json& node) const {
  Affine out;
  if (node.contains("matrix")) {
    const std::vector<Real> m = numbers(node, "matrix", 16);
    for (int c = 0; c < 3; ++c) {
      const auto at = static_cast<std::size_t>(4 * c);
      out.linear.col[c] = {m[at], m[at + 1], m[at + 2]};
    }
    out.translation = {m[12], m[13], m[14]};
    return out;
  }
  if (node.contains("rotation")) {
    const std::vector<Real> q = numbers(node, "rotation", 4);  // x y z w
    if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) refuse("the rotation of a node is zero");
    out.linear = rotationMatrix(Quat{q[3], q[0], q[1], q[2]});
  }
  if (node.contains("scale")) {
    const std::vector<Real> s = numbers(node, "scale", 3);
    for (int c = 0; c < 3; ++c) out.linear.col[c] *= s[static_cast<std::size_t>(c)];
  }
  if (node.contains("translation")) {
    const std::vector<Real> t = numbers(node, "translation", 3);
    out.translation = {t[0], t[1], t[2]};
  }
  return out;
}

void GlbReader::readNodeMesh(std::int64_t mesh, const Affine& X_WN) {
  const Json* primitives = arrayOf(entry("meshes", mesh), "primitives");
  if (primitives == nullptr) refuse("a mesh without primitives");
  for (const Json& primitive : *primitives) {
    if (!primitive.is_object()) refuse("a primitive must be an object");
    readPrimitive(primitive, X_WN);
  }
}

void GlbReader::readPrimitive(const Json& primitive, const Affine& X_WN) {
  const std::int64_t mode = integer(primitive, "mode", kTriangles, 6);
  if (mode < kTriangles) {
    has_other_primitives_ = true;
    return;
  }
  const auto attributes = primitive.find("attributes");
  if (attributes == primitive.end() || !attributes->is_object())
    refuse("a primitive without attributes");
  const Accessor points = accessor(integer(*attributes, "POSITION", -1, kMaxIndex), "VEC3", 3);
  if (points.componentType != kFloat) refuse("positions must be floats");
  const bool isIndexed = primitive.contains("indices");
  Accessor indices;
  if (isIndexed) {
    indices = accessor(integer(primitive, "indices", -1, kMaxIndex), "SCALAR", 1);
    if (indices.componentType == kFloat) refuse("indices must be integers");
  }
  const std::size_t corners = isIndexed ? indices.count : points.count;
  const std::size_t numTriangles = mode == kTriangles ? corners / 3 : corners < 3 ? 0 : corners - 2;
  if (mode == kTriangles && corners % 3 != 0) {
    refuse(std::to_string(corners) + " corners do not make triangles");
  }
  if (numTriangles > limits_.maxTriangles - soup_.triangles.size()) {
    refuse("more than " + std::to_string(limits_.maxTriangles) +
           " triangles, the limit of this reader");
  }
  // Nodes may repeat a mesh: its vertices count as often.
  if (points.count > limits_.maxTriangles * 3 ||
      soup_.vertices.size() + points.count > limits_.maxTriangles * 3 + 3 ||
      soup_.vertices.size() + points.count > static_cast<std::size_t>(kMaxIndex)) {
    refuse("more vertices than " + std::to_string(limits_.maxTriangles) + " triangles can have");
  }

  const int first = static_cast<int>(soup_.vertices.size());
  for (std::size_t i = 0; i < points.count; ++i) {
    const std::size_t at = points.offset + i * points.stride;
    Vec3 p;
    for (std::size_t axis = 0; axis < 3; ++axis)
      p[static_cast<int>(axis)] = std::bit_cast<float>(word(binary_, at + 4 * axis));
    p = X_WN.linear * p + X_WN.translation;
    if (!std::isfinite(p.x + p.y + p.z)) {
      refuse("the position at byte " + std::to_string(at) + " of the binary chunk is not finite");
    }
    soup_.vertices.push_back(p);
  }
  const bool isMirrored = determinant(X_WN.linear) < 0;
  const auto corner = [&](std::size_t i) {
    return isIndexed ? indexAt(indices, i) : static_cast<std::uint32_t>(i);
  };
  for (std::size_t t = 0; t < numTriangles; ++t) {
    if (mode == kTriangles) {
      addTriangle(corner(3 * t), corner(3 * t + 1), corner(3 * t + 2), points.count, first,
                  isMirrored);
    } else if (mode == kFan) {
      addTriangle(corner(0), corner(t + 1), corner(t + 2), points.count, first, isMirrored);
    } else {  // every second triangle of a strip runs the other way
      addTriangle(corner(t), corner(t + 1), corner(t + 2), points.count, first,
                  isMirrored != (t % 2 == 1));
    }
  }
}

Accessor GlbReader::accessor(std::int64_t index, const char* type, std::size_t numComponents) {
  const Json& json = entry("accessors", index);
  const std::string who = "accessor " + std::to_string(index) + ": ";
  if (json.contains("sparse")) refuse(who + "sparse accessors are not read");
  const auto found = json.find("type");
  if (found == json.end() || !found->is_string() || found->get_ref<const std::string&>() != type)
    refuse(who + "its type must be " + type);
  Accessor out;
  out.componentType = integer(json, "componentType", -1, 6000);
  const std::size_t componentBytes = out.componentType == kByte8     ? 1
                                     : out.componentType == kShort16 ? 2
                                     : out.componentType == kInt32 || out.componentType == kFloat
                                         ? 4
                                         : 0;
  if (componentBytes == 0)
    refuse(who + "component type " + std::to_string(out.componentType) + " is not read");
  out.count = static_cast<std::size_t>(integer(json, "count", -1, kMaxIndex));
  if (!json.contains("bufferView")) refuse(who + "has no bufferView");
  const Json& view = entry("bufferViews", integer(json, "bufferView", -1, kMaxIndex));
  if (integer(view, "buffer", -1, kMaxIndex) != 0 || entry("buffers", 0).contains("uri"))
    refuse(who + "its data is outside this file");
  const std::size_t elementBytes = componentBytes * numComponents;
  const auto viewOffset = static_cast<std::size_t>(integer(view, "byteOffset", 0, kMaxIndex));
  const auto viewLength = static_cast<std::size_t>(integer(view, "byteLength", -1, kMaxIndex));
  const auto offset = static_cast<std::size_t>(integer(json, "byteOffset", 0, kMaxIndex));
  out.stride = static_cast<std::size_t>(
      integer(view, "byteStride", static_cast<std::int64_t>(elementBytes), 252));
  if (out.stride < elementBytes) refuse(who + "its byteStride is smaller than an element");
  // All below 2^31 and a stride below 2^8: nothing here overflows 64 bits.
  const std::size_t needed =
      out.count == 0 ? 0 : offset + (out.count - 1) * out.stride + elementBytes;
  if (viewOffset + viewLength > binary_.size() || needed > viewLength) {
    refuse(who + std::to_string(out.count) + " elements need more bytes than the file has (" +
           std::to_string(binary_.size()) + " in its binary chunk)");
  }
  out.offset = viewOffset + offset;
  return out;
}

std::uint32_t GlbReader::indexAt(const Accessor& indices, std::size_t i) const {
  const std::size_t at = indices.offset + i * indices.stride;
  const std::size_t size = indices.componentType == kByte8     ? 1
                           : indices.componentType == kShort16 ? 2
                                                               : 4;
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < size; ++k)
    value |= std::to_integer<std::uint32_t>(binary_[at + k]) << (8 * k);
  return value;
}

void GlbReader::addTriangle(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                            std::size_t numVertices, int first, bool isMirrored) {
  for (const std::uint32_t v : {a, b, c}) {
    if (v >= numVertices) {
      refuse("index " + std::to_string(v) + " is out of range: the primitive has " +
             std::to_string(numVertices) + " vertices");
    }
  }
  const auto vertex = [&](std::uint32_t v) { return first + static_cast<int>(v); };
  if (isMirrored) std::swap(b, c);
  soup_.triangles.push_back({vertex(a), vertex(b), vertex(c)});
}

}  // namespace

TriangleMesh readGlb(std::span<const std::byte> bytes, std::string_view name,
                     const MeshReadLimits& limits, std::vector<std::string>* ignored) {
  if (bytes.size() > limits.maxBytes) {
    throw InvalidInput(std::string(name) + ": " + std::to_string(bytes.size()) +
                       " bytes, more than the limit of " + std::to_string(limits.maxBytes));
  }
  return GlbReader(bytes, name, limits, ignored).read();
}

}  // namespace tangere
